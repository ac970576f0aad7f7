/* SPDX-License-Identifier: MIT */
/* What the operators on hosts (ops.cpp) and on devices (kernels.cu) share. */
#ifndef EXAMPLES_TORCH_EXTENSION_OPS_H
#define EXAMPLES_TORCH_EXTENSION_OPS_H

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <mpnum/mpnum.h>

#include <tuple>
#include <vector>

/* All that a loss scaler needs from step to step: the bytes of one tensor. */
struct scaler_state {
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer;
  mpnum_grad_findings findings;
  uint32_t apply, unused;
  char workspace[640]; /* mpnum_grad_workspace, which is the device's alone */
};

inline mpnum_type type_of(at::ScalarType type) {
  switch (type) {
  case at::kDouble: return MPNUM_TYPE_F64;
  case at::kFloat: return MPNUM_TYPE_F32;
  case at::kHalf: return MPNUM_TYPE_F16;
  case at::kBFloat16: return MPNUM_TYPE_BF16;
  case at::kFloat8_e4m3fn: return MPNUM_TYPE_E4M3;
  case at::kFloat8_e5m2: return MPNUM_TYPE_E5M2;
  default: TORCH_CHECK_TYPE(false, "mpnum has no kernel for ", type);
  }
}
inline bool is_fp8(at::ScalarType type) {
  return type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2;
}
inline bool is_wide(at::ScalarType type) {
  return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
}

/* The checks that both sides make; what kernels then rely on. */
inline void check_quantize(const at::Tensor &x, const at::Tensor &scale,
                           at::ScalarType type) {
  TORCH_CHECK_TYPE(is_wide(x.scalar_type()), "x is float32, float16 or bfloat16, not ",
                   x.scalar_type());
  TORCH_CHECK_TYPE(is_fp8(type), "codes are float8_e4m3fn or float8_e5m2, not ", type);
  TORCH_CHECK_VALUE(scale.numel() == 1 && scale.scalar_type() == at::kFloat &&
                        scale.device() == x.device(),
                    "scale is one float32 beside x");
}
inline void check_dequantize(const at::Tensor &codes, const at::Tensor &scale_inv,
                             at::ScalarType type) {
  TORCH_CHECK_TYPE(is_fp8(codes.scalar_type()),
                   "codes are float8_e4m3fn or float8_e5m2, not ", codes.scalar_type());
  TORCH_CHECK_TYPE(is_wide(type), "values are float32, float16 or bfloat16, not ", type);
  TORCH_CHECK_VALUE(scale_inv.numel() == 1 && scale_inv.scalar_type() == at::kFloat &&
                        scale_inv.device() == codes.device(),
                    "scale_inv is one float32 beside the codes");
}
inline void check_rows(const at::Tensor &x) {
  TORCH_CHECK_TYPE(is_wide(x.scalar_type()),
                   "rows are float32, float16 or bfloat16, not ", x.scalar_type());
  TORCH_CHECK_VALUE(x.dim() > 0, "rows have a dimension");
}
inline void check_same(const at::Tensor &a, const at::Tensor &b) {
  TORCH_CHECK_VALUE(a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
                        a.device() == b.device(),
                    "the gradient is of the size, type and device of the result");
}
inline size_t columns_of(const at::Tensor &x) { return static_cast<size_t>(x.size(-1)); }
inline size_t rows_of(const at::Tensor &x) {
  return x.numel() ? static_cast<size_t>(x.numel()) / columns_of(x) : 0;
}
inline scaler_state *state_of(const at::Tensor &state) {
  TORCH_CHECK_VALUE(state.numel() == sizeof(scaler_state) && state.is_contiguous() &&
                        state.scalar_type() == at::kByte &&
                        reinterpret_cast<uintptr_t>(state.data_ptr()) % 8 == 0,
                    "state is what mpnum::scaler_state makes");
  return static_cast<scaler_state *>(state.data_ptr());
}

/* Gradients in place. Those of f16 would lose what the scale was for. */
inline std::vector<mpnum_grad_tensor> tensors_of(const std::vector<at::Tensor> &gradients,
                                                 const at::Tensor &state,
                                                 double max_norm) {
  TORCH_CHECK_VALUE(static_cast<float>(max_norm) > 0, "max_norm is above 0, not ",
                    max_norm);
  std::vector<mpnum_grad_tensor> made;
  for (const at::Tensor &g : gradients) {
    TORCH_CHECK_TYPE(g.scalar_type() == at::kFloat || g.scalar_type() == at::kDouble ||
                         g.scalar_type() == at::kBFloat16,
                     "gradients are float32, float64 or bfloat16, not ", g.scalar_type(),
                     "; keep parameters of float16 in float32");
    TORCH_CHECK_VALUE(g.is_non_overlapping_and_dense() && g.device() == state.device(),
                      "gradients are dense and beside the state");
    const mpnum_type type = type_of(g.scalar_type());
    made.push_back(mpnum_grad_tensor_of(
        type, g.data_ptr(), static_cast<size_t>(g.numel()), type, g.data_ptr()));
  }
  return made;
}

#endif

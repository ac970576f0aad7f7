/* SPDX-License-Identifier: MIT */
/* The operators of mpnum_torch: what they are, and how hosts do them. Devices:
 * kernels.cu. */
#include "ops.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <torch/library.h>

#include <mpnum/array/scale.h>

#include <cstddef>
#include <cstring>

namespace {

void check(mpnum_status status) {
  TORCH_CHECK_VALUE(status == MPNUM_OK, mpnum_status_string(status));
}

float amax_of(const at::Tensor &x) {
  const size_t n = static_cast<size_t>(x.numel());
  switch (x.scalar_type()) {
  case at::kHalf: return mpnum_amax_f16(static_cast<const mpnum_f16 *>(x.data_ptr()), n);
  case at::kBFloat16:
    return mpnum_amax_bf16(static_cast<const mpnum_bf16 *>(x.data_ptr()), n);
  default: return mpnum_amax_f32(static_cast<const float *>(x.data_ptr()), n);
  }
}

std::tuple<at::Tensor, at::Tensor> quantize(const at::Tensor &x, const at::Tensor &scale,
                                            at::ScalarType type) {
  check_quantize(x, scale, type);
  const at::Tensor src = x.contiguous();
  const at::Tensor codes = at::empty_like(src, src.options().dtype(type));
  check(mpnum_quantize_array(type_of(type), codes.data_ptr(), type_of(x.scalar_type()),
                             src.data_ptr(), static_cast<size_t>(src.numel()),
                             *scale.data_ptr<float>(), nullptr));
  return {codes, at::full({}, amax_of(src), scale.options())};
}

at::Tensor dequantize(const at::Tensor &codes, const at::Tensor &scale_inv,
                      at::ScalarType type) {
  check_dequantize(codes, scale_inv, type);
  const at::Tensor src = codes.contiguous();
  const at::Tensor values = at::empty_like(src, src.options().dtype(type));
  check(mpnum_dequantize_array(
      type_of(type), values.data_ptr(), type_of(codes.scalar_type()), src.data_ptr(),
      static_cast<size_t>(src.numel()), *scale_inv.data_ptr<float>()));
  return values;
}

mpnum_const_matrix rows(const at::Tensor &x) {
  return mpnum_const_matrix_of(type_of(x.scalar_type()), x.data_ptr(), rows_of(x),
                               columns_of(x));
}
mpnum_matrix written_rows(const at::Tensor &x) {
  return mpnum_matrix_of(type_of(x.scalar_type()), x.data_ptr(), rows_of(x),
                         columns_of(x));
}
mpnum_softmax_options scaled(double scale) {
  mpnum_softmax_options options = mpnum_softmax_default();
  options.scale = static_cast<float>(scale);
  return options;
}
at::Tensor softmax(const at::Tensor &x, double scale) {
  check_rows(x);
  const at::Tensor src = x.contiguous(), y = at::empty_like(src);
  const mpnum_softmax_options options = scaled(scale);
  check(mpnum_softmax_rows(written_rows(y), rows(src), &options, nullptr));
  return y;
}
at::Tensor softmax_backward(const at::Tensor &gradient, const at::Tensor &y,
                            double scale) {
  check_rows(y);
  check_same(gradient, y);
  const at::Tensor dy = gradient.contiguous(), result = y.contiguous();
  const at::Tensor dx = at::empty_like(result);
  const mpnum_softmax_options options = scaled(scale);
  check(mpnum_softmax_backward_rows(written_rows(dx), rows(dy), rows(result), &options));
  return dx;
}

at::Tensor new_state(double init_scale, double growth_factor, double backoff_factor,
                     int64_t growth_interval) {
  const at::Tensor made = at::full({sizeof(scaler_state)}, 0, at::kByte);
  scaler_state *state = state_of(made);
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  config.init_scale = static_cast<float>(init_scale);
  config.growth_factor = growth_factor;
  config.backoff_factor = backoff_factor;
  TORCH_CHECK_VALUE(growth_interval >= 1 && growth_interval <= INT32_MAX,
                    "growth_interval is 1 or more");
  config.growth_interval = static_cast<int32_t>(growth_interval);
  check(mpnum_grad_scaler_init(&state->scaler, config));
  state->optimizer = mpnum_grad_optimizer_of(&state->scaler);
  return made;
}
/* Where in the state the scale, the steps applied and the steps skipped are, in bytes. */
std::vector<int64_t> state_offsets() {
  return {offsetof(scaler_state, scaler) + offsetof(mpnum_grad_scaler, scale),
          offsetof(scaler_state, scaler) + offsetof(mpnum_grad_scaler, applied),
          offsetof(scaler_state, scaler) + offsetof(mpnum_grad_scaler, skipped)};
}

/* 1 in the result: Inf or NaN was found, and the step is to be skipped. */
at::Tensor unscale_(const std::vector<at::Tensor> &gradients, const at::Tensor &bytes,
                    double max_norm) {
  scaler_state *state = state_of(bytes);
  const std::vector<mpnum_grad_tensor> tensors = tensors_of(gradients, bytes, max_norm);
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  check(mpnum_grad_scaler_unscale_clip_step(
      &state->scaler, &state->optimizer, tensors.data(), tensors.size(),
      static_cast<float>(max_norm), 0, &state->findings, &verdict));
  check(mpnum_grad_scaler_update(&state->scaler, &state->optimizer));
  return at::full({}, verdict == MPNUM_GRAD_APPLY ? 0.0f : 1.0f,
                  bytes.options().dtype(at::kFloat));
}

} // namespace

TORCH_LIBRARY(mpnum, library) {
  const std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag};
  library.def("quantize(Tensor x, Tensor scale, ScalarType dtype) -> (Tensor, Tensor)",
              tags);
  library.def("dequantize(Tensor codes, Tensor scale_inv, ScalarType dtype) -> Tensor",
              tags);
  library.def("softmax(Tensor x, float scale) -> Tensor", tags);
  library.def("softmax_backward(Tensor gradient, Tensor y, float scale) -> Tensor", tags);
  library.def("unscale_(Tensor(a!)[] gradients, Tensor(b!) state, float max_norm) -> "
              "Tensor",
              tags);
  library.def("scaler_state(float init_scale, float growth_factor, float backoff_factor, "
              "int growth_interval) -> Tensor",
              &new_state);
  library.def("scaler_offsets() -> int[]", &state_offsets);
}
TORCH_LIBRARY_IMPL(mpnum, CPU, library) {
  library.impl("quantize", &quantize);
  library.impl("dequantize", &dequantize);
  library.impl("softmax", &softmax);
  library.impl("softmax_backward", &softmax_backward);
  library.impl("unscale_", &unscale_);
}

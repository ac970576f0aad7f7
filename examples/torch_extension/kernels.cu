/* SPDX-License-Identifier: MIT */
/* The operators of mpnum_torch on devices: launches on PyTorch's stream, which never wait
 * for the host and may be captured. */
#include "ops.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <mpnum/kernels.cuh>

namespace {

static_assert(sizeof(mpnum_grad_workspace) <= sizeof scaler_state().workspace &&
                  offsetof(scaler_state, workspace) % 8 == 0,
              "the workspace has its place");

template <class T> T *pointer(const at::Tensor &x) {
  return static_cast<T *>(x.data_ptr());
}
size_t size(const at::Tensor &x) { return static_cast<size_t>(x.numel()); }

/* Calls use with a pointer of the type that x has. */
template <class F> void with_values(const at::Tensor &x, F use) {
  switch (x.scalar_type()) {
  case at::kHalf: return use(pointer<mpnum_f16>(x));
  case at::kBFloat16: return use(pointer<mpnum_bf16>(x));
  default: return use(pointer<float>(x));
  }
}
template <class F> void with_codes(const at::Tensor &x, F use) {
  if (x.scalar_type() == at::kFloat8_e4m3fn) return use(pointer<mpnum_e4m3>(x));
  use(pointer<mpnum_e5m2>(x));
}

std::tuple<at::Tensor, at::Tensor> quantize(const at::Tensor &x, const at::Tensor &scale,
                                            at::ScalarType type) {
  check_quantize(x, scale, type);
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor src = x.contiguous();
  const at::Tensor codes = at::empty_like(src, src.options().dtype(type));
  const at::Tensor amax = at::zeros({}, scale.options());
  with_values(src, [&](const auto *values) {
    with_codes(codes, [&](auto *dst) {
      C10_CUDA_CHECK(mpnum_launch_quantize_array(
          dst, values, size(src), pointer<const float>(scale), pointer<float>(amax),
          c10::cuda::getCurrentCUDAStream()));
    });
  });
  return {codes, amax};
}

at::Tensor dequantize(const at::Tensor &codes, const at::Tensor &scale_inv,
                      at::ScalarType type) {
  check_dequantize(codes, scale_inv, type);
  const c10::cuda::CUDAGuard guard(codes.device());
  const at::Tensor src = codes.contiguous();
  const at::Tensor values = at::empty_like(src, src.options().dtype(type));
  with_values(values, [&](auto *dst) {
    with_codes(src, [&](const auto *from) {
      C10_CUDA_CHECK(mpnum_launch_dequantize_array(dst, from, size(src),
                                                   pointer<const float>(scale_inv),
                                                   c10::cuda::getCurrentCUDAStream()));
    });
  });
  return values;
}

mpnum_softmax_options scaled(double scale) {
  mpnum_softmax_options options = mpnum_softmax_default();
  options.scale = static_cast<float>(scale);
  return options;
}
at::Tensor softmax(const at::Tensor &x, double scale) {
  check_rows(x);
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor src = x.contiguous(), y = at::empty_like(src);
  const mpnum_softmax_options options = scaled(scale);
  with_values(src, [&](const auto *from) {
    typedef std::remove_const_t<std::remove_pointer_t<decltype(from)>> T;
    C10_CUDA_CHECK(mpnum_launch_softmax_rows(
        mpnum::matrix_of(pointer<T>(y), rows_of(x), columns_of(x)),
        mpnum::matrix_of(from, rows_of(x), columns_of(x)), &options, nullptr,
        c10::cuda::getCurrentCUDAStream()));
  });
  return y;
}
at::Tensor softmax_backward(const at::Tensor &gradient, const at::Tensor &y,
                            double scale) {
  check_rows(y);
  check_same(gradient, y);
  const c10::cuda::CUDAGuard guard(y.device());
  const at::Tensor dy = gradient.contiguous(), result = y.contiguous();
  const at::Tensor dx = at::empty_like(result);
  const mpnum_softmax_options options = scaled(scale);
  const size_t n = columns_of(y);
  with_values(result, [&](const auto *from) {
    typedef std::remove_const_t<std::remove_pointer_t<decltype(from)>> T;
    C10_CUDA_CHECK(mpnum_launch_softmax_backward_rows(
        mpnum::matrix_of(pointer<T>(dx), rows_of(y), n),
        mpnum::matrix_of(pointer<const T>(dy), rows_of(y), n),
        mpnum::matrix_of(from, rows_of(y), n), &options,
        c10::cuda::getCurrentCUDAStream()));
  });
  return dx;
}

/* The list of gradients goes to the device as arguments of a kernel. A graph keeps those,
 * while memory of the host that it copies from would have to outlive it. */
struct list_part {
  mpnum_grad_tensor tensors[40];
  uint64_t tiles_before[40];
};
__global__ void write_list(mpnum_grad_tensor *tensors, uint64_t *tiles_before,
                           list_part part, unsigned count) {
  const unsigned i = threadIdx.x;
  if (i >= count) return;
  tensors[i] = part.tensors[i];
  tiles_before[i] = part.tiles_before[i];
}
at::Tensor to_device(mpnum_grad_list *list, const std::vector<mpnum_grad_tensor> &tensors,
                     const at::Tensor &state) {
  const size_t count = tensors.size();
  std::vector<uint64_t> words(count + 1);
  TORCH_CHECK_VALUE(mpnum_grad_plan(list, words.data(), tensors.data(), count, 0) ==
                        MPNUM_OK,
                    "gradients that a device cannot take");
  const at::Tensor memory = at::empty(
      {static_cast<int64_t>((count + 1) * (sizeof tensors[0] + sizeof words[0]))},
      state.options());
  auto *there = pointer<mpnum_grad_tensor>(memory);
  auto *words_there = reinterpret_cast<uint64_t *>(there + count + 1);
  for (size_t from = 0; from <= count; from += 40) {
    list_part part = list_part();
    unsigned used = 0;
    for (; used < 40 && from + used <= count; ++used) {
      if (from + used < count) part.tensors[used] = tensors[from + used];
      part.tiles_before[used] = words[from + used];
    }
    write_list<<<1, 64, 0, c10::cuda::getCurrentCUDAStream()>>>(
        there + from, words_there + from, part, used);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
  list->tensors = there;
  list->tiles_before = words_there;
  return memory;
}
__global__ void tell(float *found_inf, const uint32_t *apply) {
  *found_inf = *apply == MPNUM_GRAD_APPLY ? 0.0f : 1.0f;
}

at::Tensor unscale_(const std::vector<at::Tensor> &gradients, const at::Tensor &bytes,
                    double max_norm) {
  scaler_state *state = state_of(bytes);
  auto *workspace = reinterpret_cast<mpnum_grad_workspace *>(state->workspace);
  const c10::cuda::CUDAGuard guard(bytes.device());
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const float most = static_cast<float>(max_norm);
  const at::Tensor found_inf = at::empty({}, bytes.options().dtype(at::kFloat));
  mpnum_grad_list list;
  const at::Tensor memory =
      to_device(&list, tensors_of(gradients, bytes, max_norm), bytes);
  C10_CUDA_CHECK(
      mpnum_launch_grad_pass(&state->findings, list, &state->scaler, workspace, stream));
  if (!mpnum_isinf_f32(most))
    C10_CUDA_CHECK(mpnum_launch_grad_clip(&state->optimizer, &state->scaler,
                                          &state->findings, list, most, workspace,
                                          stream));
  C10_CUDA_CHECK(mpnum_launch_grad_step(&state->scaler, &state->optimizer,
                                        &state->findings, &state->apply, stream));
  tell<<<1, 1, 0, stream>>>(pointer<float>(found_inf), &state->apply);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return found_inf;
}

} // namespace

TORCH_LIBRARY_IMPL(mpnum, CUDA, library) {
  library.impl("quantize", &quantize);
  library.impl("dequantize", &dequantize);
  library.impl("softmax", &softmax);
  library.impl("softmax_backward", &softmax_backward);
  library.impl("unscale_", &unscale_);
}

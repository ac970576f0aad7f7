/* SPDX-License-Identifier: MIT */
/* Launchers of rows.cuh and loss_rows.cuh. */
#include "kernels.cuh"

namespace {

template <class T> cudaError_t softmax(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_softmax_rows(gpu_out_rows<T>(c), gpu_x_rows<T>(c), nullptr, nullptr,
                                   stream);
}
cudaError_t causal(const gpu_case *c, cudaStream_t stream) {
  const mpnum_softmax_options options = gpu_causal();
  return mpnum_launch_softmax_rows(gpu_out_rows<float>(c), gpu_x_rows<float>(c), &options,
                                   nullptr, stream);
}
template <class T> cudaError_t log_softmax(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_log_softmax_rows(gpu_out_rows<T>(c), gpu_x_rows<T>(c), nullptr,
                                       nullptr, stream);
}
template <class T> cudaError_t logsumexp(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_logsumexp_rows(c->side + GPU_LOSSES, gpu_x_rows<T>(c), nullptr,
                                     nullptr, stream);
}
template <class T> cudaError_t cross_entropy(const gpu_case *c, cudaStream_t stream) {
  const mpnum_cross_entropy_options options = gpu_smoothing();
  return mpnum_launch_cross_entropy_rows(c->side + GPU_LOSSES, gpu_out_rows<T>(c),
                                         gpu_x_rows<T>(c), c->targets, &options, nullptr,
                                         stream);
}
template <class T> cudaError_t softmax_slope(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_softmax_backward_rows(gpu_out_rows<T>(c), gpu_x_rows<T>(c),
                                            gpu_y_rows<T>(c), nullptr, stream);
}
template <class T> cudaError_t log_softmax_slope(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_log_softmax_backward_rows(gpu_out_rows<T>(c), gpu_x_rows<T>(c),
                                                gpu_y_rows<T>(c), nullptr, stream);
}

const mpnum_type f32 = MPNUM_TYPE_F32, f16 = MPNUM_TYPE_F16, bf16 = MPNUM_TYPE_BF16;
const gpu_bound copy = GPU_BY_COPY, read = GPU_BY_READ;

const gpu_kernel_row rows[] = {
    {"softmax_rows f32", f32, GPU_ROWS, 1024, copy, 8, softmax<float>,
     gpu_expect_softmax},
    {"softmax_rows f32", f32, GPU_ROWS, 4096, copy, 8, softmax<float>,
     gpu_expect_softmax},
    {"softmax_rows f32", f32, GPU_ROWS, 32768, copy, 8, softmax<float>,
     gpu_expect_softmax},
    {"softmax_rows f32, causal", f32, GPU_ROWS, 4096, copy, 8, causal, gpu_expect_causal},
    {"softmax_rows f16", f16, GPU_ROWS, 1024, copy, 4, softmax<mpnum_f16>,
     gpu_expect_softmax},
    {"softmax_rows f16", f16, GPU_ROWS, 32768, copy, 4, softmax<mpnum_f16>,
     gpu_expect_softmax},
    {"log_softmax_rows f32", f32, GPU_ROWS, 4096, copy, 8, log_softmax<float>,
     gpu_expect_log_softmax},
    {"logsumexp_rows f32", f32, GPU_ROWS, 4096, read, 4, logsumexp<float>,
     gpu_expect_logsumexp},
    {"logsumexp_rows bf16", bf16, GPU_ROWS, 4096, read, 2, logsumexp<mpnum_bf16>,
     gpu_expect_logsumexp},
    {"cross_entropy_rows f32, gradient", f32, GPU_ROWS, 32768, copy, 8,
     cross_entropy<float>, gpu_expect_cross_entropy},
    {"cross_entropy_rows bf16, gradient", bf16, GPU_ROWS, 32768, copy, 4,
     cross_entropy<mpnum_bf16>, gpu_expect_cross_entropy},
    {"softmax_backward_rows f32", f32, GPU_ROWS, 4096, copy, 12, softmax_slope<float>,
     gpu_expect_softmax_backward},
    {"softmax_backward_rows bf16", bf16, GPU_ROWS, 4096, copy, 6,
     softmax_slope<mpnum_bf16>, gpu_expect_softmax_backward},
    {"log_softmax_backward_rows f32", f32, GPU_ROWS, 4096, copy, 12,
     log_softmax_slope<float>, gpu_expect_log_softmax_backward}};

} // namespace

gpu_kernel_table gpu_softmax_kernels() {
  const gpu_kernel_table table = {rows, sizeof rows / sizeof *rows};
  return table;
}

/* SPDX-License-Identifier: MIT */
/* Launchers of norm_rows.cuh and norm_backward_rows.cuh. */
#include "kernels.cuh"

namespace {

mpnum_normalize_options weighted(const gpu_case *c) {
  mpnum_normalize_options made = mpnum_normalize_default();
  made.weight = c->weight;
  return made;
}
template <class T> cudaError_t layer_norm(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  return mpnum_launch_normalize_rows(MPNUM_NORM_LAYER, gpu_out_rows<T>(c),
                                     gpu_x_rows<T>(c), &options, stream);
}
template <class T> cudaError_t rms_norm(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  return mpnum_launch_normalize_rows(MPNUM_NORM_RMS, gpu_out_rows<T>(c), gpu_x_rows<T>(c),
                                     &options, stream);
}
template <class T> cudaError_t layer_codes(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  return mpnum_launch_normalize_quantize_rows(
      MPNUM_NORM_LAYER, gpu_out_rows<mpnum_e4m3>(c), gpu_x_rows<T>(c), &options,
      c->side + GPU_SCALE, c->side + GPU_AMAX, stream);
}
template <class T> cudaError_t rms_codes(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  return mpnum_launch_normalize_quantize_rows(
      MPNUM_NORM_RMS, gpu_out_rows<mpnum_e4m3>(c), gpu_x_rows<T>(c), &options,
      c->side + GPU_SCALE, c->side + GPU_AMAX, stream);
}
/* Weights' gradients lie first in the workspace. */
template <class T> cudaError_t layer_slope(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  float *const slopes = static_cast<float *>(c->workspace);
  const mpnum::norm_gradients<T> to = {gpu_out_rows<T>(c), slopes, slopes + c->columns,
                                       0};
  return mpnum_launch_normalize_backward_rows(MPNUM_NORM_LAYER, to, gpu_x_rows<T>(c),
                                              gpu_y_rows<T>(c), &options, stream,
                                              slopes + 2 * c->columns);
}
template <class T> cudaError_t rms_slope(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  float *const slopes = static_cast<float *>(c->workspace);
  const mpnum::norm_gradients<T> to = {gpu_out_rows<T>(c), slopes, nullptr, 0};
  return mpnum_launch_normalize_backward_rows(MPNUM_NORM_RMS, to, gpu_x_rows<T>(c),
                                              gpu_y_rows<T>(c), &options, stream,
                                              slopes + 2 * c->columns);
}

const mpnum_type f32 = MPNUM_TYPE_F32, bf16 = MPNUM_TYPE_BF16;
const gpu_bound copy = GPU_BY_COPY;

/* Gradients of weights read both arrays once more. */
const gpu_kernel_row rows[] = {
    {"layer_norm_rows f32", f32, GPU_ROWS, 4096, copy, 8, layer_norm<float>,
     gpu_expect_layer_norm, nullptr},
    {"layer_norm_rows bf16", bf16, GPU_ROWS, 4096, copy, 4, layer_norm<mpnum_bf16>,
     gpu_expect_layer_norm, nullptr},
    {"rms_norm_rows f32", f32, GPU_ROWS, 4096, copy, 8, rms_norm<float>,
     gpu_expect_rms_norm, nullptr},
    {"rms_norm_rows bf16", bf16, GPU_ROWS, 4096, copy, 4, rms_norm<mpnum_bf16>,
     gpu_expect_rms_norm, nullptr},
    {"layer_norm_quantize_rows bf16 to e4m3", bf16, GPU_ROWS, 4096, copy, 3,
     layer_codes<mpnum_bf16>, gpu_expect_layer_norm_codes, nullptr},
    {"rms_norm_quantize_rows bf16 to e4m3", bf16, GPU_ROWS, 4096, copy, 3,
     rms_codes<mpnum_bf16>, gpu_expect_rms_norm_codes, nullptr},
    {"layer_norm_backward_rows bf16", bf16, GPU_ROWS, 4096, copy, 10,
     layer_slope<mpnum_bf16>, gpu_expect_layer_norm_backward, nullptr},
    {"rms_norm_backward_rows bf16", bf16, GPU_ROWS, 4096, copy, 10, rms_slope<mpnum_bf16>,
     gpu_expect_rms_norm_backward, nullptr}};

} // namespace

gpu_kernel_table gpu_norm_kernels() {
  const gpu_kernel_table table = {rows, sizeof rows / sizeof *rows};
  return table;
}

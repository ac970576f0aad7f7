/* SPDX-License-Identifier: MIT */
/* Launchers of norm_rows.cuh and norm_backward_rows.cuh. */
#include "kernels.cuh"

namespace {

mpnum_normalize_options weighted(const gpu_case *c) {
  mpnum_normalize_options made = mpnum_normalize_default();
  made.weight = c->weight;
  return made;
}
template <class T, mpnum_norm_kind kind>
cudaError_t norm(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  return mpnum_launch_normalize_rows(kind, gpu_out_rows<T>(c), gpu_x_rows<T>(c), &options,
                                     stream);
}
template <class T, mpnum_norm_kind kind>
cudaError_t codes(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  return mpnum_launch_normalize_quantize_rows(
      kind, gpu_out_rows<mpnum_e4m3>(c), gpu_x_rows<T>(c), &options, c->side + GPU_SCALE,
      c->side + GPU_AMAX, stream);
}
/* Weights' gradients lie first in the workspace. */
template <class T, mpnum_norm_kind kind>
cudaError_t slope(const gpu_case *c, cudaStream_t stream) {
  const mpnum_normalize_options options = weighted(c);
  float *const slopes = static_cast<float *>(c->workspace);
  float *const biases = kind == MPNUM_NORM_LAYER ? slopes + c->columns : nullptr;
  const mpnum::norm_gradients<T> to = {gpu_out_rows<T>(c), slopes, biases, 0};
  return mpnum_launch_normalize_backward_rows(kind, to, gpu_x_rows<T>(c),
                                              gpu_y_rows<T>(c), &options, stream,
                                              slopes + 2 * c->columns);
}

const mpnum_type f32 = MPNUM_TYPE_F32, bf16 = MPNUM_TYPE_BF16;
const mpnum_norm_kind layer = MPNUM_NORM_LAYER, rms = MPNUM_NORM_RMS;
const gpu_bound copy = GPU_BY_COPY;

/* Gradients of weights read both arrays once more. */
const gpu_kernel_row rows[] = {
    {"layer_norm_rows f32", f32, GPU_ROWS, 4096, copy, 8, norm<float, layer>,
     gpu_expect_layer_norm},
    {"layer_norm_rows bf16", bf16, GPU_ROWS, 4096, copy, 4, norm<mpnum_bf16, layer>,
     gpu_expect_layer_norm},
    {"rms_norm_rows f32", f32, GPU_ROWS, 4096, copy, 8, norm<float, rms>,
     gpu_expect_rms_norm},
    {"rms_norm_rows bf16", bf16, GPU_ROWS, 4096, copy, 4, norm<mpnum_bf16, rms>,
     gpu_expect_rms_norm},
    {"layer_norm_quantize_rows bf16 to e4m3", bf16, GPU_ROWS, 4096, copy, 3,
     codes<mpnum_bf16, layer>, gpu_expect_layer_norm_codes},
    {"rms_norm_quantize_rows bf16 to e4m3", bf16, GPU_ROWS, 4096, copy, 3,
     codes<mpnum_bf16, rms>, gpu_expect_rms_norm_codes},
    {"layer_norm_backward_rows bf16", bf16, GPU_ROWS, 4096, copy, 10,
     slope<mpnum_bf16, layer>, gpu_expect_layer_norm_backward},
    {"rms_norm_backward_rows bf16", bf16, GPU_ROWS, 4096, copy, 10,
     slope<mpnum_bf16, rms>, gpu_expect_rms_norm_backward}};

} // namespace

gpu_kernel_table gpu_norm_kernels() {
  const gpu_kernel_table table = {rows, sizeof rows / sizeof *rows};
  return table;
}

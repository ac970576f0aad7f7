/* SPDX-License-Identifier: MIT */
/* Launchers of quantize.cuh and health.cuh, and stochastic rounding. */
#include <mpnum/array/quantize_groups.cuh>
#include <mpnum/training/health.cuh>

#include "kernels.cuh"

namespace {

template <class T> cudaError_t scaled(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_quantize_array(gpu_out<mpnum_e4m3>(c), gpu_x<T>(c), gpu_count(c),
                                     c->side + GPU_SCALE, c->side + GPU_AMAX, stream);
}
template <class T> cudaError_t current(const gpu_case *c, cudaStream_t stream) {
  const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  return mpnum_launch_quantize_current(gpu_out<mpnum_e4m3>(c), gpu_x<T>(c), gpu_count(c),
                                       &recipe, c->side + GPU_SCALE_INV,
                                       c->side + GPU_AMAX, stream);
}
/* Parts of different lengths, which lie in side. */
cudaError_t groups(const gpu_case *c, cudaStream_t stream) {
  const uint64_t *const offsets =
      reinterpret_cast<const uint64_t *>(c->side + GPU_OFFSETS);
  return mpnum_launch_quantize_groups(gpu_out<mpnum_e4m3>(c), gpu_x<mpnum_bf16>(c),
                                      gpu_count(c), offsets, GPU_PARTS,
                                      c->side + GPU_PART_SCALES, c->side + GPU_PART_AMAX,
                                      static_cast<mpnum_status *>(nullptr), stream);
}
cudaError_t dequantize(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_dequantize_array(gpu_out<float>(c), gpu_x<mpnum_e4m3>(c),
                                       gpu_count(c), c->side + GPU_SCALE_INV, stream);
}
cudaError_t codes(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_convert_sat(gpu_out<mpnum_e4m3>(c), gpu_x<float>(c), gpu_count(c),
                                  stream);
}
template <class T> cudaError_t transpose(const gpu_case *c, cudaStream_t stream) {
  mpnum_e4m3 *const to = gpu_out<mpnum_e4m3>(c);
  return mpnum_launch_quantize_transpose(
      mpnum::matrix_of(to, c->rows, c->columns),
      mpnum::matrix_of(to + gpu_count(c), c->columns, c->rows), gpu_x_rows<T>(c),
      c->side + GPU_SCALE, c->side + GPU_AMAX, stream);
}
template <class T> cudaError_t stochastic(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_convert_round(gpu_out<T>(c), gpu_x<float>(c), gpu_count(c),
                                    MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE,
                                    GPU_STOCHASTIC_SEED, 0, stream);
}
cudaError_t histogram(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_histogram(reinterpret_cast<mpnum_histogram *>(c->side + GPU_COUNTS),
                                gpu_x<float>(c), gpu_count(c), stream);
}
cudaError_t lost(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_count_lost(reinterpret_cast<mpnum_lost *>(c->side + GPU_COUNTS),
                                 gpu_x<float>(c), gpu_count(c),
                                 mpnum_format_of(MPNUM_TYPE_E4M3), 300, stream);
}

const mpnum_type f32 = MPNUM_TYPE_F32, bf16 = MPNUM_TYPE_BF16;
const gpu_bound copy = GPU_BY_COPY, read = GPU_BY_READ;

const gpu_kernel_row rows[] = {
    {"convert_round f32 to e4m3, stochastic", f32, GPU_ARRAY, 0, copy, 5,
     stochastic<mpnum_e4m3>, gpu_expect_stochastic_e4m3},
    {"convert_round f32 to bf16, stochastic", f32, GPU_ARRAY, 0, copy, 6,
     stochastic<mpnum_bf16>, gpu_expect_stochastic_bf16},
    {"quantize_scaled f32 to e4m3", f32, GPU_ARRAY, 0, copy, 5, scaled<float>,
     gpu_expect_scaled},
    {"quantize_scaled bf16 to e4m3", bf16, GPU_ARRAY, 0, copy, 3, scaled<mpnum_bf16>,
     gpu_expect_scaled},
    {"quantize_groups bf16 to e4m3, 64 parts", bf16, GPU_ARRAY, 0, copy, 3, groups,
     gpu_expect_groups},
    {"quantize_current bf16 to e4m3", bf16, GPU_ARRAY, 0, copy, 5, current<mpnum_bf16>,
     gpu_expect_current},
    {"dequantize_scaled e4m3 to f32", MPNUM_TYPE_E4M3, GPU_ARRAY, 0, copy, 5, dequantize,
     gpu_expect_dequantized, codes},
    {"quantize_transpose f32 to e4m3", f32, GPU_MATRIX, 0, copy, 6, transpose<float>,
     gpu_expect_transpose},
    {"quantize_transpose bf16 to e4m3", bf16, GPU_MATRIX, 0, copy, 4,
     transpose<mpnum_bf16>, gpu_expect_transpose},
    {"histogram f32", f32, GPU_ARRAY, 0, read, 4, histogram, gpu_expect_histogram},
    {"count_lost f32", f32, GPU_ARRAY, 0, read, 4, lost, gpu_expect_lost}};

} // namespace

gpu_kernel_table gpu_scaled_kernels() {
  const gpu_kernel_table table = {rows, sizeof rows / sizeof *rows};
  return table;
}

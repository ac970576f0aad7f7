/* SPDX-License-Identifier: MIT */
/* Launchers of quantize.cuh, quantize_groups.cuh and health.cuh, stochastic rounding, and
 * a kernel of tiles of device.cuh. */
#include <mpnum/array/quantize_groups.cuh>
#include <mpnum/training/health.cuh>

#include "kernels.cuh"

#include "fill.cuh"
#include "../core/message.h"

namespace {

/* As in docs of device.cuh, a tile a block. */
__global__ void scaled_copy_kernel(float *dst, const float *src, size_t n,
                                   const float *scale) {
  typedef mpnum_tile<float, 4> tile;
  const size_t first = blockIdx.x * tile::elements;
  if (first >= n) return;
  const float factor = *scale;
  tile values = mpnum_load_tile<4>(src, first, n);
  for (unsigned v = 0; v < tile::vectors; ++v)
    for (unsigned j = 0; j < 4; ++j)
      values.at[v].at[j] *= factor;
  mpnum_store_tile(dst, first, n, values);
}
cudaError_t scaled_copy(const gpu_case *c, cudaStream_t) {
  const size_t tile = mpnum_tile<float, 4>::elements, n = gpu_count(c);
  return gpu_launch(scaled_copy_kernel, static_cast<unsigned>((n + tile - 1) / tile), 256,
                    gpu_out<float>(c), gpu_x<float>(c), n, c->side + GPU_SCALE);
}

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
/* The same parts as tensors of a list, which lies in the workspace. */
struct listed {
  mpnum::quantize_tensor<mpnum_e4m3, mpnum_bf16> tensors[GPU_PARTS];
  uint64_t tiles_before[GPU_PARTS + 1];
};
static_assert(sizeof(listed) <= GPU_WORKSPACE, "has no room");
cudaError_t plan_list(gpu_case *c) {
  mpnum::quantize_list<mpnum_e4m3, mpnum_bf16> list = {};
  listed made;
  for (unsigned i = 0; i < GPU_PARTS; ++i) {
    const uint64_t begin = gpu_part_begin(gpu_count(c), i);
    made.tensors[i] = {gpu_out<mpnum_e4m3>(c) + begin, gpu_x<mpnum_bf16>(c) + begin,
                       gpu_part_begin(gpu_count(c), i + 1) - begin,
                       c->side + GPU_PART_SCALES + i, c->side + GPU_PART_AMAX + i};
  }
  must(mpnum_quantize_plan(&list, made.tiles_before, made.tensors, GPU_PARTS));
  c->tiles = list.tiles;
  return cudaMemcpy(c->workspace, &made, sizeof made, cudaMemcpyHostToDevice);
}
cudaError_t list(const gpu_case *c, cudaStream_t stream) {
  const listed *const at = static_cast<const listed *>(c->workspace);
  const mpnum::quantize_list<mpnum_e4m3, mpnum_bf16> all = {at->tensors, at->tiles_before,
                                                            GPU_PARTS, c->tiles};
  return mpnum_launch_quantize_list(all, stream);
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
    {"quantize_list bf16 to e4m3, 64 tensors", bf16, GPU_ARRAY, 0, copy, 3, list,
     gpu_expect_groups, nullptr, plan_list},
    {"quantize_current bf16 to e4m3", bf16, GPU_ARRAY, 0, copy, 5, current<mpnum_bf16>,
     gpu_expect_current},
    {"dequantize_scaled e4m3 to f32", MPNUM_TYPE_E4M3, GPU_ARRAY, 0, copy, 5, dequantize,
     gpu_expect_dequantized, codes},
    {"quantize_transpose f32 to e4m3", f32, GPU_MATRIX, 0, copy, 6, transpose<float>,
     gpu_expect_transpose},
    {"quantize_transpose bf16 to e4m3", bf16, GPU_MATRIX, 0, copy, 4,
     transpose<mpnum_bf16>, gpu_expect_transpose},
    {"scaled copy by tiles f32", f32, GPU_ARRAY, 0, copy, 8, scaled_copy,
     gpu_expect_scaled_copy},
    {"histogram f32", f32, GPU_ARRAY, 0, read, 4, histogram, gpu_expect_histogram},
    {"count_lost f32", f32, GPU_ARRAY, 0, read, 4, lost, gpu_expect_lost}};

} // namespace

gpu_kernel_table gpu_scaled_kernels() {
  const gpu_kernel_table table = {rows, sizeof rows / sizeof *rows};
  return table;
}

/* SPDX-License-Identifier: MIT */
/* Operands with a scale for each block of neighbours along K: MXFP8 and NVFP4. */
#include <stdlib.h>

#include <mpnum/blocks/quantize_blocks.cuh>

#include "operand.cuh"

namespace {

enum { MX_BLOCK = 32, NVFP4_BLOCK = 16 };

/* OCP MX 1.0, 6.3: a scale is 2^(floor(log2(amax)) - 8), 2^8 being the power of two of
 * 448. Values between 448 and 512 times it saturate. */
const mpnum_blockscale_rule ocp = MPNUM_BLOCKSCALE_FLOOR;

mpnum_blockscaled codes_of(const gpu_operand *operand, const gpu_side *side,
                           size_t stride) {
  mpnum_blockscaled made;
  made.codes = side->codes.at;
  made.stride = stride;
  made.scale_inv = side->scales.at;
  made.scale_inv_bytes = operand->scale_bytes;
  made.is_swizzled = 1;
  made.scale = 1;
  return made;
}
int sides(bool turned_too) {
  return MPNUM_QUANTIZE_ROWS |
         (turned_too ? MPNUM_QUANTIZE_COLUMNS | MPNUM_QUANTIZE_TRANSPOSED : 0);
}

cudaError_t convert_mx(gpu_operand *operand, bool turned_too) {
  const size_t rows = operand->rows, columns = operand->columns;
  const mpnum_blockscaled by_row = codes_of(operand, &operand->by_row, columns);
  const mpnum_blockscaled turned = codes_of(operand, &operand->turned, rows);
  return mpnum_launch_quantize_mx<mpnum_e4m3>(
      &by_row, &turned, mpnum::matrix_of(operand->original.as<float>(), rows, columns),
      ocp, sides(turned_too), 0);
}

/* The scale of the tensor is 1: it serves values far from one, which these operands are
 * not. */
cudaError_t convert_nvfp4(gpu_operand *operand, bool turned_too) {
  const size_t rows = operand->rows, columns = operand->columns;
  const mpnum_blockscaled by_row = codes_of(operand, &operand->by_row, columns);
  const mpnum_blockscaled turned = codes_of(operand, &operand->turned, rows);
  return mpnum_launch_quantize_nvfp4(
      &by_row, &turned, mpnum::matrix_of(operand->original.as<float>(), rows, columns),
      operand->scale.as<float>(), sides(turned_too), 0);
}

/* Scales of no block are 0. */
cudaError_t prepare(gpu_operand *operand) {
  const float one = 1;
  cudaError_t error = cudaMemset(operand->by_row.scales.at, 0, operand->scale_bytes);
  if (error == cudaSuccess)
    error = cudaMemset(operand->turned.scales.at, 0, operand->scale_bytes);
  if (error == cudaSuccess)
    error = cudaMemcpy(operand->scale.at, &one, sizeof one, cudaMemcpyHostToDevice);
  return error;
}

float decode_e4m3(const void *codes, size_t index) {
  return mpnum_e4m3_to_f32(static_cast<const mpnum_e4m3 *>(codes)[index]);
}
float decode_e2m1(const void *codes, size_t index) {
  const mpnum_e2m1x2 pair = static_cast<const mpnum_e2m1x2 *>(codes)[index / 2];
  return mpnum_e2m1_to_f32(mpnum_unpack_e2m1_x2(pair, static_cast<int>(index % 2)));
}

uint8_t scale_at(const void *scales, size_t row, size_t block, size_t blocks) {
  return static_cast<const uint8_t *>(scales)[mpnum_scale_place(row, block, blocks)];
}
float mx_scale(const void *scales, size_t row, size_t index, size_t k) {
  return mpnum_e8m0_to_f32(
      mpnum_from_bits_e8m0(scale_at(scales, row, index / MX_BLOCK, k / MX_BLOCK)));
}
float nvfp4_scale(const void *scales, size_t row, size_t index, size_t k) {
  return mpnum_e4m3_to_f32(
      mpnum_from_bits_e4m3(scale_at(scales, row, index / NVFP4_BLOCK, k / NVFP4_BLOCK)));
}

} // namespace

const gpu_operand_format gpu_mxfp8_operand = {8,       MX_BLOCK,   1,           true,
                                              prepare, convert_mx, decode_e4m3, mx_scale};
const gpu_operand_format gpu_nvfp4_operand = {
    4, NVFP4_BLOCK, 1, true, prepare, convert_nvfp4, decode_e2m1, nvfp4_scale};

/* Blocks of NVFP4 are the smallest. */
size_t gpu_scale_bytes(size_t rows, size_t k) {
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  return mpnum_blockscale_scale_bytes(&format, rows, k, 1);
}

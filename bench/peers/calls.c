/* SPDX-License-Identifier: MIT */
/* mpnum's conversions as functions of their own, in a file of their own: no caller
 * inlines them. Loops over blocks, by inline calls and by array calls. */
#include "block_loops.h"
#include "../core/block_formats.h"

#include <string.h>

#include <mpnum/mpnum.h>

uint32_t call_f32_to_f16(float x) { return mpnum_f32_to_f16(x).bits; }
uint32_t call_f32_to_bf16(float x) { return mpnum_f32_to_bf16(x).bits; }
uint32_t call_f32_to_e4m3_sat(float x) { return mpnum_f32_to_e4m3_sat(x).bits; }
uint32_t call_f32_to_e5m2_sat(float x) { return mpnum_f32_to_e5m2_sat(x).bits; }
float call_f16_to_f32(uint32_t code) {
  return mpnum_f16_to_f32(mpnum_from_bits_f16(code));
}
float call_bf16_to_f32(uint32_t code) {
  return mpnum_bf16_to_f32(mpnum_from_bits_bf16(code));
}
float call_e4m3_to_f32(uint32_t code) {
  return mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(code));
}

BLOCK_LOOPS(inlined, BLOCK_INLINE, BLOCK_INLINE_BACK)

/* A matrix of one row that is one block. */
static mpnum_status quantize(mpnum_blockscale_format format, uint8_t *codes,
                             uint8_t *scale_inv, float scale, const float *src,
                             size_t n) {
  const mpnum_blockscaled dst = {codes, n, scale_inv, 1, 0, scale};
  return to_blocks(&format, dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, src, 1, n), NULL);
}
static mpnum_status dequantize(mpnum_blockscale_format format, float *dst,
                               const uint8_t *codes, const uint8_t *scale_inv,
                               float scale, size_t n) {
  mpnum_blockscaled src = {NULL, n, NULL, 1, 0, scale};
  memcpy(&src.codes, &codes, sizeof codes); /* which are only read */
  memcpy(&src.scale_inv, &scale_inv, sizeof scale_inv);
  return from_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, dst, 1, n), src);
}
BLOCK_LOOPS(array, quantize, dequantize)

/* SPDX-License-Identifier: MIT */
/* A user's own loops around mpnum's conversions of one value, built as users build who
 * leave vectors to the compiler: -O3 for this CPU. */
#include "block_loops.h"

#include <mpnum/blocks/block.h>
#include <mpnum/types.h>

void loop_f32_to_f16(uint16_t *dst, const float *src, size_t count) {
  for (size_t i = 0; i < count; ++i)
    dst[i] = mpnum_f32_to_f16(src[i]).bits;
}
void loop_f32_to_bf16(uint16_t *dst, const float *src, size_t count) {
  for (size_t i = 0; i < count; ++i)
    dst[i] = mpnum_f32_to_bf16(src[i]).bits;
}
void loop_f32_to_e4m3_sat(uint8_t *dst, const float *src, size_t count) {
  for (size_t i = 0; i < count; ++i)
    dst[i] = mpnum_f32_to_e4m3_sat(src[i]).bits;
}
void loop_f32_to_e5m2_sat(uint8_t *dst, const float *src, size_t count) {
  for (size_t i = 0; i < count; ++i)
    dst[i] = mpnum_f32_to_e5m2_sat(src[i]).bits;
}
void loop_f16_to_f32(float *dst, const uint16_t *src, size_t count) {
  for (size_t i = 0; i < count; ++i)
    dst[i] = mpnum_f16_to_f32(mpnum_from_bits_f16(src[i]));
}
void loop_bf16_to_f32(float *dst, const uint16_t *src, size_t count) {
  for (size_t i = 0; i < count; ++i)
    dst[i] = mpnum_bf16_to_f32(mpnum_from_bits_bf16(src[i]));
}
void loop_e4m3_to_f32(float *dst, const uint8_t *src, size_t count) {
  for (size_t i = 0; i < count; ++i)
    dst[i] = mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(src[i]));
}
BLOCK_LOOPS(loop, BLOCK_INLINE, BLOCK_INLINE_BACK)

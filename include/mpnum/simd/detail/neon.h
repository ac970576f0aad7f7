/* SPDX-License-Identifier: MIT */
/* The operations in which the .inc files are written, as explained in avx512.h, for NEON,
 * which every aarch64 has. */
#ifndef MPNUM_SIMD_DETAIL_NEON_H
#define MPNUM_SIMD_DETAIL_NEON_H

#include "../../core/detail/environment.h"
#include "codings.h"
#include "../isa.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_NEON_

# include <arm_neon.h>

# define MPNUM_NEON_ MPNUM_FORCED_

# include "operations.inc"
# define MPNUM_ISA_HERE_ 4
# include "isa_begin.inc"

typedef uint32_t mpnumv_vector __attribute__((__vector_size__(16)));
typedef uint8_t mpnumv_bytes __attribute__((__vector_size__(16)));
typedef uint32x4_t mpnumv_mask;
typedef mpnumv_vector mpnumv_f32; /* floats as their bits */

MPNUM_NEON_ mpnumv_vector mpnumv_splat(uint32_t x) {
  return (mpnumv_vector)vdupq_n_u32(x);
}
MPNUM_NEON_ mpnumv_vector mpnumv_bits_of(mpnumv_f32 x) { return x; }
MPNUM_NEON_ mpnumv_f32 mpnumv_f32_of(mpnumv_vector bits) { return bits; }
MPNUM_NEON_ mpnumv_f32 mpnumv_constant(uint32_t bits) { return mpnumv_splat(bits); }
MPNUM_NEON_ mpnumv_vector mpnumv_iota(void) {
  const mpnumv_vector lanes = {0, 1, 2, 3};
  return lanes;
}
MPNUM_NEON_ mpnumv_vector mpnumv_min(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)vminq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnumv_vector mpnumv_max(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnumv_mask mpnumv_greater(mpnumv_vector a, mpnumv_vector b) {
  return vcgtq_s32((int32x4_t)a, (int32x4_t)b);
}
MPNUM_NEON_ mpnumv_mask mpnumv_less(mpnumv_vector a, mpnumv_vector b) {
  return vcltq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnumv_mask mpnumv_equal(mpnumv_vector a, mpnumv_vector b) {
  return vceqq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnumv_vector mpnumv_select(mpnumv_mask mask, mpnumv_vector a,
                                        mpnumv_vector b) {
  return (mpnumv_vector)vbslq_u32(mask, (uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnumv_vector mpnumv_where(mpnumv_mask mask, mpnumv_vector x) {
  return (mpnumv_vector)mask & x;
}
/* The instruction takes counts from the low byte, of either sign: bounded to 32, which
 * gives 0. */
MPNUM_NEON_ mpnumv_vector mpnumv_shl(mpnumv_vector x, mpnumv_vector count) {
  const uint32x4_t bounded = vminq_u32((uint32x4_t)count, vdupq_n_u32(32));
  return (mpnumv_vector)vshlq_u32((uint32x4_t)x, vreinterpretq_s32_u32(bounded));
}
MPNUM_NEON_ mpnumv_vector mpnumv_shr(mpnumv_vector x, mpnumv_vector count) {
  const uint32x4_t bounded = vminq_u32((uint32x4_t)count, vdupq_n_u32(32));
  return (mpnumv_vector)vshlq_u32((uint32x4_t)x,
                                  vnegq_s32(vreinterpretq_s32_u32(bounded)));
}
MPNUM_NEON_ mpnumv_vector mpnumv_shr_by(mpnumv_vector x, int count) {
  return x >> (uint32_t)count;
}
MPNUM_NEON_ mpnumv_vector mpnumv_shl_by(mpnumv_vector x, int count) {
  return x << (uint32_t)count;
}

MPNUM_NEON_ mpnumv_mask mpnumv_is_nan(mpnumv_vector x) {
  return mpnumv_greater(x & 0x7fffffffu, mpnumv_splat(0x7f800000u));
}
MPNUM_NEON_ mpnumv_vector mpnumv_smaller_magnitude(mpnumv_vector a, mpnumv_vector b) {
  return mpnumv_min(a & 0x7fffffffu, b & 0x7fffffffu);
}
MPNUM_NEON_ mpnumv_vector mpnumv_clamped_magnitude(mpnumv_vector x, uint32_t limit) {
  return mpnumv_min(x & 0x7fffffffu, mpnumv_splat(limit));
}
MPNUM_NEON_ mpnumv_vector mpnumv_add_floats(mpnumv_vector a, mpnumv_vector b) {
  float32x4_t sum = vaddq_f32((float32x4_t)a, (float32x4_t)b);
  __asm__("" : "+w"(sum)); /* -ffast-math must not see through it */
  return (mpnumv_vector)sum;
}
MPNUM_NEON_ mpnumv_vector mpnumv_add_scaled(mpnumv_vector power, mpnumv_vector x,
                                            float scale) {
  float32x4_t sum = vfmaq_n_f32((float32x4_t)power, (float32x4_t)x, scale);
  __asm__("" : "+w"(sum)); /* -ffast-math must not see through it */
  return (mpnumv_vector)sum;
}
MPNUM_NEON_ mpnumv_f32 mpnumv_f32_of_whole(mpnumv_vector x) {
  return (mpnumv_vector)vcvtq_f32_s32((int32x4_t)x);
}
MPNUM_NEON_ mpnumv_vector mpnumv_mul_power(mpnumv_vector x, float scale) {
  return (mpnumv_vector)vmulq_n_f32((float32x4_t)x, scale);
}
MPNUM_NEON_ mpnumv_vector mpnumv_scaled(mpnumv_vector x, float scale) {
  return mpnumv_mul_power(mpnumv_bits_of(mpnumv_f32_of_whole(x)), scale);
}

/* Words of func.inc, on floats as bits: rounded once. The asm hides them from
 * -ffast-math. */
# define MPNUM_F32_OPERATION_(name, instruction)                     \
  MPNUM_NEON_ mpnumv_vector name(mpnumv_vector a, mpnumv_vector b) { \
   float32x4_t x;                                                    \
   __asm__(instruction " %0.4s, %1.4s, %2.4s"                        \
           : "=w"(x)                                                 \
           : "w"((float32x4_t)a), "w"((float32x4_t)b));              \
   return (mpnumv_vector)x;                                          \
  }
MPNUM_F32_OPERATION_(mpnumv_add, "fadd")
MPNUM_F32_OPERATION_(mpnumv_sub, "fsub")
MPNUM_F32_OPERATION_(mpnumv_mul, "fmul")
MPNUM_F32_OPERATION_(mpnumv_div, "fdiv")
# undef MPNUM_F32_OPERATION_
/* a b + c */
MPNUM_NEON_ mpnumv_vector mpnumv_fma(mpnumv_vector a, mpnumv_vector b, mpnumv_vector c) {
  float32x4_t x = (float32x4_t)c;
  __asm__("fmla %0.4s, %1.4s, %2.4s"
          : "+w"(x)
          : "w"((float32x4_t)a), "w"((float32x4_t)b));
  return (mpnumv_vector)x;
}
MPNUM_NEON_ mpnumv_vector mpnumv_clamped_below(mpnumv_vector x, uint32_t low) {
  return (mpnumv_vector)vminq_u32((uint32x4_t)x, (uint32x4_t)mpnumv_splat(low));
}
MPNUM_NEON_ mpnumv_vector mpnumv_clamped_above(mpnumv_vector x, uint32_t high) {
  return (mpnumv_vector)vminq_s32((int32x4_t)x, (int32x4_t)mpnumv_splat(high));
}
MPNUM_NEON_ mpnumv_vector mpnumv_clamped_or_nan(mpnumv_vector x, uint32_t low,
                                                uint32_t high) {
  float32x4_t y; /* -ffast-math must not see it */
  __asm__("fmin %0.4s, %1.4s, %2.4s"
          : "=w"(y)
          : "w"((float32x4_t)x), "w"((float32x4_t)mpnumv_splat(high)));
  __asm__("fmax %0.4s, %1.4s, %2.4s"
          : "=w"(y)
          : "w"(y), "w"((float32x4_t)mpnumv_splat(low)));
  return (mpnumv_vector)y;
}
MPNUM_NEON_ mpnumv_mask mpnumv_not_below(mpnumv_vector x, uint32_t low) {
  return vcleq_u32((uint32x4_t)x, vdupq_n_u32(low));
}
MPNUM_NEON_ mpnumv_vector mpnumv_sqrt_raw(mpnumv_vector x) {
  float32x4_t root;
  __asm__("fsqrt %0.4s, %1.4s" : "=w"(root) : "w"((float32x4_t)x));
  return (mpnumv_vector)root;
}

MPNUM_NEON_ mpnumv_vector mpnumv_larger(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)vmaxq_f32((float32x4_t)a, (float32x4_t)b);
}
/* Stride 1 or 2. */
MPNUM_NEON_ mpnumv_vector mpnumv_swapped(mpnumv_vector x, int stride) {
  if (stride == 1) return (mpnumv_vector)vrev64q_u32((uint32x4_t)x);
  return (mpnumv_vector)vextq_u32((uint32x4_t)x, (uint32x4_t)x, 2);
}
MPNUM_NEON_ mpnumv_vector mpnumv_butterfly(mpnumv_vector x, int stride) {
  const mpnumv_vector by_1 = {0, 0x80000000u, 0, 0x80000000u};
  const mpnumv_vector by_2 = {0, 0, 0x80000000u, 0x80000000u};
  if (stride == 1) return mpnumv_add(mpnumv_swapped(x, 1), x ^ by_1);
  return mpnumv_add(mpnumv_swapped(x, 2), x ^ by_2);
}

MPNUM_NEON_ mpnumv_vector mpnum_above_neon_(int bits, mpnumv_vector x,
                                            mpnumv_vector limit) {
  if (bits == 8) return (mpnumv_vector)vcgtq_s8((int8x16_t)x, (int8x16_t)limit);
  if (bits == 16) return (mpnumv_vector)vcgtq_s16((int16x8_t)x, (int16x8_t)limit);
  return (mpnumv_vector)vcgtq_s32((int32x4_t)x, (int32x4_t)limit);
}
MPNUM_NEON_ int mpnumv_any_above(int bits, mpnumv_vector x, mpnumv_vector limit) {
  return vmaxvq_u32((uint32x4_t)mpnum_above_neon_(bits, x, limit)) != 0;
}
/* In all lanes. */
MPNUM_NEON_ void mpnumv_mul_wide(mpnumv_vector a, uint32_t b, mpnumv_vector *high,
                                 mpnumv_vector *low) {
  const uint32x2_t factor = vdup_n_u32(b);
  const uint32x4_t first = (uint32x4_t)vmull_u32(vget_low_u32((uint32x4_t)a), factor);
  const uint32x4_t second = (uint32x4_t)vmull_u32(vget_high_u32((uint32x4_t)a), factor);
  *low = (mpnumv_vector)vuzp1q_u32(first, second);
  *high = (mpnumv_vector)vuzp2q_u32(first, second);
}
MPNUM_NEON_ void mpnumv_transpose(mpnumv_vector rows[4]) {
  const uint32x4_t low01 = vzip1q_u32((uint32x4_t)rows[0], (uint32x4_t)rows[1]);
  const uint32x4_t high01 = vzip2q_u32((uint32x4_t)rows[0], (uint32x4_t)rows[1]);
  const uint32x4_t low23 = vzip1q_u32((uint32x4_t)rows[2], (uint32x4_t)rows[3]);
  const uint32x4_t high23 = vzip2q_u32((uint32x4_t)rows[2], (uint32x4_t)rows[3]);
  rows[0] = (mpnumv_vector)vzip1q_u64((uint64x2_t)low01, (uint64x2_t)low23);
  rows[1] = (mpnumv_vector)vzip2q_u64((uint64x2_t)low01, (uint64x2_t)low23);
  rows[2] = (mpnumv_vector)vzip1q_u64((uint64x2_t)high01, (uint64x2_t)high23);
  rows[3] = (mpnumv_vector)vzip2q_u64((uint64x2_t)high01, (uint64x2_t)high23);
}
MPNUM_NEON_ void mpnumv_unzip(mpnumv_vector pair[2]) {
  const uint32x4_t a = (uint32x4_t)pair[0], b = (uint32x4_t)pair[1];
  pair[0] = (mpnumv_vector)vuzp1q_u32(a, b);
  pair[1] = (mpnumv_vector)vuzp2q_u32(a, b);
}
MPNUM_NEON_ void mpnumv_zip(mpnumv_vector pair[2]) {
  const uint32x4_t a = (uint32x4_t)pair[0], b = (uint32x4_t)pair[1];
  pair[0] = (mpnumv_vector)vzip1q_u32(a, b);
  pair[1] = (mpnumv_vector)vzip2q_u32(a, b);
}
/* Four words of each lane. */
MPNUM_NEON_ void mpnumv_store_words(uint8_t *dst, const mpnumv_vector x[4]) {
  const uint32x4x4_t words = {
      {(uint32x4_t)x[0], (uint32x4_t)x[1], (uint32x4_t)x[2], (uint32x4_t)x[3]}};
  vst4q_u32((uint32_t *)(void *)dst, words);
}
MPNUM_NEON_ mpnumv_vector mpnumv_largest_of_quarters(const mpnumv_vector *x) {
  return x[0];
}

MPNUM_NEON_ void mpnumv_copy_rest(uint8_t *dst, const uint8_t *src, size_t bytes) {
  MPNUM_MEMCPY_(dst, src, bytes);
}
MPNUM_NEON_ void mpnumv_copy_padded(uint8_t *dst, const uint8_t *src, size_t bytes,
                                    size_t size) {
  mpnum_copy_padded_(dst, src, bytes, size);
}
MPNUM_NEON_ mpnumv_vector mpnumv_load8(const uint8_t *src) {
  uint32_t word;
  __builtin_memcpy(&word, src, 4);
  return (mpnumv_vector)vmovl_u16(vget_low_u16(vmovl_u8((uint8x8_t)vdup_n_u32(word))));
}
MPNUM_NEON_ mpnumv_vector mpnumv_load16(const uint8_t *src) {
  return (mpnumv_vector)vmovl_u16((uint16x4_t)vld1_u8(src));
}
MPNUM_NEON_ mpnumv_vector mpnumv_load32(const uint8_t *src) {
  return (mpnumv_vector)vld1q_u8(src);
}
MPNUM_NEON_ mpnumv_vector mpnumv_load_odd64(const uint8_t *src) {
  const float32x2_t low = vcvtx_f32_f64((float64x2_t)vld1q_u8(src));
  return (mpnumv_vector)vcvtx_high_f32_f64(low, (float64x2_t)vld1q_u8(src + 16));
}
MPNUM_NEON_ mpnumv_vector mpnumv_load_cut64(const uint8_t *src) {
  return mpnumv_load_odd64(src);
}
/* What load_cut64 cannot do, which here is nothing. */
MPNUM_NEON_ int mpnumv_any_subnormal(mpnumv_vector a, mpnumv_vector b) {
  (void)a;
  (void)b;
  return 0;
}
MPNUM_NEON_ mpnumv_vector mpnumv_load_nearest64(const uint8_t *src) {
  const float32x2_t low = vcvt_f32_f64((float64x2_t)vld1q_u8(src));
  return (mpnumv_vector)vcvt_high_f32_f64(low, (float64x2_t)vld1q_u8(src + 16));
}

/* Stores are the same whether they are to stream or not. */
MPNUM_NEON_ void mpnumv_store32(uint8_t *dst, mpnumv_vector x, int non_temporal) {
  (void)non_temporal;
  vst1q_u8(dst, (uint8x16_t)x);
}
MPNUM_NEON_ void mpnumv_store16(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                int non_temporal) {
  (void)non_temporal;
  vst1q_u8(dst, (uint8x16_t)vuzp1q_u16((uint16x8_t)a, (uint16x8_t)b));
}
MPNUM_NEON_ void mpnumv_store_high(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                   int non_temporal) {
  (void)non_temporal;
  vst1q_u8(dst, (uint8x16_t)vuzp2q_u16((uint16x8_t)a, (uint16x8_t)b));
}
MPNUM_NEON_ void mpnumv_store_f16(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                  int saturates, int non_temporal) {
  const mpnumv_vector max = mpnumv_splat(0x477fe000u); /* 65504 */
  const mpnumv_vector infinity = mpnumv_splat(0x7f800000u);
  const mpnumv_vector abs_a = a & 0x7fffffffu, abs_b = b & 0x7fffffffu;
  const uint16x8_t is_nan = vuzp1q_u16((uint16x8_t)mpnumv_greater(abs_a, infinity),
                                       (uint16x8_t)mpnumv_greater(abs_b, infinity));
  uint16x8_t f16_codes;
  (void)non_temporal;
  if (saturates) {
    a = mpnumv_min(abs_a, max) | (a & 0x80000000u);
    b = mpnumv_min(abs_b, max) | (b & 0x80000000u);
  }
  f16_codes = vcombine_u16((uint16x4_t)vcvt_f16_f32((float32x4_t)a),
                           (uint16x4_t)vcvt_f16_f32((float32x4_t)b));
  vst1q_u8(dst, (uint8x16_t)vbslq_u16(is_nan, vdupq_n_u16(0x7fff), f16_codes));
}
MPNUM_NEON_ mpnumv_vector mpnumv_load_f16(const uint8_t *src) {
  return (mpnumv_vector)vcvt_f32_f16((float16x4_t)vld1_u8(src));
}

/* Byte number 0 or 3 of each lane. */
MPNUM_NEON_ mpnumv_bytes mpnumv_low_bytes(const mpnumv_vector x[4]) {
  const uint16x8_t low = vuzp1q_u16((uint16x8_t)x[0], (uint16x8_t)x[1]);
  const uint16x8_t high = vuzp1q_u16((uint16x8_t)x[2], (uint16x8_t)x[3]);
  return (mpnumv_bytes)vuzp1q_u8((uint8x16_t)low, (uint8x16_t)high);
}
MPNUM_NEON_ mpnumv_bytes mpnumv_sign_bytes(const mpnumv_vector x[4]) {
  const uint16x8_t low = vuzp2q_u16((uint16x8_t)x[0], (uint16x8_t)x[1]);
  const uint16x8_t high = vuzp2q_u16((uint16x8_t)x[2], (uint16x8_t)x[3]);
  return (mpnumv_bytes)vuzp2q_u8((uint8x16_t)low, (uint8x16_t)high);
}
MPNUM_NEON_ int mpnumv_any_nan(const mpnumv_vector x[4]) {
  const mpnumv_vector low = mpnumv_max(x[0] & 0x7fffffffu, x[1] & 0x7fffffffu);
  const mpnumv_vector high = mpnumv_max(x[2] & 0x7fffffffu, x[3] & 0x7fffffffu);
  return vmaxvq_u32((uint32x4_t)mpnumv_max(low, high)) > 0x7f800000u;
}
MPNUM_NEON_ mpnumv_bytes mpnumv_where_nan(const mpnumv_vector x[4], uint8_t nan_result,
                                          mpnumv_bytes bytes) {
  const uint16x8_t low =
      vuzp1q_u16((uint16x8_t)mpnumv_is_nan(x[0]), (uint16x8_t)mpnumv_is_nan(x[1]));
  const uint16x8_t high =
      vuzp1q_u16((uint16x8_t)mpnumv_is_nan(x[2]), (uint16x8_t)mpnumv_is_nan(x[3]));
  return (mpnumv_bytes)vbslq_u8(vuzp1q_u8((uint8x16_t)low, (uint8x16_t)high),
                                vdupq_n_u8(nan_result), (uint8x16_t)bytes);
}
MPNUM_NEON_ mpnumv_bytes mpnumv_packed_low(const mpnumv_vector x[4]) {
  return mpnumv_low_bytes(x);
}
MPNUM_NEON_ mpnumv_bytes mpnumv_in_order(mpnumv_bytes x) { return x; }
MPNUM_NEON_ mpnumv_bytes mpnumv_bytes_shr(mpnumv_bytes x, int count) {
  return x >> count;
}
MPNUM_NEON_ mpnumv_bytes mpnumv_bytes_shl(mpnumv_bytes x, int count) {
  return (mpnumv_bytes)vshlq_u16((uint16x8_t)x, vdupq_n_s16((int16_t)count));
}
MPNUM_NEON_ mpnumv_bytes mpnumv_load_bytes(const uint8_t *src) {
  return (mpnumv_bytes)mpnumv_load32(src);
}
MPNUM_NEON_ void mpnumv_store_bytes(uint8_t *dst, mpnumv_bytes x, int non_temporal) {
  (void)non_temporal;
  vst1q_u8(dst, (uint8x16_t)x);
}
MPNUM_NEON_ void mpnumv_store_nibbles(uint8_t *dst, mpnumv_bytes x, int non_temporal) {
  const uint16x8_t pairs = (uint16x8_t)x;
  (void)non_temporal;
  vst1_u8(dst, vmovn_u16(vsraq_n_u16(pairs, pairs, 4)));
}
MPNUM_NEON_ void mpnumv_store_sixes(uint8_t *dst, mpnumv_bytes x) {
  uint8_t codes[16];
  mpnumv_store_bytes(codes, x, 0);
  mpnum_pack_(6, dst, codes, 16);
}
MPNUM_NEON_ mpnumv_bytes mpnumv_load_nibbles(const uint8_t *src) {
  const uint16x8_t pairs = vmovl_u8(vld1_u8(src));
  return (mpnumv_bytes)(pairs | pairs << 4);
}
MPNUM_NEON_ mpnumv_bytes mpnumv_load_sixes(const uint8_t *src) {
  uint8_t codes[16];
  mpnum_unpack_(6, codes, src, 16);
  return (mpnumv_bytes)vld1q_u8(codes);
}
MPNUM_NEON_ void mpnumv_shifted_f16_of_bytes(mpnumv_bytes codes, int right, uint16_t mask,
                                             mpnumv_vector x[4]) {
  const int16x8_t right_by = vdupq_n_s16((int16_t)-right);
  const int16x8_t first = (int16x8_t)vshll_n_u8(vget_low_u8((uint8x16_t)codes), 8);
  const int16x8_t second = (int16x8_t)vshll_n_u8(vget_high_u8((uint8x16_t)codes), 8);
  const uint16x8_t low = (uint16x8_t)vshlq_s16(first, right_by) & vdupq_n_u16(mask);
  const uint16x8_t high = (uint16x8_t)vshlq_s16(second, right_by) & vdupq_n_u16(mask);
  x[0] = (mpnumv_vector)vcvt_f32_f16((float16x4_t)vget_low_u16(low));
  x[1] = (mpnumv_vector)vcvt_f32_f16((float16x4_t)vget_high_u16(low));
  x[2] = (mpnumv_vector)vcvt_f32_f16((float16x4_t)vget_low_u16(high));
  x[3] = (mpnumv_vector)vcvt_f32_f16((float16x4_t)vget_high_u16(high));
}
MPNUM_NEON_ void mpnumv_f16_of_bytes(mpnumv_bytes codes, mpnumv_vector x[4]) {
  mpnumv_shifted_f16_of_bytes(codes, 0, 0xffff, x);
}
MPNUM_NEON_ void mpnumv_store_fence(void) {}

MPNUM_NEON_ mpnumv_vector mpnumv_max_codes(int bits, mpnumv_vector a, mpnumv_vector b) {
  if (bits == 8) return (mpnumv_vector)vmaxq_u8((uint8x16_t)a, (uint8x16_t)b);
  if (bits == 16) return (mpnumv_vector)vmaxq_u16((uint16x8_t)a, (uint16x8_t)b);
  return (mpnumv_vector)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
}
/* Zeros are counted. */
MPNUM_NEON_ void mpnumv_min_nonzero(int bits, mpnumv_vector x, mpnumv_vector *min,
                                    mpnumv_vector *count) {
  if (bits == 8) {
    const uint8x16_t a = (uint8x16_t)x, is_zero = vceqzq_u8(a);
    *min = (mpnumv_vector)vminq_u8((uint8x16_t)*min, vorrq_u8(a, is_zero));
    *count = (mpnumv_vector)vsubq_u8((uint8x16_t)*count, is_zero);
  } else if (bits == 16) {
    const uint16x8_t a = (uint16x8_t)x, is_zero = vceqzq_u16(a);
    *min = (mpnumv_vector)vminq_u16((uint16x8_t)*min, vorrq_u16(a, is_zero));
    *count = (mpnumv_vector)vsubq_u16((uint16x8_t)*count, is_zero);
  } else {
    const uint32x4_t a = (uint32x4_t)x, is_zero = vceqzq_u32(a);
    *min = (mpnumv_vector)vminq_u32((uint32x4_t)*min, vorrq_u32(a, is_zero));
    *count = (mpnumv_vector)vsubq_u32((uint32x4_t)*count, is_zero);
  }
}
MPNUM_NEON_ uint64_t mpnumv_nonzeros(uint64_t all, uint64_t count) { return all - count; }
MPNUM_NEON_ mpnumv_vector mpnumv_count_above(int bits, mpnumv_vector count,
                                             mpnumv_vector x, mpnumv_vector limit) {
  const mpnumv_vector above = mpnum_above_neon_(bits, x, limit);
  if (bits == 8) return (mpnumv_vector)vsubq_u8((uint8x16_t)count, (uint8x16_t)above);
  if (bits == 16) return (mpnumv_vector)vsubq_u16((uint16x8_t)count, (uint16x8_t)above);
  return (mpnumv_vector)vsubq_u32((uint32x4_t)count, (uint32x4_t)above);
}
/* Those past most are counted. */
MPNUM_NEON_ void mpnumv_max_finite(int bits, mpnumv_vector x, mpnumv_vector most,
                                   mpnumv_vector *max, mpnumv_vector *count) {
  *max = mpnumv_max_codes(bits, *max, x & ~mpnum_above_neon_(bits, x, most));
  *count = mpnumv_count_above(bits, *count, x, most);
}
MPNUM_NEON_ mpnumv_vector mpnumv_widen_counts(int bits, mpnumv_vector count) {
  if (bits == 8) return (mpnumv_vector)vpaddlq_u16(vpaddlq_u8((uint8x16_t)count));
  if (bits == 16) return (mpnumv_vector)vpaddlq_u16((uint16x8_t)count);
  return count;
}

typedef double mpnumv_f64 __attribute__((__vector_size__(16)));

MPNUM_NEON_ mpnumv_f64 mpnumv_splat_f64(double x) { return (mpnumv_f64)vdupq_n_f64(x); }
MPNUM_NEON_ mpnumv_f64 mpnumv_load_f64(const uint8_t *src) {
  return (mpnumv_f64)vcvt_f64_f32((float32x2_t)vld1_u8(src));
}

MPNUM_NEON_ mpnumv_f64 mpnumv_load_sums(const double *src) {
  mpnumv_f64 x;
  MPNUM_MEMCPY_(&x, src, sizeof x);
  return x;
}
MPNUM_NEON_ void mpnumv_store_sums(double *dst, mpnumv_f64 x) {
  MPNUM_MEMCPY_(dst, &x, sizeof x);
}
MPNUM_NEON_ mpnumv_f64 mpnumv_add_f64(mpnumv_f64 a, mpnumv_f64 b) {
  mpnumv_f64 sum = a + b;
  __asm__("" : "+w"(sum));
  return sum;
}
MPNUM_NEON_ mpnumv_f64 mpnumv_add_product(mpnumv_f64 sum, mpnumv_f64 x, mpnumv_f64 y) {
  sum = (mpnumv_f64)vfmaq_f64((float64x2_t)sum, (float64x2_t)x, (float64x2_t)y);
  __asm__("" : "+w"(sum));
  return sum;
}
MPNUM_NEON_ double mpnumv_sum_f64(mpnumv_f64 x) {
  return mpnum_add_f64_(vgetq_lane_f64((float64x2_t)x, 0),
                        vgetq_lane_f64((float64x2_t)x, 1));
}

#endif
MPNUM_C_END_
#endif

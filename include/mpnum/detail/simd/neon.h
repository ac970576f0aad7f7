/* SPDX-License-Identifier: MIT */
/* The words in which vector.inc is written, as explained in avx512.h, for NEON,
 * which every aarch64 has. */
#ifndef MPNUM_DETAIL_SIMD_NEON_H
#define MPNUM_DETAIL_SIMD_NEON_H

#include "../core/environment.h"
#include "codings.h"
#include "../../isa.h"

#if MPNUM_HAS_NEON

# include <arm_neon.h>

# define MPNUM_NEON_ MPNUM_FORCED_

typedef uint32_t mpnum_vector_neon_ __attribute__((__vector_size__(16)));
typedef uint8_t mpnum_bytes_neon_ __attribute__((__vector_size__(16)));
typedef uint32x4_t mpnum_mask_neon_;

MPNUM_NEON_ mpnum_vector_neon_ mpnum_set_neon_(uint32_t x) {
  return (mpnum_vector_neon_)vdupq_n_u32(x);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_iota_neon_(void) {
  const mpnum_vector_neon_ lanes = {0, 1, 2, 3};
  return lanes;
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_min_neon_(mpnum_vector_neon_ a,
                                               mpnum_vector_neon_ b) {
  return (mpnum_vector_neon_)vminq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_max_neon_(mpnum_vector_neon_ a,
                                               mpnum_vector_neon_ b) {
  return (mpnum_vector_neon_)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnum_mask_neon_ mpnum_greater_neon_(mpnum_vector_neon_ a,
                                                 mpnum_vector_neon_ b) {
  return vcgtq_s32((int32x4_t)a, (int32x4_t)b);
}
MPNUM_NEON_ mpnum_mask_neon_ mpnum_below_neon_(mpnum_vector_neon_ a,
                                               mpnum_vector_neon_ b) {
  return vcltq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnum_mask_neon_ mpnum_equal_neon_(mpnum_vector_neon_ a,
                                               mpnum_vector_neon_ b) {
  return vceqq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_select_neon_(mpnum_mask_neon_ mask,
                                                  mpnum_vector_neon_ a,
                                                  mpnum_vector_neon_ b) {
  return (mpnum_vector_neon_)vbslq_u32(mask, (uint32x4_t)a, (uint32x4_t)b);
}
/* The instruction takes counts from the low byte, of either sign: bounded to 32, which
 * gives 0. */
MPNUM_NEON_ mpnum_vector_neon_ mpnum_left_neon_(mpnum_vector_neon_ x,
                                                mpnum_vector_neon_ count) {
  const uint32x4_t bounded = vminq_u32((uint32x4_t)count, vdupq_n_u32(32));
  return (mpnum_vector_neon_)vshlq_u32((uint32x4_t)x, vreinterpretq_s32_u32(bounded));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_right_neon_(mpnum_vector_neon_ x,
                                                 mpnum_vector_neon_ count) {
  const uint32x4_t bounded = vminq_u32((uint32x4_t)count, vdupq_n_u32(32));
  return (mpnum_vector_neon_)vshlq_u32((uint32x4_t)x,
                                       vnegq_s32(vreinterpretq_s32_u32(bounded)));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_right_by_neon_(mpnum_vector_neon_ x, int count) {
  return x >> (uint32_t)count;
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_left_by_neon_(mpnum_vector_neon_ x, int count) {
  return x << (uint32_t)count;
}

MPNUM_NEON_ mpnum_mask_neon_ mpnum_is_nan_neon_(mpnum_vector_neon_ x) {
  return mpnum_greater_neon_(x & 0x7fffffffu, mpnum_set_neon_(0x7f800000u));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_clamped_magnitude_neon_(mpnum_vector_neon_ x,
                                                             uint32_t limit) {
  return mpnum_min_neon_(x & 0x7fffffffu, mpnum_set_neon_(limit));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_add_floats_neon_(mpnum_vector_neon_ a,
                                                      mpnum_vector_neon_ b) {
  float32x4_t sum = vaddq_f32((float32x4_t)a, (float32x4_t)b);
  __asm__("" : "+w"(sum)); /* -ffast-math must not see through it */
  return (mpnum_vector_neon_)sum;
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_add_scaled_neon_(mpnum_vector_neon_ power,
                                                      mpnum_vector_neon_ x, float scale) {
  float32x4_t sum = vfmaq_n_f32((float32x4_t)power, (float32x4_t)x, scale);
  __asm__("" : "+w"(sum)); /* -ffast-math must not see through it */
  return (mpnum_vector_neon_)sum;
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_scaled_neon_(mpnum_vector_neon_ x, float scale) {
  return (mpnum_vector_neon_)vmulq_n_f32(vcvtq_f32_u32((uint32x4_t)x), scale);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_times_power_neon_(mpnum_vector_neon_ x,
                                                       float scale) {
  return (mpnum_vector_neon_)vmulq_n_f32((float32x4_t)x, scale);
}

/* Words of func.inc, on floats as bits: rounded once. The asm hides them from
 * -ffast-math. */
# define MPNUM_REAL_OF_TWO_(name, instruction)                                \
  MPNUM_NEON_ mpnum_vector_neon_ mpnum_##name##_neon_(mpnum_vector_neon_ a,   \
                                                      mpnum_vector_neon_ b) { \
   float32x4_t x;                                                             \
   __asm__(instruction " %0.4s, %1.4s, %2.4s"                                 \
           : "=w"(x)                                                          \
           : "w"((float32x4_t)a), "w"((float32x4_t)b));                       \
   return (mpnum_vector_neon_)x;                                              \
  }
MPNUM_REAL_OF_TWO_(plus, "fadd")
MPNUM_REAL_OF_TWO_(minus, "fsub")
MPNUM_REAL_OF_TWO_(times, "fmul")
MPNUM_REAL_OF_TWO_(over, "fdiv")
# undef MPNUM_REAL_OF_TWO_
MPNUM_NEON_ mpnum_vector_neon_ mpnum_root_neon_(mpnum_vector_neon_ x) {
  float32x4_t root;
  __asm__("fsqrt %0.4s, %1.4s" : "=w"(root) : "w"((float32x4_t)x));
  return (mpnum_vector_neon_)root;
}

MPNUM_NEON_ mpnum_vector_neon_ mpnum_above_neon_(int bits, mpnum_vector_neon_ x,
                                                 mpnum_vector_neon_ limit) {
  if (bits == 8) return (mpnum_vector_neon_)vcgtq_s8((int8x16_t)x, (int8x16_t)limit);
  if (bits == 16) return (mpnum_vector_neon_)vcgtq_s16((int16x8_t)x, (int16x8_t)limit);
  return (mpnum_vector_neon_)vcgtq_s32((int32x4_t)x, (int32x4_t)limit);
}
MPNUM_NEON_ int mpnum_any_above_neon_(int bits, mpnum_vector_neon_ x,
                                      mpnum_vector_neon_ limit) {
  return vmaxvq_u32((uint32x4_t)mpnum_above_neon_(bits, x, limit)) != 0;
}
MPNUM_NEON_ void mpnum_multiply_neon_(mpnum_vector_neon_ a, uint32_t b,
                                      mpnum_vector_neon_ *high, mpnum_vector_neon_ *low) {
  const uint32x2_t factor = vdup_n_u32(b);
  const uint32x4_t first = (uint32x4_t)vmull_u32(vget_low_u32((uint32x4_t)a), factor);
  const uint32x4_t second = (uint32x4_t)vmull_u32(vget_high_u32((uint32x4_t)a), factor);
  *low = (mpnum_vector_neon_)vuzp1q_u32(first, second);
  *high = (mpnum_vector_neon_)vuzp2q_u32(first, second);
}
MPNUM_NEON_ void mpnum_transpose_neon_(mpnum_vector_neon_ rows[4]) {
  const uint32x4_t low01 = vzip1q_u32((uint32x4_t)rows[0], (uint32x4_t)rows[1]);
  const uint32x4_t high01 = vzip2q_u32((uint32x4_t)rows[0], (uint32x4_t)rows[1]);
  const uint32x4_t low23 = vzip1q_u32((uint32x4_t)rows[2], (uint32x4_t)rows[3]);
  const uint32x4_t high23 = vzip2q_u32((uint32x4_t)rows[2], (uint32x4_t)rows[3]);
  rows[0] = (mpnum_vector_neon_)vzip1q_u64((uint64x2_t)low01, (uint64x2_t)low23);
  rows[1] = (mpnum_vector_neon_)vzip2q_u64((uint64x2_t)low01, (uint64x2_t)low23);
  rows[2] = (mpnum_vector_neon_)vzip1q_u64((uint64x2_t)high01, (uint64x2_t)high23);
  rows[3] = (mpnum_vector_neon_)vzip2q_u64((uint64x2_t)high01, (uint64x2_t)high23);
}

MPNUM_NEON_ mpnum_vector_neon_ mpnum_load8_neon_(const uint8_t *src) {
  uint32_t word;
  __builtin_memcpy(&word, src, 4);
  return (mpnum_vector_neon_)vmovl_u16(
      vget_low_u16(vmovl_u8((uint8x8_t)vdup_n_u32(word))));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_load16_neon_(const uint8_t *src) {
  return (mpnum_vector_neon_)vmovl_u16((uint16x4_t)vld1_u8(src));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_load32_neon_(const uint8_t *src) {
  return (mpnum_vector_neon_)vld1q_u8(src);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_load_odd64_neon_(const uint8_t *src) {
  const float32x2_t low = vcvtx_f32_f64((float64x2_t)vld1q_u8(src));
  return (mpnum_vector_neon_)vcvtx_high_f32_f64(low, (float64x2_t)vld1q_u8(src + 16));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_load_nearest64_neon_(const uint8_t *src) {
  const float32x2_t low = vcvt_f32_f64((float64x2_t)vld1q_u8(src));
  return (mpnum_vector_neon_)vcvt_high_f32_f64(low, (float64x2_t)vld1q_u8(src + 16));
}

/* Stores are the same whether they are to stream or not. */
MPNUM_NEON_ void mpnum_store32_neon_(uint8_t *dst, mpnum_vector_neon_ x, int streams) {
  (void)streams;
  vst1q_u8(dst, (uint8x16_t)x);
}
MPNUM_NEON_ void mpnum_store16_neon_(uint8_t *dst, mpnum_vector_neon_ a,
                                     mpnum_vector_neon_ b, int streams) {
  (void)streams;
  vst1q_u8(dst, (uint8x16_t)vuzp1q_u16((uint16x8_t)a, (uint16x8_t)b));
}
MPNUM_NEON_ void mpnum_store_high_neon_(uint8_t *dst, mpnum_vector_neon_ a,
                                        mpnum_vector_neon_ b, int streams) {
  (void)streams;
  vst1q_u8(dst, (uint8x16_t)vuzp2q_u16((uint16x8_t)a, (uint16x8_t)b));
}
MPNUM_NEON_ void mpnum_store_f16_neon_(uint8_t *dst, mpnum_vector_neon_ a,
                                       mpnum_vector_neon_ b, int saturates, int streams) {
  const mpnum_vector_neon_ max = mpnum_set_neon_(0x477fe000u); /* 65504 */
  const mpnum_vector_neon_ infinity = mpnum_set_neon_(0x7f800000u);
  const mpnum_vector_neon_ abs_a = a & 0x7fffffffu, abs_b = b & 0x7fffffffu;
  const uint16x8_t is_nan = vuzp1q_u16((uint16x8_t)mpnum_greater_neon_(abs_a, infinity),
                                       (uint16x8_t)mpnum_greater_neon_(abs_b, infinity));
  uint16x8_t halves;
  (void)streams;
  if (saturates) {
    a = mpnum_min_neon_(abs_a, max) | (a & 0x80000000u);
    b = mpnum_min_neon_(abs_b, max) | (b & 0x80000000u);
  }
  halves = vcombine_u16((uint16x4_t)vcvt_f16_f32((float32x4_t)a),
                        (uint16x4_t)vcvt_f16_f32((float32x4_t)b));
  vst1q_u8(dst, (uint8x16_t)vbslq_u16(is_nan, vdupq_n_u16(0x7fff), halves));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_load_f16_neon_(const uint8_t *src) {
  return (mpnum_vector_neon_)vcvt_f32_f16((float16x4_t)vld1_u8(src));
}

/* Byte number 0 or 3 of each lane. */
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_low_bytes_neon_(const mpnum_vector_neon_ x[4]) {
  const uint16x8_t low = vuzp1q_u16((uint16x8_t)x[0], (uint16x8_t)x[1]);
  const uint16x8_t high = vuzp1q_u16((uint16x8_t)x[2], (uint16x8_t)x[3]);
  return (mpnum_bytes_neon_)vuzp1q_u8((uint8x16_t)low, (uint8x16_t)high);
}
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_sign_bytes_neon_(const mpnum_vector_neon_ x[4]) {
  const uint16x8_t low = vuzp2q_u16((uint16x8_t)x[0], (uint16x8_t)x[1]);
  const uint16x8_t high = vuzp2q_u16((uint16x8_t)x[2], (uint16x8_t)x[3]);
  return (mpnum_bytes_neon_)vuzp2q_u8((uint8x16_t)low, (uint8x16_t)high);
}
MPNUM_NEON_ int mpnum_any_nan_neon_(const mpnum_vector_neon_ x[4]) {
  const mpnum_vector_neon_ low = mpnum_max_neon_(x[0] & 0x7fffffffu, x[1] & 0x7fffffffu);
  const mpnum_vector_neon_ high = mpnum_max_neon_(x[2] & 0x7fffffffu, x[3] & 0x7fffffffu);
  return vmaxvq_u32((uint32x4_t)mpnum_max_neon_(low, high)) > 0x7f800000u;
}
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_where_nan_neon_(const mpnum_vector_neon_ x[4],
                                                    uint8_t nan_result,
                                                    mpnum_bytes_neon_ bytes) {
  const uint16x8_t low = vuzp1q_u16((uint16x8_t)mpnum_is_nan_neon_(x[0]),
                                    (uint16x8_t)mpnum_is_nan_neon_(x[1]));
  const uint16x8_t high = vuzp1q_u16((uint16x8_t)mpnum_is_nan_neon_(x[2]),
                                     (uint16x8_t)mpnum_is_nan_neon_(x[3]));
  return (mpnum_bytes_neon_)vbslq_u8(vuzp1q_u8((uint8x16_t)low, (uint8x16_t)high),
                                     vdupq_n_u8(nan_result), (uint8x16_t)bytes);
}
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_packed_low_neon_(const mpnum_vector_neon_ x[4]) {
  return mpnum_low_bytes_neon_(x);
}
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_in_order_neon_(mpnum_bytes_neon_ x) { return x; }
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_bytes_right_neon_(mpnum_bytes_neon_ x, int count) {
  return x >> count;
}
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_bytes_left_neon_(mpnum_bytes_neon_ x, int count) {
  return (mpnum_bytes_neon_)vshlq_u16((uint16x8_t)x, vdupq_n_s16((int16_t)count));
}
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_load_bytes_neon_(const uint8_t *src) {
  return (mpnum_bytes_neon_)mpnum_load32_neon_(src);
}
MPNUM_NEON_ void mpnum_store_bytes_neon_(uint8_t *dst, mpnum_bytes_neon_ x, int streams) {
  (void)streams;
  vst1q_u8(dst, (uint8x16_t)x);
}
MPNUM_NEON_ void mpnum_store_nibbles_neon_(uint8_t *dst, mpnum_bytes_neon_ x,
                                           int streams) {
  const uint16x8_t pairs = (uint16x8_t)x;
  (void)streams;
  vst1_u8(dst, vmovn_u16(vsraq_n_u16(pairs, pairs, 4)));
}
MPNUM_NEON_ void mpnum_store_sixes_neon_(uint8_t *dst, mpnum_bytes_neon_ x) {
  uint8_t codes[16];
  mpnum_store_bytes_neon_(codes, x, 0);
  mpnum_pack_(6, dst, codes, 16);
}
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_load_nibbles_neon_(const uint8_t *src) {
  const uint16x8_t pairs = vmovl_u8(vld1_u8(src));
  return (mpnum_bytes_neon_)(pairs | pairs << 4);
}
MPNUM_NEON_ mpnum_bytes_neon_ mpnum_load_sixes_neon_(const uint8_t *src) {
  uint8_t codes[16];
  mpnum_unpack_(6, codes, src, 16);
  return (mpnum_bytes_neon_)vld1q_u8(codes);
}
MPNUM_NEON_ void mpnum_shifted_f16_of_bytes_neon_(mpnum_bytes_neon_ codes, int right,
                                                  uint16_t mask,
                                                  mpnum_vector_neon_ x[4]) {
  const int16x8_t right_by = vdupq_n_s16((int16_t)-right);
  const int16x8_t first = (int16x8_t)vshll_n_u8(vget_low_u8((uint8x16_t)codes), 8);
  const int16x8_t second = (int16x8_t)vshll_n_u8(vget_high_u8((uint8x16_t)codes), 8);
  const uint16x8_t low = (uint16x8_t)vshlq_s16(first, right_by) & vdupq_n_u16(mask);
  const uint16x8_t high = (uint16x8_t)vshlq_s16(second, right_by) & vdupq_n_u16(mask);
  x[0] = (mpnum_vector_neon_)vcvt_f32_f16((float16x4_t)vget_low_u16(low));
  x[1] = (mpnum_vector_neon_)vcvt_f32_f16((float16x4_t)vget_high_u16(low));
  x[2] = (mpnum_vector_neon_)vcvt_f32_f16((float16x4_t)vget_low_u16(high));
  x[3] = (mpnum_vector_neon_)vcvt_f32_f16((float16x4_t)vget_high_u16(high));
}
MPNUM_NEON_ void mpnum_f16_of_bytes_neon_(mpnum_bytes_neon_ codes,
                                          mpnum_vector_neon_ x[4]) {
  mpnum_shifted_f16_of_bytes_neon_(codes, 0, 0xffff, x);
}
MPNUM_NEON_ void mpnum_fence_neon_(void) {}

MPNUM_NEON_ mpnum_vector_neon_ mpnum_max_codes_neon_(int bits, mpnum_vector_neon_ a,
                                                     mpnum_vector_neon_ b) {
  if (bits == 8) return (mpnum_vector_neon_)vmaxq_u8((uint8x16_t)a, (uint8x16_t)b);
  if (bits == 16) return (mpnum_vector_neon_)vmaxq_u16((uint16x8_t)a, (uint16x8_t)b);
  return (mpnum_vector_neon_)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_min_nonzero_neon_(int bits, mpnum_vector_neon_ least,
                                                       mpnum_vector_neon_ x) {
  if (bits == 8)
    return (mpnum_vector_neon_)vminq_u8(
        (uint8x16_t)least, vorrq_u8((uint8x16_t)x, vceqzq_u8((uint8x16_t)x)));
  if (bits == 16)
    return (mpnum_vector_neon_)vminq_u16(
        (uint16x8_t)least, vorrq_u16((uint16x8_t)x, vceqzq_u16((uint16x8_t)x)));
  return (mpnum_vector_neon_)vminq_u32(
      (uint32x4_t)least, vorrq_u32((uint32x4_t)x, vceqzq_u32((uint32x4_t)x)));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_count_above_neon_(int bits, mpnum_vector_neon_ count,
                                                       mpnum_vector_neon_ x,
                                                       mpnum_vector_neon_ limit) {
  const mpnum_vector_neon_ above = mpnum_above_neon_(bits, x, limit);
  if (bits == 8)
    return (mpnum_vector_neon_)vsubq_u8((uint8x16_t)count, (uint8x16_t)above);
  if (bits == 16)
    return (mpnum_vector_neon_)vsubq_u16((uint16x8_t)count, (uint16x8_t)above);
  return (mpnum_vector_neon_)vsubq_u32((uint32x4_t)count, (uint32x4_t)above);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_wide_counts_neon_(int bits,
                                                       mpnum_vector_neon_ count) {
  if (bits == 8) return (mpnum_vector_neon_)vpaddlq_u16(vpaddlq_u8((uint8x16_t)count));
  if (bits == 16) return (mpnum_vector_neon_)vpaddlq_u16((uint16x8_t)count);
  return count;
}

typedef double mpnum_doubles_neon_ __attribute__((__vector_size__(16)));

MPNUM_NEON_ mpnum_doubles_neon_ mpnum_set_doubles_neon_(double x) {
  return (mpnum_doubles_neon_)vdupq_n_f64(x);
}
MPNUM_NEON_ mpnum_doubles_neon_ mpnum_load_doubles_neon_(const uint8_t *src) {
  return (mpnum_doubles_neon_)vcvt_f64_f32((float32x2_t)vld1_u8(src));
}

MPNUM_NEON_ mpnum_doubles_neon_ mpnum_plus_doubles_neon_(mpnum_doubles_neon_ a,
                                                         mpnum_doubles_neon_ b) {
  mpnum_doubles_neon_ sum = a + b;
  __asm__("" : "+w"(sum));
  return sum;
}
MPNUM_NEON_ mpnum_doubles_neon_ mpnum_plus_product_neon_(mpnum_doubles_neon_ sum,
                                                         mpnum_doubles_neon_ x,
                                                         mpnum_doubles_neon_ y) {
  sum = (mpnum_doubles_neon_)vfmaq_f64((float64x2_t)sum, (float64x2_t)x, (float64x2_t)y);
  __asm__("" : "+w"(sum));
  return sum;
}
MPNUM_NEON_ double mpnum_sum_of_doubles_neon_(mpnum_doubles_neon_ x) {
  return mpnum_plus_f64_(vgetq_lane_f64((float64x2_t)x, 0),
                         vgetq_lane_f64((float64x2_t)x, 1));
}

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* e2m1: OCP MX FP4, the elements of MXFP4 and NVFP4.
 *
 *     0 0 0 0 | sign | exponent 2 | mantissa 1
 *     7     4      3   2         1            0
 *
 *     bias 1, the values are 0 0.5 1 1.5 2 3 4 6 (codes 0 to 7) and their negatives
 *     no Inf, no NaN
 *
 * Every conversion saturates: Inf gives the largest value of its sign, NaN the positive
 * one.
 */
#ifndef MPNUM_TYPES_FP4_H
#define MPNUM_TYPES_FP4_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format e2m1): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_E2M1_MAX 6.0f

/* The value of a code. */
MPNUM_INLINE mpnum_e2m1 mpnum_from_bits_e2m1(uint32_t code) {
  const mpnum_e2m1 x = {(uint8_t)code};
  return x;
}

/* From f32, rounded once: nearest even without suffix, or the mode given (_round;
 * random as in mpnum_encode). All forms saturate; the overflow argument is ignored. */
MPNUM_INLINE mpnum_e2m1 mpnum_f32_to_e2m1_round(float x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
#if MPNUM_HAS_HW_FP4_
  if (rounding == MPNUM_ROUND_NEAREST_EVEN)
    return mpnum_from_bits_e2m1(mpnum_cvt_e2m1x2_(x, 0.0f));
#endif
  return mpnum_from_bits_e2m1(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E2M1), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e2m1 mpnum_f32_to_e2m1_sat(float x) {
  return mpnum_f32_to_e2m1_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}

/* To f32, exact. */
MPNUM_INLINE float mpnum_e2m1_to_f32(mpnum_e2m1 x) {
#if MPNUM_HAS_HW_FP4_
  return mpnum_cvt_f16_to_f32_(mpnum_cvt_e2m1x2_to_f16x2_(x.bits) & 0xffffu);
#else
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E2M1), x.bits);
#endif
}

/* Doubles and queries: mpnum_encode_f64, mpnum_decode_f64, mpnum_isnan and their like
 * take mpnum_format_of(MPNUM_TYPE_E2M1). */

/* Packed nibbles, element 0 in the low nibble of the first byte. */
typedef struct mpnum_e2m1x2 {
  uint8_t bits;
} mpnum_e2m1x2;
typedef struct mpnum_e2m1x4 {
  uint16_t bits;
} mpnum_e2m1x4;

/* Elements in order. */
MPNUM_INLINE mpnum_e2m1x2 mpnum_pack_e2m1_x2(mpnum_e2m1 a, mpnum_e2m1 b) {
  const mpnum_e2m1x2 packed = {
      (uint8_t)((uint32_t)(a.bits & 0xfu) | (uint32_t)(b.bits & 0xfu) << 4)};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_e2m1 mpnum_unpack_e2m1_x2(mpnum_e2m1x2 packed, int index) {
  return mpnum_from_bits_e2m1((uint32_t)packed.bits >> (index * 4) & 0xfu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_e2m1x2 mpnum_f32_to_e2m1_sat_x2(float a, float b) {
#if MPNUM_HAS_HW_FP4_
  const mpnum_e2m1x2 packed = {(uint8_t)mpnum_cvt_e2m1x2_(a, b)};
  return packed;
#else
  return mpnum_pack_e2m1_x2(mpnum_f32_to_e2m1_sat(a), mpnum_f32_to_e2m1_sat(b));
#endif
}
MPNUM_INLINE mpnum_f32x2 mpnum_e2m1_to_f32_x2(mpnum_e2m1x2 packed) {
#if MPNUM_HAS_HW_FP4_
  const uint32_t f16_codes = mpnum_cvt_e2m1x2_to_f16x2_(packed.bits);
  const mpnum_f32x2 values = {mpnum_cvt_f16_to_f32_(f16_codes & 0xffffu),
                              mpnum_cvt_f16_to_f32_(f16_codes >> 16)};
  return values;
#else
  const mpnum_f32x2 values = {mpnum_e2m1_to_f32(mpnum_unpack_e2m1_x2(packed, 0)),
                              mpnum_e2m1_to_f32(mpnum_unpack_e2m1_x2(packed, 1))};
  return values;
#endif
}

/* Elements in order. */
MPNUM_INLINE mpnum_e2m1x4 mpnum_pack_e2m1_x4(mpnum_e2m1 a, mpnum_e2m1 b, mpnum_e2m1 c,
                                             mpnum_e2m1 d) {
  const mpnum_e2m1x4 packed = {
      (uint16_t)((uint32_t)(a.bits & 0xfu) | (uint32_t)(b.bits & 0xfu) << 4 |
                 (uint32_t)(c.bits & 0xfu) << 8 | (uint32_t)(d.bits & 0xfu) << 12)};
  return packed;
}
/* Element index, 0 to 3. */
MPNUM_INLINE mpnum_e2m1 mpnum_unpack_e2m1_x4(mpnum_e2m1x4 packed, int index) {
  return mpnum_from_bits_e2m1((uint32_t)packed.bits >> (index * 4) & 0xfu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_e2m1x4 mpnum_f32_to_e2m1_sat_x4(float a, float b, float c, float d) {
#if MPNUM_HAS_HW_FP4_
  const mpnum_e2m1x4 packed = {(uint16_t)mpnum_cvt_e2m1x4_(a, b, c, d)};
  return packed;
#else
  const mpnum_e2m1x2 low = mpnum_f32_to_e2m1_sat_x2(a, b);
  const mpnum_e2m1x2 high = mpnum_f32_to_e2m1_sat_x2(c, d);
  const mpnum_e2m1x4 packed = {(uint16_t)(low.bits | (uint32_t)high.bits << 8)};
  return packed;
#endif
}
MPNUM_INLINE mpnum_f32x4 mpnum_e2m1_to_f32_x4(mpnum_e2m1x4 packed) {
  const mpnum_e2m1x2 low_half = {(uint8_t)(packed.bits & 0xffu)};
  const mpnum_e2m1x2 high_half = {(uint8_t)(packed.bits >> 8)};
  const mpnum_f32x2 low = mpnum_e2m1_to_f32_x2(low_half);
  const mpnum_f32x2 high = mpnum_e2m1_to_f32_x2(high_half);
  const mpnum_f32x4 values = {low.x, low.y, high.x, high.y};
  return values;
}
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

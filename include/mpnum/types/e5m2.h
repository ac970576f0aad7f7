/* SPDX-License-Identifier: MIT */
/* e5m2: OCP FP8 with the exponents of f16.
 *
 *     sign | exponent 5 | mantissa 2
 *        7   6         2   1        0
 *
 *     bias 15, max 57344 (7b), min 2^-14 (04), true min 2^-16 (01)
 *     Inf 7c, NaN 7d to 7f, canonical 7f
 */
#ifndef MPNUM_TYPES_E5M2_H
#define MPNUM_TYPES_E5M2_H

#include "f16.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format e5m2): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_E5M2_MAX      57344.0f
#define MPNUM_E5M2_MIN      6.103515625e-05f
#define MPNUM_E5M2_TRUE_MIN 1.52587890625e-05f
#define MPNUM_E5M2_EPSILON  0.25f

/* The value of a code. */
MPNUM_INLINE mpnum_e5m2 mpnum_from_bits_e5m2(uint32_t code) {
  const mpnum_e5m2 x = {(uint8_t)code};
  return x;
}

/* From f32 and f64, rounded once: nearest even without suffix, stochastic (_sr; random
 * as in mpnum_encode), or the mode given (_round). _sat saturates; the other forms
 * overflow as IEEE 754 has it for the mode. NaN: canonical. */
MPNUM_INLINE mpnum_e5m2 mpnum_f32_to_e5m2_round(float x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
#if MPNUM_HAS_HW_FP8_
  if (rounding == MPNUM_ROUND_NEAREST_EVEN)
    return mpnum_from_bits_e5m2(mpnum_cvt_e5m2x2_(x, 0.0f, overflow) & 0xffu);
#endif
  return mpnum_from_bits_e5m2(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E5M2), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e5m2 mpnum_f64_to_e5m2_round(double x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
  return mpnum_from_bits_e5m2(
      mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_E5M2), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e5m2 mpnum_f32_to_e5m2(float x) {
  return mpnum_f32_to_e5m2_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e5m2 mpnum_f32_to_e5m2_sat(float x) {
  return mpnum_f32_to_e5m2_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_e5m2 mpnum_f64_to_e5m2(double x) {
  return mpnum_f64_to_e5m2_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e5m2 mpnum_f64_to_e5m2_sat(double x) {
  return mpnum_f64_to_e5m2_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_e5m2 mpnum_f32_to_e5m2_sr(float x, uint32_t random) {
  return mpnum_f32_to_e5m2_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, random);
}
MPNUM_INLINE mpnum_e5m2 mpnum_f32_to_e5m2_sr_sat(float x, uint32_t random) {
  return mpnum_f32_to_e5m2_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE,
                                 random);
}

/* To f32 and f64, exact. NaN: canonical, 0x7fffffff and 0x7fffffffffffffff. */
MPNUM_INLINE float mpnum_e5m2_to_f32(mpnum_e5m2 x) {
#if MPNUM_HAS_HW_FP8_
  return mpnum_cvt_f16_to_f32_(mpnum_cvt_e5m2x2_to_f16x2_(x.bits) & 0xffffu);
#else
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E5M2), x.bits);
#endif
}
MPNUM_INLINE double mpnum_e5m2_to_f64(mpnum_e5m2 x) {
  return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_E5M2), x.bits);
}

/* Queries, as in query.h, where others take mpnum_format_of(MPNUM_TYPE_E5M2). */
MPNUM_INLINE int mpnum_isnan_e5m2(mpnum_e5m2 x) {
  return mpnum_isnan(mpnum_format_of(MPNUM_TYPE_E5M2), x.bits);
}
MPNUM_INLINE int mpnum_isinf_e5m2(mpnum_e5m2 x) {
  return mpnum_isinf(mpnum_format_of(MPNUM_TYPE_E5M2), x.bits);
}
MPNUM_INLINE int mpnum_isfinite_e5m2(mpnum_e5m2 x) {
  return mpnum_isfinite(mpnum_format_of(MPNUM_TYPE_E5M2), x.bits);
}
MPNUM_INLINE mpnum_e5m2 mpnum_next_up_e5m2(mpnum_e5m2 x) {
  return mpnum_from_bits_e5m2(mpnum_next_up(mpnum_format_of(MPNUM_TYPE_E5M2), x.bits));
}
MPNUM_INLINE mpnum_e5m2 mpnum_next_down_e5m2(mpnum_e5m2 x) {
  return mpnum_from_bits_e5m2(mpnum_next_down(mpnum_format_of(MPNUM_TYPE_E5M2), x.bits));
}
MPNUM_INLINE float mpnum_ulp_e5m2(mpnum_e5m2 x) {
  return mpnum_ulp(mpnum_format_of(MPNUM_TYPE_E5M2), x.bits);
}

/* Two in 16 bits and four in 32 bits, element 0 in the low byte. */
typedef struct mpnum_e5m2x2 {
  uint16_t bits;
} mpnum_e5m2x2;
typedef struct mpnum_e5m2x4 {
  uint32_t bits;
} mpnum_e5m2x4;

/* Elements in order. */
MPNUM_INLINE mpnum_e5m2x2 mpnum_pack_e5m2_x2(mpnum_e5m2 a, mpnum_e5m2 b) {
  const mpnum_e5m2x2 packed = {(uint16_t)((uint32_t)a.bits | (uint32_t)b.bits << 8)};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_e5m2 mpnum_unpack_e5m2_x2(mpnum_e5m2x2 packed, int index) {
  return mpnum_from_bits_e5m2((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_e5m2x2 mpnum_f32_to_e5m2_x2(float a, float b) {
#if MPNUM_HAS_HW_FP8_
  const mpnum_e5m2x2 packed = {(uint16_t)mpnum_cvt_e5m2x2_(a, b, MPNUM_OVERFLOW_IEEE)};
  return packed;
#else
  return mpnum_pack_e5m2_x2(mpnum_f32_to_e5m2(a), mpnum_f32_to_e5m2(b));
#endif
}
MPNUM_INLINE mpnum_e5m2x2 mpnum_f32_to_e5m2_sat_x2(float a, float b) {
#if MPNUM_HAS_HW_FP8_
  const mpnum_e5m2x2 packed = {
      (uint16_t)mpnum_cvt_e5m2x2_(a, b, MPNUM_OVERFLOW_SATURATE)};
  return packed;
#else
  return mpnum_pack_e5m2_x2(mpnum_f32_to_e5m2_sat(a), mpnum_f32_to_e5m2_sat(b));
#endif
}
MPNUM_INLINE mpnum_f32x2 mpnum_e5m2_to_f32_x2(mpnum_e5m2x2 packed) {
#if MPNUM_HAS_HW_FP8_
  const uint32_t f16_codes = mpnum_cvt_e5m2x2_to_f16x2_(packed.bits);
  const mpnum_f32x2 values = {mpnum_cvt_f16_to_f32_(f16_codes & 0xffffu),
                              mpnum_cvt_f16_to_f32_(f16_codes >> 16)};
  return values;
#else
  const mpnum_f32x2 values = {mpnum_e5m2_to_f32(mpnum_unpack_e5m2_x2(packed, 0)),
                              mpnum_e5m2_to_f32(mpnum_unpack_e5m2_x2(packed, 1))};
  return values;
#endif
}

/* From and to two f16: rounded once, and exact. */
MPNUM_INLINE mpnum_e5m2x2 mpnum_f16_to_e5m2_x2(mpnum_f16x2 values) {
#if MPNUM_HAS_HW_FP8_
  const mpnum_e5m2x2 packed = {
      (uint16_t)mpnum_cvt_f16x2_to_e5m2x2_(values.bits, MPNUM_OVERFLOW_IEEE)};
  return packed;
#else
  const mpnum_f32x2 wide = mpnum_f16_to_f32_x2(values);
  return mpnum_f32_to_e5m2_x2(wide.x, wide.y);
#endif
}
MPNUM_INLINE mpnum_e5m2x2 mpnum_f16_to_e5m2_sat_x2(mpnum_f16x2 values) {
#if MPNUM_HAS_HW_FP8_
  const mpnum_e5m2x2 packed = {
      (uint16_t)mpnum_cvt_f16x2_to_e5m2x2_(values.bits, MPNUM_OVERFLOW_SATURATE)};
  return packed;
#else
  const mpnum_f32x2 wide = mpnum_f16_to_f32_x2(values);
  return mpnum_f32_to_e5m2_sat_x2(wide.x, wide.y);
#endif
}
MPNUM_INLINE mpnum_f16x2 mpnum_e5m2_to_f16_x2(mpnum_e5m2x2 packed) {
#if MPNUM_HAS_HW_FP8_
  const mpnum_f16x2 values = {mpnum_cvt_e5m2x2_to_f16x2_(packed.bits)};
  return values;
#else
  const mpnum_f32x2 wide = mpnum_e5m2_to_f32_x2(packed);
  return mpnum_f32_to_f16_x2(wide.x, wide.y);
#endif
}

/* Elements in order. */
MPNUM_INLINE mpnum_e5m2x4 mpnum_pack_e5m2_x4(mpnum_e5m2 a, mpnum_e5m2 b, mpnum_e5m2 c,
                                             mpnum_e5m2 d) {
  const mpnum_e5m2x4 packed = {(uint32_t)a.bits | (uint32_t)b.bits << 8 |
                               (uint32_t)c.bits << 16 | (uint32_t)d.bits << 24};
  return packed;
}
/* Element index, 0 to 3. */
MPNUM_INLINE mpnum_e5m2 mpnum_unpack_e5m2_x4(mpnum_e5m2x4 packed, int index) {
  return mpnum_from_bits_e5m2((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_e5m2x4 mpnum_f32_to_e5m2_x4(float a, float b, float c, float d) {
  const mpnum_e5m2x2 low = mpnum_f32_to_e5m2_x2(a, b);
  const mpnum_e5m2x2 high = mpnum_f32_to_e5m2_x2(c, d);
  const mpnum_e5m2x4 packed = {low.bits | (uint32_t)high.bits << 16};
  return packed;
}
MPNUM_INLINE mpnum_e5m2x4 mpnum_f32_to_e5m2_sat_x4(float a, float b, float c, float d) {
  const mpnum_e5m2x2 low = mpnum_f32_to_e5m2_sat_x2(a, b);
  const mpnum_e5m2x2 high = mpnum_f32_to_e5m2_sat_x2(c, d);
  const mpnum_e5m2x4 packed = {low.bits | (uint32_t)high.bits << 16};
  return packed;
}
MPNUM_INLINE mpnum_f32x4 mpnum_e5m2_to_f32_x4(mpnum_e5m2x4 packed) {
  const mpnum_e5m2x2 low_half = {(uint16_t)packed.bits};
  const mpnum_e5m2x2 high_half = {(uint16_t)(packed.bits >> 16)};
  const mpnum_f32x2 low = mpnum_e5m2_to_f32_x2(low_half);
  const mpnum_f32x2 high = mpnum_e5m2_to_f32_x2(high_half);
  const mpnum_f32x4 values = {low.x, low.y, high.x, high.y};
  return values;
}
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

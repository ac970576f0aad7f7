/* SPDX-License-Identifier: MIT */
/* f16: IEEE 754 binary16, half precision.
 *
 *     sign | exponent 5 | mantissa 10
 *       15   14       10   9        0
 *
 *     bias 15, max 65504 (7bff), min 2^-14 (0400), true min 2^-24 (0001)
 *     Inf 7c00, NaN: exponent 31 and mantissa not 0, canonical 7fff
 */
#ifndef MPNUM_TYPES_F16_H
#define MPNUM_TYPES_F16_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format f16): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_F16_MAX      65504.0f
#define MPNUM_F16_MIN      6.103515625e-05f
#define MPNUM_F16_TRUE_MIN 5.96046448e-08f
#define MPNUM_F16_EPSILON  0.0009765625f

/* The value of a code. */
MPNUM_INLINE mpnum_f16 mpnum_from_bits_f16(uint32_t code) {
  const mpnum_f16 x = {(uint16_t)code};
  return x;
}

/* From f32 and f64, rounded once: nearest even without suffix, toward zero (_rz),
 * stochastic (_sr; random as in mpnum_encode), or the mode given (_round). _sat
 * saturates; the other forms overflow as IEEE 754 has it for the mode. NaN: canonical. */
MPNUM_INLINE mpnum_f16 mpnum_f32_to_f16_round(float x, mpnum_rounding rounding,
                                              mpnum_overflow overflow, uint32_t random) {
#if MPNUM_HAS_HW_F16_
  if (rounding <= MPNUM_ROUND_DOWN)
    return mpnum_from_bits_f16(mpnum_cvt_f16_(x, rounding, overflow));
#endif
  return mpnum_from_bits_f16(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_F16), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_f16 mpnum_f64_to_f16_round(double x, mpnum_rounding rounding,
                                              mpnum_overflow overflow, uint32_t random) {
  return mpnum_from_bits_f16(
      mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_F16), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_f16 mpnum_f32_to_f16(float x) {
  return mpnum_f32_to_f16_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_f16 mpnum_f32_to_f16_sat(float x) {
  return mpnum_f32_to_f16_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_f16 mpnum_f64_to_f16(double x) {
  return mpnum_f64_to_f16_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_f16 mpnum_f64_to_f16_sat(double x) {
  return mpnum_f64_to_f16_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_f16 mpnum_f32_to_f16_rz(float x) {
  return mpnum_f32_to_f16_round(x, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_f16 mpnum_f32_to_f16_rz_sat(float x) {
  return mpnum_f32_to_f16_round(x, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_f16 mpnum_f32_to_f16_sr(float x, uint32_t random) {
  return mpnum_f32_to_f16_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, random);
}
MPNUM_INLINE mpnum_f16 mpnum_f32_to_f16_sr_sat(float x, uint32_t random) {
  return mpnum_f32_to_f16_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE,
                                random);
}

/* To f32 and f64, exact. NaN: canonical, 0x7fffffff and 0x7fffffffffffffff. */
MPNUM_INLINE float mpnum_f16_to_f32(mpnum_f16 x) {
#if MPNUM_HAS_HW_F16_
  return mpnum_cvt_f16_to_f32_(x.bits);
#else
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_F16), x.bits);
#endif
}
MPNUM_INLINE double mpnum_f16_to_f64(mpnum_f16 x) {
  return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_F16), x.bits);
}

/* Queries, as in query.h, where others take mpnum_format_of(MPNUM_TYPE_F16). */
MPNUM_INLINE int mpnum_isnan_f16(mpnum_f16 x) {
  return mpnum_isnan(mpnum_format_of(MPNUM_TYPE_F16), x.bits);
}
MPNUM_INLINE int mpnum_isinf_f16(mpnum_f16 x) {
  return mpnum_isinf(mpnum_format_of(MPNUM_TYPE_F16), x.bits);
}
MPNUM_INLINE int mpnum_isfinite_f16(mpnum_f16 x) {
  return mpnum_isfinite(mpnum_format_of(MPNUM_TYPE_F16), x.bits);
}
MPNUM_INLINE mpnum_f16 mpnum_next_up_f16(mpnum_f16 x) {
  return mpnum_from_bits_f16(mpnum_next_up(mpnum_format_of(MPNUM_TYPE_F16), x.bits));
}
MPNUM_INLINE mpnum_f16 mpnum_next_down_f16(mpnum_f16 x) {
  return mpnum_from_bits_f16(mpnum_next_down(mpnum_format_of(MPNUM_TYPE_F16), x.bits));
}
MPNUM_INLINE float mpnum_ulp_f16(mpnum_f16 x) {
  return mpnum_ulp(mpnum_format_of(MPNUM_TYPE_F16), x.bits);
}

/* Two in a word, element 0 in the low half. */
typedef struct mpnum_f16x2 {
  uint32_t bits;
} mpnum_f16x2;

/* Elements in order. */
MPNUM_INLINE mpnum_f16x2 mpnum_pack_f16_x2(mpnum_f16 a, mpnum_f16 b) {
  const mpnum_f16x2 packed = {(uint32_t)a.bits | (uint32_t)b.bits << 16};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_f16 mpnum_unpack_f16_x2(mpnum_f16x2 packed, int index) {
  return mpnum_from_bits_f16((uint32_t)packed.bits >> (index * 16) & 0xffffu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_f16x2 mpnum_f32_to_f16_x2(float a, float b) {
#if MPNUM_HAS_HW_F16X2_
  const mpnum_f16x2 packed = {
      mpnum_cvt_f16x2_(a, b, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE)};
  return packed;
#else
  return mpnum_pack_f16_x2(mpnum_f32_to_f16(a), mpnum_f32_to_f16(b));
#endif
}
MPNUM_INLINE mpnum_f16x2 mpnum_f32_to_f16_sat_x2(float a, float b) {
#if MPNUM_HAS_HW_F16X2_
  const mpnum_f16x2 packed = {
      mpnum_cvt_f16x2_(a, b, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE)};
  return packed;
#else
  return mpnum_pack_f16_x2(mpnum_f32_to_f16_sat(a), mpnum_f32_to_f16_sat(b));
#endif
}
MPNUM_INLINE mpnum_f32x2 mpnum_f16_to_f32_x2(mpnum_f16x2 packed) {
  const mpnum_f32x2 values = {mpnum_f16_to_f32(mpnum_unpack_f16_x2(packed, 0)),
                              mpnum_f16_to_f32(mpnum_unpack_f16_x2(packed, 1))};
  return values;
}
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* f32 and f64: conversions between them, and class tests that no compiler flag removes.
 */
#ifndef MPNUM_TYPES_F32_H
#define MPNUM_TYPES_F32_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* f64 to f32, rounded once whatever the floating-point environment: the mode given, or
 * nearest even. _sat saturates; without it overflow is as in IEEE 754 for the mode. NaN:
 * 0x7fffffff. */
MPNUM_INLINE float mpnum_f64_to_f32_round(double x, mpnum_rounding rounding,
                                          mpnum_overflow overflow, uint32_t random) {
  return mpnum_from_bits_f32(
      mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_F32), x, rounding, overflow, random));
}
MPNUM_INLINE float mpnum_f64_to_f32(double x) {
  return mpnum_f64_to_f32_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE float mpnum_f64_to_f32_sat(double x) {
  return mpnum_f64_to_f32_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}

/* f32 to f64, exact, subnormals too. NaN: 0x7fffffffffffffff. */
MPNUM_INLINE double mpnum_f32_to_f64(float x) {
  return mpnum_widen_bits_(mpnum_bits_f32(x));
}

/* Class of a float or double: 1 or 0. Other questions about a float are those of query.h,
 * of mpnum_format_of(MPNUM_TYPE_F32) and mpnum_bits_f32(x). */
MPNUM_INLINE int mpnum_isnan_f32(float x) {
  return (mpnum_bits_f32(x) & 0x7fffffffu) > 0x7f800000u;
}
MPNUM_INLINE int mpnum_isinf_f32(float x) {
  return mpnum_iszero_u31_((mpnum_bits_f32(x) & 0x7fffffffu) ^ 0x7f800000u);
}
MPNUM_INLINE int mpnum_isfinite_f32(float x) {
  return (mpnum_bits_f32(x) & 0x7fffffffu) < 0x7f800000u;
}
MPNUM_INLINE int mpnum_issubnormal_f32(float x) {
  return (mpnum_bits_f32(x) & 0x7fffffffu) < 0x00800000u &&
         !mpnum_iszero_u31_(mpnum_bits_f32(x) & 0x7fffffffu);
}
MPNUM_INLINE int mpnum_iszero_f32(float x) {
  return mpnum_iszero_u31_(mpnum_bits_f32(x) & 0x7fffffffu);
}
MPNUM_INLINE int mpnum_isnan_f64(double x) {
  return (mpnum_bits_f64(x) & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}
MPNUM_INLINE int mpnum_isinf_f64(double x) {
  return mpnum_iszero_u63_((mpnum_bits_f64(x) & 0x7fffffffffffffffu) ^
                           0x7ff0000000000000u);
}
MPNUM_INLINE int mpnum_isfinite_f64(double x) {
  return (mpnum_bits_f64(x) & 0x7fffffffffffffffu) < 0x7ff0000000000000u;
}

MPNUM_C_END_
#endif

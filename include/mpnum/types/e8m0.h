/* SPDX-License-Identifier: MIT */
/* e8m0: OCP MX block scale, a power of two.
 *
 *     exponent 8
 *     7        0
 *
 *     code b is 2^(b - 127): 00 is 2^-127, fe is 2^127
 *     no sign, no zero, no Inf, NaN ff
 *
 * A negative source is taken by its magnitude, and what is below 2^-127, zero too, gives
 * 00, in every rounding mode.
 */
#ifndef MPNUM_TYPES_E8M0_H
#define MPNUM_TYPES_E8M0_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format e8m0): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_E8M0_MAX 1.70141183e+38f

/* The value of a code. */
MPNUM_INLINE mpnum_e8m0 mpnum_from_bits_e8m0(uint32_t code) {
  const mpnum_e8m0 x = {(uint8_t)code};
  return x;
}

/* From f32, rounded once: nearest even without suffix, up (_ru), toward zero (_rz), or
 * the mode given (_round; random as in mpnum_encode). _sat saturates; the other forms
 * overflow as IEEE 754 has it for the mode, NaN standing in for Inf. */
MPNUM_INLINE mpnum_e8m0 mpnum_f32_to_e8m0_round(float x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
#if MPNUM_HAS_HW_E8M0_
  if (rounding == MPNUM_ROUND_UP || rounding == MPNUM_ROUND_TOWARD_ZERO)
    return mpnum_from_bits_e8m0(mpnum_cvt_e8m0x2_(x, 0.0f, rounding, overflow) & 0xffu);
#endif
  return mpnum_from_bits_e8m0(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E8M0), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e8m0 mpnum_f32_to_e8m0(float x) {
  return mpnum_f32_to_e8m0_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e8m0 mpnum_f32_to_e8m0_sat(float x) {
  return mpnum_f32_to_e8m0_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_e8m0 mpnum_f32_to_e8m0_ru(float x) {
  return mpnum_f32_to_e8m0_round(x, MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e8m0 mpnum_f32_to_e8m0_ru_sat(float x) {
  return mpnum_f32_to_e8m0_round(x, MPNUM_ROUND_UP, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_e8m0 mpnum_f32_to_e8m0_rz(float x) {
  return mpnum_f32_to_e8m0_round(x, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e8m0 mpnum_f32_to_e8m0_rz_sat(float x) {
  return mpnum_f32_to_e8m0_round(x, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_SATURATE, 0);
}

/* To f32, exact. NaN: canonical, 0x7fffffff. */
MPNUM_INLINE float mpnum_e8m0_to_f32(mpnum_e8m0 x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E8M0), x.bits);
}

/* Doubles and queries: mpnum_encode_f64, mpnum_decode_f64, mpnum_isnan and their like
 * take mpnum_format_of(MPNUM_TYPE_E8M0). */

/* Two in 16 bits, element 0 in the low byte. */
typedef struct mpnum_e8m0x2 {
  uint16_t bits;
} mpnum_e8m0x2;

/* Elements in order. */
MPNUM_INLINE mpnum_e8m0x2 mpnum_pack_e8m0_x2(mpnum_e8m0 a, mpnum_e8m0 b) {
  const mpnum_e8m0x2 packed = {(uint16_t)((uint32_t)a.bits | (uint32_t)b.bits << 8)};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_e8m0 mpnum_unpack_e8m0_x2(mpnum_e8m0x2 packed, int index) {
  return mpnum_from_bits_e8m0((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_e8m0x2 mpnum_f32_to_e8m0_ru_sat_x2(float a, float b) {
#if MPNUM_HAS_HW_E8M0_
  const mpnum_e8m0x2 packed = {
      (uint16_t)mpnum_cvt_e8m0x2_(a, b, MPNUM_ROUND_UP, MPNUM_OVERFLOW_SATURATE)};
  return packed;
#else
  return mpnum_pack_e8m0_x2(mpnum_f32_to_e8m0_ru_sat(a), mpnum_f32_to_e8m0_ru_sat(b));
#endif
}
MPNUM_INLINE mpnum_e8m0x2 mpnum_f32_to_e8m0_rz_sat_x2(float a, float b) {
#if MPNUM_HAS_HW_E8M0_
  const mpnum_e8m0x2 packed = {(uint16_t)mpnum_cvt_e8m0x2_(a, b, MPNUM_ROUND_TOWARD_ZERO,
                                                           MPNUM_OVERFLOW_SATURATE)};
  return packed;
#else
  return mpnum_pack_e8m0_x2(mpnum_f32_to_e8m0_rz_sat(a), mpnum_f32_to_e8m0_rz_sat(b));
#endif
}
MPNUM_INLINE mpnum_f32x2 mpnum_e8m0_to_f32_x2(mpnum_e8m0x2 packed) {
  const mpnum_f32x2 values = {mpnum_e8m0_to_f32(mpnum_unpack_e8m0_x2(packed, 0)),
                              mpnum_e8m0_to_f32(mpnum_unpack_e8m0_x2(packed, 1))};
  return values;
}
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

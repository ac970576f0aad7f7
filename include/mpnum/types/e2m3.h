/* SPDX-License-Identifier: MIT */
/* e2m3: OCP MX FP6 with more precision.
 *
 *     0 0 | sign | exponent 2 | mantissa 3
 *     7 6      5   4         3   2        0
 *
 *     bias 1, max 7.5 (1f), min 1 (08), true min 2^-3 (01)
 *     no Inf, no NaN
 *
 * Every conversion saturates: Inf gives the largest value of its sign, NaN the positive
 * one.
 */
#ifndef MPNUM_TYPES_E2M3_H
#define MPNUM_TYPES_E2M3_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format e2m3): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_E2M3_MAX 7.5f

/* The value of a code. */
MPNUM_INLINE mpnum_e2m3 mpnum_from_bits_e2m3(uint32_t code) {
  const mpnum_e2m3 x = {(uint8_t)code};
  return x;
}

/* From f32, rounded once: nearest even without suffix, or the mode given (_round;
 * random as in mpnum_encode). All forms saturate; the overflow argument is ignored. */
MPNUM_INLINE mpnum_e2m3 mpnum_f32_to_e2m3_round(float x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
#if MPNUM_HAS_HW_FP6_
  if (rounding == MPNUM_ROUND_NEAREST_EVEN)
    return mpnum_from_bits_e2m3(mpnum_cvt_e2m3x2_(x, 0.0f) & 0xffu);
#endif
  return mpnum_from_bits_e2m3(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E2M3), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e2m3 mpnum_f32_to_e2m3_sat(float x) {
  return mpnum_f32_to_e2m3_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}

/* To f32, exact. */
MPNUM_INLINE float mpnum_e2m3_to_f32(mpnum_e2m3 x) {
#if MPNUM_HAS_HW_FP6_
  return mpnum_cvt_f16_to_f32_(mpnum_cvt_e2m3x2_to_f16x2_(x.bits) & 0xffffu);
#else
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E2M3), x.bits);
#endif
}

/* Doubles and queries: mpnum_encode_f64, mpnum_decode_f64, mpnum_isnan and their like
 * take mpnum_format_of(MPNUM_TYPE_E2M3). */

/* Two in 16 bits, a byte each, element 0 in the low byte: what the PTX conversions take
 * and give. */
typedef struct mpnum_e2m3x2 {
  uint16_t bits;
} mpnum_e2m3x2;

/* Elements in order. */
MPNUM_INLINE mpnum_e2m3x2 mpnum_pack_e2m3_x2(mpnum_e2m3 a, mpnum_e2m3 b) {
  const mpnum_e2m3x2 packed = {(uint16_t)((uint32_t)a.bits | (uint32_t)b.bits << 8)};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_e2m3 mpnum_unpack_e2m3_x2(mpnum_e2m3x2 packed, int index) {
  return mpnum_from_bits_e2m3((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_e2m3x2 mpnum_f32_to_e2m3_sat_x2(float a, float b) {
#if MPNUM_HAS_HW_FP6_
  const mpnum_e2m3x2 packed = {(uint16_t)mpnum_cvt_e2m3x2_(a, b)};
  return packed;
#else
  return mpnum_pack_e2m3_x2(mpnum_f32_to_e2m3_sat(a), mpnum_f32_to_e2m3_sat(b));
#endif
}
MPNUM_INLINE mpnum_f32x2 mpnum_e2m3_to_f32_x2(mpnum_e2m3x2 packed) {
#if MPNUM_HAS_HW_FP6_
  const uint32_t f16_codes = mpnum_cvt_e2m3x2_to_f16x2_(packed.bits);
  const mpnum_f32x2 values = {mpnum_cvt_f16_to_f32_(f16_codes & 0xffffu),
                              mpnum_cvt_f16_to_f32_(f16_codes >> 16)};
  return values;
#else
  const mpnum_f32x2 values = {mpnum_e2m3_to_f32(mpnum_unpack_e2m3_x2(packed, 0)),
                              mpnum_e2m3_to_f32(mpnum_unpack_e2m3_x2(packed, 1))};
  return values;
#endif
}

/* Dense: four codes in three bytes, little end first: element i is bits 6i to 6i + 5. */
typedef struct mpnum_e2m3x4 {
  uint8_t bytes[3];
} mpnum_e2m3x4;
MPNUM_INLINE mpnum_e2m3x4 mpnum_pack_e2m3_x4(mpnum_e2m3 a, mpnum_e2m3 b, mpnum_e2m3 c,
                                             mpnum_e2m3 d) {
  const uint32_t word = (a.bits & 0x3fu) | (b.bits & 0x3fu) << 6 |
                        (c.bits & 0x3fu) << 12 | (d.bits & 0x3fu) << 18;
  const mpnum_e2m3x4 packed = {
      {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16)}};
  return packed;
}
/* Element index, 0 to 3. */
MPNUM_INLINE mpnum_e2m3 mpnum_unpack_e2m3_x4(mpnum_e2m3x4 packed, int index) {
  const uint32_t word =
      packed.bytes[0] | (uint32_t)packed.bytes[1] << 8 | (uint32_t)packed.bytes[2] << 16;
  return mpnum_from_bits_e2m3(word >> (index * 6) & 0x3fu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_e2m3x4 mpnum_f32_to_e2m3_sat_x4(float a, float b, float c, float d) {
  return mpnum_pack_e2m3_x4(mpnum_f32_to_e2m3_sat(a), mpnum_f32_to_e2m3_sat(b),
                            mpnum_f32_to_e2m3_sat(c), mpnum_f32_to_e2m3_sat(d));
}
MPNUM_INLINE mpnum_f32x4 mpnum_e2m3_to_f32_x4(mpnum_e2m3x4 packed) {
  const mpnum_f32x4 values = {mpnum_e2m3_to_f32(mpnum_unpack_e2m3_x4(packed, 0)),
                              mpnum_e2m3_to_f32(mpnum_unpack_e2m3_x4(packed, 1)),
                              mpnum_e2m3_to_f32(mpnum_unpack_e2m3_x4(packed, 2)),
                              mpnum_e2m3_to_f32(mpnum_unpack_e2m3_x4(packed, 3))};
  return values;
}
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

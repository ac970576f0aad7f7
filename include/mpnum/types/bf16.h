/* SPDX-License-Identifier: MIT */
/* bf16: the upper half of an f32.
 *
 *     sign | exponent 8 | mantissa 7
 *       15   14        7   6        0
 *
 *     bias 127, max 0x1.fep127 (7f7f), min 2^-126 (0080), true min 2^-133 (0001)
 *     Inf 7f80, NaN: exponent 255 and mantissa not 0, canonical 7fff
 */
#ifndef MPNUM_TYPES_BF16_H
#define MPNUM_TYPES_BF16_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format bf16): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_BF16_MAX      3.38953139e+38f
#define MPNUM_BF16_MIN      1.17549435e-38f
#define MPNUM_BF16_TRUE_MIN 9.18354962e-41f
#define MPNUM_BF16_EPSILON  0.0078125f

/* The value of a code. */
MPNUM_INLINE mpnum_bf16 mpnum_from_bits_bf16(uint32_t code) {
  const mpnum_bf16 x = {(uint16_t)code};
  return x;
}

/* From f32 and f64, rounded once: nearest even without suffix, toward zero (_rz),
 * stochastic (_sr; random as in mpnum_encode), or the mode given (_round). _sat
 * saturates; the other forms overflow as IEEE 754 has it for the mode. NaN: canonical. */
MPNUM_INLINE mpnum_bf16 mpnum_f32_to_bf16_round(float x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
#if MPNUM_HAS_HW_BF16_
  if (rounding <= MPNUM_ROUND_TOWARD_ZERO)
    return mpnum_from_bits_bf16(mpnum_cvt_bf16_(x, rounding, overflow));
#endif
  return mpnum_from_bits_bf16(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_BF16), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_bf16 mpnum_f64_to_bf16_round(double x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
#if MPNUM_HAS_HW_BF16_F64_
  if (rounding == MPNUM_ROUND_NEAREST_EVEN)
    return mpnum_from_bits_bf16(mpnum_cvt_f64_to_bf16_(x, overflow));
#endif
  return mpnum_from_bits_bf16(
      mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_BF16), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_bf16 mpnum_f32_to_bf16(float x) {
  return mpnum_f32_to_bf16_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_bf16 mpnum_f32_to_bf16_sat(float x) {
  return mpnum_f32_to_bf16_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_bf16 mpnum_f64_to_bf16(double x) {
  return mpnum_f64_to_bf16_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_bf16 mpnum_f64_to_bf16_sat(double x) {
  return mpnum_f64_to_bf16_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_bf16 mpnum_f32_to_bf16_rz(float x) {
  return mpnum_f32_to_bf16_round(x, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_bf16 mpnum_f32_to_bf16_rz_sat(float x) {
  return mpnum_f32_to_bf16_round(x, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_bf16 mpnum_f32_to_bf16_sr(float x, uint32_t random) {
  return mpnum_f32_to_bf16_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, random);
}
MPNUM_INLINE mpnum_bf16 mpnum_f32_to_bf16_sr_sat(float x, uint32_t random) {
  return mpnum_f32_to_bf16_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE,
                                 random);
}

/* To f32 and f64, exact. NaN: to f32 sign and payload are kept, to f64 it is canonical.
 */
MPNUM_INLINE float mpnum_bf16_to_f32(mpnum_bf16 x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_BF16), x.bits);
}
MPNUM_INLINE double mpnum_bf16_to_f64(mpnum_bf16 x) {
  return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_BF16), x.bits);
}

/* Queries, as in query.h, where others take mpnum_format_of(MPNUM_TYPE_BF16). */
MPNUM_INLINE int mpnum_isnan_bf16(mpnum_bf16 x) {
  return mpnum_isnan(mpnum_format_of(MPNUM_TYPE_BF16), x.bits);
}
MPNUM_INLINE int mpnum_isinf_bf16(mpnum_bf16 x) {
  return mpnum_isinf(mpnum_format_of(MPNUM_TYPE_BF16), x.bits);
}
MPNUM_INLINE int mpnum_isfinite_bf16(mpnum_bf16 x) {
  return mpnum_isfinite(mpnum_format_of(MPNUM_TYPE_BF16), x.bits);
}
MPNUM_INLINE mpnum_bf16 mpnum_next_up_bf16(mpnum_bf16 x) {
  return mpnum_from_bits_bf16(mpnum_next_up(mpnum_format_of(MPNUM_TYPE_BF16), x.bits));
}
MPNUM_INLINE mpnum_bf16 mpnum_next_down_bf16(mpnum_bf16 x) {
  return mpnum_from_bits_bf16(mpnum_next_down(mpnum_format_of(MPNUM_TYPE_BF16), x.bits));
}
MPNUM_INLINE float mpnum_ulp_bf16(mpnum_bf16 x) {
  return mpnum_ulp(mpnum_format_of(MPNUM_TYPE_BF16), x.bits);
}

/* Two in a word, element 0 in the low half. */
typedef struct mpnum_bf16x2 {
  uint32_t bits;
} mpnum_bf16x2;

/* Elements in order. */
MPNUM_INLINE mpnum_bf16x2 mpnum_pack_bf16_x2(mpnum_bf16 a, mpnum_bf16 b) {
  const mpnum_bf16x2 packed = {(uint32_t)a.bits | (uint32_t)b.bits << 16};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_bf16 mpnum_unpack_bf16_x2(mpnum_bf16x2 packed, int index) {
  return mpnum_from_bits_bf16((uint32_t)packed.bits >> (index * 16) & 0xffffu);
}
/* From f32 and to it, each element as alone. */
MPNUM_INLINE mpnum_bf16x2 mpnum_f32_to_bf16_x2(float a, float b) {
#if MPNUM_HAS_HW_BF16_
  const mpnum_bf16x2 packed = {
      mpnum_cvt_bf16x2_(a, b, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE)};
  return packed;
#else
  return mpnum_pack_bf16_x2(mpnum_f32_to_bf16(a), mpnum_f32_to_bf16(b));
#endif
}
MPNUM_INLINE mpnum_bf16x2 mpnum_f32_to_bf16_sat_x2(float a, float b) {
#if MPNUM_HAS_HW_BF16_
  const mpnum_bf16x2 packed = {
      mpnum_cvt_bf16x2_(a, b, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE)};
  return packed;
#else
  return mpnum_pack_bf16_x2(mpnum_f32_to_bf16_sat(a), mpnum_f32_to_bf16_sat(b));
#endif
}
MPNUM_INLINE mpnum_f32x2 mpnum_bf16_to_f32_x2(mpnum_bf16x2 packed) {
  const mpnum_f32x2 values = {mpnum_bf16_to_f32(mpnum_unpack_bf16_x2(packed, 0)),
                              mpnum_bf16_to_f32(mpnum_unpack_bf16_x2(packed, 1))};
  return values;
}
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

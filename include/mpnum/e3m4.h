/* SPDX-License-Identifier: MIT */
/* e3m4: IEEE-style FP8 with the most precision, for weights and optimizer state.
 *
 *     sign | exponent 3 | mantissa 4
 *        7   6         4   3        0
 *
 *     bias 3, max 15.5 (6f), min 2^-2 (10), true min 2^-6 (01)
 *     Inf 70, NaN 71 to 7f, canonical 78
 */
#ifndef MPNUM_E3M4_H
#define MPNUM_E3M4_H

#include "query.h"

/* Written by tools/wrappers (format e3m4): do not edit. */
#define MPNUM_E3M4_MAX      15.5f
#define MPNUM_E3M4_MIN      0.25f
#define MPNUM_E3M4_TRUE_MIN 0.015625f
#define MPNUM_E3M4_EPSILON  0.0625f
#define MPNUM_E3M4_MANT_DIG 5
#define MPNUM_E3M4_DIG      1
#define MPNUM_E3M4_MIN_EXP  (-1)
#define MPNUM_E3M4_MAX_EXP  4

MPNUM_INLINE mpnum_e3m4 mpnum_from_bits_e3m4(uint32_t code) {
  const mpnum_e3m4 x = {(uint8_t)code};
  return x;
}

/* From f32 and f64, rounded once: nearest even without suffix, stochastic (_sr; random
 * as in mpnum_encode), or the mode given (_round). _sat saturates; the other forms
 * overflow as IEEE 754 has it for the mode. NaN: canonical. */
MPNUM_INLINE mpnum_e3m4 mpnum_f32_to_e3m4_round(float x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
  return mpnum_from_bits_e3m4(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E3M4), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e3m4 mpnum_f64_to_e3m4_round(double x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
  return mpnum_from_bits_e3m4(
      mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_E3M4), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e3m4 mpnum_f32_to_e3m4(float x) {
  return mpnum_f32_to_e3m4_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e3m4 mpnum_f32_to_e3m4_sat(float x) {
  return mpnum_f32_to_e3m4_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_e3m4 mpnum_f64_to_e3m4(double x) {
  return mpnum_f64_to_e3m4_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e3m4 mpnum_f64_to_e3m4_sat(double x) {
  return mpnum_f64_to_e3m4_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_e3m4 mpnum_f32_to_e3m4_sr(float x, uint32_t random) {
  return mpnum_f32_to_e3m4_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, random);
}
MPNUM_INLINE mpnum_e3m4 mpnum_f32_to_e3m4_sr_sat(float x, uint32_t random) {
  return mpnum_f32_to_e3m4_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE,
                                 random);
}

/* To f32 and f64, exact. NaN: canonical, 0x7fffffff and 0x7fffffffffffffff. */
MPNUM_INLINE float mpnum_e3m4_to_f32(mpnum_e3m4 x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE double mpnum_e3m4_to_f64(mpnum_e3m4 x) {
  return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}

/* Queries, as in query.h. */
MPNUM_INLINE int mpnum_isnan_e3m4(mpnum_e3m4 x) {
  return mpnum_isnan(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE int mpnum_isinf_e3m4(mpnum_e3m4 x) {
  return mpnum_isinf(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE int mpnum_isfinite_e3m4(mpnum_e3m4 x) {
  return mpnum_isfinite(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE int mpnum_is_normal_e3m4(mpnum_e3m4 x) {
  return mpnum_is_normal(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE int mpnum_is_subnormal_e3m4(mpnum_e3m4 x) {
  return mpnum_is_subnormal(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE int mpnum_is_zero_e3m4(mpnum_e3m4 x) {
  return mpnum_is_zero(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE int mpnum_signbit_e3m4(mpnum_e3m4 x) {
  return mpnum_signbit(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE mpnum_e3m4 mpnum_next_up_e3m4(mpnum_e3m4 x) {
  return mpnum_from_bits_e3m4(mpnum_next_up(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits));
}
MPNUM_INLINE mpnum_e3m4 mpnum_next_down_e3m4(mpnum_e3m4 x) {
  return mpnum_from_bits_e3m4(mpnum_next_down(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits));
}
MPNUM_INLINE float mpnum_ulp_e3m4(mpnum_e3m4 x) {
  return mpnum_ulp(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}
MPNUM_INLINE uint32_t mpnum_ulp_distance_e3m4(mpnum_e3m4 a, mpnum_e3m4 b) {
  return mpnum_ulp_distance(mpnum_format_of(MPNUM_TYPE_E3M4), a.bits, b.bits);
}
MPNUM_INLINE int mpnum_compare_e3m4(mpnum_e3m4 a, mpnum_e3m4 b) {
  return mpnum_compare(mpnum_format_of(MPNUM_TYPE_E3M4), a.bits, b.bits);
}
MPNUM_INLINE int mpnum_total_order_e3m4(mpnum_e3m4 a, mpnum_e3m4 b) {
  return mpnum_total_order(mpnum_format_of(MPNUM_TYPE_E3M4), a.bits, b.bits);
}

/* Two in 16 bits and four in 32 bits, element 0 in the low byte. */
typedef struct mpnum_e3m4x2 {
  uint16_t bits;
} mpnum_e3m4x2;
typedef struct mpnum_e3m4x4 {
  uint32_t bits;
} mpnum_e3m4x4;

MPNUM_INLINE mpnum_e3m4x2 mpnum_pack_e3m4_x2(mpnum_e3m4 a, mpnum_e3m4 b) {
  const mpnum_e3m4x2 packed = {(uint16_t)((uint32_t)a.bits | (uint32_t)b.bits << 8)};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_e3m4 mpnum_unpack_e3m4_x2(mpnum_e3m4x2 packed, int index) {
  return mpnum_from_bits_e3m4((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
MPNUM_INLINE mpnum_e3m4x2 mpnum_f32_to_e3m4_x2(float a, float b) {
  return mpnum_pack_e3m4_x2(mpnum_f32_to_e3m4(a), mpnum_f32_to_e3m4(b));
}
MPNUM_INLINE mpnum_e3m4x2 mpnum_f32_to_e3m4_sat_x2(float a, float b) {
  return mpnum_pack_e3m4_x2(mpnum_f32_to_e3m4_sat(a), mpnum_f32_to_e3m4_sat(b));
}
MPNUM_INLINE mpnum_f32x2 mpnum_e3m4_to_f32_x2(mpnum_e3m4x2 packed) {
  const mpnum_f32x2 values = {mpnum_e3m4_to_f32(mpnum_unpack_e3m4_x2(packed, 0)),
                              mpnum_e3m4_to_f32(mpnum_unpack_e3m4_x2(packed, 1))};
  return values;
}

MPNUM_INLINE mpnum_e3m4x4 mpnum_pack_e3m4_x4(mpnum_e3m4 a, mpnum_e3m4 b, mpnum_e3m4 c,
                                             mpnum_e3m4 d) {
  const mpnum_e3m4x4 packed = {(uint32_t)a.bits | (uint32_t)b.bits << 8 |
                               (uint32_t)c.bits << 16 | (uint32_t)d.bits << 24};
  return packed;
}
/* Element index, 0 to 3. */
MPNUM_INLINE mpnum_e3m4 mpnum_unpack_e3m4_x4(mpnum_e3m4x4 packed, int index) {
  return mpnum_from_bits_e3m4((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
MPNUM_INLINE mpnum_e3m4x4 mpnum_f32_to_e3m4_x4(float a, float b, float c, float d) {
  return mpnum_pack_e3m4_x4(mpnum_f32_to_e3m4(a), mpnum_f32_to_e3m4(b),
                            mpnum_f32_to_e3m4(c), mpnum_f32_to_e3m4(d));
}
MPNUM_INLINE mpnum_e3m4x4 mpnum_f32_to_e3m4_sat_x4(float a, float b, float c, float d) {
  return mpnum_pack_e3m4_x4(mpnum_f32_to_e3m4_sat(a), mpnum_f32_to_e3m4_sat(b),
                            mpnum_f32_to_e3m4_sat(c), mpnum_f32_to_e3m4_sat(d));
}
MPNUM_INLINE mpnum_f32x4 mpnum_e3m4_to_f32_x4(mpnum_e3m4x4 packed) {
  const mpnum_f32x4 values = {mpnum_e3m4_to_f32(mpnum_unpack_e3m4_x4(packed, 0)),
                              mpnum_e3m4_to_f32(mpnum_unpack_e3m4_x4(packed, 1)),
                              mpnum_e3m4_to_f32(mpnum_unpack_e3m4_x4(packed, 2)),
                              mpnum_e3m4_to_f32(mpnum_unpack_e3m4_x4(packed, 3))};
  return values;
}
/* End of what tools/wrappers wrote. */

#endif

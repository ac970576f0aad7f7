/* SPDX-License-Identifier: MIT */
/* e5m2fnuz: FP8 of AMD CDNA 3 and Graphcore.
 *
 *     sign | exponent 5 | mantissa 2
 *        7   6         2   1        0
 *
 *     bias 16, max 57344 (7f), min 2^-15 (04), true min 2^-17 (01)
 *     no Inf, no -0, NaN 80
 */
#ifndef MPNUM_E5M2FNUZ_H
#define MPNUM_E5M2FNUZ_H

#include "query.h"

/* Written by tools/wrappers (format e5m2fnuz): do not edit. */
#define MPNUM_E5M2FNUZ_MAX      57344.0f
#define MPNUM_E5M2FNUZ_MIN      3.0517578125e-05f
#define MPNUM_E5M2FNUZ_TRUE_MIN 7.62939453125e-06f
#define MPNUM_E5M2FNUZ_EPSILON  0.25f
#define MPNUM_E5M2FNUZ_MANT_DIG 3
#define MPNUM_E5M2FNUZ_DIG      0
#define MPNUM_E5M2FNUZ_MIN_EXP  (-14)
#define MPNUM_E5M2FNUZ_MAX_EXP  16

MPNUM_INLINE mpnum_e5m2fnuz mpnum_from_bits_e5m2fnuz(uint32_t code) {
  const mpnum_e5m2fnuz x = {(uint8_t)code};
  return x;
}

/* From f32 and f64, rounded once: nearest even without suffix, stochastic (_sr; random
 * as in mpnum_encode), or the mode given (_round). _sat saturates; the other forms
 * overflow as IEEE 754 has it for the mode, NaN standing in for Inf. */
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f32_to_e5m2fnuz_round(float x, mpnum_rounding rounding,
                                                        mpnum_overflow overflow,
                                                        uint32_t random) {
  return mpnum_from_bits_e5m2fnuz(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f64_to_e5m2fnuz_round(double x, mpnum_rounding rounding,
                                                        mpnum_overflow overflow,
                                                        uint32_t random) {
  return mpnum_from_bits_e5m2fnuz(mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ),
                                                   x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f32_to_e5m2fnuz(float x) {
  return mpnum_f32_to_e5m2fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f32_to_e5m2fnuz_sat(float x) {
  return mpnum_f32_to_e5m2fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE,
                                     0);
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f64_to_e5m2fnuz(double x) {
  return mpnum_f64_to_e5m2fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f64_to_e5m2fnuz_sat(double x) {
  return mpnum_f64_to_e5m2fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE,
                                     0);
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f32_to_e5m2fnuz_sr(float x, uint32_t random) {
  return mpnum_f32_to_e5m2fnuz_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE,
                                     random);
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f32_to_e5m2fnuz_sr_sat(float x, uint32_t random) {
  return mpnum_f32_to_e5m2fnuz_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE,
                                     random);
}

/* To f32 and f64, exact. NaN: canonical, 0x7fffffff and 0x7fffffffffffffff. */
MPNUM_INLINE float mpnum_e5m2fnuz_to_f32(mpnum_e5m2fnuz x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE double mpnum_e5m2fnuz_to_f64(mpnum_e5m2fnuz x) {
  return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}

/* Queries, as in query.h. */
MPNUM_INLINE int mpnum_isnan_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_isnan(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_isinf_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_isinf(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_isfinite_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_isfinite(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_is_normal_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_is_normal(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_is_subnormal_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_is_subnormal(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_is_zero_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_is_zero(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_signbit_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_signbit(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_next_up_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_from_bits_e5m2fnuz(
      mpnum_next_up(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits));
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_next_down_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_from_bits_e5m2fnuz(
      mpnum_next_down(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits));
}
MPNUM_INLINE float mpnum_ulp_e5m2fnuz(mpnum_e5m2fnuz x) {
  return mpnum_ulp(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}
MPNUM_INLINE uint32_t mpnum_ulp_distance_e5m2fnuz(mpnum_e5m2fnuz a, mpnum_e5m2fnuz b) {
  return mpnum_ulp_distance(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), a.bits, b.bits);
}
MPNUM_INLINE int mpnum_compare_e5m2fnuz(mpnum_e5m2fnuz a, mpnum_e5m2fnuz b) {
  return mpnum_compare(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), a.bits, b.bits);
}
MPNUM_INLINE int mpnum_total_order_e5m2fnuz(mpnum_e5m2fnuz a, mpnum_e5m2fnuz b) {
  return mpnum_total_order(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), a.bits, b.bits);
}

/* Two in 16 bits and four in 32 bits, element 0 in the low byte. */
typedef struct mpnum_e5m2fnuzx2 {
  uint16_t bits;
} mpnum_e5m2fnuzx2;
typedef struct mpnum_e5m2fnuzx4 {
  uint32_t bits;
} mpnum_e5m2fnuzx4;

MPNUM_INLINE mpnum_e5m2fnuzx2 mpnum_pack_e5m2fnuz_x2(mpnum_e5m2fnuz a, mpnum_e5m2fnuz b) {
  const mpnum_e5m2fnuzx2 packed = {(uint16_t)((uint32_t)a.bits | (uint32_t)b.bits << 8)};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_e5m2fnuz mpnum_unpack_e5m2fnuz_x2(mpnum_e5m2fnuzx2 packed, int index) {
  return mpnum_from_bits_e5m2fnuz((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
MPNUM_INLINE mpnum_e5m2fnuzx2 mpnum_f32_to_e5m2fnuz_x2(float a, float b) {
  return mpnum_pack_e5m2fnuz_x2(mpnum_f32_to_e5m2fnuz(a), mpnum_f32_to_e5m2fnuz(b));
}
MPNUM_INLINE mpnum_e5m2fnuzx2 mpnum_f32_to_e5m2fnuz_sat_x2(float a, float b) {
  return mpnum_pack_e5m2fnuz_x2(mpnum_f32_to_e5m2fnuz_sat(a),
                                mpnum_f32_to_e5m2fnuz_sat(b));
}
MPNUM_INLINE mpnum_f32x2 mpnum_e5m2fnuz_to_f32_x2(mpnum_e5m2fnuzx2 packed) {
  const mpnum_f32x2 values = {mpnum_e5m2fnuz_to_f32(mpnum_unpack_e5m2fnuz_x2(packed, 0)),
                              mpnum_e5m2fnuz_to_f32(mpnum_unpack_e5m2fnuz_x2(packed, 1))};
  return values;
}

MPNUM_INLINE mpnum_e5m2fnuzx4 mpnum_pack_e5m2fnuz_x4(mpnum_e5m2fnuz a, mpnum_e5m2fnuz b,
                                                     mpnum_e5m2fnuz c, mpnum_e5m2fnuz d) {
  const mpnum_e5m2fnuzx4 packed = {(uint32_t)a.bits | (uint32_t)b.bits << 8 |
                                   (uint32_t)c.bits << 16 | (uint32_t)d.bits << 24};
  return packed;
}
/* Element index, 0 to 3. */
MPNUM_INLINE mpnum_e5m2fnuz mpnum_unpack_e5m2fnuz_x4(mpnum_e5m2fnuzx4 packed, int index) {
  return mpnum_from_bits_e5m2fnuz((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
MPNUM_INLINE mpnum_e5m2fnuzx4 mpnum_f32_to_e5m2fnuz_x4(float a, float b, float c,
                                                       float d) {
  return mpnum_pack_e5m2fnuz_x4(mpnum_f32_to_e5m2fnuz(a), mpnum_f32_to_e5m2fnuz(b),
                                mpnum_f32_to_e5m2fnuz(c), mpnum_f32_to_e5m2fnuz(d));
}
MPNUM_INLINE mpnum_e5m2fnuzx4 mpnum_f32_to_e5m2fnuz_sat_x4(float a, float b, float c,
                                                           float d) {
  return mpnum_pack_e5m2fnuz_x4(
      mpnum_f32_to_e5m2fnuz_sat(a), mpnum_f32_to_e5m2fnuz_sat(b),
      mpnum_f32_to_e5m2fnuz_sat(c), mpnum_f32_to_e5m2fnuz_sat(d));
}
MPNUM_INLINE mpnum_f32x4 mpnum_e5m2fnuz_to_f32_x4(mpnum_e5m2fnuzx4 packed) {
  const mpnum_f32x4 values = {mpnum_e5m2fnuz_to_f32(mpnum_unpack_e5m2fnuz_x4(packed, 0)),
                              mpnum_e5m2fnuz_to_f32(mpnum_unpack_e5m2fnuz_x4(packed, 1)),
                              mpnum_e5m2fnuz_to_f32(mpnum_unpack_e5m2fnuz_x4(packed, 2)),
                              mpnum_e5m2fnuz_to_f32(mpnum_unpack_e5m2fnuz_x4(packed, 3))};
  return values;
}
/* End of what tools/wrappers wrote. */

#endif

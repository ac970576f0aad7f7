/* SPDX-License-Identifier: MIT */
/* e4m3fnuz: FP8 of AMD CDNA 3 and Graphcore.
 *
 *     sign | exponent 4 | mantissa 3
 *        7   6         3   2        0
 *
 *     bias 8, max 240 (7f), min 2^-7 (08), true min 2^-10 (01)
 *     no Inf, no -0, NaN 80
 */
#ifndef MPNUM_E4M3FNUZ_H
#define MPNUM_E4M3FNUZ_H

#include "query.h"

/* Written by tools/wrappers (format e4m3fnuz): do not edit. */
#define MPNUM_E4M3FNUZ_MAX      240.0f
#define MPNUM_E4M3FNUZ_MIN      0.0078125f
#define MPNUM_E4M3FNUZ_TRUE_MIN 0.0009765625f
#define MPNUM_E4M3FNUZ_EPSILON  0.125f
#define MPNUM_E4M3FNUZ_MANT_DIG 4
#define MPNUM_E4M3FNUZ_DIG      0
#define MPNUM_E4M3FNUZ_MIN_EXP  (-6)
#define MPNUM_E4M3FNUZ_MAX_EXP  8

MPNUM_INLINE mpnum_e4m3fnuz mpnum_from_bits_e4m3fnuz(uint32_t code) {
  const mpnum_e4m3fnuz x = {(uint8_t)code};
  return x;
}

/* From f32 and f64, rounded once: nearest even without suffix, stochastic (_sr; random
 * as in mpnum_encode), or the mode given (_round). _sat saturates; the other forms
 * overflow as IEEE 754 has it for the mode, NaN standing in for Inf. */
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f32_to_e4m3fnuz_round(float x, mpnum_rounding rounding,
                                                        mpnum_overflow overflow,
                                                        uint32_t random) {
  return mpnum_from_bits_e4m3fnuz(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f64_to_e4m3fnuz_round(double x, mpnum_rounding rounding,
                                                        mpnum_overflow overflow,
                                                        uint32_t random) {
  return mpnum_from_bits_e4m3fnuz(mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ),
                                                   x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f32_to_e4m3fnuz(float x) {
  return mpnum_f32_to_e4m3fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f32_to_e4m3fnuz_sat(float x) {
  return mpnum_f32_to_e4m3fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE,
                                     0);
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f64_to_e4m3fnuz(double x) {
  return mpnum_f64_to_e4m3fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f64_to_e4m3fnuz_sat(double x) {
  return mpnum_f64_to_e4m3fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE,
                                     0);
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f32_to_e4m3fnuz_sr(float x, uint32_t random) {
  return mpnum_f32_to_e4m3fnuz_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE,
                                     random);
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f32_to_e4m3fnuz_sr_sat(float x, uint32_t random) {
  return mpnum_f32_to_e4m3fnuz_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE,
                                     random);
}

/* To f32 and f64, exact. NaN: canonical, 0x7fffffff and 0x7fffffffffffffff. */
MPNUM_INLINE float mpnum_e4m3fnuz_to_f32(mpnum_e4m3fnuz x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE double mpnum_e4m3fnuz_to_f64(mpnum_e4m3fnuz x) {
  return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}

/* Queries, as in query.h. */
MPNUM_INLINE int mpnum_isnan_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_isnan(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_isinf_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_isinf(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_isfinite_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_isfinite(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_is_normal_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_is_normal(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_is_subnormal_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_is_subnormal(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_is_zero_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_is_zero(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE int mpnum_signbit_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_signbit(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_next_up_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_from_bits_e4m3fnuz(
      mpnum_next_up(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits));
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_next_down_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_from_bits_e4m3fnuz(
      mpnum_next_down(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits));
}
MPNUM_INLINE float mpnum_ulp_e4m3fnuz(mpnum_e4m3fnuz x) {
  return mpnum_ulp(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}
MPNUM_INLINE uint32_t mpnum_ulp_distance_e4m3fnuz(mpnum_e4m3fnuz a, mpnum_e4m3fnuz b) {
  return mpnum_ulp_distance(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), a.bits, b.bits);
}
MPNUM_INLINE int mpnum_compare_e4m3fnuz(mpnum_e4m3fnuz a, mpnum_e4m3fnuz b) {
  return mpnum_compare(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), a.bits, b.bits);
}
MPNUM_INLINE int mpnum_total_order_e4m3fnuz(mpnum_e4m3fnuz a, mpnum_e4m3fnuz b) {
  return mpnum_total_order(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), a.bits, b.bits);
}

/* Two in 16 bits and four in 32 bits, element 0 in the low byte. */
typedef struct mpnum_e4m3fnuzx2 {
  uint16_t bits;
} mpnum_e4m3fnuzx2;
typedef struct mpnum_e4m3fnuzx4 {
  uint32_t bits;
} mpnum_e4m3fnuzx4;

MPNUM_INLINE mpnum_e4m3fnuzx2 mpnum_pack_e4m3fnuz_x2(mpnum_e4m3fnuz a, mpnum_e4m3fnuz b) {
  const mpnum_e4m3fnuzx2 packed = {(uint16_t)((uint32_t)a.bits | (uint32_t)b.bits << 8)};
  return packed;
}
/* Element index, 0 to 1. */
MPNUM_INLINE mpnum_e4m3fnuz mpnum_unpack_e4m3fnuz_x2(mpnum_e4m3fnuzx2 packed, int index) {
  return mpnum_from_bits_e4m3fnuz((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
MPNUM_INLINE mpnum_e4m3fnuzx2 mpnum_f32_to_e4m3fnuz_x2(float a, float b) {
  return mpnum_pack_e4m3fnuz_x2(mpnum_f32_to_e4m3fnuz(a), mpnum_f32_to_e4m3fnuz(b));
}
MPNUM_INLINE mpnum_e4m3fnuzx2 mpnum_f32_to_e4m3fnuz_sat_x2(float a, float b) {
  return mpnum_pack_e4m3fnuz_x2(mpnum_f32_to_e4m3fnuz_sat(a),
                                mpnum_f32_to_e4m3fnuz_sat(b));
}
MPNUM_INLINE mpnum_f32x2 mpnum_e4m3fnuz_to_f32_x2(mpnum_e4m3fnuzx2 packed) {
  const mpnum_f32x2 values = {mpnum_e4m3fnuz_to_f32(mpnum_unpack_e4m3fnuz_x2(packed, 0)),
                              mpnum_e4m3fnuz_to_f32(mpnum_unpack_e4m3fnuz_x2(packed, 1))};
  return values;
}

MPNUM_INLINE mpnum_e4m3fnuzx4 mpnum_pack_e4m3fnuz_x4(mpnum_e4m3fnuz a, mpnum_e4m3fnuz b,
                                                     mpnum_e4m3fnuz c, mpnum_e4m3fnuz d) {
  const mpnum_e4m3fnuzx4 packed = {(uint32_t)a.bits | (uint32_t)b.bits << 8 |
                                   (uint32_t)c.bits << 16 | (uint32_t)d.bits << 24};
  return packed;
}
/* Element index, 0 to 3. */
MPNUM_INLINE mpnum_e4m3fnuz mpnum_unpack_e4m3fnuz_x4(mpnum_e4m3fnuzx4 packed, int index) {
  return mpnum_from_bits_e4m3fnuz((uint32_t)packed.bits >> (index * 8) & 0xffu);
}
MPNUM_INLINE mpnum_e4m3fnuzx4 mpnum_f32_to_e4m3fnuz_x4(float a, float b, float c,
                                                       float d) {
  return mpnum_pack_e4m3fnuz_x4(mpnum_f32_to_e4m3fnuz(a), mpnum_f32_to_e4m3fnuz(b),
                                mpnum_f32_to_e4m3fnuz(c), mpnum_f32_to_e4m3fnuz(d));
}
MPNUM_INLINE mpnum_e4m3fnuzx4 mpnum_f32_to_e4m3fnuz_sat_x4(float a, float b, float c,
                                                           float d) {
  return mpnum_pack_e4m3fnuz_x4(
      mpnum_f32_to_e4m3fnuz_sat(a), mpnum_f32_to_e4m3fnuz_sat(b),
      mpnum_f32_to_e4m3fnuz_sat(c), mpnum_f32_to_e4m3fnuz_sat(d));
}
MPNUM_INLINE mpnum_f32x4 mpnum_e4m3fnuz_to_f32_x4(mpnum_e4m3fnuzx4 packed) {
  const mpnum_f32x4 values = {mpnum_e4m3fnuz_to_f32(mpnum_unpack_e4m3fnuz_x4(packed, 0)),
                              mpnum_e4m3fnuz_to_f32(mpnum_unpack_e4m3fnuz_x4(packed, 1)),
                              mpnum_e4m3fnuz_to_f32(mpnum_unpack_e4m3fnuz_x4(packed, 2)),
                              mpnum_e4m3fnuz_to_f32(mpnum_unpack_e4m3fnuz_x4(packed, 3))};
  return values;
}
/* End of what tools/wrappers wrote. */

#endif

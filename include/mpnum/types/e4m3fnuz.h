/* SPDX-License-Identifier: MIT */
/* e4m3fnuz: FP8 of AMD CDNA 3 and Graphcore.
 *
 *     sign | exponent 4 | mantissa 3
 *        7   6         3   2        0
 *
 *     bias 8, max 240 (7f), min 2^-7 (08), true min 2^-10 (01)
 *     no Inf, no -0, NaN 80
 */
#ifndef MPNUM_TYPES_E4M3FNUZ_H
#define MPNUM_TYPES_E4M3FNUZ_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format e4m3fnuz): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_E4M3FNUZ_MAX 240.0f

/* The value of a code. */
MPNUM_INLINE mpnum_e4m3fnuz mpnum_from_bits_e4m3fnuz(uint32_t code) {
  const mpnum_e4m3fnuz x = {(uint8_t)code};
  return x;
}

/* From f32, rounded once: nearest even without suffix, or the mode given (_round;
 * random as in mpnum_encode). _sat saturates; the other forms overflow as IEEE 754 has
 * it for the mode, NaN standing in for Inf. */
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f32_to_e4m3fnuz_round(float x, mpnum_rounding rounding,
                                                        mpnum_overflow overflow,
                                                        uint32_t random) {
  return mpnum_from_bits_e4m3fnuz(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f32_to_e4m3fnuz(float x) {
  return mpnum_f32_to_e4m3fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e4m3fnuz mpnum_f32_to_e4m3fnuz_sat(float x) {
  return mpnum_f32_to_e4m3fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE,
                                     0);
}

/* To f32, exact. NaN: canonical, 0x7fffffff. */
MPNUM_INLINE float mpnum_e4m3fnuz_to_f32(mpnum_e4m3fnuz x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E4M3FNUZ), x.bits);
}

/* Doubles and queries: mpnum_encode_f64, mpnum_decode_f64, mpnum_isnan and their like
 * take mpnum_format_of(MPNUM_TYPE_E4M3FNUZ). */
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

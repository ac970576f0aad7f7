/* SPDX-License-Identifier: MIT */
/* e5m2fnuz: FP8 of AMD CDNA 3 and Graphcore.
 *
 *     sign | exponent 5 | mantissa 2
 *        7   6         2   1        0
 *
 *     bias 16, max 57344 (7f), min 2^-15 (04), true min 2^-17 (01)
 *     no Inf, no -0, NaN 80
 */
#ifndef MPNUM_TYPES_E5M2FNUZ_H
#define MPNUM_TYPES_E5M2FNUZ_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format e5m2fnuz): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_E5M2FNUZ_MAX 57344.0f

/* The value of a code. */
MPNUM_INLINE mpnum_e5m2fnuz mpnum_from_bits_e5m2fnuz(uint32_t code) {
  const mpnum_e5m2fnuz x = {(uint8_t)code};
  return x;
}

/* From f32, rounded once: nearest even without suffix, or the mode given (_round;
 * random as in mpnum_encode). _sat saturates; the other forms overflow as IEEE 754 has
 * it for the mode, NaN standing in for Inf. */
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f32_to_e5m2fnuz_round(float x, mpnum_rounding rounding,
                                                        mpnum_overflow overflow,
                                                        uint32_t random) {
  return mpnum_from_bits_e5m2fnuz(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f32_to_e5m2fnuz(float x) {
  return mpnum_f32_to_e5m2fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e5m2fnuz mpnum_f32_to_e5m2fnuz_sat(float x) {
  return mpnum_f32_to_e5m2fnuz_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE,
                                     0);
}

/* To f32, exact. NaN: canonical, 0x7fffffff. */
MPNUM_INLINE float mpnum_e5m2fnuz_to_f32(mpnum_e5m2fnuz x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E5M2FNUZ), x.bits);
}

/* Doubles and queries: mpnum_encode_f64, mpnum_decode_f64, mpnum_isnan and their like
 * take mpnum_format_of(MPNUM_TYPE_E5M2FNUZ). */
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

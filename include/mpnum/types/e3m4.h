/* SPDX-License-Identifier: MIT */
/* e3m4: IEEE-style FP8 with the most precision, for weights and optimizer state.
 *
 *     sign | exponent 3 | mantissa 4
 *        7   6         4   3        0
 *
 *     bias 3, max 15.5 (6f), min 2^-2 (10), true min 2^-6 (01)
 *     Inf 70, NaN 71 to 7f, canonical 78
 */
#ifndef MPNUM_TYPES_E3M4_H
#define MPNUM_TYPES_E3M4_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format e3m4): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_E3M4_MAX 15.5f

/* The value of a code. */
MPNUM_INLINE mpnum_e3m4 mpnum_from_bits_e3m4(uint32_t code) {
  const mpnum_e3m4 x = {(uint8_t)code};
  return x;
}

/* From f32, rounded once: nearest even without suffix, or the mode given (_round;
 * random as in mpnum_encode). _sat saturates; the other forms overflow as IEEE 754 has
 * it for the mode. NaN: canonical. */
MPNUM_INLINE mpnum_e3m4 mpnum_f32_to_e3m4_round(float x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
  return mpnum_from_bits_e3m4(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_E3M4), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_e3m4 mpnum_f32_to_e3m4(float x) {
  return mpnum_f32_to_e3m4_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_e3m4 mpnum_f32_to_e3m4_sat(float x) {
  return mpnum_f32_to_e3m4_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}

/* To f32, exact. NaN: canonical, 0x7fffffff. */
MPNUM_INLINE float mpnum_e3m4_to_f32(mpnum_e3m4 x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_E3M4), x.bits);
}

/* Doubles and queries: mpnum_encode_f64, mpnum_decode_f64, mpnum_isnan and their like
 * take mpnum_format_of(MPNUM_TYPE_E3M4). */
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

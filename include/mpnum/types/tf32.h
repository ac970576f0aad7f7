/* SPDX-License-Identifier: MIT */
/* tf32: an f32 whose low 13 mantissa bits are zero, the input of tensor cores.
 *
 *     sign | exponent 8 | mantissa 10 | 0
 *       31   30       23   22      13   12   0
 *
 *     bias 127, max 0x1.ffcp127 (7f7fe000), min 2^-126 (00800000), true min 2^-136
 *     Inf 7f800000, NaN: exponent 255 and mantissa not 0, canonical 7fffe000
 *
 * A word with nonzero low bits is masked before it is decoded or classified; a NaN stays
 * a NaN.
 */
#ifndef MPNUM_TYPES_TF32_H
#define MPNUM_TYPES_TF32_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (format tf32): do not edit. */
/* Limits, as in <float.h>. */
#define MPNUM_TF32_MAX      3.40116213e+38f
#define MPNUM_TF32_MIN      1.17549435e-38f
#define MPNUM_TF32_TRUE_MIN 1.14794370e-41f
#define MPNUM_TF32_EPSILON  0.0009765625f

/* The value of a code. */
MPNUM_INLINE mpnum_tf32 mpnum_from_bits_tf32(uint32_t code) {
  const mpnum_tf32 x = {code};
  return x;
}

/* From f32 and f64, rounded once: nearest even without suffix, toward zero (_rz),
 * nearest away (_rna), stochastic (_sr; random as in mpnum_encode), or the mode given
 * (_round). _sat saturates; the other forms overflow as IEEE 754 has it for the mode.
 * NaN: canonical. */
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32_round(float x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
#if MPNUM_HAS_HW_TF32_RNA_
  if (rounding == MPNUM_ROUND_NEAREST_AWAY ||
      (MPNUM_HAS_HW_TF32_ && rounding <= MPNUM_ROUND_TOWARD_ZERO))
    return mpnum_from_bits_tf32(mpnum_cvt_tf32_(x, rounding, overflow));
#endif
  return mpnum_from_bits_tf32(
      mpnum_encode(mpnum_format_of(MPNUM_TYPE_TF32), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_tf32 mpnum_f64_to_tf32_round(double x, mpnum_rounding rounding,
                                                mpnum_overflow overflow,
                                                uint32_t random) {
  return mpnum_from_bits_tf32(
      mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_TF32), x, rounding, overflow, random));
}
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32(float x) {
  return mpnum_f32_to_tf32_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32_sat(float x) {
  return mpnum_f32_to_tf32_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_tf32 mpnum_f64_to_tf32(double x) {
  return mpnum_f64_to_tf32_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_tf32 mpnum_f64_to_tf32_sat(double x) {
  return mpnum_f64_to_tf32_round(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32_rz(float x) {
  return mpnum_f32_to_tf32_round(x, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32_rz_sat(float x) {
  return mpnum_f32_to_tf32_round(x, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32_rna(float x) {
  return mpnum_f32_to_tf32_round(x, MPNUM_ROUND_NEAREST_AWAY, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32_rna_sat(float x) {
  return mpnum_f32_to_tf32_round(x, MPNUM_ROUND_NEAREST_AWAY, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32_sr(float x, uint32_t random) {
  return mpnum_f32_to_tf32_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, random);
}
MPNUM_INLINE mpnum_tf32 mpnum_f32_to_tf32_sr_sat(float x, uint32_t random) {
  return mpnum_f32_to_tf32_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE,
                                 random);
}

/* To f32 and f64, exact. NaN: to f32 sign and payload are kept, to f64 it is canonical.
 */
MPNUM_INLINE float mpnum_tf32_to_f32(mpnum_tf32 x) {
  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_TF32), x.bits);
}
MPNUM_INLINE double mpnum_tf32_to_f64(mpnum_tf32 x) {
  return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_TF32), x.bits);
}

/* Queries: mpnum_isnan and its like take mpnum_format_of(MPNUM_TYPE_TF32). */
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

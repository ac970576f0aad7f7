/* SPDX-License-Identifier: MIT */
/* Questions about one code of any format: class, neighbours, gap, order; and the limits
 * of a format. bf16, f16, e5m2 and e4m3 have some of them with the format filled in
 * (mpnum_isnan_e4m3, ...). Integers only: -ffast-math does not remove a NaN
 * test. */
#ifndef MPNUM_CORE_QUERY_H
#define MPNUM_CORE_QUERY_H

#include "detail/hardware.h"
#include "round.h"
MPNUM_C_BEGIN_

#define MPNUM_UNORDERED 2 /* result of a comparison with a NaN */

MPNUM_INLINE uint32_t mpnum_magnitude_(mpnum_format format, uint32_t code) {
  return code & (((uint32_t)1 << (format.exponent_bits + format.mantissa_bits)) - 1);
}

/* Magnitude code of the smallest normal number. */
MPNUM_INLINE uint32_t mpnum_min_code_(mpnum_format format) {
  return format.has_zero ? (uint32_t)1 << format.mantissa_bits : 0;
}

/* Class of a code: 1 or 0. In fnuz formats the NaN, whose code is that of -0 elsewhere,
 * has its sign bit set. */
MPNUM_INLINE int mpnum_isnan(mpnum_format format, uint32_t code) {
  return mpnum_code_isnan_(format, mpnum_code_(format, code));
}
MPNUM_INLINE int mpnum_isinf(mpnum_format format, uint32_t code) {
  return format.inf_code &&
         mpnum_magnitude_(format, mpnum_code_(format, code)) == format.inf_code;
}
MPNUM_INLINE int mpnum_isfinite(mpnum_format format, uint32_t code) {
  return !mpnum_isnan(format, code) && !mpnum_isinf(format, code);
}
MPNUM_INLINE int mpnum_iszero(mpnum_format format, uint32_t code) {
  return format.has_zero && mpnum_magnitude_(format, mpnum_code_(format, code)) == 0 &&
         !mpnum_isnan(format, code);
}
MPNUM_INLINE int mpnum_isnormal(mpnum_format format, uint32_t code) {
  return mpnum_isfinite(format, code) &&
         mpnum_magnitude_(format, mpnum_code_(format, code)) >= mpnum_min_code_(format);
}
MPNUM_INLINE int mpnum_issubnormal(mpnum_format format, uint32_t code) {
  return mpnum_isfinite(format, code) && !mpnum_isnormal(format, code) &&
         !mpnum_iszero(format, code);
}
MPNUM_INLINE int mpnum_signbit(mpnum_format format, uint32_t code) {
  return (int)(mpnum_code_(format, code) >>
                   (format.exponent_bits + format.mantissa_bits) &
               format.sign_bits);
}

/* Position of a code on the number line, in codes from zero; -0 and 0 are both 0. */
MPNUM_INLINE int32_t mpnum_position_(mpnum_format format, uint32_t code) {
  const int32_t magnitude = (int32_t)mpnum_magnitude_(format, mpnum_code_(format, code));
  return mpnum_signbit(format, code) ? -magnitude : magnitude;
}

MPNUM_INLINE uint32_t mpnum_neighbour_(mpnum_format format, uint32_t stored,
                                       uint32_t downward) {
  const uint32_t code = mpnum_code_(format, stored);
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const uint32_t top = format.inf_code ? format.inf_code : format.max_code;
  uint32_t magnitude = mpnum_magnitude_(format, code);
  uint32_t negative = code >> sign_shift & format.sign_bits;
  if (mpnum_code_isnan_(format, code)) return format.nan_code << format.storage_shift;
  if (format.has_zero && magnitude == 0) {
    negative = downward & format.sign_bits;
    magnitude = negative == downward;
  } else if (negative == downward) {
    magnitude += magnitude < top;
  } else {
    magnitude -= magnitude > 0;
  }
  if (magnitude == 0 && !format.has_negative_zero) negative = 0;
  return (negative << sign_shift | magnitude) << format.storage_shift;
}

/* The next code toward +Inf or -Inf (IEEE 754 nextUp, nextDown): past -0 and 0 in one
 * step; the outermost code (Inf, or the largest finite value where there is no Inf) and,
 * in an unsigned format, the lowest one stay. NaN: canonical. */
MPNUM_INLINE uint32_t mpnum_next_up(mpnum_format format, uint32_t code) {
  return mpnum_neighbour_(format, code, 0);
}
MPNUM_INLINE uint32_t mpnum_next_down(mpnum_format format, uint32_t code) {
  return mpnum_neighbour_(format, code, 1);
}

/* The gap from |x| to the next larger magnitude, exponents continued past the largest.
 * Inf gives Inf, NaN gives NaN. */
MPNUM_INLINE float mpnum_ulp(mpnum_format format, uint32_t stored) {
  const uint32_t code = mpnum_code_(format, stored);
  const int field = (int)(mpnum_magnitude_(format, code) >> format.mantissa_bits);
  const int exponent = field + (field == 0 && format.has_zero);
  if (mpnum_isnan(format, stored)) return mpnum_from_bits_f32(0x7fffffffu);
  if (mpnum_isinf(format, stored)) return mpnum_from_bits_f32(0x7f800000u);
  return mpnum_pow2_(exponent - format.bias - format.mantissa_bits);
}

/* How many steps of next_up lead from one code to the other; UINT32_MAX with a NaN. */
MPNUM_INLINE uint32_t mpnum_ulp_distance(mpnum_format format, uint32_t a, uint32_t b) {
  const uint32_t from = (uint32_t)mpnum_position_(format, a);
  const uint32_t to = (uint32_t)mpnum_position_(format, b);
  if (mpnum_isnan(format, a) || mpnum_isnan(format, b)) return 0xffffffffu;
  return mpnum_position_(format, a) < mpnum_position_(format, b) ? to - from : from - to;
}

/* -1, 0 or 1 as a < b, a == b, a > b; MPNUM_UNORDERED with a NaN. -0 equals 0. */
MPNUM_INLINE int mpnum_compare(mpnum_format format, uint32_t a, uint32_t b) {
  const int32_t left = mpnum_position_(format, a);
  const int32_t right = mpnum_position_(format, b);
  if (mpnum_isnan(format, a) || mpnum_isnan(format, b)) return MPNUM_UNORDERED;
  return (left > right) - (left < right);
}

MPNUM_INLINE int32_t mpnum_order_key_(mpnum_format format, uint32_t stored) {
  const uint32_t code = mpnum_code_(format, stored);
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const int32_t magnitude = (int32_t)mpnum_magnitude_(format, code);
  const int nan_is_negative_zero =
      code == format.nan_code && format.nan_code >> sign_shift;
  if (nan_is_negative_zero) return (int32_t)(((uint32_t)1 << sign_shift) - 1) + 1;
  return mpnum_signbit(format, stored) ? -1 - magnitude : magnitude;
}

/* IEEE 754 totalOrder as a three-way comparison, fit for sorting: -1, 0 or 1. -NaN < -Inf
 * < ... < -0 < 0 < ... < Inf < NaN; the one NaN of fnuz formats and of e8m0 comes last.
 */
MPNUM_INLINE int mpnum_total_order(mpnum_format format, uint32_t a, uint32_t b) {
  const int32_t left = mpnum_order_key_(format, a);
  const int32_t right = mpnum_order_key_(format, b);
  return (left > right) - (left < right);
}

/* Limits, with the meaning of <float.h>: max the largest finite value, min the smallest
 * normal one, true_min the smallest above zero, epsilon the gap above 1, mant_dig the
 * significand's bits with the implicit one, dig the decimal digits that survive a round
 * trip, and 2^(min_exp - 1) is min, 2^max_exp the power of two next above max. */
MPNUM_INLINE float mpnum_format_max(mpnum_format format) {
  return mpnum_from_bits_f32(mpnum_decode_finite_(format, format.max_code));
}
MPNUM_INLINE float mpnum_format_min(mpnum_format format) {
  return mpnum_from_bits_f32(mpnum_decode_finite_(format, mpnum_min_code_(format)));
}
MPNUM_INLINE float mpnum_format_true_min(mpnum_format format) {
  return mpnum_from_bits_f32(mpnum_decode_finite_(format, format.has_zero));
}
MPNUM_INLINE float mpnum_format_epsilon(mpnum_format format) {
  return mpnum_pow2_(-format.mantissa_bits);
}
MPNUM_INLINE int mpnum_format_mant_dig(mpnum_format format) {
  return format.mantissa_bits + 1;
}
MPNUM_INLINE int mpnum_format_dig(mpnum_format format) {
  return format.mantissa_bits * 1233 >> 12; /* 1233 / 4096 is log10(2) to 4 digits */
}
MPNUM_INLINE int mpnum_format_min_exp(mpnum_format format) {
  return (format.has_zero ? 2 : 1) - format.bias;
}
MPNUM_INLINE int mpnum_format_max_exp(mpnum_format format) {
  return (int)(format.max_code >> format.mantissa_bits) - format.bias + 1;
}

MPNUM_C_END_
#endif

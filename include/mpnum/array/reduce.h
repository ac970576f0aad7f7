/* SPDX-License-Identifier: MIT */
/* Reductions of arrays: checks, amax, statistics, sums, dot products, norms. Each reads
 * its array once, at the speed of memory, with the best vector instructions of the CPU,
 * chosen at run time (isa.h).
 *
 *     const size_t i = mpnum_first_nonfinite_f16(gradients, n);
 *     if (i < n) report(i, mpnum_isnan_f16(gradients[i]) ? "NaN" : "Inf");
 *
 * Domain: n elements, n may be 0; any alignment.
 * Bits: checks, amax and statistics are made by integers, sums by doubles added in one
 *   order (below): the same from every instruction set, whatever the compiler's flags
 *   and the floating-point environment. One exception: where the library has no vector
 *   instructions (MPNUM_NO_SIMD, other compilers), a rounding mode other than to nearest
 *   moves sums within their error.
 * Host only. */
#ifndef MPNUM_ARRAY_REDUCE_H
#define MPNUM_ARRAY_REDUCE_H

#include "detail/reduce_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Written by tools/wrappers (reductions): do not edit. */
/* The index of the first element that is Inf or NaN; n if none is. */
MPNUM_HOST size_t mpnum_first_nonfinite_f32(const float *src, size_t n) {
  size_t result = 0;
  MPNUM_CALL_(first_nonfinite_32, (mpnum_limits_of_(MPNUM_TYPE_F32), &result, src, n));
  return result;
}
MPNUM_HOST size_t mpnum_first_nonfinite_bf16(const mpnum_bf16 *src, size_t n) {
  size_t result = 0;
  MPNUM_CALL_(first_nonfinite_16, (mpnum_limits_of_(MPNUM_TYPE_BF16), &result, src, n));
  return result;
}
MPNUM_HOST size_t mpnum_first_nonfinite_f16(const mpnum_f16 *src, size_t n) {
  size_t result = 0;
  MPNUM_CALL_(first_nonfinite_16, (mpnum_limits_of_(MPNUM_TYPE_F16), &result, src, n));
  return result;
}
MPNUM_HOST size_t mpnum_first_nonfinite_e5m2(const mpnum_e5m2 *src, size_t n) {
  size_t result = 0;
  MPNUM_CALL_(first_nonfinite_8, (mpnum_limits_of_(MPNUM_TYPE_E5M2), &result, src, n));
  return result;
}
MPNUM_HOST size_t mpnum_first_nonfinite_e4m3(const mpnum_e4m3 *src, size_t n) {
  size_t result = 0;
  MPNUM_CALL_(first_nonfinite_8, (mpnum_limits_of_(MPNUM_TYPE_E4M3), &result, src, n));
  return result;
}

/* 1 if no element is Inf or NaN, or if there is no element; else 0. Does not read on far
 * behind the first that is. */
MPNUM_HOST int mpnum_all_finite_f32(const float *src, size_t n) {
  return mpnum_first_nonfinite_f32(src, n) == n;
}
MPNUM_HOST int mpnum_all_finite_bf16(const mpnum_bf16 *src, size_t n) {
  return mpnum_first_nonfinite_bf16(src, n) == n;
}
MPNUM_HOST int mpnum_all_finite_f16(const mpnum_f16 *src, size_t n) {
  return mpnum_first_nonfinite_f16(src, n) == n;
}
MPNUM_HOST int mpnum_all_finite_e5m2(const mpnum_e5m2 *src, size_t n) {
  return mpnum_first_nonfinite_e5m2(src, n) == n;
}
MPNUM_HOST int mpnum_all_finite_e4m3(const mpnum_e4m3 *src, size_t n) {
  return mpnum_first_nonfinite_e4m3(src, n) == n;
}

/* The largest magnitude, exact; 0 of no elements, Inf if there is an Inf.
 * NaN: 0x7fffffff if any element is NaN. */
MPNUM_HOST float mpnum_amax_f32(const float *src, size_t n) {
  uint32_t code = 0;
  MPNUM_CALL_(max_code_32, (mpnum_limits_of_(MPNUM_TYPE_F32), &code, src, n));
  return mpnum_amax_of_code_(mpnum_format_of(MPNUM_TYPE_F32), code);
}
MPNUM_HOST float mpnum_amax_bf16(const mpnum_bf16 *src, size_t n) {
  uint32_t code = 0;
  MPNUM_CALL_(max_code_16, (mpnum_limits_of_(MPNUM_TYPE_BF16), &code, src, n));
  return mpnum_amax_of_code_(mpnum_format_of(MPNUM_TYPE_BF16), code);
}
MPNUM_HOST float mpnum_amax_f16(const mpnum_f16 *src, size_t n) {
  uint32_t code = 0;
  MPNUM_CALL_(max_code_16, (mpnum_limits_of_(MPNUM_TYPE_F16), &code, src, n));
  return mpnum_amax_of_code_(mpnum_format_of(MPNUM_TYPE_F16), code);
}
MPNUM_HOST float mpnum_amax_e5m2(const mpnum_e5m2 *src, size_t n) {
  uint32_t code = 0;
  MPNUM_CALL_(max_code_8, (mpnum_limits_of_(MPNUM_TYPE_E5M2), &code, src, n));
  return mpnum_amax_of_code_(mpnum_format_of(MPNUM_TYPE_E5M2), code);
}
MPNUM_HOST float mpnum_amax_e4m3(const mpnum_e4m3 *src, size_t n) {
  uint32_t code = 0;
  MPNUM_CALL_(max_code_8, (mpnum_limits_of_(MPNUM_TYPE_E4M3), &code, src, n));
  return mpnum_amax_of_code_(mpnum_format_of(MPNUM_TYPE_E4M3), code);
}

/* Statistics in one pass: mpnum_stats_add of every element to mpnum_stats_empty(). Slower
 * where there are subnormals, Infs or NaNs, up to three times. */
MPNUM_HOST mpnum_stats mpnum_stats_f32(const float *src, size_t n) {
  mpnum_codes_ codes = mpnum_no_codes_();
  MPNUM_CALL_(stats_32, (mpnum_limits_of_(MPNUM_TYPE_F32), &codes, src, n));
  return mpnum_stats_of_codes_(mpnum_format_of(MPNUM_TYPE_F32), codes);
}
MPNUM_HOST mpnum_stats mpnum_stats_bf16(const mpnum_bf16 *src, size_t n) {
  mpnum_codes_ codes = mpnum_no_codes_();
  MPNUM_CALL_(stats_16, (mpnum_limits_of_(MPNUM_TYPE_BF16), &codes, src, n));
  return mpnum_stats_of_codes_(mpnum_format_of(MPNUM_TYPE_BF16), codes);
}
MPNUM_HOST mpnum_stats mpnum_stats_f16(const mpnum_f16 *src, size_t n) {
  mpnum_codes_ codes = mpnum_no_codes_();
  MPNUM_CALL_(stats_16, (mpnum_limits_of_(MPNUM_TYPE_F16), &codes, src, n));
  return mpnum_stats_of_codes_(mpnum_format_of(MPNUM_TYPE_F16), codes);
}
MPNUM_HOST mpnum_stats mpnum_stats_e5m2(const mpnum_e5m2 *src, size_t n) {
  mpnum_codes_ codes = mpnum_no_codes_();
  MPNUM_CALL_(stats_8, (mpnum_limits_of_(MPNUM_TYPE_E5M2), &codes, src, n));
  return mpnum_stats_of_codes_(mpnum_format_of(MPNUM_TYPE_E5M2), codes);
}
MPNUM_HOST mpnum_stats mpnum_stats_e4m3(const mpnum_e4m3 *src, size_t n) {
  mpnum_codes_ codes = mpnum_no_codes_();
  MPNUM_CALL_(stats_8, (mpnum_limits_of_(MPNUM_TYPE_E4M3), &codes, src, n));
  return mpnum_stats_of_codes_(mpnum_format_of(MPNUM_TYPE_E4M3), codes);
}
/* End of what tools/wrappers wrote. */

/* Add to an exact sum, which merges with others (exact_sum.h): the values, their
 * squares, or the products of two arrays. An array is cut into tiles of 2048 elements
 * from its start. Each term, an exact double, is added in double to lane i % 64 of its
 * tile; then the upper half of the lanes is added to the lower one until one lane is
 * left. Tiles are added exactly. So the sum is the same if the array is cut at multiples
 * of 2048 and the parts are added, in any order, to one sum or to several that are
 * merged.
 * Domain: f32, bf16, f16, e5m2, e4m3. Nothing overflows or underflows on the way.
 * NaN: as IEEE 754 adds: from a NaN, from Infs of both signs, from Inf * 0.
 * Error: 39 * 2^-53 of the sum of the magnitudes, for the at most 38 additions that a
 *   term goes through; then one rounding, by mpnum_exact_sum_value or
 *   mpnum_exact_sum_root. (test_reduce_sums.c)
 * Status codes: MPNUM_ERROR_TYPE: another type; MPNUM_ERROR_NULL: a pointer is NULL and
 *   n is not 0. Nothing is added then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_exact_sum_add(mpnum_exact_sum *total,
                                                             mpnum_type type,
                                                             const void *src, size_t n) {
  return mpnum_sum_any_(mpnum_values_, type, total, src, 0, n);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_exact_sum_add_squares(
    mpnum_exact_sum *total, mpnum_type type, const void *src, size_t n) {
  return mpnum_sum_any_(mpnum_squares_, type, total, src, 0, n);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_exact_sum_add_products(
    mpnum_exact_sum *total, mpnum_type type, const void *a, const void *b, size_t n) {
  return mpnum_sum_any_(mpnum_products_, type, total, b ? a : b, b, n);
}

/* A dot product in floats, as BLAS has it, but with the same bits from every instruction
 * set: element i is added to sum i % 64 by a fma, then the upper half of the sums to the
 * lower one until there is one. Its error is at most (n / 64 + 7) 2^-24 of the sum of all
 * |a b|, where nothing overflows or is subnormal. */
MPNUM_HOST float mpnum_dot_light_f32(const float *a, const float *b, size_t n) {
  return mpnum_dot_in_floats_((const uint8_t *)a, (const uint8_t *)b, n);
}

/* Sums of one array, rounded: the sum; the sum of a[i] * b[i], where a may be b; the
 * square root of the sum of squares. A sum of 0 is +0. A result past the largest float
 * is Inf, and only then: norms of 1e38 and of 1e-45 are right.
 * NaN: 0x7fffffff.
 * Error: as above; 0.5001 ulp if all terms have one sign. (test_reduce_sums.c) */
/* Written by tools/wrappers (sums): do not edit. */
MPNUM_HOST float mpnum_sum_f32(const float *src, size_t n) {
  return mpnum_f64_to_f32(mpnum_sum_to_odd_(mpnum_values_, 0, 4, src, 0, n));
}
MPNUM_HOST float mpnum_sum_bf16(const mpnum_bf16 *src, size_t n) {
  return mpnum_f64_to_f32(
      mpnum_sum_to_odd_(mpnum_values_, mpnum_bf16_floats_, 2, src, 0, n));
}
MPNUM_HOST float mpnum_sum_f16(const mpnum_f16 *src, size_t n) {
  return mpnum_f64_to_f32(
      mpnum_sum_to_odd_(mpnum_values_, mpnum_f16_floats_, 2, src, 0, n));
}

/* Of products: a dot product. */
MPNUM_HOST float mpnum_dot_f32(const float *a, const float *b, size_t n) {
  return mpnum_f64_to_f32(mpnum_sum_to_odd_(mpnum_products_, 0, 4, a, b, n));
}
MPNUM_HOST float mpnum_dot_bf16(const mpnum_bf16 *a, const mpnum_bf16 *b, size_t n) {
  return mpnum_f64_to_f32(
      mpnum_sum_to_odd_(mpnum_products_, mpnum_bf16_floats_, 2, a, b, n));
}
MPNUM_HOST float mpnum_dot_f16(const mpnum_f16 *a, const mpnum_f16 *b, size_t n) {
  return mpnum_f64_to_f32(
      mpnum_sum_to_odd_(mpnum_products_, mpnum_f16_floats_, 2, a, b, n));
}

/* The square root of that of squares: an L2 norm. */
MPNUM_HOST float mpnum_norm_f32(const float *src, size_t n) {
  return mpnum_root_(mpnum_sum_to_odd_(mpnum_squares_, 0, 4, src, 0, n));
}
MPNUM_HOST float mpnum_norm_bf16(const mpnum_bf16 *src, size_t n) {
  return mpnum_root_(mpnum_sum_to_odd_(mpnum_squares_, mpnum_bf16_floats_, 2, src, 0, n));
}
MPNUM_HOST float mpnum_norm_f16(const mpnum_f16 *src, size_t n) {
  return mpnum_root_(mpnum_sum_to_odd_(mpnum_squares_, mpnum_f16_floats_, 2, src, 0, n));
}
/* End of what tools/wrappers wrote. */

#endif
MPNUM_C_END_
#endif

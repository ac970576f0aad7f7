/* SPDX-License-Identifier: MIT */
/* The operations in which the .inc files are written, as explained in avx512.h, for SSE2,
 * which every x86-64 has. */
#ifndef MPNUM_SIMD_DETAIL_SSE2_H
#define MPNUM_SIMD_DETAIL_SSE2_H

#include "../../core/detail/environment.h"
#include "codings.h"
#include "../isa.h"
#include "vector_class.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_X86_SIMD_

# include <emmintrin.h>

# define MPNUM_SSE2_ MPNUM_FORCED_

# include "operations.inc"
# define MPNUM_ISA_HERE_ 1
# include "isa_begin.inc"

# if MPNUM_HAS_GNU_
typedef uint32_t mpnumv_vector __attribute__((__vector_size__(16)));
typedef uint16_t mpnum_u16_sse2_ __attribute__((__vector_size__(16)));
typedef uint8_t mpnumv_bytes __attribute__((__vector_size__(16)));
# else
MPNUM_VECTOR_CLASSES_(sse2, _mm, __m128, 128)
MPNUM_FORCED_ mpnumv_vector operator*(mpnumv_vector a, mpnumv_vector b) {
  const __m128i even = _mm_mul_epu32(a, b);
  const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32));
  return _mm_unpacklo_epi32(_mm_shuffle_epi32(even, 0x08), _mm_shuffle_epi32(odd, 0x08));
}
MPNUM_FORCED_ mpnumv_bytes operator!=(mpnumv_bytes a, mpnumv_bytes b) {
  return ~(mpnumv_bytes)_mm_cmpeq_epi8(a, b);
}
# endif
typedef __m128i mpnumv_mask;
typedef mpnumv_vector mpnumv_f32; /* floats as their bits */

MPNUM_SSE2_ mpnumv_vector mpnumv_splat(uint32_t x) {
  return (mpnumv_vector)_mm_set1_epi32((int)x);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_bits_of(mpnumv_f32 x) { return x; }
MPNUM_SSE2_ mpnumv_f32 mpnumv_f32_of(mpnumv_vector bits) { return bits; }
MPNUM_SSE2_ mpnumv_f32 mpnumv_constant(uint32_t bits) { return mpnumv_splat(bits); }
MPNUM_SSE2_ mpnumv_vector mpnumv_iota(void) {
  return (mpnumv_vector)_mm_setr_epi32(0, 1, 2, 3);
}
MPNUM_SSE2_ mpnumv_mask mpnumv_greater(mpnumv_vector a, mpnumv_vector b) {
  return _mm_cmpgt_epi32((__m128i)a, (__m128i)b);
}
MPNUM_SSE2_ mpnumv_mask mpnumv_less(mpnumv_vector a, mpnumv_vector b) {
  return _mm_cmpgt_epi32((__m128i)(b ^ 0x80000000u), (__m128i)(a ^ 0x80000000u));
}
MPNUM_SSE2_ mpnumv_mask mpnumv_equal(mpnumv_vector a, mpnumv_vector b) {
  return _mm_cmpeq_epi32((__m128i)a, (__m128i)b);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_select(mpnumv_mask mask, mpnumv_vector a,
                                        mpnumv_vector b) {
  const mpnumv_vector lanes = (mpnumv_vector)mask;
  return (a & lanes) | (b & ~lanes);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_where(mpnumv_mask mask, mpnumv_vector x) {
  return (mpnumv_vector)mask & x;
}
MPNUM_SSE2_ mpnumv_vector mpnumv_min(mpnumv_vector a, mpnumv_vector b) {
  return mpnumv_select(mpnumv_greater(a, b), b, a);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_max(mpnumv_vector a, mpnumv_vector b) {
  return mpnumv_select(mpnumv_greater(a, b), a, b);
}
/* There is no shift by counts of a vector: one shift for each bit of the count. */
MPNUM_LARGE_ mpnumv_vector mpnumv_shl(mpnumv_vector x, mpnumv_vector count) {
  const mpnumv_vector zero = mpnumv_splat(0);
  int bit = 1;
  for (; bit < 32; bit *= 2)
    x = mpnumv_select(mpnumv_equal(count & (uint32_t)bit, zero), x, x << bit);
  return mpnumv_select(mpnumv_equal(count >> 5, zero), x, zero);
}
MPNUM_LARGE_ mpnumv_vector mpnumv_shr(mpnumv_vector x, mpnumv_vector count) {
  const mpnumv_vector zero = mpnumv_splat(0);
  int bit = 1;
  for (; bit < 32; bit *= 2)
    x = mpnumv_select(mpnumv_equal(count & (uint32_t)bit, zero), x, x >> bit);
  return mpnumv_select(mpnumv_equal(count >> 5, zero), x, zero);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_shr_by(mpnumv_vector x, int count) {
  return (mpnumv_vector)_mm_srl_epi32((__m128i)x, _mm_cvtsi32_si128(count));
}
MPNUM_SSE2_ mpnumv_vector mpnumv_shl_by(mpnumv_vector x, int count) {
  return (mpnumv_vector)_mm_sll_epi32((__m128i)x, _mm_cvtsi32_si128(count));
}

MPNUM_SSE2_ mpnumv_mask mpnumv_is_nan(mpnumv_vector x) {
  return mpnumv_greater(x & 0x7fffffffu, mpnumv_splat(0x7f800000u));
}
MPNUM_SSE2_ mpnumv_vector mpnumv_smaller_magnitude(mpnumv_vector a, mpnumv_vector b) {
  return mpnumv_min(a & 0x7fffffffu, b & 0x7fffffffu);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_clamped_magnitude(mpnumv_vector x, uint32_t limit) {
  return mpnumv_min(x & 0x7fffffffu, mpnumv_splat(limit));
}
MPNUM_SSE2_ mpnumv_vector mpnumv_add_floats(mpnumv_vector a, mpnumv_vector b) {
  __m128 sum = _mm_add_ps((__m128)a, (__m128)b);
  MPNUM_HIDE_(sum); /* -ffast-math must not see through it */
  return (mpnumv_vector)sum;
}
MPNUM_SSE2_ mpnumv_vector mpnumv_add_scaled(mpnumv_vector power, mpnumv_vector x,
                                            float scale) {
  __m128 sum = _mm_mul_ps((__m128)x, _mm_set1_ps(scale)); /* exact, or far below half */
  sum = _mm_add_ps(sum, (__m128)power);
  MPNUM_HIDE_(sum); /* -ffast-math must not see through it */
  return (mpnumv_vector)sum;
}
MPNUM_SSE2_ mpnumv_f32 mpnumv_f32_of_whole(mpnumv_vector x) {
  return (mpnumv_vector)_mm_cvtepi32_ps((__m128i)x);
}

MPNUM_SSE2_ mpnumv_vector mpnumv_mul_power(mpnumv_vector x, float scale) {
  return (mpnumv_vector)_mm_mul_ps((__m128)x, _mm_set1_ps(scale));
}
MPNUM_SSE2_ mpnumv_vector mpnumv_scaled(mpnumv_vector x, float scale) {
  return mpnumv_mul_power(mpnumv_bits_of(mpnumv_f32_of_whole(x)), scale);
}

/* Words of func.inc, on floats as bits: rounded once. The asm hides them from
 * -ffast-math, which would divide by way of an estimate, too. */
# if MPNUM_HAS_GNU_
#  define MPNUM_F32_OPERATION_(name, instruction, intrinsic)          \
   MPNUM_SSE2_ mpnumv_vector name(mpnumv_vector a, mpnumv_vector b) { \
    __m128 x = (__m128)a;                                             \
    __asm__(instruction " %1, %0" : "+x"(x) : "x"((__m128)b));        \
    return (mpnumv_vector)x;                                          \
   }
# else
#  define MPNUM_F32_OPERATION_(name, instruction, intrinsic)          \
   MPNUM_SSE2_ mpnumv_vector name(mpnumv_vector a, mpnumv_vector b) { \
    return (mpnumv_vector)intrinsic((__m128)a, (__m128)b);            \
   }
# endif
MPNUM_F32_OPERATION_(mpnumv_add, "addps", _mm_add_ps)
MPNUM_F32_OPERATION_(mpnumv_sub, "subps", _mm_sub_ps)
MPNUM_F32_OPERATION_(mpnumv_mul, "mulps", _mm_mul_ps)
MPNUM_F32_OPERATION_(mpnumv_div, "divps", _mm_div_ps)
# undef MPNUM_F32_OPERATION_
/* a b + c, as if by one instruction, which SSE2 has not: the product is exact in double,
 * the sum is rounded to double and then to float. That is once too often only where the
 * 29 bits that the second rounding drops are one half exactly, or the result is
 * subnormal; there the sum is rounded to odd first (Boldo, Melquiond 2008). */
# if MPNUM_HAS_GNU_
#  define MPNUM_F64_OPERATION_(name, instruction, intrinsic) \
   MPNUM_SSE2_ __m128d name(__m128d a, __m128d b) {          \
    __asm__(instruction " %1, %0" : "+x"(a) : "x"(b));       \
    return a;                                                \
   }
# else
#  define MPNUM_F64_OPERATION_(name, instruction, intrinsic) \
   MPNUM_SSE2_ __m128d name(__m128d a, __m128d b) { return intrinsic(a, b); }
# endif
MPNUM_F64_OPERATION_(mpnumv_add_pair, "addpd", _mm_add_pd)
MPNUM_F64_OPERATION_(mpnumv_sub_pair, "subpd", _mm_sub_pd)
MPNUM_F64_OPERATION_(mpnumv_mul_pair, "mulpd", _mm_mul_pd)
# undef MPNUM_F64_OPERATION_
/* p + c, where it is inexact the neighbour whose last bit is 1; Inf and NaN as they are.
 * The error of the sum is exact (Knuth's TwoSum). */
MPNUM_SSE2_ __m128d mpnumv_odd_sum(__m128d p, __m128d c) {
  const __m128d sum = mpnumv_add_pair(p, c), b = mpnumv_sub_pair(sum, p);
  const __m128d error =
      mpnumv_add_pair(mpnumv_sub_pair(p, mpnumv_sub_pair(sum, b)), mpnumv_sub_pair(c, b));
  const __m128i bits = _mm_castpd_si128(sum), error_bits = _mm_castpd_si128(error);
  const __m128i magnitude = _mm_set1_epi64x(0x7fffffff00000000);
  /* by upper words: no error, or Inf or NaN */
  const __m128i exact = _mm_or_si128(
      _mm_cmpeq_epi32(_mm_and_si128(error_bits, magnitude), _mm_setzero_si128()),
      _mm_cmpgt_epi32(_mm_and_si128(bits, magnitude), _mm_set1_epi32(0x7fefffff)));
  const __m128i even = _mm_andnot_si128(bits, _mm_set1_epi64x(1));
  const __m128i moved = _mm_andnot_si128(_mm_shuffle_epi32(exact, 0xf5), even);
  const __m128i other_sign = _mm_srli_epi64(_mm_xor_si128(bits, error_bits), 63);
  const __m128i back = _mm_and_si128(moved, other_sign);
  return _mm_castsi128_pd(
      _mm_sub_epi64(_mm_add_epi64(bits, moved), _mm_add_epi64(back, back)));
}
/* The two upper floats as doubles. */
MPNUM_SSE2_ __m128d mpnumv_upper_pair(mpnumv_vector x) {
  return _mm_cvtps_pd(_mm_movehl_ps((__m128)x, (__m128)x));
}
MPNUM_SSE2_ __m128d mpnumv_lower_pair(mpnumv_vector x) { return _mm_cvtps_pd((__m128)x); }
MPNUM_SSE2_ mpnumv_vector mpnumv_of_pairs(__m128d lower, __m128d upper) {
  return (mpnumv_vector)_mm_movelh_ps(_mm_cvtpd_ps(lower), _mm_cvtpd_ps(upper));
}
MPNUM_HOST_COLD_ mpnumv_vector mpnumv_fma_by_odd(mpnumv_vector a, mpnumv_vector b,
                                                 mpnumv_vector c) {
  return mpnumv_of_pairs(
      mpnumv_odd_sum(mpnumv_mul_pair(mpnumv_lower_pair(a), mpnumv_lower_pair(b)),
                     mpnumv_lower_pair(c)),
      mpnumv_odd_sum(mpnumv_mul_pair(mpnumv_upper_pair(a), mpnumv_upper_pair(b)),
                     mpnumv_upper_pair(c)));
}
MPNUM_SSE2_ mpnumv_vector mpnumv_fma(mpnumv_vector a, mpnumv_vector b, mpnumv_vector c) {
  const __m128d lower = mpnumv_add_pair(
      mpnumv_mul_pair(mpnumv_lower_pair(a), mpnumv_lower_pair(b)), mpnumv_lower_pair(c));
  const __m128d upper = mpnumv_add_pair(
      mpnumv_mul_pair(mpnumv_upper_pair(a), mpnumv_upper_pair(b)), mpnumv_upper_pair(c));
  const mpnumv_vector low_words =
      (mpnumv_vector)_mm_shuffle_ps(_mm_castpd_ps(lower), _mm_castpd_ps(upper), 0x88);
  const mpnumv_vector high_words =
      (mpnumv_vector)_mm_shuffle_ps(_mm_castpd_ps(lower), _mm_castpd_ps(upper), 0xdd);
  const __m128i one_half =
      _mm_cmpeq_epi32((__m128i)(low_words & 0x1fffffffu), _mm_set1_epi32(0x10000000));
  /* below 2^-126 and not 0, as signed words */
  const __m128i subnormal =
      _mm_cmplt_epi32((__m128i)((high_words & 0x7fffffffu) + 0x7fffffffu),
                      _mm_set1_epi32((int)0xb80fffffu));
  if (MPNUM_SELDOM_(_mm_movemask_epi8(_mm_or_si128(one_half, subnormal))))
    return mpnumv_fma_by_odd(a, b, c);
  return mpnumv_of_pairs(lower, upper);
}
/* The same where the sum is a double, so that it is rounded once; and where the result is
 * no subnormal. */
MPNUM_SSE2_ mpnumv_vector mpnumv_fma_exact(mpnumv_vector a, mpnumv_vector b,
                                           mpnumv_vector c) {
  const __m128d lower = mpnumv_add_pair(
      mpnumv_mul_pair(mpnumv_lower_pair(a), mpnumv_lower_pair(b)), mpnumv_lower_pair(c));
  const __m128d upper = mpnumv_add_pair(
      mpnumv_mul_pair(mpnumv_upper_pair(a), mpnumv_upper_pair(b)), mpnumv_upper_pair(c));
  return mpnumv_of_pairs(lower, upper);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_fma_normal(mpnumv_vector a, mpnumv_vector b,
                                            mpnumv_vector c) {
  const __m128d lower = mpnumv_add_pair(
      mpnumv_mul_pair(mpnumv_lower_pair(a), mpnumv_lower_pair(b)), mpnumv_lower_pair(c));
  const __m128d upper = mpnumv_add_pair(
      mpnumv_mul_pair(mpnumv_upper_pair(a), mpnumv_upper_pair(b)), mpnumv_upper_pair(c));
  const mpnumv_vector low_words =
      (mpnumv_vector)_mm_shuffle_ps(_mm_castpd_ps(lower), _mm_castpd_ps(upper), 0x88);
  const __m128i one_half =
      _mm_cmpeq_epi32((__m128i)(low_words & 0x1fffffffu), _mm_set1_epi32(0x10000000));
  if (MPNUM_SELDOM_(_mm_movemask_epi8(one_half))) return mpnumv_fma_by_odd(a, b, c);
  return mpnumv_of_pairs(lower, upper);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_clamped_below(mpnumv_vector x, uint32_t low) {
  return mpnumv_select(mpnumv_less(mpnumv_splat(low), x), mpnumv_splat(low), x);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_clamped_above(mpnumv_vector x, uint32_t high) {
  return mpnumv_select(mpnumv_greater(x, mpnumv_splat(high)), mpnumv_splat(high), x);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_clamped_or_nan(mpnumv_vector x, uint32_t low,
                                                uint32_t high) {
  __m128 least = (__m128)mpnumv_splat(low); /* -ffast-math must not see it */
  __m128 most = (__m128)mpnumv_splat(high);
# if MPNUM_HAS_GNU_
  __asm__("minps %1, %0" : "+x"(most) : "x"((__m128)x));
  __asm__("maxps %1, %0" : "+x"(least) : "x"(most));
# else
  least = _mm_max_ps(least, _mm_min_ps(most, (__m128)x));
# endif
  return (mpnumv_vector)least;
}
MPNUM_SSE2_ mpnumv_mask mpnumv_not_below(mpnumv_vector x, uint32_t low) {
  __m128 mask = (__m128)mpnumv_splat(low); /* -ffast-math must not see it */
# if MPNUM_HAS_GNU_
  __asm__("cmpleps %1, %0" : "+x"(mask) : "x"((__m128)x));
# else
  mask = _mm_cmple_ps(mask, (__m128)x);
# endif
  return _mm_castps_si128(mask);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_sqrt_raw(mpnumv_vector x) {
# if MPNUM_HAS_GNU_
  __m128 root;
  __asm__("sqrtps %1, %0" : "=x"(root) : "x"((__m128)x));
  return (mpnumv_vector)root;
# else
  return (mpnumv_vector)_mm_sqrt_ps((__m128)x);
# endif
}

MPNUM_SSE2_ mpnumv_vector mpnumv_larger(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm_max_ps((__m128)a, (__m128)b);
}
/* Stride 1 or 2. */
MPNUM_SSE2_ mpnumv_vector mpnumv_swapped(mpnumv_vector x, int stride) {
  if (stride == 1) return (mpnumv_vector)_mm_shuffle_epi32((__m128i)x, 0xb1);
  return (mpnumv_vector)_mm_shuffle_epi32((__m128i)x, 0x4e);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_butterfly(mpnumv_vector x, int stride) {
  const int sign = (int)0x80000000u;
  const __m128i by_1 = _mm_setr_epi32(0, sign, 0, sign);
  const __m128i by_2 = _mm_setr_epi32(0, 0, sign, sign);
  if (stride == 1) return mpnumv_add(mpnumv_swapped(x, 1), x ^ (mpnumv_vector)by_1);
  return mpnumv_add(mpnumv_swapped(x, 2), x ^ (mpnumv_vector)by_2);
}

MPNUM_SSE2_ int mpnumv_any_above(int bits, mpnumv_vector x, mpnumv_vector limit) {
  const __m128i a = (__m128i)x, b = (__m128i)limit;
  if (bits == 8) return _mm_movemask_epi8(_mm_cmpgt_epi8(a, b)) != 0;
  if (bits == 16) return _mm_movemask_epi8(_mm_cmpgt_epi16(a, b)) != 0;
  return _mm_movemask_epi8(_mm_cmpgt_epi32(a, b)) != 0;
}
MPNUM_SSE2_ void mpnumv_mul_wide(mpnumv_vector a, uint32_t b, mpnumv_vector *high,
                                 mpnumv_vector *low) {
  const __m128i product = _mm_mul_epu32((__m128i)a, (__m128i)mpnumv_splat(b));
  *low = (mpnumv_vector)product;
  *high = (mpnumv_vector)_mm_srli_epi64(product, 32);
}
MPNUM_SSE2_ void mpnumv_store_words(uint8_t *dst, const mpnumv_vector x[4]) {
  const __m128i low01 = _mm_unpacklo_epi32((__m128i)x[0], (__m128i)x[1]);
  const __m128i high01 = _mm_unpackhi_epi32((__m128i)x[0], (__m128i)x[1]);
  const __m128i low23 = _mm_unpacklo_epi32((__m128i)x[2], (__m128i)x[3]);
  const __m128i high23 = _mm_unpackhi_epi32((__m128i)x[2], (__m128i)x[3]);
  _mm_storeu_si128((__m128i *)(void *)dst, _mm_unpacklo_epi64(low01, low23));
  _mm_storeu_si128((__m128i *)(void *)(dst + 16), _mm_unpacklo_epi64(high01, high23));
}
MPNUM_SSE2_ void mpnumv_transpose(mpnumv_vector rows[4]) {
  const __m128i low01 = _mm_unpacklo_epi32((__m128i)rows[0], (__m128i)rows[1]);
  const __m128i high01 = _mm_unpackhi_epi32((__m128i)rows[0], (__m128i)rows[1]);
  const __m128i low23 = _mm_unpacklo_epi32((__m128i)rows[2], (__m128i)rows[3]);
  const __m128i high23 = _mm_unpackhi_epi32((__m128i)rows[2], (__m128i)rows[3]);
  rows[0] = (mpnumv_vector)_mm_unpacklo_epi64(low01, low23);
  rows[1] = (mpnumv_vector)_mm_unpackhi_epi64(low01, low23);
  rows[2] = (mpnumv_vector)_mm_unpacklo_epi64(high01, high23);
  rows[3] = (mpnumv_vector)_mm_unpackhi_epi64(high01, high23);
}
MPNUM_SSE2_ void mpnumv_unzip(mpnumv_vector pair[2]) {
  const __m128 a = (__m128)pair[0], b = (__m128)pair[1];
  pair[0] = (mpnumv_vector)_mm_shuffle_ps(a, b, 0x88);
  pair[1] = (mpnumv_vector)_mm_shuffle_ps(a, b, 0xdd);
}
MPNUM_SSE2_ void mpnumv_zip(mpnumv_vector pair[2]) {
  const __m128i a = (__m128i)pair[0], b = (__m128i)pair[1];
  pair[0] = (mpnumv_vector)_mm_unpacklo_epi32(a, b);
  pair[1] = (mpnumv_vector)_mm_unpackhi_epi32(a, b);
}

MPNUM_SSE2_ mpnumv_vector mpnumv_largest_of_quarters(const mpnumv_vector *x) {
  return x[0];
}

MPNUM_SSE2_ void mpnumv_copy_rest(uint8_t *dst, const uint8_t *src, size_t bytes) {
  MPNUM_MEMCPY_(dst, src, bytes);
}
MPNUM_SSE2_ void mpnumv_copy_padded(uint8_t *dst, const uint8_t *src, size_t bytes,
                                    size_t size) {
  mpnum_copy_padded_(dst, src, bytes, size);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_load8(const uint8_t *src) {
  const __m128i zero = _mm_setzero_si128();
  int word;
  MPNUM_MEMCPY_(&word, src, 4);
  return (mpnumv_vector)_mm_unpacklo_epi16(
      _mm_unpacklo_epi8(_mm_cvtsi32_si128(word), zero), zero);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_load16(const uint8_t *src) {
  return (mpnumv_vector)_mm_unpacklo_epi16(
      _mm_loadl_epi64((const __m128i *)(const void *)src), _mm_setzero_si128());
}
MPNUM_SSE2_ mpnumv_vector mpnumv_load32(const uint8_t *src) {
  return (mpnumv_vector)_mm_loadu_si128((const __m128i *)(const void *)src);
}
MPNUM_SSE2_ void mpnum_load64_sse2_(const uint8_t *src, mpnumv_vector *high,
                                    mpnumv_vector *low) {
  const __m128 a = (__m128)mpnumv_load32(src);
  const __m128 b = (__m128)mpnumv_load32(src + 16);
  *low = (mpnumv_vector)_mm_shuffle_ps(a, b, 0x88);
  *high = (mpnumv_vector)_mm_shuffle_ps(a, b, 0xdd);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_load_nearest64(const uint8_t *src) {
  const __m128 low = _mm_cvtpd_ps((__m128d)mpnumv_load32(src));
  const __m128 high = _mm_cvtpd_ps((__m128d)mpnumv_load32(src + 16));
  return (mpnumv_vector)_mm_movelh_ps(low, high);
}

/* The truncated float, its last bit set where something was cut off. */
MPNUM_SSE2_ mpnumv_vector mpnum_narrow_to_odd_sse2_(mpnumv_vector high,
                                                    mpnumv_vector low) {
  const uint32_t first = (uint32_t)896 << 20; /* 896 = 1023 - 127 */
  const mpnumv_vector zero = mpnumv_splat(0);
  const mpnumv_vector infinity = mpnumv_splat(0x7f800000u);
  const mpnumv_vector nan_bits = mpnumv_splat(0x7fffffffu);
  const mpnumv_vector source_infinity = mpnumv_splat(0x7ff00000u);
  const mpnumv_vector magnitude = high & 0x7fffffffu;
  /* The mantissa in 23 bits with its leading one, and the 29 bits below. A double that is
   * subnormal is below all floats and counts as any of them. */
  const mpnumv_vector significand = ((magnitude & 0xfffffu) | 0x100000u) << 3 | low >> 29;
  const mpnumv_vector rest = low << 3;
  const mpnumv_vector distance =
      mpnumv_min(897 - mpnumv_min(magnitude >> 20, mpnumv_splat(897)), mpnumv_splat(32));
  const mpnumv_vector small_rest = mpnumv_shl(significand, 32 - distance) | rest;
  const mpnumv_mask is_normal = mpnumv_equal(distance, zero);
  const mpnumv_vector code = mpnumv_select(
      is_normal, (magnitude - first) << 3 | low >> 29, mpnumv_shr(significand, distance));
  const mpnumv_vector dropped = mpnumv_select(is_normal, rest, small_rest);
  mpnumv_vector bits = mpnumv_select(mpnumv_equal(dropped, zero), code, code | 1);
  /* Past 2^128 the largest float, which is odd; zero; Inf; NaN, in either word. */
  bits = mpnumv_select(mpnumv_greater(mpnumv_splat((uint32_t)1151 << 20), magnitude),
                       bits, mpnumv_splat(0x7f7fffffu));
  bits = mpnumv_select(mpnumv_equal(magnitude | low, zero), zero, bits);
  bits = mpnumv_select(mpnumv_equal(magnitude, source_infinity),
                       mpnumv_select(mpnumv_equal(low, zero), infinity, nan_bits), bits);
  bits |= high & 0x80000000u;
  return mpnumv_select(mpnumv_greater(magnitude, source_infinity), nan_bits, bits);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_load_odd64(const uint8_t *src) {
  mpnumv_vector high, low;
  mpnum_load64_sse2_(src, &high, &low);
  return mpnum_narrow_to_odd_sse2_(high, low);
}

MPNUM_SSE2_ __m128 mpnum_cut_of_two_sse2_(const uint8_t *src) {
  const __m128i x = (__m128i)mpnumv_load32(src), below = _mm_set1_epi64x(0x1fffffff);
  const __m128i carry = _mm_add_epi64(_mm_and_si128(x, below), below);
  return _mm_cvtpd_ps(_mm_castsi128_pd(_mm_andnot_si128(below, _mm_or_si128(x, carry))));
}
MPNUM_SSE2_ mpnumv_vector mpnumv_load_cut64(const uint8_t *src) {
  return (mpnumv_vector)_mm_movelh_ps(mpnum_cut_of_two_sse2_(src),
                                      mpnum_cut_of_two_sse2_(src + 16));
}

MPNUM_SSE2_ int mpnumv_any_subnormal(mpnumv_vector a, mpnumv_vector b) {
  const mpnumv_vector limit = mpnumv_splat(0x807fffffu); /* with a sign, as are keys */
  const mpnumv_vector key_a = (a & 0x7fffffffu) - 0x80000001u;
  const mpnumv_vector key_b = (b & 0x7fffffffu) - 0x80000001u;
  return _mm_movemask_epi8(_mm_or_si128((__m128i)mpnumv_greater(limit, key_a),
                                        (__m128i)mpnumv_greater(limit, key_b))) != 0;
}

MPNUM_SSE2_ void mpnum_put_sse2_(uint8_t *dst, __m128i x, int non_temporal) {
  if (non_temporal) {
    _mm_stream_si128((__m128i *)(void *)dst, x);
  } else {
    _mm_storeu_si128((__m128i *)(void *)dst, x);
  }
}
MPNUM_SSE2_ void mpnumv_store32(uint8_t *dst, mpnumv_vector x, int non_temporal) {
  mpnum_put_sse2_(dst, (__m128i)x, non_temporal);
}
/* The low halves of a and b: their signs are spread, for packing saturates. */
MPNUM_SSE2_ __m128i mpnum_low_u16_sse2_(mpnumv_vector a, mpnumv_vector b) {
  return _mm_packs_epi32(_mm_srai_epi32(_mm_slli_epi32((__m128i)a, 16), 16),
                         _mm_srai_epi32(_mm_slli_epi32((__m128i)b, 16), 16));
}
MPNUM_SSE2_ void mpnumv_store16(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                int non_temporal) {
  mpnum_put_sse2_(dst, mpnum_low_u16_sse2_(a, b), non_temporal);
}
MPNUM_SSE2_ void mpnumv_store_high(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                   int non_temporal) {
  mpnum_put_sse2_(
      dst,
      _mm_packs_epi32(_mm_srai_epi32((__m128i)a, 16), _mm_srai_epi32((__m128i)b, 16)),
      non_temporal);
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_sign_bytes(const mpnumv_vector x[4]) {
  return (mpnumv_bytes)_mm_packs_epi16(_mm_packs_epi32((__m128i)x[0], (__m128i)x[1]),
                                       _mm_packs_epi32((__m128i)x[2], (__m128i)x[3]));
}
MPNUM_SSE2_ int mpnumv_any_nan(const mpnumv_vector x[4]) {
  __m128 low = (__m128)x[0], high = (__m128)x[2]; /* -ffast-math must not see it */
# if MPNUM_HAS_GNU_
  __asm__("cmpunordps %1, %0" : "+x"(low) : "x"((__m128)x[1]));
  __asm__("cmpunordps %1, %0" : "+x"(high) : "x"((__m128)x[3]));
# else
  low = _mm_cmpunord_ps(low, (__m128)x[1]);
  high = _mm_cmpunord_ps(high, (__m128)x[3]);
# endif
  return _mm_movemask_ps(_mm_or_ps(low, high)) != 0;
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_where_nan(const mpnumv_vector x[4], uint8_t nan_result,
                                          mpnumv_bytes bytes) {
  const mpnumv_bytes mask = (mpnumv_bytes)_mm_packs_epi16(
      _mm_packs_epi32(mpnumv_is_nan(x[0]), mpnumv_is_nan(x[1])),
      _mm_packs_epi32(mpnumv_is_nan(x[2]), mpnumv_is_nan(x[3])));
  return (mask & nan_result) | (~mask & bytes);
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_low_bytes(const mpnumv_vector x[4]) {
  const __m128i low = _mm_packs_epi32((__m128i)(x[0] & 0xffu), (__m128i)(x[1] & 0xffu));
  const __m128i high = _mm_packs_epi32((__m128i)(x[2] & 0xffu), (__m128i)(x[3] & 0xffu));
  return (mpnumv_bytes)_mm_packus_epi16(low, high);
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_packed_low(const mpnumv_vector x[4]) {
  return mpnumv_low_bytes(x);
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_in_order(mpnumv_bytes x) { return x; }
MPNUM_SSE2_ mpnumv_bytes mpnumv_bytes_shr(mpnumv_bytes x, int count) {
  return (mpnumv_bytes)((mpnum_u16_sse2_)x >> count);
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_bytes_shl(mpnumv_bytes x, int count) {
  return (mpnumv_bytes)((mpnum_u16_sse2_)x << count);
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_load_bytes(const uint8_t *src) {
  return (mpnumv_bytes)mpnumv_load32(src);
}
MPNUM_SSE2_ void mpnumv_store_bytes(uint8_t *dst, mpnumv_bytes x, int non_temporal) {
  mpnum_put_sse2_(dst, (__m128i)x, non_temporal);
}
MPNUM_SSE2_ void mpnumv_store_nibbles(uint8_t *dst, mpnumv_bytes x, int non_temporal) {
  const mpnum_u16_sse2_ pairs = (mpnum_u16_sse2_)x;
  const __m128i joined = (__m128i)((pairs | pairs >> 4) & 0xff);
  (void)non_temporal;
  _mm_storel_epi64((__m128i *)(void *)dst, _mm_packus_epi16(joined, joined));
}
MPNUM_SSE2_ void mpnumv_store_sixes(uint8_t *dst, mpnumv_bytes x) {
  uint8_t codes[16];
  mpnumv_store_bytes(codes, x, 0);
  mpnum_pack_(6, dst, codes, 16);
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_load_nibbles(const uint8_t *src) {
  const mpnum_u16_sse2_ pairs = (mpnum_u16_sse2_)_mm_unpacklo_epi8(
      _mm_loadl_epi64((const __m128i *)(const void *)src), _mm_setzero_si128());
  return (mpnumv_bytes)(pairs | pairs << 4);
}
MPNUM_SSE2_ mpnumv_bytes mpnumv_load_sixes(const uint8_t *src) {
  uint8_t codes[16];
  mpnum_unpack_(6, codes, src, 16);
  return (mpnumv_bytes)mpnumv_load32(codes);
}
/* Of f16 codes in the high halves of lanes, which are spread by their sign: the
 * multiplication is exact, and makes floats of subnormals, too. */
MPNUM_SSE2_ mpnumv_vector mpnum_f16_floats_sse2_(__m128i f16_codes) {
  const mpnumv_vector x = (mpnumv_vector)_mm_srai_epi32(f16_codes, 16);
  const mpnumv_vector magnitude = x & 0x7fffu, bits = magnitude << 13;
  const mpnumv_vector quiet =
      mpnumv_select(mpnumv_greater(magnitude, mpnumv_splat(0x7c00)),
                    mpnumv_splat(0x400000), mpnumv_splat(0));
  const mpnumv_vector large =
      mpnumv_select(mpnumv_greater(magnitude, mpnumv_splat(0x7bff)),
                    bits | quiet | 0x7f800000u, bits + ((uint32_t)112 << 23));
  return mpnumv_select(mpnumv_greater(mpnumv_splat(0x400), magnitude),
                       mpnumv_scaled(magnitude, mpnum_pow2_(-24)), large) |
         (x & 0x80000000u);
}
MPNUM_SSE2_ mpnumv_vector mpnumv_load_f16(const uint8_t *src) {
  return mpnum_f16_floats_sse2_(_mm_unpacklo_epi16(
      _mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)(const void *)src)));
}
MPNUM_SSE2_ void mpnum_floats_of_u16_sse2_(__m128i low, __m128i high,
                                           mpnumv_vector x[4]) {
  const __m128i zero = _mm_setzero_si128();
  x[0] = mpnum_f16_floats_sse2_(_mm_unpacklo_epi16(zero, low));
  x[1] = mpnum_f16_floats_sse2_(_mm_unpackhi_epi16(zero, low));
  x[2] = mpnum_f16_floats_sse2_(_mm_unpacklo_epi16(zero, high));
  x[3] = mpnum_f16_floats_sse2_(_mm_unpackhi_epi16(zero, high));
}
MPNUM_SSE2_ void mpnumv_shifted_f16_of_bytes(mpnumv_bytes codes, int right, uint16_t mask,
                                             mpnumv_vector x[4]) {
  const __m128i zero = _mm_setzero_si128(), ones = _mm_set1_epi16((short)mask);
  const __m128i count = _mm_cvtsi32_si128(right);
  const __m128i low = _mm_sra_epi16(_mm_unpacklo_epi8(zero, (__m128i)codes), count);
  const __m128i high = _mm_sra_epi16(_mm_unpackhi_epi8(zero, (__m128i)codes), count);
  mpnum_floats_of_u16_sse2_(_mm_and_si128(low, ones), _mm_and_si128(high, ones), x);
}
MPNUM_SSE2_ void mpnumv_f16_of_bytes(mpnumv_bytes codes, mpnumv_vector x[4]) {
  mpnumv_shifted_f16_of_bytes(codes, 0, 0xffff, x);
}
MPNUM_SSE2_ void mpnumv_store_fence(void) { _mm_sfence(); }

MPNUM_SSE2_ mpnumv_vector mpnumv_max_codes(int bits, mpnumv_vector a, mpnumv_vector b) {
  if (bits == 8) return (mpnumv_vector)_mm_max_epu8((__m128i)a, (__m128i)b);
  if (bits == 16) return (mpnumv_vector)_mm_max_epi16((__m128i)a, (__m128i)b);
  return mpnumv_max(a, b);
}
/* Zeros are counted. */
MPNUM_SSE2_ void mpnumv_min_nonzero(int bits, mpnumv_vector x, mpnumv_vector *min,
                                    mpnumv_vector *count) {
  const __m128i zero = _mm_setzero_si128(), a = (__m128i)x, least = (__m128i)*min;
  const __m128i is_zero = bits == 8    ? _mm_cmpeq_epi8(a, zero)
                          : bits == 16 ? _mm_cmpeq_epi16(a, zero)
                                       : _mm_cmpeq_epi32(a, zero);
  const __m128i from = (__m128i)*count;
  if (bits == 8) {
    *min = (mpnumv_vector)_mm_min_epu8(least, _mm_or_si128(a, is_zero));
    *count = (mpnumv_vector)_mm_sub_epi8(from, is_zero);
  } else if (bits == 16) {
    *min =
        (mpnumv_vector)_mm_min_epi16(least, _mm_or_si128(a, _mm_srli_epi16(is_zero, 1)));
    *count = (mpnumv_vector)_mm_sub_epi16(from, is_zero);
  } else {
    *min = mpnumv_min(*min, x | (mpnumv_vector)is_zero >> 1);
    *count = (mpnumv_vector)_mm_sub_epi32(from, is_zero);
  }
}
/* Those past most are counted. */
MPNUM_SSE2_ void mpnumv_max_finite(int bits, mpnumv_vector x, mpnumv_vector most,
                                   mpnumv_vector *max, mpnumv_vector *count) {
  const __m128i a = (__m128i)x, b = (__m128i)most, from = (__m128i)*count;
  const __m128i above = bits == 8    ? _mm_cmpgt_epi8(a, b)
                        : bits == 16 ? _mm_cmpgt_epi16(a, b)
                                     : _mm_cmpgt_epi32(a, b);
  *max = mpnumv_max_codes(bits, *max, (mpnumv_vector)_mm_andnot_si128(above, a));
  *count = (mpnumv_vector)(bits == 8    ? _mm_sub_epi8(from, above)
                           : bits == 16 ? _mm_sub_epi16(from, above)
                                        : _mm_sub_epi32(from, above));
}
MPNUM_SSE2_ uint64_t mpnumv_nonzeros(uint64_t all, uint64_t count) { return all - count; }
MPNUM_SSE2_ mpnumv_vector mpnumv_count_above(int bits, mpnumv_vector count,
                                             mpnumv_vector x, mpnumv_vector limit) {
  const __m128i a = (__m128i)x, b = (__m128i)limit, from = (__m128i)count;
  if (bits == 8) return (mpnumv_vector)_mm_sub_epi8(from, _mm_cmpgt_epi8(a, b));
  if (bits == 16) return (mpnumv_vector)_mm_sub_epi16(from, _mm_cmpgt_epi16(a, b));
  return (mpnumv_vector)_mm_sub_epi32(from, _mm_cmpgt_epi32(a, b));
}
MPNUM_SSE2_ mpnumv_vector mpnumv_widen_counts(int bits, mpnumv_vector count) {
  if (bits == 8) return (mpnumv_vector)_mm_sad_epu8((__m128i)count, _mm_setzero_si128());
  if (bits == 16) return (mpnumv_vector)_mm_madd_epi16((__m128i)count, _mm_set1_epi16(1));
  return count;
}

# if MPNUM_HAS_GNU_
typedef double mpnumv_f64 __attribute__((__vector_size__(16)));
# else
typedef __m128d mpnumv_f64;
# endif

MPNUM_SSE2_ mpnumv_f64 mpnumv_splat_f64(double x) { return _mm_set1_pd(x); }
MPNUM_SSE2_ mpnumv_f64 mpnumv_load_f64(const uint8_t *src) {
  return _mm_cvtps_pd(
      _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)src)));
}

MPNUM_SSE2_ mpnumv_f64 mpnumv_load_sums(const double *src) {
  mpnumv_f64 x;
  MPNUM_MEMCPY_(&x, src, sizeof x);
  return x;
}
MPNUM_SSE2_ void mpnumv_store_sums(double *dst, mpnumv_f64 x) {
  MPNUM_MEMCPY_(dst, &x, sizeof x);
}
MPNUM_SSE2_ mpnumv_f64 mpnumv_add_f64(mpnumv_f64 a, mpnumv_f64 b) {
# if MPNUM_HAS_GNU_
  mpnumv_f64 sum = a + b;
  MPNUM_HIDE_(sum);
  return sum;
# else
  return _mm_add_pd(a, b);
# endif
}
MPNUM_SSE2_ mpnumv_f64 mpnumv_add_product(mpnumv_f64 sum, mpnumv_f64 x, mpnumv_f64 y) {
# if MPNUM_HAS_GNU_
  return mpnumv_add_f64(sum, x * y);
# else
  return _mm_add_pd(sum, _mm_mul_pd(x, y));
# endif
}
MPNUM_SSE2_ double mpnumv_sum_f64(mpnumv_f64 x) {
  return mpnum_add_f64_(_mm_cvtsd_f64(x), _mm_cvtsd_f64(_mm_unpackhi_pd(x, x)));
}

#endif
MPNUM_C_END_
#endif

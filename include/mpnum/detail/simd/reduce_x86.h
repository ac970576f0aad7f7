/* SPDX-License-Identifier: MIT */
/* The words of reduce.inc beside those of vector_*.h, for x86. A vector holds codes of 8,
 * 16 or 32 bits: magnitudes, whose highest bit is 0, so that it is the same whether an
 * instruction compares numbers with or without a sign. */
#ifndef MPNUM_DETAIL_SIMD_REDUCE_X86_H
#define MPNUM_DETAIL_SIMD_REDUCE_X86_H

#include "convert_loops.h"

#if MPNUM_HAS_X86_SIMD

# include <immintrin.h>

# if MPNUM_LOOPS_SSE2_
/* Lane by lane the larger one. */
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_max_codes_sse2_(int bits, mpnum_vector_sse2_ a,
                                                     mpnum_vector_sse2_ b) {
  if (bits == 8) return (mpnum_vector_sse2_)_mm_max_epu8((__m128i)a, (__m128i)b);
  if (bits == 16) return (mpnum_vector_sse2_)_mm_max_epi16((__m128i)a, (__m128i)b);
  return mpnum_max_sse2_(a, b);
}
/* Lane by lane the smaller one, least where x is 0. */
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_min_nonzero_sse2_(int bits, mpnum_vector_sse2_ least,
                                                       mpnum_vector_sse2_ x) {
  const __m128i zero = _mm_setzero_si128(), y = (__m128i)x;
  if (bits == 8)
    return (mpnum_vector_sse2_)_mm_min_epu8((__m128i)least,
                                            _mm_or_si128(y, _mm_cmpeq_epi8(y, zero)));
  if (bits == 16)
    return (mpnum_vector_sse2_)_mm_min_epi16(
        (__m128i)least, _mm_or_si128(y, _mm_srli_epi16(_mm_cmpeq_epi16(y, zero), 1)));
  return mpnum_min_sse2_(least, x | (mpnum_vector_sse2_)_mm_cmpeq_epi32(y, zero) >> 1);
}
/* 1 more in each lane where x > limit. */
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_count_above_sse2_(int bits, mpnum_vector_sse2_ count,
                                                       mpnum_vector_sse2_ x,
                                                       mpnum_vector_sse2_ limit) {
  const __m128i a = (__m128i)x, b = (__m128i)limit, from = (__m128i)count;
  if (bits == 8) return (mpnum_vector_sse2_)_mm_sub_epi8(from, _mm_cmpgt_epi8(a, b));
  if (bits == 16) return (mpnum_vector_sse2_)_mm_sub_epi16(from, _mm_cmpgt_epi16(a, b));
  return (mpnum_vector_sse2_)_mm_sub_epi32(from, _mm_cmpgt_epi32(a, b));
}
/* Counts below 256, whatever their width, as fewer ones of 32 bits. */
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_wide_counts_sse2_(int bits,
                                                       mpnum_vector_sse2_ count) {
  if (bits == 8)
    return (mpnum_vector_sse2_)_mm_sad_epu8((__m128i)count, _mm_setzero_si128());
  if (bits == 16)
    return (mpnum_vector_sse2_)_mm_madd_epi16((__m128i)count, _mm_set1_epi16(1));
  return count;
}

/* Doubles, half as many as there are lanes: in memory; of floats in memory; sums; sum + x
 * * y, where the product is exact, so that one rounding is the same as two. The assembly,
 * which is empty, keeps compilers from adding in another order. */
typedef double mpnum_doubles_sse2_ __attribute__((__vector_size__(16)));

MPNUM_SSE2_ mpnum_doubles_sse2_ mpnum_set_doubles_sse2_(double x) {
  return _mm_set1_pd(x);
}
MPNUM_SSE2_ mpnum_doubles_sse2_ mpnum_load_doubles_sse2_(const uint8_t *src) {
  return _mm_cvtps_pd((__m128)_mm_loadl_epi64((const __m128i *)(const void *)src));
}

MPNUM_SSE2_ mpnum_doubles_sse2_ mpnum_plus_doubles_sse2_(mpnum_doubles_sse2_ a,
                                                         mpnum_doubles_sse2_ b) {
  mpnum_doubles_sse2_ sum = a + b;
  __asm__("" : "+x"(sum));
  return sum;
}
MPNUM_SSE2_ mpnum_doubles_sse2_ mpnum_plus_product_sse2_(mpnum_doubles_sse2_ sum,
                                                         mpnum_doubles_sse2_ x,
                                                         mpnum_doubles_sse2_ y) {
  return mpnum_plus_doubles_sse2_(sum, x * y);
}
MPNUM_SSE2_ double mpnum_sum_of_doubles_sse2_(mpnum_doubles_sse2_ x) {
  return mpnum_plus_f64_(_mm_cvtsd_f64(x), _mm_cvtsd_f64(_mm_unpackhi_pd(x, x)));
}
# endif

# if MPNUM_LOOPS_AVX2_
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_max_codes_avx2_(int bits, mpnum_vector_avx2_ a,
                                                     mpnum_vector_avx2_ b) {
  if (bits == 8) return (mpnum_vector_avx2_)_mm256_max_epu8((__m256i)a, (__m256i)b);
  if (bits == 16) return (mpnum_vector_avx2_)_mm256_max_epu16((__m256i)a, (__m256i)b);
  return mpnum_max_avx2_(a, b);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_min_nonzero_avx2_(int bits, mpnum_vector_avx2_ least,
                                                       mpnum_vector_avx2_ x) {
  const __m256i zero = _mm256_setzero_si256(), y = (__m256i)x;
  if (bits == 8)
    return (mpnum_vector_avx2_)_mm256_min_epu8(
        (__m256i)least, _mm256_or_si256(y, _mm256_cmpeq_epi8(y, zero)));
  if (bits == 16)
    return (mpnum_vector_avx2_)_mm256_min_epu16(
        (__m256i)least, _mm256_or_si256(y, _mm256_cmpeq_epi16(y, zero)));
  return (mpnum_vector_avx2_)_mm256_min_epu32(
      (__m256i)least, _mm256_or_si256(y, _mm256_cmpeq_epi32(y, zero)));
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_count_above_avx2_(int bits, mpnum_vector_avx2_ count,
                                                       mpnum_vector_avx2_ x,
                                                       mpnum_vector_avx2_ limit) {
  const __m256i a = (__m256i)x, b = (__m256i)limit, from = (__m256i)count;
  if (bits == 8)
    return (mpnum_vector_avx2_)_mm256_sub_epi8(from, _mm256_cmpgt_epi8(a, b));
  if (bits == 16)
    return (mpnum_vector_avx2_)_mm256_sub_epi16(from, _mm256_cmpgt_epi16(a, b));
  return (mpnum_vector_avx2_)_mm256_sub_epi32(from, _mm256_cmpgt_epi32(a, b));
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_wide_counts_avx2_(int bits,
                                                       mpnum_vector_avx2_ count) {
  if (bits == 8)
    return (mpnum_vector_avx2_)_mm256_sad_epu8((__m256i)count, _mm256_setzero_si256());
  if (bits == 16)
    return (mpnum_vector_avx2_)_mm256_madd_epi16((__m256i)count, _mm256_set1_epi16(1));
  return count;
}

typedef double mpnum_doubles_avx2_ __attribute__((__vector_size__(32)));

MPNUM_AVX2_ mpnum_doubles_avx2_ mpnum_set_doubles_avx2_(double x) {
  mpnum_doubles_avx2_ result = _mm256_set1_pd(x);
  __asm__("" : "+x"(result));
  return result;
}
MPNUM_AVX2_ mpnum_doubles_avx2_ mpnum_load_doubles_avx2_(const uint8_t *src) {
  return _mm256_cvtps_pd((__m128)_mm_loadu_si128((const __m128i *)(const void *)src));
}

MPNUM_AVX2_ mpnum_doubles_avx2_ mpnum_plus_doubles_avx2_(mpnum_doubles_avx2_ a,
                                                         mpnum_doubles_avx2_ b) {
  mpnum_doubles_avx2_ sum = a + b;
  __asm__("" : "+x"(sum));
  return sum;
}
MPNUM_AVX2_ mpnum_doubles_avx2_ mpnum_plus_product_avx2_(mpnum_doubles_avx2_ sum,
                                                         mpnum_doubles_avx2_ x,
                                                         mpnum_doubles_avx2_ y) {
  sum = _mm256_fmadd_pd(x, y, sum);
  __asm__("" : "+x"(sum));
  return sum;
}
MPNUM_AVX2_ double mpnum_sum_of_doubles_avx2_(mpnum_doubles_avx2_ x) {
  __m128d sum =
      _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd((__m256d)x, 1));
  __asm__("" : "+x"(sum));
  return mpnum_plus_f64_(_mm_cvtsd_f64(sum), _mm_cvtsd_f64(_mm_unpackhi_pd(sum, sum)));
}
# endif

# if MPNUM_LOOPS_AVX512_
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_max_codes_avx512_(int bits,
                                                           mpnum_vector_avx512_ a,
                                                           mpnum_vector_avx512_ b) {
  const __m512i x = (__m512i)a, y = (__m512i)b;
  if (bits == 8) return (mpnum_vector_avx512_)_mm512_maskz_max_epu8(~(__mmask64)0, x, y);
  if (bits == 16)
    return (mpnum_vector_avx512_)_mm512_maskz_max_epu16(~(__mmask32)0, x, y);
  return (mpnum_vector_avx512_)_mm512_maskz_max_epu32(MPNUM_ALL_, x, y);
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_min_nonzero_avx512_(int bits,
                                                             mpnum_vector_avx512_ least,
                                                             mpnum_vector_avx512_ x) {
  const __m512i a = (__m512i)least, b = (__m512i)x, zero = _mm512_setzero_si512();
  if (bits == 8)
    return (mpnum_vector_avx512_)_mm512_mask_min_epu8(a, _mm512_cmpgt_epi8_mask(b, zero),
                                                      a, b);
  if (bits == 16)
    return (mpnum_vector_avx512_)_mm512_mask_min_epu16(
        a, _mm512_cmpgt_epi16_mask(b, zero), a, b);
  return (mpnum_vector_avx512_)_mm512_mask_min_epu32(a, _mm512_cmpgt_epi32_mask(b, zero),
                                                     a, b);
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_count_above_avx512_(int bits,
                                                             mpnum_vector_avx512_ count,
                                                             mpnum_vector_avx512_ x,
                                                             mpnum_vector_avx512_ limit) {
  const __m512i a = (__m512i)x, b = (__m512i)limit, from = (__m512i)count;
  const __m512i minus_one = _mm512_set1_epi32(-1);
  if (bits == 8)
    return (mpnum_vector_avx512_)_mm512_mask_sub_epi8(from, _mm512_cmpgt_epi8_mask(a, b),
                                                      from, minus_one);
  if (bits == 16)
    return (mpnum_vector_avx512_)_mm512_mask_sub_epi16(
        from, _mm512_cmpgt_epi16_mask(a, b), from, minus_one);
  return (mpnum_vector_avx512_)_mm512_mask_sub_epi32(from, _mm512_cmpgt_epi32_mask(a, b),
                                                     from, minus_one);
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_wide_counts_avx512_(int bits,
                                                             mpnum_vector_avx512_ count) {
  if (bits == 8)
    return (mpnum_vector_avx512_)_mm512_sad_epu8((__m512i)count, _mm512_setzero_si512());
  if (bits == 16)
    return (mpnum_vector_avx512_)_mm512_maskz_madd_epi16(MPNUM_ALL_, (__m512i)count,
                                                         _mm512_set1_epi16(1));
  return count;
}

/* Two vectors of 256 bits, as Zen 4 converts to two faster than to one of 512 (111
 * against 60 GB/s). */
typedef struct mpnum_doubles_avx512_ {
  __m256d low, high;
} mpnum_doubles_avx512_;

MPNUM_AVX512_ mpnum_doubles_avx512_ mpnum_set_doubles_avx512_(double x) {
  mpnum_doubles_avx512_ result;
  result.low = _mm256_set1_pd(x);
  __asm__("" : "+v"(result.low));
  result.high = result.low;
  return result;
}
MPNUM_AVX512_ mpnum_doubles_avx512_ mpnum_load_doubles_avx512_(const uint8_t *src) {
  mpnum_doubles_avx512_ x;
  x.low = _mm256_cvtps_pd((__m128)_mm_loadu_si128((const __m128i *)(const void *)src));
  x.high =
      _mm256_cvtps_pd((__m128)_mm_loadu_si128((const __m128i *)(const void *)(src + 16)));
  return x;
}
MPNUM_AVX512_ mpnum_doubles_avx512_ mpnum_plus_doubles_avx512_(mpnum_doubles_avx512_ a,
                                                               mpnum_doubles_avx512_ b) {
  a.low += b.low;
  a.high += b.high;
  __asm__("" : "+v"(a.low), "+v"(a.high));
  return a;
}
MPNUM_AVX512_ mpnum_doubles_avx512_ mpnum_plus_product_avx512_(mpnum_doubles_avx512_ sum,
                                                               mpnum_doubles_avx512_ x,
                                                               mpnum_doubles_avx512_ y) {
  sum.low = _mm256_fmadd_pd(x.low, y.low, sum.low);
  sum.high = _mm256_fmadd_pd(x.high, y.high, sum.high);
  /* x is read, so that clang adds to the sum in its place and copies nothing. */
  __asm__("" : "+v"(sum.low), "+v"(sum.high) : "v"(x.low), "v"(x.high));
  return sum;
}
MPNUM_AVX512_ double mpnum_sum_of_doubles_avx512_(mpnum_doubles_avx512_ x) {
  __m256d four = x.low + x.high;
  __m128d two;
  __asm__("" : "+v"(four));
  two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  __asm__("" : "+v"(two));
  return mpnum_plus_f64_(_mm_cvtsd_f64(two), _mm_cvtsd_f64(_mm_unpackhi_pd(two, two)));
}
# endif

#endif
#endif

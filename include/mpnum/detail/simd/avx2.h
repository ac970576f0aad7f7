/* SPDX-License-Identifier: MIT */
/* The words in which vector.inc is written, as explained in avx512.h, for AVX2
 * with FMA and F16C. */
#ifndef MPNUM_DETAIL_SIMD_AVX2_H
#define MPNUM_DETAIL_SIMD_AVX2_H

#include "../core/environment.h"
#include "../../isa.h"

#if MPNUM_HAS_X86_SIMD

# include <immintrin.h>

# define MPNUM_TARGET_AVX2_ __attribute__((__target__("avx2,fma,f16c")))
# define MPNUM_AVX2_        MPNUM_FORCED_ MPNUM_TARGET_AVX2_

typedef uint32_t mpnum_vector_avx2_ __attribute__((__vector_size__(32)));
typedef uint16_t mpnum_halves_avx2_ __attribute__((__vector_size__(32)));
typedef uint8_t mpnum_bytes_avx2_ __attribute__((__vector_size__(32)));
typedef __m256i mpnum_mask_avx2_;

MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_set_avx2_(uint32_t x) {
  return (mpnum_vector_avx2_)_mm256_set1_epi32((int)x);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_iota_avx2_(void) {
  return (mpnum_vector_avx2_)_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_min_avx2_(mpnum_vector_avx2_ a,
                                               mpnum_vector_avx2_ b) {
  return (mpnum_vector_avx2_)_mm256_min_epu32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_max_avx2_(mpnum_vector_avx2_ a,
                                               mpnum_vector_avx2_ b) {
  return (mpnum_vector_avx2_)_mm256_max_epu32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnum_mask_avx2_ mpnum_greater_avx2_(mpnum_vector_avx2_ a,
                                                 mpnum_vector_avx2_ b) {
  return _mm256_cmpgt_epi32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnum_mask_avx2_ mpnum_below_avx2_(mpnum_vector_avx2_ a,
                                               mpnum_vector_avx2_ b) {
  return _mm256_cmpgt_epi32((__m256i)(b ^ 0x80000000u), (__m256i)(a ^ 0x80000000u));
}
MPNUM_AVX2_ mpnum_mask_avx2_ mpnum_equal_avx2_(mpnum_vector_avx2_ a,
                                               mpnum_vector_avx2_ b) {
  return _mm256_cmpeq_epi32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_select_avx2_(mpnum_mask_avx2_ mask,
                                                  mpnum_vector_avx2_ a,
                                                  mpnum_vector_avx2_ b) {
  return (mpnum_vector_avx2_)_mm256_blendv_epi8((__m256i)b, (__m256i)a, mask);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_left_avx2_(mpnum_vector_avx2_ x,
                                                mpnum_vector_avx2_ count) {
  return (mpnum_vector_avx2_)_mm256_sllv_epi32((__m256i)x, (__m256i)count);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_right_avx2_(mpnum_vector_avx2_ x,
                                                 mpnum_vector_avx2_ count) {
  return (mpnum_vector_avx2_)_mm256_srlv_epi32((__m256i)x, (__m256i)count);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_right_by_avx2_(mpnum_vector_avx2_ x, int count) {
  if (__builtin_constant_p(count)) return x >> count;
  return mpnum_right_avx2_(x, mpnum_set_avx2_((uint32_t)count));
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_left_by_avx2_(mpnum_vector_avx2_ x, int count) {
  if (__builtin_constant_p(count)) return x << count;
  return mpnum_left_avx2_(x, mpnum_set_avx2_((uint32_t)count));
}

MPNUM_AVX2_ mpnum_mask_avx2_ mpnum_is_nan_avx2_(mpnum_vector_avx2_ x) {
  __m256 mask; /* -ffast-math must not see it */
  __asm__("vcmpunordps %1, %1, %0" : "=x"(mask) : "x"((__m256)x));
  return (__m256i)mask;
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_clamped_magnitude_avx2_(mpnum_vector_avx2_ x,
                                                             uint32_t limit) {
  return mpnum_min_avx2_(x & 0x7fffffffu, mpnum_set_avx2_(limit));
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_add_floats_avx2_(mpnum_vector_avx2_ a,
                                                      mpnum_vector_avx2_ b) {
  __m256 sum = _mm256_add_ps((__m256)a, (__m256)b);
  __asm__("" : "+x"(sum)); /* -ffast-math must not see through it */
  return (mpnum_vector_avx2_)sum;
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_add_scaled_avx2_(mpnum_vector_avx2_ power,
                                                      mpnum_vector_avx2_ x, float scale) {
  __m256 sum = _mm256_fmadd_ps((__m256)x, _mm256_set1_ps(scale), (__m256)power);
  __asm__("" : "+x"(sum)); /* -ffast-math must not see through it */
  return (mpnum_vector_avx2_)sum;
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_scaled_avx2_(mpnum_vector_avx2_ x, float scale) {
  return (mpnum_vector_avx2_)_mm256_mul_ps(_mm256_cvtepi32_ps((__m256i)x),
                                           _mm256_set1_ps(scale));
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_times_power_avx2_(mpnum_vector_avx2_ x,
                                                       float scale) {
  return (mpnum_vector_avx2_)_mm256_mul_ps((__m256)x, _mm256_set1_ps(scale));
}

/* Words of func.inc, on floats as bits: rounded once. The asm hides them from
 * -ffast-math, which would divide by way of an estimate, too. */
# define MPNUM_REAL_OF_TWO_(name, instruction)                                    \
  MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_##name##_avx2_(mpnum_vector_avx2_ a,       \
                                                      mpnum_vector_avx2_ b) {     \
   __m256 x;                                                                      \
   __asm__(instruction " %2, %1, %0" : "=x"(x) : "x"((__m256)a), "x"((__m256)b)); \
   return (mpnum_vector_avx2_)x;                                                  \
  }
MPNUM_REAL_OF_TWO_(plus, "vaddps")
MPNUM_REAL_OF_TWO_(minus, "vsubps")
MPNUM_REAL_OF_TWO_(times, "vmulps")
MPNUM_REAL_OF_TWO_(over, "vdivps")
# undef MPNUM_REAL_OF_TWO_
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_root_avx2_(mpnum_vector_avx2_ x) {
  __m256 root;
  __asm__("vsqrtps %1, %0" : "=x"(root) : "x"((__m256)x));
  return (mpnum_vector_avx2_)root;
}

MPNUM_AVX2_ int mpnum_any_above_avx2_(int bits, mpnum_vector_avx2_ x,
                                      mpnum_vector_avx2_ limit) {
  const __m256i a = (__m256i)x, b = (__m256i)limit;
  if (bits == 8) return _mm256_movemask_epi8(_mm256_cmpgt_epi8(a, b)) != 0;
  if (bits == 16) return _mm256_movemask_epi8(_mm256_cmpgt_epi16(a, b)) != 0;
  return _mm256_movemask_epi8(_mm256_cmpgt_epi32(a, b)) != 0;
}
MPNUM_AVX2_ void mpnum_multiply_avx2_(mpnum_vector_avx2_ a, uint32_t b,
                                      mpnum_vector_avx2_ *high, mpnum_vector_avx2_ *low) {
  const __m256i factor = _mm256_set1_epi64x((long long)b);
  const __m256i even = _mm256_mul_epu32((__m256i)a, factor);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a, 32), factor);
  *high = (mpnum_vector_avx2_)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  *low = (mpnum_vector_avx2_)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}
MPNUM_AVX2_ void mpnum_transpose_avx2_(mpnum_vector_avx2_ rows[4]) {
  const __m256i low01 = _mm256_unpacklo_epi32((__m256i)rows[0], (__m256i)rows[1]);
  const __m256i high01 = _mm256_unpackhi_epi32((__m256i)rows[0], (__m256i)rows[1]);
  const __m256i low23 = _mm256_unpacklo_epi32((__m256i)rows[2], (__m256i)rows[3]);
  const __m256i high23 = _mm256_unpackhi_epi32((__m256i)rows[2], (__m256i)rows[3]);
  rows[0] = (mpnum_vector_avx2_)_mm256_unpacklo_epi64(low01, low23);
  rows[1] = (mpnum_vector_avx2_)_mm256_unpackhi_epi64(low01, low23);
  rows[2] = (mpnum_vector_avx2_)_mm256_unpacklo_epi64(high01, high23);
  rows[3] = (mpnum_vector_avx2_)_mm256_unpackhi_epi64(high01, high23);
}

MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_load8_avx2_(const uint8_t *src) {
  return (mpnum_vector_avx2_)_mm256_cvtepu8_epi32(
      _mm_loadl_epi64((const __m128i *)(const void *)src));
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_load16_avx2_(const uint8_t *src) {
  return (mpnum_vector_avx2_)_mm256_cvtepu16_epi32(
      _mm_loadu_si128((const __m128i *)(const void *)src));
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_load32_avx2_(const uint8_t *src) {
  return (mpnum_vector_avx2_)_mm256_loadu_si256((const __m256i *)(const void *)src);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_load_nearest64_avx2_(const uint8_t *src) {
  const __m128 low = _mm256_cvtpd_ps((__m256d)mpnum_load32_avx2_(src));
  const __m128 high = _mm256_cvtpd_ps((__m256d)mpnum_load32_avx2_(src + 32));
  return (mpnum_vector_avx2_)_mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

/* The nearest float, less one where it is past the double, its last bit set where it is
 * another number. */
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_load_odd64_avx2_(const uint8_t *src) {
  const __m256i abs = _mm256_set1_epi64x(0x7fffffffffffffff);
  const mpnum_vector_avx2_ nearest = mpnum_load_nearest64_avx2_(src);
  const __m256i low = (__m256i)mpnum_load32_avx2_(src);
  const __m256i high = (__m256i)mpnum_load32_avx2_(src + 32);
  const __m256i wide_low =
      (__m256i)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)nearest));
  const __m256i wide_high =
      (__m256i)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)nearest, 1));
  const __m256 past_low = (__m256)_mm256_cmpgt_epi64(_mm256_and_si256(wide_low, abs),
                                                     _mm256_and_si256(low, abs));
  const __m256 past_high = (__m256)_mm256_cmpgt_epi64(_mm256_and_si256(wide_high, abs),
                                                      _mm256_and_si256(high, abs));
  const __m256 is_low = (__m256)_mm256_cmpeq_epi64(wide_low, low);
  const __m256 is_high = (__m256)_mm256_cmpeq_epi64(wide_high, high);
  const mpnum_vector_avx2_ past = (mpnum_vector_avx2_)_mm256_permute4x64_epi64(
      (__m256i)_mm256_shuffle_ps(past_low, past_high, 0x88), 0xd8);
  const mpnum_vector_avx2_ exact = (mpnum_vector_avx2_)_mm256_permute4x64_epi64(
      (__m256i)_mm256_shuffle_ps(is_low, is_high, 0x88), 0xd8);
  return (nearest + past) | (~exact & 1);
}

MPNUM_AVX2_ void mpnum_put_avx2_(uint8_t *dst, __m256i x, int streams) {
  if (streams) {
    _mm256_stream_si256((__m256i *)(void *)dst, x);
  } else {
    _mm256_storeu_si256((__m256i *)(void *)dst, x);
  }
}
MPNUM_AVX2_ void mpnum_store32_avx2_(uint8_t *dst, mpnum_vector_avx2_ x, int streams) {
  mpnum_put_avx2_(dst, (__m256i)x, streams);
}
/* Each of the lanes fits what is stored: packing saturates. */
MPNUM_AVX2_ void mpnum_store16_avx2_(uint8_t *dst, mpnum_vector_avx2_ a,
                                     mpnum_vector_avx2_ b, int streams) {
  const __m256i packed = _mm256_packus_epi32((__m256i)a, (__m256i)b);
  mpnum_put_avx2_(dst, _mm256_permute4x64_epi64(packed, 0xd8), streams);
}
MPNUM_AVX2_ void mpnum_store_high_avx2_(uint8_t *dst, mpnum_vector_avx2_ a,
                                        mpnum_vector_avx2_ b, int streams) {
  mpnum_store16_avx2_(dst, a >> 16, b >> 16, streams);
}
MPNUM_AVX2_ void mpnum_store_f16_avx2_(uint8_t *dst, mpnum_vector_avx2_ a,
                                       mpnum_vector_avx2_ b, int saturates, int streams) {
  const mpnum_vector_avx2_ max = mpnum_set_avx2_(0x477fe000u); /* 65504 */
  const mpnum_vector_avx2_ infinity = mpnum_set_avx2_(0x7f800000u);
  const mpnum_vector_avx2_ abs_a = a & 0x7fffffffu, abs_b = b & 0x7fffffffu;
  const __m256i nan_result = _mm256_set1_epi16(0x7fff);
  __m256i halves, is_nan;
  if (saturates) {
    a = mpnum_min_avx2_(abs_a, max) | (a & 0x80000000u);
    b = mpnum_min_avx2_(abs_b, max) | (b & 0x80000000u);
  }
  halves = _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm256_cvtps_ph((__m256)a, _MM_FROUND_TO_NEAREST_INT)),
      _mm256_cvtps_ph((__m256)b, _MM_FROUND_TO_NEAREST_INT), 1);
  if (saturates) {
    is_nan =
        _mm256_permute4x64_epi64(_mm256_packs_epi32(mpnum_greater_avx2_(abs_a, infinity),
                                                    mpnum_greater_avx2_(abs_b, infinity)),
                                 0xd8);
  } else {
    is_nan = _mm256_cmpgt_epi16(_mm256_and_si256(halves, nan_result),
                                _mm256_set1_epi16(0x7c00));
  }
  mpnum_put_avx2_(dst, _mm256_blendv_epi8(halves, nan_result, is_nan), streams);
}
MPNUM_AVX2_ mpnum_vector_avx2_ mpnum_load_f16_avx2_(const uint8_t *src) {
  return (mpnum_vector_avx2_)_mm256_cvtph_ps(
      _mm_loadu_si128((const __m128i *)(const void *)src));
}

/* Packing mixes the halves of vectors; this puts their bytes in order. */
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_in_order_avx2_(mpnum_bytes_avx2_ bytes) {
  return (mpnum_bytes_avx2_)_mm256_permutevar8x32_epi32(
      (__m256i)bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_sign_bytes_avx2_(const mpnum_vector_avx2_ x[4]) {
  const __m256i low = _mm256_packs_epi32((__m256i)x[0], (__m256i)x[1]);
  const __m256i high = _mm256_packs_epi32((__m256i)x[2], (__m256i)x[3]);
  return (mpnum_bytes_avx2_)_mm256_packs_epi16(low, high);
}
MPNUM_AVX2_ int mpnum_any_nan_avx2_(const mpnum_vector_avx2_ x[4]) {
  __m256 low, high; /* -ffast-math must not see it */
  __asm__("vcmpunordps %2, %1, %0" : "=x"(low) : "x"((__m256)x[0]), "x"((__m256)x[1]));
  __asm__("vcmpunordps %2, %1, %0" : "=x"(high) : "x"((__m256)x[2]), "x"((__m256)x[3]));
  return _mm256_movemask_ps(_mm256_or_ps(low, high)) != 0;
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_where_nan_avx2_(const mpnum_vector_avx2_ x[4],
                                                    uint8_t nan_result,
                                                    mpnum_bytes_avx2_ bytes) {
  const mpnum_bytes_avx2_ mask = (mpnum_bytes_avx2_)_mm256_packs_epi16(
      _mm256_packs_epi32(mpnum_is_nan_avx2_(x[0]), mpnum_is_nan_avx2_(x[1])),
      _mm256_packs_epi32(mpnum_is_nan_avx2_(x[2]), mpnum_is_nan_avx2_(x[3])));
  return (mpnum_bytes_avx2_)_mm256_blendv_epi8((__m256i)bytes,
                                               _mm256_set1_epi8((char)nan_result),
                                               (__m256i)mpnum_in_order_avx2_(mask));
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_packed_low_avx2_(const mpnum_vector_avx2_ x[4]) {
  const __m256i low =
      _mm256_packus_epi32((__m256i)(x[0] & 0xffu), (__m256i)(x[1] & 0xffu));
  const __m256i high =
      _mm256_packus_epi32((__m256i)(x[2] & 0xffu), (__m256i)(x[3] & 0xffu));
  return (mpnum_bytes_avx2_)_mm256_packus_epi16(low, high);
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_low_bytes_avx2_(const mpnum_vector_avx2_ x[4]) {
  return mpnum_in_order_avx2_(mpnum_packed_low_avx2_(x));
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_bytes_right_avx2_(mpnum_bytes_avx2_ x, int count) {
  return (mpnum_bytes_avx2_)((mpnum_halves_avx2_)x >> count);
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_bytes_left_avx2_(mpnum_bytes_avx2_ x, int count) {
  return (mpnum_bytes_avx2_)((mpnum_halves_avx2_)x << count);
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_load_bytes_avx2_(const uint8_t *src) {
  return (mpnum_bytes_avx2_)mpnum_load32_avx2_(src);
}
MPNUM_AVX2_ void mpnum_store_bytes_avx2_(uint8_t *dst, mpnum_bytes_avx2_ x, int streams) {
  mpnum_put_avx2_(dst, (__m256i)x, streams);
}
MPNUM_AVX2_ void mpnum_store_nibbles_avx2_(uint8_t *dst, mpnum_bytes_avx2_ x,
                                           int streams) {
  const __m256i pairs = _mm256_maddubs_epi16((__m256i)x, _mm256_set1_epi16(0x1001));
  const __m256i packed =
      _mm256_permute4x64_epi64(_mm256_packus_epi16(pairs, pairs), 0x08);
  if (streams) {
    _mm_stream_si128((__m128i *)(void *)dst, _mm256_castsi256_si128(packed));
  } else {
    _mm_storeu_si128((__m128i *)(void *)dst, _mm256_castsi256_si128(packed));
  }
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_load_nibbles_avx2_(const uint8_t *src) {
  const mpnum_halves_avx2_ pairs = (mpnum_halves_avx2_)_mm256_cvtepu8_epi16(
      _mm_loadu_si128((const __m128i *)(const void *)src));
  return (mpnum_bytes_avx2_)(pairs | pairs << 4);
}
MPNUM_AVX2_ mpnum_bytes_avx2_ mpnum_load_sixes_avx2_(const uint8_t *src) {
  const __m256i twelves =
      _mm256_inserti128_si256(/* of bytes 0 to 15, and of 8 to 23 */
                              _mm256_castsi128_si256(
                                  _mm_loadu_si128((const __m128i *)(const void *)src)),
                              _mm_loadu_si128((const __m128i *)(const void *)(src + 8)),
                              1);
  const __m256i x = _mm256_shuffle_epi8(
      twelves, _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 4,
                                5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1));
  const __m256i odd = _mm256_set1_epi16((short)0xff00);
  const __m256i low = _mm256_blendv_epi8(x, _mm256_slli_epi32(x, 2), odd);
  const __m256i high =
      _mm256_blendv_epi8(_mm256_slli_epi32(x, 4), _mm256_slli_epi32(x, 6), odd);
  return (mpnum_bytes_avx2_)_mm256_blend_epi16(low, high, 0xaa);
}
MPNUM_AVX2_ void mpnum_store_sixes_avx2_(uint8_t *dst, mpnum_bytes_avx2_ x) {
  const __m256i pairs = _mm256_maddubs_epi16((__m256i)x, _mm256_set1_epi16(0x4001));
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x10000001));
  const __m256i twelves = _mm256_permutevar8x32_epi32(
      _mm256_shuffle_epi8(
          fours, _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12,
                                                           13, 14, -1, -1, -1, -1))),
      _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 0, 0));
  _mm_storeu_si128((__m128i *)(void *)dst, _mm256_castsi256_si128(twelves));
  _mm_storel_epi64((__m128i *)(void *)(dst + 16), _mm256_extracti128_si256(twelves, 1));
}
MPNUM_AVX2_ void mpnum_floats_of_halves_avx2_(__m256i low, __m256i high,
                                              mpnum_vector_avx2_ x[4]) {
  x[0] = (mpnum_vector_avx2_)_mm256_cvtph_ps(_mm256_castsi256_si128(low));
  x[1] = (mpnum_vector_avx2_)_mm256_cvtph_ps(_mm256_extracti128_si256(low, 1));
  x[2] = (mpnum_vector_avx2_)_mm256_cvtph_ps(_mm256_castsi256_si128(high));
  x[3] = (mpnum_vector_avx2_)_mm256_cvtph_ps(_mm256_extracti128_si256(high, 1));
}
MPNUM_AVX2_ void mpnum_f16_of_bytes_avx2_(mpnum_bytes_avx2_ codes,
                                          mpnum_vector_avx2_ x[4]) {
  const __m256i quarters = _mm256_permute4x64_epi64((__m256i)codes, 0xd8);
  const __m256i zero = _mm256_setzero_si256();
  mpnum_floats_of_halves_avx2_(_mm256_unpacklo_epi8(zero, quarters),
                               _mm256_unpackhi_epi8(zero, quarters), x);
}
MPNUM_AVX2_ void mpnum_shifted_f16_of_bytes_avx2_(mpnum_bytes_avx2_ codes, int right,
                                                  uint16_t mask,
                                                  mpnum_vector_avx2_ x[4]) {
  const __m256i quarters = _mm256_permute4x64_epi64((__m256i)codes, 0xd8);
  const __m256i zero = _mm256_setzero_si256();
  const __m256i ones = _mm256_set1_epi16((short)mask);
  const __m128i count = _mm_cvtsi32_si128(right);
  const __m256i low = _mm256_sra_epi16(_mm256_unpacklo_epi8(zero, quarters), count);
  const __m256i high = _mm256_sra_epi16(_mm256_unpackhi_epi8(zero, quarters), count);
  mpnum_floats_of_halves_avx2_(_mm256_and_si256(low, ones), _mm256_and_si256(high, ones),
                               x);
}
MPNUM_AVX2_ void mpnum_fence_avx2_(void) { _mm_sfence(); }

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

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* The words in which vector.inc is written, as explained in avx512.h, for SSE2,
 * which every x86-64 has. */
#ifndef MPNUM_DETAIL_SIMD_SSE2_H
#define MPNUM_DETAIL_SIMD_SSE2_H

#include "../core/environment.h"
#include "codings.h"
#include "../../isa.h"

#if MPNUM_HAS_X86_SIMD

# include <emmintrin.h>

# define MPNUM_SSE2_ MPNUM_FORCED_

typedef uint32_t mpnum_vector_sse2_ __attribute__((__vector_size__(16)));
typedef uint16_t mpnum_halves_sse2_ __attribute__((__vector_size__(16)));
typedef uint8_t mpnum_bytes_sse2_ __attribute__((__vector_size__(16)));
typedef __m128i mpnum_mask_sse2_;

MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_set_sse2_(uint32_t x) {
  return (mpnum_vector_sse2_)_mm_set1_epi32((int)x);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_iota_sse2_(void) {
  return (mpnum_vector_sse2_)_mm_setr_epi32(0, 1, 2, 3);
}
MPNUM_SSE2_ mpnum_mask_sse2_ mpnum_greater_sse2_(mpnum_vector_sse2_ a,
                                                 mpnum_vector_sse2_ b) {
  return _mm_cmpgt_epi32((__m128i)a, (__m128i)b);
}
MPNUM_SSE2_ mpnum_mask_sse2_ mpnum_below_sse2_(mpnum_vector_sse2_ a,
                                               mpnum_vector_sse2_ b) {
  return _mm_cmpgt_epi32((__m128i)(b ^ 0x80000000u), (__m128i)(a ^ 0x80000000u));
}
MPNUM_SSE2_ mpnum_mask_sse2_ mpnum_equal_sse2_(mpnum_vector_sse2_ a,
                                               mpnum_vector_sse2_ b) {
  return _mm_cmpeq_epi32((__m128i)a, (__m128i)b);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_select_sse2_(mpnum_mask_sse2_ mask,
                                                  mpnum_vector_sse2_ a,
                                                  mpnum_vector_sse2_ b) {
  const mpnum_vector_sse2_ lanes = (mpnum_vector_sse2_)mask;
  return (a & lanes) | (b & ~lanes);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_min_sse2_(mpnum_vector_sse2_ a,
                                               mpnum_vector_sse2_ b) {
  return mpnum_select_sse2_(mpnum_greater_sse2_(a, b), b, a);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_max_sse2_(mpnum_vector_sse2_ a,
                                               mpnum_vector_sse2_ b) {
  return mpnum_select_sse2_(mpnum_greater_sse2_(a, b), a, b);
}
/* There is no shift by counts of a vector: one shift for each bit of the count. */
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_left_sse2_(mpnum_vector_sse2_ x,
                                                mpnum_vector_sse2_ count) {
  const mpnum_vector_sse2_ zero = mpnum_set_sse2_(0);
  int bit = 1;
  for (; bit < 32; bit *= 2)
    x = mpnum_select_sse2_(mpnum_equal_sse2_(count & (uint32_t)bit, zero), x, x << bit);
  return mpnum_select_sse2_(mpnum_equal_sse2_(count >> 5, zero), x, zero);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_right_sse2_(mpnum_vector_sse2_ x,
                                                 mpnum_vector_sse2_ count) {
  const mpnum_vector_sse2_ zero = mpnum_set_sse2_(0);
  int bit = 1;
  for (; bit < 32; bit *= 2)
    x = mpnum_select_sse2_(mpnum_equal_sse2_(count & (uint32_t)bit, zero), x, x >> bit);
  return mpnum_select_sse2_(mpnum_equal_sse2_(count >> 5, zero), x, zero);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_right_by_sse2_(mpnum_vector_sse2_ x, int count) {
  return (mpnum_vector_sse2_)_mm_srl_epi32((__m128i)x, _mm_cvtsi32_si128(count));
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_left_by_sse2_(mpnum_vector_sse2_ x, int count) {
  return (mpnum_vector_sse2_)_mm_sll_epi32((__m128i)x, _mm_cvtsi32_si128(count));
}

MPNUM_SSE2_ mpnum_mask_sse2_ mpnum_is_nan_sse2_(mpnum_vector_sse2_ x) {
  return mpnum_greater_sse2_(x & 0x7fffffffu, mpnum_set_sse2_(0x7f800000u));
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_clamped_magnitude_sse2_(mpnum_vector_sse2_ x,
                                                             uint32_t limit) {
  return mpnum_min_sse2_(x & 0x7fffffffu, mpnum_set_sse2_(limit));
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_add_floats_sse2_(mpnum_vector_sse2_ a,
                                                      mpnum_vector_sse2_ b) {
  __m128 sum = _mm_add_ps((__m128)a, (__m128)b);
  __asm__("" : "+x"(sum)); /* -ffast-math must not see through it */
  return (mpnum_vector_sse2_)sum;
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_add_scaled_sse2_(mpnum_vector_sse2_ power,
                                                      mpnum_vector_sse2_ x, float scale) {
  __m128 sum = _mm_mul_ps((__m128)x, _mm_set1_ps(scale)); /* exact, or far below half */
  sum = _mm_add_ps(sum, (__m128)power);
  __asm__("" : "+x"(sum)); /* -ffast-math must not see through it */
  return (mpnum_vector_sse2_)sum;
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_scaled_sse2_(mpnum_vector_sse2_ x, float scale) {
  return (mpnum_vector_sse2_)_mm_mul_ps(_mm_cvtepi32_ps((__m128i)x), _mm_set1_ps(scale));
}

MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_times_power_sse2_(mpnum_vector_sse2_ x,
                                                       float scale) {
  return (mpnum_vector_sse2_)_mm_mul_ps((__m128)x, _mm_set1_ps(scale));
}

/* Words of func.inc, on floats as bits: rounded once. The asm hides them from
 * -ffast-math, which would divide by way of an estimate, too. */
# define MPNUM_REAL_OF_TWO_(name, instruction)                                \
  MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_##name##_sse2_(mpnum_vector_sse2_ a,   \
                                                      mpnum_vector_sse2_ b) { \
   __m128 x = (__m128)a;                                                      \
   __asm__(instruction " %1, %0" : "+x"(x) : "x"((__m128)b));                 \
   return (mpnum_vector_sse2_)x;                                              \
  }
MPNUM_REAL_OF_TWO_(plus, "addps")
MPNUM_REAL_OF_TWO_(minus, "subps")
MPNUM_REAL_OF_TWO_(times, "mulps")
MPNUM_REAL_OF_TWO_(over, "divps")
# undef MPNUM_REAL_OF_TWO_
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_root_sse2_(mpnum_vector_sse2_ x) {
  __m128 root;
  __asm__("sqrtps %1, %0" : "=x"(root) : "x"((__m128)x));
  return (mpnum_vector_sse2_)root;
}

MPNUM_SSE2_ int mpnum_any_above_sse2_(int bits, mpnum_vector_sse2_ x,
                                      mpnum_vector_sse2_ limit) {
  const __m128i a = (__m128i)x, b = (__m128i)limit;
  if (bits == 8) return _mm_movemask_epi8(_mm_cmpgt_epi8(a, b)) != 0;
  if (bits == 16) return _mm_movemask_epi8(_mm_cmpgt_epi16(a, b)) != 0;
  return _mm_movemask_epi8(_mm_cmpgt_epi32(a, b)) != 0;
}
MPNUM_SSE2_ void mpnum_multiply_sse2_(mpnum_vector_sse2_ a, uint32_t b,
                                      mpnum_vector_sse2_ *high, mpnum_vector_sse2_ *low) {
  const __m128i factor = (__m128i)mpnum_set_sse2_(b);
  const __m128i even = _mm_mul_epu32((__m128i)a, factor);
  const __m128i odd = _mm_mul_epu32(_mm_srli_epi64((__m128i)a, 32), factor);
  const __m128i low_word = _mm_set1_epi64x(0xffffffffLL);
  *high = (mpnum_vector_sse2_)_mm_or_si128(_mm_srli_epi64(even, 32),
                                           _mm_andnot_si128(low_word, odd));
  *low = (mpnum_vector_sse2_)_mm_or_si128(_mm_and_si128(even, low_word),
                                          _mm_slli_epi64(odd, 32));
}
MPNUM_SSE2_ void mpnum_transpose_sse2_(mpnum_vector_sse2_ rows[4]) {
  const __m128i low01 = _mm_unpacklo_epi32((__m128i)rows[0], (__m128i)rows[1]);
  const __m128i high01 = _mm_unpackhi_epi32((__m128i)rows[0], (__m128i)rows[1]);
  const __m128i low23 = _mm_unpacklo_epi32((__m128i)rows[2], (__m128i)rows[3]);
  const __m128i high23 = _mm_unpackhi_epi32((__m128i)rows[2], (__m128i)rows[3]);
  rows[0] = (mpnum_vector_sse2_)_mm_unpacklo_epi64(low01, low23);
  rows[1] = (mpnum_vector_sse2_)_mm_unpackhi_epi64(low01, low23);
  rows[2] = (mpnum_vector_sse2_)_mm_unpacklo_epi64(high01, high23);
  rows[3] = (mpnum_vector_sse2_)_mm_unpackhi_epi64(high01, high23);
}

MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_load8_sse2_(const uint8_t *src) {
  const __m128i zero = _mm_setzero_si128();
  int word;
  __builtin_memcpy(&word, src, 4);
  return (mpnum_vector_sse2_)_mm_unpacklo_epi16(
      _mm_unpacklo_epi8(_mm_cvtsi32_si128(word), zero), zero);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_load16_sse2_(const uint8_t *src) {
  return (mpnum_vector_sse2_)_mm_unpacklo_epi16(
      _mm_loadl_epi64((const __m128i *)(const void *)src), _mm_setzero_si128());
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_load32_sse2_(const uint8_t *src) {
  return (mpnum_vector_sse2_)_mm_loadu_si128((const __m128i *)(const void *)src);
}
MPNUM_SSE2_ void mpnum_load64_sse2_(const uint8_t *src, mpnum_vector_sse2_ *high,
                                    mpnum_vector_sse2_ *low) {
  const __m128 a = (__m128)mpnum_load32_sse2_(src);
  const __m128 b = (__m128)mpnum_load32_sse2_(src + 16);
  *low = (mpnum_vector_sse2_)_mm_shuffle_ps(a, b, 0x88);
  *high = (mpnum_vector_sse2_)_mm_shuffle_ps(a, b, 0xdd);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_load_nearest64_sse2_(const uint8_t *src) {
  const __m128 low = _mm_cvtpd_ps((__m128d)mpnum_load32_sse2_(src));
  const __m128 high = _mm_cvtpd_ps((__m128d)mpnum_load32_sse2_(src + 16));
  return (mpnum_vector_sse2_)_mm_movelh_ps(low, high);
}

/* The truncated float, its last bit set where something was cut off. */
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_narrow_to_odd_sse2_(mpnum_vector_sse2_ high,
                                                         mpnum_vector_sse2_ low) {
  const uint32_t first = (uint32_t)896 << 20; /* 896 = 1023 - 127 */
  const mpnum_vector_sse2_ zero = mpnum_set_sse2_(0);
  const mpnum_vector_sse2_ infinity = mpnum_set_sse2_(0x7f800000u);
  const mpnum_vector_sse2_ nan_bits = mpnum_set_sse2_(0x7fffffffu);
  const mpnum_vector_sse2_ source_infinity = mpnum_set_sse2_(0x7ff00000u);
  const mpnum_vector_sse2_ magnitude = high & 0x7fffffffu;
  /* The mantissa in 23 bits with its leading one, and the 29 bits below. A double that is
   * subnormal is below all floats and counts as any of them. */
  const mpnum_vector_sse2_ significand =
      ((magnitude & 0xfffffu) | 0x100000u) << 3 | low >> 29;
  const mpnum_vector_sse2_ rest = low << 3;
  const mpnum_vector_sse2_ distance = mpnum_min_sse2_(
      897 - mpnum_min_sse2_(magnitude >> 20, mpnum_set_sse2_(897)), mpnum_set_sse2_(32));
  const mpnum_vector_sse2_ small_rest =
      mpnum_left_sse2_(significand, 32 - distance) | rest;
  const mpnum_mask_sse2_ is_normal = mpnum_equal_sse2_(distance, zero);
  const mpnum_vector_sse2_ code =
      mpnum_select_sse2_(is_normal, (magnitude - first) << 3 | low >> 29,
                         mpnum_right_sse2_(significand, distance));
  const mpnum_vector_sse2_ dropped = mpnum_select_sse2_(is_normal, rest, small_rest);
  mpnum_vector_sse2_ bits =
      mpnum_select_sse2_(mpnum_equal_sse2_(dropped, zero), code, code | 1);
  /* Past 2^128 the largest float, which is odd; zero; Inf; NaN, in either word. */
  bits = mpnum_select_sse2_(
      mpnum_greater_sse2_(mpnum_set_sse2_((uint32_t)1151 << 20), magnitude), bits,
      mpnum_set_sse2_(0x7f7fffffu));
  bits = mpnum_select_sse2_(mpnum_equal_sse2_(magnitude | low, zero), zero, bits);
  bits = mpnum_select_sse2_(
      mpnum_equal_sse2_(magnitude, source_infinity),
      mpnum_select_sse2_(mpnum_equal_sse2_(low, zero), infinity, nan_bits), bits);
  bits |= high & 0x80000000u;
  return mpnum_select_sse2_(mpnum_greater_sse2_(magnitude, source_infinity), nan_bits,
                            bits);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_load_odd64_sse2_(const uint8_t *src) {
  mpnum_vector_sse2_ high, low;
  mpnum_load64_sse2_(src, &high, &low);
  return mpnum_narrow_to_odd_sse2_(high, low);
}

MPNUM_SSE2_ void mpnum_put_sse2_(uint8_t *dst, __m128i x, int streams) {
  if (streams) {
    _mm_stream_si128((__m128i *)(void *)dst, x);
  } else {
    _mm_storeu_si128((__m128i *)(void *)dst, x);
  }
}
MPNUM_SSE2_ void mpnum_store32_sse2_(uint8_t *dst, mpnum_vector_sse2_ x, int streams) {
  mpnum_put_sse2_(dst, (__m128i)x, streams);
}
/* The low halves of a and b: their signs are spread, for packing saturates. */
MPNUM_SSE2_ __m128i mpnum_low_halves_sse2_(mpnum_vector_sse2_ a, mpnum_vector_sse2_ b) {
  return _mm_packs_epi32(_mm_srai_epi32(_mm_slli_epi32((__m128i)a, 16), 16),
                         _mm_srai_epi32(_mm_slli_epi32((__m128i)b, 16), 16));
}
MPNUM_SSE2_ void mpnum_store16_sse2_(uint8_t *dst, mpnum_vector_sse2_ a,
                                     mpnum_vector_sse2_ b, int streams) {
  mpnum_put_sse2_(dst, mpnum_low_halves_sse2_(a, b), streams);
}
MPNUM_SSE2_ void mpnum_store_high_sse2_(uint8_t *dst, mpnum_vector_sse2_ a,
                                        mpnum_vector_sse2_ b, int streams) {
  mpnum_put_sse2_(
      dst,
      _mm_packs_epi32(_mm_srai_epi32((__m128i)a, 16), _mm_srai_epi32((__m128i)b, 16)),
      streams);
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_sign_bytes_sse2_(const mpnum_vector_sse2_ x[4]) {
  return (mpnum_bytes_sse2_)_mm_packs_epi16(
      _mm_packs_epi32((__m128i)x[0], (__m128i)x[1]),
      _mm_packs_epi32((__m128i)x[2], (__m128i)x[3]));
}
MPNUM_SSE2_ int mpnum_any_nan_sse2_(const mpnum_vector_sse2_ x[4]) {
  __m128 low = (__m128)x[0], high = (__m128)x[2]; /* -ffast-math must not see it */
  __asm__("cmpunordps %1, %0" : "+x"(low) : "x"((__m128)x[1]));
  __asm__("cmpunordps %1, %0" : "+x"(high) : "x"((__m128)x[3]));
  return _mm_movemask_ps(_mm_or_ps(low, high)) != 0;
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_where_nan_sse2_(const mpnum_vector_sse2_ x[4],
                                                    uint8_t nan_result,
                                                    mpnum_bytes_sse2_ bytes) {
  const mpnum_bytes_sse2_ mask = (mpnum_bytes_sse2_)_mm_packs_epi16(
      _mm_packs_epi32(mpnum_is_nan_sse2_(x[0]), mpnum_is_nan_sse2_(x[1])),
      _mm_packs_epi32(mpnum_is_nan_sse2_(x[2]), mpnum_is_nan_sse2_(x[3])));
  return (mask & nan_result) | (~mask & bytes);
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_low_bytes_sse2_(const mpnum_vector_sse2_ x[4]) {
  const __m128i low = _mm_packs_epi32((__m128i)(x[0] & 0xffu), (__m128i)(x[1] & 0xffu));
  const __m128i high = _mm_packs_epi32((__m128i)(x[2] & 0xffu), (__m128i)(x[3] & 0xffu));
  return (mpnum_bytes_sse2_)_mm_packus_epi16(low, high);
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_packed_low_sse2_(const mpnum_vector_sse2_ x[4]) {
  return mpnum_low_bytes_sse2_(x);
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_in_order_sse2_(mpnum_bytes_sse2_ x) { return x; }
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_bytes_right_sse2_(mpnum_bytes_sse2_ x, int count) {
  return (mpnum_bytes_sse2_)((mpnum_halves_sse2_)x >> count);
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_bytes_left_sse2_(mpnum_bytes_sse2_ x, int count) {
  return (mpnum_bytes_sse2_)((mpnum_halves_sse2_)x << count);
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_load_bytes_sse2_(const uint8_t *src) {
  return (mpnum_bytes_sse2_)mpnum_load32_sse2_(src);
}
MPNUM_SSE2_ void mpnum_store_bytes_sse2_(uint8_t *dst, mpnum_bytes_sse2_ x, int streams) {
  mpnum_put_sse2_(dst, (__m128i)x, streams);
}
MPNUM_SSE2_ void mpnum_store_nibbles_sse2_(uint8_t *dst, mpnum_bytes_sse2_ x,
                                           int streams) {
  const mpnum_halves_sse2_ pairs = (mpnum_halves_sse2_)x;
  const __m128i joined = (__m128i)((pairs | pairs >> 4) & 0xff);
  (void)streams;
  _mm_storel_epi64((__m128i *)(void *)dst, _mm_packus_epi16(joined, joined));
}
MPNUM_SSE2_ void mpnum_store_sixes_sse2_(uint8_t *dst, mpnum_bytes_sse2_ x) {
  uint8_t codes[16];
  mpnum_store_bytes_sse2_(codes, x, 0);
  mpnum_pack_(6, dst, codes, 16);
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_load_nibbles_sse2_(const uint8_t *src) {
  const mpnum_halves_sse2_ pairs = (mpnum_halves_sse2_)_mm_unpacklo_epi8(
      _mm_loadl_epi64((const __m128i *)(const void *)src), _mm_setzero_si128());
  return (mpnum_bytes_sse2_)(pairs | pairs << 4);
}
MPNUM_SSE2_ mpnum_bytes_sse2_ mpnum_load_sixes_sse2_(const uint8_t *src) {
  uint8_t codes[16];
  mpnum_unpack_(6, codes, src, 16);
  return (mpnum_bytes_sse2_)mpnum_load32_sse2_(codes);
}
/* Of f16 codes in the high halves of lanes, which are spread by their sign: the
 * multiplication is exact, and makes floats of subnormals, too. */
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_f16_floats_sse2_(__m128i halves) {
  const mpnum_vector_sse2_ x = (mpnum_vector_sse2_)_mm_srai_epi32(halves, 16);
  const mpnum_vector_sse2_ magnitude = x & 0x7fffu, bits = magnitude << 13;
  const mpnum_vector_sse2_ quiet =
      mpnum_select_sse2_(mpnum_greater_sse2_(magnitude, mpnum_set_sse2_(0x7c00)),
                         mpnum_set_sse2_(0x400000), mpnum_set_sse2_(0));
  const mpnum_vector_sse2_ large =
      mpnum_select_sse2_(mpnum_greater_sse2_(magnitude, mpnum_set_sse2_(0x7bff)),
                         bits | quiet | 0x7f800000u, bits + ((uint32_t)112 << 23));
  return mpnum_select_sse2_(mpnum_greater_sse2_(mpnum_set_sse2_(0x400), magnitude),
                            mpnum_scaled_sse2_(magnitude, mpnum_pow2_(-24)), large) |
         (x & 0x80000000u);
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_load_f16_sse2_(const uint8_t *src) {
  return mpnum_f16_floats_sse2_(_mm_unpacklo_epi16(
      _mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)(const void *)src)));
}
MPNUM_SSE2_ void mpnum_floats_of_halves_sse2_(__m128i low, __m128i high,
                                              mpnum_vector_sse2_ x[4]) {
  const __m128i zero = _mm_setzero_si128();
  x[0] = mpnum_f16_floats_sse2_(_mm_unpacklo_epi16(zero, low));
  x[1] = mpnum_f16_floats_sse2_(_mm_unpackhi_epi16(zero, low));
  x[2] = mpnum_f16_floats_sse2_(_mm_unpacklo_epi16(zero, high));
  x[3] = mpnum_f16_floats_sse2_(_mm_unpackhi_epi16(zero, high));
}
MPNUM_SSE2_ void mpnum_shifted_f16_of_bytes_sse2_(mpnum_bytes_sse2_ codes, int right,
                                                  uint16_t mask,
                                                  mpnum_vector_sse2_ x[4]) {
  const __m128i zero = _mm_setzero_si128(), ones = _mm_set1_epi16((short)mask);
  const __m128i count = _mm_cvtsi32_si128(right);
  const __m128i low = _mm_sra_epi16(_mm_unpacklo_epi8(zero, (__m128i)codes), count);
  const __m128i high = _mm_sra_epi16(_mm_unpackhi_epi8(zero, (__m128i)codes), count);
  mpnum_floats_of_halves_sse2_(_mm_and_si128(low, ones), _mm_and_si128(high, ones), x);
}
MPNUM_SSE2_ void mpnum_f16_of_bytes_sse2_(mpnum_bytes_sse2_ codes,
                                          mpnum_vector_sse2_ x[4]) {
  mpnum_shifted_f16_of_bytes_sse2_(codes, 0, 0xffff, x);
}
MPNUM_SSE2_ void mpnum_fence_sse2_(void) { _mm_sfence(); }

MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_max_codes_sse2_(int bits, mpnum_vector_sse2_ a,
                                                     mpnum_vector_sse2_ b) {
  if (bits == 8) return (mpnum_vector_sse2_)_mm_max_epu8((__m128i)a, (__m128i)b);
  if (bits == 16) return (mpnum_vector_sse2_)_mm_max_epi16((__m128i)a, (__m128i)b);
  return mpnum_max_sse2_(a, b);
}
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
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_count_above_sse2_(int bits, mpnum_vector_sse2_ count,
                                                       mpnum_vector_sse2_ x,
                                                       mpnum_vector_sse2_ limit) {
  const __m128i a = (__m128i)x, b = (__m128i)limit, from = (__m128i)count;
  if (bits == 8) return (mpnum_vector_sse2_)_mm_sub_epi8(from, _mm_cmpgt_epi8(a, b));
  if (bits == 16) return (mpnum_vector_sse2_)_mm_sub_epi16(from, _mm_cmpgt_epi16(a, b));
  return (mpnum_vector_sse2_)_mm_sub_epi32(from, _mm_cmpgt_epi32(a, b));
}
MPNUM_SSE2_ mpnum_vector_sse2_ mpnum_wide_counts_sse2_(int bits,
                                                       mpnum_vector_sse2_ count) {
  if (bits == 8)
    return (mpnum_vector_sse2_)_mm_sad_epu8((__m128i)count, _mm_setzero_si128());
  if (bits == 16)
    return (mpnum_vector_sse2_)_mm_madd_epi16((__m128i)count, _mm_set1_epi16(1));
  return count;
}

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

#endif
#endif

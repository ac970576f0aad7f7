/* SPDX-License-Identifier: MIT */
/* The operations in which the .inc files are written, as explained in avx512.h, for AVX2
 * with FMA and F16C, or without F16C where the compiler was told so. */
#ifndef MPNUM_SIMD_DETAIL_AVX2_H
#define MPNUM_SIMD_DETAIL_AVX2_H

#include "../../core/detail/environment.h"
#include "../isa.h"
#include "vector_class.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_X86_SIMD_

# include <immintrin.h>

# if MPNUM_NO_DISPATCH && MPNUM_HAS_GNU_ && !defined(__F16C__)
#  define MPNUM_AVX2_HAS_F16C_ 0
#  define MPNUM_TARGET_AVX2_   MPNUM_TARGET_("avx2,fma")
# else
#  define MPNUM_AVX2_HAS_F16C_ 1
#  define MPNUM_TARGET_AVX2_   MPNUM_TARGET_("avx2,fma,f16c")
# endif
# define MPNUM_AVX2_ MPNUM_FORCED_ MPNUM_TARGET_AVX2_

# include "operations.inc"
# define MPNUM_ISA_HERE_ 2
# include "isa_begin.inc"

# if MPNUM_HAS_GNU_
typedef uint32_t mpnumv_vector __attribute__((__vector_size__(32)));
typedef uint16_t mpnum_u16_avx2_ __attribute__((__vector_size__(32)));
typedef uint8_t mpnumv_bytes __attribute__((__vector_size__(32)));
# else
MPNUM_VECTOR_CLASSES_(avx2, _mm256, __m256, 256)
MPNUM_WIDE_CLASSES_(avx2, _mm256_set1_epi64x, _mm256, __m256, 256)
MPNUM_FORCED_ mpnumv_vector operator*(mpnumv_vector a, mpnumv_vector b) {
  return _mm256_mullo_epi32(a, b);
}
MPNUM_FORCED_ mpnumv_bytes operator!=(mpnumv_bytes a, mpnumv_bytes b) {
  return ~(mpnumv_bytes)_mm256_cmpeq_epi8(a, b);
}
/* By 63 alone. */
MPNUM_FORCED_ mpnumv_signed_wide operator>>(mpnumv_signed_wide x, int count) {
  (void)count;
  return _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
}
# endif
typedef __m256i mpnumv_mask;
typedef mpnumv_vector mpnumv_f32; /* floats as their bits */

MPNUM_AVX2_ mpnumv_vector mpnumv_splat(uint32_t x) {
  return (mpnumv_vector)_mm256_set1_epi32((int)x);
}
/* A constant from memory: one that has no register gcc 12 makes in two steps of the port
 * of shuffles, each time. */
MPNUM_AVX2_ mpnumv_vector mpnumv_splat_of(const uint32_t *x) {
# if MPNUM_HAS_GNU_
  mpnumv_vector y;
  __asm__("vpbroadcastd %1, %0" : "=x"(y) : "m"(*x));
  return y;
# else
  return mpnumv_splat(*x);
# endif
}
MPNUM_AVX2_ __m256d mpnum_double_of_avx2_(const uint64_t *bits) {
# if MPNUM_HAS_GNU_
  __m256d y;
  __asm__("vpbroadcastq %1, %0" : "=x"(y) : "m"(*bits));
  return y;
# else
  return _mm256_castsi256_pd(_mm256_set1_epi64x((long long)*bits));
# endif
}
MPNUM_AVX2_ mpnumv_vector mpnumv_bits_of(mpnumv_f32 x) { return x; }
MPNUM_AVX2_ mpnumv_f32 mpnumv_f32_of(mpnumv_vector bits) { return bits; }
MPNUM_AVX2_ mpnumv_f32 mpnumv_constant(uint32_t bits) { return mpnumv_splat(bits); }
MPNUM_AVX2_ mpnumv_vector mpnumv_iota(void) {
  return (mpnumv_vector)_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_min(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm256_min_epu32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_max(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm256_max_epu32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnumv_mask mpnumv_greater(mpnumv_vector a, mpnumv_vector b) {
  return _mm256_cmpgt_epi32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnumv_mask mpnumv_less(mpnumv_vector a, mpnumv_vector b) {
  return _mm256_cmpgt_epi32((__m256i)(b ^ 0x80000000u), (__m256i)(a ^ 0x80000000u));
}
MPNUM_AVX2_ mpnumv_mask mpnumv_equal(mpnumv_vector a, mpnumv_vector b) {
  return _mm256_cmpeq_epi32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_select(mpnumv_mask mask, mpnumv_vector a,
                                        mpnumv_vector b) {
  return (mpnumv_vector)_mm256_blendv_epi8((__m256i)b, (__m256i)a, mask);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_where(mpnumv_mask mask, mpnumv_vector x) {
  return (mpnumv_vector)mask & x;
}
MPNUM_AVX2_ mpnumv_vector mpnumv_shl(mpnumv_vector x, mpnumv_vector count) {
  return (mpnumv_vector)_mm256_sllv_epi32((__m256i)x, (__m256i)count);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_shr(mpnumv_vector x, mpnumv_vector count) {
  return (mpnumv_vector)_mm256_srlv_epi32((__m256i)x, (__m256i)count);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_shr_by(mpnumv_vector x, int count) {
  if (MPNUM_IS_KNOWN_(count)) return x >> count;
  return mpnumv_shr(x, mpnumv_splat((uint32_t)count));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_shl_by(mpnumv_vector x, int count) {
  if (MPNUM_IS_KNOWN_(count)) return x << count;
  return mpnumv_shl(x, mpnumv_splat((uint32_t)count));
}

MPNUM_AVX2_ mpnumv_mask mpnumv_is_nan(mpnumv_vector x) {
# if MPNUM_HAS_GNU_
  __m256 mask; /* -ffast-math must not see it */
  __asm__("vcmpunordps %1, %1, %0" : "=x"(mask) : "x"((__m256)x));
# else
  const __m256 mask = _mm256_cmp_ps((__m256)x, (__m256)x, _CMP_UNORD_Q);
# endif
  return _mm256_castps_si256(mask);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_smaller_magnitude(mpnumv_vector a, mpnumv_vector b) {
  return mpnumv_min(a & 0x7fffffffu, b & 0x7fffffffu);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_clamped_magnitude(mpnumv_vector x, uint32_t limit) {
  return mpnumv_min(x & 0x7fffffffu, mpnumv_splat(limit));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_add_floats(mpnumv_vector a, mpnumv_vector b) {
  __m256 sum = _mm256_add_ps((__m256)a, (__m256)b);
  MPNUM_HIDE_(sum); /* -ffast-math must not see through it */
  return (mpnumv_vector)sum;
}
MPNUM_AVX2_ mpnumv_vector mpnumv_add_scaled(mpnumv_vector power, mpnumv_vector x,
                                            float scale) {
  __m256 sum = _mm256_fmadd_ps((__m256)x, _mm256_set1_ps(scale), (__m256)power);
  MPNUM_HIDE_(sum); /* -ffast-math must not see through it */
  return (mpnumv_vector)sum;
}
MPNUM_AVX2_ mpnumv_f32 mpnumv_f32_of_whole(mpnumv_vector x) {
  return (mpnumv_vector)_mm256_cvtepi32_ps((__m256i)x);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_mul_power(mpnumv_vector x, float scale) {
  return (mpnumv_vector)_mm256_mul_ps((__m256)x, _mm256_set1_ps(scale));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_scaled(mpnumv_vector x, float scale) {
  return mpnumv_mul_power(mpnumv_bits_of(mpnumv_f32_of_whole(x)), scale);
}

/* Words of func.inc, on floats as bits: rounded once. The asm hides them from
 * -ffast-math, which would divide by way of an estimate, too. */
# if MPNUM_HAS_GNU_
#  define MPNUM_F32_OPERATION_(name, instruction, intrinsic)                       \
   MPNUM_AVX2_ mpnumv_vector name(mpnumv_vector a, mpnumv_vector b) {              \
    __m256 x;                                                                      \
    __asm__(instruction " %2, %1, %0" : "=x"(x) : "x"((__m256)a), "x"((__m256)b)); \
    return (mpnumv_vector)x;                                                       \
   }
# else
#  define MPNUM_F32_OPERATION_(name, instruction, intrinsic)          \
   MPNUM_AVX2_ mpnumv_vector name(mpnumv_vector a, mpnumv_vector b) { \
    return (mpnumv_vector)intrinsic((__m256)a, (__m256)b);            \
   }
# endif
MPNUM_F32_OPERATION_(mpnumv_add, "vaddps", _mm256_add_ps)
MPNUM_F32_OPERATION_(mpnumv_sub, "vsubps", _mm256_sub_ps)
MPNUM_F32_OPERATION_(mpnumv_mul, "vmulps", _mm256_mul_ps)
MPNUM_F32_OPERATION_(mpnumv_div, "vdivps", _mm256_div_ps)
# undef MPNUM_F32_OPERATION_
/* a b + c. gcc takes constants from memory, as there are few registers; clang would put
 * there what is in one. */
# if defined(__clang__)
#  define MPNUM_OR_MEMORY_ "x"
# else
#  define MPNUM_OR_MEMORY_ "xm"
# endif
MPNUM_AVX2_ mpnumv_vector mpnumv_fma(mpnumv_vector a, mpnumv_vector b, mpnumv_vector c) {
# if MPNUM_HAS_GNU_
  __m256 x = (__m256)a;
  __asm__("vfmadd213ps %2, %1, %0"
          : "+x"(x)
          : "x"((__m256)b), MPNUM_OR_MEMORY_((__m256)c));
  return (mpnumv_vector)x;
# else
  return (mpnumv_vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
# endif
}
# undef MPNUM_OR_MEMORY_
MPNUM_AVX2_ mpnumv_vector mpnumv_clamped_below(mpnumv_vector x, uint32_t low) {
  return (mpnumv_vector)_mm256_min_epu32((__m256i)x, (__m256i)mpnumv_splat(low));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_clamped_above(mpnumv_vector x, uint32_t high) {
  return (mpnumv_vector)_mm256_min_epi32((__m256i)x, (__m256i)mpnumv_splat(high));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_clamped_or_nan(mpnumv_vector x, uint32_t low,
                                                uint32_t high) {
# if MPNUM_HAS_GNU_
  __m256 y; /* -ffast-math must not see it */
  __asm__("vminps %2, %1, %0"
          : "=x"(y)
          : "x"((__m256)mpnumv_splat(high)), "x"((__m256)x));
  __asm__("vmaxps %2, %1, %0" : "=x"(y) : "x"((__m256)mpnumv_splat(low)), "x"(y));
  return (mpnumv_vector)y;
# else
  const __m256 y = _mm256_min_ps((__m256)mpnumv_splat(high), (__m256)x);
  return (mpnumv_vector)_mm256_max_ps((__m256)mpnumv_splat(low), y);
# endif
}
MPNUM_AVX2_ mpnumv_mask mpnumv_not_below(mpnumv_vector x, uint32_t low) {
# if MPNUM_HAS_GNU_
  __m256 mask; /* -ffast-math must not see it */
  __asm__("vcmpleps %2, %1, %0"
          : "=x"(mask)
          : "x"((__m256)mpnumv_splat(low)), "x"((__m256)x));
# else
  const __m256 mask = _mm256_cmp_ps((__m256)mpnumv_splat(low), (__m256)x, _CMP_LE_OS);
# endif
  return _mm256_castps_si256(mask);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_sqrt_raw(mpnumv_vector x) {
# if MPNUM_HAS_GNU_
  __m256 root;
  __asm__("vsqrtps %1, %0" : "=x"(root) : "x"((__m256)x));
  return (mpnumv_vector)root;
# else
  return (mpnumv_vector)_mm256_sqrt_ps((__m256)x);
# endif
}

MPNUM_AVX2_ int mpnumv_any_above(int bits, mpnumv_vector x, mpnumv_vector limit) {
  const __m256i a = (__m256i)x, b = (__m256i)limit;
  if (bits == 8) return _mm256_movemask_epi8(_mm256_cmpgt_epi8(a, b)) != 0;
  if (bits == 16) return _mm256_movemask_epi8(_mm256_cmpgt_epi16(a, b)) != 0;
  return _mm256_movemask_epi8(_mm256_cmpgt_epi32(a, b)) != 0;
}
MPNUM_AVX2_ void mpnumv_mul_wide(mpnumv_vector a, uint32_t b, mpnumv_vector *high,
                                 mpnumv_vector *low) {
  const __m256i product = _mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x((long long)b));
  *low = (mpnumv_vector)product;
  *high = (mpnumv_vector)_mm256_srli_epi64(product, 32);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_even_products(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_word_of(const uint32_t *words, mpnumv_vector place) {
  const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)words);
  const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(words + 8));
  return (mpnumv_vector)_mm256_blendv_ps(
      _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, (__m256i)place)),
      _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, (__m256i)place)),
      (__m256)(place << 28));
}
/* By way of doubles, of the upper 52 bits and the other 11, all of which is exact. */
MPNUM_AVX2_ void mpnum_cut_double_avx2_(mpnumv_vector bits, __m128 *high, __m128 *low) {
  static const uint64_t numbers[4] = {0xffffffffe0000000u, 0x3ff0000000000000u,
                                      0x3f40000000000000u, 0x7ff}; /* 1, 2^-11 */
  const __m256i x = (__m256i)bits;
  const __m256d cut = mpnum_double_of_avx2_(numbers),
                most = mpnum_double_of_avx2_(numbers + 1),
                least = mpnum_double_of_avx2_(numbers + 2);
  __m256d upper = _mm256_castsi256_pd(
      _mm256_or_si256(_mm256_srli_epi64(x, 11), _mm256_castpd_si256(most)));
  __m256d lower = _mm256_castsi256_pd(_mm256_or_si256(
      _mm256_and_si256(x, _mm256_castpd_si256(mpnum_double_of_avx2_(numbers + 3))),
      _mm256_castpd_si256(least)));
  __m256d first;
# if MPNUM_HAS_GNU_
  __asm__("vsubpd %1, %0, %0" : "+x"(upper) : "x"(most));
  __asm__("vsubpd %1, %0, %0" : "+x"(lower) : "x"(least));
  first = _mm256_and_pd(upper, cut);
  __asm__("vsubpd %1, %0, %0" : "+x"(upper) : "x"(first));
  __asm__("vaddpd %1, %0, %0" : "+x"(upper) : "x"(lower));
# else
  upper = _mm256_sub_pd(upper, most);
  lower = _mm256_sub_pd(lower, least);
  first = _mm256_and_pd(upper, cut);
  upper = _mm256_add_pd(_mm256_sub_pd(upper, first), lower);
# endif
  *high = _mm256_cvtpd_ps(first);
  *low = _mm256_cvtpd_ps(_mm256_and_pd(upper, cut));
}
MPNUM_AVX2_ void mpnumv_cut_to_pair(const mpnumv_vector x[2], mpnumv_vector *high,
                                    mpnumv_vector *low) {
  const __m256i turns = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  __m128 first[2], second[2];
  mpnum_cut_double_avx2_(x[0], first, second);
  mpnum_cut_double_avx2_(x[1], first + 1, second + 1);
  *high = (mpnumv_vector)_mm256_permutevar8x32_ps(
      _mm256_insertf128_ps(_mm256_castps128_ps256(first[0]), first[1], 1), turns);
  *low = (mpnumv_vector)_mm256_permutevar8x32_ps(
      _mm256_insertf128_ps(_mm256_castps128_ps256(second[0]), second[1], 1), turns);
}
MPNUM_AVX2_ void mpnumv_store_words(uint8_t *dst, const mpnumv_vector x[4]) {
  const __m256i low =
      _mm256_blend_epi32((__m256i)x[0], _mm256_slli_epi64((__m256i)x[1], 32), 0xaa);
  const __m256i high =
      _mm256_blend_epi32((__m256i)x[2], _mm256_slli_epi64((__m256i)x[3], 32), 0xaa);
  _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_unpacklo_epi64(low, high));
  _mm256_storeu_si256((__m256i *)(void *)(dst + 32), _mm256_unpackhi_epi64(low, high));
}
MPNUM_AVX2_ void mpnumv_transpose(mpnumv_vector rows[4]) {
  const __m256i low01 = _mm256_unpacklo_epi32((__m256i)rows[0], (__m256i)rows[1]);
  const __m256i high01 = _mm256_unpackhi_epi32((__m256i)rows[0], (__m256i)rows[1]);
  const __m256i low23 = _mm256_unpacklo_epi32((__m256i)rows[2], (__m256i)rows[3]);
  const __m256i high23 = _mm256_unpackhi_epi32((__m256i)rows[2], (__m256i)rows[3]);
  rows[0] = (mpnumv_vector)_mm256_unpacklo_epi64(low01, low23);
  rows[1] = (mpnumv_vector)_mm256_unpackhi_epi64(low01, low23);
  rows[2] = (mpnumv_vector)_mm256_unpacklo_epi64(high01, high23);
  rows[3] = (mpnumv_vector)_mm256_unpackhi_epi64(high01, high23);
}
MPNUM_AVX2_ void mpnumv_unzip(mpnumv_vector pair[2]) {
  const __m256 a = (__m256)pair[0], b = (__m256)pair[1];
  pair[0] = (mpnumv_vector)_mm256_permute4x64_epi64(
      _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)), 0xd8);
  pair[1] = (mpnumv_vector)_mm256_permute4x64_epi64(
      _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), 0xd8);
}
MPNUM_AVX2_ void mpnumv_zip(mpnumv_vector pair[2]) {
  const __m256i a = (__m256i)pair[0], b = (__m256i)pair[1];
  const __m256i low = _mm256_unpacklo_epi32(a, b), high = _mm256_unpackhi_epi32(a, b);
  pair[0] = (mpnumv_vector)_mm256_permute2x128_si256(low, high, 0x20);
  pair[1] = (mpnumv_vector)_mm256_permute2x128_si256(low, high, 0x31);
}

MPNUM_AVX2_ mpnumv_vector mpnumv_largest_of_quarters(const mpnumv_vector *x) {
  const __m256i a = (__m256i)x[0], b = (__m256i)x[1];
  return mpnumv_max((mpnumv_vector)_mm256_permute2x128_si256(a, b, 0x20),
                    (mpnumv_vector)_mm256_permute2x128_si256(a, b, 0x31));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_larger(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm256_max_ps((__m256)a, (__m256)b);
}
/* Stride 1, 2 or 4. */
MPNUM_AVX2_ mpnumv_vector mpnumv_swapped(mpnumv_vector x, int stride) {
  if (stride == 1) return (mpnumv_vector)_mm256_permute_ps((__m256)x, 0xb1);
  if (stride == 2) return (mpnumv_vector)_mm256_permute_ps((__m256)x, 0x4e);
  return (mpnumv_vector)_mm256_permute2f128_ps((__m256)x, (__m256)x, 1);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_butterfly(mpnumv_vector x, int stride) {
  const mpnumv_vector by_1 = (mpnumv_vector)_mm256_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1);
  const mpnumv_vector by_2 = (mpnumv_vector)_mm256_setr_epi32(0, 0, 1, 1, 0, 0, 1, 1);
  const mpnumv_vector by_4 = (mpnumv_vector)_mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const mpnumv_vector second = stride == 1 ? by_1 : stride == 2 ? by_2 : by_4;
  __m256 sum = _mm256_fmadd_ps((__m256)x, (__m256)(second << 31 | 0x3f800000u),
                               (__m256)mpnumv_swapped(x, stride));
  MPNUM_HIDE_(sum); /* -ffast-math must not see through it */
  return (mpnumv_vector)sum;
}

MPNUM_AVX2_ void mpnumv_copy_rest(uint8_t *dst, const uint8_t *src, size_t bytes) {
  MPNUM_MEMCPY_(dst, src, bytes);
}
/* Fewer than 32 bytes, the others zero, in a register: a vector that is loaded from
 * narrower stores waits for them. */
MPNUM_AVX2_ __m256i mpnum_few_bytes_avx2_(const uint8_t *src, size_t bytes) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i words = _mm256_set1_epi32((int)(bytes / 4));
  const __m256i whole = _mm256_maskload_epi32((const int *)(const void *)src,
                                              _mm256_cmpgt_epi32(words, lane));
  const uint8_t *const last = src + (bytes & ~(size_t)3);
  uint32_t word = 0;
  if (!(bytes & 3)) return whole;
  word = last[0];
  if (bytes & 2) word |= (uint32_t)last[1] << 8;
  if ((bytes & 3) == 3) word |= (uint32_t)last[2] << 16;
  return _mm256_or_si256(whole, _mm256_and_si256(_mm256_set1_epi32((int)word),
                                                 _mm256_cmpeq_epi32(words, lane)));
}
/* The same, with zeros behind it up to a size, in whole vectors. */
MPNUM_AVX2_ void mpnumv_copy_padded(uint8_t *dst, const uint8_t *src, size_t bytes,
                                    size_t size) {
  size_t i = 0;
  for (; i < size; i += 32) {
    const size_t left = bytes > i ? bytes - i : 0;
    __m256i x = _mm256_setzero_si256();
    if (left >= 32)
      x = _mm256_loadu_si256((const __m256i *)(const void *)(src + i));
    else if (left)
      x = mpnum_few_bytes_avx2_(src + i, left);
    _mm256_storeu_si256((__m256i *)(void *)(dst + i), x);
  }
}
MPNUM_AVX2_ mpnumv_vector mpnumv_load8(const uint8_t *src) {
  return (mpnumv_vector)_mm256_cvtepu8_epi32(
      _mm_loadl_epi64((const __m128i *)(const void *)src));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_load16(const uint8_t *src) {
  return (mpnumv_vector)_mm256_cvtepu16_epi32(
      _mm_loadu_si128((const __m128i *)(const void *)src));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_load32(const uint8_t *src) {
  return (mpnumv_vector)_mm256_loadu_si256((const __m256i *)(const void *)src);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_load_nearest64(const uint8_t *src) {
  const __m128 low = _mm256_cvtpd_ps((__m256d)mpnumv_load32(src));
  const __m128 high = _mm256_cvtpd_ps((__m256d)mpnumv_load32(src + 32));
  return (mpnumv_vector)_mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

/* The nearest float, less one where it is past the double, its last bit set where it is
 * another number. */
MPNUM_AVX2_ mpnumv_vector mpnumv_load_odd64(const uint8_t *src) {
  const __m256i abs = _mm256_set1_epi64x(0x7fffffffffffffff);
  const mpnumv_vector nearest = mpnumv_load_nearest64(src);
  const __m256i low = (__m256i)mpnumv_load32(src);
  const __m256i high = (__m256i)mpnumv_load32(src + 32);
  const __m256i wide_low =
      _mm256_castpd_si256(_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)nearest)));
  const __m256i wide_high =
      _mm256_castpd_si256(_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)nearest, 1)));
  const __m256 past_low = _mm256_castsi256_ps(
      _mm256_cmpgt_epi64(_mm256_and_si256(wide_low, abs), _mm256_and_si256(low, abs)));
  const __m256 past_high = _mm256_castsi256_ps(
      _mm256_cmpgt_epi64(_mm256_and_si256(wide_high, abs), _mm256_and_si256(high, abs)));
  const __m256 is_low = _mm256_castsi256_ps(_mm256_cmpeq_epi64(wide_low, low));
  const __m256 is_high = _mm256_castsi256_ps(_mm256_cmpeq_epi64(wide_high, high));
  const mpnumv_vector past = (mpnumv_vector)_mm256_permute4x64_epi64(
      _mm256_castps_si256(_mm256_shuffle_ps(past_low, past_high, 0x88)), 0xd8);
  const mpnumv_vector exact = (mpnumv_vector)_mm256_permute4x64_epi64(
      _mm256_castps_si256(_mm256_shuffle_ps(is_low, is_high, 0x88)), 0xd8);
  return (nearest + past) | (~exact & 1);
}

MPNUM_AVX2_ __m128 mpnum_cut_of_four_avx2_(const uint8_t *src) {
  const __m256i x = (__m256i)mpnumv_load32(src), below = _mm256_set1_epi64x(0x1fffffff);
  const __m256i carry = _mm256_add_epi64(_mm256_and_si256(x, below), below);
  return _mm256_cvtpd_ps(
      _mm256_castsi256_pd(_mm256_andnot_si256(below, _mm256_or_si256(x, carry))));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_load_cut64(const uint8_t *src) {
  return (mpnumv_vector)_mm256_insertf128_ps(
      _mm256_castps128_ps256(mpnum_cut_of_four_avx2_(src)),
      mpnum_cut_of_four_avx2_(src + 32), 1);
}

MPNUM_AVX2_ int mpnumv_any_subnormal(mpnumv_vector a, mpnumv_vector b) {
  const mpnumv_vector limit = mpnumv_splat(0x807fffffu); /* with a sign, as are keys */
  const mpnumv_vector key_a = (a & 0x7fffffffu) - 0x80000001u;
  const mpnumv_vector key_b = (b & 0x7fffffffu) - 0x80000001u;
  return _mm256_movemask_epi8(_mm256_or_si256(mpnumv_greater(limit, key_a),
                                              mpnumv_greater(limit, key_b))) != 0;
}

MPNUM_AVX2_ void mpnum_put_avx2_(uint8_t *dst, __m256i x, int non_temporal) {
  if (non_temporal) {
    _mm256_stream_si256((__m256i *)(void *)dst, x);
  } else {
    _mm256_storeu_si256((__m256i *)(void *)dst, x);
  }
}
MPNUM_AVX2_ void mpnumv_store32(uint8_t *dst, mpnumv_vector x, int non_temporal) {
  mpnum_put_avx2_(dst, (__m256i)x, non_temporal);
}
/* Each of the lanes fits what is stored: packing saturates. */
MPNUM_AVX2_ void mpnumv_store16(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                int non_temporal) {
  const __m256i packed = _mm256_packus_epi32((__m256i)a, (__m256i)b);
  mpnum_put_avx2_(dst, _mm256_permute4x64_epi64(packed, 0xd8), non_temporal);
}
MPNUM_AVX2_ void mpnumv_store_high(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                   int non_temporal) {
  mpnumv_store16(dst, a >> 16, b >> 16, non_temporal);
}
# if MPNUM_AVX2_HAS_F16C_
MPNUM_AVX2_ __m128i mpnum_f16_codes_avx2_(mpnumv_vector x) {
  return _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
}
MPNUM_AVX2_ mpnumv_vector mpnum_f16_floats_avx2_(__m128i f16_codes) {
  return (mpnumv_vector)_mm256_cvtph_ps(f16_codes);
}
# else
/* A normal code is the float with another bias and 13 bits fewer, a subnormal one its
 * significand over 2^-24. Ties to even; too large is Inf, NaN 7fff or ffff. */
MPNUM_AVX2_ __m128i mpnum_f16_codes_avx2_(mpnumv_vector x) {
  const mpnumv_vector abs = x & 0x7fffffffu;
  const __m256i is_nan = mpnumv_greater(abs, mpnumv_splat(0x7f800000u));
  const __m256i is_small = mpnumv_greater(mpnumv_splat(0x38800000u), abs); /* 2^-14 */
  /* 126 - 112 of the largest subnormal; 13 from there on, where the difference is less */
  const mpnumv_vector exponent = mpnumv_min(abs >> 23, mpnumv_splat(113));
  const mpnumv_vector shift = mpnumv_min(126 - exponent, mpnumv_splat(31));
  const mpnumv_vector significand =
      mpnumv_select(is_small, (abs & 0x7fffffu) | 0x800000u, abs - ((uint32_t)112 << 23));
  const mpnumv_vector half = mpnumv_splat(1) << (shift - 1);
  const mpnumv_vector rounded =
      (significand + (half - 1) + (significand >> shift & 1)) >> shift;
  const mpnumv_vector magnitude = mpnumv_select(
      is_nan, mpnumv_splat(0x7fff), mpnumv_min(rounded, mpnumv_splat(0x7c00)));
  const __m256i codes = (__m256i)(magnitude | (x >> 16 & 0x8000u));
  return _mm_packus_epi32(_mm256_castsi256_si128(codes),
                          _mm256_extracti128_si256(codes, 1));
}
/* The product is exact. */
MPNUM_AVX2_ mpnumv_vector mpnum_f16_floats_avx2_(__m128i f16_codes) {
  const mpnumv_vector x = (mpnumv_vector)_mm256_cvtepu16_epi32(f16_codes);
  const mpnumv_vector magnitude = x & 0x7fffu, bits = magnitude << 13;
  const mpnumv_vector quiet =
      mpnumv_select(mpnumv_greater(magnitude, mpnumv_splat(0x7c00)),
                    mpnumv_splat(0x400000), mpnumv_splat(0));
  const mpnumv_vector large =
      mpnumv_select(mpnumv_greater(magnitude, mpnumv_splat(0x7bff)),
                    bits | quiet | 0x7f800000u, bits + ((uint32_t)112 << 23));
  return mpnumv_select(mpnumv_greater(mpnumv_splat(0x400), magnitude),
                       mpnumv_scaled(magnitude, mpnum_pow2_(-24)), large) |
         (x & 0x8000u) << 16;
}
# endif
MPNUM_AVX2_ void mpnumv_store_f16(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                  int saturates, int non_temporal) {
  const mpnumv_vector max = mpnumv_splat(0x477fe000u); /* 65504 */
  const mpnumv_vector infinity = mpnumv_splat(0x7f800000u);
  const mpnumv_vector abs_a = a & 0x7fffffffu, abs_b = b & 0x7fffffffu;
  const __m256i nan_result = _mm256_set1_epi16(0x7fff);
  __m256i f16_codes, is_nan;
  if (saturates) {
    a = mpnumv_min(abs_a, max) | (a & 0x80000000u);
    b = mpnumv_min(abs_b, max) | (b & 0x80000000u);
  }
  f16_codes = _mm256_inserti128_si256(_mm256_castsi128_si256(mpnum_f16_codes_avx2_(a)),
                                      mpnum_f16_codes_avx2_(b), 1);
  if (saturates) {
    is_nan = _mm256_permute4x64_epi64(_mm256_packs_epi32(mpnumv_greater(abs_a, infinity),
                                                         mpnumv_greater(abs_b, infinity)),
                                      0xd8);
  } else {
    is_nan = _mm256_cmpgt_epi16(_mm256_and_si256(f16_codes, nan_result),
                                _mm256_set1_epi16(0x7c00));
  }
  mpnum_put_avx2_(dst, _mm256_blendv_epi8(f16_codes, nan_result, is_nan), non_temporal);
}
MPNUM_AVX2_ mpnumv_vector mpnumv_load_f16(const uint8_t *src) {
  return mpnum_f16_floats_avx2_(_mm_loadu_si128((const __m128i *)(const void *)src));
}

/* Packing mixes the halves of vectors; this puts their bytes in order. */
MPNUM_AVX2_ mpnumv_bytes mpnumv_in_order(mpnumv_bytes bytes) {
  return (mpnumv_bytes)_mm256_permutevar8x32_epi32(
      (__m256i)bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_sign_bytes(const mpnumv_vector x[4]) {
  const __m256i low = _mm256_packs_epi32((__m256i)x[0], (__m256i)x[1]);
  const __m256i high = _mm256_packs_epi32((__m256i)x[2], (__m256i)x[3]);
  return (mpnumv_bytes)_mm256_packs_epi16(low, high);
}
MPNUM_AVX2_ int mpnumv_any_nan(const mpnumv_vector x[4]) {
  __m256 low, high; /* -ffast-math must not see it */
# if MPNUM_HAS_GNU_
  __asm__("vcmpunordps %2, %1, %0" : "=x"(low) : "x"((__m256)x[0]), "x"((__m256)x[1]));
  __asm__("vcmpunordps %2, %1, %0" : "=x"(high) : "x"((__m256)x[2]), "x"((__m256)x[3]));
# else
  low = _mm256_cmp_ps((__m256)x[0], (__m256)x[1], _CMP_UNORD_Q);
  high = _mm256_cmp_ps((__m256)x[2], (__m256)x[3], _CMP_UNORD_Q);
# endif
  return _mm256_movemask_ps(_mm256_or_ps(low, high)) != 0;
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_where_nan(const mpnumv_vector x[4], uint8_t nan_result,
                                          mpnumv_bytes bytes) {
  const mpnumv_bytes mask = (mpnumv_bytes)_mm256_packs_epi16(
      _mm256_packs_epi32(mpnumv_is_nan(x[0]), mpnumv_is_nan(x[1])),
      _mm256_packs_epi32(mpnumv_is_nan(x[2]), mpnumv_is_nan(x[3])));
  return (mpnumv_bytes)_mm256_blendv_epi8(
      (__m256i)bytes, _mm256_set1_epi8((char)nan_result), (__m256i)mpnumv_in_order(mask));
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_packed_low(const mpnumv_vector x[4]) {
  const __m256i low =
      _mm256_packus_epi32((__m256i)(x[0] & 0xffu), (__m256i)(x[1] & 0xffu));
  const __m256i high =
      _mm256_packus_epi32((__m256i)(x[2] & 0xffu), (__m256i)(x[3] & 0xffu));
  return (mpnumv_bytes)_mm256_packus_epi16(low, high);
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_low_bytes(const mpnumv_vector x[4]) {
  return mpnumv_in_order(mpnumv_packed_low(x));
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_bytes_shr(mpnumv_bytes x, int count) {
  return (mpnumv_bytes)((mpnum_u16_avx2_)x >> count);
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_bytes_shl(mpnumv_bytes x, int count) {
  return (mpnumv_bytes)((mpnum_u16_avx2_)x << count);
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_load_bytes(const uint8_t *src) {
  return (mpnumv_bytes)mpnumv_load32(src);
}
MPNUM_AVX2_ void mpnumv_store_bytes(uint8_t *dst, mpnumv_bytes x, int non_temporal) {
  mpnum_put_avx2_(dst, (__m256i)x, non_temporal);
}
MPNUM_AVX2_ void mpnumv_store_nibbles(uint8_t *dst, mpnumv_bytes x, int non_temporal) {
  const __m256i pairs = _mm256_maddubs_epi16((__m256i)x, _mm256_set1_epi16(0x1001));
  const __m256i packed =
      _mm256_permute4x64_epi64(_mm256_packus_epi16(pairs, pairs), 0x08);
  if (non_temporal) {
    _mm_stream_si128((__m128i *)(void *)dst, _mm256_castsi256_si128(packed));
  } else {
    _mm_storeu_si128((__m128i *)(void *)dst, _mm256_castsi256_si128(packed));
  }
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_load_nibbles(const uint8_t *src) {
  const mpnum_u16_avx2_ pairs = (mpnum_u16_avx2_)_mm256_cvtepu8_epi16(
      _mm_loadu_si128((const __m128i *)(const void *)src));
  return (mpnumv_bytes)(pairs | pairs << 4);
}
MPNUM_AVX2_ mpnumv_bytes mpnumv_load_sixes(const uint8_t *src) {
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
  return (mpnumv_bytes)_mm256_blend_epi16(low, high, 0xaa);
}
MPNUM_AVX2_ void mpnumv_store_sixes(uint8_t *dst, mpnumv_bytes x) {
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
MPNUM_AVX2_ void mpnum_floats_of_u16_avx2_(__m256i low, __m256i high,
                                           mpnumv_vector x[4]) {
  x[0] = mpnum_f16_floats_avx2_(_mm256_castsi256_si128(low));
  x[1] = mpnum_f16_floats_avx2_(_mm256_extracti128_si256(low, 1));
  x[2] = mpnum_f16_floats_avx2_(_mm256_castsi256_si128(high));
  x[3] = mpnum_f16_floats_avx2_(_mm256_extracti128_si256(high, 1));
}
MPNUM_AVX2_ void mpnumv_f16_of_bytes(mpnumv_bytes codes, mpnumv_vector x[4]) {
  const __m256i quarters = _mm256_permute4x64_epi64((__m256i)codes, 0xd8);
  const __m256i zero = _mm256_setzero_si256();
  mpnum_floats_of_u16_avx2_(_mm256_unpacklo_epi8(zero, quarters),
                            _mm256_unpackhi_epi8(zero, quarters), x);
}
MPNUM_AVX2_ void mpnumv_shifted_f16_of_bytes(mpnumv_bytes codes, int right, uint16_t mask,
                                             mpnumv_vector x[4]) {
  const __m256i quarters = _mm256_permute4x64_epi64((__m256i)codes, 0xd8);
  const __m256i zero = _mm256_setzero_si256();
  const __m256i ones = _mm256_set1_epi16((short)mask);
  const __m128i count = _mm_cvtsi32_si128(right);
  const __m256i low = _mm256_sra_epi16(_mm256_unpacklo_epi8(zero, quarters), count);
  const __m256i high = _mm256_sra_epi16(_mm256_unpackhi_epi8(zero, quarters), count);
  mpnum_floats_of_u16_avx2_(_mm256_and_si256(low, ones), _mm256_and_si256(high, ones), x);
}
MPNUM_AVX2_ void mpnumv_store_fence(void) { _mm_sfence(); }

MPNUM_AVX2_ mpnumv_vector mpnumv_max_codes(int bits, mpnumv_vector a, mpnumv_vector b) {
  if (bits == 8) return (mpnumv_vector)_mm256_max_epu8((__m256i)a, (__m256i)b);
  if (bits == 16) return (mpnumv_vector)_mm256_max_epu16((__m256i)a, (__m256i)b);
  return mpnumv_max(a, b);
}
/* Zeros are counted. */
MPNUM_AVX2_ void mpnumv_min_nonzero(int bits, mpnumv_vector x, mpnumv_vector *min,
                                    mpnumv_vector *count) {
  const __m256i zero = _mm256_setzero_si256(), a = (__m256i)x, least = (__m256i)*min;
  const __m256i is_zero = bits == 8    ? _mm256_cmpeq_epi8(a, zero)
                          : bits == 16 ? _mm256_cmpeq_epi16(a, zero)
                                       : _mm256_cmpeq_epi32(a, zero);
  const __m256i nonzero = _mm256_or_si256(a, is_zero), from = (__m256i)*count;
  if (bits == 8) {
    *min = (mpnumv_vector)_mm256_min_epu8(least, nonzero);
    *count = (mpnumv_vector)_mm256_sub_epi8(from, is_zero);
  } else if (bits == 16) {
    *min = (mpnumv_vector)_mm256_min_epu16(least, nonzero);
    *count = (mpnumv_vector)_mm256_sub_epi16(from, is_zero);
  } else {
    *min = (mpnumv_vector)_mm256_min_epu32(least, nonzero);
    *count = (mpnumv_vector)_mm256_sub_epi32(from, is_zero);
  }
}
/* Those past most are counted. */
MPNUM_AVX2_ void mpnumv_max_finite(int bits, mpnumv_vector x, mpnumv_vector most,
                                   mpnumv_vector *max, mpnumv_vector *count) {
  const __m256i a = (__m256i)x, b = (__m256i)most, from = (__m256i)*count;
  const __m256i above = bits == 8    ? _mm256_cmpgt_epi8(a, b)
                        : bits == 16 ? _mm256_cmpgt_epi16(a, b)
                                     : _mm256_cmpgt_epi32(a, b);
  *max = mpnumv_max_codes(bits, *max, (mpnumv_vector)_mm256_andnot_si256(above, a));
  *count = (mpnumv_vector)(bits == 8    ? _mm256_sub_epi8(from, above)
                           : bits == 16 ? _mm256_sub_epi16(from, above)
                                        : _mm256_sub_epi32(from, above));
}
MPNUM_AVX2_ uint64_t mpnumv_nonzeros(uint64_t all, uint64_t count) { return all - count; }
MPNUM_AVX2_ mpnumv_vector mpnumv_count_above(int bits, mpnumv_vector count,
                                             mpnumv_vector x, mpnumv_vector limit) {
  const __m256i a = (__m256i)x, b = (__m256i)limit, from = (__m256i)count;
  if (bits == 8) return (mpnumv_vector)_mm256_sub_epi8(from, _mm256_cmpgt_epi8(a, b));
  if (bits == 16) return (mpnumv_vector)_mm256_sub_epi16(from, _mm256_cmpgt_epi16(a, b));
  return (mpnumv_vector)_mm256_sub_epi32(from, _mm256_cmpgt_epi32(a, b));
}
MPNUM_AVX2_ mpnumv_vector mpnumv_widen_counts(int bits, mpnumv_vector count) {
  if (bits == 8)
    return (mpnumv_vector)_mm256_sad_epu8((__m256i)count, _mm256_setzero_si256());
  if (bits == 16)
    return (mpnumv_vector)_mm256_madd_epi16((__m256i)count, _mm256_set1_epi16(1));
  return count;
}

# if MPNUM_HAS_GNU_
typedef double mpnumv_f64 __attribute__((__vector_size__(32)));
# else
typedef __m256d mpnumv_f64;
# endif

MPNUM_AVX2_ mpnumv_f64 mpnumv_splat_f64(double x) {
  mpnumv_f64 result = _mm256_set1_pd(x);
  MPNUM_HIDE_(result);
  return result;
}
MPNUM_AVX2_ mpnumv_f64 mpnumv_load_f64(const uint8_t *src) {
  return _mm256_cvtps_pd(
      _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(const void *)src)));
}

MPNUM_AVX2_ mpnumv_f64 mpnumv_load_sums(const double *src) {
  mpnumv_f64 x;
  MPNUM_MEMCPY_(&x, src, sizeof x);
  return x;
}
MPNUM_AVX2_ void mpnumv_store_sums(double *dst, mpnumv_f64 x) {
  MPNUM_MEMCPY_(dst, &x, sizeof x);
}
MPNUM_AVX2_ mpnumv_f64 mpnumv_add_f64(mpnumv_f64 a, mpnumv_f64 b) {
# if MPNUM_HAS_GNU_
  mpnumv_f64 sum = a + b;
  MPNUM_HIDE_(sum);
  return sum;
# else
  return _mm256_add_pd(a, b);
# endif
}
MPNUM_AVX2_ mpnumv_f64 mpnumv_add_product(mpnumv_f64 sum, mpnumv_f64 x, mpnumv_f64 y) {
  sum = _mm256_fmadd_pd(x, y, sum);
# if MPNUM_HAS_GNU_
  __asm__("" : "+x"(sum) : "x"(x)); /* as in avx512.h */
# endif
  return sum;
}
MPNUM_AVX2_ double mpnumv_sum_f64(mpnumv_f64 x) {
  __m128d sum = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  MPNUM_HIDE_(sum);
  return mpnum_add_f64_(_mm_cvtsd_f64(sum), _mm_cvtsd_f64(_mm_unpackhi_pd(sum, sum)));
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* The operations in which the .inc files are written, for AVX-512. */
#ifndef MPNUM_SIMD_DETAIL_AVX512_H
#define MPNUM_SIMD_DETAIL_AVX512_H

#include "codings.h"
#include "../../core/detail/environment.h"
#include "../../core/round.h"
#include "../isa.h"
#include "vector_class.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_X86_SIMD_

# include <immintrin.h>

# if MPNUM_HAS_GNU_ && \
     !defined(__clang__) /* gcc's intrinsics are macros at -O0, and it warns of them */
#  pragma GCC diagnostic push
#  pragma GCC diagnostic ignored "-Wsign-conversion"
# endif
# if defined(__NVCC_DIAG_PRAGMA_SUPPORT__) /* so does nvcc */
#  pragma nv_diagnostic push
#  pragma nv_diag_suppress 68
# endif

# define MPNUM_TARGET_AVX512_ \
  MPNUM_TARGET_("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
# define MPNUM_AVX512_ MPNUM_FORCED_ MPNUM_TARGET_AVX512_

/* Intrinsics are taken in their masked form with all lanes on, the same instruction: the
 * plain ones make gcc 12 warn of its own header in C++. */
# define MPNUM_ALL_ ((__mmask16)0xffff)

# include "operations.inc"
# define MPNUM_ISA_HERE_ 3
# include "isa_begin.inc"

# if MPNUM_HAS_GNU_
typedef uint32_t mpnumv_vector __attribute__((__vector_size__(64)));
typedef uint16_t mpnum_u16_avx512_ __attribute__((__vector_size__(64)));
typedef uint8_t mpnumv_bytes __attribute__((__vector_size__(64)));
# else
MPNUM_VECTOR_CLASSES_(avx512, _mm512, __m512, 512)
MPNUM_WIDE_CLASSES_(avx512, _mm512_set1_epi64, _mm512, __m512, 512)
MPNUM_FORCED_ mpnumv_vector operator*(mpnumv_vector a, mpnumv_vector b) {
  return _mm512_mullo_epi32(a, b);
}
MPNUM_FORCED_ mpnumv_bytes operator!=(mpnumv_bytes a, mpnumv_bytes b) {
  return _mm512_movm_epi8(_mm512_cmpneq_epu8_mask(a, b));
}
MPNUM_FORCED_ mpnumv_signed_wide operator>>(mpnumv_signed_wide x, int count) {
  return _mm512_srai_epi64(x, (unsigned)count);
}
# endif
typedef __mmask16 mpnumv_mask;
typedef mpnumv_vector mpnumv_f32; /* floats as their bits */

MPNUM_AVX512_ mpnumv_vector mpnumv_splat(uint32_t x) {
  return (mpnumv_vector)_mm512_set1_epi32((int)x);
}
MPNUM_AVX512_ mpnumv_vector mpnumv_bits_of(mpnumv_f32 x) { return x; }
MPNUM_AVX512_ mpnumv_f32 mpnumv_f32_of(mpnumv_vector bits) { return bits; }
MPNUM_AVX512_ mpnumv_f32 mpnumv_constant(uint32_t bits) { return mpnumv_splat(bits); }
/* 0, 1, 2, ... */
MPNUM_AVX512_ mpnumv_vector mpnumv_iota(void) {
  return (mpnumv_vector)_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                          14, 15);
}
/* Of values below 2^31. */
MPNUM_AVX512_ mpnumv_vector mpnumv_min(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm512_maskz_min_epu32(MPNUM_ALL_, (__m512i)a, (__m512i)b);
}
MPNUM_AVX512_ mpnumv_vector mpnumv_max(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm512_maskz_max_epu32(MPNUM_ALL_, (__m512i)a, (__m512i)b);
}
/* a > b, as numbers with a sign. */
MPNUM_AVX512_ mpnumv_mask mpnumv_greater(mpnumv_vector a, mpnumv_vector b) {
  return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
}
/* a < b, of any values. */
MPNUM_AVX512_ mpnumv_mask mpnumv_less(mpnumv_vector a, mpnumv_vector b) {
  return _mm512_cmplt_epu32_mask((__m512i)a, (__m512i)b);
}
MPNUM_AVX512_ mpnumv_mask mpnumv_equal(mpnumv_vector a, mpnumv_vector b) {
  return _mm512_cmpeq_epu32_mask((__m512i)a, (__m512i)b);
}
/* Where the mask is set a, else b. */
MPNUM_AVX512_ mpnumv_vector mpnumv_select(mpnumv_mask mask, mpnumv_vector a,
                                          mpnumv_vector b) {
  return (mpnumv_vector)_mm512_mask_mov_epi32((__m512i)b, mask, (__m512i)a);
}
/* Where the mask is set x, else 0. */
MPNUM_AVX512_ mpnumv_vector mpnumv_where(mpnumv_mask mask, mpnumv_vector x) {
  return (mpnumv_vector)_mm512_maskz_mov_epi32(mask, (__m512i)x);
}
/* Each lane shifted by its own count; 0 for counts of 32 and more. */
MPNUM_AVX512_ mpnumv_vector mpnumv_shl(mpnumv_vector x, mpnumv_vector count) {
  return (mpnumv_vector)_mm512_maskz_sllv_epi32(MPNUM_ALL_, (__m512i)x, (__m512i)count);
}
MPNUM_AVX512_ mpnumv_vector mpnumv_shr(mpnumv_vector x, mpnumv_vector count) {
  return (mpnumv_vector)_mm512_maskz_srlv_epi32(MPNUM_ALL_, (__m512i)x, (__m512i)count);
}
/* All lanes by one count. */
MPNUM_AVX512_ mpnumv_vector mpnumv_shr_by(mpnumv_vector x, int count) {
  if (MPNUM_IS_KNOWN_(count)) return x >> count;
  return mpnumv_shr(x, mpnumv_splat((uint32_t)count));
}
MPNUM_AVX512_ mpnumv_vector mpnumv_shl_by(mpnumv_vector x, int count) {
  if (MPNUM_IS_KNOWN_(count)) return x << count;
  return mpnumv_shl(x, mpnumv_splat((uint32_t)count));
}

MPNUM_AVX512_ mpnumv_mask mpnumv_is_nan(mpnumv_vector x) {
  return _mm512_fpclass_ps_mask((__m512)x, 0x81); /* quiet and signalling */
}
/* The smaller magnitude of two floats that are no NaN; a subnormal may be flushed. */
MPNUM_AVX512_ mpnumv_vector mpnumv_smaller_magnitude(mpnumv_vector a, mpnumv_vector b) {
  enum { smaller_magnitude = 2, sign_cleared = 2 << 2 };
  return (mpnumv_vector)_mm512_range_round_ps(
      (__m512)a, (__m512)b, smaller_magnitude | sign_cleared, _MM_FROUND_NO_EXC);
}
/* The magnitude of a float, or the limit where that is less; anything where it is NaN. A
 * subnormal may be flushed to zero. */
MPNUM_AVX512_ mpnumv_vector mpnumv_clamped_magnitude(mpnumv_vector x, uint32_t limit) {
  enum { smaller_magnitude = 2, sign_cleared = 2 << 2 };
  return (mpnumv_vector)_mm512_range_round_ps((__m512)x, (__m512)mpnumv_splat(limit),
                                              smaller_magnitude | sign_cleared,
                                              _MM_FROUND_NO_EXC);
}

/* Sum of floats, as bits, to nearest even. */
MPNUM_AVX512_ mpnumv_vector mpnumv_add_floats(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm512_maskz_add_round_ps(
      MPNUM_ALL_, (__m512)a, (__m512)b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* Power + x * scale, as bits, to nearest even. */
MPNUM_AVX512_ mpnumv_vector mpnumv_add_scaled(mpnumv_vector power, mpnumv_vector x,
                                              float scale) {
  return (mpnumv_vector)_mm512_fmadd_round_ps(
      (__m512)x, _mm512_set1_ps(scale), (__m512)power,
      _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* The float next to a number, which may have a sign. */
MPNUM_AVX512_ mpnumv_f32 mpnumv_f32_of_whole(mpnumv_vector x) {
  return (mpnumv_vector)_mm512_maskz_cvt_roundepi32_ps(
      MPNUM_ALL_, (__m512i)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* The bits of x * scale, which is exact and normal. */
MPNUM_AVX512_ mpnumv_vector mpnumv_mul_power(mpnumv_vector x, float scale) {
  return (mpnumv_vector)_mm512_maskz_mul_round_ps(
      MPNUM_ALL_, (__m512)x, _mm512_set1_ps(scale),
      _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* The bits of (float)x * scale, which is exact and normal; x below 2^24. */
MPNUM_AVX512_ mpnumv_vector mpnumv_scaled(mpnumv_vector x, float scale) {
  return mpnumv_mul_power(mpnumv_bits_of(mpnumv_f32_of_whole(x)), scale);
}

/* Words of func.inc, on floats as bits: rounded once, to nearest even. */
# define MPNUM_F32_OPERATION_(name, intrinsic)                                     \
  MPNUM_AVX512_ mpnumv_vector name(mpnumv_vector a, mpnumv_vector b) {             \
   return (mpnumv_vector)intrinsic(MPNUM_ALL_, (__m512)a, (__m512)b,               \
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); \
  }
MPNUM_F32_OPERATION_(mpnumv_add, _mm512_maskz_add_round_ps)
MPNUM_F32_OPERATION_(mpnumv_sub, _mm512_maskz_sub_round_ps)
MPNUM_F32_OPERATION_(mpnumv_mul, _mm512_maskz_mul_round_ps)
MPNUM_F32_OPERATION_(mpnumv_div, _mm512_maskz_div_round_ps)
# undef MPNUM_F32_OPERATION_
/* a b + c */
MPNUM_AVX512_ mpnumv_vector mpnumv_fma(mpnumv_vector a, mpnumv_vector b,
                                       mpnumv_vector c) {
  return (mpnumv_vector)_mm512_fmadd_round_ps(
      (__m512)a, (__m512)b, (__m512)c, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* x 2^n, of floats, rounded once. */
MPNUM_AVX512_ mpnumv_vector mpnumv_scalef(mpnumv_vector x, mpnumv_vector n) {
  return (mpnumv_vector)_mm512_maskz_scalef_round_ps(
      MPNUM_ALL_, (__m512)x, (__m512)n, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* A float, but at least low, which is negative; any where it is NaN. */
MPNUM_AVX512_ mpnumv_vector mpnumv_clamped_below(mpnumv_vector x, uint32_t low) {
  return (mpnumv_vector)_mm512_maskz_min_epu32(MPNUM_ALL_, (__m512i)x,
                                               (__m512i)mpnumv_splat(low));
}
/* A float, but at most high, which is positive; any where it is NaN. */
MPNUM_AVX512_ mpnumv_vector mpnumv_clamped_above(mpnumv_vector x, uint32_t high) {
  return (mpnumv_vector)_mm512_maskz_min_epi32(MPNUM_ALL_, (__m512i)x,
                                               (__m512i)mpnumv_splat(high));
}
/* A float within both, but NaN where it is NaN. (-ffast-math must not see it. It raises
 * no flag, which takes 100 ns to put back.) */
MPNUM_AVX512_ mpnumv_vector mpnumv_clamped_or_nan(mpnumv_vector x, uint32_t low,
                                                  uint32_t high) {
# if MPNUM_HAS_GNU_
  __m512 y;
  __asm__("vminps %{sae%}, %2, %1, %0"
          : "=v"(y)
          : "v"((__m512)mpnumv_splat(high)), "v"((__m512)x));
  __asm__("vmaxps %{sae%}, %2, %1, %0"
          : "=v"(y)
          : "v"((__m512)mpnumv_splat(low)), "v"(y));
  return (mpnumv_vector)y;
# else
  const __m512 y = _mm512_maskz_min_round_ps(MPNUM_ALL_, (__m512)mpnumv_splat(high),
                                             (__m512)x, _MM_FROUND_NO_EXC);
  return (mpnumv_vector)_mm512_maskz_max_round_ps(MPNUM_ALL_, (__m512)mpnumv_splat(low),
                                                  y, _MM_FROUND_NO_EXC);
# endif
}
/* Floats that are at least low, which is negative; of NaN any answer. */
MPNUM_AVX512_ mpnumv_mask mpnumv_not_below(mpnumv_vector x, uint32_t low) {
  return _mm512_cmple_epu32_mask((__m512i)x, (__m512i)mpnumv_splat(low));
}
MPNUM_AVX512_ mpnumv_vector mpnumv_sqrt_raw(mpnumv_vector x) {
  return (mpnumv_vector)_mm512_maskz_sqrt_round_ps(
      MPNUM_ALL_, (__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* The larger float of each lane, of zeros any; anything where one is NaN. */
MPNUM_AVX512_ mpnumv_vector mpnumv_larger(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm512_maskz_max_round_ps(MPNUM_ALL_, (__m512)a, (__m512)b,
                                                  _MM_FROUND_NO_EXC);
}
/* Lanes that are a stride of 1, 2, 4 or 8 apart change places. */
MPNUM_AVX512_ mpnumv_vector mpnumv_swapped(mpnumv_vector x, int stride) {
  const __m512 a = (__m512)x;
  if (stride == 1) return (mpnumv_vector)_mm512_maskz_permute_ps(MPNUM_ALL_, a, 0xb1);
  if (stride == 2) return (mpnumv_vector)_mm512_maskz_permute_ps(MPNUM_ALL_, a, 0x4e);
  if (stride == 4)
    return (mpnumv_vector)_mm512_maskz_shuffle_f32x4(MPNUM_ALL_, a, a, 0xb1);
  return (mpnumv_vector)_mm512_maskz_shuffle_f32x4(MPNUM_ALL_, a, a, 0x4e);
}
/* Of lanes a and b, stride apart, the sum in the first and the difference in the second;
 * stride 1, 2, 4 or 8. A product with 1 or -1 is exact, so an fma rounds as a sum does.
 */
MPNUM_AVX512_ mpnumv_vector mpnumv_butterfly(mpnumv_vector x, int stride) {
  const __mmask16 second = stride == 1   ? 0xaaaa
                           : stride == 2 ? 0xcccc
                           : stride == 4 ? 0xf0f0
                                         : 0xff00;
  const mpnumv_vector sign =
      mpnumv_select(second, mpnumv_splat(0xbf800000u), mpnumv_splat(0x3f800000u));
  return (mpnumv_vector)_mm512_fmadd_round_ps(
      (__m512)x, (__m512)sign, (__m512)mpnumv_swapped(x, stride),
      _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Whether x > limit, as numbers with a sign, in any lane of 8, 16 or 32 bits. */
MPNUM_AVX512_ int mpnumv_any_above(int bits, mpnumv_vector x, mpnumv_vector limit) {
  const __m512i a = (__m512i)x, b = (__m512i)limit;
  if (bits == 8) return _mm512_cmpgt_epi8_mask(a, b) != 0;
  if (bits == 16) return _mm512_cmpgt_epi16_mask(a, b) != 0;
  return _mm512_cmpgt_epi32_mask(a, b) != 0;
}
/* The halves of a * b, in even lanes: others, of a, too, are anything. */
MPNUM_AVX512_ void mpnumv_mul_wide(mpnumv_vector a, uint32_t b, mpnumv_vector *high,
                                   mpnumv_vector *low) {
  const __m512i product =
      _mm512_maskz_mul_epu32(0xff, (__m512i)a, _mm512_set1_epi64((long long)b));
  *low = (mpnumv_vector)product;
  *high = (mpnumv_vector)_mm512_maskz_srli_epi64(0xff, product, 32);
}
/* Products of even lanes, each in two; of 24 words from some place on the one of a number
 * below 16. */
MPNUM_AVX512_ mpnumv_vector mpnumv_even_products(mpnumv_vector a, mpnumv_vector b) {
  return (mpnumv_vector)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
}
MPNUM_AVX512_ mpnumv_vector mpnumv_word_of(const uint32_t *words, mpnumv_vector place) {
  return (mpnumv_vector)_mm512_maskz_permutexvar_epi32(MPNUM_ALL_, (__m512i)place,
                                                       _mm512_loadu_si512(words));
}
/* Of numbers x below 2^63, each in two lanes, x 2^-63 cut to 24 bits, and so the rest:
 * those of x[0] in even lanes, of x[1] in odd ones. */
MPNUM_AVX512_ void mpnumv_cut_to_pair(const mpnumv_vector x[2], mpnumv_vector *high,
                                      mpnumv_vector *low) {
  enum { cut = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC };
  const __m512i turns =
      _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  __m256 first[2], second[2];
  int k = 0;
  for (; k < 2; ++k) {
    first[k] = _mm512_maskz_cvt_roundepu64_ps((__mmask8)0xff, (__m512i)x[k], cut);
    second[k] = _mm512_maskz_cvt_roundepu64_ps(
        (__mmask8)0xff,
        _mm512_sub_epi64((__m512i)x[k],
                         _mm512_maskz_cvttps_epu64((__mmask8)0xff, first[k])),
        cut);
  }
  *high = mpnumv_mul_power(
      (mpnumv_vector)_mm512_permutex2var_ps(_mm512_castps256_ps512(first[0]), turns,
                                            _mm512_castps256_ps512(first[1])),
      mpnum_pow2_(-63));
  *low = mpnumv_mul_power(
      (mpnumv_vector)_mm512_permutex2var_ps(_mm512_castps256_ps512(second[0]), turns,
                                            _mm512_castps256_ps512(second[1])),
      mpnum_pow2_(-63));
}
/* Four words of each even lane, the lanes in the order 0, 4, 8, 12, 2, 6, 10, 14. */
MPNUM_AVX512_ void mpnumv_store_words(uint8_t *dst, const mpnumv_vector x[4]) {
  const __m512i low = _mm512_mask_shuffle_epi32((__m512i)x[0], (__mmask16)0xaaaa,
                                                (__m512i)x[1], _MM_PERM_CCAA);
  const __m512i high = _mm512_mask_shuffle_epi32((__m512i)x[2], (__mmask16)0xaaaa,
                                                 (__m512i)x[3], _MM_PERM_CCAA);
  _mm512_storeu_si512(dst, _mm512_maskz_unpacklo_epi64(0xff, low, high));
  _mm512_storeu_si512(dst + 64, _mm512_maskz_unpackhi_epi64(0xff, low, high));
}
/* Rows of 4 by 4 within each 128 bits become columns. */
MPNUM_AVX512_ void mpnumv_transpose(mpnumv_vector rows[4]) {
  const __m512i low01 =
      _mm512_maskz_unpacklo_epi32(0xffff, (__m512i)rows[0], (__m512i)rows[1]);
  const __m512i high01 =
      _mm512_maskz_unpackhi_epi32(0xffff, (__m512i)rows[0], (__m512i)rows[1]);
  const __m512i low23 =
      _mm512_maskz_unpacklo_epi32(0xffff, (__m512i)rows[2], (__m512i)rows[3]);
  const __m512i high23 =
      _mm512_maskz_unpackhi_epi32(0xffff, (__m512i)rows[2], (__m512i)rows[3]);
  rows[0] = (mpnumv_vector)_mm512_maskz_unpacklo_epi64(0xff, low01, low23);
  rows[1] = (mpnumv_vector)_mm512_maskz_unpackhi_epi64(0xff, low01, low23);
  rows[2] = (mpnumv_vector)_mm512_maskz_unpacklo_epi64(0xff, high01, high23);
  rows[3] = (mpnumv_vector)_mm512_maskz_unpackhi_epi64(0xff, high01, high23);
}
/* Elements of two vectors by turns, to those of even and those of odd numbers; and back.
 */
MPNUM_AVX512_ void mpnumv_unzip(mpnumv_vector pair[2]) {
  const __m512i even =
      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd =
      _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  const __m512i a = (__m512i)pair[0], b = (__m512i)pair[1];
  pair[0] = (mpnumv_vector)_mm512_permutex2var_epi32(a, even, b);
  pair[1] = (mpnumv_vector)_mm512_permutex2var_epi32(a, odd, b);
}
MPNUM_AVX512_ void mpnumv_zip(mpnumv_vector pair[2]) {
  const __m512i low =
      _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const __m512i a = (__m512i)pair[0], b = (__m512i)pair[1];
  pair[0] = (mpnumv_vector)_mm512_permutex2var_epi32(a, low, b);
  pair[1] = (mpnumv_vector)_mm512_permutex2var_epi32(a, high, b);
}

/* Quarter k of the result: the largest of the quarters of x[k], lane by lane. Values
 * below 2^31. */
MPNUM_AVX512_ mpnumv_vector mpnumv_largest_of_quarters(const mpnumv_vector *x) {
  const __m512i low01 =
      _mm512_maskz_shuffle_i32x4(MPNUM_ALL_, (__m512i)x[0], (__m512i)x[1], 0x44);
  const __m512i high01 =
      _mm512_maskz_shuffle_i32x4(MPNUM_ALL_, (__m512i)x[0], (__m512i)x[1], 0xee);
  const __m512i low23 =
      _mm512_maskz_shuffle_i32x4(MPNUM_ALL_, (__m512i)x[2], (__m512i)x[3], 0x44);
  const __m512i high23 =
      _mm512_maskz_shuffle_i32x4(MPNUM_ALL_, (__m512i)x[2], (__m512i)x[3], 0xee);
  const mpnumv_vector a = mpnumv_max((mpnumv_vector)low01, (mpnumv_vector)high01);
  const mpnumv_vector b = mpnumv_max((mpnumv_vector)low23, (mpnumv_vector)high23);
  return mpnumv_max(
      (mpnumv_vector)_mm512_maskz_shuffle_i32x4(MPNUM_ALL_, (__m512i)a, (__m512i)b, 0x88),
      (mpnumv_vector)_mm512_maskz_shuffle_i32x4(MPNUM_ALL_, (__m512i)a, (__m512i)b,
                                                0xdd));
}

/* Bytes, fewer than 256. */
MPNUM_AVX512_ void mpnumv_copy_rest(uint8_t *dst, const uint8_t *src, size_t bytes) {
  for (; bytes >= 64; bytes -= 64, dst += 64, src += 64)
    _mm512_storeu_si512(dst, _mm512_loadu_si512(src));
  if (bytes) {
    const __mmask64 first = ~(__mmask64)0 >> (64 - bytes);
    _mm512_mask_storeu_epi8(dst, first, _mm512_maskz_loadu_epi8(first, src));
  }
}
/* The same, with zeros behind it up to a size, in whole vectors. */
MPNUM_AVX512_ void mpnumv_copy_padded(uint8_t *dst, const uint8_t *src, size_t bytes,
                                      size_t size) {
  size_t i = 0;
  if (!MPNUM_IS_KNOWN_(size)) { /* else all is written out */
    for (; i + 64 <= bytes; i += 64)
      _mm512_storeu_si512(dst + i, _mm512_loadu_si512(src + i));
    for (; size > i + 64 && size - 64 >= bytes; size -= 64)
      _mm512_storeu_si512(dst + (size - 64), _mm512_setzero_si512());
  }
  for (; i < size; i += 64) {
    const size_t left = bytes > i ? bytes - i : 0;
    const __mmask64 there = left >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << left) - 1;
    _mm512_storeu_si512(dst + i, _mm512_maskz_loadu_epi8(there, src + i));
  }
}
/* The same by vectors of 256 bits, for loops that read 128 at a time: of a store of 512
 * these would have to wait for memory. */
MPNUM_AVX512_ void mpnumv_copy_padded_by_half(uint8_t *dst, const uint8_t *src,
                                              size_t bytes, size_t size) {
  size_t i = 0;
  for (; i < size; i += 32) {
    const size_t left = bytes > i ? bytes - i : 0;
    const __mmask32 there = left >= 32 ? ~(__mmask32)0 : ((__mmask32)1 << left) - 1;
    _mm256_storeu_si256((__m256i *)(void *)(dst + i),
                        _mm256_maskz_loadu_epi8(there, src + i));
  }
}
/* 16 elements of memory, any alignment. */
MPNUM_AVX512_ mpnumv_vector mpnumv_load8(const uint8_t *src) {
  return (mpnumv_vector)_mm512_maskz_cvtepu8_epi32(
      MPNUM_ALL_, _mm_loadu_si128((const __m128i *)(const void *)src));
}
MPNUM_AVX512_ mpnumv_vector mpnumv_load16(const uint8_t *src) {
  return (mpnumv_vector)_mm512_maskz_cvtepu16_epi32(
      MPNUM_ALL_, _mm256_loadu_si256((const __m256i *)(const void *)src));
}
MPNUM_AVX512_ mpnumv_vector mpnumv_load32(const uint8_t *src) {
  return (mpnumv_vector)_mm512_loadu_si512(src);
}
/* Floats nearest to 16 doubles. NaN is not canonical. */
MPNUM_AVX512_ mpnumv_vector mpnumv_load_nearest64(const uint8_t *src) {
  const __m256 low = _mm512_maskz_cvtpd_ps(0xff, _mm512_loadu_pd(src));
  const __m256 high = _mm512_maskz_cvtpd_ps(0xff, _mm512_loadu_pd(src + 64));
  return (mpnumv_vector)_mm512_maskz_inserti64x4(
      0xff, _mm512_castsi256_si512(_mm256_castps_si256(low)), _mm256_castps_si256(high),
      1);
}

/* Floats rounded to odd, from which any narrower format rounds as from the double itself:
 * truncated, the last bit set where something was cut off. NaN is any NaN. */
MPNUM_AVX512_ __m256i mpnum_odd_of_eight_avx512_(const uint8_t *src) {
  const __m512d x = _mm512_loadu_pd(src);
  const __m256i truncated = _mm256_castps_si256(_mm512_maskz_cvt_roundpd_ps(
      (__mmask8)0xff, x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
  const __mmask8 is_cut = _mm512_cmpneq_epi64_mask(
      _mm512_castpd_si512(_mm512_maskz_cvtps_pd(0xff, _mm256_castsi256_ps(truncated))),
      _mm512_castpd_si512(x));
  return _mm256_mask_or_epi32(truncated, is_cut, truncated, _mm256_set1_epi32(1));
}
MPNUM_AVX512_ mpnumv_vector mpnumv_load_odd64(const uint8_t *src) {
  return (mpnumv_vector)_mm512_maskz_inserti64x4(
      0xff, _mm512_castsi256_si512(mpnum_odd_of_eight_avx512_(src)),
      mpnum_odd_of_eight_avx512_(src + 64), 1);
}

/* The same where the float is normal, 0, Inf or NaN; a subnormal one is not odd, nor 0
 * that was none. The last bit kept is set in the double already, and the rest cut off. */
MPNUM_AVX512_ __m256i mpnum_cut_of_eight_avx512_(const uint8_t *src) {
  const __m512i x = _mm512_loadu_si512(src);
  const __mmask8 is_cut = _mm512_test_epi64_mask(x, _mm512_set1_epi64(0x1fffffff));
  return _mm256_castps_si256(
      _mm512_maskz_cvt_roundpd_ps((__mmask8)0xff,
                                  _mm512_castsi512_pd(_mm512_mask_or_epi64(
                                      x, is_cut, x, _mm512_set1_epi64(0x20000000))),
                                  _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
}
MPNUM_AVX512_ mpnumv_vector mpnumv_load_cut64(const uint8_t *src) {
  return (mpnumv_vector)_mm512_maskz_inserti64x4(
      0xff, _mm512_castsi256_si512(mpnum_cut_of_eight_avx512_(src)),
      mpnum_cut_of_eight_avx512_(src + 64), 1);
}

/* Whether any float is subnormal, and not 0. */
MPNUM_AVX512_ int mpnumv_any_subnormal(mpnumv_vector a, mpnumv_vector b) {
  return !_mm512_kortestz(_mm512_fpclass_ps_mask((__m512)a, 0x20),
                          _mm512_fpclass_ps_mask((__m512)b, 0x20));
}

/* 64 bytes; past the caches where non_temporal, to an aligned address. */
MPNUM_AVX512_ void mpnum_put_avx512_(uint8_t *dst, __m512i x, int non_temporal) {
  if (non_temporal) {
    _mm512_stream_si512((__m512i *)(void *)dst, x);
  } else {
    _mm512_storeu_si512(dst, x);
  }
}
MPNUM_AVX512_ void mpnumv_store32(uint8_t *dst, mpnumv_vector x, int non_temporal) {
  mpnum_put_avx512_(dst, (__m512i)x, non_temporal);
}
/* The low halves of two vectors; the high halves. */
MPNUM_AVX512_ void mpnumv_store16(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                  int non_temporal) {
  const __m512i even =
      _mm512_setr_epi32(/* 0, 2, 4, ... of 16 bits */
                        0x020000, 0x060004, 0x0a0008, 0x0e000c, 0x120010, 0x160014,
                        0x1a0018, 0x1e001c, 0x220020, 0x260024, 0x2a0028, 0x2e002c,
                        0x320030, 0x360034, 0x3a0038, 0x3e003c);
  mpnum_put_avx512_(dst, _mm512_permutex2var_epi16((__m512i)a, even, (__m512i)b),
                    non_temporal);
}
MPNUM_AVX512_ void mpnumv_store_high(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                     int non_temporal) {
  const __m512i odd =
      _mm512_setr_epi32(/* 1, 3, 5, ... of 16 bits */
                        0x030001, 0x070005, 0x0b0009, 0x0f000d, 0x130011, 0x170015,
                        0x1b0019, 0x1f001d, 0x230021, 0x270025, 0x2b0029, 0x2f002d,
                        0x330031, 0x370035, 0x3b0039, 0x3f003d);
  mpnum_put_avx512_(dst, _mm512_permutex2var_epi16((__m512i)a, odd, (__m512i)b),
                    non_temporal);
}

/* To nearest even, without a flag; gcc 12 has no intrinsic for that. */
MPNUM_AVX512_ __m256i mpnum_f16_codes_avx512_(mpnumv_vector x) {
# if MPNUM_HAS_GNU_
  __m256i codes;
  __asm__("vcvtps2ph $0, %{sae%}, %1, %0" : "=v"(codes) : "v"((__m512)x));
  return codes;
# else
  return _mm512_cvt_roundps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
# endif
}
/* f16 codes of floats, nearest even, canonical NaN, and back. */
MPNUM_AVX512_ void mpnumv_store_f16(uint8_t *dst, mpnumv_vector a, mpnumv_vector b,
                                    int saturates, int non_temporal) {
  const __m512i abs = _mm512_set1_epi16(0x7fff);
  __mmask32 is_nan;
  __m512i f16_codes;
  if (saturates) {
    const mpnumv_vector max = mpnumv_splat(0x477fe000u); /* 65504 */
    const mpnumv_vector infinity = mpnumv_splat(0x7f800000u);
    const mpnumv_vector abs_a = a & 0x7fffffffu, abs_b = b & 0x7fffffffu;
    is_nan =
        _mm512_kunpackw(mpnumv_greater(abs_b, infinity), mpnumv_greater(abs_a, infinity));
    a = mpnumv_min(abs_a, max) | (a & 0x80000000u);
    b = mpnumv_min(abs_b, max) | (b & 0x80000000u);
  }
  f16_codes =
      _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(mpnum_f16_codes_avx512_(a)),
                               mpnum_f16_codes_avx512_(b), 1);
  if (!saturates)
    is_nan = _mm512_cmpgt_epu16_mask(_mm512_and_si512(f16_codes, abs),
                                     _mm512_set1_epi16(0x7c00));
  mpnum_put_avx512_(dst, _mm512_mask_mov_epi16(f16_codes, is_nan, abs), non_temporal);
}
/* NaN keeps sign and payload, quiet. */
MPNUM_AVX512_ mpnumv_vector mpnumv_load_f16(const uint8_t *src) {
  return (mpnumv_vector)_mm512_maskz_cvt_roundph_ps(
      MPNUM_ALL_, _mm256_loadu_si256((const __m256i *)(const void *)src),
      _MM_FROUND_NO_EXC);
}

/* The low bytes of lanes, and their sign bits as those of bytes, whose other bits are
 * anything: packed within 128 bits, and put in the order of lanes. */
MPNUM_AVX512_ mpnumv_bytes mpnumv_packed_low(const mpnumv_vector x[4]) {
  const __m512i low = _mm512_maskz_packus_epi32(0xffffffffu, (__m512i)(x[0] & 0xffu),
                                                (__m512i)(x[1] & 0xffu));
  const __m512i high = _mm512_maskz_packus_epi32(0xffffffffu, (__m512i)(x[2] & 0xffu),
                                                 (__m512i)(x[3] & 0xffu));
  return (mpnumv_bytes)_mm512_maskz_packus_epi16(~(__mmask64)0, low, high);
}
MPNUM_AVX512_ mpnumv_bytes mpnumv_sign_bytes(const mpnumv_vector x[4]) {
  const __m512i low = _mm512_maskz_packs_epi32(0xffffffffu, (__m512i)x[0], (__m512i)x[1]);
  const __m512i high =
      _mm512_maskz_packs_epi32(0xffffffffu, (__m512i)x[2], (__m512i)x[3]);
  return (mpnumv_bytes)_mm512_maskz_packs_epi16(~(__mmask64)0, low, high);
}
MPNUM_AVX512_ mpnumv_bytes mpnumv_in_order(mpnumv_bytes bytes) {
  return (mpnumv_bytes)_mm512_maskz_permutexvar_epi32(
      MPNUM_ALL_, _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
      (__m512i)bytes);
}
MPNUM_AVX512_ mpnumv_bytes mpnumv_low_bytes(const mpnumv_vector x[4]) {
  return mpnumv_in_order(mpnumv_packed_low(x));
}
/* Whether a lane of x is NaN; the byte nan_result where one is, else those given. */
MPNUM_AVX512_ int mpnumv_any_nan(const mpnumv_vector x[4]) {
# if MPNUM_HAS_GNU_
  __mmask16 low, high; /* -ffast-math must not see it */
  __asm__("vcmpunordps %{sae%}, %2, %1, %0"
          : "=k"(low)
          : "v"((__m512)x[0]), "v"((__m512)x[1]));
  __asm__("vcmpunordps %{sae%}, %2, %1, %0"
          : "=k"(high)
          : "v"((__m512)x[2]), "v"((__m512)x[3]));
# else
  const __mmask16 low = _mm512_cmp_round_ps_mask((__m512)x[0], (__m512)x[1], _CMP_UNORD_Q,
                                                 _MM_FROUND_NO_EXC);
  const __mmask16 high = _mm512_cmp_round_ps_mask((__m512)x[2], (__m512)x[3],
                                                  _CMP_UNORD_Q, _MM_FROUND_NO_EXC);
# endif
  return !_mm512_kortestz(low, high);
}
MPNUM_AVX512_ mpnumv_bytes mpnumv_where_nan(const mpnumv_vector x[4], uint8_t nan_result,
                                            mpnumv_bytes bytes) {
  const __mmask32 low = _mm512_kunpackw(mpnumv_is_nan(x[1]), mpnumv_is_nan(x[0]));
  const __mmask32 high = _mm512_kunpackw(mpnumv_is_nan(x[3]), mpnumv_is_nan(x[2]));
  return (mpnumv_bytes)_mm512_mask_mov_epi8((__m512i)bytes, _mm512_kunpackd(high, low),
                                            _mm512_set1_epi8((char)nan_result));
}
/* Bytes of one bit each, shifted. */
MPNUM_AVX512_ mpnumv_bytes mpnumv_bytes_shr(mpnumv_bytes x, int count) {
  return (mpnumv_bytes)((mpnum_u16_avx512_)x >> count);
}
/* Bytes shifted; the bits that come in are anything. */
MPNUM_AVX512_ mpnumv_bytes mpnumv_bytes_shl(mpnumv_bytes x, int count) {
  return (mpnumv_bytes)((mpnum_u16_avx512_)x << count);
}
MPNUM_AVX512_ mpnumv_bytes mpnumv_load_bytes(const uint8_t *src) {
  return (mpnumv_bytes)mpnumv_load32(src);
}
MPNUM_AVX512_ void mpnumv_store_bytes(uint8_t *dst, mpnumv_bytes x, int non_temporal) {
  mpnum_put_avx512_(dst, (__m512i)x, non_temporal);
}
/* Codes of 4 bits, two in a byte. */
MPNUM_AVX512_ void mpnumv_store_nibbles(uint8_t *dst, mpnumv_bytes x, int non_temporal) {
  const __m512i pairs = _mm512_maddubs_epi16((__m512i)x, _mm512_set1_epi16(0x1001));
  const __m256i packed = _mm512_maskz_cvtepi16_epi8(0xffffffffu, pairs);
  if (non_temporal) {
    _mm256_stream_si256((__m256i *)(void *)dst, packed);
  } else {
    _mm256_storeu_si256((__m256i *)(void *)dst, packed);
  }
}
/* Codes of 4 and of 6 bits, one in each byte, whose upper bits are anything. */
MPNUM_AVX512_ mpnumv_bytes mpnumv_load_nibbles(const uint8_t *src) {
  const mpnum_u16_avx512_ pairs = (mpnum_u16_avx512_)_mm512_maskz_cvtepu8_epi16(
      0xffffffffu, _mm256_loadu_si256((const __m256i *)(const void *)src));
  return (mpnumv_bytes)(pairs | pairs << 4);
}
MPNUM_AVX512_ __m512i mpnum_load_48_avx512_(const uint8_t *src) {
  return _mm512_maskz_inserti32x4(
      MPNUM_ALL_,
      _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)src)),
      _mm_loadu_si128((const __m128i *)(const void *)(src + 32)), 2);
}
MPNUM_AVX512_ mpnumv_bytes mpnumv_load_sixes(const uint8_t *src) {
  const __m512i three_of_four = _mm512_maskz_broadcast_i32x4(
      MPNUM_ALL_, _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
  __m512i twelves = _mm512_maskz_permutexvar_epi32(
      MPNUM_ALL_, _mm512_setr_epi32(0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0),
      mpnum_load_48_avx512_(src));
  mpnumv_vector x;
  MPNUM_HIDE_WIDE_(twelves); /* clang would make many shuffles of two */
  x = (mpnumv_vector)_mm512_maskz_shuffle_epi8(~(__mmask64)0, twelves, three_of_four);
  return (mpnumv_bytes)_mm512_mask_mov_epi8(
      _mm512_mask_mov_epi8(
          _mm512_mask_mov_epi8((__m512i)x, 0x2222222222222222u, (__m512i)(x << 2)),
          0x4444444444444444u, (__m512i)(x << 4)),
      0x8888888888888888u, (__m512i)(x << 6));
}
/* Codes of 6 bits, four in three bytes. */
MPNUM_AVX512_ void mpnumv_store_sixes(uint8_t *dst, mpnumv_bytes x) {
  const __m512i three_of_four = _mm512_maskz_broadcast_i32x4(
      MPNUM_ALL_, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m512i pairs = _mm512_maddubs_epi16((__m512i)x, _mm512_set1_epi16(0x4001));
  const __m512i fours =
      _mm512_maskz_madd_epi16(MPNUM_ALL_, pairs, _mm512_set1_epi32(0x10000001));
  __m512i twelves = _mm512_maskz_shuffle_epi8(~(__mmask64)0, fours, three_of_four);
  __m512i packed;
  MPNUM_HIDE_WIDE_(twelves); /* as above */
  packed = _mm512_maskz_permutexvar_epi32(
      MPNUM_ALL_, _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0),
      twelves);
  _mm256_storeu_si256((__m256i *)(void *)dst,
                      _mm512_maskz_extracti64x4_epi64(0xf, packed, 0));
  _mm_storeu_si128((__m128i *)(void *)(dst + 32),
                   _mm512_maskz_extracti32x4_epi32(0xf, packed, 2));
}
/* Floats of bytes that are the upper halves of f16 codes, and that become so once they
 * are shifted to the right, the sign spread, and masked. Unpacking works within 128 bits:
 * quarters are put where their results are to be. */
MPNUM_AVX512_ void mpnum_floats_of_u16_avx512_(__m512i low, __m512i high,
                                               mpnumv_vector x[4]) {
  x[0] = (mpnumv_vector)_mm512_maskz_cvt_roundph_ps(
      MPNUM_ALL_, _mm512_maskz_extracti64x4_epi64(0xf, low, 0), _MM_FROUND_NO_EXC);
  x[1] = (mpnumv_vector)_mm512_maskz_cvt_roundph_ps(
      MPNUM_ALL_, _mm512_maskz_extracti64x4_epi64(0xf, low, 1), _MM_FROUND_NO_EXC);
  x[2] = (mpnumv_vector)_mm512_maskz_cvt_roundph_ps(
      MPNUM_ALL_, _mm512_maskz_extracti64x4_epi64(0xf, high, 0), _MM_FROUND_NO_EXC);
  x[3] = (mpnumv_vector)_mm512_maskz_cvt_roundph_ps(
      MPNUM_ALL_, _mm512_maskz_extracti64x4_epi64(0xf, high, 1), _MM_FROUND_NO_EXC);
}
MPNUM_AVX512_ __m512i mpnum_quarters_avx512_(mpnumv_bytes codes) {
  return _mm512_maskz_permutexvar_epi64(0xff, _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7),
                                        (__m512i)codes);
}
MPNUM_AVX512_ void mpnumv_f16_of_bytes(mpnumv_bytes codes, mpnumv_vector x[4]) {
  const __m512i quarters = mpnum_quarters_avx512_(codes), zero = _mm512_setzero_si512();
  mpnum_floats_of_u16_avx512_(_mm512_unpacklo_epi8(zero, quarters),
                              _mm512_unpackhi_epi8(zero, quarters), x);
}
MPNUM_AVX512_ void mpnumv_shifted_f16_of_bytes(mpnumv_bytes codes, int right,
                                               uint16_t mask, mpnumv_vector x[4]) {
  const __m512i quarters = mpnum_quarters_avx512_(codes), zero = _mm512_setzero_si512();
  const __m512i ones = _mm512_set1_epi16((short)mask);
  const __m512i count = _mm512_set1_epi16((short)right);
  const __m512i low = _mm512_srav_epi16(_mm512_unpacklo_epi8(zero, quarters), count);
  const __m512i high = _mm512_srav_epi16(_mm512_unpackhi_epi8(zero, quarters), count);
  mpnum_floats_of_u16_avx512_(_mm512_and_si512(low, ones), _mm512_and_si512(high, ones),
                              x);
}
MPNUM_AVX512_ void mpnumv_store_fence(void) { _mm_sfence(); }

/* Reductions: a vector holds codes of 8, 16 or 32 bits: magnitudes, whose highest bit is
 * 0, so that it is the same whether an instruction compares numbers with or without a
 * sign. */
/* Lane by lane the larger one. */
MPNUM_AVX512_ mpnumv_vector mpnumv_max_codes(int bits, mpnumv_vector a, mpnumv_vector b) {
  const __m512i x = (__m512i)a, y = (__m512i)b;
  if (bits == 8) return (mpnumv_vector)_mm512_maskz_max_epu8(~(__mmask64)0, x, y);
  if (bits == 16) return (mpnumv_vector)_mm512_maskz_max_epu16(~(__mmask32)0, x, y);
  return (mpnumv_vector)_mm512_maskz_max_epu32(MPNUM_ALL_, x, y);
}
/* 1 more in the lanes of a mask. (Written out for clang, which makes two steps of it.) */
MPNUM_AVX512_ mpnumv_vector mpnum_count_avx512_(int bits, mpnumv_vector count,
                                                __mmask64 mask) {
  const __m512i minus_one = _mm512_set1_epi32(-1);
  __m512i x = (__m512i)count;
# ifdef __clang__
  if (bits == 8)
    __asm__("vpsubb %2, %0, %0%{%1%}" : "+v"(x) : "Yk"(mask), "v"(minus_one));
  else if (bits == 16)
    __asm__("vpsubw %2, %0, %0%{%1%}" : "+v"(x) : "Yk"((__mmask32)mask), "v"(minus_one));
  else
    __asm__("vpsubd %2, %0, %0%{%1%}" : "+v"(x) : "Yk"((__mmask16)mask), "v"(minus_one));
# else
  if (bits == 8)
    x = _mm512_mask_sub_epi8(x, mask, x, minus_one);
  else if (bits == 16)
    x = _mm512_mask_sub_epi16(x, (__mmask32)mask, x, minus_one);
  else
    x = _mm512_mask_sub_epi32(x, (__mmask16)mask, x, minus_one);
# endif
  return (mpnumv_vector)x;
}
/* What statistics look at: lane by lane the smaller one of min and x, unless that is 0;
 * and a count of lanes, of which mpnumv_nonzeros makes those that were not 0. */
MPNUM_AVX512_ void mpnumv_min_nonzero(int bits, mpnumv_vector x, mpnumv_vector *min,
                                      mpnumv_vector *count) {
  const __m512i a = (__m512i)x, least = (__m512i)*min, zero = _mm512_setzero_si512();
  if (bits == 8) {
    const __mmask64 is_counted = _mm512_cmpgt_epi8_mask(a, zero);
    *min = (mpnumv_vector)_mm512_mask_min_epu8(least, is_counted, least, a);
    *count = mpnum_count_avx512_(bits, *count, is_counted);
  } else if (bits == 16) {
    const __mmask32 is_counted = _mm512_cmpgt_epi16_mask(a, zero);
    *min = (mpnumv_vector)_mm512_mask_min_epu16(least, is_counted, least, a);
    *count = mpnum_count_avx512_(bits, *count, is_counted);
  } else {
    const __mmask16 is_counted = _mm512_cmpgt_epi32_mask(a, zero);
    *min = (mpnumv_vector)_mm512_mask_min_epu32(least, is_counted, least, a);
    *count = mpnum_count_avx512_(bits, *count, is_counted);
  }
}
/* The larger one of max and x, unless x > most; and a count, as above, of those that are
 * not. */
MPNUM_AVX512_ void mpnumv_max_finite(int bits, mpnumv_vector x, mpnumv_vector most,
                                     mpnumv_vector *max, mpnumv_vector *count) {
  const __m512i a = (__m512i)x, b = (__m512i)most, largest = (__m512i)*max;
  if (bits == 8) {
    const __mmask64 is_counted = _mm512_cmple_epi8_mask(a, b);
    *max = (mpnumv_vector)_mm512_mask_max_epu8(largest, is_counted, largest, a);
    *count = mpnum_count_avx512_(bits, *count, is_counted);
  } else if (bits == 16) {
    const __mmask32 is_counted = _mm512_cmple_epi16_mask(a, b);
    *max = (mpnumv_vector)_mm512_mask_max_epu16(largest, is_counted, largest, a);
    *count = mpnum_count_avx512_(bits, *count, is_counted);
  } else {
    const __mmask16 is_counted = _mm512_cmple_epi32_mask(a, b);
    *max = (mpnumv_vector)_mm512_mask_max_epu32(largest, is_counted, largest, a);
    *count = mpnum_count_avx512_(bits, *count, is_counted);
  }
}
MPNUM_AVX512_ uint64_t mpnumv_nonzeros(uint64_t all, uint64_t count) {
  (void)all;
  return count;
}
/* 1 more in each lane where x > limit. */
MPNUM_AVX512_ mpnumv_vector mpnumv_count_above(int bits, mpnumv_vector count,
                                               mpnumv_vector x, mpnumv_vector limit) {
  const __m512i a = (__m512i)x, b = (__m512i)limit;
  const __mmask64 mask = bits == 8    ? _mm512_cmpgt_epi8_mask(a, b)
                         : bits == 16 ? _mm512_cmpgt_epi16_mask(a, b)
                                      : _mm512_cmpgt_epi32_mask(a, b);
  return mpnum_count_avx512_(bits, count, mask);
}
/* Counts below 256, whatever their width, as fewer ones of 32 bits. */
MPNUM_AVX512_ mpnumv_vector mpnumv_widen_counts(int bits, mpnumv_vector count) {
  if (bits == 8)
    return (mpnumv_vector)_mm512_sad_epu8((__m512i)count, _mm512_setzero_si512());
  if (bits == 16)
    return (mpnumv_vector)_mm512_maskz_madd_epi16(MPNUM_ALL_, (__m512i)count,
                                                  _mm512_set1_epi16(1));
  return count;
}

/* Doubles, half as many as there are lanes: equal ones; of floats in memory; in memory;
 * sums; sum + x * y, where the product is exact, so that one rounding is the same as two.
 * The assembly, which is empty, keeps compilers from adding in another order.
 *
 * Here two vectors of 256 bits, as Zen 4 converts to two faster than to one of 512 (111
 * against 60 GB/s). */
typedef struct mpnumv_f64 {
  __m256d low, high;
} mpnumv_f64;

MPNUM_AVX512_ mpnumv_f64 mpnumv_splat_f64(double x) {
  mpnumv_f64 result;
  result.low = _mm256_set1_pd(x);
  MPNUM_HIDE_WIDE_(result.low);
  result.high = result.low;
  return result;
}
MPNUM_AVX512_ mpnumv_f64 mpnumv_load_f64(const uint8_t *src) {
  mpnumv_f64 x;
  x.low = _mm256_cvtps_pd(
      _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(const void *)src)));
  x.high = _mm256_cvtps_pd(
      _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(const void *)(src + 16))));
  return x;
}
MPNUM_AVX512_ mpnumv_f64 mpnumv_load_sums(const double *src) {
  mpnumv_f64 x; /* no memcpy, which gcc makes of 512 bits by way of the stack */
  x.low = _mm256_loadu_pd(src);
  x.high = _mm256_loadu_pd(src + 4);
  return x;
}
MPNUM_AVX512_ void mpnumv_store_sums(double *dst, mpnumv_f64 x) {
  _mm256_storeu_pd(dst, x.low);
  _mm256_storeu_pd(dst + 4, x.high);
}
MPNUM_AVX512_ mpnumv_f64 mpnumv_add_f64(mpnumv_f64 a, mpnumv_f64 b) {
  a.low = _mm256_add_pd(a.low, b.low);
  a.high = _mm256_add_pd(a.high, b.high);
# if MPNUM_HAS_GNU_
  __asm__("" : "+v"(a.low), "+v"(a.high));
# endif
  return a;
}
MPNUM_AVX512_ mpnumv_f64 mpnumv_add_product(mpnumv_f64 sum, mpnumv_f64 x, mpnumv_f64 y) {
  sum.low = _mm256_fmadd_pd(x.low, y.low, sum.low);
  sum.high = _mm256_fmadd_pd(x.high, y.high, sum.high);
  /* x is read, so that clang adds to the sum in its place and copies nothing. */
# if MPNUM_HAS_GNU_
  __asm__("" : "+v"(sum.low), "+v"(sum.high) : "v"(x.low), "v"(x.high));
# endif
  return sum;
}
MPNUM_AVX512_ double mpnumv_sum_f64(mpnumv_f64 x) {
  __m256d four = _mm256_add_pd(x.low, x.high);
  __m128d two;
  MPNUM_HIDE_WIDE_(four);
  two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  MPNUM_HIDE_WIDE_(two);
  return mpnum_add_f64_(_mm_cvtsd_f64(two), _mm_cvtsd_f64(_mm_unpackhi_pd(two, two)));
}

/* f16 and bf16 to 8 bits and fewer, nearest even, in 32 lanes of 16 bits. */

/* What to do with a magnitude, by its exponent field: less an offset it keeps its leading
 * one, or none if it is subnormal in dst, too; then it is shifted, rounded by what is
 * added and by the last bit that is kept. Tables of 32 entries. */
typedef struct mpnumv_u16_steps {
  __m512i added, shift; /* added: with the offset */
  __m512i limit;        /* the code that larger ones count as, in bytes */
  __m512i signs;        /* the sign bits of codes */
  __m512i least;        /* of bf16: the magnitude of the first entry */
} mpnumv_u16_steps;

/* Of an encoding for which mpnum_has_u16_ holds; is_f16 is known to the compiler. */
MPNUM_AVX512_ mpnumv_u16_steps mpnumv_u16_steps_of(int is_f16,
                                                   const mpnum_encoding_ *encoding) {
  const int src_mantissa = is_f16 ? 10 : 7, src_bias = is_f16 ? 15 : 127;
  const int dst_mantissa = 23 - encoding->up, up = src_mantissa - dst_mantissa;
  /* The field in src of the smallest normal of dst, and of half its smallest subnormal.
   */
  const int normal = (int)(encoding->min_power >> 23) - 127 + src_bias;
  const int first = is_f16 ? 0 : normal - dst_mantissa - 1;
  const uint32_t limit = ((encoding->limit - encoding->min_power) >> encoding->up) +
                         ((uint32_t)1 << dst_mantissa);
  const __m512i one = _mm512_set1_epi16(1);
  const mpnum_u16_avx512_ place = /* 0 to 31 */
      (mpnum_u16_avx512_)(mpnumv_iota() * 0x00020002u + 0x00010000u);
  const mpnum_u16_avx512_ kept = (mpnum_u16_avx512_)_mm512_min_epi16(
      _mm512_max_epi16((__m512i)(place + (uint16_t)first), one),
      _mm512_set1_epi16((short)normal));
  const mpnum_u16_avx512_ offset = (kept - (uint16_t)(first + 1)) << src_mantissa;
  const mpnum_u16_avx512_ shift = (uint16_t)(up + normal) - kept;
  mpnumv_u16_steps steps;
  mpnum_u16_avx512_ added =
      (mpnum_u16_avx512_)_mm512_sllv_epi16(one, (__m512i)(shift - 1)) - 1 - offset;
  /* The last bit that is kept is taken with the offset. Of f16 that is another one where
   * it is the leading one or in the field. */
  if (is_f16) {
    const mpnum_u16_avx512_ power = place << src_mantissa;
    added +=
        (mpnum_u16_avx512_)_mm512_srlv_epi16((__m512i)(power - offset), (__m512i)shift) &
        1;
    added -= (mpnum_u16_avx512_)_mm512_srlv_epi16((__m512i)power, (__m512i)shift) & 1;
  }
  steps.added = (__m512i)added;
  steps.shift = (__m512i)shift;
  steps.limit = _mm512_set1_epi8((char)limit);
  steps.signs =
      _mm512_set1_epi8((char)(encoding->has_sign ? 0x80 >> encoding->sign_right : 0));
  steps.least = _mm512_set1_epi16((short)(first << src_mantissa));
  return steps;
}
/* Codes of 32 magnitudes; is_f16 is known to the compiler. */
MPNUM_AVX512_ __m512i mpnum_nearest_u16_avx512_(int is_f16, mpnumv_u16_steps steps,
                                                __m512i magnitude) {
  __m512i field, shift, odd;
  if (!is_f16) magnitude = _mm512_subs_epu16(magnitude, steps.least);
  field = _mm512_srli_epi16(magnitude, is_f16 ? 10 : 7);
  if (!is_f16) field = _mm512_min_epu16(field, _mm512_set1_epi16(31));
  shift = _mm512_permutexvar_epi16(field, steps.shift);
  odd = _mm512_and_si512(_mm512_srlv_epi16(magnitude, shift), _mm512_set1_epi16(1));
  magnitude = _mm512_add_epi16(magnitude, _mm512_permutexvar_epi16(field, steps.added));
  return _mm512_srlv_epi16(_mm512_add_epi16(magnitude, odd), shift); /* 16, more: 0 */
}
/* With the signs of the elements, a byte each. */
MPNUM_AVX512_ __m512i mpnum_signed_u16_avx512_(const mpnum_encoding_ *encoding,
                                               mpnumv_u16_steps steps,
                                               const __m512i code[2],
                                               const __m512i element[2]) {
  const __m512i in_order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const __m512i bytes = _mm512_maskz_min_epu8(
      ~(__mmask64)0, _mm512_maskz_packus_epi16(~(__mmask64)0, code[0], code[1]),
      steps.limit);
  mpnumv_bytes sign =
      (mpnumv_bytes)_mm512_maskz_packs_epi16(~(__mmask64)0, element[0], element[1]);
  __m512i signs = steps.signs;
  if (encoding->sign_right) sign = mpnumv_bytes_shr(sign, encoding->sign_right);
  if (!encoding->has_negative_zero)
    signs = _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(bytes, bytes), signs);
  return _mm512_maskz_permutexvar_epi64(
      0xff, in_order, /* a | (b & c) */
      _mm512_ternarylogic_epi32(bytes, (__m512i)sign, signs, 0xf8));
}
/* Codes of 64 elements. */
MPNUM_AVX512_ mpnumv_bytes mpnumv_u16_to_bytes(int is_f16,
                                               const mpnum_encoding_ *encoding,
                                               mpnumv_u16_steps steps,
                                               const uint8_t *src) {
  const __m512i abs = _mm512_set1_epi16(0x7fff);
  const __m512i infinity = _mm512_set1_epi16(is_f16 ? 0x7c00 : 0x7f80);
  __m512i element[2], code[2], result;
  __mmask32 nan_low, nan_high;
  element[0] = _mm512_loadu_si512(src);
  element[1] = _mm512_loadu_si512(src + 64);
  code[0] = _mm512_and_si512(element[0], abs);
  code[1] = _mm512_and_si512(element[1], abs);
  nan_low = _mm512_cmpgt_epu16_mask(code[0], infinity);
  nan_high = _mm512_cmpgt_epu16_mask(code[1], infinity);
  code[0] = mpnum_nearest_u16_avx512_(is_f16, steps, code[0]);
  code[1] = mpnum_nearest_u16_avx512_(is_f16, steps, code[1]);
  result = mpnum_signed_u16_avx512_(encoding, steps, code, element);
  if (nan_low | nan_high)
    result = _mm512_mask_mov_epi8(result, _mm512_kunpackd(nan_high, nan_low),
                                  _mm512_set1_epi8((char)encoding->nan_result));
  return (mpnumv_bytes)result;
}
/* The same of 64 bf16 times powers of two, for each 32 of them, that are numbers: by the
 * least of steps for each. */
MPNUM_AVX512_ mpnumv_bytes mpnumv_scaled_u16_to_bytes(const mpnum_encoding_ *encoding,
                                                      mpnumv_u16_steps steps,
                                                      const uint32_t least[2],
                                                      const uint8_t *src) {
  const __m512i abs = _mm512_set1_epi16(0x7fff);
  __m512i element[2], code[2];
  element[0] = _mm512_loadu_si512(src);
  element[1] = _mm512_loadu_si512(src + 64);
  steps.least = _mm512_set1_epi32((int)least[0]);
  code[0] = mpnum_nearest_u16_avx512_(0, steps, _mm512_and_si512(element[0], abs));
  steps.least = _mm512_set1_epi32((int)least[1]);
  code[1] = mpnum_nearest_u16_avx512_(0, steps, _mm512_and_si512(element[1], abs));
  return (mpnumv_bytes)mpnum_signed_u16_avx512_(encoding, steps, code, element);
}
/* Those least ones, twice in each word, of at most 64 factors. Returns a bit for each
 * that is no power of two, or one by which subnormals might count. */
MPNUM_AVX512_ uint64_t mpnumv_least_of_factors(const mpnum_encoding_ *encoding,
                                               uint32_t least[64], const float *factors,
                                               size_t count) {
  const uint32_t first =
      encoding->min_power - ((uint32_t)(23 - encoding->up + 1) << 23) + (127u << 23);
  uint64_t others = 0;
  size_t k = 0;
  for (; k < count; k += 16) {
    const size_t left = count - k < 16 ? count - k : 16;
    const mpnumv_vector factor = (mpnumv_vector)_mm512_maskz_loadu_ps(
        (__mmask16)(0xffffu >> (16 - left)), factors + k);
    const mpnumv_vector x = first - factor;
    const __mmask16 is_other =
        mpnumv_less(mpnumv_splat(254u << 23), x - (1u << 23)) |
        _mm512_test_epi32_mask((__m512i)factor, _mm512_set1_epi32(0x7fffff));
    mpnumv_store32((uint8_t *)(least + k), x | x >> 16, 0);
    others |= (uint64_t)is_other << k;
  }
  return others;
}

# if defined(__NVCC_DIAG_PRAGMA_SUPPORT__)
#  pragma nv_diagnostic pop
# endif
# if MPNUM_HAS_GNU_ && !defined(__clang__)
#  pragma GCC diagnostic pop
# endif

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* The words in which vector.inc is written, for AVX-512. */
#ifndef MPNUM_VECTOR_AVX512_H
#define MPNUM_VECTOR_AVX512_H

#include "round.h"
#include "isa.h"

#if MPNUM_HAS_X86_SIMD

# include <immintrin.h>

# if !defined(__clang__) /* gcc's intrinsics are macros at -O0, and it warns of them */
#  pragma GCC diagnostic push
#  pragma GCC diagnostic ignored "-Wsign-conversion"
# endif
# if defined(__NVCC_DIAG_PRAGMA_SUPPORT__) /* so does nvcc */
#  pragma nv_diagnostic push
#  pragma nv_diag_suppress 68
# endif

# define MPNUM_TARGET_AVX512_ \
  __attribute__((             \
      __target__("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,fma,f16c")))
# define MPNUM_AVX512_ \
  static inline __attribute__((__always_inline__)) MPNUM_TARGET_AVX512_

/* Intrinsics are taken in their masked form with all lanes on, the same instruction: the
 * plain ones make gcc 12 warn of its own header in C++. */
# define MPNUM_ALL_ ((__mmask16)0xffff)

typedef uint32_t mpnum_vector_avx512_ __attribute__((__vector_size__(64)));
typedef uint16_t mpnum_halves_avx512_ __attribute__((__vector_size__(64)));
typedef uint8_t mpnum_bytes_avx512_ __attribute__((__vector_size__(64)));
typedef __mmask16 mpnum_mask_avx512_;

MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_set_avx512_(uint32_t x) {
  return (mpnum_vector_avx512_)_mm512_set1_epi32((int)x);
}
/* 0, 1, 2, ... */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_iota_avx512_(void) {
  return (mpnum_vector_avx512_)_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                                 13, 14, 15);
}
/* Of values below 2^31. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_min_avx512_(mpnum_vector_avx512_ a,
                                                     mpnum_vector_avx512_ b) {
  return (mpnum_vector_avx512_)_mm512_maskz_min_epu32(MPNUM_ALL_, (__m512i)a, (__m512i)b);
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_max_avx512_(mpnum_vector_avx512_ a,
                                                     mpnum_vector_avx512_ b) {
  return (mpnum_vector_avx512_)_mm512_maskz_max_epu32(MPNUM_ALL_, (__m512i)a, (__m512i)b);
}
/* a > b, of values below 2^31. */
MPNUM_AVX512_ mpnum_mask_avx512_ mpnum_greater_avx512_(mpnum_vector_avx512_ a,
                                                       mpnum_vector_avx512_ b) {
  return _mm512_cmpgt_epu32_mask((__m512i)a, (__m512i)b);
}
/* a < b, of any values. */
MPNUM_AVX512_ mpnum_mask_avx512_ mpnum_below_avx512_(mpnum_vector_avx512_ a,
                                                     mpnum_vector_avx512_ b) {
  return _mm512_cmplt_epu32_mask((__m512i)a, (__m512i)b);
}
MPNUM_AVX512_ mpnum_mask_avx512_ mpnum_equal_avx512_(mpnum_vector_avx512_ a,
                                                     mpnum_vector_avx512_ b) {
  return _mm512_cmpeq_epu32_mask((__m512i)a, (__m512i)b);
}
/* Where the mask is set a, else b. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_select_avx512_(mpnum_mask_avx512_ mask,
                                                        mpnum_vector_avx512_ a,
                                                        mpnum_vector_avx512_ b) {
  return (mpnum_vector_avx512_)_mm512_mask_mov_epi32((__m512i)b, mask, (__m512i)a);
}
/* Each lane shifted by its own count; 0 for counts of 32 and more. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_left_avx512_(mpnum_vector_avx512_ x,
                                                      mpnum_vector_avx512_ count) {
  return (mpnum_vector_avx512_)_mm512_maskz_sllv_epi32(MPNUM_ALL_, (__m512i)x,
                                                       (__m512i)count);
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_right_avx512_(mpnum_vector_avx512_ x,
                                                       mpnum_vector_avx512_ count) {
  return (mpnum_vector_avx512_)_mm512_maskz_srlv_epi32(MPNUM_ALL_, (__m512i)x,
                                                       (__m512i)count);
}
/* All lanes by one count. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_right_by_avx512_(mpnum_vector_avx512_ x,
                                                          int count) {
  if (__builtin_constant_p(count)) return x >> count;
  return mpnum_right_avx512_(x, mpnum_set_avx512_((uint32_t)count));
}

MPNUM_AVX512_ mpnum_mask_avx512_ mpnum_is_nan_avx512_(mpnum_vector_avx512_ x) {
  return _mm512_fpclass_ps_mask((__m512)x, 0x81); /* quiet and signalling */
}
/* The magnitude of a float, or the limit where that is less; anything where it is NaN. A
 * subnormal may be flushed to zero. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_clamped_magnitude_avx512_(mpnum_vector_avx512_ x,
                                                                   uint32_t limit) {
  enum { smaller_magnitude = 2, sign_cleared = 2 << 2 };
  return (mpnum_vector_avx512_)_mm512_range_round_ps(
      (__m512)x, (__m512)mpnum_set_avx512_(limit), smaller_magnitude | sign_cleared,
      _MM_FROUND_NO_EXC);
}

/* Sum of floats, as bits, to nearest even. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_add_floats_avx512_(mpnum_vector_avx512_ a,
                                                            mpnum_vector_avx512_ b) {
  return (mpnum_vector_avx512_)_mm512_maskz_add_round_ps(
      MPNUM_ALL_, (__m512)a, (__m512)b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* Power + x * scale, as bits, to nearest even. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_add_scaled_avx512_(mpnum_vector_avx512_ power,
                                                            mpnum_vector_avx512_ x,
                                                            float scale) {
  return (mpnum_vector_avx512_)_mm512_fmadd_round_ps(
      (__m512)x, _mm512_set1_ps(scale), (__m512)power,
      _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* The bits of (float)x * scale, which is exact and normal; x below 2^24. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_scaled_avx512_(mpnum_vector_avx512_ x,
                                                        float scale) {
  return (mpnum_vector_avx512_)_mm512_mul_ps(
      _mm512_maskz_cvtepi32_ps(MPNUM_ALL_, (__m512i)x), _mm512_set1_ps(scale));
}
/* The bits of x * scale, which is exact and normal. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_times_power_avx512_(mpnum_vector_avx512_ x,
                                                             float scale) {
  return (mpnum_vector_avx512_)_mm512_mul_ps((__m512)x, _mm512_set1_ps(scale));
}

/* Words of func.inc, on floats as bits: rounded once, to nearest even. */
# define MPNUM_REAL_OF_TWO_(name, intrinsic)                                             \
  MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_##name##_avx512_(mpnum_vector_avx512_ a,      \
                                                            mpnum_vector_avx512_ b) {    \
   return (mpnum_vector_avx512_)intrinsic(                                               \
       MPNUM_ALL_, (__m512)a, (__m512)b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); \
  }
MPNUM_REAL_OF_TWO_(plus, _mm512_maskz_add_round_ps)
MPNUM_REAL_OF_TWO_(minus, _mm512_maskz_sub_round_ps)
MPNUM_REAL_OF_TWO_(times, _mm512_maskz_mul_round_ps)
MPNUM_REAL_OF_TWO_(over, _mm512_maskz_div_round_ps)
# undef MPNUM_REAL_OF_TWO_
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_root_avx512_(mpnum_vector_avx512_ x) {
  return (mpnum_vector_avx512_)_mm512_maskz_sqrt_round_ps(
      MPNUM_ALL_, (__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* The halves of a * b. */
MPNUM_AVX512_ void mpnum_multiply_avx512_(mpnum_vector_avx512_ a, uint32_t b,
                                          mpnum_vector_avx512_ *high,
                                          mpnum_vector_avx512_ *low) {
  const __m512i factor = _mm512_set1_epi64((long long)b);
  const __m512i even = _mm512_maskz_mul_epu32(0xff, (__m512i)a, factor);
  const __m512i odd =
      _mm512_maskz_mul_epu32(0xff, _mm512_maskz_srli_epi64(0xff, (__m512i)a, 32), factor);
  *high = (mpnum_vector_avx512_)_mm512_mask_mov_epi32(
      _mm512_maskz_srli_epi64(0xff, even, 32), 0xaaaa, odd);
  *low = (mpnum_vector_avx512_)_mm512_mask_mov_epi32(
      even, 0xaaaa, _mm512_maskz_slli_epi64(0xff, odd, 32));
}
/* Rows of 4 by 4 within each 128 bits become columns. */
MPNUM_AVX512_ void mpnum_transpose_avx512_(mpnum_vector_avx512_ rows[4]) {
  const __m512i low01 =
      _mm512_maskz_unpacklo_epi32(0xffff, (__m512i)rows[0], (__m512i)rows[1]);
  const __m512i high01 =
      _mm512_maskz_unpackhi_epi32(0xffff, (__m512i)rows[0], (__m512i)rows[1]);
  const __m512i low23 =
      _mm512_maskz_unpacklo_epi32(0xffff, (__m512i)rows[2], (__m512i)rows[3]);
  const __m512i high23 =
      _mm512_maskz_unpackhi_epi32(0xffff, (__m512i)rows[2], (__m512i)rows[3]);
  rows[0] = (mpnum_vector_avx512_)_mm512_maskz_unpacklo_epi64(0xff, low01, low23);
  rows[1] = (mpnum_vector_avx512_)_mm512_maskz_unpackhi_epi64(0xff, low01, low23);
  rows[2] = (mpnum_vector_avx512_)_mm512_maskz_unpacklo_epi64(0xff, high01, high23);
  rows[3] = (mpnum_vector_avx512_)_mm512_maskz_unpackhi_epi64(0xff, high01, high23);
}

/* 16 elements of memory, any alignment. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_load8_avx512_(const uint8_t *src) {
  return (mpnum_vector_avx512_)_mm512_maskz_cvtepu8_epi32(
      MPNUM_ALL_, _mm_loadu_si128((const __m128i *)(const void *)src));
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_load16_avx512_(const uint8_t *src) {
  return (mpnum_vector_avx512_)_mm512_maskz_cvtepu16_epi32(
      MPNUM_ALL_, _mm256_loadu_si256((const __m256i *)(const void *)src));
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_load32_avx512_(const uint8_t *src) {
  return (mpnum_vector_avx512_)_mm512_loadu_si512(src);
}
/* The halves of 16 words of 64 bits. */
MPNUM_AVX512_ void mpnum_load64_avx512_(const uint8_t *src, mpnum_vector_avx512_ *high,
                                        mpnum_vector_avx512_ *low) {
  const __m512i a = _mm512_loadu_si512(src);
  const __m512i b = _mm512_loadu_si512(src + 64);
  const __m512i even =
      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd =
      _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  *low = (mpnum_vector_avx512_)_mm512_permutex2var_epi32(a, even, b);
  *high = (mpnum_vector_avx512_)_mm512_permutex2var_epi32(a, odd, b);
}
/* Floats nearest to 16 doubles. NaN is not canonical. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_load_nearest64_avx512_(const uint8_t *src) {
  const __m256 low = _mm512_maskz_cvtpd_ps(0xff, _mm512_loadu_pd(src));
  const __m256 high = _mm512_maskz_cvtpd_ps(0xff, _mm512_loadu_pd(src + 64));
  return (mpnum_vector_avx512_)_mm512_maskz_inserti64x4(
      0xff, _mm512_castsi256_si512((__m256i)low), (__m256i)high, 1);
}

/* 64 bytes; past the caches where streams, to an aligned address. */
MPNUM_AVX512_ void mpnum_put_avx512_(uint8_t *dst, __m512i x, int streams) {
  if (streams) {
    _mm512_stream_si512((__m512i *)(void *)dst, x);
  } else {
    _mm512_storeu_si512(dst, x);
  }
}
MPNUM_AVX512_ void mpnum_store32_avx512_(uint8_t *dst, mpnum_vector_avx512_ x,
                                         int streams) {
  mpnum_put_avx512_(dst, (__m512i)x, streams);
}
/* The low halves of two vectors; the high halves. */
MPNUM_AVX512_ void mpnum_store16_avx512_(uint8_t *dst, mpnum_vector_avx512_ a,
                                         mpnum_vector_avx512_ b, int streams) {
  const mpnum_halves_avx512_ even = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20,
                                     22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
                                     44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
  mpnum_put_avx512_(dst, _mm512_permutex2var_epi16((__m512i)a, (__m512i)even, (__m512i)b),
                    streams);
}
MPNUM_AVX512_ void mpnum_store_high_avx512_(uint8_t *dst, mpnum_vector_avx512_ a,
                                            mpnum_vector_avx512_ b, int streams) {
  const mpnum_halves_avx512_ odd = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                    23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                    45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  mpnum_put_avx512_(dst, _mm512_permutex2var_epi16((__m512i)a, (__m512i)odd, (__m512i)b),
                    streams);
}

/* f16 codes of floats, nearest even, canonical NaN, and back. */
MPNUM_AVX512_ void mpnum_store_f16_avx512_(uint8_t *dst, mpnum_vector_avx512_ a,
                                           mpnum_vector_avx512_ b, int saturates,
                                           int streams) {
  enum { mode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
  const __m512i abs = _mm512_set1_epi16(0x7fff);
  __mmask32 is_nan;
  __m512i halves;
  if (saturates) {
    const mpnum_vector_avx512_ max = mpnum_set_avx512_(0x477fe000u); /* 65504 */
    const mpnum_vector_avx512_ infinity = mpnum_set_avx512_(0x7f800000u);
    const mpnum_vector_avx512_ abs_a = a & 0x7fffffffu, abs_b = b & 0x7fffffffu;
    is_nan = _mm512_kunpackw(mpnum_greater_avx512_(abs_b, infinity),
                             mpnum_greater_avx512_(abs_a, infinity));
    a = mpnum_min_avx512_(abs_a, max) | (a & 0x80000000u);
    b = mpnum_min_avx512_(abs_b, max) | (b & 0x80000000u);
  }
  halves = _mm512_maskz_inserti64x4(
      0xff, _mm512_castsi256_si512(_mm512_maskz_cvtps_ph(MPNUM_ALL_, (__m512)a, mode)),
      _mm512_maskz_cvtps_ph(MPNUM_ALL_, (__m512)b, mode), 1);
  if (!saturates)
    is_nan =
        _mm512_cmpgt_epu16_mask(_mm512_and_si512(halves, abs), _mm512_set1_epi16(0x7c00));
  mpnum_put_avx512_(dst, _mm512_mask_mov_epi16(halves, is_nan, abs), streams);
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_load_f16_avx512_(const uint8_t *src,
                                                          int is_nan_kept) {
  const mpnum_vector_avx512_ x = (mpnum_vector_avx512_)_mm512_maskz_cvtph_ps(
      MPNUM_ALL_, _mm256_loadu_si256((const __m256i *)(const void *)src));
  if (is_nan_kept) return x;
  return mpnum_select_avx512_(mpnum_is_nan_avx512_(x), mpnum_set_avx512_(0x7fffffffu), x);
}

/* The bytes of a block, but the byte nan where a lane is NaN. */
MPNUM_AVX512_ mpnum_bytes_avx512_ mpnum_where_nan_avx512_(const mpnum_vector_avx512_ x[4],
                                                          uint8_t nan_result,
                                                          mpnum_bytes_avx512_ bytes) {
  const __mmask32 low =
      _mm512_kunpackw(mpnum_is_nan_avx512_(x[1]), mpnum_is_nan_avx512_(x[0]));
  const __mmask32 high =
      _mm512_kunpackw(mpnum_is_nan_avx512_(x[3]), mpnum_is_nan_avx512_(x[2]));
  return (mpnum_bytes_avx512_)_mm512_mask_mov_epi8(
      (__m512i)bytes, _mm512_kunpackd(high, low), _mm512_set1_epi8((char)nan_result));
}
/* Byte number 0 or 3 of each lane. */
MPNUM_AVX512_ mpnum_bytes_avx512_ mpnum_gather_avx512_(const mpnum_vector_avx512_ x[4],
                                                       uint8_t number) {
  const mpnum_bytes_avx512_ every_fourth = {
      0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
      64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124,
      0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
      64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};
  const __m512i at = (__m512i)(every_fourth + number);
  const __m512i low = _mm512_permutex2var_epi8((__m512i)x[0], at, (__m512i)x[1]);
  const __m512i high = _mm512_permutex2var_epi8((__m512i)x[2], at, (__m512i)x[3]);
  return (mpnum_bytes_avx512_)_mm512_mask_mov_epi64(low, 0xf0, high);
}
/* The low bytes of lanes, and their sign bits as those of bytes, whose other bits are
 * anything. */
MPNUM_AVX512_ mpnum_bytes_avx512_
mpnum_low_bytes_avx512_(const mpnum_vector_avx512_ x[4]) {
  return mpnum_gather_avx512_(x, 0);
}
MPNUM_AVX512_ mpnum_bytes_avx512_
mpnum_sign_bytes_avx512_(const mpnum_vector_avx512_ x[4]) {
  return mpnum_gather_avx512_(x, 3);
}
/* Low bytes in any order, which sign_bytes and where_nan share; and in that of lanes. */
MPNUM_AVX512_ mpnum_bytes_avx512_
mpnum_packed_low_avx512_(const mpnum_vector_avx512_ x[4]) {
  return mpnum_low_bytes_avx512_(x);
}
MPNUM_AVX512_ mpnum_bytes_avx512_ mpnum_in_order_avx512_(mpnum_bytes_avx512_ x) {
  return x;
}
/* Bytes of one bit each, shifted. */
MPNUM_AVX512_ mpnum_bytes_avx512_ mpnum_bytes_right_avx512_(mpnum_bytes_avx512_ x,
                                                            int count) {
  return (mpnum_bytes_avx512_)((mpnum_halves_avx512_)x >> count);
}
MPNUM_AVX512_ void mpnum_store_bytes_avx512_(uint8_t *dst, mpnum_bytes_avx512_ x,
                                             int streams) {
  mpnum_put_avx512_(dst, (__m512i)x, streams);
}
/* Codes of 4 bits, two in a byte. */
MPNUM_AVX512_ void mpnum_store_nibbles_avx512_(uint8_t *dst, mpnum_bytes_avx512_ x,
                                               int streams) {
  const __m512i pairs = _mm512_maddubs_epi16((__m512i)x, _mm512_set1_epi16(0x1001));
  const __m256i packed = _mm512_maskz_cvtepi16_epi8(0xffffffffu, pairs);
  if (streams) {
    _mm256_stream_si256((__m256i *)(void *)dst, packed);
  } else {
    _mm256_storeu_si256((__m256i *)(void *)dst, packed);
  }
}
/* Floats of codes that are f16 codes once their sign and magnitude are shifted. */
MPNUM_AVX512_ void mpnum_load_f16_bytes_avx512_(const uint8_t *src, int sign, int up,
                                                uint32_t mask,
                                                mpnum_vector_avx512_ x[4]) {
  int i = 0;
  for (; i < 2; ++i) { /* of 8 bits: the sign is spread, and stays in the top bit */
    const mpnum_halves_avx512_ codes = (mpnum_halves_avx512_)_mm512_maskz_cvtepi8_epi16(
        0xffffffffu, _mm256_loadu_si256((const __m256i *)(const void *)(src + 32 * i)));
    const __m512i halves =
        (__m512i)(sign == 8 ? codes << up & (uint16_t)(mask | 0x8000)
                            : (codes << sign & 0x8000) | (codes << up & (uint16_t)mask));
    x[2 * i] = (mpnum_vector_avx512_)_mm512_maskz_cvtph_ps(
        MPNUM_ALL_, _mm512_maskz_extracti64x4_epi64(0xf, halves, 0));
    x[2 * i + 1] = (mpnum_vector_avx512_)_mm512_maskz_cvtph_ps(
        MPNUM_ALL_, _mm512_maskz_extracti64x4_epi64(0xf, halves, 1));
  }
}

/* e4m3 and e5m2: byte 3 and byte 2 of a float are looked up, 128 magnitudes at once, the
 * two bytes below are 0 or those of NaN. */
MPNUM_AVX512_ void mpnum_decode_by_table_avx512_(int is_e4m3, const uint8_t *src,
                                                 mpnum_vector_avx512_ x[4]) {
  static const uint8_t e4m3_high[128] = {
      0x00, 0x3b, 0x3b, 0x3b, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c,
      0x3c, 0x3c, 0x3c, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d,
      0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e,
      0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3e, 0x3f, 0x3f, 0x3f, 0x3f,
      0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x40,
      0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40,
      0x40, 0x40, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41,
      0x41, 0x41, 0x41, 0x41, 0x41, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42,
      0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x43, 0x43, 0x43, 0x43, 0x43,
      0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x7f};
  static const uint8_t e4m3_middle[128] = {
      0x00, 0x00, 0x80, 0xc0, 0x00, 0x20, 0x40, 0x60, 0x80, 0x90, 0xa0, 0xb0, 0xc0,
      0xd0, 0xe0, 0xf0, 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90,
      0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0, 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60,
      0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0, 0x00, 0x10, 0x20, 0x30,
      0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0, 0x00,
      0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0,
      0xe0, 0xf0, 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0,
      0xb0, 0xc0, 0xd0, 0xe0, 0xf0, 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70,
      0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0, 0x00, 0x10, 0x20, 0x30, 0x40,
      0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xff};
  static const uint8_t e5m2_high[128] = {
      0x00, 0x37, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x39, 0x39, 0x39, 0x39, 0x39,
      0x39, 0x39, 0x39, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3a, 0x3b, 0x3b,
      0x3b, 0x3b, 0x3b, 0x3b, 0x3b, 0x3b, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c,
      0x3c, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3d, 0x3e, 0x3e, 0x3e, 0x3e,
      0x3e, 0x3e, 0x3e, 0x3e, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x40,
      0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41,
      0x41, 0x41, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x43, 0x43, 0x43,
      0x43, 0x43, 0x43, 0x43, 0x43, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44,
      0x45, 0x45, 0x45, 0x45, 0x45, 0x45, 0x45, 0x45, 0x46, 0x46, 0x46, 0x46, 0x46,
      0x46, 0x46, 0x46, 0x47, 0x47, 0x47, 0x47, 0x7f, 0x7f, 0x7f, 0x7f};
  static const uint8_t e5m2_middle[128] = {
      0x00, 0x80, 0x00, 0x40, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80,
      0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20,
      0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0,
      0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60,
      0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00,
      0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xa0,
      0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40,
      0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0,
      0x00, 0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80,
      0xa0, 0xc0, 0xe0, 0x00, 0x20, 0x40, 0x60, 0x80, 0xff, 0xff, 0xff};
  const uint8_t *const high_bytes = is_e4m3 ? e4m3_high : e5m2_high;
  const uint8_t *const middle_bytes = is_e4m3 ? e4m3_middle : e5m2_middle;
  const int last_number = is_e4m3 ? 0x7e : 0x7c;
  /* Unpacking works within 128 bits: quarters of each are put where its results are to
   * be. */
  const __m512i order =
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i code =
      _mm512_maskz_permutexvar_epi32(MPNUM_ALL_, order, _mm512_loadu_si512(src));
  const __mmask64 is_nan =
      _mm512_cmpgt_epu8_mask(_mm512_and_si512(code, _mm512_set1_epi8(0x7f)),
                             _mm512_set1_epi8((char)last_number));
  const __m512i low = _mm512_movm_epi8(is_nan);
  const __m512i sign = _mm512_maskz_mov_epi8(
      ~is_nan, _mm512_and_si512(code, _mm512_set1_epi8((char)0x80)));
  const __m512i high = _mm512_or_si512(
      sign, _mm512_permutex2var_epi8(_mm512_loadu_si512(high_bytes), code,
                                     _mm512_loadu_si512(high_bytes + 64)));
  const __m512i middle = _mm512_permutex2var_epi8(_mm512_loadu_si512(middle_bytes), code,
                                                  _mm512_loadu_si512(middle_bytes + 64));
  const __m512i upper0 = _mm512_unpacklo_epi8(middle, high);
  const __m512i upper1 = _mm512_unpackhi_epi8(middle, high);
  const __m512i lower0 = _mm512_unpacklo_epi8(low, low);
  const __m512i lower1 = _mm512_unpackhi_epi8(low, low);
  x[0] = (mpnum_vector_avx512_)_mm512_unpacklo_epi16(lower0, upper0);
  x[1] = (mpnum_vector_avx512_)_mm512_unpackhi_epi16(lower0, upper0);
  x[2] = (mpnum_vector_avx512_)_mm512_unpacklo_epi16(lower1, upper1);
  x[3] = (mpnum_vector_avx512_)_mm512_unpackhi_epi16(lower1, upper1);
}

/* Magnitudes of up to 5 bits are looked up as floats, 32 at once; no code is special. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_magnitudes_avx512_(mpnum_format format,
                                                            int first) {
  const mpnum_vector_avx512_ table = {
# define MPNUM_ENTRY_(i) \
  mpnum_decode_finite_(format, ((uint32_t)(first + i)) & format.max_code)
      MPNUM_ENTRY_(0),  MPNUM_ENTRY_(1),  MPNUM_ENTRY_(2),  MPNUM_ENTRY_(3),
      MPNUM_ENTRY_(4),  MPNUM_ENTRY_(5),  MPNUM_ENTRY_(6),  MPNUM_ENTRY_(7),
      MPNUM_ENTRY_(8),  MPNUM_ENTRY_(9),  MPNUM_ENTRY_(10), MPNUM_ENTRY_(11),
      MPNUM_ENTRY_(12), MPNUM_ENTRY_(13), MPNUM_ENTRY_(14), MPNUM_ENTRY_(15)};
# undef MPNUM_ENTRY_
  return table;
}
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_look_up_avx512_(mpnum_format format,
                                                         mpnum_vector_avx512_ code) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const __m512i low = (__m512i)mpnum_magnitudes_avx512_(format, 0);
  const mpnum_vector_avx512_ magnitude =
      (mpnum_vector_avx512_)(sign_shift < 5
                                 ? _mm512_maskz_permutexvar_epi32(MPNUM_ALL_,
                                                                  (__m512i)code, low)
                                 : _mm512_permutex2var_epi32(
                                       low, (__m512i)code,
                                       (__m512i)mpnum_magnitudes_avx512_(format, 16)));
  return magnitude | (code << (31 - sign_shift) & 0x80000000u);
}
MPNUM_AVX512_ void mpnum_decode_short_avx512_(mpnum_format format, const uint8_t *src,
                                              mpnum_vector_avx512_ x[4]) {
  x[0] = mpnum_look_up_avx512_(format, mpnum_load8_avx512_(src));
  x[1] = mpnum_look_up_avx512_(format, mpnum_load8_avx512_(src + 16));
  x[2] = mpnum_look_up_avx512_(format, mpnum_load8_avx512_(src + 32));
  x[3] = mpnum_look_up_avx512_(format, mpnum_load8_avx512_(src + 48));
}
/* Sixteen codes of 4 bits, from 8 bytes that every lane sees: lane i has code i in its
 * low bits, anything above. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_load4_avx512_(const uint8_t *src) {
  const __m512i at =
      _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
  long long codes;
  MPNUM_MEMCPY_(&codes, src, 8);
  return (mpnum_vector_avx512_)_mm512_maskz_multishift_epi64_epi8(
      ~(__mmask64)0, at, _mm512_set1_epi64(codes));
}
/* 48 bytes: codes of 6 bits, four in three bytes. */
MPNUM_AVX512_ void mpnum_store_sixes_avx512_(uint8_t *dst, mpnum_bytes_avx512_ x) {
  const mpnum_bytes_avx512_ three_of_four = {
      0,  1,  2,  4,  5,  6,  8,  9,  10, 12, 13, 14, 16, 17, 18, 20,
      21, 22, 24, 25, 26, 28, 29, 30, 32, 33, 34, 36, 37, 38, 40, 41,
      42, 44, 45, 46, 48, 49, 50, 52, 53, 54, 56, 57, 58, 60, 61, 62};
  const __m512i pairs = _mm512_maddubs_epi16((__m512i)x, _mm512_set1_epi16(0x4001));
  const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x10000001));
  const __mmask64 first_48 = 0xffffffffffffu;
  _mm512_mask_storeu_epi8(
      dst, first_48,
      _mm512_maskz_permutexvar_epi8(first_48, (__m512i)three_of_four, fours));
}
/* Sixteen of them, from 12 bytes at src + 12 * part of 48: the three bytes that hold four
 * go to two words of 64 bits, of which each takes two codes. */
MPNUM_AVX512_ mpnum_vector_avx512_ mpnum_load6_avx512_(const uint8_t *src, int part) {
  const __m512i bytes = _mm512_maskz_loadu_epi8(0xffffffffffffu, src);
  const mpnum_bytes_avx512_ threes = {0, 1,  2,  0, 0, 0, 0, 0, 0, 1,  2,  0, 0, 0, 0, 0,
                                      3, 4,  5,  0, 0, 0, 0, 0, 3, 4,  5,  0, 0, 0, 0, 0,
                                      6, 7,  8,  0, 0, 0, 0, 0, 6, 7,  8,  0, 0, 0, 0, 0,
                                      9, 10, 11, 0, 0, 0, 0, 0, 9, 10, 11, 0, 0, 0, 0, 0};
  const __m512i at =
      _mm512_setr_epi32(0, 6, 12, 18, 0, 6, 12, 18, 0, 6, 12, 18, 0, 6, 12, 18);
  return (mpnum_vector_avx512_)_mm512_maskz_multishift_epi64_epi8(
      ~(__mmask64)0, at,
      _mm512_maskz_permutexvar_epi8(~(__mmask64)0,
                                    (__m512i)(threes + (uint8_t)(12 * part)), bytes));
}
/* Dense codes of 4 or 6 bits. */
MPNUM_AVX512_ void mpnum_decode_dense_avx512_(int bits, mpnum_format format,
                                              const uint8_t *src,
                                              mpnum_vector_avx512_ x[4]) {
  const int is_four = bits == 4;
  x[0] = mpnum_look_up_avx512_(format, is_four ? mpnum_load4_avx512_(src)
                                               : mpnum_load6_avx512_(src, 0));
  x[1] = mpnum_look_up_avx512_(format, is_four ? mpnum_load4_avx512_(src + 8)
                                               : mpnum_load6_avx512_(src, 1));
  x[2] = mpnum_look_up_avx512_(format, is_four ? mpnum_load4_avx512_(src + 16)
                                               : mpnum_load6_avx512_(src, 2));
  x[3] = mpnum_look_up_avx512_(format, is_four ? mpnum_load4_avx512_(src + 24)
                                               : mpnum_load6_avx512_(src, 3));
}
MPNUM_AVX512_ void mpnum_fence_avx512_(void) { _mm_sfence(); }

# if defined(__NVCC_DIAG_PRAGMA_SUPPORT__)
#  pragma nv_diagnostic pop
# endif
# if !defined(__clang__)
#  pragma GCC diagnostic pop
# endif

#endif
#endif

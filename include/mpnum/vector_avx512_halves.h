/* SPDX-License-Identifier: MIT */
/* f16 and bf16 to 8 bits and fewer, nearest even, in AVX-512's 32 lanes of 16 bits. */
#ifndef MPNUM_VECTOR_AVX512_HALVES_H
#define MPNUM_VECTOR_AVX512_HALVES_H

#include "vector_avx512.h"

#if MPNUM_HAS_X86_SIMD

/* What to do with a magnitude, by its exponent field: less an offset it keeps its leading
 * one, or none if it is subnormal in dst, too; then it is shifted. Tables of 32 entries,
 * that of a field in place field % 32. */
typedef struct mpnum_steps_avx512_ {
  __m512i offset, shift, below_half;
} mpnum_steps_avx512_;

/* The exponent field in src of the smallest normal of dst. */
MPNUM_AVX512_ int mpnum_normal_field_avx512_(mpnum_format src, mpnum_format dst) {
  return 1 - dst.bias + src.bias;
}
/* The field of the first entry: of half the smallest subnormal of dst, where not all
 * fields of src have one. */
MPNUM_AVX512_ int mpnum_first_field_avx512_(mpnum_format src, mpnum_format dst) {
  if (src.exponent_bits <= 5) return 0;
  return mpnum_normal_field_avx512_(src, dst) - dst.mantissa_bits - 1;
}
MPNUM_AVX512_ mpnum_steps_avx512_ mpnum_steps_of_avx512_(mpnum_format src,
                                                         mpnum_format dst) {
  const uint16_t first = (uint16_t)mpnum_first_field_avx512_(src, dst);
  const int normal = mpnum_normal_field_avx512_(src, dst);
  const int up = src.mantissa_bits - dst.mantissa_bits;
  const __m512i one = _mm512_set1_epi16(1);
  const mpnum_halves_avx512_ place = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                      11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                      22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  const mpnum_halves_avx512_ field = ((place - first) & 31) + first;
  const mpnum_halves_avx512_ kept = (mpnum_halves_avx512_)_mm512_min_epi16(
      _mm512_max_epi16((__m512i)field, one), _mm512_set1_epi16((short)normal));
  mpnum_steps_avx512_ steps;
  steps.offset = (__m512i)((kept - 1) << src.mantissa_bits);
  steps.shift = (__m512i)((uint16_t)(up + normal) - kept);
  steps.below_half =
      _mm512_sub_epi16(_mm512_sllv_epi16(one, _mm512_sub_epi16(steps.shift, one)), one);
  return steps;
}
/* Codes of 32 magnitudes. */
MPNUM_AVX512_ __m512i mpnum_nearest_halves_avx512_(mpnum_format src, mpnum_format dst,
                                                   int limit, mpnum_steps_avx512_ steps,
                                                   __m512i magnitude) {
  const int first = mpnum_first_field_avx512_(src, dst);
  const int least = first << src.mantissa_bits;
  __m512i field, base, shift, code, odd;
  if (first > 0) magnitude = _mm512_max_epu16(magnitude, _mm512_set1_epi16((short)least));
  magnitude = _mm512_min_epu16(magnitude, _mm512_set1_epi16((short)limit));
  field = _mm512_srli_epi16(magnitude, (unsigned)src.mantissa_bits);
  if (limit >> src.mantissa_bits > first + 31) /* all these are normal in dst */
    field = _mm512_min_epu16(field, _mm512_set1_epi16((short)(first + 31)));
  base = _mm512_sub_epi16(magnitude, _mm512_permutexvar_epi16(field, steps.offset));
  shift = _mm512_permutexvar_epi16(field, steps.shift);
  odd = _mm512_and_si512(_mm512_srlv_epi16(base, shift), _mm512_set1_epi16(1));
  code = _mm512_add_epi16(base, _mm512_permutexvar_epi16(field, steps.below_half));
  return _mm512_srlv_epi16(_mm512_add_epi16(code, odd), shift); /* by 16 and more: 0 */
}
/* Codes of 64 elements, a byte each. The limit is the magnitude in src of the largest
 * code there may be. */
MPNUM_AVX512_ mpnum_bytes_avx512_ mpnum_halves_to_bytes_avx512_(mpnum_format src,
                                                                mpnum_format dst,
                                                                int limit,
                                                                const uint8_t *from) {
  const mpnum_steps_avx512_ steps = mpnum_steps_of_avx512_(src, dst);
  const int sign_right = 7 - dst.exponent_bits - dst.mantissa_bits;
  const uint8_t nan_result = (uint8_t)(dst.nan_code ? dst.nan_code : dst.max_code);
  const mpnum_bytes_avx512_ even = {
      0,  2,  4,   6,   8,   10,  12,  14,  16,  18,  20,  22,  24,  26,  28,  30,
      32, 34, 36,  38,  40,  42,  44,  46,  48,  50,  52,  54,  56,  58,  60,  62,
      64, 66, 68,  70,  72,  74,  76,  78,  80,  82,  84,  86,  88,  90,  92,  94,
      96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120, 122, 124, 126};
  const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 64);
  const __m512i abs = _mm512_set1_epi16(0x7fff);
  const __m512i infinity = _mm512_set1_epi16((short)src.inf_code);
  const __m512i abs_low = _mm512_and_si512(low, abs);
  const __m512i abs_high = _mm512_and_si512(high, abs);
  const __mmask64 is_nan = _mm512_kunpackd(_mm512_cmpgt_epu16_mask(abs_high, infinity),
                                           _mm512_cmpgt_epu16_mask(abs_low, infinity));
  const mpnum_bytes_avx512_ zero = {0};
  const mpnum_bytes_avx512_ bytes = (mpnum_bytes_avx512_)_mm512_permutex2var_epi8(
      mpnum_nearest_halves_avx512_(src, dst, limit, steps, abs_low), (__m512i)even,
      mpnum_nearest_halves_avx512_(src, dst, limit, steps, abs_high));
  mpnum_bytes_avx512_ sign =
      (mpnum_bytes_avx512_)_mm512_permutex2var_epi8(low, (__m512i)(even + 1), high) &
      (uint8_t)0x80;
  if (sign_right > 0) sign = mpnum_bytes_right_avx512_(sign, sign_right);
  if (!dst.has_negative_zero) sign &= (mpnum_bytes_avx512_)(bytes != zero);
  return (mpnum_bytes_avx512_)_mm512_mask_mov_epi8((__m512i)(bytes | sign), is_nan,
                                                   _mm512_set1_epi8((char)nan_result));
}

#endif
#endif

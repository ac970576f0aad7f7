/* SPDX-License-Identifier: MIT */
/* f16 and bf16 to 8 bits and fewer, nearest even, in AVX-512's 32 lanes of 16 bits. */
#ifndef MPNUM_DETAIL_SIMD_AVX512_U16_H
#define MPNUM_DETAIL_SIMD_AVX512_U16_H

#include "codings.h"
#include "avx512.h"

#if MPNUM_HAS_X86_SIMD

/* What to do with a magnitude, by its exponent field: less an offset it keeps its leading
 * one, or none if it is subnormal in dst, too; then it is shifted. Tables of 32 entries,
 * that of a field in place field % 32. */
typedef struct mpnum_halves_steps_avx512_ {
  __m512i offset, shift, below_half;
  __m512i limit;             /* the magnitude that larger ones count as */
  __m512i least, last_field; /* of bf16: that smaller ones do; larger fields */
  int is_wide;               /* whether there are any */
} mpnum_halves_steps_avx512_;

/* Whether there are such steps: what is normal in dst is normal in src. */
MPNUM_AVX512_ int mpnum_has_halves_avx512_(mpnum_encoding_ encoding) {
  const int src_bias = encoding.src_type == MPNUM_TYPE_F16 ? 15 : 127;
  return (int)(encoding.min_power >> 23) - 127 + src_bias >= 1;
}
MPNUM_AVX512_ mpnum_halves_steps_avx512_
mpnum_halves_steps_of_avx512_(mpnum_encoding_ encoding) {
  const int is_f16 = encoding.src_type == MPNUM_TYPE_F16;
  const int src_mantissa = is_f16 ? 10 : 7, src_bias = is_f16 ? 15 : 127;
  const int up = src_mantissa - (23 - encoding.up);
  /* The field in src of the smallest normal of dst, and of half its smallest subnormal.
   */
  const int normal = (int)(encoding.min_power >> 23) - 127 + src_bias;
  const int first = is_f16 ? 0 : normal - (23 - encoding.up) - 1;
  const uint32_t limit = (encoding.limit >> (23 - src_mantissa)) -
                         ((uint32_t)(127 - src_bias) << src_mantissa);
  const __m512i one = _mm512_set1_epi16(1);
  const mpnum_halves_avx512_ place = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                      11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                      22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  const mpnum_halves_avx512_ field = ((place - (uint16_t)first) & 31) + (uint16_t)first;
  const mpnum_halves_avx512_ kept = (mpnum_halves_avx512_)_mm512_min_epi16(
      _mm512_max_epi16((__m512i)field, one), _mm512_set1_epi16((short)normal));
  mpnum_halves_steps_avx512_ steps;
  steps.offset = (__m512i)((kept - 1) << src_mantissa);
  steps.shift = (__m512i)((uint16_t)(up + normal) - kept);
  steps.below_half =
      _mm512_sub_epi16(_mm512_sllv_epi16(one, _mm512_sub_epi16(steps.shift, one)), one);
  steps.least = _mm512_set1_epi16((short)(first << src_mantissa));
  steps.limit = _mm512_set1_epi16((short)limit);
  steps.last_field = _mm512_set1_epi16((short)(first + 31));
  steps.is_wide = (int)(limit >> src_mantissa) > first + 31;
  return steps;
}
/* Codes of 32 magnitudes; is_f16 is known to the compiler. */
MPNUM_AVX512_ __m512i mpnum_nearest_halves_avx512_(int is_f16,
                                                   mpnum_halves_steps_avx512_ steps,
                                                   __m512i magnitude) {
  __m512i field, base, shift, code, odd;
  if (is_f16) {
    magnitude = _mm512_min_epu16(magnitude, steps.limit);
    field = _mm512_srli_epi16(magnitude, 10);
  } else {
    magnitude = _mm512_min_epu16(_mm512_max_epu16(magnitude, steps.least), steps.limit);
    field = _mm512_srli_epi16(magnitude, 7);
    if (steps.is_wide) field = _mm512_min_epu16(field, steps.last_field);
  }
  base = _mm512_sub_epi16(magnitude, _mm512_permutexvar_epi16(field, steps.offset));
  shift = _mm512_permutexvar_epi16(field, steps.shift);
  odd = _mm512_and_si512(_mm512_srlv_epi16(base, shift), _mm512_set1_epi16(1));
  code = _mm512_add_epi16(base, _mm512_permutexvar_epi16(field, steps.below_half));
  return _mm512_srlv_epi16(_mm512_add_epi16(code, odd), shift); /* by 16 and more: 0 */
}
/* Codes of 64 elements, a byte each. */
MPNUM_AVX512_ mpnum_bytes_avx512_
mpnum_halves_to_bytes_avx512_(int is_f16, mpnum_encoding_ encoding,
                              mpnum_halves_steps_avx512_ steps, const uint8_t *src) {
  const __m512i low = _mm512_loadu_si512(src), high = _mm512_loadu_si512(src + 64);
  const __m512i abs = _mm512_set1_epi16(0x7fff);
  const __m512i abs_low = _mm512_and_si512(low, abs);
  const __m512i abs_high = _mm512_and_si512(high, abs);
  const __m512i infinity = _mm512_set1_epi16(is_f16 ? 0x7c00 : 0x7f80);
  const __mmask32 nan_low = _mm512_cmpgt_epu16_mask(abs_low, infinity);
  const __mmask32 nan_high = _mm512_cmpgt_epu16_mask(abs_high, infinity);
  const __m512i in_order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const mpnum_bytes_avx512_ zero = {0};
  const mpnum_bytes_avx512_ bytes = (mpnum_bytes_avx512_)_mm512_maskz_packus_epi16(
      ~(__mmask64)0, mpnum_nearest_halves_avx512_(is_f16, steps, abs_low),
      mpnum_nearest_halves_avx512_(is_f16, steps, abs_high));
  mpnum_bytes_avx512_ sign =
      (mpnum_bytes_avx512_)_mm512_maskz_packs_epi16(~(__mmask64)0, low, high) &
      (uint8_t)0x80;
  __m512i result;
  if (encoding.sign_right) sign = mpnum_bytes_right_avx512_(sign, encoding.sign_right);
  if (!encoding.has_negative_zero) sign &= (mpnum_bytes_avx512_)(bytes != zero);
  result = _mm512_maskz_permutexvar_epi64(0xff, in_order, (__m512i)(bytes | sign));
  if (nan_low | nan_high)
    result = _mm512_mask_mov_epi8(result, _mm512_kunpackd(nan_high, nan_low),
                                  _mm512_set1_epi8((char)encoding.nan_result));
  return (mpnum_bytes_avx512_)result;
}

#endif
#endif

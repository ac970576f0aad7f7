/* SPDX-License-Identifier: MIT */
/* Loops over blocks that tables of bytes make faster, for AVX-512 with VBMI. Included
 * after the loops of AVX-512. */
#ifndef MPNUM_VECTOR_AVX512_VBMI_H
#define MPNUM_VECTOR_AVX512_VBMI_H

#include "vector_avx512.h"

#if MPNUM_HAS_X86_SIMD

# define MPNUM_TARGET_VBMI_ \
  __attribute__((           \
      __target__("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,fma,f16c")))
# define MPNUM_VBMI_ static inline __attribute__((__always_inline__)) MPNUM_TARGET_VBMI_

/* Byte number 0 to 3 of each lane. */
MPNUM_VBMI_ mpnum_bytes_avx512_ mpnum_gather_vbmi_(const mpnum_vector_avx512_ x[4],
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
/* Floats to codes of 8 bits and fewer: their bytes are gathered. */
MPNUM_VBMI_ mpnum_bytes_avx512_
mpnum_nearest_bytes_vbmi_(mpnum_encoding_ encoding, const mpnum_vector_avx512_ x[4]) {
  const mpnum_bytes_avx512_ zero = {0};
  mpnum_vector_avx512_ code[4];
  mpnum_bytes_avx512_ bytes, sign = mpnum_gather_vbmi_(x, 3) & (uint8_t)0x80;
  code[0] = mpnum_nearest_magnitude_avx512_(encoding, x[0]);
  code[1] = mpnum_nearest_magnitude_avx512_(encoding, x[1]);
  code[2] = mpnum_nearest_magnitude_avx512_(encoding, x[2]);
  code[3] = mpnum_nearest_magnitude_avx512_(encoding, x[3]);
  bytes = mpnum_gather_vbmi_(code, 0);
  if (encoding.sign_right) sign = mpnum_bytes_right_avx512_(sign, encoding.sign_right);
  if (!encoding.has_negative_zero) sign &= (mpnum_bytes_avx512_)(bytes != zero);
  bytes |= sign;
  if (mpnum_any_nan_avx512_(x))
    bytes = mpnum_where_nan_avx512_(x, (uint8_t)encoding.nan_result, bytes);
  return bytes;
}
MPNUM_HOST MPNUM_TARGET_VBMI_ void
mpnum_encode_byte_blocks_vbmi_(const void *how, uint8_t *dst, const uint8_t *src,
                               size_t blocks, int streams) {
  const mpnum_encoding_ encoding = *(const mpnum_encoding_ *)how;
  for (; blocks != 0; --blocks) {
    mpnum_vector_avx512_ x[4];
    mpnum_load_block_avx512_(MPNUM_TYPE_F32, src, x);
    mpnum_store_elements_avx512_(encoding.dst_bits, dst,
                                 mpnum_nearest_bytes_vbmi_(encoding, x), streams);
    dst += 8 * encoding.dst_bits;
    src += 256;
  }
  if (streams) mpnum_fence_avx512_();
}

/* Sixteen codes of 4 bits, from 8 bytes that every lane sees: lane i has code i in its
 * low bits, anything above. */
MPNUM_VBMI_ mpnum_vector_avx512_ mpnum_load4_vbmi_(const uint8_t *src) {
  const __m512i at =
      _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
  long long codes;
  MPNUM_MEMCPY_(&codes, src, 8);
  return (mpnum_vector_avx512_)_mm512_maskz_multishift_epi64_epi8(
      ~(__mmask64)0, at, _mm512_set1_epi64(codes));
}
/* Sixteen of 6 bits, from 12 bytes of 48, from 12 * part on: the three bytes that hold
 * four go to two words of 64 bits, of which each takes two codes. */
MPNUM_VBMI_ mpnum_vector_avx512_ mpnum_load6_vbmi_(__m512i bytes, int part) {
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
/* Floats of sixteen codes of 6 bits, in the low bits of lanes: magnitudes of 5 bits are
 * looked up; of 4 bits, with their sign. */
MPNUM_VBMI_ mpnum_vector_avx512_ mpnum_look_up4_vbmi_(__m512i table,
                                                      mpnum_vector_avx512_ code) {
  return (mpnum_vector_avx512_)_mm512_maskz_permutexvar_epi32(MPNUM_ALL_, (__m512i)code,
                                                              table);
}
MPNUM_VBMI_ mpnum_vector_avx512_ mpnum_look_up_vbmi_(__m512i low, __m512i high,
                                                     mpnum_vector_avx512_ code,
                                                     __m512i sign_left) {
  const __m512i sign = _mm512_maskz_sllv_epi32(MPNUM_ALL_, (__m512i)code, sign_left);
  return (mpnum_vector_avx512_)_mm512_ternarylogic_epi32(
      _mm512_permutex2var_epi32(low, (__m512i)code, high), sign,
      _mm512_set1_epi32((int)0x80000000u), 0xf8); /* a | (b & c) */
}
MPNUM_VBMI_ void mpnum_decode_short_vbmi_(mpnum_decoding_ decoding,
                                          const mpnum_vector_avx512_ table[2],
                                          uint8_t *dst, const uint8_t *src, size_t blocks,
                                          int streams) {
  const __m512i low = (__m512i)table[0], high = (__m512i)table[1];
  const __m512i sign_left = _mm512_set1_epi32(decoding.left + 24);
  for (; blocks != 0; --blocks) {
    mpnum_vector_avx512_ x[4];
    if (decoding.src_bits == 4) {
      x[0] = mpnum_load4_vbmi_(src);
      x[1] = mpnum_load4_vbmi_(src + 8);
      x[2] = mpnum_load4_vbmi_(src + 16);
      x[3] = mpnum_load4_vbmi_(src + 24);
    } else if (decoding.src_bits == 6) {
      const __m512i bytes = mpnum_load_48_avx512_(src);
      x[0] = mpnum_load6_vbmi_(bytes, 0);
      x[1] = mpnum_load6_vbmi_(bytes, 1);
      x[2] = mpnum_load6_vbmi_(bytes, 2);
      x[3] = mpnum_load6_vbmi_(bytes, 3);
    } else {
      x[0] = mpnum_load8_avx512_(src);
      x[1] = mpnum_load8_avx512_(src + 16);
      x[2] = mpnum_load8_avx512_(src + 32);
      x[3] = mpnum_load8_avx512_(src + 48);
    }
    if (decoding.left == 4) {
      x[0] = mpnum_look_up4_vbmi_(low, x[0]);
      x[1] = mpnum_look_up4_vbmi_(low, x[1]);
      x[2] = mpnum_look_up4_vbmi_(low, x[2]);
      x[3] = mpnum_look_up4_vbmi_(low, x[3]);
    } else {
      x[0] = mpnum_look_up_vbmi_(low, high, x[0], sign_left);
      x[1] = mpnum_look_up_vbmi_(low, high, x[1], sign_left);
      x[2] = mpnum_look_up_vbmi_(low, high, x[2], sign_left);
      x[3] = mpnum_look_up_vbmi_(low, high, x[3], sign_left);
    }
    mpnum_store_block_avx512_(dst, x, streams);
    dst += 256;
    src += 8 * decoding.src_bits;
  }
}
/* Of 8 bits: byte 3 and byte 2 of a float are looked up, 128 magnitudes at once, the two
 * bytes below are 0 or those of NaN. (No other float here has a byte 2 of 0xff.) */
typedef struct mpnum_byte_tables_vbmi_ {
  __m512i high[2], middle[2];
  __mmask64 has_nan_for_zero;
} mpnum_byte_tables_vbmi_;

MPNUM_VBMI_ void mpnum_floats_of_bytes_vbmi_(mpnum_byte_tables_vbmi_ tables,
                                             const uint8_t *src,
                                             mpnum_vector_avx512_ x[4]) {
  /* Unpacking works within 128 bits: quarters of each are put where its results are to
   * be. */
  const __m512i order =
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i sign_bit = _mm512_set1_epi8((char)0x80);
  const __m512i code =
      _mm512_maskz_permutexvar_epi32(MPNUM_ALL_, order, _mm512_loadu_si512(src));
  const __m512i found =
      _mm512_permutex2var_epi8(tables.middle[0], code, tables.middle[1]);
  const __mmask64 is_nan =
      _mm512_cmpeq_epi8_mask(found, _mm512_set1_epi8((char)0xff)) |
      _mm512_mask_cmpeq_epi8_mask(tables.has_nan_for_zero, code, sign_bit);
  const __m512i low = _mm512_movm_epi8(is_nan), middle = _mm512_or_si512(found, low);
  const __m512i high = _mm512_mask_mov_epi8(
      _mm512_ternarylogic_epi32(
          _mm512_permutex2var_epi8(tables.high[0], code, tables.high[1]), code, sign_bit,
          0xf8), /* a | (b & c) */
      is_nan, _mm512_set1_epi8(0x7f));
  const __m512i upper0 = _mm512_unpacklo_epi8(middle, high);
  const __m512i upper1 = _mm512_unpackhi_epi8(middle, high);
  const __m512i lower0 = _mm512_unpacklo_epi8(low, low);
  const __m512i lower1 = _mm512_unpackhi_epi8(low, low);
  x[0] = (mpnum_vector_avx512_)_mm512_unpacklo_epi16(lower0, upper0);
  x[1] = (mpnum_vector_avx512_)_mm512_unpackhi_epi16(lower0, upper0);
  x[2] = (mpnum_vector_avx512_)_mm512_unpacklo_epi16(lower1, upper1);
  x[3] = (mpnum_vector_avx512_)_mm512_unpackhi_epi16(lower1, upper1);
}
/* Codes of 8 bits and fewer, with tables that the loop of AVX-512 makes. */
MPNUM_HOST MPNUM_TARGET_VBMI_ void
mpnum_decode_byte_blocks_vbmi_(const void *how, uint8_t *dst, const uint8_t *src,
                               size_t blocks, int streams) {
  const mpnum_decoding_ decoding = *(const mpnum_decoding_ *)how;
  const mpnum_bytes_avx512_ first = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                     13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                     26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
                                     39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51,
                                     52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  mpnum_byte_tables_vbmi_ tables;
  mpnum_vector_avx512_ x[4];
  int i = 0;
  if (decoding.left != 0) {
    mpnum_decode_bytes_avx512_(decoding, first, x);
    mpnum_decode_short_vbmi_(decoding, x, dst, src, blocks, streams);
  } else {
    for (; i < 2; ++i) {
      mpnum_decode_bytes_avx512_(decoding, first + (uint8_t)(64 * i), x);
      tables.high[i] = (__m512i)mpnum_gather_vbmi_(x, 3);
      tables.middle[i] = (__m512i)mpnum_gather_vbmi_(x, 2);
    }
    tables.has_nan_for_zero = decoding.flipped ? ~(__mmask64)0 : 0;
    for (; blocks != 0; --blocks) {
      mpnum_floats_of_bytes_vbmi_(tables, src, x);
      mpnum_store_block_avx512_(dst, x, streams);
      dst += 256;
      src += 64;
    }
  }
  if (streams) mpnum_fence_avx512_();
}

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* For bits.c: lines for stochastic rounding by few bits, formats of P3109 and floats as
 * sums of parts. */
#ifndef MPNUM_TESTS_BITS_PROJECTIONS_H
#define MPNUM_TESTS_BITS_PROJECTIONS_H

#include "bits_blocks.h"
#include "../harness/must.h"

#include <mpnum/array/p3109.h>
#include <mpnum/array/split.h>
#include <mpnum/core/stochastic.h>

enum { PROJECTED = 384 };

static const char *const p3109_roundings[] = {
    "NearestTiesToEven", "NearestTiesToAway", "TowardPositive",
    "TowardNegative",    "TowardZero",        "ToOdd",
    "StochasticA7",      "StochasticB32",     "StochasticC12"};
static const char *const p3109_saturations[] = {"SatFinite", "SatPropagate", "SatNone"};

/* Near 1, or any number; many are ties. */
static float projected_f32(uint32_t i) {
  const uint32_t bits =
      (uint32_t)mix(i) & (UINT32_C(0xffffffff) << (uint32_t)(mix(i) >> 40) % 23);
  return mpnum_from_bits_f32(i % 4 ? bits % 0x0c000000u + 0x39800000u + (i % 2 << 31)
                                   : bits);
}
static double projected_f64(uint32_t i) {
  const uint64_t bits = mix(i) & (~UINT64_C(0) << (mix(~i) >> 40) % 52);
  return mpnum_from_bits_f64(i % 4 ? bits % (UINT64_C(40) << 52) + (UINT64_C(1003) << 52)
                                   : bits);
}
/* Types before ue5m3. */
static mpnum_format projected_format(uint32_t i) {
  return mpnum_format_of((mpnum_type)(MPNUM_TYPE_TF32 + i % 12));
}
/* 0: there is no such projection. */
static int projection_of(mpnum_p3109 *to, uint32_t i) {
  must(mpnum_p3109_init(to, "Binary8p4se", p3109_roundings[i % 9],
                        p3109_saturations[i / 9 % 3]));
  i /= 27;
  return mpnum_p3109_format(&to->format, 3 + (int)(i % 14), 1 + (int)(i / 14 % 16),
                            (int)(i / 224 % 2), (int)(i / 448 % 2)) == MPNUM_OK;
}
static void put_projected_array(uint32_t i) {
  float src[PROJECTED];
  uint8_t dst[2 * PROJECTED] = {0};
  mpnum_p3109 to;
  if (!projection_of(&to, i)) return;
  for (uint32_t k = 0; k < PROJECTED; ++k)
    src[k] = projected_f32(i * PROJECTED + k);
  put_int((int)mpnum_p3109_convert_array(to, dst, mpnum_format_of(MPNUM_TYPE_F32), src,
                                         PROJECTED, i, i % 5));
  for (uint32_t k = 0; k < PROJECTED; ++k) {
    uint16_t code = dst[k];
    if (to.format.exponent_bits + to.format.mantissa_bits + to.format.sign_bits > 8)
      memcpy(&code, dst + 2 * k, 2);
    put(code);
  }
}
/* A variant of stochastic rounding by any number of bits, from f32 or f64. */
static void put_few_bits(char variant, mpnum_type src_type, uint32_t i) {
  const uint32_t most = variant == 'A' ? 32 : variant == 'B' ? 31 : 8;
  const mpnum_type type = (mpnum_type)(MPNUM_TYPE_TF32 + i % 12);
  const int is_f64 = src_type == MPNUM_TYPE_F64;
  float floats[PROJECTED];
  double doubles[PROJECTED];
  uint32_t dst[PROJECTED] = {0};
  for (uint32_t k = 0; k < PROJECTED; ++k) {
    floats[k] = projected_f32(i * PROJECTED + k);
    doubles[k] = projected_f64(i * PROJECTED + k);
  }
  put_int((int)mpnum_convert_array(
      type, dst, src_type, is_f64 ? (const void *)doubles : floats, PROJECTED,
      mpnum_rounding_stochastic(variant, 1 + (int)(i / 12 % most)),
      (mpnum_overflow)(i / 5 % 2), i, i % 7));
  put_words((const uint8_t *)dst,
            type == MPNUM_TYPE_TF32                             ? 4
            : type == MPNUM_TYPE_BF16 || type == MPNUM_TYPE_F16 ? 2
                                                                : 1,
            PROJECTED);
}
static const mpnum_type split_types[] = {MPNUM_TYPE_BF16, MPNUM_TYPE_F16,
                                         MPNUM_TYPE_TF32};
static void put_split(uint32_t i) {
  uint32_t codes[4] = {0};
  mpnum_split(mpnum_format_of(split_types[i % 3]), projected_f32(i), (int)(i / 3 % 9) - 4,
              (int)(i / 27 % 12), codes, 1 + (int)(i % 4));
  for (int k = 0; k < 4; ++k)
    put(codes[k]);
}
static void put_split_matrix(uint32_t i) {
  static uint32_t memory[3][PROJECTED];
  const mpnum_type type = split_types[i % 3];
  float src[PROJECTED];
  mpnum_matrix parts[3];
  memset(memory, 0, sizeof memory);
  for (uint32_t k = 0; k < PROJECTED; ++k)
    src[k] = projected_f32(i * PROJECTED + k);
  for (int k = 0; k < 3; ++k)
    parts[k] = mpnum_matrix_of(type, memory[k], 3, PROJECTED / 3);
  put_int((int)mpnum_split_matrix(
      parts, 1 + i % 3, mpnum_const_matrix_of(MPNUM_TYPE_F32, src, 3, PROJECTED / 3),
      (int)(i % 9) - 4, (int)(i % 12)));
  for (int k = 0; k < 3; ++k)
    for (uint32_t at = 0; at < PROJECTED; ++at) {
      uint16_t half = 0;
      memcpy(&half, (const uint8_t *)memory[k] + 2 * at, 2);
      put(type == MPNUM_TYPE_TF32 ? memory[k][at] : half);
    }
}

#define FOR_PROJECTIONS for (uint32_t i = 0; i < 27 * 896; ++i)
#define FOR_FEW_BITS    for (uint32_t i = 0; i < 384; ++i)
static void print_projections(void) {
  HASH(mpnum_encode_stochastic, for (uint32_t i = 0; i < 200000; ++i),
       put(mpnum_encode_stochastic(projected_format(i), projected_f32(i),
                                   (char)('A' + i / 12 % 3), (int)(i / 36 % 34),
                                   (mpnum_overflow)(i / 5 % 2), word_at(i))));
  HASH(mpnum_encode_stochastic_f64, for (uint32_t i = 0; i < 200000; ++i),
       put(mpnum_encode_stochastic_f64(projected_format(i), projected_f64(i),
                                       (char)('A' + i / 12 % 3), (int)(i / 36 % 34),
                                       (mpnum_overflow)(i / 5 % 2), word_at(i))));
  HASH(mpnum_p3109_format, FOR_PROJECTIONS, {
    mpnum_p3109 to;
    if (projection_of(&to, i)) put_format(to.format);
  });
  HASH(mpnum_p3109_encode, FOR_PROJECTIONS, {
    mpnum_p3109 to;
    const int is_there = projection_of(&to, i);
    for (uint32_t k = 0; is_there && k < 16; ++k)
      put(mpnum_p3109_encode(to, projected_f64(16 * i + k), word_at(16 * i + k)));
  });
  HASH(mpnum_p3109_convert_array, for (uint32_t i = 0; i < 27 * 896; i += 7),
       put_projected_array(i));
  HASH(mpnum_rounding_stochastic, for (int bits = -40; bits < 80; ++bits),
       for (const char *variant = "ABCDa"; *variant; ++variant)
           put_int((int)mpnum_rounding_stochastic(*variant, bits)));
  HASH(few_bits_A_of_f32, FOR_FEW_BITS, put_few_bits('A', MPNUM_TYPE_F32, i));
  HASH(few_bits_B_of_f32, FOR_FEW_BITS, put_few_bits('B', MPNUM_TYPE_F32, i));
  HASH(few_bits_C_of_f32, FOR_FEW_BITS, put_few_bits('C', MPNUM_TYPE_F32, i));
  HASH(few_bits_A_of_f64, FOR_FEW_BITS, put_few_bits('A', MPNUM_TYPE_F64, i));
  HASH(few_bits_B_of_f64, FOR_FEW_BITS, put_few_bits('B', MPNUM_TYPE_F64, i));
  HASH(few_bits_C_of_f64, FOR_FEW_BITS, put_few_bits('C', MPNUM_TYPE_F64, i));
  HASH(mpnum_split, for (uint32_t i = 0; i < 100000; ++i), put_split(i));
  HASH(mpnum_split_matrix, for (uint32_t i = 0; i < 300; ++i), put_split_matrix(i));
}

#endif

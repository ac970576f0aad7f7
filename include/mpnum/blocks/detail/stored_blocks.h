/* SPDX-License-Identifier: MIT */
/* Blocks as other libraries store them, one at a time, in the floating-point environment
 * of loops: their scales, codes and nibbles, and back. */
#ifndef MPNUM_BLOCKS_DETAIL_STORED_BLOCKS_H
#define MPNUM_BLOCKS_DETAIL_STORED_BLOCKS_H

#include "blockscale_pass.h"
MPNUM_C_BEGIN_

/* The values of codes of NF4 and FP4. */
#define MPNUM_NF4_VALUES_                                                        \
 {                                                                               \
  -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,      \
      -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f, \
      0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f,          \
      0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f,           \
      0.7229568362236023f, 1.0f                                                  \
 }
#define MPNUM_FP4_VALUES_ \
 { 0.0f, 0.005208333333f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f }

/* Where the code changes, in products with 1 / the largest magnitude. */
#define MPNUM_NF4_LIMITS_                                                  \
 {                                                                         \
  -0.8480964004993439f, -0.6106329262256622f, -0.4599952697753906f,        \
      -0.33967943489551544f, -0.23460740596055984f, -0.13791173323988914f, \
      -0.045525018125772476f, 0.03979014977812767f, 0.1202552504837513f,   \
      0.2035212516784668f, 0.2920137718319893f, 0.3893125355243683f,       \
      0.5016634166240692f, 0.6427869200706482f, 0.8614784181118011f        \
 }
#define MPNUM_FP4_LIMITS_ \
 { 0.00260417f, 0.0859375f, 0.20833333f, 0.29166667f, 0.4166667f, 0.583333f, 0.8333333f }
/* The midpoints between values of e2m1. */
#define MPNUM_E2M1_MIDDLES_ \
 { 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f }

/* --- Of one block or element, for devices, too --- */

/* floor(log2(amax)) - 2 as a code of e8m0, at least 0, with a logarithm that is rounded
 * to a float: just below 2^n it is n itself. A float there is 2^n (1 - steps 2^-24). */
MPNUM_REAL_ uint8_t mpnum_stored_e8m0_(uint32_t amax) {
  int code = (int)(amax >> 23) - 2;
  const uint32_t steps = 0x00800000u - (amax & 0x007fffffu);
  if (steps <= 44) { /* 2^6 log(2) */
    const int n = (int)(amax >> 23) - 126, size = n > 0 ? n - 1 : -n;
    const int place = size > 0 ? 31 - mpnum_clz_u32_((uint32_t)size) : 0;
    code += steps <= 44u >> (6 - place);
  }
  return (uint8_t)(code < 0 ? 0 : code);
}
/* A magnitude as e4m3, to nearest and away from zero where it is one half; below the
 * normal values at most the largest subnormal. */
MPNUM_REAL_ uint8_t mpnum_stored_e4m3_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  const uint32_t code = (bits + 0x00080000u - (120u << 23)) >> 20; /* 120 = 127 - 7 */
  if (bits < 0x3c800000u) {                                        /* 2^-6 */
    const float sum = mpnum_add_scalar_(x * 512.0f, 0.5f);
    return (uint8_t)(mpnum_bits_f32(sum) >= 0x41000000u ? 7 : (int)sum);
  }
  return (uint8_t)(bits >= 0x43e00000u ? 0x7e : code); /* 448 */
}
/* 1 / x; 0 where that is Inf, or x is 0. */
MPNUM_REAL_ float mpnum_stored_inverse_(float x) {
  const uint32_t bits = mpnum_bits_f32(mpnum_div_scalar_(1.0f, x));
  return mpnum_from_bits_f32((bits & 0x7fffffffu) < 0x7f800000u ? bits : 0);
}
/* Below which an element is 0 beside an amax or a scale with these bits: as 0, it takes
 * no step of subnormals, 150 cycles on CPUs of Intel. */
MPNUM_REAL_ int32_t mpnum_stored_least_(int32_t amax) {
  return amax - (40 << 23); /* 2^-40 */
}
MPNUM_REAL_ float mpnum_stored_ordered_(int32_t order) {
  return mpnum_from_bits_f32((uint32_t)(order < 0 ? order ^ 0x7fffffff : order));
}
/* x / scale to the nearest integer, from -32 to 32; 0 where the scale is 0. */
MPNUM_REAL_ int mpnum_stored_steps_(float x, float scale) {
  const int32_t size_of_x = (int32_t)(mpnum_bits_f32(x) & 0x7fffffffu);
  const int is_less = size_of_x < mpnum_stored_least_((int32_t)mpnum_bits_f32(scale));
  const float ratio =
      mpnum_div_scalar_(mpnum_from_bits_f32(is_less ? 0 : mpnum_bits_f32(x)), scale);
  const uint32_t bits = mpnum_bits_f32(ratio), size = bits & 0x7fffffffu;
  const uint32_t kept = (size > 0x42000000u ? 0x42000000u : size) | (bits & 0x80000000u);
  const float sum = mpnum_from_bits_f32(kept) + 12582912.0f; /* 1.5 * 2^23 */
  return mpnum_bits_f32(scale) == 0 ? 0 : (int)(mpnum_bits_f32(sum) - 0x4b400000u);
}
MPNUM_REAL_ int mpnum_stored_nibble_(int x) { return x < 0 ? 0 : x > 15 ? 15 : x; }
/* The scale of a group and its zero point: AWQ's range is that of the elements, at least
 * 1e-5; GPTQ's has 0 in it, and is 2 where all elements are 0. */
MPNUM_REAL_ float mpnum_stored_group_(int is_awq, const int32_t range[2], int *zero) {
  const int32_t least_of = !is_awq && range[0] > 0 ? 0 : range[0];
  const int32_t most_of = !is_awq && range[1] < 0 ? 0 : range[1];
  float least = mpnum_stored_ordered_(least_of), most = mpnum_stored_ordered_(most_of);
  float width = mpnum_sub_scalar_(most, least), scale = 0;
  if (is_awq && (int32_t)mpnum_bits_f32(width) < 0x3727c5ac) width = 1e-5f;
  if (!is_awq && mpnum_iszero_u31_(mpnum_bits_f32(width) & 0x7fffffffu)) {
    least = -1.0f;
    width = 2.0f;
  }
  scale = mpnum_div_scalar_(width, 15.0f);
  *zero = mpnum_stored_nibble_(-mpnum_stored_steps_(least, scale));
  return scale;
}
/* A code of e2m1 of an element, its bits, by the midpoints between values, as bits of
 * floats: what lies on one goes toward zero, and no zero has a sign. */
MPNUM_REAL_ uint8_t mpnum_stored_e2m1_code_(int32_t bits, const int32_t middle[7]) {
  const int32_t size = bits & 0x7fffffff;
  const int32_t found = (size > middle[0]) + (size > middle[1]) + (size > middle[2]) +
                        (size > middle[3]) + (size > middle[4]) + (size > middle[5]) +
                        (size > middle[6]);
  return (uint8_t)(found | (size > middle[0] && bits < 0 ? 8 : 0));
}
/* The place of a float among the values of NF4. */
MPNUM_REAL_ uint8_t mpnum_stored_nf4_code_(float x, const float limit[15]) {
  return (uint8_t)((x > limit[0]) + (x > limit[1]) + (x > limit[2]) + (x > limit[3]) +
                   (x > limit[4]) + (x > limit[5]) + (x > limit[6]) + (x > limit[7]) +
                   (x > limit[8]) + (x > limit[9]) + (x > limit[10]) + (x > limit[11]) +
                   (x > limit[12]) + (x > limit[13]) + (x > limit[14]));
}
/* The same of FP4, in whose order 1/6 and 1/4 change places with 2/3 and 1. */
MPNUM_REAL_ uint8_t mpnum_stored_fp4_code_(float x, const float limit[7]) {
  const uint32_t bits = mpnum_bits_f32(x);
  const float size = mpnum_from_bits_f32(bits & 0x7fffffffu);
  const int32_t place = (size > limit[0]) + (size > limit[1]) + (size > limit[2]) +
                        (size > limit[3]) + (size > limit[4]) + (size > limit[5]) +
                        (size > limit[6]);
  return (uint8_t)((place ^ (place & 2) << 1) | (bits > 0x80000000u ? 8 : 0));
}

#if MPNUM_HAS_ARRAYS_

/* Between a product and what is added to it, which would else become an fma. */
# if MPNUM_HAS_GNU_
#  define MPNUM_STORED_FENCE_(array) __asm__ volatile("" : : "r"(array) : "memory")
# else
#  define MPNUM_STORED_FENCE_(array) ((void)0)
# endif

/* Before a loop over elements: clang would write them out, and make no vectors. */
# if defined(__clang__)
#  define MPNUM_STORED_LOOP_ _Pragma("clang loop unroll(disable)")
# else
#  define MPNUM_STORED_LOOP_
# endif

/* --- Scales --- */

/* The largest of 16 magnitudes, and of those before. */
MPNUM_HOST_INLINE_ int32_t mpnum_stored_amax_(int32_t largest, const float x[16]) {
  size_t i = 0;
  for (; i < 16; ++i) {
    const int32_t magnitude = (int32_t)(mpnum_bits_f32(x[i]) & 0x7fffffffu);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}
MPNUM_HOST_INLINE_ void mpnum_store_f16_(uint8_t *to, float x) {
  const uint32_t bits = mpnum_f32_to_f16(x).bits;
  to[0] = (uint8_t)(bits & 0xff);
  to[1] = (uint8_t)(bits >> 8);
}
/* By a product, which is exact; of a NaN some NaN. */
MPNUM_HOST_INLINE_ float mpnum_stored_f16_(const uint8_t *from) {
  const uint32_t bits = from[0] | (uint32_t)from[1] << 8;
  const uint32_t size = (bits & 0x7fff) << 13, sign = (bits & 0x8000) << 16;
  const float power = mpnum_from_bits_f32(0x77800000u); /* 2^112; 112 = 127 - 15 */
  const uint32_t infinity = size >= 0x0f800000u ? 0x7f800000u : 0;
  return mpnum_from_bits_f32(mpnum_bits_f32(mpnum_from_bits_f32(size) * power) |
                             infinity | sign);
}

/* --- Codes --- */

/* Codes of e2m1 of 16 elements. */
MPNUM_HOST_INLINE_ void mpnum_stored_e2m1_(uint8_t code[16], const float x[16],
                                           const int32_t middle[7]) {
  size_t i = 0;
  for (; i < 16; ++i)
    code[i] = mpnum_stored_e2m1_code_((int32_t)mpnum_bits_f32(x[i]), middle);
}
/* The midpoints at a scale. */
MPNUM_HOST_INLINE_ void mpnum_stored_middles_(int32_t middle[7], float scale) {
  static const float middles[7] = MPNUM_E2M1_MIDDLES_;
  size_t i = 0;
  for (; i < 7; ++i)
    middle[i] = (int32_t)mpnum_bits_f32(middles[i] * scale);
}
/* Products of 16 elements, those below least as of 0. */
MPNUM_HOST_INLINE_ void mpnum_stored_products_(float product[16], const float x[16],
                                               float by, int32_t least) {
  size_t i = 0;
  for (; i < 16; ++i) {
    const int32_t bits = (int32_t)mpnum_bits_f32(x[i]);
    const int32_t kept = (bits & 0x7fffffff) >= least ? bits : 0;
    product[i] = mpnum_from_bits_f32((uint32_t)kept) * by;
  }
  MPNUM_STORED_FENCE_(product);
}
/* Codes of NF4 or FP4 of 16 elements. Limits are floats in memory, as a target may take a
 * constant for a double. */
MPNUM_HOST_INLINE_ void mpnum_stored_nf4_(uint8_t code[16], const float x[16]) {
  static const float limit[15] = MPNUM_NF4_LIMITS_;
  size_t i = 0;
  for (; i < 16; ++i)
    code[i] = mpnum_stored_nf4_code_(x[i], limit);
}
MPNUM_HOST_INLINE_ void mpnum_stored_fp4_(uint8_t code[16], const float x[16]) {
  static const float limit[7] = MPNUM_FP4_LIMITS_;
  size_t i = 0;
  for (; i < 16; ++i)
    code[i] = mpnum_stored_fp4_code_(x[i], limit);
}

/* --- Blocks of ggml --- */

/* n nibbles to n / 2 bytes: element i beside element i + n / 2. */
MPNUM_HOST_INLINE_ void mpnum_store_halves_(uint8_t *to, const uint8_t *code, size_t n) {
  size_t i = 0;
  for (; i < n / 2; ++i)
    to[i] = (uint8_t)(code[i] | code[n / 2 + i] << 4);
}
MPNUM_HOST void mpnum_store_mxfp4_(uint8_t *to, const float x[32]) {
  const int32_t amax = mpnum_stored_amax_(mpnum_stored_amax_(0, x), x + 16);
  const uint8_t scale = mpnum_stored_e8m0_((uint32_t)amax);
  uint8_t code[32] = {0};
  int32_t middle[7];
  to[0] = amax ? scale : 0;
  if (amax) {
    mpnum_stored_middles_(middle, mpnum_pow2_((int)scale - 127));
    mpnum_stored_e2m1_(code, x, middle);
    mpnum_stored_e2m1_(code + 16, x + 16, middle);
  }
  mpnum_store_halves_(to + 1, code, 32);
}
/* Scale s of a block of 64 and its 16 elements. */
MPNUM_HOST void mpnum_store_nvfp4_(uint8_t *to, size_t s, const float x[16]) {
  const float amax = mpnum_from_bits_f32((uint32_t)mpnum_stored_amax_(0, x));
  const uint8_t scale = mpnum_stored_e4m3_(mpnum_div_scalar_(amax, 6.0f));
  uint8_t code[16] = {0};
  int32_t middle[7];
  to[s] = scale;
  if (scale) {
    mpnum_stored_middles_(middle, mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(scale)));
    mpnum_stored_e2m1_(code, x, middle);
  }
  mpnum_store_halves_(to + 4 + 8 * s, code, 16);
}
/* amax / 127, and integers to nearest, away from zero where it is one half. */
MPNUM_HOST void mpnum_store_q8_0_(uint8_t *to, const float x[32]) {
  const int32_t amax = mpnum_stored_amax_(mpnum_stored_amax_(0, x), x + 16);
  const float scale = mpnum_div_scalar_(mpnum_from_bits_f32((uint32_t)amax), 127.0f);
  const float by = mpnum_stored_inverse_(scale);
  float product[32];
  uint8_t code[32];
  size_t i = 0;
  mpnum_stored_products_(product, x, by, mpnum_stored_least_(amax));
  mpnum_stored_products_(product + 16, x + 16, by, mpnum_stored_least_(amax));
  for (; i < 32; ++i) { /* the float before one half does not reach 1 with what is less */
    const uint32_t sign = mpnum_bits_f32(product[i]) & 0x80000000u;
    code[i] =
        (uint8_t)(int32_t)(float)(product[i] + mpnum_from_bits_f32(sign | 0x3effffffu));
  }
  mpnum_store_f16_(to, scale);
  MPNUM_MEMCPY_(to + 2, code, 32);
}
/* The first of 32 elements that have the largest magnitude; 0, not -0. */
MPNUM_HOST_INLINE_ float mpnum_stored_largest_(const float x[32]) {
  int32_t above = 0, below = 0; /* magnitudes of those above and below 0 */
  size_t i = 0;
  for (; i < 32; ++i) {
    const int32_t bits = (int32_t)mpnum_bits_f32(x[i]);
    const int32_t turned = (int32_t)(mpnum_bits_f32(x[i]) ^ 0x80000000u);
    above = bits > above ? bits : above;
    below = turned > below ? turned : below;
  }
  if (above == 0 && below == 0) return 0;
  if (above != below)
    return mpnum_from_bits_f32(above > below ? (uint32_t)above
                                             : 0x80000000u | (uint32_t)below);
  for (i = 0; (int32_t)(mpnum_bits_f32(x[i]) & 0x7fffffffu) != above;)
    ++i;
  return x[i];
}
/* The largest element becomes -8. */
MPNUM_HOST void mpnum_store_q4_0_(uint8_t *to, const float x[32]) {
  const float largest = mpnum_stored_largest_(x);
  const float scale = mpnum_div_scalar_(largest, -8.0f);
  const int32_t least =
      mpnum_stored_least_((int32_t)(mpnum_bits_f32(largest) & 0x7fffffffu));
  const float by = mpnum_stored_inverse_(scale);
  float product[32];
  uint8_t code[32];
  size_t i = 0;
  mpnum_stored_products_(product, x, by, least);
  mpnum_stored_products_(product + 16, x + 16, by, least);
  MPNUM_STORED_LOOP_
  for (; i < 32; ++i) {
    const int32_t place = (int32_t)(float)(product[i] + 8.5f);
    code[i] = (uint8_t)(place > 15 ? 15 : place);
  }
  mpnum_store_f16_(to, scale);
  mpnum_store_halves_(to + 2, code, 32);
}

/* --- Values --- */

/* One NaN for all, of n floats at a scale. */
MPNUM_HOST_INLINE_ void mpnum_stored_canonical_(float *y, float scale, size_t n) {
  size_t i = 0;
  if ((mpnum_bits_f32(scale) & 0x7fffffffu) < 0x7f800000u) return;
  for (; i < n; ++i)
    mpnum_set_float_(y, i, mpnum_canonical_(mpnum_float_at_(y, i)));
}
/* The values of eight codes at a scale, a product each, as their bits; NaN is the
 * canonical one. */
MPNUM_HOST_INLINE_ void mpnum_stored_values_(uint32_t *value, const float codes[8],
                                             float scale) {
  size_t i = 0;
  for (; i < 8; ++i)
    value[i] = mpnum_bits_f32(codes[i] * scale);
  if ((mpnum_bits_f32(scale) & 0x7fffffffu) < 0x7f800000u) return;
  for (i = 0; i < 8; ++i)
    value[i] = mpnum_bits_f32(mpnum_canonical_(mpnum_from_bits_f32(value[i])));
}
/* Eight values, and behind them the same with the other sign. */
MPNUM_HOST_INLINE_ void mpnum_stored_signed_(uint32_t value[16], const float codes[8],
                                             float scale) {
  size_t i = 0;
  mpnum_stored_values_(value, codes, scale);
  for (; i < 8; ++i)
    value[8 + i] = value[i] ^ (value[i] == 0x7fffffffu ? 0 : 0x80000000u);
}
/* n floats at any address: nibbles of halves by their values. */
MPNUM_HOST_INLINE_ void mpnum_load_halves_(float *y, const uint8_t *from,
                                           const uint32_t value[16], size_t n) {
  size_t i = 0;
  for (; i < n / 2; ++i) {
    mpnum_set_float_(y, i, mpnum_from_bits_f32(value[from[i] & 15]));
    mpnum_set_float_(y, n / 2 + i, mpnum_from_bits_f32(value[from[i] >> 4]));
  }
}
MPNUM_HOST_INLINE_ void mpnum_stored_e2m1_values_(uint32_t value[16], float scale) {
  static const float e2m1[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  mpnum_stored_signed_(value, e2m1, scale);
}
MPNUM_HOST void mpnum_load_mxfp4_(float *y, const uint8_t *from) {
  const mpnum_e8m0 scale = mpnum_from_bits_e8m0(from[0]);
  uint32_t value[16] = {0};
  uint32_t any = 1;
  size_t i = 1;
  if (scale.bits == 0) /* mostly a block of zeros, without steps of subnormals */
    for (any = 0; i < 17; ++i)
      any |= from[i];
  if (any) mpnum_stored_e2m1_values_(value, mpnum_e8m0_to_f32(scale));
  mpnum_load_halves_(y, from + 1, value, 32);
}
MPNUM_HOST void mpnum_load_nvfp4_(float *y, const uint8_t *from, size_t s) {
  uint32_t value[16];
  mpnum_stored_e2m1_values_(value, mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(from[s])));
  mpnum_load_halves_(y, from + 4 + 8 * s, value, 16);
}
MPNUM_HOST void mpnum_load_q8_0_(float *y, const uint8_t *from) {
  const float scale = mpnum_stored_f16_(from);
  int8_t code[32];
  size_t i = 0;
  MPNUM_MEMCPY_(code, from + 2, 32);
  for (; i < 32; ++i)
    mpnum_set_float_(y, i, (float)code[i] * scale);
  mpnum_stored_canonical_(y, scale, 32);
}
MPNUM_HOST void mpnum_load_q4_0_(float *y, const uint8_t *from) {
  const float scale = mpnum_stored_f16_(from);
  uint8_t code[16];
  size_t i = 0;
  MPNUM_MEMCPY_(code, from + 2, 16);
  MPNUM_STORED_LOOP_
  for (; i < 16; ++i)
    mpnum_set_float_(y, i, (float)((code[i] & 15) - 8) * scale);
  MPNUM_STORED_LOOP_
  for (i = 0; i < 16; ++i)
    mpnum_set_float_(y, 16 + i, (float)((code[i] >> 4) - 8) * scale);
  mpnum_stored_canonical_(y, scale, 32);
}
/* The values of NF4 and FP4 at an absmax. */
MPNUM_HOST void mpnum_stored_book_(uint32_t value[16], int is_nf4, float absmax) {
  static const float nf4[16] = MPNUM_NF4_VALUES_;
  static const float fp4[8] = MPNUM_FP4_VALUES_;
  if (!is_nf4) {
    mpnum_stored_signed_(value, fp4, absmax);
    return;
  }
  mpnum_stored_values_(value, nf4, absmax);
  mpnum_stored_values_(value + 8, nf4 + 8, absmax);
}

/* --- Groups with zero points --- */

/* The smallest and the largest of elements, with those before, as words that order as
 * floats do. */
MPNUM_HOST_INLINE_ void mpnum_stored_range_(int32_t range[2], const float x[16]) {
  int32_t least = range[0], most = range[1];
  size_t i = 0;
  for (; i < 16; ++i) {
    const int32_t bits = (int32_t)mpnum_bits_f32(x[i]);
    const int32_t order = bits < 0 ? bits ^ 0x7fffffff : bits;
    least = order < least ? order : least;
    most = order > most ? order : most;
  }
  range[0] = least;
  range[1] = most;
}
/* Place k of a word of eight nibbles: element order[k]. GPTQ's are in order, and its zero
 * points stored less 1. */
MPNUM_HOST_INLINE_ size_t mpnum_stored_place_(int is_awq, size_t k) {
  return !is_awq ? k : k < 4 ? 2 * k : 2 * k - 7; /* 0 2 4 6 1 3 5 7 */
}
MPNUM_HOST_INLINE_ void mpnum_store_word_(int is_awq, uint8_t *to,
                                          const uint8_t code[8]) {
  size_t k = 0;
  for (; k < 4; ++k)
    to[k] = (uint8_t)(code[mpnum_stored_place_(is_awq, 2 * k)] |
                      code[mpnum_stored_place_(is_awq, 2 * k + 1)] << 4);
}
MPNUM_HOST_INLINE_ void mpnum_load_word_(int is_awq, uint8_t code[8],
                                         const uint8_t *from) {
  size_t k = 0;
  for (; k < 4; ++k) {
    code[mpnum_stored_place_(is_awq, 2 * k)] = from[k] & 15;
    code[mpnum_stored_place_(is_awq, 2 * k + 1)] = from[k] >> 4;
  }
}

#endif
MPNUM_C_END_
#endif

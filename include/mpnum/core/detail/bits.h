/* SPDX-License-Identifier: MIT */
/* float and double as bits, leading zeros, powers of two. */
#ifndef MPNUM_CORE_DETAIL_BITS_H
#define MPNUM_CORE_DETAIL_BITS_H

#include "config.h"
#if MPNUM_HAS_ARRAYS_
# include <stddef.h>
#endif
MPNUM_C_BEGIN_

/* The bits of a value and the value of bits, unchanged: no rounding mode, flush-to-zero
 * setting or -ffast-math takes part. (x87 code, which returns floats through its stack,
 * quiets signalling NaNs.) */
#if MPNUM_HAS_CONSTEXPR
MPNUM_INLINE uint32_t mpnum_bits_f32(float x) { return __builtin_bit_cast(uint32_t, x); }
MPNUM_INLINE uint64_t mpnum_bits_f64(double x) { return __builtin_bit_cast(uint64_t, x); }
MPNUM_INLINE float mpnum_from_bits_f32(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
MPNUM_INLINE double mpnum_from_bits_f64(uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}
#else
MPNUM_INLINE uint32_t mpnum_bits_f32(float x) {
  uint32_t bits;
  MPNUM_MEMCPY_(&bits, &x, sizeof bits);
  return bits;
}
MPNUM_INLINE uint64_t mpnum_bits_f64(double x) {
  uint64_t bits;
  MPNUM_MEMCPY_(&bits, &x, sizeof bits);
  return bits;
}
MPNUM_INLINE float mpnum_from_bits_f32(uint32_t bits) {
  float x;
  MPNUM_MEMCPY_(&x, &bits, sizeof x);
  return x;
}
MPNUM_INLINE double mpnum_from_bits_f64(uint64_t bits) {
  double x;
  MPNUM_MEMCPY_(&x, &bits, sizeof x);
  return x;
}
#endif

/* Whether magnitude bits of a float or a double are all 0, by a sum: of a comparison with
 * 0 clang makes one of floats from 18 on, which takes subnormals for zeros where the
 * environment does, and NaN too with -ffast-math. */
MPNUM_INLINE int mpnum_iszero_u31_(uint32_t magnitude) {
  return (int)((magnitude + 0x7fffffffu) >> 31 ^ 1u);
}
MPNUM_INLINE int mpnum_iszero_u63_(uint64_t magnitude) {
  return (int)((magnitude + 0x7fffffffffffffffu) >> 63 ^ 1u);
}

/* Number of zero bits above the highest one bit. x is not 0. */
#if MPNUM_ON_DEVICE_ && !defined(__clang__)
MPNUM_INLINE int mpnum_clz_u32_(uint32_t x) { return __clz((int)x); }
#elif MPNUM_HAS_GNU_
MPNUM_INLINE int mpnum_clz_u32_(uint32_t x) { return __builtin_clz(x); }
#else
MPNUM_INLINE int mpnum_clz_u32_(uint32_t x) {
  int zeros = 0;
  int step = 16;
  for (; step > 0; step >>= 1) {
    if ((x >> (32 - step)) == 0) {
      zeros += step;
      x <<= step;
    }
  }
  return zeros;
}
#endif

/* 2^exponent, for -149 <= exponent <= 127. */
MPNUM_INLINE float mpnum_pow2_(int exponent) {
  return mpnum_from_bits_f32(exponent >= -126 ? (uint32_t)(exponent + 127) << 23
                                              : (uint32_t)1 << (exponent + 149));
}

#if MPNUM_HAS_ARRAYS_
/* Whether bytes of both are the same ones. */
MPNUM_HOST int mpnum_overlap_(const void *a, size_t a_bytes, const void *b,
                              size_t b_bytes) {
  const size_t x = (size_t)a, y = (size_t)b;
  return x < y + b_bytes && y < x + a_bytes;
}
/* The same of rows, of so many bytes, that begin a step apart. Rows of one step may
 * interleave, as halves of one matrix do: they share nothing. */
MPNUM_HOST int mpnum_rows_share_(const void *dst, size_t dst_step, size_t dst_width,
                                 const void *src, size_t src_step, size_t src_width,
                                 size_t rows) {
  const size_t to = (size_t)dst, from = (size_t)src, last = rows - 1;
  size_t ahead = 0;
  if (!mpnum_overlap_(dst, last * dst_step + dst_width, src, last * src_step + src_width))
    return 0;
  if (last == 0 || dst_step != src_step) return 1;
  ahead =
      to > from ? (to - from) % dst_step : (dst_step - (from - to) % dst_step) % dst_step;
  return ahead < src_width || dst_step - ahead < dst_width;
}
#endif

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* An exact decimal number, multiplied and divided by powers of two as by pencil and
 * paper: what text.h prints from and parses into. No public names.
 *
 * Why a number may pass through a double on its way to a format. It is cut to a double
 * rounded to odd: if inexact, the neighbour whose last bit is 1. What a rounding mode
 * decides depends only on how the number compares with the format's values and the points
 * halfway between them. These have at most 25 bits, hence a last bit of 0 as doubles, so
 * a number that is not one of them is never moved onto or across one: the double decides
 * as the number would.
 */
#ifndef MPNUM_CORE_DETAIL_DECIMAL_H
#define MPNUM_CORE_DETAIL_DECIMAL_H

#include "bits.h"
MPNUM_C_BEGIN_

/* A value of a format or a point halfway between two is n * 2^k, n < 2^25 and k >= -150:
 * at most 113 decimal digits. So digits after the 120th matter only by being there, and
 * one more digit, 1, stands for them. 192 digits hold all that becomes of these 121: with
 * the first at 10^-46 or above, the last is at 10^-166 or above, and before the point
 * multiplication makes 18; with the first at 10^38 or below, division by up to 2^69 makes
 * at most 82 + 69 behind the point and leaves 19 before it. */
#define MPNUM_DECIMAL_KEPT_     120
#define MPNUM_DECIMAL_CAPACITY_ 192

typedef struct mpnum_decimal_ {
  uint8_t digit[MPNUM_DECIMAL_CAPACITY_]; /* the first and the last are not 0 */
  int count;                              /* 0: the number is 0 */
  int point;                              /* value = 0.digits * 10^point */
} mpnum_decimal_;

MPNUM_FUNC void mpnum_decimal_trim_(mpnum_decimal_ *x) {
  while (x->count > 0 && x->digit[x->count - 1] == 0)
    --x->count;
}

/* integer * 10^exponent. */
MPNUM_FUNC mpnum_decimal_ mpnum_decimal_from_(uint32_t integer, int exponent) {
  mpnum_decimal_ x = {{0}, 0, 0};
  uint32_t rest = integer;
  int i = 0;
  for (; rest; rest /= 10)
    ++x.count;
  x.point = x.count + exponent;
  for (i = x.count, rest = integer; i > 0; rest /= 10)
    x.digit[--i] = (uint8_t)(rest % 10);
  mpnum_decimal_trim_(&x);
  return x;
}

/* x * 2^bits, bits <= 27: 9 * 2^27 and a carry below 2^27 fit 32 bits. */
MPNUM_FUNC void mpnum_decimal_multiply_(mpnum_decimal_ *x, int bits) {
  uint32_t carry = 0;
  uint32_t rest = 0;
  int longer = 0;
  int i = 0;
  for (i = x->count - 1; i >= 0; --i) {
    carry += (uint32_t)x->digit[i] << bits;
    x->digit[i] = (uint8_t)(carry % 10);
    carry /= 10;
  }
  for (rest = carry; rest; rest /= 10)
    ++longer;
  for (i = x->count - 1; i >= 0; --i)
    x->digit[i + longer] = x->digit[i];
  for (i = longer - 1; i >= 0; --i, carry /= 10)
    x->digit[i] = (uint8_t)(carry % 10);
  x->count += longer;
  x->point += longer;
  mpnum_decimal_trim_(x);
}

/* x / 2^bits, bits <= 27. */
MPNUM_FUNC void mpnum_decimal_divide_(mpnum_decimal_ *x, int bits) {
  const uint32_t mask = ((uint32_t)1 << bits) - 1;
  uint32_t rest = 0;
  int count = 0;
  int i = 0;
  for (; i < x->count || rest; ++i) {
    rest = rest * 10 + (i < x->count ? x->digit[i] : 0u);
    if (count == 0 && rest >> bits == 0)
      --x->point;
    else
      x->digit[count++] = (uint8_t)(rest >> bits);
    rest &= mask;
  }
  x->count = count;
  mpnum_decimal_trim_(x);
}

/* A finite magnitude above zero, given as f32 bits, all digits. */
MPNUM_FUNC mpnum_decimal_ mpnum_decimal_of_bits_(uint32_t bits) {
  const uint32_t field = bits >> 23;
  const uint32_t significand = (bits & 0x7fffffu) | (field ? 0x800000u : 0);
  int exponent = (int)(field + (field == 0)) - 150;
  mpnum_decimal_ x = mpnum_decimal_from_(significand, 0);
  while (exponent > 0) {
    const int bits_up = exponent < 27 ? exponent : 27;
    mpnum_decimal_multiply_(&x, bits_up);
    exponent -= bits_up;
  }
  while (exponent < 0) {
    const int bits_down = exponent > -27 ? -exponent : 27;
    mpnum_decimal_divide_(&x, bits_down);
    exponent += bits_down;
  }
  return x;
}

/* significand * 2^exponent, and a little more if sticky, rounded to odd. A sticky
 * significand has more than 53 bits. Exponents past +-500 count as +-500, outside every
 * format. */
MPNUM_FUNC double mpnum_round_to_odd_(uint64_t significand, int64_t exponent,
                                      int sticky) {
  uint64_t lost = sticky != 0;
  if (significand == 0) return mpnum_from_bits_f64(0);
  for (; significand >> 53; significand >>= 1, ++exponent)
    lost |= significand & 1;
  for (; significand >> 52 == 0; significand <<= 1)
    --exponent;
  exponent = exponent > 500 ? 500 : exponent < -500 ? -500 : exponent;
  return mpnum_from_bits_f64((uint64_t)(exponent + 1075) << 52 | /* 1023 + 52 */
                             (significand & (((uint64_t)1 << 52) - 1)) | lost);
}

MPNUM_FUNC double mpnum_decimal_to_f64_(mpnum_decimal_ x) {
  uint64_t integer = 0;
  int exponent = 0;
  int i = 0;
  if (x.count == 0) return mpnum_round_to_odd_(0, 0, 0);
  /* 10^39 is above 2^129, 10^-46 below 2^-150, half the smallest value of any format. */
  if (x.point > 39) return mpnum_round_to_odd_(1, 500, 0);
  if (x.point < -45) return mpnum_round_to_odd_(1, -500, 0);
  /* To 18 or 19 digits before the point, 57 to 64 bits: 2^3n is below 10^n. */
  while (x.point < 18) {
    const int bits = x.point < 9 ? 27 : 3 * (18 - x.point);
    mpnum_decimal_multiply_(&x, bits);
    exponent -= bits;
  }
  while (x.point > 19) {
    const int bits = x.point > 28 ? 27 : 3 * (x.point - 19);
    mpnum_decimal_divide_(&x, bits);
    exponent += bits;
  }
  for (; i < x.point; ++i)
    integer = integer * 10 + (i < x.count ? x.digit[i] : 0u);
  return mpnum_round_to_odd_(integer, exponent, x.count > x.point);
}

MPNUM_C_END_
#endif

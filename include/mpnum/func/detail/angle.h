/* SPDX-License-Identifier: MIT */
/* Angles of any size less whole quarters of a turn, and their sine and cosine, in
 * integers: what decides codes of f16 and bf16, and the floats that func.inc's arithmetic
 * does not reach (Payne and Hanek 1983). */
#ifndef MPNUM_FUNC_DETAIL_ANGLE_H
#define MPNUM_FUNC_DETAIL_ANGLE_H

#include "../../simd/detail/wide.h"
MPNUM_C_BEGIN_

/* On devices a function of floats calls no other. */
#if MPNUM_ON_DEVICE_
# define MPNUM_FAR_ MPNUM_REAL_
#else
# define MPNUM_FAR_ MPNUM_RARE_
#endif

/* The angle is quarters * pi / 2 + rest, |rest| <= pi / 4 to 60 bits. */
typedef struct mpnum_angle_ {
  mpnum_wide_ rest;
  uint32_t quarters; /* modulo 4 */
} mpnum_angle_;

/* 2 / pi, whose bits begin with word 1. No table, for devices. */
MPNUM_MATH_ uint32_t mpnum_quarters_word_(int k) {
  return k == 0   ? 0
         : k == 1 ? 0xa2f9836eu
         : k == 2 ? 0x4e441529u
         : k == 3 ? 0xfc2757d1u
         : k == 4 ? 0xf534ddc0u
         : k == 5 ? 0xdb629599u
         : k == 6 ? 0x3c439041u
         : k == 7 ? 0xfe5163abu
                  : 0xdebbc561u;
}
/* 32 of its bits from a position on. */
MPNUM_MATH_ uint32_t mpnum_quarters_bits_(int from) {
  const int word = from >> 5;
  const uint64_t two =
      (uint64_t)mpnum_quarters_word_(word) << 32 | mpnum_quarters_word_(word + 1);
  return (uint32_t)(two >> (32 - (from & 31)));
}
MPNUM_MATH_ uint64_t mpnum_high_product_(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32;
  const uint64_t b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64_t middle = (a0 * b0 >> 32) + (a1 * b0 & 0xffffffffu) + a0 * b1;
  return a1 * b1 + (a1 * b0 >> 32) + (middle >> 32);
}
/* A float of 1/2 and more, its sign left out: m 2^e times those 128 bits of 2 / pi that
 * stand from 2 to 2^-126 in the product. No float is so near to a whole number of
 * quarters that fewer than 70 of them are left. */
MPNUM_REAL_ mpnum_angle_ mpnum_angle_of_(uint32_t magnitude) {
  const uint32_t m = (magnitude & 0x007fffffu) | 0x00800000u;
  const int from = (int)(magnitude >> 23) - 120; /* e = field - 150; 30 zeros before */
  uint64_t sum = (uint64_t)m * mpnum_quarters_bits_(from + 96), low, high;
  int up = 0, negative = 0;
  mpnum_angle_ angle;
  low = sum & 0xffffffffu;
  sum = (sum >> 32) + (uint64_t)m * mpnum_quarters_bits_(from + 64);
  low |= sum << 32;
  sum = (sum >> 32) + (uint64_t)m * mpnum_quarters_bits_(from + 32);
  high = sum & 0xffffffffu;
  sum = (sum >> 32) + (uint64_t)m * mpnum_quarters_bits_(from);
  high |= sum << 32;
  angle.quarters = (uint32_t)((high >> 62) + (high >> 61 & 1)) & 3u;
  high = high << 2 | low >> 62; /* of a quarter, as two's complement */
  low <<= 2;
  negative = (int)(high >> 63);
  if (negative) {
    high = ~high + (low == 0);
    low = 0 - low;
  }
  up = mpnum_clz_u64_(high | 1); /* below 34 */
  high = high << up | low >> 1 >> (63 - up);
  high = mpnum_high_product_(high, 0xc90fdaa22168c235u); /* pi / 2 */
  low = high >> 63 ^ 1;
  angle.rest = mpnum_wide_make_(high << low | 1, -63 - up - (int)low, negative);
  return angle;
}

/* The floats of func.inc: rest = high + low, as bits. */
typedef struct mpnum_far_turn_ {
  uint32_t high, low, quarters;
} mpnum_far_turn_;
/* x 2^exponent, cut to 24 bits. */
MPNUM_MATH_ uint32_t mpnum_cut_to_f32_(uint64_t x, int exponent) {
  const int up = mpnum_clz_u64_(x | 1);
  return x ? ((uint32_t)(exponent + 189 - up) << 23) + (uint32_t)(x << up >> 40) : 0;
}
MPNUM_FAR_ mpnum_far_turn_ mpnum_far_turn_of_(uint32_t magnitude) {
  const mpnum_angle_ angle = mpnum_angle_of_(magnitude);
  const uint32_t sign = (uint32_t)angle.rest.negative << 31;
  mpnum_far_turn_ turn;
  turn.high = sign | mpnum_cut_to_f32_(angle.rest.significand, angle.rest.exponent);
  turn.low = sign | mpnum_cut_to_f32_(angle.rest.significand & 0xffffffffffu,
                                      angle.rest.exponent);
  turn.quarters = angle.quarters;
  return turn;
}

/* 1 - y / (k (k + 1)) (1 - y / ((k + 2) (k + 3)) (...)), y = x^2 below 1. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_alternating_(mpnum_wide_ x, int k) {
  const mpnum_wide_ one = mpnum_wide_int_(1), y = mpnum_wide_mul_(x, x);
  mpnum_wide_ sum = one;
  int last = k + 20;
  for (; last >= k; last -= 2)
    sum = mpnum_wide_sub_(
        one,
        mpnum_wide_mul_(mpnum_wide_div_(y, mpnum_wide_int_(last * (last + 1))), sum));
  return sum;
}
/* The sine of x, a finite float, and of more quarters. */
MPNUM_RARE_ mpnum_wide_ mpnum_wide_sine_(mpnum_wide_ x, uint32_t more) {
  const int is_near = x.exponent + 63 < -1; /* |x| < 1/2 */
  mpnum_angle_ angle = {{0, 0, 0}, 0};
  mpnum_wide_ value;
  angle.rest = x;
  if (!is_near)
    angle = mpnum_angle_of_(
        mpnum_wide_to_f32_(mpnum_wide_make_(x.significand, x.exponent, 0)));
  if (!is_near && x.negative) {
    angle.rest = mpnum_wide_neg_(angle.rest);
    angle.quarters = 0 - angle.quarters;
  }
  angle.quarters += more;
  value = (angle.quarters & 1) != 0
              ? mpnum_wide_alternating_(angle.rest, 1)
              : mpnum_wide_mul_(angle.rest, mpnum_wide_alternating_(angle.rest, 2));
  return (angle.quarters & 2) != 0 ? mpnum_wide_neg_(value) : value;
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_sin_(mpnum_wide_ x) { return mpnum_wide_sine_(x, 0); }
MPNUM_MATH_ mpnum_wide_ mpnum_wide_cos_(mpnum_wide_ x) { return mpnum_wide_sine_(x, 1); }

MPNUM_C_END_
#endif

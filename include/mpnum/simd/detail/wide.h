/* SPDX-License-Identifier: MIT */
/* Real functions with some 60 bits, in integers: what decides how func.h rounds where a
 * float is too close to call. No rounding mode, flag or instruction set takes part. */
#ifndef MPNUM_SIMD_DETAIL_WIDE_H
#define MPNUM_SIMD_DETAIL_WIDE_H

#include "../../types/f32.h"
MPNUM_C_BEGIN_

/* +-significand * 2^exponent. The significand's top bit is set, or it is 0, and then so
 * is the exponent. Its lowest bit is set, too, where what lies below was cut off: such a
 * number is never halfway between two shorter ones, and on the right side of what is. */
typedef struct mpnum_wide_ {
  uint64_t significand;
  int exponent, negative;
} mpnum_wide_;

MPNUM_MATH_ mpnum_wide_ mpnum_wide_make_(uint64_t significand, int exponent,
                                         int negative) {
  const mpnum_wide_ x = {significand, exponent, negative};
  return x;
}
MPNUM_MATH_ int mpnum_clz_u64_(uint64_t x) {
  const uint32_t high = (uint32_t)(x >> 32);
  return high ? mpnum_clz_u32_(high) : 32 + mpnum_clz_u32_((uint32_t)x);
}
/* significand * 2^exponent, whatever the top bit. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_normal_(uint64_t significand, int exponent,
                                           int negative) {
  const int up = significand ? mpnum_clz_u64_(significand) : 0;
  return mpnum_wide_make_(significand << up, significand ? exponent - up : 0, negative);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_int_(int x) {
  return mpnum_wide_normal_((uint64_t)(x < 0 ? -x : x), 0, x < 0);
}
/* A finite float. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_f32_(uint32_t bits) {
  const int field = (int)(bits >> 23 & 0xff);
  const uint32_t fraction = bits & 0x7fffffu;
  return mpnum_wide_normal_(field ? fraction | 0x800000u : fraction,
                            (field ? field : 1) - 150, (int)(bits >> 31));
}
/* As a float, toward zero and then to odd: whatever is rounded from it to fewer bits by
 * two is rounded right. What is too large becomes the largest, what is too small the
 * smallest. */
MPNUM_MATH_ uint32_t mpnum_wide_to_f32_(mpnum_wide_ x) {
  const uint32_t sign = (uint32_t)x.negative << 31;
  const int field = x.exponent + 63 + 127;
  const int down = field >= 1 ? 40 : field > -23 ? 41 - field : 63;
  const uint64_t kept = x.significand >> down;
  const uint32_t odd = (x.significand & (((uint64_t)1 << down) - 1)) != 0;
  if (x.significand == 0) return sign;
  if (field >= 255) return sign | 0x7f7fffffu;
  if (field <= -23) return sign | 1;
  return sign | (((field > 1 ? (uint32_t)(field - 1) << 23 : 0) + (uint32_t)kept) | odd);
}

/* The float nearest to a number of normal size that is not halfway between two. */
MPNUM_MATH_ uint32_t mpnum_wide_nearest_f32_(mpnum_wide_ x) {
  const uint32_t down = (uint32_t)(x.significand >> 39);
  return ((uint32_t)x.negative << 31 | (uint32_t)(x.exponent + 189) << 23) +
         ((down & 1) + (down >> 1));
}

/* A positive normal double. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_f64_(double x) {
  const uint64_t bits = mpnum_bits_f64(x);
  return mpnum_wide_normal_((bits & 0xfffffffffffffu) | (uint64_t)1 << 52,
                            (int)(bits >> 52) - 1075, 0);
}
/* A positive number of a normal double's size, of which 53 bits are taken. */
MPNUM_MATH_ double mpnum_wide_cut_to_f64_(mpnum_wide_ x, uint64_t significand) {
  return mpnum_from_bits_f64(((uint64_t)(x.exponent + 63 + 1023) << 52) +
                             (significand - ((uint64_t)1 << 52)));
}
/* To odd: what is rounded from it to a float is rounded right. */
MPNUM_MATH_ double mpnum_wide_odd_f64_(mpnum_wide_ x) {
  return mpnum_wide_cut_to_f64_(x, x.significand >> 11 |
                                       (uint64_t)((x.significand & 0x7ff) != 0));
}
/* The nearest float. */
MPNUM_MATH_ float mpnum_wide_rounded_f32_(mpnum_wide_ x) {
  return mpnum_f64_to_f32(mpnum_wide_odd_f64_(x));
}
/* The float nearest to the nearest double, as a product in double becomes a float. */
MPNUM_MATH_ float mpnum_wide_rounded_twice_f32_(mpnum_wide_ x) {
  const uint64_t kept = x.significand >> 11, rest = x.significand & 0x7ff;
  return mpnum_f64_to_f32(mpnum_wide_cut_to_f64_(x, kept + (rest + (kept & 1) > 0x400)));
}

MPNUM_MATH_ mpnum_wide_ mpnum_wide_neg_(mpnum_wide_ x) {
  return mpnum_wide_make_(x.significand, x.exponent, !x.negative);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_scaled_(mpnum_wide_ x, int exponent) {
  return mpnum_wide_make_(x.significand, x.significand ? x.exponent + exponent : 0,
                          x.negative);
}
MPNUM_RARE_ mpnum_wide_ mpnum_wide_mul_(mpnum_wide_ a, mpnum_wide_ b) {
  const uint64_t a0 = a.significand & 0xffffffffu, a1 = a.significand >> 32;
  const uint64_t b0 = b.significand & 0xffffffffu, b1 = b.significand >> 32;
  const uint64_t middle = (a0 * b0 >> 32) + (a1 * b0 & 0xffffffffu) + a0 * b1;
  const uint64_t high = a1 * b1 + (a1 * b0 >> 32) + (middle >> 32);
  const uint64_t low = middle << 32 | (a0 * b0 & 0xffffffffu);
  const int up = (int)(high >> 63 ^ 1);
  const uint64_t top = up ? high << 1 | low >> 63 : high;
  const uint64_t odd = (low << up) != 0;
  if (high == 0) return mpnum_wide_make_(0, 0, 0);
  return mpnum_wide_make_(top | odd, a.exponent + b.exponent + 64 - up,
                          a.negative ^ b.negative);
}
MPNUM_RARE_ mpnum_wide_ mpnum_wide_add_(mpnum_wide_ a, mpnum_wide_ b) {
  const int swap = a.significand == 0 ||
                   (b.significand != 0 &&
                    (b.exponent > a.exponent ||
                     (b.exponent == a.exponent && b.significand > a.significand)));
  const mpnum_wide_ x = swap ? b : a, y = swap ? a : b; /* |x| >= |y| */
  const int down = y.significand ? x.exponent - y.exponent : 0;
  const uint64_t shifted = down < 64 ? y.significand >> down : 0;
  const uint64_t cut = down == 0   ? 0
                       : down < 64 ? y.significand << (64 - down)
                                   : y.significand;
  const uint64_t odd = (uint64_t)(cut != 0);
  if (x.negative != y.negative)
    return mpnum_wide_normal_((x.significand - shifted - odd) | odd, x.exponent,
                              x.negative);
  {
    const uint64_t sum = x.significand + shifted;
    if (sum >= x.significand) return mpnum_wide_make_(sum | odd, x.exponent, x.negative);
    return mpnum_wide_make_((uint64_t)1 << 63 | sum >> 1 | (sum & 1) | odd,
                            x.exponent + 1, x.negative);
  }
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_sub_(mpnum_wide_ a, mpnum_wide_ b) {
  return mpnum_wide_add_(a, mpnum_wide_neg_(b));
}
/* One step of long division in base 2^32: high * 2^32 + next by divisor, whose top bit is
 * set, high below divisor; the remainder takes the place of high. */
MPNUM_MATH_ uint64_t mpnum_wide_digit_(uint64_t *high, uint32_t next, uint64_t divisor) {
  const uint64_t top = divisor >> 32 | 0x80000000u, bottom = divisor & 0xffffffffu;
  uint64_t digit = *high / top, rest = *high - digit * top;
  while (digit >> 32 || digit * bottom > (rest << 32 | next)) {
    --digit;
    rest += top;
    if (rest >> 32) break;
  }
  *high = (*high << 32 | next) - digit * divisor; /* modulo 2^64 */
  return digit;
}
/* b is not 0. */
MPNUM_RARE_ mpnum_wide_ mpnum_wide_div_(mpnum_wide_ a, mpnum_wide_ b) {
  const int down = a.significand >= b.significand;
  uint64_t rest = a.significand >> down;
  uint64_t quotient =
      mpnum_wide_digit_(&rest, down ? (uint32_t)a.significand << 31 : 0, b.significand);
  quotient = quotient << 32 | mpnum_wide_digit_(&rest, 0, b.significand);
  if (a.significand == 0) return a;
  return mpnum_wide_make_(quotient | (rest != 0), a.exponent - b.exponent - 64 + down,
                          a.negative ^ b.negative);
}
/* x > 0, by Newton's steps from a line that is 6 % off at most. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_sqrt_(mpnum_wide_ x) {
  const int odd = x.exponent & 1;
  const mpnum_wide_ y = mpnum_wide_make_(x.significand, odd - 64, 0); /* 1/2 to 2 */
  const mpnum_wide_ one_half = mpnum_wide_make_((uint64_t)1 << 63, -64, 0);
  mpnum_wide_ root = mpnum_wide_add_(mpnum_wide_mul_(y, one_half), one_half);
  int i = 0;
  for (; i < 5; ++i)
    root = mpnum_wide_scaled_(mpnum_wide_add_(root, mpnum_wide_div_(y, root)), -1);
  return mpnum_wide_scaled_(root, (x.exponent - odd + 64) / 2);
}

/* Constants, rounded to nearest. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_ln2_(void) {
  return mpnum_wide_make_(0xb17217f7d1cf79acu, -64, 0);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_log2_e_(void) {
  return mpnum_wide_make_(0xb8aa3b295c17f0bcu, -63, 0);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_ln10_(void) {
  return mpnum_wide_make_(0x935d8dddaaa8ac17u, -62, 0);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_log10_e_(void) {
  return mpnum_wide_make_(0xde5bd8a937287195u, -65, 0);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_sqrt_2_(void) {
  return mpnum_wide_make_(0xb504f333f9de6484u, -63, 0);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_rsqrt_2pi_(void) {
  return mpnum_wide_make_(0xcc42299ea1b28468u, -65, 0);
}

/* The nearest integer; |x| < 2^31. */
MPNUM_MATH_ int mpnum_wide_nearest_(mpnum_wide_ x) {
  const int down = -x.exponent;
  int n = 0;
  if (down <= 64 && down > 32)
    n = (int)((down < 64 ? x.significand >> down : 0) +
              (x.significand >> (down - 1) & 1));
  return x.negative ? -n : n;
}
/* (e^x - 1) / x by its series, |x| <= 0.36. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_expm1_ratio_(mpnum_wide_ x) {
  const mpnum_wide_ one = mpnum_wide_int_(1);
  mpnum_wide_ sum = one;
  int k = 18;
  for (; k >= 2; --k)
    sum = mpnum_wide_add_(one,
                          mpnum_wide_mul_(mpnum_wide_div_(x, mpnum_wide_int_(k)), sum));
  return sum;
}
/* e^x is 2^n e^rest. Beyond 2^8 only its being huge or tiny counts. */
typedef struct mpnum_wide_power_ {
  mpnum_wide_ rest;
  int n;
} mpnum_wide_power_;
MPNUM_MATH_ mpnum_wide_power_ mpnum_wide_power_of_(mpnum_wide_ x) {
  mpnum_wide_power_ power = {{0, 0, 0}, 0};
  if (x.significand != 0 && x.exponent + 63 >= 8) {
    power.n = x.negative ? -4096 : 4096;
    power.rest = mpnum_wide_make_((uint64_t)1 << 63, -66, x.negative); /* not exact */
    return power;
  }
  power.n = mpnum_wide_nearest_(mpnum_wide_mul_(x, mpnum_wide_log2_e_()));
  power.rest =
      mpnum_wide_sub_(x, mpnum_wide_mul_(mpnum_wide_int_(power.n), mpnum_wide_ln2_()));
  return power;
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_power_value_(mpnum_wide_power_ power) {
  return mpnum_wide_scaled_(
      mpnum_wide_add_(mpnum_wide_int_(1),
                      mpnum_wide_mul_(power.rest, mpnum_wide_expm1_ratio_(power.rest))),
      power.n);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_exp_(mpnum_wide_ x) {
  return mpnum_wide_power_value_(mpnum_wide_power_of_(x));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_exp2_(mpnum_wide_ x) {
  mpnum_wide_power_ power = {{0, 0, 0}, 0};
  if (x.significand != 0 && x.exponent + 63 >= 10)
    return mpnum_wide_exp_(mpnum_wide_make_((uint64_t)1 << 63, 0, x.negative));
  power.n = mpnum_wide_nearest_(x);
  power.rest =
      mpnum_wide_mul_(mpnum_wide_sub_(x, mpnum_wide_int_(power.n)), mpnum_wide_ln2_());
  return mpnum_wide_power_value_(power);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_expm1_(mpnum_wide_ x) {
  const mpnum_wide_power_ power = mpnum_wide_power_of_(x);
  const mpnum_wide_ small_value =
      mpnum_wide_mul_(power.rest, mpnum_wide_expm1_ratio_(power.rest));
  if (power.n == 0) return small_value;
  return mpnum_wide_sub_(mpnum_wide_power_value_(power), mpnum_wide_int_(1));
}
/* log(1 + x) for 1 + x from 0.7 to 1.42, as 2 atanh(x / (2 + x)). */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_log1p_series_(mpnum_wide_ x) {
  const mpnum_wide_ one = mpnum_wide_int_(1);
  const mpnum_wide_ s = mpnum_wide_div_(x, mpnum_wide_add_(mpnum_wide_int_(2), x));
  const mpnum_wide_ square = mpnum_wide_mul_(s, s);
  mpnum_wide_ sum = {0, 0, 0};
  int k = 14;
  for (; k >= 1; --k)
    sum = mpnum_wide_mul_(
        square, mpnum_wide_add_(mpnum_wide_div_(one, mpnum_wide_int_(2 * k + 1)), sum));
  return mpnum_wide_scaled_(mpnum_wide_mul_(s, mpnum_wide_add_(one, sum)), 1);
}
/* x > 0 is 2^n (1 + rest), 1 + rest from 0.7 to 1.42. */
MPNUM_MATH_ mpnum_wide_power_ mpnum_wide_log_parts_(mpnum_wide_ x) {
  const int is_high = x.significand > 0xb504f333f9de6484u;
  mpnum_wide_power_ parts = {{0, 0, 0}, 0};
  parts.n = x.exponent + 63 + is_high;
  parts.rest = mpnum_wide_sub_(mpnum_wide_make_(x.significand, -63 - is_high, 0),
                               mpnum_wide_int_(1));
  return parts;
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_log_(mpnum_wide_ x) {
  const mpnum_wide_power_ parts = mpnum_wide_log_parts_(x);
  return mpnum_wide_add_(mpnum_wide_mul_(mpnum_wide_int_(parts.n), mpnum_wide_ln2_()),
                         mpnum_wide_log1p_series_(parts.rest));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_log2_(mpnum_wide_ x) {
  const mpnum_wide_power_ parts = mpnum_wide_log_parts_(x);
  return mpnum_wide_add_(
      mpnum_wide_int_(parts.n),
      mpnum_wide_mul_(mpnum_wide_log1p_series_(parts.rest), mpnum_wide_log2_e_()));
}
/* A number whose significand has at most 12 bits instead of what is within 2^-47 of it,
 * relatively. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_snapped_(mpnum_wide_ x) {
  const uint64_t unit = (uint64_t)1 << 52, rest = (x.significand + unit / 2) & (unit - 1);
  const uint64_t top = x.significand + unit / 2 - rest; /* 0: 2^64 */
  if (rest - (unit / 2 - 0x10000) > 0x20000) return x;
  return top ? mpnum_wide_make_(top, x.exponent, x.negative)
             : mpnum_wide_make_((uint64_t)1 << 63, x.exponent + 1, x.negative);
}
/* x^y, x and y not 0, y an integer where x < 0; for results of at most 11 bits: what is
 * exact, or halfway between two of them, is so here, and no other pair of arguments of 11
 * bits comes as near. y log2 x = y n + y log2 m, the first of which is exact. */
MPNUM_RARE_ mpnum_wide_ mpnum_wide_pow_(mpnum_wide_ x, mpnum_wide_ y) {
  const mpnum_wide_power_ parts = mpnum_wide_log_parts_(x);
  const mpnum_wide_ whole = mpnum_wide_mul_(y, mpnum_wide_int_(parts.n));
  const mpnum_wide_ fraction = mpnum_wide_mul_(
      y, mpnum_wide_mul_(mpnum_wide_log1p_series_(parts.rest), mpnum_wide_log2_e_()));
  const mpnum_wide_ sum = mpnum_wide_add_(whole, fraction);
  const int down = -y.exponent; /* y is odd where the bit of 2^0 is set */
  const int is_odd = down >= 0 && down < 64 && (y.significand >> down & 1) != 0;
  mpnum_wide_power_ power = {{0, 0, 0}, 0};
  mpnum_wide_ value;
  if (sum.significand != 0 && sum.exponent + 63 >= 9) {
    value = mpnum_wide_make_((uint64_t)1 << 63, sum.negative ? -4096 : 4096, 0);
  } else {
    power.n = mpnum_wide_nearest_(sum);
    power.rest = mpnum_wide_mul_(
        mpnum_wide_add_(mpnum_wide_sub_(whole, mpnum_wide_int_(power.n)), fraction),
        mpnum_wide_ln2_());
    value = mpnum_wide_snapped_(mpnum_wide_power_value_(power));
  }
  value.negative = x.negative && is_odd;
  return value;
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_exp10_(mpnum_wide_ x) {
  return mpnum_wide_exp_(mpnum_wide_mul_(x, mpnum_wide_ln10_()));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_log10_(mpnum_wide_ x) {
  return mpnum_wide_mul_(mpnum_wide_log_(x), mpnum_wide_log10_e_());
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_reciprocal_(mpnum_wide_ x) {
  return mpnum_wide_div_(mpnum_wide_int_(1), x);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_rsqrt_(mpnum_wide_ x) {
  return mpnum_wide_sqrt_(mpnum_wide_reciprocal_(x));
}
/* x > -1 */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_log1p_(mpnum_wide_ x) {
  if (x.exponent + 63 < -2) return mpnum_wide_log1p_series_(x); /* |x| < 1/4 */
  return mpnum_wide_log_(mpnum_wide_add_(mpnum_wide_int_(1), x));
}
/* 1 / (1 + e^-x) */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_sigmoid_(mpnum_wide_ x) {
  const mpnum_wide_ one = mpnum_wide_int_(1);
  return mpnum_wide_div_(one, mpnum_wide_add_(one, mpnum_wide_exp_(mpnum_wide_neg_(x))));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_silu_(mpnum_wide_ x) {
  return mpnum_wide_mul_(x, mpnum_wide_sigmoid_(x));
}
/* sigmoid(x) sigmoid(-x) */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_sigmoid_derivative_(mpnum_wide_ x) {
  return mpnum_wide_mul_(mpnum_wide_sigmoid_(x), mpnum_wide_sigmoid_(mpnum_wide_neg_(x)));
}
/* 4 sigmoid(2 x) sigmoid(-2 x) */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_tanh_derivative_(mpnum_wide_ x) {
  return mpnum_wide_scaled_(mpnum_wide_sigmoid_derivative_(mpnum_wide_scaled_(x, 1)), 2);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_tanh_(mpnum_wide_ x) {
  const mpnum_wide_ y = mpnum_wide_expm1_(mpnum_wide_scaled_(x, 1));
  return mpnum_wide_div_(y, mpnum_wide_add_(y, mpnum_wide_int_(2)));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_softplus_(mpnum_wide_ x) {
  const mpnum_wide_ magnitude = mpnum_wide_make_(x.significand, x.exponent, 0);
  const mpnum_wide_ tail = mpnum_wide_log1p_(mpnum_wide_exp_(mpnum_wide_neg_(magnitude)));
  return x.negative ? tail : mpnum_wide_add_(x, tail);
}
/* The normal density at x, half_square being x^2 / 2. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_density_(mpnum_wide_ half_square) {
  return mpnum_wide_mul_(mpnum_wide_rsqrt_2pi_(),
                         mpnum_wide_exp_(mpnum_wide_neg_(half_square)));
}
/* Of the normal distribution what lies between 0 and x, |x| < 4, by a series of positive
 * terms (Abramowitz and Stegun 26.2.11). */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_middle_(mpnum_wide_ x, mpnum_wide_ half_square) {
  const mpnum_wide_ square = mpnum_wide_scaled_(half_square, 1);
  mpnum_wide_ sum = mpnum_wide_int_(1);
  int k = 40;
  for (; k >= 1; --k)
    sum = mpnum_wide_add_(
        mpnum_wide_int_(1),
        mpnum_wide_mul_(mpnum_wide_div_(square, mpnum_wide_int_(2 * k + 1)), sum));
  return mpnum_wide_mul_(mpnum_wide_mul_(x, mpnum_wide_density_(half_square)), sum);
}
/* What lies above x >= 2.8, by Laplace's continued fraction (26.2.14). */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_tail_(mpnum_wide_ x, mpnum_wide_ half_square) {
  mpnum_wide_ fraction = x;
  int k = 80;
  for (; k >= 1; --k)
    fraction = mpnum_wide_add_(x, mpnum_wide_div_(mpnum_wide_int_(k), fraction));
  return mpnum_wide_div_(mpnum_wide_density_(half_square), fraction);
}
MPNUM_MATH_ int mpnum_wide_is_middle_(mpnum_wide_ half_square) {
  return half_square.exponent + 63 < 2; /* x^2 / 2 < 4 */
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_half_square_(mpnum_wide_ x) {
  return mpnum_wide_scaled_(mpnum_wide_mul_(x, x), -1);
}
/* The normal distribution below x. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_normal_cdf_(mpnum_wide_ x) {
  const mpnum_wide_ half_square = mpnum_wide_half_square_(x);
  const mpnum_wide_ one_half = mpnum_wide_scaled_(mpnum_wide_int_(1), -1);
  if (mpnum_wide_is_middle_(half_square))
    return mpnum_wide_add_(one_half, mpnum_wide_middle_(x, half_square));
  if (x.negative) return mpnum_wide_tail_(mpnum_wide_neg_(x), half_square);
  return mpnum_wide_sub_(mpnum_wide_int_(1), mpnum_wide_tail_(x, half_square));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_gelu_(mpnum_wide_ x) {
  return mpnum_wide_mul_(x, mpnum_wide_normal_cdf_(x));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_gelu_derivative_(mpnum_wide_ x) {
  return mpnum_wide_add_(
      mpnum_wide_normal_cdf_(x),
      mpnum_wide_mul_(x, mpnum_wide_density_(mpnum_wide_half_square_(x))));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_erf_(mpnum_wide_ x) {
  const mpnum_wide_ square = mpnum_wide_mul_(x, x);
  const mpnum_wide_ y = mpnum_wide_mul_(x, mpnum_wide_sqrt_2_());
  if (mpnum_wide_is_middle_(square))
    return mpnum_wide_scaled_(mpnum_wide_middle_(y, square), 1);
  {
    const mpnum_wide_ tail =
        mpnum_wide_tail_(mpnum_wide_make_(y.significand, y.exponent, 0), square);
    const mpnum_wide_ value =
        mpnum_wide_sub_(mpnum_wide_int_(1), mpnum_wide_scaled_(tail, 1));
    return mpnum_wide_make_(value.significand, value.exponent, x.negative);
  }
}
/* sqrt(8 / pi) (x + count 0.044715 x^3) */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_cubic_(mpnum_wide_ x, int count) {
  const mpnum_wide_ cubic =
      mpnum_wide_mul_(mpnum_wide_make_(0xb727136a400fba88u, -68, 0),
                      mpnum_wide_mul_(mpnum_wide_int_(count), mpnum_wide_mul_(x, x)));
  return mpnum_wide_mul_(mpnum_wide_scaled_(mpnum_wide_rsqrt_2pi_(), 2),
                         mpnum_wide_mul_(x, mpnum_wide_add_(mpnum_wide_int_(1), cubic)));
}
/* x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3) */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_gelu_tanh_(mpnum_wide_ x) {
  return mpnum_wide_mul_(x, mpnum_wide_sigmoid_(mpnum_wide_cubic_(x, 1)));
}
/* (1 + slope sigmoid(-u)) sigmoid(u), where slope is x du/dx. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_gated_slope_(mpnum_wide_ u, mpnum_wide_ slope) {
  const mpnum_wide_ rest =
      mpnum_wide_mul_(slope, mpnum_wide_sigmoid_(mpnum_wide_neg_(u)));
  return mpnum_wide_mul_(mpnum_wide_sigmoid_(u),
                         mpnum_wide_add_(mpnum_wide_int_(1), rest));
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_silu_derivative_(mpnum_wide_ x) {
  return mpnum_wide_gated_slope_(x, x);
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_gelu_tanh_derivative_(mpnum_wide_ x) {
  return mpnum_wide_gated_slope_(mpnum_wide_cubic_(x, 1), mpnum_wide_cubic_(x, 3));
}

MPNUM_C_END_
#endif

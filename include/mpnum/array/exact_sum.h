/* SPDX-License-Identifier: MIT */
/* A sum of doubles that is exact whatever their order: a number of 640 bits in fixed
 * point that is rounded once, when it is read. Parts of an array, tensors of a list,
 * devices and ranks merge to the same bits. It is made by integers, so neither compiler
 * flags nor the floating-point environment matter. */
#ifndef MPNUM_ARRAY_EXACT_SUM_H
#define MPNUM_ARRAY_EXACT_SUM_H

#include "../types/f32.h"
MPNUM_C_BEGIN_

/* Every member is a sum: two exact sums merge by adding member to member, and an integer
 * sum over ranks (24 words of 64 bits) merges all of them, up to 32768. */
typedef struct mpnum_exact_sum {
  int64_t limbs[20]; /* limb i counts 2^(32 i - 298), of either sign; 2^-298 is the lowest
                        bit that a product of floats can have */
  int64_t terms;     /* a limb is at most terms * 2^32, of either sign */
  int64_t positive_infs, negative_infs, nans;
} mpnum_exact_sum;

/* Returns the sum of no values. */
MPNUM_FUNC mpnum_exact_sum mpnum_exact_sum_empty(void) {
  const mpnum_exact_sum total = {
      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0, 0, 0};
  return total;
}

/* Brings all limbs but the last into 0 to 2^32 - 1. (It shifts the limb plus 2^63, as a
 * shift of a negative number is not the same for every compiler.) */
MPNUM_FUNC MPNUM_ONCE_ void mpnum_exact_sum_carry_(mpnum_exact_sum *total) {
  int64_t carry = 0;
  int i = 0;
  MPNUM_NO_UNROLL_
  for (; i < 19; ++i) {
    const int64_t sum = total->limbs[i] + carry;
    const int64_t low = (int64_t)((uint64_t)sum & 0xffffffffu);
    carry = (int64_t)(((uint64_t)sum ^ (uint64_t)1 << 63) >> 32) - ((int64_t)1 << 31);
    total->limbs[i] = low;
  }
  total->limbs[19] += carry;
  total->terms = 1;
}

/* Carries long before the limbs are full, so that many sums can be added. */
MPNUM_FUNC void mpnum_exact_sum_settle_(mpnum_exact_sum *total) {
  if (total->terms >= (int64_t)1 << 16) mpnum_exact_sum_carry_(total);
}

/* Adds a sum of products of floats: 0, or 2^-298 to 2^320 without a bit below 2^-298. */
MPNUM_FUNC void mpnum_exact_sum_add_f64_(mpnum_exact_sum *total, double x) {
  const uint64_t bits = mpnum_bits_f64(x);
  const int field = (int)(bits >> 52 & 0x7ff);
  const int64_t sign = bits >> 63 ? -1 : 1;
  const int place = field - 777; /* of the last bit; 777 = 1023 + 52 - 298 */
  uint64_t significand = (bits & 0xfffffffffffffu) | (uint64_t)1 << 52;
  if (field == 0x7ff) {
    const int is_nan = (bits & 0xfffffffffffffu) != 0;
    total->nans += is_nan;
    total->positive_infs += !is_nan && sign > 0;
    total->negative_infs += !is_nan && sign < 0;
  } else if (field >= 725) { /* 2^-298 */
    const int index = place > 0 ? place >> 5 : 0;
    const int shift = place > 0 ? place & 31 : 0;
    uint64_t low = 0, high = 0;
    if (place < 0) significand >>= -place;
    low = (significand & 0xffffffffu) << shift;
    high = (significand >> 32 << shift) + (low >> 32);
    total->limbs[index] += sign * (int64_t)(low & 0xffffffffu);
    total->limbs[index + 1] += sign * (int64_t)(high & 0xffffffffu);
    total->limbs[index + 2] += sign * (int64_t)(high >> 32);
  }
  total->terms += 1;
  mpnum_exact_sum_settle_(total);
}

/* Merges two sums. */
MPNUM_FUNC mpnum_exact_sum mpnum_exact_sum_merge(mpnum_exact_sum a, mpnum_exact_sum b) {
  int i = 0;
  for (; i < 20; ++i)
    a.limbs[i] += b.limbs[i];
  a.terms += b.terms;
  a.positive_infs += b.positive_infs;
  a.negative_infs += b.negative_infs;
  a.nans += b.nans;
  mpnum_exact_sum_settle_(&a);
  return a;
}

/* Returns the sum in 53 bits, rounded to odd, so that a rounding to fewer bits gives
 * what it gives for the sum itself. The limbs are lost. (It takes a pointer, so that
 * devices keep the limbs where they have addresses.) */
MPNUM_FUNC double mpnum_exact_sum_take_odd_(mpnum_exact_sum *total) {
  const int64_t infs = (total->positive_infs != 0) - (total->negative_infs != 0);
  const int has_infs = total->positive_infs != 0 || total->negative_infs != 0;
  uint64_t sign = 0, high = 0, low = 0, rest = 0, significand = 0;
  int i = 0, top = 19, lead = 0;
  if (total->nans != 0 || (has_infs && infs == 0))
    return mpnum_from_bits_f64(0x7fffffffffffffffu);
  if (has_infs)
    return mpnum_from_bits_f64((infs < 0 ? (uint64_t)1 << 63 : 0) | (uint64_t)0x7ff
                                                                        << 52);
  for (;;) { /* twice at most, and one carry compiles */
    mpnum_exact_sum_carry_(total);
    if (total->limbs[19] >= 0) break;
    sign = (uint64_t)1 << 63;
    MPNUM_NO_UNROLL_
    for (i = 0; i < 20; ++i)
      total->limbs[i] = -total->limbs[i];
  }
  while (top > 0 && total->limbs[top] == 0)
    --top;
  if (total->limbs[top] == 0) return 0.0;
  for (i = 0; i < top - 2; ++i)
    rest |= (uint64_t)total->limbs[i];
  lead = mpnum_clz_u32_((uint32_t)total->limbs[top]);
  high = (uint64_t)total->limbs[top] << 32 |
         (uint64_t)(top >= 1 ? total->limbs[top - 1] : 0);
  low = (uint64_t)(top >= 2 ? total->limbs[top - 2] : 0) << lead;
  significand = high << lead | low >> 32;
  rest |= (low & 0xffffffffu) | (significand & 0x7ff);
  significand = significand >> 11 | (rest != 0);
  /* The leading bit of limb i is 2^(32 i - 298 + 31 - lead); it is in significand, too.
   */
  return mpnum_from_bits_f64(sign |
                             (((uint64_t)(1023 - 298 + 31 + 32 * top - lead) << 52) +
                              (significand - ((uint64_t)1 << 52))));
}
MPNUM_FUNC double mpnum_exact_sum_to_odd_(mpnum_exact_sum total) {
  return mpnum_exact_sum_take_odd_(&total);
}

/* Returns the square root, rounded once, of a normal double that may be rounded to odd,
 * or of 0, Inf or NaN. Newton's steps in integers: the root of 2^52 to 2^54 has 27 bits.
 * They begin within 4 %, so that three steps give the root or 1 more, and never come
 * from below. */
MPNUM_FUNC float mpnum_root_(double square) {
  const uint64_t bits = mpnum_bits_f64(square);
  const int exponent = (int)(bits >> 52) - 1023;
  const int half_way = (exponent + 2046) / 2 - 1023; /* rounded down */
  const uint64_t significand = (bits & 0xfffffffffffffu) | (uint64_t)1 << 52;
  const uint64_t radicand = significand << (exponent - 2 * half_way);
  /* 17/24 + m/3, of m from 1 to 4; 21845/65536 = 1/3 */
  uint64_t root = 47535446 + ((radicand >> 26) * 21845 >> 16);
  if (mpnum_iszero_u63_(bits & 0x7fffffffffffffffu)) return 0.0f;
  if (bits >> 63 || exponent == 1024)
    return mpnum_from_bits_f32(bits == (uint64_t)0x7ff << 52 ? 0x7f800000u : 0x7fffffffu);
  root = (root + radicand / root) >> 1;
  root = (root + radicand / root) >> 1;
  root = (root + radicand / root) >> 1;
  root -= root * root > radicand;
  root = root << 1 | (root * root != radicand); /* 28 bits, the last one 1 if not exact */
  return mpnum_f64_to_f32(mpnum_from_bits_f64(((uint64_t)(half_way + 1023) << 52) +
                                              ((root << 25) - ((uint64_t)1 << 52))));
}

/* Return the sum, rounded to nearest even, and its square root. A sum of 0 is +0, one
 * past the largest float Inf; the root of a negative one is NaN. NaN: 0x7fffffff, from
 * any NaN and from Infs of both signs. */
MPNUM_FUNC float mpnum_exact_sum_value(mpnum_exact_sum total) {
  return mpnum_f64_to_f32(mpnum_exact_sum_to_odd_(total));
}
MPNUM_FUNC float mpnum_exact_sum_root(mpnum_exact_sum total) {
  return mpnum_root_(mpnum_exact_sum_to_odd_(total));
}

MPNUM_C_END_
#endif

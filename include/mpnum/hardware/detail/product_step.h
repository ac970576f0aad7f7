/* SPDX-License-Identifier: MIT */
/* Steps of sums, in integers: exact products of a few elements, and the sum so far, are
 * aligned, added and rounded as a unit of hardware does. Host and device. */
#ifndef MPNUM_HARDWARE_DETAIL_PRODUCT_STEP_H
#define MPNUM_HARDWARE_DETAIL_PRODUCT_STEP_H

#include "../../array/exact_sum.h"
#include "../../core/detail/environment.h"
#include "../../simd/detail/wide.h"
#include "../../types/f16.h"
#include "../product_unit.h"
MPNUM_C_BEGIN_

#if !MPNUM_NO_STDINT

/* An element: significand * 2^(exponent - places), places those of its type. Zeros have
 * significand 0; what is not finite has it, too. */
typedef struct mpnum_term_ {
  int32_t significand;
  int16_t exponent;
  uint8_t is_nan, is_inf;
  int32_t sign; /* 1 or -1 */
} mpnum_term_;

/* What is not finite among terms. */
enum { MPNUM_SEEN_NAN_ = 1, MPNUM_SEEN_UP_ = 2, MPNUM_SEEN_DOWN_ = 4 };

/* At most 64 products, or one sum more. */
typedef struct mpnum_terms_ {
  int64_t significands[65];
  int32_t exponents[65]; /* of the point's left neighbour */
  int32_t places[65];
  int count, most, seen;
} mpnum_terms_;
/* No term has a lower exponent. */
# define MPNUM_NO_EXPONENT_ (-100000)

MPNUM_MATH_ double mpnum_power_f64_(int exponent) {
  return mpnum_from_bits_f64((uint64_t)(1023 + exponent) << 52);
}
/* Of a value of a type with so many places, whose smallest normal is 2^least. */
MPNUM_MATH_ MPNUM_ONCE_ mpnum_term_ mpnum_term_of_(double value, int places, int least) {
  const uint64_t bits = mpnum_bits_f64(value);
  const uint64_t mantissa = bits & 0xfffffffffffffu;
  const int field = (int)(bits >> 52 & 0x7ff);
  mpnum_term_ made = {0, 0, 0, 0, 1};
  int down = 52 - places;
  made.sign = bits >> 63 ? -1 : 1;
  made.is_nan = field == 0x7ff && mantissa != 0;
  made.is_inf = field == 0x7ff && mantissa == 0;
  if (field == 0 || field == 0x7ff) return made;
  made.exponent = (int16_t)(field - 1023);
  if (made.exponent < least) {
    down += least - made.exponent;
    made.exponent = (int16_t)least;
  }
  if (down > 52) return made.significand = down > 53 ? 0 : made.sign, made;
  made.significand = made.sign * (int32_t)((mantissa | (uint64_t)1 << 52) >> down);
  return made;
}
/* value * 2^shift, shift toward zero or, with is_floor, minus infinity. What is shifted
 * to the left stays small. */
MPNUM_MATH_ int64_t mpnum_shifted_(int64_t value, int shift, int is_floor) {
  const int down = shift < -62 ? 62 : -shift;
  const uint64_t size = (uint64_t)(value < 0 ? -value : value);
  int64_t cut = 0;
  if (value == 0) return 0;
  if (shift >= 0) return value * ((int64_t)1 << shift);
  cut =
      (int64_t)((size + (is_floor && value < 0 ? ((uint64_t)1 << down) - 1 : 0)) >> down);
  return value < 0 ? -cut : cut;
}
MPNUM_MATH_ void mpnum_terms_add_(mpnum_terms_ *terms, int64_t significand, int exponent,
                                  int places) {
  if (significand == 0) return;
  terms->significands[terms->count] = significand;
  terms->exponents[terms->count] = exponent;
  terms->places[terms->count++] = places;
  if (exponent > terms->most) terms->most = exponent;
}
MPNUM_MATH_ MPNUM_ONCE_ void mpnum_terms_add_sum_(mpnum_terms_ *terms, mpnum_term_ sum,
                                                  int places) {
  terms->seen |= sum.is_nan ? MPNUM_SEEN_NAN_ : 0;
  if (sum.is_inf) terms->seen |= sum.sign > 0 ? MPNUM_SEEN_UP_ : MPNUM_SEEN_DOWN_;
  mpnum_terms_add_(terms, sum.significand, sum.exponent, places);
}
/* Adds the product of two elements of as many places together; limit: one of 2^limit is
 * Inf. */
MPNUM_MATH_ void mpnum_terms_add_product_(mpnum_terms_ *terms, const mpnum_term_ *a,
                                          const mpnum_term_ *b, int places, int limit) {
  const int64_t product = (int64_t)a->significand * b->significand;
  const int exponent = a->exponent + b->exponent;
  const int is_special = a->is_nan | b->is_nan | a->is_inf | b->is_inf;
  const int is_large = exponent >= limit - 2 && product != 0 &&
                       63 - mpnum_clz_u64_((uint64_t)(product < 0 ? -product : product)) +
                               exponent - places >=
                           limit;
  if (is_special || is_large) {
    const int is_zero = !is_large && ((!a->is_inf && a->significand == 0) ||
                                      (!b->is_inf && b->significand == 0));
    if (a->is_nan || b->is_nan || is_zero)
      terms->seen |= MPNUM_SEEN_NAN_;
    else
      terms->seen |= a->sign * b->sign > 0 ? MPNUM_SEEN_UP_ : MPNUM_SEEN_DOWN_;
    return;
  }
  mpnum_terms_add_(terms, product, exponent, places);
}
/* The sum of terms, cut at so many bits behind the point of 2^most; *lost: whether some
 * bit was not 0. */
MPNUM_MATH_ MPNUM_ONCE_ int64_t mpnum_terms_sum_(const mpnum_terms_ *terms, int most,
                                                 int bits, int *lost) {
  int64_t sum = 0;
  int i = 0;
  for (; i < terms->count; ++i) {
    const int shift = terms->exponents[i] - terms->places[i] - (most - bits);
    const int64_t cut = mpnum_shifted_(terms->significands[i], shift, 0);
    sum += cut;
    if (lost && shift < 0 &&
        mpnum_shifted_(cut, -shift < 62 ? -shift : 62, 0) != terms->significands[i])
      *lost = 1;
  }
  return sum;
}
MPNUM_MATH_ MPNUM_ONCE_ double mpnum_special_f64_(int seen) {
  const uint64_t infinity = (uint64_t)0x7ff << 52;
  if ((seen & MPNUM_SEEN_NAN_) || (seen & 6) == 6)
    return mpnum_from_bits_f64(0x7fffffffffffffffu);
  return mpnum_from_bits_f64(seen & MPNUM_SEEN_DOWN_ ? infinity | (uint64_t)1 << 63
                                                     : infinity);
}
/* sum * 2^point with `kept` bits of mantissa, as a value of f16 or f32; 0 is +0. */
MPNUM_MATH_ MPNUM_ONCE_ double mpnum_rounded_sum_(int64_t sum, int point, int kept,
                                                  int is_nearest, int is_half) {
  const uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
  const int least = is_half ? -14 : -126, most = is_half ? 16 : 128;
  int exponent = 0, down = 0;
  uint64_t code = 0;
  double value = 0;
  if (size == 0) return 0;
  exponent = 63 - mpnum_clz_u64_(size) + point;
  if (exponent < least) exponent = least;
  down = exponent - kept - point;
  if (down > 62) {
    code = 0; /* is less than half of the last place */
  } else if (down > 0) {
    const uint64_t rest = size & (((uint64_t)1 << down) - 1);
    const uint64_t middle = (uint64_t)1 << (down - 1);
    code = size >> down;
    if (is_nearest) code += rest > middle || (rest == middle && (code & 1));
  } else {
    code = size << -down;
  }
  if (code >> (kept + 1)) exponent += 1; /* a carry, and a last bit of 0 */
  if (exponent >= most && code >> kept)
    return mpnum_special_f64_(sum < 0 ? MPNUM_SEEN_DOWN_ : MPNUM_SEEN_UP_);
  if (code >> (kept + 1)) exponent -= 1;
  if (code == 0) return 0;
  value = (double)code * mpnum_power_f64_(exponent - kept);
  return sum < 0 ? -value : value;
}

/* x as a value of f16 or f32. */
MPNUM_MATH_ MPNUM_ONCE_ double mpnum_narrowed_(double x, int is_half) {
  const uint64_t bits = mpnum_bits_f64(x);
  const int field = (int)(bits >> 52 & 0x7ff);
  const int64_t size = (int64_t)((bits & 0xfffffffffffffu) | (uint64_t)1 << 52);
  double rounded = 0;
  if (!is_half || field == 0 || field == 0x7ff)
    return mpnum_widen_f32_(mpnum_narrow_f64_(x));
  rounded = mpnum_rounded_sum_(size, field - 1023 - 52, 10, 1, 1);
  return mpnum_from_bits_f64(mpnum_bits_f64(rounded) | (bits & (uint64_t)1 << 63));
}

/* Places and least exponent of the sum so far. */
MPNUM_MATH_ int mpnum_sum_places_(const mpnum_product_unit *unit) {
  return unit->sum == MPNUM_TYPE_F16 ? 10 : 23;
}
MPNUM_MATH_ mpnum_term_ mpnum_sum_term_(const mpnum_product_unit *unit, double sum) {
  const int is_half = unit->sum == MPNUM_TYPE_F16;
  return mpnum_term_of_(sum, is_half ? 10 : 23, is_half ? -14 : -126);
}
/* The products of n pairs, or of those in every other run, and scales of 2^scale. */
MPNUM_MATH_ MPNUM_ONCE_ void mpnum_terms_of_(mpnum_terms_ *terms,
                                             const mpnum_product_unit *unit,
                                             const mpnum_term_ *a, const mpnum_term_ *b,
                                             int n, int places, int scale, int part) {
  const int limit = unit->joins == 2 ? 128 : 4096;
  int k = 0;
  terms->count = terms->seen = 0;
  terms->most = MPNUM_NO_EXPONENT_;
  for (; k < n; ++k) {
    if (unit->run && k / unit->run % 2 != part) continue;
    mpnum_terms_add_product_(terms, &a[k], &b[k], places, limit);
  }
  if (scale) {
    for (k = 0; k < terms->count; ++k)
      terms->exponents[k] += scale;
    terms->most += scale;
  }
}
MPNUM_MATH_ MPNUM_ONCE_ double mpnum_aligned_sum_(const mpnum_product_unit *unit,
                                                  const mpnum_terms_ *terms) {
  const int most = terms->most < unit->least ? unit->least : terms->most;
  if (terms->seen) return mpnum_special_f64_(terms->seen);
  return mpnum_rounded_sum_(mpnum_terms_sum_(terms, most, unit->bits, 0),
                            most - unit->bits, unit->kept, unit->is_nearest,
                            unit->sum == MPNUM_TYPE_F16);
}
/* All bits count: in an integer, or in one of 640 bits where 55 do not do. */
MPNUM_MATH_ MPNUM_ONCE_ double mpnum_whole_sum_(const mpnum_product_unit *unit,
                                                const mpnum_terms_ *terms) {
  enum { BITS = 53 };
  mpnum_exact_sum total;
  int lost = 0, i = 0;
  int64_t sum = 0;
  if (terms->seen) return mpnum_special_f64_(terms->seen);
  if (terms->count == 0) return 0;
  sum = mpnum_terms_sum_(terms, terms->most, BITS, &lost);
  if (!lost)
    return mpnum_rounded_sum_(sum, terms->most - BITS, unit->kept, unit->is_nearest,
                              unit->sum == MPNUM_TYPE_F16);
  total = mpnum_exact_sum_empty();
  for (; i < terms->count; ++i)
    mpnum_exact_sum_add_f64_(
        &total, (double)terms->significands[i] *
                    mpnum_power_f64_(terms->exponents[i] - terms->places[i]));
  return mpnum_narrowed_(mpnum_exact_sum_take_odd_(&total), 0);
}
/* The sum of products, already cut, and the sum so far: aligned to the larger exponent
 * toward minus infinity, 31 bits and 24, and rounded to nearest. */
MPNUM_MATH_ MPNUM_ONCE_ double mpnum_joined_sum_(const mpnum_terms_ *even,
                                                 const mpnum_terms_ *odd, double sum) {
  const mpnum_term_ before = mpnum_term_of_(sum, 23, -126);
  const int sum_exponent = before.significand ? before.exponent : -126;
  mpnum_terms_ seen = *even;
  int64_t total = 0, added = 0;
  int most = even->most;
  seen.seen |= odd ? odd->seen : 0;
  mpnum_terms_add_sum_(&seen, before, 23);
  if (seen.seen) return mpnum_special_f64_(seen.seen);
  if (odd && odd->most > most) most = odd->most;
  if (most < -1000) return before.significand ? sum : 0.0; /* no products */
  total = mpnum_shifted_(mpnum_terms_sum_(even, even->most, 24, 0), even->most - most, 1);
  if (odd)
    total += mpnum_shifted_(mpnum_terms_sum_(odd, odd->most, 24, 0), odd->most - most, 1);
  {
    const int both = most > sum_exponent ? most : sum_exponent;
    total = mpnum_shifted_(total, 7 - (both - most), 1);
    if (!odd || sum_exponent >= both - 25)
      added = mpnum_shifted_(before.significand, sum_exponent + 1 - both, 1);
    return mpnum_rounded_sum_(total + added * 128, both - 31, 23, 1, 0);
  }
}
/* sum and the products of n pairs, 1 to 64, of a unit with bits. */
MPNUM_MATH_ MPNUM_ONCE_ double mpnum_fused_step_(const mpnum_product_unit *unit,
                                                 const mpnum_term_ *a,
                                                 const mpnum_term_ *b, int n, int places,
                                                 int scale, double sum) {
  mpnum_terms_ terms, odd;
  mpnum_terms_of_(&terms, unit, a, b, n, places, scale, 0);
  if (unit->run) mpnum_terms_of_(&odd, unit, a, b, n, places, scale, 1);
  if (unit->joins == 2) return mpnum_joined_sum_(&terms, unit->run ? &odd : 0, sum);
  if (unit->joins == 1) { /* from zero, the second sum from the first */
    double own = mpnum_aligned_sum_(unit, &terms);
    if (unit->run) {
      mpnum_terms_add_sum_(&odd, mpnum_sum_term_(unit, own), mpnum_sum_places_(unit));
      own = mpnum_aligned_sum_(unit, &odd);
    }
    own = mpnum_add_f64_(own, sum);
    return mpnum_narrowed_(own, unit->sum == MPNUM_TYPE_F16);
  }
  mpnum_terms_add_sum_(&terms, mpnum_sum_term_(unit, sum), mpnum_sum_places_(unit));
  return unit->bits < 0 ? mpnum_whole_sum_(unit, &terms)
                        : mpnum_aligned_sum_(unit, &terms);
}

#endif
MPNUM_C_END_
#endif

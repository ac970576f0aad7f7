/* SPDX-License-Identifier: MIT */
/* How far the sums of products are at most from the exact ones. */
#ifndef MPNUM_HARDWARE_DETAIL_PRODUCT_BOUNDS_H
#define MPNUM_HARDWARE_DETAIL_PRODUCT_BOUNDS_H

#include "product_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

MPNUM_HOST int mpnum_is_flushed_(const mpnum_product_side_ *side, double x) {
  return mpnum_magnitude_f64_(x) <
         mpnum_bits_f64(mpnum_power_f64_(1 - side->format.bias));
}
MPNUM_HOST void mpnum_bound_piece_(const mpnum_product_job_ *job,
                                   const mpnum_product_row_ *a,
                                   const mpnum_product_row_ *b, size_t n,
                                   mpnum_product_state_ *state) {
  size_t k = 0;
  for (; k < n; ++k) {
    double product = mpnum_abs_f64_(mpnum_mul_f64_(a->values[k], b->values[k]));
    if (job->unit.scales == 2) { /* scales are aligned to, whatever the products */
      const size_t block = k / job->sides[0].columns;
      product = product < 1 ? 1 : product;
      product = mpnum_mul_f64_(product, (double)a->factors[block]);
      product = mpnum_mul_f64_(product, (double)b->factors[block]);
    }
    state->magnitudes = mpnum_add_f64_(state->magnitudes, product);
    if (job->unit.is_flushed && (mpnum_is_flushed_(&job->sides[0], a->values[k]) ||
                                 mpnum_is_flushed_(&job->sides[1], b->values[k])))
      state->flushed = mpnum_add_f64_(state->flushed, product);
  }
  state->count += n;
}
/* At the end of a block, or of the row where there are none. A float that underflows is
 * off by 2^-150; later steps may multiply this by scales or a sum or, if values are
 * decoded first, by a value of the other matrix. */
MPNUM_HOST void mpnum_bound_block_(const mpnum_product_job_ *job,
                                   const mpnum_product_row_ *x,
                                   const mpnum_product_row_ *y,
                                   mpnum_product_state_ *state) {
  const int is_scaled = job->is_blocks && job->unit.scales != 2;
  const double a = is_scaled ? (double)x->factors[0] : 1;
  const double b = is_scaled ? (double)y->factors[0] : 1;
  const double both = mpnum_mul_f64_(a, b), n = (double)state->count;
  double missed = mpnum_mul_f64_(n, both);
  state->all =
      mpnum_add_f64_(state->all, mpnum_mul_f64_(mpnum_mul_f64_(state->magnitudes, a), b));
  state->all_flushed = mpnum_add_f64_(
      state->all_flushed, mpnum_mul_f64_(mpnum_mul_f64_(state->flushed, a), b));
  state->scaled_products = mpnum_add_f64_(state->scaled_products, missed);
  if (state->magnitudes > state->peak) state->peak = state->magnitudes;
  if (job->is_blocks) {
    double decoded =
        mpnum_add_f64_(mpnum_div_f64_(mpnum_mul_f64_((double)job->sides[0].largest, a),
                                      job->sides[0].scale),
                       mpnum_div_f64_(mpnum_mul_f64_((double)job->sides[1].largest, b),
                                      job->sides[1].scale));
    decoded = mpnum_mul_f64_(mpnum_add_f64_(decoded, 1), n);
    state->decoded = mpnum_add_f64_(state->decoded, decoded);
    missed = mpnum_add_f64_(mpnum_add_f64_(1, a), mpnum_add_f64_(b, both));
    missed = mpnum_add_f64_(mpnum_mul_f64_(missed, n), state->magnitudes);
  }
  state->missed = mpnum_add_f64_(state->missed, missed);
  state->blocks = mpnum_add_f64_(state->blocks, 1);
  state->magnitudes = state->flushed = 0;
  state->count = 0;
}
MPNUM_HOST void mpnum_bound_part_(const mpnum_product_job_ *job,
                                  const mpnum_product_row_ *a,
                                  const mpnum_product_row_ *b, size_t n, int ends_block,
                                  mpnum_product_state_ *state) {
  mpnum_bound_piece_(job, a, b, n, state);
  if (ends_block) mpnum_bound_block_(job, a, b, state);
}
MPNUM_HOST double mpnum_ceil_f64_(double n, double step) {
  const uint64_t of = (uint64_t)step, whole = ((uint64_t)n + of - 1) / of;
  return (double)whole;
}
/* How far a unit is off, relative to the sum of magnitudes: by alignment, with the
 * rounding of its sums, and by roundings of f32 (or f64) afterwards. docs/product.md has
 * the proof. *underflows: sums that may be subnormal. */
typedef struct mpnum_product_errors_ {
  double relative; /* of the sum of magnitudes */
  double absolute; /* of each product, whatever its size: in 2^-200 */
} mpnum_product_errors_;
MPNUM_HOST_COLD_ mpnum_product_errors_
mpnum_product_errors_of_(const mpnum_product_job_ *job, double blocks) {
  const mpnum_product_unit *const unit = &job->unit;
  const double columns = (double)job->columns, start = job->start ? 1 : 0;
  const double u = mpnum_power_f64_(unit->sum == MPNUM_TYPE_F64 ? -53 : -24);
  const double n = unit->products ? (double)unit->products : columns;
  const int is_scaled = mpnum_scales_sums_(job);
  /* products from where a sum begins, and from one to the next */
  double span = unit->promotion && (double)unit->promotion < columns
                    ? (double)unit->promotion
                    : columns;
  const double wide = is_scaled ? (double)(job->sides[0].columns < job->sides[1].columns
                                               ? job->sides[0].columns
                                               : job->sides[1].columns)
                                : columns;
  const int is_inexact = job->places + 2 > (unit->sum == MPNUM_TYPE_F64 ? 53 : 24);
  const double power = unit->bits > 0 ? mpnum_power_f64_(-unit->bits) : 0;
  const double kept = mpnum_power_f64_(-unit->kept - unit->is_nearest);
  const int is_half = unit->sum == MPNUM_TYPE_F16;
  mpnum_product_errors_ errors = {0, 0};
  double steps = 0, most = 0, added = 0;
  if (wide < span) span = wide;
  steps = mpnum_ceil_f64_(span, n);
  most = n < span ? n : span;
  /* With promotion what it begins with is added apart, even if nothing else is. */
  added = mpnum_ceil_f64_(columns, span) - 1;
  if (span < columns || unit->promotion) added += start;
  if (unit->bits < 0 && !unit->products) { /* exact */
    errors.relative = 2 * u;
  } else if (unit->bits < 0) {
    errors.relative = (steps - (columns <= 1 && !job->start && !is_inexact ? 1 : 0)) * u;
  } else if (unit->bits == 0 && unit->products == 1) {
    errors.relative = (span - 1 + start + is_inexact) * u;
  } else if (unit->bits == 0) { /* a tree, and sums of those */
    double depth = 0, leaves = 1;
    for (; leaves < most; leaves *= 2)
      depth += 1;
    errors.relative = (depth + steps - 1 + start + is_inexact) * u;
  } else if (unit->joins == 2) { /* cuts are relative to the products of their step */
    const double own = (most + (unit->run ? 1 : 0) + 1) * power;
    errors.relative = own + steps * (mpnum_power_f64_(-31) + u);
    errors.absolute = steps * mpnum_power_f64_(200 - 150);
  } else {
    const double sums = unit->joins == 1 && unit->run ? 2 : 1;
    const int is_whole = job->places + 1 <= unit->kept && job->columns == 1;
    const double cut = unit->scales == 2 ? 4 : most;
    double rounded = sums * kept, first = 0;
    if (is_whole && (!job->start || unit->joins == 1)) rounded = 0;
    if (!job->start && job->places <= unit->bits) first = -1;
    if (job->start && !is_half && unit->bits < 23) first = 1;
    if (unit->joins == 1) {
      errors.relative = cut * power + rounded +
                        (steps - 1 + start) * (is_half ? mpnum_power_f64_(-11) : u);
    } else {
      errors.relative = (steps * cut + first) * power + steps * rounded;
    }
    errors.absolute =
        steps * (mpnum_power_f64_(200 + (is_half ? -14 : -126) - unit->kept) +
                 cut * mpnum_power_f64_(
                           unit->least < -200 ? -60 : 200 + unit->least - unit->bits));
  }
  if (!unit->bits && job->is_blocks) { /* wherever scales are applied */
    errors.relative = (columns + 10) * u;
  } else {
    errors.relative += (added + (job->is_blocks ? blocks + 12 : 0)) * u;
  }
  return errors;
}
MPNUM_HOST double mpnum_bound_end_(const mpnum_product_job_ *job, double start,
                                   mpnum_product_state_ *state) {
  const double infinity = mpnum_from_bits_f64((uint64_t)0x7ff << 52);
  const mpnum_product_unit *const unit = &job->unit;
  const int is_wide = unit->sum == MPNUM_TYPE_F64;
  const mpnum_product_errors_ errors = mpnum_product_errors_of_(job, state->blocks);
  const double limit = unit->sum == MPNUM_TYPE_F16 ? 65504 : mpnum_power_f64_(127);
  double size = state->all, begun = mpnum_abs_f64_(start), peak = state->peak, most = 0;
  double missed = state->missed, each = state->scaled_products;
  double flushed = state->all_flushed;
  int k = 0;
  if (begun < mpnum_power_f64_(-126) && begun > 0 && unit->bits > 0)
    begun = mpnum_power_f64_(-126);
  for (; k < 2; ++k) {
    size = mpnum_div_f64_(size, job->sides[k].scale);
    each = mpnum_div_f64_(each, job->sides[k].scale);
    flushed = mpnum_div_f64_(flushed, job->sides[k].scale);
    missed = mpnum_add_f64_(mpnum_div_f64_(missed, job->sides[k].scale),
                            job->is_blocks ? 2 : 0);
  }
  missed = mpnum_add_f64_(missed, state->decoded);
  size = mpnum_add_f64_(size, begun);
  peak = mpnum_add_f64_(peak, begun);
  if (!(errors.relative < 1)) return infinity;
  if (!is_wide && !(peak * 2 < limit && size * 2 < limit && state->all * 2 < limit))
    return infinity;
  if (mpnum_bits_f64(size) >= mpnum_bits_f64(infinity)) return infinity;
  most = mpnum_mul_f64_(size, mpnum_div_f64_(errors.relative, 1 - errors.relative));
  most = mpnum_add_f64_(most, mpnum_mul_f64_(size, mpnum_power_f64_(-52)));
  if (!is_wide && unit->bits <= 0)
    most = mpnum_add_f64_(most, mpnum_mul_f64_(missed, mpnum_power_f64_(-150)));
  if (unit->is_flushed) { /* every product, sum and start of less than 2^-126, too */
    most = mpnum_add_f64_(most, flushed);
    most = mpnum_add_f64_(
        most, mpnum_mul_f64_(mpnum_add_f64_(missed, 1), mpnum_power_f64_(-125)));
  }
  if (job->places == 104)
    most = mpnum_add_f64_(
        most, mpnum_mul_f64_(each, mpnum_power_f64_(-1022) * mpnum_power_f64_(-50)));
  if (unit->bits > 0) {
    const double least = mpnum_mul_f64_(errors.absolute, mpnum_power_f64_(-200));
    most = mpnum_add_f64_(most, mpnum_mul_f64_(least, mpnum_add_f64_(each, 1)));
    if (mpnum_scales_sums_(job))
      most = mpnum_add_f64_(most, mpnum_mul_f64_(missed, mpnum_power_f64_(-150)));
  }
  return mpnum_mul_f64_(most, 1 + mpnum_power_f64_(-20));
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* What contrastive.h is made of: steps over a row of floats each of whose elements
 * belongs to a column of its own. */
#ifndef MPNUM_ROWS_DETAIL_COLUMNS_LOOPS_H
#define MPNUM_ROWS_DETAIL_COLUMNS_LOOPS_H

#include "rows_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Gradients of a row of similarities: the softmax of its elements in the row, if it
 * counts, and in their columns, unless column_max is NULL, times factor. Where is_masked
 * -Inf has gradient 0. An inverse that is NaN makes all NaN. */
typedef struct mpnum_contrast_ {
  int has_row, is_masked, adds;
  float max, inverse, scale, factor;
  const float *column_max, *column_inverse;
} mpnum_contrast_;
/* Of element x, at a place; old is what was there. A pair has 1 less in each softmax. */
MPNUM_HOST float mpnum_contrast_of_(const mpnum_contrast_ *how, float old, float x,
                                    size_t at, int is_pair) {
  const int is_out = how->is_masked && mpnum_bits_f32(x) == 0xff800000u;
  const float hit = is_pair ? 1 : 0;
  float y = 0;
  if (how->has_row) {
    y = mpnum_exp_of_negative_scalar_(mpnum_exponent_(x, how->max, how->scale));
    y = mpnum_sub_scalar_(mpnum_mul_scalar_(y, how->inverse), hit);
  }
  if (how->column_max) {
    const float t = mpnum_exponent_(x, how->column_max[at], how->scale);
    const float z =
        mpnum_mul_scalar_(mpnum_exp_of_negative_scalar_(t), how->column_inverse[at]);
    y = mpnum_add_scalar_(y, mpnum_sub_scalar_(z, hit));
  }
  y = mpnum_mul_scalar_(y, how->factor);
  y = mpnum_from_bits_f32(mpnum_bits_f32(y) & (is_out ? 0 : 0xffffffffu));
  if (how->adds) y = mpnum_add_scalar_(old, y);
  return mpnum_canonical_(y);
}

/* column_larger: of each column the larger of max and x; NaN stays.
 * column_exp: adds e^((x - max) scale) to the sum of each column.
 * contrast: gradients of elements first to first + n, by contrast_of. */
# define MPNUM_EACH_ISA_ "../../rows/detail/columns.inc"
# include "../../simd/detail/each_isa.inc"

MPNUM_HOST void mpnum_column_larger_(float *max, const float *x, size_t n) {
  MPNUM_CALL_(column_larger, (max, x, n));
}
MPNUM_HOST void mpnum_column_exp_(double *sums, const float *x, const float *max,
                                  float scale, size_t n) {
  MPNUM_CALL_(column_exp, (sums, x, max, scale, n));
}
MPNUM_HOST void mpnum_contrast_tile_(const mpnum_contrast_ *how, float *dst,
                                     const float *x, size_t first, size_t n) {
  MPNUM_CALL_(contrast, (how, dst, x, first, n));
}

#endif
MPNUM_C_END_
#endif

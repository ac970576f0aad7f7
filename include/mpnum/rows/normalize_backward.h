/* SPDX-License-Identifier: MIT */
/* Gradients of the norms of normalize.h: of the rows, of weight and of bias.
 *
 *     mpnum_norm_gradients to = mpnum_norm_gradients_empty();
 *     to.input = mpnum_matrix_of(MPNUM_TYPE_BF16, dx, rows, n);
 *     to.weight = dw;
 *     mpnum_normalize_backward_rows(MPNUM_NORM_RMS, to, dy, src, &options);
 *
 * Let y be the normalised row before weight and bias, r the inverse and g = dy weight.
 * The gradient of a row is
 *   layer norm  r (g - mean of g - y mean of g y)
 *   RMS norm    r (g - y mean of g y)
 *   L2          r (g - y sum of g y); r g if the length is below epsilon
 * For each column, the gradient of weight is the sum of dy y over the rows, that of bias
 * the sum of dy.
 * Domain: dy and src as src of normalize.h, each of any of the types; src is what was
 *   normalised: the stored sum if there was one. options: those of the forward call. If
 *   mean and inverse are given (RMS norm: inverse), they are read instead of computed;
 *   if weight's or bias's gradient is wanted, once more for every 2048 columns of each
 *   row after the 256th. bias, residual and sum play no part. input may be dy or src if
 *   both have the same type and stride. Otherwise arrays must not overlap.
 * NaN: a row that is NaN has NaN gradients, and so has a row of dy with NaN; Inf in dy
 *   gives Inf or NaN. Weight and bias get NaN where such a row adds to them. A row with
 *   inverse 0 has gradient 0.
 * Error: of an element, with u = 2^-24, 8 u r (|g| + mean |g| + |y| mean |g y|), with
 *   sums in place of means for L2; then it is rounded to the type of input. If mean and
 *   inverse are read, |mean| r u is added to the error of y. Of weight 4 u of the sum of
 *   |dy y| and, as y may be subnormal, 2^-149 of that of |dy|; of bias 4 u of the sum of
 *   |dy|; and one rounding each (test_normalize_backward.c).
 * Bits: sums over rows are doubles, row after row, the same from every instruction set;
 *   gradients of rows have batch invariance as in normalize.h.
 * Status: as normalize.h, for dy and input, too; MPNUM_ERROR_OVERLAP also if gradients
 *   of weight or bias overlap rows or each other. Nothing is written then. Host only. */
#ifndef MPNUM_ROWS_NORMALIZE_BACKWARD_H
#define MPNUM_ROWS_NORMALIZE_BACKWARD_H

#include "normalize_options.h"
#include "detail/norm_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* The gradients that are wanted. A matrix without data and NULL are not. */
typedef struct mpnum_norm_gradients {
  mpnum_matrix input;
  float *weight, *bias; /* one float for each column */
  int adds;             /* 1: adds to what is there; 0: overwrites it */
} mpnum_norm_gradients;

/* Returns a request for no gradient. */
MPNUM_HOST mpnum_norm_gradients mpnum_norm_gradients_empty(void) {
  mpnum_norm_gradients none;
  none.input = mpnum_matrix_empty();
  none.weight = none.bias = 0;
  none.adds = 0;
  return none;
}

/* The number of rows whose mean and inverse are kept from one strip of columns to the
 * next. */
# define MPNUM_NORM_KNOWN_ 256
/* A call and its current tile. */
typedef struct mpnum_norm_backward_ {
  mpnum_norm_job_ job;
  mpnum_norm_gradients to;
  mpnum_const_matrix gradient;
  MPNUM_ALIGNED_ float normed[2 * MPNUM_TILE_]; /* of rows of two tiles both are kept */
  MPNUM_ALIGNED_ float given_floats[2 * MPNUM_TILE_]; /* with weight, too */
  MPNUM_ALIGNED_ double
      of_weight[MPNUM_TILE_]; /* sums over rows for a strip of columns */
  MPNUM_ALIGNED_ double of_bias[MPNUM_TILE_];
  size_t known; /* the number of rows that are */
  mpnum_norm_row_ rows[MPNUM_NORM_KNOWN_ + 1];
} mpnum_norm_backward_;

/* Whether the saved mean and inverse can be used: not if they are near the ends of the
 * range of a float. */
MPNUM_HOST int mpnum_norm_saved_(const mpnum_norm_job_ *job, size_t number,
                                 mpnum_norm_row_ *row) {
  const mpnum_normalize_options *options = job->options;
  uint32_t bits = 0;
  if (!options->inverse || job->kind == MPNUM_NORM_L2) return 0;
  if (job->kind == MPNUM_NORM_LAYER && !options->mean) return 0;
  bits = mpnum_bits_f32(mpnum_float_at_(options->inverse, number));
  if (bits - 0x0d800000u > 0x64000000u) return 0; /* 2^-100 to 2^100 */
  mpnum_norm_shift_(&row->map, 1, 0);
  if (job->kind == MPNUM_NORM_LAYER)
    row->map.mean = mpnum_float_at_(options->mean, number);
  row->map.inverse = mpnum_from_bits_f32(bits);
  row->is_least = 0;
  return 1;
}
MPNUM_HOST void mpnum_norm_look_(mpnum_norm_backward_ *self, size_t number,
                                 mpnum_norm_row_ *row) {
  double sums[2];
  if (mpnum_norm_saved_(&self->job, number, row)) return;
  mpnum_norm_long_sums_(&self->job, number, 0, sums);
  mpnum_norm_find_(&self->job, number, 0, sums, row);
}
/* Returns mean and inverse of a row that is no single tile. Rows must come in order. */
MPNUM_HOST const mpnum_norm_row_ *mpnum_norm_known_(mpnum_norm_backward_ *self,
                                                    size_t number) {
  const size_t place = number < MPNUM_NORM_KNOWN_ ? number : MPNUM_NORM_KNOWN_;
  mpnum_norm_row_ *row = &self->rows[place];
  if (number < self->known) return row;
  mpnum_norm_look_(self, number, row);
  if (number < MPNUM_NORM_KNOWN_) self->known = number + 1;
  return row;
}
/* Where the tile from a column on is in the buffers. */
MPNUM_HOST size_t mpnum_norm_place_(const mpnum_norm_backward_ *self, size_t first) {
  return self->job.src.columns <= 2 * MPNUM_TILE_ ? first : 0;
}
/* The tile of dy, floats at any address. */
MPNUM_HOST const void *mpnum_norm_given_(const mpnum_norm_backward_ *self, size_t number,
                                         size_t first) {
  if (self->gradient.type == MPNUM_TYPE_F32)
    return mpnum_rows_at_(self->gradient, number, first);
  return self->given_floats + mpnum_norm_place_(self, first);
}
/* Computes a tile. */
MPNUM_HOST void mpnum_norm_backward_tile_(mpnum_norm_backward_ *self, size_t number,
                                          const mpnum_norm_row_ *row, size_t first,
                                          size_t n) {
  const size_t place = mpnum_norm_place_(self, first);
  float *normed = self->normed + place;
  const float *x = mpnum_norm_floats_(&self->job, number, first, n, normed, 0);
  mpnum_norm_map_tile_(row, normed, x, n);
  if (self->gradient.type != MPNUM_TYPE_F32)
    mpnum_floats_from_(self->gradient.type, self->given_floats + place,
                       mpnum_rows_at_(self->gradient, number, first), n);
}
/* What the loops are told of a tile of one row, in the buffers. */
MPNUM_HOST mpnum_norm_back_ mpnum_norm_back_of_(const mpnum_norm_backward_ *self,
                                                size_t number, size_t first, size_t n) {
  const float *weight = self->job.options->weight;
  mpnum_norm_back_ back;
  back.gradient = (const uint8_t *)mpnum_norm_given_(self, number, first);
  back.dst = 0;
  back.weight = weight ? weight + first : weight;
  back.normed = self->normed + mpnum_norm_place_(self, first);
  back.gradient_step = back.dst_step = 0;
  back.rows = 1;
  back.columns = n;
  return back;
}
/* Takes gradients times weight, where these are in the buffer. */
MPNUM_HOST void mpnum_norm_weighted_(const mpnum_norm_backward_ *self,
                                     mpnum_norm_back_ *back, size_t first) {
  if (!back->weight) return;
  back->gradient = (const uint8_t *)(self->given_floats + mpnum_norm_place_(self, first));
  back->gradient_step = 4 * back->columns;
}
/* The factors of the gradient of a row from the sums of its gradients and products. */
MPNUM_HOST mpnum_norm_slope_ mpnum_norm_slope_of_(const mpnum_norm_backward_ *self,
                                                  const mpnum_norm_row_ *row,
                                                  const double sums[2]) {
  const double count =
      self->job.kind == MPNUM_NORM_L2 ? 1 : (double)self->job.src.columns;
  const double products = row->is_least ? 0 : sums[1];
  mpnum_norm_slope_ slope;
  slope.mean = (float)mpnum_div_f64_(sums[0], count);
  slope.along = mpnum_from_bits_f32(
      mpnum_bits_f32((float)mpnum_div_f64_(products, count)) ^ 0x80000000u);
  slope.inverse = row->map.inverse;
  slope.power = row->map.power;
  return slope;
}
/* Of a row whose last tile is there. */
MPNUM_HOST mpnum_norm_slope_ mpnum_norm_slope_look_(mpnum_norm_backward_ *self,
                                                    size_t number,
                                                    const mpnum_norm_row_ *row) {
  const size_t columns = self->job.src.columns;
  double sums[2] = {0, 0};
  size_t i = 0;
  for (; i < columns; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(columns, i);
    const mpnum_norm_back_ back = mpnum_norm_back_of_(self, number, i, n);
    double of_tile[1][2];
    if (mpnum_norm_place_(self, i) + n < columns)
      mpnum_norm_backward_tile_(self, number, row, i, n);
    MPNUM_CALL_(norm_slope_sums,
                (self->job.kind == MPNUM_NORM_LAYER, &back,
                 self->given_floats + mpnum_norm_place_(self, i), of_tile));
    sums[0] = mpnum_add_f64_(sums[0], of_tile[0][0]);
    sums[1] = mpnum_add_f64_(sums[1], of_tile[0][1]);
  }
  return mpnum_norm_slope_of_(self, row, sums);
}
/* Gradients of rows, of n elements from first on, to where they go. */
MPNUM_HOST void mpnum_norm_back_to_(const mpnum_norm_backward_ *self,
                                    const mpnum_norm_slope_ *slopes,
                                    mpnum_norm_back_ *back, size_t number, size_t first) {
  const mpnum_matrix dst = self->to.input;
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_];
  size_t n = back->columns, rows = back->rows, i = 0;
  back->dst = mpnum_rows_to_(dst, number, first);
  back->dst_step = 4 * dst.stride;
  if (dst.type != MPNUM_TYPE_F32) {
    back->dst = (uint8_t *)buffer;
    back->dst_step = 4 * n;
    if (self->to.adds)
      mpnum_norm_rows_made_(mpnum_rows_read_(dst), number, first, rows, n, buffer);
  }
  MPNUM_CALL_(norm_gradient, (slopes, back, self->to.adds));
  if (dst.type == MPNUM_TYPE_F32) return;
  if (dst.stride == n) { /* as one row */
    n *= rows;
    rows = 1;
  }
  for (; i < rows; ++i)
    mpnum_floats_to_(dst.type, mpnum_rows_to_(dst, number + i, first), buffer + i * n, n);
}
MPNUM_HOST void mpnum_norm_backward_row_(mpnum_norm_backward_ *self, size_t number,
                                         const mpnum_norm_row_ *row) {
  const mpnum_norm_slope_ slope = mpnum_norm_slope_look_(self, number, row);
  const size_t columns = self->job.src.columns;
  size_t i = 0;
  for (; i < columns; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(columns, i);
    mpnum_norm_back_ back = mpnum_norm_back_of_(self, number, i, n);
    if (columns > 2 * MPNUM_TILE_) {
      mpnum_norm_backward_tile_(self, number, row, i, n);
      if (back.weight)
        mpnum_norm_pairs_(1, self->given_floats, back.gradient, back.weight, n);
    }
    mpnum_norm_weighted_(self, &back, i);
    mpnum_norm_back_to_(self, &slope, &back, number, i);
  }
}
/* Handles a strip of columns for all rows. The last strip writes the gradients of the
 * rows, as these may replace what is read. */
MPNUM_HOST void mpnum_norm_backward_strip_(mpnum_norm_backward_ *self, size_t first) {
  const size_t n = mpnum_tile_size_(self->job.src.columns, first);
  const int is_last = first + n == self->job.src.columns;
  double *of_weight = self->to.weight ? self->of_weight : 0;
  double *of_bias = self->to.bias ? self->of_bias : 0;
  size_t i = 0;
  for (i = 0; i < self->job.src.rows; ++i) {
    const mpnum_norm_row_ *row = mpnum_norm_known_(self, i);
    mpnum_norm_backward_tile_(self, i, row, first, n);
    if (of_weight || of_bias) {
      const mpnum_norm_back_ back = mpnum_norm_back_of_(self, i, first, n);
      MPNUM_CALL_(norm_sum_rows, (of_weight, of_bias, &back));
    }
    if (is_last && self->to.input.data) mpnum_norm_backward_row_(self, i, row);
  }
}
/* Finds mean and inverse of rows of one tile, whose floats are x. */
MPNUM_HOST void mpnum_norm_look_all_(mpnum_norm_backward_ *self, size_t first,
                                     size_t rows, const uint8_t *x, size_t step) {
  double sums[MPNUM_NORM_ROWS_][2];
  int has_sums = 0;
  size_t i = 0;
  for (; i < rows; ++i) {
    if (mpnum_norm_saved_(&self->job, first + i, &self->rows[i])) continue;
    if (!has_sums)
      mpnum_norm_tile_sums_(self->job.kind == MPNUM_NORM_LAYER, sums[0], x, step, rows,
                            self->job.src.columns);
    has_sums = 1;
    mpnum_norm_find_(&self->job, first + i, (const float *)(const void *)(x + i * step),
                     sums[i], &self->rows[i]);
  }
}
/* So many rows of one tile, from a first one on. */
MPNUM_HOST void mpnum_norm_backward_group_(mpnum_norm_backward_ *self, size_t first,
                                           size_t rows) {
  const mpnum_const_matrix src = self->job.src;
  double sums[MPNUM_NORM_ROWS_][2];
  mpnum_norm_slope_ slopes[MPNUM_NORM_ROWS_];
  mpnum_norm_back_ back = mpnum_norm_back_of_(self, first, 0, src.columns);
  mpnum_norm_run_ run;
  int columns_allow = -1;
  size_t i = 0;
  run.columns_allow = &columns_allow;
  run.has_saved = 1;
  run.src = mpnum_norm_rows_from_(src, first, 0, rows, src.columns, self->normed,
                                  &run.src_step);
  mpnum_norm_look_all_(self, first, rows, run.src, run.src_step);
  run.found = self->rows;
  run.dst_type = MPNUM_TYPE_F32;
  run.dst = (uint8_t *)self->normed;
  run.dst_step = 4 * src.columns;
  run.rows = back.rows = rows;
  run.columns = src.columns;
  run.weight = run.bias = 0;
  mpnum_norm_run_rows_(&run);
  back.gradient = mpnum_norm_rows_from_(self->gradient, first, 0, rows, src.columns,
                                        self->given_floats, &back.gradient_step);
  if (self->to.weight || self->to.bias)
    MPNUM_CALL_(norm_sum_rows, (self->to.weight ? self->of_weight : 0,
                                self->to.bias ? self->of_bias : 0, &back));
  if (!self->to.input.data) return;
  MPNUM_CALL_(norm_slope_sums,
              (self->job.kind == MPNUM_NORM_LAYER, &back, self->given_floats, sums));
  mpnum_norm_weighted_(self, &back, 0);
  for (i = 0; i < rows; ++i)
    slopes[i] = mpnum_norm_slope_of_(self, &self->rows[i], sums[i]);
  mpnum_norm_back_to_(self, slopes, &back, first, 0);
}
/* The columns from first on, of all rows, and their sums. */
MPNUM_HOST void mpnum_norm_backward_columns_(mpnum_norm_backward_ *self, size_t first) {
  const size_t columns = self->job.src.columns, n = mpnum_tile_size_(columns, first);
  const size_t fit = MPNUM_TILE_ / n;
  const size_t most = fit < MPNUM_NORM_ROWS_ ? fit : MPNUM_NORM_ROWS_;
  float *weight = self->to.weight, *bias = self->to.bias;
  size_t i = 0;
  for (; i < n; ++i)
    self->of_weight[i] = self->of_bias[i] = 0;
  if (columns > MPNUM_TILE_) {
    mpnum_norm_backward_strip_(self, first);
  } else {
    for (i = 0; i < self->job.src.rows; i += most) {
      const size_t left = self->job.src.rows - i;
      mpnum_norm_backward_group_(self, i, left < most ? left : most);
    }
  }
  if (weight) mpnum_norm_sums_to_(weight + first, self->to.adds, self->of_weight, n);
  if (bias) mpnum_norm_sums_to_(bias + first, self->to.adds, self->of_bias, n);
}

/* Whether gradients of columns overlap rows. */
MPNUM_HOST int mpnum_norm_overlaps_(const float *columns, mpnum_norm_gradients to,
                                    mpnum_const_matrix dy, mpnum_const_matrix src) {
  return mpnum_floats_overlap_(columns, src.columns, dy) ||
         mpnum_floats_overlap_(columns, src.columns, src) ||
         mpnum_floats_overlap_(columns, src.columns, mpnum_rows_read_(to.input));
}
/* Whether both are wanted, and share memory. */
MPNUM_HOST int mpnum_norm_share_(const float *weight, const float *bias, size_t columns) {
  return weight && bias &&
         mpnum_overlap_(weight, columns * sizeof *weight, bias, columns * sizeof *bias);
}
MPNUM_HOST mpnum_status mpnum_norm_backward_check_(
    mpnum_norm_kind kind, mpnum_norm_gradients to, mpnum_const_matrix dy,
    mpnum_const_matrix src, const mpnum_normalize_options *options) {
  mpnum_normalize_options usual = mpnum_normalize_default();
  mpnum_status status = MPNUM_OK;
  usual.epsilon = options->epsilon;
  status = mpnum_norm_check_(kind, src, &usual);
  if (status == MPNUM_OK) status = mpnum_source_check_(dy);
  if (status != MPNUM_OK) return status;
  if (dy.rows != src.rows || dy.columns != src.columns) return MPNUM_ERROR_SHAPE;
  if (to.input.data) status = mpnum_rows_check_(to.input, dy);
  if (status == MPNUM_OK && to.input.data) status = mpnum_rows_check_(to.input, src);
  if (status == MPNUM_OK && (mpnum_norm_overlaps_(to.weight, to, dy, src) ||
                             mpnum_norm_overlaps_(to.bias, to, dy, src) ||
                             mpnum_norm_share_(to.weight, to.bias, src.columns)))
    status = MPNUM_ERROR_OVERLAP;
  return status;
}
/* Computes the gradients in `to` from dy, the gradient of the result, and src, what was
 * normalised. options NULL: the defaults. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_normalize_backward_rows(
    mpnum_norm_kind kind, mpnum_norm_gradients to, mpnum_const_matrix dy,
    mpnum_const_matrix src, const mpnum_normalize_options *options) {
  const mpnum_normalize_options usual = mpnum_normalize_default();
  mpnum_norm_backward_ self;
  mpnum_status status = MPNUM_OK;
  uint64_t saved = 0;
  size_t i = 0;
  self.job = mpnum_norm_job_of_(kind, to.input, src, options ? options : &usual);
  self.to = to;
  self.gradient = dy;
  self.known = 0;
  status = mpnum_norm_backward_check_(kind, to, dy, src, self.job.options);
  if (status != MPNUM_OK) return status;
  saved = mpnum_fenv_save_();
  if (!to.weight && !to.bias && src.columns > MPNUM_TILE_)
    i = (src.columns - 1) / MPNUM_TILE_ * MPNUM_TILE_; /* the last strip alone */
  for (; i < src.columns; i += MPNUM_TILE_)
    mpnum_norm_backward_columns_(&self, i);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

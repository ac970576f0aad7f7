/* SPDX-License-Identifier: MIT */
/* The passes of adafactor.h over a matrix: averages of rows and columns, the size of the
 * update, the step. Each goes through tiles of columns, and in a tile through rows. */
#ifndef MPNUM_TRAINING_DETAIL_ADAFACTOR_PASS_H
#define MPNUM_TRAINING_DETAIL_ADAFACTOR_PASS_H

#include "optimizer_pass.h"
#include "../../array/exact_sum.h"
#include "../../array/detail/reduce_loops.h"
#include "../../func/func.h"
MPNUM_C_BEGIN_

#if MPNUM_ON_DEVICE_ || MPNUM_HAS_ARRAYS_

/* Rows whose squares are summed before they join the others. */
enum { MPNUM_ADAFACTOR_ROWS_ = 64 };

/* The factors of a step, and what a rate is made of. */
typedef struct mpnum_adafactor_factors_ {
  mpnum_optimizer_factors_ steps;
  float rho, clip, least, decay;
  int32_t is_scaled;
} mpnum_adafactor_factors_;

/* x, which is 0 or more, but +0 for -0. */
MPNUM_MATH_ float mpnum_adafactor_positive_(float x) {
  return mpnum_from_bits_f32(mpnum_bits_f32(x) & 0x7fffffffu);
}
/* The larger one of two floats that are +0 or more; NaN where one is. */
MPNUM_MATH_ float mpnum_adafactor_larger_(float a, float b) {
  return mpnum_bits_f32(a) > mpnum_bits_f32(b) ? a : b;
}
/* The mean of a total, and the root of one of squares. The total is lost. */
MPNUM_MATH_ double mpnum_adafactor_mean_of_(mpnum_exact_sum *total, uint64_t n) {
  return mpnum_div_f64_(mpnum_exact_sum_take_odd_(total), (double)n);
}
MPNUM_MATH_ float mpnum_adafactor_root_(mpnum_exact_sum *squares, uint64_t n) {
  return mpnum_root_(mpnum_adafactor_mean_of_(squares, n));
}
/* The average of a row, which squares of a tile of its columns join. */
MPNUM_MATH_ float mpnum_adafactor_joined_(const mpnum_optimizer_factors_ *f,
                                          float average, int is_first, double squares,
                                          uint64_t columns) {
  const float mean = mpnum_narrow_f64_(mpnum_div_f64_(squares, (double)columns));
  if (is_first)
    average =
        mpnum_fma_scalar_(f->beta2, average, mpnum_mul_scalar_(f->rest2, f->epsilon));
  return mpnum_canonical_(mpnum_fma_scalar_(f->rest2, mean, average));
}
/* The rate by the squares of parameters, before it is clipped. */
MPNUM_MATH_ float mpnum_adafactor_rate_(const mpnum_adafactor_factors_ *f,
                                        mpnum_exact_sum *parameters, uint64_t n) {
  if (!f->is_scaled) return f->rho;
  return mpnum_mul_scalar_(
      f->rho, mpnum_adafactor_larger_(f->least, mpnum_adafactor_root_(parameters, n)));
}
MPNUM_MATH_ int mpnum_adafactor_clips_(const mpnum_adafactor_factors_ *f) {
  return mpnum_bits_f32(f->clip) < 0x7f800000u;
}
/* The rate by the squares of updates. */
MPNUM_MATH_ float mpnum_adafactor_clipped_(const mpnum_adafactor_factors_ *f, float rate,
                                           mpnum_exact_sum *updates, uint64_t n) {
  const float one = mpnum_from_bits_f32(0x3f800000u);
  const float size = mpnum_div_scalar_(mpnum_adafactor_root_(updates, n), f->clip);
  return mpnum_div_scalar_(rate, mpnum_adafactor_larger_(one, size));
}

#endif

#if MPNUM_HAS_ARRAYS_

# define MPNUM_EACH_ISA_ "../../training/detail/adafactor.inc"
# include "../../simd/detail/each_isa.inc"

typedef struct mpnum_adafactor_pass_ {
  mpnum_optimizer_run_ squares, gather, average, inverse, update;
  mpnum_optimizer_pass_ steps; /* its step is the factored one */
  mpnum_adafactor_factors_ factors;
} mpnum_adafactor_pass_;

/* A matrix: its shape, its averages, and its tile of columns. */
typedef struct mpnum_adafactor_matrix_ {
  const mpnum_optimizer_tensor *t;
  size_t rows, columns;
  uint8_t *row_averages, *column_averages;
  size_t column, width;
} mpnum_adafactor_matrix_;

MPNUM_HOST mpnum_adafactor_matrix_
mpnum_adafactor_matrix_of_(const mpnum_optimizer_tensor *t) {
  mpnum_adafactor_matrix_ made;
  made.t = t;
  made.columns = t->columns ? t->columns : t->n;
  made.rows = made.columns ? t->n / made.columns : 0;
  made.row_averages = (uint8_t *)t->moment1;
  made.column_averages = (uint8_t *)t->moment2;
  made.column = made.width = 0;
  return made;
}
/* The next tile of columns; 0 where there is none. */
MPNUM_HOST int mpnum_adafactor_next_(mpnum_adafactor_matrix_ *matrix) {
  const size_t column = matrix->column + matrix->width, left = matrix->columns - column;
  matrix->column = column;
  matrix->width = left < MPNUM_OPTIMIZED_ ? left : MPNUM_OPTIMIZED_;
  return left != 0;
}
/* Floats of one row of a tile, where they are or in a buffer. */
MPNUM_HOST_ONCE_ const uint8_t *
mpnum_adafactor_floats_(const mpnum_adafactor_matrix_ *matrix, mpnum_type type,
                        const void *memory, size_t row, float *buffer) {
  const uint8_t *const at =
      mpnum_row_at_(type, memory, row * matrix->columns + matrix->column);
  if (type == MPNUM_TYPE_F32) return at;
  mpnum_floats_from_(type, buffer, at, matrix->width);
  return (const uint8_t *)(const void *)buffer;
}
MPNUM_HOST float mpnum_adafactor_at_(const uint8_t *floats, size_t i) {
  return mpnum_from_bits_f32((uint32_t)mpnum_element_(32, floats, i));
}
/* Averages of the squares of a row: a part of them joins. */
MPNUM_HOST void mpnum_adafactor_row_(const mpnum_adafactor_pass_ *pass,
                                     const mpnum_adafactor_matrix_ *matrix, size_t row,
                                     double squares) {
  const float average = mpnum_adafactor_at_(matrix->row_averages, row);
  mpnum_set_element_(32, matrix->row_averages, row,
                     mpnum_bits_f32(mpnum_adafactor_joined_(&pass->factors.steps, average,
                                                            matrix->column == 0, squares,
                                                            matrix->columns)));
}
/* Both averages, and, where the rate goes by it, the squares of parameters. */
MPNUM_HOST_ONCE_ void mpnum_adafactor_averages_(const mpnum_adafactor_pass_ *pass,
                                                mpnum_adafactor_matrix_ matrix,
                                                mpnum_exact_sum *parameters) {
  MPNUM_ALIGNED_ float buffer[MPNUM_OPTIMIZED_], gradient[MPNUM_OPTIMIZED_];
  MPNUM_ALIGNED_ float some[MPNUM_OPTIMIZED_], all[MPNUM_OPTIMIZED_];
  const mpnum_optimizer_tensor *const t = matrix.t;
  mpnum_optimizer_factors_ factors = pass->factors.steps;
  factors.rate = (float)matrix.rows;
  while (mpnum_adafactor_next_(&matrix)) {
    mpnum_optimizer_tile_ each, sums;
    size_t row = 0, i = 0;
    for (; i < MPNUM_OPTIMIZED_; ++i)
      some[i] = all[i] = 0;
    each.parameter = 0;
    each.moment1 = (uint8_t *)(void *)gradient;
    each.moment2 = sums.moment2 = (uint8_t *)(void *)some;
    sums.moment1 = (uint8_t *)(void *)all;
    sums.gradient = sums.moment1;
    sums.parameter = matrix.column_averages + 4 * matrix.column;
    for (; row < matrix.rows; ++row) {
      each.gradient =
          mpnum_adafactor_floats_(&matrix, t->gradient_type, t->gradient, row, buffer);
      mpnum_optimizer_run_over_(&pass->squares, &factors, &each, matrix.width);
      mpnum_adafactor_row_(pass, &matrix, row, mpnum_squares_(gradient, 0, matrix.width));
      if ((row + 1) % MPNUM_ADAFACTOR_ROWS_ == 0 || row + 1 == matrix.rows)
        mpnum_optimizer_run_over_(&pass->gather, &factors, &sums, matrix.width);
      if (!pass->factors.is_scaled) continue;
      mpnum_exact_sum_add_f64_(
          parameters, mpnum_squares_(mpnum_adafactor_floats_(&matrix, t->parameter_type,
                                                             t->parameter, row, buffer),
                                     0, matrix.width));
    }
    mpnum_optimizer_run_over_(&pass->average, &factors, &sums, matrix.width);
  }
}
/* The mean of the averages of rows. */
MPNUM_HOST float mpnum_adafactor_mean_(const mpnum_adafactor_matrix_ *matrix) {
  mpnum_exact_sum total = mpnum_exact_sum_empty();
  size_t i = 0;
  for (; i < matrix->rows; ++i)
    mpnum_exact_sum_add_f64_(&total,
                             (double)mpnum_adafactor_at_(matrix->row_averages, i));
  return mpnum_narrow_f64_(mpnum_adafactor_mean_of_(&total, matrix->rows));
}
/* Computes updates, tile by tile: their squares, or, where squares is NULL, the steps. */
MPNUM_HOST_ONCE_ void mpnum_adafactor_updates_(const mpnum_adafactor_pass_ *pass,
                                               mpnum_adafactor_matrix_ matrix,
                                               mpnum_exact_sum *squares) {
  MPNUM_ALIGNED_ float buffer[MPNUM_OPTIMIZED_], update[MPNUM_OPTIMIZED_];
  MPNUM_ALIGNED_ float inverse[MPNUM_OPTIMIZED_];
  const mpnum_optimizer_tensor *const t = matrix.t;
  const float root = mpnum_sqrt_raw_scalar_(mpnum_adafactor_mean_(&matrix));
  mpnum_optimizer_factors_ factors = pass->factors.steps;
  while (mpnum_adafactor_next_(&matrix)) {
    mpnum_optimizer_tile_ tile;
    size_t row = 0;
    tile.parameter = 0;
    tile.moment1 = (uint8_t *)(void *)update;
    tile.moment2 = (uint8_t *)(void *)inverse;
    tile.gradient = matrix.column_averages + 4 * matrix.column;
    mpnum_optimizer_run_over_(&pass->inverse, &factors, &tile, matrix.width);
    for (; row < matrix.rows; ++row) {
      const float average = mpnum_adafactor_at_(matrix.row_averages, row);
      factors.inverse = mpnum_div_scalar_(root, mpnum_sqrt_raw_scalar_(average));
      tile.gradient =
          mpnum_adafactor_floats_(&matrix, t->gradient_type, t->gradient, row, buffer);
      mpnum_optimizer_run_over_(&pass->update, &factors, &tile, matrix.width);
      if (squares) {
        mpnum_exact_sum_add_f64_(squares, mpnum_squares_(update, 0, matrix.width));
      } else {
        mpnum_optimizer_tile_of_(&pass->steps, t, tile.moment1,
                                 row * matrix.columns + matrix.column, matrix.width);
      }
    }
  }
}
/* All passes over one matrix. */
MPNUM_HOST_ONCE_ void mpnum_adafactor_tensor_(mpnum_adafactor_pass_ *pass,
                                              const mpnum_optimizer_tensor *t) {
  const mpnum_adafactor_matrix_ matrix = mpnum_adafactor_matrix_of_(t);
  mpnum_exact_sum squares = mpnum_exact_sum_empty();
  float rate = 0;
  if (t->n == 0) return;
  mpnum_adafactor_averages_(pass, matrix, &squares);
  rate = mpnum_adafactor_rate_(&pass->factors, &squares, t->n);
  pass->steps.factors.shrink = mpnum_mul_scalar_(rate, pass->factors.decay);
  if (mpnum_adafactor_clips_(&pass->factors)) {
    squares = mpnum_exact_sum_empty();
    mpnum_adafactor_updates_(pass, matrix, &squares);
    rate = mpnum_adafactor_clipped_(&pass->factors, rate, &squares, t->n);
  }
  pass->steps.factors.rate = rate;
  mpnum_adafactor_updates_(pass, matrix, 0);
}

#endif
MPNUM_C_END_
#endif

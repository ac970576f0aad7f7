/* SPDX-License-Identifier: MIT */
/* The pass over rows behind normalize.h: what each row is divided by is found, then the
 * row is. */
#ifndef MPNUM_DETAIL_SIMD_NORM_PASS_H
#define MPNUM_DETAIL_SIMD_NORM_PASS_H

#include "norm_loops.h"
#include "../../normalize_options.h"

#if MPNUM_HAS_ARRAYS

MPNUM_HOST double mpnum_row_total_(mpnum_tile_sum_ *sum, mpnum_const_rows src,
                                   size_t row) {
  return mpnum_sum_to_odd_(sum, mpnum_floats_of_(src.type),
                           (size_t)mpnum_type_bits_(src.type) / 8,
                           mpnum_rows_at_(src, row, 0), 0, src.columns);
}

/* What is done to each row. Where a caller has no use for a step it is NULL, and its
 * loops are not compiled. */
struct mpnum_norm_job_;
typedef const float *mpnum_norm_tile_(const struct mpnum_norm_job_ *job, size_t row,
                                      size_t first, size_t n, float *buffer,
                                      int is_again);
typedef void mpnum_norm_finish_(const struct mpnum_norm_job_ *job, size_t row,
                                size_t first, const float *y, size_t n);
typedef struct mpnum_norm_job_ {
  mpnum_norm_kind kind;
  mpnum_rows dst;
  mpnum_const_rows src;
  const mpnum_normalize_options *options;
  mpnum_norm_tile_ *tile;     /* the floats of a tile with the residual */
  mpnum_norm_finish_ *finish; /* what becomes of floats, unless they are stored */
  const void *more;           /* for finish */
} mpnum_norm_job_;

/* Floats of a tile; of f32 where they are. is_again: it was asked for before. */
MPNUM_HOST const float *mpnum_norm_floats_(const mpnum_norm_job_ *job, size_t row,
                                           size_t first, size_t n, float *buffer,
                                           int is_again) {
  const uint8_t *src = mpnum_rows_at_(job->src, row, first);
  if (job->tile) return (*job->tile)(job, row, first, n, buffer, is_again);
  if (job->src.type == MPNUM_TYPE_F32) return (const float *)(const void *)src;
  mpnum_floats_from_(job->src.type, buffer, src, n);
  return buffer;
}
/* Sums of a row, of its floats by a map unless that is NULL; values only of layer norm.
 * Of one tile returns its floats, else NULL. */
MPNUM_HOST const float *mpnum_norm_sums_(const mpnum_norm_job_ *job, size_t row,
                                         const mpnum_norm_map_ *map, double sums[2],
                                         float *buffer) {
  const size_t columns = job->src.columns;
  MPNUM_ALIGNED_ float moved[MPNUM_TILE_];
  const float *x = 0;
  mpnum_total values, squares;
  size_t i = 0;
  if (columns > MPNUM_TILE_) values = squares = mpnum_total_empty();
  for (; i < columns; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(columns, i);
    const float *terms = x = mpnum_norm_floats_(job, row, i, n, buffer, map != 0);
    if (map) {
      mpnum_norm_map_tile_(map, moved, x, 0, 0, n);
      terms = moved;
    }
    sums[0] = job->kind == MPNUM_NORM_LAYER ? mpnum_values_(terms, 0, n) : 0;
    sums[1] = mpnum_squares_(terms, 0, n);
    if (columns <= MPNUM_TILE_) return x;
    mpnum_total_add_f64_(&values, sums[0]);
    mpnum_total_add_f64_(&squares, sums[1]);
  }
  sums[0] = mpnum_total_to_odd_(values);
  sums[1] = mpnum_total_to_odd_(squares);
  return 0;
}
/* Of layer norm; sums are those of x power when they are taken anew, as they are where
 * the mean is so large that a difference of sums would be nothing but error. */
MPNUM_HOST double mpnum_norm_variance_(const mpnum_norm_job_ *job, size_t number,
                                       mpnum_norm_row_ *row, double sums[2],
                                       float *buffer) {
  const double columns = (double)job->src.columns, power = (double)row->map.power;
  const double mean = mpnum_div_f64_(sums[0], columns) * power;
  const double square = mpnum_div_f64_(sums[1], columns) * (power * power);
  const double variance =
      mpnum_opt_barrier_f64_(square - mpnum_opt_barrier_f64_(mean * mean));
  mpnum_norm_shift_(&row->map, row->map.power, mean);
  row->rest = mpnum_opt_barrier_f64_(mean - (double)row->map.mean);
  if (variance > square * (1.0 / 65536)) return variance;
  (void)mpnum_norm_sums_(job, number, &row->map, sums, buffer);
  row->rest = mpnum_div_f64_(sums[0], columns);
  return mpnum_opt_barrier_f64_(mpnum_div_f64_(sums[1], columns) -
                                mpnum_opt_barrier_f64_(row->rest * row->rest));
}
/* Finds row->map and what comes with it; returns the floats of a row of one tile. */
MPNUM_HOST const float *mpnum_norm_find_(const mpnum_norm_job_ *job, size_t number,
                                         mpnum_norm_row_ *row, float *buffer) {
  const double epsilon = (double)job->options->epsilon;
  const double least = job->kind == MPNUM_NORM_L2 ? epsilon * epsilon : 0;
  double sums[2], power, square;
  const float *x = mpnum_norm_sums_(job, number, 0, sums, buffer);
  mpnum_norm_shift_(&row->map, mpnum_norm_power_(sums[1], least), 0);
  power = (double)row->map.power;
  row->rest = 0;
  row->is_least = mpnum_bits_f64(sums[1]) < mpnum_bits_f64(least); /* both are >= 0 */
  if (mpnum_bits_f64(sums[1]) >> 52 == 0x7ff) {                    /* Inf or NaN */
    row->inverse = job->kind == MPNUM_NORM_L2 ? mpnum_inverse_root_(sums[1])
                                              : mpnum_from_bits_f64(0x7fffffffffffffffu);
    mpnum_norm_divide_(row);
    return x;
  }
  if (job->kind == MPNUM_NORM_LAYER) {
    square = mpnum_norm_variance_(job, number, row, sums, buffer);
    if (mpnum_bits_f64(square) >> 63) square = 0; /* by rounding */
  } else if (job->kind == MPNUM_NORM_RMS) {
    square = mpnum_div_f64_(sums[1], (double)job->src.columns) * (power * power);
  } else {
    square = (row->is_least ? least : sums[1]) * (power * power);
  }
  if (job->kind != MPNUM_NORM_L2)
    square = mpnum_add_f64_(square, epsilon * (power * power));
  row->inverse = mpnum_inverse_root_(square);
  mpnum_norm_divide_(row);
  return x;
}
/* What a caller may ask for. */
MPNUM_HOST void mpnum_norm_report_(const mpnum_norm_job_ *job, size_t number,
                                   const mpnum_norm_row_ *row) {
  const double power = (double)row->map.power;
  const double mean = mpnum_add_f64_((double)row->map.mean, row->rest);
  const int is_nan = mpnum_bits_f32(row->map.inverse) == 0x7fffffffu;
  if (job->options->mean)
    mpnum_set_float_(job->options->mean, number,
                     is_nan ? row->map.inverse : (float)mpnum_div_f64_(mean, power));
  if (job->options->inverse)
    mpnum_set_float_(job->options->inverse, number,
                     is_nan ? row->map.inverse
                            : (float)mpnum_opt_barrier_f64_(row->inverse * power));
}
MPNUM_HOST void mpnum_norm_one_(const mpnum_norm_job_ *job, size_t number) {
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_], y[MPNUM_TILE_];
  const float *weight = job->options->weight, *bias = job->options->bias;
  const int is_direct = !job->finish && job->dst.type == MPNUM_TYPE_F32;
  mpnum_norm_row_ row;
  const float *x = mpnum_norm_find_(job, number, &row, buffer);
  size_t i = 0;
  mpnum_norm_report_(job, number, &row);
  for (; i < job->src.columns; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(job->src.columns, i);
    void *to = is_direct ? (void *)mpnum_rows_to_(job->dst, number, i) : (void *)y;
    if (job->src.columns > MPNUM_TILE_)
      x = mpnum_norm_floats_(job, number, i, n, buffer, 1);
    mpnum_norm_map_tile_(&row.map, to, x, weight ? weight + i : weight,
                         bias ? bias + i : bias, n);
    if (job->finish) {
      (*job->finish)(job, number, i, y, n);
    } else if (!is_direct) {
      mpnum_floats_to_(job->dst.type, mpnum_rows_to_(job->dst, number, i), y, n);
    }
  }
}
MPNUM_HOST void mpnum_norm_all_(const mpnum_norm_job_ *job) {
  const uint64_t saved = mpnum_fenv_save_();
  size_t i = 0;
  for (; job->src.columns && i < job->src.rows; ++i)
    mpnum_norm_one_(job, i);
  mpnum_fenv_restore_(saved);
}
MPNUM_HOST mpnum_norm_job_ mpnum_norm_job_of_(mpnum_norm_kind kind, mpnum_rows dst,
                                              mpnum_const_rows src,
                                              const mpnum_normalize_options *options) {
  mpnum_norm_job_ job;
  job.kind = kind;
  job.dst = dst;
  job.src = src;
  job.options = options;
  job.tile = 0;
  job.finish = 0;
  job.more = 0;
  return job;
}
/* src + residual, stored where there is a sum. */
MPNUM_HOST const float *mpnum_norm_added_(const mpnum_norm_job_ *job, size_t row,
                                          size_t first, size_t n, float *buffer,
                                          int is_again) {
  const mpnum_const_rows residual = job->options->residual;
  const mpnum_rows sum = job->options->sum;
  uint8_t *to = sum.data ? mpnum_rows_to_(sum, row, first) : 0;
  MPNUM_ALIGNED_ float other[MPNUM_TILE_];
  if (!to || !is_again) {
    mpnum_floats_from_(job->src.type, buffer, mpnum_rows_at_(job->src, row, first), n);
    if (residual.data) {
      mpnum_floats_from_(residual.type, other, mpnum_rows_at_(residual, row, first), n);
      mpnum_norm_pairs_(0, buffer, buffer, other, n);
    }
    if (to) mpnum_floats_to_(sum.type, to, buffer, n);
  }
  if (to) mpnum_floats_from_(sum.type, buffer, to, n);
  return buffer;
}
MPNUM_HOST mpnum_status mpnum_norm_check_(mpnum_norm_kind kind, mpnum_const_rows src,
                                          const mpnum_normalize_options *options) {
  const mpnum_const_rows residual = options->residual;
  const mpnum_rows sum = options->sum;
  const int is_known =
      kind == MPNUM_NORM_LAYER || kind == MPNUM_NORM_RMS || kind == MPNUM_NORM_L2;
  if (!is_known || !mpnum_has_rows_(src.type) || !mpnum_is_factor_(options->epsilon))
    return MPNUM_ERROR_ARGUMENT;
  if (residual.data && (!mpnum_has_rows_(residual.type) || residual.rows != src.rows ||
                        residual.columns != src.columns))
    return MPNUM_ERROR_ARGUMENT;
  if (!sum.data) return MPNUM_OK;
  if (residual.data && mpnum_rows_check_(sum, residual) != MPNUM_OK)
    return MPNUM_ERROR_ARGUMENT;
  return mpnum_rows_check_(sum, src);
}

#endif
#endif

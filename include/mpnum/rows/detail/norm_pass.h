/* SPDX-License-Identifier: MIT */
/* The pass over rows behind normalize.h: what each row is divided by is found, then the
 * row is. */
#ifndef MPNUM_ROWS_DETAIL_NORM_PASS_H
#define MPNUM_ROWS_DETAIL_NORM_PASS_H

#include "norm_loops.h"
#include "../normalize_options.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

MPNUM_HOST double mpnum_row_total_(mpnum_tile_sum_ *sum, mpnum_const_matrix src,
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
  mpnum_matrix dst;
  mpnum_const_matrix src;
  const mpnum_normalize_options *options;
  mpnum_norm_tile_ *tile;     /* the floats of a tile with the residual */
  int is_dense;               /* for tile: rows are one behind the other */
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
/* a + b, rounded to odd: what a total of both gives. What the sum lacks is found by
 * Knuth's TwoSum; nothing is subnormal, as both are multiples of 2^-298. */
MPNUM_HOST double mpnum_norm_two_to_odd_(double a, double b) {
  const double sum = mpnum_add_f64_(a, b), of_b = mpnum_add_f64_(sum, -a);
  const double of_a = mpnum_add_f64_(sum, -of_b);
  const double lack = mpnum_add_f64_(mpnum_add_f64_(a, -of_a), mpnum_add_f64_(b, -of_b));
  const uint64_t bits = mpnum_bits_f64(sum), rest = mpnum_bits_f64(lack);
  const uint64_t infinite = (uint64_t)0x7ff << 52;
  if (bits << 1 == 0) return 0.0;
  if (bits << 1 > infinite << 1) return mpnum_from_bits_f64(0x7fffffffffffffffu);
  if (bits << 1 == infinite << 1 || rest << 1 == 0 || (bits & 1) != 0) return sum;
  return mpnum_from_bits_f64((bits ^ rest) >> 63 ? bits - 1 : bits + 1);
}
/* Sums of a row that is no single tile, of its floats by the map found unless that is
 * NULL. */
MPNUM_HOST_COLD_ void mpnum_norm_long_sums_(const mpnum_norm_job_ *job, size_t row,
                                            const mpnum_norm_row_ *found,
                                            double sums[2]) {
  const size_t columns = job->src.columns;
  const int has_values = job->kind == MPNUM_NORM_LAYER;
  const int are_two = columns <= 2 * MPNUM_TILE_;
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_];
  mpnum_exact_sum values, squares;
  double first[2] = {0, 0};
  size_t i = 0;
  if (!are_two) values = squares = mpnum_exact_sum_empty();
  for (; i < columns; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(columns, i);
    const float *x = mpnum_norm_floats_(job, row, i, n, buffer, found != 0);
    first[0] = i ? sums[0] : 0;
    first[1] = i ? sums[1] : 0;
    if (found) mpnum_norm_map_tile_(found, buffer, x, n);
    mpnum_norm_tile_sums_(has_values, sums, found ? buffer : x, 0, 1, n);
    if (are_two) continue;
    mpnum_exact_sum_add_f64_(&values, sums[0]);
    mpnum_exact_sum_add_f64_(&squares, sums[1]);
  }
  if (are_two) {
    sums[0] = mpnum_norm_two_to_odd_(first[0], sums[0]);
    sums[1] = mpnum_norm_two_to_odd_(first[1], sums[1]);
  } else {
    sums[0] = has_values ? mpnum_exact_sum_to_odd_(values) : 0;
    sums[1] = mpnum_exact_sum_to_odd_(squares);
  }
}
/* The variance about the mean in row->map. */
MPNUM_HOST_COLD_ double mpnum_norm_variance_(const mpnum_norm_job_ *job, size_t number,
                                             const float *x, mpnum_norm_row_ *row) {
  double sums[2] = {0, 0};
  if (x) {
    MPNUM_ALIGNED_ float moved[MPNUM_TILE_];
    mpnum_norm_map_tile_(row, moved, x, job->src.columns);
    mpnum_norm_tile_sums_(1, sums, moved, 0, 1, job->src.columns);
  } else {
    mpnum_norm_long_sums_(job, number, row, sums);
  }
  return mpnum_norm_about_((double)job->src.columns, sums, row);
}
/* From the sums of a row, whose floats are x if it is one tile, finds row. */
MPNUM_HOST void mpnum_norm_find_(const mpnum_norm_job_ *job, size_t number,
                                 const float *x, const double sums[2],
                                 mpnum_norm_row_ *row) {
  const double epsilon = (double)job->options->epsilon;
  double square = 0;
  const int step =
      mpnum_norm_begin_(job->kind, epsilon, (double)job->src.columns, sums, row, &square);
  if (step == 0) return;
  if (step == 2) square = mpnum_norm_variance_(job, number, x, row);
  mpnum_norm_end_(job->kind, epsilon, square, row);
}
/* What a caller may ask for. */
MPNUM_HOST void mpnum_norm_report_(const mpnum_norm_job_ *job, size_t number,
                                   const mpnum_norm_row_ *row) {
  if (job->options->mean)
    mpnum_set_float_(job->options->mean, number, mpnum_norm_mean_(row));
  if (job->options->inverse)
    mpnum_set_float_(job->options->inverse, number, mpnum_norm_inverse_(row));
}

/* As many rows as a tile holds, MPNUM_NORM_ROWS_ at most, or a part of one. */
# define MPNUM_NORM_ROWS_ 32
typedef struct mpnum_norm_group_ {
  mpnum_norm_run_ run;
  size_t row, first; /* element, of the row or rows */
  mpnum_norm_row_ found[MPNUM_NORM_ROWS_];
  MPNUM_ALIGNED_ float x[MPNUM_TILE_];
  MPNUM_ALIGNED_ float y[MPNUM_TILE_];
} mpnum_norm_group_;

/* Makes floats of so many rows, n elements of each from first on, without gaps. */
MPNUM_HOST void mpnum_norm_rows_made_(mpnum_const_matrix src, size_t row, size_t first,
                                      size_t rows, size_t n, float *buffer) {
  size_t i = 0;
  if (src.stride == n) { /* as one row */
    n *= rows;
    rows = 1;
  }
  for (; i < rows; ++i)
    mpnum_floats_from_(src.type, buffer + i * n, mpnum_rows_at_(src, row + i, first), n);
}
/* Returns these floats, of f32 where they are, and the bytes from one row to the next. */
MPNUM_HOST_INLINE_ const uint8_t *mpnum_norm_rows_from_(mpnum_const_matrix src,
                                                        size_t row, size_t first,
                                                        size_t rows, size_t n,
                                                        float *buffer, size_t *step) {
  *step = 4 * src.stride;
  if (src.type == MPNUM_TYPE_F32) return mpnum_rows_at_(src, row, first);
  *step = 4 * n;
  mpnum_norm_rows_made_(src, row, first, rows, n, buffer);
  return (const uint8_t *)buffer;
}
/* Floats of run.rows rows, run.columns elements of each. */
MPNUM_HOST void mpnum_norm_load_(const mpnum_norm_job_ *job, mpnum_norm_group_ *group,
                                 int is_again) {
  mpnum_norm_run_ *run = &group->run;
  size_t i = 0;
  run->src = (const uint8_t *)group->x;
  run->src_step = 4 * run->columns;
  if (job->tile && job->is_dense) {
    (void)(*job->tile)(job, group->row, group->first, run->rows * run->columns, group->x,
                       is_again);
  } else if (job->tile) {
    for (; i < run->rows; ++i)
      (void)(*job->tile)(job, group->row + i, group->first, run->columns,
                         group->x + i * run->columns, is_again);
  } else {
    run->src = mpnum_norm_rows_from_(job->src, group->row, group->first, run->rows,
                                     run->columns, group->x, &run->src_step);
  }
}
/* The rows, or the part, by what was found, to where they go. */
MPNUM_HOST void mpnum_norm_store_(const mpnum_norm_job_ *job, mpnum_norm_group_ *group) {
  const float *weight = job->options->weight, *bias = job->options->bias;
  const mpnum_type type = job->finish ? MPNUM_TYPE_F32 : job->dst.type;
  const int is_direct =
      !job->finish &&
      (type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16);
  mpnum_norm_run_ *run = &group->run;
  size_t n = run->columns, rows = run->rows, i = 0;
  run->found = group->found;
  run->dst_type = is_direct ? type : MPNUM_TYPE_F32;
  run->weight = weight ? weight + group->first : weight;
  run->bias = bias ? bias + group->first : bias;
  run->dst = (uint8_t *)group->y;
  run->dst_step = 4 * run->columns;
  if (is_direct) {
    run->dst = mpnum_rows_to_(job->dst, group->row, group->first);
    run->dst_step = job->dst.stride * (type == MPNUM_TYPE_F32 ? 4 : 2);
  }
  mpnum_norm_run_rows_(run);
  if (is_direct) return;
  if (job->dst.stride == run->columns) { /* as one row */
    n *= run->rows;
    rows = 1;
  }
  for (; i < rows; ++i) {
    const float *y = group->y + i * n;
    if (job->finish) {
      (*job->finish)(job, group->row + i, group->first, y, n);
    } else {
      mpnum_floats_to_(type, mpnum_rows_to_(job->dst, group->row + i, group->first), y,
                       n);
    }
  }
}
MPNUM_HOST void mpnum_norm_short_(const mpnum_norm_job_ *job, mpnum_norm_group_ *group) {
  const size_t columns = job->src.columns;
  const size_t fit = MPNUM_TILE_ / columns;
  const size_t most = fit < MPNUM_NORM_ROWS_ ? fit : MPNUM_NORM_ROWS_;
  size_t i = 0;
  for (group->row = 0; group->row < job->src.rows; group->row += group->run.rows) {
    const size_t left = job->src.rows - group->row;
    double sums[MPNUM_NORM_ROWS_][2];
    group->run.rows = left < most ? left : most;
    mpnum_norm_load_(job, group, 0);
    mpnum_norm_tile_sums_(job->kind == MPNUM_NORM_LAYER, sums[0], group->run.src,
                          group->run.src_step, group->run.rows, columns);
    for (i = 0; i < group->run.rows; ++i) {
      const uint8_t *x = group->run.src + i * group->run.src_step;
      mpnum_norm_find_(job, group->row + i, (const float *)(const void *)x, sums[i],
                       &group->found[i]);
      mpnum_norm_report_(job, group->row + i, &group->found[i]);
    }
    mpnum_norm_store_(job, group);
  }
}
MPNUM_HOST void mpnum_norm_long_(const mpnum_norm_job_ *job, mpnum_norm_group_ *group) {
  group->run.rows = 1;
  for (group->row = 0; group->row < job->src.rows; ++group->row) {
    double sums[2];
    mpnum_norm_long_sums_(job, group->row, 0, sums);
    mpnum_norm_find_(job, group->row, 0, sums, group->found);
    mpnum_norm_report_(job, group->row, group->found);
    for (group->first = 0; group->first < job->src.columns; group->first += MPNUM_TILE_) {
      group->run.columns = mpnum_tile_size_(job->src.columns, group->first);
      *group->run.columns_allow = -1; /* these are others */
      mpnum_norm_load_(job, group, 1);
      mpnum_norm_store_(job, group);
    }
  }
}
MPNUM_HOST void mpnum_norm_all_(const mpnum_norm_job_ *job) {
  const uint64_t saved = mpnum_fenv_save_();
  mpnum_norm_group_ group;
  int columns_allow = -1;
  group.first = 0;
  group.run.columns_allow = &columns_allow;
  group.run.has_saved = 0;
  group.run.columns = job->src.columns;
  group.run.encoding = mpnum_encoding_of_type_(MPNUM_TYPE_F16, 16, MPNUM_OVERFLOW_IEEE);
  if (job->src.columns > MPNUM_TILE_) {
    mpnum_norm_long_(job, &group);
  } else if (job->src.columns) {
    mpnum_norm_short_(job, &group);
  }
  mpnum_fenv_restore_(saved);
}
MPNUM_HOST mpnum_norm_job_ mpnum_norm_job_of_(mpnum_norm_kind kind, mpnum_matrix dst,
                                              mpnum_const_matrix src,
                                              const mpnum_normalize_options *options) {
  mpnum_norm_job_ job;
  job.kind = kind;
  job.dst = dst;
  job.src = src;
  job.options = options;
  job.tile = 0;
  job.is_dense = src.stride == src.columns;
  job.finish = 0;
  job.more = 0;
  return job;
}
/* src + residual, stored where there is a sum. */
MPNUM_HOST const float *mpnum_norm_added_(const mpnum_norm_job_ *job, size_t row,
                                          size_t first, size_t n, float *buffer,
                                          int is_again) {
  const mpnum_const_matrix residual = job->options->residual;
  const mpnum_matrix sum = job->options->sum;
  uint8_t *to = sum.data ? mpnum_rows_to_(sum, row, first) : 0;
  MPNUM_ALIGNED_ float other[MPNUM_TILE_];
  if (!to || !is_again) {
    mpnum_floats_from_(job->src.type, buffer, mpnum_rows_at_(job->src, row, first), n);
    if (residual.data) {
      mpnum_floats_from_(residual.type, other, mpnum_rows_at_(residual, row, first), n);
      mpnum_norm_pairs_(0, buffer, buffer, other, n);
    } else if (sum.type == MPNUM_TYPE_F32) { /* all others have one NaN */
      size_t i = 0;
      for (; i < n; ++i)
        buffer[i] = mpnum_canonical_(buffer[i]);
    }
    if (to) mpnum_floats_to_(sum.type, to, buffer, n);
  }
  if (to) mpnum_floats_from_(sum.type, buffer, to, n);
  return buffer;
}
MPNUM_HOST void mpnum_norm_add_(mpnum_norm_job_ *job) {
  const mpnum_const_matrix residual = job->options->residual;
  const mpnum_matrix sum = job->options->sum;
  if (!residual.data && !sum.data) return;
  job->tile = mpnum_norm_added_;
  job->is_dense = job->is_dense &&
                  (!residual.data || residual.stride == residual.columns) &&
                  (!sum.data || sum.stride == sum.columns);
}
MPNUM_HOST mpnum_status mpnum_norm_check_(mpnum_norm_kind kind, mpnum_const_matrix src,
                                          const mpnum_normalize_options *options) {
  const mpnum_const_matrix residual = options->residual;
  const mpnum_matrix sum = options->sum;
  const int is_known =
      kind == MPNUM_NORM_LAYER || kind == MPNUM_NORM_RMS || kind == MPNUM_NORM_L2;
  mpnum_status status = mpnum_source_check_(src);
  if (status != MPNUM_OK) return status;
  if (!is_known || !mpnum_is_factor_(options->epsilon)) return MPNUM_ERROR_ARGUMENT;
  if (residual.data) {
    if (!mpnum_has_rows_(residual.type)) return MPNUM_ERROR_TYPE;
    if (residual.rows != src.rows || residual.columns != src.columns)
      return MPNUM_ERROR_SHAPE;
  }
  if (!sum.data) return MPNUM_OK;
  if (residual.data) status = mpnum_rows_check_(sum, residual);
  return status == MPNUM_OK ? mpnum_rows_check_(sum, src) : status;
}
/* Whether results leave a residual and a sum alone. */
MPNUM_HOST mpnum_status mpnum_norm_places_(mpnum_matrix dst,
                                           const mpnum_normalize_options *options) {
  return mpnum_rows_overlap_(dst, options->residual) ||
                 mpnum_rows_overlap_(dst, mpnum_rows_read_(options->sum))
             ? MPNUM_ERROR_OVERLAP
             : MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

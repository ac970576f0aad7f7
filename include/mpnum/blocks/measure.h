/* SPDX-License-Identifier: MIT */
/* Measures the error of quantised values against their source.
 *
 *     mpnum_measure measure = mpnum_measure_empty();
 *     status = mpnum_measure_blocks(&measure, source, &format, quantized);
 *     printf("%.1f dB\n", mpnum_measure_summary(&measure).sqnr);
 *
 * A result is compared with its source, element by element, in doubles. Sums are exact
 * (exact_sum.h), so the measures of parts of a matrix, of tensors, threads and ranks
 * merge to the same bits. Domain   f32, f16, bf16 and f64. Magnitudes of 2^128 and above
 * count as Inf; what lies below 2^-298 in a product or an error of f64 values is not
 * summed. NaN      a pair with Inf or NaN is counted as such and enters no other figure.
 * Bits     the same for every ISA, flags and floating-point environment.
 * Status   MPNUM_ERROR_NULL; MPNUM_ERROR_TYPE; MPNUM_ERROR_SHAPE: shapes differ or are
 *   more than memory can hold; for blocks those of mpnum_dequantize_blocks;
 *   MPNUM_ERROR_ARGUMENT: limit is NaN or negative. Nothing is written then.
 * Host only. docs/measure.md. */
#ifndef MPNUM_BLOCKS_MEASURE_H
#define MPNUM_BLOCKS_MEASURE_H

#include "blockscale.h"
#include "detail/blockscale_pass.h"
#include "../array/exact_sum.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Counts and sums over pairs of a source value and its result. */
typedef struct mpnum_measure {
  uint64_t count;            /* finite pairs; all but *_nonfinite cover only these */
  uint64_t unequal;          /* results other than their source; -0 equals 0 */
  uint64_t clipped;          /* sources beyond the largest value a result can have */
  uint64_t flushed;          /* nonzero sources whose result is 0 */
  uint64_t source_nonfinite; /* sources that are Inf or NaN */
  uint64_t result_nonfinite; /* results that are Inf or NaN, of finite sources */
  double max_error;          /* largest magnitude of result minus source */
  double max_relative_error; /* largest error over magnitude of the source, if not 0 */
  mpnum_exact_sum source_squares, result_squares, products;
  mpnum_exact_sum errors, error_squares;
} mpnum_measure;

/* A measure of no pairs. */
MPNUM_HOST mpnum_measure mpnum_measure_empty(void) {
  mpnum_measure measure;
  measure.count = measure.unequal = measure.clipped = measure.flushed = 0;
  measure.source_nonfinite = measure.result_nonfinite = 0;
  measure.max_error = measure.max_relative_error = 0;
  measure.source_squares = measure.result_squares = measure.products =
      mpnum_exact_sum_empty();
  measure.errors = measure.error_squares = measure.products;
  return measure;
}
MPNUM_HOST_INLINE_ double mpnum_larger_f64_(double a, double b) {
  return mpnum_magnitude_f64_(b) > mpnum_magnitude_f64_(a) ? b : a;
}
/* Adds the pairs of other to measure. */
MPNUM_HOST void mpnum_measure_merge(mpnum_measure *measure, const mpnum_measure *other) {
  measure->count += other->count;
  measure->unequal += other->unequal;
  measure->clipped += other->clipped;
  measure->flushed += other->flushed;
  measure->source_nonfinite += other->source_nonfinite;
  measure->result_nonfinite += other->result_nonfinite;
  measure->max_error = mpnum_larger_f64_(measure->max_error, other->max_error);
  measure->max_relative_error =
      mpnum_larger_f64_(measure->max_relative_error, other->max_relative_error);
  measure->source_squares =
      mpnum_exact_sum_merge(measure->source_squares, other->source_squares);
  measure->result_squares =
      mpnum_exact_sum_merge(measure->result_squares, other->result_squares);
  measure->products = mpnum_exact_sum_merge(measure->products, other->products);
  measure->errors = mpnum_exact_sum_merge(measure->errors, other->errors);
  measure->error_squares =
      mpnum_exact_sum_merge(measure->error_squares, other->error_squares);
}

/* --- Figures --- */

typedef struct mpnum_measure_figures {
  double sqnr;      /* dB: power of the source over power of the error; Inf: no error */
  double cosine;    /* of the angle between source and result; 1: no error, 0: one is 0 */
  double rms_error; /* root of the mean square of the error */
  double max_error, max_relative_error;
  double bias;                         /* mean of result minus source */
  double clipped_share, flushed_share; /* shares of the finite pairs */
} mpnum_measure_figures;

MPNUM_HOST double mpnum_wide_nearest_f64_(mpnum_wide_ x) {
  const uint64_t kept = x.significand >> 11, rest = x.significand & 0x7ff;
  const double magnitude =
      x.significand ? mpnum_wide_cut_to_f64_(x, kept + (rest + (kept & 1) > 0x400)) : 0;
  return mpnum_from_bits_f64(mpnum_bits_f64(magnitude) | (uint64_t)x.negative << 63);
}
MPNUM_HOST mpnum_wide_ mpnum_wide_total_(const mpnum_exact_sum *total) {
  const double sum = mpnum_exact_sum_to_odd_(*total);
  mpnum_wide_ x = {0, 0, 0};
  if (mpnum_magnitude_f64_(sum) == 0) return x;
  x = mpnum_wide_f64_(mpnum_from_bits_f64(mpnum_magnitude_f64_(sum)));
  x.negative = (int)(mpnum_bits_f64(sum) >> 63);
  return x;
}
MPNUM_HOST mpnum_wide_ mpnum_wide_count_(uint64_t n) {
  return mpnum_wide_normal_(n, 0, 0);
}
/* 10 log10(signal / noise) */
MPNUM_HOST double mpnum_decibels_(mpnum_wide_ signal, mpnum_wide_ noise) {
  const uint64_t infinity = (uint64_t)0x7ff << 52;
  if (noise.significand == 0) return mpnum_from_bits_f64(infinity);
  if (signal.significand == 0) return mpnum_from_bits_f64(infinity | (uint64_t)1 << 63);
  return mpnum_wide_nearest_f64_(
      mpnum_wide_mul_(mpnum_wide_mul_(mpnum_wide_int_(10), mpnum_wide_log10_e_()),
                      mpnum_wide_log_(mpnum_wide_div_(signal, noise))));
}
/* Computes figures over the finite pairs; sqnr, cosine, bias and shares are NaN if there
 * are none.
 * Error: 2^-50 of each figure, or of 1 dB. */
MPNUM_HOST mpnum_measure_figures mpnum_measure_summary(const mpnum_measure *measure) {
  const double none = mpnum_from_bits_f64(0x7fffffffffffffffu);
  const mpnum_wide_ source = mpnum_wide_total_(&measure->source_squares);
  const mpnum_wide_ result = mpnum_wide_total_(&measure->result_squares);
  const mpnum_wide_ noise = mpnum_wide_total_(&measure->error_squares);
  const mpnum_wide_ count = mpnum_wide_count_(measure->count);
  mpnum_wide_ cosine = mpnum_wide_total_(&measure->products);
  mpnum_measure_figures figures = {none, none, 0, 0, 0, none, none, none};
  if (measure->count == 0) return figures;
  figures.sqnr = mpnum_decibels_(source, noise);
  figures.max_error = measure->max_error;
  figures.max_relative_error = measure->max_relative_error;
  if (noise.significand)
    figures.rms_error =
        mpnum_wide_nearest_f64_(mpnum_wide_sqrt_(mpnum_wide_div_(noise, count)));
  figures.bias = mpnum_wide_nearest_f64_(
      mpnum_wide_div_(mpnum_wide_total_(&measure->errors), count));
  figures.clipped_share = mpnum_wide_nearest_f64_(
      mpnum_wide_div_(mpnum_wide_count_(measure->clipped), count));
  figures.flushed_share = mpnum_wide_nearest_f64_(
      mpnum_wide_div_(mpnum_wide_count_(measure->flushed), count));
  figures.cosine = measure->unequal == 0;
  if (measure->unequal && cosine.significand) {
    cosine = mpnum_wide_div_(cosine, mpnum_wide_sqrt_(mpnum_wide_mul_(source, result)));
    if (cosine.exponent > -64) /* rounding made it 1 or more */
      cosine = mpnum_wide_make_((uint64_t)1 << 63, -63, cosine.negative);
    figures.cosine = mpnum_wide_nearest_f64_(cosine);
  }
  return figures;
}

/* --- Pairs --- */

# define MPNUM_PAIRS_ 512

/* Adds a pair. limit: bits of the largest magnitude that does not count as clipped. */
MPNUM_HOST void mpnum_measure_pair_(mpnum_measure *measure, double x, double y,
                                    uint64_t limit) {
  const uint64_t too_large = (uint64_t)(1023 + 128) << 52;
  const uint64_t x_bits = mpnum_magnitude_f64_(x), y_bits = mpnum_magnitude_f64_(y);
  double error = 0;
  if (x_bits >= too_large) {
    ++measure->source_nonfinite;
    return;
  }
  if (y_bits >= too_large) {
    ++measure->result_nonfinite;
    return;
  }
  ++measure->count;
  measure->clipped += x_bits > limit && x_bits > y_bits && y_bits != 0;
  measure->flushed += x_bits != 0 && y_bits == 0;
  mpnum_exact_sum_add_f64_(&measure->source_squares, mpnum_opt_barrier_f64_(x * x));
  mpnum_exact_sum_add_f64_(&measure->result_squares, mpnum_opt_barrier_f64_(y * y));
  mpnum_exact_sum_add_f64_(&measure->products, mpnum_opt_barrier_f64_(x * y));
  error = mpnum_opt_barrier_f64_(y - x);
  if (mpnum_magnitude_f64_(error) == 0) return;
  ++measure->unequal;
  mpnum_exact_sum_add_f64_(&measure->errors, error);
  mpnum_exact_sum_add_f64_(&measure->error_squares,
                           mpnum_opt_barrier_f64_(error * error));
  error = mpnum_from_bits_f64(mpnum_magnitude_f64_(error));
  measure->max_error = mpnum_larger_f64_(measure->max_error, error);
  if (x_bits == 0) return;
  error = mpnum_div_f64_(error, mpnum_from_bits_f64(x_bits));
  measure->max_relative_error = mpnum_larger_f64_(measure->max_relative_error, error);
}
MPNUM_HOST mpnum_status mpnum_measured_check_(mpnum_const_matrix rows) {
  if (rows.rows == 0 || rows.columns == 0) return MPNUM_OK;
  if (rows.type != MPNUM_TYPE_F64 && !mpnum_has_floats_(rows.type))
    return MPNUM_ERROR_TYPE;
  if (!rows.data) return MPNUM_ERROR_NULL;
  return mpnum_extent_(rows.rows, rows.columns, rows.stride, mpnum_type_bits_(rows.type))
             ? MPNUM_OK
             : MPNUM_ERROR_SHAPE;
}
/* Converts n elements of a row, at most MPNUM_PAIRS_, to doubles. */
MPNUM_HOST void mpnum_row_doubles_(double *dst, mpnum_const_matrix src, size_t row,
                                   size_t column, size_t n) {
  const size_t size = (size_t)mpnum_type_bits_(src.type) / 8;
  const uint8_t *const at =
      (const uint8_t *)src.data + (row * src.stride + column) * size;
  MPNUM_ALIGNED_ float floats[MPNUM_PAIRS_];
  size_t i = 0;
  if (src.type == MPNUM_TYPE_F64) {
    MPNUM_MEMCPY_(dst, at, n * sizeof *dst);
    return;
  }
  mpnum_floats_from_(src.type, floats, at, n);
  for (; i < n; ++i)
    dst[i] = (double)floats[i];
}
/* Adds the pairs of two matrices of one shape. Sources of a magnitude above limit count
 * as clipped: pass the largest magnitude that the format of the result holds at its
 * scale, or 0 to count none. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_measure_rows(mpnum_measure *measure,
                                                            mpnum_const_matrix source,
                                                            mpnum_const_matrix result,
                                                            double limit) {
  const uint64_t infinity = (uint64_t)0x7ff << 52, bits = mpnum_bits_f64(limit);
  const uint64_t most = bits == 0 ? infinity : bits;
  uint64_t saved = 0;
  size_t row = 0, column = 0, i = 0;
  mpnum_status status = MPNUM_OK;
  if (source.rows != result.rows || source.columns != result.columns)
    return MPNUM_ERROR_SHAPE;
  if (!source.rows || !source.columns) return MPNUM_OK;
  if (!measure) return MPNUM_ERROR_NULL;
  if (bits > infinity) return MPNUM_ERROR_ARGUMENT; /* NaN, negative */
  status = mpnum_measured_check_(source);
  if (status == MPNUM_OK) status = mpnum_measured_check_(result);
  if (status != MPNUM_OK) return status;
  saved = mpnum_fenv_save_();
  for (; row < source.rows; ++row)
    for (column = 0; column < source.columns; column += MPNUM_PAIRS_) {
      const size_t left = source.columns - column;
      const size_t n = left < MPNUM_PAIRS_ ? left : MPNUM_PAIRS_;
      double x[MPNUM_PAIRS_], y[MPNUM_PAIRS_];
      mpnum_row_doubles_(x, source, row, column, n);
      mpnum_row_doubles_(y, result, row, column, n);
      for (i = 0; i < n; ++i)
        mpnum_measure_pair_(measure, x[i], y[i], most);
    }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* --- Blocks --- */

/* Adds n pairs of a row, beginning at the border of a block. */
MPNUM_HOST void mpnum_measure_strip_(mpnum_measure *measure, mpnum_const_matrix source,
                                     const mpnum_block_job_ *job, uint32_t tie,
                                     uint64_t is_odd, size_t row, size_t column,
                                     size_t n) {
  MPNUM_ALIGNED_ float factors[MPNUM_RUN_];
  MPNUM_ALIGNED_ float floats[MPNUM_PAIRS_];
  double x[MPNUM_PAIRS_];
  const size_t wide = job->columns;
  const size_t count = job->shift == 31 ? 1 : mpnum_blocks_along_(n, wide);
  const double past = (double)mpnum_from_bits_f32(tie);
  const double divisor = (double)job->codes.scale;
  size_t c = 0, i = 0;
  mpnum_load_scales_(job, factors, row / job->rows, column / wide, count);
  for (; c < n; c += MPNUM_PAIRS_) {
    const size_t size = n - c < MPNUM_PAIRS_ ? n - c : MPNUM_PAIRS_;
    MPNUM_ALIGNED_ float each[MPNUM_PAIRS_];
    for (i = 0; i < size; ++i)
      each[i] = factors[job->shift == 31 ? 0 : (c + i) / wide];
    mpnum_dequantize_floats_(&job->scaling, floats,
                             mpnum_block_codes_(job, row, column + c),
                             mpnum_factors_of_(each, -1), size);
    mpnum_row_doubles_(x, source, row, column + c, size);
    for (i = 0; i < size; ++i) {
      const double limit =
          mpnum_div_f64_(mpnum_opt_barrier_f64_(past * (double)each[i]), divisor);
      mpnum_measure_pair_(measure, x[i], (double)floats[i],
                          mpnum_magnitude_f64_(limit) - is_odd);
    }
  }
}
/* Adds the pairs of a matrix and its quantised form, as mpnum_dequantize_blocks decodes
 * it. Sources that round past the largest element at the stored scale count as
 * clipped. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_measure_blocks(mpnum_measure *measure, mpnum_const_matrix source,
                     const mpnum_blockscale_format *format, mpnum_blockscaled result) {
  mpnum_status status = MPNUM_OK;
  mpnum_block_job_ job;
  uint64_t saved = 0, is_odd = 0; /* 1: a tie rounds up, past the largest */
  size_t row = 0, column = 0;
  if (!source.rows || !source.columns) return MPNUM_OK;
  if (!measure) return MPNUM_ERROR_NULL;
  status = mpnum_measured_check_(source);
  if (status == MPNUM_OK)
    status = mpnum_codes_check_(format, &result, source.rows, source.columns);
  if (status != MPNUM_OK) return status;
  mpnum_block_job_of_(
      &job, format, result,
      mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, source.rows, source.columns));
  is_odd = !mpnum_is_stochastic_(format->rounding) &&
           (format->is_int8 || (format->element.max_code & 1));
  job.scaling.has_divisor = job.is_two_level;
  job.scaling.divisor = result.scale;
  saved = mpnum_fenv_save_();
  for (; row < source.rows; ++row)
    for (column = 0; column < source.columns; column += job.strip) {
      const size_t left = source.columns - column;
      mpnum_measure_strip_(measure, source, &job,
                           job.scaling.last_kept + (uint32_t)is_odd, is_odd, row, column,
                           left < job.strip ? left : job.strip);
    }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}
# undef MPNUM_PAIRS_

#endif
MPNUM_C_END_
#endif

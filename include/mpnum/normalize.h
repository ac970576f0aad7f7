/* SPDX-License-Identifier: MIT */
/* Rows divided by their length or deviation, which neither overflows nor vanishes: layer
 * norm, RMS norm, L2 normalisation.
 *
 *     mpnum_rms_norm_rows(mpnum_rows_of(MPNUM_TYPE_BF16, y, rows, n),
 *                         mpnum_const_rows_of(MPNUM_TYPE_BF16, x, rows, n), weight,
 *                         1e-6f);
 *
 * Sums are doubles, in one order (reduce.h); the denominator is a float of [1, 2) and a
 * power of two, so rows of the largest or of subnormal numbers are as precise as others.
 * Domain: rows (rows.h) of f32, f16, bf16, e5m2 or e4m3; dst has as many as src; epsilon
 *   finite, 0 and up. weight and bias are columns floats, or NULL: 1, 0. All at any
 *   address. dst may be src where both have one type and stride; otherwise arrays do not
 *   overlap.
 * NaN: a row with NaN or Inf is NaN, but for l2, where finite elements beside Inf are 0.
 * Error: 3 ulps of the result before weight and bias, cancelling in x - mean aside.
 * Status: MPNUM_ERROR_ARGUMENT for another type or epsilon, rows or columns that differ,
 *   a stride of dst below its columns, dst in the place of src with another type or
 *   stride; nothing is written then. Host only. */
#ifndef MPNUM_NORMALIZE_H
#define MPNUM_NORMALIZE_H

#include "reduce.h"
#include "rows.h"
#include "detail/simd/rows_loops.h"

#if MPNUM_HAS_ARRAYS

/* root / inverse_power, root from 1 to 2. Of a square that is 0: 1, of Inf or NaN the
 * same and 1. */
typedef struct mpnum_length_ {
  float root;
  double inverse_power;
} mpnum_length_;
MPNUM_HOST mpnum_length_ mpnum_length_of_(double square) {
  const uint64_t bits = mpnum_bits_f64(square);
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  const int half_way = (exponent + 2046) / 2 - 1023; /* rounded down */
  mpnum_length_ length = {1, 1};
  if (mpnum_is_zero_u63_(bits & 0x7fffffffffffffffu)) return length;
  if (bits >> 63 || exponent == 1024) {
    length.root = mpnum_root_(square);
    return length;
  }
  length.root = mpnum_root_(mpnum_from_bits_f64(
      bits - ((uint64_t)(uint32_t)(2 * half_way + 2046) << 52) + ((uint64_t)2046 << 52)));
  length.inverse_power = mpnum_from_bits_f64((uint64_t)(1023 - half_way) << 52);
  return length;
}
/* x / length, rounded to a float and once more. */
MPNUM_HOST_INLINE_ float mpnum_over_length_(double x, mpnum_length_ length) {
  return mpnum_div_scalar_((float)mpnum_opt_barrier_f64_(x * length.inverse_power),
                           length.root);
}

typedef enum mpnum_norm_ {
  MPNUM_NORM_LAYER_,
  MPNUM_NORM_RMS_,
  MPNUM_NORM_L2_
} mpnum_norm_;

/* The sum of (x - mean)^2 of a row. */
MPNUM_HOST double mpnum_row_deviation_(mpnum_const_rows src, size_t row, double mean) {
  MPNUM_ALIGNED_ float x[MPNUM_TILE_];
  double lanes[8] = {0};
  size_t i = 0, k = 0;
  for (; i < src.columns; i += MPNUM_TILE_) {
    const size_t count = mpnum_tile_size_(src.columns, i);
    mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, row, i), count);
    for (k = 0; k < count; ++k) {
      const double difference = mpnum_opt_barrier_f64_((double)x[k] - mean);
      lanes[k % 8] =
          mpnum_add_f64_(lanes[k % 8], mpnum_opt_barrier_f64_(difference * difference));
    }
  }
  for (k = 1; k < 8; ++k)
    lanes[0] = mpnum_add_f64_(lanes[0], lanes[k]);
  return lanes[0];
}
MPNUM_HOST double mpnum_row_total_(mpnum_tile_sum_ *sum, mpnum_const_rows src,
                                   size_t row) {
  return mpnum_sum_to_odd_(sum, mpnum_floats_of_(src.type),
                           (size_t)mpnum_type_bits_(src.type) / 8,
                           mpnum_rows_at_(src, row, 0), 0, src.columns);
}
MPNUM_HOST void mpnum_norm_row_(mpnum_norm_ norm, mpnum_rows dst, mpnum_const_rows src,
                                size_t row, const float *weight, const float *bias,
                                float epsilon) {
  const double columns = (double)src.columns;
  MPNUM_ALIGNED_ float x[MPNUM_TILE_];
  double mean = 0, square = 0;
  mpnum_length_ length;
  size_t i = 0, k = 0;
  if (norm == MPNUM_NORM_LAYER_) {
    mean = mpnum_div_f64_(mpnum_row_total_(mpnum_values_, src, row), columns);
    square = mpnum_row_deviation_(src, row, mean);
  } else {
    square = mpnum_row_total_(mpnum_squares_, src, row);
  }
  if (norm == MPNUM_NORM_L2_) {
    const double least = mpnum_opt_barrier_f64_((double)epsilon * (double)epsilon);
    if (mpnum_bits_f64(square) < mpnum_bits_f64(least))
      square = least; /* both are >= 0 */
  } else {
    square = mpnum_add_f64_(mpnum_div_f64_(square, columns), (double)epsilon);
  }
  length = mpnum_length_of_(square);
  if (norm == MPNUM_NORM_RMS_ && mpnum_bits_f64(square) >> 52 == 0x7ff)
    length.root = mpnum_from_bits_f32(0x7fffffffu);
  for (; i < src.columns; i += MPNUM_TILE_) {
    const size_t count = mpnum_tile_size_(src.columns, i);
    mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, row, i), count);
    for (k = 0; k < count; ++k) {
      float y = mpnum_over_length_(mpnum_opt_barrier_f64_((double)x[k] - mean), length);
      if (weight) y = mpnum_mul_scalar_(y, mpnum_float_at_(weight, i + k));
      if (bias) y = mpnum_add_scalar_(y, mpnum_float_at_(bias, i + k));
      x[k] = mpnum_canonical_(y);
    }
    mpnum_floats_to_(dst.type, mpnum_rows_to_(dst, row, i), x, count);
  }
}
MPNUM_HOST mpnum_status mpnum_norm_rows_(mpnum_norm_ norm, mpnum_rows dst,
                                         mpnum_const_rows src, const float *weight,
                                         const float *bias, float epsilon) {
  const mpnum_status status = mpnum_rows_check_(dst, src);
  uint64_t saved = 0;
  size_t i = 0;
  if (status != MPNUM_OK) return status;
  if (!mpnum_is_factor_(epsilon)) return MPNUM_ERROR_ARGUMENT;
  saved = mpnum_fenv_save_();
  for (; src.columns && i < src.rows; ++i)
    mpnum_norm_row_(norm, dst, src, i, weight, bias, epsilon);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* (x - mean) / sqrt(variance + epsilon) * weight + bias, the variance with 1 / columns
 * (Ba, Kiros, Hinton 2016). Of a row of equal elements and epsilon 0: the bias. */
MPNUM_HOST mpnum_status mpnum_layer_norm_rows(mpnum_rows dst, mpnum_const_rows src,
                                              const float *weight, const float *bias,
                                              float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_LAYER_, dst, src, weight, bias, epsilon);
}
/* x / sqrt(mean of squares + epsilon) * weight (Zhang, Sennrich 2019). A row of zeros is
 * zeros. */
MPNUM_HOST mpnum_status mpnum_rms_norm_rows(mpnum_rows dst, mpnum_const_rows src,
                                            const float *weight, float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_RMS_, dst, src, weight, 0, epsilon);
}
/* x / max(length, epsilon). A row of zeros is zeros; a tiny row, of subnormals say, has
 * length 1 like others, unless epsilon is larger. */
MPNUM_HOST mpnum_status mpnum_l2_normalize_rows(mpnum_rows dst, mpnum_const_rows src,
                                                float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_L2_, dst, src, 0, 0, epsilon);
}

#endif
#endif

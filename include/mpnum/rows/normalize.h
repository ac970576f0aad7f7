/* SPDX-License-Identifier: MIT */
/* Layer norm, RMS norm and L2 normalisation of rows, which neither overflow nor vanish.
 * Their gradients: normalize_backward.h. To 8 bits with a scale: normalize_quantize.h.
 *
 *     mpnum_rms_norm_rows(mpnum_matrix_of(MPNUM_TYPE_BF16, y, rows, n),
 *                         mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, rows, n), weight,
 *                         1e-6f);
 *
 * Sums are doubles in one order (reduce.h). The inverse that multiplies a row comes with
 * a power of two, so rows of the largest or of subnormal numbers are as precise as
 * others.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3; dst has the shape of src;
 *   epsilon finite, 0 or above. weight and bias: one float for each column, or NULL for
 *   1 and 0. All at any address. dst may be src if both have the same type and stride;
 *   otherwise arrays must not overlap.
 * NaN: a row with NaN or Inf gives NaN, but in L2 finite elements beside Inf give 0.
 * Error: before weight and bias 1.51 ulps for RMS norm and L2; 2.51 for layer norm and,
 *   as x - mean cancels, 2^-50 of mean times inverse. Weight and bias round once more,
 *   together, then the type of dst rounds. (test_normalize.c)
 * Bits: the same from every instruction set, and batch invariance: a row has the same
 *   bits alone and in any batch.
 * Status: MPNUM_ERROR_TYPE; MPNUM_ERROR_SHAPE: rows or columns differ;
 *   MPNUM_ERROR_STRIDE: the stride of dst is below its columns; MPNUM_ERROR_NULL: no
 *   data, but elements; MPNUM_ERROR_OVERLAP: dst overlaps src, or has the same place and
 *   another type or stride; MPNUM_ERROR_ARGUMENT: epsilon negative or not finite.
 *   Nothing is written then. Without elements pointers may be anything. Host only. */
#ifndef MPNUM_ROWS_NORMALIZE_H
#define MPNUM_ROWS_NORMALIZE_H

#include "../array/reduce.h"
#include "../array/matrix.h"
#include "normalize_options.h"
#include "detail/norm_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

MPNUM_HOST mpnum_status mpnum_norm_rows_(mpnum_norm_kind kind, mpnum_matrix dst,
                                         mpnum_const_matrix src, const float *weight,
                                         const float *bias, float epsilon) {
  mpnum_normalize_options options = mpnum_normalize_default();
  const mpnum_norm_job_ job = mpnum_norm_job_of_(kind, dst, src, &options);
  const mpnum_status status = mpnum_rows_check_(dst, src);
  if (status != MPNUM_OK) return status;
  if (!mpnum_is_factor_(epsilon)) return MPNUM_ERROR_ARGUMENT;
  options.weight = weight;
  options.bias = bias;
  options.epsilon = epsilon;
  mpnum_norm_all_(&job);
  return MPNUM_OK;
}

/* Layer norm: (x - mean) / sqrt(variance + epsilon) * weight + bias; the variance
 * divides by the number of columns (Ba, Kiros, Hinton 2016). A row of equal elements
 * gives the bias. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_layer_norm_rows(mpnum_matrix dst,
                                                               mpnum_const_matrix src,
                                                               const float *weight,
                                                               const float *bias,
                                                               float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_LAYER, dst, src, weight, bias, epsilon);
}
/* RMS norm: x / sqrt(mean of squares + epsilon) * weight (Zhang, Sennrich 2019). A row
 * of zeros gives zeros. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_rms_norm_rows(mpnum_matrix dst,
                                                             mpnum_const_matrix src,
                                                             const float *weight,
                                                             float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_RMS, dst, src, weight, 0, epsilon);
}
/* L2: x / max(length, epsilon). A row of zeros gives zeros; a tiny row, even of
 * subnormals, gets length 1 like any other, unless epsilon is larger. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_l2_normalize_rows(mpnum_matrix dst,
                                                                 mpnum_const_matrix src,
                                                                 float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_L2, dst, src, 0, 0, epsilon);
}

/* Any of these norms with all options. options NULL: the defaults. Status:
 * MPNUM_ERROR_ARGUMENT also for an unknown kind; MPNUM_ERROR_SHAPE, _TYPE and _STRIDE
 * also for residual and sum; MPNUM_ERROR_OVERLAP also if sum overlaps src or residual
 * other than in place, or dst overlaps residual or sum. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_normalize_rows(mpnum_norm_kind kind, mpnum_matrix dst, mpnum_const_matrix src,
                     const mpnum_normalize_options *options) {
  const mpnum_normalize_options usual = mpnum_normalize_default();
  mpnum_norm_job_ job = mpnum_norm_job_of_(kind, dst, src, options ? options : &usual);
  mpnum_status status = mpnum_rows_check_(dst, src);
  if (status == MPNUM_OK) status = mpnum_norm_check_(kind, src, job.options);
  if (status == MPNUM_OK) status = mpnum_norm_places_(dst, job.options);
  if (status != MPNUM_OK) return status;
  mpnum_norm_add_(&job);
  mpnum_norm_all_(&job);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

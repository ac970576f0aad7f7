/* SPDX-License-Identifier: MIT */
/* Rows divided by their length or deviation, which neither overflows nor vanishes: layer
 * norm, RMS norm, L2 normalisation. Their gradients: normalize_backward.h; to 8 bits with
 * a scale: normalize_quantize.h.
 *
 *     mpnum_rms_norm_rows(mpnum_matrix_of(MPNUM_TYPE_BF16, y, rows, n),
 *                         mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, rows, n), weight,
 *                         1e-6f);
 *
 * Sums are doubles, in one order (reduce.h), and what a row is multiplied by comes with a
 * power of two, so rows of the largest or of subnormal numbers are as precise as others.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3; dst has as many as src;
 * epsilon finite, 0 and up. weight and bias are columns floats, or NULL: 1, 0. All at any
 *   address. dst may be src where both have one type and stride; otherwise arrays do not
 *   overlap.
 * NaN: a row with NaN or Inf is NaN, but for l2, where finite elements beside Inf are 0.
 * Error: before weight and bias 1.51 ulps of RMS norm and l2, 2.51 of layer norm and, as
 *   x - mean cancels, 2^-50 of mean times inverse. Weight and bias round once more,
 *   together, then the type of dst. (test_normalize.c)
 * Bits: the same from every instruction set; batch invariance: a row has the same ones
 *   alone and in any batch.
 * Status: MPNUM_ERROR_TYPE; MPNUM_ERROR_SHAPE: rows or columns differ;
 *   MPNUM_ERROR_STRIDE: that of dst is below its columns; MPNUM_ERROR_NULL: no data where
 *   there are elements; MPNUM_ERROR_OVERLAP: dst overlaps src, or is in its place with
 *   another type or stride; MPNUM_ERROR_ARGUMENT: another epsilon. Nothing is written
 *   then. Without elements all pointers may be anything. Host only. */
#ifndef MPNUM_ROWS_NORMALIZE_H
#define MPNUM_ROWS_NORMALIZE_H

#include "../array/reduce.h"
#include "../array/matrix.h"
#include "normalize_options.h"
#include "detail/norm_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS

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

/* (x - mean) / sqrt(variance + epsilon) * weight + bias, the variance with 1 / columns
 * (Ba, Kiros, Hinton 2016). Of a row of equal elements: the bias. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_layer_norm_rows(mpnum_matrix dst,
                                                               mpnum_const_matrix src,
                                                               const float *weight,
                                                               const float *bias,
                                                               float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_LAYER, dst, src, weight, bias, epsilon);
}
/* x / sqrt(mean of squares + epsilon) * weight (Zhang, Sennrich 2019). A row of zeros is
 * zeros. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_rms_norm_rows(mpnum_matrix dst,
                                                             mpnum_const_matrix src,
                                                             const float *weight,
                                                             float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_RMS, dst, src, weight, 0, epsilon);
}
/* x / max(length, epsilon). A row of zeros is zeros; a tiny row, of subnormals say, has
 * length 1 like others, unless epsilon is larger. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_l2_normalize_rows(mpnum_matrix dst,
                                                                 mpnum_const_matrix src,
                                                                 float epsilon) {
  return mpnum_norm_rows_(MPNUM_NORM_L2, dst, src, 0, 0, epsilon);
}

/* The same with all options; NULL: the default ones. Status: MPNUM_ERROR_ARGUMENT, too,
 * for another kind; MPNUM_ERROR_SHAPE, _TYPE and _STRIDE also of a residual and a sum;
 * MPNUM_ERROR_OVERLAP: a sum overlaps src or the residual other than in place, dst one of
 * both. */
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

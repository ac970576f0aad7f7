/* SPDX-License-Identifier: MIT */
/* What normalize.h and its kin are told of a norm, and what they tell of rows. */
#ifndef MPNUM_ROWS_NORMALIZE_OPTIONS_H
#define MPNUM_ROWS_NORMALIZE_OPTIONS_H

#include "../array/matrix.h"
MPNUM_C_BEGIN_

typedef enum mpnum_norm_kind {
  MPNUM_NORM_LAYER = 0, /* (x - mean) / sqrt(variance + epsilon) */
  MPNUM_NORM_RMS = 1,   /* x / sqrt(mean of squares + epsilon) */
  MPNUM_NORM_L2 = 2     /* x / max(length, epsilon) */
} mpnum_norm_kind;

#if MPNUM_HAS_ARRAYS

/* Begin with mpnum_normalize_default(); what is NULL, or rows without data, is absent.
 * All zeros are an epsilon of 0 and nothing else. */
typedef struct mpnum_normalize_options {
  const float *weight, *bias; /* of columns */
  float
      epsilon; /* finite, 0 and up; 0: rows of zeros, or that vary not, have inverse 0 */
  float *mean, *inverse; /* results, floats of each row: the mean that is subtracted, 0
                            but of layer norm, and 1 over what the row is divided by, 0
                            where that is 0. NaN of a NaN row. */
  mpnum_const_matrix residual; /* added to src first; its type may differ */
  mpnum_matrix sum; /* where src + residual is stored, rounded to its type, NaN as the
                     canonical one; the row that is normalised is then the stored one.
                     May be src or residual. */
} mpnum_normalize_options;

/* Nothing but an epsilon of 1e-5. */
MPNUM_HOST mpnum_normalize_options mpnum_normalize_default(void) {
  mpnum_normalize_options options;
  options.weight = options.bias = 0;
  options.epsilon = 1e-5f;
  options.mean = options.inverse = 0;
  options.residual = mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, 0, 0);
  options.sum = mpnum_matrix_empty();
  return options;
}

#endif
MPNUM_C_END_
#endif

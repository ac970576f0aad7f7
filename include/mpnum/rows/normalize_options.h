/* SPDX-License-Identifier: MIT */
/* The kinds of norms and their options, for normalize.h, normalize_quantize.h and
 * normalize_backward.h. */
#ifndef MPNUM_ROWS_NORMALIZE_OPTIONS_H
#define MPNUM_ROWS_NORMALIZE_OPTIONS_H

#include "../array/matrix.h"
MPNUM_C_BEGIN_

typedef enum mpnum_norm_kind {
  MPNUM_NORM_LAYER = 0, /* (x - mean) / sqrt(variance + epsilon) */
  MPNUM_NORM_RMS = 1,   /* x / sqrt(mean of squares + epsilon) */
  MPNUM_NORM_L2 = 2     /* x / max(length, epsilon) */
} mpnum_norm_kind;

#if MPNUM_HAS_ARRAYS_

/* Begin with mpnum_normalize_default(). A pointer that is NULL, or a matrix without
 * data, is absent. All zeros mean an epsilon of 0 and nothing else. */
typedef struct mpnum_normalize_options {
  const float *weight, *bias; /* one float for each column */
  float epsilon; /* finite, 0 or above; if 0, rows of zeros and rows that do not vary have
                    inverse 0 */
  float *mean, *inverse; /* results, one float for each row: the mean that is subtracted
                            (0 except for layer norm), and 1 over the divisor (0 if that
                            is 0). NaN for a NaN row. */
  mpnum_const_matrix residual; /* added to src first; may have another type */
  mpnum_matrix
      sum; /* receives src + residual, rounded to its type, NaN as the canonical one; the
              stored row is then what is normalised. May be src or residual. */
} mpnum_normalize_options;

/* Returns an epsilon of 1e-5 and nothing else. */
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

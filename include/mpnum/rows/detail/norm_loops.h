/* SPDX-License-Identifier: MIT */
/* What normalize.h is made of: the numbers that normalise a row, and the steps over its
 * tiles. */
#ifndef MPNUM_ROWS_DETAIL_NORM_LOOPS_H
#define MPNUM_ROWS_DETAIL_NORM_LOOPS_H

#include "rows_loops.h"
#include "norm_row.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Rows of floats, each by the map found, times weight, plus bias, either of which may be
 * NULL, to f32, f16 or bf16; steps in bytes. dst may be src. */
typedef struct mpnum_norm_run_ {
  const mpnum_norm_row_ *found; /* of each row */
  mpnum_type dst_type;
  mpnum_encoding_ encoding; /* of f16 */
  uint8_t *dst;
  const uint8_t *src;
  size_t dst_step, src_step, rows, columns;
  const float *weight, *bias;
} mpnum_norm_run_;
/* Rows of gradients, and the normalised rows one behind the other; weight may be NULL. */
typedef struct mpnum_norm_back_ {
  const uint8_t *gradient;
  uint8_t *dst;
  const float *weight, *normed;
  size_t gradient_step, dst_step, rows, columns;
} mpnum_norm_back_;

/* norm_rows: a run.
 * norm_sums: of rows of one tile two sums each, of the elements, unless nobody wants it,
 *   and of their squares, as reduce.h has them.
 * norm_pairs: sums or products of two arrays, NaN canonical; dst may be one of them.
 * norm_slope_sums: of rows of one tile two sums each, of gradients times weight, unless
 *   nobody wants it, and of their products with the normalised row.
 * norm_gradient: gradients to dst, each row by its slope, times weight before that, added
 *   to what is there at the end if adds.
 * norm_sum_rows: adds rows of gradients to sums of columns, times the normalised rows or
 *   as they are; either sums may be NULL. */
# define MPNUM_EACH_ISA_ "../../rows/detail/norm.inc"
# include "../../simd/detail/each_isa.inc"

MPNUM_HOST void mpnum_norm_run_rows_(const mpnum_norm_run_ *run) {
  MPNUM_CALL_(norm_rows, (run));
}
/* Of f32 to f32. */
MPNUM_HOST void mpnum_norm_map_tile_(const mpnum_norm_row_ *row, void *dst,
                                     const void *src, size_t n) {
  mpnum_norm_run_ run;
  run.found = row;
  run.dst_type = MPNUM_TYPE_F32;
  run.dst = (uint8_t *)dst;
  run.src = (const uint8_t *)src;
  run.dst_step = run.src_step = 0;
  run.rows = 1;
  run.columns = n;
  run.weight = run.bias = 0;
  mpnum_norm_run_rows_(&run);
}
MPNUM_HOST void mpnum_norm_tile_sums_(int has_values, double *sums, const void *src,
                                      size_t step, size_t rows, size_t n) {
  MPNUM_CALL_(norm_sums, (has_values, sums, (const uint8_t *)src, step, rows, n));
}
MPNUM_HOST void mpnum_norm_pairs_(int is_product, float *dst, const void *a,
                                  const void *b, size_t n) {
  MPNUM_CALL_(norm_pairs, (is_product, dst, (const uint8_t *)a, (const uint8_t *)b, n));
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* Gradients through softmax and log-softmax of rows.
 *
 *     mpnum_softmax_options options = mpnum_softmax_default();
 *     options.scale = 0.125f;
 *     mpnum_softmax_backward_rows(mpnum_matrix_of(MPNUM_TYPE_BF16, dx, rows, n),
 *                                 mpnum_const_matrix_of(MPNUM_TYPE_BF16, dy, rows, n),
 *                                 mpnum_const_matrix_of(MPNUM_TYPE_BF16, y, rows, n),
 *                                 &options);
 *
 * y is what mpnum_softmax_rows made of x with these options, dy the gradient of y. The
 * gradient of x is y (dy - d) scale, d being the sum of y dy; for log-softmax it is (dy
 * - e^y d) scale, d being the sum of dy. All in floats, d in 64 lanes like the sums of
 * softmax; each result is rounded once to its type. Of the options, scale, mask,
 * lengths, first_length and length_step count, and of the flags
 * MPNUM_SOFTMAX_ACCUMULATE, which adds results to what dx holds. Masked elements may
 * hold anything, NaN too, and have gradient 0, even in a row of NaN. The gradient of a
 * bias is this one at scale 1; sinks change none of this, as y has them.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3, each of the three of its own
 *   type, at any address. dx may be dy or y if both have the same type and stride, but
 *   not with MPNUM_SOFTMAX_ACCUMULATE; otherwise they must not overlap.
 * NaN: an unmasked NaN in dy makes the gradient of its row NaN. So does one in y of
 *   softmax; in y of log-softmax it makes its own element NaN alone, but log-softmax
 *   makes whole rows NaN. Inf in dy makes the row Inf or NaN.
 * Error: docs/softmax.md. Bits: as mpnum_softmax_rows.
 * Status: as mpnum_softmax_rows; MPNUM_ERROR_OVERLAP also for dx in the place of dy or y
 *   with MPNUM_SOFTMAX_ACCUMULATE; MPNUM_ERROR_ARGUMENT also for a cap, whose gradient
 *   is in softmax_cap.h. Host only. */
#ifndef MPNUM_ROWS_SOFTMAX_BACKWARD_H
#define MPNUM_ROWS_SOFTMAX_BACKWARD_H

#include "softmax.h"
#include "detail/rows_backward_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

MPNUM_HOST mpnum_status mpnum_softmax_backward_check_(
    mpnum_matrix dx, mpnum_const_matrix dy, mpnum_const_matrix y,
    const mpnum_softmax_options *options) {
  mpnum_status status = mpnum_rows_check_(dx, dy);
  if (status == MPNUM_OK) status = mpnum_rows_check_(dx, y);
  if (status == MPNUM_OK && (options->flags & MPNUM_SOFTMAX_ACCUMULATE) &&
      (mpnum_rows_overlap_(dx, dy) || mpnum_rows_overlap_(dx, y)))
    status = MPNUM_ERROR_OVERLAP;
  return status == MPNUM_OK ? mpnum_softmax_check_(y, options, MPNUM_SOFTMAX_ACCUMULATE)
                            : status;
}
/* Moves a pair to a row, of which it returns the length, and finds its inner product. */
MPNUM_HOST size_t mpnum_softmax_pair_(mpnum_row_pair_ *pair, mpnum_row_backward_ *how,
                                      mpnum_const_matrix dy, mpnum_const_matrix y,
                                      const mpnum_softmax_options *options, size_t row) {
  const size_t n = mpnum_row_length_(options, row, y.columns);
  double sum = 0;
  pair->dy.src = mpnum_rows_at_(dy, row, 0);
  pair->y.src = mpnum_rows_at_(y, row, 0);
  pair->y.mask = options->mask ? options->mask + row * options->mask_stride : 0;
  mpnum_row_inner_of_(&sum, pair, how->is_log, n);
  how->inner = (float)sum;
  return n;
}
MPNUM_HOST mpnum_status mpnum_softmax_backward_(int is_log, mpnum_matrix dx,
                                                mpnum_const_matrix dy,
                                                mpnum_const_matrix y,
                                                const mpnum_softmax_options *options) {
  const mpnum_softmax_options usual = mpnum_softmax_default();
  const mpnum_softmax_options *chosen = options ? options : &usual;
  const mpnum_status status = chosen->cap
                                  ? MPNUM_ERROR_ARGUMENT
                                  : mpnum_softmax_backward_check_(dx, dy, y, chosen);
  mpnum_row_backward_ how = {0, 0, 0, 1};
  mpnum_row_pair_ pair;
  mpnum_row_type_ type;
  uint64_t saved = 0;
  size_t i = 0;
  if (status != MPNUM_OK || y.columns == 0) return status;
  saved = mpnum_fenv_save_();
  how.is_log = is_log;
  how.adds = (chosen->flags & MPNUM_SOFTMAX_ACCUMULATE) != 0;
  how.scale = chosen->scale;
  mpnum_row_type_of_(&type, dx.type);
  mpnum_row_view_of_(&pair.dy, dy.type);
  mpnum_row_view_of_(&pair.y, y.type);
  for (; i < y.rows; ++i) {
    const size_t n = mpnum_softmax_pair_(&pair, &how, dy, y, chosen, i);
    mpnum_row_backward_of_(&how, &type, mpnum_rows_to_(dx, i, 0), &pair, n);
    if (!how.adds) mpnum_rows_fill_(dx, i, n, 0);
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* Compute the gradient through softmax from its results y, and through log-softmax from
 * its results y. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_softmax_backward_rows(mpnum_matrix dx, mpnum_const_matrix dy, mpnum_const_matrix y,
                            const mpnum_softmax_options *options) {
  return mpnum_softmax_backward_(0, dx, dy, y, options);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_log_softmax_backward_rows(
    mpnum_matrix dx, mpnum_const_matrix dy, mpnum_const_matrix y,
    const mpnum_softmax_options *options) {
  return mpnum_softmax_backward_(1, dx, dy, y, options);
}

#endif
MPNUM_C_END_
#endif

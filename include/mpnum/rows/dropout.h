/* SPDX-License-Identifier: MIT */
/* Dropout of rows: a share of the elements is kept and divided by that share, the others
 * become 0. Opt-in.
 *
 *     mpnum_dropout_rows(mpnum_matrix_of(MPNUM_TYPE_BF16, y, rows, n),
 *                        mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, rows, n), 0.9f, seed,
 *                        offset);
 *
 * Element i of the rows, counted through all of them, is kept where mpnum_random(seed,
 * offset + i) is below keep 2^32, as an integer and exactly; then it becomes x times 1 /
 * keep, that quotient and the product each rounded to a float, the result once more to
 * its type. What is dropped is +0, even of Inf and NaN. The mask is a function of seed
 * and index: the gradient goes through the same call with the same keep, seed and offset,
 * and nothing is stored. A part of the rows takes the offset of its first element; the
 * next call with a seed one past all of them.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3, each of its own type; keep 0,
 *   which drops all, or from 2^-32 to 1: 1 - p of PyTorch's p. dst may be src if both
 *   have the same type and stride; otherwise they must not overlap.
 * NaN: canonical. Bits: the same from every instruction set, however rows are split.
 * Status: MPNUM_ERROR_TYPE, _SHAPE, _STRIDE, _NULL and _OVERLAP as in activation_rows.h;
 *   MPNUM_ERROR_ARGUMENT: keep. Nothing is written then. Host only. */
#ifndef MPNUM_ROWS_DROPOUT_H
#define MPNUM_ROWS_DROPOUT_H

#include "../array/matrix.h"
#include "detail/dropout_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Keeps an element with probability keep, and multiplies it by 1 / keep; others become 0.
 */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_dropout_rows(mpnum_matrix dst,
                                                            mpnum_const_matrix src,
                                                            float keep, uint64_t seed,
                                                            uint64_t offset) {
  const mpnum_status status = mpnum_rows_check_(dst, src);
  size_t rows = src.rows, columns = src.columns, i = 0, k = 0;
  mpnum_dropout_ how;
  uint64_t saved = 0;
  if (status != MPNUM_OK) return status;
  if (!mpnum_is_keep_(keep)) return MPNUM_ERROR_ARGUMENT;
  if (dst.stride == columns && src.stride == columns) { /* one row */
    columns *= rows;
    rows = rows > 0;
  }
  saved = mpnum_fenv_save_();
  how = mpnum_dropout_of_(keep, seed, offset);
  for (; i < rows; ++i)
    for (k = 0; k < columns; k += MPNUM_DROPPED_) {
      const size_t n = columns - k < MPNUM_DROPPED_ ? columns - k : MPNUM_DROPPED_;
      MPNUM_ALIGNED_ float x[MPNUM_DROPPED_];
      mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, i, k), n);
      mpnum_dropout_tile_(&how, x, x, offset + (uint64_t)i * columns + k, n);
      mpnum_floats_to_(dst.type, mpnum_rows_to_(dst, i, k), x, n);
    }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* Views of a matrix, as softmax.h, normalize.h, hadamard.h and others take them: rows of
 * one type.
 *
 *     mpnum_const_matrix scores = mpnum_const_matrix_of(MPNUM_TYPE_F16, data, 32, 1000);
 *     scores.stride = 1024;
 *
 * Views are passed by value; the memory stays the caller's, at any address. matrix.cuh
 * has those of launchers.
 * Host only. */
#ifndef MPNUM_ARRAY_MATRIX_H
#define MPNUM_ARRAY_MATRIX_H

#include "../core/format.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

# include <stddef.h>

/* A matrix that is written. A stride below columns is refused, whatever the number of
 * rows. */
typedef struct mpnum_matrix {
  mpnum_type type; /* f32, f16, bf16, e5m2 or e4m3 */
  void *data;
  size_t rows, columns, stride; /* rows x columns; stride: elements from row to row */
} mpnum_matrix;

/* A matrix that is read. Any stride; 0 repeats one row. */
typedef struct mpnum_const_matrix {
  mpnum_type type;
  const void *data;
  size_t rows, columns, stride;
} mpnum_const_matrix;

/* Return a view of rows that lie one behind the other. */
MPNUM_HOST mpnum_matrix mpnum_matrix_of(mpnum_type type, void *data, size_t rows,
                                        size_t columns) {
  mpnum_matrix made;
  made.type = type;
  made.data = data;
  made.rows = rows;
  made.columns = made.stride = columns;
  return made;
}
MPNUM_HOST mpnum_const_matrix mpnum_const_matrix_of(mpnum_type type, const void *data,
                                                    size_t rows, size_t columns) {
  mpnum_const_matrix made;
  made.type = type;
  made.data = data;
  made.rows = rows;
  made.columns = made.stride = columns;
  return made;
}
/* Returns no matrix, for a result that is not wanted: data is NULL. */
MPNUM_HOST mpnum_matrix mpnum_matrix_empty(void) {
  return mpnum_matrix_of(MPNUM_TYPE_F32, 0, 0, 0);
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* A matrix in device memory as launchers take it, beside matrix.h for hosts: the type of
 * its elements is a template argument, so that a call compiles the kernel of these types
 * alone.
 *
 *     mpnum::matrix<mpnum_f16> scores = mpnum::matrix_of(data, 32, 1000);
 *     scores.stride = 1024;
 *
 * Views are passed by value; the memory stays the caller's. What is only read may be of a
 * const type. CUDA C++11, host code. */
#ifndef MPNUM_ARRAY_MATRIX_CUH
#define MPNUM_ARRAY_MATRIX_CUH

#include "../core/format.h"
MPNUM_C_BEGIN_

#if !MPNUM_HAS_NVRTC_

# include <stddef.h>

namespace mpnum {

/* rows x columns elements, row r at data + r * stride. Of what is written the stride is
 * at least columns; of what is read it may be any, and 0 repeats one row. All zeros: no
 * matrix, for a result that nobody wants. */
template <class T> struct matrix {
  T *data;
  size_t rows, columns, stride;
};

/* Rows one behind the other. */
template <class T>
static inline matrix<T> matrix_of(T *data, size_t rows, size_t columns) {
  const matrix<T> made = {data, rows, columns, columns};
  return made;
}
template <class T>
static inline matrix<T> matrix_of(T *data, size_t rows, size_t columns, size_t stride) {
  const matrix<T> made = {data, rows, columns, stride};
  return made;
}

} // namespace mpnum

template <class A, class B>
static inline bool mpnum_have_one_shape_(const mpnum::matrix<A> &a,
                                         const mpnum::matrix<B> &b) {
  return a.rows == b.rows && a.columns == b.columns;
}

#endif

MPNUM_C_END_
#endif

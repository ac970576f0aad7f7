/* SPDX-License-Identifier: MIT */
/* Walsh-Hadamard transform of rows with random signs, and its inverse: it spreads an
 * outlier over its block before the block is quantised.
 *
 *     mpnum_hadamard_rows(mpnum_matrix_of(MPNUM_TYPE_BF16, x, rows, n),
 *                         mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, rows, n), 16, seed);
 *
 * Each n elements of a row, n being 16 or 64, are transformed by themselves in natural
 * (Sylvester) order: first times -1 where the top bit of mpnum_random(seed, column) is
 * set; then log2 n stages with strides 1, 2, 4, ..., (a, b) to (a + b, a - b); then
 * times 1 / sqrt(n), which is 1/4 or 1/8. The inverse is the stages, the factor, then
 * the signs.
 * Overflow: a stage overflows to Inf as any sum does; below FLT_MAX / n none does.
 * NaN: if one of the n is NaN, or a sum of two Infs is NaN, results are the canonical
 *   NaN; Inf spreads over its block with the signs of the transform.
 * Error: each stage and the result round once. In f32, relative to the length of the n
 *   elements and where nothing is subnormal, below log2 n * 2^-24 in each direction. */
#ifndef MPNUM_ROWS_HADAMARD_H
#define MPNUM_ROWS_HADAMARD_H

#include "detail/hadamard_loops.h"
MPNUM_C_BEGIN_

/* Transform 16 or 64 elements in registers or in an array, in place: those of a row from
 * 16 * block or 64 * block on. Host and device. On hosts under the caller's
 * floating-point environment: to nearest, nothing flushed. */
MPNUM_MATH_ void mpnum_hadamard_16(float *x, uint64_t seed, uint64_t block) {
  mpnum_hadamard_of_(x, 16, seed, block, 0);
}
MPNUM_MATH_ void mpnum_hadamard_64(float *x, uint64_t seed, uint64_t block) {
  mpnum_hadamard_of_(x, 64, seed, block, 0);
}
MPNUM_MATH_ void mpnum_hadamard_inverse_16(float *x, uint64_t seed, uint64_t block) {
  mpnum_hadamard_of_(x, 16, seed, block, 1);
}
MPNUM_MATH_ void mpnum_hadamard_inverse_64(float *x, uint64_t seed, uint64_t block) {
  mpnum_hadamard_of_(x, 64, seed, block, 1);
}

#if MPNUM_HAS_ARRAYS_

MPNUM_HOST mpnum_status mpnum_hadamard_rows_(mpnum_matrix dst, mpnum_const_matrix src,
                                             int n, uint64_t seed, int is_inverse) {
  const mpnum_status status = mpnum_rows_check_(dst, src);
  if (status != MPNUM_OK) return status;
  if (!mpnum_hadamard_has_(dst.type) || !mpnum_hadamard_has_(src.type))
    return MPNUM_ERROR_TYPE;
  if (n != 16 && n != 64) return MPNUM_ERROR_ARGUMENT;
  if (src.columns % (size_t)n != 0) return MPNUM_ERROR_RANGE;
  mpnum_hadamard_all_(dst, src, n, seed, is_inverse);
  return MPNUM_OK;
}

/* Transform each row. Every instruction set gives the same bits in every floating-point
 * environment.
 * Domain: rows (matrix.h) of f32 or bf16 at any address, dst and src each of its own
 *   type; n 16 or 64. dst may be src if both have the same type and stride; otherwise
 *   they must not overlap.
 * Status: MPNUM_ERROR_RANGE: n does not divide columns; MPNUM_ERROR_ARGUMENT: another n;
 *   MPNUM_ERROR_TYPE; MPNUM_ERROR_SHAPE: rows or columns differ; MPNUM_ERROR_STRIDE: the
 *   stride of dst is below its columns; MPNUM_ERROR_NULL: no data, but elements;
 *   MPNUM_ERROR_OVERLAP: memory that overlaps. Nothing is written then. Host only. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_hadamard_rows(mpnum_matrix dst,
                                                             mpnum_const_matrix src,
                                                             int n, uint64_t seed) {
  return mpnum_hadamard_rows_(dst, src, n, seed, 0);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_hadamard_inverse_rows(
    mpnum_matrix dst, mpnum_const_matrix src, int n, uint64_t seed) {
  return mpnum_hadamard_rows_(dst, src, n, seed, 1);
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* Walsh-Hadamard transform of rows with random signs, and its inverse: it spreads an
 * outlier over its block before the block is quantised.
 *
 *     mpnum_hadamard_rows(mpnum_rows_of(MPNUM_TYPE_BF16, x, rows, n),
 *                         mpnum_const_rows_of(MPNUM_TYPE_BF16, x, rows, n), 16, seed);
 *
 * Each n elements of a row, n 16 or 64, by themselves, in natural (Sylvester) order:
 * times -1 where the top bit of mpnum_random(seed, column) is set; then log2 n stages
 * with strides 1, 2, 4, ..., (a, b) to (a + b, a - b); then times 1 / sqrt(n), which is
 * 1/4 or 1/8. The inverse is the stages, the factor, then the signs. Overflow: a stage
 * overflows to Inf as any sum does; below FLT_MAX / n none does. NaN: where one of the n
 * is NaN, or two are Inf of which a sum makes NaN, results are the canonical NaN; Inf
 * spreads over its block with the signs of the transform. Error: each stage and the
 * result round once. In f32, relative to the length of the n elements, where nothing is
 * subnormal: below log2 n * 2^-24 for each direction. */
#ifndef MPNUM_HADAMARD_H
#define MPNUM_HADAMARD_H

#include "detail/simd/hadamard_loops.h"
MPNUM_C_BEGIN_

/* 16 or 64 elements in registers or in an array, in place: those of a row from 16 * block
 * or 64 * block on. Host and device. On hosts floats as they are in force: to nearest,
 * nothing flushed. */
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

#if MPNUM_HAS_ARRAYS

/* Whether bytes of dst are bytes of src, other than in place: of rows that interleave, as
 * halves of one matrix do, none are. */
MPNUM_HOST int mpnum_hadamard_overlaps_(mpnum_rows dst, mpnum_const_rows src) {
  const size_t dst_size = (size_t)mpnum_type_bits_(dst.type) / 8;
  const size_t src_size = (size_t)mpnum_type_bits_(src.type) / 8;
  const size_t stride = dst.stride * dst_size, width = dst.columns * dst_size;
  const size_t src_width = src.columns * src_size;
  const size_t to = (size_t)dst.data, from = (size_t)src.data, last = dst.rows - 1;
  size_t ahead = 0;
  if (dst.rows == 0 || dst.columns == 0 || to == from) return 0;
  if (!mpnum_overlap_(dst.data, last * stride + width, src.data,
                      last * src.stride * src_size + src_width))
    return 0;
  if (last == 0 || stride != src.stride * src_size) return 1;
  ahead = to > from ? (to - from) % stride : (stride - (from - to) % stride) % stride;
  return ahead < src_width || stride - ahead < width;
}
MPNUM_HOST mpnum_status mpnum_hadamard_rows_(mpnum_rows dst, mpnum_const_rows src, int n,
                                             uint64_t seed, int is_inverse) {
  const mpnum_status status = mpnum_rows_check_(dst, src);
  if (status != MPNUM_OK) return status;
  if (!mpnum_hadamard_has_(dst.type) || !mpnum_hadamard_has_(src.type) ||
      (n != 16 && n != 64) || mpnum_hadamard_overlaps_(dst, src))
    return MPNUM_ERROR_ARGUMENT;
  if (src.columns % (size_t)n != 0) return MPNUM_ERROR_RANGE;
  mpnum_hadamard_all_(dst, src, n, seed, is_inverse);
  return MPNUM_OK;
}

/* The transform of each row. Every instruction set gives the same bits in every
 * floating-point environment.
 * Domain: rows (rows.h) of f32 or bf16 at any address, each of its own; n 16 or 64. dst
 *   may be src where both have one type and stride; otherwise they do not overlap.
 * Status: MPNUM_ERROR_RANGE where n does not divide columns; MPNUM_ERROR_ARGUMENT for
 *   another n or type, rows or columns that differ, a stride of dst below its columns,
 *   memory that overlaps. Nothing is written then. Host only. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_hadamard_rows(mpnum_rows dst,
                                                             mpnum_const_rows src, int n,
                                                             uint64_t seed) {
  return mpnum_hadamard_rows_(dst, src, n, seed, 0);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_hadamard_inverse_rows(mpnum_rows dst,
                                                                     mpnum_const_rows src,
                                                                     int n,
                                                                     uint64_t seed) {
  return mpnum_hadamard_rows_(dst, src, n, seed, 1);
}

#endif
MPNUM_C_END_
#endif

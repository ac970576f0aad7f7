/* SPDX-License-Identifier: MIT */
/* Views of rows: where an element lies, which memory overlaps, and what is refused. */
#ifndef MPNUM_ARRAY_DETAIL_VIEWS_H
#define MPNUM_ARRAY_DETAIL_VIEWS_H

#include "../matrix.h"
#include "../../simd/detail/codings.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

# define MPNUM_TILE_ 2048 /* elements of a tile */
MPNUM_HOST_INLINE_ size_t mpnum_tile_size_(size_t n, size_t first) {
  return n - first < MPNUM_TILE_ ? n - first : MPNUM_TILE_;
}

/* Memory that a call reads or writes. */
typedef struct mpnum_memory_ {
  const void *at;
  size_t bytes;
} mpnum_memory_;

MPNUM_HOST_INLINE_ float mpnum_float_at_(const float *src, size_t i) {
  return mpnum_from_bits_f32((uint32_t)mpnum_element_(32, (const uint8_t *)src, i));
}
MPNUM_HOST_INLINE_ void mpnum_set_float_(float *dst, size_t i, float x) {
  mpnum_set_element_(32, (uint8_t *)dst, i, mpnum_bits_f32(x));
}

MPNUM_INLINE int mpnum_has_rows_(mpnum_type type) {
  return type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16 ||
         type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E4M3;
}
/* f32, or of 16 bits. */
MPNUM_INLINE int mpnum_has_floats_(mpnum_type type) {
  return type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16;
}
/* Element i of an array. */
MPNUM_HOST const uint8_t *mpnum_row_at_(mpnum_type type, const void *src, size_t i) {
  return (const uint8_t *)src + i * (size_t)(mpnum_type_bits_(type) / 8);
}
MPNUM_HOST uint8_t *mpnum_row_to_(mpnum_type type, void *dst, size_t i) {
  return (uint8_t *)dst + i * (size_t)(mpnum_type_bits_(type) / 8);
}

/* An element of a view. */
MPNUM_HOST const uint8_t *mpnum_rows_at_(mpnum_const_matrix src, size_t row,
                                         size_t column) {
  return mpnum_row_at_(src.type, src.data, row * src.stride + column);
}
MPNUM_HOST uint8_t *mpnum_rows_to_(mpnum_matrix dst, size_t row, size_t column) {
  return mpnum_row_to_(dst.type, dst.data, row * dst.stride + column);
}

/* What is written, as what is read. */
MPNUM_HOST mpnum_const_matrix mpnum_rows_read_(mpnum_matrix rows) {
  mpnum_const_matrix made = mpnum_const_matrix_of(rows.type, rows.data, 0, rows.columns);
  made.rows = rows.rows;
  made.stride = rows.stride;
  return made;
}
/* Whether bytes of dst are bytes of src, in place, too: of rows that interleave, as
 * halves of one matrix do, none are. Rows without data have none. */
MPNUM_HOST int mpnum_rows_overlap_(mpnum_matrix dst, mpnum_const_matrix src) {
  const size_t dst_size = (size_t)mpnum_type_bits_(dst.type) / 8;
  const size_t src_size = (size_t)mpnum_type_bits_(src.type) / 8;
  if (dst.rows == 0 || dst.columns == 0 || !dst.data || !src.data) return 0;
  return mpnum_rows_share_(dst.data, dst.stride * dst_size, dst.columns * dst_size,
                           src.data, src.stride * src_size, src.columns * src_size,
                           dst.rows);
}
/* Whether some of so many floats lie between the first and the last byte of rows. */
MPNUM_HOST int mpnum_floats_overlap_(const float *floats, size_t count,
                                     mpnum_const_matrix rows) {
  const size_t size = (size_t)mpnum_type_bits_(rows.type) / 8;
  if (!floats || !rows.data || rows.rows == 0 || rows.columns == 0) return 0;
  return mpnum_overlap_(floats, count * sizeof *floats, rows.data,
                        ((rows.rows - 1) * rows.stride + rows.columns) * size);
}
/* So many results of rows: that they are there, and apart. */
MPNUM_HOST mpnum_status mpnum_floats_check_(const float *floats, size_t count,
                                            mpnum_const_matrix rows) {
  if (!floats && rows.rows && rows.columns) return MPNUM_ERROR_NULL;
  return mpnum_floats_overlap_(floats, count, rows) ? MPNUM_ERROR_OVERLAP : MPNUM_OK;
}
/* Rows that are read: their type, and that they are there. */
MPNUM_HOST mpnum_status mpnum_source_check_(mpnum_const_matrix src) {
  if (!mpnum_has_rows_(src.type)) return MPNUM_ERROR_TYPE;
  return !src.data && src.rows && src.columns ? MPNUM_ERROR_NULL : MPNUM_OK;
}
/* Rows that are written, of any type, and others: their shapes, and that they are there.
 */
MPNUM_HOST mpnum_status mpnum_shape_check_(mpnum_matrix dst, mpnum_const_matrix src) {
  if (dst.rows != src.rows || dst.columns != src.columns) return MPNUM_ERROR_SHAPE;
  if (dst.stride < dst.columns) return MPNUM_ERROR_STRIDE;
  return !dst.data && dst.rows && dst.columns ? MPNUM_ERROR_NULL : MPNUM_OK;
}
/* Rows that are written, and what they are made of: they may lie in its place. */
MPNUM_HOST mpnum_status mpnum_rows_check_(mpnum_matrix dst, mpnum_const_matrix src) {
  const int may_share =
      dst.data == src.data && dst.type == src.type && dst.stride == src.stride;
  mpnum_status status = mpnum_source_check_(src);
  if (!mpnum_has_rows_(dst.type)) return MPNUM_ERROR_TYPE;
  if (status == MPNUM_OK) status = mpnum_shape_check_(dst, src);
  if (status == MPNUM_OK && !may_share && mpnum_rows_overlap_(dst, src))
    status = MPNUM_ERROR_OVERLAP;
  return status;
}

#endif

MPNUM_C_END_
#endif

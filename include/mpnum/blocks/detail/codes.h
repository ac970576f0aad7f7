/* SPDX-License-Identifier: MIT */
/* Quantised matrices that are read: which codes can be, and how. */
#ifndef MPNUM_BLOCKS_DETAIL_CODES_H
#define MPNUM_BLOCKS_DETAIL_CODES_H

#include "blockscale_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* The magnitude of a double as an integer that grows with it. */
MPNUM_HOST_INLINE_ uint64_t mpnum_magnitude_f64_(double x) {
  return mpnum_bits_f64(x) & 0x7fffffffffffffffu;
}
/* Checks that the codes of a quantised matrix can be read. */
MPNUM_HOST mpnum_status mpnum_codes_check_(const mpnum_blockscale_format *format,
                                           const mpnum_blockscaled *codes, size_t rows,
                                           size_t columns) {
  const uint32_t scale = mpnum_bits_f32(codes->scale);
  size_t i = 0;
  if (!format || !codes->codes || !codes->scale_inv) return MPNUM_ERROR_NULL;
  if (mpnum_blockscale_validate(format, 0) != MPNUM_OK || (codes->is_swizzled & ~1) ||
      (codes->is_swizzled && mpnum_scale_layout_of_(format) == MPNUM_SCALES_REFUSED_) ||
      (format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL && scale - 1 >= 0x7f7fffffu))
    return MPNUM_ERROR_ARGUMENT;
  if (codes->stride < columns ||
      (rows > 1 && codes->stride % mpnum_blockscale_group_(format)))
    return MPNUM_ERROR_STRIDE;
  if (!mpnum_extent_(rows, columns, codes->stride, format->element_bits))
    return MPNUM_ERROR_SHAPE;
  if (codes->scale_inv_bytes <
      mpnum_blockscale_scale_bytes(format, rows, columns, codes->is_swizzled))
    return MPNUM_ERROR_RANGE;
  if (format->scale_type != MPNUM_TYPE_F32) return MPNUM_OK;
  for (; i < mpnum_blockscale_count(format, rows, columns); ++i) {
    const uint32_t bits =
        (uint32_t)mpnum_element_(32, (const uint8_t *)codes->scale_inv, i);
    if (bits - 1 >= 0x7f7fffffu && (bits & 0x7fffffffu) <= 0x7f800000u)
      return MPNUM_ERROR_ARGUMENT;
  }
  return MPNUM_OK;
}
/* Whether blocks are not taller than wide, so that scales change along a row. */
MPNUM_HOST int mpnum_lies_along_rows_(const mpnum_blockscale_format *format) {
  return format->columns == 0 ||
         (format->rows == 0 ? format->columns > 1 : format->rows <= format->columns);
}
MPNUM_HOST void mpnum_codes_job_(mpnum_block_job_ *job,
                                 const mpnum_blockscale_format *format,
                                 mpnum_blockscaled codes, size_t rows, size_t columns) {
  mpnum_block_job_of_(job, format, codes,
                      mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, rows, columns));
}

#endif
MPNUM_C_END_
#endif

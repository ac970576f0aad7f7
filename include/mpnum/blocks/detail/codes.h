/* SPDX-License-Identifier: MIT */
/* Quantised matrices that are read: which codes can be. */
#ifndef MPNUM_BLOCKS_DETAIL_CODES_H
#define MPNUM_BLOCKS_DETAIL_CODES_H

#include "../../array/detail/views.h"
#include "../blockscale_format.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* The magnitude of a double as an integer that grows with it. */
MPNUM_HOST_INLINE_ uint64_t mpnum_magnitude_f64_(double x) {
  return mpnum_bits_f64(x) & 0x7fffffffffffffffu;
}
/* Whether scales that are floats are above 0 and finite, or NaN, as of a block of NaN. */
MPNUM_HOST MPNUM_ONCE_ mpnum_status
mpnum_float_scales_check_(const mpnum_blockscale_format *format,
                          const mpnum_blockscaled *src, size_t rows, size_t columns) {
  size_t i = 0;
  if (format->scale_type != MPNUM_TYPE_F32) return MPNUM_OK;
  for (; i < mpnum_blockscale_count(format, rows, columns); ++i) {
    const uint32_t bits =
        (uint32_t)mpnum_element_(32, (const uint8_t *)src->scale_inv, i);
    if (bits - 1 >= 0x7f7fffffu && (bits & 0x7fffffffu) <= 0x7f800000u)
      return MPNUM_ERROR_ARGUMENT;
  }
  return MPNUM_OK;
}
/* Checks that the codes of a quantised matrix can be read. */
MPNUM_HOST MPNUM_ONCE_ mpnum_status
mpnum_codes_check_(const mpnum_blockscale_format *format, const mpnum_blockscaled *codes,
                   size_t rows, size_t columns) {
  size_t extent[2];
  const mpnum_status status = mpnum_codes_extent_(format, codes, rows, columns, extent);
  return status == MPNUM_OK ? mpnum_float_scales_check_(format, codes, rows, columns)
                            : status;
}
/* Whether blocks are not taller than wide, so that scales change along a row. */
MPNUM_HOST int mpnum_lies_along_rows_(const mpnum_blockscale_format *format) {
  return format->columns == 0 ||
         (format->rows == 0 ? format->columns > 1 : format->rows <= format->columns);
}

#endif
MPNUM_C_END_
#endif

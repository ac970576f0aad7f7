/* SPDX-License-Identifier: MIT */
/* FP8 with a scale for each tensor or each channel. amax_history.h, which this includes,
 * has what finds scales, on devices too; here are arrays, on hosts. */
#ifndef MPNUM_SCALE_H
#define MPNUM_SCALE_H

#include "amax_history.h"
#include "detail/simd/scale_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS

/* Codes of elements times scale, each product rounded to f32, then to nearest even, and
 * saturating.
 * Domain: dst e4m3, e5m2 and the other signed types of 8 bits and fewer, one in a byte;
 *   src f32, f16 or bf16. They do not overlap. losses, unless NULL, are added to; their
 *   amax is what delayed scaling pushes.
 * NaN: the type's, or its largest value where it has none; Inf saturates and is counted.
 * Status: MPNUM_ERROR_ARGUMENT: other types, a scale that is not finite and above 0, NULL
 *   and n above 0; nothing is written then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_quantize_array(mpnum_type dst_type, void *dst, mpnum_type src_type, const void *src,
                     size_t n, float scale, mpnum_quantize_losses *losses) {
  if (!mpnum_is_scaled_type_(dst_type) || !mpnum_is_block_source_(src_type) ||
      mpnum_bits_f32(scale) - 1 >= 0x7f7fffffu || (n && (!dst || !src)))
    return MPNUM_ERROR_ARGUMENT;
  mpnum_quantize_by_(dst_type, dst, src_type, src, n, scale, losses);
  return MPNUM_OK;
}
/* Codes times scale_inv, rounded to f32, then to dst_type: f32, f16 or bf16. Status: as
 * above. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_dequantize_array(mpnum_type dst_type,
                                                                void *dst,
                                                                mpnum_type src_type,
                                                                const void *src, size_t n,
                                                                float scale_inv) {
  if (!mpnum_is_scaled_type_(src_type) || !mpnum_is_block_source_(dst_type) ||
      mpnum_bits_f32(scale_inv) - 1 >= 0x7f7fffffu || (n && (!dst || !src)))
    return MPNUM_ERROR_ARGUMENT;
  mpnum_dequantize_by_(dst_type, dst, src_type, src, n, scale_inv);
  return MPNUM_OK;
}
/* Rows of a matrix with a scale, or scale_inv, for each: channels. dst: rows of bytes,
 * dst_stride apart. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_channels(
    mpnum_type dst_type, void *dst, size_t dst_stride, mpnum_const_rows src,
    const float *scales, mpnum_quantize_losses *losses) {
  size_t i = 0;
  if (!mpnum_is_scaled_type_(dst_type) || !mpnum_is_block_source_(src.type) || !scales ||
      !dst || !src.data || dst_stride < src.columns)
    return MPNUM_ERROR_ARGUMENT;
  for (; i < src.rows; ++i)
    if (mpnum_bits_f32(mpnum_float_at_(scales, i)) - 1 >= 0x7f7fffffu)
      return MPNUM_ERROR_ARGUMENT;
  for (i = 0; i < src.rows; ++i)
    mpnum_quantize_by_(dst_type, (uint8_t *)dst + i * dst_stride, src.type,
                       mpnum_rows_at_(src, i, 0), src.columns, mpnum_float_at_(scales, i),
                       losses);
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_dequantize_channels(mpnum_rows dst, mpnum_type src_type, const void *src,
                          size_t src_stride, const float *scales_inv) {
  size_t i = 0;
  if (!mpnum_is_scaled_type_(src_type) || !mpnum_is_block_source_(dst.type) ||
      !scales_inv || !src || !dst.data || src_stride < dst.columns ||
      dst.stride < dst.columns)
    return MPNUM_ERROR_ARGUMENT;
  for (; i < dst.rows; ++i)
    if (mpnum_bits_f32(mpnum_float_at_(scales_inv, i)) - 1 >= 0x7f7fffffu)
      return MPNUM_ERROR_ARGUMENT;
  for (i = 0; i < dst.rows; ++i)
    mpnum_dequantize_by_(dst.type, mpnum_rows_to_(dst, i, 0), src_type,
                         (const uint8_t *)src + i * src_stride, dst.columns,
                         mpnum_float_at_(scales_inv, i));
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* Arrays of FP8 with a scale for each tensor or channel, on hosts. amax_history.h, which
 * this header includes, finds scales, on devices too. */
#ifndef MPNUM_ARRAY_SCALE_H
#define MPNUM_ARRAY_SCALE_H

#include "amax_history.h"
#include "detail/scale_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Quantises: each element times scale is rounded to f32, then to nearest even,
 * saturating.
 * Domain: dst is e4m3, e5m2 or another signed type of at most 8 bits, one code in a
 *   byte; src is f32, f16 or bf16. They must not overlap. losses, unless NULL, are added
 *   to; their amax is what delayed scaling pushes.
 * NaN: the NaN of the type, or its largest value if it has none; Inf saturates and is
 *   counted.
 * Status: MPNUM_ERROR_TYPE: other types; MPNUM_ERROR_ARGUMENT: scale not finite or not
 *   above 0; MPNUM_ERROR_NULL; MPNUM_ERROR_STRIDE: a stride below columns;
 *   MPNUM_ERROR_OVERLAP. Nothing is written then. Without elements MPNUM_OK. */
MPNUM_HOST mpnum_status mpnum_scaled_check_(mpnum_type codes_type, const void *codes,
                                            size_t codes_stride,
                                            mpnum_const_matrix values,
                                            const float *scales, size_t scale_step) {
  const int size = mpnum_type_bits_(values.type) / 8;
  size_t i = 0;
  if (!values.rows || !values.columns) return MPNUM_OK;
  if (!mpnum_is_scaled_type_(codes_type) || !mpnum_has_floats_(values.type))
    return MPNUM_ERROR_TYPE;
  if (!codes || !values.data || !scales) return MPNUM_ERROR_NULL;
  if (codes_stride < values.columns) return MPNUM_ERROR_STRIDE;
  for (; i < values.rows; i += scale_step ? 1 : values.rows)
    if (mpnum_bits_f32(mpnum_float_at_(scales, i)) - 1 >= 0x7f7fffffu)
      return MPNUM_ERROR_ARGUMENT;
  return mpnum_overlap_(
             codes, (values.rows - 1) * codes_stride + values.columns, values.data,
             ((values.rows - 1) * values.stride + values.columns) * (size_t)size)
             ? MPNUM_ERROR_OVERLAP
             : MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_quantize_array(mpnum_type dst_type, void *dst, mpnum_type src_type, const void *src,
                     size_t n, float scale, mpnum_quantize_losses *losses) {
  const mpnum_status status = mpnum_scaled_check_(
      dst_type, dst, n, mpnum_const_matrix_of(src_type, src, 1, n), &scale, 0);
  if (status == MPNUM_OK && n)
    mpnum_quantize_by_(dst_type, dst, src_type, src, n, scale, losses);
  return status;
}
/* Dequantises: each code times scale_inv is rounded to f32, then to dst_type: f32, f16
 * or bf16. Status: as above. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_dequantize_array(mpnum_type dst_type,
                                                                void *dst,
                                                                mpnum_type src_type,
                                                                const void *src, size_t n,
                                                                float scale_inv) {
  const mpnum_status status = mpnum_scaled_check_(
      src_type, src, n, mpnum_const_matrix_of(dst_type, dst, 1, n), &scale_inv, 0);
  if (status == MPNUM_OK && n)
    mpnum_dequantize_by_(dst_type, dst, src_type, src, n, scale_inv);
  return status;
}
/* Quantise and dequantise the rows of a matrix with one scale, or scale_inv, for each
 * row: channels. Codes are rows of bytes, dst_stride (src_stride) apart. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_channels(
    mpnum_type dst_type, void *dst, size_t dst_stride, mpnum_const_matrix src,
    const float *scales, mpnum_quantize_losses *losses) {
  const mpnum_status status =
      mpnum_scaled_check_(dst_type, dst, dst_stride, src, scales, 1);
  size_t i = 0;
  if (status != MPNUM_OK || !src.rows || !src.columns) return status;
  if (mpnum_overlap_(dst, (src.rows - 1) * dst_stride + src.columns, scales,
                     src.rows * sizeof *scales))
    return MPNUM_ERROR_OVERLAP;
  for (; i < src.rows; ++i)
    mpnum_quantize_by_(dst_type, (uint8_t *)dst + i * dst_stride, src.type,
                       mpnum_rows_at_(src, i, 0), src.columns, mpnum_float_at_(scales, i),
                       losses);
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_dequantize_channels(mpnum_matrix dst, mpnum_type src_type, const void *src,
                          size_t src_stride, const float *scales_inv) {
  mpnum_const_matrix values =
      mpnum_const_matrix_of(dst.type, dst.data, dst.rows, dst.columns);
  mpnum_status status = MPNUM_OK;
  size_t i = 0;
  values.stride = dst.stride;
  if (dst.rows && dst.stride < dst.columns) return MPNUM_ERROR_STRIDE;
  status = mpnum_scaled_check_(src_type, src, src_stride, values, scales_inv, 1);
  if (status != MPNUM_OK || !dst.columns) return status;
  if (mpnum_floats_overlap_(scales_inv, dst.rows, mpnum_rows_read_(dst)))
    return MPNUM_ERROR_OVERLAP;
  for (; i < dst.rows; ++i)
    mpnum_dequantize_by_(dst.type, mpnum_rows_to_(dst, i, 0), src_type,
                         (const uint8_t *)src + i * src_stride, dst.columns,
                         mpnum_float_at_(scales_inv, i));
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

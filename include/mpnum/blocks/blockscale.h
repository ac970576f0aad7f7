/* SPDX-License-Identifier: MIT */
/* Quantises matrices to small formats with a scale for each block, MX, NVFP4, DeepSeek's
 * FP8 and int8, and back.
 *
 *     mpnum_blockscale_format format =
 *         mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
 *     mpnum_blockscaled codes =
 *         mpnum_blockscaled_of(&format, bytes, scale_inv, sizeof scale_inv, columns);
 *     mpnum_const_matrix x = mpnum_const_matrix_of(MPNUM_TYPE_BF16, data, rows, columns);
 *     status = mpnum_quantize_blocks(&format, codes, x, NULL, &losses);
 *
 * scale_inv is the stored scale, by which decoding multiplies codes. Quantising divides
 * elements by that very value, never by a scale that is rounded afterwards.
 * Domain: f32, f16 or bf16 matrices with a row stride, blocks of any shape; short blocks
 *   at the ends count as padded with zeros. No memory overlaps. Host only.
 * Zeros: a block of zeros, -0 too, has codes 0 and, with e8m0 scales, scale_inv 00.
 * Overflow: elements saturate and are counted.
 * NaN: a block with Inf or NaN has a NaN scale and NaN codes, or codes of the largest
 *   value if the type has no NaN (PROPAGATE), or is refused (ERROR).
 * Bits: the same for every ISA, flags and floating-point environment, and for a matrix
 *   that is cut at borders of blocks.
 * Status: MPNUM_ERROR_NULL; MPNUM_ERROR_ARGUMENT: a wrong format
 *   (mpnum_blockscale_validate names the field), a scale that is not finite and above 0;
 *   MPNUM_ERROR_TYPE; MPNUM_ERROR_STRIDE; MPNUM_ERROR_SHAPE: more than memory can hold;
 *   MPNUM_ERROR_RANGE: scale_inv_bytes is too small; MPNUM_ERROR_OVERLAP;
 *   MPNUM_ERROR_NONFINITE. Nothing is written then. Without rows or columns: MPNUM_OK,
 *   whatever the pointers.
 * Source: OCP Microscaling Formats 1.0; NVIDIA's cuBLAS documentation (NVFP4, RCEIL, the
 *   layout of scales); DeepSeek-V3 technical report, 3.3. docs/blocks.md. */
#ifndef MPNUM_BLOCKS_BLOCKSCALE_H
#define MPNUM_BLOCKS_BLOCKSCALE_H

#include "blockscale_format.h"
#include "../array/losses.h"
#include "detail/blockscale_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Quantises after all checks. any: NULL if the element type is not user-made and rounding
 * is not stochastic. */
MPNUM_HOST mpnum_status mpnum_quantize_checked_(const mpnum_blockscale_format *format,
                                                mpnum_blockscaled dst,
                                                mpnum_const_matrix src,
                                                const mpnum_quantize_options *options,
                                                mpnum_quantize_losses *losses,
                                                mpnum_quantize_any_run_ *any) {
  mpnum_block_job_ job;
  mpnum_quantize_job_of_(&job, format, dst, src, options, losses);
  job.scaling.any = any;
  mpnum_quantize_all_(&job, &job);
  return MPNUM_OK;
}
/* Quantises a matrix. dst.scale is for TWO_LEVEL only. options NULL: seed and offset 0.
 * Losses are added to *losses, unless losses is NULL. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_blocks(
    const mpnum_blockscale_format *format, mpnum_blockscaled dst, mpnum_const_matrix src,
    const mpnum_quantize_options *options, mpnum_quantize_losses *losses) {
  mpnum_status status = MPNUM_OK;
  if (!src.rows || !src.columns) return MPNUM_OK;
  status = mpnum_quantize_check_(format, &dst, &src);
  if (status == MPNUM_OK) status = mpnum_nonfinite_check_(format, &src, losses);
  if (status != MPNUM_OK) return status;
  return mpnum_quantize_checked_(format, dst, src, options, losses, mpnum_quantize_any_);
}
/* Quantises a matrix to two formats and reads it once from memory: for rows of blocks and
 * columns of blocks, as forward and backward passes need. losses: of the first format. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_blocks_both(
    const mpnum_blockscale_format *first_format, mpnum_blockscaled first_dst,
    const mpnum_blockscale_format *second_format, mpnum_blockscaled second_dst,
    mpnum_const_matrix src, const mpnum_quantize_options *options,
    mpnum_quantize_losses *losses) {
  mpnum_block_job_ first, second;
  mpnum_status status = MPNUM_OK;
  if (!src.rows || !src.columns) return MPNUM_OK;
  status = mpnum_quantize_check_(first_format, &first_dst, &src);
  if (status == MPNUM_OK)
    status = mpnum_quantize_check_(second_format, &second_dst, &src);
  if (status == MPNUM_OK && mpnum_blocks_overlap_(first_format, &first_dst, second_format,
                                                  &second_dst, src.rows, src.columns))
    status = MPNUM_ERROR_OVERLAP;
  if (status == MPNUM_OK) status = mpnum_nonfinite_check_(first_format, &src, losses);
  if (status == MPNUM_OK && first_format->policy != MPNUM_BLOCKSCALE_ERROR)
    status = mpnum_nonfinite_check_(second_format, &src, losses);
  if (status != MPNUM_OK) return status;
  mpnum_quantize_job_of_(&first, first_format, first_dst, src, options, losses);
  mpnum_quantize_job_of_(&second, second_format, second_dst, src, options, 0);
  first.scaling.any = second.scaling.any = mpnum_quantize_any_;
  mpnum_quantize_all_(&first, &second);
  return MPNUM_OK;
}
/* Multiplies codes by their scales, rounds to f32 and then to the type of dst. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_dequantize_blocks(
    const mpnum_blockscale_format *format, mpnum_matrix dst, mpnum_blockscaled src) {
  mpnum_const_matrix view =
      mpnum_const_matrix_of(dst.type, dst.data, dst.rows, dst.columns);
  mpnum_status status = MPNUM_OK;
  mpnum_block_job_ job;
  if (!dst.rows || !dst.columns) return MPNUM_OK;
  status = mpnum_dequantize_check_(format, &dst, &src);
  if (status != MPNUM_OK) return status;
  view.stride = dst.stride;
  mpnum_block_job_of_(&job, format, src, view);
  mpnum_dequantize_all_(&job, dst);
  return MPNUM_OK;
}
/* Writes the largest finite magnitude of a matrix to *amax, 0 if it has no elements; S of
 * NVFP4 is computed from this.
 * Status: MPNUM_ERROR_NULL; MPNUM_ERROR_TYPE: not f32, f16 or bf16; nothing is written
 *   then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_finite_amax_rows(float *amax,
                                                                mpnum_const_matrix src) {
  if (!src.rows || !src.columns) {
    if (amax) *amax = 0;
    return MPNUM_OK;
  }
  if (!amax || !src.data) return MPNUM_ERROR_NULL;
  if (!mpnum_has_floats_(src.type)) return MPNUM_ERROR_TYPE;
  *amax = mpnum_finite_amax_(&src);
  return MPNUM_OK;
}

MPNUM_HOST mpnum_blockscaled mpnum_blockscaled_of_(const mpnum_blockscale_format *format,
                                                   const void *codes,
                                                   const void *scale_inv,
                                                   size_t scale_inv_bytes, float scale,
                                                   size_t columns) {
  const size_t group = mpnum_blockscale_group_(format);
  mpnum_blockscaled made;
  MPNUM_MEMCPY_(&made.codes, &codes, sizeof codes); /* const in dequantisation */
  MPNUM_MEMCPY_(&made.scale_inv, &scale_inv, sizeof scale_inv);
  made.stride = (columns + group - 1) / group * group;
  made.scale_inv_bytes = scale_inv_bytes;
  made.is_swizzled = 0;
  made.scale = scale;
  return made;
}
/* Contiguous rows of codes with scales in rows; set is_swizzled, and of NVFP4 the scale,
 * where they differ. */
MPNUM_HOST mpnum_blockscaled mpnum_blockscaled_of(const mpnum_blockscale_format *format,
                                                  void *codes, void *scale_inv,
                                                  size_t scale_inv_bytes,
                                                  size_t columns) {
  return mpnum_blockscaled_of_(format, codes, scale_inv, scale_inv_bytes, 0, columns);
}
MPNUM_HOST mpnum_status mpnum_quantize_floats_as_(mpnum_blockscale_format format,
                                                  void *codes, void *scale_inv,
                                                  size_t scale_inv_bytes, float scale,
                                                  const float *src, size_t rows,
                                                  size_t columns) {
  const mpnum_const_matrix view =
      mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns);
  const mpnum_blockscaled dst =
      mpnum_blockscaled_of_(&format, codes, scale_inv, scale_inv_bytes, scale, columns);
  mpnum_status status = MPNUM_OK;
  if (!rows || !columns) return MPNUM_OK;
  status = mpnum_quantize_check_(&format, &dst, &view);
  if (status != MPNUM_OK) return status;
  return mpnum_quantize_checked_(&format, dst, view, 0, 0, 0);
}
MPNUM_HOST mpnum_status mpnum_dequantize_floats_as_(mpnum_blockscale_format format,
                                                    float *dst, const void *codes,
                                                    const void *scale_inv,
                                                    size_t scale_inv_bytes, float scale,
                                                    size_t rows, size_t columns) {
  return mpnum_dequantize_blocks(
      &format, mpnum_matrix_of(MPNUM_TYPE_F32, dst, rows, columns),
      mpnum_blockscaled_of_(&format, codes, scale_inv, scale_inv_bytes, scale, columns));
}

/* Presets: quantise matrices of floats with contiguous rows in 1x32 blocks with scales by
 * RCEIL, and back. Codes of 6 bits are dense: each row takes (columns + 3) / 4 groups of
 * four. */
/* Written by tools/wrappers (MX presets): do not edit. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_quantize_mx_e4m3(mpnum_e4m3 *codes, mpnum_e8m0 *scale_inv, size_t scale_inv_bytes,
                       const float *src, size_t rows, size_t columns) {
  return mpnum_quantize_floats_as_(
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), codes, scale_inv,
      scale_inv_bytes, 1, src, rows, columns);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_dequantize_mx_e4m3(float *dst, const mpnum_e4m3 *codes, const mpnum_e8m0 *scale_inv,
                         size_t scale_inv_bytes, size_t rows, size_t columns) {
  return mpnum_dequantize_floats_as_(
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), dst, codes, scale_inv,
      scale_inv_bytes, 1, rows, columns);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_quantize_mx_e2m1(mpnum_e2m1x2 *codes, mpnum_e8m0 *scale_inv, size_t scale_inv_bytes,
                       const float *src, size_t rows, size_t columns) {
  return mpnum_quantize_floats_as_(
      mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL), codes, scale_inv,
      scale_inv_bytes, 1, src, rows, columns);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_dequantize_mx_e2m1(
    float *dst, const mpnum_e2m1x2 *codes, const mpnum_e8m0 *scale_inv,
    size_t scale_inv_bytes, size_t rows, size_t columns) {
  return mpnum_dequantize_floats_as_(
      mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL), dst, codes, scale_inv,
      scale_inv_bytes, 1, rows, columns);
}
/* End of what tools/wrappers wrote. */

/* NVFP4 in 1x16 blocks. *scale receives S for the largest finite magnitude of src. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_quantize_nvfp4(mpnum_e2m1x2 *codes, mpnum_e4m3 *scale_inv, size_t scale_inv_bytes,
                     float *scale, const float *src, size_t rows, size_t columns) {
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_const_matrix view =
      mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns);
  mpnum_blockscaled dst =
      mpnum_blockscaled_of_(&format, codes, scale_inv, scale_inv_bytes, 1, columns);
  mpnum_status status = MPNUM_OK;
  if (!rows || !columns) {
    if (scale) *scale = 1;
    return MPNUM_OK;
  }
  status = scale ? mpnum_quantize_check_(&format, &dst, &view) : MPNUM_ERROR_NULL;
  if (status != MPNUM_OK) return status;
  *scale = dst.scale = mpnum_nvfp4_scale(mpnum_finite_amax_(&view));
  return mpnum_quantize_checked_(&format, dst, view, 0, 0, 0);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_dequantize_nvfp4(float *dst, const mpnum_e2m1x2 *codes, const mpnum_e4m3 *scale_inv,
                       size_t scale_inv_bytes, float scale, size_t rows, size_t columns) {
  return mpnum_dequantize_floats_as_(mpnum_blockscale_nvfp4_1x16(), dst, codes, scale_inv,
                                     scale_inv_bytes, scale, rows, columns);
}

#endif
MPNUM_C_END_
#endif

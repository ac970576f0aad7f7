/* SPDX-License-Identifier: MIT */
/* Matrices in small formats with a scale for each block: MX, NVFP4, DeepSeek's FP8 and
 * int8, to codes and back.
 *
 *     mpnum_blockscale_format format =
 *         mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
 *     mpnum_blockscaled quantized = {codes, columns, scale_inv, sizeof scale_inv, 0, 1};
 *     status = mpnum_quantize_blocks(&format, quantized,
 *                                    mpnum_const_rows_of(MPNUM_TYPE_BF16, x, rows,
 * columns), NULL, &losses);
 *
 * scale_inv is the stored scale, what a code is multiplied by when it is decoded;
 * elements are divided by that very value, never by one that was rounded afterwards.
 * Domain   f32, f16 or bf16 matrices with a row stride, blocks of any shape, short ones
 * at the ends count as padded with zeros. Nothing overlaps. Zeros    a block of zeros, -0
 * too, has codes 0; with e8m0 scales scale_inv 00. Overflow elements saturate, and are
 * counted. NaN      Inf and NaN make the scale of their block NaN, and all codes NaN, or
 * the largest value where the type has none (PROPAGATE), or are refused (ERROR). Bits the
 * same for every ISA, flags and floating-point environment, and for a matrix that is
 * split at borders of blocks. Status   MPNUM_ERROR_ARGUMENT: a wrong format
 * (mpnum_blockscale_validate names the field), type, stride or pointer, no rows or
 * columns, a scale of the tensor that is not finite and above 0; MPNUM_ERROR_RANGE:
 * scale_inv_bytes too small; MPNUM_ERROR_NONFINITE. Nothing is written then. Source   OCP
 * Microscaling Formats 1.0; NVIDIA's cuBLAS documentation (NVFP4, RCEIL, the layout of
 * scales); DeepSeek-V3 technical report, 3.3. docs/blocks.md. */
#ifndef MPNUM_BLOCKSCALE_H
#define MPNUM_BLOCKSCALE_H

#include "blockscale_format.h"
#include "losses.h"
#include "detail/simd/blockscale_pass.h"

#if MPNUM_HAS_ARRAYS

/* Quantises a matrix. scale of dst goes with TWO_LEVEL only. options NULL: seed and
 * offset 0. losses, unless NULL, are added to. */
MPNUM_HOST mpnum_status mpnum_quantize_blocks(const mpnum_blockscale_format *format,
                                              mpnum_blockscaled dst, mpnum_const_rows src,
                                              const mpnum_quantize_options *options,
                                              mpnum_quantize_losses *losses) {
  mpnum_block_job_ job;
  mpnum_status status = mpnum_quantize_check_(format, &dst, &src);
  if (status == MPNUM_OK) status = mpnum_nonfinite_check_(format, &src, losses);
  if (status != MPNUM_OK) return status;
  mpnum_block_job_of_(&job, format, dst, src, options, losses);
  mpnum_quantize_all_(&job, 0);
  return MPNUM_OK;
}
/* The same in two formats at once, which read the matrix once from memory: rows of blocks
 * and columns of them, as forward and backward passes want it. losses: of the first. */
MPNUM_HOST mpnum_status mpnum_quantize_blocks_both(
    const mpnum_blockscale_format *first_format, mpnum_blockscaled first_dst,
    const mpnum_blockscale_format *second_format, mpnum_blockscaled second_dst,
    mpnum_const_rows src, const mpnum_quantize_options *options,
    mpnum_quantize_losses *losses) {
  mpnum_block_job_ first, second;
  mpnum_status status = mpnum_quantize_check_(first_format, &first_dst, &src);
  if (status == MPNUM_OK)
    status = mpnum_quantize_check_(second_format, &second_dst, &src);
  if (status == MPNUM_OK) status = mpnum_nonfinite_check_(first_format, &src, losses);
  if (status == MPNUM_OK && first_format->policy != MPNUM_BLOCKSCALE_ERROR)
    status = mpnum_nonfinite_check_(second_format, &src, losses);
  if (status != MPNUM_OK) return status;
  mpnum_block_job_of_(&first, first_format, first_dst, src, options, losses);
  mpnum_block_job_of_(&second, second_format, second_dst, src, options, 0);
  mpnum_quantize_all_(&first, &second);
  return MPNUM_OK;
}
/* Codes times their scales, rounded to f32 and then to the type of dst. */
MPNUM_HOST mpnum_status mpnum_dequantize_blocks(const mpnum_blockscale_format *format,
                                                mpnum_rows dst, mpnum_blockscaled src) {
  mpnum_block_job_ job;
  const mpnum_status status = mpnum_dequantize_check_(format, &dst, &src);
  if (status != MPNUM_OK) return status;
  mpnum_block_job_of_(&job, format, src,
                      mpnum_const_rows_of(dst.type, dst.data, dst.rows, dst.columns), 0,
                      0);
  mpnum_dequantize_all_(&job, dst);
  return MPNUM_OK;
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* Quantised matrices as other libraries store them: ggml's MXFP4, NVFP4, Q8_0 and Q4_0,
 * bitsandbytes' NF4 and FP4, the groups of four bits of AWQ and GPTQ.
 *
 *     mpnum_stored weights = mpnum_stored_of(MPNUM_STORED_Q4_0, rows, columns, 0);
 *     weights.data = malloc(weights.data_bytes);
 *     status = mpnum_quantize_stored(weights, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x,
 *                                                                   rows, columns));
 *     status = mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, y, rows, columns),
 *                                      weights);
 *
 * Scales, rounding and ties are those of each library, not those of blockscale.h, so that
 * a port keeps its bytes; docs/stored-blocks.md has them, and where its code is not
 * followed.
 * Domain: f32, f16 or bf16 matrices with a row stride, at any address; columns are a
 *   multiple of the block; of NF4 and FP4 one row may have any number of them; of AWQ and
 *   GPTQ rows are a multiple of 8. No memory overlaps. Host only; launchers of
 *   both: stored_matrix.cuh.
 * Overflow: a scale past f16, as of an amax of 127 * 65520 in Q8_0, is Inf, as there.
 * NaN: a matrix with Inf or NaN is refused; a block with a scale of NaN comes back as
 *   NaN.
 * Bits: the same for every ISA, flags and floating-point environment.
 * Status: MPNUM_ERROR_NULL; MPNUM_ERROR_ARGUMENT: no such layout or block, or one that
 *   has no other form; MPNUM_ERROR_TYPE; MPNUM_ERROR_STRIDE; MPNUM_ERROR_SHAPE: shapes
 *   differ, rows or columns do not fit the block, or are more than memory can hold;
 *   MPNUM_ERROR_RANGE: too few bytes; MPNUM_ERROR_OVERLAP; MPNUM_ERROR_NONFINITE. Nothing
 *   is written then. Without rows or columns: MPNUM_OK, whatever the pointers. */
#ifndef MPNUM_BLOCKS_STORED_MATRIX_H
#define MPNUM_BLOCKS_STORED_MATRIX_H

#include "stored_layout.h"
#include "detail/stored_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Quantises a matrix as the library of the layout does. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_stored(mpnum_stored dst,
                                                               mpnum_const_matrix src) {
  mpnum_status status = MPNUM_OK;
  uint64_t saved = 0;
  if (!src.rows || !src.columns) return MPNUM_OK;
  status = mpnum_stored_check_(&dst, src);
  if (status == MPNUM_OK) status = mpnum_stored_finite_(src);
  if (status != MPNUM_OK) return status;
  saved = mpnum_fenv_save_();
  if (mpnum_stored_block_bytes_(dst.layout))
    mpnum_store_ggml_(&dst, src);
  else if (mpnum_is_book_(dst.layout))
    mpnum_store_books_(&dst, src);
  else
    mpnum_store_groups_(&dst, src);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}
/* Multiplies codes by their scales, rounds to f32 and then to the type of dst. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_dequantize_stored(mpnum_matrix dst,
                                                                 mpnum_stored src) {
  mpnum_status status = MPNUM_OK;
  uint64_t saved = 0;
  if (!dst.rows || !dst.columns) return MPNUM_OK;
  status = mpnum_stored_check_(&src, mpnum_rows_read_(dst));
  if (status == MPNUM_OK && dst.stride < dst.columns) status = MPNUM_ERROR_STRIDE;
  if (status != MPNUM_OK) return status;
  saved = mpnum_fenv_save_();
  if (mpnum_stored_block_bytes_(src.layout))
    mpnum_load_ggml_(dst, &src);
  else if (mpnum_is_book_(src.layout))
    mpnum_load_books_(dst, &src);
  else
    mpnum_load_groups_(dst, &src);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* Move codes and scales, without arithmetic, between MXFP4 or NVFP4 and the form of
 * mpnum_blockscale_mx(MPNUM_TYPE_E2M1, any rule) or mpnum_blockscale_nvfp4_1x16(). S of
 * NVFP4 has no place in the layout: blocks.scale is neither read nor written. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_stored_from_blocks(mpnum_stored dst,
                                                                  mpnum_blockscaled src) {
  mpnum_status status = MPNUM_OK;
  size_t r = 0;
  if (!dst.rows || !dst.columns) return MPNUM_OK;
  status = mpnum_stored_move_check_(&dst, &src);
  if (status != MPNUM_OK) return status;
  for (; r < dst.rows; ++r)
    mpnum_stored_move_row_(&dst, &src, r, 0);
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_stored_to_blocks(mpnum_blockscaled dst,
                                                                mpnum_stored src) {
  const mpnum_blockscale_format format = mpnum_stored_format_(src.layout);
  uint8_t *const scales = (uint8_t *)dst.scale_inv;
  mpnum_status status = MPNUM_OK;
  size_t bytes = 0, i = 0;
  if (!src.rows || !src.columns) return MPNUM_OK;
  status = mpnum_stored_move_check_(&src, &dst);
  if (status != MPNUM_OK) return status;
  if (dst.is_swizzled) /* what pads the tiles, too */
    bytes = mpnum_blockscale_scale_bytes(&format, src.rows, src.columns, 1);
  for (; i < bytes; ++i)
    scales[i] = 0;
  for (i = 0; i < src.rows; ++i)
    mpnum_stored_move_row_(&src, &dst, i, 1);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

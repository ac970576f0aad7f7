/* SPDX-License-Identifier: MIT */
/* Quantised matrices as others want them: scales in another order, codes turned, one
 * block format made of another, matrices rounded to a block format where they are, and
 * NVFP4 whose second scale is of the matrix, or of some of its rows.
 * Opt-in; blockscale.h quantises.
 *
 *     // Scales in rows, as a file has them, for cuBLASLt.
 *     status = mpnum_reorder_scales(&format, MPNUM_SCALES_SWIZZLED, to, to_bytes,
 *                                   MPNUM_SCALES_IN_ROWS, from, from_bytes, rows, n);
 *     // NVFP4 as MXFP8, without a matrix of floats.
 *     status = mpnum_convert_blocks(&mxfp8, dst, &nvfp4, src, rows, columns, NULL, NULL);
 *     // NVFP4 of a matrix of bf16 with an S for each row.
 *     status = mpnum_quantize_two_level(&nvfp4, dst, scales, 1, x, NULL, NULL);
 *     // "Fake quantisation": x as it would come back, in place.
 *     status = mpnum_round_blocks(&mxfp8, x, mpnum_const_matrix_of(...), 0, NULL, NULL);
 *
 * Bits: mpnum_convert_blocks gives those of mpnum_quantize_blocks of the floats that
 * mpnum_dequantize_blocks gives, mpnum_round_blocks those of the two one after the other;
 * the others move bytes. NaN, zeros, overflow and environment: as there.
 * Host only; mpnum_reorder_scales has a launcher, layout.cuh. Status codes: those of
 * blockscale.h, and what each function says; nothing is written then. Without rows or
 * columns: MPNUM_OK, whatever the pointers.
 * Source of the orders: NVIDIA's cuBLAS documentation; DeepGEMM (deepseek-ai), its
 * transform of scale factors, for sm_100. docs/blocks.md. */
#ifndef MPNUM_BLOCKS_LAYOUT_H
#define MPNUM_BLOCKS_LAYOUT_H

#include "blockscale.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_ || MPNUM_HAS_NVRTC_

/* Orders of the scales of a matrix. */
typedef enum mpnum_scale_order {
  MPNUM_SCALES_IN_ROWS = 0,  /* a scale for each block, rows of blocks contiguous */
  MPNUM_SCALES_SWIZZLED = 1, /* mpnum_blockscale_scale_bytes with is_swizzled 1 */
  MPNUM_SCALES_DEEPGEMM = 2  /* of blocks of one row: words of four neighbours of e8m0,
                                the first in the lowest byte; word w of row r is number
                                w times rows, rounded up to a multiple of 4, plus r */
} mpnum_scale_order;

/* Where the scale of a block lies in words, of so many rows. */
MPNUM_INLINE size_t mpnum_deepgemm_place_(size_t high, size_t row, size_t block) {
  return 4 * (block / 4 * high + row) + block % 4;
}
/* The code of a float that is a power of two from 2^-127 on, or NaN, by its bits; 256 of
 * others. */
MPNUM_INLINE uint32_t mpnum_scale_code_(uint32_t bits) {
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0xffu;
  if (bits == 0x00400000u) return 0; /* 2^-127 */
  return (bits & 0x807fffffu) != 0 || bits == 0 || bits == 0x7f800000u ? 256 : bits >> 23;
}
/* And back. */
MPNUM_INLINE uint32_t mpnum_scale_bits_(uint32_t code) {
  return code == 0xffu ? 0x7fffffffu : code == 0 ? 0x00400000u : code << 23;
}

#endif

#if MPNUM_HAS_ARRAYS_

/* The bytes of the scales of a matrix in an order; 0 of an order that the format does not
 * have. */
MPNUM_HOST size_t mpnum_scale_order_bytes(const mpnum_blockscale_format *format,
                                          mpnum_scale_order order, size_t rows,
                                          size_t columns) {
  const size_t across = mpnum_blocks_along_(columns, format->columns);
  switch (order) {
  case MPNUM_SCALES_IN_ROWS:
    return mpnum_blockscale_scale_bytes(format, rows, columns, 0);
  case MPNUM_SCALES_SWIZZLED:
    return mpnum_blockscale_scale_bytes(format, rows, columns, 1);
  case MPNUM_SCALES_DEEPGEMM:
    if (format->rows != 1 || format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL) return 0;
    return (rows + 3) / 4 * 4 * ((across + 3) / 4 * 4);
  }
  return 0;
}

/* Scales of a matrix on their way from an order to another. */
typedef struct mpnum_scale_move_ {
  mpnum_block_job_ job; /* of swizzled scales */
  uint8_t *memory;
  mpnum_scale_order order;
  size_t across, high; /* blocks in a row; rows of DeepGEMM's words */
  int is_float;        /* scales in rows are floats */
} mpnum_scale_move_;
MPNUM_HOST void mpnum_scale_move_of_(mpnum_scale_move_ *move,
                                     const mpnum_blockscale_format *format,
                                     mpnum_scale_order order, const void *memory,
                                     size_t rows, size_t columns) {
  mpnum_const_matrix view = mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, rows, columns);
  const mpnum_blockscaled scales =
      mpnum_blockscaled_of_(format, 0, memory, 0, 1, columns);
  mpnum_block_job_of_(&move->job, format, scales, view);
  move->job.codes.is_swizzled = 1;
  move->memory = (uint8_t *)scales.scale_inv;
  move->order = order;
  move->across = move->job.across;
  move->high = (rows + 3) / 4 * 4;
  move->is_float = format->scale_type == MPNUM_TYPE_F32;
}
/* Codes of n scales of a row of blocks, from a column of blocks on. 0: a float has none.
 */
MPNUM_HOST int mpnum_scales_from_(const mpnum_scale_move_ *move, uint8_t *codes,
                                  size_t row, size_t column, size_t n) {
  const size_t first = row * move->across + column;
  size_t k = 0;
  if (move->order == MPNUM_SCALES_SWIZZLED) {
    mpnum_load_swizzled_(&move->job, codes, row, column, n);
    return 1;
  }
  for (; k < n; ++k) {
    if (move->order == MPNUM_SCALES_DEEPGEMM) {
      codes[k] = move->memory[mpnum_deepgemm_place_(move->high, row, column + k)];
    } else if (!move->is_float) {
      codes[k] = move->memory[first + k];
    } else {
      const uint32_t code =
          mpnum_scale_code_((uint32_t)mpnum_element_(32, move->memory, first + k));
      if (code > 0xffu) return 0;
      codes[k] = (uint8_t)code;
    }
  }
  return 1;
}
MPNUM_HOST void mpnum_scales_to_(const mpnum_scale_move_ *move, const uint8_t *codes,
                                 size_t row, size_t column, size_t n) {
  const size_t first = row * move->across + column;
  size_t k = 0;
  if (move->order == MPNUM_SCALES_SWIZZLED) {
    mpnum_store_swizzled_(&move->job, codes, row, column, n);
    return;
  }
  for (; k < n; ++k) {
    if (move->order == MPNUM_SCALES_DEEPGEMM) {
      move->memory[mpnum_deepgemm_place_(move->high, row, column + k)] = codes[k];
    } else if (!move->is_float) {
      move->memory[first + k] = codes[k];
    } else {
      mpnum_set_element_(32, move->memory, first + k, mpnum_scale_bits_(codes[k]));
    }
  }
}
MPNUM_HOST_COLD_ mpnum_status mpnum_scale_orders_check_(
    const mpnum_blockscale_format *format, mpnum_scale_order dst_order, const void *dst,
    size_t dst_bytes, mpnum_scale_order src_order, const void *src, size_t src_bytes,
    size_t rows, size_t columns) {
  const size_t most = (size_t)-1 / 16;
  size_t dst_size = 0, src_size = 0;
  if (!format || !dst || !src) return MPNUM_ERROR_NULL;
  if (mpnum_blockscale_validate(format, 0) != MPNUM_OK) return MPNUM_ERROR_ARGUMENT;
  if (rows > most || columns > most || rows + 127 > most / (columns + 127))
    return MPNUM_ERROR_SHAPE;
  dst_size = mpnum_scale_order_bytes(format, dst_order, rows, columns);
  src_size = mpnum_scale_order_bytes(format, src_order, rows, columns);
  if (!dst_size || !src_size) return MPNUM_ERROR_ARGUMENT;
  if (dst_bytes < dst_size || src_bytes < src_size) return MPNUM_ERROR_RANGE;
  return mpnum_overlap_(dst, dst_size, src, src_size) ? MPNUM_ERROR_OVERLAP : MPNUM_OK;
}
/* Moves the scales of a matrix of rows x columns from one order to another. What pads an
 * order becomes 0. Of a format with scales of f32 the other order is DeepGEMM's, whose
 * scales are powers of two from 2^-127 on, as AMAX_POW2 makes them, or NaN.
 * Status codes: MPNUM_ERROR_NULL; MPNUM_ERROR_ARGUMENT: a wrong format, an order that the
 * format does not have, a float that is none of those; MPNUM_ERROR_RANGE: too few bytes;
 * MPNUM_ERROR_SHAPE: more than memory can hold; MPNUM_ERROR_OVERLAP. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_reorder_scales(const mpnum_blockscale_format *format, mpnum_scale_order dst_order,
                     void *dst, size_t dst_bytes, mpnum_scale_order src_order,
                     const void *src, size_t src_bytes, size_t rows, size_t columns) {
  mpnum_scale_move_ from, to;
  uint8_t codes[MPNUM_RUN_];
  mpnum_status status = MPNUM_OK;
  size_t bytes = 0, down = 0, pass = 0, r = 0, c = 0;
  if (!rows || !columns) return MPNUM_OK;
  status = mpnum_scale_orders_check_(format, dst_order, dst, dst_bytes, src_order, src,
                                     src_bytes, rows, columns);
  if (status != MPNUM_OK) return status;
  mpnum_scale_move_of_(&from, format, src_order, src, rows, columns);
  mpnum_scale_move_of_(&to, format, dst_order, dst, rows, columns);
  bytes = mpnum_scale_order_bytes(format, dst_order, rows, columns);
  down = mpnum_blocks_along_(rows, format->rows);
  for (; pass < 2; ++pass) { /* looks, then writes */
    for (r = 0; pass == 1 && r < bytes; ++r)
      to.memory[r] = 0;
    for (r = 0; r < down; ++r)
      for (c = 0; c < from.across; c += MPNUM_RUN_) {
        const size_t left = from.across - c, n = left < MPNUM_RUN_ ? left : MPNUM_RUN_;
        if (!mpnum_scales_from_(&from, codes, r, c, n)) return MPNUM_ERROR_ARGUMENT;
        if (pass == 1) mpnum_scales_to_(&to, codes, r, c, n);
      }
  }
  return MPNUM_OK;
}

MPNUM_HOST_INLINE_ uint32_t mpnum_dense_code_(const uint8_t *codes, int bits, size_t i) {
  const size_t at = i * (size_t)bits;
  uint32_t two = codes[at / 8];
  if (at % 8 + (size_t)bits > 8) two |= (uint32_t)codes[at / 8 + 1] << 8;
  return two >> at % 8 & ((1u << bits) - 1);
}
MPNUM_HOST_INLINE_ void mpnum_set_dense_code_(uint8_t *codes, int bits, size_t i,
                                              uint32_t code) {
  const size_t at = i * (size_t)bits;
  const uint32_t ones = ((1u << bits) - 1) << at % 8, moved = code << at % 8;
  codes[at / 8] = (uint8_t)((codes[at / 8] & ~ones) | moved);
  if (ones >> 8)
    codes[at / 8 + 1] = (uint8_t)((codes[at / 8 + 1] & ~(ones >> 8)) | moved >> 8);
}
/* Codes of a matrix of rows x columns, as those of its transpose, which has a row for
 * each column: what launchers write with MPNUM_QUANTIZE_TRANSPOSED. bits: 8, or 4 or 6,
 * dense. Strides are elements from row to row, at whole bytes: multiples of 2 or 4. What
 * fills up the last two codes of a row, or with 6 bits the last four, becomes 0.
 * Status codes: MPNUM_ERROR_NULL; MPNUM_ERROR_ARGUMENT: other bits; MPNUM_ERROR_STRIDE;
 * MPNUM_ERROR_SHAPE: more than memory can hold; MPNUM_ERROR_OVERLAP. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_transpose_codes(void *dst, size_t dst_stride, const void *src, size_t src_stride,
                      size_t rows, size_t columns, int bits) {
  const size_t group = bits == 8 ? 1 : bits == 4 ? 2 : 4, edge = 32;
  uint8_t *const to = (uint8_t *)dst;
  const uint8_t *const from = (const uint8_t *)src;
  size_t dst_bytes = 0, src_bytes = 0, r = 0, c = 0, i = 0, j = 0;
  if (!rows || !columns) return MPNUM_OK;
  if (!dst || !src) return MPNUM_ERROR_NULL;
  if (bits != 8 && bits != 6 && bits != 4) return MPNUM_ERROR_ARGUMENT;
  if (src_stride < columns || dst_stride < rows || (rows > 1 && src_stride % group) ||
      (columns > 1 && dst_stride % group))
    return MPNUM_ERROR_STRIDE;
  src_bytes = mpnum_extent_(rows, columns, src_stride, bits);
  dst_bytes = mpnum_extent_(columns, rows, dst_stride, bits);
  if (!src_bytes || !dst_bytes) return MPNUM_ERROR_SHAPE;
  if (mpnum_overlap_(dst, dst_bytes, src, src_bytes)) return MPNUM_ERROR_OVERLAP;
  for (; bits != 8 && c < columns; ++c) { /* what fills up */
    const size_t end = c * dst_stride + rows;
    const size_t filled = end * (size_t)bits / 8, more = mpnum_bytes_(bits, end) - filled;
    for (i = 0; i < 3 && i < more; ++i)
      to[filled + i] = 0;
  }
  for (r = 0; r < rows; r += edge)
    for (c = 0; c < columns; c += edge) { /* squares that stay in a cache */
      const size_t high = rows - r < edge ? rows - r : edge;
      const size_t wide = columns - c < edge ? columns - c : edge;
      for (j = c; j < c + wide; ++j)
        for (i = r; i < r + high; ++i) {
          if (bits == 8)
            to[j * dst_stride + i] = from[i * src_stride + j];
          else
            mpnum_set_dense_code_(to, bits, j * dst_stride + i,
                                  mpnum_dense_code_(from, bits, i * src_stride + j));
        }
    }
  return MPNUM_OK;
}

/* Floats of codes of one row that begin at a whole byte and, where that is not at the
 * border of a block, end in the same block. */
MPNUM_HOST void mpnum_block_floats_(const mpnum_block_job_ *from, float *dst, size_t row,
                                    size_t column, size_t n) {
  MPNUM_ALIGNED_ float factors[MPNUM_RUN_];
  const size_t wide = from->columns, rows = from->rows;
  const int is_one = from->shift == 31 || column % wide != 0;
  const size_t count = is_one ? 1 : mpnum_blocks_along_(n, wide);
  const uint8_t *const codes = mpnum_block_codes_(from, row, column);
  const mpnum_factors_ by = mpnum_factors_of_(factors, is_one ? 31 : from->shift);
  int is_low = 0;
  mpnum_load_scales_(from, factors, mpnum_block_at_(row, rows), column / wide, count);
  is_low = mpnum_factors_are_low_(from, factors, count);
  if (!is_one) mpnum_spread_factors_(from, factors, 1, n);
  mpnum_dequantize_run_(from, dst, codes, by, n, is_low);
}
/* Floats of a run, whatever blocks it crosses. */
MPNUM_HOST const float *mpnum_load_blocks_(const mpnum_block_job_ *job, size_t row,
                                           size_t column, size_t n, float *buffer) {
  const mpnum_block_job_ *const from = job->from;
  const size_t wide = from->columns;
  size_t done = 0, size = 0;
  for (; done < n; done += size) {
    const size_t at = column + done;
    const size_t skipped = from->scaling.element_bits == 8 ? 0 : at % 4;
    size = n - done;
    if (at % wide != 0 || from->shift == 31)
      size = size < wide - at % wide ? size : wide - at % wide;
    if (!skipped) {
      mpnum_block_floats_(from, buffer + done, row, at, size);
    } else {
      MPNUM_ALIGNED_ float more[MPNUM_RUN_];
      if (size > MPNUM_RUN_ - 4) size = MPNUM_RUN_ - 4;
      mpnum_block_floats_(from, more, row, at - skipped, skipped + size);
      MPNUM_MEMCPY_(buffer + done, more + skipped, size * sizeof *buffer);
    }
  }
  return buffer;
}
/* How a job reads the codes of another one, and the environment for both. */
MPNUM_HOST_COLD_ uint64_t mpnum_block_enter_both_(const mpnum_block_job_ *job,
                                                  const mpnum_block_job_ *from) {
  const size_t n = job->src.rows * job->src.columns;
  const int flushes =
      mpnum_scaling_flushes_(&job->scaling, n) && mpnum_second_level_flushes_(job, 0) &&
      mpnum_scaling_flushes_(&from->scaling, n) && mpnum_second_level_flushes_(from, 1);
  return flushes ? mpnum_fenv_flush_() : mpnum_fenv_save_();
}
MPNUM_HOST_COLD_ void mpnum_block_source_of_(mpnum_block_job_ *job,
                                             const mpnum_blockscale_format *format,
                                             mpnum_blockscaled codes, size_t rows,
                                             size_t columns) {
  mpnum_block_job_of_(job, format, codes,
                      mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, rows, columns));
  mpnum_dequantize_begin_(job);
}
/* With MPNUM_BLOCKSCALE_ERROR: counts values that are not finite. */
MPNUM_HOST_COLD_ mpnum_status
mpnum_nonfinite_blocks_(const mpnum_blockscale_format *format,
                        const mpnum_block_job_ *job, mpnum_quantize_losses *losses) {
  uint64_t found = 0;
  size_t r = 0, c = 0, k = 0;
  if (format->policy != MPNUM_BLOCKSCALE_ERROR) return MPNUM_OK;
  for (; r < job->src.rows; ++r)
    for (c = 0; c < job->src.columns; c += MPNUM_RUN_) {
      MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
      const size_t left = job->src.columns - c, n = left < MPNUM_RUN_ ? left : MPNUM_RUN_;
      const float *const x = mpnum_load_blocks_(job, r, c, n, buffer);
      for (k = 0; k < n; ++k)
        found += (mpnum_bits_f32(mpnum_float_at_(x, k)) & 0x7f800000u) == 0x7f800000u;
    }
  if (losses) losses->nonfinite += found;
  return found ? MPNUM_ERROR_NONFINITE : MPNUM_OK;
}
/* A matrix of rows x columns in one block format, as in another: codes of the values,
 * rounded to f32, that those of src stand for. options and losses: as of
 * mpnum_quantize_blocks of a matrix of floats with contiguous rows. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_convert_blocks(const mpnum_blockscale_format *dst_format, mpnum_blockscaled dst,
                     const mpnum_blockscale_format *src_format, mpnum_blockscaled src,
                     size_t rows, size_t columns, const mpnum_quantize_options *options,
                     mpnum_quantize_losses *losses) {
  const mpnum_const_matrix view = mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, rows, columns);
  mpnum_block_job_ job, from;
  mpnum_status status = MPNUM_OK;
  size_t extent[2];
  uint64_t saved = 0;
  if (!rows || !columns) return MPNUM_OK;
  status = mpnum_blockscaled_check_(dst_format, &dst, rows, columns, extent);
  if (status == MPNUM_OK)
    status = mpnum_blockscaled_check_(src_format, &src, rows, columns, extent);
  if (status == MPNUM_OK)
    status = mpnum_float_scales_check_(src_format, &src, rows, columns);
  if (status == MPNUM_OK &&
      mpnum_blocks_overlap_(dst_format, &dst, src_format, &src, rows, columns))
    status = MPNUM_ERROR_OVERLAP;
  if (status != MPNUM_OK) return status;
  mpnum_block_source_of_(&from, src_format, src, rows, columns);
  mpnum_quantize_job_of_(&job, dst_format, dst, view, options, losses);
  job.scaling.any = mpnum_quantize_any_;
  job.load = mpnum_load_blocks_;
  job.from = &from;
  saved = mpnum_block_enter_both_(&job, &from);
  status = mpnum_nonfinite_blocks_(dst_format, &job, losses);
  if (status == MPNUM_OK) {
    mpnum_clear_padding_(&job);
    mpnum_quantize_part_(&job, 0, 0, rows, columns);
  }
  mpnum_fenv_restore_(saved);
  return status;
}

/* Rounds a band of at most a block's rows and a strip's columns. back: of the same
 * format, with its scales in scale_inv, of room for those of a band. */
MPNUM_HOST_ONCE_ void mpnum_round_band_(mpnum_block_job_ *job, mpnum_block_job_ *back,
                                        mpnum_matrix dst, size_t row, size_t column,
                                        size_t rows, size_t n) {
  mpnum_band_scales_ scales;
  MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
  MPNUM_ALIGNED_ float inverses[MPNUM_RUN_];
  uint8_t codes[MPNUM_RUN_];
  const float *x = 0;
  const size_t count =
      mpnum_band_begin_(job, &scales, row, column, rows, n, 0, 0, &x, buffer);
  const mpnum_factors_ by = mpnum_factors_of_(inverses, job->shift);
  size_t r = 0, c = 0, k = 0;
  int is_low = 0;
  mpnum_load_scales_(back, inverses, 0, 0, count);
  is_low = mpnum_factors_are_low_(back, inverses, count);
  mpnum_spread_factors_(job, inverses, 1, n);
  for (; r < rows; ++r)
    for (c = 0; c < n; c += job->run) {
      const size_t size = n - c < job->run ? n - c : job->run;
      const uint64_t index = job->offset + (row + r) * job->src.stride + column + c;
      x = mpnum_job_floats_(job, row + r, column + c, size, buffer);
      mpnum_quantize_in_band_(job, &scales, codes, x, size, index);
      mpnum_dequantize_run_(back, buffer, codes, by, size, is_low);
      for (k = 0; scales.has_zeros && k < size; ++k)
        if (mpnum_has_no_codes_(job, &scales,
                                job->shift == 31 ? 0 : (c + k) / job->columns))
          mpnum_set_float_(buffer, k, 0);
      mpnum_floats_to_(dst.type, mpnum_rows_to_(dst, row + r, column + c), buffer, size);
    }
}
/* dst becomes src as it would come back from a block format: quantised, and dequantised
 * to the type of dst. dst may be src, of one type, with one stride. scale: S of
 * TWO_LEVEL. options and losses: as of mpnum_quantize_blocks.
 * Status codes: those of mpnum_quantize_blocks, for its codes would be; and
 * MPNUM_ERROR_OVERLAP: dst and src overlap otherwise. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_round_blocks(
    const mpnum_blockscale_format *format, mpnum_matrix dst, mpnum_const_matrix src,
    float scale, const mpnum_quantize_options *options, mpnum_quantize_losses *losses) {
  uint8_t scales[4 * MPNUM_RUN_];
  mpnum_blockscaled codes;
  mpnum_block_job_ job, back;
  mpnum_status status = MPNUM_OK;
  uint64_t saved = 0;
  size_t r = 0, c = 0, size = 0;
  if (dst.rows != src.rows || dst.columns != src.columns) return MPNUM_ERROR_SHAPE;
  if (!src.rows || !src.columns) return MPNUM_OK;
  if (!format || !dst.data || !src.data) return MPNUM_ERROR_NULL;
  if (mpnum_blockscale_validate(format, 0) != MPNUM_OK ||
      (format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL &&
       mpnum_bits_f32(scale) - 1 >= 0x7f7fffffu))
    return MPNUM_ERROR_ARGUMENT;
  if (!mpnum_has_floats_(src.type) || !mpnum_has_floats_(dst.type))
    return MPNUM_ERROR_TYPE;
  if (dst.stride < dst.columns) return MPNUM_ERROR_STRIDE;
  if (!mpnum_extent_(src.rows, src.columns, src.stride, mpnum_type_bits_(src.type)) ||
      !mpnum_extent_(dst.rows, dst.columns, dst.stride, mpnum_type_bits_(dst.type)))
    return MPNUM_ERROR_SHAPE;
  if ((dst.data != src.data || dst.type != src.type || dst.stride != src.stride) &&
      mpnum_rows_overlap_(dst, src))
    return MPNUM_ERROR_OVERLAP;
  status = mpnum_nonfinite_check_(format, &src, losses);
  if (status != MPNUM_OK) return status;
  codes = mpnum_blockscaled_of_(format, 0, scales, sizeof scales, scale, src.columns);
  mpnum_quantize_job_of_(&job, format, codes, src, options, losses);
  job.scaling.any = mpnum_quantize_any_;
  mpnum_block_source_of_(&back, format, codes, src.rows, src.columns);
  saved = mpnum_block_enter_both_(&job, &back);
  for (; r < src.rows; r += job.rows) {
    const size_t high = src.rows - r < job.rows ? src.rows - r : job.rows;
    for (c = 0; c < src.columns; c += size) {
      size = src.columns - c < job.strip ? src.columns - c : job.strip;
      mpnum_round_band_(&job, &back, dst, r, c, high, size);
    }
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* How rows share the second scale, S: the first row and how many of a group. */
MPNUM_HOST_COLD_ mpnum_status
mpnum_two_level_check_(const mpnum_blockscale_format *format, const mpnum_blockscaled *at,
                       const float *scales, size_t scale_rows, size_t rows) {
  const int is_cut = scale_rows != 0 && scale_rows < rows;
  if (!format || !scales) return MPNUM_ERROR_NULL;
  if (format->rule != MPNUM_BLOCKSCALE_TWO_LEVEL) return MPNUM_ERROR_ARGUMENT;
  if (is_cut && (!format->rows || scale_rows % format->rows != 0))
    return MPNUM_ERROR_ARGUMENT;
  if (is_cut && at->is_swizzled &&
      (scale_rows % 128 != 0 || mpnum_scale_layout_of_(format) == MPNUM_SCALES_TURNED_))
    return MPNUM_ERROR_ARGUMENT;
  return MPNUM_OK;
}
/* Whether the scales of groups share memory with what a valid call has besides. */
MPNUM_HOST_COLD_ int mpnum_two_level_overlaps_(const mpnum_blockscale_format *format,
                                               const mpnum_blockscaled *at,
                                               const float *scales, size_t scale_rows,
                                               mpnum_const_matrix x) {
  const size_t groups = scale_rows ? (x.rows - 1) / scale_rows + 1 : 1;
  const size_t bytes = groups * sizeof *scales;
  return mpnum_overlap_(
             scales, bytes, at->codes,
             mpnum_extent_(x.rows, x.columns, at->stride, format->element_bits)) ||
         mpnum_overlap_(
             scales, bytes, at->scale_inv,
             mpnum_blockscale_scale_bytes(format, x.rows, x.columns, at->is_swizzled)) ||
         mpnum_overlap_(
             scales, bytes, x.data,
             mpnum_extent_(x.rows, x.columns, x.stride, mpnum_type_bits_(x.type)));
}
MPNUM_HOST mpnum_blockscaled mpnum_rows_of_blocks_(const mpnum_blockscale_format *format,
                                                   mpnum_blockscaled at, size_t row,
                                                   size_t columns, float scale) {
  const size_t skipped =
      row ? mpnum_blockscale_scale_bytes(format, row, columns, at.is_swizzled) : 0;
  at.codes = (uint8_t *)at.codes + mpnum_bytes_(format->element_bits, row * at.stride);
  at.scale_inv = (uint8_t *)at.scale_inv + skipped;
  at.scale_inv_bytes -= skipped;
  at.scale = scale;
  return at;
}
/* NVFP4, and formats like it, with S computed here: mpnum_nvfp4_scale of the largest
 * finite magnitude of each group of scale_rows rows; 0: of the matrix, which has one. A
 * group for each row is one S a token. scales: receives an S for each group; dst.scale is
 * not read. options and losses: as of mpnum_quantize_blocks.
 * Status codes: those of mpnum_quantize_blocks; MPNUM_ERROR_ARGUMENT: another rule,
 * scale_rows that cut blocks, or, of swizzled scales, tiles of 128 rows (swizzle them
 * later: mpnum_reorder_scales). */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_two_level(
    const mpnum_blockscale_format *format, mpnum_blockscaled dst, float *scales,
    size_t scale_rows, mpnum_const_matrix src, const mpnum_quantize_options *options,
    mpnum_quantize_losses *losses) {
  mpnum_quantize_options words = {0, 0};
  mpnum_blockscale_format chosen;
  mpnum_status status = MPNUM_OK;
  size_t r = 0, group = 0, high = 0;
  if (!src.rows || !src.columns) return MPNUM_OK;
  status = mpnum_two_level_check_(format, &dst, scales, scale_rows, src.rows);
  dst.scale = 1;
  if (status == MPNUM_OK) status = mpnum_quantize_check_(format, &dst, &src);
  if (status == MPNUM_OK &&
      mpnum_two_level_overlaps_(format, &dst, scales, scale_rows, src))
    status = MPNUM_ERROR_OVERLAP;
  if (status == MPNUM_OK) status = mpnum_nonfinite_check_(format, &src, losses);
  if (status != MPNUM_OK) return status;
  if (options) words = *options;
  chosen = *format;
  chosen.policy = MPNUM_BLOCKSCALE_PROPAGATE; /* all were looked at */
  for (; r < src.rows && status == MPNUM_OK; r += high, ++group) {
    mpnum_const_matrix part = src;
    mpnum_quantize_options own = words;
    high = scale_rows && scale_rows < src.rows - r ? scale_rows : src.rows - r;
    part.data = mpnum_rows_at_(src, r, 0);
    part.rows = high;
    own.offset += r * src.stride;
    mpnum_set_float_(scales, group, mpnum_nvfp4_scale(mpnum_finite_amax_(&part)));
    status = mpnum_quantize_blocks(&chosen,
                                   mpnum_rows_of_blocks_(format, dst, r, src.columns,
                                                         mpnum_float_at_(scales, group)),
                                   part, &own, losses);
  }
  return status;
}
/* And back. Status codes: those of mpnum_dequantize_blocks, and as above;
 * MPNUM_ERROR_ARGUMENT: an S that is not above 0 and finite. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_dequantize_two_level(
    const mpnum_blockscale_format *format, mpnum_matrix dst, mpnum_blockscaled src,
    const float *scales, size_t scale_rows) {
  mpnum_status status = MPNUM_OK;
  size_t r = 0, group = 0, high = 0, pass = 0;
  if (!dst.rows || !dst.columns) return MPNUM_OK;
  status = mpnum_two_level_check_(format, &src, scales, scale_rows, dst.rows);
  src.scale = 1;
  if (status == MPNUM_OK) status = mpnum_dequantize_check_(format, &dst, &src);
  if (status == MPNUM_OK &&
      mpnum_two_level_overlaps_(format, &src, scales, scale_rows, mpnum_rows_read_(dst)))
    status = MPNUM_ERROR_OVERLAP;
  for (; pass < 2 && status == MPNUM_OK; ++pass) /* looks, then writes */
    for (r = group = 0; r < dst.rows && status == MPNUM_OK; r += high, ++group) {
      const float scale = mpnum_float_at_(scales, group);
      mpnum_matrix part = dst;
      high = scale_rows && scale_rows < dst.rows - r ? scale_rows : dst.rows - r;
      part.data = mpnum_rows_to_(dst, r, 0);
      part.rows = high;
      if (mpnum_bits_f32(scale) - 1 >= 0x7f7fffffu) return MPNUM_ERROR_ARGUMENT;
      if (pass == 1)
        status = mpnum_dequantize_blocks(
            format, part, mpnum_rows_of_blocks_(format, src, r, dst.columns, scale));
    }
  return status;
}

#endif
MPNUM_C_END_
#endif

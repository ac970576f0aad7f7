/* SPDX-License-Identifier: MIT */
/* Passes over matrices as other libraries store them: checks, pieces of rows, groups of
 * eight rows, and moves without arithmetic. */
#ifndef MPNUM_BLOCKS_DETAIL_STORED_PASS_H
#define MPNUM_BLOCKS_DETAIL_STORED_PASS_H

#include "stored_blocks.h"
#include "../stored_layout.h"
#include "../../array/reduce.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* --- Checks --- */

/* A matrix that is read or written, and so many other pieces of memory: that all are
 * there, large enough and apart. */
MPNUM_HOST mpnum_status mpnum_stored_memory_(const mpnum_stored *stored,
                                             const mpnum_memory_ *others, size_t count) {
  const mpnum_stored need =
      mpnum_stored_of(stored->layout, stored->rows, stored->columns, stored->block);
  mpnum_memory_ part[3];
  size_t i = 0, k = 0;
  part[0].at = stored->data;
  part[0].bytes = need.data_bytes;
  part[1].at = stored->scales;
  part[1].bytes = need.scales_bytes;
  part[2].at = stored->zeros;
  part[2].bytes = need.zeros_bytes;
  if (stored->data_bytes < need.data_bytes || stored->scales_bytes < need.scales_bytes ||
      stored->zeros_bytes < need.zeros_bytes)
    return MPNUM_ERROR_RANGE;
  for (; i < 3; ++i) {
    for (k = 0; part[i].bytes && k < count; ++k)
      if (mpnum_overlap_(part[i].at, part[i].bytes, others[k].at, others[k].bytes))
        return MPNUM_ERROR_OVERLAP;
    for (k = 0; part[i].bytes && k < i; ++k)
      if (part[k].bytes &&
          mpnum_overlap_(part[i].at, part[i].bytes, part[k].at, part[k].bytes))
        return MPNUM_ERROR_OVERLAP;
  }
  return MPNUM_OK;
}
MPNUM_HOST int mpnum_stored_is_null_(const mpnum_stored *stored) {
  const int has_block_scales = mpnum_stored_block_bytes_(stored->layout) != 0;
  return !stored->data || (!has_block_scales && !stored->scales) ||
         (!has_block_scales && !mpnum_is_book_(stored->layout) && !stored->zeros);
}
MPNUM_HOST mpnum_status mpnum_stored_check_(const mpnum_stored *stored,
                                            mpnum_const_matrix rows) {
  const mpnum_status status = mpnum_stored_validate_(stored);
  mpnum_memory_ other;
  if (status == MPNUM_ERROR_ARGUMENT) return status;
  if (!rows.data || mpnum_stored_is_null_(stored)) return MPNUM_ERROR_NULL;
  if (!mpnum_has_floats_(rows.type)) return MPNUM_ERROR_TYPE;
  if (status != MPNUM_OK) return status;
  if (rows.rows != stored->rows || rows.columns != stored->columns)
    return MPNUM_ERROR_SHAPE;
  other.at = rows.data;
  other.bytes =
      mpnum_extent_(rows.rows, rows.columns, rows.stride, mpnum_type_bits_(rows.type));
  if (!other.bytes) return MPNUM_ERROR_SHAPE;
  return mpnum_stored_memory_(stored, &other, 1);
}
MPNUM_HOST mpnum_status mpnum_stored_finite_(mpnum_const_matrix src) {
  size_t r = 0;
  for (; r < src.rows; ++r) {
    const void *const row = mpnum_rows_at_(src, r, 0);
    const size_t first =
        src.type == MPNUM_TYPE_F32
            ? mpnum_first_nonfinite_f32((const float *)row, src.columns)
        : src.type == MPNUM_TYPE_F16
            ? mpnum_first_nonfinite_f16((const mpnum_f16 *)row, src.columns)
            : mpnum_first_nonfinite_bf16((const mpnum_bf16 *)row, src.columns);
    if (first != src.columns) return MPNUM_ERROR_NONFINITE;
  }
  return MPNUM_OK;
}

/* --- Pieces of rows, of up to 64 elements --- */

MPNUM_HOST void mpnum_stored_read_(float x[64], mpnum_const_matrix src, size_t row,
                                   size_t column, size_t n) {
  const uint8_t *const from = mpnum_rows_at_(src, row, column);
  if (src.type != MPNUM_TYPE_F32) {
    mpnum_source_floats_(src.type, x, from, n);
  } else if (n == 64) {
    MPNUM_MEMCPY_(x, from, 256);
  } else {
    MPNUM_MEMCPY_(x, from, 4 * n);
  }
}
MPNUM_HOST void mpnum_stored_write_(mpnum_matrix dst, size_t row, size_t column,
                                    const float y[64], size_t n) {
  uint8_t *const to = mpnum_rows_to_(dst, row, column);
  if (dst.type != MPNUM_TYPE_F32) {
    mpnum_source_codes_(dst.type, to, y, n);
  } else if (n == 64) {
    MPNUM_MEMCPY_(to, y, 256);
  } else {
    MPNUM_MEMCPY_(to, y, 4 * n);
  }
}
MPNUM_HOST_INLINE_ size_t mpnum_stored_piece_(size_t left) {
  return left < 64 ? left : 64;
}
/* Reads a piece and pads it with zeros to a multiple of 16, which is returned. */
MPNUM_HOST_INLINE_ size_t mpnum_stored_padded_(float x[64], mpnum_const_matrix src,
                                               size_t row, size_t column, size_t left) {
  size_t n = mpnum_stored_piece_(left);
  mpnum_stored_read_(x, src, row, column, n);
  for (; n % 16 != 0; ++n)
    x[n] = 0;
  return n;
}

/* A piece of ggml's: 64 elements or, but for NVFP4, 32. Returns its bytes. */
MPNUM_HOST size_t mpnum_store_piece_(mpnum_stored_layout layout, uint8_t *to,
                                     const float x[64], size_t n) {
  const size_t bytes = mpnum_stored_block_bytes_(layout);
  size_t i = 0;
  for (; layout == MPNUM_STORED_NVFP4 && i < 4; ++i)
    mpnum_store_nvfp4_(to, i, x + 16 * i);
  if (i) return bytes;
  for (; i < n / 32; ++i, to += bytes) {
    if (layout == MPNUM_STORED_MXFP4) mpnum_store_mxfp4_(to, x + 32 * i);
    if (layout == MPNUM_STORED_Q8_0) mpnum_store_q8_0_(to, x + 32 * i);
    if (layout == MPNUM_STORED_Q4_0) mpnum_store_q4_0_(to, x + 32 * i);
  }
  return i * bytes;
}
/* n elements of whole blocks; returns where the next one begins. */
MPNUM_HOST const uint8_t *mpnum_stored_floats_(mpnum_stored_layout layout, float *y,
                                               const uint8_t *from, size_t n) {
  const size_t bytes = mpnum_stored_block_bytes_(layout);
  const float *const end = y + n;
  size_t s = 0;
  for (; y != end; from += bytes) {
    if (layout == MPNUM_STORED_NVFP4) {
      for (s = 0; s < 4; ++s, y += 16)
        mpnum_load_nvfp4_(y, from, s);
      continue;
    }
    if (layout == MPNUM_STORED_MXFP4) mpnum_load_mxfp4_(y, from);
    if (layout == MPNUM_STORED_Q8_0) mpnum_load_q8_0_(y, from);
    if (layout == MPNUM_STORED_Q4_0) mpnum_load_q4_0_(y, from);
    y += 32;
  }
  return from;
}

/* --- Matrices --- */

MPNUM_HOST void mpnum_store_ggml_(const mpnum_stored *dst, mpnum_const_matrix src) {
  uint8_t *to = (uint8_t *)dst->data;
  size_t r = 0, c = 0;
  for (; r < src.rows; ++r)
    for (c = 0; c < src.columns; c += 64) {
      const size_t n = mpnum_stored_piece_(src.columns - c);
      float x[64];
      mpnum_stored_read_(x, src, r, c, n);
      to += mpnum_store_piece_(dst->layout, to, x, n);
    }
}
MPNUM_HOST void mpnum_load_ggml_(mpnum_matrix dst, const mpnum_stored *src) {
  const uint8_t *from = (const uint8_t *)src->data;
  const int is_f32 = dst.type == MPNUM_TYPE_F32;
  size_t r = 0, c = 0, n = 0;
  for (; r < dst.rows; ++r)
    for (c = 0; c < dst.columns; c += n) {
      uint8_t *const to = mpnum_rows_to_(dst, r, c);
      float y[64];
      n = is_f32 ? dst.columns : mpnum_stored_piece_(dst.columns - c);
      from = mpnum_stored_floats_(src->layout, is_f32 ? (float *)(void *)to : y, from, n);
      if (!is_f32) mpnum_source_codes_(dst.type, to, y, n);
    }
}
/* Codes of 16 elements of NF4 or FP4. */
MPNUM_HOST_INLINE_ void mpnum_stored_book_codes_(int is_nf4, uint8_t code[16],
                                                 const float x[16], float by,
                                                 int32_t amax) {
  float product[16];
  mpnum_stored_products_(product, x, by, is_nf4 ? mpnum_stored_least_(amax) : 0);
  if (is_nf4)
    mpnum_stored_nf4_(code, product);
  else
    mpnum_stored_fp4_(code, product);
}
/* A block of n elements, to whole bytes. Returns its largest magnitude. */
MPNUM_HOST float mpnum_store_book_(int is_nf4, uint8_t *to, mpnum_const_matrix src,
                                   size_t row, size_t column, size_t n) {
  float x[64], by = 0;
  uint8_t code[16];
  int32_t amax = 0;
  size_t c = 0, i = 0, k = 0, filled = 0;
  for (; c < n; c += 64) {
    filled = mpnum_stored_padded_(x, src, row, column + c, n - c);
    for (i = 0; i < filled; i += 16)
      amax = mpnum_stored_amax_(amax, x + i);
  }
  by = mpnum_div_scalar_(
      1.0f,
      mpnum_from_bits_f32((uint32_t)(amax < 0x006ce3ee ? 0x006ce3ee /* 1e-38 */ : amax)));
  for (c = 0; c < n; c += 64) {
    if (n > 64) filled = mpnum_stored_padded_(x, src, row, column + c, n - c);
    for (i = 0; i < filled; i += 16) {
      mpnum_stored_book_codes_(is_nf4, code, x + i, by, amax);
      for (k = 0; k < 8 && c + i + 2 * k < n; ++k)
        *to++ = (uint8_t)(code[2 * k] << 4 | code[2 * k + 1]);
    }
  }
  return mpnum_from_bits_f32((uint32_t)amax);
}
MPNUM_HOST void mpnum_store_books_(const mpnum_stored *dst, mpnum_const_matrix src) {
  uint8_t *to = (uint8_t *)dst->data, *scales = (uint8_t *)dst->scales;
  size_t r = 0, c = 0;
  for (; r < src.rows; ++r)
    for (c = 0; c < src.columns; c += dst->block, scales += 4) {
      const size_t left = src.columns - c, n = left < dst->block ? left : dst->block;
      const float absmax =
          mpnum_store_book_(dst->layout == MPNUM_STORED_NF4, to, src, r, c, n);
      MPNUM_MEMCPY_(scales, &absmax, 4);
      to += (n + 1) / 2;
    }
}
MPNUM_HOST void mpnum_load_book_(const uint8_t *from, const uint32_t value[16],
                                 mpnum_matrix dst, size_t row, size_t column, size_t n) {
  size_t c = 0, i = 0;
  for (; c < n; c += 64) {
    const size_t size = mpnum_stored_piece_(n - c);
    float y[64];
    for (i = 0; i < (size + 1) / 2; ++i, ++from) {
      y[2 * i] = mpnum_from_bits_f32(value[*from >> 4]);
      y[2 * i + 1] = mpnum_from_bits_f32(value[*from & 15]);
    }
    mpnum_stored_write_(dst, row, column + c, y, size);
  }
}
MPNUM_HOST void mpnum_load_books_(mpnum_matrix dst, const mpnum_stored *src) {
  const uint8_t *from = (const uint8_t *)src->data;
  const uint8_t *scales = (const uint8_t *)src->scales;
  size_t r = 0, c = 0;
  for (; r < dst.rows; ++r)
    for (c = 0; c < dst.columns; c += src->block, scales += 4) {
      const size_t left = dst.columns - c, n = left < src->block ? left : src->block;
      uint32_t value[16];
      float absmax = 0;
      MPNUM_MEMCPY_(&absmax, scales, 4);
      mpnum_stored_book_(value, src->layout == MPNUM_STORED_NF4, absmax);
      mpnum_load_book_(from, value, dst, r, c, n);
      from += (n + 1) / 2;
    }
}

/* --- Groups of eight rows --- */

/* Where a word of eight rows at a column (AWQ), or of eight columns of a row (GPTQ),
 * begins. */
MPNUM_HOST_INLINE_ size_t mpnum_stored_eight_at_(const mpnum_stored *stored, size_t row,
                                                 size_t column) {
  return 4 * (stored->layout == MPNUM_STORED_AWQ ? column * (stored->rows / 8) + row / 8
                                                 : column / 8 * stored->rows + row);
}
/* The scales and zero points of eight rows. */
MPNUM_HOST void mpnum_stored_groups_(const mpnum_stored *dst, mpnum_const_matrix src,
                                     size_t row, size_t column, float scale[8],
                                     uint8_t zero[8]) {
  const int is_awq = dst->layout == MPNUM_STORED_AWQ;
  size_t r = 0, c = 0, i = 0;
  for (; r < 8; ++r) {
    int32_t range[2] = {0x7fffffff, -0x7fffffff};
    int zero_point = 0;
    for (c = 0; c < dst->block; c += 64) {
      const size_t n = mpnum_stored_piece_(dst->block - c);
      float x[64];
      mpnum_stored_read_(x, src, row + r, column + c, n);
      for (i = n; i % 16 != 0; ++i)
        x[i] = x[0];
      for (i = 0; i < n; i += 16)
        mpnum_stored_range_(range, x + i);
    }
    scale[r] = mpnum_stored_group_(is_awq, range, &zero_point);
    zero[r] = (uint8_t)zero_point;
  }
}
MPNUM_HOST void mpnum_store_eight_(const mpnum_stored *dst, mpnum_const_matrix src,
                                   size_t row, size_t column, const float scale[8],
                                   const uint8_t zero[8]) {
  uint8_t *const data = (uint8_t *)dst->data;
  const int is_awq = dst->layout == MPNUM_STORED_AWQ;
  const size_t n = mpnum_stored_piece_(dst->block - column % dst->block);
  uint8_t code[512]; /* eight of each column together, or of each row */
  float x[64];
  size_t r = 0, i = 0;
  for (; r < 8; ++r) {
    mpnum_stored_read_(x, src, row + r, column, n);
    for (i = 0; i < n; ++i)
      code[is_awq ? 8 * i + r : 64 * r + i] =
          (uint8_t)mpnum_stored_nibble_(mpnum_stored_steps_(x[i], scale[r]) + zero[r]);
  }
  for (i = 0; i < n; ++i) {
    const size_t at = is_awq
                          ? mpnum_stored_eight_at_(dst, row, column + i)
                          : mpnum_stored_eight_at_(dst, row + i % 8, column + i / 8 * 8);
    mpnum_store_word_(is_awq, data + at,
                      code + (is_awq ? 8 * i : 64 * (i % 8) + i / 8 * 8));
  }
}
MPNUM_HOST void mpnum_store_groups_(const mpnum_stored *dst, mpnum_const_matrix src) {
  const int is_awq = dst->layout == MPNUM_STORED_AWQ;
  uint8_t *const scales = (uint8_t *)dst->scales, *const zeros = (uint8_t *)dst->zeros;
  size_t r = 0, c = 0, k = 0, i = 0;
  for (; c < src.columns; c += dst->block)
    for (r = 0; r < src.rows; r += 8) {
      const size_t at = c / dst->block * src.rows + r;
      float scale[8];
      uint8_t zero[8], stored[8];
      mpnum_stored_groups_(dst, src, r, c, scale, zero);
      for (k = 0; k < 8; ++k) {
        const uint16_t bits = mpnum_f32_to_f16(scale[k]).bits;
        MPNUM_MEMCPY_(scales + 2 * (at + k), &bits, 2);
        stored[k] = (uint8_t)((zero[k] - !is_awq) & 15);
      }
      mpnum_store_word_(is_awq, zeros + at / 2, stored);
      for (i = 0; i < dst->block; i += 64)
        mpnum_store_eight_(dst, src, r, c + i, scale, zero);
    }
}
/* The values of 16 codes for each of eight rows. */
MPNUM_HOST void mpnum_stored_tables_(const mpnum_stored *src, uint32_t value[128],
                                     size_t at) {
  const int is_awq = src->layout == MPNUM_STORED_AWQ;
  const uint8_t *const scales = (const uint8_t *)src->scales + 2 * at;
  uint8_t zero[8];
  size_t k = 0, i = 0;
  mpnum_load_word_(is_awq, zero, (const uint8_t *)src->zeros + at / 2);
  for (; k < 8; ++k) {
    float steps[16];
    uint16_t bits = 0;
    MPNUM_MEMCPY_(&bits, scales + 2 * k, 2);
    for (i = 0; i < 16; ++i)
      steps[i] = (float)((int)i - (is_awq ? zero[k] : (zero[k] + 1) & 15));
    for (i = 0; i < 16; i += 8)
      mpnum_stored_values_(value + 16 * k + i, steps + i,
                           mpnum_f16_to_f32(mpnum_from_bits_f16(bits)));
  }
}
MPNUM_HOST void mpnum_load_eight_(mpnum_matrix dst, const mpnum_stored *src, size_t row,
                                  size_t column, const uint32_t value[128]) {
  const uint8_t *const data = (const uint8_t *)src->data;
  const int is_awq = src->layout == MPNUM_STORED_AWQ;
  const size_t n = mpnum_stored_piece_(src->block - column % src->block);
  float y[512];
  uint8_t code[8];
  size_t i = 0, k = 0;
  for (; i < n; ++i) {
    const size_t at = is_awq
                          ? mpnum_stored_eight_at_(src, row, column + i)
                          : mpnum_stored_eight_at_(src, row + i % 8, column + i / 8 * 8);
    mpnum_load_word_(is_awq, code, data + at);
    for (k = 0; k < 8; ++k) {
      const size_t r = is_awq ? k : i % 8, c = is_awq ? i : i / 8 * 8 + k;
      y[64 * r + c] = mpnum_from_bits_f32(value[16 * r + code[k]]);
    }
  }
  for (k = 0; k < 8; ++k)
    mpnum_stored_write_(dst, row + k, column, y + 64 * k, n);
}
MPNUM_HOST void mpnum_load_groups_(mpnum_matrix dst, const mpnum_stored *src) {
  size_t r = 0, c = 0, i = 0;
  for (; c < dst.columns; c += src->block)
    for (r = 0; r < dst.rows; r += 8) {
      uint32_t value[128];
      mpnum_stored_tables_(src, value, c / src->block * dst.rows + r);
      for (i = 0; i < src->block; i += 64)
        mpnum_load_eight_(dst, src, r, c + i, value);
    }
}

/* --- Between layouts of ggml and blockscale.h --- */

MPNUM_HOST mpnum_blockscale_format mpnum_stored_format_(mpnum_stored_layout layout) {
  return layout == MPNUM_STORED_NVFP4
             ? mpnum_blockscale_nvfp4_1x16()
             : mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_FLOOR);
}
MPNUM_HOST mpnum_status mpnum_stored_move_check_(const mpnum_stored *stored,
                                                 const mpnum_blockscaled *blocks) {
  const mpnum_blockscale_format format = mpnum_stored_format_(stored->layout);
  const mpnum_status status = mpnum_stored_validate_(stored);
  const size_t rows = stored->rows, columns = stored->columns;
  mpnum_memory_ others[2];
  if (!stored->data || !blocks->codes || !blocks->scale_inv) return MPNUM_ERROR_NULL;
  if (status == MPNUM_ERROR_ARGUMENT || (blocks->is_swizzled & ~1) ||
      stored->layout > MPNUM_STORED_NVFP4)
    return MPNUM_ERROR_ARGUMENT;
  if (blocks->stride < columns || (rows > 1 && blocks->stride % 2))
    return MPNUM_ERROR_STRIDE;
  if (status != MPNUM_OK) return status;
  others[0].at = blocks->codes;
  others[0].bytes = mpnum_extent_(rows, columns, blocks->stride, 4);
  others[1].at = blocks->scale_inv;
  others[1].bytes =
      mpnum_blockscale_scale_bytes(&format, rows, columns, blocks->is_swizzled);
  if (!others[0].bytes) return MPNUM_ERROR_SHAPE;
  if (blocks->scale_inv_bytes < others[1].bytes) return MPNUM_ERROR_RANGE;
  if (mpnum_overlap_(others[0].at, others[0].bytes, others[1].at, others[1].bytes))
    return MPNUM_ERROR_OVERLAP;
  return mpnum_stored_memory_(stored, others, 2);
}
/* Bytes of n pairs of elements, those that lie side by side, to those of halves, and
 * back. */
MPNUM_HOST_INLINE_ void mpnum_halves_of_pairs_(uint8_t *to, const uint8_t *from,
                                               size_t n) {
  size_t i = 0;
  for (; i < n / 2; ++i) {
    const uint32_t low = from[i], high = from[n / 2 + i];
    to[2 * i] = (uint8_t)((low & 15) | (high << 4 & 0xf0));
    to[2 * i + 1] = (uint8_t)(low >> 4 | (high & 0xf0));
  }
}
MPNUM_HOST_INLINE_ void mpnum_pairs_of_halves_(uint8_t *to, const uint8_t *from,
                                               size_t n) {
  size_t i = 0;
  for (; i < n / 2; ++i) {
    const uint32_t even = from[2 * i], odd = from[2 * i + 1];
    to[i] = (uint8_t)((even & 15) | (odd << 4 & 0xf0));
    to[n / 2 + i] = (uint8_t)(even >> 4 | (odd & 0xf0));
  }
}
/* Moves all blocks of a row, to data or back. */
MPNUM_HOST void mpnum_stored_move_row_(const mpnum_stored *stored,
                                       const mpnum_blockscaled *blocks, size_t row,
                                       int is_back) {
  const int is_nvfp4 = stored->layout == MPNUM_STORED_NVFP4;
  const size_t wide = is_nvfp4 ? 16 : 32, each = is_nvfp4 ? 4 : 1; /* scales in a block */
  const size_t across = stored->columns / wide, middle = wide / 2;
  const size_t bytes = mpnum_stored_block_bytes_(stored->layout);
  uint8_t *codes = (uint8_t *)blocks->codes + row * blocks->stride / 2;
  uint8_t *const scales = (uint8_t *)blocks->scale_inv;
  size_t b = 0;
  for (; b < across; ++b, codes += middle) {
    uint8_t *const block = (uint8_t *)stored->data + (row * across + b) / each * bytes;
    uint8_t *const nibbles = block + each + b % each * middle;
    const size_t at =
        blocks->is_swizzled ? mpnum_scale_place(row, b, across) : row * across + b;
    if (is_back) {
      scales[at] = block[b % each];
      mpnum_pairs_of_halves_(codes, nibbles, middle);
    } else {
      block[b % each] = scales[at];
      mpnum_halves_of_pairs_(nibbles, codes, middle);
    }
  }
}

#endif
MPNUM_C_END_
#endif

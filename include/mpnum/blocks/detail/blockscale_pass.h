/* SPDX-License-Identifier: MIT */
/* Passes over matrices in blocks: bands of a block's rows, runs of columns. */
#ifndef MPNUM_BLOCKS_DETAIL_BLOCKSCALE_PASS_H
#define MPNUM_BLOCKS_DETAIL_BLOCKSCALE_PASS_H

#include "../../array/detail/scale_loops.h"
#include "codes.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* The most floats in a band of several rows, read twice: the second-level cache keeps
 * it. */
# define MPNUM_BAND_ 65536

struct mpnum_block_job_;
/* The floats of a run whose source is no matrix of numbers. */
typedef const float *mpnum_block_source_(const struct mpnum_block_job_ *job, size_t row,
                                         size_t column, size_t n, float *buffer);
typedef struct mpnum_block_job_ {
  mpnum_scaling_ scaling;
  mpnum_block_rule_ rule;  /* when quantising */
  mpnum_blockscaled codes; /* its scale is 1 if the tensor has none */
  mpnum_const_matrix src;  /* when dequantising, the destination */
  mpnum_quantize_losses *losses;
  mpnum_type scale_type;
  int is_two_level; /* a scale for the tensor, too */
  uint64_t offset;
  size_t rows, columns, across; /* of a block; across: blocks in a row */
  int shift;                    /* finds the factors of a run, as loops take it */
  size_t run, strip;            /* columns of a run; of the runs that share scales */
  mpnum_scale_layout_ layout;   /* of swizzled scales */
  size_t swizzled[2];           /* rows and columns of swizzled scales */
  uint32_t low;                 /* of mpnum_band_scales_; when dequantising, of factors */
  mpnum_block_source_ *load;    /* NULL: the source is src */
  const struct mpnum_block_job_ *from; /* where load has them from */
} mpnum_block_job_;

/* --- Checks --- */

/* That codes and scales of a quantised matrix can be written; extent: the bytes that they
 * take. */
MPNUM_HOST mpnum_status mpnum_blockscaled_check_(const mpnum_blockscale_format *format,
                                                 const mpnum_blockscaled *codes,
                                                 size_t rows, size_t columns,
                                                 size_t extent[2]) {
  const mpnum_status status = mpnum_codes_extent_(format, codes, rows, columns, extent);
  if (status != MPNUM_OK) return status;
  return mpnum_overlap_(codes->scale_inv, extent[1], codes->codes, extent[0])
             ? MPNUM_ERROR_OVERLAP
             : MPNUM_OK;
}
MPNUM_HOST_ONCE_ mpnum_status mpnum_block_check_(const mpnum_blockscale_format *format,
                                                 const mpnum_blockscaled *codes,
                                                 const void *data, mpnum_type type,
                                                 size_t rows, size_t columns,
                                                 size_t stride) {
  mpnum_status status = MPNUM_OK;
  size_t extent[2], data_extent = 0;
  if (!data) return MPNUM_ERROR_NULL;
  status = mpnum_blockscaled_check_(format, codes, rows, columns, extent);
  if (status != MPNUM_OK) return status;
  if (!mpnum_has_floats_(type)) return MPNUM_ERROR_TYPE;
  data_extent = mpnum_extent_(rows, columns, stride, mpnum_type_bits_(type));
  if (!data_extent) return MPNUM_ERROR_SHAPE;
  return mpnum_overlap_(codes->codes, extent[0], data, data_extent) ||
                 mpnum_overlap_(codes->scale_inv, extent[1], data, data_extent)
             ? MPNUM_ERROR_OVERLAP
             : MPNUM_OK;
}
/* Whether codes or scales of two valid destinations of one matrix share memory. */
MPNUM_HOST int mpnum_blocks_overlap_(const mpnum_blockscale_format *a_format,
                                     const mpnum_blockscaled *a,
                                     const mpnum_blockscale_format *b_format,
                                     const mpnum_blockscaled *b, size_t rows,
                                     size_t columns) {
  const size_t a_codes = mpnum_extent_(rows, columns, a->stride, a_format->element_bits);
  const size_t b_codes = mpnum_extent_(rows, columns, b->stride, b_format->element_bits);
  const size_t a_scales =
      mpnum_blockscale_scale_bytes(a_format, rows, columns, a->is_swizzled);
  const size_t b_scales =
      mpnum_blockscale_scale_bytes(b_format, rows, columns, b->is_swizzled);
  return mpnum_overlap_(a->codes, a_codes, b->codes, b_codes) ||
         mpnum_overlap_(a->codes, a_codes, b->scale_inv, b_scales) ||
         mpnum_overlap_(a->scale_inv, a_scales, b->codes, b_codes) ||
         mpnum_overlap_(a->scale_inv, a_scales, b->scale_inv, b_scales);
}
MPNUM_HOST mpnum_status mpnum_quantize_check_(const mpnum_blockscale_format *format,
                                              const mpnum_blockscaled *dst,
                                              const mpnum_const_matrix *src) {
  return mpnum_block_check_(format, dst, src->data, src->type, src->rows, src->columns,
                            src->stride);
}
MPNUM_HOST mpnum_status mpnum_dequantize_check_(const mpnum_blockscale_format *format,
                                                const mpnum_matrix *dst,
                                                const mpnum_blockscaled *src) {
  const mpnum_status status = mpnum_block_check_(format, src, dst->data, dst->type,
                                                 dst->rows, dst->columns, dst->stride);
  if (status != MPNUM_OK) return status;
  if (dst->stride < dst->columns) return MPNUM_ERROR_STRIDE;
  return mpnum_float_scales_check_(format, src, dst->rows, dst->columns);
}

/* --- Jobs --- */

/* The number of the block at an element; size is at least 1. */
MPNUM_HOST_INLINE_ size_t mpnum_block_at_(size_t at, size_t size) {
  return size && at ? at / size : 0;
}

MPNUM_HOST int mpnum_log2_(size_t n) {
  int shift = 0;
  for (; n > 1; n >>= 1)
    ++shift;
  return shift;
}
/* Chooses the runs: of whole blocks, where a shift finds the factor or, with shift -1,
 * each element has its own; or of parts of one block, with shift 31. */
MPNUM_HOST_ONCE_ void mpnum_block_runs_(mpnum_block_job_ *job, size_t rows) {
  const size_t columns = job->columns;
  const int is_power = (columns & (columns - 1)) == 0;
  /* Taller bands fit no cache: their runs are as wide as possible, for long reads. */
  const size_t run = rows <= MPNUM_BAND_ / MPNUM_RUN_ || rows > MPNUM_BAND_ / 256
                         ? MPNUM_RUN_
                         : MPNUM_BAND_ / rows / 64 * 64;
  if (is_power && columns >= 16 && columns <= run) {
    job->shift = mpnum_log2_(columns);
    job->run = job->strip = run & ~(columns - 1);
  } else if (columns < 64) {
    job->shift = -1;
    job->run = job->strip = columns == 1 ? run : run / columns * columns;
  } else {
    job->shift = 31;
    job->run = columns < MPNUM_RUN_ ? columns : MPNUM_RUN_;
    job->strip = columns;
  }
}
/* What both directions need. */
MPNUM_HOST_ONCE_ void mpnum_block_job_of_(mpnum_block_job_ *job,
                                          const mpnum_blockscale_format *format,
                                          mpnum_blockscaled codes,
                                          mpnum_const_matrix src) {
  job->scale_type = format->scale_type;
  job->is_two_level = format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL;
  if (!job->is_two_level) codes.scale = 1;
  if (format->is_int8)
    mpnum_find_int8_scaling_(&job->scaling, job->scale_type == MPNUM_TYPE_E8M0);
  else
    mpnum_find_scaling_(&job->scaling, &format->element, format->element_bits,
                        format->rounding);
  job->codes = codes;
  job->src = src;
  job->losses = 0;
  job->offset = 0;
  job->load = 0;
  job->from = 0;
  job->rows = format->rows ? format->rows : src.rows;
  job->columns = format->columns ? format->columns : src.columns;
  if (job->rows > src.rows) job->rows = src.rows;
  if (job->columns > src.columns) job->columns = src.columns;
  job->across = mpnum_blocks_along_(job->src.columns, job->columns);
  job->low = mpnum_least_kept_(&job->scaling);
  job->layout = mpnum_scale_layout_of_(format);
  mpnum_swizzled_size_(format, job->swizzled, src.rows, src.columns);
  mpnum_block_runs_(job, job->rows);
}
/* Below which amax a block's factor may be past mpnum_most_flushed_, or its inverse
 * below the inverse of that: 2^2 above where it is so of amax / max. */
MPNUM_HOST_ONCE_ uint32_t mpnum_low_amax_(const mpnum_scaling_ *scaling,
                                          const mpnum_block_rule_ *rule) {
  const int most = (int)(mpnum_most_flushed_(scaling) >> 23) - 127;
  if (rule->kind == MPNUM_BLOCK_TWO_LEVEL_) return 0; /* S decides */
  return mpnum_bits_times_power_(rule->max & 0x7f800000u, 2 - most);
}
/* Whether S of the tensor allows to flush: e4m3 over it, from 2^-9 to 448, is normal, and
 * so is its inverse, up to mpnum_most_flushed_; or a product over it is. Of ue5m3, from
 * 2^-17 to 448 times 2^8, the same. */
MPNUM_HOST_ONCE_ int mpnum_second_level_flushes_(const mpnum_block_job_ *job,
                                                 int is_back) {
  const uint32_t least = job->scaling.least;
  const int wider = job->scale_type == MPNUM_TYPE_UE5M3 ? 8 : 0;
  const uint32_t most =
      is_back ? mpnum_bits_times_power_(least, 126 - 9 - wider)
              : mpnum_bits_times_power_(mpnum_most_flushed_(&job->scaling), -9 - wider);
  const uint32_t last = 0x79800000u /* 2^116 */ - ((uint32_t)wider << 23);
  const uint32_t first = 0x05000000u /* 2^-117 */ + ((uint32_t)wider << 23);
  const uint32_t scale = mpnum_bits_f32(job->codes.scale);
  if (!job->is_two_level) return 1;
  if (!is_back && job->rule.scale_per_max < 0x00800000u) return 0;
  return scale >= (is_back ? 0x00800000u : first) && scale <= (most < last ? most : last);
}
/* The environment of a call. */
MPNUM_HOST uint64_t mpnum_block_enter_(const mpnum_block_job_ *job,
                                       const mpnum_block_job_ *second, int is_back) {
  const size_t n = job->src.rows * job->src.columns;
  const int flushes = mpnum_scaling_flushes_(&job->scaling, n) &&
                      mpnum_second_level_flushes_(job, is_back) &&
                      (!second || (mpnum_scaling_flushes_(&second->scaling, n) &&
                                   mpnum_second_level_flushes_(second, is_back)));
  return flushes ? mpnum_fenv_flush_() : mpnum_fenv_save_();
}
/* And what quantising needs besides. */
MPNUM_HOST_ONCE_ void mpnum_quantize_job_of_(mpnum_block_job_ *job,
                                             const mpnum_blockscale_format *format,
                                             mpnum_blockscaled codes,
                                             mpnum_const_matrix src,
                                             const mpnum_quantize_options *options,
                                             mpnum_quantize_losses *losses) {
  mpnum_block_job_of_(job, format, codes, src);
  job->rule = mpnum_block_rule_of_(format, job->codes.scale);
  job->scaling.divides = job->rule.divides;
  job->low = mpnum_low_amax_(&job->scaling, &job->rule);
  job->losses = losses;
  if (!options) return;
  job->scaling.seed = options->seed;
  job->offset = options->offset;
}
/* Whether rows, and those of codes, lie one behind the other. */
MPNUM_HOST_INLINE_ int mpnum_is_dense_(const mpnum_block_job_ *job) {
  const size_t columns = job->src.columns;
  return job->src.stride == columns && job->codes.stride == columns && !job->load;
}
/* Whether they are one row of whole blocks. */
MPNUM_HOST int mpnum_rows_join_(const mpnum_block_job_ *job) {
  return job->rows == 1 && mpnum_is_dense_(job) && job->src.columns % job->columns == 0 &&
         (!job->codes.is_swizzled || job->layout == MPNUM_SCALES_OF_ROWS_);
}
/* How many rows of a band are one run of the loops: narrow ones, if the band is as wide
 * as the matrix. The factors of a row then lie there once for each of them. */
MPNUM_HOST size_t mpnum_rows_of_run_(const mpnum_block_job_ *job, size_t rows, size_t n) {
  const int is_part = n != job->src.columns || n > MPNUM_RUN_ / 2;
  if (rows == 1 || is_part || !mpnum_is_dense_(job)) return 1;
  if (job->shift >= 0 && job->shift < 31 && n % job->columns != 0) return 1;
  return rows * n <= MPNUM_RUN_ ? rows : MPNUM_RUN_ / n;
}
/* The factors of a row of n columns, or what belongs to these. */
MPNUM_HOST_INLINE_ size_t mpnum_row_factors_(const mpnum_block_job_ *job, size_t n) {
  return job->shift < 0 ? n : job->shift == 31 ? 1 : mpnum_blocks_along_(n, job->columns);
}
/* Repeats them for rows, and the last one as far as loops read. */
MPNUM_HOST_ONCE_ void mpnum_repeat_factors_(const mpnum_block_job_ *job, float *factors,
                                            size_t rows, size_t n) {
  const size_t row = mpnum_row_factors_(job, n), all = rows * row;
  const size_t read = (rows * n + MPNUM_SCALED_ - 1) / MPNUM_SCALED_ * MPNUM_SCALED_;
  const size_t padded = mpnum_row_factors_(job, read);
  size_t done = row;
  while (done < all) {
    const size_t more = all - done < done ? all - done : done;
    MPNUM_MEMCPY_(factors + done, factors, more * sizeof *factors);
    done += more;
  }
  for (; done < padded; ++done)
    factors[done] = factors[row - 1];
}
MPNUM_HOST uint8_t *mpnum_block_codes_(const mpnum_block_job_ *job, size_t row,
                                       size_t column) {
  return (uint8_t *)job->codes.codes +
         mpnum_bytes_(job->scaling.element_bits, row * job->codes.stride + column);
}

/* The place of a swizzled scale is the sum of both: first for the first block of a row
 * (of a column if the layout is turned), and next for the blocks behind it. */
MPNUM_HOST_INLINE_ size_t mpnum_swizzled_first_(const mpnum_block_job_ *job, size_t row) {
  if (job->layout == MPNUM_SCALES_TURNED_) return row / 4 * 512 + row % 4;
  return mpnum_scale_place(row, 0, job->swizzled[1]);
}
MPNUM_HOST_INLINE_ size_t mpnum_swizzled_next_(const mpnum_block_job_ *job,
                                               size_t column) {
  if (job->layout == MPNUM_SCALES_TURNED_)
    return mpnum_scale_place(column, 0, job->swizzled[1]);
  return column / 4 * 512 + column % 4;
}
/* The columns of one row, of count, that a row and a column of blocks are in: rows may be
 * joined. */
MPNUM_HOST_INLINE_ size_t mpnum_swizzled_row_(const mpnum_block_job_ *job, size_t *row,
                                              size_t *column, size_t count) {
  const size_t wide = job->swizzled[1];
  size_t left = 0;
  if (job->layout != MPNUM_SCALES_OF_ROWS_) return count;
  if (*column >= wide) {
    *row += *column / wide;
    *column %= wide;
  }
  left = wide - *column;
  return left < count ? left : count;
}
/* How many of n scales, from a column on, lie in fours, 512 bytes apart. */
MPNUM_HOST_INLINE_ size_t mpnum_swizzled_fours_(const mpnum_block_job_ *job,
                                                size_t column, size_t n) {
  return job->layout == MPNUM_SCALES_TURNED_ || column % 4 != 0 ? 0 : n / 4 * 4;
}
MPNUM_HOST void mpnum_store_swizzled_(const mpnum_block_job_ *job, const uint8_t *codes,
                                      size_t row, size_t column, size_t count) {
  const int is_square = job->layout == MPNUM_SCALES_OF_SQUARES_;
  size_t r = 0, k = 0;
  while (count != 0) {
    const size_t n = mpnum_swizzled_row_(job, &row, &column, count);
    const size_t first = is_square ? row * job->rows : row;
    const size_t left = job->src.rows - first;
    const size_t high = !is_square ? 1 : left < job->rows ? left : job->rows;
    /* Into many tiles, whose lines are 512 bytes apart, fours are no faster but slower.
     */
    const size_t fours =
        job->swizzled[1] <= 64 ? mpnum_swizzled_fours_(job, column, n) : 0;
    uint8_t *const to =
        (uint8_t *)job->codes.scale_inv + mpnum_swizzled_first_(job, first);
    for (k = 0; k < fours; k += 4) /* 16 rows at most: in one tile, 16 bytes apart */
      for (r = 0; r < high; ++r)
        MPNUM_MEMCPY_(to + 128 * (column + k) + 16 * r, codes + k, 4);
    for (; k < n; ++k) {
      uint8_t *const at = to + mpnum_swizzled_next_(job, column + k);
      for (r = 0; r < high; ++r)
        at[16 * r] = codes[k];
    }
    codes += n;
    column += n;
    count -= n;
  }
}
MPNUM_HOST void mpnum_load_swizzled_(const mpnum_block_job_ *job, uint8_t *codes,
                                     size_t row, size_t column, size_t count) {
  const int is_square = job->layout == MPNUM_SCALES_OF_SQUARES_;
  size_t k = 0;
  while (count != 0) {
    const size_t n = mpnum_swizzled_row_(job, &row, &column, count);
    const size_t fours = mpnum_swizzled_fours_(job, column, n);
    const uint8_t *const from =
        (const uint8_t *)job->codes.scale_inv +
        mpnum_swizzled_first_(job, is_square ? row * job->rows : row);
    for (k = 0; k < fours; k += 4)
      MPNUM_MEMCPY_(codes + k, from + 128 * (column + k), 4);
    for (; k < n; ++k)
      codes[k] = from[mpnum_swizzled_next_(job, column + k)];
    codes += n;
    column += n;
    count -= n;
  }
}
/* Writes zeros to all scales of a matrix if their swizzled layout has padding. */
MPNUM_HOST_COLD_ void mpnum_clear_tiles_(const mpnum_block_job_ *job) {
  const size_t high = job->swizzled[0], wide = job->swizzled[1];
  const size_t all = (high + 127) / 128 * 128 * ((wide + 3) / 4 * 4);
  uint8_t *const to = (uint8_t *)job->codes.scale_inv;
  size_t i = 0;
  if (all == high * wide) return;
  for (; i < all; ++i)
    to[i] = 0;
}
MPNUM_HOST_INLINE_ void mpnum_clear_padding_(const mpnum_block_job_ *job) {
  if (job->codes.is_swizzled) mpnum_clear_tiles_(job);
}

/* --- Quantising --- */

/* The floats of a run: where they are if they are floats, else converted to buffer. */
MPNUM_HOST const float *mpnum_run_floats_(const mpnum_const_matrix *src, size_t row,
                                          size_t column, size_t n, float *buffer) {
  const uint8_t *at = mpnum_rows_at_(*src, row, column);
  if (src->type == MPNUM_TYPE_F32) return (const float *)(const void *)at;
  mpnum_source_floats_(src->type, buffer, at, n);
  return buffer;
}
MPNUM_HOST const float *mpnum_job_floats_(const mpnum_block_job_ *job, size_t row,
                                          size_t column, size_t n, float *buffer) {
  return job->load ? (*job->load)(job, row, column, n, buffer)
                   : mpnum_run_floats_(&job->src, row, column, n, buffer);
}
/* Writes codes 0 to a block of zeros or with a scale of 0: rare. */
MPNUM_HOST_COLD_ void mpnum_clear_codes_(const mpnum_block_job_ *job, size_t row,
                                         size_t column, size_t n) {
  const int bits = job->scaling.element_bits;
  uint8_t *const codes = mpnum_block_codes_(job, row, 0);
  while (n != 0) {
    const size_t first =
        column * (size_t)bits; /* a bit; the bits of a code may be in two bytes */
    const size_t fours = first % 8 == 0 ? n / 4 * 4 : 0; /* four fill whole bytes */
    size_t i = first / 8;
    if (fours) {
      for (; i < (first + fours * (size_t)bits) / 8; ++i)
        codes[i] = 0;
    } else {
      const uint32_t ones = ((1u << bits) - 1) << first % 8;
      codes[i] = (uint8_t)(codes[i] & ~ones);
      if (ones >> 8) codes[i + 1] = (uint8_t)(codes[i + 1] & ~(ones >> 8));
    }
    column += fours ? fours : 1;
    n -= fours ? fours : 1;
  }
}
/* The largest of each of the first count magnitudes and of those of the other rows. */
MPNUM_HOST_ONCE_ void mpnum_fold_amax_(uint32_t *amax, size_t rows, size_t count) {
  for (; rows > 1; rows -= rows / 2)
    mpnum_amax_floats_(0, amax,
                       (const float *)(const void *)(amax + (rows - rows / 2) * count),
                       -1, rows / 2 * count);
}
/* Computes the largest magnitudes of blocks; with a shift below 0 first those of columns.
 * Returns the number of blocks. */
MPNUM_HOST size_t mpnum_band_amax_(const mpnum_block_job_ *job,
                                   mpnum_band_scales_ *scales, size_t row, size_t column,
                                   size_t rows, size_t n, const float **floats,
                                   float *buffer) {
  const size_t wide = job->columns, high = mpnum_rows_of_run_(job, rows, n);
  const size_t count = mpnum_row_factors_(job, n);
  const size_t run = high > 1 ? MPNUM_RUN_ : job->run;
  size_t r = 0, c = 0, k = 0, blocks = 0;
  for (; r < rows; r += high) {
    const size_t all = n * (rows - r < high ? rows - r : high);
    for (c = 0; c < all; c += run) {
      const size_t size = all - c < run ? all - c : run;
      *floats = mpnum_job_floats_(job, row + r, column + c, size, buffer);
      mpnum_amax_floats_(r == 0 && c == 0, scales->amax, *floats, job->shift, size);
    }
  }
  if (high > 1 && job->shift < 31) mpnum_fold_amax_(scales->amax, high, count);
  if (job->shift >= 0 || wide == 1) return count;
  for (; blocks * wide < n; ++blocks) { /* in place: blocks <= columns */
    uint32_t largest = 0;
    for (k = blocks * wide; k < n && k < (blocks + 1) * wide; ++k)
      largest = scales->amax[k] > largest ? scales->amax[k] : largest;
    scales->amax[blocks] = largest;
  }
  return blocks;
}
/* Scales that are subnormal, by integers. */
MPNUM_HOST_COLD_ void mpnum_subnormal_scales_(const mpnum_block_rule_ *rule,
                                              mpnum_band_scales_ *scales, size_t count) {
  const uint32_t enough = mpnum_bits_times_power_(rule->max, -125);
  size_t k = 0;
  for (; k < count; ++k) {
    const uint32_t amax = scales->amax[k] < rule->floor ? rule->floor : scales->amax[k];
    uint32_t scale = 0;
    if (amax == 0 || amax >= enough) continue;
    scale = mpnum_block_quotient_(amax, rule->max);
    scales->floats[k] = scale ? scale : 1;
    mpnum_set_float_(scales->factors, k, mpnum_from_bits_f32(scales->floats[k]));
  }
}
/* Stores the scales of count blocks. */
MPNUM_HOST void mpnum_store_scales_(const mpnum_block_job_ *job,
                                    const mpnum_band_scales_ *scales, size_t row,
                                    size_t column, size_t count) {
  const size_t first = row * job->across + column;
  uint8_t *const to = (uint8_t *)job->codes.scale_inv;
  if (job->rule.divides) {
    MPNUM_MEMCPY_(to + 4 * first, scales->floats, 4 * count);
  } else if (!job->codes.is_swizzled) {
    MPNUM_MEMCPY_(to + first, scales->bytes, count);
  } else {
    mpnum_store_swizzled_(job, scales->bytes, row, column, count);
  }
}
/* Computes scales and factors from the largest magnitudes and stores the scales. */
MPNUM_HOST void mpnum_band_scales_of_(const mpnum_block_job_ *job,
                                      mpnum_band_scales_ *scales, size_t row,
                                      size_t column, size_t count) {
  scales->has_zeros = scales->has_low = 0;
  scales->low = job->low;
  mpnum_block_scales_(&job->rule, scales, count);
  if (scales->has_low && job->rule.kind == MPNUM_BLOCK_AMAX_)
    mpnum_subnormal_scales_(&job->rule, scales, count);
  mpnum_store_scales_(job, scales, row, column, count);
}
/* 4 times the factors of blocks of 32, powers of two from 2^-127 on, or NaN. 0 where one
 * is past 2^100. */
MPNUM_HOST_COLD_ int mpnum_raise_factors_(float *raised, mpnum_factors_ factors,
                                          size_t n) {
  size_t k = 0;
  for (; k < (n + 31) / 32; ++k) {
    const uint32_t bits = mpnum_bits_f32(mpnum_float_at_(factors.factor, k));
    const uint32_t twice = bits < 0x00800000u ? 2 * bits : bits + 0x00800000u;
    if (bits > 0x71800000u && bits < 0x7f800000u) return 0;
    mpnum_set_float_(
        raised, k, mpnum_from_bits_f32(bits < 0x7f800000u ? twice + 0x00800000u : bits));
  }
  return 1;
}
/* Quantises a run in which subnormals count, and adds what is lost to job->losses. */
MPNUM_HOST_COLD_ void mpnum_quantize_low_(const mpnum_block_job_ *job, uint8_t *dst,
                                          const float *x, mpnum_factors_ factors,
                                          size_t n, uint64_t index) {
  MPNUM_ALIGNED_ float scaled[MPNUM_RUN_];
  float raised[MPNUM_RUN_ / 32] = {0};
  mpnum_scaling_ scaling = job->scaling;
  const float one = 1, quarter = 0.25f;
  if (scaling.is_int8 && !scaling.divides && factors.shift == 5 &&
      mpnum_raise_factors_(raised, factors, n)) { /* below 2^-124 codes are 0 */
    mpnum_scale_floats_(&scaling, scaled, x, mpnum_factors_of_(&quarter, 31), n);
    factors = mpnum_factors_of_(raised, 5);
    if (!job->losses) {
      mpnum_quantize_floats_(&scaling, dst, scaled, factors, n, index);
      return;
    }
    mpnum_scale_floats_(&scaling, scaled, scaled, factors, n);
  } else {
    mpnum_scale_kept_floats_(&scaling, scaled, x, factors, n);
  }
  scaling.divides = 0;
  mpnum_quantize_floats_(&scaling, dst, scaled, mpnum_factors_of_(&one, 31), n, index);
  if (job->losses) mpnum_count_scaled_(&scaling, job->losses, dst, scaled, x, n);
}
/* Makes a factor for each column of one for each block, where loops take them so, and
 * those of rows of a run. */
MPNUM_HOST_INLINE_ void mpnum_spread_factors_(const mpnum_block_job_ *job, float *factors,
                                              size_t rows, size_t n) {
  size_t k = n;
  if (job->shift < 0 && job->columns > 1)
    while (k-- > 0) /* beginning with the last */
      factors[k] = factors[k / job->columns];
  if (rows > 1 && job->shift < 31) mpnum_repeat_factors_(job, factors, rows, n);
}
/* Scales and factors of a band from its largest magnitudes, stored as those of a row and
 * a column of blocks. Returns the number of blocks; *x, of one run, still has its floats.
 */
MPNUM_HOST_INLINE_ size_t mpnum_band_begin_(const mpnum_block_job_ *job,
                                            mpnum_band_scales_ *scales, size_t row,
                                            size_t column, size_t rows, size_t n,
                                            size_t block_row, size_t block_column,
                                            const float **x, float *buffer) {
  const size_t count = mpnum_band_amax_(job, scales, row, column, rows, n, x, buffer);
  const size_t high = mpnum_rows_of_run_(job, rows, n);
  size_t c = n;
  mpnum_band_scales_of_(job, scales, block_row, block_column, count);
  if (job->losses) mpnum_find_largest_(&job->scaling, scales, count);
  mpnum_spread_factors_(job, scales->factors, high, n);
  if (high == 1 && job->shift < 0 && (job->columns > 1 || job->src.columns == 1))
    for (; c % MPNUM_SCALED_ != 0; ++c) /* codes that fill up a byte */
      scales->factors[c] = scales->factors[n - 1];
  return count;
}
/* Codes of a run of such a band, and its losses. */
MPNUM_HOST_INLINE_ void mpnum_quantize_in_band_(const mpnum_block_job_ *job,
                                                const mpnum_band_scales_ *scales,
                                                uint8_t *codes, const float *x, size_t n,
                                                uint64_t index) {
  const mpnum_factors_ factors = mpnum_factors_of_(scales->factors, job->shift);
  if (scales->has_low) {
    mpnum_quantize_low_(job, codes, x, factors, n, index);
    return;
  }
  mpnum_quantize_floats_(&job->scaling, codes, x, factors, n, index);
  if (job->losses)
    mpnum_count_losses_(&job->scaling, job->losses, codes, MPNUM_TYPE_F32, x, factors, n,
                        scales->largest, scales->largest_scaled);
}
/* Whether the codes of a block of a band are 0, whatever its elements. */
MPNUM_HOST_INLINE_ int mpnum_has_no_codes_(const mpnum_block_job_ *job,
                                           const mpnum_band_scales_ *scales, size_t k) {
  return scales->amax[k] == 0 || (job->is_two_level && scales->bytes[k] == 0);
}
/* Quantises a band of at most a block's rows and a strip's columns. */
MPNUM_HOST_ONCE_ void mpnum_quantize_band_(const mpnum_block_job_ *job, size_t row,
                                           size_t column, size_t rows, size_t n) {
  mpnum_band_scales_ scales;
  MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
  const size_t wide = job->columns;
  const float *x = 0;
  const size_t count = mpnum_band_begin_(job, &scales, row, column, rows, n,
                                         mpnum_block_at_(row, job->rows),
                                         mpnum_block_at_(column, wide), &x, buffer);
  const size_t high = mpnum_rows_of_run_(job, rows, n);
  const size_t run = high > 1 ? MPNUM_RUN_ : job->run;
  const int is_one = rows == high && high * n <= run;
  size_t r = 0, c = 0, k = 0;
  for (; r < rows; r += high) {
    const size_t here = rows - r < high ? rows - r : high;
    for (c = 0; c < here * n; c += run) {
      const size_t size = here * n - c < run ? here * n - c : run;
      uint8_t *const codes = mpnum_block_codes_(job, row + r, column + c);
      const uint64_t index = job->offset + (row + r) * job->src.stride + column + c;
      if (!is_one) x = mpnum_job_floats_(job, row + r, column + c, size, buffer);
      mpnum_quantize_in_band_(job, &scales, codes, x, size, index);
    }
  }
  for (r = 0; scales.has_zeros && r < rows; ++r)
    for (k = 0; k < count; ++k)
      if (mpnum_has_no_codes_(job, &scales, k)) {
        const size_t first = k * wide;
        mpnum_clear_codes_(job, row + r, column + first,
                           n - first < wide ? n - first : wide);
      }
}
/* The same of one row of bf16 in blocks of 32 under powers of two, without floats. 0
 * where that is not so, subnormals count, or what is not finite has to be. */
typedef void mpnum_block_amax_bf16_(uint32_t *amax, const uint8_t *src, size_t n);
typedef void mpnum_quantize_bf16_run_(const mpnum_scaling_ *scaling, uint8_t *dst,
                                      const uint8_t *src, const float *factors, size_t n);
MPNUM_HOST_ONCE_ int mpnum_quantize_bf16_(const mpnum_block_job_ *job, size_t row,
                                          size_t column, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_block_amax_bf16_ *const amax =
      MPNUM_PICK_(isa, block_amax_bf16, WIDE, (mpnum_block_amax_bf16_ *)0);
  mpnum_quantize_bf16_run_ *const run =
      MPNUM_PICK_(isa, quantize_bf16_run, WIDE, (mpnum_quantize_bf16_run_ *)0);
  const uint8_t *const src = mpnum_rows_at_(job->src, row, column);
  uint8_t *const codes = mpnum_block_codes_(job, row, column);
  const size_t count = n / 32;
  mpnum_band_scales_ scales;
  size_t k = 0;
  if (!amax || !run) return 0;
  (*amax)(scales.amax, src, n);
  mpnum_band_scales_of_(job, &scales, row, column / 32, count);
  if (scales.has_low) return 0;
  if (job->losses) {
    mpnum_find_largest_(&job->scaling, &scales, count);
    if (scales.largest >= 0x7f800000u) return 0;
  }
  for (k = 0; scales.has_zeros && k < count; ++k)
    if (scales.amax[k] == 0) scales.factors[k] = 1;
  (*run)(&job->scaling, codes, src, scales.factors, n);
  if (job->losses)
    mpnum_count_losses_(&job->scaling, job->losses, codes, MPNUM_TYPE_BF16, src,
                        mpnum_factors_of_(scales.factors, 5), n, scales.largest,
                        scales.largest_scaled);
  for (k = 0; scales.has_zeros && k < count; ++k)
    if (scales.amax[k] == 0) mpnum_clear_codes_(job, row, column + 32 * k, 32);
  return 1;
}
MPNUM_HOST int mpnum_is_bf16_band_(const mpnum_block_job_ *job, size_t n) {
  return job->src.type == MPNUM_TYPE_BF16 && job->scale_type == MPNUM_TYPE_E8M0 &&
         job->shift == 5 && job->rows == 1 && n % MPNUM_SCALED_ == 0 &&
         job->scaling.has_encoding && !job->scaling.is_int8;
}
/* Quantises a part of the matrix, of whole blocks except at the ends. */
MPNUM_HOST void mpnum_quantize_part_(const mpnum_block_job_ *job, size_t row,
                                     size_t column, size_t rows, size_t n) {
  size_t r = 0, c = 0, size = 0;
  if (n == job->src.columns && mpnum_rows_join_(job)) {
    n *= rows;
    rows = 1;
  }
  for (; r < rows; r += job->rows) {
    const size_t high = rows - r < job->rows ? rows - r : job->rows;
    for (c = 0; c < n; c += size) {
      size = n - c < job->strip ? n - c : job->strip;
      if (size > MPNUM_SCALED_ && job->shift <= 6 && MPNUM_SCALED_ % job->columns == 0)
        size -= size % MPNUM_SCALED_; /* what fills no vector is a band of its own */
      if (!mpnum_is_bf16_band_(job, size) ||
          !mpnum_quantize_bf16_(job, row + r, column + c, size))
        mpnum_quantize_band_(job, row + r, column + c, high, size);
    }
  }
}
/* The least common multiple, if it is at most 4096; else 0. */
MPNUM_HOST size_t mpnum_common_multiple_(size_t a, size_t b) {
  size_t x = a;
  while (x <= 4096 && x % b != 0)
    x += a;
  return x <= 4096 ? x : 0;
}
/* Of one job, or of two; second is job itself where there is one. (Of NULL gcc would make
 * a copy of these steps, and warn of what it reads there.) */
MPNUM_HOST void mpnum_quantize_all_(const mpnum_block_job_ *job,
                                    const mpnum_block_job_ *second) {
  const int is_one = second == job;
  const size_t rows = job->src.rows, columns = job->src.columns;
  const uint64_t saved = mpnum_block_enter_(job, second, 0);
  size_t down = 0, across = 0, r = 0, c = 0;
  mpnum_clear_padding_(job);
  if (!is_one) {
    mpnum_clear_padding_(second);
    down = mpnum_common_multiple_(job->rows, second->rows);
    across = mpnum_common_multiple_(job->columns, second->columns);
    /* Chunks hold whole blocks of both, and their dense codes fill whole bytes. */
    if (across) across = mpnum_common_multiple_(across, 4);
  }
  if (!down || !across) { /* one job, or two without a common border */
    mpnum_quantize_part_(job, 0, 0, rows, columns);
    if (!is_one) mpnum_quantize_part_(second, 0, 0, rows, columns);
  } else {
    const size_t most = MPNUM_BAND_ / down > 64 ? MPNUM_BAND_ / down : 64;
    const size_t times = (most + across - 1) / across;
    across *= times ? times : 1;
    for (; r < rows; r += down)
      for (c = 0; c < columns; c += across) {
        const size_t high = rows - r < down ? rows - r : down;
        const size_t wide = columns - c < across ? columns - c : across;
        mpnum_quantize_part_(job, r, c, high, wide);
        mpnum_quantize_part_(second, r, c, high, wide);
      }
  }
  mpnum_fenv_restore_(saved);
}
/* Counts elements that are not finite. */
MPNUM_HOST_COLD_ mpnum_status mpnum_count_nonfinite_(const mpnum_const_matrix *src,
                                                     mpnum_quantize_losses *losses) {
  mpnum_scaling_ scaling;
  size_t r = 0, c = 0, k = 0;
  uint64_t saved = 0, found = 0;
  mpnum_find_int8_scaling_(&scaling, 0);
  saved = mpnum_scaling_enter_(&scaling, 1, 0, src->rows * src->columns);
  for (; r < src->rows; ++r)
    for (c = 0; c < src->columns; c += MPNUM_RUN_) {
      MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
      const size_t left = src->columns - c, n = left < MPNUM_RUN_ ? left : MPNUM_RUN_;
      const float *const x = mpnum_run_floats_(src, r, c, n, buffer);
      uint32_t amax = 0;
      mpnum_amax_floats_(1, &amax, x, 31, n);
      for (k = 0; amax >= 0x7f800000u && k < n; ++k)
        found += (mpnum_bits_f32(mpnum_float_at_(x, k)) & 0x7fffffffu) >= 0x7f800000u;
    }
  mpnum_fenv_restore_(saved);
  if (losses) losses->nonfinite += found;
  return found ? MPNUM_ERROR_NONFINITE : MPNUM_OK;
}
/* Does so with MPNUM_BLOCKSCALE_ERROR. */
MPNUM_HOST_INLINE_ mpnum_status
mpnum_nonfinite_check_(const mpnum_blockscale_format *format,
                       const mpnum_const_matrix *src, mpnum_quantize_losses *losses) {
  return format->policy == MPNUM_BLOCKSCALE_ERROR ? mpnum_count_nonfinite_(src, losses)
                                                  : MPNUM_OK;
}

/* After a run that is not finite, only finite ones are looked at. */
MPNUM_HOST_ONCE_ float mpnum_finite_amax_(const mpnum_const_matrix *src) {
  uint32_t largest = 0;
  int is_finite = 1;
  size_t r = 0, c = 0;
  for (; r < src->rows; ++r)
    for (c = 0; c < src->columns; c += MPNUM_RUN_) {
      MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
      const size_t left = src->columns - c, n = left < MPNUM_RUN_ ? left : MPNUM_RUN_;
      const float *const x = mpnum_run_floats_(src, r, c, n, buffer);
      uint32_t amax = 0;
      if (is_finite) mpnum_amax_floats_(1, &amax, x, 31, n);
      is_finite = is_finite && amax < 0x7f800000u;
      if (!is_finite) amax = mpnum_finite_amax_floats_(x, n);
      if (amax > largest) largest = amax;
    }
  return mpnum_from_bits_f32(largest);
}

/* --- Dequantising --- */

/* Whether some of count factors, of room for more, are so small that values of codes may
 * become subnormal. */
MPNUM_HOST int mpnum_factors_are_low_(const mpnum_block_job_ *job, float *factors,
                                      size_t count) {
  mpnum_has_low_ *has_low = 0;
  size_t k = 0;
  int is_low = 0;
  if (job->is_two_level) return 0;
  if (count <= 8) {
    for (; k < count; ++k)
      is_low |= mpnum_bits_f32(mpnum_float_at_(factors, k)) - 1 < job->low - 1;
    return is_low;
  }
  has_low = MPNUM_PICK_(mpnum_isa_in_use(), has_low, SSE2, has_low);
  if (!has_low) return 0;
  for (; count % 16 != 0; ++count) /* the lanes of a vector */
    mpnum_set_float_(factors, count, 1);
  return (*has_low)((const uint32_t *)(const void *)factors, job->low, count);
}
/* Floats of codes in which subnormals count. */
MPNUM_HOST_COLD_ void mpnum_dequantize_low_(const mpnum_block_job_ *job, float *dst,
                                            const uint8_t *codes, mpnum_factors_ factors,
                                            size_t n) {
  mpnum_scaling_ scaling = job->scaling;
  const float one = 1;
  scaling.divides = 0;
  mpnum_dequantize_floats_(&scaling, dst, codes, mpnum_factors_of_(&one, 31), n);
  mpnum_scale_kept_floats_(&scaling, dst, dst, factors, n);
}
/* Loads the factors of count blocks of a row of blocks. */
MPNUM_HOST void mpnum_load_scales_(const mpnum_block_job_ *job, float *factors,
                                   size_t row, size_t column, size_t count) {
  const uint8_t *from = (const uint8_t *)job->codes.scale_inv;
  uint8_t codes[MPNUM_RUN_];
  size_t k = 0;
  if (job->scale_type == MPNUM_TYPE_F32) {
    MPNUM_MEMCPY_(factors, from + 4 * (row * job->across + column), 4 * count);
    for (; k < count; ++k) /* NaN becomes the canonical one */
      if ((mpnum_bits_f32(mpnum_float_at_(factors, k)) & 0x7fffffffu) > 0x7f800000u)
        mpnum_set_float_(factors, k, mpnum_from_bits_f32(0x7fffffffu));
    return;
  }
  if (job->codes.is_swizzled) {
    mpnum_load_swizzled_(job, codes, row, column, count);
    from = codes;
  } else {
    from += row * job->across + column;
  }
  if (job->scale_type == MPNUM_TYPE_E8M0) {
    mpnum_decode_e8m0_(factors, from, count);
  } else if (job->scale_type == MPNUM_TYPE_E4M3) {
    mpnum_decode_bytes_(MPNUM_TYPE_E4M3, 8, factors, from, count);
  } else {
    mpnum_format format;
    mpnum_find_format_(&format, job->scale_type);
    for (; k < count; ++k)
      mpnum_set_float_(factors, k, mpnum_from_bits_f32(mpnum_widen_(format, from[k])));
  }
}
/* Values of codes of a run, as floats. */
MPNUM_HOST void mpnum_dequantize_run_(const mpnum_block_job_ *job, float *dst,
                                      const uint8_t *codes, mpnum_factors_ factors,
                                      size_t n, int is_low) {
  if (is_low)
    mpnum_dequantize_low_(job, dst, codes, factors, n);
  else
    mpnum_dequantize_floats_(&job->scaling, dst, codes, factors, n);
}
/* And as f16 or bf16. */
MPNUM_HOST void mpnum_dequantize_narrow_(const mpnum_block_job_ *job, mpnum_type type,
                                         uint8_t *dst, const uint8_t *codes,
                                         mpnum_factors_ factors, size_t n, int is_low) {
  MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
  size_t i = 0, count = 0;
  /* Of a few bits and a power of two all are bf16 that are no subnormals. */
  if (type == MPNUM_TYPE_BF16 && job->scale_type == MPNUM_TYPE_E8M0 && !is_low)
    i = mpnum_dequantize_bf16_(&job->scaling, dst, codes, factors, n);
  for (; i < n; i += count) {
    count = n - i < MPNUM_RUN_ ? n - i : MPNUM_RUN_;
    mpnum_dequantize_run_(job, buffer, codes + mpnum_bytes_(job->scaling.element_bits, i),
                          mpnum_factors_from_(factors, i), count, is_low);
    mpnum_source_codes_(type, dst + 2 * i, buffer, count);
  }
}
MPNUM_HOST_ONCE_ void mpnum_dequantize_band_(const mpnum_block_job_ *job,
                                             mpnum_matrix dst, size_t row, size_t column,
                                             size_t rows, size_t n) {
  MPNUM_ALIGNED_ float factors[MPNUM_RUN_];
  const size_t wide = job->columns;
  const size_t count = job->shift == 31 ? 1 : mpnum_blocks_along_(n, wide);
  const size_t high = mpnum_rows_of_run_(job, rows, n);
  const size_t run = high > 1 ? MPNUM_RUN_ : job->run;
  size_t r = 0, c = 0;
  int is_low = 0;
  mpnum_load_scales_(job, factors, mpnum_block_at_(row, job->rows),
                     mpnum_block_at_(column, wide), count);
  is_low = mpnum_factors_are_low_(job, factors, count);
  mpnum_spread_factors_(job, factors, high, n);
  for (; r < rows; r += high) {
    const size_t all = n * (rows - r < high ? rows - r : high);
    for (c = 0; c < all; c += run) {
      const size_t size = all - c < run ? all - c : run;
      uint8_t *const to = mpnum_rows_to_(dst, row + r, column + c);
      const uint8_t *const codes = mpnum_block_codes_(job, row + r, column + c);
      const mpnum_factors_ by = mpnum_factors_of_(factors, job->shift);
      if (dst.type == MPNUM_TYPE_F32)
        mpnum_dequantize_run_(job, (float *)(void *)to, codes, by, size, is_low);
      else
        mpnum_dequantize_narrow_(job, dst.type, to, codes, by, size, is_low);
    }
  }
}
/* What a job needs before its codes are read. */
MPNUM_HOST_ONCE_ void mpnum_dequantize_begin_(mpnum_block_job_ *job) {
  mpnum_block_runs_(job, 1); /* nothing is read twice */
  job->scaling.has_divisor = job->is_two_level;
  job->scaling.divisor = job->codes.scale;
}
MPNUM_HOST void mpnum_dequantize_all_(mpnum_block_job_ *job, mpnum_matrix dst) {
  const int is_row = mpnum_rows_join_(job);
  const size_t rows = is_row ? 1 : job->src.rows;
  const size_t columns = is_row ? job->src.rows * job->src.columns : job->src.columns;
  const uint64_t saved = mpnum_block_enter_(job, 0, 1);
  mpnum_kept_tables_ kept;
  size_t r = 0, c = 0, size = 0;
  mpnum_keep_tables_(&job->scaling, &kept);
  mpnum_dequantize_begin_(job);
  if ((dst.type == MPNUM_TYPE_F32 ||
       (dst.type == MPNUM_TYPE_BF16 && job->scale_type == MPNUM_TYPE_E8M0)) &&
      job->shift >= 4 && job->shift < 12 &&
      (job->scaling.has_decoding || job->scaling.is_int8))
    job->run = job->strip = 8 * MPNUM_RUN_; /* factors half full */
  for (; r < rows; r += job->rows) {
    const size_t high = rows - r < job->rows ? rows - r : job->rows;
    for (c = 0; c < columns; c += size) {
      size = columns - c < job->strip ? columns - c : job->strip;
      mpnum_dequantize_band_(job, dst, r, c, high, size);
    }
  }
  mpnum_fenv_restore_(saved);
}

#endif
MPNUM_C_END_
#endif

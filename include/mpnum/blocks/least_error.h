/* SPDX-License-Identifier: MIT */
/* MX and NVFP4 with the scale of each block by which the sum of squared errors is least:
 * that of the format's rule, or one of its neighbours among the codes of scales. Opt-in.
 *
 *     const mpnum_blockscale_format format =
 *         mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL);
 *     status = mpnum_quantize_least_error(&format, dst, x, 1, &losses);
 *     status = mpnum_dequantize_blocks(&format, y, dst);
 *
 * The codes of each scale that is tried are those of mpnum_quantize_blocks under it. The
 * error of an element is what comes back less the element, in f32, times the power of two
 * that brings the block's amax to 1 to 2 (to less, of a subnormal amax). The squares,
 * each rounded once, are added by halves: of n the first n / 2 to the others, and so on.
 * Of equal sums the largest scale is taken. Domain: as mpnum_quantize_blocks, blocks of 1
 * x 16, 1 x 32 or 1 x 64 with scales of e8m0 or of TWO_LEVEL, to nearest even; reach,
 * from 1 to 8: how many codes below and above that of the rule are tried. Short blocks
 * count as padded with zeros. Host only. Zeros, NaN: blocks of zeros, and those with Inf
 * or NaN, are as of mpnum_quantize_blocks. Bits: the same for every ISA, flags and
 * floating-point environment, and for a matrix that is cut at borders of blocks. Status:
 * as mpnum_quantize_blocks; MPNUM_ERROR_ARGUMENT also for other blocks, scales, roundings
 * and reaches. Nothing is written then. */
#ifndef MPNUM_BLOCKS_LEAST_ERROR_H
#define MPNUM_BLOCKS_LEAST_ERROR_H

#include "block.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* The runs of a matrix: how they are quantised, and how they come back. */
typedef struct mpnum_least_error_ {
  mpnum_block_job_ job, back;
  mpnum_format scale;
  int reach;
} mpnum_least_error_;
/* Codes of scales, and what elements are multiplied by, of the blocks of a run. */
typedef struct mpnum_least_scales_ {
  uint8_t code[MPNUM_RUN_ / 16];
  float factor[MPNUM_RUN_ / 16];
} mpnum_least_scales_;

/* What elements are multiplied by under a scale, as in blockscale.inc. */
MPNUM_HOST float mpnum_least_factor_(const mpnum_least_error_ *least, uint32_t code) {
  const float d = mpnum_decode(least->scale, code);
  uint32_t bits = 0;
  if (!least->job.is_two_level)
    return mpnum_from_bits_f32(code < 254 ? (254 - code) << 23 : 0x00400000u);
  if (code == 0) return 0;
  bits = mpnum_bits_f32(
      mpnum_div_scalar_(1.0f, mpnum_div_scalar_(d, least->job.codes.scale)));
  return mpnum_from_bits_f32(bits > 0x7f7fffffu ? 0x7f7fffffu : bits);
}
/* Squares of 16 errors, times a power of two before. */
MPNUM_HOST_INLINE_ void mpnum_least_squares_(float square[16], const float x[16],
                                             const float y[16], float power) {
  size_t i = 0;
  MPNUM_BLOCK_LOOP_
  for (; i < 16; ++i)
    square[i] = y[i] - x[i];
  MPNUM_BLOCK_FENCE_(square);
  MPNUM_BLOCK_LOOP_
  for (i = 0; i < 16; ++i)
    square[i] = square[i] * power;
  MPNUM_BLOCK_FENCE_(square);
  MPNUM_BLOCK_LOOP_
  for (i = 0; i < 16; ++i)
    square[i] = square[i] * square[i];
  MPNUM_BLOCK_FENCE_(square);
}
/* Adds so many numbers to those before them; n is known to the compiler. */
MPNUM_HOST_INLINE_ void mpnum_least_fold_(float *sum, size_t n) {
  float *after = sum + n;
  size_t i = 0;
  MPNUM_BLOCK_LOOP_
  for (; i < n; ++i)
    mpnum_set_float_(sum, i, mpnum_float_at_(sum, i) + mpnum_float_at_(after, i));
  MPNUM_BLOCK_FENCE_(after);
}
/* The sum of squares of n errors, of a block with this amax. */
MPNUM_HOST float mpnum_least_sum_(const float *x, const float *y, uint32_t amax,
                                  size_t n) {
  const uint32_t field = amax >> 23 ? amax >> 23 : 1;
  const float power = mpnum_from_bits_f32((field < 253 ? 254 - field : 1) << 23);
  float sum[64];
  size_t i = 0;
  for (; i < n; i += 16)
    mpnum_least_squares_(sum + i, x + i, y + i, power);
  if (n == 64) mpnum_least_fold_(sum, 32);
  if (n >= 32) mpnum_least_fold_(sum, 16);
  mpnum_least_fold_(sum, 8);
  mpnum_least_fold_(sum, 4);
  mpnum_least_fold_(sum, 2);
  return mpnum_add_scalar_(sum[0], sum[1]);
}
/* A scale so many codes from that of the rule; blocks of zeros, and those that are not
 * finite, keep theirs. */
MPNUM_HOST void mpnum_least_step_(const mpnum_least_error_ *least,
                                  mpnum_band_scales_ *scales,
                                  const mpnum_least_scales_ *rule, int step, size_t k) {
  const int first = least->job.is_two_level; /* 0 is no scale there */
  const int last = (int)least->scale.max_code, moved = (int)rule->code[k] + step;
  const int code = moved > last ? last : moved < first ? first : moved;
  const int stays = step == 0 || scales->amax[k] - 1 >= 0x7f7fffffu;
  scales->bytes[k] = stays ? rule->code[k] : (uint8_t)code;
  mpnum_set_float_(scales->factors, k,
                   stays ? rule->factor[k] : mpnum_least_factor_(least, (uint32_t)code));
}
/* Finds the best scales of a run of whole vectors, and leaves them in scales. */
MPNUM_HOST void mpnum_least_search_(const mpnum_least_error_ *least,
                                    mpnum_band_scales_ *scales, const float *x, size_t n,
                                    size_t count) {
  const int shift = least->job.shift, reach = least->reach;
  MPNUM_ALIGNED_ float y[MPNUM_RUN_];
  MPNUM_ALIGNED_ float values[MPNUM_RUN_ / 16];
  uint8_t codes[MPNUM_RUN_];
  uint32_t errors[MPNUM_RUN_ / 16];
  mpnum_least_scales_ rule, best;
  size_t k = 0;
  int step = reach;
  for (; k < count; ++k) {
    best.code[k] = rule.code[k] = scales->bytes[k];
    best.factor[k] = rule.factor[k] = mpnum_float_at_(scales->factors, k);
    errors[k] = 0xffffffffu;
  }
  for (; step >= -reach; --step) { /* the largest scale first */
    for (k = 0; k < count; ++k) {
      mpnum_least_step_(least, scales, &rule, step, k);
      mpnum_set_float_(values, k, mpnum_decode(least->scale, scales->bytes[k]));
    }
    mpnum_quantize_floats_(&least->job.scaling, codes, x,
                           mpnum_factors_of_(scales->factors, shift), n, 0);
    mpnum_dequantize_floats_(&least->back.scaling, y, codes,
                             mpnum_factors_of_(values, shift), n);
    for (k = 0; k < count; ++k) {
      const uint32_t error = mpnum_bits_f32(mpnum_least_sum_(
          x + (k << shift), y + (k << shift), scales->amax[k], (size_t)1 << shift));
      if (error >= errors[k]) continue;
      errors[k] = error;
      best.code[k] = scales->bytes[k];
      best.factor[k] = mpnum_float_at_(scales->factors, k);
    }
  }
  for (k = 0; k < count; ++k) {
    scales->bytes[k] = best.code[k];
    mpnum_set_float_(scales->factors, k, best.factor[k]);
  }
}
/* Quantises n columns of a row, a run at most, from the first of a block on. */
MPNUM_HOST void mpnum_least_run_(const mpnum_least_error_ *least, size_t row,
                                 size_t column, size_t n) {
  const mpnum_block_job_ *const job = &least->job;
  const size_t whole = (n + MPNUM_SCALED_ - 1) / MPNUM_SCALED_ * MPNUM_SCALED_;
  const size_t count = mpnum_blocks_along_(n, job->columns);
  MPNUM_ALIGNED_ float x[MPNUM_RUN_];
  mpnum_band_scales_ scales;
  const float *const from = mpnum_run_floats_(&job->src, row, column, n, x);
  size_t k = n;
  if (from != x) MPNUM_MEMCPY_(x, from, n * sizeof *x);
  for (; k < whole; ++k)
    x[k] = 0;
  scales.low = job->low;
  mpnum_amax_floats_(1, scales.amax, x, job->shift, whole);
  mpnum_block_scales_(&job->rule, &scales, whole >> job->shift);
  mpnum_least_search_(least, &scales, x, whole, whole >> job->shift);
  scales.has_low = 0; /* nothing is flushed */
  mpnum_store_scales_(job, &scales, row, column >> job->shift, count);
  if (job->losses) mpnum_find_largest_(&job->scaling, &scales, count);
  mpnum_quantize_in_band_(job, &scales, mpnum_block_codes_(job, row, column), x, n, 0);
  for (k = 0; k < count; ++k)
    if (mpnum_has_no_codes_(job, &scales, k)) {
      const size_t first = k << job->shift, size = (size_t)1 << job->shift;
      mpnum_clear_codes_(job, row, column + first, n - first < size ? n - first : size);
    }
}
MPNUM_HOST mpnum_status mpnum_least_check_(const mpnum_blockscale_format *format,
                                           int reach) {
  const size_t columns = format->columns;
  const int is_row =
      format->rows == 1 && (columns == 16 || columns == 32 || columns == 64);
  return is_row && reach >= 1 && reach <= 8 && format->scale_type != MPNUM_TYPE_F32 &&
                 format->rounding == MPNUM_ROUND_NEAREST_EVEN
             ? MPNUM_OK
             : MPNUM_ERROR_ARGUMENT;
}
/* Quantises a matrix. dst.scale is for TWO_LEVEL only. Losses are added to *losses,
 * unless losses is NULL. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_least_error(
    const mpnum_blockscale_format *format, mpnum_blockscaled dst, mpnum_const_matrix src,
    int reach, mpnum_quantize_losses *losses) {
  mpnum_status status = MPNUM_OK;
  mpnum_least_error_ least;
  uint64_t saved = 0;
  size_t r = 0, c = 0;
  if (!src.rows || !src.columns) return MPNUM_OK;
  status = mpnum_quantize_check_(format, &dst, &src);
  if (status == MPNUM_OK) status = mpnum_least_check_(format, reach);
  if (status == MPNUM_OK) status = mpnum_nonfinite_check_(format, &src, losses);
  if (status != MPNUM_OK) return status;
  mpnum_quantize_job_of_(&least.job, format, dst, src, 0, losses);
  mpnum_block_job_of_(&least.back, format, dst, src);
  mpnum_dequantize_begin_(&least.back);
  least.job.scaling.any = mpnum_quantize_any_;
  least.job.low = 0;
  mpnum_find_format_(&least.scale, format->scale_type);
  least.reach = reach;
  least.job.columns = format->columns; /* of a narrow matrix, too */
  least.job.shift = mpnum_log2_(format->columns);
  mpnum_clear_padding_(&least.job);
  saved = mpnum_fenv_save_();
  for (; r < src.rows; ++r)
    for (c = 0; c < src.columns; c += MPNUM_RUN_)
      mpnum_least_run_(&least, r, c,
                       src.columns - c < MPNUM_RUN_ ? src.columns - c : MPNUM_RUN_);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

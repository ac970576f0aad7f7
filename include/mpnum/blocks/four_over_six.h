/* SPDX-License-Identifier: MIT */
/* NVFP4 with the better of two scales for each block: one that brings the amax of the
 * block to 6, the largest element, and one, half as large again, that brings it to 4,
 * where the elements above are not wanted but those below lie closer ("four over six").
 * Opt-in.
 *
 *     mpnum_blockscaled dst = mpnum_blockscaled_of(&nvfp4, codes, scales, bytes,
 * columns); const mpnum_four_over_six how = {0, 256}; // absolute errors, S of 256 * 6 /
 * amax status = mpnum_quantize_four_over_six(&dst, x, how); status =
 * mpnum_dequantize_blocks(&nvfp4, y, dst);
 *
 * In f32, each operation rounded once, for blocks of 1x16: S = max 6 / amax of the
 * matrix; base = amax of the block / 6 S; the scales are e4m3 of base 1.5 and of base;
 * elements are x / (scale / S), by the reciprocal, to nearest even, saturating. The error
 * of an element is x less element scale amax / (6 max), and the 16 of a block, absolute
 * or squared, are added in order; the smaller sum wins, of equal ones that of 6.
 * Domain, overlaps and status codes: mpnum_quantize_blocks; MPNUM_ERROR_ARGUMENT also for
 *   a max that is neither 448 nor 256, or squared neither 0 nor 1. Nothing is written
 *   then. Short blocks at the ends count as padded with zeros.
 * NaN: a block with Inf or NaN is what mpnum_quantize_blocks makes of it; S comes from
 *   the finite elements.
 * Bits: of finite matrices those of Transformer Engine (NVTE_NVFP4_4OVER6, without fast
 *   math), from whose source the formula was read: NVIDIA/TransformerEngine#2972.
 * Source: Cook et al., Four Over Six, arXiv:2512.02010. docs/blocks.md. */
#ifndef MPNUM_BLOCKS_FOUR_OVER_SIX_H
#define MPNUM_BLOCKS_FOUR_OVER_SIX_H

#include "layout.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

typedef struct mpnum_four_over_six {
  int squared; /* 1: least squared error; 0: least absolute error */
  int max;     /* of e4m3, that S is for: 448, or 256, which leaves room for half as
                  large again */
} mpnum_four_over_six;

/* What a matrix is quantised by. */
typedef struct mpnum_two_scales_ {
  float scale, inverse, amax, unit; /* S, 1 / S, of the matrix, 6 max */
  int squared;
} mpnum_two_scales_;
/* A block under one of its scales. */
typedef struct mpnum_scaled_block_ {
  uint8_t codes[16];
  uint8_t scale;
  float error;
} mpnum_scaled_block_;

/* The code of a magnitude, to nearest even, saturating: how many of the borders between
 * elements, of which every other one is its upper element, are passed. */
MPNUM_HOST_INLINE_ uint32_t mpnum_e2m1_magnitude_(uint32_t x) {
  return (uint32_t)(x > 0x3e800000u) + (uint32_t)(x >= 0x3f400000u) +
         (uint32_t)(x > 0x3fa00000u) + (uint32_t)(x >= 0x3fe00000u) +
         (uint32_t)(x > 0x40200000u) + (uint32_t)(x >= 0x40600000u) +
         (uint32_t)(x > 0x40a00000u);
}
MPNUM_HOST void mpnum_two_scales_block_(mpnum_scaled_block_ *made,
                                        const mpnum_two_scales_ *by, const float *x,
                                        float scale) {
  const mpnum_e4m3 code = mpnum_f32_to_e4m3_sat(scale);
  const float stored = mpnum_e4m3_to_f32(code);
  float factor = mpnum_div_scalar_(1, mpnum_mul_scalar_(stored, by->inverse));
  float values[8], sum = 0;
  uint32_t i = 0;
  if (mpnum_bits_f32(factor) > 0x7f7fffffu) factor = mpnum_from_bits_f32(0x7f7fffffu);
  for (; i < 8; ++i) { /* what each magnitude comes back as */
    const mpnum_e2m1 element = mpnum_from_bits_e2m1((uint8_t)i);
    const float scaled = mpnum_mul_scalar_(mpnum_e2m1_to_f32(element), stored);
    values[i] = mpnum_div_scalar_(mpnum_mul_scalar_(scaled, by->amax), by->unit);
  }
  made->scale = code.bits;
  for (i = 0; i < 16; ++i) {
    const uint32_t bits = mpnum_bits_f32(mpnum_mul_scalar_(x[i], factor));
    const uint32_t element = mpnum_e2m1_magnitude_(bits & 0x7fffffffu);
    const float magnitude =
        mpnum_from_bits_f32(mpnum_bits_f32(x[i]) & 0x7fffffffu); /* of one sign */
    const float error = mpnum_sub_scalar_(values[element], magnitude);
    made->codes[i] = (uint8_t)(element | (bits >> 31) << 3);
    sum = mpnum_add_scalar_(
        sum, by->squared ? mpnum_mul_scalar_(error, error)
                         : mpnum_from_bits_f32(mpnum_bits_f32(error) & 0x7fffffffu));
  }
  made->error = sum;
}
/* The better one of a block of finite elements with this amax. */
MPNUM_HOST void mpnum_four_or_six_(mpnum_scaled_block_ *six, const mpnum_two_scales_ *by,
                                   const float *x, float amax) {
  const float base = mpnum_mul_scalar_(mpnum_div_scalar_(amax, 6), by->scale);
  mpnum_scaled_block_ four;
  mpnum_two_scales_block_(&four, by, x, mpnum_mul_scalar_(base, 1.5f));
  mpnum_two_scales_block_(six, by, x, base);
  if (mpnum_bits_f32(four.error) < mpnum_bits_f32(six->error)) *six = four;
}
/* A block of n elements, 16 at most, of which others are zeros: codes and its scale. */
MPNUM_HOST uint8_t mpnum_four_over_six_block_(uint8_t *codes, const mpnum_two_scales_ *by,
                                              const float *x, size_t n) {
  float own[16] = {0};
  mpnum_scaled_block_ made;
  uint32_t amax = 0;
  size_t i = 0;
  MPNUM_MEMCPY_(own, x, n * sizeof *own);
  for (; i < n; ++i) {
    const uint32_t magnitude = mpnum_bits_f32(own[i]) & 0x7fffffffu;
    amax = magnitude > amax ? magnitude : amax;
  }
  if (amax >= 0x7f800000u) { /* NaN, as MPNUM_BLOCKSCALE_PROPAGATE has it */
    for (i = 0; i < 16; ++i)
      made.codes[i] = 7;
    made.scale = 0x7f;
  } else {
    mpnum_four_or_six_(&made, by, own, mpnum_from_bits_f32(amax));
  }
  for (i = 0; i < n; i += 2)
    codes[i / 2] = (uint8_t)(made.codes[i] | (i + 1 < n ? made.codes[i + 1] : 0) << 4);
  return made.scale;
}
/* Quantises a matrix to blocks of mpnum_blockscale_nvfp4_1x16, plain or swizzled, and
 * sets dst->scale. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_four_over_six(
    mpnum_blockscaled *dst, mpnum_const_matrix src, mpnum_four_over_six how) {
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  mpnum_status status = MPNUM_OK;
  mpnum_two_scales_ by;
  mpnum_scale_move_ scales;
  mpnum_blockscaled at;
  uint64_t saved = 0;
  size_t r = 0, c = 0, i = 0;
  if ((how.max != 448 && how.max != 256) || (how.squared & ~1))
    return MPNUM_ERROR_ARGUMENT;
  if (!src.rows || !src.columns) return MPNUM_OK;
  if (!dst) return MPNUM_ERROR_NULL;
  at = *dst;
  at.scale = 1;
  status = mpnum_quantize_check_(&format, &at, &src);
  if (status != MPNUM_OK) return status;
  by.amax = mpnum_finite_amax_(&src);
  saved = mpnum_fenv_save_();
  by.squared = how.squared;
  by.unit = how.max == 448 ? 2688.0f : 1536.0f;
  by.scale = mpnum_two_level_scale_(mpnum_bits_f32(by.unit), by.amax);
  by.inverse = mpnum_div_scalar_(1, by.scale);
  mpnum_scale_move_of_(&scales, &format,
                       at.is_swizzled ? MPNUM_SCALES_SWIZZLED : MPNUM_SCALES_IN_ROWS,
                       at.scale_inv, src.rows, src.columns);
  if (at.is_swizzled) mpnum_clear_padding_(&scales.job);
  for (; r < src.rows; ++r)
    for (c = 0; c < src.columns; c += MPNUM_RUN_) {
      MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
      uint8_t made[MPNUM_RUN_ / 16];
      const size_t left = src.columns - c, n = left < MPNUM_RUN_ ? left : MPNUM_RUN_;
      const float *const x = mpnum_run_floats_(&src, r, c, n, buffer);
      uint8_t *const codes = (uint8_t *)at.codes + mpnum_bytes_(4, r * at.stride + c);
      for (i = 0; i < n; i += 16)
        made[i / 16] = mpnum_four_over_six_block_(codes + i / 2, &by, x + i,
                                                  n - i < 16 ? n - i : 16);
      mpnum_scales_to_(&scales, made, r, c / 16, (n + 15) / 16);
    }
  mpnum_fenv_restore_(saved);
  dst->scale = by.scale;
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* What normalize.h is made of: the numbers that normalise a row, and the steps over its
 * tiles. */
#ifndef MPNUM_DETAIL_SIMD_NORM_LOOPS_H
#define MPNUM_DETAIL_SIMD_NORM_LOOPS_H

#include "rows_loops.h"

#if MPNUM_HAS_ARRAYS

/* An element x becomes d inverse + offset, d = x power - mean; power is 1 but for rows of
 * which it brings the squares into the range of floats. What mean lacks is in offset,
 * which is never +0, so that zeros keep their signs. */
typedef struct mpnum_norm_map_ {
  float power, mean, inverse, offset;
} mpnum_norm_map_;
MPNUM_HOST_INLINE_ float mpnum_normed_(const mpnum_norm_map_ *map, float x) {
  const float d = mpnum_sub_scalar_(mpnum_mul_scalar_(x, map->power), map->mean);
  return mpnum_fma_scalar_(d, map->inverse, map->offset);
}
/* Of a gradient g and a normalised x: ((g - mean) + x along) inverse power. */
typedef struct mpnum_norm_slope_ {
  float mean, along, inverse, power;
} mpnum_norm_slope_;

/* Rows of floats, each by its map, times weight, plus bias, either of which may be NULL,
 * to f32, f16 or bf16; steps in bytes. dst may be src. */
typedef struct mpnum_norm_run_ {
  const mpnum_norm_map_ *maps;
  mpnum_type dst_type;
  mpnum_encoding_ encoding; /* of f16 */
  uint8_t *dst;
  const uint8_t *src;
  size_t dst_step, src_step, rows, columns;
  const float *weight, *bias;
} mpnum_norm_run_;

/* norm_rows: a run.
 * norm_sums: of rows of one tile two sums each, of the elements, unless nobody wants it,
 *   and of their squares, as reduce.h has them.
 * norm_pairs: sums or products of two arrays; dst may be one of them.
 * norm_gradient: gradients by a slope, added to old unless that is NULL.
 * norm_sum_rows: adds a row of gradients to sums of columns, times the normalised row or
 *   as it is; either sums may be NULL. */
# define MPNUM_EACH_ISA_ "norm.inc"
# include "each_isa.inc"

MPNUM_HOST void mpnum_norm_run_rows_(const mpnum_norm_run_ *run) {
  MPNUM_CALL_(norm_rows, (run));
}
/* Of f32 to f32. */
MPNUM_HOST void mpnum_norm_map_tile_(const mpnum_norm_map_ *map, void *dst,
                                     const void *src, size_t n) {
  mpnum_norm_run_ run;
  run.maps = map;
  run.dst_type = MPNUM_TYPE_F32;
  run.dst = (uint8_t *)dst;
  run.src = (const uint8_t *)src;
  run.dst_step = run.src_step = 0;
  run.rows = 1;
  run.columns = n;
  run.weight = run.bias = 0;
  mpnum_norm_run_rows_(&run);
}
MPNUM_HOST void mpnum_norm_tile_sums_(int has_values, double *sums, const void *src,
                                      size_t step, size_t rows, size_t n) {
  MPNUM_CALL_(norm_sums, (has_values, sums, (const uint8_t *)src, step, rows, n));
}
MPNUM_HOST void mpnum_norm_pairs_(int is_product, float *dst, const void *a,
                                  const void *b, size_t n) {
  MPNUM_CALL_(norm_pairs, (is_product, dst, (const uint8_t *)a, (const uint8_t *)b, n));
}

/* 1 / sqrt(x) to 45 bits; of 0, Inf and NaN 0, 0 and NaN. A step of Newton's from the
 * root of a float. */
MPNUM_HOST double mpnum_inverse_root_(double x) {
  const uint64_t bits = mpnum_bits_f64(x);
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  const int half_way = (exponent + 2046) / 2 - 1023; /* rounded down */
  double part, first, rest;
  if (bits >> 63 || bits > (uint64_t)0x7ff << 52)
    return mpnum_opt_barrier_f64_(mpnum_from_bits_f64(0x7fffffffffffffffu));
  if (exponent == 1024 || exponent == -1023) /* nobody may know that it is 0 */
    return mpnum_opt_barrier_f64_(0);
  part = mpnum_from_bits_f64(bits - ((uint64_t)(uint32_t)(2 * half_way + 2046) << 52) +
                             ((uint64_t)2046 << 52)); /* 1 to 4 */
  first = mpnum_div_f64_(
      1, (double)mpnum_sqrt_raw_scalar_((float)mpnum_opt_barrier_f64_(part)));
  rest = mpnum_opt_barrier_f64_(mpnum_opt_barrier_f64_(part * first) * first);
  rest = mpnum_opt_barrier_f64_(mpnum_opt_barrier_f64_(0.5 - 0.5 * rest) * first);
  return mpnum_opt_barrier_f64_(mpnum_add_f64_(first, rest) *
                                mpnum_from_bits_f64((uint64_t)(1023 - half_way) << 52));
}

/* What a row is divided by. inverse and rest, what map's mean lacks, are of x power. */
typedef struct mpnum_norm_row_ {
  double rest, inverse;
  int is_least; /* the length is below epsilon */
  mpnum_norm_map_ map;
} mpnum_norm_row_;

/* 2^-64 of rows with elements near 2^100 and up, or epsilon as large; 2^64 of rows with
 * none near 2^-50; else 1. */
MPNUM_HOST float mpnum_norm_power_(double squares, double least) {
  const int exponent = (int)(mpnum_bits_f64(squares) >> 52) - 1023;
  const int of_least = (int)(mpnum_bits_f64(least) >> 52) - 1023;
  if (exponent == 1024) return 1;
  if (exponent >= 200 || of_least >= 200) return mpnum_pow2_(-64);
  return exponent < -100 ? mpnum_pow2_(64) : 1;
}
/* The numbers that subtract a mean of x power and do nothing else. */
MPNUM_HOST void mpnum_norm_shift_(mpnum_norm_map_ *map, float power, double mean) {
  map->power = power;
  map->mean = (float)mpnum_opt_barrier_f64_(mean);
  map->inverse = 1;
  map->offset = mpnum_from_bits_f32(0x80000000u);
}
/* Those that multiply by row->inverse, too. */
MPNUM_HOST void mpnum_norm_divide_(mpnum_norm_row_ *row) {
  const double offset = mpnum_opt_barrier_f64_(row->rest * row->inverse);
  row->map.inverse = mpnum_canonical_((float)mpnum_opt_barrier_f64_(row->inverse));
  row->map.offset = mpnum_from_bits_f32(mpnum_bits_f32((float)offset) ^ 0x80000000u);
}

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* What normalize.h is made of: the numbers that normalise a row, and the steps over its
 * tiles. */
#ifndef MPNUM_ROWS_DETAIL_NORM_LOOPS_H
#define MPNUM_ROWS_DETAIL_NORM_LOOPS_H

#include "rows_loops.h"
#include "norm_row.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Rows of floats, each by the map found, times weight, plus bias, either of which may be
 * NULL, to f32, f16 or bf16; steps in bytes. dst may be src. */
typedef struct mpnum_norm_run_ {
  const mpnum_norm_row_ *found; /* of each row */
  mpnum_type dst_type;
  mpnum_encoding_ encoding; /* of f16 */
  uint8_t *dst;
  const uint8_t *src;
  size_t dst_step, src_step, rows, columns;
  const float *weight, *bias;
  int has_saved;      /* numbers that a caller saved are among those found */
  int *columns_allow; /* what weights and biases do, -1 before that is known */
} mpnum_norm_run_;
/* Rows of gradients, and the normalised rows one behind the other; weight may be NULL. */
typedef struct mpnum_norm_back_ {
  const uint8_t *gradient;
  uint8_t *dst;
  const float *weight, *normed;
  size_t gradient_step, dst_step, rows, columns;
} mpnum_norm_back_;

/* Rows handled flushed that keep subnormals. Results are 2^63 times as large until the
 * end: where a magnitude is below 2^-63 then, it is rounded once by a sum with 2^-63.
 * Elements are raised by 2^63 for that, by 2^127 where power is 2^64. Where the inverse
 * is 2^-24 at most it is raised, and subnormal elements are as good as 0; so are those of
 * which a mean is subtracted after a product with 2^-64.
 * Constants are among the numbers: those that a compiler knows it makes anew for each
 * vector, on the port that is short. */
typedef struct mpnum_norm_keeping_ {
  uint32_t size, sign, one, normal, low, up; /* masks; 1, 2^-126, 2^-63; 63 << 23 */
  uint32_t power, mean, inverse, offset;
  uint32_t raise, least; /* what is added to exponents, and 2^-126 raised */
  uint32_t lost;         /* not 0: a low sum with offset is not rounded so */
  int is_raised, has_mean;
} mpnum_norm_keeping_;
/* How a row is handled: by the usual steps, by these with subnormals flushed, or kept. */
typedef enum mpnum_norm_way_ {
  MPNUM_NORM_USUAL_ = 0,
  MPNUM_NORM_FLUSHED_,
  MPNUM_NORM_KEPT_
} mpnum_norm_way_;
/* The rows that are being handled flushed. */
typedef struct mpnum_norm_flushed_ {
  uint64_t saved; /* environment */
  size_t end;     /* of these rows */
  mpnum_norm_map_ map;
  MPNUM_ALIGNED_ float made[MPNUM_TILE_]; /* a row that map is of, times its power */
} mpnum_norm_flushed_;
/* Whether a row is but multiplied, by 2^-20 to 2^20: its subnormals are those that
 * count. */
MPNUM_HOST int mpnum_norm_is_near_(const mpnum_norm_map_ *map) {
  return mpnum_bits_f32(map->power) == 0x3f800000u && mpnum_bits_f32(map->mean) == 0 &&
         mpnum_bits_f32(map->offset) == 0x80000000u &&
         mpnum_bits_f32(map->inverse) - 0x35800000u < 0x14000000u;
}
/* The magnitude below which an element of another row, or its result, is subnormal or
 * nearly so; 0 where these steps cannot handle the row. */
MPNUM_HOST_ONCE_ uint32_t mpnum_norm_least_(const mpnum_norm_map_ *map) {
  const uint32_t power = mpnum_bits_f32(map->power), one = 0x3f800000u;
  const uint32_t mean = mpnum_bits_f32(map->mean), inverse = mpnum_bits_f32(map->inverse);
  int least = 1 + 127 - (int)(power >> 23);
  if (inverse - 0x01000000u >= (power < one ? 0x5e800000u : 0x7e800000u)) return 0;
  if (mean == 0) {
    if (mpnum_bits_f32(map->offset) != 0x80000000u) return 0;
    if (power < one && inverse > 0x33800000u) return 0;
    least += 2 + 127 - (int)(inverse >> 23);
  } else if (power == one || (mean & 0x7fffffffu) - 0x0d800000u >= 0x72000000u ||
             (mpnum_bits_f32(map->offset) & 0x7fffffffu) >= 0x5f800000u) {
    return 0; /* the mean is to be 2^-100 at least */
  }
  return (uint32_t)(least < 1 ? 1 : least > 254 ? 254 : least) << 23;
}
/* x 2^63, also of what is subnormal and flushed. */
MPNUM_HOST float mpnum_norm_raised_(float x) {
  const uint32_t bits = mpnum_bits_f32(x), size = bits & 0x7fffffffu;
  if (size >= 0x00800000u) return mpnum_mul_scalar_(x, mpnum_pow2_(63));
  return mpnum_from_bits_f32(
      mpnum_bits_f32(mpnum_mul_scalar_((float)size, mpnum_pow2_(-86))) |
      (bits & 0x80000000u));
}
MPNUM_HOST_ONCE_ mpnum_norm_keeping_ mpnum_norm_keeping_of_(const mpnum_norm_map_ *map) {
  const uint32_t power = mpnum_bits_f32(map->power), one = 0x3f800000u;
  const uint32_t inverse = mpnum_bits_f32(map->inverse), raise = power == one ? 63 : 127;
  const uint32_t none = inverse >> 31; /* 0, which no compiler knows */
  mpnum_norm_keeping_ by;
  by.size = 0x7fffffffu + none;
  by.sign = 0x80000000u + none;
  by.one = one + none;
  by.normal = 0x00800000u + none;
  by.low = (64u << 23) + none;
  by.up = (63u << 23) + none;
  by.is_raised = power > one || (power == one && inverse > 0x33800000u /* 2^-24 */);
  by.has_mean = mpnum_bits_f32(map->mean) != 0;
  by.power = power;
  by.mean = mpnum_bits_f32(by.is_raised ? mpnum_norm_raised_(map->mean) : map->mean);
  by.inverse = by.is_raised ? inverse : mpnum_bits_f32(mpnum_norm_raised_(map->inverse));
  if (power < one && !by.has_mean) by.inverse -= 64u << 23;
  by.offset = mpnum_bits_f32(mpnum_norm_raised_(map->offset));
  by.lost = (mpnum_bits_f32(map->offset) & 0x7fffffffu) >> 23;
  by.raise = raise << 23;
  by.least = (raise + 1) << 23;
  return by;
}

/* Rows of gradients handled flushed that keep subnormals: they, and one of the factors of
 * n along, are 2^64 times as large, up to the end. Where along is 2^48 at least, inverse
 * 2^-50 at most and there is no mean, as in rows of random bits, sums are as they are, as
 * what is subnormal there is nothing but a side for a tie, and inverse is 2^64 times as
 * large, or near 1/2. */
typedef enum mpnum_norm_slope_kind_ {
  MPNUM_NORM_UNKEPT_ = 0,
  MPNUM_NORM_NEAR_,
  MPNUM_NORM_FAR_, /* along is below 2^-60: of the factors it is raised */
  MPNUM_NORM_LARGE_
} mpnum_norm_slope_kind_;
typedef struct mpnum_norm_slope_keeping_ {
  mpnum_norm_slope_kind_ kind;
  uint32_t mean, along, inverse, power;
  uint32_t up, least; /* what results are raised by, and 2^-126 raised */
} mpnum_norm_slope_keeping_;
/* x 2^64, also of what is subnormal and flushed. */
MPNUM_HOST uint32_t mpnum_norm_far_(float x) {
  return mpnum_bits_f32(mpnum_mul_scalar_(mpnum_norm_raised_(x), 2));
}
MPNUM_HOST_ONCE_ mpnum_norm_slope_keeping_ mpnum_norm_slope_keeping_of_(
    mpnum_norm_slope_kind_ kind, const mpnum_norm_slope_ *slope) {
  mpnum_norm_slope_keeping_ all;
  all.kind = kind;
  all.mean = mpnum_norm_far_(slope->mean);
  all.along = mpnum_bits_f32(slope->along);
  all.inverse = mpnum_bits_f32(slope->inverse);
  all.power = mpnum_bits_f32(slope->power);
  all.up = (uint32_t)64 << 23;
  if (kind == MPNUM_NORM_LARGE_) {
    all.along -= all.up;
    if (all.inverse + all.up > 0x3f000000u)
      all.up = 0x3f000000u - (all.inverse & 0x7f800000u);
    all.inverse += all.up;
  } else if (kind == MPNUM_NORM_FAR_) {
    all.along = mpnum_norm_far_(slope->along);
  }
  all.least = all.up + 0x00800000u;
  return all;
}

/* norm_rows: a run.
 * norm_sums: of rows of one tile two sums each, of the elements, unless nobody wants it,
 *   and of their squares, as reduce.h has them.
 * norm_pairs: sums or products of two arrays, NaN canonical; dst may be one of them.
 * norm_slope_sums: of rows of one tile two sums each, of gradients times weight, unless
 *   nobody wants it, and of their products with the normalised row; gradients times
 *   weight are stored, too, one row behind the other, maybe where they were.
 * norm_gradient: gradients, which weight is in, to dst, each row by its slope, added to
 *   what is there at the end if adds.
 * norm_sum_rows: adds rows of gradients to sums of columns, times the normalised rows or
 *   as they are; either sums may be NULL. */
# define MPNUM_EACH_ISA_ "../../rows/detail/norm.inc"
# include "../../simd/detail/each_isa.inc"

MPNUM_HOST void mpnum_norm_run_rows_(const mpnum_norm_run_ *run) {
  MPNUM_CALL_(norm_rows, (run));
}
/* Of f32 to f32. */
MPNUM_HOST void mpnum_norm_map_tile_(const mpnum_norm_row_ *row, void *dst,
                                     const void *src, size_t n) {
  mpnum_norm_run_ run;
  int columns_allow = -1;
  run.columns_allow = &columns_allow;
  run.has_saved = 1;
  run.found = row;
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
/* Writes sums of columns. */
MPNUM_HOST void mpnum_norm_sums_to_(float *dst, int adds, const double *sums, size_t n) {
  size_t i = 0;
  for (; i < n; ++i) {
    double sum = sums[i];
    if (adds) sum = mpnum_add_f64_(sum, (double)mpnum_float_at_(dst, i));
    mpnum_set_float_(dst, i, mpnum_canonical_((float)mpnum_opt_barrier_f64_(sum)));
  }
}

#endif
MPNUM_C_END_
#endif

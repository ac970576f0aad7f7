/* SPDX-License-Identifier: MIT */
/* The numbers that normalise a row, found from its sums: normalize.h and the kernels of
 * norm_rows.cuh. */
#ifndef MPNUM_ROWS_DETAIL_NORM_ROW_H
#define MPNUM_ROWS_DETAIL_NORM_ROW_H

#include "../../core/detail/environment.h"
#include "../../simd/detail/f32_ops.h"
#include "../normalize_options.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_ || MPNUM_HAS_CUDA_

/* An element x becomes d inverse + offset, d = x power - mean; power is 1 but for rows of
 * which it brings the squares into the range of floats. What mean lacks is in offset,
 * which is never +0, so that zeros keep their signs. */
typedef struct mpnum_norm_map_ {
  float power, mean, inverse, offset;
} mpnum_norm_map_;
MPNUM_REAL_ float mpnum_normed_(const mpnum_norm_map_ *map, float x) {
  const float d = mpnum_sub_scalar_(mpnum_mul_scalar_(x, map->power), map->mean);
  return mpnum_fma_scalar_(d, map->inverse, map->offset);
}
/* Of a gradient g and a normalised x: ((g - mean) + x along) inverse power. */
typedef struct mpnum_norm_slope_ {
  float mean, along, inverse, power;
} mpnum_norm_slope_;

/* One NaN for all. */
MPNUM_REAL_ float mpnum_norm_canonical_(float x) {
  return mpnum_isnan_f32(x) ? mpnum_from_bits_f32(0x7fffffffu) : x;
}
/* 1 / sqrt(x) to 45 bits; of 0, Inf and NaN 0, 0 and NaN. A step of Newton's from the
 * root of a float. */
MPNUM_MATH_ double mpnum_inverse_root_(double x) {
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
      1, mpnum_widen_f32_(mpnum_sqrt_raw_scalar_(mpnum_narrow_f64_(part))));
  rest = mpnum_mul_f64_(mpnum_mul_f64_(part, first), first);
  rest = mpnum_mul_f64_(mpnum_add_f64_(0.5, mpnum_mul_f64_(-0.5, rest)), first);
  return mpnum_mul_f64_(mpnum_add_f64_(first, rest),
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
MPNUM_MATH_ float mpnum_norm_power_(double squares, double least) {
  const int exponent = (int)(mpnum_bits_f64(squares) >> 52) - 1023;
  const int of_least = (int)(mpnum_bits_f64(least) >> 52) - 1023;
  if (exponent >= 1024) return 1; /* NaN may have a sign */
  if (exponent >= 200 || of_least >= 200) return mpnum_pow2_(-64);
  return exponent < -100 ? mpnum_pow2_(64) : 1;
}
/* The numbers that subtract a mean of x power and do nothing else. */
MPNUM_MATH_ void mpnum_norm_shift_(mpnum_norm_map_ *map, float power, double mean) {
  map->power = power;
  map->mean = mpnum_narrow_f64_(mean);
  map->inverse = 1;
  map->offset = mpnum_from_bits_f32(0x80000000u);
}
/* Those that multiply by row->inverse, too. */
MPNUM_MATH_ void mpnum_norm_divide_(mpnum_norm_row_ *row) {
  const double offset = mpnum_mul_f64_(row->rest, row->inverse);
  row->map.inverse = mpnum_norm_canonical_(mpnum_narrow_f64_(row->inverse));
  row->map.offset =
      mpnum_from_bits_f32(mpnum_bits_f32(mpnum_narrow_f64_(offset)) ^ 0x80000000u);
}

/* x / columns; a power of two takes no division on hosts. */
MPNUM_MATH_ double mpnum_norm_mean_of_(double x, double columns) {
# if !MPNUM_ON_DEVICE_
  const uint64_t bits = mpnum_bits_f64(columns);
  if (bits << 12 == 0)
    return mpnum_mul_f64_(x, mpnum_from_bits_f64(((uint64_t)2046 << 52) - bits));
# endif
  return mpnum_div_f64_(x, columns);
}

/* From the sums of a row's elements and of their squares finds row, and what its inverse
 * is the root of: 0 where row is found, 1 where *square lacks epsilon, 2 where the mean
 * is so large that a difference of sums is nothing but error and the variance has to be
 * summed about the mean, x as row->map makes it. */
MPNUM_MATH_ int mpnum_norm_begin_(mpnum_norm_kind kind, double epsilon, double columns,
                                  const double sums[2], mpnum_norm_row_ *row,
                                  double *square) {
  const double least = kind == MPNUM_NORM_L2 ? mpnum_mul_f64_(epsilon, epsilon) : 0;
  double power = 0, mean = 0, variance = 0;
  mpnum_norm_shift_(&row->map, mpnum_norm_power_(sums[1], least), 0);
  power = mpnum_widen_f32_(row->map.power);
  row->rest = 0;
  row->is_least = mpnum_bits_f64(sums[1]) < mpnum_bits_f64(least); /* both are >= 0 */
  *square = row->is_least ? least : sums[1];
  if (mpnum_bits_f64(sums[1]) >> 52 == 0x7ff) { /* Inf or NaN */
    row->inverse = kind == MPNUM_NORM_L2
                       ? mpnum_inverse_root_(sums[1])
                       : mpnum_from_bits_f64((uint64_t)0x7fffffffffffffffu);
    mpnum_norm_divide_(row);
    return 0;
  }
  if (kind != MPNUM_NORM_L2) *square = mpnum_norm_mean_of_(*square, columns);
  *square = mpnum_mul_f64_(*square, mpnum_mul_f64_(power, power));
  if (kind != MPNUM_NORM_LAYER) return 1;
  mean = mpnum_mul_f64_(mpnum_norm_mean_of_(sums[0], columns), power);
  variance = mpnum_add_f64_(*square, -mpnum_mul_f64_(mean, mean));
  mpnum_norm_shift_(&row->map, row->map.power, mean);
  row->rest = mpnum_add_f64_(mean, -mpnum_widen_f32_(row->map.mean));
  if (!(variance > mpnum_mul_f64_(*square, 1.0 / 65536))) return 2;
  *square = variance;
  return 1;
}
/* The variance from sums about the mean in row->map, and what that mean lacks. It is half
 * of the mean of squares at least, as the float of a mean is off by half of the elements'
 * steps, or all elements are that float. */
MPNUM_MATH_ double mpnum_norm_about_(double columns, const double sums[2],
                                     mpnum_norm_row_ *row) {
  row->rest = mpnum_div_f64_(sums[0], columns);
  return mpnum_add_f64_(mpnum_div_f64_(sums[1], columns),
                        -mpnum_mul_f64_(row->rest, row->rest));
}
MPNUM_MATH_ void mpnum_norm_end_(mpnum_norm_kind kind, double epsilon, double square,
                                 mpnum_norm_row_ *row) {
  const double power = mpnum_widen_f32_(row->map.power);
  if (kind != MPNUM_NORM_L2)
    square =
        mpnum_add_f64_(square, mpnum_mul_f64_(epsilon, mpnum_mul_f64_(power, power)));
  row->inverse = mpnum_inverse_root_(square);
  mpnum_norm_divide_(row);
}
/* The mean and the inverse that a caller may ask for; NaN of a NaN row. */
MPNUM_MATH_ float mpnum_norm_mean_(const mpnum_norm_row_ *row) {
  const double mean = mpnum_add_f64_(mpnum_widen_f32_(row->map.mean), row->rest);
  if (mpnum_bits_f32(row->map.inverse) == 0x7fffffffu) return row->map.inverse;
  return mpnum_narrow_f64_(mpnum_div_f64_(mean, mpnum_widen_f32_(row->map.power)));
}
MPNUM_MATH_ float mpnum_norm_inverse_(const mpnum_norm_row_ *row) {
  if (mpnum_bits_f32(row->map.inverse) == 0x7fffffffu) return row->map.inverse;
  return mpnum_narrow_f64_(
      mpnum_mul_f64_(row->inverse, mpnum_widen_f32_(row->map.power)));
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* The loops behind reduce.h: the scalar ones, which are the meaning of all others, and
 * those of each instruction set of the target. */
#ifndef MPNUM_ARRAY_DETAIL_REDUCE_LOOPS_H
#define MPNUM_ARRAY_DETAIL_REDUCE_LOOPS_H

#include "convert_loops.h"
#include "views.h"
#include "../stats.h"
#include "../exact_sum.h"
#include "../../simd/detail/f32_ops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

# include <stddef.h>

typedef enum mpnum_sum_ {
  MPNUM_SUM_VALUES_,
  MPNUM_SUM_SQUARES_,
  MPNUM_SUM_PRODUCTS_
} mpnum_sum_;

/* What statistics are made of: counts, and codes of magnitudes. */
typedef struct mpnum_codes_ {
  uint64_t count, zeros, subnormals, infs, nans;
  uint32_t max, min; /* of finite ones; of nonzero ones, past the largest finite one if
                        there are none */
} mpnum_codes_;

MPNUM_HOST_INLINE_ mpnum_codes_ mpnum_no_codes_(void) {
  const mpnum_codes_ codes = {0, 0, 0, 0, 0, 0, 0xffffffffu};
  return codes;
}
MPNUM_HOST_INLINE_ mpnum_codes_ mpnum_codes_merge_(mpnum_codes_ a, mpnum_codes_ b) {
  a.count += b.count;
  a.zeros += b.zeros;
  a.subnormals += b.subnormals;
  a.infs += b.infs;
  a.nans += b.nans;
  a.max = a.max > b.max ? a.max : b.max;
  a.min = a.min < b.min ? a.min : b.min;
  return a;
}

/* What the loops have to know of a format, in two registers: the magnitudes of codes. */
typedef struct mpnum_limits_ {
  uint32_t ones;       /* all bits of a magnitude */
  uint32_t max;        /* the largest finite one */
  uint32_t last;       /* the largest that is not NaN */
  uint32_t min_normal; /* the smallest normal one */
} mpnum_limits_;

MPNUM_HOST_INLINE_ mpnum_limits_ mpnum_limits_of_(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  const mpnum_limits_ limits = {mpnum_magnitude_(format, 0xffffffffu), format.max_code,
                                format.inf_code ? format.inf_code : format.max_code,
                                mpnum_min_code_(format)};
  return limits;
}

MPNUM_HOST_INLINE_ uint32_t mpnum_magnitude_at_(int bits, mpnum_limits_ limits,
                                                const uint8_t *src, size_t i) {
  return (uint32_t)mpnum_element_(bits, src, i) & limits.ones;
}
MPNUM_HOST_INLINE_ void mpnum_max_code_scalar_(int bits, mpnum_limits_ limits,
                                               uint32_t *result, const uint8_t *src,
                                               size_t n) {
  uint32_t max = 0;
  size_t i = 0;
  for (; i < n; ++i) {
    const uint32_t x = mpnum_magnitude_at_(bits, limits, src, i);
    max = x > max ? x : max;
  }
  *result = max;
}
MPNUM_HOST_INLINE_ void mpnum_first_nonfinite_scalar_(int bits, mpnum_limits_ limits,
                                                      size_t *result, const uint8_t *src,
                                                      size_t n) {
  size_t i = 0;
  while (i < n && mpnum_magnitude_at_(bits, limits, src, i) <= limits.max)
    ++i;
  *result = i;
}
MPNUM_HOST_INLINE_ void mpnum_count_nonfinite_scalar_(int bits, mpnum_limits_ limits,
                                                      size_t *result, const uint8_t *src,
                                                      size_t n) {
  size_t count = 0, i = 0;
  for (; i < n; ++i)
    count += mpnum_magnitude_at_(bits, limits, src, i) > limits.max;
  *result = count;
}
MPNUM_HOST_INLINE_ void mpnum_stats_scalar_(int bits, mpnum_limits_ limits,
                                            mpnum_codes_ *result, const uint8_t *src,
                                            size_t n) {
  mpnum_codes_ codes = mpnum_no_codes_();
  size_t i = 0;
  for (; i < n; ++i) {
    const uint32_t x = mpnum_magnitude_at_(bits, limits, src, i);
    codes.zeros += x == 0;
    codes.subnormals += x != 0 && x < limits.min_normal;
    codes.infs += x > limits.max && x <= limits.last;
    codes.nans += x > limits.last;
    if (x > codes.max && x <= limits.max) codes.max = x;
    if (x < codes.min && x != 0) codes.min = x;
  }
  codes.count = n;
  *result = codes;
}

/* A tile, or the last one, of fewer elements: what is past its last multiple of 64 is
 * copied, with zeros behind it. */
typedef struct mpnum_tile_ {
  const uint8_t *a, *b;
  size_t bytes; /* of the part that is not copied */
  int has_rest;
  uint8_t rest_a[256], rest_b[256];
} mpnum_tile_;

/* Sums of floats. In a tile element i is added to lane i % 64, then the upper half of the
 * lanes to the lower one, until there is one lane. */
MPNUM_HOST void mpnum_add_terms_(mpnum_sum_ kind, double lanes[64], const uint8_t *a,
                                 const uint8_t *b, size_t n) {
  size_t i = 0;
  for (; i < n; ++i) {
    const double x = mpnum_widen_bits_((uint32_t)mpnum_element_(32, a, i));
    double y = 1.0;
    if (kind == MPNUM_SUM_SQUARES_) y = x;
    if (kind == MPNUM_SUM_PRODUCTS_)
      y = mpnum_widen_bits_((uint32_t)mpnum_element_(32, b, i));
    lanes[i % 64] = mpnum_add_f64_(lanes[i % 64], x * y);
  }
}
MPNUM_HOST double mpnum_sum_tile_scalar_(mpnum_sum_ kind, const mpnum_tile_ *tile) {
  double lanes[64] = {0};
  size_t width = 32, i = 0;
  mpnum_add_terms_(kind, lanes, tile->a, tile->b, tile->bytes / 4);
  if (tile->has_rest) mpnum_add_terms_(kind, lanes, tile->rest_a, tile->rest_b, 64);
  for (; width > 0; width /= 2)
    for (i = 0; i < width; ++i)
      lanes[i] = mpnum_add_f64_(lanes[i], lanes[width + i]);
  return lanes[0];
}

/* The sum of lanes, by halves. */
MPNUM_HOST float mpnum_folded_(float lanes[64], size_t count) {
  size_t width = count / 2, i = 0;
  for (; width; width /= 2)
    for (i = 0; i < width; ++i)
      lanes[i] = mpnum_add_scalar_(lanes[i], lanes[width + i]);
  return lanes[0];
}

# define MPNUM_EACH_ISA_ "../../array/detail/reduce_loops.inc"
# include "../../simd/detail/each_isa.inc"

/* Of one array b is NULL. in_floats: for a loop that adds floats, not doubles. */
MPNUM_HOST_INLINE_ void mpnum_copy_rest_(int in_floats, uint8_t rest[256],
                                         const uint8_t *src, size_t bytes) {
  if (in_floats)
    MPNUM_CALL_(float_rest, (rest, src, bytes));
  else
    MPNUM_CALL_(tile_rest, (rest, src, bytes));
}
MPNUM_HOST_INLINE_ void mpnum_cut_tile_(int in_floats, mpnum_tile_ *tile,
                                        const uint8_t *a, const uint8_t *b, size_t n) {
  const size_t bytes = n / 64 * 256, rest = n % 64 * 4;
  tile->a = a;
  tile->b = b ? b : a;
  tile->bytes = bytes;
  tile->has_rest = rest != 0;
  if (rest != 0) mpnum_copy_rest_(in_floats, tile->rest_a, a + bytes, rest);
  if (rest != 0 && b) mpnum_copy_rest_(in_floats, tile->rest_b, b + bytes, rest);
}
/* The sum of a tile of floats, in the environment of loops; of one array b is NULL. */
typedef double mpnum_tile_sum_(const void *a, const void *b, size_t n);
# define MPNUM_SUM_OF_(name)                                                        \
  MPNUM_HOST_ONCE_ double mpnum_##name##_(const void *a, const void *b, size_t n) { \
   mpnum_tile_ tile;                                                                \
   double sum = 0;                                                                  \
   mpnum_cut_tile_(0, &tile, (const uint8_t *)a, (const uint8_t *)b, n);            \
   MPNUM_CALL_(name##_tile, (&sum, &tile));                                         \
   return sum;                                                                      \
  }
MPNUM_SUM_OF_(values)
MPNUM_SUM_OF_(squares)
MPNUM_SUM_OF_(products)
# undef MPNUM_SUM_OF_

/* Of elements that a function makes floats, unless it is NULL. */
MPNUM_HOST double mpnum_sum_of_tile_(mpnum_tile_sum_ *sum, mpnum_floats_ *floats,
                                     const void *a, const void *b, size_t n) {
  MPNUM_ALIGNED_ float x[MPNUM_TILE_], y[MPNUM_TILE_];
  if (!floats) return (*sum)(a, b, n);
  (*floats)(x, a, n);
  if (!b) return (*sum)(x, 0, n);
  (*floats)(y, b, n);
  return (*sum)(x, y, n);
}
/* Adds the sums of tiles of elements of so many bytes. */
MPNUM_HOST void mpnum_sum_array_(mpnum_tile_sum_ *sum, mpnum_floats_ *floats, size_t size,
                                 mpnum_exact_sum *total, const void *a, const void *b,
                                 size_t n) {
  const uint8_t *from_a = (const uint8_t *)a, *from_b = (const uint8_t *)b;
  const uint64_t saved = mpnum_fenv_save_();
  size_t i = 0;
  for (; i < n; i += MPNUM_TILE_) {
    const size_t count = n - i < MPNUM_TILE_ ? n - i : MPNUM_TILE_;
    const uint8_t *part_b = from_b ? from_b + i * size : from_b;
    mpnum_exact_sum_add_f64_(
        total, mpnum_sum_of_tile_(sum, floats, from_a + i * size, part_b, count));
  }
  mpnum_fenv_restore_(saved);
}
MPNUM_HOST mpnum_status mpnum_sum_any_(mpnum_tile_sum_ *sum, mpnum_type type,
                                       mpnum_exact_sum *total, const void *a,
                                       const void *b, size_t n) {
  const size_t size = (size_t)mpnum_type_bits_(type) / 8;
  mpnum_floats_ *const floats = mpnum_floats_of_(type);
  if (!floats && type != MPNUM_TYPE_F32) return MPNUM_ERROR_TYPE;
  if (n && (!total || !a)) return MPNUM_ERROR_NULL;
  mpnum_sum_array_(sum, floats, size, total, a, b, n);
  return MPNUM_OK;
}
/* To 53 bits at least; of a tile its sum is all there is to know. */
MPNUM_HOST double mpnum_sum_to_odd_(mpnum_tile_sum_ *sum, mpnum_floats_ *floats,
                                    size_t size, const void *a, const void *b, size_t n) {
  mpnum_exact_sum total;
  if (n <= MPNUM_TILE_) {
    const uint64_t saved = mpnum_fenv_save_();
    const double of_all = mpnum_sum_of_tile_(sum, floats, a, b, n);
    mpnum_fenv_restore_(saved);
    return of_all;
  }
  total = mpnum_exact_sum_empty();
  mpnum_sum_array_(sum, floats, size, &total, a, b, n);
  return mpnum_exact_sum_to_odd_(total);
}

/* A dot product in floats. */
MPNUM_HOST_ONCE_ float mpnum_dot_in_floats_(const uint8_t *a, const uint8_t *b,
                                            size_t n) {
  MPNUM_ALIGNED_ float lanes[64];
  uint64_t saved = 0;
  size_t i = 0, width = 0;
  if (n == 0) return mpnum_from_bits_f32(0);
  mpnum_copy_rest_(1, (uint8_t *)lanes, a, 0); /* zeros */
  saved = mpnum_fenv_save_();
  for (; i < n; i += MPNUM_TILE_) {
    mpnum_tile_ tile;
    mpnum_cut_tile_(1, &tile, a + 4 * i, b + 4 * i,
                    n - i < MPNUM_TILE_ ? n - i : MPNUM_TILE_);
    MPNUM_CALL_(dot_tile, (lanes, &tile));
  }
  MPNUM_CALL_(dot_fold, (lanes, &width));
  lanes[0] = mpnum_folded_(lanes, width);
  mpnum_fenv_restore_(saved);
  return mpnum_canonical_(lanes[0]);
}

/* The statistics that codes stand for. */
MPNUM_HOST_INLINE_ mpnum_stats mpnum_stats_of_codes_(mpnum_format format,
                                                     mpnum_codes_ codes) {
  mpnum_stats stats = mpnum_stats_empty();
  stats.count = codes.count;
  stats.zeros = codes.zeros;
  stats.subnormals = codes.subnormals;
  stats.infs = codes.infs;
  stats.nans = codes.nans;
  stats.amax = mpnum_decode(format, codes.max);
  if (codes.min <= format.max_code) stats.min_nonzero = mpnum_decode(format, codes.min);
  return stats;
}
/* The largest magnitude, NaN above all. */
MPNUM_HOST_INLINE_ float mpnum_amax_of_code_(mpnum_format format, uint32_t code) {
  if (mpnum_isnan(format, code)) return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_decode(format, code);
}

#endif
MPNUM_C_END_
#endif

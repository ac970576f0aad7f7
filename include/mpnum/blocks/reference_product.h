/* SPDX-License-Identifier: MIT */
/* Reference products of matrices in block formats, computed step by step, with bounds on
 * their distance from the exact products: for checking kernels.
 *
 *     const mpnum_blockscale_operand x = {&format, quantized_x, rows, columns};
 *     status = mpnum_reference_product(dst, bounds, x, w, MPNUM_TYPE_F32);
 *
 * Bits     the same for every ISA, flags and floating-point environment.
 * Status   as mpnum_dequantize_blocks; MPNUM_ERROR_TYPE: accumulation is neither f32 nor
 *   f64; MPNUM_ERROR_SHAPE: columns differ or are 0, or blocks are taller than wide and
 *   so lie across the sum. Nothing is written then.
 * Host only. docs/measure.md. */
#ifndef MPNUM_BLOCKS_REFERENCE_PRODUCT_H
#define MPNUM_BLOCKS_REFERENCE_PRODUCT_H

#include "blockscale.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

# define MPNUM_ELEMENTS_ 512

/* The magnitude of a double as an integer that grows with it. */
MPNUM_HOST_INLINE_ uint64_t mpnum_magnitude_f64_(double x) {
  return mpnum_bits_f64(x) & 0x7fffffffffffffffu;
}
/* Checks that the codes of a quantised matrix can be read. */
MPNUM_HOST mpnum_status mpnum_codes_check_(const mpnum_blockscale_format *format,
                                           const mpnum_blockscaled *codes, size_t rows,
                                           size_t columns) {
  const uint32_t scale = mpnum_bits_f32(codes->scale);
  size_t i = 0;
  if (!format || !codes->codes || !codes->scale_inv) return MPNUM_ERROR_NULL;
  if (mpnum_blockscale_validate(format, 0) != MPNUM_OK || (codes->is_swizzled & ~1) ||
      (codes->is_swizzled && mpnum_scale_layout_of_(format) == MPNUM_SCALES_REFUSED_) ||
      (format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL && scale - 1 >= 0x7f7fffffu))
    return MPNUM_ERROR_ARGUMENT;
  if (codes->stride < columns ||
      (rows > 1 && codes->stride % mpnum_blockscale_group_(format)))
    return MPNUM_ERROR_STRIDE;
  if (!mpnum_extent_(rows, columns, codes->stride, format->element_bits))
    return MPNUM_ERROR_SHAPE;
  if (codes->scale_inv_bytes <
      mpnum_blockscale_scale_bytes(format, rows, columns, codes->is_swizzled))
    return MPNUM_ERROR_RANGE;
  if (format->scale_type != MPNUM_TYPE_F32) return MPNUM_OK;
  for (; i < mpnum_blockscale_count(format, rows, columns); ++i) {
    const uint32_t bits =
        (uint32_t)mpnum_element_(32, (const uint8_t *)codes->scale_inv, i);
    if (bits - 1 >= 0x7f7fffffu && (bits & 0x7fffffffu) <= 0x7f800000u)
      return MPNUM_ERROR_ARGUMENT;
  }
  return MPNUM_OK;
}
/* Whether blocks are not taller than wide, so that scales change along a row. */
MPNUM_HOST int mpnum_lies_along_rows_(const mpnum_blockscale_format *format) {
  return format->columns == 0 ||
         (format->rows == 0 ? format->columns > 1 : format->rows <= format->columns);
}
MPNUM_HOST void mpnum_codes_job_(mpnum_block_job_ *job,
                                 const mpnum_blockscale_format *format,
                                 mpnum_blockscaled codes, size_t rows, size_t columns) {
  mpnum_block_job_of_(job, format, codes,
                      mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, rows, columns));
}
/* A quantised matrix. Products sum along its rows, as tensor cores do with block formats:
 * for x times the transpose of w both have the same number of columns. */
typedef struct mpnum_blockscale_operand {
  const mpnum_blockscale_format *format;
  mpnum_blockscaled values;
  size_t rows, columns;
} mpnum_blockscale_operand;

/* The state for one element of a product. With is_f32 the doubles hold floats. */
typedef struct mpnum_reference_sum_ {
  mpnum_block_job_ jobs[2];
  size_t rows[2];
  int is_f32;
  double largest[2];             /* largest element of each format */
  double sum, magnitudes;        /* of the products of elements in a segment */
  double total, all;             /* of segments, times their scales */
  double missed, missed_decoded; /* bounds on what underflowed, in 2^-150 */
} mpnum_reference_sum_;

MPNUM_HOST_INLINE_ double mpnum_power_f64_(int exponent) {
  return mpnum_from_bits_f64((uint64_t)(1023 + exponent) << 52);
}
MPNUM_HOST_INLINE_ double mpnum_reference_mul_(int is_f32, double a, double b) {
  if (is_f32) return (double)mpnum_mul_scalar_((float)a, (float)b);
  return mpnum_mul_f64_(a, b);
}
MPNUM_HOST_INLINE_ double mpnum_reference_div_(int is_f32, double a, double b) {
  if (is_f32) return (double)mpnum_div_scalar_((float)a, (float)b);
  return mpnum_div_f64_(a, b);
}
MPNUM_HOST_INLINE_ double mpnum_reference_add_(int is_f32, double a, double b) {
  if (is_f32) return (double)mpnum_add_scalar_((float)a, (float)b);
  return mpnum_add_f64_(a, b);
}
MPNUM_HOST_INLINE_ double mpnum_abs_f64_(double x) {
  return mpnum_from_bits_f64(mpnum_magnitude_f64_(x));
}
/* Adds n products of elements; doubles hold these products exactly. */
MPNUM_HOST void mpnum_reference_products_(mpnum_reference_sum_ *sums, const float *a,
                                          const float *b, size_t n) {
  double magnitudes = sums->magnitudes, sum = sums->sum;
  float narrow_sum = (float)sum;
  size_t i = 0;
  for (; i < n; ++i) {
    const double product = mpnum_mul_f64_((double)a[i], (double)b[i]);
    magnitudes = mpnum_add_f64_(magnitudes, mpnum_abs_f64_(product));
    if (sums->is_f32) {
      narrow_sum = mpnum_add_scalar_(narrow_sum, mpnum_mul_scalar_(a[i], b[i]));
    } else {
      sum = mpnum_add_f64_(sum, product);
    }
  }
  sums->magnitudes = magnitudes;
  sums->sum = sums->is_f32 ? (double)narrow_sum : sum;
}
/* Adds the segment of n columns that ends before column. A float that underflows is off
 * by 2^-150; later steps may multiply this error by scales or a sum or, if values are
 * decoded first, by a value of the other matrix. */
MPNUM_HOST void mpnum_reference_segment_(mpnum_reference_sum_ *sums, size_t column,
                                         size_t n) {
  const int is_f32 = sums->is_f32;
  float factors[2];
  double a = 0, b = 0, scaled = 0, missed = 0;
  int k = 0;
  for (; k < 2; ++k)
    mpnum_load_scales_(&sums->jobs[k], &factors[k], sums->rows[k] / sums->jobs[k].rows,
                       (column - 1) / sums->jobs[k].columns, 1);
  a = (double)factors[0];
  b = (double)factors[1];
  scaled = mpnum_reference_mul_(is_f32, mpnum_reference_mul_(is_f32, sums->sum, a), b);
  sums->total = mpnum_reference_add_(is_f32, sums->total, scaled);
  sums->all =
      mpnum_add_f64_(sums->all, mpnum_mul_f64_(mpnum_mul_f64_(sums->magnitudes, a), b));
  missed = mpnum_add_f64_(mpnum_add_f64_(1, a), mpnum_add_f64_(b, mpnum_mul_f64_(a, b)));
  missed = mpnum_add_f64_(mpnum_mul_f64_(missed, (double)n), sums->magnitudes);
  sums->missed = mpnum_add_f64_(sums->missed, missed);
  missed = mpnum_add_f64_(mpnum_div_f64_(mpnum_mul_f64_(sums->largest[0], a),
                                         (double)sums->jobs[0].codes.scale),
                          mpnum_div_f64_(mpnum_mul_f64_(sums->largest[1], b),
                                         (double)sums->jobs[1].codes.scale));
  missed = mpnum_mul_f64_(mpnum_add_f64_(missed, 1), (double)n);
  sums->missed_decoded = mpnum_add_f64_(sums->missed_decoded, missed);
  sums->sum = sums->magnitudes = 0;
}
/* Columns up to the next border between blocks of either matrix. */
MPNUM_HOST size_t mpnum_reference_left_(const mpnum_reference_sum_ *sums, size_t column,
                                        size_t columns) {
  size_t left = columns - column;
  int k = 0;
  for (; k < 2; ++k) {
    const size_t wide = sums->jobs[k].columns, to_border = wide - column % wide;
    left = to_border < left ? to_border : left;
  }
  return left;
}
MPNUM_HOST void mpnum_reference_segments_(mpnum_reference_sum_ *sums, size_t columns) {
  MPNUM_ALIGNED_ float elements[2][MPNUM_ELEMENTS_];
  const float one = 1;
  size_t column = 0, n = 0, since = 0;
  int k = 0;
  sums->sum = sums->magnitudes = sums->total = sums->all = 0;
  sums->missed = sums->missed_decoded = 0;
  for (; column < columns; column += n) {
    const size_t first = column % MPNUM_ELEMENTS_, room = MPNUM_ELEMENTS_ - first;
    const size_t left = mpnum_reference_left_(sums, column, columns);
    const size_t filled = columns - column < room ? columns - column : room;
    for (k = 0; k < 2 && first == 0; ++k)
      mpnum_dequantize_floats_(&sums->jobs[k].scaling, elements[k],
                               mpnum_block_codes_(&sums->jobs[k], sums->rows[k], column),
                               mpnum_factors_of_(&one, 31), filled);
    n = left < room ? left : room;
    mpnum_reference_products_(sums, elements[0] + first, elements[1] + first, n);
    since += n;
    if (n < left) continue; /* the block goes on */
    mpnum_reference_segment_(sums, column + n, since);
    since = 0;
  }
}
/* Divides by the scales of the tensors and computes the bound: each product goes through
 * at most `roundings` roundings, whatever the order. */
MPNUM_HOST void mpnum_reference_end_(const mpnum_reference_sum_ *sums, size_t columns,
                                     double *dst, double *bound) {
  const uint64_t infinity = (uint64_t)0x7ff << 52;
  const double roundings = (double)columns + 10;
  const double error =
      mpnum_mul_f64_(roundings, mpnum_power_f64_(sums->is_f32 ? -24 : -53));
  double value = sums->total, most = mpnum_mul_f64_(sums->all, error);
  double missed = sums->missed;
  uint64_t bits = 0;
  int k = 0;
  most = mpnum_div_f64_(most, mpnum_add_f64_(1, -error));
  for (; k < 2; ++k) {
    const double scale = (double)sums->jobs[k].codes.scale;
    if (sums->jobs[k].is_two_level)
      value = mpnum_reference_div_(sums->is_f32, value, scale);
    most = mpnum_div_f64_(most, scale);
    missed = mpnum_add_f64_(mpnum_div_f64_(missed, scale), 2);
  }
  bits = mpnum_magnitude_f64_(value);
  missed = mpnum_mul_f64_(mpnum_add_f64_(missed, sums->missed_decoded),
                          mpnum_power_f64_(-150));
  if (sums->is_f32) most = mpnum_add_f64_(most, missed);
  most = mpnum_mul_f64_(most, 1 + mpnum_power_f64_(-20));
  *dst = bits > infinity ? mpnum_from_bits_f64(0x7fffffffffffffffu) : value;
  if (!bound) return;
  *bound = bits >= infinity || mpnum_bits_f64(most) > infinity ||
                   mpnum_bits_f64(error) >= mpnum_bits_f64(0.5)
               ? mpnum_from_bits_f64(infinity)
               : most;
}
/* Multiplies a by the transpose of b: element (i, j), dst[i * b.rows + j], is the sum
 * over k of a(i, k) b(j, k); with one row each this is a dot product. Each step is
 * rounded to the type of accumulation, f32 or f64. Products of elements are summed in
 * order while the scales of both matrices stay the same; this sum is multiplied by the
 * scale of a, then by that of b, and added to the previous ones; the total is divided by
 * the scales of the tensors.
 * bounds, unless NULL: an upper bound on the distance of dst from the exact product, if
 *   nothing overflows on the way. It also holds for any other sum of the same products in
 *   this type, in any order, with scales applied to elements or sums and at most 10
 *   roundings of each product beside the additions.
 * NaN      in dst as in IEEE 754, always 0x7fffffffffffffff; where dst is not finite, its
 *   bound is Inf. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_reference_product(double *dst, double *bounds, mpnum_blockscale_operand a,
                        mpnum_blockscale_operand b, mpnum_type accumulation) {
  mpnum_reference_sum_ sums;
  mpnum_status status = MPNUM_OK;
  uint64_t saved = 0;
  size_t i = 0, j = 0;
  int k = 0;
  if (!a.rows || !b.rows) return MPNUM_OK; /* no elements */
  if (a.columns != b.columns || !a.columns) return MPNUM_ERROR_SHAPE;
  status = mpnum_codes_check_(a.format, &a.values, a.rows, a.columns);
  if (status == MPNUM_OK)
    status = mpnum_codes_check_(b.format, &b.values, b.rows, b.columns);
  if (status != MPNUM_OK) return status;
  if (!dst) return MPNUM_ERROR_NULL;
  if (accumulation != MPNUM_TYPE_F32 && accumulation != MPNUM_TYPE_F64)
    return MPNUM_ERROR_TYPE;
  if (!mpnum_lies_along_rows_(a.format) || !mpnum_lies_along_rows_(b.format))
    return MPNUM_ERROR_SHAPE;
  saved = mpnum_fenv_save_();
  sums.is_f32 = accumulation == MPNUM_TYPE_F32;
  mpnum_codes_job_(&sums.jobs[0], a.format, a.values, a.rows, a.columns);
  mpnum_codes_job_(&sums.jobs[1], b.format, b.values, b.rows, b.columns);
  for (; k < 2; ++k)
    sums.largest[k] =
        (double)mpnum_from_bits_f32(mpnum_blockscale_max_(k == 0 ? a.format : b.format));
  for (; i < a.rows; ++i)
    for (j = 0; j < b.rows; ++j) {
      const size_t at = i * b.rows + j;
      sums.rows[0] = i;
      sums.rows[1] = j;
      mpnum_reference_segments_(&sums, a.columns);
      mpnum_reference_end_(&sums, a.columns, &dst[at], bounds ? &bounds[at] : 0);
    }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}
# undef MPNUM_ELEMENTS_

#endif
MPNUM_C_END_
#endif

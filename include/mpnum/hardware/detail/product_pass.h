/* SPDX-License-Identifier: MIT */
/* Products of matrices by a unit's steps, tile by tile, and their bounds. */
#ifndef MPNUM_HARDWARE_DETAIL_PRODUCT_PASS_H
#define MPNUM_HARDWARE_DETAIL_PRODUCT_PASS_H

#include "../../blocks/detail/codes.h"
#include "product_step.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Elements of a row at a time, and rows of each matrix. */
# define MPNUM_PIECE_ 64
# define MPNUM_TILED_ 8

typedef struct mpnum_product_side_ {
  mpnum_product_operand of;
  mpnum_format format; /* of elements; all zeros: f64, int8 */
  mpnum_format scale_format;
  mpnum_type type;      /* 0: none that has a name */
  size_t rows, columns; /* of a block */
  size_t across;        /* blocks in a row */
  float largest;        /* element */
  double scale;         /* of the tensor */
} mpnum_product_side_;
/* Part of a row, in one block unless units take scales: elements, and the scales of
 * blocks. */
typedef struct mpnum_product_row_ {
  double values[MPNUM_PIECE_];
  mpnum_term_ terms[MPNUM_PIECE_];
  float factors[4];
} mpnum_product_row_;
typedef struct mpnum_product_state_ {
  double sum, promoted, total; /* so far; of promoted sums; of scaled blocks */
  uint64_t count;              /* products in sum */
  mpnum_exact_sum exact;
  double tree[40]; /* sums of 2^i products, where bit i of count is set */
  /* of bounds: magnitudes of products in the block, and in all with their scales; their
     largest sum in a block; what underflows: in 2^-150, and per product; blocks; products
     of elements that are flushed, in the block and in all */
  double magnitudes, all, peak, missed, decoded, scaled_products, blocks;
  double flushed, all_flushed;
} mpnum_product_state_;
struct mpnum_product_job_;
/* What becomes of a piece of two rows, and at the end of all pieces: a sum or its bound.
 */
typedef struct mpnum_product_way_ {
  int is_bound;
  void (*add)(const struct mpnum_product_job_ *job, const mpnum_product_row_ *a,
              const mpnum_product_row_ *b, size_t n, int ends_block,
              mpnum_product_state_ *state);
  double (*end)(const struct mpnum_product_job_ *job, double start,
                mpnum_product_state_ *state);
} mpnum_product_way_;
typedef struct mpnum_product_job_ {
  mpnum_product_unit unit;
  mpnum_product_way_ way;
  mpnum_product_side_ sides[2];
  const mpnum_const_matrix *start;
  size_t columns;
  int places, is_blocks;
  mpnum_product_row_ rows[2][MPNUM_TILED_];
  mpnum_product_state_ states[MPNUM_TILED_][MPNUM_TILED_];
} mpnum_product_job_;

MPNUM_HOST_INLINE_ double mpnum_abs_f64_(double x) {
  return mpnum_from_bits_f64(mpnum_magnitude_f64_(x));
}

/* --- Reading --- */

MPNUM_HOST_ONCE_ double mpnum_decoded_f64_(const mpnum_format *format, uint32_t code) {
  return (double)mpnum_decode(*format, code);
}
MPNUM_HOST_ONCE_ double mpnum_element_f64_(const mpnum_const_matrix *from,
                                           const mpnum_format *format, size_t row,
                                           size_t column) {
  const int bits = mpnum_type_bits_(from->type);
  const uint64_t code =
      mpnum_element_(bits, (const uint8_t *)from->data, row * from->stride + column);
  if (from->type == MPNUM_TYPE_F64) return mpnum_from_bits_f64(code);
  return mpnum_decoded_f64_(format, (uint32_t)code);
}
/* A code without its scale, and a scale. */
MPNUM_HOST_ONCE_ double mpnum_code_f64_(const mpnum_product_side_ *side, size_t row,
                                        size_t column) {
  const mpnum_blockscale_format *const format = side->of.format;
  const size_t bits = (size_t)format->element_bits;
  const size_t first = (row * side->of.values.stride + column) * bits;
  const uint8_t *const at = (const uint8_t *)side->of.values.codes + first / 8;
  uint32_t code = at[0];
  if (first % 8 + bits > 8) code |= (uint32_t)at[1] << 8;
  code = code >> first % 8 & ((1u << bits) - 1);
  if (!format->is_int8) return mpnum_decoded_f64_(&side->format, code);
  return ((double)code - (code < 128 ? 0 : 256)) *
         (format->scale_type == MPNUM_TYPE_E8M0 ? mpnum_power_f64_(-6) : 1);
}
MPNUM_HOST_ONCE_ float mpnum_scale_f32_(const mpnum_product_side_ *side, size_t row,
                                        size_t column) {
  const uint8_t *const from = (const uint8_t *)side->of.values.scale_inv;
  size_t at = row * side->across + column;
  if (side->of.format->scale_type == MPNUM_TYPE_F32)
    return mpnum_from_bits_f32((uint32_t)mpnum_element_(32, from, at));
  if (side->of.values.is_swizzled) /* blocks of several rows: squares */
    at = mpnum_scale_place(row * side->rows, column, side->across);
  return (float)mpnum_decoded_f64_(&side->scale_format, from[at]);
}
MPNUM_HOST void mpnum_product_read_(const mpnum_product_job_ *job, int k, size_t row,
                                    size_t column, size_t n, mpnum_product_row_ *to) {
  const mpnum_product_side_ *const side = &job->sides[k];
  const int least = 1 - side->format.bias;
  size_t i = 0;
  if (side->of.format) {
    const size_t wide = side->columns, first = column / wide;
    const size_t count = (column + n - 1) / wide - first + 1;
    for (; i < n; ++i)
      to->values[i] = mpnum_code_f64_(side, row, column + i);
    for (i = 0; i < 4; ++i)
      to->factors[i] =
          i < count ? mpnum_scale_f32_(side, row / side->rows, first + i) : 0;
    i = 0;
  } else {
    for (; i < n; ++i)
      to->values[i] =
          mpnum_element_f64_(&side->of.matrix, &side->format, row, column + i);
  }
  for (i = 0; i < n; ++i) {
    const uint64_t size = mpnum_magnitude_f64_(to->values[i]);
    if (job->unit.bits)
      to->terms[i] = mpnum_term_of_(to->values[i], side->format.mantissa_bits, least);
    else if (job->unit.is_flushed && !job->way.is_bound &&
             size < mpnum_bits_f64(mpnum_power_f64_(least)))
      to->values[i] = 0;
    if (job->way.is_bound) { /* terms are aligned as if they were not subnormal */
      if (size && job->unit.bits > 0 && size < mpnum_bits_f64(mpnum_power_f64_(least)))
        to->values[i] = mpnum_power_f64_(least);
    }
  }
}

/* --- Sums of products, each step rounded --- */

MPNUM_HOST double mpnum_flushed_(const mpnum_product_unit *unit, double x) {
  const uint64_t sign = mpnum_bits_f64(x) & (uint64_t)1 << 63;
  const int is_low = mpnum_magnitude_f64_(x) < mpnum_bits_f64(mpnum_power_f64_(-126));
  return unit->is_flushed && is_low ? mpnum_from_bits_f64(sign) : x;
}
MPNUM_HOST_INLINE_ double mpnum_product_add_(const mpnum_product_unit *unit, double a,
                                             double b) {
  if (unit->sum == MPNUM_TYPE_F64) return mpnum_add_f64_(a, b);
  return (double)mpnum_add_scalar_((float)a, (float)b);
}
MPNUM_HOST_INLINE_ double mpnum_product_mul_(const mpnum_product_unit *unit, double a,
                                             double b) {
  if (unit->sum == MPNUM_TYPE_F64) return mpnum_mul_f64_(a, b);
  return (double)mpnum_mul_scalar_((float)a, (float)b);
}
MPNUM_HOST_INLINE_ double mpnum_product_div_(const mpnum_product_unit *unit, double a,
                                             double b) {
  if (unit->sum == MPNUM_TYPE_F64) return mpnum_div_f64_(a, b);
  return (double)mpnum_div_scalar_((float)a, (float)b);
}
/* One more leaf of a tree of neighbours, which has *count; and the sum of what there is,
 * the last leaves first. */
MPNUM_HOST_ONCE_ void mpnum_tree_add_(const mpnum_product_unit *unit, double *tree,
                                      uint64_t *count, double leaf) {
  uint64_t bits = *count;
  int level = 0;
  for (; bits & 1; bits >>= 1)
    leaf = mpnum_flushed_(unit, mpnum_product_add_(unit, tree[level++], leaf));
  tree[level] = leaf;
  *count += 1;
}
MPNUM_HOST_ONCE_ double mpnum_tree_sum_(const mpnum_product_unit *unit,
                                        const double *tree, uint64_t count) {
  double sum = 0;
  int level = 0, is_begun = 0;
  for (; count >> level; ++level) {
    if (!(count >> level & 1)) continue;
    sum = is_begun ? mpnum_flushed_(unit, mpnum_product_add_(unit, tree[level], sum))
                   : tree[level];
    is_begun = 1;
  }
  return sum;
}
MPNUM_HOST_ONCE_ void mpnum_rounded_step_(const mpnum_product_unit *unit, const double *a,
                                          const double *b, size_t n,
                                          mpnum_product_state_ *state) {
  double tree[8];
  uint64_t count = 0;
  size_t k = 0;
  if (unit->is_fused) {
    state->sum = (double)mpnum_fma_scalar_((float)a[0], (float)b[0], (float)state->sum);
    return;
  }
  if (unit->products == 1) {
    state->sum =
        mpnum_product_add_(unit, state->sum, mpnum_product_mul_(unit, a[0], b[0]));
    return;
  }
  for (; k < n; ++k) {
    const double leaf = mpnum_flushed_(
        unit, mpnum_product_add_(unit, mpnum_product_mul_(unit, a[k], b[k]), 0));
    if (unit->products)
      mpnum_tree_add_(unit, tree, &count, leaf);
    else
      mpnum_tree_add_(unit, state->tree, &state->count, leaf);
  }
  if (!unit->products) return;
  state->sum = mpnum_product_add_(unit, state->sum, mpnum_tree_sum_(unit, tree, count));
  state->sum = mpnum_flushed_(unit, state->sum);
}
/* Products, exact with the scales of their blocks. */
MPNUM_HOST_ONCE_ void mpnum_exact_step_(mpnum_product_state_ *state,
                                        const mpnum_product_row_ *a,
                                        const mpnum_product_row_ *b, size_t n,
                                        int is_blocks) {
  const uint32_t bits = mpnum_bits_f32(b->factors[0]);
  const int is_split = is_blocks && (bits & 0xfffu) && bits < 0x7f800000u;
  const float high = is_split ? mpnum_from_bits_f32(bits & 0xfffff000u) : b->factors[0];
  const float low = is_split ? b->factors[0] - high : 0;
  size_t k = 0;
  int part = 0;
  for (; k < n; ++k) {
    double product = mpnum_mul_f64_(a->values[k], b->values[k]);
    if (is_blocks) product = mpnum_mul_f64_(product, (double)a->factors[0]);
    for (part = 0; part <= is_split; ++part)
      mpnum_exact_sum_add_f64_(
          &state->exact,
          is_blocks ? mpnum_mul_f64_(product, (double)(part ? low : high)) : product);
  }
}

/* --- Scales in the unit --- */

/* The exponent of a power of two; 0 with *is_nan, of NaN. */
MPNUM_HOST int mpnum_scale_exponent_(float scale, int *is_nan) {
  const mpnum_term_ term = mpnum_term_of_((double)scale, 23, -1000);
  *is_nan |= term.is_nan;
  return term.exponent;
}
/* 64 products of e2m1 or fewer, of blocks of `wide`: sums of 16 are exact, and times the
 * significands of their scales aligned to the exponents of these. */
MPNUM_HOST_ONCE_ double mpnum_fp4_step_(const mpnum_product_unit *unit,
                                        const mpnum_product_row_ *a,
                                        const mpnum_product_row_ *b, size_t n,
                                        size_t wide, double sum) {
  const mpnum_term_ before = mpnum_term_of_(sum, 23, -126);
  mpnum_terms_ terms;
  size_t first = 0, k = 0;
  terms.count = terms.seen = 0;
  terms.most = -126;
  for (; first < n; first += 16) {
    const mpnum_term_ x = mpnum_term_of_((double)a->factors[first / wide], 3, -127);
    const mpnum_term_ y = mpnum_term_of_((double)b->factors[first / wide], 3, -127);
    int64_t products = 0;
    for (k = first; k < n && k < first + 16; ++k)
      products += (int64_t)a->terms[k].significand * b->terms[k].significand *
                  ((int64_t)1 << (a->terms[k].exponent + b->terms[k].exponent));
    terms.seen |= x.is_nan || y.is_nan ? MPNUM_SEEN_NAN_ : 0;
    if (x.significand && y.significand && x.exponent + y.exponent > terms.most)
      terms.most = x.exponent + y.exponent; /* also of zeros */
    mpnum_terms_add_(&terms, products * x.significand * y.significand,
                     x.exponent + y.exponent, 2 + 6);
  }
  mpnum_terms_add_sum_(&terms, before, 23);
  return mpnum_aligned_sum_(unit, &terms);
}

/* --- A piece of two rows --- */

MPNUM_HOST_ONCE_ void mpnum_product_piece_(const mpnum_product_job_ *job,
                                           const mpnum_product_row_ *a,
                                           const mpnum_product_row_ *b, size_t n,
                                           mpnum_product_state_ *state) {
  const mpnum_product_unit *const unit = &job->unit;
  const size_t step = unit->products ? (size_t)unit->products : n;
  int scale = 0, is_nan = 0;
  size_t k = 0;
  if (unit->bits < 0 && !unit->products) {
    mpnum_exact_step_(state, a, b, n, job->is_blocks);
    return;
  }
  if (unit->scales == 1)
    scale = mpnum_scale_exponent_(a->factors[0], &is_nan) +
            mpnum_scale_exponent_(b->factors[0], &is_nan);
  for (; k < n; k += step) {
    const size_t now = n - k < step ? n - k : step;
    if (is_nan)
      state->sum = mpnum_special_f64_(MPNUM_SEEN_NAN_);
    else if (unit->scales == 2)
      state->sum = mpnum_fp4_step_(unit, a, b, now, job->sides[0].columns, state->sum);
    else if (unit->bits)
      state->sum = mpnum_fused_step_(unit, a->terms + k, b->terms + k, (int)now,
                                     job->places, scale, state->sum);
    else
      mpnum_rounded_step_(unit, a->values + k, b->values + k, now, state);
    if (!unit->promotion) continue;
    state->count += now;
    if (state->count < unit->promotion) continue;
    state->promoted =
        (double)mpnum_add_scalar_((float)state->promoted, (float)state->sum);
    state->sum = 0;
    state->count = 0;
  }
}
/* The sum of what was added since it began. */
MPNUM_HOST_ONCE_ double mpnum_product_taken_(const mpnum_product_unit *unit,
                                             mpnum_product_state_ *state) {
  double sum = state->sum;
  if (!unit->products && !unit->bits) {
    sum = mpnum_tree_sum_(unit, state->tree, state->count);
    state->count = 0;
  }
  if (unit->promotion) {
    sum = state->count ? (double)mpnum_add_scalar_((float)state->promoted, (float)sum)
                       : state->promoted;
    state->promoted = 0;
    state->count = 0;
  }
  state->sum = 0;
  return sum;
}
/* Whether scales are applied to sums of blocks, and not by the unit. */
MPNUM_HOST int mpnum_scales_sums_(const mpnum_product_job_ *job) {
  return job->is_blocks && !job->unit.scales &&
         !(job->unit.bits < 0 && !job->unit.products);
}
/* At the end of a block. */
MPNUM_HOST_ONCE_ void mpnum_product_scale_(const mpnum_product_job_ *job,
                                           const mpnum_product_row_ *a,
                                           const mpnum_product_row_ *b,
                                           mpnum_product_state_ *state) {
  const mpnum_product_unit *const unit = &job->unit;
  double sum = mpnum_product_taken_(unit, state);
  sum = mpnum_product_mul_(unit, sum, (double)a->factors[0]);
  sum = mpnum_product_mul_(unit, sum, (double)b->factors[0]);
  state->total = mpnum_product_add_(unit, state->total, sum);
}
/* A piece, and scales where a block ends with it. */
MPNUM_HOST void mpnum_product_part_(const mpnum_product_job_ *job,
                                    const mpnum_product_row_ *a,
                                    const mpnum_product_row_ *b, size_t n, int ends_block,
                                    mpnum_product_state_ *state) {
  mpnum_product_piece_(job, a, b, n, state);
  if (ends_block && mpnum_scales_sums_(job)) mpnum_product_scale_(job, a, b, state);
}
/* What the sum begins with, as the type of sums. */
MPNUM_HOST_ONCE_ double mpnum_product_start_(const mpnum_product_job_ *job, size_t i,
                                             size_t j) {
  mpnum_format format;
  double x = 0;
  if (!job->start) return 0;
  mpnum_format_or_f32_(&format, job->start->type);
  x = mpnum_element_f64_(job->start, &format, i, j);
  if (job->unit.sum == MPNUM_TYPE_F64) return x;
  x = mpnum_narrowed_(x, job->unit.sum == MPNUM_TYPE_F16);
  return job->unit.promotion ? x : mpnum_flushed_(&job->unit, x);
}
/* Whether what it begins with is added at the end: after the scales of tensors. */
MPNUM_HOST int mpnum_starts_late_(const mpnum_product_job_ *job) {
  const int has_scale = mpnum_bits_f64(job->sides[0].scale) != mpnum_bits_f64(1) ||
                        mpnum_bits_f64(job->sides[1].scale) != mpnum_bits_f64(1);
  return (job->is_blocks && (!job->unit.scales || has_scale)) ||
         (!job->unit.products && !job->unit.bits);
}
MPNUM_HOST double mpnum_product_end_(const mpnum_product_job_ *job, double start,
                                     mpnum_product_state_ *state) {
  const mpnum_product_unit *const unit = &job->unit;
  double value = 0;
  int k = 0;
  if (unit->bits < 0 && !unit->products) {
    if (!job->is_blocks) mpnum_exact_sum_add_f64_(&state->exact, start);
    value = mpnum_exact_sum_take_odd_(&state->exact);
  } else {
    value = mpnum_scales_sums_(job) ? state->total : mpnum_product_taken_(unit, state);
  }
  for (; k < 2; ++k)
    if (job->sides[k].scale < 1 || job->sides[k].scale > 1)
      value = mpnum_product_div_(unit, value, job->sides[k].scale);
  if (mpnum_starts_late_(job) && job->start)
    value = mpnum_product_add_(unit, value, start);
  return mpnum_magnitude_f64_(value) > (uint64_t)0x7ff << 52
             ? mpnum_special_f64_(MPNUM_SEEN_NAN_)
             : value;
}

/* --- All of it --- */

MPNUM_HOST_ONCE_ void mpnum_product_tile_(mpnum_product_job_ *job, mpnum_matrix dst,
                                          size_t i, size_t j) {
  const size_t high = dst.rows - i < MPNUM_TILED_ ? dst.rows - i : MPNUM_TILED_;
  const size_t wide = dst.columns - j < MPNUM_TILED_ ? dst.columns - j : MPNUM_TILED_;
  const size_t products = job->unit.products ? (size_t)job->unit.products : 1;
  const size_t most = job->unit.scales == 2 ? 64 : MPNUM_PIECE_ / products * products;
  static const mpnum_product_state_ empty = {
      0, 0, 0, 0, {{0}, 0, 0, 0, 0}, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  size_t column = 0, n = 0, left = 0, x = 0, y = 0;
  double starts[MPNUM_TILED_][MPNUM_TILED_];
  int k = 0;
  for (x = 0; x < high; ++x)
    for (y = 0; y < wide; ++y) {
      mpnum_product_state_ *const state = &job->states[x][y];
      const double start = starts[x][y] = mpnum_product_start_(job, i + x, j + y);
      *state = empty;
      if (mpnum_starts_late_(job)) continue;
      *(job->unit.promotion ? &state->promoted : &state->sum) = start;
    }
  for (; column < job->columns; column += n) {
    left = job->columns - column;
    for (k = 0; k < 2 && job->is_blocks && job->unit.scales != 2; ++k) {
      const size_t across = job->sides[k].columns, border = across - column % across;
      left = border < left ? border : left;
    }
    n = left < most ? left : most;
    for (x = 0; x < high; ++x)
      mpnum_product_read_(job, 0, i + x, column, n, &job->rows[0][x]);
    for (y = 0; y < wide; ++y)
      mpnum_product_read_(job, 1, j + y, column, n, &job->rows[1][y]);
    for (x = 0; x < high; ++x)
      for (y = 0; y < wide; ++y) {
        mpnum_product_state_ *const state = &job->states[x][y];
        const mpnum_product_row_ *const a = &job->rows[0][x], *const b = &job->rows[1][y];
        (*job->way.add)(job, a, b, n, n == left, state);
      }
  }
  for (x = 0; x < high; ++x)
    for (y = 0; y < wide; ++y) {
      mpnum_product_state_ *const state = &job->states[x][y];
      const double value = (*job->way.end)(job, starts[x][y], state);
      const size_t at = (i + x) * dst.stride + j + y;
      if (dst.type == MPNUM_TYPE_F64)
        MPNUM_MEMCPY_((uint8_t *)dst.data + 8 * at, &value, 8);
      else
        mpnum_set_float_((float *)dst.data, at, (float)mpnum_narrowed_(value, 0));
    }
}

/* --- Checks --- */

MPNUM_HOST_COLD_ MPNUM_AS_IS_ mpnum_type
mpnum_type_of_format_(const mpnum_format *format) {
  int type = MPNUM_TYPE_TF32;
  for (; type <= MPNUM_TYPE_UE4M3; ++type) {
    mpnum_format other;
    mpnum_find_format_(&other, (mpnum_type)type);
    if (other.max_code == format->max_code && other.inf_code == format->inf_code &&
        other.nan_code == format->nan_code && other.bias == format->bias &&
        other.sign_bits == format->sign_bits && other.has_zero == format->has_zero &&
        other.exponent_bits == format->exponent_bits &&
        other.mantissa_bits == format->mantissa_bits)
      return (mpnum_type)type;
  }
  return (mpnum_type)0;
}
/* Checks an operand and prepares its side. */
MPNUM_HOST_COLD_ MPNUM_AS_IS_ mpnum_status
mpnum_product_side_of_(mpnum_product_side_ *side, const mpnum_product_unit *unit,
                       const mpnum_product_operand *of) {
  const mpnum_const_matrix matrix = of->matrix;
  side->of = *of;
  side->largest = side->format.bias = 0;
  side->scale = 1;
  if (of->format) {
    const mpnum_status status =
        mpnum_codes_check_(of->format, &of->values, matrix.rows, matrix.columns);
    if (status != MPNUM_OK) return status;
    if (!mpnum_lies_along_rows_(of->format)) return MPNUM_ERROR_SHAPE;
    side->format = of->format->element;
    side->type =
        of->format->is_int8 ? (mpnum_type)0 : mpnum_type_of_format_(&side->format);
    side->rows = of->format->rows ? of->format->rows : matrix.rows;
    side->columns = of->format->columns ? of->format->columns : matrix.columns;
    side->across = mpnum_blocks_along_(matrix.columns, side->columns);
    mpnum_find_format_(&side->scale_format, of->format->scale_type);
    side->largest = mpnum_from_bits_f32(mpnum_blockscale_max_(of->format));
    if (of->format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL)
      side->scale = (double)of->values.scale;
    if (unit->scales == 1 &&
        (of->format->scale_type != MPNUM_TYPE_E8M0 || of->format->columns != 32))
      return MPNUM_ERROR_TYPE;
    if (unit->scales == 2 &&
        !((of->format->scale_type == MPNUM_TYPE_E8M0 && of->format->columns == 32) ||
          (of->format->scale_type == MPNUM_TYPE_E4M3 && of->format->columns == 16)))
      return MPNUM_ERROR_TYPE;
  } else {
    if (unit->scales || !mpnum_type_bits_(matrix.type)) return MPNUM_ERROR_TYPE;
    side->type = matrix.type;
    mpnum_format_or_f32_(&side->format, matrix.type);
    if (!matrix.data) return MPNUM_ERROR_NULL;
    if (!mpnum_extent_(matrix.rows, matrix.columns, matrix.stride,
                       mpnum_type_bits_(matrix.type)))
      return MPNUM_ERROR_SHAPE;
  }
  return unit->types >> (int)side->type & 1 ? MPNUM_OK : MPNUM_ERROR_TYPE;
}
/* Whether n bytes are bytes of an operand. */
MPNUM_HOST_COLD_ MPNUM_AS_IS_ int
mpnum_overlaps_operand_(const void *at, size_t n, const mpnum_product_operand *of) {
  const mpnum_const_matrix matrix = of->matrix;
  if (!of->format)
    return mpnum_overlap_(at, n, matrix.data,
                          mpnum_extent_(matrix.rows, matrix.columns, matrix.stride,
                                        mpnum_type_bits_(matrix.type)));
  return mpnum_overlap_(at, n, of->values.codes,
                        mpnum_extent_(matrix.rows, matrix.columns, of->values.stride,
                                      of->format->element_bits)) ||
         mpnum_overlap_(at, n, of->values.scale_inv,
                        mpnum_blockscale_scale_bytes(of->format, matrix.rows,
                                                     matrix.columns,
                                                     of->values.is_swizzled));
}
MPNUM_HOST_COLD_ MPNUM_AS_IS_ mpnum_status
mpnum_product_check_(mpnum_matrix dst, const mpnum_product_operand *a,
                     const mpnum_product_operand *b, const mpnum_const_matrix *start) {
  const int bits = mpnum_type_bits_(dst.type);
  size_t bytes = 0;
  if (dst.rows != a->matrix.rows || dst.columns != b->matrix.rows)
    return MPNUM_ERROR_SHAPE;
  if (dst.type != MPNUM_TYPE_F32 && dst.type != MPNUM_TYPE_F64) return MPNUM_ERROR_TYPE;
  if (!dst.data) return MPNUM_ERROR_NULL;
  if (dst.stride < dst.columns) return MPNUM_ERROR_STRIDE;
  bytes = mpnum_extent_(dst.rows, dst.columns, dst.stride, bits);
  if (!bytes) return MPNUM_ERROR_SHAPE;
  if (mpnum_overlaps_operand_(dst.data, bytes, a) ||
      mpnum_overlaps_operand_(dst.data, bytes, b))
    return MPNUM_ERROR_OVERLAP;
  if (!start) return MPNUM_OK;
  if (start->rows != dst.rows || start->columns != dst.columns) return MPNUM_ERROR_SHAPE;
  if (!mpnum_type_bits_(start->type)) return MPNUM_ERROR_TYPE;
  if (!start->data) return MPNUM_ERROR_NULL;
  if (start->data == dst.data && start->type == dst.type && start->stride == dst.stride)
    return MPNUM_OK;
  {
    const size_t other = mpnum_extent_(start->rows, start->columns, start->stride,
                                       mpnum_type_bits_(start->type));
    if (!other) return MPNUM_ERROR_SHAPE;
    return mpnum_overlap_(dst.data, bytes, start->data, other) ? MPNUM_ERROR_OVERLAP
                                                               : MPNUM_OK;
  }
}
MPNUM_HOST_COLD_ MPNUM_AS_IS_ mpnum_status
mpnum_product_run_(mpnum_matrix dst, const mpnum_product_unit *unit,
                   const mpnum_product_operand *a, const mpnum_product_operand *b,
                   const mpnum_const_matrix *start, const mpnum_product_way_ *way) {
  mpnum_product_job_ job;
  mpnum_status status = MPNUM_OK;
  uint64_t saved = 0;
  size_t i = 0, j = 0;
  if (!mpnum_is_unit_(unit)) return MPNUM_ERROR_ARGUMENT;
  if (!a->matrix.rows || !b->matrix.rows) return MPNUM_OK; /* no elements */
  if (a->matrix.columns != b->matrix.columns || !a->matrix.columns)
    return MPNUM_ERROR_SHAPE;
  status = mpnum_product_side_of_(&job.sides[0], unit, a);
  if (status == MPNUM_OK) status = mpnum_product_side_of_(&job.sides[1], unit, b);
  if (status == MPNUM_OK) status = mpnum_product_check_(dst, a, b, start);
  if (status != MPNUM_OK) return status;
  if (!a->format != !b->format) return MPNUM_ERROR_TYPE;
  if (unit->scales == 2 && a->format->columns != b->format->columns)
    return MPNUM_ERROR_TYPE;
  job.unit = *unit;
  job.start = start;
  job.columns = a->matrix.columns;
  job.is_blocks = a->format != 0;
  job.way = *way;
  job.places = job.sides[0].format.mantissa_bits + job.sides[1].format.mantissa_bits;
  if (job.sides[0].type == MPNUM_TYPE_F64 || job.sides[1].type == MPNUM_TYPE_F64)
    job.places = 104;
  saved = mpnum_fenv_save_();
  for (; i < dst.rows; i += MPNUM_TILED_)
    for (j = 0; j < dst.columns; j += MPNUM_TILED_)
      mpnum_product_tile_(&job, dst, i, j);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}
# undef MPNUM_PIECE_
# undef MPNUM_TILED_

#endif
MPNUM_C_END_
#endif

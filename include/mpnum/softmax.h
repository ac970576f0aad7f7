/* SPDX-License-Identifier: MIT */
/* Softmax, log-softmax and log-sum-exp of rows, which neither overflow nor lose a NaN.
 *
 *     mpnum_softmax_options options = mpnum_softmax_default();
 *     options.scale = 0.125f;
 *     options.lengths = lengths;
 *     mpnum_softmax_rows(mpnum_rows_of(MPNUM_TYPE_F16, weights, rows, n),
 *                        mpnum_const_rows_of(MPNUM_TYPE_F16, scores, rows, n), &options,
 *                        NULL);
 *
 * With m the largest element and t = (x - m) scale: softmax is e^t / s, s the sum of all
 * e^t; log-softmax t - log s; log-sum-exp m scale + log s. In floats; each result is then
 * rounded once to its type.
 * Domain: rows (rows.h) of f32, f16, bf16, e5m2 or e4m3, of any length; dst has as many
 * as src. Data, floats and masks may lie at any address. dst may be src where both have
 * one type and stride; otherwise they do not overlap.
 * Error: docs/softmax.md. Every instruction set gives the same bits.
 * Host only, but for the streaming state. */
#ifndef MPNUM_SOFTMAX_H
#define MPNUM_SOFTMAX_H

#include "func.h"
#include "rows.h"
#include "detail/simd/rows_loops.h"

/* What a row was. */
typedef enum mpnum_row_status {
  MPNUM_ROW_OK = 0,
  MPNUM_ROW_EMPTY = 1,        /* it has no elements, or all are masked */
  MPNUM_ROW_NEGATIVE_INF = 2, /* all are -Inf and none is masked: NaN */
  MPNUM_ROW_INF = 3,    /* some are +Inf: NaN, or with MPNUM_SOFTMAX_LIMIT a limit */
  MPNUM_ROW_NAN = 4,    /* some are NaN: NaN */
  MPNUM_ROW_IGNORED = 5 /* its target is ignore_index */
} mpnum_row_status;

/* The largest element so far, and the sum of e^((x - max) scale); of none -Inf and 0. An
 * element -Inf counts as masked, so results are those of rows with MPNUM_SOFTMAX_MASKED.
 */
typedef struct mpnum_softmax_state {
  float max, sum;
} mpnum_softmax_state;

/* Of no elements. */
MPNUM_MATH_ mpnum_softmax_state mpnum_softmax_state_empty(void) {
  const mpnum_softmax_state state = {mpnum_from_bits_f32(0xff800000u), 0};
  return state;
}
/* The larger one, +0 above -0; canonical NaN if one is. */
MPNUM_REAL_ float mpnum_larger_(float a, float b) {
  const uint32_t bits_a = mpnum_bits_f32(a), bits_b = mpnum_bits_f32(b);
  const uint32_t larger = mpnum_order_(bits_a) > mpnum_order_(bits_b) ? bits_a : bits_b;
  if (mpnum_isnan_f32(a) || mpnum_isnan_f32(b)) return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_from_bits_f32(larger);
}
/* sum e^((from - to) scale), from <= to. */
MPNUM_REAL_ float mpnum_rescaled_(float sum, float from, float to, float scale) {
  const uint32_t from_bits = mpnum_bits_f32(from);
  if (from_bits == mpnum_bits_f32(to)) return sum;
  if (from_bits == 0xff800000u || mpnum_bits_f32(to) == 0x7f800000u) return 0;
  if (mpnum_is_zero_u31_(mpnum_bits_f32(scale) & 0x7fffffffu)) return sum;
  return mpnum_mul_scalar_(
      sum, mpnum_exp_scalar_(mpnum_mul_scalar_(mpnum_sub_scalar_(from, to), scale)));
}
/* Of two parts of a row. Commutative to the bit, not associative: for reproducible
 * results merge in a fixed order. */
MPNUM_MATH_ mpnum_softmax_state mpnum_softmax_merge(mpnum_softmax_state a,
                                                    mpnum_softmax_state b, float scale) {
  const mpnum_softmax_state empty = mpnum_softmax_state_empty();
  mpnum_softmax_state state = empty;
  state.max = mpnum_larger_(a.max, b.max);
  if (mpnum_isnan_f32(state.max)) {
    state.sum = state.max;
  } else if (mpnum_bits_f32(state.max) != mpnum_bits_f32(empty.max)) {
    state.sum = mpnum_add_scalar_(mpnum_rescaled_(a.sum, a.max, state.max, scale),
                                  mpnum_rescaled_(b.sum, b.max, state.max, scale));
  }
  return state;
}
/* With one more element. n of them added one by one are off by n roundings: of a long row
 * merge states of parts. */
MPNUM_MATH_ mpnum_softmax_state mpnum_softmax_add(mpnum_softmax_state state, float x,
                                                  float scale) {
  const mpnum_softmax_state one = {x, mpnum_bits_f32(x) == 0xff800000u ? 0.0f : 1.0f};
  return mpnum_softmax_merge(state, one, scale);
}
/* log of the sum of e^(x scale): -Inf of none, +Inf if one is, NaN if one is. */
MPNUM_REAL_ float mpnum_softmax_logsumexp(mpnum_softmax_state state, float scale) {
  const uint32_t bits = mpnum_bits_f32(state.max);
  if (bits == 0x7f800000u || bits == 0xff800000u || mpnum_isnan_f32(state.max))
    return state.max;
  return mpnum_add_scalar_(mpnum_mul_scalar_(state.max, scale),
                           mpnum_log_scalar_(state.sum));
}
/* The weight of an element of the row, e^t / s, and its loss, log s - t; NaN where one is
 * NaN or +Inf. Of an empty state, where all are masked: 0 and +Inf. */
MPNUM_REAL_ float mpnum_softmax_weight(mpnum_softmax_state state, float x, float scale) {
  const uint32_t bits = mpnum_bits_f32(state.max);
  if (bits == 0xff800000u) return 0;
  if (bits == 0x7f800000u || mpnum_isnan_f32(state.max))
    return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_canonical_(mpnum_div_scalar_(
      mpnum_exp_scalar_(mpnum_exponent_(x, state.max, scale)), state.sum));
}
MPNUM_REAL_ float mpnum_softmax_loss(mpnum_softmax_state state, float x, float scale) {
  const uint32_t bits = mpnum_bits_f32(state.max);
  if (bits == 0xff800000u) return mpnum_from_bits_f32(0x7f800000u);
  if (bits == 0x7f800000u || mpnum_isnan_f32(state.max))
    return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_canonical_(mpnum_sub_scalar_(mpnum_log_scalar_(state.sum),
                                            mpnum_exponent_(x, state.max, scale)));
}

#if MPNUM_HAS_ARRAYS

/* Flags. -Inf counts as masked: a row of nothing else is empty, not NaN. */
# define MPNUM_SOFTMAX_MASKED 1
/* Of k elements +Inf each gets 1 / k, and all others 0. */
# define MPNUM_SOFTMAX_LIMIT 2

/* Begin with mpnum_softmax_default(), as all zeros mean scale 0. With a mask or lengths
 * -Inf counts as masked, too. */
typedef struct mpnum_softmax_options {
  float scale;           /* finite, 0 and up; 0 makes what is not masked uniform */
  const uint8_t *mask;   /* NULL, or a byte for each element, 0 where it is masked */
  size_t mask_stride;    /* bytes between the masks of rows; 0 if all share one */
  const size_t *lengths; /* NULL, or for each row how many elements are not masked */
  int flags;             /* of those above */
} mpnum_softmax_options;

/* Scale 1, nothing masked. */
MPNUM_HOST mpnum_softmax_options mpnum_softmax_default(void) {
  const mpnum_softmax_options options = {1, 0, 0, 0, 0};
  return options;
}

/* One row of a view: how many elements may count, which do. What is masked is read as
 * -Inf. */
typedef struct mpnum_row_ {
  mpnum_const_rows src;
  size_t number, count;
  const uint8_t *mask;
  int is_masked, takes_limit;
  float scale, max;
  double sum;
  mpnum_row_status status;
} mpnum_row_;

/* Floats from element first on; of f32 without a mask they stay where they are. */
MPNUM_HOST const float *mpnum_row_tile_(const mpnum_row_ *row, size_t first, size_t count,
                                        float *buffer) {
  const uint8_t *src = mpnum_rows_at_(row->src, row->number, first);
  size_t i = 0;
  if (row->src.type == MPNUM_TYPE_F32 && !row->mask)
    return (const float *)(const void *)src;
  mpnum_floats_from_(row->src.type, buffer, src, count);
  for (; row->mask && i < count; ++i)
    if (!row->mask[first + i]) buffer[i] = mpnum_from_bits_f32(0xff800000u);
  return buffer;
}
/* Finds max and status. */
MPNUM_HOST void mpnum_row_look_(mpnum_row_ *row) {
  mpnum_extremes_ extremes = {0x007fffffu /* -Inf */, 0};
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_];
  size_t i = 0;
  for (; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    mpnum_row_extremes_(&extremes, mpnum_row_tile_(row, i, n, buffer), n);
  }
  row->max = mpnum_float_of_key_(extremes.key);
  row->status = MPNUM_ROW_OK;
  if (extremes.magnitude > 0x7f800000u) {
    row->status = MPNUM_ROW_NAN;
    row->max = mpnum_from_bits_f32(0x7fffffffu);
  } else if (mpnum_bits_f32(row->max) == 0x7f800000u) {
    row->status = MPNUM_ROW_INF;
  } else if (row->count == 0 || mpnum_bits_f32(row->max) == 0xff800000u) {
    row->status =
        row->is_masked || row->count == 0 ? MPNUM_ROW_EMPTY : MPNUM_ROW_NEGATIVE_INF;
  }
}
/* Finds the sum of an ordinary row; leaves e^t in dst, unless that is NULL. */
MPNUM_HOST void mpnum_row_sum_(mpnum_row_ *row, float *dst) {
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_];
  size_t i = 0;
  row->sum = 0;
  for (; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    const float *x = mpnum_row_tile_(row, i, n, buffer);
    const float sum = mpnum_row_exp_(dst ? dst + i : dst, x, n, row->max, row->scale);
    row->sum = mpnum_add_f64_(row->sum, (double)sum);
  }
}
MPNUM_HOST float mpnum_row_log_sum_(const mpnum_row_ *row) {
  return mpnum_log_scalar_((float)row->sum);
}

/* In place: where a view is passed and returned, gcc 12 takes its memory for not being
 * read (its pass ipa-modref). */
MPNUM_HOST void mpnum_row_begin_(mpnum_row_ *row, mpnum_const_rows src, size_t number,
                                 const mpnum_softmax_options *options) {
  row->src = src;
  row->number = number;
  row->count = options->lengths ? options->lengths[number] : src.columns;
  row->mask = options->mask ? options->mask + number * options->mask_stride : 0;
  row->is_masked =
      options->mask || options->lengths || (options->flags & MPNUM_SOFTMAX_MASKED) != 0;
  row->takes_limit = (options->flags & MPNUM_SOFTMAX_LIMIT) != 0;
  row->scale = options->scale;
  row->sum = 0;
  mpnum_row_look_(row);
}

/* What a row that is not ordinary gives, whole. */
MPNUM_HOST void mpnum_softmax_special_(const mpnum_row_ *row, mpnum_rows dst,
                                       int is_log) {
  const float none = is_log ? mpnum_from_bits_f32(0xff800000u) : 0;
  const float nan_result = mpnum_from_bits_f32(0x7fffffffu);
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_];
  float share = 0;
  size_t i = 0, k = 0, infinite = 0;
  if (row->status != MPNUM_ROW_INF || !row->takes_limit) {
    mpnum_rows_fill_(dst, row->number, 0,
                     row->status == MPNUM_ROW_EMPTY ? none : nan_result);
    return;
  }
  for (; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    const float *x = mpnum_row_tile_(row, i, n, buffer);
    for (k = 0; k < n; ++k)
      infinite += mpnum_bits_f32(mpnum_float_at_(x, k)) == 0x7f800000u;
  }
  if (!is_log) share = mpnum_div_scalar_(1, (float)infinite);
  if (is_log && infinite > 1) /* the sign by its bit: of one +0, not -0 */
    share = mpnum_from_bits_f32(mpnum_bits_f32(mpnum_log_scalar_((float)infinite)) |
                                0x80000000u);
  for (i = 0; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    const float *x = mpnum_row_tile_(row, i, n, buffer);
    for (k = 0; k < n; ++k)
      buffer[k] = mpnum_bits_f32(mpnum_float_at_(x, k)) == 0x7f800000u ? share : none;
    mpnum_floats_to_(dst.type, mpnum_rows_to_(dst, row->number, i), buffer, n);
  }
  mpnum_rows_fill_(dst, row->number, row->count, none);
}
MPNUM_HOST void mpnum_softmax_row_(mpnum_row_ *row, mpnum_rows dst, int is_log) {
  const int is_direct = dst.type == MPNUM_TYPE_F32;
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_];
  float *kept = 0; /* e^t, where there is room for all of them */
  mpnum_row_map_ map;
  size_t i = 0;
  if (row->status != MPNUM_ROW_OK) {
    mpnum_softmax_special_(row, dst, is_log);
    return;
  }
  if (!is_log && is_direct) kept = (float *)(void *)mpnum_rows_to_(dst, row->number, 0);
  if (!is_log && !is_direct && row->count <= MPNUM_TILE_) kept = buffer;
  mpnum_row_sum_(row, kept);
  map = is_log ? mpnum_row_map_of_(MPNUM_MAP_LOG_, row->max, row->scale,
                                   mpnum_row_log_sum_(row))
               : mpnum_row_map_of_(MPNUM_MAP_SCALED_,
                                   mpnum_div_scalar_(1, (float)row->sum), 0, 0);
  for (; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    const float *x = kept ? kept + i : mpnum_row_tile_(row, i, n, buffer);
    uint8_t *at = mpnum_rows_to_(dst, row->number, i);
    float *to = is_direct ? (float *)(void *)at : buffer;
    if (!kept && !is_log) {
      (void)mpnum_row_exp_(buffer, x, n, row->max, row->scale);
      x = buffer;
    }
    mpnum_row_mapped_(map, to, x, n);
    mpnum_floats_to_(dst.type, at, to, n);
  }
  mpnum_rows_fill_(dst, row->number, row->count,
                   is_log ? mpnum_from_bits_f32(0xff800000u) : 0);
}
MPNUM_HOST mpnum_status mpnum_softmax_check_(mpnum_const_rows src,
                                             const mpnum_softmax_options *options) {
  const int known = MPNUM_SOFTMAX_MASKED | MPNUM_SOFTMAX_LIMIT;
  size_t i = 0;
  if (!mpnum_has_rows_(src.type) || !mpnum_is_factor_(options->scale) ||
      (options->flags & ~known) != 0)
    return MPNUM_ERROR_ARGUMENT;
  for (; options->lengths && i < src.rows; ++i)
    if (options->lengths[i] > src.columns) return MPNUM_ERROR_RANGE;
  return MPNUM_OK;
}
MPNUM_HOST mpnum_status mpnum_softmax_rows_(int is_log, mpnum_rows dst,
                                            mpnum_const_rows src,
                                            const mpnum_softmax_options *options,
                                            mpnum_row_status *row_status) {
  const mpnum_softmax_options usual = mpnum_softmax_default();
  const mpnum_softmax_options *chosen = options ? options : &usual;
  mpnum_status status = mpnum_rows_check_(dst, src);
  uint64_t saved = 0;
  size_t i = 0;
  if (status == MPNUM_OK) status = mpnum_softmax_check_(src, chosen);
  if (status != MPNUM_OK) return status;
  saved = mpnum_fenv_save_();
  for (; i < src.rows; ++i) {
    mpnum_row_ row;
    mpnum_row_begin_(&row, src, i, chosen);
    if (row_status) row_status[i] = row.status;
    mpnum_softmax_row_(&row, dst, is_log);
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* Softmax of each row. A row of one finite element is exactly 1; what is masked is 0. A
 * row with NaN, with +Inf, or all -Inf is NaN, see the flags and row statuses. NULL for
 * options means the defaults, for row_status that nobody asks.
 * Status: MPNUM_ERROR_ARGUMENT for another type, rows or columns that differ, a stride of
 *   dst below its columns, dst in the place of src with another type or stride, a scale
 *   that is negative or not finite, a flag that is not above; MPNUM_ERROR_RANGE for a
 *   length past the columns. Nothing is written then. */
MPNUM_HOST mpnum_status mpnum_softmax_rows(mpnum_rows dst, mpnum_const_rows src,
                                           const mpnum_softmax_options *options,
                                           mpnum_row_status *row_status) {
  return mpnum_softmax_rows_(0, dst, src, options, row_status);
}
/* Its logarithm, as precise where softmax vanishes. What is masked is -Inf. */
MPNUM_HOST mpnum_status mpnum_log_softmax_rows(mpnum_rows dst, mpnum_const_rows src,
                                               const mpnum_softmax_options *options,
                                               mpnum_row_status *row_status) {
  return mpnum_softmax_rows_(1, dst, src, options, row_status);
}
/* log of the sum of e^(x scale) of each row, a float a row: -Inf of an empty row and of
 * one that is all -Inf, +Inf if an element is, NaN if one is. */
MPNUM_HOST mpnum_status mpnum_logsumexp_rows(float *dst, mpnum_const_rows src,
                                             const mpnum_softmax_options *options,
                                             mpnum_row_status *row_status) {
  const mpnum_softmax_options usual = mpnum_softmax_default();
  const mpnum_softmax_options *chosen = options ? options : &usual;
  const mpnum_status status = mpnum_softmax_check_(src, chosen);
  uint64_t saved = 0;
  size_t i = 0;
  if (status != MPNUM_OK) return status;
  saved = mpnum_fenv_save_();
  for (; i < src.rows; ++i) {
    mpnum_row_ row;
    float result = 0;
    mpnum_row_begin_(&row, src, i, chosen);
    result = row.max;
    if (row.status == MPNUM_ROW_OK) {
      mpnum_row_sum_(&row, 0);
      result = mpnum_add_scalar_(mpnum_mul_scalar_(row.max, row.scale),
                                 mpnum_row_log_sum_(&row));
    }
    if (row_status) row_status[i] = row.status;
    mpnum_set_float_(dst, i, result);
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
#endif

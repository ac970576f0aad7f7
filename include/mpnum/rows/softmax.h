/* SPDX-License-Identifier: MIT */
/* Softmax, log-softmax and log-sum-exp of rows. They neither overflow nor lose a NaN.
 *
 *     mpnum_softmax_options options = mpnum_softmax_default();
 *     options.scale = 0.125f;
 *     options.lengths = lengths;
 *     mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F16, weights, rows, n),
 *                        mpnum_const_matrix_of(MPNUM_TYPE_F16, scores, rows, n),
 *                        &options, NULL);
 *
 * Let m be the largest element of a row, t = (x - m) scale and s the sum of all e^t.
 * Softmax is e^t / s, log-softmax t - log s, log-sum-exp m scale + log s; with a sink s
 * is e^(sink - m scale) more. With a cap (softmax_cap.h) each x is tanh(x scale / cap)
 * first, and scale is the cap. All are computed in floats; each result is rounded once to
 * its type.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3, of any length; dst has the
 *   shape of src. Data, floats and masks may lie at any address. dst may be src if both
 *   have the same type and stride; otherwise they must not overlap.
 * Error: docs/softmax.md.
 * Bits: the same from every instruction set, and batch invariance: a row has the same
 *   bits alone and in any batch. Host only. softmax_state.h has rows that come in parts,
 *   for devices, too. */
#ifndef MPNUM_ROWS_SOFTMAX_H
#define MPNUM_ROWS_SOFTMAX_H

#include "../array/matrix.h"
#include "softmax_state.h"
#include "detail/rows_loops.h"
MPNUM_C_BEGIN_

/* What was found in a row. */
typedef enum mpnum_row_status {
  MPNUM_ROW_OK = 0,
  MPNUM_ROW_EMPTY = 1,        /* no elements, or all of them masked */
  MPNUM_ROW_NEGATIVE_INF = 2, /* all elements are -Inf and none is masked: NaN */
  MPNUM_ROW_INF = 3, /* an element is +Inf: NaN, or the limit with MPNUM_SOFTMAX_LIMIT */
  MPNUM_ROW_NAN = 4, /* an element is NaN: NaN */
  MPNUM_ROW_IGNORED = 5, /* its target is ignore_index */
  MPNUM_ROW_NO_CLASS = 6 /* the target is no class; only from rows/loss_rows.cuh */
} mpnum_row_status;

/* Returns first + row * step, clamped to 0 ... columns, without overflow. */
MPNUM_MATH_ uint64_t mpnum_causal_length_(int64_t first, int64_t step, uint64_t row,
                                          uint64_t columns) {
  const uint64_t most = 0xffffffffffffffffu;
  const uint64_t size = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
  const uint64_t start = first < 0 ? 0 - (uint64_t)first : (uint64_t)first;
  const uint64_t way = size != 0 && row > most / size ? most : row * size;
  uint64_t length = 0;
  if (first >= 0 && step >= 0) length = way > most - start ? most : start + way;
  if (first >= 0 && step < 0) length = start > way ? start - way : 0;
  if (first < 0 && step >= 0) length = way > start ? way - start : 0;
  return length < columns ? length : columns;
}

#if MPNUM_ON_DEVICE_ || MPNUM_HAS_ARRAYS_

/* The sum of e^t of a row and of its sink: times factor, e^-shift, where that is the
 * larger part. */
typedef struct mpnum_row_sunk_ {
  double sum;
  float factor, shift;
} mpnum_row_sunk_;
/* sink: -Inf, or finite. */
MPNUM_MATH_ mpnum_row_sunk_ mpnum_row_sink_(double sum, float max, float scale,
                                            float sink) {
  const double at = mpnum_mul_f64_(mpnum_widen_f32_(max), mpnum_widen_f32_(scale));
  const float above = mpnum_narrow_f64_(mpnum_add_f64_(mpnum_widen_f32_(sink), -at));
  mpnum_row_sunk_ made = {sum, mpnum_from_bits_f32(0x3f800000u), 0};
  if (mpnum_bits_f32(above) - 1 < 0x7f800000u) { /* above 0 */
    made.factor = mpnum_exp_of_negative_scalar_(
        mpnum_from_bits_f32(mpnum_bits_f32(above) | 0x80000000u));
    made.shift = above;
    made.sum = mpnum_add_f64_(mpnum_mul_f64_(sum, mpnum_widen_f32_(made.factor)), 1);
  } else {
    made.sum =
        mpnum_add_f64_(sum, mpnum_widen_f32_(mpnum_exp_of_negative_scalar_(above)));
  }
  return made;
}
/* What e^t is multiplied by, the log of the sum, and log-sum-exp. */
MPNUM_MATH_ float mpnum_sunk_share_(const mpnum_row_sunk_ *sunk) {
  return mpnum_div_scalar_(sunk->factor, mpnum_narrow_f64_(sunk->sum));
}
MPNUM_MATH_ float mpnum_sunk_log_(const mpnum_row_sunk_ *sunk) {
  return mpnum_add_scalar_(sunk->shift, mpnum_log_scalar_(mpnum_narrow_f64_(sunk->sum)));
}
MPNUM_MATH_ float mpnum_sunk_all_(const mpnum_row_sunk_ *sunk, float max, float scale,
                                  float sink) {
  const float log_sum = mpnum_log_scalar_(mpnum_narrow_f64_(sunk->sum));
  const int is_above = mpnum_bits_f32(sunk->shift) != 0;
  return mpnum_add_scalar_(is_above ? sink : mpnum_mul_scalar_(max, scale), log_sum);
}
/* The head of a row, of heads that take head_rows rows in turn. */
MPNUM_INLINE uint64_t mpnum_head_of_(uint64_t row, uint64_t head_rows, uint64_t heads) {
  return row / head_rows % heads;
}

#endif

#if MPNUM_HAS_ARRAYS_

/* Flag: an element that is -Inf counts as masked, so that a row of nothing else is
 * empty, not NaN. */
# define MPNUM_SOFTMAX_MASKED 1
/* Flag: if k elements are +Inf, each of them gets 1 / k and all others 0. */
# define MPNUM_SOFTMAX_LIMIT 2
/* Flag, for functions that return gradients: adds them to what the result holds. */
# define MPNUM_SOFTMAX_ACCUMULATE 4

/* Soft capping of rows, made by mpnum_softmax_cap_of. */
typedef struct mpnum_softmax_cap {
  float cap;
  mpnum_row_capped_ *run_;
  mpnum_row_capped_map_ *map_;
} mpnum_softmax_cap;

/* Begin with mpnum_softmax_default(): all zeros are refused because the scale is 0. With
 * a mask, lengths, a bias or sinks, -Inf counts as masked, too. */
typedef struct mpnum_softmax_options {
  float scale;           /* finite, above 0 */
  const uint8_t *mask;   /* NULL, or one byte for each element: 0 masks it */
  size_t mask_stride;    /* bytes from row to row of the mask; 0: all rows share one */
  const size_t *lengths; /* NULL, or the number of unmasked elements of each row */
  int flags;             /* MPNUM_SOFTMAX_ flags */
  /* Unless both are 0, the first first_length + i * length_step elements of row i are
   * unmasked; none if that is negative. For causal attention they are 1 + the number of
   * earlier tokens, and 1. If lengths is given, too, the smaller number counts. */
  int64_t first_length, length_step;
  /* NULL, or what is added to each element times scale; the sum is rounded once and not
   * scaled again. bias_stride: elements from row to row; 0: all rows share one. */
  const void *bias;
  size_t bias_stride;
  mpnum_type bias_type; /* f32, f16 or bf16 */
  /* Heads of attention: row i is of head i / head_rows % heads. slopes: NULL, or what the
   * bias of a head is multiplied by first, rounded once, finite and above 0 (ALiBi).
   * sinks: NULL, or a logit of each head that takes weight and has no element: it counts
   * in the sum as if it were an element times scale, finite or -Inf. */
  const float *slopes, *sinks;
  size_t heads, head_rows;      /* above 0 where slopes or sinks are there */
  const mpnum_softmax_cap *cap; /* NULL, or soft capping: softmax_cap.h */
} mpnum_softmax_options;

/* Returns scale 1 and nothing masked. */
MPNUM_HOST mpnum_softmax_options mpnum_softmax_default(void) {
  const mpnum_softmax_options options = {1, 0, 0, 0, 0, 0, 0, 0, 0, MPNUM_TYPE_F32,
                                         0, 0, 0, 0, 0};
  return options;
}

/* The rows of a call and the row that is being read: how many of its elements may count.
 * Masked elements are read as -Inf. */
typedef struct mpnum_row_ {
  mpnum_const_matrix src;
  const mpnum_softmax_options *options;
  mpnum_row_steps_ steps;
  mpnum_row_view_ view;
  size_t number, count;
  int is_masked, takes_limit;
  float scale, max, sink;
  /* Where the row is kept while it is capped, so that tanh is taken once; or NULL. */
  float *room;
  size_t room_stride, capped; /* capped: of rows, those that have been */
  double sum;
  mpnum_row_status status;
} mpnum_row_;

MPNUM_HOST_INLINE_ int mpnum_is_causal_(const mpnum_softmax_options *options) {
  return options->first_length != 0 || options->length_step != 0;
}
/* Returns how many elements of a row are within its length. */
MPNUM_HOST size_t mpnum_row_length_(const mpnum_softmax_options *options, size_t row,
                                    size_t columns) {
  size_t length = options->lengths ? options->lengths[row] : columns;
  if (mpnum_is_causal_(options)) {
    length = (size_t)mpnum_causal_length_(options->first_length, options->length_step,
                                          row, length);
  }
  return length;
}
/* Whether biases become floats, or are multiplied, before they are added. */
MPNUM_HOST_INLINE_ int mpnum_has_biases_(const mpnum_softmax_options *options) {
  return options->bias && (options->slopes || options->bias_type != MPNUM_TYPE_F32);
}
/* scale / cap. */
MPNUM_HOST float mpnum_cap_factor_(const mpnum_softmax_options *options) {
  return mpnum_div_scalar_(options->scale, options->cap->cap);
}
/* Writes *row in place: when such a struct is passed and returned by value, gcc 12 takes
 * its memory as not read (pass ipa-modref). */
MPNUM_HOST void mpnum_row_begin_(mpnum_row_ *row, mpnum_const_matrix src,
                                 const mpnum_softmax_options *options) {
  row->src = src;
  row->options = options;
  row->steps = mpnum_row_steps_in_use_();
  row->is_masked = options->mask || options->lengths || options->bias || options->sinks ||
                   mpnum_is_causal_(options) ||
                   (options->flags & MPNUM_SOFTMAX_MASKED) != 0;
  row->takes_limit = (options->flags & MPNUM_SOFTMAX_LIMIT) != 0;
  row->sink = mpnum_from_bits_f32(0xff800000u);
  row->scale = options->bias ? 1 : options->scale;
  row->room = 0;
  row->room_stride = row->capped = 0;
  mpnum_row_view_of_(&row->view, src.type);
  row->view.scale = options->scale;
  if (options->cap) {
    if (!options->bias) row->scale = options->cap->cap;
    row->view.scale = options->cap->cap;
    row->view.cap = options->cap->run_;
    row->view.capped_map = options->cap->map_;
    row->view.cap_factor = mpnum_cap_factor_(options);
    row->view.is_apart = 1;
  }
  row->view.is_plain = src.type == MPNUM_TYPE_F32 && !options->mask && !options->bias;
  if (mpnum_has_biases_(options)) {
    mpnum_row_type_of_(&row->view.bias_type, options->bias_type);
    row->view.is_apart = 1;
  }
}
/* Gives room for capped rows, a stride apart. */
MPNUM_HOST_COLD_ void mpnum_row_room_(mpnum_row_ *row, float *room, size_t stride) {
  row->room = room;
  row->room_stride = stride;
  mpnum_row_type_of_(&row->view.type, MPNUM_TYPE_F32);
  row->view.cap = 0;
  row->view.is_apart = mpnum_has_biases_(row->options);
  row->view.is_plain = !row->options->mask && !row->options->bias;
}
/* Caps the row that is looked at, once. */
MPNUM_HOST_COLD_ void mpnum_row_cap_(mpnum_row_ *row) {
  float *const to = row->room + row->number * row->room_stride;
  row->view.src = (const uint8_t *)to;
  if (row->capped > row->number) return;
  row->capped = row->number + 1;
  mpnum_floats_from_(row->src.type, to, mpnum_rows_at_(row->src, row->number, 0),
                     row->count);
  (*row->options->cap->run_)(to, 0, row->count, row->view.cap_factor);
}
/* Moves to a row. */
MPNUM_HOST void mpnum_row_go_(mpnum_row_ *row, size_t number) {
  const mpnum_softmax_options *options = row->options;
  row->number = number;
  row->count = mpnum_row_length_(options, number, row->src.columns);
  row->view.src =
      (const uint8_t *)row->src.data + number * row->src.stride * row->view.type.size;
  row->view.mask = options->mask ? options->mask + number * options->mask_stride : 0;
  if (options->bias) {
    const uint8_t *const biases =
        mpnum_row_at_(options->bias_type, options->bias, number * options->bias_stride);
    const int is_apart = mpnum_has_biases_(options);
    row->view.biases = is_apart ? biases : 0;
    row->view.bias = is_apart ? 0 : (const float *)(const void *)biases;
  }
  if (options->slopes || options->sinks) {
    const size_t head =
        (size_t)mpnum_head_of_(number, options->head_rows, options->heads);
    if (options->slopes) row->view.slope = mpnum_float_at_(options->slopes, head);
    if (options->sinks) row->sink = mpnum_float_at_(options->sinks, head);
  }
  row->sum = 0;
  row->status = MPNUM_ROW_OK;
  if (row->room) mpnum_row_cap_(row);
}
/* Moves to a row and finds its maximum and status. */
MPNUM_HOST void mpnum_row_look_(mpnum_row_ *row, size_t number) {
  mpnum_extremes_ extremes;
  uint32_t max = 0;
  mpnum_row_go_(row, number);
  mpnum_row_extremes_of_(&row->steps, &extremes, &row->view, row->count);
  row->max = extremes.max;
  max = mpnum_bits_f32(row->max);
  if (extremes.has_nan) {
    row->status = MPNUM_ROW_NAN;
    row->max = mpnum_from_bits_f32(0x7fffffffu);
  } else if (max == 0x7f800000u) {
    row->status = MPNUM_ROW_INF;
  } else if (row->count == 0 || max == 0xff800000u) {
    row->status =
        row->is_masked || row->count == 0 ? MPNUM_ROW_EMPTY : MPNUM_ROW_NEGATIVE_INF;
  }
}
/* Floats kept from one step to the next: all of them, or those past the last multiple of
 * 64 in tail. all is NULL if none are kept. */
typedef struct mpnum_row_kept_ {
  float *all, *tail;
} mpnum_row_kept_;
/* Computes the sum of an ordinary row and keeps e^t. */
MPNUM_HOST void mpnum_row_sum_(mpnum_row_ *row, const mpnum_row_kept_ *kept) {
  mpnum_row_exp_of_(&row->steps, &row->sum, kept->all, kept->tail, &row->view, row->count,
                    row->max, row->scale);
}
MPNUM_HOST float mpnum_row_log_sum_(const mpnum_row_ *row) {
  return mpnum_log_scalar_((float)row->sum);
}
MPNUM_HOST_ONCE_ mpnum_row_sunk_ mpnum_row_sunk_of_(const mpnum_row_ *row) {
  return mpnum_row_sink_(row->sum, row->max, row->scale, row->sink);
}
/* Returns an element as a float. */
MPNUM_HOST float mpnum_row_element_(const mpnum_row_ *row, size_t i) {
  float x = 0;
  if (i >= row->count || (row->view.mask && !row->view.mask[i]))
    return mpnum_from_bits_f32(0xff800000u);
  x = mpnum_row_float_(&row->view.type, row->view.src, i);
  if (row->view.cap) (*row->view.cap)(&x, 0, 1, row->view.cap_factor);
  return mpnum_row_biased_(&row->view, x, i);
}
/* Runs a map over the kept floats, or over the elements of the row if none are kept. */
MPNUM_HOST void mpnum_row_write_(const mpnum_row_ *row, const mpnum_row_map_ *map,
                                 const mpnum_row_type_ *type, mpnum_matrix dst,
                                 const mpnum_row_kept_ *kept) {
  uint8_t *to = (uint8_t *)dst.data + row->number * dst.stride * type->size;
  mpnum_row_view_ view;
  if (!kept->all) {
    mpnum_row_map_of_(&row->steps, map, type, to, &row->view, row->count);
    return;
  }
  mpnum_row_view_of_(&view, MPNUM_TYPE_F32);
  view.src = (const uint8_t *)kept->all;
  view.tail = (const uint8_t *)kept->tail;
  view.is_plain = 1;
  mpnum_row_map_of_(&row->steps, map, type, to, &view, row->count);
}

/* Writes the whole result of a row that is not ordinary. */
MPNUM_HOST_COLD_ void mpnum_softmax_special_(const mpnum_row_ *row,
                                             const mpnum_row_type_ *type,
                                             mpnum_matrix dst, int is_log) {
  const float none = is_log ? mpnum_from_bits_f32(0xff800000u) : 0;
  const float nan_result = mpnum_from_bits_f32(0x7fffffffu);
  uint8_t *to = mpnum_rows_to_(dst, row->number, 0);
  float share = 0;
  size_t i = 0, infinite = 0;
  if (row->status != MPNUM_ROW_INF || !row->takes_limit) {
    mpnum_rows_fill_(dst, row->number, 0,
                     row->status == MPNUM_ROW_EMPTY ? none : nan_result);
    return;
  }
  for (; i < row->count; ++i)
    infinite += mpnum_bits_f32(mpnum_row_element_(row, i)) == 0x7f800000u;
  if (!is_log) share = mpnum_div_scalar_(1, (float)infinite);
  if (is_log &&
      infinite > 1) /* sets the sign bit: the result for one +Inf is +0, not -0 */
    share = mpnum_from_bits_f32(mpnum_bits_f32(mpnum_log_scalar_((float)infinite)) |
                                0x80000000u);
  for (i = 0; i < row->count; ++i) {
    const int is_infinite = mpnum_bits_f32(mpnum_row_element_(row, i)) == 0x7f800000u;
    mpnum_row_set_(type, to, i, is_infinite ? share : none);
  }
  mpnum_rows_fill_(dst, row->number, row->count, none);
}
/* Keeps e^t of a row, if allowed, where all of them fit: in the floats of dst or in a
 * buffer of a tile and 64 floats. */
MPNUM_HOST void mpnum_row_keep_(mpnum_row_kept_ *kept, const mpnum_row_ *row,
                                const mpnum_row_type_ *type, mpnum_matrix dst,
                                float *buffer, int may_keep) {
  const size_t whole = row->count - row->count % MPNUM_SUM_LANES_;
  kept->all = kept->tail = 0;
  if (!may_keep) return;
  if (type->type == MPNUM_TYPE_F32) {
    kept->all = (float *)(void *)mpnum_rows_to_(dst, row->number, 0);
    kept->tail = buffer;
  } else if (row->count <= MPNUM_TILE_) {
    kept->all = buffer;
    kept->tail = buffer + whole;
  }
}
/* Writes the results of an ordinary row. */
MPNUM_HOST void mpnum_softmax_row_(mpnum_row_ *row, const mpnum_row_type_ *type,
                                   mpnum_matrix dst, int is_log) {
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_ + MPNUM_SUM_LANES_];
  mpnum_row_map_ map = {MPNUM_MAP_PRODUCT_, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  mpnum_row_kept_ kept;
  mpnum_row_keep_(&kept, row, type, dst, buffer, !is_log);
  mpnum_row_sum_(row, &kept);
  map.max = row->max;
  map.scale = row->scale;
  if (is_log) {
    map.kind = MPNUM_MAP_LOG_;
    map.c = mpnum_row_log_sum_(row);
    if (row->options->sinks) {
      const mpnum_row_sunk_ sunk = mpnum_row_sunk_of_(row);
      map.c = mpnum_sunk_log_(&sunk);
    }
  } else {
    if (!kept.all) map.kind = MPNUM_MAP_SCALED_;
    map.has_powers = !kept.all;
    map.a = mpnum_div_scalar_(1, (float)row->sum);
    if (row->options->sinks) {
      const mpnum_row_sunk_ sunk = mpnum_row_sunk_of_(row);
      map.a = mpnum_sunk_share_(&sunk);
    }
  }
  mpnum_row_write_(row, &map, type, dst, &kept);
  mpnum_rows_fill_(dst, row->number, row->count,
                   is_log ? mpnum_from_bits_f32(0xff800000u) : 0);
}
/* Handles a row of at most one tile in one step. Returns 0 if the row is not ordinary. */
MPNUM_HOST int mpnum_softmax_whole_(mpnum_row_ *row, const mpnum_row_type_ *type,
                                    mpnum_matrix dst, size_t number, float *left) {
  uint8_t *to = (uint8_t *)dst.data + number * dst.stride * type->size;
  mpnum_row_go_(row, number);
  if (row->count == 0 ||
      !mpnum_row_whole_(&row->view, type, to, row->count, row->scale, left))
    return 0;
  mpnum_rows_fill_(dst, number, row->count, left ? mpnum_from_bits_f32(0xff800000u) : 0);
  return 1;
}
/* Rows of log-softmax that still need the logarithm of their sum: computed together, the
 * logarithms do not wait for one another. */
typedef struct mpnum_unfinished_ {
  float sums[16], *rows[16];
  size_t lengths[16], count;
} mpnum_unfinished_;
MPNUM_HOST void mpnum_finish_(mpnum_unfinished_ *unfinished) {
  size_t i = 0;
  for (; i < unfinished->count; ++i)
    unfinished->sums[i] = mpnum_log_scalar_(unfinished->sums[i]);
  for (i = 0; i < unfinished->count; ++i)
    mpnum_row_less_(unfinished->rows[i], unfinished->lengths[i], unfinished->sums[i]);
  unfinished->count = 0;
}
/* Whether a cap is none, or one that a scale goes with. */
MPNUM_HOST int mpnum_is_cap_(const mpnum_softmax_options *options) {
  uint64_t saved = 0;
  float factor = 0;
  if (!options->cap) return 1;
  saved = mpnum_fenv_save_();
  factor = mpnum_cap_factor_(options);
  mpnum_fenv_restore_(saved);
  return options->cap->run_ && options->cap->map_ && mpnum_is_scale_(options->cap->cap) &&
         mpnum_is_scale_(factor);
}
/* Finite, or -Inf. */
MPNUM_HOST_INLINE_ int mpnum_is_sink_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  return (bits & 0x7fffffffu) < 0x7f800000u || bits == 0xff800000u;
}
MPNUM_HOST mpnum_status mpnum_softmax_check_(mpnum_const_matrix src,
                                             const mpnum_softmax_options *options,
                                             int more_flags) {
  const int known = MPNUM_SOFTMAX_MASKED | MPNUM_SOFTMAX_LIMIT | more_flags;
  const mpnum_status status = mpnum_source_check_(src);
  size_t i = 0;
  if (status != MPNUM_OK) return status;
  if (!mpnum_is_scale_(options->scale) || (options->flags & ~known) != 0 ||
      !mpnum_is_cap_(options))
    return MPNUM_ERROR_ARGUMENT;
  if (options->bias && !mpnum_has_floats_(options->bias_type)) return MPNUM_ERROR_TYPE;
  if (options->slopes || options->sinks) {
    if (!options->heads || !options->head_rows) return MPNUM_ERROR_ARGUMENT;
    for (; src.rows && i < options->heads; ++i)
      if ((options->slopes && !mpnum_is_scale_(mpnum_float_at_(options->slopes, i))) ||
          (options->sinks && !mpnum_is_sink_(mpnum_float_at_(options->sinks, i))))
        return MPNUM_ERROR_ARGUMENT;
    i = 0;
  }
  for (; options->lengths && i < src.rows; ++i)
    if (options->lengths[i] > src.columns) return MPNUM_ERROR_RANGE;
  return MPNUM_OK;
}
/* Whether rows of so many elements run with subnormals flushed to zero, of results that
 * are none. No e^t is subnormal, and t is another one only where max and x are below
 * 2^-100: of both it is below 2^-87 then, by scales up to 2^10, and e^t is 1. */
MPNUM_HOST int mpnum_rows_flush_(const mpnum_softmax_options *options, size_t elements) {
  const uint32_t scale = mpnum_bits_f32(options->scale);
  return elements >= MPNUM_FLUSHED_ && mpnum_isa_in_use() != MPNUM_ISA_SCALAR &&
         !options->cap && scale >= 0x1f800000u /* 2^-64 */ &&
         scale <= 0x44800000u /* 2^10 */;
}
/* Types in which floats below 2^-25 are 0: their subnormals may be flushed. */
MPNUM_HOST_INLINE_ int mpnum_drops_subnormals_(mpnum_type type) {
  return type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E4M3;
}
/* Results of rows without elements, whose memory is not read: only log-sum-exps are
 * written. */
MPNUM_HOST_COLD_ mpnum_status mpnum_rows_empty_(float *dst, size_t rows,
                                                const mpnum_softmax_options *options,
                                                mpnum_row_status *row_status) {
  size_t i = 0;
  for (; i < rows; ++i) {
    float all = mpnum_from_bits_f32(0xff800000u);
    if (options->sinks)
      all = mpnum_float_at_(
          options->sinks, (size_t)mpnum_head_of_(i, options->head_rows, options->heads));
    if (dst) mpnum_set_float_(dst, i, all);
    if (row_status) row_status[i] = MPNUM_ROW_EMPTY;
  }
  return MPNUM_OK;
}
/* Computes all rows. */
MPNUM_HOST void mpnum_softmax_all_(int is_log, mpnum_matrix dst, mpnum_row_ *row,
                                   mpnum_row_status *row_status) {
  const size_t rows = row->src.rows;
  mpnum_row_type_ type;
  mpnum_unfinished_ late;
  size_t i = 0;
  int is_short = 0;
  mpnum_row_type_of_(&type, dst.type);
  is_short = dst.columns <= MPNUM_TILE_ && !row->view.is_apart && !row->options->sinks &&
             !type.is_foreign && (!is_log || type.type == MPNUM_TYPE_F32);
  late.count = 0;
  for (; i < rows; ++i) {
    if (is_short &&
        mpnum_softmax_whole_(row, &type, dst, i, is_log ? &late.sums[late.count] : 0)) {
      if (is_log) {
        late.rows[late.count] = (float *)dst.data + i * dst.stride;
        late.lengths[late.count++] = row->count;
        if (late.count == 16) mpnum_finish_(&late);
      }
      if (row_status) row_status[i] = row->status;
      continue;
    }
    mpnum_row_look_(row, i);
    if (row_status) row_status[i] = row->status;
    if (row->status == MPNUM_ROW_OK) {
      mpnum_softmax_row_(row, &type, dst, is_log);
    } else {
      mpnum_softmax_special_(row, &type, dst, is_log);
    }
  }
  if (is_log && late.count) mpnum_finish_(&late);
}
/* The same of capped rows, which are kept where there is room. */
MPNUM_HOST_COLD_ void mpnum_softmax_capped_(int is_log, mpnum_matrix dst, mpnum_row_ *row,
                                            mpnum_row_status *row_status) {
  MPNUM_ALIGNED_ float room[MPNUM_TILE_];
  if (dst.type == MPNUM_TYPE_F32)
    mpnum_row_room_(row, (float *)dst.data, dst.stride);
  else if (dst.columns <= MPNUM_TILE_)
    mpnum_row_room_(row, room, 0);
  mpnum_softmax_all_(is_log, dst, row, row_status);
}
MPNUM_HOST mpnum_status mpnum_softmax_rows_(int is_log, mpnum_matrix dst,
                                            mpnum_const_matrix src,
                                            const mpnum_softmax_options *options,
                                            mpnum_row_status *row_status) {
  const mpnum_softmax_options usual = mpnum_softmax_default();
  const mpnum_softmax_options *chosen = options ? options : &usual;
  mpnum_status status = mpnum_rows_check_(dst, src);
  mpnum_row_ row;
  uint64_t saved = 0;
  if (status == MPNUM_OK) status = mpnum_softmax_check_(src, chosen, 0);
  if (status != MPNUM_OK) return status;
  if (src.columns == 0) return mpnum_rows_empty_(0, src.rows, chosen, row_status);
  saved = (is_log || mpnum_drops_subnormals_(dst.type)) &&
                  mpnum_rows_flush_(chosen, src.rows * src.columns)
              ? mpnum_fenv_flush_()
              : mpnum_fenv_save_();
  mpnum_row_begin_(&row, src, chosen);
  if (row.view.cap)
    mpnum_softmax_capped_(is_log, dst, &row, row_status);
  else
    mpnum_softmax_all_(is_log, dst, &row, row_status);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* Computes the softmax of each row. A row of one finite element gives exactly 1; masked
 * elements give 0. A row with NaN, with +Inf, or all -Inf gives NaN: see the flags and
 * row statuses. options NULL: the defaults. row_status: NULL, or one for each row.
 * Status: MPNUM_ERROR_TYPE; MPNUM_ERROR_SHAPE: rows or columns differ;
 *   MPNUM_ERROR_STRIDE: the stride of dst is below its columns; MPNUM_ERROR_NULL: no
 *   data, but elements; MPNUM_ERROR_OVERLAP: dst overlaps src, or has the same place and
 *   another type or stride; MPNUM_ERROR_ARGUMENT: scale not finite or not above 0, a cap
 *   that is neither, or too far from it, an unknown flag, slopes that are not finite and
 *   above 0, sinks that are NaN or +Inf, slopes or sinks without heads;
 *   MPNUM_ERROR_RANGE: a length above columns. Nothing is written then. Without elements
 *   pointers may be anything. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_softmax_rows(mpnum_matrix dst, mpnum_const_matrix src,
                   const mpnum_softmax_options *options, mpnum_row_status *row_status) {
  return mpnum_softmax_rows_(0, dst, src, options, row_status);
}
/* Computes log-softmax of each row, precise where softmax itself vanishes. Masked
 * elements give -Inf. Status: as above. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_log_softmax_rows(
    mpnum_matrix dst, mpnum_const_matrix src, const mpnum_softmax_options *options,
    mpnum_row_status *row_status) {
  return mpnum_softmax_rows_(1, dst, src, options, row_status);
}
/* Computes the log of the sum of e^(x scale) of each row, one float a row: -Inf, or
 * the sink, for an empty row, -Inf for one that is all -Inf, +Inf if an element is +Inf,
 * NaN if one is NaN. Status: as above. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_logsumexp_rows(float *dst, mpnum_const_matrix src,
                     const mpnum_softmax_options *options, mpnum_row_status *row_status) {
  const mpnum_softmax_options usual = mpnum_softmax_default();
  const mpnum_softmax_options *chosen = options ? options : &usual;
  mpnum_status status = mpnum_softmax_check_(src, chosen, 0);
  mpnum_row_ row;
  uint64_t saved = 0;
  size_t i = 0;
  if (status == MPNUM_OK) status = mpnum_floats_check_(dst, src.rows, src);
  if (status != MPNUM_OK) return status;
  if (src.columns == 0) return mpnum_rows_empty_(dst, src.rows, chosen, row_status);
  saved = mpnum_fenv_save_();
  mpnum_row_begin_(&row, src, chosen);
  for (; i < src.rows; ++i) {
    float result = 0;
    mpnum_row_look_(&row, i);
    result = row.max;
    if (row.status == MPNUM_ROW_OK) {
      const mpnum_row_kept_ kept = {0, 0};
      mpnum_row_sum_(&row, &kept);
      result = mpnum_add_scalar_(mpnum_mul_scalar_(row.max, row.scale),
                                 mpnum_row_log_sum_(&row));
      if (row.options->sinks) {
        const mpnum_row_sunk_ sunk = mpnum_row_sunk_of_(&row);
        result = mpnum_sunk_all_(&sunk, row.max, row.scale, row.sink);
      }
    } else if (row.status == MPNUM_ROW_EMPTY && row.options->sinks) {
      result = row.sink;
    }
    if (row_status) row_status[i] = row.status;
    mpnum_set_float_(dst, i, result);
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* Writes e^(x - max) of n floats to dst, unless dst is NULL, and returns their sum: for
 * a softmax by hand, which divides by it or merges it with the sums of other parts. max
 * is the largest element or more. The sum is NaN if an element is NaN or above max, and
 * if max is +Inf or NaN; dst then holds anything. If max is -Inf, as when all elements
 * are, it is 0. Floats are added in 64 lanes, tiles of 2048 as doubles; e^t below 2^-126
 * counts as 0. Any address; dst may be src. */
MPNUM_HOST double mpnum_exp_sum_f32(float *dst, const float *src, size_t n, float max) {
  const mpnum_row_steps_ steps = mpnum_row_steps_in_use_();
  const uint64_t saved = mpnum_fenv_save_();
  const uint32_t max_bits = mpnum_bits_f32(max);
  const uint32_t limit = mpnum_order_(max_bits == 0x80000000u ? 0 : max_bits);
  int is_sane = !mpnum_isnan_f32(max) && max_bits != 0x7f800000u;
  mpnum_row_view_ view;
  double sum = 0;
  size_t i = 0;
  mpnum_row_view_of_(&view, MPNUM_TYPE_F32);
  view.is_plain = 1;
  for (; i < n; i += MPNUM_TILE_) {
    const size_t count = mpnum_tile_size_(n, i), rest = count % MPNUM_SUM_LANES_;
    mpnum_extremes_ extremes;
    float tail[MPNUM_SUM_LANES_];
    view.src = (const uint8_t *)(src + i);
    (*steps.extremes)(&extremes, &view, count);
    if (extremes.has_nan || mpnum_order_(mpnum_bits_f32(extremes.max)) > limit)
      is_sane = 0;
    if (max_bits == 0xff800000u || !is_sane) {
      if (dst) mpnum_row_fill_(MPNUM_TYPE_F32, dst + i, count, 0);
      continue;
    }
    (*steps.exp)(&sum, dst ? dst + i : dst, tail, &view, count, max, 1);
    if (dst) MPNUM_MEMCPY_(dst + i + count - rest, tail, rest * sizeof *tail);
  }
  mpnum_fenv_restore_(saved);
  return is_sane ? sum : mpnum_from_bits_f64((uint64_t)0x7fffffffffffffffu);
}

#endif
MPNUM_C_END_
#endif

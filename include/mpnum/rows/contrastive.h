/* SPDX-License-Identifier: MIT */
/* Contrastive losses (InfoNCE; van den Oord, Li, Vinyals 2018) and their gradients.
 *
 *     mpnum_contrastive_options options = mpnum_contrastive_default();
 *     options.scale = 1 / temperature;
 *     options.factor = 0.5f;
 *     options.reduction = MPNUM_REDUCTION_MEAN;
 *     options.scratch = room;
 *     mpnum_contrastive_loss(&of_rows, &of_columns,
 *                            mpnum_matrix_of(MPNUM_TYPE_BF16, gradients, n, n),
 *                            mpnum_const_matrix_of(MPNUM_TYPE_BF16, similarities, n, n),
 *                            &options);
 *
 * src holds the similarities of n first items with n second ones; the diagonal holds the
 * pairs that belong together. The loss of a row is the cross-entropy of its similarities
 * times scale at the diagonal, that of a column likewise; the symmetric loss is the mean
 * of both (Radford et al. 2021). Gradients are rounded once.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3, data at any address, floats
 *   aligned. gradient has the shape of src and may be src if both have the same type and
 *   stride; mpnum_matrix_empty() if it is not wanted. Otherwise arrays must not overlap.
 * NaN: a row or column with NaN or +Inf, or all -Inf unless masked, has NaN loss and
 *   gradient.
 * Error: docs/softmax.md. Bits: the same from every instruction set. Host only. */
#ifndef MPNUM_ROWS_CONTRASTIVE_H
#define MPNUM_ROWS_CONTRASTIVE_H

#include "cross_entropy.h"
#include "detail/columns_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Begin with mpnum_contrastive_default(): all zeros are refused because the scale is 0.
 */
typedef struct mpnum_contrastive_options {
  float scale;         /* 1 over the temperature; finite, above 0 */
  float factor;        /* multiplies gradients alone */
  int flags;           /* MPNUM_SOFTMAX_MASKED, MPNUM_SOFTMAX_ACCUMULATE */
  const uint8_t *mask; /* NULL, or one byte for each pair: 0 leaves it out as a row, as a
                          column and from all sums, with loss 0 and gradient 0. Then -Inf
                          counts as masked, too */
  mpnum_reduction reduction; /* of each direction; means are over pairs that count, and
                                gradients are those of the means */
  size_t *counted; /* NULL, or receives the number of pairs that are not left out */
  float *scratch;  /* NULL, or 2 n floats, which gradients of column losses need
                      (embeddings: 4 n) */
} mpnum_contrastive_options;

/* Returns scale 1, factor 1, nothing left out. */
MPNUM_HOST mpnum_contrastive_options mpnum_contrastive_default(void) {
  const mpnum_contrastive_options options = {1, 1, 0, 0, MPNUM_REDUCTION_NONE, 0, 0};
  return options;
}

/* A call: what it reads and the factor of its gradients. */
typedef struct mpnum_contrastive_ {
  const mpnum_contrastive_options *options;
  mpnum_softmax_options softmax;
  mpnum_const_matrix src;
  mpnum_matrix gradient;
  size_t counted;
  int is_masked;
  float factor;
} mpnum_contrastive_;

MPNUM_HOST int mpnum_is_left_out_(const mpnum_contrastive_ *call, size_t pair) {
  return call->options->mask && !call->options->mask[pair];
}
/* Reads the options for n pairs. */
MPNUM_HOST mpnum_status mpnum_contrastive_begin_(
    mpnum_contrastive_ *call, size_t n, const mpnum_contrastive_options *options) {
  const int known = MPNUM_SOFTMAX_MASKED | MPNUM_SOFTMAX_ACCUMULATE;
  size_t i = 0;
  call->options = options;
  call->softmax = mpnum_softmax_default();
  call->softmax.scale = options->scale;
  call->softmax.flags = options->flags;
  call->softmax.mask = options->mask;
  call->is_masked = options->mask || (options->flags & MPNUM_SOFTMAX_MASKED) != 0;
  if (!mpnum_is_scale_(options->scale) || (options->flags & ~known) != 0 ||
      (int)options->reduction < 0 || options->reduction > MPNUM_REDUCTION_MEAN)
    return MPNUM_ERROR_ARGUMENT;
  call->counted = n;
  for (; i < n; ++i)
    call->counted -= (size_t)mpnum_is_left_out_(call, i);
  call->factor = mpnum_mul_scalar_(options->factor, options->scale);
  if ((mpnum_bits_f32(call->factor) & 0x7fffffffu) >= 0x7f800000u)
    return MPNUM_ERROR_ARGUMENT;
  if (options->reduction == MPNUM_REDUCTION_MEAN && call->counted)
    call->factor = mpnum_div_scalar_(call->factor, (float)call->counted);
  return MPNUM_OK;
}
/* Stores or adds one loss. */
MPNUM_HOST void mpnum_contrastive_put_(const mpnum_contrastive_ *call, float *loss,
                                       size_t i, float own, double *sum) {
  if (call->options->reduction == MPNUM_REDUCTION_NONE) mpnum_set_float_(loss, i, own);
  *sum = mpnum_add_f64_(*sum, (double)own);
}
MPNUM_HOST void mpnum_contrastive_end_(const mpnum_contrastive_ *call, float *loss,
                                       double sum) {
  const mpnum_reduction reduction = call->options->reduction;
  if (loss && reduction != MPNUM_REDUCTION_NONE)
    mpnum_set_float_(loss, 0, mpnum_reduced_(reduction, sum, call->counted));
}

/* Columns handled at a time. */
# define MPNUM_STRIP_ 256

/* Returns the loss of a column at x, and what its gradients need. */
MPNUM_HOST float mpnum_column_loss_(const mpnum_contrastive_ *call, float x, float *max,
                                    double sum, float *inverse) {
  const mpnum_softmax_state state = {*max, (float)sum};
  const uint32_t bits = mpnum_bits_f32(*max);
  *inverse = mpnum_from_bits_f32(0x7fffffffu);
  if ((bits & 0x7fffffffu) < 0x7f800000u) {
    *inverse = mpnum_div_scalar_(1, state.sum);
    return mpnum_softmax_loss(state, x, call->options->scale);
  }
  *max = 0;
  if (bits != 0xff800000u || !call->is_masked) return *inverse;
  *inverse = 0;
  return mpnum_from_bits_f32(0x7f800000u);
}
/* Computes the losses of a strip of columns at the diagonal: first their largest
 * elements, then their sums, as doubles. */
MPNUM_HOST void mpnum_column_losses_(const mpnum_contrastive_ *call, float *loss,
                                     size_t first, size_t count, double *all) {
  const mpnum_const_matrix src = call->src;
  float *scratch = call->options->scratch;
  float x[MPNUM_STRIP_], max[MPNUM_STRIP_];
  double sums[MPNUM_STRIP_];
  size_t i = 0, k = 0;
  for (k = 0; k < count; ++k) {
    max[k] = mpnum_from_bits_f32(0xff800000u);
    sums[k] = 0;
  }
  for (i = 0; i < src.rows; ++i) {
    if (mpnum_is_left_out_(call, i)) continue;
    mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, i, first), count);
    mpnum_column_larger_(max, x, count);
  }
  for (i = 0; i < src.rows; ++i) {
    if (mpnum_is_left_out_(call, i)) continue;
    mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, i, first), count);
    mpnum_column_exp_(sums, x, max, call->options->scale, count);
  }
  for (k = 0; k < count; ++k) {
    const size_t at = first + k;
    float own = 0, inverse = 0;
    mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, at, at), 1);
    if (mpnum_is_left_out_(call, at)) {
      max[k] = 0;
    } else {
      own = mpnum_column_loss_(call, x[0], &max[k], sums[k], &inverse);
    }
    mpnum_contrastive_put_(call, loss, at, own, all);
    if (!call->gradient.data) continue;
    mpnum_set_float_(scratch, at, max[k]);
    mpnum_set_float_(scratch, src.columns + at, inverse);
  }
}
/* Writes the gradient of a row that counts. */
MPNUM_HOST void mpnum_contrastive_row_(const mpnum_contrastive_ *call,
                                       const mpnum_contrast_ *how, size_t row) {
  const size_t n = call->src.columns;
  const mpnum_type type = call->gradient.type;
  MPNUM_ALIGNED_ float x[MPNUM_TILE_], y[MPNUM_TILE_];
  size_t first = 0, k = 0;
  for (; first < n; first += MPNUM_TILE_) {
    const size_t count = mpnum_tile_size_(n, first);
    const size_t pair = row - first;
    uint8_t *to = mpnum_rows_to_(call->gradient, row, first);
    float own = 0;
    mpnum_floats_from_(call->src.type, x, mpnum_rows_at_(call->src, row, first), count);
    for (k = 0; call->options->mask && k < count; ++k)
      if (!call->options->mask[first + k]) x[k] = mpnum_from_bits_f32(0xff800000u);
    if (how->adds) mpnum_floats_from_(type, y, to, count);
    if (pair < count)
      own = mpnum_contrast_of_(how, how->adds ? y[pair] : 0, x[pair], row, 1);
    mpnum_contrast_tile_(how, y, x, first, count);
    if (pair < count) y[pair] = own;
    mpnum_floats_to_(type, to, y, count);
  }
}
/* Computes the losses of rows, and all gradients. */
MPNUM_HOST void mpnum_contrastive_rows_(const mpnum_contrastive_ *call, float *loss,
                                        int has_columns) {
  const size_t n = call->src.rows;
  mpnum_contrast_ how = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  mpnum_target_ target = {0, 0, 0, 1};
  mpnum_row_ row;
  double sum = 0;
  size_t i = 0;
  how.has_row = loss != 0;
  how.is_masked = call->is_masked;
  how.adds = (call->options->flags & MPNUM_SOFTMAX_ACCUMULATE) != 0;
  how.scale = call->options->scale;
  how.factor = call->factor;
  how.column_max = has_columns ? call->options->scratch : 0;
  how.column_inverse = has_columns ? call->options->scratch + n : 0;
  mpnum_row_begin_(&row, call->src, &call->softmax);
  for (; i < n; ++i) {
    float own = 0;
    if (mpnum_is_left_out_(call, i)) {
      mpnum_gradient_fill_(call->gradient, i, call->options->flags);
      if (loss) mpnum_contrastive_put_(call, loss, i, own, &sum);
      continue;
    }
    if (loss) {
      target.index = (int64_t)i;
      mpnum_row_look_(&row, i);
      own = mpnum_cross_entropy_row_(&row, &row.view.type, mpnum_matrix_empty(), &target,
                                     1);
      mpnum_contrastive_put_(call, loss, i, own, &sum);
      how.max = row.status == MPNUM_ROW_OK ? row.max : 0;
      how.inverse = row.status == MPNUM_ROW_OK      ? mpnum_div_scalar_(1, (float)row.sum)
                    : row.status == MPNUM_ROW_EMPTY ? 0
                                                    : mpnum_from_bits_f32(0x7fffffffu);
    }
    if (call->gradient.data) mpnum_contrastive_row_(call, &how, i);
  }
  mpnum_contrastive_end_(call, loss, sum);
}

/* Checks types, shapes and places of the arrays. */
MPNUM_HOST mpnum_status mpnum_contrastive_places_(
    const float *row_loss, const float *column_loss, mpnum_matrix gradient,
    mpnum_const_matrix src, const mpnum_contrastive_options *options) {
  const size_t count = options->reduction == MPNUM_REDUCTION_NONE ? src.rows : 1;
  const mpnum_const_matrix other = mpnum_rows_read_(gradient);
  mpnum_status status = mpnum_source_check_(src);
  if (status != MPNUM_OK) return status;
  if (src.columns != src.rows) return MPNUM_ERROR_SHAPE;
  if (mpnum_floats_overlap_(row_loss, count, src) ||
      mpnum_floats_overlap_(column_loss, count, src) ||
      mpnum_floats_overlap_(row_loss, count, other) ||
      mpnum_floats_overlap_(column_loss, count, other) ||
      (row_loss && column_loss && src.rows &&
       mpnum_overlap_(row_loss, count * sizeof(float), column_loss,
                      count * sizeof(float))))
    return MPNUM_ERROR_OVERLAP;
  if (!gradient.data) return MPNUM_OK;
  status = mpnum_rows_check_(gradient, src);
  if (status == MPNUM_OK && src.rows && (column_loss ? !options->scratch : !row_loss))
    status = MPNUM_ERROR_NULL;
  if (status == MPNUM_OK && (options->flags & MPNUM_SOFTMAX_ACCUMULATE) &&
      mpnum_rows_overlap_(gradient, src))
    status = MPNUM_ERROR_OVERLAP;
  return status;
}
/* Computes the losses of rows and of columns: n floats each or, with a reduction, one;
 * either may be NULL. The gradient is that of all losses that are asked for, added: with
 * both and a factor of 0.5, that of the symmetric loss. options NULL: the defaults.
 * Status: MPNUM_ERROR_TYPE; MPNUM_ERROR_SHAPE: a matrix that is not square, a gradient
 *   of another shape; MPNUM_ERROR_STRIDE: the stride of a gradient is below its columns;
 *   MPNUM_ERROR_NULL: no data, a gradient without a loss, or one of column losses
 *   without scratch; MPNUM_ERROR_OVERLAP: arrays that overlap, or a gradient in place
 *   with another type or stride or with MPNUM_SOFTMAX_ACCUMULATE; MPNUM_ERROR_ARGUMENT:
 *   scale not finite or not above 0, factor not finite, an unknown flag or reduction.
 *   Nothing is written then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_contrastive_loss(float *row_loss, float *column_loss, mpnum_matrix gradient,
                       mpnum_const_matrix src, const mpnum_contrastive_options *options) {
  const mpnum_contrastive_options usual = mpnum_contrastive_default();
  const uint64_t saved = mpnum_fenv_save_();
  const size_t n = src.rows;
  mpnum_contrastive_ call;
  mpnum_status status = mpnum_contrastive_begin_(&call, n, options ? options : &usual);
  double sum = 0;
  size_t first = 0;
  if (status == MPNUM_OK)
    status =
        mpnum_contrastive_places_(row_loss, column_loss, gradient, src, call.options);
  call.src = src;
  call.gradient = gradient;
  if (status == MPNUM_OK && column_loss) {
    for (; first < n; first += MPNUM_STRIP_)
      mpnum_column_losses_(&call, column_loss, first,
                           n - first < MPNUM_STRIP_ ? n - first : MPNUM_STRIP_, &sum);
    mpnum_contrastive_end_(&call, column_loss, sum);
  }
  if (status == MPNUM_OK && (row_loss || gradient.data))
    mpnum_contrastive_rows_(&call, row_loss, column_loss != 0);
  if (status == MPNUM_OK && call.options->counted) *call.options->counted = call.counted;
  mpnum_fenv_restore_(saved);
  return status;
}

#endif
MPNUM_C_END_
#endif

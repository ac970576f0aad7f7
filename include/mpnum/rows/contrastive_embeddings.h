/* SPDX-License-Identifier: MIT */
/* Contrastive losses of two sets of embeddings by their cosines, with gradients.
 *
 *     mpnum_contrastive_options options = mpnum_contrastive_default();
 *     options.scale = 1 / temperature;
 *     options.scratch = room; // 4 n floats
 *     mpnum_contrastive_loss_of_embeddings(
 *         losses, mpnum_matrix_of(MPNUM_TYPE_F32, gradients, n, size),
 *         mpnum_matrix_empty(), mpnum_const_matrix_of(MPNUM_TYPE_BF16, images, n, size),
 *         mpnum_const_matrix_of(MPNUM_TYPE_BF16, texts, n, size), &options);
 *
 * One direction: each row of a, the first set, against all rows of b; swap them for the
 * other. Similarities are not stored. Vectors may have any length, from subnormal ones
 * to those whose squares overflow. If memory allows it, a product of matrices and
 * contrastive.h are faster.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3, a and b of one type,
 *   gradients each of its own; matrices must not overlap.
 * NaN: a row with NaN or Inf makes all losses NaN that it is part of.
 * Error: docs/softmax.md. Bits: the same from every instruction set. Host only. */
#ifndef MPNUM_ROWS_CONTRASTIVE_EMBEDDINGS_H
#define MPNUM_ROWS_CONTRASTIVE_EMBEDDINGS_H

#include "contrastive.h"
#include "normalize.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Returns 1 over the length of a row; 0 for a row of zeros. */
MPNUM_HOST double mpnum_inverse_length_(mpnum_const_matrix rows, size_t row) {
  return mpnum_inverse_root_(mpnum_row_total_(mpnum_squares_, rows, row));
}
/* Keeps the inverse lengths of all rows that count in the second half of scratch. */
MPNUM_HOST void mpnum_keep_lengths_(const mpnum_contrastive_ *call,
                                    mpnum_const_matrix rows) {
  float *scratch = call->options->scratch;
  size_t i = 0;
  for (; scratch && i < rows.rows; ++i) {
    double inverse = 0;
    if (mpnum_is_left_out_(call, i)) continue;
    inverse = mpnum_inverse_length_(rows, i);
    MPNUM_MEMCPY_(scratch + 2 * (rows.rows + i), &inverse, sizeof inverse);
  }
}
MPNUM_HOST double mpnum_kept_length_(const mpnum_contrastive_ *call,
                                     mpnum_const_matrix rows, size_t row) {
  const float *scratch = call->options->scratch;
  double inverse = 0;
  if (!scratch) return mpnum_inverse_length_(rows, row);
  MPNUM_MEMCPY_(&inverse, scratch + 2 * (rows.rows + row), sizeof inverse);
  return inverse;
}
/* Returns the cosine of row i of a and row k of b, of any size; 0 if one is zero. */
MPNUM_HOST float mpnum_cosine_(mpnum_const_matrix a, size_t i, double inverse_a,
                               mpnum_const_matrix b, size_t k, double inverse_b) {
  const double product = mpnum_sum_to_odd_(
      mpnum_products_, mpnum_floats_of_(a.type), (size_t)mpnum_type_bits_(a.type) / 8,
      mpnum_rows_at_(a, i, 0), mpnum_rows_at_(b, k, 0), a.columns);
  return (float)mpnum_opt_barrier_f64_(mpnum_opt_barrier_f64_(product * inverse_a) *
                                       inverse_b);
}
/* Returns the loss of a row of a against all rows of b. */
MPNUM_HOST float mpnum_embedding_loss_(const mpnum_contrastive_ *call,
                                       mpnum_const_matrix a, mpnum_const_matrix b,
                                       size_t row) {
  const mpnum_row_steps_ steps = mpnum_row_steps_in_use_();
  const double inverse_a = mpnum_inverse_length_(a, row);
  const float scale = call->options->scale;
  float *scratch = call->options->scratch;
  MPNUM_ALIGNED_ float x[MPNUM_TILE_];
  float max = mpnum_from_bits_f32(0xff800000u), own = 0, loss = 0, inverse = 0;
  double sum = 0;
  mpnum_row_view_ view;
  size_t first = 0, k = 0;
  mpnum_row_view_of_(&view, MPNUM_TYPE_F32);
  view.is_plain = 1;
  view.src = (const uint8_t *)x;
  for (; first < a.rows; first += MPNUM_TILE_) {
    const size_t count = mpnum_tile_size_(a.rows, first);
    float larger = max;
    for (k = 0; k < count; ++k) {
      x[k] = mpnum_from_bits_f32(0xff800000u);
      if (mpnum_is_left_out_(call, first + k)) continue;
      x[k] = mpnum_cosine_(a, row, inverse_a, b, first + k,
                           mpnum_kept_length_(call, b, first + k));
      larger = mpnum_larger_(larger, x[k]);
    }
    if (mpnum_bits_f32(larger) == 0xff800000u) continue;
    if (row - first < count) own = x[row - first];
    sum = mpnum_opt_barrier_f64_(sum * (double)mpnum_rescaled_(1, max, larger, scale));
    (*steps.exp)(&sum, 0, 0, &view, count, larger, scale);
    max = larger;
  }
  loss = mpnum_column_loss_(call, own, &max, sum, &inverse);
  if (scratch) mpnum_set_float_(scratch, row, max);
  if (scratch) mpnum_set_float_(scratch, a.rows + row, inverse);
  return loss;
}
/* Returns the derivative of the losses by the cosine of row i of a and row k of b. */
MPNUM_HOST float mpnum_cosine_gradient_(const mpnum_contrastive_ *call, size_t i,
                                        size_t k, float cosine) {
  const float *scratch = call->options->scratch;
  mpnum_contrast_ how = {1, 0, 0, 0, 0, 0, 0, 0, 0};
  how.max = mpnum_float_at_(scratch, i);
  how.inverse = mpnum_float_at_(scratch, call->src.rows + i);
  how.scale = call->options->scale;
  how.factor = call->factor;
  return mpnum_contrast_of_(&how, 0, cosine, k, i == k);
}
/* Adds x times factor to sums; the products are in range. */
MPNUM_HOST void mpnum_add_times_(double *sums, float *x, size_t n, double factor) {
  const int exponent = (int)(mpnum_bits_f64(factor) >> 52 & 0x7ff) - 1023;
  const int shift = exponent == 1024 ? 0 : exponent > 60 ? 64 : exponent < -60 ? -64 : 0;
  const mpnum_norm_back_ row = {(const uint8_t *)x, 0, 0, x, 0, 0, 1, n};
  if (shift) mpnum_row_scaled_(x, n, mpnum_pow2_(shift));
  mpnum_row_scaled_(x, n,
                    (float)mpnum_opt_barrier_f64_(factor * (double)mpnum_pow2_(-shift)));
  MPNUM_CALL_(norm_sum_rows, (0, sums, &row));
}
/* Writes the gradient of a row of a, or of b if is_second: each other row over its
 * length, times the derivative by the cosine, less the part along the row, over its
 * length. */
MPNUM_HOST void mpnum_embedding_gradient_(const mpnum_contrastive_ *call,
                                          mpnum_matrix dst, mpnum_const_matrix own,
                                          mpnum_const_matrix others, size_t row,
                                          int is_second) {
  const int adds = (call->options->flags & MPNUM_SOFTMAX_ACCUMULATE) != 0;
  const double inverse = mpnum_inverse_length_(own, row);
  MPNUM_ALIGNED_ float x[MPNUM_TILE_];
  double sums[MPNUM_TILE_];
  size_t first = 0, i = 0, k = 0;
  for (; first < own.columns; first += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(own.columns, first);
    uint8_t *to = mpnum_rows_to_(dst, row, first);
    double along = 0;
    for (i = 0; i < n; ++i)
      sums[i] = 0;
    for (k = 0; k < own.rows; ++k) {
      double other = 0;
      float cosine = 0, by_cosine = 0;
      if (mpnum_is_left_out_(call, k)) continue;
      other = mpnum_kept_length_(call, others, k);
      cosine = mpnum_cosine_(own, row, inverse, others, k, other);
      by_cosine = is_second ? mpnum_cosine_gradient_(call, k, row, cosine)
                            : mpnum_cosine_gradient_(call, row, k, cosine);
      along = mpnum_add_f64_(along,
                             mpnum_opt_barrier_f64_((double)by_cosine * (double)cosine));
      mpnum_floats_from_(others.type, x, mpnum_rows_at_(others, k, first), n);
      mpnum_add_times_(sums, x, n, mpnum_opt_barrier_f64_((double)by_cosine * other));
    }
    mpnum_floats_from_(own.type, x, mpnum_rows_at_(own, row, first), n);
    for (i = 0; i < n; ++i) {
      const double unit = mpnum_opt_barrier_f64_((double)x[i] * inverse);
      const double across =
          mpnum_opt_barrier_f64_(sums[i] - mpnum_opt_barrier_f64_(along * unit));
      x[i] = mpnum_canonical_((float)mpnum_opt_barrier_f64_(across * inverse));
    }
    mpnum_row_put_bytes_(dst.type, to, x, n, adds);
  }
}
MPNUM_HOST void mpnum_embedding_gradients_(const mpnum_contrastive_ *call,
                                           mpnum_matrix dst, mpnum_const_matrix own,
                                           mpnum_const_matrix others, int is_second) {
  size_t i = 0;
  for (; i < own.rows; ++i) {
    if (mpnum_is_left_out_(call, i)) {
      mpnum_gradient_fill_(dst, i, call->options->flags);
    } else {
      mpnum_embedding_gradient_(call, dst, own, others, i, is_second);
    }
  }
}
MPNUM_HOST mpnum_status mpnum_embeddings_check_(const mpnum_contrastive_ *call,
                                                const float *loss, mpnum_matrix gradient,
                                                mpnum_const_matrix a,
                                                mpnum_const_matrix b) {
  const size_t count = call->options->reduction == MPNUM_REDUCTION_NONE ? a.rows : 1;
  mpnum_status status = MPNUM_OK;
  if (!gradient.data) return status;
  status = mpnum_rows_check_(gradient, a);
  if (status == MPNUM_OK && !call->options->scratch && a.rows && a.columns)
    status = MPNUM_ERROR_NULL;
  if (status == MPNUM_OK &&
      (mpnum_rows_overlap_(gradient, a) || mpnum_rows_overlap_(gradient, b) ||
       mpnum_floats_overlap_(loss, count, mpnum_rows_read_(gradient))))
    status = MPNUM_ERROR_OVERLAP;
  return status;
}
/* Checks types, shapes and places of the arrays. */
MPNUM_HOST mpnum_status mpnum_embeddings_places_(
    const mpnum_contrastive_ *call, const float *loss, mpnum_matrix gradient_a,
    mpnum_matrix gradient_b, mpnum_const_matrix a, mpnum_const_matrix b) {
  const size_t count = call->options->reduction == MPNUM_REDUCTION_NONE ? a.rows : 1;
  mpnum_status status = mpnum_source_check_(a);
  if (status == MPNUM_OK) status = mpnum_source_check_(b);
  if (status != MPNUM_OK) return status;
  if (a.type != b.type) return MPNUM_ERROR_TYPE;
  if (a.rows != b.rows || a.columns != b.columns) return MPNUM_ERROR_SHAPE;
  status = mpnum_floats_check_(loss, count, a);
  if (status == MPNUM_OK) status = mpnum_floats_check_(loss, count, b);
  if (status == MPNUM_OK) status = mpnum_embeddings_check_(call, loss, gradient_a, a, b);
  if (status == MPNUM_OK) status = mpnum_embeddings_check_(call, loss, gradient_b, a, b);
  if (status == MPNUM_OK && mpnum_rows_overlap_(gradient_a, mpnum_rows_read_(gradient_b)))
    status = MPNUM_ERROR_OVERLAP;
  return status;
}
/* Computes the loss of each row of a against all rows of b: n floats or, with a
 * reduction, one. Gradients are those of a and of b, 0 where a row is zero; either may
 * be mpnum_matrix_empty(), else scratch holds 4 n floats. Without scratch each length is
 * computed anew for each pair, which takes twice the time.
 * Status: as mpnum_contrastive_loss, but matrices need not be square: a and b have one
 *   type and shape, and no two arrays overlap. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_contrastive_loss_of_embeddings(
    float *loss, mpnum_matrix gradient_a, mpnum_matrix gradient_b, mpnum_const_matrix a,
    mpnum_const_matrix b, const mpnum_contrastive_options *options) {
  const mpnum_contrastive_options usual = mpnum_contrastive_default();
  const uint64_t saved = mpnum_fenv_save_();
  mpnum_contrastive_ call;
  mpnum_status status =
      mpnum_contrastive_begin_(&call, a.rows, options ? options : &usual);
  double sum = 0;
  size_t i = 0;
  call.src = a;
  if (status == MPNUM_OK)
    status = mpnum_embeddings_places_(&call, loss, gradient_a, gradient_b, a, b);
  if (status == MPNUM_OK && a.columns == 0) { /* no memory is read */
    a = b = mpnum_const_matrix_of(a.type, &call, loss ? a.rows : 0, 0);
    gradient_a.data = gradient_b.data = 0;
  }
  if (status == MPNUM_OK) mpnum_keep_lengths_(&call, b);
  for (i = 0; status == MPNUM_OK && i < a.rows; ++i)
    mpnum_contrastive_put_(
        &call, loss, i,
        mpnum_is_left_out_(&call, i) ? 0 : mpnum_embedding_loss_(&call, a, b, i), &sum);
  if (status == MPNUM_OK && gradient_a.data)
    mpnum_embedding_gradients_(&call, gradient_a, a, b, 0);
  if (status == MPNUM_OK && gradient_b.data) {
    mpnum_keep_lengths_(&call, a);
    mpnum_embedding_gradients_(&call, gradient_b, b, a, 1);
  }
  if (status == MPNUM_OK) mpnum_contrastive_end_(&call, loss, sum);
  if (status == MPNUM_OK && call.options->counted) *call.options->counted = call.counted;
  mpnum_fenv_restore_(saved);
  return status;
}

#endif
MPNUM_C_END_
#endif

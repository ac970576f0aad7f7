/* SPDX-License-Identifier: MIT */
/* Cross-entropy of rows of logits, its gradient, and contrastive losses.
 *
 *     mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
 *     how.factor = 1.0f / (float)rows;
 *     mpnum_cross_entropy_rows(loss, MPNUM_TYPE_BF16, gradients, n, MPNUM_TYPE_BF16,
 * logits, n, rows, n, targets, &how, NULL);
 *
 * With t and s as in softmax.h the loss of a row is log s - t at its target: never
 * negative, whatever the logits. Its gradient is softmax less 1 at the target, times the
 * softmax scale and the caller's factor, rounded once.
 * Domain: rows of f32, f16, bf16, e5m2 or e4m3; strides count elements. gradient may be
 *   src where both have one type and stride; otherwise arrays do not overlap.
 * Error: docs/softmax.md. Host only. */
#ifndef MPNUM_CROSS_ENTROPY_H
#define MPNUM_CROSS_ENTROPY_H

#include "normalize.h"
#include "softmax.h"

#if MPNUM_HAS_ARRAYS

/* Begin with mpnum_cross_entropy_default(): all zeros mean scale 0, factor 0, class 0
 * ignored. */
typedef struct mpnum_cross_entropy_options {
  mpnum_softmax_options softmax;
  float label_smoothing; /* 0 to 1: what of the target all unmasked classes share */
  float factor; /* of gradients alone; 1 over the rows that count, for their mean */
  int64_t ignore_index; /* rows with this target have loss 0 and gradient 0 */
} mpnum_cross_entropy_options;

/* Nothing smoothed, factor 1, ignore_index -100. */
MPNUM_HOST mpnum_cross_entropy_options mpnum_cross_entropy_default(void) {
  const mpnum_cross_entropy_options options = {mpnum_softmax_default(), 0, 1, -100};
  return options;
}

/* What a row is asked for: its targets, one of these. */
typedef struct mpnum_target_ {
  int64_t index;     /* unless soft is not NULL */
  const float *soft; /* what each element should be */
  float smoothing;
  double weight; /* the sum of soft */
} mpnum_target_;

MPNUM_HOST float mpnum_row_element_(const mpnum_row_ *row, size_t i) {
  float x[1] = {0};
  mpnum_row_decode_(row->type, x, mpnum_row_at_(row->type, row->src, i), 1);
  if (i >= row->count || (row->mask && !row->mask[i]))
    return mpnum_from_bits_f32(0xff800000u);
  return x[0];
}
/* The sum of weights times (log s - t) over a row; weights NULL: over what is not masked,
 * each with 1 over their count. */
MPNUM_HOST float mpnum_soft_loss_(const mpnum_row_ *row, float log_sum, size_t columns,
                                  const float *weights) {
  float buffer[MPNUM_TILE_];
  double sum = 0, count = 0;
  size_t i = 0, k = 0;
  for (; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    const float *x = mpnum_row_tile_(row, i, n, buffer);
    for (k = 0; k < n; ++k) {
      const float element = mpnum_float_at_(x, k);
      const float weight = weights ? mpnum_float_at_(weights, i + k) : 1;
      const float t = mpnum_exponent_(element, row->max, row->scale);
      const int is_out = row->is_masked && mpnum_bits_f32(element) == 0xff800000u;
      if ((mpnum_bits_f32(weight) & 0x7fffffffu) == 0 || (is_out && !weights)) continue;
      sum = mpnum_plus_f64_(
          sum, mpnum_kept_f64_((double)weight * (double)mpnum_minus_scalar_(log_sum, t)));
      count = mpnum_plus_f64_(count, 1);
    }
  }
  for (i = row->count; weights && i < columns; ++i) { /* masked, yet asked for */
    const uint32_t share = mpnum_bits_f32(mpnum_float_at_(weights, i)) & 0x7fffffffu;
    if (share != 0)
      return mpnum_from_bits_f32(share > 0x7f800000u ? 0x7fffffffu : 0x7f800000u);
  }
  return mpnum_canonical_(weights ? (float)sum : (float)mpnum_over_f64_(sum, count));
}
MPNUM_HOST float mpnum_row_loss_(const mpnum_row_ *row, size_t columns,
                                 const mpnum_target_ *target) {
  const float log_sum = mpnum_row_log_sum_(row);
  float loss = 0, t = 0;
  if (target->soft) return mpnum_soft_loss_(row, log_sum, columns, target->soft);
  t = mpnum_exponent_(mpnum_row_element_(row, (size_t)target->index), row->max,
                      row->scale);
  loss = mpnum_minus_scalar_(log_sum, t);
  if (target->smoothing > 0) {
    const float kept = mpnum_minus_scalar_(1, target->smoothing);
    const float spread = mpnum_times_scalar_(target->smoothing,
                                             mpnum_soft_loss_(row, log_sum, columns, 0));
    loss =
        kept > 0 ? mpnum_plus_scalar_(mpnum_times_scalar_(kept, loss), spread) : spread;
  }
  return mpnum_canonical_(loss);
}
/* How many elements of an ordinary row are not masked. */
MPNUM_HOST size_t mpnum_row_unmasked_(const mpnum_row_ *row) {
  float buffer[MPNUM_TILE_];
  size_t count = 0, i = 0, k = 0;
  if (!row->is_masked) return row->count;
  for (; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    const float *x = mpnum_row_tile_(row, i, n, buffer);
    for (k = 0; k < n; ++k)
      count += mpnum_bits_f32(mpnum_float_at_(x, k)) != 0xff800000u;
  }
  return count;
}
MPNUM_HOST void mpnum_row_gradient_(mpnum_row_ *row, mpnum_type dst_type, uint8_t *dst,
                                    size_t columns, const mpnum_target_ *target,
                                    float factor) {
  const float inverse = mpnum_over_scalar_(1, (float)row->sum);
  const float share =
      target->smoothing > 0
          ? mpnum_over_scalar_(target->smoothing, (float)mpnum_row_unmasked_(row))
          : 0;
  const float kept = mpnum_minus_scalar_(1, target->smoothing);
  const mpnum_row_map_ map =
      mpnum_row_map_of_(MPNUM_MAP_GRADIENT_, inverse, share, factor);
  float buffer[MPNUM_TILE_], powers[MPNUM_TILE_];
  size_t i = 0, k = 0;
  for (; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    const float *x = mpnum_row_tile_(row, i, n, buffer);
    (void)mpnum_row_exp_(powers, x, n, row->max, row->scale);
    for (k = 0; target->soft && k < n; ++k) {
      const float p = mpnum_times_scalar_(mpnum_times_scalar_(powers[k], inverse),
                                          (float)target->weight);
      powers[k] = mpnum_canonical_(mpnum_times_scalar_(
          mpnum_minus_scalar_(p, mpnum_float_at_(target->soft, i + k)), factor));
    }
    if (!target->soft) {
      const size_t at = (size_t)target->index - i; /* of the target, if below n */
      const float p = at < n ? mpnum_times_scalar_(powers[at], inverse) : 0;
      mpnum_row_mapped_(map, powers, powers, n);
      if (at < n)
        powers[at] = mpnum_times_scalar_(
            mpnum_minus_scalar_(mpnum_minus_scalar_(p, kept), share), factor);
    }
    if (row->is_masked) {
      for (k = 0; k < n; ++k)
        if (mpnum_bits_f32(mpnum_float_at_(x, k)) == 0xff800000u) powers[k] = 0;
    }
    mpnum_row_encode_(dst_type, mpnum_row_to_(dst_type, dst, i), powers, n);
  }
  mpnum_row_fill_(dst_type, mpnum_row_to_(dst_type, dst, row->count),
                  columns - row->count, 0);
}
/* Loss and gradient of one row of any status. */
MPNUM_HOST void mpnum_cross_entropy_row_(mpnum_row_ *row, float *loss, size_t i,
                                         mpnum_type dst_type, uint8_t *dst,
                                         size_t columns, const mpnum_target_ *target,
                                         float factor) {
  const float nan_result = mpnum_from_bits_f32(0x7fffffffu);
  if (row->status == MPNUM_ROW_OK) {
    mpnum_row_sum_(row, 0);
    mpnum_set_float_(loss, i, mpnum_row_loss_(row, columns, target));
    if (dst) mpnum_row_gradient_(row, dst_type, dst, columns, target, factor);
  } else if (row->status == MPNUM_ROW_EMPTY) {
    mpnum_set_float_(loss, i, mpnum_from_bits_f32(0x7f800000u));
    if (dst) mpnum_row_fill_(dst_type, dst, columns, 0);
  } else {
    mpnum_set_float_(loss, i, nan_result);
    if (dst) mpnum_row_fill_(dst_type, dst, columns, nan_result);
  }
}
MPNUM_HOST mpnum_status mpnum_cross_entropy_check_(
    size_t rows, size_t columns, const int64_t *targets, const float *soft, float factor,
    const mpnum_cross_entropy_options *options) {
  const uint32_t bits = mpnum_bits_f32(options->label_smoothing);
  size_t i = 0;
  if (bits > 0x3f800000u && bits != 0x80000000u) return MPNUM_ERROR_ARGUMENT;
  if ((mpnum_bits_f32(factor) & 0x7fffffffu) >= 0x7f800000u) return MPNUM_ERROR_ARGUMENT;
  if (!targets && (!soft || (bits & 0x7fffffffu) != 0)) return MPNUM_ERROR_ARGUMENT;
  for (; targets && i < rows; ++i)
    if (targets[i] != options->ignore_index &&
        (targets[i] < 0 || (uint64_t)targets[i] >= columns))
      return MPNUM_ERROR_RANGE;
  return MPNUM_OK;
}
MPNUM_HOST mpnum_status mpnum_cross_entropy_(
    float *loss, mpnum_type gradient_type, void *gradient, size_t gradient_stride,
    mpnum_type src_type, const void *src, size_t src_stride, size_t rows, size_t columns,
    const int64_t *targets, const float *soft, size_t soft_stride,
    const mpnum_cross_entropy_options *options, mpnum_row_status *row_status) {
  const mpnum_cross_entropy_options usual = mpnum_cross_entropy_default();
  const mpnum_cross_entropy_options *how = options ? options : &usual;
  const mpnum_type dst_type = gradient ? gradient_type : MPNUM_TYPE_F32;
  mpnum_status status = mpnum_rows_check_(dst_type, gradient ? gradient_stride : columns,
                                          src_type, rows, columns, how->softmax.scale);
  mpnum_target_ target = {0, 0, how->label_smoothing, 1};
  uint64_t saved = 0;
  float factor = 0;
  size_t i = 0, k = 0;
  saved = mpnum_enter_();
  factor = mpnum_times_scalar_(how->factor, how->softmax.scale);
  if (status == MPNUM_OK)
    status = mpnum_cross_entropy_check_(rows, columns, targets, soft, factor, how);
  if (status != MPNUM_OK) rows = 0;
  for (; i < rows; ++i) {
    uint8_t *dst = gradient ? mpnum_row_to_(dst_type, gradient, i * gradient_stride) : 0;
    if (targets && targets[i] == how->ignore_index) {
      mpnum_set_float_(loss, i, 0);
      if (dst) mpnum_row_fill_(dst_type, dst, columns, 0);
      if (row_status) row_status[i] = MPNUM_ROW_IGNORED;
    } else {
      mpnum_row_ row =
          mpnum_row_of_(src_type, src, src_stride, i, columns, &how->softmax);
      if (row_status) row_status[i] = row.status;
      if (targets) {
        target.index = targets[i];
      } else {
        target.soft = soft + i * soft_stride;
        target.smoothing = 0;
        target.weight = 0;
        for (k = 0; k < columns; ++k)
          target.weight =
              mpnum_plus_f64_(target.weight, (double)mpnum_float_at_(target.soft, k));
      }
      mpnum_cross_entropy_row_(&row, loss, i, dst_type, dst, columns, &target, factor);
    }
  }
  mpnum_leave_(saved);
  return status;
}

/* The loss of each row against the index of its class, and its gradient, unless gradient
 * is NULL. A target that is masked, or whose logit is -Inf: +Inf. A row with NaN or +Inf,
 * or all -Inf: NaN; all masked: loss +Inf, gradient 0. With smoothing a the target counts
 * 1 - a, and each class that is not masked a / k, if there are k of them. The gradient of
 * what is masked is 0.
 * Status: as softmax; MPNUM_ERROR_ARGUMENT, too, for a smoothing outside 0 to 1 or a
 *   factor that is not finite; MPNUM_ERROR_RANGE for a target that is no class and not
 *   ignore_index. Nothing is written then. */
MPNUM_HOST mpnum_status mpnum_cross_entropy_rows(
    float *loss, mpnum_type gradient_type, void *gradient, size_t gradient_stride,
    mpnum_type src_type, const void *src, size_t src_stride, size_t rows, size_t columns,
    const int64_t *targets, const mpnum_cross_entropy_options *options,
    mpnum_row_status *row_status) {
  return mpnum_cross_entropy_(loss, gradient_type, gradient, gradient_stride, src_type,
                              src, src_stride, rows, columns, targets, 0, 0, options,
                              row_status);
}
/* The same against a share for each class, in rows of target_stride floats: the sum of
 * share (log s - t), and softmax times the sum of the shares less the shares. A share of
 * 0 asks for nothing, also where the logit is -Inf. Status: as above; a label_smoothing
 * other than 0 is MPNUM_ERROR_ARGUMENT: smooth the shares. */
MPNUM_HOST mpnum_status mpnum_soft_cross_entropy_rows(
    float *loss, mpnum_type gradient_type, void *gradient, size_t gradient_stride,
    mpnum_type src_type, const void *src, size_t src_stride, size_t rows, size_t columns,
    const float *targets, size_t target_stride,
    const mpnum_cross_entropy_options *options, mpnum_row_status *row_status) {
  return mpnum_cross_entropy_(loss, gradient_type, gradient, gradient_stride, src_type,
                              src, src_stride, rows, columns, 0, targets, target_stride,
                              options, row_status);
}

/* Columns done at a time. */
# define MPNUM_STRIP_ 256

/* The loss of an element of a row that was summed in parts. */
MPNUM_HOST float mpnum_loss_of_(float max, double sum, float x, float scale) {
  const mpnum_softmax_state state = {max, (float)sum};
  return mpnum_softmax_loss(state, x, scale);
}
/* Losses of a strip of columns at the diagonal: their largest elements first, then their
 * sums, as doubles. */
MPNUM_HOST void mpnum_column_losses_(float *loss, mpnum_type type, const void *src,
                                     size_t stride, size_t n, size_t first, size_t count,
                                     float scale) {
  float x[MPNUM_STRIP_], max[MPNUM_STRIP_];
  double sums[MPNUM_STRIP_];
  size_t i = 0, k = 0;
  for (k = 0; k < count; ++k) {
    max[k] = mpnum_from_bits_f32(0xff800000u);
    sums[k] = 0;
  }
  for (i = 0; i < n; ++i) {
    mpnum_row_decode_(type, x, mpnum_row_at_(type, src, i * stride + first), count);
    for (k = 0; k < count; ++k)
      max[k] = mpnum_larger_(max[k], x[k]);
  }
  for (i = 0; i < n; ++i) {
    mpnum_row_decode_(type, x, mpnum_row_at_(type, src, i * stride + first), count);
    for (k = 0; k < count; ++k)
      sums[k] = mpnum_plus_f64_(
          sums[k], (double)mpnum_exp_scalar_(mpnum_exponent_(x[k], max[k], scale)));
  }
  for (k = 0; k < count; ++k) {
    const size_t at = first + k;
    mpnum_row_decode_(type, x, mpnum_row_at_(type, src, at * stride + at), 1);
    mpnum_set_float_(loss, at, mpnum_loss_of_(max[k], sums[k], x[0], scale));
  }
}

/* Contrastive loss (InfoNCE; van den Oord, Li, Vinyals 2018) on an n by n matrix of
 * similarities whose diagonal holds the pairs that belong together: the cross-entropy of
 * each row at its diagonal, and of each column, of the similarities times scale, 1 over
 * the temperature. The symmetric loss is the mean of both (Radford et al. 2021). Either
 * result may be NULL.
 * NaN: a row or column with NaN or +Inf. Status: as softmax. */
MPNUM_HOST mpnum_status mpnum_contrastive_loss(float *row_loss, float *column_loss,
                                               mpnum_type src_type, const void *src,
                                               size_t src_stride, size_t n, float scale) {
  const mpnum_status status = mpnum_rows_check_(MPNUM_TYPE_F32, n, src_type, n, n, scale);
  mpnum_softmax_options how = mpnum_softmax_default();
  uint64_t saved = 0;
  size_t i = 0, first = 0;
  if (status != MPNUM_OK) return status;
  how.scale = scale;
  saved = mpnum_enter_();
  for (; row_loss && i < n; ++i) {
    mpnum_row_ row = mpnum_row_of_(src_type, src, src_stride, i, n, &how);
    mpnum_target_ target = {(int64_t)i, 0, 0, 1};
    mpnum_cross_entropy_row_(&row, row_loss, i, MPNUM_TYPE_F32, 0, n, &target, 1);
  }
  for (; column_loss && first < n; first += MPNUM_STRIP_)
    mpnum_column_losses_(column_loss, src_type, src, src_stride, n, first,
                         n - first < MPNUM_STRIP_ ? n - first : MPNUM_STRIP_, scale);
  mpnum_leave_(saved);
  return MPNUM_OK;
}

/* The cosine of two vectors, whatever their size; 0 if one is zero. */
MPNUM_HOST float mpnum_cosine_(mpnum_type type, const void *a, const void *b, size_t n) {
  const double product = mpnum_sum_to_odd_(MPNUM_SUM_PRODUCTS_, type, a, b, n);
  const mpnum_length_ length_a =
      mpnum_length_of_(mpnum_sum_to_odd_(MPNUM_SUM_SQUARES_, type, a, a, n));
  const mpnum_length_ length_b =
      mpnum_length_of_(mpnum_sum_to_odd_(MPNUM_SUM_SQUARES_, type, b, b, n));
  const double unit = mpnum_kept_f64_(mpnum_kept_f64_(product * length_a.inverse_power) *
                                      length_b.inverse_power);
  return mpnum_over_scalar_(mpnum_over_scalar_((float)unit, length_a.root),
                            length_b.root);
}
/* The same from two sets of n embeddings of size elements each, by their cosines: the
 * loss of each of a against all of b. For the other direction swap a and b. */
MPNUM_HOST mpnum_status mpnum_contrastive_loss_of_embeddings(
    float *loss, mpnum_type type, const void *a, size_t a_stride, const void *b,
    size_t b_stride, size_t n, size_t size, float scale) {
  const mpnum_status status = mpnum_rows_check_(type, n, type, n, n, scale);
  uint64_t saved = 0;
  size_t i = 0, k = 0, first = 0;
  if (status != MPNUM_OK) return status;
  saved = mpnum_enter_();
  for (; i < n; ++i) {
    const uint8_t *row = mpnum_row_at_(type, a, i * a_stride);
    float x[MPNUM_TILE_], max = mpnum_from_bits_f32(0xff800000u), own = 0;
    double sum = 0;
    for (first = 0; first < n; first += MPNUM_TILE_) {
      const size_t count = mpnum_tile_size_(n, first);
      float larger = max;
      for (k = 0; k < count; ++k) {
        x[k] = mpnum_cosine_(type, row, mpnum_row_at_(type, b, (first + k) * b_stride),
                             size);
        larger = mpnum_larger_(larger, x[k]);
      }
      if (i - first < count) own = x[i - first];
      sum = mpnum_kept_f64_(sum * (double)mpnum_rescaled_(1, max, larger, scale));
      sum = mpnum_plus_f64_(sum, (double)mpnum_row_exp_(0, x, count, larger, scale));
      max = larger;
    }
    mpnum_set_float_(loss, i, mpnum_loss_of_(max, sum, own, scale));
  }
  mpnum_leave_(saved);
  return MPNUM_OK;
}

#endif
#endif

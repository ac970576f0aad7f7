/* SPDX-License-Identifier: MIT */
/* Cross-entropy of rows of logits, its gradient, and contrastive losses.
 *
 *     mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
 *     options.factor = 1.0f / (float)rows;
 *     mpnum_cross_entropy_rows(loss, mpnum_rows_of(MPNUM_TYPE_BF16, gradients, rows, n),
 *                              mpnum_const_rows_of(MPNUM_TYPE_BF16, logits, rows, n),
 *                              targets, &options, NULL);
 *
 * With t and s as in softmax.h the loss of a row is log s - t at its target: never
 * negative, whatever the logits. Its gradient is softmax less 1 at the target, times the
 * softmax scale and the caller's factor, rounded once.
 * Domain: rows (rows.h) of f32, f16, bf16, e5m2 or e4m3, data and floats at any address.
 *   gradient has as many rows and columns as src, and may be src where both have one type
 *   and stride; mpnum_rows_none() where nobody wants it. Otherwise arrays do not overlap.
 * Error: docs/softmax.md. Host only. */
#ifndef MPNUM_CROSS_ENTROPY_H
#define MPNUM_CROSS_ENTROPY_H

#include "normalize.h"
#include "rows.h"
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
  const float *soft; /* what each element should be, none below 0 */
  float smoothing;
  double weight; /* the sum of soft */
} mpnum_target_;

MPNUM_HOST float mpnum_row_element_(const mpnum_row_ *row, size_t i) {
  float x[1] = {0};
  mpnum_floats_from_(row->src.type, x, mpnum_rows_at_(row->src, row->number, i), 1);
  if (i >= row->count || (row->mask && !row->mask[i]))
    return mpnum_from_bits_f32(0xff800000u);
  return x[0];
}
/* The sum of weights times (log s - t) over a row; weights NULL: over what is not masked,
 * each with 1 over their count. */
MPNUM_HOST float mpnum_soft_loss_(const mpnum_row_ *row, float log_sum,
                                  const float *weights) {
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_];
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
      if (mpnum_is_zero_u31_(mpnum_bits_f32(weight) & 0x7fffffffu) ||
          (is_out && !weights))
        continue;
      sum = mpnum_add_f64_(
          sum,
          mpnum_opt_barrier_f64_((double)weight * (double)mpnum_sub_scalar_(log_sum, t)));
      count = mpnum_add_f64_(count, 1);
    }
  }
  for (i = row->count; weights && i < row->src.columns; ++i) /* masked, yet asked for */
    if (!mpnum_is_zero_u31_(mpnum_bits_f32(mpnum_float_at_(weights, i)) & 0x7fffffffu))
      return mpnum_from_bits_f32(0x7f800000u);
  return mpnum_canonical_(weights ? (float)sum : (float)mpnum_div_f64_(sum, count));
}
MPNUM_HOST float mpnum_row_loss_(const mpnum_row_ *row, const mpnum_target_ *target) {
  const float log_sum = mpnum_row_log_sum_(row);
  float loss = 0, t = 0;
  if (target->soft) return mpnum_soft_loss_(row, log_sum, target->soft);
  t = mpnum_exponent_(mpnum_row_element_(row, (size_t)target->index), row->max,
                      row->scale);
  loss = mpnum_sub_scalar_(log_sum, t);
  if (target->smoothing > 0) {
    const float kept = mpnum_sub_scalar_(1, target->smoothing);
    const float spread =
        mpnum_mul_scalar_(target->smoothing, mpnum_soft_loss_(row, log_sum, 0));
    loss = kept > 0 ? mpnum_add_scalar_(mpnum_mul_scalar_(kept, loss), spread) : spread;
  }
  return mpnum_canonical_(loss);
}
/* How many elements of an ordinary row are not masked. */
MPNUM_HOST size_t mpnum_row_unmasked_(const mpnum_row_ *row) {
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_];
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
MPNUM_HOST void mpnum_row_gradient_(const mpnum_row_ *row, mpnum_rows dst,
                                    const mpnum_target_ *target, float factor) {
  const float inverse = mpnum_div_scalar_(1, (float)row->sum);
  const float share =
      target->smoothing > 0
          ? mpnum_div_scalar_(target->smoothing, (float)mpnum_row_unmasked_(row))
          : 0;
  const float kept = mpnum_sub_scalar_(1, target->smoothing);
  const mpnum_row_map_ map =
      mpnum_row_map_of_(MPNUM_MAP_GRADIENT_, inverse, share, factor);
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_], powers[MPNUM_TILE_];
  size_t i = 0, k = 0;
  for (; i < row->count; i += MPNUM_TILE_) {
    const size_t n = mpnum_tile_size_(row->count, i);
    const float *x = mpnum_row_tile_(row, i, n, buffer);
    (void)mpnum_row_exp_(powers, x, n, row->max, row->scale);
    for (k = 0; target->soft && k < n; ++k) {
      const float p =
          mpnum_mul_scalar_(mpnum_mul_scalar_(powers[k], inverse), (float)target->weight);
      powers[k] = mpnum_canonical_(mpnum_mul_scalar_(
          mpnum_sub_scalar_(p, mpnum_float_at_(target->soft, i + k)), factor));
    }
    if (!target->soft) {
      const size_t at = (size_t)target->index - i; /* of the target, if below n */
      const float p = at < n ? mpnum_mul_scalar_(powers[at], inverse) : 0;
      mpnum_row_mapped_(map, powers, powers, n);
      if (at < n)
        powers[at] = mpnum_mul_scalar_(
            mpnum_sub_scalar_(mpnum_sub_scalar_(p, kept), share), factor);
    }
    if (row->is_masked) {
      for (k = 0; k < n; ++k)
        if (mpnum_bits_f32(mpnum_float_at_(x, k)) == 0xff800000u) powers[k] = 0;
    }
    mpnum_floats_to_(dst.type, mpnum_rows_to_(dst, row->number, i), powers, n);
  }
  mpnum_rows_fill_(dst, row->number, row->count, 0);
}
/* The same loss and gradient for a whole row, unless nobody wants the gradient. */
MPNUM_HOST void mpnum_cross_entropy_fill_(float *loss, mpnum_rows dst, size_t row,
                                          float row_loss, float gradient) {
  mpnum_set_float_(loss, row, row_loss);
  if (dst.data) mpnum_rows_fill_(dst, row, 0, gradient);
}
/* Loss and gradient of one row of any status. */
MPNUM_HOST void mpnum_cross_entropy_row_(mpnum_row_ *row, float *loss, mpnum_rows dst,
                                         const mpnum_target_ *target, float factor) {
  const float nan_result = mpnum_from_bits_f32(0x7fffffffu);
  const float inf_result = mpnum_from_bits_f32(0x7f800000u);
  const int is_sane = (mpnum_bits_f64(target->weight) >> 52 & 0x7ff) != 0x7ff;
  if (is_sane && row->status == MPNUM_ROW_OK) {
    mpnum_row_sum_(row, 0);
    mpnum_set_float_(loss, row->number, mpnum_row_loss_(row, target));
    if (dst.data) mpnum_row_gradient_(row, dst, target, factor);
  } else if (is_sane && row->status == MPNUM_ROW_EMPTY) {
    mpnum_cross_entropy_fill_(loss, dst, row->number, inf_result, 0);
  } else {
    mpnum_cross_entropy_fill_(loss, dst, row->number, nan_result, nan_result);
  }
}
/* The shares of a row as what it is asked for. */
MPNUM_HOST void mpnum_target_of_shares_(mpnum_target_ *target, mpnum_const_rows shares,
                                        size_t row) {
  size_t k = 0;
  target->soft = (const float *)(const void *)mpnum_rows_at_(shares, row, 0);
  target->smoothing = 0;
  target->weight = 0;
  for (; k < shares.columns; ++k)
    target->weight =
        mpnum_add_f64_(target->weight, (double)mpnum_float_at_(target->soft, k));
}
MPNUM_HOST mpnum_status mpnum_shares_check_(mpnum_const_rows shares,
                                            mpnum_const_rows src) {
  size_t i = 0, k = 0;
  if (!shares.data || shares.type != MPNUM_TYPE_F32 || shares.rows != src.rows ||
      shares.columns != src.columns)
    return MPNUM_ERROR_ARGUMENT;
  for (; i < shares.rows; ++i)
    for (k = 0; k < shares.columns; ++k) {
      uint32_t bits = 0;
      MPNUM_MEMCPY_(&bits, mpnum_rows_at_(shares, i, k), sizeof bits);
      if (bits > 0x80000000u && bits <= 0xff800000u) return MPNUM_ERROR_ARGUMENT;
    }
  return MPNUM_OK;
}
MPNUM_HOST mpnum_status mpnum_cross_entropy_check_(
    mpnum_rows gradient, mpnum_const_rows src, const int64_t *targets,
    mpnum_const_rows shares, float factor, const mpnum_cross_entropy_options *options) {
  const uint32_t bits = mpnum_bits_f32(options->label_smoothing);
  mpnum_status status = mpnum_softmax_check_(src, &options->softmax);
  size_t i = 0;
  if (gradient.data && mpnum_rows_check_(gradient, src) != MPNUM_OK)
    return MPNUM_ERROR_ARGUMENT;
  if (bits > 0x3f800000u && bits != 0x80000000u) return MPNUM_ERROR_ARGUMENT;
  if ((mpnum_bits_f32(factor) & 0x7fffffffu) >= 0x7f800000u) return MPNUM_ERROR_ARGUMENT;
  if (!targets && !mpnum_is_zero_u31_(bits & 0x7fffffffu)) return MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK && !targets) status = mpnum_shares_check_(shares, src);
  if (status != MPNUM_OK) return status;
  for (; targets && i < src.rows; ++i)
    if (targets[i] != options->ignore_index &&
        (targets[i] < 0 || (uint64_t)targets[i] >= src.columns))
      return MPNUM_ERROR_RANGE;
  return MPNUM_OK;
}
/* Against targets, or, where these are NULL, shares. */
MPNUM_HOST mpnum_status mpnum_cross_entropy_(float *loss, mpnum_rows gradient,
                                             mpnum_const_rows src, const int64_t *targets,
                                             mpnum_const_rows shares,
                                             const mpnum_cross_entropy_options *options,
                                             mpnum_row_status *row_status) {
  const mpnum_cross_entropy_options usual = mpnum_cross_entropy_default();
  const mpnum_cross_entropy_options *chosen = options ? options : &usual;
  const uint64_t saved = mpnum_fenv_save_();
  const float factor = mpnum_mul_scalar_(chosen->factor, chosen->softmax.scale);
  const mpnum_status status =
      mpnum_cross_entropy_check_(gradient, src, targets, shares, factor, chosen);
  mpnum_target_ target = {0, 0, chosen->label_smoothing, 1};
  size_t i = 0;
  for (; status == MPNUM_OK && i < src.rows; ++i) {
    mpnum_row_ row;
    if (targets && targets[i] == chosen->ignore_index) {
      mpnum_cross_entropy_fill_(loss, gradient, i, 0, 0);
      if (row_status) row_status[i] = MPNUM_ROW_IGNORED;
      continue;
    }
    mpnum_row_begin_(&row, src, i, &chosen->softmax);
    if (row_status) row_status[i] = row.status;
    if (targets) {
      target.index = targets[i];
    } else {
      mpnum_target_of_shares_(&target, shares, i);
    }
    mpnum_cross_entropy_row_(&row, loss, gradient, &target, factor);
  }
  mpnum_fenv_restore_(saved);
  return status;
}

/* The loss of each row against the index of its class, and its gradient. A target that is
 * masked, or whose logit is -Inf: +Inf. A row with NaN or +Inf, or all -Inf: NaN; all
 * masked: loss +Inf, gradient 0. With smoothing a the target counts 1 - a, and each class
 * that is not masked a / k, if there are k of them; with smoothing 1 the target counts 0,
 * so that the loss is finite where it is masked, too. The gradient of what is masked is
 * 0. Status: as softmax; MPNUM_ERROR_ARGUMENT, too, for a smoothing outside 0 to 1 or a
 *   factor that is not finite; MPNUM_ERROR_RANGE for a target that is no class and not
 *   ignore_index. Nothing is written then. */
MPNUM_HOST mpnum_status mpnum_cross_entropy_rows(
    float *loss, mpnum_rows gradient, mpnum_const_rows src, const int64_t *targets,
    const mpnum_cross_entropy_options *options, mpnum_row_status *row_status) {
  const mpnum_const_rows shares = mpnum_const_rows_of(MPNUM_TYPE_F32, 0, 0, 0);
  return mpnum_cross_entropy_(loss, gradient, src, targets, shares, options, row_status);
}
/* The same against a share for each class, as many rows of floats as src has: the sum of
 * share (log s - t), and softmax times the sum of the shares less the shares. A share of
 * 0 asks for nothing, also where the logit is -Inf or masked; another one of what is
 * masked costs +Inf. A share that is NaN or +Inf, masked or not, makes loss and gradient
 * of its row NaN. row_status is that of the logits.
 * Status: as above; MPNUM_ERROR_ARGUMENT, too, for a share below 0, targets of another
 *   type or shape, and a label_smoothing other than 0: smooth the shares. */
MPNUM_HOST mpnum_status mpnum_soft_cross_entropy_rows(
    float *loss, mpnum_rows gradient, mpnum_const_rows src, mpnum_const_rows targets,
    const mpnum_cross_entropy_options *options, mpnum_row_status *row_status) {
  return mpnum_cross_entropy_(loss, gradient, src, 0, targets, options, row_status);
}

/* Columns done at a time. */
# define MPNUM_STRIP_ 256

/* The loss of an element of a row that was summed in parts; NaN where all are -Inf, as
 * none is masked. */
MPNUM_HOST_INLINE_ float mpnum_loss_of_(float max, double sum, float x, float scale) {
  const mpnum_softmax_state state = {max, (float)sum};
  if (mpnum_bits_f32(max) == 0xff800000u) return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_softmax_loss(state, x, scale);
}
/* Losses of a strip of columns at the diagonal: their largest elements first, then their
 * sums, as doubles. */
MPNUM_HOST void mpnum_column_losses_(float *loss, mpnum_const_rows src, size_t first,
                                     size_t count, float scale) {
  float x[MPNUM_STRIP_], max[MPNUM_STRIP_];
  double sums[MPNUM_STRIP_];
  size_t i = 0, k = 0;
  for (k = 0; k < count; ++k) {
    max[k] = mpnum_from_bits_f32(0xff800000u);
    sums[k] = 0;
  }
  for (i = 0; i < src.rows; ++i) {
    mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, i, first), count);
    for (k = 0; k < count; ++k)
      max[k] = mpnum_larger_(max[k], x[k]);
  }
  for (i = 0; i < src.rows; ++i) {
    mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, i, first), count);
    for (k = 0; k < count; ++k)
      sums[k] = mpnum_add_f64_(
          sums[k], (double)mpnum_exp_scalar_(mpnum_exponent_(x[k], max[k], scale)));
  }
  for (k = 0; k < count; ++k) {
    const size_t at = first + k;
    mpnum_floats_from_(src.type, x, mpnum_rows_at_(src, at, at), 1);
    mpnum_set_float_(loss, at, mpnum_loss_of_(max[k], sums[k], x[0], scale));
  }
}

/* Contrastive loss (InfoNCE; van den Oord, Li, Vinyals 2018) on a square matrix of
 * similarities whose diagonal holds the pairs that belong together: the cross-entropy of
 * each row at its diagonal, and of each column, of the similarities times scale, 1 over
 * the temperature. The symmetric loss is the mean of both (Radford et al. 2021). Either
 * result may be NULL.
 * NaN: a row or column with NaN or +Inf, or all -Inf. Status: MPNUM_ERROR_ARGUMENT for
 *   another type, a matrix that is not square, a scale that is negative or not finite. */
MPNUM_HOST mpnum_status mpnum_contrastive_loss(float *row_loss, float *column_loss,
                                               mpnum_const_rows src, float scale) {
  mpnum_softmax_options options = mpnum_softmax_default();
  const size_t n = src.rows;
  uint64_t saved = 0;
  size_t i = 0, first = 0;
  options.scale = scale;
  if (src.columns != n || mpnum_softmax_check_(src, &options) != MPNUM_OK)
    return MPNUM_ERROR_ARGUMENT;
  saved = mpnum_fenv_save_();
  for (; row_loss && i < n; ++i) {
    const mpnum_target_ target = {(int64_t)i, 0, 0, 1};
    mpnum_row_ row;
    mpnum_row_begin_(&row, src, i, &options);
    mpnum_cross_entropy_row_(&row, row_loss, mpnum_rows_none(), &target, 1);
  }
  for (; column_loss && first < n; first += MPNUM_STRIP_)
    mpnum_column_losses_(column_loss, src, first,
                         n - first < MPNUM_STRIP_ ? n - first : MPNUM_STRIP_, scale);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* The cosine of row i of a and row k of b, whatever their size; 0 if one is zero. */
MPNUM_HOST float mpnum_cosine_(mpnum_const_rows a, size_t i, mpnum_const_rows b,
                               size_t k) {
  const double product = mpnum_sum_to_odd_(
      mpnum_products_, mpnum_floats_of_(a.type), (size_t)mpnum_type_bits_(a.type) / 8,
      mpnum_rows_at_(a, i, 0), mpnum_rows_at_(b, k, 0), a.columns);
  const double inverse_a = mpnum_inverse_root_(mpnum_row_total_(mpnum_squares_, a, i));
  const double inverse_b = mpnum_inverse_root_(mpnum_row_total_(mpnum_squares_, b, k));
  return (float)mpnum_opt_barrier_f64_(mpnum_opt_barrier_f64_(product * inverse_a) *
                                       inverse_b);
}
/* The same from two sets of embeddings, a row each, by their cosines: the loss of each of
 * a against all of b. For the other direction swap a and b. Status: MPNUM_ERROR_ARGUMENT,
 * too, where a and b differ in type, rows or columns. */
MPNUM_HOST mpnum_status mpnum_contrastive_loss_of_embeddings(float *loss,
                                                             mpnum_const_rows a,
                                                             mpnum_const_rows b,
                                                             float scale) {
  const size_t n = a.rows;
  uint64_t saved = 0;
  size_t i = 0, k = 0, first = 0;
  if (a.type != b.type || n != b.rows || a.columns != b.columns ||
      !mpnum_has_rows_(a.type) || !mpnum_is_factor_(scale))
    return MPNUM_ERROR_ARGUMENT;
  saved = mpnum_fenv_save_();
  for (; i < n; ++i) {
    MPNUM_ALIGNED_ float x[MPNUM_TILE_];
    float max = mpnum_from_bits_f32(0xff800000u), own = 0;
    double sum = 0;
    for (first = 0; first < n; first += MPNUM_TILE_) {
      const size_t count = mpnum_tile_size_(n, first);
      float larger = max;
      for (k = 0; k < count; ++k) {
        x[k] = mpnum_cosine_(a, i, b, first + k);
        larger = mpnum_larger_(larger, x[k]);
      }
      if (i - first < count) own = x[i - first];
      sum = mpnum_opt_barrier_f64_(sum * (double)mpnum_rescaled_(1, max, larger, scale));
      sum = mpnum_add_f64_(sum, (double)mpnum_row_exp_(0, x, count, larger, scale));
      max = larger;
    }
    mpnum_set_float_(loss, i, mpnum_loss_of_(max, sum, own, scale));
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
#endif

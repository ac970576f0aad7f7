/* SPDX-License-Identifier: MIT */
/* Cross-entropy of rows of logits, and its gradient.
 *
 *     mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
 *     options.factor = 1.0f / (float)rows;
 *     mpnum_cross_entropy_rows(loss,
 *                              mpnum_matrix_of(MPNUM_TYPE_BF16, gradients, rows, n),
 *                              mpnum_const_matrix_of(MPNUM_TYPE_BF16, logits, rows, n),
 *                              targets, &options, NULL);
 *
 * With t and s as in softmax.h, the loss of a row is log s - t at its target. It is
 * never negative, whatever the logits. The gradient is softmax, less 1 at the target,
 * times the softmax scale and the caller's factor, rounded once. With a cap
 * (softmax_cap.h) t is that of the capped logit, and the gradient, a float, is multiplied
 * by the derivative of tanh there, rounded once more.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3, data and floats at any
 *   address. gradient has the shape of src and may be src if both have the same type and
 *   stride; mpnum_matrix_empty() if it is not wanted. Otherwise arrays must not overlap.
 * Error: docs/softmax.md. Bits: as softmax.h. Host only. */
#ifndef MPNUM_ROWS_CROSS_ENTROPY_H
#define MPNUM_ROWS_CROSS_ENTROPY_H

#include "normalize.h"
#include "../array/matrix.h"
#include "softmax.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* How the losses of the rows are combined. */
typedef enum mpnum_reduction {
  MPNUM_REDUCTION_NONE = 0, /* one float for each row */
  MPNUM_REDUCTION_SUM = 1,  /* one float: the sum, added as doubles, rounded once */
  MPNUM_REDUCTION_MEAN =
      2 /* one float: the sum over the number of rows that count; NaN if none does */
} mpnum_reduction;

/* Begin with mpnum_cross_entropy_default(): all zeros are refused because the scale is
 * 0. With MPNUM_SOFTMAX_ACCUMULATE among the flags of softmax, gradients are added to
 * what gradient holds. */
typedef struct mpnum_cross_entropy_options {
  mpnum_softmax_options softmax;
  float label_smoothing; /* 0 to 1: the share of the target that all unmasked classes
                            divide */
  float factor; /* multiplies gradients alone; for the gradient of the mean, 1 over the
                   number of rows that count */
  int64_t ignore_index; /* rows with this target have loss 0 and gradient 0 */
  mpnum_reduction
      reduction;   /* with MPNUM_REDUCTION_MEAN gradients are those of the mean */
  size_t *counted; /* NULL, or receives the number of rows that are not ignored */
} mpnum_cross_entropy_options;

/* Returns no smoothing, factor 1, ignore_index -100. */
MPNUM_HOST mpnum_cross_entropy_options mpnum_cross_entropy_default(void) {
  const mpnum_cross_entropy_options options = {mpnum_softmax_default(), 0, 1, -100,
                                               MPNUM_REDUCTION_NONE,    0};
  return options;
}

/* The target of a row: one of these. */
typedef struct mpnum_target_ {
  int64_t index;     /* the class, if soft is NULL */
  const float *soft; /* the share of each class, none below 0 */
  float smoothing;
  double weight; /* the sum of soft */
} mpnum_target_;

/* Returns the sum of share (log s - t) over a row. Without shares, every unmasked class
 * has 1 over their count, and the count is returned, too. */
MPNUM_HOST float mpnum_soft_loss_(const mpnum_row_ *row, float log_sum,
                                  const float *shares, double *count) {
  mpnum_row_loss_ loss = {0, 0, 0, 0, 0, 0, 0};
  size_t i = row->count;
  loss.max = row->max;
  loss.scale = row->scale;
  loss.log_sum = log_sum;
  loss.shares = shares;
  loss.is_masked = row->is_masked;
  mpnum_row_loss_of_(&loss, &row->view, row->count);
  *count = loss.count;
  for (; shares && i < row->src.columns; ++i) /* masked, but with a share */
    if (!mpnum_iszero_u31_(mpnum_bits_f32(mpnum_float_at_(shares, i)) & 0x7fffffffu))
      return mpnum_from_bits_f32(0x7f800000u);
  return mpnum_canonical_(shares ? (float)loss.sum
                                 : (float)mpnum_div_f64_(loss.sum, loss.count));
}
/* Returns the loss of a row whose target has the exponent t. */
MPNUM_HOST float mpnum_target_loss_(const mpnum_row_ *row, const mpnum_target_ *target,
                                    float t, double *unmasked) {
  const float log_sum = mpnum_row_log_sum_(row);
  float loss = 0;
  *unmasked = 1;
  if (target->soft) return mpnum_soft_loss_(row, log_sum, target->soft, unmasked);
  loss = mpnum_sub_scalar_(log_sum, t);
  if (target->smoothing > 0) {
    const float kept = mpnum_sub_scalar_(1, target->smoothing);
    const float spread =
        mpnum_mul_scalar_(target->smoothing, mpnum_soft_loss_(row, log_sum, 0, unmasked));
    loss = kept > 0 ? mpnum_add_scalar_(mpnum_mul_scalar_(kept, loss), spread) : spread;
  }
  return mpnum_canonical_(loss);
}
/* Writes the gradient of a row that has unmasked elements; e^t may have been kept,
 * unless some are masked. t is the exponent of the target; is_out says that the target
 * is masked, as an exponent of -Inf may also be the distance of two floats. */
MPNUM_HOST void mpnum_row_gradient_(const mpnum_row_ *row, const mpnum_row_type_ *type,
                                    mpnum_matrix dst, const mpnum_target_ *target,
                                    float factor, double unmasked, float t, int is_out,
                                    const mpnum_row_kept_ *kept) {
  uint8_t *to = mpnum_rows_to_(dst, row->number, 0);
  const size_t at = (size_t)target->index;
  const int adds = (row->options->flags & MPNUM_SOFTMAX_ACCUMULATE) != 0;
  const float before = target->soft || !adds ? 0 : mpnum_row_float_(type, to, at);
  float x = 0; /* at the target, which may lie where the gradient goes */
  mpnum_row_map_ map = {MPNUM_MAP_GRADIENT_, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  if (row->view.cap && !target->soft)
    x = mpnum_row_float_(&row->view.type, row->view.src, at);
  map.has_powers = !kept->all;
  map.is_masked = row->is_masked;
  map.adds = adds;
  map.max = row->max;
  map.scale = row->scale;
  map.a = mpnum_div_scalar_(1, (float)row->sum);
  map.c = factor;
  if (target->soft) {
    map.kind = MPNUM_MAP_SHARES_;
    map.b = (float)target->weight;
    map.shares = target->soft;
  } else if (target->smoothing > 0) {
    map.b = mpnum_div_scalar_(target->smoothing, (float)unmasked);
  }
  mpnum_row_write_(row, &map, type, dst, kept);
  if (!target->soft && at < row->count && !is_out) {
    const float p = mpnum_mul_scalar_(mpnum_exp_of_negative_scalar_(t), map.a);
    const float hit = mpnum_sub_scalar_(1, target->smoothing);
    float own =
        mpnum_mul_scalar_(mpnum_sub_scalar_(mpnum_sub_scalar_(p, hit), map.b), factor);
    if (row->view.cap) {
      (*row->view.cap)(&x, &own, 1, row->view.cap_factor);
      own = x;
    }
    mpnum_row_set_(type, to, at,
                   adds ? mpnum_canonical_(mpnum_add_scalar_(before, own)) : own);
  }
  if (!adds) mpnum_rows_fill_(dst, row->number, row->count, 0);
}
/* Fills the gradient of a row that is left out with 0, unless it is not wanted. */
MPNUM_HOST void mpnum_gradient_fill_(mpnum_matrix dst, size_t row, int flags) {
  if (dst.data && !(flags & MPNUM_SOFTMAX_ACCUMULATE)) mpnum_rows_fill_(dst, row, 0, 0);
}
/* Writes the gradient of a row that is not ordinary, unless it is not wanted: NaN, and 0
 * for masked elements. */
MPNUM_HOST_COLD_ void mpnum_gradient_special_(const mpnum_row_ *row,
                                              const mpnum_row_type_ *type,
                                              mpnum_matrix dst) {
  const float nan_result = mpnum_from_bits_f32(0x7fffffffu);
  const int adds = (row->options->flags & MPNUM_SOFTMAX_ACCUMULATE) != 0;
  const size_t count = row->is_masked ? row->count : 0;
  uint8_t *to = 0;
  size_t i = 0;
  if (!dst.data) return;
  to = mpnum_rows_to_(dst, row->number, 0);
  for (; i < count; ++i) {
    const int is_out = mpnum_bits_f32(mpnum_row_element_(row, i)) == 0xff800000u;
    float gradient = is_out ? 0 : nan_result;
    if (adds)
      gradient =
          mpnum_canonical_(mpnum_add_scalar_(mpnum_row_float_(type, to, i), gradient));
    mpnum_row_set_(type, to, i, gradient);
  }
  if (!row->is_masked) {
    mpnum_rows_fill_(dst, row->number, 0, nan_result);
  } else if (!adds) {
    mpnum_rows_fill_(dst, row->number, count, 0);
  }
}
/* Computes the loss and the gradient of an ordinary row. e^t is kept if all of them fit
 * and nothing that is read later lies there. */
MPNUM_HOST float mpnum_cross_entropy_usual_(mpnum_row_ *row, const mpnum_row_type_ *type,
                                            mpnum_matrix dst, const mpnum_target_ *target,
                                            float factor) {
  const int reads_later = target->soft || target->smoothing > 0;
  const int may_keep = dst.data && !row->is_masked && !row->view.cap &&
                       !(row->options->flags & MPNUM_SOFTMAX_ACCUMULATE);
  const int is_in_place = dst.data == row->src.data;
  MPNUM_ALIGNED_ float buffer[MPNUM_TILE_ + MPNUM_SUM_LANES_];
  mpnum_row_kept_ kept;
  double unmasked = 0;
  float t = 0, loss = 0;
  int is_out = 0;
  mpnum_row_keep_(&kept, row, type, dst, buffer,
                  may_keep && !(is_in_place && reads_later));
  if (!target->soft) {
    const float x = mpnum_row_element_(row, (size_t)target->index);
    is_out = row->is_masked && mpnum_bits_f32(x) == 0xff800000u;
    t = mpnum_exponent_(x, row->max, row->scale);
  }
  mpnum_row_sum_(row, &kept);
  loss = mpnum_target_loss_(row, target, t, &unmasked);
  if (dst.data)
    mpnum_row_gradient_(row, type, dst, target, factor, unmasked, t, is_out, &kept);
  return loss;
}
/* Computes loss and gradient of one row of any status. */
MPNUM_HOST float mpnum_cross_entropy_row_(mpnum_row_ *row, const mpnum_row_type_ *type,
                                          mpnum_matrix dst, const mpnum_target_ *target,
                                          float factor) {
  const int is_sane = (mpnum_bits_f64(target->weight) >> 52 & 0x7ff) != 0x7ff;
  if (is_sane && row->status == MPNUM_ROW_OK)
    return mpnum_cross_entropy_usual_(row, type, dst, target, factor);
  mpnum_gradient_special_(row, type, dst);
  return mpnum_from_bits_f32(is_sane && row->status == MPNUM_ROW_EMPTY ? 0x7f800000u
                                                                       : 0x7fffffffu);
}
/* Makes a target of the shares of a row. */
MPNUM_HOST void mpnum_target_of_shares_(mpnum_target_ *target, mpnum_const_matrix shares,
                                        size_t row) {
  target->soft = (const float *)(const void *)mpnum_rows_at_(shares, row, 0);
  target->smoothing = 0;
  target->weight = mpnum_row_total_(mpnum_values_, shares, row);
}
MPNUM_HOST_COLD_ mpnum_status mpnum_shares_check_(mpnum_const_matrix shares,
                                                  mpnum_const_matrix src) {
  size_t i = 0, k = 0;
  if (shares.type != MPNUM_TYPE_F32) return MPNUM_ERROR_TYPE;
  if (shares.rows != src.rows || shares.columns != src.columns) return MPNUM_ERROR_SHAPE;
  if (!shares.data && src.rows && src.columns) return MPNUM_ERROR_NULL;
  for (; i < shares.rows; ++i)
    for (k = 0; k < shares.columns; ++k) {
      uint32_t bits = 0;
      MPNUM_MEMCPY_(&bits, mpnum_rows_at_(shares, i, k), sizeof bits);
      if (bits > 0x80000000u && bits <= 0xff800000u) return MPNUM_ERROR_ARGUMENT;
    }
  return MPNUM_OK;
}
/* Classes of 64 or 32 bits, or shares. */
typedef struct mpnum_targets_ {
  int has_classes;
  const int64_t *wide;
  const int32_t *narrow;
  mpnum_const_matrix shares;
} mpnum_targets_;
MPNUM_HOST_INLINE_ int64_t mpnum_class_(const mpnum_targets_ *targets, size_t row) {
  return targets->wide ? targets->wide[row] : targets->narrow[row];
}
/* Checks types, shapes and places of the arrays. */
MPNUM_HOST mpnum_status mpnum_cross_entropy_places_(
    const float *loss, mpnum_matrix gradient, mpnum_const_matrix src,
    const mpnum_targets_ *targets, const mpnum_cross_entropy_options *options) {
  const size_t count = options->reduction == MPNUM_REDUCTION_NONE ? src.rows : 1;
  mpnum_status status = mpnum_floats_check_(loss, count, src);
  if (status != MPNUM_OK) return status;
  if (targets->has_classes && !targets->wide && !targets->narrow && src.rows &&
      src.columns)
    return MPNUM_ERROR_NULL;
  if (!targets->has_classes) status = mpnum_shares_check_(targets->shares, src);
  if (status == MPNUM_OK && mpnum_floats_overlap_(loss, count, targets->shares))
    status = MPNUM_ERROR_OVERLAP;
  if (status != MPNUM_OK || !gradient.data) return status;
  status = mpnum_rows_check_(gradient, src);
  if (status == MPNUM_OK &&
      (mpnum_floats_overlap_(loss, count, mpnum_rows_read_(gradient)) ||
       mpnum_rows_overlap_(gradient, targets->shares) ||
       ((options->softmax.flags & MPNUM_SOFTMAX_ACCUMULATE) &&
        mpnum_rows_overlap_(gradient, src))))
    status = MPNUM_ERROR_OVERLAP;
  return status;
}
MPNUM_HOST mpnum_status mpnum_cross_entropy_check_(
    mpnum_const_matrix src, const mpnum_targets_ *targets, float factor,
    const mpnum_cross_entropy_options *options, size_t *counted) {
  const uint32_t bits = mpnum_bits_f32(options->label_smoothing);
  const mpnum_status status =
      mpnum_softmax_check_(src, &options->softmax, MPNUM_SOFTMAX_ACCUMULATE);
  size_t i = 0;
  if (status != MPNUM_OK) return status;
  if (options->softmax.sinks) return MPNUM_ERROR_ARGUMENT;
  if (bits > 0x3f800000u && bits != 0x80000000u) return MPNUM_ERROR_ARGUMENT;
  if ((mpnum_bits_f32(factor) & 0x7fffffffu) >= 0x7f800000u) return MPNUM_ERROR_ARGUMENT;
  if (!targets->has_classes && !mpnum_iszero_u31_(bits & 0x7fffffffu))
    return MPNUM_ERROR_ARGUMENT;
  if ((int)options->reduction < 0 || options->reduction > MPNUM_REDUCTION_MEAN)
    return MPNUM_ERROR_ARGUMENT;
  *counted = src.rows;
  for (; (targets->wide || targets->narrow) && i < src.rows; ++i) {
    const int64_t target = mpnum_class_(targets, i);
    if (target == options->ignore_index) {
      --*counted;
    } else if (target < 0 || (uint64_t)target >= src.columns) {
      return MPNUM_ERROR_RANGE;
    }
  }
  return MPNUM_OK;
}
MPNUM_HOST float mpnum_reduced_(mpnum_reduction reduction, double sum, size_t counted) {
  if (reduction == MPNUM_REDUCTION_MEAN) sum = mpnum_div_f64_(sum, (double)counted);
  return mpnum_canonical_((float)sum);
}
/* Computes losses and gradients of all rows. The arguments have been checked. */
MPNUM_HOST void mpnum_cross_entropy_all_(float *loss, mpnum_matrix gradient,
                                         mpnum_const_matrix src,
                                         const mpnum_targets_ *targets, float factor,
                                         const mpnum_cross_entropy_options *options,
                                         size_t counted, mpnum_row_status *row_status) {
  const int has_classes = targets->has_classes;
  mpnum_target_ target = {0, 0, options->label_smoothing, 1};
  mpnum_row_type_ type;
  mpnum_row_ row;
  double sum = 0;
  size_t i = 0;
  mpnum_row_type_of_(&type, gradient.type);
  mpnum_row_begin_(&row, src, &options->softmax);
  for (; i < src.rows; ++i) {
    const int is_ignored =
        has_classes && mpnum_class_(targets, i) == options->ignore_index;
    float own = 0;
    if (is_ignored) {
      mpnum_gradient_fill_(gradient, i, options->softmax.flags);
    } else {
      mpnum_row_look_(&row, i);
      if (has_classes) {
        target.index = mpnum_class_(targets, i);
      } else {
        mpnum_target_of_shares_(&target, targets->shares, i);
      }
      own = mpnum_cross_entropy_row_(&row, &type, gradient, &target, factor);
    }
    if (row_status) row_status[i] = is_ignored ? MPNUM_ROW_IGNORED : row.status;
    if (options->reduction == MPNUM_REDUCTION_NONE) mpnum_set_float_(loss, i, own);
    sum = mpnum_add_f64_(sum, (double)own);
  }
  if (loss && options->reduction != MPNUM_REDUCTION_NONE)
    mpnum_set_float_(loss, 0, mpnum_reduced_(options->reduction, sum, counted));
}
/* Whether subnormals may be flushed to zero: where no loss is near them, and gradients
 * are not wanted, or are 0 where they would be. Shares may be anything. */
MPNUM_HOST int mpnum_cross_entropy_flushes_(mpnum_matrix gradient, mpnum_const_matrix src,
                                            const mpnum_targets_ *targets, float factor,
                                            const mpnum_cross_entropy_options *options) {
  const uint32_t magnitude = mpnum_bits_f32(factor) & 0x7fffffffu;
  const uint32_t smoothing = mpnum_bits_f32(options->label_smoothing) & 0x7fffffffu;
  return targets->has_classes && src.columns <= 0xffffffffu &&
         !(options->softmax.flags & MPNUM_SOFTMAX_ACCUMULATE) &&
         magnitude >= 0x2c800000u /* 2^-38 */ && magnitude <= 0x71800000u /* 2^100 */ &&
         (smoothing == 0 || smoothing >= 0x2f800000u /* 2^-32 */) &&
         (!gradient.data || mpnum_drops_subnormals_(gradient.type)) &&
         mpnum_rows_flush_(&options->softmax, src.rows * src.columns);
}
MPNUM_HOST mpnum_status mpnum_cross_entropy_(float *loss, mpnum_matrix gradient,
                                             mpnum_const_matrix src,
                                             const mpnum_targets_ *targets,
                                             const mpnum_cross_entropy_options *options,
                                             mpnum_row_status *row_status) {
  const mpnum_cross_entropy_options usual = mpnum_cross_entropy_default();
  const mpnum_cross_entropy_options *chosen = options ? options : &usual;
  const uint64_t saved = mpnum_fenv_save_();
  float factor = mpnum_mul_scalar_(chosen->factor, chosen->softmax.scale);
  size_t counted = 0;
  mpnum_targets_ none = *targets;
  mpnum_status status =
      mpnum_cross_entropy_check_(src, targets, factor, chosen, &counted);
  if (status == MPNUM_OK)
    status = mpnum_cross_entropy_places_(loss, gradient, src, targets, chosen);
  if (status == MPNUM_OK) {
    if (src.columns == 0) { /* no memory is read */
      const int is_there =
          loss && (targets->wide || targets->narrow || !targets->has_classes);
      src = mpnum_const_matrix_of(src.type, chosen, is_there ? src.rows : 0, 0);
      none.shares = src;
      targets = &none;
      gradient.data = 0;
    }
    if (chosen->reduction == MPNUM_REDUCTION_MEAN && counted)
      factor = mpnum_div_scalar_(factor, (float)counted);
    if (mpnum_cross_entropy_flushes_(gradient, src, targets, factor, chosen))
      (void)mpnum_fenv_flush_();
    mpnum_cross_entropy_all_(loss, gradient, src, targets, factor, chosen, counted,
                             row_status);
    if (chosen->counted) *chosen->counted = counted;
  }
  mpnum_fenv_restore_(saved);
  return status;
}

/* Computes the loss of each row for the index of its class, and its gradient. A target
 * that is masked, or whose logit is -Inf, costs +Inf. A row with NaN or +Inf, or all
 * -Inf, gives NaN; a row that is all masked gives loss +Inf and gradient 0. With label
 * smoothing a, the target counts 1 - a, and each of the k unmasked classes a / k; with a
 * = 1 the target counts 0, so that the loss is finite where the target is masked, too.
 * With a cap (softmax_cap.h) logits of +-Inf are +-cap in all of this. The gradient of
 * masked elements is 0, whatever the row. With a reduction, loss is one
 * float.
 * Status: as mpnum_softmax_rows; MPNUM_ERROR_ARGUMENT also for a smoothing outside 0 to
 *   1, a factor that is not finite, an unknown reduction; MPNUM_ERROR_OVERLAP also if
 *   loss overlaps an array or a gradient is in place with MPNUM_SOFTMAX_ACCUMULATE;
 *   MPNUM_ERROR_RANGE also for a target that is neither a class nor ignore_index.
 *   Nothing is written then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_cross_entropy_rows(
    float *loss, mpnum_matrix gradient, mpnum_const_matrix src, const int64_t *targets,
    const mpnum_cross_entropy_options *options, mpnum_row_status *row_status) {
  mpnum_targets_ of = {1, 0, 0, mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, 0, 0)};
  of.wide = targets;
  return mpnum_cross_entropy_(loss, gradient, src, &of, options, row_status);
}
/* The same with classes of 32 bits. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_cross_entropy_rows_i32(
    float *loss, mpnum_matrix gradient, mpnum_const_matrix src, const int32_t *targets,
    const mpnum_cross_entropy_options *options, mpnum_row_status *row_status) {
  mpnum_targets_ of = {1, 0, 0, mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, 0, 0)};
  of.narrow = targets;
  return mpnum_cross_entropy_(loss, gradient, src, &of, options, row_status);
}
/* The same with a share for each class: shares has the shape of src and holds floats.
 * The loss is the sum of share (log s - t), the gradient softmax times the sum of the
 * shares, less the shares. A share of 0 costs nothing, even if its logit is -Inf or
 * masked; any other share of a masked class costs +Inf. A share that is NaN or +Inf,
 * masked or not, makes the loss of its row NaN, and the gradient of what is not masked.
 * row_status tells of the logits alone.
 * Status: as above; MPNUM_ERROR_ARGUMENT also for a share below 0 and for a
 *   label_smoothing other than 0 (smooth the shares); MPNUM_ERROR_TYPE, _SHAPE, _NULL
 *   and _OVERLAP also for shares. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_soft_cross_entropy_rows(
    float *loss, mpnum_matrix gradient, mpnum_const_matrix src,
    mpnum_const_matrix targets, const mpnum_cross_entropy_options *options,
    mpnum_row_status *row_status) {
  mpnum_targets_ of = {0, 0, 0, mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, 0, 0)};
  of.shares = targets;
  return mpnum_cross_entropy_(loss, gradient, src, &of, options, row_status);
}

#endif
MPNUM_C_END_
#endif

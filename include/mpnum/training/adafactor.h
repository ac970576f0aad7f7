/* SPDX-License-Identifier: MIT */
/* Steps of Adafactor (Shazeer, Stern, arXiv:1804.04235): instead of a second moment for
 * each element, averages for each row and column of a matrix. Tensors are those of
 * optimizer.h, with their remainders, copies and stochastic rounding. Opt-in.
 *
 *     mpnum_adafactor adafactor = mpnum_adafactor_default();
 *     mpnum_optimizer_tensor weight = mpnum_optimizer_tensor_of(
 *         rows * columns, MPNUM_TYPE_BF16, gradient, MPNUM_TYPE_F32, parameter,
 *         MPNUM_TYPE_F32, row_averages, column_averages);
 *     weight.columns = columns; // rows lie one after the other
 *     ...
 *     must(mpnum_adafactor_step(&adafactor, &weight, 1, step, multiplier, verdict));
 *
 * moment1 holds a float for each row, moment2 one for each column, zeros at first. A
 * vector (columns 0) is a matrix of one row: moment2 is its second moment, element by
 * element. With t the number of the step, rest = t^-decay and RMS(x) the root of the mean
 * of x^2, in f32 where it does not say another thing:
 *
 *     g = gradient multiplier
 *     r = (1 - rest) r + rest (mean of g^2 over the row + epsilon1)
 *     c = (1 - rest) c + rest (mean of g^2 over the column + epsilon1)
 *     u = (sqrt(mean of all r) / sqrt(r)) (1 / sqrt(c)) g
 *     rate = learning_rate          if is_relative the lesser of that and 1 / sqrt(t)
 *     rate = rate max(epsilon2, RMS(p))      if is_scaled; p as it is stored
 *     p = p - (rate weight_decay p + rate / max(1, RMS(u) / clip) u)
 *
 * That is the paper, as fairseq and Hugging Face have it; docs/optimizers.md says where
 * PyTorch differs. There is no first moment.
 * A step reads gradients three times, parameters once or, if is_scaled, twice; with a
 * clip of Inf gradients twice. Where all g of a row or column and epsilon1 are 0, 0 times
 * Inf is NaN.
 * Domain: as of optimizer.h; moments are f32.
 * Rounding: of parameters and remainders as optimizer.h's.
 * Error: sums of squares are in double, those of a row 1024 columns at a time, which join
 *   its average one after the other, those of columns in floats, 64 rows first and then
 *   their sums: at most columns / 1024 and 64 + rows / 64 roundings, of 2^-24 each.
 * NaN: a gradient of NaN makes all parameters NaN, one of Inf, too, if clip is finite.
 *   Squares and averages are floats: a gradient from 2^64 on counts as Inf in them.
 * Bits: the same from every instruction set, in every floating-point environment. A
 *   matrix is one call's: it cannot be cut. */
#ifndef MPNUM_TRAINING_ADAFACTOR_H
#define MPNUM_TRAINING_ADAFACTOR_H

#include "scaler.h"
#include "optimizer_tensor.h"
#include "detail/adafactor_pass.h"
MPNUM_C_BEGIN_

/* What is the same for all tensors. All but clip are below 2^127. */
typedef struct mpnum_adafactor {
  double learning_rate;           /* 0 or more; as a schedule sets it */
  double decay;                   /* 0 or more: an average of step t keeps 1 - t^-decay */
  double epsilon1;                /* 0 or more; joins squares of gradients */
  double epsilon2;                /* 0 or more; the least size of parameters */
  double clip;                    /* 2^-126 or more; of RMS(u); Inf: none */
  double weight_decay;            /* 0 or more */
  uint64_t seed;                  /* of stochastic rounding */
  int32_t is_relative, is_scaled; /* 1 or 0 */
  int32_t rounding;               /* as mpnum_optimizer has it */
} mpnum_adafactor;

/* The paper's: a relative step of at most 0.01, scaled. Rounds stochastically. */
MPNUM_FUNC mpnum_adafactor mpnum_adafactor_default(void) {
  const mpnum_adafactor made = {0.01, 0.8, 1e-30, 1e-3, 1,
                                0,    0,   1,     1,    MPNUM_ROUND_STOCHASTIC};
  return made;
}

#if MPNUM_ON_DEVICE_ || MPNUM_HAS_ARRAYS_

MPNUM_MATH_ mpnum_status mpnum_adafactor_check_(const mpnum_adafactor *adafactor,
                                                mpnum_optimizer *steps, uint64_t step,
                                                float multiplier) {
  const uint64_t limit = (uint64_t)0x47e << 52; /* 2^127 */
  const uint64_t least = (uint64_t)0x381 << 52; /* 2^-126 */
  const uint64_t infinite = (uint64_t)0x7ff << 52;
  if (!adafactor || (uint32_t)adafactor->is_relative > 1 ||
      (uint32_t)adafactor->is_scaled > 1 ||
      !mpnum_optimizer_is_below_(adafactor->learning_rate, limit) ||
      !mpnum_optimizer_is_below_(adafactor->weight_decay, limit) ||
      !mpnum_optimizer_is_below_(adafactor->decay, limit) ||
      !mpnum_optimizer_is_below_(adafactor->epsilon1, limit) ||
      !mpnum_optimizer_is_below_(adafactor->epsilon2, limit) ||
      mpnum_bits_f64(adafactor->clip) - least > infinite - least)
    return MPNUM_ERROR_ARGUMENT;
  *steps = mpnum_optimizer_default(MPNUM_OPTIMIZER_SGD);
  steps->learning_rate = adafactor->learning_rate;
  steps->weight_decay = adafactor->weight_decay;
  steps->seed = adafactor->seed;
  steps->rounding = adafactor->rounding;
  return mpnum_optimizer_check_(steps, step, multiplier);
}
/* The factors of a step, of which steps are what mpnum_optimizer_factors_of_ made. */
MPNUM_MATH_ void mpnum_adafactor_factors_of_(mpnum_adafactor_factors_ *made,
                                             const mpnum_adafactor *adafactor,
                                             uint64_t step) {
  const float one = mpnum_from_bits_f32(0x3f800000u), t = (float)step;
  made->steps.rest2 = mpnum_pow_f32(t, -mpnum_narrow_f64_(adafactor->decay));
  made->steps.beta2 = mpnum_sub_scalar_(one, made->steps.rest2);
  made->steps.epsilon = mpnum_narrow_f64_(adafactor->epsilon1);
  made->rho = mpnum_adafactor_positive_(made->steps.rate);
  if (adafactor->is_relative) {
    const float most = mpnum_div_scalar_(one, mpnum_sqrt_raw_scalar_(t));
    if (mpnum_bits_f32(most) < mpnum_bits_f32(made->rho)) made->rho = most;
  }
  made->clip = mpnum_narrow_f64_(adafactor->clip);
  made->least = mpnum_adafactor_positive_(mpnum_narrow_f64_(adafactor->epsilon2));
  made->decay = mpnum_narrow_f64_(adafactor->weight_decay);
  made->is_scaled = adafactor->is_scaled;
}

#endif

#if MPNUM_HAS_ARRAYS_

MPNUM_HOST_COLD_ mpnum_status mpnum_adafactor_tensors_check_(
    const mpnum_optimizer *steps, const mpnum_optimizer_tensor *tensors, size_t count) {
  mpnum_status status = mpnum_optimizer_tensors_check_(steps, tensors, count);
  size_t i = 0;
  for (; i < count && status == MPNUM_OK; ++i) {
    const mpnum_optimizer_tensor *const t = tensors + i;
    const mpnum_adafactor_matrix_ matrix = mpnum_adafactor_matrix_of_(t);
    if (t->moment_type != MPNUM_TYPE_F32) return MPNUM_ERROR_TYPE;
    if (matrix.rows * matrix.columns != t->n) return MPNUM_ERROR_ARGUMENT;
    if (t->n && (!t->moment1 || !t->moment2)) return MPNUM_ERROR_NULL;
    if (t->n && mpnum_optimizer_overlaps_(t, 4 * matrix.rows, 4 * matrix.columns))
      return MPNUM_ERROR_OVERLAP;
  }
  return status;
}
/* What does not depend on the tensor. */
MPNUM_HOST_ONCE_ mpnum_status mpnum_adafactor_pass_of_(mpnum_adafactor_pass_ *pass,
                                                       const mpnum_adafactor *adafactor,
                                                       const mpnum_optimizer *steps,
                                                       uint64_t step, float multiplier) {
  const mpnum_isa isa = mpnum_isa_in_use();
  const mpnum_status status =
      mpnum_optimizer_pass_of_(&pass->steps, steps, step, multiplier);
  MPNUM_OPTIMIZER_RUN_(&pass->squares, isa, squares);
  MPNUM_OPTIMIZER_RUN_(&pass->gather, isa, gather);
  MPNUM_OPTIMIZER_RUN_(&pass->average, isa, average);
  MPNUM_OPTIMIZER_RUN_(&pass->inverse, isa, inverse);
  MPNUM_OPTIMIZER_RUN_(&pass->update, isa, update);
  MPNUM_OPTIMIZER_RUN_(&pass->steps.step, isa, factored);
  pass->steps.keep = 0; /* which is for other steps */
  pass->factors.steps = pass->steps.factors;
  mpnum_adafactor_factors_of_(&pass->factors, adafactor, step);
  return status;
}

/* Takes step number step, from 1 on, of all tensors; multiplier and verdict are those of
 * mpnum_optimizer_step.
 * Status codes: those of mpnum_optimizer_step; MPNUM_ERROR_ARGUMENT: a clip below
 * 2^-126 or no number, n that is not a multiple of columns, too; MPNUM_ERROR_TYPE:
 * moments that are not f32. Nothing is written then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_adafactor_step(
    const mpnum_adafactor *adafactor, const mpnum_optimizer_tensor *tensors, size_t count,
    uint64_t step, float multiplier, mpnum_grad_verdict verdict) {
  mpnum_adafactor_pass_ pass;
  mpnum_optimizer steps;
  mpnum_status status = mpnum_adafactor_check_(adafactor, &steps, step, multiplier);
  uint64_t saved = 0;
  size_t i = 0;
  if (status == MPNUM_OK && ((int)verdict & ~1)) status = MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK) status = mpnum_adafactor_tensors_check_(&steps, tensors, count);
  if (status != MPNUM_OK) return status;
  saved = mpnum_fenv_save_();
  status = mpnum_adafactor_pass_of_(&pass, adafactor, &steps, step, multiplier);
  for (; status == MPNUM_OK && verdict == MPNUM_GRAD_APPLY && i < count; ++i)
    mpnum_adafactor_tensor_(&pass, tensors + i);
  mpnum_fenv_restore_(saved);
  return status;
}

#endif
MPNUM_C_END_
#endif

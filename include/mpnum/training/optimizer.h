/* SPDX-License-Identifier: MIT */
/* Steps of optimizers in mixed precision: AdamW, Adam, SGD with momentum, Lion. One read
 * and one write of each tensor unscales and clips the gradient, takes weight decay and
 * the step, and writes the narrow copies of the parameters. Opt-in.
 *
 *     mpnum_optimizer adamw = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
 *     mpnum_optimizer_tensor tensors[1];
 *     // f32 parameters, and a copy in bf16 for the next forward pass
 *     tensors[0] = mpnum_optimizer_tensor_of(n, MPNUM_TYPE_BF16, gradients,
 *                                            MPNUM_TYPE_F32, parameters,
 *                                            MPNUM_TYPE_F32, moment1, moment2);
 *     tensors[0].copy_type = MPNUM_TYPE_BF16;
 *     tensors[0].copy = copies;
 *     for (step = 1;; step += verdict == MPNUM_GRAD_APPLY) {
 *       ...
 *       must(mpnum_grad_scaler_multiplier(&scaler, &handle, 1.0f, &multiplier));
 *       must(mpnum_grad_scaler_step(&scaler, &handle, &verdict));
 *       must(mpnum_optimizer_step(&adamw, tensors, 1, step, multiplier, verdict));
 *       must(mpnum_grad_scaler_update(&scaler, &handle));
 *     }
 *
 * In f32, each operation rounded once, a fma where one is written, for each element:
 *
 *     g = gradient multiplier;  g = fma(decay, p, g)       decay: 0 for AdamW and Lion
 *     adam, adamw  m = fma(g - m, 1 - beta1, m)
 *                  v = fma(beta2, v, (1 - beta2) g g)
 *                  d = fma(sqrt(v), 1 / sqrt(1 - beta2^step), epsilon)
 *                  p = p - fma(shrink, p, rate (m / d))    rate: learning rate over
 *                                                          1 - beta1^step
 *     sgd          m = fma(beta1, m, g)                    without beta1 none
 *                  p = p - rate m                          nesterov: fma(beta1, m, g)
 *     lion         c = fma(g - m, 1 - beta1, m)
 *                  m = fma(g - m, 1 - beta2, m)
 *                  p = p - fma(shrink, p, rate sign(c))    sign(0): 0
 *
 * shrink is learning rate times weight decay, 0 for Adam and SGD. What joins the
 * parameter is one sum, so that a decay below half a unit of the parameter is not lost
 * beside a step. Factors are computed in double and rounded to f32; 1 / sqrt is a root
 * and a quotient in f32. Where v and epsilon are 0, or epsilon is below all floats, 0 / 0
 * is NaN; a parameter of Inf becomes NaN, and makes moments NaN.
 * Moments of 8 bits (e4m3): a block of MPNUM_OPTIMIZER_BLOCK elements has a scale, a
 * power of two in e8m0, with which its largest finite magnitude is at most 1.75 times the
 * highest power of two of the format. moment1 is e4m3; moment2, without a sign, has five
 * bits of exponent instead, bias 15, ff is NaN, and what is above 0 has at least the code
 * 1. Inf becomes NaN. A scale of 0 is read as 1, and none is below that.
 * Domain: any sizes, 0 included, any alignment. The memory of all arrays is disjoint.
 * Rounding: f32 results are stored as they are; those of 16 bits as options say:
 *   stochastically, or bf16 to nearest even with a remainder. Moments of bf16 are always
 *   rounded stochastically: to nearest, a beta2 of 0.999 would never move them. So are
 *   those of 8 bits, by 16 bits of one word, the first moment by the upper ones.
 * NaN: a gradient of NaN makes moments and parameter NaN, 7fffffff.
 * Bits: the same from every instruction set, in every floating-point environment, however
 *   tensors are cut, as long as first goes on; with moments of 8 bits between blocks. */
#ifndef MPNUM_TRAINING_OPTIMIZER_H
#define MPNUM_TRAINING_OPTIMIZER_H

#include "scaler.h"
#include "optimizer_tensor.h"
#include "detail/optimizer_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Takes step number step, from 1 on, of all tensors. multiplier: of every gradient, as
 * mpnum_grad_scaler_multiplier computes it; 1 where gradients are unscaled and clipped.
 * With the verdict MPNUM_GRAD_SKIP nothing is written. A step that was skipped is none:
 * its number is that of the next one.
 * Status codes: MPNUM_ERROR_ARGUMENT: an option that this kind has outside its range,
 * step 0, a multiplier that is not finite, a verdict that is neither, a copy_scale that
 * is not above 0 or, with 16 bits, not 1; MPNUM_ERROR_TYPE: another type;
 * MPNUM_ERROR_NARROW: parameters of bf16 rounded to nearest without a remainder, or of
 * f16 rounded to nearest, where small steps are lost; MPNUM_ERROR_NULL: tensors, or an
 * array of a tensor with elements that this optimizer needs; MPNUM_ERROR_OVERLAP: arrays
 * of one tensor share memory. Nothing is written then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_optimizer_step(
    const mpnum_optimizer *optimizer, const mpnum_optimizer_tensor *tensors, size_t count,
    uint64_t step, float multiplier, mpnum_grad_verdict verdict) {
  mpnum_optimizer_pass_ pass;
  mpnum_status status = mpnum_optimizer_check_(optimizer, step, multiplier);
  uint64_t saved = 0;
  if (status == MPNUM_OK && ((int)verdict & ~1)) status = MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK)
    status = mpnum_optimizer_tensors_check_(optimizer, tensors, count);
  if (status != MPNUM_OK) return status;
  saved = mpnum_fenv_save_();
  status = mpnum_optimizer_pass_of_(&pass, optimizer, step, multiplier);
  if (status == MPNUM_OK && verdict == MPNUM_GRAD_APPLY)
    mpnum_optimizer_tensors_(&pass, tensors, count);
  mpnum_fenv_restore_(saved);
  return status;
}

#endif
MPNUM_C_END_
#endif

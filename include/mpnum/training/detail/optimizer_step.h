/* SPDX-License-Identifier: MIT */
/* What a step of an optimizer multiplies by, and the steps for one element, on hosts and
 * devices. */
#ifndef MPNUM_TRAINING_DETAIL_OPTIMIZER_STEP_H
#define MPNUM_TRAINING_DETAIL_OPTIMIZER_STEP_H

#include "../../core/rng.h"
#include "../../core/detail/environment.h"
#include "../../simd/detail/f32_ops.h"
MPNUM_C_BEGIN_

#if MPNUM_ON_DEVICE_ || MPNUM_HAS_ARRAYS_ /* as steps of doubles are */

/* Factors of a step, computed in double and rounded once. */
typedef struct mpnum_optimizer_factors_ {
  float multiplier;    /* of gradients */
  float decay, shrink; /* of parameters: what joins the gradient, and the change */
  float rest1, beta1;  /* 1 - beta1 */
  float beta2, rest2;  /* 1 - beta2 */
  float inverse;       /* 1 / sqrt(1 - beta2^step) */
  float epsilon;
  float rate; /* of learning, over 1 - beta1^step where there is a beta2 */
} mpnum_optimizer_factors_;

/* x^n, by squaring. */
MPNUM_MATH_ double mpnum_optimizer_power_(double x, uint64_t n) {
  double power = 1;
  for (; n != 0; n >>= 1) {
    if (n & 1) power = mpnum_mul_f64_(power, x);
    x = mpnum_mul_f64_(x, x);
  }
  return power;
}
/* The seed of the random words of one array of a step. */
MPNUM_MATH_ uint64_t mpnum_optimizer_seed_(uint64_t seed, uint64_t step, uint32_t array) {
  const mpnum_u32x4 words = mpnum_random_x4(seed, step << 2 | array);
  return (uint64_t)words.y << 32 | words.x;
}
enum {
  MPNUM_OPTIMIZER_PARAMETER_WORDS_,
  MPNUM_OPTIMIZER_MOMENT1_WORDS_,
  MPNUM_OPTIMIZER_MOMENT2_WORDS_
};

# include "../../simd/detail/operations.inc"
# define MPNUM_ISA_HERE_ 0
# include "../../simd/detail/isa_begin.inc"
# include "optimizer_steps.inc"

#endif
MPNUM_C_END_
#endif

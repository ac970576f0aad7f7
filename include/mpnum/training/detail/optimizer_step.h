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

/* Which of the steps of optimizer_steps.inc is taken. */
typedef enum mpnum_optimizer_step_ {
  MPNUM_OPTIMIZER_STEP_ADAM_,
  MPNUM_OPTIMIZER_STEP_LION_,
  MPNUM_OPTIMIZER_STEP_SGD_,
  MPNUM_OPTIMIZER_STEP_MOMENTUM_,
  MPNUM_OPTIMIZER_STEP_NESTEROV_
} mpnum_optimizer_step_;
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
/* How the moments of a block are stored in 8 bits: as e4m3, or, where there is no sign,
 * with one more bit of exponent. A scale puts the largest of them in the upper binade. */
typedef struct mpnum_moment_coding_ {
  float scale, inverse; /* powers of two */
  uint32_t least;       /* bits of the smallest normal value */
  uint32_t ones, sign;  /* of a magnitude, which is NaN; of a sign, in a float */
  uint32_t lowest;      /* the code that a value above 0 has at least */
  uint32_t left;        /* the random bits: 0: the upper 16 of a word, 16: the lower */
} mpnum_moment_coding_;
/* By the scale of the block. */
MPNUM_MATH_ mpnum_moment_coding_ mpnum_moment_coding_of_(int is_second, uint32_t scale) {
  mpnum_moment_coding_ made;
  made.scale = mpnum_from_bits_f32((254 - scale) << 23); /* to store by: never 0 */
  made.inverse = mpnum_from_bits_f32((scale ? scale : 1) << 23);
  made.least = is_second ? 0x38800000u : 0x3c800000u; /* 2^-14; 2^-6 */
  made.ones = is_second ? 0xff : 0x7f;
  made.sign = is_second ? 0 : 0x80000000u;
  made.lowest = is_second ? 1 : 0;
  made.left = is_second ? 16 : 0;
  return made;
}
/* The scale, at least 2^-126, that puts the largest magnitude within 1.75 2^8, which is
 * e4m3's, or 1.75 2^16; of what is above 1.75 2^127 that of 1.75 2^127. */
MPNUM_MATH_ uint32_t mpnum_moment_scale_(int is_second, uint32_t largest) {
  const uint32_t above = (largest + 0x1fffff) >> 23, top = is_second ? 16 : 8;
  const uint32_t exponent = above < 255 ? above : 254;
  return exponent > top ? exponent - top : 1;
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

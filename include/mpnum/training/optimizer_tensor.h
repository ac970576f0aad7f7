/* SPDX-License-Identifier: MIT */
/* The options and the tensors of optimizer.h. Host and device. Opt-in. */
#ifndef MPNUM_TRAINING_OPTIMIZER_TENSOR_H
#define MPNUM_TRAINING_OPTIMIZER_TENSOR_H

#include "../array/losses.h"
#include "../types/e8m0.h"
MPNUM_C_BEGIN_

/* AdamW and Lion take weight decay from the parameter itself, Adam and SGD as part of the
 * gradient. */
typedef enum mpnum_optimizer_kind {
  MPNUM_OPTIMIZER_ADAMW = 0,
  MPNUM_OPTIMIZER_ADAM = 1,
  MPNUM_OPTIMIZER_SGD = 2,
  MPNUM_OPTIMIZER_LION = 3
} mpnum_optimizer_kind;

/* What is the same for all tensors. */
typedef struct mpnum_optimizer {
  double learning_rate; /* 0 or more; as a schedule sets it */
  double beta1;         /* 0 to below 1; of SGD the momentum */
  double beta2;         /* 0 to below 1; SGD has none */
  double epsilon;       /* 0 or more; of Adam and AdamW */
  double weight_decay;  /* 0 or more */
  uint64_t seed;        /* of stochastic rounding */
  int32_t kind;         /* enum mpnum_optimizer_kind */
  int32_t nesterov;     /* 1: SGD looks a step ahead */
  int32_t rounding;     /* of parameters of 16 bits and of remainders:
                           MPNUM_ROUND_STOCHASTIC or MPNUM_ROUND_NEAREST_EVEN */
} mpnum_optimizer;

/* PyTorch's defaults; of Lion those of its paper (Chen et al., arXiv:2302.06675). Rounds
 * stochastically. */
MPNUM_FUNC mpnum_optimizer mpnum_optimizer_default(mpnum_optimizer_kind kind) {
  mpnum_optimizer made = {1e-3, 0.9, 0.999, 1e-8, 0, 0, 0, 0, MPNUM_ROUND_STOCHASTIC};
  made.kind = (int32_t)kind;
  if (kind == MPNUM_OPTIMIZER_ADAMW) made.weight_decay = 0.01;
  if (kind == MPNUM_OPTIMIZER_SGD) made.beta1 = 0;
  if (kind == MPNUM_OPTIMIZER_LION) {
    made.learning_rate = 1e-4;
    made.beta2 = 0.99;
  }
  return made;
}

#if MPNUM_HAS_ARRAYS_ || MPNUM_HAS_NVRTC_

# if MPNUM_HAS_ARRAYS_
#  include <stddef.h>
# endif

/* Elements of a tensor that share a scale where moments are of 8 bits: 0 to 255, 256 to
 * 511 and so on; the last ones may be fewer. */
# define MPNUM_OPTIMIZER_BLOCK 256

/* The arrays of a tensor, n elements each. Parameters, moments with their scales and the
 * remainder are the state that a checkpoint keeps, with the number of the step. */
typedef struct mpnum_optimizer_tensor {
  size_t n;
  mpnum_type gradient_type;  /* f32, bf16, f16, e5m2, e4m3 */
  mpnum_type parameter_type; /* f32, bf16, f16 */
  mpnum_type moment_type;    /* f32, bf16, e4m3: moments of 8 bits with scales */
  mpnum_type copy_type;      /* bf16, f16, or one that mpnum_quantize_array writes */
  const void *gradient;
  void *parameter;
  void *remainder; /* NULL, or of parameter_type, 16 bits: parameter + remainder is the
                      parameter that steps are taken from (Kahan's sum); zeros at first */
  void *moment1;   /* of moment_type, zeros at first; SGD with momentum 0 has none */
  void *moment2;   /* of Adam and AdamW */
  void *copy;      /* NULL, or the parameter as stored times copy_scale: to nearest even;
                      8 bits saturate */
  mpnum_quantize_losses *losses; /* NULL, or added to: what a copy of 8 bits loses, and
                                    the amax of parameters, for the next scale */
  uint64_t first;   /* place of element 0 in the random words; apart for each tensor */
  float copy_scale; /* 1 for 16 bits */
  mpnum_e8m0 *moment1_scales; /* of moments of 8 bits, one for each
                                 MPNUM_OPTIMIZER_BLOCK elements, zeros at first */
  mpnum_e8m0 *moment2_scales; /* where there is a moment2 */
  size_t columns;             /* of adafactor.h: elements of a row; 0: one row of n */
} mpnum_optimizer_tensor;

# if MPNUM_HAS_ARRAYS_

/* A tensor without remainder, copy and scales of moments. */
MPNUM_HOST mpnum_optimizer_tensor mpnum_optimizer_tensor_of(
    size_t n, mpnum_type gradient_type, const void *gradient, mpnum_type parameter_type,
    void *parameter, mpnum_type moment_type, void *moment1, void *moment2) {
  mpnum_optimizer_tensor made;
  made.n = n;
  made.gradient_type = gradient_type;
  made.parameter_type = parameter_type;
  made.moment_type = moment_type;
  made.copy_type = MPNUM_TYPE_BF16;
  made.gradient = gradient;
  made.parameter = parameter;
  made.remainder = made.copy = 0;
  made.moment1 = moment1;
  made.moment2 = moment2;
  made.losses = 0;
  made.first = 0;
  made.copy_scale = 1;
  made.moment1_scales = made.moment2_scales = 0;
  made.columns = 0;
  return made;
}

# endif
#endif

MPNUM_C_END_
#endif

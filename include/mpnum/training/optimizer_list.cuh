/* SPDX-License-Identifier: MIT */
/* A list of tensors of an optimizer in device memory, planned once on the host, and what
 * its steps leave there (optimizer.cuh). CUDA C++11, NVRTC too. Opt-in. */
#ifndef MPNUM_TRAINING_OPTIMIZER_LIST_CUH
#define MPNUM_TRAINING_OPTIMIZER_LIST_CUH

#include "../mpnum.h"
#include "detail/optimizer_pass.h"
MPNUM_C_BEGIN_

/* A list of tensors, as mpnum_launch_optimizer_step takes it. */
typedef struct mpnum_optimizer_list {
  const mpnum_optimizer_tensor *tensors; /* the caller's, in device memory */
  const uint64_t *tiles_before;          /* of each tensor, and of the end; the same */
  uint64_t count, tiles;                 /* what mpnum_optimizer_plan found */
  int32_t step, is_stochastic;           /* the same */
} mpnum_optimizer_list;

/* What steps leave in device memory: all bytes 0 before the first one, or, from a
 * checkpoint, steps. */
typedef struct mpnum_optimizer_progress {
  uint64_t steps;    /* that were taken */
  uint64_t seeds[3]; /* of random words, and factors: of the last one */
  mpnum_optimizer_factors_ factors;
  mpnum_status status; /* of the last launch: what mpnum_optimizer_step would return */
  uint32_t is_applied; /* 1: the last launch took a step */
} mpnum_optimizer_progress;

enum { MPNUM_OPTIMIZER_TILE_ = 1024 };

#if MPNUM_HAS_ARRAYS_

/* Whether an array is aligned for its type. NULL is. */
MPNUM_HOST bool mpnum_optimizer_is_aligned_(mpnum_type type, const void *array) {
  const size_t bytes = static_cast<size_t>(mpnum_type_bits_(type)) / 8;
  return bytes == 0 || reinterpret_cast<size_t>(array) % bytes == 0;
}
/* Whether all arrays of a tensor are, and its losses, which are added to by atomics. */
MPNUM_HOST bool mpnum_optimizer_are_aligned_(const mpnum_optimizer_tensor &t,
                                             int moments) {
  return mpnum_optimizer_is_aligned_(t.gradient_type, t.gradient) &&
         mpnum_optimizer_is_aligned_(t.parameter_type, t.parameter) &&
         mpnum_optimizer_is_aligned_(t.parameter_type, t.remainder) &&
         (moments < 1 || mpnum_optimizer_is_aligned_(t.moment_type, t.moment1)) &&
         (moments < 2 || mpnum_optimizer_is_aligned_(t.moment_type, t.moment2)) &&
         mpnum_optimizer_is_aligned_(t.copy_type, t.copy) &&
         reinterpret_cast<size_t>(t.losses) % alignof(mpnum_quantize_losses) == 0;
}
/* Plans the steps of an optimizer over tensors that have addresses of the device: writes
 * count + 1 words to tiles_before, and the list but for its two pointers, which are the
 * caller's to set once tensors and words are in device memory. Host only.
 * Status codes: those of mpnum_optimizer_step; MPNUM_ERROR_ARGUMENT: an address that is
 * not aligned for its type; 2^52 elements or more. Nothing is written then. */
MPNUM_MUST_CHECK static inline mpnum_status
mpnum_optimizer_plan(mpnum_optimizer_list *list, uint64_t *tiles_before,
                     const mpnum_optimizer *optimizer,
                     const mpnum_optimizer_tensor *tensors, size_t count) {
  const uint64_t limit = static_cast<uint64_t>(1) << 52;
  mpnum_optimizer_list planned = {0, 0, count, 0, 0, 0};
  uint64_t elements = 0;
  int moments = 0;
  mpnum_status status = mpnum_optimizer_check_(optimizer, 1, 1.0f);
  if (status == MPNUM_OK)
    status = mpnum_optimizer_tensors_check_(optimizer, tensors, count);
  if (status == MPNUM_OK && (!list || !tiles_before)) status = MPNUM_ERROR_NULL;
  if (status != MPNUM_OK) return status;
  moments = mpnum_optimizer_moments_(optimizer);
  for (size_t i = 0; i < count; ++i) {
    const mpnum_optimizer_tensor &t = tensors[i];
    if (t.n == 0) continue;
    if (t.n >= limit - elements || !mpnum_optimizer_are_aligned_(t, moments))
      return MPNUM_ERROR_ARGUMENT;
    elements += t.n;
  }
  for (size_t i = 0; i < count; ++i) {
    tiles_before[i] = planned.tiles;
    planned.tiles += (tensors[i].n + MPNUM_OPTIMIZER_TILE_ - 1) / MPNUM_OPTIMIZER_TILE_;
  }
  tiles_before[count] = planned.tiles;
  planned.step = mpnum_optimizer_step_of_(optimizer);
  planned.is_stochastic = optimizer->rounding == MPNUM_ROUND_STOCHASTIC;
  *list = planned;
  return MPNUM_OK;
}

#endif

MPNUM_C_END_
#endif

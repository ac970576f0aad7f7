/* SPDX-License-Identifier: MIT */
/* The loops behind optimizer.h: tiles of tensors become floats, take a step, and become
 * elements again. */
#ifndef MPNUM_TRAINING_DETAIL_OPTIMIZER_LOOPS_H
#define MPNUM_TRAINING_DETAIL_OPTIMIZER_LOOPS_H

#include "optimizer_step.h"
#include "../../array/array.h"
#include "../../array/scale.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Floats of a tile, where they are or in buffers. */
typedef struct mpnum_optimizer_tile_ {
  const uint8_t *gradient;
  uint8_t *parameter, *moment1, *moment2;
} mpnum_optimizer_tile_;
typedef void mpnum_optimizer_loop_(const mpnum_optimizer_factors_ *factors,
                                   const mpnum_optimizer_tile_ *tile, size_t from,
                                   size_t n);
/* Five tiles of floats fit a cache of the first level. */
# define MPNUM_OPTIMIZED_ 1024

# define MPNUM_EACH_ISA_ "../../training/detail/optimizer.inc"
# include "../../simd/detail/each_isa.inc"

/* A loop: of the ISA in use, and of single elements, which takes what is left. */
typedef struct mpnum_optimizer_run_ {
  mpnum_optimizer_loop_ *vectors, *each;
} mpnum_optimizer_run_;
# define MPNUM_OPTIMIZER_RUN_(run, isa, name)      \
  ((run)->each = mpnum_optimizer_##name##_scalar_, \
   (run)->vectors =                                \
       MPNUM_PICK_(isa, optimizer_##name, SSE2, mpnum_optimizer_##name##_scalar_))

MPNUM_HOST void mpnum_optimizer_run_over_(const mpnum_optimizer_run_ *run,
                                          const mpnum_optimizer_factors_ *factors,
                                          const mpnum_optimizer_tile_ *tile, size_t n) {
  const size_t whole = n / 16 * 16; /* of the widest vectors */
  (*run->vectors)(factors, tile, 0, whole);
  if (whole != n) (*run->each)(factors, tile, whole, n);
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* The loops behind optimizer.h: tiles of tensors become floats, take a step, and become
 * elements again. */
#ifndef MPNUM_TRAINING_DETAIL_OPTIMIZER_LOOPS_H
#define MPNUM_TRAINING_DETAIL_OPTIMIZER_LOOPS_H

#include "optimizer_step.h"
#include "../optimizer_tensor.h"
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
/* The same from 0 on, flushed, with the bits of a step that is not, where a tile begins
 * with numbers that need it; returns whether. vectors: the loop of the step. */
typedef int mpnum_optimizer_flushed_(const mpnum_optimizer_factors_ *factors,
                                     const mpnum_optimizer_tile_ *tile, int32_t step,
                                     mpnum_optimizer_loop_ *vectors, size_t n);
/* Five tiles of floats fit a cache of the first level. */
# define MPNUM_OPTIMIZED_ 1024

/* Whether a factor is 0 or has a magnitude from 2^-50 to 2^20; whether all have, so that
 * steps can be flushed. */
MPNUM_HOST_INLINE_ int mpnum_optimizer_is_factor_(float factor) {
  const uint32_t size = mpnum_bits_f32(factor) & 0x7fffffffu;
  return size == 0 || size - 0x26800000u <= 0x49800000u - 0x26800000u;
}
MPNUM_HOST_INLINE_ int mpnum_optimizer_keeps_(const mpnum_optimizer_factors_ *f) {
  return mpnum_optimizer_is_factor_(f->multiplier) &&
         mpnum_optimizer_is_factor_(f->decay) && mpnum_optimizer_is_factor_(f->shrink) &&
         mpnum_optimizer_is_factor_(f->rest1) && mpnum_optimizer_is_factor_(f->beta1) &&
         mpnum_optimizer_is_factor_(f->beta2) && mpnum_optimizer_is_factor_(f->rest2) &&
         mpnum_optimizer_is_factor_(f->inverse) &&
         mpnum_optimizer_is_factor_(f->epsilon) && mpnum_optimizer_is_factor_(f->rate);
}

/* A block of moments of 8 bits: its codes, and floats. */
typedef struct mpnum_moment_block_ {
  mpnum_moment_coding_ coding;
  uint8_t *codes, *floats;
  const uint8_t *words;
  uint32_t largest;
} mpnum_moment_block_;
typedef void mpnum_moment_loop_(mpnum_moment_block_ *block, size_t from, size_t n);

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
/* The same over a block. */
# define MPNUM_MOMENT_RUN_(name, block, n)                                   \
  do {                                                                       \
   const mpnum_isa isa = mpnum_isa_in_use();                                 \
   const size_t whole = (n) / 64 * 64;                                       \
   mpnum_moment_loop_ *const vectors =                                       \
       MPNUM_PICK_(isa, moment_##name, WIDE, mpnum_moment_##name##_scalar_); \
   (*vectors)(block, 0, whole);                                              \
   if (whole != (n)) mpnum_moment_##name##_scalar_(block, whole, n);         \
  } while (0)

MPNUM_HOST mpnum_moment_block_ mpnum_moment_block_of_(int is_second, uint32_t scale,
                                                      uint8_t *codes, uint8_t *floats,
                                                      const uint8_t *words) {
  mpnum_moment_block_ made;
  made.coding = mpnum_moment_coding_of_(is_second, scale);
  made.codes = codes;
  made.floats = floats;
  made.words = words;
  made.largest = 0;
  return made;
}
MPNUM_HOST size_t mpnum_moment_count_(size_t left) {
  return left < MPNUM_OPTIMIZER_BLOCK ? left : MPNUM_OPTIMIZER_BLOCK;
}
/* Floats of moments of 8 bits; those of a tile, which begins a block. */
MPNUM_HOST_ONCE_ void mpnum_moments_floats_(int is_second, uint8_t *floats,
                                            uint8_t *codes, const mpnum_e8m0 *scales,
                                            size_t n) {
  size_t i = 0;
  for (; i < n; i += MPNUM_OPTIMIZER_BLOCK) {
    const size_t count = mpnum_moment_count_(n - i);
    mpnum_moment_block_ block = mpnum_moment_block_of_(
        is_second, scales[i / MPNUM_OPTIMIZER_BLOCK].bits, codes + i, floats + 4 * i, 0);
    MPNUM_MOMENT_RUN_(floats, &block, count);
  }
}
/* The way back. words: random, of element 0 on. */
MPNUM_HOST_ONCE_ void mpnum_moments_codes_(int is_second, uint8_t *codes,
                                           mpnum_e8m0 *scales, uint8_t *floats,
                                           const uint8_t *words, size_t n) {
  size_t i = 0;
  for (; i < n; i += MPNUM_OPTIMIZER_BLOCK) {
    const size_t count = mpnum_moment_count_(n - i);
    mpnum_moment_block_ block =
        mpnum_moment_block_of_(is_second, 0, codes + i, floats + 4 * i, words + 4 * i);
    uint32_t scale = 0;
    MPNUM_MOMENT_RUN_(largest, &block, count);
    scale = mpnum_moment_scale_(is_second, block.largest);
    block.coding = mpnum_moment_coding_of_(is_second, scale);
    MPNUM_MOMENT_RUN_(codes, &block, count);
    scales[i / MPNUM_OPTIMIZER_BLOCK].bits = (uint8_t)scale;
  }
}

#endif
MPNUM_C_END_
#endif

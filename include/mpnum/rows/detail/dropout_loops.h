/* SPDX-License-Identifier: MIT */
/* What dropout.h is made of, on hosts and devices. */
#ifndef MPNUM_ROWS_DETAIL_DROPOUT_LOOPS_H
#define MPNUM_ROWS_DETAIL_DROPOUT_LOOPS_H

#include "../../array/detail/reduce_loops.h"
#include "../../core/rng.h"
#include "../../simd/detail/f32_ops.h"
MPNUM_C_BEGIN_

/* Elements are kept whose word is at most last, and multiplied by scale; but none where
 * keeps_none is 1. */
typedef struct mpnum_dropout_ {
  uint32_t last;
  float scale;
  int keeps_none;
  uint64_t seed, offset;
} mpnum_dropout_;

/* Whether keep is 0 or from 2^-32 to 1. */
MPNUM_REAL_ int mpnum_is_keep_(float keep) {
  const uint32_t bits = mpnum_bits_f32(keep);
  return bits == 0 || (bits >= 0x2f800000u && bits <= 0x3f800000u);
}
/* The words below keep 2^32 are those up to the last one. */
MPNUM_REAL_ mpnum_dropout_ mpnum_dropout_of_(float keep, uint64_t seed, uint64_t offset) {
  const uint32_t bits = mpnum_bits_f32(keep);
  const int exponent = (int)(bits >> 23) - 118; /* 118 = 150 - 32 */
  const uint64_t significand = (bits & 0x007fffffu) | 0x00800000u;
  const uint64_t below = exponent >= 0 ? significand << (exponent & 31)
                                       : ((significand - 1) >> (-exponent & 31)) + 1;
  mpnum_dropout_ how;
  how.last = (uint32_t)(below - 1);
  how.scale = mpnum_div_scalar_(mpnum_from_bits_f32(0x3f800000u), keep);
  how.keeps_none = bits == 0;
  how.seed = seed;
  how.offset = offset;
  return how;
}
MPNUM_REAL_ float mpnum_dropped_(const mpnum_dropout_ *how, float x, uint32_t word) {
  if (word > how->last || how->keeps_none) return mpnum_from_bits_f32(0);
#if MPNUM_ON_DEVICE_ /* where a NaN is the canonical one */
  return mpnum_mul_scalar_(x, how->scale);
#else
  return mpnum_canonical_(mpnum_mul_scalar_(x, how->scale));
#endif
}

#if MPNUM_HAS_ARRAYS_
# define MPNUM_EACH_ISA_ "../../rows/detail/dropout.inc"
# include "../../simd/detail/each_isa.inc"

/* Elements done at a time. */
# define MPNUM_DROPPED_ 1024

/* Drops floats, of which the first has the word number index. */
MPNUM_HOST void mpnum_dropout_tile_(const mpnum_dropout_ *how, float *dst,
                                    const float *src, uint64_t index, size_t n) {
  MPNUM_ALIGNED_ uint8_t words[4 * (MPNUM_DROPPED_ + 132)]; /* a block of 128 more */
  const uint8_t *from = words;
  size_t i = 0;
  for (; how->keeps_none && i < n; ++i)
    mpnum_set_float_(dst, i, 0);
  if (how->keeps_none) return;
  from = mpnum_random_words_(how->seed, index, words, n);
  MPNUM_CALL_(dropout, (how, dst, src, from, n));
}
#endif

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* The loops behind grad.h. */
#ifndef MPNUM_GRAD_LOOPS_H
#define MPNUM_GRAD_LOOPS_H

#include "softmax_loops.h"

#if MPNUM_HAS_ARRAYS

/* Of a tile of products. */
typedef struct mpnum_grad_seen_ {
  double squares; /* their sum, added as reduce.h says */
  uint64_t nonzeros;
  uint32_t max,
      min; /* magnitudes; the smallest nonzero one, 0x7fffffff if there is none */
} mpnum_grad_seen_;

/* Floats times a factor, to dst; and past the caches to streamed, unless it is NULL. */
typedef struct mpnum_grad_memory_ {
  uint8_t *dst, *streamed; /* streamed: a multiple of 64 */
  const uint8_t *src;
  size_t bytes; /* a multiple of 256, a tile at most */
} mpnum_grad_memory_;

# define MPNUM_SET_ 0
# include "set.inc"
# include "grad.inc"
# if MPNUM_LOOPS_SSE2_
#  define MPNUM_SET_ 1
#  include "set.inc"
#  include "grad.inc"
# endif
# if MPNUM_LOOPS_AVX2_
#  define MPNUM_SET_ 2
#  include "set.inc"
#  include "grad.inc"
# endif
# if MPNUM_LOOPS_AVX512_
#  define MPNUM_SET_ 3
#  include "set.inc"
#  include "grad.inc"
# endif
# if MPNUM_HAS_NEON
#  define MPNUM_SET_ 4
#  include "set.inc"
#  include "grad.inc"
# endif
# define MPNUM_SET_ (-1)
# include "set.inc"

/* A tile of n elements, and its statistics. */
MPNUM_HOST void mpnum_grad_tile_of_floats_(mpnum_codes_ *codes, double *squares,
                                           float factor, float *dst, void *streamed,
                                           const float *src, size_t n) {
  const mpnum_limits_ limits = mpnum_limits_of_(MPNUM_TYPE_F32);
  mpnum_grad_memory_ at;
  mpnum_grad_seen_ seen = {0, 0, 0, 0x7fffffffu};
  at.dst = (uint8_t *)dst;
  at.streamed = (uint8_t *)streamed;
  at.src = (const uint8_t *)src;
  at.bytes = 4 * n;
  if (n % 64 == 0) {
    MPNUM_CALL_(grad_tile, (&seen, factor, at));
    codes->count = n;
    codes->zeros = n - seen.nonzeros;
    codes->max = seen.max;
    codes->min = seen.min == 0x7fffffffu && seen.nonzeros == 0 ? 0xffffffffu : seen.min;
    *squares = seen.squares;
    if (seen.max <= limits.max && codes->min >= limits.min_normal) return;
  } else {
    const mpnum_row_map_ map = mpnum_row_map_of_(MPNUM_MAP_SCALED_, factor, 0, 0);
    mpnum_row_mapped_(map, dst, src, n);
    if (streamed) MPNUM_MEMCPY_(streamed, dst, 4 * n);
    MPNUM_CALL_(squares_tile, (squares, dst, dst, n));
  }
  MPNUM_CALL_(stats_32, (limits, codes, dst, n));
}

#endif
#endif

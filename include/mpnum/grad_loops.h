/* SPDX-License-Identifier: MIT */
/* The loops behind grad.h. */
#ifndef MPNUM_GRAD_LOOPS_H
#define MPNUM_GRAD_LOOPS_H

#include "histogram.h"
#include "softmax_loops.h"

#if MPNUM_HAS_ARRAYS

/* Of a tile of products. */
typedef struct mpnum_grad_seen_ {
  double squares; /* their sum, added as reduce.h says */
  uint64_t nonzeros;
  uint32_t max, min; /* magnitudes; min: nonzero, 0x7fffffff if there is none */
} mpnum_grad_seen_;

/* Elements as floats times a factor, to dst; and past the caches to streamed, unless it
 * is NULL. */
typedef struct mpnum_grad_memory_ {
  uint8_t *dst, *streamed; /* streamed: a multiple of 64 */
  const uint8_t *src;
  mpnum_type src_type; /* f32, f16, bf16 */
  size_t bytes;        /* of dst: a multiple of 256, a tile at most */
} mpnum_grad_memory_;

MPNUM_HOST_INLINE_ mpnum_conversion_ mpnum_grad_from_(mpnum_type type, int bits) {
  return mpnum_conversion_of_(mpnum_format_of(type), bits,
                              mpnum_format_of(MPNUM_TYPE_F32), 32, MPNUM_OVERFLOW_IEEE);
}

# define MPNUM_EACH_SET_ "grad.inc"
# include "each_set.inc"

/* A tile of n elements of f32, f16 or bf16, and its statistics. */
MPNUM_HOST void mpnum_grad_tile_seen_(mpnum_codes_ *codes, double *squares, float factor,
                                      float *dst, void *streamed, mpnum_type src_type,
                                      const void *src, size_t n) {
  const mpnum_limits_ limits = mpnum_limits_of_(MPNUM_TYPE_F32);
  mpnum_grad_memory_ at;
  mpnum_grad_seen_ seen = {0, 0, 0, 0x7fffffffu};
  at.dst = (uint8_t *)dst;
  at.streamed = (uint8_t *)streamed;
  at.src = (const uint8_t *)src;
  at.src_type = src_type;
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
    const float *floats = (const float *)src;
    if (src_type != MPNUM_TYPE_F32) {
      mpnum_row_decode_(src_type, dst, src, n);
      floats = dst;
    }
    mpnum_row_mapped_(map, dst, floats, n);
    if (streamed) MPNUM_MEMCPY_(streamed, dst, 4 * n);
    MPNUM_CALL_(squares_tile, (squares, dst, dst, n));
  }
  MPNUM_CALL_(stats_32, (limits, codes, dst, n));
}

/* Counts for a histogram that are not in it yet. Eight neighbouring elements have
 * counters of their own, so that an increment need not wait for the one before. */
typedef struct mpnum_grad_counters_ {
  mpnum_histogram *histogram;
  uint64_t zeros;   /* among those of exponent 0 */
  uint64_t pending; /* of all counters */
  uint32_t counts[4][256];
} mpnum_grad_counters_;

MPNUM_HOST void mpnum_grad_empty_counters_(mpnum_grad_counters_ *counters) {
  int i = 0, k = 0;
  counters->histogram = 0;
  counters->zeros = counters->pending = 0;
  for (; i < 4; ++i)
    for (k = 0; k < 256; ++k)
      counters->counts[i][k] = 0;
}
/* Moves them into the histogram; the next ones are for another. */
MPNUM_HOST void mpnum_grad_counted_(mpnum_grad_counters_ *counters,
                                    mpnum_histogram *next) {
  mpnum_histogram *histogram = counters->histogram;
  int i = 0, k = 0;
  if (counters->pending != 0) {
    for (; i < 4; ++i)
      for (k = 0; k < 256; ++k)
        histogram->counts[k] += counters->counts[i][k];
    histogram->counts[0] -= counters->zeros;
    histogram->zeros += counters->zeros;
    mpnum_grad_empty_counters_(counters);
  }
  counters->histogram = next;
}
MPNUM_HOST void mpnum_grad_count_(mpnum_grad_counters_ *counters, uint64_t zeros,
                                  const float *src, size_t n) {
  const uint8_t *at = (const uint8_t *)src;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const uint64_t two = mpnum_element_(64, at, i / 2);
    const uint64_t next = mpnum_element_(64, at, i / 2 + 1);
    counters->counts[0][two >> 23 & 255] += 1;
    counters->counts[1][two >> 55 & 255] += 1;
    counters->counts[2][next >> 23 & 255] += 1;
    counters->counts[3][next >> 55 & 255] += 1;
  }
  for (; i < n; ++i)
    counters->counts[0][mpnum_element_(32, at, i) >> 23 & 255] += 1;
  counters->zeros += zeros;
  counters->pending += n;
  if (counters->pending >= (uint64_t)1 << 31)
    mpnum_grad_counted_(counters, counters->histogram);
}

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* The loops behind grad.h. */
#ifndef MPNUM_TRAINING_DETAIL_GRAD_LOOPS_H
#define MPNUM_TRAINING_DETAIL_GRAD_LOOPS_H

#include "../../array/histogram.h"
#include "../../rows/detail/rows_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* What a loop found in a tile of products. */
typedef struct mpnum_grad_seen_ {
  double squares; /* sum of the squares, added as reduce.h says */
  uint64_t nonzeros;
  uint32_t max, min; /* of magnitudes; min: of nonzero ones, 0x7fffffff if none */
} mpnum_grad_seen_;

/* n elements, at most a tile, that become floats times a factor: written to dst, and past
 * the caches to streamed unless it is NULL. */
typedef struct mpnum_grad_memory_ {
  uint8_t *dst, *streamed; /* streamed: at a multiple of 64 bytes */
  const uint8_t *src;
  mpnum_type src_type; /* f32, f16, bf16 */
  size_t n;
  int is_kept; /* in steps that keep subnormals which are flushed */
} mpnum_grad_memory_;

/* The same for vectors, in two parts: the first multiple of 64 elements, and a copy of
 * the others in buffers, filled up with zeros. */
typedef struct mpnum_grad_part_ {
  uint8_t *dst, *streamed;
  const uint8_t *src;
  size_t bytes; /* of dst */
} mpnum_grad_part_;
typedef struct mpnum_grad_parts_ {
  mpnum_grad_part_ part[2];
  uint8_t rest_dst[256], rest_src[256];
} mpnum_grad_parts_;

MPNUM_HOST_INLINE_ void mpnum_grad_cut_(mpnum_grad_parts_ *parts,
                                        const mpnum_grad_memory_ *at) {
  const size_t size = at->src_type == MPNUM_TYPE_F32 ? 4 : 2;
  const size_t whole = at->n / 64 * 64, rest = at->n - whole;
  const mpnum_grad_part_ first = {at->dst, at->streamed, at->src, 4 * whole};
  const mpnum_grad_part_ last = {parts->rest_dst, 0, parts->rest_src,
                                 (size_t)256 * (rest != 0)};
  size_t i = 0;
  parts->part[0] = first;
  parts->part[1] = last;
  if (rest == 0) return;
  for (; i < 256; ++i)
    parts->rest_src[i] = 0;
  MPNUM_MEMCPY_(parts->rest_src, at->src + size * whole, size * rest);
}
MPNUM_HOST_INLINE_ void mpnum_grad_join_(const mpnum_grad_parts_ *parts,
                                         const mpnum_grad_memory_ *at) {
  const size_t bytes = parts->part[0].bytes, rest = 4 * at->n - bytes;
  if (rest == 0) return;
  MPNUM_MEMCPY_(at->dst + bytes, parts->rest_dst, rest);
  if (at->streamed) MPNUM_MEMCPY_(at->streamed + bytes, parts->rest_dst, rest);
}
# define MPNUM_EACH_ISA_ "../../training/detail/grad.inc"
# include "../../simd/detail/each_isa.inc"

/* Loops of which ISAs without a fused one have none. */
typedef int mpnum_grad_any_low_(mpnum_type type, const uint8_t *src, uint32_t least);
typedef void mpnum_grad_kept_scaled_(float *x, size_t n, float factor);
typedef void mpnum_grad_kept_squares_(double *squares, const mpnum_tile_ *tile);
typedef size_t mpnum_grad_one_nan_(uint8_t *dst, size_t n);
# define MPNUM_GRAD_LOOP_(name) \
  MPNUM_PICK_(mpnum_isa_in_use(), grad_##name, WIDE, (mpnum_grad_##name##_ *)0)

/* The smallest magnitude whose product with a factor is normal, or a larger one;
 * 0x7fffffff where the factor is 0 or subnormal. */
MPNUM_HOST_INLINE_ uint32_t mpnum_grad_least_(float factor) {
  const uint32_t exponent = mpnum_bits_f32(factor) >> 23 & 255;
  if (exponent == 0) return 0x7fffffffu;
  return exponent >= 127 ? 0x00800000u : (128 - exponent) << 23;
}
/* Products of floats in place, their statistics and the sum of their squares. */
MPNUM_HOST_ONCE_ void mpnum_grad_kept_seen_(mpnum_codes_ *codes, double *squares,
                                            const float *floats, size_t n) {
  mpnum_tile_ tile;
  MPNUM_CALL_(stats_32, (mpnum_limits_of_(MPNUM_TYPE_F32), codes, floats, n));
  mpnum_cut_tile_(0, &tile, (const uint8_t *)floats, 0, n);
  (*MPNUM_GRAD_LOOP_(kept_squares))(squares, &tile);
}

/* Handles a tile in three reads, for instruction sets without a fused loop. */
MPNUM_HOST_ONCE_ void mpnum_grad_tile_in_steps_(mpnum_codes_ *codes, double *squares,
                                                float factor,
                                                const mpnum_grad_memory_ *at) {
  float *const products = (float *)(void *)at->dst;
  mpnum_floats_from_(at->src_type, products, at->src, at->n);
  if (at->is_kept) {
    (*MPNUM_GRAD_LOOP_(kept_scaled))(products, at->n, factor);
  } else {
    mpnum_row_scaled_(products, at->n, factor);
  }
  if (at->streamed) MPNUM_MEMCPY_(at->streamed, products, 4 * at->n);
  if (at->is_kept) {
    mpnum_grad_kept_seen_(codes, squares, products, at->n);
    return;
  }
  MPNUM_CALL_(stats_32,
              (mpnum_limits_of_(MPNUM_TYPE_F32), codes, (const uint8_t *)at->dst, at->n));
  *squares = mpnum_squares_(products, 0, at->n);
}
typedef void mpnum_grad_run_tile_(mpnum_grad_seen_ *result, float factor,
                                  const mpnum_grad_memory_ *at);
/* Handles a tile and takes its statistics. */
MPNUM_HOST void mpnum_grad_tile_seen_(mpnum_codes_ *codes, double *squares, float factor,
                                      const mpnum_grad_memory_ *at) {
  const mpnum_limits_ limits = mpnum_limits_of_(MPNUM_TYPE_F32);
  mpnum_grad_seen_ seen = {0, 0, 0, 0x7fffffffu};
  mpnum_grad_run_tile_ *const run =
      MPNUM_PICK_(mpnum_isa_in_use(), grad_tile, WIDE, (mpnum_grad_run_tile_ *)0);
  if (!run || at->is_kept) {
    mpnum_grad_tile_in_steps_(codes, squares, factor, at);
    return;
  }
  (*run)(&seen, factor, at);
  *squares = seen.squares;
  codes->count = at->n;
  codes->zeros = at->n - seen.nonzeros;
  codes->max = seen.max;
  codes->min = seen.nonzeros == 0 ? 0xffffffffu : seen.min;
  if (seen.max > limits.max || codes->min < limits.min_normal)
    MPNUM_CALL_(stats_32, (limits, codes, at->dst, at->n));
}

/* Counts that were not yet added to a histogram. Four neighbouring elements have separate
 * counters, so that an increment need not wait for the one before. */
typedef struct mpnum_grad_counters_ {
  mpnum_histogram *histogram;
  uint64_t zeros;   /* among the counts of exponent 0 */
  uint64_t pending; /* sum of all counters */
  uint32_t counts[4][256];
} mpnum_grad_counters_;

MPNUM_HOST_ONCE_ void mpnum_grad_empty_counters_(mpnum_grad_counters_ *counters) {
  int i = 0, k = 0;
  counters->histogram = 0;
  counters->zeros = counters->pending = 0;
  for (; i < 4; ++i)
    for (k = 0; k < 256; ++k)
      counters->counts[i][k] = 0;
}
/* Moves the counts into their histogram; the following ones go to next. */
MPNUM_HOST_ONCE_ void mpnum_grad_counted_(mpnum_grad_counters_ *counters,
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
MPNUM_HOST_ONCE_ void mpnum_grad_count_(mpnum_grad_counters_ *counters, uint64_t zeros,
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
MPNUM_C_END_
#endif

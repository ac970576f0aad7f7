/* SPDX-License-Identifier: MIT */
/* Statistics of the values of a tensor from one read: how many are zero, subnormal, Inf
 * or NaN, and between which magnitudes the others lie. Exact in any order and grouping:
 * parts of a tensor, tensors of a list, devices and ranks merge to the same bits. */
#ifndef MPNUM_ARRAY_STATS_H
#define MPNUM_ARRAY_STATS_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Statistics of the values of a tensor. */
typedef struct mpnum_stats {
  uint64_t count;      /* all values */
  uint64_t zeros;      /* zeros of either sign */
  uint64_t subnormals; /* subnormals of their own format */
  uint64_t infs;
  uint64_t nans;
  float amax;        /* largest finite magnitude; 0 if there is none */
  float min_nonzero; /* smallest nonzero finite magnitude; Inf if there is none */
} mpnum_stats;

/* Returns the statistics of no values. */
MPNUM_FUNC mpnum_stats mpnum_stats_empty(void) {
  const mpnum_stats stats = {0, 0, 0, 0, 0, 0.0f, mpnum_from_bits_f32(0x7f800000u)};
  return stats;
}

/* Adds one value, a code of a format; for a float the format of MPNUM_TYPE_F32 and its
 * bits. */
MPNUM_INLINE mpnum_stats mpnum_stats_add(mpnum_stats stats, mpnum_format format,
                                         uint32_t code) {
  const uint32_t magnitude = mpnum_decode_bits_(format, code) & 0x7fffffffu;
  const int is_finite = magnitude < 0x7f800000u;
  stats.count += 1;
  stats.zeros += magnitude == 0;
  stats.subnormals += (uint64_t)mpnum_issubnormal(format, code);
  stats.infs += magnitude == 0x7f800000u;
  stats.nans += magnitude > 0x7f800000u;
  if (is_finite && magnitude > mpnum_bits_f32(stats.amax))
    stats.amax = mpnum_from_bits_f32(magnitude);
  if (magnitude != 0 && magnitude < mpnum_bits_f32(stats.min_nonzero))
    stats.min_nonzero = mpnum_from_bits_f32(magnitude);
  return stats;
}

/* Merges the statistics of two sets of values. */
MPNUM_FUNC mpnum_stats mpnum_stats_merge(mpnum_stats a, mpnum_stats b) {
  a.count += b.count;
  a.zeros += b.zeros;
  a.subnormals += b.subnormals;
  a.infs += b.infs;
  a.nans += b.nans;
  if (mpnum_bits_f32(b.amax) > mpnum_bits_f32(a.amax)) a.amax = b.amax;
  if (mpnum_bits_f32(b.min_nonzero) < mpnum_bits_f32(a.min_nonzero))
    a.min_nonzero = b.min_nonzero;
  return a;
}

MPNUM_C_END_
#endif

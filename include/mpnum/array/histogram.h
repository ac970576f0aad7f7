/* SPDX-License-Identifier: MIT */
/* How often each exponent occurs among values: where the magnitudes of a tensor lie, and
 * so what a narrower format would lose of them (health.h).
 *
 *     mpnum_histogram histogram = mpnum_histogram_empty();
 *     mpnum_grad_tensor tensor = mpnum_grad_tensor_of(f16, src, n, f32, dst);
 *     tensor.histogram = &histogram;      // filled by a pass of grad.h
 *     small = histogram.counts[127 - 25]; // magnitudes from 2^-25 to below 2^-24
 *
 * Exact in any order and grouping: tensors, devices and ranks merge to the same counts.
 */
#ifndef MPNUM_ARRAY_HISTOGRAM_H
#define MPNUM_ARRAY_HISTOGRAM_H

#include "../core/detail/bits.h"
MPNUM_C_BEGIN_

/* Counts by the exponent field of a value as a float: counts[k] holds magnitudes from
 * 2^(k - 127) to below 2^(k - 126), counts[0] subnormal floats, counts[255] Inf and NaN.
 */
typedef struct mpnum_histogram {
  uint64_t zeros; /* zeros of either sign, which are not among counts */
  uint64_t counts[256];
} mpnum_histogram;

/* Returns a histogram of no values. */
MPNUM_FUNC mpnum_histogram mpnum_histogram_empty(void) {
  const mpnum_histogram histogram = {0, {0}};
  return histogram;
}
/* Adds one value. */
MPNUM_MATH_ void mpnum_histogram_add(mpnum_histogram *histogram, float x) {
  const uint32_t magnitude = mpnum_bits_f32(x) & 0x7fffffffu;
  if (magnitude == 0) {
    histogram->zeros += 1;
  } else {
    histogram->counts[magnitude >> 23] += 1;
  }
}
/* Adds the counts of another histogram. */
MPNUM_FUNC void mpnum_histogram_merge(mpnum_histogram *histogram,
                                      const mpnum_histogram *other) {
  int k = 0;
  histogram->zeros += other->zeros;
  for (; k < 256; ++k)
    histogram->counts[k] += other->counts[k];
}
/* Returns the number of values. */
MPNUM_FUNC uint64_t mpnum_histogram_total_(const mpnum_histogram *histogram) {
  uint64_t total = histogram->zeros;
  int k = 0;
  for (; k < 256; ++k)
    total += histogram->counts[k];
  return total;
}

MPNUM_C_END_
#endif

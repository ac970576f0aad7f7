/* SPDX-License-Identifier: MIT */
/* Counts of what quantising loses, for scale.h and blockscale.h. Host and device. */
#ifndef MPNUM_ARRAY_LOSSES_H
#define MPNUM_ARRAY_LOSSES_H

#include "../core/format.h"
MPNUM_C_BEGIN_

/* What quantising lost, and the largest magnitude of the source. Functions add to it:
 * begin with zeros. */
typedef struct mpnum_quantize_losses {
  uint64_t saturated;   /* finite elements that rounded past the largest value; with
                           stochastic rounding, that were above it */
  uint64_t underflowed; /* finite nonzero elements whose code is a zero */
  uint64_t nonfinite;   /* Inf and NaN */
  float amax;           /* of finite elements of the source */
} mpnum_quantize_losses;

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* Synthetic data. Value number i is a function of i alone, so any part can be made again.
 */
#ifndef MPNUM_BENCH_DISTRIBUTIONS_H
#define MPNUM_BENCH_DISTRIBUTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef struct distribution {
  const char *name;
  const char *law; /* in words */
  double (*draw)(uint64_t index);
} distribution;

enum { DISTRIBUTION_COUNT = 3 };

/* normal, gradients, activations */
extern const distribution distributions[DISTRIBUTION_COUNT];

#endif

/* SPDX-License-Identifier: MIT */
/* Time of conversions: arrays against the copy limit, and single out-of-line calls. */
#ifndef MPNUM_BENCH_SPEED_H
#define MPNUM_BENCH_SPEED_H

#include <stdbool.h>
#include <stddef.h>

#include "../core/formats.h"
#include "../core/progress.h"

typedef struct speed {
  double ns;    /* for one value */
  double rate;  /* GB/s, bytes read and written */
  double limit; /* GB/s of the fastest copy of the same byte shape */
} speed;

typedef struct speed_results {
  size_t count; /* values in the array */
  unsigned rounds;
  speed encode[FORMAT_COUNT], decode[FORMAT_COUNT];
} speed_results;

/* False when out of memory. */
bool speed_measure(speed_results *results, size_t size, unsigned rounds, progress *bar);
uint64_t speed_work(unsigned rounds);

/* Timed values: f32 of the normal distribution. NULL when out of memory. */
float *speed_values(size_t count);

#endif

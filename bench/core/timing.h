/* SPDX-License-Identifier: MIT */
/* Fair timing: every contender takes its turn in each round, and the median counts. */
#ifndef MPNUM_BENCH_TIMING_H
#define MPNUM_BENCH_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "progress.h"

typedef struct contender {
  /* One pass over the data. */
  void (*pass)(const struct contender *self);
  void (*array)(void *dst, const void *src, size_t count); /* for array_pass */
  const void *more; /* for a pass of the caller's */
  void *dst;
  const void *src;
  size_t count;     /* elements */
  size_t dst_bytes; /* of the result, read between samples */
  size_t repeats;   /* passes in a sample, set by timing_measure */
  bool warm;        /* run once untimed before each sample, set likewise */
  double *samples;
  double ns;    /* result: median time of one element */
  double noise; /* result: half of what lies between the quartiles, over the median */
} contender;

/* The pass of a contender with an array function. */
void array_pass(const contender *self);

/* False when out of memory. `what` labels the progress bar, which moves by rounds *
 * count. */
bool timing_measure(contender *list, size_t count, unsigned rounds, progress *bar,
                    const char *what);

/* The median of samples, which are sorted, and half of what lies between their quartiles,
 * over it. */
void timing_spread(double *samples, unsigned count, double *median, double *noise);

/* 64-byte aligned and touched; released with free. */
void *timing_buffer(size_t bytes);

#endif

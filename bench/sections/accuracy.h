/* SPDX-License-Identifier: MIT */
/* What each format does to the values of a tensor. */
#ifndef MPNUM_BENCH_ACCURACY_H
#define MPNUM_BENCH_ACCURACY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../core/distributions.h"
#include "../core/figures.h"
#include "../core/formats.h"
#include "../core/options.h"
#include "../input/input.h"
#include "../core/progress.h"

/* Sums over the nonzero finite values x, y = decode(encode_sat(x * 2^k)) / 2^k. */
typedef struct accuracy {
  int scale_exponent;           /* k */
  uint64_t overflow, underflow; /* values that round past max; values that become 0 */
  double max_relative;          /* of |y - x| / |x| */
  double sum_relative_squares;
  double signal, noise; /* sums of x^2 and of (y - x)^2 */
} accuracy;

/* A tensor of a file, or a distribution. */
typedef struct subject {
  const input *file; /* NULL: synthetic */
  const tensor *values;
  const distribution *law;
  uint64_t count;
  uint64_t nonzero, zeros, nonfinite; /* results: count by class */
  double amax;                        /* result: largest finite magnitude */
  accuracy results[SCALING_COUNT][FORMAT_COUNT];
} subject;

const char *subject_name(const subject *about);
const char *subject_source(const subject *about); /* path of the file, or "synthetic" */

/* Reads the values twice. The bar moves by accuracy_work(...). */
bool accuracy_measure(subject *about, const bool scaling[SCALING_COUNT], progress *bar,
                      refusal *why);
uint64_t accuracy_work(const subject *about, const bool scaling[SCALING_COUNT]);

/* Appends what was measured. */
void accuracy_figures(figures *to, const subject *about,
                      const bool scaling[SCALING_COUNT]);
bool accuracy_print(const figures *from, FILE *to);

#endif

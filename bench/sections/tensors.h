/* SPDX-License-Identifier: MIT */
/* What sections about the errors of tensors share: a tensor's place among the figures,
 * and its tables. */
#ifndef MPNUM_BENCH_TENSORS_H
#define MPNUM_BENCH_TENSORS_H

#include <stdbool.h>
#include <stdio.h>

#include "../core/figures.h"

enum { LINE_WIDTH = 100 };
#define SYNTHETIC "synthetic" /* instead of a file */

/* The place of a tensor's own figures, which begin with `file` and `tensor`. Returns its
 * source. */
const char *tensor_begin(figures *to, const char *section, const char *file,
                         const char *name);

/* In dB, from sums of squares. +Inf when every value is exact, and where the noise is
 * below what sums of doubles tell from none: a value of 1e-30 that is rounded beside one
 * of 1. */
double sqnr_of(double signal, double noise);

/* "TITLE: FILE", then print(part, name) for each of its tensors: the name in at most
 * `width` columns, unlike any other's. False when one is false. */
bool tensors_print(const figures *from, const char *section, const char *title,
                   size_t width,
                   bool (*print)(const figures *part, const char *name, FILE *to),
                   FILE *to);

#endif

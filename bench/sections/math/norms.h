/* SPDX-License-Identifier: MIT */
/* Norms of rows, their gradients and fused forms: time beside a loop and a copy. */
#ifndef MPNUM_BENCH_NORMS_H
#define MPNUM_BENCH_NORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../../core/figures.h"
#include "../../core/progress.h"

enum { NORM_OPERATIONS = 7, NORM_WIDTHS = 3, NORM_WAYS = 5 };

/* Rows one after another, of 4 or 2 bytes an element. */
typedef struct norm_rows {
  size_t rows, columns;
  void *src, *dst, *other;
  float *weight, *of_weight, *of_rows;
} norm_rows;

/* f32, f16 and bf16 of mpnum, the loop in f32, and the copy of f32. */
typedef enum norm_way { NORM_F32, NORM_F16, NORM_BF16, NORM_LOOP, NORM_COPY } norm_way;

typedef struct norm_operation {
  const char *name;
  void (*run)(const norm_rows *call, norm_way type);
  void (*loop)(const norm_rows *call); /* or NULL */
} norm_operation;
extern const norm_operation norm_operations[NORM_OPERATIONS];
/* The same values in a type of mpnum's. */
void norm_convert(void *dst, norm_way type, const float *src, size_t count);

typedef struct norm_figure {
  bool measured;
  double ns, noise;
} norm_figure;
typedef struct norm_results {
  size_t columns[NORM_WIDTHS], rows[NORM_WIDTHS];
  norm_figure ways[NORM_OPERATIONS][NORM_WIDTHS][NORM_WAYS];
} norm_results;

/* How many contenders there are. */
size_t norms_count(void);
/* False when out of memory. */
bool norms_measure(norm_results *found, size_t values, unsigned rounds, progress *bar);
void norms_figures(figures *to, const norm_results *found);
bool norms_print(const figures *from, FILE *to);

#endif

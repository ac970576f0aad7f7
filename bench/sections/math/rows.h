/* SPDX-License-Identifier: MIT */
/* Losses, norms and activations of rows, their gradients and fused forms: time beside a
 * loop and a copy. */
#ifndef MPNUM_BENCH_ROWS_H
#define MPNUM_BENCH_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../core/figures.h"
#include "../../core/progress.h"

enum { ROW_OPERATIONS = 13, ROW_WIDTHS = 5, ROW_NAME = 64, ROW_WAYS = 5 };

/* Rows one after another, of 4 or 2 bytes an element. */
typedef struct row_call {
  size_t rows, columns;
  void *src, *dst, *other;
  float *weight, *of_weight, *of_rows;
  int32_t *targets; /* 0 */
} row_call;

/* f32, f16 and bf16 of mpnum, the loop in f32, and the copy of f32. */
typedef enum row_way { ROW_F32, ROW_F16, ROW_BF16, ROW_LOOP, ROW_COPY } row_way;

typedef struct row_operation {
  const char *name;
  void (*run)(const row_call *call, row_way type);
  void (*loop)(const row_call *call); /* or NULL */
} row_operation;
extern const row_operation row_operations[ROW_OPERATIONS];
/* The same values in a type of mpnum's. */
void row_convert(void *dst, row_way type, const float *src, size_t count);

typedef struct row_figure {
  bool measured;
  double ns, noise;
} row_figure;
typedef struct row_results {
  int widths; /* of ROW_WIDTHS, those that an array has room for */
  size_t columns[ROW_WIDTHS], rows[ROW_WIDTHS];
  row_figure ways[ROW_OPERATIONS][ROW_WIDTHS][ROW_WAYS];
} row_results;

/* How rows are called: "softmax, 65 x 1000". */
void rows_name(char name[ROW_NAME], const row_results *found, int operation, int width);

void rows_plan(row_results *found, size_t values);
/* How many contenders there are. */
size_t rows_count(const row_results *found);
/* False when out of memory. */
bool rows_measure(row_results *found, size_t values, unsigned rounds, progress *bar);
void rows_figures(figures *to, const row_results *found);
bool rows_print(const figures *from, FILE *to);

#endif

/* SPDX-License-Identifier: MIT */
/* A table of text: cells in reading order, columns as wide as their widest cell. */
#ifndef MPNUM_BENCH_TABLE_H
#define MPNUM_BENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../core/message.h"

enum { TABLE_COLUMNS = 20, TABLE_CELL = 64, TABLE_GROUPS = 8 };

typedef struct table {
  size_t columns, count;
  char (*cells)[TABLE_CELL]; /* the first row is the heading */
  bool left[TABLE_COLUMNS];  /* aligned left, else right */
  struct {
    size_t first, count; /* columns under a heading of their own */
    const char *text;
  } groups[TABLE_GROUPS];
  size_t group_count;
  bool failed; /* out of memory */
} table;

void table_begin(table *made, size_t columns);
void table_add(table *made, const char *format, ...) BENCH_PRINTF(2, 3);
void table_group(table *made, size_t first, size_t count, const char *text);
/* Prints and releases; false when memory ran out and nothing was printed. */
bool table_end(table *made, FILE *to);

#endif

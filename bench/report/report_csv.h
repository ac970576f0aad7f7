/* SPDX-License-Identifier: MIT */
/* Lines of the CSV file, for the files that report a section each. */
#ifndef MPNUM_BENCH_REPORT_CSV_H
#define MPNUM_BENCH_REPORT_CSV_H

#include <stdio.h>

typedef struct csv_place {
  FILE *to;
  const char *section, *source, *name, *variant;
} csv_place;

/* 17 digits give the same double back. No number (a NaN) is an empty field. */
void csv_put(const csv_place *at, const char *metric, double value, const char *unit);

#endif

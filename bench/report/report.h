/* SPDX-License-Identifier: MIT */
/* What a run found, and the files that are written of it. They know no section but for
 * the charts, which pick their figures. */
#ifndef MPNUM_BENCH_REPORT_H
#define MPNUM_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "../core/figures.h"

typedef struct report {
  char cpu[96];
  char *const *options;     /* of the command line, ended by NULL */
  bool answer, why, tables; /* parts that are printed; none: the tables */
  figures found;
} report;

/* False where the stream refused, or memory. */
bool report_csv(const report *about, FILE *to);
bool report_json(const report *about, FILE *to);
bool report_svg(const report *about, FILE *to);

#endif

/* SPDX-License-Identifier: MIT */
/* The part of each report for a set of array functions. */
#ifndef MPNUM_BENCH_ARRAYS_REPORT_H
#define MPNUM_BENCH_ARRAYS_REPORT_H

#include <stdio.h>

#include "../../report/report_csv.h"
#include "../../report/report_json.h"
#include "arrays.h"

/* "256 KiB" */
typedef struct array_label {
  char text[24];
} array_label;
array_label array_size_label(size_t bytes);

/* False when out of memory. */
bool arrays_text(const array_results *found, FILE *to);
json_t *arrays_json(const array_results *found);
void arrays_csv(csv_place at, const array_results *found);

#endif

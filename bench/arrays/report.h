/* SPDX-License-Identifier: MIT */
/* The array functions' part of each report. */
#ifndef MPNUM_BENCH_ARRAYS_REPORT_H
#define MPNUM_BENCH_ARRAYS_REPORT_H

#include <stdio.h>

#include "../report_csv.h"
#include "../report_json.h"
#include "arrays.h"

/* False when out of memory. */
bool arrays_text(const array_results *found, FILE *to);
json_t *arrays_json(const array_results *found);
void arrays_csv(csv_place at, const array_results *found);

#endif

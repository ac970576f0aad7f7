/* SPDX-License-Identifier: MIT */
/* The part of each report for functions and softmax. */
#ifndef MPNUM_BENCH_MATH_REPORT_H
#define MPNUM_BENCH_MATH_REPORT_H

#include <stdio.h>

#include "../../report/report_csv.h"
#include "../../report/report_json.h"
#include "measure.h"

/* False when out of memory. */
bool math_text(const math_results *found, FILE *to);
json_t *math_json(const math_results *found);
void math_csv(csv_place at, const math_results *found);

#endif

/* SPDX-License-Identifier: MIT */
/* The GPU's part of each report. */
#ifndef MPNUM_BENCH_GPU_REPORT_H
#define MPNUM_BENCH_GPU_REPORT_H

#include <stdio.h>

#include "../report/report_csv.h"
#include "../report/report_json.h"
#include "gpu.h"

/* False when out of memory. */
bool gpu_text(const gpu_results *found, FILE *to);
json_t *gpu_json(const gpu_results *found);
void gpu_csv(csv_place at, const gpu_results *found);

#endif

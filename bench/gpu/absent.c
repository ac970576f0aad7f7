/* SPDX-License-Identifier: MIT */
/* Stands in for the .cu files in a program that is built without CUDA. */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

void gpu_measure(gpu_results *results, const gpu_plan *plan, progress *bar) {
  (void)bar;
  memset(results, 0, sizeof *results);
  results->plan = *plan;
  snprintf(results->absent, sizeof results->absent, "built without CUDA (%s)",
           BENCH_GPU_ABSENT);
}

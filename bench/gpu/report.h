/* SPDX-License-Identifier: MIT */
/* The GPU's section: its results as figures, and their tables. */
#ifndef MPNUM_BENCH_GPU_REPORT_H
#define MPNUM_BENCH_GPU_REPORT_H

#include <stdio.h>

#include "../core/figures.h"
#include "gpu.h"

void gpu_figures(figures *to, const gpu_results *found);
bool gpu_print(const figures *from, FILE *to);

#endif

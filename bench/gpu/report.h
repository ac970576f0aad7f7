/* SPDX-License-Identifier: MIT */
/* The GPU's section: its results as figures, and their tables. */
#ifndef MPNUM_BENCH_GPU_REPORT_H
#define MPNUM_BENCH_GPU_REPORT_H

#include <stdio.h>

#include "../core/figures.h"
#include "gpu.h"

void gpu_figures(figures *to, const gpu_results *found);
/* PyTorch's times of what it has, where TORCH_PYTHON or python3 has it, or why not. */
void gpu_measure_torch(gpu_results *results);
bool gpu_print(const figures *from, FILE *to);

#endif

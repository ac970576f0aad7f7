/* SPDX-License-Identifier: MIT */
/* Stands in for rows of launchers, sizes and training steps where `--gpu` is not asked
 * for. */
#include "gpu.h"

void gpu_measure_kernels(struct gpu_run *run) { (void)run; }
void gpu_measure_sweep(struct gpu_run *run) { (void)run; }
void gpu_measure_steps(struct gpu_run *run, struct blas *library) {
  (void)run;
  (void)library;
}

/* SPDX-License-Identifier: MIT */
/* The parts that only `--gpu` runs; a program without them has no_kernels.c. */
#ifndef MPNUM_BENCH_GPU_PARTS_H
#define MPNUM_BENCH_GPU_PARTS_H

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_run;
struct blas;
void gpu_measure_kernels(struct gpu_run *run);
void gpu_measure_sweep(struct gpu_run *run);
void gpu_measure_steps(struct gpu_run *run, struct blas *library);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Clocks of a GPU through libnvidia-ml.so.1, which is looked for when the program runs.
 */
#ifndef MPNUM_BENCH_GPU_NVML_H
#define MPNUM_BENCH_GPU_NVML_H

#include "gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* bus: as cudaDeviceGetPCIBusId has it. What is not known is NaN. */
void nvml_read(gpu_clocks *clocks, const char *bus);

/* The bits of nvmlDeviceGetCurrentClocksThrottleReasons in words. */
void nvml_reasons(char *dst, size_t size, unsigned long long bits);

#ifdef __cplusplus
}
#endif

#endif

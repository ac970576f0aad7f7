/* SPDX-License-Identifier: MIT */
/* Clocks of a GPU through libnvidia-ml.so.1, which is looked for when the program runs.
 */
#ifndef MPNUM_BENCH_GPU_NVML_H
#define MPNUM_BENCH_GPU_NVML_H

#include "gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* bus: as cudaDeviceGetPCIBusId has it. What is not known is NaN. begin, if there is one,
 * is called when the library has started, which takes long, right before it is asked. */
void nvml_read(gpu_clocks *clocks, const char *bus, void (*begin)(void *context),
               void *context);

/* The bits of nvmlDeviceGetCurrentClocksThrottleReasons in words. */
void nvml_reasons(char *dst, size_t size, unsigned long long bits);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Finds the GPU and runs the parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fill.cuh"
#include "measure.cuh"
#include "gpu.h"

namespace {

bool absent(gpu_results *results, const char *what, cudaError_t error) {
  snprintf(results->absent, sizeof results->absent, "%s: %s", what,
           cudaGetErrorString(error));
  clean_text(results->absent);
  return false;
}

bool find_device(gpu_results *results) {
  const int wanted = results->plan.device;
  int driver = 0, count = 0;
  cudaError_t error;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    snprintf(results->absent, sizeof results->absent, "no NVIDIA driver is loaded");
    return false;
  }
  error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return absent(results, "no GPU can be used", error);
  if (count == 0) {
    snprintf(results->absent, sizeof results->absent, "there is no NVIDIA GPU");
    return false;
  }
  if (wanted >= count) {
    snprintf(results->absent, sizeof results->absent,
             "there is no GPU number %d: they are 0 to %d", wanted, count - 1);
    return false;
  }
  results->device.driver = driver;
  results->device.others = count - 1;
  return true;
}

bool describe(gpu_results *results) {
  gpu_device *device = &results->device;
  const int wanted = results->plan.device;
  cudaDeviceProp found;
  cudaError_t error = cudaGetDeviceProperties(&found, wanted);
  if (error == cudaSuccess) error = cudaSetDevice(wanted);
  if (error == cudaSuccess)
    error = cudaDeviceGetPCIBusId(device->bus, sizeof device->bus, wanted);
  if (error == cudaSuccess) error = cudaRuntimeGetVersion(&device->runtime);
  if (error != cudaSuccess) return absent(results, "the GPU cannot be used", error);
  gpu_set_text(device->name, sizeof device->name, found.name);
  device->major = found.major;
  device->minor = found.minor;
  device->multiprocessors = found.multiProcessorCount;
  device->memory = static_cast<double>(found.totalGlobalMem);
  device->cache = found.l2CacheSize;
  return true;
}

/* Its target, and whether that has the instructions of e2m1. */
__global__ void arch_kernel(int *arch) {
#if defined(__CUDA_ARCH__)
  arch[0] = __CUDA_ARCH__;
#else
  arch[0] = 0;
#endif
  arch[1] = mpnum_has_hw(MPNUM_TYPE_E2M1);
}

/* Runs a first kernel: a GPU older than all code in this program has none. */
bool try_kernel(gpu_results *results) {
  gpu_device *device = &results->device;
  gpu_buffer memory;
  int arch[2] = {0, 0};
  cudaError_t error = memory.make(sizeof arch);
  if (error == cudaSuccess) error = gpu_launch(arch_kernel, 1, 1, memory.as<int>());
  if (error == cudaSuccess)
    error = cudaMemcpy(arch, memory.at, sizeof arch, cudaMemcpyDeviceToHost);
  if (error == cudaErrorNoKernelImageForDevice ||
      error == cudaErrorInvalidDeviceFunction ||
      error == cudaErrorUnsupportedPtxVersion) {
    snprintf(results->absent, sizeof results->absent,
             "%s, compute capability %d.%d, cannot run the code of this build (%s): %s",
             device->name, device->major, device->minor, BENCH_GPU_ARCHS,
             cudaGetErrorString(error));
    return false;
  }
  if (error != cudaSuccess) return absent(results, device->name, error);
  device->code_major = arch[0] / 100;
  device->code_minor = arch[0] / 10 % 10;
  if (arch[0] > 0) gpu_note_code(results, arch[1] != 0);
  return true;
}

} // namespace

/* A part that is no row: what it could not do is a note, and the next one follows. */
static void measure_alone(gpu_run *run, const char *what, bool (*measure)(gpu_run *)) {
  gpu_state state;
  char text[sizeof run->why.text];
  if (!run->is_lost && measure(run)) return;
  run->fail(&state, text, sizeof text);
  gpu_note(run->results, "%s: %s", what, text);
}
static bool read_before(gpu_run *run) {
  return gpu_read_clocks(run, &run->results->before);
}
static bool read_after(gpu_run *run) {
  return gpu_read_clocks(run, &run->results->after);
}

bool gpu_find(gpu_results *results) {
  return find_device(results) && describe(results) && try_kernel(results);
}

void gpu_measure(gpu_results *results, const gpu_plan *plan, progress *bar) {
  memset(results, 0, sizeof *results);
  results->plan = *plan;
  if (!gpu_find(results)) return;
  gpu_run run(results, bar);
  progress_begin(bar, 10 + GPU_CONVERSIONS * 4 + GPU_REDUCTIONS * 2 +
                          GPU_PRODUCTS * (2 + GPU_VARIANTS) +
                          GPU_PRODUCTS * (GPU_STEP_PARTS + 2) * plan->step_shapes +
                          (plan->all ? GPU_KERNELS * 3 + 10 * GPU_SWEEP_SIZES : 0));
  if (run.open()) {
    measure_alone(&run, "limits", gpu_measure_limits);
    measure_alone(&run, "clocks before", read_before);
    for (unsigned i = 0; i < GPU_CONVERSIONS; ++i)
      gpu_measure_conversion(&run, i);
    for (unsigned i = 0; i < GPU_REDUCTIONS; ++i)
      gpu_measure_reduction(&run, i);
    if (plan->all) {
      gpu_measure_kernels(&run);
      gpu_measure_sweep(&run);
    }
    gpu_measure_products(&run);
    measure_alone(&run, "clocks after", read_after);
  } else {
    results->failed = true;
    gpu_note(results, "nothing could be measured: %s", run.why.text);
  }
  progress_end(bar);
}

/* SPDX-License-Identifier: MIT */
/* A launch in the default stream that returns the runtime's error. */
#ifndef MPNUM_BENCH_GPU_LAUNCH_CUH
#define MPNUM_BENCH_GPU_LAUNCH_CUH

#include <stddef.h>

/* The type itself, so that arguments convert to the kernel's parameters. */
template <class T> struct gpu_parameter { typedef T type; };

template <class... Parameters>
static inline cudaError_t
gpu_launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
           typename gpu_parameter<Parameters>::type... arguments) {
  void *pointers[] = {&arguments...};
  return cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), pointers, 0, 0);
}

#endif

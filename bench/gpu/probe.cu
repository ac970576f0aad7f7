/* SPDX-License-Identifier: MIT */
/* Compiled when the build is configured: whether nvcc works, with this host compiler and
 * these targets. */
#include <stddef.h>

__global__ void probe_kernel(size_t *dst) { *dst = sizeof *dst; }

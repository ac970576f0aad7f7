/* SPDX-License-Identifier: MIT */
#include "programmatic.h"

#include "chain.cuh"

cudaError_t gpu_start_programmatic_chain(void *context, unsigned, cudaStream_t stream) {
  return start_chain(context, stream);
}
bool gpu_has_programmatic_chain() { return MPNUM_PROGRAMMATIC_LAUNCH; }

/* SPDX-License-Identifier: MIT */
/* Where no target of this compilation is older than 9.0. */
#define FIRST_OF(first, ...) first
#define FIRST(...)           FIRST_OF(__VA_ARGS__, 0)
#if defined(__CUDA_ARCH_LIST__)
# if FIRST(__CUDA_ARCH_LIST__) >= 900
#  define MPNUM_PROGRAMMATIC_LAUNCH 1
# endif
#endif
#include "chain.cuh"

cudaError_t gpu_start_programmatic_chain(void *context, unsigned, cudaStream_t stream) {
  return start_chain(context, stream);
}
bool gpu_has_programmatic_chain() { return MPNUM_PROGRAMMATIC_LAUNCH; }

/* SPDX-License-Identifier: MIT */
/* Before mpnum's headers: MPNUM_PROGRAMMATIC_LAUNCH where no target of this compilation
 * is older than 9.0. */
#ifndef MPNUM_BENCH_GPU_PROGRAMMATIC_H
#define MPNUM_BENCH_GPU_PROGRAMMATIC_H

#define FIRST_OF(first, ...) first
#define FIRST(...)           FIRST_OF(__VA_ARGS__, 0)
#if defined(__CUDA_ARCH_LIST__)
# if FIRST(__CUDA_ARCH_LIST__) >= 900
#  define MPNUM_PROGRAMMATIC_LAUNCH 1
# endif
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* CUDA's words for a C++ compiler: qualifiers and built-in variables. The
 * names are CUDA's, hence reserved ones. */
#ifndef MPNUM_TESTS_SIMT_LANGUAGE_HPP
#define MPNUM_TESTS_SIMT_LANGUAGE_HPP

#if defined(__CUDACC__) || defined(__CUDA__)
# error "this stands in for a CUDA compiler"
#endif

#if defined(__clang__)
# pragma clang diagnostic push
# pragma clang diagnostic ignored "-Wreserved-identifier"
#endif

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

/* The only storage that a prefix alone gives to variables in functions of any kind,
 * static, inline or template, and that `extern` may precede. All fibers run on one OS
 * thread and share it. Marked as used, or a compiler that sees no write reads zero. */
#define __shared__ __attribute__((used)) thread_local

#if defined(__clang__)
# pragma clang diagnostic pop
# pragma clang diagnostic ignored "-Wignored-attributes" /* `used`, at an extern */
#else
# pragma GCC diagnostic ignored "-Wattributes" /* the same */
#endif

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
      : x(x_), y(y_), z(z_) {}
};

/* Of the thread that runs. */
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
constexpr int warpSize = 32;

#endif

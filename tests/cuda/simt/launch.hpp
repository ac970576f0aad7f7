/* SPDX-License-Identifier: MIT */
/* For tests: a launch that is written like a call, in the simulator or, compiled by nvcc,
 * on a GPU. */
#ifndef MPNUM_TESTS_SIMT_LAUNCH_HPP
#define MPNUM_TESTS_SIMT_LAUNCH_HPP

/* TEST_ON_GPU without nvcc: a GPU's program with the simulator as its GPU. */
#ifndef TEST_ON_GPU
# ifdef __CUDACC__
#  define TEST_ON_GPU 1
# else
#  define TEST_ON_GPU 0
# endif
#endif

#if TEST_ON_GPU
# include "../gpu/device.hpp"
#else
# include "simt.hpp"
#endif

namespace simt {

/* The type itself, so that arguments convert to the kernel's parameters. */
template <class T> struct parameter { typedef T type; };

struct geometry {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
};

template <class... A>
cudaError_t launch(void (*kernel)(A...), const geometry &size,
                   typename parameter<A>::type... arguments) {
  void *pointers[] = {const_cast<void *>(static_cast<const void *>(&arguments))...,
                      nullptr};
  return cudaLaunchKernel(kernel, size.grid, size.block, pointers, size.shared_bytes,
                          nullptr);
}

} // namespace simt

#endif

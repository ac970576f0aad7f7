/* SPDX-License-Identifier: MIT */
/* For tests: a launch that is written like a call, in the simulator or, compiled by nvcc,
 * on a GPU. */
#ifndef MPNUM_TESTS_SIMT_LAUNCH_HPP
#define MPNUM_TESTS_SIMT_LAUNCH_HPP

#ifdef __CUDACC__
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

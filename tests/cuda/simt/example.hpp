/* SPDX-License-Identifier: MIT */
/* What whole programs call beside what launchers do, for examples in the simulator:
 * device memory is the host's, there is one stream, and nothing is ever late. */
#ifndef MPNUM_TESTS_SIMT_EXAMPLE_HPP
#define MPNUM_TESTS_SIMT_EXAMPLE_HPP

#include "launch.hpp"

template <class T> cudaError_t cudaMalloc(T **memory, std::size_t bytes) {
  void *made = nullptr;
  const cudaError_t error = cudaMallocManaged(&made, bytes);
  *memory = static_cast<T *>(made);
  return error;
}
inline cudaError_t cudaMemset(void *to, int byte, std::size_t bytes) {
  return cudaMemsetAsync(to, byte, bytes);
}
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

/* Of the latest launch of the program's own kernels. */
namespace simt {
inline cudaError_t latest_error = cudaSuccess;
}
inline cudaError_t cudaGetLastError() {
  const cudaError_t error = simt::latest_error;
  simt::latest_error = cudaSuccess;
  return error;
}

#endif

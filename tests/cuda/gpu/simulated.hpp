/* SPDX-License-Identifier: MIT */
/* The simulator of tests/cuda/simt as the GPU of programs that are meant for a real one:
 * what they call of CUDA's runtime beside launches. Device memory is out of the host's
 * reach but while a kernel or a copy runs, and kernels may be given no other.
 *
 *     g++ -std=c++17 -DTEST_ON_GPU=1 -include simulated.hpp test_kernels_reduce.cpp
 *
 * SIMULATED_GPU holds what is wrong with it, separated by commas:
 *     none      there is no GPU              old       the driver is older than the
 * runtime fail=N    launch N ends with an error, and so does all that follows hang=N
 * launch N never ends          wrong=N   copy N to the host has one wrong bit memory=N so
 * many bytes there are Launches and copies are counted from 1. */
#ifndef MPNUM_TESTS_GPU_SIMULATED_HPP
#define MPNUM_TESTS_GPU_SIMULATED_HPP

#define SIMT_MEMORY_IS_FAKED 1
#include "../simt/simt.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

constexpr cudaError_t cudaErrorInsufficientDriver = static_cast<cudaError_t>(35);
constexpr cudaError_t cudaErrorNoDevice = static_cast<cudaError_t>(100);
constexpr cudaError_t cudaErrorNoKernelImageForDevice = static_cast<cudaError_t>(209);
constexpr cudaError_t cudaErrorUnsupportedPtxVersion = static_cast<cudaError_t>(222);

struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount, l2CacheSize;
  std::size_t totalGlobalMem;
};

namespace simulated {

/* The number after "name=" in SIMULATED_GPU, or 0; 1 for a word without a number. */
inline unsigned long long plan(const char *name) {
  const char *const text = std::getenv("SIMULATED_GPU");
  const std::size_t length = std::strlen(name);
  for (const char *at = text ? text : ""; *at;) {
    const std::size_t word = std::strcspn(at, ",");
    if (word >= length && std::strncmp(at, name, length) == 0) {
      if (word == length) return 1;
      if (at[length] == '=') return std::strtoull(at + length + 1, nullptr, 10);
    }
    at += word + (at[word] == ',');
  }
  return 0;
}

inline bool is_broken = false; /* an error of a kernel stays */
inline unsigned long long launches = 0, copies = 0;
inline std::size_t used = 0;
inline std::map<void *, std::size_t> sizes;
inline const bool is_asked_for = (simt::managed.is_asked_for = true);

inline cudaError_t state() {
  if (!is_broken) return cudaSuccess;
  simt::latest_fault.text = "a kernel failed, as SIMULATED_GPU says";
  return cudaErrorLaunchFailure;
}

/* Before a launch that the plan does not let through. */
inline cudaError_t next_launch() {
  ++launches;
  if (launches == plan("fail")) is_broken = true;
  while (launches == plan("hang"))
    usleep(100000);
  return state();
}

} // namespace simulated

inline cudaError_t cudaMalloc(void **at, std::size_t bytes) {
  if (simulated::is_broken) return simulated::state();
  const unsigned long long most = simulated::plan("memory");
  if (most && simulated::used + bytes > most) {
    simt::latest_fault.text = "out of memory";
    return cudaErrorMemoryAllocation;
  }
  simt::open_memory();
  *at = simt::managed.allocate(bytes);
  if (*at) std::memset(*at, 0xa5, bytes); /* nothing is zero by chance */
  simt::close_memory();
  if (!*at) return cudaErrorMemoryAllocation;
  simulated::sizes[*at] = bytes;
  simulated::used += bytes;
  return cudaSuccess;
}
template <class T> cudaError_t cudaMalloc(T **at, std::size_t bytes) {
  void *made = nullptr;
  const cudaError_t error = cudaMalloc(&made, bytes);
  *at = static_cast<T *>(made);
  return error;
}
inline cudaError_t cudaFree(void *at) {
  const auto found = simulated::sizes.find(at);
  if (!at) return cudaSuccess;
  if (found == simulated::sizes.end()) std::abort();
  simulated::used -= found->second;
  simulated::sizes.erase(found);
  simt::open_memory();
  simt::managed.release(at);
  simt::close_memory();
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes,
                              cudaMemcpyKind kind) {
  const simt::device_work now;
  if (simulated::is_broken) return simulated::state();
  if (bytes) std::memcpy(to, from, bytes);
  if (kind == cudaMemcpyDeviceToHost && bytes &&
      ++simulated::copies == simulated::plan("wrong"))
    *static_cast<unsigned char *>(to) ^= 1;
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void *to, int byte, std::size_t bytes) {
  const simt::device_work now;
  if (!simulated::is_broken && bytes) std::memset(to, byte, bytes);
  return simulated::state();
}
inline cudaError_t cudaDriverGetVersion(int *version) {
  *version = 13000;
  return simulated::state();
}
inline cudaError_t cudaDeviceSynchronize() { return simulated::state(); }
inline cudaError_t cudaGetLastError() { return simulated::state(); }
inline cudaError_t cudaGetDeviceCount(int *count) {
  *count = simulated::plan("none") ? 0 : 1;
  if (simulated::plan("old")) return cudaErrorInsufficientDriver;
  return *count ? cudaSuccess : cudaErrorNoDevice;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *found, int) {
  std::strcpy(found->name, "Simulated GPU");
  found->major = 9;
  found->minor = 0;
  found->multiProcessorCount = 2;
  found->l2CacheSize = 4096;
  found->totalGlobalMem = std::size_t{1} << 32;
  return simulated::state();
}
inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, void *, std::size_t *count) {
  *count = graph->nodes.size();
  return cudaSuccess;
}

/* Every launch is counted, also where it is captured. */
namespace simulated {
template <class... A>
cudaError_t launch(void (*kernel)(A...), dim3 grid, dim3 block, void **arguments,
                   std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  const cudaError_t error = next_launch();
  if (error != cudaSuccess) return error;
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
} // namespace simulated
#define cudaLaunchKernel simulated::launch

#endif

/* SPDX-License-Identifier: MIT */
/* CUDA's runtime, as far as launchers need it. Streams have no meaning: everything is
 * done when a function returns, or when a graph is launched, if one is being captured. */
#ifndef MPNUM_TESTS_SIMT_RUNTIME_HPP
#define MPNUM_TESTS_SIMT_RUNTIME_HPP

#include "block.hpp"
#include "faults.hpp"
#include "language.hpp"
#include "shared.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};

inline const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
  case cudaSuccess: return "cudaSuccess";
  case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
  case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
  case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
  case cudaErrorInvalidDevicePointer: return "cudaErrorInvalidDevicePointer";
  case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
  case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
  case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
  case cudaErrorNotSupported: return "cudaErrorNotSupported";
  case cudaErrorUnknown: return "cudaErrorUnknown";
  }
  return "unrecognized error code";
}

/* CUDA's own text, or that of the rule that the latest kernel broke. */
inline const char *cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorLaunchFailure) return simt::last_fault().text.c_str();
  return error == cudaSuccess ? "no error" : cudaGetErrorName(error);
}

typedef struct CUstream_st *cudaStream_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

/* What a graph does, in order, with copies of all arguments. */
struct CUgraph_st {
  std::vector<std::function<cudaError_t()>> nodes;
};
typedef CUgraph_st *cudaGraph_t;
typedef CUgraph_st *cudaGraphExec_t;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};

namespace simt {

/* Called when the device begins to work and when it ends: only in between may tests let
 * its memory be read. */
inline void (*device_works)(bool begins) = nullptr;
struct device_work {
  device_work() {
    if (device_works) device_works(true);
  }
  ~device_work() {
    if (device_works) device_works(false);
  }
};

/* Work for now, or for a graph that is being captured. */
inline cudaGraph_t captured = nullptr;
inline cudaError_t enqueue(std::function<cudaError_t()> work) {
  if (!captured) return work();
  captured->nodes.push_back(std::move(work));
  return cudaSuccess;
}

} // namespace simt

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  if (simt::captured) return cudaErrorUnknown;
  simt::captured = new CUgraph_st;
  return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  *graph = simt::captured;
  simt::captured = nullptr;
  return *graph ? cudaSuccess : cudaErrorUnknown;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph,
                                        unsigned long long) {
  *made = new CUgraph_st(*graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto &node : graph->nodes) {
    const cudaError_t error = node();
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes,
                                   cudaMemcpyKind, cudaStream_t = nullptr) {
  const simt::device_work ours;
  return simt::enqueue([=] {
    const simt::device_work now;
    if (bytes != 0) std::memcpy(to, from, bytes);
    return cudaSuccess;
  });
}
inline cudaError_t cudaMemsetAsync(void *to, int byte, std::size_t bytes,
                                   cudaStream_t = nullptr) {
  const simt::device_work ours;
  return simt::enqueue([=] {
    const simt::device_work now;
    if (bytes != 0) std::memset(to, byte, bytes);
    return cudaSuccess;
  });
}

enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };

namespace simt {

/* Of the one device there is; tests choose how many blocks a launcher makes. */
inline int multiprocessors = 132;

inline int launches = 0; /* that were asked for */

} // namespace simt

inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
  *value = simt::multiprocessors;
  return cudaSuccess;
}

namespace simt {

/* For tests of what a launcher does with an error: every launch returns it, and runs
 * nothing, as long as it is not cudaSuccess. */
inline cudaError_t launch_error = cudaSuccess;

inline cudaError_t check_launch(dim3 grid, dim3 block, std::size_t shared_bytes) {
  const std::uint64_t size = static_cast<std::uint64_t>(block.x) * block.y * block.z;
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || size == 0 || size > 1024)
    return cudaErrorInvalidConfiguration;
  if (grid.x == 0 || grid.x > 0x7fffffff || grid.y == 0 || grid.y > 65535 ||
      grid.z == 0 || grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  return shared_bytes > shared_limit ? cudaErrorInvalidValue : launch_error;
}

/* One block after another; the first fault ends the grid. */
inline void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes) {
  machine &m = the_machine();
  m.size = block.x * block.y * block.z;
  while (m.threads.size() < m.size)
    m.threads.push_back(
        std::make_unique<thread>(static_cast<unsigned>(m.threads.size())));
  for (unsigned i = 0; i < m.size; ++i)
    m.threads[i]->index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
  gridDim = grid;
  blockDim = block;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        fill_shared(shared_bytes, active_schedule.poison);
        run_block();
        check_shared(shared_bytes, active_schedule.poison);
        if (has_fault()) return;
      }
    }
  }
}

/* The kernel with a copy of its arguments, as a launch takes one. */
template <class... A, std::size_t... I>
auto bind(void (*kernel)(A...), void *const *arguments, std::index_sequence<I...>) {
  (void)arguments;
  return [kernel, copies = std::tuple<std::remove_cv_t<A>...>(
                      *static_cast<std::remove_cv_t<A> *>(arguments[I])...)] {
    std::apply(kernel, copies);
  };
}

} // namespace simt

/* Unlike CUDA's, it also reports what happens while the kernel runs. */
template <class... A>
cudaError_t cudaLaunchKernel(void (*kernel)(A...), dim3 grid, dim3 block,
                             void **arguments, std::size_t shared_bytes = 0,
                             cudaStream_t = nullptr) {
  simt::latest_fault = {};
  ++simt::launches;
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  const cudaError_t status = simt::check_launch(grid, block, shared_bytes);
  if (status != cudaSuccess) return status;
  const simt::device_work ours;
  const std::function<void()> bound =
      simt::bind(kernel, arguments, std::index_sequence_for<A...>());
  return simt::enqueue([=] {
    const simt::device_work now;
    simt::latest_fault = {};
    simt::the_machine().kernel = bound;
    simt::run_grid(grid, block, shared_bytes);
    simt::the_machine().kernel = nullptr;
    return simt::has_fault() ? cudaErrorLaunchFailure : cudaSuccess;
  });
}

#endif

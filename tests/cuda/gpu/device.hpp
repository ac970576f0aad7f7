/* SPDX-License-Identifier: MIT */
/* A GPU in the place of the simulator: what tests of kernels use of simt.hpp. There is
 * one order of threads, the GPU's own, and rules are compute-sanitizer's to check. */
#ifndef MPNUM_TESTS_GPU_DEVICE_HPP
#define MPNUM_TESTS_GPU_DEVICE_HPP

#include "runner.hpp"
#include "two_memories.hpp"

#include <cstddef>
#include <string>

#ifdef __CUDACC__
# define SIMT_HAS_ASAN                   0
# define SIMT_DYNAMIC_SHARED(type, name) static_assert(true, "")
#endif

namespace gpu {

#if defined(__CUDACC__) && !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
# error "compile with --default-stream per-thread: the legacy stream cannot be captured"
#endif

/* Tools that watch a GPU see plain launches. */
inline bool captures() { return !asked.is_tiny && !asked.is_plain; }
inline void begin_capture() {
  is_inside = true;
  is_capturing = captures();
  if (captures()) cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal);
}
inline cudaError_t replay(cudaError_t error);
/* What was captured has run; error is the launcher's. */
inline cudaError_t replayed(cudaError_t error) {
  if (captures()) error = replay(error);
  is_inside = is_capturing = false;
  return finished(error);
}
inline cudaError_t replay(cudaError_t error) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  size_t nodes = 0;
  const cudaError_t end = cudaStreamEndCapture(nullptr, &graph);
  if (error == cudaSuccess) error = end;
  if (error == cudaSuccess) error = cudaGraphGetNodes(graph, nullptr, &nodes);
  send_named();
  if (error == cudaSuccess && nodes > 0) {
    error = cudaGraphInstantiate(&ready, graph, 0);
    if (error == cudaSuccess) error = cudaGraphLaunch(ready, nullptr);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
  }
  if (ready) cudaGraphExecDestroy(ready);
  if (graph) cudaGraphDestroy(graph);
  return error;
}

} // namespace gpu

#ifdef __CUDACC__
namespace simt {

struct schedule {
  const char *name;
};
static const schedule active_schedule = {"on the GPU"};
static const schedule schedules[6] = {};
inline void use(const schedule &) {}

struct fault {
  std::string text;
};
/* The latest error of the runtime, which forgets it where it can go on. */
inline fault last_fault() { return {cudaGetErrorString(cudaGetLastError())}; }

/* Nothing stands for a launch here, and none are counted. */
static cudaError_t launch_error = cudaSuccess;
[[maybe_unused]] static int failing_launch = 0;
static int launches = 0;
/* Of no effect: a GPU has the shared memory that it has. */
[[maybe_unused]] static std::size_t shared_optin = 0;

inline int count_multiprocessors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}
static const int multiprocessors = count_multiprocessors();

} // namespace simt
#endif

#endif

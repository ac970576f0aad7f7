/* SPDX-License-Identifier: MIT */
/* A GPU of the CPU for the benchmark's .cu files: kernels run in tests/cuda/simt, what
 * else they call of CUDA's runtime is here. Any call can be made to fail. */
#ifndef MPNUM_TESTS_BENCH_GPU_RUNTIME_HPP
#define MPNUM_TESTS_BENCH_GPU_RUNTIME_HPP

#define SIMT_MEMORY_IS_FAKED 1
#include "../cuda/simt/simt.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount, l2CacheSize;
  std::size_t totalGlobalMem;
};

constexpr cudaError_t cudaErrorNoDevice = static_cast<cudaError_t>(100);
constexpr cudaError_t cudaErrorNoKernelImageForDevice = static_cast<cudaError_t>(209);
constexpr cudaError_t cudaErrorUnsupportedPtxVersion = static_cast<cudaError_t>(222);

namespace fake {

struct state {
  int driver = 13000, devices = 1, major = 9, minor = 0;
  std::size_t memory = std::size_t{64} << 20; /* that cudaMalloc can give */
  long fail_call = -1;                        /* number of the call that fails, from 0 */
  cudaError_t error = cudaErrorUnknown;
  /* Results. */
  long calls = 0;
  std::size_t used = 0;
  std::map<void *, std::size_t> blocks;
  int events = 0, streams = 0, chosen = -1;
  bool is_lasting = false, is_broken = false; /* one error, and then all calls fail */
  long wrong_copy = 0, failing_copy = 0, hanging_copy = 0, copies = 0;
};

/* SIMULATED_GPU as tests/cuda/gpu/simulated.hpp has it; here copies to the host count, as
 * how many other calls there are depends on time. */
inline long planned(const char *name, long otherwise) {
  const char *const text = std::getenv("SIMULATED_GPU");
  const std::size_t length = std::strlen(name);
  if (!text || std::strncmp(text, name, length) != 0 || text[length] != '=')
    return otherwise;
  return std::atol(text + length + 1);
}
inline state planned_state() {
  state made;
  made.failing_copy = planned("fail", 0);
  made.hanging_copy = planned("hang", 0);
  made.wrong_copy = planned("wrong", 0);
  made.memory = static_cast<std::size_t>(planned("memory", 64l << 20));
  return made;
}
inline state gpu = planned_state();

/* What a call that could fail returns. */
inline cudaError_t call() {
  const long number = gpu.calls++;
  if (number == gpu.fail_call) gpu.is_broken = gpu.is_lasting;
  return number == gpu.fail_call || gpu.is_broken ? gpu.error : cudaSuccess;
}

} // namespace fake

inline cudaError_t cudaMalloc(void **at, std::size_t bytes) {
  const cudaError_t error = fake::call();
  if (error != cudaSuccess) return error;
  if (fake::gpu.used + bytes > fake::gpu.memory) return cudaErrorMemoryAllocation;
  *at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*at, 0xa5, bytes); /* nothing is zero by chance */
  fake::gpu.blocks[*at] = bytes;
  fake::gpu.used += bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void *at) {
  const auto found = fake::gpu.blocks.find(at);
  if (found == fake::gpu.blocks.end()) std::abort();
  fake::gpu.used -= found->second;
  fake::gpu.blocks.erase(found);
  std::free(at);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes,
                              cudaMemcpyKind kind) {
  fake::state &gpu = fake::gpu;
  gpu.copies += kind == cudaMemcpyDeviceToHost;
  while (gpu.copies == gpu.hanging_copy && gpu.copies)
    usleep(100000);
  gpu.is_broken = gpu.is_broken || (gpu.copies == gpu.failing_copy && gpu.copies);
  const cudaError_t error = fake::call();
  if (error == cudaSuccess && bytes) std::memcpy(to, from, bytes);
  if (error == cudaSuccess && bytes && kind == cudaMemcpyDeviceToHost &&
      gpu.copies == gpu.wrong_copy)
    *static_cast<unsigned char *>(to) ^= 1;
  return error;
}
inline cudaError_t cudaMemcpy2D(void *to, std::size_t to_pitch, const void *from,
                                std::size_t from_pitch, std::size_t width,
                                std::size_t height, cudaMemcpyKind) {
  const cudaError_t error = fake::call();
  for (std::size_t i = 0; error == cudaSuccess && i < height; ++i)
    std::memcpy(static_cast<char *>(to) + i * to_pitch,
                static_cast<const char *>(from) + i * from_pitch, width);
  return error;
}

struct fake_event {
  std::chrono::steady_clock::time_point time;
};
typedef fake_event *cudaEvent_t;

inline cudaError_t cudaEventCreate(cudaEvent_t *event) {
  const cudaError_t error = fake::call();
  if (error != cudaSuccess) return error;
  ++fake::gpu.events;
  *event = new fake_event;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  --fake::gpu.events;
  delete event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->time = std::chrono::steady_clock::now();
  return fake::call();
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return fake::call(); }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end) {
  const auto passed = std::chrono::duration<float, std::milli>(end->time - begin->time);
  *ms = passed.count();
  return fake::call();
}

struct CUstream_st {};
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  const cudaError_t error = fake::call();
  if (error != cudaSuccess) return error;
  ++fake::gpu.streams;
  *stream = new CUstream_st;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  --fake::gpu.streams;
  delete stream;
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void *at, int byte, std::size_t bytes) {
  const cudaError_t error = fake::call();
  if (error == cudaSuccess) std::memset(at, byte, bytes);
  return error;
}

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return fake::call(); }
inline cudaError_t cudaDeviceGetPCIBusId(char *bus, int size, int device) {
  std::snprintf(bus, static_cast<std::size_t>(size), "0000:%02x:00.0", device + 1);
  return fake::call();
}
inline cudaError_t cudaSetDevice(int device) {
  fake::gpu.chosen = device;
  return fake::call();
}
inline cudaError_t cudaDriverGetVersion(int *version) {
  *version = fake::gpu.driver;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return fake::call();
}
inline cudaError_t cudaGetDeviceCount(int *count) {
  *count = fake::gpu.devices;
  return fake::call();
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *found, int) {
  std::strcpy(found->name, "Fake\x1b GPU <1>");
  found->major = fake::gpu.major;
  found->minor = fake::gpu.minor;
  found->multiProcessorCount = 2;
  found->l2CacheSize = 4096;
  found->totalGlobalMem = fake::gpu.memory;
  return fake::call();
}

#endif

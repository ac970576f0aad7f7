/* SPDX-License-Identifier: MIT */
/* CUDA's runtime, as far as launchers need it. Streams have no meaning: everything is
 * done when a function returns, or when a graph is launched, if one is being captured. */
#ifndef MPNUM_TESTS_SIMT_RUNTIME_HPP
#define MPNUM_TESTS_SIMT_RUNTIME_HPP

#include "block.hpp"
#include "faults.hpp"
#include "language.hpp"
#include "shared.hpp"
#include "weak.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>
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

/* Memory of cudaMallocManaged, in blocks of a power of two. AddressSanitizer has that of
 * malloc, and sees its bounds. */
struct managed_memory {
  static constexpr std::size_t size = std::size_t{1} << 32, header = 256;
  static constexpr unsigned large = 16;
  char *begin = nullptr;
  std::size_t used = 0;
  void *free_blocks[64] = {}; /* the first of each size, which points to the next */
  bool is_closed = false;     /* to the host, while a launcher runs */
  bool is_asked_for = false;  /* pointers of kernels have to point to it */

  bool has(const void *address) const {
    return address >= begin && address < begin + used;
  }
  void protect(bool closed) {
    if (!SIMT_HAS_ASAN && used != 0)
      mprotect(begin, used, closed ? PROT_NONE : PROT_READ | PROT_WRITE);
  }
  void *allocate(std::size_t bytes) {
    if (SIMT_HAS_ASAN) return std::malloc(bytes + !bytes);
    unsigned order = 9;
    while ((std::size_t{1} << order) - header < bytes)
      ++order;
    char *block = static_cast<char *>(free_blocks[order]);
    if (!begin)
      begin =
          static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (block) {
      std::memcpy(&free_blocks[order], block + header, sizeof(void *));
    } else {
      if (order > large) used = (used + (1 << large) - 1) >> large << large;
      if (begin == MAP_FAILED || size - used < std::size_t{1} << order) return nullptr;
      block = begin + used;
      used += std::size_t{1} << order;
    }
    std::memcpy(block, &order, sizeof order);
    return block + header;
  }
  void release(void *address) {
    if (SIMT_HAS_ASAN) return std::free(address);
    unsigned order;
    char *block = static_cast<char *>(address) - header;
    std::memcpy(&order, block, sizeof order);
    if (order < 9 || order > 32) std::abort(); /* what lies before wrote past its end */
    /* Pages that are there cost time whenever memory is closed. */
    if (order > large) madvise(block, std::size_t{1} << order, MADV_DONTNEED);
    std::memcpy(address, &free_blocks[order], sizeof(void *));
    free_blocks[order] = block;
  }
};
inline managed_memory managed;

inline void close_memory() { managed.protect(managed.is_closed = true); }
inline void open_memory() { managed.protect(managed.is_closed = false); }

/* Around a launcher, which has to leave the device's memory to the device, allocates
 * nothing and waits for nothing. */
inline bool is_launcher = false; /* what runs */
inline void begin_launcher() {
  close_memory();
  is_launcher = true;
}
inline cudaError_t end_launcher(cudaError_t error) {
  is_launcher = false;
  open_memory();
  return error;
}
inline void refuse_launchers(const char *what) {
  if (!is_launcher) return;
  std::fprintf(stderr, "a launcher calls %s\n", what);
  std::abort();
}

/* While it lives the device works, which may do all of that. */
struct device_work {
  const bool was_launcher = is_launcher;
  device_work() {
    is_launcher = false;
    if (managed.is_closed) managed.protect(false);
  }
  ~device_work() {
    is_launcher = was_launcher;
    if (managed.is_closed) managed.protect(true);
  }
};

/* For tests of what a launcher does with an error: as long as it is not cudaSuccess,
 * every launch and memset returns it, and runs nothing; or the one of this number from
 * now on, counted from 1, alone. */
inline cudaError_t launch_error = cudaSuccess;
/* Blocks of a grid across, as if a GPU had no more: others are in further rows. 0: all.
 */
inline unsigned most_across = 0;
inline int failing_launch = 0;
inline cudaError_t error_of_launch() {
  const cudaError_t error = launch_error;
  if (failing_launch == 0) return error;
  if (--failing_launch != 0) return cudaSuccess;
  launch_error = cudaSuccess;
  return error;
}

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

inline cudaError_t cudaMallocManaged(void **made, std::size_t bytes) {
  simt::refuse_launchers("cudaMallocManaged");
  *made = simt::managed.allocate(bytes);
  return *made ? cudaSuccess : cudaErrorMemoryAllocation;
}
#ifndef SIMT_MEMORY_IS_FAKED /* by a program with its own */
inline cudaError_t cudaFree(void *memory) {
  simt::refuse_launchers("cudaFree");
  if (memory) simt::managed.release(memory);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  simt::refuse_launchers("cudaDeviceSynchronize");
  return cudaSuccess;
}
#endif

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes,
                                   cudaMemcpyKind, cudaStream_t = nullptr) {
  const simt::device_work ours;
  return simt::enqueue([=] {
    const simt::device_work now;
    if (bytes != 0) std::memcpy(to, from, bytes);
    return cudaSuccess;
  });
}
#ifndef SIMT_MEMORY_IS_FAKED
/* Not for graphs: the host waits. */
inline cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes,
                              cudaMemcpyKind kind) {
  simt::refuse_launchers("cudaMemcpy");
  return simt::captured ? cudaErrorNotSupported : cudaMemcpyAsync(to, from, bytes, kind);
}
#endif
inline cudaError_t cudaMemsetAsync(void *to, int byte, std::size_t bytes,
                                   cudaStream_t = nullptr) {
  const simt::device_work ours;
  const cudaError_t error = simt::error_of_launch();
  if (error != cudaSuccess) return error;
  return simt::enqueue([=] {
    const simt::device_work now;
    if (bytes != 0) std::memset(to, byte, bytes);
    return cudaSuccess;
  });
}

enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

namespace simt {

/* Of the one device there is; tests choose how many blocks a launcher makes, and how much
 * shared memory a kernel can be allowed. */
inline int multiprocessors = 2; /* so that arrays of a few tiles take several waves */
inline std::size_t shared_optin = shared_most;
inline std::map<const void *, std::size_t> shared_allowed;
inline std::size_t shared_asked = 0; /* by the latest launch */

/* What a kernel has of static variables counts, too. Which are its own is not known: the
 * largest of the program is taken, or what a program of many kernels says of those with
 * dynamic ones. */
inline std::size_t static_most = ~std::size_t{0};
inline std::size_t static_bytes() {
  std::size_t largest = 0;
  for (const memory &variable : static_shared())
    largest = variable.size > largest ? variable.size : largest;
  return std::min(largest, static_most);
}

inline int launches = 0; /* that were asked for */

} // namespace simt

inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr of, int) {
  *value = of == cudaDevAttrMultiProcessorCount ? simt::multiprocessors
                                                : static_cast<int>(simt::shared_optin);
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute,
                                        int bytes) {
  const simt::device_work ours;
  const std::size_t asked = static_cast<std::size_t>(bytes);
  if (bytes < 0 || asked + simt::static_bytes() > simt::shared_optin)
    return cudaErrorInvalidValue;
  simt::shared_allowed[kernel] = asked;
  return cudaSuccess;
}

namespace simt {

inline cudaError_t check_launch(const void *kernel, dim3 grid, dim3 block,
                                std::size_t shared_bytes) {
  const std::uint64_t size = static_cast<std::uint64_t>(block.x) * block.y * block.z;
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || size == 0 || size > 1024)
    return cudaErrorInvalidConfiguration;
  if (grid.x == 0 || grid.x > 0x7fffffff || grid.y == 0 || grid.y > 65535 ||
      grid.z == 0 || grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  const auto allowed = shared_allowed.find(kernel);
  const std::size_t most = allowed == shared_allowed.end()
                               ? shared_limit - std::min(shared_limit, static_bytes())
                               : allowed->second;
  shared_asked = shared_bytes;
  return shared_bytes > most ? cudaErrorInvalidValue : error_of_launch();
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
#ifdef SIMT_WEAK_MEMORY
  if (grid.x * grid.y * grid.z > 1 && !SIMT_HAS_ASAN)
    weak.begin_grid(managed.begin, managed.used);
#endif
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        fill_shared(shared_bytes, active_schedule.poison);
        weak.begin_block();
        run_block();
        weak.end_block();
        check_shared(shared_bytes, active_schedule.poison);
        if (has_fault()) return weak.end_grid();
      }
    }
  }
  weak.end_grid();
}

/* Pointers among the arguments, by their looks, to memory of the host: words that are
 * addresses where something is. */
inline void check_arguments(const void *arguments, std::size_t bytes) {
  if (SIMT_HAS_ASAN || !managed.is_asked_for) return;
  const std::uintptr_t page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i + sizeof(void *) <= bytes; i += sizeof(void *)) {
    std::uintptr_t word;
    unsigned char is_here;
    std::memcpy(&word, static_cast<const char *>(arguments) + i, sizeof word);
    void *const address = reinterpret_cast<void *>(word);
    /* A small number, or a float of few digits, may have anything beside it, where
     * padding is. */
    const std::uint32_t low = static_cast<std::uint32_t>(word) + (1 << 16);
    if (low < 1 << 17 || low << 16 == 0 || managed.has(address)) continue;
    if (mincore(reinterpret_cast<void *>(word / page * page), 1, &is_here) == 0)
      report(rule::memory_is_managed, "a kernel is given %p, which is the host's",
             address);
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
  const simt::device_work ours;
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  const cudaError_t status = simt::check_launch(reinterpret_cast<const void *>(kernel),
                                                grid, block, shared_bytes);
  if (status != cudaSuccess) return status;
  std::size_t number = 0;
  (simt::check_arguments(arguments[number++], sizeof(A)), ...);
  if (simt::has_fault()) return cudaErrorLaunchFailure;
  const std::function<void()> bound =
      simt::bind(kernel, arguments, std::index_sequence_for<A...>());
  if (simt::most_across != 0 && grid.y == 1 && grid.x > simt::most_across)
    grid = dim3(simt::most_across, (grid.x - 1) / simt::most_across + 1);
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

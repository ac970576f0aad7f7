/* SPDX-License-Identifier: MIT */
/* Two memories for tests that know one: what a kernel is given has a block of the host,
 * which the test reads and writes, and one of the device of the same size (cudaMalloc).
 * Launches and memsets by the runtime's names get the device's addresses in place of the
 * host's; before they run what they name is copied to the device, and afterwards back.
 *
 * Pointers are known by where they point to: in arguments of kernels, by value or in
 * structs, and in blocks of a type that holds_pointers names. */
#ifndef MPNUM_TESTS_GPU_TWO_MEMORIES_HPP
#define MPNUM_TESTS_GPU_TWO_MEMORIES_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

struct mpnum_grad_tensor;
struct mpnum_optimizer_tensor;
namespace mpnum {
template <class T, class S> struct quantize_tensor;
}

namespace gpu {

template <class T> struct holds_pointers { static constexpr bool value = false; };
template <> struct holds_pointers<mpnum_grad_tensor> {
  static constexpr bool value = true;
};
template <> struct holds_pointers<mpnum_optimizer_tensor> {
  static constexpr bool value = true;
};
template <class T, class S> struct holds_pointers<mpnum::quantize_tensor<T, S>> {
  static constexpr bool value = true;
};

struct block {
  char *on_host, *on_device;
  std::size_t bytes;
  bool has_pointers, is_named;
};

/* By their first bytes on the host. Never destroyed: static arrays go later. */
inline std::map<const char *, block> &blocks() {
  static auto *const all = new std::map<const char *, block>;
  return *all;
}
inline std::vector<const char *> named; /* since the launcher began */
inline bool is_inside = false;          /* a launcher */
inline bool is_capturing = false;
inline cudaError_t copy_error = cudaSuccess;

/* Host blocks lie as device blocks do within 256 bytes, and apart. */
inline void *allocate(std::size_t bytes, bool has_pointers) {
  block made = {nullptr, nullptr, bytes, has_pointers, false};
  void *there = nullptr;
  made.on_host = static_cast<char *>(std::aligned_alloc(256, (bytes + 256) / 256 * 256));
  if (made.on_host && cudaMalloc(&there, bytes + !bytes) != cudaSuccess) {
    std::free(made.on_host);
    return nullptr;
  }
  if (!made.on_host) return nullptr;
  made.on_device = static_cast<char *>(there);
  blocks()[made.on_host] = made;
  return made.on_host;
}
inline void release(void *on_host) {
  const auto found = blocks().find(static_cast<char *>(on_host));
  cudaFree(found->second.on_device);
  std::free(on_host);
  blocks().erase(found);
}

/* The block of an address, its end too; null where it is another's. */
inline block *block_of(std::uintptr_t address) {
  const char *const at = reinterpret_cast<const char *>(address);
  auto next = blocks().upper_bound(at);
  if (next == blocks().begin()) return nullptr;
  block &found = (--next)->second;
  return at <= found.on_host + found.bytes ? &found : nullptr;
}
inline void keep_error(cudaError_t error) {
  if (copy_error == cudaSuccess) copy_error = error;
}

inline void translate(char *bytes, std::size_t size);
inline void send(const block &it) {
  if (!it.has_pointers)
    return keep_error(
        cudaMemcpy(it.on_device, it.on_host, it.bytes, cudaMemcpyHostToDevice));
  std::vector<char> words(it.on_host, it.on_host + it.bytes);
  translate(words.data(), words.size());
  keep_error(cudaMemcpy(it.on_device, words.data(), it.bytes, cudaMemcpyHostToDevice));
}
/* A block that a launcher names is copied once, before its first kernel, or, where that
 * is captured, before the graph runs. */
inline void name(block *it) {
  if (it->is_named) return;
  it->is_named = true;
  named.push_back(it->on_host);
  if (!is_capturing) return send(*it);
  if (it->has_pointers) { /* which name others */
    std::vector<char> words(it->on_host, it->on_host + it->bytes);
    translate(words.data(), words.size());
  }
}
inline void translate(char *bytes, std::size_t size) {
  for (std::size_t i = 0; i + sizeof(void *) <= size; i += sizeof(void *)) {
    std::uintptr_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    block *const it = block_of(word);
    if (!it) continue;
    name(it);
    word = reinterpret_cast<std::uintptr_t>(it->on_device) +
           (word - reinterpret_cast<std::uintptr_t>(it->on_host));
    std::memcpy(bytes + i, &word, sizeof word);
  }
}
template <class T> T *there(T *address) {
  translate(reinterpret_cast<char *>(&address), sizeof address);
  return address;
}

inline void send_named() {
  for (const char *at : named)
    send(blocks()[at]);
}
/* Pointers on the device are as the host wrote them: not read back. */
inline void fetch_named() {
  for (const char *at : named) {
    block &it = blocks()[at];
    it.is_named = false;
    if (!it.has_pointers && it.bytes)
      keep_error(cudaMemcpy(it.on_host, it.on_device, it.bytes, cudaMemcpyDeviceToHost));
  }
  named.clear();
}
/* What a call outside a launcher has started is done when it returns. */
inline cudaError_t finished(cudaError_t error) {
  if (is_inside) return error;
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  fetch_named();
  if (error == cudaSuccess) error = copy_error;
  copy_error = cudaSuccess;
  return error;
}

template <class... A, std::size_t... I>
cudaError_t launch_with(void (*kernel)(A...), dim3 grid, dim3 threads,
                        void *const *arguments, std::size_t shared_bytes,
                        cudaStream_t stream, std::index_sequence<I...>) {
  std::tuple<typename std::remove_cv<A>::type...> copies(
      *static_cast<typename std::remove_cv<A>::type *>(arguments[I])...);
  void *pointers[] = {&std::get<I>(copies)..., nullptr};
  (void)arguments;
  const std::size_t sizes[] = {sizeof(A)..., 0};
  for (std::size_t i = 0; i < sizeof...(A); ++i)
    translate(static_cast<char *>(pointers[i]), sizes[i]);
  return finished(
      cudaLaunchKernel(kernel, grid, threads, pointers, shared_bytes, stream));
}
template <class... A>
cudaError_t launch_kernel(void (*kernel)(A...), dim3 grid, dim3 threads, void **arguments,
                          std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return launch_with(kernel, grid, threads, arguments, shared_bytes, stream,
                     std::index_sequence_for<A...>());
}
inline cudaError_t set_memory(void *to, int byte, std::size_t bytes,
                              cudaStream_t stream = nullptr) {
  return finished(cudaMemsetAsync(there(to), byte, bytes, stream));
}
inline cudaError_t copy_memory(void *to, const void *from, std::size_t bytes,
                               cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return finished(cudaMemcpyAsync(there(to), there(from), bytes, kind, stream));
}

} // namespace gpu

/* The runtime's own names may be macros of those of another default stream. */
#undef cudaLaunchKernel
#undef cudaMemsetAsync
#undef cudaMemcpyAsync
#define cudaLaunchKernel gpu::launch_kernel
#define cudaMemsetAsync  gpu::set_memory
#define cudaMemcpyAsync  gpu::copy_memory

#endif

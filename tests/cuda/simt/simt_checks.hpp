/* SPDX-License-Identifier: MIT */
/* For tests that run kernels: in the simulator in every order of threads, or, where nvcc
 * compiles them, on a GPU. What a kernel is given lies in managed memory, which the host
 * and the device see: in a vector of this file, or made by managed().
 *
 *   vector<float> x(100);
 *   float &amax = managed(0.0f);
 *   CHECK_LAUNCH(mpnum_launch_amax(&amax, x.data(), x.size(), nullptr));
 *
 *   int main(int count, char **arguments) {
 *     return run_tests(count, arguments, {TEST(amax_is_that_of_a_loop)});
 *   }
 */
#ifndef MPNUM_TESTS_SIMT_CHECKS_HPP
#define MPNUM_TESTS_SIMT_CHECKS_HPP

#include "launch.hpp"

#include "../../harness/tap.h"

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <vector>

namespace {

/* The error of a launch, after its end. */
[[maybe_unused]] cudaError_t completed(cudaError_t error) {
  return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* The same of a launcher that is called inside. The simulator keeps managed memory from
 * it, whose host code has no business there; a GPU captures what it launches in a graph,
 * in which nothing may be allocated or waited for, and replays that. */
#ifdef __CUDACC__
# define LAUNCHED(...) gpu::replayed((gpu::begin_capture(), __VA_ARGS__))
#else
# define LAUNCHED(...) simt::open_memory((simt::close_memory(), __VA_ARGS__))
#endif

/* CHECK that a launch in the active schedule went well. */
#define CHECK_LAUNCH(...)                                                          \
 CHECK(LAUNCHED(__VA_ARGS__) == cudaSuccess, "%s: %s", simt::active_schedule.name, \
       simt::last_fault().text.c_str())

/* What a launcher returns for sound arguments where the simulator launches nothing: with
 * simt::launch_error = sound no other launcher than one that refuses gives another error.
 * A GPU does launch. */
#ifdef __CUDACC__
constexpr cudaError_t sound = cudaSuccess;
constexpr bool is_simulated = false;
#else
constexpr cudaError_t sound = cudaErrorNotSupported;
constexpr bool is_simulated = true;
#endif

/* Whether much may be asked for: not of the simulator, nor of a GPU that a tool watches.
 */
inline bool is_fast() {
#ifdef __CUDACC__
  return !gpu::asked.is_tiny;
#else
  return false;
#endif
}

template <class F> void in_every_schedule(F body) {
#ifdef __CUDACC__
  body();
#else
  for (const simt::schedule &schedule : simt::schedules) {
    simt::use(schedule);
    body();
  }
#endif
}

template <class T> struct managed_allocator {
  typedef T value_type;
  managed_allocator() = default;
  template <class U> managed_allocator(const managed_allocator<U> &) {}
  T *allocate(std::size_t n) {
    void *made = nullptr;
    if (cudaMallocManaged(&made, n * sizeof(T)) != cudaSuccess || !made) {
      std::printf("Bail out! no managed memory\n");
      std::exit(1);
    }
    return static_cast<T *>(made);
  }
  void deallocate(T *made, std::size_t) { cudaFree(made); }
  friend bool operator==(const managed_allocator &, const managed_allocator &) {
    return true;
  }
  friend bool operator!=(const managed_allocator &, const managed_allocator &) {
    return false;
  }
};
template <class T> using vector = std::vector<T, managed_allocator<T>>;

/* A value in managed memory until the end of the test. */
[[maybe_unused]] std::vector<std::shared_ptr<void>> kept_values;
template <class T> T &managed(const T &value = T()) {
  const auto made = std::allocate_shared<T>(managed_allocator<T>(), value);
  kept_values.push_back(made);
  return *made;
}

struct test {
  const char *name;
  void (*property)();
};
#define TEST(property) \
 { #property, property }

[[maybe_unused]] int run_tests(int count, char **arguments,
                               std::initializer_list<test> tests) {
#ifdef __CUDACC__
  int status;
  unsigned number = 0;
  if (!gpu::begin(count, arguments, &status)) return status;
  for (const test &each : tests) {
    if (number++ % gpu::asked.shards != gpu::asked.shard) continue;
    gpu::run(each.name, each.property);
    kept_values.clear();
  }
#else
  (void)count, (void)arguments;
  simt::managed.is_asked_for = true;
  for (const test &each : tests) {
    tap_run(each.name, each.property);
    kept_values.clear();
  }
#endif
  return tap_done();
}

} // namespace

#endif

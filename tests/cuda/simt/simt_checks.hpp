/* SPDX-License-Identifier: MIT */
/* For tests that run kernels: in the simulator in every order of threads, or, where nvcc
 * compiles them, on a GPU. What a kernel is given lies where the host and the device see
 * it, on a GPU by copies around a launch: in a vector of this file, or made by placed().
 *
 *   vector<float> x(100);
 *   float &amax = placed(0.0f);
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
#include <new>
#include <vector>

namespace {

/* The error of a launch, after its end. */
[[maybe_unused]] cudaError_t completed(cudaError_t error) {
  return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* The same of a launcher that is called inside. The simulator keeps such memory from
 * it, whose host code has no business there, and ends a program in which it allocates or
 * waits; a GPU captures what it launches in a graph, in which neither may be, and replays
 * that. */
#if TEST_ON_GPU
# define LAUNCHED(...) gpu::replayed((gpu::begin_capture(), __VA_ARGS__))
#else
# define LAUNCHED(...) simt::end_launcher((simt::begin_launcher(), __VA_ARGS__))
#endif

/* CHECK that a launch in the active schedule went well. */
#define CHECK_LAUNCH(...)                                                          \
 CHECK(LAUNCHED(__VA_ARGS__) == cudaSuccess, "%s: %s", simt::active_schedule.name, \
       simt::last_fault().text.c_str())

/* What a launcher returns for sound arguments where the simulator launches nothing: with
 * simt::launch_error = sound no other launcher than one that refuses gives another error.
 * A GPU does launch. */
#if TEST_ON_GPU
constexpr cudaError_t sound = cudaSuccess;
constexpr bool is_simulated = false;
#else
constexpr cudaError_t sound = cudaErrorNotSupported;
constexpr bool is_simulated = true;
#endif

/* A launcher that refuses has launched nothing. */
[[maybe_unused]] void check_refused(cudaError_t error, const char *what) {
  CHECK(error == cudaErrorInvalidValue, "%s: %s", what, cudaGetErrorName(error));
}

/* Lets each launch of a launcher that has several fail in turn: it returns the error, and
 * when it is called again, all that check() sees is right. */
template <class Launch, class Check>
void let_launches_fail(const char *what, int launches, Launch launch, Check check) {
  for (int k = 1; k <= launches + 1; ++k) {
    simt::launch_error = sound;
    simt::failing_launch = k;
    const cudaError_t error = LAUNCHED(launch());
    simt::launch_error = cudaSuccess;
    simt::failing_launch = 0;
    CHECK(error == (k <= launches ? sound : cudaSuccess), "%s, launch %d of %d: %s", what,
          k, launches, cudaGetErrorName(error));
    if (k <= launches && is_simulated) CHECK_LAUNCH(launch()); /* none fails on a GPU */
    check();
  }
}

/* Whether much may be asked for: not of the simulator, nor of a GPU that a tool watches.
 */
inline bool is_fast() {
#if TEST_ON_GPU
  return !gpu::asked.is_tiny;
#else
  return false;
#endif
}

/* The bits of floats of which a whole array is not common: Inf, NaN, the largest, the
 * smallest of types, zeros. */
[[maybe_unused]] constexpr std::uint32_t uncommon_floats[] = {
    0x7f800000u, 0xff800000u, 0x7fc00001u, 0xffa12345u, 0x7f7fffffu, 0xff7fffffu,
    0x00000001u, 0x807fffffu, 0xb3800000u, 0x37800000u, 0x80000000u, 0x00000000u};

template <class F> void in_every_schedule(F body) {
#if TEST_ON_GPU
  body();
#else
  for (const simt::schedule &schedule : simt::schedules) {
    simt::use(schedule);
    body();
  }
#endif
}

template <class T> struct placed_allocator {
  typedef T value_type;
  placed_allocator() = default;
  template <class U> placed_allocator(const placed_allocator<U> &) {}
  T *allocate(std::size_t n) {
#if TEST_ON_GPU
    void *const made = gpu::allocate(n * sizeof(T), gpu::holds_pointers<T>::value);
#else
    void *made = nullptr;
    if (cudaMallocManaged(&made, n * sizeof(T)) != cudaSuccess) made = nullptr;
#endif
    if (!made) {
      std::printf("Bail out! %zu bytes for the host and the device: %s\n", n * sizeof(T),
                  simt::last_fault().text.c_str());
      std::fflush(stdout);
      std::_Exit(1);
    }
    return static_cast<T *>(made);
  }
#if TEST_ON_GPU
  void deallocate(T *made, std::size_t) { gpu::release(made); }
#else
  void deallocate(T *made, std::size_t) { cudaFree(made); }
#endif
  friend bool operator==(const placed_allocator &, const placed_allocator &) {
    return true;
  }
  friend bool operator!=(const placed_allocator &, const placed_allocator &) {
    return false;
  }
};
template <class T> using vector = std::vector<T, placed_allocator<T>>;

/* A value in such memory until the end of the test. */
[[maybe_unused]] std::vector<std::shared_ptr<void>> kept_values;
template <class T> T &placed(const T &value = T()) {
  T *const made = new (placed_allocator<T>().allocate(1)) T(value);
  kept_values.emplace_back(made,
                           [](T *old) { placed_allocator<T>().deallocate(old, 1); });
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
#if TEST_ON_GPU
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

#if !TEST_ON_GPU
/* An allocation of a launcher ends the program. */
__attribute__((noinline)) void *operator new(std::size_t size) {
  simt::refuse_launchers("operator new");
  void *made = std::malloc(size ? size : 1);
  if (!made) std::abort();
  return made;
}
__attribute__((noinline)) void operator delete(void *memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void *memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

#endif

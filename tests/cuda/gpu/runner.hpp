/* SPDX-License-Identifier: MIT */
/* For the programs of `./mpnum test --gpu`: their arguments, whether there is a GPU, and
 * the seconds of each test.
 *
 *     PROGRAM [--short | --tiny] [--plain] [--only PATTERN] [--shard I/N] [--seconds N]
 *
 * --short tries some of what there is and begins no test after 45 seconds, --tiny little,
 * for tools that slow a program down; --seconds takes another number.
 * --plain launches where other runs capture a graph and replay it.
 * --only runs the tests whose names contain PATTERN, --shard those of part I of N.
 * Without a GPU: one line that says why, and exit status 77. */
#ifndef MPNUM_TESTS_GPU_RUNNER_HPP
#define MPNUM_TESTS_GPU_RUNNER_HPP

#include "../../harness/tap.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace gpu {

struct part {
  bool is_short, is_tiny, is_plain;
  const char *only;
  unsigned shard, shards; /* from 0 */
  unsigned seconds;       /* 0: any number */
};
static part asked = {false, false, false, "", 0, 1, 0};
enum { short_seconds = 45, loads_in_captures = 12030 };

static bool read_arguments(int count, char **arguments) {
  for (int i = 1; i < count; ++i) {
    const char *const value = i + 1 < count ? arguments[i + 1] : "";
    char rest;
    if (std::strcmp(arguments[i], "--short") == 0) {
      asked.is_short = true;
    } else if (std::strcmp(arguments[i], "--tiny") == 0) {
      asked.is_tiny = true;
    } else if (std::strcmp(arguments[i], "--plain") == 0) {
      asked.is_plain = true;
    } else if (std::strcmp(arguments[i], "--only") == 0 && *value) {
      asked.only = arguments[++i];
    } else if (std::strcmp(arguments[i], "--shard") == 0 &&
               std::sscanf(value, "%u/%u%c", &asked.shard, &asked.shards, &rest) == 2 &&
               asked.shard > 0 && asked.shard <= asked.shards) {
      --asked.shard;
      ++i;
    } else if (std::strcmp(arguments[i], "--seconds") == 0 &&
               std::sscanf(value, "%u%c", &asked.seconds, &rest) == 1 &&
               asked.seconds > 0) {
      ++i;
    } else {
      std::fprintf(stderr,
                   "usage: %s [--short | --tiny] [--plain] [--only PATTERN] "
                   "[--shard I/N] [--seconds N]\n",
                   arguments[0]);
      return false;
    }
  }
  if (asked.is_short && asked.seconds == 0) asked.seconds = short_seconds;
  return true;
}

static __global__ void do_nothing() {}

/* Why there is nothing to test on, or null; other errors fail the first test. */
static const char *find_problem() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
    return cudaGetErrorString(error);
  void *no_arguments[] = {nullptr};
  const cudaError_t launch = cudaLaunchKernel(do_nothing, 1, 1, no_arguments, 0, nullptr);
  if (launch == cudaErrorNoKernelImageForDevice ||
      launch == cudaErrorInvalidDeviceFunction ||
      launch == cudaErrorUnsupportedPtxVersion)
    return cudaGetErrorString(launch);
  return nullptr;
}

/* Whether tests are to run; *status is the program's if not. */
static bool begin(int count, char **arguments, int *status) {
  *status = 2;
  if (!read_arguments(count, arguments)) return false;
  *status = 77;
  if (const char *const problem = find_problem()) {
    std::printf("1..0 # SKIP no GPU: %s\n", problem);
    return false;
  }
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess)
    std::printf("# %s, compute capability %d.%d\n", properties.name, properties.major,
                properties.minor);
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver < loads_in_captures)
    asked.is_plain = true; /* kernels are loaded where they are first launched */
  return true;
}

static const auto program_start = std::chrono::steady_clock::now();
static bool is_late() {
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - program_start;
  return asked.seconds > 0 && taken.count() > asked.seconds;
}
static void (*timed_property)();
static void time_property() {
  const auto start = std::chrono::steady_clock::now();
  timed_property();
  const cudaError_t error = cudaDeviceSynchronize();
  CHECK(error == cudaSuccess, "afterwards: %s", cudaGetErrorString(error));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("# %.1f s\n", taken.count());
}
static void run(const char *name, void (*property)()) {
  if (!std::strstr(name, asked.only)) return;
  if (is_late()) return tap_skip(name, "no time is left");
  std::printf("# begins %s\n", name); /* what hangs has been named */
  std::fflush(stdout);
  timed_property = property;
  tap_run(name, time_property);
}

} // namespace gpu

#endif

/* SPDX-License-Identifier: MIT */
/* Tests of the tests: kernels with a fault, and that running them on the CPU shows it. A
 * rule that is broken is named; a race gives other results in some order of threads or
 * with some poison; an access out of bounds is AddressSanitizer's, or changes a guard
 * value. */
#include "launch.hpp"

#include "../../harness/tap.h"

#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using simt::launch;

namespace {

constexpr unsigned all = 0xffffffffu;

__global__ void correct(int *out) {
  __syncthreads();
  if (__reduce_add_sync(all, 1) == 32) atomicAdd(out, 1);
}

/* The kernel ends with this rule broken in every schedule, the text says where, and the
 * next kernel is not harmed. */
void check_fault(void (*kernel)(int *), const simt::geometry &size, simt::rule rule,
                 const char *text) {
  for (const simt::schedule &schedule : simt::schedules) {
    simt::use(schedule);
    std::vector<int> out(1024);
    const cudaError_t error = launch(kernel, size, out.data());
    const simt::fault fault = simt::last_fault();
    CHECK(error == cudaErrorLaunchFailure && fault.text == cudaGetErrorString(error),
          "%d", error);
    CHECK(fault.rule == rule, "%s: rule %d: %s", schedule.name,
          static_cast<int>(fault.rule), fault.text.c_str());
    CHECK(fault.text.find(text) != std::string::npos, "%s: %s", schedule.name,
          fault.text.c_str());
    int count = 0;
    CHECK(launch(correct, {2, 64}, &count) == cudaSuccess && count == 128, "then: %s",
          simt::last_fault().text.c_str());
  }
}

/* Barriers */

__global__ void barrier_after_return(int *) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
}
__global__ void barrier_in_branch(int *out) {
  if (threadIdx.x % 2) __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void barrier_in_each_branch(int *out) {
  if (threadIdx.x == 5) {
    __syncthreads();
  } else {
    __syncthreads();
    out[threadIdx.x] = 1;
  }
}
__global__ void barrier_against_warp_function(int *out) {
  if (threadIdx.x % 32 == 0)
    __syncthreads();
  else
    out[threadIdx.x] = __any_sync(all, 1);
}
__global__ void barrier_a_round_more(int *) {
  for (unsigned i = 0; i <= threadIdx.x / 32; ++i)
    __syncthreads();
}

void divergent_barriers_are_named(void) {
  const simt::rule rule = simt::rule::barrier_is_reached_by_all;
  check_fault(barrier_after_return, {2, 64}, rule, "thread 40 has returned");
  check_fault(barrier_in_branch, {1, 64}, rule, "thread 0 has returned");
  check_fault(barrier_in_each_branch, {1, 64}, rule, "test_simt_rules.cpp");
  check_fault(barrier_against_warp_function, {1, 64}, rule, "__any_sync");
  check_fault(barrier_a_round_more, {1, 64}, rule, "thread 0 has returned");
}

/* Masks */

__global__ void mask_without_caller(int *out) {
  out[threadIdx.x] = __shfl_sync(0xfffffff0u, 1, 4);
}
__global__ void mask_past_the_end(int *out) {
  out[threadIdx.x] = __shfl_xor_sync(all, 1, 1);
}
__global__ void mask_with_returned_lanes(int *out) {
  if (threadIdx.x == 9) return;
  out[threadIdx.x] = __ballot_sync(all, 1) != 0;
}
__global__ void masks_that_differ(int *out) {
  const unsigned mask = threadIdx.x < 16 ? all : 0xfffffffeu;
  out[threadIdx.x] = __any_sync(mask | 1u << threadIdx.x, 1);
}
__global__ void functions_that_differ(int *out) {
  out[threadIdx.x] =
      threadIdx.x < 16 ? __shfl_xor_sync(all, 1, 1) : __shfl_down_sync(all, 1, 1u);
}
__global__ void widths_that_differ(int *out) {
  out[threadIdx.x] = __shfl_xor_sync(all, 1, 1, threadIdx.x < 16 ? 16 : 32);
}
__global__ void source_outside_mask(int *out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0xffffu, 1, 16);
}
__global__ void width_of_12(int *out) { out[threadIdx.x] = __shfl_sync(all, 1, 0, 12); }
__global__ void circle(int *out) {
  if (threadIdx.x < 3) {
    const unsigned next = (threadIdx.x + 1) % 3;
    out[threadIdx.x] = __any_sync(1u << threadIdx.x | 1u << next, 1);
  }
}

void wrong_masks_are_named(void) {
  check_fault(mask_without_caller, {1, 32}, simt::rule::caller_is_in_mask, "fffffff0");
  check_fault(mask_past_the_end, {1, 48}, simt::rule::mask_names_live_lanes,
              "lane 16 is past");
  check_fault(mask_with_returned_lanes, {1, 32}, simt::rule::mask_names_live_lanes,
              "lane 9 has returned");
  check_fault(masks_that_differ, {1, 32}, simt::rule::masks_agree, "fffffffe");
  check_fault(functions_that_differ, {1, 32}, simt::rule::operations_agree,
              "__shfl_down_sync");
  check_fault(widths_that_differ, {1, 32}, simt::rule::operations_agree, "width 16");
  check_fault(source_outside_mask, {1, 32}, simt::rule::source_is_in_mask, "reads lane");
  check_fault(width_of_12, {1, 32}, simt::rule::width_is_a_power_of_two, "width 12");
}

/* Threads that never get on */

__global__ void wait_for_another_block(int *out) {
  if (blockIdx.x == 1) atomicExch(out, 1);
  while (atomicAdd(out, 0) == 0) {
  }
}
__global__ void full_mask_in_branch(int *out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __any_sync(all, 1);
  else
    while (atomicAdd(out, 0) == 0) {
    }
}

void deadlocks_end(void) {
  check_fault(circle, {1, 32}, simt::rule::waiting_ends, "__any_sync");
  check_fault(wait_for_another_block, {2, 32}, simt::rule::spinning_ends, "warp 0 spins");
  check_fault(full_mask_in_branch, {1, 32}, simt::rule::spinning_ends, "warp 0 spins");
}

__global__ void leave_by_exception(int *) {
  if (threadIdx.x == 3) throw 1;
  __syncthreads();
}

void exceptions_do_not_pass(void) {
  check_fault(leave_by_exception, {1, 32}, simt::rule::no_exception, "thread 3");
}

/* Races: results that are wrong in some schedule, and right in all once the barrier is
 * there. */

template <class F> int wrong_schedules(F is_right) {
  int wrong = 0;
  for (const simt::schedule &schedule : simt::schedules) {
    simt::use(schedule);
    wrong += !is_right();
  }
  return wrong;
}

template <bool has_barrier> __global__ void turn_around(int *out) {
  __shared__ int values[64];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (has_barrier) __syncthreads();
  out[threadIdx.x] = values[63 - threadIdx.x];
}
/* The barrier that is easily forgotten: after the read, before the next write. */
template <bool has_barrier> __global__ void hand_out(int *out) {
  __shared__ int value;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 32) value = round;
    __syncthreads();
    out[threadIdx.x] = out[threadIdx.x] * 10 + value;
    if (has_barrier) __syncthreads();
  }
}
template <bool has_barrier> __global__ void turn_warp(int *out) {
  __shared__ int values[64];
  const unsigned other = threadIdx.x ^ 31;
  values[threadIdx.x] = static_cast<int>(63 - other);
  if (has_barrier) __syncwarp();
  out[threadIdx.x] = values[other];
}
int wrong_schedules_of(void (*kernel)(int *), int first, int step) {
  return wrong_schedules([=] {
    std::vector<int> out(64);
    CHECK(launch(kernel, {1, 64}, out.data()) == cudaSuccess, "%s",
          simt::last_fault().text.c_str());
    for (int i = 0; i < 64; ++i)
      if (out[static_cast<unsigned>(i)] != first + step * i) return false;
    return true;
  });
}

void dropped_barriers_show_in_some_order(void) {
  CHECK(wrong_schedules_of(turn_around<true>, 63, -1) == 0,
        "barrier between write and read");
  CHECK(wrong_schedules_of(turn_around<false>, 63, -1) > 0,
        "none between write and read");
  CHECK(wrong_schedules_of(hand_out<true>, 12, 0) == 0, "barrier between read and write");
  CHECK(wrong_schedules_of(hand_out<false>, 12, 0) > 0, "none between read and write");
  CHECK(wrong_schedules_of(turn_warp<true>, 63, -1) == 0, "barrier of the warp");
  CHECK(wrong_schedules_of(turn_warp<false>, 63, -1) > 0, "none of the warp");
}

/* Copies that go on while a thread does: four rounds by two stages. Each thread copies
 * 16 bytes, and its warp reads what others copied. */
enum copying { right, without_wait, a_group_too_few, without_barrier, refilled_early };
template <copying how> __global__ void copy_ahead(int *out, const int *src) {
  alignas(16) __shared__ int stages[2][2][128];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto ask = [=](unsigned round) {
    if (round < 4)
      __pipeline_memcpy_async(stages[warp][round % 2] + 4 * lane,
                              src + 256 * round + 4 * threadIdx.x, 16);
    __pipeline_commit();
  };
  int sum = 0;
  ask(0);
  for (unsigned round = 0; round < 4; ++round) {
    if (how == refilled_early) ask(round + 1);
    if (how != without_wait)
      __pipeline_wait_prior(how == a_group_too_few || how == refilled_early);
    if (how != without_barrier) __syncwarp();
    if (how != refilled_early) ask(round + 1);
    for (unsigned i = 0; i < 4; ++i)
      sum += stages[warp][round % 2][32 * i + lane];
  }
  __pipeline_wait_prior(0);
  out[threadIdx.x] = sum;
}
int wrong_copies(void (*kernel)(int *, const int *)) {
  std::vector<int> src(1024), want(64);
  for (unsigned i = 0; i < src.size(); ++i) {
    src[i] = static_cast<int>(i * i);
    want[i / 128 % 2 * 32 + i % 32] += src[i];
  }
  return wrong_schedules([&] {
    std::vector<int> out(64);
    CHECK(launch(kernel, {1, 64}, out.data(), src.data()) == cudaSuccess, "%s",
          simt::last_fault().text.c_str());
    return out == want;
  });
}
void copies_are_there_once_a_thread_has_waited(void) {
  CHECK(wrong_copies(copy_ahead<right>) == 0, "wait and barrier");
  CHECK(wrong_copies(copy_ahead<without_wait>) == 6, "no wait");
  CHECK(wrong_copies(copy_ahead<a_group_too_few>) == 6, "one group too few");
  CHECK(wrong_copies(copy_ahead<without_barrier>) > 0, "no barrier");
  CHECK(wrong_copies(copy_ahead<refilled_early>) > 0, "a stage that is still read");
}
__global__ void copy_of_what_changes(int *out) {
  alignas(16) __shared__ int stage[4];
  __pipeline_memcpy_async(stage, out, 16);
  __pipeline_commit();
  out[2] = 5;
  __pipeline_wait_prior(0);
}
__global__ void copy_that_is_misaligned(int *out) {
  alignas(16) __shared__ int stage[8];
  __pipeline_memcpy_async(stage + 1, out, 16);
}
__global__ void copy_of_twelve_bytes(int *out) {
  alignas(16) __shared__ int stage[4];
  __pipeline_memcpy_async(stage, out, 12);
}
__global__ void copy_without_end(int *out) {
  alignas(16) __shared__ int stage[4];
  __pipeline_memcpy_async(stage, out, 8);
  __pipeline_wait_prior(0); /* nothing is committed */
}
void wrong_copies_are_named(void) {
  check_fault(copy_of_what_changes, {1, 1}, simt::rule::copies_keep_their_source,
              "which changes");
  check_fault(copy_that_is_misaligned, {1, 1}, simt::rule::copies_are_aligned,
              "16 bytes");
  check_fault(copy_of_twelve_bytes, {1, 1}, simt::rule::copies_are_aligned, "12 bytes");
  check_fault(copy_without_end, {1, 1}, simt::rule::copies_are_waited_for, "thread 0");
}

/* A reduction whose second step reads warps that the block does not have. */
template <bool guards> __global__ void block_max(int *out) {
  __shared__ int warps[32];
  int most = __reduce_max_sync(all, static_cast<int>(threadIdx.x));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = most;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  most = !guards || lane < blockDim.x / 32 ? warps[lane] : 0;
  out[threadIdx.x] = __reduce_max_sync(all, most);
}
void unwritten_shared_memory_shows_in_results(void) {
  CHECK(wrong_schedules_of(block_max<true>, 63, 0) == 0, "reads what was written");
  CHECK(wrong_schedules_of(block_max<false>, 63, 0) > 0, "reads what was not");
}

/* A shuffle that goes to the wrong lane shows in every order. */
template <int step> __global__ void neighbour(int *out) {
  out[threadIdx.x] = __shfl_xor_sync(all, static_cast<int>(threadIdx.x) ^ 1, step);
}
void wrong_shuffles_show_in_results(void) {
  CHECK(wrong_schedules_of(neighbour<1>, 0, 1) == 0, "the right lane");
  CHECK(wrong_schedules_of(neighbour<2>, 0, 1) == 6, "the wrong lane");
}

} // namespace

/* Bounds */

namespace test_simt {
extern __shared__ int dynamic[];
SIMT_DYNAMIC_SHARED(int, dynamic);
} // namespace test_simt

namespace {

__global__ void write_behind(int *) { test_simt::dynamic[threadIdx.x] = 1; }
__global__ void read_behind(int *out) { out[0] = test_simt::dynamic[threadIdx.x]; }
__global__ void one_too_many(int *out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) out[i] = i;
}
__global__ void overrun_of_the_stack(int *out) {
  int local[4] = {1, 2, 3, 4};
  int *first = local;
  __syncthreads();
  first[blockDim.x / 8] = 5;
  __syncthreads();
  for (int value : local)
    out[0] += value;
}

/* Whether the launch, in a process of its own, is ended by a sanitizer. */
template <class F> bool is_fatal(F body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::fclose(stderr);
    body();
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) != child || status != 0;
}

void tails_off_by_one_show(void) {
  const simt::geometry size = {4, 32};
#if SIMT_HAS_ASAN
  CHECK(!is_fatal([=] { launch(one_too_many, size, std::vector<int>(100).data(), 99); }),
        "");
  CHECK(is_fatal([=] { launch(one_too_many, size, std::vector<int>(100).data(), 100); }),
        "AddressSanitizer sees no write past an array");
  CHECK(is_fatal([] {
          launch(overrun_of_the_stack, {1, 32}, std::vector<int>(1).data());
        }),
        "AddressSanitizer sees no write past a local array");
#else
  (void)overrun_of_the_stack, (void)is_fatal<void (*)()>;
  std::vector<int> out(101, -7);
  CHECK(launch(one_too_many, size, out.data(), 99) == cudaSuccess && out[100] == -7, "");
  CHECK(launch(one_too_many, size, out.data(), 100) == cudaSuccess && out[100] != -7,
        "the guard value is still there");
#endif
}

void dynamic_shared_memory_ends_where_the_launch_says(void) {
  int out[1];
#if SIMT_HAS_ASAN
  CHECK(!is_fatal([&] { launch(write_behind, {1, 64, 256}, out); }), "64 words");
  CHECK(is_fatal([&] {
          launch(write_behind, {1, 64, 252}, out);
        }),
        "written behind 63 words");
  CHECK(is_fatal([&] {
          launch(read_behind, {1, 64, 252}, out);
        }),
        "read behind 63 words");
#else
  CHECK(launch(write_behind, {1, 64, 256}, out) == cudaSuccess, "64 words");
  CHECK(launch(read_behind, {1, 64, 256}, out) == cudaSuccess, "64 words");
  check_fault(write_behind, {1, 64, 252}, simt::rule::dynamic_shared_is_in_bounds,
              "byte 252");
#endif
}

} // namespace

int main(void) {
  TAP_RUN(divergent_barriers_are_named);
  TAP_RUN(wrong_masks_are_named);
  TAP_RUN(deadlocks_end);
  TAP_RUN(exceptions_do_not_pass);
  TAP_RUN(dropped_barriers_show_in_some_order);
  TAP_RUN(copies_are_there_once_a_thread_has_waited);
  TAP_RUN(wrong_copies_are_named);
  TAP_RUN(unwritten_shared_memory_shows_in_results);
  TAP_RUN(wrong_shuffles_show_in_results);
  TAP_RUN(tails_off_by_one_show);
  TAP_RUN(dynamic_shared_memory_ends_where_the_launch_says);
  return tap_done();
}

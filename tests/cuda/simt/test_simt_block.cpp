/* SPDX-License-Identifier: MIT */
/* The stand-in for CUDA that tests run device code on: barriers, atomics and shared
 * memory, in every order of threads. */
#include "simt_checks.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

using simt::launch;

namespace {

/* Barriers */

__global__ void barriers(int *out) {
  __shared__ int turned[96];
  const unsigned i = threadIdx.x, n = blockDim.x;
  for (int round = 0; round < 3; ++round) {
    turned[i] = static_cast<int>(i) + round;
    __syncthreads();
    out[i] += turned[n - 1 - i];
    __syncthreads();
  }
  out[n + i] = __syncthreads_and(i % 2 == 0);
  out[2 * n + i] = __syncthreads_and(i < n) + 2 * __syncthreads_and(i != 40) +
                   4 * __syncthreads_or(i == 40) + 8 * __syncthreads_or(i > n);
}

void barriers_order_memory_and_count(void) {
  in_every_schedule([] {
    for (unsigned n : {96u, 70u, 41u}) {
      std::vector<int> out(3 * n);
      CHECK_LAUNCH(launch(barriers, {1, n}, out.data()));
      for (unsigned i = 0; i < n; ++i) {
        CHECK(out[i] == static_cast<int>(3 * (n - 1 - i) + 3), "%u: %d", i, out[i]);
        CHECK(out[n + i] == 0, "%u: %d", i, out[n + i]);
        CHECK(out[2 * n + i] == 1 + 4, "%u: %d", i, out[2 * n + i]);
      }
    }
  });
}

/* Atomics */

struct totals {
  unsigned sum;
  int least, most;
  unsigned and_, or_, lock, locked_sum;
  unsigned long long largest;
  float parts;
};
__global__ void atomics(totals *t, unsigned *tickets) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  tickets[i] = atomicAdd(&t->sum, 1);
  atomicMin(&t->least, 7 - static_cast<int>(i));
  atomicMax(&t->most, static_cast<int>(i) - 7);
  atomicAnd(&t->and_, ~(1u << i % 32));
  atomicOr(&t->or_, 1u << i % 20);
  atomicMax(&t->largest, static_cast<unsigned long long>(i) << 40);
  atomicAdd(&t->parts, 0.25f);
  while (atomicCAS(&t->lock, 0, i + 1) != 0) {
  }
  t->locked_sum += i;
  CHECK(atomicExch(&t->lock, 0) == i + 1, "the lock of %u was taken", i);
}

void atomics_return_what_was_there(void) {
  in_every_schedule([] {
    totals t = {};
    t.and_ = 0xffffffffu;
    std::vector<unsigned> tickets(200);
    CHECK_LAUNCH(launch(atomics, {2, 100}, &t, tickets.data()));
    CHECK(t.sum == 200 && t.least == -192 && t.most == 192, "%u %d %d", t.sum, t.least,
          t.most);
    CHECK(t.and_ == 0 && t.or_ == 0xfffff, "%x %x", t.and_, t.or_);
    CHECK(t.largest == 199ull << 40, "%llx", t.largest);
    CHECK(t.parts == 50 && t.locked_sum == 199 * 100, "%g %u",
          static_cast<double>(t.parts), t.locked_sum);
    std::sort(tickets.begin(), tickets.end());
    for (unsigned i = 0; i < 200; ++i)
      CHECK(tickets[i] == i, "no ticket %u", i);
  });
}

/* Shared memory */

/* Whether all bytes still are as the block found them; then writes them. */
template <class T> bool is_poison(T *values, unsigned n) {
  unsigned char *bytes = reinterpret_cast<unsigned char *>(values);
  bool same = true;
  for (unsigned i = 0; i < n * sizeof(T); ++i) {
    same &= bytes[i] == simt::active_schedule.poison;
    bytes[i] = 0x33;
  }
  return same;
}
static __device__ bool in_static_function() {
  __shared__ float values[7];
  return is_poison(values, 7);
}
inline __device__ bool in_inline_function() {
  __shared__ __align__(16) unsigned char values[32];
  return reinterpret_cast<std::uintptr_t>(values) % 16 == 0 && is_poison(values, 32);
}
template <class T> __device__ bool in_template() {
  static __shared__ T values[3][5];
  return is_poison(&values[0][0], 15);
}
__device__ bool never_written() {
  __shared__ int value;
  unsigned char byte;
  std::memcpy(&byte, &value, 1);
  return byte == simt::active_schedule.poison;
}
struct local {
  static __device__ __forceinline__ bool in_member_function() {
    __shared__ struct {
      double sum;
      int count;
    } values;
    return is_poison(&values, 1);
  }
};
__global__ void find_poison(int *out) {
  if (threadIdx.x != 0) return;
  out[0] += in_static_function();
  out[1] += in_inline_function();
  out[2] += in_template<float>();
  out[3] += in_template<double>();
  out[4] += local::in_member_function();
  out[5] += never_written();
}

void every_block_finds_its_static_shared_memory_filled(void) {
  in_every_schedule([] {
    int out[6] = {};
    CHECK_LAUNCH(launch(find_poison, {3, 32}, out));
    for (int i = 0; i < 6; ++i)
      CHECK(out[i] == 3, "variable %d: %d", i, out[i]);
  });
}

} // namespace

/* Dynamic shared memory has a linker's name. */
namespace test_simt {

inline __device__ void *dynamic() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}
SIMT_DYNAMIC_SHARED(unsigned char, bytes);

extern __shared__ float floats[];

template <class T> __global__ void use_dynamic(int *out) {
  T *values = static_cast<T *>(dynamic());
  if (threadIdx.x == 0)
    out[0] += is_poison(values, blockDim.x) && is_poison(floats, blockDim.x);
  __syncthreads();
  values[threadIdx.x] = static_cast<T>(threadIdx.x);
  __syncthreads();
  out[1] += static_cast<int>(values[blockDim.x - 1 - threadIdx.x]);
}
SIMT_DYNAMIC_SHARED(float, floats);

} // namespace test_simt

namespace {

void dynamic_shared_memory_has_the_size_of_the_launch(void) {
  in_every_schedule([] {
    int out[2] = {};
    CHECK_LAUNCH(
        launch(test_simt::use_dynamic<double>, {2, 50, 50 * sizeof(double)}, out));
    CHECK(out[0] == 2 && out[1] == 2 * 1225, "%d %d", out[0], out[1]);
    CHECK_LAUNCH(launch(test_simt::use_dynamic<float>, {1, 50, 50 * sizeof(float)}, out));
    CHECK(out[0] == 3, "another size: %d", out[0]);
  });
}

} // namespace

int main(void) {
  TAP_RUN(barriers_order_memory_and_count);
  TAP_RUN(atomics_return_what_was_there);
  TAP_RUN(every_block_finds_its_static_shared_memory_filled);
  TAP_RUN(dynamic_shared_memory_has_the_size_of_the_launch);
  return tap_done();
}

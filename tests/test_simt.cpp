/* SPDX-License-Identifier: MIT */
/* The stand-in for CUDA that tests run device code on: each of its functions against
 * values from CUDA's manual, in every order of threads. What it says of kernels with a
 * fault is in test_simt_rules.cpp. */
#include "simt/launch.hpp"

#include "tap.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

using simt::launch;

namespace {

constexpr unsigned all = 0xffffffffu;

/* CHECK that a launch in the active schedule went well. */
#define CHECK_LAUNCH(...)                                                  \
 CHECK((__VA_ARGS__) == cudaSuccess, "%s: %s", simt::active_schedule.name, \
       simt::last_fault().text.c_str())

template <class F> void in_every_schedule(F body) {
  for (const simt::schedule &schedule : simt::schedules) {
    simt::use(schedule);
    body();
  }
}

/* Runs kernel(out) in one warp: what the lanes write against what they should. */
template <class T>
void check_warp(void (*kernel)(T *), const T (&want)[32], const char *what) {
  in_every_schedule([&] {
    T got[32] = {};
    CHECK_LAUNCH(launch(kernel, {1, 32}, got));
    for (unsigned lane = 0; lane < 32; ++lane)
      CHECK(std::memcmp(&got[lane], &want[lane], sizeof(T)) == 0, "%s: %s, lane %u", what,
            simt::active_schedule.name, lane);
  });
}

/* Shuffles */

template <int width> __global__ void shuffle_index(int *out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_sync(all, 100 + lane, 11, width);
}
template <int width> __global__ void shuffle_last(int *out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_sync(all, 100 + lane, -1, width);
}
template <int width> __global__ void shuffle_up(int *out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_up_sync(all, 100 + lane, 3, width);
}
/* Of 35 the manual takes the low 5 bits. */
__global__ void shuffle_up_by_35(int *out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_up_sync(all, 100 + lane, 35);
}
template <int width> __global__ void shuffle_down(int *out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_down_sync(all, 100 + lane, 3, width);
}
template <int width, int by> __global__ void shuffle_xor(int *out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_xor_sync(all, 100 + lane, by, width);
}

void check_sources(void (*kernel)(int *), const char *what, const int (&sources)[32]) {
  int want[32];
  for (int lane = 0; lane < 32; ++lane)
    want[lane] = 100 + sources[lane];
  check_warp(kernel, want, what);
}

void shuffles_read_the_lanes_of_the_manual(void) {
  /* clang-format off */
  check_sources(shuffle_index<32>, "index 11",
    {11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
     11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11});
  check_sources(shuffle_index<8>, "index 11 of width 8",
    { 3,  3,  3,  3,  3,  3,  3,  3, 11, 11, 11, 11, 11, 11, 11, 11,
     19, 19, 19, 19, 19, 19, 19, 19, 27, 27, 27, 27, 27, 27, 27, 27});
  check_sources(shuffle_last<16>, "index -1 of width 16",
    {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
     31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31});
  check_sources(shuffle_up<32>, "up 3",
    { 0,  1,  2,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12,
     13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28});
  check_sources(shuffle_up_by_35, "up 35",
    { 0,  1,  2,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12,
     13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28});
  check_sources(shuffle_up<8>, "up 3 of width 8",
    { 0,  1,  2,  0,  1,  2,  3,  4,  8,  9, 10,  8,  9, 10, 11, 12,
     16, 17, 18, 16, 17, 18, 19, 20, 24, 25, 26, 24, 25, 26, 27, 28});
  check_sources(shuffle_down<32>, "down 3",
    { 3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
     19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 29, 30, 31});
  check_sources(shuffle_down<8>, "down 3 of width 8",
    { 3,  4,  5,  6,  7,  5,  6,  7, 11, 12, 13, 14, 15, 13, 14, 15,
     19, 20, 21, 22, 23, 21, 22, 23, 27, 28, 29, 30, 31, 29, 30, 31});
  check_sources(shuffle_xor<32, 5>, "xor 5",
    { 5,  4,  7,  6,  1,  0,  3,  2, 13, 12, 15, 14,  9,  8, 11, 10,
     21, 20, 23, 22, 17, 16, 19, 18, 29, 28, 31, 30, 25, 24, 27, 26});
  /* Earlier parts of the warp can be read, later ones cannot. */
  check_sources(shuffle_xor<8, 8>, "xor 8 of width 8",
    { 0,  1,  2,  3,  4,  5,  6,  7,  0,  1,  2,  3,  4,  5,  6,  7,
     16, 17, 18, 19, 20, 21, 22, 23, 16, 17, 18, 19, 20, 21, 22, 23});
  /* clang-format on */
}

template <class T> __global__ void rotate(const T *in, T *out) {
  const unsigned lane = threadIdx.x;
  out[lane] = __shfl_sync(all, in[lane], static_cast<int>(lane + 1));
}

template <class T> void check_rotation(const std::vector<T> &in, const char *type) {
  in_every_schedule([&] {
    std::vector<T> out(32);
    CHECK_LAUNCH(launch(rotate<T>, {1, 32}, in.data(), out.data()));
    for (unsigned i = 0; i < 32; ++i)
      CHECK(std::memcmp(&out[i], &in[(i + 1) % 32], sizeof(T)) == 0, "%s %u", type, i);
  });
}

void shuffles_move_any_bits_of_any_type(void) {
  std::vector<float> floats(32, -0.0f);
  floats[7] = __uint_as_float(0xffc00001); /* a NaN with a payload */
  floats[8] = __uint_as_float(0x7f800000);
  check_rotation(floats, "float");
  std::vector<double> doubles(32, -0.0);
  doubles[31] = 1e300;
  check_rotation(doubles, "double");
  std::vector<unsigned long long> words(32, 0xfedcba9876543210u);
  words[0] = 1;
  check_rotation(words, "unsigned long long");
}

/* A part of the warp, or a last warp with fewer lanes. */
__global__ void halves(int *out) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane < 16) {
    out[lane] = __shfl_xor_sync(0xffffu, lane, 8);
    __syncwarp(0xffffu);
    out[lane] += __shfl_xor_sync(0xffffu, out[lane], 4);
  } else {
    out[lane] = -__shfl_down_sync(0xffff0000u, lane, 1);
  }
}
__global__ void sum_of_12(int *out) {
  const unsigned mask = threadIdx.x < 32 ? all : 0xfffu;
  out[threadIdx.x] = __reduce_add_sync(mask, 1) +
                     static_cast<int>(__ballot_sync(mask, threadIdx.x & 1) >> 8);
}

void parts_of_a_warp_work_apart(void) {
  /* Lane 0: lane 8's 8, and the 12 that lane 4 got. */
  check_warp<int>(halves, {20,  22,  24,  26,  20,  22,  24,  26,  4,   6,   8,
                           10,  4,   6,   8,   10,  -17, -18, -19, -20, -21, -22,
                           -23, -24, -25, -26, -27, -28, -29, -30, -31, -31},
                  "halves");
  in_every_schedule([] {
    int out[44];
    CHECK_LAUNCH(launch(sum_of_12, {1, 44}, out));
    CHECK(out[5] == 32 + 0xaaaaaa, "%d", out[5]);
    for (int i = 32; i < 44; ++i)
      CHECK(out[i] == 12 + 0xa, "%d: %d", i, out[i]);
  });
}

/* Votes, matches, reductions */

struct votes {
  unsigned ballot, some, none, every, match, active;
};
__global__ void vote(votes *out) {
  const unsigned lane = threadIdx.x;
  votes v;
  v.ballot = __ballot_sync(all, lane % 3 == 0);
  v.some = static_cast<unsigned>(__any_sync(all, lane == 31));
  v.none =
      static_cast<unsigned>(__any_sync(all, lane == 32) + __all_sync(all, lane < 31));
  v.every = static_cast<unsigned>(__all_sync(all, 256));
  v.match = __match_any_sync(all, lane / 4 % 2);
  v.active = __activemask();
  __syncwarp();
  out[lane] = v;
}

void votes_and_matches_name_lanes(void) {
  votes want[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    want[lane] = {0x49249249, 1, 0, 1, lane / 4 % 2 ? 0xf0f0f0f0 : 0x0f0f0f0f, all};
  check_warp(vote, want, "votes");
}

struct reductions {
  unsigned add, min, max, all_of, any_of, odd;
  int add_int, min_int, max_int;
};
__global__ void reduce(reductions *out) {
  const unsigned lane = threadIdx.x, bits = 1u << lane | 0x80000000u;
  const int value = static_cast<int>(lane) - 16;
  out[lane] = {__reduce_add_sync(all, lane | 0x80000000u),
               __reduce_min_sync(all, 5 - lane),
               __reduce_max_sync(all, lane - 3),
               __reduce_and_sync(all, bits),
               __reduce_or_sync(all, bits),
               __reduce_xor_sync(all, bits),
               __reduce_add_sync(all, value),
               __reduce_min_sync(all, value),
               __reduce_max_sync(all, value)};
}

void reductions_are_of_32_bits(void) {
  reductions want[32];
  /* 32 * 2^31 is 0 in 32 bits; 5 - 6 and 0 - 3 are large; bit 31 is set 32 times. */
  for (reductions &r : want)
    r = {496, 0, 0xffffffff, 0x80000000, 0xffffffff, 0x7fffffff, -16, -16, 15};
  check_warp(reduce, want, "reductions");
}

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
  out[n + i] = __syncthreads_count(i % 2 == 0);
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
        CHECK(out[n + i] == static_cast<int>((n + 1) / 2), "%u: %d", i, out[n + i]);
        CHECK(out[2 * n + i] == 1 + 4, "%u: %d", i, out[2 * n + i]);
      }
    }
  });
}

/* Atomics */

struct totals {
  unsigned sum;
  int least, most;
  unsigned and_, or_, xor_, lock, locked_sum;
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
  atomicXor(&t->xor_, i);
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
    t.and_ = all;
    std::vector<unsigned> tickets(200);
    CHECK_LAUNCH(launch(atomics, {2, 100}, &t, tickets.data()));
    CHECK(t.sum == 200 && t.least == -192 && t.most == 192, "%u %d %d", t.sum, t.least,
          t.most);
    CHECK(t.and_ == 0 && t.or_ == 0xfffff && t.xor_ == 0, "%x %x %u", t.and_, t.or_,
          t.xor_);
    CHECK(t.largest == 199ull << 40, "%llx", t.largest);
    CHECK(t.parts == 50 && t.locked_sum == 199 * 100, "%g %u",
          static_cast<double>(t.parts), t.locked_sum);
    std::sort(tickets.begin(), tickets.end());
    for (unsigned i = 0; i < 200; ++i)
      CHECK(tickets[i] == i, "no ticket %u", i);
  });
}

/* Bits */

void bit_functions_have_the_values_of_the_manual(void) {
  CHECK(__popc(0xf0f00001) == 9 && __popcll(0xf00000000000000f) == 8, "__popc");
  CHECK(__clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0, "__clz");
  CHECK(__clzll(0) == 64 && __clzll(1) == 63, "__clzll");
  CHECK(__ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41, "__ffs");
  CHECK(__brev(1) == 0x80000000 && __brev(0x12345678) == 0x1e6a2c48, "__brev");
  CHECK(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311, "__byte_perm");
  CHECK(__byte_perm(0x33221100, 0x77665544, 0xc098) == 0x44001100,
        "__byte_perm: 3 bits count");
  CHECK(__float_as_uint(-1.0f) == 0xbf800000 && __float_as_int(-0.0f) < 0,
        "__float_as_uint");
  CHECK(__uint_as_float(0x40490fdb) > 3.14f && __int_as_float(0) == 0, "__uint_as_float");
  CHECK(__double_as_longlong(1.0) == 0x3ff0000000000000, "__double_as_longlong");
  CHECK(__longlong_as_double(0x4000000000000000) == 2, "__longlong_as_double");
  /* (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, of which a float keeps the first two. */
  const float x = 1 + 0x1p-12f, product = __fmul_rn(x, x);
  CHECK(__fmaf_rn(x, x, -product) == 0x1p-24f, "__fmaf_rn is exact inside");
  CHECK(__fadd_rn(product, -1) == 0x1p-11f && __fsub_rn(product, 1) == 0x1p-11f,
        "__fadd_rn");
  CHECK(__fdiv_rn(1, 8) == __frcp_rn(8) && __fsqrt_rn(81) == 9, "__fdiv_rn");
  const int seven = 7;
  int eight = 0;
  __stcs(&eight, 8);
  CHECK(__ldg(&seven) + __ldcs(&seven) + __ldcg(&eight) == 22, "loads");
}

void vector_types_are_laid_out_as_in_cuda(void) {
  static_assert(sizeof(uint2) == 8 && alignof(uint2) == 8, "uint2");
  static_assert(sizeof(uint4) == 16 && alignof(uint4) == 16, "uint4");
  static_assert(sizeof(float3) == 12 && alignof(float3) == 4, "float3");
  static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "float4");
  static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4, "uchar4");
  static_assert(sizeof(ushort4) == 8 && alignof(ushort4) == 8, "ushort4");
  static_assert(sizeof(double2) == 16 && alignof(double2) == 16, "double2");
  struct __align__(8) pair {
    float a, b;
  };
  static_assert(alignof(pair) == 8, "__align__");
  const float4 f = make_float4(1, 2, 3, 4);
  const uint2 u = make_uint2(5, 6);
  CHECK(f.x == 1 && f.w == 4 && u.x == 5 && u.y == 6, "make_");
}

/* Geometry and launches */

__global__ void coordinates(uint4 *out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread =
      (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned size = blockDim.x * blockDim.y * blockDim.z;
  uint4 &mine = out[block * size + thread];
  mine.x += 1;
  mine.y = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
  mine.z = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z;
  /* Lanes go on from one row of the block to the next. */
  mine.w = __reduce_min_sync(thread < 32 ? all : 0xfffffffu, thread);
}

void grids_and_blocks_have_three_dimensions(void) {
  in_every_schedule([] {
    std::vector<uint4> out(12 * 60, make_uint4(0, 0, 0, 0));
    CHECK_LAUNCH(launch(coordinates, {dim3(2, 3, 2), dim3(5, 3, 4)}, out.data()));
    for (const uint4 &one : out)
      CHECK(one.x == 1, "%u threads are the same", one.x);
    /* Thread (2, 1, 3) is 3 * 15 + 1 * 5 + 2 = 52, block (1, 2, 0) is 2 * 2 + 1 = 5. */
    const uint4 &one = out[5 * 60 + 52];
    CHECK(one.y == 312 && one.z == 21 && one.w == 32, "%u %u %u", one.y, one.z, one.w);
    CHECK(out[31].w == 0 && out[719].y == 324 && out[719].z == 121, "%u", out[719].y);
  });
}

__global__ void nothing() {}
__global__ void store(int *out, int x, double y, float4 z, const char *text) {
  out[0] = x + static_cast<int>(y) + static_cast<int>(z.w) + text[1];
}

void launches_check_their_limits(void) {
  const cudaError_t configuration = cudaErrorInvalidConfiguration;
  CHECK(launch(nothing, {1, 1024}) == cudaSuccess, "1024 threads");
  CHECK(launch(nothing, {1, dim3(4, 4, 64)}) == cudaSuccess, "64 threads along z");
  CHECK(launch(nothing, {1, 1, 48 << 10}) == cudaSuccess, "48 KiB of shared memory");
  CHECK(launch(nothing, {1, 1, (48 << 10) + 1}) == cudaErrorInvalidValue, "49153 bytes");
  for (dim3 block : {dim3(0), dim3(1, 0), dim3(1, 1, 0), dim3(1025), dim3(32, 33),
                     dim3(1, 1, 65), dim3(65536, 65536)})
    CHECK(launch(nothing, {1, block}) == configuration, "block %u %u", block.x, block.y);
  for (dim3 grid : {dim3(0), dim3(1, 0), dim3(1, 1, 0), dim3(0x80000000), dim3(1, 65536),
                    dim3(1, 1, 65536)})
    CHECK(launch(nothing, {grid, 1}) == configuration, "grid %u %u", grid.x, grid.y);
  void (*no_kernel)() = nullptr;
  CHECK(launch(no_kernel, {1, 1}) == cudaErrorInvalidDeviceFunction, "no kernel");
}

void launches_copy_arguments_of_any_type(void) {
  int out[1];
  CHECK_LAUNCH(launch(store, {1, 1}, out, 1, 10.5, make_float4(0, 0, 0, 100), "ab"));
  CHECK(out[0] == 111 + 'b', "%d", out[0]);
}

void memory_functions_copy_and_fill(void) {
  unsigned from = 0x01020304, to = 0;
  CHECK(cudaMemcpyAsync(&to, &from, 4, cudaMemcpyDefault) == cudaSuccess, "copy");
  CHECK(to == from, "%x", to);
  CHECK(cudaMemsetAsync(&to, 0xab, 3, nullptr) == cudaSuccess, "fill");
  CHECK(to == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0x01ababab : 0xababab04), "%x",
        to);
  CHECK(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") ==
            0,
        "");
}

__global__ void arrive(unsigned *next, unsigned *order) {
  order[(*next)++] = threadIdx.x;
}

std::vector<unsigned> arrivals(const simt::schedule &schedule, unsigned size) {
  simt::use(schedule);
  unsigned next = 0;
  std::vector<unsigned> order(size);
  CHECK_LAUNCH(launch(arrive, {1, size}, &next, order.data()));
  return order;
}

void threads_run_in_three_orders(void) {
  for (unsigned size : {32u, 100u}) {
    std::vector<unsigned> forward(size);
    std::iota(forward.begin(), forward.end(), 0u);
    const std::vector<unsigned> backward(forward.rbegin(), forward.rend());
    CHECK(arrivals(simt::schedules[0], size) == forward, "forward");
    CHECK(arrivals(simt::schedules[2], size) == backward, "backward");
    const std::vector<unsigned> shuffled = arrivals(simt::schedules[4], size);
    CHECK(shuffled != forward && shuffled != backward, "shuffled");
    CHECK(arrivals(simt::schedules[5], size) != shuffled,
          "another seed is another order");
    CHECK(arrivals(simt::schedules[4], size) == shuffled, "a seed gives an order again");
  }
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
  TAP_RUN(shuffles_read_the_lanes_of_the_manual);
  TAP_RUN(shuffles_move_any_bits_of_any_type);
  TAP_RUN(parts_of_a_warp_work_apart);
  TAP_RUN(votes_and_matches_name_lanes);
  TAP_RUN(reductions_are_of_32_bits);
  TAP_RUN(barriers_order_memory_and_count);
  TAP_RUN(atomics_return_what_was_there);
  TAP_RUN(bit_functions_have_the_values_of_the_manual);
  TAP_RUN(vector_types_are_laid_out_as_in_cuda);
  TAP_RUN(grids_and_blocks_have_three_dimensions);
  TAP_RUN(launches_check_their_limits);
  TAP_RUN(launches_copy_arguments_of_any_type);
  TAP_RUN(memory_functions_copy_and_fill);
  TAP_RUN(threads_run_in_three_orders);
  TAP_RUN(every_block_finds_its_static_shared_memory_filled);
  TAP_RUN(dynamic_shared_memory_has_the_size_of_the_launch);
  return tap_done();
}

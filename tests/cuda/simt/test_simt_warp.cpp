/* SPDX-License-Identifier: MIT */
/* The stand-in for CUDA that tests run device code on: what the lanes of a warp do
 * together, against values from CUDA's manual, in every order of threads. What it says of
 * kernels with a fault is in test_simt_rules.cpp. */
#include "simt_checks.hpp"

#include <cmath>
#include <cstring>
#include <vector>

using simt::launch;

namespace {

constexpr unsigned all = 0xffffffffu;

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
  const unsigned nan = 0xffc00001; /* with a payload */
  std::memcpy(&floats[7], &nan, sizeof nan);
  floats[8] = INFINITY;
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

/* Votes, reductions */

struct votes {
  unsigned ballot, some, none, every;
};
__global__ void vote(votes *out) {
  const unsigned lane = threadIdx.x;
  votes v;
  v.ballot = __ballot_sync(all, lane % 3 == 0);
  v.some = static_cast<unsigned>(__any_sync(all, lane == 31));
  v.none =
      static_cast<unsigned>(__any_sync(all, lane == 32) + __all_sync(all, lane < 31));
  v.every = static_cast<unsigned>(__all_sync(all, 256));
  out[lane] = v;
}

void votes_name_lanes(void) {
  votes want[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    want[lane] = {0x49249249, 1, 0, 1};
  check_warp(vote, want, "votes");
}

struct reductions {
  unsigned add, min, max, any_of;
  int add_int, max_int;
};
__global__ void reduce(reductions *out) {
  const unsigned lane = threadIdx.x, bits = 1u << lane | 0x80000000u;
  const int value = static_cast<int>(lane) - 16;
  out[lane] = {__reduce_add_sync(all, lane | 0x80000000u),
               __reduce_min_sync(all, 5 - lane),
               __reduce_max_sync(all, lane - 3),
               __reduce_or_sync(all, bits),
               __reduce_add_sync(all, value),
               __reduce_max_sync(all, value)};
}

void reductions_are_of_32_bits(void) {
  reductions want[32];
  /* 32 * 2^31 is 0 in 32 bits; 5 - 6 and 0 - 3 are large; and every bit is set. */
  for (reductions &r : want)
    r = {496, 0, 0xffffffff, 0xffffffff, -16, 15};
  check_warp(reduce, want, "reductions");
}

} // namespace

int main(void) {
  TAP_RUN(shuffles_read_the_lanes_of_the_manual);
  TAP_RUN(shuffles_move_any_bits_of_any_type);
  TAP_RUN(parts_of_a_warp_work_apart);
  TAP_RUN(votes_name_lanes);
  TAP_RUN(reductions_are_of_32_bits);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* The stand-in for CUDA that tests run device code on: grids, launches and the functions
 * of its runtime. */
#include "simt_checks.hpp"

#include <cstring>
#include <numeric>
#include <unistd.h>
#include <vector>

using simt::launch;

namespace {

struct uint4 {
  unsigned x, y, z, w;
};

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
  mine.w = __reduce_min_sync(thread < 32 ? 0xffffffffu : 0xfffffffu, thread);
}

void grids_and_blocks_have_three_dimensions(void) {
  in_every_schedule([] {
    std::vector<uint4> out(12 * 60, uint4{0, 0, 0, 0});
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
__global__ void store(int *out, int x, double y, uint4 z, const char *text) {
  out[0] = x + static_cast<int>(y) + static_cast<int>(z.w) + text[1];
}

void launches_check_their_limits(void) {
  const cudaError_t configuration = cudaErrorInvalidConfiguration;
  CHECK(launch(nothing, {1, 1024}) == cudaSuccess, "1024 threads");
  CHECK(launch(nothing, {1, dim3(4, 4, 64)}) == cudaSuccess, "64 threads along z");
  CHECK(launch(nothing, {1, 1, 48 << 10}) == cudaSuccess, "48 KiB of shared memory");
  CHECK(launch(nothing, {1, 1, (48 << 10) + 1}) == cudaErrorInvalidValue, "49153 bytes");
  const void *kernel = reinterpret_cast<const void *>(nothing);
  const cudaFuncAttribute attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CHECK(cudaFuncSetAttribute(kernel, attribute, 64 << 10) == cudaSuccess &&
            launch(nothing, {1, 1, 64 << 10}) == cudaSuccess &&
            launch(nothing, {1, 1, (64 << 10) + 1}) == cudaErrorInvalidValue,
        "64 KiB of shared memory, asked for");
  CHECK(cudaFuncSetAttribute(kernel, attribute, (227 << 10) + 1) == cudaErrorInvalidValue,
        "more than there is");
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
  CHECK_LAUNCH(launch(store, {1, 1}, out, 1, 10.5, uint4{0, 0, 0, 100}, "ab"));
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

/* A read through the kernel, which fails where memory is closed. */
bool can_read(const void *address) {
  int ends[2];
  CHECK(pipe(ends) == 0, "a pipe");
  const bool is_read = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is_read;
}
__global__ void look(const int *from, int *to) { *to = can_read(from) ? *from : -1; }
cudaError_t launch_look(const int *from, int *to, bool *host_can_read) {
  *host_can_read = can_read(from);
  return launch(look, {1, 1}, from, to);
}

void managed_memory_is_the_devices_while_a_launcher_runs(void) {
  int &from = placed(7), &to = placed(0), of_host = 0;
  bool host_can_read = true;
  CHECK_LAUNCH(launch_look(&from, &to, &host_can_read));
  CHECK(to == 7, "%d", to);
#if SIMT_HAS_ASAN
  (void)of_host; /* which watches over each address by itself */
#else
  CHECK(!host_can_read, "the host reads it");
  simt::managed.is_asked_for = true;
  CHECK(launch(look, {1, 1}, &from, &of_host) == cudaErrorLaunchFailure &&
            simt::last_fault().rule == simt::rule::memory_is_managed && of_host == 0,
        "a pointer to the stack");
  CHECK(launch(look, {1, 1}, &from, &to) == cudaSuccess, "%s",
        simt::last_fault().text.c_str());
  simt::managed.is_asked_for = false;
#endif
}

} // namespace

int main(void) {
  TAP_RUN(grids_and_blocks_have_three_dimensions);
  TAP_RUN(launches_check_their_limits);
  TAP_RUN(launches_copy_arguments_of_any_type);
  TAP_RUN(memory_functions_copy_and_fill);
  TAP_RUN(managed_memory_is_the_devices_while_a_launcher_runs);
  TAP_RUN(threads_run_in_three_orders);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* A few operations from small arrays to large ones, warm and cold, in graphs, so that
 * the time of a launch from the host does not count. */
#include "measure.cuh"

#include "fill.cuh"
#include "gpu.h"

namespace {

const unsigned most_launches = 256;
const uint64_t seed = 1;

struct operation {
  const char *name;
  double bytes; /* moved for a float */
  cudaError_t (*start)(void *dst, const void *src, size_t n, cudaStream_t stream);
};

cudaError_t copy(void *dst, const void *src, size_t n, cudaStream_t stream) {
  return cudaMemcpyAsync(dst, src, 4 * n, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t bf16(void *dst, const void *src, size_t n, cudaStream_t stream) {
  return mpnum_launch_convert_sat(static_cast<mpnum_bf16 *>(dst),
                                  static_cast<const float *>(src), n, stream);
}
cudaError_t e4m3(void *dst, const void *src, size_t n, cudaStream_t stream) {
  return mpnum_launch_convert_sat(static_cast<mpnum_e4m3 *>(dst),
                                  static_cast<const float *>(src), n, stream);
}
/* The bytes of floats are as good as other codes. */
cudaError_t back(void *dst, const void *src, size_t n, cudaStream_t stream) {
  return mpnum_launch_convert(static_cast<float *>(dst),
                              static_cast<const mpnum_e4m3 *>(src), n, stream);
}
cudaError_t amax(void *dst, const void *src, size_t n, cudaStream_t stream) {
  return mpnum_launch_amax(static_cast<float *>(dst), static_cast<const float *>(src), n,
                           stream);
}

const operation operations[] = {{"cudaMemcpy", 8, copy},
                                {"f32 to bf16", 6, bf16},
                                {"f32 to e4m3", 5, e4m3},
                                {"e4m3 to f32", 5, back},
                                {"amax f32", 4, amax}};
static_assert(sizeof operations / sizeof *operations * GPU_SWEEP_SIZES <= GPU_SWEEP,
              "a row for each");

/* Arrays one behind the other; the first again and again, or each once. */
struct series {
  const operation *what;
  char *dst, *src;
  size_t size;
  bool is_warm;
};
cudaError_t start(void *context, unsigned number, cudaStream_t stream) {
  const series *self = static_cast<const series *>(context);
  const size_t at = self->is_warm ? 0 : number * self->size;
  return self->what->start(self->dst + at, self->src + at, self->size / 4, stream);
}

bool measure_size(gpu_run *run, size_t size, size_t room) {
  const size_t fit = room / size;
  const unsigned launches = static_cast<unsigned>(fit < 1               ? 1
                                                  : fit < most_launches ? fit
                                                                        : most_launches);
  gpu_buffer dst, src;
  if (dst.make(launches * size) != cudaSuccess ||
      src.make(launches * size) != cudaSuccess) {
    cudaGetLastError(); /* out of memory is no lasting error */
    gpu_note(run->results, "sizes: memory for two arrays of %zu KiB is not free",
             launches * size >> 10);
    return true;
  }
  if (!run->done(gpu_fill_normal(src.as<float>(), launches * size / 4, seed),
                 "random values"))
    return false;
  for (const operation &what : operations) {
    gpu_sweep_row *row = &run->results->sweep[run->results->sweep_count];
    series self = {&what, dst.as<char>(), src.as<char>(), size, true};
    const gpu_series launched = {start, &self, launches};
    gpu_time time;
    if (!gpu_time_series(run, &launched, "sizes on the GPU", &row->warm, nullptr))
      return false;
    self.is_warm = false;
    if (!gpu_time_series(run, &launched, "sizes on the GPU", &time, &row->cold))
      return false;
    row->operation = what.name;
    row->size = size;
    row->bytes = what.bytes * static_cast<double>(size / 4);
    row->launches = launches;
    ++run->results->sweep_count;
  }
  return true;
}

} // namespace

void gpu_measure_sweep(gpu_run *run) {
  const gpu_plan *plan = &run->results->plan;
  gpu_state state;
  char text[sizeof run->why.text];
  run->release_arrays();
  for (size_t size : plan->sweep) {
    if (size == 0 || (!run->is_lost && measure_size(run, size, plan->size))) continue;
    run->fail(&state, text, sizeof text);
    gpu_note(run->results, "sizes: arrays of %zu KiB: %s", size >> 10, text);
  }
}

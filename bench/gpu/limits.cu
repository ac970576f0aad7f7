/* SPDX-License-Identifier: MIT */
/* What memory gives: copies and reads in several shapes, after the clocks have settled.
 */
#include <math.h>

#include "fill.cuh"
#include "measure.cuh"

namespace {

typedef mpnum_lanes<uint32_t, 4> word; /* 16 bytes */

const unsigned threads = 256;
const unsigned wave = 4; /* blocks that every multiprocessor holds */
const unsigned warm_copies = 8;
const unsigned busy_copies = 256;                  /* while clocks are read */
const double warm_limit = 3000, quick_limit = 100; /* ms */
const unsigned windows_alike = 4;

/* A block takes tiles of `vectors` words a thread, all of which are loaded before the
 * first is stored; whole tiles alone, a rest of the array is left out. */
template <unsigned vectors>
__global__ void copy_kernel(word *dst, const word *src, size_t tiles) {
  for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const size_t first = tile * vectors * threads + threadIdx.x;
    word in[vectors];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < vectors; ++v)
      in[v] = src[first + v * threads];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < vectors; ++v)
      dst[first + v * threads] = in[v];
  }
}

/* Writes where all that a thread read is one odd pattern: never, but no compiler knows.
 */
template <unsigned vectors>
__global__ void read_kernel(word *dst, const word *src, size_t tiles) {
  uint32_t all = 0;
  for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const size_t first = tile * vectors * threads + threadIdx.x;
    word in[vectors];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < vectors; ++v)
      in[v] = src[first + v * threads];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < vectors; ++v)
      all |= in[v].at[0] ^ in[v].at[1] ^ in[v].at[2] ^ in[v].at[3];
  }
  if (all == 0x80000001u) dst->at[0] = all;
}

struct shape {
  const char *name;
  void (*kernel)(word *, const word *, size_t);
  unsigned vectors;
  bool is_wave; /* as many blocks as run at once, else one for each tile */
};
const shape copies[] = {{"16 bytes a thread", copy_kernel<1>, 1, false},
                        {"64 bytes a thread", copy_kernel<4>, 4, false},
                        {"128 bytes a thread", copy_kernel<8>, 8, false},
                        {"64 bytes a thread, one wave", copy_kernel<4>, 4, true},
                        {"128 bytes a thread, one wave", copy_kernel<8>, 8, true}};
const shape reads[] = {{"64 bytes a thread", read_kernel<4>, 4, false},
                       {"128 bytes a thread", read_kernel<8>, 8, false},
                       {"64 bytes a thread, one wave", read_kernel<4>, 4, true},
                       {"128 bytes a thread, one wave", read_kernel<8>, 8, true}};
const unsigned copy_count = sizeof copies / sizeof *copies;
const unsigned read_count = sizeof reads / sizeof *reads;

cudaError_t launch(const shape *chosen, const gpu_move *move) {
  const size_t tiles = move->bytes / (sizeof(word) * threads * chosen->vectors);
  const size_t most = size_t{wave} * move->multiprocessors;
  const size_t blocks = chosen->is_wave && tiles > most ? most : tiles;
  if (tiles == 0) return cudaErrorInvalidValue;
  return gpu_launch(chosen->kernel, static_cast<unsigned>(blocks), threads,
                    static_cast<word *>(move->dst), static_cast<const word *>(move->src),
                    tiles);
}

/* The GB/s of the fastest shape, one contender after the other. */
bool find_best(gpu_run *run, gpu_move *move, cudaError_t (*start)(void *), unsigned count,
               double bytes, unsigned *best, double *rate) {
  *rate = 0;
  for (unsigned i = 0; i < count; ++i) {
    gpu_contender self = {start, move, gpu_time()};
    move->shape = i;
    if (!gpu_time_cold(run, &self, 1, "limits of the GPU's memory")) return false;
    const double found = bytes / (self.time.ms * 1e6);
    if (found > *rate) {
      *rate = found;
      *best = i;
    }
  }
  return true;
}

bool time_window(gpu_run *run, gpu_copy *copy, double *ms) {
  static const char what[] = "warming up";
  float taken = 0;
  if (!run->done(cudaEventRecord(run->begin, 0), what)) return false;
  for (unsigned i = 0; i < warm_copies; ++i)
    if (!run->done(gpu_run_copy(copy), what)) return false;
  if (!run->done(cudaEventRecord(run->end, 0), what) ||
      !run->done(cudaEventSynchronize(run->end), what) ||
      !run->done(cudaEventElapsedTime(&taken, run->begin, run->end), what))
    return false;
  *ms = taken;
  return true;
}

/* Copies until the last few windows took the same time within 1 %, or for long enough. */
bool warm_up(gpu_run *run, gpu_copy *copy) {
  gpu_limits *found = &run->results->limits;
  const double limit = run->results->plan.rounds <= 3 ? quick_limit : warm_limit;
  double last[windows_alike];
  for (unsigned i = 0; found->warm_ms < limit && !found->steady; ++i) {
    double low = 0, high = 0, ms;
    if (!time_window(run, copy, &ms)) return false;
    found->warm_ms += ms;
    last[i % windows_alike] = ms;
    if (i + 1 < windows_alike) continue;
    low = high = ms;
    for (double window : last) {
      low = fmin(low, window);
      high = fmax(high, window);
    }
    found->steady = high <= 1.01 * low;
  }
  return true;
}

} // namespace

cudaError_t gpu_run_move(void *context) {
  const gpu_move *move = static_cast<const gpu_move *>(context);
  return launch(&copies[move->shape], move);
}
cudaError_t gpu_run_read(void *context) {
  const gpu_move *move = static_cast<const gpu_move *>(context);
  return launch(&reads[move->shape], move);
}

/* Keeps the GPU at work for some 30 ms and more, after this has returned. */
void begin_copies(void *context) {
  for (unsigned i = 0; i < busy_copies; ++i)
    gpu_run_copy(context);
}

bool gpu_read_clocks(gpu_run *run, gpu_clocks *clocks) {
  const gpu_arrays &arrays = run->arrays;
  if (run->is_lost || !run->need_arrays()) return false;
  gpu_copy copy = {arrays.result.at, arrays.values.at, 4 * arrays.count};
  nvml_read(clocks, run->results->device.bus, begin_copies, &copy);
  return run->done(cudaGetLastError(), "copies") &&
         run->done(cudaDeviceSynchronize(), "copies");
}

bool gpu_measure_limits(gpu_run *run) {
  gpu_limits *found = &run->results->limits;
  const gpu_arrays &arrays = run->arrays;
  if (!run->need_arrays()) return false;
  const double bytes = 4.0 * static_cast<double>(arrays.count);
  gpu_copy copy = {arrays.result.at, arrays.values.at, 4 * arrays.count};
  gpu_contender api = {gpu_run_copy, &copy, gpu_time()};
  gpu_move move = run->move(copy.dst, copy.src, copy.bytes);
  if (!warm_up(run, &copy) ||
      !gpu_time_cold(run, &api, 1, "limits of the GPU's memory") ||
      !find_best(run, &move, gpu_run_move, copy_count, 2 * bytes, &run->copy_shape,
                 &found->copy) ||
      !find_best(run, &move, gpu_run_read, read_count, bytes, &run->read_shape,
                 &found->read))
    return false;
  found->api = 2 * bytes / (api.time.ms * 1e6);
  found->copy_shape = copies[run->copy_shape].name;
  found->read_shape = reads[run->read_shape].name;
  if (!found->steady)
    gpu_note(run->results, "times of copies had not settled to 1 %% after %.0f ms",
             found->warm_ms);
  return true;
}

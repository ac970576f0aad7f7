/* SPDX-License-Identifier: MIT */
/* What a chain of short launches takes, plain and programmatic: with the same results. */
#include <stdio.h>

#include "chain.h"
#include "fill.cuh"
#include "kernels.cuh"

namespace {

const uint64_t seed = 3;
const unsigned chains = 8; /* in a graph */
const size_t count = static_cast<size_t>(GPU_CHAIN_ROWS) * GPU_CHAIN_COLUMNS;
const char *const names[] = {"chain of 20 launches, 64 KiB",
                             "chain of 20 launches, 64 KiB, programmatic"};

struct chain_work {
  gpu_buffer x, y, codes, side;
  gpu_chain chain;
  bool make(gpu_run *run) {
    if (!run->done(x.make(4 * count), "memory") ||
        !run->done(y.make(4 * count), "memory") ||
        !run->done(codes.make(count), "memory") ||
        !run->done(side.make(2 * sizeof(float)), "memory"))
      return false;
    chain.x = x.as<float>();
    chain.y = y.as<float>();
    chain.codes = codes.at;
    chain.scale_inv = side.as<float>();
    chain.amax = chain.scale_inv + 1;
    return fill(run);
  }
  bool fill(gpu_run *run) {
    return run->done(gpu_fill_normal(chain.x, count, seed), "random values");
  }
};

/* Both ways, from the same values. */
bool check_chain(gpu_run *run, chain_work *work, gpu_match *match) {
  gpu_host_array<float> ours(count), theirs(count);
  if (!ours.at || !theirs.at) return refuse(&run->why, "out of memory");
  for (int i = 0; i < 2; ++i) {
    const cudaError_t error = !work->fill(run) ? cudaErrorUnknown
                              : i == 0
                                  ? gpu_start_programmatic_chain(&work->chain, 0, nullptr)
                                  : gpu_start_chain(&work->chain, 0, nullptr);
    if (!run->done(error, names[1 - i]) ||
        !run->done(cudaMemcpy(i == 0 ? ours.at : theirs.at, work->chain.x, 4 * count,
                              cudaMemcpyDeviceToHost),
                   "copying back"))
      return false;
  }
  gpu_compare(match, ours.at, theirs.at, 4 * count);
  return true;
}

} // namespace

unsigned gpu_chain_rows() { return sizeof names / sizeof *names; }

bool gpu_chain_name(unsigned index, char *name, size_t size) {
  if (index >= gpu_chain_rows()) return false;
  snprintf(name, size, "%s", names[index]);
  return true;
}

bool gpu_measure_chain(gpu_run *run, unsigned index, gpu_kernel *made) {
  chain_work work;
  const gpu_series series = {index == 0 ? gpu_start_chain : gpu_start_programmatic_chain,
                             &work.chain, chains};
  made->bound = GPU_BY_TIME;
  if (index == 1 && !gpu_has_programmatic_chain()) {
    snprintf(made->why, sizeof made->why, "compiled for targets older than 9.0");
    return true;
  }
  return work.make(run) &&
         gpu_time_series(run, &series, "chains on the GPU", &made->speed.time, nullptr) &&
         check_chain(run, &work, &made->match);
}

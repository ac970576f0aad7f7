/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "measure.cuh"

#include "fill.cuh"

namespace {

const size_t usual_flush = size_t{128} << 20; /* bytes, where the L2 is unknown */
const size_t least_array = size_t{64} << 10;
const double most_ms = 1500; /* of one contender in one timing */
const unsigned least_rounds = 3;
const uint64_t value_seed = 1;

bool flush_cache(gpu_run *run) {
  return run->done(mpnum_launch_amax(run->sink.as<float>(), run->flush.as<float>(),
                                     run->flush_count, 0),
                   "flushing the L2 cache");
}

bool time_now(gpu_run *run, const gpu_contender *self, const char *what, double *ms) {
  float taken = 0;
  if (!run->done(cudaEventRecord(run->begin, 0), what) ||
      !run->done(self->run(self->context), what) ||
      !run->done(cudaEventRecord(run->end, 0), what) ||
      !run->done(cudaEventSynchronize(run->end), what) ||
      !run->done(cudaEventElapsedTime(&taken, run->begin, run->end), what))
    return false;
  *ms = taken;
  return true;
}

/* The first run loads the code; the second tells how long one takes. */
bool choose_rounds(gpu_run *run, const gpu_contender *self, const char *what,
                   unsigned *wanted) {
  const unsigned rounds = run->results->plan.rounds;
  double ms;
  if (!gpu_time_once(run, self, what, &ms) || !gpu_time_once(run, self, what, &ms))
    return false;
  *wanted = rounds;
  if (ms * rounds > most_ms) *wanted = static_cast<unsigned>(most_ms / ms);
  if (*wanted < least_rounds) *wanted = rounds < least_rounds ? rounds : least_rounds;
  return true;
}

} // namespace

gpu_run::~gpu_run() {
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
}

bool gpu_run::open() {
  size_t bytes = 2 * static_cast<size_t>(results->device.cache);
  if (bytes == 0) bytes = usual_flush;
  flush_count = bytes / sizeof(float);
  return done(cudaEventCreate(&begin), "creating an event") &&
         done(cudaEventCreate(&end), "creating an event") &&
         done(flush.make(bytes), "memory to flush the L2 cache") &&
         done(sink.make(sizeof(float)), "memory") &&
         done(gpu_fill_normal(flush.as<float>(), flush_count, value_seed),
              "filling memory");
}

gpu_move gpu_run::move(void *dst, const void *src, size_t bytes) const {
  const unsigned multiprocessors = static_cast<unsigned>(results->device.multiprocessors);
  const gpu_move made = {dst, src, bytes, copy_shape, multiprocessors};
  return made;
}

bool gpu_run::done(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return true;
  return refuse(&why, "%s: %s", what, cudaGetErrorString(error));
}

bool gpu_time_once(gpu_run *run, const gpu_contender *self, const char *what,
                   double *ms) {
  return flush_cache(run) && time_now(run, self, what, ms);
}

bool gpu_time_cold(gpu_run *run, gpu_contender *list, unsigned count, const char *what) {
  double samples[GPU_CONTENDERS][GPU_ROUNDS_LIMIT];
  unsigned wanted[GPU_CONTENDERS];
  for (unsigned i = 0; i < count; ++i) {
    if (!choose_rounds(run, &list[i], what, &wanted[i])) return false;
  }
  for (unsigned round = 0; round < run->results->plan.rounds; ++round) {
    for (unsigned i = 0; i < count; ++i) {
      if (round >= wanted[i]) continue;
      if (!gpu_time_once(run, &list[i], what, &samples[i][round])) return false;
    }
  }
  for (unsigned i = 0; i < count; ++i)
    list[i].time = gpu_time_of(samples[i], wanted[i]);
  progress_step(run->bar, count, what);
  return true;
}

namespace {

struct graph {
  cudaStream_t stream;
  cudaGraph_t made;
  cudaGraphExec_t ready;
  graph() : stream(nullptr), made(nullptr), ready(nullptr) {}
  graph(const graph &) = delete;
  graph &operator=(const graph &) = delete;
  ~graph() {
    if (ready) cudaGraphExecDestroy(ready);
    if (made) cudaGraphDestroy(made);
    if (stream) cudaStreamDestroy(stream);
  }
  cudaError_t capture(const gpu_series *series);
};

/* A capture ends even where a launch fails. */
cudaError_t graph::capture(const gpu_series *series) {
  cudaError_t error = cudaStreamCreate(&stream), ended;
  if (error == cudaSuccess)
    error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  if (error != cudaSuccess) return error;
  for (unsigned i = 0; error == cudaSuccess && i < series->launches; ++i)
    error = series->start(series->context, i, stream);
  ended = cudaStreamEndCapture(stream, &made);
  if (error == cudaSuccess) error = ended;
  return error == cudaSuccess ? cudaGraphInstantiate(&ready, made, 0) : error;
}

/* In the default stream, as all that is timed. */
cudaError_t run_graph(void *context) {
  return cudaGraphLaunch(static_cast<cudaGraphExec_t>(context), 0);
}

} // namespace

/* Warm runs follow each other; the first few are not counted. */
bool gpu_time_series(gpu_run *run, const gpu_series *series, const char *what,
                     gpu_time *warm, gpu_time *cold) {
  const unsigned rounds = run->results->plan.rounds, unseen = 2;
  gpu_time *const results[] = {warm, cold};
  double samples[GPU_ROUNDS_LIMIT + unseen];
  graph made;
  if (!run->done(made.capture(series), what)) return false;
  gpu_contender self = {run_graph, made.ready, gpu_time()};
  for (int is_cold = 0; is_cold < 2; ++is_cold) {
    if (!results[is_cold]) continue;
    for (unsigned i = 0; i < rounds + unseen; ++i)
      if (!(is_cold ? gpu_time_once : time_now)(run, &self, what, &samples[i]))
        return false;
    *results[is_cold] = gpu_time_of(samples + unseen, rounds);
    results[is_cold]->ms /= series->launches;
  }
  progress_step(run->bar, 1, what);
  return true;
}

cudaError_t gpu_run_copy(void *context) {
  const gpu_copy *copy = static_cast<const gpu_copy *>(context);
  return cudaMemcpyAsync(copy->dst, copy->src, copy->bytes, cudaMemcpyDeviceToDevice, 0);
}

bool gpu_run::need_arrays() {
  gpu_plan *plan = &results->plan;
  const size_t wanted = plan->size;
  if (arrays.count == 0) {
    for (;; plan->size /= 2) {
      cudaError_t error = arrays.values.make(plan->size);
      if (error == cudaSuccess) error = arrays.codes.make(plan->size);
      if (error == cudaSuccess) error = arrays.result.make(plan->size);
      if (error == cudaSuccess) break;
      cudaGetLastError(); /* out of memory is no lasting error */
      release_arrays();
      if (error != cudaErrorMemoryAllocation || plan->size < 2 * least_array)
        return done(error, "memory for the arrays");
    }
    if (plan->size < wanted)
      gpu_note(results, "arrays of %zu KiB: memory for %zu KiB is not free",
               plan->size >> 10, wanted >> 10);
    arrays.count = plan->size / sizeof(float);
  }
  return done(gpu_fill_normal(arrays.values.as<float>(), arrays.count, value_seed),
              "random values");
}

void gpu_run::release_arrays() {
  arrays.values.release();
  arrays.codes.release();
  arrays.result.release();
  arrays.count = 0;
}

void gpu_run::fail(gpu_state *state, char *text, size_t size) {
  *state = GPU_FAILED;
  gpu_set_text(text, size,
               is_lost       ? "the GPU was lost before"
               : why.text[0] ? why.text
                             : "unknown");
  results->failed = true;
  why = refusal();
  cudaGetLastError(); /* one that does not last */
  is_lost = is_lost || !done(cudaDeviceSynchronize(), "the GPU is lost");
}

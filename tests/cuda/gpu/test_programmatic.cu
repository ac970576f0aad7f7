/* SPDX-License-Identifier: MIT */
/* Launches with MPNUM_PROGRAMMATIC_LAUNCH: a kernel that begins early still finds what
 * the ones before it wrote, and overwrites nothing that they are yet to read. The first
 * of a chain takes long and ends with what the next one, which is short, begins with. */
#include "../../../bench/gpu/programmatic.h"

#include <mpnum/kernels.cuh>

#include "runner.hpp"

#include <initializer_list>
#include <vector>

namespace {

const size_t n = size_t{1} << 25, tail = 1000; /* elements, and of them the last ones */
const float early = 3, late = 5;

template <class T> struct array {
  T *at;
  explicit array(size_t count) : at(nullptr) {
    const cudaError_t error = cudaMalloc(&at, count * sizeof *at);
    CHECK(error == cudaSuccess, "cudaMalloc: %s", cudaGetErrorString(error));
  }
  array(const array &) = delete;
  array &operator=(const array &) = delete;
  ~array() { cudaFree(at); }
};
void must_run(cudaError_t error, const char *what) {
  CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}
std::vector<float> filled(size_t count, float x) { return std::vector<float>(count, x); }
void fill(float *to, size_t count, float x) {
  const std::vector<float> values = filled(count, x);
  must_run(cudaMemcpy(to, values.data(), 4 * count, cudaMemcpyHostToDevice), "filling");
}

/* What a chain works on. */
struct chain {
  array<float> x, y, few, found;
  array<mpnum_bf16> half;
  array<mpnum_launch_scratch> scratch;
  cudaStream_t stream;
  chain() : x(n), y(n), few(tail), found(2), half(n), scratch(1), stream(nullptr) {
    must_run(cudaStreamCreate(&stream), "a stream");
    must_run(mpnum_launch_scratch_init(scratch.at, stream), "the scratch");
    fill(x.at, n, early);
    fill(few.at, tail, late);
  }
  ~chain() { cudaStreamDestroy(stream); }
};

/* Directly, or as a graph that has captured it. */
template <class Launches> void run_chain(chain &on, bool is_graph, Launches launches) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  if (!is_graph) {
    must_run(launches(), "launches");
  } else {
    must_run(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeGlobal), "capture");
    must_run(launches(), "launches in a capture");
    must_run(cudaStreamEndCapture(on.stream, &graph), "capture");
    must_run(cudaGraphInstantiate(&ready, graph, 0), "a graph");
    must_run(cudaGraphLaunch(ready, on.stream), "a graph");
  }
  must_run(cudaStreamSynchronize(on.stream), "a chain");
  if (ready) cudaGraphExecDestroy(ready);
  if (graph) cudaGraphDestroy(graph);
}
int turns() { return gpu::asked.is_tiny ? 2 : 50; }

/* Of each kind: direct, then in a graph. */
template <class Turn> void repeat(Turn turn) {
  for (int i = 0; i < turns() && tap_errors == 0; ++i)
    turn(i % 2 != 0);
}

/* The first error of launches in turn: braces, unlike arguments, are evaluated so. */
cudaError_t in_turn(std::initializer_list<cudaError_t> errors) {
  for (const cudaError_t error : errors)
    if (error != cudaSuccess) return error;
  return cudaSuccess;
}

void a_short_kernel_reads_what_a_long_one_wrote() {
  chain on;
  repeat([&](bool is_graph) {
    float found[2] = {0, 0};
    must_run(cudaMemset(on.half.at, 0, 2 * n), "zeros");
    run_chain(on, is_graph, [&] {
      return in_turn({mpnum_launch_convert(on.half.at, on.x.at, n, on.stream),
                      mpnum_launch_amax(on.found.at, on.half.at + n - tail, tail,
                                        on.stream, on.scratch.at)});
    });
    must_run(cudaMemcpy(found, on.found.at, sizeof found, cudaMemcpyDeviceToHost),
             "amax");
    CHECK(found[0] == early, "graph %d: amax of the end %g", is_graph, found[0]);
  });
}

void a_short_kernel_waits_for_a_long_one_that_reads_what_it_writes() {
  chain on;
  std::vector<mpnum_bf16> made(tail);
  repeat([&](bool is_graph) {
    fill(on.x.at + n - tail, tail, early);
    run_chain(on, is_graph, [&] {
      return in_turn(
          {mpnum_launch_convert(on.half.at, on.x.at, n, on.stream),
           mpnum_launch_convert(reinterpret_cast<mpnum_tf32 *>(on.x.at + n - tail),
                                on.few.at, tail, on.stream)});
    });
    must_run(
        cudaMemcpy(made.data(), on.half.at + n - tail, 2 * tail, cudaMemcpyDeviceToHost),
        "copying back");
    for (const mpnum_bf16 code : made)
      CHECK(mpnum_bf16_to_f32(code) == early, "graph %d: %g", is_graph,
            mpnum_bf16_to_f32(code));
  });
}

/* The second launch of a chain waits for the first, so that the third waits for both. */
void what_is_two_launches_back_is_done_too() {
  chain on;
  std::vector<float> made(tail);
  repeat([&](bool is_graph) {
    must_run(cudaMemset(on.half.at, 0, 2 * n), "zeros");
    run_chain(on, is_graph, [&] {
      return in_turn(
          {mpnum_launch_convert(on.half.at, on.x.at, n, on.stream),
           mpnum_launch_amax(on.found.at, on.few.at, 1, on.stream, on.scratch.at),
           mpnum_launch_convert(on.y.at, on.half.at + n - tail, tail, on.stream)});
    });
    must_run(cudaMemcpy(made.data(), on.y.at, 4 * tail, cudaMemcpyDeviceToHost),
             "copying back");
    for (const float x : made)
      CHECK(x == early, "graph %d: %g", is_graph, static_cast<double>(x));
  });
}

/* Launches that share a scratch come one behind the other, as they do without. */
void launches_share_a_scratch() {
  chain on;
  repeat([&](bool is_graph) {
    float found[2] = {0, 0};
    run_chain(on, is_graph, [&] {
      return in_turn(
          {mpnum_launch_amax(on.found.at, on.x.at, n - tail, on.stream, on.scratch.at),
           mpnum_launch_amax(on.found.at + 1, on.few.at, tail, on.stream,
                             on.scratch.at)});
    });
    must_run(cudaMemcpy(found, on.found.at, sizeof found, cudaMemcpyDeviceToHost),
             "amax");
    CHECK(found[0] == early && found[1] == late, "graph %d: amax %g and %g", is_graph,
          found[0], found[1]);
  });
}

/* A matrix whose scales are zeroed by the runtime between kernels. */
void what_is_zeroed_between_kernels_is_zeroed_in_turn() {
  const size_t rows = 8192, columns = 4096;
  chain on;
  array<float> scale(1);
  repeat([&](bool is_graph) {
    float made = 0;
    fill(on.x.at, 1, is_graph ? 2 * late : late);
    run_chain(on, is_graph, [&] {
      return in_turn(
          {mpnum_launch_convert(on.half.at, on.x.at, n, on.stream),
           mpnum_launch_nvfp4_scale(scale.at, mpnum::matrix_of(on.half.at, rows, columns),
                                    on.stream)});
    });
    must_run(cudaMemcpy(&made, scale.at, sizeof made, cudaMemcpyDeviceToHost), "S");
    const float wanted = 2688.0f / (is_graph ? 2 * late : late);
    CHECK(made == wanted, "graph %d: S %g, wanted %g", is_graph, made, wanted);
  });
}

} // namespace

int main(int count, char **arguments) {
  int status;
  if (!MPNUM_PROGRAMMATIC_LAUNCH) {
    std::printf("1..0 # SKIP compiled for targets older than 9.0\n");
    return 77;
  }
  if (!gpu::begin(count, arguments, &status)) return status;
  gpu::run("a_short_kernel_reads_what_a_long_one_wrote",
           a_short_kernel_reads_what_a_long_one_wrote);
  gpu::run("a_short_kernel_waits_for_a_long_one_that_reads_what_it_writes",
           a_short_kernel_waits_for_a_long_one_that_reads_what_it_writes);
  gpu::run("what_is_two_launches_back_is_done_too",
           what_is_two_launches_back_is_done_too);
  gpu::run("launches_share_a_scratch", launches_share_a_scratch);
  gpu::run("what_is_zeroed_between_kernels_is_zeroed_in_turn",
           what_is_zeroed_between_kernels_is_zeroed_in_turn);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* What the measuring files share: memory that frees itself, errors as one line, and cold
 * timing. Everything runs in the default stream. */
#ifndef MPNUM_BENCH_GPU_MEASURE_CUH
#define MPNUM_BENCH_GPU_MEASURE_CUH

#include <mpnum/kernels.cuh>

#include "gpu.h"

/* Device memory. */
struct gpu_buffer {
  void *at;
  gpu_buffer() : at(nullptr) {}
  gpu_buffer(const gpu_buffer &) = delete;
  gpu_buffer &operator=(const gpu_buffer &) = delete;
  ~gpu_buffer() { release(); }
  cudaError_t make(size_t bytes) {
    release();
    return cudaMalloc(&at, bytes);
  }
  void release() {
    if (at) cudaFree(at);
    at = nullptr;
  }
  template <class T> T *as() const { return static_cast<T *>(at); }
};

/* Memory of the host, of `count` elements; at is NULL when there was none left. */
template <class T> struct gpu_host_array {
  T *at;
  explicit gpu_host_array(size_t count)
      : at(static_cast<T *>(calloc(count ? count : 1, sizeof(T)))) {}
  gpu_host_array(const gpu_host_array &) = delete;
  gpu_host_array &operator=(const gpu_host_array &) = delete;
  ~gpu_host_array() { free(at); }
};

/* A copy or a read by a kernel of limits.cu. Their bytes are whole tiles of 32 KiB. */
struct gpu_move {
  void *dst;
  const void *src;
  size_t bytes;
  unsigned shape, multiprocessors;
};
cudaError_t gpu_run_move(void *context);
cudaError_t gpu_run_read(void *context);

/* Arrays of the timings: values, normal; codes and result, each as large. */
struct gpu_arrays {
  gpu_buffer values, codes, result;
  size_t count;
  gpu_arrays() : count(0) {}
};

struct gpu_run {
  gpu_results *results;
  progress *bar;
  cudaEvent_t begin, end;
  gpu_buffer flush, sink;          /* sink: a float */
  gpu_arrays arrays;               /* of the rows that need them */
  size_t flush_count;              /* floats */
  unsigned copy_shape, read_shape; /* the best ones */
  refusal why;                     /* of the latest failure */
  bool is_lost;                    /* nothing can be run any more */

  gpu_run(gpu_results *into, progress *shown)
      : results(into), bar(shown), begin(nullptr), end(nullptr), flush_count(0),
        copy_shape(0), read_shape(0), why(), is_lost(false) {}
  gpu_run(const gpu_run &) = delete;
  gpu_run &operator=(const gpu_run &) = delete;
  ~gpu_run();
  bool open();
  gpu_move move(void *dst, const void *src, size_t bytes) const;

  /* Whether a call went well; if not, why says what it was to do. */
  bool done(cudaError_t error, const char *what);
  /* Makes the arrays, as large as the plan says, or, with a note, the largest half,
   * quarter, ... of it that the free memory holds. */
  bool need_arrays();
  void release_arrays();
  /* After a failure, which becomes the state of a row: whether the GPU still works. */
  void fail(gpu_state *state, char *text, size_t size);
};

/* Measures a row: where that fails the row says so, and the next one can be measured. */
template <class Row, class Measure>
void gpu_row_alone(gpu_run *run, Row *row, Measure measure) {
  if (run->is_lost)
    run->fail(&row->state, row->why, sizeof row->why);
  else if (!measure())
    run->fail(&row->state, row->why, sizeof row->why);
  else if (row->state == GPU_NOT_RUN && !row->why[0])
    row->state = GPU_MEASURED;
}

/* A contender of a timing. run starts work in the default stream and waits for nothing.
 */
struct gpu_contender {
  cudaError_t (*run)(void *context);
  void *context;
  gpu_time time; /* result */
};

/* One cold run of a contender. `what` is told when it fails. */
bool gpu_time_once(gpu_run *run, const gpu_contender *self, const char *what, double *ms);

enum { GPU_CONTENDERS = 5 };

/* Up to GPU_CONTENDERS take turns in each round, each with a cold L2. Work that takes
 * long gets fewer rounds, at least three. */
bool gpu_time_cold(gpu_run *run, gpu_contender *list, unsigned count, const char *what);

/* Clocks while copies run. */
bool gpu_read_clocks(gpu_run *run, gpu_clocks *clocks);

/* A graph of launches, each of which start gets the number of. */
struct gpu_series {
  cudaError_t (*start)(void *context, unsigned number, cudaStream_t stream);
  void *context;
  unsigned launches;
};

/* Of one launch in a graph of them: data in the cache as the last graph left them, or
 * after a flush. cold may be NULL. */
bool gpu_time_series(gpu_run *run, const gpu_series *series, const char *what,
                     gpu_time *warm, gpu_time *cold);

/* The GPU of the plan, and whether it runs this code; results->absent says why not. */
bool gpu_find(gpu_results *results);

/* Warms up, and chooses shapes. False with the reason in run->why. */
bool gpu_measure_limits(gpu_run *run);
/* Rows, which fail alone: what failed has a state that says so. */
void gpu_measure_conversion(gpu_run *run, unsigned index);
void gpu_measure_reduction(gpu_run *run, unsigned index);
/* One product, or all, with what the library is and steps. */
void gpu_measure_product(gpu_run *run, unsigned index);
void gpu_measure_products(gpu_run *run);

/* cudaMemcpy of bytes, as a contender. */
struct gpu_copy {
  void *dst;
  const void *src;
  size_t bytes;
};
cudaError_t gpu_run_copy(void *context);

#endif

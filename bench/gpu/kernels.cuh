/* SPDX-License-Identifier: MIT */
/* Rows of launchers: tables of what is launched, how much that moves and what the host
 * gives, in files by topic; kernels.cu times and checks them all. */
#ifndef MPNUM_BENCH_GPU_KERNELS_CUH
#define MPNUM_BENCH_GPU_KERNELS_CUH

#include "kernels.h"
#include "measure.cuh"
#include "gpu.h"

/* What an array is: GPU_ARRAY one row, GPU_MATRIX rows of 4096, GPU_ROWS of row.columns,
 * which are in the name. */
enum gpu_layout { GPU_ARRAY, GPU_MATRIX, GPU_ROWS };

struct gpu_kernel_row {
  const char *name; /* without mpnum_launch_, with types */
  mpnum_type type;  /* of x and y: normal values */
  gpu_layout layout;
  size_t columns;
  gpu_bound bound;
  double bytes; /* moved for an element of x */
  cudaError_t (*start)(const gpu_case *c, cudaStream_t stream);
  gpu_expect *expect;
  /* What makes x of what it was, in out: codes of values. NULL: x are values. */
  cudaError_t (*make)(const gpu_case *c, cudaStream_t stream) = nullptr;
  /* What launches find in the workspace, at most GPU_WORKSPACE bytes. NULL: nothing. */
  cudaError_t (*prepare)(gpu_case *c) = nullptr;
};

enum { GPU_WORKSPACE = 4096 };
/* Where part i of GPU_PARTS begins in n elements, or the last one ends. */
static inline __host__ __device__ uint64_t gpu_part_begin(uint64_t n, unsigned i) {
  return n * i / GPU_PARTS * i / GPU_PARTS;
}

struct gpu_kernel_table {
  const gpu_kernel_row *rows;
  unsigned count;
};
gpu_kernel_table gpu_softmax_kernels();
gpu_kernel_table gpu_norm_kernels();
gpu_kernel_table gpu_scaled_kernels();
gpu_kernel_table gpu_block_kernels();
gpu_kernel_table gpu_fused_kernels();
gpu_kernel_table gpu_activation_kernels();

/* Gradients and scalers, which are lists and structs. A row by its number, from 0; false
 * past the last. */
bool gpu_grad_name(unsigned index, char *name, size_t size);
bool gpu_measure_grad_kernel(gpu_run *run, unsigned index, gpu_kernel *made);
unsigned gpu_grad_rows();
/* The same of steps of an optimizer. */
bool gpu_optimizer_name(unsigned index, char *name, size_t size);
bool gpu_measure_optimizer(gpu_run *run, unsigned index, gpu_kernel *made);
/* And of chains of launches. */
bool gpu_chain_name(unsigned index, char *name, size_t size);
bool gpu_measure_chain(gpu_run *run, unsigned index, gpu_kernel *made);
unsigned gpu_chain_rows();
/* Every row of launchers, by number. */
bool gpu_kernel_name(unsigned index, char *name, size_t size);
gpu_kernel *gpu_measure_kernel(gpu_run *run, unsigned index);

/* Makes a buffer of what an array holds. */
template <class T>
bool gpu_put(gpu_run *run, gpu_buffer *to, const T *from, size_t count) {
  const size_t bytes = count * sizeof *from;
  return run->done(to->make(bytes), "memory") &&
         run->done(cudaMemcpy(to->at, from, bytes, cudaMemcpyHostToDevice), "copying");
}

/* The next row of the results. */
gpu_kernel *gpu_kernel_add(gpu_run *run, const char *name, gpu_bound bound);
/* Times what moves so many bytes, beside copies or reads of the arrays. */
bool gpu_time_kernel(gpu_run *run, const gpu_arrays *arrays, gpu_contender self,
                     double bytes, gpu_kernel *row);
/* Counts bytes that differ, in words of 4. */
void gpu_compare(gpu_match *match, const void *ours, const void *theirs, size_t bytes);

template <class T> const T *gpu_x(const gpu_case *c) {
  return static_cast<const T *>(c->x);
}
template <class T> const T *gpu_y(const gpu_case *c) {
  return static_cast<const T *>(c->y);
}
template <class T> T *gpu_out(const gpu_case *c) { return static_cast<T *>(c->out); }
template <class T> mpnum::matrix<const T> gpu_x_rows(const gpu_case *c) {
  return mpnum::matrix_of(gpu_x<T>(c), c->rows, c->columns);
}
template <class T> mpnum::matrix<const T> gpu_y_rows(const gpu_case *c) {
  return mpnum::matrix_of(gpu_y<T>(c), c->rows, c->columns);
}
template <class T> mpnum::matrix<T> gpu_out_rows(const gpu_case *c) {
  return mpnum::matrix_of(gpu_out<T>(c), c->rows, c->columns);
}
static inline size_t gpu_count(const gpu_case *c) { return c->rows * c->columns; }

#endif

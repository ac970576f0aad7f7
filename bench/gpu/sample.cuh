/* SPDX-License-Identifier: MIT */
/* Part of a product in double on the CPU: some rows of a by some rows of b. */
#ifndef MPNUM_BENCH_GPU_SAMPLE_CUH
#define MPNUM_BENCH_GPU_SAMPLE_CUH

#include "operand.cuh"

enum { GPU_SAMPLE_ROWS = 16, GPU_SAMPLE_COLUMNS = 64 };

struct gpu_sample {
  uint64_t m, n, k;
  gpu_host_array<float> a, b;     /* sampled rows of k values */
  gpu_host_array<double> product; /* of a and b, rows first */
  gpu_host_array<float> result;   /* the GPU's, likewise */
  gpu_sample(uint64_t rows, uint64_t columns, uint64_t depth)
      : m(rows), n(columns), k(depth), a(GPU_SAMPLE_ROWS * depth),
        b(GPU_SAMPLE_COLUMNS * depth), product(GPU_SAMPLE_ROWS * GPU_SAMPLE_COLUMNS),
        result(GPU_SAMPLE_ROWS * GPU_SAMPLE_COLUMNS) {}
  bool complete() const { return a.at && b.at && product.at && result.at; }
};

/* Reads the operands as formats have them and multiplies. */
bool gpu_sample_take(gpu_run *run, gpu_sample *sample, const gpu_operand *a,
                     const gpu_operand_format *a_format, const gpu_operand *b,
                     const gpu_operand_format *b_format);

/* Reads the same entries of d, columns of m floats. */
bool gpu_sample_result(gpu_run *run, gpu_sample *sample, const float *d);

/* Relative Frobenius norm of result - exact, NaN if a result is not finite. */
double gpu_sample_error(const gpu_sample *sample, const double *exact);

#endif

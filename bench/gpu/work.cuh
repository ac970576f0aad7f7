/* SPDX-License-Identifier: MIT */
/* One matrix product: its operands in a format, the algorithm, the error of a sample. */
#ifndef MPNUM_BENCH_GPU_WORK_CUH
#define MPNUM_BENCH_GPU_WORK_CUH

#include "blas.h"
#include "operand.cuh"

/* A format of products. dy is NULL where there is no training step of its own: what x and
 * w are in the product, dy is in those of gradients. */
struct gpu_format_row {
  const char *name;
  double bits;
  int capability; /* ten times the compute capability that has it */
  blas_kind kind, gradient;
  const gpu_operand_format *x, *w, *dy;
  blas_result result; /* of steps */
  bool varies;        /* its variants are not those of another row */
  bool is_fp8() const { return kind == BLAS_E4M3 || kind == BLAS_E5M2_E4M3; }
  bool is_had_by(const gpu_device &gpu) const {
    return 10 * gpu.major + gpu.minor >= capability;
  }
};
extern const gpu_format_row gpu_format_rows[GPU_PRODUCTS];

/* What products are measured with. x: m rows of k values, w: n of k, dy: m of n. */
struct gpu_workbench {
  gpu_run *run;
  blas *library;
  gpu_operand x, w, dy;
  gpu_buffer d, workspace;

  /* Room for x and w, and for so many results. */
  cudaError_t make(uint64_t m, uint64_t n, uint64_t k, uint64_t results);
  /* Whether making it was no error. False, with a note, where memory is short, and after
   * an error that ends the run: *good tells. */
  bool has_room(cudaError_t error, const char *of, bool *good) const;
};

/* The operands as a format has them; with their transposes dy, too. */
struct gpu_operands {
  gpu_workbench *bench;
  const gpu_format_row *how;
  bool turned_too;

  /* Takes sizes that are new, and converts once. */
  bool lay_out(uint64_t m, uint64_t n, uint64_t k) const;
  cudaError_t convert() const;
  double bytes() const; /* that converting moves */
};

/* Kind, result and sizes of one that is neither fast nor a batch. */
blas_problem gpu_problem(blas_kind kind, blas_result result, uint64_t m, uint64_t n,
                         uint64_t k);

struct gpu_work {
  gpu_workbench *bench;
  gpu_factor a, b;
  blas_problem problem;
  blas_plan *plan;
  unsigned algorithm;
  refusal why; /* of cuBLASLt */
  gpu_part result;

  gpu_work()
      : bench(nullptr), a(), b(), problem(), plan(nullptr), algorithm(0), why(),
        result() {}
  gpu_work(const gpu_work &) = delete;
  gpu_work &operator=(const gpu_work &) = delete;
  ~gpu_work() { blas_plan_free(plan); }

  /* Makes the plan of a problem that lacks memory yet. These two: false with the result,
   * which is none. */
  bool begin(gpu_workbench *with, const gpu_factor &left, const gpu_factor &right,
             const blas_problem &asked);
  /* Takes the fastest algorithm. */
  bool choose();
  /* The result where the runtime or cuBLASLt refused: the run goes on. */
  void fail();
  /* The error of d against the f32 operands, and whether d, the last one of its batch, is
   * a product at all. False after an error that ends the run. */
  bool check();
};
cudaError_t gpu_run_work(void *context);

extern const char *const gpu_of_products; /* what is being measured */

#endif

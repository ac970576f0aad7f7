/* SPDX-License-Identifier: MIT */
/* Matrix products through cuBLASLt, which is looked for when the program runs. Only its
 * header is needed to build; without that, blas_open says so. */
#ifndef MPNUM_BENCH_GPU_BLAS_H
#define MPNUM_BENCH_GPU_BLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/message.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum blas_kind {
  BLAS_F32,
  BLAS_TF32, /* f32 in memory */
  BLAS_F16,
  BLAS_BF16,
  BLAS_E4M3,      /* from here on with scales */
  BLAS_E5M2_E4M3, /* a is e5m2, b is e4m3: cuBLASLt does not multiply e5m2 by e5m2 */
  BLAS_MXFP8,     /* from here on with block scales: e4m3, an e8m0 for each 32 along k */
  BLAS_NVFP4      /* e2m1, two in a byte, an e4m3 for each 16 */
} blas_kind;

typedef enum blas_result { BLAS_TO_F32, BLAS_TO_F16, BLAS_TO_BF16 } blas_result;

/* d = a * b^T, accumulated in f32. a is m rows of k values, b is n rows of k values, d is
 * n columns of m values: the one layout that fp8 has on every GPU. An operand that is
 * turned is k rows of m or n values instead. Device memory. */
typedef struct blas_problem {
  blas_kind kind;
  blas_result result;
  bool is_fast; /* sums of fp8 with fewer bits */
  bool a_is_turned, b_is_turned;
  unsigned batch; /* so many of a, b and d, one behind the other */
  uint64_t m, n, k;
  const void *a, *b;
  void *d;
  /* A value is its code times this: a float with fp8, with block scales an array in the
   * layout of cuBLASLt. Other kinds have none. */
  const void *a_scale, *b_scale;
  void *workspace;
  size_t workspace_size;
} blas_problem;

typedef struct blas blas;
typedef struct blas_plan blas_plan;

/* NULL with the reason. blas_close(NULL) does nothing. */
blas *blas_open(refusal *why);
void blas_close(blas *library);
const char *blas_version(const blas *library); /* "cuBLASLt 13.1.0" */

/* The algorithms that cuBLASLt proposes, best first by its own estimate. NULL with the
 * reason: *supported is false where cuBLASLt has none, true after an error. */
blas_plan *blas_plan_make(blas *library, const blas_problem *problem, bool *supported,
                          refusal *why);
void blas_plan_free(blas_plan *plan);
unsigned blas_plan_count(const blas_plan *plan);

/* Starts algorithm number `index` in the default stream. False with the reason. */
bool blas_run(const blas_plan *plan, unsigned index, refusal *why);

#ifdef __cplusplus
}
#endif

#endif

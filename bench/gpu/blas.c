/* SPDX-License-Identifier: MIT */
#include "blas.h"

#if BENCH_HAVE_CUBLASLT

# include <dlfcn.h>
# include <stdio.h>
# include <stdlib.h>
# include <string.h>

# include <cublasLt.h>

/* The first cuBLASLt with block scales, that of CUDA 12.8. */
# define BLOCKS_VERSION    120800
# define HEADER_HAS_BLOCKS (CUBLAS_VERSION >= BLOCKS_VERSION)

enum { ALGORITHMS = 8 };

/* The functions that are called, under their own names. */
# define FUNCTIONS(DO)                     \
  DO(cublasLtCreate)                       \
  DO(cublasLtDestroy)                      \
  DO(cublasLtGetVersion)                   \
  DO(cublasLtGetStatusString)              \
  DO(cublasLtMatmulDescCreate)             \
  DO(cublasLtMatmulDescDestroy)            \
  DO(cublasLtMatmulDescSetAttribute)       \
  DO(cublasLtMatrixLayoutCreate)           \
  DO(cublasLtMatrixLayoutDestroy)          \
  DO(cublasLtMatrixLayoutSetAttribute)     \
  DO(cublasLtMatmulPreferenceCreate)       \
  DO(cublasLtMatmulPreferenceDestroy)      \
  DO(cublasLtMatmulPreferenceSetAttribute) \
  DO(cublasLtMatmulAlgoGetHeuristic)       \
  DO(cublasLtMatmul)

# define MEMBER(name) __typeof__(&name) name;
struct blas {
  void *file;
  cublasLtHandle_t handle;
  char version[48];
  FUNCTIONS(MEMBER)
};
# undef MEMBER

struct blas_plan {
  blas *library;
  blas_problem problem;
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t a, b, d;
  cublasLtMatmulHeuristicResult_t found[ALGORITHMS];
  int count;
};

static void *open_file(void) {
  char own_major[32];
  static const char in_toolkit[] = BENCH_CUDA_ROOT "/lib64/libcublasLt.so";
  const char *const names[] = {own_major, "libcublasLt.so.13", "libcublasLt.so.12",
                               "libcublasLt.so", in_toolkit};
  void *file = NULL;
  snprintf(own_major, sizeof own_major, "libcublasLt.so.%d", CUBLAS_VER_MAJOR);
  for (size_t i = 0; i < sizeof names / sizeof *names && !file; ++i)
    file = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  return file;
}

/* ISO C has no cast from an object to a function. */
static bool find(void *file, const char *name, void *function, refusal *why) {
  void *found = dlsym(file, name);
  memcpy(function, &found, sizeof found);
  return found || refuse(why, "cuBLASLt has no function %s", name);
}

blas *blas_open(refusal *why) {
  blas *made = calloc(1, sizeof *made);
  cublasStatus_t status;
  if (!made) {
    refuse(why, "out of memory");
    return NULL;
  }
  made->file = open_file();
  bool good = made->file || refuse(why, "libcublasLt.so was not found");
# define FIND(name) good = good && find(made->file, # name, &made->name, why);
  FUNCTIONS(FIND)
# undef FIND
  if (good) {
    size_t version = made->cublasLtGetVersion();
    snprintf(made->version, sizeof made->version, "cuBLASLt %zu.%zu.%zu", version / 10000,
             version / 100 % 100, version % 100);
    status = made->cublasLtCreate(&made->handle);
    good = status == CUBLAS_STATUS_SUCCESS ||
           refuse(why, "cuBLASLt: %s", made->cublasLtGetStatusString(status));
  }
  if (good) return made;
  blas_close(made);
  return NULL;
}

void blas_close(blas *library) {
  if (!library) return;
  if (library->handle) library->cublasLtDestroy(library->handle);
  free(library); /* the file stays loaded: CUDA's libraries are not made for unloading */
}

const char *blas_version(const blas *library) { return library->version; }

/* Whether block scales are known to the header and to the library. */
static bool has_blocks(const blas *library, refusal *why) {
  if (!HEADER_HAS_BLOCKS)
    return refuse(why, "built with a cublasLt.h before 12.8, which has no block scales");
  return library->cublasLtGetVersion() >= BLOCKS_VERSION ||
         refuse(why, "%s has no block scales, which came with 12.8", library->version);
}

static cudaDataType_t type_of(blas_kind kind, bool is_a) {
  switch (kind) {
  case BLAS_F16: return CUDA_R_16F;
  case BLAS_BF16: return CUDA_R_16BF;
  case BLAS_E4M3: return CUDA_R_8F_E4M3;
  case BLAS_E5M2_E4M3: return is_a ? CUDA_R_8F_E5M2 : CUDA_R_8F_E4M3;
  case BLAS_MXFP8: return CUDA_R_8F_E4M3;
# if HEADER_HAS_BLOCKS
  case BLAS_NVFP4: return CUDA_R_4F_E2M1;
# else
  case BLAS_NVFP4:
# endif
  case BLAS_F32:
  case BLAS_TF32: break;
  }
  return CUDA_R_32F;
}

static cudaDataType_t result_type(blas_result result) {
  return result == BLAS_TO_F32   ? CUDA_R_32F
         : result == BLAS_TO_F16 ? CUDA_R_16F
                                 : CUDA_R_16BF;
}

/* cuBLASLt's matrices are columns first: rows of k values are columns, to be transposed
 * on the left. */
static cublasStatus_t describe_operation(blas_plan *plan) {
  const blas *library = plan->library;
  const blas_problem *at = &plan->problem;
  const cublasOperation_t left = at->a_is_turned ? CUBLAS_OP_N : CUBLAS_OP_T;
  const cublasOperation_t right = at->b_is_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int8_t is_fast = at->is_fast;
  const cublasComputeType_t compute =
      at->kind == BLAS_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  cublasStatus_t status =
      library->cublasLtMatmulDescCreate(&plan->operation, compute, CUDA_R_32F);
# define SET(attribute, value)                                                         \
  if (status == CUBLAS_STATUS_SUCCESS)                                                 \
  status = library->cublasLtMatmulDescSetAttribute(plan->operation, attribute, &value, \
                                                   sizeof value)
  SET(CUBLASLT_MATMUL_DESC_TRANSA, left);
  SET(CUBLASLT_MATMUL_DESC_TRANSB, right);
  if (at->is_fast) SET(CUBLASLT_MATMUL_DESC_FAST_ACCUM, is_fast);
  if (at->kind >= BLAS_E4M3) {
    SET(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, at->a_scale);
    SET(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, at->b_scale);
  }
# if HEADER_HAS_BLOCKS
  if (at->kind >= BLAS_MXFP8) {
    const int32_t mode = at->kind == BLAS_MXFP8
                             ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0
                             : CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
    SET(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
    SET(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
  }
# endif
# undef SET
  return status;
}

/* Columns of `rows` values without gaps. */
static cublasStatus_t lay_out(const blas_plan *plan, cublasLtMatrixLayout_t *dst,
                              cudaDataType_t type, uint64_t rows, uint64_t columns) {
  const blas *library = plan->library;
  const int32_t count = (int32_t)plan->problem.batch;
  const int64_t step = (int64_t)(rows * columns);
  cublasStatus_t status =
      library->cublasLtMatrixLayoutCreate(dst, type, rows, columns, (int64_t)rows);
  if (status != CUBLAS_STATUS_SUCCESS || count == 1) return status;
  status = library->cublasLtMatrixLayoutSetAttribute(
      *dst, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return library->cublasLtMatrixLayoutSetAttribute(
      *dst, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step);
}

static cublasStatus_t describe(blas_plan *plan) {
  const blas_problem *at = &plan->problem;
  cublasStatus_t status = describe_operation(plan);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lay_out(plan, &plan->a, type_of(at->kind, true),
                     at->a_is_turned ? at->m : at->k, at->a_is_turned ? at->k : at->m);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lay_out(plan, &plan->b, type_of(at->kind, false),
                     at->b_is_turned ? at->n : at->k, at->b_is_turned ? at->k : at->n);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lay_out(plan, &plan->d, result_type(at->result), at->m, at->n);
  return status;
}

static cublasStatus_t propose(blas_plan *plan) {
  const blas *library = plan->library;
  cublasLtMatmulPreference_t preference = NULL;
  int i, good;
  cublasStatus_t status = library->cublasLtMatmulPreferenceCreate(&preference);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = library->cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &plan->problem.workspace_size,
      sizeof plan->problem.workspace_size);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = library->cublasLtMatmulAlgoGetHeuristic(
        library->handle, plan->operation, plan->a, plan->b, plan->d, plan->d, preference,
        ALGORITHMS, plan->found, &plan->count);
  library->cublasLtMatmulPreferenceDestroy(preference);
  for (i = 0, good = 0; i < plan->count; ++i) { /* each has a status of its own */
    if (plan->found[i].state == CUBLAS_STATUS_SUCCESS)
      plan->found[good++] = plan->found[i];
  }
  plan->count = good;
  return status;
}

blas_plan *blas_plan_make(blas *library, const blas_problem *problem, bool *supported,
                          refusal *why) {
  blas_plan *made;
  cublasStatus_t status;
  *supported = problem->kind < BLAS_MXFP8 || has_blocks(library, why);
  if (!*supported) return NULL;
  made = calloc(1, sizeof *made);
  if (!made) {
    refuse(why, "out of memory");
    return NULL;
  }
  made->library = library;
  made->problem = *problem;
  status = describe(made);
  if (status == CUBLAS_STATUS_SUCCESS) status = propose(made);
  if (status == CUBLAS_STATUS_SUCCESS && made->count > 0) return made;
  *supported = status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED &&
               status != CUBLAS_STATUS_INVALID_VALUE &&
               status != CUBLAS_STATUS_ARCH_MISMATCH;
  refuse(why, *supported ? "cuBLASLt: %s" : "cuBLASLt has none for these sizes (%s)",
         library->cublasLtGetStatusString(status));
  blas_plan_free(made);
  return NULL;
}

void blas_plan_free(blas_plan *plan) {
  if (!plan) return;
  if (plan->operation) plan->library->cublasLtMatmulDescDestroy(plan->operation);
  if (plan->a) plan->library->cublasLtMatrixLayoutDestroy(plan->a);
  if (plan->b) plan->library->cublasLtMatrixLayoutDestroy(plan->b);
  if (plan->d) plan->library->cublasLtMatrixLayoutDestroy(plan->d);
  free(plan);
}

unsigned blas_plan_count(const blas_plan *plan) { return (unsigned)plan->count; }

bool blas_run(const blas_plan *plan, unsigned index, refusal *why) {
  const float one = 1, zero = 0;
  const blas_problem *at = &plan->problem;
  const cublasLtMatmulHeuristicResult_t *chosen = &plan->found[index];
  cublasStatus_t status = plan->library->cublasLtMatmul(
      plan->library->handle, plan->operation, &one, at->a, plan->a, at->b, plan->b, &zero,
      at->d, plan->d, at->d, plan->d, &chosen->algo, at->workspace, at->workspace_size,
      NULL);
  return status == CUBLAS_STATUS_SUCCESS ||
         refuse(why, "cuBLASLt: %s", plan->library->cublasLtGetStatusString(status));
}

#else

blas *blas_open(refusal *why) {
  refuse(why, "cublasLt.h was not found when this program was built");
  return NULL;
}
void blas_close(blas *library) { (void)library; }
const char *blas_version(const blas *library) { return library ? "" : "none"; }
blas_plan *blas_plan_make(blas *library, const blas_problem *problem, bool *supported,
                          refusal *why) {
  (void)library;
  (void)problem;
  *supported = false;
  refuse(why, "built without cuBLASLt");
  return NULL;
}
void blas_plan_free(blas_plan *plan) { (void)plan; }
unsigned blas_plan_count(const blas_plan *plan) { return plan != NULL; }
bool blas_run(const blas_plan *plan, unsigned index, refusal *why) {
  return refuse(why, "no algorithm %u of %p", index, (const void *)plan);
}

#endif

/* SPDX-License-Identifier: MIT */
/* A small libcublasLt for tests: the functions that the benchmark calls, on host memory,
 * in double. It takes what the real one takes of them, and nothing else. */
#include <stdlib.h>
#include <string.h>

#include <cublasLt.h>

#include <mpnum/mpnum.h>

struct operation {
  cublasComputeType_t compute;
  cublasOperation_t transposed;
  const float *a_scale, *b_scale;
};
struct layout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t leading;
};

/* Objects that are alive; and how to misbehave: "wrong" doubles products, "refuse" has no
 * algorithm that runs. */
int fake_cublaslt_objects;
const char *fake_cublaslt_fault = "";

size_t cublasLtGetVersion(void) { return 139902; }
const char *cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "another status";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = malloc(1);
  ++fake_cublaslt_objects;
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t destroy(void *object) {
  free(object);
  --fake_cublaslt_objects;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *dst,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  struct operation *made = calloc(1, sizeof *made);
  if (scale != CUDA_R_32F) abort();
  made->compute = compute;
  *dst = (cublasLtMatmulDesc_t)(void *)made;
  ++fake_cublaslt_objects;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t at) { return destroy(at); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t at,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t size) {
  struct operation *operation = (void *)at;
  void *dst =
      attribute == CUBLASLT_MATMUL_DESC_TRANSA            ? (void *)&operation->transposed
      : attribute == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER ? (void *)&operation->a_scale
      : attribute == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER ? (void *)&operation->b_scale
                                                          : NULL;
  if (!dst || size != (attribute == CUBLASLT_MATMUL_DESC_TRANSA ? 4 : sizeof(void *)))
    return CUBLAS_STATUS_INVALID_VALUE;
  memcpy(dst, value, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *dst,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  struct layout *made = calloc(1, sizeof *made);
  made->type = type;
  made->rows = rows;
  made->columns = columns;
  made->leading = leading;
  *dst = (cublasLtMatrixLayout_t)(void *)made;
  ++fake_cublaslt_objects;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t at) {
  return destroy(at);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *dst) {
  *dst = malloc(1);
  ++fake_cublaslt_objects;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t at) {
  return destroy(at);
}
cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t at,
                                     cublasLtMatmulPreferenceAttributes_t attribute,
                                     const void *value, size_t size) {
  (void)at;
  (void)value;
  return attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && size == sizeof(size_t)
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_INVALID_VALUE;
}

static int is_fp8(cudaDataType_t type) {
  return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

/* The pairs of types of the manual's table, fp8 in multiples of 16. */
static int takes(const struct layout *a, const struct layout *b) {
  if (!is_fp8(a->type)) return a->type == b->type;
  return (a->type == CUDA_R_8F_E4M3 || b->type == CUDA_R_8F_E4M3) && is_fp8(b->type) &&
         a->rows % 16 == 0 && a->columns % 16 == 0 && b->columns % 16 == 0;
}

/* Two algorithms; the first cannot be run. */
cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                               cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                               cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                               cublasLtMatmulPreference_t preference, int wanted,
                               cublasLtMatmulHeuristicResult_t *found, int *count) {
  int i;
  (void)handle;
  (void)operation;
  (void)c;
  (void)d;
  (void)preference;
  *count = 0;
  if (!takes((void *)a, (void *)b) || wanted < 3) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (i = 0; i < 3; ++i) {
    memset(&found[i], 0, sizeof found[i]);
    found[i].state = i == 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
    found[i].algo.data[0] = (uint64_t)i;
  }
  *count = 3;
  return CUBLAS_STATUS_SUCCESS;
}

static double value_at(const struct layout *layout, const void *matrix, uint64_t row,
                       uint64_t column) {
  const uint64_t i = column * (uint64_t)layout->leading + row;
  const uint8_t *bytes = matrix;
  const uint16_t *halves = matrix;
  switch ((int)layout->type) {
  case CUDA_R_8F_E4M3: return mpnum_e4m3_to_f64(mpnum_from_bits_e4m3(bytes[i]));
  case CUDA_R_8F_E5M2: return mpnum_e5m2_to_f64(mpnum_from_bits_e5m2(bytes[i]));
  case CUDA_R_16F: return mpnum_f16_to_f64(mpnum_from_bits_f16(halves[i]));
  case CUDA_R_16BF: return mpnum_bf16_to_f64(mpnum_from_bits_bf16(halves[i]));
  case CUDA_R_32F: return (double)((const float *)matrix)[i];
  default: abort();
  }
}

/* tf32 is f32 that loses its low bits on the way in. */
static double taken(const struct operation *operation, double value) {
  if (operation->compute != CUBLAS_COMPUTE_32F_FAST_TF32) return value;
  return mpnum_tf32_to_f64(mpnum_f64_to_tf32(value));
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_size, cudaStream_t stream) {
  const struct operation *how = (const void *)operation;
  const struct layout *at = (const void *)a_layout, *bt = (const void *)b_layout;
  const struct layout *dt = (const void *)d_layout;
  const double scale = (how->a_scale ? (double)*how->a_scale : 1) *
                       (how->b_scale ? (double)*how->b_scale : 1) *
                       (strcmp(fake_cublaslt_fault, "wrong") == 0 ? 2 : 1);
  uint64_t row, column, i;
  if (!handle || !workspace || !workspace_size || stream || c != d ||
      c_layout != d_layout || *(const float *)alpha != 1 || *(const float *)beta != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm->data[0] == 1 || strcmp(fake_cublaslt_fault, "refuse") == 0)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (how->transposed != CUBLAS_OP_T || dt->type != CUDA_R_32F || at->rows != bt->rows ||
      dt->rows != at->columns || dt->columns != bt->columns)
    return CUBLAS_STATUS_INVALID_VALUE;
  for (column = 0; column < dt->columns; ++column) {
    for (row = 0; row < dt->rows; ++row) {
      double sum = 0;
      for (i = 0; i < at->rows; ++i)
        sum +=
            taken(how, value_at(at, a, i, row)) * taken(how, value_at(bt, b, i, column));
      ((float *)d)[column * (uint64_t)dt->leading + row] = (float)(scale * sum);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

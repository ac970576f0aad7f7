/* SPDX-License-Identifier: MIT */
/* A small libcublasLt for tests: the functions that the benchmark calls, on host memory,
 * in double. It takes what the real one takes of them, and nothing else. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cublasLt.h>

#include <mpnum/mpnum.h>

struct operation {
  cublasComputeType_t compute;
  cublasOperation_t left, right;
  int8_t is_fast;
  const void *a_scale, *b_scale;
  int32_t a_mode, b_mode; /* of the scales */
};
struct layout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch;
  int64_t step;
};

/* Objects that are alive; and how to misbehave: "wrong" doubles products, "refuse" has no
 * algorithm that runs, "rows" takes the rows of a tile of block scales in order, "tiles"
 * the tiles column by column, "old" is a version before block scales, "batch" repeats the
 * first product of a batch, "turned" takes operands that are turned as those that are
 * not. */
int fake_cublaslt_objects;
const char *fake_cublaslt_fault = "";

static int fault(const char *name) { return strcmp(fake_cublaslt_fault, name) == 0; }

size_t cublasLtGetVersion(void) { return fault("old") ? 120699 : 139902; }
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
  made->left = made->right = CUBLAS_OP_N;
  made->compute = compute;
  *dst = (cublasLtMatmulDesc_t)(void *)made;
  ++fake_cublaslt_objects;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t at) { return destroy(at); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t at,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t size) {
#define MEMBER(name) \
 offsetof(struct operation, name), sizeof(((struct operation *)0)->name)
  static const struct {
    int attribute;
    size_t place, size;
  } known[] = {{CUBLASLT_MATMUL_DESC_TRANSA, MEMBER(left)},
               {CUBLASLT_MATMUL_DESC_TRANSB, MEMBER(right)},
               {CUBLASLT_MATMUL_DESC_FAST_ACCUM, MEMBER(is_fast)},
               {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, MEMBER(a_scale)},
               {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, MEMBER(b_scale)},
               {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, MEMBER(a_mode)},
               {CUBLASLT_MATMUL_DESC_B_SCALE_MODE, MEMBER(b_mode)}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (known[i].attribute != (int)attribute || known[i].size != size) continue;
    memcpy((char *)(void *)at + known[i].place, value, size);
    return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *dst,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  struct layout *made = calloc(1, sizeof *made);
  made->type = type;
  made->rows = rows;
  made->columns = columns;
  made->leading = leading;
  made->batch = 1;
  *dst = (cublasLtMatrixLayout_t)(void *)made;
  ++fake_cublaslt_objects;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t at,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t size) {
  struct layout *layout = (void *)at;
  const int is_count = attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (!is_count && attribute != CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (size != (is_count ? 4 : 8)) return CUBLAS_STATUS_INVALID_VALUE;
  memcpy(is_count ? (void *)&layout->batch : (void *)&layout->step, value, size);
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

/* The results of the manual's table: f32 of all, of 16 bits those of their own type and
 * of fp8 and below. */
static int gives(cudaDataType_t type, cudaDataType_t result) {
  if (result == CUDA_R_32F || result == type) return 1;
  return (result == CUDA_R_16F || result == CUDA_R_16BF) &&
         (is_fp8(type) || type == CUDA_R_4F_E2M1);
}

/* The pairs of types of the manual's table with their scales: fp8 in multiples of 16,
 * block scales in rows of whole blocks that begin at multiples of 16 bytes, both with K
 * along columns and nothing else; fast sums are of fp8. */
static int takes(const struct operation *how, const struct layout *a,
                 const struct layout *b, const struct layout *d) {
  const int scaled = how->a_scale && how->b_scale;
  const int fours = a->type == CUDA_R_4F_E2M1;
  const int tall = a->columns % 16 == 0 && b->columns % 16 == 0 &&
                   how->left == CUBLAS_OP_T && how->right == CUBLAS_OP_N;
  if (how->a_mode != how->b_mode || !gives(a->type, d->type)) return 0;
  if (a->batch != b->batch || a->batch != d->batch) return 0;
  if (how->is_fast && (how->a_mode || !is_fp8(a->type))) return 0;
  if (how->a_mode && a->batch > 1) return 0;
  if (how->a_mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0)
    return scaled && tall && a->type == CUDA_R_8F_E4M3 && b->type == a->type &&
           a->rows % 32 == 0;
  if (how->a_mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3)
    return scaled && tall && fours && b->type == a->type && a->rows % 32 == 0;
  if (how->a_mode != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F || fours) return 0;
  if (!is_fp8(a->type)) return a->type == b->type && !how->a_scale && !how->b_scale;
  return scaled && tall && (a->type == CUDA_R_8F_E4M3 || b->type == CUDA_R_8F_E4M3) &&
         is_fp8(b->type) && a->rows % 16 == 0;
}

/* Two algorithms; the first cannot be run. */
cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                               cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                               cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                               cublasLtMatmulPreference_t preference, int wanted,
                               cublasLtMatmulHeuristicResult_t *found, int *count) {
  (void)handle;
  (void)c;
  (void)preference;
  *count = 0;
  if (!takes((void *)operation, (void *)a, (void *)b, (void *)d) || wanted < 3)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int i = 0; i < 3; ++i) {
    memset(&found[i], 0, sizeof found[i]);
    found[i].state = i == 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
    found[i].algo.data[0] = (uint64_t)i;
  }
  *count = 3;
  return CUBLAS_STATUS_SUCCESS;
}

/* The finite value of a code: sign, exponent, fraction. */
static double decode(unsigned code, int exponent_bits, int fraction_bits, int bias) {
  const unsigned fractions = 1u << fraction_bits;
  const int exponent = (int)(code >> fraction_bits & ((1u << exponent_bits) - 1));
  const double fraction = (double)(code % fractions) / fractions;
  const double sign = code >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
  return exponent ? ldexp(sign * (1 + fraction), exponent - bias)
                  : ldexp(sign * fraction, 1 - bias);
}

static double value_at(const struct layout *layout, const void *matrix, uint64_t i) {
  const uint8_t *bytes = matrix;
  const uint16_t *halves = matrix;
  switch ((int)layout->type) {
  case CUDA_R_4F_E2M1:
    return decode(i % 2 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15, 2, 1, 1);
  case CUDA_R_8F_E4M3: return decode(bytes[i], 4, 3, 7);
  case CUDA_R_8F_E5M2: return decode(bytes[i], 5, 2, 15);
  case CUDA_R_16F: return decode(halves[i], 5, 10, 15);
  case CUDA_R_16BF: return decode(halves[i], 8, 7, 127);
  case CUDA_R_32F: return (double)((const float *)matrix)[i];
  default: abort();
  }
}

/* Multiplies the values, `rows` in each of `columns` columns, by the scales of their
 * blocks. Scales lie in tiles of 4 blocks of 128 columns; a line of a tile holds the 4
 * of column c, of c + 32, c + 64 and c + 96. False where one of no block is not 0. */
static int scale_blocks(double *values, uint64_t rows, uint64_t columns, unsigned size,
                        const uint8_t *scales) {
  const uint64_t blocks = rows / size, wide = (blocks + 3) / 4,
                 tall = (columns + 127) / 128;
  for (uint64_t tile = 0; tile < wide * tall; ++tile) {
    const uint64_t across = fault("tiles") ? tile / tall : tile % wide;
    const uint64_t down = fault("tiles") ? tile % tall : tile / wide;
    for (uint64_t place = 0; place < 512; ++place) {
      const uint64_t line = place / 16, quarter = place % 16 / 4;
      const uint64_t column =
          down * 128 + (fault("rows") ? line * 4 + quarter : line + 32 * quarter);
      const uint64_t block = across * 4 + place % 4;
      const uint8_t code = *scales++;
      const double scale =
          size == 32 ? ldexp(1, code - 127) : decode(code & 127, 4, 3, 7);
      if (column >= columns || block >= blocks) {
        if (code) return 0;
        continue;
      }
      for (uint64_t i = 0; i < size; ++i)
        values[column * rows + block * size + i] *= scale;
    }
  }
  return 1;
}

/* The values of a matrix in double, without gaps. tf32 is f32 that loses its low bits on
 * the way in. NULL where its scales are wrong. */
static double *take(const struct layout *layout, const void *matrix, const void *scales,
                    int32_t mode, cublasComputeType_t compute) {
  const uint64_t rows = layout->rows, columns = layout->columns;
  double *values = calloc(rows * columns, sizeof *values);
  const double scale = scales && mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F
                           ? (double)*(const float *)scales
                           : 1;
  if (!values) abort();
  for (uint64_t column = 0; column < columns; ++column) {
    for (uint64_t row = 0; row < rows; ++row) {
      double value = value_at(layout, matrix, column * (uint64_t)layout->leading + row);
      if (compute == CUBLAS_COMPUTE_32F_FAST_TF32)
        value = mpnum_tf32_to_f64(mpnum_f64_to_tf32(value));
      values[column * rows + row] = scale * value;
    }
  }
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F ||
      (scales &&
       scale_blocks(values, rows, columns,
                    mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 ? 32 : 16, scales)))
    return values;
  free(values);
  return NULL;
}

/* To nearest even in a type of 16 bits, of values in its normal range. */
static uint16_t half_of(double value, int fraction_bits, int bias) {
  int exponent;
  const double fraction = frexp(fabs(value), &exponent);              /* in [0.5, 1) */
  const int sum = (int)nearbyint(ldexp(fraction, fraction_bits + 1)); /* with the 1 */
  if (value == 0 || exponent - 1 + bias < 1) return 0;
  return (uint16_t)((value < 0 ? 0x8000 : 0) + ((exponent - 2 + bias) << fraction_bits) +
                    sum);
}

static void put(const struct layout *layout, void *matrix, uint64_t i, double value) {
  uint16_t *halves = matrix;
  if (layout->type == CUDA_R_32F)
    ((float *)matrix)[i] = (float)value;
  else
    halves[i] =
        layout->type == CUDA_R_16F ? half_of(value, 10, 15) : half_of(value, 7, 127);
}

/* Fast sums are rounded to 13 bits behind the first after each product. */
static double rounded(double sum) {
  int exponent;
  const double fraction = frexp(sum, &exponent);
  return ldexp(nearbyint(ldexp(fraction, 14)), exponent - 14);
}

/* a: columns of k values; b: likewise. */
static void multiply(const double *a, const double *b, uint64_t k, void *d,
                     const struct layout *layout, int is_fast) {
  const double factor = fault("wrong") ? 2 : 1;
  for (uint64_t column = 0; column < layout->columns; ++column) {
    for (uint64_t row = 0; row < layout->rows; ++row) {
      double sum = 0;
      for (uint64_t i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[column * k + i];
        if (is_fast) sum = rounded(sum);
      }
      put(layout, d, column * (uint64_t)layout->leading + row, factor * sum);
    }
  }
}

/* Its columns become rows. */
static double *transposed(double *values, uint64_t rows, uint64_t columns) {
  double *made = calloc(rows * columns, sizeof *made);
  if (!made) abort();
  for (uint64_t column = 0; column < columns; ++column)
    for (uint64_t row = 0; row < rows; ++row)
      made[row * columns + column] = values[column * rows + row];
  free(values);
  return made;
}

/* One of a batch, with K along columns. */
static double *take_one(const struct layout *layout, const void *matrix, int32_t index,
                        const void *scales, int32_t mode, cublasComputeType_t compute,
                        int is_turned) {
  const int bits = is_fp8(layout->type)             ? 8
                   : layout->type == CUDA_R_4F_E2M1 ? 4
                   : layout->type == CUDA_R_32F     ? 32
                                                    : 16;
  const int64_t before = (fault("batch") ? 0 : index) * layout->step * bits / 8;
  double *values = take(layout, (const char *)matrix + before, scales, mode, compute);
  if (!values || !is_turned || fault("turned")) return values;
  return transposed(values, layout->rows, layout->columns);
}

static int multiply_one(const struct operation *how, int32_t index, const void *a,
                        const struct layout *at, const void *b, const struct layout *bt,
                        void *d, const struct layout *dt) {
  const uint64_t k = how->left == CUBLAS_OP_T ? at->rows : at->columns;
  double *left = take_one(at, a, index, how->a_scale, how->a_mode, how->compute,
                          how->left == CUBLAS_OP_N);
  double *right = take_one(bt, b, index, how->b_scale, how->b_mode, how->compute,
                           how->right == CUBLAS_OP_T);
  const int good = left && right;
  const int64_t before = index * dt->step * (dt->type == CUDA_R_32F ? 4 : 2);
  if (good) multiply(left, right, k, (char *)d + before, dt, how->is_fast);
  free(left);
  free(right);
  return good;
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
  const int is_left = how->left == CUBLAS_OP_T, is_right = how->right == CUBLAS_OP_N;
  int32_t i;
  if (!handle || !workspace || !workspace_size || stream || c != d ||
      c_layout != d_layout || *(const float *)alpha != 1 || *(const float *)beta != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm->data[0] == 1 || fault("refuse")) return CUBLAS_STATUS_NOT_SUPPORTED;
  if ((is_left ? at->rows : at->columns) != (is_right ? bt->rows : bt->columns) ||
      dt->rows != (is_left ? at->columns : at->rows) ||
      dt->columns != (is_right ? bt->columns : bt->rows) || !takes(how, at, bt, dt))
    return CUBLAS_STATUS_INVALID_VALUE;
  for (i = 0; i < dt->batch; ++i)
    if (!multiply_one(how, i, a, at, b, bt, d, dt)) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

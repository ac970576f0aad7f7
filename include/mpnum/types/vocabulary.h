/* SPDX-License-Identifier: MIT */
/* What others call the types: names and numbers of files, frameworks and libraries, both
 * ways. Opt-in. What a vocabulary does not have is a status, never the nearest type:
 * `float8_e4m3` of ml_dtypes has Inf, and is not MPNUM_TYPE_E4M3. Types that are blocks,
 * as those of GGUF that quantise, are not here. */
#ifndef MPNUM_TYPES_VOCABULARY_H
#define MPNUM_TYPES_VOCABULARY_H

#include "../core/format.h"
MPNUM_C_BEGIN_

typedef enum mpnum_vocabulary {
  MPNUM_VOCABULARY_SAFETENSORS = 0, /* F8_E4M3: names alone */
  MPNUM_VOCABULARY_NUMPY = 1,  /* float8_e4m3fn, with ml_dtypes; JAX, PyTorch: names */
  MPNUM_VOCABULARY_MLIR = 2,   /* f8E4M3FN: names alone */
  MPNUM_VOCABULARY_ONNX = 3,   /* FLOAT8E4M3FN, 17: TensorProto.DataType */
  MPNUM_VOCABULARY_CUDA = 4,   /* CUDA_R_8F_E4M3, 28: cudaDataType_t */
  MPNUM_VOCABULARY_GGUF = 5,   /* BF16, 30: ggml_type */
  MPNUM_VOCABULARY_DLPACK = 6, /* 77594: DLDataType, code + 256 bits + 65536 lanes of 1 */
  MPNUM_VOCABULARY_MLIR_CLASS = 7 /* Float8E4M3FNType: names alone, of C++ */
} mpnum_vocabulary;

/* The one table: names in the order of the vocabularies that have some, then numbers of
 * ONNX, CUDA and GGUF, DLPack's code and bits; 0 and -1 where there is none. */
#define MPNUM_VOCABULARY_ROWS_(ROW)                                                      \
 ROW(F64, "F64", "float64", "f64", "DOUBLE", "CUDA_R_64F", "F64", "Float64Type", 11, 1,  \
     28, 2, 64)                                                                          \
 ROW(F32, "F32", "float32", "f32", "FLOAT", "CUDA_R_32F", "F32", "Float32Type", 1, 0, 0, \
     2, 32)                                                                              \
 ROW(TF32, 0, 0, "tf32", 0, 0, 0, "FloatTF32Type", -1, -1, -1, -1, 0)                    \
 ROW(BF16, "BF16", "bfloat16", "bf16", "BFLOAT16", "CUDA_R_16BF", "BF16",                \
     "BFloat16Type", 16, 14, 30, 4, 16)                                                  \
 ROW(F16, "F16", "float16", "f16", "FLOAT16", "CUDA_R_16F", "F16", "Float16Type", 10, 2, \
     1, 2, 16)                                                                           \
 ROW(E5M2, "F8_E5M2", "float8_e5m2", "f8E5M2", "FLOAT8E5M2", "CUDA_R_8F_E5M2", 0,        \
     "Float8E5M2Type", 19, 29, -1, 12, 8)                                                \
 ROW(E4M3, "F8_E4M3", "float8_e4m3fn", "f8E4M3FN", "FLOAT8E4M3FN", "CUDA_R_8F_E4M3", 0,  \
     "Float8E4M3FNType", 17, 28, -1, 10, 8)                                              \
 ROW(E5M2FNUZ, "F8_E5M2FNUZ", "float8_e5m2fnuz", "f8E5M2FNUZ", "FLOAT8E5M2FNUZ", 0, 0,   \
     "Float8E5M2FNUZType", 20, -1, -1, 13, 8)                                            \
 ROW(E4M3FNUZ, "F8_E4M3FNUZ", "float8_e4m3fnuz", "f8E4M3FNUZ", "FLOAT8E4M3FNUZ", 0, 0,   \
     "Float8E4M3FNUZType", 18, -1, -1, 11, 8)                                            \
 ROW(E3M4, 0, "float8_e3m4", "f8E3M4", 0, 0, 0, "Float8E3M4Type", -1, -1, -1, 7, 8)      \
 ROW(E8M0, "F8_E8M0", "float8_e8m0fnu", "f8E8M0FNU", "FLOAT8E8M0", "CUDA_R_8F_UE8M0", 0, \
     "Float8E8M0FNUType", 24, 30, -1, 14, 8)                                             \
 ROW(E3M2, "F6_E3M2", "float6_e3m2fn", "f6E3M2FN", "FLOAT6E3M2", "CUDA_R_6F_E3M2", 0,    \
     "Float6E3M2FNType", 28, 32, -1, 16, 6)                                              \
 ROW(E2M3, "F6_E2M3", "float6_e2m3fn", "f6E2M3FN", "FLOAT6E2M3", "CUDA_R_6F_E2M3", 0,    \
     "Float6E2M3FNType", 27, 31, -1, 15, 6)                                              \
 ROW(E2M1, "F4", "float4_e2m1fn", "f4E2M1FN", "FLOAT4E2M1", "CUDA_R_4F_E2M1", 0,         \
     "Float4E2M1FNType", 23, 33, -1, 17, 4)                                              \
 ROW(UE5M3, 0, 0, 0, 0, "CUDA_R_8F_UE5M3", 0, 0, -1, 34, -1, -1, 0)                      \
 ROW(UE4M3, 0, 0, 0, 0, "CUDA_R_8F_UE4M3", 0, 0, -1, 28, -1, -1, 0)

MPNUM_INLINE int mpnum_is_same_text_(const char *a, const char *b) {
  while (*a && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

/* The name of a type; NULL where a vocabulary has none, and for one that does not exist.
 */
MPNUM_FUNC const char *mpnum_type_name_in(mpnum_vocabulary vocabulary, mpnum_type type) {
#define MPNUM_ROW_(NAME, safetensors, numpy, mlir, onnx, cuda, gguf, mlir_class, ...) \
case (uint32_t)MPNUM_TYPE_##NAME:                                                     \
 return vocabulary == MPNUM_VOCABULARY_SAFETENSORS  ? (safetensors)                   \
        : vocabulary == MPNUM_VOCABULARY_NUMPY      ? (numpy)                         \
        : vocabulary == MPNUM_VOCABULARY_MLIR       ? (mlir)                          \
        : vocabulary == MPNUM_VOCABULARY_ONNX       ? (onnx)                          \
        : vocabulary == MPNUM_VOCABULARY_CUDA       ? (cuda)                          \
        : vocabulary == MPNUM_VOCABULARY_GGUF       ? (gguf)                          \
        : vocabulary == MPNUM_VOCABULARY_MLIR_CLASS ? (mlir_class)                    \
                                                    : (const char *)0;
  switch ((uint32_t)type) { MPNUM_VOCABULARY_ROWS_(MPNUM_ROW_) default : return 0; }
#undef MPNUM_ROW_
}
MPNUM_FUNC int32_t mpnum_type_number_or_less_(mpnum_vocabulary vocabulary,
                                              uint32_t type) {
#define MPNUM_ROW_(NAME, a, b, c, d, e, f, g, onnx, cuda, gguf, code, bits) \
case (uint32_t)MPNUM_TYPE_##NAME:                                           \
 return vocabulary == MPNUM_VOCABULARY_ONNX   ? (onnx)                      \
        : vocabulary == MPNUM_VOCABULARY_CUDA ? (cuda)                      \
        : vocabulary == MPNUM_VOCABULARY_GGUF ? (gguf)                      \
        : vocabulary == MPNUM_VOCABULARY_DLPACK && (code) >= 0              \
            ? (code) + 256 * (bits) + 65536                                 \
            : -1;
  switch (type) { MPNUM_VOCABULARY_ROWS_(MPNUM_ROW_) default : return -1; }
#undef MPNUM_ROW_
}

/* The type of a name, and of a number; the number of a type. An unsigned type of scales
 * that shares a number with a signed one is the signed one.
 * MPNUM_ERROR_NULL, MPNUM_ERROR_TYPE: the vocabulary has it not. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_type_of_name(mpnum_vocabulary vocabulary,
                                                            const char *name,
                                                            mpnum_type *type) {
  uint32_t i = MPNUM_TYPE_F64;
  if (!name || !type) return MPNUM_ERROR_NULL;
  for (; i <= (uint32_t)MPNUM_TYPE_UE4M3; ++i) {
    const char *known = mpnum_type_name_in(vocabulary, (mpnum_type)i);
    if (known && mpnum_is_same_text_(known, name)) {
      *type = (mpnum_type)i;
      return MPNUM_OK;
    }
  }
  return MPNUM_ERROR_TYPE;
}
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_type_of_number(mpnum_vocabulary vocabulary,
                                                              int32_t number,
                                                              mpnum_type *type) {
  uint32_t i = MPNUM_TYPE_F64;
  if (!type) return MPNUM_ERROR_NULL;
  for (; number >= 0 && i <= (uint32_t)MPNUM_TYPE_UE4M3; ++i)
    if (mpnum_type_number_or_less_(vocabulary, i) == number) {
      *type = (mpnum_type)i;
      return MPNUM_OK;
    }
  return MPNUM_ERROR_TYPE;
}
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_type_number_in(mpnum_vocabulary vocabulary,
                                                              mpnum_type type,
                                                              int32_t *number) {
  const int32_t known = mpnum_type_number_or_less_(vocabulary, (uint32_t)type);
  if (!number) return MPNUM_ERROR_NULL;
  if (known < 0) return MPNUM_ERROR_TYPE;
  *number = known;
  return MPNUM_OK;
}

MPNUM_C_END_
#endif

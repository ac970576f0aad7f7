/* SPDX-License-Identifier: MIT */
/* A matrix of a product: its f32 original and what a format makes of it. */
#ifndef MPNUM_BENCH_GPU_OPERAND_CUH
#define MPNUM_BENCH_GPU_OPERAND_CUH

#include "measure.cuh"

struct gpu_operand {
  gpu_buffer original;  /* count floats */
  gpu_buffer converted; /* codes of at most 16 bits */
  gpu_buffer amax;      /* a float: of the original */
  gpu_buffer scale;     /* what its codes are times: a float, or one for each block */
  size_t scale_bytes;
};

/* What cuBLASLt gets to read of one side of a product. */
struct gpu_operand_format {
  unsigned bits;  /* of a code */
  unsigned block; /* K is a multiple of this: values that share a scale, else 1 */
  /* Converts rows of k values, from the first on. NULL: the original is read. */
  cudaError_t (*convert)(gpu_operand *operand, size_t rows, size_t k);
  /* One code of a row as a float, without its scale. */
  float (*decode)(const void *codes, size_t index);
  /* The scale of one value of a row of k. NULL: there is none. */
  float (*scale)(const void *scales, size_t row, size_t index, size_t k);
};

extern const gpu_operand_format gpu_f32_operand, gpu_f16_operand, gpu_bf16_operand,
    gpu_e4m3_operand, gpu_e5m2_operand, gpu_mxfp8_operand, gpu_nvfp4_operand;

/* Room for rows of k values, and fewer of either, filled with normal ones. */
cudaError_t gpu_operand_make(gpu_operand *operand, size_t rows, size_t k, uint64_t seed);

/* Bytes for the scales of rows of k values in any format, and of fewer of either. */
size_t gpu_scale_bytes(size_t rows, size_t k);

#endif

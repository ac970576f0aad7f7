/* SPDX-License-Identifier: MIT */
/* A matrix of a product: its f32 original and what a format makes of it. */
#ifndef MPNUM_BENCH_GPU_OPERAND_CUH
#define MPNUM_BENCH_GPU_OPERAND_CUH

#include "measure.cuh"

struct gpu_operand {
  gpu_buffer original;  /* count floats */
  gpu_buffer converted; /* codes of at most 16 bits */
  gpu_buffer amax;      /* a float: of the original */
  gpu_buffer scale;     /* a float: a value is its code times this */
  size_t count;
};

/* What cuBLASLt gets to read of one side of a product. */
struct gpu_operand_format {
  mpnum_type type;
  unsigned size; /* bytes of a code */
  /* Converts the first n values. NULL: the original is read. */
  cudaError_t (*convert)(gpu_operand *operand, size_t n);
  /* One code as a float, without its scale. */
  float (*decode)(const void *codes, size_t index);
  bool scaled;
};

extern const gpu_operand_format gpu_f32_operand, gpu_f16_operand, gpu_bf16_operand,
    gpu_e4m3_operand, gpu_e5m2_operand;

/* Room for count values, filled with normal ones. */
cudaError_t gpu_operand_make(gpu_operand *operand, size_t count, uint64_t seed);

#endif

/* SPDX-License-Identifier: MIT */
/* A matrix of a product: its f32 original and what a format makes of it, by the launchers
 * of the library. */
#ifndef MPNUM_BENCH_GPU_OPERAND_CUH
#define MPNUM_BENCH_GPU_OPERAND_CUH

#include "measure.cuh"

/* Codes as rows, with scales of their blocks as cuBLASLt reads them. */
struct gpu_side {
  gpu_buffer codes, scales;
};

struct gpu_operand {
  size_t rows, columns;    /* at hand: no more values than there is room for */
  size_t scale_bytes;      /* of a side */
  gpu_buffer original;     /* count floats */
  gpu_side by_row, turned; /* codes of at most 16 bits; the transpose's, of at most 8 */
  gpu_buffer scale;        /* of the tensor */
};

/* What one format makes of an operand, and reads of it. */
struct gpu_operand_format {
  unsigned bits;  /* of a code */
  unsigned block; /* values along a row that share a scale, else 1 */
  unsigned reads; /* of the original in a conversion */
  /* Codes of the transpose are made, too, and read where that is multiplied. Else
   * cuBLASLt reads a matrix either way. */
  bool turns;
  /* Before conversions of an operand whose rows and columns are new. NULL: nothing. */
  cudaError_t (*prepare)(gpu_operand *operand);
  /* NULL: the original is read. */
  cudaError_t (*convert)(gpu_operand *operand, bool turned_too);
  /* One code of a row as a float, without its scale. */
  float (*decode)(const void *codes, size_t index);
  /* The scale of one value of a row of k. NULL: there is none. */
  float (*scale)(const void *scales, size_t row, size_t index, size_t k);
};

extern const gpu_operand_format gpu_f32_operand, gpu_f16_operand, gpu_bf16_operand,
    gpu_e4m3_operand, gpu_e4m3_delayed_operand, gpu_e5m2_operand,
    gpu_e5m2_delayed_operand, gpu_mxfp8_operand, gpu_nvfp4_operand;

/* Room for a matrix, and for any with fewer values and no more rows and columns, filled
 * with normal ones. */
cudaError_t gpu_operand_make(gpu_operand *operand, size_t rows, size_t columns,
                             uint64_t seed);

/* Bytes for the scales of rows of k values in any format, and of fewer of either. */
size_t gpu_scale_bytes(size_t rows, size_t k);

/* A factor of a product: rows that are summed along, those of the transpose where it is
 * turned. */
struct gpu_factor {
  const gpu_operand *of;
  const gpu_operand_format *format;
  bool turned;
  size_t first; /* of its rows: of a batch the last matrix */

  bool has_own_codes() const { return turned && format->turns; }
  /* Its rows are the columns of what lies in memory. */
  bool lies_turned() const { return turned && !format->turns; }
  const gpu_side &side() const { return has_own_codes() ? of->turned : of->by_row; }
  const void *codes() const {
    return format->convert ? side().codes.at : of->original.at;
  }
  const void *scales() const; /* as cuBLASLt reads them */
  size_t scale_bytes() const;
};

#endif

/* SPDX-License-Identifier: MIT */
/* Layouts of quantised matrices that other libraries store, and the memory that they
 * take. stored_matrix.h quantises. */
#ifndef MPNUM_BLOCKS_STORED_LAYOUT_H
#define MPNUM_BLOCKS_STORED_LAYOUT_H

#include "blockscale_format.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_ || MPNUM_HAS_NVRTC_

/* What lies in the memory of a matrix; numbers of several bytes in data and zeros have
 * their little end first. A block of ggml holds its scale before its codes, and code i in
 * the low half of a byte, code i + n / 2 in the high half. */
typedef enum mpnum_stored_layout {
  MPNUM_STORED_MXFP4 = 0, /* 32 in 17 bytes: e8m0, e2m1 */
  MPNUM_STORED_NVFP4 = 1, /* 64 in 36: four e4m3, four times 16 e2m1 */
  MPNUM_STORED_Q8_0 = 2,  /* 32 in 34: f16, int8 */
  MPNUM_STORED_Q4_0 = 3,  /* 32 in 18: f16, four bits less 8 */
  MPNUM_STORED_NF4 = 4,   /* data: rows, the high half of a byte first; scales: float, */
  MPNUM_STORED_FP4 = 5,   /*   the largest magnitude of each block of the rows */
  MPNUM_STORED_AWQ = 6, /* data: columns of the matrix as rows of words, eight rows of */
                        /*   the matrix in one, 0 2 4 6 1 3 5 7 from the low end on;
                             scales, f16, and zeros, words in this order: a row for each
                             group of columns */
  MPNUM_STORED_GPTQ = 7 /* data: words of eight columns in order, a row of them for
                           each eight columns; scales as of AWQ; zeros less 1, in order */
} mpnum_stored_layout;

/* A matrix in the caller's memory. */
typedef struct mpnum_stored {
  mpnum_stored_layout layout;
  size_t rows, columns;
  size_t block; /* elements of a row that are stored, or share a scale, together */
  void *data, *scales, *zeros; /* those of which there are bytes */
  size_t data_bytes, scales_bytes, zeros_bytes;
} mpnum_stored;

#endif

#if MPNUM_HAS_ARRAYS_

/* Bytes of a block of ggml, 0 of other layouts; the elements that share a scale. */
MPNUM_HOST_INLINE_ size_t mpnum_stored_block_bytes_(mpnum_stored_layout layout) {
  return layout == MPNUM_STORED_MXFP4   ? 17
         : layout == MPNUM_STORED_NVFP4 ? 36
         : layout == MPNUM_STORED_Q8_0  ? 34
         : layout == MPNUM_STORED_Q4_0  ? 18
                                        : 0;
}
MPNUM_HOST_INLINE_ int mpnum_is_book_(mpnum_stored_layout layout) {
  return layout == MPNUM_STORED_NF4 || layout == MPNUM_STORED_FP4;
}
/* Whether a layout has such blocks, and such a matrix has them. */
MPNUM_HOST mpnum_status mpnum_stored_validate_(const mpnum_stored *stored) {
  const size_t block = stored->block, rows = stored->rows, columns = stored->columns;
  const mpnum_stored_layout layout = stored->layout;
  if ((int)layout < 0 || (int)layout > MPNUM_STORED_GPTQ) return MPNUM_ERROR_ARGUMENT;
  if (block == 0 || block % (mpnum_is_book_(layout) ? 16 : 8) != 0)
    return MPNUM_ERROR_ARGUMENT;
  if (mpnum_stored_block_bytes_(layout) &&
      block != (layout == MPNUM_STORED_NVFP4 ? 64u : 32u))
    return MPNUM_ERROR_ARGUMENT;
  if (rows && columns > (size_t)-1 / 16 / rows) return MPNUM_ERROR_SHAPE;
  if (columns % block != 0 && !(mpnum_is_book_(layout) && rows == 1))
    return MPNUM_ERROR_SHAPE;
  if (layout >= MPNUM_STORED_AWQ && rows % 8 != 0) return MPNUM_ERROR_SHAPE;
  return MPNUM_OK;
}
/* Returns a matrix without memory, with the bytes that each part takes: 0 if there is
 * none, and all 0 where layout, block and shape do not fit, which every call refuses.
 * block 0: 32 of ggml, 64 of its NVFP4, of NF4 and FP4, 128 of AWQ and GPTQ. */
MPNUM_HOST mpnum_stored mpnum_stored_of(mpnum_stored_layout layout, size_t rows,
                                        size_t columns, size_t block) {
  const size_t bytes = mpnum_stored_block_bytes_(layout);
  mpnum_stored made;
  made.layout = layout;
  made.rows = rows;
  made.columns = columns;
  made.block = block                                                    ? block
               : layout == MPNUM_STORED_NVFP4 || mpnum_is_book_(layout) ? 64
               : bytes                                                  ? 32
                                                                        : 128;
  made.data = made.scales = made.zeros = 0;
  made.data_bytes = made.scales_bytes = made.zeros_bytes = 0;
  if (mpnum_stored_validate_(&made) != MPNUM_OK) return made;
  if (bytes) {
    made.data_bytes = rows * (columns / made.block) * bytes;
  } else {
    const size_t blocks = rows * mpnum_blocks_along_(columns, made.block);
    made.data_bytes = (rows * columns + 1) / 2;
    made.scales_bytes = blocks * (mpnum_is_book_(layout) ? 4 : 2);
    if (!mpnum_is_book_(layout)) made.zeros_bytes = blocks / 2;
  }
  return made;
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* The loops behind hadamard.h. */
#ifndef MPNUM_ROWS_DETAIL_HADAMARD_LOOPS_H
#define MPNUM_ROWS_DETAIL_HADAMARD_LOOPS_H

#include "rows_loops.h"
MPNUM_C_BEGIN_

/* The stage of a stride over n floats. */
MPNUM_REAL_ void mpnum_hadamard_stage_(float *x, int n, int stride) {
  int i = 0;
  for (; i < n / 2; ++i) {
    const int first = i + i / stride * stride;
    const float a = x[first], b = x[first + stride];
    x[first] = mpnum_add_scalar_(a, b);
    x[first + stride] = mpnum_sub_scalar_(a, b);
  }
}
/* All stages, and the factor. */
MPNUM_REAL_ void mpnum_hadamard_stages_(float *x, int n) {
  int i = 0;
  mpnum_hadamard_stage_(x, n, 1);
  mpnum_hadamard_stage_(x, n, 2);
  mpnum_hadamard_stage_(x, n, 4);
  mpnum_hadamard_stage_(x, n, 8);
  if (n == 64) {
    mpnum_hadamard_stage_(x, n, 16);
    mpnum_hadamard_stage_(x, n, 32);
  }
  for (; i < n; ++i)
    x[i] = mpnum_mul_scalar_(x[i], n == 64 ? 0.125f : 0.25f);
}
/* The other sign where the word's top bit is set. */
MPNUM_REAL_ float mpnum_hadamard_flipped_(float x, uint32_t word) {
  return mpnum_f32_of_scalar_(mpnum_bits_of_scalar_(x) ^ (word & 0x80000000u));
}
MPNUM_REAL_ void mpnum_hadamard_flip_(float *x, int n, uint64_t seed, uint64_t counter) {
  int i = 0;
  for (; i < n; i += 4) {
    const mpnum_u32x4 words = mpnum_random_x4(seed, counter + (uint64_t)(i / 4));
    x[i] = mpnum_hadamard_flipped_(x[i], words.x);
    x[i + 1] = mpnum_hadamard_flipped_(x[i + 1], words.y);
    x[i + 2] = mpnum_hadamard_flipped_(x[i + 2], words.z);
    x[i + 3] = mpnum_hadamard_flipped_(x[i + 3], words.w);
  }
}
MPNUM_REAL_ void mpnum_hadamard_of_(float *x, int n, uint64_t seed, uint64_t block,
                                    int is_inverse) {
  const uint64_t counter = block * (uint64_t)(n / 4);
  int i = 0;
  if (!is_inverse) mpnum_hadamard_flip_(x, n, seed, counter);
  mpnum_hadamard_stages_(x, n);
  if (is_inverse) mpnum_hadamard_flip_(x, n, seed, counter);
  for (; i < n; ++i)
    x[i] = mpnum_canonical_(x[i]);
}

#if MPNUM_HAS_ARRAYS_

/* What is done to each n elements; to rows of some columns, steps in bytes. */
typedef struct mpnum_hadamard_ {
  int n, is_inverse;
  int non_temporal; /* stores past the caches */
  mpnum_type dst_type, src_type;
  uint32_t factor, nan_result; /* as bits */
} mpnum_hadamard_;
typedef struct mpnum_hadamard_tile_ {
  mpnum_hadamard_ how;
  uint8_t *dst;
  const uint8_t *src;
  size_t rows, columns, dst_step, src_step;
} mpnum_hadamard_tile_;

MPNUM_INLINE int mpnum_hadamard_has_(mpnum_type type) {
  return type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_BF16;
}
MPNUM_HOST_INLINE_ size_t mpnum_hadamard_size_(mpnum_type type) {
  return type == MPNUM_TYPE_F32 ? 4 : 2;
}
# define MPNUM_EACH_ISA_ "../../rows/detail/hadamard.inc"
# include "../../simd/detail/each_isa.inc"

/* As array.h does it, where every row begins at a line of the cache. */
MPNUM_HOST int mpnum_hadamard_streams_(mpnum_matrix dst, mpnum_const_matrix src) {
  const size_t size = mpnum_hadamard_size_(dst.type);
  const size_t bytes = src.columns * (size + mpnum_hadamard_size_(src.type));
  return dst.data != src.data && ((size_t)dst.data | dst.stride * size) % 64 == 0 &&
         src.rows > MPNUM_NON_TEMPORAL_BYTES_ / (bytes + 1);
}
MPNUM_HOST void mpnum_hadamard_all_(mpnum_matrix dst, mpnum_const_matrix src, int n,
                                    uint64_t seed, int is_inverse) {
  const mpnum_hadamard_ how = {n,
                               is_inverse,
                               mpnum_hadamard_streams_(dst, src),
                               dst.type,
                               src.type,
                               n == 64 ? 0x3e000000u : 0x3e800000u, /* 1/8, 1/4 */
                               dst.type == MPNUM_TYPE_F32 ? 0x7fffffffu : 0x7fff0000u};
  const uint64_t saved = mpnum_fenv_save_();
  MPNUM_ALIGNED_ uint32_t signs[MPNUM_TILE_]; /* of each column, the top bit or 0 */
  mpnum_hadamard_tile_ tile;
  size_t i = 0;
  tile.how = how;
  tile.rows = src.rows;
  tile.dst_step = dst.stride * mpnum_hadamard_size_(dst.type);
  tile.src_step = src.stride * mpnum_hadamard_size_(src.type);
  for (; src.rows && i < src.columns; i += MPNUM_TILE_) {
    tile.columns = mpnum_tile_size_(src.columns, i);
    tile.dst = mpnum_rows_to_(dst, 0, i);
    tile.src = mpnum_rows_at_(src, 0, i);
    MPNUM_CALL_(hadamard_signs, (signs, seed, i, (tile.columns + 63) / 64 * 64));
    MPNUM_CALL_(hadamard_tile, (&tile, signs));
  }
  mpnum_fenv_restore_(saved);
}

#endif
MPNUM_C_END_
#endif

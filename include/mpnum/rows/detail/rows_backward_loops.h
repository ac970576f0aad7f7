/* SPDX-License-Identifier: MIT */
/* What softmax_backward.h is made of: steps over a row of a gradient and of results. */
#ifndef MPNUM_ROWS_DETAIL_ROWS_BACKWARD_LOOPS_H
#define MPNUM_ROWS_DETAIL_ROWS_BACKWARD_LOOPS_H

#include "rows_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* A row of a gradient and of what it is the gradient of; the mask is that of y. */
typedef struct mpnum_row_pair_ {
  mpnum_row_view_ dy, y;
} mpnum_row_pair_;
/* Whether both are floats without a mask, as most are. */
MPNUM_HOST_INLINE_ int mpnum_row_pair_is_plain_(const mpnum_row_pair_ *pair) {
  return pair->dy.type.type == MPNUM_TYPE_F32 && pair->y.type.type == MPNUM_TYPE_F32 &&
         !pair->y.mask;
}
/* row_inner adds up dy y, or where is_log dy; row_backward makes gradients with it. */
typedef struct mpnum_row_backward_ {
  int is_log, adds;
  float inner, scale;
} mpnum_row_backward_;

# define MPNUM_EACH_ISA_ "../../rows/detail/rows_backward.inc"
# include "../../simd/detail/each_isa.inc"

/* These over rows of any type. */
MPNUM_HOST void mpnum_row_inner_of_(double *sum, const mpnum_row_pair_ *pair, int is_log,
                                    size_t n) {
  const int has_bytes = pair->dy.type.is_foreign || pair->y.type.is_foreign;
  MPNUM_ALIGNED_ float dy[MPNUM_TILE_], y[MPNUM_TILE_];
  mpnum_row_pair_ part;
  size_t i = 0, count = 0;
  if (!has_bytes) {
    MPNUM_CALL_(row_inner, (sum, pair, is_log, n));
    return;
  }
  for (; i < n; i += count) {
    count = mpnum_tile_size_(n, i);
    mpnum_row_part_(&part.dy, &pair->dy, i, count, dy);
    mpnum_row_part_(&part.y, &pair->y, i, count, y);
    MPNUM_CALL_(row_inner, (sum, &part, is_log, count));
  }
}
MPNUM_HOST void mpnum_row_backward_of_(const mpnum_row_backward_ *chosen,
                                       const mpnum_row_type_ *type, uint8_t *dst,
                                       const mpnum_row_pair_ *pair, size_t n) {
  const int to_bytes = type->is_foreign;
  const int has_bytes = to_bytes || pair->dy.type.is_foreign || pair->y.type.is_foreign;
  MPNUM_ALIGNED_ float dy[MPNUM_TILE_], y[MPNUM_TILE_], results[MPNUM_TILE_];
  mpnum_row_backward_ how = *chosen;
  mpnum_row_type_ f32_type;
  mpnum_row_pair_ part;
  size_t i = 0, count = 0;
  if (!has_bytes) {
    MPNUM_CALL_(row_backward, (chosen, type, dst, pair, n));
    return;
  }
  mpnum_row_type_of_(&f32_type, MPNUM_TYPE_F32);
  if (to_bytes) how.adds = 0;
  for (; i < n; i += count) {
    uint8_t *to = dst + i * type->size;
    count = mpnum_tile_size_(n, i);
    mpnum_row_part_(&part.dy, &pair->dy, i, count, dy);
    mpnum_row_part_(&part.y, &pair->y, i, count, y);
    MPNUM_CALL_(row_backward, (&how, to_bytes ? &f32_type : type,
                               to_bytes ? (uint8_t *)results : to, &part, count));
    if (to_bytes) mpnum_row_put_foreign_(type, to, results, count, chosen->adds);
  }
}

#endif
MPNUM_C_END_
#endif

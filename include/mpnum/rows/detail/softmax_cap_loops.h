/* SPDX-License-Identifier: MIT */
/* What softmax_cap.h is made of: tanh of floats, its derivative, and gradients of losses
 * through it. */
#ifndef MPNUM_ROWS_DETAIL_SOFTMAX_CAP_LOOPS_H
#define MPNUM_ROWS_DETAIL_SOFTMAX_CAP_LOOPS_H

#include "rows_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

# define MPNUM_EACH_ISA_ "../../rows/detail/softmax_cap.inc"
# include "../../simd/detail/each_isa.inc"

MPNUM_HOST_ONCE_ void mpnum_cap_floats_(float *x, const float *gradients, size_t n,
                                        float factor) {
  MPNUM_CALL_(row_capped, (x, gradients, n, factor));
}
/* Gradients of losses of a capped row, as floats, times the derivative of v; what is
 * masked may hold anything. */
MPNUM_HOST void mpnum_row_map_capped_(const mpnum_row_steps_ *steps,
                                      const mpnum_row_map_ *chosen,
                                      const mpnum_row_type_ *type, uint8_t *dst,
                                      const mpnum_row_view_ *row, size_t n) {
  MPNUM_ALIGNED_ float buffer[MPNUM_PARTS_], results[MPNUM_TILE_], x[MPNUM_TILE_];
  mpnum_row_map_ map = *chosen;
  mpnum_row_type_ f32_type;
  mpnum_row_view_ part;
  size_t i = 0, k = 0, count = 0;
  mpnum_row_type_of_(&f32_type, MPNUM_TYPE_F32);
  map.adds = 0;
  for (; i < n; i += count) {
    count = mpnum_tile_size_(n, i);
    mpnum_row_part_(&part, row, i, count, buffer);
    (*steps->map)(&map, &f32_type, (uint8_t *)results, &part, count);
    mpnum_floats_from_(row->type.type, x, row->src + i * row->type.size, count);
    for (k = 0; row->mask && k < count; ++k)
      if (!row->mask[i + k]) x[k] = 0;
    (*row->cap)(x, results, count, row->cap_factor);
    mpnum_row_put_bytes_(type->type, dst + i * type->size, x, count, chosen->adds);
    if (map.shares) map.shares += count;
  }
}

#endif
MPNUM_C_END_
#endif

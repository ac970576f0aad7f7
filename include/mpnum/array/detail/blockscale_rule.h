/* SPDX-License-Identifier: MIT */
/* How the scale of a block comes from its amax, as numbers that a loop keeps in
 * registers, and by the scalar steps of blockscale.inc. */
#ifndef MPNUM_ARRAY_DETAIL_BLOCKSCALE_RULE_H
#define MPNUM_ARRAY_DETAIL_BLOCKSCALE_RULE_H

#include "../../simd/detail/f32_ops.h"
MPNUM_C_BEGIN_

typedef enum mpnum_block_kind_ {
  MPNUM_BLOCK_POWER_,   /* e8m0 from the bits of the amax */
  MPNUM_BLOCK_PRODUCT_, /* e8m0 from amax times 1 / max */
  MPNUM_BLOCK_TWO_LEVEL_,
  MPNUM_BLOCK_AMAX_,
  MPNUM_BLOCK_AMAX_POW2_
} mpnum_block_kind_;

/* Floats are written as their bits. */
typedef struct mpnum_block_rule_ {
  mpnum_block_kind_ kind;
  int divides;                 /* elements are divided by the factor, not multiplied */
  uint32_t added, least, emax; /* of e8m0: before the exponent is taken; 0 up to this */
  uint32_t max_inverse;        /* 1 / max of an element */
  uint32_t max;
  uint32_t scale, scale_per_max; /* of the tensor, and over max */
  uint32_t floor;                /* a smaller amax counts as this one */
  uint32_t nan_code;             /* of the scale */
  uint32_t wider; /* of TWO_LEVEL: the bias of its scales above that of e4m3, << 23 */
} mpnum_block_rule_;

#include "../../simd/detail/operations.inc"
#define MPNUM_ISA_HERE_ 0
#include "../../simd/detail/isa_begin.inc"
#include "blockscale.inc"

MPNUM_C_END_
#endif

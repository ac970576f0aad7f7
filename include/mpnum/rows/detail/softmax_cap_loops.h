/* SPDX-License-Identifier: MIT */
/* What softmax_cap.h is made of: tanh of floats, and its derivative. */
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

#endif
MPNUM_C_END_
#endif

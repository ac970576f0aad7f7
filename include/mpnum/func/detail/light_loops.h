/* SPDX-License-Identifier: MIT */
/* The loops behind light.h. */
#ifndef MPNUM_FUNC_DETAIL_LIGHT_LOOPS_H
#define MPNUM_FUNC_DETAIL_LIGHT_LOOPS_H

#include "func_loops.h"
#include "light_scalars.h"
MPNUM_C_BEGIN_
#if MPNUM_HAS_ARRAYS_

# define MPNUM_EACH_ISA_ "../../func/detail/light_loops.inc"
# include "../../simd/detail/each_isa.inc"

# define MPNUM_ROW_(name) mpnum_light_##name##_flushes_ = 1,
enum { MPNUM_LIGHT_ROWS_(MPNUM_ROW_) mpnum_light_rows_ };
# undef MPNUM_ROW_

#endif
MPNUM_C_END_
#endif

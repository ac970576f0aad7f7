/* SPDX-License-Identifier: MIT */
/* The scalar functions behind light.h. */
#ifndef MPNUM_FUNC_DETAIL_LIGHT_SCALARS_H
#define MPNUM_FUNC_DETAIL_LIGHT_SCALARS_H

#include "func_small.h"

#include "../../simd/detail/operations.inc"
MPNUM_C_BEGIN_
#if MPNUM_ASKS_FMA_
# define MPNUM_ISA_HERE_ 6
# include "../../simd/detail/isa_begin.inc"
# include "light.inc"
# define MPNUM_ISA_HERE_ 7
# include "../../simd/detail/isa_begin.inc"
# include "light.inc"
/* Each with the instruction where the CPU has it. */
# define MPNUM_ROW_(name)                                                       \
  MPNUM_HOST_COLD_ float mpnum_light_##name##_slowly_(float x) {                \
   return mpnum_light_##name##_emulated_(x);                                    \
  }                                                                             \
  MPNUM_REAL_ float mpnum_light_##name##_scalar_(float x) {                     \
   return mpnum_cpu_isa_() >= MPNUM_ISA_AVX2 ? mpnum_light_##name##_fused_(x)   \
                                             : mpnum_light_##name##_slowly_(x); \
  }
MPNUM_LIGHT_ROWS_(MPNUM_ROW_)
# undef MPNUM_ROW_
#else
# define MPNUM_ISA_HERE_ 0
# include "../../simd/detail/isa_begin.inc"
# include "light.inc"
#endif
MPNUM_C_END_
#endif

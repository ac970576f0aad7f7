/* SPDX-License-Identifier: MIT */
/* Conversions of AMD's GPUs: FP8 of gfx942, gfx950 and gfx1200; f16, and bf16 and scaled
 * ones of gfx950. */
#ifndef MPNUM_HARDWARE_DETAIL_INSTRUCTION_AMD_H
#define MPNUM_HARDWARE_DETAIL_INSTRUCTION_AMD_H

#include "instruction_rows.h"
MPNUM_C_BEGIN_

#define MPNUM_OPTION_OVFL_                 MPNUM_SAT_BY_MODE_
#define MPNUM_OPTION_SCALEF32_             MPNUM_SCALE_F32_
#define MPNUM_OPTION_OVFL_SCALEF32_        (MPNUM_SAT_BY_MODE_ | MPNUM_SCALE_F32_)
#define MPNUM_OPTION_INTERLEAVED_SCALEF32_ (MPNUM_IS_INTERLEAVED_ | MPNUM_SCALE_F32_)

/* ROW as in instruction_rows.h. */
#define MPNUM_AMD_INSTRUCTIONS_(ROW)                                                     \
 ROW("v_cvt_f16_f32", F32, F16, 1, 32, 16, MODE_, OPEN, OVFL)                            \
 ROW("v_cvt_f32_f16", F16, F32, 1, 16, 32, NEAREST_EVEN, OPEN, PLAIN)                    \
 ROW("v_cvt_pkrtz_f16_f32", F32, F16, 2, 32, 16, TOWARD_ZERO, OPEN, OVFL)                \
 ROW("v_cvt_pk_f16_f32", F32, F16, 2, 32, 16, NEAREST_EVEN, OPEN, OVFL)                  \
 ROW("v_cvt_pk_bf16_f32", F32, BF16, 2, 32, 16, NEAREST_EVEN, OPEN, PLAIN)               \
 ROW("v_cvt_f32_bf16", BF16, F32, 1, 16, 32, NEAREST_EVEN, KEPT, PLAIN)                  \
 ROW("v_cvt_sr_f16_f32", F32, F16, 1, 32, 16, STOCHASTIC, OPEN, OVFL)                    \
 ROW("v_cvt_sr_bf16_f32", F32, BF16, 1, 32, 16, STOCHASTIC, OPEN, PLAIN)                 \
 ROW("v_cvt_pk_fp8_f32 gfx942", F32, E4M3FNUZ, 2, 32, 8, NEAREST_EVEN, OWN, OVFL)        \
 ROW("v_cvt_sr_fp8_f32 gfx942", F32, E4M3FNUZ, 1, 32, 8, STOCHASTIC, OWN, OVFL)          \
 ROW("v_cvt_f32_fp8 gfx942", E4M3FNUZ, F32, 1, 8, 32, NEAREST_EVEN, MINUS, PLAIN)        \
 ROW("v_cvt_pk_f32_fp8 gfx942", E4M3FNUZ, F32, 2, 8, 32, NEAREST_EVEN, MINUS, PLAIN)     \
 ROW("v_cvt_pk_bf8_f32 gfx942", F32, E5M2FNUZ, 2, 32, 8, NEAREST_EVEN, OWN, OVFL)        \
 ROW("v_cvt_sr_bf8_f32 gfx942", F32, E5M2FNUZ, 1, 32, 8, STOCHASTIC, OWN, OVFL)          \
 ROW("v_cvt_f32_bf8 gfx942", E5M2FNUZ, F32, 1, 8, 32, NEAREST_EVEN, MINUS, PLAIN)        \
 ROW("v_cvt_pk_f32_bf8 gfx942", E5M2FNUZ, F32, 2, 8, 32, NEAREST_EVEN, MINUS, PLAIN)     \
 ROW("v_cvt_pk_fp8_f32 gfx950", F32, E4M3, 2, 32, 8, NEAREST_EVEN, MINUS, OVFL)          \
 ROW("v_cvt_sr_fp8_f32 gfx950", F32, E4M3, 1, 32, 8, STOCHASTIC, MINUS, OVFL)            \
 ROW("v_cvt_f32_fp8 gfx950", E4M3, F32, 1, 8, 32, NEAREST_EVEN, MINUS, PLAIN)            \
 ROW("v_cvt_pk_f32_fp8 gfx950", E4M3, F32, 2, 8, 32, NEAREST_EVEN, MINUS, PLAIN)         \
 ROW("v_cvt_pk_bf8_f32 gfx950", F32, E5M2, 2, 32, 8, NEAREST_EVEN, MINUS, OVFL)          \
 ROW("v_cvt_sr_bf8_f32 gfx950", F32, E5M2, 1, 32, 8, STOCHASTIC, MINUS, OVFL)            \
 ROW("v_cvt_f32_bf8 gfx950", E5M2, F32, 1, 8, 32, NEAREST_EVEN, MINUS, PLAIN)            \
 ROW("v_cvt_pk_f32_bf8 gfx950", E5M2, F32, 2, 8, 32, NEAREST_EVEN, MINUS, PLAIN)         \
 ROW("v_cvt_pk_fp8_f32 gfx1200", F32, E4M3, 2, 32, 8, NEAREST_EVEN, MINUS, OVFL)         \
 ROW("v_cvt_sr_fp8_f32 gfx1200", F32, E4M3, 1, 32, 8, STOCHASTIC, MINUS, OVFL)           \
 ROW("v_cvt_f32_fp8 gfx1200", E4M3, F32, 1, 8, 32, NEAREST_EVEN, MINUS, PLAIN)           \
 ROW("v_cvt_pk_f32_fp8 gfx1200", E4M3, F32, 2, 8, 32, NEAREST_EVEN, MINUS, PLAIN)        \
 ROW("v_cvt_pk_bf8_f32 gfx1200", F32, E5M2, 2, 32, 8, NEAREST_EVEN, MINUS, OVFL)         \
 ROW("v_cvt_sr_bf8_f32 gfx1200", F32, E5M2, 1, 32, 8, STOCHASTIC, MINUS, OVFL)           \
 ROW("v_cvt_f32_bf8 gfx1200", E5M2, F32, 1, 8, 32, NEAREST_EVEN, MINUS, PLAIN)           \
 ROW("v_cvt_pk_f32_bf8 gfx1200", E5M2, F32, 2, 8, 32, NEAREST_EVEN, MINUS, PLAIN)        \
 ROW("v_cvt_scalef32_pk_fp8_f32", F32, E4M3, 2, 32, 8, NEAREST_EVEN, MINUS,              \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_sr_fp8_f32", F32, E4M3, 1, 32, 8, STOCHASTIC, MINUS, OVFL_SCALEF32) \
 ROW("v_cvt_scalef32_pk_f32_fp8", E4M3, F32, 2, 8, 32, NEAREST_EVEN, MINUS, SCALEF32)    \
 ROW("v_cvt_scalef32_pk_fp8_f16", F16, E4M3, 2, 16, 8, NEAREST_EVEN, MINUS,              \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_sr_fp8_f16", F16, E4M3, 1, 16, 8, STOCHASTIC, MINUS, OVFL_SCALEF32) \
 ROW("v_cvt_scalef32_pk_f16_fp8", E4M3, F16, 2, 8, 16, NEAREST_EVEN, MINUS,              \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_pk_fp8_bf16", BF16, E4M3, 2, 16, 8, NEAREST_EVEN, MINUS,            \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_sr_fp8_bf16", BF16, E4M3, 1, 16, 8, STOCHASTIC, MINUS,              \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_pk_bf16_fp8", E4M3, BF16, 2, 8, 16, NEAREST_EVEN, MINUS, SCALEF32)  \
 ROW("v_cvt_scalef32_f32_fp8", E4M3, F32, 1, 8, 32, NEAREST_EVEN, MINUS, SCALEF32)       \
 ROW("v_cvt_scalef32_f16_fp8", E4M3, F16, 1, 8, 16, NEAREST_EVEN, MINUS, OVFL_SCALEF32)  \
 ROW("v_cvt_scalef32_pk_bf8_f32", F32, E5M2, 2, 32, 8, NEAREST_EVEN, MINUS,              \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_sr_bf8_f32", F32, E5M2, 1, 32, 8, STOCHASTIC, MINUS, OVFL_SCALEF32) \
 ROW("v_cvt_scalef32_pk_f32_bf8", E5M2, F32, 2, 8, 32, NEAREST_EVEN, MINUS, SCALEF32)    \
 ROW("v_cvt_scalef32_pk_bf8_f16", F16, E5M2, 2, 16, 8, NEAREST_EVEN, MINUS,              \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_sr_bf8_f16", F16, E5M2, 1, 16, 8, STOCHASTIC, MINUS, OVFL_SCALEF32) \
 ROW("v_cvt_scalef32_pk_f16_bf8", E5M2, F16, 2, 8, 16, NEAREST_EVEN, MINUS,              \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_pk_bf8_bf16", BF16, E5M2, 2, 16, 8, NEAREST_EVEN, MINUS,            \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_sr_bf8_bf16", BF16, E5M2, 1, 16, 8, STOCHASTIC, MINUS,              \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_pk_bf16_bf8", E5M2, BF16, 2, 8, 16, NEAREST_EVEN, MINUS, SCALEF32)  \
 ROW("v_cvt_scalef32_f32_bf8", E5M2, F32, 1, 8, 32, NEAREST_EVEN, MINUS, SCALEF32)       \
 ROW("v_cvt_scalef32_f16_bf8", E5M2, F16, 1, 8, 16, NEAREST_EVEN, MINUS, OVFL_SCALEF32)  \
 ROW("v_cvt_scalef32_pk_fp4_f32", F32, E2M1, 2, 32, 4, NEAREST_EVEN, OPEN, SCALEF32)     \
 ROW("v_cvt_scalef32_sr_pk_fp4_f32", F32, E2M1, 2, 32, 4, STOCHASTIC, OPEN, SCALEF32)    \
 ROW("v_cvt_scalef32_pk_f32_fp4", E2M1, F32, 2, 4, 32, NEAREST_EVEN, OPEN, SCALEF32)     \
 ROW("v_cvt_scalef32_pk_fp4_f16", F16, E2M1, 2, 16, 4, NEAREST_EVEN, OPEN, SCALEF32)     \
 ROW("v_cvt_scalef32_sr_pk_fp4_f16", F16, E2M1, 2, 16, 4, STOCHASTIC, OPEN, SCALEF32)    \
 ROW("v_cvt_scalef32_pk_f16_fp4", E2M1, F16, 2, 4, 16, NEAREST_EVEN, OPEN,               \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_pk_fp4_bf16", BF16, E2M1, 2, 16, 4, NEAREST_EVEN, OPEN, SCALEF32)   \
 ROW("v_cvt_scalef32_sr_pk_fp4_bf16", BF16, E2M1, 2, 16, 4, STOCHASTIC, OPEN, SCALEF32)  \
 ROW("v_cvt_scalef32_pk_bf16_fp4", E2M1, BF16, 2, 4, 16, NEAREST_EVEN, OPEN, SCALEF32)   \
 ROW("v_cvt_scalef32_2xpk16_fp6_f32", F32, E2M3, 32, 32, 6, NEAREST_EVEN, OPEN,          \
     INTERLEAVED_SCALEF32)                                                               \
 ROW("v_cvt_scalef32_sr_pk32_fp6_f32", F32, E2M3, 32, 32, 6, STOCHASTIC, OPEN, SCALEF32) \
 ROW("v_cvt_scalef32_pk32_f32_fp6", E2M3, F32, 32, 6, 32, NEAREST_EVEN, OPEN, SCALEF32)  \
 ROW("v_cvt_scalef32_pk32_fp6_f16", F16, E2M3, 32, 16, 6, NEAREST_EVEN, OPEN, SCALEF32)  \
 ROW("v_cvt_scalef32_sr_pk32_fp6_f16", F16, E2M3, 32, 16, 6, STOCHASTIC, OPEN, SCALEF32) \
 ROW("v_cvt_scalef32_pk32_f16_fp6", E2M3, F16, 32, 6, 16, NEAREST_EVEN, OPEN,            \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_pk32_fp6_bf16", BF16, E2M3, 32, 16, 6, NEAREST_EVEN, OPEN,          \
     SCALEF32)                                                                           \
 ROW("v_cvt_scalef32_sr_pk32_fp6_bf16", BF16, E2M3, 32, 16, 6, STOCHASTIC, OPEN,         \
     SCALEF32)                                                                           \
 ROW("v_cvt_scalef32_pk32_bf16_fp6", E2M3, BF16, 32, 6, 16, NEAREST_EVEN, OPEN,          \
     SCALEF32)                                                                           \
 ROW("v_cvt_scalef32_2xpk16_bf6_f32", F32, E3M2, 32, 32, 6, NEAREST_EVEN, OPEN,          \
     INTERLEAVED_SCALEF32)                                                               \
 ROW("v_cvt_scalef32_sr_pk32_bf6_f32", F32, E3M2, 32, 32, 6, STOCHASTIC, OPEN, SCALEF32) \
 ROW("v_cvt_scalef32_pk32_f32_bf6", E3M2, F32, 32, 6, 32, NEAREST_EVEN, OPEN, SCALEF32)  \
 ROW("v_cvt_scalef32_pk32_bf6_f16", F16, E3M2, 32, 16, 6, NEAREST_EVEN, OPEN, SCALEF32)  \
 ROW("v_cvt_scalef32_sr_pk32_bf6_f16", F16, E3M2, 32, 16, 6, STOCHASTIC, OPEN, SCALEF32) \
 ROW("v_cvt_scalef32_pk32_f16_bf6", E3M2, F16, 32, 6, 16, NEAREST_EVEN, OPEN,            \
     OVFL_SCALEF32)                                                                      \
 ROW("v_cvt_scalef32_pk32_bf6_bf16", BF16, E3M2, 32, 16, 6, NEAREST_EVEN, OPEN,          \
     SCALEF32)                                                                           \
 ROW("v_cvt_scalef32_sr_pk32_bf6_bf16", BF16, E3M2, 32, 16, 6, STOCHASTIC, OPEN,         \
     SCALEF32)                                                                           \
 ROW("v_cvt_scalef32_pk32_bf16_bf6", E3M2, BF16, 32, 6, 16, NEAREST_EVEN, OPEN, SCALEF32)

MPNUM_C_END_
#endif

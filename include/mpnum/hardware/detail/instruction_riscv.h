/* SPDX-License-Identifier: MIT */
/* Conversions of RISC-V: Zfh, Zfbfmin, and the vectors of Zvfh, Zvfbfmin, Zvfofp8min. */
#ifndef MPNUM_HARDWARE_DETAIL_INSTRUCTION_RISCV_H
#define MPNUM_HARDWARE_DETAIL_INSTRUCTION_RISCV_H

#include "instruction_rows.h"
MPNUM_C_BEGIN_

#define MPNUM_OPTION_NAN_OF_INF_ MPNUM_NAN_OF_INF_

/* ROW as in instruction_rows.h. */
#define MPNUM_RISCV_INSTRUCTIONS_(ROW)                                         \
 ROW("fcvt.h.s", F32, F16, 1, 32, 16, FRM_, QUIET, PLAIN)                      \
 ROW("fcvt.h.d", F64, F16, 1, 64, 16, FRM_, QUIET, PLAIN)                      \
 ROW("fcvt.bf16.s", F32, BF16, 1, 32, 16, FRM_, QUIET, PLAIN)                  \
 ROW("fcvt.s.h", F16, F32, 1, 16, 32, NEAREST_EVEN, QUIET, PLAIN)              \
 ROW("fcvt.d.h", F16, F64, 1, 16, 64, NEAREST_EVEN, QUIET, PLAIN)              \
 ROW("fcvt.s.bf16", BF16, F32, 1, 16, 32, NEAREST_EVEN, QUIET, PLAIN)          \
 ROW("vfncvt.f.f.w e16", F32, F16, 1, 32, 16, FRM_, QUIET, PLAIN)              \
 ROW("vfncvt.rod.f.f.w e16", F32, F16, 1, 32, 16, TO_ODD, QUIET, PLAIN)        \
 ROW("vfwcvt.f.f.v e16", F16, F32, 1, 16, 32, NEAREST_EVEN, QUIET, PLAIN)      \
 ROW("vfncvtbf16.f.f.w e16", F32, BF16, 1, 32, 16, FRM_, QUIET, PLAIN)         \
 ROW("vfwcvtbf16.f.f.v e16", BF16, F32, 1, 16, 32, NEAREST_EVEN, QUIET, PLAIN) \
 ROW("vfncvtbf16.f.f.w e8", BF16, E4M3, 1, 16, 8, FRM_, OWN, NAN_OF_INF)       \
 ROW("vfncvtbf16.sat.f.f.w e8", BF16, E4M3, 1, 16, 8, FRM_, OWN, SAT)          \
 ROW("vfncvt.f.f.q e8", F32, E4M3, 1, 32, 8, FRM_, OWN, NAN_OF_INF)            \
 ROW("vfncvt.sat.f.f.q e8", F32, E4M3, 1, 32, 8, FRM_, OWN, SAT)               \
 ROW("vfwcvtbf16.f.f.v e8", E4M3, BF16, 1, 8, 16, NEAREST_EVEN, QUIET, PLAIN)  \
 ROW("vfncvtbf16.f.f.w e8alt", BF16, E5M2, 1, 16, 8, FRM_, OWN, NAN_OF_INF)    \
 ROW("vfncvtbf16.sat.f.f.w e8alt", BF16, E5M2, 1, 16, 8, FRM_, OWN, SAT)       \
 ROW("vfncvt.f.f.q e8alt", F32, E5M2, 1, 32, 8, FRM_, OWN, NAN_OF_INF)         \
 ROW("vfncvt.sat.f.f.q e8alt", F32, E5M2, 1, 32, 8, FRM_, OWN, SAT)            \
 ROW("vfwcvtbf16.f.f.v e8alt", E5M2, BF16, 1, 8, 16, NEAREST_EVEN, QUIET, PLAIN)

MPNUM_C_END_
#endif

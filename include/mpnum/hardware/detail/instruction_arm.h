/* SPDX-License-Identifier: MIT */
/* Conversions of Arm: f16, bf16, and FP8 under FPMR. */
#ifndef MPNUM_HARDWARE_DETAIL_INSTRUCTION_ARM_H
#define MPNUM_HARDWARE_DETAIL_INSTRUCTION_ARM_H

#include "instruction_rows.h"
MPNUM_C_BEGIN_

#define MPNUM_OPTION_FZ_            MPNUM_FLUSH_BY_FPCR_
#define MPNUM_OPTION_NARROWS_       (MPNUM_SCALE_FPMR_ | MPNUM_SAT_BY_FPMR_)
#define MPNUM_OPTION_WIDENS_        (MPNUM_SCALE_FPMR_ | MPNUM_IS_WIDENING_)
#define MPNUM_OPTION_WIDENS_SECOND_ (MPNUM_OPTION_WIDENS_ | MPNUM_IS_SECOND_)

/* ROW as in instruction_rows.h; a type that FPMR names stands as E5M2. */
#define MPNUM_ARM_INSTRUCTIONS_(ROW)                                                   \
 ROW("fcvt hd, sn", F32, F16, 1, 32, 16, FPCR_, PAYLOAD, FZ)                           \
 ROW("fcvt hd, dn", F64, F16, 1, 64, 16, FPCR_, PAYLOAD, FZ)                           \
 ROW("fcvt sd, dn", F64, F32, 1, 64, 32, FPCR_, PAYLOAD, FZ)                           \
 ROW("fcvt sd, hn", F16, F32, 1, 16, 32, NEAREST_EVEN, PAYLOAD, FZ)                    \
 ROW("fcvt dd, hn", F16, F64, 1, 16, 64, NEAREST_EVEN, PAYLOAD, FZ)                    \
 ROW("fcvt dd, sn", F32, F64, 1, 32, 64, NEAREST_EVEN, PAYLOAD, FZ)                    \
 ROW("fcvtxn sd, dn", F64, F32, 1, 64, 32, TO_ODD, PAYLOAD, FZ)                        \
 ROW("bfcvt hd, sn", F32, BF16, 1, 32, 16, FPCR_, PAYLOAD, FZ)                         \
 ROW("bfcvtn vd.4h, vn.4s", F32, BF16, 1, 32, 16, FPCR_, PAYLOAD, FZ)                  \
 ROW("fcvtn vd.8b, vn.4h, vm.4h", F16, E5M2, 2, 32, 8, NEAREST_EVEN, QUIET, NARROWS)   \
 ROW("fcvtn vd.8b, vn.4s, vm.4s", F32, E5M2, 2, 32, 8, NEAREST_EVEN, QUIET, NARROWS)   \
 ROW("fcvtn zd.b, {zn1.h-zn2.h}", F16, E5M2, 2, 32, 8, NEAREST_EVEN, QUIET, NARROWS)   \
 ROW("bfcvtn zd.b, {zn1.h-zn2.h}", BF16, E5M2, 2, 32, 8, NEAREST_EVEN, QUIET, NARROWS) \
 ROW("f1cvtl vd.8h, vn.8b", E5M2, F16, 1, 8, 16, NEAREST_EVEN, QUIET, WIDENS)          \
 ROW("bf1cvtl vd.8h, vn.8b", E5M2, BF16, 1, 8, 16, NEAREST_EVEN, QUIET, WIDENS)        \
 ROW("f1cvt zd.h, zn.b", E5M2, F16, 1, 8, 16, NEAREST_EVEN, QUIET, WIDENS)             \
 ROW("bf1cvt zd.h, zn.b", E5M2, BF16, 1, 8, 16, NEAREST_EVEN, QUIET, WIDENS)           \
 ROW("f2cvtl vd.8h, vn.8b", E5M2, F16, 1, 8, 16, NEAREST_EVEN, QUIET, WIDENS_SECOND)   \
 ROW("bf2cvtl vd.8h, vn.8b", E5M2, BF16, 1, 8, 16, NEAREST_EVEN, QUIET, WIDENS_SECOND) \
 ROW("f2cvt zd.h, zn.b", E5M2, F16, 1, 8, 16, NEAREST_EVEN, QUIET, WIDENS_SECOND)      \
 ROW("bf2cvt zd.h, zn.b", E5M2, BF16, 1, 8, 16, NEAREST_EVEN, QUIET, WIDENS_SECOND)

MPNUM_C_END_
#endif

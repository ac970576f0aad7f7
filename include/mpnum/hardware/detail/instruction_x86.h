/* SPDX-License-Identifier: MIT */
/* Conversions of x86: F16C, AVX512-FP16, AVX512-BF16, AVX10.2. */
#ifndef MPNUM_HARDWARE_DETAIL_INSTRUCTION_X86_H
#define MPNUM_HARDWARE_DETAIL_INSTRUCTION_X86_H

#include "instruction_rows.h"
MPNUM_C_BEGIN_

#define MPNUM_OPTION_DAZ_      MPNUM_FLUSH_BY_MXCSR_
#define MPNUM_OPTION_BIAS_     MPNUM_IS_BIASED_
#define MPNUM_OPTION_SAT_BIAS_ (MPNUM_IS_SAT_ | MPNUM_IS_BIASED_)

/* ROW as in instruction_rows.h. */
#define MPNUM_X86_INSTRUCTIONS_(ROW)                                         \
 ROW("vcvtps2ph", F32, F16, 1, 32, 16, IMM8_, PAYLOAD, DAZ)                  \
 ROW("vcvtph2ps", F16, F32, 1, 16, 32, NEAREST_EVEN, PAYLOAD, PLAIN)         \
 ROW("vcvtps2phx", F32, F16, 1, 32, 16, MXCSR_, PAYLOAD, DAZ)                \
 ROW("vcvtss2sh", F32, F16, 1, 32, 16, MXCSR_, PAYLOAD, DAZ)                 \
 ROW("vcvt2ps2phx", F32, F16, 2, 32, 16, MXCSR_, PAYLOAD, DAZ)               \
 ROW("vcvtpd2ph", F64, F16, 1, 64, 16, MXCSR_, PAYLOAD, DAZ)                 \
 ROW("vcvtsd2sh", F64, F16, 1, 64, 16, MXCSR_, PAYLOAD, DAZ)                 \
 ROW("vcvtph2psx", F16, F32, 1, 16, 32, NEAREST_EVEN, PAYLOAD, PLAIN)        \
 ROW("vcvtsh2ss", F16, F32, 1, 16, 32, NEAREST_EVEN, PAYLOAD, PLAIN)         \
 ROW("vcvtph2pd", F16, F64, 1, 16, 64, NEAREST_EVEN, PAYLOAD, PLAIN)         \
 ROW("vcvtsh2sd", F16, F64, 1, 16, 64, NEAREST_EVEN, PAYLOAD, PLAIN)         \
 ROW("vcvtneps2bf16", F32, BF16, 1, 32, 16, NEAREST_EVEN, PAYLOAD, FLUSHES)  \
 ROW("vcvtne2ps2bf16", F32, BF16, 2, 32, 16, NEAREST_EVEN, PAYLOAD, FLUSHES) \
 ROW("vcvtph2bf8", F16, E5M2, 1, 16, 8, NEAREST_EVEN, PAYLOAD, PLAIN)        \
 ROW("vcvt2ph2bf8", F16, E5M2, 2, 32, 8, NEAREST_EVEN, PAYLOAD, PLAIN)       \
 ROW("vcvtbiasph2bf8", F16, E5M2, 1, 16, 8, STOCHASTIC, PAYLOAD, BIAS)       \
 ROW("vcvtph2bf8s", F16, E5M2, 1, 16, 8, NEAREST_EVEN, PAYLOAD, SAT)         \
 ROW("vcvt2ph2bf8s", F16, E5M2, 2, 32, 8, NEAREST_EVEN, PAYLOAD, SAT)        \
 ROW("vcvtbiasph2bf8s", F16, E5M2, 1, 16, 8, STOCHASTIC, PAYLOAD, SAT_BIAS)  \
 ROW("vcvtph2hf8", F16, E4M3, 1, 16, 8, NEAREST_EVEN, SIGN, PLAIN)           \
 ROW("vcvt2ph2hf8", F16, E4M3, 2, 32, 8, NEAREST_EVEN, SIGN, PLAIN)          \
 ROW("vcvtbiasph2hf8", F16, E4M3, 1, 16, 8, STOCHASTIC, SIGN, BIAS)          \
 ROW("vcvtph2hf8s", F16, E4M3, 1, 16, 8, NEAREST_EVEN, SIGN, SAT)            \
 ROW("vcvt2ph2hf8s", F16, E4M3, 2, 32, 8, NEAREST_EVEN, SIGN, SAT)           \
 ROW("vcvtbiasph2hf8s", F16, E4M3, 1, 16, 8, STOCHASTIC, SIGN, SAT_BIAS)     \
 ROW("vcvthf82ph", E4M3, F16, 1, 8, 16, NEAREST_EVEN, HF8, PLAIN)

MPNUM_C_END_
#endif

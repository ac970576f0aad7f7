/* SPDX-License-Identifier: MIT */
/* cvt of the PTX ISA. */
#ifndef MPNUM_HARDWARE_DETAIL_INSTRUCTION_PTX_H
#define MPNUM_HARDWARE_DETAIL_INSTRUCTION_PTX_H

#include "instruction_rows.h"
MPNUM_C_BEGIN_

/* ROW(name, source, target, elements, bits from element to element in the source and in
 * the result, rounding, NaN, options). */
#define MPNUM_PTX_INSTRUCTIONS_(ROW)                                                     \
 ROW("cvt.rn.f16.f32", F32, F16, 1, 32, 16, NEAREST_EVEN, OWN, PLAIN)                    \
 ROW("cvt.rn.relu.f16.f32", F32, F16, 1, 32, 16, NEAREST_EVEN, OWN, RELU)                \
 ROW("cvt.rn.satfinite.f16.f32", F32, F16, 1, 32, 16, NEAREST_EVEN, OWN, SAT)            \
 ROW("cvt.rn.relu.satfinite.f16.f32", F32, F16, 1, 32, 16, NEAREST_EVEN, OWN, RELU_SAT)  \
 ROW("cvt.rz.f16.f32", F32, F16, 1, 32, 16, TOWARD_ZERO, OWN, PLAIN)                     \
 ROW("cvt.rz.relu.f16.f32", F32, F16, 1, 32, 16, TOWARD_ZERO, OWN, RELU)                 \
 ROW("cvt.rz.satfinite.f16.f32", F32, F16, 1, 32, 16, TOWARD_ZERO, OWN, SAT)             \
 ROW("cvt.rz.relu.satfinite.f16.f32", F32, F16, 1, 32, 16, TOWARD_ZERO, OWN, RELU_SAT)   \
 ROW("cvt.rn.f16x2.f32", F32, F16, 2, 32, 16, NEAREST_EVEN, OWN, PLAIN)                  \
 ROW("cvt.rn.relu.f16x2.f32", F32, F16, 2, 32, 16, NEAREST_EVEN, OWN, RELU)              \
 ROW("cvt.rn.satfinite.f16x2.f32", F32, F16, 2, 32, 16, NEAREST_EVEN, OWN, SAT)          \
 ROW("cvt.rn.relu.satfinite.f16x2.f32", F32, F16, 2, 32, 16, NEAREST_EVEN, OWN,          \
     RELU_SAT)                                                                           \
 ROW("cvt.rz.f16x2.f32", F32, F16, 2, 32, 16, TOWARD_ZERO, OWN, PLAIN)                   \
 ROW("cvt.rz.relu.f16x2.f32", F32, F16, 2, 32, 16, TOWARD_ZERO, OWN, RELU)               \
 ROW("cvt.rz.satfinite.f16x2.f32", F32, F16, 2, 32, 16, TOWARD_ZERO, OWN, SAT)           \
 ROW("cvt.rz.relu.satfinite.f16x2.f32", F32, F16, 2, 32, 16, TOWARD_ZERO, OWN, RELU_SAT) \
 ROW("cvt.rs.f16x2.f32", F32, F16, 2, 32, 16, STOCHASTIC, OWN, PLAIN)                    \
 ROW("cvt.rs.relu.f16x2.f32", F32, F16, 2, 32, 16, STOCHASTIC, OWN, RELU)                \
 ROW("cvt.rs.satfinite.f16x2.f32", F32, F16, 2, 32, 16, STOCHASTIC, OWN, SAT)            \
 ROW("cvt.rs.relu.satfinite.f16x2.f32", F32, F16, 2, 32, 16, STOCHASTIC, OWN, RELU_SAT)  \
 ROW("cvt.rm.f16.f32", F32, F16, 1, 32, 16, DOWN, OWN, PLAIN)                            \
 ROW("cvt.rp.f16.f32", F32, F16, 1, 32, 16, UP, OWN, PLAIN)                              \
 ROW("cvt.rn.bf16.f32", F32, BF16, 1, 32, 16, NEAREST_EVEN, OWN, PLAIN)                  \
 ROW("cvt.rn.relu.bf16.f32", F32, BF16, 1, 32, 16, NEAREST_EVEN, OWN, RELU)              \
 ROW("cvt.rn.satfinite.bf16.f32", F32, BF16, 1, 32, 16, NEAREST_EVEN, OWN, SAT)          \
 ROW("cvt.rn.relu.satfinite.bf16.f32", F32, BF16, 1, 32, 16, NEAREST_EVEN, OWN,          \
     RELU_SAT)                                                                           \
 ROW("cvt.rz.bf16.f32", F32, BF16, 1, 32, 16, TOWARD_ZERO, OWN, PLAIN)                   \
 ROW("cvt.rz.relu.bf16.f32", F32, BF16, 1, 32, 16, TOWARD_ZERO, OWN, RELU)               \
 ROW("cvt.rz.satfinite.bf16.f32", F32, BF16, 1, 32, 16, TOWARD_ZERO, OWN, SAT)           \
 ROW("cvt.rz.relu.satfinite.bf16.f32", F32, BF16, 1, 32, 16, TOWARD_ZERO, OWN, RELU_SAT) \
 ROW("cvt.rn.bf16x2.f32", F32, BF16, 2, 32, 16, NEAREST_EVEN, OWN, PLAIN)                \
 ROW("cvt.rn.relu.bf16x2.f32", F32, BF16, 2, 32, 16, NEAREST_EVEN, OWN, RELU)            \
 ROW("cvt.rn.satfinite.bf16x2.f32", F32, BF16, 2, 32, 16, NEAREST_EVEN, OWN, SAT)        \
 ROW("cvt.rn.relu.satfinite.bf16x2.f32", F32, BF16, 2, 32, 16, NEAREST_EVEN, OWN,        \
     RELU_SAT)                                                                           \
 ROW("cvt.rz.bf16x2.f32", F32, BF16, 2, 32, 16, TOWARD_ZERO, OWN, PLAIN)                 \
 ROW("cvt.rz.relu.bf16x2.f32", F32, BF16, 2, 32, 16, TOWARD_ZERO, OWN, RELU)             \
 ROW("cvt.rz.satfinite.bf16x2.f32", F32, BF16, 2, 32, 16, TOWARD_ZERO, OWN, SAT)         \
 ROW("cvt.rz.relu.satfinite.bf16x2.f32", F32, BF16, 2, 32, 16, TOWARD_ZERO, OWN,         \
     RELU_SAT)                                                                           \
 ROW("cvt.rs.bf16x2.f32", F32, BF16, 2, 32, 16, STOCHASTIC, OWN, PLAIN)                  \
 ROW("cvt.rs.relu.bf16x2.f32", F32, BF16, 2, 32, 16, STOCHASTIC, OWN, RELU)              \
 ROW("cvt.rs.satfinite.bf16x2.f32", F32, BF16, 2, 32, 16, STOCHASTIC, OWN, SAT)          \
 ROW("cvt.rs.relu.satfinite.bf16x2.f32", F32, BF16, 2, 32, 16, STOCHASTIC, OWN,          \
     RELU_SAT)                                                                           \
 ROW("cvt.rm.bf16.f32", F32, BF16, 1, 32, 16, DOWN, OWN, PLAIN)                          \
 ROW("cvt.rp.bf16.f32", F32, BF16, 1, 32, 16, UP, OWN, PLAIN)                            \
 ROW("cvt.rn.ftz.f16.f32", F32, F16, 1, 32, 16, NEAREST_EVEN, OWN, FLUSHES)              \
 ROW("cvt.rz.ftz.f16.f32", F32, F16, 1, 32, 16, TOWARD_ZERO, OWN, FLUSHES)               \
 ROW("cvt.rm.ftz.f16.f32", F32, F16, 1, 32, 16, DOWN, OWN, FLUSHES)                      \
 ROW("cvt.rp.ftz.f16.f32", F32, F16, 1, 32, 16, UP, OWN, FLUSHES)                        \
 ROW("cvt.rn.f16.f64", F64, F16, 1, 64, 16, NEAREST_EVEN, OPEN, PLAIN)                   \
 ROW("cvt.rz.f16.f64", F64, F16, 1, 64, 16, TOWARD_ZERO, OPEN, PLAIN)                    \
 ROW("cvt.rm.f16.f64", F64, F16, 1, 64, 16, DOWN, OPEN, PLAIN)                           \
 ROW("cvt.rp.f16.f64", F64, F16, 1, 64, 16, UP, OPEN, PLAIN)                             \
 ROW("cvt.rn.bf16.f64", F64, BF16, 1, 64, 16, NEAREST_EVEN, OPEN, PLAIN)                 \
 ROW("cvt.rz.bf16.f64", F64, BF16, 1, 64, 16, TOWARD_ZERO, OPEN, PLAIN)                  \
 ROW("cvt.rm.bf16.f64", F64, BF16, 1, 64, 16, DOWN, OPEN, PLAIN)                         \
 ROW("cvt.rp.bf16.f64", F64, BF16, 1, 64, 16, UP, OPEN, PLAIN)                           \
 ROW("cvt.rn.bf16.f16", F16, BF16, 1, 16, 16, NEAREST_EVEN, OPEN, PLAIN)                 \
 ROW("cvt.rz.bf16.f16", F16, BF16, 1, 16, 16, TOWARD_ZERO, OPEN, PLAIN)                  \
 ROW("cvt.rm.bf16.f16", F16, BF16, 1, 16, 16, DOWN, OPEN, PLAIN)                         \
 ROW("cvt.rp.bf16.f16", F16, BF16, 1, 16, 16, UP, OPEN, PLAIN)                           \
 ROW("cvt.rn.f16.bf16", BF16, F16, 1, 16, 16, NEAREST_EVEN, OPEN, PLAIN)                 \
 ROW("cvt.rz.f16.bf16", BF16, F16, 1, 16, 16, TOWARD_ZERO, OPEN, PLAIN)                  \
 ROW("cvt.rm.f16.bf16", BF16, F16, 1, 16, 16, DOWN, OPEN, PLAIN)                         \
 ROW("cvt.rp.f16.bf16", BF16, F16, 1, 16, 16, UP, OPEN, PLAIN)                           \
 ROW("cvt.rn.f32.f64", F64, F32, 1, 64, 32, NEAREST_EVEN, OPEN, PLAIN)                   \
 ROW("cvt.rz.f32.f64", F64, F32, 1, 64, 32, TOWARD_ZERO, OPEN, PLAIN)                    \
 ROW("cvt.rm.f32.f64", F64, F32, 1, 64, 32, DOWN, OPEN, PLAIN)                           \
 ROW("cvt.rp.f32.f64", F64, F32, 1, 64, 32, UP, OPEN, PLAIN)                             \
 ROW("cvt.f32.f16", F16, F32, 1, 16, 32, NEAREST_EVEN, OWN, PLAIN)                       \
 ROW("cvt.ftz.f32.f16", F16, F32, 1, 16, 32, NEAREST_EVEN, OWN, FLUSHES)                 \
 ROW("cvt.f32.bf16", BF16, F32, 1, 16, 32, NEAREST_EVEN, OPEN, PLAIN)                    \
 ROW("cvt.ftz.f32.bf16", BF16, F32, 1, 16, 32, NEAREST_EVEN, OPEN, FLUSHES)              \
 ROW("cvt.f64.f32", F32, F64, 1, 32, 64, NEAREST_EVEN, OPEN, PLAIN)                      \
 ROW("cvt.ftz.f64.f32", F32, F64, 1, 32, 64, NEAREST_EVEN, OPEN, FLUSHES)                \
 ROW("cvt.f64.f16", F16, F64, 1, 16, 64, NEAREST_EVEN, OPEN, PLAIN)                      \
 ROW("cvt.f64.bf16", BF16, F64, 1, 16, 64, NEAREST_EVEN, OPEN, PLAIN)                    \
 ROW("cvt.rna.tf32.f32", F32, TF32, 1, 32, 32, NEAREST_AWAY, OPEN, PLAIN)                \
 ROW("cvt.rna.satfinite.tf32.f32", F32, TF32, 1, 32, 32, NEAREST_AWAY, OPEN, SAT)        \
 ROW("cvt.rn.tf32.f32", F32, TF32, 1, 32, 32, NEAREST_EVEN, OWN, PLAIN)                  \
 ROW("cvt.rn.satfinite.tf32.f32", F32, TF32, 1, 32, 32, NEAREST_EVEN, OWN, SAT)          \
 ROW("cvt.rn.relu.tf32.f32", F32, TF32, 1, 32, 32, NEAREST_EVEN, OWN, RELU)              \
 ROW("cvt.rn.satfinite.relu.tf32.f32", F32, TF32, 1, 32, 32, NEAREST_EVEN, OWN,          \
     RELU_SAT)                                                                           \
 ROW("cvt.rz.tf32.f32", F32, TF32, 1, 32, 32, TOWARD_ZERO, OWN, PLAIN)                   \
 ROW("cvt.rz.satfinite.tf32.f32", F32, TF32, 1, 32, 32, TOWARD_ZERO, OWN, SAT)           \
 ROW("cvt.rz.relu.tf32.f32", F32, TF32, 1, 32, 32, TOWARD_ZERO, OWN, RELU)               \
 ROW("cvt.rz.satfinite.relu.tf32.f32", F32, TF32, 1, 32, 32, TOWARD_ZERO, OWN, RELU_SAT) \
 ROW("cvt.rn.satfinite.e4m3x2.f32", F32, E4M3, 2, 32, 8, NEAREST_EVEN, OWN, SAT)         \
 ROW("cvt.rn.satfinite.relu.e4m3x2.f32", F32, E4M3, 2, 32, 8, NEAREST_EVEN, OWN,         \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e4m3x2.f16x2", F16, E4M3, 2, 16, 8, NEAREST_EVEN, OWN, SAT)       \
 ROW("cvt.rn.satfinite.relu.e4m3x2.f16x2", F16, E4M3, 2, 16, 8, NEAREST_EVEN, OWN,       \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e4m3x2.bf16x2", BF16, E4M3, 2, 16, 8, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.satfinite.relu.e4m3x2.bf16x2", BF16, E4M3, 2, 16, 8, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rs.satfinite.e4m3x4.f32", F32, E4M3, 4, 32, 8, STOCHASTIC, OWN, SAT)           \
 ROW("cvt.rs.relu.satfinite.e4m3x4.f32", F32, E4M3, 4, 32, 8, STOCHASTIC, OWN, RELU_SAT) \
 ROW("cvt.rn.f16x2.e4m3x2", E4M3, F16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)               \
 ROW("cvt.rn.relu.f16x2.e4m3x2", E4M3, F16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)           \
 ROW("cvt.rn.bf16x2.e4m3x2", E4M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)             \
 ROW("cvt.rn.relu.bf16x2.e4m3x2", E4M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)         \
 ROW("cvt.rn.satfinite.bf16x2.e4m3x2", E4M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.relu.satfinite.bf16x2.e4m3x2", E4M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2", E4M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN,  \
     SCALED)                                                                             \
 ROW("cvt.rn.relu.scaled::n2::ue8m0.bf16x2.e4m3x2", E4M3, BF16, 2, 8, 16, NEAREST_EVEN,  \
     OWN, RELU_SCALED)                                                                   \
 ROW("cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.e4m3x2", E4M3, BF16, 2, 8, 16,           \
     NEAREST_EVEN, OWN, SAT_SCALED)                                                      \
 ROW("cvt.rn.relu.satfinite.scaled::n2::ue8m0.bf16x2.e4m3x2", E4M3, BF16, 2, 8, 16,      \
     NEAREST_EVEN, OWN, RELU_SAT_SCALED)                                                 \
 ROW("cvt.rn.satfinite.e5m2x2.f32", F32, E5M2, 2, 32, 8, NEAREST_EVEN, OWN, SAT)         \
 ROW("cvt.rn.satfinite.relu.e5m2x2.f32", F32, E5M2, 2, 32, 8, NEAREST_EVEN, OWN,         \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e5m2x2.f16x2", F16, E5M2, 2, 16, 8, NEAREST_EVEN, OWN, SAT)       \
 ROW("cvt.rn.satfinite.relu.e5m2x2.f16x2", F16, E5M2, 2, 16, 8, NEAREST_EVEN, OWN,       \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e5m2x2.bf16x2", BF16, E5M2, 2, 16, 8, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.satfinite.relu.e5m2x2.bf16x2", BF16, E5M2, 2, 16, 8, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rs.satfinite.e5m2x4.f32", F32, E5M2, 4, 32, 8, STOCHASTIC, OWN, SAT)           \
 ROW("cvt.rs.relu.satfinite.e5m2x4.f32", F32, E5M2, 4, 32, 8, STOCHASTIC, OWN, RELU_SAT) \
 ROW("cvt.rn.f16x2.e5m2x2", E5M2, F16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)               \
 ROW("cvt.rn.relu.f16x2.e5m2x2", E5M2, F16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)           \
 ROW("cvt.rn.bf16x2.e5m2x2", E5M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)             \
 ROW("cvt.rn.relu.bf16x2.e5m2x2", E5M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)         \
 ROW("cvt.rn.satfinite.bf16x2.e5m2x2", E5M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.relu.satfinite.bf16x2.e5m2x2", E5M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.scaled::n2::ue8m0.bf16x2.e5m2x2", E5M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN,  \
     SCALED)                                                                             \
 ROW("cvt.rn.relu.scaled::n2::ue8m0.bf16x2.e5m2x2", E5M2, BF16, 2, 8, 16, NEAREST_EVEN,  \
     OWN, RELU_SCALED)                                                                   \
 ROW("cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.e5m2x2", E5M2, BF16, 2, 8, 16,           \
     NEAREST_EVEN, OWN, SAT_SCALED)                                                      \
 ROW("cvt.rn.relu.satfinite.scaled::n2::ue8m0.bf16x2.e5m2x2", E5M2, BF16, 2, 8, 16,      \
     NEAREST_EVEN, OWN, RELU_SAT_SCALED)                                                 \
 ROW("cvt.rn.satfinite.e2m3x2.f32", F32, E2M3, 2, 32, 8, NEAREST_EVEN, OWN, SAT)         \
 ROW("cvt.rn.satfinite.relu.e2m3x2.f32", F32, E2M3, 2, 32, 8, NEAREST_EVEN, OWN,         \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e2m3x2.f16x2", F16, E2M3, 2, 16, 8, NEAREST_EVEN, OWN, SAT)       \
 ROW("cvt.rn.satfinite.relu.e2m3x2.f16x2", F16, E2M3, 2, 16, 8, NEAREST_EVEN, OWN,       \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e2m3x2.bf16x2", BF16, E2M3, 2, 16, 8, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.satfinite.relu.e2m3x2.bf16x2", BF16, E2M3, 2, 16, 8, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rs.satfinite.e2m3x4.f32", F32, E2M3, 4, 32, 8, STOCHASTIC, OWN, SAT)           \
 ROW("cvt.rs.relu.satfinite.e2m3x4.f32", F32, E2M3, 4, 32, 8, STOCHASTIC, OWN, RELU_SAT) \
 ROW("cvt.rn.f16x2.e2m3x2", E2M3, F16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)               \
 ROW("cvt.rn.relu.f16x2.e2m3x2", E2M3, F16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)           \
 ROW("cvt.rn.bf16x2.e2m3x2", E2M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)             \
 ROW("cvt.rn.relu.bf16x2.e2m3x2", E2M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)         \
 ROW("cvt.rn.satfinite.bf16x2.e2m3x2", E2M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.relu.satfinite.bf16x2.e2m3x2", E2M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.scaled::n2::ue8m0.bf16x2.e2m3x2", E2M3, BF16, 2, 8, 16, NEAREST_EVEN, OWN,  \
     SCALED)                                                                             \
 ROW("cvt.rn.relu.scaled::n2::ue8m0.bf16x2.e2m3x2", E2M3, BF16, 2, 8, 16, NEAREST_EVEN,  \
     OWN, RELU_SCALED)                                                                   \
 ROW("cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.e2m3x2", E2M3, BF16, 2, 8, 16,           \
     NEAREST_EVEN, OWN, SAT_SCALED)                                                      \
 ROW("cvt.rn.relu.satfinite.scaled::n2::ue8m0.bf16x2.e2m3x2", E2M3, BF16, 2, 8, 16,      \
     NEAREST_EVEN, OWN, RELU_SAT_SCALED)                                                 \
 ROW("cvt.rn.satfinite.e3m2x2.f32", F32, E3M2, 2, 32, 8, NEAREST_EVEN, OWN, SAT)         \
 ROW("cvt.rn.satfinite.relu.e3m2x2.f32", F32, E3M2, 2, 32, 8, NEAREST_EVEN, OWN,         \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e3m2x2.f16x2", F16, E3M2, 2, 16, 8, NEAREST_EVEN, OWN, SAT)       \
 ROW("cvt.rn.satfinite.relu.e3m2x2.f16x2", F16, E3M2, 2, 16, 8, NEAREST_EVEN, OWN,       \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e3m2x2.bf16x2", BF16, E3M2, 2, 16, 8, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.satfinite.relu.e3m2x2.bf16x2", BF16, E3M2, 2, 16, 8, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rs.satfinite.e3m2x4.f32", F32, E3M2, 4, 32, 8, STOCHASTIC, OWN, SAT)           \
 ROW("cvt.rs.relu.satfinite.e3m2x4.f32", F32, E3M2, 4, 32, 8, STOCHASTIC, OWN, RELU_SAT) \
 ROW("cvt.rn.f16x2.e3m2x2", E3M2, F16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)               \
 ROW("cvt.rn.relu.f16x2.e3m2x2", E3M2, F16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)           \
 ROW("cvt.rn.bf16x2.e3m2x2", E3M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)             \
 ROW("cvt.rn.relu.bf16x2.e3m2x2", E3M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)         \
 ROW("cvt.rn.satfinite.bf16x2.e3m2x2", E3M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.relu.satfinite.bf16x2.e3m2x2", E3M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.scaled::n2::ue8m0.bf16x2.e3m2x2", E3M2, BF16, 2, 8, 16, NEAREST_EVEN, OWN,  \
     SCALED)                                                                             \
 ROW("cvt.rn.relu.scaled::n2::ue8m0.bf16x2.e3m2x2", E3M2, BF16, 2, 8, 16, NEAREST_EVEN,  \
     OWN, RELU_SCALED)                                                                   \
 ROW("cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.e3m2x2", E3M2, BF16, 2, 8, 16,           \
     NEAREST_EVEN, OWN, SAT_SCALED)                                                      \
 ROW("cvt.rn.relu.satfinite.scaled::n2::ue8m0.bf16x2.e3m2x2", E3M2, BF16, 2, 8, 16,      \
     NEAREST_EVEN, OWN, RELU_SAT_SCALED)                                                 \
 ROW("cvt.rn.satfinite.e2m1x2.f32", F32, E2M1, 2, 32, 4, NEAREST_EVEN, OWN, SAT)         \
 ROW("cvt.rn.satfinite.relu.e2m1x2.f32", F32, E2M1, 2, 32, 4, NEAREST_EVEN, OWN,         \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e2m1x2.f16x2", F16, E2M1, 2, 16, 4, NEAREST_EVEN, OWN, SAT)       \
 ROW("cvt.rn.satfinite.relu.e2m1x2.f16x2", F16, E2M1, 2, 16, 4, NEAREST_EVEN, OWN,       \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.e2m1x2.bf16x2", BF16, E2M1, 2, 16, 4, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.satfinite.relu.e2m1x2.bf16x2", BF16, E2M1, 2, 16, 4, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rs.satfinite.e2m1x4.f32", F32, E2M1, 4, 32, 4, STOCHASTIC, OWN, SAT)           \
 ROW("cvt.rs.relu.satfinite.e2m1x4.f32", F32, E2M1, 4, 32, 4, STOCHASTIC, OWN, RELU_SAT) \
 ROW("cvt.rn.f16x2.e2m1x2", E2M1, F16, 2, 4, 16, NEAREST_EVEN, OWN, PLAIN)               \
 ROW("cvt.rn.relu.f16x2.e2m1x2", E2M1, F16, 2, 4, 16, NEAREST_EVEN, OWN, RELU)           \
 ROW("cvt.rn.bf16x2.e2m1x2", E2M1, BF16, 2, 4, 16, NEAREST_EVEN, OWN, PLAIN)             \
 ROW("cvt.rn.relu.bf16x2.e2m1x2", E2M1, BF16, 2, 4, 16, NEAREST_EVEN, OWN, RELU)         \
 ROW("cvt.rn.satfinite.bf16x2.e2m1x2", E2M1, BF16, 2, 4, 16, NEAREST_EVEN, OWN, SAT)     \
 ROW("cvt.rn.relu.satfinite.bf16x2.e2m1x2", E2M1, BF16, 2, 4, 16, NEAREST_EVEN, OWN,     \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2", E2M1, BF16, 2, 4, 16, NEAREST_EVEN, OWN,  \
     SCALED)                                                                             \
 ROW("cvt.rn.relu.scaled::n2::ue8m0.bf16x2.e2m1x2", E2M1, BF16, 2, 4, 16, NEAREST_EVEN,  \
     OWN, RELU_SCALED)                                                                   \
 ROW("cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.e2m1x2", E2M1, BF16, 2, 4, 16,           \
     NEAREST_EVEN, OWN, SAT_SCALED)                                                      \
 ROW("cvt.rn.relu.satfinite.scaled::n2::ue8m0.bf16x2.e2m1x2", E2M1, BF16, 2, 4, 16,      \
     NEAREST_EVEN, OWN, RELU_SAT_SCALED)                                                 \
 ROW("cvt.rz.ue8m0x2.f32", F32, E8M0, 2, 32, 8, TOWARD_ZERO, OWN, PLAIN)                 \
 ROW("cvt.rz.satfinite.ue8m0x2.f32", F32, E8M0, 2, 32, 8, TOWARD_ZERO, OWN, SAT)         \
 ROW("cvt.rp.ue8m0x2.f32", F32, E8M0, 2, 32, 8, UP, OWN, PLAIN)                          \
 ROW("cvt.rp.satfinite.ue8m0x2.f32", F32, E8M0, 2, 32, 8, UP, OWN, SAT)                  \
 ROW("cvt.rz.ue8m0x2.bf16x2", BF16, E8M0, 2, 16, 8, TOWARD_ZERO, OWN, PLAIN)             \
 ROW("cvt.rz.satfinite.ue8m0x2.bf16x2", BF16, E8M0, 2, 16, 8, TOWARD_ZERO, OWN, SAT)     \
 ROW("cvt.rp.ue8m0x2.bf16x2", BF16, E8M0, 2, 16, 8, UP, OWN, PLAIN)                      \
 ROW("cvt.rp.satfinite.ue8m0x2.bf16x2", BF16, E8M0, 2, 16, 8, UP, OWN, SAT)              \
 ROW("cvt.rn.bf16x2.ue8m0x2", E8M0, BF16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)            \
 ROW("cvt.rn.satfinite.s2f6x2.f32", F32, S2F6_, 2, 32, 8, NEAREST_EVEN, OWN, SAT)        \
 ROW("cvt.rn.satfinite.relu.s2f6x2.f32", F32, S2F6_, 2, 32, 8, NEAREST_EVEN, OWN,        \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.s2f6x2.bf16x2", BF16, S2F6_, 2, 16, 8, NEAREST_EVEN, OWN, SAT)    \
 ROW("cvt.rn.satfinite.relu.s2f6x2.bf16x2", BF16, S2F6_, 2, 16, 8, NEAREST_EVEN, OWN,    \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.bf16x2.s2f6x2", S2F6_, BF16, 2, 8, 16, NEAREST_EVEN, OWN, PLAIN)            \
 ROW("cvt.rn.satfinite.bf16x2.s2f6x2", S2F6_, BF16, 2, 8, 16, NEAREST_EVEN, OWN, SAT)    \
 ROW("cvt.rn.relu.bf16x2.s2f6x2", S2F6_, BF16, 2, 8, 16, NEAREST_EVEN, OWN, RELU)        \
 ROW("cvt.rn.satfinite.relu.bf16x2.s2f6x2", S2F6_, BF16, 2, 8, 16, NEAREST_EVEN, OWN,    \
     RELU_SAT)                                                                           \
 ROW("cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32", F32, S2F6_, 2, 32, 8,              \
     NEAREST_EVEN, OWN, SAT_SCALED)                                                      \
 ROW("cvt.rn.satfinite.relu.scaled::n2::ue8m0.s2f6x2.f32", F32, S2F6_, 2, 32, 8,         \
     NEAREST_EVEN, OWN, RELU_SAT_SCALED)                                                 \
 ROW("cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.bf16x2", BF16, S2F6_, 2, 16, 8,          \
     NEAREST_EVEN, OWN, SAT_SCALED)                                                      \
 ROW("cvt.rn.satfinite.relu.scaled::n2::ue8m0.s2f6x2.bf16x2", BF16, S2F6_, 2, 16, 8,     \
     NEAREST_EVEN, OWN, RELU_SAT_SCALED)                                                 \
 ROW("cvt.rn.scaled::n2::ue8m0.bf16x2.s2f6x2", S2F6_, BF16, 2, 8, 16, NEAREST_EVEN, OWN, \
     SCALED)                                                                             \
 ROW("cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.s2f6x2", S2F6_, BF16, 2, 8, 16,          \
     NEAREST_EVEN, OWN, SAT_SCALED)                                                      \
 ROW("cvt.rn.relu.scaled::n2::ue8m0.bf16x2.s2f6x2", S2F6_, BF16, 2, 8, 16, NEAREST_EVEN, \
     OWN, RELU_SCALED)                                                                   \
 ROW("cvt.rn.satfinite.relu.scaled::n2::ue8m0.bf16x2.s2f6x2", S2F6_, BF16, 2, 8, 16,     \
     NEAREST_EVEN, OWN, RELU_SAT_SCALED)

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* cvt of the PTX ISA, by the rules of its syntax: the forms that ptxas 13.5 takes. */
#ifndef MPNUM_HARDWARE_DETAIL_INSTRUCTION_PTX_H
#define MPNUM_HARDWARE_DETAIL_INSTRUCTION_PTX_H

#include "instruction_rows.h"
MPNUM_C_BEGIN_

/* A row. After its flags: rounding, NaN, types of source and target, elements, bits from
 * one to the next in source and target. */
#define MPNUM_PTX_(head, tail, flags, ...) \
 {head tail, (flags) | MPNUM_IS_REVERSED_, __VA_ARGS__},

/* Without and with an option. */
#define MPNUM_PTX_FTZ_(head, tail, flags, ...) \
 MPNUM_PTX_(head, tail, flags, __VA_ARGS__)    \
 MPNUM_PTX_(head ".ftz", tail, (flags) | MPNUM_FLUSHES_, __VA_ARGS__)
#define MPNUM_PTX_UNIT_(head, tail, flags, ...) \
 MPNUM_PTX_(head, tail, flags, __VA_ARGS__)     \
 MPNUM_PTX_(head ".sat", tail, (flags) | MPNUM_IS_UNIT_, __VA_ARGS__)
#define MPNUM_PTX_FTZ_UNIT_(head, tail, flags, ...) \
 MPNUM_PTX_UNIT_(head, tail, flags, __VA_ARGS__)    \
 MPNUM_PTX_UNIT_(head ".ftz", tail, (flags) | MPNUM_FLUSHES_, __VA_ARGS__)
#define MPNUM_PTX_RELU_(head, tail, flags, ...) \
 MPNUM_PTX_(head, tail, flags, __VA_ARGS__)     \
 MPNUM_PTX_(head ".relu", tail, (flags) | MPNUM_IS_RELU_, __VA_ARGS__)
#define MPNUM_PTX_FINITE_(head, tail, flags, ...) \
 MPNUM_PTX_(head, tail, flags, __VA_ARGS__)       \
 MPNUM_PTX_(head ".satfinite", tail, (flags) | MPNUM_IS_SAT_, __VA_ARGS__)

/* .relu, .satfinite and both, in the order of the ISA's syntax; these with .pzo, too. */
#define MPNUM_PTX_LIMITED_(head, both, tail, flags, ...)                   \
 MPNUM_PTX_(head ".relu", tail, (flags) | MPNUM_IS_RELU_, __VA_ARGS__)     \
 MPNUM_PTX_(head ".satfinite", tail, (flags) | MPNUM_IS_SAT_, __VA_ARGS__) \
 MPNUM_PTX_(head both, tail, (flags) | MPNUM_IS_RELU_ | MPNUM_IS_SAT_, __VA_ARGS__)
#define MPNUM_PTX_PZO_(head, both, tail, ...)              \
 MPNUM_PTX_LIMITED_(head, both, tail, 0u, __VA_ARGS__)     \
 MPNUM_PTX_(head, ".pzo" tail, MPNUM_IS_PZO_, __VA_ARGS__) \
 MPNUM_PTX_LIMITED_(head, both, ".pzo" tail, MPNUM_IS_PZO_, __VA_ARGS__)

/* A rule with each rounding; with each rounding to integers and none. */
#define MPNUM_PTX_ROUNDED_(RULE, tail, ...)                      \
 RULE("cvt.rn", tail, 0u, MPNUM_ROUND_NEAREST_EVEN, __VA_ARGS__) \
 RULE("cvt.rz", tail, 0u, MPNUM_ROUND_TOWARD_ZERO, __VA_ARGS__)  \
 RULE("cvt.rm", tail, 0u, MPNUM_ROUND_DOWN, __VA_ARGS__)         \
 RULE("cvt.rp", tail, 0u, MPNUM_ROUND_UP, __VA_ARGS__)
#define MPNUM_PTX_INTEGRAL_(RULE, tail, ...)                                      \
 RULE("cvt", tail, 0u, MPNUM_ROUND_NEAREST_EVEN, __VA_ARGS__)                     \
 RULE("cvt.rni", tail, MPNUM_IS_INTEGRAL_, MPNUM_ROUND_NEAREST_EVEN, __VA_ARGS__) \
 RULE("cvt.rzi", tail, MPNUM_IS_INTEGRAL_, MPNUM_ROUND_TOWARD_ZERO, __VA_ARGS__)  \
 RULE("cvt.rmi", tail, MPNUM_IS_INTEGRAL_, MPNUM_ROUND_DOWN, __VA_ARGS__)         \
 RULE("cvt.rpi", tail, MPNUM_IS_INTEGRAL_, MPNUM_ROUND_UP, __VA_ARGS__)

/* From f32 to 16 bits, one or two; what MPNUM_PTX_ROUNDED_ has is left out. */
#define MPNUM_PTX_16_(name, type)                                                        \
 MPNUM_PTX_PZO_("cvt.rn", ".relu.satfinite", "." name ".f32", MPNUM_ROUND_NEAREST_EVEN,  \
                MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 1, 32, 16)                        \
 MPNUM_PTX_PZO_("cvt.rz", ".relu.satfinite", "." name ".f32", MPNUM_ROUND_TOWARD_ZERO,   \
                MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 1, 32, 16)                        \
 MPNUM_PTX_("cvt.rm.pzo", "." name ".f32", MPNUM_IS_PZO_, MPNUM_ROUND_DOWN,              \
            MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 1, 32, 16)                            \
 MPNUM_PTX_("cvt.rp.pzo", "." name ".f32", MPNUM_IS_PZO_, MPNUM_ROUND_UP,                \
            MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 1, 32, 16)                            \
 MPNUM_PTX_("cvt.rn", "." name "x2.f32", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OWN_,  \
            MPNUM_TYPE_F32, type, 2, 32, 16)                                             \
 MPNUM_PTX_PZO_("cvt.rn", ".relu.satfinite", "." name "x2.f32",                          \
                MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 2, 32,  \
                16)                                                                      \
 MPNUM_PTX_("cvt.rz", "." name "x2.f32", 0u, MPNUM_ROUND_TOWARD_ZERO, MPNUM_NANS_OWN_,   \
            MPNUM_TYPE_F32, type, 2, 32, 16)                                             \
 MPNUM_PTX_PZO_("cvt.rz", ".relu.satfinite", "." name "x2.f32", MPNUM_ROUND_TOWARD_ZERO, \
                MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 2, 32, 16)                        \
 MPNUM_PTX_("cvt.rs", "." name "x2.f32", 0u, MPNUM_ROUND_STOCHASTIC, MPNUM_NANS_OWN_,    \
            MPNUM_TYPE_F32, type, 2, 32, 16)                                             \
 MPNUM_PTX_LIMITED_("cvt.rs", ".relu.satfinite", "." name "x2.f32", 0u,                  \
                    MPNUM_ROUND_STOCHASTIC, MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 2,    \
                    32, 16)

/* To two elements of 8, 6 or 4 bits from the three sources; back; four stochastically. */
#define MPNUM_PTX_NARROW_(tail, ...)                                                   \
 MPNUM_PTX_NARROW_BY_("cvt.rn.satfinite", tail, MPNUM_ROUND_NEAREST_EVEN, __VA_ARGS__) \
 MPNUM_PTX_NARROW_BY_("cvt.rz.satfinite", tail, MPNUM_ROUND_TOWARD_ZERO, __VA_ARGS__)
#define MPNUM_PTX_NARROW_BY_(head, tail, ...)                                        \
 MPNUM_PTX_RELU_(head, tail, MPNUM_IS_SAT_, __VA_ARGS__)                             \
 MPNUM_PTX_RELU_(head, ".pzo" tail, MPNUM_IS_SAT_ | MPNUM_IS_PZO_, __VA_ARGS__)      \
 MPNUM_PTX_RELU_(head, ".scaled::n1::ue8m0" tail, MPNUM_IS_SAT_ | MPNUM_SCALE_BYTE_, \
                 __VA_ARGS__)                                                        \
 MPNUM_PTX_RELU_(head, ".pzo.scaled::n1::ue8m0" tail,                                \
                 MPNUM_IS_SAT_ | MPNUM_IS_PZO_ | MPNUM_SCALE_BYTE_, __VA_ARGS__)
#define MPNUM_PTX_SMALL_(name, type, slot)                                              \
 MPNUM_PTX_NARROW_("." name "x2.f32", MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 2, 32,     \
                   slot)                                                                \
 MPNUM_PTX_NARROW_("." name "x2.f16x2", MPNUM_NANS_OWN_, MPNUM_TYPE_F16, type, 2, 16,   \
                   slot)                                                                \
 MPNUM_PTX_NARROW_("." name "x2.bf16x2", MPNUM_NANS_OWN_, MPNUM_TYPE_BF16, type, 2, 16, \
                   slot)                                                                \
 MPNUM_PTX_("cvt.rs.satfinite", "." name "x4.f32", MPNUM_IS_SAT_,                       \
            MPNUM_ROUND_STOCHASTIC, MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 4, 32, slot) \
 MPNUM_PTX_("cvt.rs.relu.satfinite", "." name "x4.f32", MPNUM_IS_RELU_ | MPNUM_IS_SAT_, \
            MPNUM_ROUND_STOCHASTIC, MPNUM_NANS_OWN_, MPNUM_TYPE_F32, type, 4, 32, slot) \
 MPNUM_PTX_RELU_("cvt.rn", ".f16x2." name "x2", 0u, MPNUM_ROUND_NEAREST_EVEN,           \
                 MPNUM_NANS_OWN_, type, MPNUM_TYPE_F16, 2, slot, 16)                    \
 MPNUM_PTX_WIDER_(".relu.satfinite", "." name "x2", type, slot)

/* To bf16x2, with two scales, too. */
#define MPNUM_PTX_WIDER_(both, tail, type, slot)                                       \
 MPNUM_PTX_WIDER_BY_(both, ".bf16x2" tail, 0u, type, slot)                             \
 MPNUM_PTX_WIDER_BY_(both, ".scaled::n2::ue8m0.bf16x2" tail, MPNUM_SCALE_BYTES_, type, \
                     slot)
#define MPNUM_PTX_WIDER_BY_(both, tail, flags, type, slot)                          \
 MPNUM_PTX_("cvt.rn", tail, flags, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OWN_, type, \
            MPNUM_TYPE_BF16, 2, slot, 16)                                           \
 MPNUM_PTX_LIMITED_("cvt.rn", both, tail, flags, MPNUM_ROUND_NEAREST_EVEN,          \
                    MPNUM_NANS_OWN_, type, MPNUM_TYPE_BF16, 2, slot, 16)

/* To two of s2f6; to two of ue5m3. */
#define MPNUM_PTX_FIXED_(head, tail, ...)                                             \
 MPNUM_PTX_RELU_(head, tail, MPNUM_IS_SAT_, __VA_ARGS__)                              \
 MPNUM_PTX_RELU_(head, ".scaled::n2::ue8m0" tail, MPNUM_IS_SAT_ | MPNUM_SCALE_BYTES_, \
                 __VA_ARGS__)
#define MPNUM_PTX_UE5M3_(tail, ...)                                                      \
 MPNUM_PTX_FINITE_("cvt.rn", ".ue5m3x2" tail, 0u, MPNUM_ROUND_NEAREST_EVEN, __VA_ARGS__) \
 MPNUM_PTX_FINITE_("cvt.rz", ".ue5m3x2" tail, 0u, MPNUM_ROUND_TOWARD_ZERO, __VA_ARGS__)  \
 MPNUM_PTX_FINITE_("cvt.rp", ".ue5m3x2" tail, 0u, MPNUM_ROUND_UP, __VA_ARGS__)           \
 MPNUM_PTX_FINITE_("cvt.rn", ".scaled::n1::ue8m0.ue5m3x2" tail, MPNUM_SCALE_BYTE_,       \
                   MPNUM_ROUND_NEAREST_EVEN, __VA_ARGS__)                                \
 MPNUM_PTX_FINITE_("cvt.rz", ".scaled::n1::ue8m0.ue5m3x2" tail, MPNUM_SCALE_BYTE_,       \
                   MPNUM_ROUND_TOWARD_ZERO, __VA_ARGS__)
#define MPNUM_PTX_UE8M0_(tail, ...)                                                     \
 MPNUM_PTX_FINITE_("cvt.rz", ".ue8m0x2" tail, 0u, MPNUM_ROUND_TOWARD_ZERO, __VA_ARGS__) \
 MPNUM_PTX_FINITE_("cvt.rp", ".ue8m0x2" tail, 0u, MPNUM_ROUND_UP, __VA_ARGS__)

#define MPNUM_PTX_INSTRUCTIONS_()                                                        \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_FTZ_UNIT_, ".f16.f32", MPNUM_NANS_OWN_, MPNUM_TYPE_F32,    \
                    MPNUM_TYPE_F16, 1, 32, 16)                                           \
 MPNUM_PTX_16_("f16", MPNUM_TYPE_F16)                                                    \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_FTZ_, ".bf16.f32", MPNUM_NANS_OWN_, MPNUM_TYPE_F32,        \
                    MPNUM_TYPE_BF16, 1, 32, 16)                                          \
 MPNUM_PTX_16_("bf16", MPNUM_TYPE_BF16)                                                  \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_UNIT_, ".f16.f64", MPNUM_NANS_OPEN_, MPNUM_TYPE_F64,       \
                    MPNUM_TYPE_F16, 1, 64, 16)                                           \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_, ".bf16.f64", MPNUM_NANS_OPEN_, MPNUM_TYPE_F64,           \
                    MPNUM_TYPE_BF16, 1, 64, 16)                                          \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_, ".bf16.f16", MPNUM_NANS_OPEN_, MPNUM_TYPE_F16,           \
                    MPNUM_TYPE_BF16, 1, 16, 16)                                          \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_, ".f16.bf16", MPNUM_NANS_OPEN_, MPNUM_TYPE_BF16,          \
                    MPNUM_TYPE_F16, 1, 16, 16)                                           \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_FTZ_UNIT_, ".f32.f64", MPNUM_NANS_OPEN_, MPNUM_TYPE_F64,   \
                    MPNUM_TYPE_F32, 1, 64, 32)                                           \
 MPNUM_PTX_FTZ_UNIT_("cvt", ".f32.f16", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OWN_,   \
                     MPNUM_TYPE_F16, MPNUM_TYPE_F32, 1, 16, 32)                          \
 MPNUM_PTX_FTZ_("cvt", ".f32.bf16", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OPEN_,      \
                MPNUM_TYPE_BF16, MPNUM_TYPE_F32, 1, 16, 32)                              \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_FTZ_, ".f32.bf16", MPNUM_NANS_OPEN_, MPNUM_TYPE_BF16,      \
                    MPNUM_TYPE_F32, 1, 16, 32)                                           \
 MPNUM_PTX_FTZ_UNIT_("cvt", ".f64.f32", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OPEN_,  \
                     MPNUM_TYPE_F32, MPNUM_TYPE_F64, 1, 32, 64)                          \
 MPNUM_PTX_UNIT_("cvt", ".f64.f16", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OPEN_,      \
                 MPNUM_TYPE_F16, MPNUM_TYPE_F64, 1, 16, 64)                              \
 MPNUM_PTX_("cvt", ".f64.bf16", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OPEN_,          \
            MPNUM_TYPE_BF16, MPNUM_TYPE_F64, 1, 16, 64)                                  \
 MPNUM_PTX_ROUNDED_(MPNUM_PTX_, ".f64.bf16", MPNUM_NANS_OPEN_, MPNUM_TYPE_BF16,          \
                    MPNUM_TYPE_F64, 1, 16, 64)                                           \
 MPNUM_PTX_INTEGRAL_(MPNUM_PTX_UNIT_, ".f64.f64", MPNUM_NANS_OPEN_, MPNUM_TYPE_F64,      \
                     MPNUM_TYPE_F64, 1, 64, 64)                                          \
 MPNUM_PTX_INTEGRAL_(MPNUM_PTX_FTZ_UNIT_, ".f32.f32", MPNUM_NANS_OPEN_, MPNUM_TYPE_F32,  \
                     MPNUM_TYPE_F32, 1, 32, 32)                                          \
 MPNUM_PTX_INTEGRAL_(MPNUM_PTX_UNIT_, ".f16.f16", MPNUM_NANS_OPEN_, MPNUM_TYPE_F16,      \
                     MPNUM_TYPE_F16, 1, 16, 16)                                          \
 MPNUM_PTX_INTEGRAL_(MPNUM_PTX_, ".bf16.bf16", MPNUM_NANS_OPEN_, MPNUM_TYPE_BF16,        \
                     MPNUM_TYPE_BF16, 1, 16, 16)                                         \
 MPNUM_PTX_FINITE_("cvt.rna", ".tf32.f32", 0u, MPNUM_ROUND_NEAREST_AWAY,                 \
                   MPNUM_NANS_OPEN_, MPNUM_TYPE_F32, MPNUM_TYPE_TF32, 1, 32, 32)         \
 MPNUM_PTX_("cvt.rn", ".tf32.f32", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OWN_,        \
            MPNUM_TYPE_F32, MPNUM_TYPE_TF32, 1, 32, 32)                                  \
 MPNUM_PTX_PZO_("cvt.rn", ".satfinite.relu", ".tf32.f32", MPNUM_ROUND_NEAREST_EVEN,      \
                MPNUM_NANS_OWN_, MPNUM_TYPE_F32, MPNUM_TYPE_TF32, 1, 32, 32)             \
 MPNUM_PTX_("cvt.rz", ".tf32.f32", 0u, MPNUM_ROUND_TOWARD_ZERO, MPNUM_NANS_OWN_,         \
            MPNUM_TYPE_F32, MPNUM_TYPE_TF32, 1, 32, 32)                                  \
 MPNUM_PTX_PZO_("cvt.rz", ".satfinite.relu", ".tf32.f32", MPNUM_ROUND_TOWARD_ZERO,       \
                MPNUM_NANS_OWN_, MPNUM_TYPE_F32, MPNUM_TYPE_TF32, 1, 32, 32)             \
 MPNUM_PTX_SMALL_("e4m3", MPNUM_TYPE_E4M3, 8)                                            \
 MPNUM_PTX_SMALL_("e5m2", MPNUM_TYPE_E5M2, 8)                                            \
 MPNUM_PTX_SMALL_("e2m3", MPNUM_TYPE_E2M3, 8)                                            \
 MPNUM_PTX_SMALL_("e3m2", MPNUM_TYPE_E3M2, 8)                                            \
 MPNUM_PTX_SMALL_("e2m1", MPNUM_TYPE_E2M1, 4)                                            \
 MPNUM_PTX_UE8M0_(".f32", MPNUM_NANS_OWN_, MPNUM_TYPE_F32, MPNUM_TYPE_E8M0, 2, 32, 8)    \
 MPNUM_PTX_UE8M0_(".bf16x2", MPNUM_NANS_OWN_, MPNUM_TYPE_BF16, MPNUM_TYPE_E8M0, 2, 16,   \
                  8)                                                                     \
 MPNUM_PTX_("cvt.rn", ".bf16x2.ue8m0x2", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OWN_,  \
            MPNUM_TYPE_E8M0, MPNUM_TYPE_BF16, 2, 8, 16)                                  \
 MPNUM_PTX_FIXED_("cvt.rn.satfinite", ".s2f6x2.f32", MPNUM_ROUND_NEAREST_EVEN,           \
                  MPNUM_NANS_OWN_, MPNUM_TYPE_F32, MPNUM_TYPE_S2F6_, 2, 32, 8)           \
 MPNUM_PTX_FIXED_("cvt.rz.satfinite", ".s2f6x2.f32", MPNUM_ROUND_TOWARD_ZERO,            \
                  MPNUM_NANS_OWN_, MPNUM_TYPE_F32, MPNUM_TYPE_S2F6_, 2, 32, 8)           \
 MPNUM_PTX_FIXED_("cvt.rn.satfinite", ".s2f6x2.bf16x2", MPNUM_ROUND_NEAREST_EVEN,        \
                  MPNUM_NANS_OWN_, MPNUM_TYPE_BF16, MPNUM_TYPE_S2F6_, 2, 16, 8)          \
 MPNUM_PTX_FIXED_("cvt.rz.satfinite", ".s2f6x2.bf16x2", MPNUM_ROUND_TOWARD_ZERO,         \
                  MPNUM_NANS_OWN_, MPNUM_TYPE_BF16, MPNUM_TYPE_S2F6_, 2, 16, 8)          \
 MPNUM_PTX_WIDER_(".satfinite.relu", ".s2f6x2", MPNUM_TYPE_S2F6_, 8)                     \
 MPNUM_PTX_UE5M3_(".f32", MPNUM_NANS_OWN_, MPNUM_TYPE_F32, MPNUM_TYPE_UE5M3, 2, 32, 8)   \
 MPNUM_PTX_UE5M3_(".f16x2", MPNUM_NANS_OWN_, MPNUM_TYPE_F16, MPNUM_TYPE_UE5M3, 2, 16, 8) \
 MPNUM_PTX_UE5M3_(".bf16x2", MPNUM_NANS_OWN_, MPNUM_TYPE_BF16, MPNUM_TYPE_UE5M3, 2, 16,  \
                  8)                                                                     \
 MPNUM_PTX_("cvt.rn", ".f16x2.ue5m3x2", 0u, MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OWN_,   \
            MPNUM_TYPE_UE5M3, MPNUM_TYPE_F16, 2, 8, 16)                                  \
 MPNUM_PTX_FINITE_("cvt.rn", ".bf16x2.ue5m3x2", 0u, MPNUM_ROUND_NEAREST_EVEN,            \
                   MPNUM_NANS_OWN_, MPNUM_TYPE_UE5M3, MPNUM_TYPE_BF16, 2, 8, 16)         \
 MPNUM_PTX_FINITE_("cvt.rn", ".scaled::n2::ue8m0.bf16x2.ue5m3x2", MPNUM_SCALE_BYTES_,    \
                   MPNUM_ROUND_NEAREST_EVEN, MPNUM_NANS_OWN_, MPNUM_TYPE_UE5M3,          \
                   MPNUM_TYPE_BF16, 2, 8, 16)

MPNUM_C_END_
#endif

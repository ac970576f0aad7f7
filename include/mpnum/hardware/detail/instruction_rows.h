/* SPDX-License-Identifier: MIT */
/* What a row of the table of conversion instructions is made of. */
#ifndef MPNUM_HARDWARE_DETAIL_INSTRUCTION_ROWS_H
#define MPNUM_HARDWARE_DETAIL_INSTRUCTION_ROWS_H

#include "../../core/round.h"
MPNUM_C_BEGIN_

/* PTX's fixed point, a signed byte in units of 1/64, beside the types. */
#define MPNUM_TYPE_S2F6_ 32

/* How a row rounds: a mpnum_rounding, or as a register says. */
#define MPNUM_ROUND_MXCSR_ 7
#define MPNUM_ROUND_IMM8_  8
#define MPNUM_ROUND_FPCR_  9
#define MPNUM_ROUND_FRM_   10
#define MPNUM_ROUND_MODE_  11

/* What a NaN becomes. */
#define MPNUM_NANS_OWN_     0 /* that of the table of formats, or the largest value */
#define MPNUM_NANS_PAYLOAD_ 1 /* sign and leading payload kept, made quiet */
#define MPNUM_NANS_QUIET_   2 /* positive, the quiet bit alone; e4m3: all ones */
#define MPNUM_NANS_MINUS_   3 /* the same, negative */
#define MPNUM_NANS_SIGN_    4 /* all ones below the sign of the source */
#define MPNUM_NANS_HF8_     5 /* f16: sign and mantissa of the source, an e4m3, kept */
#define MPNUM_NANS_OPEN_    6 /* the manual does not say: refused */
#define MPNUM_NANS_KEPT_    7 /* its bits, a prefix of the result's */

/* Flags. */
#define MPNUM_IS_RELU_        0x1u  /* negative results, -0 too, become 0 */
#define MPNUM_IS_SAT_         0x2u  /* saturates */
#define MPNUM_SAT_BY_FPMR_    0x4u  /* saturates if FPMR.OSC is 1 */
#define MPNUM_SAT_BY_MODE_    0x8u  /* saturates, but for Inf, if MODE.FP16_OVFL is 1 */
#define MPNUM_FLUSHES_        0x10u /* f32 below 2^-126 are zeros, a result as rounded */
#define MPNUM_FLUSH_BY_MXCSR_ 0x20u /* subnormal sources are zeros if MXCSR.DAZ is 1 */
#define MPNUM_FLUSH_BY_FPCR_                                                             \
 0x40u                               /* subnormals of f32, f64 are zeros if FPCR.FZ is 1 \
                                      */
#define MPNUM_IS_REVERSED_    0x80u  /* the first operand is the last element */
#define MPNUM_IS_INTERLEAVED_ 0x100u /* elements of two operands by turns */
#define MPNUM_SCALE_BYTES_    0x200u /* a ue8m0 for each element in a word of its own */
#define MPNUM_SCALE_F32_      0x400u /* the exponent of an f32 in a word of its own */
#define MPNUM_SCALE_FPMR_     0x800u /* FPMR.NSCALE, LSCALE or LSCALE2 */
#define MPNUM_IS_SECOND_      0x1000u  /* FPMR.F8S2 and LSCALE2, not F8S1 and LSCALE */
#define MPNUM_IS_WIDENING_    0x2000u  /* the source is what FPMR.F8S1 or F8S2 says */
#define MPNUM_NAN_OF_INF_     0x4000u  /* what stands for Inf is the NaN without a sign */
#define MPNUM_IS_BIASED_      0x8000u  /* random is a bias of 8 bits */
#define MPNUM_IS_UNIT_        0x10000u /* limited to [0, 1]; -0 and NaN become 0 */
#define MPNUM_IS_INTEGRAL_    0x20000u /* rounds to integers */
#define MPNUM_IS_PZO_         0x40000u /* a result of -0 becomes 0 */
#define MPNUM_SCALE_BYTE_     0x80000u /* a ue8m0 for all; subnormal sources are zeros */

/* Those of a row by one word. */
#define MPNUM_OPTION_PLAIN_   0u
#define MPNUM_OPTION_SAT_     MPNUM_IS_SAT_
#define MPNUM_OPTION_FLUSHES_ MPNUM_FLUSHES_

typedef struct mpnum_instruction_row_ {
  const char *name;
  uint32_t flags;
  uint8_t rounding, nans;
  uint8_t source, target; /* mpnum_type; an FP8 that FPMR names stands as e5m2 */
  uint8_t lanes;          /* elements of a result, the first in its lowest bits */
  uint8_t source_slot, target_slot; /* bits from one element to the next */
} mpnum_instruction_row_;

/* ROW(name, source, target, elements, bits from element to element in the source and in
 * the result, rounding, NaN, options). */
#define MPNUM_INSTRUCTION_(name, source, target, lanes, source_slot, target_slot, \
                           rounding, nans, option)                                \
 {name,                                                                           \
  MPNUM_OPTION_##option##_,                                                       \
  MPNUM_ROUND_##rounding,                                                         \
  MPNUM_NANS_##nans##_,                                                           \
  MPNUM_TYPE_##source,                                                            \
  MPNUM_TYPE_##target,                                                            \
  lanes,                                                                          \
  source_slot,                                                                    \
  target_slot},
/* Operands in words of their own: the first one is the highest element. */
#define MPNUM_INSTRUCTION_REVERSED_(name, source, target, lanes, source_slot, \
                                    target_slot, rounding, nans, option)      \
 {name,                                                                       \
  MPNUM_OPTION_##option##_ | MPNUM_IS_REVERSED_,                              \
  MPNUM_ROUND_##rounding,                                                     \
  MPNUM_NANS_##nans##_,                                                       \
  MPNUM_TYPE_##source,                                                        \
  MPNUM_TYPE_##target,                                                        \
  lanes,                                                                      \
  source_slot,                                                                \
  target_slot},

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* What conversion instructions of GPUs and CPUs compute, bit for bit, on any machine: a
 * reference for emulators, for tests of RTL, and for a kernel's fallback. Opt-in.
 *
 *     const uint32_t cvt = mpnum_instruction_of("cvt.rn.satfinite.e4m3x2.f32");
 *     uint32_t operands[2], d;
 *     while (next(operands)) {
 *       if (mpnum_instruction_convert(cvt, &d, operands, 0, NULL) != MPNUM_OK) refuse();
 *       compare(d, hardware(operands));
 *     }
 *
 * docs/instructions.md has the instructions, the editions of their manuals, which of them
 * were compared with hardware, and what the manuals leave open. */
#ifndef MPNUM_HARDWARE_INSTRUCTION_H
#define MPNUM_HARDWARE_INSTRUCTION_H

#include "detail/instruction_steps.h"
MPNUM_C_BEGIN_

/* The registers that an instruction reads beside its operands, each as its manual lays it
 * out; what the conversions do not read counts for nothing. All zero, which NULL stands
 * for: nearest even, nothing flushed, nothing saturates but what its name says. */
typedef struct mpnum_instruction_control {
  uint64_t fpmr;  /* Arm: F8S1 2:0, F8S2 5:3, F8D 8:6, OSC 15, LSCALE 22:16, NSCALE 31:24,
                     LSCALE2 37:32 */
  uint32_t fpcr;  /* Arm: RMode 23:22, FZ 24, DN 25 */
  uint32_t mxcsr; /* x86: DAZ 6, RC 14:13 */
  uint32_t imm8;  /* x86: the immediate of VCVTPS2PH */
  uint32_t frm;   /* RISC-V: the rounding mode, 0 to 4 */
  uint32_t mode;  /* AMD: FP_ROUND of f16 3:2, FP16_OVFL 23 */
} mpnum_instruction_control;

/* The number of an instruction; 0 where there is none of this name. Numbers are those of
 * this version of the library alone. */
MPNUM_MATH_ uint32_t mpnum_instruction_of(const char *name) {
  const mpnum_instruction_row_ *row = 0;
  uint32_t number = 1;
  for (; name && (row = mpnum_instruction_row_of_(number)) != 0; ++number)
    if (mpnum_is_instruction_(row->name, name)) return number;
  return 0;
}

/* The name of an instruction, from 1 on; NULL past the last. */
MPNUM_MATH_ const char *mpnum_instruction_name(uint32_t instruction) {
  const mpnum_instruction_row_ *const row = mpnum_instruction_row_of_(instruction);
  return row ? row->name : 0;
}

/* What an instruction makes of its operands.
 * src: the operands in the order of the manual's syntax, a word of 32 bits or more each,
 *   values in the low bits, an f64 or what is longer the low word first; without rbits,
 * the bias and imm8. Of an instruction on vectors, one element of each. dst: the result
 * in the same way; of an instruction on vectors with two sources the element of the lower
 * half lies below that of the upper half. random: rbits of cvt.rs, S1 of V_CVT_SR_* and
 * V_CVT_SCALEF32_SR_*, the byte of bias of VCVTBIAS*; others do not read it. Domain: dst
 * may be src. NaN: as the manual says. Status: MPNUM_ERROR_ARGUMENT (no such instruction,
 * frm above 4, a scale whose exponent is all ones where no manual says what it does, a
 * negative subnormal that .scaled::n1 flushes, no manual says to which zero),
 * MPNUM_ERROR_NULL, MPNUM_ERROR_TYPE (a format of FPMR that does not exist),
 * MPNUM_ERROR_NONFINITE (a NaN of which no manual says what it becomes); dst is unchanged
 * then. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_instruction_convert(uint32_t instruction, uint32_t *dst, const uint32_t *src,
                          uint32_t random, const mpnum_instruction_control *control) {
  const mpnum_instruction_row_ *const row = mpnum_instruction_row_of_(instruction);
  mpnum_registers_ registers = {0, 0, 0, 0, 0, 0};
  if (!row) return MPNUM_ERROR_ARGUMENT;
  if (!dst || !src) return MPNUM_ERROR_NULL;
  if (control) {
    registers.fpmr = control->fpmr;
    registers.fpcr = control->fpcr;
    registers.mxcsr = control->mxcsr;
    registers.imm8 = control->imm8;
    registers.frm = control->frm;
    registers.mode = control->mode;
  }
  return mpnum_instruction_run_(row, dst, src, random, &registers);
}

MPNUM_C_END_
#endif

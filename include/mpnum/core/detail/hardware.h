/* SPDX-License-Identifier: MIT */
/* Conversions that the target has an instruction for: the cvt instructions of PTX, one
 * function each, which the conversions of the types call. Every function gives the bits
 * of the core in round.h. What the PTX ISA leaves open (the low bits of a tf32, the
 * payload of a NaN as f32) is set here, and what cvt lacks (fp8 that does not saturate;
 * f16 and bf16 that do, before PTX 8.1) is a compare after it. One f16 or bf16 is a pair
 * with 0 where pairs exist: compilers make F2F of the instruction for one, which runs at
 * a fraction of the speed of F2FP.
 *
 *     f16           rn rz rp rm                           every GPU
 *     f16x2, bf16x2 rn rz                                 sm_80 on
 *     tf32          rna                                   sm_80 on
 *     tf32          rn rz                                 sm_90 on
 *     bf16 of f64   rn                                    sm_90 on
 *     e4m3, e5m2    rn, of two f32 or two f16, and back   sm_90 on, sm_89 from CUDA 12.1
 *     e3m2, e2m3, e2m1 rn and back, e8m0 rz rp            100a 103a 110a 120a 121a, and f
 *     bf16x2        rn, of two e4m3, e5m2, e2m1 by e8m0   these from CUDA 13.2 on
 *     e4m3, e5m2    rn, of two bf16                       the same
 *     e3m2, e2m3, e2m1 rn, of two f16 or two bf16         the same
 *
 * The MPNUM_HAS_HW_* macros of config.h say which of them a compilation has. Source: PTX
 * ISA 9.0, cvt; of the last three 9.2. */
#ifndef MPNUM_CORE_DETAIL_HARDWARE_H
#define MPNUM_CORE_DETAIL_HARDWARE_H

#include "../format.h"
MPNUM_C_BEGIN_

/* 1 if mpnum_f32_to_T, the nearest even conversion to a type (e8m0: the _ru and _rz
 * conversions), is an instruction of the target; 0 if it is integer arithmetic. In a
 * CUDA source the answer on the device is that of the target the kernel was compiled
 * for. */
MPNUM_FUNC int mpnum_has_hw(mpnum_type type) {
  const uint32_t types = (uint32_t)MPNUM_HAS_HW_TF32_ << MPNUM_TYPE_TF32 |
                         (uint32_t)MPNUM_HAS_HW_BF16_ << MPNUM_TYPE_BF16 |
                         (uint32_t)MPNUM_HAS_HW_F16_ << MPNUM_TYPE_F16 |
                         (uint32_t)MPNUM_HAS_HW_FP8_ << MPNUM_TYPE_E5M2 |
                         (uint32_t)MPNUM_HAS_HW_FP8_ << MPNUM_TYPE_E4M3 |
                         (uint32_t)MPNUM_HAS_HW_E8M0_ << MPNUM_TYPE_E8M0 |
                         (uint32_t)MPNUM_HAS_HW_FP6_ << MPNUM_TYPE_E3M2 |
                         (uint32_t)MPNUM_HAS_HW_FP6_ << MPNUM_TYPE_E2M3 |
                         (uint32_t)MPNUM_HAS_HW_FP4_ << MPNUM_TYPE_E2M1;
  return (uint32_t)type < 32 ? (int)(types >> type & 1) : 0;
}

/* The largest finite code in place of Inf, if overflow saturates: the code below. */
MPNUM_INLINE uint32_t mpnum_cvt_overflow_(uint32_t code, uint32_t infinity,
                                          uint32_t magnitude_mask,
                                          mpnum_overflow overflow) {
  const int is_inf = (code & magnitude_mask) == infinity;
  return code - (uint32_t)(is_inf && overflow == MPNUM_OVERFLOW_SATURATE);
}

#if MPNUM_HAS_HW_F16X2_
/* Two values, a in the low half. rounding: nearest even or toward zero. */
MPNUM_INLINE uint32_t mpnum_cvt_f16x2_(float a, float b, mpnum_rounding rounding,
                                       mpnum_overflow overflow) {
  const int is_rz = rounding == MPNUM_ROUND_TOWARD_ZERO;
  uint32_t codes = 0;
# if MPNUM_HAS_HW_SAT_X2_
  if (overflow == MPNUM_OVERFLOW_SATURATE) {
    if (is_rz)
      asm("cvt.rz.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(b), "f"(a));
    else
      asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(b), "f"(a));
    return codes;
  }
# endif
  if (is_rz)
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(b), "f"(a));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(b), "f"(a));
  return mpnum_cvt_overflow_(codes & 0xffffu, 0x7c00u, 0x7fffu, overflow) |
         mpnum_cvt_overflow_(codes >> 16, 0x7c00u, 0x7fffu, overflow) << 16;
}
#endif

#if MPNUM_HAS_HW_F16_
/* rounding: nearest even, toward zero, up or down. */
MPNUM_INLINE uint32_t mpnum_cvt_f16_(float x, mpnum_rounding rounding,
                                     mpnum_overflow overflow) {
  unsigned short code = 0;
  if (rounding == MPNUM_ROUND_UP) {
    asm("cvt.rp.f16.f32 %0, %1;" : "=h"(code) : "f"(x));
  } else if (rounding == MPNUM_ROUND_DOWN) {
    asm("cvt.rm.f16.f32 %0, %1;" : "=h"(code) : "f"(x));
  } else {
# if MPNUM_HAS_HW_F16X2_
    return mpnum_cvt_f16x2_(x, 0.0f, rounding, overflow) & 0xffffu;
# else
    if (rounding == MPNUM_ROUND_TOWARD_ZERO)
      asm("cvt.rz.f16.f32 %0, %1;" : "=h"(code) : "f"(x));
    else
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(x));
# endif
  }
  return mpnum_cvt_overflow_(code, 0x7c00u, 0x7fffu, overflow);
}

/* To f32; a NaN is made canonical, or is any, for what is to be rounded again. */
MPNUM_INLINE float mpnum_cvt_f16_to_f32_any_nan_(uint32_t code) {
  float value = 0;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)code));
  return value;
}
MPNUM_INLINE float mpnum_cvt_f16_to_f32_(uint32_t code) {
  const float value = mpnum_cvt_f16_to_f32_any_nan_(code);
  return (code & 0x7fffu) > 0x7c00u ? mpnum_from_bits_f32(0x7fffffffu) : value;
}
#endif

#if MPNUM_HAS_HW_BF16_
/* Two values, a in the low half. rounding: nearest even or toward zero. */
MPNUM_INLINE uint32_t mpnum_cvt_bf16x2_(float a, float b, mpnum_rounding rounding,
                                        mpnum_overflow overflow) {
  const int is_rz = rounding == MPNUM_ROUND_TOWARD_ZERO;
  uint32_t codes = 0;
# if MPNUM_HAS_HW_SAT_X2_
  if (overflow == MPNUM_OVERFLOW_SATURATE) {
    if (is_rz)
      asm("cvt.rz.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(b), "f"(a));
    else
      asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(b), "f"(a));
    return codes;
  }
# endif
  if (is_rz)
    asm("cvt.rz.bf16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(b), "f"(a));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(b), "f"(a));
  return mpnum_cvt_overflow_(codes & 0xffffu, 0x7f80u, 0x7fffu, overflow) |
         mpnum_cvt_overflow_(codes >> 16, 0x7f80u, 0x7fffu, overflow) << 16;
}
MPNUM_INLINE uint32_t mpnum_cvt_bf16_(float x, mpnum_rounding rounding,
                                      mpnum_overflow overflow) {
  return mpnum_cvt_bf16x2_(x, 0.0f, rounding, overflow) & 0xffffu;
}
#endif

#if MPNUM_HAS_HW_BF16_F64_
/* The instruction keeps the upper bits of a NaN (seen on an H100). */
MPNUM_INLINE uint32_t mpnum_cvt_f64_to_bf16_(double x, mpnum_overflow overflow) {
  unsigned short code = 0;
  asm("cvt.rn.bf16.f64 %0, %1;" : "=h"(code) : "d"(x));
  if (mpnum_bits_f64(x) << 1 > (uint64_t)0xffe00000u << 32) return 0x7fffu;
  return mpnum_cvt_overflow_(code, 0x7f80u, 0x7fffu, overflow);
}
#endif

#if MPNUM_HAS_HW_TF32_RNA_
/* rounding: nearest away, and from sm_90 on nearest even or toward zero. */
MPNUM_INLINE uint32_t mpnum_cvt_tf32_(float x, mpnum_rounding rounding,
                                      mpnum_overflow overflow) {
  uint32_t bits = 0;
  switch (rounding) {
# if MPNUM_HAS_HW_TF32_
  case MPNUM_ROUND_NEAREST_EVEN:
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    break;
  case MPNUM_ROUND_TOWARD_ZERO:
    asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    break;
# endif
  default: asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x)); break;
  }
  if ((mpnum_bits_f32(x) & 0x7fffffffu) > 0x7f800000u) return 0x7fffe000u;
  return mpnum_cvt_overflow_(bits >> 13, 0x3fc00u, 0x3ffffu, overflow) << 13;
}
#endif

#if MPNUM_HAS_HW_FP8_
/* Two values, a in the low byte. cvt saturates; without saturation a code is moved on by
 * one where the value rounds past the largest: from 7e to the NaN 7f in e4m3, from 7b to
 * Inf, 7c, in e5m2. A NaN's code, 7f, stays. */
MPNUM_INLINE uint32_t mpnum_cvt_e4m3x2_(float a, float b, mpnum_overflow overflow) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(b), "f"(a));
  if (overflow == MPNUM_OVERFLOW_SATURATE) return codes;
  {
    const uint32_t tie = 0x43e80000u; /* 464 rounds to 448, what is above does not */
    const uint32_t a_over = (mpnum_bits_f32(a) & 0x7fffffffu) > tie;
    const uint32_t b_over = (mpnum_bits_f32(b) & 0x7fffffffu) > tie;
    return codes | a_over | b_over << 8;
  }
}
MPNUM_INLINE uint32_t mpnum_cvt_e5m2x2_(float a, float b, mpnum_overflow overflow) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(b), "f"(a));
  if (overflow == MPNUM_OVERFLOW_SATURATE) return codes;
  {
    const uint32_t tie = 0x47700000u; /* 61440 rounds to Inf */
    const uint32_t span = 0x7f800000u - tie;
    const uint32_t a_over = (mpnum_bits_f32(a) & 0x7fffffffu) - tie <= span;
    const uint32_t b_over = (mpnum_bits_f32(b) & 0x7fffffffu) - tie <= span;
    return codes + a_over + (b_over << 8);
  }
}
/* Saturated codes of two f16 or bf16, with NaN past the tie at 464, Inf from the one at
 * 61440 on. */
MPNUM_INLINE uint32_t mpnum_cvt_e4m3x2_past_(uint32_t codes, uint32_t values,
                                             uint32_t tie) {
  const uint32_t low_over = (values & 0x7fffu) > tie;
  const uint32_t high_over = (values >> 16 & 0x7fffu) > tie;
  return codes | low_over | high_over << 8;
}
MPNUM_INLINE uint32_t mpnum_cvt_e5m2x2_past_(uint32_t codes, uint32_t values,
                                             uint32_t tie, uint32_t infinity) {
  const uint32_t low_over = (values & 0x7fffu) - tie <= infinity - tie;
  const uint32_t high_over = (values >> 16 & 0x7fffu) - tie <= infinity - tie;
  return codes + low_over + (high_over << 8);
}
/* The same of two f16. */
MPNUM_INLINE uint32_t mpnum_cvt_f16x2_to_e4m3x2_(uint32_t values,
                                                 mpnum_overflow overflow) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(codes) : "r"(values));
  if (overflow == MPNUM_OVERFLOW_SATURATE) return codes;
  return mpnum_cvt_e4m3x2_past_(codes, values, 0x5f40u);
}
MPNUM_INLINE uint32_t mpnum_cvt_f16x2_to_e5m2x2_(uint32_t values,
                                                 mpnum_overflow overflow) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(codes) : "r"(values));
  if (overflow == MPNUM_OVERFLOW_SATURATE) return codes;
  return mpnum_cvt_e5m2x2_past_(codes, values, 0x7b80u, 0x7c00u);
}
MPNUM_INLINE uint32_t mpnum_cvt_e4m3x2_to_f16x2_(uint32_t codes) {
  uint32_t values = 0;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(values) : "h"((unsigned short)codes));
  return values;
}
MPNUM_INLINE uint32_t mpnum_cvt_e5m2x2_to_f16x2_(uint32_t codes) {
  uint32_t values = 0;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(values) : "h"((unsigned short)codes));
  return values;
}
#endif

#if MPNUM_HAS_HW_FP6_
MPNUM_INLINE uint32_t mpnum_cvt_e3m2x2_(float a, float b) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(b), "f"(a));
  return codes;
}
MPNUM_INLINE uint32_t mpnum_cvt_e2m3x2_(float a, float b) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(b), "f"(a));
  return codes;
}
MPNUM_INLINE uint32_t mpnum_cvt_e3m2x2_to_f16x2_(uint32_t codes) {
  uint32_t values = 0;
  const unsigned short clean = (unsigned short)(codes & 0x3f3fu);
  asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(values) : "h"(clean));
  return values;
}
MPNUM_INLINE uint32_t mpnum_cvt_e2m3x2_to_f16x2_(uint32_t codes) {
  uint32_t values = 0;
  const unsigned short clean = (unsigned short)(codes & 0x3f3fu);
  asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(values) : "h"(clean));
  return values;
}
#endif

#if MPNUM_HAS_HW_FP4_
/* Two codes in a byte, a in its low half. Assembly has no 8-bit operands. */
MPNUM_INLINE uint32_t mpnum_cvt_e2m1x2_(float a, float b) {
  unsigned short codes = 0;
  asm("{\n .reg .b8 pair;\n cvt.rn.satfinite.e2m1x2.f32 pair, %1, %2;\n"
      " mov.b16 %0, {pair, 0};\n}"
      : "=h"(codes)
      : "f"(b), "f"(a));
  return codes;
}
/* Four. With a word, not a half of one, the second conversion puts its codes into it. */
MPNUM_INLINE uint32_t mpnum_cvt_e2m1x4_(float a, float b, float c, float d) {
  uint32_t codes = 0;
  asm("{\n .reg .b8 low, high;\n cvt.rn.satfinite.e2m1x2.f32 low, %2, %1;\n"
      " cvt.rn.satfinite.e2m1x2.f32 high, %4, %3;\n mov.b32 %0, {low, high, 0, 0};\n}"
      : "=r"(codes)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return codes;
}
MPNUM_INLINE uint32_t mpnum_cvt_e2m1x2_to_f16x2_(uint32_t codes) {
  uint32_t values = 0;
  asm("{\n .reg .b8 pair, zero;\n mov.b16 {pair, zero}, %1;\n"
      " cvt.rn.f16x2.e2m1x2 %0, pair;\n}"
      : "=r"(values)
      : "h"((unsigned short)(codes & 0xffu)));
  return values;
}
#endif

#if MPNUM_HAS_HW_E8M0_
/* Of the magnitudes. rounding: up or toward zero. */
MPNUM_INLINE uint32_t mpnum_cvt_e8m0x2_(float a, float b, mpnum_rounding rounding,
                                        mpnum_overflow overflow) {
  unsigned short codes = 0;
  a = mpnum_from_bits_f32(mpnum_bits_f32(a) & 0x7fffffffu);
  b = mpnum_from_bits_f32(mpnum_bits_f32(b) & 0x7fffffffu);
  if (rounding == MPNUM_ROUND_UP && overflow == MPNUM_OVERFLOW_SATURATE)
    asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(b), "f"(a));
  else if (rounding == MPNUM_ROUND_UP)
    asm("cvt.rp.ue8m0x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(b), "f"(a));
  else if (overflow == MPNUM_OVERFLOW_SATURATE)
    asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(b), "f"(a));
  else
    asm("cvt.rz.ue8m0x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(b), "f"(a));
  return codes;
}
#endif

#if MPNUM_HAS_HW_NARROW_
/* Two f16 or bf16, as those of two f32. */
MPNUM_INLINE uint32_t mpnum_cvt_f16x2_to_e3m2x2_(uint32_t values) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e3m2x2.f16x2 %0, %1;" : "=h"(codes) : "r"(values));
  return codes;
}
MPNUM_INLINE uint32_t mpnum_cvt_f16x2_to_e2m3x2_(uint32_t values) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e2m3x2.f16x2 %0, %1;" : "=h"(codes) : "r"(values));
  return codes;
}
MPNUM_INLINE uint32_t mpnum_cvt_bf16x2_to_e3m2x2_(uint32_t values) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e3m2x2.bf16x2 %0, %1;" : "=h"(codes) : "r"(values));
  return codes;
}
MPNUM_INLINE uint32_t mpnum_cvt_bf16x2_to_e2m3x2_(uint32_t values) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e2m3x2.bf16x2 %0, %1;" : "=h"(codes) : "r"(values));
  return codes;
}
/* Four, of two words, as mpnum_cvt_e2m1x4_. */
MPNUM_INLINE uint32_t mpnum_cvt_f16x2_to_e2m1x4_(uint32_t ab, uint32_t cd) {
  uint32_t codes = 0;
  asm("{\n .reg .b8 low, high;\n cvt.rn.satfinite.e2m1x2.f16x2 low, %1;\n"
      " cvt.rn.satfinite.e2m1x2.f16x2 high, %2;\n mov.b32 %0, {low, high, 0, 0};\n}"
      : "=r"(codes)
      : "r"(ab), "r"(cd));
  return codes;
}
MPNUM_INLINE uint32_t mpnum_cvt_bf16x2_to_e2m1x4_(uint32_t ab, uint32_t cd) {
  uint32_t codes = 0;
  asm("{\n .reg .b8 low, high;\n cvt.rn.satfinite.e2m1x2.bf16x2 low, %1;\n"
      " cvt.rn.satfinite.e2m1x2.bf16x2 high, %2;\n mov.b32 %0, {low, high, 0, 0};\n}"
      : "=r"(codes)
      : "r"(ab), "r"(cd));
  return codes;
}
/* What the instruction saturates and an infinity or NaN would have to be: from ties on.
 */
MPNUM_INLINE uint32_t mpnum_cvt_bf16x2_to_e4m3x2_(uint32_t values,
                                                  mpnum_overflow overflow) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e4m3x2.bf16x2 %0, %1;" : "=h"(codes) : "r"(values));
  if (overflow == MPNUM_OVERFLOW_SATURATE) return codes;
  return mpnum_cvt_e4m3x2_past_(codes, values, 0x43e8u);
}
MPNUM_INLINE uint32_t mpnum_cvt_bf16x2_to_e5m2x2_(uint32_t values,
                                                  mpnum_overflow overflow) {
  unsigned short codes = 0;
  asm("cvt.rn.satfinite.e5m2x2.bf16x2 %0, %1;" : "=h"(codes) : "r"(values));
  if (overflow == MPNUM_OVERFLOW_SATURATE) return codes;
  return mpnum_cvt_e5m2x2_past_(codes, values, 0x4770u, 0x7f80u);
}
#endif

#if MPNUM_HAS_HW_SCALED_
/* Two codes times two scales, e8m0, as bf16. Only what the ISA has no choice in: numbers
 * whose products are zeros or normal, which are exact. Of NaN, Inf and scales beyond
 * 2^-110 to 2^112 it leaves bits open. */
MPNUM_INLINE uint32_t mpnum_cvt_e4m3x2_to_bf16x2_(uint32_t codes, uint32_t scales) {
  uint32_t values = 0;
  asm("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %0, %1, %2;"
      : "=r"(values)
      : "h"((unsigned short)codes), "h"((unsigned short)scales));
  return values;
}
MPNUM_INLINE uint32_t mpnum_cvt_e5m2x2_to_bf16x2_(uint32_t codes, uint32_t scales) {
  uint32_t values = 0;
  asm("cvt.rn.scaled::n2::ue8m0.bf16x2.e5m2x2 %0, %1, %2;"
      : "=r"(values)
      : "h"((unsigned short)codes), "h"((unsigned short)scales));
  return values;
}
MPNUM_INLINE uint32_t mpnum_cvt_e2m1x2_to_bf16x2_(uint32_t codes, uint32_t scales) {
  uint32_t values = 0;
  asm("{\n .reg .b8 pair, zero;\n mov.b16 {pair, zero}, %1;\n"
      " cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 %0, pair, %2;\n}"
      : "=r"(values)
      : "h"((unsigned short)(codes & 0xffu)), "h"((unsigned short)scales));
  return values;
}
#endif

MPNUM_C_END_
#endif

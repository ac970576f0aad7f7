/* SPDX-License-Identifier: MIT */
/* Four e2m1 of floats on devices, where no instruction makes them: to nearest even, and
 * by random words. */
#ifndef MPNUM_CUDA_DETAIL_E2M1_CUH
#define MPNUM_CUDA_DETAIL_E2M1_CUH

#include "launch.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

#if MPNUM_ON_DEVICE_
/* Codes of magnitudes in the lowest bits of 2^23 and more, where the last place of a
 * float is 1. Twice a magnitude, the magnitude and 2, or half of it and 4, whichever is
 * least, is the code where it is whole; each rounds to even as the code does. By FFMA, of
 * which a multiprocessor does twice as many as of steps on integers. NaN counts as 6. */
MPNUM_REAL_ uint32_t e2m1_code_(float x) {
  uint32_t sum;
  asm("{\n .reg .f32 y;\n .reg .b32 a, b, c;\n abs.f32 y, %1;\n"
      " min.f32 y, y, 0f40C00000;\n fma.rn.f32 a, y, 0f40000000, 0f4B000000;\n"
      " fma.rn.f32 b, y, 0f3F800000, 0f4B000002;\n"
      " fma.rn.f32 c, y, 0f3F000000, 0f4B000004;\n min.u32 %0, a, b;\n"
      " min.u32 %0, %0, c;\n}"
      : "=r"(sum)
      : "f"(x));
  return sum;
}
/* The same rounded by a random word: up where what is below the last place, times 2^32,
 * and the word carry. From 1 on a float is a code and 22 bits below it, less that of 1/2;
 * below 1 as if it were more by 1, but for 10 bits, which a subnormal is cut to. */
MPNUM_REAL_ uint32_t e2m1_code_(float x, uint32_t random) {
  uint32_t high, low;
  asm("{\n .reg .f32 y, p, q, d;\n .reg .b32 a, b;\n abs.f32 y, %2;\n"
      " min.f32 y, y, 0f40C00000;\n add.rn.sat.f32 p, y, 0f00000000;\n"
      " add.rz.f32 q, p, 0f3F800000;\n add.rn.f32 d, q, 0fBF800000;\n"
      " sub.rn.f32 d, p, d;\n mul.rz.f32 d, d, 0f05800000;\n mov.b32 %1, d;\n"
      " mov.b32 a, y;\n mov.b32 b, q;\n add.s32 b, b, -8388608;\n max.s32 %0, a, b;\n}"
      : "=r"(high), "=r"(low)
      : "f"(x));
  const uint64_t sum = static_cast<uint64_t>(high) * 1024 + low + random;
  return static_cast<uint32_t>(sum >> 32) - 252;
}
/* The same without the 10 bits: it may be too small where rest becomes e2m1_doubt_ or
 * more, which rest, 0 to begin with, does once in 2^22. 1 plus more than 1 is half of
 * that at most. */
enum : uint32_t { e2m1_doubt_ = 0xfffffc00u };
MPNUM_REAL_ uint32_t e2m1_code_(float x, uint32_t random, uint32_t &rest) {
  uint32_t code, low;
  asm("{\n .reg .f32 y, q;\n .reg .b32 a, b;\n .reg .b64 sum;\n abs.f32 y, %2;\n"
      " min.f32 y, y, 0f40C00000;\n add.rz.f32 q, y, 0f3F800000;\n mov.b32 a, y;\n"
      " mov.b32 b, q;\n add.s32 b, b, -8388608;\n max.s32 a, a, b;\n"
      " mov.b64 sum, {%3, -252};\n mad.wide.u32 sum, a, 1024, sum;\n"
      " mov.b64 {%1, %0}, sum;\n}"
      : "=r"(code), "=r"(low)
      : "f"(x), "r"(random));
  rest = low > rest ? low : rest;
  return code;
}
/* Codes with that of x, which has its sign, before the others. A NaN has none, as none
 * that a device makes has. */
MPNUM_REAL_ uint32_t e2m1_before_(uint32_t codes, float x, uint32_t code) {
  uint32_t moved;
  asm("shf.l.wrap.b32 %0, %1, %2, 1;"
      : "=r"(moved)
      : "r"(mpnum_bits_of_scalar_(x)), "r"(codes));
  return moved * 8 + code;
}
/* Four; above 16 bits there is anything. */
MPNUM_REAL_ uint32_t e2m1_four_(const float (&y)[4]) {
  uint32_t codes = 0;
  MPNUM_UNROLL_
  for (unsigned k = 4; k-- > 0;)
    codes = e2m1_before_(codes, y[k], e2m1_code_(y[k]));
  return codes;
}
MPNUM_REAL_ uint32_t e2m1_four_(const float (&y)[4], const uint32_t (&random)[4]) {
  uint32_t codes = 0;
  MPNUM_UNROLL_
  for (unsigned k = 4; k-- > 0;)
    codes = e2m1_before_(codes, y[k], e2m1_code_(y[k], random[k]));
  return codes;
}
MPNUM_REAL_ uint32_t e2m1_four_(const float (&y)[4], const uint32_t (&random)[4],
                                uint32_t &rest) {
  uint32_t codes = 0;
  MPNUM_UNROLL_
  for (unsigned k = 4; k-- > 0;)
    codes = e2m1_before_(codes, y[k], e2m1_code_(y[k], random[k], rest));
  return codes;
}
#endif
/* With NaN as all have it. */
MPNUM_REAL_ float with_one_nan_(float x) {
#if MPNUM_HAS_HW_BF16_
  asm("max.NaN.f32 %0, %0, 0fFF800000;" : "+f"(x));
  return x;
#else
  return mpnum_canonical_(x);
#endif
}
/* Four of any floats, saturating. */
MPNUM_INLINE mpnum_e2m1x4 e2m1_sat_four_(float a, float b, float c, float d) {
#if MPNUM_ON_DEVICE_ && !MPNUM_HAS_HW_FP4_
  const float y[4] = {with_one_nan_(a), with_one_nan_(b), with_one_nan_(c),
                      with_one_nan_(d)};
  const mpnum_e2m1x4 codes = {static_cast<uint16_t>(e2m1_four_(y))};
  return codes;
#else
  return mpnum_f32_to_e2m1_sat_x4(a, b, c, d);
#endif
}

} // namespace mpnum

MPNUM_C_END_
#endif

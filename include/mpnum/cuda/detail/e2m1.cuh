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
 * below 1 as if it were more by 1, but for 10 bits, which a subnormal is cut to. Above
 * the code is 252. */
MPNUM_REAL_ uint32_t e2m1_code_(float x, uint32_t random) {
  uint32_t high, low;
  asm("{\n .reg .f32 y, p, q, d;\n .reg .b32 a, b;\n abs.f32 y, %2;\n"
      " min.f32 y, y, 0f40C00000;\n add.rn.sat.f32 p, y, 0f00000000;\n"
      " add.rz.f32 q, p, 0f3F800000;\n add.rn.f32 d, q, 0fBF800000;\n"
      " sub.rn.f32 d, p, d;\n mul.rz.f32 d, d, 0f05800000;\n mov.b32 %1, d;\n"
      " mov.b32 a, y;\n mov.b32 b, q;\n add.s32 b, b, -8388608;\n max.s32 %0, a, b;\n}"
      : "=r"(high), "=r"(low)
      : "f"(x));
  return static_cast<uint32_t>((static_cast<uint64_t>(high) * 1024 + low + random) >> 32);
}
/* Bytes of two words. */
template <uint32_t selector> MPNUM_REAL_ uint32_t bytes_of_(float low, float high) {
  uint32_t chosen = 0;
  asm("prmt.b32 %0, %1, %2, %3;"
      : "=r"(chosen)
      : "r"(mpnum_bits_of_scalar_(low)), "r"(mpnum_bits_of_scalar_(high)), "n"(selector));
  return chosen;
}
/* Four with their signs; a NaN has none, as none that a device makes has. */
MPNUM_REAL_ uint32_t e2m1_signed_(uint32_t codes, const float (&y)[4]) {
  const uint32_t even = bytes_of_<0x0073>(y[0], y[2]),
                 odd = bytes_of_<0x0073>(y[1], y[3]);
  return (codes & 0x7777u) | (even >> 4 & 0x0808u) | (odd & 0x8080u);
}
MPNUM_REAL_ uint32_t e2m1_four_(const float (&y)[4]) {
  uint32_t codes = e2m1_code_(y[3]);
  codes = (codes << 4) + e2m1_code_(y[2]);
  codes = (codes << 4) + e2m1_code_(y[1]);
  codes = (codes << 4) + e2m1_code_(y[0]);
  return e2m1_signed_(codes, y);
}
MPNUM_REAL_ uint32_t e2m1_four_(const float (&y)[4], const uint32_t (&random)[4]) {
  uint32_t codes = e2m1_code_(y[3], random[3]);
  codes = (codes << 4) + e2m1_code_(y[2], random[2]);
  codes = (codes << 4) + e2m1_code_(y[1], random[1]);
  codes = (codes << 4) + e2m1_code_(y[0], random[0]);
  return e2m1_signed_(codes - 252 * 0x1111, y);
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

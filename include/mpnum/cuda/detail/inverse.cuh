/* SPDX-License-Identifier: MIT */
/* Inverses, quotients and roots by the steps that rcp.rn.f32, div.rn.f32 and sqrt.rn.f32
 * are compiled to, without the tests for numbers that are not normal. CUDA C++11; NVRTC
 * for all of it. */
#ifndef MPNUM_CUDA_DETAIL_INVERSE_CUH
#define MPNUM_CUDA_DETAIL_INVERSE_CUH

#include "../../simd/detail/f32_ops.h"
MPNUM_C_BEGIN_

static __device__ __forceinline__ float mpnum_minus_(float x) {
#if MPNUM_ON_DEVICE_
  float y; /* of an operand, where the next step takes it so */
  asm("neg.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return mpnum_from_bits_f32(mpnum_bits_f32(x) ^ 0x80000000u);
#endif
}
static __device__ __forceinline__ float mpnum_magnitude_(float x) {
#if MPNUM_ON_DEVICE_
  float y;
  asm("abs.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return mpnum_from_bits_f32(mpnum_bits_f32(x) & 0x7fffffffu);
#endif
}
/* 1 / x, off by one in the last place at most. Hosts that stand for a device are off as
 * far as that, but for a significand of ones, whose inverse the steps want to nearest and
 * have it, as rcp.rn.f32 is these steps. x and 1 / x are normal. */
static __device__ __forceinline__ float mpnum_near_inverse_(float x) {
#if MPNUM_ON_DEVICE_
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  const float one = mpnum_constant_scalar_(0x3f800000u);
  const float y = mpnum_div_scalar_(one, x);
  const float rest = mpnum_fma_scalar_(mpnum_minus_(x), y, one);
  const uint32_t bits = mpnum_bits_f32(y);
  if ((~mpnum_bits_f32(x) & 0x007fffffu) == 0 || !(rest < 0 || rest > 0)) return y;
  return mpnum_from_bits_f32(rest > 0 ? bits + 1 : bits - 1);
#endif
}
/* The float nearest to 1 / x: all significands with all approximations have been tried.
 */
static __device__ __forceinline__ float mpnum_usual_inverse_(float x) {
  const float y = mpnum_near_inverse_(x);
  return mpnum_fma_scalar_(
      y, mpnum_fma_scalar_(mpnum_minus_(x), y, mpnum_constant_scalar_(0x3f800000u)), y);
}
/* a / b. b is as x above; 2^-24 a and the quotient are normal, or a is +0. */
static __device__ __forceinline__ float mpnum_usual_quotient_(float a, float b) {
  const float inverse = mpnum_usual_inverse_(b), q = mpnum_mul_scalar_(a, inverse);
  return mpnum_fma_scalar_(mpnum_fma_scalar_(mpnum_minus_(b), q, a), inverse, q);
}
/* The root of +0 or of a finite x from 2^-100 on. */
static __device__ __forceinline__ float mpnum_usual_root_(float x) {
#if MPNUM_ON_DEVICE_
  const float least = mpnum_from_bits_f32(0x0d800000u); /* 2^-100, for 0 */
  float y, root;
  asm("{\n .reg .f32 t;\n max.f32 t, %1, %2;\n rsqrt.approx.ftz.f32 %0, t;\n}"
      : "=f"(y)
      : "f"(x), "f"(least));
  root = mpnum_mul_scalar_(x, y);
  return mpnum_fma_scalar_(mpnum_fma_scalar_(mpnum_minus_(root), root, x),
                           mpnum_mul_scalar_(y, mpnum_from_bits_f32(0x3f000000u)), root);
#else
  return mpnum_sqrt_raw_scalar_(x);
#endif
}

MPNUM_C_END_
#endif

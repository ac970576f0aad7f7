/* SPDX-License-Identifier: MIT */
/* exp and activations of f32 by the approximate instructions of GPUs, for kernels whose
 * results go to few bits. Not in mpnum.h.
 *
 *     const float y = mpnum_silu_fast_f32(x); // 6 instructions
 *
 * Bits       a GPU's own, and no two kinds need to have the same: the only ones here that
 *            are. On hosts those of the light form of the same name (light.h).
 * Error      with u = 2^-24, as a multiple of the exact value and an absolute part:
 *              exp       (5.1 + 1.25 |x|) u,                     2^-125
 *              sigmoid   (9.1 + 1.25 |x| where x < 0) u,         2^-125
 *              silu      (10.1 + 1.25 |x| where x < 0) u,        2^-119
 *              gelu_tanh (10.1 + 3.2 |v| where x < 0) u,         2^-122
 *              tanh      2^-11
 *            where v = 1.5957692 (x + 0.044715 x^3). It follows from what the PTX ISA
 *            says of ex2.approx (9.7.3.21: 2 places off the nearest float), rcp.approx
 *            (9.7.3.13: 1 place) and tanh.approx (9.7.3.22: 2^-11), and holds with their
 *            errors at their worst [tests/cuda/ptx/test_ptx_fast.py]. docs/functions.md.
 * NaN        in gives NaN out.
 * Overflow   exp gives Inf where e^x, with its error, is above the largest float.
 * Zeros      f(-0) is -0 where f(0) is 0; silu and gelu_tanh of -Inf are -0. */
#ifndef MPNUM_FUNC_FAST_H
#define MPNUM_FUNC_FAST_H

#include "detail/light_scalars.h"
MPNUM_C_BEGIN_

#if MPNUM_ON_DEVICE_
MPNUM_MATH_ float mpnum_fast_exp2_(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/* 1 / (1 + 2^t) */
MPNUM_MATH_ float mpnum_fast_fraction_(float t) {
  const float sum =
      mpnum_add_scalar_(mpnum_fast_exp2_(t), mpnum_constant_scalar_(0x3f800000u));
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(sum));
  return y;
}
/* x times a fraction that is 0 below -128, also where x is -Inf. */
MPNUM_MATH_ float mpnum_fast_gated_(float x, float fraction) {
  return mpnum_mul_scalar_(mpnum_clamped_below_scalar_(x, 0xc3000000u), fraction);
}
#endif

/* e^x. */
MPNUM_MATH_ float mpnum_exp_fast_f32(float x) {
#if MPNUM_ON_DEVICE_
  return mpnum_fast_exp2_(
      mpnum_mul_scalar_(x, mpnum_constant_scalar_(0x3fb8aa3bu))); /* 1 / log 2 */
#else
  return mpnum_light_exp_scalar_(x);
#endif
}
/* 1 / (1 + e^-x). */
MPNUM_MATH_ float mpnum_sigmoid_fast_f32(float x) {
#if MPNUM_ON_DEVICE_
  return mpnum_fast_fraction_(
      mpnum_mul_scalar_(x, mpnum_constant_scalar_(0xbfb8aa3bu))); /* -1 / log 2 */
#else
  return mpnum_light_sigmoid_scalar_(x);
#endif
}
/* 1 / (1 + e^-v), v = sqrt(8 / pi) (x + 0.044715 x^3). */
MPNUM_MATH_ float mpnum_fast_gelu_fraction_(float x) {
  const float square = mpnum_mul_scalar_(x, x);
#if MPNUM_ON_DEVICE_
  return mpnum_fast_fraction_(mpnum_mul_scalar_(
      x, mpnum_fma_scalar_(square, mpnum_constant_scalar_(0xbdd2d3e8u),
                           mpnum_constant_scalar_(0xc0135761u)))); /* over -log 2 */
#else
  return mpnum_light_sigmoid_scalar_(
      mpnum_mul_scalar_(x, mpnum_fma_scalar_(square, mpnum_constant_scalar_(0x3d922279u),
                                             mpnum_constant_scalar_(0x3fcc422au))));
#endif
}
/* The hyperbolic tangent. */
MPNUM_MATH_ float mpnum_tanh_fast_f32(float x) {
#if MPNUM_ON_DEVICE_
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return mpnum_light_tanh_scalar_(x);
#endif
}
/* x / (1 + e^-x), also named swish. */
MPNUM_MATH_ float mpnum_silu_fast_f32(float x) {
#if MPNUM_ON_DEVICE_
  return mpnum_fast_gated_(x, mpnum_sigmoid_fast_f32(x));
#else
  return mpnum_light_silu_scalar_(x);
#endif
}
/* The usual approximation of gelu by tanh. */
MPNUM_MATH_ float mpnum_gelu_tanh_fast_f32(float x) {
#if MPNUM_ON_DEVICE_
  return mpnum_fast_gated_(x, mpnum_fast_gelu_fraction_(x));
#else
  return mpnum_light_gelu_tanh_scalar_(x);
#endif
}

MPNUM_C_END_
#endif

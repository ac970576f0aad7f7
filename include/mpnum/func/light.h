/* SPDX-License-Identifier: MIT */
/* exp and activations of f32 for who needs them fast rather than to the last place, on
 * hosts and devices. Not in mpnum.h.
 *
 *     mpnum_silu_light_f32_array(y, x, n);
 *
 * Error      at most 4 units in the last place of the result, each as measured at every
 *            float (docs/errors.md); results below 2^-126 in magnitude, and those of
 *            subnormal arguments where the function is near x or x / 2, are zeros of
 *            their sign.
 * Bits       one set for each function: the same from scalars, arrays of any length and
 *            instruction set, and devices, whatever the flags, with the exceptions of the
 *            other functions: a directed rounding mode changes scalars of hosts, by at
 *            most 7 places as far as was sampled, and |tanh| may pass 1 by one.
 * NaN        in gives NaN out, canonical without a sign.
 * Overflow   exp gives Inf.
 * Zeros      f(-0) is -0 where f(0) is 0; silu and both gelu of -Inf are -0.
 * Arrays     as those of func_array.h: dst may be src, any alignment. */
#ifndef MPNUM_FUNC_LIGHT_H
#define MPNUM_FUNC_LIGHT_H

#include "detail/light_loops.h"
MPNUM_C_BEGIN_

/* e^x. */
MPNUM_MATH_ float mpnum_exp_light_f32(float x) { return mpnum_light_exp_scalar_(x); }
/* 1 / (1 + e^-x). */
MPNUM_MATH_ float mpnum_sigmoid_light_f32(float x) {
  return mpnum_light_sigmoid_scalar_(x);
}
/* The hyperbolic tangent. */
MPNUM_MATH_ float mpnum_tanh_light_f32(float x) { return mpnum_light_tanh_scalar_(x); }
/* x / (1 + e^-x), also named swish. */
MPNUM_MATH_ float mpnum_silu_light_f32(float x) { return mpnum_light_silu_scalar_(x); }
/* x times the normal distribution below x. */
MPNUM_MATH_ float mpnum_gelu_light_f32(float x) { return mpnum_light_gelu_scalar_(x); }
/* Its usual approximation by tanh. */
MPNUM_MATH_ float mpnum_gelu_tanh_light_f32(float x) {
  return mpnum_light_gelu_tanh_scalar_(x);
}

#if MPNUM_HAS_ARRAYS_

/* The same of every element. Host only. */
MPNUM_HOST void mpnum_exp_light_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(light_exp, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_sigmoid_light_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(light_sigmoid, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_tanh_light_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(light_tanh, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_silu_light_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(light_silu, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_gelu_light_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(light_gelu, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_gelu_tanh_light_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(light_gelu_tanh, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}

#endif
MPNUM_C_END_
#endif

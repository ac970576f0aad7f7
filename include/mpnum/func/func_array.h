/* SPDX-License-Identifier: MIT */
/* The functions of func.h over arrays, with the best vector instructions of the CPU,
 * chosen at run time (isa.h): the same bits from each.
 *
 *     mpnum_exp_f32_array(y, x, n);
 *
 * Every element is that of the scalar function of the same name without _array: for f16
 * and bf16 the code nearest to the value, for f32 within the errors of docs/errors.md.
 * The caller's rounding mode and flags, and -ffast-math, change nothing; but they change
 * f32 on machines other than x86 and aarch64, and with compilers other than gcc and
 * clang. Domain: n elements, 0 and up; any alignment. dst may be a source; otherwise
 * arrays do not overlap. Host only. */
#ifndef MPNUM_FUNC_FUNC_ARRAY_H
#define MPNUM_FUNC_FUNC_ARRAY_H

#include "func.h"
#include "detail/func_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Written by tools/wrappers (functions of arrays): do not edit. */
/* Exponentials: e^x, 2^x, 10^x and e^x - 1. */
MPNUM_HOST void mpnum_exp_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(exp, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_exp_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_exp_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_exp_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_exp_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_exp_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(exp, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_HOST void mpnum_exp_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_exp_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_exp_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                         size_t n) {
  mpnum_exp_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_exp2_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(exp2, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_exp2_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_exp2_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_exp2_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_exp2_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_exp2_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(exp2, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_HOST void mpnum_exp2_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_exp2_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_exp2_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                          size_t n) {
  mpnum_exp2_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_exp10_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(exp10, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_exp10_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_exp10_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_exp10_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_exp10_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_exp10_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(exp10, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_HOST void mpnum_exp10_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                          size_t n) {
  mpnum_exp10_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_exp10_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                           size_t n) {
  mpnum_exp10_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_expm1_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(expm1, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_expm1_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_expm1_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_expm1_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_expm1_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_expm1_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(expm1, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_HOST void mpnum_expm1_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                          size_t n) {
  mpnum_expm1_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_expm1_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                           size_t n) {
  mpnum_expm1_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}

/* Logarithms: natural, binary and decimal, and log(1 + x). */
MPNUM_HOST void mpnum_log_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(log, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_log_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_log_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_log_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_log_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_log_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(log, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 1);
}
MPNUM_HOST void mpnum_log_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_log_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_log_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                         size_t n) {
  mpnum_log_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_log2_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(log2, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_log2_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_log2_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_log2_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_log2_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_log2_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(log2, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 1);
}
MPNUM_HOST void mpnum_log2_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_log2_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_log2_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                          size_t n) {
  mpnum_log2_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_log10_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(log10, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_log10_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_log10_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_log10_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_log10_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_log10_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(log10, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 1);
}
MPNUM_HOST void mpnum_log10_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                          size_t n) {
  mpnum_log10_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_log10_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                           size_t n) {
  mpnum_log10_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_log1p_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(log1p, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_log1p_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_log1p_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_log1p_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_log1p_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}

/* The square root, 1 / sqrt(x) and 1 / x. */
MPNUM_HOST void mpnum_sqrt_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(sqrt, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_sqrt_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_sqrt_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_sqrt_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_sqrt_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_rsqrt_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(rsqrt, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_rsqrt_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_rsqrt_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_rsqrt_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_rsqrt_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_rsqrt_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(rsqrt, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_HOST void mpnum_rsqrt_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                          size_t n) {
  mpnum_rsqrt_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_rsqrt_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                           size_t n) {
  mpnum_rsqrt_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_reciprocal_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(reciprocal, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_reciprocal_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                           size_t n) {
  mpnum_reciprocal_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_reciprocal_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                            size_t n) {
  mpnum_reciprocal_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_reciprocal_sat_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(reciprocal, dst, src, src, n, MPNUM_OVERFLOW_SATURATE, 0);
}
MPNUM_HOST void mpnum_reciprocal_sat_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                               size_t n) {
  mpnum_reciprocal_of_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_reciprocal_sat_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                                size_t n) {
  mpnum_reciprocal_of_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}

/* Activations: 1 / (1 + e^-x), the hyperbolic tangent and log(1 + e^x). */
MPNUM_HOST void mpnum_sigmoid_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(sigmoid, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_sigmoid_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_sigmoid_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_sigmoid_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                         size_t n) {
  mpnum_sigmoid_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_tanh_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(tanh, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_tanh_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_tanh_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_tanh_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_tanh_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_softplus_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(softplus, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_softplus_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_softplus_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_softplus_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                          size_t n) {
  mpnum_softplus_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}

/* x / (1 + e^-x), also named swish; x times the normal distribution below x; its
 * approximation by x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3); and the error
 * function. */
MPNUM_HOST void mpnum_silu_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(silu, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_silu_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_silu_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_silu_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_silu_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_gelu_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(gelu, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_gelu_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_gelu_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_gelu_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_gelu_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_gelu_tanh_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(gelu_tanh, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_gelu_tanh_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                          size_t n) {
  mpnum_gelu_tanh_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_gelu_tanh_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                           size_t n) {
  mpnum_gelu_tanh_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_erf_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(erf, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_erf_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_erf_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_erf_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_erf_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}

/* Sine and cosine of radians, of any size. */
MPNUM_HOST void mpnum_sin_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(sin, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_sin_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_sin_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_sin_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_sin_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_cos_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(cos, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_cos_f16_array(mpnum_f16 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_cos_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_cos_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_cos_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}

/* Derivatives, df/dx at x; that of softplus is sigmoid. */
MPNUM_HOST void mpnum_sigmoid_derivative_f32_array(float *dst, const float *src,
                                                   size_t n) {
  MPNUM_RUN_F32_(sigmoid_derivative, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_sigmoid_derivative_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                                   size_t n) {
  mpnum_sigmoid_derivative_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_sigmoid_derivative_bf16_array(mpnum_bf16 *dst,
                                                    const mpnum_bf16 *src, size_t n) {
  mpnum_sigmoid_derivative_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_tanh_derivative_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(tanh_derivative, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_tanh_derivative_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                                size_t n) {
  mpnum_tanh_derivative_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_tanh_derivative_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                                 size_t n) {
  mpnum_tanh_derivative_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_silu_derivative_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(silu_derivative, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_silu_derivative_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                                size_t n) {
  mpnum_silu_derivative_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_silu_derivative_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                                 size_t n) {
  mpnum_silu_derivative_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_gelu_derivative_f32_array(float *dst, const float *src, size_t n) {
  MPNUM_RUN_F32_(gelu_derivative, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_gelu_derivative_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                                size_t n) {
  mpnum_gelu_derivative_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_gelu_derivative_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *src,
                                                 size_t n) {
  mpnum_gelu_derivative_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_gelu_tanh_derivative_f32_array(float *dst, const float *src,
                                                     size_t n) {
  MPNUM_RUN_F32_(gelu_tanh_derivative, dst, src, src, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_gelu_tanh_derivative_f16_array(mpnum_f16 *dst, const mpnum_f16 *src,
                                                     size_t n) {
  mpnum_gelu_tanh_derivative_of_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_gelu_tanh_derivative_bf16_array(mpnum_bf16 *dst,
                                                      const mpnum_bf16 *src, size_t n) {
  mpnum_gelu_tanh_derivative_of_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}

/* log(e^a + e^b). */
MPNUM_HOST void mpnum_logaddexp_f32_array(float *dst, const float *a, const float *b,
                                          size_t n) {
  MPNUM_RUN_F32_(logaddexp, dst, a, b, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_logaddexp_f16_array(mpnum_f16 *dst, const mpnum_f16 *a,
                                          const mpnum_f16 *b, size_t n) {
  mpnum_logaddexp_16_(mpnum_small_f16_(), dst, a, b, n);
}
MPNUM_HOST void mpnum_logaddexp_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *a,
                                           const mpnum_bf16 *b, size_t n) {
  mpnum_logaddexp_16_(mpnum_small_bf16_(), dst, a, b, n);
}

/* silu(a) b and gelu(a) b, a being the gate. */
MPNUM_HOST void mpnum_swiglu_f32_array(float *dst, const float *a, const float *b,
                                       size_t n) {
  MPNUM_RUN_F32_(swiglu, dst, a, b, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_swiglu_f16_array(mpnum_f16 *dst, const mpnum_f16 *a,
                                       const mpnum_f16 *b, size_t n) {
  mpnum_swiglu_16_(mpnum_small_f16_(), dst, a, b, n);
}
MPNUM_HOST void mpnum_swiglu_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *a,
                                        const mpnum_bf16 *b, size_t n) {
  mpnum_swiglu_16_(mpnum_small_bf16_(), dst, a, b, n);
}
MPNUM_HOST void mpnum_geglu_f32_array(float *dst, const float *a, const float *b,
                                      size_t n) {
  MPNUM_RUN_F32_(geglu, dst, a, b, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_geglu_f16_array(mpnum_f16 *dst, const mpnum_f16 *a,
                                      const mpnum_f16 *b, size_t n) {
  mpnum_geglu_16_(mpnum_small_f16_(), dst, a, b, n);
}
MPNUM_HOST void mpnum_geglu_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *a,
                                       const mpnum_bf16 *b, size_t n) {
  mpnum_geglu_16_(mpnum_small_bf16_(), dst, a, b, n);
}

/* a^b. */
MPNUM_HOST void mpnum_pow_f32_array(float *dst, const float *a, const float *b,
                                    size_t n) {
  MPNUM_RUN_F32_(pow, dst, a, b, n, MPNUM_OVERFLOW_IEEE, 0);
}
MPNUM_HOST void mpnum_pow_f16_array(mpnum_f16 *dst, const mpnum_f16 *a,
                                    const mpnum_f16 *b, size_t n) {
  mpnum_pow_16_(mpnum_small_f16_(), dst, a, b, n);
}
MPNUM_HOST void mpnum_pow_bf16_array(mpnum_bf16 *dst, const mpnum_bf16 *a,
                                     const mpnum_bf16 *b, size_t n) {
  mpnum_pow_16_(mpnum_small_bf16_(), dst, a, b, n);
}

/* Sines and cosines; one of the two may be src. */
MPNUM_HOST void mpnum_sincos_f32_array(float *sine, float *cosine, const float *src,
                                       size_t n) {
  mpnum_sincos_f32_(sine, cosine, src, n);
}
MPNUM_HOST void mpnum_sincos_f16_array(mpnum_f16 *sine, mpnum_f16 *cosine,
                                       const mpnum_f16 *src, size_t n) {
  mpnum_sincos_of_f16_(sine, cosine, src, n);
}
MPNUM_HOST void mpnum_sincos_bf16_array(mpnum_bf16 *sine, mpnum_bf16 *cosine,
                                        const mpnum_bf16 *src, size_t n) {
  mpnum_sincos_of_bf16_(sine, cosine, src, n);
}
/* End of what tools/wrappers wrote. */

#endif
MPNUM_C_END_
#endif

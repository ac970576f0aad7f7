/* SPDX-License-Identifier: MIT */
/* exp, log, tanh, gelu and their like for f32, f16 and bf16, on hosts and devices.
 *
 * Error      f16 and bf16: correctly rounded, nearest even, for every input, with any
 *            compiler, flags and floating-point environment (test functions_small).
 *            f32: units in the last place as given in docs/errors.md, and the same bits
 *            everywhere, but under -ffast-math, a directed rounding mode or with
 *            subnormals flushed only these errors. No table.
 * NaN        in gives NaN out, canonical without a sign, as do arguments outside the
 *            domain.
 * Overflow   Inf, as C's functions; the forms named _sat give the largest finite value of
 *            the sign instead, of Inf, too, and for a zero argument log, log2 and log10
 *            give the value at the smallest positive argument.
 * Zeros      signs as C23 Annex F has them: f(-0) is -0 where f(0) is 0.
 * 8-bit and smaller types: decode to f32, call, encode.
 * Source     Cody and Waite's reduction and minimax polynomials (tools/
 *            function-coefficients); where a float is too close to the middle of two
 *            codes, wide.h decides. */
#ifndef MPNUM_FUNC_FUNC_H
#define MPNUM_FUNC_FUNC_H

#include "detail/func_small.h"
MPNUM_C_BEGIN_

/* Written by tools/wrappers (functions): do not edit. */
/* Exponentials: e^x, 2^x, 10^x and e^x - 1. The last is exact to the place near 0. */
MPNUM_MATH_ float mpnum_exp_f32(float x) { return mpnum_exp_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_exp_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_EXP_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_exp_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_EXP_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_exp_sat_f32(float x) {
  return mpnum_saturated_(mpnum_exp_scalar_(x));
}
MPNUM_MATH_ mpnum_f16 mpnum_exp_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_EXP_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_exp_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_EXP_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ float mpnum_exp2_f32(float x) { return mpnum_exp2_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_exp2_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_EXP2_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_exp2_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_EXP2_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_exp2_sat_f32(float x) {
  return mpnum_saturated_(mpnum_exp2_scalar_(x));
}
MPNUM_MATH_ mpnum_f16 mpnum_exp2_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_EXP2_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_exp2_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_EXP2_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ float mpnum_exp10_f32(float x) { return mpnum_exp10_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_exp10_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_EXP10_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_exp10_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_EXP10_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_exp10_sat_f32(float x) {
  return mpnum_saturated_(mpnum_exp10_scalar_(x));
}
MPNUM_MATH_ mpnum_f16 mpnum_exp10_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_EXP10_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_exp10_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_EXP10_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ float mpnum_expm1_f32(float x) { return mpnum_expm1_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_expm1_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_EXPM1_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_expm1_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_EXPM1_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_expm1_sat_f32(float x) {
  return mpnum_saturated_(mpnum_expm1_scalar_(x));
}
MPNUM_MATH_ mpnum_f16 mpnum_expm1_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_EXPM1_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_expm1_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_EXPM1_, x, MPNUM_OVERFLOW_SATURATE);
}

/* Logarithms: natural, binary and decimal, and log(1 + x). -Inf at 0 (log1p: at -1). */
MPNUM_MATH_ float mpnum_log_f32(float x) { return mpnum_log_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_log_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_LOG_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_log_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_LOG_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_log_sat_f32(float x) {
  return mpnum_saturated_(mpnum_log_scalar_(mpnum_positive_f32_(x)));
}
MPNUM_MATH_ mpnum_f16 mpnum_log_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_LOG_, mpnum_positive_f16_(x),
                             MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_log_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_LOG_, mpnum_positive_bf16_(x),
                              MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ float mpnum_log2_f32(float x) { return mpnum_log2_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_log2_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_LOG2_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_log2_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_LOG2_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_log2_sat_f32(float x) {
  return mpnum_saturated_(mpnum_log2_scalar_(mpnum_positive_f32_(x)));
}
MPNUM_MATH_ mpnum_f16 mpnum_log2_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_LOG2_, mpnum_positive_f16_(x),
                             MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_log2_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_LOG2_, mpnum_positive_bf16_(x),
                              MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ float mpnum_log10_f32(float x) { return mpnum_log10_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_log10_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_LOG10_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_log10_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_LOG10_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_log10_sat_f32(float x) {
  return mpnum_saturated_(mpnum_log10_scalar_(mpnum_positive_f32_(x)));
}
MPNUM_MATH_ mpnum_f16 mpnum_log10_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_LOG10_, mpnum_positive_f16_(x),
                             MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_log10_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_LOG10_, mpnum_positive_bf16_(x),
                              MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ float mpnum_log1p_f32(float x) { return mpnum_log1p_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_log1p_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_LOG1P_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_log1p_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_LOG1P_, x, MPNUM_OVERFLOW_IEEE);
}

/* The square root, 1 / sqrt(x) and 1 / x. */
MPNUM_MATH_ float mpnum_sqrt_f32(float x) { return mpnum_sqrt_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_sqrt_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_SQRT_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_sqrt_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_SQRT_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_rsqrt_f32(float x) { return mpnum_rsqrt_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_rsqrt_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_RSQRT_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_rsqrt_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_RSQRT_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_rsqrt_sat_f32(float x) {
  return mpnum_saturated_(mpnum_rsqrt_scalar_(x));
}
MPNUM_MATH_ mpnum_f16 mpnum_rsqrt_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_RSQRT_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_rsqrt_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_RSQRT_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ float mpnum_reciprocal_f32(float x) { return mpnum_reciprocal_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_reciprocal_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_RECIPROCAL_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_reciprocal_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_RECIPROCAL_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_reciprocal_sat_f32(float x) {
  return mpnum_saturated_(mpnum_reciprocal_scalar_(x));
}
MPNUM_MATH_ mpnum_f16 mpnum_reciprocal_sat_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_RECIPROCAL_, x, MPNUM_OVERFLOW_SATURATE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_reciprocal_sat_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_RECIPROCAL_, x, MPNUM_OVERFLOW_SATURATE);
}

/* Activations: 1 / (1 + e^-x), the hyperbolic tangent and log(1 + e^x). */
MPNUM_MATH_ float mpnum_sigmoid_f32(float x) { return mpnum_sigmoid_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_sigmoid_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_SIGMOID_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_sigmoid_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_SIGMOID_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_tanh_f32(float x) { return mpnum_tanh_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_tanh_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_TANH_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_tanh_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_TANH_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_softplus_f32(float x) { return mpnum_softplus_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_softplus_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_SOFTPLUS_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_softplus_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_SOFTPLUS_, x, MPNUM_OVERFLOW_IEEE);
}

/* x / (1 + e^-x), also named swish; x times the normal distribution below x; its
 * approximation by x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3); and the error
 * function. At -Inf the first three are -0. */
MPNUM_MATH_ float mpnum_silu_f32(float x) { return mpnum_silu_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_silu_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_SILU_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_silu_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_SILU_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_gelu_f32(float x) { return mpnum_gelu_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_gelu_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_GELU_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_gelu_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_GELU_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_gelu_tanh_f32(float x) { return mpnum_gelu_tanh_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_gelu_tanh_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_GELU_TANH_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_gelu_tanh_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_GELU_TANH_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_erf_f32(float x) { return mpnum_erf_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_erf_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_ERF_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_erf_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_ERF_, x, MPNUM_OVERFLOW_IEEE);
}

/* Sine and cosine of radians, of any size. mpnum_sincos_f32 gives both. */
MPNUM_MATH_ float mpnum_sin_f32(float x) { return mpnum_sin_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_sin_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_SIN_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_sin_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_SIN_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_cos_f32(float x) { return mpnum_cos_scalar_(x); }
MPNUM_MATH_ mpnum_f16 mpnum_cos_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_COS_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_cos_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_COS_, x, MPNUM_OVERFLOW_IEEE);
}

/* Derivatives, df/dx at x; that of softplus is sigmoid. The last three change their
 * sign, silu's near -1.278 and those of gelu near -0.752; close to there f32 has an
 * absolute error of 2^-27. */
MPNUM_MATH_ float mpnum_sigmoid_derivative_f32(float x) {
  return mpnum_sigmoid_derivative_scalar_(x);
}
MPNUM_MATH_ mpnum_f16 mpnum_sigmoid_derivative_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_SIGMOID_DERIVATIVE_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_sigmoid_derivative_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_SIGMOID_DERIVATIVE_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_tanh_derivative_f32(float x) {
  return mpnum_tanh_derivative_scalar_(x);
}
MPNUM_MATH_ mpnum_f16 mpnum_tanh_derivative_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_TANH_DERIVATIVE_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_tanh_derivative_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_TANH_DERIVATIVE_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_silu_derivative_f32(float x) {
  return mpnum_silu_derivative_scalar_(x);
}
MPNUM_MATH_ mpnum_f16 mpnum_silu_derivative_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_SILU_DERIVATIVE_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_silu_derivative_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_SILU_DERIVATIVE_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_gelu_derivative_f32(float x) {
  return mpnum_gelu_derivative_scalar_(x);
}
MPNUM_MATH_ mpnum_f16 mpnum_gelu_derivative_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_GELU_DERIVATIVE_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_gelu_derivative_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_GELU_DERIVATIVE_, x, MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ float mpnum_gelu_tanh_derivative_f32(float x) {
  return mpnum_gelu_tanh_derivative_scalar_(x);
}
MPNUM_MATH_ mpnum_f16 mpnum_gelu_tanh_derivative_f16(mpnum_f16 x) {
  return mpnum_f16_function_(MPNUM_FUNCTION_GELU_TANH_DERIVATIVE_, x,
                             MPNUM_OVERFLOW_IEEE);
}
MPNUM_MATH_ mpnum_bf16 mpnum_gelu_tanh_derivative_bf16(mpnum_bf16 x) {
  return mpnum_bf16_function_(MPNUM_FUNCTION_GELU_TANH_DERIVATIVE_, x,
                              MPNUM_OVERFLOW_IEEE);
}

/* log(e^a + e^b). Near 0, where the two parts cancel, f32 has an absolute error of
 * 2^-23. */
MPNUM_MATH_ float mpnum_logaddexp_f32(float a, float b) {
  return mpnum_logaddexp_scalar_(a, b);
}
MPNUM_MATH_ mpnum_f16 mpnum_logaddexp_f16(mpnum_f16 a, mpnum_f16 b) {
  return mpnum_f16_function_of_two_(MPNUM_FUNCTION_LOGADDEXP_, a, b);
}
MPNUM_MATH_ mpnum_bf16 mpnum_logaddexp_bf16(mpnum_bf16 a, mpnum_bf16 b) {
  return mpnum_bf16_function_of_two_(MPNUM_FUNCTION_LOGADDEXP_, a, b);
}

/* silu(a) b and gelu(a) b, a being the gate. f32 is off by 3 places at most, where the
 * factor is not subnormal. */
MPNUM_MATH_ float mpnum_swiglu_f32(float a, float b) {
  return mpnum_swiglu_scalar_(a, b);
}
MPNUM_MATH_ mpnum_f16 mpnum_swiglu_f16(mpnum_f16 a, mpnum_f16 b) {
  return mpnum_f16_function_of_two_(MPNUM_FUNCTION_SWIGLU_, a, b);
}
MPNUM_MATH_ mpnum_bf16 mpnum_swiglu_bf16(mpnum_bf16 a, mpnum_bf16 b) {
  return mpnum_bf16_function_of_two_(MPNUM_FUNCTION_SWIGLU_, a, b);
}
MPNUM_MATH_ float mpnum_geglu_f32(float a, float b) { return mpnum_geglu_scalar_(a, b); }
MPNUM_MATH_ mpnum_f16 mpnum_geglu_f16(mpnum_f16 a, mpnum_f16 b) {
  return mpnum_f16_function_of_two_(MPNUM_FUNCTION_GEGLU_, a, b);
}
MPNUM_MATH_ mpnum_bf16 mpnum_geglu_bf16(mpnum_bf16 a, mpnum_bf16 b) {
  return mpnum_bf16_function_of_two_(MPNUM_FUNCTION_GEGLU_, a, b);
}

/* a^b. Special values are as C23 Annex F has them: 1^b and a^0 are 1, for NaN, too. */
MPNUM_MATH_ float mpnum_pow_f32(float a, float b) { return mpnum_pow_scalar_(a, b); }
MPNUM_MATH_ mpnum_f16 mpnum_pow_f16(mpnum_f16 a, mpnum_f16 b) {
  return mpnum_f16_function_of_two_(MPNUM_FUNCTION_POW_, a, b);
}
MPNUM_MATH_ mpnum_bf16 mpnum_pow_bf16(mpnum_bf16 a, mpnum_bf16 b) {
  return mpnum_bf16_function_of_two_(MPNUM_FUNCTION_POW_, a, b);
}

/* Both, as sin and cos give them; f32 at the cost of one. */
MPNUM_MATH_ void mpnum_sincos_f32(float x, float *sine, float *cosine) {
  mpnum_sincos_of_(x, sine, cosine);
}
MPNUM_MATH_ void mpnum_sincos_f16(mpnum_f16 x, mpnum_f16 *sine, mpnum_f16 *cosine) {
  *sine = mpnum_sin_f16(x);
  *cosine = mpnum_cos_f16(x);
}
MPNUM_MATH_ void mpnum_sincos_bf16(mpnum_bf16 x, mpnum_bf16 *sine, mpnum_bf16 *cosine) {
  *sine = mpnum_sin_bf16(x);
  *cosine = mpnum_cos_bf16(x);
}
/* End of what tools/wrappers wrote. */

MPNUM_C_END_
#endif

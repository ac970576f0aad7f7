/* SPDX-License-Identifier: MIT */
/* The one table of functions of values. Its rows make the scalar and array functions
 * (tools/wrappers), loops, f16 and bf16 forms, and the rows of tests and benchmark;
 * CONTRIBUTING.md says what a new row needs besides. */
#ifndef MPNUM_FUNC_DETAIL_FUNCTION_TABLE_H
#define MPNUM_FUNC_DETAIL_FUNCTION_TABLE_H

#include "../../core/detail/config.h"
MPNUM_C_BEGIN_

/* ROW(name, NAME, forms, light, f16 ties, bf16 ties, flushes, first, last), functions of
 * one argument.
 *   forms   PLAIN; SAT, if it has a form that saturates; LOG, if that form takes the
 *           smallest positive argument for a zero, too
 *   light   OWN, if func_light.inc has a form for arrays of f16 and bf16; F32, if they
 *           take that of floats
 *   ties    how many floats, the middle of two codes among them, that form leaves to the
 *           scalar function
 *   flushes 1, if all floats have shown that the loops have the same bits where
 *           subnormals are flushed to zero
 *   first   the magnitudes of bf16 at which a form that is OWN needs no clamps, and no
 *   last    steps for subnormals, from first to last; up to 7fff there are none
 * A comment stands in func.h above the functions behind it, with its first sentence in
 * func_array.h. */
/* clang-format off */
#define MPNUM_FUNCTION_ROWS_(ROW) \
  /* Exponentials: e^x, 2^x, 10^x and e^x - 1. The last is exact to the place near 0. */ \
  ROW(exp, EXP, SAT, OWN, 1, 0, 1, 0, 0x42ae) \
  ROW(exp2, EXP2, SAT, OWN, 1, 0, 1, 0, 0x42fc) \
  ROW(exp10, EXP10, SAT, OWN, 1, 1, 1, 0, 0x4214) \
  ROW(expm1, EXPM1, SAT, OWN, 0, 0, 1, 0x0101, 0x4190) \
  /* Logarithms: natural, binary and decimal, and log(1 + x). -Inf at 0 (log1p: at -1). */ \
  ROW(log, LOG, LOG, OWN, 0, 0, 1, 0, 0x7fff) \
  ROW(log2, LOG2, LOG, OWN, 0, 0, 1, 0, 0x7fff) \
  ROW(log10, LOG10, LOG, OWN, 1, 0, 1, 0, 0x7fff) \
  ROW(log1p, LOG1P, PLAIN, OWN, 1, 0, 1, 0x0180, 0x7f80) \
  /* The square root, 1 / sqrt(x) and 1 / x. */ \
  ROW(sqrt, SQRT, PLAIN, OWN, 0, 0, 1, 0x0080, 0x7f80) \
  ROW(rsqrt, RSQRT, SAT, OWN, 0, 0, 1, 0x0080, 0x7f80) \
  ROW(reciprocal, RECIPROCAL, SAT, OWN, 0, 0, 1, 0x0080, 0x7e80) \
  /* Activations: 1 / (1 + e^-x), the hyperbolic tangent and log(1 + e^x). */ \
  ROW(sigmoid, SIGMOID, PLAIN, OWN, 1, 0, 1, 0, 0x41a0) \
  ROW(tanh, TANH, PLAIN, OWN, 1, 0, 1, 0x0080, 0x4118) \
  ROW(softplus, SOFTPLUS, PLAIN, F32, 1, 0, 1, 0, 0x7fff) \
  /* x / (1 + e^-x), also named swish; x times the normal distribution below x; its \
   * approximation by x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3); and the \
   * error function. At -Inf the first three are -0. */ \
  ROW(silu, SILU, PLAIN, OWN, 0, 0, 1, 0x0101, 0x41a0) \
  ROW(gelu, GELU, PLAIN, OWN, 1, 0, 1, 0x0101, 0x4150) \
  ROW(gelu_tanh, GELU_TANH, PLAIN, OWN, 1, 0, 1, 0x0101, 0x40e0) \
  ROW(erf, ERF, PLAIN, OWN, 0, 0, 1, 0x0080, 0x7f80) \
  /* Sine and cosine of radians, of any size. mpnum_sincos_f32 gives both. */ \
  ROW(sin, SIN, PLAIN, OWN, 1, 0, 1, 0x0080, 0x4980) \
  ROW(cos, COS, PLAIN, OWN, 1, 0, 1, 0, 0x4980) \
  /* Derivatives, df/dx at x; that of softplus is sigmoid. The last three change their \
   * sign, silu's near -1.278 and those of gelu near -0.752; close to there f32 has an \
   * absolute error of 2^-27. */ \
  ROW(sigmoid_derivative, SIGMOID_DERIVATIVE, PLAIN, F32, 1, 0, 1, 0, 0x7fff) \
  ROW(tanh_derivative, TANH_DERIVATIVE, PLAIN, F32, 1, 0, 1, 0, 0x7fff) \
  ROW(silu_derivative, SILU_DERIVATIVE, PLAIN, F32, 3, 1, 1, 0, 0x7fff) \
  ROW(gelu_derivative, GELU_DERIVATIVE, PLAIN, F32, 1, 0, 1, 0, 0x7fff) \
  ROW(gelu_tanh_derivative, GELU_TANH_DERIVATIVE, PLAIN, F32, 1, 0, 1, 0, 0x7fff)
/* ROW(name, NAME, forms, flushes), functions of two; flushes 2: by a loop of its own. */
#define MPNUM_FUNCTION_ROWS_OF_TWO_(ROW) \
  /* log(e^a + e^b). Near 0, where the two parts cancel, f32 has an absolute error of \
   * 2^-23. */ \
  ROW(logaddexp, LOGADDEXP, PLAIN, 2) \
  /* silu(a) b and gelu(a) b, a being the gate. f32 is off by 3 places at most, where the \
   * factor is not subnormal. */ \
  ROW(swiglu, SWIGLU, PLAIN, 1) \
  ROW(geglu, GEGLU, PLAIN, 1) \
  /* a^b. Special values are as C23 Annex F has them: 1^b and a^0 are 1, for NaN, too. */ \
  ROW(pow, POW, PLAIN, 1)
/* ROW(name), the light functions of light.h, each in place of the one of that name. Their
 * loops have the same bits where subnormals are flushed. */
#define MPNUM_LIGHT_ROWS_(ROW) \
  ROW(exp) ROW(sigmoid) ROW(tanh) ROW(silu) ROW(gelu) ROW(gelu_tanh)
/* clang-format on */

/* Whether forms has that of logarithms. */
#define MPNUM_IS_LOG_PLAIN_ 0
#define MPNUM_IS_LOG_SAT_   0
#define MPNUM_IS_LOG_LOG_   1

#define MPNUM_ROW_(name, NAME, ...) MPNUM_FUNCTION_##NAME##_,
typedef enum mpnum_function_ {
  MPNUM_FUNCTION_ROWS_(MPNUM_ROW_) MPNUM_FUNCTION_ROWS_OF_TWO_(MPNUM_ROW_)
} mpnum_function_;
#undef MPNUM_ROW_

MPNUM_C_END_
#endif

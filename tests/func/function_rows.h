/* SPDX-License-Identifier: MIT */
/* What tests and benchmark know of the functions of one argument: a row for each of
 * function_table.h, from other sources than the library.
 *
 * ROW(name, by MPFR, in double, in float, domain, at -0, at 0, at -Inf, at Inf, places,
 *     has a root)
 *   by MPFR     a statement that sets y, of a number x; function_reference.c has formulas
 *   in double   of a double x, by libm: a thousandth of a place off at most, so that
 *               function_errors.c has to ask MPFR seldom. NAME_f64 is that of a row above
 *   in float    as a program has it that calls libm; the benchmark times it
 *   domain      ANY; POSITIVE, if NaN below 0; ABOVE_MINUS_1, if NaN below -1
 *   at ...      special values, as C23 Annex F or the limit has them
 *   places      the largest error of f32 that docs/functions.md promises
 *   has a root  1 if it changes its sign elsewhere than at 0, where its error is
 *               absolute: counted in places of 1/32 where the value is smaller */
#ifndef MPNUM_TESTS_FUNCTION_ROWS_H
#define MPNUM_TESTS_FUNCTION_ROWS_H

#define SQRT_HALF 0.70710678118654752440
#define SQRT_2_PI 0.79788456080286535588 /* sqrt(2 / pi), of tanh's gelu */
#define LN_2      0x1.62e42fefa39efp-1   /* log 2 toward zero: odd */

/* clang-format off */
#define TIMED_FUNCTIONS(ROW) \
 ROW(exp, mpfr_exp(y, x, MPFR_RNDN), exp(x), expf(x), \
     ANY, 1, 1, 0, INF, 0.89, 0) \
 ROW(exp2, mpfr_exp2(y, x, MPFR_RNDN), exp2(x), exp2f(x), \
     ANY, 1, 1, 0, INF, 0.89, 0) \
 ROW(exp10, mpfr_exp10(y, x, MPFR_RNDN), pow(10, x), exp10f(x), \
     ANY, 1, 1, 0, INF, 0.87, 0) \
 ROW(expm1, mpfr_expm1(y, x, MPFR_RNDN), expm1(x), expm1f(x), \
     ANY, -0.0, 0, -1, INF, 0.75, 0) \
 ROW(log, mpfr_log(y, x, MPFR_RNDN), log(x), logf(x), \
     POSITIVE, -INF, -INF, NO_NUMBER, INF, 0.60, 0) \
 ROW(log2, mpfr_log2(y, x, MPFR_RNDN), log2(x), log2f(x), \
     POSITIVE, -INF, -INF, NO_NUMBER, INF, 0.601, 0) \
 ROW(log10, mpfr_log10(y, x, MPFR_RNDN), log10(x), log10f(x), \
     POSITIVE, -INF, -INF, NO_NUMBER, INF, 0.60, 0) \
 ROW(log1p, mpfr_log1p(y, x, MPFR_RNDN), log1p(x), log1pf(x), \
     ABOVE_MINUS_1, -0.0, 0, NO_NUMBER, INF, 0.68, 0) \
 ROW(sqrt, mpfr_sqrt(y, x, MPFR_RNDN), sqrt(x), sqrtf(x), \
     POSITIVE, -0.0, 0, NO_NUMBER, INF, 0.50, 0) \
 ROW(rsqrt, mpfr_rec_sqrt(y, x, MPFR_RNDN), 1 / sqrt(x), 1 / sqrtf(x), \
     POSITIVE, -INF, INF, NO_NUMBER, 0, 0.51, 0) \
 ROW(reciprocal, mpfr_ui_div(y, 1, x, MPFR_RNDN), 1 / x, 1 / x, \
     ANY, -INF, INF, -0.0, 0, 0.50, 0) \
 ROW(sigmoid, sigmoid_by_mpfr(y, x), \
     x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)), 1 / (1 + expf(-x)), \
     ANY, 0.5, 0.5, 0, 1, 1.0, 0) \
 ROW(tanh, mpfr_tanh(y, x, MPFR_RNDN), tanh(x), tanhf(x), \
     ANY, -0.0, 0, -1, 1, 1.0, 0) \
 ROW(softplus, softplus_by_mpfr(y, x), \
     fmax(x, 0) + log1p(exp(-fabs(x))), fmaxf(x, 0) + log1pf(expf(-fabsf(x))), \
     ANY, LN_2, LN_2, 0, INF, 1.4, 0) \
 ROW(silu, silu_by_mpfr(y, x), \
     x < -700 ? -0.0 : x * sigmoid_f64(x), x / (1 + expf(-x)), \
     ANY, -0.0, 0, -0.0, INF, 1.5, 0) \
 ROW(gelu, gelu_by_mpfr(y, x), \
     x < -50 ? -0.0 : x * (erfc(-x * SQRT_HALF) / 2), \
     x * 0.5f * (1 + erff(x * (float)SQRT_HALF)), \
     ANY, -0.0, 0, -0.0, INF, 2.0, 0) \
 ROW(gelu_tanh, gelu_tanh_by_mpfr(y, x), \
     x < -50 ? -0.0 : x * sigmoid_f64(2 * SQRT_2_PI * (x + 0.044715 * x * x * x)), \
     x * 0.5f * (1 + tanhf((float)SQRT_2_PI * (x + 0.044715f * x * x * x))), \
     ANY, -0.0, 0, -0.0, INF, 2.0, 0) \
 ROW(erf, mpfr_erf(y, x, MPFR_RNDN), erf(x), erff(x), \
     ANY, -0.0, 0, -1, 1, 1.0, 0)
/* Those that the benchmark does not time. */
#define UNTIMED_FUNCTIONS(ROW) \
 ROW(sin, mpfr_sin(y, x, MPFR_RNDN), sin(x), sinf(x), \
     ANY, -0.0, 0, NO_NUMBER, NO_NUMBER, 0.79, 0) \
 ROW(cos, mpfr_cos(y, x, MPFR_RNDN), cos(x), cosf(x), \
     ANY, 1, 1, NO_NUMBER, NO_NUMBER, 0.79, 0) \
 ROW(sigmoid_derivative, sigmoid_derivative_by_mpfr(y, x), \
     sigmoid_f64(x) * sigmoid_f64(-x), NONE, \
     ANY, 0.25, 0.25, 0, 0, 4.0, 0) \
 ROW(tanh_derivative, tanh_derivative_by_mpfr(y, x), \
     4 * sigmoid_derivative_f64(2 * x), NONE, \
     ANY, 1, 1, 0, 0, 4.0, 0) \
 ROW(silu_derivative, silu_derivative_by_mpfr(y, x), \
     fabs(x) > 700 ? (x < 0 ? -0.0 : 1) : sigmoid_f64(x) * (1 + x * sigmoid_f64(-x)), NONE, \
     ANY, 0.5, 0.5, -0.0, 1, 4.0, 1) \
 ROW(gelu_derivative, gelu_derivative_by_mpfr(y, x), \
     fabs(x) > 30 ? (x < 0 ? -0.0 : 1) \
                  : erfc(-x * SQRT_HALF) / 2 + x * exp(-x * x / 2) * (SQRT_2_PI / 2), NONE, \
     ANY, 0.5, 0.5, -0.0, 1, 4.0, 1) \
 ROW(gelu_tanh_derivative, gelu_tanh_derivative_by_mpfr(y, x), \
     fabs(x) > 30 ? (x < 0 ? -0.0 : 1) \
                  : sigmoid_f64(2 * SQRT_2_PI * (x + 0.044715 * x * x * x)) * \
                        (1 + 2 * SQRT_2_PI * (x + 3 * 0.044715 * x * x * x) * \
                                 sigmoid_f64(-2 * SQRT_2_PI * (x + 0.044715 * x * x * x))), NONE, \
     ANY, 0.5, 0.5, -0.0, 1, 4.0, 1)
/* clang-format on */

/* NAME_f64(x) of each. */
#define IN_DOUBLE(name, by_mpfr, in_double, ...) \
 static double name##_f64(double x) { return in_double; }

/* What follows the forms of a row of function_table.h, if one saturates. */
#define IF_SATURATING_PLAIN(...)
#define IF_SATURATING_SAT(...) __VA_ARGS__
#define IF_SATURATING_LOG(...) __VA_ARGS__

#endif

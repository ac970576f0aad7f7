/* SPDX-License-Identifier: MIT */
/* mpnum's functions of arrays, the loops over libm that they are compared with, and the
 * same in double as the measure of their errors. */
#include "measure.h"
#include "../../core/message.h"

#include <math.h>

#include <mpnum/func/func_array.h>
#include <mpnum/rows/softmax.h>

#define SQRT_HALF 0.70710678118654752440
#define SQRT_2_PI 0.79788456080286535588 /* sqrt(2 / pi), of tanh's gelu */

#if !BENCH_HAVE_EXP10F
# define exp10f(x) powf(10, x)
#endif

/* ROW(name, whether it takes positive values, in float by libm, in double) */
#define FUNCTIONS(ROW)                                                       \
 ROW(exp, false, expf(x), exp(x))                                            \
 ROW(exp2, false, exp2f(x), exp2(x))                                         \
 ROW(exp10, false, exp10f(x), pow(10, x))                                    \
 ROW(expm1, false, expm1f(x), expm1(x))                                      \
 ROW(log, true, logf(x), log(x))                                             \
 ROW(log2, true, log2f(x), log2(x))                                          \
 ROW(log10, true, log10f(x), log10(x))                                       \
 ROW(log1p, true, log1pf(x), log1p(x))                                       \
 ROW(sqrt, true, sqrtf(x), sqrt(x))                                          \
 ROW(rsqrt, true, 1 / sqrtf(x), 1 / sqrt(x))                                 \
 ROW(reciprocal, false, 1 / x, 1 / x)                                        \
 ROW(sigmoid, false, 1 / (1 + expf(-x)), 1 / (1 + exp(-x)))                  \
 ROW(tanh, false, tanhf(x), tanh(x))                                         \
 ROW(softplus, false, fmaxf(x, 0) + log1pf(expf(-fabsf(x))),                 \
     fmax(x, 0) + log1p(exp(-fabs(x))))                                      \
 ROW(silu, false, x / (1 + expf(-x)), x / (1 + exp(-x)))                     \
 ROW(gelu, false, x * 0.5f * (1 + erff(x * (float)SQRT_HALF)),               \
     x / 2 * erfc(-SQRT_HALF * x))                                           \
 ROW(gelu_tanh, false,                                                       \
     x * 0.5f * (1 + tanhf((float)SQRT_2_PI * (x + 0.044715f * x * x * x))), \
     x / (1 + exp(-2 * SQRT_2_PI * (x + 0.044715 * x * x * x))))             \
 ROW(erf, false, erff(x), erf(x))

/* With its macros replaced. */
#define TEXT(expression)  TEXT_(expression)
#define TEXT_(expression) #expression

#define LOOPS(name, is_positive, in_float, in_double)                \
 static void name##_f32(void *dst, const void *src, size_t count) {  \
  mpnum_##name##_f32_array(dst, src, count);                         \
 }                                                                   \
 static void name##_f16(void *dst, const void *src, size_t count) {  \
  mpnum_##name##_f16_array(dst, src, count);                         \
 }                                                                   \
 static void name##_bf16(void *dst, const void *src, size_t count) { \
  mpnum_##name##_bf16_array(dst, src, count);                        \
 }                                                                   \
 static void name##_libm(void *dst, const void *src, size_t count) { \
  const float *from = src;                                           \
  float *to = dst;                                                   \
  size_t i;                                                          \
  for (i = 0; i < count; ++i) {                                      \
   const float x = from[i];                                          \
   to[i] = in_float;                                                 \
  }                                                                  \
 }                                                                   \
 static double name##_exact(double x) { return in_double; }
FUNCTIONS(LOOPS)

#define ROW(name, is_positive, in_float, in_double)          \
 {#name,                                                     \
  is_positive,                                               \
  {name##_f32, name##_f16, name##_bf16, name##_libm},        \
  {"mpnum_" #name "_f32_array", "mpnum_" #name "_f16_array", \
   "mpnum_" #name "_bf16_array", TEXT(in_float)},            \
  name##_exact},
const math_function math_functions[MATH_FUNCTIONS] = {FUNCTIONS(ROW)};

static void run_softmax(float *dst, const float *src, size_t rows, size_t columns) {
  must(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, dst, rows, columns),
                          mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns), NULL,
                          NULL));
}
const softmax_way softmax_mpnum = {"mpnum", NULL, run_softmax, false, NULL};

bool math_force_isa(int isa) { return mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK; }
const char *math_isa(void) { return mpnum_isa_name(mpnum_isa_in_use()); }

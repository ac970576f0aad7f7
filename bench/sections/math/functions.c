/* SPDX-License-Identifier: MIT */
/* mpnum's functions of arrays, the loops over libm that they are compared with, and the
 * same in double as the measure of their errors. */
#include "measure.h"
#include "../../core/message.h"

#include <math.h>

#include <mpnum/func/func_array.h>
#include <mpnum/func/light.h>
#include <mpnum/rows/softmax.h>

#if !BENCH_HAVE_EXP10F
# define exp10f(x) powf(10, x)
#endif

/* With its macros replaced. */
#define TEXT(expression)  TEXT_(expression)
#define TEXT_(expression) #expression

#define LOOPS(name, by_mpfr, in_double, in_float, ...)               \
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
 }
TIMED_FUNCTIONS(IN_DOUBLE)
TIMED_FUNCTIONS(LOOPS)

/* Light forms, by the places of their functions. */
#define LIGHT_LOOP(name)                                              \
 static void name##_light(void *dst, const void *src, size_t count) { \
  mpnum_##name##_light_f32_array(dst, src, count);                    \
 }
MPNUM_LIGHT_ROWS_(LIGHT_LOOP)
typedef struct light_form {
  array_loop loop;
  const char *called;
} light_form;
#define LIGHT_ROW(name) \
 [place_of_##name] = {name##_light, "mpnum_" #name "_light_f32_array"},
static const light_form light_forms[MATH_FUNCTIONS] = {MPNUM_LIGHT_ROWS_(LIGHT_ROW)};
array_loop math_light_loop(const math_function *function) {
  return light_forms[function - math_functions].loop;
}
const char *math_light_name(const math_function *function) {
  return light_forms[function - math_functions].called;
}

#define TAKES_ANY           false
#define TAKES_POSITIVE      true
#define TAKES_ABOVE_MINUS_1 true
#define ROW(name, by_mpfr, in_double, in_float, domain, ...) \
 {#name,                                                     \
  TAKES_##domain,                                            \
  {name##_f32, name##_f16, name##_bf16, name##_libm},        \
  {"mpnum_" #name "_f32_array", "mpnum_" #name "_f16_array", \
   "mpnum_" #name "_bf16_array", TEXT(in_float)},            \
  name##_f64},
const math_function math_functions[MATH_FUNCTIONS] = {TIMED_FUNCTIONS(ROW)};

static void run_softmax(float *dst, const float *src, size_t rows, size_t columns) {
  must(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, dst, rows, columns),
                          mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns), NULL,
                          NULL));
}
const softmax_way softmax_mpnum = {"mpnum", NULL, run_softmax, false, NULL};

bool math_force_isa(int isa) { return mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK; }
const char *math_isa(void) { return mpnum_isa_name(mpnum_isa_in_use()); }

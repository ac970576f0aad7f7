/* SPDX-License-Identifier: MIT */
#include "function_reference.h"

#include "function_rows.h"

#include <mpnum/func/detail/function_table.h>

#include <math.h>
#include <string.h>

static mpfr_t work[3]; /* for the formulas below */
static mpfr_t argument, second, result;

void start_function_references(void) {
  mpfr_set_default_prec(300);
  for (int i = 0; i < 3; ++i)
    mpfr_init(work[i]);
  mpfr_inits(argument, second, result, (mpfr_ptr)0);
}
void end_function_references(void) {
  for (int i = 0; i < 3; ++i)
    mpfr_clear(work[i]);
  mpfr_clears(argument, second, result, (mpfr_ptr)0);
  mpfr_free_cache();
}

static void sigmoid_by_mpfr(mpfr_t y, const mpfr_t x) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}
static void softplus_by_mpfr(mpfr_t y, const mpfr_t x) {
  if (mpfr_number_p(x) && mpfr_cmp_ui(x, 10000) > 0) { /* e^-x is out of reach */
    mpfr_set(y, x, MPFR_RNDN);
    mpfr_nextabove(y);
    return;
  }
  mpfr_exp(y, x, MPFR_RNDN);
  mpfr_log1p(y, y, MPFR_RNDN);
}
static void silu_by_mpfr(mpfr_t y, const mpfr_t x) {
  sigmoid_by_mpfr(y, x);
  mpfr_mul(y, y, x, MPFR_RNDN);
}
static void normal_by_mpfr(mpfr_t y, const mpfr_t x) { /* erfc(-x / sqrt 2) / 2 */
  mpfr_sqrt_ui(work[0], 2, MPFR_RNDN);
  mpfr_div(y, x, work[0], MPFR_RNDN);
  mpfr_neg(y, y, MPFR_RNDN);
  mpfr_erfc(y, y, MPFR_RNDN);
  mpfr_div_2ui(y, y, 1, MPFR_RNDN);
}
static void gelu_by_mpfr(mpfr_t y, const mpfr_t x) {
  normal_by_mpfr(y, x);
  mpfr_mul(y, y, x, MPFR_RNDN);
}
/* sqrt(8 / pi) (x + count 0.044715 x^3) */
static void cubic_by_mpfr(mpfr_t y, const mpfr_t x, unsigned long count) {
  mpfr_sqr(y, x, MPFR_RNDN);
  mpfr_mul_ui(y, y, count * 44715, MPFR_RNDN);
  mpfr_div_ui(y, y, 1000000, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_mul(y, y, x, MPFR_RNDN);
  mpfr_const_pi(work[1], MPFR_RNDN);
  mpfr_ui_div(work[1], 8, work[1], MPFR_RNDN);
  mpfr_sqrt(work[1], work[1], MPFR_RNDN);
  mpfr_mul(y, y, work[1], MPFR_RNDN);
}
static void gelu_tanh_by_mpfr(mpfr_t y, const mpfr_t x) { /* x sigmoid(2 u) */
  cubic_by_mpfr(work[0], x, 1);
  sigmoid_by_mpfr(y, work[0]);
  mpfr_mul(y, y, x, MPFR_RNDN);
}
static void sigmoid_derivative_by_mpfr(mpfr_t y, const mpfr_t x) {
  mpfr_neg(work[0], x, MPFR_RNDN);
  sigmoid_by_mpfr(work[1], work[0]);
  sigmoid_by_mpfr(y, x);
  mpfr_mul(y, y, work[1], MPFR_RNDN);
}
static void tanh_derivative_by_mpfr(mpfr_t y, const mpfr_t x) {
  mpfr_sech(y, x, MPFR_RNDN);
  mpfr_sqr(y, y, MPFR_RNDN);
}
static void silu_derivative_by_mpfr(mpfr_t y, const mpfr_t x) {
  mpfr_neg(work[0], x, MPFR_RNDN);
  sigmoid_by_mpfr(work[1], work[0]);
  mpfr_mul(work[1], work[1], x, MPFR_RNDN);
  mpfr_add_ui(work[1], work[1], 1, MPFR_RNDN);
  sigmoid_by_mpfr(y, x);
  mpfr_mul(y, y, work[1], MPFR_RNDN);
}
/* sigmoid(2 u) (1 + x (2 u)' sigmoid(-2 u)) */
static void gelu_tanh_derivative_by_mpfr(mpfr_t y, const mpfr_t x) {
  cubic_by_mpfr(work[0], x, 1);
  cubic_by_mpfr(work[2], x, 3);
  sigmoid_by_mpfr(y, work[0]);
  mpfr_neg(work[0], work[0], MPFR_RNDN);
  sigmoid_by_mpfr(work[1], work[0]);
  mpfr_mul(work[1], work[1], work[2], MPFR_RNDN);
  mpfr_add_ui(work[1], work[1], 1, MPFR_RNDN);
  mpfr_mul(y, y, work[1], MPFR_RNDN);
}
static void gelu_derivative_by_mpfr(mpfr_t y, const mpfr_t x) {
  if (mpfr_number_p(x) && mpfr_cmp_si(x, -10000) < 0) { /* e^(-x^2) is out of reach */
    mpfr_set_si_2exp(y, -1, -100000, MPFR_RNDN);
    return;
  }
  mpfr_sqr(work[1], x, MPFR_RNDN);
  mpfr_div_2ui(work[1], work[1], 1, MPFR_RNDN);
  mpfr_neg(work[1], work[1], MPFR_RNDN);
  mpfr_exp(work[1], work[1], MPFR_RNDN);
  mpfr_const_pi(work[2], MPFR_RNDN);
  mpfr_mul_2ui(work[2], work[2], 1, MPFR_RNDN);
  mpfr_sqrt(work[2], work[2], MPFR_RNDN);
  mpfr_div(work[1], work[1], work[2], MPFR_RNDN);
  mpfr_mul(work[1], work[1], x, MPFR_RNDN);
  normal_by_mpfr(y, x);
  mpfr_add(y, y, work[1], MPFR_RNDN);
}

#define INF       ((double)INFINITY)
#define NO_NUMBER ((double)NAN)
#define REFERENCE(name, by_mpfr, in_double, in_float, domain, ...)                \
 static void name##_value(mpfr_t y, const mpfr_t x) { by_mpfr; }                  \
 static const function_reference name##_reference = {#name, name##_value, domain, \
                                                     __VA_ARGS__};
TIMED_FUNCTIONS(REFERENCE)
UNTIMED_FUNCTIONS(REFERENCE)
#define ROW(name, ...) &name##_reference,
const function_reference *const function_references[] = {MPNUM_FUNCTION_ROWS_(ROW) NULL};

const function_reference *function_reference_named(const char *name) {
  int i = 0;
  while (strcmp(function_references[i]->name, name) != 0)
    ++i;
  return function_references[i];
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Toward zero and to odd. Far outside the range of every float it is the smallest normal
 * double or the largest. */
static uint64_t odd_double(const mpfr_t y) {
  const uint64_t sign = mpfr_signbit(y) ? UINT64_C(1) << 63 : 0;
  if (mpfr_regular_p(y) && mpfr_get_exp(y) > 1000)
    return sign | UINT64_C(0x7fefffffffffffff);
  if (mpfr_regular_p(y) && mpfr_get_exp(y) < -1000)
    return sign | UINT64_C(0x0010000000000001);
  const double value = mpfr_get_d(y, MPFR_RNDZ);
  const uint64_t bits = bits_of(value);
  return mpfr_regular_p(y) && mpfr_cmp_d(y, value) != 0 ? bits | 1 : bits;
}

uint64_t formula_of_function(const function_reference *function, double x) {
  mpfr_set_d(argument, x, MPFR_RNDN);
  function->value(result, argument);
  return odd_double(result);
}
uint64_t reference_of_function(const function_reference *function, double x) {
  if (x == 0) return bits_of(signbit(x) ? function->at_minus_zero : function->at_zero);
  if (isinf(x)) return bits_of(x < 0 ? function->at_minus_inf : function->at_inf);
  return formula_of_function(function, x);
}

/* A factor that no float can be is 0 to Inf. */
uint64_t reference_of_product(const function_reference *function, double a, double b) {
  const uint64_t bits = reference_of_function(function, a);
  double value;
  memcpy(&value, &bits, sizeof value);
  if (fabs(value) < 0x1p-150) value = copysign(0, value); /* as a float, that is */
  if (!isfinite(value) || !isfinite(b) || a == 0 || isinf(a)) return bits_of(value * b);
  if (mpfr_cmp_d(result, a) == 0) /* the factor is below 1, out of reach */
    for (int i = 0; i < 4; ++i)
      mpfr_nextbelow(result);
  mpfr_set_d(second, b, MPFR_RNDN);
  mpfr_mul(result, result, second, MPFR_RNDN);
  return odd_double(result);
}

uint64_t reference_of_logaddexp(double a, double b) {
  if (isnan(a) || isnan(b)) return bits_of((double)NAN);
  const double high = a > b ? a : b, low = a > b ? b : a;
  if (isinf(a) || isinf(b)) return bits_of(high);
  mpfr_set_d(argument, low, MPFR_RNDN);
  mpfr_sub_d(argument, argument, high, MPFR_RNDN);
  softplus_by_mpfr(result, argument);
  mpfr_set_d(second, high, MPFR_RNDN);
  mpfr_add(result, result, second, MPFR_RNDN);
  return odd_double(result);
}

uint64_t reference_of_pow(double a, double b) {
  mpfr_set_d(argument, a, MPFR_RNDN);
  mpfr_set_d(second, b, MPFR_RNDN);
  mpfr_pow(result, argument, second, MPFR_RNDN);
  return odd_double(result);
}

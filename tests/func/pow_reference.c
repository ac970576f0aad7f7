/* SPDX-License-Identifier: MIT */
#include "pow_reference.h"

#include "function_reference.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

/* log2 |x| as the sum of a double of 42 bits, whose product with a y of 11 is exact, and
 * another. */
typedef struct logarithm {
  double high, low;
} logarithm;
static logarithm logarithm_of(double x) {
  logarithm parts;
  uint64_t bits;
  mpfr_t log2_x;
  mpfr_init2(log2_x, 200);
  mpfr_set_d(log2_x, fabs(x), MPFR_RNDN);
  mpfr_log2(log2_x, log2_x, MPFR_RNDN);
  parts.high = mpfr_get_d(log2_x, MPFR_RNDZ);
  memcpy(&bits, &parts.high, sizeof bits);
  bits &= ~UINT64_C(0x7ff);
  memcpy(&parts.high, &bits, sizeof bits);
  mpfr_sub_d(log2_x, log2_x, parts.high, MPFR_RNDN);
  parts.low = mpfr_get_d(log2_x, MPFR_RNDN);
  mpfr_clear(log2_x);
  return parts;
}
/* significand * 2^exponent, rounded to an integer of that exponent. */
static uint16_t code_of(pow_format format, double significand, int exponent) {
  const uint32_t infinity = ((UINT32_C(1) << (15 - format.mantissa_bits)) - 1)
                            << format.mantissa_bits;
  const double code =
      ldexp(exponent - format.least_exponent, format.mantissa_bits) + significand;
  return (uint16_t)(code < infinity ? code : infinity);
}
static double power_of_two(int exponent) {
  const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static uint16_t by_mpfr(pow_format format, double x, double y) {
  int exponent;
  double value, rounded;
  const uint64_t bits = reference_of_pow(fabs(x), y);
  memcpy(&value, &bits, sizeof value);
  frexp(value, &exponent);
  exponent = exponent - 1 - format.mantissa_bits;
  if (exponent < format.least_exponent) exponent = format.least_exponent;
  if (exponent > 200) return code_of(format, 0, 1000);
  /* to even where it is in the middle, which the odd last bit excludes elsewhere */
  rounded = rint(ldexp(value, -exponent));
  return code_of(format, rounded, exponent);
}
static uint16_t special_code(pow_format format, double x, double y) {
  const double z = pow(x, y); /* as C23 Annex F has it: 0, 1, Inf or NaN */
  const uint16_t sign = signbit(z) ? 0x8000 : 0;
  if (isnan(z)) return 0x7fff;
  if (z == 0) return sign;
  if (isinf(z)) return sign | code_of(format, 0, 1000);
  return sign | code_of(format, ldexp(1, format.mantissa_bits), -format.mantissa_bits);
}
uint64_t pow_codes(pow_format format, uint16_t *want, double x, const double *y,
                   size_t n) {
  const int is_special = isnan(x) || isinf(x) || x == 0;
  const logarithm log2_x = is_special ? (logarithm){0, 0} : logarithm_of(x);
  uint64_t undecided = 0;
  for (size_t i = 0; i < n; ++i) {
    if (is_special || isnan(y[i]) || isinf(y[i]) || y[i] == 0) {
      want[i] = special_code(format, x, y[i]);
      continue;
    }
    uint16_t sign = 0;
    if (x < 0) {
      if (y[i] != rint(y[i])) {
        want[i] = 0x7fff;
        continue;
      }
      sign = fmod(y[i], 2) != 0 ? 0x8000 : 0;
    }
    const double product = fmax(-400, fmin(400, y[i] * log2_x.high));
    const double whole = rint(product);
    const double value =
        exp2((product - whole) +
             (fabs(product) < 400 ? y[i] * log2_x.low : 0)); /* 1/sqrt 2 to sqrt 2 */
    int exponent = (int)whole - (value < 1) - format.mantissa_bits;
    if (exponent < format.least_exponent) exponent = format.least_exponent;
    const double scaled = value * power_of_two((int)whole - exponent);
    const double floor_of_it = floor(scaled), rest = scaled - floor_of_it;
    if (fabs(rest - 0.5) < scaled * 0x1p-48) {
      ++undecided;
      want[i] = sign | by_mpfr(format, x, y[i]);
    } else {
      want[i] = sign | code_of(format, floor_of_it + (rest > 0.5), exponent);
    }
  }
  return undecided;
}

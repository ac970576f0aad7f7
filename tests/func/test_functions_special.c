/* SPDX-License-Identifier: MIT */
/* The tables of docs/functions.md: what the functions of func.h give for zeros, Inf, NaN
 * and outside their domain, for every type, as C23 Annex F or the limit has it. */
#include "function_reference.h"
#include "function_rows.h"
#include "../reference/reference.h"
#include "../harness/isas.h"
#include "../harness/tap.h"

#include <mpnum/func/func_array.h>

#include <math.h>
#include <string.h>

/* Bits of floats. */
enum {
  ZERO = 0,
  HALF = 0x3f000000,
  QUARTER = 0x3e800000,
  ONE = 0x3f800000,
  THREE_HALVES = 0x3fc00000,
  TWO = 0x40000000,
  THREE = 0x40400000,
  FIVE = 0x40a00000,
  LOG_2 = 0x3f317218,
  SMALLEST = 1,
  LARGEST = 0x7f7fffff,
  INF = 0x7f800000,
  NOT_A_NUMBER = 0x7fffffff
};
#define NEGATIVE(bits) (0x80000000u | (uint32_t)(bits))

/* The code of a type for a float; its smallest and largest values stand for f32's. */
static uint16_t code_of(const char *type, uint32_t bits) {
  const int is_f16 = strcmp(type, "f16") == 0;
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude == SMALLEST) return sign | 1;
  if (magnitude == LARGEST) return sign | (is_f16 ? 0x7bff : 0x7f7f);
  return (uint16_t)ref_encode(ref_format_named(type),
                              mpnum_bits_f64((double)mpnum_from_bits_f32(bits)),
                              REF_NEAREST_EVEN, REF_IEEE, 0);
}
static void check(const char *name, const char *type, uint32_t x, uint32_t got,
                  uint32_t want) {
  CHECK(got == want, "%s of %s %x: got %x, want %x", name, type, (unsigned)x,
        (unsigned)got, (unsigned)want);
}

/* A function of each type at x, where f32, f16 and bf16 are wanted. */
#define CODES(name, x, f32_want, f16_want, bf16_want)                                \
 do {                                                                                \
  const mpnum_f16 half = {code_of("f16", x)};                                        \
  const mpnum_bf16 brain = {code_of("bf16", x)};                                     \
  check(#name, "f32", x, mpnum_bits_f32(mpnum_##name##_f32(mpnum_from_bits_f32(x))), \
        f32_want);                                                                   \
  check(#name, "f16", half.bits, mpnum_##name##_f16(half).bits, f16_want);           \
  check(#name, "bf16", brain.bits, mpnum_##name##_bf16(brain).bits, bf16_want);      \
 } while (0)
#define VALUE(name, x, want) \
 CODES(name, x, (uint32_t)(want), code_of("f16", want), code_of("bf16", want))

/* At -0, +0, -Inf and +Inf. */
#define VALUES(name, at_minus_zero, at_zero, at_minus_inf, at_inf) \
 do {                                                              \
  VALUE(name, NEGATIVE(ZERO), at_minus_zero);                      \
  VALUE(name, ZERO, at_zero);                                      \
  VALUE(name, NEGATIVE(INF), at_minus_inf);                        \
  VALUE(name, INF, at_inf);                                        \
 } while (0)

/* Every function, by the bits of its argument and result; its form that saturates. */
typedef uint32_t bits_function(uint32_t x);
#define OF_CODE(name, type)                                     \
 static uint32_t name##_##type(uint32_t x) {                    \
  return mpnum_##name##_##type(mpnum_from_bits_##type(x)).bits; \
 }
#define OF_TYPES(name)                                               \
 static uint32_t name##_f32(uint32_t x) {                            \
  return mpnum_bits_f32(mpnum_##name##_f32(mpnum_from_bits_f32(x))); \
 }                                                                   \
 OF_CODE(name, f16) OF_CODE(name, bf16)
#define NAMES_OF(name) {#name, {name##_f32, name##_f16, name##_bf16}},
#define OF_ROW(name, NAME, forms, ...) \
 OF_TYPES(name) IF_SATURATING_##forms(OF_TYPES(name##_sat))
#define NAMES_OF_ROW(name, ...)              NAMES_OF(name)
#define NAMES_OF_SAT(name, NAME, forms, ...) IF_SATURATING_##forms(NAMES_OF(name##_sat))
MPNUM_FUNCTION_ROWS_(OF_ROW)
typedef struct named_functions {
  const char *name;
  bits_function *of[3]; /* f32, f16, bf16 */
} named_functions;
static const named_functions plain[] = {MPNUM_FUNCTION_ROWS_(NAMES_OF_ROW)};
static const named_functions saturating[] = {MPNUM_FUNCTION_ROWS_(NAMES_OF_SAT)};
enum {
  PLAIN_COUNT = sizeof plain / sizeof plain[0],
  SATURATING_COUNT = sizeof saturating / sizeof saturating[0]
};
static const char *const types[] = {"f32", "f16", "bf16"};

static uint32_t bits_for(int type, uint32_t x) {
  return type == 0 ? x : code_of(types[type], x);
}
/* The code of a value; of a NaN the canonical one. */
static uint32_t code_of_value(int type, double value) {
  return isnan(value) ? (type == 0 ? 0x7fffffffu : 0x7fffu)
                      : ref_encode(ref_format_named(types[type]), mpnum_bits_f64(value),
                                   REF_NEAREST_EVEN, REF_IEEE, 0);
}
/* A function of each type at the float x; the value that is wanted. */
static void check_value(const named_functions *function, uint32_t x, double want) {
  for (int type = 0; type < 3; ++type)
    check(function->name, types[type], bits_for(type, x),
          function->of[type](bits_for(type, x)), code_of_value(type, want));
}

static void zeros_and_infinities(void) {
  for (int i = 0; i < PLAIN_COUNT; ++i) {
    const function_reference *reference = function_references[i];
    check_value(&plain[i], NEGATIVE(ZERO), reference->at_minus_zero);
    check_value(&plain[i], ZERO, reference->at_zero);
    check_value(&plain[i], NEGATIVE(INF), reference->at_minus_inf);
    check_value(&plain[i], INF, reference->at_inf);
  }
  VALUE(log1p, NEGATIVE(ONE), NEGATIVE(INF));
}

/* The special values of function_rows.h are those of MPFR's formulas, where these are
 * numbers. MPFR's 1 / sqrt(-0) is Inf, that of C23 -Inf. */
static void special_values_are_those_of_formulas(void) {
  static const double at[] = {-0.0, 0, -(double)INFINITY, (double)INFINITY};
  for (int i = 0; i < PLAIN_COUNT; ++i)
    for (int k = 0; k < 4; ++k) {
      const uint64_t want_bits = formula_of_function(function_references[i], at[k]);
      const uint64_t bits = reference_of_function(function_references[i], at[k]);
      const double want = mpnum_from_bits_f64(want_bits);
      if (strcmp(plain[i].name, "rsqrt") == 0 && k == 0) continue;
      /* a formula of no use: Inf less Inf, 0 times Inf */
      if (isnan(want) && k >= 2 && !isnan(mpnum_from_bits_f64(bits))) continue;
      CHECK(bits == want_bits || (isnan(want) && isnan(mpnum_from_bits_f64(bits))),
            "%s at %g: %a, by MPFR %a", plain[i].name, at[k], mpnum_from_bits_f64(bits),
            want);
    }
}

static void outside_the_domain_is_nan(void) {
  static const uint32_t below_zero[] = {SMALLEST, HALF, ONE, LARGEST};
  static const uint32_t below_minus_1[] = {0x3f810000u /* 1.0078125 */, LARGEST};
  int domains = 0, forms = 0;
  for (int i = 0; i < PLAIN_COUNT; ++i) {
    const function_domain domain = function_references[i]->domain;
    domains += domain != ANY;
    for (int k = 0; domain == POSITIVE && k < 4; ++k)
      check_value(&plain[i], NEGATIVE(below_zero[k]), (double)NAN);
    for (int k = 0; domain == ABOVE_MINUS_1 && k < 2; ++k)
      check_value(&plain[i], NEGATIVE(below_minus_1[k]), (double)NAN);
  }
  for (int i = 0; i < SATURATING_COUNT; ++i) {
    char name[40] = {0};
    memcpy(name, saturating[i].name, strlen(saturating[i].name) - strlen("_sat"));
    if (function_reference_named(name)->domain != POSITIVE) continue;
    ++forms;
    for (int k = 0; k < 4; ++k)
      check_value(&saturating[i], NEGATIVE(below_zero[k]), (double)NAN);
  }
  CHECK(domains >= 6 && forms >= 4, "%d functions and %d forms have a domain", domains,
        forms);
}

/* Signalling, negative, with a payload: always the canonical one. */
static void nan_gives_the_canonical_one(void) {
  static const uint32_t nans[] = {0x7f810000u, 0x7fc00000u, 0xffff0000u, 0xffc10000u};
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < PLAIN_COUNT; ++i)
      check_value(&plain[i], nans[k], (double)NAN);
    for (int i = 0; i < SATURATING_COUNT; ++i)
      check_value(&saturating[i], nans[k], (double)NAN);
  }
}

/* Codes written by hand, in the order f32, f16, bf16. */
static void saturating_forms_are_never_infinite(void) {
  static const uint32_t too_large[] = {0x43800000u /* 256 */, LARGEST, INF};
  for (int i = 0; i < 3; ++i) {
    CODES(exp_sat, too_large[i], 0x7f7fffffu, 0x7bffu, 0x7f7fu);
    CODES(exp2_sat, too_large[i], 0x7f7fffffu, 0x7bffu, 0x7f7fu);
    CODES(exp10_sat, too_large[i], 0x7f7fffffu, 0x7bffu, 0x7f7fu);
    CODES(expm1_sat, too_large[i], 0x7f7fffffu, 0x7bffu, 0x7f7fu);
  }
  VALUES(exp_sat, ONE, ONE, ZERO, LARGEST);
  VALUES(exp2_sat, ONE, ONE, ZERO, LARGEST);
  VALUES(exp10_sat, ONE, ONE, ZERO, LARGEST);
  VALUES(expm1_sat, NEGATIVE(ZERO), ZERO, NEGATIVE(ONE), LARGEST);
  for (uint32_t sign = 0; sign < 2; ++sign) {
    const uint32_t zero = sign << 31;
    CODES(log_sat, zero, 0xc2ce8ed0u, 0xcc29u, 0xc2b8u);
    CODES(log2_sat, zero, 0xc3150000u, 0xce00u, 0xc305u);
    CODES(log10_sat, zero, 0xc23369f4u, 0xc73au, 0xc220u);
  }
  VALUE(log_sat, INF, LARGEST);
  VALUE(log2_sat, INF, LARGEST);
  VALUE(log10_sat, INF, LARGEST);
  VALUE(log_sat, NEGATIVE(INF), NOT_A_NUMBER);
  VALUE(log2_sat, NEGATIVE(INF), NOT_A_NUMBER);
  VALUE(log10_sat, NEGATIVE(INF), NOT_A_NUMBER);
  VALUES(rsqrt_sat, NEGATIVE(LARGEST), LARGEST, NOT_A_NUMBER, ZERO);
  VALUES(reciprocal_sat, NEGATIVE(LARGEST), LARGEST, NEGATIVE(ZERO), ZERO);
  CODES(reciprocal_sat, SMALLEST, 0x7f7fffffu, 0x7bffu, 0x7f7fu);
  CODES(reciprocal_sat, NEGATIVE(SMALLEST), 0xff7fffffu, 0xfbffu, 0xff7fu);
}

/* Of each power of two from 2^20 on the float that is next to whole quarters of a turn,
 * found by trying all with 64 bits of 2 / pi: a sine or cosine is down to 2^-30 there,
 * and shows a wrong bit of 2 / pi far behind those that others need. By arrays, of all
 * instruction sets. */
static const uint32_t next_to_quarters[] = {
    0x4982665eu, 0x4a2562aeu, 0x4aa562aeu, 0x4b2562aeu, 0x4bf3b47bu, 0x4c2332e9u,
    0x4ca332e9u, 0x4d2332e9u, 0x4d847661u, 0x4e13d4a5u, 0x4e93d4a5u, 0x4f0ffd14u,
    0x4fdbd32fu, 0x507fd274u, 0x50a3e87fu, 0x5123e87fu, 0x51a3e87fu, 0x5223e87fu,
    0x52a3e87fu, 0x5323e87fu, 0x53b146a6u, 0x543146a6u, 0x54b146a6u, 0x553146a6u,
    0x55b146a6u, 0x56787577u, 0x56f87577u, 0x57787577u, 0x57b82989u, 0x58382989u,
    0x58dc36c9u, 0x596e3d69u, 0x59f740b9u, 0x5a7bc261u, 0x5afe0335u, 0x5b7f239fu,
    0x5bffb3d4u, 0x5c07bcd0u, 0x5c87bcd0u, 0x5d07bcd0u, 0x5d87bcd0u, 0x5e07bcd0u,
    0x5e87bcd0u, 0x5f07bcd0u, 0x5fe4112cu, 0x6064112cu, 0x60ab0ce1u, 0x617c556bu,
    0x61d3b126u, 0x6253b126u, 0x62ec1b4au, 0x636c1b4au, 0x63e600c1u, 0x642e0733u,
    0x64ae0733u, 0x652e0733u, 0x65898498u, 0x66098498u, 0x66898498u, 0x67098498u,
    0x67898498u, 0x68098498u, 0x68898498u, 0x6946e3bbu, 0x69c6e3bbu, 0x6a1976f1u,
    0x6a9976f1u, 0x6b1976f1u, 0x6b9976f1u, 0x6c55da58u, 0x6cd5da58u, 0x6d2063c2u,
    0x6d85a877u, 0x6e05a877u, 0x6e85a877u, 0x6f79be45u, 0x6ff9be45u, 0x7079be45u,
    0x70f9be45u, 0x7179be45u, 0x71f9be45u, 0x723fa09au, 0x72bfa09au, 0x733fa09au,
    0x73e61c18u, 0x7452de59u, 0x74d2de59u, 0x756fa1dcu, 0x75949471u, 0x76507ce8u,
    0x76a426ebu, 0x77584625u, 0x77d84625u, 0x78584625u, 0x78a8b883u, 0x79407f54u,
    0x79c07f54u, 0x7a105f7fu, 0x7afccbabu, 0x7b1675c0u, 0x7b9675c0u, 0x7c6c3305u,
    0x7cff01bdu, 0x7d7f01bdu, 0x7dff01bdu, 0x7e7f01bdu, 0x7ebdcda0u, 0x7f3dcda0u};
enum { QUARTERS = sizeof next_to_quarters / sizeof next_to_quarters[0] };
static void check_sines(const char *name, const char *isa, const float *x,
                        const float *got) {
  for (int i = 0; i < QUARTERS; ++i) {
    const double want = mpnum_from_bits_f64(
        reference_of_function(function_reference_named(name), (double)x[i]));
    CHECK(fabs((double)got[i] - want) <= fabs(want) * 0x1p-23,
          "%s of %a by %s: %a, not %a", name, (double)x[i], isa, (double)got[i], want);
  }
}
static void sines_next_to_whole_quarters(void) {
  float x[QUARTERS], sines[QUARTERS], cosines[QUARTERS];
  for (int i = 0; i < QUARTERS; ++i)
    x[i] = mpnum_from_bits_f32(next_to_quarters[i]);
  const mpnum_isa best = mpnum_isa_in_use();
  for (int i = 0; i < ISAS; ++i) {
    if (mpnum_isa_force(isas[i]) != MPNUM_OK) continue;
    mpnum_sin_f32_array(sines, x, QUARTERS);
    mpnum_cos_f32_array(cosines, x, QUARTERS);
    check_sines("sin", mpnum_isa_name(isas[i]), x, sines);
    check_sines("cos", mpnum_isa_name(isas[i]), x, cosines);
  }
  CHECK(mpnum_isa_force(best) == MPNUM_OK, "%s is gone", mpnum_isa_name(best));
}

static void logaddexp_of(uint32_t a, uint32_t b, uint32_t want) {
  const mpnum_f16 half_a = {code_of("f16", a)}, half_b = {code_of("f16", b)};
  const mpnum_bf16 brain_a = {code_of("bf16", a)}, brain_b = {code_of("bf16", b)};
  check(
      "logaddexp", "f32", a,
      mpnum_bits_f32(mpnum_logaddexp_f32(mpnum_from_bits_f32(a), mpnum_from_bits_f32(b))),
      want);
  check("logaddexp", "f16", a, mpnum_logaddexp_f16(half_a, half_b).bits,
        code_of("f16", want));
  check("logaddexp", "bf16", a, mpnum_logaddexp_bf16(brain_a, brain_b).bits,
        code_of("bf16", want));
}
static void logaddexp_of_special_arguments(void) {
  static const uint32_t any[] = {ZERO,    NEGATIVE(ZERO),    HALF, NEGATIVE(HALF),
                                 LARGEST, NEGATIVE(LARGEST), INF,  NEGATIVE(INF)};
  for (int i = 0; i < 8; ++i) {
    logaddexp_of(any[i], INF, INF);
    logaddexp_of(INF, any[i], INF);
    logaddexp_of(any[i], NEGATIVE(INF), any[i]);
    logaddexp_of(NEGATIVE(INF), any[i], any[i]);
    logaddexp_of(any[i], NOT_A_NUMBER, NOT_A_NUMBER);
    logaddexp_of(NOT_A_NUMBER, any[i], NOT_A_NUMBER);
  }
  for (int i = 0; i < 4; ++i)
    logaddexp_of(any[i & 1], any[i >> 1], LOG_2);
  logaddexp_of(NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER);
}

static void pow_of(uint32_t x, uint32_t y, uint32_t want) {
  const mpnum_f16 half_x = {code_of("f16", x)}, half_y = {code_of("f16", y)};
  const mpnum_bf16 brain_x = {code_of("bf16", x)}, brain_y = {code_of("bf16", y)};
  check("pow", "f32", x,
        mpnum_bits_f32(mpnum_pow_f32(mpnum_from_bits_f32(x), mpnum_from_bits_f32(y))),
        want);
  check("pow", "f16", x, mpnum_pow_f16(half_x, half_y).bits, code_of("f16", want));
  check("pow", "bf16", x, mpnum_pow_bf16(brain_x, brain_y).bits, code_of("bf16", want));
}
/* C23, F.10.4.5, line by line. */
static void pow_of_special_arguments(void) {
  static const uint32_t odd[] = {ONE, THREE, FIVE};
  /* even, or no integer */
  static const uint32_t others[] = {TWO,         HALF,        THREE_HALVES, QUARTER,
                                    0x41000000u, 0x43ff0000u, LARGEST,      SMALLEST};
  static const uint32_t fractions[] = {HALF, THREE_HALVES, QUARTER, SMALLEST};
  static const uint32_t any[] = {ZERO,     HALF,    ONE, TWO,
                                 SMALLEST, LARGEST, INF, NOT_A_NUMBER};
  for (int is_negative = 0; is_negative < 2; ++is_negative) {
    const uint32_t sign = (uint32_t)is_negative << 31;
    for (int i = 0; i < 3; ++i) {
      pow_of(sign, NEGATIVE(odd[i]), sign | INF);
      pow_of(sign, odd[i], sign);
      pow_of(sign | INF, NEGATIVE(odd[i]), sign);
      pow_of(sign | INF, odd[i], sign | INF);
    }
    for (int i = 0; i < 8; ++i) {
      pow_of(sign, NEGATIVE(others[i]), INF);
      pow_of(sign, others[i], ZERO);
      pow_of(sign | INF, NEGATIVE(others[i]), ZERO);
      pow_of(sign | INF, others[i], INF);
    }
    pow_of(sign, NEGATIVE(INF), INF);
    pow_of(sign, INF, ZERO);
    pow_of(sign | INF, NEGATIVE(INF), ZERO);
    pow_of(sign | INF, INF, INF);
    pow_of(NEGATIVE(ONE), sign | INF, ONE);
    for (int i = 0; i < 8; ++i) {
      pow_of(ONE, sign | any[i], ONE);
      pow_of(sign | any[i], ZERO, ONE);
      pow_of(sign | any[i], NEGATIVE(ZERO), ONE);
    }
    /* below and above 1 */
    for (int i = 0; i < 2; ++i) {
      pow_of(sign | (i ? SMALLEST : HALF), NEGATIVE(INF), INF);
      pow_of(sign | (i ? SMALLEST : HALF), INF, ZERO);
      pow_of(sign | (i ? LARGEST : TWO), NEGATIVE(INF), ZERO);
      pow_of(sign | (i ? LARGEST : TWO), INF, INF);
    }
    for (int i = 0; i < 4; ++i) {
      pow_of(NEGATIVE(ONE), sign | fractions[i], NOT_A_NUMBER);
      pow_of(NEGATIVE(TWO), sign | fractions[i], NOT_A_NUMBER);
      pow_of(NEGATIVE(SMALLEST), sign | fractions[i], NOT_A_NUMBER);
      pow_of(NEGATIVE(LARGEST), sign | fractions[i], NOT_A_NUMBER);
    }
    for (int i = 1; i < 7; ++i)
      if (any[i] != ONE) {
        pow_of(sign | any[i], NOT_A_NUMBER, NOT_A_NUMBER);
        pow_of(NOT_A_NUMBER, sign | any[i], NOT_A_NUMBER);
      }
  }
  pow_of(NEGATIVE(ONE), NOT_A_NUMBER, NOT_A_NUMBER);
  pow_of(NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER);
  pow_of(0xff800001u, ONE, NOT_A_NUMBER);
  pow_of(0x7f800001u, TWO, NOT_A_NUMBER);
  pow_of(TWO, 0x7f800001u, NOT_A_NUMBER);
  /* overflow and what vanishes, with the sign of an odd power */
  pow_of(NEGATIVE(LARGEST), THREE, NEGATIVE(INF));
  pow_of(NEGATIVE(LARGEST), NEGATIVE(THREE), NEGATIVE(ZERO));
  pow_of(NEGATIVE(LARGEST), TWO, INF);
  pow_of(NEGATIVE(TWO), THREE, 0xc1000000u);
  pow_of(NEGATIVE(TWO), NEGATIVE(TWO), QUARTER);
}
/* The floats beside 1 to powers that leave it. */
static void pow_beside_1(void) {
  const float infinity = mpnum_from_bits_f32(INF);
  const float above = mpnum_from_bits_f32(ONE + 1), below = mpnum_from_bits_f32(ONE - 1);
  check("pow", "f32", ONE + 1, mpnum_bits_f32(mpnum_pow_f32(above, infinity)), INF);
  check("pow", "f32", ONE + 1, mpnum_bits_f32(mpnum_pow_f32(above, 3e38f)), INF);
  check("pow", "f32", ONE + 1, mpnum_bits_f32(mpnum_pow_f32(above, -3e38f)), ZERO);
  check("pow", "f32", ONE - 1, mpnum_bits_f32(mpnum_pow_f32(below, infinity)), ZERO);
  check("pow", "f32", ONE - 1, mpnum_bits_f32(mpnum_pow_f32(below, 3e38f)), ZERO);
  check("pow", "f32", ONE - 1, mpnum_bits_f32(mpnum_pow_f32(below, -3e38f)), INF);
}
/* The last odd float, and those of even integers alone. */
static void pow_knows_odd_floats(void) {
  const float minus = mpnum_from_bits_f32(NEGATIVE(ONE));
  static const float odd[] = {1, 3, 65535, 8388607, 8388609, 16777215};
  static const float even[] = {2,        65536,    8388608,  16777214,
                               16777216, 16777218, 33554436, 3e38f};
  static const float fractions[] = {0.5f, 1.5f, 4194303.5f};
  for (int sign = -1; sign < 2; sign += 2) {
    for (int i = 0; i < 6; ++i)
      check("pow(-1)", "f32", 0,
            mpnum_bits_f32(mpnum_pow_f32(minus, (float)sign * odd[i])), NEGATIVE(ONE));
    for (int i = 0; i < 8; ++i)
      check("pow(-1)", "f32", 0,
            mpnum_bits_f32(mpnum_pow_f32(minus, (float)sign * even[i])), ONE);
    for (int i = 0; i < 3; ++i)
      check("pow(-1)", "f32", 0,
            mpnum_bits_f32(mpnum_pow_f32(minus, (float)sign * fractions[i])),
            NOT_A_NUMBER);
  }
}
static void the_largest_angle_has_a_sine(void) {
  const float x = mpnum_from_bits_f32(LARGEST);
  const double sine = (double)mpnum_sin_f32(x), cosine = (double)mpnum_cos_f32(x);
  CHECK(fabs(sine - sin((double)x)) < 1e-7, "sin: got %a", sine);
  CHECK(fabs(cosine - cos((double)x)) < 1e-7, "cos: got %a", cosine);
}
static void sincos_is_sin_and_cos(void) {
  for (uint64_t bits = 0; bits >> 32 == 0; bits += 65521) {
    const float x = mpnum_from_bits_f32((uint32_t)bits);
    const mpnum_f16 half = {(uint16_t)(bits >> 16)};
    const mpnum_bf16 brain = {(uint16_t)(bits >> 16)};
    mpnum_f16 half_sine, half_cosine;
    mpnum_bf16 brain_sine, brain_cosine;
    float sine, cosine;
    mpnum_sincos_f32(x, &sine, &cosine);
    check("sincos", "f32", (uint32_t)bits, mpnum_bits_f32(sine),
          mpnum_bits_f32(mpnum_sin_f32(x)));
    check("sincos", "f32", (uint32_t)bits, mpnum_bits_f32(cosine),
          mpnum_bits_f32(mpnum_cos_f32(x)));
    mpnum_sincos_f16(half, &half_sine, &half_cosine);
    check("sincos", "f16", half.bits, half_sine.bits, mpnum_sin_f16(half).bits);
    check("sincos", "f16", half.bits, half_cosine.bits, mpnum_cos_f16(half).bits);
    mpnum_sincos_bf16(brain, &brain_sine, &brain_cosine);
    check("sincos", "bf16", brain.bits, brain_sine.bits, mpnum_sin_bf16(brain).bits);
    check("sincos", "bf16", brain.bits, brain_cosine.bits, mpnum_cos_bf16(brain).bits);
  }
}

static uint32_t state = 1;
static double uniform(double from, double to) {
  state = state * 1664525u + 1013904223u;
  const uint32_t mixed = (state ^ state >> 15) * 2246822519u;
  return from + (to - from) * (double)(mixed ^ mixed >> 13) * 0x1p-32;
}
/* Close to each other, far apart, and where the two parts cancel. */
static void logaddexp_keeps_its_bound(void) {
  for (int i = 0; i < 300000; ++i) {
    const double range = i % 3 == 0 ? 100 : 10;
    float a = (float)uniform(-range, range), b = (float)((double)a + uniform(-20, 20));
    if (i % 3 == 2) {
      a = (float)uniform(-30, -0.001);
      b = (float)(log1p(-exp((double)a)) * (1 + uniform(-8, 8) * 0x1p-24));
    }
    const float got = mpnum_logaddexp_f32(a, b);
    const uint64_t want_bits = reference_of_logaddexp((double)a, (double)b);
    double want;
    memcpy(&want, &want_bits, sizeof want);
    int exponent;
    frexp(want, &exponent);
    const double bound = fabs(want) < 0.0625 ? 0x1p-23 : 6 * ldexp(1, exponent - 24);
    CHECK(fabs((double)got - want) <= bound, "logaddexp of %a and %a: got %a, want %a",
          (double)a, (double)b, (double)got, want);
  }
}

/* A gate times what it lets through; 0 times Inf is NaN. */
static void gates_of_special_arguments(void) {
#define GATED(name, a, b, want)                                                          \
 check(                                                                                  \
     #name, "f32", a,                                                                    \
     mpnum_bits_f32(mpnum_##name##_f32(mpnum_from_bits_f32(a), mpnum_from_bits_f32(b))), \
     want)
#define GATES(name)                                             \
 do {                                                           \
  GATED(name, ZERO, ONE, ZERO);                                 \
  GATED(name, NEGATIVE(ZERO), ONE, NEGATIVE(ZERO));             \
  GATED(name, NEGATIVE(INF), NEGATIVE(ONE), ZERO);              \
  GATED(name, INF, NEGATIVE(ONE), NEGATIVE(INF));               \
  GATED(name, ZERO, INF, NOT_A_NUMBER);                         \
  GATED(name, INF, NEGATIVE(ZERO), NOT_A_NUMBER);               \
  GATED(name, NEGATIVE(INF), INF, NOT_A_NUMBER);                \
  GATED(name, 0x7fc00000u, ONE, NOT_A_NUMBER);                  \
  GATED(name, ONE, 0xffc00000u, NOT_A_NUMBER);                  \
  GATED(name, 0x42c80000u /* 100 */, 0x40400000u, 0x43960000u); \
  GATED(name, LARGEST, 0x40000000u, INF);                       \
 } while (0)
  GATES(swiglu);
  GATES(geglu);
}
static void gates_keep_their_bound(void) {
  static const char *const names[] = {"silu", "gelu"};
  for (int which = 0; which < 2; ++which) {
    const function_reference *reference = function_reference_named(names[which]);
    for (int i = 0; i < 20000; ++i) {
      const double range = i % 2 ? 12 : 2;
      const float gate = (float)uniform(-range, range);
      const float up = (float)ldexp(uniform(-2, 2), i % 20 - 10);
      const float got = which ? mpnum_geglu_f32(gate, up) : mpnum_swiglu_f32(gate, up);
      const uint64_t want_bits =
          reference_of_product(reference, (double)gate, (double)up);
      double want;
      memcpy(&want, &want_bits, sizeof want);
      int exponent;
      frexp(want, &exponent);
      CHECK(fabs((double)got - want) <= (3 + which) * ldexp(1, exponent - 24),
            "%s of %a times %a: got %a, want %a", names[which], (double)gate, (double)up,
            (double)got, want);
    }
  }
}

int main(void) {
  start_function_references();
  TAP_RUN(zeros_and_infinities);
  TAP_RUN(special_values_are_those_of_formulas);
  TAP_RUN(outside_the_domain_is_nan);
  TAP_RUN(nan_gives_the_canonical_one);
  TAP_RUN(saturating_forms_are_never_infinite);
  TAP_RUN(sines_next_to_whole_quarters);
  TAP_RUN(logaddexp_of_special_arguments);
  TAP_RUN(logaddexp_keeps_its_bound);
  TAP_RUN(gates_of_special_arguments);
  TAP_RUN(gates_keep_their_bound);
  TAP_RUN(pow_of_special_arguments);
  TAP_RUN(pow_beside_1);
  TAP_RUN(pow_knows_odd_floats);
  TAP_RUN(the_largest_angle_has_a_sine);
  TAP_RUN(sincos_is_sin_and_cos);
  end_function_references();
  return tap_done();
}

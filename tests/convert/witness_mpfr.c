/* SPDX-License-Identifier: MIT */
/* MPFR as an independent witness of every encoder.
 *
 * The four IEEE directions are MPFR's own: mpfr_set to the format's precision, then
 * mpfr_check_range and mpfr_subnormalize, which round once because they know on which
 * side the first rounding went. Formats with an Inf get MPFR's emax too, so that MPFR
 * itself says what overflows; in the others the exponent is unbounded and the rule of the
 * format's last finite value decides. MPFR has no nearest-away, to-odd or stochastic
 * rounding of subnormals: these come from the two neighbours, found by MPFR, and exact
 * comparisons. The same is done for nearest-even where a significand has one bit, because
 * there MPFR looks at the significand's parity, not the code's.
 *
 * Numbers of the formats are typed here from their definitions.
 */
#include "generic_forms.h"

#include "../harness/samples.h"
#include "../harness/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_INPUTS = 150000, CODES = 4096, CUSTOM_FORMATS = 300, CUSTOM_INPUTS = 1500 };

typedef uint32_t encode_f32(mpnum_format, float, mpnum_rounding, mpnum_overflow,
                            uint32_t);
typedef uint32_t encode_f64(mpnum_format, double, mpnum_rounding, mpnum_overflow,
                            uint32_t);

/* What a format is, by its definition; codes are magnitudes before the storage shift. */
typedef struct target {
  const char *name;
  int sign_bits, exponent_bits, mantissa_bits, bias, storage_shift;
  uint32_t max_code;
  uint32_t overflow_code; /* of Inf, or of the NaN in its place; 0: all saturates */
  int has_infinity, has_zero, has_negative_zero;
  encode_f32 *from_f32; /* null: float is no narrower */
  encode_f64 *from_f64;
  mpnum_format format; /* what the encoders are given */
} target;

/* The typed functions, in the shape of the generic ones. */
#define TYPED(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, specials, nan)  \
 static uint32_t name##_from_f32(mpnum_format format, float x, mpnum_rounding rounding,  \
                                 mpnum_overflow overflow, uint32_t random) {             \
  (void)format;                                                                          \
  return mpnum_f32_to_##name##_round(x, rounding, overflow, random).bits;                \
 }                                                                                       \
 static uint32_t name##_from_f64(mpnum_format format, double x, mpnum_rounding rounding, \
                                 mpnum_overflow overflow, uint32_t random) {             \
  (void)format;                                                                          \
  return mpnum_f64_to_##name##_round(x, rounding, overflow, random).bits;                \
 }
MPNUM_FORMATS(TYPED)

static uint32_t f32_from_f64(mpnum_format format, double x, mpnum_rounding rounding,
                             mpnum_overflow overflow, uint32_t random) {
  (void)format;
  return mpnum_bits_f32(mpnum_f64_to_f32_round(x, rounding, overflow, random));
}

static uint32_t generic_from_f32(mpnum_format format, float x, mpnum_rounding rounding,
                                 mpnum_overflow overflow, uint32_t random) {
  return mpnum_encode(format, x, rounding, overflow, random);
}

static uint32_t generic_from_f64(mpnum_format format, double x, mpnum_rounding rounding,
                                 mpnum_overflow overflow, uint32_t random) {
  return mpnum_encode_f64(format, x, rounding, overflow, random);
}

#define NO_FORMAT \
 { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define ENCODERS(name) name##_from_f32, name##_from_f64, NO_FORMAT

/* clang-format off */
static const target targets[] = {
  /* name  S  E   M bias shift      max  overflow Inf 0 -0 */
  {"f16",  1, 5, 10,  15,  0,    0x7bff,   0x7c00, 1, 1, 1, ENCODERS(f16)},
  {"bf16", 1, 8,  7, 127,  0,    0x7f7f,   0x7f80, 1, 1, 1, ENCODERS(bf16)},
  {"tf32", 1, 8, 10, 127, 13,   0x3fbff,  0x3fc00, 1, 1, 1, ENCODERS(tf32)},
  {"e5m2", 1, 5,  2,  15,  0,      0x7b,     0x7c, 1, 1, 1, ENCODERS(e5m2)},
  {"e4m3", 1, 4,  3,   7,  0,      0x7e,     0x7f, 0, 1, 1, ENCODERS(e4m3)},
  {"e5m2fnuz", 1, 5, 2, 16, 0,     0x7f,     0x80, 0, 1, 0, ENCODERS(e5m2fnuz)},
  {"e4m3fnuz", 1, 4, 3,  8, 0,     0x7f,     0x80, 0, 1, 0, ENCODERS(e4m3fnuz)},
  {"e3m4", 1, 3,  4,   3,  0,      0x6f,     0x70, 1, 1, 1, ENCODERS(e3m4)},
  {"e8m0", 0, 8,  0, 127,  0,      0xfe,     0xff, 0, 0, 0, ENCODERS(e8m0)},
  {"e3m2", 1, 3,  2,   3,  0,      0x1f,        0, 0, 1, 1, ENCODERS(e3m2)},
  {"e2m3", 1, 2,  3,   1,  0,      0x1f,        0, 0, 1, 1, ENCODERS(e2m3)},
  {"e2m1", 1, 2,  1,   1,  0,       0x7,        0, 0, 1, 1, ENCODERS(e2m1)},
  {"f32",  1, 8, 23, 127,  0, 0x7f7fffff, 0x7f800000, 1, 1, 1, NULL, f32_from_f64, NO_FORMAT},
};
/* clang-format on */

static mpfr_t source, magnitude, low, high, rounded, distance, middle;
static mpfr_exp_t widest_emin, widest_emax;

static uint64_t random_state = 1;

static uint64_t random_word(void) { /* splitmix64 */
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint32_t random_below(uint32_t bound) { return (uint32_t)(random_word() % bound); }

/* Code of a magnitude that the format has, its exponent unbounded; anything past max
 * gives max + 1 or more. */
static uint32_t code_of(const target *t, double value) {
  int exponent = 0;
  const double significand = frexp(value, &exponent) * 2;
  const int field = exponent - 1 + t->bias;
  if (value <= 0) return 0;
  if (value > 0x1p200) return t->max_code + 1; /* Inf too: past every format */
  if (t->has_zero && field < 1)
    return (uint32_t)ldexp(value, t->bias + t->mantissa_bits - 1);
  if (field >= 2 << t->exponent_bits) return t->max_code + 1;
  return ((uint32_t)field << t->mantissa_bits) +
         (uint32_t)ldexp(significand - 1, t->mantissa_bits);
}

/* Value of a magnitude code, its exponent unbounded. */
static double value_of(const target *t, uint32_t code) {
  const int field = (int)(code >> t->mantissa_bits);
  const double fraction =
      ldexp((double)(code & ((1u << t->mantissa_bits) - 1)), -t->mantissa_bits);
  if (t->has_zero && field == 0) return ldexp(fraction, 1 - t->bias);
  return ldexp(1 + fraction, field - t->bias);
}

/* MPFR's rounding to the format's precision and subnormals, to its emax if asked for. */
static void round_by_mpfr(const target *t, mpfr_t result, mpfr_t x, mpfr_rnd_t direction,
                          int bounded) {
  const int max_exponent = (int)(t->max_code >> t->mantissa_bits) - t->bias;
  int ternary = mpfr_set(result, x, direction);
  if (!t->has_zero) return; /* no subnormals, and the source is not below the least */
  /* MPFR's significands lie in [1/2, 1). */
  mpfr_set_emin(2 - t->bias - t->mantissa_bits);
  if (bounded) mpfr_set_emax(max_exponent + 1);
  ternary = mpfr_check_range(result, ternary, direction);
  (void)mpfr_subnormalize(result, ternary, direction);
  mpfr_set_emin(widest_emin);
  mpfr_set_emax(widest_emax);
}

/* The expected codes for one source, overflow as in IEEE 754; saturation only differs in
 * what stands for overflow. */
typedef struct expectation {
  uint32_t code[MPNUM_ROUND_STOCHASTIC]; /* magnitudes, without the sign */
  uint32_t low, high;                    /* codes of the neighbours */
  uint32_t fraction;                     /* floor(2^32 * (x - low) / (high - low)) */
  uint32_t negative;
} expectation;

static uint32_t nearest_of(const expectation *e, int to_even) {
  const int side = mpfr_cmp(magnitude, middle);
  if (e->low == e->high) return e->low;
  if (side == 0) return to_even && (e->low & 1) == 0 ? e->low : e->high;
  return side > 0 ? e->high : e->low;
}

/* A code from MPFR's rounding of the signed source. */
static uint32_t mpfr_code(const target *t, mpfr_rnd_t direction) {
  round_by_mpfr(t, rounded, t->sign_bits ? source : magnitude, direction,
                t->has_infinity);
  if (mpfr_inf_p(rounded)) return t->max_code + 1;
  return code_of(t, fabs(mpfr_get_d(rounded, MPFR_RNDN)));
}

static void expect(const target *t, double x, expectation *e) {
  const mpfr_prec_t precision = t->mantissa_bits + 1;
  mpfr_set_prec(low, precision);
  mpfr_set_prec(high, precision);
  mpfr_set_prec(rounded, precision);
  mpfr_set_d(source, x, MPFR_RNDN);
  mpfr_abs(magnitude, source, MPFR_RNDN);
  if (!t->has_zero && mpfr_cmp_si_2exp(magnitude, 1, -t->bias) < 0) {
    mpfr_set_si_2exp(magnitude, 1, -t->bias, MPFR_RNDN);
    mpfr_set(source, magnitude, MPFR_RNDN);
  }
  e->negative = (mpfr_signbit(source) != 0) & (unsigned)t->sign_bits;
  round_by_mpfr(t, low, magnitude, MPFR_RNDZ, 0);
  round_by_mpfr(t, high, magnitude, MPFR_RNDA, 0);
  e->low = code_of(t, mpfr_get_d(low, MPFR_RNDN));
  e->high = code_of(t, mpfr_get_d(high, MPFR_RNDN));
  e->fraction = 0;
  mpfr_add(middle, low, high, MPFR_RNDN);
  mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
  if (mpfr_cmp(low, high) != 0) {
    mpfr_sub(distance, magnitude, low, MPFR_RNDN);
    mpfr_sub(middle, high, low, MPFR_RNDN);
    mpfr_div(distance, distance, middle, MPFR_RNDN); /* exact: by a power of two */
    mpfr_mul_2ui(distance, distance, 32, MPFR_RNDN);
    e->fraction = (uint32_t)mpfr_get_ui(distance, MPFR_RNDD);
    mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
    mpfr_add(middle, middle, low, MPFR_RNDN);
  }
  e->code[MPNUM_ROUND_TOWARD_ZERO] = mpfr_code(t, MPFR_RNDZ);
  e->code[MPNUM_ROUND_UP] = mpfr_code(t, MPFR_RNDU);
  e->code[MPNUM_ROUND_DOWN] = mpfr_code(t, MPFR_RNDD);
  e->code[MPNUM_ROUND_NEAREST_EVEN] =
      t->mantissa_bits > 0 ? mpfr_code(t, MPFR_RNDN) : nearest_of(e, 1);
  e->code[MPNUM_ROUND_NEAREST_AWAY] = nearest_of(e, 0);
  e->code[MPNUM_ROUND_TO_ODD] = e->low & 1 ? e->low : e->high;
}

/* The stored code of a rounded magnitude. */
static uint32_t stored_code(const target *t, uint32_t code, uint32_t negative,
                            mpnum_rounding rounding, mpnum_overflow overflow) {
  const int sign_shift = t->exponent_bits + t->mantissa_bits;
  if (code > t->max_code) {
    const int stays_finite =
        overflow == MPNUM_OVERFLOW_SATURATE || t->overflow_code == 0 ||
        rounding == MPNUM_ROUND_TOWARD_ZERO || rounding == MPNUM_ROUND_TO_ODD ||
        (rounding == MPNUM_ROUND_UP && negative) ||
        (rounding == MPNUM_ROUND_DOWN && !negative);
    code = stays_finite ? t->max_code : t->overflow_code;
  }
  if (negative && (code > 0 || t->has_negative_zero)) code |= UINT32_C(1) << sign_shift;
  return code << t->storage_shift;
}

static const char *const rounding_names[] = {
    "nearest even", "toward zero", "up", "down", "nearest away", "to odd", "stochastic"};

/* One source, given as a double that is a float where is_f32 is set. */
static void check_one(const target *t, double x, int is_f32, mpnum_rounding rounding,
                      mpnum_overflow overflow, uint32_t random, uint32_t code,
                      uint32_t negative) {
  const uint32_t want = stored_code(t, code, negative, rounding, overflow);
  const uint32_t got = is_f32
                           ? t->from_f32(t->format, (float)x, rounding, overflow, random)
                           : t->from_f64(t->format, x, rounding, overflow, random);
  CHECK(got == want,
        "%s of %s %a (f64 bits %016llx), %s, %s, random %08x: got %x, MPFR %x", t->name,
        is_f32 ? "f32" : "f64", x, (unsigned long long)mpnum_bits_f64(x),
        rounding_names[rounding], overflow ? "saturate" : "ieee", random, got, want);
}

static void check_source(const target *t, double x, int is_f32) {
  expectation e;
  int rounding = 0;
  if (is_f32) x = (double)(float)x;
  if (!mpnum_isfinite_f64(x)) return;
  expect(t, x, &e);
  for (rounding = 0; rounding < MPNUM_ROUND_STOCHASTIC; ++rounding) {
    check_one(t, x, is_f32, (mpnum_rounding)rounding, MPNUM_OVERFLOW_IEEE, 0,
              e.code[rounding], e.negative);
    check_one(t, x, is_f32, (mpnum_rounding)rounding, MPNUM_OVERFLOW_SATURATE, 0,
              e.code[rounding], e.negative);
  }
  {
    /* The least random word that rounds away is 2^32 - fraction. */
    const uint32_t random = (uint32_t)random_word();
    const uint32_t least = 0u - e.fraction;
    const uint32_t random_code =
        (uint64_t)random + e.fraction > 0xffffffffu ? e.high : e.low;
    check_one(t, x, is_f32, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, random,
              random_code, e.negative);
    check_one(t, x, is_f32, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE, least - 1,
              e.low, e.negative);
    if (e.fraction > 0)
      check_one(t, x, is_f32, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, least, e.high,
                e.negative);
  }
}

static void check_both_signs(const target *t, double x, int is_f32) {
  check_source(t, x, is_f32);
  check_source(t, -x, is_f32);
}

/* The numbers of the source at and beside a point. */
static void check_point(const target *t, double point, int is_f32) {
  if (is_f32) {
    const float x = (float)point;
    check_both_signs(t, (double)nextafterf(x, 0), 1);
    check_both_signs(t, (double)x, 1);
    if (x < 0x1p127f) check_both_signs(t, (double)nextafterf(x, HUGE_VALF), 1);
  } else {
    check_both_signs(t, nextafter(point, 0), 0);
    check_both_signs(t, point, 0);
    check_both_signs(t, nextafter(point, HUGE_VAL), 0);
  }
}

static void check_code(const target *t, uint32_t code, int is_f32) {
  const double value = value_of(t, code);
  const double next = value_of(t, code + 1);
  if (is_f32 && next > 0x1.fffffep127) return;
  check_point(t, value, is_f32);
  check_point(t, value + (next - value) / 2, is_f32);
}

/* A random number with an exponent that the format, or just not, reaches; often with few
 * bits, so that ties and exact values occur. */
static double random_near(const target *t) {
  const int least = 1 - t->bias - t->mantissa_bits - 3;
  const int most = (int)(t->max_code >> t->mantissa_bits) - t->bias + 2;
  const int exponent = least + (int)random_below((uint32_t)(most - least + 1));
  const uint32_t kept = random_below(53);
  const uint64_t word = random_word();
  const uint64_t mantissa = (word >> 12) & (~UINT64_C(0) << (52 - kept));
  return ldexp(1 + ldexp((double)mantissa, -52), exponent) * (word & 1 ? -1 : 1);
}

static double random_anywhere(int is_f32) {
  const uint64_t word = random_word();
  const uint32_t exponent = (uint32_t)(word >> 23) & 0xff;
  if (!is_f32) return mpnum_from_bits_f64(word);
  return exponent == 0xff ? 0 : (double)mpnum_from_bits_f32((uint32_t)word);
}

static void check_edges_of_source(const target *t, int is_f32) {
  static const double f32[] = {0.0,      0x1p-149,        0x1p-148,
                               0x1p-127, 0x1.fffffcp-127, 0x1p-126,
                               1.0,      0x1p126,         0x1.fffffep127};
  static const double f64[] = {4.9406564584124654e-324,
                               0x1p-1023,
                               0x1p-1022,
                               0x1p-900,
                               0x1p-150,
                               0x1p-149,
                               0x1.fffffefffffffp127,
                               0x1p128,
                               0x1p900,
                               0x1.fffffffffffffp1023};
  size_t i = 0;
  for (i = 0; i < sizeof f32 / sizeof *f32; ++i)
    check_both_signs(t, f32[i], is_f32);
  if (is_f32) return;
  for (i = 0; i < sizeof f64 / sizeof *f64; ++i)
    check_both_signs(t, f64[i], 0);
}

static void check_infinite_source(const target *t, int is_f32) {
  int rounding = 0;
  for (rounding = 0; rounding <= MPNUM_ROUND_STOCHASTIC; ++rounding) {
    uint32_t sign = 0;
    for (sign = 0; sign < 2; ++sign) {
      /* A source Inf stays Inf, or the NaN in its place, in every mode: as in nearest. */
      const uint32_t want = stored_code(t, t->max_code + 1, sign & (unsigned)t->sign_bits,
                                        MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE);
      const uint32_t got =
          is_f32 ? t->from_f32(t->format, sign ? -HUGE_VALF : HUGE_VALF,
                               (mpnum_rounding)rounding, MPNUM_OVERFLOW_IEEE, 0)
                 : t->from_f64(t->format, sign ? -HUGE_VAL : HUGE_VAL,
                               (mpnum_rounding)rounding, MPNUM_OVERFLOW_IEEE, 0);
      CHECK(got == want, "%s of %cInf, %s: got %x, want %x", t->name, sign ? '-' : '+',
            rounding_names[rounding], got, want);
    }
  }
}

static void check_target(const target *t, int is_f32, int codes, int random_inputs) {
  const uint32_t step = t->max_code / (uint32_t)codes | 1;
  uint32_t code = 0;
  int i = 0;
  for (code = 0; code + step <= t->max_code; code += step)
    check_code(t, code, is_f32);
  for (i = 0; i < 4; ++i) {
    const uint32_t normal = UINT32_C(1) << t->mantissa_bits;
    if ((uint32_t)i <= t->max_code) check_code(t, (uint32_t)i, is_f32);
    if (normal + (uint32_t)i >= 2 && normal + (uint32_t)i - 2 <= t->max_code)
      check_code(t, normal + (uint32_t)i - 2, is_f32);
    if ((uint32_t)i <= t->max_code + 1)
      check_code(t, t->max_code + 1 - (uint32_t)i, is_f32);
  }
  check_edges_of_source(t, is_f32);
  check_infinite_source(t, is_f32);
  for (i = 0; i < random_inputs; ++i) {
    check_source(t, random_near(t), is_f32);
    if (i % 8 == 0) check_source(t, random_anywhere(is_f32), is_f32);
  }
}

static const target *current;

static void current_from_f32(void) {
  check_target(current, 1, samples(CODES), samples(RANDOM_INPUTS));
}
static void current_from_f64(void) {
  check_target(current, 0, samples(CODES), samples(RANDOM_INPUTS));
}

/* A format of random shape: 0, or 1 where no such format exists. */
static int random_format(target *t) {
  static const char *const names[] = {"custom ieee", "custom fn", "custom fnuz",
                                      "custom finite", "custom p3109"};
  const int specials = (int)random_below(5);
  const int sign_bits = (int)random_below(4) > 0;
  const int exponent_bits = 1 + (int)random_below(8);
  const int mantissa_bits = (int)random_below(16);
  const int middle_bias = (1 << (exponent_bits - 1)) - 1;
  const int bias = random_below(2) ? middle_bias : (int)random_below(255) - 127;
  const uint32_t ones = (UINT32_C(1) << (exponent_bits + mantissa_bits)) - 1;
  memset(t, 0, sizeof *t);
  t->name = names[specials];
  t->sign_bits = sign_bits;
  t->exponent_bits = exponent_bits;
  t->mantissa_bits = mantissa_bits;
  t->bias = bias;
  t->has_zero = 1;
  t->from_f32 = generic_from_f32;
  t->from_f64 = generic_from_f64;
  switch (specials) {
  case MPNUM_SPECIALS_IEEE:
    t->overflow_code = ones >> mantissa_bits << mantissa_bits;
    t->max_code = t->overflow_code - 1;
    t->has_negative_zero = sign_bits;
    t->has_infinity = 1;
    break;
  case MPNUM_SPECIALS_FN:
    t->overflow_code = ones;
    t->max_code = ones - 1;
    t->has_negative_zero = sign_bits;
    break;
  case MPNUM_SPECIALS_FNUZ:
    t->overflow_code = ones + 1;
    t->max_code = ones;
    break;
  case MPNUM_SPECIALS_FINITE:
    t->max_code = ones;
    t->has_negative_zero = sign_bits;
    break;
  default:
    t->overflow_code = ones;
    t->max_code = ones - 1;
    break; /* P3109: MPFR's emax bounds nothing, as max is not the last of its binade */
  }
  return mpnum_format_init(&t->format, sign_bits, exponent_bits, mantissa_bits, bias,
                           (mpnum_specials)specials) != MPNUM_OK;
}

static void custom_formats_agree(void) {
  int made = 0;
  while (made < samples(CUSTOM_FORMATS)) {
    target t;
    const int errors = tap_errors;
    if (random_format(&t)) continue;
    check_target(&t, made & 1, 32, CUSTOM_INPUTS);
    if (tap_errors > errors && errors < 10)
      printf("# in the format %d.%d.%d bias %d\n", t.sign_bits, t.exponent_bits,
             t.mantissa_bits, t.bias);
    ++made;
  }
}

int main(int argc, char **argv) {
  size_t i = 0;
  read_arguments(argc, argv);
  mpfr_inits2(192, source, magnitude, distance, middle, (mpfr_ptr)0);
  mpfr_inits2(53, low, high, rounded, (mpfr_ptr)0);
  widest_emin = mpfr_get_emin();
  widest_emax = mpfr_get_emax();
  printf("# MPFR %s\n", mpfr_get_version());
  for (i = 0; i < sizeof targets / sizeof *targets; ++i) {
    char name[64];
    current = &targets[i];
    if (current->from_f32) {
      snprintf(name, sizeof name, "f32_to_%s_agrees_with_mpfr", current->name);
      tap_run(name, current_from_f32);
    }
    snprintf(name, sizeof name, "f64_to_%s_agrees_with_mpfr", current->name);
    tap_run(name, current_from_f64);
  }
  TAP_RUN(custom_formats_agree);
  mpfr_clears(source, magnitude, distance, middle, low, high, rounded, (mpfr_ptr)0);
  mpfr_free_cache();
  return tap_done();
}

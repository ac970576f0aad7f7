/* SPDX-License-Identifier: MIT */
/* Inputs on which other libraries, or their own fast paths, give something else. The
 * expected codes are typed in. Everything is run in each rounding mode of the machine and
 * with subnormals flushed, and compares bits, so it holds with -O3 -ffast-math too. */
#include "conversion_types.h"
#include "../harness/tap.h"

#include <fenv.h>
#include <inttypes.h>

#if defined(__SSE2__)
# include <xmmintrin.h>
#endif

/* Inputs pass through a volatile: the conversion is done at run time, in the environment.
 */
static float f32(uint32_t bits) {
  volatile uint32_t hidden = bits;
  return float_of(hidden);
}
static double f64(uint64_t bits) {
  volatile uint64_t hidden = bits;
  return double_of(hidden);
}

static void expect(uint32_t got, uint32_t want, const char *what) {
  CHECK(got == want, "%s: got %" PRIx32 ", want %" PRIx32, what, got, want);
}

/* One stack clips to max before it rounds. */
static void clipping_comes_after_rounding(void) {
  expect(mpnum_f32_to_e4m3(f32(0x43e08000)).bits, 0x7e, "449 to e4m3");
  for (int i = 57345; i <= 61439; ++i)
    expect(mpnum_f32_to_e5m2(f32(bits_of_float((float)i))).bits, 0x7b,
           "57345..61439 to e5m2");
}

/* Through f16 it would first fall on the tie. */
static void e4m3_just_past_464_overflows(void) {
  expect(mpnum_f32_to_e4m3(f32(0x43e80001)).bits, 0x7f, "464.00003");
  expect(mpnum_f32_to_e4m3(f32(0x43e80000)).bits, 0x7e, "464");
}

static void values_just_past_a_tie_are_not_rounded_twice(void) {
  expect(mpnum_f32_to_e4m3(f32(0x3f880001)).bits, 0x39, "just past 1.0625 to e4m3");
  expect(mpnum_f32_to_e5m2(f32(0x3f900001)).bits, 0x3d, "just past 1.125 to e5m2");
}

/* A shift by more than the word's width would bring bits back. */
static void tiny_values_become_zero(void) {
  expect(mpnum_f32_to_e4m3(f32(0x1cc00000)).bits, 0x00, "1.5 * 2^-70 to e4m3");
  expect(mpnum_f32_to_e5m2(f32(0x18c00000)).bits, 0x00, "1.5 * 2^-78 to e5m2");
}

static void formats_without_inf_and_nan_give_max(void) {
  expect(mpnum_f32_to_e2m1_sat(f32(0x4e6e6b28)).bits, 0x7, "1e9 to e2m1");
  expect(mpnum_f32_to_e2m1_sat(f32(0x7f800000)).bits, 0x7, "Inf to e2m1");
  expect(mpnum_f32_to_e2m1_sat(f32(0x7fc00000)).bits, 0x7, "NaN to e2m1");
  expect(mpnum_f32_to_e2m3_sat(f32(0x7fc00000)).bits, 0x1f, "NaN to e2m3");
  expect(mpnum_f32_to_e3m2_sat(f32(0x7fc00000)).bits, 0x1f, "NaN to e3m2");
  expect(mpnum_f32_to_e2m1_sat(f32(0xffc00000)).bits, 0x7, "-NaN to e2m1");
  expect(mpnum_f32_to_e2m3_sat(f32(0xffc00000)).bits, 0x1f, "-NaN to e2m3");
  expect(mpnum_f32_to_e3m2_sat(f32(0xffc00000)).bits, 0x1f, "-NaN to e3m2");
}

/* The top exponent of e4m3 holds numbers: every float of [256, 448]. */
static void e4m3_rounds_normally_up_to_max(void) {
  static const struct {
    uint32_t last, code; /* ties belong to the even code */
  } bands[] = {
      {0x43880000, 0x78}, {0x4397ffff, 0x79}, {0x43a80000, 0x7a}, {0x43b7ffff, 0x7b},
      {0x43c80000, 0x7c}, {0x43d7ffff, 0x7d}, {0x43e00000, 0x7e},
  };
  uint32_t bits = 0x43800000;
  for (size_t i = 0; i < sizeof bands / sizeof bands[0]; ++i)
    for (; bits <= bands[i].last; ++bits)
      expect(mpnum_f32_to_e4m3(f32(bits)).bits, bands[i].code, "256..448");
  expect(mpnum_f32_to_e4m3(f32(0x43800000)).bits, 0x78, "256");
  expect(mpnum_f32_to_e4m3(f32(0x3a800000)).bits, 0x00, "2^-10");
  expect(mpnum_f32_to_e4m3(f32(0x3c100000)).bits, 0x04, "0.0087890625");
}

/* The AVX512-BF16 instruction takes a subnormal source for zero. */
static void bf16_sees_f32_subnormals(void) {
  expect(mpnum_f32_to_bf16(f32(0x00008001)).bits, 0x0001, "00008001");
}

static void e4m3_saturates_inf(void) {
  expect(mpnum_f32_to_e4m3_sat(f32(0x7f800000)).bits, 0x7e, "Inf");
}

static void e4m3_overflows_unless_told_to_saturate(void) {
  expect(mpnum_f32_to_e4m3(f32(0x43fa0000)).bits, 0x7f, "500");
  expect(mpnum_f32_to_e4m3_sat(f32(0x43fa0000)).bits, 0x7e, "500, saturating");
}

/* The payload of this NaN lies in the bits that tf32 drops. */
static void tf32_nan_does_not_become_inf(void) {
  expect(mpnum_f32_to_tf32(f32(0x7f800001)).bits, 0x7fffe000, "7f800001");
  expect(mpnum_f32_to_tf32_rz(f32(0x7f800001)).bits, 0x7fffe000, "7f800001, toward zero");
  expect(mpnum_f32_to_tf32_rna(f32(0x7f800001)).bits, 0x7fffe000, "7f800001, away");
}

static void f64_just_past_a_tie_rounds_once(void) {
  expect(mpnum_f64_to_f16(f64(0x3e60000000000001)).bits, 0x0001,
         "2^-25 and an ulp to f16");
  expect(mpnum_f64_to_f16(f64(0x3e60000000000000)).bits, 0x0000, "2^-25 to f16");
}

/* 1, half a gap and 2^-40: by way of f32 it is the tie, which goes to 1. */
static void f64_rounds_once_to_every_format(void) {
  size_t tried = 0;
  for (size_t i = 0; i < CONVERSION_TYPES; ++i) {
    const conversion_type *type = &conversion_types[i];
    const mpnum_format format = mpnum_format_of(type->type);
    const uint32_t one = (uint32_t)format.bias << format.mantissa_bits;
    const uint64_t half = (uint64_t)1 << (51 - format.mantissa_bits);
    const uint64_t above = UINT64_C(0x3ff0000000000000) | half | 0x1000;
    if (format.mantissa_bits < 1 || format.mantissa_bits == 23) continue;
    ++tried;
    expect(type->round_f64(f64(above), MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0),
           (one + 1) << format.storage_shift, type->name);
    expect(type->round_f32(mpnum_f64_to_f32(f64(above)), MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_IEEE, 0),
           one << format.storage_shift, type->name);
  }
  CHECK(tried == 11, "%zu formats", tried);
  /* e8m0 from just below and just above 3. */
  expect(mpnum_f64_to_e8m0(f64(0x4007ffffffffffff)).bits, 0x80, "e8m0 below 3");
  expect(mpnum_f64_to_e8m0(f64(0x4008000000000001)).bits, 0x81, "e8m0 above 3");
}

/* Elsewhere ties go away from zero, what is above 2^-127 becomes 2^-126, and zero and
 * negatives are NaN. */
static void e8m0_is_nearest_even_and_has_no_nan_for_numbers(void) {
  expect(mpnum_f32_to_e8m0(f32(0x40400000)).bits, 0x80, "3");
  expect(mpnum_f32_to_e8m0(f32(0x3f400000)).bits, 0x7e, "0.75");
  expect(mpnum_f32_to_e8m0(f32(0x3fc00000)).bits, 0x80, "1.5");
  expect(mpnum_f32_to_e8m0(f32(0x40c00000)).bits, 0x82, "6");
  expect(mpnum_f32_to_e8m0(f32(0x7f400000)).bits, 0xfe, "1.5 * 2^127");
  expect(mpnum_f32_to_e8m0(f32(0x7f400001)).bits, 0xff, "above 1.5 * 2^127");
  for (uint32_t bits = 0x00400001; bits <= 0x00600000; bits += 0xff) {
    expect(mpnum_f32_to_e8m0(f32(bits)).bits, 0x00, "00400001..00600000");
  }
  expect(mpnum_f32_to_e8m0(f32(0x00600000)).bits, 0x00, "00600000");
  expect(mpnum_f32_to_e8m0(f32(0x00600001)).bits, 0x01, "00600001");
  expect(mpnum_f32_to_e8m0(f32(0x00000000)).bits, 0x00, "0");
  expect(mpnum_f32_to_e8m0(f32(0x80000000)).bits, 0x00, "-0");
  expect(mpnum_f32_to_e8m0(f32(0xbf800000)).bits, 0x7f, "-1");
}

/* In the order of conversion_types: the NaN of each format, and its -0, or 00 for none.
 */
static const struct {
  const char *name;
  uint32_t nan, negative_zero;
} codes[] = {
    {"tf32", 0x7fffe000, 0x80000000},
    {"bf16", 0x7fff, 0x8000},
    {"f16", 0x7fff, 0x8000},
    {"e5m2", 0x7f, 0x80},
    {"e4m3", 0x7f, 0x80},
    {"e5m2fnuz", 0x80, 0x00},
    {"e4m3fnuz", 0x80, 0x00},
    {"e3m4", 0x78, 0x80},
    {"e8m0", 0xff, 0x00},
    {"e3m2", 0x1f, 0x20},
    {"e2m3", 0x1f, 0x20},
    {"e2m1", 0x07, 0x08},
    {"f32", 0x7fffffff, 0x80000000},
};
typedef char codes_has_a_row_for_each_of_conversion_types
    [sizeof codes / sizeof codes[0] == CONVERSION_TYPES ? 1 : -1];

static void nans_of_any_sign_and_payload_are_one(void) {
  static const uint32_t singles[] = {0x7f800001, 0xff800001, 0x7fc00000, 0xffc00000,
                                     0x7fa5a5a5, 0xffa5a5a5, 0x7f80ffff, 0xffffffff};
  static const uint64_t doubles[] = {0x7ff0000000000001, 0xfff0000000000001,
                                     0x7ff8000000000000, 0xfff8000000000000,
                                     0x7ff0000080000000, 0xffffffffffffffff};
  for (size_t i = 0; i < CONVERSION_TYPES; ++i) {
    const conversion_type *type = &conversion_types[i];
    for (int j = 0; j < REF_OVERFLOWS; ++j) {
      for (size_t k = 0; k < sizeof singles / sizeof singles[0] && type->round_f32; ++k)
        expect(
            type->round_f32(f32(singles[k]), MPNUM_ROUND_NEAREST_EVEN, overflows[j], 0),
            codes[i].nan, type->name);
      for (size_t k = 0; k < sizeof doubles / sizeof doubles[0]; ++k)
        expect(
            type->round_f64(f64(doubles[k]), MPNUM_ROUND_NEAREST_EVEN, overflows[j], 0),
            codes[i].nan, type->name);
    }
  }
}

static void fast_math_changes_nothing(void) {
  expect(mpnum_f32_to_f16(f32(0x47801001)).bits, 0x7c00, "65568.0078 to f16");
  expect(mpnum_f32_to_bf16(f32(0x7fffffff)).bits, 0x7fff, "NaN to bf16");
}

static void f16_signalling_nan_is_canonical(void) {
  expect(mpnum_f32_to_f16(f32(0x7f800001)).bits, 0x7fff, "7f800001");
}

static void negative_zero_survives_directed_rounding(void) {
  for (size_t i = 0; i < CONVERSION_TYPES; ++i) {
    const conversion_type *type = &conversion_types[i];
    const uint32_t want = codes[i].negative_zero;
    expect(type->round_f64(f64(0x8000000000000000), MPNUM_ROUND_DOWN, MPNUM_OVERFLOW_IEEE,
                           0),
           want, type->name);
    expect(
        type->round_f64(f64(0x8000000000000000), MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0),
        want, type->name);
    expect(
        type->round_f64(f64(0x8000000000000001), MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0),
        want, type->name); /* -4.9e-324 */
    if (!type->round_f32) continue;
    expect(type->round_f32(f32(0x80000000), MPNUM_ROUND_DOWN, MPNUM_OVERFLOW_IEEE, 0),
           want, type->name);
    expect(type->round_f32(f32(0x80000000), MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0), want,
           type->name);
  }
  expect(mpnum_f32_to_e5m2_round(f32(0xb6ff0381), MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0)
             .bits,
         0x80, "-7.6e-6 to e5m2");
}

static void e4m3_nan_is_7f(void) {
  expect(mpnum_f32_to_e4m3(f32(0x7fc00000)).bits, 0x7f, "NaN");
  expect(mpnum_f32_to_e4m3_sat(f32(0x7fc00000)).bits, 0x7f, "NaN, saturating");
}

/* A floating-point environment: what it is called, how it is entered, and what 1 + 2^-30,
 * 1 - 2^-30, -1 - 2^-30 and 2^-149 + 2^-149 give in it. */
typedef struct fp_environment {
  const char *name;
  int mode; /* for fesetround */
  int flushes;
  uint32_t sums[4];
} fp_environment;

static const fp_environment *current;

static void enter(const fp_environment *environment) {
#if defined(__SSE2__)
  /* All exceptions masked; bits 15 and 6 flush results and take subnormal operands for
   * zero. */
  _mm_setcsr(environment->flushes ? 0x9fc0u : 0x1f80u);
#endif
  fesetround(environment->mode);
}

static void the_environment_is_in_force(void) {
  static const uint32_t terms[4][2] = {{0x3f800000, 0x30800000},
                                       {0x3f800000, 0xb0800000},
                                       {0xbf800000, 0xb0800000},
                                       {0x00000001, 0x00000001}};
  CHECK(fegetround() == current->mode, "rounding mode");
  for (int i = 0; i < 4; ++i) {
    volatile float a = float_of(terms[i][0]), b = float_of(terms[i][1]), sum = a + b;
    expect(bits_of_float(sum), current->sums[i], "a sum");
  }
}

static const struct {
  int line; /* of the list of disagreements in the documentation */
  const char *name;
  void (*property)(void);
} properties[] = {
#define PROPERTY(line, property) \
 { line, #property, property }
    PROPERTY(1, clipping_comes_after_rounding),
    PROPERTY(2, e4m3_just_past_464_overflows),
    PROPERTY(3, values_just_past_a_tie_are_not_rounded_twice),
    PROPERTY(4, tiny_values_become_zero),
    PROPERTY(5, formats_without_inf_and_nan_give_max),
    PROPERTY(6, e4m3_rounds_normally_up_to_max),
    PROPERTY(7, bf16_sees_f32_subnormals),
    PROPERTY(8, e4m3_saturates_inf),
    PROPERTY(9, e4m3_overflows_unless_told_to_saturate),
    PROPERTY(10, tf32_nan_does_not_become_inf),
    PROPERTY(11, f64_just_past_a_tie_rounds_once),
    PROPERTY(12, nans_of_any_sign_and_payload_are_one),
    PROPERTY(13, fast_math_changes_nothing),
    PROPERTY(14, the_environment_is_in_force),
    PROPERTY(15, f16_signalling_nan_is_canonical),
    PROPERTY(16, negative_zero_survives_directed_rounding),
    PROPERTY(17, e4m3_nan_is_7f),
    PROPERTY(18, f64_rounds_once_to_every_format),
    PROPERTY(19, e8m0_is_nearest_even_and_has_no_nan_for_numbers),
#undef PROPERTY
};

static void test_environment(const fp_environment *environment) {
  current = environment;
  for (size_t i = 0; i < sizeof properties / sizeof properties[0]; ++i) {
    char name[120];
    snprintf(name, sizeof name, "%d %s, %s", properties[i].line, properties[i].name,
             environment->name);
    enter(environment);
    tap_run(name, properties[i].property);
  }
  enter(environment);
}

int main(void) {
  static const fp_environment environments[] = {
      {"default environment", FE_TONEAREST, 0, {0x3f800000, 0x3f800000, 0xbf800000, 2}},
      {"FE_UPWARD", FE_UPWARD, 0, {0x3f800001, 0x3f800000, 0xbf800000, 2}},
      {"FE_DOWNWARD", FE_DOWNWARD, 0, {0x3f800000, 0x3f7fffff, 0xbf800001, 2}},
      {"FE_TOWARDZERO", FE_TOWARDZERO, 0, {0x3f800000, 0x3f7fffff, 0xbf800000, 2}},
  };
  for (size_t i = 0; i < sizeof environments / sizeof environments[0]; ++i)
    test_environment(&environments[i]);
#if defined(__SSE2__)
  static const fp_environment flushing = {
      "FTZ and DAZ", FE_TONEAREST, 1, {0x3f800000, 0x3f800000, 0xbf800000, 0}};
  test_environment(&flushing);
#else
  TAP_SKIP("every line, FTZ and DAZ",
           "this machine's flush mode is not set by this test");
#endif
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* pow: f16 and bf16 give the code nearest to the value at pairs of codes, with
 * -DTEST_ALL_PAIRS at all 2^32, by single calls and, unless -DTEST_EVERY is given, by
 * arrays; f32 keeps the errors of docs/errors.md. */
#include "function_reference.h"
#include "pow_reference.h"
#include "../harness/control_word.h"
#include "../harness/tap.h"
#include "../reference/reference.h"

#include <mpnum/func/func.h>
#ifndef TEST_EVERY
# include <mpnum/func/func_array.h>
#endif

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(TEST_ALL_PAIRS)
enum { EVERY_X = 1, EVERY_Y = 1, RANDOM_PAIRS = 20000000 };
#elif defined(TEST_EVERY)
enum { EVERY_X = 331, EVERY_Y = 13, RANDOM_PAIRS = 100000 };
#else
enum { EVERY_X = 67, EVERY_Y = 3, RANDOM_PAIRS = 1000000 };
#endif
enum { CODES = 65536 };

typedef struct small_type {
  const char *name;
  pow_format format;
} small_type;
static const small_type types[] = {{"f16", {10, -24}}, {"bf16", {7, -133}}};

static double values[CODES]; /* of all codes of a type */
static double chosen[CODES];
static uint16_t codes[CODES], want[CODES], got[CODES];

static void find_values(const small_type *type) {
  for (uint32_t code = 0; code < CODES; ++code) {
    const uint64_t bits = ref_decode(ref_format_named(type->name), code);
    memcpy(&values[code], &bits, sizeof bits);
  }
}
#ifdef TEST_EVERY
# define CHECK_ARRAYS(word, type, x, n) (void)0
#else
static uint16_t codes_of_x[CODES], by_arrays[CODES];
# define CHECK_ARRAYS(word, type, x, n) check_arrays(word, type, x, n)
static void check_arrays(uint64_t word, int is_bf16, uint16_t x, size_t n) {
  const uint64_t before = control_word();
  for (size_t i = 0; i < n; ++i)
    codes_of_x[i] = x;
  set_control_word(word);
  if (is_bf16)
    mpnum_pow_bf16_array((mpnum_bf16 *)by_arrays, (const mpnum_bf16 *)codes_of_x,
                         (const mpnum_bf16 *)codes, n);
  else
    mpnum_pow_f16_array((mpnum_f16 *)by_arrays, (const mpnum_f16 *)codes_of_x,
                        (const mpnum_f16 *)codes, n);
  set_control_word(before);
  if (memcmp(by_arrays, want, n * sizeof *want) == 0) return;
  for (size_t i = 0; i < n; ++i)
    CHECK(by_arrays[i] == want[i], "%s arrays, %04x ^ %04x: got %04x, want %04x",
          types[is_bf16].name, x, codes[i], by_arrays[i], want[i]);
}
#endif
/* Nothing else happens while the word is in force. */
static void run_with(uint64_t word, int is_bf16, uint16_t x, size_t n) {
  const uint64_t before = control_word();
  set_control_word(word);
  for (size_t i = 0; i < n; ++i) {
    const mpnum_f16 a = {x}, b = {codes[i]};
    const mpnum_bf16 c = {x}, d = {codes[i]};
    got[i] = is_bf16 ? mpnum_pow_bf16(c, d).bits : mpnum_pow_f16(a, b).bits;
  }
  set_control_word(before);
}
static void check_row(uint64_t word, int type, uint16_t x, size_t n) {
  CHECK_ARRAYS(word, type, x, n);
  run_with(word, type, x, n);
  if (memcmp(got, want, n * sizeof *got) == 0) return;
  for (size_t i = 0; i < n; ++i)
    CHECK(got[i] == want[i], "%s %04x ^ %04x (%a ^ %a): got %04x, want %04x",
          types[type].name, x, codes[i], values[x], values[codes[i]], got[i], want[i]);
}
/* Row x of the table of all pairs at the n codes. */
static void make_row(int type, uint16_t x, size_t n) {
  for (size_t i = 0; i < n; ++i)
    chosen[i] = values[codes[i]];
  pow_codes(types[type].format, want, values[x], chosen, n);
}

static void check_pairs(int type) {
  find_values(&types[type]);
  for (uint32_t x = 0; x < CODES; x += EVERY_X) {
    size_t n = 0;
    for (uint32_t y = (x / EVERY_X) % EVERY_Y; y < CODES; y += EVERY_Y)
      codes[n++] = (uint16_t)y;
    make_row(type, (uint16_t)x, n);
    check_row(control_word(), type, (uint16_t)x, n);
  }
}
static void f16_is_correctly_rounded(void) { check_pairs(0); }
static void bf16_is_correctly_rounded(void) { check_pairs(1); }

/* Exponents of which many results are exact or in the middle of two codes, at every x. */
static size_t choose_exact(int type) {
  static const double exact[] = {
      1,   2,    3,    4,  5,  6,      7,     8,  9,  10, 0.5, 0.25, 0.125, 1.5, 2.5,
      3.5, 0.75, 1.25, 12, 16, 0.0625, 0.375, 24, 32, 64, 100, 128,  15,    31,  0.03125};
  size_t n = 0;
  for (size_t i = 0; i < sizeof exact / sizeof exact[0]; ++i)
    for (int sign = 0; sign < 2; ++sign) {
      double y = sign ? -exact[i] : exact[i];
      uint64_t bits;
      memcpy(&bits, &y, sizeof bits);
      codes[n++] = (uint16_t)ref_encode(ref_format_named(types[type].name), bits,
                                        REF_NEAREST_EVEN, REF_IEEE, 0);
    }
  return n;
}
static void exact_results_and_middles(void) {
  for (int type = 0; type < 2; ++type) {
    find_values(&types[type]);
    const size_t n = choose_exact(type);
    for (uint32_t x = 0; x < CODES; ++x) {
      make_row(type, (uint16_t)x, n);
      check_row(control_word(), type, (uint16_t)x, n);
    }
  }
}

static void check_environment(uint64_t word) {
  for (int type = 0; type < 2; ++type) {
    find_values(&types[type]);
    for (uint32_t x = 1; x < CODES; x += 307) {
      size_t n = choose_exact(type);
      for (uint32_t y = x % 97; y < CODES; y += 97)
        codes[n++] = (uint16_t)y;
      make_row(type, (uint16_t)x, n);
      check_row(word, type, (uint16_t)x, n);
    }
  }
}
static void codes_do_not_depend_on_the_rounding_mode(void) {
#if defined(FE_UPWARD) && defined(FE_DOWNWARD) && defined(FE_TOWARDZERO)
  check_environment(control_word_of(FE_UPWARD));
  check_environment(control_word_of(FE_DOWNWARD));
  check_environment(control_word_of(FE_TOWARDZERO));
#endif
}
static void codes_do_not_depend_on_flushing(void) {
  check_environment(control_word() | FLUSHES);
  check_environment(control_word() | FLUSHES_RESULTS);
  check_environment(control_word() | FLUSHES_ARGUMENTS);
}

static uint64_t state = 88172645463325252u;
static uint64_t next_word(void) { /* Marsaglia's xorshift */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
static double uniform(double from, double to) {
  return from + (to - from) * ((double)(next_word() >> 11) * 0x1p-53);
}
/* Of every size, near 1, and such that results are of every size, subnormal ones and
 * those that overflow too. */
static void f32_keeps_its_bound(void) {
  double worst[2] = {0, 0};
  for (int i = 0; i < RANDOM_PAIRS; ++i) {
    float x = mpnum_from_bits_f32((uint32_t)(next_word() % 0x7f7fffff) + 1);
    if (i % 4 == 1) x = (float)uniform(0.5, 2);
    if (i % 4 == 2) x = (float)(1 + uniform(-1, 1) * exp2(-uniform(0, 23)));
    const double logarithm = log2((double)x);
    float y = (float)(uniform(-151, 129) / (logarithm != 0 ? logarithm : 1));
    if (i % 4 == 3) y = (float)(uniform(-1, 1) * exp2(uniform(-30, 7)));
    const float z = mpnum_pow_f32(x, y);
    double value;
    const uint64_t bits = reference_of_pow((double)x, (double)y);
    memcpy(&value, &bits, sizeof value);
    if (fabs(value) >= 0x1.ffffffp127 || mpnum_bits_f32(z) >= 0x7f800000u) {
      CHECK(mpnum_bits_f32(z) == mpnum_bits_f32((float)fmin(value, 0x1p128)) ||
                (value > 0x1.fffffep127 && value < 0x1.0000008p128),
            "%a ^ %a: got %a, want %a", (double)x, (double)y, (double)z, value);
      continue;
    }
    int exponent;
    frexp(value, &exponent);
    const int is_subnormal = exponent < -125;
    const double place = ldexp(1, is_subnormal ? -149 : exponent - 24);
    const double error = fabs((double)z - value) / place;
    CHECK(error <= (is_subnormal ? 0.79 : 0.62), "%a ^ %a: got %a, want %a, %.4f places",
          (double)x, (double)y, (double)z, value, error);
    if (error > worst[is_subnormal]) worst[is_subnormal] = error;
  }
  printf("# errors of %d pairs: %.4f places, %.4f where the result is subnormal\n",
         RANDOM_PAIRS, worst[0], worst[1]);
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math flushes */
  start_function_references();
  TAP_RUN(exact_results_and_middles);
  TAP_RUN(codes_do_not_depend_on_the_rounding_mode);
  if (FLUSHES != 0) {
    TAP_RUN(codes_do_not_depend_on_flushing);
  } else {
    TAP_SKIP("codes_do_not_depend_on_flushing", "nothing flushes subnormals here");
  }
  TAP_RUN(f32_keeps_its_bound);
  TAP_RUN(f16_is_correctly_rounded);
  TAP_RUN(bf16_is_correctly_rounded);
  end_function_references();
  return tap_done();
}

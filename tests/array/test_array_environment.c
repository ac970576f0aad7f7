/* SPDX-License-Identifier: MIT */
/* Arrays in every floating-point environment, with every instruction set: rounding modes,
 * subnormals flushed, exceptions that trap. The bits are those of the scalar functions,
 * and the control word is as it was. */
#define _GNU_SOURCE /* feenableexcept */ /* NOLINT(bugprone-reserved-identifier) */
#include "array_checks.h"
#include "../harness/control_word.h"

#include <mpnum/types/preset.h>

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>

enum { ELEMENTS = 5000, SHORT = 200 };
static expectation *some;
static uint64_t setting; /* the control word that a property is about */
static uint8_t any_got[4 * ELEMENTS], any_want[4 * ELEMENTS];

/* In a long and a short piece, as calls of few elements leave the environment alone where
 * they can. Nothing else happens while the setting is in force; volatile, so that calls
 * stay between the two writes. */
static uint64_t convert_in_setting(const array_function *function, expectation made) {
  void (*volatile convert)(void *, const void *, size_t) = function->convert;
  const uint64_t before = control_word();
  set_control_word(setting);
  convert(made.got, made.src, made.n - SHORT);
  convert(made.got + bytes_of(function->dst_bits, made.n - SHORT),
          made.src + bytes_of(function->src_bits, made.n - SHORT), SHORT);
  const uint64_t after = control_word();
  set_control_word(before);
  return after;
}

static void convert_all(void) {
  for (size_t i = 0; i < array_function_count; ++i) {
    const array_function *function = &array_functions[i];
    memset(some[i].got, 0xa5, bytes_of(function->dst_bits, ELEMENTS));
    const uint64_t after = convert_in_setting(function, some[i]);
    CHECK(after == setting, "%s left control word %" PRIx64 ", was %" PRIx64,
          function->name, after, setting);
    check_elements(function->name, function->src_bits, some[i].src, function->dst_bits,
                   some[i].got, some[i].want, ELEMENTS);
  }
}

/* What the functions that take types as arguments give in the setting, and before it. */
static void check_after(const char *name, int dst_bits, uint64_t after) {
  CHECK(after == setting, "%s left control word %" PRIx64, name, after);
  check_elements(name, 32, some[0].src, dst_bits, any_got, any_want, ELEMENTS);
}

static void round_in_setting(mpnum_format format, mpnum_rounding rounding) {
  mpnum_status (*volatile round)(float *, const float *, size_t, mpnum_format,
                                 mpnum_rounding, mpnum_overflow, uint64_t, uint64_t) =
      round_array;
  const float *src =
      (const float *)(const void *)some[0].src; /* the first one's is f32 */
  const uint64_t before = control_word();
  round((float *)(void *)any_want, src, ELEMENTS, format, rounding, MPNUM_OVERFLOW_IEEE,
        3, 1);
  set_control_word(setting);
  round((float *)(void *)any_got, src, ELEMENTS, format, rounding, MPNUM_OVERFLOW_IEEE, 3,
        1);
  const uint64_t after = control_word();
  set_control_word(before);
  check_after("mpnum_round_array", 32, after);
}

static void convert_in_rounding(mpnum_rounding rounding) {
  mpnum_status (*volatile convert)(mpnum_type, void *, mpnum_type, const void *, size_t,
                                   mpnum_rounding, mpnum_overflow, uint64_t, uint64_t) =
      convert_array;
  const uint64_t before = control_word();
  convert(MPNUM_TYPE_F16, any_want, MPNUM_TYPE_F32, some[0].src, ELEMENTS, rounding,
          MPNUM_OVERFLOW_IEEE, 3, 1);
  set_control_word(setting);
  convert(MPNUM_TYPE_F16, any_got, MPNUM_TYPE_F32, some[0].src, ELEMENTS, rounding,
          MPNUM_OVERFLOW_IEEE, 3, 1);
  const uint64_t after = control_word();
  set_control_word(before);
  check_after("mpnum_convert_array", 16, after);
}

/* A format of usual range, and one whose subnormals are those of f32. */
static void round_all(void) {
  mpnum_format small = mpnum_format_of(MPNUM_TYPE_F16);
  CHECK(mpnum_format_init(&small, 1, 5, 10, 126, MPNUM_SPECIALS_IEEE) == MPNUM_OK,
        "made");
  for (int mode = 0; mode <= MPNUM_ROUND_STOCHASTIC; ++mode) {
    round_in_setting(mpnum_format_of(MPNUM_TYPE_E5M2), (mpnum_rounding)mode);
    round_in_setting(small, (mpnum_rounding)mode);
    convert_in_rounding((mpnum_rounding)mode);
  }
}

/* A trap ends the property, not the program. */
static sigjmp_buf trapped;
static void on_trap(int number) { siglongjmp(trapped, number); }

static void bits_and_control_word_stay(void) {
  const uint64_t before = control_word();
  if (sigsetjmp(trapped, 1)) {
    set_control_word(before);
    CHECK(0, "a conversion trapped");
    return;
  }
  convert_all();
  round_all();
}

static void run_in(const char *what, uint64_t word) {
  char name[120];
  setting = word;
  snprintf(name, sizeof name, "bits and control word are the same %s", what);
  run_for_each_isa(name, bits_and_control_word_stay);
}

int main(void) {
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  static const char *const words[] = {"to nearest", "toward zero", "up", "down"};
  signal(SIGFPE, on_trap);
  some = (expectation *)allocate(array_function_count * sizeof *some);
  for (size_t i = 0; i < array_function_count; ++i)
    some[i] = expect_some(&array_functions[i], ELEMENTS);
  for (size_t i = 0; i < 4; ++i) {
    char what[80];
    snprintf(what, sizeof what, "where arithmetic rounds %s", words[i]);
    run_in(what, control_word_of(modes[i]));
    snprintf(what, sizeof what, "where it rounds %s and flushes subnormals", words[i]);
    if (FLUSHES) run_in(what, control_word_of(modes[i]) | FLUSHES);
    if (!FLUSHES) tap_skip(what, "no control word known for this machine");
  }
#if defined(__x86_64__)
  run_in("where every exception traps",
         control_word_of(FE_TONEAREST) & ~UINT64_C(0x1f80));
  run_in("where subnormal results alone are flushed", 0x9f80);
  run_in("where subnormal operands alone are flushed", 0x1fc0);
  run_in("after every exception", control_word_of(FE_UPWARD) | 0x3f);
#else
  tap_skip("bits are the same where every exception traps", "only known for MXCSR");
#endif
  for (size_t i = 0; i < array_function_count; ++i)
    free_expectation(some[i]);
  free(some);
  return tap_done();
}

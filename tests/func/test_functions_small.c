/* SPDX-License-Identifier: MIT */
/* Every function of func.h for f16 and bf16 at every code, against MPFR: the code nearest
 * to the value, in every floating-point environment. */
#include "function_reference.h"
#include "function_rows.h"
#include "../harness/control_word.h"
#include "../harness/isas.h"
#include "../reference/reference.h"
#include "../harness/tap.h"

#include <mpnum/func/func.h>
#include <mpnum/func/func_array.h>

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 65536 };

/* MPFR takes some 20 s for all codes; TEST_EVERY=N leaves all but each N-th out, those
 * beside zero and the last NaN apart. */
#ifndef TEST_EVERY
# define TEST_EVERY 1
#endif
static uint32_t next(uint32_t code) {
  const uint32_t magnitude = code & 0x7fff, step = TEST_EVERY;
  return code + (magnitude < 64 || magnitude + step > 0x7fff ? 1 : step);
}

typedef uint16_t code_function(uint16_t code);
#define CODE_FUNCTION(name, type)                      \
 static uint16_t name##_##type##_code(uint16_t code) { \
  const mpnum_##type x = {code};                       \
  return mpnum_##name##_##type(x).bits;                \
 }
#define CODE_FUNCTIONS(name, NAME, forms, ...) \
 CODE_FUNCTION(name, f16)                      \
 CODE_FUNCTION(name, bf16)                     \
 IF_SATURATING_##forms(CODE_FUNCTION(name##_sat, f16) CODE_FUNCTION(name##_sat, bf16))
MPNUM_FUNCTION_ROWS_(CODE_FUNCTIONS)

typedef struct named_functions {
  const char *name;
  code_function *of[2]; /* f16, bf16 */
} named_functions;
#define NAMED(name, ...) {#name, {name##_f16_code, name##_bf16_code}},
#define NAMED_SAT(name, NAME, forms, ...) \
 IF_SATURATING_##forms({#name, {name##_sat_f16_code, name##_sat_bf16_code}}, )
static const named_functions plain[] = {MPNUM_FUNCTION_ROWS_(NAMED)};
static const named_functions saturating[] = {MPNUM_FUNCTION_ROWS_(NAMED_SAT)};
enum {
  PLAIN = sizeof plain / sizeof plain[0],
  SATURATED = sizeof saturating / sizeof saturating[0]
};
static const char *const types[] = {"f16", "bf16"};

static uint16_t wanted[PLAIN][2][CODES];
static uint16_t got[CODES];

static double value_of(const char *type, uint32_t code) {
  const uint64_t bits = ref_decode(ref_format_named(type), code);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static void find_wanted(void) {
  for (int i = 0; i < PLAIN; ++i) {
    CHECK(strcmp(plain[i].name, function_references[i]->name) == 0, "%s is not %s",
          plain[i].name, function_references[i]->name);
    for (int type = 0; type < 2; ++type)
      for (uint32_t code = 0; code < CODES; code = next(code))
        wanted[i][type][code] = (uint16_t)ref_encode(
            ref_format_named(types[type]),
            reference_of_function(function_references[i], value_of(types[type], code)),
            REF_NEAREST_EVEN, REF_IEEE, 0);
  }
}

/* Nothing else happens while the word is in force. */
static void run_with(uint64_t word, code_function *function) {
  code_function *volatile called = function;
  const uint64_t before = control_word();
  set_control_word(word);
  for (uint32_t code = 0; code < CODES; code = next(code))
    got[code] = called((uint16_t)code);
  set_control_word(before);
}
static void check_codes(const char *name, const char *type, const uint16_t *want) {
  for (uint32_t code = 0; code < CODES; code = next(code))
    CHECK(got[code] == want[code], "%s of %s %04x (%a): got %04x, want %04x", name, type,
          code, value_of(type, code), got[code], want[code]);
}
static void check_functions(uint64_t word) {
  for (int i = 0; i < PLAIN; ++i)
    for (int type = 0; type < 2; ++type) {
      run_with(word, plain[i].of[type]);
      check_codes(plain[i].name, types[type], wanted[i][type]);
    }
}

static void functions_are_correctly_rounded(void) { check_functions(control_word()); }
static void functions_do_not_depend_on_the_rounding_mode(void) {
#if defined(FE_UPWARD) && defined(FE_DOWNWARD) && defined(FE_TOWARDZERO)
  check_functions(control_word_of(FE_UPWARD));
  check_functions(control_word_of(FE_DOWNWARD));
  check_functions(control_word_of(FE_TOWARDZERO));
#endif
}
static void functions_do_not_depend_on_flushing(void) {
  check_functions(control_word() | FLUSHES);
  check_functions(control_word() | FLUSHES_RESULTS);
  check_functions(control_word() | FLUSHES_ARGUMENTS);
}

/* Instead of Inf the largest of the sign; for a logarithm of zero that of the smallest.
 */
static void saturating_forms_give_no_inf(void) {
  for (int i = 0; i < SATURATED; ++i) {
    int at = 0;
    while (strcmp(plain[at].name, saturating[i].name) != 0)
      ++at;
    const int is_log = strncmp(plain[at].name, "log", 3) == 0;
    for (int type = 0; type < 2; ++type) {
      const uint16_t infinity = type ? 0x7f80 : 0x7c00;
      uint16_t want[CODES];
      for (uint32_t code = 0; code < CODES; code = next(code)) {
        uint16_t one = wanted[at][type][code];
        if (is_log && (code & 0x7fff) == 0) one = wanted[at][type][1];
        if ((one & 0x7fff) == infinity) --one;
        want[code] = one;
      }
      run_with(control_word(), saturating[i].of[type]);
      check_codes(saturating[i].name, types[type], want);
    }
  }
}

/* What decides the close calls is off by a 2^50th at most, and near a root, where a sum
 * cancels, by a 2^46th. */
static void wide_values_are_precise(void) {
  for (int i = 0; i < PLAIN; ++i)
    for (int type = 0; type < 2; ++type)
      for (uint32_t code = 1; code < CODES; code += 7 * TEST_EVERY) {
        const double x = value_of(types[type], code);
        const uint64_t want_bits = reference_of_function(function_references[i], x);
        double want;
        memcpy(&want, &want_bits, sizeof want);
        if (!isfinite(x) || x == 0 || !isfinite(want) || fabs(log2(fabs(want))) > 300)
          continue;
        uint32_t x_bits;
        if (!ref_narrow(ref_decode(ref_format_named(types[type]), code), &x_bits))
          abort();
        const mpnum_wide_ value =
            mpnum_wide_of_((mpnum_function_)i, mpnum_wide_f32_(x_bits));
        const double found =
            (value.negative ? -1 : 1) *
            ldexp((double)(value.significand >> 11), value.exponent + 11);
        const int bits = function_references[i]->has_root ? 46 : 50;
        CHECK(fabs(found - want) <= ldexp(fabs(want), -bits), "%s at %a: got %a, want %a",
              plain[i].name, x, found, want);
      }
}

static uint64_t logaddexp_wanted(double a, double b) {
  return reference_of_logaddexp(a, b);
}
static uint64_t swiglu_wanted(double a, double b) {
  return reference_of_product(function_reference_named("silu"), a, b);
}
static uint64_t geglu_wanted(double a, double b) {
  return reference_of_product(function_reference_named("gelu"), a, b);
}
static uint64_t pow_wanted(double a, double b) { return reference_of_pow(a, b); }
typedef uint16_t code_function_of_two(uint16_t a, uint16_t b);
#define CODE_FUNCTION_OF_TWO(name, type)                        \
 static uint16_t name##_##type##_code(uint16_t a, uint16_t b) { \
  const mpnum_##type x = {a}, y = {b};                          \
  return mpnum_##name##_##type(x, y).bits;                      \
 }
#define FUNCTION_OF_TWO(name, ...) \
 CODE_FUNCTION_OF_TWO(name, f16) CODE_FUNCTION_OF_TWO(name, bf16)
MPNUM_FUNCTION_ROWS_OF_TWO_(FUNCTION_OF_TWO)
typedef void codes_function_of_two(void *codes, const void *a, const void *b, size_t n);
#define CODES_FUNCTION_OF_TWO(name, type)                                       \
 static void name##_##type##_codes(void *codes, const void *a, const void *b,   \
                                   size_t n) {                                  \
  mpnum_##name##_##type##_array((mpnum_##type *)codes, (const mpnum_##type *)a, \
                                (const mpnum_##type *)b, n);                    \
 }
#define ARRAYS_OF_TWO(name, ...) \
 CODES_FUNCTION_OF_TWO(name, f16) CODES_FUNCTION_OF_TWO(name, bf16)
MPNUM_FUNCTION_ROWS_OF_TWO_(ARRAYS_OF_TWO)
#define NAMED_OF_TWO(name, ...)        \
 {#name,                               \
  name##_wanted,                       \
  {name##_f16_code, name##_bf16_code}, \
  {name##_f16_codes, name##_bf16_codes}},
static const struct function_of_two {
  const char *name;
  uint64_t (*wanted)(double a, double b);
  code_function_of_two *of[2]; /* f16, bf16 */
  codes_function_of_two *array[2];
} functions_of_two[] = {MPNUM_FUNCTION_ROWS_OF_TWO_(NAMED_OF_TWO)};

enum {
  OF_TWO = sizeof functions_of_two / sizeof functions_of_two[0],
  ENDS = 14,
  PAIRS = 100000 / TEST_EVERY + ENDS * ENDS
};
static struct {
  uint16_t a[PAIRS], b[PAIRS], want[PAIRS];
  size_t count;
} pairs[OF_TWO];

/* Ends; what is near; what is near with the other sign; any; a number beside a far one,
 * which may leave it what it is; numbers of so few bits that the middle of two codes is
 * often their product. */
static void draw_pair(uint32_t i, uint32_t random, int type, uint16_t *a, uint16_t *b) {
  static const uint16_t ends[ENDS] = {0x0000, 0x8000, 0x0001, 0x8001, 0x7c00,
                                      0xfc00, 0x7f80, 0xff80, 0x7fff, 0x7bff,
                                      0xfbff, 0x3c00, 0xbf80, 0x3f80};
  const uint16_t few = type ? 0xfff8 : 0xffe0;
  *a = (uint16_t)(random >> 16);
  *b = (uint16_t)(i % 3 ? *a + (random >> 8 & 0x1ff) - 0x100 : random * 40503);
  if (i % 3 == 2) *b ^= 0x8000;
  if (i % 16 == 3) *a &= 0x80ff, *b = (uint16_t)(0xc000 | (random & 0x3fff));
  if (i % 16 == 8) *a = (uint16_t)(*a & few), *b = (uint16_t)(random * 40503 & few);
  if (i < ENDS * ENDS) *a = ends[i / ENDS], *b = ends[i % ENDS];
}
static void check_pairs(int type) {
  const ref_format *format = ref_format_named(types[type]);
  uint32_t random = 1;
  for (int k = 0; k < OF_TWO; ++k)
    pairs[k].count = 0;
  for (uint32_t i = 0; i < PAIRS; ++i) {
    uint16_t a, b;
    random = random * 1664525 + 1013904223;
    draw_pair(i, random, type, &a, &b);
    for (int k = 0; k < OF_TWO; ++k) {
      if (k > 0 && i >= ENDS * ENDS && i % 8) continue; /* MPFR takes long */
      const uint16_t want = (uint16_t)ref_encode(
          format,
          functions_of_two[k].wanted(value_of(types[type], a), value_of(types[type], b)),
          REF_NEAREST_EVEN, REF_IEEE, 0);
      const uint16_t code = functions_of_two[k].of[type](a, b);
      const size_t at = pairs[k].count++;
      pairs[k].a[at] = a, pairs[k].b[at] = b, pairs[k].want[at] = want;
      CHECK(code == want, "%s of %s %04x %04x: got %04x, want %04x",
            functions_of_two[k].name, types[type], a, b, code, want);
    }
  }
}
static void check_arrays_of_pairs(int type, const char *isa) {
  static uint16_t codes[PAIRS];
  for (int k = 0; k < OF_TWO; ++k) {
    functions_of_two[k].array[type](codes, pairs[k].a, pairs[k].b, pairs[k].count);
    for (size_t i = 0; i < pairs[k].count; ++i)
      CHECK(codes[i] == pairs[k].want[i],
            "%s array of %s %04x %04x with %s: got %04x, want %04x",
            functions_of_two[k].name, types[type], pairs[k].a[i], pairs[k].b[i], isa,
            codes[i], pairs[k].want[i]);
  }
}
static void functions_of_two_are_correctly_rounded(void) {
  const mpnum_isa best = mpnum_isa_in_use();
  for (int type = 0; type < 2; ++type) {
    check_pairs(type);
    for (size_t i = 0; i < ISAS; ++i)
      if (mpnum_isa_force(isas[i]) == MPNUM_OK)
        check_arrays_of_pairs(type, mpnum_isa_name(isas[i]));
    CHECK(mpnum_isa_force(best) == MPNUM_OK, "%s is gone", mpnum_isa_name(best));
  }
}

int main(void) {
  start_function_references();
  TAP_RUN(find_wanted);
  TAP_RUN(functions_are_correctly_rounded);
  TAP_RUN(functions_do_not_depend_on_the_rounding_mode);
  if (FLUSHES != 0) {
    TAP_RUN(functions_do_not_depend_on_flushing);
  } else {
    TAP_SKIP("functions_do_not_depend_on_flushing", "nothing flushes subnormals here");
  }
  TAP_RUN(saturating_forms_give_no_inf);
  TAP_RUN(wide_values_are_precise);
  TAP_RUN(functions_of_two_are_correctly_rounded);
  end_function_references();
  return tap_done();
}

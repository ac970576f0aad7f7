/* SPDX-License-Identifier: MIT */
/* For the tests of text: formats, exact decimal numbers, and parsing against the slow
 * reference. */
#ifndef MPNUM_TESTS_TEXT_CHECKS_H
#define MPNUM_TESTS_TEXT_CHECKS_H

#include <mpnum/types/text.h>

#include "conversion_types.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <stdlib.h>

#define DETERMINISTIC REF_STOCHASTIC /* the roundings before it */
#define DIGITS        190            /* more than any value or midpoint has */

/* What the running property is about. */
static const char *name;
static const ref_format *reference;
static mpnum_format format;

static void use(const char *type_name, mpnum_type type) {
  name = type_name;
  reference = ref_format_named(type_name);
  format = mpnum_format_of(type);
}

static void append(char *dst, const char *text) { memcpy(dst, text, strlen(text) + 1); }

/* Parses from memory that ends with the text, so that a sanitizer sees a read past it. */
static mpnum_status parse(uint32_t *code, const char *text, size_t length,
                          mpnum_rounding rounding, mpnum_overflow overflow) {
  char *copy = (char *)malloc(length ? length : 1);
  mpnum_status status;
  memcpy(copy, text, length);
  status = mpnum_parse(code, format, length ? copy : NULL, length, rounding, overflow);
  free(copy);
  return status;
}

/* Every deterministic rounding and both overflow rules: what the reference makes of the
 * double. */
static void check_text(const char *text, uint64_t source) {
  const size_t length = strlen(text);
  for (int i = 0; i < DETERMINISTIC; ++i) {
    for (int j = 0; j < REF_OVERFLOWS; ++j) {
      const uint32_t want =
          ref_encode(reference, source, (ref_rounding)i, (ref_overflow)j, 0);
      uint32_t got = UINT32_C(0xdeadbeef);
      const mpnum_status status = parse(&got, text, length, roundings[i], overflows[j]);
      CHECK(status == MPNUM_OK && got == want,
            "%s: \"%.300s\" rounding %d overflow %d: status %d, got %" PRIx32
            ", want %" PRIx32,
            name, text, i, j, (int)status, got, want);
    }
  }
}

/* A decimal number, digits[0].digits[1]digits[2]... * 10^exponent. */
typedef struct number {
  char digits[DIGITS + 1];
  int exponent;
} number;

static number number_of(uint64_t bits) {
  number x;
  char text[DIGITS + 20];
  snprintf(text, sizeof text, "%.*e", DIGITS - 1, double_of(bits));
  x.digits[0] = text[0];
  memcpy(x.digits + 1, text + 2, DIGITS - 1);
  x.digits[DIGITS] = 0;
  x.exponent = atoi(strchr(text, 'e') + 1);
  return x;
}

/* Formats of the caller's own: each kind of special values, exponents at both ends of
 * f32's, no mantissa, no sign. */
static void run_user_formats(void (*run_properties)(void)) {
  static const struct {
    const char *name;
    int sign_bits, exponent_bits, mantissa_bits, bias;
    mpnum_specials specials;
    ref_specials same;
  } rows[] = {
      {"p3109_4_3", 1, 4, 3, 8, MPNUM_SPECIALS_P3109, REF_SPECIALS_P3109},
      {"least_5_6", 1, 5, 6, 127, MPNUM_SPECIALS_IEEE, REF_SPECIALS_IEEE},
      {"greatest_4_3", 1, 4, 3, -112, MPNUM_SPECIALS_FINITE, REF_SPECIALS_FINITE},
      {"powers_5_0", 0, 5, 0, 0, MPNUM_SPECIALS_FINITE, REF_SPECIALS_FINITE},
      {"fine_1_10", 1, 1, 10, 0, MPNUM_SPECIALS_FNUZ, REF_SPECIALS_FNUZ},
      {"wide_8_7", 0, 8, 7, 127, MPNUM_SPECIALS_IEEE, REF_SPECIALS_IEEE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    const ref_format made =
        ref_format_make(rows[i].sign_bits, rows[i].exponent_bits, rows[i].mantissa_bits,
                        rows[i].bias, rows[i].same);
    const mpnum_status status =
        mpnum_format_init(&format, rows[i].sign_bits, rows[i].exponent_bits,
                          rows[i].mantissa_bits, rows[i].bias, rows[i].specials);
    if (status != MPNUM_OK) abort();
    name = rows[i].name;
    reference = &made;
    run_properties();
  }
}

/* The properties of any format, for the library's and for others. */
static void run_for_every_format(void (*run_properties)(void)) {
  for (size_t i = 0; i < CONVERSION_TYPES; ++i) {
    use(conversion_types[i].name, conversion_types[i].type);
    run_properties();
  }
  run_user_formats(run_properties);
}

/* Under a title with the format's name. */
static void run_named(const char *title, void (*property)(void)) {
  char whole[80];
  snprintf(whole, sizeof whole, "%s_%s", name, title);
  tap_run(whole, property);
}
#define RUN_NAMED(property) run_named(#property, property)

#endif

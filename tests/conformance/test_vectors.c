/* SPDX-License-Identifier: MIT */
/* The vectors of conformance/ against the headers: each line of its files. They come from
 * the slow references, see tools/conformance. */
#define _POSIX_C_SOURCE 200809L /* popen */ /* NOLINT(bugprone-reserved-identifier) */
#include "packed.h"
#include "vector_lines.h"

#include <mpnum/mpnum.h>

#include "../harness/linked.h"
#include "../harness/must.h"

#include <math.h>

static mpnum_type type_named(const char *name) {
  int type = MPNUM_TYPE_F64;
  while (mpnum_type_name((mpnum_type)type) &&
         strcmp(mpnum_type_name((mpnum_type)type), name) != 0)
    ++type;
  return (mpnum_type)type;
}
static mpnum_type type_of(const char *line, const char *key) {
  char name[16];
  text_of(line, key, name, sizeof name);
  return type_named(name);
}

/* Formats: every code's value, there and back, and limits. */

static float limit_of(const char *line, const char *key) {
  char text[32];
  text_of(line, key, text, sizeof text);
  return strtof(text, NULL);
}
static void check_value(const char *name, mpnum_format format, uint32_t code,
                        const char *text) {
  const double want = strtod(text, NULL), got = mpnum_decode_f64(format, code);
  const double from_f32 = (double)mpnum_decode(format, code);
  if (isnan(want)) {
    CHECK(isnan(got) && isnan(from_f32) && mpnum_isnan(format, code), "%s %x: no NaN",
          name, code);
    return;
  }
  const uint32_t back =
      mpnum_encode_f64(format, want, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
  CHECK(mpnum_bits_f64(got) == mpnum_bits_f64(want) &&
            mpnum_bits_f64(from_f32) == mpnum_bits_f64(want),
        "%s %x: %a, to f32 %a, want %s", name, code, got, from_f32, text);
  CHECK(back == code, "%s of %s: %x, want %x", name, text, back, code);
}
static void check_format(const char *line) {
  char name[16], text[32];
  const char *codes = values_of(line, "codes"), *values = values_of(line, "values");
  text_of(line, "format", name, sizeof name);
  const mpnum_format format = mpnum_format_of(type_named(name));
  CHECK(mpnum_format_max(format) == limit_of(line, "max"), "%s: max", name);
  CHECK(mpnum_format_min(format) == limit_of(line, "min"), "%s: min", name);
  CHECK(mpnum_format_true_min(format) == limit_of(line, "true_min"), "%s: least", name);
  CHECK(mpnum_format_epsilon(format) == limit_of(line, "epsilon"), "%s: epsilon", name);
  uint64_t code = 0;
  while (next_word(&codes, &code)) {
    CHECK(next_text(&values, text, sizeof text), "%s: values end early", name);
    check_value(name, format, (uint32_t)code, text);
    ++cases;
  }
  CHECK(!next_text(&values, text, sizeof text), "%s: values without codes", name);
}
static void values_of_codes(void) {
  CHECK(each_line("formats", check_format) == 15, "15");
}

/* Conversions: by the array call, and of floats and doubles by the one of a format. */

enum { MOST = 512 };
static uint64_t in[MOST], random_words[MOST], want[MOST];

static void put(uint8_t *bytes, size_t size, size_t i, uint64_t word) {
  const uint8_t byte = (uint8_t)word;
  const uint16_t half = (uint16_t)word;
  const uint32_t single = (uint32_t)word;
  memcpy(bytes + size * i,
         size == 1   ? (const void *)&byte
         : size == 2 ? (const void *)&half
         : size == 4 ? (const void *)&single
                     : (const void *)&word,
         size);
}
static uint64_t get(const uint8_t *bytes, size_t size, size_t i) {
  uint16_t half;
  uint32_t single;
  if (size == 1) return bytes[i];
  memcpy(&half, bytes + size * i, sizeof half);
  if (size == 2) return half;
  memcpy(&single, bytes + size * i, sizeof single);
  return single;
}
static size_t bytes_of(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  const int bits = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  return type == MPNUM_TYPE_F64 ? 8 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}
static uint32_t encoded(mpnum_format format, mpnum_type from, uint64_t word,
                        mpnum_rounding rounding, mpnum_overflow overflow,
                        uint32_t random) {
  if (from == MPNUM_TYPE_F64)
    return mpnum_encode_f64(format, mpnum_from_bits_f64(word), rounding, overflow,
                            random);
  return mpnum_encode(format, mpnum_decode(mpnum_format_of(from), (uint32_t)word),
                      rounding, overflow, random);
}
static void check_list(const char *line, const char *key, mpnum_format format,
                       mpnum_rounding rounding, mpnum_overflow overflow) {
  static uint8_t src[8 * MOST], dst[4 * MOST];
  const mpnum_type from = type_of(line, "from"), to = type_of(line, "to");
  const size_t n = words_of(line, "in", in, MOST), size = bytes_of(to);
  CHECK(n > 0 && words_of(line, key, want, MOST) == n, "%.40s: %s", line, key);
  for (size_t i = 0; i < n; ++i)
    put(src, bytes_of(from), i, in[i]);
  const int is_stochastic = rounding == MPNUM_ROUND_STOCHASTIC;
  const mpnum_format plain = mpnum_format_of(to);
  if (is_stochastic) {
    CHECK(words_of(line, "random", random_words, MOST) == n, "%.40s: random", line);
  } else if (from != MPNUM_TYPE_F64) {
    must(mpnum_convert_array_formats(format, dst, mpnum_format_of(from), src, n, rounding,
                                     overflow, 0, 0));
  } else { /* f64 has a type, but no format */
    must(mpnum_convert_array(to, dst, from, src, n, rounding, overflow, 0, 0));
  }
  const int has_array =
      !is_stochastic &&
      (from != MPNUM_TYPE_F64 ||
       (format.nan_code == plain.nan_code && format.nan_policy == plain.nan_policy));
  for (size_t i = 0; i < n; ++i) {
    const uint32_t one = encoded(format, from, in[i], rounding, overflow,
                                 is_stochastic ? (uint32_t)random_words[i] : 0);
    CHECK(one == want[i], "%.40s, %s of %llx: %x, want %llx", line, key,
          (unsigned long long)in[i], one, (unsigned long long)want[i]);
    if (has_array)
      CHECK(get(dst, size, i) == want[i], "array of %.40s, %s of %llx: %llx, want %llx",
            line, key, (unsigned long long)in[i], (unsigned long long)get(dst, size, i),
            (unsigned long long)want[i]);
    ++cases;
  }
}
static void check_conversion(const char *line) {
  static const char *const roundings[] = {"nearest_even", "toward_zero",  "up",
                                          "down",         "nearest_away", "to_odd"};
  const mpnum_format format = mpnum_format_of(type_of(line, "to"));
  char overflow[16];
  text_of(line, "overflow", overflow, sizeof overflow);
  for (int rounding = 0; rounding < 6; ++rounding)
    for (int rule = 0; rule < 2; ++rule)
      if (strcmp(overflow, "any") == 0 ||
          strcmp(overflow, rule ? "saturate" : "ieee") == 0)
        check_list(line, roundings[rounding], format, (mpnum_rounding)rounding,
                   (mpnum_overflow)rule);
}
static void conversions(void) {
  static const char *const files[] = {"convert_f32", "convert_f64", "convert_f16",
                                      "convert_bf16"};
  for (int i = 0; i < 4; ++i)
    CHECK(each_line(files[i], check_conversion) > 20, "%s", files[i]);
}
static void check_stochastic(const char *line) {
  const mpnum_format format = mpnum_format_of(type_of(line, "to"));
  check_list(line, "ieee", format, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE);
  check_list(line, "saturate", format, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE);
}
static void stochastic_conversions(void) {
  FILE *file = open_packed("convert_stochastic.jsonl.xz");
  CHECK(each_line_of(file, "convert_stochastic", check_stochastic) > 100, "lines");
  CHECK(file && pclose(file) == 0, "xz failed");
}
static void check_preset(const char *line) {
  static const char *const names[] = {"cuda", "ml_dtypes", "pytorch_2_11", "f16c"};
  char name[16], overflow[16];
  int preset = 0;
  text_of(line, "preset", name, sizeof name);
  text_of(line, "overflow", overflow, sizeof overflow);
  while (preset < 3 && strcmp(names[preset], name) != 0)
    ++preset;
  const mpnum_type type = type_of(line, "to");
  CHECK(strcmp(names[preset], name) == 0, "%s is no preset", name);
  const mpnum_overflow rule = mpnum_preset_overflow((mpnum_preset)preset, type);
  if (mpnum_format_of(type).nan_code) /* else both rules saturate */
    CHECK(rule == (strcmp(overflow, "saturate") == 0 ? MPNUM_OVERFLOW_SATURATE
                                                     : MPNUM_OVERFLOW_IEEE),
          "%s: overflow", name);
  check_list(line, "nearest_even", mpnum_preset_format((mpnum_preset)preset, type),
             MPNUM_ROUND_NEAREST_EVEN, rule);
}
static void presets(void) { CHECK(each_line("presets", check_preset) == 25, "lines"); }

int main(void) {
  TAP_RUN(values_of_codes);
  TAP_RUN(conversions);
  if (has_xz())
    TAP_RUN(stochastic_conversions);
  else
    TAP_SKIP("stochastic_conversions", "no xz");
  TAP_RUN(presets);
  printf("# %lld cases\n", cases);
  return tap_done();
}

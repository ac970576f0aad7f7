/* SPDX-License-Identifier: MIT */
/* Text: printing against the C library's exact printf, and parsing at the points where a
 * rounding turns, one far digit above and below them, against the slow reference. */
#include <mpnum/text.h>

#include "conversion_inputs.h"
#include "conversion_types.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>

#define DETERMINISTIC REF_STOCHASTIC /* the roundings before it */
#define DIGITS        190            /* more than any value or midpoint has */

/* What the running property is about. */
static const char *name;
static const ref_format *reference;
static mpnum_format format;
static uint64_t state = 11;

static size_t below(size_t bound) { return (size_t)(random_bits(&state) % bound); }

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

static int compare(const number *a, const number *b) {
  const int a_is_zero = a->digits[0] == '0', b_is_zero = b->digits[0] == '0';
  if (a_is_zero || b_is_zero) return b_is_zero - a_is_zero;
  if (a->exponent != b->exponent) return a->exponent < b->exponent ? -1 : 1;
  return strcmp(a->digits, b->digits);
}

/* x cut to count digits. */
static number cut(number x, int count) {
  memset(x.digits + count, '0', (size_t)(DIGITS - count));
  return x;
}

/* x plus one unit of its digit count - 1. */
static number next(number x, int count) {
  int i = count - 1;
  while (i >= 0 && x.digits[i] == '9')
    x.digits[i--] = '0';
  if (i >= 0) {
    ++x.digits[i];
  } else {
    memmove(x.digits + 1, x.digits, DIGITS - 1);
    x.digits[0] = '1';
    ++x.exponent;
  }
  return x;
}

/* Is x read as this code, the exponent unbounded on both sides? */
static int is_read_as(const number *x, uint32_t code) {
  const number high = number_of(ref_midpoint(reference, code));
  const number low = number_of(code ? ref_midpoint(reference, code - 1) : 0);
  const int above = compare(x, &high), beneath = compare(x, &low);
  return code & 1 ? above < 0 && beneath > 0 : above <= 0 && beneath >= 0;
}

/* The shortest digits by trying 1, 2, ...: the numbers of so many digits on both sides of
 * the value, and where both serve, the one printf prefers as the nearer. */
static number shortest(uint32_t code, int *count) {
  const uint64_t value = ref_value(reference, code);
  const number exact = number_of(value);
  for (*count = 1;; ++*count) {
    const number low = cut(exact, *count);
    const number high = compare(&low, &exact) ? next(low, *count) : low;
    const int low_serves = is_read_as(&low, code), high_serves = is_read_as(&high, code);
    if (low_serves && high_serves) {
      char text[40], low_text[40];
      snprintf(text, sizeof text, "%.*e", *count - 1, double_of(value));
      snprintf(low_text, sizeof low_text, "%c%s%.*se%+03d", low.digits[0],
               *count > 1 ? "." : "", *count - 1, low.digits + 1, low.exponent);
      return strcmp(text, low_text) == 0 ? low : high;
    }
    if (low_serves || high_serves) return low_serves ? low : high;
  }
}

/* The text wanted for a magnitude code above zero. */
static void describe(char *text, size_t size, uint32_t code) {
  const double value = double_of(ref_value(reference, code));
  char fixed[80], scientific[80];
  int count;
  const number x = shortest(code, &count);
  while (count > 1 && x.digits[count - 1] == '0')
    --count;
  snprintf(scientific, sizeof scientific, "%c%s%.*se%+03d", x.digits[0],
           count > 1 ? "." : "", count - 1, x.digits + 1, x.exponent);
  snprintf(fixed, sizeof fixed, "%.0f", value);
  if (strtod(fixed, NULL) != value) /* no integer: as many places as there are digits */
    snprintf(fixed, sizeof fixed, "%.*f", count - 1 - x.exponent,
             strtod(scientific, NULL));
  snprintf(text, size, "%s", strlen(fixed) <= strlen(scientific) ? fixed : scientific);
}

static void check_shortest(uint32_t magnitude) {
  const uint32_t code = magnitude << reference->storage_shift;
  char got[MPNUM_TEXT_SIZE] = "", want[80];
  const size_t length = mpnum_print(got, sizeof got, format, code);
  describe(want, sizeof want, magnitude);
  CHECK(strcmp(got, want) == 0 && length == strlen(want),
        "%s %" PRIx32 ": got \"%s\" (%zu), want \"%s\"", name, code, got, length, want);
}

static void check_hexadecimal(uint32_t code) {
  char got[MPNUM_TEXT_SIZE] = "", want[40];
  const uint64_t bits = ref_decode(reference, code);
  size_t length = mpnum_print_hex(got, sizeof got, format, code);
  snprintf(want, sizeof want, "%a", double_of(bits));
  if (ref_is_nan(reference, code)) append(want, "nan");
  CHECK(strcmp(got, want) == 0 && length == strlen(want),
        "%s %" PRIx32 ": got \"%s\" (%zu), want \"%s\"", name, code, got, length, want);
  check_text(got, bits);
}

static void check_round_trip(uint32_t code) {
  char text[MPNUM_TEXT_SIZE];
  const size_t length = mpnum_print(text, sizeof text, format, code);
  const uint32_t canonical = reference->nan_code << reference->storage_shift;
  const uint32_t want = ref_is_nan(reference, code) ? canonical : code;
  for (int i = 0; i < REF_OVERFLOWS; ++i) {
    const int saturates = i == REF_SATURATE && strchr(text, 'i');
    uint32_t got = ~want;
    mpnum_status status =
        parse(&got, text, length, MPNUM_ROUND_NEAREST_EVEN, overflows[i]);
    if (saturates) continue; /* Inf is not kept */
    CHECK(status == MPNUM_OK && got == want,
          "%s %" PRIx32 " is \"%s\", parsed with overflow %d: %" PRIx32, name, code, text,
          i, got);
  }
}

/* The step through the codes: every code of formats of at most 16 bits, a sample of
 * others, of about count. */
static uint32_t step(uint32_t codes, uint32_t count) {
  return codes <= UINT32_C(1) << 16 ? 1 : codes / count | 1;
}
static int width(void) {
  return reference->sign_bits + reference->exponent_bits + reference->mantissa_bits;
}
static uint32_t all_codes(void) { return UINT32_MAX >> (32 - width()); }

static void shortest_text_is_printed(void) {
  const uint32_t stride = step(reference->max_code, 20000);
  for (uint32_t code = (uint32_t)reference->has_zero; code < reference->max_code;
       code += stride)
    check_shortest(code);
  check_shortest(reference->max_code);
}

static void hexadecimal_text_is_exact(void) {
  const uint32_t stride = step(all_codes(), 30000);
  for (uint32_t code = 0; code <= all_codes() - stride; code += stride)
    check_hexadecimal(code << reference->storage_shift);
  check_hexadecimal(all_codes() << reference->storage_shift);
}

static void text_reads_back_as_its_code(void) {
  const uint32_t stride = step(all_codes(), 400000);
  for (uint32_t code = 0; code <= all_codes() - stride; code += stride)
    check_round_trip(code << reference->storage_shift);
  check_round_trip(all_codes() << reference->storage_shift);
}

/* Ways to write digits * 10^(exponent - count + 1), the digits an integer. */
static void write_number(char *text, const char *digits, int exponent) {
  const size_t count = strlen(digits);
  const size_t zeros = below(50), cut_at = below(count + 1);
  memset(text, '0', zeros);
  text += zeros;
  switch (below(4)) {
  case 0:
    sprintf(text, "%.*s.%sE%d", (int)cut_at, digits, digits + cut_at,
            exponent - (int)cut_at + 1);
    break;
  case 1: sprintf(text, "%se%+04d", digits, exponent - (int)count + 1); break;
  case 2: sprintf(text, ".%0*d%se%d", 40, 0, digits, exponent + 41); break;
  default:
    sprintf(text, "%s%0*d.%0*de%d", digits, 200, 0, 30, 0,
            exponent - (int)count + 1 - 200);
    break;
  }
}

/* A threshold, and the nearest numbers above and below it that some hundreds of digits
 * can write, in decimal and hexadecimal. No other threshold lies between it and the next
 * double, so that is what they round as. */
static void check_threshold(uint64_t bits) {
  const number exact = number_of(bits);
  static char digits[DIGITS + 1000], text[DIGITS + 2000];
  size_t count = DIGITS, far = 1 + below(below(2) ? 10 : 700);
  const size_t sign = below(2);
  const uint64_t sign_bit = (uint64_t)sign << 63;
  if (sign) text[0] = '-';
  memcpy(digits, exact.digits, sizeof exact.digits);
  while (count > 1 && digits[count - 1] == '0')
    --count;
  if (count < 20) far += 20 - count; /* 10^-20 is well inside the gap of doubles */
  if (bits == 0) far += 60;
  digits[count] = 0;
  write_number(text + sign, digits, exact.exponent);
  check_text(text, bits | sign_bit);

  memset(digits + count, '0', far);
  append(digits + count + far, below(2) ? "1" : "70");
  write_number(text + sign, digits, exact.exponent);
  check_text(text, (bits + 1) | sign_bit);
  if (bits == 0) return;

  --digits[count - 1];
  memset(digits + count, '9', far);
  write_number(text + sign, digits, exact.exponent);
  check_text(text, (bits - 1) | sign_bit);

  /* Behind the 53 bits of the double: from the next bits on, which a 64-bit word still
   * holds. */
  snprintf(digits, sizeof digits, "%.13a", double_of(bits));
  *strchr(digits, 'p') = 0;
  sprintf(text + sign, "%s%0*d1P%s", digits, (int)(1 + below(far)), 0,
          digits + strlen(digits) + 1);
  check_text(text, (bits + 1) | sign_bit);
}

static void values_and_midpoints_turn_the_rounding(void) {
  const uint32_t stride = reference->max_code < 2000 ? 1 : reference->max_code / 1999;
  check_threshold(0);
  for (uint32_t code = 0; code <= reference->max_code; code += stride) {
    check_threshold(ref_value(reference, code));
    check_threshold(ref_midpoint(reference, code));
  }
  for (uint32_t code = reference->max_code - 1; code <= reference->max_code; ++code) {
    check_threshold(ref_midpoint(reference, code));
    check_threshold(ref_value(reference, code + 1));
  }
}

/* The C library's nearest double, where it cannot be what a rounding turns at. */
static void random_numbers_agree_with_strtod(void) {
  for (int i = 0; i < 20000; ++i) {
    char text[80];
    uint64_t bits;
    if (below(3))
      snprintf(text, sizeof text, "%s%" PRIu64 ".%" PRIu64 "e%d", below(2) ? "-" : "",
               random_bits(&state) >> below(64), random_bits(&state) >> below(64),
               (int)below(24) - 12 - (int)below(2) * 30);
    else
      snprintf(text, sizeof text, "%s0X%" PRIx64 ".%" PRIX64 "p%d", below(2) ? "-" : "+",
               random_bits(&state) >> below(64), random_bits(&state) >> below(64),
               (int)below(200) - 150);
    bits = bits_of_double(strtod(text, NULL));
    if ((bits & UINT64_C(0xfffffff)) != 0) check_text(text, bits);
  }
}

static void run_properties(void) {
  static char title[80];
  snprintf(title, sizeof title, "%s_shortest_text_is_printed", name);
  tap_run(title, shortest_text_is_printed);
  snprintf(title, sizeof title, "%s_hexadecimal_text_is_exact", name);
  tap_run(title, hexadecimal_text_is_exact);
  snprintf(title, sizeof title, "%s_text_reads_back_as_its_code", name);
  tap_run(title, text_reads_back_as_its_code);
  snprintf(title, sizeof title, "%s_values_and_midpoints_turn_the_rounding", name);
  tap_run(title, values_and_midpoints_turn_the_rounding);
  snprintf(title, sizeof title, "%s_random_numbers_agree_with_strtod", name);
  tap_run(title, random_numbers_agree_with_strtod);
}

/* Formats of the caller's own: each kind of special values, exponents at both ends of
 * f32's, no mantissa, no sign. */
static void run_user_formats(void) {
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
        mpnum_format_make(&format, rows[i].sign_bits, rows[i].exponent_bits,
                          rows[i].mantissa_bits, rows[i].bias, rows[i].specials);
    if (status != MPNUM_OK) abort();
    name = rows[i].name;
    reference = &made;
    run_properties();
  }
}

static void use(const char *type_name, mpnum_type type) {
  name = type_name;
  reference = ref_format_named(type_name);
  format = mpnum_format_of(type);
}

/* The forms, by example. */
static void forms_are_as_documented(void) {
  static const struct {
    mpnum_type type;
    uint32_t code;
    const char *decimal, *hexadecimal;
  } rows[] = {
      {MPNUM_TYPE_E4M3, 0x7e, "448", "0x1.cp+8"},
      {MPNUM_TYPE_E4M3, 0x80, "-0", "-0x0p+0"},
      {MPNUM_TYPE_E4M3, 0xff, "nan", "nan"},
      {MPNUM_TYPE_E4M3FNUZ, 0x80, "nan", "nan"},
      {MPNUM_TYPE_E4M3, 0x18, "0.062", "0x1p-4"},
      {MPNUM_TYPE_F16, 0x2c00, "0.0625", "0x1p-4"},
      {MPNUM_TYPE_F16, 0x2e66, "0.1", "0x1.998p-4"},
      {MPNUM_TYPE_F16, 0x0001, "6e-08", "0x1p-24"},
      {MPNUM_TYPE_F16, 0x7bff, "65504", "0x1.ffcp+15"},
      {MPNUM_TYPE_F16, 0xfc00, "-inf", "-inf"},
      {MPNUM_TYPE_BF16, 0x7f7f, "3.39e+38", "0x1.fep+127"},
      {MPNUM_TYPE_TF32, 0x7f800001, "nan", "nan"},
      {MPNUM_TYPE_TF32, 0x3f802fff, "1.001", "0x1.004p+0"},
      {MPNUM_TYPE_E2M3, 0x1f, "7.5", "0x1.ep+2"},
      {MPNUM_TYPE_E2M3, 0xc0, "0", "0x0p+0"}, /* bits above the format's are ignored */
      {MPNUM_TYPE_E8M0, 0x00, "6e-39", "0x1p-127"},
      {MPNUM_TYPE_E8M0, 0xff, "nan", "nan"},
      {MPNUM_TYPE_F32, 0x00000001, "1e-45", "0x1p-149"},
      {MPNUM_TYPE_F32, 0x80800000, "-1.1754944e-38", "-0x1p-126"},
      {MPNUM_TYPE_F32, 0xff7fffff, "-3.4028235e+38", "-0x1.fffffep+127"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char text[MPNUM_TEXT_SIZE];
    const mpnum_format row = mpnum_format_of(rows[i].type);
    mpnum_print(text, sizeof text, row, rows[i].code);
    CHECK(strcmp(text, rows[i].decimal) == 0, "got %s, want %s", text, rows[i].decimal);
    mpnum_print_hex(text, sizeof text, row, rows[i].code);
    CHECK(strcmp(text, rows[i].hexadecimal) == 0, "got %s, want %s", text,
          rows[i].hexadecimal);
  }
}

typedef size_t print_function(char *dst, size_t size, mpnum_format format, uint32_t code);

static void check_sizes(print_function *print, uint32_t code) {
  char whole[40];
  const size_t length = print(whole, sizeof whole, format, code);
  CHECK(print(NULL, 0, format, code) == length, "length asked for with size 0");
  CHECK(print(NULL, 100, format, code) == length, "length asked for with NULL");
  CHECK(strlen(whole) == length && length < MPNUM_TEXT_SIZE, "\"%s\"", whole);
  for (size_t size = 0; size <= length + 2; ++size) {
    char guarded[60];
    size_t written = size > length ? length + 1 : 0;
    memset(guarded, '#', sizeof guarded);
    CHECK(print(guarded + 8, size, format, code) == length, "size %zu", size);
    CHECK(memcmp(guarded + 8, whole, written) == 0, "size %zu wrote wrong text", size);
    for (size_t i = 0; i < sizeof guarded; ++i)
      CHECK((i >= 8 && i < 8 + written) || guarded[i] == '#',
            "size %zu: byte %d of \"%s\"", size, (int)i - 8, whole);
  }
}

static void a_small_buffer_stays_untouched(void) {
  static const uint32_t codes[] = {0x00000000, 0x80000001, 0x3f800000, 0xff7fffff,
                                   0x80ffffff, 0x7f800000, 0xffc00000, 0xc9742400};
  use("f32", MPNUM_TYPE_F32);
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; ++i) {
    check_sizes(mpnum_print, codes[i]);
    check_sizes(mpnum_print_hex, codes[i]);
  }
}

static void no_text_is_longer_than_the_size_promised(void) {
  size_t longest = 0;
  use("f32", MPNUM_TYPE_F32);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t code = (uint32_t)random_bits(&state) | UINT32_C(1) << 31;
    const size_t decimal = mpnum_print(NULL, 0, format, code);
    const size_t hexadecimal = mpnum_print_hex(NULL, 0, format, code);
    longest = decimal > longest ? decimal : longest;
    longest = hexadecimal > longest ? hexadecimal : longest;
  }
  CHECK(longest == MPNUM_TEXT_SIZE - 1, "longest %zu", longest);
}

static void check_refused(const char *text, size_t length) {
  uint32_t code = UINT32_C(0xdeadbeef);
  const mpnum_status status =
      parse(&code, text, length, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE);
  CHECK(status == MPNUM_ERROR_SYNTAX && code == UINT32_C(0xdeadbeef),
        "\"%.*s\": status %d, code %" PRIx32, (int)length, text, (int)status, code);
}

static void what_is_no_number_is_refused(void) {
  static const char *const texts[] = {
      "",      "+",    "-",     ".",     "+.",    "e5",    ".e5",   "1e",        "1e+",
      "1e-",   "1e+-", "--1",   "+-1",   "1..2",  "1.2.3", ".5.",   "1 ",        " 1",
      "1e 5",  "1,5",  "0x",    "0X",    "0x.",   "0x.p",  "0x.p1", "0xp1",      "0x1p",
      "0x1p+", "0xg",  "0x1e+", "0x1pa", "x1",    "1x1",   "00x1",  "in",        "infi",
      "infin", "infs", "na",    "nann",  "nan()", "nan(1", "1f",    "1.0f",      "1_0",
      "1e5.",  "1e5e", "1p5",   "\xb2",  "\x81",  "\n",    "0x0x1", "infinityy", "i\xce"};
  use("f16", MPNUM_TYPE_F16);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
    check_refused(texts[i], strlen(texts[i]));
  check_refused("1\0", 2);
  check_refused("\0", 1);
  check_refused("1\0001", 3);
  check_refused("1e5\0", 4);
  check_refused("inf\0", 4);
  check_refused("nan\0nan", 7);
  check_refused("0x1\0", 4);
}

static void numbers_may_be_written_in_many_ways(void) {
  static const struct {
    const char *text;
    double value;
  } rows[] = {
      {"1", 1.0},
      {"+1", 1.0},
      {"-1", -1.0},
      {"1.", 1.0},
      {".5", 0.5},
      {"-.5", -0.5},
      {"00012", 12.0},
      {"1e2", 100.0},
      {"1E2", 100.0},
      {"1e+02", 100.0},
      {"100e-2", 1.0},
      {"1.5e00000000000001", 15.0},
      {"0x1", 1.0},
      {"0X1P3", 8.0},
      {"0x.8p1", 1.0},
      {"0x1.8", 1.5},
      {"-0x1.8p-1", -0.75},
      {"0xaB", 171.0},
      {"0x8.p-3", 1.0},
      {"0x00.00100p+12", 1.0},
      {"0", 0.0},
      {"-0", -0.0},
      {"0.000", 0.0},
      {"0e99999999999", 0.0},
      {"0x0p99999999", 0.0},
      {"-0e-99999999999", -0.0},
  };
  use("f16", MPNUM_TYPE_F16);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    check_text(rows[i].text, bits_of_double(rows[i].value));
}

static void infinity_and_nan_are_words_of_either_case(void) {
  static const char *const infinities[] = {"inf", "+INF", "Inf", "infinity", "InFiNiTy"};
  static const char *const nans[] = {"nan", "NaN", "+NAN", "-nan"};
  static const char *const names[] = {"f16", "e4m3", "e5m2fnuz", "e2m1", "e8m0", "tf32"};
  static const mpnum_type types[] = {MPNUM_TYPE_F16,      MPNUM_TYPE_E4M3,
                                     MPNUM_TYPE_E5M2FNUZ, MPNUM_TYPE_E2M1,
                                     MPNUM_TYPE_E8M0,     MPNUM_TYPE_TF32};
  const uint64_t inf = UINT64_C(0x7ff) << 52;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
    use(names[i], types[i]);
    for (size_t j = 0; j < sizeof infinities / sizeof infinities[0]; ++j)
      check_text(infinities[j], inf);
    for (size_t j = 0; j < sizeof nans / sizeof nans[0]; ++j)
      check_text(nans[j], inf + 1);
    check_text("-inf", inf | UINT64_C(1) << 63);
    check_text("-INFINITY", inf | UINT64_C(1) << 63);
  }
}

/* Which short texts are numbers, by the C library, which knows the same grammar but for
 * leading blanks and nan(...), not drawn here. */
static void grammar_is_that_of_strtod(void) {
  static const char *const alphabets[] = {"0123456789.eE+-", "01.e+-", "0x1.pP+-aFe",
                                          "infatyINF+-"};
  use("f32", MPNUM_TYPE_F32);
  int numbers = 0;
  for (int i = 0; i < 400000; ++i) {
    const char *alphabet = alphabets[i % 4];
    char text[12] = "", *end = NULL;
    const size_t length = below(9);
    uint32_t code = 0;
    for (size_t j = 0; j < length; ++j)
      text[j] = alphabet[below(strlen(alphabet))];
    (void)strtod(text, &end);
    const int is_number = length > 0 && *end == 0;
    const mpnum_status status =
        parse(&code, text, length, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE);
    const uint32_t want = bits_of_float(strtof(text, NULL));
    numbers += is_number;
    CHECK((status == MPNUM_OK) == is_number, "\"%s\": status %d", text, (int)status);
    if (is_number && (want & UINT32_C(0x7fffffff)) <= UINT32_C(0x7f800000))
      CHECK(code == want, "\"%s\": got %" PRIx32 ", want %" PRIx32, text, code, want);
  }
  CHECK(numbers > 10000, "only %d numbers drawn", numbers);
}

/* Prefix, count times a digit, suffix. */
static void check_long(const char *prefix, char digit, size_t count, const char *suffix,
                       uint64_t want) {
  char *text = (char *)malloc(strlen(prefix) + count + strlen(suffix) + 1);
  append(text, prefix);
  memset(text + strlen(prefix), digit, count);
  append(text + strlen(prefix) + count, suffix);
  check_text(text, want);
  free(text);
}

static void long_text_and_huge_exponents_are_exact(void) {
  const uint64_t one = bits_of_double(1.0), huge = bits_of_double(1e300);
  const uint64_t odd = bits_of_double(1.0625); /* halfway between 1 and 1.125 */
  const char *const names[] = {"e4m3", "f32"};
  const mpnum_type types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_F32};
  for (int i = 0; i < 2; ++i) {
    use(names[i], types[i]);
    check_text("1e999999999999", huge);
    check_text("-1e99999999999999999999999999", huge | UINT64_C(1) << 63);
    check_text("1e-999999999999", 1);
    check_text("0x1p99999999999999999999999", huge);
    check_text("0x1p-9999999999999999999999", 1);
    check_text("1e9223372036854775807", huge);
    check_text("1e-9223372036854775808", 1);
    check_text("0x1p9223372036854775807", huge);
    check_text("1e2147483648", huge);
    check_text("1e-2147483649", 1);
    check_text("1e4294967296", huge);
    check_long("1e", '9', 100000, "", huge);
    check_long("1e-", '9', 100000, "", 1);
    check_long("1e", '0', 100000, "", one);
    check_long("", '9', 100000, "", huge);
    check_long("", '0', 100000, "1", one);
    check_long("1", '0', 100000, "e-100000", one);
    check_long("0.", '0', 99999, "1e100000", one);
    check_long("0x1", '0', 100000, "p-400000", one);
    check_long("0x.", '0', 99999, "1p400000", one);
    check_long("1.0625", '0', 100000, "", odd);
    check_long("1.0625", '0', 100000, "1", odd + 1);
    check_long("1.0624", '9', 100000, "", odd - 1);
    check_long("0x1.1", '0', 100000, "1", odd + 1);
    check_long("0x1.0", 'f', 100000, "", odd - 1);
    check_long("0.", '0', 100000, "1", 1);
  }
}

static void check_argument(mpnum_format bad_format, int rounding) {
  uint32_t code = UINT32_C(0xdeadbeef);
  const mpnum_status status = mpnum_parse(&code, bad_format, "1", 1,
                                          (mpnum_rounding)rounding, MPNUM_OVERFLOW_IEEE);
  CHECK(status == MPNUM_ERROR_ARGUMENT && code == UINT32_C(0xdeadbeef),
        "rounding %d: status %d, code %" PRIx32, rounding, (int)status, code);
}

static void arguments_outside_the_domain_are_refused(void) {
  const mpnum_format none = mpnum_format_of(MPNUM_TYPE_F64);
  char text[4] = "###";
  use("f16", MPNUM_TYPE_F16);
  check_argument(format, MPNUM_ROUND_STOCHASTIC);
  check_argument(format, MPNUM_ROUND_STOCHASTIC + 1);
  check_argument(none, MPNUM_ROUND_NEAREST_EVEN);
  CHECK(mpnum_print(text, sizeof text, none, 0) == 0, "f64 printed");
  CHECK(mpnum_print_hex(text, sizeof text, none, 0) == 0, "f64 printed");
  CHECK(strcmp(text, "###") == 0, "f64 wrote \"%s\"", text);
}

static void presets_decide_what_a_nan_becomes(void) {
  uint32_t code = 0;
  use("f16", MPNUM_TYPE_F16);
  format = mpnum_preset_format(MPNUM_PRESET_ML_DTYPES, MPNUM_TYPE_F16);
  parse(&code, "-nan", 4, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE);
  CHECK(code == 0xfe00, "got %" PRIx32 ", want fe00", code);
  format = mpnum_preset_format(MPNUM_PRESET_F16C, MPNUM_TYPE_F16);
  parse(&code, "nan", 3, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE);
  CHECK(code == 0x7e00, "got %" PRIx32 ", want 7e00", code);
}

int main(void) {
  for (size_t i = 0; i < CONVERSION_TYPES; ++i) {
    use(conversion_types[i].name, conversion_types[i].type);
    run_properties();
  }
  run_user_formats();
  TAP_RUN(forms_are_as_documented);
  TAP_RUN(a_small_buffer_stays_untouched);
  TAP_RUN(no_text_is_longer_than_the_size_promised);
  TAP_RUN(what_is_no_number_is_refused);
  TAP_RUN(numbers_may_be_written_in_many_ways);
  TAP_RUN(infinity_and_nan_are_words_of_either_case);
  TAP_RUN(grammar_is_that_of_strtod);
  TAP_RUN(long_text_and_huge_exponents_are_exact);
  TAP_RUN(arguments_outside_the_domain_are_refused);
  TAP_RUN(presets_decide_what_a_nan_becomes);
  return tap_done();
}

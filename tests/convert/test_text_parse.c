/* SPDX-License-Identifier: MIT */
/* Parsing at the points where a rounding turns, one far digit above and below them,
 * against the slow reference; and which text is a number. */
#include "../reference/conversion_inputs.h"
#include "../harness/samples.h"
#include "text_checks.h"

static uint64_t state = 11;

static size_t below(size_t bound) { return (size_t)(random_bits(&state) % bound); }

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
  const uint32_t most = (uint32_t)samples(2000);
  const uint32_t stride = reference->max_code < most ? 1 : reference->max_code / most;
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
  for (int i = 0; i < samples(20000); ++i) {
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
  RUN_NAMED(values_and_midpoints_turn_the_rounding);
  RUN_NAMED(random_numbers_agree_with_strtod);
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
  for (int i = 0; i < samples(400000); ++i) {
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
  CHECK(numbers > samples(10000), "only %d numbers drawn", numbers);
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
  CHECK(status == (bad_format.max_code ? MPNUM_ERROR_ARGUMENT : MPNUM_ERROR_TYPE) &&
            code == UINT32_C(0xdeadbeef),
        "rounding %d: status %d, code %" PRIx32, rounding, (int)status, code);
}

static void arguments_outside_the_domain_are_refused(void) {
  uint32_t code = 7;
  use("f16", MPNUM_TYPE_F16);
  check_argument(format, MPNUM_ROUND_STOCHASTIC);
  check_argument(format, MPNUM_ROUND_STOCHASTIC + 1);
  check_argument(mpnum_format_of(MPNUM_TYPE_F64), MPNUM_ROUND_NEAREST_EVEN);
  CHECK(mpnum_parse(&code, format, NULL, 3, MPNUM_ROUND_NEAREST_EVEN,
                    MPNUM_OVERFLOW_IEEE) == MPNUM_ERROR_NULL &&
            mpnum_parse(&code, format, NULL, 0, MPNUM_ROUND_NEAREST_EVEN,
                        MPNUM_OVERFLOW_IEEE) == MPNUM_ERROR_SYNTAX &&
            code == 7,
        "no text");
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

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  run_for_every_format(run_properties);
  TAP_RUN(what_is_no_number_is_refused);
  TAP_RUN(numbers_may_be_written_in_many_ways);
  TAP_RUN(infinity_and_nan_are_words_of_either_case);
  TAP_RUN(grammar_is_that_of_strtod);
  TAP_RUN(long_text_and_huge_exponents_are_exact);
  TAP_RUN(arguments_outside_the_domain_are_refused);
  TAP_RUN(presets_decide_what_a_nan_becomes);
  return tap_done();
}

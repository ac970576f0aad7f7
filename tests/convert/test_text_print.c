/* SPDX-License-Identifier: MIT */
/* Printing against the C library's exact printf and the slow reference: the shortest
 * digits that read back, hexadecimal text, and the room that a text takes. */
#include "../reference/conversion_inputs.h"
#include "../harness/samples.h"
#include "text_checks.h"

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

/* The step through the codes: every code of formats of at most 16 bits, or 12 without
 * --all, a sample of others, of about count. */
static uint32_t step(uint32_t codes, int count) {
  const uint32_t few = UINT32_C(1) << (takes_all ? 16 : 12);
  return codes <= few ? 1 : codes / (uint32_t)samples(count) | 1;
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

static void run_properties(void) {
  RUN_NAMED(shortest_text_is_printed);
  RUN_NAMED(hexadecimal_text_is_exact);
  RUN_NAMED(text_reads_back_as_its_code);
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
  uint64_t state = 11;
  use("f32", MPNUM_TYPE_F32);
  for (int i = 0; i < samples(200000); ++i) {
    const uint32_t code = (uint32_t)random_bits(&state) | UINT32_C(1) << 31;
    const size_t decimal = mpnum_print(NULL, 0, format, code);
    const size_t hexadecimal = mpnum_print_hex(NULL, 0, format, code);
    longest = decimal > longest ? decimal : longest;
    longest = hexadecimal > longest ? hexadecimal : longest;
  }
  CHECK(longest == MPNUM_TEXT_SIZE - 1, "longest %zu", longest);
}

static void arguments_outside_the_domain_are_refused(void) {
  const mpnum_format none = mpnum_format_of(MPNUM_TYPE_F64);
  char text[4] = "###";
  CHECK(mpnum_print(text, sizeof text, none, 0) == 0, "f64 printed");
  CHECK(mpnum_print_hex(text, sizeof text, none, 0) == 0, "f64 printed");
  CHECK(strcmp(text, "###") == 0, "f64 wrote \"%s\"", text);
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  run_for_every_format(run_properties);
  TAP_RUN(forms_are_as_documented);
  TAP_RUN(a_small_buffer_stays_untouched);
  TAP_RUN(no_text_is_longer_than_the_size_promised);
  TAP_RUN(arguments_outside_the_domain_are_refused);
  return tap_done();
}

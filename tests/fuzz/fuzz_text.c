/* SPDX-License-Identifier: MIT */
/* Any text as a number of any format, against strtod and the slow reference; and codes as
 * text and back. */
#include "../convert/user_formats.h"
#include "../harness/float_bits.h"
#include "fuzz_bytes.h"

#include <mpnum/types/text.h>

#include <fenv.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 4000 };
static mpnum_format format;
static ref_format reference;

static int take_format(fuzz_bytes *from) {
  const uint32_t kind = take_below(from, 20);
  user_format user = {1, 4, 3, 7, REF_SPECIALS_IEEE};
  if (kind >= MPNUM_TYPE_F32 && kind <= MPNUM_TYPE_UE4M3) {
    format = mpnum_format_of((mpnum_type)kind);
    reference = *ref_format_named(mpnum_type_name((mpnum_type)kind));
    return 1;
  }
  user.sign_bits = (int)take_below(from, 2);
  user.exponent_bits = 1 + (int)take_below(from, 8);
  user.mantissa_bits = (int)take_below(from, 16);
  user.bias = (int)take_below(from, 256) - 128;
  user.specials = (ref_specials)take_below(from, REF_SPECIALS);
  reference = reference_of(&user);
  return make(&format, &user) == MPNUM_OK;
}

/* What strtod makes of all of a text, rounded to odd, from which any format is one
 * rounding away. 0: the text is no number, or one that C has and mpnum_parse has not. */
static int read_double(const char *text, size_t length, uint64_t *bits) {
  static char copy[LONGEST + 1];
  char *end;
  double down, up;
  memcpy(copy, text, length);
  copy[length] = 0;
  if (length == 0 || strchr(" \t\n\v\f\r", copy[0]) || strchr(copy, '(')) return 0;
  fesetround(FE_TOWARDZERO);
  down = strtod(copy, &end);
  fesetround(copy[0] == '-' ? FE_DOWNWARD : FE_UPWARD);
  up = strtod(copy, NULL);
  fesetround(FE_TONEAREST);
  *bits = bits_of_double(down) | (bits_of_double(down) != bits_of_double(up));
  return end == copy + length;
}

static void check_parse(const char *text, size_t length, uint32_t how) {
  const uint32_t rounding = how % REF_STOCHASTIC, overflow = how / REF_STOCHASTIC % 2;
  uint32_t code = 0x33333333;
  uint64_t wide = 0;
  const int is_number = read_double(text, length, &wide);
  const mpnum_status status = mpnum_parse(
      &code, format, text, length, (mpnum_rounding)rounding, (mpnum_overflow)overflow);
  demand(status == (is_number ? MPNUM_OK : MPNUM_ERROR_SYNTAX));
  demand(code == (is_number ? ref_encode(&reference, wide, (ref_rounding)rounding,
                                         (ref_overflow)overflow, 0)
                            : 0x33333333));
}

/* The middle of two codes in all its digits, and one more behind them. */
static void check_middle(fuzz_bytes *from, uint32_t how) {
  static char text[LONGEST];
  const uint32_t code = (uint32_t)take(from, 4) % (reference.max_code + 1);
  const double middle = double_of(ref_midpoint(&reference, code));
  const int digits = (int)take(from, 2) % 1000; /* a double has 767 at most */
  const int length = snprintf(text, sizeof text, "%.*e", digits, middle);
  char *end = strchr(text, 'e');
  demand(length > 0 && end != NULL);
  if (end > text) end[-1] = (char)('0' + take_below(from, 10));
  check_parse(text, (size_t)length, how);
}

typedef size_t print_function(char *dst, size_t size, mpnum_format, uint32_t code);
/* Into memory of every size: as a whole, or not at all. */
static size_t check_room(print_function *print, uint32_t code, char *text) {
  const size_t length = print(text, MPNUM_TEXT_SIZE, format, code);
  demand(length > 0 && length < MPNUM_TEXT_SIZE && strlen(text) == length);
  demand(print(NULL, 0, format, code) == length);
  for (size_t size = length; size <= length + 1; ++size) {
    char *room = (char *)malloc(size);
    demand(room != NULL);
    memset(room, 0x33, size);
    demand(print(room, size, format, code) == length);
    demand(size > length ? strcmp(room, text) == 0 : room[0] == 0x33);
    free(room);
  }
  return length;
}
/* Of as many digits no number is nearer to the value, of fewer none that is near is read
 * as the code. Integers have all their digits. */
static void check_digits(const char *text, uint32_t code) {
  const double value = double_of(ref_decode(&reference, code));
  char nearest[64];
  int digits = 0;
  if (!strpbrk(text, ".e") || strchr(text, 'n')) return;
  if ((ref_value(&reference, reference.max_code) ^ bits_of_double(value)) << 1 == 0)
    return; /* what saturates is read as this, too */
  for (const char *at = text; *at && *at != 'e'; ++at)
    digits += *at >= (digits ? '0' : '1') && *at <= '9';
  for (int fewer = 0; fewer < 2 && digits > fewer; ++fewer) {
    uint32_t back = 0;
    snprintf(nearest, sizeof nearest, "%.*e", digits - fewer - 1, value);
    demand(mpnum_parse(&back, format, nearest, strlen(nearest), MPNUM_ROUND_NEAREST_EVEN,
                       MPNUM_OVERFLOW_IEEE) == MPNUM_OK);
    if (back == code) demand(!fewer && strtod(nearest, NULL) == strtod(text, NULL));
  }
}
/* The text is read as the code it is of; that in hexadecimal is just its value. */
static void check_print(uint32_t word) {
  const int width = reference.sign_bits + reference.exponent_bits +
                    reference.mantissa_bits + reference.storage_shift;
  const uint32_t known = width < 32 ? (UINT32_C(1) << width) - 1 : UINT32_MAX;
  const uint32_t code = word & known & ~((UINT32_C(1) << reference.storage_shift) - 1);
  char text[MPNUM_TEXT_SIZE], hex[MPNUM_TEXT_SIZE];
  const size_t length = check_room(mpnum_print, code, text);
  uint32_t back = 0;
  check_room(mpnum_print_hex, code, hex);
  demand(mpnum_parse(&back, format, text, length, MPNUM_ROUND_NEAREST_EVEN,
                     MPNUM_OVERFLOW_IEEE) == MPNUM_OK);
  if (ref_is_nan(&reference, code)) {
    demand(strcmp(text, "nan") == 0 && strcmp(hex, "nan") == 0);
    demand(back == reference.nan_code << reference.storage_shift);
    return;
  }
  demand(back == code);
  check_digits(text, code);
  demand(bits_of_double(strtod(hex, NULL)) == ref_decode(&reference, code));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes from = {data, size};
  if (!take_format(&from)) return 0;
  const uint32_t how = (uint32_t)take(&from, 1);
  check_print((uint32_t)take(&from, 4));
  if (how & 0x80) check_middle(&from, how);
  if (from.left > LONGEST) return 0;
  char *text = (char *)malloc(from.left + (from.left == 0)); /* no byte behind it */
  demand(text != NULL);
  memcpy(text, from.at, from.left);
  check_parse(text, from.left, how);
  free(text);
  return 0;
}

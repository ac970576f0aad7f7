/* SPDX-License-Identifier: MIT */
/* Codes as text and text as codes, decimal and hexadecimal, for any format. Opt-in.
 *
 * No locale, no allocation, no floating-point arithmetic. Parsing ends in
 * mpnum_encode_f64, so it rounds by the rules of round.h (decimal.h says why once);
 * printing asks parsing how many digits are enough.
 */
#ifndef MPNUM_TYPES_TEXT_H
#define MPNUM_TYPES_TEXT_H

#include "../core/query.h"
#include "../core/detail/decimal.h"
MPNUM_C_BEGIN_

#if !MPNUM_HAS_NVRTC_
# include <stddef.h>
#endif

/* A buffer of this size holds whatever the print functions write, the NUL too:
 * -0x1.fffffep+127 */
#define MPNUM_TEXT_SIZE 17

/* Printing. */

typedef struct mpnum_line_ {
  char text[MPNUM_TEXT_SIZE];
  int length;
} mpnum_line_;

MPNUM_FUNC void mpnum_put_(mpnum_line_ *line, int character) {
  line->text[line->length++] = (char)character;
}

MPNUM_FUNC void mpnum_put_word_(mpnum_line_ *line, const char *word) {
  for (; *word; ++word)
    mpnum_put_(line, *word);
}

/* e+05, p-149 */
MPNUM_FUNC void mpnum_put_exponent_(mpnum_line_ *line, int letter, int exponent,
                                    int digits) {
  const int magnitude = exponent < 0 ? -exponent : exponent;
  mpnum_put_(line, letter);
  mpnum_put_(line, exponent < 0 ? '-' : '+');
  if (magnitude >= 100) mpnum_put_(line, '0' + magnitude / 100);
  if (magnitude >= 10 || digits > 1) mpnum_put_(line, '0' + magnitude / 10 % 10);
  mpnum_put_(line, '0' + magnitude % 10);
}

/* 0.00123, 12.3, 12300 */
MPNUM_FUNC void mpnum_put_fixed_(mpnum_line_ *line, const mpnum_decimal_ *x) {
  int i = x->point > 0 ? 0 : x->point - 1; /* a digit's index; below 0 zeros are put in */
  for (; i < x->count || i < x->point; ++i) {
    if (i == x->point) mpnum_put_(line, '.');
    mpnum_put_(line, '0' + (i >= 0 && i < x->count ? x->digit[i] : 0));
  }
}

/* 1e+05, 1.23e-05 */
MPNUM_FUNC void mpnum_put_scientific_(mpnum_line_ *line, const mpnum_decimal_ *x) {
  int i = 0;
  for (; i < x->count; ++i) {
    if (i == 1) mpnum_put_(line, '.');
    mpnum_put_(line, '0' + x->digit[i]);
  }
  mpnum_put_exponent_(line, 'e', x->point - 1, 2);
}

/* What the value of a code needs no digits for: its sign, and all of an Inf or NaN.
 * Returns the magnitude of a finite value as f32 bits, or 0x7f800000 when the line is
 * done. */
MPNUM_FUNC uint32_t mpnum_put_start_(mpnum_line_ *line, mpnum_format format,
                                     uint32_t code) {
  const int is_nan = mpnum_isnan(format, code);
  if (!is_nan && mpnum_signbit(format, code)) mpnum_put_(line, '-');
  if (is_nan) mpnum_put_word_(line, "nan");
  if (mpnum_isinf(format, code)) mpnum_put_word_(line, "inf");
  if (!mpnum_isfinite(format, code)) return 0x7f800000u;
  return mpnum_decode_bits_(format, code) & 0x7fffffffu;
}

/* The line and a NUL to dst if they fit; the line's length. */
MPNUM_FUNC size_t mpnum_put_end_(const mpnum_line_ *line, char *dst, size_t size) {
  int i = 0;
  if (dst && size > (size_t)line->length) {
    for (; i < line->length; ++i)
      dst[i] = line->text[i];
    dst[i] = 0;
  }
  return (size_t)line->length;
}

/* The fewest digits that are read as this magnitude code, of these the nearest to its
 * value: of n digits, only the two numbers around the value can be that. */
MPNUM_FUNC mpnum_decimal_ mpnum_shortest_(mpnum_format format, uint32_t magnitude,
                                          const mpnum_decimal_ *exact) {
  const uint32_t code = magnitude << format.storage_shift;
  uint32_t head = 0; /* the first n digits */
  int n = 0;
  /* Where a format saturates, numbers far above the largest value are read as it: take
   * the code after it for an Inf, so that only what rounds to it counts. */
  format.inf_code = format.max_code + 1;
  for (; n < exact->count; ++n) {
    const int next = n + 1 < exact->count ? exact->digit[n + 1] : 0;
    const int has_more = n + 2 < exact->count;
    uint32_t up = 0;
    int i = 0;
    head = head * 10 + exact->digit[n];
    up = next > 5 || (next == 5 && (has_more || (head & 1)));
    for (; i < 2; ++i, up ^= 1) {
      const mpnum_decimal_ x = mpnum_decimal_from_(head + up, exact->point - n - 1);
      const double value = mpnum_decimal_to_f64_(x);
      if (mpnum_encode_f64(format, value, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE,
                           0) == code)
        return x;
    }
  }
  return *exact;
}

/* Writes the value of a code as decimal text: "448", "-0", "0.0625", "6e-08", "inf",
 * "nan". The digits are the fewest that mpnum_parse to nearest even reads as the same
 * code, and the nearest to its value among those; the form is fixed or scientific,
 * whichever is shorter, fixed if both are as short, and a fixed integer has all its
 * digits. (The text of an f32 is that of C++'s std::to_chars.)
 * Domain: any format; size bytes at dst, MPNUM_TEXT_SIZE always being enough.
 * NaN: "nan", whatever its sign and payload, as conversions drop them.
 * Returns the length of the text without its NUL; if size is not above it, or dst is
 * NULL, nothing is written. 0 for a format that is all zero (f64). Proven in
 * tests/convert/test_text_print.c. */
MPNUM_FUNC size_t mpnum_print(char *dst, size_t size, mpnum_format format,
                              uint32_t code) {
  mpnum_line_ line = {{0}, 0};
  uint32_t bits = 0;
  if (format.max_code == 0) return 0;
  bits = mpnum_put_start_(&line, format, code);
  if (bits == 0) {
    mpnum_put_(&line, '0');
  } else if (bits < 0x7f800000u) {
    const uint32_t magnitude = mpnum_magnitude_(format, mpnum_code_(format, code));
    const mpnum_decimal_ exact = mpnum_decimal_of_bits_(bits);
    const mpnum_decimal_ x = mpnum_shortest_(format, magnitude, &exact);
    const int is_integer = exact.count <= exact.point;
    const int fraction_length = x.count + (x.point > 0 ? 1 : 2 - x.point);
    const int fixed_length = is_integer ? exact.point : fraction_length;
    const int scientific_length = x.count + (x.count > 1) + 4; /* 4: e+05 */
    if (fixed_length <= scientific_length)
      mpnum_put_fixed_(&line, is_integer ? &exact : &x);
    else
      mpnum_put_scientific_(&line, &x);
  }
  return mpnum_put_end_(&line, dst, size);
}

/* As mpnum_print, exact, in C's hexadecimal form, the first digit 1: "0x1.cp+8",
 * "-0x0p+0", "0x1p-149". */
MPNUM_FUNC size_t mpnum_print_hex(char *dst, size_t size, mpnum_format format,
                                  uint32_t code) {
  mpnum_line_ line = {{0}, 0};
  uint32_t bits = 0;
  if (format.max_code == 0) return 0;
  bits = mpnum_put_start_(&line, format, code);
  if (bits == 0) {
    mpnum_put_word_(&line, "0x0p+0");
  } else if (bits < 0x7f800000u) {
    /* The fraction in 24 bits, 6 digits. */
    uint32_t fraction = (bits & 0x7fffffu) << 1;
    int exponent = (int)(bits >> 23) - 127;
    if (bits >> 23 == 0) {
      const int lead = mpnum_clz_u32_(bits) - 8;
      fraction = bits << (lead + 1) & 0xffffffu;
      exponent = -126 - lead;
    }
    mpnum_put_word_(&line, fraction ? "0x1." : "0x1");
    for (; fraction; fraction = fraction << 4 & 0xffffffu)
      mpnum_put_(&line, "0123456789abcdef"[fraction >> 20]);
    mpnum_put_exponent_(&line, 'p', exponent, 1);
  }
  return mpnum_put_end_(&line, dst, size);
}

/* Parsing. */

/* Value of a digit of either case; 99: no digit. */
MPNUM_FUNC int mpnum_digit_(char character) {
  const int letter = character | 0x20;
  if (character >= '0' && character <= '9') return character - '0';
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 99;
}

/* 1 if the text is this word, in either case. */
MPNUM_FUNC int mpnum_is_word_(const char *text, size_t length, const char *word) {
  size_t i = 0;
  for (; i < length && word[i]; ++i)
    if ((text[i] | 0x20) != word[i]) return 0;
  return i == length && word[i] == 0;
}

/* Digits with or without a point, from text[*at] on: the first MPNUM_DECIMAL_KEPT_ of
 * them into *x and 1 for what follows, the place of the point to *point; *at moves behind
 * them. Returns 0 if there is no digit. */
MPNUM_FUNC int mpnum_scan_digits_(const char *text, size_t length, int base, size_t *at,
                                  mpnum_decimal_ *x, int64_t *point) {
  int has_digit = 0;
  int has_point = 0;
  int has_more = 0;
  for (; *at < length; ++*at) {
    const int digit = mpnum_digit_(text[*at]);
    if (text[*at] == '.' && !has_point) {
      has_point = 1;
      continue;
    }
    if (digit >= base) break;
    has_digit = 1;
    if (x->count == 0 && digit == 0) { /* a leading zero */
      *point -= has_point;
      continue;
    }
    if (x->count < MPNUM_DECIMAL_KEPT_)
      x->digit[x->count++] = (uint8_t)digit;
    else
      has_more |= digit != 0;
    *point += !has_point;
  }
  if (has_more) x->digit[x->count++] = 1;
  mpnum_decimal_trim_(x);
  return has_digit;
}

/* A signed integer, all of the text; past 2^57, which no length of text makes up for, it
 * stops growing. Returns 0 if it is none. */
MPNUM_FUNC int mpnum_scan_exponent_(const char *text, size_t length, int64_t *exponent) {
  const int is_negative = length > 0 && text[0] == '-';
  size_t i = length > 0 && (text[0] == '-' || text[0] == '+');
  if (i == length) return 0;
  for (; i < length; ++i) {
    const int digit = mpnum_digit_(text[i]);
    if (digit > 9) return 0;
    if (*exponent >> 57 == 0) *exponent = *exponent * 10 + digit;
  }
  if (is_negative) *exponent = -*exponent;
  return 1;
}

/* A number without sign, all of the text, to the bits of a double rounded to odd. Returns
 * 0 if it is none. */
MPNUM_FUNC int mpnum_scan_number_(const char *text, size_t length, uint64_t *bits) {
  const int is_hex = length > 1 && text[0] == '0' && (text[1] | 0x20) == 'x';
  mpnum_decimal_ x = {{0}, 0, 0}; /* its digits may be hexadecimal */
  int64_t point = 0;
  int64_t exponent = 0;
  uint64_t integer = 0;
  size_t at = is_hex ? 2 : 0;
  int i = 0;
  if (!mpnum_scan_digits_(text, length, is_hex ? 16 : 10, &at, &x, &point)) return 0;
  if (at < length) {
    if ((text[at] | 0x20) != (is_hex ? 'p' : 'e')) return 0;
    ++at;
    if (!mpnum_scan_exponent_(text + at, length - at, &exponent)) return 0;
  }
  if (is_hex) {
    for (; i < 16; ++i)
      integer = integer << 4 | (i < x.count ? x.digit[i] : 0u);
    *bits = mpnum_bits_f64(
        mpnum_round_to_odd_(integer, (point - 16) * 4 + exponent, x.count > 16));
  } else {
    point += exponent;
    x.point = point > 1000 ? 1000 : point < -1000 ? -1000 : (int)point;
    *bits = mpnum_bits_f64(mpnum_decimal_to_f64_(x));
  }
  return 1;
}

/* Reads a number, decimal or hexadecimal as in C ("448", "-4.48e2", ".5", "0x1.cp8"),
 * "inf", "infinity" or "nan" in either case, and writes to *code the code it rounds to.
 * Domain: any format; length bytes of text, all of them the number: no blanks, no NUL.
 *   Every rounding but stochastic. Any number of digits, any exponent; the time is
 *   proportional to length.
 * Overflow, NaN: as mpnum_encode.
 * Error: rounded once from the exact value of the text. Proven in
 * tests/convert/test_text_parse.c. Returns MPNUM_OK; MPNUM_ERROR_TYPE (a format that is
 * all zero: f64), MPNUM_ERROR_ARGUMENT (stochastic rounding), MPNUM_ERROR_NULL (no text,
 * though it has a length) or MPNUM_ERROR_SYNTAX, *code unchanged. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_parse(uint32_t *code, mpnum_format format,
                                                     const char *text, size_t length,
                                                     mpnum_rounding rounding,
                                                     mpnum_overflow overflow) {
  const int is_known = (int)rounding >= 0 && rounding < MPNUM_ROUND_STOCHASTIC;
  uint64_t sign = 0, bits = 0;
  size_t left = length;
  const char *number = text;
  if (format.max_code == 0) return MPNUM_ERROR_TYPE;
  if (!is_known) return MPNUM_ERROR_ARGUMENT;
  if (length > 0) {
    if (!text) return MPNUM_ERROR_NULL;
    if (text[0] == '-') sign = (uint64_t)1 << 63;
    if (text[0] == '-' || text[0] == '+') {
      ++number;
      --left;
    }
  }
  if (mpnum_is_word_(number, left, "inf") || mpnum_is_word_(number, left, "infinity"))
    bits = (uint64_t)0x7ff << 52;
  else if (mpnum_is_word_(number, left, "nan"))
    bits = (uint64_t)0xfff << 51;
  else if (!mpnum_scan_number_(number, left, &bits))
    return MPNUM_ERROR_SYNTAX;
  *code =
      mpnum_encode_f64(format, mpnum_from_bits_f64(sign | bits), rounding, overflow, 0);
  return MPNUM_OK;
}

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
#include "reference.h"
#include "format_rows.h"

#include <stdlib.h>
#include <string.h>

#define F64_SIGN     UINT64_C(0x8000000000000000)
#define F64_INFINITY UINT64_C(0x7ff0000000000000)
#define F64_NAN      UINT64_C(0x7fffffffffffffff)
#define F64_HIDDEN   UINT64_C(0x0010000000000000)

#define FORMAT(name, NAME, kind, S, E, M, bias, shift, max, inf, nan, zero, minus_zero, \
               payload, ...)                                                            \
 {#name, S, E, M, bias, shift, max, inf, nan, zero, minus_zero, payload, NULL},
static ref_format formats[] = {
    FORMAT_ROWS(FORMAT) SCALE_FORMAT_ROWS(FORMAT) /* and f32: */
    {"f32", 1, 8, 23, 127, 0, 0x7f7fffff, 0x7f800000, 0x7fffffff, 1, 1, 1, NULL},
};

static uint32_t sign_code(const ref_format *format) {
  return format->sign_bits
             ? UINT32_C(1) << (format->exponent_bits + format->mantissa_bits)
             : 0;
}

/* Bits of the double significand * 2^exponent, for a significand below 2^53 and a value
 * that is a normal double, zero, or too large (which gives Inf, above everything). */
static uint64_t f64_bits(uint64_t significand, int exponent) {
  if (significand == 0) return 0;
  while (significand < F64_HIDDEN) {
    significand *= 2;
    --exponent;
  }
  int field = exponent + 52 + 1023;
  if (field >= 2047) return F64_INFINITY;
  if (field < 1) abort(); /* a format too small for doubles: the caller's mistake */
  return ((uint64_t)field << 52) | (significand - F64_HIDDEN);
}

/* A magnitude code stands for integer_of(code) * 2^gap_of(code), and the next code for
 * one more of the same gap: that is how subnormals, binades and the step between binades
 * all work. */
static uint64_t integer_of(const ref_format *format, uint32_t code) {
  uint32_t hidden = UINT32_C(1) << format->mantissa_bits;
  return format->has_zero && code < hidden ? code : hidden + (code & (hidden - 1));
}

static int gap_of(const ref_format *format, uint32_t code) {
  int field = (int)(code >> format->mantissa_bits);
  if (field == 0 && format->has_zero)
    field = 1; /* subnormals share the first binade's gap */
  return field - format->bias - format->mantissa_bits;
}

static uint64_t compute_value(const ref_format *format, uint32_t code) {
  return f64_bits(integer_of(format, code), gap_of(format, code));
}

uint64_t ref_value(const ref_format *format, uint32_t code) {
  return format->table ? format->table[code] : compute_value(format, code);
}

uint64_t ref_midpoint(const ref_format *format, uint32_t code) {
  return f64_bits(2 * integer_of(format, code) + 1, gap_of(format, code) - 1);
}

static void build_table(ref_format *format) {
  uint64_t *table = (uint64_t *)malloc((format->max_code + 2) * sizeof *table);
  if (!table) abort();
  for (uint32_t code = 0; code <= format->max_code + 1; ++code)
    table[code] = compute_value(format, code);
  format->table = table;
}

const ref_format *ref_format_named(const char *name) {
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i) {
    ref_format *format = &formats[i];
    if (strcmp(format->name, name) != 0) continue;
    /* f32 has 2^31 magnitudes: its values are computed when the search asks for them. */
    if (!format->table && format->max_code < UINT32_C(1) << 20) build_table(format);
    return format;
  }
  return NULL;
}

ref_format ref_format_make(int sign_bits, int exponent_bits, int mantissa_bits, int bias,
                           ref_specials specials) {
  ref_format format = {"user", 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, NULL};
  uint32_t all_ones = (UINT32_C(1) << (exponent_bits + mantissa_bits)) - 1;
  format.sign_bits = sign_bits;
  format.exponent_bits = exponent_bits;
  format.mantissa_bits = mantissa_bits;
  format.bias = bias;
  format.max_code = all_ones;
  format.has_zero = specials != REF_SPECIALS_E8M0;
  format.has_negative_zero =
      sign_bits && specials != REF_SPECIALS_FNUZ && specials != REF_SPECIALS_P3109;
  if (specials == REF_SPECIALS_IEEE) {
    format.infinity_code = all_ones >> mantissa_bits << mantissa_bits;
    format.max_code = format.infinity_code - 1;
    format.nan_code = all_ones;
    format.keeps_payload = exponent_bits == 8 && bias == 127; /* a prefix of f32 */
  } else if (specials == REF_SPECIALS_FN || specials == REF_SPECIALS_E8M0) {
    format.max_code = all_ones - 1;
    format.nan_code = all_ones;
  } else if (specials == REF_SPECIALS_FNUZ) {
    format.nan_code = all_ones + 1;
  } else if (specials == REF_SPECIALS_P3109) {
    format.infinity_code = all_ones;
    format.max_code = all_ones - 1;
    format.nan_code = all_ones + 1;
  }
  return format;
}

/* floor(2^32 * (magnitude - value(code)) / gap), for a magnitude in [value(code), next).
 * With the magnitude as m * 2^e, e <= gap's exponent unless the magnitude is a whole
 * number of gaps, and then nothing is left over. The remainder m - integer * 2^(gap - e)
 * is below 2^53: exact in 64 bits. */
static uint32_t fraction_of(const ref_format *format, uint32_t code, uint64_t magnitude) {
  int field = (int)(magnitude >> 52);
  uint64_t m = (magnitude & (F64_HIDDEN - 1)) | (field ? F64_HIDDEN : 0);
  int e = (field ? field : 1) - 1023 - 52;
  int steps = gap_of(format, code) - e; /* one gap is 2^steps units of m */
  uint64_t integer = integer_of(format, code);
  if (steps <= 0) return 0;
  /* A non-zero integer means integer * 2^steps <= m < 2^53, so the shift is below 53. */
  uint64_t rest = integer ? m - (integer << steps) : m;
  if (steps <= 32) return (uint32_t)(rest << (32 - steps)); /* rest < 2^steps */
  return steps - 32 < 64 ? (uint32_t)(rest >> (steps - 32)) : 0;
}

ref_bracket ref_locate(const ref_format *format, uint64_t magnitude) {
  ref_bracket bracket = {0, 1, -1, 0};
  uint32_t above =
      format->max_code + 2; /* value(low) <= magnitude < value(above) throughout */
  while (above - bracket.low > 1) {
    uint32_t middle = bracket.low + (above - bracket.low) / 2;
    if (ref_value(format, middle) <= magnitude)
      bracket.low = middle;
    else
      above = middle;
  }
  if (bracket.low > format->max_code) return bracket;
  if (ref_value(format, bracket.low) == magnitude) return bracket;
  uint64_t midpoint = ref_midpoint(format, bracket.low);
  bracket.exact = 0;
  bracket.side = (magnitude > midpoint) - (magnitude < midpoint);
  bracket.fraction = fraction_of(format, bracket.low, magnitude);
  return bracket;
}

/* A format without zero takes every smaller magnitude for its least value. */
static uint64_t at_least_the_least(const ref_format *format, uint64_t magnitude) {
  uint64_t least = ref_value(format, 0);
  return !format->has_zero && magnitude < least ? least : magnitude;
}

uint32_t ref_fraction(const ref_format *format, uint64_t magnitude) {
  if (magnitude >= F64_INFINITY) return 0;
  return ref_locate(format, at_least_the_least(format, magnitude)).fraction;
}

static int moves_away(const ref_bracket *bracket, int negative, ref_rounding rounding,
                      uint32_t random) {
  int odd = (int)(bracket->low & 1);
  if (bracket->exact) return 0;
  switch (rounding) {
  case REF_NEAREST_EVEN: return bracket->side > 0 || (bracket->side == 0 && odd);
  case REF_UP: return !negative;
  case REF_DOWN: return negative;
  case REF_NEAREST_AWAY: return bracket->side >= 0;
  case REF_TO_ODD: return !odd;
  case REF_STOCHASTIC:
    return ((uint64_t)bracket->fraction + random) >> 32 != 0; /* sum >= 2^32 */
  case REF_TOWARD_ZERO:
  case REF_ROUNDINGS: break;
  }
  return 0;
}

/* Does a finite magnitude beyond max become Inf, rather than max? */
static int overflows_to_infinity(ref_rounding rounding, int negative) {
  switch (rounding) {
  case REF_UP: return !negative;
  case REF_DOWN: return negative;
  case REF_TOWARD_ZERO:
  case REF_TO_ODD: return 0;
  case REF_NEAREST_EVEN:
  case REF_NEAREST_AWAY:
  case REF_STOCHASTIC:
  case REF_ROUNDINGS: break;
  }
  return 1;
}

static uint32_t finish(const ref_format *format, int negative, uint32_t magnitude_code) {
  uint32_t code = magnitude_code;
  if (negative && (code != 0 || format->has_negative_zero)) code |= sign_code(format);
  return code << format->storage_shift;
}

/* Inf, or what stands in for it: the NaN of that sign, or the one NaN. */
static uint32_t infinity_or_nan(const ref_format *format, int negative) {
  if (format->infinity_code) return finish(format, negative, format->infinity_code);
  if (format->nan_code == sign_code(format))
    return format->nan_code << format->storage_shift;
  return finish(format, negative, format->nan_code);
}

uint32_t ref_encode(const ref_format *format, uint64_t source, ref_rounding rounding,
                    ref_overflow overflow, uint32_t random) {
  uint64_t magnitude = source & ~F64_SIGN;
  /* A format without a sign takes the magnitude, in the directed modes too. */
  int negative = format->sign_bits && (source & F64_SIGN) != 0;
  int saturates = overflow == REF_SATURATE || format->nan_code == 0;
  /* NaN: canonical, sign dropped; +max where there is none. */
  if (magnitude > F64_INFINITY)
    return (format->nan_code ? format->nan_code : format->max_code)
           << format->storage_shift;
  if (magnitude == F64_INFINITY)
    return saturates ? finish(format, negative, format->max_code)
                     : infinity_or_nan(format, negative);
  ref_bracket bracket = ref_locate(format, at_least_the_least(format, magnitude));
  uint32_t code =
      bracket.low + (uint32_t)moves_away(&bracket, negative, rounding, random);
  if (code <= format->max_code) return finish(format, negative, code);
  if (saturates || !overflows_to_infinity(rounding, negative))
    return finish(format, negative, format->max_code);
  return infinity_or_nan(format, negative);
}

int ref_is_nan(const ref_format *format, uint32_t word) {
  uint32_t code = word >> format->storage_shift, sign = sign_code(format);
  uint32_t magnitude = sign ? code & (sign - 1) : code;
  if (format->nan_code == 0) return 0;
  if (format->nan_code == sign) return code == sign;
  return magnitude > format->max_code && magnitude != format->infinity_code;
}

uint64_t ref_decode(const ref_format *format, uint32_t word) {
  uint32_t code = word >> format->storage_shift, sign = sign_code(format);
  uint32_t magnitude = sign ? code & (sign - 1) : code;
  if (ref_is_nan(format, word)) return F64_NAN;
  uint64_t bits =
      magnitude <= format->max_code ? ref_value(format, magnitude) : F64_INFINITY;
  return (code & sign) ? bits | F64_SIGN : bits;
}

uint32_t ref_decode_f32(const ref_format *format, uint32_t word) {
  uint32_t f32 = 0;
  uint64_t bits = ref_decode(format, word);
  if (bits == F64_NAN)
    return format->keeps_payload
               ? word >> format->storage_shift << (23 - format->mantissa_bits)
               : UINT32_C(0x7fffffff);
  if (!ref_narrow(bits, &f32))
    abort(); /* every value of the built-in formats is an f32 */
  return f32;
}

uint64_t ref_widen(uint32_t f32) {
  uint64_t sign = (uint64_t)(f32 >> 31) << 63;
  uint32_t magnitude = f32 & UINT32_C(0x7fffffff), mantissa = f32 & UINT32_C(0x7fffff);
  int field = (int)(magnitude >> 23);
  if (field == 255) return sign | F64_INFINITY | (uint64_t)mantissa << 29;
  if (field == 0) return sign | f64_bits(mantissa, -149);
  return sign | f64_bits(mantissa + UINT32_C(0x800000), field - 150);
}

/* Cut off whatever f32 has no room for; the value is an f32 if widening gives it back. */
int ref_narrow(uint64_t f64, uint32_t *f32) {
  uint64_t magnitude = f64 & ~F64_SIGN;
  uint64_t significand = (magnitude & (F64_HIDDEN - 1)) | F64_HIDDEN;
  int field = (int)(magnitude >> 52) - 1023 + 127;
  uint32_t cut = 0;
  if (magnitude >= F64_INFINITY)
    cut = UINT32_C(0x7f800000);
  else if (field >= 1 && field <= 254)
    cut = (uint32_t)field << 23 | (uint32_t)(significand >> 29 & UINT32_C(0x7fffff));
  else if (field < 1 && field > -23)
    cut = (uint32_t)(significand >> (30 - field)); /* 30 to 52: units of 2^-149 */
  *f32 = cut | (uint32_t)(f64 >> 63) << 31;
  return ref_widen(cut) == magnitude;
}

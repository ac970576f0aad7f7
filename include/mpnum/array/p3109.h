/* SPDX-License-Identifier: MIT */
/* Formats of IEEE's working group P3109, "Arithmetic Formats for Machine Learning", by
 * names or parameters, and its projections: how a number becomes a value of one.
 *
 *     mpnum_p3109 to;
 *     mpnum_status status =
 *         mpnum_p3109_init(&to, "Binary8p4se", "NearestTiesToEven", "SatNone");
 *     codes[i] = (uint8_t)mpnum_p3109_encode(to, x, 0);
 *     x = mpnum_decode_f64(to.format, codes[i]);
 *
 * Source: the group's interim report 4.0 of 26 June 2026 (github.com/P3109/Public), a
 * draft that is not for conformance: what is here agrees with the report of that date.
 * docs/p3109.md has the formats that are refused. */
#ifndef MPNUM_ARRAY_P3109_H
#define MPNUM_ARRAY_P3109_H

#include "../core/rng.h"
#include "../core/stochastic.h"
#include "../types/preset.h"
#include "array.h"
MPNUM_C_BEGIN_

/* A format and a projection to it, made by mpnum_p3109_init. All-zero is none. */
typedef struct mpnum_p3109 {
  mpnum_format format; /* for mpnum_decode, mpnum_convert_array_formats and the like */
  mpnum_rounding rounding;
  uint8_t saturation;  /* the letter after "Sat": F, P or N */
  uint8_t variant;     /* of stochastic rounding: A, B or C */
  uint8_t random_bits; /* and its bits, 1 to 32 */
} mpnum_p3109;

/* A decimal number of one or two digits, without a leading zero; goes past it. 0: none.
 */
MPNUM_FUNC int mpnum_p3109_number_(const char **text) {
  int number = 0;
  if (**text == '0') return 0;
  while (**text >= '0' && **text <= '9' && number < 10)
    number = 10 * number + *(*text)++ - '0';
  return number;
}

/* What is left of a text after a word; NULL where it does not begin with it. */
MPNUM_FUNC const char *mpnum_p3109_after_(const char *text, const char *word) {
  for (; *word; ++word, ++text)
    if (*text != *word) return 0;
  return text;
}

/* Writes a format to *dst by the report's parameters: width in bits, precision with the
 * leading bit, signed or not, extended with Inf or finite. Of the report's 504 formats of
 * 3 to 16 bits the 342 whose normal numbers are normal floats: those of at most 7 bits of
 * exponent. As the format member of an mpnum_p3109 it keeps the projection.
 * Returns MPNUM_OK; MPNUM_ERROR_NULL, _WIDTH (no such format, or wider than 16 bits),
 * _RANGE (a format that is refused), *dst unchanged. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_p3109_format(mpnum_format *dst, int width,
                                                            int precision, int is_signed,
                                                            int is_extended) {
  const int has_sign = is_signed != 0;
  mpnum_status status = MPNUM_OK;
  int exponent_bits = 0;
  if (!dst) return MPNUM_ERROR_NULL;
  if (width < 3 || width > 16 || precision < 1 || precision > width - has_sign)
    return MPNUM_ERROR_WIDTH;
  exponent_bits = width - precision + !has_sign;
  if (exponent_bits > 7) return MPNUM_ERROR_RANGE; /* the smallest is no normal float */
  status = mpnum_format_init(dst, has_sign, exponent_bits, precision - 1,
                             1 << (exponent_bits - 1),
                             !has_sign     ? MPNUM_SPECIALS_FN
                             : is_extended ? MPNUM_SPECIALS_P3109
                                           : MPNUM_SPECIALS_FNUZ);
  if (status == MPNUM_OK && !has_sign && is_extended) { /* Inf below NaN */
    dst->inf_code = dst->nan_code - 1;
    dst->max_code = dst->nan_code - 2;
  }
  return status;
}

MPNUM_FUNC mpnum_status mpnum_p3109_format_(mpnum_format *dst, const char *name) {
  const char *rest = mpnum_p3109_after_(name, "Binary");
  int width = 0, precision = 0;
  if (!rest || !(width = mpnum_p3109_number_(&rest)) || *rest++ != 'p' ||
      !(precision = mpnum_p3109_number_(&rest)))
    return MPNUM_ERROR_SYNTAX;
  if ((rest[0] != 's' && rest[0] != 'u') || (rest[1] != 'e' && rest[1] != 'f') || rest[2])
    return MPNUM_ERROR_SYNTAX;
  return mpnum_p3109_format(dst, width, precision, rest[0] == 's', rest[1] == 'e');
}

MPNUM_FUNC mpnum_status mpnum_p3109_rounding_(mpnum_p3109 *dst, const char *name) {
  const char *rest = mpnum_p3109_after_(name, "Stochastic");
  int number = 0;
  if (rest && *rest >= 'A' && *rest <= 'C') {
    dst->rounding = MPNUM_ROUND_STOCHASTIC;
    dst->variant = (uint8_t)*rest++;
    number = mpnum_p3109_number_(&rest);
    dst->random_bits = (uint8_t)number;
    return number >= 1 && number <= 32 && !*rest ? MPNUM_OK : MPNUM_ERROR_SYNTAX;
  }
  for (; number < 6; ++number) {
    const char *word = number == 0   ? "NearestTiesToEven"
                       : number == 1 ? "TowardZero"
                       : number == 2 ? "TowardPositive"
                       : number == 3 ? "TowardNegative"
                       : number == 4 ? "NearestTiesToAway"
                                     : "ToOdd";
    rest = mpnum_p3109_after_(name, word);
    if (rest && !*rest) {
      dst->rounding = (mpnum_rounding)number; /* enum mpnum_rounding has this order */
      return MPNUM_OK;
    }
  }
  return MPNUM_ERROR_SYNTAX;
}

/* Writes to *dst a format and a projection by the report's names.
 * Format: "Binary8p4se": 8 bits, 4 of precision, signed (s) or unsigned (u), extended
 *   with Inf (e) or finite (f): those of mpnum_p3109_format.
 * Rounding: "NearestTiesToEven", "NearestTiesToAway", "TowardPositive", "TowardNegative",
 *   "TowardZero", "ToOdd", or "StochasticA8": A, B or C of 1 to 32 random bits.
 * Saturation: "SatFinite", "SatPropagate" or "SatNone".
 * Returns MPNUM_OK; MPNUM_ERROR_NULL, _SYNTAX (no such name), _WIDTH (no such format, or
 * wider than 16 bits), _RANGE (a format that is refused), *dst unchanged. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_p3109_init(mpnum_p3109 *dst,
                                                          const char *format,
                                                          const char *rounding,
                                                          const char *saturation) {
  mpnum_p3109 made = {
      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, MPNUM_ROUND_NEAREST_EVEN, 0, 0, 0};
  const char *rest = 0;
  mpnum_status status = MPNUM_OK;
  if (!dst || !format || !rounding || !saturation) return MPNUM_ERROR_NULL;
  if ((rest = mpnum_p3109_after_(saturation, "SatFinite")) == 0 &&
      (rest = mpnum_p3109_after_(saturation, "SatPropagate")) == 0)
    rest = mpnum_p3109_after_(saturation, "SatNone");
  if (!rest || *rest) return MPNUM_ERROR_SYNTAX;
  made.saturation = (uint8_t)saturation[3];
  status = mpnum_p3109_rounding_(&made, rounding);
  if (status == MPNUM_OK) status = mpnum_p3109_format_(&made.format, format);
  if (status == MPNUM_OK) *dst = made;
  return status;
}

MPNUM_FUNC uint32_t mpnum_p3109_round_(mpnum_p3109 to, mpnum_source_ source,
                                       mpnum_rounding rounding, mpnum_overflow overflow,
                                       uint32_t random) {
  return rounding == MPNUM_ROUND_STOCHASTIC
             ? mpnum_encode_stochastic_core_(to.format, source, (char)to.variant,
                                             to.random_bits, overflow, random)
             : mpnum_encode_core_(to.format, source, rounding, overflow, 0);
}

/* The report's Project: rounding to precision, saturation, code. */
MPNUM_FUNC uint32_t mpnum_p3109_encode_core_(mpnum_p3109 to, mpnum_source_ source,
                                             uint32_t random) {
  const int is_none = to.saturation == 'N';
  const int keeps_inf = is_none || (to.saturation == 'P' && source.is_inf);
  const mpnum_overflow overflow =
      to.format.inf_code && keeps_inf ? MPNUM_OVERFLOW_IEEE : MPNUM_OVERFLOW_SATURATE;
  if (source.sign && !to.format.sign_bits && !source.is_nan) {
    /* Below all that is unsigned, but what rounds to zero: 0, or NaN where a signed
     * format would go on. */
    const mpnum_rounding outward =
        to.rounding == MPNUM_ROUND_DOWN ? MPNUM_ROUND_UP : to.rounding;
    const int is_clamped =
        to.rounding == MPNUM_ROUND_TOWARD_ZERO || to.rounding == MPNUM_ROUND_UP;
    if (!is_none || (is_clamped && !source.is_inf)) return 0;
    return mpnum_p3109_round_(to, source, outward, overflow, random) ? to.format.nan_code
                                                                     : 0;
  }
  if (to.rounding == MPNUM_ROUND_TO_ODD && is_none && to.format.inf_code &&
      to.format.sign_bits) {
    /* The largest is even, and Inf, which is odd, comes after it. */
    const uint32_t away = mpnum_p3109_round_(
        to, source, source.sign ? MPNUM_ROUND_DOWN : MPNUM_ROUND_UP, overflow, 0);
    const uint32_t ones =
        ((uint32_t)1 << (to.format.exponent_bits + to.format.mantissa_bits)) - 1;
    if ((away & ones) == to.format.inf_code) return away;
  }
  return mpnum_p3109_round_(to, source, to.rounding, overflow, random);
}

/* Projects x and returns the code.
 * Domain: a projection of mpnum_p3109_init; of random the low random_bits bits count, as
 *   the report's R, for stochastic rounding alone.
 * Overflow: SatFinite: the largest value, of Inf too. SatPropagate: the same, but Inf
 *   stays where the format has it. SatNone: as the rounding says, in a finite format the
 *   largest value.
 * A negative number to an unsigned format, if it does not round to zero: under SatNone
 *   NaN, but 0 toward zero and toward positive (of -Inf NaN); under the others 0.
 * NaN: NaN. -0: 0.
 * Error: rounded once. Proven in tests/array/test_p3109.py. */
MPNUM_FUNC uint32_t mpnum_p3109_encode(mpnum_p3109 to, double x, uint32_t random) {
  return mpnum_p3109_encode_core_(to, mpnum_source_f64_(x), random);
}

#if MPNUM_HAS_ARRAYS_

/* One by one, in place, too. */
MPNUM_HOST void mpnum_p3109_all_(const mpnum_p3109 *to,
                                 const mpnum_conversion_ *conversion, uint8_t *dst,
                                 const uint8_t *src, size_t n) {
  const int src_bits = conversion->src_bits, dst_bits = conversion->dst_bits;
  size_t k = 0;
  for (; k < n; ++k) {
    const size_t i = dst_bits > src_bits ? n - 1 - k : k;
    const uint32_t stored = (uint32_t)mpnum_element_(src_bits, src, i);
    const mpnum_source_ source = mpnum_source_f32_(mpnum_decode(conversion->src, stored));
    const uint32_t random =
        to->random_bits ? mpnum_random(conversion->seed, conversion->offset + i) >>
                              (32 - to->random_bits)
                        : 0;
    mpnum_set_element_(dst_bits, dst, i, mpnum_p3109_encode_core_(*to, source, random));
  }
}
/* What vectors leave of conversions that are plain. */
MPNUM_HOST void mpnum_p3109_each_(const mpnum_conversion_ *conversion, uint8_t *dst,
                                  const uint8_t *src, size_t n) {
  const mpnum_conversion_ local = *conversion; /* which no store changes */
  size_t i = 0;
  for (; i < n; ++i) {
    const uint64_t element = mpnum_element_(local.src_bits, src, i);
    const float x = mpnum_from_bits_f32(mpnum_widen_(local.src, element));
    mpnum_set_element_(local.dst_bits, dst, i,
                       mpnum_encode(local.dst, x, local.rounding, local.overflow, 0));
  }
}
/* Whether mpnum_convert_array_formats gives the same, and with which overflow. */
MPNUM_HOST int mpnum_p3109_is_plain_(mpnum_p3109 to, mpnum_overflow *overflow) {
  const int is_none = to.saturation == 'N';
  *overflow =
      is_none && to.format.inf_code ? MPNUM_OVERFLOW_IEEE : MPNUM_OVERFLOW_SATURATE;
  return to.format.sign_bits && to.rounding != MPNUM_ROUND_STOCHASTIC &&
         (!to.format.inf_code || to.saturation == 'F' ||
          (is_none && to.rounding != MPNUM_ROUND_TO_ODD));
}

/* Projects n codes of a format, of floats too, to a byte each, or two where a code is
 * wider than 8 bits. Element i takes the upper bits of mpnum_random(seed, offset + i).
 * The way back is mpnum_convert_array_formats, by whose loops this runs, too, where the
 * format is signed, but for stochastic rounding and, with Inf, SatPropagate, and ToOdd
 * under SatNone; these and unsigned formats go one by one. Set to.format to that of a
 * signed type, as mpnum_format_of(MPNUM_TYPE_E4M3), and arrays of it are rounded
 * stochastically by 1 to 32 bits, too; codes of tf32 take 4 bytes.
 * Domain: any alignment; in place: dst and src may begin at the same address.
 * Returns MPNUM_OK; MPNUM_ERROR_TYPE, _ARGUMENT (no projection), _NULL, _OVERLAP, dst
 * unchanged. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_p3109_convert_array(mpnum_p3109 to, void *dst, mpnum_format src_format,
                          const void *src, size_t n, uint64_t seed, uint64_t offset) {
  const int src_bits = mpnum_format_bits_(src_format);
  const int dst_bits = mpnum_format_bits_(to.format);
  mpnum_overflow overflow = MPNUM_OVERFLOW_IEEE;
  mpnum_conversion_ conversion;
  int is_plain = 0;
  if (!src_bits || !dst_bits) return MPNUM_ERROR_TYPE;
  if ((to.saturation != 'F' && to.saturation != 'P' && to.saturation != 'N') ||
      to.rounding > MPNUM_ROUND_STOCHASTIC || !mpnum_is_mode_(to.rounding, overflow))
    return MPNUM_ERROR_ARGUMENT;
  if (n && (!dst || !src)) return MPNUM_ERROR_NULL;
  if (mpnum_overlaps_in_part_(dst, dst_bits, src, src_bits, n))
    return MPNUM_ERROR_OVERLAP;
  is_plain = dst_bits <= 16 && mpnum_p3109_is_plain_(to, &overflow);
  conversion = mpnum_conversion_of_(src_format, src_bits, to.format, dst_bits, overflow);
  conversion.rounding = to.rounding;
  conversion.seed = seed;
  conversion.offset = offset;
  if (is_plain)
    mpnum_convert_by_(&conversion, 1, mpnum_p3109_each_, dst, src, n);
  else
    mpnum_p3109_all_(&to, &conversion, (uint8_t *)dst, (const uint8_t *)src, n);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

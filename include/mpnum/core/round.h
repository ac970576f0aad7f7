/* SPDX-License-Identifier: MIT */
/* The one encode and the one decode: any format, every rounding mode, integers only, so
 * that no compiler flag, floating-point environment or instruction set takes part in a
 * result.
 *
 * How a value is rounded. A source is written as a fixed-point number: above bit 55 the
 * exponent field of f32, below it 55 bits of mantissa; f32 fits by a shift, f64 after its
 * exponent is moved. Read as one integer, neighbouring exponents join on, so a shift to
 * the right leaves
 *
 *        code of the value truncated          discarded part, as a fraction of the gap
 *     |63 ............................ 32|31 ..................................... 0|
 *
 * and every rounding mode but to-odd is one addition to the fraction whose carry moves
 * the code: 0 truncates, 2^32 - 1 moves all that is inexact, 2^31 - 1 plus the code's
 * last bit is nearest even, 2^31 nearest away, and a random word is stochastic rounding.
 * Codes past the largest finite one then say "overflow". Subnormal results differ only in
 * a longer shift. */
#ifndef MPNUM_CORE_ROUND_H
#define MPNUM_CORE_ROUND_H

#include "format.h"
MPNUM_C_BEGIN_

/* A source value: magnitude as above, or Inf or NaN. */
typedef struct mpnum_source_ {
  uint64_t magnitude;
  uint32_t sign;    /* 0 or 1 */
  uint32_t sticky;  /* 1: nonzero bits were dropped below the magnitude */
  uint32_t payload; /* of a NaN: the mantissa in f32's 23 bits */
  int is_wide;      /* 0: the low half of magnitude is zero (f32) */
  int is_inf;
  int is_nan;
} mpnum_source_;

MPNUM_INLINE mpnum_source_ mpnum_source_f32_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const mpnum_source_ source = {
      (uint64_t)magnitude << 32, bits >> 31, 0,
      magnitude & 0x7fffffu,     0,          magnitude == 0x7f800000u,
      magnitude > 0x7f800000u,
  };
  return source;
}

MPNUM_INLINE mpnum_source_ mpnum_source_f64_(double x) {
  const uint64_t bits = mpnum_bits_f64(x);
  const uint64_t magnitude = bits & 0x7fffffffffffffffu;
  const uint64_t infinity = (uint64_t)0x7ff << 52;
  const int field = (int)(magnitude >> 52);
  const uint64_t mantissa = magnitude & (((uint64_t)1 << 52) - 1);
  uint64_t result = 0;
  uint32_t sticky = 0;
  if (field >= 1023 + 128) { /* 2^128 and above, past every format: 2^128, inexact */
    result = (uint64_t)255 << 55;
    sticky = 1;
  } else if (field > 1023 - 127) { /* 896 = 1023 - 127 */
    result = (magnitude - ((uint64_t)896 << 52)) << 3;
  } else { /* below 2^-126: a subnormal of f32, 3 + 52 mantissa bits deep */
    const uint64_t significand = (mantissa | ((uint64_t)(field > 0) << 52)) << 3;
    const int distance = 897 - field < 63 ? 897 - field : 63;
    result = significand >> distance;
    sticky = (result << distance) != significand;
  }
  {
    const mpnum_source_ source = {
        result,
        (uint32_t)(bits >> 63),
        sticky,
        (uint32_t)(mantissa >> 29),
        1,
        magnitude == infinity,
        magnitude > infinity,
    };
    return source;
  }
}

/* Stochastic rounding by N random bits, for conversions one by one and of arrays, blocks
 * and their launchers. With r the discarded part of the magnitude as a fraction of the
 * gap and R the number that the upper N bits of an element's random word are, it goes
 * away from zero exactly when
 *
 *   'A'   floor(r * 2^N) + R >= 2^N                     N of 1 to 32
 *   'B'   floor(r * 2^(N + 1)) + 2 R + 1 >= 2^(N + 1)   of 1 to 31
 *   'C'   nearest even of r * 2^N, + R >= 2^N           of 1 to 8
 *
 * A of 32 bits is MPNUM_ROUND_STOCHASTIC. Another variant or number of bits gives what is
 * no rounding: functions that return a status return MPNUM_ERROR_ARGUMENT, launchers
 * cudaErrorInvalidValue. B of 32 and C of more bits, which see more of r than 32 bits,
 * have mpnum_encode_stochastic and P3109's projections. Optimizers take 32 bits alone.
 * Source: IEEE P3109 working group, interim report 4.0, "Rounding to precision".
 * Proven in tests/convert/test_stochastic.py. */
MPNUM_INLINE mpnum_rounding mpnum_rounding_stochastic(char variant, int bits) {
  const int most = variant == 'A' ? 32 : variant == 'B' ? 31 : variant == 'C' ? 8 : 0;
  if (bits < 1 || bits > most) return (mpnum_rounding)(MPNUM_ROUND_STOCHASTIC + 1);
  return bits == 32 ? MPNUM_ROUND_STOCHASTIC
                    : (mpnum_rounding)(32 * (variant - 'A' + 1) + bits);
}
/* Whether a rounding is stochastic, and one at all. */
MPNUM_INLINE int mpnum_is_stochastic_(mpnum_rounding rounding) {
  const uint32_t number = (uint32_t)rounding; /* C is 96 and its bits */
  return rounding == MPNUM_ROUND_STOCHASTIC ||
         (number > 32 && number <= 104 && number % 32 != 0);
}
/* The word by which MPNUM_ROUND_STOCHASTIC does what such a rounding does by another one;
 * of that word, itself. An odd R of C does not carry at a tie: one less of 2^-32, which
 * is below all bits of an f32 that has one of the first 9 of the fraction. */
MPNUM_INLINE uint32_t mpnum_random_word_(mpnum_rounding rounding, uint32_t word) {
  const uint32_t variant = (uint32_t)rounding >> 5;
  const uint32_t unused = 32 - (uint32_t)rounding % 32;
  uint32_t kept = word;
  if (variant == 0) return word;
  kept = word >> unused << unused;
  if (variant >= 2) kept |= (uint32_t)1 << (unused - 1);
  return variant == 3 ? kept - (word >> unused & 1) : kept;
}

/* Code and fraction of an f32, for every rounding mode but stochastic and a format whose
 * subnormals end well above f32's. Where the first bit is 9 places or more below the last
 * place of the result, all bits fit the fraction and are far below one half; one such
 * value is as good as another, so the exponent field is kept at or above that point. */
MPNUM_INLINE uint64_t mpnum_align_f32_(mpnum_format format, uint32_t magnitude,
                                       mpnum_rounding rounding) {
  const int min_field = 128 - format.bias; /* f32 exponent field of the smallest normal */
  const int least_field = min_field - 9 - format.mantissa_bits;
  const uint32_t least = (uint32_t)least_field << 23;
  const int moves_any = rounding == MPNUM_ROUND_UP || rounding == MPNUM_ROUND_DOWN ||
                        rounding == MPNUM_ROUND_TO_ODD;
  const uint32_t raised = magnitude < least ? least : magnitude;
  const int field = (int)(raised >> 23);
  const int kept = field < min_field ? field : min_field;
  if (moves_any && magnitude == 0) return 0; /* the other modes take least to 0 as well */
  return (uint64_t)(raised - ((uint32_t)(kept - 1) << 23)) << (kept - least_field);
}

/* Code and fraction of any source; bits below the fraction are folded into its last bit,
 * unless rounding is stochastic, which takes the floor, but for variant C, which has to
 * know a tie. */
MPNUM_INLINE uint64_t mpnum_align_(mpnum_format format, mpnum_source_ source,
                                   mpnum_rounding rounding) {
  const int min_field = 128 - format.bias;
  const int is_stochastic = rounding >= MPNUM_ROUND_STOCHASTIC;
  const int is_floor = is_stochastic && rounding < 96;
  const int has_room = min_field > 9 + format.mantissa_bits;
  uint64_t magnitude = source.magnitude;
  uint64_t aligned = 0;
  uint32_t sticky = source.sticky;
  int shift = 23 - format.mantissa_bits;
  if (!source.is_wide && !is_stochastic && has_room)
    return mpnum_align_f32_(format, (uint32_t)(magnitude >> 32), rounding);
  if (!format.has_zero) {
    /* Code 0 is 2^-127 and nothing is below: under 2^-126 codes count from there. */
    const uint64_t least = (uint64_t)1 << 54;
    if (magnitude < least) sticky = 0;
    magnitude = magnitude < least ? least : magnitude;
    if (magnitude < 2 * least) magnitude = (magnitude - least) * 2;
  }
  if (min_field > 1) {
    /* Take the exponent off, as far as it is below the smallest normal; shift by that. */
    const int source_field = (int)(magnitude >> 55);
    const int exponent = source_field + (source_field == 0);
    const int kept = exponent < min_field ? exponent : min_field;
    magnitude -= (uint64_t)(kept - 1) << 55;
    shift += min_field - kept;
    shift = shift < 63 ? shift : 63;
  }
  aligned = magnitude >> shift;
  if (source.is_wide) sticky |= (aligned << shift) != magnitude;
  return aligned | (is_floor ? 0 : sticky);
}

/* The rounded code, its exponent unbounded. */
MPNUM_INLINE uint32_t mpnum_round_aligned_(uint64_t aligned, uint32_t sign,
                                           mpnum_rounding rounding, uint32_t random) {
  const uint32_t code = (uint32_t)(aligned >> 32);
  uint32_t addend = 0;
  switch (rounding) {
  case MPNUM_ROUND_NEAREST_EVEN: addend = 0x7fffffffu + (code & 1); break;
  case MPNUM_ROUND_TOWARD_ZERO: break;
  case MPNUM_ROUND_UP: addend = sign ? 0 : 0xffffffffu; break;
  case MPNUM_ROUND_DOWN: addend = sign ? 0xffffffffu : 0; break;
  case MPNUM_ROUND_NEAREST_AWAY: addend = 0x80000000u; break;
  case MPNUM_ROUND_TO_ODD: return code | ((uint32_t)aligned != 0);
  case MPNUM_ROUND_STOCHASTIC:
  default: addend = mpnum_random_word_(rounding, random);
  }
  return (uint32_t)((aligned + addend) >> 32);
}

/* Whether mpnum_round_short_ rounds it: on a host, an f32 to nearest even or toward zero,
 * to a format whose subnormals end well above f32's, or which has f32's exponents; both
 * known to the compiler, as one way is less code where they are not. */
MPNUM_INLINE int mpnum_is_short_(mpnum_format format, mpnum_source_ source,
                                 mpnum_rounding rounding) {
  const int min_field = 128 - format.bias;
  return !MPNUM_ON_DEVICE_ && MPNUM_IS_KNOWN_(format.bias) && MPNUM_IS_KNOWN_(rounding) &&
         !source.is_wide && rounding <= MPNUM_ROUND_TOWARD_ZERO && format.has_zero &&
         format.mantissa_bits >= 1 && format.mantissa_bits <= 10 &&
         (min_field == 1 || (min_field > 9 + format.mantissa_bits && min_field <= 253));
}

/* The rounded code, its exponent unbounded, in 32 bits and without a shift by a count
 * that is data, so that a loop around it becomes vectors, of SSE2 too. A subnormal result
 * is aligned by adding the smallest normal, in floats, whose last place is that of the
 * fraction then. Bits below that place are cut off before and come back after, so that
 * the sum is exact: no rounding mode, flushing, flag or trap takes part. */
MPNUM_INLINE uint32_t mpnum_round_short_(mpnum_format format, uint32_t magnitude,
                                         mpnum_rounding rounding) {
  const int min_field = 128 - format.bias;
  const int shift = 23 - format.mantissa_bits;
  uint32_t aligned = magnitude;
  uint32_t addend = 0;
  if (min_field > 1) {
    /* Signed, as SSE2 compares. What is below half of the smallest subnormal rounds to 0,
     * as that half does. */
    const int32_t min_normal = (int32_t)((uint32_t)min_field << 23);
    const int32_t least = min_normal - ((format.mantissa_bits + 1) << 23);
    const int32_t below = (1 << (24 - shift)) - 1;
    const int32_t low = (int32_t)magnitude < min_normal ? (int32_t)magnitude : min_normal;
    const int32_t raised = low < least ? least : low;
    const float sum = mpnum_from_bits_f32((uint32_t)(raised & ~below)) +
                      mpnum_from_bits_f32((uint32_t)min_normal);
    aligned =
        (mpnum_bits_f32(sum) | (uint32_t)(raised & below)) + (magnitude - (uint32_t)low);
    addend = 0u - (uint32_t)min_normal;
  }
  if (rounding == MPNUM_ROUND_NEAREST_EVEN)
    addend += (aligned >> shift & 1) + (((uint32_t)1 << (shift - 1)) - 1);
  return (aligned + addend) >> shift;
}

/* b where is_b is 1, else a, by a mask: of ?: gcc makes a branch around the float that
 * a comes from, and no vectors. */
MPNUM_INLINE uint32_t mpnum_select_(uint32_t is_b, uint32_t b, uint32_t a) {
  return a ^ ((a ^ b) & (0u - is_b));
}

/* 1 if a finite overflow gives the largest finite value rather than Inf. */
MPNUM_INLINE int mpnum_overflows_to_max_(mpnum_rounding rounding, uint32_t sign) {
  return rounding == MPNUM_ROUND_TOWARD_ZERO || rounding == MPNUM_ROUND_TO_ODD ||
         (rounding == MPNUM_ROUND_UP && sign) || (rounding == MPNUM_ROUND_DOWN && !sign);
}

/* Whether NaNs have payloads: those of IEEE 754, not the one that P3109 has for -0. */
MPNUM_INLINE int mpnum_has_payloads_(mpnum_format format) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  return format.inf_code && !(format.nan_code >> sign_shift);
}

/* What stands for a NaN where the format has none; sign is that of the source, in its
 * place. */
MPNUM_INLINE uint32_t mpnum_no_nan_(mpnum_format format, uint32_t sign) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  if (format.nan_policy == MPNUM_NAN_CANONICAL) return format.max_code;
  if (format.nan_policy == MPNUM_NAN_ZERO)
    return sign ^ (uint32_t)format.has_negative_zero << sign_shift;
  return format.max_code | sign;
}

/* The code for a source NaN. */
MPNUM_INLINE uint32_t mpnum_encode_nan_(mpnum_format format, mpnum_source_ source,
                                        uint32_t sign) {
  if (format.nan_code == 0) return mpnum_no_nan_(format, sign);
  if (format.nan_policy == MPNUM_NAN_PAYLOAD && mpnum_has_payloads_(format))
    return sign | format.inf_code | (uint32_t)1 << (format.mantissa_bits - 1) |
           source.payload >> (23 - format.mantissa_bits);
  return format.nan_policy == MPNUM_NAN_CANONICAL ? format.nan_code
                                                  : format.nan_code | sign;
}

MPNUM_INLINE uint32_t mpnum_encode_core_(mpnum_format format, mpnum_source_ source,
                                         mpnum_rounding rounding, mpnum_overflow overflow,
                                         uint32_t random) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const uint32_t negative = source.sign & format.sign_bits;
  const uint32_t sign = negative << sign_shift;
  const uint32_t inf_code = format.inf_code ? format.inf_code : format.nan_code;
  const int saturates = overflow == MPNUM_OVERFLOW_SATURATE || inf_code == 0;
  const uint32_t inf_result = saturates ? format.max_code : inf_code;
  const uint32_t overflow_result =
      mpnum_overflows_to_max_(rounding, negative) ? format.max_code : inf_result;
  const uint32_t magnitude = (uint32_t)(source.magnitude >> 32);
  const int is_short = mpnum_is_short_(format, source, rounding);
  const int is_of_sum = is_short && format.bias != 127; /* code depends on a float */
  uint32_t code = is_short ? mpnum_round_short_(format, magnitude, rounding)
                           : mpnum_round_aligned_(mpnum_align_(format, source, rounding),
                                                  negative, rounding, random);
  code = code > format.max_code ? overflow_result : code;
  if (is_of_sum && inf_result != overflow_result)
    code = mpnum_select_((uint32_t)source.is_inf, inf_result, code);
  else if (inf_result != overflow_result)
    code = source.is_inf ? inf_result : code;
  if (format.has_negative_zero) {
    code |= sign;
  } else {
    code |= code ? sign : 0;
  }
  if (is_of_sum)
    return mpnum_select_((0x7f800000u - magnitude) >> 31,
                         mpnum_encode_nan_(format, source, sign), code);
  code = source.is_nan ? mpnum_encode_nan_(format, source, sign) : code;
  return code << format.storage_shift;
}

/* Rounds x to a format and returns its code.
 * Domain: any format of mpnum_format_of() or mpnum_format_init(); random counts only for
 *   MPNUM_ROUND_STOCHASTIC: away from zero exactly when floor(r * 2^32) + random >= 2^32,
 * r the discarded part of the magnitude as a fraction of the gap; an exact value never
 * moves; and for those of mpnum_rounding_stochastic. Overflow: as mpnum_overflow says;
 * formats without Inf and NaN always saturate. NaN: as the format's nan_policy says.
 * Error: rounded once, from f64 too. Proven in tests/convert/test_conversions.c and
 * tests/convert/sweep.c. */
MPNUM_INLINE uint32_t mpnum_encode(mpnum_format format, float x, mpnum_rounding rounding,
                                   mpnum_overflow overflow, uint32_t random) {
  return mpnum_encode_core_(format, mpnum_source_f32_(x), rounding, overflow, random);
}
MPNUM_INLINE uint32_t mpnum_encode_f64(mpnum_format format, double x,
                                       mpnum_rounding rounding, mpnum_overflow overflow,
                                       uint32_t random) {
  return mpnum_encode_core_(format, mpnum_source_f64_(x), rounding, overflow, random);
}

/* A stored code without storage shift and without bits that are not the format's. A tf32
 * word whose NaN payload is only in the dropped bits stays a NaN. */
MPNUM_INLINE uint32_t mpnum_code_(mpnum_format format, uint32_t stored) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const uint32_t mask = ((uint32_t)2 << (sign_shift - 1 + format.sign_bits)) - 1;
  const uint32_t code = stored >> format.storage_shift & mask;
  if (format.storage_shift) {
    const uint32_t infinity = format.inf_code << format.storage_shift;
    const uint32_t magnitude = stored & 0x7fffffffu;
    if (magnitude > infinity && magnitude >> format.storage_shift == format.inf_code)
      return format.nan_code | (code & (uint32_t)1 << sign_shift);
  }
  return code;
}

MPNUM_INLINE int mpnum_code_isnan_(mpnum_format format, uint32_t code) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const uint32_t magnitude = code & (((uint32_t)1 << sign_shift) - 1);
  if (format.nan_code >> sign_shift) return code == format.nan_code;
  return magnitude > (format.inf_code ? format.inf_code : format.max_code);
}

/* f32 bits of a magnitude code that is finite. */
MPNUM_INLINE uint32_t mpnum_decode_finite_(mpnum_format format, uint32_t magnitude) {
  const int up = 23 - format.mantissa_bits;
  const uint32_t bias = (uint32_t)(127 - format.bias) << 23;
  const int last_place =
      150 - format.bias - format.mantissa_bits; /* of 2^-149, f32's last place */
  if (format.bias == 127) {                     /* the exponents of f32 itself */
    if (!format.has_zero && magnitude == 0) return 0x00400000u; /* 2^-127 */
    return magnitude << up;
  }
  if (magnitude >> format.mantissa_bits) return (magnitude << up) + bias;
  if (magnitude == 0) return 0;
  {
    /* A subnormal: move its leading bit to bit 23, as far as f32's own exponents reach.
     */
    const int lead = mpnum_clz_u32_(magnitude) - 8;
    const int moved = lead < last_place ? lead : last_place;
    return (magnitude << moved) + ((uint32_t)(last_place - moved) << 23);
  }
}

/* f32 bits of a NaN of the format. */
MPNUM_INLINE uint32_t mpnum_decode_nan_(mpnum_format format, uint32_t code) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const uint32_t magnitude = code & (((uint32_t)1 << sign_shift) - 1);
  const uint32_t sign = (code >> sign_shift & format.sign_bits) << 31;
  if (format.nan_policy == MPNUM_NAN_CANONICAL) return 0x7fffffffu;
  if (format.nan_policy == MPNUM_NAN_PAYLOAD && mpnum_has_payloads_(format))
    return sign | 0x7fc00000u | magnitude << (23 - format.mantissa_bits);
  return sign | 0x7fc00000u;
}

/* f32 bits of any code. */
MPNUM_INLINE uint32_t mpnum_decode_code_(mpnum_format format, uint32_t code) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const uint32_t magnitude = code & (((uint32_t)1 << sign_shift) - 1);
  const uint32_t sign = (code >> sign_shift & format.sign_bits) << 31;
  if (mpnum_code_isnan_(format, code)) return mpnum_decode_nan_(format, code);
  if (format.inf_code && magnitude == format.inf_code) return sign | 0x7f800000u;
  return sign | mpnum_decode_finite_(format, magnitude);
}

/* The same of a format whose subnormals are normal floats, without a branch or a count of
 * zeros, so that a loop around it becomes vectors. A subnormal is read as if its exponent
 * were 1, and that 1 is taken off, exactly. */
MPNUM_INLINE uint32_t mpnum_decode_short_(mpnum_format format, uint32_t code) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const int up = 23 - format.mantissa_bits;
  const uint32_t min_normal = (uint32_t)(128 - format.bias) << 23;
  const uint32_t top = code << (31 - sign_shift);
  const uint32_t sign = top & (uint32_t)format.sign_bits << 31;
  const uint32_t magnitude = top << 1 >> (9 - format.exponent_bits); /* in f32's places */
  const int32_t low = (int32_t)magnitude < 0x00800000 ? (int32_t)magnitude : 0x00800000;
  const float difference = mpnum_from_bits_f32((uint32_t)low + min_normal) -
                           mpnum_from_bits_f32(min_normal); /* 0 - 0 may be -0 */
  const uint32_t finite = mpnum_bits_f32(difference) + (magnitude - (uint32_t)low);
  const uint32_t special = format.inf_code && magnitude == format.inf_code << up
                               ? sign | 0x7f800000u
                               : mpnum_decode_nan_(format, code);
  uint32_t is_special = ((format.max_code << up) - magnitude) >> 31;
  if (format.nan_code >> sign_shift) is_special |= code == format.nan_code;
  return mpnum_select_(is_special, special, (finite & 0x7fffffffu) | sign);
}
MPNUM_INLINE uint32_t mpnum_decode_bits_(mpnum_format format, uint32_t stored) {
  const uint32_t code = mpnum_code_(format, stored);
  const int up = 23 - format.mantissa_bits;
  /* bf16 and tf32 are prefixes of f32: Inf and NaN widen like all else, payload kept. */
  if (format.bias == 127 && format.exponent_bits == 8 && mpnum_has_payloads_(format))
    return code << up;
  if (!MPNUM_ON_DEVICE_ && MPNUM_IS_KNOWN_(format.bias) && format.has_zero &&
      format.bias != 127 && format.bias >= -125 &&
      format.bias + format.mantissa_bits <= 127)
    return mpnum_decode_short_(format, code);
  return mpnum_decode_code_(format, code);
}

/* The exact value of a code.
 * NaN: as the format's nan_policy says: 0x7fffffff, the quiet NaN 0x7fc00000 with the
 * sign, or sign and payload kept and made quiet, as the F16C instructions and ggml widen
 * f16. bf16 and tf32, whose codes are the leading bits of an f32, keep all bits. */
MPNUM_INLINE float mpnum_decode(mpnum_format format, uint32_t code) {
  return mpnum_from_bits_f32(mpnum_decode_bits_(format, code));
}

/* f32 to f64, exact, subnormals too, whatever the floating-point environment.
 * NaN: 0x7fffffffffffffff. */
MPNUM_INLINE double mpnum_widen_bits_(uint32_t bits) {
  const uint64_t sign = (uint64_t)(bits >> 31) << 63;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint64_t result =
      ((uint64_t)magnitude << 29) + ((uint64_t)896 << 52); /* 896 = 1023 - 127 */
  if (magnitude < 0x00800000u) {
    const int lead = magnitude ? mpnum_clz_u32_(magnitude) - 8 : 0;
    const uint64_t moved = (uint64_t)magnitude << (lead + 29);
    result = magnitude ? moved + ((uint64_t)(896 - lead) << 52) : 0;
  }
  if (magnitude == 0x7f800000u) result = (uint64_t)0x7ff << 52;
  if (magnitude > 0x7f800000u) return mpnum_from_bits_f64(0x7fffffffffffffffu);
  return mpnum_from_bits_f64(sign | result);
}

/* As mpnum_decode, exact. NaN: 0x7fffffffffffffff in every format. */
MPNUM_INLINE double mpnum_decode_f64(mpnum_format format, uint32_t code) {
  return mpnum_widen_bits_(mpnum_decode_bits_(format, code));
}

MPNUM_C_END_
#endif

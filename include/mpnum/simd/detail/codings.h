/* SPDX-License-Identifier: MIT */
/* Formats as the numbers that loops over arrays keep in registers, and dense codes. */
#ifndef MPNUM_SIMD_DETAIL_CODINGS_H
#define MPNUM_SIMD_DETAIL_CODINGS_H

#include "../../core/detail/config.h"
#include "../../core/detail/environment.h"
#include "../../core/format.h"
#include "../../core/round.h"
#include "../../core/rng.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

# include <stddef.h>

/* Bytes, with zeros behind them up to a size. */
MPNUM_HOST_INLINE_ void mpnum_copy_padded_(uint8_t *dst, const uint8_t *src, size_t bytes,
                                           size_t size) {
  MPNUM_MEMCPY_(dst, src, bytes);
  for (; bytes < size; ++bytes)
    dst[bytes] = 0;
}

/* An element of 64, 32, 16 or 8 bits, at any address. */
MPNUM_HOST_INLINE_ uint64_t mpnum_element_(int bits, const uint8_t *src, size_t i) {
  uint64_t x64 = 0;
  uint32_t x32 = 0;
  uint16_t x16 = 0;
  if (bits == 64) {
    MPNUM_MEMCPY_(&x64, src + 8 * i, 8);
    return x64;
  }
  if (bits == 32) {
    MPNUM_MEMCPY_(&x32, src + 4 * i, 4);
    return x32;
  }
  if (bits == 16) {
    MPNUM_MEMCPY_(&x16, src + 2 * i, 2);
    return x16;
  }
  return src[i];
}
MPNUM_HOST_INLINE_ void mpnum_set_element_(int bits, uint8_t *dst, size_t i, uint32_t x) {
  if (bits == 32) {
    MPNUM_MEMCPY_(dst + 4 * i, &x, 4);
  } else if (bits == 16) {
    const uint16_t x16 = (uint16_t)x;
    MPNUM_MEMCPY_(dst + 2 * i, &x16, 2);
  } else {
    dst[i] = (uint8_t)x;
  }
}

/* Bits of an element in memory: 64, 32, 16, 8; 6 and 4 are dense, little end first. */
typedef struct mpnum_conversion_ {
  mpnum_format src, dst; /* a double is written as a float */
  int src_bits, dst_bits;
  mpnum_rounding rounding;
  mpnum_overflow overflow;
  int is_rounding; /* results are not codes but their values, as floats */
  uint64_t seed, offset;
} mpnum_conversion_;

MPNUM_INLINE mpnum_conversion_ mpnum_conversion_of_(mpnum_format src, int src_bits,
                                                    mpnum_format dst, int dst_bits,
                                                    mpnum_overflow overflow) {
  const mpnum_conversion_ conversion = {
      src, dst, src_bits, dst_bits, MPNUM_ROUND_NEAREST_EVEN, overflow, 0, 0, 0};
  return conversion;
}

/* Elements that a conversion known at run time only takes at a time. */
# define MPNUM_CONVERTED_ 1024

/* The keys of mpnum_random_x4 for counters with the same upper half. As the counter's
 * upper words are 0, one of the two products of each of the first two rounds is the same
 * for all: what becomes of it is part of the keys. */
typedef struct mpnum_random_ {
  uint32_t keys[10][2];
  uint32_t high;
} mpnum_random_;
MPNUM_HOST_COLD_ mpnum_random_ mpnum_random_of_(uint64_t seed, uint64_t index) {
  mpnum_random_ random;
  uint64_t product = 0;
  uint32_t i = 0;
  for (; i < 10; ++i) {
    random.keys[i][0] = (uint32_t)seed + i * 0x9e3779b9u;
    random.keys[i][1] = (uint32_t)(seed >> 32) + i * 0xbb67ae85u;
  }
  random.high = (uint32_t)(index >> 34);
  product = (uint64_t)0xd2511f53u * (random.high ^ random.keys[0][0]);
  random.keys[1][1] ^= (uint32_t)(product >> 32);
  random.keys[2][1] ^= (uint32_t)product;
  return random;
}
/* The words of elements start to start + n - 1, one by one. */
MPNUM_HOST_COLD_ void mpnum_random_few_(uint64_t seed, uint64_t start, uint8_t *dst,
                                        size_t n) {
  size_t i = 0;
  for (; i < n; ++i) {
    const uint32_t word = mpnum_random(seed, start + i);
    MPNUM_MEMCPY_(dst + 4 * i, &word, 4);
  }
}
/* Words as a rounding by fewer bits has them, two at a time: no lane borrows or carries,
 * and a bit of the upper one that comes down is masked. */
MPNUM_HOST void mpnum_random_by_rounding_(mpnum_rounding rounding, uint8_t *words,
                                          size_t n) {
  const uint64_t both = ((uint64_t)1 << 32) + 1;
  const int unused = 32 - (int)((uint32_t)rounding % 32);
  const uint64_t middle = mpnum_random_word_(rounding, 0) * both;
  const uint64_t kept = (0xffffffffu << unused) * both;
  const uint64_t odd = rounding > 96 ? both : 0;
  uint64_t two = 0;
  uint32_t one = 0;
  size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    MPNUM_MEMCPY_(&two, words + 4 * i, 8);
    two = (two & kept) + middle - (two >> unused & odd);
    MPNUM_MEMCPY_(words + 4 * i, &two, 8);
  }
  if (i == n) return;
  MPNUM_MEMCPY_(&one, words + 4 * i, 4);
  one = mpnum_random_word_(rounding, one);
  MPNUM_MEMCPY_(words + 4 * i, &one, 4);
}

/* Bytes that n elements take; dense ones come in groups of two in a byte and four in
 * three. */
MPNUM_INLINE size_t mpnum_bytes_(int bits, size_t n) {
  if (bits == 4) return n / 2 + n % 2;
  if (bits == 6) return (n / 4 + (n % 4 != 0)) * 3;
  return n * (size_t)(bits / 8);
}

/* Bytes from the first to the last element of rows; 0 if there are too many. */
MPNUM_HOST size_t mpnum_extent_(size_t rows, size_t columns, size_t stride, int bits) {
  const size_t most = (size_t)-1 / 16 / (size_t)(bits < 8 ? 8 : bits);
  const int is_small_product = (rows | stride) >> (4 * sizeof most - 8) == 0;
  if (!is_small_product && stride && rows > most / stride) return 0;
  return mpnum_bytes_(bits, (rows - 1) * stride + columns);
}

/* Bits of a type in memory; 0 for an unknown one. */
MPNUM_INLINE int mpnum_type_bits_(mpnum_type type) {
  switch (type) {
  case MPNUM_TYPE_F64: return 64;
  case MPNUM_TYPE_F32: return 32;
# define MPNUM_BITS_CASE_(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                          specials, nan)                                             \
 case MPNUM_TYPE_##NAME:                                                             \
  return (sign_bits) + (exponent_bits) + (mantissa_bits) > 16  ? 32                  \
         : (sign_bits) + (exponent_bits) + (mantissa_bits) > 8 ? 16                  \
                                                               : 8;
    MPNUM_FORMATS(MPNUM_BITS_CASE_)
    MPNUM_SCALE_FORMATS_(MPNUM_BITS_CASE_)
# undef MPNUM_BITS_CASE_
  default: return 0;
  }
}
/* The same of a format; 0 for none. */
MPNUM_INLINE int mpnum_format_bits_(mpnum_format format) {
  const int width = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  if (!format.max_code) return 0;
  return width > 16 ? 32 : width > 8 ? 16 : 8;
}
/* The format of a type known at run time only: a table, once. */
MPNUM_HOST void mpnum_find_format_(mpnum_format *format, mpnum_type type) {
  *format = mpnum_format_of(type);
}
MPNUM_HOST void mpnum_format_or_f32_(mpnum_format *format, mpnum_type type) {
  mpnum_find_format_(format, type == MPNUM_TYPE_F64 ? MPNUM_TYPE_F32 : type);
}
MPNUM_INLINE int mpnum_is_mode_(mpnum_rounding rounding, mpnum_overflow overflow) {
  return ((uint32_t)rounding < MPNUM_ROUND_STOCHASTIC ||
          mpnum_is_stochastic_(rounding)) &&
         (int)overflow >= 0 && overflow <= MPNUM_OVERFLOW_SATURATE;
}
/* 1 if what rounds past the largest value, and Inf, gives the largest value. */
MPNUM_INLINE int mpnum_saturates_(mpnum_format format, mpnum_overflow overflow) {
  return overflow == MPNUM_OVERFLOW_SATURATE || (format.inf_code | format.nan_code) == 0;
}
/* Whether nearest_magnitude of vector.inc serves: the sums there are far below Inf, their
 * low bits even. */
MPNUM_INLINE int mpnum_has_nearest_magnitude_(mpnum_format format,
                                              mpnum_rounding rounding) {
  const int max_field =
      (int)(format.max_code >> format.mantissa_bits) + 127 - format.bias;
  return rounding == MPNUM_ROUND_NEAREST_EVEN && format.bias < 100 &&
         format.mantissa_bits >= 1 && max_field < 220 && !format.storage_shift;
}
/* Whether encode_byte_blocks serves. */
MPNUM_INLINE int mpnum_has_byte_blocks_(mpnum_format format, mpnum_rounding rounding,
                                        mpnum_overflow overflow) {
  const uint32_t inf_code = format.inf_code ? format.inf_code : format.nan_code;
  return mpnum_has_nearest_magnitude_(format, rounding) &&
         format.nan_policy == MPNUM_NAN_CANONICAL &&
         (mpnum_saturates_(format, overflow) || inf_code == format.max_code + 1);
}
/* The leading bits of f32: bf16, tf32. */
MPNUM_INLINE int mpnum_is_prefix_(mpnum_format format) {
  return format.bias == 127 && format.exponent_bits == 8 && format.sign_bits &&
         mpnum_has_payloads_(format) && format.nan_policy == MPNUM_NAN_CANONICAL;
}
/* Whether to-nearest, truncating and stochastic loops that keep those bits serve. */
MPNUM_INLINE int mpnum_has_prefix_loop_(const mpnum_conversion_ *conversion) {
  const mpnum_format dst = conversion->dst;
  const int up = 23 - dst.mantissa_bits;
  return mpnum_is_prefix_(dst) && dst.has_zero && dst.has_negative_zero && up > 0 &&
         (conversion->rounding == MPNUM_ROUND_NEAREST_EVEN ||
          conversion->rounding == MPNUM_ROUND_TOWARD_ZERO ||
          mpnum_is_stochastic_(conversion->rounding)) &&
         (conversion->is_rounding || (conversion->dst_bits == 16 && up == 16) ||
          (conversion->dst_bits == 32 && dst.storage_shift == up));
}
MPNUM_INLINE int mpnum_is_f16_(mpnum_format format) {
  return format.exponent_bits == 5 && format.mantissa_bits == 10 && format.bias == 15 &&
         format.inf_code == 0x7c00 && format.sign_bits;
}
/* f16 whose NaNs an instruction widens, or that are made canonical after it. */
MPNUM_INLINE int mpnum_is_widened_(mpnum_format format) {
  return mpnum_is_f16_(format) && (format.nan_policy == MPNUM_NAN_CANONICAL ||
                                   format.nan_policy == MPNUM_NAN_PAYLOAD);
}

/* A format of 16 bits and fewer for which nearest_magnitude serves, and an overflow, as
 * numbers that a loop keeps in registers. */
typedef struct mpnum_encoding_ {
  uint32_t limit;     /* the magnitude that larger ones count as */
  uint32_t min_power; /* the smallest normal value, as the bits of a float */
  uint32_t low;       /* added to a power of two */
  float scale;        /* 2^-up */
  int up;             /* bits of a float's mantissa that the format has not */
  int sign_right;     /* of 8 bits and fewer: from the top bit to the sign */
  int has_negative_zero;
  int has_sign;        /* without it has none of these */
  uint32_t nan_result; /* a code */
  mpnum_overflow overflow;
  int dst_bits, src_bits;
  mpnum_type src_type;
  int has_loop; /* of a type: the loop for those of its kind serves */
} mpnum_encoding_;
MPNUM_INLINE mpnum_encoding_ mpnum_encoding_of_(mpnum_format format,
                                                mpnum_overflow overflow) {
  const uint32_t past = (uint32_t)!mpnum_saturates_(format, overflow);
  const uint32_t min_field = (uint32_t)(128 - format.bias);
  mpnum_encoding_ encoding = {0, 0, 0, 0, 0, 0, 0, 0, 0, overflow, 0, 32, MPNUM_TYPE_F32,
                              1};
  encoding.limit = mpnum_decode_finite_(format, format.max_code + past);
  encoding.min_power = min_field << 23;
  encoding.up = 23 - format.mantissa_bits;
  encoding.low = (0u - (min_field << format.mantissa_bits)) & 0xffff;
  encoding.scale = mpnum_pow2_(-encoding.up);
  encoding.sign_right =
      8 - format.sign_bits - format.exponent_bits - format.mantissa_bits;
  encoding.has_negative_zero = format.has_negative_zero;
  encoding.has_sign = format.sign_bits;
  encoding.nan_result = format.nan_code ? format.nan_code : format.max_code;
  return encoding;
}

/* The same for formats that are the leading bits of f32, results as floats. */
MPNUM_INLINE mpnum_encoding_ mpnum_prefix_encoding_of_(mpnum_format format,
                                                       mpnum_overflow overflow) {
  mpnum_encoding_ encoding = {0, 0, 0, 0, 0, 0, 0, 0, 0, overflow, 0, 32, MPNUM_TYPE_F32,
                              1};
  encoding.up = 23 - format.mantissa_bits;
  encoding.limit = format.max_code << encoding.up;
  encoding.nan_result = format.nan_code << encoding.up;
  return encoding;
}

/* The same for e8m0; its limit is a code. */
MPNUM_INLINE mpnum_encoding_ mpnum_e8m0_encoding_of_(mpnum_format format,
                                                     mpnum_overflow overflow) {
  mpnum_encoding_ encoding = {0, 0, 0, 0, 0, 0, 0, 0, 0, overflow, 0, 32, MPNUM_TYPE_F32,
                              1};
  encoding.limit = mpnum_saturates_(format, overflow) ? format.max_code : format.nan_code;
  encoding.nan_result = format.nan_code;
  return encoding;
}

MPNUM_INLINE mpnum_encoding_ mpnum_encoding_of_type_(mpnum_type type, int dst_bits,
                                                     mpnum_overflow overflow) {
  const mpnum_format format = mpnum_format_of(type);
  mpnum_encoding_ encoding =
      mpnum_is_prefix_(format)  ? mpnum_prefix_encoding_of_(format, overflow)
      : type == MPNUM_TYPE_E8M0 ? mpnum_e8m0_encoding_of_(format, overflow)
                                : mpnum_encoding_of_(format, overflow);
  encoding.has_loop = mpnum_is_prefix_(format) || type == MPNUM_TYPE_E8M0 ||
                      mpnum_has_byte_blocks_(format, MPNUM_ROUND_NEAREST_EVEN, overflow);
  encoding.dst_bits = dst_bits;
  return encoding;
}

/* Whether f16 and bf16 have codes by integers of 16 bits: what is normal in dst is normal
 * in src, which has more bits of mantissa; and no number of dst is above the Inf of f16.
 */
MPNUM_INLINE int mpnum_has_u16_(const mpnum_encoding_ *encoding) {
  const int is_f16 = encoding->src_type == MPNUM_TYPE_F16;
  return (int)(encoding->min_power >> 23) - 127 + (is_f16 ? 15 : 127) >= 1 &&
         23 - encoding->up < (is_f16 ? 10 : 7) &&
         (!is_f16 || encoding->limit <= 0x47800000u); /* 2^16 */
}

/* How codes of 8 bits and fewer become floats. */
typedef enum mpnum_table_ { /* for instructions that look bytes up, of all floats of */
                            MPNUM_NO_TABLE_,
                            MPNUM_TABLE_OF_16_, /* codes */
                            MPNUM_TABLE_OF_32_, /* magnitudes, none special, below a sign
                                                 */
                            MPNUM_TABLE_OF_128_ /* the same, with Inf and NaN */
} mpnum_table_;
typedef struct mpnum_decoding_ {
  int src_bits;
  mpnum_table_ table;
  int is_short_f16; /* the upper halves of f16, e5m2 */
  int left;         /* shifts to the top of a byte, */
  int right;        /* and from there to an f16 code, a power of two away, */
  uint16_t mask;    /* which has these bits */
  float scale;      /* that power, 2^(15 - bias) */
  /* Special is a code whose bits ones, flipped where flipped has a bit, are a number,
   * with a sign, above last_code; and a float, where they are above last. */
  uint32_t ones, flipped, last_code, last;
  uint32_t infinity; /* the special float that is Inf; others are NaN */
  int last_number;   /* as last_code, but of Inf, too */
  /* Of loops to 16 bits: to f16, not bf16; the largest value there, as a float, if Inf is
   * to become it, else 0. */
  int is_to_f16;
  uint32_t max_of_infinity;
} mpnum_decoding_;
MPNUM_INLINE int mpnum_is_short_f16_(mpnum_format format) {
  return format.exponent_bits == 5 && format.mantissa_bits == 2 && format.bias == 15 &&
         format.inf_code == 0x7c && format.sign_bits;
}
/* Whether decode_byte_blocks serves: what is no number is a number of f16 like the others
 * or is no number of f16 either; the power of two and all results are normal floats, and
 * NaN is the codes above the others or that of -0, not both. */
MPNUM_INLINE int mpnum_has_byte_decoding_(mpnum_format format) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  return format.max_code && format.sign_bits + sign_shift <= 8 && format.has_zero &&
         format.nan_policy == MPNUM_NAN_CANONICAL &&
         (mpnum_is_short_f16_(format) ||
          (format.exponent_bits <= 4 && format.bias >= 15 - 127 &&
           format.bias + format.mantissa_bits <= 127 &&
           !(format.inf_code && format.nan_code >> sign_shift)));
}
MPNUM_INLINE mpnum_table_ mpnum_table_of_(mpnum_format format) {
  const int width = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  if (width <= 4) return MPNUM_TABLE_OF_16_;
  if (!format.sign_bits) return MPNUM_NO_TABLE_;
  if (width == 8) return MPNUM_TABLE_OF_128_;
  return width <= 6 && !format.nan_code ? MPNUM_TABLE_OF_32_ : MPNUM_NO_TABLE_;
}
/* Of a format for which that holds. */
MPNUM_INLINE mpnum_decoding_ mpnum_decoding_of_(mpnum_format format, int src_bits) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const int is_short_f16 = mpnum_is_short_f16_(format);
  mpnum_decoding_ decoding = {0,    MPNUM_NO_TABLE_, 0, 0,    0, 0, 0, 0x7fffffffu, 0,
                              0x7f, 0x7fffffffu,     0, 0x7f, 0, 0};
  decoding.src_bits = src_bits;
  decoding.table = mpnum_table_of_(format);
  decoding.is_short_f16 = is_short_f16;
  decoding.left = 8 - format.sign_bits - sign_shift;
  decoding.right = 6 - format.sign_bits - format.exponent_bits;
  decoding.mask =
      (uint16_t)((uint32_t)format.sign_bits << 15 | (((uint32_t)1 << sign_shift) - 1)
                                                        << (10 - format.mantissa_bits));
  decoding.scale = mpnum_pow2_(15 - format.bias);
  decoding.infinity = 0xffffffffu;     /* is none */
  if (format.nan_code >> sign_shift) { /* -0, the only one in the lowest place */
    decoding.ones = decoding.flipped = 0xffffffffu;
    decoding.last_code = decoding.left ? 0x80 : 0x7e; /* the float alone tells */
    decoding.last = 0x7ffffffeu;
  } else if (format.nan_code && !is_short_f16) {
    decoding.last_code = format.max_code;
    decoding.last = mpnum_decode_finite_(format, format.max_code);
    if (format.inf_code)
      decoding.infinity = mpnum_decode_finite_(format, format.inf_code);
  }
  decoding.last_number = (int)(format.inf_code ? format.inf_code : decoding.last_code);
  return decoding;
}
/* Both of formats known at run time only. */
MPNUM_HOST_ONCE_ void mpnum_find_encoding_(mpnum_encoding_ *encoding,
                                           const mpnum_format *format, int dst_bits,
                                           mpnum_overflow overflow) {
  *encoding = mpnum_encoding_of_(*format, overflow);
  encoding->dst_bits = dst_bits;
}
MPNUM_HOST_ONCE_ void mpnum_find_decoding_(mpnum_decoding_ *decoding,
                                           const mpnum_format *format, int src_bits) {
  *decoding = mpnum_decoding_of_(*format, src_bits);
}

/* Any format, rounding and overflow as numbers. */
typedef struct mpnum_any_encoding_ {
  mpnum_encoding_ nearest; /* where nearest_magnitude serves, less past of its code */
  int has_nearest;
  uint32_t past;
  int is_stochastic, is_toward_zero;
  /* Whether cut_magnitude serves, and for which: 0, and from least to most. */
  int has_cut;
  uint32_t least, most;
  int has_zero;
  uint32_t min_field; /* the smallest normal value's exponent field in f32, 1 and up */
  uint32_t right;     /* bits of the mantissa cut off there, and the field */
  /* What is added to the fraction cut off, of 32 bits: these bits flipped where the
   * source is negative, and 1 more where the code is odd. What a carry does to the code.
   */
  uint32_t added, flipped, odd, carry, set;
  uint32_t below_half; /* in place, where min_field is 1 */
  uint32_t max_code, over_plus, over_minus, inf_result; /* past the largest; for Inf */
  int sign_right;
  uint32_t sign_bit, signed_zero;              /* of codes that may have it; of 0 */
  uint32_t nan_signs, nan_number, nan_payload; /* NaN: sign, changed, and payload kept */
  int nan_right, storage_shift;
} mpnum_any_encoding_;
MPNUM_HOST_COLD_ mpnum_any_encoding_ mpnum_any_encoding_of_(mpnum_format format,
                                                            mpnum_rounding rounding,
                                                            mpnum_overflow overflow) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const int saturates = mpnum_saturates_(format, overflow);
  const uint32_t inf_code = format.inf_code ? format.inf_code : format.nan_code;
  const uint32_t inf_result = saturates ? format.max_code : inf_code;
  const int is_up = rounding == MPNUM_ROUND_UP, is_down = rounding == MPNUM_ROUND_DOWN;
  const int is_nearest = rounding == MPNUM_ROUND_NEAREST_EVEN;
  const int is_to_odd = rounding == MPNUM_ROUND_TO_ODD;
  const int has_payload =
      format.nan_policy == MPNUM_NAN_PAYLOAD && mpnum_has_payloads_(format);
  mpnum_any_encoding_ any;
  any.has_nearest = mpnum_has_nearest_magnitude_(format, rounding);
  mpnum_find_encoding_(&any.nearest, &format, 0, overflow);
  any.past = any.nearest.low >> any.nearest.up;
  any.is_stochastic = mpnum_is_stochastic_(rounding);
  any.is_toward_zero = rounding == MPNUM_ROUND_TOWARD_ZERO;
  any.has_zero = format.has_zero;
  any.min_field = (uint32_t)(128 - format.bias);
  any.right = (uint32_t)(23 - format.mantissa_bits) + any.min_field;
  /* 0 is shifted out; sums do not carry out of 32 bits. */
  any.has_cut = (any.is_stochastic || any.is_toward_zero) && format.has_zero &&
                any.min_field > 1 && any.right > 32 && format.max_code != 0;
  any.least = any.is_stochastic ? (any.right - 31) << 23 : 0;
  any.most = any.has_cut ? mpnum_decode_finite_(format, format.max_code) : 0;
  any.added = is_nearest                             ? 0x7fffffffu
              : rounding == MPNUM_ROUND_NEAREST_AWAY ? 0x80000000u
              : is_up || is_to_odd                   ? 0xffffffffu
                                                     : 0;
  any.flipped = (is_up || is_down) && format.sign_bits ? 0xffffffffu : 0;
  any.odd = (uint32_t)is_nearest;
  any.carry = (uint32_t)!is_to_odd;
  any.set = (uint32_t)is_to_odd;
  any.below_half = ((uint32_t)1 << (22 - format.mantissa_bits)) - 1;
  any.max_code = format.max_code;
  any.inf_result = inf_result;
  any.over_plus = mpnum_overflows_to_max_(rounding, 0) ? format.max_code : inf_result;
  any.over_minus =
      mpnum_overflows_to_max_(rounding, format.sign_bits) ? format.max_code : inf_result;
  any.sign_right = 32 - format.sign_bits - sign_shift;
  any.sign_bit = (uint32_t)format.sign_bits << sign_shift;
  any.signed_zero = format.has_negative_zero ? any.sign_bit : 0;
  any.nan_payload = has_payload ? 0x7fffffu : 0;
  any.nan_right = 23 - format.mantissa_bits;
  any.nan_signs = format.nan_policy == MPNUM_NAN_CANONICAL ? 0 : any.sign_bit;
  any.nan_number = format.nan_code;
  if (!format.nan_code) any.nan_number = mpnum_no_nan_(format, 0);
  if (has_payload)
    any.nan_number = format.inf_code | (uint32_t)1 << (format.mantissa_bits - 1);
  if (format.nan_code >> sign_shift) any.nan_signs = 0;
  any.storage_shift = format.storage_shift;
  return any;
}

/* A format for which nearest_magnitude serves, to round floats to its values. */
typedef struct mpnum_nearest_value_ {
  uint32_t limit, max, min_normal, up, signs;
  int has_negative_zero;
  uint32_t over, over_signs, nan_result;
} mpnum_nearest_value_;
MPNUM_HOST_COLD_ mpnum_nearest_value_ mpnum_nearest_value_of_(mpnum_format format,
                                                              mpnum_overflow overflow) {
  const mpnum_encoding_ encoding = mpnum_encoding_of_(format, overflow);
  mpnum_nearest_value_ nearest;
  nearest.limit = encoding.limit;
  nearest.max = mpnum_decode_finite_(format, format.max_code);
  nearest.min_normal = encoding.min_power;
  nearest.up = (uint32_t)encoding.up << 23;
  nearest.signs = (uint32_t)format.sign_bits << 31;
  nearest.has_negative_zero = format.has_negative_zero;
  nearest.nan_result = format.nan_code ? 0x7fffffffu : nearest.max;
  nearest.over = format.inf_code ? 0x7f800000u : nearest.nan_result;
  nearest.over_signs = format.inf_code ? 0x80000000u : 0;
  return nearest;
}

/* Codes of any format as numbers to make floats with. */
typedef struct mpnum_any_decoding_ {
  int storage_shift, sign_left, up;
  uint32_t sign_bit, ones;
  int is_prefix;
  uint32_t low_nan; /* of a prefix */
  int is_power;     /* floats but for a zero, which may be another number */
  uint32_t zero;
  uint32_t min_normal, to_normal; /* below, integers times the last place */
  float last_place;
  uint32_t inf_code, last, nan_code; /* NaN is above the last one, or that code */
  uint32_t nan_number, nan_signs, nan_payload;
} mpnum_any_decoding_;
MPNUM_HOST_COLD_ mpnum_any_decoding_ mpnum_any_decoding_of_(mpnum_format format) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const int is_canonical = format.nan_policy == MPNUM_NAN_CANONICAL;
  const int has_payload =
      format.nan_policy == MPNUM_NAN_PAYLOAD && mpnum_has_payloads_(format);
  mpnum_any_decoding_ any;
  any.storage_shift = format.storage_shift;
  any.sign_left = 31 - sign_shift;
  any.up = 23 - format.mantissa_bits;
  any.sign_bit = (uint32_t)format.sign_bits << sign_shift;
  any.ones = ((uint32_t)1 << sign_shift) - 1;
  any.is_prefix =
      format.bias == 127 && format.exponent_bits == 8 && mpnum_has_payloads_(format);
  any.low_nan = format.nan_code << any.up;
  any.is_power = format.bias == 127 && !any.is_prefix;
  any.zero = format.has_zero ? 0 : 0x00400000u;
  any.min_normal = any.is_prefix ? 0 : (uint32_t)1 << format.mantissa_bits;
  any.to_normal = (uint32_t)(127 - format.bias) << 23;
  any.last_place =
      any.is_prefix ? 0 : mpnum_pow2_(1 - format.bias - format.mantissa_bits);
  any.inf_code = format.inf_code ? format.inf_code : 0xffffffffu;
  any.last = format.inf_code ? format.inf_code : format.max_code;
  any.nan_code = format.nan_code >> sign_shift ? format.nan_code : 0;
  if (any.nan_code) any.last = any.ones;
  any.nan_number = is_canonical ? 0x7fffffffu : 0x7fc00000u;
  any.nan_signs = is_canonical ? 0 : 0x80000000u;
  any.nan_payload = has_payload && !is_canonical ? 0x7fffffu : 0;
  return any;
}

/* Elements of any type as floats, and codes or values of floats, of any rounding: what
 * the loops of conversions known at run time only have to know. */
typedef enum mpnum_load_kind_ {
  MPNUM_LOAD_F64_,     /* rounded to odd */
  MPNUM_LOAD_F32_,     /* as they are */
  MPNUM_LOAD_F16_,     /* by an instruction */
  MPNUM_LOAD_PAYLOAD_, /* the same, NaNs as they are */
  MPNUM_LOAD_BF16_,    /* or any other upper halves */
  MPNUM_LOAD_CODES_    /* by their decoding */
} mpnum_load_kind_;
typedef struct mpnum_loading_ {
  mpnum_load_kind_ kind;
  int bits;
  mpnum_any_decoding_ decoding;
} mpnum_loading_;
MPNUM_HOST_COLD_ mpnum_loading_ mpnum_loading_of_(mpnum_format format, int bits) {
  mpnum_loading_ loading;
  loading.bits = bits;
  loading.decoding = mpnum_any_decoding_of_(format);
  loading.kind = MPNUM_LOAD_CODES_;
  if (bits == 64) {
    loading.kind = MPNUM_LOAD_F64_;
  } else if (bits == 16 && mpnum_is_widened_(format)) {
    loading.kind =
        format.nan_policy == MPNUM_NAN_PAYLOAD ? MPNUM_LOAD_PAYLOAD_ : MPNUM_LOAD_F16_;
  } else if (bits == 16 && loading.decoding.is_prefix && loading.decoding.up == 16 &&
             loading.decoding.sign_bit != 0 && loading.decoding.storage_shift == 0) {
    loading.kind = MPNUM_LOAD_BF16_;
  } else if (format.mantissa_bits == 23) {
    loading.kind = MPNUM_LOAD_F32_;
  }
  return loading;
}

typedef struct mpnum_rounder_ {
  mpnum_any_encoding_ any;
  mpnum_any_decoding_ back; /* of values; the next ones where there is such a loop */
  mpnum_encoding_ prefix;
  mpnum_nearest_value_ nearest;
  mpnum_rounding rounding;
  int dst_bits;
} mpnum_rounder_;
MPNUM_INLINE int mpnum_has_nearest_value_(const mpnum_conversion_ *conversion) {
  return conversion->is_rounding && conversion->dst.nan_policy == MPNUM_NAN_CANONICAL &&
         mpnum_has_nearest_magnitude_(conversion->dst, conversion->rounding);
}
MPNUM_HOST_COLD_ void mpnum_rounder_of_(mpnum_rounder_ *rounder,
                                        const mpnum_conversion_ *conversion) {
  rounder->any =
      mpnum_any_encoding_of_(conversion->dst, conversion->rounding, conversion->overflow);
  rounder->rounding = conversion->rounding;
  rounder->dst_bits = conversion->dst_bits;
}

/* A code in all places of a word. */
MPNUM_HOST_INLINE_ uint32_t mpnum_repeated_(int bits, uint32_t code) {
  return code * (bits == 8 ? 0x01010101u : bits == 16 ? 0x00010001u : 1u);
}

/* Eight codes, one in each byte, and the same in 4 or 6 bits each. */
MPNUM_INLINE uint64_t mpnum_pack_x8_(int bits, uint64_t x) {
  if (bits == 4) {
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (x | x >> 16) & 0xffffffffu;
  }
  x = (x & 0x003f003f003f003fu) | (x & 0x3f003f003f003f00u) >> 2;
  x = (x & 0x00000fff00000fffu) | (x & 0x0fff00000fff0000u) >> 4;
  return (x & 0xffffffu) | (x & 0x00ffffff00000000u) >> 8;
}
MPNUM_INLINE uint64_t mpnum_unpack_x8_(int bits, uint64_t x) {
  if (bits == 4) {
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    return (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  }
  x = (x & 0xffffffu) | (x & 0xffffff000000u) << 8;
  x = (x & 0x00000fff00000fffu) | (x & 0x00fff00000fff000u) << 4;
  return (x & 0x003f003f003f003fu) | (x & 0x0fc00fc00fc00fc0u) << 2;
}

/* n codes, a multiple of 8, one in each byte, to bits each and back. (Written so that
 * compilers see one load and one store.) */
MPNUM_HOST_INLINE_ uint64_t mpnum_load_x8_(const uint8_t *src) {
  return (uint64_t)src[0] | (uint64_t)src[1] << 8 | (uint64_t)src[2] << 16 |
         (uint64_t)src[3] << 24 | (uint64_t)src[4] << 32 | (uint64_t)src[5] << 40 |
         (uint64_t)src[6] << 48 | (uint64_t)src[7] << 56;
}
MPNUM_HOST_INLINE_ void mpnum_store_x8_(uint8_t *dst, uint64_t x, int count) {
  dst[0] = (uint8_t)x;
  dst[1] = (uint8_t)(x >> 8);
  dst[2] = (uint8_t)(x >> 16);
  dst[3] = (uint8_t)(x >> 24);
  if (count == 4) return;
  dst[4] = (uint8_t)(x >> 32);
  dst[5] = (uint8_t)(x >> 40);
  if (count == 6) return;
  dst[6] = (uint8_t)(x >> 48);
  dst[7] = (uint8_t)(x >> 56);
}
MPNUM_HOST_ONCE_ void mpnum_pack_(int bits, uint8_t *dst, const uint8_t *src, size_t n) {
  size_t i = 0;
  for (; i < n; i += 8)
    mpnum_store_x8_(dst + i / 8 * (size_t)bits,
                    mpnum_pack_x8_(bits, mpnum_load_x8_(src + i)), bits);
}
MPNUM_HOST_ONCE_ void mpnum_unpack_(int bits, uint8_t *dst, const uint8_t *src,
                                    size_t n) {
  size_t i = 0;
  for (; i < n; i += 8) {
    const uint8_t *at = src + i / 8 * (size_t)bits;
    uint64_t x = (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
                 (uint64_t)at[3] << 24;
    if (bits == 6) x |= (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40;
    mpnum_store_x8_(dst + i, mpnum_unpack_x8_(bits, x), 8);
  }
}

#endif
MPNUM_C_END_
#endif

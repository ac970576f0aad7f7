/* SPDX-License-Identifier: MIT */
/* The slow reference for conversions: what the library must give, found another way.
 *
 * A value is rounded by searching the sorted list of everything the format can hold and
 * comparing with the two neighbours and the point halfway between them. All of it is
 * integer work on the bits of doubles: nothing here depends on the floating-point
 * environment or on the compiler's idea of floating point.
 *
 * Why doubles suffice. A finite value of any format here is n * 2^k with n < 2^24, and
 * the point halfway between neighbours is (2n + 1) * 2^(k - 1), so 25 significant bits
 * hold both. Exponents stay within f32's range widened by a few hundred, far inside the
 * normal range of a double. So every value and every midpoint is a normal double or zero,
 * with no rounding, and non-negative doubles order as their bit patterns do.
 */
#ifndef MPNUM_TESTS_REFERENCE_H
#define MPNUM_TESTS_REFERENCE_H

#include <stdint.h>

typedef enum ref_rounding {
  REF_NEAREST_EVEN,
  REF_TOWARD_ZERO,
  REF_UP,
  REF_DOWN,
  REF_NEAREST_AWAY,
  REF_TO_ODD,
  REF_STOCHASTIC,
  REF_ROUNDINGS
} ref_rounding;

typedef enum ref_overflow { REF_IEEE, REF_SATURATE, REF_OVERFLOWS } ref_overflow;

typedef enum ref_specials {
  REF_SPECIALS_IEEE,   /* top exponent: Inf and NaNs */
  REF_SPECIALS_FN,     /* all ones is the NaN of either sign, no Inf */
  REF_SPECIALS_FNUZ,   /* the code of -0 is the only NaN, no Inf */
  REF_SPECIALS_FINITE, /* every code is a number */
  REF_SPECIALS_P3109,  /* the code of -0 is the only NaN, all ones is Inf */
  REF_SPECIALS_E8M0,   /* as FN, without zero and subnormals */
  REF_SPECIALS
} ref_specials;

typedef struct ref_format {
  const char *name;
  int sign_bits, exponent_bits, mantissa_bits, bias;
  int storage_shift;      /* how far the code sits above bit 0 of its word (tf32: 13) */
  uint32_t max_code;      /* largest finite magnitude */
  uint32_t infinity_code; /* 0: the format has none */
  uint32_t nan_code;      /* the NaN that conversions give, 0: the format has none */
  int has_zero;           /* 0: the lowest exponent is as any other: no subnormals */
  int has_negative_zero;
  int keeps_payload; /* a NaN widens to f32 as a prefix of its bits */
  const uint64_t
      *table; /* bits of the double equal to each code 0..max_code + 1, or null */
} ref_format;

/* Where a non-negative magnitude lies among the values of a format. One past max_code
 * stands for the value that would follow if the exponent had no bound. */
typedef struct ref_bracket {
  uint32_t low;      /* largest code whose value does not exceed it */
  int exact;         /* it equals that value, or lies past the value after max */
  int side;          /* -1, 0, 1: below, at, above the midpoint to the next value */
  uint32_t fraction; /* floor(2^32 * distance from low / gap) */
} ref_bracket;

/* The formats by name ("f16", ..., "e2m1", and "f32"); null for another name. The first
 * call for a format builds its table and is not to be raced. */
const ref_format *ref_format_named(const char *name);
/* A format of the caller's own, without a table. */
ref_format ref_format_make(int sign_bits, int exponent_bits, int mantissa_bits, int bias,
                           ref_specials specials);

/* Bits of the double equal to a magnitude code in 0..max_code + 1, and to the point
 * halfway between it and the next code. */
uint64_t ref_value(const ref_format *format, uint32_t code);
uint64_t ref_midpoint(const ref_format *format, uint32_t code);

/* Source and result are bit patterns; a float source is widened by ref_widen first. */
ref_bracket ref_locate(const ref_format *format, uint64_t magnitude);
/* The fraction for any source magnitude, NaN and Inf included (0). */
uint32_t ref_fraction(const ref_format *format, uint64_t magnitude);
uint32_t ref_encode(const ref_format *format, uint64_t source, ref_rounding rounding,
                    ref_overflow overflow, uint32_t random);
uint64_t ref_decode(const ref_format *format, uint32_t code);
uint32_t ref_decode_f32(const ref_format *format, uint32_t code);
int ref_is_nan(const ref_format *format, uint32_t code);

/* f32 bits to f64 bits, NaN payload and quiet bit kept. */
uint64_t ref_widen(uint32_t f32);
/* f64 bits to f32 bits where the value is an f32; 0 returned where it is not. */
int ref_narrow(uint64_t f64, uint32_t *f32);

#endif

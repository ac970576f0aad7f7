/* SPDX-License-Identifier: MIT */
/* Stochastic rounding by a few random bits, as processors do it and as P3109 writes it.
 */
#ifndef MPNUM_CORE_STOCHASTIC_H
#define MPNUM_CORE_STOCHASTIC_H

#include "round.h"
MPNUM_C_BEGIN_

/* The part of a source below the last place of its code, as a fraction of the gap, in 64
 * bits; what is below them is folded into the last. */
MPNUM_INLINE uint64_t mpnum_discarded_(mpnum_format format, mpnum_source_ source) {
  const uint64_t least = (uint64_t)1 << 54; /* 2^-127, code 0 of a format without zero */
  const int min_field = 128 - format.bias;
  uint64_t magnitude = source.magnitude;
  uint32_t sticky = source.sticky;
  int shift = 23 - format.mantissa_bits; /* and 32 below the code */
  if (!format.has_zero && magnitude < 2 * least) {
    if (magnitude < least) return 0; /* it is code 0, whatever the bits */
    magnitude = (magnitude - least) * 2;
  }
  if (min_field > 1) {
    const int field = (int)(magnitude >> 55);
    const int exponent = field + (field == 0);
    const int kept = exponent < min_field ? exponent : min_field;
    magnitude -= (uint64_t)(kept - 1) << 55;
    shift += min_field - kept;
  }
  if (shift <= 32) return magnitude << (32 - shift) | sticky;
  shift = shift < 95 ? shift - 32 : 63;
  sticky |= (magnitude >> shift << shift) != magnitude;
  return magnitude >> shift | sticky;
}

/* 1 if the bits move a value away from zero of which this was discarded. All variants
 * are sums that carry out of 64 bits: B's last bit is a half more, and so is C's, but
 * for a tie that goes to an even number and there does not carry. */
MPNUM_INLINE int mpnum_moves_(uint64_t discarded, char variant, int bits,
                              uint32_t random) {
  const int count = bits < 1 ? 1 : bits > 32 ? 32 : bits;
  uint64_t addend = (uint64_t)random << (64 - count);
  if (variant == 'B' || variant == 'C') addend |= (uint64_t)1 << (63 - count);
  if (variant == 'C') addend -= random & 1;
  return discarded + addend < discarded;
}

MPNUM_INLINE uint32_t mpnum_encode_stochastic_core_(mpnum_format format,
                                                    mpnum_source_ source, char variant,
                                                    int bits, mpnum_overflow overflow,
                                                    uint32_t random) {
  const mpnum_rounding away =
      source.sign & format.sign_bits ? MPNUM_ROUND_DOWN : MPNUM_ROUND_UP;
  if (mpnum_moves_(mpnum_discarded_(format, source), variant, bits, random))
    return mpnum_encode_core_(format, source, away, overflow, 0);
  return mpnum_encode_core_(format, source, MPNUM_ROUND_STOCHASTIC, overflow, 0);
}

/* mpnum_encode with stochastic rounding by so many random bits, the low ones of random.
 * With r the discarded part of the magnitude as a fraction of the gap and R the number
 * that the N bits are, it goes away from zero exactly when
 *
 *   'A'   floor(r * 2^N) + R >= 2^N                 as likely as r cut to N bits
 *   'B'   floor(r * 2^(N + 1)) + 2 R + 1 >= 2^(N + 1)   rounded, ties up
 *   'C'   nearest even of r * 2^N, + R >= 2^N       rounded, ties to even
 *
 * MPNUM_ROUND_STOCHASTIC is A of 32 bits. An exact value never moves. Overflow as in
 * MPNUM_ROUND_STOCHASTIC, the exponent unbounded while rounding.
 * Domain: as mpnum_encode; variant 'A', 'B' or 'C', others are A; 1 to 32 bits, others
 * are the nearest of these. One gap: B and C of 32 bits to subnormals of f32 (from f64)
 * do not see the 33rd bit of r. Proven in tests/convert/test_stochastic.py.
 * Source: IEEE P3109 working group, interim report 4.0, "Rounding to precision";
 * Fitzgibbon, Felix, "On stochastic rounding with few random bits", ARITH 2025. */
MPNUM_INLINE uint32_t mpnum_encode_stochastic(mpnum_format format, float x, char variant,
                                              int bits, mpnum_overflow overflow,
                                              uint32_t random) {
  return mpnum_encode_stochastic_core_(format, mpnum_source_f32_(x), variant, bits,
                                       overflow, random);
}
MPNUM_INLINE uint32_t mpnum_encode_stochastic_f64(mpnum_format format, double x,
                                                  char variant, int bits,
                                                  mpnum_overflow overflow,
                                                  uint32_t random) {
  return mpnum_encode_stochastic_core_(format, mpnum_source_f64_(x), variant, bits,
                                       overflow, random);
}

MPNUM_C_END_
#endif

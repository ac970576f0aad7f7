/* SPDX-License-Identifier: MIT */
/* The core as functions of numbers alone, which prove.py reads as the compiler leaves
 * them. */
#include <mpnum/core/detail/config.h>
#ifdef PROOF_KNOWN /* the ways for what a compiler knows, of every format and rounding \
                    */
# undef MPNUM_IS_KNOWN_
# define MPNUM_IS_KNOWN_(value) 1
#endif
#include <mpnum/types/preset.h>

#ifndef PROOF_BITS
# define PROOF_BITS 16 /* of a format that a user may make */
#endif
#define FORMAT int s, int e, int m, int bias, int specials, uint32_t nan, uint32_t policy
#define RULES  uint32_t rounding, uint32_t overflow, uint32_t random

/* A user's format, or that of the table where it cannot be one. */
static inline mpnum_format make(FORMAT) {
  const int width = s + e + m;
  const mpnum_type type = width == 32   ? MPNUM_TYPE_F32
                          : width == 19 ? MPNUM_TYPE_TF32
                                        : MPNUM_TYPE_E8M0;
  mpnum_format format = mpnum_format_of(type);
  if (width <= PROOF_BITS && specials != MPNUM_SPECIALS_E8M0 &&
      mpnum_format_init(&format, s, e, m, bias, (mpnum_specials)specials))
    format.max_code = 0; /* is never asked for */
  if (width > 16 && width <= PROOF_BITS) format.storage_shift = 0; /* the code itself */
  format.nan_code = nan;
  format.nan_policy = (uint8_t)policy;
  return format;
}

uint32_t format_status(int s, int e, int m, int bias, int specials) {
  mpnum_format format;
  return (uint32_t)mpnum_format_init(&format, s, e, m, bias, (mpnum_specials)specials);
}

/* The NaN of a format that the library accepts. */
uint32_t format_nan(int s, int e, int m, int bias, int specials) {
  mpnum_format format = mpnum_format_of(MPNUM_TYPE_E8M0);
  if (mpnum_format_init(&format, s, e, m, bias, (mpnum_specials)specials)) return 0;
  return format.nan_code;
}

uint32_t encode_f32(FORMAT, uint32_t x, RULES) {
  return mpnum_encode(make(s, e, m, bias, specials, nan, policy), mpnum_from_bits_f32(x),
                      (mpnum_rounding)rounding, (mpnum_overflow)overflow, random);
}

uint32_t encode_f64(FORMAT, uint64_t x, RULES) {
  return mpnum_encode_f64(make(s, e, m, bias, specials, nan, policy),
                          mpnum_from_bits_f64(x), (mpnum_rounding)rounding,
                          (mpnum_overflow)overflow, random);
}

/* Code and fraction, of which stochastic rounding makes a code. */
uint64_t aligned_f32(FORMAT, uint32_t x) {
  return mpnum_align_(make(s, e, m, bias, specials, nan, policy),
                      mpnum_source_f32_(mpnum_from_bits_f32(x)), MPNUM_ROUND_STOCHASTIC);
}
uint64_t aligned_f64(FORMAT, uint64_t x) {
  return mpnum_align_(make(s, e, m, bias, specials, nan, policy),
                      mpnum_source_f64_(mpnum_from_bits_f64(x)), MPNUM_ROUND_STOCHASTIC);
}

uint32_t decode(FORMAT, uint32_t stored) {
  return mpnum_decode_bits_(make(s, e, m, bias, specials, nan, policy), stored);
}

uint64_t widen(uint32_t x) { return mpnum_bits_f64(mpnum_widen_bits_(x)); }

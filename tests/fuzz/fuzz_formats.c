/* SPDX-License-Identifier: MIT */
/* Conversions and queries of a format of any kind, one of the table or of a caller's own,
 * against the slow reference: floats and doubles at codes, at midpoints and anywhere, by
 * each rounding, stochastic by a few bits, too, overflow rule and policy for NaN; those
 * of the table by the functions with their names, too. */
#include "../convert/conversion_types.h"
#include "../convert/user_formats.h"
#include "fuzz_bytes.h"

#include <math.h>
#include <mpnum/core/stochastic.h>

static mpnum_format format;
static ref_format reference;
static const conversion_type *named; /* its functions, or null */

/* Widths that are far out have no reference, and none is made. */
static int has_reference(const user_format *user) {
  return (user->sign_bits == 0 || user->sign_bits == 1) && user->exponent_bits > 0 &&
         user->exponent_bits <= 8 && user->mantissa_bits >= 0 &&
         user->mantissa_bits < 16 && user->bias >= -900 && user->bias <= 900;
}

static int take_user_format(fuzz_bytes *from) {
  user_format user;
  mpnum_format before;
  user.sign_bits = (int)take_below(from, 4) - 1;
  user.exponent_bits = (int)take_below(from, 11) - 1;
  user.mantissa_bits = (int)take_below(from, 18) - 1;
  user.bias = (int)(int16_t)take(from, 2);
  if (user.bias % 2 != 0 && user.exponent_bits > 0) /* from the usual one */
    user.bias = (1 << (user.exponent_bits - 1)) - 1 + user.bias / 2 % 32;
  user.specials = (ref_specials)take_below(from, REF_SPECIALS);
  memset(&format, 0x33, sizeof format);
  before = format;
  const int is_made = make(&format, &user) == MPNUM_OK;
  demand(is_made == (has_reference(&user) && is_possible(&user)));
  if (is_made) reference = reference_of(&user);
  if (!is_made) demand(memcmp(&format, &before, sizeof format) == 0);
  return is_made;
}

static int take_format(fuzz_bytes *from) {
  const uint32_t kind = take_below(from, 32);
  named = NULL;
  if (kind < MPNUM_TYPE_F32 || kind > MPNUM_TYPE_UE4M3) return take_user_format(from);
  format = mpnum_format_of((mpnum_type)kind);
  reference = *ref_format_named(mpnum_type_name((mpnum_type)kind));
  for (size_t i = 0; i < CONVERSION_TYPES; ++i)
    if ((uint32_t)conversion_types[i].type == kind) named = &conversion_types[i];
  return 1;
}

static uint32_t sign_of_codes(void) {
  return reference.sign_bits
             ? UINT32_C(1) << (reference.exponent_bits + reference.mantissa_bits)
             : 0;
}

/* What format.h says of each policy. payload: of the source, as in a float. */
static uint32_t wanted_nan(int negative, uint32_t payload) {
  const uint32_t sign = negative ? sign_of_codes() : 0, nan = reference.nan_code;
  uint32_t code = nan | sign;
  if (format.nan_policy == MPNUM_NAN_CANONICAL) {
    code = nan ? nan : reference.max_code;
  } else if (nan == 0 && format.nan_policy == MPNUM_NAN_ZERO) {
    code = sign_of_codes() ^ sign;
  } else if (nan == 0) {
    code = reference.max_code | sign;
  } else if (format.nan_policy == MPNUM_NAN_PAYLOAD && reference.infinity_code &&
             nan != sign_of_codes()) {
    code = reference.infinity_code | sign | UINT32_C(1) << (reference.mantissa_bits - 1) |
           payload >> (23 - reference.mantissa_bits);
  }
  return code << reference.storage_shift;
}

/* By the functions of one format, whose NaN is the canonical one. */
static void check_named(uint64_t source, int is_f32, uint32_t f32, ref_rounding rounding,
                        ref_overflow overflow, uint32_t random, uint32_t want) {
  const mpnum_rounding mode = (mpnum_rounding)rounding;
  const mpnum_overflow rule = (mpnum_overflow)overflow;
  const double x = double_of(source);
  from_f64_function *const from_f64 = named->from_f64[rounding][overflow];
  from_f32_function *const from_f32 = named->from_f32[rounding][overflow];
  demand(named->round_f64(x, mode, rule, random) == want);
  if (from_f64) demand(from_f64(x, random) == want);
  if (!is_f32) return;
  if (named->round_f32)
    demand(named->round_f32(float_of(f32), mode, rule, random) == want);
  if (from_f32) demand(from_f32(float_of(f32), random) == want);
}

static void check_encode(uint64_t source, int is_f32, uint32_t f32, ref_rounding rounding,
                         ref_overflow overflow, uint32_t random) {
  const uint64_t magnitude = source & (UINT64_MAX >> 1);
  const int is_nan = magnitude > UINT64_C(0x7ff0000000000000);
  const uint32_t want =
      is_nan ? wanted_nan((int)(source >> 63), (uint32_t)(source >> 29) & 0x7fffff)
             : ref_encode(&reference, source, rounding, overflow, random);
  const mpnum_rounding mode = (mpnum_rounding)rounding; /* numbered alike */
  const mpnum_overflow rule = (mpnum_overflow)overflow;
  const uint32_t wide = mpnum_encode_f64(format, double_of(source), mode, rule, random);
  demand(wide == want);
  if (is_f32) demand(mpnum_encode(format, float_of(f32), mode, rule, random) == want);
  if (named && (format.nan_policy == MPNUM_NAN_CANONICAL || !is_nan))
    check_named(source, is_f32, f32, rounding, overflow, random, want);
}

/* By the upper bits of random, so many as count says, 0 for as many as make a tie. With
 * their half put behind them they are the word of 32 bits that variant B takes, and C but
 * for ties, without it A's. */
static void check_few_bits(uint64_t source, int is_f32, uint32_t f32, char variant,
                           int count, ref_overflow overflow, uint32_t random) {
  const uint64_t magnitude = source & (UINT64_MAX >> 1);
  const uint32_t part = ref_fraction(&reference, magnitude);
  const mpnum_overflow rule = (mpnum_overflow)overflow;
  uint32_t half, bits, word, want;
  int may_tie;
  if (count == 0)
    for (count = 31; count > 1 && !(part >> (31 - count) & 1);)
      --count;
  half = count < 32 ? UINT32_C(1) << (31 - count) : 0;
  may_tie = half && (part & (2 * half - 1)) == half;
  bits = random >> (32 - count);
  word = bits << (32 - count);
  if (half) bits |= random << count; /* which is not looked at */
  if (magnitude > UINT64_C(0x7ff0000000000000) || (variant != 'A' && !half)) return;
  /* The last bit of 32 is that of a float above the subnormals of the format. */
  if (variant == 'C' && may_tie &&
      !(is_f32 && ref_locate(&reference, magnitude).low >> reference.mantissa_bits))
    return;
  if (variant == 'B' || (variant == 'C' && (!may_tie || part & (2 * half)))) word |= half;
  want = ref_encode(&reference, source, REF_STOCHASTIC, overflow, word);
  demand(mpnum_encode_stochastic_f64(format, double_of(source), variant, count, rule,
                                     bits) == want);
  if (is_f32)
    demand(mpnum_encode_stochastic(format, float_of(f32), variant, count, rule, bits) ==
           want);
  if (variant == 'C' && count > 8) return;
  demand(mpnum_encode_f64(format, double_of(source),
                          mpnum_rounding_stochastic(variant, count), rule,
                          random) == want);
}

static void take_source(fuzz_bytes *from, uint32_t kind) {
  const uint32_t how = (uint32_t)take(from, 1);
  const ref_rounding rounding = (ref_rounding)(how % REF_ROUNDINGS);
  const ref_overflow overflow = (ref_overflow)(how / REF_ROUNDINGS % REF_OVERFLOWS);
  uint32_t f32 = 0, random;
  uint64_t source;
  int is_f32 = 0;
  format.nan_policy = (uint8_t)(how / (REF_ROUNDINGS * REF_OVERFLOWS) % 4);
  if (kind == 0) {
    f32 = (uint32_t)take(from, 4);
    source = ref_widen(f32);
    is_f32 = 1;
  } else if (kind == 1) {
    source = take(from, 8);
    is_f32 = ref_narrow(source, &f32);
  } else { /* near a code, or the middle of two: steps of doubles, or of floats */
    const uint32_t code =
        take_below(from, reference.max_code > 0xffff ? UINT32_MAX : 0x10000) %
        (reference.max_code + 2);
    const uint64_t steps = (uint64_t)(int8_t)take(from, 1);
    source = kind & 1 ? ref_midpoint(&reference, code) : ref_value(&reference, code);
    is_f32 = (kind & 2) && ref_narrow(source, &f32);
    f32 += (uint32_t)steps;
    source = is_f32 ? ref_widen(f32) : source + steps;
    if (take(from, 1) & 1) {
      source ^= UINT64_C(1) << 63;
      f32 ^= UINT32_C(1) << 31;
    }
  }
  random = (uint32_t)take(from, 4);
  if (how & 0x80) random -= ref_fraction(&reference, source & (UINT64_MAX >> 1));
  check_encode(source, is_f32, f32, rounding, overflow, random);
  if (rounding == REF_STOCHASTIC) {
    const uint32_t bits = (uint32_t)take(from, 1);
    check_few_bits(source, is_f32, f32, "ABCC"[bits / 32 % 4],
                   bits / 32 % 4 < 3 ? 1 + (int)(bits % 32) : 0, overflow, random);
  }
}

static uint32_t magnitude_of(uint32_t word) {
  const uint32_t bits = (uint32_t)(reference.exponent_bits + reference.mantissa_bits);
  return word >> reference.storage_shift & ((UINT32_C(1) << bits) - 1);
}
/* In codes from zero; there is one zero. */
static int64_t place_of(uint32_t word) {
  const int64_t magnitude = magnitude_of(word);
  return word >> reference.storage_shift & sign_of_codes() ? -magnitude : magnitude;
}
static void check_next(uint32_t word, uint32_t next, int step) {
  const int64_t top =
      reference.infinity_code ? reference.infinity_code : reference.max_code;
  const int64_t bottom = reference.sign_bits ? -top : 0;
  int64_t want = place_of(word) + step;
  if (ref_is_nan(&reference, word)) {
    demand(next == reference.nan_code << reference.storage_shift);
    return;
  }
  if (want > top) want = top;
  if (want < bottom) want = bottom;
  demand(!ref_is_nan(&reference, next) && place_of(next) == want);
}

/* A number of that magnitude, or Inf or NaN: its class, and the gap to the next one. */
static void check_class(uint32_t stored, uint32_t magnitude, int is_number) {
  const uint32_t min_code =
      reference.has_zero ? UINT32_C(1) << reference.mantissa_bits : 0;
  const int is_zero = is_number && reference.has_zero && magnitude == 0;
  demand(mpnum_iszero(format, stored) == is_zero);
  demand(mpnum_isnormal(format, stored) == (is_number && magnitude >= min_code));
  demand(mpnum_issubnormal(format, stored) ==
         (is_number && !is_zero && magnitude < min_code));
  if (is_number)
    demand((double)mpnum_ulp(format, stored) ==
           double_of(ref_value(&reference, magnitude + 1)) -
               double_of(ref_value(&reference, magnitude)));
}
/* The limits, as float.h has them. */
static void check_limits(void) {
  const uint32_t min_code =
      reference.has_zero ? UINT32_C(1) << reference.mantissa_bits : 0;
  const double max = double_of(ref_value(&reference, reference.max_code));
  const double min = double_of(ref_value(&reference, min_code));
  const double true_min = double_of(ref_value(&reference, (uint32_t)reference.has_zero));
  int exponent, digits = 0;
  demand((double)mpnum_format_max(format) == max);
  demand((double)mpnum_format_min(format) == min);
  demand((double)mpnum_format_true_min(format) == true_min);
  demand((double)mpnum_format_epsilon(format) == ldexp(1, -reference.mantissa_bits));
  demand(mpnum_format_mant_dig(format) == reference.mantissa_bits + 1);
  (void)frexp(min, &exponent);
  demand(mpnum_format_min_exp(format) == exponent);
  (void)frexp(max, &exponent);
  demand(mpnum_format_max_exp(format) == exponent);
  for (double power = 10; power <= ldexp(1, reference.mantissa_bits); power *= 10)
    ++digits;
  demand(mpnum_format_dig(format) == digits);
}

static void check_decode(uint32_t stored, uint32_t word) {
  const uint32_t sign = sign_of_codes() << reference.storage_shift;
  const int is_nan = ref_is_nan(&reference, word);
  const int is_inf =
      reference.infinity_code && magnitude_of(word) == reference.infinity_code;
  const uint32_t f32 = bits_of_float(mpnum_decode(format, stored));
  if (format.nan_policy == MPNUM_NAN_CANONICAL || !is_nan) {
    demand(f32 == ref_decode_f32(&reference, word));
    demand(bits_of_double(mpnum_decode_f64(format, stored)) ==
           ref_decode(&reference, word));
  } else {
    demand((f32 & 0x7fffffff) > 0x7f800000);
  }
  if (named) {
    demand(bits_of_float(named->to_f32(word)) == ref_decode_f32(&reference, word));
    demand(bits_of_double(named->to_f64(word)) == ref_decode(&reference, word));
  }
  check_class(stored, magnitude_of(word), !is_inf && !is_nan);
  demand(mpnum_isnan(format, stored) == is_nan);
  demand(mpnum_isinf(format, stored) == (is_inf && !is_nan));
  demand(mpnum_isfinite(format, stored) == (!is_inf && !is_nan));
  if (!is_nan) demand(mpnum_signbit(format, stored) == ((word & sign) != 0));
  check_next(word, mpnum_next_up(format, stored), 1);
  check_next(word, mpnum_next_down(format, stored), -1);
}
/* A word without the bits that a format does not have. */
static uint32_t code_in(uint32_t stored) {
  const int width = reference.sign_bits + reference.exponent_bits +
                    reference.mantissa_bits + reference.storage_shift;
  return width < 32 ? stored & ((UINT32_C(1) << width) - 1) : stored;
}
/* -NaN < -Inf < ... < -0 < 0 < ... < Inf < NaN; a NaN that is -0 elsewhere is the last.
 */
static int64_t total_place(uint32_t word) {
  const int is_negative = (word >> reference.storage_shift & sign_of_codes()) != 0;
  if (ref_is_nan(&reference, word) && magnitude_of(word) == 0) return INT64_MAX;
  return is_negative ? -1 - (int64_t)magnitude_of(word) : magnitude_of(word);
}
static void take_codes(fuzz_bytes *from) {
  const uint32_t dropped = (UINT32_C(1) << reference.storage_shift) - 1;
  const uint32_t a = (uint32_t)take(from, 4) & ~dropped;
  const uint32_t b = (uint32_t)take(from, 4) & ~dropped;
  const int64_t distance = place_of(code_in(a)) - place_of(code_in(b));
  const int is_unordered =
      ref_is_nan(&reference, code_in(a)) || ref_is_nan(&reference, code_in(b));
  format.nan_policy = (uint8_t)take_below(from, 4);
  check_decode(a, code_in(a));
  check_decode(b, code_in(b));
  demand(mpnum_compare(format, a, b) ==
         (is_unordered ? MPNUM_UNORDERED : (distance > 0) - (distance < 0)));
  demand(mpnum_total_order(format, a, b) ==
         (total_place(code_in(a)) > total_place(code_in(b))) -
             (total_place(code_in(a)) < total_place(code_in(b))));
  demand(mpnum_ulp_distance(format, a, b) ==
         (is_unordered ? UINT32_MAX : (uint32_t)(distance < 0 ? -distance : distance)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes from = {data, size};
  if (!take_format(&from)) return 0;
  check_limits();
  while (from.left > 0) {
    const uint32_t kind = (uint32_t)take(&from, 1) % 8;
    if (kind < 6)
      take_source(&from, kind);
    else
      take_codes(&from);
  }
  return 0;
}

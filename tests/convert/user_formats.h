/* SPDX-License-Identifier: MIT */
/* Formats of a caller's own: their numbers, and what mpnum_format_init promises of them.
 */
#ifndef MPNUM_TESTS_USER_FORMATS_H
#define MPNUM_TESTS_USER_FORMATS_H

#include "../reference/reference.h"

#include <mpnum/types/preset.h>

typedef struct user_format {
  int sign_bits, exponent_bits, mantissa_bits, bias;
  ref_specials specials;
} user_format;

static const mpnum_specials library_specials[REF_SPECIALS] = {
    MPNUM_SPECIALS_IEEE,   MPNUM_SPECIALS_FN,    MPNUM_SPECIALS_FNUZ,
    MPNUM_SPECIALS_FINITE, MPNUM_SPECIALS_P3109, MPNUM_SPECIALS_E8M0};

static inline mpnum_status make(mpnum_format *format, const user_format *user) {
  return mpnum_format_init(format, user->sign_bits, user->exponent_bits,
                           user->mantissa_bits, user->bias,
                           library_specials[user->specials]);
}

static inline ref_format reference_of(const user_format *user) {
  return ref_format_make(user->sign_bits, user->exponent_bits, user->mantissa_bits,
                         user->bias, user->specials);
}

/* What mpnum_format_init promises to make: 2 to 16 bits, a normal number, room for the
 * specials, every value a float and every normal one a normal float. If the least normal
 * is one, and the subnormal gap and the largest value are floats, all between are: no
 * significand is longer than 16 bits. */
static inline int is_possible(const user_format *user) {
  const ref_format reference = reference_of(user);
  const int magnitude_bits = user->exponent_bits + user->mantissa_bits;
  const uint32_t normal = UINT32_C(1) << user->mantissa_bits;
  uint32_t least = 0, least_normal = 0, largest = 0;
  if (user->sign_bits + magnitude_bits < 2 || user->sign_bits + magnitude_bits > 16)
    return 0;
  if (user->specials == REF_SPECIALS_E8M0) return 0;
  if (user->specials == REF_SPECIALS_IEEE &&
      (user->exponent_bits < 2 || user->mantissa_bits < 1))
    return 0;
  if ((user->specials == REF_SPECIALS_FNUZ || user->specials == REF_SPECIALS_P3109) &&
      !user->sign_bits)
    return 0;
  if (normal > reference.max_code) return 0;
  return ref_narrow(ref_value(&reference, 1), &least) &&
         ref_narrow(ref_value(&reference, normal), &least_normal) &&
         ref_narrow(ref_value(&reference, reference.max_code), &largest) &&
         least_normal >= UINT32_C(0x00800000);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Formats of the caller's own, through mpnum_format_init: some hundreds drawn at random,
 * against the slow reference. */
#include "../reference/conversion_inputs.h"
#include "conversion_types.h"
#include "user_formats.h"
#include "../harness/samples.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const specials_words[REF_SPECIALS] = {"IEEE",   "FN",    "FNUZ",
                                                         "FINITE", "P3109", "E8M0"};

static ref_specials specials;
static uint64_t state = 5;

static int below(int bound) { return (int)(random_bits(&state) % (uint64_t)bound); }

/* Mostly narrow formats, a quarter without a sign, the bias the usual one or up to 20
 * from it.
 */
static user_format draw(void) {
  user_format user;
  user.sign_bits = below(4) != 0;
  user.exponent_bits = 1 + below(8);
  user.mantissa_bits = below(17 - user.exponent_bits - user.sign_bits);
  if (user.mantissa_bits > 8 && below(2)) user.mantissa_bits = below(5);
  user.bias = (1 << (user.exponent_bits - 1)) - 1;
  if (below(3)) user.bias += below(41) - 20;
  user.specials = specials;
  return user;
}

static void describe(const user_format *user, const char *what, uint64_t source,
                     uint32_t got, uint32_t want) {
  tap_error(__FILE__, __LINE__,
            "%d.%d.%d bias %d %s: %s of %016" PRIx64 ": got %" PRIx32 ", want %" PRIx32,
            user->sign_bits, user->exponent_bits, user->mantissa_bits, user->bias,
            specials_words[user->specials], what, source, got, want);
}

/* One source in both signs, in a rounding and overflow rule of chance. */
static void check_source(const user_format *user, const ref_format *reference,
                         mpnum_format format, uint64_t magnitude, int is_f32) {
  const int rounding = below(REF_ROUNDINGS), overflow = below(REF_OVERFLOWS);
  const uint64_t wide = is_f32 ? ref_widen((uint32_t)magnitude) : magnitude;
  /* Near the threshold, on either side, or any word. */
  const uint32_t random = below(2)
                              ? 0u - ref_fraction(reference, wide) - (uint32_t)below(2)
                              : (uint32_t)random_bits(&state);
  for (uint64_t sign = 0; sign < 2; ++sign) {
    const uint64_t source = wide | sign << 63;
    const uint32_t want = ref_encode(reference, source, (ref_rounding)rounding,
                                     (ref_overflow)overflow, random);
    const uint32_t got =
        is_f32 ? mpnum_encode(format, float_of((uint32_t)(magnitude | sign << 31)),
                              roundings[rounding], overflows[overflow], random)
               : mpnum_encode_f64(format, double_of(source), roundings[rounding],
                                  overflows[overflow], random);
    if (got != want) describe(user, is_f32 ? "f32" : "f64", source, got, want);
  }
}

static void check_codes(const user_format *user, const ref_format *reference,
                        mpnum_format format) {
  const uint32_t codes = UINT32_C(1)
                         << (user->sign_bits + user->exponent_bits + user->mantissa_bits);
  for (uint32_t code = 0; code < codes; ++code) {
    const uint64_t wide = ref_decode(reference, code);
    const uint32_t narrow = ref_decode_f32(reference, code);
    const uint32_t f32 = bits_of_float(mpnum_decode(format, code));
    if (bits_of_double(mpnum_decode_f64(format, code)) != wide)
      describe(user, "decode to f64", code, 0, (uint32_t)(wide >> 32));
    if (f32 != narrow) describe(user, "decode to f32", code, f32, narrow);
  }
}

static void check_format(const user_format *user, const ref_format *reference,
                         mpnum_format format) {
  input_list f32, f64;
  collect_inputs(reference, 200, &f32, &f64);
  for (size_t i = 0; i < f32.count; ++i)
    check_source(user, reference, format, f32.bits[i], 1);
  for (size_t i = 0; i < f64.count; ++i)
    check_source(user, reference, format, f64.bits[i], 0);
  free(f32.bits);
  free(f64.bits);
  check_codes(user, reference, format);
}

static void formats_convert_as_the_reference(void) {
  int made = 0;
  while (made < samples(40)) {
    const user_format user = draw();
    const ref_format reference = reference_of(&user);
    mpnum_format format;
    if (!is_possible(&user)) continue;
    if (make(&format, &user) != MPNUM_OK) {
      describe(&user, "mpnum_format_init", 0, 0, 0);
      return;
    }
    ++made;
    check_format(&user, &reference, format);
  }
}

/* Which have no functions of their own, and so no row in test_conversions.c. */
static void scale_types_convert_as_the_reference(void) {
  static const struct {
    mpnum_type type;
    user_format user;
  } rows[] = {{MPNUM_TYPE_UE5M3, {0, 5, 3, 15, REF_SPECIALS_FN}},
              {MPNUM_TYPE_UE4M3, {0, 4, 3, 7, REF_SPECIALS_FN}}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    const ref_format *reference = ref_format_named(mpnum_type_name(rows[i].type));
    const mpnum_format format = mpnum_format_of(rows[i].type);
    specials = REF_SPECIALS_FN;
    for (int k = 0; k < 20; ++k)
      check_format(&rows[i].user, reference, format);
  }
  CHECK(bits_of_float(mpnum_decode(mpnum_format_of(MPNUM_TYPE_UE4M3), 0xb8)) ==
            0x3f800000,
        "the bit above a code of ue4m3");
}

/* mpnum_format_init must refuse, and leave dst alone. */
static void check_refused(const user_format *user, const char *why) {
  mpnum_format format = mpnum_format_of(MPNUM_TYPE_E5M2FNUZ);
  CHECK(make(&format, user) != MPNUM_OK, "%s: made", why);
  CHECK(format.sign_bits == 1 && format.exponent_bits == 5 && format.mantissa_bits == 2 &&
            format.bias == 16 && format.max_code == 0x7f && format.inf_code == 0 &&
            format.nan_code == 0x80 && format.storage_shift == 0 && format.has_zero &&
            !format.has_negative_zero && format.nan_policy == MPNUM_NAN_CANONICAL,
        "%s: dst changed", why);
}

static void impossible_formats_are_refused(void) {
  static const struct {
    const char *why;
    user_format user;
  } impossible[] = {
      {"17 bits", {1, 8, 8, 127, REF_SPECIALS_IEEE}},
      {"9 bits of exponent", {1, 9, 3, 127, REF_SPECIALS_IEEE}},
      {"no exponent", {1, 0, 3, 0, REF_SPECIALS_FINITE}},
      {"negative mantissa", {1, 4, -1, 7, REF_SPECIALS_FINITE}},
      {"two signs", {2, 4, 3, 7, REF_SPECIALS_FN}},
      {"negative sign", {-1, 4, 3, 7, REF_SPECIALS_FN}},
      {"NaN in -0 without a sign", {0, 4, 4, 7, REF_SPECIALS_FNUZ}},
      {"no mantissa to tell NaN from Inf", {1, 4, 0, 7, REF_SPECIALS_IEEE}},
      {"max above f32's", {1, 8, 7, 120, REF_SPECIALS_IEEE}},
      {"least below f32's", {1, 8, 7, 150, REF_SPECIALS_IEEE}},
      {"far above", {1, 4, 3, -1000, REF_SPECIALS_FN}},
      {"far below", {1, 4, 3, 1000, REF_SPECIALS_FN}},
      {"past int16_t", {1, 4, 3, 65536 + 7, REF_SPECIALS_FN}},
  };
  mpnum_format format;
  for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; ++i)
    check_refused(&impossible[i].user, impossible[i].why);
  CHECK(mpnum_format_init(&format, 1, 4, 3, 7, (mpnum_specials)77) != MPNUM_OK,
        "specials 77");
}

/* Made exactly when possible: small formats of each kind, biases up to and past f32's
 * range. */
static void formats_are_made_when_possible(void) {
  for (int i = 0; i < 8 * 5 * 2 * 340; ++i) {
    const user_format user = {i & 1, 1 + i / 2 % 8, i / 16 % 5, i / 80 - 160, specials};
    mpnum_format format;
    CHECK((make(&format, &user) == MPNUM_OK) == is_possible(&user), "%d.%d.%d bias %d",
          user.sign_bits, user.exponent_bits, user.mantissa_bits, user.bias);
  }
}

/* P3109: the code of -0 is the one NaN, which has neither sign nor payload. */
static void nan_of_p3109_is_one_code(void) {
  static const uint32_t sources[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff,
                                     0x7fabcdef};
  size_t made = 0;
  for (int i = 0; i < 8 * 8 * 340; ++i) {
    const user_format user = {1, 1 + i % 8, i / 8 % 8, i / 64 - 160, REF_SPECIALS_P3109};
    mpnum_format format;
    if (make(&format, &user) != MPNUM_OK) continue;
    ++made;
    for (int policy = 0; policy < 4; ++policy)
      for (size_t k = 0; k < sizeof sources / sizeof *sources; ++k) {
        const uint32_t want = UINT32_C(1) << (user.exponent_bits + user.mantissa_bits);
        uint32_t code, back;
        format.nan_policy = (uint8_t)policy;
        code = mpnum_encode(format, float_of(sources[k]), MPNUM_ROUND_NEAREST_EVEN,
                            MPNUM_OVERFLOW_IEEE, 0);
        if (code != want) describe(&user, "NaN", sources[k], code, want);
        back = bits_of_float(mpnum_decode(format, want)) & 0x7fffffffu;
        if (back <= 0x7f800000u) describe(&user, "decode", want, back, 0x7fffffffu);
      }
  }
  CHECK(made > 1000, "%zu formats", made);
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  for (int i = 0; i < REF_SPECIALS; ++i) {
    char name[80];
    specials = (ref_specials)i;
    snprintf(name, sizeof name, "formats with %s specials are made when possible",
             specials_words[i]);
    tap_run(name, formats_are_made_when_possible);
    if (specials == REF_SPECIALS_E8M0) continue; /* e8m0 alone, from mpnum_format_of */
    snprintf(name, sizeof name, "formats with %s specials convert as the reference",
             specials_words[i]);
    tap_run(name, formats_convert_as_the_reference);
  }
  TAP_RUN(scale_types_convert_as_the_reference);
  TAP_RUN(impossible_formats_are_refused);
  TAP_RUN(nan_of_p3109_is_one_code);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* Every code of every format decodes to the reference's value, in f32 and f64, and
 * encodes back to itself from both, but for NaN. */
#include "../reference/conversion_inputs.h"
#include "conversion_types.h"
#include "../harness/tap.h"

#include <inttypes.h>

static const conversion_type *type;
static const ref_format *reference;
static mpnum_format format;

static uint32_t number_of_codes(void) {
  return UINT32_C(1) << (format.sign_bits + format.exponent_bits + format.mantissa_bits);
}

static void codes_decode_to_f32(void) {
  for (uint32_t i = 0; i < number_of_codes(); ++i) {
    const uint32_t code = i << reference->storage_shift;
    const uint32_t want = ref_decode_f32(reference, code);
    const uint32_t generic = bits_of_float(mpnum_decode(format, code));
    const uint32_t named = bits_of_float(type->to_f32(code));
    CHECK(generic == want,
          "mpnum_decode of %" PRIx32 ": got %08" PRIx32 ", want %08" PRIx32, code,
          generic, want);
    CHECK(named == want, "%" PRIx32 " to f32: got %08" PRIx32 ", want %08" PRIx32, code,
          named, want);
  }
}

static void codes_decode_to_f64(void) {
  for (uint32_t i = 0; i < number_of_codes(); ++i) {
    const uint32_t code = i << reference->storage_shift;
    const uint64_t want = ref_decode(reference, code);
    const uint64_t generic = bits_of_double(mpnum_decode_f64(format, code));
    const uint64_t named = bits_of_double(type->to_f64(code));
    CHECK(generic == want,
          "mpnum_decode_f64 of %" PRIx32 ": got %" PRIx64 ", want %" PRIx64, code,
          generic, want);
    CHECK(named == want, "%" PRIx32 " to f64: got %" PRIx64 ", want %" PRIx64, code,
          named, want);
  }
}

/* Exact values are fixed points of every rounding, stochastic too; Inf where it is kept.
 */
static void codes_survive_a_round_trip(void) {
  for (uint32_t i = 0; i < number_of_codes(); ++i) {
    const uint32_t code = i << reference->storage_shift;
    if (ref_is_nan(reference, code)) continue;
    for (int j = 0; j < REF_ROUNDINGS; ++j) {
      const uint32_t a = type->round_f32(type->to_f32(code), roundings[j],
                                         MPNUM_OVERFLOW_IEEE, UINT32_C(0xffffffff));
      const uint32_t b = type->round_f64(type->to_f64(code), roundings[j],
                                         MPNUM_OVERFLOW_IEEE, UINT32_C(0xffffffff));
      CHECK(a == code, "through f32, rounding %d: %" PRIx32 " became %" PRIx32, j, code,
            a);
      CHECK(b == code, "through f64, rounding %d: %" PRIx32 " became %" PRIx32, j, code,
            b);
    }
  }
}

static void nans_encode_as_the_canonical_nan(void) {
  for (uint32_t i = 0; i < number_of_codes(); ++i) {
    const uint32_t code = i << reference->storage_shift;
    const uint32_t want = reference->nan_code << reference->storage_shift;
    if (!ref_is_nan(reference, code)) continue;
    CHECK(type->round_f32(type->to_f32(code), MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0) ==
              want,
          "%" PRIx32 " through f32", code);
    CHECK(type->round_f64(type->to_f64(code), MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0) ==
              want,
          "%" PRIx32 " through f64", code);
  }
}

/* The 4- and 6-bit types leave the top of their byte unused. */
static void bits_above_the_code_count_for_nothing(void) {
  for (uint32_t stored = 0; stored < 256; ++stored) {
    const uint32_t code = stored & (number_of_codes() - 1);
    CHECK(bits_of_float(mpnum_decode(format, stored)) == ref_decode_f32(reference, code),
          "mpnum_decode of %02" PRIx32, stored);
    CHECK(bits_of_float(type->to_f32(stored)) == ref_decode_f32(reference, code),
          "%02" PRIx32 " to f32", stored);
    CHECK(bits_of_double(type->to_f64(stored)) == ref_decode(reference, code),
          "%02" PRIx32 " to f64", stored);
  }
}

/* The low 13 bits of a tf32 word count for nothing, but that no NaN may turn into Inf. */
static void tf32_ignores_dirty_low_bits(void) {
  static const uint32_t dirt[] = {1, 0x1000, 0x1fff};
  const ref_format *tf32 = ref_format_named("tf32");
  for (uint32_t i = 0; i < UINT32_C(1) << 19; ++i) {
    for (int j = 0; j < 3; ++j) {
      const uint32_t clean = i << 13, dirty = clean | dirt[j];
      const mpnum_tf32 x = {dirty};
      const uint32_t got = bits_of_float(mpnum_tf32_to_f32(x));
      const uint64_t wide = bits_of_double(mpnum_tf32_to_f64(x));
      if ((clean & UINT32_C(0x7fffffff)) == UINT32_C(0x7f800000)) {
        CHECK((got & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000), "NaN %08" PRIx32,
              dirty);
        CHECK(got >> 31 == dirty >> 31, "sign of NaN %08" PRIx32, dirty);
        CHECK((got & UINT32_C(0x1fff)) == 0, "low bits of NaN %08" PRIx32, dirty);
        CHECK(wide == UINT64_C(0x7fffffffffffffff), "NaN %08" PRIx32, dirty);
      } else {
        CHECK(got == ref_decode_f32(tf32, clean), "%08" PRIx32, dirty);
        CHECK(wide == ref_decode(tf32, clean), "%08" PRIx32, dirty);
      }
    }
  }
}

/* Exact for every float; a NaN is canonical. */
static void f32_widens_to_f64(void) {
  uint64_t state = 3;
  for (uint32_t i = 0; i < 3000000; ++i) {
    /* Every exponent and sign with a mantissa of one or two bits, then any bits. */
    const uint32_t bits = i < 512 * 24 ? i / 24 << 23 | UINT32_C(1) << i % 24 >> 1
                                       : (uint32_t)random_bits(&state);
    const int is_nan = (bits & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000);
    const uint64_t want = is_nan ? UINT64_C(0x7fffffffffffffff) : ref_widen(bits);
    const uint64_t got = bits_of_double(mpnum_f32_to_f64(float_of(bits)));
    CHECK(got == want, "%08" PRIx32 ": got %" PRIx64 ", want %" PRIx64, bits, got, want);
  }
}

static void run(const char *what, void (*property)(void)) {
  char name[80];
  snprintf(name, sizeof name, "%s %s", type->name, what);
  tap_run(name, property);
}

int main(void) {
  for (size_t i = 0; i < CONVERSION_TYPES; ++i) {
    type = &conversion_types[i];
    if (!type->round_f32) continue; /* f32 itself */
    reference = ref_format_named(type->name);
    format = mpnum_format_of(type->type);
    run("codes decode to f32", codes_decode_to_f32);
    run("codes decode to f64", codes_decode_to_f64);
    run("codes survive a round trip", codes_survive_a_round_trip);
    if (reference->nan_code)
      run("NaNs encode as the canonical NaN", nans_encode_as_the_canonical_nan);
    if (number_of_codes() < 256)
      run("bits above the code count for nothing", bits_above_the_code_count_for_nothing);
  }
  TAP_RUN(tf32_ignores_dirty_low_bits);
  TAP_RUN(f32_widens_to_f64);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* Every conversion to a small format, and from f64 to f32, against the slow reference:
 * each format, rounding, overflow rule and source, at every value and midpoint of the
 * format with the source's neighbours on both sides, in both signs (conversion_inputs.h).
 * mpnum_encode and every function of its own name must give the reference's code. */
#include "../reference/conversion_inputs.h"
#include "conversion_types.h"
#include "../harness/samples.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <stdlib.h>

/* What the running property is about. */
static const conversion_type *type;
static const ref_format *reference;
static mpnum_format format;
static input_list f32_inputs, f64_inputs;
static ref_rounding rounding;
static uint64_t comparisons;

static void check(uint32_t got, uint32_t want, const char *function, uint64_t source,
                  ref_overflow overflow, uint32_t random) {
  ++comparisons;
  CHECK(got == want,
        "%s of %016" PRIx64 " overflow %d random %08" PRIx32 ": got %" PRIx32
        ", want %" PRIx32,
        function, source, (int)overflow, random, got, want);
}

static void check_f32(uint32_t bits, uint32_t random) {
  const float x = float_of(bits);
  const uint64_t source = ref_widen(bits);
  for (int i = 0; i < REF_OVERFLOWS; ++i) {
    const ref_overflow overflow = (ref_overflow)i;
    const uint32_t want = ref_encode(reference, source, rounding, overflow, random);
    from_f32_function *named = type->from_f32[rounding][i];
    check(mpnum_encode(format, x, roundings[rounding], overflows[i], random), want,
          "mpnum_encode", source, overflow, random);
    if (type->round_f32)
      check(type->round_f32(x, roundings[rounding], overflows[i], random), want,
            "from f32 _round", source, overflow, random);
    if (named)
      check(named(x, random), want, "from f32 by name", source, overflow, random);
  }
}

static void check_f64(uint64_t source, uint32_t random) {
  const double x = double_of(source);
  for (int i = 0; i < REF_OVERFLOWS; ++i) {
    const ref_overflow overflow = (ref_overflow)i;
    const uint32_t want = ref_encode(reference, source, rounding, overflow, random);
    from_f64_function *named = type->from_f64[rounding][i];
    check(mpnum_encode_f64(format, x, roundings[rounding], overflows[i], random), want,
          "mpnum_encode_f64", source, overflow, random);
    check(type->round_f64(x, roundings[rounding], overflows[i], random), want,
          "from f64 _round", source, overflow, random);
    if (named)
      check(named(x, random), want, "from f64 by name", source, overflow, random);
  }
}

static void convert_all_f32(void) {
  for (size_t i = 0; i < f32_inputs.count; ++i) {
    check_f32((uint32_t)f32_inputs.bits[i], 0);
    check_f32((uint32_t)f32_inputs.bits[i] | UINT32_C(0x80000000), 0);
  }
}

static void convert_all_f64(void) {
  for (size_t i = 0; i < f64_inputs.count; ++i) {
    check_f64(f64_inputs.bits[i], 0);
    check_f64(f64_inputs.bits[i] | UINT64_C(0x8000000000000000), 0);
  }
}

/* The random words at which the decision turns, fraction + random = 2^32, and next to
 * them; the ends; and one that knows of no fraction. */
static void random_words(uint64_t magnitude, uint64_t *state, uint32_t words[6]) {
  const uint32_t threshold = 0u - ref_fraction(reference, magnitude);
  words[0] = 0;
  words[1] = threshold - 1;
  words[2] = threshold;
  words[3] = threshold + 1;
  words[4] = UINT32_C(0xffffffff);
  words[5] = (uint32_t)random_bits(state);
}

static void round_all_f32_stochastically(void) {
  uint64_t state = 1;
  uint32_t words[6];
  for (size_t i = 0; i < f32_inputs.count; ++i) {
    const uint32_t bits = (uint32_t)f32_inputs.bits[i];
    random_words(ref_widen(bits), &state, words);
    for (int j = 0; j < 6; ++j) {
      check_f32(bits, words[j]);
      check_f32(bits | UINT32_C(0x80000000), words[j]);
    }
  }
}

static void round_all_f64_stochastically(void) {
  uint64_t state = 2;
  uint32_t words[6];
  for (size_t i = 0; i < f64_inputs.count; ++i) {
    const uint64_t bits = f64_inputs.bits[i];
    random_words(bits, &state, words);
    for (int j = 0; j < 6; ++j) {
      check_f64(bits, words[j]);
      check_f64(bits | UINT64_C(0x8000000000000000), words[j]);
    }
  }
}

static void every_input_was_compared(void) {
  /* 48: six roundings and six random words, two signs, two overflow rules; mpnum_encode
   * and at least one function of the type's own from each source, but for f32 to f32. */
  const uint64_t from_f32 = f32_inputs.count * (type->round_f32 ? 2 : 1);
  const uint64_t least = UINT64_C(48) * (from_f32 + 2 * f64_inputs.count);
  CHECK(f32_inputs.count > 8000 && f64_inputs.count > 16000, "too few inputs");
  CHECK(comparisons > least, "%" PRIu64 " comparisons, expected %" PRIu64, comparisons,
        least);
}

/* The library's description of the format says what its specification says. */
static void descriptor_is_the_specification(void) {
  CHECK(format.sign_bits == reference->sign_bits, "sign bits");
  CHECK(format.exponent_bits == reference->exponent_bits, "exponent bits");
  CHECK(format.mantissa_bits == reference->mantissa_bits, "mantissa bits");
  CHECK(format.bias == reference->bias, "bias %d", format.bias);
  CHECK(format.storage_shift == reference->storage_shift, "storage shift");
  CHECK(format.max_code == reference->max_code, "max %" PRIx32, format.max_code);
  CHECK(format.inf_code == reference->infinity_code, "Inf %" PRIx32, format.inf_code);
  CHECK(format.nan_code == reference->nan_code, "NaN %" PRIx32, format.nan_code);
  CHECK(format.has_zero == reference->has_zero, "zero");
  CHECK(format.has_negative_zero == reference->has_negative_zero, "-0");
  CHECK(strcmp(mpnum_type_name(type->type), type->name) == 0, "name");
}

static void run(const char *what, void (*property)(void)) {
  char name[80];
  snprintf(name, sizeof name, "%s %s", type->name, what);
  tap_run(name, property);
}

static void test_type(void) {
  static const char *const words[] = {"rounds to nearest even",
                                      "rounds toward zero",
                                      "rounds up",
                                      "rounds down",
                                      "rounds to nearest away",
                                      "rounds to odd",
                                      "rounds stochastically"};
  /* All codes of all formats but tf32 (every 13th) and f32 (a sample); of 16 bits, too,
   * every 13th without --all. */
  collect_inputs(reference, (uint32_t)samples(20000), &f32_inputs, &f64_inputs);
  comparisons = 0;
  run("descriptor is the specification", descriptor_is_the_specification);
  for (int i = 0; i < REF_ROUNDINGS; ++i) {
    const int stochastic = i == REF_STOCHASTIC;
    char what[64];
    rounding = (ref_rounding)i;
    snprintf(what, sizeof what, "%s from f32", words[i]);
    run(what, stochastic ? round_all_f32_stochastically : convert_all_f32);
    snprintf(what, sizeof what, "%s from f64", words[i]);
    run(what, stochastic ? round_all_f64_stochastically : convert_all_f64);
  }
  run("was compared at every input", every_input_was_compared);
  free(f32_inputs.bits);
  free(f64_inputs.bits);
}

/* A format added to the library must be added here. */
static void no_format_is_left_out(void) {
#define NAME_OF(name, NAME, sign, exponent, mantissa, bias, SPECIALS, nan) #name,
  static const char *const names[] = { MPNUM_FORMATS(NAME_OF) };
#undef NAME_OF
  const size_t count = sizeof names / sizeof names[0];
  CHECK(count + 1 == CONVERSION_TYPES, "the library has %zu formats", count);
  for (size_t i = 0; i < count && i < CONVERSION_TYPES; ++i)
    CHECK(strcmp(names[i], conversion_types[i].name) == 0, "%s is not tested", names[i]);
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  TAP_RUN(no_format_is_left_out);
  for (size_t i = 0; i < CONVERSION_TYPES; ++i) {
    type = &conversion_types[i];
    reference = ref_format_named(type->name);
    format = mpnum_format_of(type->type);
    test_type();
  }
  return tap_done();
}

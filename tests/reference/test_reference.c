/* SPDX-License-Identifier: MIT */
/* The slow reference itself, against figures taken by hand from the formats'
 * specifications. */
#include "reference.h"
#include "../harness/float_bits.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <string.h>

/* Values a specification prints; 0 where the format has none. */
static const struct facts {
  const char *name;
  double max, min_normal, min_subnormal;
  double overflows; /* the first magnitude that nearest even sends past max */
  uint32_t max_code, min_normal_code, infinity, nan;
} facts[] = {
    {"f16", 65504, 0x1p-14, 0x1p-24, 65520, 0x7bff, 0x0400, 0x7c00, 0x7fff},
    {"bf16", 0x1.fep127, 0x1p-126, 0x1p-133, 0x1.ffp127, 0x7f7f, 0x0080, 0x7f80, 0x7fff},
    {"tf32", 0x1.ffcp127, 0x1p-126, 0x1p-136, 0x1.ffep127, 0x7f7fe000, 0x00800000,
     0x7f800000, 0x7fffe000},
    {"f32", 0x1.fffffep127, 0x1p-126, 0x1p-149, 0x1.ffffffp127, 0x7f7fffff, 0x00800000,
     0x7f800000, 0x7fffffff},
    {"e5m2", 57344, 0x1p-14, 0x1p-16, 61440, 0x7b, 0x04, 0x7c, 0x7f},
    {"e4m3", 448, 0x1p-6, 0x1p-9, 0x1.d000000000001p8, 0x7e, 0x08, 0, 0x7f},
    {"e5m2fnuz", 57344, 0x1p-15, 0x1p-17, 61440, 0x7f, 0x04, 0, 0x80},
    {"e4m3fnuz", 240, 0x1p-7, 0x1p-10, 248, 0x7f, 0x08, 0, 0x80},
    {"e3m4", 15.5, 0x1p-2, 0x1p-6, 15.75, 0x6f, 0x10, 0x70, 0x78},
    {"e8m0", 0x1p127, 0x1p-127, 0, 0x1.8000000000001p127, 0xfe, 0x00, 0, 0xff},
    {"e3m2", 28, 0.25, 0.0625, 0, 0x1f, 0x04, 0, 0},
    {"e2m3", 7.5, 1, 0.125, 0, 0x1f, 0x08, 0, 0},
    {"e2m1", 6, 1, 0.5, 0, 0x7, 0x2, 0, 0},
};
static const size_t formats = sizeof facts / sizeof facts[0];

static uint32_t nearest(const ref_format *format, uint64_t source) {
  return ref_encode(format, source, REF_NEAREST_EVEN, REF_IEEE, 0);
}

static void landmarks_have_their_codes(void) {
  for (size_t i = 0; i < formats; ++i) {
    const struct facts *f = &facts[i];
    const ref_format *format = ref_format_named(f->name);
    CHECK(ref_decode(format, f->max_code) == bits_of_double(f->max), "%s max", f->name);
    CHECK(nearest(format, bits_of_double(f->max)) == f->max_code, "%s to max", f->name);
    CHECK(ref_decode(format, f->min_normal_code) == bits_of_double(f->min_normal),
          "%s min", f->name);
    CHECK(nearest(format, bits_of_double(f->min_normal)) == f->min_normal_code,
          "%s to min", f->name);
    if (f->min_subnormal > 0) {
      const uint32_t least = UINT32_C(1) << format->storage_shift;
      CHECK(ref_decode(format, least) == bits_of_double(f->min_subnormal), "%s least",
            f->name);
      CHECK(nearest(format, bits_of_double(f->min_subnormal)) == least, "%s to least",
            f->name);
    }
  }
}

static void nearest_overflows_where_it_should(void) {
  for (size_t i = 0; i < formats; ++i) {
    const struct facts *f = &facts[i];
    const ref_format *format = ref_format_named(f->name);
    const uint64_t first = bits_of_double(f->overflows);
    const uint32_t past = f->infinity ? f->infinity : f->nan;
    if (f->nan == 0) continue; /* saturates */
    CHECK(nearest(format, first) == past, "%s at its threshold", f->name);
    CHECK(nearest(format, first - 1) == f->max_code, "%s below it", f->name);
    CHECK(ref_encode(format, first, REF_NEAREST_EVEN, REF_SATURATE, 0) == f->max_code,
          "%s saturating", f->name);
  }
}

static void nans_are_canonical(void) {
  static const uint64_t nans[] = {0x7ff0000000000001, 0xfff0000000000001,
                                  0x7ff8000000000000, 0xffffffffffffffff};
  for (size_t i = 0; i < formats; ++i) {
    const struct facts *f = &facts[i];
    const ref_format *format = ref_format_named(f->name);
    const uint32_t want = f->nan ? f->nan : f->max_code;
    for (size_t j = 0; j < sizeof nans / sizeof nans[0]; ++j)
      CHECK(nearest(format, nans[j]) == want, "%s of %" PRIx64, f->name, nans[j]);
    if (f->nan)
      CHECK(ref_decode(format, f->nan) == UINT64_C(0x7fffffffffffffff), "%s NaN",
            f->name);
  }
}

/* 450 lies 2/32 of the gap above 448, so to e4m3 it overflows for one random word in 16.
 * 2^-11 is a quarter of e4m3's least value. */
static void stochastic_decides_at_the_fraction(void) {
  const ref_format *e4m3 = ref_format_named("e4m3");
  static const struct {
    double x;
    uint32_t random, want;
  } cases[] = {
      {450, 0, 0x7e},           {450, 0xefffffff, 0x7e},     {450, 0xf0000000, 0x7f},
      {-450, 0xf0000000, 0xff}, {448, 0xffffffff, 0x7e},     {480, 0, 0x7f},
      {0x1p-11, 0xbfffffff, 0}, {0x1p-11, 0xc0000000, 0x01}, {-0x1p-11, 0xc0000000, 0x81},
      {0x1p-42, 0xffffffff, 0}, {0x1p-41, 0xffffffff, 0x01}, {0x1p-41, 0xfffffffe, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const uint32_t got = ref_encode(e4m3, bits_of_double(cases[i].x), REF_STOCHASTIC,
                                    REF_IEEE, cases[i].random);
    CHECK(got == cases[i].want, "case %zu: got %" PRIx32, i, got);
  }
}

/* Columns: the seven roundings in order, the stochastic one with random 0. */
static void each_rounding_goes_its_way(void) {
  static const struct {
    const char *format;
    double x;
    uint32_t want[REF_ROUNDINGS];
  } cases[] = {
      {"e4m3",
       1.0625,
       {0x38, 0x38, 0x39, 0x38, 0x39, 0x39, 0x38}}, /* tie of 1 and 1.125 */
      {"e4m3",
       1.1875,
       {0x3a, 0x39, 0x3a, 0x39, 0x3a, 0x39, 0x39}}, /* tie of 1.125 and 1.25 */
      {"e4m3", -1.0625, {0xb8, 0xb8, 0xb8, 0xb9, 0xb9, 0xb9, 0xb8}},
      {"e4m3", 1e9, {0x7f, 0x7e, 0x7f, 0x7e, 0x7f, 0x7e, 0x7f}},
      {"e4m3", -1e9, {0xff, 0xfe, 0xfe, 0xff, 0xff, 0xfe, 0xff}},
      {"e4m3fnuz", -1e9, {0x80, 0xff, 0xff, 0x80, 0x80, 0xff, 0x80}},
      {"e4m3fnuz", -0x1p-300, {0x00, 0x00, 0x00, 0x81, 0x00, 0x81, 0x00}},
      {"f16", 1e9, {0x7c00, 0x7bff, 0x7c00, 0x7bff, 0x7c00, 0x7bff, 0x7c00}},
      {"f16", -0x1p-300, {0x8000, 0x8000, 0x8000, 0x8001, 0x8000, 0x8001, 0x8000}},
      {"e2m1", -1e9, {0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf}},
      {"e8m0", 1.5, {0x80, 0x7f, 0x80, 0x7f, 0x80, 0x7f, 0x7f}},
      {"e8m0", -3, {0x80, 0x80, 0x81, 0x80, 0x81, 0x81, 0x80}},
      {"e8m0", 0x1p-140, {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00}},
      {"e8m0", 0x1.8p127, {0xfe, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xfe}},
      {"e8m0", 0x1p128, {0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const ref_format *format = ref_format_named(cases[i].format);
    for (int j = 0; j < REF_ROUNDINGS; ++j) {
      const uint32_t got =
          ref_encode(format, bits_of_double(cases[i].x), (ref_rounding)j, REF_IEEE, 0);
      CHECK(got == cases[i].want[j], "case %zu rounding %d: got %" PRIx32, i, j, got);
    }
  }
}

static void floats_widen_and_narrow(void) {
  uint32_t f32 = 0;
  CHECK(ref_widen(0x3f800000) == bits_of_double(1.0), "1");
  CHECK(ref_widen(0x80000001) == bits_of_double(-0x1p-149), "-2^-149");
  CHECK(ref_widen(0x7f800001) == UINT64_C(0x7ff0000020000000),
        "a signalling NaN stays one");
  CHECK(ref_narrow(bits_of_double(-0x1p-149), &f32) && f32 == 0x80000001, "-2^-149");
  CHECK(ref_narrow(bits_of_double(0x1.fffffep127), &f32) && f32 == 0x7f7fffff, "largest");
  CHECK(!ref_narrow(bits_of_double(0x1p-150), &f32), "2^-150 is no float");
  CHECK(!ref_narrow(bits_of_double(0x1p128), &f32), "2^128 is no float");
}

int main(void) {
  TAP_RUN(landmarks_have_their_codes);
  TAP_RUN(nearest_overflows_where_it_should);
  TAP_RUN(nans_are_canonical);
  TAP_RUN(stochastic_decides_at_the_fraction);
  TAP_RUN(each_rounding_goes_its_way);
  TAP_RUN(floats_widen_and_narrow);
  return tap_done();
}

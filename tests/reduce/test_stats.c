/* SPDX-License-Identifier: MIT */
/* Statistics of values: counted here from the values of the slow reference, merged in any
 * grouping. */
#include "mpnum/mpnum.h"

#include "../reference/reference.h"
#include "../harness/tap.h"

#include <stdlib.h>
#include <string.h>

/* Bits of the double 2^exponent, normal. */
static uint64_t power_of_two(int exponent) { return (uint64_t)(exponent + 1023) << 52; }

static const uint64_t infinity = UINT64_C(0x7ff) << 52;

static uint32_t widest_code(const ref_format *reference) {
  const int width =
      reference->sign_bits + reference->exponent_bits + reference->mantissa_bits;
  return (uint32_t)((UINT64_C(1) << width) - 1);
}

/* What one code is, by its value as a double. */
static mpnum_stats want_of(const ref_format *reference, uint32_t stored) {
  const uint32_t bits = ref_decode_f32(reference, stored);
  const uint64_t magnitude = ref_widen(bits) & ~(UINT64_C(1) << 63);
  const uint64_t min_normal =
      power_of_two((reference->has_zero ? 1 : 0) - reference->bias);
  mpnum_stats want = mpnum_stats_empty();
  want.count = 1;
  want.zeros = magnitude == 0;
  want.infs = magnitude == infinity;
  want.nans = magnitude > infinity;
  want.subnormals = magnitude != 0 && magnitude < min_normal;
  if (magnitude < infinity) want.amax = mpnum_from_bits_f32(bits & 0x7fffffffu);
  if (magnitude != 0 && magnitude < infinity)
    want.min_nonzero = mpnum_from_bits_f32(bits & 0x7fffffffu);
  return want;
}

static int same(mpnum_stats a, mpnum_stats b) {
  return a.count == b.count && a.zeros == b.zeros && a.subnormals == b.subnormals &&
         a.infs == b.infs && a.nans == b.nans &&
         mpnum_bits_f32(a.amax) == mpnum_bits_f32(b.amax) &&
         mpnum_bits_f32(a.min_nonzero) == mpnum_bits_f32(b.min_nonzero);
}

static void check_codes(const char *name, mpnum_type type, int storage_shift) {
  const ref_format *reference = ref_format_named(name);
  const mpnum_format format = mpnum_format_of(type);
  const uint32_t last = widest_code(reference);
  const uint32_t step = last > 0xffff ? 7 : 1; /* tf32: every seventh code */
  uint32_t code = 0;
  for (code = 0; code <= last; code += step) {
    const uint32_t stored = code << storage_shift;
    const mpnum_stats got = mpnum_stats_add(mpnum_stats_empty(), format, stored);
    CHECK(same(got, want_of(reference, stored)), "%s, code %x", name, code);
  }
}

static void every_code_is_counted_once(void) {
#define CHECK_TYPE(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 check_codes(#name, MPNUM_TYPE_##NAME, MPNUM_TYPE_##NAME == MPNUM_TYPE_TF32 ? 13 : 0);
  MPNUM_FORMATS(CHECK_TYPE)
}

static const uint32_t floats[] = {
    0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000, 0xc0000000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffffffff};
enum { FLOATS = sizeof floats / sizeof *floats };

static void floats_are_counted_by_their_bits(void) {
  const mpnum_format f32 = mpnum_format_of(MPNUM_TYPE_F32);
  mpnum_stats stats = mpnum_stats_empty();
  size_t i = 0;
  for (i = 0; i < FLOATS; ++i)
    stats = mpnum_stats_add(stats, f32, floats[i]);
  CHECK(stats.count == 14 && stats.zeros == 2 && stats.subnormals == 2, "counts");
  CHECK(stats.infs == 2 && stats.nans == 3, "infs %d, nans %d", (int)stats.infs,
        (int)stats.nans);
  CHECK(mpnum_bits_f32(stats.amax) == 0x7f7fffff, "amax");
  CHECK(mpnum_bits_f32(stats.min_nonzero) == 1, "least");
}

static void no_values_have_amax_0_and_least_inf(void) {
  const mpnum_stats none = mpnum_stats_empty();
  CHECK(none.count == 0 && none.zeros == 0 && none.subnormals == 0 && none.infs == 0 &&
            none.nans == 0,
        "counts");
  CHECK(mpnum_bits_f32(none.amax) == 0, "amax");
  CHECK(mpnum_bits_f32(none.min_nonzero) == 0x7f800000, "least");
}

/* The values in every order of two parts, each split at every place. */
static void parts_merge_to_the_whole(void) {
  const mpnum_format f32 = mpnum_format_of(MPNUM_TYPE_F32);
  mpnum_stats whole = mpnum_stats_empty();
  size_t i = 0, split = 0;
  for (i = 0; i < FLOATS; ++i)
    whole = mpnum_stats_add(whole, f32, floats[i]);
  for (split = 0; split <= FLOATS; ++split) {
    mpnum_stats low = mpnum_stats_empty(), high = mpnum_stats_empty();
    for (i = 0; i < split; ++i)
      low = mpnum_stats_add(low, f32, floats[i]);
    for (i = split; i < FLOATS; ++i)
      high = mpnum_stats_add(high, f32, floats[i]);
    CHECK(same(mpnum_stats_merge(low, high), whole), "split at %d", (int)split);
    CHECK(same(mpnum_stats_merge(high, low), whole), "split at %d, swapped", (int)split);
  }
  CHECK(same(mpnum_stats_merge(whole, mpnum_stats_empty()), whole), "with nothing");
}

int main(void) {
  TAP_RUN(every_code_is_counted_once);
  TAP_RUN(floats_are_counted_by_their_bits);
  TAP_RUN(no_values_have_amax_0_and_least_inf);
  TAP_RUN(parts_merge_to_the_whole);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* Arrays rounded stochastically, with every instruction set: values move up as often as
 * they should. */
#include "array_checks.h"

#include <mpnum/core/round.h>

#include <math.h>

static const uint64_t seed = UINT64_C(0x0123456789abcdef);

/* A value between two codes: how far from the one nearer zero, as a fraction of the gap.
 * Written down exactly: x = low + fraction * gap. */
typedef struct between {
  const char *function;
  float x;
  uint32_t low; /* code */
  double fraction;
} between;
static const between betweens[] = {
    {"mpnum_f32_to_e4m3_sr_array", 1.0625f, 0x38, 0.5},          /* 1 to 1.125 */
    {"mpnum_f32_to_e4m3_sr_array", -1.015625f, 0xb8, 0.125},     /* the same, negative */
    {"mpnum_f32_to_e4m3_sr_array", 0.0003662109375f, 0, 0.1875}, /* 0 to 2^-9 */
    {"mpnum_f32_to_e4m3_sr_sat_array", 19.9f, 0x59, 0.94999980926513672},
    {"mpnum_f32_to_e5m2_sr_array", 1.25f, 0x3d, 0}, /* exact */
    {"mpnum_f32_to_e5m2_sr_array", 1.0029296875f, 0x3c, 0.01171875},
    {"mpnum_f32_to_bf16_sr_array", 1.0000001192092896f, 0x3f80, 0x1p-16},
    {"mpnum_f32_to_bf16_sr_array", 3.0f, 0x4040, 0},
    {"mpnum_f32_to_f16_sr_array", 1.000732421875f, 0x3c00, 0.75},
    {"mpnum_f32_to_f16_sr_sat_array", 1e-7f, 1, 0.67772157}, /* 2^-24 to 2^-23 */
    {"mpnum_f32_to_tf32_sr_array", 1.00048828125f, 0x3f800000, 0.5},
    {"mpnum_f32_to_e5m2_sr_sat_array", 4.25f, 0x44, 0.25}, /* 4 to 5 */
};

/* Binomial: the count of n roundings that move has mean n * fraction and variance
 * n * fraction * (1 - fraction). It stays within 5 standard deviations, which a right
 * generator leaves once in a million tries; an exact value never moves. The words are
 * those of a fixed seed, so a run is as every other. */
static void check_frequency(const stochastic_function *function, const between *value) {
  enum { CHUNK = 1 << 12, CHUNKS = 1 << 8 };
  static float src[CHUNK];
  static uint32_t codes[CHUNK];
  const double n = (double)CHUNK * CHUNKS;
  const double deviation = sqrt(n * value->fraction * (1 - value->fraction));
  const uint64_t step = function->dst == MPNUM_TYPE_TF32 ? 1 << 13 : 1;
  double moved = 0;
  for (size_t i = 0; i < CHUNK; ++i)
    src[i] = value->x;
  for (uint64_t chunk = 0; chunk < CHUNKS; ++chunk) {
    function->convert(codes, src, CHUNK, seed, chunk * CHUNK);
    for (size_t i = 0; i < CHUNK; ++i) {
      const uint64_t code = get_element(function->dst_bits, codes, i);
      CHECK(code == value->low || code == value->low + step, "%s: code %" PRIx64,
            function->name, code);
      moved += code != value->low;
    }
  }
  CHECK(fabs(moved - n * value->fraction) <= 5 * deviation,
        "%s of %.9g: %.0f of %.0f moved, expected %.0f +- %.0f", function->name,
        (double)value->x, moved, n, n * value->fraction, 5 * deviation);
}
static void values_move_as_often_as_they_should(void) {
  size_t checked = 0;
  for (size_t i = 0; i < stochastic_function_count; ++i)
    for (size_t j = 0; j < sizeof betweens / sizeof betweens[0]; ++j)
      if (strcmp(stochastic_functions[i].name, betweens[j].function) == 0) {
        check_frequency(&stochastic_functions[i], &betweens[j]);
        ++checked;
      }
  CHECK(checked == sizeof betweens / sizeof betweens[0], "%zu values", checked);
}
/* The fractions above, from the codes themselves. */
static void fractions_are_exact(void) {
  for (size_t j = 0; j < sizeof betweens / sizeof betweens[0]; ++j)
    for (size_t i = 0; i < stochastic_function_count; ++i) {
      if (strcmp(stochastic_functions[i].name, betweens[j].function) != 0) continue;
      const mpnum_format format = mpnum_format_of(stochastic_functions[i].dst);
      const uint32_t step = (uint32_t)1 << format.storage_shift;
      const double low = mpnum_decode_f64(format, betweens[j].low);
      const double high = mpnum_decode_f64(format, betweens[j].low + step);
      const double fraction = ((double)betweens[j].x - low) / (high - low);
      CHECK(fabs(fraction - betweens[j].fraction) < 1e-7, "%s of %g: %.17g",
            betweens[j].function, (double)betweens[j].x, fraction);
    }
}

int main(void) {
  TAP_RUN(fractions_are_exact);
  RUN_FOR_EACH_ISA(values_move_as_often_as_they_should);
  return tap_done();
}

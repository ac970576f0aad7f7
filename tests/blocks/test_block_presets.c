/* SPDX-License-Identifier: MIT */
/* The presets by their names are what mpnum_quantize_blocks does, and go back; scales one
 * by one are those of the arrays. */

#include "../harness/tap.h"

#include <mpnum/blocks/blockscale.h>

#include <string.h>

enum { ROWS = 5, COLUMNS = 80, ELEMENTS = ROWS * COLUMNS, BLOCKS = ROWS * 5 };
static float x[ELEMENTS], y[ELEMENTS], z[ELEMENTS];
static uint8_t codes[ELEMENTS], wanted[ELEMENTS], scales[BLOCKS], wanted_scales[BLOCKS];

static void fill(void) {
  uint32_t word = 1;
  for (int i = 0; i < ELEMENTS; ++i) {
    word = word * 1664525u + 1013904223u;
    x[i] = (float)((int)(word >> 8) - (1 << 23)) * 0x1p-20f;
  }
  memset(codes, 0x5a, sizeof codes);
  memset(wanted, 0x5a, sizeof wanted);
  memset(scales, 0x5a, sizeof scales);
  memset(wanted_scales, 0x5a, sizeof wanted_scales);
}
/* What the general functions make of x. */
static void general(mpnum_blockscale_format format, float scale) {
  const mpnum_blockscaled dst = {wanted, COLUMNS, wanted_scales, sizeof wanted_scales,
                                 0,      scale};
  CHECK(mpnum_quantize_blocks(&format, dst,
                              mpnum_const_matrix_of(MPNUM_TYPE_F32, x, ROWS, COLUMNS),
                              NULL, NULL) == MPNUM_OK,
        "quantising");
  CHECK(mpnum_dequantize_blocks(
            &format, mpnum_matrix_of(MPNUM_TYPE_F32, z, ROWS, COLUMNS), dst) == MPNUM_OK,
        "dequantising");
}
static void same(const char *name) {
  CHECK(memcmp(codes, wanted, sizeof codes) == 0, "codes of %s", name);
  CHECK(memcmp(scales, wanted_scales, sizeof scales) == 0, "scales of %s", name);
  CHECK(memcmp(y, z, sizeof y) == 0, "values of %s", name);
}

#define MX_PRESET(quantize, dequantize, type, format)                                 \
 do {                                                                                 \
  fill();                                                                             \
  general(format, 1);                                                                 \
  CHECK(quantize((type *)(void *)codes, (mpnum_e8m0 *)scales, sizeof scales, x, ROWS, \
                 COLUMNS) == MPNUM_OK,                                                \
        #quantize);                                                                   \
  CHECK(dequantize(y, (const type *)(const void *)codes, (const mpnum_e8m0 *)scales,  \
                   sizeof scales, ROWS, COLUMNS) == MPNUM_OK,                         \
        #dequantize);                                                                 \
  same(#quantize);                                                                    \
  CHECK(quantize((type *)(void *)codes, (mpnum_e8m0 *)scales, ROWS * 3 - 1, x, ROWS,  \
                 COLUMNS) == MPNUM_ERROR_RANGE,                                       \
        "too little memory for scales: " #quantize);                                  \
 } while (0)
static void presets_are_the_general_functions(void) {
  const mpnum_blockscale_rule rule = MPNUM_BLOCKSCALE_RCEIL;
  MX_PRESET(mpnum_quantize_mx_e4m3, mpnum_dequantize_mx_e4m3, mpnum_e4m3,
            mpnum_blockscale_mx(MPNUM_TYPE_E4M3, rule));
  MX_PRESET(mpnum_quantize_mx_e2m1, mpnum_dequantize_mx_e2m1, mpnum_e2m1x2,
            mpnum_blockscale_mx(MPNUM_TYPE_E2M1, rule));
}
/* Of what it cannot read it says no 0, of which S would become 1. */
static void amax_of_what_is_none_is_refused(void) {
  mpnum_const_matrix view = mpnum_const_matrix_of(MPNUM_TYPE_F64, x, 2, 4);
  float amax = -1;
  CHECK(mpnum_finite_amax_rows(&amax, view) == MPNUM_ERROR_TYPE, "f64");
  view.type = MPNUM_TYPE_E4M3;
  CHECK(mpnum_finite_amax_rows(&amax, view) == MPNUM_ERROR_TYPE, "e4m3");
  view = mpnum_const_matrix_of(MPNUM_TYPE_F32, NULL, 2, 4);
  CHECK(mpnum_finite_amax_rows(&amax, view) == MPNUM_ERROR_NULL, "no matrix");
  CHECK(amax == -1, "refused, and written");
  view = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 4);
  CHECK(mpnum_finite_amax_rows(NULL, view) == MPNUM_ERROR_NULL, "nowhere to put it");
  view = mpnum_const_matrix_of(MPNUM_TYPE_F64, NULL, 0, 4);
  CHECK(mpnum_finite_amax_rows(&amax, view) == MPNUM_OK && amax == 0, "no rows");
  CHECK(mpnum_finite_amax_rows(NULL, view) == MPNUM_OK, "no rows, nowhere to put it");
  amax = -1;
  view = mpnum_const_matrix_of(MPNUM_TYPE_F32, NULL, 3, 0);
  CHECK(mpnum_finite_amax_rows(&amax, view) == MPNUM_OK && amax == 0, "no columns");
}
static void nvfp4_finds_its_scale(void) {
  const mpnum_const_matrix view = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, ROWS, COLUMNS);
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  float scale = 0, largest = 0, wanted_scale = 0,
        amax = -1; /* variables, so that they are floats */
  fill();
  for (int i = 0; i < ELEMENTS; ++i) {
    const float magnitude = x[i] < 0 ? -x[i] : x[i];
    if (magnitude > largest) largest = magnitude;
  }
  CHECK(mpnum_finite_amax_rows(&amax, view) == MPNUM_OK && amax == largest,
        "largest magnitude");
  wanted_scale = 2688.0f / largest;
  general(format, wanted_scale);
  CHECK(mpnum_quantize_nvfp4((mpnum_e2m1x2 *)(void *)codes, (mpnum_e4m3 *)scales,
                             sizeof scales, &scale, x, ROWS, COLUMNS) == MPNUM_OK,
        "quantise");
  CHECK(scale == wanted_scale, "scale %a", (double)scale);
  CHECK(mpnum_dequantize_nvfp4(y, (const mpnum_e2m1x2 *)(const void *)codes,
                               (const mpnum_e4m3 *)scales, sizeof scales, scale, ROWS,
                               COLUMNS) == MPNUM_OK,
        "dequantise");
  same("nvfp4");
  x[7] = mpnum_from_bits_f32(0x7f800000u);
  CHECK(mpnum_finite_amax_rows(&amax, view) == MPNUM_OK && amax == largest,
        "Inf is not finite");
  CHECK(mpnum_quantize_nvfp4((mpnum_e2m1x2 *)(void *)codes, (mpnum_e4m3 *)scales,
                             sizeof scales, NULL, x, ROWS, COLUMNS) == MPNUM_ERROR_NULL,
        "nowhere to put the scale");
}
/* scaling.md of OCP's rules: 1.75, 480 and FLT_MAX. */
static void scales_one_by_one_are_those_of_the_rules(void) {
  static const struct {
    mpnum_blockscale_rule rule;
    uint32_t e4m3[3], e2m1[3];
  } rows[] = {
      {MPNUM_BLOCKSCALE_FLOOR, {119, 127, 246}, {125, 133, 252}},
      {MPNUM_BLOCKSCALE_CEIL, {120, 128, 247}, {126, 134, 253}},
      {MPNUM_BLOCKSCALE_EVEN, {119, 127, 247}, {126, 134, 253}},
      {MPNUM_BLOCKSCALE_RCEIL, {119, 128, 247}, {126, 134, 253}},
  };
  static const float amax[] = {1.75f, 480, 0x1.fffffep127f};
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) {
      const mpnum_blockscale_format e4m3 =
          mpnum_blockscale_mx(MPNUM_TYPE_E4M3, rows[i].rule);
      const mpnum_blockscale_format e2m1 =
          mpnum_blockscale_mx(MPNUM_TYPE_E2M1, rows[i].rule);
      CHECK(mpnum_blockscale_scale(&e4m3, amax[k], 1) == rows[i].e4m3[k], "e4m3 %d %d", i,
            k);
      CHECK(mpnum_blockscale_scale(&e2m1, amax[k], 1) == rows[i].e2m1[k], "e2m1 %d %d", i,
            k);
    }
}
/* A policy is a field like the others. */
static void policies_are_two(void) {
  static const mpnum_blockscale_policy policies[] = {MPNUM_BLOCKSCALE_PROPAGATE,
                                                     MPNUM_BLOCKSCALE_ERROR};
  mpnum_blockscale_format format =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const char *field = NULL;
  for (int i = 0; i < 2; ++i) {
    format.policy = policies[i];
    CHECK(mpnum_blockscale_validate(&format, &field) == MPNUM_OK && !field, "%d", i);
  }
  format.policy = (mpnum_blockscale_policy)2;
  CHECK(mpnum_blockscale_validate(&format, &field) == MPNUM_ERROR_ARGUMENT && field &&
            strcmp(field, "policy") == 0,
        "a third one");
}

int main(void) {
  TAP_RUN(presets_are_the_general_functions);
  TAP_RUN(nvfp4_finds_its_scale);
  TAP_RUN(amax_of_what_is_none_is_refused);
  TAP_RUN(scales_one_by_one_are_those_of_the_rules);
  TAP_RUN(policies_are_two);
  return tap_done();
}

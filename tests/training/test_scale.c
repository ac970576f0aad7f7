/* SPDX-License-Identifier: MIT */
/* Scales of FP8 tensors, amaxes, histories and recipes: against values and traces written
 * by hand. test_scale_exact.py has the sweep in exact arithmetic. */
#include "../harness/control_word.h"
#include "../harness/tap.h"

#include <mpnum/core/rng.h>
#include <mpnum/array/amax_history.h>

#include <float.h>
#include <stddef.h>
#include <string.h>

static const uint32_t inf = 0x7f800000u, a_nan = 0x7fffffffu;

static float of(uint32_t bits) { return mpnum_from_bits_f32(bits); }
static mpnum_scale_options options_of(int power_of_two, int margin, float fallback) {
  const mpnum_scale_options options = {power_of_two, margin, fallback};
  return options;
}
static void check_scale(float got, uint32_t want, const char *what) {
  CHECK(mpnum_bits_f32(got) == want, "%s: %08x, want %08x", what,
        (unsigned)mpnum_bits_f32(got), (unsigned)want);
}

/* By hand: 448 / amax, and the power of two below it. */
static void golden_scales_of_e4m3(void) {
  static const struct {
    uint32_t amax, scale, power_of_two, margin_3;
  } rows[] = {
      {0x3f800000u, 0x43e00000u, 0x43800000u, 0x42600000u}, /* 1: 448, 256, 56 */
      {0x40400000u, 0x43155555u, 0x43000000u, 0x41955555u}, /* 3: 149.33, 128 */
      {0x43e00000u, 0x3f800000u, 0x3f800000u, 0x3e000000u}, /* 448: 1 */
      {0x43e00001u, 0x3f7fffffu, 0x3f000000u, 0x3dffffffu}, /* above it: below 1 */
      {0x43dfffffu, 0x3f800001u, 0x3f800000u, 0x3e000001u},
      {0x7f7fffffu, 0x03e00001u, 0x03800000u, 0x02600001u}, /* FLT_MAX: 0x1.c00002p-120 */
      {0x00800000u, 0x7f7fffffu, 0x7f000000u, 0x7f7fffffu}, /* 2^-126: FLT_MAX, 2^127 */
      {0x00000001u, 0x7f7fffffu, 0x7f000000u, 0x7f7fffffu}, /* FLT_TRUE_MIN */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    for (uint32_t sign = 0; sign < 2; ++sign) {
      const float amax = of(rows[i].amax | sign << 31);
      const mpnum_scale_options power = options_of(1, 0, 1), margin = options_of(0, 3, 1);
      check_scale(mpnum_scale_from_amax(amax, 448, NULL), rows[i].scale, "nearest");
      check_scale(mpnum_scale_from_amax(amax, 448, &power), rows[i].power_of_two,
                  "power of two");
      check_scale(mpnum_scale_from_amax(amax, 448, &margin), rows[i].margin_3,
                  "margin 3");
    }
}
static void what_is_no_amax_gives_the_fallback(void) {
  static const uint32_t amaxes[] = {0,           0x80000000u, 0x7f800000u, 0xff800000u,
                                    0x7f800001u, 0x7fffffffu, 0xffc00000u};
  for (size_t i = 0; i < sizeof amaxes / sizeof amaxes[0]; ++i)
    for (int power_of_two = 0; power_of_two < 2; ++power_of_two) {
      const mpnum_scale_options options = options_of(power_of_two, 5, 3.25f);
      check_scale(mpnum_scale_from_amax(of(amaxes[i]), 448, &options), 0x40500000u,
                  "amax");
      check_scale(mpnum_scale_from_amax(of(amaxes[i]), 448, NULL), 0x3f800000u, "NULL");
      check_scale(mpnum_scale_from_amax(1, of(amaxes[i]), &options), 0x40500000u, "max");
    }
}
static void inverses_by_hand(void) {
  static const uint32_t rows[][2] = {
      {0x3f800000u, 0x3f800000u}, {0x43e00000u, 0x3b124925u}, /* 1 / 448 */
      {0x40400000u, 0x3eaaaaabu},                             /* 1 / 3 */
      {0x7f000000u, 0x00400000u},                             /* 2^127: 2^-127 */
      {0x7f7fffffu, 0x00200000u},                             /* FLT_MAX: 2^-128 */
      {0x00200001u, 0x7f7ffff8u},                             /* above 2^-128 */
      {0x00200000u, 0x7f7fffffu}, {0x00000001u, 0x7f7fffffu}, {0, 0x7fffffffu},
      {0x80000000u, 0x7fffffffu}, {0xbf800000u, 0x7fffffffu}, {0x7f800000u, 0x7fffffffu},
      {0x7fc00000u, 0x7fffffffu}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    check_scale(mpnum_scale_inv(of(rows[i][0])), rows[i][1], "inverse");
}

static void amaxes_merge_by_their_words(void) {
  /* In the order of words; a sign does not count. */
  static const uint32_t bits[] = {0,           1,           0x007fffffu,
                                  0x00800000u, 0x3f800000u, 0x3f800001u,
                                  0x7f7fffffu, 0x7f800000u, 0x7fffffffu};
  enum { COUNT = sizeof bits / sizeof bits[0] };
  for (int i = 0; i < COUNT; ++i)
    for (int k = 0; k < COUNT; ++k)
      for (uint32_t signs = 0; signs < 4; ++signs) {
        const float a = of(bits[i] | signs << 31);
        const float b = of(bits[k] | signs >> 1 << 31);
        check_scale(mpnum_amax_merge(a, b), bits[i > k ? i : k], "merge");
        CHECK(mpnum_amax_word(a) == bits[i], "word of %08x", (unsigned)bits[i]);
        CHECK((mpnum_amax_word(a) > mpnum_amax_word(b)) == (i > k), "order of words");
        CHECK(((int32_t)mpnum_amax_word(a) > (int32_t)mpnum_amax_word(b)) == (i > k),
              "order with signs");
      }
  CHECK(mpnum_amax_word(of(0xff800001u)) == a_nan &&
            mpnum_amax_word(of(0x7fc00000u)) == a_nan,
        "one word for all NaNs");
}
/* The order of tensors and ranks is of no consequence, and a NaN of any of them stays. */
static void merge_order_does_not_matter(void) {
  enum { RANKS = 8 };
  for (uint64_t run = 0; run < 2000; ++run) {
    float merged[2] = {0, 0}, amaxes[RANKS];
    mpnum_quantize_losses losses[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (uint64_t i = 0; i < RANKS; ++i)
      amaxes[i] = of(mpnum_random(1, RANKS * run + i));
    for (int i = 0; i < RANKS; ++i) {
      const mpnum_quantize_losses from = {1u << i, 3, 5, amaxes[i]};
      const int last = RANKS - 1 - i;
      const mpnum_quantize_losses back = {1u << last, 3, 5, amaxes[last]};
      merged[0] = mpnum_amax_merge(merged[0], amaxes[i]);
      merged[1] = mpnum_amax_merge(amaxes[last], merged[1]);
      losses[0] = mpnum_quantize_losses_merge(losses[0], from);
      losses[1] = mpnum_quantize_losses_merge(back, losses[1]);
    }
    check_scale(merged[0], mpnum_bits_f32(merged[1]), "in another order");
    for (int k = 0; k < 2; ++k) {
      CHECK(losses[k].saturated == 255 && losses[k].underflowed == 24 &&
                losses[k].nonfinite == 40,
            "counts");
      check_scale(losses[k].amax, mpnum_bits_f32(merged[0]), "amax of losses");
    }
  }
}

static mpnum_amax_history started(float *amaxes, uint32_t length, int algorithm,
                                  mpnum_scale_options options) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  mpnum_amax_history history;
  memset(&history, 0, sizeof history);
  recipe.history_length = length;
  recipe.algorithm = algorithm;
  recipe.options = options;
  CHECK(mpnum_amax_history_init(&history, amaxes, length, 448, &recipe) == MPNUM_OK,
        "init");
  return history;
}
/* By hand: length 4, of e4m3. */
static void golden_traces(void) {
  enum { STEPS = 6 };
  static const float amaxes[STEPS] = {1, 4, 2, 2, 2, 2};
  static const struct {
    int algorithm, power_of_two, margin;
    float scales[STEPS];
  } rows[] = {{MPNUM_AMAX_MAX, 0, 0, {448, 112, 112, 112, 112, 224}},
              {MPNUM_AMAX_MOST_RECENT, 0, 0, {448, 112, 224, 224, 224, 224}},
              {MPNUM_AMAX_MAX, 1, 0, {256, 64, 64, 64, 64, 128}},
              {MPNUM_AMAX_MAX, 0, 2, {112, 28, 28, 28, 28, 56}}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    float ring[5] = {9, 9, 9, 9, 9};
    mpnum_amax_history history = started(
        ring, 4, rows[i].algorithm, options_of(rows[i].power_of_two, rows[i].margin, 7));
    CHECK(history.scale == 7 && mpnum_amax_history_amax(&history, ring) == 0,
          "before the first one");
    for (int step = 0; step < STEPS; ++step) {
      const float scale = mpnum_amax_history_update(&history, ring, amaxes[step]);
      CHECK(scale == rows[i].scales[step] && history.scale == scale,
            "row %d, step %d: %a", (int)i, step, (double)scale);
      check_scale(history.scale_inv, mpnum_bits_f32(mpnum_scale_inv(scale)), "inverse");
    }
    CHECK(ring[4] == 9, "written past the end");
    CHECK(history.pushed == STEPS, "pushed");
  }
}
/* An Inf used to pin the scale as long as it was in a window. */
static void an_inf_does_not_pin_the_window(void) {
  const uint32_t bad[] = {inf, 0xff800000u, a_nan, 0xff800001u};
  for (int algorithm = 0; algorithm <= MPNUM_AMAX_MOST_RECENT; ++algorithm)
    for (uint64_t i = 0; i < 4; ++i) {
      float ring[3], with[3];
      mpnum_amax_history clean = started(ring, 3, algorithm, options_of(0, 0, 1));
      mpnum_amax_history history = started(with, 3, algorithm, options_of(0, 0, 1));
      check_scale(mpnum_amax_history_update(&history, with, of(bad[i])), 0x3f800000u,
                  "the fallback stays");
      for (int step = 0; step < 20; ++step) {
        const float amax = (float)(step * 7 % 5 + 1);
        const float want = mpnum_amax_history_update(&clean, ring, amax);
        check_scale(mpnum_amax_history_update(&history, with, amax), mpnum_bits_f32(want),
                    "as without it");
        check_scale(mpnum_amax_history_update(&history, with, of(bad[i])),
                    mpnum_bits_f32(want), "the scale stays");
      }
      CHECK(history.nonfinite == 21 && history.pushed == 20 && history.zeros == 0,
            "counts");
      CHECK(memcmp(ring, with, sizeof ring) == 0, "the ring");
    }
}
static void zeros_leave_the_scale(void) {
  float ring[2];
  mpnum_amax_history history =
      started(ring, 2, MPNUM_AMAX_MOST_RECENT, options_of(0, 0, 1));
  for (int k = 0; k < 2; ++k) {
    CHECK(mpnum_amax_history_update(&history, ring, of((uint32_t)k << 31)) == 1, "first");
    CHECK(history.pushed == 0 && history.zeros == (uint64_t)k + 1, "counts");
  }
  CHECK(mpnum_amax_history_update(&history, ring, -2) == 224, "a sign does not count");
  CHECK(ring[0] == 2 && ring[1] == 0, "the ring");
  CHECK(mpnum_amax_history_update(&history, ring, 0) == 224, "stays");
  CHECK(mpnum_amax_history_amax(&history, ring) == 2, "the most recent one");
}

static void recipes_of_transformer_engine(void) {
  const mpnum_fp8_scaling scalings[] = {MPNUM_FP8_CURRENT, MPNUM_FP8_DELAYED};
  const mpnum_fp8_recipe delayed = mpnum_fp8_recipe_delayed();
  const mpnum_fp8_recipe current = mpnum_fp8_recipe_current();
  const char *field = "untouched";
  CHECK(delayed.forward == MPNUM_TYPE_E4M3 && delayed.backward == MPNUM_TYPE_E5M2 &&
            delayed.scaling == MPNUM_FP8_DELAYED && delayed.history_length == 1024 &&
            delayed.algorithm == MPNUM_AMAX_MAX && delayed.options.margin == 0 &&
            delayed.options.power_of_two == 0 && delayed.options.fallback == 1,
        "delayed");
  CHECK(current.forward == MPNUM_TYPE_E4M3 && current.backward == MPNUM_TYPE_E5M2 &&
            current.scaling == MPNUM_FP8_CURRENT,
        "current");
  CHECK((int)scalings[0] == current.scaling && (int)scalings[1] == delayed.scaling,
        "scalings");
  CHECK(mpnum_fp8_recipe_validate(&delayed, &field) == MPNUM_OK && !field, "delayed");
  CHECK(mpnum_fp8_recipe_validate(&current, NULL) == MPNUM_OK, "current");
}
static void each_wrong_field_is_named(void) {
#define WRONG(name, change)                                                            \
 do {                                                                                  \
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();                                \
  const char *field = NULL;                                                            \
  mpnum_amax_history history;                                                          \
  float ring[1024];                                                                    \
  memset(&history, 0x33, sizeof history);                                              \
  memset(ring, 0x33, sizeof ring);                                                     \
  recipe.change;                                                                       \
  CHECK(mpnum_fp8_recipe_validate(&recipe, &field) == MPNUM_ERROR_ARGUMENT && field && \
            strcmp(field, name) == 0,                                                  \
        #change ": %s", field ? field : "NULL");                                       \
  CHECK(mpnum_fp8_recipe_validate(&recipe, NULL) == MPNUM_ERROR_ARGUMENT, "no field"); \
  CHECK(mpnum_amax_history_init(&history, ring, 1024, 448, &recipe) ==                 \
            MPNUM_ERROR_ARGUMENT,                                                      \
        #change ": init");                                                             \
  CHECK(mpnum_bits_f32(ring[0]) == 0x33333333u &&                                      \
            mpnum_bits_f32(history.scale) == 0x33333333u,                              \
        #change ": written");                                                          \
 } while (0)
  WRONG("forward", forward = 0);
  WRONG("forward", forward = -1);
  WRONG("forward", forward = 15);
  WRONG("forward", forward = MPNUM_TYPE_F32);
  WRONG("forward", forward = MPNUM_TYPE_E8M0);
  WRONG("forward", forward = MPNUM_TYPE_E3M2);
  WRONG("backward", backward = MPNUM_TYPE_F16);
  WRONG("scaling", scaling = 2);
  WRONG("scaling", scaling = -1);
  WRONG("algorithm", algorithm = 2);
  WRONG("algorithm", algorithm = -1);
  WRONG("history_length", history_length = 0);
  WRONG("history_length", history_length = ((uint32_t)1 << 28) + 1);
  WRONG("power_of_two", options.power_of_two = 2);
  WRONG("margin", options.margin = 127);
  WRONG("margin", options.margin = -127);
  WRONG("fallback", options.fallback = 0);
  WRONG("fallback", options.fallback = -1);
  WRONG("fallback", options.fallback = of(inf));
  WRONG("fallback", options.fallback = of(a_nan));
#undef WRONG
}
static void each_8_bit_type_has_recipes(void) {
  for (int type = 0; type < 16; ++type) {
    mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
    const int is_fp8 = type >= MPNUM_TYPE_E5M2 && type <= MPNUM_TYPE_E3M4;
    recipe.forward = recipe.backward = type;
    CHECK((mpnum_fp8_recipe_validate(&recipe, NULL) == MPNUM_OK) == is_fp8, "type %d",
          type);
  }
}
static void bad_histories_are_refused(void) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  const uint32_t maxes[] = {0, 0x80000000u, 0xbf800000u, inf, a_nan};
  mpnum_amax_history history, before;
  float ring[4] = {9, 9, 9, 9};
  recipe.history_length = 4;
  memset(&history, 0x33, sizeof history);
  before = history;
  CHECK(mpnum_amax_history_init(&history, ring, 3, 448, &recipe) == MPNUM_ERROR_RANGE,
        "too small");
  CHECK(mpnum_amax_history_init(&history, NULL, 4, 448, &recipe) == MPNUM_ERROR_NULL,
        "NULL");
  CHECK(mpnum_amax_history_init(&history, ring, 4, 448, NULL) == MPNUM_ERROR_NULL,
        "no recipe");
  CHECK(mpnum_fp8_recipe_validate(NULL, NULL) == MPNUM_ERROR_NULL, "no recipe");
  for (int i = 0; i < 5; ++i)
    CHECK(mpnum_amax_history_init(&history, ring, 4, of(maxes[i]), &recipe) ==
              MPNUM_ERROR_ARGUMENT,
          "max %d", i);
  recipe.scaling = MPNUM_FP8_CURRENT;
  CHECK(mpnum_amax_history_init(&history, ring, 4, 448, &recipe) == MPNUM_ERROR_ARGUMENT,
        "current scaling has none");
  CHECK(memcmp(&history, &before, sizeof before) == 0 && ring[0] == 9, "written");
}
/* A checksum or memcmp compares the copies of two ranks; cuBLASLt reads scales at
 * multiples of 16 bytes. */
static void histories_have_no_padding(void) {
  CHECK(sizeof(mpnum_amax_history) == 8 * sizeof(float) + 4 * sizeof(uint64_t) &&
            sizeof(mpnum_fp8_recipe) == 8 * sizeof(float),
        "%d, %d", (int)sizeof(mpnum_amax_history), (int)sizeof(mpnum_fp8_recipe));
  CHECK(sizeof(mpnum_amax_history) % 16 == 0 &&
            offsetof(mpnum_amax_history, scale_inv) == 16,
        "scale_inv at %d", (int)offsetof(mpnum_amax_history, scale_inv));
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(golden_scales_of_e4m3);
  TAP_RUN(what_is_no_amax_gives_the_fallback);
  TAP_RUN(inverses_by_hand);
  TAP_RUN(amaxes_merge_by_their_words);
  TAP_RUN(merge_order_does_not_matter);
  TAP_RUN(golden_traces);
  TAP_RUN(an_inf_does_not_pin_the_window);
  TAP_RUN(zeros_leave_the_scale);
  TAP_RUN(recipes_of_transformer_engine);
  TAP_RUN(each_wrong_field_is_named);
  TAP_RUN(each_8_bit_type_has_recipes);
  TAP_RUN(bad_histories_are_refused);
  TAP_RUN(histories_have_no_padding);
  return tap_done();
}

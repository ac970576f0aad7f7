/* SPDX-License-Identifier: MIT */
/* Amax histories and FP8 recipes as bytes. */
#include "../harness/control_word.h"
#include "../fuzz/fuzz_history.h"
#include "stored_checks.h"
#include "../harness/must.h"
#include "../harness/tap.h"

#include <mpnum/core/rng.h>
#include <mpnum/array/scale_io.h>

#include <stdlib.h>
#include <string.h>

/* A history and its ring. */
enum { LENGTH = 4, BYTES = 68 + 4 * LENGTH };
typedef struct whole {
  mpnum_amax_history history;
  float amaxes[LENGTH];
} whole;

static mpnum_status save_whole(uint8_t *bytes, const void *state) {
  const whole *it = (const whole *)state;
  return mpnum_amax_history_save(bytes, BYTES, &it->history, it->amaxes);
}
static mpnum_status load_whole(void *state, const uint8_t *bytes, uint64_t size) {
  whole *it = (whole *)state;
  return mpnum_amax_history_load(&it->history, it->amaxes, LENGTH, bytes, size);
}
static void write_whole(uint8_t *bytes, const void *state) {
  whole copy = *(const whole *)state;
  mpnum_stored_ out =
      mpnum_stored_begin_(bytes, 0x4841706du, MPNUM_AMAX_HISTORY_VERSION_);
  mpnum_stored_history_(&out, &copy.history);
  for (int i = 0; i < LENGTH; ++i)
    mpnum_stored_f32_(&out, &copy.amaxes[i]);
  mpnum_stored_seal_(bytes, BYTES);
}
static const stored_kind whole_kind = {"history",  BYTES,      sizeof(whole),
                                       save_whole, load_whole, write_whole};

static whole started(mpnum_amax_algorithm algorithm) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  whole it;
  memset(&it, 0, sizeof it);
  recipe.history_length = LENGTH;
  recipe.algorithm = (int32_t)algorithm;
  if (mpnum_amax_history_init(&it.history, it.amaxes, LENGTH, 448, &recipe) != MPNUM_OK)
    abort();
  return it;
}
/* Five amaxes, the first of which has left, two zeros, a NaN: the scale is 448 / 4. */
static whole lived(mpnum_amax_algorithm algorithm) {
  const float amaxes[] = {9, 1, 4, 0, 2, mpnum_from_bits_f32(0x7fc00000u), 0, 3};
  whole it = started(algorithm);
  for (int i = 0; i < 8; ++i)
    (void)mpnum_amax_history_update(&it.history, it.amaxes, amaxes[i]);
  return it;
}

/* By hand from the members; the CRC is zlib's of these bytes. */
static void histories_are_saved(void) {
  static const uint8_t want[BYTES] = {
      0x6d, 0x70, 0x41, 0x48, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0xe0, 0x43, 0x00, 0x00, 0x00, 0x00,
      0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x42, 0x25, 0x49, 0x12, 0x3c, 0x05, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x40, 0x00, 0x00,
      0x80, 0x3f, 0x00, 0x00, 0x80, 0x40, 0x00, 0x00, 0x00, 0x40, 0xbb, 0x96, 0x86, 0xc4};
  const whole it = lived(MPNUM_AMAX_MAX), other = lived(MPNUM_AMAX_MOST_RECENT);
  const whole fresh = started(MPNUM_AMAX_MAX);
  uint8_t bytes[BYTES];
  CHECK(mpnum_amax_history_bytes(LENGTH) == BYTES, "bytes");
  check_stored(&whole_kind, &it, want);
  check_changed_members(&whole_kind, &it);
  check_changed_members(&whole_kind, &other);
  for (int k = 0; k < 2; ++k) {
    whole loaded;
    memset(&loaded, 0x33, sizeof loaded);
    CHECK(save_whole(bytes, k ? &fresh : &other) == MPNUM_OK &&
              load_whole(&loaded, bytes, BYTES) == MPNUM_OK &&
              memcmp(&loaded, k ? &fresh : &other, sizeof loaded) == 0,
          "%d is another", k);
  }
}
static void histories_that_cannot_be_are_refused(void) {
#define UNSOUND(change)                     \
 do {                                       \
  whole it = lived(MPNUM_AMAX_MAX);         \
  it.change;                                \
  check_unsound(&whole_kind, &it, #change); \
 } while (0)
  UNSOUND(history.options.power_of_two = 2);
  UNSOUND(history.options.power_of_two = 1); /* 112 is none */
  UNSOUND(history.options.margin = 1);
  UNSOUND(history.options.margin = 127);
  UNSOUND(history.options.fallback = 0);
  UNSOUND(history.max = 0);
  UNSOUND(history.max = 240);
  UNSOUND(history.max = mpnum_from_bits_f32(0x7fc00000u));
  UNSOUND(history.algorithm = 2);
  UNSOUND(history.algorithm = -1);
  UNSOUND(history.algorithm = MPNUM_AMAX_MOST_RECENT);
  UNSOUND(history.scale = 448);
  UNSOUND(history.scale = 0);
  UNSOUND(history.scale_inv = 1);
  UNSOUND(history.pushed = 3); /* then the last place is 0 */
  UNSOUND(history.pushed = 0);
  UNSOUND(amaxes[2] = 5);
  UNSOUND(amaxes[2] = 2);
  UNSOUND(amaxes[0] = 0);
  UNSOUND(amaxes[0] = -3);
  UNSOUND(amaxes[0] = mpnum_from_bits_f32(0x7f800000u));
  UNSOUND(amaxes[3] = mpnum_from_bits_f32(0x80000000u));
#undef UNSOUND
}
static void sizes_are_checked(void) {
  whole it = lived(MPNUM_AMAX_MAX), before = it;
  uint8_t bytes[BYTES];
  float ring[LENGTH + 1] = {9, 9, 9, 9, 9};
  CHECK(mpnum_amax_history_bytes(0) == 0, "of none");
  CHECK(mpnum_amax_history_bytes(1) == 72, "of one");
  CHECK(mpnum_amax_history_bytes((uint32_t)1 << 28) == 68 + ((uint64_t)1 << 30), "most");
  CHECK(mpnum_amax_history_bytes(((uint32_t)1 << 28) + 1) == 0, "more");
  memset(bytes, 0x5a, BYTES);
  CHECK(mpnum_amax_history_save(bytes, BYTES - 1, &it.history, it.amaxes) ==
            MPNUM_ERROR_RANGE,
        "room for the bytes");
  CHECK(mpnum_amax_history_save(bytes, BYTES, &it.history, NULL) == MPNUM_ERROR_NULL,
        "NULL");
  for (int i = 0; i < BYTES; ++i)
    CHECK(bytes[i] == 0x5a, "byte %d", i);
  CHECK(save_whole(bytes, &it) == MPNUM_OK, "save");
  CHECK(mpnum_amax_history_load(&it.history, ring, LENGTH - 1, bytes, BYTES) ==
            MPNUM_ERROR_RANGE,
        "room for the ring");
  CHECK(mpnum_amax_history_load(&it.history, NULL, LENGTH, bytes, BYTES) ==
            MPNUM_ERROR_NULL,
        "no ring");
  CHECK(memcmp(&it, &before, sizeof it) == 0 && ring[0] == 9, "changed");
  CHECK(mpnum_amax_history_load(&it.history, ring, LENGTH + 1, bytes, BYTES) ==
                MPNUM_OK &&
            memcmp(ring, before.amaxes, sizeof before.amaxes) == 0 && ring[LENGTH] == 9,
        "more room");
}
static void null_is_refused(void) {
  whole it = lived(MPNUM_AMAX_MAX), before = it;
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed(), kept = recipe;
  uint8_t bytes[BYTES], untouched[BYTES];
  memset(bytes, 0x5a, BYTES);
  memcpy(untouched, bytes, BYTES);
  CHECK(mpnum_amax_history_save(NULL, BYTES, &it.history, it.amaxes) == MPNUM_ERROR_NULL,
        "no bytes");
  CHECK(mpnum_amax_history_save(bytes, BYTES, NULL, it.amaxes) == MPNUM_ERROR_NULL,
        "no history");
  CHECK(mpnum_amax_history_save(bytes, BYTES, &it.history, NULL) == MPNUM_ERROR_NULL,
        "no ring");
  CHECK(mpnum_fp8_recipe_save(NULL, &recipe) == MPNUM_ERROR_NULL, "no bytes of a recipe");
  CHECK(mpnum_fp8_recipe_save(bytes, NULL) == MPNUM_ERROR_NULL, "no recipe");
  CHECK(memcmp(bytes, untouched, BYTES) == 0, "written");
  must(save_whole(bytes, &it));
  CHECK(mpnum_amax_history_load(NULL, it.amaxes, LENGTH, bytes, BYTES) ==
            MPNUM_ERROR_NULL,
        "into no history");
  CHECK(mpnum_amax_history_load(&it.history, NULL, LENGTH, bytes, BYTES) ==
            MPNUM_ERROR_NULL,
        "into no ring");
  CHECK(mpnum_amax_history_load(&it.history, it.amaxes, LENGTH, NULL, BYTES) ==
            MPNUM_ERROR_NULL,
        "from no bytes");
  CHECK(mpnum_fp8_recipe_load(NULL, bytes, MPNUM_FP8_RECIPE_BYTES) == MPNUM_ERROR_NULL &&
            mpnum_fp8_recipe_load(&recipe, NULL, MPNUM_FP8_RECIPE_BYTES) ==
                MPNUM_ERROR_NULL,
        "a recipe");
  CHECK(memcmp(&it, &before, sizeof it) == 0 &&
            memcmp(&recipe, &kept, sizeof recipe) == 0,
        "changed");
}
/* A length that has nothing to do with the bytes. */
static void lengths_beyond_the_bytes_are_refused(void) {
  static const uint32_t lengths[] = {0, 1, 3, 5, 0x10000000u, 0x10000001u, 0xffffffffu};
  whole it = lived(MPNUM_AMAX_MAX);
  uint8_t bytes[BYTES];
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
    it.history.length = lengths[i];
    write_whole(bytes, &it);
    check_not_loaded(&whole_kind, bytes, BYTES, MPNUM_ERROR_CORRUPT, "length");
  }
  it.history.length = 0;
  CHECK(save_whole(bytes, &it) == MPNUM_ERROR_CORRUPT, "length 0");
}

static mpnum_status save_recipe(uint8_t *bytes, const void *state) {
  return mpnum_fp8_recipe_save(bytes, (const mpnum_fp8_recipe *)state);
}
static mpnum_status load_recipe(void *state, const uint8_t *bytes, uint64_t size) {
  return mpnum_fp8_recipe_load((mpnum_fp8_recipe *)state, bytes, size);
}
static void write_recipe(uint8_t *bytes, const void *state) {
  mpnum_fp8_recipe copy = *(const mpnum_fp8_recipe *)state;
  mpnum_stored_ out = mpnum_stored_begin_(bytes, 0x5246706du, MPNUM_FP8_RECIPE_VERSION_);
  mpnum_stored_recipe_(&out, &copy);
  mpnum_stored_seal_(bytes, MPNUM_FP8_RECIPE_BYTES);
}
static void recipes_are_saved(void) {
  const stored_kind kind = {"recipe",
                            MPNUM_FP8_RECIPE_BYTES,
                            sizeof(mpnum_fp8_recipe),
                            save_recipe,
                            load_recipe,
                            write_recipe};
  /* By hand from the members; the CRC is zlib's of these bytes. */
  static const uint8_t want[MPNUM_FP8_RECIPE_BYTES] = {
      0x6d, 0x70, 0x46, 0x52, 0x01, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00,
      0x00, 0x06, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00,
      0x00, 0x00, 0x34, 0x12, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xfd,
      0xff, 0xff, 0xff, 0x00, 0x00, 0x20, 0x40, 0x9e, 0x5a, 0xec, 0x4f};
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  recipe.algorithm = MPNUM_AMAX_MOST_RECENT;
  recipe.history_length = 0x1234;
  recipe.options.power_of_two = 1;
  recipe.options.margin = -3;
  recipe.options.fallback = 2.5f;
  check_stored(&kind, &recipe, want);
  check_changed_members(&kind, &recipe);
  recipe.history_length = 0;
  check_unsound(&kind, &recipe, "history_length 0");
}

/* Two histories, one of which is saved and loaded now and then, into other memory. */
static void a_resumed_history_has_the_same_bits(void) {
  int saves = 0;
  for (uint64_t run = 0; run < 200; ++run) {
    const int algorithm = (int)(run & 1);
    const uint32_t length = (uint32_t)(run % 7) * (uint32_t)(run % 5) + 1;
    mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed(), loaded = recipe;
    mpnum_amax_history histories[2];
    float rings[3][32];
    int other = 1;
    memset(rings, 0, sizeof rings);
    memset(histories, 0, sizeof histories);
    recipe.history_length = length;
    recipe.algorithm = algorithm;
    recipe.options.power_of_two = (int32_t)(run & 2) / 2;
    for (int k = 0; k < 2; ++k)
      CHECK(mpnum_amax_history_init(&histories[k], rings[k], 32, 57344, &recipe) ==
                MPNUM_OK,
            "init");
    for (uint64_t i = 0; i < 100; ++i) {
      const float amax = mpnum_from_bits_f32(mpnum_random(run, i));
      (void)mpnum_amax_history_update(&histories[0], rings[0], amax);
      (void)mpnum_amax_history_update(&histories[1], rings[other], amax);
      if (mpnum_random(run, i + 1000) % 8 == 0) {
        uint8_t bytes[68 + 4 * 32], recipe_bytes[MPNUM_FP8_RECIPE_BYTES];
        CHECK(mpnum_amax_history_save(bytes, sizeof bytes, &histories[1], rings[other]) ==
                      MPNUM_OK &&
                  mpnum_fp8_recipe_save(recipe_bytes, &recipe) == MPNUM_OK,
              "save");
        memset(&histories[1], 0x33, sizeof histories[1]);
        memset(rings[other], 0x33, sizeof rings[other]);
        memset(&loaded, 0x33, sizeof loaded);
        other = 3 - other;
        CHECK(mpnum_fp8_recipe_load(&loaded, recipe_bytes, sizeof recipe_bytes) ==
                      MPNUM_OK &&
                  memcmp(&loaded, &recipe, sizeof recipe) == 0,
              "load a recipe");
        CHECK(mpnum_amax_history_load(&histories[1], rings[other], loaded.history_length,
                                      bytes,
                                      mpnum_amax_history_bytes(length)) == MPNUM_OK,
              "load");
        ++saves;
      }
      CHECK(memcmp(&histories[0], &histories[1], sizeof histories[0]) == 0 &&
                memcmp(rings[0], rings[other], length * sizeof(float)) == 0,
            "run %d, step %d", (int)run, (int)i);
    }
  }
  CHECK(saves > 1000, "%d saves", saves);
}

static void random_bytes_do_no_harm(void) {
  const whole saved = lived(MPNUM_AMAX_MAX);
  const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  int loaded = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    uint8_t bytes[BYTES] = {0};
    const int is_recipe = i % 4 == 3;
    const uint32_t size = is_recipe ? MPNUM_FP8_RECIPE_BYTES : BYTES;
    if (is_recipe)
      must(mpnum_fp8_recipe_save(bytes, &recipe));
    else
      save_whole(bytes, &saved);
    const uint32_t changes = mpnum_random(1, i) % 4 + 1;
    for (uint64_t k = 0; k < changes; ++k) {
      const uint32_t x = mpnum_random(2, 4 * i + k);
      bytes[8 + x % (size - 12)] ^= (uint8_t)(1 << (x >> 8) % 8);
    }
    loaded += fuzz_history(bytes + (i & 1 ? 0 : 8), i & 1 ? size : size - 12);
  }
  CHECK(loaded > 125 && loaded < 9750, "%d of them are loaded", loaded);
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(histories_are_saved);
  TAP_RUN(histories_that_cannot_be_are_refused);
  TAP_RUN(sizes_are_checked);
  TAP_RUN(null_is_refused);
  TAP_RUN(lengths_beyond_the_bytes_are_refused);
  TAP_RUN(recipes_are_saved);
  TAP_RUN(a_resumed_history_has_the_same_bits);
  TAP_RUN(random_bytes_do_no_harm);
  return tap_done();
}

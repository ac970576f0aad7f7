/* SPDX-License-Identifier: MIT */
/* Any bytes as a saved amax history or recipe, as they are and with the right ends:
 * refused, nothing changed, or one that goes on like any other and saves to the same
 * bytes. */
#include "fuzz_history.h"
#include "fuzz_bytes.h"

#include <mpnum/array/scale_io.h>

#include <string.h>

/* Of a history before its amaxes, and its place of the length. */
enum { LENGTH_AT = 28, AMAXES_AT = 64, ROOM = 2000, MOST = AMAXES_AT + 4 * ROOM + 4 };

static void put_word(uint8_t *at, uint32_t x) {
  for (int i = 0; i < 4; ++i)
    at[i] = (uint8_t)(x >> 8 * i);
}

static int load_history(const uint8_t *bytes, size_t size) {
  static uint8_t again[MOST];
  static float amaxes[ROOM + 1], before[ROOM + 1];
  mpnum_amax_history history, was;
  memset(&history, 0x33, sizeof history);
  memset(amaxes, 0x33, sizeof amaxes);
  memcpy(before, amaxes, sizeof amaxes);
  was = history;
  if (mpnum_amax_history_load(&history, amaxes, ROOM, bytes, size) != MPNUM_OK) {
    demand(memcmp(&history, &was, sizeof was) == 0);
    demand(memcmp(amaxes, before, sizeof amaxes) == 0);
    return 0;
  }
  demand(history.length <= ROOM && amaxes[history.length] == before[ROOM]);
  demand(size == mpnum_amax_history_bytes(history.length));
  demand(mpnum_amax_history_save(again, size, &history, amaxes) == MPNUM_OK);
  demand(memcmp(bytes, again, size) == 0);
  for (uint32_t i = 0; i < 50; ++i) {
    const float amax = mpnum_from_bits_f32(i * 0x9e3779b9u);
    const float scale = mpnum_amax_history_update(&history, amaxes, amax);
    demand(mpnum_bits_f32(scale) - 1 < 0x7f7fffffu);
    demand(mpnum_bits_f32(history.scale_inv) - 1 < 0x7f7fffffu);
  }
  demand(amaxes[history.length] == before[ROOM]);
  return mpnum_amax_history_save(again, size, &history, amaxes) == MPNUM_OK;
}
static int load_recipe(const uint8_t *bytes, size_t size) {
  uint8_t again[MPNUM_FP8_RECIPE_BYTES];
  mpnum_fp8_recipe recipe, was;
  memset(&recipe, 0x33, sizeof recipe);
  was = recipe;
  if (mpnum_fp8_recipe_load(&recipe, bytes, size) != MPNUM_OK) {
    demand(memcmp(&recipe, &was, sizeof was) == 0);
    return 0;
  }
  demand(mpnum_fp8_recipe_validate(&recipe, NULL) == MPNUM_OK);
  demand(mpnum_fp8_recipe_save(again, &recipe) == MPNUM_OK);
  demand(memcmp(bytes, again, sizeof again) == 0);
  return 1;
}

int fuzz_history(const uint8_t *data, size_t size) {
  static uint8_t bytes[MOST];
  size_t used = size < MOST - 12 ? size : MOST - 12;
  if (load_history(data, size) || load_recipe(data, size)) return 1;
  if (used >= MPNUM_FP8_RECIPE_BYTES - 12) {
    memcpy(bytes, "mpFR\1\0\0\0", 8);
    memcpy(bytes + 8, data, MPNUM_FP8_RECIPE_BYTES - 12);
    put_word(bytes + MPNUM_FP8_RECIPE_BYTES - 4,
             crc32_of(bytes, MPNUM_FP8_RECIPE_BYTES - 4));
    if (load_recipe(bytes, MPNUM_FP8_RECIPE_BYTES)) return 1;
  }
  used -= used % 4;
  if (used < AMAXES_AT - 8 + 4) return 0;
  memcpy(bytes, "mpAH\1\0\0\0", 8);
  memcpy(bytes + 8, data, used);
  put_word(bytes + LENGTH_AT, (uint32_t)(used + 8 - AMAXES_AT) / 4);
  put_word(bytes + 8 + used, crc32_of(bytes, 8 + used));
  return load_history(bytes, used + 12);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)fuzz_history(data, size);
  return 0;
}

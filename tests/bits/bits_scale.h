/* SPDX-License-Identifier: MIT */
/* For bits.c: lines for scales, amaxes and their histories. */
#ifndef MPNUM_TESTS_BITS_SCALE_H
#define MPNUM_TESTS_BITS_SCALE_H

#include "bits_inputs.h"

#include <mpnum/array/scale_io.h>

/* Any float, or one of the sizes of training. */
static float amax_at(uint32_t i) {
  const uint32_t bits = (uint32_t)mix(i);
  return mpnum_from_bits_f32(i % 3 ? bits : bits % 0x10000000u + 0x38000000u);
}
static void put_scales(uint32_t i) {
  static const float maxes[] = {448, 57344, 240, 30, 6};
  mpnum_scale_options options = mpnum_scale_default();
  options.power_of_two = i / 2 & 1;
  options.margin = (int32_t)(mix(i + 3) >> 40) % 300 - 150;
  options.fallback = 3;
  put_f32(mpnum_scale_from_amax(amax_at(i), maxes[i % 5], i & 1 ? &options : 0));
  put_f32(mpnum_scale_from_amax(amax_at(i), amax_at(i + 1), &options));
}
static void put_history(uint32_t i) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  mpnum_amax_history history;
  uint8_t bytes[68 + 4 * 8];
  float ring[8];
  recipe.history_length = i % 8 + 1;
  recipe.algorithm = i / 8 & 1;
  recipe.options.power_of_two = i / 16 & 1;
  recipe.options.margin = (int32_t)(i / 32 % 5) - 2;
  put_int((int)mpnum_amax_history_init(&history, ring, 8, 448, &recipe));
  for (uint32_t step = 0; step < 24; ++step) {
    put_f32(mpnum_amax_history_update(&history, ring, amax_at(24 * i + step)));
    put_f32(history.scale_inv);
    put_f32(mpnum_amax_history_amax(&history, ring));
  }
  put_int((int)mpnum_amax_history_save(bytes, sizeof bytes, &history, ring));
  put_bytes(bytes, (size_t)mpnum_amax_history_bytes(history.length));
}

#define FOR_SCALES for (uint32_t i = 0; i < 20000; ++i)
static void print_scale(void) {
  HASH(mpnum_amax_word, FOR_SCALES, put(mpnum_amax_word(amax_at(i))));
  HASH(mpnum_amax_merge, FOR_SCALES, put_f32(mpnum_amax_merge(amax_at(i), amax_at(~i))));
  HASH(mpnum_scale_from_amax, FOR_SCALES, put_scales(i));
  HASH(mpnum_scale_inv, FOR_SCALES, put_f32(mpnum_scale_inv(amax_at(i))));
  HASH(mpnum_amax_history_update, for (uint32_t i = 0; i < 1000; ++i), put_history(i));
}

#endif

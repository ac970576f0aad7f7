/* SPDX-License-Identifier: MIT */
/* FP8 recipes and amax histories as bytes. Opt-in.
 *
 *     uint64_t size = mpnum_amax_history_bytes(history.length);
 *     uint8_t *bytes = malloc(size);
 *     status = mpnum_amax_history_save(bytes, size, &history, amaxes);
 *     ...
 *     status = mpnum_amax_history_load(&history, amaxes, length, bytes, size);
 *
 * The bytes are the same on every machine (stored.h).
 * Status codes of save: MPNUM_ERROR_CORRUPT: members that no calls can have left, as
 *   load would refuse them; no byte is written then. Of load: MPNUM_ERROR_CORRUPT:
 *   another size, or bytes that save did not write; MPNUM_ERROR_VERSION; the destination
 *   is then unchanged. Of both MPNUM_ERROR_NULL, and for histories MPNUM_ERROR_RANGE:
 *   too little room. */
#ifndef MPNUM_ARRAY_SCALE_IO_H
#define MPNUM_ARRAY_SCALE_IO_H

#include "amax_history.h"
#include "../core/detail/stored.h"
MPNUM_C_BEGIN_

/* "mpFR" and the members of mpnum_fp8_recipe in their order. */
#define MPNUM_FP8_RECIPE_BYTES    44
#define MPNUM_FP8_RECIPE_VERSION_ 1
/* "mpAH", the members of mpnum_amax_history and its amaxes. */
#define MPNUM_AMAX_HISTORY_VERSION_ 1

MPNUM_MATH_ void mpnum_stored_scale_options_(mpnum_stored_ *stored,
                                             mpnum_scale_options *options) {
  mpnum_stored_i32_(stored, &options->power_of_two);
  mpnum_stored_i32_(stored, &options->margin);
  mpnum_stored_f32_(stored, &options->fallback);
}
MPNUM_MATH_ void mpnum_stored_recipe_(mpnum_stored_ *stored, mpnum_fp8_recipe *recipe) {
  mpnum_stored_i32_(stored, &recipe->forward);
  mpnum_stored_i32_(stored, &recipe->backward);
  mpnum_stored_i32_(stored, &recipe->scaling);
  mpnum_stored_i32_(stored, &recipe->algorithm);
  mpnum_stored_u32_(stored, &recipe->history_length);
  mpnum_stored_scale_options_(stored, &recipe->options);
}
/* Writes MPNUM_FP8_RECIPE_BYTES bytes. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_fp8_recipe_save(uint8_t *bytes, const mpnum_fp8_recipe *recipe) {
  mpnum_fp8_recipe copy = mpnum_fp8_recipe_delayed();
  mpnum_stored_ out = {bytes, 0};
  if (!bytes || !recipe) return MPNUM_ERROR_NULL;
  if (mpnum_fp8_recipe_validate(recipe, 0) != MPNUM_OK) return MPNUM_ERROR_CORRUPT;
  copy = *recipe;
  out = mpnum_stored_begin_(bytes, 0x5246706du, MPNUM_FP8_RECIPE_VERSION_);
  mpnum_stored_recipe_(&out, &copy);
  mpnum_stored_seal_(bytes, MPNUM_FP8_RECIPE_BYTES);
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_fp8_recipe_load(mpnum_fp8_recipe *recipe,
                                                                const uint8_t *bytes,
                                                                uint64_t size) {
  uint8_t copy[MPNUM_FP8_RECIPE_BYTES] = {0};
  mpnum_stored_ in = {copy, 1};
  mpnum_fp8_recipe loaded = mpnum_fp8_recipe_delayed();
  uint32_t version = 0;
  mpnum_status status = MPNUM_ERROR_NULL;
  if (!recipe || !bytes) return status;
  status = mpnum_stored_open_(&in, bytes, size, MPNUM_FP8_RECIPE_BYTES, 0x5246706du,
                              MPNUM_FP8_RECIPE_VERSION_, &version);
  if (status != MPNUM_OK) return status;
  mpnum_stored_recipe_(&in, &loaded);
  if (mpnum_fp8_recipe_validate(&loaded, 0) != MPNUM_OK) return MPNUM_ERROR_CORRUPT;
  *recipe = loaded;
  return MPNUM_OK;
}

/* Returns the number of bytes of a history of that length; 0 if no history can have it.
 */
MPNUM_FUNC uint64_t mpnum_amax_history_bytes(uint32_t length) {
  return length - 1 < (uint32_t)1 << 28 ? 68 + 4 * (uint64_t)length : 0;
}

MPNUM_MATH_ void mpnum_stored_history_(mpnum_stored_ *stored,
                                       mpnum_amax_history *history) {
  mpnum_stored_scale_options_(stored, &history->options);
  mpnum_stored_f32_(stored, &history->max);
  mpnum_stored_i32_(stored, &history->algorithm);
  mpnum_stored_u32_(stored, &history->length);
  mpnum_stored_f32_(stored, &history->scale);
  mpnum_stored_f32_(stored, &history->scale_inv);
  mpnum_stored_u64_(stored, &history->pushed);
  mpnum_stored_u64_(stored, &history->zeros);
  mpnum_stored_u64_(stored, &history->nonfinite);
}
/* Whether a history, apart from its amaxes and scale, is one that calls can have left. */
MPNUM_MATH_ int mpnum_amax_history_is_sound_(const mpnum_amax_history *history) {
  return mpnum_scale_wrong_(&history->options) == 0 &&
         mpnum_bits_f32(history->max) - 1 < 0x7f7fffffu && history->algorithm >= 0 &&
         history->algorithm <= MPNUM_AMAX_MOST_RECENT &&
         mpnum_amax_history_bytes(history->length) != 0;
}
/* Returns word i of constant bytes. */
MPNUM_FUNC uint32_t mpnum_stored_word_(const uint8_t *bytes, uint32_t i) {
  uint8_t copy[4] = {0};
  mpnum_stored_ in = {copy, 1};
  MPNUM_MEMCPY_(copy, bytes + 4 * (uint64_t)i, 4);
  return (uint32_t)mpnum_stored_number_(&in, 0, 4);
}
/* Whether amaxes, in memory or as bytes, are those of a sound history: the pushed ones
 * finite and above 0, the others 0, and the scale made of them. */
MPNUM_MATH_ int mpnum_amaxes_are_sound_(const mpnum_amax_history *history,
                                        const float *amaxes, const uint8_t *bytes) {
  const uint64_t last = (history->pushed - 1) % history->length;
  uint32_t largest = 0, recent = 0, i = 0;
  float scale = history->options.fallback;
  for (; i < history->length; ++i) {
    const uint32_t bits =
        amaxes ? mpnum_bits_f32(amaxes[i]) : mpnum_stored_word_(bytes, i);
    if (i < history->pushed ? bits - 1 >= 0x7f7fffffu : bits != 0) return 0;
    if (bits > largest) largest = bits;
    if (i == last) recent = bits;
  }
  if (history->algorithm == MPNUM_AMAX_MOST_RECENT) largest = recent;
  if (history->pushed != 0)
    scale = mpnum_scale_from_amax(mpnum_from_bits_f32(largest), history->max,
                                  &history->options);
  return mpnum_bits_f32(history->scale) == mpnum_bits_f32(scale) &&
         mpnum_bits_f32(history->scale_inv) == mpnum_bits_f32(mpnum_scale_inv(scale));
}

/* Writes mpnum_amax_history_bytes(history->length) bytes; size is the room in bytes. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_amax_history_save(uint8_t *bytes, uint64_t size, const mpnum_amax_history *history,
                        const float *amaxes) {
  mpnum_amax_history copy = {{0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  mpnum_stored_ out = {bytes, 0};
  uint32_t i = 0;
  if (!bytes || !history || !amaxes) return MPNUM_ERROR_NULL;
  if (!mpnum_amax_history_is_sound_(history) ||
      !mpnum_amaxes_are_sound_(history, amaxes, 0))
    return MPNUM_ERROR_CORRUPT;
  if (size < mpnum_amax_history_bytes(history->length)) return MPNUM_ERROR_RANGE;
  copy = *history;
  out = mpnum_stored_begin_(bytes, 0x4841706du, MPNUM_AMAX_HISTORY_VERSION_);
  mpnum_stored_history_(&out, &copy);
  for (; i < history->length; ++i)
    (void)mpnum_stored_number_(&out, mpnum_bits_f32(amaxes[i]), 4);
  mpnum_stored_seal_(bytes, (int)mpnum_amax_history_bytes(history->length));
  return MPNUM_OK;
}
/* Loads a history and its amaxes; amaxes has room for `room` floats, and those beyond
 * the length stay as they are. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_amax_history_load(mpnum_amax_history *history, float *amaxes, uint64_t room,
                        const uint8_t *bytes, uint64_t size) {
  uint8_t copy[64] = {0};
  mpnum_stored_ in = {copy, 1};
  mpnum_amax_history loaded = {{0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  uint32_t crc = 0, version = 0, i = 0;
  if (!history || !amaxes || !bytes) return MPNUM_ERROR_NULL;
  if (size < mpnum_amax_history_bytes(1)) return MPNUM_ERROR_CORRUPT;
  MPNUM_MEMCPY_(copy, bytes, 64);
  if (mpnum_stored_number_(&in, 0, 4) != 0x4841706du) return MPNUM_ERROR_CORRUPT;
  mpnum_stored_u32_(&in, &version);
  mpnum_stored_history_(&in, &loaded);
  if (size != mpnum_amax_history_bytes(loaded.length)) return MPNUM_ERROR_CORRUPT;
  crc = mpnum_crc32_(bytes, (int)(size - 4));
  bytes += 64;
  if (crc != mpnum_stored_word_(bytes, loaded.length)) return MPNUM_ERROR_CORRUPT;
  if (version != MPNUM_AMAX_HISTORY_VERSION_) return MPNUM_ERROR_VERSION;
  if (!mpnum_amax_history_is_sound_(&loaded) ||
      !mpnum_amaxes_are_sound_(&loaded, 0, bytes))
    return MPNUM_ERROR_CORRUPT;
  if (room < loaded.length) return MPNUM_ERROR_RANGE;
  for (; i < loaded.length; ++i)
    amaxes[i] = mpnum_from_bits_f32(mpnum_stored_word_(bytes, i));
  *history = loaded;
  return MPNUM_OK;
}

MPNUM_C_END_
#endif

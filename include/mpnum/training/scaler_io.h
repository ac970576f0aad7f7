/* SPDX-License-Identifier: MIT */
/* Saves a loss scaler and its handles as bytes and loads them, and merges what the ranks
 * of a distributed training found. Opt-in.
 *
 *     uint8_t bytes[MPNUM_GRAD_SCALER_BYTES];
 *     must(mpnum_grad_scaler_save(bytes, &scaler)); // stops if it is not MPNUM_OK
 *     ...
 *     must(mpnum_grad_scaler_load(&scaler, bytes, sizeof bytes));
 *
 * The bytes are the same on every machine (stored.h). Save a scaler and the handles of
 * its optimizers at one moment, and load them together: handles of another moment are
 * stale.
 * Status codes of save: MPNUM_ERROR_UNINITIALISED: the scaler was never initialised;
 * MPNUM_ERROR_CORRUPT: members hold what no calls can have left and load would refuse; no
 * byte is written then. Status codes of load: MPNUM_ERROR_CORRUPT: another size, or bytes
 * that save did not write; MPNUM_ERROR_VERSION; the destination is then unchanged. */
#ifndef MPNUM_TRAINING_SCALER_IO_H
#define MPNUM_TRAINING_SCALER_IO_H

#include "scaler.h"
#include "../core/detail/stored.h"
MPNUM_C_BEGIN_

/* The bytes are "mpGS" and the members of mpnum_grad_scaler in their order, the
 * configuration's id last. load also takes versions 1 and 2, which have no id and are 8
 * bytes shorter; version 1 has is_inexact, 0 or 1, in place of scale_changes. */
#define MPNUM_GRAD_SCALER_BYTES    124
#define MPNUM_GRAD_SCALER_VERSION_ 3
/* The bytes are "mpGO" and the members of mpnum_grad_optimizer. load also takes version
 * 1, which has no id, is 8 bytes shorter, and does not tell the two stages behind a step
 * apart. */
#define MPNUM_GRAD_OPTIMIZER_BYTES    52
#define MPNUM_GRAD_OPTIMIZER_VERSION_ 2

/* Stores or loads a scaler without its id. */
MPNUM_MATH_ void mpnum_stored_scaler_(mpnum_stored_ *stored, mpnum_grad_scaler *scaler) {
  mpnum_grad_scaler_config *config = &scaler->config;
  mpnum_stored_f64_(stored, &config->growth_factor);
  mpnum_stored_f64_(stored, &config->backoff_factor);
  mpnum_stored_f32_(stored, &config->init_scale);
  mpnum_stored_f32_(stored, &config->min_scale);
  mpnum_stored_f32_(stored, &config->max_scale);
  mpnum_stored_i32_(stored, &config->growth_interval);
  mpnum_stored_i32_(stored, &config->hysteresis);
  mpnum_stored_i16_(stored, &config->refill);
  mpnum_stored_i16_(stored, &config->first_count);
  mpnum_stored_i16_(stored, &config->overflow_count);
  mpnum_stored_i16_(stored, &config->growth_count);
  mpnum_stored_i16_(stored, &config->any_scale);
  mpnum_stored_i16_(stored, &config->enabled);
  mpnum_stored_f32_(stored, &scaler->scale);
  mpnum_stored_f32_(stored, &scaler->inverse);
  mpnum_stored_u64_(stored, &scaler->updates);
  mpnum_stored_u64_(stored, &scaler->overflows);
  mpnum_stored_u64_(stored, &scaler->applied);
  mpnum_stored_u64_(stored, &scaler->skipped);
  mpnum_stored_i32_(stored, &scaler->count);
  mpnum_stored_i32_(stored, &scaler->hysteresis_left);
  mpnum_stored_u32_(stored, &scaler->consecutive_overflows);
  mpnum_stored_u32_(stored, &scaler->scale_changes);
}
/* Whether init and other calls can have left a scaler like this. */
MPNUM_MATH_ int mpnum_grad_scaler_is_sound_(const mpnum_grad_scaler *scaler) {
  const mpnum_grad_scaler_config *config = &scaler->config;
  const uint32_t bits = mpnum_bits_f32(scaler->scale);
  mpnum_grad_scaler rescaled = *scaler;
  if (mpnum_grad_scaler_validate(*config) != MPNUM_OK) return 0;
  if (config->enabled ? bits < mpnum_bits_f32(config->min_scale) ||
                            bits > mpnum_bits_f32(config->max_scale)
                      : bits != 0x3f800000u)
    return 0;
  mpnum_grad_set_scale_(&rescaled, scaler->scale);
  return mpnum_bits_f32(rescaled.inverse) == mpnum_bits_f32(scaler->inverse) &&
         scaler->overflows <= scaler->updates &&
         scaler->consecutive_overflows <= scaler->overflows && scaler->count >= -1 &&
         scaler->count < config->growth_interval && scaler->hysteresis_left >= 1 &&
         scaler->hysteresis_left <= config->hysteresis;
}

/* Writes MPNUM_GRAD_SCALER_BYTES bytes. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_save(uint8_t *bytes, const mpnum_grad_scaler *scaler) {
  mpnum_grad_scaler copy = *scaler;
  mpnum_stored_ out;
  if (mpnum_grad_is_unborn_(scaler)) return MPNUM_ERROR_UNINITIALISED;
  if (!mpnum_grad_scaler_is_sound_(scaler)) return MPNUM_ERROR_CORRUPT;
  out = mpnum_stored_begin_(bytes, 0x5347706du, MPNUM_GRAD_SCALER_VERSION_);
  mpnum_stored_scaler_(&out, &copy);
  mpnum_stored_u64_(&out, &copy.config.id);
  mpnum_stored_seal_(bytes, MPNUM_GRAD_SCALER_BYTES);
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_load(mpnum_grad_scaler *scaler, const uint8_t *bytes, uint64_t size) {
  uint8_t copy[MPNUM_GRAD_SCALER_BYTES] = {0};
  mpnum_stored_ in = {copy, 1};
  mpnum_grad_scaler loaded;
  uint32_t version = 0;
  const int has_id = size != MPNUM_GRAD_SCALER_BYTES - 8; /* else it is version 1 or 2 */
  const mpnum_status status =
      mpnum_stored_open_(&in, bytes, size, MPNUM_GRAD_SCALER_BYTES - (has_id ? 0 : 8),
                         0x5347706du, MPNUM_GRAD_SCALER_VERSION_, &version);
  if (status != MPNUM_OK) return status;
  if (has_id != (version > 2)) return MPNUM_ERROR_CORRUPT;
  mpnum_grad_start_(&loaded, mpnum_grad_scaler_default());
  mpnum_stored_scaler_(&in, &loaded);
  if (has_id) mpnum_stored_u64_(&in, &loaded.config.id);
  if (!mpnum_grad_scaler_is_sound_(&loaded) || (version == 1 && loaded.scale_changes > 1))
    return MPNUM_ERROR_CORRUPT;
  if (version == 1) loaded.scale_changes = 0;
  *scaler = loaded;
  return MPNUM_OK;
}

/* Stores or loads a handle without its id. */
MPNUM_MATH_ void mpnum_stored_optimizer_(mpnum_stored_ *stored,
                                         mpnum_grad_optimizer *optimizer) {
  mpnum_stored_u32_(stored, &optimizer->stage);
  mpnum_stored_u32_(stored, &optimizer->found_inf);
  mpnum_stored_u32_(stored, &optimizer->window);
  mpnum_stored_u32_(stored, &optimizer->consecutive_skips);
  mpnum_stored_f32_(stored, &optimizer->norm);
  mpnum_stored_f32_(stored, &optimizer->clipped_to);
  mpnum_stored_u32_(stored, &optimizer->updates);
  mpnum_stored_u32_(stored, &optimizer->scale_changes);
}
MPNUM_FUNC int mpnum_grad_optimizer_is_sound_(const mpnum_grad_optimizer *optimizer) {
  return optimizer->stage <= MPNUM_GRAD_SKIPPED && optimizer->found_inf <= 1 &&
         optimizer->window <= MPNUM_GRAD_WINDOW_CLOSED &&
         mpnum_grad_is_norm_(optimizer->norm) &&
         mpnum_bits_f32(optimizer->norm) != 0x80000000u &&
         mpnum_bits_f32(optimizer->clipped_to) - 1 < 0x7f800000u;
}
/* Writes MPNUM_GRAD_OPTIMIZER_BYTES bytes. A found_inf that is not 0 becomes 1. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_optimizer_save(uint8_t *bytes, const mpnum_grad_optimizer *optimizer) {
  mpnum_grad_optimizer copy = *optimizer;
  mpnum_stored_ out;
  copy.found_inf = copy.found_inf != 0;
  if (!mpnum_grad_optimizer_is_sound_(&copy)) return MPNUM_ERROR_CORRUPT;
  out = mpnum_stored_begin_(bytes, 0x4f47706du, MPNUM_GRAD_OPTIMIZER_VERSION_);
  mpnum_stored_optimizer_(&out, &copy);
  mpnum_stored_u64_(&out, &copy.id);
  mpnum_stored_seal_(bytes, MPNUM_GRAD_OPTIMIZER_BYTES);
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_grad_optimizer_load(
    mpnum_grad_optimizer *optimizer, const uint8_t *bytes, uint64_t size) {
  uint8_t copy[MPNUM_GRAD_OPTIMIZER_BYTES] = {0};
  mpnum_stored_ in = {copy, 1};
  mpnum_grad_optimizer loaded = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  uint32_t version = 0;
  const int has_id = size != MPNUM_GRAD_OPTIMIZER_BYTES - 8; /* else it is version 1 */
  const mpnum_status status =
      mpnum_stored_open_(&in, bytes, size, MPNUM_GRAD_OPTIMIZER_BYTES - (has_id ? 0 : 8),
                         0x4f47706du, MPNUM_GRAD_OPTIMIZER_VERSION_, &version);
  if (status != MPNUM_OK) return status;
  if (has_id != (version > 1)) return MPNUM_ERROR_CORRUPT;
  mpnum_stored_optimizer_(&in, &loaded);
  if (has_id) mpnum_stored_u64_(&in, &loaded.id);
  if (!mpnum_grad_optimizer_is_sound_(&loaded) ||
      (version == 1 && loaded.stage > MPNUM_GRAD_STEPPED))
    return MPNUM_ERROR_CORRUPT;
  if (loaded.stage == MPNUM_GRAD_STEPPED && loaded.found_inf && version == 1)
    loaded.stage = MPNUM_GRAD_SKIPPED;
  *optimizer = loaded;
  return MPNUM_OK;
}

/* NaN if one is NaN, else unknown if one is unknown, else the larger one; -0 is 0. */
MPNUM_FUNC float mpnum_grad_larger_norm_(float a, float b) {
  const uint32_t bits[2] = {mpnum_bits_f32(a), mpnum_bits_f32(b)};
  uint32_t larger = 0;
  int i = 0;
  for (; i < 2; ++i) {
    if ((bits[i] & 0x7fffffffu) > 0x7f800000u) return mpnum_from_bits_f32(0x7fffffffu);
    if (bits[i] < 0x80000000u && bits[i] > larger) larger = bits[i];
  }
  if (mpnum_grad_is_unknown_(a) || mpnum_grad_is_unknown_(b))
    return MPNUM_GRAD_NORM_UNKNOWN;
  return mpnum_from_bits_f32(larger);
}
/* Merges the handles of two ranks or devices for the same gradients, or for parts of
 * them. All ranks then take the same step: step after the merge. Over MPI or NCCL the
 * maximum or the sum of found_inf does the same. The norm is the larger one, NaN or
 * unknown if one is; the norm of all parts is that of their merged totals (exact_sum.h).
 * Status codes: MPNUM_ERROR_LATE_FOUND_INF: both have stepped with different verdicts, or
 *   a found_inf has changed since the step; MPNUM_ERROR_ARGUMENT: their stages or
 *   windows differ; MPNUM_ERROR_STALE_HANDLE: they are not of one scaler and update;
 *   MPNUM_ERROR_STALE_SCALE: they are not of one scale; *merged is then unchanged. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_grad_optimizer_merge(
    mpnum_grad_optimizer *merged, mpnum_grad_optimizer a, mpnum_grad_optimizer b) {
  const int are_stepped = a.stage >= MPNUM_GRAD_STEPPED && b.stage >= MPNUM_GRAD_STEPPED;
  if (a.window != b.window || (a.stage != b.stage && !are_stepped))
    return MPNUM_ERROR_ARGUMENT;
  if (a.id != b.id || a.updates != b.updates) return MPNUM_ERROR_STALE_HANDLE;
  if (a.scale_changes != b.scale_changes) return MPNUM_ERROR_STALE_SCALE;
  if (a.stage != b.stage || mpnum_grad_is_late_(&a) || mpnum_grad_is_late_(&b))
    return MPNUM_ERROR_LATE_FOUND_INF;
  a.found_inf = (a.found_inf | b.found_inf) != 0;
  if (b.consecutive_skips > a.consecutive_skips)
    a.consecutive_skips = b.consecutive_skips;
  a.norm = mpnum_grad_larger_norm_(a.norm, b.norm);
  if (mpnum_bits_f32(b.clipped_to) > mpnum_bits_f32(a.clipped_to))
    a.clipped_to = b.clipped_to;
  *merged = a;
  return MPNUM_OK;
}

MPNUM_C_END_
#endif

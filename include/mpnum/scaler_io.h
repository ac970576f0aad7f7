/* SPDX-License-Identifier: MIT */
/* A loss scaler as bytes, and what the ranks of a distributed training tell each other.
 * Opt-in.
 *
 *     uint8_t bytes[MPNUM_GRAD_SCALER_BYTES];
 *     mpnum_grad_scaler_save(bytes, &scaler);
 *     ...
 *     status = mpnum_grad_scaler_load(&scaler, bytes, sizeof bytes);
 *
 * The bytes are the same on every machine. Save between an update and the next check. */
#ifndef MPNUM_SCALER_IO_H
#define MPNUM_SCALER_IO_H

#include "scaler.h"

/* "mpGS", a version, the members of mpnum_grad_scaler in their order, CRC-32 (the one of
 * zip and PNG) of all that; each number with its lowest byte first. */
#define MPNUM_GRAD_SCALER_BYTES   116
#define MPNUM_GRAD_SCALER_VERSION 1

/* A place in the bytes, to which or from which the members go. */
typedef struct mpnum_stored_ {
  uint8_t *at;
  int is_loading;
} mpnum_stored_;

MPNUM_FUNC uint64_t mpnum_stored_number_(mpnum_stored_ *stored, uint64_t x, int size) {
  uint64_t loaded = 0;
  int i = 0;
  for (; i < size; ++i) {
    if (stored->is_loading) {
      loaded |= (uint64_t)*stored->at << 8 * i;
    } else {
      *stored->at = (uint8_t)(x >> 8 * i & 0xff);
    }
    stored->at += 1;
  }
  return stored->is_loading ? loaded : x;
}
MPNUM_FUNC void mpnum_stored_u64_(mpnum_stored_ *stored, uint64_t *x) {
  *x = mpnum_stored_number_(stored, *x, 8);
}
MPNUM_FUNC void mpnum_stored_u32_(mpnum_stored_ *stored, uint32_t *x) {
  *x = (uint32_t)mpnum_stored_number_(stored, *x, 4);
}
/* Two's complement, whatever the compiler makes of large numbers. */
MPNUM_FUNC void mpnum_stored_i32_(mpnum_stored_ *stored, int32_t *x) {
  const uint32_t bits =
      (uint32_t)mpnum_stored_number_(stored, (uint64_t)(int64_t)*x & 0xffffffffu, 4);
  *x = bits >> 31 ? -(int32_t)(~bits) - 1 : (int32_t)bits;
}
MPNUM_FUNC void mpnum_stored_i16_(mpnum_stored_ *stored, int16_t *x) {
  const uint32_t bits =
      (uint32_t)mpnum_stored_number_(stored, (uint64_t)(int64_t)*x & 0xffffu, 2);
  *x = (int16_t)(bits >> 15 ? (int32_t)bits - 65536 : (int32_t)bits);
}
MPNUM_MATH_ void mpnum_stored_f32_(mpnum_stored_ *stored, float *x) {
  *x = mpnum_from_bits_f32((uint32_t)mpnum_stored_number_(stored, mpnum_bits_f32(*x), 4));
}
MPNUM_MATH_ void mpnum_stored_f64_(mpnum_stored_ *stored, double *x) {
  *x = mpnum_from_bits_f64(mpnum_stored_number_(stored, mpnum_bits_f64(*x), 8));
}
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
  mpnum_stored_u32_(stored, &scaler->is_inexact);
}
MPNUM_FUNC uint32_t mpnum_crc32_(const uint8_t *bytes, int count) {
  uint32_t crc = 0xffffffffu;
  int i = 0, bit = 0;
  for (; i < count; ++i) {
    crc ^= bytes[i];
    for (bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

/* Writes MPNUM_GRAD_SCALER_BYTES bytes. */
MPNUM_MATH_ void mpnum_grad_scaler_save(uint8_t *bytes, const mpnum_grad_scaler *scaler) {
  mpnum_stored_ out = {bytes, 0};
  mpnum_grad_scaler copy = *scaler;
  (void)mpnum_stored_number_(&out, 0x5347706du, 4); /* mpGS */
  (void)mpnum_stored_number_(&out, MPNUM_GRAD_SCALER_VERSION, 4);
  mpnum_stored_scaler_(&out, &copy);
  (void)mpnum_stored_number_(&out, mpnum_crc32_(bytes, MPNUM_GRAD_SCALER_BYTES - 4), 4);
}

/* Whether a scaler is one that init and updates can have left. */
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
         scaler->hysteresis_left <= config->hysteresis && scaler->is_inexact <= 1;
}
/* The scaler that was saved. Status codes: MPNUM_ERROR_CORRUPT: another size, or bytes
 * that mpnum_grad_scaler_save did not write; MPNUM_ERROR_VERSION. The scaler is then
 * unchanged. */
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_load(mpnum_grad_scaler *scaler,
                                                const uint8_t *bytes, uint64_t size) {
  uint8_t copy[MPNUM_GRAD_SCALER_BYTES] = {0};
  mpnum_stored_ in = {copy, 1}, end = {copy + (MPNUM_GRAD_SCALER_BYTES - 4), 1};
  mpnum_grad_scaler loaded;
  if (size != MPNUM_GRAD_SCALER_BYTES) return MPNUM_ERROR_CORRUPT;
  MPNUM_MEMCPY_(copy, bytes, MPNUM_GRAD_SCALER_BYTES);
  mpnum_grad_start_(&loaded, mpnum_grad_scaler_default());
  if (mpnum_stored_number_(&in, 0, 4) != 0x5347706du ||
      mpnum_stored_number_(&end, 0, 4) != mpnum_crc32_(copy, MPNUM_GRAD_SCALER_BYTES - 4))
    return MPNUM_ERROR_CORRUPT;
  if (mpnum_stored_number_(&in, 0, 4) != MPNUM_GRAD_SCALER_VERSION)
    return MPNUM_ERROR_VERSION;
  mpnum_stored_scaler_(&in, &loaded);
  if (!mpnum_grad_scaler_is_sound_(&loaded)) return MPNUM_ERROR_CORRUPT;
  *scaler = loaded;
  return MPNUM_OK;
}

/* One handle for what two ranks or devices found in the same gradients, or in parts of
 * them: all ranks then take the same step. Over MPI or NCCL the maximum of found_inf does
 * the same. The norm is the larger one, NaN if one is; the norm of parts is that of their
 * merged totals (total.h). Status codes: MPNUM_ERROR_ARGUMENT: they are not at the same
 * stage; merged is then unchanged. */
MPNUM_FUNC mpnum_status mpnum_grad_optimizer_merge(mpnum_grad_optimizer *merged,
                                                   mpnum_grad_optimizer a,
                                                   mpnum_grad_optimizer b) {
  if (a.stage != b.stage || a.accumulating != b.accumulating) return MPNUM_ERROR_ARGUMENT;
  a.found_inf |= b.found_inf;
  if (b.consecutive_skips > a.consecutive_skips)
    a.consecutive_skips = b.consecutive_skips;
  if (mpnum_bits_f32(b.norm) > mpnum_bits_f32(a.norm)) a.norm = b.norm;
  *merged = a;
  return MPNUM_OK;
}

#endif

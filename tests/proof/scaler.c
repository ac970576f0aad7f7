/* SPDX-License-Identifier: MIT */
/* The loss scaler as functions of numbers alone: whether a state stays one that the
 * scaler itself makes. */
#include <mpnum/core/detail/config.h>
#undef MPNUM_RARE_
#define MPNUM_RARE_ MPNUM_INLINE /* no call is left */
#include <mpnum/training/scaler_io.h>

#define CONFIG                                                                    \
 uint64_t growth_factor, uint64_t backoff_factor, uint32_t init_scale,            \
     uint32_t min_scale, uint32_t max_scale, int growth_interval, int hysteresis, \
     uint32_t choices
#define STATE uint32_t scale, uint64_t updates, int count, int hysteresis_left

static inline mpnum_grad_scaler make(CONFIG, STATE) {
  mpnum_grad_scaler scaler;
  scaler.config.growth_factor = mpnum_from_bits_f64(growth_factor);
  scaler.config.backoff_factor = mpnum_from_bits_f64(backoff_factor);
  scaler.config.init_scale = mpnum_from_bits_f32(init_scale);
  scaler.config.min_scale = mpnum_from_bits_f32(min_scale);
  scaler.config.max_scale = mpnum_from_bits_f32(max_scale);
  scaler.config.growth_interval = growth_interval;
  scaler.config.hysteresis = hysteresis;
  scaler.config.refill = (int16_t)(choices & 3);
  scaler.config.first_count = (int16_t) - (int)(choices >> 2 & 1);
  scaler.config.overflow_count = (int16_t) - (int)(choices >> 3 & 1);
  scaler.config.growth_count = (int16_t) - (int)(choices >> 4 & 1);
  scaler.config.any_scale = (int16_t)(choices >> 5 & 1);
  scaler.config.enabled = (int16_t)(choices >> 6 & 1);
  scaler.config.id = 0;
  scaler.scale = mpnum_from_bits_f32(scale);
  scaler.inverse = 0;
  scaler.updates = updates;
  scaler.overflows = scaler.applied = scaler.skipped = 0;
  scaler.count = count;
  scaler.hysteresis_left = hysteresis_left;
  scaler.consecutive_overflows = 0;
  scaler.scale_changes = 0;
  return scaler;
}

/* Of an enabled scaler: the scale is within its limits, the counts within theirs. */
static inline int is_sound(const mpnum_grad_scaler *scaler) {
  const uint32_t scale = mpnum_bits_f32(scaler->scale);
  return scale >= mpnum_bits_f32(scaler->config.min_scale) &&
         scale <= mpnum_bits_f32(scaler->config.max_scale) && scaler->count >= -1 &&
         scaler->count < scaler->config.growth_interval && scaler->hysteresis_left >= 1 &&
         scaler->hysteresis_left <= scaler->config.hysteresis;
}

/* 0: it left a sound state. */
uint32_t scaler_start(CONFIG, STATE) {
  mpnum_grad_scaler scaler = make(growth_factor, backoff_factor, init_scale, min_scale,
                                  max_scale, growth_interval, hysteresis, choices | 64,
                                  scale, updates, count, hysteresis_left);
  if (mpnum_grad_scaler_validate(scaler.config)) return 1;
  mpnum_grad_start_(&scaler, scaler.config);
  return (uint32_t)is_sound(&scaler);
}

uint32_t scaler_update(CONFIG, STATE, uint32_t found) {
  mpnum_grad_scaler scaler = make(growth_factor, backoff_factor, init_scale, min_scale,
                                  max_scale, growth_interval, hysteresis, choices | 64,
                                  scale, updates, count, hysteresis_left);
  if (mpnum_grad_scaler_validate(scaler.config) || !is_sound(&scaler)) return 1;
  mpnum_grad_next_scale_(&scaler, found != 0);
  return (uint32_t)is_sound(&scaler);
}

/* A new configuration for a scaler of the same, whose growth_interval is another. */
uint32_t scaler_configure(CONFIG, STATE, int interval) {
  mpnum_grad_scaler scaler = make(growth_factor, backoff_factor, init_scale, min_scale,
                                  max_scale, growth_interval, hysteresis, choices | 64,
                                  scale, updates, count, hysteresis_left);
  mpnum_grad_scaler_config config = scaler.config;
  if (mpnum_grad_scaler_validate(config) || !is_sound(&scaler)) return 1;
  config.growth_interval = interval;
  return mpnum_grad_scaler_configure(&scaler, config) || is_sound(&scaler);
}

/* Steps that Eva cannot tell to have no undefined shift or sum: 1. */
uint32_t wide_sum(uint64_t a, int a_exponent, uint64_t b, int b_exponent) {
  const mpnum_wide_ x = {a, a_exponent, 0}, y = {b, b_exponent, 0};
  if (a_exponent < -100000 || a_exponent > 100000 || b_exponent < -100000 ||
      b_exponent > 100000)
    return 1;
  return (mpnum_wide_add_(x, y).significand & 0) + 1;
}

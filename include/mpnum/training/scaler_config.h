/* SPDX-License-Identifier: MIT */
/* The configuration of a loss scaler (scaler.h), with presets: a default, one for losses
 * in f16, a static scale, and those of six frameworks. */
#ifndef MPNUM_TRAINING_SCALER_CONFIG_H
#define MPNUM_TRAINING_SCALER_CONFIG_H

#include "../core/format.h"
#include "../core/detail/bits.h"
MPNUM_C_BEGIN_

/* When the count of overflows until the scale shrinks starts anew at hysteresis. */
typedef enum mpnum_grad_refill {
  MPNUM_GRAD_REFILL_NEVER = 0,
  MPNUM_GRAD_REFILL_CLEAN = 1, /* after each update without overflow */
  MPNUM_GRAD_REFILL_GROWTH = 2
} mpnum_grad_refill;

/* An update without overflow adds 1 to a count; when the count reaches growth_interval,
 * the scale is multiplied by growth_factor. Overflow number hysteresis since the last
 * refill, and each overflow after it, multiplies the scale by backoff_factor. Products
 * are computed in double, rounded to float, as in PyTorch, and kept between min_scale and
 * max_scale. If both factors are 1, the scale is static. */
typedef struct mpnum_grad_scaler_config {
  double growth_factor;    /* above 1, or 1 where backoff_factor is 1 */
  double backoff_factor;   /* 2^-126 to below 1, or 1 where growth_factor is 1 */
  float init_scale;        /* min_scale to max_scale */
  float min_scale;         /* 2^-126 or more, so that 1 / scale is finite */
  float max_scale;         /* at most 2^126, so that 1 / scale is no subnormal number */
  int32_t growth_interval; /* 1 or more */
  int32_t hysteresis;      /* 1 or more */
  int16_t refill;          /* enum mpnum_grad_refill */
  int16_t first_count;     /* the count at the start, 0 or -1 */
  int16_t overflow_count;  /* the count after an overflow, 0 or -1 */
  int16_t growth_count;    /* the count after a growth, 0 or -1 */
  int16_t any_scale; /* 1: max_scale may be FLT_MAX; a growth to Inf leaves the scale */
  int16_t enabled;   /* 0: scale 1, nothing is skipped */
  uint64_t id; /* 0, or a number for this scaler, the same on all ranks; handles keep it,
                  and handles with another id are refused */
} mpnum_grad_scaler_config;

/* Configurations:
 * default:   from 65536 on, doubled after 2000 updates without overflow, halved by each
 *            overflow, between 1 and 2^126
 * f16:       for a loss scaled in f16, whose largest value is 65504: the same, but from
 *            32768 on, and never above
 * torch:     torch.amp.GradScaler; it has no floor, here 2^-126
 * apex:      update_scale_hysteresis of apex and Transformer Engine
 * megatron:  DynamicGradScaler of Megatron-LM
 * deepspeed: DynamicLossScaler with its delayed_shift and consecutive_hysteresis (0, 1)
 * flax:      flax.training.dynamic_scale.DynamicScale
 * jmp:       jmp.DynamicLossScale, which backs off by dividing by the growth factor
 * static:    this scale, which neither grows nor shrinks; Inf and NaN are still skipped
 * torch to jmp have the default values of their frameworks. A growth that would give Inf
 * leaves their scale as it is, as in PyTorch, Apex and JMP; Flax itself goes to FLT_MAX,
 * Megatron-LM to Inf, DeepSpeed to a double. */
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_default(void) {
  const mpnum_grad_scaler_config config = {
      2.0, 0.5, 65536.0f, 1.0f, mpnum_pow2_(126), 2000, 1, MPNUM_GRAD_REFILL_NEVER, 0, 0,
      0,   0,   1,        0};
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_f16(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.init_scale = config.max_scale = 32768.0f;
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_torch(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.min_scale = mpnum_pow2_(-126);
  config.max_scale = mpnum_from_bits_f32(0x7f7fffffu);
  config.any_scale = 1;
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_apex(int hysteresis) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  config.hysteresis = hysteresis;
  config.refill = MPNUM_GRAD_REFILL_CLEAN;
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_megatron(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  config.init_scale = mpnum_pow2_(32);
  config.min_scale = 1.0f;
  config.growth_interval = 1000;
  config.hysteresis = 2;
  config.refill = MPNUM_GRAD_REFILL_GROWTH;
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config
mpnum_grad_scaler_deepspeed(int delayed_shift, int consecutive_hysteresis) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  config.min_scale = 1.0f;
  config.growth_interval = 1000;
  config.hysteresis = delayed_shift;
  config.refill = (int16_t)(consecutive_hysteresis ? MPNUM_GRAD_REFILL_CLEAN
                                                   : MPNUM_GRAD_REFILL_GROWTH);
  config.first_count = -1;
  config.overflow_count = -1;
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_flax(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  config.first_count = -1;
  config.overflow_count = -1;
  config.growth_count = -1;
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_jmp(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  config.min_scale = 1.0f;
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_static(float scale) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.growth_factor = config.backoff_factor = 1.0;
  config.init_scale = scale;
  config.min_scale = mpnum_pow2_(-126);
  return config;
}

/* Checks a configuration. Status codes: each names the field that is wrong;
 * MPNUM_ERROR_ARGUMENT: refill, a count or a switch. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_validate(mpnum_grad_scaler_config config) {
  const uint64_t one = (uint64_t)1023 << 52;
  const uint64_t growth = mpnum_bits_f64(config.growth_factor);
  const uint64_t backoff = mpnum_bits_f64(config.backoff_factor);
  const uint32_t min = mpnum_bits_f32(config.min_scale);
  const uint32_t max = mpnum_bits_f32(config.max_scale);
  const uint32_t init = mpnum_bits_f32(config.init_scale);
  const int is_static = growth == one && backoff == one;
  if (!is_static && (growth <= one || growth >= (uint64_t)1150 << 52))
    return MPNUM_ERROR_GROWTH_FACTOR;
  if (!is_static && (backoff < (uint64_t)897 << 52 || backoff >= one))
    return MPNUM_ERROR_BACKOFF_FACTOR;
  if (config.growth_interval < 1) return MPNUM_ERROR_GROWTH_INTERVAL;
  if (config.hysteresis < 1) return MPNUM_ERROR_HYSTERESIS;
  if (config.refill < 0 || config.refill > MPNUM_GRAD_REFILL_GROWTH ||
      config.first_count < -1 || config.first_count > 0 || config.overflow_count < -1 ||
      config.overflow_count > 0 || config.growth_count < -1 || config.growth_count > 0 ||
      config.any_scale < 0 || config.any_scale > 1 || config.enabled < 0 ||
      config.enabled > 1)
    return MPNUM_ERROR_ARGUMENT;
  if (min < 0x00800000u || min > max ||
      max > (config.any_scale ? 0x7f7fffffu : 0x7e800000u))
    return MPNUM_ERROR_SCALE_LIMITS;
  return init < min || init > max ? MPNUM_ERROR_INIT_SCALE : MPNUM_OK;
}

MPNUM_C_END_
#endif

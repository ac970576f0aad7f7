/* SPDX-License-Identifier: MIT */
/* Loss scaling for training with narrow gradients: the state machine, on hosts and
 * devices. It touches no gradient: whoever reads them reports what was found.
 *
 *     mpnum_grad_scaler scaler;
 *     mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_ready();
 *     mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_default());
 *     for (;;) {
 *       mpnum_grad_verdict verdict;
 *       mpnum_grad_scaler_scale_f32(&scaler, loss(), &scaled);
 *       backward(scaled);
 *       found = multiply(gradients, scaler.inverse, &norm); // 1: a product was Inf, NaN
 *       mpnum_grad_scaler_unscaled(&scaler, &optimizer, found, norm);
 *       mpnum_grad_scaler_step(&scaler, &optimizer, &verdict);
 *       if (verdict == MPNUM_GRAD_APPLY) apply(gradients);
 *       mpnum_grad_scaler_update(&scaler, &optimizer, 1);
 *     }
 *
 * All structs are plain, without pointers and padding: copy them, put them into device
 * memory, compare two ranks' copies byte for byte. Each optimizer has a handle.
 * Status codes: a call out of order says so and changes nothing, see each function.
 * Bits: integers, so the same on hosts and devices, whatever the flags and the
 *   floating-point environment.
 * A scaler that is not enabled has scale 1, refuses no order, applies every step.
 * Source: Micikevicius et al., Mixed Precision Training, 2018, section 3.2. */
#ifndef MPNUM_SCALER_H
#define MPNUM_SCALER_H

#include "f16.h"
#include "bf16.h"
#include "wide.h"

/* When the overflows that may pass without a smaller scale are counted anew. */
typedef enum mpnum_grad_refill {
  MPNUM_GRAD_REFILL_NEVER = 0,
  MPNUM_GRAD_REFILL_CLEAN = 1, /* after each update without overflow */
  MPNUM_GRAD_REFILL_GROWTH = 2
} mpnum_grad_refill;

/* An update without overflow adds 1 to a count; when it reaches growth_interval, the
 * scale is multiplied by growth_factor. Overflow number hysteresis since the last refill,
 * and each one after it, multiplies by backoff_factor. Products are those of doubles,
 * rounded to float, as in PyTorch, and stay between min_scale and max_scale. */
typedef struct mpnum_grad_scaler_config {
  double growth_factor;    /* above 1 */
  double backoff_factor;   /* 2^-126 to below 1 */
  float init_scale;        /* min_scale to max_scale */
  float min_scale;         /* 2^-126 or more, so that 1 / scale is finite */
  float max_scale;         /* at most 2^126, so that 1 / scale is no subnormal number */
  int32_t growth_interval; /* 1 or more */
  int32_t hysteresis;      /* 1 or more */
  int16_t refill;          /* enum mpnum_grad_refill */
  int16_t first_count;     /* the count at the start, 0 or -1 */
  int16_t overflow_count;  /* after an overflow, 0 or -1 */
  int16_t growth_count;    /* after a growth, 0 or -1 */
  int16_t any_scale;       /* 1: max_scale may be 2^127, as in frameworks */
  int16_t enabled;         /* 0: scale 1, nothing is skipped */
} mpnum_grad_scaler_config;

typedef struct mpnum_grad_scaler {
  mpnum_grad_scaler_config config;
  float scale, inverse; /* 1 / scale, correctly rounded */
  uint64_t updates;
  uint64_t overflows;             /* updates that an optimizer had found Inf or NaN for */
  uint64_t applied, skipped;      /* steps, of all optimizers */
  int32_t count;                  /* of updates without overflow, towards a growth */
  int32_t hysteresis_left;        /* 1: the next overflow makes the scale smaller */
  uint32_t consecutive_overflows; /* updates with overflow since the last one without */
  uint32_t is_inexact; /* 1: a factor is no power of two, so scaling rounds gradients */
} mpnum_grad_scaler;

typedef enum mpnum_grad_stage {
  MPNUM_GRAD_READY = 0,
  MPNUM_GRAD_CHECKED = 1,  /* known, and still scaled */
  MPNUM_GRAD_UNSCALED = 2, /* known, and divided by the scale */
  MPNUM_GRAD_STEPPED = 3
} mpnum_grad_stage;

/* An optimizer, and what is known of the gradients of its parameters. */
typedef struct mpnum_grad_optimizer {
  uint32_t stage;        /* enum mpnum_grad_stage */
  uint32_t found_inf;    /* 0, 1; over ranks: the maximum */
  uint32_t accumulating; /* 1: further gradients will be added */
  uint32_t consecutive_skips;
  float norm; /* of the gradients divided by the scale */
} mpnum_grad_optimizer;

typedef enum mpnum_grad_verdict {
  MPNUM_GRAD_SKIP = 0,
  MPNUM_GRAD_APPLY = 1
} mpnum_grad_verdict;

/* Configurations. default: 65536, twice after 2000 updates, half at once, from 1 to
 * 2^126. The others are those of the frameworks, with their default values:
 * torch:     torch.amp.GradScaler; no floor there, here 2^-126
 * apex:      update_scale_hysteresis of apex and Transformer Engine
 * megatron:  DynamicGradScaler of Megatron-LM
 * deepspeed: DynamicLossScaler with its delayed_shift and consecutive_hysteresis (0, 1)
 * flax:      flax.training.dynamic_scale.DynamicScale
 * jmp:       jmp.DynamicLossScale
 * In all of them a scale that would overflow stays at max_scale. */
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_default(void) {
  const mpnum_grad_scaler_config config = {
      2.0, 0.5, 65536.0f, 1.0f, mpnum_pow2_(126), 2000, 1, MPNUM_GRAD_REFILL_NEVER, 0,
      0,   0,   0,        1};
  return config;
}
MPNUM_FUNC mpnum_grad_scaler_config mpnum_grad_scaler_torch(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.min_scale = mpnum_pow2_(-126);
  config.max_scale = mpnum_pow2_(127);
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

MPNUM_MATH_ void mpnum_grad_set_scale_(mpnum_grad_scaler *scaler, float scale) {
  scaler->scale = scale;
  scaler->inverse = mpnum_wide_rounded_f32_(
      mpnum_wide_div_(mpnum_wide_int_(1), mpnum_wide_f32_(mpnum_bits_f32(scale))));
}
MPNUM_MATH_ void mpnum_grad_rescale_(mpnum_grad_scaler *scaler, double factor) {
  const mpnum_wide_ scale = mpnum_wide_f32_(mpnum_bits_f32(scaler->scale));
  const uint32_t min = mpnum_bits_f32(scaler->config.min_scale);
  const uint32_t max = mpnum_bits_f32(scaler->config.max_scale);
  uint32_t bits = mpnum_bits_f32(
      mpnum_wide_rounded_twice_f32_(mpnum_wide_mul_(scale, mpnum_wide_f64_(factor))));
  bits = bits < min ? min : bits > max ? max : bits;
  mpnum_grad_set_scale_(scaler, mpnum_from_bits_f32(bits));
}

/* Whether a configuration is one. Status codes: each names the field that is wrong;
 * MPNUM_ERROR_ARGUMENT: refill, a count or a switch. */
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_validate(mpnum_grad_scaler_config config) {
  const uint64_t one = (uint64_t)1023 << 52;
  const uint64_t growth = mpnum_bits_f64(config.growth_factor);
  const uint64_t backoff = mpnum_bits_f64(config.backoff_factor);
  const uint32_t min = mpnum_bits_f32(config.min_scale);
  const uint32_t max = mpnum_bits_f32(config.max_scale);
  const uint32_t init = mpnum_bits_f32(config.init_scale);
  if (growth <= one || growth >= (uint64_t)1150 << 52) return MPNUM_ERROR_GROWTH_FACTOR;
  if (backoff < (uint64_t)897 << 52 || backoff >= one) return MPNUM_ERROR_BACKOFF_FACTOR;
  if (config.growth_interval < 1) return MPNUM_ERROR_GROWTH_INTERVAL;
  if (config.hysteresis < 1) return MPNUM_ERROR_HYSTERESIS;
  if (config.refill < 0 || config.refill > MPNUM_GRAD_REFILL_GROWTH ||
      config.first_count < -1 || config.first_count > 0 || config.overflow_count < -1 ||
      config.overflow_count > 0 || config.growth_count < -1 || config.growth_count > 0 ||
      config.any_scale < 0 || config.any_scale > 1 || config.enabled < 0 ||
      config.enabled > 1)
    return MPNUM_ERROR_ARGUMENT;
  if (min < 0x00800000u || min > max ||
      max > (config.any_scale ? 0x7f000000u : 0x7e800000u))
    return MPNUM_ERROR_SCALE_LIMITS;
  return init < min || init > max ? MPNUM_ERROR_INIT_SCALE : MPNUM_OK;
}

MPNUM_MATH_ void mpnum_grad_start_(mpnum_grad_scaler *scaler,
                                   mpnum_grad_scaler_config config) {
  const uint64_t factors =
      mpnum_bits_f64(config.growth_factor) | mpnum_bits_f64(config.backoff_factor);
  float scale = 1;
  if (config.enabled) scale = config.init_scale;
  scaler->config = config;
  mpnum_grad_set_scale_(scaler, scale);
  scaler->updates = scaler->overflows = scaler->applied = scaler->skipped = 0;
  scaler->count = config.first_count;
  scaler->hysteresis_left = config.hysteresis;
  scaler->consecutive_overflows = 0;
  scaler->is_inexact = (factors & 0xfffffffffffffu) != 0 ||
                       (mpnum_bits_f32(config.init_scale) & 0x7fffffu) != 0;
}
/* Status codes: those of mpnum_grad_scaler_validate; the scaler is then unchanged. */
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_init(mpnum_grad_scaler *scaler,
                                                mpnum_grad_scaler_config config) {
  const mpnum_status status = mpnum_grad_scaler_validate(config);
  if (status == MPNUM_OK) mpnum_grad_start_(scaler, config);
  return status;
}
/* The scale from now on; counts begin anew. Not while gradients of another scale are
 * about. Status codes: MPNUM_ERROR_INIT_SCALE: not within the limits. */
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_set_scale(mpnum_grad_scaler *scaler,
                                                     float scale) {
  const uint32_t bits = mpnum_bits_f32(scale);
  if (!scaler->config.enabled) return MPNUM_OK;
  if (bits < mpnum_bits_f32(scaler->config.min_scale) ||
      bits > mpnum_bits_f32(scaler->config.max_scale))
    return MPNUM_ERROR_INIT_SCALE;
  mpnum_grad_set_scale_(scaler, scale);
  scaler->count = scaler->config.first_count;
  scaler->hysteresis_left = scaler->config.hysteresis;
  scaler->is_inexact |= (bits & 0x7fffffu) != 0;
  return MPNUM_OK;
}

/* loss * scale. A loss that is Inf or NaN stays so, as its gradients will tell.
 * Status codes: MPNUM_ERROR_UNREPRESENTABLE: a finite loss would become Inf; scaled is
 * then unchanged. */
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_scale_f32(const mpnum_grad_scaler *scaler,
                                                     float loss, float *scaled) {
  const uint32_t bits = mpnum_bits_f32(loss), magnitude = bits & 0x7fffffffu;
  uint32_t product = magnitude;
  if (magnitude - 1 < 0x7f7fffffu) { /* neither 0 nor Inf nor NaN */
    product = mpnum_bits_f32(mpnum_wide_rounded_f32_(mpnum_wide_mul_(
        mpnum_wide_f32_(magnitude), mpnum_wide_f32_(mpnum_bits_f32(scaler->scale)))));
    if (product >= 0x7f800000u) return MPNUM_ERROR_UNREPRESENTABLE;
  }
  *scaled = mpnum_from_bits_f32(product | (bits & 0x80000000u));
  return MPNUM_OK;
}
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_scale_f16(const mpnum_grad_scaler *scaler,
                                                     mpnum_f16 loss, mpnum_f16 *scaled) {
  float product = 0;
  mpnum_f16 result = {0};
  const mpnum_status status =
      mpnum_grad_scaler_scale_f32(scaler, mpnum_f16_to_f32(loss), &product);
  if (status != MPNUM_OK) return status;
  result = mpnum_f32_to_f16(product);
  if (mpnum_isfinite_f16(loss) && !mpnum_isfinite_f16(result))
    return MPNUM_ERROR_UNREPRESENTABLE;
  *scaled = result;
  return MPNUM_OK;
}
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_scale_bf16(const mpnum_grad_scaler *scaler,
                                                      mpnum_bf16 loss,
                                                      mpnum_bf16 *scaled) {
  float product = 0;
  mpnum_bf16 result = {0};
  const mpnum_status status =
      mpnum_grad_scaler_scale_f32(scaler, mpnum_bf16_to_f32(loss), &product);
  if (status != MPNUM_OK) return status;
  result = mpnum_f32_to_bf16(product);
  if (mpnum_isfinite_bf16(loss) && !mpnum_isfinite_bf16(result))
    return MPNUM_ERROR_UNREPRESENTABLE;
  *scaled = result;
  return MPNUM_OK;
}

/* A new handle. */
MPNUM_FUNC mpnum_grad_optimizer mpnum_grad_optimizer_ready(void) {
  const mpnum_grad_optimizer optimizer = {MPNUM_GRAD_READY, 0, 0, 0, 0.0f};
  return optimizer;
}
MPNUM_FUNC mpnum_status mpnum_grad_order_(const mpnum_grad_scaler *scaler,
                                          uint32_t stage) {
  if (!scaler->config.enabled) return MPNUM_OK;
  switch (stage) {
  case MPNUM_GRAD_READY: return MPNUM_OK;
  case MPNUM_GRAD_CHECKED: return MPNUM_ERROR_ALREADY_CHECKED;
  case MPNUM_GRAD_UNSCALED: return MPNUM_ERROR_ALREADY_UNSCALED;
  default: return MPNUM_ERROR_ALREADY_STEPPED;
  }
}

/* Between begin and end the gradients of several batches are added: neither can they be
 * checked nor may the scale change. Status codes: MPNUM_ERROR_ALREADY_CHECKED, _UNSCALED,
 * _STEPPED: update first; MPNUM_ERROR_ACCUMULATING, MPNUM_ERROR_NOT_ACCUMULATING. */
MPNUM_FUNC mpnum_status mpnum_grad_scaler_begin_accumulation(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer) {
  const mpnum_status status = mpnum_grad_order_(scaler, optimizer->stage);
  if (status != MPNUM_OK) return status;
  if (optimizer->accumulating && scaler->config.enabled) return MPNUM_ERROR_ACCUMULATING;
  optimizer->accumulating = 1;
  return MPNUM_OK;
}
MPNUM_FUNC mpnum_status mpnum_grad_scaler_end_accumulation(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer) {
  if (!optimizer->accumulating && scaler->config.enabled)
    return MPNUM_ERROR_NOT_ACCUMULATING;
  optimizer->accumulating = 0;
  return MPNUM_OK;
}

/* Whether this optimizer's gradients may be checked or unscaled: ask before they are
 * touched. Status codes: MPNUM_ERROR_ACCUMULATING; MPNUM_ERROR_ALREADY_CHECKED,
 * _UNSCALED, _STEPPED since the last update. */
MPNUM_FUNC mpnum_status mpnum_grad_scaler_may_unscale(
    const mpnum_grad_scaler *scaler, const mpnum_grad_optimizer *optimizer) {
  if (optimizer->accumulating && scaler->config.enabled) return MPNUM_ERROR_ACCUMULATING;
  return mpnum_grad_order_(scaler, optimizer->stage);
}
MPNUM_FUNC mpnum_status mpnum_grad_record_(const mpnum_grad_scaler *scaler,
                                           mpnum_grad_optimizer *optimizer,
                                           uint32_t stage, uint32_t found_inf,
                                           float norm) {
  const mpnum_status status = mpnum_grad_scaler_may_unscale(scaler, optimizer);
  if (status != MPNUM_OK) return status;
  optimizer->stage = stage;
  optimizer->found_inf = found_inf != 0;
  optimizer->norm = norm;
  return MPNUM_OK;
}
/* Records what a pass over the gradients found: whether any product of a gradient and
 * scaler->inverse is Inf or NaN, and the norm of the products (0 if nobody asks).
 * checked: the gradients were read, and are as they were; the optimizer's kernel will
 * multiply them (mpnum_grad_scaler_multiplier). unscaled: they are the products now.
 * Status codes: those of mpnum_grad_scaler_may_unscale. */
MPNUM_FUNC mpnum_status mpnum_grad_scaler_checked(const mpnum_grad_scaler *scaler,
                                                  mpnum_grad_optimizer *optimizer,
                                                  uint32_t found_inf, float norm) {
  return mpnum_grad_record_(scaler, optimizer, MPNUM_GRAD_CHECKED, found_inf, norm);
}
MPNUM_FUNC mpnum_status mpnum_grad_scaler_unscaled(const mpnum_grad_scaler *scaler,
                                                   mpnum_grad_optimizer *optimizer,
                                                   uint32_t found_inf, float norm) {
  return mpnum_grad_record_(scaler, optimizer, MPNUM_GRAD_UNSCALED, found_inf, norm);
}
/* Whether this optimizer's gradients may be clipped in place or else changed. Status
 * codes: MPNUM_ERROR_STILL_SCALED: clipping them would clip to max_norm / scale;
 * MPNUM_ERROR_ALREADY_STEPPED. */
MPNUM_FUNC mpnum_status mpnum_grad_scaler_may_clip(
    const mpnum_grad_scaler *scaler, const mpnum_grad_optimizer *optimizer) {
  if (!scaler->config.enabled || optimizer->stage == MPNUM_GRAD_UNSCALED) return MPNUM_OK;
  return optimizer->stage == MPNUM_GRAD_STEPPED ? MPNUM_ERROR_ALREADY_STEPPED
                                                : MPNUM_ERROR_STILL_SCALED;
}

/* After gradients that are unscaled were changed: what was found is not forgotten.
 * Status codes: those of mpnum_grad_scaler_may_clip. */
MPNUM_FUNC mpnum_status mpnum_grad_scaler_checked_again(const mpnum_grad_scaler *scaler,
                                                        mpnum_grad_optimizer *optimizer,
                                                        uint32_t found_inf, float norm) {
  const mpnum_status status = mpnum_grad_scaler_may_clip(scaler, optimizer);
  if (status != MPNUM_OK) return status;
  optimizer->found_inf |= found_inf != 0;
  optimizer->norm = norm;
  return MPNUM_OK;
}

/* min(1, max_norm / (norm + 1e-6)) / scale, rounded once; 1 / scale is given. */
MPNUM_MATH_ mpnum_status mpnum_grad_clip_over_(float scale, float inverse, float norm,
                                               float max_norm, float *result) {
  const uint32_t bits = mpnum_bits_f32(norm), max = mpnum_bits_f32(max_norm);
  if (max - 1 >= 0x7f800000u) return MPNUM_ERROR_ARGUMENT;
  if ((bits & 0x7fffffffu) >= 0x7f800000u) return MPNUM_ERROR_NONFINITE;
  if (bits > 0x80000000u) return MPNUM_ERROR_ARGUMENT;
  *result = inverse;
  if (max != 0x7f800000u) {
    const mpnum_wide_ limit = mpnum_wide_f32_(max);
    const mpnum_wide_ divisor = mpnum_wide_add_(mpnum_wide_f32_(bits & 0x7fffffffu),
                                                mpnum_wide_f32_(0x358637bdu)); /* 1e-6 */
    const float ratio = mpnum_wide_rounded_f32_(mpnum_wide_div_(limit, divisor));
    if (mpnum_bits_f32(ratio) < 0x3f800000u)
      *result = mpnum_wide_rounded_f32_(mpnum_wide_div_(
          limit, mpnum_wide_mul_(divisor, mpnum_wide_f32_(mpnum_bits_f32(scale)))));
  }
  return MPNUM_OK;
}

/* min(1, max_norm / (norm + 1e-6)), correctly rounded, of a finite norm, 0 and up, and
 * a max_norm above 0, Inf for no limit. Status codes: MPNUM_ERROR_NONFINITE: the norm is
 * none; MPNUM_ERROR_ARGUMENT: another max_norm, or a norm below 0. */
MPNUM_MATH_ mpnum_status mpnum_grad_clip_coefficient(float norm, float max_norm,
                                                     float *coefficient) {
  return mpnum_grad_clip_over_(1.0f, 1.0f, norm, max_norm, coefficient);
}

/* What checked gradients are to be multiplied by: the inverse of the scale times the clip
 * coefficient, rounded once; max_norm Inf: the inverse. Status codes: those above;
 * MPNUM_ERROR_NOT_CHECKED, MPNUM_ERROR_ALREADY_UNSCALED, MPNUM_ERROR_ALREADY_STEPPED;
 * MPNUM_ERROR_NONFINITE: an Inf or NaN was found; MPNUM_ERROR_UNREPRESENTABLE: the
 * product is below 2^-126. The multiplier is then unchanged. */
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_multiplier(
    const mpnum_grad_scaler *scaler, const mpnum_grad_optimizer *optimizer,
    float max_norm, float *multiplier) {
  mpnum_status status = MPNUM_OK;
  float product = 0;
  if (scaler->config.enabled && optimizer->stage != MPNUM_GRAD_CHECKED)
    return optimizer->stage == MPNUM_GRAD_READY
               ? MPNUM_ERROR_NOT_CHECKED
               : mpnum_grad_order_(scaler, optimizer->stage);
  if (optimizer->found_inf) return MPNUM_ERROR_NONFINITE;
  status = mpnum_grad_clip_over_(scaler->scale, scaler->inverse, optimizer->norm,
                                 max_norm, &product);
  if (status != MPNUM_OK) return status;
  if (mpnum_bits_f32(product) < 0x00800000u && !scaler->config.any_scale)
    return MPNUM_ERROR_UNREPRESENTABLE;
  *multiplier = product;
  return MPNUM_OK;
}

/* Whether this optimizer shall apply its gradients: not if an Inf or NaN was found in
 * them, whatever others found. A schedule of learning rates goes on with
 * MPNUM_GRAD_APPLY; a smaller scale is no sign of a skip. Status codes:
 * MPNUM_ERROR_NOT_CHECKED, MPNUM_ERROR_ALREADY_STEPPED, MPNUM_ERROR_ACCUMULATING; the
 * verdict is then unchanged. */
MPNUM_FUNC mpnum_status mpnum_grad_scaler_step(mpnum_grad_scaler *scaler,
                                               mpnum_grad_optimizer *optimizer,
                                               mpnum_grad_verdict *verdict) {
  const int is_skipped = scaler->config.enabled && optimizer->found_inf;
  if (scaler->config.enabled) {
    if (optimizer->accumulating) return MPNUM_ERROR_ACCUMULATING;
    if (optimizer->stage == MPNUM_GRAD_READY) return MPNUM_ERROR_NOT_CHECKED;
    if (optimizer->stage == MPNUM_GRAD_STEPPED) return MPNUM_ERROR_ALREADY_STEPPED;
  }
  *verdict = is_skipped ? MPNUM_GRAD_SKIP : MPNUM_GRAD_APPLY;
  optimizer->consecutive_skips = is_skipped ? optimizer->consecutive_skips + 1 : 0;
  scaler->applied += !is_skipped;
  scaler->skipped += (uint64_t)is_skipped;
  optimizer->stage = MPNUM_GRAD_STEPPED;
  return MPNUM_OK;
}

/* The scale of the next iteration, from what all optimizers of this one found; their
 * handles are ready then. Optimizers that were not used may be among them. Status codes:
 * MPNUM_ERROR_ACCUMULATING: one of them is; MPNUM_ERROR_NOT_CHECKED: none of them was
 * checked or unscaled. */
MPNUM_MATH_ mpnum_status mpnum_grad_scaler_update(mpnum_grad_scaler *scaler,
                                                  mpnum_grad_optimizer *optimizers,
                                                  int count) {
  const mpnum_grad_scaler_config *config = &scaler->config;
  uint32_t found = 0, checked = 0, accumulating = 0;
  int i = 0;
  for (; i < count; ++i) {
    found |= optimizers[i].found_inf;
    checked |= optimizers[i].stage;
    accumulating |= optimizers[i].accumulating;
  }
  if (config->enabled && accumulating) return MPNUM_ERROR_ACCUMULATING;
  if (config->enabled && !checked) return MPNUM_ERROR_NOT_CHECKED;
  for (i = 0; i < count; ++i) {
    optimizers[i].stage = MPNUM_GRAD_READY;
    optimizers[i].found_inf = 0;
    optimizers[i].accumulating = 0;
    optimizers[i].norm = 0;
  }
  if (!config->enabled) return MPNUM_OK;
  scaler->updates += 1;
  scaler->overflows += found;
  if (found) {
    scaler->consecutive_overflows += 1;
    scaler->count = config->overflow_count;
    if (scaler->hysteresis_left > 1) {
      scaler->hysteresis_left -= 1;
    } else {
      mpnum_grad_rescale_(scaler, config->backoff_factor);
    }
    return MPNUM_OK;
  }
  scaler->consecutive_overflows = 0;
  if (config->refill == MPNUM_GRAD_REFILL_CLEAN)
    scaler->hysteresis_left = config->hysteresis;
  scaler->count += 1;
  if (scaler->count >= config->growth_interval) {
    mpnum_grad_rescale_(scaler, config->growth_factor);
    scaler->count = config->growth_count;
    if (config->refill == MPNUM_GRAD_REFILL_GROWTH)
      scaler->hysteresis_left = config->hysteresis;
  }
  return MPNUM_OK;
}

#endif

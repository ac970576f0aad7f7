/* SPDX-License-Identifier: MIT */
/* Loss scaling for training with narrow gradients: the state machine, on hosts and
 * devices. It does not touch gradients: the code that reads them reports what it found.
 * grad.h has a pass that does so, and one call for everything between backward and apply.
 *
 *     mpnum_grad_scaler scaler;
 *     mpnum_grad_optimizer optimizer;
 *     must(mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_default()));
 *     optimizer = mpnum_grad_optimizer_of(&scaler);
 *     for (;;) { // must stops the program where a status is not MPNUM_OK
 *       mpnum_grad_verdict verdict;
 *       must(mpnum_grad_scaler_scale_f32(&scaler, loss(), &scaled));
 *       backward(scaled);
 *       found = multiply(gradients, scaler.inverse, &norm); // 1: a product was Inf, NaN
 *       must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, found, norm));
 *       must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
 *       if (verdict == MPNUM_GRAD_APPLY) apply(gradients);
 *       must(mpnum_grad_scaler_update(&scaler, &optimizer));
 *     }
 *
 * All structs are plain, without pointers and padding: copy them, put them into device
 * memory, compare two ranks' copies byte for byte. Each optimizer has a handle.
 * Status codes: a call out of order returns an error, listed at each function, and
 *   changes nothing, except that a refused step writes MPNUM_GRAD_SKIP into its verdict.
 *   Inf and NaN in gradients are no error: calls return MPNUM_OK, and the verdict tells
 *   what to do.
 * Stale handles: the scaler counts its updates and the changes of its scale. Until
 *   mpnum_grad_scaler_discard, every call returns MPNUM_ERROR_STALE_HANDLE for a handle
 *   that an update left out, that was not loaded with its scaler, or that has another
 *   configuration's id, and MPNUM_ERROR_STALE_SCALE for a handle whose gradients were
 *   accumulated, checked or unscaled at another scale than the present one.
 * A scaler of zeros was never initialised: every call that returns a status returns
 * MPNUM_ERROR_UNINITIALISED, before any other error, and changes nothing.
 * Bits: computed in integers, so the same on hosts and devices, whatever the flags and
 *   the floating-point environment.
 * A scaler that is not enabled has scale 1, accepts calls in any order and applies every
 * step.
 * Source: Micikevicius et al., Mixed Precision Training, 2018, section 3.2. */
#ifndef MPNUM_TRAINING_SCALER_H
#define MPNUM_TRAINING_SCALER_H

#include "../types/f16.h"
#include "../types/bf16.h"
#include "scaler_config.h"
#include "../simd/detail/wide.h"
MPNUM_C_BEGIN_

/* A scaler: the scale, and the state that determines the next one. */
typedef struct mpnum_grad_scaler {
  mpnum_grad_scaler_config config;
  float scale, inverse; /* inverse: 1 / scale, correctly rounded */
  uint64_t updates;
  uint64_t overflows;        /* updates for which an optimizer had found Inf or NaN */
  uint64_t applied, skipped; /* steps, of all optimizers */
  int32_t count;             /* updates without overflow, towards a growth */
  int32_t hysteresis_left;   /* 1: the next overflow shrinks the scale */
  uint32_t consecutive_overflows; /* updates with overflow since the last one without */
  uint32_t scale_changes;         /* how often the scale has changed */
} mpnum_grad_scaler;

/* What was done with the gradients of an optimizer since the last update. A step records
 * its verdict, so that a found_inf that comes too late is noticed. */
typedef enum mpnum_grad_stage {
  MPNUM_GRAD_READY = 0,
  MPNUM_GRAD_CHECKED = 1,  /* findings are known; still scaled */
  MPNUM_GRAD_UNSCALED = 2, /* findings are known; divided by the scale */
  MPNUM_GRAD_STEPPED = 3,  /* nothing was found: the verdict was to apply */
  MPNUM_GRAD_SKIPPED = 4   /* stepped, too; found_inf was set: the verdict was to skip (to
                              apply, if the scaler is not enabled) */
} mpnum_grad_stage;

/* Whether gradients of several batches are added up. */
typedef enum mpnum_grad_window {
  MPNUM_GRAD_WINDOW_NONE = 0,
  MPNUM_GRAD_WINDOW_OPEN = 1, /* more batches will be added */
  MPNUM_GRAD_WINDOW_CLOSED = 2
} mpnum_grad_window;

/* The handle of an optimizer: what is known of the gradients of its parameters. */
typedef struct mpnum_grad_optimizer {
  uint32_t stage;     /* enum mpnum_grad_stage */
  uint32_t found_inf; /* not 0: Inf or NaN was found; before the step a reduction over
                         ranks may write its maximum or sum here */
  uint32_t window;    /* enum mpnum_grad_window */
  uint32_t consecutive_skips;
  float norm; /* norm of the gradients divided by the scale, of the clipped ones after a
                 clip; or MPNUM_GRAD_NORM_UNKNOWN */
  float clipped_to;       /* max_norm of the last clip that changed gradients, or Inf */
  uint32_t updates;       /* updates of the scaler at the last one with this handle */
  uint32_t scale_changes; /* of the scaler when the window opened, at check or unscale */
  uint64_t id;            /* id of the scaler */
} mpnum_grad_optimizer;

/* Reported in place of a norm that was not computed. Gradients are then not clipped. */
#define MPNUM_GRAD_NORM_UNKNOWN (-1.0f)

/* Whether gradients are to be applied. */
typedef enum mpnum_grad_verdict {
  MPNUM_GRAD_SKIP = 0,
  MPNUM_GRAD_APPLY = 1
} mpnum_grad_verdict;

/* Whether a scaler is all zeros: no call leaves a scale of 0. */
MPNUM_FUNC int mpnum_grad_is_unborn_(const mpnum_grad_scaler *scaler) {
  return mpnum_iszero_u31_(mpnum_bits_f32(scaler->scale));
}
MPNUM_MATH_ void mpnum_grad_set_scale_(mpnum_grad_scaler *scaler, float scale) {
  scaler->scale_changes += mpnum_bits_f32(scaler->scale) != mpnum_bits_f32(scale);
  scaler->scale = scale;
  scaler->inverse = mpnum_wide_rounded_f32_(
      mpnum_wide_div_(mpnum_wide_int_(1), mpnum_wide_f32_(mpnum_bits_f32(scale))));
}
/* Clamps a scale to the limits; positive floats are ordered as their bits. */
MPNUM_MATH_ float mpnum_grad_limited_(const mpnum_grad_scaler_config *config,
                                      uint32_t bits) {
  const uint32_t min = mpnum_bits_f32(config->min_scale);
  const uint32_t max = mpnum_bits_f32(config->max_scale);
  return mpnum_from_bits_f32(bits < min ? min : bits > max ? max : bits);
}
MPNUM_MATH_ void mpnum_grad_rescale_(mpnum_grad_scaler *scaler, double factor) {
  const mpnum_wide_ scale = mpnum_wide_f32_(mpnum_bits_f32(scaler->scale));
  const uint32_t bits = mpnum_bits_f32(
      mpnum_wide_rounded_twice_f32_(mpnum_wide_mul_(scale, mpnum_wide_f64_(factor))));
  if (bits >= 0x7f800000u && scaler->config.any_scale) return;
  mpnum_grad_set_scale_(scaler, mpnum_grad_limited_(&scaler->config, bits));
}

MPNUM_MATH_ void mpnum_grad_start_(mpnum_grad_scaler *scaler,
                                   mpnum_grad_scaler_config config) {
  scaler->config = config;
  scaler->scale = 1.0f;
  if (config.enabled) scaler->scale = config.init_scale;
  scaler->updates = scaler->overflows = scaler->applied = scaler->skipped = 0;
  scaler->count = config.first_count;
  scaler->hysteresis_left = config.hysteresis;
  scaler->consecutive_overflows = 0;
  scaler->scale_changes = 0;
  mpnum_grad_set_scale_(scaler, scaler->scale);
}
/* Initialises a scaler. Status codes: those of mpnum_grad_scaler_validate; the scaler is
 * then unchanged. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_init(mpnum_grad_scaler *scaler, mpnum_grad_scaler_config config) {
  const mpnum_status status = mpnum_grad_scaler_validate(config);
  if (status == MPNUM_OK) mpnum_grad_start_(scaler, config);
  return status;
}
/* Replaces the configuration by another one, made from scaler.config. The scale is
 * clamped to the new limits, the count to below growth_interval and hysteresis_left to
 * hysteresis; all counters go on. A scaler that was not enabled begins at init_scale.
 * Another id makes all handles stale. Status codes: MPNUM_ERROR_UNINITIALISED: call init
 * instead; those of mpnum_grad_scaler_validate; the scaler is then unchanged. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_configure(mpnum_grad_scaler *scaler, mpnum_grad_scaler_config config) {
  const mpnum_status status = mpnum_grad_scaler_validate(config);
  const int was_enabled = scaler->config.enabled;
  if (mpnum_grad_is_unborn_(scaler)) return MPNUM_ERROR_UNINITIALISED;
  if (status != MPNUM_OK) return status;
  scaler->config = config;
  if (!config.enabled) {
    mpnum_grad_set_scale_(scaler, 1.0f);
  } else if (was_enabled) {
    mpnum_grad_set_scale_(scaler,
                          mpnum_grad_limited_(&config, mpnum_bits_f32(scaler->scale)));
  } else {
    mpnum_grad_set_scale_(scaler, config.init_scale);
    scaler->count = config.first_count;
    scaler->hysteresis_left = config.hysteresis;
  }
  if (scaler->count >= config.growth_interval) scaler->count = config.growth_interval - 1;
  if (scaler->hysteresis_left > config.hysteresis)
    scaler->hysteresis_left = config.hysteresis;
  return MPNUM_OK;
}
/* Sets the scale and restarts the counts. Call it between an update and the next backward
 * pass: it makes an open window, and gradients that were checked or unscaled, stale.
 * Status codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_INIT_SCALE: scale is not within
 * the limits. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_set_scale(mpnum_grad_scaler *scaler, float scale) {
  const uint32_t bits = mpnum_bits_f32(scale);
  if (mpnum_grad_is_unborn_(scaler)) return MPNUM_ERROR_UNINITIALISED;
  if (!scaler->config.enabled) return MPNUM_OK;
  if (bits < mpnum_bits_f32(scaler->config.min_scale) ||
      bits > mpnum_bits_f32(scaler->config.max_scale))
    return MPNUM_ERROR_INIT_SCALE;
  mpnum_grad_set_scale_(scaler, scale);
  scaler->count = scaler->config.first_count;
  scaler->hysteresis_left = scaler->config.hysteresis;
  return MPNUM_OK;
}
/* 1 if the scale or a factor is not a power of two, so that scaling rounds gradients. 0
 * for a scaler that was never initialised. */
MPNUM_FUNC int mpnum_grad_scaler_is_inexact(const mpnum_grad_scaler *scaler) {
  const uint64_t factors = mpnum_bits_f64(scaler->config.growth_factor) |
                           mpnum_bits_f64(scaler->config.backoff_factor);
  return (factors & 0xfffffffffffffu) != 0 ||
         (mpnum_bits_f32(scaler->scale) & 0x7fffffu) != 0;
}

/* Multiplies a loss by the scale. A loss that is Inf or NaN stays so, and its gradients
 * will show it.
 * Status codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_UNREPRESENTABLE: a finite loss
 *   would become Inf; *scaled is then unchanged.
 * In f16 a loss of 1 becomes Inf at the default scale: use mpnum_grad_scaler_f16, which
 * takes losses below 2. A larger loss can be reported as found, with an unknown norm: the
 * update then lowers the scale. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_scale_f32(const mpnum_grad_scaler *scaler, float loss, float *scaled) {
  const uint32_t bits = mpnum_bits_f32(loss), magnitude = bits & 0x7fffffffu;
  uint32_t product = magnitude;
  if (mpnum_grad_is_unborn_(scaler)) return MPNUM_ERROR_UNINITIALISED;
  if (magnitude - 1 < 0x7f7fffffu) { /* neither 0 nor Inf nor NaN */
    product = mpnum_bits_f32(mpnum_wide_rounded_f32_(mpnum_wide_mul_(
        mpnum_wide_f32_(magnitude), mpnum_wide_f32_(mpnum_bits_f32(scaler->scale)))));
    if (product >= 0x7f800000u) return MPNUM_ERROR_UNREPRESENTABLE;
  }
  *scaled = mpnum_from_bits_f32(product | (bits & 0x80000000u));
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_grad_scaler_scale_f16(
    const mpnum_grad_scaler *scaler, mpnum_f16 loss, mpnum_f16 *scaled) {
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
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_grad_scaler_scale_bf16(
    const mpnum_grad_scaler *scaler, mpnum_bf16 loss, mpnum_bf16 *scaled) {
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

/* A new handle for gradients of a scaler. A handle made before the scaler is initialised
 * belongs to a scaler with id 0. */
MPNUM_FUNC mpnum_grad_optimizer mpnum_grad_optimizer_of(const mpnum_grad_scaler *scaler) {
  mpnum_grad_optimizer optimizer = {MPNUM_GRAD_READY, 0, 0, 0, 0, 0, 0, 0, 0};
  optimizer.clipped_to = mpnum_from_bits_f32(0x7f800000u);
  optimizer.updates = (uint32_t)(scaler->updates & 0xffffffffu);
  optimizer.scale_changes = scaler->scale_changes;
  optimizer.id = scaler->config.id;
  return optimizer;
}
/* Discards gradients that will not be used: the handle becomes ready and belongs to this
 * scaler, whatever it was. Set the gradients to 0: if they are kept, the scaler cannot
 * know their scale. */
MPNUM_FUNC void mpnum_grad_scaler_discard(const mpnum_grad_scaler *scaler,
                                          mpnum_grad_optimizer *optimizer) {
  const uint32_t skips = optimizer->consecutive_skips;
  *optimizer = mpnum_grad_optimizer_of(scaler);
  optimizer->consecutive_skips = skips;
}

/* Whether a handle belongs to this scaler and its last update, and its gradients have the
 * present scale. The gradients of a ready handle do, unless an update left it out. */
MPNUM_FUNC mpnum_status mpnum_grad_fresh_(const mpnum_grad_scaler *scaler,
                                          const mpnum_grad_optimizer *optimizer) {
  if (optimizer->id != scaler->config.id ||
      optimizer->updates != (scaler->updates & 0xffffffffu))
    return MPNUM_ERROR_STALE_HANDLE;
  if ((optimizer->stage != MPNUM_GRAD_READY ||
       optimizer->window != MPNUM_GRAD_WINDOW_NONE) &&
      optimizer->scale_changes != scaler->scale_changes)
    return MPNUM_ERROR_STALE_SCALE;
  return MPNUM_OK;
}
/* mpnum_grad_fresh_ for a scaler that may be uninitialised or not enabled. */
MPNUM_FUNC mpnum_status mpnum_grad_usable_(const mpnum_grad_scaler *scaler,
                                           const mpnum_grad_optimizer *optimizer) {
  if (mpnum_grad_is_unborn_(scaler)) return MPNUM_ERROR_UNINITIALISED;
  return scaler->config.enabled ? mpnum_grad_fresh_(scaler, optimizer) : MPNUM_OK;
}
/* MPNUM_OK at stage READY, an error at all others. */
MPNUM_FUNC mpnum_status mpnum_grad_order_(const mpnum_grad_scaler *scaler,
                                          const mpnum_grad_optimizer *optimizer) {
  const mpnum_status status = mpnum_grad_usable_(scaler, optimizer);
  if (status != MPNUM_OK || !scaler->config.enabled) return status;
  switch (optimizer->stage) {
  case MPNUM_GRAD_READY: return MPNUM_OK;
  case MPNUM_GRAD_CHECKED: return MPNUM_ERROR_ALREADY_CHECKED;
  case MPNUM_GRAD_UNSCALED: return MPNUM_ERROR_ALREADY_UNSCALED;
  default: return MPNUM_ERROR_ALREADY_STEPPED;
  }
}

/* Between begin and end the gradients of several batches are added: they cannot be
 * checked, and the scale must not change. Status codes: MPNUM_ERROR_UNINITIALISED;
 * MPNUM_ERROR_STALE_HANDLE, MPNUM_ERROR_STALE_SCALE; MPNUM_ERROR_ALREADY_CHECKED,
 * _UNSCALED, _STEPPED: update first; MPNUM_ERROR_ACCUMULATING,
 * MPNUM_ERROR_NOT_ACCUMULATING. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_grad_scaler_begin_accumulation(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer) {
  const mpnum_status status = mpnum_grad_order_(scaler, optimizer);
  if (status != MPNUM_OK) return status;
  if (optimizer->window == MPNUM_GRAD_WINDOW_OPEN && scaler->config.enabled)
    return MPNUM_ERROR_ACCUMULATING;
  optimizer->window = MPNUM_GRAD_WINDOW_OPEN;
  optimizer->scale_changes = scaler->scale_changes;
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_grad_scaler_end_accumulation(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer) {
  const mpnum_status status = mpnum_grad_usable_(scaler, optimizer);
  if (status != MPNUM_OK) return status;
  if (scaler->config.enabled && optimizer->window != MPNUM_GRAD_WINDOW_OPEN)
    return MPNUM_ERROR_NOT_ACCUMULATING;
  optimizer->window = MPNUM_GRAD_WINDOW_CLOSED;
  return MPNUM_OK;
}

/* Whether a kernel of the caller may check or unscale this optimizer's gradients: ask
 * before it touches them. Status codes: MPNUM_ERROR_UNINITIALISED;
 * MPNUM_ERROR_STALE_HANDLE, MPNUM_ERROR_STALE_SCALE; MPNUM_ERROR_ACCUMULATING;
 * MPNUM_ERROR_ALREADY_CHECKED, _UNSCALED, _STEPPED since the last update. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_grad_scaler_can_unscale(
    const mpnum_grad_scaler *scaler, const mpnum_grad_optimizer *optimizer) {
  const mpnum_status status = mpnum_grad_order_(scaler, optimizer);
  if (status == MPNUM_OK && optimizer->window == MPNUM_GRAD_WINDOW_OPEN &&
      scaler->config.enabled)
    return MPNUM_ERROR_ACCUMULATING;
  return status;
}
/* Whether this optimizer's gradients may be clipped in place, or changed otherwise.
 * Status codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_STALE_HANDLE,
 * MPNUM_ERROR_STALE_SCALE; MPNUM_ERROR_STILL_SCALED: a clip would be to max_norm / scale;
 * MPNUM_ERROR_ALREADY_STEPPED. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_grad_scaler_can_clip(
    const mpnum_grad_scaler *scaler, const mpnum_grad_optimizer *optimizer) {
  const mpnum_status status = mpnum_grad_usable_(scaler, optimizer);
  if (status != MPNUM_OK || !scaler->config.enabled) return status;
  if (optimizer->stage == MPNUM_GRAD_UNSCALED) return MPNUM_OK;
  return optimizer->stage >= MPNUM_GRAD_STEPPED ? MPNUM_ERROR_ALREADY_STEPPED
                                                : MPNUM_ERROR_STILL_SCALED;
}

MPNUM_FUNC int mpnum_grad_is_unknown_(float norm) {
  return mpnum_bits_f32(norm) == 0xbf800000u; /* bits of MPNUM_GRAD_NORM_UNKNOWN */
}
/* Whether a norm may be reported: it is at least 0 (-0 is 0), Inf, NaN, or unknown. */
MPNUM_FUNC int mpnum_grad_is_norm_(float norm) {
  const uint32_t bits = mpnum_bits_f32(norm);
  return bits <= 0x80000000u || (bits & 0x7fffffffu) > 0x7f800000u ||
         mpnum_grad_is_unknown_(norm);
}
/* Whether a report is valid: the norm is NaN only if an Inf or NaN was found. */
MPNUM_FUNC int mpnum_grad_is_report_(uint32_t found_inf, float norm) {
  return mpnum_grad_is_norm_(norm) &&
         (found_inf != 0 || (mpnum_bits_f32(norm) & 0x7fffffffu) <= 0x7f800000u);
}
MPNUM_FUNC void mpnum_grad_set_norm_(mpnum_grad_optimizer *optimizer, float norm,
                                     float clipped_to) {
  optimizer->norm = norm;
  if (mpnum_bits_f32(norm) == 0x80000000u) optimizer->norm = 0.0f;
  optimizer->clipped_to = clipped_to;
}
MPNUM_FUNC mpnum_status mpnum_grad_report_(const mpnum_grad_scaler *scaler,
                                           mpnum_grad_optimizer *optimizer,
                                           uint32_t stage, uint32_t found_inf,
                                           float norm) {
  const mpnum_status status = mpnum_grad_scaler_can_unscale(scaler, optimizer);
  if (status != MPNUM_OK) return status;
  if (!mpnum_grad_is_report_(found_inf, norm)) return MPNUM_ERROR_ARGUMENT;
  optimizer->scale_changes = scaler->scale_changes;
  optimizer->stage = stage;
  optimizer->found_inf = found_inf != 0;
  mpnum_grad_set_norm_(optimizer, norm, mpnum_from_bits_f32(0x7f800000u));
  return MPNUM_OK;
}
/* Report what a kernel of the caller found in the gradients: whether any product of a
 * gradient and scaler->inverse is Inf or NaN, and the norm of the products, or
 * MPNUM_GRAD_NORM_UNKNOWN, which a clip refuses (0 would mean that all are zeros, and a
 * clip would do nothing). checked: the gradients were read and are unchanged; the
 * optimizer's kernel will multiply them (mpnum_grad_scaler_multiplier). unscaled: the
 * gradients now are the products.
 * Status codes: those of mpnum_grad_scaler_can_unscale; MPNUM_ERROR_ARGUMENT: another
 *   norm below 0, or NaN where nothing was found. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_grad_scaler_report_checked(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer, uint32_t found_inf,
    float norm) {
  return mpnum_grad_report_(scaler, optimizer, MPNUM_GRAD_CHECKED, found_inf, norm);
}
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_grad_scaler_report_unscaled(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer, uint32_t found_inf,
    float norm) {
  return mpnum_grad_report_(scaler, optimizer, MPNUM_GRAD_UNSCALED, found_inf, norm);
}
/* Reports that unscaled gradients were clipped, or changed otherwise, and their norm now;
 * what was found before stays found. Status codes: those of mpnum_grad_scaler_can_clip;
 * MPNUM_ERROR_ARGUMENT: as for mpnum_grad_scaler_report_checked. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_grad_scaler_report_changed(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer, uint32_t found_inf,
    float norm) {
  const mpnum_status status = mpnum_grad_scaler_can_clip(scaler, optimizer);
  if (status != MPNUM_OK) return status;
  if (!mpnum_grad_is_report_(optimizer->found_inf | found_inf, norm))
    return MPNUM_ERROR_ARGUMENT;
  optimizer->found_inf = (optimizer->found_inf | found_inf) != 0;
  mpnum_grad_set_norm_(optimizer, norm, mpnum_from_bits_f32(0x7f800000u));
  return MPNUM_OK;
}

/* min(1, max_norm / (norm + 1e-6)) / scale, rounded once. inverse: 1 / scale. */
MPNUM_MATH_ mpnum_status mpnum_grad_clip_over_(float scale, float inverse, float norm,
                                               float max_norm, float *result) {
  const uint32_t bits = mpnum_bits_f32(norm), max = mpnum_bits_f32(max_norm);
  if (max - 1 >= 0x7f800000u) return MPNUM_ERROR_ARGUMENT;
  if ((bits & 0x7fffffffu) >= 0x7f800000u) return MPNUM_ERROR_NONFINITE;
  if (mpnum_grad_is_unknown_(norm)) return MPNUM_ERROR_NORM_UNKNOWN;
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

/* Computes min(1, max_norm / (norm + 1e-6)), correctly rounded, for a finite norm of at
 * least 0 and a max_norm above 0, Inf for no limit. Status codes: MPNUM_ERROR_NONFINITE:
 * norm is Inf or NaN; MPNUM_ERROR_NORM_UNKNOWN: norm is MPNUM_GRAD_NORM_UNKNOWN;
 * MPNUM_ERROR_ARGUMENT: another max_norm, including 0, or another norm below 0. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_clip_coefficient(float norm, float max_norm, float *coefficient) {
  return mpnum_grad_clip_over_(1.0f, 1.0f, norm, max_norm, coefficient);
}

/* Whether there is something to clip: there is not without a limit, or if an Inf or NaN
 * was found. A norm that overflows cannot be clipped: it counts as found. */
MPNUM_FUNC int mpnum_grad_can_clip_(const mpnum_grad_scaler *scaler,
                                    mpnum_grad_optimizer *optimizer, float max_norm) {
  const uint32_t norm = mpnum_bits_f32(optimizer->norm) & 0x7fffffffu;
  if (mpnum_bits_f32(max_norm) == 0x7f800000u || optimizer->found_inf) return 0;
  if (norm >= 0x7f800000u && scaler->config.enabled) optimizer->found_inf = 1;
  return norm < 0x7f800000u;
}
/* Computes the multiplier for checked gradients: the inverse of the scale times the clip
 * coefficient, rounded once; with max_norm Inf the inverse. It is 0 if the verdict will
 * be to skip: an Inf or NaN was found, or the norm overflows and max_norm is not Inf.
 * Status codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_ARGUMENT: max_norm is not above 0;
 *   MPNUM_ERROR_STALE_HANDLE, MPNUM_ERROR_STALE_SCALE; MPNUM_ERROR_NOT_CHECKED,
 *   MPNUM_ERROR_ALREADY_UNSCALED, MPNUM_ERROR_ALREADY_STEPPED; MPNUM_ERROR_NORM_UNKNOWN:
 *   the norm was reported as unknown, and max_norm is not Inf;
 *   MPNUM_ERROR_UNREPRESENTABLE: the product is below 2^-126, with any_scale is rounded
 *   to 0, which would say skip. *multiplier is then unchanged.
 * A scaler that is not enabled returns MPNUM_ERROR_NOT_CHECKED also if max_norm is not
 * Inf and the norm was not taken since the last step; its multiplier is never 0, but 1 if
 * there is nothing to clip. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_grad_scaler_multiplier(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer, float max_norm,
    float *multiplier) {
  const int is_enabled = scaler->config.enabled;
  const int is_known = optimizer->stage == MPNUM_GRAD_CHECKED ||
                       (!is_enabled && optimizer->stage == MPNUM_GRAD_UNSCALED);
  mpnum_status status = mpnum_grad_order_(scaler, optimizer);
  float product = scaler->inverse;
  if (status == MPNUM_ERROR_UNINITIALISED) return status;
  if (mpnum_bits_f32(max_norm) - 1 >= 0x7f800000u) return MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_ERROR_STALE_HANDLE || status == MPNUM_ERROR_STALE_SCALE)
    return status;
  if (!is_known && (is_enabled || mpnum_bits_f32(max_norm) != 0x7f800000u))
    return status == MPNUM_OK ? MPNUM_ERROR_NOT_CHECKED : status;
  if (mpnum_grad_can_clip_(scaler, optimizer, max_norm)) {
    status = mpnum_grad_clip_over_(scaler->scale, scaler->inverse, optimizer->norm,
                                   max_norm, &product);
    if (status != MPNUM_OK) return status;
    if (mpnum_bits_f32(product) < (scaler->config.any_scale ? 1u : 0x00800000u))
      return MPNUM_ERROR_UNREPRESENTABLE;
  }
  if (is_enabled && optimizer->found_inf) product = 0.0f;
  *multiplier = product;
  return MPNUM_OK;
}

/* Decides whether this optimizer applies its gradients: it does not if an Inf or NaN was
 * found in them, whatever other optimizers found. A schedule of learning rates goes on
 * with MPNUM_GRAD_APPLY; a smaller scale is no sign of a skip. Status codes:
 * MPNUM_ERROR_UNINITIALISED, MPNUM_ERROR_STALE_HANDLE, MPNUM_ERROR_STALE_SCALE,
 * MPNUM_ERROR_ACCUMULATING, MPNUM_ERROR_NOT_CHECKED, MPNUM_ERROR_ALREADY_STEPPED; the
 * verdict is then MPNUM_GRAD_SKIP, and nothing else has changed. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status
mpnum_grad_scaler_step(mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer,
                       mpnum_grad_verdict *verdict) {
  const int is_skipped = scaler->config.enabled && optimizer->found_inf;
  const mpnum_status status = mpnum_grad_usable_(scaler, optimizer);
  *verdict = MPNUM_GRAD_SKIP;
  if (status != MPNUM_OK) return status;
  if (scaler->config.enabled) {
    if (optimizer->window == MPNUM_GRAD_WINDOW_OPEN) return MPNUM_ERROR_ACCUMULATING;
    if (optimizer->stage == MPNUM_GRAD_READY) return MPNUM_ERROR_NOT_CHECKED;
    if (optimizer->stage >= MPNUM_GRAD_STEPPED) return MPNUM_ERROR_ALREADY_STEPPED;
  }
  *verdict = is_skipped ? MPNUM_GRAD_SKIP : MPNUM_GRAD_APPLY;
  optimizer->consecutive_skips = is_skipped ? optimizer->consecutive_skips + 1 : 0;
  scaler->applied += !is_skipped;
  scaler->skipped += (uint64_t)is_skipped;
  optimizer->stage = MPNUM_GRAD_STEPPED;
  if (optimizer->found_inf) optimizer->stage = MPNUM_GRAD_SKIPPED;
  return MPNUM_OK;
}

/* Computes the next scale and the counts that lead to it. */
MPNUM_MATH_ void mpnum_grad_next_scale_(mpnum_grad_scaler *scaler, int is_found) {
  const mpnum_grad_scaler_config *config = &scaler->config;
  scaler->updates += 1;
  if (is_found) {
    scaler->overflows += 1;
    scaler->consecutive_overflows += 1;
    scaler->count = config->overflow_count;
    if (scaler->hysteresis_left > 1) {
      scaler->hysteresis_left -= 1;
    } else {
      mpnum_grad_rescale_(scaler, config->backoff_factor);
    }
    return;
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
}
/* Whether found_inf would now give another verdict than the step gave. */
MPNUM_FUNC int mpnum_grad_is_late_(const mpnum_grad_optimizer *optimizer) {
  return optimizer->stage >= MPNUM_GRAD_STEPPED &&
         (optimizer->stage == MPNUM_GRAD_SKIPPED) != (optimizer->found_inf != 0);
}
/* The error that forbids an update, OK if none: the first in this order, over all
 * handles. */
MPNUM_MATH_ mpnum_status mpnum_grad_update_order_(const mpnum_grad_scaler *scaler,
                                                  mpnum_grad_optimizer *const *optimizers,
                                                  int count) {
  mpnum_status stale = MPNUM_OK;
  int i = 0, is_open = 0, is_late = 0, is_known = 0, is_dropped = 0;
  for (; i < count; ++i) {
    const mpnum_grad_optimizer *optimizer = optimizers[i];
    const mpnum_status status = mpnum_grad_fresh_(scaler, optimizer);
    const int is_ready = optimizer->stage == MPNUM_GRAD_READY;
    if (stale != MPNUM_ERROR_STALE_HANDLE && status != MPNUM_OK) stale = status;
    is_open |= optimizer->window == MPNUM_GRAD_WINDOW_OPEN;
    is_late |= mpnum_grad_is_late_(optimizer);
    is_known |= !is_ready;
    is_dropped |= is_ready && optimizer->window == MPNUM_GRAD_WINDOW_CLOSED;
  }
  if (is_open) return MPNUM_ERROR_ACCUMULATING;
  if (stale != MPNUM_OK) return stale;
  if (is_late) return MPNUM_ERROR_LATE_FOUND_INF;
  return is_dropped || !is_known ? MPNUM_ERROR_NOT_CHECKED : MPNUM_OK;
}
/* Computes the scale of the next iteration from what all optimizers found in this one;
 * their handles are ready afterwards. Pass all handles of the scaler, unused ones too.
 * Status codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_ACCUMULATING: a window is open;
 *   MPNUM_ERROR_STALE_HANDLE, MPNUM_ERROR_STALE_SCALE: a handle is stale, ready or not:
 *   discard it; MPNUM_ERROR_LATE_FOUND_INF: found_inf of a handle was set or cleared
 *   after its step; MPNUM_ERROR_NOT_CHECKED: no handle was checked or unscaled, or one
 *   has accumulated gradients that were not: step with it, or discard it. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_grad_scaler_update_all(
    mpnum_grad_scaler *scaler, mpnum_grad_optimizer *const *optimizers, int count) {
  uint32_t found = 0;
  int i = 0;
  if (mpnum_grad_is_unborn_(scaler)) return MPNUM_ERROR_UNINITIALISED;
  if (scaler->config.enabled) {
    const mpnum_status status = mpnum_grad_update_order_(scaler, optimizers, count);
    if (status != MPNUM_OK) return status;
    for (; i < count; ++i)
      found |= optimizers[i]->found_inf;
    mpnum_grad_next_scale_(scaler, found != 0);
  }
  for (i = 0; i < count; ++i)
    mpnum_grad_scaler_discard(scaler, optimizers[i]);
  return MPNUM_OK;
}
/* mpnum_grad_scaler_update_all for one optimizer. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_update(mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer) {
  return mpnum_grad_scaler_update_all(scaler, &optimizer, 1);
}

MPNUM_C_END_
#endif

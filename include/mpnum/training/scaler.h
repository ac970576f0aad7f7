/* SPDX-License-Identifier: MIT */
/* Loss scaling for training with narrow gradients: the state machine, on hosts and
 * devices. It touches no gradient: whoever reads them reports what was found. grad.h has
 * a pass that does, and one call for all between backward and apply.
 *
 *     mpnum_grad_scaler scaler;
 *     mpnum_grad_optimizer optimizer;
 *     must(mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_default()));
 *     optimizer = mpnum_grad_optimizer_ready(&scaler);
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
 * Status codes: a call out of order says so and changes nothing, see each function; but a
 *   step that is refused writes MPNUM_GRAD_SKIP into its verdict. What gradients hold is
 * no error: calls return MPNUM_OK, and the verdict tells. Stale handles: the scaler
 * counts its updates and the changes of its scale. A handle that an update left out, that
 * was not loaded with its scaler, or that has another configuration's id, gets
 * MPNUM_ERROR_STALE_HANDLE from every call, and one whose gradients were accumulated,
 * checked or unscaled at another scale than the one now MPNUM_ERROR_STALE_SCALE, until
 * mpnum_grad_scaler_discard. A scaler of zeros was never initialised: every call that
 * returns a status returns MPNUM_ERROR_UNINITIALISED, whatever else there is to say, and
 * changes nothing. Bits: integers, so the same on hosts and devices, whatever the flags
 * and the floating-point environment. A scaler that is not enabled has scale 1, refuses
 * no order, applies every step. Source: Micikevicius et al., Mixed Precision Training,
 * 2018, section 3.2. */
#ifndef MPNUM_TRAINING_SCALER_H
#define MPNUM_TRAINING_SCALER_H

#include "../types/f16.h"
#include "../types/bf16.h"
#include "scaler_config.h"
#include "../simd/detail/wide.h"
MPNUM_C_BEGIN_

/* A scaler: the scale, and what leads to the next one. */
typedef struct mpnum_grad_scaler {
  mpnum_grad_scaler_config config;
  float scale, inverse; /* 1 / scale, correctly rounded */
  uint64_t updates;
  uint64_t overflows;             /* updates that an optimizer had found Inf or NaN for */
  uint64_t applied, skipped;      /* steps, of all optimizers */
  int32_t count;                  /* of updates without overflow, towards a growth */
  int32_t hysteresis_left;        /* 1: the next overflow makes the scale smaller */
  uint32_t consecutive_overflows; /* updates with overflow since the last one without */
  uint32_t scale_changes;         /* how often the scale has become another */
} mpnum_grad_scaler;

/* How far the gradients of an optimizer are since the last update. A step keeps what it
 * told, so that a found_inf that comes too late is noticed. */
typedef enum mpnum_grad_stage {
  MPNUM_GRAD_READY = 0,
  MPNUM_GRAD_CHECKED = 1,  /* known, and still scaled */
  MPNUM_GRAD_UNSCALED = 2, /* known, and divided by the scale */
  MPNUM_GRAD_STEPPED = 3,  /* nothing was found: the verdict was to apply them */
  MPNUM_GRAD_SKIPPED = 4   /* stepped, too: found_inf was set, the verdict to skip them
                              (to apply them, where the scaler is not enabled) */
} mpnum_grad_stage;

/* Gradients that are added up over several batches. */
typedef enum mpnum_grad_window {
  MPNUM_GRAD_WINDOW_NONE = 0,
  MPNUM_GRAD_WINDOW_OPEN = 1, /* further ones will be added */
  MPNUM_GRAD_WINDOW_CLOSED = 2
} mpnum_grad_window;

/* An optimizer, and what is known of the gradients of its parameters. */
typedef struct mpnum_grad_optimizer {
  uint32_t stage;     /* enum mpnum_grad_stage */
  uint32_t found_inf; /* not 0: found; before the step a reduction over ranks may write
                         its maximum or sum */
  uint32_t window;    /* enum mpnum_grad_window */
  uint32_t consecutive_skips;
  float norm; /* of the gradients divided by the scale; after a clip, what it left; or
                 MPNUM_GRAD_NORM_UNKNOWN */
  float clipped_to;       /* max_norm of the last clip that changed them, or Inf */
  uint32_t updates;       /* the scaler's, as of the last one with this handle */
  uint32_t scale_changes; /* the scaler's, when the window opened, or at check, unscale */
  uint64_t id;            /* the scaler's */
} mpnum_grad_optimizer;

/* Reported as a norm: nobody has taken it. Gradients are then not clipped. */
#define MPNUM_GRAD_NORM_UNKNOWN (-1.0f)

/* Whether gradients are to be applied. */
typedef enum mpnum_grad_verdict {
  MPNUM_GRAD_SKIP = 0,
  MPNUM_GRAD_APPLY = 1
} mpnum_grad_verdict;

/* A scaler of zeros: no call leaves a scale of 0. */
MPNUM_FUNC int mpnum_grad_is_unborn_(const mpnum_grad_scaler *scaler) {
  return mpnum_is_zero_u31_(mpnum_bits_f32(scaler->scale));
}
MPNUM_MATH_ void mpnum_grad_set_scale_(mpnum_grad_scaler *scaler, float scale) {
  scaler->scale_changes += mpnum_bits_f32(scaler->scale) != mpnum_bits_f32(scale);
  scaler->scale = scale;
  scaler->inverse = mpnum_wide_rounded_f32_(
      mpnum_wide_div_(mpnum_wide_int_(1), mpnum_wide_f32_(mpnum_bits_f32(scale))));
}
/* The nearest scale within the limits; sizes of positive floats order as their bits. */
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
/* Status codes: those of mpnum_grad_scaler_validate; the scaler is then unchanged. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_init(mpnum_grad_scaler *scaler, mpnum_grad_scaler_config config) {
  const mpnum_status status = mpnum_grad_scaler_validate(config);
  if (status == MPNUM_OK) mpnum_grad_start_(scaler, config);
  return status;
}
/* Another configuration from now on, made from scaler.config. The scale comes to the
 * nearest limit, the count below growth_interval, the overflows left to hysteresis; all
 * counters go on. A scaler that was not enabled begins at init_scale. With another id all
 * handles are stale. Status codes: MPNUM_ERROR_UNINITIALISED, which init is for; those of
 * mpnum_grad_scaler_validate; the scaler is then unchanged. */
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
/* The scale from now on; counts begin anew. Call it between an update and the next
 * backward pass: a window that is open, and gradients that were checked or unscaled, are
 * stale then. Status codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_INIT_SCALE: not within
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
/* 1: the scale or a factor is no power of two, so that scaling rounds gradients. 0 of a
 * scaler that was never initialised. */
MPNUM_FUNC int mpnum_grad_scaler_is_inexact(const mpnum_grad_scaler *scaler) {
  const uint64_t factors = mpnum_bits_f64(scaler->config.growth_factor) |
                           mpnum_bits_f64(scaler->config.backoff_factor);
  return (factors & 0xfffffffffffffu) != 0 ||
         (mpnum_bits_f32(scaler->scale) & 0x7fffffu) != 0;
}

/* loss * scale. A loss that is Inf or NaN stays so, as its gradients will tell.
 * Status codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_UNREPRESENTABLE: a finite loss
 * would become Inf; scaled is then unchanged. In f16 a loss of 1 does at the default
 * scale: use mpnum_grad_scaler_f16, which takes those below 2. A loss that is larger can
 * be reported as found, with an unknown norm: the scale goes down after the update. */
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

/* A new handle for gradients of a scaler. One made before the scaler is initialised is
 * that of a scaler with id 0. */
MPNUM_FUNC mpnum_grad_optimizer
mpnum_grad_optimizer_ready(const mpnum_grad_scaler *scaler) {
  mpnum_grad_optimizer optimizer = {MPNUM_GRAD_READY, 0, 0, 0, 0, 0, 0, 0, 0};
  optimizer.clipped_to = mpnum_from_bits_f32(0x7f800000u);
  optimizer.updates = (uint32_t)(scaler->updates & 0xffffffffu);
  optimizer.scale_changes = scaler->scale_changes;
  optimizer.id = scaler->config.id;
  return optimizer;
}
/* For gradients that will not be used: the handle is ready, and this scaler's, whatever
 * it was. Set the gradients to 0: of those that are kept a scaler cannot know the scale.
 */
MPNUM_FUNC void mpnum_grad_scaler_discard(const mpnum_grad_scaler *scaler,
                                          mpnum_grad_optimizer *optimizer) {
  const uint32_t skips = optimizer->consecutive_skips;
  *optimizer = mpnum_grad_optimizer_ready(scaler);
  optimizer->consecutive_skips = skips;
}

/* Whether a handle is of this scaler, of its last update, and its gradients of the scale
 * now. Those of a handle that is ready have it, unless an update left it out. */
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
/* The same of a scaler that may never have been initialised, or is not enabled. */
MPNUM_FUNC mpnum_status mpnum_grad_usable_(const mpnum_grad_scaler *scaler,
                                           const mpnum_grad_optimizer *optimizer) {
  if (mpnum_grad_is_unborn_(scaler)) return MPNUM_ERROR_UNINITIALISED;
  return scaler->config.enabled ? mpnum_grad_fresh_(scaler, optimizer) : MPNUM_OK;
}
/* MPNUM_OK at stage READY. */
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

/* Between begin and end the gradients of several batches are added: neither can they be
 * checked nor may the scale change. Status codes: MPNUM_ERROR_UNINITIALISED;
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

/* Whether this optimizer's gradients can be checked or unscaled by a kernel of the
 * caller's: ask before they are touched. Status codes: MPNUM_ERROR_UNINITIALISED;
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
/* Whether they can be clipped in place, or else changed. Status codes:
 * MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_STALE_HANDLE, MPNUM_ERROR_STALE_SCALE;
 * MPNUM_ERROR_STILL_SCALED: clipping them would clip to max_norm / scale;
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
  return mpnum_bits_f32(norm) == 0xbf800000u; /* of MPNUM_GRAD_NORM_UNKNOWN */
}
/* A norm that is reported is 0 and up, Inf, NaN, or unknown; -0 is 0. */
MPNUM_FUNC int mpnum_grad_is_norm_(float norm) {
  const uint32_t bits = mpnum_bits_f32(norm);
  return bits <= 0x80000000u || (bits & 0x7fffffffu) > 0x7f800000u ||
         mpnum_grad_is_unknown_(norm);
}
/* The norm of gradients of which none is Inf or NaN is none of a NaN. */
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
/* Reports of what a kernel of the caller's found in the gradients: whether any product of
 * a gradient and scaler->inverse is Inf or NaN, and the norm of the products, or
 * MPNUM_GRAD_NORM_UNKNOWN, which no clip takes (0 would be a norm of zeros, and no clip
 * would do anything). checked: the gradients were read, and are as they were; the
 * optimizer's kernel will multiply them (mpnum_grad_scaler_multiplier). unscaled: they
 * are the products now. Status codes: those of mpnum_grad_scaler_can_unscale;
 * MPNUM_ERROR_ARGUMENT: another norm below 0, or NaN where nothing was found. */
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
/* changed: gradients that are unscaled were clipped, or else changed, and this is their
 * norm now; what was found before is not forgotten. Status codes: those of
 * mpnum_grad_scaler_can_clip; MPNUM_ERROR_ARGUMENT: as above. */
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

/* min(1, max_norm / (norm + 1e-6)) / scale, rounded once; 1 / scale is given. */
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

/* min(1, max_norm / (norm + 1e-6)), correctly rounded, of a finite norm, 0 and up, and
 * a max_norm above 0, Inf for no limit. Status codes: MPNUM_ERROR_NONFINITE: the norm is
 * none; MPNUM_ERROR_NORM_UNKNOWN: it is MPNUM_GRAD_NORM_UNKNOWN; MPNUM_ERROR_ARGUMENT:
 * another max_norm, 0 too, or another norm below 0. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_clip_coefficient(float norm, float max_norm, float *coefficient) {
  return mpnum_grad_clip_over_(1.0f, 1.0f, norm, max_norm, coefficient);
}

/* Whether there is something to clip: not without a limit, and not where an Inf or NaN
 * was found. A norm that overflows cannot be clipped to: it counts as found. */
MPNUM_FUNC int mpnum_grad_can_clip_(const mpnum_grad_scaler *scaler,
                                    mpnum_grad_optimizer *optimizer, float max_norm) {
  const uint32_t norm = mpnum_bits_f32(optimizer->norm) & 0x7fffffffu;
  if (mpnum_bits_f32(max_norm) == 0x7f800000u || optimizer->found_inf) return 0;
  if (norm >= 0x7f800000u && scaler->config.enabled) optimizer->found_inf = 1;
  return norm < 0x7f800000u;
}
/* What checked gradients are to be multiplied by: the inverse of the scale times the clip
 * coefficient, rounded once; max_norm Inf: the inverse. 0 where the verdict will be to
 * skip: an Inf or NaN was found, or the norm overflows and max_norm is not Inf. Status
 * codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_ARGUMENT: max_norm is not above 0;
 * MPNUM_ERROR_STALE_HANDLE, MPNUM_ERROR_STALE_SCALE; MPNUM_ERROR_NOT_CHECKED,
 * MPNUM_ERROR_ALREADY_UNSCALED, MPNUM_ERROR_ALREADY_STEPPED; MPNUM_ERROR_NORM_UNKNOWN:
 * it was reported so, and max_norm is not Inf;
 * MPNUM_ERROR_UNREPRESENTABLE: the product is below 2^-126. The multiplier is then
 * unchanged. A scaler that is not enabled says MPNUM_ERROR_NOT_CHECKED, too, where
 * max_norm is not Inf and nobody has taken the norm since the last step; its multiplier
 * is never 0, but 1 where there is nothing to clip. */
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
    if (mpnum_bits_f32(product) < 0x00800000u && !scaler->config.any_scale)
      return MPNUM_ERROR_UNREPRESENTABLE;
  }
  if (is_enabled && optimizer->found_inf) product = 0.0f;
  *multiplier = product;
  return MPNUM_OK;
}

/* Whether this optimizer shall apply its gradients: not if an Inf or NaN was found in
 * them, whatever others found. A schedule of learning rates goes on with
 * MPNUM_GRAD_APPLY; a smaller scale is no sign of a skip. Status codes:
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

/* The next scale, and the counts that lead to it. */
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
/* Whether the verdict of a step was another than found_inf would give now. */
MPNUM_FUNC int mpnum_grad_is_late_(const mpnum_grad_optimizer *optimizer) {
  return optimizer->stage >= MPNUM_GRAD_STEPPED &&
         (optimizer->stage == MPNUM_GRAD_SKIPPED) != (optimizer->found_inf != 0);
}
/* What stands against an update, the worst of it: these in turn, of all handles. */
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
/* The scale of the next iteration, from what all optimizers of this one found; their
 * handles are ready then. Name all handles of the scaler, those that were not used, too.
 * Status codes: MPNUM_ERROR_UNINITIALISED; MPNUM_ERROR_ACCUMULATING: one of them is;
 * MPNUM_ERROR_STALE_HANDLE, MPNUM_ERROR_STALE_SCALE: one of them is, ready or not:
 * discard it; MPNUM_ERROR_LATE_FOUND_INF: found_inf of one was set or cleared after its
 * step; MPNUM_ERROR_NOT_CHECKED: none of them was checked or unscaled, or one has
 * accumulated gradients that were not: step with it, or discard it. */
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
/* Where there is one optimizer. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_grad_scaler_update(mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer) {
  return mpnum_grad_scaler_update_all(scaler, &optimizer, 1);
}

MPNUM_C_END_
#endif

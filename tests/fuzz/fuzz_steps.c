/* SPDX-License-Identifier: MIT */
/* Calls of a loss scaler and two handles in any order, of any configuration: what is
 * refused changes nothing, no step applies what was found or not checked, and the scale
 * is that of the formulas in double. */
#include "../harness/float_bits.h"
#include "fuzz_bytes.h"

#include <mpnum/training/scaler_io.h>

#include <math.h>
#include <string.h>

enum { HANDLES = 2 };
/* All that calls may change. */
typedef struct state {
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer handles[HANDLES];
} state;
/* What was told of the gradients of a handle since the last update. */
typedef struct told {
  int is_known, is_stepped, has_found;
} told;
static state now;
static told of[HANDLES];

static float take_float(fuzz_bytes *from) {
  static const float usual[] = {0, 1, 2, 65536, 0x1p-126f, 0x1p126f, 1e-6f, -1};
  const uint32_t kind = take_below(from, 16);
  return kind < 8 ? usual[kind] : float_of((uint32_t)take(from, 4));
}
/* With four bits of mantissa, or all. */
static double take_factor(fuzz_bytes *from) {
  const int few = (int)take(from, 1);
  return few ? ldexp(16 + few % 16, few / 16 - 12) : double_of(take(from, 8));
}
static mpnum_grad_scaler_config take_config(fuzz_bytes *from) {
  const uint32_t kind = take_below(from, 10);
  mpnum_grad_scaler_config config =
      kind == 0   ? mpnum_grad_scaler_f16()
      : kind == 1 ? mpnum_grad_scaler_torch()
      : kind == 2 ? mpnum_grad_scaler_apex((int)take_below(from, 8))
      : kind == 3 ? mpnum_grad_scaler_megatron()
      : kind == 4 ? mpnum_grad_scaler_deepspeed((int)take_below(from, 8), 1)
      : kind == 5 ? mpnum_grad_scaler_flax()
      : kind == 6 ? mpnum_grad_scaler_jmp()
      : kind == 7 ? mpnum_grad_scaler_static(take_float(from))
                  : mpnum_grad_scaler_default();
  const uint32_t changes = (uint32_t)take(from, 1);
  if (changes & 1) config.growth_interval = 1 + (int32_t)take_below(from, 4);
  if (changes & 2) config.hysteresis = (int32_t)take_below(from, 256) - 8;
  if (changes & 4) config.init_scale = take_float(from);
  if (changes & 8) config.max_scale = take_float(from);
  if (changes & 16) config.growth_factor = take_factor(from);
  if (changes & 32) config.backoff_factor = take_factor(from);
  if (changes & 64) config.refill = (int16_t)take_below(from, 4);
  if (changes & 128) config.enabled = (int16_t)take_below(from, 3);
  if (kind == 9) config.id = take(from, 8);
  return config;
}

/* A product in double, rounded to float, between the limits. */
static float rescaled(const mpnum_grad_scaler *scaler, double factor) {
  const float product = (float)((double)scaler->scale * factor);
  if (isinf(product) && scaler->config.any_scale) return scaler->scale;
  if (product < scaler->config.min_scale) return scaler->config.min_scale;
  return product > scaler->config.max_scale ? scaler->config.max_scale : product;
}
/* What an update makes of a scaler, as scaler_config.h says. */
static void check_update(const mpnum_grad_scaler *before, int has_found) {
  const mpnum_grad_scaler_config *config = &before->config;
  float scale = before->scale;
  int32_t count = before->count + 1, left = before->hysteresis_left;
  if (has_found) {
    count = config->overflow_count;
    if (left <= 1) scale = rescaled(before, config->backoff_factor);
    if (left > 1) --left;
  } else {
    if (config->refill == MPNUM_GRAD_REFILL_CLEAN) left = config->hysteresis;
    if (count >= config->growth_interval) {
      scale = rescaled(before, config->growth_factor);
      count = config->growth_count;
      if (config->refill == MPNUM_GRAD_REFILL_GROWTH) left = config->hysteresis;
    }
  }
  demand(now.scaler.scale == scale && now.scaler.count == count);
  demand(now.scaler.hysteresis_left == left);
  demand(now.scaler.updates == before->updates + 1);
  demand(now.scaler.overflows == before->overflows + (uint64_t)has_found);
}

static void check_scaler(void) {
  const mpnum_grad_scaler *scaler = &now.scaler;
  demand(isfinite(scaler->scale) && scaler->scale > 0);
  demand(scaler->inverse == 1 / scaler->scale);
  if (!scaler->config.enabled) demand(scaler->scale == 1);
  if (scaler->config.enabled)
    demand(scaler->scale >= scaler->config.min_scale &&
           scaler->scale <= scaler->config.max_scale);
  demand(scaler->hysteresis_left >= 1 &&
         scaler->hysteresis_left <= scaler->config.hysteresis);
  demand(scaler->count < scaler->config.growth_interval);
}

/* 1 for a normal power of two. */
static int is_power(double x) {
  int exponent;
  return isnormal(x) && frexp(x, &exponent) == 0.5;
}
static void check_exactness(void) {
  const mpnum_grad_scaler_config *config = &now.scaler.config;
  if (config->enabled)
    demand(mpnum_grad_scaler_is_inexact(&now.scaler) ==
           !(is_power((double)now.scaler.scale) && is_power(config->growth_factor) &&
             is_power(config->backoff_factor)));
}
/* Two handles merge to the same, whichever is the first; a refusal changes nothing. */
static void check_merge(void) {
  const mpnum_grad_optimizer *a = &now.handles[0], *b = &now.handles[1];
  mpnum_grad_optimizer merged = *a, other = *b;
  const mpnum_status status = mpnum_grad_optimizer_merge(&merged, *a, *b);
  demand(mpnum_grad_optimizer_merge(&other, *b, *a) == status);
  if (status != MPNUM_OK) {
    demand(memcmp(&merged, a, sizeof merged) == 0);
    demand(memcmp(&other, b, sizeof other) == 0);
    return;
  }
  demand(memcmp(&merged, &other, sizeof merged) == 0);
  demand(merged.found_inf == (a->found_inf || b->found_inf));
  demand(merged.stage == a->stage && merged.stage == b->stage);
  demand(merged.consecutive_skips == (a->consecutive_skips > b->consecutive_skips
                                          ? a->consecutive_skips
                                          : b->consecutive_skips));
}
/* min(1, max_norm / (norm + 1e-6)) in double, within a step of float. */
static void check_clip(float norm, float max_norm) {
  float got = 77;
  const mpnum_status status = mpnum_grad_clip_coefficient(norm, max_norm, &got);
  const double ratio = (double)max_norm / ((double)norm + 1e-6);
  const double want = ratio < 1 ? ratio : 1;
  demand((status == MPNUM_OK) == (norm >= 0 && isfinite(norm) && max_norm > 0));
  if (status != MPNUM_OK) demand(got == 77);
  if (status == MPNUM_OK) demand(fabs((double)got - want) <= 1e-6 * want + 0x1p-148);
}
/* A narrow loss is scaled as a float and rounded once more. */
static void check_narrow_loss(uint16_t bits) {
  const mpnum_f16 half = {bits};
  const mpnum_bf16 brain = {bits};
  mpnum_f16 half_scaled = {77};
  mpnum_bf16 brain_scaled = {77};
  const double scale = (double)now.scaler.scale;
  const mpnum_f16 half_want =
      mpnum_f32_to_f16((float)((double)mpnum_f16_to_f32(half) * scale));
  const mpnum_bf16 brain_want =
      mpnum_f32_to_bf16((float)((double)mpnum_bf16_to_f32(brain) * scale));
  const int is_half = !mpnum_isfinite_f16(half) || mpnum_isfinite_f16(half_want);
  const int is_brain = !mpnum_isfinite_bf16(brain) || mpnum_isfinite_bf16(brain_want);
  demand((mpnum_grad_scaler_scale_f16(&now.scaler, half, &half_scaled) == MPNUM_OK) ==
         is_half);
  demand(half_scaled.bits == (is_half ? half_want.bits : 77));
  demand((mpnum_grad_scaler_scale_bf16(&now.scaler, brain, &brain_scaled) == MPNUM_OK) ==
         is_brain);
  demand(brain_scaled.bits == (is_brain ? brain_want.bits : 77));
}
static void check_loss(float loss) {
  const float product = (float)((double)loss * (double)now.scaler.scale);
  float scaled = 77;
  check_narrow_loss((uint16_t)(bits_of_float(loss) >> 16));
  if (mpnum_grad_scaler_scale_f32(&now.scaler, loss, &scaled) == MPNUM_OK)
    demand(isnan(loss) ? isnan(scaled) : scaled == product);
  else
    demand(scaled == 77 && isfinite(loss) && isinf(product));
}
/* A saved state is loaded as it was. */
static void check_saved(void) {
  uint8_t bytes[MPNUM_GRAD_SCALER_BYTES];
  state loaded;
  memset(&loaded, 0, sizeof loaded);
  demand(mpnum_grad_scaler_save(bytes, &now.scaler) == MPNUM_OK);
  demand(mpnum_grad_scaler_load(&loaded.scaler, bytes, sizeof bytes) == MPNUM_OK);
  demand(memcmp(&loaded.scaler, &now.scaler, sizeof now.scaler) == 0);
}

static mpnum_status report(fuzz_bytes *from, uint32_t call, size_t k) {
  const uint32_t found = take_below(from, 3);
  const float norm = take_float(from);
  const mpnum_status status =
      call == 2
          ? mpnum_grad_scaler_report_checked(&now.scaler, &now.handles[k], found, norm)
      : call == 3
          ? mpnum_grad_scaler_report_unscaled(&now.scaler, &now.handles[k], found, norm)
          : mpnum_grad_scaler_report_changed(&now.scaler, &now.handles[k], found, norm);
  if (status == MPNUM_OK) {
    if (now.scaler.config.enabled) demand(!of[k].is_stepped);
    if (call != 4) of[k].is_stepped = 0; /* of new gradients, while it is not enabled */
    of[k].is_known = 1;
    of[k].has_found = found > 0 || (call == 4 && of[k].has_found);
  }
  return status;
}
static mpnum_status step(size_t k) {
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  const mpnum_status status =
      mpnum_grad_scaler_step(&now.scaler, &now.handles[k], &verdict);
  if (status != MPNUM_OK) {
    demand(verdict == MPNUM_GRAD_SKIP);
  } else if (now.scaler.config.enabled) {
    demand(of[k].is_known && !of[k].is_stepped);
    demand((verdict == MPNUM_GRAD_APPLY) == !of[k].has_found);
    of[k].is_stepped = 1;
  } else {
    demand(verdict == MPNUM_GRAD_APPLY);
  }
  return status;
}
static mpnum_status multiply(fuzz_bytes *from, size_t k) {
  const float max_norm = take_float(from);
  float multiplier = 77;
  check_clip(now.handles[k].norm, max_norm);
  const mpnum_status status =
      mpnum_grad_scaler_multiplier(&now.scaler, &now.handles[k], max_norm, &multiplier);
  if (status != MPNUM_OK) {
    demand(multiplier == 77);
  } else if (now.scaler.config.enabled) {
    if (isfinite(max_norm) && isinf(now.handles[k].norm)) of[k].has_found = 1;
    demand((multiplier == 0) == of[k].has_found);
    demand(multiplier >= 0 && multiplier <= now.scaler.inverse);
  }
  return status;
}
static mpnum_status update(fuzz_bytes *from) {
  mpnum_grad_optimizer *handles[HANDLES] = {&now.handles[0], &now.handles[1]};
  const state before = now;
  const uint32_t kind = take_below(from, 3);
  const int count = kind == 0 ? 0 : kind == 1 ? 1 : HANDLES;
  int has_found = 0;
  const mpnum_status status = mpnum_grad_scaler_update_all(&now.scaler, handles, count);
  if (status != MPNUM_OK) return status;
  for (int k = 0; k < count; ++k) {
    has_found |= of[k].has_found;
    memset(&of[k], 0, sizeof of[k]);
  }
  if (now.scaler.config.enabled) check_update(&before.scaler, has_found);
  return status;
}

static mpnum_status call_one(fuzz_bytes *from, uint32_t call, size_t k) {
  mpnum_grad_optimizer *handle = &now.handles[k];
  switch (call) {
  case 0: return mpnum_grad_scaler_begin_accumulation(&now.scaler, handle);
  case 1: return mpnum_grad_scaler_end_accumulation(&now.scaler, handle);
  case 2:
  case 3:
  case 4: return report(from, call, k);
  case 5: return step(k);
  case 6: return multiply(from, k);
  case 7: return update(from);
  case 8: return mpnum_grad_scaler_set_scale(&now.scaler, take_float(from));
  case 9: return mpnum_grad_scaler_configure(&now.scaler, take_config(from));
  case 10: check_loss(take_float(from)); return MPNUM_OK;
  case 11: check_saved(); return MPNUM_OK;
  case 12: return mpnum_grad_scaler_can_clip(&now.scaler, handle);
  case 13: return mpnum_grad_scaler_can_unscale(&now.scaler, handle);
  default: break;
  }
  mpnum_grad_scaler_discard(&now.scaler, handle);
  memset(&of[k], 0, sizeof of[k]);
  return MPNUM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes from = {data, size};
  memset(&now, 0, sizeof now);
  memset(of, 0, sizeof of);
  const state zeros = now;
  const mpnum_grad_scaler_config config = take_config(&from);
  const mpnum_status status_of_config = mpnum_grad_scaler_validate(config);
  demand(mpnum_grad_scaler_init(&now.scaler, config) == status_of_config);
  if (status_of_config != MPNUM_OK) {
    demand(memcmp(&now, &zeros, sizeof now) == 0);
    return 0;
  }
  for (int k = 0; k < HANDLES; ++k)
    now.handles[k] = mpnum_grad_optimizer_of(&now.scaler);
  while (from.left > 0) {
    const state before = now;
    const uint32_t what = (uint32_t)take(&from, 1);
    const mpnum_status status = call_one(&from, what % 15, what / 15 % HANDLES);
    if (status != MPNUM_OK) demand(memcmp(&now, &before, sizeof now) == 0);
    check_scaler();
    check_exactness();
    check_merge();
  }
  return 0;
}

/* SPDX-License-Identifier: MIT */
/* Misuse of a loss scaler that would train with wrong gradients, each refused: of which
 * docs/scaler.md speaks under "What is refused, and what cannot be". */
#include "../harness/control_word.h"
#include "../harness/linked.h"
#include "../harness/must.h"
#include "scaler_checks.h"

#include <mpnum/training/grad.h>
#include <mpnum/training/scaler_io.h>

#include <string.h>

/* By bits, which -ffast-math takes as they are. */
static float infinity(void) { return mpnum_from_bits_f32(0x7f800000u); }
static float not_a_number(void) { return mpnum_from_bits_f32(0x7fc00000u); }

static const char *said(mpnum_status status) { return mpnum_status_string(status); }
static mpnum_grad_scaler of_id(uint64_t id) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.id = id;
  return made(config);
}
/* A call is refused with this status, and nothing but a verdict is written. */
#define REFUSED(call, want)                                               \
 do {                                                                     \
  const mpnum_grad_scaler scaler_before = scaler;                         \
  const mpnum_grad_optimizer optimizer_before = optimizer;                \
  const mpnum_status status_ = call;                                      \
  CHECK(status_ == (want), #call ": %s", said(status_));                  \
  CHECK(memcmp(&scaler, &scaler_before, sizeof scaler) == 0 &&            \
            memcmp(&optimizer, &optimizer_before, sizeof optimizer) == 0, \
        #call ": something has changed");                                 \
 } while (0)

/* Gradients 3, times 65536: what was applied with the verdict of the step before. */
static void a_refused_step_says_skip(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  float gradient = 3 * 65536.0f;
  mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, &gradient, 1, MPNUM_TYPE_F32, &gradient);
  REFUSED(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict), MPNUM_ERROR_NOT_CHECKED);
  CHECK(verdict == MPNUM_GRAD_SKIP, "a step before a check");
  const struct {
    const char *what;
    float max_norm;
    uint32_t flags;
    int is_without_dst, is_open;
    mpnum_status want;
  } refusals[] = {{"max_norm 0", 0, 0, 0, 0, MPNUM_ERROR_ARGUMENT},
                  {"max_norm -0", -0.0f, 0, 0, 0, MPNUM_ERROR_ARGUMENT},
                  {"max_norm -1", -1, 0, 0, 0, MPNUM_ERROR_ARGUMENT},
                  {"max_norm NaN", not_a_number(), 0, 0, 0, MPNUM_ERROR_ARGUMENT},
                  {"a flag", 1, 2, 0, 0, MPNUM_ERROR_ARGUMENT},
                  {"no dst", 1, 0, 1, 0, MPNUM_ERROR_NULL},
                  {"a window", 1, 0, 0, 1, MPNUM_ERROR_ACCUMULATING}};
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
    tensor.dst = refusals[i].is_without_dst ? NULL : &gradient;
    optimizer.window = refusals[i].is_open ? MPNUM_GRAD_WINDOW_OPEN : 0;
    verdict = MPNUM_GRAD_APPLY;
    REFUSED(mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, &tensor, 1,
                                                refusals[i].max_norm, refusals[i].flags,
                                                NULL, &verdict),
            refusals[i].want);
    CHECK(verdict == MPNUM_GRAD_SKIP && gradient == 196608, "%s", refusals[i].what);
  }
}

/* 6 for 3: two batches were added, and the next two go on top of them. */
static void a_window_that_was_never_checked_is_no_update(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler), other = optimizer;
  mpnum_grad_optimizer *both[] = {&other, &optimizer};
  must(mpnum_grad_scaler_begin_accumulation(&scaler, &optimizer));
  must(mpnum_grad_scaler_end_accumulation(&scaler, &optimizer));
  must(mpnum_grad_scaler_report_unscaled(&scaler, &other, 0, 1));
  REFUSED(mpnum_grad_scaler_update_all(&scaler, both, 2), MPNUM_ERROR_NOT_CHECKED);
  CHECK(other.stage == MPNUM_GRAD_UNSCALED, "the other one has changed");
  mpnum_grad_scaler_discard(&scaler, &optimizer);
  must(mpnum_grad_scaler_update_all(&scaler, both, 2));
}
static void a_handle_that_was_left_out_is_no_update(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler), other = optimizer;
  mpnum_grad_optimizer *both[] = {&other, &optimizer};
  must(mpnum_grad_scaler_report_unscaled(&scaler, &other, 1, 1));
  must(mpnum_grad_scaler_update(&scaler, &other)); /* optimizer has gradients as before */
  must(mpnum_grad_scaler_report_unscaled(&scaler, &other, 0, 1));
  REFUSED(mpnum_grad_scaler_update_all(&scaler, both, 2), MPNUM_ERROR_STALE_HANDLE);
  mpnum_grad_scaler_discard(&scaler, &optimizer);
  must(mpnum_grad_scaler_update_all(&scaler, both, 2));
}

/* This rank applied, others skipped; or the other way about. */
static void a_found_inf_after_the_step_is_too_late(void) {
  for (uint32_t found = 0; found < 2; ++found) {
    mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler), merged, other;
    mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
    must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, found, 1));
    other = optimizer;
    must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
    const mpnum_grad_optimizer stepped = optimizer;
    optimizer.found_inf = !found;
    REFUSED(mpnum_grad_scaler_update(&scaler, &optimizer), MPNUM_ERROR_LATE_FOUND_INF);
    REFUSED(mpnum_grad_optimizer_merge(&merged, optimizer, optimizer),
            MPNUM_ERROR_LATE_FOUND_INF);
    optimizer = stepped;
    other.found_inf = !found;
    must(mpnum_grad_scaler_step(&scaler, &other, &verdict));
    REFUSED(mpnum_grad_optimizer_merge(&merged, optimizer, other),
            MPNUM_ERROR_LATE_FOUND_INF);
    must(mpnum_grad_optimizer_merge(&merged, stepped, stepped));
    if (found) optimizer.found_inf = 4; /* a sum over ranks changes no verdict */
    must(mpnum_grad_scaler_update(&scaler, &optimizer));
  }
}
static void a_norm_of_nan_is_no_clean_report(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  REFUSED(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 0, not_a_number()),
          MPNUM_ERROR_ARGUMENT);
  REFUSED(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0,
                                           mpnum_from_bits_f32(0xffc00000u)),
          MPNUM_ERROR_ARGUMENT);
  must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 0, 1));
  REFUSED(mpnum_grad_scaler_report_changed(&scaler, &optimizer, 0, not_a_number()),
          MPNUM_ERROR_ARGUMENT);
  must(mpnum_grad_scaler_report_changed(&scaler, &optimizer, 1, not_a_number()));
  must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
  CHECK(verdict == MPNUM_GRAD_SKIP, "NaN and found");
}
static void an_unknown_norm_is_not_clipped_to(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler), merged;
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  float gradient = 100, multiplier = 7;
  uint8_t bytes[MPNUM_GRAD_OPTIMIZER_BYTES];
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, &gradient, 1, MPNUM_TYPE_F32, &gradient);
  must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, MPNUM_GRAD_NORM_UNKNOWN));
  REFUSED(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier),
          MPNUM_ERROR_NORM_UNKNOWN);
  CHECK(multiplier == 7, "%a", (double)multiplier);
  must(mpnum_grad_scaler_multiplier(&scaler, &optimizer, infinity(), &multiplier));
  CHECK(multiplier == scaler.inverse, "%a", (double)multiplier);
  mpnum_grad_optimizer known = optimizer;
  known.norm = 5;
  must(mpnum_grad_optimizer_merge(&merged, known, optimizer));
  CHECK(merged.norm == MPNUM_GRAD_NORM_UNKNOWN, "merged: %a", (double)merged.norm);
  must(mpnum_grad_optimizer_save(bytes, &optimizer));
  mpnum_grad_scaler_discard(&scaler, &optimizer);
  must(
      mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 0, MPNUM_GRAD_NORM_UNKNOWN));
  REFUSED(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, 1),
          MPNUM_ERROR_NORM_UNKNOWN);
  CHECK(gradient == 100, "%a", (double)gradient);
  must(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, infinity()));
  must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
  CHECK(verdict == MPNUM_GRAD_APPLY, "verdict");
  must(mpnum_grad_scaler_update(&scaler, &optimizer));
  must(
      mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 1, MPNUM_GRAD_NORM_UNKNOWN));
  must(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, 1)); /* will be skipped */
}

static void a_handle_of_another_scaler_is_refused(void) {
  mpnum_grad_scaler scaler = of_id(7), others = of_id(8);
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&others), own, merged;
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  float multiplier = 7;
  own = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_optimizer *both[] = {&own, &optimizer};
  REFUSED(mpnum_grad_scaler_begin_accumulation(&scaler, &optimizer),
          MPNUM_ERROR_STALE_HANDLE);
  REFUSED(mpnum_grad_scaler_can_unscale(&scaler, &optimizer), MPNUM_ERROR_STALE_HANDLE);
  REFUSED(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, 1),
          MPNUM_ERROR_STALE_HANDLE);
  must(mpnum_grad_scaler_report_checked(&others, &optimizer, 0, 1));
  REFUSED(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier),
          MPNUM_ERROR_STALE_HANDLE);
  REFUSED(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict),
          MPNUM_ERROR_STALE_HANDLE);
  must(mpnum_grad_scaler_report_checked(&scaler, &own, 0, 1));
  REFUSED(mpnum_grad_scaler_update_all(&scaler, both, 2), MPNUM_ERROR_STALE_HANDLE);
  REFUSED(mpnum_grad_optimizer_merge(&merged, own, optimizer), MPNUM_ERROR_STALE_HANDLE);
  mpnum_grad_scaler_discard(&scaler, &optimizer);
  CHECK(optimizer.id == 7, "id %d", (int)optimizer.id);
  must(mpnum_grad_scaler_update_all(&scaler, both, 2));
  mpnum_grad_scaler_config config = scaler.config;
  config.id = 9;
  must(mpnum_grad_scaler_configure(&scaler, config));
  REFUSED(mpnum_grad_scaler_can_unscale(&scaler, &optimizer), MPNUM_ERROR_STALE_HANDLE);
}

/* A forgotten init: 1000 of 1000 steps applied, every gradient times 0. */
static void a_scaler_of_zeros_is_refused_by_every_call(void) {
  static mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  uint8_t bytes[MPNUM_GRAD_SCALER_BYTES] = {77};
  float gradient = 3, scaled = 7;
  mpnum_f16 half = {7};
  mpnum_bf16 brain = {7};
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, &gradient, 1, MPNUM_TYPE_F32, &gradient);
#define UNBORN(call) REFUSED(call, MPNUM_ERROR_UNINITIALISED)
  for (uint32_t stage = MPNUM_GRAD_READY; stage <= MPNUM_GRAD_SKIPPED; ++stage) {
    optimizer.stage = stage;
    UNBORN(mpnum_grad_scaler_configure(&scaler, mpnum_grad_scaler_default()));
    UNBORN(mpnum_grad_scaler_set_scale(&scaler, 1024));
    UNBORN(mpnum_grad_scaler_scale_f32(&scaler, 1, &scaled));
    UNBORN(mpnum_grad_scaler_scale_f16(&scaler, half, &half));
    UNBORN(mpnum_grad_scaler_scale_bf16(&scaler, brain, &brain));
    UNBORN(mpnum_grad_scaler_begin_accumulation(&scaler, &optimizer));
    UNBORN(mpnum_grad_scaler_end_accumulation(&scaler, &optimizer));
    UNBORN(mpnum_grad_scaler_can_unscale(&scaler, &optimizer));
    UNBORN(mpnum_grad_scaler_can_clip(&scaler, &optimizer));
    UNBORN(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, 1));
    UNBORN(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 0, 1));
    UNBORN(mpnum_grad_scaler_report_changed(&scaler, &optimizer, 0, 1));
    UNBORN(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &scaled));
    UNBORN(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
    UNBORN(mpnum_grad_scaler_update(&scaler, &optimizer));
    UNBORN(mpnum_grad_scaler_save(bytes, &scaler));
    UNBORN(mpnum_grad_scaler_check(&scaler, &optimizer, &tensor, 1, NULL));
    UNBORN(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, 0, NULL));
    UNBORN(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, 1));
    verdict = MPNUM_GRAD_APPLY;
    UNBORN(mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, &tensor, 1, 0, 0,
                                               NULL, &verdict));
    CHECK(verdict == MPNUM_GRAD_SKIP, "verdict");
  }
#undef UNBORN
  CHECK(mpnum_grad_scaler_update_all(&scaler, NULL, 0) == MPNUM_ERROR_UNINITIALISED,
        "no handles");
  CHECK(gradient == 3 && scaled == 7 && half.bits == 7 && brain.bits == 7 &&
            bytes[0] == 77 && !mpnum_grad_scaler_is_inexact(&scaler),
        "something is written");
  mpnum_grad_scaler_discard(&scaler, &optimizer);
  CHECK(optimizer.stage == MPNUM_GRAD_READY && optimizer.id == 0, "discard");
}

/* The scale is what it was: the handle is what is wrong. */
static void a_stale_scale_is_one_that_has_changed(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default()), later = scaler;
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler), other = optimizer;
  must(mpnum_grad_scaler_report_unscaled(&scaler, &other, 0, 1));
  must(mpnum_grad_scaler_update(&scaler, &other));
  CHECK(scaler.scale == later.scale, "the scale is what it was");
  REFUSED(mpnum_grad_scaler_can_unscale(&scaler, &optimizer), MPNUM_ERROR_STALE_HANDLE);
  /* A handle that was not loaded with its scaler. */
  REFUSED(mpnum_grad_scaler_can_unscale(&later, &other), MPNUM_ERROR_STALE_HANDLE);
  optimizer = mpnum_grad_optimizer_of(&scaler);
  must(mpnum_grad_scaler_begin_accumulation(&scaler, &optimizer));
  must(mpnum_grad_scaler_set_scale(&scaler, 1024));
  REFUSED(mpnum_grad_scaler_end_accumulation(&scaler, &optimizer),
          MPNUM_ERROR_STALE_SCALE);
}

/* The largest bf16 is 2^128 - 2^120, and from 2^128 - 2^119 on floats round to Inf: its
 * product with 1 + 3 * 2^-10 is a float between that and the largest. */
static void a_loss_in_bf16_may_have_no_product(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  const mpnum_bf16 most = {0x7f7f}, less = {0x7f7e}, infinite = {0x7f80};
  mpnum_bf16 scaled = {7};
  must(mpnum_grad_scaler_set_scale(&scaler, 1 + 3 * 0x1p-10f));
  CHECK(mpnum_grad_scaler_scale_bf16(&scaler, most, &scaled) ==
                MPNUM_ERROR_UNREPRESENTABLE &&
            scaled.bits == 7,
        "%04x", (unsigned)scaled.bits);
  must(mpnum_grad_scaler_scale_bf16(&scaler, less, &scaled));
  CHECK(scaled.bits == 0x7f7f, "%04x", (unsigned)scaled.bits);
  must(mpnum_grad_scaler_scale_bf16(&scaler, infinite, &scaled));
  CHECK(scaled.bits == 0x7f80, "%04x", (unsigned)scaled.bits);
}
/* 65504 is the largest f16: 1 * 65536 is none, 1.9990234375 * 32768 is. */
static void a_loss_in_f16_has_a_configuration(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  const mpnum_grad_scaler narrow = made(mpnum_grad_scaler_f16());
  const mpnum_f16 one = {0x3c00}, most = {0x3fff}, two = {0x4000}, infinite = {0x7c00};
  mpnum_f16 scaled = {7};
  const mpnum_status status = mpnum_grad_scaler_scale_f16(&scaler, one, &scaled);
  CHECK(status == MPNUM_ERROR_UNREPRESENTABLE && scaled.bits == 7 &&
            strstr(said(status), "mpnum_grad_scaler_f16"),
        "%s", said(status));
  CHECK(narrow.scale == 32768 && narrow.config.max_scale == 32768, "%a",
        (double)narrow.scale);
  must(mpnum_grad_scaler_scale_f16(&narrow, one, &scaled));
  CHECK(scaled.bits == 0x7800, "%04x", (unsigned)scaled.bits); /* 32768 */
  must(mpnum_grad_scaler_scale_f16(&narrow, most, &scaled));
  CHECK(scaled.bits == 0x7bff, "%04x", (unsigned)scaled.bits); /* 65504 */
  must(mpnum_grad_scaler_scale_f16(&narrow, infinite, &scaled));
  CHECK(scaled.bits == 0x7c00, "%04x", (unsigned)scaled.bits);
  CHECK(mpnum_grad_scaler_scale_f16(&narrow, two, &scaled) == MPNUM_ERROR_UNREPRESENTABLE,
        "2 * 32768");
  scaler = narrow;
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  for (int i = 0; i < 2001; ++i) { /* it does not grow past 32768 */
    must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 0, 1));
    must(mpnum_grad_scaler_update(&scaler, &optimizer));
  }
  CHECK(scaler.scale == 32768, "%a", (double)scaler.scale);
  /* As the page says: a loss that is refused is reported as found, and the next is not.
   */
  must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 1, MPNUM_GRAD_NORM_UNKNOWN));
  must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
  must(mpnum_grad_scaler_update(&scaler, &optimizer));
  must(mpnum_grad_scaler_scale_f16(&scaler, two, &scaled));
  CHECK(verdict == MPNUM_GRAD_SKIP && scaled.bits == 0x7800, "after an update");
}

/* Inf is no limit and 0 is refused, in every call that takes a max_norm. */
static void a_max_norm_of_0_is_refused_and_inf_is_no_limit(void) {
  const float refused[] = {0, -0.0f, -1, not_a_number(),
                           mpnum_from_bits_f32(0xff800000u)};
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler), unscaled;
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  float gradient = 3 * 65536.0f, got = 7;
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, &gradient, 1, MPNUM_TYPE_F32, &gradient);
  unscaled = optimizer;
  must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, 3));
  must(mpnum_grad_scaler_report_unscaled(&scaler, &unscaled, 0, 3));
  for (int i = 0; i < 5; ++i) {
    const mpnum_status statuses[] = {
        mpnum_grad_clip_coefficient(3, refused[i], &got),
        mpnum_grad_scaler_multiplier(&scaler, &optimizer, refused[i], &got),
        mpnum_grad_scaler_clip(&scaler, &unscaled, &tensor, 1, refused[i])};
    for (int k = 0; k < 3; ++k)
      CHECK(statuses[k] == MPNUM_ERROR_ARGUMENT, "%g, call %d: %s", (double)refused[i], k,
            said(statuses[k]));
    mpnum_grad_optimizer ready = mpnum_grad_optimizer_of(&scaler);
    CHECK(mpnum_grad_scaler_unscale_clip_step(&scaler, &ready, &tensor, 1, refused[i], 0,
                                              NULL, &verdict) == MPNUM_ERROR_ARGUMENT,
          "%g, unscale_clip_step", (double)refused[i]);
  }
  CHECK(got == 7 && gradient == 196608, "something is written");
  must(mpnum_grad_clip_coefficient(3, infinity(), &got));
  CHECK(got == 1, "%a", (double)got);
  must(mpnum_grad_scaler_multiplier(&scaler, &optimizer, infinity(), &got));
  CHECK(got == scaler.inverse, "%a", (double)got);
  mpnum_grad_scaler_discard(&scaler, &optimizer);
  must(mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, &tensor, 1, infinity(), 0,
                                           NULL, &verdict));
  CHECK(gradient == 3 && verdict == MPNUM_GRAD_APPLY, "%a", (double)gradient);
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(a_refused_step_says_skip);
  TAP_RUN(a_window_that_was_never_checked_is_no_update);
  TAP_RUN(a_handle_that_was_left_out_is_no_update);
  TAP_RUN(a_found_inf_after_the_step_is_too_late);
  TAP_RUN(a_norm_of_nan_is_no_clean_report);
  TAP_RUN(an_unknown_norm_is_not_clipped_to);
  TAP_RUN(a_handle_of_another_scaler_is_refused);
  TAP_RUN(a_scaler_of_zeros_is_refused_by_every_call);
  TAP_RUN(a_stale_scale_is_one_that_has_changed);
  TAP_RUN(a_loss_in_bf16_may_have_no_product);
  TAP_RUN(a_loss_in_f16_has_a_configuration);
  TAP_RUN(a_max_norm_of_0_is_refused_and_inf_is_no_limit);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* What the loss scaler says and when it refuses: verdicts, scales that change under
 * gradients, norms that are unknown or none; losses and clipping, which are rounded once.
 */
#include "../harness/control_word.h"
#include "../harness/must.h"
#include "scaler_checks.h"

#include <float.h>
#include <math.h>

static mpnum_grad_scaler switched_off(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.enabled = 0;
  return made(config);
}
static void a_scaler_that_is_off_passes_everything(void) {
  mpnum_grad_scaler scaler = switched_off();
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  float scaled = 0;
  CHECK(scaler.scale == 1 && scaler.inverse == 1, "%a", (double)scaler.scale);
  CHECK(mpnum_grad_scaler_scale_f32(&scaler, FLT_MAX, &scaled) == MPNUM_OK &&
            scaled == FLT_MAX,
        "%a", (double)scaled);
  for (int i = 0; i < 5; ++i) {
    must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 1, 1));
    CHECK(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict) == MPNUM_OK &&
              verdict == MPNUM_GRAD_APPLY,
          "verdict %d", (int)verdict);
    must(mpnum_grad_scaler_update(&scaler, &optimizer));
    CHECK(mpnum_grad_scaler_set_scale(&scaler, 2) == MPNUM_OK, "set_scale");
  }
  CHECK(scaler.scale == 1 && scaler.updates == 0, "%a", (double)scaler.scale);
}
static void an_unknown_norm_is_no_norm_of_0(void) {
  const float infinity = mpnum_from_bits_f32(0x7f800000u);
  mpnum_grad_scaler scaler = switched_off();
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  float multiplier = 7;
  for (int i = 0; i < 3; ++i) { /* update is left out */
    CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier) ==
                  MPNUM_ERROR_NOT_CHECKED &&
              multiplier == 7,
          "step %d: %a", i, (double)multiplier);
    CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, infinity, &multiplier) ==
                  MPNUM_OK &&
              multiplier == 1,
          "without a limit the norm is not needed");
    must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, 100));
    CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier) == MPNUM_OK &&
              fabs((double)multiplier - 0.01) < 1e-9,
          "%a", (double)multiplier);
    must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 1, 100));
    CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier) == MPNUM_OK &&
              multiplier == 1,
          "with Inf: %a", (double)multiplier);
    must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
    multiplier = 7;
  }
}

static void each_optimizer_has_its_own_verdict(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizers[3] = {mpnum_grad_optimizer_of(&scaler),
                                        mpnum_grad_optimizer_of(&scaler),
                                        mpnum_grad_optimizer_of(&scaler)};
  mpnum_grad_optimizer *all[3] = {&optimizers[0], &optimizers[1], &optimizers[2]};
  mpnum_grad_verdict verdicts[2] = {MPNUM_GRAD_SKIP, MPNUM_GRAD_APPLY};
  for (int i = 0; i < 3; ++i) {
    must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizers[0], 0, 1));
    must(mpnum_grad_scaler_report_checked(&scaler, &optimizers[1], 4, 1));
    must(mpnum_grad_scaler_step(&scaler, &optimizers[0], &verdicts[0]));
    must(mpnum_grad_scaler_step(&scaler, &optimizers[1], &verdicts[1]));
    CHECK(verdicts[0] == MPNUM_GRAD_APPLY && verdicts[1] == MPNUM_GRAD_SKIP, "verdicts");
    CHECK(optimizers[1].consecutive_skips == (uint32_t)i + 1, "skips");
    must(mpnum_grad_scaler_update_all(&scaler, all, 3));
    CHECK(scaler.scale == 65536.0f / (float)(2 << i), "%a", (double)scaler.scale);
  }
  CHECK(scaler.applied == 3 && scaler.skipped == 3 && scaler.overflows == 3 &&
            scaler.updates == 3 && scaler.consecutive_overflows == 3,
        "counters");
  must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizers[1], 0, 1));
  must(mpnum_grad_scaler_step(&scaler, &optimizers[1], &verdicts[1]));
  CHECK(optimizers[1].consecutive_skips == 0, "a step ends the skips");
}
static void a_smaller_scale_is_no_sign_of_a_skip(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_apex(2));
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 1, 1));
  must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
  must(mpnum_grad_scaler_update(&scaler, &optimizer));
  CHECK(verdict == MPNUM_GRAD_SKIP && scaler.scale == 65536, "skipped at the same scale");
}
static void what_was_found_is_not_forgotten(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 0x80000000u, 1));
  must(mpnum_grad_scaler_report_changed(&scaler, &optimizer, 0, 2));
  CHECK(optimizer.found_inf == 1 && optimizer.norm == 2, "found");
}
/* A sum over four ranks that all found Inf. */
static void a_found_inf_of_4_is_one_overflow(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  float multiplier = 7;
  must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 1, 1));
  optimizer.found_inf = 4;
  CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier) == MPNUM_OK &&
            multiplier == 0,
        "%a", (double)multiplier);
  CHECK(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict) == MPNUM_OK &&
            verdict == MPNUM_GRAD_SKIP,
        "verdict");
  CHECK(mpnum_grad_scaler_update(&scaler, &optimizer) == MPNUM_OK &&
            scaler.overflows == 1 && scaler.consecutive_overflows == 1,
        "%u overflows", (unsigned)scaler.overflows);
}
static void norms_that_are_none_are_refused(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  const mpnum_grad_optimizer before = optimizer;
  CHECK(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 0, -2) ==
                MPNUM_ERROR_ARGUMENT &&
            memcmp(&optimizer, &before, sizeof before) == 0,
        "-2");
  CHECK(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 0,
                                          mpnum_from_bits_f32(0x80000000u)) == MPNUM_OK &&
            mpnum_bits_f32(optimizer.norm) == 0,
        "-0 is 0");
  CHECK(mpnum_grad_scaler_report_changed(&scaler, &optimizer, 0,
                                         mpnum_from_bits_f32(0xff800000u)) ==
            MPNUM_ERROR_ARGUMENT,
        "-Inf");
}
/* A norm past the floats, of finite gradients: nothing can be clipped to it. */
static void a_norm_that_overflows_is_skipped(void) {
  const float infinity = mpnum_from_bits_f32(0x7f800000u);
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  float multiplier = 7;
  must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, infinity));
  CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, infinity, &multiplier) ==
                MPNUM_OK &&
            multiplier == scaler.inverse && optimizer.found_inf == 0,
        "without a limit");
  CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier) == MPNUM_OK &&
            multiplier == 0,
        "%a", (double)multiplier);
  CHECK(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict) == MPNUM_OK &&
            verdict == MPNUM_GRAD_SKIP,
        "verdict");
}

static void a_scale_set_after_a_check_is_refused(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  float multiplier = 7;
  must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, 1));
  CHECK(mpnum_grad_scaler_set_scale(&scaler, 65536) == MPNUM_OK &&
            mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier) == MPNUM_OK,
        "the same scale is none other");
  multiplier = 7;
  must(mpnum_grad_scaler_set_scale(&scaler, 1024));
  CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier) ==
                MPNUM_ERROR_STALE_SCALE &&
            multiplier == 7,
        "%a", (double)multiplier);
  CHECK(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict) == MPNUM_ERROR_STALE_SCALE,
        "step");
  optimizer.consecutive_skips = 3;
  mpnum_grad_scaler_discard(&scaler, &optimizer);
  CHECK(optimizer.consecutive_skips == 3 &&
            mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, 1) == MPNUM_OK &&
            mpnum_grad_scaler_multiplier(&scaler, &optimizer, 1, &multiplier) == MPNUM_OK,
        "discarded");
}
static void a_scale_set_inside_a_window_is_refused(void) {
  for (int at = 0; at < 2; ++at) {
    mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    must(mpnum_grad_scaler_set_scale(&scaler, 4096)); /* between an update and a window */
    CHECK(mpnum_grad_scaler_begin_accumulation(&scaler, &optimizer) == MPNUM_OK, "begin");
    if (at == 0) must(mpnum_grad_scaler_set_scale(&scaler, 1024));
    CHECK(mpnum_grad_scaler_end_accumulation(&scaler, &optimizer) ==
              (at == 0 ? MPNUM_ERROR_STALE_SCALE : MPNUM_OK),
          "end");
    if (at == 1) must(mpnum_grad_scaler_set_scale(&scaler, 1024));
    CHECK(mpnum_grad_scaler_can_unscale(&scaler, &optimizer) == MPNUM_ERROR_STALE_SCALE,
          "can_unscale");
    CHECK(mpnum_grad_scaler_begin_accumulation(&scaler, &optimizer) ==
              MPNUM_ERROR_STALE_SCALE,
          "begin once more");
  }
}
static void an_update_between_two_optimizers_is_refused(void) {
  for (int found = 0; found < 2; ++found) {
    mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
    mpnum_grad_optimizer first = mpnum_grad_optimizer_of(&scaler), second = first;
    mpnum_grad_optimizer *both[] = {&second, &first};
    mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
    must(mpnum_grad_scaler_report_unscaled(&scaler, &first, (uint32_t)found, 1));
    must(mpnum_grad_scaler_step(&scaler, &first, &verdict));
    CHECK(mpnum_grad_scaler_update(&scaler, &first) == MPNUM_OK, "update");
    CHECK(mpnum_grad_scaler_can_unscale(&scaler, &second) == MPNUM_ERROR_STALE_HANDLE,
          "the second one's gradients have the scale before");
    CHECK(mpnum_grad_scaler_report_unscaled(&scaler, &second, 0, 1) ==
              MPNUM_ERROR_STALE_HANDLE,
          "report_unscaled");
    must(mpnum_grad_scaler_report_unscaled(&scaler, &first, 0, 1));
    CHECK(mpnum_grad_scaler_update_all(&scaler, both, 2) == MPNUM_ERROR_STALE_HANDLE,
          "its gradients are still there");
    mpnum_grad_scaler_discard(&scaler, &second);
    CHECK(mpnum_grad_scaler_update_all(&scaler, both, 2) == MPNUM_OK &&
              mpnum_grad_scaler_can_unscale(&scaler, &second) == MPNUM_OK,
          "an update that names both");
  }
}
/* Where optimizers are structs of the user's, handles do not lie side by side. */
static void handles_may_live_anywhere(void) {
  struct {
    double rate;
    mpnum_grad_optimizer handle;
  } a = {0, {0, 0, 0, 0, 0, 0, 0, 0, 0}}, b = a;
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer *handles[] = {&b.handle, &a.handle};
  a.handle = b.handle = mpnum_grad_optimizer_of(&scaler);
  must(mpnum_grad_scaler_report_unscaled(&scaler, &a.handle, 0, 1));
  must(mpnum_grad_scaler_report_unscaled(&scaler, &b.handle, 1, 1));
  CHECK(mpnum_grad_scaler_update_all(&scaler, handles, 2) == MPNUM_OK &&
            scaler.scale == 32768 && a.handle.stage == MPNUM_GRAD_READY &&
            b.handle.stage == MPNUM_GRAD_READY,
        "%a", (double)scaler.scale);
}

static void losses_never_overflow_silently(void) {
  const mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  float scaled = 7;
  mpnum_f16 half = {0x1234};
  mpnum_bf16 brain = {0x1234};
  CHECK(mpnum_grad_scaler_scale_f32(&scaler, -2.5f, &scaled) == MPNUM_OK &&
            scaled == -163840,
        "%a", (double)scaled);
  CHECK(mpnum_grad_scaler_scale_f32(&scaler, 1e34f, &scaled) ==
                MPNUM_ERROR_UNREPRESENTABLE &&
            scaled == -163840,
        "%a", (double)scaled);
  CHECK(mpnum_grad_scaler_scale_f32(&scaler, mpnum_from_bits_f32(0xff800000u), &scaled) ==
                MPNUM_OK &&
            mpnum_bits_f32(scaled) == 0xff800000u,
        "Inf stays");
  CHECK(mpnum_grad_scaler_scale_f32(&scaler, mpnum_from_bits_f32(0x7fc00001u), &scaled) ==
                MPNUM_OK &&
            mpnum_bits_f32(scaled) == 0x7fc00001u,
        "NaN stays");
  CHECK(mpnum_grad_scaler_scale_f32(&scaler, mpnum_from_bits_f32(0x80000000u), &scaled) ==
                MPNUM_OK &&
            mpnum_bits_f32(scaled) == 0x80000000u,
        "-0 stays");
  CHECK(mpnum_grad_scaler_scale_f16(&scaler, mpnum_f32_to_f16(1), &half) ==
                MPNUM_ERROR_UNREPRESENTABLE &&
            half.bits == 0x1234,
        "%04x", half.bits);
  CHECK(mpnum_grad_scaler_scale_f16(&scaler, mpnum_f32_to_f16(0.5f), &half) == MPNUM_OK &&
            half.bits == 0x7800,
        "%04x", half.bits);
  CHECK(mpnum_grad_scaler_scale_bf16(&scaler, mpnum_f32_to_bf16(3), &brain) == MPNUM_OK &&
            brain.bits == 0x4840,
        "%04x", brain.bits);
  mpnum_grad_scaler odd = scaler;
  for (int i = 0; i < 200000; ++i) {
    const float loss = mpnum_from_bits_f32(mpnum_random(2, (uint64_t)i));
    const float scale = mpnum_from_bits_f32(
        0x00800000u + mpnum_random(3, (uint64_t)i) % (0x7e800001u - 0x00800000u));
    const double exact = (double)loss * (double)scale;
    if (!(fabs((double)loss) <= (double)FLT_MAX)) continue;
    odd.scale = scale;
    const mpnum_status status = mpnum_grad_scaler_scale_f32(&odd, loss, &scaled);
    if (fabs(exact) >= ldexp(1 - ldexp(1, -25), 128)) {
      CHECK(status == MPNUM_ERROR_UNREPRESENTABLE, "%a * %a", (double)loss,
            (double)scale);
    } else {
      CHECK(status == MPNUM_OK && scaled == (float)exact, "%a * %a: %a", (double)loss,
            (double)scale, (double)scaled);
    }
  }
}

static void clipping_is_rounded_once(void) {
  const float infinity = mpnum_from_bits_f32(0x7f800000u);
  const float little = 1e-6f; /* a constant may have more digits, as on s390x */
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  float got = 7;
  for (int i = 0; i < 200000; ++i) {
    const float norm = mpnum_from_bits_f32(mpnum_random(7, (uint64_t)i) % 0x7f800000u);
    const float max_norm =
        mpnum_from_bits_f32(1 + mpnum_random(8, (uint64_t)i) % 0x7f7fffffu);
    const double ratio = (double)max_norm / ((double)norm + (double)little);
    const mpnum_status status = mpnum_grad_clip_coefficient(norm, max_norm, &got);
    CHECK(status == MPNUM_OK && got == (float)(ratio < 1 ? ratio : 1),
          "%a to %a: %a, want %a", (double)norm, (double)max_norm, (double)got, ratio);
    must(mpnum_grad_scaler_set_scale(&scaler, (float)ldexp(1, (int)draw(100))));
    mpnum_grad_scaler_discard(&scaler, &optimizer);
    must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, norm));
    const double product = (ratio < 1 ? ratio : 1) * (double)scaler.inverse;
    float multiplier = 7;
    const mpnum_status said =
        mpnum_grad_scaler_multiplier(&scaler, &optimizer, max_norm, &multiplier);
    if (product < (double)FLT_MIN * 0.9999999) {
      CHECK(said == MPNUM_ERROR_UNREPRESENTABLE && multiplier == 7, "%a", product);
    } else if (product > (double)FLT_MIN) {
      CHECK(said == MPNUM_OK && multiplier == (float)product, "%a, want %a",
            (double)multiplier, product);
    }
  }
  CHECK(mpnum_grad_clip_coefficient(5, infinity, &got) == MPNUM_OK && got == 1,
        "no limit");
  CHECK(mpnum_grad_clip_coefficient(0, FLT_MIN, &got) == MPNUM_OK && got < 1e-31f,
        "norm 0: %a", (double)got);
  got = 7;
  CHECK(mpnum_grad_clip_coefficient(infinity, 1, &got) == MPNUM_ERROR_NONFINITE, "Inf");
  CHECK(mpnum_grad_clip_coefficient(mpnum_from_bits_f32(0xffc00000u), 1, &got) ==
            MPNUM_ERROR_NONFINITE,
        "NaN");
  CHECK(mpnum_grad_clip_coefficient(1, 0, &got) == MPNUM_ERROR_ARGUMENT, "to 0");
  CHECK(mpnum_grad_clip_coefficient(1, -1, &got) == MPNUM_ERROR_ARGUMENT, "to -1");
  CHECK(mpnum_grad_clip_coefficient(-2, 1, &got) == MPNUM_ERROR_ARGUMENT, "norm -2");
  CHECK(got == 7, "nothing is written");
}

/* 0 says that the verdict will be to skip, where scales of any size are taken, too. */
static void a_multiplier_of_a_step_that_applies_is_not_0(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_torch());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  float multiplier = 7;
  must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, 65536));
  CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, (float)ldexp(1, -119),
                                     &multiplier) == MPNUM_ERROR_UNREPRESENTABLE &&
            multiplier == 7,
        "2^-119 / 2^32: %a", (double)multiplier);
  CHECK(mpnum_grad_scaler_multiplier(&scaler, &optimizer, (float)ldexp(1, -117),
                                     &multiplier) == MPNUM_OK &&
            mpnum_bits_f32(multiplier) == 1,
        "2^-117 / 2^32: %a", (double)multiplier);
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(a_scaler_that_is_off_passes_everything);
  TAP_RUN(an_unknown_norm_is_no_norm_of_0);
  TAP_RUN(each_optimizer_has_its_own_verdict);
  TAP_RUN(a_smaller_scale_is_no_sign_of_a_skip);
  TAP_RUN(what_was_found_is_not_forgotten);
  TAP_RUN(a_found_inf_of_4_is_one_overflow);
  TAP_RUN(norms_that_are_none_are_refused);
  TAP_RUN(a_norm_that_overflows_is_skipped);
  TAP_RUN(a_scale_set_after_a_check_is_refused);
  TAP_RUN(a_scale_set_inside_a_window_is_refused);
  TAP_RUN(an_update_between_two_optimizers_is_refused);
  TAP_RUN(handles_may_live_anywhere);
  TAP_RUN(losses_never_overflow_silently);
  TAP_RUN(clipping_is_rounded_once);
  TAP_RUN(a_multiplier_of_a_step_that_applies_is_not_0);
  return tap_done();
}

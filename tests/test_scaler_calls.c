/* SPDX-License-Identifier: MIT */
/* The loss scaler's calls: each at each stage, long random sequences of them against a
 * small model, the verdicts, and losses and clipping, which are rounded once. */
#include "control_word.h"
#include "scaler_checks.h"

#include <float.h>
#include <math.h>

/* What each call says at each stage, with and without an open window. */
enum { OK = MPNUM_OK, CALLS = 9 };
static const char *const call_names[CALLS] = {
    "begin_accumulation", "end_accumulation", "checked", "unscaled", "checked_again",
    "may_clip",           "multiplier",       "step",    "update"};
static const int wanted[5][CALLS] = {
    /* READY */
    {OK, MPNUM_ERROR_NOT_ACCUMULATING, OK, OK, MPNUM_ERROR_STILL_SCALED,
     MPNUM_ERROR_STILL_SCALED, MPNUM_ERROR_NOT_CHECKED, MPNUM_ERROR_NOT_CHECKED,
     MPNUM_ERROR_NOT_CHECKED},
    /* CHECKED */
    {MPNUM_ERROR_ALREADY_CHECKED, MPNUM_ERROR_NOT_ACCUMULATING,
     MPNUM_ERROR_ALREADY_CHECKED, MPNUM_ERROR_ALREADY_CHECKED, MPNUM_ERROR_STILL_SCALED,
     MPNUM_ERROR_STILL_SCALED, OK, OK, OK},
    /* UNSCALED */
    {MPNUM_ERROR_ALREADY_UNSCALED, MPNUM_ERROR_NOT_ACCUMULATING,
     MPNUM_ERROR_ALREADY_UNSCALED, MPNUM_ERROR_ALREADY_UNSCALED, OK, OK,
     MPNUM_ERROR_ALREADY_UNSCALED, OK, OK},
    /* STEPPED */
    {MPNUM_ERROR_ALREADY_STEPPED, MPNUM_ERROR_NOT_ACCUMULATING,
     MPNUM_ERROR_ALREADY_STEPPED, MPNUM_ERROR_ALREADY_STEPPED,
     MPNUM_ERROR_ALREADY_STEPPED, MPNUM_ERROR_ALREADY_STEPPED,
     MPNUM_ERROR_ALREADY_STEPPED, MPNUM_ERROR_ALREADY_STEPPED, OK},
    /* READY, accumulating */
    {MPNUM_ERROR_ACCUMULATING, OK, MPNUM_ERROR_ACCUMULATING, MPNUM_ERROR_ACCUMULATING,
     MPNUM_ERROR_STILL_SCALED, MPNUM_ERROR_STILL_SCALED, MPNUM_ERROR_NOT_CHECKED,
     MPNUM_ERROR_ACCUMULATING, MPNUM_ERROR_ACCUMULATING}};

static mpnum_status call_of(int call, mpnum_grad_scaler *scaler,
                            mpnum_grad_optimizer *optimizer, uint32_t found,
                            mpnum_grad_verdict *verdict, float *multiplier) {
  const float infinity = mpnum_from_bits_f32(0x7f800000u);
  switch (call) {
  case 0: return mpnum_grad_scaler_begin_accumulation(scaler, optimizer);
  case 1: return mpnum_grad_scaler_end_accumulation(scaler, optimizer);
  case 2: return mpnum_grad_scaler_checked(scaler, optimizer, found, 3);
  case 3: return mpnum_grad_scaler_unscaled(scaler, optimizer, found, 3);
  case 4: return mpnum_grad_scaler_checked_again(scaler, optimizer, found, 2);
  case 5: return mpnum_grad_scaler_may_clip(scaler, optimizer);
  case 6: return mpnum_grad_scaler_multiplier(scaler, optimizer, infinity, multiplier);
  case 7: return mpnum_grad_scaler_step(scaler, optimizer, verdict);
  default: return mpnum_grad_scaler_update(scaler, optimizer, 1);
  }
}
static void each_call_at_each_stage(void) {
  for (int stage = 0; stage < 5; ++stage)
    for (int call = 0; call < CALLS; ++call)
      for (int enabled = 0; enabled < 2; ++enabled) {
        mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
        config.enabled = (int16_t)enabled;
        mpnum_grad_scaler scaler = made(config);
        mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_ready();
        mpnum_grad_verdict verdict = (mpnum_grad_verdict)7;
        float multiplier = 7;
        optimizer.stage = (uint32_t)(mpnum_grad_stage)(stage % 4);
        optimizer.accumulating = stage == 4;
        CHECK(mpnum_grad_scaler_may_unscale(&scaler, &optimizer) ==
                  (mpnum_status)(enabled ? wanted[stage][2] : MPNUM_OK),
              "may_unscale at stage %d", stage);
        const mpnum_grad_scaler scaler_before = scaler;
        const mpnum_grad_optimizer optimizer_before = optimizer;
        const mpnum_status status =
            call_of(call, &scaler, &optimizer, 0, &verdict, &multiplier);
        const int want = enabled ? wanted[stage][call] : MPNUM_OK;
        CHECK((int)status == want, "%s at stage %d, enabled %d: %s, want %s",
              call_names[call], stage, enabled, mpnum_status_string(status),
              mpnum_status_string((mpnum_status)want));
        if (status != MPNUM_OK)
          CHECK(memcmp(&scaler, &scaler_before, sizeof scaler) == 0 &&
                    memcmp(&optimizer, &optimizer_before, sizeof optimizer) == 0 &&
                    (int)verdict == 7 && multiplier == 7,
                "%s at stage %d changed something", call_names[call], stage);
      }
}

static void a_scaler_that_is_off_passes_everything(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.enabled = 0;
  mpnum_grad_scaler scaler = made(config);
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_ready();
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  float scaled = 0;
  CHECK(scaler.scale == 1 && scaler.inverse == 1, "%a", (double)scaler.scale);
  CHECK(mpnum_grad_scaler_scale_f32(&scaler, FLT_MAX, &scaled) == MPNUM_OK &&
            scaled == FLT_MAX,
        "%a", (double)scaled);
  for (int i = 0; i < 5; ++i) {
    mpnum_grad_scaler_unscaled(&scaler, &optimizer, 1, 1);
    CHECK(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict) == MPNUM_OK &&
              verdict == MPNUM_GRAD_APPLY,
          "verdict %d", (int)verdict);
    mpnum_grad_scaler_update(&scaler, &optimizer, 1);
    CHECK(mpnum_grad_scaler_set_scale(&scaler, 2) == MPNUM_OK, "set_scale");
  }
  CHECK(scaler.scale == 1 && scaler.updates == 0, "%a", (double)scaler.scale);
}

static void each_optimizer_has_its_own_verdict(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizers[3] = {mpnum_grad_optimizer_ready(),
                                        mpnum_grad_optimizer_ready(),
                                        mpnum_grad_optimizer_ready()};
  mpnum_grad_verdict verdicts[2] = {MPNUM_GRAD_SKIP, MPNUM_GRAD_APPLY};
  for (int i = 0; i < 3; ++i) {
    mpnum_grad_scaler_unscaled(&scaler, &optimizers[0], 0, 1);
    mpnum_grad_scaler_checked(&scaler, &optimizers[1], 4, 1);
    mpnum_grad_scaler_step(&scaler, &optimizers[0], &verdicts[0]);
    mpnum_grad_scaler_step(&scaler, &optimizers[1], &verdicts[1]);
    CHECK(verdicts[0] == MPNUM_GRAD_APPLY && verdicts[1] == MPNUM_GRAD_SKIP, "verdicts");
    CHECK(optimizers[1].consecutive_skips == (uint32_t)i + 1, "skips");
    mpnum_grad_scaler_update(&scaler, optimizers, 3);
    CHECK(scaler.scale == 65536.0f / (float)(2 << i), "%a", (double)scaler.scale);
  }
  CHECK(scaler.applied == 3 && scaler.skipped == 3 && scaler.overflows == 3 &&
            scaler.updates == 3 && scaler.consecutive_overflows == 3,
        "counters");
  mpnum_grad_scaler_unscaled(&scaler, &optimizers[1], 0, 1);
  mpnum_grad_scaler_step(&scaler, &optimizers[1], &verdicts[1]);
  CHECK(optimizers[1].consecutive_skips == 0, "a step ends the skips");
}
static void a_smaller_scale_is_no_sign_of_a_skip(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_apex(2));
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_ready();
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  mpnum_grad_scaler_unscaled(&scaler, &optimizer, 1, 1);
  mpnum_grad_scaler_step(&scaler, &optimizer, &verdict);
  mpnum_grad_scaler_update(&scaler, &optimizer, 1);
  CHECK(verdict == MPNUM_GRAD_SKIP && scaler.scale == 65536, "skipped at the same scale");
}
static void what_was_found_is_not_forgotten(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_default());
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_ready();
  mpnum_grad_scaler_unscaled(&scaler, &optimizer, 0x80000000u, 1);
  mpnum_grad_scaler_checked_again(&scaler, &optimizer, 0, 2);
  CHECK(optimizer.found_inf == 1 && optimizer.norm == 2, "found");
}

/* The model: stages by name, the scale as an exponent. */
typedef struct model {
  int exponent, clean;
  struct {
    char stage; /* r, c, u, s */
    int found, open;
  } at[3];
} model;
static int model_says(model *m, int call, int place, int found) {
  const char stage = m->at[place].stage;
  const int open = m->at[place].open;
  const int already = stage == 'c'   ? MPNUM_ERROR_ALREADY_CHECKED
                      : stage == 'u' ? MPNUM_ERROR_ALREADY_UNSCALED
                                     : MPNUM_ERROR_ALREADY_STEPPED;
  if (call == 0) {
    if (stage != 'r') return already;
    if (open) return MPNUM_ERROR_ACCUMULATING;
    m->at[place].open = 1;
  } else if (call == 1) {
    if (!open) return MPNUM_ERROR_NOT_ACCUMULATING;
    m->at[place].open = 0;
  } else if (call == 2 || call == 3) {
    if (open) return MPNUM_ERROR_ACCUMULATING;
    if (stage != 'r') return already;
    m->at[place].stage = call == 2 ? 'c' : 'u';
    m->at[place].found = found;
  } else if (call == 4 || call == 5) {
    if (stage == 's') return already;
    if (stage != 'u') return MPNUM_ERROR_STILL_SCALED;
    if (call == 4) m->at[place].found |= found;
  } else if (call == 6) {
    if (stage == 'r') return MPNUM_ERROR_NOT_CHECKED;
    if (stage != 'c') return already;
    if (m->at[place].found) return MPNUM_ERROR_NONFINITE;
  } else if (call == 7) {
    if (open) return MPNUM_ERROR_ACCUMULATING;
    if (stage == 'r') return MPNUM_ERROR_NOT_CHECKED;
    if (stage == 's') return already;
    m->at[place].stage = 's';
  } else {
    int any = 0, overflow = 0;
    for (int i = 0; i < 3; ++i) {
      if (m->at[i].open) return MPNUM_ERROR_ACCUMULATING;
      any |= m->at[i].stage != 'r';
      overflow |= m->at[i].found;
    }
    if (!any) return MPNUM_ERROR_NOT_CHECKED;
    for (int i = 0; i < 3; ++i) {
      m->at[i].stage = 'r';
      m->at[i].found = 0;
    }
    m->clean = overflow ? 0 : m->clean + 1;
    if (overflow && m->exponent > 0) m->exponent -= 1;
    if (m->clean == 3) {
      m->clean = 0;
      if (m->exponent < 126) m->exponent += 1;
    }
  }
  return MPNUM_OK;
}
static void a_million_random_calls_follow_the_model(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.growth_interval = 3;
  mpnum_grad_scaler scaler = made(config);
  mpnum_grad_optimizer optimizers[3] = {mpnum_grad_optimizer_ready(),
                                        mpnum_grad_optimizer_ready(),
                                        mpnum_grad_optimizer_ready()};
  model m = {16, 0, {{'r', 0, 0}, {'r', 0, 0}, {'r', 0, 0}}};
  int counts[CALLS] = {0};
  for (int i = 0; i < 1000000; ++i) {
    const int call = (int)draw(CALLS), place = (int)draw(3);
    const int found = draw(8) < (i / 50000 % 2 ? 1u : 4u);
    mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
    float multiplier = 0;
    const int skips = m.at[place].found;
    const int want = model_says(&m, call, place, found);
    const mpnum_status status = call == 8
                                    ? mpnum_grad_scaler_update(&scaler, optimizers, 3)
                                    : call_of(call, &scaler, &optimizers[place],
                                              (uint32_t)found, &verdict, &multiplier);
    CHECK((int)status == want, "call %d, %s: %s, want %s", i, call_names[call],
          mpnum_status_string(status), mpnum_status_string((mpnum_status)want));
    CHECK((double)scaler.scale == ldexp(1, m.exponent), "call %d: %a, want 2^%d", i,
          (double)scaler.scale, m.exponent);
    if (call == 7 && status == MPNUM_OK)
      CHECK((verdict == MPNUM_GRAD_SKIP) == skips, "call %d: verdict", i);
    if (call == 6 && status == MPNUM_OK)
      CHECK(multiplier == scaler.inverse, "call %d: multiplier", i);
    counts[call] += status == MPNUM_OK;
  }
  for (int call = 0; call < CALLS; ++call)
    CHECK(counts[call] > 1000, "%s: %d times", call_names[call], counts[call]);
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
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_ready();
  float got = 7;
  for (int i = 0; i < 200000; ++i) {
    const float norm = mpnum_from_bits_f32(mpnum_random(7, (uint64_t)i) % 0x7f800000u);
    const float max_norm =
        mpnum_from_bits_f32(1 + mpnum_random(8, (uint64_t)i) % 0x7f7fffffu);
    const double ratio = (double)max_norm / ((double)norm + (double)little);
    const mpnum_status status = mpnum_grad_clip_coefficient(norm, max_norm, &got);
    CHECK(status == MPNUM_OK && got == (float)(ratio < 1 ? ratio : 1),
          "%a to %a: %a, want %a", (double)norm, (double)max_norm, (double)got, ratio);
    mpnum_grad_scaler_set_scale(&scaler, (float)ldexp(1, (int)draw(100)));
    optimizer.stage = MPNUM_GRAD_CHECKED;
    optimizer.norm = norm;
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
  CHECK(mpnum_grad_clip_coefficient(-1, 1, &got) == MPNUM_ERROR_ARGUMENT, "norm -1");
  CHECK(got == 7, "nothing is written");
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(each_call_at_each_stage);
  TAP_RUN(a_scaler_that_is_off_passes_everything);
  TAP_RUN(each_optimizer_has_its_own_verdict);
  TAP_RUN(a_smaller_scale_is_no_sign_of_a_skip);
  TAP_RUN(what_was_found_is_not_forgotten);
  TAP_RUN(a_million_random_calls_follow_the_model);
  TAP_RUN(losses_never_overflow_silently);
  TAP_RUN(clipping_is_rounded_once);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* The loss scaler's update rule: against traces written by hand, the frameworks' own
 * rules and long adversarial sequences; and its configurations. */
#include "control_word.h"
#include "scaler_checks.h"

#include <float.h>
#include <math.h>

static void update(mpnum_grad_scaler *scaler, int found) {
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_ready();
  mpnum_grad_scaler_unscaled(scaler, &optimizer, (uint32_t)found, 1);
  const mpnum_status status = mpnum_grad_scaler_update(scaler, &optimizer, 1);
  CHECK(status == MPNUM_OK, "update: %s", mpnum_status_string(status));
}

/* By hand, from the definitions: init 16, twice, half, interval 2, hysteresis 2. */
static void golden_traces(void) {
  enum { STEPS = 14 };
  static const int found[STEPS] = {0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0};
  const struct {
    const char *name;
    mpnum_grad_scaler_config config;
    int scale[STEPS];
  } traces[] = {{"torch",
                 mpnum_grad_scaler_torch(),
                 {16, 32, 32, 64, 32, 16, 16, 8, 8, 16, 8, 8, 16, 16}},
                {"jmp",
                 mpnum_grad_scaler_jmp(),
                 {16, 32, 32, 64, 32, 16, 16, 8, 8, 16, 8, 8, 16, 16}},
                {"apex",
                 mpnum_grad_scaler_apex(2),
                 {16, 32, 32, 64, 64, 32, 32, 32, 32, 64, 64, 64, 128, 128}},
                {"megatron",
                 mpnum_grad_scaler_megatron(),
                 {16, 32, 32, 64, 64, 32, 32, 16, 16, 32, 32, 32, 64, 64}},
                {"deepspeed",
                 mpnum_grad_scaler_deepspeed(2, 0),
                 {16, 16, 32, 32, 32, 16, 16, 8, 8, 8, 4, 4, 4, 8}},
                {"deepspeed, consecutive",
                 mpnum_grad_scaler_deepspeed(2, 1),
                 {16, 16, 32, 32, 32, 16, 16, 16, 16, 16, 16, 16, 16, 32}},
                {"deepspeed, shift 1",
                 mpnum_grad_scaler_deepspeed(1, 0),
                 {16, 16, 32, 32, 16, 8, 8, 4, 4, 4, 2, 2, 2, 4}},
                {"flax",
                 mpnum_grad_scaler_flax(),
                 {16, 16, 32, 32, 16, 8, 8, 4, 4, 4, 2, 2, 2, 4}}};
  for (size_t i = 0; i < sizeof traces / sizeof traces[0]; ++i) {
    mpnum_grad_scaler_config config = traces[i].config;
    config.init_scale = 16;
    config.growth_interval = 2;
    mpnum_grad_scaler scaler = made(config);
    for (int step = 0; step < STEPS; ++step) {
      update(&scaler, found[step]);
      CHECK(scaler.scale == (float)traces[i].scale[step], "%s, update %d: %a, want %d",
            traces[i].name, step, (double)scaler.scale, traces[i].scale[step]);
    }
  }
}

/* The rules as each framework has them, with its own variables. */
typedef struct rule {
  double scale, growth, backoff, least;
  int interval, shift, is_consecutive;
  int tracker, left;            /* torch, apex, megatron, flax */
  int iteration, last_overflow; /* deepspeed */
} rule;
static void torch_rule(rule *r, int found) {
  if (found) {
    r->scale *= r->backoff;
    r->tracker = 0;
  } else if (++r->tracker == r->interval) {
    r->scale *= r->growth;
    r->tracker = 0;
  }
}
static void apex_rule(rule *r, int found) {
  if (found) {
    r->left = r->left > 0 ? r->left - 1 : 0;
    r->tracker = 0;
    if (r->left == 0) r->scale *= r->backoff;
    return;
  }
  r->left = r->shift;
  torch_rule(r, 0);
}
static void megatron_rule(rule *r, int found) {
  if (found) {
    r->tracker = 0;
    if (--r->left <= 0) r->scale = fmax(r->scale * r->backoff, r->least);
  } else if (++r->tracker == r->interval) {
    r->tracker = 0;
    r->left = r->shift;
    r->scale *= r->growth;
  }
}
static void deepspeed_rule(rule *r, int found) {
  if (found) {
    if (r->shift == 1 || r->left == 1) {
      r->scale = fmax(r->scale * r->backoff, r->least);
    } else {
      r->left -= 1;
    }
    r->last_overflow = r->iteration;
  } else {
    const int clean = r->iteration - r->last_overflow - 1;
    if (r->is_consecutive) r->left = r->shift;
    if (clean > 0 && clean % r->interval == 0) {
      if (!r->is_consecutive) r->left = r->shift;
      r->scale *= r->growth;
    }
  }
  r->iteration += 1;
}
static void flax_rule(rule *r, int found) {
  const int grows = r->tracker == r->interval;
  if (found) {
    r->scale = fmax(r->scale * r->backoff, r->least);
    r->tracker = 0;
  } else {
    if (grows) r->scale *= r->growth;
    r->tracker = grows ? 0 : r->tracker + 1;
  }
}
static void follow(const char *name, mpnum_grad_scaler_config config,
                   void (*framework)(rule *, int), int is_consecutive) {
  static const double factors[][2] = {{2, 0.5}, {4, 0.25}, {2, 0.75}, {1.1, 0.9}};
  for (int run = 0; run < 400; ++run) {
    const double *factor = factors[draw(4)];
    config.growth_factor = factor[0];
    config.backoff_factor = factor[1];
    config.growth_interval = (int32_t)draw(9) + 1;
    config.init_scale = (float)(1 << draw(17)) * (draw(2) ? 1.0f : 1.375f);
    mpnum_grad_scaler scaler = made(config);
    rule r = {(double)config.init_scale,
              factor[0],
              factor[1],
              (double)config.min_scale,
              config.growth_interval,
              config.hysteresis,
              is_consecutive,
              0,
              config.hysteresis,
              0,
              -1};
    const uint32_t often = draw(8) + 2;
    for (int step = 0; step < 300; ++step) {
      const int found = draw(often) == 0;
      framework(&r, found);
      r.scale = (double)(float)r.scale;
      if (r.scale < (double)config.min_scale || r.scale > (double)config.max_scale) break;
      update(&scaler, found);
      CHECK((double)scaler.scale == r.scale, "%s, run %d, update %d: %a, want %a", name,
            run, step, (double)scaler.scale, r.scale);
    }
  }
}
static void frameworks_agree_on_random_patterns(void) {
  for (int shift = 1; shift < 4; ++shift) {
    mpnum_grad_scaler_config megatron = mpnum_grad_scaler_megatron();
    megatron.hysteresis = shift;
    follow("apex", mpnum_grad_scaler_apex(shift), apex_rule, 0);
    follow("megatron", megatron, megatron_rule, 0);
    follow("deepspeed", mpnum_grad_scaler_deepspeed(shift, 0), deepspeed_rule, 0);
    follow("deepspeed, consecutive", mpnum_grad_scaler_deepspeed(shift, 1),
           deepspeed_rule, 1);
  }
  follow("torch", mpnum_grad_scaler_torch(), torch_rule, 0);
  follow("jmp", mpnum_grad_scaler_jmp(), torch_rule, 0);
  follow("flax", mpnum_grad_scaler_flax(), flax_rule, 0);
}

static void each_wrong_field_has_its_status(void) {
  const mpnum_grad_scaler_config usual = mpnum_grad_scaler_default();
  const mpnum_grad_scaler before = made(usual);
#define REFUSED(change, want)                                              \
 do {                                                                      \
  mpnum_grad_scaler scaler = before;                                       \
  mpnum_grad_scaler_config config = usual;                                 \
  config.change;                                                           \
  const mpnum_status status = mpnum_grad_scaler_init(&scaler, config);     \
  CHECK(status == (want) && mpnum_grad_scaler_validate(config) == (want),  \
        #change ": %s", mpnum_status_string(status));                      \
  CHECK(memcmp(&scaler, &before, sizeof scaler) == 0, #change " changed"); \
 } while (0)
  const double not_a_number = mpnum_from_bits_f64(0x7ff8000000000000u);
  const double infinity = mpnum_from_bits_f64(0x7ff0000000000000u);
  const float nan_f32 = mpnum_from_bits_f32(0x7fc00000u);
  REFUSED(growth_factor = 1, MPNUM_ERROR_GROWTH_FACTOR);
  REFUSED(growth_factor = 0.5, MPNUM_ERROR_GROWTH_FACTOR);
  REFUSED(growth_factor = -2, MPNUM_ERROR_GROWTH_FACTOR);
  REFUSED(growth_factor = infinity, MPNUM_ERROR_GROWTH_FACTOR);
  REFUSED(growth_factor = not_a_number, MPNUM_ERROR_GROWTH_FACTOR);
  REFUSED(growth_factor = ldexp(1, 127), MPNUM_ERROR_GROWTH_FACTOR);
  REFUSED(backoff_factor = 0, MPNUM_ERROR_BACKOFF_FACTOR);
  REFUSED(backoff_factor = 1, MPNUM_ERROR_BACKOFF_FACTOR);
  REFUSED(backoff_factor = -0.5, MPNUM_ERROR_BACKOFF_FACTOR);
  REFUSED(backoff_factor = ldexp(1, -127), MPNUM_ERROR_BACKOFF_FACTOR);
  REFUSED(backoff_factor = not_a_number, MPNUM_ERROR_BACKOFF_FACTOR);
  REFUSED(growth_interval = 0, MPNUM_ERROR_GROWTH_INTERVAL);
  REFUSED(hysteresis = 0, MPNUM_ERROR_HYSTERESIS);
  REFUSED(min_scale = 0, MPNUM_ERROR_SCALE_LIMITS);
  REFUSED(min_scale = FLT_MIN / 2, MPNUM_ERROR_SCALE_LIMITS);
  REFUSED(min_scale = -1, MPNUM_ERROR_SCALE_LIMITS);
  REFUSED(min_scale = nan_f32, MPNUM_ERROR_SCALE_LIMITS);
  REFUSED(max_scale = nan_f32, MPNUM_ERROR_SCALE_LIMITS);
  REFUSED(max_scale = 0.5f, MPNUM_ERROR_SCALE_LIMITS);
  REFUSED(max_scale = (float)ldexp(1.5, 126), MPNUM_ERROR_SCALE_LIMITS);
  REFUSED(init_scale = 0.5f, MPNUM_ERROR_INIT_SCALE);
  REFUSED(init_scale = (float)ldexp(1, 127), MPNUM_ERROR_INIT_SCALE);
  REFUSED(init_scale = nan_f32, MPNUM_ERROR_INIT_SCALE);
  REFUSED(init_scale = -65536, MPNUM_ERROR_INIT_SCALE);
  REFUSED(refill = 3, MPNUM_ERROR_ARGUMENT);
  REFUSED(first_count = 1, MPNUM_ERROR_ARGUMENT);
  REFUSED(overflow_count = -2, MPNUM_ERROR_ARGUMENT);
  REFUSED(growth_count = 1, MPNUM_ERROR_ARGUMENT);
  REFUSED(any_scale = 2, MPNUM_ERROR_ARGUMENT);
  REFUSED(enabled = -1, MPNUM_ERROR_ARGUMENT);
#undef REFUSED
  mpnum_grad_scaler_config odd = usual;
  CHECK(!made(usual).is_inexact, "powers of two are exact");
  odd.growth_factor = 1.5;
  CHECK(made(odd).is_inexact, "growth by 1.5 is inexact");
}

static int is_sound(const mpnum_grad_scaler *scaler) {
  const double scale = (double)scaler->scale, inverse = (double)scaler->inverse;
  return scale > 0 && scale < (double)INFINITY && inverse > 0 &&
         inverse < (double)INFINITY && fabs(scale * inverse - 1) < 1e-6;
}
static void no_sequence_makes_a_scale_useless(void) {
  static const double growths[] = {1 + DBL_EPSILON, 1.0000001, 1.5, 2, 1e38, 1e20};
  static const double backoffs[] = {
      1 - DBL_EPSILON / 2, 0.999999, 0.5, 0.1, 1e-37, 1e-20};
  for (int run = 0; run < 4000; ++run) {
    mpnum_grad_scaler_config config =
        draw(2) ? mpnum_grad_scaler_default() : mpnum_grad_scaler_torch();
    config.growth_factor = growths[draw(6)];
    config.backoff_factor = backoffs[draw(6)];
    config.growth_interval = (int32_t)draw(3) + 1;
    config.hysteresis = (int32_t)draw(3) + 1;
    static const mpnum_grad_refill refills[] = {
        MPNUM_GRAD_REFILL_NEVER, MPNUM_GRAD_REFILL_CLEAN, MPNUM_GRAD_REFILL_GROWTH};
    config.refill = (int16_t)refills[draw(3)];
    mpnum_grad_scaler scaler = made(config);
    const uint32_t often = draw(2) ? draw(4) + 1 : draw(1000) + 1;
    const int always = (int)draw(3); /* found, clean, either */
    for (int step = 0; step < 400; ++step) {
      update(&scaler, always == 0 || (always == 2 && draw(often) == 0));
      CHECK(is_sound(&scaler) && scaler.scale >= config.min_scale &&
                scaler.scale <= config.max_scale,
            "run %d, update %d: %a, inverse %a", run, step, (double)scaler.scale,
            (double)scaler.inverse);
      if (draw(50) == 0)
        mpnum_grad_scaler_set_scale(&scaler, mpnum_from_bits_f32(mpnum_random(5, drawn)));
    }
  }
}
static void inverses_are_nearest(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_torch());
  for (int i = 0; i < 200000; ++i) {
    const float scale = mpnum_from_bits_f32(
        0x00800000u + mpnum_random(1, (uint64_t)i) % (0x7f000001u - 0x00800000u));
    CHECK(mpnum_grad_scaler_set_scale(&scaler, scale) == MPNUM_OK, "%a", (double)scale);
    /* A quotient of floats is never so near to the middle of two that a double misleads.
     */
    CHECK(scaler.inverse == (float)(1 / (double)scale), "1 / %a: %a", (double)scale,
          (double)scaler.inverse);
  }
}

/* Whoever copies a scaler or compares two by bytes relies on this. */
static void structs_are_plain(void) {
  CHECK(sizeof(mpnum_grad_scaler) == 104, "%zu", sizeof(mpnum_grad_scaler));
  CHECK(sizeof(mpnum_grad_scaler_config) == 2 * 8 + 5 * 4 + 6 * 2, "padding");
  CHECK(sizeof(mpnum_grad_scaler) ==
            sizeof(mpnum_grad_scaler_config) + 2 * 4 + 4 * 8 + 4 * 4,
        "padding");
  CHECK(sizeof(mpnum_grad_optimizer) == 5 * 4, "padding");
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(golden_traces);
  TAP_RUN(frameworks_agree_on_random_patterns);
  TAP_RUN(each_wrong_field_has_its_status);
  TAP_RUN(no_sequence_makes_a_scale_useless);
  TAP_RUN(inverses_are_nearest);
  TAP_RUN(structs_are_plain);
  return tap_done();
}

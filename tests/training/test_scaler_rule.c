/* SPDX-License-Identifier: MIT */
/* The loss scaler's update rule: against traces written by hand, the frameworks' own
 * rules and long adversarial sequences; and its configurations. */
#include "../harness/control_word.h"
#include "../harness/must.h"
#include "scaler_checks.h"

#include <float.h>
#include <math.h>

static void update(mpnum_grad_scaler *scaler, int found) {
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(scaler);
  must(mpnum_grad_scaler_report_unscaled(scaler, &optimizer, (uint32_t)found, 1));
  const mpnum_status status = mpnum_grad_scaler_update(scaler, &optimizer);
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
  int tracker, left;                   /* torch, apex, megatron, flax, jmp */
  int iteration, last_overflow, clean; /* deepspeed */
} rule;
static double as_float(double x) { return (double)(float)x; }
/* Below what rounds to Inf, and so finite as a float. */
static int is_finite(double x) { return x < 0x1.ffffffp127; }

static void torch_rule(rule *r, int found) {
  if (found) {
    r->scale = as_float(r->scale * r->backoff);
    r->tracker = 0;
  } else if (++r->tracker == r->interval) {
    if (is_finite(r->scale * r->growth)) r->scale = as_float(r->scale * r->growth);
    r->tracker = 0;
  }
}
static void apex_rule(rule *r, int found) {
  if (found) {
    r->left = r->left > 0 ? r->left - 1 : 0;
    r->tracker = 0;
    if (r->left == 0) r->scale = as_float(r->scale * r->backoff);
    return;
  }
  r->left = r->shift;
  torch_rule(r, 0);
}
static void megatron_rule(rule *r, int found) {
  if (found) {
    r->tracker = 0;
    if (--r->left <= 0) r->scale = as_float(fmax(r->scale * r->backoff, r->least));
  } else if (++r->tracker == r->interval) {
    r->tracker = 0;
    r->left = r->shift;
    r->scale = as_float(r->scale * r->growth);
  }
}
static void deepspeed_rule(rule *r, int found) {
  if (found) {
    if (r->shift == 1 || r->left == 1) {
      r->scale = as_float(fmax(r->scale * r->backoff, r->least));
    } else {
      r->left -= 1;
    }
    r->last_overflow = r->iteration;
    r->clean = -1;
  } else {
    r->clean = r->iteration - r->last_overflow - 1;
    if (r->is_consecutive) r->left = r->shift;
    if (r->clean > 0 && r->clean % r->interval == 0) {
      if (!r->is_consecutive) r->left = r->shift;
      r->scale = as_float(r->scale * r->growth);
    }
  }
  r->iteration += 1;
}
static void flax_rule(rule *r, int found) {
  const int grows = r->tracker == r->interval;
  if (found) {
    r->scale = as_float(fmax(r->scale * r->backoff, r->least));
    r->tracker = 0;
  } else {
    if (grows) r->scale = as_float(r->scale * r->growth);
    r->tracker = grows ? 0 : r->tracker + 1;
  }
}
/* Its one factor, by which it divides, too. */
static void jmp_rule(rule *r, int found) {
  if (found) {
    r->scale = fmax(r->least, as_float(r->scale / r->growth));
  } else if (r->tracker == r->interval - 1 && is_finite(r->scale * r->growth)) {
    r->scale = as_float(r->scale * r->growth);
  }
  r->tracker = found ? 0 : (r->tracker + 1) % r->interval;
}
/* Our count and our lives by the frameworks' own variables. */
static int tracked(const rule *r) { return r->tracker; }
static int tracked_from_minus_one(const rule *r) { return r->tracker - 1; }
static int counted_from_overflow(const rule *r) {
  return r->clean > 0 ? r->clean % r->interval : r->clean;
}
static int one_life(const rule *r) {
  (void)r;
  return 1;
}
static int lives(const rule *r) { return r->left < 1 ? 1 : r->left; }

typedef struct framework {
  const char *name;
  void (*update)(rule *, int);
  int (*count)(const rule *);
  int (*left)(const rule *);
  int is_consecutive, is_by_powers;
} framework;

/* A double from 1 to 2, with all bits, or some usual ones. */
static double any_factor(void) {
  static const double usual[] = {2, 4, 1.5, 1.1, 1 + DBL_EPSILON, 1e10};
  return draw(2)
             ? usual[draw(6)]
             : mpnum_from_bits_f64((UINT64_C(1023) << 52) |
                                   (uint64_t)draw(1u << 26) << 26 | (draw(1u << 26) + 1));
}
static void follow(mpnum_grad_scaler_config config, framework theirs) {
  for (int run = 0; run < 400; ++run) {
    const double growth =
        theirs.is_by_powers ? ldexp(1, (int)draw(40) + 1) : any_factor();
    config.growth_factor = growth;
    config.backoff_factor = theirs.is_by_powers ? 1 / growth : 1 / any_factor();
    config.growth_interval = (int32_t)draw(draw(4) ? 9 : 60) + 1;
    config.init_scale = (float)(1 << draw(17)) * (draw(2) ? 1.0f : 1.375f);
    mpnum_grad_scaler scaler = made(config);
    rule r = {(double)config.init_scale,
              growth,
              config.backoff_factor,
              (double)config.min_scale,
              config.growth_interval,
              config.hysteresis,
              theirs.is_consecutive,
              0,
              config.hysteresis,
              0,
              -1,
              -1};
    const uint32_t often = draw(8) + 2;
    for (int step = 0; step < 300; ++step) {
      const int found = draw(often) == 0;
      theirs.update(&r, found);
      if (r.scale < (double)config.min_scale || r.scale > (double)config.max_scale) break;
      update(&scaler, found);
      CHECK((double)scaler.scale == r.scale, "%s, run %d, update %d: %a, want %a",
            theirs.name, run, step, (double)scaler.scale, r.scale);
      CHECK(scaler.count == theirs.count(&r), "%s, run %d, update %d: count %d, want %d",
            theirs.name, run, step, scaler.count, theirs.count(&r));
      CHECK(scaler.hysteresis_left == theirs.left(&r),
            "%s, run %d, update %d: hysteresis_left %d, want %d", theirs.name, run, step,
            scaler.hysteresis_left, theirs.left(&r));
    }
  }
}
static void frameworks_agree_on_random_patterns(void) {
  const framework torch = {"torch", torch_rule, tracked, one_life, 0, 0};
  const framework jmp = {"jmp", jmp_rule, tracked, one_life, 0, 1};
  const framework flax = {"flax", flax_rule, tracked_from_minus_one, one_life, 0, 0};
  const framework apex = {"apex", apex_rule, tracked, lives, 0, 0};
  const framework megatron = {"megatron", megatron_rule, tracked, lives, 0, 0};
  const framework deepspeed = {
      "deepspeed", deepspeed_rule, counted_from_overflow, lives, 0, 0};
  const framework consecutive = {
      "deepspeed, consecutive", deepspeed_rule, counted_from_overflow, lives, 1, 0};
  for (int shift = 1; shift < 4; ++shift) {
    mpnum_grad_scaler_config config = mpnum_grad_scaler_megatron();
    config.hysteresis = shift;
    follow(mpnum_grad_scaler_apex(shift), apex);
    follow(config, megatron);
    follow(mpnum_grad_scaler_deepspeed(shift, 0), deepspeed);
    follow(mpnum_grad_scaler_deepspeed(shift, 1), consecutive);
  }
  follow(mpnum_grad_scaler_torch(), torch);
  follow(mpnum_grad_scaler_jmp(), jmp);
  follow(mpnum_grad_scaler_flax(), flax);
}

/* PyTorch takes a grown scale if it is finite. */
static void a_growth_to_inf_leaves_the_scale(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  config.growth_interval = 1;
  config.init_scale = (float)ldexp(1.5, 126);
  mpnum_grad_scaler scaler = made(config);
  update(&scaler, 0);
  CHECK((double)scaler.scale == ldexp(1.5, 127) && scaler.count == 0, "%a",
        (double)scaler.scale);
  update(&scaler, 0);
  CHECK((double)scaler.scale == ldexp(1.5, 127) && scaler.count == 0, "%a",
        (double)scaler.scale);
  config.growth_factor = 5;
  scaler = made(config);
  update(&scaler, 0);
  CHECK((double)scaler.scale == ldexp(1.5, 126), "%a", (double)scaler.scale);
  config = mpnum_grad_scaler_default();
  config.growth_interval = 1;
  config.growth_factor = 5;
  config.init_scale = (float)ldexp(1, 125);
  scaler = made(config);
  update(&scaler, 0);
  CHECK((double)scaler.scale == ldexp(1, 126), "else to max_scale: %a",
        (double)scaler.scale);
}

static void a_static_scale_stays(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_static(0.125f));
  for (int i = 0; i < 10000; ++i) {
    update(&scaler, draw(3) == 0);
    CHECK(scaler.scale == 0.125f && scaler.inverse == 8, "update %d: %a", i,
          (double)scaler.scale);
  }
  CHECK(scaler.overflows > 2000 && scaler.updates == 10000 && scaler.scale_changes == 0,
        "counters");
  CHECK(!mpnum_grad_scaler_is_inexact(&scaler), "1 and 1/8 are exact");
}

static void a_new_configuration_is_taken_over(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_apex(4)), before;
  mpnum_grad_scaler_config config = scaler.config;
  for (int i = 0; i < 501; ++i)
    update(&scaler, i == 0);
  scaler.hysteresis_left = 3;
  CHECK(scaler.count == 500, "%d", scaler.count);
  before = scaler;
  config.growth_interval = 0;
  CHECK(mpnum_grad_scaler_configure(&scaler, config) == MPNUM_ERROR_GROWTH_INTERVAL &&
            memcmp(&scaler, &before, sizeof scaler) == 0,
        "what is wrong changes nothing");
  config.growth_interval = 100;
  config.hysteresis = 2;
  CHECK(mpnum_grad_scaler_configure(&scaler, config) == MPNUM_OK && scaler.count == 99 &&
            scaler.hysteresis_left == 2 && scaler.scale == 65536 &&
            scaler.scale_changes == before.scale_changes &&
            scaler.updates == before.updates && scaler.overflows == before.overflows,
        "the count is below the interval");
  update(&scaler, 0);
  CHECK(scaler.scale == 131072 && scaler.count == 0, "it grows at the next update");
  config.min_scale = 1e6f;
  config.init_scale = 2e6f;
  CHECK(mpnum_grad_scaler_configure(&scaler, config) == MPNUM_OK &&
            scaler.scale == 1e6f && scaler.inverse == (float)(1 / (double)1e6f) &&
            scaler.scale_changes == before.scale_changes + 2,
        "up to min_scale: %a", (double)scaler.scale);
  CHECK(mpnum_grad_scaler_is_inexact(&scaler), "10^6 is no power of two");
  config.min_scale = 1;
  config.init_scale = config.max_scale = 8;
  CHECK(mpnum_grad_scaler_configure(&scaler, config) == MPNUM_OK && scaler.scale == 8,
        "down to max_scale: %a", (double)scaler.scale);
  CHECK(!mpnum_grad_scaler_is_inexact(&scaler), "8 is one");
  config.enabled = 0;
  CHECK(mpnum_grad_scaler_configure(&scaler, config) == MPNUM_OK && scaler.scale == 1 &&
            scaler.inverse == 1,
        "off");
  config.enabled = 1;
  config.init_scale = 4;
  config.first_count = -1;
  CHECK(mpnum_grad_scaler_configure(&scaler, config) == MPNUM_OK && scaler.scale == 4 &&
            scaler.count == -1 && scaler.hysteresis_left == 2,
        "on again");
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
  REFUSED(growth_factor = 1, MPNUM_ERROR_GROWTH_FACTOR); /* but for a static scale */
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
  REFUSED(max_scale = mpnum_from_bits_f32(0x7f800000u), MPNUM_ERROR_SCALE_LIMITS);
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
  mpnum_grad_scaler scaler = made(usual);
  CHECK(!mpnum_grad_scaler_is_inexact(&scaler), "powers of two are exact");
  odd.growth_factor = 1.5;
  scaler = made(odd);
  CHECK(mpnum_grad_scaler_is_inexact(&scaler), "growth by 1.5 is inexact");
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
        may(mpnum_grad_scaler_set_scale(&scaler,
                                        mpnum_from_bits_f32(mpnum_random(5, drawn))));
    }
  }
}
static void inverses_are_nearest(void) {
  mpnum_grad_scaler scaler = made(mpnum_grad_scaler_torch());
  for (int i = 0; i < 200000; ++i) {
    const float scale = mpnum_from_bits_f32(
        0x00800000u + mpnum_random(1, (uint64_t)i) % (0x7f800000u - 0x00800000u));
    CHECK(mpnum_grad_scaler_set_scale(&scaler, scale) == MPNUM_OK, "%a", (double)scale);
    /* A quotient of floats is never so near to the middle of two that a double misleads.
     */
    CHECK(scaler.inverse == (float)(1 / (double)scale), "1 / %a: %a", (double)scale,
          (double)scaler.inverse);
  }
}

/* Whoever copies a scaler or compares two by bytes relies on this. */
static void structs_are_plain(void) {
  CHECK(sizeof(mpnum_grad_scaler) == 112, "%zu", sizeof(mpnum_grad_scaler));
  CHECK(sizeof(mpnum_grad_scaler_config) == 3 * 8 + 5 * 4 + 6 * 2, "padding");
  CHECK(sizeof(mpnum_grad_scaler) ==
            sizeof(mpnum_grad_scaler_config) + 2 * 4 + 4 * 8 + 4 * 4,
        "padding");
  CHECK(sizeof(mpnum_grad_optimizer) == 8 * 4 + 8, "padding");
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(golden_traces);
  TAP_RUN(frameworks_agree_on_random_patterns);
  TAP_RUN(a_growth_to_inf_leaves_the_scale);
  TAP_RUN(a_static_scale_stays);
  TAP_RUN(a_new_configuration_is_taken_over);
  TAP_RUN(each_wrong_field_has_its_status);
  TAP_RUN(no_sequence_makes_a_scale_useless);
  TAP_RUN(inverses_are_nearest);
  TAP_RUN(structs_are_plain);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* The vectors of states in conformance/ against the headers: loss scalers of six
 * frameworks, delayed scaling. */
#include "vector_lines.h"

#include <mpnum/array/amax_history.h>
#include <mpnum/training/scaler.h>

#include "../harness/must.h"

enum { MOST = 256 };
static uint64_t in[MOST], want[MOST];

static double number_of(const char *line, const char *key) {
  char text[40];
  text_of(line, key, text, sizeof text);
  return strtod(text, NULL);
}

static mpnum_grad_scaler_config config_of(const char *line) {
  char name[16];
  const int hysteresis = (int)number_of(line, "hysteresis");
  mpnum_grad_scaler_config config = mpnum_grad_scaler_megatron();
  text_of(line, "framework", name, sizeof name);
  if (strcmp(name, "torch") == 0) config = mpnum_grad_scaler_torch();
  if (strcmp(name, "apex") == 0) config = mpnum_grad_scaler_apex(hysteresis);
  if (strcmp(name, "flax") == 0) config = mpnum_grad_scaler_flax();
  if (strcmp(name, "jmp") == 0) config = mpnum_grad_scaler_jmp();
  if (strcmp(name, "deepspeed") == 0)
    config = mpnum_grad_scaler_deepspeed(hysteresis,
                                         (int)number_of(line, "consecutive_hysteresis"));
  config.hysteresis = hysteresis;
  config.init_scale = (float)number_of(line, "init_scale");
  config.min_scale = (float)number_of(line, "min_scale");
  config.growth_factor = number_of(line, "growth_factor");
  config.backoff_factor = number_of(line, "backoff_factor");
  config.growth_interval = (int32_t)number_of(line, "growth_interval");
  return config;
}
static void check_scaler(const char *line) {
  const size_t n = words_of(line, "found", in, MOST);
  mpnum_grad_scaler scaler;
  memset(&scaler, 0, sizeof scaler);
  must(mpnum_grad_scaler_init(&scaler, config_of(line)));
  CHECK(n > 0 && words_of(line, "scales", want, MOST) == n, "%.60s", line);
  for (size_t i = 0; i < n; ++i, ++cases) {
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, (uint32_t)in[i], 1));
    must(mpnum_grad_scaler_update(&scaler, &optimizer));
    CHECK(mpnum_bits_f32(scaler.scale) == want[i], "%.60s, update %d: %08x, want %08x",
          line, (int)i, mpnum_bits_f32(scaler.scale), (uint32_t)want[i]);
  }
}
static void scalers_of_frameworks(void) {
  CHECK(each_line("scaler", check_scaler) == 96, "lines");
}

static void check_history(const char *line) {
  float amaxes[64];
  char algorithm[16];
  uint64_t largest = 0;
  mpnum_amax_history history;
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  const size_t n = words_of(line, "amaxes", in, MOST);
  text_of(line, "algorithm", algorithm, sizeof algorithm);
  recipe.algorithm =
      strcmp(algorithm, "max") == 0 ? MPNUM_AMAX_MAX : MPNUM_AMAX_MOST_RECENT;
  recipe.history_length = (uint32_t)number_of(line, "history_length");
  recipe.options.margin = (int32_t)number_of(line, "margin");
  CHECK(n > 0 && words_of(line, "scales", want, MOST) == n &&
            words_of(line, "max", &largest, 1) == 1,
        "%.60s", line);
  must(mpnum_amax_history_init(&history, amaxes, 64,
                               mpnum_from_bits_f32((uint32_t)largest), &recipe));
  for (size_t i = 0; i < n; ++i, ++cases) {
    const uint32_t got = mpnum_bits_f32(mpnum_amax_history_update(
        &history, amaxes, mpnum_from_bits_f32((uint32_t)in[i])));
    CHECK(got == want[i], "%.90s, %d: %08x, want %08x", line, (int)i, got,
          (uint32_t)want[i]);
  }
}
static void delayed_scaling(void) {
  CHECK(each_line("delayed_scaling", check_history) == 24, "lines");
}

int main(void) {
  TAP_RUN(scalers_of_frameworks);
  TAP_RUN(delayed_scaling);
  printf("# %lld cases\n", cases);
  return tap_done();
}

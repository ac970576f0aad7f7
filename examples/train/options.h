/* SPDX-License-Identifier: MIT */
/* What train_f16 is asked for on its command line. */
#ifndef EXAMPLES_TRAIN_OPTIONS_H
#define EXAMPLES_TRAIN_OPTIONS_H

#include <mpnum/training/advice.h>

#include "command_line.h"

/* What the numbers of a run depend on. A saved state goes on with the same settings only;
 * they are compared byte for byte, and have no padding. */
typedef struct settings {
  uint64_t seed, batch, global_batch, hidden, width, growth_interval;
  uint32_t format; /* mpnum_type */
  uint32_t scaling, automatic;
  float rate, clip, deviation; /* clip Inf: no limit; deviation 0: one for each layer */
} settings;

typedef struct options {
  settings run;
  uint64_t steps, every;
  uint64_t inject, corrupt; /* steps; 0: none */
  uint32_t clip_first;
  const char *data, *save, *resume, *log, *svg;
} options;

static const char options_help[] =
    "usage: train_f16 [OPTION]... DIGITS     DIGITS is examples/digits.bin\n"
    "\n"
    "      --format TYPE         of what is stored: f32 f16 bf16 e4m3 e5m2    f16\n"
    "      --scaling on|off      of the loss              on where TYPE needs it\n"
    "      --growth-interval N   good steps until the scale is doubled         50\n"
    "      --auto                to bf16, and back to a stable state, as advised\n"
    "      --clip NORM           the gradients, after they are unscaled\n"
    "      --steps N             of training                                  400\n"
    "      --batch N             images in each                                64\n"
    "      --global-batch N      images over which a loss is the mean     4194304\n"
    "      --hidden N            layers                                         3\n"
    "      --width N             of each                                       32\n"
    "      --rate X              of learning                                0.002\n"
    "      --deviation X         of the first weights             1 / sqrt(inputs)\n"
    "      --seed N              of weights and batches                         1\n"
    "      --inject STEP         an Inf among that step's gradients\n"
    "      --corrupt STEP        a NaN among the weights, before that step\n"
    "      --clip-first          clip before unscaling, which is refused\n"
    "      --save FILE           the state after the last step\n"
    "      --resume FILE         from such a state, up to --steps\n"
    "      --every N             a line each N steps, where there is no terminal  50\n"
    "      --log FILE            every step as a line of JSON\n"
    "      --svg FILE            loss, scale and share of zeros as a picture\n"
    "      --help\n";

static inline void options_read(options *chosen, int count, char **arguments) {
  static const char *const format_names[] = {"f32", "f16", "bf16", "e4m3", "e5m2", NULL};
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                     MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2};
  static const char *const switch_names[] = {"off", "on", NULL};
  const uint32_t as_needed = 2;
  const uint64_t many = 1000000;
  settings *run = &chosen->run;
  uint32_t format = 1;
  const options_row rows[] = {
      {"format", OPTION_CHOICE, &format, 0, 0, format_names},
      {"scaling", OPTION_CHOICE, &run->scaling, 0, 0, switch_names},
      {"growth-interval", OPTION_COUNT, &run->growth_interval, 1, many, NULL},
      {"auto", OPTION_FLAG, &run->automatic, 0, 0, NULL},
      {"clip", OPTION_POSITIVE, &run->clip, 0, 0, NULL},
      {"steps", OPTION_COUNT, &chosen->steps, 1, many, NULL},
      {"batch", OPTION_COUNT, &run->batch, 1, 1024, NULL},
      {"global-batch", OPTION_COUNT, &run->global_batch, 1, (uint64_t)1 << 40, NULL},
      {"hidden", OPTION_COUNT, &run->hidden, 0, 15, NULL},
      {"width", OPTION_COUNT, &run->width, 1, 1024, NULL},
      {"rate", OPTION_POSITIVE, &run->rate, 0, 0, NULL},
      {"deviation", OPTION_POSITIVE, &run->deviation, 0, 0, NULL},
      {"seed", OPTION_COUNT, &run->seed, 0, INT64_MAX, NULL},
      {"inject", OPTION_COUNT, &chosen->inject, 1, many, NULL},
      {"corrupt", OPTION_COUNT, &chosen->corrupt, 1, many, NULL},
      {"clip-first", OPTION_FLAG, &chosen->clip_first, 0, 0, NULL},
      {"save", OPTION_FILE, &chosen->save, 0, 0, NULL},
      {"resume", OPTION_FILE, &chosen->resume, 0, 0, NULL},
      {"every", OPTION_COUNT, &chosen->every, 1, many, NULL},
      {"log", OPTION_FILE, &chosen->log, 0, 0, NULL},
      {"svg", OPTION_FILE, &chosen->svg, 0, 0, NULL},
      {"help", OPTION_HELP, NULL, 0, 0, NULL},
  };
  const command_line line = {"train_f16", options_help, rows,
                             (int)(sizeof rows / sizeof *rows)};
  run->scaling = as_needed;
  chosen->data = options_scan(&line, count, arguments);
  run->format = (uint32_t)types[format];
  if (run->scaling == as_needed)
    run->scaling = (uint32_t)mpnum_needs_loss_scaling(types[format]);
  if (run->automatic && types[format] == MPNUM_TYPE_BF16)
    options_wrong(&line, "auto", "leads to bf16, so name another format", "bf16");
}
static inline options options_parse(int count, char **arguments) {
  options chosen;
  memset(&chosen, 0, sizeof chosen);
  chosen.run.seed = 1;
  chosen.run.batch = 64;
  chosen.run.global_batch = 4194304;
  chosen.run.hidden = 3;
  chosen.run.width = 32;
  chosen.run.growth_interval = 50;
  chosen.run.rate = 0.002f;
  chosen.run.clip = mpnum_from_bits_f32(0x7f800000u); /* Inf: no limit */
  chosen.steps = 400;
  chosen.every = 50;
  options_read(&chosen, count, arguments);
  return chosen;
}

#endif

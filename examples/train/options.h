/* SPDX-License-Identifier: MIT */
/* What train_f16 is asked for on its command line. */
#ifndef EXAMPLES_TRAIN_OPTIONS_H
#define EXAMPLES_TRAIN_OPTIONS_H

#include <mpnum/advice.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the numbers of a run depend on. A saved state goes on with the same settings only;
 * they are compared byte for byte, and have no padding. */
typedef struct settings {
  uint64_t seed, batch, global_batch, hidden, width, growth_interval;
  uint32_t format; /* mpnum_type */
  uint32_t scaling, automatic;
  float rate, clip, deviation; /* 0: no clipping, a deviation for each layer */
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

enum options_kind {
  OPTION_FLAG,
  OPTION_HELP,
  OPTION_COUNT,
  OPTION_POSITIVE,
  OPTION_SWITCH,
  OPTION_TYPE,
  OPTION_FILE
};
typedef struct options_row {
  const char *name;
  int kind;
  void *to; /* uint64_t, float, uint32_t or const char *, as of the kind */
  uint64_t least, most;
} options_row;

static inline void options_wrong(const char *name, const char *why, const char *value) {
  fprintf(stderr, "train_f16: --%s: %s: %s\n", name, why, value);
  exit(2);
}
static inline void options_count(const options_row *row, const char *text) {
  char *end = NULL;
  const uint64_t number = strtoull(text, &end, 10);
  char why[80];
  snprintf(why, sizeof why, "not a number from %llu to %llu",
           (unsigned long long)row->least, (unsigned long long)row->most);
  if (*text < '0' || *text > '9' || *end != '\0' || number < row->least ||
      number > row->most)
    options_wrong(row->name, why, text);
  *(uint64_t *)row->to = number;
}
static inline void options_positive(const options_row *row, const char *text) {
  char *end = NULL;
  const float number = strtof(text, &end);
  if (end == text || *end != '\0' || !(number > 0) || !mpnum_isfinite_f32(number))
    options_wrong(row->name, "not a number above 0", text);
  *(float *)row->to = number;
}
static inline void options_type(const options_row *row, const char *text) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                     MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2};
  size_t i = 0;
  while (i < 5 && strcmp(text, mpnum_type_name(types[i])) != 0)
    ++i;
  if (i == 5) options_wrong(row->name, "not f32, f16, bf16, e4m3 or e5m2", text);
  *(uint32_t *)row->to = (uint32_t)types[i % 5];
}
static inline void options_set(const options_row *row, const char *text) {
  switch (row->kind) {
  case OPTION_HELP: fputs(options_help, stdout); exit(0);
  case OPTION_FLAG: *(uint32_t *)row->to = 1; break;
  case OPTION_COUNT: options_count(row, text); break;
  case OPTION_POSITIVE: options_positive(row, text); break;
  case OPTION_TYPE: options_type(row, text); break;
  case OPTION_FILE: *(const char **)row->to = text; break;
  default:
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
      options_wrong(row->name, "not on or off", text);
    *(uint32_t *)row->to = strcmp(text, "on") == 0;
  }
}

enum { OPTIONS = 22 };
/* The one argument that is no option. Ends the program where the command line is wrong.
 */
static inline const char *options_scan(const options_row *rows, int count,
                                       char **arguments) {
  struct option known[OPTIONS + 1];
  int found = 0;
  memset(known, 0, sizeof known);
  for (int i = 0; i < OPTIONS; ++i) {
    known[i].name = rows[i].name;
    known[i].has_arg = rows[i].kind > OPTION_HELP ? required_argument : no_argument;
    known[i].val = 1 + i;
  }
  opterr = 0; /* one line is enough */
  while ((found = getopt_long(count, arguments, "", known, NULL)) > 0 && found <= OPTIONS)
    options_set(rows + (found - 1), optarg);
  if (found != -1 || count - optind != 1) {
    fprintf(stderr, "train_f16: %s; see train_f16 --help\n",
            found == -1 ? "name one file of digits, examples/digits.bin"
                        : "an option is unknown or lacks its value");
    exit(2);
  }
  return arguments[optind];
}
static inline void options_read(options *chosen, int count, char **arguments) {
  settings *run = &chosen->run;
  const uint64_t many = 1000000;
  const options_row rows[OPTIONS] = {
      {"format", OPTION_TYPE, &run->format, 0, 0},
      {"scaling", OPTION_SWITCH, &run->scaling, 0, 0},
      {"growth-interval", OPTION_COUNT, &run->growth_interval, 1, many},
      {"auto", OPTION_FLAG, &run->automatic, 0, 0},
      {"clip", OPTION_POSITIVE, &run->clip, 0, 0},
      {"steps", OPTION_COUNT, &chosen->steps, 1, many},
      {"batch", OPTION_COUNT, &run->batch, 1, 1024},
      {"global-batch", OPTION_COUNT, &run->global_batch, 1, (uint64_t)1 << 40},
      {"hidden", OPTION_COUNT, &run->hidden, 0, 15},
      {"width", OPTION_COUNT, &run->width, 1, 1024},
      {"rate", OPTION_POSITIVE, &run->rate, 0, 0},
      {"deviation", OPTION_POSITIVE, &run->deviation, 0, 0},
      {"seed", OPTION_COUNT, &run->seed, 0, INT64_MAX},
      {"inject", OPTION_COUNT, &chosen->inject, 1, many},
      {"corrupt", OPTION_COUNT, &chosen->corrupt, 1, many},
      {"clip-first", OPTION_FLAG, &chosen->clip_first, 0, 0},
      {"save", OPTION_FILE, &chosen->save, 0, 0},
      {"resume", OPTION_FILE, &chosen->resume, 0, 0},
      {"every", OPTION_COUNT, &chosen->every, 1, many},
      {"log", OPTION_FILE, &chosen->log, 0, 0},
      {"svg", OPTION_FILE, &chosen->svg, 0, 0},
      {"help", OPTION_HELP, NULL, 0, 0},
  };
  chosen->data = options_scan(rows, count, arguments);
}
static inline options options_parse(int count, char **arguments) {
  const uint32_t as_needed = 2;
  options chosen;
  memset(&chosen, 0, sizeof chosen);
  chosen.run.seed = 1;
  chosen.run.batch = 64;
  chosen.run.global_batch = 4194304;
  chosen.run.hidden = 3;
  chosen.run.width = 32;
  chosen.run.growth_interval = 50;
  chosen.run.format = MPNUM_TYPE_F16;
  chosen.run.scaling = as_needed;
  chosen.run.rate = 0.002f;
  chosen.steps = 400;
  chosen.every = 50;
  options_read(&chosen, count, arguments);
  if (chosen.run.scaling == as_needed)
    chosen.run.scaling =
        (uint32_t)mpnum_needs_loss_scaling((mpnum_type)chosen.run.format);
  if (chosen.run.automatic && chosen.run.format == MPNUM_TYPE_BF16)
    options_wrong("auto", "leads to bf16, so name another format", "bf16");
  return chosen;
}

#endif

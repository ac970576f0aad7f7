/* SPDX-License-Identifier: MIT */
/* Trains the network of train_f16.c with matrix products of 8 and 4 bits, and tells what
 * each recipe and each of its ingredients does: MXFP8, NVFP4, blocks as DeepSeek has
 * them, FP8 with a scale for each tensor, current or delayed.
 *
 *     cc -O2 -ffp-contract=off -I include examples/train_recipes.c -o train_recipes
 *     ./train_recipes examples/digits.bin
 *     ./train_recipes --recipe nvfp4 examples/digits.bin
 *
 * Operands of each product, forward and backward, become codes with scales and floats
 * again; the product sums in floats, as tensor cores do. Everything else is in floats.
 * docs/training-in-8-bits.md explains recipes and table. -std=c99 keeps a product and a
 * sum two roundings, so that the table is the same on every CPU. */
#include "adam.h"
#include "batches.h"
#include "train/command_line.h"
#include "train/operands.h"
#include "train/recipes.h"
#include "train/state_file.h"

#include <mpnum/training/health.h>

/* What the numbers of a run depend on, compared byte for byte. */
typedef struct settings {
  uint64_t seed, batch, global_batch, hidden, width;
  uint32_t recipe;
  float rate;
} settings;
typedef struct options {
  settings run;
  uint64_t steps, seeds, every;
  const char *data, *save, *resume;
} options;

static const char options_help[] =
    "usage: train_recipes [OPTION]... DIGITS     DIGITS is examples/digits.bin\n"
    "\n"
    "Without --recipe a table of all of them, the mean of some seeds.\n"
    "\n"
    "      --recipe NAME         f32 fp8-current fp8-delayed fp8-delayed-latest\n"
    "                            fp8-unscaled mxfp8 mxfp8-floor mxfp8-e5m2 deepseek\n"
    "                            deepseek-pow2 nvfp4 nvfp4-rows nvfp4-no-hadamard\n"
    "                            nvfp4-nearest nvfp4-square nvfp4-plain\n"
    "      --seeds N             of the table: 1 to N                           5\n"
    "      --steps N             of training                                  200\n"
    "      --batch N             images in each, a multiple of 16              64\n"
    "      --global-batch N      images over which a loss is the mean     4194304\n"
    "      --hidden N            layers                                         2\n"
    "      --width N             of each                                      128\n"
    "      --rate X              of learning                                0.002\n"
    "      --seed N              of a single run: weights, batches, rounding    1\n"
    "      --save FILE           the state after the last step\n"
    "      --resume FILE         from such a state, up to --steps\n"
    "      --every N             a line each N steps                           50\n"
    "      --help\n";

typedef struct training {
  settings run;
  const digits *data;
  mlp net;
  adam optimizer;
  operands products;
  uint64_t step, compared;     /* steps, and those with a gradient of f32 beside it */
  double error, error_of_mean; /* sums over these */
  float *images, *losses, *gradients, *reference, *other, *sum;
  int64_t *labels;
} training;

enum { COMPARE_EVERY = 40, DRAWS = 16 };

static void stop(const char *what, const char *why) {
  fflush(stdout);
  fprintf(stderr, "train_recipes: %s: %s\n", what, why);
  exit(1);
}
static void stop_if(const char *what, const char *wrong) {
  if (wrong) stop(what, wrong);
}

/* What is for a single run, and what for the table. */
static void refuse_what_does_not_go(const command_line *line, const options *chosen) {
  const char *wrong = NULL;
  if (chosen->run.recipe == RECIPES) {
    wrong = chosen->save                     ? "save"
            : chosen->resume                 ? "resume"
            : chosen->run.seed != UINT64_MAX ? "seed"
                                             : NULL;
    if (wrong) options_wrong(line, wrong, "for one recipe", "name a --recipe");
  } else if (chosen->seeds != UINT64_MAX) {
    options_wrong(line, "seeds", "for the table", "leave --recipe out, or name a --seed");
  }
}
static options parse(int count, char **arguments) {
  const uint64_t many = 1000000, unset = UINT64_MAX;
  options chosen;
  settings *run = &chosen.run;
  const options_row rows[] = {
      {"recipe", OPTION_CHOICE, &run->recipe, 0, 0, recipe_names},
      {"seeds", OPTION_COUNT, &chosen.seeds, 1, 100, NULL},
      {"steps", OPTION_COUNT, &chosen.steps, 1, many, NULL},
      {"batch", OPTION_COUNT, &run->batch, 16, 1024, NULL},
      {"global-batch", OPTION_COUNT, &run->global_batch, 1, (uint64_t)1 << 40, NULL},
      {"hidden", OPTION_COUNT, &run->hidden, 0, MLP_LAYERS - 1, NULL},
      {"width", OPTION_COUNT, &run->width, 1, 1024, NULL},
      {"rate", OPTION_POSITIVE, &run->rate, 0, 0, NULL},
      {"seed", OPTION_COUNT, &run->seed, 0, INT64_MAX, NULL},
      {"save", OPTION_FILE, &chosen.save, 0, 0, NULL},
      {"resume", OPTION_FILE, &chosen.resume, 0, 0, NULL},
      {"every", OPTION_COUNT, &chosen.every, 1, many, NULL},
      {"help", OPTION_HELP, NULL, 0, 0, NULL},
  };
  const command_line line = {"train_recipes", options_help, rows,
                             (int)(sizeof rows / sizeof *rows)};
  memset(&chosen, 0, sizeof chosen);
  run->recipe = RECIPES;
  run->seed = chosen.seeds = unset;
  run->batch = 64;
  run->global_batch = 4194304;
  run->hidden = 2;
  run->width = 128;
  run->rate = 0.002f;
  chosen.steps = 200;
  chosen.every = 50;
  chosen.data = options_scan(&line, count, arguments);
  if (run->batch % 16 != 0)
    options_wrong(&line, "batch", "the transform wants a multiple of 16", "not one");
  refuse_what_does_not_go(&line, &chosen);
  if (run->seed == unset) run->seed = 1;
  if (chosen.seeds == unset) chosen.seeds = 5;
  return chosen;
}

/* --- a run as a file --- */

static void walk_history(state_place *place, operand_tensor *tensor) {
  const size_t size = (size_t)mpnum_amax_history_bytes(tensor->history.length);
  uint8_t *bytes = (uint8_t *)calloc(1, size);
  mpnum_status status = MPNUM_OK;
  if (!bytes) stop("memory", "there is not enough");
  if (!place->is_loading)
    status = mpnum_amax_history_save(bytes, size, &tensor->history, tensor->amaxes);
  state_pass(place, bytes, size);
  if (place->is_loading && place->at)
    status = mpnum_amax_history_load(&tensor->history, tensor->amaxes,
                                     tensor->history.length, bytes, size);
  if (status != MPNUM_OK) place->is_wrong = 1;
  free(bytes);
}
static void walk(state_place *place, void *run) {
  training *t = (training *)run;
  const size_t bytes = mlp_count(&t->net) * sizeof(float);
  char name[8] = {'m', 'p', 'r', 'e', 'c', 'i', 'p', '1'};
  settings same = t->run;
  state_pass(place, name, sizeof name);
  state_pass(place, &same, sizeof same);
  state_pass(place, &t->step, sizeof t->step);
  state_pass(place, &t->compared, sizeof t->compared);
  state_pass(place, &t->error, sizeof t->error);
  state_pass(place, &t->error_of_mean, sizeof t->error_of_mean);
  state_pass(place, t->net.master, bytes);
  state_pass(place, t->optimizer.first, bytes);
  state_pass(place, t->optimizer.second, bytes);
  state_pass(place, &t->optimizer.first_decay, sizeof(float));
  state_pass(place, &t->optimizer.second_decay, sizeof(float));
  state_pass(place, &t->products.step, sizeof t->products.step);
  state_pass(place, &t->products.gradients, sizeof t->products.gradients);
  state_pass(place, &t->products.flushed, sizeof t->products.flushed);
  state_pass(place, &t->products.clipped, sizeof t->products.clipped);
  for (size_t l = 0; l < t->net.layers; ++l)
    for (int what = 0; what < 3 && t->products.how.scaling == RECIPE_DELAYED; ++what)
      walk_history(place, &t->products.tensors[l][what]);
}

/* --- training --- */

static void start(training *t, const settings *run, const digits *data) {
  size_t widths[MLP_LAYERS + 1] = {DIGITS_PIXELS};
  const size_t hidden = run->hidden, batch = run->batch;
  int is_enough = 0;
  memset(t, 0, sizeof *t);
  t->run = *run;
  t->data = data;
  for (size_t i = 0; i < hidden; ++i)
    widths[i + 1] = run->width;
  widths[hidden + 1] = DIGITS_CLASSES;
  is_enough =
      mlp_init(&t->net, hidden + 1, widths, batch) &&
      adam_init(&t->optimizer, mlp_count(&t->net)) &&
      operands_init(&t->products, &t->net, recipe_of((int)run->recipe), run->seed);
  t->images = (float *)malloc(batch * DIGITS_PIXELS * sizeof(float));
  t->labels = (int64_t *)malloc(batch * sizeof(int64_t));
  t->losses = (float *)malloc(batch * sizeof(float));
  t->gradients = (float *)malloc(4 * mlp_count(&t->net) * sizeof(float));
  if (!is_enough || !t->images || !t->labels || !t->losses || !t->gradients)
    stop("memory", "there is not enough");
  t->reference = t->gradients + mlp_count(&t->net);
  t->other = t->reference + mlp_count(&t->net);
  t->sum = t->other + mlp_count(&t->net);
  mlp_start(&t->net, run->seed, 0);
  t->net.round_with = &t->products;
}
static void end(training *t) {
  mlp_free(&t->net);
  adam_free(&t->optimizer);
  operands_free(&t->products);
  free(t->images);
  free(t->labels);
  free(t->losses);
  free(t->gradients);
}

/* The gradients by all parameters, from those by the logits; operands as round has them.
 */
static void take_gradients(training *t, float *gradients, mlp_round *round) {
  const size_t batch = t->run.batch;
  t->net.round = round;
  if (mlp_losses(&t->net, t->losses, t->labels, batch, 1 / (float)t->run.global_batch) !=
      MPNUM_OK)
    stop("loss", "a label is wrong");
  mlp_backward(&t->net, batch);
  memcpy(gradients, t->net.gradients, mlp_count(&t->net) * sizeof(float));
}
/* How far x is from the gradient of the chain rule, relative to its length. */
static double distance(const training *t, const float *x, float factor) {
  double square = 0, difference = 0;
  for (size_t i = 0; i < mlp_count(&t->net); ++i) {
    const double g = (double)t->reference[i], q = (double)(x[i] * factor);
    square += g * g;
    difference += (q - g) * (q - g);
  }
  return square > 0 ? (double)mpnum_sqrt_f32((float)(difference / square)) : 0;
}
/* The gradient beside that of the chain rule in floats for the forward pass that was
 * computed; and the mean of several that are rounded with other random words. */
static void compare(training *t) {
  const size_t parameters = mlp_count(&t->net);
  double alone = 0, mean = 0;
  take_gradients(t, t->reference, operands_chain);
  mean = alone = distance(t, t->gradients, 1);
  if (operands_are_random(&t->products)) {
    memcpy(t->sum, t->gradients, parameters * sizeof(float));
    while (++t->products.draw < DRAWS) {
      take_gradients(t, t->other, operands_round);
      for (size_t i = 0; i < parameters; ++i)
        t->sum[i] += t->other[i];
    }
    t->products.draw = 0;
    mean = distance(t, t->sum, 1 / (float)DRAWS);
  }
  t->error += alone;
  t->error_of_mean += mean;
  t->compared += 1;
}
/* The mean loss of the batch. */
static float take_step(training *t) {
  float sum = 0;
  t->step += 1;
  batches_take(t->images, t->labels, t->data, t->run.seed, t->step * t->run.batch,
               t->run.batch);
  mlp_round_weights(&t->net);
  t->net.round = operands_round;
  mlp_forward(&t->net, t->images, t->run.batch);
  take_gradients(t, t->gradients, operands_round);
  for (size_t i = 0; i < t->run.batch; ++i)
    sum += t->losses[i];
  if (t->products.status != MPNUM_OK)
    stop("operands", mpnum_status_string(t->products.status));
  if (t->step % COMPARE_EVERY == 0) compare(t);
  operands_step(&t->products);
  adam_step(&t->optimizer, t->net.master, t->gradients, mlp_count(&t->net), t->run.rate);
  return sum / (float)t->run.batch;
}

/* What became of a run, or the means of several. */
typedef struct outcome {
  double right, loss, flushed, clipped, error,
      error_of_mean; /* right: share of the test images */
} outcome;

static double share_of(uint64_t part, uint64_t whole) {
  return whole ? (double)part / (double)whole : 0;
}

static outcome measure(training *t) {
  const digits *data = t->data;
  const size_t tests = data->count - data->train;
  size_t right = 0;
  double loss = 0;
  outcome found;
  t->net.round = operands_round;
  mlp_round_weights(&t->net);
  for (size_t first = data->train; first < data->count; first += t->net.batch) {
    const size_t left = data->count - first;
    const size_t n = left < t->net.batch ? left : t->net.batch;
    for (size_t i = 0; i < n; ++i) {
      digits_image(t->images + i * DIGITS_PIXELS, data, first + i);
      t->labels[i] = data->labels[first + i];
    }
    right += batches_right((const float *)mlp_forward(&t->net, t->images, n),
                           data->labels + first, n);
    if (mlp_losses(&t->net, t->losses, t->labels, n, 1) != MPNUM_OK)
      stop("loss", "a label is wrong");
    for (size_t i = 0; i < n; ++i)
      loss += (double)t->losses[i];
  }
  if (!mpnum_isfinite_f32((float)loss))
    stop(recipe_names[t->run.recipe], "training failed: the loss is not finite");
  found.right = (double)right / (double)tests;
  found.loss = loss / (double)tests;
  found.flushed = share_of(t->products.flushed, t->products.gradients);
  found.clipped = share_of(t->products.clipped, t->products.gradients);
  found.error = t->compared ? t->error / (double)t->compared : 0;
  found.error_of_mean = t->compared ? t->error_of_mean / (double)t->compared : 0;
  return found;
}

/* --- what is told --- */

static void print_head(void) {
  printf("%-20s %8s %11s %9s %9s %16s %12s\n", "recipe", "right", "test loss", "flushed",
         "clipped", "gradient error", "mean of 16");
}
static void print_row(uint32_t number, outcome found) {
  const recipe how = recipe_of((int)number);
  printf("%-20s %6.1f %% %11.3f %7.2f %% %7.2f %% %14.1f %%", recipe_names[number],
         100 * found.right, found.loss, 100 * found.flushed, 100 * found.clipped,
         100 * found.error);
  if (how.formats[MLP_FLOW].rounding == MPNUM_ROUND_STOCHASTIC)
    printf(" %10.1f %%", 100 * found.error_of_mean);
  putchar('\n');
  fflush(stdout);
}
static void train_one(const options *chosen, const digits *data) {
  training t;
  start(&t, &chosen->run, data);
  if (chosen->resume)
    stop_if(chosen->resume,
            state_file_load(chosen->resume, walk, &t, "mprecip1",
                            "this is no state of train_recipes", &t.run, sizeof t.run));
  if (t.step >= chosen->steps) stop(chosen->resume, "it has all these steps behind it");
  while (t.step < chosen->steps) {
    const float loss = take_step(&t);
    if (t.step % chosen->every == 0 || t.step == chosen->steps)
      printf("step %llu/%llu  loss %.4f\n", (unsigned long long)t.step,
             (unsigned long long)chosen->steps, (double)loss);
  }
  if (chosen->save) stop_if(chosen->save, state_file_save(chosen->save, walk, &t));
  print_head();
  print_row(t.run.recipe, measure(&t));
  end(&t);
}
static void train_all(const options *chosen, const digits *data) {
  print_head();
  for (uint32_t number = 0; number < RECIPES; ++number) {
    outcome mean = {0, 0, 0, 0, 0, 0};
    for (uint64_t seed = 1; seed <= chosen->seeds; ++seed) {
      settings run = chosen->run;
      training t;
      outcome found;
      run.recipe = number;
      run.seed = seed;
      start(&t, &run, data);
      while (t.step < chosen->steps)
        take_step(&t);
      found = measure(&t);
      mean.right += found.right / (double)chosen->seeds;
      mean.loss += found.loss / (double)chosen->seeds;
      mean.flushed += found.flushed / (double)chosen->seeds;
      mean.clipped += found.clipped / (double)chosen->seeds;
      mean.error += found.error / (double)chosen->seeds;
      mean.error_of_mean += found.error_of_mean / (double)chosen->seeds;
      end(&t);
    }
    print_row(number, mean);
  }
}

int main(int count, char **arguments) {
  const options chosen = parse(count, arguments);
  digits data;
  stop_if(chosen.data, digits_load(&data, chosen.data));
  if (chosen.run.recipe < RECIPES) {
    train_one(&chosen, &data);
  } else {
    train_all(&chosen, &data);
  }
  free(data.bytes);
  return 0;
}

/* SPDX-License-Identifier: MIT */
/* PyTorch runs in a program of its own, which is Python's, after all others. */
#include "../sections/grad/grad.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <folders.h> /* of the build folder */

#include "../core/program.h"

enum { FIRST = 3, NUMBERS = 2 * ARRAY_SIZES };

/* What torch_times.py calls for an operation of ours; unscale_ is the function under that
 * method of torch.amp.GradScaler, _amp_foreach_non_finite_check_and_unscale_. */
static const array_peer_loop loops[] = {
    {"unscale f32", "unscale_, get_total_norm", NULL},
    {"unscale f32 small", "unscale_, get_total_norm", NULL},
    {"multiply f32", "unscale_", NULL},
    {"unscale and clip f32", "unscale_, clip_grad_norm_", NULL},
    {"check f32", "get_total_norm", NULL},
};
static array_peer torch = {"PyTorch", NULL, loops, PEER_COUNT(loops), NULL};
static char version[40];
static refusal missing;

/* The numbers of the plan: threads, and of each size its bytes and rounds. */
static json_t *run_script(const array_plan *plan, refusal *why) {
  char script[] = BENCH_SOURCE_ROOT "/bench/peers/torch_times.py", usual[] = "python3";
  char *named = getenv("TORCH_PYTHON"), *python = named && *named ? named : usual;
  char *arguments[FIRST + NUMBERS + 1] = {python, script};
  char threads[24], numbers[NUMBERS][24];
  size_t i;
  snprintf(threads, sizeof threads, "%u", plan->threads);
  arguments[FIRST - 1] = threads;
  for (i = 0; i < ARRAY_SIZES; ++i) {
    snprintf(numbers[2 * i], sizeof *numbers, "%zu", plan->sizes[i]);
    snprintf(numbers[2 * i + 1], sizeof *numbers, "%u", plan->rounds[i]);
    arguments[FIRST + 2 * i] = numbers[2 * i];
    arguments[FIRST + 2 * i + 1] = numbers[2 * i + 1];
  }
  return program_json(arguments, python, why);
}

static bool read_figures(array_results *found, array_peer_row *row, json_t *sizes) {
  const byte_shape shape = found->set->own->operations[row->operation].shape;
  int s;
  for (s = 0; s < ARRAY_SIZES; ++s) {
    array_figure *shown = &row->row.sizes[s];
    json_int_t bytes;
    if (json_unpack(json_array_get(sizes, (size_t)s), "{s:I, s:F, s:F}", "bytes", &bytes,
                    "ns_per_value", &shown->ns, "noise", &shown->noise) != 0)
      return false;
    if ((size_t)bytes != found->plan.sizes[s] || !(shown->ns > 0)) return false;
    shown->rate = shape_rate(shape, shown->ns);
    shown->limit = found->rows[row->operation].sizes[s].limit;
  }
  return true;
}

static bool read_rows(array_results *found, json_t *rows, refusal *why) {
  size_t i;
  for (i = 0; i < PEER_COUNT(loops); ++i) {
    array_peer_row *row = arrays_add_peer(found, &torch, &loops[i]);
    if (!row || !read_figures(found, row, json_object_get(rows, loops[i].operation)))
      return refuse(why, "no times of %s", loops[i].operation);
  }
  return true;
}

static bool read_result(array_results *found, json_t *root, refusal *why) {
  const char *said;
  json_t *rows;
  if (json_unpack(root, "{s:s}", "missing", &said) == 0) return refuse(why, "%s", said);
  if (json_unpack(root, "{s:s, s:o}", "version", &said, "rows", &rows) != 0)
    return refuse(why, "no times");
  snprintf(version, sizeof version, "%.*s", (int)strcspn(said, "+"), said);
  clean_text(version);
  return read_rows(found, rows, why);
}

static void measure_torch(array_results *found) {
  const size_t before = found->peer_count;
  refusal why;
  json_t *root = run_script(&found->plan, &why);
  if (!root || !read_result(found, root, &why)) {
    found->peer_count = before;
    clean_text(why.text);
    refuse(&missing, "%.200s (TORCH_PYTHON names another python3)", why.text);
    version[0] = 0;
    torch.missing = missing.text;
  }
  json_decref(root);
}

static const array_peer *const peers[] = {&torch};

const array_set grad_set = {
    "Gradients",
    "grad",
    "grad_limit",
    "called from Python, after all others. x: the peer's\ntime over mpnum's",
    &grad_functions,
    peers,
    1,
    version,
    measure_torch};

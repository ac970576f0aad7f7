/* SPDX-License-Identifier: MIT */
#include "torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <folders.h> /* of the build folder */

#include "../core/program.h"

enum { FIRST = 3, NUMBERS = 2 * ARRAY_SIZES };

/* The numbers of the plan: threads, and of each size its bytes and rounds. */
static json_t *run_script(const char *name, const array_plan *plan, refusal *why) {
  static const char folder[] = BENCH_SOURCE_ROOT "/bench/peers/";
  char script[sizeof folder + 40], usual[] = "python3";
  char *named = getenv("TORCH_PYTHON"), *python = named && *named ? named : usual;
  char *arguments[FIRST + NUMBERS + 1] = {python, script};
  char threads[24], numbers[NUMBERS][24];
  size_t i;
  snprintf(script, sizeof script, "%s%s", folder, name);
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

static bool read_rows(const array_peer *peer, array_results *found, json_t *rows,
                      refusal *why) {
  size_t i;
  for (i = 0; i < peer->count; ++i) {
    const array_peer_loop *loop = &peer->loops[i];
    array_peer_row *row = arrays_add_peer(found, peer, loop);
    if (!row || !read_figures(found, row, json_object_get(rows, loop->operation)))
      return refuse(why, "no times of %s", loop->operation);
  }
  return true;
}

static bool read_result(torch_peer *self, array_results *found, json_t *root,
                        refusal *why) {
  const char *said;
  json_t *rows;
  if (json_unpack(root, "{s:s}", "missing", &said) == 0) return refuse(why, "%s", said);
  if (json_unpack(root, "{s:s, s:o}", "version", &said, "rows", &rows) != 0)
    return refuse(why, "no times");
  snprintf(self->version, sizeof self->version, "%.*s", (int)strcspn(said, "+"), said);
  clean_text(self->version);
  return read_rows(self->peer, found, rows, why);
}

void torch_measure(torch_peer *self, array_results *found) {
  const size_t before = found->peer_count;
  refusal why;
  json_t *root = run_script(self->script, &found->plan, &why);
  if (!root || !read_result(self, found, root, &why)) {
    found->peer_count = before;
    clean_text(why.text);
    refuse(&self->missing, "%.200s (TORCH_PYTHON names another python3)", why.text);
    self->version[0] = 0;
    self->peer->missing = self->missing.text;
  }
  json_decref(root);
}

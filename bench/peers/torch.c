/* SPDX-License-Identifier: MIT */
#include "torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <folders.h> /* of the build folder */

#include "../core/program.h"

enum { FIRST = 2 };

json_t *torch_run(const char *script, const size_t *numbers, size_t count, refusal *why) {
  static const char folder[] = BENCH_SOURCE_ROOT "/bench/peers/";
  char path[sizeof folder + 40], usual[] = "python3";
  char *named = getenv("TORCH_PYTHON"), *python = named && *named ? named : usual;
  char *arguments[FIRST + TORCH_NUMBERS + 1] = {python, path}, words[TORCH_NUMBERS][24];
  size_t i;
  snprintf(path, sizeof path, "%s%s", folder, script);
  for (i = 0; i < count && i < TORCH_NUMBERS; ++i) {
    snprintf(words[i], sizeof *words, "%zu", numbers[i]);
    arguments[FIRST + i] = words[i];
  }
  return program_json(arguments, python, why);
}

json_t *torch_rows(json_t *root, char version[TORCH_VERSION], refusal *why) {
  const char *said;
  json_t *rows;
  if (json_unpack(root, "{s:s}", "missing", &said) == 0)
    return refuse(why, "%s", said), NULL;
  if (json_unpack(root, "{s:s, s:o}", "version", &said, "rows", &rows) != 0)
    return refuse(why, "no times"), NULL;
  snprintf(version, TORCH_VERSION, "%.*s", (int)strcspn(said, "+"), said);
  clean_text(version);
  return rows;
}

void torch_missing(refusal *missing, refusal *why) {
  clean_text(why->text);
  refuse(missing, "%.200s (TORCH_PYTHON names another python3)", why->text);
}

/* The numbers of the plan: threads, and of each size its bytes and rounds. */
static json_t *run_plan(const char *script, const array_plan *plan, refusal *why) {
  size_t numbers[1 + 2 * ARRAY_SIZES] = {plan->threads}, i;
  for (i = 0; i < ARRAY_SIZES; ++i) {
    numbers[1 + 2 * i] = plan->sizes[i];
    numbers[2 + 2 * i] = plan->rounds[i];
  }
  return torch_run(script, numbers, 1 + 2 * ARRAY_SIZES, why);
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

void torch_measure(torch_peer *self, array_results *found) {
  const size_t before = found->peer_count;
  refusal why;
  json_t *root = run_plan(self->script, &found->plan, &why);
  json_t *rows = root ? torch_rows(root, self->version, &why) : NULL;
  if (!rows || !read_rows(self->peer, found, rows, &why)) {
    found->peer_count = before;
    torch_missing(&self->missing, &why);
    self->version[0] = 0;
    self->peer->missing = self->missing.text;
  }
  json_decref(root);
}

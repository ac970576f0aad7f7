/* SPDX-License-Identifier: MIT */
#include "torch.h"

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
  for (int s = 0; s < ARRAY_SIZES; ++s) {
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
  for (size_t i = 0; i < peer->count; ++i) {
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

/* SPDX-License-Identifier: MIT */
#include "grad.h"

#include "../../report/view.h"

static const char section[] = "grad_added";

/* What an operation does more than another one. */
static const struct {
  const char *what, *operation, *over;
} additions[] = {
    {"check, statistics, norm, to a multiplication", "unscale f32", "multiply f32"},
    {"separate passes, to one", "unscale f32 in passes", "unscale f32"},
    {"small tensors, to one", "unscale f32 small", "unscale f32"},
    {"histogram", "unscale f32 histogram", "unscale f32"},
    {"histogram of every 16th tile", "unscale f32 histogram/16", "unscale f32"},
};

void grad_figures(figures *to, const array_results *found) {
  char size[TABLE_CELL];
  size_t i;
  int s;
  arrays_figures(to, found);
  for (i = 0; i < sizeof additions / sizeof *additions; ++i) {
    const array_row *row = &found->rows[arrays_find(found->set, additions[i].operation)];
    const array_row *over = &found->rows[arrays_find(found->set, additions[i].over)];
    for (s = 0; s < ARRAY_SIZES; ++s) {
      show_bytes(size, (double)found->plan.sizes[s]);
      figures_at(to, section, "mpnum", additions[i].what, size);
      figures_add(to, "added_time", row->sizes[s].ns / over->sizes[s].ns - 1, "");
    }
  }
}

bool grad_print(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "what", .metric = VIEW_NAME},
      {.metric = "added_time", .format = "%+.0f%%", .factor = 100, .each = true},
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  return arrays_print(&grad_set, from, to) &&
         view_print(&shown, from, to,
                    "\nGradients, what is added: time over that of the pass without\n");
}

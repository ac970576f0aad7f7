/* SPDX-License-Identifier: MIT */
#include "grad.h"

#include "../arrays/report.h"
#include "../../report/table.h"

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

static bool print_additions(const array_results *found, FILE *to) {
  table made;
  size_t i;
  int s;
  table_begin(&made, 1 + ARRAY_SIZES);
  table_add(&made, "what");
  for (s = 0; s < ARRAY_SIZES; ++s)
    table_add(&made, "%s", array_size_label(found->plan.sizes[s]).text);
  for (i = 0; i < sizeof additions / sizeof *additions; ++i) {
    const array_row *row = &found->rows[arrays_find(found->set, additions[i].operation)];
    const array_row *over = &found->rows[arrays_find(found->set, additions[i].over)];
    table_add(&made, "%s", additions[i].what);
    for (s = 0; s < ARRAY_SIZES; ++s)
      table_add(&made, "%+.0f%%", 100 * (row->sizes[s].ns / over->sizes[s].ns - 1));
  }
  fputs("\nGradients, what is added: time over that of the pass without\n", to);
  return table_end(&made, to);
}

bool grad_text(const array_results *found, FILE *to) {
  return arrays_text(found, to) && print_additions(found, to);
}

/* SPDX-License-Identifier: MIT */
/* PyTorch's functions of arrays and of rows: the times that torch_math_times.py takes. */
#include "measure.h"

#include <string.h>

#include "../../report/view.h"

static const char script[] = "torch_math_times.py", section[] = "math_torch",
                  library[] = "PyTorch";
static const char *const types[MATH_TYPES] = {"f32", "f16", "bf16"};

static json_t *run(const math_results *found, refusal *why) {
  size_t numbers[3 + 2 * ROW_WIDTHS] = {1, found->plan.values, found->plan.rounds};
  size_t count = 3;
  int i;
  for (i = 0; i < found->rows_timed.widths; ++i) {
    numbers[count++] = found->rows_timed.rows[i];
    numbers[count++] = found->rows_timed.columns[i];
  }
  return torch_run(script, numbers, count, why);
}

/* A row of rows; that there is none is good. */
static bool read_row(math_torch *made, const char *name, const double own[MATH_TYPES],
                     json_t *rows, refusal *why) {
  json_t *given = json_object_get(rows, name);
  math_torch_row *row = &made->rows[made->count];
  const char *function;
  int i;
  if (!given) return true;
  memset(row, 0, sizeof *row);
  snprintf(row->name, sizeof row->name, "%s", name);
  if (json_unpack(given, "{s:s}", "function", &function) != 0)
    return refuse(why, "no times of %s", name);
  snprintf(row->function, sizeof row->function, "%s", function);
  clean_text(row->function);
  for (i = 0; i < MATH_TYPES; ++i) {
    math_figure *shown = &row->types[i];
    json_t *times = json_object_get(given, types[i]);
    row->own[i] = own[i];
    if (!times) continue;
    if (json_unpack(times, "{s:F, s:F}", "ns_per_value", &shown->ns, "noise",
                    &shown->noise) != 0 ||
        !(shown->ns > 0))
      return refuse(why, "no times of %s", name);
    shown->measured = true;
  }
  ++made->count;
  return true;
}

static bool read_rows(math_results *found, json_t *rows, refusal *why) {
  const row_results *timed = &found->rows_timed;
  math_torch *made = &found->torch;
  double own[MATH_TYPES];
  int i, width, type;
  for (i = 0; i < MATH_FUNCTIONS; ++i) {
    for (type = 0; type < MATH_TYPES; ++type)
      own[type] = found->functions[i][MATH_F32 + type].ns;
    if (!read_row(made, math_functions[i].name, own, rows, why)) return false;
  }
  for (i = 0; i < ROW_OPERATIONS; ++i)
    for (width = 0; width < timed->widths; ++width) {
      char name[ROW_NAME];
      rows_name(name, timed, i, width);
      for (type = 0; type < MATH_TYPES; ++type)
        own[type] = timed->ways[i][width][ROW_F32 + type].ns;
      if (!read_row(made, name, own, rows, why)) return false;
    }
  return made->count > 0 || refuse(why, "no times");
}

void math_measure_torch(math_results *found) {
  math_torch *made = &found->torch;
  refusal why;
  json_t *root = run(found, &why);
  json_t *rows = root ? torch_rows(root, made->version, &why) : NULL;
  made->count = 0;
  made->missing.text[0] = 0;
  if (!rows || !read_rows(found, rows, &why)) {
    made->count = 0;
    torch_missing(&made->missing, &why);
  }
  json_decref(root);
}

void math_torch_figures(figures *to, const math_torch *found) {
  size_t i;
  int type;
  figures_at(to, section, library, "", "");
  if (found->missing.text[0]) {
    figures_say(to, "missing", "%s", found->missing.text);
    return;
  }
  figures_say(to, "version", "%s", found->version);
  for (i = 0; i < found->count; ++i) {
    const math_torch_row *row = &found->rows[i];
    figures_at(to, section, library, row->name, "");
    figures_say(to, "function", "%s", row->function);
    for (type = 0; type < MATH_TYPES; ++type) {
      const math_figure *shown = &row->types[type];
      if (!shown->measured) continue;
      figures_at(to, section, library, row->name, types[type]);
      figures_add(to, "time_per_value", shown->ns, "ns");
      figures_add(to, "noise", shown->noise, "");
      figures_add(to, "ratio_to_mpnum", shown->ns / row->own[type], "");
    }
  }
}

#define TIME(type)                                                                \
 {                                                                                \
  .heading = "ns", .metric = "time_per_value", .format = "%.3f", .variant = type, \
  .group = type                                                                   \
 }
#define RATIO(type)                                                                \
 {                                                                                 \
  .heading = "x", .metric = "ratio_to_mpnum", .show = show_three, .variant = type, \
  .group = type                                                                    \
 }
bool math_torch_print(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "function or rows", .metric = VIEW_NAME},
      {.heading = "PyTorch's", .metric = "function", .left = true},
      TIME("f32"),
      RATIO("f32"),
      TIME("f16"),
      RATIO("f16"),
      TIME("bf16"),
      RATIO("bf16"),
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  const bool good =
      view_print(&shown, from, to,
                 "\nMath, PyTorch %s: called from Python, after all others; ns for one "
                 "element. x: its time\nover mpnum's of the same type.\n",
                 figures_words(from, section, "version"));
  view_absent(from, section, false, to);
  return good;
}

/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include <math.h>

#include "../../report/view.h"

static const char section[] = "math", softmax[] = "softmax";
static const char *const libraries[MATH_WAYS] = {"mpnum", "mpnum", "mpnum", "libm",
                                                 "SLEEF"};
static const char *const types[MATH_WAYS] = {"f32", "f16", "bf16", "f32", "f32"};

static void add_figure(figures *to, const math_figure *shown, const math_figure *own,
                       const char *error, const char *unit) {
  figures_add(to, "time_per_value", shown->ns, "ns");
  figures_add(to, "noise", shown->noise, "");
  figures_add(to, "ratio_to_mpnum", shown->ns / own->ns, "");
  figures_add(to, error, shown->error, unit);
}

static void add_function(figures *to, const math_function *function,
                         const math_figure ways[MATH_WAYS]) {
  int way;
  for (way = 0; way < MATH_WAYS; ++way) {
    if (!ways[way].measured) continue;
    figures_at(to, section, libraries[way], function->name, types[way]);
    figures_say(to, "function", "%s",
                way == MATH_SLEEF ? math_sleef_loop(function)->function
                                  : function->called[way]);
    add_figure(to, &ways[way], &ways[MATH_F32], "max_ulp_error", "ulp");
  }
}

static void add_matrix(figures *to, const softmax_matrix *matrix) {
  char name[TABLE_CELL];
  int way;
  snprintf(name, sizeof name, "%zu x %zu", matrix->rows, matrix->columns);
  for (way = 0; way < SOFTMAX_WAYS; ++way) {
    if (!matrix->ways[way].measured) continue;
    figures_at(to, softmax, softmax_ways[way]->name, name, "");
    add_figure(to, &matrix->ways[way], &matrix->ways[SOFTMAX_MPNUM], "max_relative_error",
               "");
  }
}

void math_figures(figures *to, const math_results *found) {
  const math_library *sleef = math_sleef();
  int i;
  figures_at(to, section, "mpnum", "", "");
  figures_say(to, "isa", "%s", found->isa);
  figures_add(to, "values", (double)found->plan.values, "");
  figures_add(to, "rounds", found->plan.rounds, "");
  figures_add(to, "matrix_bytes", (double)found->plan.matrix_bytes, "byte");
  figures_at(to, section, "SLEEF", "", "");
  if (sleef->missing) figures_say(to, "missing", "%s", sleef->missing);
  if (sleef->isa) figures_say(to, "isa", "%s", sleef->isa);
  for (i = 0; i < SOFTMAX_WAYS; ++i) {
    const char *missing = softmax_missing(softmax_ways[i]);
    figures_at(to, section, softmax_ways[i]->name, "", "");
    if (missing) figures_say(to, "missing", "%s", missing);
  }
  for (i = 0; i < MATH_FUNCTIONS; ++i)
    add_function(to, &math_functions[i], found->functions[i]);
  for (i = 0; i < SOFTMAX_MATRICES; ++i)
    add_matrix(to, &found->matrices[i]);
  rows_figures(to, &found->rows_timed);
  math_torch_figures(to, &found->torch);
}

/* In six columns. */
static void show_error(char cell[TABLE_CELL], double error) {
  if (error > 99999) {
    snprintf(cell, TABLE_CELL, ">99999");
  } else {
    snprintf(cell, TABLE_CELL, "%.*f", error < 100 ? 2 : 0, error);
  }
}

/* In units of 2^-24. */
static void show_relative_error(char cell[TABLE_CELL], double error) {
  show_error(cell, error * 0x1p24);
}

#define TIME(library, type, title, over)                                             \
 {                                                                                   \
  .heading = title, .metric = "time_per_value", .format = "%.3f", .source = library, \
  .variant = type, .group = over                                                     \
 }
#define RATIO(library, type, title, over)                                            \
 {                                                                                   \
  .heading = title, .metric = "ratio_to_mpnum", .format = "%.2f", .source = library, \
  .variant = type, .group = over                                                     \
 }
#define ERROR(library)                                                                  \
 {                                                                                      \
  .heading = library, .metric = "max_ulp_error", .show = show_error, .source = library, \
  .variant = "f32", .group = "f32 error, ulp"                                           \
 }

static bool print_functions(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "function", .metric = VIEW_NAME},
      TIME("mpnum", "f32", "f32", "mpnum, ns"),
      TIME("mpnum", "f16", "f16", "mpnum, ns"),
      TIME("mpnum", "bf16", "bf16", "mpnum, ns"),
      RATIO("mpnum", "f16", "f16/f32", "mpnum, ns"),
      TIME("libm", "f32", "ns", "libm"),
      RATIO("libm", "f32", "x", "libm"),
      TIME("SLEEF", "f32", "ns", "SLEEF"),
      RATIO("SLEEF", "f32", "x", "SLEEF"),
      ERROR("mpnum"),
      ERROR("libm"),
      ERROR("SLEEF"),
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  const figure *sleef = figures_find(from, section, "SLEEF", NULL, NULL, "isa");
  return view_print(
      &shown, from, to,
      "\nMath, functions: %s%s%s, one thread, arrays of %.0f values; ns for one,"
      "\nmedians of %.0f rounds. x: time over that of mpnum's f32. error: the largest "
      "over these inputs,\nin units in the last place, against libm's doubles.\n",
      figures_words(from, section, "isa"), sleef ? ", SLEEF " : "",
      sleef ? sleef->words : "", figures_value(from, section, "values"),
      figures_value(from, section, "rounds"));
}

static bool print_softmax(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "rows x columns", .metric = VIEW_NAME},
      {.heading = "library", .metric = VIEW_SOURCE, .left = true},
      {.heading = "ns", .metric = "time_per_value", .format = "%.3f"},
      {.heading = "x", .metric = "ratio_to_mpnum", .format = "%.2f"},
      {.heading = "error", .metric = "max_relative_error", .show = show_relative_error},
  };
  static const view shown = {.section = softmax, VIEW_COLUMNS(columns)};
  return view_print(
      &shown, from, to,
      "\nMath, softmax of f32 rows: %s, ns for one element, medians of %.0f rounds. x: "
      "time over\nmpnum's. error: the largest, relative, in units of 2^-24. The last "
      "matrix has %.0f MiB.\n",
      figures_words(from, section, "isa"), figures_value(from, section, "rounds"),
      figures_value(from, section, "matrix_bytes") / (1 << 20));
}

bool math_print(const figures *from, FILE *to) {
  const bool good = print_functions(from, to) && print_softmax(from, to) &&
                    rows_print(from, to) && math_torch_print(from, to);
  view_absent(from, section, false, to);
  return good;
}

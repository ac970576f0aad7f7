/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "../../report/view.h"

static const char section[] = "math", softmax[] = "softmax", rows[] = "rows",
                  torch[] = "math_torch";

/* In five columns. */
static void show_error(char cell[TABLE_CELL], double error) {
  if (error > 9999) {
    snprintf(cell, TABLE_CELL, ">9999");
  } else {
    snprintf(cell, TABLE_CELL, "%.*f", error < 100 ? 2 : 0, error);
  }
}

/* In five columns, too: ns. */
static void show_time(char cell[TABLE_CELL], double time) {
  const int digits = time < 9.9995 ? 3 : time < 99.995 ? 2 : time < 999.95 ? 1 : 0;
  snprintf(cell, TABLE_CELL, "%.*f", digits, time);
}

/* In units of 2^-24. */
static void show_relative_error(char cell[TABLE_CELL], double error) {
  show_error(cell, error * 0x1p24);
}

/* A column of one library and type, NULL being the row's, under a heading of its own. */
#define COLUMN(library, type, title, over, what, how)                        \
 {                                                                           \
  .heading = title, .metric = what, how, .source = library, .variant = type, \
  .group = over                                                              \
 }
#define TIME(library, type, title, over) \
 COLUMN(library, type, title, over, "time_per_value", .show = show_time)
#define RATIO(library, type, title, over) \
 COLUMN(library, type, title, over, "ratio_to_mpnum", .show = show_three)
#define ERROR(library, type, title) \
 COLUMN(library, type, title, "f32 error, ulp", "max_ulp_error", .show = show_error)
#define PEER(library) \
 TIME(library, "f32", "ns", library), RATIO(library, "f32", "x", library)
#define OF_TORCH(type) TIME(NULL, type, "ns", type), RATIO(NULL, type, "x", type)
#define OF_MPNUM                                                                     \
 TIME("mpnum", "f32", "f32", "mpnum, ns"), TIME("mpnum", "f16", "f16", "mpnum, ns"), \
     TIME("mpnum", "bf16", "bf16", "mpnum, ns")

static bool print_functions(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "function", .metric = VIEW_NAME},
      OF_MPNUM,
      RATIO("mpnum", "f16", "f16x", "mpnum, ns"),
      TIME("mpnum", "light", "light", "mpnum, ns"),
      PEER("libm"),
      PEER("SLEEF"),
      ERROR("mpnum", "f32", "mpnum"),
      ERROR("mpnum", "light", "light"),
      ERROR("libm", "f32", "libm"),
      ERROR("SLEEF", "f32", "SLEEF"),
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
      {.heading = "ns", .metric = "time_per_value", .show = show_time},
      {.heading = "x", .metric = "ratio_to_mpnum", .show = show_three},
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

static bool print_rows(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "rows", .metric = VIEW_NAME},
      OF_MPNUM,
      PEER("loop"),
      PEER("memcpy"),
  };
  static const view shown = {.section = rows, VIEW_COLUMNS(columns)};
  return view_print(&shown, from, to,
                    "\nMath, rows: ns for one element, medians. x: time over "
                    "that of mpnum's f32; memcpy\ncopies one matrix of floats.\n");
}

static bool print_torch(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "function or rows", .metric = VIEW_NAME},
      {.heading = "PyTorch's", .metric = "function", .left = true},
      OF_TORCH("f32"),
      OF_TORCH("f16"),
      OF_TORCH("bf16"),
  };
  static const view shown = {.section = torch, VIEW_COLUMNS(columns)};
  const bool good =
      view_print(&shown, from, to,
                 "\nMath, PyTorch %s: called from Python, after all others; ns for one "
                 "element. x: its time\nover mpnum's of the same type.\n",
                 figures_words(from, torch, "version"));
  view_absent(from, torch, false, to);
  return good;
}

bool math_print(const figures *from, FILE *to) {
  const bool good = print_functions(from, to) && print_softmax(from, to) &&
                    print_rows(from, to) && print_torch(from, to);
  view_absent(from, section, false, to);
  return good;
}

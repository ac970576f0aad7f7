/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>

#include "../../report/table.h"

/* In six columns. */
static void add_error(table *made, double error) {
  if (isnan(error)) {
    table_add(made, "-");
  } else if (error > 99999) {
    table_add(made, ">99999");
  } else {
    table_add(made, "%.*f", error < 100 ? 2 : 0, error);
  }
}

/* Time, and how often mpnum's fits in. */
static void add_peer(table *made, const math_figure *shown, const math_figure *own) {
  if (shown->measured) {
    table_add(made, "%.3f", shown->ns);
    table_add(made, "%.2f", shown->ns / own->ns);
  } else {
    table_add(made, "-");
    table_add(made, "-");
  }
}

static void add_function(table *made, const char *name,
                         const math_figure figures[MATH_WAYS]) {
  const math_figure *own = &figures[MATH_F32];
  int way;
  table_add(made, "%s", name);
  for (way = MATH_F32; way <= MATH_BF16; ++way)
    table_add(made, "%.3f", figures[way].ns);
  table_add(made, "%.2f", figures[MATH_F16].ns / own->ns);
  add_peer(made, &figures[MATH_LIBM], own);
  add_peer(made, &figures[MATH_SLEEF], own);
  add_error(made, own->error);
  add_error(made, figures[MATH_LIBM].error);
  add_error(made, figures[MATH_SLEEF].measured ? figures[MATH_SLEEF].error : (double)NAN);
}

static bool print_functions(const math_results *found, FILE *to) {
  static const char *const names[] = {"function", "f32",   "f16",  "bf16",
                                      "f16/f32",  "ns",    "x",    "ns",
                                      "x",        "mpnum", "libm", "SLEEF"};
  const char *isa = math_sleef()->isa;
  table made;
  int i;
  table_heading(&made, sizeof names / sizeof *names, names);
  table_group(&made, 1, 4, "mpnum, ns");
  table_group(&made, 5, 2, "libm");
  table_group(&made, 7, 2, "SLEEF");
  table_group(&made, 9, 3, "f32 error, ulp");
  for (i = 0; i < MATH_FUNCTIONS; ++i)
    add_function(&made, math_functions[i].name, found->functions[i]);
  fprintf(to,
          "\nMath, functions: %s%s%s, one thread, arrays of %zu values; ns for one,"
          "\nmedians of %u rounds. x: time over that of mpnum's f32. error: the largest "
          "over these inputs,\nin units in the last place, against libm's doubles.\n",
          found->isa, isa ? ", SLEEF " : "", isa ? isa : "", found->plan.values,
          found->plan.rounds);
  return table_end(&made, to);
}

static bool print_softmax(const math_results *found, FILE *to) {
  static const char *const names[] = {"rows", "columns", "library", "ns", "x", "error"};
  const softmax_matrix *last = &found->matrices[SOFTMAX_MATRICES - 1], *matrix;
  table made;
  int way;
  table_heading(&made, sizeof names / sizeof *names, names);
  made.left[0] = false;
  made.left[2] = true;
  for (matrix = found->matrices; matrix <= last; ++matrix) {
    for (way = 0; way < SOFTMAX_WAYS; ++way) {
      const math_figure *shown = &matrix->ways[way];
      if (!shown->measured) continue;
      table_add(&made, "%zu", matrix->rows);
      table_add(&made, "%zu", matrix->columns);
      table_add(&made, "%s", softmax_ways[way]->name);
      add_peer(&made, shown, &matrix->ways[SOFTMAX_MPNUM]);
      add_error(&made, shown->error * 0x1p24);
    }
  }
  fprintf(to,
          "\nMath, softmax of f32 rows: %s, ns for one element, medians of %u rounds. x: "
          "time over\nmpnum's. error: the largest, relative, in units of 2^-24. The last "
          "matrix has %zu MiB.\n",
          found->isa, found->plan.rounds, found->plan.matrix_bytes >> 20);
  return table_end(&made, to);
}

static void print_absent(FILE *to, bool *first, const char *name, const char *missing) {
  if (!missing) return;
  fprintf(to, "%sPeer absent: %s, %s\n", *first ? "\n" : "", name, missing);
  *first = false;
}

bool math_text(const math_results *found, FILE *to) {
  const bool good = print_functions(found, to) && print_softmax(found, to);
  bool first = true;
  int way;
  print_absent(to, &first, "SLEEF", math_sleef()->missing);
  for (way = 0; way < SOFTMAX_WAYS; ++way)
    print_absent(to, &first, softmax_ways[way]->name, softmax_missing(softmax_ways[way]));
  return good;
}

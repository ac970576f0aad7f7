/* SPDX-License-Identifier: MIT */
/* What block formats do to a tensor, which is taken as a matrix as it is multiplied. */
#include "blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/distributions.h"
#include "../../core/progress.h"
#include "../../report/view.h"
#include "../../verdict/verdict.h"
#include "../sections.h"

enum { MOST_COLUMNS = 1024 };
static const char section[] = "blocks_accuracy";
static const char *const ways[] = {"rows", "columns"};

typedef struct matrix {
  const char *file, *name;
  size_t rows, columns;
  bool turned;           /* rows in memory are its columns */
  float *values, *found; /* found: after a round trip */
  uint64_t nonzero, nonfinite;
} matrix;

/* Inf and NaN would make NaN of their blocks. */
static void count_values(matrix *of) {
  const size_t count = of->rows * of->columns;
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(of->values[i])) {
      of->values[i] = 0;
      ++of->nonfinite;
    }
    of->nonzero += fpclassify(of->values[i]) != FP_ZERO;
  }
}

static double quality_of(const matrix *of) {
  const size_t count = of->rows * of->columns;
  double signal = 0, noise = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = (double)of->values[i], error = (double)of->found[i] - x;
    signal += x * x;
    noise += error * error;
  }
  return sqnr_of(signal, noise);
}

static bool add_preset(figures *to, const char *source, const matrix *of, int preset) {
  for (int way = 0; way < (block_preset_turns(preset) ? 2 : 1); ++way) {
    block_losses losses;
    if (!block_round_trip(preset, (way == 1) != of->turned, of->found, of->values,
                          of->rows, of->columns, &losses))
      return false;
    figures_at(to, section, source, block_preset_name(preset), ways[way]);
    figures_add(to, "bits", losses.bits, "bit");
    figures_add(to, "sqnr", quality_of(of), "dB");
    figures_add(to, "overflow_share", (double)losses.saturated / (double)of->nonzero, "");
    figures_add(to, "underflow_share", (double)losses.underflowed / (double)of->nonzero,
                "");
  }
  return true;
}

static bool add_matrix(figures *to, matrix *of, progress *bar) {
  const char *source = tensor_begin(to, section, of->file, of->name);
  bool good = true;
  count_values(of);
  figures_add(to, "rows", (double)(of->turned ? of->columns : of->rows), "");
  figures_add(to, "columns", (double)(of->turned ? of->rows : of->columns), "");
  figures_add(to, "non_finite", (double)of->nonfinite, "");
  for (int preset = 0; preset < BLOCK_PRESETS && good; ++preset) {
    good = of->nonzero == 0 || add_preset(to, source, of, preset);
    progress_step(bar, of->rows * of->columns, of->name);
  }
  return good;
}

/* Room for the values; false when out of memory. */
static bool make_matrix(matrix *made, const char *file, const char *name, uint64_t count,
                        uint64_t columns) {
  memset(made, 0, sizeof *made);
  made->file = file;
  made->name = name;
  made->columns = (size_t)columns;
  made->rows = (size_t)(count / columns);
  if (count > SIZE_MAX / sizeof(float)) return false;
  made->values = calloc((size_t)count, sizeof(float));
  made->found = calloc((size_t)count, sizeof(float));
  return made->values && made->found;
}

static void free_matrix(matrix *made) {
  free(made->values);
  free(made->found);
}

static bool measure_law(figures *to, const distribution *law, size_t drawn,
                        progress *bar) {
  const size_t columns = drawn < MOST_COLUMNS * MOST_COLUMNS ? 64 : MOST_COLUMNS;
  matrix made;
  bool good = make_matrix(&made, SYNTHETIC, law->name, drawn, columns);
  for (size_t i = 0; i < drawn && good; ++i)
    made.values[i] = (float)law->draw(i);
  good = good && add_matrix(to, &made, bar);
  free_matrix(&made);
  return good || (complain(NULL, "out of memory"), false);
}

static bool measure_tensor(figures *to, const input *file, const tensor *values,
                           progress *bar) {
  row about;
  uint64_t rows, last;
  refusal why;
  matrix made;
  bool good = true;
  memset(&about, 0, sizeof about);
  about.values = values;
  matrix_of(&about, &rows, &last);
  refuse(&why, "out of memory for %s", values->name);
  good = make_matrix(&made, file->path, values->name, values->count, last) &&
         input_floats(file, values, 0, made.values, (size_t)values->count, &why);
  if (good) {
    made.turned = values->fortran_order && values->rank > 1;
    good = add_matrix(to, &made, bar);
  }
  free_matrix(&made);
  return good || (progress_end(bar), complain(file->path, why.text), false);
}

bool blocks_measure_accuracy(figures *to, const input *files, size_t file_count,
                             size_t drawn, progress *bar) {
  uint64_t values = DISTRIBUTION_COUNT * drawn;
  bool good = true;
  for (size_t i = 0; i < file_count; ++i) {
    for (size_t t = 0; t < files[i].tensor_count; ++t)
      values += files[i].tensors[t].count;
  }
  progress_begin(bar, values * BLOCK_PRESETS);
  for (size_t i = 0; i < DISTRIBUTION_COUNT && good; ++i)
    good = measure_law(to, &distributions[i], drawn, bar);
  for (size_t i = 0; i < file_count; ++i) {
    for (size_t t = 0; t < files[i].tensor_count && good; ++t)
      good = files[i].tensors[t].count == 0 ||
             measure_tensor(to, &files[i], &files[i].tensors[t], bar);
  }
  progress_end(bar);
  return good;
}

static bool print_matrix(const figures *from, const char *name, FILE *to) {
  static const view_column columns[] = {
      {.heading = "preset", .metric = VIEW_NAME},
      {.heading = "bits", .metric = "bits", .format = "%.2f", .each = true},
      {.heading = "SQNR dB", .metric = "sqnr", .show = show_sqnr, .each = true},
      {.heading = "over%", .metric = "overflow_share", .show = show_share, .each = true},
      VIEW_EACH("under%", "underflow_share", show_share),
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  const double nonfinite = figures_value(from, section, "non_finite");
  fprintf(to, "\n%s: %.0f x %.0f", name, figures_value(from, section, "rows"),
          figures_value(from, section, "columns"));
  if (nonfinite > 0) fprintf(to, ", %.0f not finite, which count as 0", nonfinite);
  fputc('\n', to);
  if (!figures_find(from, section, NULL, NULL, NULL, "bits"))
    fputs("no nonzero finite value, so no errors\n", to);
  return view_print(&shown, from, to, "%s", "");
}

bool blocks_print_accuracy(const figures *from, FILE *to) {
  return tensors_print(from, section, "Blocks, accuracy", LINE_WIDTH - 70, print_matrix,
                       to);
}

/* SPDX-License-Identifier: MIT */
#include "report.h"

static void put_figure(const csv_place *at, const math_figure *shown,
                       const math_figure *own, const char *error, const char *unit) {
  csv_put(at, "time_per_value", shown->ns, "ns");
  csv_put(at, "noise", shown->noise, "");
  csv_put(at, "ratio_to_mpnum", shown->ns / own->ns, "");
  csv_put(at, error, shown->error, unit);
}

static void put_functions(csv_place at, const math_results *found) {
  static const char *const types[MATH_WAYS] = {"f32", "f16", "bf16", "f32", "f32"};
  size_t i;
  int way;
  for (i = 0; i < MATH_FUNCTIONS; ++i) {
    at.name = math_functions[i].name;
    for (way = 0; way < MATH_WAYS; ++way) {
      const math_figure *shown = &found->functions[i][way];
      if (!shown->measured) continue;
      at.section = way < MATH_LIBM ? "math" : "math_peer";
      at.source = way < MATH_LIBM ? found->isa : way == MATH_LIBM ? "libm" : "SLEEF";
      at.variant = types[way];
      put_figure(&at, shown, &found->functions[i][MATH_F32], "max_ulp_error", "ulp");
    }
  }
}

static void put_matrix(csv_place at, const math_results *found,
                       const softmax_matrix *matrix) {
  char columns[24], rows[24];
  int way;
  snprintf(columns, sizeof columns, "%zu", matrix->columns);
  snprintf(rows, sizeof rows, "%zu", matrix->rows);
  at.name = columns;
  at.variant = rows;
  for (way = 0; way < SOFTMAX_WAYS; ++way) {
    const math_figure *shown = &matrix->ways[way];
    const bool is_own = way == SOFTMAX_MPNUM;
    if (!shown->measured) continue;
    at.section = is_own ? "softmax" : "softmax_peer";
    at.source = is_own ? found->isa : softmax_ways[way]->name;
    put_figure(&at, shown, &matrix->ways[SOFTMAX_MPNUM], "max_relative_error", "");
  }
}

void math_csv(csv_place at, const math_results *found) {
  int i;
  put_functions(at, found);
  for (i = 0; i < SOFTMAX_MATRICES; ++i)
    put_matrix(at, found, &found->matrices[i]);
}

/* SPDX-License-Identifier: MIT */
/* All ways of one function of rows take turns over rows of one length. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/timing.h"
#include "../../report/view.h"
#include "../arrays/source.h"

static const char section[] = "rows";
static const char *const libraries[ROW_WAYS] = {"mpnum", "mpnum", "mpnum", "loop",
                                                "memcpy"};
static const char *const types[ROW_WAYS] = {"f32", "f16", "bf16", "f32", "f32"};

void rows_name(char name[ROW_NAME], const row_results *found, int operation, int width) {
  snprintf(name, ROW_NAME, "%s, %zu x %zu", row_operations[operation].name,
           found->rows[width], found->columns[width]);
}

void rows_plan(row_results *found, size_t values) {
  static const size_t columns[ROW_WIDTHS] = {64, 1000, 4096, 32000, 50257};
  found->widths = 0;
  while (found->widths < ROW_WIDTHS && columns[found->widths] <= values) {
    const int width = found->widths++;
    found->columns[width] = columns[width];
    found->rows[width] = values / columns[width];
  }
}

size_t rows_count(const row_results *found) {
  size_t count = 0;
  int i;
  for (i = 0; i < ROW_OPERATIONS; ++i)
    count += (size_t)(found->widths * (ROW_WAYS - !row_operations[i].loop));
  return count;
}

/* What a contender runs. */
typedef struct job {
  const row_operation *operation;
  row_call call;
  row_way way;
} job;
static void row_pass(const contender *self) {
  const job *how = self->more;
  if (how->way == ROW_COPY) {
    memcpy(how->call.dst, how->call.src, self->count * sizeof(float));
  } else if (how->way == ROW_LOOP) {
    how->operation->loop(&how->call);
  } else {
    how->operation->run(&how->call, how->way);
  }
}

static bool measure_one(row_results *found, size_t operation, size_t width,
                        const row_call calls[ROW_WAYS], unsigned rounds, progress *bar) {
  contender list[ROW_WAYS];
  job jobs[ROW_WAYS];
  int way, used = 0;
  memset(list, 0, sizeof list);
  for (way = 0; way < ROW_WAYS; ++way) {
    job *how = &jobs[used];
    if (way == ROW_LOOP && !row_operations[operation].loop) continue;
    how->operation = &row_operations[operation];
    how->call = calls[way];
    how->call.rows = found->rows[width];
    how->call.columns = found->columns[width];
    how->way = (row_way)way;
    list[used].pass = row_pass;
    list[used].more = how;
    list[used].dst = how->call.dst;
    list[used].src = how->call.src;
    list[used].count = how->call.rows * how->call.columns;
    list[used].dst_bytes = list[used].count; /* of e4m3; all others have more */
    ++used;
  }
  if (!timing_measure(list, (size_t)used, rounds, bar, "rows")) return false;
  while (used-- > 0) {
    row_figure *shown = &found->ways[operation][width][jobs[used].way];
    shown->measured = true;
    shown->ns = list[used].ns;
    shown->noise = list[used].noise;
  }
  return true;
}

/* Three types of rows, and one dst for all. */
static bool make(row_call calls[ROW_WAYS], size_t values) {
  const size_t bytes = values * sizeof(float);
  float *src = source_make(SOURCE_F32, 32, values);
  float *columns = timing_buffer(2 * bytes), *ones = timing_buffer(bytes);
  int32_t *targets = timing_buffer(bytes);
  void *dst = timing_buffer(bytes);
  bool good = src && columns && ones && targets && dst;
  size_t i;
  int way;
  for (i = 0; good && i < values; ++i)
    ones[i] = 1;
  if (good) memset(targets, 0, bytes);
  for (way = 0; way < ROW_WAYS; ++way) {
    calls[way].src = way == ROW_F32 ? src : timing_buffer(bytes);
    calls[way].other = timing_buffer(bytes);
    good = good && calls[way].src && calls[way].other;
    if (good && way != ROW_F32) row_convert(calls[way].src, (row_way)way, src, values);
    if (good) row_convert(calls[way].other, (row_way)way, src, values);
    calls[way].dst = dst;
    calls[way].weight = ones;
    calls[way].of_weight = columns;
    calls[way].of_rows = columns;
    calls[way].targets = targets;
  }
  return good;
}
static void release(row_call calls[ROW_WAYS]) {
  int way;
  for (way = 0; way < ROW_WAYS; ++way) {
    free(calls[way].src);
    free(calls[way].other);
  }
  free(calls[0].dst);
  free(calls[0].weight);
  free(calls[0].of_weight);
  free(calls[0].targets);
}

bool rows_measure(row_results *found, size_t values, unsigned rounds, progress *bar) {
  row_call calls[ROW_WAYS];
  bool good = make(calls, values);
  size_t i;
  int width;
  for (width = 0; width < found->widths; ++width)
    for (i = 0; i < ROW_OPERATIONS && good; ++i)
      good = measure_one(found, i, (size_t)width, calls, rounds, bar);
  release(calls);
  return good;
}

void rows_figures(figures *to, const row_results *found) {
  int i, width, way;
  for (i = 0; i < ROW_OPERATIONS; ++i)
    for (width = 0; width < found->widths; ++width) {
      const row_figure *shown = found->ways[i][width];
      char name[ROW_NAME];
      rows_name(name, found, i, width);
      for (way = 0; way < ROW_WAYS; ++way) {
        if (!shown[way].measured) continue;
        figures_at(to, section, libraries[way], name, types[way]);
        figures_add(to, "time_per_value", shown[way].ns, "ns");
        figures_add(to, "noise", shown[way].noise, "");
        figures_add(to, "ratio_to_mpnum", shown[way].ns / shown[ROW_F32].ns, "");
      }
    }
}

#define TIME(library, type, title, over)                                             \
 {                                                                                   \
  .heading = title, .metric = "time_per_value", .format = "%.3f", .source = library, \
  .variant = type, .group = over                                                     \
 }
#define RATIO(library, title, over)                                                  \
 {                                                                                   \
  .heading = title, .metric = "ratio_to_mpnum", .format = "%.2f", .source = library, \
  .variant = "f32", .group = over                                                    \
 }
bool rows_print(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "rows", .metric = VIEW_NAME},
      TIME("mpnum", "f32", "f32", "mpnum, ns"),
      TIME("mpnum", "f16", "f16", "mpnum, ns"),
      TIME("mpnum", "bf16", "bf16", "mpnum, ns"),
      TIME("loop", "f32", "ns", "loop"),
      RATIO("loop", "x", "loop"),
      TIME("memcpy", "f32", "ns", "memcpy"),
      RATIO("memcpy", "x", "memcpy"),
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  return view_print(&shown, from, to,
                    "\nMath, rows: ns for one element, medians. x: time over "
                    "that of mpnum's f32; memcpy\ncopies one matrix of floats.\n");
}

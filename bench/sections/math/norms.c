/* SPDX-License-Identifier: MIT */
/* All ways of one norm take turns over rows of one length. */
#include "norms.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/timing.h"
#include "../../report/view.h"
#include "../arrays/source.h"

static const char section[] = "norms";
static const char *const libraries[NORM_WAYS] = {"mpnum", "mpnum", "mpnum", "loop",
                                                 "memcpy"};
static const char *const types[NORM_WAYS] = {"f32", "f16", "bf16", "f32", "f32"};

size_t norms_count(void) {
  size_t count = 0;
  int i;
  for (i = 0; i < NORM_OPERATIONS; ++i)
    count += (size_t)(NORM_WIDTHS * (NORM_WAYS - !norm_operations[i].loop));
  return count;
}

/* What a contender runs. */
typedef struct job {
  const norm_operation *operation;
  norm_rows call;
  norm_way way;
} job;
static void norm_pass(const contender *self) {
  const job *how = self->more;
  if (how->way == NORM_COPY) {
    memcpy(how->call.dst, how->call.src, self->count * sizeof(float));
  } else if (how->way == NORM_LOOP) {
    how->operation->loop(&how->call);
  } else {
    how->operation->run(&how->call, how->way);
  }
}

static bool measure_one(norm_results *found, size_t operation, size_t width,
                        const norm_rows calls[NORM_WAYS], unsigned rounds,
                        progress *bar) {
  contender list[NORM_WAYS];
  job jobs[NORM_WAYS];
  int way, used = 0;
  memset(list, 0, sizeof list);
  for (way = 0; way < NORM_WAYS; ++way) {
    job *how = &jobs[used];
    if (way == NORM_LOOP && !norm_operations[operation].loop) continue;
    how->operation = &norm_operations[operation];
    how->call = calls[way];
    how->call.rows = found->rows[width];
    how->call.columns = found->columns[width];
    how->way = (norm_way)way;
    list[used].pass = norm_pass;
    list[used].more = how;
    list[used].dst = how->call.dst;
    list[used].src = how->call.src;
    list[used].count = how->call.rows * how->call.columns;
    list[used].dst_bytes = list[used].count; /* of e4m3; all others have more */
    ++used;
  }
  if (!timing_measure(list, (size_t)used, rounds, bar, "norms")) return false;
  while (used-- > 0) {
    norm_figure *shown = &found->ways[operation][width][jobs[used].way];
    shown->measured = true;
    shown->ns = list[used].ns;
    shown->noise = list[used].noise;
  }
  return true;
}

/* Three types of rows, and one dst for all. */
static bool make(norm_rows calls[NORM_WAYS], size_t values) {
  const size_t bytes = values * sizeof(float);
  float *src = source_make(SOURCE_F32, 32, values);
  float *columns = timing_buffer(2 * bytes), *ones = timing_buffer(bytes);
  void *dst = timing_buffer(bytes);
  bool good = src && columns && ones && dst;
  size_t i;
  int way;
  for (i = 0; good && i < values; ++i)
    ones[i] = 1;
  for (way = 0; way < NORM_WAYS; ++way) {
    calls[way].src = way == NORM_F32 ? src : timing_buffer(bytes);
    calls[way].other = timing_buffer(bytes);
    good = good && calls[way].src && calls[way].other;
    if (good && way != NORM_F32) norm_convert(calls[way].src, (norm_way)way, src, values);
    if (good) norm_convert(calls[way].other, (norm_way)way, src, values);
    calls[way].dst = dst;
    calls[way].weight = ones;
    calls[way].of_weight = columns;
    calls[way].of_rows = columns;
  }
  return good;
}
static void release(norm_rows calls[NORM_WAYS]) {
  int way;
  for (way = 0; way < NORM_WAYS; ++way) {
    free(calls[way].src);
    free(calls[way].other);
  }
  free(calls[0].dst);
  free(calls[0].weight);
  free(calls[0].of_weight);
}

bool norms_measure(norm_results *found, size_t values, unsigned rounds, progress *bar) {
  static const size_t columns[NORM_WIDTHS] = {64, 1000, 4096};
  norm_rows calls[NORM_WAYS];
  bool good = make(calls, values < 4096 ? 4096 : values);
  size_t i, width;
  for (width = 0; width < NORM_WIDTHS; ++width) {
    found->columns[width] = columns[width];
    found->rows[width] = columns[width] < values ? values / columns[width] : 1;
    for (i = 0; i < NORM_OPERATIONS && good; ++i)
      good = measure_one(found, i, width, calls, rounds, bar);
  }
  release(calls);
  return good;
}

void norms_figures(figures *to, const norm_results *found) {
  int i, width, way;
  for (i = 0; i < NORM_OPERATIONS; ++i)
    for (width = 0; width < NORM_WIDTHS; ++width) {
      const norm_figure *shown = found->ways[i][width];
      char name[TABLE_CELL];
      snprintf(name, sizeof name, "%s, %zu x %zu", norm_operations[i].name,
               found->rows[width], found->columns[width]);
      for (way = 0; way < NORM_WAYS; ++way) {
        if (!shown[way].measured) continue;
        figures_at(to, section, libraries[way], name, types[way]);
        figures_add(to, "time_per_value", shown[way].ns, "ns");
        figures_add(to, "noise", shown[way].noise, "");
        figures_add(to, "ratio_to_mpnum", shown[way].ns / shown[NORM_F32].ns, "");
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
bool norms_print(const figures *from, FILE *to) {
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
                    "\nMath, norms of rows: ns for one element, medians. x: time over "
                    "that of mpnum's f32; memcpy\ncopies one matrix of floats.\n");
}

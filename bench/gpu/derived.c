/* SPDX-License-Identifier: MIT */
/* Figures that follow from measured times. */
#include "gpu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gpu_note(gpu_results *results, const char *format, ...) {
  va_list arguments;
  char *line;
  if (results->note_count == GPU_NOTES) return;
  line = results->notes[results->note_count++];
  va_start(arguments, format);
  vsnprintf(line, sizeof results->notes[0], format, arguments);
  va_end(arguments);
  clean_text(line);
}

void gpu_set_text(char *dst, size_t size, const char *text) {
  snprintf(dst, size, "%.*s", (int)size - 1, text);
  clean_text(dst);
}

static int compare_doubles(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Between neighbours, in proportion. */
static double quantile(const double *sorted, unsigned count, double share) {
  double place = share * (count - 1);
  unsigned below = (unsigned)place;
  unsigned above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

gpu_time gpu_time_of(double *samples, unsigned count) {
  gpu_time found = {(double)NAN, (double)NAN};
  if (count == 0) return found;
  qsort(samples, count, sizeof *samples, compare_doubles);
  found.ms = quantile(samples, count, 0.5);
  found.noise =
      (quantile(samples, count, 0.75) - quantile(samples, count, 0.25)) / 2 / found.ms;
  return found;
}

double gpu_tflops(uint64_t m, uint64_t n, uint64_t k, gpu_time time) {
  return 2 * (double)m * (double)n * (double)k / (time.ms * 1e-3) * 1e-12;
}

/* The row that speed-ups are over, or NULL where it was not measured. */
static const gpu_product *baseline(const gpu_results *results) {
  unsigned i;
  for (i = 0; i < results->product_count; ++i) {
    const gpu_product *row = &results->products[i];
    if (strcmp(row->name, "f32") == 0 && row->state == GPU_MEASURED) return row;
  }
  return NULL;
}

double gpu_speedup(const gpu_results *results, const gpu_product *row) {
  const gpu_product *base = baseline(results);
  bool known = base && row->state == GPU_MEASURED;
  return known ? base->product.ms / row->product.ms : (double)NAN;
}

double gpu_total_speedup(const gpu_results *results, const gpu_product *row) {
  const gpu_product *base = baseline(results);
  bool known = base && row->state == GPU_MEASURED;
  return known ? base->total.ms / row->total.ms : (double)NAN;
}

/* TFLOP/s against those of the first shape. */
double gpu_shape_share(const gpu_results *results, const gpu_product *row, int shape) {
  const gpu_shape *first = &results->shapes[0], *other = &results->shapes[shape];
  if (row->shape_states[0] != GPU_MEASURED || row->shape_states[shape] != GPU_MEASURED)
    return (double)NAN;
  return gpu_tflops(other->m, other->n, other->k, row->shapes[shape]) /
         gpu_tflops(first->m, first->n, first->k, row->shapes[0]);
}

void gpu_note_code(gpu_results *results, bool has_small) {
  const gpu_device *gpu = &results->device;
  const bool is_own = gpu->code_major == gpu->major && gpu->code_minor == gpu->minor;
  if (is_own && (gpu->major < 10 || has_small)) return;
  gpu_note(
      results,
      "compute capability %d.%d runs code compiled for %d.%d%s; its own is built with "
      "-Dgpu_arch=%d%d%s",
      gpu->major, gpu->minor, gpu->code_major, gpu->code_minor,
      is_own ? " without its own instructions" : "", gpu->major, gpu->minor,
      gpu->major >= 9 ? "a" : "");
}

const gpu_product *gpu_best_product(const gpu_results *results) {
  const gpu_product *best = NULL;
  double most = 1;
  unsigned i;
  for (i = 0; i < results->product_count; ++i) {
    const double speedup = gpu_total_speedup(results, &results->products[i]);
    if (!(speedup > most)) continue;
    most = speedup;
    best = &results->products[i];
  }
  return best;
}

/* Both operands read and written; fp8 reads them once more for their amax. */
const char *gpu_bound_of(const gpu_results *results, const gpu_product *row) {
  const gpu_plan *plan = &results->plan;
  const double values = (double)plan->k * ((double)plan->m + (double)plan->n);
  const double bytes = values * (4 + row->bits / 8 + (row->bits == 8 ? 4 : 0));
  const double converting = row->total.ms - row->product.ms;
  const double at_copy_speed = bytes / (results->limits.copy * 1e6);
  if (!(converting > row->total.ms / 10)) return "the product";
  if (converting > 1.25 * at_copy_speed) return "conversion-bound";
  return converting > row->product.ms ? "converting, at copy speed" : "the product";
}

const char *gpu_verdict(double speedup) {
  if (isnan(speedup)) return "-";
  if (speedup < 1.1) return "stay";
  if (speedup <= 1.5) return "optional";
  return speedup <= 2.5 ? "use" : "excellent";
}

const char *gpu_state_name(gpu_state state) {
  switch (state) {
  case GPU_NOT_RUN: return "NOT RUN";
  case GPU_MEASURED: return "MEASURED";
  case GPU_UNSUPPORTED: return "UNSUPPORTED";
  case GPU_FAILED: return "FAILED";
  }
  return "?";
}

void gpu_conversion_name(char *dst, size_t size, const gpu_conversion *row) {
  snprintf(dst, size, "%s%s", mpnum_type_name(row->type), row->packed ? " packed" : "");
}

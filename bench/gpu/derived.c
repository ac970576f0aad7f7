/* SPDX-License-Identifier: MIT */
/* Figures that follow from measured times. */
#include "gpu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../core/timing.h"

void gpu_note(gpu_results *results, const char *format, ...) {
  va_list arguments;
  if (results->note_count == GPU_NOTES) return;
  char *line = results->notes[results->note_count++];
  va_start(arguments, format);
  vsnprintf(line, sizeof results->notes[0], format, arguments);
  va_end(arguments);
  clean_text(line);
}

void gpu_set_text(char *dst, size_t size, const char *text) {
  snprintf(dst, size, "%.*s", (int)size - 1, text);
  clean_text(dst);
}

gpu_time gpu_time_of(double *samples, unsigned count) {
  gpu_time found = {(double)NAN, (double)NAN};
  if (count > 0) timing_spread(samples, count, &found.ms, &found.noise);
  return found;
}

double gpu_tflops(uint64_t m, uint64_t n, uint64_t k, gpu_time time) {
  return 2 * (double)m * (double)n * (double)k / (time.ms * 1e-3) * 1e-12;
}

static const gpu_product *product_of(const gpu_results *results, const char *name) {
  for (unsigned i = 0; i < results->product_count; ++i) {
    const gpu_product *row = &results->products[i];
    if (strcmp(row->name, name) == 0 && row->state == GPU_MEASURED) return row;
  }
  return NULL;
}

static const gpu_step *step_of(const gpu_results *results, const char *name,
                               unsigned shape) {
  for (unsigned i = 0; i < results->step_count; ++i) {
    const gpu_step *row = &results->steps[i];
    if (row->shape == shape && strcmp(row->name, name) == 0 && row->state == GPU_MEASURED)
      return row;
  }
  return NULL;
}

double gpu_speedup(const gpu_results *results, const gpu_product *row) {
  const gpu_product *base = product_of(results, "f32");
  bool known = base && row->state == GPU_MEASURED;
  return known ? base->product.ms / row->product.ms : (double)NAN;
}

double gpu_total_speedup(const gpu_results *results, const gpu_product *row) {
  const gpu_product *base = product_of(results, "f32");
  bool known = base && row->state == GPU_MEASURED;
  return known ? base->total.ms / row->total.ms : (double)NAN;
}

double gpu_step_speedup(const gpu_results *results, const gpu_step *row) {
  const gpu_step *base = step_of(results, "f32", row->shape);
  bool known = base && row->state == GPU_MEASURED;
  return known ? base->whole.ms / row->whole.ms : (double)NAN;
}

/* TFLOP/s against those of the first shape. */
double gpu_shape_share(const gpu_results *results, const gpu_product *row, int shape) {
  const gpu_variant *first = &results->variants[0], *other = &results->variants[shape];
  const gpu_part *own = &row->variants[0], *its = &row->variants[shape];
  if (own->state != GPU_MEASURED || its->state != GPU_MEASURED) return (double)NAN;
  return gpu_tflops(other->m, other->n, other->k, its->time) /
         gpu_tflops(first->m, first->n, first->k, own->time);
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

static void add_cost(gpu_cost *to, double products, double converting, double whole,
                     double bytes, double error) {
  to->products += products;
  to->converting += converting;
  to->whole += whole;
  to->bytes += bytes;
  to->error = error > to->error ? error : to->error;
}

bool gpu_cost_of(const gpu_results *results, const char *name, gpu_cost *cost) {
  const gpu_product *product = product_of(results, name);
  memset(cost, 0, sizeof *cost);
  cost->name = name;
  if (results->step_count == 0) {
    if (!product) return false;
    add_cost(cost, product->product.ms, product->total.ms - product->product.ms,
             product->total.ms, product->bytes, product->error);
    return true;
  }
  for (unsigned shape = 0; shape < results->plan.step_shapes; ++shape) {
    const gpu_step *step = step_of(results, name, shape);
    if (!step) return false;
    add_cost(cost,
             step->parts[GPU_FORWARD].ms + step->parts[GPU_INPUT_GRADIENT].ms +
                 step->parts[GPU_WEIGHT_GRADIENT].ms,
             step->converting.ms, step->whole.ms, step->bytes, step->error);
  }
  return true;
}

bool gpu_fastest(const gpu_results *results, gpu_cost *f32, gpu_cost *cost) {
  bool found = false;
  if (!gpu_cost_of(results, "f32", f32)) return false;
  for (unsigned i = 0; i < results->product_count; ++i) {
    const char *name = results->products[i].name;
    gpu_cost other;
    if (strcmp(name, "f32") == 0 || !gpu_cost_of(results, name, &other) ||
        (found && other.whole >= cost->whole))
      continue;
    *cost = other;
    found = true;
  }
  return found;
}

const char *gpu_bound_of(const gpu_results *results, const gpu_cost *f32,
                         const gpu_cost *cost) {
  const double saved = f32->products - cost->products, converting = cost->converting;
  const double at_copy_speed = cost->bytes / (results->limits.copy * 1e6);
  if (saved > 0 && converting >= saved) return "conversion-bound";
  if (!(converting > cost->whole / 10)) return "the products";
  if (converting > 1.25 * at_copy_speed) return "conversion-bound";
  return converting > cost->products ? "converting, at copy speed" : "the products";
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

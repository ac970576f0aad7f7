/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <math.h>

#include "../report/table.h"

static const double mebibyte = 1 << 20;

static void print_device(const gpu_results *found, FILE *to) {
  const gpu_device *device = &found->device;
  fprintf(to,
          "\nGPU: %s, compute capability %d.%d, %d multiprocessors, %.1f GiB, L2 of %.1f "
          "MiB\n",
          device->name, device->major, device->minor, device->multiprocessors,
          device->memory / mebibyte / 1024, device->cache / mebibyte);
  fprintf(to, "Driver for CUDA %d.%d, runtime %d.%d, code compiled for %d.%d",
          device->driver / 1000, device->driver / 10 % 100, device->runtime / 1000,
          device->runtime / 10 % 100, device->code_major, device->code_minor);
  if (device->others) fprintf(to, "; %d more not measured", device->others);
  fputc('\n', to);
}

static void add_number(table *made, const char *format, double value) {
  char text[32];
  snprintf(text, sizeof text, isfinite(value) ? format : "-", value);
  table_add(made, "%s", text);
}

static void add_match(table *made, const gpu_match *match) {
  if (match->checked == 0) {
    table_add(made, "-");
  } else if (match->wrong == 0) {
    table_add(made, "yes");
  } else {
    table_add(made, "%" PRIu64 " wrong", match->wrong);
  }
}

static void add_speed(table *made, const gpu_speed *speed, const gpu_match *match) {
  add_number(made, "%.0f", speed->rate);
  add_number(made, "%.1f%%", 100 * speed->time.noise);
  add_number(made, "%.1f %%", 100 * speed->rate / speed->limit);
  add_match(made, match);
}

static bool print_conversions(const gpu_results *found, FILE *to) {
  static const char *const names[] = {"format",  "path",  "GB/s",     "+-",
                                      "of copy", "exact", "GB/s",     "+-",
                                      "of copy", "exact", "copy GB/s"};
  const size_t values = found->plan.size / sizeof(float);
  table made;
  unsigned i;
  if (found->conversion_count == 0) return true;
  table_heading(&made, sizeof names / sizeof *names, names);
  made.left[1] = true;
  table_group(&made, 1, 5, "encode: f32 to format");
  table_group(&made, 6, 4, "decode: format to f32");
  for (i = 0; i < found->conversion_count; ++i) {
    const gpu_conversion *row = &found->conversions[i];
    char name[TABLE_CELL];
    gpu_conversion_name(name, sizeof name, row);
    table_add(&made, "%s", name);
    table_add(&made, "%s", row->hardware ? "hardware" : "software");
    add_speed(&made, &row->encode, &row->encode_match);
    add_speed(&made, &row->decode, &row->decode_match);
    add_number(&made, "%.0f", row->decode.limit);
  }
  fprintf(
      to,
      "\nGPU arrays: %zu values (%.0f MiB of f32), L2 flushed before each run, median "
      "of %u.\n"
      "GB/s counts bytes read and written; copy is cudaMemcpy on the device, in turn "
      "with them.\n"
      "exact: every code, %" PRIu64 " random floats and all boundaries as on the CPU.\n",
      values, (double)found->plan.size / mebibyte, found->plan.rounds,
      found->plan.patterns);
  return table_end(&made, to);
}

static bool print_reductions(const gpu_results *found, FILE *to) {
  static const char *const names[] = {"operation", "format",  "GB/s",
                                      "+-",        "of copy", "exact"};
  table made;
  unsigned i;
  if (found->reduction_count == 0) return true;
  table_heading(&made, sizeof names / sizeof *names, names);
  made.left[1] = true;
  for (i = 0; i < found->reduction_count; ++i) {
    const gpu_reduction *row = &found->reductions[i];
    table_add(&made, "%s", row->operation);
    table_add(&made, "%s", mpnum_type_name(row->type));
    add_speed(&made, &row->speed, &row->match);
  }
  fputs("\nGPU reductions of the same arrays\n", to);
  return table_end(&made, to);
}

static void add_product(table *made, const gpu_results *found, const gpu_product *row) {
  const gpu_plan *plan = &found->plan;
  const bool measured = row->state == GPU_MEASURED;
  table_add(made, "%s", row->name);
  if (!measured) {
    int i;
    table_add(made, "%s", gpu_state_name(row->state));
    for (i = 0; i < 9; ++i)
      table_add(made, "-");
    return;
  }
  table_add(made, "%s", gpu_verdict(gpu_total_speedup(found, row)));
  add_number(made, "%.3f", row->product.ms);
  add_number(made, "%.1f%%", 100 * row->product.noise);
  add_number(made, "%.1f", gpu_tflops(plan->m, plan->n, plan->k, row->product));
  add_number(made, "%.2f", gpu_speedup(found, row));
  add_number(made, "%.3f", row->total.ms);
  add_number(made, "%.1f%%", 100 * row->total.noise);
  add_number(made, "%.1f", gpu_tflops(plan->m, plan->n, plan->k, row->total));
  add_number(made, "%.2f", gpu_total_speedup(found, row));
  add_number(made, "%.2e", row->error);
}

static bool print_products(const gpu_results *found, FILE *to) {
  static const char *const names[] = {"format",  "verdict", "ms",   "+-",
                                      "TFLOP/s", "x f32",   "ms",   "+-",
                                      "TFLOP/s", "x f32",   "error"};
  table made;
  unsigned i;
  if (found->product_count == 0) return true;
  table_heading(&made, sizeof names / sizeof *names, names);
  made.left[1] = true;
  table_group(&made, 2, 4, "operands in the format");
  table_group(&made, 6, 4, "with converting both");
  for (i = 0; i < found->product_count; ++i)
    add_product(&made, found, &found->products[i]);
  fprintf(
      to,
      "\nGPU matrix product of %" PRIu64 " x %" PRIu64 " x %" PRIu64
      " (M, N, K) through %s, f32 result.\n"
      "error: relative to the product of the f32 operands in f64. Verdict on the time "
      "with\nconverting: below 1.1 stay, to 1.5 optional, to 2.5 use, above excellent.\n",
      found->plan.m, found->plan.n, found->plan.k, found->blas);
  if (!table_end(&made, to)) return false;
  for (i = 0; i < found->product_count; ++i) {
    const gpu_product *row = &found->products[i];
    if (row->state != GPU_MEASURED) fprintf(to, "%s: %s\n", row->name, row->why);
  }
  return true;
}

static void add_shape(table *made, const gpu_results *found, const gpu_product *row,
                      int index) {
  const gpu_shape *shape = &found->shapes[index];
  if (row->shape_states[index] != GPU_MEASURED) {
    table_add(made, "%s", gpu_state_name(row->shape_states[index]));
    if (index > 0) table_add(made, "-");
    return;
  }
  add_number(made, "%.1f", gpu_tflops(shape->m, shape->n, shape->k, row->shapes[index]));
  if (index > 0) add_number(made, "%.0f %%", 100 * gpu_shape_share(found, row, index));
}

static bool print_shapes(const gpu_results *found, FILE *to) {
  table made;
  unsigned i;
  int s;
  if (found->product_count == 0) return true;
  table_begin(&made, 2 * GPU_SHAPES);
  table_add(&made, "format");
  for (s = 0; s < GPU_SHAPES; ++s) {
    table_add(&made, "%s", found->shapes[s].what);
    if (s > 0) table_add(&made, "of those");
  }
  for (i = 0; i < found->product_count; ++i) {
    table_add(&made, "%s", found->products[i].name);
    for (s = 0; s < GPU_SHAPES; ++s)
      add_shape(&made, found, &found->products[i], s);
  }
  fputs("\nGPU matrix product by its sizes, TFLOP/s:", to);
  for (s = 0; s < GPU_SHAPES; ++s)
    fprintf(to, "%s %" PRIu64 " %" PRIu64 " %" PRIu64, s ? ";" : "", found->shapes[s].m,
            found->shapes[s].n, found->shapes[s].k);
  fputc('\n', to);
  return table_end(&made, to);
}

bool gpu_text(const gpu_results *found, FILE *to) {
  bool good;
  unsigned i;
  if (found->absent[0]) {
    fprintf(to, "\nGPU: %s\n", found->absent);
    return true;
  }
  print_device(found, to);
  good = print_conversions(found, to) && print_reductions(found, to) &&
         print_products(found, to) && print_shapes(found, to);
  for (i = 0; i < found->note_count; ++i)
    fprintf(to, "%sGPU: %s\n", i ? "" : "\n", found->notes[i]);
  return good;
}

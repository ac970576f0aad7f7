/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../report/view.h"

static const char section[] = "gpu", conversions[] = "gpu_conversion",
                  reductions[] = "gpu_reduction", products[] = "gpu_product",
                  shapes[] = "gpu_shape", other_products[] = "gpu_variant",
                  steps[] = "gpu_step", limits[] = "gpu_limit", clocks[] = "gpu_clocks",
                  kernels[] = "gpu_kernel", sweep[] = "gpu_sweep";
/* Variants of a product. */
static const char plain[] = "product", converting[] = "with converting";

static void add_match(figures *to, const gpu_match *match) {
  figures_add(to, "checked", (double)match->checked, "");
  figures_add(to, "wrong", (double)match->wrong, "");
  if (match->wrong > 0) {
    figures_say(to, "exact", "%" PRIu64 " wrong", match->wrong);
  } else if (match->checked > 0) {
    figures_say(to, "exact", "yes");
  }
}

static void add_speed(figures *to, const gpu_speed *speed, const gpu_match *match,
                      gpu_bound bound) {
  static const char *const rates[] = {"copy_rate", "read_rate"};
  static const char *const shares[] = {"share_of_copy", "share_of_read"};
  figures_add(to, "time", speed->time.ms, "ms");
  figures_add(to, "noise", speed->time.noise, "");
  if (bound != GPU_BY_TIME) {
    figures_add(to, "rate", speed->rate, "GB/s");
    figures_add(to, rates[bound], speed->limit, "GB/s");
    figures_add(to, shares[bound], speed->rate / speed->limit, "");
  }
  add_match(to, match);
}

static void add_limits(figures *to, const gpu_results *found) {
  const gpu_limits *from = &found->limits;
  const char *gpu = found->device.name;
  if (!(from->copy > 0)) return;
  figures_at(to, limits, gpu, "", "");
  figures_add(to, "warm_up", from->warm_ms, "ms");
  figures_add(to, "steady", from->steady, "");
  figures_at(to, limits, gpu, "cudaMemcpy", "");
  figures_add(to, "rate", from->api, "GB/s");
  figures_at(to, limits, gpu, "copy", "");
  figures_add(to, "rate", from->copy, "GB/s");
  figures_say(to, "shape", "%s", from->copy_shape);
  figures_at(to, limits, gpu, "read", "");
  figures_add(to, "rate", from->read, "GB/s");
  figures_say(to, "shape", "%s", from->read_shape);
}

static void add_clocks(figures *to, const gpu_results *found, const char *when,
                       const gpu_clocks *from) {
  figures_at(to, clocks, found->device.name, when, "");
  if (from->missing[0]) {
    figures_say(to, "missing", "%s", from->missing);
    return;
  }
  if (!(from->sm > 0 || from->power > 0)) return; /* never read */
  figures_add(to, "sm", from->sm, "MHz");
  figures_add(to, "sm_limit", from->sm_limit, "MHz");
  figures_add(to, "memory", from->memory, "MHz");
  figures_add(to, "memory_limit", from->memory_limit, "MHz");
  figures_add(to, "power", from->power, "W");
  figures_add(to, "power_limit", from->power_limit, "W");
  figures_add(to, "temperature", from->celsius, "degree Celsius");
  if (from->reasons[0]) figures_say(to, "held_down_by", "%s", from->reasons);
}

/* Whether a row was measured; where not, why. */
static bool add_state(figures *to, gpu_state state, const char *why) {
  figures_say(to, "state", "%s", gpu_state_name(state));
  if (state != GPU_MEASURED) figures_say(to, "missing", "%s", why);
  return state == GPU_MEASURED;
}

static void add_conversion(figures *to, const char *gpu, const gpu_conversion *row) {
  char name[32];
  gpu_conversion_name(name, sizeof name, row);
  figures_at(to, conversions, gpu, name, "");
  if (row->state != GPU_MEASURED && !add_state(to, row->state, row->why)) return;
  figures_say(to, "path", row->hardware ? "hardware" : "software");
  figures_at(to, conversions, gpu, name, "encode");
  add_speed(to, &row->encode, &row->encode_match, GPU_BY_COPY);
  figures_at(to, conversions, gpu, name, "decode");
  add_speed(to, &row->decode, &row->decode_match, GPU_BY_COPY);
}

static void add_kernel(figures *to, const gpu_results *found, const gpu_kernel *row) {
  figures_at(to, kernels, found->device.name, row->name, "");
  if (!add_state(to, row->state, row->why)) return;
  if (row->bound != GPU_BY_TIME) figures_add(to, "bytes", row->bytes, "byte");
  add_speed(to, &row->speed, &row->match, row->bound);
  if (row->bound != GPU_BY_TIME)
    figures_add(to, "share_of_limit", row->speed.rate / row->speed.limit, "");
  if (!(row->torch.ms > 0)) return;
  figures_add(to, "torch_time", row->torch.ms, "ms");
  figures_add(to, "torch_noise", row->torch.noise, "");
  figures_add(to, "speedup_over_torch", row->torch.ms / row->speed.time.ms, "");
  figures_say(to, "torch_calls", "%s", row->torch_calls);
}

static void add_kernels(figures *to, const gpu_results *found) {
  if (found->kernel_count == 0) return;
  figures_at(to, kernels, found->device.name, "", "");
  if (found->torch[0])
    figures_say(to, found->has_torch ? "torch" : "torch_missing", "%s", found->torch);
  for (unsigned i = 0; i < found->kernel_count; ++i)
    add_kernel(to, found, &found->kernels[i]);
}

static void add_sweep(figures *to, const char *gpu, const gpu_sweep_row *row) {
  static const char *const variants[] = {"warm", "cold"};
  const gpu_time times[] = {row->warm, row->cold};
  char name[64 + TABLE_CELL], size[TABLE_CELL];
  show_bytes(size, (double)row->size);
  snprintf(name, sizeof name, "%s, %s", row->operation, size);
  figures_at(to, sweep, gpu, name, "");
  figures_add(to, "size", (double)row->size, "byte");
  figures_add(to, "bytes", row->bytes, "byte");
  figures_add(to, "launches", row->launches, "");
  for (int i = 0; i < 2; ++i) {
    figures_at(to, sweep, gpu, name, variants[i]);
    figures_add(to, "time", times[i].ms, "ms");
    figures_add(to, "noise", times[i].noise, "");
    figures_add(to, "rate", row->bytes / (times[i].ms * 1e6), "GB/s");
  }
}

static void add_time(figures *to, gpu_time time, double tflops) {
  figures_add(to, "time", time.ms, "ms");
  figures_add(to, "noise", time.noise, "");
  figures_add(to, "rate", tflops, "TFLOP/s");
}

static void say_verdict(figures *to, double speedup) {
  if (!isnan(speedup)) figures_say(to, "verdict", "%s", gpu_verdict(speedup));
}

static void add_product(figures *to, const gpu_results *found, const gpu_product *row) {
  const gpu_plan *plan = &found->plan;
  const double speedup = gpu_speedup(found, row), total = gpu_total_speedup(found, row);
  figures_at(to, products, found->device.name, row->name, "");
  figures_add(to, "bits", row->bits, "bit");
  if (!add_state(to, row->state, row->why)) return;
  say_verdict(to, total);
  figures_add(to, "error", row->error, "");
  figures_at(to, products, found->device.name, row->name, plain);
  add_time(to, row->product, gpu_tflops(plan->m, plan->n, plan->k, row->product));
  figures_add(to, "speedup", speedup, "");
  say_verdict(to, speedup);
  figures_at(to, products, found->device.name, row->name, converting);
  add_time(to, row->total, gpu_tflops(plan->m, plan->n, plan->k, row->total));
  figures_add(to, "speedup", total, "");
}

static void add_sizes(figures *to, uint64_t m, uint64_t n, uint64_t k) {
  figures_add(to, "m", (double)m, "");
  figures_add(to, "n", (double)n, "");
  figures_add(to, "k", (double)k, "");
}

/* Of sizes, then of other results, sums and a batch, where the row has such. */
static void add_variant(figures *to, const gpu_results *found, const gpu_product *row,
                        int index) {
  const gpu_variant *variant = &found->variants[index];
  const gpu_part *part = &row->variants[index];
  const bool is_size = index < GPU_SHAPES;
  if (part->state == GPU_NOT_RUN) return;
  figures_at(to, is_size ? shapes : other_products, found->device.name, row->name,
             variant->what);
  figures_say(to, "state", "%s", gpu_state_name(part->state));
  if (part->state == GPU_FAILED && part->why[0])
    figures_say(to, "missing", "%s: %s", variant->what, part->why);
  if (part->state != GPU_MEASURED) return;
  add_time(to, part->time,
           gpu_tflops(variant->batch * variant->m, variant->n, variant->k, part->time));
  figures_add(to, "error", part->error, "");
  if (is_size) figures_add(to, "share_of_first", gpu_shape_share(found, row, index), "");
}

/* "4096 x 4096 x 1024 e4m3" */
static void add_step(figures *to, const gpu_results *found, const gpu_step *row) {
  const uint64_t *mnk = found->plan.steps[row->shape];
  char name[96];
  snprintf(name, sizeof name, "%" PRIu64 " x %" PRIu64 " x %" PRIu64 " %s", mnk[0],
           mnk[1], mnk[2], row->name);
  figures_at(to, steps, found->device.name, name, "");
  figures_say(to, "format", "%s", row->name);
  add_sizes(to, mnk[0], mnk[1], mnk[2]);
  if (!add_state(to, row->state, row->why)) return;
  figures_add(to, "forward_time", row->parts[GPU_FORWARD].ms, "ms");
  figures_add(to, "input_gradient_time", row->parts[GPU_INPUT_GRADIENT].ms, "ms");
  figures_add(to, "weight_gradient_time", row->parts[GPU_WEIGHT_GRADIENT].ms, "ms");
  figures_add(to, "converting_time", row->converting.ms, "ms");
  figures_add(to, "converted_bytes", row->bytes, "byte");
  figures_add(to, "time", row->whole.ms, "ms");
  figures_add(to, "noise", row->whole.noise, "");
  figures_add(to, "speedup", gpu_step_speedup(found, row), "");
  figures_add(to, "error", row->error, "");
}

static void say_version(figures *to, const char *metric, int version) {
  figures_say(to, metric, "%d.%d", version / 1000, version / 10 % 100);
}

static void add_device(figures *to, const gpu_results *found) {
  const gpu_device *device = &found->device;
  figures_say(to, "compute_capability", "%d.%d", device->major, device->minor);
  figures_say(to, "code", "%d.%d", device->code_major, device->code_minor);
  figures_add(to, "multiprocessors", device->multiprocessors, "");
  figures_add(to, "memory", device->memory, "byte");
  figures_add(to, "l2_cache", device->cache, "byte");
  say_version(to, "driver", device->driver);
  say_version(to, "runtime", device->runtime);
  figures_add(to, "number", found->plan.device, "");
  figures_add(to, "others", device->others, "");
  figures_add(to, "array_bytes", (double)found->plan.size, "byte");
  figures_add(to, "rounds", found->plan.rounds, "");
  figures_add(to, "patterns", (double)found->plan.patterns, "");
  figures_add(to, "failed", found->failed, "");
}

static void add_best(figures *to, const gpu_results *found) {
  gpu_cost f32, best;
  if (!gpu_fastest(found, &f32, &best)) return;
  figures_say(to, "best", "%s", best.name);
  figures_add(to, "best_speedup", f32.whole / best.whole, "");
  figures_add(to, "best_error", best.error, "");
  figures_say(to, "limited_by", "%s", gpu_bound_of(found, &f32, &best));
  figures_add(to, "best_of_steps", found->step_count > 0, "");
}

static void add_products(figures *to, const gpu_results *found) {
  if (found->product_count == 0) return;
  figures_at(to, products, found->device.name, "", "");
  figures_say(to, "library", "%s", found->blas);
  add_best(to, found);
  add_sizes(to, found->plan.m, found->plan.n, found->plan.k);
  for (unsigned i = 0; i < found->product_count; ++i)
    add_product(to, found, &found->products[i]);
  for (int k = 0; k < GPU_VARIANTS; ++k) {
    const gpu_variant *variant = &found->variants[k];
    figures_at(to, k < GPU_SHAPES ? shapes : other_products, found->device.name, "",
               variant->what);
    add_sizes(to, variant->m, variant->n, variant->k);
    if (k >= GPU_SHAPES) figures_add(to, "batch", variant->batch, "");
  }
  for (unsigned i = 0; i < found->product_count; ++i)
    for (int k = 0; k < GPU_VARIANTS; ++k)
      add_variant(to, found, &found->products[i], k);
  for (unsigned i = 0; i < found->step_count; ++i)
    add_step(to, found, &found->steps[i]);
}

void gpu_figures(figures *to, const gpu_results *found) {
  const char *gpu = found->device.name;
  char number[16];
  figures_at(to, section, gpu, "", "");
  if (found->absent[0]) {
    figures_say(to, "missing", "%s", found->absent);
    return;
  }
  add_device(to, found);
  add_limits(to, found);
  add_clocks(to, found, "before", &found->before);
  add_clocks(to, found, "after", &found->after);
  for (unsigned i = 0; i < found->conversion_count; ++i)
    add_conversion(to, gpu, &found->conversions[i]);
  for (unsigned i = 0; i < found->reduction_count; ++i) {
    const gpu_reduction *row = &found->reductions[i];
    char name[48];
    snprintf(name, sizeof name, "%s %s", row->operation, mpnum_type_name(row->type));
    figures_at(to, reductions, gpu, name, "");
    if (row->state == GPU_MEASURED || add_state(to, row->state, row->why))
      add_speed(to, &row->speed, &row->match, GPU_BY_READ);
  }
  add_kernels(to, found);
  for (unsigned i = 0; i < found->sweep_count; ++i)
    add_sweep(to, gpu, &found->sweep[i]);
  add_products(to, found);
  for (unsigned i = 0; i < found->note_count; ++i) {
    snprintf(number, sizeof number, "%u", i + 1);
    figures_at(to, section, gpu, "", number);
    figures_say(to, "note", "%s", found->notes[i]);
  }
}

static double value(const figures *from, const char *metric) {
  return figures_value(from, section, metric);
}

static const char *words(const figures *from, const char *metric) {
  return figures_words(from, section, metric);
}

static void print_device(const figures *from, FILE *to) {
  const double others = value(from, "others"), mebibyte = 1 << 20;
  const figure *name = figures_find(from, section, NULL, NULL, NULL, "others");
  fprintf(to,
          "\nGPU: %s, compute capability %s, %.0f multiprocessors, %.1f GiB, L2 of %.1f "
          "MiB\n",
          name->source, words(from, "compute_capability"), value(from, "multiprocessors"),
          value(from, "memory") / mebibyte / 1024, value(from, "l2_cache") / mebibyte);
  fprintf(to, "Driver for CUDA %s, runtime %s, code compiled for %s",
          words(from, "driver"), words(from, "runtime"), words(from, "code"));
  if (others > 0) fprintf(to, "; %.0f more not measured", others);
  fputc('\n', to);
}

/* " 1700 of 1980 MHz", or nothing. */
static void print_part(const figures *from, const char *when, const char *what,
                       const char *metric, const char *limit, const char *unit,
                       FILE *to) {
  const figure *is = figures_find(from, clocks, NULL, when, NULL, metric);
  const figure *most = figures_find(from, clocks, NULL, when, NULL, limit);
  if (!is) return;
  fprintf(to, " %s%s%.0f", what, what[0] ? " " : "", is->value);
  if (most) fprintf(to, " of %.0f", most->value);
  fprintf(to, " %s,", unit);
}

static void print_clocks(const figures *from, const char *when, FILE *to) {
  const figure *missing = figures_find(from, clocks, NULL, when, NULL, "missing");
  const figure *why = figures_find(from, clocks, NULL, when, NULL, "held_down_by");
  const figure *heat = figures_find(from, clocks, NULL, when, NULL, "temperature");
  if (missing) fprintf(to, "Clocks %s: unknown, %s\n", when, missing->words);
  if (missing || !figures_find(from, clocks, NULL, when, NULL, NULL)) return;
  fprintf(to, "Clocks %s:", when);
  print_part(from, when, "SM", "sm", "sm_limit", "MHz", to);
  print_part(from, when, "memory", "memory", "memory_limit", "MHz", to);
  print_part(from, when, "", "power", "power_limit", "W", to);
  if (heat) fprintf(to, " %.0f degrees;", heat->value);
  fprintf(to, "\nheld down by: %s\n", why ? why->words : "unknown");
}

static double rate_of(const figures *from, const char *name) {
  const figure *found = figures_find(from, limits, NULL, name, NULL, "rate");
  return found ? found->value : (double)NAN;
}

static void print_limits(const figures *from, FILE *to) {
  const figure *copy = figures_find(from, limits, NULL, "copy", NULL, "shape");
  const figure *read = figures_find(from, limits, NULL, "read", NULL, "shape");
  if (!copy || !read) return;
  fprintf(to,
          "Memory, GB/s: cudaMemcpy %.0f; best copy kernel %.0f (%s);\n"
          "best that reads %.0f (%s).\nCopies ran %.0f ms before, %s.\n",
          rate_of(from, "cudaMemcpy"), rate_of(from, "copy"), copy->words,
          rate_of(from, "read"), read->words, figures_value(from, limits, "warm_up"),
          figures_value(from, limits, "steady") > 0 ? "until they were steady to 1 %"
                                                    : "and were not steady to 1 %");
}

static bool print_arrays(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "format", .metric = VIEW_NAME},
      {.heading = "path", .metric = "path", .left = true, .instead = "state"},
      {.heading = "GB/s", .metric = "rate", .format = "%.0f", .each = true},
      {.heading = "+-", .metric = "noise", .show = show_noise, .each = true},
      VIEW_SHARES("of copy", "share_of_copy", "%.1f %%"),
      {.heading = "exact", .metric = "exact", .each = true},
      {.heading = "copy GB/s",
       .metric = "copy_rate",
       .format = "%.0f",
       .variant = "decode"},
  };
  static const view_column reduction_columns[] = {
      {.heading = "operation", .metric = VIEW_NAME},
      {.heading = "GB/s", .metric = "rate", .format = "%.0f"},
      {.heading = "+-", .metric = "noise", .show = show_noise},
      VIEW_SHARE("of read", "share_of_read", "%.1f %%"),
      {.heading = "exact", .metric = "exact"},
  };
  static const view shown = {.section = conversions, VIEW_COLUMNS(columns)};
  static const view reduced = {.section = reductions, VIEW_COLUMNS(reduction_columns)};
  const double bytes = value(from, "array_bytes");
  const bool good =
      view_print(
          &shown, from, to,
          "\nGPU arrays: %.0f values (%.0f MiB of f32), L2 flushed before each run, "
          "median of %.0f.\n"
          "GB/s counts bytes read and written; copy is the better of cudaMemcpy on "
          "the "
          "device and of\nthe best copy kernel, in turn with them.\n"
          "exact: every code, %.0f random floats and all boundaries as on the CPU.\n",
          bytes / sizeof(float), bytes / (1 << 20), value(from, "rounds"),
          value(from, "patterns")) &&
      view_print(&reduced, from, to,
                 "\nGPU reductions of the same arrays; read is the best kernel that "
                 "reads, in turn.\n");
  view_absent(from, conversions, true, to);
  view_absent(from, reductions, true, to);
  return good;
}

static bool print_kernels(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "launcher", .metric = VIEW_NAME},
      {.heading = "us",
       .metric = "time",
       .format = "%.1f",
       .factor = 1000,
       .instead = "state"},
      {.heading = "+-", .metric = "noise", .show = show_noise},
      {.heading = "GB/s", .metric = "rate", .format = "%.0f"},
      VIEW_SHARE("of limit", "share_of_limit", "%.1f %%"),
      {.heading = "exact", .metric = "exact"},
      {.heading = "x PyTorch", .metric = "speedup_over_torch", .format = "%.2f"},
  };
  static const view shown = {.section = kernels, VIEW_COLUMNS(columns)};
  const char *torch = figures_words(from, kernels, "torch");
  const char *missing = figures_words(from, kernels, "torch_missing");
  const bool good = view_print(&shown, from, to,
                               "\nGPU launchers, L2 flushed before each run; exact: a "
                               "small array as on the CPU.\n");
  if (torch[0]) fprintf(to, "x PyTorch: time of %s over ours\n", torch);
  if (missing[0]) fprintf(to, "PyTorch: %s\n", missing);
  view_absent(from, kernels, true, to);
  return good;
}

static bool print_sweep(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "array", .metric = VIEW_NAME},
      {.heading = "us", .metric = "time", .format = "%.2f", .factor = 1000, .each = true},
      {.heading = "GB/s", .metric = "rate", .format = "%.0f", .each = true},
      {.heading = "+-", .metric = "noise", .show = show_noise, .each = true},
      {.heading = "launches", .metric = "launches", .format = "%.0f"},
  };
  static const view shown = {.section = sweep, VIEW_COLUMNS(columns)};
  return view_print(
      &shown, from, to,
      "\nGPU arrays by size, in graphs of so many launches: warm, one array "
      "again and again;\ncold, another one each time and the L2 flushed "
      "before.\n");
}

static bool print_products(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "format", .metric = VIEW_NAME},
      {.heading = "verdict", .metric = "verdict", .instead = "state", .left = true},
      {.heading = "ms", .metric = "time", .format = "%.3f", .each = true},
      {.heading = "+-", .metric = "noise", .show = show_noise, .each = true},
      {.heading = "TFLOP/s", .metric = "rate", .format = "%.1f", .each = true},
      {.heading = "x f32", .metric = "speedup", .format = "%.2f", .each = true},
      {.heading = "error", .metric = "error", .format = "%.2e"},
  };
  static const view shown = {.section = products, VIEW_COLUMNS(columns)};
  const bool good = view_print(
      &shown, from, to,
      "\nGPU matrix product of %.0f x %.0f x %.0f (M, N, K) through %s, f32 result.\n"
      "error: relative to the product of the f32 operands in f64. Verdict on the time "
      "with\nconverting: below 1.1 stay, to 1.5 optional, to 2.5 use, above excellent.\n",
      figures_value(from, products, "m"), figures_value(from, products, "n"),
      figures_value(from, products, "k"), figures_words(from, products, "library"));
  view_absent(from, products, true, to);
  return good;
}

static double size_of(const figures *from, const figure *shape, const char *metric) {
  return figures_find(from, shapes, shape->source, "", shape->variant, metric)->value;
}

static bool print_shapes(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "format", .metric = VIEW_NAME},
      {.heading = "TFLOP/s",
       .metric = "rate",
       .format = "%.1f",
       .instead = "state",
       .each = true},
      VIEW_SHARES("of first", "share_of_first", "%.0f %%"),
  };
  static const view shown = {.section = shapes, VIEW_COLUMNS(columns)};
  char sizes[3 * TABLE_CELL] = "";
  size_t i, used = 0;
  for (i = 0; i < from->count; ++i) {
    const figure *row = &from->rows[i];
    if (strcmp(row->section, shapes) != 0 || strcmp(row->metric, "m") != 0) continue;
    used += (size_t)snprintf(sizes + used, sizeof sizes - used, "%s %.0f %.0f %.0f",
                             used ? ";" : "", row->value, size_of(from, row, "n"),
                             size_of(from, row, "k"));
  }
  return view_print(&shown, from, to, "\nGPU matrix product by its sizes:%s\n", sizes);
}

static bool print_variants(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "format", .metric = VIEW_NAME},
      {.heading = "TFLOP/s", .metric = "rate", .format = "%.1f", .each = true},
      {.heading = "error", .metric = "error", .format = "%.1e", .each = true},
  };
  static const view shown = {.section = other_products, VIEW_COLUMNS(columns)};
  const bool good =
      view_print(&shown, from, to,
                 "\nGPU matrix product with other results, of f32 where none is "
                 "named; fast: sums of fp8 with\nfewer bits; batch: 8 with an "
                 "eighth of M and of N each.\n");
  view_absent(from, other_products, true, to);
  return good;
}

static bool print_steps(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "M x N x K format", .metric = VIEW_NAME},
      {.heading = "ms", .metric = "time", .format = "%.3f", .instead = "state"},
      {.heading = "x f32", .metric = "speedup", .format = "%.2f"},
      {.heading = "forward", .metric = "forward_time", .format = "%.3f"},
      {.heading = "of x", .metric = "input_gradient_time", .format = "%.3f"},
      {.heading = "of w", .metric = "weight_gradient_time", .format = "%.3f"},
      {.heading = "converting", .metric = "converting_time", .format = "%.3f"},
      {.heading = "error", .metric = "error", .format = "%.1e"},
  };
  static const view shown = {.section = steps, VIEW_COLUMNS(columns)};
  const bool good = view_print(
      &shown, from, to,
      "\nGPU training step of a linear layer y = x w^T, M rows, N outputs, K inputs, and "
      "its parts: the\nproduct forward, the gradients of x and w, and converting x, w "
      "and "
      "the gradient of y from f32.\n");
  view_absent(from, steps, true, to);
  return good;
}

/* The last line. */
static void print_verdict(const figures *from, FILE *to) {
  const char *best = figures_words(from, products, "best");
  const char *bound = figures_words(from, products, "limited_by");
  const double speedup = figures_value(from, products, "best_speedup");
  const char *limited = strcmp(bound, "conversion-bound") == 0 ? "" : "limited by ";
  if (speedup > 1)
    fprintf(to, "\nVerdict: %s, %s %.2f x f32 with converting, error %.1e, %s%s\n", best,
            figures_value(from, products, "best_of_steps") > 0 ? "step" : "product",
            speedup, figures_value(from, products, "best_error"), limited, bound);
  else if (best[0])
    fprintf(to, "\nVerdict: f32; the next, %s, is %.2f x f32 with converting, %s%s\n",
            best, speedup, limited, bound);
}

bool gpu_print(const figures *from, FILE *to) {
  const char *absent = words(from, "missing");
  bool good, first = true;
  if (absent[0]) fprintf(to, "\nGPU: %s\n", absent);
  if (!words(from, "compute_capability")[0]) return true;
  print_device(from, to);
  print_limits(from, to);
  print_clocks(from, "before", to);
  print_clocks(from, "after", to);
  good = print_arrays(from, to) && print_kernels(from, to) && print_sweep(from, to) &&
         print_products(from, to) && print_variants(from, to) && print_shapes(from, to) &&
         print_steps(from, to);
  for (size_t i = 0; i < from->count; ++i) {
    const figure *row = &from->rows[i];
    if (strcmp(row->section, section) != 0 || strcmp(row->metric, "note") != 0) continue;
    fprintf(to, "%sGPU: %s\n", first ? "\n" : "", row->words);
    first = false;
  }
  print_verdict(from, to);
  return good;
}

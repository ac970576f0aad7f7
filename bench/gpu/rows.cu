/* SPDX-License-Identifier: MIT */
/* The rows of `mpnum bench --gpu` one by one, for tools/gpu-run: the most telling first,
 * a line of JSON for each as soon as it is measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.cuh"
#include "measure.cuh"
#include "gpu.h"
#include "work.cuh"

namespace {

const char usage[] =
    "usage: gpu-rows [--list] [--size BYTES] [--rounds N] [--patterns N] [--mnk N] "
    "[NAME...]\n\n"
    "Measures the rows named, or all, and prints lines of JSON for each.\n";

/* What comes first; all others follow as they lie in the tables. */
const char *const telling[] = {"limits",
                               "rms_norm_rows bf16 x 4096",
                               "layer_norm_rows bf16 x 4096",
                               "nvfp4_scale bf16",
                               "softmax_rows f32 x 32768",
                               "softmax_rows f16 x 32768",
                               "grad_pass f32, read alone, 1000 of 64 KiB"};
const char *const quantisers[] = {"quantize", "dequantize"}; /* after conversions */

enum kind { LIMITS, CONVERSION, REDUCTION, KERNEL, PRODUCT };
struct row {
  char name[64];
  kind what;
  unsigned index;
};
enum { MOST_ROWS = 1 + GPU_CONVERSIONS + GPU_REDUCTIONS + GPU_KERNELS + GPU_PRODUCTS };

struct row_list {
  row at[MOST_ROWS];
  unsigned count;
  void add(const char *name, kind what, unsigned index) {
    for (unsigned i = 0; i < count; ++i)
      if (strcmp(at[i].name, name) == 0) return;
    snprintf(at[count].name, sizeof at[count].name, "%s", name);
    at[count].what = what;
    at[count++].index = index;
  }
};

void add_kernels(row_list *list, const char *prefix) {
  char name[sizeof list->at[0].name];
  for (unsigned i = 0; gpu_kernel_name(i, name, sizeof name); ++i)
    if (strncmp(name, prefix, strlen(prefix)) == 0) list->add(name, KERNEL, i);
}

/* Packed forms come last among conversions. */
void add_conversions(row_list *list) {
  static const char *const packed[] = {"e3m2 packed", "e2m3 packed", "e2m1 packed"};
  char name[sizeof list->at[0].name];
  unsigned index = 0;
#define ADD_CONVERSION(format, NAME, sign, exponent, mantissa, bias, specials, nan) \
 snprintf(name, sizeof name, "convert f32 and %s", #format);                        \
 list->add(name, CONVERSION, index++);
  MPNUM_FORMATS(ADD_CONVERSION)
#undef ADD_CONVERSION
  for (const char *format : packed) {
    snprintf(name, sizeof name, "convert f32 and %s", format);
    list->add(name, CONVERSION, index++);
  }
}

void make_list(row_list *list) {
  char name[sizeof list->at[0].name];
  list->count = 0;
  list->add(telling[0], LIMITS, 0);
  for (const char *first : telling)
    add_kernels(list, first);
  add_conversions(list);
  for (const char *prefix : quantisers)
    add_kernels(list, prefix);
  for (unsigned i = 0; i < GPU_PRODUCTS; ++i) {
    snprintf(name, sizeof name, "product %s", gpu_format_rows[i].name);
    list->add(name, PRODUCT, i);
  }
  add_kernels(list, "");
  for (unsigned i = 0; i < GPU_REDUCTIONS; ++i) {
    static const char *const operations[] = {"all_finite", "amax", "stats"};
    static const char *const types[] = {"f32", "f16", "bf16"};
    snprintf(name, sizeof name, "%s %s", operations[i / 3], types[i % 3]);
    list->add(name, REDUCTION, i);
  }
}

/* Lines. Texts have no characters that JSON escapes but these. */
void put_text(const char *key, const char *text) {
  printf(", \"%s\": \"", key);
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    putchar(*text);
  }
  putchar('"');
}
void put_number(const char *key, double value) {
  if (isfinite(value)) printf(", \"%s\": %.9g", key, value);
}
void begin_line(const char *row, const char *part) {
  printf("{\"row\": \"%s\"", row);
  if (*part) put_text("part", part);
}
bool put_state(gpu_state state, const char *why) {
  static const char *const names[] = {"NOT_RUN", "MEASURED", "UNSUPPORTED", "FAILED"};
  put_text("state", names[state]);
  if (*why) put_text("why", why);
  return state == GPU_MEASURED;
}
/* What is on the disk stays there. */
void end_line() {
  printf("}\n");
  fflush(stdout);
}

void put_time(gpu_time time) {
  put_number("us", 1000 * time.ms);
  put_number("noise", time.noise);
}
void put_speed(const gpu_speed &speed, gpu_bound bound, const gpu_match &match) {
  static const char *const bounds[] = {"copy", "read", "time"};
  put_time(speed.time);
  put_text("bound", bounds[bound]);
  if (bound != GPU_BY_TIME) {
    put_number("rate", speed.rate);
    put_number("limit", speed.limit);
  }
  put_number("checked", static_cast<double>(match.checked));
  put_number("wrong", static_cast<double>(match.wrong));
}

void put_limits(const row &of, const gpu_limits &found) {
  const struct {
    const char *part, *shape;
    double rate;
  } parts[] = {{"cudaMemcpy", "", found.api},
               {"copy", found.copy_shape, found.copy},
               {"read", found.read_shape, found.read}};
  for (const auto &part : parts) {
    begin_line(of.name, part.part);
    put_state(GPU_MEASURED, "");
    put_number("rate", part.rate);
    if (part.shape && *part.shape) put_text("shape", part.shape);
    end_line();
  }
}

void measure_limits(gpu_run *run, const row &of) {
  gpu_state state = GPU_MEASURED;
  char text[sizeof run->why.text];
  if (gpu_measure_limits(run)) return put_limits(of, run->results->limits);
  run->fail(&state, text, sizeof text);
  begin_line(of.name, "");
  put_state(state, text);
  end_line();
}

void measure_conversion(gpu_run *run, const row &of) {
  const gpu_conversion &found = run->results->conversions[of.index];
  gpu_measure_conversion(run, of.index);
  for (int part = 0; part < 2; ++part) {
    begin_line(of.name, part ? "decode" : "encode");
    if (put_state(found.state, found.why)) {
      put_text("path", found.hardware ? "hardware" : "software");
      put_speed(part ? found.decode : found.encode, GPU_BY_COPY,
                part ? found.decode_match : found.encode_match);
    }
    end_line();
  }
}

void measure_product(gpu_run *run, const row &of) {
  const gpu_product &found = run->results->products[of.index];
  const unsigned notes = run->results->note_count;
  const gpu_plan &plan = run->results->plan;
  gpu_measure_product(run, of.index);
  begin_line(of.name, "");
  const bool is_noted = found.state == GPU_NOT_RUN && run->results->note_count > notes;
  const char *why = is_noted ? run->results->notes[notes] : found.why;
  if (put_state(found.state, why)) {
    put_time(found.product);
    put_number("with_converting_us", 1000 * found.total.ms);
    put_number("tflops", gpu_tflops(plan.m, plan.n, plan.k, found.product));
    put_number("error", found.error);
    put_text("library", run->results->blas);
  }
  end_line();
}

void measure_row(gpu_run *run, const row &of) {
  printf("{\"begin\": \"%s\"}\n", of.name); /* what hangs has been named */
  fflush(stdout);
  if (of.what == LIMITS) return measure_limits(run, of);
  if (of.what == CONVERSION) return measure_conversion(run, of);
  if (of.what == PRODUCT) return measure_product(run, of);
  if (of.what == KERNEL) {
    run->results->kernel_count = 0;
    const gpu_kernel &found = *gpu_measure_kernel(run, of.index);
    begin_line(of.name, "");
    if (put_state(found.state, found.why))
      put_speed(found.speed, found.bound, found.match);
    return end_line();
  }
  const gpu_reduction &found = run->results->reductions[of.index];
  gpu_measure_reduction(run, of.index);
  begin_line(of.name, "");
  if (put_state(found.state, found.why)) put_speed(found.speed, GPU_BY_READ, found.match);
  end_line();
}

void put_device(const gpu_results &found) {
  const gpu_device &gpu = found.device;
  printf("{\"device\": \"%s\", \"capability\": \"%d.%d\", \"code\": \"%d.%d\"", gpu.name,
         gpu.major, gpu.minor, gpu.code_major, gpu.code_minor);
  put_number("multiprocessors", gpu.multiprocessors);
  put_number("memory", gpu.memory);
  put_number("l2", gpu.cache);
  put_number("driver", gpu.driver);
  put_number("runtime", gpu.runtime);
  put_number("size", static_cast<double>(found.plan.size));
  put_number("rounds", found.plan.rounds);
  end_line();
}

struct asked {
  bool lists;
  uint64_t size, rounds, patterns, mnk;
  int first; /* argument that is a name */
};

bool read_arguments(int count, char **arguments, asked *made) {
  const struct {
    const char *name;
    uint64_t *value, least, most;
  } numbers[] = {{"--size", &made->size, 64 << 10, uint64_t{16} << 30},
                 {"--rounds", &made->rounds, 1, GPU_ROUNDS_LIMIT},
                 {"--patterns", &made->patterns, 1, uint64_t{1} << 32},
                 {"--mnk", &made->mnk, 16, 65536}};
  int i = 1;
  made->size = uint64_t{256} << 20;
  made->rounds = 21;
  made->patterns = 1 << 22;
  made->mnk = 4096;
  for (; i < count && arguments[i][0] == '-'; ++i) {
    bool is_known = strcmp(arguments[i], "--list") == 0;
    made->lists = made->lists || is_known;
    for (const auto &number : numbers) {
      if (strcmp(arguments[i], number.name) != 0 || i + 1 == count) continue;
      *number.value = strtoull(arguments[++i], nullptr, 10);
      if (*number.value < number.least || *number.value > number.most) return false;
      is_known = true;
      break;
    }
    if (!is_known) return false;
  }
  made->first = i;
  return made->size % (32 << 10) == 0; /* whole tiles of a copy */
}

bool is_named(const row &one, int count, char **arguments, int first) {
  for (int i = first; i < count; ++i)
    if (strcmp(arguments[i], one.name) == 0) return true;
  return first == count;
}

gpu_plan plan_of(const asked &how) {
  gpu_plan made = gpu_plan();
  made.all = true;
  made.size = how.size;
  made.rounds = static_cast<unsigned>(how.rounds);
  made.patterns = how.patterns;
  made.m = made.n = made.k = how.mnk;
  return made;
}

int measure(const asked &how, const row_list &list, int count, char **arguments) {
  static gpu_results results;
  progress bar;
  memset(&bar, 0, sizeof bar);
  results.plan = plan_of(how);
  if (!gpu_find(&results)) {
    fprintf(stderr, "gpu-rows: %s\n", results.absent);
    return 77;
  }
  gpu_run run(&results, &bar);
  if (!run.open()) {
    fprintf(stderr, "gpu-rows: nothing can be measured: %s\n", run.why.text);
    return 1;
  }
  put_device(results);
  /* Rows are held against the best copy, which is found anew where it is no row. */
  if (!is_named(list.at[0], count, arguments, how.first)) {
    gpu_state state;
    char text[sizeof run.why.text];
    if (!gpu_measure_limits(&run)) run.fail(&state, text, sizeof text);
  }
  for (unsigned i = 0; i < list.count && !run.is_lost; ++i) {
    if (is_named(list.at[i], count, arguments, how.first)) measure_row(&run, list.at[i]);
  }
  return run.is_lost || results.failed ? 1 : 0;
}

} // namespace

int main(int count, char **arguments) {
  static row_list list;
  asked how = asked();
  if (!read_arguments(count, arguments, &how)) {
    fputs(usage, stderr);
    return 2;
  }
  make_list(&list);
  if (!how.lists) return measure(how, list, count, arguments);
  for (unsigned i = 0; i < list.count; ++i)
    puts(list.at[i].name);
  return 0;
}

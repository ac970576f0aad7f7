/* SPDX-License-Identifier: MIT */
/* The GPU's results of the benchmark, made up: what follows from them, and with an
 * argument (text, json, csv, svg) the report of them on stdout, for test_bench_gpu.py. */
#include "../../bench/gpu/gpu.h"
#include "../../bench/sections/sections.h"

#include <folders.h> /* of the build folder */
#include <math.h>
#include <string.h>

#include "../harness/tap.h"

static void verdicts_change_at_their_thresholds(void) {
  static const struct {
    double speedup;
    const char *verdict;
  } want[] = {{0.5, "stay"},     {1.0, "stay"},         {1.0999, "stay"},
              {1.1, "optional"}, {1.5, "optional"},     {1.5001, "use"},
              {2.5, "use"},      {2.5001, "excellent"}, {10, "excellent"},
              {(double)NAN, "-"}};
  for (size_t i = 0; i < sizeof want / sizeof *want; ++i)
    CHECK(strcmp(gpu_verdict(want[i].speedup), want[i].verdict) == 0, "%g: %s",
          want[i].speedup, gpu_verdict(want[i].speedup));
}

static void times_are_medians_with_their_spread(void) {
  double odd[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
  gpu_time time = gpu_time_of(odd, 5);
  CHECK(time.ms == 3 && time.noise == 1.0 / 3, "%g %g", time.ms, time.noise);
  time = gpu_time_of(even, 4); /* quartiles 1.75 and 3.25 */
  CHECK(time.ms == 2.5 && fabs(time.noise - 0.3) < 1e-15, "%g %g", time.ms, time.noise);
  time = gpu_time_of(one, 1);
  CHECK(time.ms == 7 && time.noise == 0, "%g %g", time.ms, time.noise);
  CHECK(isnan(gpu_time_of(one, 0).ms), "of no sample");
}

static void rates_count_two_operations_for_each_product(void) {
  const gpu_time time = {2, 0};
  /* 2 * 1000 * 2000 * 3000 in 2 ms. */
  CHECK(fabs(gpu_tflops(1000, 2000, 3000, time) - 6) < 1e-12, "%g",
        gpu_tflops(1000, 2000, 3000, time));
}

static void notes_are_kept_up_to_the_last(void) {
  static gpu_results found;
  for (int i = 0; i < GPU_NOTES + 3; ++i)
    gpu_note(&found, "note\n%d", i);
  CHECK(found.note_count == GPU_NOTES, "%u", found.note_count);
  CHECK(strcmp(found.notes[GPU_NOTES - 1], "note?15") == 0, "%s",
        found.notes[GPU_NOTES - 1]);
}

static void a_speed_up_needs_a_measured_f32(void) {
  static gpu_results found;
  const gpu_time ten = {10, 0}, four = {4, 0};
  found.product_count = 2;
  found.products[0].name = "f32";
  found.products[0].product = found.products[0].total = ten;
  found.products[1].name = "f16";
  found.products[1].product = found.products[1].total = four;
  found.products[1].state = GPU_MEASURED;
  CHECK(isnan(gpu_speedup(&found, &found.products[1])), "f32 is not measured");
  found.products[0].state = GPU_MEASURED;
  CHECK(gpu_speedup(&found, &found.products[1]) == 2.5, "%g",
        gpu_speedup(&found, &found.products[1]));
  found.products[1].state = GPU_UNSUPPORTED;
  CHECK(isnan(gpu_total_speedup(&found, &found.products[1])), "f16 is not measured");
}

static void code_of_another_target_is_told(void) {
  static const struct {
    int major, minor, code_major, code_minor;
    bool has_small;
    const char *want; /* NULL: nothing */
  } cases[] = {
      {9, 0, 9, 0, false, NULL},
      {10, 0, 10, 0, true, NULL},
      {8, 9, 8, 0, false,
       "compute capability 8.9 runs code compiled for 8.0; its own is built with "
       "-Dgpu_arch=89"},
      {12, 0, 9, 0, false,
       "compute capability 12.0 runs code compiled for 9.0; its own is built with "
       "-Dgpu_arch=120a"},
      {12, 0, 12, 0, false,
       "compute capability 12.0 runs code compiled for 12.0 without its own "
       "instructions; its own is built with -Dgpu_arch=120a"}};
  static gpu_results found;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    found.note_count = 0;
    found.device.major = cases[i].major;
    found.device.minor = cases[i].minor;
    found.device.code_major = cases[i].code_major;
    found.device.code_minor = cases[i].code_minor;
    gpu_note_code(&found, cases[i].has_small);
    CHECK(found.note_count == (cases[i].want != NULL), "case %zu", i);
    if (cases[i].want)
      CHECK(strcmp(found.notes[0], cases[i].want) == 0, "%s", found.notes[0]);
  }
}

/* 2^28 values that are read twice and become 8 bits, 9 bytes each: 2.416 ms at 1000 GB/s.
 */
static void what_limits_a_format_is_told(void) {
  static gpu_results found;
  static const struct {
    double products, converting;
    const char *want;
  } cases[] = {
      {10, 1, "the products"},       {10, 2.7, "the products"},
      {10, 3.1, "conversion-bound"}, {2, 2.5, "converting, at copy speed"},
      {2, 3.5, "conversion-bound"},  {18, 2, "conversion-bound"}, /* 2 ms are saved */
      {25, 0, "the products"}};
  const gpu_cost f32 = {"f32", 20, 0, 20, 0, 0};
  found.limits.copy = 1000;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const gpu_cost cost = {"e4m3",
                           cases[i].products,
                           cases[i].converting,
                           cases[i].products + cases[i].converting,
                           9.0 * (1 << 28),
                           0};
    CHECK(strcmp(gpu_bound_of(&found, &f32, &cost), cases[i].want) == 0, "%g and %g: %s",
          cost.products, cost.converting, gpu_bound_of(&found, &f32, &cost));
  }
}

static void add_step(gpu_results *found, const char *name, unsigned shape, double whole,
                     double error) {
  gpu_step *row = &found->steps[found->step_count++];
  row->name = name;
  row->shape = shape;
  row->state = GPU_MEASURED;
  for (int i = 0; i < GPU_STEP_PARTS; ++i)
    row->parts[i].ms = whole / 4;
  row->converting.ms = whole / 4;
  row->whole.ms = whole;
  row->whole.noise = 0.004;
  row->bytes = 1e9;
  row->error = error;
}

/* 10 + 30 ms of f32, 8 + 12 of bf16; of e4m3 a shape is missing. */
static void the_fastest_is_that_of_all_shapes(void) {
  static gpu_results found;
  gpu_cost f32, best;
  CHECK(!gpu_fastest(&found, &f32, &best), "nothing is measured");
  found.product_count = 3;
  found.products[0].name = "f32";
  found.products[1].name = "bf16";
  found.products[2].name = "e4m3";
  found.plan.step_shapes = 2;
  add_step(&found, "f32", 0, 10, 1e-7);
  add_step(&found, "f32", 1, 30, 2e-7);
  add_step(&found, "e4m3", 0, 1, 0.04);
  CHECK(!gpu_fastest(&found, &f32, &best), "only f32 is measured at all shapes");
  add_step(&found, "bf16", 0, 8, 0.003);
  add_step(&found, "bf16", 1, 12, 0.002);
  CHECK(gpu_fastest(&found, &f32, &best) && strcmp(best.name, "bf16") == 0, "bf16");
  CHECK(f32.whole == 40 && best.whole == 20 && best.products == 15 &&
            best.converting == 5 && best.bytes == 2e9 && best.error == 0.003,
        "%g of %g ms, %g and %g, error %g", best.whole, f32.whole, best.products,
        best.converting, best.error);
  CHECK(gpu_step_speedup(&found, &found.steps[4]) == 2.5, "%g",
        gpu_step_speedup(&found, &found.steps[4]));
}

static gpu_speed speed_of(double ms, double bytes) {
  gpu_speed made;
  made.time.ms = ms;
  made.time.noise = 0.01;
  made.rate = bytes / (ms * 1e6);
  made.limit = 4000;
  return made;
}

static void make_arrays(gpu_results *found) {
  static const mpnum_type packed[] = {MPNUM_TYPE_E3M2, MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  static const char *const operations[] = {"all_finite", "amax", "stats"};
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
  found->conversion_count = GPU_CONVERSIONS;
  for (unsigned i = 0; i < GPU_CONVERSIONS; ++i) {
    gpu_conversion *row = &found->conversions[i];
    row->state = GPU_MEASURED;
    row->packed = i >= FORMAT_COUNT;
    row->type = row->packed ? packed[i - FORMAT_COUNT] : bench_formats[i].type;
    row->hardware = i < 3;
    row->bytes = 1;
    row->encode = speed_of(0.1 + 0.01 * i, 335544320);
    row->decode = speed_of(0.09 + 0.01 * i, 335544320);
    row->encode_match.checked = 1 << 24;
    row->encode_match.wrong = i == 4 ? 7 : 0;
    row->decode_match.checked = 256;
  }
  found->reduction_count = GPU_REDUCTIONS;
  for (unsigned i = 0; i < GPU_REDUCTIONS; ++i) {
    gpu_reduction *row = &found->reductions[i];
    row->state = GPU_MEASURED;
    row->operation = operations[i / 3];
    row->type = types[i % 3];
    row->speed = speed_of(0.07, 268435456);
    row->match.checked = 19;
  }
}

static void make_kernels(gpu_results *found) {
  static const struct {
    const char *name;
    gpu_bound bound;
  } kinds[] = {{"softmax_rows f32 x 4096", GPU_BY_COPY},
               {"histogram f32", GPU_BY_READ},
               {"grad_step", GPU_BY_TIME},
               {"softmax_rows f16 x 32768", GPU_BY_COPY}};
  for (unsigned i = 0; i < 4; ++i) {
    gpu_kernel *row = &found->kernels[found->kernel_count++];
    snprintf(row->name, sizeof row->name, "%s", kinds[i].name);
    row->bound = kinds[i].bound;
    row->bytes = 268435456;
    row->speed = speed_of(0.1, row->bytes);
    row->state = GPU_MEASURED;
    row->match.checked = i == 2 ? 0 : 1000;
    row->match.wrong = i == 1 ? 3 : 0;
  }
  found->kernels[3].state = GPU_NOT_RUN;
  snprintf(found->kernels[3].why, sizeof found->kernels[3].why,
           "a row is longer than the arrays");
  for (unsigned i = 0; i < 2; ++i) {
    gpu_sweep_row *row = &found->sweep[found->sweep_count++];
    row->operation = "f32 to e4m3";
    row->size = i ? 256 << 20 : 4 << 10;
    row->bytes = 1.25 * (double)row->size;
    row->launches = i ? 1 : 256;
    row->warm.ms = i ? 0.1 : 0.002;
    row->cold.ms = 2 * row->warm.ms;
    row->warm.noise = row->cold.noise = 0.01;
  }
}

static void make_limits(gpu_results *found) {
  static const gpu_limits limits = {
      4000, 4200, 4400, "64 bytes a thread", "128 bytes a thread, one wave", 412, true};
  found->limits = limits;
  found->before.sm = 1980;
  found->before.sm_limit = 1980;
  found->before.memory = found->before.memory_limit = 2619;
  found->before.power = 640.4;
  found->before.power_limit = 700;
  found->before.celsius = 58;
  snprintf(found->before.reasons, sizeof found->before.reasons, "power cap");
  snprintf(found->after.missing, sizeof found->after.missing, "NVML does not start");
}

static void make_product(gpu_product *row, const char *name, double bits, double ms,
                         double total, double error) {
  row->name = name;
  row->bits = bits;
  row->state = GPU_MEASURED;
  row->product.ms = ms;
  row->total.ms = total;
  row->product.noise = row->total.noise = 0.004;
  row->error = error;
  row->bytes = 1e9;
  for (int i = 0; i < GPU_SHAPES; ++i) {
    row->variants[i].state = GPU_MEASURED;
    row->variants[i].time.ms = ms * (1 + i);
    row->variants[i].time.noise = 0.004;
    row->variants[i].error = error;
  }
}

/* Another result, sums or a batch. */
static void make_variant(gpu_product *row, int index, double ms, double error) {
  gpu_part *part = &row->variants[index];
  part->state = GPU_MEASURED;
  part->time.ms = ms;
  part->time.noise = 0.004;
  part->error = error;
}

static void fail_product(gpu_product *row, const char *name, gpu_state state,
                         const char *why) {
  row->name = name;
  row->bits = 8;
  row->state = state;
  gpu_set_text(row->why, sizeof row->why, why);
  for (int i = 0; i < GPU_SHAPES; ++i)
    row->variants[i].state = state;
}

static void make_steps(gpu_results *found) {
  static const uint64_t mnk[2][3] = {{4096, 4096, 4096}, {65536, 65536, 16384}};
  found->plan.step_shapes = 2;
  memcpy(found->plan.steps, mnk, sizeof mnk);
  for (unsigned shape = 0; shape < 2; ++shape) {
    add_step(found, "f32", shape, shape ? 900 : 30, 3e-7);
    add_step(found, "bf16", shape, shape ? 300 : 12, 3e-3);
    add_step(found, "e4m3 delayed", shape, shape ? 180 : 8, 4e-2);
  }
  add_step(found, "nvfp4", 0, 1, 0.1);
  gpu_step *wrong = &found->steps[found->step_count - 1];
  wrong->state = GPU_FAILED;
  gpu_set_text(wrong->why, sizeof wrong->why, "cuBLASLt: internal error");
}

static void make_results(gpu_results *found) {
  static const gpu_variant variants[GPU_VARIANTS] = {
      {"multiples of 16", 4096, 4096, 4096, 1},
      {"multiples of 8", 4104, 4104, 4104, 1},
      {"odd", 4097, 4097, 4097, 1},
      {"f16 result", 4096, 4096, 4096, 1},
      {"bf16 result", 4096, 4096, 4096, 1},
      {"fast", 4096, 4096, 4096, 1},
      {"fast, bf16", 4096, 4096, 4096, 1},
      {"batch of 8", 512, 512, 4096, 8}};
  static const gpu_device device = {
      "Fake \"GPU\" <&> 1", 9, 0, 9, 0, 132, 150e9, 50e6, 13000, 12080, 1,
      "0000:01:00.0"};
  gpu_product *rows = found->products;
  found->device = device;
  found->plan.size = 256 << 20;
  found->plan.rounds = 21;
  found->plan.patterns = 1 << 24;
  found->plan.m = found->plan.n = found->plan.k = 4096;
  make_limits(found);
  make_arrays(found);
  make_kernels(found);
  gpu_set_text(found->blas, sizeof found->blas, "cuBLASLt 13.1.0");
  memcpy(found->variants, variants, sizeof variants);
  found->product_count = GPU_PRODUCTS;
  make_product(&rows[0], "f32", 32, 10, 10, 3e-7);
  make_product(&rows[1], "tf32", 19, 9, 9.5, 4e-4);
  make_product(&rows[2], "f16", 16, 4, 8, 3e-4);
  make_product(&rows[3], "bf16", 16, 4, 5, 2.5e-3);
  make_product(&rows[4], "e4m3", 8, 2, 3, 3.5e-2);
  make_product(&rows[5], "e4m3 delayed", 8, 2, 2.5, 3.5e-2);
  memset(rows[5].variants, 0, sizeof rows[5].variants); /* those of e4m3 */
  make_variant(&rows[2], 3, 3.5, 4e-4);
  make_variant(&rows[4], 4, 1.8, 3.6e-2);
  make_variant(&rows[4], 6, 1.5, 3.7e-2);
  make_variant(&rows[4], 7, 0.5, 3.5e-2);
  fail_product(&rows[6], "e5m2 e4m3", GPU_UNSUPPORTED, "needs compute capability 8.9");
  fail_product(&rows[7], "mxfp8", GPU_UNSUPPORTED, "needs compute capability 10.0");
  fail_product(&rows[8], "nvfp4", GPU_FAILED, "cuBLASLt: internal error");
  make_steps(found);
  gpu_note(found, "arrays of 131072 KiB: memory for 262144 KiB is not free");
}

static int write_report(const char *kind) {
  static gpu_results found;
  static report about;
  bool good = false;
  gpu_set_text(about.cpu, sizeof about.cpu, "a CPU");
  make_results(&found);
  gpu_measure_torch(&found); /* what TORCH_PYTHON names */
  gpu_figures(&about.found, &found);
  if (strcmp(kind, "text") == 0) good = sections_print(&about, stdout);
  if (strcmp(kind, "json") == 0) good = report_json(&about, stdout);
  if (strcmp(kind, "csv") == 0) good = report_csv(&about, stdout);
  if (strcmp(kind, "svg") == 0) good = report_svg(&about, stdout);
  good = good && !about.found.failed;
  figures_free(&about.found);
  return !good;
}

/* What is named for the shipped sample's weights on a GPU of this capability. */
static const char *named_for(figures *to, const input *file, const char *capability,
                             bool are_asked) {
  if (capability) {
    figures_at(to, "gpu", "made up", "", "");
    figures_say(to, "compute_capability", "%s", capability);
  }
  CHECK(answer_choose(to, file, 1, are_asked), "the sample was not read");
  const figure *found = figures_find(to, "advice", "weights", "", "", "block_format");
  return found ? found->words : "nothing";
}

static void block_formats_are_those_of_the_gpu_or_asked_for(void) {
  static const struct {
    const char *capability;
    bool are_asked;
    const char *want;
  } cases[] = {{NULL, false, "nothing"},   {"8.9", false, "nothing"},
               {"9.0", false, "deepseek"}, {"10.0", false, "mx_e2m3"},
               {"12.0", false, "mx_e2m3"}, {NULL, true, "mx_e2m3"},
               {"9.0", true, "mx_e2m3"}};
  input file;
  refusal why;
  const bool is_open =
      input_open(&file, BENCH_SOURCE_ROOT "/bench/input/sample/digits.safetensors", &why);
  CHECK(is_open, "%s", why.text);
  for (size_t i = 0; is_open && i < sizeof cases / sizeof *cases; ++i) {
    figures found;
    memset(&found, 0, sizeof found);
    const char *named = named_for(&found, &file, cases[i].capability, cases[i].are_asked);
    CHECK(strcmp(named, cases[i].want) == 0, "%s: %s",
          cases[i].capability ? cases[i].capability : "no GPU", named);
    figures_free(&found);
  }
  if (is_open) input_close(&file);
}

/* 24, with the three that print_answer of sections.c adds. */
static void the_first_screen_has_room_for_block_formats(void) {
  static const char *const kinds[] = {"weights", "activations", "gradients", "values"};
  figures found;
  FILE *to = tmpfile();
  char line[256];
  int lines = 0, k, has_blocks = 0;
  memset(&found, 0, sizeof found);
  figures_at(&found, "advice", "", "", "");
  figures_say(&found, "line", "%s", "1 with fewer than 1024 values decide nothing");
  for (k = 0; k < 4; ++k) {
    figures_at(&found, "advice", kinds[k], "e4m3", "");
    figures_add(&found, "sqnr", 31.5, "dB");
    figures_say(&found, "why_not", "%s", "lost");
    figures_at(&found, "advice", kinds[k], "", "");
    figures_add(&found, "tensors", 1, "");
    figures_add(&found, "small", 1, "");
    figures_add(&found, "empty", 0, "");
    figures_say(&found, "format", "%s", "f32");
    figures_say(&found, "line", "%s", "a line");
    figures_say(&found, "block_format", "%s", "mx_e4m3");
  }
  CHECK(to != NULL, "no temporary file");
  if (!to) return;
  answer_print(&found, false, to);
  rewind(to);
  for (; fgets(line, sizeof line, to); ++lines) {
    has_blocks += strncmp(line, "in blocks ", 10) == 0;
    CHECK(strlen(line) <= 81, "%s", line);
  }
  CHECK(lines + 3 <= 24 && has_blocks == 1, "%d lines", lines);
  fclose(to);
  figures_free(&found);
}

int main(int argc, char **argv) {
  if (argc > 1) return write_report(argv[1]);
  TAP_RUN(verdicts_change_at_their_thresholds);
  TAP_RUN(times_are_medians_with_their_spread);
  TAP_RUN(rates_count_two_operations_for_each_product);
  TAP_RUN(notes_are_kept_up_to_the_last);
  TAP_RUN(a_speed_up_needs_a_measured_f32);
  TAP_RUN(code_of_another_target_is_told);
  TAP_RUN(what_limits_a_format_is_told);
  TAP_RUN(the_fastest_is_that_of_all_shapes);
  TAP_RUN(block_formats_are_those_of_the_gpu_or_asked_for);
  TAP_RUN(the_first_screen_has_room_for_block_formats);
  return tap_done();
}

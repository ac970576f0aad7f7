/* SPDX-License-Identifier: MIT */
/* What is lost in products of a tensor's rows: by rounding elements to a format, and by
 * the sums of GPUs, which only those show otherwise (hardware/product.h). */
#include "sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/core/query.h>
#include <mpnum/core/rng.h>
#include <mpnum/hardware/product.h>

#include "../core/formats.h"
#include "../report/view.h"
#include "../verdict/verdict.h"

enum { ROWS = 8, RESULTS = ROWS * ROWS, SEED = 36, LENGTHS = 4, MOST = 16384 };
static const char section[] = "product";

/* A format, and who sums, promoted to f32 after so many products or not. */
typedef struct summing {
  mpnum_type type;
  const char *unit;
  unsigned promotion;
} summing;
static const summing summings[] = {
    {MPNUM_TYPE_F32, "f32", 0},           {MPNUM_TYPE_F16, "exact", 0},
    {MPNUM_TYPE_F16, "f32", 0},           {MPNUM_TYPE_F16, "v100.f16", 0},
    {MPNUM_TYPE_F16, "a100.f16", 0},      {MPNUM_TYPE_F16, "h100.f16", 0},
    {MPNUM_TYPE_F16, "h100.f16.f16", 0},  {MPNUM_TYPE_F16, "h100.f16.f16", 128},
    {MPNUM_TYPE_F16, "mi300.f16", 0},     {MPNUM_TYPE_BF16, "exact", 0},
    {MPNUM_TYPE_BF16, "a100.bf16", 0},    {MPNUM_TYPE_BF16, "h100.bf16", 0},
    {MPNUM_TYPE_BF16, "mi300.bf16", 0},   {MPNUM_TYPE_E4M3, "exact", 0},
    {MPNUM_TYPE_E4M3, "ada.fp8", 0},      {MPNUM_TYPE_E4M3, "h100.fp8", 0},
    {MPNUM_TYPE_E4M3, "h100.fp8", 128},   {MPNUM_TYPE_E4M3, "b200.fp8", 0},
    {MPNUM_TYPE_E5M2, "exact", 0},        {MPNUM_TYPE_E5M2, "h100.fp8", 0},
    {MPNUM_TYPE_E5M2, "h100.fp8", 128},   {MPNUM_TYPE_E4M3FNUZ, "exact", 0},
    {MPNUM_TYPE_E4M3FNUZ, "mi300.fp8", 0}};
enum { SUMMINGS = sizeof summings / sizeof *summings };

/* Rows of both sides, and results. */
typedef struct work {
  float values[2][ROWS * MOST], scaled[ROWS * MOST];
  unsigned char codes[2][ROWS * MOST * 4];
  double exact[RESULTS], rounded[RESULTS], found[RESULTS];
} work;

/* Rows spread over the tensor; where one is shorter, what follows it goes on. Inf and NaN
 * become 0. */
static bool read_rows(const input *file, const tensor *values, uint64_t rows,
                      uint64_t columns, size_t length, float *dst, refusal *why) {
  for (uint64_t r = 0; r < ROWS; ++r) {
    uint64_t at = r * rows / ROWS * columns;
    for (size_t done = 0, n; done < length; done += n) {
      n = length - done < values->count - at ? length - done
                                             : (size_t)(values->count - at);
      if (!input_floats(file, values, at, dst + r * length + done, n, why)) return false;
      at = (at + n) % values->count;
    }
  }
  for (size_t i = 0; i < ROWS * length; ++i)
    dst[i] = isfinite(dst[i]) ? dst[i] : 0;
  return true;
}
/* Nearly normal, whatever the tensor. */
static void draw_rows(float *dst, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    double sum = -6;
    for (uint64_t k = 0; k < 12; ++k)
      sum += (double)mpnum_random(SEED, 12 * (uint64_t)i + k) * 0x1p-32;
    dst[i] = (float)sum;
  }
}
static float amax_of(const float *values, size_t count) {
  float amax = 0;
  for (size_t i = 0; i < count; ++i)
    amax = fabsf(values[i]) > amax ? fabsf(values[i]) : amax;
  return amax;
}
/* As a unit takes them; returns the power of two that the values were multiplied by: of 8
 * bits the one that brings them just below a quarter of the largest. */
static double put_rows(work *at, int side, size_t count, mpnum_type type) {
  const double max = (double)mpnum_format_max(mpnum_format_of(type)) / 4;
  const double amax = (double)amax_of(at->values[side], count);
  double scale = 1;
  if (format_bits(mpnum_format_of(type)) == 8 && amax > 0)
    scale = ldexp(1, (int)floor(log2(max / amax)));
  for (size_t i = 0; i < count; ++i)
    at->scaled[i] = (float)((double)at->values[side][i] * scale);
  if (type == MPNUM_TYPE_F32) memcpy(at->codes[side], at->scaled, count * sizeof(float));
  for (int k = 0; k < FORMAT_COUNT; ++k)
    if (bench_formats[k].type == type)
      bench_formats[k].encode(at->codes[side], at->scaled, count);
  return scale;
}
static bool multiply_as(double *dst, const char *name, unsigned promotion,
                        mpnum_type type, const void *a, const void *b, size_t length) {
  mpnum_product_unit unit = mpnum_product_unit_of(name);
  unit.promotion = promotion;
  return mpnum_product(
             mpnum_matrix_of(MPNUM_TYPE_F64, dst, ROWS, ROWS), unit,
             mpnum_product_operand_of(mpnum_const_matrix_of(type, a, ROWS, length)),
             mpnum_product_operand_of(mpnum_const_matrix_of(type, b, ROWS, length)),
             NULL) == MPNUM_OK;
}
/* Of results times a scale, beside what they should be. */
static void compare(figures *to, const work *at, double scale) {
  double signal = 0, noise = 0, sums = 0, worst = 0;
  for (size_t i = 0; i < RESULTS; ++i) {
    const double error = at->found[i] / scale - at->exact[i];
    const double lost = (at->found[i] - at->rounded[i]) / scale;
    signal += at->exact[i] * at->exact[i];
    noise += error * error;
    sums += lost * lost;
    worst = fabs(error) > worst ? fabs(error) : worst;
  }
  if (!(signal > 0)) return;
  figures_add(to, "sqnr", sqnr_of(signal, noise), "dB");
  figures_add(to, "sums_sqnr", sqnr_of(signal, sums), "dB");
  figures_add(to, "worst", worst / sqrt(signal / RESULTS), "");
}
static bool measure_length(figures *to, const char *source, work *at, size_t length) {
  bool good = multiply_as(at->exact, "exact", 0, MPNUM_TYPE_F32, at->values[0],
                          at->values[1], length);
  double scale = 1;
  char variant[32];
  snprintf(variant, sizeof variant, "K = %zu", length);
  for (size_t k = 0; k < SUMMINGS && good; ++k) {
    const summing *const by = &summings[k];
    char name[64];
    if (k == 0 || by->type != summings[k - 1].type) {
      scale = put_rows(at, 0, ROWS * length, by->type);
      scale *= put_rows(at, 1, ROWS * length, by->type);
      good = multiply_as(at->rounded, "exact", 0, by->type, at->codes[0], at->codes[1],
                         length);
    }
    good = good && multiply_as(at->found, by->unit, by->promotion, by->type, at->codes[0],
                               at->codes[1], length);
    snprintf(name, sizeof name, by->promotion ? "%s %s +%u" : "%s %s",
             mpnum_type_name(by->type), by->unit, by->promotion);
    figures_at(to, section, source, name, variant);
    compare(to, at, scale);
  }
  return good;
}
static bool measure_tensor(figures *to, const input *file, const tensor *values, work *at,
                           refusal *why) {
  const char *const source = tensor_begin(to, section, file->path, values->name);
  size_t lengths[LENGTHS] = {0, 1024, 4096, MOST};
  uint64_t rows, columns;
  row about;
  memset(&about, 0, sizeof about);
  about.values = values;
  matrix_of(&about, &rows, &columns);
  lengths[0] = columns < MOST ? (size_t)columns : MOST;
  figures_add(to, "rows", (double)rows, "");
  figures_add(to, "columns", (double)columns, "");
  for (int k = 0; k < LENGTHS; ++k) {
    if (k > 0 && lengths[k] == lengths[0]) continue;
    if (!read_rows(file, values, rows, columns, lengths[k], at->values[0], why))
      return false;
    draw_rows(at->values[1], ROWS * lengths[k]);
    if (!measure_length(to, source, at, lengths[k]))
      return refuse(why, "no product of %s", values->name);
  }
  return true;
}

bool product_measure(figures *to, const input *files, size_t file_count, progress *bar) {
  work *at = malloc(sizeof *at);
  uint64_t tensors = 0;
  bool good = at != NULL;
  if (!at) return complain(NULL, "out of memory"), false;
  for (size_t i = 0; i < file_count; ++i)
    tensors += files[i].tensor_count;
  progress_begin(bar, tensors);
  for (size_t i = 0; i < file_count; ++i)
    for (size_t t = 0; t < files[i].tensor_count && good; ++t) {
      refusal why;
      good = files[i].tensors[t].count == 0 ||
             measure_tensor(to, &files[i], &files[i].tensors[t], at, &why);
      if (!good) progress_end(bar), complain(files[i].path, why.text);
      progress_step(bar, 1, files[i].tensors[t].name);
    }
  progress_end(bar);
  free(at);
  return good;
}

static void show_worst(char cell[TABLE_CELL], double worst) {
  snprintf(cell, TABLE_CELL, "%.2g%%", 100 * worst);
}
static bool print_tensor(const figures *from, const char *name, FILE *to) {
  static const view_column columns[] = {
      {.heading = "elements, sums", .metric = VIEW_NAME, .left = true},
      {.heading = "SQNR", .metric = "sqnr", .show = show_sqnr, .each = true},
      VIEW_EACH("worst", "worst", show_worst),
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  fprintf(to, "\n%s: %.0f x %.0f\n", name, figures_value(from, section, "rows"),
          figures_value(from, section, "columns"));
  if (!figures_find(from, section, NULL, NULL, NULL, "sqnr"))
    fputs("no nonzero finite value, so no errors\n", to);
  return view_print(&shown, from, to, "%s", "");
}
bool product_print(const figures *from, FILE *to) {
  return tensors_print(from, section, "Product", LINE_WIDTH - 30, print_tensor, to);
}

/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <math.h>
#include <string.h>

#include "svg.h"

typedef struct page {
  FILE *to; /* NULL: only counts */
  unsigned charts;
} page;

static void draw_bars(page *made, const svg_bars *chart) {
  if (chart->count == 0) return;
  if (made->to) svg_draw_bars(made->to, made->charts, chart);
  ++made->charts;
}

static void draw_points(page *made, const svg_points *chart) {
  if (chart->count == 0) return;
  if (made->to) svg_draw_points(made->to, made->charts, chart);
  ++made->charts;
}

static svg_bars bars(const char *title, const char *unit, const char *first,
                     const char *second) {
  svg_bars made;
  memset(&made, 0, sizeof made);
  made.title = title;
  made.unit = unit;
  made.series_count = second ? 2 : 1;
  made.series[0] = first;
  made.series[1] = second;
  return made;
}

static void draw_speed(page *made, const speed_results *found) {
  svg_bars chart = bars("CPU: array conversions", "GB/s", "encode", "decode");
  int i;
  for (i = 0; i < FORMAT_COUNT; ++i, ++chart.count) {
    gpu_set_text(chart.names[i], sizeof chart.names[i],
                 mpnum_type_name(bench_formats[i].type));
    chart.values[i][0] = found->encode[i].rate;
    chart.values[i][1] = found->decode[i].rate;
  }
  draw_bars(made, &chart);
}

/* The first tensor that has values, scaled where that was asked for. */
static void draw_accuracy(page *made, const results *found) {
  const int scaling = found->chosen->scaling[SCALING_AMAX] ? SCALING_AMAX : SCALING_NONE;
  const subject *about = found->subjects;
  const subject *end = about + found->subject_count;
  char title[128], name[64];
  svg_points chart;
  int i;
  while (about < end && about->nonzero == 0)
    ++about;
  if (about == end) return;
  shorten(name, sizeof name, 40, subject_name(about));
  snprintf(title, sizeof title, "Error against bits: %s, %s", name,
           scaling == SCALING_AMAX ? "times 2^k" : "as they are");
  chart.title = title;
  chart.count = 0;
  for (i = 0; i < FORMAT_COUNT; ++i, ++chart.count) {
    gpu_set_text(chart.names[i], sizeof chart.names[i],
                 mpnum_type_name(bench_formats[i].type));
    chart.bits[i] = format_bits(mpnum_format_of(bench_formats[i].type));
    chart.errors[i] = pow(10, -sqnr(&about->results[scaling][i]) / 20);
  }
  draw_points(made, &chart);
}

static void draw_gpu_conversions(page *made, const gpu_results *found) {
  svg_bars chart = bars("GPU: array conversions", "GB/s", "encode", "decode");
  unsigned i;
  for (i = 0; i < found->conversion_count; ++i, ++chart.count) {
    const gpu_conversion *row = &found->conversions[i];
    gpu_conversion_name(chart.names[i], sizeof chart.names[i], row);
    chart.values[i][0] = row->encode.rate;
    chart.values[i][1] = row->decode.rate;
  }
  draw_bars(made, &chart);
}

static void draw_gpu_products(page *made, const gpu_results *found) {
  const gpu_plan *plan = &found->plan;
  svg_bars chart = bars("GPU: matrix product", "TFLOP/s", "product", "with converting");
  svg_points errors;
  unsigned i;
  errors.title = "GPU: error of the matrix product against bits";
  for (i = 0; i < found->product_count; ++i) {
    const gpu_product *row = &found->products[i];
    if (row->state != GPU_MEASURED) continue;
    gpu_set_text(chart.names[chart.count], sizeof chart.names[0], row->name);
    gpu_set_text(errors.names[chart.count], sizeof errors.names[0], row->name);
    chart.values[chart.count][0] = gpu_tflops(plan->m, plan->n, plan->k, row->product);
    chart.values[chart.count][1] = gpu_tflops(plan->m, plan->n, plan->k, row->total);
    errors.bits[chart.count] = row->bits;
    errors.errors[chart.count++] = row->error;
  }
  errors.count = chart.count;
  draw_bars(made, &chart);
  draw_points(made, &errors);
}

static void draw_all(page *made, const results *found) {
  const options *chosen = found->chosen;
  if (chosen->speed) draw_speed(made, &found->speed);
  if (chosen->accuracy) draw_accuracy(made, found);
  if (chosen->gpu) draw_gpu_conversions(made, &found->gpu);
  if (chosen->gpu) draw_gpu_products(made, &found->gpu);
  if (made->charts > 0) return;
  if (made->to) svg_draw_note(made->to, 0, "no section with a chart was measured");
  ++made->charts;
}

bool report_svg(const results *found, FILE *to) {
  const bool on_gpu = found->chosen->gpu && !found->gpu.absent[0];
  char title[256];
  page made = {NULL, 0};
  draw_all(&made, found); /* counts */
  snprintf(title, sizeof title, "mpnum %d.%d.%d on %s%s%s", MPNUM_VERSION_MAJOR,
           MPNUM_VERSION_MINOR, MPNUM_VERSION_PATCH, found->cpu, on_gpu ? ", " : "",
           on_gpu ? found->gpu.device.name : "");
  svg_begin(to, title, made.charts);
  made.to = to;
  made.charts = 0;
  draw_all(&made, found);
  svg_end(to);
  return !ferror(to);
}

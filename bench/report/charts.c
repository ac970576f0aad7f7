/* SPDX-License-Identifier: MIT */
/* Which figures are drawn, and how. */
#include "report.h"

#include <math.h>
#include <string.h>

#include <mpnum/core/detail/config.h>

#include "svg.h"

typedef struct page {
  const figures *from;
  FILE *to; /* NULL: only counts */
  unsigned charts;
} page;

static double value_at(const page *made, const figure *line, const char *variant,
                       const char *metric) {
  const figure *found =
      figures_find(made->from, line->section, line->source, line->name, variant, metric);
  return found ? found->value : (double)NAN;
}

/* What is drawn: a user's tensor rather than a synthetic one. */
static bool is_second_choice(const figure *row) {
  return strncmp(row->source, "synthetic: ", 11) == 0;
}

/* The next figure of a metric, and of the first source that has it, a user's if one has;
 * NULL after the last. */
static const figure *next_of(const page *made, const figure *before, const char *section,
                             const char *variant, const char *metric) {
  const figure *end = made->from->rows + made->from->count, *at, *second = NULL;
  for (at = before ? before + 1 : made->from->rows; at < end; ++at) {
    if (strcmp(at->section, section) == 0 && strcmp(at->variant, variant) == 0 &&
        strcmp(at->metric, metric) == 0 &&
        (!before || strcmp(at->source, before->source) == 0)) {
      if (before || !is_second_choice(at)) return at;
      if (!second) second = at;
    }
  }
  return second;
}

static void set_name(char name[24], const figure *of) {
  snprintf(name, 24, "%.23s", of->name);
  clean_text(name);
}

static void draw_ranges(page *made) {
  svg_ranges chart;
  const figure *at = NULL;
  chart.title = "What each format holds: normal values, subnormal ones lighter";
  chart.count = 0;
  while (chart.count < SVG_BARS &&
         (at = next_of(made, at, "formats", "", "max")) != NULL) {
    set_name(chart.names[chart.count], at);
    if (strcmp(chart.names[chart.count], "e8m0") == 0) continue; /* of scales alone */
    chart.max[chart.count] = at->value;
    chart.min_normal[chart.count] = value_at(made, at, "", "min_normal");
    chart.smallest[chart.count++] = value_at(made, at, "", "smallest");
  }
  if (chart.count == 0) return;
  if (made->to) svg_draw_ranges(made->to, made->charts, &chart);
  ++made->charts;
}

/* Rates in a section by name, a series for each of two variants. */
static void draw_rates(page *made, const char *section, const char *title,
                       const char *first, const char *second) {
  const figure *at = NULL;
  svg_bars chart;
  chart.title = title;
  chart.series_count = SVG_SERIES;
  chart.series[0] = first;
  chart.series[1] = second;
  chart.count = 0;
  while (chart.count < SVG_BARS &&
         (at = next_of(made, at, section, first, "rate")) != NULL) {
    set_name(chart.names[chart.count], at);
    chart.unit = at->unit;
    chart.values[chart.count][0] = at->value;
    chart.values[chart.count++][1] = value_at(made, at, second, "rate");
  }
  if (chart.count == 0) return;
  if (made->to) svg_draw_bars(made->to, made->charts, &chart);
  ++made->charts;
}

/* An error of each name in a section against its bits; decibels are those of a signal
 * over the error. */
static void draw_errors(page *made, const char *section, const char *variant,
                        const char *metric, const char *title) {
  svg_points chart;
  const figure *at = NULL;
  char text[320], source[256];
  chart.title = text;
  chart.count = 0;
  while (chart.count < SVG_BARS &&
         (at = next_of(made, at, section, variant, metric)) != NULL) {
    set_name(chart.names[chart.count], at);
    chart.bits[chart.count] = value_at(made, at, "", "bits");
    chart.errors[chart.count++] =
        strcmp(at->unit, "dB") == 0 ? pow(10, -at->value / 20) : at->value;
    shorten(source, sizeof source, 60, base_name(at->source));
    snprintf(text, sizeof text, title, source);
  }
  if (chart.count == 0) return;
  if (made->to) svg_draw_points(made->to, made->charts, &chart);
  ++made->charts;
}

/* What sums lose of products against their length, of a section whose variants are K. */
static void draw_sums(page *made) {
  const figure *const end = made->from->rows + made->from->count, *row;
  const figure *first = NULL;
  svg_curves chart;
  char text[320], source[256];
  chart.title = text;
  chart.axis = "K, products of a sum";
  chart.count = chart.length_count = 0;
  for (row = made->from->rows; row < end; ++row) {
    unsigned k = 0, i = 0;
    double length = 0;
    if (strcmp(row->section, "product") != 0 || strcmp(row->metric, "sums_sqnr") != 0 ||
        !isfinite(row->value) || (first && strcmp(row->source, first->source) != 0) ||
        sscanf(row->variant, "K = %lf", &length) != 1)
      continue;
    if (!first) first = row;
    while (k < chart.length_count && chart.lengths[k] != length)
      ++k;
    while (i < chart.count && strcmp(chart.names[i], row->name) != 0)
      ++i;
    if (k == SVG_LENGTHS || i == SVG_BARS) continue;
    if (k == chart.length_count) {
      for (unsigned n = 0; n < SVG_BARS; ++n)
        chart.errors[n][k] = (double)NAN;
      chart.lengths[chart.length_count++] = length;
    }
    if (i == chart.count) {
      set_name(chart.names[i], row);
      for (unsigned n = 0; n < SVG_LENGTHS; ++n)
        chart.errors[i][n] = (double)NAN;
      ++chart.count;
    }
    chart.errors[i][k] = pow(10, -row->value / 20);
  }
  if (!first) return;
  shorten(source, sizeof source, 60, base_name(first->source));
  snprintf(text, sizeof text, "What sums lose of products: %s", source);
  if (made->to) svg_draw_curves(made->to, made->charts, &chart);
  ++made->charts;
}

static void draw_all(page *made) {
  const bool scaled =
      figures_find(made->from, "accuracy", NULL, NULL, "times 2^k", NULL) != NULL;
  draw_ranges(made);
  draw_rates(made, "speed", "CPU: array conversions", "encode", "decode");
  if (!figures_find(made->from, "accuracy", NULL, NULL, NULL, "sqnr"))
    draw_errors(made, "advice", "", "sqnr", "Error against bits: %s");
  draw_errors(made, "accuracy", scaled ? "times 2^k" : "as they are", "sqnr",
              scaled ? "Error against bits: %s, times 2^k"
                     : "Error against bits: %s, as they are");
  draw_sums(made);
  draw_rates(made, "gpu_conversion", "GPU: array conversions", "encode", "decode");
  draw_rates(made, "gpu_product", "GPU: matrix product", "product", "with converting");
  draw_errors(made, "gpu_product", "", "error",
              "GPU: error of the matrix product against bits");
  if (made->charts > 0) return;
  if (made->to) svg_draw_note(made->to, 0, "no section with a chart was measured");
  ++made->charts;
}

bool report_svg(const report *about, FILE *to) {
  const figure *gpu =
      figures_find(&about->found, "gpu", NULL, NULL, NULL, "compute_capability");
  const bool is_measured =
      figures_find(&about->found, NULL, NULL, NULL, NULL, "rate") || gpu;
  char title[256];
  page made = {&about->found, NULL, 0};
  draw_all(&made); /* counts */
  snprintf(title, sizeof title, is_measured ? "mpnum %d.%d.%d on %s%s%s" : "mpnum",
           MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR, MPNUM_VERSION_PATCH, about->cpu,
           gpu ? ", " : "", gpu ? gpu->source : "");
  svg_begin(to, title, made.charts);
  made.to = to;
  made.charts = 0;
  draw_all(&made);
  svg_end(to);
  return !ferror(to);
}

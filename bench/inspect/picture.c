/* SPDX-License-Identifier: MIT */
/* Exponents as bars, and above them what each format holds: of all tensors together, and
 * with --details of each one shown. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/training/advice.h>
#include <mpnum/core/detail/config.h>

#include "inspect.h"
#include "../report/escape.h"

enum {
  WIDTH = 900,
  LEFT = 70,
  RIGHT = 30,
  TITLE = 62,
  TITLE_WIDTH = 90, /* characters */
  RANGE_HEIGHT = 23,
  GAP = 12,
  PLOT_HEIGHT = 190,
  AXIS = 56,
  PLOT_WIDTH = WIDTH - LEFT - RIGHT,
  MARGIN = 3, /* binades left and right of the values */
  CHARTS = 200
};

static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                      "#d55e00", "#56b4e9", "#999999", "#f0e442"};

/* What is in one chart. */
typedef struct chart {
  const char *title;
  mpnum_histogram counts;
  uint64_t values;
  fit ranges[FIT_LIMIT];
  unsigned range_count;
  int low, high; /* exponents: from 2^low to 2^high */
  double top;    /* of the page */
} chart;

void power_label(FILE *to, double x, double y, int exponent) {
  char text[16];
  snprintf(text, sizeof text, "%d", exponent);
  svg_label(to, x, y, "end", "2");
  fputs("<g font-size=\"10\">", to);
  svg_label(to, x + 1, y - 5, "start", text);
  fputs("</g>\n", to);
}

static double height_of(const chart *made) {
  return TITLE + made->range_count * (double)RANGE_HEIGHT + GAP + PLOT_HEIGHT + AXIS;
}

/* Of the power of two with that exponent. */
static double place_of(const chart *made, double exponent) {
  const double share = (exponent - made->low) / (made->high - made->low);
  return LEFT + PLOT_WIDTH * (share < 0 ? 0 : share > 1 ? 1 : share);
}

/* Solid where the format is normal, pale where it has fewer bits; an arrow where it goes
 * on. Its last power of two is that above its largest value. */
static void draw_range(FILE *to, const chart *made, unsigned index) {
  const fit *what = &made->ranges[index];
  const mpnum_format format = mpnum_format_of(what->type);
  const char *colour = colours[index % (sizeof colours / sizeof *colours)];
  const double y = made->top + TITLE + index * (double)RANGE_HEIGHT;
  const int shift = -what->scale_exponent;
  int least;
  char text[64];
  frexpf(mpnum_format_true_min(format), &least);
  int highest = mpnum_format_max_exp(format) + shift;
  least += shift - 1;
  double from = place_of(made, least);
  double normal = place_of(made, mpnum_format_min_exp(format) - 1 + shift);
  double end = place_of(made, log2((double)mpnum_format_max(format)) + shift);
  fprintf(to,
          "<rect class=\"range\" data-format=\"%s\" data-least=\"%d\" data-max=\"%.9g\" "
          "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"17\" fill=\"%s\" "
          "fill-opacity=\"0.35\"/>\n",
          element_name(what->type), least,
          (double)mpnum_format_max(format) * ldexp(1, shift), from, y, end - from,
          colour);
  fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"17\" fill=\"%s\"/>\n",
          normal, y, end - normal, colour);
  if (least < made->low)
    fprintf(to, "<path d=\"M %d %.1f l 8 -8.5 v 17 z\" fill=\"%s\"/>\n", LEFT - 8,
            y + 8.5, colour);
  if (highest > made->high)
    fprintf(to, "<path d=\"M %d %.1f l -8 -8.5 v 17 z\" fill=\"%s\"/>\n",
            LEFT + PLOT_WIDTH + 8, y + 8.5, colour);
  snprintf(text, sizeof text, "%s", element_name(what->type));
  svg_label(to, LEFT - 12, y + 13, "end", text);
  if (what->scale_exponent == 0) return;
  snprintf(text, sizeof text, "values times 2^%d", what->scale_exponent);
  fprintf(to, "<g fill=\"white\">\n");
  svg_label(to, (normal + end) / 2, y + 13, "middle", text);
  fprintf(to, "</g>\n");
}

static double largest_share(const chart *made) {
  uint64_t most = 1;
  for (int k = 0; k < 255; ++k) {
    if (made->counts.counts[k] > most) most = made->counts.counts[k];
  }
  return (double)most / (double)made->values;
}

static void draw_scale(FILE *to, const chart *made, double y, double largest) {
  const int span = made->high - made->low;
  const int binades = span > 120 ? 16 : span > 60 ? 8 : span > 30 ? 4 : 2;
  const double step = svg_step(100 * largest);
  char text[32];
  for (int i = 0; i * step <= 100 * largest; ++i) {
    const double height = y - PLOT_HEIGHT * i * step / (100 * largest);
    snprintf(text, sizeof text, "%g %%", i * step);
    svg_line(to, LEFT, height, LEFT + PLOT_WIDTH, height, "#ddd");
    svg_label(to, LEFT - 6, height + 4, "end", text);
  }
  for (int i = made->low; i <= made->high; ++i) {
    if (i % binades == 0) power_label(to, place_of(made, i), y + 16, i);
  }
}

static void draw_bars(FILE *to, const chart *made, double y, double largest) {
  const double width = (double)PLOT_WIDTH / (made->high - made->low);
  for (int k = 0; k < 255; ++k) {
    const double share = (double)made->counts.counts[k] / (double)made->values;
    const double height = PLOT_HEIGHT * share / largest;
    if (made->counts.counts[k] == 0) continue;
    fprintf(to,
            "<rect class=\"bar\" data-exponent=\"%d\" data-count=\"%" PRIu64
            "\" x=\"%.2f\" y=\"%.4f\" width=\"%.2f\" height=\"%.4f\" fill=\"#555\"/>\n",
            k - 127, made->counts.counts[k], place_of(made, k - 127) + 0.5, y - height,
            width - 1, height);
  }
}

static void draw_chart(FILE *to, const chart *made) {
  const double y = made->top + height_of(made) - AXIS, largest = largest_share(made);
  char text[160], title[4 * TITLE_WIDTH + 4];
  shorten(title, sizeof title, TITLE_WIDTH, made->title);
  svg_title(to, LEFT, made->top + 26, title);
  snprintf(text, sizeof text,
           "%" PRIu64 " values; of these %" PRIu64 " zeros and %" PRIu64
           " Inf or NaN are not drawn",
           made->values, made->counts.zeros, made->counts.counts[255]);
  svg_label(to, LEFT, made->top + 44, "start", text);
  for (unsigned i = 0; i < made->range_count; ++i)
    draw_range(to, made, i);
  draw_scale(to, made, y, largest);
  draw_bars(to, made, y, largest);
  svg_line(to, LEFT, y, LEFT + PLOT_WIDTH, y, "#333");
  svg_label(
      to, LEFT + PLOT_WIDTH / 2.0, y + 38, "middle",
      "magnitude of the values, in powers of two; pale: where a format has fewer bits");
}

/* The values, and some binades around them. */
static void set_span(chart *made) {
  made->low = 127;
  made->high = -128;
  for (int k = 0; k < 255; ++k) {
    if (made->counts.counts[k] == 0) continue;
    if (made->low > k - 127) made->low = k - 127;
    made->high = k - 126;
  }
  if (made->low > made->high) made->low = made->high = 0;
  made->low -= MARGIN;
  made->high += MARGIN;
}

static void begin_chart(chart *made, const char *title, double top) {
  memset(made, 0, sizeof *made);
  made->title = title;
  made->counts = mpnum_histogram_empty();
  made->top = top;
}

static void add_range(chart *made, mpnum_type type, int scale_exponent) {
  made->ranges[made->range_count].type = type;
  made->ranges[made->range_count++].scale_exponent = scale_exponent;
}

/* Candidates at the scale that the largest value of all allows. */
static void chart_of_all(chart *made, const inspection *run) {
  double amax = 0;
  begin_chart(made,
              run->all.count == 1    ? run->all.rows[0].values->name
              : run->from.count == 1 ? base_name(run->from.files[0].path)
                                     : "All files",
              0);
  for (size_t i = 0; i < run->all.count; ++i) {
    const row *about = &run->all.rows[i];
    mpnum_histogram_merge(&made->counts, &about->found.histogram);
    made->values += about->values->count;
    if (about->found.amax > amax) amax = about->found.amax;
  }
  for (unsigned c = 0; c < run->chosen->candidate_count; ++c) {
    const mpnum_type type = run->chosen->candidates[c];
    int exponent;
    frexpf(mpnum_best_scale(mpnum_format_of(type), (float)amax, 0), &exponent);
    add_range(made, type, exponent - 1);
  }
  add_range(made, MPNUM_TYPE_F16, 0);
  add_range(made, MPNUM_TYPE_BF16, 0);
  set_span(made);
}

static void chart_of_row(chart *made, const inspection *run, const row *about,
                         double top) {
  begin_chart(made, about->values->name, top);
  made->counts = about->found.histogram;
  made->values = about->values->count;
  for (unsigned f = 0; f < run->all.candidate_count; ++f)
    add_range(made, about->fits[f].type, about->fits[f].scale_exponent);
  set_span(made);
}

bool write_svg(const report *about, FILE *to) {
  const inspection *run = (const inspection *)(const void *)about;
  chart made;
  size_t count = run->chosen->details && run->all.count > 1 ? run->shown : 0, i;
  if (count > CHARTS) count = CHARTS;
  chart_of_all(&made, run);
  double height = height_of(&made) * (double)(count + 1);
  svg_page(to, WIDTH, height);
  draw_chart(to, &made);
  for (i = 0; i < count; ++i) {
    chart_of_row(&made, run, run->order[i], height_of(&made) * (double)(i + 1));
    draw_chart(to, &made);
  }
  fputs("</svg>\n", to);
  return !ferror(to);
}

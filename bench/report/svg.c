/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <math.h>
#include <stdbool.h>

#include "escape.h"

enum { HEAD = 50, LEFT = 74, RIGHT = 24, TOP = 46, BOTTOM = 50 };
enum { PLOT_WIDTH = SVG_WIDTH - LEFT - RIGHT };
enum { PLOT_HEIGHT = SVG_CHART_HEIGHT - TOP - BOTTOM };
enum { LABEL_HEIGHT = 15, CURVE_NAME = 190 };
static const double least_power = 1.7, most_power = 5.2; /* of bits */

static const char *const colours[SVG_SERIES] = {"#0072b2", "#e69f00"};

static double top_of(unsigned place) {
  return HEAD + (double)place * SVG_CHART_HEIGHT + TOP;
}

static void draw_title(FILE *to, unsigned place, const char *title) {
  svg_title(to, LEFT, top_of(place) - 22, title);
}

void svg_begin(FILE *to, const char *title, unsigned charts) {
  const unsigned height = HEAD + charts * SVG_CHART_HEIGHT;
  svg_page(to, SVG_WIDTH, height);
  fprintf(to, "<text x=\"%d\" y=\"26\" font-size=\"13\">", LEFT);
  svg_text(to, title);
  fputs("</text>\n", to);
}

void svg_end(FILE *to) { fputs("</svg>\n", to); }

void svg_draw_note(FILE *to, unsigned place, const char *text) {
  svg_label(to, LEFT, top_of(place), "start", text);
}

static double largest_bar(const svg_bars *chart) {
  double largest = 0;
  for (unsigned i = 0; i < chart->count; ++i) {
    for (unsigned s = 0; s < chart->series_count; ++s) {
      if (chart->values[i][s] > largest) largest = chart->values[i][s];
    }
  }
  return largest > 0 ? largest : 1;
}

static void draw_scale(FILE *to, double top, double largest, const char *unit) {
  const double step = svg_step(largest);
  char text[32];
  for (unsigned i = 0; i * step <= largest; ++i) {
    const double y = top + PLOT_HEIGHT * (1 - i * step / largest);
    snprintf(text, sizeof text, "%g", i * step);
    svg_line(to, LEFT, y, SVG_WIDTH - RIGHT, y, "#ddd");
    svg_label(to, LEFT - 6, y + 4, "end", text);
  }
  svg_label(to, LEFT - 6, top - 12, "end", unit);
}

static void draw_series_names(FILE *to, double top, const svg_bars *chart) {
  for (unsigned s = 0; s < SVG_SERIES && chart->series_count == SVG_SERIES; ++s) {
    const double x = SVG_WIDTH - RIGHT - 110.0 * (SVG_SERIES - s);
    fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\"/>\n",
            x, top - 30, colours[s]);
    svg_label(to, x + 14, top - 21, "start", chart->series[s]);
  }
}

void svg_draw_bars(FILE *to, unsigned place, const svg_bars *chart) {
  const double top = top_of(place), bottom = top + PLOT_HEIGHT;
  const double largest = largest_bar(chart);
  const double group = (double)PLOT_WIDTH / (chart->count ? chart->count : 1);
  const double width = 0.8 * group / chart->series_count;
  draw_title(to, place, chart->title);
  draw_scale(to, top, largest, chart->unit);
  draw_series_names(to, top, chart);
  for (unsigned i = 0; i < chart->count; ++i) {
    const double left = LEFT + group * (i + 0.1);
    for (unsigned s = 0; s < SVG_SERIES && s < chart->series_count; ++s) {
      const double value = chart->values[i][s];
      const double height = PLOT_HEIGHT * value / largest;
      if (!isfinite(value)) continue;
      fprintf(to,
              "<rect class=\"bar\" x=\"%.2f\" y=\"%.4f\" width=\"%.2f\" height=\"%.4f\" "
              "fill=\"%s\" data-value=\"%.9g\"><title>",
              left + width * s, bottom - height, width, height, colours[s], value);
      svg_text(to, chart->names[i]);
      fprintf(to, " %s: %.4g %s</title></rect>\n", chart->series[s], value, chart->unit);
    }
    svg_label(to, left + 0.4 * group, bottom + 14 + (double)(i % 2) * LABEL_HEIGHT,
              "middle", chart->names[i]);
  }
  svg_line(to, LEFT, bottom, SVG_WIDTH - RIGHT, bottom, "#333");
}

static bool is_drawn(double error) { return isfinite(error) && error > 0; }

/* Whole decades around so many errors. */
static void decades_of(const double *errors, unsigned count, double *low, double *high) {
  *low = 0;
  *high = -1;
  for (unsigned i = 0; i < count; ++i) {
    if (!is_drawn(errors[i])) continue;
    double decade = log10(errors[i]);
    if (*high < *low || decade < *low) *low = floor(decade);
    if (*high < *low || decade > *high) *high = ceil(decade);
    if (*high <= *low) *high = *low + 1;
  }
  if (*high < *low) *high = *low + 1;
}

/* Names take room, most of all between 4 and 8 bits: a logarithmic scale has it there. */
static double bits_place(double bits) {
  return LEFT + PLOT_WIDTH * (log2(bits) - least_power) / (most_power - least_power);
}

static void draw_decades(FILE *to, double top, double low, double high) {
  const double bottom = top + PLOT_HEIGHT;
  char text[32];
  for (int decade = (int)low; decade <= (int)high; ++decade) {
    const double y = bottom - PLOT_HEIGHT * (decade - low) / (high - low);
    snprintf(text, sizeof text, "1e%d", decade);
    svg_line(to, LEFT, y, SVG_WIDTH - RIGHT, y, "#ddd");
    svg_label(to, LEFT - 6, y + 4, "end", text);
  }
  svg_line(to, LEFT, bottom, SVG_WIDTH - RIGHT, bottom, "#333");
}
/* Where an error lies between them. */
static double error_place(double top, double low, double high, double error) {
  const double bottom = top + PLOT_HEIGHT;
  return is_drawn(error) ? bottom - PLOT_HEIGHT * (log10(error) - low) / (high - low)
                         : bottom;
}
static void draw_tick(FILE *to, double top, double x, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.0f", value);
  svg_label(to, x, top + PLOT_HEIGHT + 16, "middle", text);
}

/* Places of names, in their column where they do not overlap: neighbours that do move
 * apart by halves. */
static void place_names(const svg_points *chart, const double *at, double *places) {
  for (unsigned i = 0; i < chart->count; ++i)
    places[i] = at[i];
  for (unsigned round = 0; round < 200; ++round) {
    for (unsigned i = 0; i < chart->count; ++i) {
      for (unsigned k = 0; k < i; ++k) {
        const bool is_above = at[k] <= at[i];
        const unsigned upper = is_above ? k : i, lower = is_above ? i : k;
        const double lack = LABEL_HEIGHT - (places[lower] - places[upper]);
        if (!is_drawn(chart->errors[i]) || !is_drawn(chart->errors[k]) || lack <= 0 ||
            fabs(chart->bits[i] - chart->bits[k]) > 0.5)
          continue;
        places[upper] -= 0.51 * lack;
        places[lower] += 0.51 * lack;
      }
    }
  }
}

/* A name beside its dot, with a line to it where it had to move. */
static void draw_name(FILE *to, double x, double y, double name_y, const char *name) {
  if (fabs(name_y - y) > 1)
    fprintf(to,
            "<line class=\"leader\" x1=\"%.2f\" y1=\"%.4f\" x2=\"%.2f\" y2=\"%.4f\" "
            "stroke=\"#999\"/>\n",
            x, y, x + 14, name_y);
  fprintf(to, "<text class=\"name\" x=\"%.2f\" y=\"%.4f\">", x + 16, name_y + 4);
  svg_text(to, name);
  fputs("</text>\n", to);
}

void svg_draw_points(FILE *to, unsigned place, const svg_points *chart) {
  static const unsigned ticks[] = {4, 6, 8, 16, 19, 32};
  const double top = top_of(place);
  double low, high, at[SVG_BARS] = {0}, names[SVG_BARS];
  decades_of(chart->errors, chart->count, &low, &high);
  draw_title(to, place, chart->title);
  draw_decades(to, top, low, high);
  for (unsigned i = 0; i < sizeof ticks / sizeof *ticks; ++i)
    draw_tick(to, top, bits_place(ticks[i]), ticks[i]);
  svg_label(to, SVG_WIDTH - RIGHT, top + PLOT_HEIGHT + 30, "end", "bits");
  for (unsigned i = 0; i < chart->count; ++i)
    at[i] = error_place(top, low, high, chart->errors[i]);
  place_names(chart, at, names);
  for (unsigned i = 0; i < chart->count; ++i) {
    const double x = bits_place(chart->bits[i]);
    if (!is_drawn(chart->errors[i])) continue;
    draw_name(to, x, at[i], names[i], chart->names[i]);
    fprintf(to,
            "<circle class=\"point\" cx=\"%.2f\" cy=\"%.4f\" r=\"4\" fill=\"%s\" "
            "data-value=\"%.9g\"><title>",
            x, at[i], colours[0], chart->errors[i]);
    svg_text(to, chart->names[i]);
    fprintf(to, ": %.4g bits, error %.3g</title></circle>\n", chart->bits[i],
            chart->errors[i]);
  }
}

/* Names stand right of the last length. */
static double length_place(const svg_curves *chart, double length) {
  const double least = log2(chart->lengths[0]) - 0.2;
  const double most = log2(chart->lengths[chart->length_count - 1]);
  return LEFT + (PLOT_WIDTH - CURVE_NAME) * (log2(length) - least) / (most - least);
}

void svg_draw_curves(FILE *to, unsigned place, const svg_curves *chart) {
  const double top = top_of(place);
  const unsigned last = chart->length_count - 1;
  double low, high, at[SVG_BARS] = {0}, names[SVG_BARS];
  svg_points ends;
  decades_of(&chart->errors[0][0], chart->count * SVG_LENGTHS, &low, &high);
  draw_title(to, place, chart->title);
  draw_decades(to, top, low, high);
  for (unsigned k = 0; k <= last; ++k)
    draw_tick(to, top, length_place(chart, chart->lengths[k]), chart->lengths[k]);
  svg_label(to, LEFT + (PLOT_WIDTH - CURVE_NAME) / 2.0, top + PLOT_HEIGHT + 32, "middle",
            chart->axis);
  ends.count = chart->count;
  for (unsigned i = 0; i < chart->count; ++i) {
    ends.bits[i] = 1;
    ends.errors[i] = chart->errors[i][last];
    at[i] = error_place(top, low, high, ends.errors[i]);
  }
  place_names(&ends, at, names);
  for (unsigned i = 0; i < chart->count; ++i) {
    const double right = length_place(chart, chart->lengths[last]);
    fprintf(to, "<polyline class=\"curve\" fill=\"none\" stroke=\"%s\" points=\"",
            colours[i % 2]);
    for (unsigned k = 0; k <= last; ++k) {
      if (!is_drawn(chart->errors[i][k])) continue;
      fprintf(to, "%.2f,%.4f ", length_place(chart, chart->lengths[k]),
              error_place(top, low, high, chart->errors[i][k]));
    }
    fputs("\"><title>", to);
    svg_text(to, chart->names[i]);
    fputs("</title></polyline>\n", to);
    if (is_drawn(ends.errors[i])) draw_name(to, right, at[i], names[i], chart->names[i]);
  }
}

enum { LOW_POWER = -152, HIGH_POWER = 164, POWER_STEP = 32, RANGE_LEFT = 40 };

static double power_place(double value) {
  const double power = log2(value);
  return LEFT + RANGE_LEFT +
         (PLOT_WIDTH - RANGE_LEFT) * (power - LOW_POWER) / (HIGH_POWER - LOW_POWER);
}

static void draw_range(FILE *to, double from, double end, double y, double height,
                       const char *opacity, const char *name, const char *what) {
  fprintf(to,
          "<rect class=\"range\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
          "fill=\"%s\" fill-opacity=\"%s\"><title>",
          power_place(from), y, power_place(end) - power_place(from), height, colours[0],
          opacity);
  svg_text(to, name);
  fprintf(to, " %s: %.6g to %.6g</title></rect>\n", what, from, end);
}

void svg_draw_ranges(FILE *to, unsigned place, const svg_ranges *chart) {
  const double top = top_of(place), bottom = top + PLOT_HEIGHT;
  const double row = (double)PLOT_HEIGHT / (chart->count ? chart->count : 1);
  char text[32];
  draw_title(to, place, chart->title);
  for (int power = -128; power <= 128; power += POWER_STEP) {
    const double x = power_place(ldexp(1, power));
    svg_line(to, x, top, x, bottom, "#ddd");
    snprintf(text, sizeof text, "2^%d", power);
    svg_label(to, x, bottom + 16, "middle", power == 0 ? "1" : text);
  }
  for (unsigned i = 0; i < chart->count; ++i) {
    const double y = top + row * i;
    svg_label(to, LEFT + RANGE_LEFT - 26, y + 0.5 * row + 4, "end", chart->names[i]);
    if (chart->smallest[i] < chart->min_normal[i])
      draw_range(to, chart->smallest[i], chart->min_normal[i], y + 0.15 * row, 0.7 * row,
                 "0.35", chart->names[i], "subnormal");
    draw_range(to, chart->min_normal[i], chart->max[i], y + 0.15 * row, 0.7 * row, "1",
               chart->names[i], "normal");
    snprintf(text, sizeof text, chart->max[i] < 1e6 ? "%.6g" : "%.2e", chart->max[i]);
    svg_label(to, power_place(chart->max[i]) + 4, y + 0.5 * row + 4, "start", text);
  }
  svg_line(to, LEFT + RANGE_LEFT, bottom, SVG_WIDTH - RIGHT, bottom, "#333");
}

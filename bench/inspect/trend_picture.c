/* SPDX-License-Identifier: MIT */
/* Over the steps, of all tensors together and of each shown: shares as curves, and below
 * them amax and the loss scale as powers of two. A step with Inf or NaN is a red bar. */
#include "trend.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../report/escape.h"
#include "inspect.h"

enum {
  WIDTH = 640,
  LEFT = 60,
  RIGHT = 24,
  TITLE = 60,
  TITLE_WIDTH = 64, /* characters */
  SHARES_HEIGHT = 170,
  POWERS = 46, /* from there to the second plot */
  POWERS_HEIGHT = 140,
  AXIS = 60,
  CHART = TITLE + SHARES_HEIGHT + POWERS + POWERS_HEIGHT + AXIS,
  PLOT_WIDTH = WIDTH - LEFT - RIGHT,
  CHARTS = 200
};

static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73",
                                      "#cc79a7", "#333333", "#56b4e9"};
static const char red[] = "#d55e00";

/* The values of a curve; NaN where there is none. */
enum { AMAX = SERIES, SCALE, CURVES };
static const char *const names[] = {"amax", "loss scale"};

static double value_of(const moment *at, int curve) {
  int exponent;
  if (curve < SERIES) return 100 * trend_share(at, (series)curve);
  if (curve == AMAX) return at->amax > 0 ? log2(at->amax) : (double)NAN;
  return trend_scale(at, &exponent) ? exponent : (double)NAN;
}

typedef struct plot {
  const trend *made;
  const track *of;
  double low, high; /* of the values, from y + height up to y */
  double y, height;
} plot;

static double number_of(const trend *made, size_t in) {
  return made->is_numbered ? (double)made->steps[in].number : (double)in + 1;
}

/* Of a step's number; all are one: the middle. */
static double across(const trend *made, double number) {
  const double first = number_of(made, 0), last = number_of(made, made->step_count - 1);
  return LEFT + PLOT_WIDTH * (last > first ? (number - first) / (last - first) : 0.5);
}

static double up(const plot *in, double value) {
  return in->y + in->height * (in->high - value) / (in->high - in->low);
}

/* Broken where values are missing; one alone is a dot. */
static void draw_curve(FILE *to, const plot *in, int curve) {
  bool is_on = false;
  fprintf(to,
          "<path class=\"curve\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
          "stroke-linecap=\"round\" stroke-linejoin=\"round\" d=\"",
          colours[curve]);
  for (size_t i = 0; i < in->made->step_count; ++i) {
    const double value = value_of(&in->of->at[i], curve);
    const double x = across(in->made, number_of(in->made, i)), y = up(in, value);
    if (!isnan(value) && !is_on) fprintf(to, "M%.2f %.3f", x, y);
    if (!isnan(value)) fprintf(to, "L%.2f %.3f", x, y);
    is_on = !isnan(value);
  }
  fputs("\"/>\n", to);
}

static void draw_nonfinite(FILE *to, const plot *in) {
  for (size_t i = 0; i < in->made->step_count; ++i) {
    const moment *at = &in->of->at[i];
    const double x = across(in->made, number_of(in->made, i));
    if (at->infs + at->nans > 0)
      fprintf(to,
              "<rect class=\"nonfinite\" x=\"%.2f\" y=\"%.1f\" width=\"4\" "
              "height=\"%.1f\" fill=\"%s\" fill-opacity=\"0.6\"/>\n",
              x - 2, in->y, in->height, red);
  }
}

/* From x on; the place after it. */
static double draw_key(FILE *to, double x, double y, const char *colour,
                       const char *name) {
  fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"4\" fill=\"%s\"/>\n", x,
          y - 7, colour);
  svg_label(to, x + 19, y, "start", name);
  return x + 36 + 7.6 * (double)strlen(name);
}

static void draw_shares(FILE *to, const trend *made, const track *of, double y) {
  plot in = {made, of, 0, 1, y, SHARES_HEIGHT};
  double x = LEFT, tick;
  char text[32];
  for (size_t i = 0; i < made->step_count; ++i) {
    for (int s = 0; s < SERIES; ++s)
      in.high = fmax(in.high, value_of(&of->at[i], s));
  }
  tick = svg_step(in.high);
  for (int i = 0; i * tick <= in.high; ++i) {
    snprintf(text, sizeof text, "%g %%", i * tick);
    svg_line(to, LEFT, up(&in, i * tick), LEFT + PLOT_WIDTH, up(&in, i * tick), "#ddd");
    svg_label(to, LEFT - 6, up(&in, i * tick) + 4, "end", text);
  }
  svg_line(to, LEFT, y + in.height, LEFT + PLOT_WIDTH, y + in.height, "#333");
  draw_nonfinite(to, &in);
  for (int s = 0; s < SERIES; ++s) {
    x = draw_key(to, x, y - 12, colours[s], series_names[s]);
    draw_curve(to, &in, s);
  }
}

static void draw_powers(FILE *to, const trend *made, const track *of, double y) {
  plot in = {made, of, (double)INFINITY, -(double)INFINITY, y, POWERS_HEIGHT};
  double x = LEFT;
  int tick;
  for (size_t i = 0; i < made->step_count; ++i) {
    for (int c = AMAX; c < CURVES; ++c) {
      const double value = value_of(&of->at[i], c);
      in.low = fmin(in.low, value);
      in.high = fmax(in.high, value);
    }
  }
  if (!(in.low <= in.high)) in.low = in.high = 0; /* zeros alone */
  in.low = floor(in.low) - 1;
  in.high = ceil(in.high) + 1;
  tick = (int)fmax(1, svg_step(in.high - in.low));
  for (int i = (int)ceil(in.low / tick) * tick; i <= in.high; i += tick) {
    svg_line(to, LEFT, up(&in, i), LEFT + PLOT_WIDTH, up(&in, i), "#ddd");
    power_label(to, LEFT - 24, up(&in, i) + 5, i);
  }
  svg_line(to, LEFT, y + in.height, LEFT + PLOT_WIDTH, y + in.height, "#333");
  draw_nonfinite(to, &in);
  for (int c = AMAX; c < CURVES; ++c) {
    x = draw_key(to, x, y - 12, colours[c], names[c - AMAX]);
    draw_curve(to, &in, c);
  }
  draw_key(to, x, y - 12, red, "Inf or NaN in the step");
}

static void draw_steps(FILE *to, const trend *made, double y) {
  const double first = number_of(made, 0), last = number_of(made, made->step_count - 1);
  const double tick = last > first ? fmax(1, svg_step(last - first)) : 1;
  char text[32];
  const double least = ceil(first / tick) * tick;
  for (int i = 0; least + i * tick <= last; ++i) {
    const double at = least + i * tick;
    snprintf(text, sizeof text, "%.0f", at);
    svg_label(to, across(made, at), y + 18, "middle", text);
  }
  svg_label(to, LEFT + PLOT_WIDTH / 2.0, y + 40, "middle",
            made->is_numbered ? "step" : "file, as given");
}

static void draw_chart(FILE *to, const trend *made, const track *of, double top) {
  const double shares = top + TITLE, powers = shares + SHARES_HEIGHT + POWERS;
  const char *name = of->of                   ? of->of->name
                     : made->track_count == 2 ? made->tracks[1].of->name
                                              : "All tensors together";
  const char *last = base_name(made->steps[made->step_count - 1].path);
  char title[4 * TITLE_WIDTH + 4], from[2 * TITLE_WIDTH], end[2 * TITLE_WIDTH];
  shorten(title, sizeof title, TITLE_WIDTH, name);
  if (strcmp(name, base_name(made->steps[0].path)) == 0) { /* of .npy */
    shorten(from, sizeof from, TITLE_WIDTH / 2 - 2, name);
    shorten(end, sizeof end, TITLE_WIDTH / 2 - 2, last);
    snprintf(title, sizeof title, "%s to %s", from, end);
  }
  svg_title(to, LEFT, top + 24, title);
  draw_shares(to, made, of, shares);
  draw_powers(to, made, of, powers);
  draw_steps(to, made, powers + POWERS_HEIGHT);
}

bool write_trend_svg(const report *about, FILE *to) {
  const trend *made = (const trend *)(const void *)about;
  size_t count = trend_shown(made);
  if (count > CHARTS) count = CHARTS;
  svg_page(to, WIDTH, (double)CHART * (double)count);
  for (size_t i = 0; i < count; ++i)
    draw_chart(to, made, &made->tracks[i], (double)CHART * (double)i);
  fputs("</svg>\n", to);
  return !ferror(to);
}

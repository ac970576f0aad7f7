/* SPDX-License-Identifier: MIT */
/* Charts as one SVG file: ranges, bars by name, points of error against bits, and curves
 * of error against a length. */
#ifndef MPNUM_BENCH_SVG_H
#define MPNUM_BENCH_SVG_H

#include <stdio.h>

enum { SVG_WIDTH = 900, SVG_CHART_HEIGHT = 320, SVG_BARS = 32, SVG_SERIES = 2 };
enum { SVG_LENGTHS = 4 };

/* Groups of bars, one bar for each series. */
typedef struct svg_bars {
  const char *title, *unit;
  unsigned series_count, count;
  const char *series[SVG_SERIES];
  char names[SVG_BARS][24];
  double values[SVG_BARS][SVG_SERIES]; /* NaN: no bar */
} svg_bars;

typedef struct svg_points {
  const char *title;
  unsigned count;
  char names[SVG_BARS][24];
  double bits[SVG_BARS], errors[SVG_BARS]; /* errors of 0 or NaN are not drawn */
} svg_points;

/* One curve for each name: its errors at these lengths, which grow. */
typedef struct svg_curves {
  const char *title, *axis;
  unsigned count, length_count;
  char names[SVG_BARS][24];
  double lengths[SVG_LENGTHS];
  double errors[SVG_BARS][SVG_LENGTHS]; /* those of 0 or NaN are not drawn */
} svg_curves;

/* What lies between, as powers of two. */
typedef struct svg_ranges {
  const char *title;
  unsigned count;
  char names[SVG_BARS][24];
  double smallest[SVG_BARS], min_normal[SVG_BARS], max[SVG_BARS];
} svg_ranges;

/* A page of charts below one another, each SVG_CHART_HEIGHT high. */
void svg_begin(FILE *to, const char *title, unsigned charts);
void svg_draw_bars(FILE *to, unsigned place, const svg_bars *chart);
void svg_draw_points(FILE *to, unsigned place, const svg_points *chart);
void svg_draw_curves(FILE *to, unsigned place, const svg_curves *chart);
void svg_draw_ranges(FILE *to, unsigned place, const svg_ranges *chart);
/* A line of text in the place of a chart. */
void svg_draw_note(FILE *to, unsigned place, const char *text);
void svg_end(FILE *to);

#endif

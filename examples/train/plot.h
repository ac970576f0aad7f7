/* SPDX-License-Identifier: MIT */
/* A picture of a run: loss, scale and share of zeros over steps, one above the other. */
#ifndef EXAMPLES_TRAIN_PLOT_H
#define EXAMPLES_TRAIN_PLOT_H

#include <mpnum/mpnum.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct plot_point {
  uint64_t step;
  float loss, scale, zero_share;
  int is_skipped;
} plot_point;

enum { PLOT_LEFT = 70, PLOT_WIDTH = 600, PLOT_HEIGHT = 130, PLOT_GAP = 45 };

/* What a panel shows; loss and scale as powers of 10 and 2. */
enum plot_panel { PLOT_LOSS, PLOT_SCALE, PLOT_ZEROS, PLOT_PANELS };

static inline float plot_value(const plot_point *point, int panel) {
  if (panel == PLOT_LOSS) return mpnum_log10_sat_f32(point->loss);
  return panel == PLOT_SCALE ? mpnum_log2_f32(point->scale) : 100 * point->zero_share;
}
static inline int plot_is_shown(float y) { return mpnum_isfinite_f32(y); }

/* The lowest and the highest value, at least 1 apart, in whole numbers. */
static inline void plot_range(const plot_point *points, size_t n, int panel, float *low,
                              float *high) {
  *low = 1e9f;
  *high = -1e9f;
  for (size_t i = 0; i < n; ++i) {
    const float y = plot_value(points + i, panel);
    if (!plot_is_shown(y)) continue;
    if (y < *low) *low = (float)(int)(y < 0 ? y - 1 : y);
    if (y > *high) *high = (float)(int)(y > 0 ? y + 1 : y);
  }
  if (panel == PLOT_ZEROS) *low = 0;
  if (!(*high > *low)) *high = *low + 1;
}
static inline void plot_panel_of(FILE *file, const plot_point *points, size_t n,
                                 int panel) {
  static const char *const titles[PLOT_PANELS] = {
      "loss", "scale of the loss", "gradients that are 0, percent; skipped steps in red"};
  static const char *const units[PLOT_PANELS] = {"1e%.0f", "2^%.0f", "%.0f"};
  const int top = PLOT_GAP + panel * (PLOT_HEIGHT + PLOT_GAP);
  const double first = (double)points[0].step;
  const double steps = n > 1 ? (double)(points[n - 1].step - points[0].step) : 1;
  float low = 0, high = 1;
  int is_drawing = 0;
  plot_range(points, n, panel, &low, &high);
  fprintf(file, "<text x='%d' y='%d'>%s</text>\n", PLOT_LEFT, top - 8, titles[panel]);
  fprintf(file, "<rect x='%d' y='%d' width='%d' height='%d' class='frame'/>\n", PLOT_LEFT,
          top, PLOT_WIDTH, PLOT_HEIGHT);
  for (int end = 0; end < 2; ++end) {
    fprintf(file, "<text x='%d' y='%d' text-anchor='end'>", PLOT_LEFT - 6,
            end ? top + 10 : top + PLOT_HEIGHT);
    fprintf(file, units[panel], (double)(end ? high : low));
    fprintf(file, "</text>\n");
  }
  fprintf(file, "<path class='line' d='");
  for (size_t i = 0; i < n; ++i) {
    const float y = plot_value(points + i, panel);
    const double x = PLOT_LEFT + PLOT_WIDTH * ((double)points[i].step - first) / steps;
    if (plot_is_shown(y)) /* what is not finite leaves a gap */
      fprintf(file, "%c%.1f %.1f", is_drawing ? 'L' : 'M', x,
              top + PLOT_HEIGHT * (double)((high - y) / (high - low)));
    is_drawing = plot_is_shown(y);
  }
  fprintf(file, "'/>\n");
  for (size_t i = 0; panel == PLOT_ZEROS && i < n; ++i)
    if (points[i].is_skipped)
      fprintf(file, "<circle cx='%.1f' cy='%d' r='2' fill='#c00'/>\n",
              PLOT_LEFT + PLOT_WIDTH * ((double)points[i].step - first) / steps, top);
}
/* NULL, or what is wrong. */
static inline const char *plot_write(const char *path, const plot_point *points,
                                     size_t n) {
  const int height = PLOT_GAP + PLOT_PANELS * (PLOT_HEIGHT + PLOT_GAP);
  FILE *file = fopen(path, "w");
  int is_lost;
  if (!file) return strerror(errno);
  fprintf(file,
          "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' "
          "font-family='sans-serif' font-size='13'>\n"
          "<style>.frame{fill:none;stroke:#aaa}.line{fill:none;stroke:#06c}</style>\n"
          "<rect width='100%%' height='100%%' fill='#fff'/>\n",
          PLOT_LEFT + PLOT_WIDTH + 20, height);
  for (int panel = 0; n > 0 && panel < PLOT_PANELS; ++panel)
    plot_panel_of(file, points, n, panel);
  if (n > 0)
    fprintf(file, "<text x='%d' y='%d'>steps %llu to %llu</text>\n", PLOT_LEFT,
            height - 18, (unsigned long long)points[0].step,
            (unsigned long long)points[n - 1].step);
  fprintf(file, "</svg>\n");
  is_lost = ferror(file);
  if (fclose(file) != 0) is_lost = 1;
  return is_lost ? "it could not be written" : NULL;
}

#endif

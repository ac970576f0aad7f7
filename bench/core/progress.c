/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

enum { BAR_WIDTH = 30, NAME_WIDTH = 36 };

static const double delay = 0.5, interval = 0.1; /* seconds */

double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *bar, uint64_t total) {
  memset(bar, 0, sizeof *bar);
  bar->enabled = isatty(STDERR_FILENO) == 1;
  bar->total = total ? total : 1;
  bar->started = clock_seconds();
}

static void draw(const progress *bar, const char *what) {
  char cells[BAR_WIDTH + 1], name[4 * NAME_WIDTH + 4];
  double share = (double)bar->done / (double)bar->total;
  int filled = (int)((share > 1 ? 1 : share) * BAR_WIDTH);
  memset(cells, '.', BAR_WIDTH);
  memset(cells, '#', (size_t)filled);
  cells[BAR_WIDTH] = 0;
  shorten(name, sizeof name, NAME_WIDTH, what);
  fprintf(stderr, "\r[%s] %3d %%  %s\033[K", cells, (int)(share * 100), name);
  fflush(stderr);
}

void progress_step(progress *bar, uint64_t amount, const char *what) {
  bar->done += amount;
  if (!bar->enabled) return;
  double now = clock_seconds();
  if (now - bar->started < delay || now - bar->drawn < interval) return;
  bar->drawn = now;
  bar->shown = true;
  draw(bar, what);
}

void progress_end(progress *bar) {
  if (bar->shown) fprintf(stderr, "\r\033[K");
  bar->shown = false;
}

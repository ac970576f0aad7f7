/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include <stdlib.h>
#include <string.h>

#include "progress.h"

/* A pass of 10 ms is past the caches, where warming them up gains nothing. */
static const double sample_seconds = 200e-6, warm_seconds = 10e-3;

void *timing_buffer(size_t bytes) {
  void *buffer = NULL;
  if (posix_memalign(&buffer, 64, bytes) != 0) return NULL;
  memset(buffer, 0, bytes);
  return buffer;
}

void array_pass(const contender *self) { self->array(self->dst, self->src, self->count); }

/* Reads the whole result: no pass is dead code, and the next contender does not pay for
 * writing this one's lines back. */
static void consume(const contender *self) {
  const unsigned char *from = self->dst;
  size_t i, bytes = self->dst_bytes;
  uint64_t sum = 0, word;
  for (i = 0; i + sizeof word <= bytes; i += sizeof word) {
    memcpy(&word, from + i, sizeof word);
    sum += word;
  }
  __asm__ volatile("" : : "r"(sum)); /* as good as used */
}

static double seconds_of(const contender *self, size_t passes) {
  double start = clock_seconds();
  for (size_t i = 0; i < passes; ++i)
    self->pass(self);
  return clock_seconds() - start;
}

static void calibrate(contender *self) {
  double once = seconds_of(self, 1);
  if (once < warm_seconds) once = seconds_of(self, 1);
  self->repeats =
      once >= sample_seconds ? 1 : (size_t)(sample_seconds / (once + 1e-9)) + 1;
  self->warm = once < warm_seconds;
  consume(self);
}

static int compare_doubles(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Between neighbours, in proportion. */
static double quantile(const double *sorted, unsigned count, double share) {
  double place = share * (count - 1);
  unsigned below = (unsigned)place;
  unsigned above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

void timing_spread(double *samples, unsigned count, double *median, double *noise) {
  qsort(samples, count, sizeof *samples, compare_doubles);
  *median = quantile(samples, count, 0.5);
  *noise =
      (quantile(samples, count, 0.75) - quantile(samples, count, 0.25)) / 2 / *median;
}

static void sum_up(contender *self, unsigned rounds) {
  double median;
  timing_spread(self->samples, rounds, &median, &self->noise);
  self->ns = 1e9 * median / ((double)self->repeats * (double)self->count);
  self->samples = NULL;
}

bool timing_measure(contender *list, size_t count, unsigned rounds, progress *bar,
                    const char *what) {
  double *samples = malloc(count * rounds * sizeof *samples);
  if (!samples) return false;
  for (size_t i = 0; i < count; ++i) {
    list[i].samples = samples + i * rounds;
    calibrate(&list[i]);
  }
  for (unsigned round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < count; ++i) {
      contender *self = &list[i];
      if (self->warm) self->pass(self);
      self->samples[round] = seconds_of(self, self->repeats);
      consume(self);
      progress_step(bar, 1, what);
    }
  }
  for (size_t i = 0; i < count; ++i)
    sum_up(&list[i], rounds);
  free(samples);
  return true;
}

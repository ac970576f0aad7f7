/* SPDX-License-Identifier: MIT */
#include "accuracy.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 2048 };

const char *subject_name(const subject *about) {
  return about->file ? about->values->name : about->law->name;
}

const char *subject_source(const subject *about) {
  return about->file ? about->file->path : "synthetic";
}

const char *subject_type(const subject *about) {
  return about->file ? element_name(about->values->type) : "f32";
}

uint64_t accuracy_work(const subject *about, const bool scaling[SCALING_COUNT]) {
  unsigned passes = (unsigned)scaling[SCALING_NONE] + (unsigned)scaling[SCALING_AMAX];
  return about->count * (2 + passes * FORMAT_COUNT);
}

static bool read_values(const subject *about, uint64_t first, float *dst, size_t count,
                        refusal *why) {
  size_t i;
  if (about->file)
    return input_floats(about->file, about->values, first, dst, count, why);
  for (i = 0; i < count; ++i)
    dst[i] = (float)about->law->draw(first + i);
  return true;
}

static size_t chunk_at(const subject *about, uint64_t first) {
  return about->count - first < CHUNK ? (size_t)(about->count - first) : CHUNK;
}

/* First reading: classes and amax. */
static bool scan(subject *about, progress *bar, refusal *why) {
  float values[CHUNK];
  uint64_t first;
  size_t i, count;
  for (first = 0; first < about->count; first += count) {
    count = chunk_at(about, first);
    if (!read_values(about, first, values, count, why)) return false;
    for (i = 0; i < count; ++i) {
      double magnitude = fabs((double)values[i]);
      if (!isfinite(magnitude)) {
        ++about->nonfinite;
      } else {
        ++*(magnitude == 0 ? &about->zeros : &about->nonzero);
        if (magnitude > about->amax) about->amax = magnitude;
      }
    }
    progress_step(bar, count, subject_name(about));
  }
  return true;
}

/* The largest k with amax * 2^k <= max. */
static int amax_exponent(double amax, double max) {
  int amax_power, max_power;
  double amax_fraction = frexp(amax, &amax_power), max_fraction = frexp(max, &max_power);
  if (amax == 0) return 0;
  return max_power - amax_power - (amax_fraction > max_fraction);
}

/* Whether a magnitude rounds, nearest even with the exponent unbounded, past the largest
 * finite value: half a gap above it or more, the half itself only where the largest code
 * is odd. */
static bool overflows(mpnum_format format, double half_past_max, double magnitude) {
  return magnitude > half_past_max ||
         (magnitude == half_past_max && (format.max_code & 1));
}

static void add_values(accuracy *result, const bench_format *entry, const double *values,
                       size_t count) {
  const mpnum_format format = mpnum_format_of(entry->type);
  const double scale = ldexp(1, result->scale_exponent);
  const double unscale = ldexp(1, -result->scale_exponent);
  const double max = (double)mpnum_format_max(format);
  const double top = ldexp(1, mpnum_format_max_exp(format) - 1);
  const double half_past_max = max + ldexp(top, -format.mantissa_bits - 1);
  double scaled[CHUNK], decoded[CHUNK];
  size_t i;
  for (i = 0; i < count; ++i)
    scaled[i] = values[i] * scale;
  entry->round_trip(decoded, scaled, count);
  for (i = 0; i < count; ++i) {
    double x = format.sign_bits ? values[i] : fabs(values[i]);
    double error = decoded[i] * unscale - x;
    double relative = fabs(error / x);
    result->overflow += overflows(format, half_past_max, fabs(scaled[i]));
    result->underflow += fpclassify(decoded[i]) == FP_ZERO;
    if (relative > result->max_relative) result->max_relative = relative;
    result->sum_relative_squares += relative * relative;
    result->signal += x * x;
    result->noise += error * error;
  }
}

/* Nonzero finite values, moved together. */
static size_t select_values(double *dst, const float *src, size_t count) {
  size_t i, kept = 0;
  for (i = 0; i < count; ++i) {
    dst[kept] = (double)src[i];
    kept += isfinite(src[i]) && fpclassify(src[i]) != FP_ZERO;
  }
  return kept;
}

static void prepare(subject *about) {
  int i;
  memset(about->results, 0, sizeof about->results);
  for (i = 0; i < FORMAT_COUNT; ++i) {
    double max = (double)mpnum_format_max(mpnum_format_of(bench_formats[i].type));
    about->results[SCALING_AMAX][i].scale_exponent = amax_exponent(about->amax, max);
  }
}

/* Second reading: all formats at once, so that a file is not read for each. */
static bool quantise(subject *about, const bool scaling[SCALING_COUNT], progress *bar,
                     refusal *why) {
  float values[CHUNK];
  double kept[CHUNK];
  uint64_t first;
  size_t count;
  int i, s;
  prepare(about);
  for (first = 0; first < about->count; first += count) {
    size_t kept_count;
    count = chunk_at(about, first);
    if (!read_values(about, first, values, count, why)) return false;
    kept_count = select_values(kept, values, count);
    for (s = 0; s < SCALING_COUNT; ++s) {
      for (i = 0; i < FORMAT_COUNT && scaling[s]; ++i) {
        add_values(&about->results[s][i], &bench_formats[i], kept, kept_count);
        progress_step(bar, count, subject_name(about));
      }
    }
    progress_step(bar, count, subject_name(about));
  }
  return true;
}

bool accuracy_measure(subject *about, const bool scaling[SCALING_COUNT], progress *bar,
                      refusal *why) {
  about->nonzero = about->zeros = about->nonfinite = 0;
  about->amax = 0;
  return scan(about, bar, why) && quantise(about, scaling, bar, why);
}

double rms_relative_error(const subject *about, const accuracy *result) {
  return sqrt(result->sum_relative_squares / (double)about->nonzero);
}

double overflow_share(const subject *about, const accuracy *result) {
  return (double)result->overflow / (double)about->nonzero;
}

double underflow_share(const subject *about, const accuracy *result) {
  return (double)result->underflow / (double)about->nonzero;
}

double sqnr(const accuracy *result) { return 10 * log10(result->signal / result->noise); }

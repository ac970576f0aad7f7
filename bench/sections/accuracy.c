/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/core/query.h>

#include "../core/distributions.h"
#include "../core/formats.h"
#include "../report/view.h"

enum { CHUNK = 2048 };
static const char section[] = "accuracy";
static const char *const scalings[SCALING_COUNT] = {"as they are", "times 2^k"};

/* Sums over the nonzero finite values x, y = decode(encode_sat(x * 2^k)) / 2^k. */
typedef struct accuracy {
  int scale_exponent;           /* k */
  uint64_t overflow, underflow; /* values that round past max; values that become 0 */
  /* of |y - x| / |x| of the others, which are rounded */
  double max_relative, sum_relative_squares;
  double signal, noise; /* sums of x^2 and of (y - x)^2 */
} accuracy;

/* A tensor of a file, or a distribution. */
typedef struct subject {
  const input *file; /* NULL: synthetic */
  const tensor *values;
  const distribution *law;
  uint64_t count;
  uint64_t nonzero, zeros, nonfinite; /* results: count by class */
  double amax;                        /* result: largest finite magnitude */
  accuracy results[SCALING_COUNT][FORMAT_COUNT];
} subject;

static const char *subject_name(const subject *about) {
  return about->file ? about->values->name : about->law->name;
}

static const char *subject_source(const subject *about) {
  return about->file ? about->file->path : SYNTHETIC;
}

static bool read_values(const subject *about, uint64_t first, float *dst, size_t count,
                        refusal *why) {
  if (about->file)
    return input_floats(about->file, about->values, first, dst, count, why);
  for (size_t i = 0; i < count; ++i)
    dst[i] = (float)about->law->draw(first + i);
  return true;
}

static size_t chunk_at(const subject *about, uint64_t first) {
  return about->count - first < CHUNK ? (size_t)(about->count - first) : CHUNK;
}

/* First reading: classes and amax. */
static bool scan(subject *about, progress *bar, refusal *why) {
  float values[CHUNK];
  size_t count;
  for (uint64_t first = 0; first < about->count; first += count) {
    count = chunk_at(about, first);
    if (!read_values(about, first, values, count, why)) return false;
    for (size_t i = 0; i < count; ++i) {
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
  for (size_t i = 0; i < count; ++i)
    scaled[i] = values[i] * scale;
  entry->round_trip(decoded, scaled, count);
  for (size_t i = 0; i < count; ++i) {
    double x = format.sign_bits ? values[i] : fabs(values[i]);
    double error = decoded[i] * unscale - x;
    double relative = fabs(error / x);
    bool is_over = overflows(format, half_past_max, fabs(scaled[i]));
    bool is_under = fpclassify(decoded[i]) == FP_ZERO;
    result->overflow += is_over;
    result->underflow += is_under;
    if (!is_over && !is_under) {
      if (relative > result->max_relative) result->max_relative = relative;
      result->sum_relative_squares += relative * relative;
    }
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
  memset(about->results, 0, sizeof about->results);
  for (int i = 0; i < FORMAT_COUNT; ++i) {
    double max = (double)mpnum_format_max(mpnum_format_of(bench_formats[i].type));
    about->results[SCALING_AMAX][i].scale_exponent = amax_exponent(about->amax, max);
  }
}

/* Second reading: all formats at once, so that a file is not read for each. */
static bool quantise(subject *about, const bool scaling[SCALING_COUNT], progress *bar,
                     refusal *why) {
  float values[CHUNK];
  double kept[CHUNK];
  size_t count;
  prepare(about);
  for (uint64_t first = 0; first < about->count; first += count) {
    count = chunk_at(about, first);
    if (!read_values(about, first, values, count, why)) return false;
    size_t kept_count = select_values(kept, values, count);
    for (int s = 0; s < SCALING_COUNT; ++s) {
      for (int i = 0; i < FORMAT_COUNT && scaling[s]; ++i) {
        add_values(&about->results[s][i], &bench_formats[i], kept, kept_count);
        progress_step(bar, count, subject_name(about));
      }
    }
    progress_step(bar, count, subject_name(about));
  }
  return true;
}

static void add_results(figures *to, const subject *about, const accuracy *result) {
  const double count = (double)about->nonzero;
  const uint64_t rounded = about->nonzero - result->overflow - result->underflow;
  if (rounded > 0) {
    figures_add(to, "max_relative_error", result->max_relative, "");
    figures_add(to, "rms_relative_error",
                sqrt(result->sum_relative_squares / (double)rounded), "");
  }
  figures_add(to, "sqnr", sqnr_of(result->signal, result->noise), "dB");
  figures_add(to, "overflow_share", (double)result->overflow / count, "");
  figures_add(to, "underflow_share", (double)result->underflow / count, "");
}

static void add_figures(figures *to, const subject *about,
                        const bool scaling[SCALING_COUNT]) {
  const char *source =
      tensor_begin(to, section, subject_source(about), subject_name(about));
  figures_say(to, "type", "%s", about->file ? stored_name(about->values) : "f32");
  if (about->law) figures_say(to, "law", "%s", about->law->law);
  figures_add(to, "values", (double)about->count, "");
  figures_add(to, "zeros", (double)about->zeros, "");
  figures_add(to, "non_finite", (double)about->nonfinite, "");
  figures_add(to, "amax", about->amax, "");
  figures_add(to, "measured", (double)about->nonzero, "");
  for (int i = 0; i < FORMAT_COUNT && about->nonzero > 0; ++i) {
    const mpnum_type type = bench_formats[i].type;
    figures_at(to, section, source, mpnum_type_name(type), "");
    figures_add(to, "bits", format_bits(mpnum_format_of(type)), "bit");
    for (int s = 0; s < SCALING_COUNT; ++s) {
      if (!scaling[s]) continue;
      figures_at(to, section, source, mpnum_type_name(type), scalings[s]);
      add_results(to, about, &about->results[s][i]);
      if (s == SCALING_AMAX)
        figures_add(to, "scale_exponent", about->results[s][i].scale_exponent, "");
    }
  }
}

static bool measure(figures *to, subject *about, const bool scaling[SCALING_COUNT],
                    progress *bar) {
  refusal why;
  if (scan(about, bar, &why) && quantise(about, scaling, bar, &why)) {
    add_figures(to, about, scaling);
    return true;
  }
  progress_end(bar);
  complain(subject_source(about), why.text);
  return false;
}

bool accuracy_measure(figures *to, const input *files, size_t file_count, uint64_t drawn,
                      const bool scaling[SCALING_COUNT], progress *bar) {
  static const subject none;
  const unsigned passes = (unsigned)scaling[SCALING_NONE] + scaling[SCALING_AMAX];
  const size_t laws = drawn > 0 ? DISTRIBUTION_COUNT : 0;
  uint64_t values = laws * drawn;
  bool good = true;
  for (size_t i = 0; i < file_count; ++i) {
    for (size_t t = 0; t < files[i].tensor_count; ++t)
      values += files[i].tensors[t].count;
  }
  progress_begin(bar, values * (2 + passes * FORMAT_COUNT));
  for (size_t i = 0; i < laws && good; ++i) {
    subject about = none;
    about.law = &distributions[i];
    about.count = drawn;
    good = measure(to, &about, scaling, bar);
  }
  for (size_t i = 0; i < file_count; ++i) {
    for (size_t t = 0; t < files[i].tensor_count && good; ++t) {
      subject about = none;
      about.file = &files[i];
      about.values = &files[i].tensors[t];
      about.count = about.values->count;
      good = measure(to, &about, scaling, bar);
    }
  }
  progress_end(bar);
  return good;
}

/* 4.88e-4: three digits in the fewest columns. */
static void show_error(char cell[TABLE_CELL], double error) {
  char text[32];
  int power = 0;
  snprintf(text, sizeof text, "%.2e", error);
  if (sscanf(text + 4, "e%d", &power) != 1 || error <= 0) {
    snprintf(cell, TABLE_CELL, "%g", error);
  } else {
    snprintf(cell, TABLE_CELL, "%.4se%d", text, power);
  }
}

static bool print_tensor(const figures *from, const char *name, FILE *to) {
  static const view_column columns[] = {
      {.heading = "format", .metric = VIEW_NAME},
      VIEW_EACH("max rel", "max_relative_error", show_error),
      VIEW_EACH("rms rel", "rms_relative_error", show_error),
      {.heading = "SQNR dB", .metric = "sqnr", .show = show_sqnr, .each = true},
      {.heading = "over%", .metric = "overflow_share", .show = show_share, .each = true},
      VIEW_EACH("under%", "underflow_share", show_share),
      {.heading = "k", .metric = "scale_exponent", .format = "%.0f", .each = true},
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  const char *law = figures_words(from, section, "law");
  const double zeros = figures_value(from, section, "zeros");
  const double nonfinite = figures_value(from, section, "non_finite");
  fprintf(to, "\n%s: %.0f %s values, amax %.4g", name,
          figures_value(from, section, "values"), figures_words(from, section, "type"),
          figures_value(from, section, "amax"));
  if (zeros > 0) fprintf(to, ", %.0f zeros", zeros);
  if (nonfinite > 0) fprintf(to, ", %.0f not finite", nonfinite);
  fputc('\n', to);
  if (law[0]) fprintf(to, "(%s)\n", law);
  if (!figures_find(from, section, NULL, NULL, NULL, "sqnr"))
    fputs("no nonzero finite value, so no errors\n", to);
  return view_print(&shown, from, to, "%s", "");
}

bool accuracy_print(const figures *from, FILE *to) {
  return tensors_print(from, section, "Accuracy", LINE_WIDTH - 45, print_tensor, to);
}

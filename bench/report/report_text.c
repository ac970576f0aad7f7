/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../sections/arrays/report.h"
#include "../gpu/report.h"
#include "../core/host.h"
#include "../core/limit.h"
#include "../sections/math/report.h"
#include "table.h"

enum { LINE_WIDTH = 100, NOTES_SHOWN = 20 };

bool format_has_inf(mpnum_format format) { return format.inf_code != 0; }
bool format_has_nan(mpnum_format format) { return format.nan_code != 0; }

static const char *format_name(int index) {
  return mpnum_type_name(bench_formats[index].type);
}

static const char *yes(bool truth) { return truth ? "yes" : "-"; }

static bool print_formats(FILE *to) {
  static const char *const names[] = {"format",   "bits",    "s.e.m", "max", "min normal",
                                      "smallest", "epsilon", "Inf",   "NaN", "-0"};
  table made;
  int i;
  table_heading(&made, sizeof names / sizeof *names, names);
  for (i = 0; i < FORMAT_COUNT; ++i) {
    mpnum_format format = mpnum_format_of(bench_formats[i].type);
    table_add(&made, "%s", format_name(i));
    table_add(&made, "%u", format_bits(format));
    table_add(&made, "%d.%d.%d", format.sign_bits, format.exponent_bits,
              format.mantissa_bits);
    table_add(&made, "%.7g", (double)mpnum_format_max(format));
    table_add(&made, "%.7g", (double)mpnum_format_min(format));
    table_add(&made, "%.7g", (double)mpnum_format_true_min(format));
    table_add(&made, "%.7g", (double)mpnum_format_epsilon(format));
    table_add(&made, "%s", yes(format_has_inf(format)));
    table_add(&made, "%s", yes(format_has_nan(format)));
    table_add(&made, "%s", yes(format.has_negative_zero));
  }
  fputs("\nFormats: values each can hold\n", to);
  return table_end(&made, to);
}

static void add_speed(table *made, const speed *shown) {
  table_add(made, "%.3f", shown->ns);
  table_add(made, "%.2f", shown->rate);
  table_add(made, "%.1f", shown->limit);
  table_add(made, "%.1f %%", 100 * shown->rate / shown->limit);
}

static bool print_speed(const speed_results *found, FILE *to) {
  static const char *const names[] = {"format",    "ns/value",  "GB/s",
                                      "copy GB/s", "of copy",   "ns/value",
                                      "GB/s",      "copy GB/s", "of copy"};
  table made;
  int i;
  table_heading(&made, sizeof names / sizeof *names, names);
  table_group(&made, 1, 4, "encode: f32 to format");
  table_group(&made, 5, 4, "decode: format to f32");
  for (i = 0; i < FORMAT_COUNT; ++i) {
    table_add(&made, "%s", format_name(i));
    add_speed(&made, &found->encode[i]);
    add_speed(&made, &found->decode[i]);
  }
  fprintf(
      to,
      "\nSpeed: arrays of %zu values (%zu KiB of f32), one thread, median of %u rounds.\n"
      "GB/s counts bytes read and written; copy is the fastest loop of this run that "
      "reads\n"
      "and writes the same bytes and computes nothing.\n",
      found->count, found->count * sizeof(float) / 1024, found->rounds);
  return table_end(&made, to);
}

static bool print_scalar(const results *found, FILE *to) {
  static const char *const names[] = {"operation", "library", "function", "ns/call",
                                      "x mpnum"};
  table made;
  int i;
  table_heading(&made, sizeof names / sizeof *names, names);
  made.left[1] = made.left[2] = true;
  for (i = 0; i < SCALAR_COUNT; ++i) {
    const scalar_result *row = &found->scalar[i];
    bool same = i > 0 && strcmp(row->operation, row[-1].operation) == 0;
    table_add(&made, "%s", same ? "" : row->operation);
    table_add(&made, "%s", row->library);
    table_add(&made, "%s", row->missing ? row->missing : row->function);
    if (row->missing) {
      table_add(&made, "-");
      table_add(&made, "-");
    } else {
      table_add(&made, "%.2f", row->ns);
      table_add(&made, "%.2f", row->ratio);
    }
  }
  fprintf(to, "\nScalar: one out-of-line call at a time, median of %u rounds\n",
          found->scalar_rounds);
  return table_end(&made, to);
}

/* 0 and 100 only for none at all and for all. */
static void add_share(table *made, double share) {
  if (share <= 0 || share >= 1) {
    table_add(made, "%g", 100 * share);
  } else if (share < 0.00005) {
    table_add(made, "<0.01");
  } else if (share > 0.99995) {
    table_add(made, ">99.99");
  } else {
    table_add(made, "%.2f", 100 * share);
  }
}

/* 4.88e-4: three digits in the fewest columns. */
static void add_error(table *made, double error) {
  char text[32];
  int power = 0;
  snprintf(text, sizeof text, "%.2e", error);
  if (sscanf(text + 4, "e%d", &power) != 1 || error <= 0) {
    table_add(made, "%g", error);
  } else {
    table_add(made, "%.4se%d", text, power);
  }
}

static void add_accuracy(table *made, const subject *about, const accuracy *result) {
  double quality = sqnr(result);
  add_error(made, result->max_relative);
  add_error(made, rms_relative_error(about, result));
  if (isinf(quality)) {
    table_add(made, "exact");
  } else {
    table_add(made, "%.1f", quality);
  }
  add_share(made, overflow_share(about, result));
  add_share(made, underflow_share(about, result));
}

static void accuracy_heading(table *made, const bool scaling[SCALING_COUNT]) {
  static const char *const figures[] = {"max rel", "rms rel", "SQNR dB", "over%",
                                        "under%"};
  size_t i, column = 1, figure_count = sizeof figures / sizeof *figures;
  int s;
  table_begin(made, 1 + (scaling[SCALING_NONE] ? figure_count : 0) +
                        (scaling[SCALING_AMAX] ? figure_count + 1 : 0));
  table_add(made, "format");
  for (s = 0; s < SCALING_COUNT; ++s) {
    size_t width = figure_count + (s == SCALING_AMAX);
    if (!scaling[s]) continue;
    table_group(made, column, width,
                s == SCALING_AMAX ? "times 2^k, amax to max" : "as they are");
    column += width;
    if (s == SCALING_AMAX) table_add(made, "k");
    for (i = 0; i < figure_count; ++i)
      table_add(made, "%s", figures[i]);
  }
}

static bool print_accuracy_table(const subject *about, const bool scaling[SCALING_COUNT],
                                 FILE *to) {
  table made;
  int i;
  accuracy_heading(&made, scaling);
  for (i = 0; i < FORMAT_COUNT; ++i) {
    const accuracy *scaled = &about->results[SCALING_AMAX][i];
    table_add(&made, "%s", format_name(i));
    if (scaling[SCALING_NONE])
      add_accuracy(&made, about, &about->results[SCALING_NONE][i]);
    if (!scaling[SCALING_AMAX]) continue;
    table_add(&made, "%d", scaled->scale_exponent);
    add_accuracy(&made, about, scaled);
  }
  return table_end(&made, to);
}

static void print_title(const subject *about, FILE *to) {
  char name[4 * LINE_WIDTH];
  shorten(name, sizeof name, LINE_WIDTH - 45, subject_name(about));
  fprintf(to, "\n%s: %" PRIu64 " %s values, amax %.4g", name, about->count,
          subject_type(about), about->amax);
  if (about->zeros) fprintf(to, ", %" PRIu64 " zeros", about->zeros);
  if (about->nonfinite) fprintf(to, ", %" PRIu64 " not finite", about->nonfinite);
  fputc('\n', to);
  if (about->law) fprintf(to, "(%s)\n", about->law->law);
}

static void print_source(const subject *about, FILE *to) {
  char source[4 * LINE_WIDTH];
  shorten(source, sizeof source, LINE_WIDTH - 15, subject_source(about));
  fprintf(to, "\nAccuracy: %s\n", about->file ? source : "synthetic distributions");
}

static bool print_accuracy(const results *found, FILE *to) {
  size_t i;
  for (i = 0; i < found->subject_count; ++i) {
    const subject *about = &found->subjects[i];
    if (i == 0 || about->file != about[-1].file) print_source(about, to);
    print_title(about, to);
    if (about->nonzero == 0) {
      fputs("no nonzero finite value, so no errors\n", to);
    } else if (!print_accuracy_table(about, found->chosen->scaling, to)) {
      return false;
    }
  }
  return true;
}

static void print_notes(const results *found, FILE *to) {
  size_t i, n;
  for (i = 0; i < found->file_count; ++i) {
    const input *file = &found->files[i];
    char path[4 * LINE_WIDTH];
    shorten(path, sizeof path, LINE_WIDTH, file->path);
    if (file->note_count > 0) fprintf(to, "\nNotes on %s\n", path);
    for (n = 0; n < file->note_count && n < NOTES_SHOWN; ++n)
      fprintf(to, "%s\n", file->notes[n]);
    if (n < file->note_count) fprintf(to, "and %zu more\n", file->note_count - n);
  }
}

static size_t distinct_compilers(const header_costs *costs,
                                 const char *names[TABLE_COLUMNS]) {
  size_t i, n, count = 0;
  for (i = 0; i < costs->count; ++i) {
    for (n = 0; n < count && strcmp(names[n], costs->rows[i].compiler) != 0; ++n) {
    }
    if (n == count && count + 1 < TABLE_COLUMNS) names[count++] = costs->rows[i].compiler;
  }
  return count;
}

static void add_cost(table *made, const header_costs *costs, const char *header,
                     const char *compiler) {
  size_t i;
  for (i = 0; i < costs->count; ++i) {
    const header_cost *row = &costs->rows[i];
    if (strcmp(row->header, header) != 0 || strcmp(row->compiler, compiler) != 0)
      continue;
    table_add(made, "%.1f",
              fmax(0, 1000 * row->seconds)); /* less than nothing is noise */
    return;
  }
  table_add(made, "-");
}

static bool is_first(const header_costs *costs, size_t index) {
  size_t i;
  for (i = 0; i < index; ++i) {
    if (strcmp(costs->rows[i].header, costs->rows[index].header) == 0) return false;
  }
  return true;
}

static bool print_headers(const header_costs *costs, FILE *to) {
  const char *compilers[TABLE_COLUMNS];
  size_t i, n, count = distinct_compilers(costs, compilers);
  table made;
  table_begin(&made, count + 1);
  table_add(&made, "header");
  for (n = 0; n < count; ++n)
    table_add(&made, "%s", compilers[n]);
  for (i = 0; i < costs->count; ++i) {
    if (!is_first(costs, i)) continue;
    table_add(&made, "%s", costs->rows[i].header);
    for (n = 0; n < count; ++n)
      add_cost(&made, costs, costs->rows[i].header, compilers[n]);
  }
  fprintf(to,
          "\nHeaders: ms to compile #include <header> over an empty file, median of %u\n",
          costs->rounds);
  return table_end(&made, to);
}

static void add_call_heading(table *made, const header_costs *costs,
                             char groups[CALL_COLUMNS][32]) {
  size_t n;
  table_begin(made, 1 + 3 * costs->call_columns);
  table_add(made, "one call to");
  for (n = 0; n < costs->call_columns; ++n) {
    snprintf(groups[n], sizeof groups[n], "%s %s", costs->calls[n].compiler,
             costs->calls[n].optimization);
    table_group(made, 1 + 3 * n, 3, groups[n]);
    table_add(made, "s");
    table_add(made, "x");
    table_add(made, "MiB");
  }
}

static void add_number(table *made, int digits, double number) {
  if (isnan(number)) {
    table_add(made, "-");
  } else {
    table_add(made, "%.*f", digits, number);
  }
}

static void add_call_name(table *made, const call_cost *call) {
  bool own = strcmp(call->library, "mpnum") == 0;
  table_add(made, "%s%s%s", own ? "" : call->library, own ? "" : " ", call->call);
}

/* One line for each reason of a call. */
static void print_missing_calls(const header_costs *costs, FILE *to) {
  const char *last = "";
  size_t i;
  for (i = 0; i < costs->call_count; ++i) {
    const call_cost *call = &costs->calls[i];
    if (call->missing[0] && strcmp(call->missing, last) != 0)
      fprintf(to, "Absent: %s, %s\n", call->library, call->missing);
    last = call->missing;
  }
}

static bool print_calls(const header_costs *costs, FILE *to) {
  char groups[CALL_COLUMNS][32];
  table made;
  size_t i;
  if (costs->call_count == 0) return true;
  add_call_heading(&made, costs, groups);
  for (i = 0; i < costs->call_count; ++i) {
    const call_cost *call = &costs->calls[i];
    if (i % costs->call_columns == 0) add_call_name(&made, call);
    add_number(&made, 2, call->seconds);
    add_number(&made, 1, call->ratio);
    add_number(&made, 0, call->peak_bytes / (1 << 20));
  }
  fprintf(to,
          "\nCalls: a file that includes mpnum.h and makes one call. Seconds of CPU, x: "
          "over immintrin.h\nalone, MiB at the peak, median of %u\n",
          costs->call_rounds);
  if (!table_end(&made, to)) return false;
  print_missing_calls(costs, to);
  return true;
}

bool report_text(const results *found, FILE *to) {
  const options *chosen = found->chosen;
  bool good = true;
  fprintf(to, "mpnum %d.%d.%d on %s, %s -O%s\n", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
          MPNUM_VERSION_PATCH, found->cpu, host_compiler(), BENCH_OPTIMIZATION);
  if (chosen->formats) good = print_formats(to);
  if (chosen->speed) good = good && print_speed(&found->speed, to);
  if (chosen->scalar) good = good && print_scalar(found, to);
  if (chosen->arrays) good = good && arrays_text(&found->arrays, to);
  if (chosen->grad) good = good && grad_text(&found->grad, to);
  if (chosen->math) good = good && math_text(&found->math, to);
  if (chosen->headers) good = good && print_headers(&found->headers, to);
  if (chosen->headers) good = good && print_calls(&found->headers, to);
  if (chosen->accuracy) good = good && print_accuracy(found, to);
  if (chosen->gpu) good = good && gpu_text(&found->gpu, to);
  print_notes(found, to);
  return good;
}

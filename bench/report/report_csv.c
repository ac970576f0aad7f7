/* SPDX-License-Identifier: MIT */
/* One number a line: section,source,name,variant,metric,value,unit. The columns fit every
 * section, so new sections and metrics add lines and never move a column. */
#include "report_csv.h"
#include "results.h"
#include "../sections/arrays/report.h"
#include "../gpu/report.h"
#include "../sections/math/report.h"

#include <math.h>
#include <string.h>

/* RFC 4180: quoted where a comma, a quote or a line end is in it, quotes doubled. */
static void put_text(FILE *to, const char *text) {
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) fputc('"', to);
  for (; *text; ++text) {
    if (*text == '"') fputc('"', to);
    fputc(*text, to);
  }
  if (quoted) fputc('"', to);
}

void csv_put(const csv_place *at, const char *metric, double value, const char *unit) {
  const char *const fields[] = {at->section, at->source, at->name, at->variant, metric};
  size_t i;
  for (i = 0; i < sizeof fields / sizeof *fields; ++i) {
    put_text(at->to, fields[i]);
    fputc(',', at->to);
  }
  if (!isnan(value)) fprintf(at->to, "%.17g", value);
  fprintf(at->to, ",%s\n", unit);
}

static const char *format_name(int index) {
  return mpnum_type_name(bench_formats[index].type);
}

static void put_formats(csv_place at) {
  int i;
  at.section = "formats";
  for (i = 0; i < FORMAT_COUNT; ++i) {
    mpnum_format format = mpnum_format_of(bench_formats[i].type);
    at.name = format_name(i);
    csv_put(&at, "bits", format_bits(format), "bit");
    csv_put(&at, "storage", bench_formats[i].storage_size, "byte");
    csv_put(&at, "sign_bits", format.sign_bits, "bit");
    csv_put(&at, "exponent_bits", format.exponent_bits, "bit");
    csv_put(&at, "mantissa_bits", format.mantissa_bits, "bit");
    csv_put(&at, "bias", format.bias, "");
    csv_put(&at, "max", (double)mpnum_format_max(format), "");
    csv_put(&at, "min_normal", (double)mpnum_format_min(format), "");
    csv_put(&at, "smallest", (double)mpnum_format_true_min(format), "");
    csv_put(&at, "epsilon", (double)mpnum_format_epsilon(format), "");
    csv_put(&at, "has_inf", format_has_inf(format), "");
    csv_put(&at, "has_nan", format_has_nan(format), "");
    csv_put(&at, "has_negative_zero", format.has_negative_zero, "");
  }
}

static void put_speed_row(csv_place at, const char *operation, const speed *row) {
  at.variant = operation;
  csv_put(&at, "time_per_value", row->ns, "ns");
  csv_put(&at, "rate", row->rate, "GB/s");
  csv_put(&at, "copy_rate", row->limit, "GB/s");
  csv_put(&at, "share_of_copy", row->rate / row->limit, "");
}

static void put_speed(csv_place at, const speed_results *found) {
  int i;
  at.section = "speed";
  for (i = 0; i < FORMAT_COUNT; ++i) {
    at.name = format_name(i);
    put_speed_row(at, "encode", &found->encode[i]);
    put_speed_row(at, "decode", &found->decode[i]);
  }
}

static void put_scalar(csv_place at, const results *found) {
  int i;
  at.section = "scalar";
  for (i = 0; i < SCALAR_COUNT; ++i) {
    const scalar_result *row = &found->scalar[i];
    at.source = row->library;
    at.name = row->operation;
    at.variant = row->function;
    csv_put(&at, "time_per_call", row->missing ? (double)NAN : row->ns, "ns");
    csv_put(&at, "ratio_to_mpnum", row->missing ? (double)NAN : row->ratio, "");
  }
}

static void put_headers(csv_place at, const header_costs *costs) {
  size_t i;
  at.section = "headers";
  for (i = 0; i < costs->count; ++i) {
    at.name = costs->rows[i].header;
    at.variant = costs->rows[i].compiler;
    csv_put(&at, "compile_time", costs->rows[i].seconds, "s");
  }
}

static void put_calls(csv_place at, const header_costs *costs) {
  char variant[32];
  size_t i;
  at.section = "calls";
  at.variant = variant;
  for (i = 0; i < costs->call_count; ++i) {
    const call_cost *call = &costs->calls[i];
    at.source = call->library;
    at.name = call->call;
    snprintf(variant, sizeof variant, "%s %s", call->compiler, call->optimization);
    csv_put(&at, "compile_time", call->seconds, "s");
    csv_put(&at, "ratio_to_immintrin", call->ratio, "");
    csv_put(&at, "peak_memory", call->peak_bytes, "byte");
  }
}

static void put_accuracy_row(const csv_place *at, const subject *about,
                             const accuracy *result) {
  csv_put(at, "scale_exponent", result->scale_exponent, "");
  csv_put(at, "max_relative_error", result->max_relative, "");
  csv_put(at, "rms_relative_error", rms_relative_error(about, result), "");
  csv_put(at, "sqnr", sqnr(result), "dB");
  csv_put(at, "overflow_share", overflow_share(about, result), "");
  csv_put(at, "underflow_share", underflow_share(about, result), "");
}

static void put_subject(csv_place at, const subject *about,
                        const bool scaling[SCALING_COUNT]) {
  char variant[32];
  int i, s;
  at.section = "accuracy";
  at.source = subject_source(about);
  at.name = subject_name(about);
  csv_put(&at, "values", (double)about->count, "");
  csv_put(&at, "zeros", (double)about->zeros, "");
  csv_put(&at, "non_finite", (double)about->nonfinite, "");
  csv_put(&at, "amax", about->amax, "");
  at.variant = variant;
  for (s = 0; s < SCALING_COUNT; ++s) {
    for (i = 0; i < FORMAT_COUNT && scaling[s] && about->nonzero > 0; ++i) {
      snprintf(variant, sizeof variant, "%s %s", format_name(i),
               s == SCALING_AMAX ? "amax" : "none");
      put_accuracy_row(&at, about, &about->results[s][i]);
    }
  }
}

bool report_csv(const results *found, FILE *to) {
  const options *chosen = found->chosen;
  csv_place at = {NULL, "", "", "", ""};
  size_t i;
  at.to = to;
  fputs("section,source,name,variant,metric,value,unit\n", to);
  if (chosen->formats) put_formats(at);
  if (chosen->speed) put_speed(at, &found->speed);
  if (chosen->scalar) put_scalar(at, found);
  if (chosen->arrays) arrays_csv(at, &found->arrays);
  if (chosen->grad) arrays_csv(at, &found->grad);
  if (chosen->math) math_csv(at, &found->math);
  if (chosen->headers) put_headers(at, &found->headers);
  if (chosen->headers) put_calls(at, &found->headers);
  if (chosen->gpu) gpu_csv(at, &found->gpu);
  for (i = 0; chosen->accuracy && i < found->subject_count; ++i)
    put_subject(at, &found->subjects[i], chosen->scaling);
  return !ferror(to);
}

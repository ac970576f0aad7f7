/* SPDX-License-Identifier: MIT */
#include "report_json.h"
#include "results.h"

#include <math.h>

#include "../sections/arrays/report.h"
#include "../gpu/report.h"
#include "../sections/math/report.h"

#include "../core/host.h"

enum { SCHEMA = 1 };

static const char *const scaling_names[SCALING_COUNT] = {"none", "amax"};

json_t *json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_whole(uint64_t value) { return json_integer((json_int_t)value); }

json_t *json_text(const char *value) {
  char plain[4096], *at;
  json_t *made = json_string(value);
  if (made) return made;
  snprintf(plain, sizeof plain, "%s", value);
  for (at = plain; *at; ++at) {
    if ((unsigned char)*at >= 0x80) *at = '?';
  }
  return json_string(plain);
}

static const char *format_name(int index) {
  return mpnum_type_name(bench_formats[index].type);
}

static json_t *formats_json(void) {
  json_t *rows = json_array();
  int i;
  for (i = 0; i < FORMAT_COUNT; ++i) {
    mpnum_format format = mpnum_format_of(bench_formats[i].type);
    json_array_append_new(
        rows,
        json_pack(
            "{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:b, s:b, s:b}",
            "format", format_name(i), "bits", (int)format_bits(format), "storage_bytes",
            (int)bench_formats[i].storage_size, "sign_bits", (int)format.sign_bits,
            "exponent_bits", (int)format.exponent_bits, "mantissa_bits",
            (int)format.mantissa_bits, "bias", (int)format.bias, "max",
            json_number((double)mpnum_format_max(format)), "min_normal",
            json_number((double)mpnum_format_min(format)), "smallest",
            json_number((double)mpnum_format_true_min(format)), "epsilon",
            json_number((double)mpnum_format_epsilon(format)), "has_inf",
            (int)format_has_inf(format), "has_nan", (int)format_has_nan(format),
            "has_negative_zero", (int)format.has_negative_zero));
  }
  return rows;
}

static json_t *speed_row(int index, const char *operation, const speed *row) {
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "format", format_name(index),
                   "operation", operation, "ns_per_value", json_number(row->ns),
                   "gb_per_s", json_number(row->rate), "copy_gb_per_s",
                   json_number(row->limit), "share_of_copy",
                   json_number(row->rate / row->limit));
}

static json_t *speed_json(const speed_results *found) {
  json_t *rows = json_array();
  int i;
  for (i = 0; i < FORMAT_COUNT; ++i) {
    json_array_append_new(rows, speed_row(i, "encode", &found->encode[i]));
    json_array_append_new(rows, speed_row(i, "decode", &found->decode[i]));
  }
  return json_pack("{s:o, s:i, s:o}", "values", json_whole(found->count), "rounds",
                   (int)found->rounds, "rows", rows);
}

static json_t *scalar_json(const results *found) {
  json_t *rows = json_array();
  int i;
  for (i = 0; i < SCALAR_COUNT; ++i) {
    const scalar_result *row = &found->scalar[i];
    json_array_append_new(
        rows,
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:s?}", "operation", row->operation,
                  "library", row->library, "function", row->function, "ns_per_call",
                  row->missing ? json_null() : json_number(row->ns), "ratio_to_mpnum",
                  row->missing ? json_null() : json_number(row->ratio), "missing",
                  row->missing));
  }
  return json_pack("{s:i, s:o}", "rounds", (int)found->scalar_rounds, "rows", rows);
}

static json_t *call_json(const call_cost *call) {
  return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s?}", "library", call->library,
                   "call", call->call, "compiler", call->compiler, "optimization",
                   call->optimization, "seconds", json_number(call->seconds),
                   "ratio_to_immintrin", json_number(call->ratio), "peak_bytes",
                   json_number(call->peak_bytes), "missing",
                   call->missing[0] ? call->missing : NULL);
}

static json_t *headers_json(const header_costs *costs) {
  json_t *rows = json_array(), *calls = json_array();
  size_t i;
  for (i = 0; i < costs->count; ++i)
    json_array_append_new(rows,
                          json_pack("{s:s, s:s, s:o}", "header", costs->rows[i].header,
                                    "compiler", costs->rows[i].compiler, "seconds",
                                    json_number(costs->rows[i].seconds)));
  for (i = 0; i < costs->call_count; ++i)
    json_array_append_new(calls, call_json(&costs->calls[i]));
  return json_pack("{s:i, s:o, s:i, s:o}", "rounds", (int)costs->rounds, "rows", rows,
                   "call_rounds", (int)costs->call_rounds, "calls", calls);
}

static json_t *accuracy_row(const subject *about, int scale, int index) {
  const accuracy *result = &about->results[scale][index];
  return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "format",
                   format_name(index), "scale", scaling_names[scale], "scale_exponent",
                   result->scale_exponent, "max_relative_error",
                   json_number(result->max_relative), "rms_relative_error",
                   json_number(rms_relative_error(about, result)), "sqnr_db",
                   json_number(sqnr(result)), "overflow_share",
                   json_number(overflow_share(about, result)), "underflow_share",
                   json_number(underflow_share(about, result)));
}

static json_t *subject_json(const subject *about, const bool scaling[SCALING_COUNT]) {
  json_t *rows = json_array();
  int i, s;
  for (s = 0; s < SCALING_COUNT; ++s) {
    for (i = 0; i < FORMAT_COUNT && scaling[s] && about->nonzero > 0; ++i)
      json_array_append_new(rows, accuracy_row(about, s, i));
  }
  return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "source",
                   json_text(subject_source(about)), "name",
                   json_text(subject_name(about)), "type", subject_type(about), "values",
                   json_whole(about->count), "zeros", json_whole(about->zeros),
                   "non_finite", json_whole(about->nonfinite), "amax",
                   json_number(about->amax), "rows", rows);
}

static json_t *accuracy_json(const results *found) {
  json_t *subjects = json_array();
  size_t i;
  for (i = 0; i < found->subject_count; ++i)
    json_array_append_new(subjects,
                          subject_json(&found->subjects[i], found->chosen->scaling));
  return subjects;
}

static json_t *notes_json(const results *found) {
  json_t *notes = json_array();
  size_t i, n;
  for (i = 0; i < found->file_count; ++i) {
    for (n = 0; n < found->files[i].note_count; ++n)
      json_array_append_new(notes, json_pack("{s:o, s:o}", "source",
                                             json_text(found->files[i].path), "note",
                                             json_text(found->files[i].notes[n])));
  }
  return notes;
}

bool report_json(const results *found, FILE *to) {
  const options *chosen = found->chosen;
  char version[32];
  json_t *root;
  bool good;
  snprintf(version, sizeof version, "%d.%d.%d", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
           MPNUM_VERSION_PATCH);
  root = json_pack("{s:i, s:s, s:s, s:s, s:s}", "schema", SCHEMA, "mpnum", version, "cpu",
                   found->cpu, "compiler", host_compiler(), "optimization",
                   BENCH_OPTIMIZATION);
  if (chosen->formats) json_object_set_new(root, "formats", formats_json());
  if (chosen->speed) json_object_set_new(root, "speed", speed_json(&found->speed));
  if (chosen->scalar) json_object_set_new(root, "scalar", scalar_json(found));
  if (chosen->arrays) json_object_set_new(root, "arrays", arrays_json(&found->arrays));
  if (chosen->grad) json_object_set_new(root, "grad", arrays_json(&found->grad));
  if (chosen->math) json_object_set_new(root, "math", math_json(&found->math));
  if (chosen->headers)
    json_object_set_new(root, "headers", headers_json(&found->headers));
  if (chosen->accuracy) json_object_set_new(root, "accuracy", accuracy_json(found));
  if (chosen->gpu) json_object_set_new(root, "gpu", gpu_json(&found->gpu));
  json_object_set_new(root, "notes", notes_json(found));
  good = root && json_dumpf(root, to, JSON_INDENT(1)) == 0 && fputc('\n', to) != EOF;
  json_decref(root);
  return good;
}

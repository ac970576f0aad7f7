/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>
#include <string.h>

#include <jansson.h>
#include <mpnum/core/detail/config.h>

#include "../core/host.h"
#include "escape.h"

enum { SCHEMA = 2 };

/* JSON has no infinity. */
static json_t *value_of(const figure *row) {
  if (row->words) return json_text(row->words);
  return isinf(row->value) ? json_string(row->value > 0 ? "inf" : "-inf")
                           : json_real(row->value);
}

static json_t *row_of(const figure *row) {
  return json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:s}", "section", row->section,
                   "source", json_text(row->source), "name", json_text(row->name),
                   "variant", row->variant, "metric", row->metric, "value", value_of(row),
                   "unit", row->unit);
}

/* On one line; takes the value. */
static bool put(FILE *to, const char *before, json_t *value) {
  const bool good = value && fputs(before, to) != EOF &&
                    json_dumpf(value, to, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
  json_decref(value);
  return good;
}

static json_t *options_of(const report *about) {
  json_t *list = json_array();
  char *const *next;
  for (next = about->options; next && *next; ++next)
    json_array_append_new(list, json_text(*next));
  return list;
}

bool report_json(const report *about, FILE *to) {
  bool good = put(to, "{\"schema\":", json_integer(SCHEMA)) &&
              put(to, ",\n\"mpnum\":",
                  json_sprintf("%d.%d.%d", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
                               MPNUM_VERSION_PATCH)) &&
              put(to, ",\n\"cpu\":", json_text(about->cpu)) &&
              put(to, ",\n\"compiler\":", json_string(host_compiler())) &&
              put(to, ",\n\"optimization\":", json_string(BENCH_OPTIMIZATION)) &&
              put(to, ",\n\"options\":", options_of(about)) &&
              fputs(",\n\"figures\":[", to) != EOF;
  size_t i;
  for (i = 0; good && i < about->found.count; ++i)
    good = put(to, i ? ",\n" : "\n", row_of(&about->found.rows[i]));
  return good && fputs("\n]}\n", to) != EOF;
}

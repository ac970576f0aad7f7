/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>
#include <string.h>

#include <jansson.h>
#include <mpnum/detail/core/config.h>

#include "../core/host.h"

enum { SCHEMA = 2 };

/* A path, say, may be no UTF-8: then '?' for each byte above 0x7f. */
static json_t *text_of(const char *text) {
  char plain[4096], *at;
  json_t *made = json_string(text);
  if (made) return made;
  snprintf(plain, sizeof plain, "%s", text);
  for (at = plain; *at; ++at) {
    if ((unsigned char)*at >= 0x80) *at = '?';
  }
  return json_string(plain);
}

/* JSON has no infinity. */
static json_t *value_of(const figure *row) {
  if (row->words) return text_of(row->words);
  return isinf(row->value) ? json_string(row->value > 0 ? "inf" : "-inf")
                           : json_real(row->value);
}

static json_t *row_of(const figure *row) {
  return json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:s}", "section", row->section,
                   "source", text_of(row->source), "name", text_of(row->name), "variant",
                   row->variant, "metric", row->metric, "value", value_of(row), "unit",
                   row->unit);
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
    json_array_append_new(list, text_of(*next));
  return list;
}

bool report_json(const report *about, FILE *to) {
  bool good = put(to, "{\"schema\":", json_integer(SCHEMA)) &&
              put(to, ",\n\"mpnum\":",
                  json_sprintf("%d.%d.%d", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
                               MPNUM_VERSION_PATCH)) &&
              put(to, ",\n\"cpu\":", text_of(about->cpu)) &&
              put(to, ",\n\"compiler\":", json_string(host_compiler())) &&
              put(to, ",\n\"optimization\":", json_string(BENCH_OPTIMIZATION)) &&
              put(to, ",\n\"options\":", options_of(about)) &&
              fputs(",\n\"figures\":[", to) != EOF;
  size_t i;
  for (i = 0; good && i < about->found.count; ++i)
    good = put(to, i ? ",\n" : "\n", row_of(&about->found.rows[i]));
  return good && fputs("\n]}\n", to) != EOF;
}

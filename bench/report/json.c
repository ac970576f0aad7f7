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

static json_t *options_of(const report *about) {
  json_t *list = json_array();
  char *const *next;
  for (next = about->options; next && *next; ++next)
    json_array_append_new(list, json_text(*next));
  return list;
}

bool report_json(const report *about, FILE *to) {
  bool good = json_put(to, "{\"schema\":", json_integer(SCHEMA)) &&
              json_put(to, ",\n\"mpnum\":",
                       json_sprintf("%d.%d.%d", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
                                    MPNUM_VERSION_PATCH)) &&
              json_put(to, ",\n\"cpu\":", json_text(about->cpu)) &&
              json_put(to, ",\n\"compiler\":", json_string(host_compiler())) &&
              json_put(to, ",\n\"optimization\":", json_string(BENCH_OPTIMIZATION)) &&
              json_put(to, ",\n\"options\":", options_of(about)) &&
              fputs(",\n\"figures\":[", to) != EOF;
  for (size_t i = 0; good && i < about->found.count; ++i)
    good = json_put(to, i ? ",\n" : "\n", row_of(&about->found.rows[i]));
  return good && fputs("\n]}\n", to) != EOF;
}

/* --- CSV */

/* 17 digits give the same double back. */
static void put_line(FILE *to, const figure *row) {
  const char *const place[] = {row->section, row->source, row->name, row->variant,
                               row->metric};
  for (size_t i = 0; i < sizeof place / sizeof *place; ++i) {
    csv_text(to, place[i]);
    fputc(',', to);
  }
  if (row->words) {
    csv_text(to, row->words);
  } else {
    fprintf(to, "%.17g", row->value);
  }
  fprintf(to, ",%s\n", row->unit);
}

bool report_csv(const report *about, FILE *to) {
  fputs("section,source,name,variant,metric,value,unit\n", to);
  for (size_t i = 0; i < about->found.count; ++i)
    put_line(to, &about->found.rows[i]);
  return !ferror(to);
}

/* SPDX-License-Identifier: MIT */
#include "report.h"

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

/* 17 digits give the same double back. */
static void put_row(FILE *to, const figure *row) {
  const char *const place[] = {row->section, row->source, row->name, row->variant,
                               row->metric};
  size_t i;
  for (i = 0; i < sizeof place / sizeof *place; ++i) {
    put_text(to, place[i]);
    fputc(',', to);
  }
  if (row->words) {
    put_text(to, row->words);
  } else {
    fprintf(to, "%.17g", row->value);
  }
  fprintf(to, ",%s\n", row->unit);
}

bool report_csv(const report *about, FILE *to) {
  size_t i;
  fputs("section,source,name,variant,metric,value,unit\n", to);
  for (i = 0; i < about->found.count; ++i)
    put_row(to, &about->found.rows[i]);
  return !ferror(to);
}

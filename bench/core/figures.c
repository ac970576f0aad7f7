/* SPDX-License-Identifier: MIT */
#include "figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct figure_text {
  struct figure_text *next;
  char text[];
} figure_text;

static char *new_text(figures *to, size_t length) {
  figure_text *made = malloc(sizeof *made + length + 1);
  if (!made) {
    to->failed = true;
    return NULL;
  }
  made->next = to->kept;
  to->kept = made;
  return made->text;
}

/* Most rows have the place of the row before. */
static const char *keep(figures *to, const char *before, const char *text) {
  if (before && strcmp(before, text) == 0) return before;
  char *copy = new_text(to, strlen(text));
  return copy ? strcpy(copy, text) : "";
}

void figures_at(figures *to, const char *section, const char *source, const char *name,
                const char *variant) {
  to->at.section = section;
  to->at.source = keep(to, to->at.source, source);
  to->at.name = keep(to, to->at.name, name);
  to->at.variant = keep(to, to->at.variant, variant);
}

static void append(figures *to, const figure *row) {
  if (to->count == to->limit) {
    const size_t limit = to->limit ? 2 * to->limit : 256;
    figure *grown = realloc(to->rows, limit * sizeof *grown);
    if (!grown) {
      to->failed = true;
      return;
    }
    to->rows = grown;
    to->limit = limit;
  }
  to->rows[to->count++] = *row;
}

void figures_add(figures *to, const char *metric, double value, const char *unit) {
  figure row = to->at;
  row.metric = metric;
  row.unit = unit;
  row.value = value;
  row.words = NULL;
  if (!isnan(value)) append(to, &row);
}

void figures_say(figures *to, const char *metric, const char *format, ...) {
  figure row = to->at;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = new_text(to, (size_t)length);
  if (!text) return;
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  row.metric = metric;
  row.unit = "";
  row.value = (double)NAN;
  row.words = text;
  append(to, &row);
}

void figures_free(figures *list) {
  while (list->kept) {
    figure_text *next = list->kept->next;
    free(list->kept);
    list->kept = next;
  }
  free(list->rows);
  memset(list, 0, sizeof *list);
}

static bool fits(const char *wanted, const char *text) {
  return !wanted || strcmp(wanted, text) == 0;
}

const figure *figures_find(const figures *from, const char *section, const char *source,
                           const char *name, const char *variant, const char *metric) {
  for (size_t i = 0; i < from->count; ++i) {
    const figure *row = &from->rows[i];
    if (fits(name, row->name) && fits(metric, row->metric) &&
        fits(variant, row->variant) && fits(source, row->source) &&
        fits(section, row->section))
      return row;
  }
  return NULL;
}

double figures_value(const figures *from, const char *section, const char *metric) {
  const figure *row = figures_find(from, section, NULL, NULL, NULL, metric);
  return row ? row->value : (double)NAN;
}

const char *figures_words(const figures *from, const char *section, const char *metric) {
  const figure *row = figures_find(from, section, NULL, NULL, NULL, metric);
  return row && row->words ? row->words : "";
}

/* SPDX-License-Identifier: MIT */
/* The one model of a figure. Sections append rows; tables, CSV, JSON and charts are made
 * of them. What was not measured has no row: where that has a reason, a row of the metric
 * `missing` says it in words. */
#ifndef MPNUM_BENCH_FIGURES_H
#define MPNUM_BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "message.h"

/* Texts are never NULL. A row without a name is about its source, one without a source
 * about its section. */
typedef struct figure {
  const char *section; /* "arrays" */
  const char *source;  /* who was measured: "mpnum", a library, a tensor, a GPU */
  const char *name;    /* of what was measured, a line of a table: "f32 to e4m3" */
  const char *variant; /* of that, columns of a table: "256 KiB" */
  const char *metric, *unit;
  double value;
  const char *words; /* instead of a value, or NULL */
} figure;

typedef struct figures {
  figure *rows;
  size_t count, limit;
  figure at;                /* where the next ones belong */
  struct figure_text *kept; /* what rows point to */
  bool failed;              /* out of memory: rows are missing */
} figures;

/* The place of the rows that follow. section stays the caller's, the others are copied.
 */
void figures_at(figures *to, const char *section, const char *source, const char *name,
                const char *variant);
/* metric and unit stay the caller's. A NaN is no figure and adds none. */
void figures_add(figures *to, const char *metric, double value, const char *unit);
void figures_say(figures *to, const char *metric, const char *format, ...)
    BENCH_PRINTF(3, 4);
void figures_free(figures *list);

/* The first row of such a place, any where that is NULL; NULL where there is none. */
const figure *figures_find(const figures *from, const char *section, const char *source,
                           const char *name, const char *variant, const char *metric);

/* The first of a section: NaN, "" where there is none. */
double figures_value(const figures *from, const char *section, const char *metric);
const char *figures_words(const figures *from, const char *section, const char *metric);

#endif

/* SPDX-License-Identifier: MIT */
/* A table of text made of figures: which of a section, in which columns, in which form.
 */
#ifndef MPNUM_BENCH_VIEW_H
#define MPNUM_BENCH_VIEW_H

#include <stdio.h>

#include "../core/figures.h"

enum { TABLE_COLUMNS = 20, TABLE_CELL = 64 };

/* Metrics that stand for the row itself: its name, its source, or both but for mpnum's.
 */
#define VIEW_NAME   "the name"
#define VIEW_SOURCE "the source"
#define VIEW_LABEL  "source and name"

/* A column that no figure is for is left out. */
typedef struct view_column {
  const char *heading, *metric;
  const char *format; /* printf's of the value times `factor`, 0 being 1 */
  double factor;
  void (*show)(char cell[TABLE_CELL], double value); /* instead of format */
  bool left;                                         /* aligned left */
  bool each;           /* once for each variant, which is the heading over such columns */
  const char *group;   /* a heading over neighbours with the same one */
  const char *variant; /* NULL: "", or what `each` has come to */
  const char *source;  /* NULL: the row's */
  const char *instead; /* metric where there is no such figure */
  const char *star_for; /* metric: a star follows where it is 0 */
} view_column;

/* Columns of shares in percent, of the row's or once for each variant; and of a
 * function's text for each variant. */
#define VIEW_SHARE(title, of, form) \
 { .heading = title, .metric = of, .format = form, .factor = 100 }
#define VIEW_SHARES(title, of, form) \
 { .heading = title, .metric = of, .format = form, .factor = 100, .each = true }
#define VIEW_EACH(title, of, shows) \
 { .heading = title, .metric = of, .show = shows, .each = true }

/* Lines are names, or names of a source where a column shows the source. */
typedef struct view {
  const char *section;
  const char *source; /* only figures of this one, or NULL */
  bool others;        /* all but of that one */
  const view_column *columns;
  size_t column_count;
} view;

#define VIEW_COLUMNS(list) .columns = list, .column_count = sizeof(list) / sizeof *(list)

/* Prints a title and the table below it, nothing where there is no line; false when out
 * of memory. */
bool view_print(const view *what, const figures *from, FILE *to, const char *title, ...)
    BENCH_PRINTF(4, 5);

/* A line for each reason in a section: "Absent: NAME, REASON", of the source or the name.
 */
void view_absent(const figures *from, const char *section, bool by_name, FILE *to);

/* "256 KiB" */
void show_bytes(char cell[TABLE_CELL], double bytes);
/* "0.4%", ">99%": in four columns */
void show_noise(char cell[TABLE_CELL], double noise);
/* "0.56", "12.3", "456": three digits of it, or all before the point */
void show_three(char cell[TABLE_CELL], double value);
/* In percent; 0 and 100 only for none at all and for all. */
void show_share(char cell[TABLE_CELL], double share);
/* "31.5", "exact" */
void show_sqnr(char cell[TABLE_CELL], double quality);
/* "yes", "-" */
void show_truth(char cell[TABLE_CELL], double value);

#endif

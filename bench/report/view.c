/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A table of text: cells in reading order, columns as wide as their widest cell. */
typedef struct table {
  size_t columns, count;
  char (*cells)[TABLE_CELL]; /* the first row is the heading */
  bool left[TABLE_COLUMNS];  /* aligned left, else right */
  struct {
    size_t first, count; /* columns under a heading of their own */
    const char *text;
  } groups[TABLE_GROUPS];
  size_t group_count;
  bool failed; /* out of memory */
} table;

static const char gap[] = "  ";

static void table_begin(table *made, size_t column_count) {
  memset(made, 0, sizeof *made);
  made->columns = column_count;
  made->left[0] = true;
}

BENCH_PRINTF(2, 3)
static void table_add(table *made, const char *format, ...) {
  va_list arguments;
  if (!made->failed && made->count % made->columns == 0) {
    size_t cells = made->count + made->columns;
    void *grown = realloc(made->cells, cells * sizeof *made->cells);
    if (grown) made->cells = grown;
    made->failed = !grown;
  }
  if (made->failed) return;
  va_start(arguments, format);
  vsnprintf(made->cells[made->count++], TABLE_CELL, format, arguments);
  va_end(arguments);
}

static void table_group(table *made, size_t first, size_t count, const char *text) {
  made->groups[made->group_count].first = first;
  made->groups[made->group_count].count = count;
  made->groups[made->group_count++].text = text;
}

static void pad(FILE *to, char with, size_t count) {
  while (count-- > 0)
    fputc(with, to);
}

static void print_groups(const table *made, const size_t *widths, FILE *to) {
  size_t column = 0, i, g, spaces = 0;
  for (g = 0; g < made->group_count; ++g) {
    size_t width = 0, text = columns(made->groups[g].text) + 2, left;
    for (; column < made->groups[g].first; ++column)
      spaces += widths[column] + strlen(gap);
    for (i = 0; i < made->groups[g].count; ++i)
      width += widths[column++] + strlen(gap);
    width -= strlen(gap);
    left = width > text ? (width - text) / 2 : 0;
    pad(to, ' ', spaces);
    pad(to, '-', left);
    fprintf(to, " %s ", made->groups[g].text);
    pad(to, '-', width > text ? width - text - left : 0);
    spaces = strlen(gap);
  }
  if (made->group_count > 0) fputc('\n', to);
}

static void print_row(const table *made, const size_t *widths, size_t first, FILE *to) {
  for (size_t i = 0; i < made->columns; ++i) {
    const char *cell = made->cells[first + i];
    size_t space = widths[i] - columns(cell);
    bool last = i + 1 == made->columns;
    if (!made->left[i]) pad(to, ' ', space);
    fputs(cell, to);
    if (made->left[i] && !last) pad(to, ' ', space);
    fputs(last ? "\n" : gap, to);
  }
}

/* Prints and releases; false when memory ran out and nothing was printed. */
static bool table_end(table *made, FILE *to) {
  size_t widths[TABLE_COLUMNS] = {0}, i;
  bool good = !made->failed;
  for (i = 0; good && i < made->count; ++i) {
    size_t width = columns(made->cells[i]), column = i % made->columns;
    if (width > widths[column]) widths[column] = width;
  }
  if (good) print_groups(made, widths, to);
  for (i = 0; good && i + made->columns <= made->count; i += made->columns)
    print_row(made, widths, i, to);
  free(made->cells);
  made->cells = NULL;
  return good;
}

/* A column of the table at hand. */
typedef struct placed {
  const view_column *how;
  const char *variant, *group, *heading;
} placed;

typedef struct grid {
  const view *what;
  const figures *from;
  size_t *lines; /* indices of the first figure of each */
  size_t line_count;
  placed columns[TABLE_COLUMNS];
  size_t column_count;
} grid;

static bool same(const char *a, const char *b) { return strcmp(a, b) == 0; }

static bool is_shown(const view *what, const figure *row) {
  return same(row->section, what->section) && row->name[0] &&
         (!what->source || same(row->source, what->source) != what->others);
}

static bool is_key(const view_column *how) {
  return same(how->metric, VIEW_NAME) || same(how->metric, VIEW_SOURCE) ||
         same(how->metric, VIEW_LABEL);
}

static bool shows_source(const view *what) {
  for (size_t i = 0; i < what->column_count; ++i) {
    const char *metric = what->columns[i].metric;
    if (same(metric, VIEW_SOURCE) || same(metric, VIEW_LABEL)) return true;
  }
  return false;
}

/* The rows from the first of a section to the last. */
static figures section_of(const figures *from, const char *section) {
  figures part = *from;
  while (part.count > 0 && !same(part.rows[part.count - 1].section, section))
    --part.count;
  while (part.count > 0 && !same(part.rows->section, section)) {
    ++part.rows;
    --part.count;
  }
  return part;
}

static void list_lines(grid *made) {
  const bool by_source = shows_source(made->what);
  size_t known;
  for (size_t i = 0; i < made->from->count; ++i) {
    const figure *row = &made->from->rows[i];
    if (!is_shown(made->what, row)) continue;
    for (known = 0; known < made->line_count; ++known) {
      const figure *line = &made->from->rows[made->lines[known]];
      if (same(line->name, row->name) && (!by_source || same(line->source, row->source)))
        break;
    }
    if (known == made->line_count) made->lines[made->line_count++] = i;
  }
}

static const figure *figure_at(const grid *made, const figure *line, const placed *column,
                               const char *metric) {
  const char *source = column->how->source ? column->how->source : line->source;
  return metric ? figures_find(made->from, made->what->section, source, line->name,
                               column->variant, metric)
                : NULL;
}

static bool is_empty(const grid *made, const placed *column) {
  for (size_t i = 0; i < made->line_count && !is_key(column->how); ++i) {
    const figure *line = &made->from->rows[made->lines[i]];
    if (figure_at(made, line, column, column->how->metric) ||
        figure_at(made, line, column, column->how->instead))
      return false;
  }
  return !is_key(column->how);
}

static void place(grid *made, const view_column *how, const char *variant,
                  const char *group, const char *heading) {
  const placed column = {how, variant, group, heading};
  if (made->column_count < TABLE_COLUMNS && !is_empty(made, &column))
    made->columns[made->column_count++] = column;
}

static bool has_metric(const figure *row, const view_column *of) {
  return same(row->metric, of->metric) || (of->instead && same(row->metric, of->instead));
}

/* Columns [first, first + count) for each variant that has something for their first. */
static void place_each(grid *made, const view_column *first, size_t count) {
  const char *variants[TABLE_COLUMNS];
  size_t i, k, known = 0;
  for (i = 0; i < made->from->count && known < TABLE_COLUMNS; ++i) {
    const figure *row = &made->from->rows[i];
    if (!is_shown(made->what, row) || !has_metric(row, first)) continue;
    for (k = 0; k < known && !same(variants[k], row->variant); ++k) {
    }
    if (k == known) variants[known++] = row->variant;
  }
  for (k = 0; k < known; ++k) {
    for (i = 0; i < count; ++i)
      place(made, first + i, variants[k], count > 1 ? variants[k] : NULL,
            count > 1 ? first[i].heading : variants[k]);
  }
}

static void place_columns(grid *made) {
  const view *what = made->what;
  size_t run;
  for (size_t i = 0; i < what->column_count; i += run) {
    const view_column *how = &what->columns[i];
    for (run = 0; i + run < what->column_count && how[run].each; ++run) {
    }
    if (run) {
      place_each(made, how, run);
    } else {
      place(made, how, how->variant ? how->variant : "", how->group, how->heading);
      run = 1;
    }
  }
}

static void add_cell(table *to, const grid *made, const figure *line,
                     const placed *column) {
  const view_column *how = column->how;
  const figure *shown = figure_at(made, line, column, how->metric);
  const figure *star = figure_at(made, line, column, how->star_for);
  char cell[TABLE_CELL] = "-";
  if (!shown) shown = figure_at(made, line, column, how->instead);
  if (same(how->metric, VIEW_NAME)) {
    snprintf(cell, sizeof cell, "%s", line->name);
  } else if (same(how->metric, VIEW_SOURCE)) {
    snprintf(cell, sizeof cell, "%s", line->source);
  } else if (same(how->metric, VIEW_LABEL)) {
    const bool own = same(line->source, "mpnum");
    snprintf(cell, sizeof cell, "%s%s%s", own ? "" : line->source, own ? "" : " ",
             line->name);
  } else if (shown && shown->words) {
    snprintf(cell, sizeof cell, "%s", shown->words);
  } else if (shown && how->show) {
    how->show(cell, shown->value);
  } else if (shown) {
    const double factor = how->factor > 0 ? how->factor : 1;
    snprintf(cell, sizeof cell, how->format, factor * shown->value);
  }
  table_add(to, "%s%s", cell, star && !(star->value > 0) ? "*" : "");
}

static bool same_group(const char *a, const char *b) {
  return a == b || (a && b && same(a, b));
}

static bool print_grid(const grid *made, FILE *to) {
  size_t i, k, first = 0;
  table out;
  table_begin(&out, made->column_count);
  for (i = 0; i < made->column_count; ++i) {
    const char *group = made->columns[i].group;
    const bool last =
        i + 1 == made->column_count || !same_group(made->columns[i + 1].group, group);
    out.left[i] = i == 0 || made->columns[i].how->left;
    if (last && group) table_group(&out, first, i + 1 - first, group);
    if (last) first = i + 1;
    table_add(&out, "%s", made->columns[i].heading);
  }
  for (i = 0; i < made->line_count; ++i) {
    for (k = 0; k < made->column_count; ++k)
      add_cell(&out, made, &made->from->rows[made->lines[i]], &made->columns[k]);
  }
  return table_end(&out, to);
}

bool view_print(const view *what, const figures *from, FILE *to, const char *title, ...) {
  const figures part = section_of(from, what->section);
  grid made = {what, &part, NULL, 0, {{NULL, NULL, NULL, NULL}}, 0};
  va_list arguments;
  bool good = true;
  made.lines = malloc((part.count + 1) * sizeof *made.lines);
  if (!made.lines) return false;
  list_lines(&made);
  if (made.line_count > 0) {
    va_start(arguments, title);
    vfprintf(to, title, arguments);
    va_end(arguments);
    place_columns(&made);
    good = print_grid(&made, to);
  }
  free(made.lines);
  return good;
}

static const char *label_of(const figure *row, bool by_name) {
  return by_name ? row->name : row->source;
}

static bool is_told(const figures *from, size_t index, bool by_name) {
  const figure *row = &from->rows[index];
  for (size_t i = 0; i < index; ++i) {
    const figure *before = &from->rows[i];
    if (same(before->metric, "missing") && same(before->section, row->section) &&
        same(before->words, row->words) &&
        same(label_of(before, by_name), label_of(row, by_name)))
      return true;
  }
  return false;
}

void view_absent(const figures *from, const char *section, bool by_name, FILE *to) {
  bool first = true;
  for (size_t i = 0; i < from->count; ++i) {
    const figure *row = &from->rows[i];
    if (!same(row->section, section) || !same(row->metric, "missing") ||
        is_told(from, i, by_name))
      continue;
    fprintf(to, "%sAbsent: %s, %s\n", first ? "\n" : "", label_of(row, by_name),
            row->words);
    first = false;
  }
}

void show_bytes(char cell[TABLE_CELL], double bytes) {
  const bool mebi = bytes >= 1 << 20;
  snprintf(cell, TABLE_CELL, "%.0f %s", bytes / (mebi ? 1 << 20 : 1 << 10),
           mebi ? "MiB" : "KiB");
}

void show_noise(char cell[TABLE_CELL], double noise) {
  if (noise > 0.99) {
    snprintf(cell, TABLE_CELL, ">99%%");
  } else {
    snprintf(cell, TABLE_CELL, "%.*f%%", noise > 0.0995 ? 0 : 1, 100 * noise);
  }
}

void show_three(char cell[TABLE_CELL], double value) {
  snprintf(cell, TABLE_CELL, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

void show_truth(char cell[TABLE_CELL], double value) {
  snprintf(cell, TABLE_CELL, "%s", value > 0 ? "yes" : "-");
}

void show_share(char cell[TABLE_CELL], double share) {
  if (share <= 0 || share >= 1) {
    snprintf(cell, TABLE_CELL, "%g", 100 * share);
  } else if (share < 0.00005) {
    snprintf(cell, TABLE_CELL, "<0.01");
  } else if (share > 0.99995) {
    snprintf(cell, TABLE_CELL, ">99.99");
  } else {
    snprintf(cell, TABLE_CELL, "%.2f", 100 * share);
  }
}

void show_sqnr(char cell[TABLE_CELL], double quality) {
  snprintf(cell, TABLE_CELL, isinf(quality) ? "exact" : "%.1f", quality);
}

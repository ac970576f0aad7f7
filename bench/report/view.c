/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char gap[] = "  ";

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

/* A cell of a line, or of the heading: line NULL. */
static void show_cell(char cell[TABLE_CELL], const grid *made, const figure *line,
                      const placed *column) {
  const view_column *how = column->how;
  const figure *shown = line ? figure_at(made, line, column, how->metric) : NULL;
  const figure *star = line ? figure_at(made, line, column, how->star_for) : NULL;
  if (line && !shown) shown = figure_at(made, line, column, how->instead);
  if (!line) {
    snprintf(cell, TABLE_CELL, "%s", column->heading);
  } else if (same(how->metric, VIEW_NAME)) {
    snprintf(cell, TABLE_CELL, "%s", line->name);
  } else if (same(how->metric, VIEW_SOURCE)) {
    snprintf(cell, TABLE_CELL, "%s", line->source);
  } else if (same(how->metric, VIEW_LABEL)) {
    const bool own = same(line->source, "mpnum");
    snprintf(cell, TABLE_CELL, "%s%s%s", own ? "" : line->source, own ? "" : " ",
             line->name);
  } else if (!shown) {
    snprintf(cell, TABLE_CELL, "-");
  } else if (shown->words) {
    snprintf(cell, TABLE_CELL, "%s", shown->words);
  } else if (how->show) {
    how->show(cell, shown->value);
  } else {
    const double factor = how->factor > 0 ? how->factor : 1;
    snprintf(cell, TABLE_CELL, how->format, factor * shown->value);
  }
  if (star && !(star->value > 0) && strlen(cell) + 1 < TABLE_CELL) strcat(cell, "*");
}

static const figure *line_at(const grid *made, size_t row) {
  return row > 0 ? &made->from->rows[made->lines[row - 1]] : NULL;
}

static void pad(FILE *to, char with, size_t count) {
  while (count-- > 0)
    fputc(with, to);
}

static bool same_group(const char *a, const char *b) {
  return a == b || (a && b && same(a, b));
}

/* Headings over neighbours with the same one. */
static void print_groups(const grid *made, const size_t *widths, FILE *to) {
  size_t spaces = 0, end;
  bool has_any = false;
  for (size_t first = 0; first < made->column_count; first = end) {
    const char *group = made->columns[first].group;
    size_t width = 0;
    for (end = first;
         end < made->column_count && same_group(made->columns[end].group, group); ++end)
      width += widths[end] + strlen(gap);
    if (group) {
      const size_t text = columns(group) + 2, dashes = width - strlen(gap);
      const size_t left = dashes > text ? (dashes - text) / 2 : 0;
      pad(to, ' ', spaces);
      pad(to, '-', left);
      fprintf(to, " %s ", group);
      pad(to, '-', dashes > text ? dashes - text - left : 0);
      has_any = true;
    }
    spaces = group ? strlen(gap) : spaces + width;
  }
  if (has_any) fputc('\n', to);
}

/* Columns are as wide as their widest cell. */
static void print_grid(const grid *made, FILE *to) {
  size_t widths[TABLE_COLUMNS] = {0};
  char cell[TABLE_CELL];
  for (size_t row = 0; row <= made->line_count; ++row) {
    for (size_t i = 0; i < made->column_count; ++i) {
      show_cell(cell, made, line_at(made, row), &made->columns[i]);
      if (columns(cell) > widths[i]) widths[i] = columns(cell);
    }
  }
  print_groups(made, widths, to);
  for (size_t row = 0; row <= made->line_count; ++row) {
    for (size_t i = 0; i < made->column_count; ++i) {
      const bool last = i + 1 == made->column_count;
      const bool left = i == 0 || made->columns[i].how->left;
      show_cell(cell, made, line_at(made, row), &made->columns[i]);
      if (!left) pad(to, ' ', widths[i] - columns(cell));
      fputs(cell, to);
      if (left && !last) pad(to, ' ', widths[i] - columns(cell));
      fputs(last ? "\n" : gap, to);
    }
  }
}

bool view_print(const view *what, const figures *from, FILE *to, const char *title, ...) {
  const figures part = section_of(from, what->section);
  grid made = {what, &part, NULL, 0, {{NULL, NULL, NULL, NULL}}, 0};
  va_list arguments;
  made.lines = malloc((part.count + 1) * sizeof *made.lines);
  if (!made.lines) return false;
  list_lines(&made);
  if (made.line_count > 0) {
    va_start(arguments, title);
    vfprintf(to, title, arguments);
    va_end(arguments);
    place_columns(&made);
    print_grid(&made, to);
  }
  free(made.lines);
  return true;
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

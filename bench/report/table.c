/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char gap[] = "  ";

void table_begin(table *made, size_t column_count) {
  memset(made, 0, sizeof *made);
  made->columns = column_count;
  made->left[0] = true;
}

void table_add(table *made, const char *format, ...) {
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

void table_group(table *made, size_t first, size_t count, const char *text) {
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
  size_t i;
  for (i = 0; i < made->columns; ++i) {
    const char *cell = made->cells[first + i];
    size_t space = widths[i] - columns(cell);
    bool last = i + 1 == made->columns;
    if (!made->left[i]) pad(to, ' ', space);
    fputs(cell, to);
    if (made->left[i] && !last) pad(to, ' ', space);
    fputs(last ? "\n" : gap, to);
  }
}

bool table_end(table *made, FILE *to) {
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

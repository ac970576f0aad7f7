/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SQNR = 300 };

const char *tensor_begin(figures *to, const char *section, const char *file,
                         const char *name) {
  const size_t size = strlen(file) + strlen(name) + sizeof ": ";
  char *source = malloc(size);
  if (source) snprintf(source, size, "%s: %s", file, name);
  to->failed |= !source;
  figures_at(to, section, source ? source : "", "", "");
  free(source);
  figures_say(to, "file", "%s", file);
  figures_say(to, "tensor", "%s", name);
  return to->at.source;
}

double sqnr_of(double signal, double noise) {
  const double sqnr = 10 * log10(signal / noise);
  return sqnr > MOST_SQNR ? (double)INFINITY : sqnr;
}

static bool begins_tensor(const figure *row, const char *section) {
  return strcmp(row->section, section) == 0 && strcmp(row->metric, "file") == 0;
}

static void print_file(const char *title, const char *file, FILE *to) {
  char name[4 * LINE_WIDTH];
  shorten(name, sizeof name, LINE_WIDTH - 15 - strlen(title), file);
  fprintf(to, "\n%s: %s%s\n", title, name,
          strcmp(file, SYNTHETIC) == 0 ? " distributions" : "");
}

/* Of the tensors of a section, whole or short; NULL when out of memory. */
static char **names_of(const figures *from, const char *section, size_t width,
                       size_t *count) {
  const char **whole = malloc((from->count + 1) * sizeof *whole);
  char **made = NULL;
  size_t i;
  for (*count = i = 0; i + 1 < from->count && whole; ++i) {
    if (begins_tensor(&from->rows[i], section))
      whole[(*count)++] = from->rows[i + 1].words;
  }
  if (whole) made = shorten_apart(whole, *count, width);
  free(whole);
  return made;
}

bool tensors_print(const figures *from, const char *section, const char *title,
                   size_t width,
                   bool (*print)(const figures *part, const char *name, FILE *to),
                   FILE *to) {
  const char *file = "";
  size_t i, count, number = 0;
  char **names = names_of(from, section, width, &count);
  bool good = names != NULL;
  for (i = 0; i < from->count && good; ++i) {
    figures part = *from;
    if (!begins_tensor(&from->rows[i], section)) continue;
    part.rows += i;
    for (part.count = 1; i + part.count < from->count; ++part.count) {
      if (begins_tensor(&part.rows[part.count], section)) break;
    }
    if (strcmp(file, part.rows->words) != 0) {
      file = part.rows->words;
      print_file(title, file, to);
    }
    good = print(&part, names[number++], to);
  }
  shorten_free(names, count);
  return good;
}

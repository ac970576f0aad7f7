/* SPDX-License-Identifier: MIT */
#include "tensors.h"

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

bool tensors_print(const figures *from, const char *section, const char *title,
                   bool (*print)(const figures *part, FILE *to), FILE *to) {
  const char *file = "";
  size_t i;
  for (i = 0; i < from->count; ++i) {
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
    if (!print(&part, to)) return false;
  }
  return true;
}

/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <string.h>

#include <mpnum/core/detail/config.h>

#include "../core/host.h"
#include "../gpu/gpu.h"

enum { NOTES_SHOWN = 20 };

static void print_rest(size_t shown, FILE *to) {
  if (shown > NOTES_SHOWN) fprintf(to, "and %zu more\n", shown - NOTES_SHOWN);
}

/* What was left out of the input files. */
static void print_notes(const figures *from, FILE *to) {
  const char *file = "";
  size_t i, shown = 0;
  for (i = 0; i < from->count; ++i) {
    const figure *row = &from->rows[i];
    if (strcmp(row->section, "input") != 0) continue;
    if (strcmp(row->source, file) != 0) {
      char path[4 * LINE_WIDTH];
      print_rest(shown, to);
      file = row->source;
      shown = 0;
      shorten(path, sizeof path, LINE_WIDTH - 10, file);
      fprintf(to, "\nNotes on %s\n", path);
    }
    if (shown++ < NOTES_SHOWN) fprintf(to, "%s\n", row->words);
  }
  print_rest(shown, to);
}

static void print_answer(const report *about, FILE *to) {
  answer_print(&about->found, wants_colour(fileno(to)), to);
  if (about->why) {
    answer_why(&about->found, to);
    return;
  }
  fprintf(to, "More: --why%s; also: --scalar --arrays --blocks --grad --math --headers\n",
          about->tables ? "" : " --details");
  if (figures_words(&about->found, "gpu", "missing")[0])
    fprintf(to, "No GPU: %s. ", figures_words(&about->found, "gpu", "missing"));
  fputs("Tensor by tensor: ./mpnum inspect FILE\n", to);
}

bool sections_print(const report *about, FILE *to) {
  static bool (*const prints[])(const figures *from, FILE *to) = {
      formats_print, speed_print,    scalar_print,  long_print,
      headers_print, accuracy_print, product_print, gpu_print};
  bool good = true;
  fprintf(to, "mpnum %d.%d.%d on %s, %s -O%s\n", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
          MPNUM_VERSION_PATCH, about->cpu, host_compiler(), BENCH_OPTIMIZATION);
  if (about->answer) print_answer(about, to);
  if (about->answer && !about->tables) return !ferror(to);
  for (size_t i = 0; good && i < sizeof prints / sizeof *prints; ++i)
    good = prints[i](&about->found, to);
  print_notes(&about->found, to);
  return good && !ferror(to);
}

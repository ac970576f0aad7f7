/* SPDX-License-Identifier: MIT */
/* Block formats in the answer. A kind is given the one with the fewest bits whose SQNR,
 * of its worst tensor and the worse way of its blocks, is about that of the format
 * chosen for the kind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/advice.h>

#include "../input/block_fits.h"
#include "answer.h"

static const char section[] = "advice";

/* Of all tensors of a kind. */
typedef struct block_outcome {
  const char *kind;
  unsigned tensors;
  struct {
    double bits, rows, columns; /* the most; SQNR, the least */
  } of[BLOCK_FORMATS];
} block_outcome;
enum { KIND_LIMIT = 4 };

/* 100 for "10.0"; 0: no GPU. */
static int capability_of(const figures *from) {
  int major = 0, minor = 0;
  const figure *found = figures_find(from, NULL, NULL, NULL, NULL, "compute_capability");
  if (!found || !found->words || sscanf(found->words, "%d.%d", &major, &minor) != 2)
    return 0;
  return 10 * major + minor;
}

static bool applies_scales(unsigned number, int capability) {
  const mpnum_blockscale_format format = block_format_of(number).format;
  return (mpnum_gpu_block_support(&format, capability) & MPNUM_GPU_BLOCK_SCALES) != 0;
}

static block_outcome *outcome_for(block_outcome list[KIND_LIMIT], const char *kind) {
  int i = 0;
  while (list[i].kind && strcmp(list[i].kind, kind) != 0)
    ++i;
  list[i].kind = kind;
  return &list[i];
}

static void add_fits(block_outcome *all, const block_fit fits[BLOCK_FORMATS]) {
  unsigned f;
  for (f = 0; f < BLOCK_FORMATS; ++f) {
    if (all->tensors == 0) all->of[f].rows = all->of[f].columns = (double)NAN;
    all->of[f].bits = fmax(all->of[f].bits, fits[f].bits);
    all->of[f].rows = fmin(all->of[f].rows, fits[f].sqnr[0]);
    all->of[f].columns = fmin(all->of[f].columns, fits[f].sqnr[1]); /* of no NaN */
  }
  ++all->tensors;
}

static bool add_tensor(figures *to, const input *file, const tensor *values,
                       block_outcome list[KIND_LIMIT], refusal *why) {
  const size_t size = strlen(file->path) + strlen(values->name) + sizeof ": ";
  const char *kind = answer_kind(values->name);
  char *source = malloc(size);
  block_fit fits[BLOCK_FORMATS];
  const figure *amax;
  if (!source) return refuse(why, "out of memory");
  snprintf(source, size, "%s: %s", file->path, values->name);
  amax = figures_find(to, "accuracy", source, NULL, NULL, "amax");
  free(source);
  if (!kind || !amax || amax->value <= 0) return true;
  if (!block_fits(file, values, amax->value, false, fits, why)) return false;
  add_fits(outcome_for(list, kind), fits);
  return true;
}

static double worse_of(const block_outcome *all, unsigned f) {
  return fmin(all->of[f].rows, all->of[f].columns);
}

/* In bits, or the better one of as many. */
static bool is_less_of(const block_outcome *all, unsigned f, unsigned other) {
  if (all->of[f].bits < all->of[other].bits) return true;
  return all->of[f].bits <= all->of[other].bits &&
         worse_of(all, f) > worse_of(all, other);
}

/* Nothing where the kind has no small format to be as good as. */
static void choose(figures *to, const block_outcome *all, int capability,
                   bool are_asked) {
  const figure *format = figures_find(to, section, all->kind, "", "", "format");
  const figure *sqnr =
      format ? figures_find(to, section, all->kind, format->words, "", "sqnr") : NULL;
  const double wanted = sqnr ? sqnr->value - BLOCK_SLACK : (double)INFINITY;
  int chosen = -1;
  unsigned f;
  for (f = 0; f < BLOCK_FORMATS; ++f) {
    if (!are_asked && !applies_scales(f, capability)) continue;
    figures_at(to, section, all->kind, block_format_of(f).name, "");
    figures_add(to, "bits", all->of[f].bits, "bit");
    figures_add(to, "sqnr_in_rows", all->of[f].rows, "dB");
    figures_add(to, "sqnr_in_columns", all->of[f].columns, "dB");
    figures_add(to, "gpu_applies_scales", applies_scales(f, capability), "");
    if (worse_of(all, f) >= wanted &&
        (chosen < 0 || is_less_of(all, f, (unsigned)chosen)))
      chosen = (int)f;
  }
  figures_at(to, section, all->kind, "", "");
  figures_say(to, "block_format", "%s",
              chosen < 0 ? "-" : block_format_of((unsigned)chosen).name);
}

bool answer_blocks(figures *to, const input *files, size_t file_count, bool are_asked) {
  const int capability = capability_of(to);
  block_outcome list[KIND_LIMIT];
  refusal why;
  bool is_wanted = are_asked;
  size_t i, t;
  unsigned f;
  memset(list, 0, sizeof list);
  for (f = 0; f < BLOCK_FORMATS; ++f)
    is_wanted = is_wanted || applies_scales(f, capability);
  for (i = 0; i < file_count && is_wanted; ++i) {
    for (t = 0; t < files[i].tensor_count; ++t) {
      if (add_tensor(to, &files[i], &files[i].tensors[t], list, &why)) continue;
      complain(files[i].path, why.text);
      return false;
    }
  }
  for (i = 0; i < KIND_LIMIT && list[i].kind; ++i)
    choose(to, &list[i], capability, are_asked);
  return true;
}

static void show_quality(char *text, size_t size, const figure *sqnr) {
  snprintf(text, size, "-");
  if (sqnr) snprintf(text, size, isinf(sqnr->value) ? "exact" : "%.1f", sqnr->value);
}

void answer_why_blocks(const figures *from, const char *kind, FILE *to) {
  const figure *chosen = figures_find(from, section, kind, "", "", "block_format");
  unsigned f;
  for (f = 0; f < BLOCK_FORMATS; ++f) {
    const char *name = block_format_of(f).name;
    const figure *bits = figures_find(from, section, kind, name, "", "bits");
    const figure *gpu = figures_find(from, section, kind, name, "", "gpu_applies_scales");
    char rows[16], columns[16];
    if (!bits || !gpu || !chosen) continue;
    show_quality(rows, sizeof rows,
                 figures_find(from, section, kind, name, "", "sqnr_in_rows"));
    show_quality(columns, sizeof columns,
                 figures_find(from, section, kind, name, "", "sqnr_in_columns"));
    fprintf(to, "  %-8s %5.2f bits, SQNR %5s dB in rows, %5s in columns%s%s\n", name,
            bits->value, rows, columns, gpu->value > 0 ? ", on this GPU" : "",
            strcmp(name, chosen->words) == 0 ? ": chosen" : "");
  }
}

/* SPDX-License-Identifier: MIT */
/* Which rows come first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

const fit *best_of(const row *about) {
  return about->chosen.best < 0 ? NULL : &about->fits[about->chosen.best];
}

const char *shown_block(const inspection *run, const choice *of) {
  return run->chosen->blocks ? block_name(of) : NULL;
}

const fit *fit_of_f16(const inspection *run, const row *about) {
  return &about->fits[run->all.candidate_count - 2];
}

const fit *fit_of_bf16(const inspection *run, const row *about) {
  return &about->fits[run->all.candidate_count - 1];
}

bool survives(const row *about, const fit *what) {
  return what->clipped <= 0 && what->flushed <= LOST_SHARE * nonzero_of(about);
}

static double lost_share(const row *about) {
  const fit *best = best_of(about);
  return best ? (best->clipped + best->flushed) / fmax(nonzero_of(about), 1) : 2;
}

bool is_narrow(const row *about) {
  return about->chosen.best >= 0 && about->chosen.of[about->chosen.best].bits <= 8;
}

/* Inf and NaN first, then what no format of 8 bits holds, then what f16 does not hold,
 * each by signal over noise. */
static double trouble(const inspection *run, const row *about) {
  const fit *best = best_of(about);
  const double sqnr = best && isfinite(best->sqnr) ? best->sqnr : best ? 999 : -999;
  const findings *found = &about->found;
  return 8e4 * (found->infs + found->nans > 0) +
         4e4 * !survives(about, fit_of_bf16(run, about)) + 2e4 * !is_narrow(about) +
         1e4 * !survives(about, fit_of_f16(run, about)) - sqnr;
}

/* More comes first. */
static double key_of(const inspection *run, const row *about) {
  const fit *best = best_of(about);
  switch (run->chosen->sort) {
  case SORT_TROUBLE: return trouble(run, about);
  case SORT_SIZE: return (double)about->values->count;
  case SORT_AMAX: return about->found.amax;
  case SORT_SQNR: return best ? -best->sqnr : (double)INFINITY;
  case SORT_LOST: return lost_share(about);
  default: return 0;
  }
}

typedef struct entry {
  double key;
  size_t place; /* as in the files */
  row *about;
} entry;

static int compare_keys(const void *a, const void *b) {
  const entry *left = a, *right = b;
  if (left->key > right->key) return -1;
  if (left->key < right->key) return 1;
  return left->place < right->place ? -1 : left->place > right->place;
}

static int compare_names(const void *a, const void *b) {
  const entry *left = a, *right = b;
  const int order = strcmp(left->about->values->name, right->about->values->name);
  return order != 0 ? order : compare_keys(a, b);
}

/* With an Inf or NaN it has a row. */
static bool is_small(const row *about) {
  return about->values->count < LEAST_VALUES &&
         about->found.infs + about->found.nans == 0;
}

/* Small tensors go to the end, unless they were asked for by name or there are no others.
 */
static void split_rows(inspection *run, const entry *list) {
  const bool all = run->chosen->details || run->chosen->glob_count > 0;
  size_t i, next = 0;
  for (i = run->large = 0; i < run->all.count; ++i)
    run->large += all || !is_small(list[i].about);
  if (run->large == 0) run->large = run->all.count;
  const bool is_split = run->large < run->all.count;
  for (int small = 0; small < 2; ++small) {
    for (i = 0; i < run->all.count; ++i) {
      if ((is_split && is_small(list[i].about)) == (small > 0))
        run->order[next++] = list[i].about;
    }
  }
  run->shown = run->large;
  if (run->chosen->top > 0 && run->chosen->top < run->large)
    run->shown = run->chosen->top;
}

bool sort_rows(inspection *run) {
  entry *list = malloc((run->all.count + 1) * sizeof *list);
  if (!list) return false;
  for (size_t i = 0; i < run->all.count; ++i) {
    list[i].key = key_of(run, &run->all.rows[i]);
    list[i].place = i;
    list[i].about = &run->all.rows[i];
  }
  qsort(list, run->all.count, sizeof *list,
        run->chosen->sort == SORT_NAME ? compare_names : compare_keys);
  split_rows(run, list);
  free(list);
  return true;
}

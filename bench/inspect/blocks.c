/* SPDX-License-Identifier: MIT */
/* Block formats, where they are asked for. */
#include <math.h>

#include "inspect.h"

/* The fewest bits at which blocks in rows are as good as the best format of 8 bits; the
 * best ones, where there is none or they are not. */
static int choose(const row *about) {
  const fit *best = best_of(about);
  const double wanted = best ? best->sqnr - BLOCK_SLACK : (double)INFINITY;
  int chosen = 0, f;
  for (f = 1; f < BLOCK_FORMATS; ++f) {
    const block_fit *a = &about->blocks[f], *b = &about->blocks[chosen];
    const bool is_good = a->sqnr[0] >= wanted, was_good = b->sqnr[0] >= wanted;
    if (is_good != was_good             ? is_good
        : is_good && a->bits != b->bits ? a->bits < b->bits
                                        : a->sqnr[0] > b->sqnr[0])
      chosen = f;
  }
  return chosen;
}

bool judge_blocks(const inspection *run, row *about, refusal *why) {
  about->block = -1;
  if (!run->chosen->blocks || about->values->count == 0 || about->found.amax <= 0 ||
      about->found.too_large > 0)
    return true;
  if (!block_fits(about->file, about->values, about->found.amax, run->chosen->exact,
                  about->blocks, why))
    return false;
  about->block = choose(about);
  return true;
}

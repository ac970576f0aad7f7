/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <string.h>

#include "arrays/arrays.h"
#include "blocks/blocks.h"
#include "math/measure.h"

enum { ROUNDS = 11, LONG_ROUNDS = 5, QUICK_ROUNDS = 3 };
enum { VALUES = 1 << 20, QUICK_VALUES = 4096 };

bool long_force_isa(int isa) {
  return array_functions.force_isa(isa) && block_functions.force_isa(isa) &&
         grad_functions.force_isa(isa) && math_force_isa(isa);
}

static bool measure_arrays(figures *to, const bench_options *chosen, progress *bar,
                           const array_set *set, unsigned threads) {
  static const array_plan full = {
      {4 << 10, 256 << 10, 256 << 20},
      {ROUNDS, ROUNDS, LONG_ROUNDS},
      1,
      {256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20}};
  static const array_plan quick = {
      {4 << 10, 16 << 10, 64 << 10},
      {QUICK_ROUNDS, QUICK_ROUNDS, QUICK_ROUNDS},
      1,
      {4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10}};
  array_plan plan = chosen->quick ? quick : full;
  array_results found;
  memset(&found, 0, sizeof found);
  plan.threads = threads;
  bool good = arrays_measure(&found, set, &plan, bar);
  if (good) arrays_figures(to, &found);
  arrays_free(&found);
  return good || (complain(NULL, "out of memory, or of threads"), false);
}

static bool measure_math(figures *to, const bench_options *chosen, progress *bar) {
  static const math_plan full = {64 << 10, 256 << 20, ROUNDS};
  static const math_plan quick = {QUICK_VALUES, 1 << 20, QUICK_ROUNDS};
  return math_measure(to, chosen->quick ? &quick : &full, bar) ||
         (complain(NULL, "out of memory"), false);
}

/* One thread: a part of an array would be another matrix. */
static bool measure_blocks(figures *to, const bench_options *chosen, const input *files,
                           size_t file_count, progress *bar) {
  const size_t drawn = chosen->quick ? QUICK_VALUES : VALUES;
  return blocks_measure_accuracy(to, files, file_count, drawn, bar) &&
         measure_arrays(to, chosen, bar, &blocks_set, 1);
}

bool long_measure(figures *to, const bench_options *chosen, const input *files,
                  size_t file_count, progress *bar) {
  const unsigned threads = chosen->threads;
  source_hold((array_data)chosen->data);
  if (chosen->arrays && !measure_arrays(to, chosen, bar, &arrays_set, threads))
    return false;
  if (chosen->blocks && !measure_blocks(to, chosen, files, file_count, bar)) return false;
  if (chosen->grad && !measure_arrays(to, chosen, bar, &grad_set, threads)) return false;
  return !chosen->math || measure_math(to, chosen, bar);
}

bool long_print(const figures *from, FILE *to) {
  return arrays_print(&arrays_set, from, to) && arrays_print(&blocks_set, from, to) &&
         blocks_print_accuracy(from, to) && arrays_print(&grad_set, from, to) &&
         math_print(from, to);
}

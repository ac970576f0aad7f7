/* SPDX-License-Identifier: MIT */
/* The sections that take minutes and a long build: --arrays, --blocks, --grad and --math.
 * A program without them has no_long.c instead. */
#ifndef MPNUM_BENCH_LONG_H
#define MPNUM_BENCH_LONG_H

#include <stdbool.h>
#include <stdio.h>

#include "../core/figures.h"
#include "../core/options.h"
#include "../core/progress.h"
#include "../input/input.h"

/* False where this CPU has no such instructions. */
bool long_force_isa(int isa);

/* Those that were chosen; false where one failed, which is then told. */
bool long_measure(figures *to, const bench_options *chosen, const input *files,
                  size_t file_count, progress *bar);

/* False when out of memory. */
bool long_print(const figures *from, FILE *to);

#endif

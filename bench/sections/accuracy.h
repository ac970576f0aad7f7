/* SPDX-License-Identifier: MIT */
/* What each format does to the values of a tensor. */
#ifndef MPNUM_BENCH_ACCURACY_H
#define MPNUM_BENCH_ACCURACY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../core/figures.h"
#include "../core/options.h"
#include "../core/progress.h"
#include "../input/input.h"

/* Of each distribution, as many values as are drawn, if any, and of each tensor of the
 * files, which is read twice. False where one could not be read, which is then told. */
bool accuracy_measure(figures *to, const input *files, size_t file_count, uint64_t drawn,
                      const bool scaling[SCALING_COUNT], progress *bar);
bool accuracy_print(const figures *from, FILE *to);

#endif

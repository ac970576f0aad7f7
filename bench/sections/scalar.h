/* SPDX-License-Identifier: MIT */
/* One out-of-line call of a conversion, beside other libraries that the build found. */
#ifndef MPNUM_BENCH_SCALAR_H
#define MPNUM_BENCH_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../core/figures.h"
#include "../core/progress.h"

enum { SCALAR_VALUES = 65536 };

/* Appends the figures; false when out of memory. */
bool scalar_measure(figures *to, size_t count, unsigned rounds, progress *bar);
uint64_t scalar_work(unsigned rounds);
bool scalar_print(const figures *from, FILE *to);

#endif

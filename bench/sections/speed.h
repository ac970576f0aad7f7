/* SPDX-License-Identifier: MIT */
/* Time of array conversions against the copy limit. */
#ifndef MPNUM_BENCH_SPEED_H
#define MPNUM_BENCH_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../core/figures.h"
#include "../core/formats.h"
#include "../core/progress.h"

/* Appends the figures; false when out of memory. */
bool speed_measure(figures *to, size_t size, unsigned rounds, progress *bar);
uint64_t speed_work(unsigned rounds);
bool speed_print(const figures *from, FILE *to);

/* Timed values: f32 of the normal distribution. NULL when out of memory. */
float *speed_values(size_t count);

#endif

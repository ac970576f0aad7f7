/* SPDX-License-Identifier: MIT */
/* What each format can hold. */
#ifndef MPNUM_BENCH_SECTIONS_FORMATS_H
#define MPNUM_BENCH_SECTIONS_FORMATS_H

#include <stdio.h>

#include "../core/figures.h"

void formats_list(figures *to);
bool formats_print(const figures *from, FILE *to);

#endif

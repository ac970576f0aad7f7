/* SPDX-License-Identifier: MIT */
/* What a header and a call cost a compile, from tools/include-cost. */
#ifndef MPNUM_BENCH_HEADERS_H
#define MPNUM_BENCH_HEADERS_H

#include <stdio.h>

#include "../core/figures.h"

/* Runs the tool, which takes minutes, and appends its figures. */
bool headers_measure(figures *to, unsigned rounds, unsigned call_rounds, refusal *why);
bool headers_print(const figures *from, FILE *to);

#endif

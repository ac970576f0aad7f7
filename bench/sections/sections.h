/* SPDX-License-Identifier: MIT */
/* All sections, in the order of the report. */
#ifndef MPNUM_BENCH_SECTIONS_H
#define MPNUM_BENCH_SECTIONS_H

#include <stdio.h>

#include "../report/report.h"

/* The tables of the sections that have figures; false where memory or the stream failed.
 */
bool sections_print(const report *about, FILE *to);

#endif

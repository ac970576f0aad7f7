/* SPDX-License-Identifier: MIT */
#ifndef MPNUM_BENCH_CLOCK_H
#define MPNUM_BENCH_CLOCK_H

/* Seconds since some moment that stays; no change of the date moves them. */
double clock_seconds(void);

#endif

/* SPDX-License-Identifier: MIT */
/* A bar on stderr while work takes longer than half a second; nothing where stderr is no
 * terminal. */
#ifndef MPNUM_BENCH_PROGRESS_H
#define MPNUM_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since some moment that stays; no change of the date moves them. */
double clock_seconds(void);

typedef struct progress {
  bool enabled, shown;
  uint64_t done, total;
  double started, drawn; /* seconds */
} progress;

void progress_begin(progress *bar, uint64_t total);
void progress_step(progress *bar, uint64_t amount, const char *what);
void progress_end(progress *bar);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Threads that wait between pieces of work, so that a piece may be as short as an array
 * of 4 KiB. */
#ifndef MPNUM_BENCH_TEAM_H
#define MPNUM_BENCH_TEAM_H

#include <stdbool.h>

typedef struct team team;

/* NULL when there cannot be so many threads. The caller is one of them. */
team *team_start(unsigned threads);
void team_stop(team *self);

/* Calls work(context, thread) once in each thread and returns when all have. */
void team_run(team *self, void (*work)(const void *context, unsigned thread),
              const void *context);

#endif

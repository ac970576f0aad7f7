/* SPDX-License-Identifier: MIT */
/* What a test samples unless it is asked for all by the argument --all, as the full tier
 * does. Include it once. */
#ifndef MPNUM_TESTS_SAMPLES_H
#define MPNUM_TESTS_SAMPLES_H

#include <string.h>

static int takes_all;

static inline void read_arguments(int argc, char **argv) {
  takes_all = argc > 1 && strcmp(argv[1], "--all") == 0;
}
/* Of so many an eighth. */
static inline int samples(int count) { return takes_all ? count : count / 8; }

#endif

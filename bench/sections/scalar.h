/* SPDX-License-Identifier: MIT */
/* One out-of-line call of a conversion, beside other libraries that the build found. */
#ifndef MPNUM_BENCH_SCALAR_H
#define MPNUM_BENCH_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/progress.h"

enum { SCALAR_COUNT = 18, SCALAR_VALUES = 65536 };

typedef struct scalar_result {
  const char *operation, *library, *function;
  const char *missing; /* why there is no time, or NULL */
  double ns;           /* of one call */
  double ratio;        /* to mpnum's call of the same operation */
} scalar_result;

/* False when out of memory. */
bool scalar_measure(scalar_result results[SCALAR_COUNT], size_t count, unsigned rounds,
                    progress *bar);
uint64_t scalar_work(unsigned rounds);

#endif

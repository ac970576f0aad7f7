/* SPDX-License-Identifier: MIT */
/* The copy limit: loops that read and write the bytes of a conversion and compute
 * nothing. */
#ifndef MPNUM_BENCH_LIMIT_H
#define MPNUM_BENCH_LIMIT_H

#include <stddef.h>

#include "timing.h"

typedef struct copy_loop {
  unsigned src_size, dst_size; /* bytes of one element */
  void (*copy)(void *dst, const void *src, size_t count);
} copy_loop;

enum { COPY_LOOP_LIMIT = 32 };

/* Lists the loops that this CPU can run and returns their number. Counts of elements must
 * be multiples of 256, buffers aligned to 64 bytes. */
size_t copy_loops(copy_loop list[COPY_LOOP_LIMIT]);

/* GB/s, read and written, of the fastest measured loop of this shape. The first `count`
 * contenders belong to the list. */
double copy_limit(const copy_loop *list, const contender *measured, size_t count,
                  unsigned src_size, unsigned dst_size);

#endif

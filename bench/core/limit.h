/* SPDX-License-Identifier: MIT */
/* The copy limit: loops that read and write the bytes of an operation and compute
 * nothing. */
#ifndef MPNUM_BENCH_LIMIT_H
#define MPNUM_BENCH_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "timing.h"

/* The bytes that an operation moves. */
typedef struct byte_shape {
  unsigned src_bits, dst_bits; /* of one element; dst_bits 0: it only reads */
  unsigned in_place;           /* bits of these that are read and written; 0: none are */
} byte_shape;

typedef struct copy_loop {
  byte_shape shape;
  bool streams; /* stores past the caches */
  void (*copy)(void *dst, const void *src, size_t count);
} copy_loop;

enum { COPY_LOOP_LIMIT = 8 };

bool same_shape(byte_shape a, byte_shape b);
/* Bits of an element in the source; in place what is only written lies there, too. */
unsigned stored_bits(byte_shape shape);

/* Lists the loops of a shape that this CPU can run and returns their number; 0 for a
 * shape without loops. Counts of elements must be multiples of 256, buffers aligned to 64
 * bytes; a loop that only reads leaves 64 bytes in dst. */
size_t copy_loops(byte_shape shape, copy_loop list[COPY_LOOP_LIMIT]);

/* GB/s, read and written. */
double shape_rate(byte_shape shape, double ns);

/* GB/s of the fastest measured loop of this shape. The first `count` contenders belong to
 * the list. */
double copy_limit(const copy_loop *list, const contender *measured, size_t count,
                  byte_shape shape);

#endif

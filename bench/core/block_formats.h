/* SPDX-License-Identifier: MIT */
/* The block formats that inspect and the bench rank, by name. */
#ifndef MPNUM_BENCH_BLOCK_FORMATS_H
#define MPNUM_BENCH_BLOCK_FORMATS_H

#include <mpnum/blockscale_format.h>

enum { BLOCK_FORMATS = 8 };

typedef struct block_format {
  const char *name;
  mpnum_blockscale_format format; /* blocks in a row */
} block_format;

/* Number 0 to BLOCK_FORMATS - 1. */
block_format block_format_of(unsigned number);

#endif

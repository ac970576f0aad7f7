/* SPDX-License-Identifier: MIT */
/* What block formats make of a tensor, as a matrix whose rows are its fastest dimension:
 * with blocks in rows, and in columns. It is read in tiles that hold whole blocks. */
#ifndef MPNUM_BENCH_BLOCK_FITS_H
#define MPNUM_BENCH_BLOCK_FITS_H

#include "../core/block_formats.h"
#include "input.h"

/* Of one format, with blocks in rows and in columns. */
typedef struct block_fit {
  double bits; /* of a value, with its share of the scales */
  double clipped[2], flushed[2];
  double sqnr[2]; /* NaN: not measured */
} block_fit;

/* As many dB below the best format of 8 bits a block format is as good as it. */
#define BLOCK_SLACK 1

/* amax: the largest finite magnitude, above 0. Of a large tensor 8 tiles, unless
 * is_exact. */
bool block_fits(const input *file, const tensor *values, double amax, bool is_exact,
                block_fit fits[BLOCK_FORMATS], refusal *why);

#endif

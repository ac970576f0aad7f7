/* SPDX-License-Identifier: MIT */
/* Block formats and scaled arrays: time, measured and reported as array functions are,
 * and what they do to the values of a matrix. */
#ifndef MPNUM_BENCH_BLOCKS_H
#define MPNUM_BENCH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../input/input.h"
#include "../arrays/arrays.h"

enum { BLOCK_PRESETS = 12 };

const char *block_preset_name(int preset);
/* Whether blocks that lie the other way are others. */
bool block_preset_turns(int preset);

/* What quantising made of a matrix. */
typedef struct block_losses {
  double bits; /* of a value, with its share of the scales */
  uint64_t saturated, underflowed;
} block_losses;

/* Decoded codes of a matrix, in rows or columns of blocks; false when out of memory. */
bool block_round_trip(int preset, bool turned, float *dst, const float *src, size_t rows,
                      size_t columns, block_losses *losses);

/* Of each preset, both ways: error and losses of each tensor of the files, and of
 * `drawn` values of each distribution. False where one could not be read, which is then
 * told. */
bool blocks_measure_accuracy(figures *to, const input *files, size_t file_count,
                             size_t drawn, progress *bar);
bool blocks_print_accuracy(const figures *from, FILE *to);

#endif

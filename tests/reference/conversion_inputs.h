/* SPDX-License-Identifier: MIT */
/* The inputs at which a conversion to a format can go wrong, as non-negative bit
 * patterns: every value and every midpoint between neighbours, each with the source's
 * numbers on both sides; the same for the value that would follow max; the edges of the
 * source format itself; NaNs with payloads, signalling ones too; powers of two far
 * outside the range; random numbers. */
#ifndef MPNUM_TESTS_CONVERSION_INPUTS_H
#define MPNUM_TESTS_CONVERSION_INPUTS_H

#include "reference.h"

#include <stddef.h>

typedef struct input_list {
  uint64_t *bits; /* f32 or f64 bit patterns, without sign */
  size_t count, room;
} input_list;

/* Fills the lists with the inputs for one format; free them with free(list.bits). A
 * format with more than most_codes magnitudes gets about that many of them, and all the
 * edges. */
void collect_inputs(const ref_format *format, uint32_t most_codes, input_list *f32,
                    input_list *f64);

/* The next 64 random bits; any state will do (splitmix64). */
uint64_t random_bits(uint64_t *state);

#endif

/* SPDX-License-Identifier: MIT */
/* What arrays hold before they are converted. */
#ifndef MPNUM_BENCH_ARRAYS_SOURCE_H
#define MPNUM_BENCH_ARRAYS_SOURCE_H

#include "arrays.h"

/* `count` elements of src_bits, 64-byte aligned, released with free; NULL when out of
 * memory. They repeat after 2^20 elements. */
void *source_make(array_source source, unsigned src_bits, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* Passes over a row with the widest vectors of x86, for CPUs that have them. */
#ifndef MPNUM_BENCH_MATH_REFERENCE_H
#define MPNUM_BENCH_MATH_REFERENCE_H

#include <stddef.h>

int reference_present(void);
float reference_max(const float *src, size_t count);
void reference_scale(float *dst, size_t count, float factor);

#endif

/* SPDX-License-Identifier: MIT */
/* The pass over gradients, beside what it is made of and beside PyTorch; measured and
 * reported as array functions are. */
#ifndef MPNUM_BENCH_GRAD_GRAD_H
#define MPNUM_BENCH_GRAD_GRAD_H

#include "../arrays/arrays.h"

extern const array_code grad_functions;
extern const array_set grad_set;

#endif

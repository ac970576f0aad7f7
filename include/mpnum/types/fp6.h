/* SPDX-License-Identifier: MIT */
/* The 6-bit floating-point types. */
#ifndef MPNUM_TYPES_FP6_H
#define MPNUM_TYPES_FP6_H

#include "e3m2.h"
#include "e2m3.h"

#endif

/* SPDX-License-Identifier: MIT */
/* The 8-bit floating-point types. */
#ifndef MPNUM_TYPES_FP8_H
#define MPNUM_TYPES_FP8_H

#include "e5m2.h"
#include "e4m3.h"
#include "e5m2fnuz.h"
#include "e4m3fnuz.h"
#include "e3m4.h"

#endif

/* SPDX-License-Identifier: MIT */
#include "../row.h"
#define IMATH_HALF_NO_LOOKUP_TABLE
#include <half.h>

ROW(imath_float_to_half, float, uint16_t)
ROW(imath_half_to_float, uint16_t, float)

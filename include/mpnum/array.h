/* SPDX-License-Identifier: MIT */
/* Arrays: conversions, one scale for a tensor or channel, delayed scaling, reductions,
 * statistics. By their own paths alone: scale_io.h, and the launchers. */
#ifndef MPNUM_ARRAY_H
#define MPNUM_ARRAY_H

#include "array/array.h"
#include "array/scale.h"
#include "array/amax_history.h"
#include "array/reduce.h"
#include "array/stats.h"
#include "array/histogram.h"

#endif

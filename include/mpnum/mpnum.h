/* SPDX-License-Identifier: MIT */
/* mpnum: mixed-precision numerics primitives. Everything but the opt-in headers; a header
 * for each topic lies beside this one. */
#ifndef MPNUM_MPNUM_H
#define MPNUM_MPNUM_H

#include "core/rng.h"
#include "types.h"
#include "array.h"
#include "func.h"
#include "rows.h"
#include "blocks.h"
#include "training.h"

#endif

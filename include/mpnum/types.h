/* SPDX-License-Identifier: MIT */
/* Storage types of every format with their conversions and queries, and presets. By
 * their own paths alone: text.h, language_types.h, and the launchers. */
#ifndef MPNUM_TYPES_H
#define MPNUM_TYPES_H

#include "types/preset.h"
#include "types/f32.h"
#include "types/tf32.h"
#include "types/bf16.h"
#include "types/f16.h"
#include "types/fp8.h"
#include "types/fp6.h"
#include "types/fp4.h"
#include "types/e8m0.h"

#endif

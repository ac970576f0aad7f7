/* SPDX-License-Identifier: MIT */
/* Scales for FP8 tensors, and what quantising loses. Host and device. */
#ifndef MPNUM_SCALE_H
#define MPNUM_SCALE_H

#include "losses.h"

#endif

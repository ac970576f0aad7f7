/* SPDX-License-Identifier: MIT */
/* Functions of every type, scalars and arrays. */
#ifndef MPNUM_FUNC_H
#define MPNUM_FUNC_H

#include "func/func.h"
#include "func/func_array.h"

#endif

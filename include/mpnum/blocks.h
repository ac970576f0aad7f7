/* SPDX-License-Identifier: MIT */
/* Matrices in small formats with a scale for each block. By their own paths alone:
 * measure.h, stored_matrix.h, and the launchers. */
#ifndef MPNUM_BLOCKS_H
#define MPNUM_BLOCKS_H

#include "blocks/block.h"
#include "blocks/blockscale.h"

#endif

/* SPDX-License-Identifier: MIT */
/* Rows: softmax, losses, norms, activations, the Hadamard transform, and gradients
 * through them. Launchers by their own paths. */
#ifndef MPNUM_ROWS_H
#define MPNUM_ROWS_H

#include "rows/softmax.h"
#include "rows/softmax_backward.h"
#include "rows/cross_entropy.h"
#include "rows/contrastive.h"
#include "rows/contrastive_embeddings.h"
#include "rows/normalize.h"
#include "rows/normalize_backward.h"
#include "rows/normalize_quantize.h"
#include "rows/activation_rows.h"
#include "rows/hadamard.h"

#endif

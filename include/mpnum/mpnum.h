/* SPDX-License-Identifier: MIT */
/* mpnum: mixed-precision numerics primitives. Everything but the opt-in headers. */
#ifndef MPNUM_MPNUM_H
#define MPNUM_MPNUM_H

#include "preset.h"
#include "f32.h"
#include "tf32.h"
#include "bf16.h"
#include "f16.h"
#include "fp8.h"
#include "fp6.h"
#include "fp4.h"
#include "e8m0.h"
#include "rng.h"
#include "probe.h"
#include "stats.h"
#include "histogram.h"
#include "scaler.h"
#include "array.h"
#include "reduce.h"
#include "func.h"
#include "func_array.h"
#include "softmax.h"
#include "softmax_backward.h"
#include "normalize.h"
#include "normalize_backward.h"
#include "normalize_quantize.h"
#include "activation_rows.h"
#include "hadamard.h"
#include "cross_entropy.h"
#include "contrastive.h"
#include "contrastive_embeddings.h"
#include "grad.h"
#include "scale.h"
#include "blockscale.h"

#endif

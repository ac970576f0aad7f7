/* SPDX-License-Identifier: MIT */
/* Loss scaling, gradients, and the probe for the first NaN. By their own paths alone:
 * scaler_io.h, optimizer.h, health.h, advice.h, operation_policy.h, and the launchers. */
#ifndef MPNUM_TRAINING_H
#define MPNUM_TRAINING_H

#include "training/scaler.h"
#include "training/grad.h"
#include "training/probe.h"

#endif

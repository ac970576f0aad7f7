/* SPDX-License-Identifier: MIT */
/* For the tests of the loss scaler: scalers of a configuration, and random numbers. */
#ifndef MPNUM_TESTS_SCALER_CHECKS_H
#define MPNUM_TESTS_SCALER_CHECKS_H

#include "../harness/tap.h"

#include <mpnum/core/rng.h>
#include <mpnum/training/scaler.h>

#include <string.h>

static uint64_t drawn;
static inline uint32_t draw(uint32_t below) {
  return mpnum_random(2026, drawn++) % below;
}

static mpnum_grad_scaler made(mpnum_grad_scaler_config config) {
  mpnum_grad_scaler scaler;
  memset(&scaler, 0, sizeof scaler);
  const mpnum_status status = mpnum_grad_scaler_init(&scaler, config);
  CHECK(status == MPNUM_OK, "init: %s", mpnum_status_string(status));
  return scaler;
}

#endif

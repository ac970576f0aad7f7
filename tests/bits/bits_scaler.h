/* SPDX-License-Identifier: MIT */
/* For bits.c: lines for the loss scaler. */
#ifndef MPNUM_TESTS_BITS_SCALER_H
#define MPNUM_TESTS_BITS_SCALER_H

#include "bits_inputs.h"
#include "../harness/must.h"

#include <mpnum/training/scaler_io.h>

/* One whose scale is any float. */
static mpnum_grad_scaler scaler_of(uint32_t i) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  mpnum_grad_scaler scaler;
  memset(&scaler, 0, sizeof scaler);
  config.growth_factor = mpnum_from_bits_f64((mix(i) >> 10) + (UINT64_C(1023) << 52) + 1);
  config.backoff_factor =
      mpnum_from_bits_f64((mix(i + 9) >> 12) + (UINT64_C(1022) << 52));
  config.hysteresis = (int32_t)(i % 3) + 1;
  config.refill = (int16_t)(i % 9 / 3);
  config.growth_interval = 2;
  must(mpnum_grad_scaler_init(&scaler, config));
  must(mpnum_grad_scaler_set_scale(
      &scaler, mpnum_from_bits_f32(0x00800000u + (uint32_t)mix(~i) % 0x7e800001u)));
  return scaler;
}
static float positive_at(uint32_t i) {
  return mpnum_from_bits_f32((uint32_t)mix(i) % 0x7f800000u);
}
static void put_updates(uint32_t i) {
  mpnum_grad_scaler scaler = scaler_of(i);
  uint8_t bytes[MPNUM_GRAD_SCALER_BYTES];
  for (uint32_t step = 0; step < 16; ++step) {
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, mix(i + step) % 3 == 0,
                                           1));
    must(mpnum_grad_scaler_update(&scaler, &optimizer));
    put_f32(scaler.scale);
    put_f32(scaler.inverse);
  }
  must(mpnum_grad_scaler_save(bytes, &scaler));
  put_bytes(bytes, sizeof bytes);
}
static void put_multiplier(uint32_t i) {
  const mpnum_grad_scaler scaler = scaler_of(i);
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  float multiplier = 0;
  must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, 0, positive_at(i)));
  put_int((int)mpnum_grad_scaler_multiplier(&scaler, &optimizer, positive_at(i + 1),
                                            &multiplier));
  put_f32(multiplier);
}
static void put_scaled(uint32_t i) {
  const mpnum_grad_scaler scaler = scaler_of(i);
  float scaled = 0;
  put_int((int)mpnum_grad_scaler_scale_f32(
      &scaler, mpnum_from_bits_f32((uint32_t)mix(i + 2)), &scaled));
  put_f32(scaled);
}
static void put_coefficient(uint32_t i) {
  float coefficient = 0;
  put_int(
      (int)mpnum_grad_clip_coefficient(positive_at(i), positive_at(i + 1), &coefficient));
  put_f32(coefficient);
}

#define FOR_SCALERS for (uint32_t i = 0; i < 5000; ++i)
static void print_scaler(void) {
  HASH(mpnum_grad_scaler_update, FOR_SCALERS, put_updates(i));
  HASH(mpnum_grad_scaler_multiplier, FOR_SCALERS, put_multiplier(i));
  HASH(mpnum_grad_scaler_scale_f32, FOR_SCALERS, put_scaled(i));
  HASH(mpnum_grad_clip_coefficient, FOR_SCALERS, put_coefficient(i));
}

#endif

/* SPDX-License-Identifier: MIT */
/* Every call of the scaler, its bytes and tables, of any bytes and members: what
 * Frama-C's Eva analyses for accesses outside an object, unset members, shifts and signed
 * sums. */
#include <__fc_builtin.h>
#include <string.h>
#include <mpnum/core/query.h>
#include <mpnum/core/rng.h>
#include <mpnum/training/scaler_io.h>

static volatile uint32_t any_u32;
static volatile uint64_t any_u64;
static uint32_t results;

static void make_any(void *object, unsigned long size) {
  Frama_C_make_unknown((char *)object, size);
}
static float any_f32(void) { return mpnum_from_bits_f32(any_u32); }

/* The counts are within limits that test_proof.py shows every call to keep. */
static void make_scaler(mpnum_grad_scaler *scaler) {
  make_any(scaler, sizeof *scaler);
  scaler->config.growth_interval = Frama_C_interval(1, 0x7fffffff);
  scaler->config.hysteresis = Frama_C_interval(1, 0x7fffffff);
  scaler->count = Frama_C_interval(-1, 0x7ffffffe);
  scaler->hysteresis_left = Frama_C_interval(1, 0x7fffffff);
}

static void call_scaler(void) {
  mpnum_grad_scaler scaler;
  mpnum_grad_scaler_config config;
  mpnum_grad_optimizer first, second, merged, *const both[2] = {&first, &second};
  mpnum_grad_verdict verdict;
  mpnum_f16 f16;
  mpnum_bf16 bf16;
  float x;
  make_scaler(&scaler);
  make_any(&config, sizeof config);
  make_any(&first, sizeof first);
  make_any(&second, sizeof second);
  f16.bits = (uint16_t)any_u32;
  bf16.bits = (uint16_t)any_u32;
  switch (any_u32) {
  case 0: results += mpnum_grad_scaler_init(&scaler, config); break;
  case 1: results += mpnum_grad_scaler_configure(&scaler, config); break;
  case 2: results += mpnum_grad_scaler_set_scale(&scaler, any_f32()); break;
  case 3: results += (uint32_t)mpnum_grad_scaler_is_inexact(&scaler); break;
  case 4: results += mpnum_grad_scaler_scale_f32(&scaler, any_f32(), &x); break;
  case 5: results += mpnum_grad_scaler_scale_f16(&scaler, f16, &f16); break;
  case 6: results += mpnum_grad_scaler_scale_bf16(&scaler, bf16, &bf16); break;
  case 7: first = mpnum_grad_optimizer_of(&scaler); break;
  case 8: mpnum_grad_scaler_discard(&scaler, &first); break;
  case 9: results += mpnum_grad_scaler_begin_accumulation(&scaler, &first); break;
  case 10: results += mpnum_grad_scaler_end_accumulation(&scaler, &first); break;
  case 11: results += mpnum_grad_scaler_can_unscale(&scaler, &first); break;
  case 12: results += mpnum_grad_scaler_can_clip(&scaler, &first); break;
  case 13:
    results += mpnum_grad_scaler_report_checked(&scaler, &first, any_u32, any_f32());
    break;
  case 14:
    results += mpnum_grad_scaler_report_unscaled(&scaler, &first, any_u32, any_f32());
    break;
  case 15:
    results += mpnum_grad_scaler_report_changed(&scaler, &first, any_u32, any_f32());
    break;
  case 16: results += mpnum_grad_clip_coefficient(any_f32(), any_f32(), &x); break;
  case 17: results += mpnum_grad_scaler_multiplier(&scaler, &first, any_f32(), &x); break;
  case 18: results += mpnum_grad_scaler_step(&scaler, &first, &verdict); break;
  case 19: results += mpnum_grad_scaler_update(&scaler, &first); break;
  case 20: results += mpnum_grad_scaler_update_all(&scaler, both, 2); break;
  case 21: results += mpnum_grad_optimizer_merge(&merged, first, second); break;
  default: break;
  }
}

static void call_bytes(void) {
  uint8_t bytes[MPNUM_GRAD_SCALER_BYTES];
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer;
  make_any(bytes, sizeof bytes);
  make_scaler(&scaler);
  make_any(&optimizer, sizeof optimizer);
  switch (any_u32) {
  case 0: results += mpnum_grad_scaler_save(bytes, &scaler); break;
  case 1: results += mpnum_grad_scaler_load(&scaler, bytes, sizeof bytes); break;
  case 2: results += mpnum_grad_scaler_load(&scaler, bytes, sizeof bytes - 8); break;
  case 3: results += mpnum_grad_optimizer_save(bytes, &optimizer); break;
  case 4:
    results += mpnum_grad_optimizer_load(&optimizer, bytes, MPNUM_GRAD_OPTIMIZER_BYTES);
    break;
  case 5:
    results +=
        mpnum_grad_optimizer_load(&optimizer, bytes, MPNUM_GRAD_OPTIMIZER_BYTES - 8);
    break;
  default: break;
  }
}

static void call_tables(void) {
  const mpnum_type type = (mpnum_type)any_u32;
  const char *name = mpnum_type_name(type);
  if (name) results += (uint32_t)name[0];
  results += (uint32_t)mpnum_status_string((mpnum_status)any_u32)[0];
  results += mpnum_format_of(type).max_code;
  results += mpnum_random(any_u64, any_u64);
}

int main(void) {
  call_scaler();
  call_bytes();
  call_tables();
  return 0;
}

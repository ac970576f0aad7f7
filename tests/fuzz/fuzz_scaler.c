/* SPDX-License-Identifier: MIT */
/* Any bytes as a saved scaler, as they are and with the right ends: refused, the scaler
 * unchanged, or one that goes on like any other and saves to the same bytes. */
#include "fuzz_scaler.h"
#include "../harness/must.h"

#include <mpnum/training/scaler_io.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = MPNUM_GRAD_SCALER_BYTES };

static void demand(int condition) {
  if (!condition) abort();
}
static uint32_t crc32_of(const uint8_t *bytes, size_t size) {
  uint32_t crc = 0;
  for (size_t i = 0; i < size; ++i) {
    uint32_t row = (crc ^ bytes[i] ^ (i < 4 ? 0xffu : 0)) & 0xff; /* starts with ones */
    for (int bit = 0; bit < 8; ++bit)
      row = row & 1 ? 0xedb88320u ^ row >> 1 : row >> 1;
    crc = crc >> 8 ^ row;
  }
  return crc ^ 0xffffffffu;
}
static int load(const uint8_t *bytes, size_t size) {
  uint8_t again[BYTES];
  mpnum_grad_scaler scaler, before;
  memset(&scaler, 0, sizeof scaler);
  must(mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_torch()));
  before = scaler;
  if (mpnum_grad_scaler_load(&scaler, bytes, size) != MPNUM_OK) {
    demand(memcmp(&scaler, &before, sizeof scaler) == 0);
    return 0;
  }
  demand(mpnum_grad_scaler_save(again, &scaler) == MPNUM_OK);
  demand(bytes[4] < MPNUM_GRAD_SCALER_VERSION_ || memcmp(bytes, again, BYTES) == 0);
  for (int i = 0; i < 200; ++i) {
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
    demand(mpnum_grad_scaler_report_checked(&scaler, &optimizer, i % 7 < 3, 1) ==
           MPNUM_OK);
    demand(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict) == MPNUM_OK);
    demand(mpnum_grad_scaler_update(&scaler, &optimizer) == MPNUM_OK);
    demand(scaler.scale > 0 && scaler.inverse > 0);
    demand(mpnum_isfinite_f32(scaler.scale) && mpnum_isfinite_f32(scaler.inverse));
  }
  return 1;
}

int fuzz_scaler(const uint8_t *data, size_t size) {
  uint8_t bytes[BYTES] = "mpGS";
  int loaded = 0;
  if (load(data, size)) return 1;
  for (uint8_t version = 1; version <= MPNUM_GRAD_SCALER_VERSION_; ++version) {
    const size_t bytes_of = version < 3 ? BYTES - 8 : BYTES, room = bytes_of - 12;
    bytes[4] = version;
    memcpy(bytes + 8, data, size < room ? size : room);
    const uint32_t crc = crc32_of(bytes, bytes_of - 4);
    for (int i = 0; i < 4; ++i)
      bytes[bytes_of - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
    loaded |= load(bytes, bytes_of);
  }
  return loaded;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)fuzz_scaler(data, size);
  return 0;
}

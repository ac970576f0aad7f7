/* SPDX-License-Identifier: MIT */
/* Any bytes as a saved handle, health or fallback, as they are and with the right ends:
 * refused, nothing changed, or a state that saves to the same bytes and goes on. */
#include "fuzz_bytes.h"

#include <mpnum/training/advice.h>
#include <mpnum/training/health.h>
#include <mpnum/training/scaler_io.h>

#include <string.h>

/* Of one, each in place of the other. */
typedef union state {
  mpnum_grad_optimizer handle;
  mpnum_health health;
  mpnum_fallback fallback;
} state;
enum { HANDLE, HEALTH, FALLBACK, KINDS };
static const struct {
  const char *name; /* its first bytes, and the version of which it is saved */
  size_t bytes;
} kinds[KINDS] = {{"mpGO\2\0\0\0", MPNUM_GRAD_OPTIMIZER_BYTES},
                  {"mpHE\1\0\0\0", MPNUM_HEALTH_BYTES},
                  {"mpFB\1\0\0\0", MPNUM_FALLBACK_BYTES}};

static mpnum_status load_one(int kind, state *to, const uint8_t *bytes, size_t size) {
  return kind == HANDLE   ? mpnum_grad_optimizer_load(&to->handle, bytes, size)
         : kind == HEALTH ? mpnum_health_load(&to->health, bytes, size)
                          : mpnum_fallback_load(&to->fallback, bytes, size);
}
static mpnum_status save_one(int kind, uint8_t *bytes, const state *from) {
  return kind == HANDLE   ? mpnum_grad_optimizer_save(bytes, &from->handle)
         : kind == HEALTH ? mpnum_health_save(bytes, &from->health)
                          : mpnum_fallback_save(bytes, &from->fallback);
}
/* Of a handle the stages, of a fallback its advice, are ones that there are. */
static void go_on(int kind, state *loaded) {
  if (kind == HANDLE) demand(loaded->handle.stage <= MPNUM_GRAD_SKIPPED);
  for (int i = 0; kind == FALLBACK && i < 60; ++i) {
    const mpnum_fallback_config *config = &loaded->fallback.config;
    const mpnum_fallback_advice advice =
        mpnum_fallback_step(&loaded->fallback, i % 11 < 4);
    demand(advice.type == config->narrow || advice.type == config->wide);
  }
}
static void load(int kind, const uint8_t *bytes, size_t size) {
  uint8_t again[MPNUM_HEALTH_BYTES + MPNUM_GRAD_OPTIMIZER_BYTES];
  state loaded, before;
  memset(&loaded, 0x33, sizeof loaded);
  before = loaded;
  if (load_one(kind, &loaded, bytes, size) != MPNUM_OK) {
    demand(memcmp(&loaded, &before, sizeof loaded) == 0);
    return;
  }
  demand(save_one(kind, again, &loaded) == MPNUM_OK);
  if (bytes[4] == (uint8_t)kinds[kind].name[4])
    demand(size == kinds[kind].bytes && memcmp(bytes, again, size) == 0);
  go_on(kind, &loaded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (int kind = 0; kind < KINDS; ++kind) {
    for (int older = 0; older < (kind == HANDLE ? 2 : 1); ++older) {
      uint8_t bytes[MPNUM_HEALTH_BYTES] = {0};
      const size_t most = kinds[kind].bytes - (older ? 8 : 0), room = most - 12;
      memcpy(bytes, kinds[kind].name, 8);
      bytes[4] = (uint8_t)(bytes[4] - older);
      memcpy(bytes + 8, data, size < room ? size : room);
      const uint32_t crc = crc32_of(bytes, most - 4);
      for (size_t i = 0; i < 4; ++i)
        bytes[most - 4 + i] = (uint8_t)(crc >> 8 * i);
      load(kind, bytes, most);
    }
    load(kind, data, size);
  }
  return 0;
}

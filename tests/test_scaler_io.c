/* SPDX-License-Identifier: MIT */
/* Scalers as bytes, and handles of several ranks. */
#include "control_word.h"
#include "fuzz/fuzz_scaler.h"
#include "tap.h"

#include <mpnum/rng.h>
#include <mpnum/scaler_io.h>

#include <string.h>

enum { BYTES = MPNUM_GRAD_SCALER_BYTES };

/* One with a different value in each member that can have one. */
static mpnum_grad_scaler lived(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_deepspeed(3, 1);
  mpnum_grad_scaler scaler;
  memset(&scaler, 0, sizeof scaler);
  config.growth_factor = 3.5;
  config.growth_interval = 7;
  config.init_scale = 1000;
  mpnum_grad_scaler_init(&scaler, config);
  for (int i = 0; i < 100; ++i) {
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_ready();
    mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
    mpnum_grad_scaler_checked(&scaler, &optimizer, i % 10 > 7, 1);
    mpnum_grad_scaler_step(&scaler, &optimizer, &verdict);
    mpnum_grad_scaler_update(&scaler, &optimizer, 1);
  }
  return scaler;
}

static void what_is_saved_is_loaded(void) {
  const mpnum_grad_scaler saved = lived();
  mpnum_grad_scaler loaded;
  uint8_t bytes[BYTES];
  memset(&loaded, 0, sizeof loaded);
  mpnum_grad_scaler_save(bytes, &saved);
  const mpnum_status status = mpnum_grad_scaler_load(&loaded, bytes, BYTES);
  CHECK(status == MPNUM_OK, "%s", mpnum_status_string(status));
  CHECK(memcmp(&saved, &loaded, sizeof saved) == 0, "another scaler");
  CHECK(saved.overflows == 20 && saved.skipped == 20 && saved.consecutive_overflows == 2,
        "what it went through");
}

/* By hand from the members of the default; the CRC is zlib's of these bytes. */
static void the_bytes_are_these_on_every_machine(void) {
  static const char *const want = "6d704753"
                                  "01000000"
                                  "0000000000000040"
                                  "000000000000e03f"
                                  "00008047"
                                  "0000803f"
                                  "0000807e"
                                  "d0070000"
                                  "01000000"
                                  "0000"
                                  "0000"
                                  "0000"
                                  "0000"
                                  "0000"
                                  "0100"
                                  "00008047"
                                  "00008037"
                                  "0000000000000000"
                                  "0000000000000000"
                                  "0000000000000000"
                                  "0000000000000000"
                                  "00000000"
                                  "01000000"
                                  "00000000"
                                  "00000000"
                                  "900c33a6";
  mpnum_grad_scaler scaler;
  uint8_t bytes[BYTES];
  char got[2 * BYTES + 1];
  mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_default());
  mpnum_grad_scaler_save(bytes, &scaler);
  for (int i = 0; i < BYTES; ++i)
    snprintf(got + 2 * i, 3, "%02x", bytes[i]);
  CHECK(strcmp(got, want) == 0, "%s", got);
}

static void refused(const uint8_t *bytes, size_t size, mpnum_status want,
                    const char *what) {
  mpnum_grad_scaler scaler = lived();
  const mpnum_grad_scaler before = scaler;
  const mpnum_status status = mpnum_grad_scaler_load(&scaler, bytes, size);
  CHECK(status == want, "%s: %s", what, mpnum_status_string(status));
  CHECK(memcmp(&scaler, &before, sizeof scaler) == 0, "%s: the scaler changed", what);
}
static void each_damaged_bit_is_noticed(void) {
  const mpnum_grad_scaler saved = lived();
  uint8_t bytes[BYTES + 1] = {0};
  mpnum_grad_scaler_save(bytes, &saved);
  for (int bit = 0; bit < 8 * BYTES; ++bit) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    refused(bytes, BYTES, MPNUM_ERROR_CORRUPT, "a bit");
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  for (size_t size = 0; size <= BYTES + 1; ++size)
    if (size != BYTES) refused(bytes, size, MPNUM_ERROR_CORRUPT, "the size");
}
/* Saves with a member as it cannot be; the CRC is right. */
static void members_that_cannot_be_are_refused(void) {
  const mpnum_grad_scaler saved = lived();
  uint8_t bytes[BYTES];
#define REFUSED(change)                                \
 do {                                                  \
  mpnum_grad_scaler scaler = saved;                    \
  scaler.change;                                       \
  mpnum_grad_scaler_save(bytes, &scaler);              \
  refused(bytes, BYTES, MPNUM_ERROR_CORRUPT, #change); \
 } while (0)
  REFUSED(scale = 0);
  REFUSED(scale *= 2);
  REFUSED(scale = mpnum_from_bits_f32(0x7fc00000u));
  REFUSED(inverse = 1);
  REFUSED(count = 7);
  REFUSED(count = -2);
  REFUSED(hysteresis_left = 0);
  REFUSED(hysteresis_left = 4);
  REFUSED(overflows = saved.updates + 1);
  REFUSED(consecutive_overflows = 21);
  REFUSED(is_inexact = 2);
  REFUSED(config.growth_factor = 1);
  REFUSED(config.backoff_factor = 2);
  REFUSED(config.min_scale = 0);
  REFUSED(config.growth_interval = -1);
  REFUSED(config.enabled = 0);
#undef REFUSED
}
static void another_version_is_said_to_be_one(void) {
  const mpnum_grad_scaler saved = lived();
  uint8_t bytes[BYTES];
  mpnum_grad_scaler_save(bytes, &saved);
  bytes[4] = MPNUM_GRAD_SCALER_VERSION + 1;
  const uint32_t crc = mpnum_crc32_(bytes, BYTES - 4);
  for (int i = 0; i < 4; ++i)
    bytes[BYTES - 4 + i] = (uint8_t)(crc >> 8 * i);
  refused(bytes, BYTES, MPNUM_ERROR_VERSION, "version 2");
}
static void the_checksum_is_crc32(void) {
  const uint8_t digits[] = "123456789"; /* the check value of every CRC catalogue */
  CHECK(mpnum_crc32_(digits, 9) == 0xcbf43926u, "%08x", mpnum_crc32_(digits, 9));
}
static void random_bytes_do_no_harm(void) {
  const mpnum_grad_scaler saved = lived();
  uint8_t bytes[BYTES];
  int loaded = 0;
  for (uint64_t i = 0; i < 200000; ++i) {
    mpnum_grad_scaler_save(bytes, &saved);
    const uint32_t changes = mpnum_random(1, i) % 4 + 1;
    for (uint64_t k = 0; k < changes; ++k) {
      const uint32_t x = mpnum_random(2, 4 * i + k);
      bytes[8 + x % (BYTES - 12)] ^= (uint8_t)(1 << (x >> 8) % 8);
    }
    loaded += fuzz_scaler(bytes + (i & 1 ? 0 : 8), i & 1 ? BYTES : BYTES - 12);
  }
  CHECK(loaded > 1000 && loaded < 190000, "%d of them are scalers", loaded);
}

static void ranks_take_the_same_step(void) {
  const float not_a_number = mpnum_from_bits_f32(0x7fffffffu);
  mpnum_grad_optimizer a = {MPNUM_GRAD_UNSCALED, 0, 0, 0, 2};
  mpnum_grad_optimizer b = {MPNUM_GRAD_UNSCALED, 1, 0, 3, not_a_number};
  mpnum_grad_optimizer merged[2];
  CHECK(mpnum_grad_optimizer_merge(&merged[0], a, b) == MPNUM_OK, "merge");
  CHECK(mpnum_grad_optimizer_merge(&merged[1], b, a) == MPNUM_OK, "merge");
  CHECK(memcmp(&merged[0], &merged[1], sizeof a) == 0, "in another order");
  CHECK(merged[0].found_inf == 1 && merged[0].consecutive_skips == 3 &&
            mpnum_bits_f32(merged[0].norm) == 0x7fffffffu,
        "what one found, all did");
  b.stage = MPNUM_GRAD_STEPPED;
  merged[0] = a;
  CHECK(mpnum_grad_optimizer_merge(&merged[0], a, b) == MPNUM_ERROR_ARGUMENT, "stages");
  CHECK(memcmp(&merged[0], &a, sizeof a) == 0, "unchanged");
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(what_is_saved_is_loaded);
  TAP_RUN(the_bytes_are_these_on_every_machine);
  TAP_RUN(each_damaged_bit_is_noticed);
  TAP_RUN(members_that_cannot_be_are_refused);
  TAP_RUN(another_version_is_said_to_be_one);
  TAP_RUN(the_checksum_is_crc32);
  TAP_RUN(random_bytes_do_no_harm);
  TAP_RUN(ranks_take_the_same_step);
  return tap_done();
}

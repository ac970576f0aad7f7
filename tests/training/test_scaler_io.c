/* SPDX-License-Identifier: MIT */
/* Scalers as bytes, and handles of several ranks. */
#include "../harness/control_word.h"
#include "../fuzz/fuzz_scaler.h"
#include "stored_checks.h"
#include "../harness/must.h"
#include "../harness/tap.h"

#include <mpnum/core/rng.h>
#include <mpnum/training/scaler_io.h>

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
  config.id = 0x1122334455667788u;
  must(mpnum_grad_scaler_init(&scaler, config));
  for (int i = 0; i < 100; ++i) {
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
    must(mpnum_grad_scaler_report_checked(&scaler, &optimizer, i % 10 > 7, 1));
    must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
    must(mpnum_grad_scaler_update(&scaler, &optimizer));
  }
  return scaler;
}

static mpnum_status save(uint8_t *bytes, const void *state) {
  return mpnum_grad_scaler_save(bytes, (const mpnum_grad_scaler *)state);
}
static mpnum_status load(void *state, const uint8_t *bytes, uint64_t size) {
  return mpnum_grad_scaler_load((mpnum_grad_scaler *)state, bytes, size);
}
static void write_bytes(uint8_t *bytes, const void *state) {
  mpnum_grad_scaler copy = *(const mpnum_grad_scaler *)state;
  mpnum_stored_ out = mpnum_stored_begin_(bytes, 0x5347706du, MPNUM_GRAD_SCALER_VERSION_);
  mpnum_stored_scaler_(&out, &copy);
  mpnum_stored_u64_(&out, &copy.config.id);
  mpnum_stored_seal_(bytes, BYTES);
}
static const stored_kind scaler_kind = {"scaler", BYTES, sizeof(mpnum_grad_scaler),
                                        save,     load,  write_bytes};

/* By hand from the members of the default; the CRC is zlib's of these bytes. */
static void scalers_are_saved(void) {
  static const uint8_t want[BYTES] = {
      0x6d, 0x70, 0x47, 0x53, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f, 0x00, 0x00, 0x80, 0x47,
      0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x80, 0x7e, 0xd0, 0x07, 0x00, 0x00, 0x01, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
      0x00, 0x00, 0x80, 0x47, 0x00, 0x00, 0x80, 0x37, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x09, 0xd3, 0xbb, 0xf3};
  mpnum_grad_scaler scaler;
  const mpnum_grad_scaler old = lived();
  uint8_t bytes[BYTES] = {0};
  memset(&scaler, 0, sizeof scaler);
  must(mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_default()));
  check_stored(&scaler_kind, &scaler, want);
  check_changed_members(&scaler_kind, &old);
  must(mpnum_grad_scaler_save(bytes, &old));
  check_stored(&scaler_kind, &old, bytes);
  CHECK(old.overflows == 20 && old.skipped == 20 && old.consecutive_overflows == 2,
        "what it went through");
}
/* Neither is it loaded, nor is it saved. */
static void members_that_cannot_be_are_refused(void) {
  const mpnum_grad_scaler saved = lived();
  uint8_t bytes[BYTES] = {0};
#define UNSOUND(change)                          \
 do {                                            \
  mpnum_grad_scaler scaler = saved;              \
  scaler.change;                                 \
  check_unsound(&scaler_kind, &scaler, #change); \
 } while (0)
  UNSOUND(scale *= 2);
  UNSOUND(scale = mpnum_from_bits_f32(0x7fc00000u));
  UNSOUND(inverse = 1);
  UNSOUND(count = 7);
  UNSOUND(count = -2);
  UNSOUND(hysteresis_left = 0);
  UNSOUND(hysteresis_left = 4);
  UNSOUND(overflows = saved.updates + 1);
  UNSOUND(consecutive_overflows = 21);
  UNSOUND(config.growth_factor = 1);
  UNSOUND(config.backoff_factor = 2);
  UNSOUND(config.min_scale = 0);
  UNSOUND(config.growth_interval = -1);
  UNSOUND(config.enabled = 0);
  UNSOUND(config.growth_interval = scaler.count = 5); /* what configure is for */
  UNSOUND(config.min_scale = 1e30f);
#undef UNSOUND
  mpnum_grad_scaler scaler = saved;
  scaler.scale = 0; /* as of one that was never initialised */
  CHECK(mpnum_grad_scaler_save(bytes, &scaler) == MPNUM_ERROR_UNINITIALISED, "scale 0");
  write_bytes(bytes, &scaler);
  check_not_loaded(&scaler_kind, bytes, BYTES, MPNUM_ERROR_CORRUPT, "scale 0");
}
static void configured_scalers_are_saved(void) {
  mpnum_grad_scaler scaler = lived(), loaded = scaler;
  mpnum_grad_scaler_config config = scaler.config;
  uint8_t bytes[BYTES] = {0};
  config.growth_interval = 1;
  config.hysteresis = 1;
  config.min_scale = 1000;
  CHECK(mpnum_grad_scaler_configure(&scaler, config) == MPNUM_OK, "configure");
  CHECK(mpnum_grad_scaler_save(bytes, &scaler) == MPNUM_OK &&
            mpnum_grad_scaler_load(&loaded, bytes, BYTES) == MPNUM_OK &&
            memcmp(&scaler, &loaded, sizeof scaler) == 0,
        "save and load");
}
/* Overflows counted by a sum over ranks once made such a state. */
static void sums_of_found_inf_are_saved(void) {
  mpnum_grad_scaler scaler, loaded;
  uint8_t bytes[BYTES] = {0};
  memset(&scaler, 0, sizeof scaler);
  must(mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_default()));
  memset(&loaded, 0, sizeof loaded);
  for (int i = 0; i < 3; ++i) {
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizer, 1, 1));
    optimizer.found_inf = 4;
    must(mpnum_grad_scaler_update(&scaler, &optimizer));
  }
  CHECK(mpnum_grad_scaler_save(bytes, &scaler) == MPNUM_OK &&
            mpnum_grad_scaler_load(&loaded, bytes, BYTES) == MPNUM_OK &&
            loaded.overflows == 3,
        "overflows");
}
/* The bytes that versions 1 and 2 wrote of the default after set_scale(3). */
static void check_old_version(int version) {
  enum { OLD_BYTES = 116 };
  static const char *const members =
      "6d70475300000000"
      "0000000000000040000000000000e03f"
      "000080470000803f0000807e"
      "d007000001000000"
      "000000000000000000000100"
      "00004040abaaaa3e"
      "0000000000000000000000000000000000000000000000000000000000000000"
      "0000000001000000"
      "00000000"
      "01000000"; /* is_inexact in version 1, then scale_changes */
  uint8_t bytes[BYTES] = {0};
  mpnum_grad_scaler want, loaded;
  for (int i = 0; i < OLD_BYTES - 4; ++i) {
    unsigned byte = 0;
    sscanf(members + 2 * i, "%2x", &byte);
    bytes[i] = (uint8_t)byte;
  }
  bytes[4] = (uint8_t)version;
  mpnum_stored_seal_(bytes, OLD_BYTES);
  memset(&want, 0, sizeof want);
  must(mpnum_grad_scaler_init(&want, mpnum_grad_scaler_default()));
  must(mpnum_grad_scaler_set_scale(&want, 3));
  want.scale_changes = version == 2;
  memset(&loaded, 0x33, sizeof loaded);
  CHECK(mpnum_grad_scaler_load(&loaded, bytes, OLD_BYTES) == MPNUM_OK &&
            memcmp(&loaded, &want, sizeof want) == 0,
        "version %d", version);
  for (int bit = 0; bit < 8 * OLD_BYTES; ++bit) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    check_not_loaded(&scaler_kind, bytes, OLD_BYTES, MPNUM_ERROR_CORRUPT, "a bit");
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  bytes[OLD_BYTES - 8] = 2;
  mpnum_stored_seal_(bytes, OLD_BYTES);
  if (version == 1)
    check_not_loaded(&scaler_kind, bytes, OLD_BYTES, MPNUM_ERROR_CORRUPT, "is_inexact 2");
  bytes[4] = 3;
  mpnum_stored_seal_(bytes, OLD_BYTES);
  check_not_loaded(&scaler_kind, bytes, OLD_BYTES, MPNUM_ERROR_CORRUPT,
                   "version 3 without an id");
  bytes[4] = (uint8_t)version;
  mpnum_stored_seal_(bytes, BYTES);
  check_not_loaded(&scaler_kind, bytes, BYTES, MPNUM_ERROR_CORRUPT,
                   "an old version with an id");
}
static void versions_1_and_2_are_loaded(void) {
  check_old_version(1);
  check_old_version(2);
}
static void another_version_is_said_to_be_one(void) {
  const mpnum_grad_scaler saved = lived();
  uint8_t bytes[BYTES] = {0};
  must(mpnum_grad_scaler_save(bytes, &saved));
  for (int version = 0; version < 256; ++version) {
    if (version >= 1 && version <= MPNUM_GRAD_SCALER_VERSION_) continue;
    bytes[4] = (uint8_t)version;
    mpnum_stored_seal_(bytes, BYTES);
    check_not_loaded(&scaler_kind, bytes, BYTES, MPNUM_ERROR_VERSION, "another version");
  }
}
static void the_checksum_is_crc32(void) {
  const uint8_t digits[] = "123456789"; /* the check value of every CRC catalogue */
  CHECK(mpnum_crc32_(digits, 9) == 0xcbf43926u, "%08x", mpnum_crc32_(digits, 9));
}
static void random_bytes_do_no_harm(void) {
  const mpnum_grad_scaler saved = lived();
  uint8_t bytes[BYTES] = {0};
  int loaded = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    must(mpnum_grad_scaler_save(bytes, &saved));
    const uint32_t changes = mpnum_random(1, i) % 4 + 1;
    for (uint64_t k = 0; k < changes; ++k) {
      const uint32_t x = mpnum_random(2, 4 * i + k);
      bytes[8 + x % (BYTES - 12)] ^= (uint8_t)(1 << (x >> 8) % 8);
    }
    loaded += fuzz_scaler(bytes + (i & 1 ? 0 : 8), i & 1 ? BYTES : BYTES - 12);
  }
  CHECK(loaded > 100 && loaded < 19000, "%d of them are scalers", loaded);
}

static void ranks_take_the_same_step(void) {
  const float not_a_number = mpnum_from_bits_f32(0x7fffffffu);
  mpnum_grad_optimizer a = {MPNUM_GRAD_UNSCALED, 0, 0, 0, 2, 1, 7, 8, 9};
  mpnum_grad_optimizer b = {MPNUM_GRAD_UNSCALED, 4, 0, 3, not_a_number, 2, 7, 8, 9};
  mpnum_grad_optimizer merged[2];
  CHECK(mpnum_grad_optimizer_merge(&merged[0], a, b) == MPNUM_OK, "merge");
  CHECK(mpnum_grad_optimizer_merge(&merged[1], b, a) == MPNUM_OK, "merge");
  CHECK(memcmp(&merged[0], &merged[1], sizeof a) == 0, "in another order");
  CHECK(merged[0].found_inf == 1 && merged[0].consecutive_skips == 3 &&
            mpnum_bits_f32(merged[0].norm) == 0x7fffffffu,
        "what one found, all did");
  CHECK(merged[0].clipped_to == 2, "clipped to %a", (double)merged[0].clipped_to);
  merged[0] = a;
  b.updates = 9;
  CHECK(mpnum_grad_optimizer_merge(&merged[0], a, b) == MPNUM_ERROR_STALE_HANDLE, "late");
  b.updates = 7;
  b.id = 8;
  CHECK(mpnum_grad_optimizer_merge(&merged[0], a, b) == MPNUM_ERROR_STALE_HANDLE, "id");
  b.id = 9;
  b.scale_changes = 9;
  CHECK(mpnum_grad_optimizer_merge(&merged[0], a, b) == MPNUM_ERROR_STALE_SCALE, "scale");
  b.stage = MPNUM_GRAD_STEPPED;
  CHECK(mpnum_grad_optimizer_merge(&merged[0], a, b) == MPNUM_ERROR_ARGUMENT, "stages");
  CHECK(memcmp(&merged[0], &a, sizeof a) == 0, "unchanged");
}

static void norms_merge_by_value(void) {
  const struct {
    uint32_t a, b, want;
  } norms[] = {{0x80000000u, 0x40a00000u, 0x40a00000u}, /* -0 and 5 */
               {0x80000000u, 0, 0},
               {0x80000000u, 0x80000000u, 0},
               {0x40a00000u, 0x40a00001u, 0x40a00001u},
               {0x7f800000u, 0x40a00000u, 0x7f800000u},
               {0xffc00000u, 0x7f800000u, 0x7fffffffu},
               {0x7f800001u, 0, 0x7fffffffu},
               {0xbf800000u, 0x7f800000u, 0xbf800000u}, /* unknown */
               {0xbf800000u, 0x7fc00000u, 0x7fffffffu}};
  for (size_t i = 0; i < sizeof norms / sizeof norms[0]; ++i)
    for (int swap = 0; swap < 2; ++swap) {
      mpnum_grad_optimizer a = {MPNUM_GRAD_CHECKED, 0, 0, 0, 0, 1, 0, 0, 0}, b = a,
                           merged;
      a.norm = mpnum_from_bits_f32(swap ? norms[i].b : norms[i].a);
      b.norm = mpnum_from_bits_f32(swap ? norms[i].a : norms[i].b);
      CHECK(mpnum_grad_optimizer_merge(&merged, a, b) == MPNUM_OK &&
                mpnum_bits_f32(merged.norm) == norms[i].want,
            "%08x and %08x give %08x", (unsigned)norms[i].a, (unsigned)norms[i].b,
            (unsigned)mpnum_bits_f32(merged.norm));
    }
}

enum { HANDLE_BYTES = MPNUM_GRAD_OPTIMIZER_BYTES };
static mpnum_status save_handle(uint8_t *bytes, const void *state) {
  return mpnum_grad_optimizer_save(bytes, (const mpnum_grad_optimizer *)state);
}
static mpnum_status load_handle(void *state, const uint8_t *bytes, uint64_t size) {
  return mpnum_grad_optimizer_load((mpnum_grad_optimizer *)state, bytes, size);
}
static void write_handle(uint8_t *bytes, const void *state) {
  mpnum_grad_optimizer copy = *(const mpnum_grad_optimizer *)state;
  mpnum_stored_ out =
      mpnum_stored_begin_(bytes, 0x4f47706du, MPNUM_GRAD_OPTIMIZER_VERSION_);
  mpnum_stored_optimizer_(&out, &copy);
  mpnum_stored_u64_(&out, &copy.id);
  mpnum_stored_seal_(bytes, HANDLE_BYTES);
}
static void handles_are_saved(void) {
  const stored_kind kind = {"handle",    HANDLE_BYTES, sizeof(mpnum_grad_optimizer),
                            save_handle, load_handle,  write_handle};
  const mpnum_grad_optimizer handle = {
      MPNUM_GRAD_UNSCALED, 1,           MPNUM_GRAD_WINDOW_CLOSED, 0x11223344u, 1.5f, 2,
      0x55667788u,         0x99aabbccu, 0x1020304050607080u};
  /* By hand from the members; the CRC is zlib's of these bytes. */
  static const uint8_t want[HANDLE_BYTES] = {
      0x6d, 0x70, 0x47, 0x4f, 0x02, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01,
      0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x44, 0x33, 0x22, 0x11, 0x00, 0x00,
      0xc0, 0x3f, 0x00, 0x00, 0x00, 0x40, 0x88, 0x77, 0x66, 0x55, 0xcc, 0xbb, 0xaa,
      0x99, 0x80, 0x70, 0x60, 0x50, 0x40, 0x30, 0x20, 0x10, 0x67, 0xf7, 0x65, 0x06};
  mpnum_grad_optimizer other = handle;
  check_stored(&kind, &handle, want);
  check_changed_members(&kind, &handle);
  other.found_inf = 4; /* a sum over ranks */
  uint8_t bytes[HANDLE_BYTES];
  CHECK(mpnum_grad_optimizer_save(bytes, &other) == MPNUM_OK &&
            memcmp(bytes, want, HANDLE_BYTES) == 0,
        "found_inf 4");
#define UNSOUND(change)                  \
 do {                                    \
  other = handle;                        \
  other.change;                          \
  check_unsound(&kind, &other, #change); \
 } while (0)
  UNSOUND(stage = 5);
  UNSOUND(window = 3);
  UNSOUND(norm = -2);
  UNSOUND(norm = mpnum_from_bits_f32(0x80000000u));
  UNSOUND(clipped_to = 0);
  UNSOUND(clipped_to = -1);
  UNSOUND(clipped_to = mpnum_from_bits_f32(0x7fc00000u));
#undef UNSOUND
}

/* The bytes that version 1 wrote: of a step that skipped, it is known by found_inf. */
static void handles_of_version_1_are_loaded(void) {
  for (uint8_t found = 0; found < 2; ++found)
    for (uint8_t stage = 0; stage < 5; ++stage) {
      const uint8_t old[44] = {
          0x6d, 0x70, 0x47, 0x4f, 1, 0, 0, 0,    stage, 0, 0, 0, found, 0, 0, 0, 0, 0, 0,
          0,    3,    0,    0,    0, 0, 0, 0xc0, 0x3f,  0, 0, 0, 0x40,  7, 0, 0, 0, 9};
      const mpnum_grad_optimizer want = {
          stage == 3 && found ? 4u : stage, found, 0, 3, 1.5f, 2, 7, 9, 0};
      mpnum_grad_optimizer got = {0, 0, 0, 0, 0, 0, 0, 0, 77};
      uint8_t bytes[HANDLE_BYTES] = {0};
      memcpy(bytes, old, sizeof old);
      mpnum_stored_seal_(bytes, 44);
      const mpnum_status status = mpnum_grad_optimizer_load(&got, bytes, 44);
      if (stage == 4)
        CHECK(status == MPNUM_ERROR_CORRUPT && got.id == 77, "stage 4");
      else
        CHECK(status == MPNUM_OK && memcmp(&got, &want, sizeof want) == 0, "stage %d",
              stage);
      mpnum_stored_seal_(bytes, HANDLE_BYTES);
      got.id = 77;
      CHECK(mpnum_grad_optimizer_load(&got, bytes, HANDLE_BYTES) == MPNUM_ERROR_CORRUPT &&
                got.id == 77,
            "version 1 with an id");
    }
}

/* Random calls, of which each may be followed by saving and loading all there is. */
static void saving_in_the_middle_of_a_trace_changes_nothing(void) {
  uint64_t at = 0, updates = 0;
  for (int run = 0; run < 300; ++run) {
    mpnum_grad_scaler_config config = mpnum_grad_scaler_deepspeed(2, run % 2);
    mpnum_grad_scaler scalers[2];
    mpnum_grad_optimizer handles[2][2];
    config.growth_interval = run % 5 + 1;
    memset(scalers, 0, sizeof scalers);
    for (int k = 0; k < 2; ++k) {
      must(mpnum_grad_scaler_init(&scalers[k], config));
      handles[k][0] = handles[k][1] = mpnum_grad_optimizer_of(&scalers[k]);
    }
    for (int i = 0; i < 200; ++i) {
      const uint32_t call = mpnum_random(3, at++) % 8, found = mpnum_random(3, at++) % 3;
      const uint32_t place = mpnum_random(3, at++) % 2;
      for (int k = 0; k < 2; ++k) {
        mpnum_grad_optimizer *handle = &handles[k][place];
        mpnum_grad_optimizer *all[] = {&handles[k][0], &handles[k][1]};
        mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
        if (call == 0 && found == 0)
          may(mpnum_grad_scaler_begin_accumulation(&scalers[k], handle));
        if (call == 1) may(mpnum_grad_scaler_end_accumulation(&scalers[k], handle));
        if (call == 2)
          may(mpnum_grad_scaler_report_checked(&scalers[k], handle, found, 2));
        if (call == 3)
          may(mpnum_grad_scaler_report_unscaled(&scalers[k], handle, found, 3));
        if (call == 4) may(mpnum_grad_scaler_report_changed(&scalers[k], handle, 0, 1));
        if (call == 5) may(mpnum_grad_scaler_step(&scalers[k], handle, &verdict));
        if (call == 6) may(mpnum_grad_scaler_update_all(&scalers[k], all, 2));
        if (call == 7 && found == 0) may(mpnum_grad_scaler_set_scale(&scalers[k], 64));
        if (call == 7 && found == 1) mpnum_grad_scaler_discard(&scalers[k], handle);
      }
      if (mpnum_random(3, at++) % 4 == 0) {
        uint8_t bytes[BYTES], handle_bytes[2][HANDLE_BYTES];
        CHECK(mpnum_grad_scaler_save(bytes, &scalers[1]) == MPNUM_OK, "save");
        for (int k = 0; k < 2; ++k)
          CHECK(mpnum_grad_optimizer_save(handle_bytes[k], &handles[1][k]) == MPNUM_OK,
                "save a handle");
        memset(&scalers[1], 0x33, sizeof scalers[1]);
        memset(handles[1], 0x33, sizeof handles[1]);
        CHECK(mpnum_grad_scaler_load(&scalers[1], bytes, BYTES) == MPNUM_OK, "load");
        for (int k = 0; k < 2; ++k)
          CHECK(mpnum_grad_optimizer_load(&handles[1][k], handle_bytes[k],
                                          HANDLE_BYTES) == MPNUM_OK,
                "load a handle");
      }
      CHECK(memcmp(&scalers[0], &scalers[1], sizeof scalers[0]) == 0 &&
                memcmp(handles[0], handles[1], sizeof handles[0]) == 0,
            "run %d, call %d", run, i);
    }
    updates += scalers[0].updates;
  }
  CHECK(updates > 1500, "%u updates", (unsigned)updates);
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(scalers_are_saved);
  TAP_RUN(members_that_cannot_be_are_refused);
  TAP_RUN(configured_scalers_are_saved);
  TAP_RUN(sums_of_found_inf_are_saved);
  TAP_RUN(versions_1_and_2_are_loaded);
  TAP_RUN(another_version_is_said_to_be_one);
  TAP_RUN(the_checksum_is_crc32);
  TAP_RUN(random_bytes_do_no_harm);
  TAP_RUN(ranks_take_the_same_step);
  TAP_RUN(norms_merge_by_value);
  TAP_RUN(handles_are_saved);
  TAP_RUN(handles_of_version_1_are_loaded);
  TAP_RUN(saving_in_the_middle_of_a_trace_changes_nothing);
  return tap_done();
}

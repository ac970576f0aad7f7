/* SPDX-License-Identifier: MIT */
/* For the tests of states as bytes: what every kind of state keeps to. */
#ifndef MPNUM_TESTS_STORED_CHECKS_H
#define MPNUM_TESTS_STORED_CHECKS_H

#include "../harness/tap.h"

#include <mpnum/core/rng.h>
#include <mpnum/core/detail/stored.h>

#include <string.h>

enum { MOST_STORED = 256 };
typedef struct stored_kind {
  const char *name;
  size_t bytes, size; /* saved, and in memory */
  mpnum_status (*save)(uint8_t *, const void *);
  mpnum_status (*load)(void *, const uint8_t *, uint64_t);
  void (*write)(uint8_t *, const void *); /* whatever the state is, with the right CRC */
} stored_kind;

static inline void check_not_loaded(const stored_kind *kind, const uint8_t *bytes,
                                    size_t count, mpnum_status want, const char *what) {
  uint8_t state[MOST_STORED];
  memset(state, 0x33, sizeof state);
  const mpnum_status status = kind->load(state, bytes, count);
  CHECK(status == want, "%s, %s: %s", kind->name, what, mpnum_status_string(status));
  for (size_t i = 0; i < kind->size; ++i)
    CHECK(state[i] == 0x33, "%s, %s: byte %zu of the state", kind->name, what, i);
}
/* A state is saved as these bytes, and loaded from them alone. */
static inline void check_stored(const stored_kind *kind, const void *state,
                                const uint8_t *want) {
  uint8_t bytes[MOST_STORED] = {0}, loaded[MOST_STORED] = {0};
  CHECK(kind->save(bytes, state) == MPNUM_OK, "%s: save", kind->name);
  for (size_t i = 0; i < kind->bytes; ++i)
    CHECK(bytes[i] == want[i], "%s: byte %zu is %02x", kind->name, i, bytes[i]);
  CHECK(bytes[kind->bytes] == 0, "%s: a byte too many", kind->name);
  CHECK(kind->load(loaded, bytes, kind->bytes) == MPNUM_OK &&
            memcmp(loaded, state, kind->size) == 0,
        "%s: load", kind->name);
  for (size_t bit = 0; bit < 8 * kind->bytes; ++bit) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    check_not_loaded(kind, bytes, kind->bytes, MPNUM_ERROR_CORRUPT, "a bit");
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  for (size_t count = 0; count <= kind->bytes + 1; ++count)
    if (count != kind->bytes)
      check_not_loaded(kind, bytes, count, MPNUM_ERROR_CORRUPT, "another size");
  bytes[4] += 1;
  mpnum_stored_seal_(bytes, (int)kind->bytes);
  check_not_loaded(kind, bytes, kind->bytes, MPNUM_ERROR_VERSION, "the next version");
  bytes[4] = 0;
  mpnum_stored_seal_(bytes, (int)kind->bytes);
  check_not_loaded(kind, bytes, kind->bytes, MPNUM_ERROR_VERSION, "version 0");
}
/* Members that were changed at random, with the right CRC: refused, or a state that is
 * saved as these bytes. */
static inline void check_changed_members(const stored_kind *kind, const void *from) {
  int loads = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    uint8_t bytes[MOST_STORED] = {0}, again[MOST_STORED] = {0}, to[MOST_STORED];
    const uint32_t changes = mpnum_random(4, i) % 4 + 1;
    kind->write(bytes, from);
    for (uint64_t k = 0; k < changes; ++k) {
      const uint32_t x = mpnum_random(5, 4 * i + k);
      bytes[8 + x % (uint32_t)(kind->bytes - 12)] ^= (uint8_t)(1 << (x >> 16) % 8);
    }
    mpnum_stored_seal_(bytes, (int)kind->bytes);
    memset(to, 0x33, sizeof to);
    if (kind->load(to, bytes, kind->bytes) != MPNUM_OK) {
      check_not_loaded(kind, bytes, kind->bytes, MPNUM_ERROR_CORRUPT, "changed members");
    } else {
      ++loads;
      CHECK(kind->save(again, to) == MPNUM_OK && memcmp(bytes, again, kind->bytes) == 0,
            "%s: loaded, and not saved again", kind->name);
    }
  }
  CHECK(loads > 100 && loads < 19900, "%s: %d of 20000 load", kind->name, loads);
}
/* A state that cannot be is neither saved nor loaded. */
static inline void check_unsound(const stored_kind *kind, const void *state,
                                 const char *what) {
  uint8_t bytes[MOST_STORED];
  memset(bytes, 0x5a, sizeof bytes);
  CHECK(kind->save(bytes, state) == MPNUM_ERROR_CORRUPT, "%s, %s: saved", kind->name,
        what);
  for (size_t i = 0; i < sizeof bytes; ++i)
    CHECK(bytes[i] == 0x5a, "%s, %s: byte %zu is written", kind->name, what, i);
  kind->write(bytes, state);
  check_not_loaded(kind, bytes, kind->bytes, MPNUM_ERROR_CORRUPT, what);
}

#endif

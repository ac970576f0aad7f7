/* SPDX-License-Identifier: MIT */
/* Files through a target of libFuzzer, without it, and mutants of each, the same in every
 * run. */
#ifndef MPNUM_TESTS_FUZZ_REPLAY_H
#define MPNUM_TESTS_FUZZ_REPLAY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int fuzz_target(const uint8_t *bytes, size_t size);

/* Marsaglia's xorshift64. */
static inline uint64_t replay_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state >> 8;
}
static inline void replay_mutant(fuzz_target *target, uint8_t *bytes, size_t size,
                                 uint64_t *state) {
  for (uint64_t left = 1 + replay_random(state) % 3; left > 0 && size > 0; --left) {
    const uint64_t random = replay_random(state);
    const size_t at = (size_t)(random >> 16) % size, from = (size_t)random % size;
    const uint32_t how = (uint32_t)(random >> 48) % 4;
    if (how == 0) bytes[at] = (uint8_t)(random >> 8);
    if (how == 1) bytes[at] = bytes[from];
    if (how == 2) bytes[at] ^= (uint8_t)(1u << random % 8);
    if (how == 3) bytes[at] = (uint8_t)(bytes[at] + (random & 1 ? 1 : 255));
  }
  (void)target(bytes, size);
}

/* Calls the target with the bytes of each file, in memory of just that size, and with so
 * many mutants of it. 0: none aborted. */
static inline int replay(int argc, char **argv, fuzz_target *target, int mutants) {
  enum { LIMIT = 1 << 20 };
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
  uint8_t *room = (uint8_t *)malloc(LIMIT);
  if (!room) return 2;
  for (int i = 1; i < argc; ++i) {
    FILE *from = fopen(argv[i], "rb");
    const size_t size = from ? fread(room, 1, LIMIT, from) : LIMIT;
    uint8_t *bytes = (uint8_t *)malloc(size + (size == 0));
    if (from) fclose(from);
    if (size == LIMIT || !bytes) {
      fprintf(stderr, "%s cannot be read\n", argv[i]);
      free(bytes);
      free(room);
      return 2;
    }
    for (int k = 0; k <= mutants; ++k) {
      memcpy(bytes, room, size);
      if (k == 0) (void)target(bytes, size);
      if (k > 0) replay_mutant(target, bytes, size, &state);
    }
    free(bytes);
  }
  free(room);
  return 0;
}

#endif

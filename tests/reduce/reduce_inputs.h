/* SPDX-License-Identifier: MIT */
/* What the tests of reduce.h share: the instruction sets that results must not depend on,
 * room for arrays, random bits. */
#ifndef MPNUM_TESTS_REDUCE_INPUTS_H
#define MPNUM_TESTS_REDUCE_INPUTS_H

#include "mpnum/array/reduce.h"

#include "../harness/must.h"
#include "../harness/tap.h"

#include <stdlib.h>
#include <string.h>

/* Room for any array of the tests, from any address. */
enum { ROOM = 1 << 16 };
static uint8_t room[ROOM];

/* An array of this size in bytes that ends some bytes before the end of the room. */
static uint8_t *array_before_end(size_t bytes, size_t gap) {
  return room + ROOM - gap - bytes;
}
/* One that begins some bytes after its start. */
static uint8_t *array_after_start(size_t gap) { return room + gap; }

static uint64_t random_state = 1;
static uint32_t random_bits(void) {
  random_state =
      random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 32);
}

/* Calls visit once for each instruction set of this machine. */
static void for_isas(void (*visit)(const char *name)) {
  const mpnum_isa before = mpnum_isa_in_use();
  int isa = 0;
  for (; mpnum_isa_name((mpnum_isa)isa); ++isa)
    if (mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK)
      visit(mpnum_isa_name((mpnum_isa)isa));
  may(mpnum_isa_force(before));
}

#endif

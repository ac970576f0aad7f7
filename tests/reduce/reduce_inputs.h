/* SPDX-License-Identifier: MIT */
/* What the tests of reduce.h share: the instruction sets and floating-point environments
 * that results must not depend on, arrays that end at a page that cannot be read, random
 * bits. */
#ifndef MPNUM_TESTS_REDUCE_INPUTS_H
#define MPNUM_TESTS_REDUCE_INPUTS_H

#include "mpnum/array/reduce.h"

#include "../harness/must.h"
#include "../harness/tap.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#if defined(__unix__)
# include <sys/mman.h>
# include <unistd.h>
# define HAVE_PAGES 1
#else
# define HAVE_PAGES 0
#endif
#if defined(__x86_64__)
# include <xmmintrin.h>
#endif

/* Room for any array of the tests, from any address, and a page beyond it. */
enum { ROOM = 1 << 16 };

static uint8_t *room_end(void) {
  static uint8_t *end;
#if HAVE_PAGES
  if (!end) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *start = (uint8_t *)mmap(NULL, ROOM + 2 * page, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED || mprotect(start, page, PROT_NONE) != 0 ||
        mprotect(start + page + ROOM, page, PROT_NONE) != 0)
      abort();
    end = start + page + ROOM;
  }
#else
  static uint8_t room[ROOM];
  end = room + ROOM;
#endif
  return end;
}
/* An array of this size in bytes that ends some bytes before the end of the room. */
static uint8_t *array_before_end(size_t bytes, size_t gap) {
  return room_end() - gap - bytes;
}
/* One that begins some bytes after its start. */
static uint8_t *array_after_start(size_t gap) { return room_end() - ROOM + gap; }

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

/* Environment number i of ENVIRONMENTS, the last ones with subnormals flushed. */
enum { ENVIRONMENTS = 6 };
static void use_environment(int i) {
  static const int rounding[ENVIRONMENTS] = {FE_TONEAREST,  FE_UPWARD,    FE_DOWNWARD,
                                             FE_TOWARDZERO, FE_TONEAREST, FE_UPWARD};
  (void)fesetround(rounding[i]);
#if defined(__x86_64__)
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | (i >= 4 ? 0x8040u : 0));
#elif defined(__aarch64__)
  {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = (control & ~(UINT64_C(1) << 24)) | (uint64_t)(i >= 4) << 24;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
  }
#endif
}
/* Whether it still is in use. */
static int is_environment(int i) {
  static const int rounding[ENVIRONMENTS] = {FE_TONEAREST,  FE_UPWARD,    FE_DOWNWARD,
                                             FE_TOWARDZERO, FE_TONEAREST, FE_UPWARD};
#if defined(__x86_64__)
  if ((_mm_getcsr() & 0x8040u) != (i >= 4 ? 0x8040u : 0)) return 0;
#endif
  return fegetround() == rounding[i];
}

#endif

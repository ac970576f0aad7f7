/* SPDX-License-Identifier: MIT */
/* Data that cost some CPUs time, and whether a loop ever carries out an operation on a
 * subnormal, or with one as its result, which costs CPUs of Intel some 150 cycles.
 * Without a clock: loops run with the exceptions of both unmasked, so that such an
 * operation traps, unless subnormals are flushed to zero. Steps of AVX-512 suppress
 * exceptions: of its loops, which run in the same environment, the bits are compared.
 * Include it before headers of mpnum. */
#ifndef MPNUM_TESTS_DATA_SETS_H
#define MPNUM_TESTS_DATA_SETS_H

#include <stdint.h>
static uint32_t usual_word = 0x1680u; /* subnormal operands and underflow trap */
static unsigned long flushes_seen;    /* how often a loop asked for the other word */
#define MPNUM_MXCSR_USUAL_ usual_word
/* FTZ, DAZ; subnormal operands would trap. */
#define MPNUM_MXCSR_FLUSHING_ (++flushes_seen, 0x9ec0u)
#include "control_word.h"
#include "isas.h"
#include "tap.h"

#include <mpnum/mpnum.h>

#include <setjmp.h>
#include <signal.h>
#include <string.h>

static uint64_t state;
static uint32_t random32(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}
/* About a normal distribution. */
static float usual(void) {
  float sum = 0;
  for (int i = 0; i < 6; ++i)
    sum += (float)(random32() >> 8) * 0x1p-24f - 0.5f;
  return 1.4f * sum;
}

typedef enum data {
  NORMAL,
  SUBNORMAL,
  TINY,
  HUGE_,
  ZEROS,
  SPECIAL,
  BITS,
  LOW,
  DATA
} data;
static const char *const data_names[] = {"normal", "subnormal", "tiny", "huge",
                                         "zeros",  "special",   "bits", "low"};
/* A quarter of the set's own values, one in a hundred of Inf and NaN, among usual ones;
 * bits are any, low all of them near 2^-126. */
static float element_of(data set) {
  const float value = usual();
  const uint32_t word = random32(), sign = word & 0x80000000u;
  switch (set) {
  case SUBNORMAL: return word % 4 ? value : mpnum_from_bits_f32(random32() & 0x807fffffu);
  case TINY: return word % 4 ? value : value * 0x1p-16f;
  case HUGE_: return word % 4 ? value : value * 0x1p20f;
  case ZEROS: return word % 4 ? value : mpnum_from_bits_f32(sign);
  case SPECIAL:
    return word % 100
               ? value
               : mpnum_from_bits_f32(sign | (word & 64 ? 0x7f800000u : 0x7fc00000u));
  case BITS: return mpnum_from_bits_f32(word);
  case LOW: return mpnum_from_bits_f32(word & 0x83ffffffu);
  default: return value;
  }
}

typedef void one_call(void);
static sigjmp_buf back;
static void on_trap(int signal_number) {
  (void)signal_number;
  siglongjmp(back, 1);
}
static void traps_are_caught(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_trap;
  sigaction(SIGFPE, &action, NULL);
}
/* Whether a call trapped. */
static int traps(one_call *run) {
  one_call *volatile call = run;
  const uint64_t before = control_word();
  volatile int trapped = 1;
  if (sigsetjmp(back, 1) == 0) {
    call();
    trapped = 0;
  }
  set_control_word(before);
  return trapped;
}
/* Makes a call with the scalar ISA, which flushes nothing, and without traps. */
static inline void run_scalar(one_call *run) {
  const mpnum_isa isa = mpnum_isa_in_use();
  const uint32_t word = usual_word;
  usual_word = 0x1f80u;
  CHECK(mpnum_isa_force(MPNUM_ISA_SCALAR) == MPNUM_OK, "no scalar ISA");
  run();
  CHECK(mpnum_isa_force(isa) == MPNUM_OK, "%s is gone", mpnum_isa_name(isa));
  usual_word = word;
}
/* Does something with each ISA that has vectors and flushes. */
static inline void for_each_isa(mpnum_isa least, void (*check)(mpnum_isa isa)) {
  const mpnum_isa best = mpnum_isa_in_use();
  for (int k = 0; k < ISAS; ++k) {
    if (isas[k] == MPNUM_ISA_SCALAR || isas[k] < least ||
        mpnum_isa_force(isas[k]) != MPNUM_OK)
      continue;
    check(isas[k]);
  }
  CHECK(mpnum_isa_force(best) == MPNUM_OK, "%s is gone", mpnum_isa_name(best));
}
#if defined(__x86_64__) && MPNUM_HAS_X86_SIMD_
# define RUN_WHERE_FLUSHED(property) TAP_RUN(property)
#else
# define RUN_WHERE_FLUSHED(property)                      \
  do {                                                    \
   (void)property;                                        \
   TAP_SKIP(#property, "loops are flushed on x86 alone"); \
  } while (0)
#endif

#endif

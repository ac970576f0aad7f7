/* SPDX-License-Identifier: MIT */
/* Random bits for stochastic rounding: a pure function of seed and index, so that an
 * array gives the same result however it is split among threads, vectors or devices. */
#ifndef MPNUM_CORE_RNG_H
#define MPNUM_CORE_RNG_H

#include "detail/config.h"
MPNUM_C_BEGIN_

/* Four words, what one counter gives. */
typedef struct mpnum_u32x4 {
  uint32_t x, y, z, w;
} mpnum_u32x4;

/* The upper half of a product. Of one of 64 bits nvcc makes two instructions, and of asm
 * kernels that spill. */
MPNUM_INLINE uint32_t mpnum_upper_product_(uint32_t a, uint32_t b) {
#if MPNUM_ON_DEVICE_ && !defined(__clang__)
  return __umulhi(a, b);
#else
  return (uint32_t)((uint64_t)a * b >> 32);
#endif
}
MPNUM_INLINE uint32_t mpnum_xor_three_(uint32_t a, uint32_t b, uint32_t c) {
#if MPNUM_ON_DEVICE_ /* one instruction, of which nvcc may make two */
  uint32_t word = 0;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(word) : "r"(a), "r"(b), "r"(c));
  return word;
#else
  return a ^ b ^ c;
#endif
}
/* One of ten rounds of mpnum_random_x4. */
MPNUM_INLINE mpnum_u32x4 mpnum_random_round_(mpnum_u32x4 c, uint32_t key0,
                                             uint32_t key1) {
  const uint32_t first = 0xd2511f53u, second = 0xcd9e8d57u; /* the paper's multipliers */
  const mpnum_u32x4 next = {
      mpnum_xor_three_(mpnum_upper_product_(second, c.z), c.y, key0),
      second * c.z,
      mpnum_xor_three_(mpnum_upper_product_(first, c.x), c.w, key1),
      first * c.x,
  };
  return next;
}
/* Four random words: Philox4x32-10, the key the seed, the counter its low 64 bits.
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011. */
MPNUM_INLINE mpnum_u32x4 mpnum_random_x4(uint64_t seed, uint64_t counter) {
  mpnum_u32x4 c = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
  uint32_t key0 = (uint32_t)seed;
  uint32_t key1 = (uint32_t)(seed >> 32);
  int round = 0;
  for (; round < 10; ++round) {
    c = mpnum_random_round_(c, key0, key1);
    key0 += 0x9e3779b9u; /* golden ratio */
    key1 += 0xbb67ae85u; /* sqrt(3) - 1 */
  }
  return c;
}

/* Word number index of the stream of a seed: word index % 4 of counter index / 4. */
MPNUM_INLINE uint32_t mpnum_random(uint64_t seed, uint64_t index) {
  const mpnum_u32x4 words = mpnum_random_x4(seed, index >> 2);
  const uint32_t first = index & 1 ? words.y : words.x;
  const uint32_t second = index & 1 ? words.w : words.z;
  return index & 2 ? second : first;
}

MPNUM_C_END_
#endif

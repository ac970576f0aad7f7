/* SPDX-License-Identifier: MIT */
/* The control word of floating point: rounding, flushing of subnormals, traps. */
#ifndef MPNUM_TESTS_CONTROL_WORD_H
#define MPNUM_TESTS_CONTROL_WORD_H

#include <fenv.h>
#include <stdint.h>

#if defined(__SSE2__) || defined(_M_X64)
# include <xmmintrin.h>
/* MXCSR: FTZ and DAZ. Its low six bits say which exceptions were raised. */
enum { FLUSHES_RESULTS = 0x8000, FLUSHES_ARGUMENTS = 0x0040, FLUSHES = 0x8040 };
static inline uint64_t control_word(void) { return _mm_getcsr(); }
static inline void set_control_word(uint64_t word) { _mm_setcsr((unsigned)word); }
#elif defined(__aarch64__)
enum { FLUSHES = 1 << 24, FLUSHES_RESULTS = FLUSHES, FLUSHES_ARGUMENTS = FLUSHES };
static inline uint64_t control_word(void) {
  uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
static inline void set_control_word(uint64_t word) {
  __asm__ volatile("msr fpcr, %0" : : "r"(word));
}
#else
enum { FLUSHES = 0, FLUSHES_RESULTS = 0, FLUSHES_ARGUMENTS = 0 };
static inline uint64_t control_word(void) { return 0; }
static inline void set_control_word(uint64_t word) { (void)word; }
#endif

/* The word for a rounding mode of fenv.h, with no exception raised and nothing flushed.
 */
static inline uint64_t control_word_of(int mode) {
  const int rounding = fegetround(); /* on x86 that of x87 */
  const uint64_t before = control_word();
  fesetround(mode);
  feclearexcept(FE_ALL_EXCEPT);
  const uint64_t word = control_word();
  fesetround(rounding);
  set_control_word(before);
  return word & ~(uint64_t)FLUSHES;
}

/* Words in which nothing may change: each rounding mode with and without flushing; where
 * every exception traps, where results or operands alone are flushed, after every
 * exception. Returns how many there are; the first is the default. */
enum { CONTROL_WORDS = 12 };
static inline int all_control_words(uint64_t words[CONTROL_WORDS]) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  int count = 0;
  for (int k = 0; k < 4; ++k) {
    words[count++] = control_word_of(modes[k]);
    if (FLUSHES != 0) words[count++] = control_word_of(modes[k]) | FLUSHES;
  }
#if defined(__x86_64__)
  words[count++] = control_word_of(FE_TONEAREST) & ~UINT64_C(0x1f80);
  words[count++] = 0x9f80;
  words[count++] = 0x1fc0;
  words[count++] = control_word_of(FE_UPWARD) | 0x3f;
#endif
  return count;
}

/* A function of a float with a word in force, while which nothing else happens. */
static inline float called_with(uint64_t word, float (*function)(float), float x) {
  float (*volatile called)(float) = function;
  const uint64_t before = control_word();
  set_control_word(word);
  const float y = called(x);
  set_control_word(before);
  return y;
}
/* In the default environment, which -ffast-math leaves as soon as a program begins. */
static inline float called_by_default(float (*function)(float), float x) {
  static uint64_t word;
  if (word == 0) word = control_word_of(FE_TONEAREST);
  return called_with(word, function, x);
}

#endif

/* SPDX-License-Identifier: MIT */
/* What gcc and clang need to compile as MSVC would: its words, and its <intrin.h>. */
#ifndef MPNUM_TESTS_INTRIN_H
#define MPNUM_TESTS_INTRIN_H

#if defined(__MINGW32__) /* it has the words, one with another linkage */
# include <_mingw.h>
# undef __forceinline
#else
# define __declspec(word) MPNUM_TESTS_##word
# define MPNUM_TESTS_noinline     __attribute__((__noinline__))
# define MPNUM_TESTS_align(bytes) __attribute__((__aligned__(bytes)))
#endif
#define __forceinline inline __attribute__((__always_inline__))
#define __pragma(words)
#define _Check_return_
#define _ReadWriteBarrier() __asm__ volatile("" : : : "memory")

#include <immintrin.h>

static inline void __cpuidex(int words[4], int leaf, int part) {
  __asm__("cpuid"
          : "=a"(words[0]), "=b"(words[1]), "=c"(words[2]), "=d"(words[3])
          : "0"(leaf), "2"(part));
}

#endif

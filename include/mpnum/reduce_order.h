/* SPDX-License-Identifier: MIT */
/* Doubles added in the order that is written. */
#ifndef MPNUM_REDUCE_ORDER_H
#define MPNUM_REDUCE_ORDER_H

#include "config.h"

#if MPNUM_HAS_ARRAYS

/* The same double, which the compiler takes for another one: it neither reorders what
 * made it nor computes it after the environment has changed. */
# if MPNUM_HAS_GNU && (defined(__x86_64__) || defined(__i386__)) && defined(__SSE2__)
#  define MPNUM_KEEP_F64_(x) __asm__ volatile("" : "+x"(x))
# elif MPNUM_HAS_GNU && defined(__aarch64__)
#  define MPNUM_KEEP_F64_(x) __asm__ volatile("" : "+w"(x))
# elif MPNUM_HAS_GNU
#  define MPNUM_KEEP_F64_(x) __asm__ volatile("" : "+m"(x))
# else
#  define MPNUM_KEEP_F64_(x) ((void)0)
# endif
MPNUM_HOST_INLINE_ double mpnum_kept_f64_(double x) {
  MPNUM_KEEP_F64_(x);
  return x;
}
MPNUM_HOST_INLINE_ double mpnum_plus_f64_(double a, double b) {
  return mpnum_kept_f64_(a + b);
}

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* Float arithmetic that is carried out as it is written: each operation rounds once, none
 * is joined to an fma, reordered or, on devices, flushed to zero. The words of func.inc
 * for one float at a time. */
#ifndef MPNUM_DETAIL_MATH_F32_OPS_H
#define MPNUM_DETAIL_MATH_F32_OPS_H

#include "wide.h"

typedef float mpnum_real_scalar_;
typedef uint32_t mpnum_vector_scalar_;
typedef int mpnum_mask_scalar_;

#if MPNUM_ON_DEVICE
# define MPNUM_REAL_OF_TWO_(name, instruction, operation)      \
  MPNUM_REAL_ float mpnum_##name##_scalar_(float a, float b) { \
   float x;                                                    \
   asm(instruction " %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b)); \
   return x;                                                   \
  }
#else
/* The same float, which the compiler takes for another one. */
# if MPNUM_HAS_GNU && (defined(__x86_64__) || defined(__SSE2__))
#  define MPNUM_KEEP_F32_(x) __asm__("" : "+x"(x))
# elif MPNUM_HAS_GNU && defined(__aarch64__)
#  define MPNUM_KEEP_F32_(x) __asm__("" : "+w"(x))
# elif MPNUM_HAS_GNU
#  define MPNUM_KEEP_F32_(x) __asm__("" : "+m"(x))
# else
#  define MPNUM_KEEP_F32_(x) ((void)0)
# endif
# define MPNUM_REAL_OF_TWO_(name, instruction, operation)      \
  MPNUM_REAL_ float mpnum_##name##_scalar_(float a, float b) { \
   float x = a operation b;                                    \
   MPNUM_KEEP_F32_(x);                                         \
   return x;                                                   \
  }
#endif

MPNUM_REAL_OF_TWO_(plus, "add.rn.f32", +)
MPNUM_REAL_OF_TWO_(minus, "sub.rn.f32", -)
MPNUM_REAL_OF_TWO_(times, "mul.rn.f32", *)
#if MPNUM_ON_DEVICE
MPNUM_REAL_OF_TWO_(over, "div.rn.f32", /)
#else
/* By hand, as -ffast-math would multiply by a reciprocal that a loop has in common. */
MPNUM_REAL_ float mpnum_over_scalar_(float a, float b) {
# if MPNUM_HAS_GNU && (defined(__x86_64__) || defined(__SSE2__))
  __asm__("divss %1, %0" : "+x"(a) : "x"(b));
  return a;
# elif MPNUM_HAS_GNU && defined(__aarch64__)
  float x;
  __asm__("fdiv %s0, %s1, %s2" : "=w"(x) : "w"(a), "w"(b));
  return x;
# else
  float x = a / b;
  MPNUM_KEEP_F32_(x);
  return x;
# endif
}
#endif
#undef MPNUM_REAL_OF_TWO_

/* The same float, which the compiler takes for another one: of a constant 0 less x
 * -ffast-math makes -x, which is -0 where x is 0. */
MPNUM_REAL_ float mpnum_kept_scalar_(float x) {
#if !MPNUM_ON_DEVICE
  MPNUM_KEEP_F32_(x);
#endif
  return x;
}
MPNUM_REAL_ float mpnum_constant_scalar_(uint32_t bits) {
  return mpnum_from_bits_f32(bits);
}
/* By hand on devices: nvcc makes abs and neg of steps on a float's bits, which flush
 * subnormals under -use_fast_math. */
#if MPNUM_ON_DEVICE
MPNUM_REAL_ float mpnum_real_of_scalar_(uint32_t bits) {
  float x;
  asm("mov.b32 %0, %1;" : "=f"(x) : "r"(bits));
  return x;
}
MPNUM_REAL_ uint32_t mpnum_bits_of_scalar_(float x) {
  uint32_t bits;
  asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
#else
MPNUM_REAL_ float mpnum_real_of_scalar_(uint32_t bits) {
  return mpnum_from_bits_f32(bits);
}
MPNUM_REAL_ uint32_t mpnum_bits_of_scalar_(float x) { return mpnum_bits_f32(x); }
#endif
MPNUM_REAL_ uint32_t mpnum_set_scalar_(uint32_t x) { return x; }
MPNUM_REAL_ int mpnum_greater_scalar_(uint32_t a, uint32_t b) { return a > b; }
MPNUM_REAL_ int mpnum_below_scalar_(uint32_t a, uint32_t b) { return a < b; }
MPNUM_REAL_ uint32_t mpnum_select_scalar_(int mask, uint32_t a, uint32_t b) {
  return mask ? a : b;
}

/* The square root. Compilers call a function of libm for it, this does not. */
MPNUM_REAL_ float mpnum_root_scalar_(float x) {
#if MPNUM_ON_DEVICE
  float root;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
#elif MPNUM_HAS_GNU && (defined(__x86_64__) || defined(__SSE2__))
  float root;
  __asm__("sqrtss %1, %0" : "=x"(root) : "x"(x));
  return root;
#elif MPNUM_HAS_GNU && defined(__aarch64__)
  float root;
  __asm__("fsqrt %s0, %s1" : "=w"(root) : "w"(x));
  return root;
#else
  const uint32_t bits = mpnum_bits_f32(x);
  if (bits - 1 >= 0x7f7fffffu) /* zeros, negative, Inf, NaN */
    return (bits & 0x7fffffffu) == 0 || bits == 0x7f800000u
               ? x
               : mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_from_bits_f32(
      mpnum_wide_nearest_f32_(mpnum_wide_sqrt_(mpnum_wide_f32_(bits))));
#endif
}

#endif

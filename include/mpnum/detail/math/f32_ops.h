/* SPDX-License-Identifier: MIT */
/* Float arithmetic that is carried out as it is written: each operation rounds once, none
 * is joined to an fma, reordered or, on devices, flushed to zero. The operations of
 * func.inc for one float at a time. */
#ifndef MPNUM_DETAIL_MATH_F32_OPS_H
#define MPNUM_DETAIL_MATH_F32_OPS_H

#include "wide.h"

#include "../simd/operations.inc"
#define MPNUM_ISA_HERE_ 0
#include "../simd/isa_begin.inc"

typedef float mpnumv_f32;
typedef uint32_t mpnumv_vector;
typedef int mpnumv_mask;

#if MPNUM_ON_DEVICE
# define MPNUM_F32_OPERATION_(name, instruction, operation)    \
  MPNUM_REAL_ float name(float a, float b) {                   \
   float x;                                                    \
   asm(instruction " %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b)); \
   return x;                                                   \
  }
#else
/* The same float, which the compiler takes for another one. */
# if MPNUM_HAS_GNU && (defined(__x86_64__) || defined(__SSE2__))
#  define MPNUM_OPT_BARRIER_F32_(x) __asm__("" : "+x"(x))
# elif MPNUM_HAS_GNU && defined(__aarch64__)
#  define MPNUM_OPT_BARRIER_F32_(x) __asm__("" : "+w"(x))
# elif MPNUM_HAS_GNU
#  define MPNUM_OPT_BARRIER_F32_(x) __asm__("" : "+m"(x))
# else
#  define MPNUM_OPT_BARRIER_F32_(x) ((void)0)
# endif
# define MPNUM_F32_OPERATION_(name, instruction, operation) \
  MPNUM_REAL_ float name(float a, float b) {                \
   float x = a operation b;                                 \
   MPNUM_OPT_BARRIER_F32_(x);                               \
   return x;                                                \
  }
#endif

MPNUM_F32_OPERATION_(mpnumv_add, "add.rn.f32", +)
MPNUM_F32_OPERATION_(mpnumv_sub, "sub.rn.f32", -)
MPNUM_F32_OPERATION_(mpnumv_mul, "mul.rn.f32", *)
#if MPNUM_ON_DEVICE
MPNUM_F32_OPERATION_(mpnumv_div, "div.rn.f32", /)
#else
/* By hand, as -ffast-math would multiply by a reciprocal that a loop has in common. */
MPNUM_REAL_ float mpnumv_div(float a, float b) {
# if MPNUM_HAS_GNU && (defined(__x86_64__) || defined(__SSE2__))
  __asm__("divss %1, %0" : "+x"(a) : "x"(b));
  return a;
# elif MPNUM_HAS_GNU && defined(__aarch64__)
  float x;
  __asm__("fdiv %s0, %s1, %s2" : "=w"(x) : "w"(a), "w"(b));
  return x;
# else
  float x = a / b;
  MPNUM_OPT_BARRIER_F32_(x);
  return x;
# endif
}
#endif
#undef MPNUM_F32_OPERATION_

MPNUM_REAL_ float mpnumv_constant(uint32_t bits) { return mpnum_from_bits_f32(bits); }
/* By hand on devices: nvcc makes abs and neg of steps on a float's bits, which flush
 * subnormals under -use_fast_math. */
#if MPNUM_ON_DEVICE
MPNUM_REAL_ float mpnumv_f32_of(uint32_t bits) {
  float x;
  asm("mov.b32 %0, %1;" : "=f"(x) : "r"(bits));
  return x;
}
MPNUM_REAL_ uint32_t mpnumv_bits_of(float x) {
  uint32_t bits;
  asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
#else
/* A float that the compiler does not know: under -ffast-math gcc takes a 0 for a -0 of
 * the same function, and 0 less x for -x. */
MPNUM_REAL_ float mpnumv_f32_of(uint32_t bits) {
# if MPNUM_HAS_GNU
  __asm__("" : "+r"(bits));
# endif
  return mpnum_from_bits_f32(bits);
}
MPNUM_REAL_ uint32_t mpnumv_bits_of(float x) { return mpnum_bits_f32(x); }
#endif
MPNUM_REAL_ uint32_t mpnumv_splat(uint32_t x) { return x; }
MPNUM_REAL_ int mpnumv_greater(uint32_t a, uint32_t b) { return a > b; }
MPNUM_REAL_ int mpnumv_less(uint32_t a, uint32_t b) { return a < b; }
MPNUM_REAL_ uint32_t mpnumv_select(int mask, uint32_t a, uint32_t b) {
  return mask ? a : b;
}

/* The square root. Compilers call a function of libm for it, this does not. */
MPNUM_REAL_ float mpnumv_sqrt_raw(float x) {
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
    return mpnum_is_zero_u31_(bits & 0x7fffffffu) || bits == 0x7f800000u
               ? x
               : mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_from_bits_f32(
      mpnum_wide_nearest_f32_(mpnum_wide_sqrt_(mpnum_wide_f32_(bits))));
#endif
}

#include "../simd/isa_end.inc"

#endif

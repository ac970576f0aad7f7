/* SPDX-License-Identifier: MIT */
/* Float arithmetic that is carried out as it is written: each operation rounds once, none
 * is joined to an fma, reordered or, on devices, flushed to zero. The operations of
 * func.inc for one float at a time. */
#ifndef MPNUM_SIMD_DETAIL_F32_OPS_H
#define MPNUM_SIMD_DETAIL_F32_OPS_H

#include "wide.h"
#include "../isa.h"

#include "operations.inc"
MPNUM_C_BEGIN_
#define MPNUM_ISA_HERE_ 0
#include "isa_begin.inc"

typedef float mpnumv_f32;
typedef uint32_t mpnumv_vector;
typedef int mpnumv_mask;

#if MPNUM_ON_DEVICE_
# define MPNUM_F32_OPERATION_(name, instruction, operation)    \
  MPNUM_REAL_ float name(float a, float b) {                   \
   float x;                                                    \
   asm(instruction " %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b)); \
   return x;                                                   \
  }
#else
/* The same float, which the compiler takes for another one. */
# if MPNUM_HAS_GNU_ && (defined(__x86_64__) || defined(__SSE2__))
#  define MPNUM_OPT_BARRIER_F32_(x) __asm__("" : "+x"(x))
# elif MPNUM_HAS_GNU_ && defined(__aarch64__)
#  define MPNUM_OPT_BARRIER_F32_(x) __asm__("" : "+w"(x))
# elif MPNUM_HAS_GNU_
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
#if MPNUM_ON_DEVICE_
MPNUM_F32_OPERATION_(mpnumv_div, "div.rn.f32", /)
#else
/* By hand, as -ffast-math would multiply by a reciprocal that a loop has in common. */
MPNUM_REAL_ float mpnumv_div(float a, float b) {
# if MPNUM_HAS_GNU_ && (defined(__x86_64__) || defined(__SSE2__))
  __asm__("divss %1, %0" : "+x"(a) : "x"(b));
  return a;
# elif MPNUM_HAS_GNU_ && defined(__aarch64__)
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
#if MPNUM_ON_DEVICE_
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
# if MPNUM_HAS_GNU_
  __asm__("" : "+r"(bits));
# endif
  return mpnum_from_bits_f32(bits);
}
MPNUM_REAL_ uint32_t mpnumv_bits_of(float x) { return mpnum_bits_f32(x); }
#endif
MPNUM_REAL_ uint32_t mpnumv_splat(uint32_t x) { return x; }
MPNUM_REAL_ int mpnumv_greater(uint32_t a, uint32_t b) { return a > b; }
MPNUM_REAL_ int mpnumv_less(uint32_t a, uint32_t b) { return a < b; }
MPNUM_REAL_ int mpnumv_equal(uint32_t a, uint32_t b) { return a == b; }
/* By 31 at most. */
MPNUM_REAL_ uint32_t mpnumv_shl(uint32_t x, uint32_t count) { return x << count; }
MPNUM_REAL_ uint32_t mpnumv_select(int mask, uint32_t a, uint32_t b) {
  return mask ? a : b;
}
MPNUM_REAL_ uint32_t mpnumv_where(int mask, uint32_t x) { return mask ? x : 0; }
/* Floats that are at least low, which is negative; of NaN any answer. */
MPNUM_REAL_ int mpnumv_not_below(float x, uint32_t low) {
  return mpnumv_bits_of(x) <= low;
}

/* A float, but at least low, which is negative, or at most high, which is positive; any
 * where it is NaN, but NaN where MPNUM_CLAMPS_NAN_ is 1. */
#define MPNUM_CLAMPS_NAN_ (MPNUM_DEVICE_ARCH_ >= 800)
MPNUM_REAL_ float mpnumv_clamped_below(float x, uint32_t low) {
#if MPNUM_CLAMPS_NAN_
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(mpnumv_constant(low)));
  return y;
#else
  const uint32_t bits = mpnumv_bits_of(x);
  return mpnumv_f32_of(bits < low ? bits : low);
#endif
}
MPNUM_REAL_ float mpnumv_clamped_above(float x, uint32_t high) {
#if MPNUM_CLAMPS_NAN_
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(mpnumv_constant(high)));
  return y;
#else
  const uint32_t bits = mpnumv_bits_of(x);
  return mpnumv_f32_of((int32_t)bits < (int32_t)high ? bits : high);
#endif
}

/* The square root. Compilers call a function of libm for it, this does not. */
MPNUM_REAL_ float mpnumv_sqrt_raw(float x) {
#if MPNUM_ON_DEVICE_
  float root;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
#elif MPNUM_HAS_GNU_ && (defined(__x86_64__) || defined(__SSE2__))
  float root;
  __asm__("sqrtss %1, %0" : "=x"(root) : "x"(x));
  return root;
#elif MPNUM_HAS_MSVC_ && MPNUM_HAS_X86_SIMD_
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
#elif MPNUM_HAS_GNU_ && defined(__aarch64__)
  float root;
  __asm__("fsqrt %s0, %s1" : "=w"(root) : "w"(x));
  return root;
#else
  const uint32_t bits = mpnum_bits_f32(x);
  if (bits - 1 >= 0x7f7fffffu) /* zeros, negative, Inf, NaN */
    return mpnum_iszero_u31_(bits & 0x7fffffffu) || bits == 0x7f800000u
               ? x
               : mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_from_bits_f32(
      mpnum_wide_nearest_f32_(mpnum_wide_sqrt_(mpnum_wide_f32_(bits))));
#endif
}

/* --- a b + c, rounded once --- */

/* MPNUM_HAS_FMA_: 1 where the target has an instruction for it. */
#if MPNUM_ON_DEVICE_ || !MPNUM_HAS_GNU_
# define MPNUM_HAS_FMA_ MPNUM_ON_DEVICE_
#elif defined(__FMA__) || defined(__aarch64__) || defined(__s390x__) || \
    defined(__powerpc64__) || defined(__ARM_FEATURE_FMA)
# define MPNUM_HAS_FMA_ 1
#elif defined(__riscv_flen)
# define MPNUM_HAS_FMA_ (__riscv_flen >= 32)
#else
# define MPNUM_HAS_FMA_ 0
#endif

/* 1 where functions ask the CPU for it. */
#if MPNUM_ASKS_CPU_ && !MPNUM_HAS_FMA_
# define MPNUM_ASKS_FMA_ 1
#else
# define MPNUM_ASKS_FMA_ 0
#endif

#if MPNUM_ASKS_FMA_ || (defined(__x86_64__) && MPNUM_HAS_FMA_ && !MPNUM_ON_DEVICE_)
/* It needs no target attribute. */
MPNUM_REAL_ float mpnum_fma_fused_(float a, float b, float c) {
# if MPNUM_HAS_GNU_
  __asm__("vfmadd213ss %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
  return a;
# else
  return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
# endif
}
#endif

#if !MPNUM_HAS_FMA_
# if MPNUM_HAS_GNU_ && defined(__SSE2__)
#  define MPNUM_OPT_BARRIER_SUM_(x) __asm__("" : "+x"(x))
# elif MPNUM_HAS_GNU_
#  define MPNUM_OPT_BARRIER_SUM_(x) __asm__("" : "+m"(x))
# else
#  define MPNUM_OPT_BARRIER_SUM_(x) ((void)0)
# endif
MPNUM_REAL_ double mpnum_double_sum_(double a, double b) {
  double sum = a + b;
  MPNUM_OPT_BARRIER_SUM_(sum);
  return sum;
}
# undef MPNUM_OPT_BARRIER_SUM_
/* The sum, which is finite, and where it is inexact the neighbour whose last bit is 1, as
 * a float. Its error is exact (Knuth's TwoSum). */
MPNUM_RARE_ float mpnum_fma_by_odd_(double product, double c) {
  const double sum = mpnum_double_sum_(product, c);
  const double b = mpnum_double_sum_(sum, -product);
  const double error = mpnum_double_sum_(
      mpnum_double_sum_(product, -mpnum_double_sum_(sum, -b)), mpnum_double_sum_(c, -b));
  const uint64_t bits = mpnum_bits_f64(sum), error_bits = mpnum_bits_f64(error);
  const int is_exact = error_bits << 1 == 0 || (bits & 1) != 0;
  const int is_back = ((bits ^ error_bits) >> 63) != 0; /* to zero */
  if (is_exact) return (float)sum;
  return (float)mpnum_from_bits_f64(is_back ? bits - 1 : bits + 1);
}
/* The product is exact in double; its sum with c is rounded to double and then to float,
 * which is once too often only where the 29 bits that go last are one half exactly, or
 * the result is subnormal: there the sum is rounded to odd first (Boldo, Melquiond 2008).
 */
MPNUM_REAL_ float mpnum_fma_emulated_(float a, float b, float c) {
  const double product = (double)a * (double)b;
  const double sum = mpnum_double_sum_(product, (double)c);
  const uint64_t bits = mpnum_bits_f64(sum);
  const uint32_t high = (uint32_t)(bits >> 32) & 0x7fffffffu;
  if ((bits & 0x1fffffffu) == 0x10000000u || high - 1 < 0x380fffffu /* 2^-126 */)
    return mpnum_fma_by_odd_(product, (double)c);
  return (float)sum;
}
#endif

MPNUM_REAL_ float mpnumv_fma(float a, float b, float c) {
#if MPNUM_ON_DEVICE_
  float x;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(x) : "f"(a), "f"(b), "f"(c));
  return x;
#elif MPNUM_HAS_FMA_ && defined(__x86_64__)
  return mpnum_fma_fused_(a, b, c);
#elif MPNUM_HAS_FMA_ && defined(__aarch64__)
  float x;
  __asm__("fmadd %s0, %s1, %s2, %s3" : "=w"(x) : "w"(a), "w"(b), "w"(c));
  return x;
#elif MPNUM_HAS_FMA_
  float x = __builtin_fmaf(a, b, c);
  MPNUM_OPT_BARRIER_F32_(x);
  return x;
#else
# if MPNUM_ASKS_FMA_
  if (mpnum_cpu_isa_() >= MPNUM_ISA_AVX2) return mpnum_fma_fused_(a, b, c);
# endif
  return mpnum_fma_emulated_(a, b, c);
#endif
}

#if MPNUM_ASKS_FMA_
/* The other steps, for func.inc with the instruction and without. */
# define MPNUM_ALSO_(name, to, from)                                                 \
  MPNUM_REAL_ to mpnum_##name##_fused_(from x) { return mpnum_##name##_scalar_(x); } \
  MPNUM_REAL_ to mpnum_##name##_emulated_(from x) { return mpnum_##name##_scalar_(x); }
# define MPNUM_ALSO_TWO_(name, to, from)                    \
  MPNUM_REAL_ to mpnum_##name##_fused_(from a, from b) {    \
   return mpnum_##name##_scalar_(a, b);                     \
  }                                                         \
  MPNUM_REAL_ to mpnum_##name##_emulated_(from a, from b) { \
   return mpnum_##name##_scalar_(a, b);                     \
  }
typedef float mpnum_f32_fused_, mpnum_f32_emulated_;
typedef uint32_t mpnum_vector_fused_, mpnum_vector_emulated_;
typedef int mpnum_mask_fused_, mpnum_mask_emulated_;
MPNUM_ALSO_TWO_(add, float, float)
MPNUM_ALSO_TWO_(sub, float, float)
MPNUM_ALSO_TWO_(mul, float, float)
MPNUM_ALSO_TWO_(div, float, float)
MPNUM_ALSO_TWO_(greater, int, uint32_t)
MPNUM_ALSO_TWO_(less, int, uint32_t)
MPNUM_ALSO_TWO_(equal, int, uint32_t)
MPNUM_ALSO_TWO_(shl, uint32_t, uint32_t)
MPNUM_ALSO_(sqrt_raw, float, float)
MPNUM_ALSO_(constant, float, uint32_t)
MPNUM_ALSO_(f32_of, float, uint32_t)
MPNUM_ALSO_(bits_of, uint32_t, float)
MPNUM_ALSO_(splat, uint32_t, uint32_t)
# undef MPNUM_ALSO_
# undef MPNUM_ALSO_TWO_
MPNUM_REAL_ float mpnum_clamped_below_fused_(float x, uint32_t limit) {
  return mpnum_clamped_below_scalar_(x, limit);
}
MPNUM_REAL_ float mpnum_clamped_below_emulated_(float x, uint32_t limit) {
  return mpnum_clamped_below_scalar_(x, limit);
}
MPNUM_REAL_ float mpnum_clamped_above_fused_(float x, uint32_t limit) {
  return mpnum_clamped_above_scalar_(x, limit);
}
MPNUM_REAL_ float mpnum_clamped_above_emulated_(float x, uint32_t limit) {
  return mpnum_clamped_above_scalar_(x, limit);
}
MPNUM_REAL_ int mpnum_not_below_fused_(float x, uint32_t low) {
  return mpnum_not_below_scalar_(x, low);
}
MPNUM_REAL_ int mpnum_not_below_emulated_(float x, uint32_t low) {
  return mpnum_not_below_scalar_(x, low);
}
MPNUM_REAL_ uint32_t mpnum_where_fused_(int mask, uint32_t x) { return mask ? x : 0; }
MPNUM_REAL_ uint32_t mpnum_where_emulated_(int mask, uint32_t x) { return mask ? x : 0; }
MPNUM_REAL_ uint32_t mpnum_select_fused_(int mask, uint32_t a, uint32_t b) {
  return mask ? a : b;
}
MPNUM_REAL_ uint32_t mpnum_select_emulated_(int mask, uint32_t a, uint32_t b) {
  return mask ? a : b;
}
#endif

/* (x - max) scale; where scale is 0, 0, but -Inf stays so. */
MPNUM_REAL_ float mpnum_exponent_(float x, float max, float scale) {
  const int is_flat = mpnum_iszero_u31_(mpnum_bits_f32(scale) & 0x7fffffffu);
  if (is_flat && mpnum_bits_f32(x) != 0xff800000u) return mpnum_f32_of_scalar_(0);
  if (is_flat) return x;
  return mpnum_mul_scalar_(mpnum_sub_scalar_(x, max), scale);
}
/* One NaN for all, as machines make different ones. */
MPNUM_REAL_ float mpnum_canonical_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  return mpnum_f32_of_scalar_((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits);
}

/* A word that orders as floats do, -0 below +0; NaNs are at both ends. */
MPNUM_REAL_ uint32_t mpnum_order_(uint32_t bits) {
  return bits ^ ((0u - (bits >> 31)) | 0x80000000u);
}

MPNUM_C_END_
#endif

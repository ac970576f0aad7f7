/* SPDX-License-Identifier: MIT */
/* Floating point as it is written, whatever the caller's environment and flags. */
#ifndef MPNUM_CORE_DETAIL_ENVIRONMENT_H
#define MPNUM_CORE_DETAIL_ENVIRONMENT_H

#include "config.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Between enter and leave results are rounded to nearest, nothing is flushed to zero,
 * nothing traps; afterwards all is as before, flags of exceptions, too. Loads and stores
 * between them stay there, and with them what lies between. */
# if (MPNUM_HAS_GNU_ && (defined(__x86_64__) || defined(__SSE2__))) || \
     (MPNUM_HAS_MSVC_ && MPNUM_HAS_X86_SIMD_)
#  if MPNUM_HAS_GNU_
#   define MPNUM_GET_MXCSR_(word) __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory")
#   define MPNUM_SET_MXCSR_(word) __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory")
#  else
__pragma(warning(suppress : 4996)) /* of <atomic>, which would do instead */
    MPNUM_HOST_INLINE_ void mpnum_memory_barrier_(void) {
  _ReadWriteBarrier();
}
MPNUM_HOST_INLINE_ uint32_t mpnum_get_mxcsr_(void) {
  mpnum_memory_barrier_();
  return _mm_getcsr();
}
MPNUM_HOST_INLINE_ void mpnum_set_mxcsr_(uint32_t word) {
  mpnum_memory_barrier_();
  _mm_setcsr(word);
  mpnum_memory_barrier_();
}
#   define MPNUM_GET_MXCSR_(word) (word) = mpnum_get_mxcsr_()
#   define MPNUM_SET_MXCSR_(word) mpnum_set_mxcsr_(word)
#  endif
/* The control words of loops: all exceptions masked; with FTZ and DAZ, too. A test
 * defines them to unmask some (tests/array/test_subnormals.c). */
#  if !defined(MPNUM_MXCSR_USUAL_)
#   define MPNUM_MXCSR_USUAL_ 0x1f80u
#  endif
#  if !defined(MPNUM_MXCSR_FLUSHING_)
#   define MPNUM_MXCSR_FLUSHING_ 0x9fc0u
#  endif
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_save_(void) {
  const uint32_t usual = MPNUM_MXCSR_USUAL_;
  uint32_t saved;
  MPNUM_GET_MXCSR_(saved);
  if ((saved & 0xffc0u) != usual) MPNUM_SET_MXCSR_(usual);
  return saved;
}
MPNUM_HOST_INLINE_ void mpnum_fenv_restore_(uint64_t saved) {
  const uint32_t before = (uint32_t)saved;
  uint32_t now;
  MPNUM_GET_MXCSR_(now);
  if (now != before) MPNUM_SET_MXCSR_(before);
}
/* The same, with subnormals flushed to zero, for loops whose results are the same then:
 * on CPUs of Intel an operation on a subnormal takes 150 cycles. Flags that are set stay
 * so until they are put back: to clear and raise them again takes 100 ns there. */
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_flush_(void) {
  uint32_t saved, flushing;
  MPNUM_GET_MXCSR_(saved);
  flushing = MPNUM_MXCSR_FLUSHING_ | (saved & 0x3fu);
  if (saved != flushing) MPNUM_SET_MXCSR_(flushing);
  return saved;
}
/* What mpnum_fenv_flush_ returned put back, without a look at what is there. */
MPNUM_HOST_INLINE_ void mpnum_fenv_unflush_(uint64_t saved) {
  const uint32_t before = (uint32_t)saved;
  MPNUM_SET_MXCSR_(before);
}
/* One or the other, whichever is there: for loops that have the same bits in both. */
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_either_(void) {
  const uint32_t usual = MPNUM_MXCSR_USUAL_, flushing = MPNUM_MXCSR_FLUSHING_;
  uint32_t saved;
  MPNUM_GET_MXCSR_(saved);
  if ((saved & 0xffc0u) != usual && (saved & 0xffc0u) != flushing)
    MPNUM_SET_MXCSR_(usual);
  return saved;
}
# elif MPNUM_HAS_GNU_ && defined(__aarch64__)
/* Control in the low word, flags of exceptions in the high one. */
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_save_(void) {
  uint64_t control, flags;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr"
                   : "=r"(control), "=r"(flags)
                   :
                   : "memory");
  if (control) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
  return control | flags << 32;
}
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_flush_(void) { return mpnum_fenv_save_(); }
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_either_(void) { return mpnum_fenv_save_(); }
MPNUM_HOST_INLINE_ void mpnum_fenv_restore_(uint64_t saved) {
  const uint64_t control = saved & 0xffffffffu;
  __asm__ volatile("msr fpsr, %0" : : "r"(saved >> 32) : "memory");
  if (control) __asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory");
}
MPNUM_HOST_INLINE_ void mpnum_fenv_unflush_(uint64_t saved) {
  mpnum_fenv_restore_(saved);
}
# else
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_save_(void) { return 0; }
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_flush_(void) { return 0; }
MPNUM_HOST_INLINE_ uint64_t mpnum_fenv_either_(void) { return 0; }
MPNUM_HOST_INLINE_ void mpnum_fenv_restore_(uint64_t saved) { (void)saved; }
MPNUM_HOST_INLINE_ void mpnum_fenv_unflush_(uint64_t saved) { (void)saved; }
# endif

#endif

/* Steps of doubles, each rounded once, none joined to another, and between floats and
 * doubles. */
#if MPNUM_ON_DEVICE_
# define MPNUM_F64_STEP_(name, instruction)                    \
  MPNUM_REAL_ double name(double a, double b) {                \
   double x;                                                   \
   asm(instruction " %0, %1, %2;" : "=d"(x) : "d"(a), "d"(b)); \
   return x;                                                   \
  }
MPNUM_F64_STEP_(mpnum_add_f64_, "add.rn.f64")
MPNUM_F64_STEP_(mpnum_mul_f64_, "mul.rn.f64")
MPNUM_F64_STEP_(mpnum_div_f64_, "div.rn.f64")
# undef MPNUM_F64_STEP_
MPNUM_REAL_ double mpnum_opt_barrier_f64_(double x) { return x; }
/* By hand, as -use_fast_math flushes subnormal floats. */
MPNUM_REAL_ float mpnum_narrow_f64_(double x) {
  float y;
  asm("cvt.rn.f32.f64 %0, %1;" : "=f"(y) : "d"(x));
  return y;
}
MPNUM_REAL_ double mpnum_widen_f32_(float x) {
  double y;
  asm("cvt.f64.f32 %0, %1;" : "=d"(y) : "f"(x));
  return y;
}
#elif MPNUM_HAS_ARRAYS_
/* The same double, which the compiler takes for another one: it neither reorders what
 * made it nor computes it after the environment has changed. */
# if MPNUM_HAS_GNU_ && (defined(__x86_64__) || defined(__i386__)) && defined(__SSE2__)
#  define MPNUM_OPT_BARRIER_F64_(x) __asm__ volatile("" : "+x"(x))
# elif MPNUM_HAS_GNU_ && defined(__aarch64__)
#  define MPNUM_OPT_BARRIER_F64_(x) __asm__ volatile("" : "+w"(x))
# elif MPNUM_HAS_GNU_
#  define MPNUM_OPT_BARRIER_F64_(x) __asm__ volatile("" : "+m"(x))
# else
#  define MPNUM_OPT_BARRIER_F64_(x) ((void)0)
# endif
MPNUM_REAL_ double mpnum_opt_barrier_f64_(double x) {
  MPNUM_OPT_BARRIER_F64_(x);
  return x;
}
MPNUM_REAL_ double mpnum_add_f64_(double a, double b) {
  return mpnum_opt_barrier_f64_(a + b);
}
MPNUM_REAL_ double mpnum_mul_f64_(double a, double b) {
  return mpnum_opt_barrier_f64_(a * b);
}
/* By hand, as -ffast-math would multiply by a reciprocal. */
MPNUM_REAL_ double mpnum_div_f64_(double a, double b) {
# if MPNUM_HAS_GNU_ && (defined(__x86_64__) || defined(__SSE2__))
  __asm__("divsd %1, %0" : "+x"(a) : "x"(b));
  return a;
# elif MPNUM_HAS_GNU_ && defined(__aarch64__)
  double x;
  __asm__("fdiv %d0, %d1, %d2" : "=w"(x) : "w"(a), "w"(b));
  return x;
# else
  return mpnum_opt_barrier_f64_(a / b);
# endif
}
MPNUM_REAL_ float mpnum_narrow_f64_(double x) { return (float)mpnum_opt_barrier_f64_(x); }
MPNUM_REAL_ double mpnum_widen_f32_(float x) { return (double)x; }
#endif

MPNUM_C_END_
#endif

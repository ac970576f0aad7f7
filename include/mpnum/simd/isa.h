/* SPDX-License-Identifier: MIT */
/* Which vector instructions array functions use. The CPU is asked by the first call, and
 * by mpnum_isa_force; the answer is kept for each translation unit. Every instruction set
 * gives the same bits, so the choice is one of speed alone. */
#ifndef MPNUM_SIMD_ISA_H
#define MPNUM_SIMD_ISA_H

#include "../core/format.h"
MPNUM_C_BEGIN_

/* The loops that are compiled: all; without dispatch those of the best ISA that the
 * compiler's flags allow; none where one file of loops is compiled alone. */
#if !MPNUM_HAS_X86_SIMD_ || defined(MPNUM_ALONE_)
# define MPNUM_LOOPS_SSE2_   0
# define MPNUM_LOOPS_AVX2_   0
# define MPNUM_LOOPS_AVX512_ 0
# define MPNUM_LOOPS_VBMI_   0
#elif !MPNUM_NO_DISPATCH
# define MPNUM_LOOPS_SSE2_   1
# define MPNUM_LOOPS_AVX2_   1
# define MPNUM_LOOPS_AVX512_ 1
# define MPNUM_LOOPS_VBMI_   1
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && \
    defined(__AVX512VL__)
# define MPNUM_LOOPS_SSE2_   0
# define MPNUM_LOOPS_AVX2_   0
# define MPNUM_LOOPS_AVX512_ 1
# if defined(__AVX512VBMI__)
#  define MPNUM_LOOPS_VBMI_ 1
# else
#  define MPNUM_LOOPS_VBMI_ 0
# endif
/* f16 without F16C by integers; of MSVC /arch:AVX2 is all three */
#elif defined(__AVX2__) && (defined(__FMA__) || MPNUM_HAS_MSVC_)
# define MPNUM_LOOPS_SSE2_   0
# define MPNUM_LOOPS_AVX2_   1
# define MPNUM_LOOPS_AVX512_ 0
# define MPNUM_LOOPS_VBMI_   0
#else
# define MPNUM_LOOPS_SSE2_   1
# define MPNUM_LOOPS_AVX2_   0
# define MPNUM_LOOPS_AVX512_ 0
# define MPNUM_LOOPS_VBMI_   0
#endif

#ifdef MPNUM_ALONE_
# define MPNUM_LOOPS_NEON_ 0
#else
# define MPNUM_LOOPS_NEON_ MPNUM_HAS_NEON_
#endif

/* Whether there are loops of vectors at all. */
#if MPNUM_HAS_X86_SIMD_ || MPNUM_HAS_NEON_
# define MPNUM_HAS_VECTORS_ 1
#else
# define MPNUM_HAS_VECTORS_ 0
#endif

/* Whether the CPU is asked what it has; in CUDA sources, too, which have no loops, for
 * fma. */
#if MPNUM_HAS_GNU_ && MPNUM_HAS_ARRAYS_ && __STDC_HOSTED__ && !MPNUM_NO_SIMD && \
    !MPNUM_NO_DISPATCH && defined(__x86_64__) &&                                \
    (MPNUM_HAS_X86_SIMD_ || !MPNUM_ON_DEVICE_)
# define MPNUM_ASKS_CPU_ 1
#elif MPNUM_HAS_MSVC_ && MPNUM_HAS_X86_SIMD_ && !MPNUM_NO_DISPATCH
# define MPNUM_ASKS_CPU_ 1
#else
# define MPNUM_ASKS_CPU_ 0
#endif

/* The instruction sets that array functions have loops for. */
typedef enum mpnum_isa {
  MPNUM_ISA_SCALAR = 0,
  MPNUM_ISA_SSE2 = 1,       /* any x86-64 */
  MPNUM_ISA_AVX2 = 2,       /* with FMA and F16C: Intel from Haswell, AMD from Zen on */
  MPNUM_ISA_AVX512 = 3,     /* F, BW, DQ, VL: Intel from Skylake-X on */
  MPNUM_ISA_NEON = 4,       /* any aarch64 */
  MPNUM_ISA_AVX512_VBMI = 5 /* AVX512 with VBMI: Intel from Ice Lake, AMD from Zen 4 */
} mpnum_isa;

#if MPNUM_HAS_ARRAYS_

/* Returns "scalar", "avx2" and so on; NULL for an unknown value. */
MPNUM_HOST const char *mpnum_isa_name(mpnum_isa isa) {
  switch (isa) {
  case MPNUM_ISA_SCALAR: return "scalar";
  case MPNUM_ISA_SSE2: return "sse2";
  case MPNUM_ISA_AVX2: return "avx2";
  case MPNUM_ISA_AVX512: return "avx512";
  case MPNUM_ISA_NEON: return "neon";
  case MPNUM_ISA_AVX512_VBMI: return "avx512vbmi";
  default: return 0;
  }
}

# if MPNUM_ASKS_CPU_
MPNUM_HOST int mpnum_has_bits_(uint32_t word, uint32_t bits) {
  return (word & bits) == bits;
}
/* The registers that CPUID returns for a leaf and its part. The compiler may hold an
 * address in rbx. (<cpuid.h> would do, and leave a hundred macros.) */
typedef struct mpnum_cpuid_ {
  uint32_t a, b, c, d;
} mpnum_cpuid_;
MPNUM_HOST mpnum_cpuid_ mpnum_cpuid_of_(uint32_t leaf, uint32_t part) {
  mpnum_cpuid_ is;
#  if MPNUM_HAS_GNU_
  __asm__("xchg{q}\t{%%}rbx, %q1\n\tcpuid\n\txchg{q}\t{%%}rbx, %q1"
          : "=a"(is.a), "=&r"(is.b), "=c"(is.c), "=d"(is.d)
          : "0"(leaf), "2"(part));
#  else
  int words[4];
  __cpuidex(words, (int)leaf, (int)part);
  MPNUM_MEMCPY_(&is, words, sizeof is);
#  endif
  return is;
}
MPNUM_HOST_COLD_ mpnum_isa mpnum_cpu_probe_(void) {
  uint32_t saved;
  mpnum_cpuid_ has;
  if (mpnum_cpuid_of_(0, 0).a < 7) return MPNUM_ISA_SSE2; /* the last leaf */
  has = mpnum_cpuid_of_(1, 0);
  /* FMA, XSAVE enabled by the system, AVX, F16C */
  if (!mpnum_has_bits_(has.c, 1u << 12 | 1u << 27 | 1u << 28 | 1u << 29))
    return MPNUM_ISA_SSE2;
#  if MPNUM_HAS_GNU_ /* registers it saves */
  __asm__("xgetbv" : "=a"(saved) : "c"(0) : "edx");
#  else
  saved = (uint32_t)_xgetbv(0);
#  endif
  has = mpnum_cpuid_of_(7, 0);
  if (!mpnum_has_bits_(saved, 0x6) || !mpnum_has_bits_(has.b, 1u << 5)) /* AVX2 */
    return MPNUM_ISA_SSE2;
  /* masks and 512-bit registers; F, DQ, BW, VL; VBMI */
  if (!mpnum_has_bits_(saved, 0xe0) ||
      !mpnum_has_bits_(has.b, 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31))
    return MPNUM_ISA_AVX2;
  return mpnum_has_bits_(has.c, 1u << 1) ? MPNUM_ISA_AVX512_VBMI : MPNUM_ISA_AVX512;
}
# elif MPNUM_HAS_NEON_
MPNUM_HOST_COLD_ mpnum_isa mpnum_cpu_probe_(void) { return MPNUM_ISA_NEON; }
# endif

/* Returns the best ISA of this CPU, or, without dispatch, of the compiler's flags. */
MPNUM_HOST_COLD_ mpnum_isa mpnum_isa_probe_(void) {
# if MPNUM_HAS_VECTORS_ && !MPNUM_NO_DISPATCH
  return mpnum_cpu_probe_();
# elif MPNUM_HAS_NEON_
  return MPNUM_ISA_NEON;
# elif MPNUM_LOOPS_VBMI_
  return MPNUM_ISA_AVX512_VBMI;
# elif MPNUM_LOOPS_AVX512_
  return MPNUM_ISA_AVX512;
# elif MPNUM_LOOPS_AVX2_
  return MPNUM_ISA_AVX2;
# elif MPNUM_LOOPS_SSE2_
  return MPNUM_ISA_SSE2;
# else
  return MPNUM_ISA_SCALAR;
# endif
}

# if MPNUM_ASKS_CPU_ || (MPNUM_HAS_NEON_ && !MPNUM_NO_DISPATCH)
/* Where the ISA in use is kept, with MPNUM_KNOWN_CPU_ and what else this CPU has; 0
 * before it was asked. */
MPNUM_HOST int *mpnum_isa_cache_(void) {
  static int cache = 0;
  return &cache;
}
#  define MPNUM_KNOWN_ISA_  0xff
#  define MPNUM_KNOWN_CPU_  0x100
#  define MPNUM_KNOWN_BF16_ 0x200
#  if MPNUM_HAS_GNU_
#   define MPNUM_ATOMIC_LOAD_(word) __atomic_load_n(word, __ATOMIC_RELAXED)
#   define MPNUM_ATOMIC_STORE_(word, value) \
    __atomic_store_n(word, value, __ATOMIC_RELAXED)
#  else /* an aligned word is loaded and stored whole */
#   define MPNUM_ATOMIC_LOAD_(word)         (*(const volatile int *)(word))
#   define MPNUM_ATOMIC_STORE_(word, value) (*(volatile int *)(word) = (value))
#  endif
MPNUM_HOST_COLD_ int mpnum_keep_isa_(mpnum_isa isa) {
  int known = (int)isa | MPNUM_KNOWN_CPU_;
#  if MPNUM_ASKS_CPU_ /* AVX512_BF16, of CPUs that have VBMI */
  if (isa == MPNUM_ISA_AVX512_VBMI && mpnum_has_bits_(mpnum_cpuid_of_(7, 1).a, 1u << 5))
    known |= MPNUM_KNOWN_BF16_;
#  endif
  MPNUM_ATOMIC_STORE_(mpnum_isa_cache_(), known);
  return known;
}
MPNUM_HOST_APART_ int mpnum_ask_cpu_(void) { return mpnum_keep_isa_(mpnum_cpu_probe_()); }
MPNUM_HOST int mpnum_known_cpu_(void) {
  const int known = MPNUM_ATOMIC_LOAD_(mpnum_isa_cache_());
  return known ? known : mpnum_ask_cpu_();
}
MPNUM_HOST mpnum_isa mpnum_cpu_isa_(void) {
  return (mpnum_isa)(mpnum_known_cpu_() & MPNUM_KNOWN_ISA_);
}
# endif

# if MPNUM_HAS_VECTORS_ && !MPNUM_NO_DISPATCH
/* Returns the instruction set that array functions of this translation unit use. */
MPNUM_HOST mpnum_isa mpnum_isa_in_use(void) { return mpnum_cpu_isa_(); }

/* Makes array functions of this translation unit use another ISA, for tests and
 * measurements. MPNUM_ERROR_ARGUMENT if this CPU or this build does not have it; nothing
 * changes then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_isa_force(mpnum_isa isa) {
  const mpnum_isa best = mpnum_isa_probe_();
  const int is_x86 = best != MPNUM_ISA_NEON && isa != MPNUM_ISA_NEON;
  const int is_lower = is_x86 && (int)isa > 0 && isa < best;
  if (isa != MPNUM_ISA_SCALAR && isa != best && !is_lower) return MPNUM_ERROR_ARGUMENT;
  mpnum_keep_isa_(isa);
  return MPNUM_OK;
}
# else
/* Returns the one ISA of this build. */
MPNUM_HOST mpnum_isa mpnum_isa_in_use(void) { return mpnum_isa_probe_(); }
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_isa_force(mpnum_isa isa) {
  return isa == mpnum_isa_probe_() ? MPNUM_OK : MPNUM_ERROR_ARGUMENT;
}
# endif

/* Whether a CPU with VBMI has AVX512_BF16, too: Intel from Sapphire Rapids, AMD Zen 4. */
MPNUM_HOST int mpnum_has_bf16_instruction_(void) {
# if MPNUM_LOOPS_VBMI_ && !MPNUM_NO_DISPATCH
  return (mpnum_known_cpu_() & MPNUM_KNOWN_BF16_) != 0;
# elif defined(__AVX512BF16__)
  return 1;
# else
  return 0;
# endif
}

/* MPNUM_PICK_(isa, loop, mask, other): the function of a loop for an ISA, or the other
 * one where there is none. AVX2, AVX-512 and NEON have all loops; the mask says what else
 * there is. SSE2: that, too. SSE2_VBMI: that, and AVX-512 with VBMI has one of its own
 * instead of that of AVX-512. WIDE: nothing. WIDE_VBMI: the one of AVX-512 with VBMI. */
# define MPNUM_PICK_(isa, loop, mask, other) \
  MPNUM_PICK_##mask##_(isa, mpnum_##loop, other)
# define MPNUM_PICK_SSE2_(isa, loop, other) \
  MPNUM_PICK_OF_(isa, loop, loop##_avx512_, loop##_sse2_, other)
# define MPNUM_PICK_SSE2_VBMI_(isa, loop, other) \
  MPNUM_PICK_OF_(isa, loop, loop##_vbmi_, loop##_sse2_, other)
# define MPNUM_PICK_WIDE_(isa, loop, other) \
  MPNUM_PICK_OF_(isa, loop, loop##_avx512_, other, other)
# define MPNUM_PICK_WIDE_VBMI_(isa, loop, other) \
  MPNUM_PICK_OF_(isa, loop, loop##_vbmi_, other, other)
# if MPNUM_LOOPS_SSE2_ && MPNUM_LOOPS_AVX2_ && MPNUM_LOOPS_AVX512_
#  define MPNUM_PICK_OF_(isa, loop, vbmi, sse2, other) \
   ((isa) == MPNUM_ISA_AVX512_VBMI ? (vbmi)            \
    : (isa) == MPNUM_ISA_AVX512    ? loop##_avx512_    \
    : (isa) == MPNUM_ISA_AVX2      ? loop##_avx2_      \
    : (isa) == MPNUM_ISA_SSE2      ? (sse2)            \
                                   : (other))
# elif MPNUM_LOOPS_NEON_ && !MPNUM_NO_DISPATCH
#  define MPNUM_PICK_OF_(isa, loop, vbmi, sse2, other) \
   ((isa) == MPNUM_ISA_NEON ? loop##_neon_ : (other))
# elif MPNUM_LOOPS_NEON_
#  define MPNUM_PICK_OF_(isa, loop, vbmi, sse2, other) ((void)(isa), loop##_neon_)
# elif MPNUM_LOOPS_VBMI_
#  define MPNUM_PICK_OF_(isa, loop, vbmi, sse2, other) ((void)(isa), (vbmi))
# elif MPNUM_LOOPS_AVX512_
#  define MPNUM_PICK_OF_(isa, loop, vbmi, sse2, other) ((void)(isa), loop##_avx512_)
# elif MPNUM_LOOPS_AVX2_
#  define MPNUM_PICK_OF_(isa, loop, vbmi, sse2, other) ((void)(isa), loop##_avx2_)
# elif MPNUM_LOOPS_SSE2_
#  define MPNUM_PICK_OF_(isa, loop, vbmi, sse2, other) ((void)(isa), (sse2))
# else
#  define MPNUM_PICK_OF_(isa, loop, vbmi, sse2, other) ((void)(isa), (other))
# endif

#endif
MPNUM_C_END_
#endif

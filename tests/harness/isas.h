/* SPDX-License-Identifier: MIT */
/* The instruction sets: all of them, and those of this architecture, whether or not this
 * machine and this build have them. Loops of others are run by the test `cross`. */
#ifndef MPNUM_TESTS_ISAS_H
#define MPNUM_TESTS_ISAS_H

#include <mpnum/simd/isa.h>

/* ROW(enumerator, name, flags that Linux lists for a CPU that has it and those above) */
#define X86_ISAS(ROW)                                        \
 ROW(SSE2, "sse2", "sse2")                                   \
 ROW(AVX2, "avx2", "avx2 fma f16c")                          \
 ROW(AVX512, "avx512", "avx512f avx512dq avx512bw avx512vl") \
 ROW(AVX512_VBMI, "avx512vbmi", "avx512vbmi")
#define AARCH64_ISAS(ROW) ROW(NEON, "neon", "asimd")
#define ALL_ISAS(ROW)     ROW(SCALAR, "scalar", "") X86_ISAS(ROW) AARCH64_ISAS(ROW)

#if defined(__x86_64__) || defined(__i386__)
# define ISAS_HERE(ROW)      X86_ISAS(ROW)
# define ISAS_ELSEWHERE(ROW) AARCH64_ISAS(ROW)
#elif defined(__aarch64__)
# define ISAS_HERE(ROW)      AARCH64_ISAS(ROW)
# define ISAS_ELSEWHERE(ROW) X86_ISAS(ROW)
#else
# define ISAS_HERE(ROW)
# define ISAS_ELSEWHERE(ROW) X86_ISAS(ROW) AARCH64_ISAS(ROW)
#endif

/* The one that the compiler's flags allow, where nothing is asked at run time. */
#if MPNUM_NO_SIMD
# define ISA_OF_FLAGS MPNUM_ISA_SCALAR
#elif defined(__aarch64__)
# define ISA_OF_FLAGS MPNUM_ISA_NEON
#elif defined(__AVX512VBMI__) && defined(__AVX512VL__)
# define ISA_OF_FLAGS MPNUM_ISA_AVX512_VBMI
#elif defined(__AVX512BW__) && defined(__AVX512VL__)
# define ISA_OF_FLAGS MPNUM_ISA_AVX512
#elif defined(__AVX2__)
# define ISA_OF_FLAGS MPNUM_ISA_AVX2
#elif defined(__x86_64__)
# define ISA_OF_FLAGS MPNUM_ISA_SSE2
#else
# define ISA_OF_FLAGS MPNUM_ISA_SCALAR
#endif

#define ISA_VALUE(NAME, name, flags) MPNUM_ISA_##NAME,
static const mpnum_isa isas[] = {MPNUM_ISA_SCALAR, ISAS_HERE(ISA_VALUE)};
enum { ISAS = sizeof isas / sizeof isas[0] };

#endif

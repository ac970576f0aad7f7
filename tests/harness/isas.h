/* SPDX-License-Identifier: MIT */
/* The instruction sets of this architecture, whether or not this machine and this build
 * have them. Loops of others are run by the test `cross`. */
#ifndef MPNUM_TESTS_ISAS_H
#define MPNUM_TESTS_ISAS_H

#include <mpnum/simd/isa.h>

static const mpnum_isa isas[] = {
    MPNUM_ISA_SCALAR,
#if defined(__x86_64__) || defined(__i386__)
    MPNUM_ISA_SSE2,   MPNUM_ISA_AVX2, MPNUM_ISA_AVX512, MPNUM_ISA_AVX512_VBMI,
#elif defined(__aarch64__)
    MPNUM_ISA_NEON,
#endif
};
enum { ISAS = sizeof isas / sizeof isas[0] };

#endif

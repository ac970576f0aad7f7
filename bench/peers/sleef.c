/* SPDX-License-Identifier: MIT */
/* SLEEF's functions with errors up to 1 ulp (u10), and its square root: those of the
 * widest vectors that this CPU has. */
#include "../sections/math/measure.h"

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX2   __attribute__((target("avx2,fma")))
#define SSE2   __attribute__((target("sse2")))

/* LOOP(set of instructions, name, function without Sleef_), in each set */
#define FUNCTIONS(LOOP, set, lanes)                \
 LOOP(set, lanes, exp, expf##lanes##_u10##set)     \
 LOOP(set, lanes, exp2, exp2f##lanes##_u10##set)   \
 LOOP(set, lanes, exp10, exp10f##lanes##_u10##set) \
 LOOP(set, lanes, expm1, expm1f##lanes##_u10##set) \
 LOOP(set, lanes, log, logf##lanes##_u10##set)     \
 LOOP(set, lanes, log2, log2f##lanes##_u10##set)   \
 LOOP(set, lanes, log10, log10f##lanes##_u10##set) \
 LOOP(set, lanes, log1p, log1pf##lanes##_u10##set) \
 LOOP(set, lanes, sqrt, sqrtf##lanes##_##set)      \
 LOOP(set, lanes, tanh, tanhf##lanes##_u10##set)   \
 LOOP(set, lanes, erf, erff##lanes##_u10##set)

/* sleef.h declares only functions of the instructions that a whole file may use, so they
 * are declared here instead. */
#define LOOP_OF(TARGET, vector, load, store, set, lanes, name, function)     \
 TARGET vector Sleef_##function(vector);                                     \
 TARGET static void set##_##name(void *dst, const void *src, size_t count) { \
  const float *from = src;                                                   \
  float *to = dst;                                                           \
  size_t i;                                                                  \
  for (i = 0; i < count; i += lanes)                                         \
   store(to + i, Sleef_##function(load(from + i)));                          \
 }
#define LOOP_16(set, lanes, name, function) \
 LOOP_OF(AVX512, __m512, _mm512_loadu_ps, _mm512_storeu_ps, set, lanes, name, function)
#define LOOP_8(set, lanes, name, function) \
 LOOP_OF(AVX2, __m256, _mm256_loadu_ps, _mm256_storeu_ps, set, lanes, name, function)
#define LOOP_4(set, lanes, name, function) \
 LOOP_OF(SSE2, __m128, _mm_loadu_ps, _mm_storeu_ps, set, lanes, name, function)
FUNCTIONS(LOOP_16, avx512f, 16)
FUNCTIONS(LOOP_8, avx2, 8)
FUNCTIONS(LOOP_4, sse2, 4)

#define ROW(set, lanes, name, function) {#name, "Sleef_" #function, set##_##name},
static const array_peer_loop avx512f_loops[] = {FUNCTIONS(ROW, avx512f, 16)};
static const array_peer_loop avx2_loops[] = {FUNCTIONS(ROW, avx2, 8)};
static const array_peer_loop sse2_loops[] = {FUNCTIONS(ROW, sse2, 4)};

static const math_library avx512f = {NULL, "avx512f", avx512f_loops,
                                     PEER_COUNT(avx512f_loops)};
static const math_library avx2 = {NULL, "avx2", avx2_loops, PEER_COUNT(avx2_loops)};
static const math_library sse2 = {NULL, "sse2", sse2_loops, PEER_COUNT(sse2_loops)};

const math_library *math_sleef(void) {
  if (__builtin_cpu_supports("avx512f")) return &avx512f;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2 : &sse2;
}

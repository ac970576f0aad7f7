/* SPDX-License-Identifier: MIT */
/* The conversion instructions of x86. */
#include "peers.h"

#include <cpuid.h>
#include <immintrin.h>

int f16c_present(void) {
  unsigned a, b, c, d;
  /* avx: the system saves the registers that the instructions use. */
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) &&
         __builtin_cpu_supports("avx");
}

__attribute__((target("f16c"))) uint32_t f16c_f32_to_f16(float x) {
  return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}

__attribute__((target("f16c"))) float f16c_f16_to_f32(uint32_t code) {
  return _cvtsh_ss((unsigned short)code);
}

/* Compiled as with -mavx -mf16c; eight elements at a time. */
__attribute__((target("avx,f16c"))) static void f32_to_f16(void *dst, const void *src,
                                                           size_t count) {
  const float *from = src;
  uint16_t *to = dst;
  for (size_t i = 0; i < count; i += 8) {
    __m128i codes = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128((__m128i *)(void *)(to + i), codes);
  }
}

__attribute__((target("avx,f16c"))) static void f16_to_f32(void *dst, const void *src,
                                                           size_t count) {
  const uint16_t *from = src;
  float *to = dst;
  for (size_t i = 0; i < count; i += 8) {
    __m128i codes = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(codes));
  }
}

static const array_peer_loop loops[] = {
    {"f32 to f16", "_mm256_cvtps_ph", f32_to_f16},
    {"f16 to f32", "_mm256_cvtph_ps", f16_to_f32},
};
const array_peer peer_f16c = {"F16C", NULL, loops, PEER_COUNT(loops), f16c_present};

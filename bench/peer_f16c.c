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

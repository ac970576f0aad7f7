/* SPDX-License-Identifier: MIT */
/* Bits of floats and doubles, without the library. memcpy, not arithmetic: a signalling
 * NaN or a subnormal passes unchanged. */
#ifndef MPNUM_TESTS_FLOAT_BITS_H
#define MPNUM_TESTS_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline uint32_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

#endif

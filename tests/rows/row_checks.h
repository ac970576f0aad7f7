/* SPDX-License-Identifier: MIT */
/* What the tests of rows share: the choice of loops, the types of rows, views with
 * strides, floats by their bits. */
#ifndef MPNUM_TESTS_ROW_CHECKS_H
#define MPNUM_TESTS_ROW_CHECKS_H

#include "../array/array_checks.h"
#include "../harness/linked.h"

#include <mpnum/array/matrix.h>

mpnum_status force_isa(mpnum_isa isa) { return force_all_isa(isa); }
mpnum_isa isa_in_use(void) { return mpnum_isa_in_use(); }

static inline uint32_t bits_of(float value) { return mpnum_bits_f32(value); }
static inline float special(uint32_t bits) { return mpnum_from_bits_f32(bits); }
#define INF      special(0x7f800000u)
#define MINUS    special(0xff800000u)
#define A_NAN    special(0xffc12345u)
#define NAN_BITS 0x7fffffffu

/* One operation, rounded once, under -ffast-math, too. */
static inline float sum_of(float a, float b) { return a + b; }
static inline float product_of(float a, float b) { return a * b; }
static inline float quotient_of(float a, float b) { return a / b; }
typedef float operation_of(float a, float b);
static inline float sum_once(float a, float b) {
  operation_of *volatile once = sum_of;
  return (*once)(a, b);
}
static inline float product_once(float a, float b) {
  operation_of *volatile once = product_of;
  return (*once)(a, b);
}
static inline float quotient_once(float a, float b) {
  operation_of *volatile once = quotient_of;
  return (*once)(a, b);
}
/* a > b by their bits, which -ffast-math leaves alone; not of NaN. */
static inline int is_above(float a, float b) {
  const uint32_t x = bits_of(a), y = bits_of(b);
  const int64_t of_a = x >> 31 ? -(int64_t)(x & 0x7fffffffu) : (int64_t)x;
  const int64_t of_b = y >> 31 ? -(int64_t)(y & 0x7fffffffu) : (int64_t)y;
  return (x & 0x7fffffffu) <= 0x7f800000u && (y & 0x7fffffffu) <= 0x7f800000u &&
         of_a > of_b;
}

static inline mpnum_matrix dst_rows(mpnum_type type, void *data, size_t rows,
                                    size_t columns, size_t stride) {
  mpnum_matrix made = mpnum_matrix_of(type, data, rows, columns);
  made.stride = stride;
  return made;
}
static inline mpnum_const_matrix src_rows(mpnum_type type, const void *data, size_t rows,
                                          size_t columns, size_t stride) {
  mpnum_const_matrix made = mpnum_const_matrix_of(type, data, rows, columns);
  made.stride = stride;
  return made;
}
static inline size_t size_of(mpnum_type type) {
  return type == MPNUM_TYPE_F32                              ? 4
         : type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16 ? 2
                                                             : 1;
}
static const mpnum_type row_types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                       MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3};

#endif

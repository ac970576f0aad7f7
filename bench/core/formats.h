/* SPDX-License-Identifier: MIT */
/* One entry for each small format: its descriptor and its public conversions. */
#ifndef MPNUM_BENCH_FORMATS_H
#define MPNUM_BENCH_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpnum/core/format.h>

typedef struct bench_format {
  mpnum_type type;
  unsigned storage_size; /* bytes of one element */
  /* decode(encode_sat(x)), each in double. */
  void (*round_trip)(double *dst, const double *src, size_t count);
  /* Its array functions: f32 to the format, saturating, and back. */
  void (*encode)(void *dst, const void *src, size_t count);
  void (*decode)(void *dst, const void *src, size_t count);
} bench_format;

#define COUNT_FORMAT(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                     specials, nan)                                             \
 +1
enum { FORMAT_COUNT = 0 MPNUM_FORMATS(COUNT_FORMAT) };
#undef COUNT_FORMAT

extern const bench_format bench_formats[FORMAT_COUNT];

/* The instruction set of these array functions; false where this CPU has not got it. */
bool formats_force_isa(int isa);

/* Bits of one value: 19 of tf32's 32, 6 of e3m2's 8. */
unsigned format_bits(mpnum_format format);

/* count elements of uniformly random codes. */
void random_codes(const bench_format *format, void *dst, size_t count);

#endif

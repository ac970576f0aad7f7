/* SPDX-License-Identifier: MIT */
/* For bits.c: the inputs, and loops over them. */
#ifndef MPNUM_TESTS_BITS_INPUTS_H
#define MPNUM_TESTS_BITS_INPUTS_H

#include "bits_hash.h"

#include <stdlib.h>

/* The random word of a stochastic rounding: the extreme words often, too. */
static uint32_t word_at(uint32_t index) {
  switch (mix(index) >> 61) {
  case 0: return 0;
  case 1: return UINT32_C(0xffffffff);
  case 2: return UINT32_C(0x80000000);
  case 3: return UINT32_C(0x7fffffff);
  default: return (uint32_t)mix(index);
  }
}

/* Source values, bit patterns without sign; an even index is positive, an odd one
 * negative. The first _edges of them are not random. */
#define ROOM             (UINT32_C(1) << 19)
#define RANDOM_COUNT     (UINT32_C(1) << 17)
#define ROUND_MORE_COUNT (UINT32_C(1) << 12) /* random ones given to _round */
static uint32_t f32_inputs[ROOM];
static uint32_t f32_count, f32_edges;
static uint64_t f64_inputs[ROOM];
static uint32_t f64_count, f64_edges;

static float f32_at(uint32_t index) {
  return mpnum_from_bits_f32(f32_inputs[index / 2] | (index & 1) << 31);
}

static double f64_at(uint32_t index) {
  return mpnum_from_bits_f64(f64_inputs[index / 2] | (uint64_t)(index & 1) << 63);
}

static void add_f32(uint32_t bits) {
  if (f32_count == ROOM) abort();
  f32_inputs[f32_count++] = bits & UINT32_C(0x7fffffff);
}

static void add_f64(uint64_t bits) {
  if (f64_count == ROOM) abort();
  f64_inputs[f64_count++] = bits & UINT64_C(0x7fffffffffffffff);
}

/* The bits of an f64 with the value of an f32. */
static uint64_t widened(uint32_t bits) {
  uint64_t magnitude = (uint64_t)bits << 29;
  int field = 0;
  if (bits >= UINT32_C(0x7f800000)) return magnitude | UINT64_C(0x7ff) << 52;
  if (bits >= UINT32_C(0x00800000)) return magnitude + (UINT64_C(896) << 52);
  if (bits == 0) return 0;
  for (field = 897; magnitude < UINT64_C(1) << 52; --field)
    magnitude *= 2;
  return magnitude - (UINT64_C(1) << 52) + ((uint64_t)field << 52);
}

/* A value that is an f32, and the numbers next to it. */
static void add_point(uint32_t bits) {
  const uint64_t wide = widened(bits);
  if (bits > 0) add_f32(bits - 1);
  add_f32(bits);
  add_f32(bits + 1);
  if (bits > 0) add_f64(wide - 1);
  add_f64(wide);
  add_f64(wide + 1);
}

static void add_source_edges(void) {
  static const uint32_t singles[] = {
      0x00000001, 0x003fffff, 0x00400000, 0x00400001, 0x007fffff, 0x00800000,
      0x7f7fffff, 0x7f800000, 0x7f800001, 0x7f802000, 0x7f810000, 0x7fa5a5a5,
      0x7fbfffff, 0x7fc00000, 0x7fc00001, 0x7fffe000, 0x7fff0000, 0x7fffffff};
  static const uint64_t doubles[] = {
      UINT64_C(0x0000000000000001), UINT64_C(0x000fffffffffffff),
      UINT64_C(0x0010000000000000), UINT64_C(0x3690000000000000), /* 2^-150 */
      UINT64_C(0x3690000000000001), UINT64_C(0x47efffffefffffff), /* below f32's Inf */
      UINT64_C(0x47effffff0000000), UINT64_C(0x47f0000000000000), /* 2^128 */
      UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff0000000000000),
      UINT64_C(0x7ff0000000000001), UINT64_C(0x7ff000001fffffff),
      UINT64_C(0x7ff0000020000000), UINT64_C(0x7ff5a5a5a5a5a5a5),
      UINT64_C(0x7ff8000000000000), UINT64_C(0x7fffffffffffffff)};
  for (size_t i = 0; i < sizeof singles / sizeof singles[0]; ++i) {
    add_f32(singles[i]);
    add_f64(widened(singles[i]));
  }
  for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; ++i)
    add_f64(doubles[i]);
}

/* Half of the random numbers are bits of any kind, half lie in the fields given. */
static void add_random(uint32_t least_field, uint32_t last_field) {
  f32_edges = f32_count;
  f64_edges = f64_count;
  for (uint32_t i = 0; i < RANDOM_COUNT; i += 2) {
    const uint64_t random = mix(i), more = mix(i + 1);
    const uint32_t field =
        least_field + (uint32_t)(random >> 33) % (last_field - least_field + 1);
    const uint32_t inside = field << 23 | ((uint32_t)random & UINT32_C(0x7fffff));
    add_f32((uint32_t)more);
    add_f32(inside);
    add_f64(more);
    add_f64(widened(inside) ^ (more & UINT64_C(0x1fffffff)));
  }
}

/* Fills the lists for a format. Every value and midpoint is a multiple of step in the
 * bits of an f32: a significand of mantissa_bits and one bit more. */
static void collect(int exponent_bits, int mantissa_bits, int bias) {
  const int least_field = 128 - bias - mantissa_bits - 3; /* far below the least value */
  const int first = least_field > 0 ? least_field : 0;
  const int normal = 128 - bias;
  const int past_max = 127 - bias + (1 << exponent_bits);
  const int last = past_max < 254 ? past_max : 254;
  const uint32_t step = UINT32_C(1) << (22 - mantissa_bits);
  f32_count = 0;
  f64_count = 0;
  add_source_edges();
  for (int field = 0; field <= 254; ++field) {
    const uint32_t base = (uint32_t)field << 23;
    if ((field >= first && field <= normal + 1) || (field >= last - 2 && field <= last)) {
      for (uint32_t mantissa = 0; mantissa < UINT32_C(1) << 23; mantissa += step)
        add_point(base | mantissa);
    } else {
      add_point(base |
                ((uint32_t)mix((uint32_t)field) % (UINT32_C(2) << mantissa_bits)) * step);
    }
  }
  add_random((uint32_t)first, (uint32_t)last);
}

/* Fills the lists for f32: neighbours and the midpoints between them. */
static void collect_f32(void) {
  f32_count = 0;
  f64_count = 0;
  add_source_edges();
  for (uint32_t i = 0; i < 255 * 32; ++i) {
    const uint32_t random = (uint32_t)mix(i);
    const uint32_t mantissa = i % 32 == 0   ? 0
                              : i % 32 == 1 ? UINT32_C(0x7fffff)
                              : i % 32 == 2 ? UINT32_C(1) << random % 23
                                            : random & UINT32_C(0x7fffff);
    const uint32_t bits = i / 32 << 23 | mantissa;
    /* Both are in one binade of f64, or the second ends it: the mean of the bits is the
     * midpoint. */
    const uint64_t midpoint = (widened(bits) + widened(bits + 1)) / 2;
    add_point(bits);
    if (bits + 1 == UINT32_C(0x7f800000)) continue;
    add_f64(midpoint - 1);
    add_f64(midpoint);
    add_f64(midpoint + 1);
  }
  add_random(0, 254);
}

/* Stored codes: all of 8 and 16 bits; of tf32 the 2^19 clean words and as many with stray
 * low bits as without. */
static uint32_t code_count(size_t bytes) {
  return bytes == 1 ? 256 : bytes == 2 ? 65536 : UINT32_C(1) << 20;
}

static uint32_t code_at(size_t bytes, uint32_t index) {
  if (bytes < 4) return index;
  return (index & UINT32_C(0x7ffff)) << 13 |
         (index >> 19 ? 1 + (uint32_t)mix(index) % 0x1fff : 0);
}

/* Pairs of codes: all of 8 bits; else any two, or neighbours, or two of little value. */
#define PAIR_COUNT UINT32_C(65536)
static uint32_t left_at(size_t bytes, uint32_t index) {
  const uint32_t random = (uint32_t)mix(index);
  if (bytes == 1) return index >> 8;
  if (bytes == 2) return index;
  return index & 1 ? random : random & UINT32_C(0xffffe000);
}

static uint32_t right_at(size_t bytes, uint32_t index) {
  const uint32_t random = (uint32_t)(mix(index) >> 32);
  const uint32_t left = left_at(bytes, index);
  const uint32_t last_place = bytes == 4 ? UINT32_C(1) << 13 : 1;
  if (bytes == 1) return index & 0xff;
  switch (index & 3) {
  case 0: return left + last_place * (random % 5 - 2);
  case 1: return left ^ UINT32_C(1) << (8 * bytes - 1);
  default: return random;
  }
}

#define FOR_CODES(name) \
 for (uint32_t i = 0, n = code_count(sizeof(mpnum_##name)); i < n; ++i)
#define CODE(name)   mpnum_from_bits_##name(code_at(sizeof(mpnum_##name), i))
#define FOR_PAIRS    for (uint32_t i = 0; i < PAIR_COUNT; ++i)
#define LEFT(name)   mpnum_from_bits_##name(left_at(sizeof(mpnum_##name), i))
#define RIGHT(name)  mpnum_from_bits_##name(right_at(sizeof(mpnum_##name), i))
#define FOR_F32      for (uint32_t i = 0, n = 2 * f32_count; i < n; ++i)
#define FOR_F64      for (uint32_t i = 0, n = 2 * f64_count; i < n; ++i)
#define FOR_SOME_F32 for (uint32_t i = 0, n = 2 * f32_count - 4; i < n; i += 3)
#define FOR_ROUND(edges)                           \
 for (int rounding = 0; rounding < 7; ++rounding)  \
  for (int overflow = 0; overflow < 2; ++overflow) \
   for (uint32_t i = 0, n = 2 * ((uint32_t)(edges) + ROUND_MORE_COUNT); i < n; ++i)
#define MODE (mpnum_rounding) rounding, (mpnum_overflow)overflow, word_at(i)

#endif

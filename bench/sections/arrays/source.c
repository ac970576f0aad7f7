/* SPDX-License-Identifier: MIT */
#include "arrays.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/mpnum.h>

#include "../../core/distributions.h"

enum { TILE = 1 << 20, SEED = 3 };

static void draw_bits(unsigned char *dst, size_t bytes, unsigned char mask) {
  for (size_t i = 0; i < bytes; i += 4) {
    uint32_t word = mpnum_random(SEED, i / 4);
    for (size_t b = 0; b < 4 && i + b < bytes; ++b)
      dst[i + b] = (unsigned char)(word >> (8 * b)) & mask;
  }
}

static array_data held;
void source_hold(array_data data) { held = data; }
array_data source_held(void) { return held; }

/* In a type of so many bits, of which so many are the mantissa's. */
static void put_bits(void *dst, size_t i, unsigned bits, unsigned mantissa_bits) {
  const uint64_t word =
      (uint64_t)mpnum_random(SEED, 2 * i) << 32 | mpnum_random(SEED, 2 * i + 1);
  const uint64_t sign = 1ull << (bits - 1), mantissa = (1ull << mantissa_bits) - 1;
  const uint64_t infinity = (sign - 1) & ~mantissa;
  const uint64_t code = held == DATA_ZEROS       ? word & sign
                        : held == DATA_SUBNORMAL ? word & (sign | mantissa)
                        : held == DATA_SPECIAL   ? (word & (sign | 1)) | infinity
                                                 : word;
  memcpy((unsigned char *)dst + i * (bits / 8), &code, bits / 8); /* little-endian */
}
static bool is_other(size_t i) {
  const uint32_t word = mpnum_random(SEED + 1, i);
  if (held == DATA_BITS) return true;
  return held == DATA_SPECIAL ? word % 100 == 0 : word % 4 == 0;
}

/* A value in the type that the array holds. */
static void put_value(array_source source, void *dst, size_t i) {
  double x = distributions[0].draw(i);
  if (held != DATA_NORMAL && is_other(i)) {
    if (held == DATA_TINY) x *= 0x1p-16;
    if (held == DATA_HUGE) x *= 0x1p20;
    if (held != DATA_TINY && held != DATA_HUGE) {
      const unsigned bits = source == SOURCE_F64    ? 64
                            : source == SOURCE_F16  ? 16
                            : source == SOURCE_BF16 ? 16
                                                    : 32;
      put_bits(dst, i, bits,
               source == SOURCE_F64    ? 52
               : source == SOURCE_F16  ? 10
               : source == SOURCE_BF16 ? 7
                                       : 23);
      return;
    }
  }
  switch (source) {
  case SOURCE_F64: ((double *)dst)[i] = x; break;
  case SOURCE_F32: ((float *)dst)[i] = (float)x; break;
  case SOURCE_TF32: ((mpnum_tf32 *)dst)[i] = mpnum_f64_to_tf32(x); break;
  case SOURCE_F16: ((mpnum_f16 *)dst)[i] = mpnum_f64_to_f16(x); break;
  case SOURCE_BF16: ((mpnum_bf16 *)dst)[i] = mpnum_f64_to_bf16(x); break;
  default: break;
  }
}

/* Magnitudes, as a second moment is one. Of bf16 in pairs they are floats, too. */
static void fill_states(array_source source, unsigned char *dst, size_t count,
                        size_t bytes) {
  for (size_t i = 0; i < count; ++i) {
    put_value(source, dst, i);
    dst[(i + 1) * bytes - 1] &= 0x7f; /* little-endian */
  }
}

static void fill(array_source source, void *dst, size_t count, size_t bytes) {
  switch (source) {
  case SOURCE_BITS: draw_bits(dst, bytes, 0xff); break;
  case SOURCE_CODES6: draw_bits(dst, bytes, 0x3f); break;
  case SOURCE_CODES4: draw_bits(dst, bytes, 0x0f); break;
  case SOURCE_SCALED: draw_bits(dst, bytes, 0xbf); break;
  case SOURCE_STATES_F32: fill_states(SOURCE_F32, dst, bytes / 4, 4); break;
  case SOURCE_STATES_BF16: fill_states(SOURCE_BF16, dst, bytes / 2, 2); break;
  default:
    for (size_t i = 0; i < count; ++i)
      put_value(source, dst, i);
  }
}

void *source_make(array_source source, unsigned bits, size_t count) {
  const size_t codes = count * bits / 8;
  const size_t bytes = source == SOURCE_SCALED ? codes + codes / 8 : codes;
  const size_t tile = count < TILE ? count : TILE;
  size_t made = tile * bits / 8;
  unsigned char *buffer = timing_buffer(bytes);
  if (!buffer) return NULL;
  fill(source, buffer, tile, made);
  while (made < bytes) {
    size_t more = made < bytes - made ? made : bytes - made;
    memcpy(buffer + made, buffer, more);
    made += more;
  }
  return buffer;
}

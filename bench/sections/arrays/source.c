/* SPDX-License-Identifier: MIT */
#include "arrays.h"

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

/* A normal value in the type that the array holds. */
static void put_value(array_source source, void *dst, size_t i) {
  const double x = distributions[0].draw(i);
  switch (source) {
  case SOURCE_F64: ((double *)dst)[i] = x; break;
  case SOURCE_F32: ((float *)dst)[i] = (float)x; break;
  case SOURCE_TF32: ((mpnum_tf32 *)dst)[i] = mpnum_f64_to_tf32(x); break;
  case SOURCE_F16: ((mpnum_f16 *)dst)[i] = mpnum_f64_to_f16(x); break;
  case SOURCE_BF16: ((mpnum_bf16 *)dst)[i] = mpnum_f64_to_bf16(x); break;
  default: break;
  }
}

static void fill(array_source source, void *dst, size_t count, size_t bytes) {
  switch (source) {
  case SOURCE_BITS: draw_bits(dst, bytes, 0xff); break;
  case SOURCE_CODES6: draw_bits(dst, bytes, 0x3f); break;
  case SOURCE_CODES4: draw_bits(dst, bytes, 0x0f); break;
  case SOURCE_SCALED: draw_bits(dst, bytes, 0xbf); break;
  default:
    for (size_t i = 0; i < count; ++i)
      put_value(source, dst, i);
  }
}

void *source_make(array_source source, unsigned src_bits, size_t count) {
  const size_t codes = count * src_bits / 8;
  const size_t bytes = source == SOURCE_SCALED ? codes + codes / 8 : codes;
  const size_t tile = count < TILE ? count : TILE;
  size_t made = tile * src_bits / 8;
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

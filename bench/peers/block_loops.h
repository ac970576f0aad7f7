/* SPDX-License-Identifier: MIT */
/* Loops over blocks of MX e4m3 and NVFP4, a call for each, for files that differ in how
 * they are compiled or in what they call. */
#ifndef MPNUM_BENCH_BLOCK_LOOPS_H
#define MPNUM_BENCH_BLOCK_LOOPS_H

#include "../core/block_formats.h"
#include "../core/message.h"
#include "peers.h"

/* QUANTIZE(format, codes, scale_inv, scale, src, n) and DEQUANTIZE(format, dst, codes,
 * scale_inv, scale, n) give a status. */
#define BLOCK_LOOPS(way, QUANTIZE, DEQUANTIZE)                                      \
 BLOCK_LOOPS_OF(way, mx_e4m3, BLOCK_MX(E4M3), 1.0f, 32, 32, QUANTIZE, DEQUANTIZE)   \
 BLOCK_LOOPS_OF(way, nvfp4, mpnum_blockscale_nvfp4_1x16(), 448.0f, 16, 8, QUANTIZE, \
                DEQUANTIZE)

#define BLOCK_LOOPS_OF(way, name, made, scale, n, bytes, QUANTIZE, DEQUANTIZE) \
 void way##_f32_to_##name(void *dst, const void *src, size_t blocks) {         \
  const mpnum_blockscale_format format = made;                                 \
  const float *from = src;                                                     \
  uint8_t *codes = dst;                                                        \
  int failed = 0;                                                              \
  for (size_t i = 0; i < blocks; ++i, from += (n), codes += (bytes) + 1)       \
   failed |= (int)QUANTIZE(format, codes, codes + (bytes), scale, from, n);    \
  must(failed);                                                                \
 }                                                                             \
 void way##_##name##_to_f32(void *dst, const void *src, size_t blocks) {       \
  const mpnum_blockscale_format format = made;                                 \
  const uint8_t *codes = src;                                                  \
  float *to = dst;                                                             \
  int failed = 0;                                                              \
  for (size_t i = 0; i < blocks; ++i, to += (n), codes += (bytes) + 1)         \
   failed |= (int)DEQUANTIZE(format, to, codes, codes + (bytes), scale, n);    \
  must(failed);                                                                \
 }

#define BLOCK_INLINE(format, codes, scale_inv, scale, src, n) \
 mpnum_quantize_block(format, codes, scale_inv, scale, MPNUM_TYPE_F32, src, n)
#define BLOCK_INLINE_BACK(format, dst, codes, scale_inv, scale, n) \
 mpnum_dequantize_block(format, MPNUM_TYPE_F32, dst, codes, scale_inv, scale, n)

#endif

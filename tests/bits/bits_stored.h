/* SPDX-License-Identifier: MIT */
/* For bits.c: a line for each layout of stored_matrix.h, of finite matrices from f32, f16
 * and bf16 and back. */
#ifndef MPNUM_TESTS_BITS_STORED_H
#define MPNUM_TESTS_BITS_STORED_H

#include "bits_blocks.h"

#include <mpnum/blocks/stored_matrix.h>

enum { STORED_ROWS = 16, STORED_COLUMNS = 256 };

static void make_stored_src(mpnum_type type) {
  const size_t size = type == MPNUM_TYPE_F32 ? 4 : 2;
  make_block_src(type);
  for (size_t i = 0; i < BLOCK_ELEMENTS; ++i) { /* without Inf and NaN */
    const uint32_t top = type == MPNUM_TYPE_F32   ? UINT32_C(0x7f800000)
                         : type == MPNUM_TYPE_F16 ? 0x7c00
                                                  : 0x7f80;
    uint32_t word = 0;
    uint16_t half;
    memcpy(&half, block_src + size * i, 2);
    memcpy(&word, block_src + 4 * i * (size == 4), 4);
    if (size == 2) word = half;
    if ((word & top) == top) word &= ~top;
    half = (uint16_t)word;
    if (size == 2) memcpy(block_src + 2 * i, &half, 2);
    if (size == 4) memcpy(block_src + 4 * i, &word, 4);
  }
}
static void put_stored(mpnum_stored_layout layout, mpnum_type type) {
  static uint8_t zeros[STORED_ROWS * STORED_COLUMNS];
  mpnum_stored stored = mpnum_stored_of(layout, STORED_ROWS, STORED_COLUMNS, 0);
  mpnum_const_matrix src =
      mpnum_const_matrix_of(type, block_src, STORED_ROWS, STORED_COLUMNS);
  stored.data = block_codes;
  stored.scales = block_scales;
  stored.zeros = zeros;
  src.stride = BLOCK_COLUMNS;
  make_stored_src(type);
  put_int((int)mpnum_quantize_stored(stored, src));
  put_int((int)mpnum_dequantize_stored(
      mpnum_matrix_of(type, block_dst, STORED_ROWS, STORED_COLUMNS), stored));
  put_bytes(block_codes, stored.data_bytes);
  put_words(block_scales, layout < MPNUM_STORED_AWQ ? 4 : 2,
            stored.scales_bytes / (layout < MPNUM_STORED_AWQ ? 4 : 2));
  put_bytes(zeros, stored.zeros_bytes);
  put_words(block_dst, type == MPNUM_TYPE_F32 ? 4 : 2, STORED_ROWS * STORED_COLUMNS);
}
static void print_stored(void) {
  static const char *const names[] = {"mxfp4", "nvfp4", "q8_0", "q4_0",
                                      "nf4",   "fp4",   "awq",  "gptq"};
#if defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))
  const int has_blocks = 1;
#else
  const int has_blocks = has_f32_functions;
#endif
  for (int i = 0; i < 8; ++i) {
    char line[40];
    snprintf(line, sizeof line, "stored_%s_blocks", names[i]);
    if (!has_blocks) {
      printf("%s -\n", line);
      continue;
    }
    put_stored((mpnum_stored_layout)i, MPNUM_TYPE_F32);
    put_stored((mpnum_stored_layout)i, MPNUM_TYPE_F16);
    put_stored((mpnum_stored_layout)i, MPNUM_TYPE_BF16);
    print_line(line);
  }
}

#endif

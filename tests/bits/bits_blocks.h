/* SPDX-License-Identifier: MIT */
/* For bits.c: a line for each preset of blockscale.h, of matrices with every kind of
 * block, from f32, f16 and bf16 and back, rounded to nearest and, where there is that, at
 * random. As rows they promise their bits in every environment that the library can set.
 */
#ifndef MPNUM_TESTS_BITS_BLOCKS_H
#define MPNUM_TESTS_BITS_BLOCKS_H

#include "bits_rows.h"

#include <mpnum/blocks/blockscale.h>
#include <mpnum/blocks/least_error.h>

enum {
  BLOCK_ROWS = 19,
  BLOCK_COLUMNS = 300,
  BLOCK_ELEMENTS = BLOCK_ROWS * BLOCK_COLUMNS
};
static uint8_t block_src[4 * BLOCK_ELEMENTS], block_dst[4 * BLOCK_ELEMENTS];
static uint8_t block_codes[BLOCK_ELEMENTS], block_scales[4 * BLOCK_ELEMENTS];

/* Row k of kind k: near 1, any finite number, subnormals, few bits, zeros, with Inf and
 * NaN here and there. */
static uint32_t block_bits(uint32_t i) {
  const uint32_t random = (uint32_t)mix(i), sign = random & UINT32_C(0x80000000);
  const uint32_t kind = i / BLOCK_COLUMNS % 6, mantissa = random & UINT32_C(0x7fffff);
  const uint32_t field = (uint32_t)(mix(i) >> 40);
  switch (kind) {
  case 0: return sign | (120 + field % 10) << 23 | mantissa;
  case 1: return sign | field % 255 << 23 | mantissa;
  case 2: return sign | mantissa >> field % 20;
  case 3: return sign | (125 + field % 4) << 23 | (mantissa & UINT32_C(0x780000));
  case 4: return field % 50 ? sign : random & UINT32_C(0x7effffff);
  default:
    return field % 90 ? sign | 127u << 23 | mantissa : sign | 255u << 23 | field % 2;
  }
}
static void make_block_src(mpnum_type type) {
  for (uint32_t i = 0; i < BLOCK_ELEMENTS; ++i) {
    const uint32_t bits = block_bits(i);
    const uint16_t half = type == MPNUM_TYPE_F16
                              ? mpnum_f32_to_f16(mpnum_from_bits_f32(bits)).bits
                              : mpnum_f32_to_bf16(mpnum_from_bits_f32(bits)).bits;
    if (type == MPNUM_TYPE_F32) memcpy(block_src + 4 * i, &bits, 4);
    if (type != MPNUM_TYPE_F32) memcpy(block_src + 2 * i, &half, 2);
  }
}
static void put_words(const uint8_t *bytes, size_t size, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t half;
    uint32_t word = bytes[i];
    if (size == 2) memcpy(&half, bytes + 2 * i, 2);
    if (size == 4) memcpy(&word, bytes + 4 * i, 4);
    put(size == 2 ? half : word);
  }
}
/* reach: that of the least squared error, 0 for the format's rule alone. */
static void put_blocks(mpnum_blockscale_format format, mpnum_type type, int reach) {
  const size_t size = type == MPNUM_TYPE_F32 ? 4 : 2;
  const mpnum_quantize_options options = {3, 5};
  const mpnum_const_matrix src =
      mpnum_const_matrix_of(type, block_src, BLOCK_ROWS, BLOCK_COLUMNS);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  mpnum_blockscaled blocks;
  memset(block_codes, 0, sizeof block_codes); /* a call may be refused */
  memset(block_scales, 0, sizeof block_scales);
  blocks.codes = block_codes;
  blocks.stride = BLOCK_COLUMNS;
  blocks.scale_inv = block_scales;
  blocks.scale_inv_bytes = sizeof block_scales;
  blocks.is_swizzled = 0;
  blocks.scale = 2688;
  make_block_src(type);
  put_int((int)(reach ? mpnum_quantize_least_error(&format, blocks, src, reach, &losses)
                      : mpnum_quantize_blocks(&format, blocks, src, &options, &losses)));
  put_int((int)mpnum_dequantize_blocks(
      &format, mpnum_matrix_of(type, block_dst, BLOCK_ROWS, BLOCK_COLUMNS), blocks));
  put_bytes(block_codes, mpnum_blockscale_code_bytes(&format, BLOCK_ROWS, BLOCK_COLUMNS));
  put_words(block_scales, format.scale_type == MPNUM_TYPE_F32 ? 4 : 1,
            mpnum_blockscale_count(&format, BLOCK_ROWS, BLOCK_COLUMNS));
  put_words(block_dst, size, BLOCK_ELEMENTS);
  put(losses.saturated);
  put(losses.underflowed);
  put(losses.nonfinite);
  put_f32(losses.amax);
}
static void print_preset_of(const char *name, mpnum_blockscale_format format, int reach) {
  char line[64];
#if defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))
  const int has_blocks = 1;
#else
  const int has_blocks = has_f32_functions;
#endif
  snprintf(line, sizeof line, "%s_blocks", name);
  if (!has_blocks) {
    printf("%s -\n", line);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                       MPNUM_TYPE_F32};
    if (i == 3) format = mpnum_blockscale_transposed(format);
    if (mpnum_blockscale_validate(&format, NULL) != MPNUM_OK) continue;
    format.rounding = MPNUM_ROUND_NEAREST_EVEN;
    put_blocks(format, types[i], reach);
    format.rounding = MPNUM_ROUND_STOCHASTIC;
    if (!format.is_int8 && !reach) put_blocks(format, types[i], 0);
  }
  print_line(line);
}
static void print_preset(const char *name, mpnum_blockscale_format format) {
  print_preset_of(name, format, 0);
}

static void print_blocks(void) {
  static const mpnum_type elements[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                        MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  static const char *const names[] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
  static const char *const rules[] = {"floor", "ceil", "even", "rceil"};
  mpnum_blockscale_format format;
  char name[40];
  for (int rule = 0; rule < 4; ++rule) {
    for (int i = 0; i < 5; ++i) {
      snprintf(name, sizeof name, "mx_%s_%s", names[i], rules[rule]);
      print_preset(name, mpnum_blockscale_mx(elements[i], (mpnum_blockscale_rule)rule));
    }
    snprintf(name, sizeof name, "mx_int8_%s", rules[rule]);
    print_preset(name, mpnum_blockscale_mx_int8((mpnum_blockscale_rule)rule));
  }
  print_preset("nvfp4_1x16", mpnum_blockscale_nvfp4_1x16());
  print_preset("nvfp4_16x16", mpnum_blockscale_nvfp4_16x16());
  print_preset("deepseek_1x128", mpnum_blockscale_fp8_1x128());
  print_preset("deepseek_128x128", mpnum_blockscale_fp8_128x128());
  format = mpnum_blockscale_fp8_1x128();
  format.rule = MPNUM_BLOCKSCALE_AMAX_POW2;
  print_preset("deepseek_1x128_pow2", format);
  print_preset("int8_rows", mpnum_blockscale_int8_row());
  print_preset("int8_tensor", mpnum_blockscale_int8_tensor());
  print_preset_of("least_error_mx_e4m3",
                  mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), 1);
  print_preset_of("least_error_mx_e2m1",
                  mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_FLOOR), 2);
  print_preset_of("least_error_nvfp4", mpnum_blockscale_nvfp4_1x16(), 8);
}

#endif

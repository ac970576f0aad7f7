/* SPDX-License-Identifier: MIT */
/* One block of a small format with its scale, inline, for loops of your own: no look at
 * the CPU, the vectors that the compiler makes for the target, and all that a constant
 * format, type or length decides is folded.
 *
 *     const mpnum_blockscale_format mx =
 *         mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
 *     uint8_t codes[32], scale_inv;
 *     status = mpnum_quantize_block(mx, codes, &scale_inv, 1, MPNUM_TYPE_F32, x, 32);
 *     status = mpnum_dequantize_block(mx, MPNUM_TYPE_F32, x, codes, &scale_inv, 1, 32);
 *
 * Bits, zeros, overflow, NaN: those of mpnum_quantize_blocks and mpnum_dequantize_blocks
 * of a matrix of one row that is one block, at any address. Domain: n elements, f32, f16
 * or bf16, at most 256 and at most the columns of a block, fewer count as padded with
 * zeros; scale is S of the tensor, which only TWO_LEVEL takes. The format rounds to
 * nearest even. Host only. Status: as blockscale.h; MPNUM_ERROR_SHAPE: n is too large;
 * MPNUM_ERROR_ARGUMENT: also of a format with stochastic rounding. Nothing is written
 * then. n 0: MPNUM_OK. */
#ifndef MPNUM_BLOCKS_BLOCK_H
#define MPNUM_BLOCKS_BLOCK_H

#include "blockscale.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

# define MPNUM_BLOCK_MOST_ 256

/* Keeps what is behind a pointer between the lines that save and restore the
 * floating-point environment, of an array that lives in registers, too. */
# if MPNUM_HAS_GNU_
#  define MPNUM_BLOCK_FENCE_(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")
# else
#  define MPNUM_BLOCK_FENCE_(pointer) ((void)0)
# endif

/* Before a loop over elements: clang would write 32 of them out, and make no vectors. */
# if defined(__clang__)
#  define MPNUM_BLOCK_LOOP_ _Pragma("clang loop unroll(disable)")
# else
#  define MPNUM_BLOCK_LOOP_
# endif

MPNUM_HOST_INLINE_ mpnum_status mpnum_one_block_check_(mpnum_blockscale_format format,
                                                       const void *codes,
                                                       const void *scale_inv, float scale,
                                                       mpnum_type type, const void *data,
                                                       size_t n) {
  const size_t scale_bytes = format.scale_type == MPNUM_TYPE_F32 ? 4 : 1;
  const size_t code_bytes = mpnum_bytes_(format.element_bits, n);
  const size_t data_bytes = n * (type == MPNUM_TYPE_F32 ? 4 : 2);
  const mpnum_blockscale_format copy =
      format; /* the compiler knows what has no address */
  if (!data || !codes || !scale_inv) return MPNUM_ERROR_NULL;
  if (mpnum_blockscale_validate_(&copy, 0) != MPNUM_OK ||
      format.rounding != MPNUM_ROUND_NEAREST_EVEN ||
      (format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL &&
       mpnum_bits_f32(scale) - 1 >= 0x7f7fffffu))
    return MPNUM_ERROR_ARGUMENT; /* a scale of 0, Inf, NaN, or negative */
  if (!mpnum_has_floats_(type)) return MPNUM_ERROR_TYPE;
  if (n > MPNUM_BLOCK_MOST_ || (format.columns && n > format.columns))
    return MPNUM_ERROR_SHAPE;
  if (mpnum_overlap_(codes, code_bytes, data, data_bytes) ||
      mpnum_overlap_(scale_inv, scale_bytes, data, data_bytes) ||
      mpnum_overlap_(scale_inv, scale_bytes, codes, code_bytes))
    return MPNUM_ERROR_OVERLAP;
  return MPNUM_OK;
}
/* Elements as floats, and floats as elements. */
MPNUM_HOST_INLINE_ void mpnum_block_load_(mpnum_type type, float *x, const void *src,
                                          size_t n) {
  const uint8_t *from = (const uint8_t *)src;
  size_t i = 0;
  if (type == MPNUM_TYPE_F32) {
    MPNUM_MEMCPY_(x, src, n * sizeof *x);
    return;
  }
  MPNUM_BLOCK_LOOP_
  for (; i < n; ++i) {
    uint16_t code;
    MPNUM_MEMCPY_(&code, from + 2 * i, 2);
    x[i] = type == MPNUM_TYPE_F16 ? mpnum_f16_to_f32(mpnum_from_bits_f16(code))
                                  : mpnum_bf16_to_f32(mpnum_from_bits_bf16(code));
  }
}
MPNUM_HOST_INLINE_ void mpnum_block_store_(mpnum_type type, void *dst, const float *x,
                                           size_t n) {
  uint8_t *to = (uint8_t *)dst;
  size_t i = 0;
  if (type == MPNUM_TYPE_F32) {
    MPNUM_MEMCPY_(dst, x, n * sizeof *x);
    return;
  }
  MPNUM_BLOCK_LOOP_
  for (; i < n; ++i) {
    const uint16_t code = type == MPNUM_TYPE_F16 ? mpnum_f32_to_f16(x[i]).bits
                                                 : mpnum_f32_to_bf16(x[i]).bits;
    MPNUM_MEMCPY_(to + 2 * i, &code, 2);
  }
}
MPNUM_HOST_INLINE_ uint32_t mpnum_block_largest_(const float *x, size_t n) {
  int32_t largest = 0;
  size_t i = 0;
  MPNUM_BLOCK_LOOP_
  for (; i < n; ++i) {
    const int32_t magnitude = (int32_t)(mpnum_bits_f32(x[i]) & 0x7fffffffu);
    largest = magnitude > largest ? magnitude : largest;
  }
  return (uint32_t)largest;
}
/* The code of a scaled element. Of int8 the adder rounds, its low bits are the code;
 * `down` is what makes 64ths of units. */
MPNUM_HOST_INLINE_ uint8_t mpnum_block_code_(mpnum_blockscale_format format, float x) {
  const uint32_t down = format.scale_type == MPNUM_TYPE_E8M0 ? 6u << 23 : 0;
  const uint32_t last = 0x42fe0000u - down; /* 127 */
  const uint32_t bits = mpnum_bits_f32(x), magnitude = bits & 0x7fffffffu;
  const uint32_t kept = (magnitude > last ? last : magnitude) | (bits & 0x80000000u);
  const float sum = mpnum_from_bits_f32(kept) + mpnum_from_bits_f32(0x4b400000u - down);
  if (!format.is_int8)
    return (uint8_t)mpnum_encode(format.element, x, MPNUM_ROUND_NEAREST_EVEN,
                                 MPNUM_OVERFLOW_SATURATE, 0);
  return (uint8_t)mpnum_select_((0x7f800000u - magnitude) >> 31, 127,
                                mpnum_bits_f32(sum));
}
/* Bytes of n codes and of those that fill up the last byte, or group of four. */
MPNUM_HOST_INLINE_ void mpnum_block_pack_(int element_bits, void *dst, uint8_t *code,
                                          size_t n) {
  uint8_t *to = (uint8_t *)dst;
  size_t i = 0;
  if (element_bits == 8) {
    MPNUM_MEMCPY_(to, code, n);
  } else if (element_bits == 4) {
    MPNUM_BLOCK_LOOP_
    for (; i < (n + 1) / 2; ++i)
      to[i] = (uint8_t)(code[2 * i] | code[2 * i + 1] << 4);
  } else {
    mpnum_pack_(6, code, code, (n + 7) / 8 * 8);
    MPNUM_MEMCPY_(to, code, mpnum_bytes_(6, n));
  }
}
MPNUM_HOST_INLINE_ void mpnum_block_unpack_(int element_bits, uint8_t *code,
                                            const void *src, size_t n) {
  const uint8_t *from = (const uint8_t *)src;
  size_t i = 0;
  if (element_bits == 8) {
    MPNUM_MEMCPY_(code, from, n);
  } else if (element_bits == 4) {
    MPNUM_BLOCK_LOOP_
    for (; i < (n + 1) / 2; ++i) {
      code[2 * i] = from[i] & 15;
      code[2 * i + 1] = from[i] >> 4;
    }
  } else {
    uint8_t bytes[MPNUM_BLOCK_MOST_] = {0};
    MPNUM_MEMCPY_(bytes, from, (n * 6 + 7) / 8);
    mpnum_unpack_(6, code, bytes, (n + 7) / 8 * 8);
  }
}

/* Quantises n elements: their codes, dense, and their scale, a code of the format's scale
 * type or a float. */
MPNUM_MUST_CHECK MPNUM_HOST_INLINE_ mpnum_status
mpnum_quantize_block(mpnum_blockscale_format format, void *codes, void *scale_inv,
                     float scale, mpnum_type src_type, const void *src, size_t n) {
  const mpnum_blockscale_format copy = format;
  const int divides = format.scale_type == MPNUM_TYPE_F32;
  const int is_two_level = format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL;
  const size_t filled = format.element_bits == 8 ? n : (n + 7) / 8 * 8; /* whole bytes */
  float x[MPNUM_BLOCK_MOST_];
  uint8_t code[MPNUM_BLOCK_MOST_];
  mpnum_block_rule_ rule;
  mpnum_block_scale_scalar_ found;
  mpnum_status status = MPNUM_OK;
  uint64_t saved = 0;
  uint32_t amax = 0;
  uint8_t kept = 0;
  size_t i = 0;
  if (n == 0) return MPNUM_OK;
  status = mpnum_one_block_check_(format, codes, scale_inv, scale, src_type, src, n);
  if (status != MPNUM_OK) return status;
  rule = mpnum_block_rule_of_(&copy, scale);
  rule.divides = divides; /* known to the compiler */
  saved = mpnum_fenv_save_();
  MPNUM_BLOCK_FENCE_(src);
  mpnum_block_load_(src_type, x, src, n);
  amax = mpnum_block_largest_(x, n);
  if (format.policy == MPNUM_BLOCKSCALE_ERROR && amax >= 0x7f800000u) {
    mpnum_fenv_restore_(saved);
    return MPNUM_ERROR_NONFINITE;
  }
  found = mpnum_block_scale_of_scalar_(rule, amax);
  if (amax != 0 && (!is_two_level || found.code != 0)) kept = 0xff;
  MPNUM_BLOCK_LOOP_
  for (i = n; i < filled; ++i)
    x[i] = 0;
  MPNUM_BLOCK_LOOP_
  for (i = 0; i < filled; ++i)
    code[i] =
        kept & mpnum_block_code_(format, divides ? mpnum_div_scalar_(x[i], found.factor)
                                                 : (float)(x[i] * found.factor));
  mpnum_block_pack_(format.element_bits, codes, code, n);
  if (divides) {
    MPNUM_MEMCPY_(scale_inv, &found.code, 4);
  } else {
    *(uint8_t *)scale_inv = (uint8_t)found.code;
  }
  MPNUM_BLOCK_FENCE_(codes);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}
/* Multiplies codes by their scale, rounds to f32 and then to dst_type. */
MPNUM_MUST_CHECK MPNUM_HOST_INLINE_ mpnum_status
mpnum_dequantize_block(mpnum_blockscale_format format, mpnum_type dst_type, void *dst,
                       const void *codes, const void *scale_inv, float scale, size_t n) {
  const int is_sixty_fourth = format.is_int8 && format.scale_type == MPNUM_TYPE_E8M0;
  float x[MPNUM_BLOCK_MOST_];
  uint8_t code[MPNUM_BLOCK_MOST_];
  mpnum_status status = MPNUM_OK;
  uint64_t saved = 0;
  uint32_t bits = 0;
  float factor = 0;
  size_t i = 0;
  if (n == 0) return MPNUM_OK;
  status = mpnum_one_block_check_(format, codes, scale_inv, scale, dst_type, dst, n);
  if (status != MPNUM_OK) return status;
  if (format.scale_type == MPNUM_TYPE_F32) {
    MPNUM_MEMCPY_(&bits, scale_inv, 4);
    if (bits - 1 >= 0x7f7fffffu && (bits & 0x7fffffffu) <= 0x7f800000u)
      return MPNUM_ERROR_ARGUMENT; /* 0, Inf, or negative; a NaN block has NaN */
  }
  saved = mpnum_fenv_save_();
  MPNUM_BLOCK_FENCE_(codes);
  MPNUM_BLOCK_FENCE_(scale_inv);
  if (format.scale_type == MPNUM_TYPE_F32) {
    factor = mpnum_from_bits_f32(bits);
  } else {
    factor =
        mpnum_decode(mpnum_format_of(format.scale_type), *(const uint8_t *)scale_inv);
  }
  mpnum_block_unpack_(format.element_bits, code, codes, n);
  MPNUM_BLOCK_LOOP_
  for (; i < n; ++i) {
    const float whole = (float)(int8_t)code[i]; /* of int8; 64ths by their exponent */
    const uint32_t down = is_sixty_fourth && code[i] ? 6u << 23 : 0;
    const float value =
        (format.is_int8 ? mpnum_from_bits_f32(mpnum_bits_f32(whole) - down)
                        : mpnum_decode(format.element, code[i])) *
        factor;
    const float y = format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL
                        ? mpnum_div_scalar_(value, scale)
                        : value;
    const uint32_t magnitude = mpnum_bits_f32(y) & 0x7fffffffu;
    x[i] = mpnum_from_bits_f32(
        mpnum_select_((0x7f800000u - magnitude) >> 31, 0x7fffffffu, mpnum_bits_f32(y)));
  }
  mpnum_block_store_(dst_type, dst, x, n);
  MPNUM_BLOCK_FENCE_(dst);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif

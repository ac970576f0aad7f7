/* SPDX-License-Identifier: MIT */
/* Describes small formats with a scale for each block: shape of blocks, scale rule,
 * types, presets, the memory that codes and scales take, and where a scale lies. Host and
 * device; blockscale.h quantises. */
#ifndef MPNUM_BLOCKS_BLOCKSCALE_FORMAT_H
#define MPNUM_BLOCKS_BLOCKSCALE_FORMAT_H

#include "../array/detail/blockscale_rule.h"
#include "../simd/detail/codings.h"
#include "../types/e4m3.h"
#include "../types/e8m0.h"
#include "../types/fp4.h"
#include "../types/fp6.h"
MPNUM_C_BEGIN_

#if !MPNUM_NO_STDINT

# if !MPNUM_HAS_NVRTC_
#  include <stddef.h>
# endif

/* How the scale of a block is computed from its amax. E is the exponent of the amax, max
 * the largest value of the element type, emax the exponent of max. */
typedef enum mpnum_blockscale_rule {
  MPNUM_BLOCKSCALE_FLOOR = 0,     /* e8m0: 2^(E - emax), OCP MX 1.0, 6.3 */
  MPNUM_BLOCKSCALE_CEIL = 1,      /* 2^(E + 1 - emax), unless amax is a power of two */
  MPNUM_BLOCKSCALE_EVEN = 2,      /* FLOOR, with amax rounded to the elements' mantissa */
  MPNUM_BLOCKSCALE_RCEIL = 3,     /* amax * (1 / max), rounded up to a power of two */
  MPNUM_BLOCKSCALE_TWO_LEVEL = 4, /* e4m3, ue4m3 or ue5m3: amax * (S / max), S the scale
                                     of the tensor */
  MPNUM_BLOCKSCALE_AMAX = 5,      /* f32: amax / max */
  MPNUM_BLOCKSCALE_AMAX_POW2 = 6  /* f32: AMAX rounded up to a power of two >= 2^-126 */
} mpnum_blockscale_rule;

/* What becomes of a block with Inf or NaN. */
typedef enum mpnum_blockscale_policy {
  MPNUM_BLOCKSCALE_PROPAGATE = 0,
  MPNUM_BLOCKSCALE_ERROR = 1 /* the call fails and writes only losses->nonfinite */
} mpnum_blockscale_policy;

typedef struct mpnum_blockscale_format {
  mpnum_format element;  /* at most 8 bits, may be user-made; not used with is_int8 */
  int is_int8;           /* 1: -127 to 127, as 64ths if scales are e8m0; 0: element */
  int element_bits;      /* in memory: 8, or 4 or 6 packed densely, little end first */
  size_t rows, columns;  /* of a block; 0: those of the matrix */
  mpnum_type scale_type; /* E8M0, F32, or of TWO_LEVEL E4M3, UE4M3 or UE5M3 */
  mpnum_blockscale_rule rule;
  mpnum_blockscale_policy policy;
  mpnum_rounding rounding; /* of elements: NEAREST_EVEN, or stochastic */
  float amax_floor;        /* for AMAX and AMAX_POW2: a smaller amax counts as this */
} mpnum_blockscale_format;

/* A quantised matrix in the caller's memory. */
typedef struct mpnum_blockscaled {
  void *codes;            /* row r begins at element r * stride, at a whole byte */
  size_t stride;          /* elements from row to row, at least columns */
  void *scale_inv;        /* a scale for each block, rows of blocks contiguous */
  size_t scale_inv_bytes; /* size of the memory at scale_inv */
  int is_swizzled;        /* 1: scale_inv in tiles, see mpnum_blockscale_scale_bytes */
  float scale;            /* TWO_LEVEL: S of the whole tensor; 0: not set, refused */
} mpnum_blockscaled;

/* Seed and first word of stochastic rounding: element (r, c) takes word number
 * offset + r * src.stride + c. */
typedef struct mpnum_quantize_options {
  uint64_t seed, offset;
} mpnum_quantize_options;

MPNUM_INLINE mpnum_blockscale_format mpnum_blockscale_format_(
    mpnum_format element, int element_bits, size_t rows, size_t columns,
    mpnum_type scale_type, mpnum_blockscale_rule rule) {
  const mpnum_blockscale_format format = {element,
                                          0,
                                          element_bits,
                                          rows,
                                          columns,
                                          scale_type,
                                          rule,
                                          MPNUM_BLOCKSCALE_PROPAGATE,
                                          MPNUM_ROUND_NEAREST_EVEN,
                                          0};
  return format;
}
/* An invalid format: its rule does not exist, so that every call refuses it. */
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_none_(mpnum_format element,
                                                          int element_bits) {
  return mpnum_blockscale_format_(element, element_bits, 0, 0, (mpnum_type)0,
                                  (mpnum_blockscale_rule)7);
}
MPNUM_FUNC int mpnum_is_mx_rule_(mpnum_blockscale_rule rule) {
  return (int)rule >= (int)MPNUM_BLOCKSCALE_FLOOR &&
         (int)rule <= (int)MPNUM_BLOCKSCALE_RCEIL;
}
/* MX formats with 1x32 blocks: elements e4m3, e5m2, e3m2 and e2m3 (dense), e2m1; or
 * MXINT8. rule: FLOOR, CEIL, EVEN or RCEIL. For another type or rule the format is
 * invalid: every call refuses it, and mpnum_blockscale_validate names `element` or
 * `rule`. */
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_mx(mpnum_type element,
                                                       mpnum_blockscale_rule rule) {
  const int bits = element == MPNUM_TYPE_E2M1                                 ? 4
                   : element == MPNUM_TYPE_E3M2 || element == MPNUM_TYPE_E2M3 ? 6
                   : element == MPNUM_TYPE_E4M3 || element == MPNUM_TYPE_E5M2 ? 8
                                                                              : 0;
  if (bits == 0) return mpnum_blockscale_none_(mpnum_format_of(MPNUM_TYPE_F64), 0);
  if (!mpnum_is_mx_rule_(rule))
    return mpnum_blockscale_none_(mpnum_format_of(element), bits);
  return mpnum_blockscale_format_(mpnum_format_of(element), bits, 1, 32, MPNUM_TYPE_E8M0,
                                  rule);
}
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_mx_int8(mpnum_blockscale_rule rule) {
  mpnum_blockscale_format format = mpnum_blockscale_format_(
      mpnum_format_of(MPNUM_TYPE_F64), 8, 1, 32, MPNUM_TYPE_E8M0, rule);
  if (!mpnum_is_mx_rule_(rule)) format = mpnum_blockscale_none_(format.element, 8);
  format.is_int8 = 1;
  return format;
}
/* rows: those of a block, 1 or the number of its columns. */
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_nvfp4_(size_t rows) {
  return mpnum_blockscale_format_(mpnum_format_of(MPNUM_TYPE_E2M1), 4, rows, 16,
                                  MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_TWO_LEVEL);
}
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_int8_(size_t rows) {
  mpnum_blockscale_format format = mpnum_blockscale_format_(
      mpnum_format_of(MPNUM_TYPE_F64), 8, rows, 0, MPNUM_TYPE_F32, MPNUM_BLOCKSCALE_AMAX);
  format.is_int8 = 1;
  return format;
}
/* NVFP4: e2m1 in blocks of 1x16, or 16x16. With scale_type UE5M3, of 2^-17 to 114688,
 * most tensors need no scale of their own: S is 1. */
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_nvfp4_1x16(void) {
  return mpnum_blockscale_nvfp4_(1);
}
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_nvfp4_16x16(void) {
  return mpnum_blockscale_nvfp4_(16);
}
/* A type of 8 bits with a sign, or fewer in bytes, in blocks of any shape, each with amax
 * / max as a float: a head of a token, as caches of keys and values have it, is 1 x the
 * size of a head. */
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_amax(mpnum_type element, size_t rows,
                                                         size_t columns) {
  return mpnum_blockscale_format_(mpnum_format_of(element), 8, rows, columns,
                                  MPNUM_TYPE_F32, MPNUM_BLOCKSCALE_AMAX);
}
/* DeepSeek's e4m3 in blocks of 1x128 (activations) or 128x128 (weights). */
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_fp8_1x128(void) {
  return mpnum_blockscale_amax(MPNUM_TYPE_E4M3, 1, 128);
}
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_fp8_128x128(void) {
  return mpnum_blockscale_amax(MPNUM_TYPE_E4M3, 128, 128);
}
/* Symmetric int8 with a scale for each row, or for the tensor. */
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_int8_row(void) {
  return mpnum_blockscale_int8_(1);
}
MPNUM_FUNC mpnum_blockscale_format mpnum_blockscale_int8_tensor(void) {
  return mpnum_blockscale_int8_(0);
}
/* The same format with transposed blocks: 1x32 becomes 32x1. */
MPNUM_FUNC mpnum_blockscale_format
mpnum_blockscale_transposed(mpnum_blockscale_format format) {
  const size_t rows = format.rows;
  format.rows = format.columns;
  format.columns = rows;
  return format;
}

/* The largest value that an element holds at a scale of 1, as the bits of a float. */
MPNUM_FUNC uint32_t mpnum_blockscale_max_(const mpnum_blockscale_format *format) {
  if (format->is_int8) /* 127, 127 / 64 */
    return format->scale_type == MPNUM_TYPE_E8M0 ? 0x3ffe0000u : 0x42fe0000u;
  return mpnum_decode_finite_(format->element, format->element.max_code);
}

/* Whether scales of a type are under one of the tensor. */
MPNUM_FUNC int mpnum_is_two_level_type_(mpnum_type scale_type) {
  return scale_type == MPNUM_TYPE_E4M3 || scale_type == MPNUM_TYPE_UE4M3 ||
         scale_type == MPNUM_TYPE_UE5M3;
}
MPNUM_FUNC mpnum_status mpnum_blockscale_validate_(const mpnum_blockscale_format *format,
                                                   const char **field) {
  const mpnum_format element = format->element;
  const int width = element.sign_bits + element.exponent_bits + element.mantissa_bits;
  const int rule = (int)format->rule, bits = format->element_bits;
  const int is_mx = rule >= MPNUM_BLOCKSCALE_FLOOR && rule <= MPNUM_BLOCKSCALE_RCEIL;
  const int is_two_level = rule == MPNUM_BLOCKSCALE_TWO_LEVEL;
  const int has_scale_type = is_mx          ? format->scale_type == MPNUM_TYPE_E8M0
                             : is_two_level ? mpnum_is_two_level_type_(format->scale_type)
                                            : format->scale_type == MPNUM_TYPE_F32;
  const uint32_t floor_bits = mpnum_bits_f32(format->amax_floor);
  const char *wrong = 0;
  if (!format->is_int8 &&
      (!element.max_code || width > 8 || !element.has_zero || !element.sign_bits ||
       element.bias + element.mantissa_bits > 100 ||
       mpnum_decode_finite_(element, element.max_code) < 0x3f800000u ||
       mpnum_decode_finite_(element, element.max_code) > 0x5f000000u)) {
    wrong = "element"; /* max from 1 to 2^63 */
  } else if (format->is_int8 != 0 && (format->is_int8 != 1 || is_two_level)) {
    wrong = "is_int8";
  } else if (bits != 8 && (format->is_int8 || (bits != 6 && bits != 4) || width > bits)) {
    wrong = "element_bits";
  } else if (bits != 8 && format->columns != 1 && format->columns % 4 != 0) {
    wrong = "columns"; /* rows of a block begin at whole bytes */
  } else if (rule < MPNUM_BLOCKSCALE_FLOOR || rule > MPNUM_BLOCKSCALE_AMAX_POW2) {
    wrong = "rule";
  } else if (!has_scale_type) {
    wrong = "scale_type";
  } else if (format->policy != MPNUM_BLOCKSCALE_PROPAGATE &&
             format->policy != MPNUM_BLOCKSCALE_ERROR) {
    wrong = "policy";
  } else if (format->rounding != MPNUM_ROUND_NEAREST_EVEN &&
             (!mpnum_is_stochastic_(format->rounding) || format->is_int8)) {
    wrong = "rounding";
  } else if (floor_bits >= 0x7f800000u || (floor_bits && (is_mx || is_two_level))) {
    wrong = "amax_floor";
  }
  if (wrong && field) *field = wrong;
  return wrong ? MPNUM_ERROR_ARGUMENT : MPNUM_OK;
}
/* Checks a format. Returns MPNUM_OK, MPNUM_ERROR_NULL if format is NULL, or
 * MPNUM_ERROR_ARGUMENT; unless field is NULL, *field then names the first field that is
 * wrong or does not fit the fields before it. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status
mpnum_blockscale_validate(const mpnum_blockscale_format *format, const char **field) {
  return format ? mpnum_blockscale_validate_(format, field) : MPNUM_ERROR_NULL;
}

/* The number of blocks in n rows or columns; block: their size, 0 for all of n. */
MPNUM_INLINE size_t mpnum_blocks_along_(size_t n, size_t block) {
  return block == 0 ? n != 0 : n / block + (n % block != 0);
}
/* The smallest number of dense codes that fills whole bytes. */
MPNUM_INLINE size_t mpnum_blockscale_group_(const mpnum_blockscale_format *format) {
  return format->element_bits == 4 ? 2 : format->element_bits == 6 ? 4 : 1;
}
/* mpnum_blockscale_count: the number of blocks of a matrix, and so of its scales.
 * mpnum_blockscale_code_bytes: the bytes of its codes with contiguous rows of whole
 * bytes. */
MPNUM_FUNC size_t mpnum_blockscale_count(const mpnum_blockscale_format *format,
                                         size_t rows, size_t columns) {
  return mpnum_blocks_along_(rows, format->rows) *
         mpnum_blocks_along_(columns, format->columns);
}
MPNUM_FUNC size_t mpnum_blockscale_code_bytes(const mpnum_blockscale_format *format,
                                              size_t rows, size_t columns) {
  const size_t group = mpnum_blockscale_group_(format);
  const size_t stride = (columns + group - 1) / group * group;
  return rows * (stride / group) * (group * (size_t)format->element_bits / 8);
}
/* Layouts of swizzled scales. OF_ROWS: each at its row and column of blocks; TURNED: row
 * and column exchanged, as the operand is the transposed matrix; OF_SQUARES: the scale of
 * a square is repeated for each of its rows. */
typedef enum mpnum_scale_layout_ {
  MPNUM_SCALES_REFUSED_,
  MPNUM_SCALES_OF_ROWS_,
  MPNUM_SCALES_TURNED_,
  MPNUM_SCALES_OF_SQUARES_
} mpnum_scale_layout_;
MPNUM_FUNC mpnum_scale_layout_
mpnum_scale_layout_of_(const mpnum_blockscale_format *format) {
  const size_t rows = format->rows, columns = format->columns;
  const size_t edge =
      format->scale_type == MPNUM_TYPE_E8M0 ? 32
      : format->scale_type == MPNUM_TYPE_E4M3 || format->scale_type == MPNUM_TYPE_UE4M3
          ? 16
          : 0;
  if (edge == 0 || format->is_int8) return MPNUM_SCALES_REFUSED_;
  if (rows == 1 && columns == edge) return MPNUM_SCALES_OF_ROWS_;
  if (rows == edge && columns == 1) return MPNUM_SCALES_TURNED_;
  return edge == 16 && rows == edge && columns == edge ? MPNUM_SCALES_OF_SQUARES_
                                                       : MPNUM_SCALES_REFUSED_;
}
/* The scales of a swizzled layout without padding: size[0] rows of size[1] blocks. */
MPNUM_FUNC void mpnum_swizzled_size_(const mpnum_blockscale_format *format,
                                     size_t size[2], size_t rows, size_t columns) {
  const int is_turned = mpnum_scale_layout_of_(format) == MPNUM_SCALES_TURNED_;
  size[0] = is_turned ? columns : rows;
  size[1] = is_turned ? mpnum_blocks_along_(rows, format->rows)
                      : mpnum_blocks_along_(columns, format->columns);
}
/* The bytes of the scales of a matrix. Swizzled scales are those of the operand as it is
 * multiplied, in tiles of 512 bytes, including padding: with 1x32 and 1x16 blocks of the
 * matrix; with 32x1 and 16x1 blocks of the transposed matrix; with 16x16 blocks of the
 * matrix, the scale of a square repeated for each of its rows. Returns 0 for swizzled
 * scales of other blocks, which no hardware multiplies: they are refused. */
MPNUM_FUNC size_t mpnum_blockscale_scale_bytes(const mpnum_blockscale_format *format,
                                               size_t rows, size_t columns,
                                               int is_swizzled) {
  size_t size[2] = {0, 0};
  if (!is_swizzled)
    return mpnum_blockscale_count(format, rows, columns) *
           (format->scale_type == MPNUM_TYPE_F32 ? 4 : 1);
  if (mpnum_scale_layout_of_(format) == MPNUM_SCALES_REFUSED_) return 0;
  mpnum_swizzled_size_(format, size, rows, columns);
  return (size[0] + 127) / 128 * 128 * ((size[1] + 3) / 4 * 4);
}
# if MPNUM_HAS_ARRAYS_
/* Checks the codes and scales of a matrix; extent: the bytes that each takes. */
MPNUM_HOST_ONCE_ mpnum_status mpnum_codes_extent_(const mpnum_blockscale_format *format,
                                                  const mpnum_blockscaled *codes,
                                                  size_t rows, size_t columns,
                                                  size_t extent[2]) {
  const uint32_t scale = mpnum_bits_f32(codes->scale);
  if (!format || !codes->codes || !codes->scale_inv) return MPNUM_ERROR_NULL;
  if (mpnum_blockscale_validate(format, 0) != MPNUM_OK || (codes->is_swizzled & ~1) ||
      (codes->is_swizzled && mpnum_scale_layout_of_(format) == MPNUM_SCALES_REFUSED_) ||
      (format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL && scale - 1 >= 0x7f7fffffu))
    return MPNUM_ERROR_ARGUMENT; /* a scale of 0, Inf, NaN, or negative */
  if (codes->stride < columns ||
      (rows > 1 && codes->stride % mpnum_blockscale_group_(format) != 0))
    return MPNUM_ERROR_STRIDE;
  extent[0] = mpnum_extent_(rows, columns, codes->stride, format->element_bits);
  if (!extent[0]) return MPNUM_ERROR_SHAPE;
  extent[1] = mpnum_blockscale_scale_bytes(format, rows, columns, codes->is_swizzled);
  return codes->scale_inv_bytes < extent[1] ? MPNUM_ERROR_RANGE : MPNUM_OK;
}
# endif
/* The index of a scale in the layout that cuBLASLt reads: tiles of 128 rows and 4
 * columns, 512 bytes each, stored row by row. row: row of blocks; block: number of the
 * block in that row; columns: blocks in a row, which the function rounds up to a multiple
 * of 4. */
MPNUM_INLINE size_t mpnum_scale_place(size_t row, size_t block, size_t columns) {
  const size_t tile = row / 128 * ((columns + 3) / 4) + block / 4;
  return tile * 512 + row % 32 * 16 + row / 32 % 4 * 4 + block % 4;
}

/* The quotient and the product of two magnitudes, as the bits of floats, rounded once to
 * nearest. Hosts compute in integers, as the caller's environment may round and flush
 * otherwise. */
MPNUM_MATH_ uint32_t mpnum_block_quotient_(uint32_t a, uint32_t b) {
# if MPNUM_ON_DEVICE_
  return mpnum_bits_f32(
      mpnum_div_scalar_(mpnum_from_bits_f32(a), mpnum_from_bits_f32(b)));
# else
  /* Of normal numbers 26 or 27 bits, and whether there is more. */
  const uint64_t above = (uint64_t)((a & 0x007fffffu) | 0x00800000u) << 26;
  const uint32_t below = (b & 0x007fffffu) | 0x00800000u;
  const uint32_t field = (a >> 23) - (b >> 23) + 127;
  const uint32_t bits = (uint32_t)(above / below), is_less = 1 - (bits >> 26);
  const uint32_t exact = bits << is_less | (above % below != 0); /* from 2^26 on */
  const uint32_t rounded = (exact >> 3) + ((exact & 7) + ((exact >> 3) & 1) > 4);
  if (a - 0x00800000u < 0x7f000000u && b - 0x00800000u < 0x7f000000u && field - 2 < 252)
    return ((field - is_less) << 23) + rounded - 0x00800000u;
  return mpnum_bits_f32(
      mpnum_wide_rounded_f32_(mpnum_wide_div_(mpnum_wide_f32_(a), mpnum_wide_f32_(b))));
# endif
}
MPNUM_MATH_ uint32_t mpnum_block_product_(uint32_t a, uint32_t b) {
  if (a == 0 || b == 0) return 0;
  return mpnum_bits_f32(
      mpnum_wide_rounded_f32_(mpnum_wide_mul_(mpnum_wide_f32_(a), mpnum_wide_f32_(b))));
}

/* The smaller of largest / amax, of bits, and FLT_MAX; 1 if amax is 0, Inf or NaN. */
MPNUM_MATH_ float mpnum_two_level_scale_(uint32_t largest, float amax) {
  const uint32_t bits = mpnum_bits_f32(amax) & 0x7fffffffu;
  uint32_t scale = 0x3f800000u;
  if (bits != 0 && bits < 0x7f800000u) scale = mpnum_block_quotient_(largest, bits);
  return mpnum_from_bits_f32(scale > 0x7f7fffffu ? 0x7f7fffffu : scale);
}
/* S of NVFP4 for the largest finite magnitude of a tensor: the smaller of 448 * 6 / amax
 * and FLT_MAX; 1 if amax is 0, Inf or NaN. */
MPNUM_MATH_ float mpnum_nvfp4_scale(float amax) {
  return mpnum_two_level_scale_(0x45280000u /* 2688 */, amax);
}

/* The constants of the rule of a valid format. scale: S. */
MPNUM_MATH_ mpnum_block_rule_ mpnum_block_rule_of_(const mpnum_blockscale_format *format,
                                                   float scale) {
  const uint32_t max = mpnum_blockscale_max_(format);
  const int mantissa_bits = format->is_int8 ? 6 : format->element.mantissa_bits;
  mpnum_block_rule_ rule;
  rule.kind = MPNUM_BLOCK_POWER_;
  rule.divides = 0;
  rule.added = rule.least = 0;
  rule.emax = (max >> 23) - 127;
  rule.max = max;
  rule.scale = mpnum_bits_f32(scale);
  rule.max_inverse = rule.scale_per_max = 0; /* quotients are where a rule needs them */
  rule.floor = mpnum_bits_f32(format->amax_floor);
  rule.nan_code = 0xff;
  rule.wider = format->scale_type == MPNUM_TYPE_UE5M3 ? 8u << 23 : 0; /* 15 - 7 */
  switch (format->rule) {
  case MPNUM_BLOCKSCALE_FLOOR: break;
  case MPNUM_BLOCKSCALE_CEIL:
    rule.added = 0x007fffffu;
    rule.least = 0x00400000u;
    break;
  case MPNUM_BLOCKSCALE_EVEN: rule.added = (uint32_t)1 << (22 - mantissa_bits); break;
  case MPNUM_BLOCKSCALE_RCEIL:
    rule.kind = MPNUM_BLOCK_PRODUCT_;
    rule.max_inverse = mpnum_block_quotient_(0x3f800000u, max);
    rule.added = 0x007fffffu;
    rule.least = 0x00400000u;
    rule.emax = 0;
    break;
  case MPNUM_BLOCKSCALE_TWO_LEVEL:
    rule.kind = MPNUM_BLOCK_TWO_LEVEL_;
    rule.scale_per_max = mpnum_block_quotient_(rule.scale, max);
    if (!rule.wider) rule.nan_code = 0x7f;
    break;
  case MPNUM_BLOCKSCALE_AMAX:
  case MPNUM_BLOCKSCALE_AMAX_POW2:
    rule.kind = format->rule == MPNUM_BLOCKSCALE_AMAX ? MPNUM_BLOCK_AMAX_
                                                      : MPNUM_BLOCK_AMAX_POW2_;
    rule.divides = 1;
    rule.nan_code = 0x7fffffffu;
    break;
  }
  return rule;
}
/* The stored scale of a block with this amax: a code of the type of scales, or the bits
 * of a float. It is NaN if amax is Inf or NaN or, with TWO_LEVEL, if scale is not above 0
 * and finite. scale: S, which only TWO_LEVEL uses. The bits are the same in every
 * rounding mode. */
MPNUM_MATH_ uint32_t mpnum_blockscale_scale(const mpnum_blockscale_format *format,
                                            float amax, float scale) {
  const uint32_t bits = mpnum_bits_f32(amax) & 0x7fffffffu;
  const int is_two_level = format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL;
  const int is_scale = mpnum_bits_f32(scale) - 1 < 0x7f7fffffu;
  mpnum_block_rule_ rule = mpnum_block_rule_of_(
      format, mpnum_from_bits_f32(is_two_level && is_scale ? mpnum_bits_f32(scale)
                                                           : 0x3f800000u));
  uint32_t x = bits;
  if (bits >= 0x7f800000u || (is_two_level && !is_scale)) return rule.nan_code;
  if (is_two_level)
    return mpnum_encode(
        mpnum_format_of(rule.wider ? MPNUM_TYPE_UE5M3 : MPNUM_TYPE_UE4M3),
        mpnum_from_bits_f32(mpnum_block_product_(bits, rule.scale_per_max)),
        MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
  if (rule.divides) {
    if (x < rule.floor) x = rule.floor;
    if (x == 0) return 0x3f800000u;
    x = mpnum_block_quotient_(x, rule.max);
    if (rule.kind == MPNUM_BLOCK_AMAX_) return x ? x : 1;
    x = (x + 0x007fffffu) & 0x7f800000u;
    return x < 0x00800000u ? 0x00800000u : x > 0x7f000000u ? 0x7f000000u : x;
  }
  if (rule.kind == MPNUM_BLOCK_PRODUCT_) x = mpnum_block_product_(x, rule.max_inverse);
  rule.kind = MPNUM_BLOCK_POWER_; /* integer operations alone */
  return mpnum_block_scale_of_scalar_(rule, x).code;
}

/* The worst that a format does to blocks whose scales are neither subnormal nor the
 * largest or smallest scale. The rounding of scales that are floats is not included. */
typedef struct mpnum_blockscale_errors {
  float exceeding_share; /* share of the amaxes of a binade (TWO_LEVEL: of the scales)
                            that come past the largest element */
  float clip;            /* the most that such an amax loses, relative to itself */
  float error;           /* largest of any element, relative to the block's amax */
} mpnum_blockscale_errors;

/* A ratio, and the larger of two ratios. */
typedef struct mpnum_block_ratio_ {
  uint32_t above, below;
} mpnum_block_ratio_;
MPNUM_FUNC mpnum_block_ratio_ mpnum_block_ratio_above_(mpnum_block_ratio_ a,
                                                       uint32_t above, uint32_t below) {
  const mpnum_block_ratio_ b = {above, below};
  return (uint64_t)a.above * b.below < (uint64_t)b.above * a.below ? b : a;
}
MPNUM_MATH_ float mpnum_block_ratio_value_(mpnum_block_ratio_ a) {
  if (a.above == 0) return 0;
  return mpnum_wide_rounded_f32_(
      mpnum_wide_div_(mpnum_wide_int_((int)a.above), mpnum_wide_int_((int)a.below)));
}
/* The worst-case errors of a valid format, computed in integers: 576 is the distance
 * between the largest elements, `top` the power of two below them, and amax / scale lies
 * between least and most. */
MPNUM_MATH_ mpnum_blockscale_errors
mpnum_blockscale_worst(const mpnum_blockscale_format *format) {
  const uint32_t bits = mpnum_blockscale_max_(format);
  const int mantissa_bits = format->is_int8 ? 6 : format->element.mantissa_bits;
  const int above_subnormals =
      format->is_int8 ? -1 : (int)(bits >> 23) - 128 + format->element.bias;
  const uint32_t top = (uint32_t)576 << mantissa_bits;
  const uint32_t last = (((bits & 0x7fffffu) | 0x800000u) >> (23 - mantissa_bits)) * 576;
  const int is_stochastic = mpnum_is_stochastic_(format->rounding);
  uint32_t most = last, least = last / 2;
  mpnum_block_ratio_ share = {0, 1}, clip = {0, 1}, error = {0, 1};
  mpnum_blockscale_errors worst;
  int k = 0;
  switch (format->rule) {
  case MPNUM_BLOCKSCALE_FLOOR:
    most = 2 * top;
    least = top;
    break;
  case MPNUM_BLOCKSCALE_CEIL:
    most = top;
    least = top / 2;
    break;
  case MPNUM_BLOCKSCALE_EVEN: /* amax rounded to mantissa_bits */
    most = 2 * top - 288;
    least = top - 144;
    break;
  case MPNUM_BLOCKSCALE_TWO_LEVEL: /* scales of 8 and of 9 may both stand for 8.5 */
    most = last / 16 * 17;
    least = last / 18 * 17;
    break;
  case MPNUM_BLOCKSCALE_AMAX: least = last; break;
  default: break;
  }
  if (most > last) {
    share = mpnum_block_ratio_above_(share, most - last, top);
    clip = mpnum_block_ratio_above_(clip, most - last, most);
    error = clip;
  }
  if (format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL)
    share = mpnum_block_ratio_above_(share, 1, 2); /* half of each step */
  for (; k < 2; ++k) {                             /* the two largest binades */
    const int is_linear = above_subnormals < k;
    const uint32_t step = is_linear ? 576u : 576u >> k;
    const uint32_t lost = is_stochastic ? step : step / 2;
    const uint32_t at =
        is_linear ? lost : (top >> k) + (is_stochastic ? 0 : lost); /* the smallest */
    if (at <= most && at + lost <= last)
      error = mpnum_block_ratio_above_(error, lost, at > least ? at : least);
  }
  worst.exceeding_share = mpnum_block_ratio_value_(share);
  worst.clip = mpnum_block_ratio_value_(clip);
  worst.error = mpnum_block_ratio_value_(error);
  return worst;
}

#endif
MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* What softmax.h and cross_entropy.h are made of: rows of any type as tiles of floats,
 * and the steps over a tile. */
#ifndef MPNUM_DETAIL_SIMD_ROWS_LOOPS_H
#define MPNUM_DETAIL_SIMD_ROWS_LOOPS_H

#include "func_loops.h"
#include "reduce_loops.h"
#include "../../rows.h"

/* (x - max) scale; where scale is 0, 0, but -Inf stays so. */
MPNUM_REAL_ float mpnum_exponent_(float x, float max, float scale) {
  const int is_flat = mpnum_is_zero_u31_(mpnum_bits_f32(scale) & 0x7fffffffu);
  if (is_flat && mpnum_bits_f32(x) != 0xff800000u) return mpnum_f32_of_scalar_(0);
  if (is_flat) return x;
  return mpnum_mul_scalar_(mpnum_sub_scalar_(x, max), scale);
}
/* One NaN for all, as machines make different ones. */
MPNUM_REAL_ float mpnum_canonical_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  return mpnum_f32_of_scalar_((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits);
}

/* A word that orders as floats do, -0 below +0; NaNs are at both ends. */
MPNUM_REAL_ uint32_t mpnum_order_(uint32_t bits) {
  return bits ^ ((0u - (bits >> 31)) | 0x80000000u);
}

#if MPNUM_HAS_ARRAYS

/* Lanes in which the floats of a tile are summed: element i into lane i % 64, the lanes
 * then by halves. */
# define MPNUM_SUM_LANES_ 64

MPNUM_HOST_INLINE_ size_t mpnum_tile_size_(size_t n, size_t first) {
  return n - first < MPNUM_TILE_ ? n - first : MPNUM_TILE_;
}

MPNUM_HOST_INLINE_ float mpnum_float_at_(const float *src, size_t i) {
  return mpnum_from_bits_f32((uint32_t)mpnum_element_(32, (const uint8_t *)src, i));
}
MPNUM_HOST_INLINE_ void mpnum_set_float_(float *dst, size_t i, float x) {
  mpnum_set_element_(32, (uint8_t *)dst, i, mpnum_bits_f32(x));
}

/* row_extremes adds floats to these: the largest, as a word that orders as floats do, and
 * the largest magnitude, above Inf's if one is NaN. */
typedef struct mpnum_extremes_ {
  uint32_t key, magnitude;
} mpnum_extremes_;
MPNUM_HOST_INLINE_ void mpnum_add_extreme_(mpnum_extremes_ *extremes, float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  const uint32_t key = mpnum_order_(bits);
  if (key > extremes->key) extremes->key = key;
  if ((bits & 0x7fffffffu) > extremes->magnitude)
    extremes->magnitude = bits & 0x7fffffffu;
}
MPNUM_INLINE float mpnum_float_of_key_(uint32_t key) {
  return mpnum_from_bits_f32(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu));
}

/* The sum of lanes, by halves. */
MPNUM_HOST float mpnum_folded_(float *lanes, size_t count) {
  size_t width = count / 2, i = 0;
  for (; width; width /= 2)
    for (i = 0; i < width; ++i)
      lanes[i] = mpnum_add_scalar_(lanes[i], lanes[width + i]);
  return lanes[0];
}

/* row_map: of each float x a; (x - a) b - c; or (x a - b) c. */
typedef enum mpnum_map_kind_ {
  MPNUM_MAP_SCALED_,
  MPNUM_MAP_LOG_,
  MPNUM_MAP_GRADIENT_
} mpnum_map_kind_;
typedef struct mpnum_row_map_ {
  mpnum_map_kind_ kind;
  float a, b, c;
} mpnum_row_map_;
MPNUM_INLINE mpnum_row_map_ mpnum_row_map_of_(mpnum_map_kind_ kind, float a, float b,
                                              float c) {
  const mpnum_row_map_ map = {kind, a, b, c};
  return map;
}
MPNUM_HOST_INLINE_ float mpnum_mapped_(mpnum_row_map_ map, float x) {
  if (map.kind == MPNUM_MAP_SCALED_) return mpnum_mul_scalar_(x, map.a);
  if (map.kind == MPNUM_MAP_LOG_)
    return mpnum_sub_scalar_(mpnum_exponent_(x, map.a, map.b), map.c);
  return mpnum_mul_scalar_(mpnum_sub_scalar_(mpnum_mul_scalar_(x, map.a), map.b), map.c);
}

# define MPNUM_EACH_ISA_ "rows.inc"
# include "each_isa.inc"

MPNUM_HOST void mpnum_row_extremes_(mpnum_extremes_ *extremes, const float *src,
                                    size_t n) {
  MPNUM_CALL_(row_extremes, (extremes, src, n));
}
/* e^((x - max) scale) of each float of a tile, and their sum; dst may be NULL. */
MPNUM_HOST float mpnum_row_exp_(float *dst, const float *src, size_t n, float max,
                                float scale) {
  float sum = 0;
  MPNUM_CALL_(row_exp, (&sum, dst, src, n, max, scale));
  return sum;
}
MPNUM_HOST void mpnum_row_mapped_(mpnum_row_map_ map, float *dst, const float *src,
                                  size_t n) {
  MPNUM_CALL_(row_map, (map, dst, src, n));
}

MPNUM_INLINE int mpnum_has_rows_(mpnum_type type) {
  return type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16 ||
         type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E4M3;
}
/* Element i of an array. */
MPNUM_HOST const uint8_t *mpnum_row_at_(mpnum_type type, const void *src, size_t i) {
  return (const uint8_t *)src + i * (size_t)(mpnum_type_bits_(type) / 8);
}
MPNUM_HOST uint8_t *mpnum_row_to_(mpnum_type type, void *dst, size_t i) {
  return (uint8_t *)dst + i * (size_t)(mpnum_type_bits_(type) / 8);
}
MPNUM_HOST void mpnum_row_fill_(mpnum_type type, void *dst, size_t n, float x) {
  float tile[64];
  size_t i = 0;
  for (; i < 64; ++i)
    tile[i] = x;
  for (i = 0; i < n; i += 64)
    mpnum_floats_to_(type, mpnum_row_to_(type, dst, i), tile, n - i < 64 ? n - i : 64);
}

/* An element of a view. */
MPNUM_HOST const uint8_t *mpnum_rows_at_(mpnum_const_rows src, size_t row,
                                         size_t column) {
  return mpnum_row_at_(src.type, src.data, row * src.stride + column);
}
MPNUM_HOST uint8_t *mpnum_rows_to_(mpnum_rows dst, size_t row, size_t column) {
  return mpnum_row_to_(dst.type, dst.data, row * dst.stride + column);
}
/* All elements of a row from the first one on. */
MPNUM_HOST void mpnum_rows_fill_(mpnum_rows dst, size_t row, size_t first, float x) {
  if (first < dst.columns)
    mpnum_row_fill_(dst.type, mpnum_rows_to_(dst, row, first), dst.columns - first, x);
}

MPNUM_HOST mpnum_status mpnum_rows_check_(mpnum_rows dst, mpnum_const_rows src) {
  const int is_in_place = dst.data && dst.data == src.data;
  if (!mpnum_has_rows_(dst.type) || !mpnum_has_rows_(src.type))
    return MPNUM_ERROR_ARGUMENT;
  if (dst.rows != src.rows || dst.columns != src.columns || dst.stride < dst.columns)
    return MPNUM_ERROR_ARGUMENT;
  if (is_in_place && (dst.type != src.type || dst.stride != src.stride))
    return MPNUM_ERROR_ARGUMENT;
  return MPNUM_OK;
}
MPNUM_HOST int mpnum_overlap_(const void *a, size_t a_bytes, const void *b,
                              size_t b_bytes) {
  const size_t x = (size_t)a, y = (size_t)b;
  return x < y + b_bytes && y < x + a_bytes;
}
/* The scale of a softmax, or an epsilon: finite, 0 and up. */
MPNUM_HOST int mpnum_is_factor_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  return bits < 0x7f800000u || bits == 0x80000000u;
}

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* What codes and scales of block formats stand for, by the slow reference and by hand. */
#ifndef MPNUM_TESTS_BLOCK_VALUES_H
#define MPNUM_TESTS_BLOCK_VALUES_H

#include "../harness/linked.h"
#include "../reference/conversion_inputs.h"
#include "../reference/reference.h"

#include <mpnum/blocks/measure.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 300, COLUMNS_MOST = 700, PLACES = ROWS_MOST * COLUMNS_MOST };

/* A block format, and the name of its elements; NULL: int8. */
typedef struct block_case {
  const char *name, *element;
  mpnum_blockscale_format format;
  int is_swizzled;
} block_case;

typedef struct block_matrix {
  block_case about;
  size_t rows, columns;
  uint8_t codes[PLACES];
  uint8_t scales[4 * PLACES];
  mpnum_blockscaled view;
} block_matrix;

enum { BLOCK_CASES = 17 };
static inline block_case block_case_of(int k) {
  static const char *const names[] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
  static const mpnum_type types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                     MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  block_case made = {"mx", "e4m3",
                     mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), 0};
  if (k < 5) {
    made.element = names[k];
    made.format = mpnum_blockscale_mx(types[k], MPNUM_BLOCKSCALE_RCEIL);
    made.is_swizzled = k == 1;
  } else if (k < 9) {
    made.name = k == 5   ? "mx floor"
                : k == 6 ? "mx even"
                : k == 7 ? "mx ceil"
                         : "mx square";
    made.element = "e2m1";
    made.format =
        mpnum_blockscale_mx(MPNUM_TYPE_E2M1, (mpnum_blockscale_rule)(k == 5   ? 0
                                                                     : k == 6 ? 2
                                                                              : 1));
    if (k == 8) made.format.rows = 32;
  } else if (k < 11) {
    made.name = k == 9 ? "mx int8" : "mx int8 floor";
    made.element = NULL;
    made.format =
        mpnum_blockscale_mx_int8(k == 9 ? MPNUM_BLOCKSCALE_EVEN : MPNUM_BLOCKSCALE_FLOOR);
  } else if (k < 13) {
    made.name = k == 11 ? "nvfp4" : "nvfp4 16x16";
    made.element = "e2m1";
    made.format =
        k == 11 ? mpnum_blockscale_nvfp4_1x16() : mpnum_blockscale_nvfp4_16x16();
    made.is_swizzled = k == 11;
  } else if (k < 15) {
    made.name = k == 13 ? "deepseek" : "deepseek 128x128";
    made.format = k == 13 ? mpnum_blockscale_fp8_1x128() : mpnum_blockscale_fp8_128x128();
    if (k == 14) made.format.rule = MPNUM_BLOCKSCALE_AMAX_POW2;
  } else {
    made.name = k == 15 ? "int8 rows" : "int8 tensor";
    made.element = NULL;
    made.format = k == 15 ? mpnum_blockscale_int8_row() : mpnum_blockscale_int8_tensor();
  }
  return made;
}

static inline double double_of(uint32_t bits) {
  return mpnum_from_bits_f64(ref_widen(bits));
}
static inline double power_of_two(int exponent) {
  return mpnum_from_bits_f64((uint64_t)(1023 + exponent) << 52);
}

/* The element at a place, without its scale. */
static inline double element_value(const block_matrix *matrix, size_t row,
                                   size_t column) {
  const block_case *about = &matrix->about;
  const int bits = about->format.element_bits;
  const size_t first = (row * matrix->view.stride + column) * (size_t)bits;
  uint32_t code = matrix->codes[first / 8];
  if (first / 8 + 1 < PLACES) code |= (uint32_t)matrix->codes[first / 8 + 1] << 8;
  code = code >> first % 8 & ((1u << bits) - 1);
  if (!about->element)
    return (code < 128 ? (double)code : (double)code - 256) /
           (about->format.scale_type == MPNUM_TYPE_E8M0 ? 64 : 1);
  return mpnum_from_bits_f64(ref_decode(ref_format_named(about->element), code));
}
static inline size_t blocks_of(size_t n, size_t block) {
  return block == 0 ? 1 : (n + block - 1) / block;
}
/* What is stored for the block of a place. */
static inline double scale_value(const block_matrix *matrix, size_t row, size_t column) {
  const mpnum_blockscale_format *format = &matrix->about.format;
  const size_t across = blocks_of(matrix->columns, format->columns);
  const size_t down = format->rows ? row / format->rows : 0;
  const size_t along = format->columns ? column / format->columns : 0;
  const size_t place = matrix->about.is_swizzled ? mpnum_scale_place(down, along, across)
                                                 : down * across + along;
  uint32_t bits = 0;
  if (format->scale_type == MPNUM_TYPE_F32) {
    memcpy(&bits, matrix->scales + 4 * place, 4);
    return double_of(bits);
  }
  if (format->scale_type == MPNUM_TYPE_E4M3)
    return mpnum_from_bits_f64(
        ref_decode(ref_format_named("e4m3"), matrix->scales[place]));
  if (matrix->scales[place] == 255) return mpnum_from_bits_f64((uint64_t)0x7ff8 << 48);
  return power_of_two((int)matrix->scales[place] - 127);
}

/* Quantises floats in rows of `stride`; what precedes and follows a row is left alone. */
static inline mpnum_status quantise(block_matrix *matrix, block_case about,
                                    const float *src, size_t rows, size_t columns,
                                    float scale) {
  mpnum_const_matrix view = mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns);
  matrix->about = about;
  matrix->rows = rows;
  matrix->columns = columns;
  matrix->view.codes = matrix->codes;
  matrix->view.stride = (columns + 7) / 8 * 8;
  matrix->view.scale_inv = matrix->scales;
  matrix->view.scale_inv_bytes = sizeof matrix->scales;
  matrix->view.is_swizzled = about.is_swizzled;
  matrix->view.scale = scale;
  return mpnum_quantize_blocks(&about.format, matrix->view, view, NULL, NULL);
}

/* Nearly normal numbers with outliers, whatever the state. */
static inline float random_float(uint64_t *state) {
  const uint64_t word = random_bits(state);
  const int32_t sum = (int32_t)(word & 0xfffff) + (int32_t)(word >> 20 & 0xfffff) -
                      (int32_t)(word >> 40 & 0xfffff) - 0x80000;
  const uint32_t up = (word >> 60) == 0 ? 10 : (word >> 60) < 8 ? 0 : 3;
  return (float)sum * (float)(1u << up) * 0x1p-20f;
}

#endif

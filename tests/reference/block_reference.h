/* SPDX-License-Identifier: MIT */
/* The slow reference for block formats: scales, codes, losses and values of a matrix of
 * floats, by comparing numbers instead of taking their bits apart, in integers alone.
 *
 * A matrix is dense, a word for each element: the bits of an f32, or a code. Where a rule
 * is defined by f32 operations, each is carried out by ref_multiply or ref_divide, which
 * round the exact result once; elsewhere numbers are exact and round once, by ref_encode.
 */
#ifndef MPNUM_TESTS_BLOCK_REFERENCE_H
#define MPNUM_TESTS_BLOCK_REFERENCE_H

#include "reference.h"

#include <stddef.h>

typedef enum ref_rule {
  REF_FLOOR,
  REF_CEIL,
  REF_EVEN,
  REF_RCEIL,
  REF_TWO_LEVEL,
  REF_AMAX,
  REF_AMAX_POW2,
  REF_RULES
} ref_rule;

typedef struct ref_blocks {
  ref_format element; /* of int8: even steps, 127 of them */
  int is_int8;
  ref_rule rule;
  size_t rows, columns; /* of a block; 0: those of the matrix */
  int has_f32_scale;    /* a power of two as f32 instead of E8M0 */
  int is_stochastic;
  uint32_t amax_floor; /* bits of an f32 */
  const char *scale;   /* of TWO_LEVEL: the format of scales; NULL: e4m3 */
} ref_blocks;

typedef struct ref_losses {
  uint64_t saturated, underflowed, nonfinite;
  uint32_t amax; /* bits of an f32 */
} ref_losses;

/* The format of int8 under a rule: MXINT8 has 64 steps to 1. */
ref_format ref_int8(ref_rule rule);

/* f32 bits, rounded to nearest even, subnormals kept. */
uint32_t ref_multiply(uint32_t a, uint32_t b);
uint32_t ref_divide(uint32_t a, uint32_t b);

/* S of NVFP4 for the largest magnitude of a tensor. */
uint32_t ref_tensor_scale(uint32_t amax, uint32_t element_max);
/* The scale_inv of a block from its largest magnitude, as stored. */
uint32_t ref_block_scale(const ref_blocks *blocks, uint32_t amax, uint32_t tensor_scale);
/* The f32 that a stored scale_inv stands for. */
uint32_t ref_scale_value(const ref_blocks *blocks, uint32_t scale_inv);

size_t ref_block_count(const ref_blocks *blocks, size_t rows, size_t columns);
/* A block with Inf or NaN has a NaN as its scale and as each code, the largest value
 * where the format has no NaN. random: a word for each element, or NULL. */
void ref_quantize(const ref_blocks *blocks, uint32_t *codes, uint32_t *scales,
                  const uint32_t *src, size_t rows, size_t columns, uint32_t tensor_scale,
                  const uint32_t *random, ref_losses *losses);
void ref_dequantize(const ref_blocks *blocks, uint32_t *dst, const uint32_t *codes,
                    const uint32_t *scales, size_t rows, size_t columns,
                    uint32_t tensor_scale);

#endif

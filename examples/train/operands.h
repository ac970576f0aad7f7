/* SPDX-License-Identifier: MIT */
/* What a recipe makes of the operands of matrix products: codes and scales, kept from one
 * product of a tensor to the other, and the values these stand for. */
#ifndef EXAMPLES_TRAIN_OPERANDS_H
#define EXAMPLES_TRAIN_OPERANDS_H

#include <mpnum/rows/hadamard.h>
#include <mpnum/array/scale_io.h>

#include "recipes.h"

/* One tensor as codes: for sums along rows, and down columns. */
typedef struct operand_codes {
  mpnum_blockscale_format format;
  mpnum_blockscaled data;
} operand_codes;
typedef struct operand_tensor {
  operand_codes codes[2];     /* [is_down]; blocks that are square serve both */
  mpnum_amax_history history; /* of delayed scaling */
  float *amaxes;
  float amax;      /* in this step */
  float scale_inv; /* TENSORS: of the codes */
} operand_tensor;

typedef struct operands {
  recipe how;
  const mlp *net;
  operand_tensor tensors[MLP_LAYERS][3];
  uint64_t seed, step; /* of stochastic rounding and signs */
  uint64_t draw;       /* other random words for the same step, 0 to 15 */
  uint64_t gradients, flushed,
      clipped;   /* elements, those that became 0, that saturated */
  float *turned; /* a tensor, transposed */
  uint8_t *room;
  mpnum_status status; /* the first that is not OK */
} operands;

static inline void operands_check(operands *to, mpnum_status status) {
  if (to->status == MPNUM_OK) to->status = status;
}
/* e4m3 forward, e5m2 backward. */
static inline mpnum_type operands_fp8_type(const operands *to, mlp_operand what) {
  return (mpnum_type)(what == MLP_FLOW ? to->how.fp8.backward : to->how.fp8.forward);
}

/* Gradients that saturate. Those of the first layer's sums, which are multiplied down
 * columns only, are left out here and where zeros are counted. */
static inline void operands_count(operands *to, mlp_operand what, size_t l,
                                  mpnum_quantize_losses lost, size_t n) {
  if (what != MLP_FLOW || l == 0 || to->draw) return;
  to->gradients += n;
  to->clipped += lost.saturated;
}
static inline size_t operands_zeros(const float *x, size_t n) {
  size_t zeros = 0;
  for (size_t i = 0; i < n; ++i)
    zeros += (mpnum_bits_f32(x[i]) & 0x7fffffffu) == 0;
  return zeros;
}

/* --- memory --- */

/* Rows of whole bytes, whatever the format. */
static inline size_t operands_stride(size_t columns) { return (columns + 3) / 4 * 4; }
/* The most rows and columns of a tensor, for which codes are kept. */
static inline void operands_shape(const mlp *net, int what, size_t l, size_t *rows,
                                  size_t *columns) {
  *rows = what == MLP_WEIGHTS ? net->widths[l] : net->batch;
  *columns = what == MLP_INPUTS ? net->widths[l] : net->widths[l + 1];
}
/* Cuts room for a tensor; at NULL counts it. */
static inline size_t operands_cut(operands *to, int what, size_t l, uint8_t *at) {
  const size_t history =
      to->how.scaling == RECIPE_DELAYED ? to->how.fp8.history_length * sizeof(float) : 0;
  operand_tensor *tensor = &to->tensors[l][what];
  size_t rows = 0, columns = 0, used = history;
  operands_shape(to->net, what, l, &rows, &columns);
  if (at) tensor->amaxes = (float *)(void *)at;
  for (int is_down = 0; is_down < 2; ++is_down) {
    /* Either may be transposed; of a scale, 4 bytes at most, are at least 16 codes but at
     * the ends. */
    const size_t codes = operands_stride(columns) * operands_stride(rows);
    const size_t scales = (codes / 16 + rows + columns) * sizeof(float);
    mpnum_blockscaled *data = &tensor->codes[is_down].data;
    if (at) {
      data->codes = at + used;
      data->scale_inv = at + used + codes;
      data->scale_inv_bytes = scales;
    }
    used += codes + scales;
  }
  return (used + 63) / 64 * 64;
}
/* For a network; 0 if there is not enough memory. */
static inline int operands_init(operands *to, const mlp *net, recipe how, uint64_t seed) {
  size_t size = 0, largest = 1;
  memset(to, 0, sizeof *to);
  to->how = how;
  to->net = net;
  to->seed = seed;
  for (size_t l = 0; l < net->layers; ++l)
    for (int what = 0; what < 3; ++what) {
      size_t rows = 0, columns = 0;
      operands_shape(net, what, l, &rows, &columns);
      if (rows * columns > largest) largest = rows * columns;
      size += operands_cut(to, what, l, NULL);
    }
  to->room = (uint8_t *)malloc(size);
  to->turned = (float *)malloc(largest * sizeof(float));
  if (!to->room || !to->turned) return 0;
  size = 0;
  for (size_t l = 0; l < net->layers; ++l)
    for (int what = 0; what < 3; ++what) {
      operand_tensor *tensor = &to->tensors[l][what];
      size += operands_cut(to, what, l, to->room + size);
      if (how.scaling == RECIPE_DELAYED)
        operands_check(to, mpnum_amax_history_init(
                               &tensor->history, tensor->amaxes, how.fp8.history_length,
                               mpnum_format_max(mpnum_format_of(
                                   operands_fp8_type(to, (mlp_operand)what))),
                               &to->how.fp8));
    }
  return 1;
}
static inline void operands_free(operands *to) {
  free(to->room);
  free(to->turned);
}

/* --- one scale for each tensor --- */

static inline void operands_store_tensor(operands *to, mlp_operand what, size_t l,
                                         const float *x, size_t n) {
  operand_tensor *tensor = &to->tensors[l][what];
  const mpnum_type type = operands_fp8_type(to, what);
  mpnum_quantize_losses lost = {0, 0, 0, 0};
  float scale = 1;
  if (to->how.scaling == RECIPE_CURRENT)
    scale = mpnum_scale_from_amax(mpnum_amax_f32(x, n),
                                  mpnum_format_max(mpnum_format_of(type)),
                                  &to->how.fp8.options);
  if (to->how.scaling == RECIPE_DELAYED) scale = tensor->history.scale;
  tensor->scale_inv = mpnum_scale_inv(scale);
  operands_check(to, mpnum_quantize_array(type, tensor->codes[0].data.codes,
                                          MPNUM_TYPE_F32, x, n, scale, &lost));
  tensor->amax = lost.amax; /* the one read of delayed scaling finds it, too */
  operands_count(to, what, l, lost, n);
}
static inline void operands_load_tensor(operands *to, mlp_operand what, size_t l,
                                        float *x, size_t n) {
  const operand_tensor *tensor = &to->tensors[l][what];
  operands_check(
      to, mpnum_dequantize_array(MPNUM_TYPE_F32, x, operands_fp8_type(to, what),
                                 tensor->codes[0].data.codes, n, tensor->scale_inv));
}

/* --- a scale for each block --- */

static inline void operands_turn(float *to, const float *x, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      to[j * rows + i] = x[i * columns + j];
}
/* Whether sums down columns are those of a matrix that is transposed and transformed:
 * both operands, by one orthogonal matrix, which leaves their product as it was. */
static inline int operands_is_turned(const operands *to, mlp_operand what) {
  return to->how.has_hadamard && what != MLP_WEIGHTS;
}
/* Square blocks are the same both ways. */
static inline int operands_are_one(const operands *to, mlp_operand what) {
  const mpnum_blockscale_format *format = &to->how.formats[what];
  return format->rows == format->columns;
}
static inline void operands_ready(operand_codes *codes, mpnum_blockscale_format format,
                                  const float *x, size_t n, size_t columns) {
  codes->format = format;
  codes->data.stride = operands_stride(columns);
  codes->data.scale = 0;
  if (format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL)
    codes->data.scale = mpnum_nvfp4_scale(mpnum_amax_f32(x, n));
}
static inline void operands_store_blocks(operands *to, mlp_operand what, size_t l,
                                         const float *x, size_t rows, size_t columns) {
  operand_codes *codes = to->tensors[l][what].codes;
  const mpnum_blockscale_format format = to->how.formats[what];
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, rows, columns);
  const size_t n = rows * columns;
  mpnum_quantize_losses lost = {0, 0, 0, 0}, *counted = what == MLP_FLOW ? &lost : NULL;
  /* Random words of their own for each tensor and step. */
  mpnum_quantize_options random = {to->seed, 0};
  random.offset = ((to->step * MLP_LAYERS + l) << 32) + (to->draw << 24);
  operands_ready(&codes[0], format, x, n, columns);
  if (operands_are_one(to, what)) {
    operands_check(to,
                   mpnum_quantize_blocks(&format, codes[0].data, src, &random, counted));
  } else if (!operands_is_turned(to, what)) {
    operands_ready(&codes[1], mpnum_blockscale_transposed(format), x, n, columns);
    operands_check(to, mpnum_quantize_blocks_both(&codes[0].format, codes[0].data,
                                                  &codes[1].format, codes[1].data, src,
                                                  &random, counted));
  } else {
    const mpnum_matrix turned =
        mpnum_matrix_of(MPNUM_TYPE_F32, to->turned, columns, rows);
    const mpnum_const_matrix same =
        mpnum_const_matrix_of(MPNUM_TYPE_F32, to->turned, columns, rows);
    operands_check(to,
                   mpnum_quantize_blocks(&format, codes[0].data, src, &random, counted));
    operands_turn(to->turned, x, rows, columns);
    if (rows % 16 == 0) /* the others only test, without gradients */
      operands_check(to, mpnum_hadamard_rows(turned, same, 16, to->seed));
    operands_ready(&codes[1], format, to->turned, n, rows);
    random.offset += (uint64_t)1 << 28;
    operands_check(to,
                   mpnum_quantize_blocks(&format, codes[1].data, same, &random, NULL));
  }
  operands_count(to, what, l, lost, n);
}
static inline void operands_load_blocks(operands *to, mlp_operand what, size_t l,
                                        float *x, size_t rows, size_t columns,
                                        int is_down) {
  const operand_codes *codes =
      &to->tensors[l][what].codes[is_down && !operands_are_one(to, what)];
  const int is_turned = is_down && operands_is_turned(to, what);
  mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, x, rows, columns);
  if (is_turned) dst = mpnum_matrix_of(MPNUM_TYPE_F32, to->turned, columns, rows);
  operands_check(to, mpnum_dequantize_blocks(&codes->format, dst, codes->data));
  if (is_turned) operands_turn(x, to->turned, columns, rows);
}

/* --- what a network calls, and after a step --- */

/* mlp_round's. */
static inline void operands_round(void *with, mlp_operand what, size_t l, float *x,
                                  size_t rows, size_t columns, int is_down,
                                  int is_first) {
  operands *to = (operands *)with;
  const size_t n = rows * columns;
  const int is_counted = what == MLP_FLOW && !is_down && !to->draw;
  if (is_counted) to->flushed -= operands_zeros(x, n);
  if (to->how.kind == RECIPE_TENSORS) {
    if (is_first) operands_store_tensor(to, what, l, x, n);
    operands_load_tensor(to, what, l, x, n);
  } else if (to->how.kind == RECIPE_BLOCKS) {
    if (is_first) operands_store_blocks(to, what, l, x, rows, columns);
    operands_load_blocks(to, what, l, x, rows, columns, is_down);
  }
  if (is_counted) to->flushed += operands_zeros(x, n);
}
/* mlp_round's, of a backward pass in floats with the very operands that the last forward
 * pass multiplied: the gradient of what that computed. */
static inline void operands_chain(void *with, mlp_operand what, size_t l, float *x,
                                  size_t rows, size_t columns, int is_down,
                                  int is_first) {
  operands *to = (operands *)with;
  (void)is_down;
  (void)is_first;
  if (what == MLP_FLOW) return;
  if (to->how.kind == RECIPE_TENSORS)
    operands_load_tensor(to, what, l, x, rows * columns);
  if (to->how.kind == RECIPE_BLOCKS)
    operands_load_blocks(to, what, l, x, rows, columns, what == MLP_WEIGHTS);
}
/* Whether two backward passes differ. */
static inline int operands_are_random(const operands *to) {
  return to->how.kind == RECIPE_BLOCKS &&
         to->how.formats[MLP_FLOW].rounding == MPNUM_ROUND_STOCHASTIC;
}
/* Histories take the amaxes of a step. */
static inline void operands_step(operands *to) {
  to->step += 1;
  if (to->how.scaling != RECIPE_DELAYED) return;
  for (size_t l = 0; l < to->net->layers; ++l)
    for (int what = 0; what < 3; ++what) {
      operand_tensor *tensor = &to->tensors[l][what];
      mpnum_amax_history_update(&tensor->history, tensor->amaxes, tensor->amax);
    }
}

#endif

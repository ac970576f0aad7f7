/* SPDX-License-Identifier: MIT */
/* A multilayer perceptron in mixed precision: the master weights are floats, and whatever
 * a forward and a backward pass store is in a narrow type: weights, activations, their
 * gradients and those of the weights. Sums run in floats, as in tensor cores. Plain loops
 * over small matrices, to be read and not to be fast.
 *
 *     sums[l] = inputs[l] W[l] + b[l]     inputs[l + 1] = GELU(sums[l])
 *
 * The last layer's sums are the logits. Parameters lie one layer after the other: W[l],
 * a row for each input, then b[l]. */
#ifndef EXAMPLES_MLP_H
#define EXAMPLES_MLP_H

#include <mpnum/mpnum.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MLP_LAYERS = 16 }; /* at most */

/* What matrix products take. */
typedef enum mlp_operand { MLP_INPUTS, MLP_WEIGHTS, MLP_FLOW } mlp_operand;

/* Puts the values with which a product computes in the place of those of x, rows by
 * columns. is_down: the product sums down its columns, otherwise along its rows.
 * is_first: x is new; otherwise it is what it was for another product before. */
typedef void mlp_round(void *with, mlp_operand what, size_t layer, float *x, size_t rows,
                       size_t columns, int is_down, int is_first);

typedef struct mlp {
  size_t layers, batch;
  size_t widths[MLP_LAYERS + 1];  /* of the inputs of each layer, and of the logits */
  size_t offsets[MLP_LAYERS + 1]; /* of each layer's parameters, and how many there are */
  mpnum_type value_type;          /* of weights, inputs and sums */
  mpnum_type gradient_type;
  float *master;
  void *weights, *inputs[MLP_LAYERS], *sums[MLP_LAYERS]; /* codes of value_type */
  void *flow;       /* of gradient_type: by the sums of the layer that backward is at */
  void *gradients;  /* of gradient_type: by the parameters */
  float *a, *b, *c; /* what is computed with */
  mlp_round *round; /* NULL: operands as they are */
  void *round_with;
} mlp;

/* Parameters of all layers. */
static inline size_t mlp_count(const mlp *net) { return net->offsets[net->layers]; }

/* The types of a network are known: what is refused here is a fault of the program. */
static inline void mlp_must(mpnum_status status) {
  if (status == MPNUM_OK) return;
  fprintf(stderr, "%s\n", mpnum_status_string(status));
  abort();
}

/* Codes of a type from floats, and back. Types of 8 bits have a small range, and their
 * largest value stands for larger weights and activations; gradients always overflow to
 * Inf, or nobody would know. */
static inline void mlp_store(mpnum_type type, void *codes, const float *values, size_t n,
                             mpnum_overflow overflow) {
  mlp_must(mpnum_convert_array(type, codes, MPNUM_TYPE_F32, values, n,
                               MPNUM_ROUND_NEAREST_EVEN, overflow, 0, 0));
}
static inline void mlp_store_values(const mlp *net, void *codes, const float *values,
                                    size_t n) {
  const int is_fp8 =
      net->value_type == MPNUM_TYPE_E4M3 || net->value_type == MPNUM_TYPE_E5M2;
  mlp_store(net->value_type, codes, values, n,
            is_fp8 ? MPNUM_OVERFLOW_SATURATE : MPNUM_OVERFLOW_IEEE);
}
static inline void mlp_load(float *values, mpnum_type type, const void *codes, size_t n) {
  mlp_must(mpnum_convert_array(MPNUM_TYPE_F32, values, type, codes, n,
                               MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
}
/* Element i of codes. */
static inline uint8_t *mlp_at(mpnum_type type, void *codes, size_t i) {
  const mpnum_format format = mpnum_format_of(type);
  const int bits = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  return (uint8_t *)codes + i * (size_t)(bits / 8);
}

/* Memory for batches of up to so many images; 0 if there is not enough. All arrays have
 * room for floats, so that the types may change from one step to the next. */
static inline int mlp_init(mlp *net, size_t layers, const size_t *widths, size_t batch) {
  size_t widest = 0, values = 0, parameters = 0;
  for (size_t l = 0; l <= layers; ++l) {
    net->widths[l] = widths[l];
    net->offsets[l] = parameters;
    if (l < layers) parameters += (widths[l] + 1) * widths[l + 1];
    if (widths[l] > widest) widest = widths[l];
    values += batch * widths[l];
  }
  const size_t matrix = widest * (widest + 1 > batch ? widest + 1 : batch);
  float *room = (float *)calloc(3 * parameters + 2 * values + 4 * matrix, sizeof *room);
  if (!room) return 0;
  net->layers = layers;
  net->batch = batch;
  net->round = NULL;
  net->round_with = NULL;
  net->value_type = net->gradient_type = MPNUM_TYPE_F32;
  net->master = room;
  net->weights = room += parameters;
  net->gradients = room += parameters;
  net->flow = room += parameters;
  net->a = room += matrix;
  net->b = room += matrix;
  net->c = room += matrix;
  room += matrix;
  for (size_t l = 0; l < layers; ++l) {
    net->inputs[l] = room;
    net->sums[l] = room += batch * widths[l];
    room += batch * widths[l + 1];
  }
  return 1;
}
static inline void mlp_free(mlp *net) { free(net->master); }

/* Weights from -r to r with a standard deviation, 0 for 1 / sqrt(inputs), which keeps the
 * size of what goes through; biases 0. */
static inline void mlp_start(mlp *net, uint64_t seed, float deviation) {
  for (size_t l = 0; l < net->layers; ++l) {
    const size_t inputs = net->widths[l], weights = inputs * net->widths[l + 1];
    const float r = mpnum_sqrt_f32(3) *
                    (deviation > 0 ? deviation : 1 / mpnum_sqrt_f32((float)inputs));
    float *at = net->master + net->offsets[l];
    for (size_t i = 0; i < weights; ++i)
      at[i] = r * ((float)mpnum_random(seed, net->offsets[l] + i) * 0x1p-31f - 1);
    for (size_t i = 0; i < net->widths[l + 1]; ++i)
      at[weights + i] = 0;
  }
}

/* sums = sums + a b; b has rows of MLP_WIDE. Four products at a time, in their order. */
enum { MLP_WIDE = 32, MLP_DEEP = 64 };
static inline void mlp_add_products(float *sums, const float *a, size_t a_column,
                                    const float (*b)[MLP_WIDE], size_t depth) {
  size_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const float x0 = a[k * a_column], x1 = a[(k + 1) * a_column];
    const float x2 = a[(k + 2) * a_column], x3 = a[(k + 3) * a_column];
    for (size_t j = 0; j < MLP_WIDE; ++j)
      sums[j] =
          sums[j] + x0 * b[k][j] + x1 * b[k + 1][j] + x2 * b[k + 2][j] + x3 * b[k + 3][j];
  }
  for (; k < depth; ++k)
    for (size_t j = 0; j < MLP_WIDE; ++j)
      sums[j] += a[k * a_column] * b[k][j];
}
/* c = c + a b, c of rows by columns; of a and b the step to the next row and the next
 * column, so that they may be transposed. A part of b at a time that stays in a cache. */
static inline void mlp_add_product(float *c, size_t rows, size_t columns, size_t depth,
                                   const float *a, size_t a_row, size_t a_column,
                                   const float *b, size_t b_row, size_t b_column) {
  for (size_t j = 0; j < columns; j += MLP_WIDE)
    for (size_t k = 0; k < depth; k += MLP_DEEP) {
      size_t wide = MLP_WIDE, deep = MLP_DEEP;
      float part[MLP_DEEP][MLP_WIDE] = {{0}};
      if (columns - j < wide) wide = columns - j;
      if (depth - k < deep) deep = depth - k;
      for (size_t l = 0; l < deep; ++l)
        for (size_t m = 0; m < wide; ++m)
          part[l][m] = b[(k + l) * b_row + (j + m) * b_column];
      for (size_t i = 0; i < rows; ++i) {
        float sums[MLP_WIDE] = {0};
        memcpy(sums, c + i * columns + j, wide * sizeof *sums);
        mlp_add_products(sums, a + i * a_row + k * a_column, a_column,
                         (const float(*)[MLP_WIDE])part, deep);
        memcpy(c + i * columns + j, sums, wide * sizeof *sums);
      }
    }
}
static inline void mlp_operand_of(mlp *net, mlp_operand what, size_t l, float *x,
                                  size_t rows, size_t columns, int is_down,
                                  int is_first) {
  if (net->round)
    net->round(net->round_with, what, l, x, rows, columns, is_down, is_first);
}

/* The weights of this step, from the master weights. */
static inline void mlp_round_weights(mlp *net) {
  mlp_store_values(net, net->weights, net->master, mlp_count(net));
}
/* Fills inputs and sums from n images; returns the logits, codes of value_type. */
static inline const void *mlp_forward(mlp *net, const float *images, size_t n) {
  mlp_store_values(net, net->inputs[0], images, n * net->widths[0]);
  for (size_t l = 0; l < net->layers; ++l) {
    const size_t in = net->widths[l], out = net->widths[l + 1];
    const float *bias = net->b + in * out;
    mlp_load(net->a, net->value_type, net->inputs[l], n * in);
    mlp_load(net->b, net->value_type,
             mlp_at(net->value_type, net->weights, net->offsets[l]), (in + 1) * out);
    for (size_t i = 0; i < n * out; ++i)
      net->c[i] = bias[i % out];
    mlp_operand_of(net, MLP_INPUTS, l, net->a, n, in, 0, 1);
    mlp_operand_of(net, MLP_WEIGHTS, l, net->b, in, out, 1, 1);
    mlp_add_product(net->c, n, out, in, net->a, in, 1, net->b, out, 1);
    mlp_store_values(net, net->sums[l], net->c, n * out);
    if (l + 1 == net->layers) break;
    mlp_load(net->c, net->value_type, net->sums[l], n * out);
    mpnum_gelu_f32_array(net->c, net->c, n * out);
    mlp_store_values(net, net->inputs[l + 1], net->c, n * out);
  }
  return net->sums[net->layers - 1];
}

/* The gradients of layer l's parameters, from flow, that by its sums. */
static inline void mlp_backward_parameters(mlp *net, size_t l, size_t n) {
  const size_t in = net->widths[l], out = net->widths[l + 1];
  mlp_load(net->a, net->value_type, net->inputs[l], n * in);
  mlp_load(net->b, net->gradient_type, net->flow, n * out);
  for (size_t i = 0; i < (in + 1) * out; ++i)
    net->c[i] = 0;
  for (size_t i = 0; i < n * out; ++i)
    net->c[in * out + i % out] += net->b[i];
  mlp_operand_of(net, MLP_INPUTS, l, net->a, n, in, 1, 0);
  mlp_operand_of(net, MLP_FLOW, l, net->b, n, out, 1, 1);
  mlp_add_product(net->c, in, out, n, net->a, 1, in, net->b, out, 1);
  mlp_store(net->gradient_type,
            mlp_at(net->gradient_type, net->gradients, net->offsets[l]), net->c,
            (in + 1) * out, MPNUM_OVERFLOW_IEEE);
}
/* Flow by the sums of the layer before, from flow. */
static inline void mlp_backward_inputs(mlp *net, size_t l, size_t n) {
  const size_t in = net->widths[l], out = net->widths[l + 1];
  mlp_load(net->a, net->value_type,
           mlp_at(net->value_type, net->weights, net->offsets[l]), in * out);
  mlp_load(net->b, net->gradient_type, net->flow, n * out);
  for (size_t i = 0; i < n * in; ++i)
    net->c[i] = 0;
  mlp_operand_of(net, MLP_FLOW, l, net->b, n, out, 0, 0);
  mlp_operand_of(net, MLP_WEIGHTS, l, net->a, in, out, 0, 0);
  mlp_add_product(net->c, n, in, out, net->b, out, 1, net->a, 1, out);
  mlp_load(net->a, net->value_type, net->sums[l - 1], n * in);
  mpnum_gelu_derivative_f32_array(net->a, net->a, n * in);
  for (size_t i = 0; i < n * in; ++i)
    net->c[i] *= net->a[i];
  mlp_store(net->gradient_type, net->flow, net->c, n * in, MPNUM_OVERFLOW_IEEE);
}
/* Fills gradients, from the gradient by the logits that flow holds. */
static inline void mlp_backward(mlp *net, size_t n) {
  for (size_t l = net->layers; l-- > 0;) {
    mlp_backward_parameters(net, l, n);
    if (l > 0) mlp_backward_inputs(net, l, n);
  }
}

/* The losses of n images, and the gradient by their logits times factor in flow. */
static inline mpnum_status mlp_losses(mlp *net, float *losses, const int64_t *labels,
                                      size_t n, float factor) {
  const size_t classes = net->widths[net->layers];
  mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
  how.factor = factor;
  return mpnum_cross_entropy_rows(
      losses, mpnum_matrix_of(net->gradient_type, net->flow, n, classes),
      mpnum_const_matrix_of(net->value_type, net->sums[net->layers - 1], n, classes),
      labels, &how, NULL);
}
/* A tensor for each layer's gradients, which a pass of grad.h unscales into floats. */
static inline void mlp_tensors(mlp *net, mpnum_grad_tensor *tensors, float *floats) {
  for (size_t l = 0; l < net->layers; ++l)
    tensors[l] = mpnum_grad_tensor_of(
        net->gradient_type, mlp_at(net->gradient_type, net->gradients, net->offsets[l]),
        net->offsets[l + 1] - net->offsets[l], MPNUM_TYPE_F32, floats + net->offsets[l]);
}

#endif

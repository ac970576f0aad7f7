/* SPDX-License-Identifier: MIT */
/* mpnum's functions of rows as a user calls them, and loops as a user writes them. */
#include "measure.h"
#include "../../core/message.h"

#include <math.h>

#include <mpnum/rows/activation_backward.h>
#include <mpnum/array/array.h>
#include <mpnum/rows/cross_entropy.h>
#include <mpnum/rows/dropout.h>
#include <mpnum/rows/normalize.h>
#include <mpnum/rows/normalize_backward.h>
#include <mpnum/rows/normalize_quantize.h>
#include <mpnum/rows/softmax.h>
#include <mpnum/rows/softmax_backward.h>

static mpnum_type type_of(row_way way) {
  return way == ROW_F16    ? MPNUM_TYPE_F16
         : way == ROW_BF16 ? MPNUM_TYPE_BF16
                           : MPNUM_TYPE_F32;
}
void row_convert(void *dst, row_way type, const float *src, size_t count) {
  must(mpnum_convert_array(type_of(type), dst, MPNUM_TYPE_F32, src, count,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
}

static mpnum_matrix to(const row_call *call, row_way way, void *data) {
  return mpnum_matrix_of(type_of(way), data, call->rows, call->columns);
}
static mpnum_const_matrix from(const row_call *call, row_way way, const void *data) {
  return mpnum_const_matrix_of(type_of(way), data, call->rows, call->columns);
}
static void run_layer(const row_call *call, row_way way) {
  must(mpnum_layer_norm_rows(to(call, way, call->dst), from(call, way, call->src),
                             call->weight, call->weight, 1e-5f));
}
static void run_rms(const row_call *call, row_way way) {
  must(mpnum_rms_norm_rows(to(call, way, call->dst), from(call, way, call->src),
                           call->weight, 1e-5f));
}
static void run_l2(const row_call *call, row_way way) {
  must(mpnum_l2_normalize_rows(to(call, way, call->dst), from(call, way, call->src),
                               1e-5f));
}
static void run_backward(const row_call *call, row_way way, mpnum_norm_kind kind) {
  mpnum_normalize_options options = mpnum_normalize_default();
  mpnum_norm_gradients wanted = mpnum_norm_gradients_empty();
  options.weight = call->weight;
  wanted.input = to(call, way, call->dst);
  wanted.weight = call->of_weight;
  if (kind == MPNUM_NORM_LAYER) wanted.bias = call->of_weight + call->columns;
  must(mpnum_normalize_backward_rows(kind, wanted, from(call, way, call->other),
                                     from(call, way, call->src), &options));
}
static void run_layer_backward(const row_call *call, row_way way) {
  run_backward(call, way, MPNUM_NORM_LAYER);
}
static void run_rms_backward(const row_call *call, row_way way) {
  run_backward(call, way, MPNUM_NORM_RMS);
}
static mpnum_normalize_options with_residual(const row_call *call, row_way way) {
  mpnum_normalize_options options = mpnum_normalize_default();
  options.weight = call->weight;
  options.residual = from(call, way, call->other);
  options.sum = to(call, way, call->other);
  options.inverse = call->of_rows;
  return options;
}
static void run_sum(const row_call *call, row_way way) {
  const mpnum_normalize_options options = with_residual(call, way);
  must(mpnum_normalize_rows(MPNUM_NORM_RMS, to(call, way, call->dst),
                            from(call, way, call->src), &options));
}
static void run_quantize(const row_call *call, row_way way) {
  const mpnum_normalize_options options = with_residual(call, way);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  must(mpnum_normalize_quantize_rows(
      MPNUM_NORM_RMS,
      mpnum_matrix_of(MPNUM_TYPE_E4M3, call->dst, call->rows, call->columns),
      from(call, way, call->src), &options, 100, &losses));
}

static void run_softmax(const row_call *call, row_way way) {
  must(mpnum_softmax_rows(to(call, way, call->dst), from(call, way, call->src), NULL,
                          NULL));
}
static void run_log_softmax(const row_call *call, row_way way) {
  must(mpnum_log_softmax_rows(to(call, way, call->dst), from(call, way, call->src), NULL,
                              NULL));
}
static void run_cross_entropy(const row_call *call, row_way way) {
  must(mpnum_cross_entropy_rows_i32(call->of_rows, to(call, way, call->dst),
                                    from(call, way, call->src), call->targets, NULL,
                                    NULL));
}
static void run_softmax_backward(const row_call *call, row_way way) {
  must(mpnum_softmax_backward_rows(to(call, way, call->dst), from(call, way, call->other),
                                   from(call, way, call->src), NULL));
}
static void run_gated(const row_call *call, row_way way) {
  mpnum_activation_options options = mpnum_activation_default();
  options.factor = from(call, way, call->other);
  must(mpnum_activation_rows(MPNUM_ACTIVATION_SILU, to(call, way, call->dst),
                             from(call, way, call->src), &options));
}
static void run_gated_codes(const row_call *call, row_way way) {
  mpnum_activation_options options = mpnum_activation_default();
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  options.factor = from(call, way, call->other);
  must(mpnum_activation_quantize_rows(
      MPNUM_ACTIVATION_SILU,
      mpnum_matrix_of(MPNUM_TYPE_E4M3, call->dst, call->rows, call->columns),
      from(call, way, call->src), &options, 100, &losses));
}

static void run_gated_backward(const row_call *call, row_way way) {
  mpnum_activation_options options = mpnum_activation_default();
  options.factor = from(call, way, call->other);
  must(mpnum_activation_backward_rows(
      MPNUM_ACTIVATION_SILU, to(call, way, call->dst), to(call, way, call->of_weight),
      from(call, way, call->other), from(call, way, call->src), &options));
}
static void run_dropout(const row_call *call, row_way way) {
  must(mpnum_dropout_rows(to(call, way, call->dst), from(call, way, call->src), 0.9f, 1,
                          2));
}

static void loop_layer(const row_call *call) {
  for (size_t row = 0; row < call->rows; ++row) {
    const float *x = (const float *)call->src + row * call->columns;
    float *y = (float *)call->dst + row * call->columns;
    float mean = 0, variance = 0, inverse;
    for (size_t i = 0; i < call->columns; ++i)
      mean += x[i];
    mean /= (float)call->columns;
    for (size_t i = 0; i < call->columns; ++i)
      variance += (x[i] - mean) * (x[i] - mean);
    inverse = 1 / sqrtf(variance / (float)call->columns + 1e-5f);
    for (size_t i = 0; i < call->columns; ++i)
      y[i] = (x[i] - mean) * inverse * call->weight[i] + call->weight[i];
  }
}
static void loop_rms(const row_call *call) {
  for (size_t row = 0; row < call->rows; ++row) {
    const float *x = (const float *)call->src + row * call->columns;
    float *y = (float *)call->dst + row * call->columns;
    float square = 0, inverse;
    for (size_t i = 0; i < call->columns; ++i)
      square += x[i] * x[i];
    inverse = 1 / sqrtf(square / (float)call->columns + 1e-5f);
    for (size_t i = 0; i < call->columns; ++i)
      y[i] = x[i] * inverse * call->weight[i];
  }
}

const row_operation row_operations[ROW_OPERATIONS] = {
    [ROW_SOFTMAX] = {"softmax", run_softmax, NULL},
    {"log-softmax", run_log_softmax, NULL},
    {"cross-entropy, gradient", run_cross_entropy, NULL},
    {"softmax backward", run_softmax_backward, NULL},
    {"SwiGLU", run_gated, NULL},
    {"SwiGLU, e4m3", run_gated_codes, NULL},
    {"SwiGLU backward", run_gated_backward, NULL},
    {"dropout", run_dropout, NULL},
    [ROW_LAYER_NORM] = {"layer norm", run_layer, loop_layer},
    [ROW_RMS_NORM] = {"RMS norm", run_rms, loop_rms},
    {"l2", run_l2, NULL},
    [ROW_LAYER_NORM_BACKWARD] = {"layer norm backward", run_layer_backward, NULL},
    {"RMS norm backward", run_rms_backward, NULL},
    {"sum, RMS norm", run_sum, NULL},
    {"sum, RMS norm, e4m3", run_quantize, NULL},
};

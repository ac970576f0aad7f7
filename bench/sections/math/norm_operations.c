/* SPDX-License-Identifier: MIT */
/* mpnum's norms as a user calls them, and loops as a user writes them. */
#include "norms.h"

#include <math.h>

#include <mpnum/array.h>
#include <mpnum/normalize.h>
#include <mpnum/normalize_backward.h>
#include <mpnum/normalize_quantize.h>

static mpnum_type type_of(norm_way way) {
  return way == NORM_F16    ? MPNUM_TYPE_F16
         : way == NORM_BF16 ? MPNUM_TYPE_BF16
                            : MPNUM_TYPE_F32;
}
void norm_convert(void *dst, norm_way type, const float *src, size_t count) {
  mpnum_convert_array(type_of(type), dst, MPNUM_TYPE_F32, src, count,
                      MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0);
}

static mpnum_rows to(const norm_rows *call, norm_way way, void *data) {
  return mpnum_rows_of(type_of(way), data, call->rows, call->columns);
}
static mpnum_const_rows from(const norm_rows *call, norm_way way, const void *data) {
  return mpnum_const_rows_of(type_of(way), data, call->rows, call->columns);
}
static void run_layer(const norm_rows *call, norm_way way) {
  mpnum_layer_norm_rows(to(call, way, call->dst), from(call, way, call->src),
                        call->weight, call->weight, 1e-5f);
}
static void run_rms(const norm_rows *call, norm_way way) {
  mpnum_rms_norm_rows(to(call, way, call->dst), from(call, way, call->src), call->weight,
                      1e-5f);
}
static void run_l2(const norm_rows *call, norm_way way) {
  mpnum_l2_normalize_rows(to(call, way, call->dst), from(call, way, call->src), 1e-5f);
}
static void run_backward(const norm_rows *call, norm_way way, mpnum_norm_kind kind) {
  mpnum_normalize_options options = mpnum_normalize_default();
  mpnum_norm_gradients wanted = mpnum_norm_gradients_none();
  options.weight = call->weight;
  wanted.input = to(call, way, call->dst);
  wanted.weight = call->of_weight;
  if (kind == MPNUM_NORM_LAYER) wanted.bias = call->of_weight + call->columns;
  mpnum_normalize_backward_rows(kind, wanted, from(call, way, call->other),
                                from(call, way, call->src), &options);
}
static void run_layer_backward(const norm_rows *call, norm_way way) {
  run_backward(call, way, MPNUM_NORM_LAYER);
}
static void run_rms_backward(const norm_rows *call, norm_way way) {
  run_backward(call, way, MPNUM_NORM_RMS);
}
static mpnum_normalize_options with_residual(const norm_rows *call, norm_way way) {
  mpnum_normalize_options options = mpnum_normalize_default();
  options.weight = call->weight;
  options.residual = from(call, way, call->other);
  options.sum = to(call, way, call->other);
  options.inverse = call->of_rows;
  return options;
}
static void run_sum(const norm_rows *call, norm_way way) {
  const mpnum_normalize_options options = with_residual(call, way);
  mpnum_normalize_rows(MPNUM_NORM_RMS, to(call, way, call->dst),
                       from(call, way, call->src), &options);
}
static void run_quantize(const norm_rows *call, norm_way way) {
  const mpnum_normalize_options options = with_residual(call, way);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  mpnum_normalize_quantize_rows(
      MPNUM_NORM_RMS,
      mpnum_rows_of(MPNUM_TYPE_E4M3, call->dst, call->rows, call->columns),
      from(call, way, call->src), &options, 100, &losses);
}

static void loop_layer(const norm_rows *call) {
  size_t row, i;
  for (row = 0; row < call->rows; ++row) {
    const float *x = (const float *)call->src + row * call->columns;
    float *y = (float *)call->dst + row * call->columns;
    float mean = 0, variance = 0, inverse;
    for (i = 0; i < call->columns; ++i)
      mean += x[i];
    mean /= (float)call->columns;
    for (i = 0; i < call->columns; ++i)
      variance += (x[i] - mean) * (x[i] - mean);
    inverse = 1 / sqrtf(variance / (float)call->columns + 1e-5f);
    for (i = 0; i < call->columns; ++i)
      y[i] = (x[i] - mean) * inverse * call->weight[i] + call->weight[i];
  }
}
static void loop_rms(const norm_rows *call) {
  size_t row, i;
  for (row = 0; row < call->rows; ++row) {
    const float *x = (const float *)call->src + row * call->columns;
    float *y = (float *)call->dst + row * call->columns;
    float square = 0, inverse;
    for (i = 0; i < call->columns; ++i)
      square += x[i] * x[i];
    inverse = 1 / sqrtf(square / (float)call->columns + 1e-5f);
    for (i = 0; i < call->columns; ++i)
      y[i] = x[i] * inverse * call->weight[i];
  }
}

const norm_operation norm_operations[NORM_OPERATIONS] = {
    {"layer norm", run_layer, loop_layer},
    {"RMS norm", run_rms, loop_rms},
    {"l2", run_l2, NULL},
    {"layer norm backward", run_layer_backward, NULL},
    {"RMS norm backward", run_rms_backward, NULL},
    {"sum, RMS norm", run_sum, NULL},
    {"sum, RMS norm, e4m3", run_quantize, NULL},
};

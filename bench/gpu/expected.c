/* SPDX-License-Identifier: MIT */
/* What the rows of launchers have to give: the host's functions of the same names, in
 * their scalar loops, which compile fast and have the bits of all others. */
#define MPNUM_NO_SIMD 1

#include "kernels.h"
#include "../core/message.h"

#include <mpnum/blocks/stored_matrix.h>
#include <mpnum/rows/activation_backward.h>
#include <mpnum/rows/activation_rows.h>
#include <mpnum/rows/dropout.h>
#include <mpnum/rows/hadamard.h>
#include <mpnum/training/adafactor.h>
#include <mpnum/training/health.h>
#include <mpnum/training/optimizer.h>
#include <mpnum/mpnum.h>

#include <string.h>

static mpnum_const_matrix rows_of(const gpu_case *c, const void *data) {
  return mpnum_const_matrix_of(c->type, data, c->rows, c->columns);
}
/* Of what is quantised after it was computed. */
static mpnum_matrix floats_of(const gpu_case *c) {
  return mpnum_matrix_of(MPNUM_TYPE_F32, c->workspace, c->rows, c->columns);
}
static mpnum_matrix out_of(const gpu_case *c, mpnum_type type) {
  return mpnum_matrix_of(type, c->out, c->rows, c->columns);
}
static size_t count_of(const gpu_case *c) { return c->rows * c->columns; }

void gpu_expect_softmax(const gpu_case *c) {
  must(mpnum_softmax_rows(out_of(c, c->type), rows_of(c, c->x), NULL, NULL));
}
void gpu_expect_causal(const gpu_case *c) {
  const mpnum_softmax_options options = gpu_causal();
  must(mpnum_softmax_rows(out_of(c, c->type), rows_of(c, c->x), &options, NULL));
}
void gpu_expect_log_softmax(const gpu_case *c) {
  must(mpnum_log_softmax_rows(out_of(c, c->type), rows_of(c, c->x), NULL, NULL));
}
void gpu_expect_logsumexp(const gpu_case *c) {
  must(mpnum_logsumexp_rows(c->side + GPU_LOSSES, rows_of(c, c->x), NULL, NULL));
}
void gpu_expect_cross_entropy(const gpu_case *c) {
  const mpnum_cross_entropy_options options = gpu_smoothing();
  must(mpnum_cross_entropy_rows(c->side + GPU_LOSSES, out_of(c, c->type),
                                rows_of(c, c->x), c->targets, &options, NULL));
}
void gpu_expect_softmax_backward(const gpu_case *c) {
  must(mpnum_softmax_backward_rows(out_of(c, c->type), rows_of(c, c->x), rows_of(c, c->y),
                                   NULL));
}
void gpu_expect_log_softmax_backward(const gpu_case *c) {
  must(mpnum_log_softmax_backward_rows(out_of(c, c->type), rows_of(c, c->x),
                                       rows_of(c, c->y), NULL));
}

static mpnum_normalize_options weighted(const gpu_case *c) {
  mpnum_normalize_options made = mpnum_normalize_default();
  made.weight = c->weight;
  return made;
}
static void normalize(const gpu_case *c, mpnum_norm_kind kind, mpnum_matrix to) {
  const mpnum_normalize_options options = weighted(c);
  must(mpnum_normalize_rows(kind, to, rows_of(c, c->x), &options));
}
void gpu_expect_layer_norm(const gpu_case *c) {
  normalize(c, MPNUM_NORM_LAYER, out_of(c, c->type));
}
void gpu_expect_rms_norm(const gpu_case *c) {
  normalize(c, MPNUM_NORM_RMS, out_of(c, c->type));
}

static void normalize_codes(const gpu_case *c, mpnum_norm_kind kind) {
  const mpnum_normalize_options options = weighted(c);
  mpnum_quantize_losses losses;
  memset(&losses, 0, sizeof losses);
  must(mpnum_normalize_quantize_rows(kind, out_of(c, MPNUM_TYPE_E4M3), rows_of(c, c->x),
                                     &options, c->side[GPU_SCALE], &losses));
  c->side[GPU_AMAX] = losses.amax;
}
void gpu_expect_layer_norm_codes(const gpu_case *c) {
  normalize_codes(c, MPNUM_NORM_LAYER);
}
void gpu_expect_rms_norm_codes(const gpu_case *c) { normalize_codes(c, MPNUM_NORM_RMS); }

static void normalize_backward(const gpu_case *c, mpnum_norm_kind kind) {
  const mpnum_normalize_options options = weighted(c);
  mpnum_norm_gradients to = mpnum_norm_gradients_empty();
  to.input = out_of(c, c->type);
  must(mpnum_normalize_backward_rows(kind, to, rows_of(c, c->x), rows_of(c, c->y),
                                     &options));
}
void gpu_expect_layer_norm_backward(const gpu_case *c) {
  normalize_backward(c, MPNUM_NORM_LAYER);
}
void gpu_expect_rms_norm_backward(const gpu_case *c) {
  normalize_backward(c, MPNUM_NORM_RMS);
}

static void activate(const gpu_case *c, mpnum_activation activation, int is_gated,
                     mpnum_matrix to) {
  mpnum_activation_options options = mpnum_activation_default();
  if (is_gated) options.factor = rows_of(c, c->y);
  must(mpnum_activation_rows(activation, to, rows_of(c, c->x), &options));
}
void gpu_expect_silu(const gpu_case *c) {
  activate(c, MPNUM_ACTIVATION_SILU, 0, out_of(c, c->type));
}
void gpu_expect_gelu_tanh(const gpu_case *c) {
  activate(c, MPNUM_ACTIVATION_GELU_TANH, 0, out_of(c, c->type));
}
void gpu_expect_swiglu(const gpu_case *c) {
  activate(c, MPNUM_ACTIVATION_SILU, 1, out_of(c, c->type));
}
void gpu_expect_swiglu_codes(const gpu_case *c) {
  mpnum_activation_options options = mpnum_activation_default();
  mpnum_quantize_losses losses;
  memset(&losses, 0, sizeof losses);
  options.factor = rows_of(c, c->y);
  must(mpnum_activation_quantize_rows(MPNUM_ACTIVATION_SILU, out_of(c, MPNUM_TYPE_E4M3),
                                      rows_of(c, c->x), &options, c->side[GPU_SCALE],
                                      &losses));
  c->side[GPU_AMAX] = losses.amax;
}
static void activate_backward(const gpu_case *c, mpnum_activation activation,
                              int is_gated) {
  mpnum_activation_options options = mpnum_activation_default();
  uint16_t *const second = (uint16_t *)c->out + count_of(c);
  const mpnum_matrix other =
      mpnum_matrix_of(c->type, is_gated ? second : NULL, c->rows, c->columns);
  if (is_gated) options.factor = rows_of(c, c->y);
  must(mpnum_activation_backward_rows(activation, out_of(c, c->type), other,
                                      rows_of(c, c->y), rows_of(c, c->x), &options));
}
void gpu_expect_gelu_tanh_backward(const gpu_case *c) {
  activate_backward(c, MPNUM_ACTIVATION_GELU_TANH, 0);
}
void gpu_expect_swiglu_backward(const gpu_case *c) {
  activate_backward(c, MPNUM_ACTIVATION_SILU, 1);
}
void gpu_expect_dropout(const gpu_case *c) {
  must(mpnum_dropout_rows(out_of(c, c->type), rows_of(c, c->x), GPU_KEEP,
                          GPU_STOCHASTIC_SEED, 0));
}

static void quantize(const gpu_case *c, float scale) {
  mpnum_quantize_losses losses;
  memset(&losses, 0, sizeof losses);
  must(mpnum_quantize_array(MPNUM_TYPE_E4M3, c->out, c->type, c->x, count_of(c), scale,
                            &losses));
  c->side[GPU_AMAX] = losses.amax;
}
void gpu_expect_scaled_copy(const gpu_case *c) {
  for (size_t i = 0; i < count_of(c); ++i)
    ((float *)c->out)[i] = ((const float *)c->x)[i] * c->side[GPU_SCALE];
}
void gpu_expect_scaled(const gpu_case *c) { quantize(c, c->side[GPU_SCALE]); }
void gpu_expect_groups(const gpu_case *c) {
  const uint64_t *const offsets = (const uint64_t *)(const void *)(c->side + GPU_OFFSETS);
  for (size_t i = 0; i < GPU_PARTS; ++i) {
    mpnum_quantize_losses losses;
    memset(&losses, 0, sizeof losses);
    must(mpnum_quantize_array(MPNUM_TYPE_E4M3, (uint8_t *)c->out + offsets[i], c->type,
                              (const uint16_t *)c->x + offsets[i],
                              offsets[i + 1] - offsets[i], c->side[GPU_PART_SCALES + i],
                              &losses));
    c->side[GPU_PART_AMAX + i] = losses.amax;
  }
}
void gpu_expect_current(const gpu_case *c) {
  const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  quantize(c, 1);
  float scale = mpnum_scale_from_amax(c->side[GPU_AMAX], 448, &recipe.options);
  quantize(c, scale);
  c->side[GPU_SCALE_INV] = mpnum_scale_inv(scale);
}
void gpu_expect_transpose(const gpu_case *c) {
  const uint8_t *codes = (const uint8_t *)c->out;
  uint8_t *turned = (uint8_t *)c->out + count_of(c);
  quantize(c, c->side[GPU_SCALE]);
  for (size_t i = 0; i < c->rows; ++i)
    for (size_t j = 0; j < c->columns; ++j)
      turned[j * c->rows + i] = codes[i * c->columns + j];
}
void gpu_expect_dequantized(const gpu_case *c) {
  must(mpnum_dequantize_array(MPNUM_TYPE_F32, c->out, c->type, c->x, count_of(c),
                              c->side[GPU_SCALE_INV]));
}

/* A matrix in blocks, by row; second: as the second of two. */
static void quantize_matrix(const gpu_case *c, mpnum_const_matrix from,
                            mpnum_blockscale_format format, int second) {
  const mpnum_quantize_options random = {GPU_STOCHASTIC_SEED, 0};
  mpnum_blockscaled to = gpu_codes(c, c->out, second);
  to.scale = c->side[GPU_TENSOR_SCALE];
  must(mpnum_quantize_blocks(&format, to, from, &random, NULL));
}
static void quantize_blocks(const gpu_case *c, mpnum_blockscale_format format,
                            int second) {
  quantize_matrix(c, rows_of(c, c->x), format, second);
}
static void dequantize_blocks(const gpu_case *c, mpnum_blockscale_format format) {
  mpnum_blockscaled from = gpu_codes(c, c->x, 0);
  from.scale = c->side[GPU_TENSOR_SCALE];
  must(mpnum_dequantize_blocks(&format, out_of(c, MPNUM_TYPE_BF16), from));
}
static mpnum_blockscale_format mx(mpnum_type type) {
  return mpnum_blockscale_mx(type, MPNUM_BLOCKSCALE_RCEIL);
}
void gpu_expect_mx(const gpu_case *c) { quantize_blocks(c, mx(MPNUM_TYPE_E4M3), 0); }
void gpu_expect_mx_both(const gpu_case *c) {
  gpu_expect_mx(c);
  quantize_blocks(c, mpnum_blockscale_transposed(mx(MPNUM_TYPE_E4M3)), 1);
}
void gpu_expect_mxfp4(const gpu_case *c) { quantize_blocks(c, mx(MPNUM_TYPE_E2M1), 0); }
void gpu_expect_mx_back(const gpu_case *c) { dequantize_blocks(c, mx(MPNUM_TYPE_E4M3)); }
void gpu_expect_nvfp4(const gpu_case *c) {
  quantize_blocks(c, mpnum_blockscale_nvfp4_1x16(), 0);
}
void gpu_expect_nvfp4_square(const gpu_case *c) {
  quantize_blocks(c, mpnum_blockscale_nvfp4_16x16(), 0);
}
void gpu_expect_nvfp4_sr(const gpu_case *c) {
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  format.rounding = MPNUM_ROUND_STOCHASTIC;
  quantize_blocks(c, format, 0);
}
void gpu_expect_nvfp4_back(const gpu_case *c) {
  dequantize_blocks(c, mpnum_blockscale_nvfp4_1x16());
}
void gpu_expect_nvfp4_scale(const gpu_case *c) {
  float amax = 0;
  must(mpnum_finite_amax_rows(&amax, rows_of(c, c->x)));
  c->side[GPU_TENSOR_SCALE] = mpnum_nvfp4_scale(amax);
}
void gpu_expect_block(const gpu_case *c) {
  quantize_blocks(c, mpnum_blockscale_fp8_1x128(), 0);
}
void gpu_expect_block_square(const gpu_case *c) {
  quantize_blocks(c, mpnum_blockscale_fp8_128x128(), 0);
}
void gpu_expect_block_back(const gpu_case *c) {
  dequantize_blocks(c, mpnum_blockscale_fp8_1x128());
}

/* Two steps of the host, by way of floats, are one of the device. */
static void quantize_floats(const gpu_case *c, mpnum_blockscale_format format,
                            int second) {
  quantize_matrix(
      c, mpnum_const_matrix_of(MPNUM_TYPE_F32, c->workspace, c->rows, c->columns), format,
      second);
}
void gpu_expect_mx_silu(const gpu_case *c) {
  activate(c, MPNUM_ACTIVATION_SILU, 0, floats_of(c));
  quantize_floats(c, mx(MPNUM_TYPE_E4M3), 0);
}
void gpu_expect_mx_swiglu(const gpu_case *c) {
  activate(c, MPNUM_ACTIVATION_SILU, 1, floats_of(c));
  quantize_floats(c, mx(MPNUM_TYPE_E4M3), 0);
}
void gpu_expect_mx_rms_norm(const gpu_case *c) {
  normalize(c, MPNUM_NORM_RMS, floats_of(c));
  quantize_floats(c, mx(MPNUM_TYPE_E4M3), 0);
}
void gpu_expect_nvfp4_silu(const gpu_case *c) {
  activate(c, MPNUM_ACTIVATION_SILU, 0, floats_of(c));
  quantize_floats(c, mpnum_blockscale_nvfp4_1x16(), 0);
}
void gpu_expect_nvfp4_hadamard(const gpu_case *c) {
  must(mpnum_hadamard_rows(floats_of(c), rows_of(c, c->x), 16, GPU_STOCHASTIC_SEED));
  quantize_floats(c, mpnum_blockscale_nvfp4_1x16(), 0);
}
static void quantize_floats_both(const gpu_case *c) {
  quantize_floats(c, mx(MPNUM_TYPE_E4M3), 0);
  quantize_floats(c, mpnum_blockscale_transposed(mx(MPNUM_TYPE_E4M3)), 1);
}
void gpu_expect_mx_silu_gradient(const gpu_case *c) {
  must(mpnum_activation_backward_rows(MPNUM_ACTIVATION_SILU, floats_of(c),
                                      mpnum_matrix_empty(), rows_of(c, c->y),
                                      rows_of(c, c->x), NULL));
  quantize_floats_both(c);
}
/* Halves of rows of x and of the result, y one behind the other. */
void gpu_expect_mx_swiglu_gradient(const gpu_case *c) {
  const size_t half = c->columns / 2;
  const mpnum_const_matrix gradient = mpnum_const_matrix_of(c->type, c->y, c->rows, half);
  mpnum_activation_options options = mpnum_activation_default();
  mpnum_const_matrix gate = rows_of(c, c->x);
  mpnum_matrix first = floats_of(c), second = first;
  gate.columns = first.columns = second.columns = half;
  second.data = (float *)c->workspace + half;
  options.factor = gate;
  options.factor.data = (const uint16_t *)c->x + half;
  must(mpnum_activation_backward_rows(MPNUM_ACTIVATION_SILU, first, second, gradient,
                                      gate, &options));
  quantize_floats_both(c);
}

void gpu_expect_q4_0(const gpu_case *c) {
  must(mpnum_quantize_stored(gpu_stored(c, c->out, MPNUM_STORED_Q4_0), rows_of(c, c->x)));
}
void gpu_expect_q4_0_back(const gpu_case *c) {
  must(mpnum_dequantize_stored(out_of(c, MPNUM_TYPE_BF16),
                               gpu_stored(c, c->x, MPNUM_STORED_Q4_0)));
}
void gpu_expect_nf4_back(const gpu_case *c) {
  must(mpnum_dequantize_stored(out_of(c, MPNUM_TYPE_BF16),
                               gpu_stored(c, c->x, MPNUM_STORED_NF4)));
}
void gpu_expect_histogram(const gpu_case *c) {
  mpnum_histogram found = mpnum_histogram_empty();
  for (size_t i = 0; i < count_of(c); ++i)
    mpnum_histogram_add(&found, ((const float *)c->x)[i]);
  memcpy(c->side + GPU_COUNTS, &found, sizeof found);
}
void gpu_expect_lost(const gpu_case *c) {
  mpnum_lost found = {0, 0};
  must(mpnum_count_lost(&found, MPNUM_TYPE_F32, c->x, count_of(c),
                        mpnum_format_of(MPNUM_TYPE_E4M3), 300));
  memcpy(c->side + GPU_COUNTS, &found, sizeof found);
}
void gpu_expect_stochastic_e4m3(const gpu_case *c) {
  mpnum_f32_to_e4m3_sr_sat_array((mpnum_e4m3 *)c->out, (const float *)c->x, count_of(c),
                                 GPU_STOCHASTIC_SEED, 0);
}
void gpu_expect_stochastic_bf16(const gpu_case *c) {
  mpnum_f32_to_bf16_sr_sat_array((mpnum_bf16 *)c->out, (const float *)c->x, count_of(c),
                                 GPU_STOCHASTIC_SEED, 0);
}

void gpu_expect_step(const mpnum_optimizer *optimizer,
                     const mpnum_optimizer_tensor *tensor) {
  must(mpnum_optimizer_step(optimizer, tensor, 1, 1, 1.0f, MPNUM_GRAD_APPLY));
}
void gpu_expect_adafactor(const mpnum_adafactor *adafactor,
                          const mpnum_optimizer_tensor *tensor) {
  must(mpnum_adafactor_step(adafactor, tensor, 1, 1, 1.0f, MPNUM_GRAD_APPLY));
}

void gpu_expect_grad(const mpnum_grad_tensor *tensors, size_t count,
                     mpnum_grad_findings *findings) {
  must(mpnum_grad_multiply(tensors, count, 0.5f, 0, findings));
}

/* SPDX-License-Identifier: MIT */
/* Launchers of quantize_blocks.cuh that compute what they quantise, by
 * quantize_computed.cuh and quantize_hadamard.cuh. */
#include "kernels.cuh"

#include <mpnum/blocks/quantize_computed.cuh>
#include <mpnum/blocks/quantize_hadamard.cuh>

namespace {

const mpnum_activation silu = MPNUM_ACTIVATION_SILU;
const int by_row = MPNUM_QUANTIZE_ROWS, both = by_row | MPNUM_QUANTIZE_COLUMNS;

template <class Computed>
cudaError_t mx_of(const gpu_case *c, const Computed &x, int what, cudaStream_t stream) {
  const mpnum_blockscaled first = gpu_codes(c, c->out, 0);
  const mpnum_blockscaled second = gpu_codes(c, c->out, 1);
  return mpnum_launch_quantize_mx<mpnum_e4m3>(&first, &second, x, MPNUM_BLOCKSCALE_RCEIL,
                                              what, stream);
}
/* y is the factor. */
template <bool is_gated> cudaError_t mx_silu(const gpu_case *c, cudaStream_t stream) {
  mpnum_activation_options options = mpnum_activation_default();
  if (is_gated)
    options.factor = mpnum_const_matrix_of(c->type, c->y, c->rows, c->columns);
  return mx_of(c, mpnum::activation_of<silu>(gpu_x_rows<mpnum_bf16>(c), &options), by_row,
               stream);
}
/* y is the gradient of the result. */
cudaError_t mx_slope(const gpu_case *c, cudaStream_t stream) {
  const mpnum_activation_options options = mpnum_activation_default();
  return mx_of(c,
               mpnum::activation_backward_of<silu>(gpu_y_rows<mpnum_bf16>(c),
                                                   gpu_x_rows<mpnum_bf16>(c), &options),
               both, stream);
}
/* Gate and factor are the halves of the rows of x, as those of their gradients are. */
cudaError_t mx_gated_slope(const gpu_case *c, cudaStream_t stream) {
  const size_t half = c->columns / 2;
  const mpnum::matrix<const mpnum_bf16> gradient =
      mpnum::matrix_of(gpu_y<mpnum_bf16>(c), c->rows, half);
  const mpnum::matrix<const mpnum_bf16> gate =
      mpnum::matrix_of(gpu_x<mpnum_bf16>(c), c->rows, half, c->columns);
  mpnum_activation_options options = mpnum_activation_default();
  options.factor = mpnum_const_matrix_of(c->type, gate.data + half, c->rows, half);
  options.factor.stride = c->columns;
  return mx_of(c, mpnum::activation_backward_of<silu>(gradient, gate, &options), both,
               stream);
}
cudaError_t mx_rms_norm(const gpu_case *c, cudaStream_t stream) {
  mpnum_normalize_options options = mpnum_normalize_default();
  options.weight = c->weight;
  return mx_of(c,
               mpnum::normalized_of(MPNUM_NORM_RMS, gpu_x_rows<mpnum_bf16>(c), &options),
               by_row, stream);
}
cudaError_t nvfp4_silu(const gpu_case *c, cudaStream_t stream) {
  const mpnum_activation_options options = mpnum_activation_default();
  const mpnum_blockscaled to = gpu_codes(c, c->out, 0);
  return mpnum_launch_quantize_nvfp4<1>(
      &to, nullptr, mpnum::activation_of<silu>(gpu_x_rows<mpnum_bf16>(c), &options),
      c->side + GPU_TENSOR_SCALE, by_row, stream);
}
cudaError_t nvfp4_hadamard(const gpu_case *c, cudaStream_t stream) {
  const mpnum_blockscaled to = gpu_codes(c, c->out, 0);
  return mpnum_launch_quantize_nvfp4<1>(
      &to, nullptr,
      mpnum::hadamard_of<16>(gpu_x_rows<mpnum_bf16>(c), GPU_STOCHASTIC_SEED),
      c->side + GPU_TENSOR_SCALE, by_row, stream);
}

const mpnum_type bf16 = MPNUM_TYPE_BF16;
const gpu_bound copy = GPU_BY_COPY;
const double e8m0 = 1.0 / 32, e4m3 = 1.0 / 16; /* scales, bytes an element */

/* Halves of a gradient read all once more, out of the L2 cache, which does not count. */
const gpu_kernel_row rows[] = {
    {"quantize_mx silu bf16 to e4m3", bf16, GPU_MATRIX, 0, copy, 3 + e8m0, mx_silu<false>,
     gpu_expect_mx_silu},
    {"quantize_mx swiglu bf16 to e4m3", bf16, GPU_MATRIX, 0, copy, 5 + e8m0,
     mx_silu<true>, gpu_expect_mx_swiglu},
    {"quantize_mx silu gradient bf16 to e4m3, both", bf16, GPU_MATRIX, 0, copy,
     6 + 2 * e8m0, mx_slope, gpu_expect_mx_silu_gradient},
    {"quantize_mx swiglu gradient bf16 to e4m3, both", bf16, GPU_MATRIX, 0, copy,
     5 + 2 * e8m0, mx_gated_slope, gpu_expect_mx_swiglu_gradient},
    {"quantize_mx rms_norm bf16 to e4m3", bf16, GPU_MATRIX, 0, copy, 3 + e8m0,
     mx_rms_norm, gpu_expect_mx_rms_norm},
    {"quantize_nvfp4 silu bf16", bf16, GPU_MATRIX, 0, copy, 2.5 + e4m3, nvfp4_silu,
     gpu_expect_nvfp4_silu},
    {"quantize_nvfp4 hadamard bf16", bf16, GPU_MATRIX, 0, copy, 2.5 + e4m3,
     nvfp4_hadamard, gpu_expect_nvfp4_hadamard}};

} // namespace

gpu_kernel_table gpu_fused_kernels() {
  const gpu_kernel_table table = {rows, sizeof rows / sizeof *rows};
  return table;
}

/* SPDX-License-Identifier: MIT */
/* Launchers of activation_rows.cuh. */
#include <mpnum/rows/activation_rows.cuh>

#include "kernels.cuh"

namespace {

/* y is the gate's factor where it is gated, and the gradient of the result backward. */
mpnum_activation_options options_of(const gpu_case *c, bool is_gated) {
  mpnum_activation_options made = mpnum_activation_default();
  if (is_gated) made.factor = mpnum_const_matrix_of(c->type, c->y, c->rows, c->columns);
  return made;
}
template <class T, mpnum_activation activation, bool is_gated>
cudaError_t apply(const gpu_case *c, cudaStream_t stream) {
  const mpnum_activation_options options = options_of(c, is_gated);
  return mpnum_launch_activation_rows(activation, gpu_out_rows<T>(c), gpu_x_rows<T>(c),
                                      &options, stream);
}
template <class T> cudaError_t codes(const gpu_case *c, cudaStream_t stream) {
  const mpnum_activation_options options = options_of(c, true);
  return mpnum_launch_activation_quantize_rows(
      MPNUM_ACTIVATION_SILU, gpu_out_rows<mpnum_e4m3>(c), gpu_x_rows<T>(c), &options,
      c->side + GPU_SCALE, c->side + GPU_AMAX, stream);
}
template <class T, mpnum_activation activation, bool is_gated>
cudaError_t slope(const gpu_case *c, cudaStream_t stream) {
  const mpnum_activation_options options = options_of(c, is_gated);
  const mpnum::matrix<T> to = gpu_out_rows<T>(c);
  const mpnum::matrix<T> other =
      is_gated ? mpnum::matrix_of(gpu_out<T>(c) + gpu_count(c), c->rows, c->columns)
               : mpnum::matrix<T>();
  return mpnum_launch_activation_backward_rows(activation, to, other, gpu_y_rows<T>(c),
                                               gpu_x_rows<T>(c), &options, stream);
}
cudaError_t dropout(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_dropout_rows(gpu_out_rows<mpnum_bf16>(c), gpu_x_rows<mpnum_bf16>(c),
                                   GPU_KEEP, GPU_STOCHASTIC_SEED, 0, stream);
}

const mpnum_type f32 = MPNUM_TYPE_F32, bf16 = MPNUM_TYPE_BF16;
const mpnum_activation silu = MPNUM_ACTIVATION_SILU, gelu = MPNUM_ACTIVATION_GELU_TANH;
const gpu_bound copy = GPU_BY_COPY;

const gpu_kernel_row rows[] = {
    {"silu_rows f32", f32, GPU_ROWS, 4096, copy, 8, apply<float, silu, false>,
     gpu_expect_silu},
    {"gelu_tanh_rows bf16", bf16, GPU_ROWS, 4096, copy, 4, apply<mpnum_bf16, gelu, false>,
     gpu_expect_gelu_tanh},
    {"swiglu_rows bf16", bf16, GPU_ROWS, 4096, copy, 6, apply<mpnum_bf16, silu, true>,
     gpu_expect_swiglu},
    {"swiglu_quantize_rows bf16 to e4m3", bf16, GPU_ROWS, 4096, copy, 5,
     codes<mpnum_bf16>, gpu_expect_swiglu_codes},
    {"gelu_tanh_backward_rows bf16", bf16, GPU_ROWS, 4096, copy, 6,
     slope<mpnum_bf16, gelu, false>, gpu_expect_gelu_tanh_backward},
    {"swiglu_backward_rows bf16", bf16, GPU_ROWS, 4096, copy, 8,
     slope<mpnum_bf16, silu, true>, gpu_expect_swiglu_backward},
    {"dropout_rows bf16", bf16, GPU_ROWS, 4096, copy, 4, dropout, gpu_expect_dropout}};

} // namespace

gpu_kernel_table gpu_activation_kernels() {
  const gpu_kernel_table table = {rows, sizeof rows / sizeof *rows};
  return table;
}

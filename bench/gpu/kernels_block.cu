/* SPDX-License-Identifier: MIT */
/* Launchers of quantize_blocks.cuh and stored_matrix.cuh. */
#include "kernels.cuh"

#include <mpnum/blocks/stored_matrix.cuh>

namespace {

const mpnum_blockscale_rule rule = MPNUM_BLOCKSCALE_RCEIL;
const int by_row = MPNUM_QUANTIZE_ROWS, both = by_row | MPNUM_QUANTIZE_COLUMNS;

template <class Code, int what> cudaError_t mx(const gpu_case *c, cudaStream_t stream) {
  const mpnum_blockscaled first = gpu_codes(c, c->out, 0);
  const mpnum_blockscaled second = gpu_codes(c, c->out, 1);
  return mpnum_launch_quantize_mx<Code>(&first, &second, gpu_x_rows<mpnum_bf16>(c), rule,
                                        what, stream);
}
cudaError_t mx_back(const gpu_case *c, cudaStream_t stream) {
  const mpnum_blockscaled from = gpu_codes(c, c->x, 0);
  return mpnum_launch_dequantize_mx<mpnum_e4m3>(gpu_out_rows<mpnum_bf16>(c), &from,
                                                by_row, stream);
}
cudaError_t nvfp4_scale(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_nvfp4_scale(c->side + GPU_TENSOR_SCALE, gpu_x_rows<mpnum_bf16>(c),
                                  stream);
}
template <unsigned high> cudaError_t nvfp4(const gpu_case *c, cudaStream_t stream) {
  const mpnum_blockscaled to = gpu_codes(c, c->out, 0);
  return mpnum_launch_quantize_nvfp4<high>(&to, nullptr, gpu_x_rows<mpnum_bf16>(c),
                                           c->side + GPU_TENSOR_SCALE, by_row, stream);
}
cudaError_t nvfp4_sr(const gpu_case *c, cudaStream_t stream) {
  const mpnum_blockscaled to = gpu_codes(c, c->out, 0);
  return mpnum_launch_quantize_nvfp4_sr<1>(&to, nullptr, gpu_x_rows<mpnum_bf16>(c),
                                           c->side + GPU_TENSOR_SCALE, by_row,
                                           GPU_STOCHASTIC_SEED, 0, stream);
}
cudaError_t nvfp4_back(const gpu_case *c, cudaStream_t stream) {
  const mpnum_blockscaled from = gpu_codes(c, c->x, 0);
  return mpnum_launch_dequantize_nvfp4<1>(gpu_out_rows<mpnum_bf16>(c), &from,
                                          c->side + GPU_TENSOR_SCALE, by_row, stream);
}
template <unsigned high> cudaError_t block(const gpu_case *c, cudaStream_t stream) {
  const mpnum_blockscaled to = gpu_codes(c, c->out, 0);
  const mpnum_blockscale_format format =
      high == 1 ? mpnum_blockscale_fp8_1x128() : mpnum_blockscale_fp8_128x128();
  return mpnum_launch_quantize_fp8<mpnum_e4m3, high>(
      &to, nullptr, gpu_x_rows<mpnum_bf16>(c), format.rule, format.amax_floor, by_row,
      stream);
}
cudaError_t block_back(const gpu_case *c, cudaStream_t stream) {
  const mpnum_blockscaled from = gpu_codes(c, c->x, 0);
  return mpnum_launch_dequantize_fp8<mpnum_e4m3, 1>(gpu_out_rows<mpnum_bf16>(c), &from,
                                                    by_row, stream);
}

template <mpnum_stored_layout layout>
cudaError_t stored(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_quantize_stored(gpu_stored(c, c->out, layout),
                                      gpu_x_rows<mpnum_bf16>(c), stream);
}
template <mpnum_stored_layout layout>
cudaError_t stored_back(const gpu_case *c, cudaStream_t stream) {
  return mpnum_launch_dequantize_stored(gpu_out_rows<mpnum_bf16>(c),
                                        gpu_stored(c, c->x, layout), stream);
}

const mpnum_type bf16 = MPNUM_TYPE_BF16;
const gpu_bound copy = GPU_BY_COPY, read = GPU_BY_READ;
const double e8m0 = 1.0 / 32, e4m3 = 1.0 / 16, scale = 4.0 / 128; /* bytes an element */
const double q4_0 = 18.0 / 32, nf4 = 0.5 + 4.0 / 32;              /* with scales */

const gpu_kernel_row rows[] = {
    {"quantize_mx bf16 to e4m3", bf16, GPU_MATRIX, 0, copy, 3 + e8m0,
     mx<mpnum_e4m3, by_row>, gpu_expect_mx},
    {"quantize_mx bf16 to e4m3, both", bf16, GPU_MATRIX, 0, copy, 4 + 2 * e8m0,
     mx<mpnum_e4m3, both>, gpu_expect_mx_both},
    {"quantize_mx bf16 to e2m1", bf16, GPU_MATRIX, 0, copy, 2.5 + e8m0,
     mx<mpnum_e2m1, by_row>, gpu_expect_mxfp4},
    {"dequantize_mx e4m3 to bf16", bf16, GPU_MATRIX, 0, copy, 3 + e8m0, mx_back,
     gpu_expect_mx_back, mx<mpnum_e4m3, by_row>},
    {"nvfp4_scale bf16", bf16, GPU_MATRIX, 0, read, 2, nvfp4_scale,
     gpu_expect_nvfp4_scale},
    {"quantize_nvfp4 bf16", bf16, GPU_MATRIX, 0, copy, 2.5 + e4m3, nvfp4<1>,
     gpu_expect_nvfp4},
    {"quantize_nvfp4 bf16, 16x16", bf16, GPU_MATRIX, 0, copy, 2.5 + e4m3 / 16, nvfp4<16>,
     gpu_expect_nvfp4_square},
    {"quantize_nvfp4_sr bf16", bf16, GPU_MATRIX, 0, copy, 2.5 + e4m3, nvfp4_sr,
     gpu_expect_nvfp4_sr},
    {"dequantize_nvfp4 to bf16", bf16, GPU_MATRIX, 0, copy, 2.5 + e4m3, nvfp4_back,
     gpu_expect_nvfp4_back, nvfp4<1>},
    {"quantize_block bf16 to e4m3, 1x128", bf16, GPU_MATRIX, 0, copy, 3 + scale, block<1>,
     gpu_expect_block},
    {"quantize_block bf16 to e4m3, 128x128", bf16, GPU_MATRIX, 0, copy, 3 + scale / 128,
     block<128>, gpu_expect_block_square},
    {"dequantize_block e4m3 to bf16, 1x128", bf16, GPU_MATRIX, 0, copy, 3 + scale,
     block_back, gpu_expect_block_back, block<1>},
    {"quantize_stored bf16 to Q4_0", bf16, GPU_MATRIX, 0, copy, 2 + q4_0,
     stored<MPNUM_STORED_Q4_0>, gpu_expect_q4_0},
    {"dequantize_stored Q4_0 to bf16", bf16, GPU_MATRIX, 0, copy, 2 + q4_0,
     stored_back<MPNUM_STORED_Q4_0>, gpu_expect_q4_0_back, stored<MPNUM_STORED_Q4_0>},
    {"dequantize_stored NF4 to bf16", bf16, GPU_MATRIX, 0, copy, 2 + nf4,
     stored_back<MPNUM_STORED_NF4>, gpu_expect_nf4_back, stored<MPNUM_STORED_NF4>}};

} // namespace

gpu_kernel_table gpu_block_kernels() {
  const gpu_kernel_table table = {rows, sizeof rows / sizeof *rows};
  return table;
}

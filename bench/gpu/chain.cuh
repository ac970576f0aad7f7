/* SPDX-License-Identifier: MIT */
/* Layers of a few short launches, each of which reads what the one before wrote: what
 * starting them costs. chain.cu and chain_programmatic.cu compile it, each in its way. */
#include "chain.h"

#include <mpnum/array/quantize.cuh>
#include <mpnum/rows/activation_rows.cuh>
#include <mpnum/rows/norm_rows.cuh>

static cudaError_t start_layer(const gpu_chain *chain, cudaStream_t stream) {
  const size_t n = static_cast<size_t>(GPU_CHAIN_ROWS) * GPU_CHAIN_COLUMNS;
  const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  const mpnum::matrix<float> x =
      mpnum::matrix_of(chain->x, GPU_CHAIN_ROWS, GPU_CHAIN_COLUMNS);
  const mpnum::matrix<float> y =
      mpnum::matrix_of(chain->y, GPU_CHAIN_ROWS, GPU_CHAIN_COLUMNS);
  mpnum_e4m3 *const codes = static_cast<mpnum_e4m3 *>(chain->codes);
  cudaError_t error = mpnum_launch_normalize_rows(MPNUM_NORM_RMS, y, x, nullptr, stream);
  if (error == cudaSuccess)
    error = mpnum_launch_activation_rows(MPNUM_ACTIVATION_SILU, x, y, nullptr, stream);
  if (error == cudaSuccess)
    error = mpnum_launch_quantize_current(codes, chain->x, n, &recipe, chain->scale_inv,
                                          chain->amax, stream);
  if (error == cudaSuccess)
    error = mpnum_launch_dequantize_array(chain->x, codes, n, chain->scale_inv, stream);
  return error;
}
static cudaError_t start_chain(void *context, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (int i = 0; i < GPU_CHAIN_LAYERS && error == cudaSuccess; ++i)
    error = start_layer(static_cast<const gpu_chain *>(context), stream);
  return error;
}

/* SPDX-License-Identifier: MIT */
/* A softmax of one's own from the collectives of block.cuh: attention scores in e4m3 with
 * a scale, weights in f16, a block for each row. A kernel that makes its scores itself,
 * tile after tile, merges states in the same way. For rows that lie in memory there is
 * mpnum_launch_softmax_rows, which reads them once. Paste what you need.
 *
 *     nvcc -arch=sm_90 -I include examples/softmax_kernel.cu -o softmax_kernel
 */
#include <mpnum/cuda/block.cuh>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { THREADS = 128, LANES = 16 };

/* 16 scores a thread at a time: a load of 16 bytes, two stores of 16. */
__global__ void softmax(mpnum_f16 *dst, const mpnum_e4m3 *src, unsigned columns,
                        float scale) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum_softmax_state state = mpnum_softmax_state_empty();
  src += static_cast<size_t>(blockIdx.x) * columns;
  dst += static_cast<size_t>(blockIdx.x) * columns;
  for (unsigned i = LANES * threadIdx.x; i < columns; i += LANES * THREADS) {
    const mpnum_lanes<mpnum_e4m3, LANES> codes = mpnum_load<LANES>(src + i, columns - i);
    float scores[LANES];
    for (unsigned j = 0; j < LANES; ++j) /* past the end: no element */
      scores[j] = i + j < columns ? mpnum_e4m3_to_f32(codes.at[j])
                                  : mpnum_softmax_state_empty().max;
    state = mpnum_softmax_add_tile(state, scores, LANES, scale);
  }
  state = mpnum_block_softmax_merge(state, scale, scratch);
  for (unsigned i = LANES * threadIdx.x; i < columns; i += LANES * THREADS) {
    const mpnum_lanes<mpnum_e4m3, LANES> codes = mpnum_load<LANES>(src + i, columns - i);
    mpnum_lanes<mpnum_f16, LANES> weights;
    for (unsigned j = 0; j < LANES; ++j)
      weights.at[j] = mpnum_f32_to_f16(
          mpnum_softmax_weight(state, mpnum_e4m3_to_f32(codes.at[j]), scale));
    mpnum_store(dst + i, weights, columns - i);
  }
}

static void stop_on(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "softmax_kernel: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const unsigned rows = 256, columns = 4003;
  const size_t n = static_cast<size_t>(rows) * columns;
  const float scale = 0.125f;
  std::vector<mpnum_e4m3> scores(n);
  std::vector<mpnum_f16> weights(n), wanted(n);
  for (size_t i = 0; i < n; ++i) /* from -32 to 32 */
    scores[i] =
        mpnum_f32_to_e4m3_sat(static_cast<float>(mpnum_random(1, i)) * 0x1p-26f - 32.0f);

  mpnum_e4m3 *src = nullptr;
  mpnum_f16 *dst = nullptr;
  stop_on(cudaMalloc(&src, n * sizeof *src));
  stop_on(cudaMalloc(&dst, n * sizeof *dst));
  stop_on(cudaMemcpy(src, scores.data(), n * sizeof *src, cudaMemcpyHostToDevice));
  softmax<<<rows, THREADS>>>(dst, src, columns, scale);
  stop_on(cudaGetLastError());
  stop_on(cudaMemcpy(weights.data(), dst, n * sizeof *dst, cudaMemcpyDeviceToHost));
  cudaFree(src);
  cudaFree(dst);

  /* The host sums in another order, so a weight may round to the next f16. */
  mpnum_softmax_options options = mpnum_softmax_default();
  options.scale = scale;
  const mpnum_status status = mpnum_softmax_rows(
      mpnum_matrix_of(MPNUM_TYPE_F16, wanted.data(), rows, columns),
      mpnum_const_matrix_of(MPNUM_TYPE_E4M3, scores.data(), rows, columns), &options,
      NULL);
  if (status != MPNUM_OK) {
    std::fprintf(stderr, "softmax_kernel: %s\n", mpnum_status_string(status));
    return 1;
  }
  size_t different = 0, far_off = 0;
  for (size_t i = 0; i < n; ++i) {
    const int apart = weights[i].bits - wanted[i].bits;
    different += apart != 0;
    far_off += std::abs(apart) > 1;
  }
  std::printf(
      "%u rows of %u, %zu weights differ from the host, %zu by more than a place\n", rows,
      columns, different, far_off);
  return far_off != 0;
}

/* SPDX-License-Identifier: MIT */
/* Quantises a tensor from f32 to e4m3 on the GPU with one scale: the largest magnitude
 * becomes 448, e4m3's largest. Three launches, no wait for the host between them, so the
 * whole may be captured in a graph. mpnum_launch_quantize_current does this, faster; here
 * it is a kernel of one's own, to put other work into. Paste what you need.
 *
 *     nvcc -arch=sm_90 -I include examples/quantize_kernel.cu -o quantize_kernel
 */
#include <mpnum/kernels.cuh>

#include <cstdio>
#include <cstdlib>
#include <vector>

/* The factor before conversion: 448 / amax, 1 for a tensor of zeros or one with Inf or
 * NaN, at most the largest float. */
__host__ __device__ static float scale_of(float amax) {
  if (!(amax > 0.0f) || !mpnum_isfinite_f32(amax)) return 1.0f;
  const float scale = MPNUM_E4M3_MAX / amax;
  return mpnum_isfinite_f32(scale) ? scale : 3.402823466e38f;
}

/* Four vectors of four values a thread: loads of 16 bytes, all before the first is used,
 * stores of 4. */
__global__ void quantize(mpnum_e4m3 *dst, const float *src, size_t n, const float *amax) {
  const float scale = scale_of(*amax);
  typedef mpnum_tile<float, 4> tile;
  const size_t first = blockIdx.x * tile::elements;
  if (first >= n) return;
  const tile in = mpnum_load_tile<4>(src, first, n);
  mpnum_tile<mpnum_e4m3, 4> out;
  for (unsigned v = 0; v < tile::vectors; ++v)
    for (unsigned j = 0; j < 4; ++j)
      out.at[v].at[j] = mpnum_f32_to_e4m3_sat(in.at[v].at[j] * scale);
  mpnum_store_tile(dst, first, n, out);
}

static cudaError_t quantize_tensor(mpnum_e4m3 *dst, float *amax, const float *src,
                                   size_t n, cudaStream_t stream) {
  const unsigned threads = 256;
  const cudaError_t error = mpnum_launch_amax(amax, src, n, stream);
  if (error != cudaSuccess || n == 0) return error;
  const size_t blocks = (n - 1) / (16 * threads) + 1; /* 16 values a thread */
  quantize<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(dst, src, n, amax);
  return cudaGetLastError();
}

static void stop_on(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "quantize_kernel: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const size_t n = 1000003;
  std::vector<float> values(n);
  std::vector<mpnum_e4m3> codes(n);
  for (size_t i = 0; i < n; ++i) /* from -4 to 4 */
    values[i] = static_cast<float>(mpnum_random(1, i)) * 0x1p-29f - 4.0f;

  float *src = nullptr, *amax = nullptr;
  mpnum_e4m3 *dst = nullptr;
  stop_on(cudaMalloc(&src, n * sizeof *src));
  stop_on(cudaMalloc(&dst, n * sizeof *dst));
  stop_on(cudaMalloc(&amax, sizeof *amax));
  stop_on(cudaMemcpy(src, values.data(), n * sizeof *src, cudaMemcpyHostToDevice));
  stop_on(quantize_tensor(dst, amax, src, n, 0));
  float largest = 0;
  stop_on(cudaMemcpy(codes.data(), dst, n * sizeof *dst, cudaMemcpyDeviceToHost));
  stop_on(cudaMemcpy(&largest, amax, sizeof largest, cudaMemcpyDeviceToHost));

  size_t different = 0; /* from the same functions on the host */
  const float scale = scale_of(largest);
  for (size_t i = 0; i < n; ++i)
    different += codes[i].bits != mpnum_f32_to_e4m3_sat(values[i] * scale).bits;
  std::printf("amax %g, scale %g, %zu values, %zu differ from the host\n",
              static_cast<double>(largest), static_cast<double>(scale), n, different);
  cudaFree(src);
  cudaFree(dst);
  cudaFree(amax);
  return different != 0;
}

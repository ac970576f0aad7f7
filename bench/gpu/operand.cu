/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "operand.cuh"

#include "fill.cuh"
#include "launch.cuh"

namespace {

enum { THREADS = 256, LANES = 4 };
const size_t block_limit = 1 << 20;

/* dst[i] is src[i] times what brings amax to the largest value of T. A value is again its
 * code times *inverse. */
template <class T>
__global__ void scaled_kernel(T *dst, float *inverse, const float *src, const float *amax,
                              size_t n) {
  const float top = mpnum_format_max(mpnum_format_of(mpnum::type_of<T>::value));
  const float scale = *amax > 0 ? top / *amax : 1.0f;
  if (mpnum_grid_index() == 0) *inverse = *amax > 0 ? *amax / top : 1.0f;
  for (size_t i = LANES * mpnum_grid_index(); i < n; i += LANES * mpnum_grid_size()) {
    const mpnum_lanes<float, LANES> in = mpnum_load<LANES>(src + i, n - i);
    mpnum_lanes<T, LANES> out;
    for (unsigned j = 0; j < LANES; ++j)
      out.at[j] = mpnum::from_float_sat<T>(in.at[j] * scale);
    mpnum_store(dst + i, out, n - i);
  }
}

template <class T>
cudaError_t convert_plain(gpu_operand *operand, size_t rows, size_t k) {
  return mpnum_launch_convert_sat(operand->converted.as<T>(),
                                  operand->original.as<float>(), rows * k, 0);
}

template <class T>
cudaError_t convert_scaled(gpu_operand *operand, size_t rows, size_t k) {
  const size_t n = rows * k;
  const size_t blocks = (n + THREADS * LANES - 1) / (THREADS * LANES);
  const cudaError_t error =
      mpnum_launch_amax(operand->amax.as<float>(), operand->original.as<float>(), n, 0);
  if (error != cudaSuccess) return error;
  return gpu_launch(scaled_kernel<T>,
                    static_cast<unsigned>(blocks < block_limit ? blocks : block_limit),
                    THREADS, operand->converted.as<T>(), operand->scale.as<float>(),
                    operand->original.as<float>(), operand->amax.as<float>(), n);
}

float decode_f32(const void *values, size_t index) {
  return static_cast<const float *>(values)[index];
}
template <class T> float decode(const void *codes, size_t index) {
  return mpnum::to_float(static_cast<const T *>(codes)[index]);
}
float only_scale(const void *scales, size_t, size_t, size_t) {
  return *static_cast<const float *>(scales);
}

} // namespace

const gpu_operand_format gpu_f32_operand = {32, 1, nullptr, decode_f32, nullptr};
const gpu_operand_format gpu_f16_operand = {16, 1, convert_plain<mpnum_f16>,
                                            decode<mpnum_f16>, nullptr};
const gpu_operand_format gpu_bf16_operand = {16, 1, convert_plain<mpnum_bf16>,
                                             decode<mpnum_bf16>, nullptr};
const gpu_operand_format gpu_e4m3_operand = {8, 1, convert_scaled<mpnum_e4m3>,
                                             decode<mpnum_e4m3>, only_scale};
const gpu_operand_format gpu_e5m2_operand = {8, 1, convert_scaled<mpnum_e5m2>,
                                             decode<mpnum_e5m2>, only_scale};

cudaError_t gpu_operand_make(gpu_operand *operand, size_t rows, size_t k, uint64_t seed) {
  const size_t count = rows * k;
  cudaError_t error = operand->original.make(count * sizeof(float));
  operand->scale_bytes = gpu_scale_bytes(rows, k); /* a float is less */
  if (error == cudaSuccess) error = operand->converted.make(count * 2);
  if (error == cudaSuccess) error = operand->amax.make(sizeof(float));
  if (error == cudaSuccess) error = operand->scale.make(operand->scale_bytes);
  if (error == cudaSuccess)
    error = gpu_fill_normal(operand->original.as<float>(), count, seed);
  return error;
}

/* SPDX-License-Identifier: MIT */
/* Operands without scales, and fp8 with one for the tensor. */
#include <stdlib.h>

#include <mpnum/array/quantize.cuh>

#include "operand.cuh"

#include "fill.cuh"

namespace {

/* In device memory. A delayed scale is that of the values themselves, found before. */
struct tensor_scale {
  mpnum_amax_history history;
  float ring, amax;
};

/* Of the last amax alone. */
mpnum_fp8_recipe last_amax() {
  mpnum_fp8_recipe made = mpnum_fp8_recipe_delayed();
  made.history_length = 1;
  return made;
}

tensor_scale *scale_of(gpu_operand *operand) { return operand->scale.as<tensor_scale>(); }

template <class T> cudaError_t convert_plain(gpu_operand *operand, bool) {
  return mpnum_launch_convert_sat(operand->by_row.codes.as<T>(),
                                  operand->original.as<float>(),
                                  operand->rows * operand->columns, 0);
}

cudaError_t find_scale(gpu_operand *operand) {
  const mpnum_fp8_recipe recipe = last_amax();
  tensor_scale *const at = scale_of(operand);
  const cudaError_t error = mpnum_launch_amax(&at->amax, operand->original.as<float>(),
                                              operand->rows * operand->columns, 0);
  if (error != cudaSuccess) return error;
  return mpnum_launch_scale_update(&at->history, &at->ring, &at->amax, 1, &recipe, 0);
}

template <class T, bool is_current> cudaError_t prepare_scaled(gpu_operand *operand) {
  const mpnum_fp8_recipe recipe = last_amax();
  const float max = mpnum_format_max(mpnum_format_of(mpnum::type_of<T>::value));
  tensor_scale made = tensor_scale();
  if (mpnum_amax_history_init(&made.history, &made.ring, 1, max, &recipe) != MPNUM_OK)
    return cudaErrorInvalidValue;
  const cudaError_t error =
      cudaMemcpy(operand->scale.at, &made, sizeof made, cudaMemcpyHostToDevice);
  return error == cudaSuccess && !is_current ? find_scale(operand) : error;
}

template <class T, bool is_current>
cudaError_t convert_scaled(gpu_operand *operand, bool turned_too) {
  const mpnum_fp8_recipe recipe = last_amax();
  const size_t rows = operand->rows, columns = operand->columns, n = rows * columns;
  const float *const from = operand->original.as<float>();
  T *const codes = operand->by_row.codes.as<T>();
  tensor_scale *const at = scale_of(operand);
  mpnum_amax_history *const history = &at->history;
  if (is_current && !turned_too)
    return mpnum_launch_quantize_current(codes, from, n, &recipe, &history->scale_inv,
                                         &at->amax, 0);
  if (!turned_too)
    return mpnum_launch_quantize_array(codes, from, n, &history->scale, &at->amax, 0);
  const cudaError_t error = is_current ? find_scale(operand) : cudaSuccess;
  if (error != cudaSuccess) return error;
  return mpnum_launch_quantize_transpose(
      mpnum::matrix_of(codes, rows, columns),
      mpnum::matrix_of(operand->turned.codes.as<T>(), columns, rows),
      mpnum::matrix_of(from, rows, columns), &history->scale, &at->amax, 0);
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

template <class T, bool is_current> constexpr gpu_operand_format scaled() {
  return {8,
          1,
          is_current ? 2u : 1u,
          true,
          prepare_scaled<T, is_current>,
          convert_scaled<T, is_current>,
          decode<T>,
          only_scale};
}

} // namespace

const gpu_operand_format gpu_f32_operand = {32,      1,       0,          false,
                                            nullptr, nullptr, decode_f32, nullptr};
const gpu_operand_format gpu_f16_operand = {
    16, 1, 1, false, nullptr, convert_plain<mpnum_f16>, decode<mpnum_f16>, nullptr};
const gpu_operand_format gpu_bf16_operand = {
    16, 1, 1, false, nullptr, convert_plain<mpnum_bf16>, decode<mpnum_bf16>, nullptr};
const gpu_operand_format gpu_e4m3_operand = scaled<mpnum_e4m3, true>();
const gpu_operand_format gpu_e4m3_delayed_operand = scaled<mpnum_e4m3, false>();
const gpu_operand_format gpu_e5m2_operand = scaled<mpnum_e5m2, true>();
const gpu_operand_format gpu_e5m2_delayed_operand = scaled<mpnum_e5m2, false>();

cudaError_t gpu_operand_make(gpu_operand *operand, size_t rows, size_t columns,
                             uint64_t seed) {
  const size_t count = rows * columns;
  const size_t by_row = gpu_scale_bytes(rows, columns);
  const size_t turned = gpu_scale_bytes(columns, rows);
  const size_t bytes = by_row > turned ? by_row : turned;
  cudaError_t error = operand->original.make(count * sizeof(float));
  operand->rows = rows;
  operand->columns = columns;
  operand->scale_bytes = bytes;
  if (error == cudaSuccess) error = operand->by_row.codes.make(count * 2);
  if (error == cudaSuccess) error = operand->turned.codes.make(count);
  if (error == cudaSuccess) error = operand->by_row.scales.make(bytes);
  if (error == cudaSuccess) error = operand->turned.scales.make(bytes);
  if (error == cudaSuccess) error = operand->scale.make(sizeof(tensor_scale));
  if (error == cudaSuccess)
    error = gpu_fill_normal(operand->original.as<float>(), count, seed);
  return error;
}

const void *gpu_factor::scales() const {
  if (format->block > 1) return side().scales.at;
  return &of->scale.as<tensor_scale>()->history.scale_inv;
}
size_t gpu_factor::scale_bytes() const {
  return format->block > 1 ? of->scale_bytes : sizeof(float);
}

/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "sample.cuh"

namespace {

/* Number `index` of `count` places, spread over `size`. */
uint64_t place(uint64_t index, uint64_t count, uint64_t size) {
  return count > 1 ? index * (size - 1) / (count - 1) : 0;
}

bool read_rows(gpu_run *run, float *dst, uint64_t count, uint64_t size, uint64_t k,
               const gpu_operand *operand, const gpu_operand_format *format) {
  const bool original = format->convert == nullptr;
  const unsigned char *src = original ? operand->original.as<unsigned char>()
                                      : operand->converted.as<unsigned char>();
  const uint64_t bytes = k * format->bits / 8;
  gpu_host_array<unsigned char> codes(bytes), scales(operand->scale_bytes);
  if (!codes.at || !scales.at) return refuse(&run->why, "out of memory");
  if (format->scale &&
      !run->done(cudaMemcpy(scales.at, operand->scale.at, operand->scale_bytes,
                            cudaMemcpyDeviceToHost),
                 "reading scales"))
    return false;
  for (uint64_t row = 0; row < count; ++row) {
    const uint64_t from = place(row, count, size);
    if (!run->done(
            cudaMemcpy(codes.at, src + from * bytes, bytes, cudaMemcpyDeviceToHost),
            "reading an operand"))
      return false;
    for (uint64_t i = 0; i < k; ++i) {
      const float scale = format->scale ? format->scale(scales.at, from, i, k) : 1;
      dst[row * k + i] = scale * format->decode(codes.at, i);
    }
  }
  return true;
}

} // namespace

bool gpu_sample_take(gpu_run *run, gpu_sample *sample, const gpu_operand *a,
                     const gpu_operand_format *a_format, const gpu_operand *b,
                     const gpu_operand_format *b_format) {
  const uint64_t k = sample->k;
  if (!read_rows(run, sample->a.at, GPU_SAMPLE_ROWS, sample->m, k, a, a_format) ||
      !read_rows(run, sample->b.at, GPU_SAMPLE_COLUMNS, sample->n, k, b, b_format))
    return false;
  for (unsigned row = 0; row < GPU_SAMPLE_ROWS; ++row) {
    for (unsigned column = 0; column < GPU_SAMPLE_COLUMNS; ++column) {
      const float *left = sample->a.at + row * k, *right = sample->b.at + column * k;
      double sum = 0; /* of exact products: 48 bits fit in a double */
      for (uint64_t i = 0; i < k; ++i)
        sum += static_cast<double>(left[i]) * static_cast<double>(right[i]);
      sample->product.at[row * GPU_SAMPLE_COLUMNS + column] = sum;
    }
  }
  return true;
}

bool gpu_sample_result(gpu_run *run, gpu_sample *sample, const float *d) {
  gpu_host_array<float> values(sample->m);
  if (!values.at) return refuse(&run->why, "out of memory");
  for (unsigned column = 0; column < GPU_SAMPLE_COLUMNS; ++column) {
    const float *src = d + place(column, GPU_SAMPLE_COLUMNS, sample->n) * sample->m;
    if (!run->done(
            cudaMemcpy(values.at, src, sample->m * sizeof(float), cudaMemcpyDeviceToHost),
            "reading a product"))
      return false;
    for (unsigned row = 0; row < GPU_SAMPLE_ROWS; ++row)
      sample->result.at[row * GPU_SAMPLE_COLUMNS + column] =
          values.at[place(row, GPU_SAMPLE_ROWS, sample->m)];
  }
  return true;
}

double gpu_sample_error(const gpu_sample *sample, const double *exact) {
  double noise = 0, signal = 0;
  for (unsigned i = 0; i < GPU_SAMPLE_ROWS * GPU_SAMPLE_COLUMNS; ++i) {
    const double apart = static_cast<double>(sample->result.at[i]) - exact[i];
    noise += apart * apart;
    signal += exact[i] * exact[i];
  }
  return sqrt(noise / signal);
}

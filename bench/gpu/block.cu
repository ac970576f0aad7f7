/* SPDX-License-Identifier: MIT */
/* Operands with a scale for each block of neighbours along K: MXFP8 and NVFP4. */
#include <stdlib.h>

#include "operand.cuh"

#include "launch.cuh"

namespace {

enum { THREADS = 256, LANES = 4, TILE_ROWS = 128, TILE_COLUMNS = 4 };

/* OCP MX 1.0, 6.3: the scale is 2^(floor(log2(amax)) - 8), 2^8 being the power of two of
 * 448. Values between 448 and 512 times it saturate. Finite values. */
struct mxfp8 {
  enum { BLOCK = 32 };
  typedef mpnum_e4m3x4 lanes;
  static __device__ uint8_t scale_of(float amax) {
    const int code = mpnum_f32_to_e8m0_rz_sat(amax).bits;
    return static_cast<uint8_t>(code > 8 ? code - 8 : 0);
  }
  static __host__ __device__ float scale_value(uint8_t code) {
    return mpnum_e8m0_to_f32(mpnum_from_bits_e8m0(code));
  }
  static __device__ lanes encode(float a, float b, float c, float d) {
    return mpnum_f32_to_e4m3_sat_x4(a, b, c, d);
  }
};

/* The scale is amax / 6 as an e4m3, 6 being the largest e2m1. The f32 for the whole
 * tensor that NVFP4 may have besides is left out: it serves values far from one, which
 * these operands are not. */
struct nvfp4 {
  enum { BLOCK = 16 };
  typedef mpnum_e2m1x4 lanes;
  static __device__ uint8_t scale_of(float amax) {
    return mpnum_f32_to_e4m3_sat(amax / MPNUM_E2M1_MAX).bits;
  }
  static __host__ __device__ float scale_value(uint8_t code) {
    return mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(code));
  }
  static __device__ lanes encode(float a, float b, float c, float d) {
    return mpnum_f32_to_e2m1_sat_x4(a, b, c, d);
  }
};

__host__ __device__ size_t round_up(size_t n, size_t step) {
  return (n + step - 1) / step * step;
}

/* Rows of `blocks` blocks. A block of threads takes one row of scales, the filled up rows
 * too, whose scales are 0 like those of filled up columns; LANES values a thread. */
template <class Format>
__global__ void quantise_kernel(typename Format::lanes *codes, uint8_t *scales,
                                const float *src, size_t rows, size_t blocks) {
  const unsigned sharers = Format::BLOCK / LANES; /* threads of a block of values */
  const size_t row = blockIdx.x, columns = round_up(blocks, TILE_COLUMNS);
  for (size_t first = 0; first < columns; first += THREADS / sharers) {
    const size_t block = first + threadIdx.x / sharers;
    const bool inside = row < rows && block < blocks;
    const size_t at = (row * blocks + block) * sharers + threadIdx.x % sharers;
    mpnum_lanes<float, LANES> in = mpnum_lanes<float, LANES>();
    float amax = 0;
    if (inside) in = mpnum_load<LANES>(src + LANES * at, LANES);
    for (unsigned i = 0; i < LANES; ++i)
      amax = mpnum_amax(amax, in.at[i]);
    for (int step = sharers / 2; step > 0; step /= 2)
      amax = mpnum_amax(amax, __shfl_xor_sync(0xffffffffu, amax, step));
    const uint8_t code = Format::scale_of(amax); /* 0 for zeros */
    const float scale = Format::scale_value(code), inverse = scale > 0 ? 1 / scale : 0;
    if (inside)
      codes[at] = Format::encode(in.at[0] * inverse, in.at[1] * inverse,
                                 in.at[2] * inverse, in.at[3] * inverse);
    if (threadIdx.x % sharers == 0 && block < columns)
      scales[mpnum_scale_place(row, block, columns)] = code;
  }
}

template <class Format>
cudaError_t quantise(gpu_operand *operand, size_t rows, size_t k) {
  return gpu_launch(
      quantise_kernel<Format>, static_cast<unsigned>(round_up(rows, TILE_ROWS)), THREADS,
      operand->converted.as<typename Format::lanes>(), operand->scale.as<uint8_t>(),
      operand->original.as<float>(), rows, k / Format::BLOCK);
}

float decode_e4m3(const void *codes, size_t index) {
  return mpnum_e4m3_to_f32(static_cast<const mpnum_e4m3 *>(codes)[index]);
}
float decode_e2m1(const void *codes, size_t index) {
  const mpnum_e2m1x2 pair = static_cast<const mpnum_e2m1x2 *>(codes)[index / 2];
  return mpnum_e2m1_to_f32(mpnum_unpack_e2m1_x2(pair, static_cast<int>(index % 2)));
}

template <class Format>
float scale_at(const void *scales, size_t row, size_t index, size_t k) {
  const size_t columns = round_up(k / Format::BLOCK, TILE_COLUMNS);
  return Format::scale_value(static_cast<const uint8_t *>(
      scales)[mpnum_scale_place(row, index / Format::BLOCK, columns)]);
}

} // namespace

const gpu_operand_format gpu_mxfp8_operand = {8, mxfp8::BLOCK, quantise<mxfp8>,
                                              decode_e4m3, scale_at<mxfp8>};
const gpu_operand_format gpu_nvfp4_operand = {4, nvfp4::BLOCK, quantise<nvfp4>,
                                              decode_e2m1, scale_at<nvfp4>};

size_t gpu_scale_bytes(size_t rows, size_t k) {
  const size_t blocks =
      round_up(k, nvfp4::BLOCK) / nvfp4::BLOCK; /* its are the smallest */
  return round_up(rows, TILE_ROWS) * round_up(blocks, TILE_COLUMNS);
}

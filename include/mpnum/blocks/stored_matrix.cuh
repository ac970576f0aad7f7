/* SPDX-License-Identifier: MIT */
/* Matrices in device memory as other libraries store them, from floats and back, and from
 * codes and scales of blockscale.h and back. Rules of all launchers: kernels.cuh. CUDA
 * C++11; NVRTC for the kernels alone. Opt-in.
 *
 *     mpnum_stored weights = mpnum_stored_of(MPNUM_STORED_Q4_0, rows, columns, 0);
 *     weights.data = codes; // in device memory
 *     mpnum_launch_quantize_stored(weights, mpnum::matrix_of(values, rows, columns),
 *                                  stream);
 *
 * Domain and status are those of stored_matrix.h, but scales of NF4, FP4, AWQ and GPTQ
 *   are aligned for their type. T is float, mpnum_f16 or mpnum_bf16.
 * Bits: those of the functions of stored_matrix.h.
 * NaN: Inf and NaN, which the host refuses, a device sees too late: their block (of
 *   NVFP4 the elements of their scale), or group of a row, is stored as a scale of NaN
 *   and codes of 0, and comes back as NaN.
 * Speed: Q8_0 and Q4_0, and NF4 and FP4 back, go by vectors where a matrix has no gaps
 *   and is aligned for 16 bytes. Else eight threads quantise a block, or the groups of
 *   eight rows; on the way back a thread has eight neighbours of a row. Words of AWQ hold
 *   columns, and eight threads read each of them. */
#ifndef MPNUM_BLOCKS_STORED_MATRIX_CUH
#define MPNUM_BLOCKS_STORED_MATRIX_CUH

#include "../array/matrix.cuh"
#include "../cuda/detail/launch.cuh"
#include "detail/stored_tiles.cuh"
#include "stored_matrix.h"
MPNUM_C_BEGIN_

namespace mpnum {

/* Eight neighbours of a row: their codes, and their scale. */
struct stored_eight_ {
  int code[8];
  float scale;
};
/* Nibble k of bytes, the low half of each first. */
static __device__ __forceinline__ int stored_nibble_(const unsigned char *from,
                                                     unsigned k) {
  return from[k / 2] >> 4 * (k % 2) & 15;
}
static __device__ __forceinline__ float stored_f16_(const unsigned char *from) {
  return mpnum_f16_to_f32(mpnum_from_bits_f16(
      static_cast<uint16_t>(from[0] | static_cast<unsigned>(from[1]) << 8)));
}
/* Of blocks of ggml: a scale, then codes, of four bits those of the second half of the
 * elements in the upper ones. */
static __device__ __forceinline__ void
stored_ggml_(stored_eight_ &eight, const mpnum_stored &src, size_t row, size_t column) {
  const unsigned char *const data = static_cast<const unsigned char *>(src.data);
  const size_t number = row * (src.columns / src.block) + column / src.block;
  const unsigned place = static_cast<unsigned>(column % src.block);
  const unsigned char *from = data;
  unsigned half = 16; /* elements of one */
  if (src.layout == MPNUM_STORED_NVFP4) {
    from += 36 * number;
    half = 8;
    eight.scale = mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(from[place / 16]));
    from += 4 + place / 16 * 8;
  } else if (src.layout == MPNUM_STORED_MXFP4) {
    from += 17 * number;
    eight.scale = mpnum_e8m0_to_f32(mpnum_from_bits_e8m0(from[0]));
    from += 1;
  } else {
    from += (src.layout == MPNUM_STORED_Q8_0 ? 34 : 18) * number;
    eight.scale = stored_f16_(from);
    from += 2;
  }
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 8; ++j)
    eight.code[j] = src.layout == MPNUM_STORED_Q8_0
                        ? static_cast<signed char>(from[place + j])
                        : from[place % half + j] >> (place / half % 2 * 4) & 15;
}
/* Of NF4 and FP4, the high half of a byte first; count of them at least are there. */
static __device__ __forceinline__ void stored_books_(stored_eight_ &eight,
                                                     const mpnum_stored &src, size_t row,
                                                     size_t column, size_t count) {
  const size_t across = (src.columns - 1) / src.block + 1;
  const unsigned char *const from =
      static_cast<const unsigned char *>(src.data) + (row * src.columns + column) / 2;
  eight.scale = static_cast<const float *>(src.scales)[row * across + column / src.block];
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 8; ++j)
    eight.code[j] = j < count ? stored_nibble_(from, j ^ 1) : 0;
}
/* Of AWQ and GPTQ: less their zero points. */
static __device__ __forceinline__ void
stored_groups_(stored_eight_ &eight, const mpnum_stored &src, size_t row, size_t column) {
  const bool is_awq = src.layout == MPNUM_STORED_AWQ;
  const unsigned char *const data = static_cast<const unsigned char *>(src.data);
  const size_t at = column / src.block * src.rows + row;
  const unsigned k = static_cast<unsigned>(row % 8);
  const unsigned place = !is_awq ? k : k % 2 ? (k + 7) / 2 : k / 2;
  const int zero =
      stored_nibble_(static_cast<const unsigned char *>(src.zeros) + (at - k) / 2, place);
  eight.scale = mpnum_f16_to_f32(static_cast<const mpnum_f16 *>(src.scales)[at]);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 8; ++j)
    eight.code[j] =
        is_awq ? stored_nibble_(data + 4 * ((column + j) * (src.rows / 8) + row / 8),
                                place) -
                     zero
               : stored_nibble_(data + 4 * (column / 8 * src.rows + row), j) -
                     ((zero + 1) & 15);
}
/* What a code is, times 1; books: the values of NF4 or FP4. */
static __device__ __forceinline__ float stored_number_(mpnum_stored_layout layout,
                                                       int code, const float *book) {
  if (layout == MPNUM_STORED_MXFP4 || layout == MPNUM_STORED_NVFP4)
    return mpnum_e2m1_to_f32(mpnum_from_bits_e2m1(static_cast<uint8_t>(code)));
  if (layout == MPNUM_STORED_NF4 || layout == MPNUM_STORED_FP4) return book[code];
  return static_cast<float>(layout == MPNUM_STORED_Q4_0 ? code - 8 : code);
}
/* The book of a layout, of one thread for each code. */
static __device__ __forceinline__ float stored_book_(mpnum_stored_layout layout,
                                                     unsigned code) {
  static const float nf4[16] = MPNUM_NF4_VALUES_;
  static const float fp4[8] = MPNUM_FP4_VALUES_;
  if (layout == MPNUM_STORED_NF4) return nf4[code];
  return mpnum_from_bits_f32(mpnum_bits_f32(fp4[code % 8]) | (code / 8) << 31);
}

/* Of the eight threads of a unit: what is quantised together. */
template <class T>
static __device__ __forceinline__ void
stored_put_block_(const mpnum_stored &dst, const T *src, size_t stride, size_t unit,
                  bool exists, unsigned lane) {
  const size_t across = (dst.columns - 1) / dst.block + 1;
  const size_t row = unit / across, column = unit % across * dst.block;
  const T *const from = src + (exists ? row * stride + column : 0);
  unsigned char *to = static_cast<unsigned char *>(dst.data);
  if (dst.layout == MPNUM_STORED_NVFP4) {
    stored_put_nvfp4_(exists ? to + 36 * unit : 0,
                      stored_in_<8>(from + 8 * lane, exists ? 8 : 0), lane);
  } else if (dst.layout <= MPNUM_STORED_Q4_0) {
    const mpnum_lanes<float, 4> x = stored_in_<4>(from + 4 * lane, exists ? 4 : 0);
    if (dst.layout == MPNUM_STORED_MXFP4)
      stored_put_mxfp4_(exists ? to + 17 * unit : 0, x, lane);
    else if (dst.layout == MPNUM_STORED_Q8_0)
      stored_put_q_0_(true, exists ? to + 34 * unit : 0, x, lane);
    else
      stored_put_q_0_(false, exists ? to + 18 * unit : 0, x, lane);
  } else {
    const size_t left = dst.columns - column, n = left < dst.block ? left : dst.block;
    stored_put_book_(dst.layout == MPNUM_STORED_NF4,
                     to + (exists ? (row * dst.columns + column) / 2 : 0),
                     static_cast<float *>(dst.scales) + (exists ? unit : 0), from,
                     exists ? n : 0, lane);
  }
}

} // namespace mpnum

/* Grids of one dimension, blocks of MPNUM_LAUNCH_THREADS_. */
template <class T>
static __global__ void mpnum_dequantize_stored_kernel_(T *dst, size_t stride,
                                                       mpnum_stored src) {
  mpnum_begin_kernel_();
  __shared__ float book[16];
  const size_t across = (src.columns - 1) / 8 + 1;
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (threadIdx.x < 16) book[threadIdx.x] = mpnum::stored_book_(src.layout, threadIdx.x);
  __syncthreads();
  for (; i < src.rows * across; i += threads) {
    const size_t row = i / across, column = i % across * 8, left = src.columns - column;
    mpnum::stored_eight_ eight;
    mpnum_lanes<T, 8> values;
    if (src.layout <= MPNUM_STORED_Q4_0)
      mpnum::stored_ggml_(eight, src, row, column);
    else if (src.layout <= MPNUM_STORED_FP4)
      mpnum::stored_books_(eight, src, row, column, left);
    else
      mpnum::stored_groups_(eight, src, row, column);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 8; ++j)
      values.at[j] = mpnum::element_of_(
          mpnum_canonical_(mpnum_mul_scalar_(
              mpnum::stored_number_(src.layout, eight.code[j], book), eight.scale)),
          static_cast<T *>(0));
    mpnum_store(dst + row * stride + column, values, left);
  }
}

/* The same; eight threads for a block, or for the groups of eight rows. */
template <class T>
static __global__ void mpnum_quantize_stored_kernel_(mpnum_stored dst, const T *src,
                                                     size_t stride) {
  mpnum_begin_kernel_();
  const size_t across = (dst.columns - 1) / dst.block + 1;
  const bool has_groups = dst.layout >= MPNUM_STORED_AWQ;
  const size_t units = (has_groups ? dst.rows / 8 : dst.rows) * across;
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x / 8;
  const size_t first = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 8;
  size_t warp = first / 32 * 4; /* its first unit: all of a warp go on together */
  for (; warp < units; warp += step) {
    const size_t unit = warp + threadIdx.x % 32 / 8;
    const bool exists = unit < units;
    const size_t row = unit / across * 8 + lane, column = unit % across * dst.block;
    if (!has_groups)
      mpnum::stored_put_block_(dst, src, stride, unit, exists, lane);
    else
      mpnum::stored_put_group_(dst, exists ? src + row * stride + column : 0, row, column,
                               lane);
  }
}

/* The same of Q8_0 or Q4_0 without gaps and aligned: a block for each tile, and one for
 * the blocks of elements that fill none. */
template <bool is_q8, class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_LAUNCH_BLOCKS_)
    mpnum_quantize_stored_tiles_kernel_(unsigned char *dst, const T *src, size_t blocks) {
  mpnum_begin_kernel_();
  typedef mpnum::stored_shape_<is_q8> shape;
  __shared__ mpnum_vector_ stage[MPNUM_LAUNCH_WARPS_][shape::vectors];
  const unsigned warp = threadIdx.x / 32, in_tile = MPNUM_STORED_TILE_ / 32;
  size_t block = blockIdx.x * static_cast<size_t>(in_tile);
  if (blocks - block >= in_tile) {
    const size_t number = blockIdx.x * static_cast<size_t>(MPNUM_LAUNCH_WARPS_) + warp;
    mpnum::stored_put_warp_<is_q8>(reinterpret_cast<mpnum_vector_ *>(dst) +
                                       number * shape::vectors,
                                   src + number * MPNUM_STORED_WARP_, stage[warp]);
    return;
  }
  for (block += 4 * warp; block < blocks; block += 4 * MPNUM_LAUNCH_WARPS_) {
    const size_t own = block + threadIdx.x % 32 / 8;
    const unsigned lane = threadIdx.x % 8;
    const bool exists = own < blocks;
    mpnum::stored_put_q_0_(
        is_q8, exists ? dst + own * shape::bytes : 0,
        mpnum::stored_in_<4>(src + (exists ? 32 * own + 4 * lane : 0), exists ? 4 : 0),
        lane);
  }
}
template <bool is_q8, class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_LAUNCH_BLOCKS_)
    mpnum_dequantize_stored_tiles_kernel_(T *dst, const unsigned char *src,
                                          size_t blocks) {
  mpnum_begin_kernel_();
  typedef mpnum::stored_shape_<is_q8> shape;
  __shared__ mpnum_vector_ stage[MPNUM_LAUNCH_WARPS_ * shape::vectors];
  const unsigned in_tile = MPNUM_STORED_TILE_ / 32;
  const size_t first = blockIdx.x * static_cast<size_t>(in_tile);
  if (blocks - first >= in_tile) {
    mpnum::stored_back_tile_<is_q8>(
        dst + 32 * first,
        reinterpret_cast<const mpnum_vector_ *>(src + first * shape::bytes), stage);
    return;
  }
  for (size_t i = 32 * first + threadIdx.x; i < 32 * blocks; i += MPNUM_LAUNCH_THREADS_) {
    const unsigned char *const block = src + i / 32 * shape::bytes;
    const unsigned place = static_cast<unsigned>(i % 32);
    const int code = is_q8 ? static_cast<signed char>(block[2 + place])
                           : (block[2 + place % 16] >> place / 16 * 4 & 15) - 8;
    mpnum::set_element_(dst + i,
                        mpnum_canonical_(mpnum_mul_scalar_(static_cast<float>(code),
                                                           mpnum::stored_f16_(block))));
  }
}

/* NF4 and FP4 the same way, of blocks of 1 << shift: a thread has four words of codes. */
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_LAUNCH_BLOCKS_)
    mpnum_dequantize_books_kernel_(T *dst, const uint32_t *src, const float *scales,
                                   size_t n, unsigned shift, mpnum_stored_layout layout) {
  mpnum_begin_kernel_();
  enum { words = MPNUM_STORED_TILE_ / 8 / MPNUM_LAUNCH_THREADS_ };
  __shared__ float book[16];
  const size_t first = blockIdx.x * static_cast<size_t>(MPNUM_STORED_TILE_ / 8);
  const size_t own = first + threadIdx.x;
  if (threadIdx.x < 16) book[threadIdx.x] = mpnum::stored_book_(layout, threadIdx.x);
  __syncthreads();
  if (n / 8 - first >= MPNUM_STORED_TILE_ / 8) {
    uint32_t in[words];
    float scale[words];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < words; ++v) {
      const size_t at = own + v * MPNUM_LAUNCH_THREADS_;
      in[v] = src[at];
      scale[v] = scales[at * 8 >> shift];
    }
    MPNUM_UNROLL_
    for (unsigned v = 0; v < words; ++v)
      *reinterpret_cast<mpnum_lanes<T, 8> *>(dst +
                                             8 * (own + v * MPNUM_LAUNCH_THREADS_)) =
          mpnum::stored_back_book_<T>(in[v], book, scale[v]);
    return;
  }
  for (size_t i = 8 * first + threadIdx.x; i < n; i += MPNUM_LAUNCH_THREADS_) {
    const unsigned char *const from = reinterpret_cast<const unsigned char *>(src);
    const int code = mpnum::stored_nibble_(from + i / 2, i % 2 ^ 1);
    mpnum::set_element_(
        dst + i, mpnum_canonical_(mpnum_mul_scalar_(book[code], scales[i >> shift])));
  }
}

/* Codes and scales between MXFP4 or NVFP4 and a form of their own: a thread has eight
 * elements, four bytes of a block, of which the low halves lie in two bytes of the codes,
 * and the high halves in two others. */
template <bool is_back, class Blocks>
static __global__ void mpnum_move_stored_kernel_(mpnum_stored stored, Blocks blocks) {
  mpnum_begin_kernel_();
  const bool is_nvfp4 = stored.layout == MPNUM_STORED_NVFP4;
  const unsigned wide = is_nvfp4 ? 16 : 32, each = is_nvfp4 ? 4 : 1; /* scales a block */
  const unsigned bytes = is_nvfp4 ? 36 : 17;
  const size_t across = stored.columns / wide, in_row = stored.columns / 8;
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < stored.rows * in_row; i += threads) {
    const size_t row = i / in_row, b = i % in_row / (wide / 8), number = row * across + b;
    const unsigned part = static_cast<unsigned>(i % in_row % (wide / 8));
    unsigned char *const block =
        static_cast<unsigned char *>(stored.data) + number / each * bytes;
    unsigned char *const own = block + each + number % each * (wide / 2) + 4 * part;
    unsigned char *const low = static_cast<unsigned char *>(blocks.codes) +
                               (row * blocks.stride + b * wide) / 2 + 2 * part;
    unsigned char *const high = low + wide / 4;
    unsigned char *const scale =
        static_cast<unsigned char *>(blocks.scale_inv) +
        (blocks.is_swizzled ? mpnum_scale_place(row, b, across) : number);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      unsigned char *const to[2] = {is_back ? low + j : own + 2 * j,
                                    is_back ? high + j : own + 2 * j + 1};
      const unsigned a = is_back ? own[2 * j] : low[j];
      const unsigned c = is_back ? own[2 * j + 1] : high[j];
      *to[0] = static_cast<unsigned char>((a & 15) | (c << 4 & 0xf0));
      *to[1] = static_cast<unsigned char>(a >> 4 | (c & 0xf0));
    }
    if (part == 0 && is_back) *scale = block[number % each];
    if (part == 0 && !is_back) block[number % each] = *scale;
  }
}

#if !MPNUM_HAS_NVRTC_

/* Whether a matrix goes by tiles: without gaps, both sides aligned, of Q8_0 or Q4_0, or
 * of books in blocks of a power of two. */
template <class T>
static inline bool mpnum_stored_is_plain_(const mpnum_stored &stored, const T *floats,
                                          size_t stride) {
  return (stride == stored.columns || stored.rows == 1) && mpnum_is_aligned_(floats) &&
         mpnum_is_aligned_(stored.data);
}
template <class T>
static inline bool mpnum_stored_has_tiles_(const mpnum_stored &stored, const T *floats,
                                           size_t stride) {
  return (stored.layout == MPNUM_STORED_Q8_0 || stored.layout == MPNUM_STORED_Q4_0) &&
         mpnum_stored_is_plain_(stored, floats, stride);
}
template <class T>
static inline bool mpnum_stored_has_books_(const mpnum_stored &stored, const T *floats,
                                           size_t stride) {
  return mpnum_is_book_(stored.layout) && (stored.block & (stored.block - 1)) == 0 &&
         mpnum_stored_is_plain_(stored, floats, stride);
}
/* A grid for units of so many threads. */
template <class T>
static inline cudaError_t mpnum_stored_grid_(size_t *blocks, const mpnum_stored &stored,
                                             const T *floats, size_t stride,
                                             size_t threads) {
  mpnum_const_matrix view = mpnum_const_matrix_of(mpnum::type_of<T>::value, floats,
                                                  stored.rows, stored.columns);
  const size_t scale_bytes = stored.layout <= MPNUM_STORED_Q4_0  ? 1
                             : stored.layout <= MPNUM_STORED_FP4 ? 4
                                                                 : 2;
  view.stride = stride;
  if (mpnum_stored_check_(&stored, view) != MPNUM_OK ||
      reinterpret_cast<size_t>(stored.scales) % scale_bytes != 0)
    return cudaErrorInvalidValue;
  return mpnum_launch_blocks_(blocks, (threads - 1) / MPNUM_LAUNCH_THREADS_ + 1, 0);
}
/* mpnum_quantize_stored. */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_stored(mpnum_stored dst, mpnum::matrix<T> src,
                             cudaStream_t stream) {
  size_t blocks = 0;
  if (src.rows == 0 || src.columns == 0) return cudaSuccess;
  if (dst.rows != src.rows || dst.columns != src.columns) return cudaErrorInvalidValue;
  const size_t high = dst.layout < MPNUM_STORED_AWQ ? dst.rows : dst.rows / 8;
  const size_t across = (dst.columns - 1) / (dst.block ? dst.block : 1) + 1;
  const cudaError_t error =
      mpnum_stored_grid_(&blocks, dst, src.data, src.stride, high * across * 8);
  if (error != cudaSuccess) return error;
  if (mpnum_stored_has_tiles_(dst, src.data, src.stride)) {
    const size_t number = dst.rows * (dst.columns / 32);
    return mpnum_launch_(
        dst.layout == MPNUM_STORED_Q8_0 ? mpnum_quantize_stored_tiles_kernel_<true, T>
                                        : mpnum_quantize_stored_tiles_kernel_<false, T>,
        (number - 1) / (MPNUM_STORED_TILE_ / 32) + 1, MPNUM_LAUNCH_THREADS_, stream,
        static_cast<unsigned char *>(dst.data), static_cast<const T *>(src.data), number);
  }
  return mpnum_launch_(mpnum_quantize_stored_kernel_<T>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, dst, static_cast<const T *>(src.data), src.stride);
}
/* mpnum_dequantize_stored. */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dequantize_stored(mpnum::matrix<T> dst, mpnum_stored src,
                               cudaStream_t stream) {
  size_t blocks = 0;
  if (dst.rows == 0 || dst.columns == 0) return cudaSuccess;
  if (dst.rows != src.rows || dst.columns != src.columns || dst.stride < dst.columns)
    return cudaErrorInvalidValue;
  const cudaError_t error = mpnum_stored_grid_(&blocks, src, dst.data, dst.stride,
                                               dst.rows * ((dst.columns - 1) / 8 + 1));
  if (error != cudaSuccess) return error;
  if (mpnum_stored_has_tiles_(src, dst.data, dst.stride)) {
    const size_t number = src.rows * (src.columns / 32);
    return mpnum_launch_(
        src.layout == MPNUM_STORED_Q8_0 ? mpnum_dequantize_stored_tiles_kernel_<true, T>
                                        : mpnum_dequantize_stored_tiles_kernel_<false, T>,
        (number - 1) / (MPNUM_STORED_TILE_ / 32) + 1, MPNUM_LAUNCH_THREADS_, stream,
        dst.data, static_cast<const unsigned char *>(src.data), number);
  }
  if (mpnum_stored_has_books_(src, dst.data, dst.stride)) {
    const size_t n = src.rows * src.columns;
    unsigned shift = 0;
    while (src.block >> shift > 1)
      ++shift;
    return mpnum_launch_(mpnum_dequantize_books_kernel_<T>,
                         (n - 1) / MPNUM_STORED_TILE_ + 1, MPNUM_LAUNCH_THREADS_, stream,
                         dst.data, static_cast<const uint32_t *>(src.data),
                         static_cast<const float *>(src.scales), n, shift, src.layout);
  }
  return mpnum_launch_(mpnum_dequantize_stored_kernel_<T>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, dst.data, dst.stride, src);
}

template <bool is_back, class Blocks>
static inline cudaError_t mpnum_launch_move_stored_(const mpnum_stored &stored,
                                                    const Blocks &blocks,
                                                    cudaStream_t stream) {
  const mpnum_blockscale_format format = mpnum_stored_format_(stored.layout);
  size_t grid = 0;
  cudaError_t error = cudaSuccess;
  if (stored.rows == 0 || stored.columns == 0) return cudaSuccess;
  if (mpnum_stored_move_check_(&stored, &blocks) != MPNUM_OK)
    return cudaErrorInvalidValue;
  const size_t units = stored.rows * (stored.columns / 8);
  error = mpnum_launch_blocks_(&grid, (units - 1) / MPNUM_LAUNCH_THREADS_ + 1, 0);
  if (error == cudaSuccess && is_back && blocks.is_swizzled) /* what pads the tiles */
    error = cudaMemsetAsync(
        blocks.scale_inv, 0,
        mpnum_blockscale_scale_bytes(&format, stored.rows, stored.columns, 1), stream);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_move_stored_kernel_<is_back, Blocks>, grid,
                       MPNUM_LAUNCH_THREADS_, stream, stored, blocks);
}
/* mpnum_stored_from_blocks and mpnum_stored_to_blocks. */
template <class Blocks = mpnum_blockscaled>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_stored_from_blocks(mpnum_stored dst, Blocks src, cudaStream_t stream) {
  return mpnum_launch_move_stored_<false>(dst, src, stream);
}
template <class Blocks = mpnum_blockscaled>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_stored_to_blocks(Blocks dst, mpnum_stored src, cudaStream_t stream) {
  return mpnum_launch_move_stored_<true>(src, dst, stream);
}

#endif

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* FP8 with a scale for each tensor, on devices: the functions of scale.h and
 * amax_history.h over arrays in device memory. Rules of all launchers: kernels.cuh. CUDA
 * C++11; NVRTC for the kernels alone.
 *
 *     // Delayed scaling: the scale of the history, its next amax as a by-product, ...
 *     mpnum_launch_quantize_array(codes, x, n, &histories[i].scale, amax + i, stream);
 *     // ... and once for all tensors of a step:
 *     mpnum_launch_scale_update(histories, rings, amax, count, &recipe, stream);
 *
 * Scales, histories and amaxes are in device memory and never read on the host. A scale
 * that is none, 0, negative, Inf or NaN, which the host refuses, makes all codes NaN.
 * Nothing overlaps: dst and src that do, pointers that are NULL and rows that are longer
 * than their distance are cudaErrorInvalidValue; nothing is launched then. */
#ifndef MPNUM_ARRAY_QUANTIZE_CUH
#define MPNUM_ARRAY_QUANTIZE_CUH

#include "amax_history.h"
#include "detail/source.cuh"
#include "../cuda/block.cuh"
#include "reduce.cuh"
MPNUM_C_BEGIN_

/* The kernels over arrays take tiles of as many vectors as this for each thread. */
enum { MPNUM_QUANTIZE_VECTORS_ = 4 };

/* How a scale is found: it is in memory, or comes from the amax of the tensor. */
struct mpnum_scale_given_ {
  const float *scale;
  __device__ __forceinline__ float get() const { return *scale; }
};
struct mpnum_scale_current_ {
  const float *amax;
  float *scale_inv;
  float largest; /* of the type */
  mpnum_scale_options options;
  /* By one thread; others wait. */
  __device__ __forceinline__ float get() const {
    __shared__ float shared;
    if (threadIdx.x == 0) {
      shared = mpnum_scale_from_amax(*amax, largest, &options);
      if (blockIdx.x == 0) *scale_inv = mpnum_scale_inv(shared);
    }
    __syncthreads();
    return shared;
  }
};

/* Elements head to n - 1 by tiles, by all blocks, those before by the first. Words that
 * are not aligned are read with up to 4 bytes beside them, so not at the ends of the
 * array, around which there may be nothing. */
template <class Array>
static __device__ __forceinline__ void mpnum_run_tiles_(Array &own, size_t head, size_t n,
                                                        bool is_aligned) {
  const size_t step = gridDim.x * static_cast<size_t>(Array::tile);
  size_t i = head + blockIdx.x * static_cast<size_t>(Array::tile);
  if (is_aligned) {
    MPNUM_NO_UNROLL_
    for (; i < n && n - i >= Array::tile; i += step)
      own.template run<true>(i);
  }
  MPNUM_NO_UNROLL_
  for (; i < n; i += step) {
    if (!is_aligned && i >= Array::beside && n - i >= Array::tile + Array::beside)
      own.template run<false>(i);
    else
      own.rest(i, n - i < Array::tile ? n : i + Array::tile);
  }
  if (blockIdx.x == 0) own.rest(0, head);
}

/* Elements of an array as a thread quantises them, and the largest magnitude so far. */
template <class T, class S> struct mpnum_quantize_array_ {
  typedef mpnum::blocks_<T, mpnum::MX_FAMILY_, 32> blocks;
  typedef mpnum::magnitudes_<S> magnitudes;
  static constexpr unsigned lanes = 16 / sizeof(S), vectors = MPNUM_QUANTIZE_VECTORS_;
  static constexpr unsigned step = MPNUM_LAUNCH_THREADS_ * lanes; /* between vectors */
  static constexpr unsigned tile = step * vectors, beside = 2;
  uint8_t *codes;
  const S *src;
  float factor;
  uint32_t most;

  /* A whole tile. codes + begin are aligned for vectors of codes, src + begin for those
   * of elements if is_aligned. */
  template <bool is_aligned> __device__ __forceinline__ void run(size_t begin) {
    const uint32_t random[lanes] = {0};
    const size_t first = begin + threadIdx.x * lanes;
    mpnum_lanes<S, lanes> in[vectors];
    mpnum_load_items_<is_aligned>(in, src + first, step);
    MPNUM_UNROLL_
    for (unsigned v = 0; v < vectors; ++v) {
      uint32_t words[4];
      memcpy(words, in + v, sizeof words);
      MPNUM_UNROLL_
      for (unsigned i = 0; i < 4; ++i)
        most = magnitudes::larger(most, words[i]);
      mpnum_store_codes_<blocks, lanes>(
          codes + first + v * step, 0, 0, 0, 0, true,
          mpnum_quantize_lanes_<blocks, false>(in[v], factor, random));
    }
  }
  /* Elements begin to end - 1, each by a thread. */
  __device__ __forceinline__ void rest(size_t begin, size_t end) {
    MPNUM_NO_UNROLL_
    for (size_t i = begin + threadIdx.x; i < end; i += MPNUM_LAUNCH_THREADS_) {
      const S x = src[i];
      uint32_t word = 0;
      memcpy(&word, &x, sizeof x);
      most = magnitudes::larger(most, word);
      codes[i] =
          mpnum::from_float_sat<T>(mpnum_mul_scalar_(mpnum::element_of_(x), factor)).bits;
    }
  }
};

/* Codes of elements times the scale. amax, unless NULL, is raised to the largest
 * magnitude. A one-dimensional grid of blocks of 256 threads. The tiles begin where
 * vectors of codes do. */
template <class T, class S, class Scale>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_,
                                         mpnum::dense_<T>::resident)
    mpnum_quantize_kernel_(T *dst, float *amax, const S *src, Scale scale, size_t n) {
  mpnum_begin_kernel_();
  typedef mpnum_quantize_array_<T, S> array;
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const float factor = mpnum::scale_or_nan_(scale.get());
  const size_t before = mpnum_bytes_before_vectors_(dst) % array::lanes;
  const size_t head = before < n ? before : n;
  const bool is_aligned = reinterpret_cast<size_t>(src + head) % 16 == 0;
  array own = {reinterpret_cast<uint8_t *>(dst), src, factor, 0};
  mpnum_run_tiles_(own, head, n, is_aligned);
  if (!amax) return;
  const uint32_t largest = array::magnitudes::bits(array::magnitudes::folded(own.most));
  const float found = mpnum_block_amax_f32(mpnum_f32_of_scalar_(largest), scratch);
  if (threadIdx.x == 0) mpnum_atomic_amax(amax, found);
}

/* As mpnum_quantize_array_: codes times factor, the product rounded to f32, then to T. */
template <class T, class Code> struct mpnum_dequantize_array_ {
  static constexpr unsigned lanes = 16 / sizeof(T), vectors = MPNUM_QUANTIZE_VECTORS_;
  static constexpr unsigned step = MPNUM_LAUNCH_THREADS_ * lanes;
  static constexpr unsigned tile = step * vectors, beside = 4;
  T *dst;
  const Code *src;
  float factor;

  template <bool is_aligned> __device__ __forceinline__ void run(size_t begin) const {
    typedef typename mpnum::four_of_<Code>::type from;
    typedef typename mpnum::four_of_<T>::type to;
    typedef mpnum::raw_bytes_<lanes> codes; /* words */
    const size_t first = begin + threadIdx.x * lanes;
    codes in[vectors];
    mpnum_load_items_<is_aligned>(in, src + first, step);
    MPNUM_UNROLL_
    for (unsigned v = 0; v < vectors; ++v) {
      to fours[lanes / 4];
      MPNUM_UNROLL_
      for (unsigned i = 0; i < lanes / 4; ++i) {
        fours[i] = mpnum::four_plain_<T>::at(
            mpnum::four_products_<T, Code>(mpnum::copied_<from>(in[v].at[i]), factor));
      }
      *reinterpret_cast<mpnum_vector_ *>(dst + first + v * step) =
          mpnum::copied_<mpnum_vector_>(fours);
    }
  }
  __device__ __forceinline__ void rest(size_t begin, size_t end) const {
    MPNUM_NO_UNROLL_
    for (size_t i = begin + threadIdx.x; i < end; i += MPNUM_LAUNCH_THREADS_)
      mpnum::set_element_(dst + i, mpnum::one_nan_<T>(mpnum_mul_scalar_(
                                       mpnum::element_of_(src[i]), factor)));
  }
};
template <class T, class Code>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_LAUNCH_BLOCKS_)
    mpnum_dequantize_kernel_(T *dst, const Code *src, const float *scale_inv, size_t n) {
  mpnum_begin_kernel_();
  typedef mpnum_dequantize_array_<T, Code> array;
  const size_t before = mpnum_bytes_before_vectors_(dst) / sizeof(T);
  const size_t head = before < n ? before : n;
  const bool is_aligned = mpnum_bytes_before_vectors_(src + head) % array::lanes == 0;
  array own = {dst, src, mpnum::scale_or_nan_(*scale_inv)};
  mpnum_run_tiles_(own, head, n, is_aligned);
}

/* A tile of a source, and its transpose; the largest magnitude that the thread saw. */
template <bool is_whole, class T, class S, class Source>
static __device__ __forceinline__ float
mpnum_quantize_turned_tile_(T *dst, size_t dst_stride, T *transposed,
                            size_t transposed_stride, const Source &src, float scale,
                            const mpnum_quantize_job_ &job,
                            const mpnum_turned_place_<S> &place, uint32_t *scratch) {
  enum { n = mpnum_geometry_<S, 32>::n };
  typedef mpnum_origin_<Source> origin;
  const Source &at = origin::ahead(src, place.row * job.stride + place.column);
  typename origin::template loads<n> read[4];
  typename origin::template common<n> common;
  mpnum_lanes<S, n> in[4];
  MPNUM_UNROLL_
  for (unsigned v = 0; v < 4; ++v) {
    const mpnum_read_place_ own = {place.row, place.column, v, 1, 0};
    read[v] =
        origin::template load<n>(origin::ahead(at, v * job.stride), job, own, is_whole);
  }
  MPNUM_UNROLL_
  for (unsigned v = 0; v < 4; ++v)
    in[v] = origin::template value<n>(at, read[v], place.column, common);
  mpnum_tile_sums_<Source> sums;
  sums.template add<mpnum_geometry_<S, 32>::lanes>(src, job, in, place.row - place.down,
                                                   place.column - place.across, true);
  return mpnum_quantize_turned_<is_whole>(
      dst, dst_stride, transposed, transposed_stride, in, place, job, scale, scratch,
      !mpnum_tile_sums_<Source>::has_no_turned(transposed));
}
/* Tiles of a matrix, one for each block of 256 threads. */
template <class T, class S, class Source = const S *>
static __global__ void
__launch_bounds__(MPNUM_LAUNCH_THREADS_,
                  mpnum_resident_<Source, mpnum::dense_<T>::resident>::count)
    mpnum_quantize_transpose_kernel_(T *dst, size_t dst_stride, T *transposed,
                                     size_t transposed_stride, float *amax, Source src,
                                     const float *scale, mpnum_quantize_job_ job) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_TILE_SCRATCH];
  const size_t row = mpnum_tile_down_() * static_cast<size_t>(MPNUM_TILE_ROWS);
  const size_t column = blockIdx.x * static_cast<size_t>(mpnum_geometry_<S, 32>::columns);
  const mpnum_turned_place_<S> place(row, column);
  float found;
  if (row >= job.height) return;
  if (mpnum_is_whole_tile_(job))
    found = mpnum_quantize_turned_tile_<true>(
        dst, dst_stride, transposed, transposed_stride, src, *scale, job, place, scratch);
  else
    found = mpnum_quantize_turned_tile_<false>(
        dst, dst_stride, transposed, transposed_stride, src, *scale, job, place, scratch);
  __syncthreads();
  if (!amax) return;
  const float all = mpnum_block_amax_f32(found, scratch);
  if (threadIdx.x == 0) mpnum_atomic_amax(amax, all);
}

/* A warp for each history; blocks of a multiple of 32 threads. */
template <class History>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_scale_update_kernel_(History *histories, float *rings, float *amaxes,
                               size_t count, unsigned length) {
  mpnum_begin_kernel_();
  const unsigned lane = threadIdx.x % 32;
  const size_t i = mpnum_grid_index() / 32;
  if (i >= count) return;
  History history = histories[i];
  float *const ring = rings + i * length;
  const uint32_t word = mpnum_amax_word(amaxes[i]);
  const bool is_pushed = word - 1 < 0x7f7fffffu;
  const uint32_t used = history.length < length ? history.length : length;
  const uint32_t place = used ? static_cast<uint32_t>(history.pushed % used) : 0;
  uint32_t largest = word;
  if (is_pushed && history.algorithm == MPNUM_AMAX_MAX)
    for (uint32_t k = lane; k < used; k += 32) {
      const uint32_t other = k == place ? word : mpnum_bits_of_scalar_(ring[k]);
      largest = other > largest ? other : largest;
    }
  largest = mpnum_warp_max_u32_(largest); /* and all lanes have read */
  if (lane != 0) return;
  amaxes[i] = mpnum_f32_of_scalar_(0);
  if (is_pushed && used) {
    ring[place] = mpnum_f32_of_scalar_(word);
    history.pushed += 1;
    history.scale = mpnum_scale_from_amax(mpnum_f32_of_scalar_(largest), history.max,
                                          &history.options);
    history.scale_inv = mpnum_scale_inv(history.scale);
  }
  history.zeros += word == 0;
  history.nonfinite += word >= 0x7f800000u;
  histories[i] = history;
}

#if !MPNUM_HAS_NVRTC_

template <class T, class S, class Scale>
static inline cudaError_t mpnum_launch_quantize_(T *dst, float *amax, const S *src,
                                                 const Scale &scale, size_t n,
                                                 cudaStream_t stream) {
  const size_t tile = mpnum_quantize_array_<T, S>::tile;
  static_assert(mpnum::dense_<T>::bits == 8 && mpnum::numeric_limits<T>::is_signed,
                "a type of 8 bits with a sign");
  size_t blocks = 0;
  if (n == 0) return cudaSuccess;
  const cudaError_t error = mpnum_launch_blocks_(&blocks, n / tile + (n % tile != 0), 0);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_quantize_kernel_<T, S, Scale>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, dst, amax, src, scale, n);
}

/* Delayed scaling: dst[i] becomes src[i] times *scale, rounded to f32, then to nearest
 * even, saturating. *amax, unless amax is NULL, becomes the larger of what it was, 0 to
 * begin with, and the largest magnitude of src, Inf and NaN included; a history counts
 * those and keeps its scale. T: e4m3, e5m2 or another type of 8 bits with a sign. src:
 * f32, f16 or bf16. Bits: mpnum_quantize_array. */
template <class T, class S>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_array(T *dst, const S *src, size_t n, const float *scale,
                            float *amax, cudaStream_t stream) {
  const mpnum_scale_given_ given = {scale};
  if (n && (!dst || !src || !scale || mpnum_overlap_(dst, n, src, n * sizeof(S))))
    return cudaErrorInvalidValue;
  return mpnum_launch_quantize_(dst, amax, src, given, n, stream);
}
/* Current scaling: the scale that the recipe makes of the amax of src, by which src is
 * then multiplied; src is read twice. *scale_inv becomes its inverse and *amax the amax.
 * Where that is 0, Inf or NaN the scale is the fallback. An unsound recipe is
 * cudaErrorInvalidValue. n 0: nothing is written. */
template <class T, class S>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_current(T *dst, const S *src, size_t n,
                              const mpnum_fp8_recipe *recipe, float *scale_inv,
                              float *amax, cudaStream_t stream) {
  mpnum_scale_current_ current;
  cudaError_t error;
  if (!recipe || mpnum_fp8_recipe_validate(recipe, 0) != MPNUM_OK ||
      (n && (!dst || !scale_inv || !amax || !src ||
             mpnum_overlap_(dst, n, src, n * sizeof(S)))))
    return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  current.amax = amax;
  current.scale_inv = scale_inv;
  current.largest = mpnum_format_max(mpnum_format_of(mpnum::type_of<T>::value));
  current.options = recipe->options;
  error = mpnum_launch_amax(amax, src, n, stream);
  if (error != cudaSuccess) return error;
  return mpnum_launch_quantize_(dst, static_cast<float *>(0), src, current, n, stream);
}
/* dst[i] becomes src[i] times *scale_inv, rounded to f32, then to T: f32, f16 or bf16.
 * Bits: mpnum_dequantize_array. */
template <class T, class Code>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dequantize_array(T *dst, const Code *src, size_t n, const float *scale_inv,
                              cudaStream_t stream) {
  const size_t tile = mpnum_dequantize_array_<T, Code>::tile;
  static_assert(mpnum::dense_<Code>::bits == 8 && mpnum::numeric_limits<Code>::is_signed,
                "a type of 8 bits with a sign");
  if (n && (!dst || !src || !scale_inv || mpnum_overlap_(dst, n * sizeof(T), src, n)))
    return cudaErrorInvalidValue;
  size_t blocks = 0;
  if (n == 0) return cudaSuccess;
  const cudaError_t error =
      mpnum_launch_blocks_(&blocks, n / tile + (n % tile != 0), 0, MPNUM_LAUNCH_TILES_);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_dequantize_kernel_<T, Code>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, dst, src, scale_inv, n);
}

template <class T, class Matrix>
static inline cudaError_t
mpnum_launch_quantize_transpose_(mpnum::matrix<T> dst, mpnum::matrix<T> transposed,
                                 const Matrix &src, const float *scale, float *amax,
                                 cudaStream_t stream) {
  typedef typename Matrix::element element;
  typedef mpnum_geometry_<element, 32> tile;
  const size_t rows = src.rows, columns = src.columns, limit = 0x7fffffff;
  const size_t down = rows / tile::rows + (rows % tile::rows != 0);
  const size_t across = columns / tile::columns + (columns % tile::columns != 0);
  mpnum_quantize_job_ job = mpnum_quantize_job_();
  const bool is_turned = transposed.data || !mpnum_launch_around_<Matrix>::is_summed;
  if (!src.is_valid() || dst.rows != rows || dst.columns != columns ||
      (is_turned && (transposed.rows != columns || transposed.columns != rows)))
    return cudaErrorInvalidValue;
  if (rows == 0 || columns == 0) return cudaSuccess;
  if (!dst.data || (is_turned && !transposed.data) || !scale || dst.stride < columns ||
      (is_turned && transposed.stride < rows) || across > limit / down)
    return cudaErrorInvalidValue;
  const size_t dst_bytes = mpnum_extent_(rows, columns, dst.stride, 8);
  const size_t transposed_bytes =
      is_turned ? mpnum_extent_(columns, rows, transposed.stride, 8) : 0;
  if (!src.is_readable() || !dst_bytes || (is_turned && !transposed_bytes) ||
      !src.is_apart(dst.data, dst_bytes) ||
      !src.is_apart(transposed.data, transposed_bytes) ||
      mpnum_overlap_(transposed.data, transposed_bytes, dst.data, dst_bytes))
    return cudaErrorInvalidValue;
  const bool is_aligned =
      src.is_aligned() && mpnum_launch_aligned_(dst.data, dst.stride, tile::n);
  job.height = rows;
  job.width = columns;
  job.stride = src.stride;
  job.whole_across = is_aligned ? static_cast<unsigned>(columns / tile::columns) : 0;
  job.whole_down = static_cast<unsigned>(rows / tile::rows);
  cudaError_t error = mpnum_launch_around_<Matrix>::begin(src, stream);
  if (error != cudaSuccess) return error;
  error = mpnum_launch_grid_(
      mpnum_quantize_transpose_kernel_<T, element, typename Matrix::source>,
      mpnum_tile_grid_(across, down), MPNUM_LAUNCH_THREADS_, stream, dst.data, dst.stride,
      transposed.data, transposed.stride, amax, src.on_device(), scale, job);
  return error == cudaSuccess ? mpnum_launch_around_<Matrix>::finish(src, stream) : error;
}

/* The codes of a matrix, as by mpnum_launch_quantize_array, and those of its transpose,
 * which fp8 products before Blackwell need for both gradients, from one read. transposed:
 * a row for each column of src. src: an mpnum::matrix, or what is computed of some
 * (quantize_computed.cuh). */
template <class T, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_transpose(mpnum::matrix<T> dst, mpnum::matrix<T> transposed,
                                const Matrix &src, const float *scale, float *amax,
                                cudaStream_t stream) {
  static_assert(mpnum::dense_<T>::bits == 8, "a type of 8 bits");
  return mpnum_launch_quantize_transpose_(dst, transposed, quantizable_(src), scale, amax,
                                          stream);
}

/* Delayed scaling of all tensors of a model: history i takes amax[i], which becomes 0
 * again, into its ring, the recipe's history_length floats from rings + i *
 * history_length on, and has the scale of the next iteration. An amax that is 0, Inf or
 * NaN is counted, and the scale stays. Histories are those that
 * mpnum_amax_history_init made with this recipe. Bits: mpnum_amax_history_update.
 * History: mpnum_amax_history; a template so that only who calls it compiles it. */
template <class History>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_scale_update(History *histories, float *rings, float *amax, size_t count,
                          const mpnum_fp8_recipe *recipe, cudaStream_t stream) {
  const size_t warps = MPNUM_LAUNCH_THREADS_ / 32;
  const size_t blocks = count / warps + (count % warps != 0), limit = 0x7fffffff;
  if (!recipe || mpnum_fp8_recipe_validate(recipe, 0) != MPNUM_OK || blocks > limit ||
      (count && (!histories || !rings || !amax)))
    return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  return mpnum_launch_(mpnum_scale_update_kernel_<History>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, histories, rings, amax, count, recipe->history_length);
}

#endif

MPNUM_C_END_
#endif

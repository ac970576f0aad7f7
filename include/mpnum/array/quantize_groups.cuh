/* SPDX-License-Identifier: MIT */
/* FP8 of many in one launch, each with a scale, on devices: parts of an array, as the
 * tensors of a flat buffer or the rows that each expert has, and tensors that lie
 * anywhere. Rules of all launchers: kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 * Opt-in.
 *
 *     // Rows of tokens sorted by expert; the router wrote where each expert's begin,
 *     // times columns: offsets of 8 experts are 9 words.
 *     mpnum_launch_quantize_groups(codes, x, rows * columns, offsets, 8, scales, amax,
 *                                  status, stream);
 *
 * Part i, elements offsets[i] to offsets[i + 1] - 1, has the bytes and the amax that
 * mpnum_launch_quantize_array gives of it with scales[i] and amax + i; a part may be
 * empty. Elements before the first part and behind the last one stay as they are.
 * Offsets are in device memory and read there: where one is below the one before it, or
 * past n, *status becomes MPNUM_ERROR_RANGE and nothing else is written.
 *
 *     // Once, on the host; tensors with addresses of the device, each with its scale.
 *     mpnum_quantize_plan(&list, tiles_before, tensors, count);
 *     list.tensors = copy_of_tensors;           // in device memory
 *     list.tiles_before = copy_of_tiles_before; // count + 1 words, the same
 *     // Each step, or once while a graph is captured.
 *     mpnum_launch_quantize_list(list, stream);
 *
 * Every tensor has the bytes and the amax of mpnum_launch_quantize_array. */
#ifndef MPNUM_ARRAY_QUANTIZE_GROUPS_CUH
#define MPNUM_ARRAY_QUANTIZE_GROUPS_CUH

#include "quantize.cuh"
MPNUM_C_BEGIN_

/* Offsets that a block keeps in shared memory, so many at most. */
enum { MPNUM_GROUPS_KEPT_ = 1025 };

/* Whether offsets rise and end by n, by all threads of a block; kept, where they fit, has
 * them then. */
static __device__ __forceinline__ bool mpnum_group_offsets_rise_(uint64_t *kept,
                                                                 const uint64_t *offsets,
                                                                 size_t groups,
                                                                 size_t n) {
  int rises = 1;
  MPNUM_NO_UNROLL_
  for (size_t i = threadIdx.x; i <= groups; i += MPNUM_LAUNCH_THREADS_) {
    const uint64_t own = offsets[i];
    rises &= own <= (i < groups ? offsets[i + 1] : n);
    if (groups < MPNUM_GROUPS_KEPT_) kept[i] = own;
  }
  return __syncthreads_and(rises) != 0;
}
/* The first part that ends behind an element, at or behind `from`; groups if there is
 * none. */
static __device__ __forceinline__ size_t mpnum_group_of_(const uint64_t *offsets,
                                                         size_t from, size_t groups,
                                                         size_t element) {
  size_t end = groups;
  while (from < end) {
    const size_t middle = from + (end - from) / 2;
    if (offsets[middle + 1] > element)
      end = middle;
    else
      from = middle + 1;
  }
  return from;
}

/* A block's place in an array: tiles one after the other, each in its parts. What a part
 * has found is added when another one begins. */
template <class T, class S> struct mpnum_quantize_groups_ {
  typedef mpnum_quantize_array_<T, S> array;
  array own;
  float *amax;
  const uint64_t *offsets;
  const float *scales;
  size_t groups, group;
  uint32_t *scratch;

  __device__ __forceinline__ void begin(size_t next) {
    if (next == group) return;
    end();
    group = next;
    own.factor = mpnum::scale_or_nan_(scales[next]);
    own.most = 0;
  }
  __device__ __forceinline__ void end() {
    typedef typename array::magnitudes magnitudes;
    if (!amax || group >= groups) return;
    const uint32_t largest = magnitudes::bits(magnitudes::folded(own.most));
    const float found = mpnum_block_amax_f32(mpnum_f32_of_scalar_(largest), scratch);
    if (threadIdx.x == 0) mpnum_atomic_amax(amax + group, found);
  }
  /* Elements first to last - 1. A tile of one part goes by vectors: 2, aligned ones, 1,
   * others; 0: not by vectors. */
  __device__ __forceinline__ void run(size_t first, size_t last, int vectors) {
    size_t place = first, next = mpnum_group_of_(offsets, 0, groups, first);
    MPNUM_NO_UNROLL_
    for (; next < groups && offsets[next] < last;
         next = mpnum_group_of_(offsets, next + 1, groups, place)) {
      const size_t low = offsets[next] < place ? place : offsets[next];
      const size_t high = offsets[next + 1] < last ? offsets[next + 1] : last;
      const int by = low == first && high == last ? vectors : 0;
      begin(next);
      if (by == 2)
        own.template run<true>(first);
      else if (by == 1)
        own.template run<false>(first);
      else
        own.rest(low, high);
      place = high;
    }
  }
};

/* A one-dimensional grid of blocks of 256 threads, as of mpnum_quantize_kernel_. */
template <class T, class S>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_,
                                         mpnum::dense_<T>::resident)
    mpnum_quantize_groups_kernel_(T *dst, float *amax, const S *src, size_t n,
                                  const uint64_t *offsets, size_t groups,
                                  const float *scales, mpnum_status *status) {
  mpnum_begin_kernel_();
  typedef mpnum_quantize_array_<T, S> array;
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  __shared__ uint64_t kept[MPNUM_GROUPS_KEPT_];
  const bool is_sound = mpnum_group_offsets_rise_(kept, offsets, groups, n);
  if (blockIdx.x == 0 && threadIdx.x == 0 && status)
    *status = is_sound ? MPNUM_OK : MPNUM_ERROR_RANGE;
  if (!is_sound) return;
  const size_t before = mpnum_bytes_before_vectors_(dst) % array::lanes;
  const size_t head = before < n ? before : n;
  const bool is_aligned = reinterpret_cast<size_t>(src + head) % 16 == 0;
  const size_t step = gridDim.x * static_cast<size_t>(array::tile);
  mpnum_quantize_groups_<T, S> own = {{reinterpret_cast<uint8_t *>(dst), src, 0, 0},
                                      amax,
                                      groups < MPNUM_GROUPS_KEPT_ ? kept : offsets,
                                      scales,
                                      groups,
                                      groups,
                                      scratch};
  if (blockIdx.x == 0) own.run(0, head, 0);
  MPNUM_NO_UNROLL_
  for (size_t i = head + blockIdx.x * static_cast<size_t>(array::tile); i < n;
       i += step) {
    const bool is_tile = n - i >= array::tile;
    /* Unaligned ones read words beside them. */
    const bool is_inside = i >= 2 && n - i >= array::tile + 2;
    own.run(i, is_tile ? i + array::tile : n,
            is_tile && is_aligned ? 2
            : is_inside           ? 1
                                  : 0);
  }
  own.end();
}

/* --- Tensors anywhere --- */

namespace mpnum {

/* A tensor of n elements of S, and its codes of T; scale and amax as
 * mpnum_launch_quantize_array takes them, so also &histories[i].scale. All addresses are
 * of the device; amax may be NULL. */
template <class T, class S> struct quantize_tensor {
  T *dst;
  const S *src;
  uint64_t n;
  const float *scale;
  float *amax;
};
/* A list of them, as mpnum_launch_quantize_list takes it. */
template <class T, class S> struct quantize_list {
  const quantize_tensor<T, S> *tensors; /* the caller's, in device memory */
  const uint64_t *tiles_before;         /* of each tensor, and of the end; the same */
  uint64_t count, tiles;                /* what mpnum_quantize_plan found */
};

} // namespace mpnum

/* Tiles first to last - 1 of a tensor, and the largest magnitude of them. */
template <class T, class S>
static __device__ __forceinline__ uint32_t mpnum_quantize_tiles_of_(
    const mpnum::quantize_tensor<T, S> &t, uint64_t first, uint64_t last) {
  typedef mpnum_quantize_array_<T, S> array;
  array own = {reinterpret_cast<uint8_t *>(t.dst), t.src, mpnum::scale_or_nan_(*t.scale),
               0};
  const size_t n = static_cast<size_t>(t.n);
  const size_t before = mpnum_bytes_before_vectors_(t.dst) % array::lanes;
  const size_t head = before < n ? before : n;
  const bool is_aligned = reinterpret_cast<size_t>(t.src + head) % 16 == 0;
  if (first == 0) own.rest(0, head);
  MPNUM_NO_UNROLL_
  for (uint64_t number = first; number < last; ++number) {
    const size_t i = head + static_cast<size_t>(number) * array::tile;
    const size_t left = i < n ? n - i : 0;
    if (is_aligned && left >= array::tile)
      own.template run<true>(i);
    else if (!is_aligned && i >= 2 && left >= array::tile + 2) /* words beside them */
      own.template run<false>(i);
    else
      own.rest(i, left < array::tile ? i + left : i + array::tile);
  }
  return own.most;
}
/* A one-dimensional grid of blocks of 256 threads, each of which takes neighbouring
 * tiles, so that few blocks add to an amax. */
template <class T, class S>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_,
                                         mpnum::dense_<T>::resident)
    mpnum_quantize_list_kernel_(mpnum::quantize_list<T, S> list) {
  mpnum_begin_kernel_();
  typedef mpnum::magnitudes_<S> magnitudes;
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const uint64_t each = list.tiles / gridDim.x, more = list.tiles % gridDim.x;
  const uint64_t block = blockIdx.x;
  const uint64_t begin = block * each + (block < more ? block : more);
  const uint64_t end = begin + each + (block < more ? 1 : 0);
  uint64_t tensor = 0;
  MPNUM_NO_UNROLL_
  for (uint64_t tile = begin, next = end; tile < end; tile = next) {
    tensor = mpnum_list_tensor_at_(list, tile, tensor);
    const mpnum::quantize_tensor<T, S> t = list.tensors[tensor];
    const uint64_t first = list.tiles_before[tensor];
    next = list.tiles_before[tensor + 1];
    next = next < end ? next : end;
    const uint32_t most = mpnum_quantize_tiles_of_(t, tile - first, next - first);
    if (!t.amax) continue;
    const float found = mpnum_block_amax_f32(
        mpnum_f32_of_scalar_(magnitudes::bits(magnitudes::folded(most))), scratch);
    if (threadIdx.x == 0) mpnum_atomic_amax(t.amax, found);
  }
}

#if !MPNUM_HAS_NVRTC_

/* mpnum_launch_quantize_array of each of `groups` parts of n elements. T: e4m3, e5m2 or
 * another type of 8 bits with a sign; src: f32, f16 or bf16. offsets: groups + 1 words;
 * scales: groups floats; amax: NULL, or groups floats, each raised; status: NULL, or one,
 * MPNUM_OK or what is said above; all in device memory. One launch, also of no part.
 * cudaErrorInvalidValue: NULL for offsets, for scales of parts, for arrays of elements;
 * arrays that overlap. */
template <class T, class S>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_groups(T *dst, const S *src, size_t n, const uint64_t *offsets,
                             size_t groups, const float *scales, float *amax,
                             mpnum_status *status, cudaStream_t stream) {
  typedef mpnum_quantize_array_<T, S> array;
  size_t blocks = 0;
  static_assert(mpnum::dense_<T>::bits == 8 && mpnum::numeric_limits<T>::is_signed,
                "a type of 8 bits with a sign");
  if (!offsets || (groups != 0 && !scales) || (n != 0 && (!dst || !src)) ||
      mpnum_overlap_(dst, n, src, n * sizeof(S)))
    return cudaErrorInvalidValue;
  const cudaError_t error =
      mpnum_launch_blocks_(&blocks, n / array::tile + (n % array::tile != 0), 0);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_quantize_groups_kernel_<T, S>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, dst, amax, src, n, offsets, groups, scales, status);
}

/* Plans launches over tensors that have addresses of the device: writes count + 1 words
 * to tiles_before, and the list but for its two pointers, which are the caller's to set
 * once tensors and words are in device memory. Host only. T and S: as
 * mpnum_launch_quantize_groups.
 * Status codes: MPNUM_ERROR_NULL: NULL for list or tiles_before, for tensors, or for dst,
 * src or scale of a tensor of elements; MPNUM_ERROR_ARGUMENT: a tensor that overlaps its
 * codes or is not aligned for its type, 2^52 elements or more. Nothing is written then.
 */
template <class T, class S>
MPNUM_MUST_CHECK static inline mpnum_status
mpnum_quantize_plan(mpnum::quantize_list<T, S> *list, uint64_t *tiles_before,
                    const mpnum::quantize_tensor<T, S> *tensors, size_t count) {
  const uint64_t limit = static_cast<uint64_t>(1) << 52;
  const uint64_t tile = mpnum_quantize_array_<T, S>::tile;
  mpnum::quantize_list<T, S> planned = {0, 0, count, 0};
  uint64_t elements = 0;
  if (!list || !tiles_before || (count != 0 && !tensors)) return MPNUM_ERROR_NULL;
  for (size_t i = 0; i < count; ++i) {
    const mpnum::quantize_tensor<T, S> &t = tensors[i];
    if (t.n == 0) continue;
    if (!t.dst || !t.src || !t.scale) return MPNUM_ERROR_NULL;
    if (t.n >= limit - elements || reinterpret_cast<size_t>(t.src) % sizeof(S) != 0 ||
        mpnum_overlap_(t.dst, static_cast<size_t>(t.n), t.src,
                       static_cast<size_t>(t.n) * sizeof(S)))
      return MPNUM_ERROR_ARGUMENT;
    elements += t.n;
  }
  for (size_t i = 0; i < count; ++i) {
    tiles_before[i] = planned.tiles;
    planned.tiles += tensors[i].n / tile + (tensors[i].n % tile != 0);
  }
  tiles_before[count] = planned.tiles;
  *list = planned;
  return MPNUM_OK;
}
/* mpnum_launch_quantize_array of every tensor of a planned list. One launch for any
 * number of tensors, also of none. cudaErrorInvalidValue: a list without its pointers. */
template <class T, class S>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_list(const mpnum::quantize_list<T, S> &list, cudaStream_t stream) {
  size_t blocks = 0;
  static_assert(mpnum::dense_<T>::bits == 8 && mpnum::numeric_limits<T>::is_signed,
                "a type of 8 bits with a sign");
  if (list.tiles != 0 && !(list.tensors && list.tiles_before))
    return cudaErrorInvalidValue;
  const cudaError_t error =
      mpnum_launch_blocks_(&blocks, static_cast<size_t>(list.tiles), 0);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_quantize_list_kernel_<T, S>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, list);
}

#endif

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* FP8 with a scale for each part of an array, on devices: the tensors of a flat buffer,
 * or the rows that each expert has, in one launch. Rules of all launchers: kernels.cuh.
 * CUDA C++11; NVRTC for the kernel alone. Opt-in.
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
 * past n, *status becomes MPNUM_ERROR_RANGE and nothing else is written. */
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
    __syncthreads();
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

#endif

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* For kernels: where a thread is, vector loads and stores, atomics. Opt-in, CUDA C++11,
 * NVRTC too. Collectives of a warp and a block are in block.cuh.
 *
 *     for (size_t i = mpnum_grid_index(); i < n; i += mpnum_grid_size())
 *       amax = mpnum_amax(amax, src[i]);
 */
#ifndef MPNUM_CUDA_DEVICE_CUH
#define MPNUM_CUDA_DEVICE_CUH

#include "detail/vectors.cuh"
MPNUM_C_BEGIN_

#define MPNUM_DEVICE_ static __device__ __forceinline__

/* Where a thread is. */

/* Number of this thread in its block, in the order that makes up warps. */
MPNUM_DEVICE_ unsigned mpnum_thread_index_() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
MPNUM_DEVICE_ unsigned mpnum_block_threads_() {
  return blockDim.x * blockDim.y * blockDim.z;
}

/* A grid-stride loop over n > 2^31 elements too, of a one-dimensional grid and block:
 * for (size_t i = mpnum_grid_index(); i < n; i += mpnum_grid_size()) */
MPNUM_DEVICE_ size_t mpnum_grid_index() {
  return blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
}
MPNUM_DEVICE_ size_t mpnum_grid_size() {
  return gridDim.x * static_cast<size_t>(blockDim.x);
}

/* N neighbouring elements, moved in accesses of up to 16 bytes: as many as their size in
 * bytes is a multiple of. */
template <unsigned N, class T> struct mpnum_lanes_alignment_ {
  static constexpr size_t bytes = sizeof(T) * N;
  static constexpr size_t lowest_bit = bytes & (~bytes + 1);
  static constexpr size_t value = lowest_bit < 16 ? lowest_bit : 16;
};
template <class T, unsigned N>
struct alignas(mpnum_lanes_alignment_<N, T>::value) mpnum_lanes {
  T at[N];
};

/* The elements src[0] to src[N - 1] of an array of which left elements, 1 or more, are
 * still to come; those past its end are zero bits. Any src that is aligned for T; vector
 * accesses where it is aligned for N elements or 16 bytes. Reads nothing past the end. */
template <unsigned N, class T>
MPNUM_DEVICE_ mpnum_lanes<T, N> mpnum_load(const T *src, size_t left) {
  typedef mpnum_lanes<T, N> lanes;
  static_assert(sizeof(lanes) == sizeof(T) * N, "no padding");
  if (left >= N && reinterpret_cast<size_t>(src) % alignof(lanes) == 0)
    return *reinterpret_cast<const lanes *>(src);
  lanes values = lanes();
  for (unsigned i = 0; i < N; ++i)
    if (i < left) values.at[i] = src[i];
  return values;
}

/* Writes the first N, or left if that is less, to dst. Writes nothing past the end. */
template <class T, unsigned N>
MPNUM_DEVICE_ void mpnum_store(T *dst, const mpnum_lanes<T, N> &values, size_t left) {
  typedef mpnum_lanes<T, N> lanes;
  static_assert(sizeof(lanes) == sizeof(T) * N, "no padding");
  if (left >= N && reinterpret_cast<size_t>(dst) % alignof(lanes) == 0) {
    *reinterpret_cast<lanes *>(dst) = values;
  } else {
    for (unsigned i = 0; i < N; ++i)
      if (i < left) dst[i] = values.at[i];
  }
}

/* Tiles: four vectors of N elements for each of `threads` threads, a one-dimensional
 * block, next to those of its neighbours, all loaded before one is used. With N times the
 * size of the largest type 16, that is 64 bytes of a thread on the way, as the library's
 * own kernels over arrays have, which load by the same steps; with 32, accesses are of 32
 * bytes from sm_100 on:
 *
 *     typedef mpnum_tile<float, 4> tile;
 *     for (size_t first = blockIdx.x * tile::elements; first < n;
 *          first += gridDim.x * tile::elements) {
 *       const tile in = mpnum_load_tile<4>(src, first, n);
 *       mpnum_tile<mpnum_e4m3, 4> out;
 *       for (unsigned v = 0; v < tile::vectors; ++v)
 *         for (unsigned j = 0; j < 4; ++j)
 *           out.at[v].at[j] = mpnum_f32_to_e4m3_sat(in.at[v].at[j] * scale);
 *       mpnum_store_tile(dst, first, n, out);
 *     }
 */
template <class T, unsigned N, unsigned threads = 256> struct mpnum_tile {
  static constexpr unsigned vectors = 4;
  static constexpr size_t elements = static_cast<size_t>(vectors) * N * threads;
  mpnum_lanes<T, N> at[vectors];
  /* Which element of a tile the first one of this thread's vector v is. */
  static __device__ __forceinline__ unsigned place(unsigned v) {
    return N * (v * threads + threadIdx.x);
  }
  /* A vector in as few accesses as it may take, of 32 bytes from sm_100 on. */
  struct alignas(sizeof(mpnum_lanes<T, N>) % MPNUM_ACCESS_BYTES_ == 0
                     ? MPNUM_ACCESS_BYTES_
                     : mpnum_lanes_alignment_<N, T>::value) wide_ {
    T at[N];
  };
  /* Whether a tile is there as a whole and vectors are aligned: one test an array. */
  static __device__ __forceinline__ bool is_whole_(const T *array, size_t first,
                                                   size_t n) {
    return n - first >= elements && reinterpret_cast<size_t>(array) % alignof(wide_) == 0;
  }
};
template <class T, unsigned N, unsigned threads>
constexpr unsigned mpnum_tile<T, N, threads>::vectors;
template <class T, unsigned N, unsigned threads>
constexpr size_t mpnum_tile<T, N, threads>::elements;
/* The vectors of this thread, as mpnum_load: of the tile from element `first` on, a
 * multiple of N below n, of an array of n elements. Zero bits past its end. */
template <unsigned N, unsigned threads = 256, class T>
MPNUM_DEVICE_ mpnum_tile<T, N, threads> mpnum_load_tile(const T *src, size_t first,
                                                        size_t n) {
  mpnum_tile<T, N, threads> tile;
  if (tile.is_whole_(src, first, n)) {
    typename mpnum_tile<T, N, threads>::wide_ loaded[4];
    mpnum_load_items_<true>(loaded, src + first + tile.place(0), N * threads);
    MPNUM_MEMCPY_(tile.at, loaded, sizeof tile.at);
    return tile;
  }
  for (unsigned v = 0; v < tile.vectors; ++v) {
    const size_t place = first + tile.place(v);
    tile.at[v] = place < n ? mpnum_load<N>(src + place, n - place) : mpnum_lanes<T, N>();
  }
  return tile;
}
/* Writes them, as mpnum_store: nothing past the end. */
template <class T, unsigned N, unsigned threads>
MPNUM_DEVICE_ void mpnum_store_tile(T *dst, size_t first, size_t n,
                                    const mpnum_tile<T, N, threads> &tile) {
  typedef typename mpnum_tile<T, N, threads>::wide_ wide;
  if (tile.is_whole_(dst, first, n)) {
    for (unsigned v = 0; v < tile.vectors; ++v)
      *reinterpret_cast<wide *>(dst + first + tile.place(v)) =
          mpnum::copied_<wide>(tile.at[v]);
  } else {
    for (unsigned v = 0; v < tile.vectors; ++v) {
      const size_t place = first + tile.place(v);
      if (place < n) mpnum_store(dst + place, tile.at[v], n - place);
    }
  }
}

/* Asks memory for the whole 16 bytes among these of a row or a tile, before loads do, by
 * one instruction from sm_90 on; for one thread to call. A thread has a few loads on the
 * way, which is not enough to keep such GPUs' memory busy. At most 32 KiB: two such
 * blocks a multiprocessor are enough, and the L2 cache holds what all of them ask for.
 * Global memory. */
MPNUM_DEVICE_ void mpnum_prefetch_(const void *first, size_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const size_t before = (0 - reinterpret_cast<size_t>(first)) % 16;
  const size_t most = bytes < 32768 ? bytes : 32768;
  if (most < before + 16) return;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(static_cast<const char *>(first) + before)),
                 "r"(static_cast<unsigned>((most - before) & ~static_cast<size_t>(15))));
#else
  (void)first, (void)bytes;
#endif
}

/* The larger of an amax, +0 to begin with, and the magnitude of x. NaN, in x or before,
 * is never dropped: 0x7fffffff. */
MPNUM_DEVICE_ float mpnum_amax(float amax, float x) {
  const uint32_t magnitude = mpnum_bits_f32(x) & 0x7fffffffu;
  const uint32_t word = magnitude > 0x7f800000u ? 0x7fffffffu : magnitude;
  return mpnum_from_bits_f32(word > mpnum_bits_f32(amax) ? word : mpnum_bits_f32(amax));
}

/* Atomics. A float cannot be the operand of an atomic maximum, but the bits of floats
 * without sign order as they do. */

/* *amax, 0 or more, becomes mpnum_amax(*amax, x). Global or shared memory. */
MPNUM_DEVICE_ void mpnum_atomic_amax(float *amax, float x) {
  atomicMax(reinterpret_cast<unsigned *>(amax), mpnum_bits_f32(mpnum_amax(0, x)));
}
/* *min, without sign, becomes the smaller of *min and x, which is no NaN and has no sign.
 */
MPNUM_DEVICE_ void mpnum_atomic_min_magnitude_(float *min, float x) {
  atomicMin(reinterpret_cast<unsigned *>(min), mpnum_bits_f32(x));
}
/* *sum becomes *sum + value, modulo 2^64; no access if value is 0. */
MPNUM_DEVICE_ void mpnum_atomic_add_u64_(uint64_t *sum, uint64_t value) {
  if (value) atomicAdd(reinterpret_cast<unsigned long long *>(sum), value);
}

#undef MPNUM_DEVICE_

/* Whether launches want all bytes of a struct to be 0 before the first of them. */
struct mpnum_zero_first_ {
  static constexpr bool value = true;
};
template <class T> struct mpnum_is_zero_first_ { static constexpr bool value = false; };

#if !MPNUM_HAS_NVRTC_

/* Sets to zero what launches want so before the first of them: mpnum_launch_scratch,
 * mpnum_grad_workspace, mpnum_optimizer_progress, mpnum_histogram, mpnum_lost, in device
 * memory. Once, before, and again where a launch has told that it was not zero or was
 * shared by two streams. No wait; it may be captured. cudaErrorInvalidValue: NULL. */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_scratch_init(T *scratch, cudaStream_t stream) {
  static_assert(mpnum_is_zero_first_<T>::value, "what launches want zero, and no other");
  return scratch ? cudaMemsetAsync(scratch, 0, sizeof *scratch, stream)
                 : cudaErrorInvalidValue;
}

#endif

MPNUM_C_END_
#endif

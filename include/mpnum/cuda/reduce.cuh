/* SPDX-License-Identifier: MIT */
/* all_finite, amax and statistics of arrays in device memory. Rules of all launchers:
 * kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     mpnum_launch_amax(amax, values, n, stream); // float *amax in device memory
 */
#ifndef MPNUM_CUDA_REDUCE_CUH
#define MPNUM_CUDA_REDUCE_CUH

#include "../detail/cuda/launch.cuh"
#include "../stats.h"
#include "block.cuh"

namespace mpnum {

MPNUM_INLINE int is_finite_(float x) { return mpnum_isfinite_f32(x); }
MPNUM_INLINE int is_finite_(double x) { return mpnum_isfinite_f64(x); }
template <class T> MPNUM_INLINE int is_finite_(T x) {
  return mpnum_isfinite(mpnum_format_of(type_of<T>::value), x.bits);
}
MPNUM_INLINE float value_of_(float x) { return x; }
template <class T> MPNUM_INLINE float value_of_(T x) { return to_float(x); }
MPNUM_INLINE uint32_t code_of_(float x) { return mpnum_bits_f32(x); }
template <class T> MPNUM_INLINE uint32_t code_of_(T x) { return x.bits; }

} // namespace mpnum

/* Gives visit every element that falls to this thread, in a one-dimensional grid. */
template <class T, class Visit>
static __device__ __forceinline__ void mpnum_visit_(const T *src, size_t n,
                                                    Visit &visit) {
  enum { lanes = 16 / sizeof(T) };
  for (size_t i = mpnum_grid_index() * lanes; i < n; i += mpnum_grid_size() * lanes) {
    const mpnum_lanes<T, lanes> values = mpnum_load<lanes>(src + i, n - i);
    if (n - i >= lanes) {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < lanes; ++j)
        visit(values.at[j]);
    } else {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < lanes; ++j)
        if (i + j < n) visit(values.at[j]);
    }
  }
}

template <class T> struct mpnum_visit_finite_ {
  int all_finite;
  __device__ __forceinline__ void operator()(T x) { all_finite &= mpnum::is_finite_(x); }
};
template <class T> struct mpnum_visit_amax_ {
  float amax;
  __device__ __forceinline__ void operator()(T x) {
    amax = mpnum_amax(amax, mpnum::value_of_(x));
  }
};
template <class T> struct mpnum_visit_stats_ {
  mpnum_stats stats;
  __device__ __forceinline__ void operator()(T x) {
    stats = mpnum_stats_add(stats, mpnum_format_of(mpnum::type_of<T>::value),
                            mpnum::code_of_(x));
  }
};

template <class T> static __global__ void mpnum_assign_kernel_(T *dst, T value) {
  *dst = value;
}

/* The reductions fold into *result, which holds the result of no elements. A
 * one-dimensional grid, blocks of a multiple of 32 threads, at most 256. */
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_all_finite_kernel_(int *result, const T *src, size_t n) {
  mpnum_visit_finite_<T> visit = {1};
  mpnum_visit_(src, n, visit);
  if (!__syncthreads_and(visit.all_finite) && threadIdx.x == 0) atomicAnd(result, 0);
}
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_amax_kernel_(float *result, const T *src, size_t n) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum_visit_amax_<T> visit = {0.0f};
  mpnum_visit_(src, n, visit);
  visit.amax = mpnum_block_amax_f32(visit.amax, scratch);
  if (threadIdx.x == 0) mpnum_atomic_amax(result, visit.amax);
}
/* The counts of a block are summed in 32 bits: 2048 blocks count up to 2^40 elements. */
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_stats_kernel_(mpnum_stats *result, const T *src, size_t n) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum_visit_stats_<T> visit = {mpnum_stats_empty()};
  mpnum_visit_(src, n, visit);
  const mpnum_stats &own = visit.stats;
  const uint32_t zeros = mpnum_block_sum_u32(static_cast<uint32_t>(own.zeros), scratch);
  const uint32_t subnormals =
      mpnum_block_sum_u32(static_cast<uint32_t>(own.subnormals), scratch);
  const uint32_t infs = mpnum_block_sum_u32(static_cast<uint32_t>(own.infs), scratch);
  const uint32_t nans = mpnum_block_sum_u32(static_cast<uint32_t>(own.nans), scratch);
  const float amax = mpnum_block_amax_f32(own.amax, scratch);
  const uint32_t min_bits =
      ~mpnum_block_max_u32(~mpnum_bits_f32(own.min_nonzero), scratch);
  if (threadIdx.x == 0) {
    mpnum_atomic_add_u64(&result->zeros, zeros);
    mpnum_atomic_add_u64(&result->subnormals, subnormals);
    mpnum_atomic_add_u64(&result->infs, infs);
    mpnum_atomic_add_u64(&result->nans, nans);
    mpnum_atomic_amax(&result->amax, amax);
    mpnum_atomic_min_magnitude(&result->min_nonzero, mpnum_from_bits_f32(min_bits));
  }
}

#if !MPNUM_HAS_NVRTC

/* Sets *result to that of no elements, then folds the array into it. */
template <class Result, class T>
static inline cudaError_t
mpnum_launch_reduce_(void (*kernel)(Result *, const T *, size_t), Result *result,
                     Result empty, const T *src, size_t n, cudaStream_t stream) {
  const size_t tile = static_cast<size_t>(MPNUM_LAUNCH_THREADS_) * (16 / sizeof(T));
  const size_t tiles = n / tile + (n % tile != 0);
  const size_t limit = MPNUM_LAUNCH_REDUCE_BLOCKS_;
  const cudaError_t error =
      mpnum_launch_(mpnum_assign_kernel_<Result>, 1, 1, stream, result, empty);
  if (error != cudaSuccess || n == 0) return error;
  return mpnum_launch_(kernel, tiles < limit ? tiles : limit, MPNUM_LAUNCH_THREADS_,
                       stream, result, src, n);
}

/* *result, in device memory, becomes 1 if no element is Inf or NaN, else 0. */
template <class T>
static inline cudaError_t mpnum_launch_all_finite(int *result, const T *src, size_t n,
                                                  cudaStream_t stream) {
  return mpnum_launch_reduce_<int, T>(mpnum_all_finite_kernel_<T>, result, 1, src, n,
                                      stream);
}
/* *result, in device memory, becomes the largest magnitude: 0 if n is 0, 0x7fffffff if an
 * element is NaN. T is not double. */
template <class T>
static inline cudaError_t mpnum_launch_amax(float *result, const T *src, size_t n,
                                            cudaStream_t stream) {
  return mpnum_launch_reduce_<float, T>(mpnum_amax_kernel_<T>, result, 0.0f, src, n,
                                        stream);
}
/* *result, in device memory, becomes the statistics of the array, n below 2^40. T is not
 * double. */
template <class T>
static inline cudaError_t mpnum_launch_stats(mpnum_stats *result, const T *src, size_t n,
                                             cudaStream_t stream) {
  mpnum_stats empty = mpnum_stats_empty();
  empty.count = n;
  return mpnum_launch_reduce_<mpnum_stats, T>(mpnum_stats_kernel_<T>, result, empty, src,
                                              n, stream);
}

#endif

#endif

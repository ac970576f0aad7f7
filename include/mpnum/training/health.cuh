/* SPDX-License-Identifier: MIT */
/* The health of arrays in device memory: histograms of exponents, and what a format would
 * lose (health.h). Opt-in, not in kernels.cuh, whose rules of all launchers are these,
 * too. CUDA C++11; NVRTC for the kernels alone.
 *
 *     mpnum_launch_scratch_init(histogram, stream);
 *     mpnum_launch_histogram(histogram, values, n, stream);
 *     mpnum_launch_count_lost(lost, values, n, mpnum_format_of(MPNUM_TYPE_E5M2), 1,
 *                             stream);
 *
 * Both add to what is there, so that several arrays are one; all bytes 0 is empty. n
 * below 2^36. T is float or a storage struct. */
#ifndef MPNUM_TRAINING_HEALTH_CUH
#define MPNUM_TRAINING_HEALTH_CUH

#include "health.h"
#include "../array/reduce.cuh"
MPNUM_C_BEGIN_

template <> struct mpnum_is_zero_first_<mpnum_histogram> : mpnum_zero_first_ {};
template <> struct mpnum_is_zero_first_<mpnum_lost> : mpnum_zero_first_ {};

namespace mpnum {

MPNUM_INLINE float float_of_(float x) { return x; }
template <class T> MPNUM_INLINE float float_of_(T x) { return to_float(x); }

} // namespace mpnum

/* A one-dimensional grid of blocks of 256 threads. Each warp counts in bins of its own,
 * which fewer threads want at a time. */
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_histogram_kernel_(mpnum_histogram *histogram, const T *src, size_t n) {
  mpnum_begin_kernel_();
  enum { bins = 257, lanes = 16 / sizeof(T) }; /* the zeros last */
  typedef mpnum_tile<T, lanes> tile;
  __shared__ uint32_t counts[MPNUM_LAUNCH_THREADS_ / 32][bins];
  uint32_t *own = counts[threadIdx.x / 32];
  for (unsigned k = threadIdx.x % 32; k < bins; k += 32)
    own[k] = 0;
  __syncwarp();
  for (size_t i = blockIdx.x * tile::elements; i < n; i += gridDim.x * tile::elements) {
    const tile in = mpnum_load_tile<lanes>(src, i, n);
    MPNUM_UNROLL_
    for (unsigned k = 0; k < tile::vectors * lanes; ++k) {
      const float value = mpnum::float_of_(in.at[k / lanes].at[k % lanes]);
      const uint32_t x = mpnum_bits_f32(value) & 0x7fffffffu;
      if (i + in.place(k / lanes) + k % lanes < n)
        atomicAdd(own + (x ? x >> 23 : bins - 1), 1u);
    }
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < bins; k += blockDim.x) {
    uint64_t sum = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp)
      sum += counts[warp][k];
    mpnum_atomic_add_u64_(k < 256 ? histogram->counts + k : &histogram->zeros, sum);
  }
}

/* The same; of magnitudes from 1 to last_lost, and above last_kept to max_code. */
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_count_lost_kernel_(mpnum_lost *lost, const T *src, size_t n,
                             mpnum_loss_limits_ limits) {
  mpnum_begin_kernel_();
  enum { lanes = 16 / sizeof(T) };
  typedef mpnum_tile<T, lanes> tile;
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const mpnum_format format = mpnum_format_of(mpnum::type_of<T>::value);
  uint32_t underflows = 0, overflows = 0;
  for (size_t i = blockIdx.x * tile::elements; i < n; i += gridDim.x * tile::elements) {
    const tile in = mpnum_load_tile<lanes>(src, i, n);
    MPNUM_UNROLL_
    for (unsigned k = 0; k < tile::vectors * lanes; ++k) { /* past the end are zeros */
      const T value = in.at[k / lanes].at[k % lanes];
      const uint32_t x = mpnum_magnitude_(format, mpnum::code_of_(value));
      underflows += x - 1 < limits.last_lost;
      overflows += x > limits.last_kept && x <= format.max_code;
    }
  }
  underflows = mpnum_block_sum_u32_(underflows, scratch);
  overflows = mpnum_block_sum_u32_(overflows, scratch);
  if (threadIdx.x == 0) {
    mpnum_atomic_add_u64_(&lost->underflows, underflows);
    mpnum_atomic_add_u64_(&lost->overflows, overflows);
  }
}

#if !MPNUM_HAS_NVRTC_

/* Blocks for n elements, a tile of 64 bytes a thread each. */
static inline cudaError_t mpnum_health_blocks_(size_t *blocks, size_t n, size_t size) {
  const size_t tile = static_cast<size_t>(MPNUM_LAUNCH_THREADS_) * (64 / size);
  return mpnum_launch_blocks_(blocks, n / tile + (n % tile != 0), 0);
}
/* mpnum_histogram_add of every element. cudaErrorInvalidValue, and no launch: a NULL. */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_histogram(mpnum_histogram *histogram, const T *src, size_t n,
                       cudaStream_t stream) {
  if (!histogram || (n != 0 && !src)) return cudaErrorInvalidValue;
  size_t blocks = 0;
  if (n == 0) return cudaSuccess;
  const cudaError_t error = mpnum_health_blocks_(&blocks, n, sizeof(T));
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_histogram_kernel_<T>, blocks, MPNUM_LAUNCH_THREADS_, stream,
                       histogram, src, n);
}
/* mpnum_count_lost, of any storage struct. The same. */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_count_lost(mpnum_lost *lost, const T *src, size_t n, mpnum_format format,
                        float scale, cudaStream_t stream) {
  if (!lost || (n != 0 && !src)) return cudaErrorInvalidValue;
  size_t blocks = 0;
  if (n == 0) return cudaSuccess;
  const cudaError_t error = mpnum_health_blocks_(&blocks, n, sizeof(T));
  if (error != cudaSuccess) return error;
  return mpnum_launch_(
      mpnum_count_lost_kernel_<T>, blocks, MPNUM_LAUNCH_THREADS_, stream, lost, src, n,
      mpnum_loss_limits_of_(mpnum_format_of(mpnum::type_of<T>::value), format, scale));
}

#endif

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* For kernels: vector loads and stores, and reductions over a warp and a block. Opt-in,
 * CUDA C++11, NVRTC too.
 *
 *     __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
 *     float amax = 0;
 *     for (size_t i = mpnum_grid_index(); i < n; i += mpnum_grid_size())
 *       amax = mpnum_amax(amax, src[i]);
 *     amax = mpnum_block_amax_f32(amax, scratch);
 *
 * Warp functions are called by all 32 lanes of a warp together; block functions by all
 * threads of a block of 1 to 3 dimensions whose number of threads is a multiple of 32.
 * Every caller gets the result. A block function leaves scratch free for the next: no
 * further sync is needed. Before one, sync if scratch held something of your own.
 *
 * Results do not depend on the architecture: where a reduction instruction exists (sm_80
 * on) it gives the bits of the shuffles.
 */
#ifndef MPNUM_CUDA_DEVICE_CUH
#define MPNUM_CUDA_DEVICE_CUH

#include "../mpnum.h"

#define MPNUM_BLOCK_SCRATCH 32 /* words of shared memory that a block function takes */

#define MPNUM_DEVICE_    static __device__ __forceinline__
#define MPNUM_ALL_LANES_ 0xffffffffu

/* Where a thread is. */

/* Number of this thread in its block, in the order that makes up warps. */
MPNUM_DEVICE_ unsigned mpnum_thread_index() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
MPNUM_DEVICE_ unsigned mpnum_block_size() { return blockDim.x * blockDim.y * blockDim.z; }

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

/* The sum, modulo 2^32, and the largest of a word of each lane. */

MPNUM_DEVICE_ uint32_t mpnum_warp_sum_u32(uint32_t value) {
#if MPNUM_DEVICE_ARCH_ >= 800
  return __reduce_add_sync(MPNUM_ALL_LANES_, value);
#else
  for (int step = 16; step > 0; step /= 2)
    value += __shfl_xor_sync(MPNUM_ALL_LANES_, value, step);
  return value;
#endif
}
MPNUM_DEVICE_ uint32_t mpnum_warp_max_u32(uint32_t value) {
#if MPNUM_DEVICE_ARCH_ >= 800
  return __reduce_max_sync(MPNUM_ALL_LANES_, value);
#else
  for (int step = 16; step > 0; step /= 2) {
    const uint32_t other = __shfl_xor_sync(MPNUM_ALL_LANES_, value, step);
    value = other > value ? other : value;
  }
  return value;
#endif
}

/* Floats as words of the same order: -Inf lowest, -0 below +0, every NaN highest. */
MPNUM_DEVICE_ uint32_t mpnum_ordered_f32_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  if (mpnum_isnan_f32(x)) return 0xffffffffu;
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
MPNUM_DEVICE_ float mpnum_from_ordered_f32_(uint32_t word) {
  return mpnum_from_bits_f32(word >> 31 ? word & 0x7fffffffu : ~word);
}

/* The larger of an amax, +0 to begin with, and the magnitude of x. NaN, in x or before,
 * is never dropped: 0x7fffffff. */
MPNUM_DEVICE_ float mpnum_amax(float amax, float x) {
  const uint32_t magnitude = mpnum_bits_f32(x) & 0x7fffffffu;
  const uint32_t word = magnitude > 0x7f800000u ? 0x7fffffffu : magnitude;
  return mpnum_from_bits_f32(word > mpnum_bits_f32(amax) ? word : mpnum_bits_f32(amax));
}

/* Warp functions. */

/* The sum over the lanes, added in pairs of lanes 16, 8, 4, 2 and 1 apart. NaN: canonical
 * 0x7fffffff. Under -use_fast_math subnormals are flushed. */
MPNUM_DEVICE_ float mpnum_warp_sum_f32(float value) {
  for (int step = 16; step > 0; step /= 2)
    value = __fadd_rn(value, __shfl_xor_sync(MPNUM_ALL_LANES_, value, step));
  return mpnum_isnan_f32(value) ? mpnum_from_bits_f32(0x7fffffffu) : value;
}
/* The largest; -0 is less than +0. NaN in any lane: 0x7fffffff. */
MPNUM_DEVICE_ float mpnum_warp_max_f32(float value) {
  return mpnum_from_ordered_f32_(mpnum_warp_max_u32(mpnum_ordered_f32_(value)));
}
/* The largest magnitude. NaN in any lane: 0x7fffffff. */
MPNUM_DEVICE_ float mpnum_warp_amax_f32(float value) {
  return mpnum_from_bits_f32(mpnum_warp_max_u32(mpnum_bits_f32(mpnum_amax(0, value))));
}
/* 1 if no lane has Inf or NaN, else 0. */
MPNUM_DEVICE_ int mpnum_warp_all_finite_f32(float value) {
  return __all_sync(MPNUM_ALL_LANES_, mpnum_isfinite_f32(value)) != 0;
}

/* Block functions. scratch: MPNUM_BLOCK_SCRATCH words, 128 bytes, of shared memory. */

/* Each warp's word, in the lane of its number; identity in the lanes without a warp. */
MPNUM_DEVICE_ uint32_t mpnum_share_warp_words_(uint32_t word, uint32_t identity,
                                               uint32_t *scratch) {
  const unsigned lane = mpnum_thread_index() % 32;
  const unsigned warp = mpnum_thread_index() / 32;
  const unsigned warps = mpnum_block_size() / 32;
  if (lane == 0) scratch[warp] = word;
  __syncthreads();
  word = lane < warps ? scratch[lane] : identity;
  __syncthreads();
  return word;
}

/* As mpnum_warp_sum_u32 and mpnum_warp_max_u32. */
MPNUM_DEVICE_ uint32_t mpnum_block_sum_u32(uint32_t value, uint32_t *scratch) {
  value = mpnum_share_warp_words_(mpnum_warp_sum_u32(value), 0, scratch);
  return mpnum_warp_sum_u32(value);
}
MPNUM_DEVICE_ uint32_t mpnum_block_max_u32(uint32_t value, uint32_t *scratch) {
  value = mpnum_share_warp_words_(mpnum_warp_max_u32(value), 0, scratch);
  return mpnum_warp_max_u32(value);
}
/* The sum of each warp as mpnum_warp_sum_f32, then the sum of these in the same way. */
MPNUM_DEVICE_ float mpnum_block_sum_f32(float value, uint32_t *scratch) {
  const uint32_t sum = mpnum_bits_f32(mpnum_warp_sum_f32(value));
  const uint32_t minus_zero = 0x80000000u; /* leaves every sum as it is, -0 too */
  return mpnum_warp_sum_f32(
      mpnum_from_bits_f32(mpnum_share_warp_words_(sum, minus_zero, scratch)));
}
/* As mpnum_warp_max_f32. */
MPNUM_DEVICE_ float mpnum_block_max_f32(float value, uint32_t *scratch) {
  return mpnum_from_ordered_f32_(mpnum_block_max_u32(mpnum_ordered_f32_(value), scratch));
}
/* As mpnum_warp_amax_f32. */
MPNUM_DEVICE_ float mpnum_block_amax_f32(float value, uint32_t *scratch) {
  return mpnum_from_bits_f32(
      mpnum_block_max_u32(mpnum_bits_f32(mpnum_amax(0, value)), scratch));
}
/* 1 if no thread has Inf or NaN, else 0. No scratch. */
MPNUM_DEVICE_ int mpnum_block_all_finite_f32(float value) {
  return __syncthreads_and(mpnum_isfinite_f32(value)) != 0;
}

/* Atomics. A float cannot be the operand of an atomic maximum, but the bits of floats
 * without sign order as they do. */

/* *amax, 0 or more, becomes mpnum_amax(*amax, x). Global or shared memory. */
MPNUM_DEVICE_ void mpnum_atomic_amax(float *amax, float x) {
  atomicMax(reinterpret_cast<unsigned *>(amax), mpnum_bits_f32(mpnum_amax(0, x)));
}
/* *min, without sign, becomes the smaller of *min and x, which is no NaN and has no sign.
 */
MPNUM_DEVICE_ void mpnum_atomic_min_magnitude(float *min, float x) {
  atomicMin(reinterpret_cast<unsigned *>(min), mpnum_bits_f32(x));
}
/* *sum becomes *sum + value, modulo 2^64; no access if value is 0. */
MPNUM_DEVICE_ void mpnum_atomic_add_u64(uint64_t *sum, uint64_t value) {
  if (value) atomicAdd(reinterpret_cast<unsigned long long *>(sum), value);
}

#undef MPNUM_DEVICE_
#undef MPNUM_ALL_LANES_

#endif

/* SPDX-License-Identifier: MIT */
/* Reductions over a warp and a block, for kernels of one's own. Opt-in, CUDA C++11, NVRTC
 * too.
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
#ifndef MPNUM_CUDA_BLOCK_CUH
#define MPNUM_CUDA_BLOCK_CUH

#include "device.cuh"

#define MPNUM_BLOCK_SCRATCH 32 /* words of shared memory that a block function takes */

#define MPNUM_DEVICE_    static __device__ __forceinline__
#define MPNUM_ALL_LANES_ 0xffffffffu

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

/* Sums of doubles, and what gradients are found to be (grad_tensor.h). */

/* The sum of each warp, added in pairs of lanes 16, 8, 4, 2 and 1 apart, then the sum of
 * these in the same way. NaN: canonical 0x7fffffffffffffff. scratch: MPNUM_BLOCK_SCRATCH
 * words of 64 bits. */
MPNUM_DEVICE_ double mpnum_warp_sum_f64_(double value) {
  for (int step = 16; step > 0; step /= 2)
    value = __dadd_rn(value, __shfl_xor_sync(MPNUM_ALL_LANES_, value, step));
  return mpnum_isnan_f64(value) ? mpnum_from_bits_f64(0x7fffffffffffffffu) : value;
}
MPNUM_DEVICE_ double mpnum_block_sum_f64(double value, uint64_t *scratch) {
  const unsigned lane = mpnum_thread_index() % 32;
  const unsigned warps = mpnum_block_size() / 32;
  value = mpnum_warp_sum_f64_(value);
  if (lane == 0) scratch[mpnum_thread_index() / 32] = mpnum_bits_f64(value);
  __syncthreads();
  const uint64_t minus_zero = static_cast<uint64_t>(1) << 63; /* as for floats */
  value = mpnum_from_bits_f64(lane < warps ? scratch[lane] : minus_zero);
  __syncthreads();
  return mpnum_warp_sum_f64_(value);
}

/* The sum, modulo 2^64. */
MPNUM_DEVICE_ uint64_t mpnum_warp_sum_u64_(uint64_t value) {
  for (int step = 16; step > 0; step /= 2)
    value +=
        __shfl_xor_sync(MPNUM_ALL_LANES_, static_cast<unsigned long long>(value), step);
  return value;
}
/* Adds words of all threads into shared memory that holds zeros: one atomic a warp and
 * word. Sync after it. */
MPNUM_DEVICE_ void mpnum_block_add_words_(uint64_t *sums, const uint64_t *words,
                                          unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t sum = mpnum_warp_sum_u64_(words[i]);
    if (mpnum_thread_index() % 32 == 0) mpnum_atomic_add_u64(sums + i, sum);
  }
}
/* Of the values of all threads, as mpnum_total_merge of theirs in any order; carried, if
 * they have 2^16 terms together. *total, in shared memory, becomes it; sync before
 * another thread reads it is done, and *total is the caller's again. */
MPNUM_DEVICE_ void mpnum_block_total(mpnum_total *total, const mpnum_total &own) {
  uint64_t *sums = reinterpret_cast<uint64_t *>(total);
  enum { words = sizeof(mpnum_total) / 8 };
  __syncthreads();
  for (unsigned i = mpnum_thread_index(); i < words; i += mpnum_block_size())
    sums[i] = 0;
  __syncthreads();
  mpnum_block_add_words_(sums, reinterpret_cast<const uint64_t *>(&own), words);
  __syncthreads();
  if (mpnum_thread_index() == 0) mpnum_total_settle_(total);
  __syncthreads();
}
/* The same of findings, as mpnum_grad_findings_merge. */
MPNUM_DEVICE_ void mpnum_block_findings(mpnum_grad_findings *findings,
                                        const mpnum_grad_findings &own) {
  const bool is_first = mpnum_thread_index() == 0;
  unsigned *amax = reinterpret_cast<unsigned *>(&findings->stats.amax);
  unsigned *min_nonzero = reinterpret_cast<unsigned *>(&findings->stats.min_nonzero);
  unsigned long long *tensor =
      reinterpret_cast<unsigned long long *>(&findings->first_tensor);
  unsigned long long *element =
      reinterpret_cast<unsigned long long *>(&findings->first_element);
  unsigned long long *bits =
      reinterpret_cast<unsigned long long *>(&findings->first_bits);
  mpnum_block_total(&findings->squares, own.squares);
  if (is_first) {
    findings->stats = mpnum_stats_empty();
    *tensor = *element = ~0ull;
    *bits = 0;
  }
  __syncthreads();
  mpnum_block_add_words_(&findings->stats.count, &own.stats.count, 5);
  atomicMax(amax, mpnum_bits_f32(own.stats.amax));
  atomicMin(min_nonzero, mpnum_bits_f32(own.stats.min_nonzero));
  atomicMin(tensor, static_cast<unsigned long long>(own.first_tensor));
  __syncthreads();
  if (own.first_tensor == *tensor)
    atomicMin(element, static_cast<unsigned long long>(own.first_element));
  __syncthreads();
  if (own.first_tensor == *tensor && own.first_element == *element)
    atomicMax(bits, static_cast<unsigned long long>(own.first_bits));
  __syncthreads();
}

#undef MPNUM_DEVICE_
#undef MPNUM_ALL_LANES_

#endif

/* SPDX-License-Identifier: MIT */
/* Reductions over a warp and a block, and rows that these share, for kernels of one's
 * own. Opt-in, CUDA C++11, NVRTC too.
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
#include "../detail/math/norm_row.h"

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
 * 0x7fffffff. */
MPNUM_DEVICE_ float mpnum_warp_sum_f32(float value) {
  for (int step = 16; step > 0; step /= 2)
    value = mpnum_add_scalar_(value, __shfl_xor_sync(MPNUM_ALL_LANES_, value, step));
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

/* Rows that a warp or block shares. */

/* The state of a row in parts, a part in each lane (softmax.h): all get the largest
 * element, to which each sum is rescaled, once, before they are added as by
 * mpnum_warp_sum_f32. NaN: both 0x7fffffff. Not the bits of mpnum_softmax_merge part by
 * part, which rescales more often; the same from every GPU. */
MPNUM_DEVICE_ float mpnum_rescaled_part_(mpnum_softmax_state state, float max,
                                         float scale) {
  if (mpnum_bits_f32(max) == 0xff800000u) return 0;
  if (mpnum_isnan_f32(max)) return max;
  return mpnum_rescaled_(state.sum, state.max, max, scale);
}
MPNUM_DEVICE_ mpnum_softmax_state mpnum_warp_softmax_merge(mpnum_softmax_state state,
                                                           float scale) {
  const float max = mpnum_warp_max_f32(state.max);
  state.sum = mpnum_warp_sum_f32(mpnum_rescaled_part_(state, max, scale));
  state.max = max;
  return state;
}
/* The same of all threads, sums as by mpnum_block_sum_f32; 4 syncs. */
MPNUM_DEVICE_ mpnum_softmax_state mpnum_block_softmax_merge(mpnum_softmax_state state,
                                                            float scale,
                                                            uint32_t *scratch) {
  const float max = mpnum_block_max_f32(state.max, scratch);
  state.sum = mpnum_block_sum_f32(mpnum_rescaled_part_(state, max, scale), scratch);
  state.max = max;
  return state;
}

/* The largest value and the lowest index of those that have it; -0 and +0 are equal, NaN,
 * which is 0x7fffffff, is above all. */
typedef struct mpnum_argmax {
  float max;
  uint32_t index;
} mpnum_argmax;
/* Of the value and index of each thread; 4 syncs. Of threads without one: -Inf and
 * 0xffffffff. The bits do not depend on the order of threads. */
MPNUM_DEVICE_ mpnum_argmax mpnum_block_argmax_f32(float value, uint32_t index,
                                                  uint32_t *scratch) {
  const uint32_t minus_zero = 0x80000000u;
  const uint32_t own = mpnum_ordered_f32_(mpnum_from_bits_f32(
      mpnum_bits_f32(value) == minus_zero ? 0 : mpnum_bits_f32(value)));
  const uint32_t most = mpnum_block_max_u32(own, scratch);
  mpnum_argmax result;
  result.max = mpnum_from_ordered_f32_(most);
  result.index = ~mpnum_block_max_u32(own == most ? ~index : 0, scratch);
  return result;
}

/* A row that a block holds in registers, normalised in place: the first count of x of
 * each thread are elements of it, in any order, columns of all threads together. 4 syncs
 * for RMS norm, 8 for layer norm, and 8 more where a row's mean is large beside its
 * deviation. Special rows and error: normalize.h. The bits are those of
 * mpnum_normalize_rows wherever sums of doubles are the same in both orders, and do not
 * depend on the GPU. */
MPNUM_DEVICE_ double mpnum_block_sum_of_doubles_(double value, uint32_t *scratch) {
  uint64_t bits = 0;
  for (int step = 16; step > 0; step /= 2)
    value = mpnum_add_f64_(value, __shfl_xor_sync(MPNUM_ALL_LANES_, value, step));
  bits = mpnum_bits_f64(value);
  bits = static_cast<uint64_t>(
             mpnum_share_warp_words_(static_cast<uint32_t>(bits >> 32), 0, scratch))
             << 32 |
         mpnum_share_warp_words_(static_cast<uint32_t>(bits), 0, scratch);
  value = mpnum_from_bits_f64(bits);
  for (int step = 16; step > 0; step /= 2)
    value = mpnum_add_f64_(value, __shfl_xor_sync(MPNUM_ALL_LANES_, value, step));
  return value;
}
/* Sums of elements, unless nobody wants them, and of squares, as map makes them. */
template <unsigned N>
MPNUM_DEVICE_ void mpnum_block_norm_sums_(const mpnum_lanes<float, N> &x, unsigned count,
                                          const mpnum_norm_map_ &map, int has_values,
                                          double (&sums)[2], uint32_t *scratch) {
  double values = 0, squares = 0;
  for (unsigned i = 0; i < N; ++i) {
    const double wide = mpnum_widen_f32_(mpnum_normed_(&map, x.at[i]));
    if (i >= count) continue;
    values = mpnum_add_f64_(values, wide);
    squares = mpnum_add_f64_(squares, mpnum_mul_f64_(wide, wide));
  }
  sums[0] = has_values ? mpnum_block_sum_of_doubles_(values, scratch) : 0;
  sums[1] = mpnum_block_sum_of_doubles_(squares, scratch);
}
template <unsigned N>
MPNUM_DEVICE_ void mpnum_block_norm_(mpnum_norm_kind kind, mpnum_lanes<float, N> &x,
                                     unsigned count, size_t columns, float epsilon,
                                     uint32_t *scratch) {
  const double n = static_cast<double>(columns), least = mpnum_widen_f32_(epsilon);
  const int is_layer = kind == MPNUM_NORM_LAYER;
  double sums[2], square = 0;
  mpnum_norm_row_ row;
  int step = 0;
  mpnum_norm_shift_(&row.map, 1, 0);
  mpnum_block_norm_sums_(x, count, row.map, is_layer, sums, scratch);
  step = mpnum_norm_begin_(kind, least, n, sums, &row, &square);
  if (step == 2) {
    mpnum_block_norm_sums_(x, count, row.map, is_layer, sums, scratch);
    square = mpnum_norm_about_(n, sums, &row);
  }
  if (step != 0) mpnum_norm_end_(kind, least, square, &row);
  for (unsigned i = 0; i < N; ++i)
    if (i < count) x.at[i] = mpnum_norm_canonical_(mpnum_normed_(&row.map, x.at[i]));
}
template <unsigned N>
MPNUM_DEVICE_ void mpnum_block_layer_norm(mpnum_lanes<float, N> &x, unsigned count,
                                          size_t columns, float epsilon,
                                          uint32_t *scratch) {
  mpnum_block_norm_(MPNUM_NORM_LAYER, x, count, columns, epsilon, scratch);
}
template <unsigned N>
MPNUM_DEVICE_ void mpnum_block_rms_norm(mpnum_lanes<float, N> &x, unsigned count,
                                        size_t columns, float epsilon,
                                        uint32_t *scratch) {
  mpnum_block_norm_(MPNUM_NORM_RMS, x, count, columns, epsilon, scratch);
}

#undef MPNUM_DEVICE_
#undef MPNUM_ALL_LANES_

#endif

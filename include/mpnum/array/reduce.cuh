/* SPDX-License-Identifier: MIT */
/* all_finite, amax and statistics of arrays in device memory. Rules of all launchers:
 * kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     mpnum_launch_amax(amax, values, n, stream); // float *amax in device memory
 */
#ifndef MPNUM_ARRAY_REDUCE_CUH
#define MPNUM_ARRAY_REDUCE_CUH

#include "../cuda/detail/launch.cuh"
#include "stats.h"
#include "../cuda/block.cuh"
MPNUM_C_BEGIN_

/* Where the blocks of a reduction meet, so that it is one launch: zero bytes before the
 * first one, by mpnum_launch_scratch_init, zero bytes again after each. Launches that
 * share one are in one stream. Where blocks was not zero, or launches of two streams meet
 * in it, a launch gives what tells users to stop: a NaN, not finite, more of each kind
 * than there are elements; and so do all that follow, until all of it is set to zero. */
typedef struct mpnum_launch_scratch {
  uint64_t sums[4];
  uint32_t maxima[2];
  uint64_t blocks; /* that are done, and of which launch */
} mpnum_launch_scratch;
template <> struct mpnum_is_zero_first_<mpnum_launch_scratch> : mpnum_zero_first_ {};

namespace mpnum {

/* The magnitudes of a type as fields of words: 8, 16 or 32 bits each, the highest of
 * which is free, so that fields are added and compared without carries between them. Of a
 * double it is the high word; e8m0, which has 8 bits of magnitude, is spread over two
 * words. */
template <class T> struct fields_ {
  static constexpr mpnum_type type = type_of<T>::value;
  enum {
    is_e8m0 = type == MPNUM_TYPE_E8M0,
    is_f64 = type == MPNUM_TYPE_F64,
    bits = is_e8m0         ? 16
           : sizeof(T) < 4 ? 8 * sizeof(T)
                           : 32,
    words = is_f64    ? 2
            : is_e8m0 ? 8
                      : 4 /* of a vector */
  };
  static constexpr uint32_t ones = bits == 8    ? 0x01010101u
                                   : bits == 16 ? 0x00010001u
                                                : 1u;
  static constexpr uint32_t high = ones << (bits - 1);
  static constexpr uint32_t top = high - ones; /* the largest fields */

  MPNUM_INLINE mpnum_format format() {
    return mpnum_format_of(is_f64 ? MPNUM_TYPE_F32 : type);
  }
  /* Of one code. */
  MPNUM_INLINE uint32_t magnitude_mask() {
    const mpnum_format f = format();
    if (is_f64) return 0x7fffffffu;
    return ((1u << (f.exponent_bits + f.mantissa_bits)) - 1) << f.storage_shift;
  }
  /* The first magnitude that is Inf or NaN; past all of them where there is none. */
  MPNUM_INLINE uint32_t first_nonfinite() {
    const mpnum_format f = format();
    return is_f64 ? 0x7ff00000u : (f.max_code + 1) << f.storage_shift;
  }
  MPNUM_INLINE uint32_t first_normal() {
    const mpnum_format f = format();
    return f.has_zero ? 1u << f.mantissa_bits << f.storage_shift : 0;
  }
  /* NaN is what elsewhere is -0. */
  MPNUM_INLINE bool is_fnuz() {
    return format().sign_bits && !format().has_negative_zero;
  }
  MPNUM_INLINE uint32_t word(const mpnum_vector_ &vector, unsigned index) {
    if (is_f64) return vector.at[2 * index + 1];
    if (is_e8m0) return vector.at[index / 2] >> index % 2 * 8 & 0x00ff00ffu;
    return vector.at[index];
  }
  MPNUM_INLINE uint32_t magnitudes(uint32_t word) {
    return word & magnitude_mask() * ones;
  }
  /* The high bit of each field that is 0, and with a sign. */
  MPNUM_INLINE uint32_t fnuz_nans(uint32_t word) {
    return is_fnuz() ? (high - magnitudes(word)) & word & high : 0;
  }
  /* How many high bits are set in fields; no more than 2^(bits - 1) words are added. */
  MPNUM_INLINE uint32_t lowest(uint32_t word) { return word >> (bits - 1) & ones; }
  MPNUM_INLINE uint32_t total(uint32_t counts) { return counts * ones >> (32 - bits); }
  MPNUM_INLINE float value(uint32_t magnitude) {
    return mpnum_decode(format(), magnitude);
  }
};
template <class T> constexpr mpnum_type fields_<T>::type;
template <class T> constexpr uint32_t fields_<T>::ones;
template <class T> constexpr uint32_t fields_<T>::high;
template <class T> constexpr uint32_t fields_<T>::top;

MPNUM_INLINE uint32_t code_of_(float x) { return mpnum_bits_f32(x); }
MPNUM_INLINE uint32_t code_of_(double x) {
  return static_cast<uint32_t>(mpnum_bits_f64(x) >> 32);
}
template <class T> MPNUM_INLINE uint32_t code_of_(T x) { return x.bits; }

MPNUM_INLINE uint32_t larger_(uint32_t a, uint32_t b) { return a > b ? a : b; }
MPNUM_INLINE uint32_t smaller_(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Bytes of ones where the high bit is set, else of zeros. */
MPNUM_INLINE uint32_t byte_signs_(uint32_t word) {
#if MPNUM_ON_DEVICE_
  uint32_t mask = 0;
  asm("prmt.b32 %0, %1, %1, 0xba98;" : "=r"(mask) : "r"(word));
  return mask;
#else
  const uint32_t bits = word & 0x80808080u;
  return bits | (bits - (bits >> 7));
#endif
}

/* What a block has found, and then all blocks: sums, and maxima; 0 if it is nothing. */
struct found_ {
  uint64_t sums[4];
  uint32_t maxima[2];
};

/* Reductions: they take vectors, and codes alone. found() is of a block, called by all of
 * its threads; result() of all blocks, fold() adds a block's to a result so far. */

template <class T> struct reduce_finite_ {
  typedef fields_<T> fields;
  typedef int result_type;
  uint32_t bits; /* the high bit of a field: there was one that is not finite */

  __device__ __forceinline__ reduce_finite_() : bits(0) {}
  __device__ __forceinline__ void word(uint32_t word) {
    bits |= fields::magnitudes(word) +
            (fields::high - fields::first_nonfinite() * fields::ones);
    bits |= fields::fnuz_nans(word);
  }
  template <unsigned count>
  __device__ __forceinline__ void vectors(const mpnum_vector_ (&in)[count],
                                          const mpnum_vector_ *, unsigned) {
    MPNUM_UNROLL_
    for (unsigned i = 0; i < count * fields::words; ++i)
      word(fields::word(in[i / fields::words], i % fields::words));
  }
  __device__ __forceinline__ void code(uint32_t code) { word(code); }
  __device__ __forceinline__ found_ found(size_t, uint32_t *) const {
    found_ all = found_();
    all.maxima[0] = !__syncthreads_and((bits & fields::high) == 0);
    return all;
  }
  static __host__ __device__ int result(const found_ &all, size_t) {
    return !all.maxima[0];
  }
  static __device__ __forceinline__ void fold(int *result, const found_ &all) {
    if (all.maxima[0]) atomicAnd(result, 0);
  }
};

/* The largest magnitude of each field. */
template <class T> struct reduce_amax_ {
  typedef fields_<T> fields;
  typedef float result_type;
  static constexpr bool has_instruction =
      MPNUM_HAS_HW_BF16_ &&
      (fields::type == MPNUM_TYPE_F32 || fields::type == MPNUM_TYPE_F16 ||
       fields::type == MPNUM_TYPE_BF16);
  uint32_t highest, lowest; /* lowest: of the lower half where a word has two */
  uint32_t nans;

  __device__ __forceinline__ reduce_amax_() : highest(0), lowest(0), nans(0) {}
  __device__ __forceinline__ void word(uint32_t word) {
    if (has_instruction) {
      highest = larger_magnitudes_<T>::larger(highest, word);
      return;
    }
    const uint32_t x = fields::magnitudes(word);
    nans |= fields::fnuz_nans(word);
    if (fields::bits == 8) {
      /* Where the high bit stays, the field so far is the larger. */
      const uint32_t mask = byte_signs_((highest | fields::high) - x);
      highest = (highest & mask) | (x & ~mask);
    } else {
      highest = larger_(highest, x); /* the higher half decides */
      if (fields::bits == 16) lowest = larger_(lowest, x << 16);
    }
  }
  template <unsigned count>
  __device__ __forceinline__ void vectors(const mpnum_vector_ (&in)[count],
                                          const mpnum_vector_ *, unsigned) {
    MPNUM_UNROLL_
    for (unsigned i = 0; i < count * fields::words; ++i)
      word(fields::word(in[i / fields::words], i % fields::words));
  }
  __device__ __forceinline__ void code(uint32_t code) { word(code); }
  __device__ __forceinline__ found_ found(size_t n, uint32_t *scratch) const {
    found_ all = found_();
    uint32_t largest = highest;
    if (fields::bits == 16)
      largest = larger_(highest, has_instruction ? highest << 16 : lowest) >> 16;
    if (fields::bits == 8) {
      largest = 0;
      for (unsigned shift = 0; shift < 32; shift += 8)
        largest = larger_(largest, highest >> shift & 0xffu);
    }
    const float value = mpnum_amax(0.0f, fields::value(largest));
    const uint32_t bits = nans ? 0x7fffffffu : n == 0 ? 0 : mpnum_bits_f32(value);
    all.maxima[0] = mpnum_block_max_u32_(bits, scratch);
    return all;
  }
  static __host__ __device__ float result(const found_ &all, size_t) {
    return mpnum_from_bits_f32(all.maxima[0]);
  }
  static __device__ __forceinline__ void fold(float *result, const found_ &all) {
    mpnum_atomic_amax(result, mpnum_from_bits_f32(all.maxima[0]));
  }
};

/* Counts of codes. In wider fields four vectors of finite normal numbers are their
 * extremes and no more. Bytes are seldom so: zeros and subnormals are counted always, and
 * vectors looked at again where they show Inf, NaN or an extreme, which soon changes no
 * more. */
template <class T> struct reduce_stats_ {
  typedef fields_<T> fields;
  typedef mpnum_stats result_type;
  uint32_t zeros, lows, infs, nans; /* lows: zeros, subnormals and fnuz NaNs */
  uint32_t largest, smallest;       /* codes of finite values that are not 0 */

  __device__ __forceinline__ reduce_stats_()
      : zeros(0), lows(0), infs(0), nans(0), largest(0), smallest(fields::top) {}

  static __device__ __forceinline__ uint32_t zero() {
    return fields::format().has_zero ? 1 : 0;
  }
  __device__ __forceinline__ void special(uint32_t code) {
    const uint32_t x = code & fields::magnitude_mask();
    if (x >= fields::first_nonfinite() || (fields::is_fnuz() && x == 0)) {
      const bool is_inf = fields::format().inf_code && x == fields::first_nonfinite();
      infs += is_inf;
      nans += !is_inf && (x != 0 || code >> (fields::bits - 1));
    } else if (x >= zero()) {
      largest = larger_(largest, x);
      smallest = smaller_(smallest, x);
    }
  }
  __device__ __forceinline__ void code(uint32_t code) {
    const uint32_t x = code & fields::magnitude_mask();
    zeros += zero() && x == 0 && !fields::fnuz_nans(code);
    lows += x < fields::first_normal();
    special(code);
  }
  /* The halves of words, or words; the larger and the smaller of two. */
  static __device__ __forceinline__ uint32_t either(uint32_t high, uint32_t low,
                                                    bool is_larger) {
    if (fields::bits != 16) return high;
    high = is_larger ? larger_(high, low) : smaller_(high, low);
    return high >> 16;
  }
  template <unsigned count>
  __device__ __forceinline__ void vectors(const mpnum_vector_ (&in)[count],
                                          const mpnum_vector_ *src, unsigned stride) {
    enum { words = count * fields::words };
    const uint32_t first = fields::first_nonfinite(), ones = fields::ones;
    bool is_special = false;
    if (fields::bits != 8) {
      uint32_t high_max = 0, low_max = 0, high_min = ~0u, low_min = ~0u;
      MPNUM_UNROLL_
      for (unsigned i = 0; i < words; ++i) {
        const uint32_t x =
            fields::magnitudes(fields::word(in[i / fields::words], i % fields::words));
        high_max = larger_(high_max, x);
        high_min = smaller_(high_min, x);
        low_max = larger_(low_max, x << 16);
        low_min = smaller_(low_min, x << 16);
      }
      const uint32_t most = either(high_max, low_max, true);
      const uint32_t least = either(high_min, low_min, false);
      is_special = most >= first;
      if (!is_special) largest = larger_(largest, most);
      if (!is_special && least >= fields::first_normal()) {
        smallest = smaller_(smallest, least);
        return;
      }
    }
    uint32_t zero_counts = 0, low_counts = 0, marks = 0, keeps = ~0u, high_min = ~0u,
             low_min = ~0u;
    const uint32_t above = fields::top - largest * ones;
    MPNUM_UNROLL_
    for (unsigned i = 0; i < words; ++i) {
      const uint32_t word = fields::word(in[i / fields::words], i % fields::words);
      const uint32_t x = fields::magnitudes(word) | fields::high;
      const uint32_t is_zero = fields::high - fields::magnitudes(word);
      if (zero()) {
        zero_counts += fields::lowest(is_zero & ~fields::fnuz_nans(word));
        low_counts += fields::lowest(~(x - fields::first_normal() * ones));
      }
      if (fields::bits == 8) {
        marks |= fields::magnitudes(word) + above;
        keeps &= (x - smallest * ones) | is_zero;
        marks |= fields::fnuz_nans(word);
      } else {
        /* Less 1, so that zero comes last. */
        const uint32_t below = (x - zero() * ones) ^ fields::high;
        high_min = smaller_(high_min, below);
        low_min = smaller_(low_min, below << 16);
      }
    }
    zeros += fields::total(zero_counts);
    lows += fields::total(low_counts);
    if (fields::bits == 8) {
      is_special = ((marks | ~keeps) & fields::high) != 0;
    } else {
      const uint32_t below = either(high_min, low_min, false);
      if (below < first - zero()) smallest = smaller_(smallest, below + zero());
    }
    if (!is_special) return;
    MPNUM_NO_UNROLL_
    for (unsigned i = 0; i < count; ++i) {
      const mpnum_vector_ again = src[mpnum_vector_place_(i, stride)];
      MPNUM_UNROLL_
      for (unsigned j = 0; j < fields::words; ++j) {
        uint32_t word = fields::word(again, j);
        MPNUM_NO_UNROLL_
        for (unsigned k = 0; k < 32; k += fields::bits) {
          special(word & 0xffffffffu >> (32 - fields::bits));
          word = fields::bits < 32 ? word >> fields::bits % 32 : 0;
        }
      }
    }
  }
  __device__ __forceinline__ found_ found(size_t n, uint32_t *scratch) const {
    found_ all = found_();
    uint32_t last = smallest, most = largest;
    const bool is_some = last != fields::top || most != 0;
    if (last == fields::top) last = most;
    const uint32_t subnormals = lows - zeros - (fields::is_fnuz() ? nans : 0);
    const uint32_t counts[4] = {zeros, subnormals, infs, nans};
    MPNUM_UNROLL_
    for (unsigned i = 0; i < 4; ++i) {
      if (n >> 32) {
        const uint32_t high = mpnum_block_sum_u32_(counts[i] >> 16, scratch);
        all.sums[i] = mpnum_block_sum_u32_(counts[i] & 0xffffu, scratch) +
                      (static_cast<uint64_t>(high) << 16);
      } else {
        all.sums[i] = mpnum_block_sum_u32_(counts[i], scratch);
      }
    }
    const uint32_t amax = is_some ? mpnum_bits_f32(fields::value(most)) : 0;
    const uint32_t under =
        is_some ? 0x7f800000u - mpnum_bits_f32(fields::value(last)) : 0;
    all.maxima[0] = mpnum_block_max_u32_(amax, scratch);
    all.maxima[1] = mpnum_block_max_u32_(under, scratch);
    return all;
  }
  static __host__ __device__ mpnum_stats result(const found_ &all, size_t n) {
    mpnum_stats stats = mpnum_stats_empty();
    stats.count = n;
    stats.zeros = all.sums[0];
    stats.subnormals = all.sums[1];
    stats.infs = all.sums[2];
    stats.nans = all.sums[3];
    stats.amax = mpnum_from_bits_f32(all.maxima[0]);
    stats.min_nonzero = mpnum_from_bits_f32(0x7f800000u - all.maxima[1]);
    return stats;
  }
  static __device__ __forceinline__ void fold(mpnum_stats *result, const found_ &all) {
    mpnum_atomic_add_u64_(&result->zeros, all.sums[0]);
    mpnum_atomic_add_u64_(&result->subnormals, all.sums[1]);
    mpnum_atomic_add_u64_(&result->infs, all.sums[2]);
    mpnum_atomic_add_u64_(&result->nans, all.sums[3]);
    mpnum_atomic_amax(&result->amax, mpnum_from_bits_f32(all.maxima[0]));
    mpnum_atomic_min_magnitude_(&result->min_nonzero,
                                mpnum_from_bits_f32(0x7f800000u - all.maxima[1]));
  }
};

} // namespace mpnum

/* Gives a reduction every element that falls to this thread, in a one-dimensional grid:
 * tiles of four vectors a thread, what is left of them, and the elements at both ends. */
template <class T, class Reduce>
static __device__ __forceinline__ void mpnum_visit_(const T *src, size_t n,
                                                    Reduce &reduce) {
  enum { lanes = sizeof(mpnum_vector_) / sizeof(T), count = MPNUM_LAUNCH_VECTORS_ };
  const size_t before = mpnum_bytes_before_vectors_(src) / sizeof(T);
  const size_t head = before < n ? before : n;
  const size_t whole = (n - head) / lanes;
  const mpnum_vector_ *const vectors =
      reinterpret_cast<const mpnum_vector_ *>(src + head);
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x * count;
  size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x * count +
             threadIdx.x * MPNUM_THREAD_VECTORS_;
  MPNUM_NO_UNROLL_
  for (; i + mpnum_vector_place_(count - 1, blockDim.x) < whole; i += step) {
    mpnum_access_ loaded[count / MPNUM_THREAD_VECTORS_];
    mpnum_vector_ in[count];
    mpnum_load_items_<true>(loaded, vectors + i, MPNUM_THREAD_VECTORS_ * blockDim.x);
    MPNUM_MEMCPY_(in, loaded, sizeof in);
    reduce.vectors(in, vectors + i, blockDim.x);
  }
  MPNUM_NO_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    const size_t at = i + mpnum_vector_place_(v, blockDim.x);
    if (at >= whole) break;
    const mpnum_vector_ in[1] = {vectors[at]};
    reduce.vectors(in, vectors + at, 0);
  }
  if (blockIdx.x == 0) {
    const size_t last = head + whole * lanes + threadIdx.x;
    if (threadIdx.x < head) reduce.code(mpnum::code_of_(src[threadIdx.x]));
    if (last < n) reduce.code(mpnum::code_of_(src[last]));
  }
}

/* *result becomes that of the array if there is scratch; else it holds a result so far,
 * into which the array is folded. A one-dimensional grid, blocks of a multiple of 32
 * threads, at most 256. */
template <class Reduce, class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_LAUNCH_BLOCKS_)
    mpnum_reduce_kernel_(typename Reduce::result_type *result, const T *src, size_t n,
                         mpnum_launch_scratch *scratch) {
  mpnum_begin_kernel_();
  __shared__ uint32_t words[MPNUM_BLOCK_SCRATCH];
  const mpnum_meeting_ meeting(scratch ? &scratch->blocks : 0, result, src, n);
  if (scratch && threadIdx.x == 0) meeting.begin();
  Reduce reduce;
  mpnum_visit_(src, n, reduce);
  mpnum::found_ all = reduce.found(n, words);
  if (threadIdx.x != 0) return;
  if (!scratch) {
    Reduce::fold(result, all);
    return;
  }
  MPNUM_UNROLL_
  for (unsigned i = 0; i < 4; ++i)
    mpnum_atomic_add_u64_(&scratch->sums[i], all.sums[i]);
  MPNUM_UNROLL_
  for (unsigned i = 0; i < 2; ++i)
    if (all.maxima[i]) atomicMax(&scratch->maxima[i], all.maxima[i]);
  __threadfence();
  const mpnum_meeting_state_ state = meeting.end();
  if (state == MPNUM_MEETING_EARLIER_) return;
  if (state == MPNUM_MEETING_LAST_) { /* no other block uses scratch any more */
    __threadfence();
    MPNUM_UNROLL_
    for (unsigned i = 0; i < 4; ++i)
      all.sums[i] =
          atomicExch(reinterpret_cast<unsigned long long *>(&scratch->sums[i]), 0ull);
    MPNUM_UNROLL_
    for (unsigned i = 0; i < 2; ++i)
      all.maxima[i] = atomicExch(&scratch->maxima[i], 0u);
    meeting.rest();
  } else {
    const mpnum::found_ unsound = {{n + 1, n + 1, n + 1, n + 1}, {0x7fffffffu, 0}};
    all = unsound;
  }
  *result = Reduce::result(all, n);
}

template <class Reduce>
static __global__ void mpnum_reduce_nothing_kernel_(typename Reduce::result_type *result,
                                                    size_t n) {
  mpnum_begin_kernel_();
  *result = Reduce::result(mpnum::found_(), n);
}

#if !MPNUM_HAS_NVRTC_

template <class Reduce, class T>
static inline cudaError_t
mpnum_launch_reduce_(typename Reduce::result_type *result, const T *src, size_t n,
                     cudaStream_t stream, mpnum_launch_scratch *scratch,
                     int multiprocessors) {
  const size_t tile = static_cast<size_t>(MPNUM_LAUNCH_THREADS_) * MPNUM_LAUNCH_VECTORS_ *
                      (16 / sizeof(T));
  size_t blocks = 1;
  cudaError_t error = cudaSuccess;
  if (!result || (n > 0 && !src)) return cudaErrorInvalidValue;
  if (n > 0)
    error = mpnum_launch_blocks_(&blocks, n / tile + (n % tile != 0), multiprocessors);
  if (error == cudaSuccess && !scratch)
    error = mpnum_launch_(mpnum_reduce_nothing_kernel_<Reduce>, 1, 1, stream, result, n);
  if (error != cudaSuccess || (n == 0 && !scratch)) return error;
  return mpnum_launch_(mpnum_reduce_kernel_<Reduce, T>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, result, src, n, scratch);
}

/* Reductions of n elements to *result, in device memory.
 *
 * A block cannot know what was in *result when no other has written it yet. So that a
 * reduction is one launch, give it scratch: a struct in device memory that is zero before
 * the first launch and that each launch leaves zero. Reductions of any kind and size may
 * share one, but in one stream. Without it, a launch before sets *result.
 * multiprocessors: of the GPU, 0 to have the runtime asked. The result does not depend on
 * either. */

/* 1 if no element is Inf or NaN, else 0. */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_all_finite(int *result, const T *src, size_t n, cudaStream_t stream,
                        mpnum_launch_scratch *scratch = 0, int multiprocessors = 0) {
  return mpnum_launch_reduce_<mpnum::reduce_finite_<T>>(result, src, n, stream, scratch,
                                                        multiprocessors);
}
/* The largest magnitude: 0 if n is 0, 0x7fffffff if an element is NaN. T is not double.
 */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_amax(float *result, const T *src, size_t n, cudaStream_t stream,
                  mpnum_launch_scratch *scratch = 0, int multiprocessors = 0) {
  static_assert(mpnum::type_of<T>::value != MPNUM_TYPE_F64, "no amax of doubles");
  return mpnum_launch_reduce_<mpnum::reduce_amax_<T>>(result, src, n, stream, scratch,
                                                      multiprocessors);
}
/* The statistics of the array, n below 2^40. T is not double. */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_stats(mpnum_stats *result, const T *src, size_t n, cudaStream_t stream,
                   mpnum_launch_scratch *scratch = 0, int multiprocessors = 0) {
  static_assert(mpnum::type_of<T>::value != MPNUM_TYPE_F64, "no statistics of doubles");
  return mpnum_launch_reduce_<mpnum::reduce_stats_<T>>(result, src, n, stream, scratch,
                                                       multiprocessors);
}

#endif

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* Matrices without gaps in ggml's Q8_0 and Q4_0, and back from them and from NF4 and FP4,
 * by tiles: a warp moves 1024 elements, eight neighbours of a lane at a time. Blocks of
 * ggml go through shared memory, from which and to which they move by vectors. */
#ifndef MPNUM_BLOCKS_DETAIL_STORED_TILES_CUH
#define MPNUM_BLOCKS_DETAIL_STORED_TILES_CUH

#include "stored_lanes.cuh"
MPNUM_C_BEGIN_

/* Elements of a warp, and of a block of MPNUM_LAUNCH_THREADS_. */
enum {
  MPNUM_STORED_WARP_ = 1024,
  MPNUM_STORED_TILE_ = MPNUM_STORED_WARP_ * MPNUM_LAUNCH_WARPS_
};

namespace mpnum {

template <bool is_q8> struct stored_shape_ {
  static constexpr unsigned bytes = is_q8 ? 34 : 18; /* of a block */
  static constexpr unsigned vectors =
      MPNUM_STORED_WARP_ / 32 * bytes / 16; /* of a warp */
};
typedef mpnum_shared_blocks_<4, 4> stored_shared_; /* blocks of four lanes */

/* Bytes that a compiler is to move two at a time. */
MPNUM_REAL_ void stored_set_two_(unsigned char *to, uint32_t word) {
  *reinterpret_cast<uint16_t *>(to) = static_cast<uint16_t>(word);
}
MPNUM_REAL_ void stored_set_four_(unsigned char *to, uint32_t word) {
  stored_set_two_(to, word);
  stored_set_two_(to + 2, word >> 16);
}
MPNUM_REAL_ uint32_t stored_four_at_(const unsigned char *from) {
  const uint16_t *const two = reinterpret_cast<const uint16_t *>(from);
  return two[0] | static_cast<uint32_t>(two[1]) << 16;
}

/* The first element with the largest magnitude of the block that a lane has, of four
 * whose elements it has; 0, not -0. */
template <class T, unsigned size = sizeof(T)> struct stored_firsts_;
/* Floats that end with 13 zeros at least: words in the order of magnitudes, then of
 * places from the last one on, the sign lowest. */
template <class T> struct stored_firsts_<T, 2> {
  static __device__ __forceinline__ float of(const mpnum_lanes<T, 8> (&in)[4]) {
    uint32_t most[4];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v) {
      most[v] = 0;
      MPNUM_UNROLL_
      for (unsigned j = 0; j < 8; ++j) {
        const uint32_t bits = mpnum_bits_of_scalar_(element_at_(in[v], j));
        const uint32_t word = (bits << 1 | bits >> 31) | (7 - j) << 1;
        most[v] = word > most[v] ? word : most[v];
      }
      most[v] |= (3 - threadIdx.x % 4) << 4;
    }
    stored_shared_::largest(most);
    const uint32_t amax = most[0] >> 1 & ~31u;
    return mpnum_f32_of_scalar_(amax ? amax | most[0] << 31 : 0);
  }
};
/* Magnitudes, then such words of places alone. */
template <class T> struct stored_firsts_<T, 4> {
  static __device__ __forceinline__ float of(const mpnum_lanes<T, 8> (&in)[4]) {
    uint32_t most[4], places[4], amax[1];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v)
      most[v] = mpnum_folded_magnitude_of_(in[v]);
    stored_shared_::largest(most);
    amax[0] = most[0];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v) {
      const uint32_t own = stored_shared_::from_holder(amax, v);
      places[v] = 0;
      MPNUM_UNROLL_
      for (unsigned k = 0; k < 8; ++k) {
        const uint32_t bits = mpnum_bits_of_scalar_(element_at_(in[v], 7 - k));
        if ((bits & 0x7fffffffu) == own) places[v] = k << 1 | bits >> 31 | 64;
      }
      places[v] |= places[v] ? (3 - threadIdx.x % 4) << 4 : 0;
    }
    stored_shared_::largest(places);
    return mpnum_f32_of_scalar_(amax[0] ? amax[0] | places[0] << 31 : 0);
  }
};

/* The integer part of 0 to 15 in the lowest byte, by the adder; of NaN anything. */
MPNUM_REAL_ uint32_t stored_floor_(float x) {
#if MPNUM_ON_DEVICE_
  uint32_t sum = 0;
  asm("add.rz.f32 %0, %1, 0f4B000000;" : "=r"(sum) : "f"(x));
  return sum;
#else
  return x >= 0 ? static_cast<uint32_t>(x) : 0;
#endif
}
/* And that of -128 to 127. */
MPNUM_REAL_ uint32_t stored_whole_(float x) {
#if MPNUM_ON_DEVICE_
  return static_cast<uint32_t>(__float2int_rz(x));
#else
  return x == x ? static_cast<uint32_t>(static_cast<int>(x)) : 0;
#endif
}
/* The lowest bytes of four words. */
MPNUM_REAL_ uint32_t stored_bytes_(const uint32_t (&words)[4]) {
  return bytes_at_(bytes_at_(words[0], words[1], 0x40),
                   bytes_at_(words[2], words[3], 0x40), 0x5410);
}
/* As stored_put_q_0_ has them; products of what is small beside the largest element come
 * to the same. */
template <bool is_q8>
static __device__ __forceinline__ uint32_t stored_code_(float product) {
  if (!is_q8) {
    const float added = mpnum_add_scalar_(product, 8.5f);
    return stored_floor_(added > 15.0f ? 15.0f : added);
  }
  const uint32_t sign = mpnum_bits_of_scalar_(product) & 0x80000000u;
  const float before = mpnum_from_bits_f32(sign | 0x3effffffu); /* one half */
  return stored_whole_(mpnum_add_scalar_(product, before));
}
/* The codes of eight neighbours of a block times by, to its place in shared memory. */
template <bool is_q8, class T>
static __device__ __forceinline__ void
stored_put_eight_(unsigned char *to, const mpnum_lanes<T, 8> &in, float by, bool is_none,
                  unsigned lane) {
  uint32_t words[2];
  MPNUM_UNROLL_
  for (unsigned k = 0; k < 2; ++k) {
    uint32_t code[4];
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      code[j] = stored_code_<is_q8>(mpnum_mul_scalar_(element_at_(in, 4 * k + j), by));
    words[k] = is_none ? 0 : stored_bytes_(code);
  }
  if (is_q8) {
    stored_set_four_(to + 2 + 8 * lane, words[0]);
    stored_set_four_(to + 6 + 8 * lane, words[1]);
  } else { /* lanes of either half of the elements take half of the bytes */
    const bool is_upper = lane >= 2;
    const uint32_t own = is_upper ? words[1] : words[0];
    const uint32_t other =
        __shfl_xor_sync(0xffffffffu, is_upper ? words[0] : words[1], 2);
    stored_set_four_(to + 2 + 8 * (lane % 2) + 4 * is_upper,
                     is_upper ? other | own << 4 : own | other << 4);
  }
}

/* The largest magnitude of the block that a lane has. */
template <class T>
static __device__ __forceinline__ float
stored_amax_lane_(const mpnum_lanes<T, 8> (&in)[4]) {
  uint32_t most[4];
  MPNUM_UNROLL_
  for (unsigned v = 0; v < 4; ++v)
    most[v] = mpnum_folded_magnitude_of_(in[v]);
  stored_shared_::largest(most);
  return mpnum_f32_of_scalar_(magnitudes_<T>::bits(most[0]));
}
/* 1024 elements of a warp to 32 blocks; stage: of this warp. */
template <bool is_q8, class T>
static __device__ __forceinline__ void stored_put_warp_(mpnum_vector_ *to, const T *src,
                                                        mpnum_vector_ *stage) {
  typedef stored_shape_<is_q8> shape;
  const unsigned thread = threadIdx.x % 32, lane = thread % 4;
  unsigned char *const bytes = reinterpret_cast<unsigned char *>(stage);
  mpnum_lanes<T, 8> in[4];
  uint32_t factor[1];
  MPNUM_UNROLL_
  for (unsigned v = 0; v < 4; ++v)
    in[v] = *reinterpret_cast<const mpnum_lanes<T, 8> *>(src + 256 * v + 8 * thread);
  const float first = is_q8 ? stored_amax_lane_(in) : stored_firsts_<T>::of(in);
  const bool is_finite = stored_is_finite_(stored_size_(first));
  const float scale =
      is_q8 ? mpnum_div_scalar_(first, 127.0f) : mpnum_mul_scalar_(first, -0.125f);
  /* -0 is none that a scale has. */
  factor[0] =
      is_finite ? mpnum_bits_of_scalar_(mpnum_stored_inverse_(scale)) : 0x80000000u;
  stored_set_two_(bytes + (stored_shared_::first() * 8 + thread / 4) * shape::bytes,
                  mpnum_f32_to_f16(is_finite ? scale : stored_nan_()).bits);
  MPNUM_UNROLL_
  for (unsigned v = 0; v < 4; ++v) {
    const uint32_t by = stored_shared_::from_holder(factor, v);
    stored_put_eight_<is_q8>(bytes + (8 * v + thread / 4) * shape::bytes, in[v],
                             mpnum_f32_of_scalar_(by), by == 0x80000000u, lane);
  }
  __syncwarp();
  MPNUM_UNROLL_
  for (unsigned i = 0; i < shape::vectors; i += 32)
    if (i + thread < shape::vectors) to[i + thread] = stage[i + thread];
}

/* Values of four codes, bytes of a word, times a scale; of Q8_0 sign bits are turned. */
template <bool is_q8, class T>
static __device__ __forceinline__ void stored_back_four_(T *out, uint32_t codes,
                                                         float scale) {
  const float zero = is_q8 ? 8388736.0f : 8388616.0f; /* 2^23 + 128, 2^23 + 8 */
  float x[4];
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    const uint32_t sum = bytes_at_(codes, 0x4b000000u, 0x7540u + j);
    x[j] = one_nan_<T>(
        mpnum_mul_scalar_(mpnum_sub_scalar_(mpnum_f32_of_scalar_(sum), zero), scale));
  }
  const mpnum_f32x4 four = {x[0], x[1], x[2], x[3]};
  const typename four_of_<T>::type made = four_plain_<T>::at(four);
  memcpy(out, &made, sizeof made);
}
/* Eight codes of NF4 or FP4, the high half of a byte first, as values times a scale. */
template <class T>
static __device__ __forceinline__ mpnum_lanes<T, 8>
stored_back_book_(uint32_t codes, const float *book, float scale) {
  mpnum_lanes<T, 8> out;
  MPNUM_UNROLL_
  for (unsigned k = 0; k < 8; k += 4) {
    float x[4];
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      x[j] = one_nan_<T>(mpnum_mul_scalar_(book[codes >> 4 * ((k + j) ^ 1) & 15], scale));
    const mpnum_f32x4 four = {x[0], x[1], x[2], x[3]};
    const typename four_of_<T>::type made = four_plain_<T>::at(four);
    memcpy(out.at + k, &made, sizeof made);
  }
  return out;
}
/* The blocks of a tile back; stage: of all threads of a block, which call it. */
template <bool is_q8, class T>
static __device__ __forceinline__ void
stored_back_tile_(T *dst, const mpnum_vector_ *from, mpnum_vector_ *stage) {
  typedef stored_shape_<is_q8> shape;
  enum { vectors = shape::vectors * MPNUM_LAUNCH_WARPS_ };
  const unsigned thread = threadIdx.x, lane = thread % 4;
  mpnum_vector_ in[(vectors - 1) / MPNUM_LAUNCH_THREADS_ + 1];
  MPNUM_UNROLL_
  for (unsigned i = 0; i < vectors; i += MPNUM_LAUNCH_THREADS_)
    if (i + thread < vectors) in[i / MPNUM_LAUNCH_THREADS_] = from[i + thread];
  MPNUM_UNROLL_
  for (unsigned i = 0; i < vectors; i += MPNUM_LAUNCH_THREADS_)
    if (i + thread < vectors) stage[i + thread] = in[i / MPNUM_LAUNCH_THREADS_];
  __syncthreads();
  const unsigned char *const bytes = reinterpret_cast<const unsigned char *>(stage);
  MPNUM_UNROLL_
  for (unsigned v = 0; v < 4; ++v) {
    const unsigned place = MPNUM_LAUNCH_THREADS_ * v + thread; /* eight elements */
    const unsigned char *const block = bytes + place / 4 * shape::bytes;
    const float scale =
        mpnum_f16_to_f32(mpnum_from_bits_f16(*reinterpret_cast<const uint16_t *>(block)));
    mpnum_lanes<T, 8> out;
    MPNUM_UNROLL_
    for (unsigned k = 0; k < 2; ++k) {
      uint32_t codes = 0;
      if (is_q8)
        codes = stored_four_at_(block + 2 + 8 * lane + 4 * k) ^ 0x80808080u;
      else
        codes = stored_four_at_(block + 2 + 8 * (lane % 2) + 4 * k) >> 4 * (lane / 2) &
                0x0f0f0f0fu;
      stored_back_four_<is_q8>(out.at + 4 * k, codes, scale);
    }
    *reinterpret_cast<mpnum_lanes<T, 8> *>(dst + 8 * place) = out;
  }
}

} // namespace mpnum

MPNUM_C_END_
#endif

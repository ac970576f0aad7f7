/* SPDX-License-Identifier: MIT */
/* How eight threads quantise a block as other libraries store it, or the groups of eight
 * rows: what mpnum_launch_quantize_stored is made of. lane is the number of this one of
 * the eight. All threads of a warp call each function; one whose eight have nothing to
 * do passes no place to store to. */
#ifndef MPNUM_BLOCKS_DETAIL_STORED_LANES_CUH
#define MPNUM_BLOCKS_DETAIL_STORED_LANES_CUH

#include "../../cuda/detail/launch.cuh"
#include "../../cuda/detail/quantize.cuh"
#include "stored_blocks.h"
#include "../stored_layout.h"
MPNUM_C_BEGIN_

namespace mpnum {

static __device__ __forceinline__ uint32_t stored_other_(uint32_t word, int step) {
  return __shfl_xor_sync(0xffffffffu, word, step);
}
/* Of so many lanes, for each of them: the largest number, and all bits of eight. */
static __device__ __forceinline__ int32_t stored_largest_of_(int32_t value, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) {
    const int32_t other =
        static_cast<int32_t>(stored_other_(static_cast<uint32_t>(value), step));
    value = other > value ? other : value;
  }
  return value;
}
static __device__ __forceinline__ uint32_t stored_joined_(uint32_t word) {
  for (int step = 4; step > 0; step /= 2)
    word |= stored_other_(word, step);
  return word;
}

static __device__ __forceinline__ int32_t stored_bits_(float x) {
  return static_cast<int32_t>(mpnum_bits_f32(x));
}
static __device__ __forceinline__ int32_t stored_size_(float x) {
  return stored_bits_(x) & 0x7fffffff;
}
static __device__ __forceinline__ float stored_of_size_(int32_t size) {
  return mpnum_from_bits_f32(static_cast<uint32_t>(size));
}
static __device__ __forceinline__ bool stored_is_finite_(int32_t size) {
  return size < 0x7f800000;
}
static __device__ __forceinline__ float stored_nan_(void) {
  return mpnum_from_bits_f32(0x7fffffffu);
}
/* So many neighbours, those past the end 0. */
template <unsigned count, class T>
static __device__ __forceinline__ mpnum_lanes<float, count> stored_in_(const T *src,
                                                                       size_t left) {
  const mpnum_lanes<T, count> from = mpnum_load<count>(src, left);
  mpnum_lanes<float, count> x;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < count; ++j)
    x.at[j] = element_of_(from.at[j]);
  return x;
}
template <unsigned count>
static __device__ __forceinline__ int32_t
stored_amax_of_(const mpnum_lanes<float, count> &x) {
  int32_t amax = 0;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < count; ++j)
    amax = stored_size_(x.at[j]) > amax ? stored_size_(x.at[j]) : amax;
  return amax;
}
/* The product of an element, as of 0 below least. */
static __device__ __forceinline__ float stored_product_(float x, float by,
                                                        int32_t least) {
  return mpnum_mul_scalar_(stored_size_(x) >= least ? x : 0.0f, by);
}
/* Bytes of a word, the lowest first, to any address. */
static __device__ __forceinline__ void stored_put_(unsigned char *to, uint32_t word,
                                                   unsigned bytes) {
  for (unsigned j = 0; j < bytes; ++j)
    to[j] = static_cast<unsigned char>(word >> 8 * j & 0xff);
}

/* --- Blocks of ggml --- */

/* Codes of e2m1 by the midpoints at a scale; 0 where the block has none. */
template <unsigned count>
static __device__ __forceinline__ void stored_e2m1_of_(uint32_t code[count],
                                                       const mpnum_lanes<float, count> &x,
                                                       float scale, bool is_there) {
  const float middles[7] = MPNUM_E2M1_MIDDLES_;
  int32_t middle[7];
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 7; ++j)
    middle[j] = stored_bits_(mpnum_mul_scalar_(middles[j], scale));
  MPNUM_UNROLL_
  for (unsigned j = 0; j < count; ++j)
    code[j] = is_there ? mpnum_stored_e2m1_code_(stored_bits_(x.at[j]), middle) : 0;
}
/* Nibbles to bytes of halves: lanes of the second half of so many hand theirs over. */
template <unsigned count>
static __device__ __forceinline__ void stored_put_halves_(unsigned char *to,
                                                          const uint32_t code[count],
                                                          int lanes, unsigned lane) {
  const unsigned within = lane % static_cast<unsigned>(lanes);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t high = stored_other_(code[j], lanes / 2);
    if (to && 2 * within < static_cast<unsigned>(lanes))
      to[within * count + j] = static_cast<unsigned char>(code[j] | high << 4);
  }
}
static __device__ __forceinline__ void
stored_put_mxfp4_(unsigned char *to, const mpnum_lanes<float, 4> &x, unsigned lane) {
  const int32_t amax = stored_largest_of_(stored_amax_of_(x), 8);
  const bool is_finite = stored_is_finite_(amax);
  const uint8_t some = mpnum_stored_e8m0_(static_cast<uint32_t>(amax));
  const uint8_t scale = static_cast<uint8_t>(!is_finite ? 0xff : amax ? some : 0);
  uint32_t code[4];
  stored_e2m1_of_(code, x, mpnum_e8m0_to_f32(mpnum_from_bits_e8m0(scale)),
                  is_finite && amax);
  if (to && lane == 0) to[0] = scale;
  stored_put_halves_<4>(to ? to + 1 : to, code, 8, lane);
}
/* 64 elements, eight in each lane, two lanes for a scale. */
static __device__ __forceinline__ void
stored_put_nvfp4_(unsigned char *to, const mpnum_lanes<float, 8> &x, unsigned lane) {
  const int32_t amax = stored_largest_of_(stored_amax_of_(x), 2);
  const bool is_finite = stored_is_finite_(amax);
  const uint8_t some = mpnum_stored_e4m3_(mpnum_div_scalar_(stored_of_size_(amax), 6.0f));
  const uint8_t scale = static_cast<uint8_t>(is_finite ? some : 0x7f);
  uint32_t code[8];
  stored_e2m1_of_(code, x, mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(scale)),
                  is_finite && scale);
  if (to && lane % 2 == 0) to[lane / 2] = scale;
  stored_put_halves_<8>(to ? to + 4 + lane / 2 * 8 : to, code, 2, lane);
}
/* The first of 32 elements with the largest magnitude, amax; 0, not -0. */
static __device__ __forceinline__ float stored_first_(const mpnum_lanes<float, 4> &x,
                                                      int32_t amax, unsigned lane) {
  int32_t place = -32; /* the number of the element, with a sign */
  uint32_t bits = 0;
  MPNUM_UNROLL_
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned j = 3 - k;
    if (stored_size_(x.at[j]) == amax) {
      place = -static_cast<int32_t>(4 * lane + j);
      bits = mpnum_bits_f32(x.at[j]);
    }
  }
  bits = stored_joined_(place == stored_largest_of_(place, 8) ? bits : 0);
  return mpnum_from_bits_f32(amax ? bits : 0);
}
/* Q8_0 or Q4_0. */
static __device__ __forceinline__ void stored_put_q_0_(bool is_q8, unsigned char *to,
                                                       const mpnum_lanes<float, 4> &x,
                                                       unsigned lane) {
  const int32_t amax = stored_largest_of_(stored_amax_of_(x), 8);
  const float first = stored_first_(x, amax, lane);
  const float scale =
      mpnum_div_scalar_(is_q8 ? stored_of_size_(amax) : first, is_q8 ? 127.0f : -8.0f);
  const float by = mpnum_stored_inverse_(scale);
  uint32_t code[4] = {0, 0, 0, 0};
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    const float product = stored_product_(x.at[j], by, mpnum_stored_least_(amax));
    const float added = mpnum_add_scalar_(
        is_q8 ? stored_of_size_(stored_size_(product)) : product,
        is_q8 ? mpnum_from_bits_f32(0x3effffffu) /* before one half */ : 8.5f);
    const int place = stored_is_finite_(amax) ? static_cast<int>(added) : 0;
    const int turned = stored_bits_(product) < 0 ? -place : place;
    code[j] = static_cast<uint32_t>(is_q8 ? turned & 0xff : place > 15 ? 15 : place);
  }
  if (to && lane == 0)
    stored_put_(
        to, mpnum_f32_to_f16(stored_is_finite_(amax) ? scale : stored_nan_()).bits, 2);
  if (!is_q8)
    stored_put_halves_<4>(to ? to + 2 : to, code, 8, lane);
  else if (to)
    stored_put_(to + 2 + 4 * lane, code[0] | code[1] << 8 | code[2] << 16 | code[3] << 24,
                4);
}

/* --- NF4 and FP4 --- */

static __device__ __forceinline__ uint32_t stored_book_code_(bool is_nf4, float x) {
  const float nf4[15] = MPNUM_NF4_LIMITS_;
  const float fp4[7] = MPNUM_FP4_LIMITS_;
  return is_nf4 ? mpnum_stored_nf4_code_(x, nf4) : mpnum_stored_fp4_code_(x, fp4);
}
/* A block of n elements, 64 at a time. */
template <class T>
static __device__ __forceinline__ void stored_put_book_(bool is_nf4, unsigned char *to,
                                                        float *scale, const T *src,
                                                        size_t n, unsigned lane) {
  int32_t amax = 0;
  for (size_t c = 8 * lane; c < n; c += 64) {
    const int32_t of = stored_amax_of_(stored_in_<8>(src + c, n - c));
    amax = of > amax ? of : amax;
  }
  amax = stored_largest_of_(amax, 8);
  if (n == 0) return;
  const bool is_finite = stored_is_finite_(amax);
  const int32_t least = is_nf4 ? mpnum_stored_least_(amax) : 0;
  const float by = mpnum_div_scalar_(
      1.0f, stored_of_size_(amax < 0x006ce3ee ? 0x006ce3ee /* 1e-38 */ : amax));
  for (size_t c = 8 * lane; c < n; c += 64) {
    const mpnum_lanes<float, 8> x = stored_in_<8>(src + c, n - c);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 8; j += 2) {
      const uint32_t high =
          stored_book_code_(is_nf4, stored_product_(x.at[j], by, least));
      const uint32_t low =
          stored_book_code_(is_nf4, stored_product_(x.at[j + 1], by, least));
      if (c + j < n)
        to[(c + j) / 2] = static_cast<unsigned char>(is_finite ? high << 4 | low : 0);
    }
  }
  if (lane == 0) *scale = is_finite ? stored_of_size_(amax) : stored_nan_();
}

/* --- Groups of AWQ and GPTQ, a row for each lane --- */

/* Nibbles of eight rows in one word, in their order. */
static __device__ __forceinline__ uint32_t stored_word_(bool is_awq, unsigned code,
                                                        unsigned lane) {
  const unsigned place = !is_awq ? lane : lane % 2 ? (lane + 7) / 2 : lane / 2;
  return stored_joined_(code << 4 * place);
}
/* A group from a column on, of a row from src on; src NULL: none. */
template <class T>
static __device__ __forceinline__ void stored_put_group_(const mpnum_stored &dst,
                                                         const T *src, size_t row,
                                                         size_t column, unsigned lane) {
  const bool is_awq = dst.layout == MPNUM_STORED_AWQ;
  unsigned char *const data = static_cast<unsigned char *>(dst.data);
  const size_t at = column / dst.block * dst.rows + row; /* of the row's scale */
  int32_t range[2] = {0x7fffffff, -0x7fffffff};
  int32_t amax = 0;
  int zero = 0;
  for (size_t c = 0; src && c < dst.block; c += 8) {
    const mpnum_lanes<float, 8> x = stored_in_<8>(src + c, 8);
    const int32_t of = stored_amax_of_(x);
    amax = of > amax ? of : amax;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 8; ++j) {
      const int32_t bits = stored_bits_(x.at[j]);
      const int32_t order = bits < 0 ? bits ^ 0x7fffffff : bits;
      range[0] = order < range[0] ? order : range[0];
      range[1] = order > range[1] ? order : range[1];
    }
  }
  const bool is_finite = stored_is_finite_(amax);
  const float scale = mpnum_stored_group_(is_awq, range, &zero);
  if (!is_finite) zero = 0;
  const uint32_t zeros =
      stored_word_(is_awq, static_cast<unsigned>(zero - !is_awq) & 15, lane);
  if (src)
    static_cast<mpnum_f16 *>(dst.scales)[at] =
        mpnum_f32_to_f16(is_finite ? scale : stored_nan_());
  if (src && lane == 0)
    stored_put_(static_cast<unsigned char *>(dst.zeros) + at / 2, zeros, 4);
  for (size_t c = 0; c < dst.block; c += 8) {
    mpnum_lanes<float, 8> x = mpnum_lanes<float, 8>();
    uint32_t word = 0; /* of eight columns of a row, or of eight rows of a column */
    if (src) x = stored_in_<8>(src + c, 8);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 8; ++j) {
      const int steps = is_finite ? mpnum_stored_steps_(x.at[j], scale) : 0;
      const unsigned code =
          static_cast<unsigned>(is_finite ? mpnum_stored_nibble_(steps + zero) : 0);
      const uint32_t turned = is_awq ? stored_word_(true, code, lane) : 0;
      word = !is_awq ? word | code << 4 * j : j == lane ? turned : word;
    }
    if (src)
      stored_put_(data + 4 * (is_awq ? (column + c + lane) * (dst.rows / 8) + row / 8
                                     : (column + c) / 8 * dst.rows + row),
                  word, 4);
  }
}

} // namespace mpnum

MPNUM_C_END_
#endif

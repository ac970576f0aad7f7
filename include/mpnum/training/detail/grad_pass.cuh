/* SPDX-License-Identifier: MIT */
/* The pass of training/grad.cuh on the device: tiles of gradients multiplied, looked at
 * and squared by teams of sixteen threads, and what blocks found put together. */
#ifndef MPNUM_TRAINING_DETAIL_GRAD_PASS_CUH
#define MPNUM_TRAINING_DETAIL_GRAD_PASS_CUH

#include "../../cuda/block.cuh"
#include "../grad_list.cuh"
#include "../../cuda/detail/launch.cuh"
MPNUM_C_BEGIN_

template <> struct mpnum_is_zero_first_<mpnum_grad_workspace> : mpnum_zero_first_ {};

enum {
  MPNUM_GRAD_TEAM_ = 16, /* threads of a tile: four of its 64 lanes each */
  MPNUM_GRAD_TEAMS_ = MPNUM_LAUNCH_THREADS_ / MPNUM_GRAD_TEAM_,
  /* Blocks that a multiprocessor holds, with 80 registers a thread, which has so many
   * elements on their way at a time: 48 KiB of floats. */
  MPNUM_GRAD_BLOCKS_ = 3,
  MPNUM_GRAD_MANY_ = MPNUM_DEVICE_ARCH_ && MPNUM_DEVICE_ARCH_ < 800 ? 8 : 16,
  MPNUM_GRAD_BINS_ = 257, /* of a histogram, the zeros last */
  MPNUM_GRAD_SUMS_ = 52   /* words of a workspace that are sums */
};

/* How many of a list's tiles the host has carried by the end: it does at 2^16 terms, and
 * leaves one. */
MPNUM_MATH_ uint64_t mpnum_grad_carried_tiles_(uint64_t tiles) {
  return tiles < 65536 ? 0 : 65536 + (tiles - 65536) / 65535 * 65535;
}

namespace mpnum {

/* A tile, for the threads of its team. */
struct grad_tile_ {
  const unsigned char *src;
  unsigned char *dst;
  mpnum_histogram *histogram; /* if it is to be counted */
  uint64_t number;            /* in the list */
  unsigned n;
  mpnum_type src_type, dst_type;
};
/* Of some results: their magnitudes. */
struct grad_range_ {
  uint32_t max, min;
};
/* What a thread knows of its elements so far; what is rare is counted in shared memory.
 */
struct grad_seen_ {
  double sums[4]; /* of squares in this tile */
  uint32_t max, min, zeros;
};

MPNUM_INLINE float grad_float_(float x) { return x; }
template <class T> MPNUM_INLINE float grad_float_(T x) { return to_float(x); }

/* As a host multiplies: a NaN stays the NaN that it is, made quiet, until it is stored.
 */
MPNUM_REAL_ float grad_product_(float x, float factor) {
  const uint32_t bits = mpnum_bits_f32(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return mpnum_from_bits_f32(bits | 0x00400000u);
  return mpnum_mul_scalar_(x, factor);
}

} // namespace mpnum

#define MPNUM_DEVICE_ static __device__ __forceinline__

MPNUM_DEVICE_ double mpnum_grad_product_f64_(double x, float factor) {
  const uint64_t bits = mpnum_bits_f64(x);
  if ((bits & 0x7fffffffffffffffu) > static_cast<uint64_t>(0x7ff) << 52)
    return mpnum_from_bits_f64(bits | static_cast<uint64_t>(1) << 51);
  return __dmul_rn(x, mpnum_widen_bits_(mpnum_bits_f32(factor)));
}

/* mpnum_list_tensor_at_ by the sixteen threads of a team: each asks for another place,
 * first for the next ones, then for those that cut what is left into equal parts. */
MPNUM_DEVICE_ uint64_t mpnum_grad_tensor_of_team_(const mpnum_grad_list &list,
                                                  uint64_t tile, uint64_t from,
                                                  unsigned lane, unsigned mask) {
  uint64_t low = from, left = list.count - from, step = 1;
  while (left > 1) { /* one of so many from low on */
    const uint64_t at = step * (lane + 1);
    const bool is_before = at < left && list.tiles_before[low + at] <= tile;
    const uint32_t all = (__ballot_sync(mask, is_before) & mask) >> (mask & 1 ? 0 : 16);
    const unsigned passed = all ? 32 - static_cast<unsigned>(mpnum_clz_u32_(all)) : 0;
    low += step * passed;
    left -= step * passed;
    if (passed < MPNUM_GRAD_TEAM_ && step < left) left = step;
    step = (left + MPNUM_GRAD_TEAM_) / (MPNUM_GRAD_TEAM_ + 1);
  }
  return low;
}
/* The bytes of an element. */
MPNUM_DEVICE_ unsigned mpnum_grad_size_(mpnum_type type) {
  return type == MPNUM_TYPE_F64                              ? 8
         : type == MPNUM_TYPE_F32                            ? 4
         : type == MPNUM_TYPE_BF16 || type == MPNUM_TYPE_F16 ? 2
                                                             : 1;
}
/* A tile of a tensor, and the place of its first element in the tensor. */
MPNUM_DEVICE_ uint64_t mpnum_grad_locate_(mpnum::grad_tile_ &tile,
                                          const mpnum_grad_tensor &t,
                                          uint64_t number_in_tensor) {
  const mpnum_grad_shape_ shape = mpnum_grad_shape_of_(t);
  const uint64_t row = shape.rows > 1 ? number_in_tensor / shape.tiles_of_row : 0;
  const uint64_t in_row = number_in_tensor - row * shape.tiles_of_row;
  const uint64_t column = in_row * MPNUM_GRAD_TILE_, left = shape.columns - column;
  tile.src_type = t.src_type;
  tile.dst_type = t.dst_type;
  tile.src = static_cast<const unsigned char *>(t.src) +
             (row * t.src_stride + column) * mpnum_grad_size_(t.src_type);
  tile.dst = t.dst ? static_cast<unsigned char *>(t.dst) +
                         (row * t.dst_stride + column) * mpnum_grad_size_(t.dst_type)
                   : 0;
#if MPNUM_ON_DEVICE_ && defined(__CUDACC__) && !defined(__clang__)
  __builtin_assume(__isGlobal(tile.src));
  __builtin_assume(__isGlobal(tile.dst));
#endif
  tile.n = MPNUM_GRAD_TILE_;
  if (left < MPNUM_GRAD_TILE_) tile.n = static_cast<unsigned>(left);
  tile.histogram = 0;
  if (t.histogram && in_row % t.histogram_step == 0) tile.histogram = t.histogram;
  return row * shape.columns + column;
}

/* N elements, fours of neighbours that are 64 apart, the first of them element i; one by
 * one where they are not aligned for four, though dst is. */
template <class T, unsigned N>
MPNUM_DEVICE_ void mpnum_grad_read_(float (&x)[N], const unsigned char *src, unsigned i,
                                    bool is_apart) {
  const T *at = reinterpret_cast<const T *>(src) + i;
  mpnum_lanes<T, 4> in[N / 4];
  MPNUM_UNROLL_
  for (unsigned k = 0; k < N / 4; ++k) {
    if (!is_apart) {
      in[k] = *reinterpret_cast<const mpnum_lanes<T, 4> *>(at + 64 * k);
      continue;
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      in[k].at[j] = at[64 * k + j];
  }
  MPNUM_UNROLL_
  for (unsigned k = 0; k < N; ++k)
    x[k] = mpnum::grad_float_(in[k / 4].at[k % 4]);
}
/* And back; y becomes what is stored. */
template <class T, unsigned N>
MPNUM_DEVICE_ void mpnum_grad_write_(float (&y)[N], unsigned char *dst, unsigned i) {
  T *at = reinterpret_cast<T *>(dst) + i;
  mpnum_lanes<T, 4> out[N / 4];
  MPNUM_UNROLL_
  for (unsigned k = 0; k < N; ++k) {
    out[k / 4].at[k % 4] = mpnum::element_of_(y[k], static_cast<T *>(0));
    y[k] = mpnum::grad_float_(out[k / 4].at[k % 4]);
  }
  MPNUM_UNROLL_
  for (unsigned k = 0; k < N / 4; ++k)
    *reinterpret_cast<mpnum_lanes<T, 4> *>(at + 64 * k) = out[k];
}

/* The code of an element of so many bytes. is_fresh: another block may have written it,
 * and a cache of this multiprocessor have what was there before. */
template <class T, bool is_fresh>
MPNUM_DEVICE_ T mpnum_grad_at_(const unsigned char *src, unsigned i) {
  if (is_fresh) return *(reinterpret_cast<const volatile T *>(src) + i);
  return *(reinterpret_cast<const T *>(src) + i);
}
template <bool is_fresh>
MPNUM_DEVICE_ uint64_t mpnum_grad_code_(unsigned size, const unsigned char *src,
                                        unsigned i) {
  if (size == 8) return mpnum_grad_at_<uint64_t, is_fresh>(src, i);
  if (size == 4) return mpnum_grad_at_<uint32_t, is_fresh>(src, i);
  if (size == 2) return mpnum_grad_at_<uint16_t, is_fresh>(src, i);
  return mpnum_grad_at_<uint8_t, is_fresh>(src, i);
}
/* The float that a code is. */
MPNUM_DEVICE_ float mpnum_grad_of_code_(mpnum_type type, uint64_t code) {
  const uint32_t word = static_cast<uint32_t>(code);
  switch (type) {
  case MPNUM_TYPE_F64: return mpnum_f64_to_f32(mpnum_from_bits_f64(code));
  case MPNUM_TYPE_F32: return mpnum_from_bits_f32(word);
  case MPNUM_TYPE_BF16: return mpnum::to_float(mpnum::from_bits<mpnum_bf16>(word));
  case MPNUM_TYPE_F16: return mpnum::to_float(mpnum::from_bits<mpnum_f16>(word));
  case MPNUM_TYPE_E5M2: return mpnum::to_float(mpnum::from_bits<mpnum_e5m2>(word));
  default: return mpnum::to_float(mpnum::from_bits<mpnum_e4m3>(word));
  }
}
/* Writes a result that has a code of so many bytes. */
MPNUM_DEVICE_ void mpnum_grad_set_(unsigned char *dst, unsigned i, unsigned size,
                                   uint32_t code) {
  if (size == 4) {
    reinterpret_cast<uint32_t *>(dst)[i] = code;
  } else if (size == 2) {
    reinterpret_cast<uint16_t *>(dst)[i] = static_cast<uint16_t>(code);
  } else {
    dst[i] = static_cast<unsigned char>(code);
  }
}
/* One element, of any types, by its code: its product stored, and as a float what was. */
MPNUM_DEVICE_ float mpnum_grad_one_(const mpnum::grad_tile_ &tile, unsigned i,
                                    uint64_t from, float factor) {
  const mpnum_format format = mpnum_format_of(tile.dst_type);
  const bool is_f64 = tile.src_type == MPNUM_TYPE_F64;
  const bool is_wide =
      !tile.dst || tile.dst_type == MPNUM_TYPE_F32 || tile.dst_type == MPNUM_TYPE_F64;
  double wide = 0;
  float y = 0;
  if (is_f64) {
    wide = mpnum_grad_product_f64_(mpnum_from_bits_f64(from), factor);
    y = mpnum_f64_to_f32(wide);
  } else {
    y = mpnum::grad_product_(mpnum_grad_of_code_(tile.src_type, from), factor);
    wide = mpnum_f32_to_f64(y);
  }
  if (!is_wide) {
    const uint32_t code =
        is_f64
            ? mpnum_encode_f64(format, wide, MPNUM_ROUND_NEAREST_EVEN,
                               MPNUM_OVERFLOW_IEEE, 0)
            : mpnum_encode(format, y, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
    mpnum_grad_set_(tile.dst, i, mpnum_grad_size_(tile.dst_type), code);
    y = mpnum_decode(format, code);
  } else if (tile.dst && tile.dst_type == MPNUM_TYPE_F32) {
    mpnum_grad_set_(tile.dst, i, 4, mpnum_bits_f32(mpnum_canonical_(y)));
  } else if (tile.dst) {
    reinterpret_cast<double *>(tile.dst)[i] = wide;
  }
  return y;
}
/* A result that has been stored, or else forgotten, as the float that was found. */
MPNUM_DEVICE_ float mpnum_grad_result_(mpnum::grad_tile_ &tile, unsigned i,
                                       float factor) {
  if (!tile.dst || (tile.dst_type == MPNUM_TYPE_F64 && tile.src_type != MPNUM_TYPE_F64)) {
    tile.dst = 0; /* a float was found, and src is what it was */
    const uint64_t from =
        mpnum_grad_code_<false>(mpnum_grad_size_(tile.src_type), tile.src, i);
    return mpnum_grad_one_(tile, i, from, factor);
  }
  return mpnum_grad_of_code_(
      tile.dst_type,
      mpnum_grad_code_<true>(mpnum_grad_size_(tile.dst_type), tile.dst, i));
}

/* Four results with subnormals, Infs or NaNs among them. */
MPNUM_DEVICE_ void mpnum_grad_look_twice_(mpnum::grad_seen_ &seen,
                                          mpnum_grad_workspace *own, const float (&y)[4],
                                          uint64_t tile, unsigned i) {
  uint32_t subnormals = 0, infs = 0, nans = 0;
  unsigned first = 0; /* its place in the tile and 1 */
  MPNUM_UNROLL_
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t x = mpnum_bits_f32(y[k]) & 0x7fffffffu;
    const double wide = mpnum_widen_bits_(x);
    seen.sums[k] = __fma_rn(wide, wide, seen.sums[k]);
    seen.zeros += x == 0;
    seen.min = x - 1 < seen.min ? x - 1 : seen.min; /* that of 0 is the largest */
    subnormals += x - 1 < 0x007fffffu;
    infs += x == 0x7f800000u;
    nans += x > 0x7f800000u;
    if (x < 0x7f800000u) {
      seen.max = x > seen.max ? x : seen.max;
    } else if (!first) { /* later ones are smaller */
      first = i + k + 1;
    }
  }
  if (subnormals) mpnum_atomic_add_u64_(&own->subnormals, subnormals);
  if (infs) mpnum_atomic_add_u64_(&own->infs, infs);
  if (nans) mpnum_atomic_add_u64_(&own->nans, nans);
  if (first)
    atomicMax(reinterpret_cast<unsigned long long *>(&own->first),
              ~static_cast<unsigned long long>(tile * MPNUM_GRAD_TILE_ + (first - 1)));
}
/* Of results as bits. */
template <unsigned N>
MPNUM_DEVICE_ mpnum::grad_range_ mpnum_grad_range_of_(const float (&y)[N]) {
  mpnum::grad_range_ range = {0, 0xffffffffu};
  MPNUM_UNROLL_
  for (unsigned k = 0; k < N; ++k) {
    const uint32_t x = mpnum_bits_f32(y[k]) & 0x7fffffffu;
    range.max = x > range.max ? x : range.max;
    range.min = x < range.min ? x : range.min;
  }
  return range;
}
/* The square of a normal number added to a lane, or of 0 where it may be one. */
template <bool may_be_zero>
MPNUM_DEVICE_ double mpnum_grad_squared_(uint32_t x, double sum) {
  const uint64_t wide =
      (static_cast<uint64_t>(x) << 29) + (static_cast<uint64_t>(896) << 52);
  const double value = mpnum_from_bits_f64(may_be_zero && x == 0 ? 0 : wide);
  return __fma_rn(value, value, sum);
}
/* Of results with zeros or rarer ones among them; the first is element i of the tile. */
template <unsigned N>
MPNUM_DEVICE_ void mpnum_grad_look_again_(mpnum::grad_seen_ &seen,
                                          mpnum_grad_workspace *own, float (&y)[N],
                                          uint32_t max, uint64_t tile, unsigned i) {
  uint32_t least = 0xffffffffu, zeros = 0; /* the smallest nonzero one less 1 */
  MPNUM_UNROLL_
  for (unsigned k = 0; k < N; ++k) {
    const uint32_t x = mpnum_bits_f32(y[k]) & 0x7fffffffu;
    least = x - 1 < least ? x - 1 : least;
    zeros += x == 0;
  }
  if (max < 0x7f800000u && least >= 0x007fffffu) {
    seen.max = max > seen.max ? max : seen.max;
    seen.min = least < seen.min ? least : seen.min;
    seen.zeros += zeros;
    MPNUM_UNROLL_
    for (unsigned k = 0; k < N; ++k)
      seen.sums[k % 4] =
          mpnum_grad_squared_<true>(mpnum_bits_f32(y[k]) & 0x7fffffffu, seen.sums[k % 4]);
    return;
  }
  MPNUM_NO_UNROLL_
  for (unsigned k = 0; k < N; k += 4) { /* y goes round: four compile for all */
    const float four[4] = {y[0], y[1], y[2], y[3]};
    mpnum_grad_look_twice_(seen, own, four, tile, i + 16 * k);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j)
      y[j] = j + 4 < N ? y[(j + 4) % N] : four[j % 4];
  }
}
/* Counts them, but for zeros at the end that are missing, and adds their squares to the
 * lanes. The first is element i of the tile. */
template <unsigned N>
MPNUM_DEVICE_ void mpnum_grad_look_(mpnum::grad_seen_ &seen, mpnum_grad_workspace *own,
                                    float (&y)[N], mpnum::grad_range_ range,
                                    unsigned missing, uint64_t tile, unsigned i) {
  if (range.max < 0x7f800000u && range.min >= 0x00800000u) {
    seen.max = range.max > seen.max ? range.max : seen.max;
    seen.min = range.min - 1 < seen.min ? range.min - 1 : seen.min;
    MPNUM_UNROLL_
    for (unsigned k = 0; k < N; ++k)
      seen.sums[k % 4] = mpnum_grad_squared_<false>(mpnum_bits_f32(y[k]) & 0x7fffffffu,
                                                    seen.sums[k % 4]);
  } else {
    seen.zeros -= missing;
    mpnum_grad_look_again_(seen, own, y, range.max, tile, i);
  }
}
template <unsigned N>
MPNUM_DEVICE_ void mpnum_grad_count_bins_(uint32_t *bins, const float (&y)[N]) {
  MPNUM_UNROLL_
  for (unsigned k = 0; k < N; ++k) {
    const uint32_t x = mpnum_bits_f32(y[k]) & 0x7fffffffu;
    atomicAdd(bins + (x ? x >> 23 : 256u), 1u);
  }
}

/* Four elements of a tile, or those of them that are there, in any types and places. The
 * first may be as many before the tile as 0 is above i. */
MPNUM_DEVICE_ void mpnum_grad_few_(mpnum::grad_seen_ &seen, mpnum_grad_workspace *own,
                                   const mpnum::grad_tile_ &tile, unsigned i,
                                   float factor, uint32_t *bins) {
  const unsigned size = mpnum_grad_size_(tile.src_type);
  unsigned missing = 0;
  uint64_t ahead = i < tile.n ? mpnum_grad_code_<false>(size, tile.src, i) : 0;
  float y[4] = {0, 0, 0, 0};
  MPNUM_NO_UNROLL_
  for (unsigned k = 0; k < 4; ++k) { /* y moves on: so all types compile once */
    const bool exists = i + k < tile.n;
    const uint64_t from = ahead;
    if (k < 3 && i + k + 1 < tile.n)
      ahead = mpnum_grad_code_<false>(size, tile.src, i + k + 1);
    y[0] = y[1];
    y[1] = y[2];
    y[2] = y[3];
    y[3] = exists ? mpnum_grad_one_(tile, i + k, from, factor) : 0;
    missing += !exists;
  }
  mpnum_grad_look_(seen, own, y, mpnum_grad_range_of_(y), missing, tile.number, i);
  if (!tile.histogram) return;
  mpnum_grad_count_bins_(bins, y);
  atomicAdd(bins + 256, 0u - missing);
}

/* N elements of a tile, all of them there and aligned, src perhaps for itself alone; the
 * first is element i. */
template <unsigned N>
MPNUM_DEVICE_ void mpnum_grad_many_(mpnum::grad_seen_ &seen, mpnum_grad_workspace *own,
                                    const mpnum::grad_tile_ &tile, unsigned i,
                                    float factor, uint32_t *bins, bool is_apart) {
  float x[N];
  switch (tile.src_type) {
  case MPNUM_TYPE_F32: mpnum_grad_read_<float>(x, tile.src, i, is_apart); break;
  case MPNUM_TYPE_BF16: mpnum_grad_read_<mpnum_bf16>(x, tile.src, i, is_apart); break;
  case MPNUM_TYPE_F16: mpnum_grad_read_<mpnum_f16>(x, tile.src, i, is_apart); break;
  case MPNUM_TYPE_E5M2: mpnum_grad_read_<mpnum_e5m2>(x, tile.src, i, is_apart); break;
  default: mpnum_grad_read_<mpnum_e4m3>(x, tile.src, i, is_apart);
  }
  MPNUM_UNROLL_
  for (unsigned k = 0; k < N; ++k)
    x[k] = mpnum_mul_scalar_(x[k], factor);
  const bool is_float = !tile.dst || tile.dst_type == MPNUM_TYPE_F32;
  if (!is_float) {
    if (tile.dst_type == MPNUM_TYPE_BF16)
      mpnum_grad_write_<mpnum_bf16>(x, tile.dst, i);
    else
      mpnum_grad_write_<mpnum_f16>(x, tile.dst, i);
  }
  const mpnum::grad_range_ range = mpnum_grad_range_of_(x);
  if (tile.dst && is_float) {
    if (range.max > 0x7f800000u) { /* x stays: what range knows of it is used again */
      float y[N];
      MPNUM_UNROLL_
      for (unsigned k = 0; k < N; ++k)
        y[k] = mpnum_canonical_(x[k]);
      mpnum_grad_write_<float>(y, tile.dst, i);
    } else {
      mpnum_grad_write_<float>(x, tile.dst, i);
    }
  }
  mpnum_grad_look_(seen, own, x, range, 0, tile.number, i);
  if (tile.histogram) mpnum_grad_count_bins_(bins, x);
}

/* The sum of 64 lanes, the upper half added to the lower one until there is one. Threads
 * that meet share the lanes that they have four of, then two, so that few are sent. */
MPNUM_DEVICE_ double mpnum_grad_met_(double x, int step, unsigned mask) {
  return __dadd_rn(x, __shfl_xor_sync(mask, x, step, MPNUM_GRAD_TEAM_));
}
MPNUM_DEVICE_ double mpnum_grad_shared_sum_(double kept, double given, int step,
                                            unsigned mask) {
  return __dadd_rn(kept, __shfl_xor_sync(mask, given, step, MPNUM_GRAD_TEAM_));
}
MPNUM_DEVICE_ double mpnum_grad_sum_(const double (&sums)[4], unsigned mask) {
  const bool has_last = (threadIdx.x & 8) != 0, has_odd = (threadIdx.x & 4) != 0;
  const double even = mpnum_grad_shared_sum_(has_last ? sums[2] : sums[0],
                                             has_last ? sums[0] : sums[2], 8, mask);
  const double odd = mpnum_grad_shared_sum_(has_last ? sums[3] : sums[1],
                                            has_last ? sums[1] : sums[3], 8, mask);
  double sum =
      mpnum_grad_shared_sum_(has_odd ? odd : even, has_odd ? even : odd, 4, mask);
  sum = mpnum_grad_met_(mpnum_grad_met_(sum, 2, mask), 1, mask);
  return mpnum_grad_met_(mpnum_grad_met_(sum, 8, mask), 4, mask);
}

/* Adds to a limb in shared memory, by words: of 64 bits there is no atomic addition
 * there, but a loop that threads are in one after the other. */
MPNUM_DEVICE_ void mpnum_grad_add_limb_(int64_t *limb, uint32_t x) {
  unsigned *const words = reinterpret_cast<unsigned *>(limb);
  const unsigned before = atomicAdd(words, x);
  if (before + x < before) atomicAdd(words + 1, 1u);
}
/* mpnum_exact_sum_add_f64_ of 0, or of what is above 2^-299, by atomics, to a sum in
 * shared memory; terms are the caller's. */
MPNUM_DEVICE_ void mpnum_grad_add_square_(mpnum_exact_sum *total, double x) {
  const uint64_t bits = mpnum_bits_f64(x);
  const int field = static_cast<int>(bits >> 52);
  if (field == 0x7ff || bits >> 63) {
    const bool is_nan = bits != static_cast<uint64_t>(0x7ff) << 52;
    atomicAdd(reinterpret_cast<unsigned long long *>(is_nan ? &total->nans
                                                            : &total->positive_infs),
              1ull);
  } else if (bits) {
    const int place = field - 777; /* as there */
    const int index = place > 0 ? place >> 5 : 0, shift = place > 0 ? place & 31 : 0;
    uint64_t significand = (bits & 0xfffffffffffffu) | static_cast<uint64_t>(1) << 52;
    if (place < 0) significand >>= -place;
    const uint64_t low = (significand & 0xffffffffu) << shift;
    const uint64_t high = (significand >> 32 << shift) + (low >> 32);
    mpnum_grad_add_limb_(total->limbs + index, static_cast<uint32_t>(low));
    mpnum_grad_add_limb_(total->limbs + index + 1, static_cast<uint32_t>(high));
    if (high >> 32)
      mpnum_grad_add_limb_(total->limbs + index + 2, static_cast<uint32_t>(high >> 32));
  }
}

/* Shared memory of a pass. */
struct mpnum_grad_shared_ {
  mpnum_grad_workspace own; /* of this block, then of all */
  uint32_t bins[MPNUM_GRAD_TEAMS_][MPNUM_GRAD_BINS_];
  float factor;
  mpnum_meeting_state_ state;
  int is_reported;
  uint64_t carried; /* tiles */
};

/* How a tile is read and written four at a time. */
struct mpnum_grad_way_ {
  unsigned head; /* elements before the first four that are aligned */
  bool is_plain; /* whether the types allow it */
  bool is_apart; /* src is aligned otherwise */
};
MPNUM_DEVICE_ unsigned mpnum_grad_head_(const void *address, unsigned size) {
  return static_cast<unsigned>((0 - reinterpret_cast<size_t>(address)) / size % 4);
}
template <bool in_place>
MPNUM_DEVICE_ mpnum_grad_way_ mpnum_grad_way_of_(const mpnum::grad_tile_ &tile) {
  const unsigned dst_size = mpnum_grad_size_(tile.dst_type);
  mpnum_grad_way_ way;
  way.is_plain = tile.src_type != MPNUM_TYPE_F64 &&
                 (!tile.dst || (tile.dst_type != MPNUM_TYPE_F64 && dst_size > 1));
  way.head = mpnum_grad_head_(tile.src, mpnum_grad_size_(tile.src_type));
  way.is_apart =
      !in_place && tile.dst && way.head != mpnum_grad_head_(tile.dst, dst_size);
  if (way.is_apart) way.head = mpnum_grad_head_(tile.dst, dst_size);
  if (!way.is_plain) way.head = 0;
  return way;
}

/* The tiles of this block, into shared.own. All threads of a block; sync before. */
template <bool in_place>
MPNUM_DEVICE_ void mpnum_grad_tiles_(mpnum_grad_shared_ &shared,
                                     const mpnum_grad_list &list, float factor) {
  const unsigned lane = threadIdx.x % MPNUM_GRAD_TEAM_;
  const unsigned team = threadIdx.x / MPNUM_GRAD_TEAM_;
  const unsigned mask = 0xffffu << (threadIdx.x & MPNUM_GRAD_TEAM_);
  uint32_t *bins = shared.bins[team];
  mpnum::grad_seen_ seen = {{0, 0, 0, 0}, 0, 0xffffffffu, 0};
  uint64_t tensor = 0;
  const uint64_t teams = gridDim.x * static_cast<uint64_t>(MPNUM_GRAD_TEAMS_);
  const uint64_t own = blockIdx.x * static_cast<uint64_t>(MPNUM_GRAD_TEAMS_) + team;
  const uint64_t each = list.tiles / teams, more = list.tiles % teams;
  uint64_t number = own * each + (own < more ? own : more);
  const uint64_t end = number + each + (own < more);
  for (; number < end; ++number) { /* neighbours: the next tensor is soon found */
    mpnum::grad_tile_ tile;
    tensor = mpnum_grad_tensor_of_team_(list, number, tensor, lane, mask);
    const mpnum_grad_tensor *t = list.tensors + tensor;
    tile.number = number;
    if (in_place) {
      mpnum_grad_locate_(tile, mpnum_grad_in_place_(*t),
                         number - list.tiles_before[tensor]);
    } else {
      mpnum_grad_locate_(tile, *t, number - list.tiles_before[tensor]);
    }
    const mpnum_grad_way_ way = mpnum_grad_way_of_<in_place>(tile);
    seen.sums[0] = seen.sums[1] = seen.sums[2] = seen.sums[3] = 0;
    /* The last thread has what is before the first four, so that each has four of the
     * tile's lanes as before, if others; sums of pairs of lanes are the same pairs. */
    const bool has_head = way.head != 0 && lane == MPNUM_GRAD_TEAM_ - 1;
    unsigned i = way.head + 4 * lane - (has_head ? 64 : 0); /* below 0: the head */
    while (static_cast<int>(i) < static_cast<int>(tile.n)) {
      const bool is_plain = way.is_plain && static_cast<int>(i) >= 0;
      if (is_plain && !way.is_apart && tile.n - i >= 16 * MPNUM_GRAD_MANY_ - 60) {
        mpnum_grad_many_<MPNUM_GRAD_MANY_>(seen, &shared.own, tile, i, factor, bins,
                                           false);
        i += 16 * MPNUM_GRAD_MANY_;
        continue;
      }
      if (is_plain && tile.n - i >= 4)
        mpnum_grad_many_<4>(seen, &shared.own, tile, i, factor, bins, way.is_apart);
      else
        mpnum_grad_few_(seen, &shared.own, tile, i, factor, bins);
      i += 64;
    }
    const double sum = mpnum_grad_sum_(seen.sums, mask);
    if (lane == 0)
      mpnum_grad_add_square_(number < shared.carried ? &shared.own.before_carry
                                                     : &shared.own.after_carry,
                             sum);
    if (tile.histogram) {
      __syncwarp(mask);
      for (unsigned k = lane; k < MPNUM_GRAD_BINS_; k += MPNUM_GRAD_TEAM_) {
        mpnum_atomic_add_u64_(
            k < 256 ? tile.histogram->counts + k : &tile.histogram->zeros, bins[k]);
        bins[k] = 0;
      }
      __syncwarp(mask);
    }
  }
  const uint32_t zeros = mpnum_warp_sum_u32_(seen.zeros);
  const uint32_t max = mpnum_warp_max_u32_(seen.max);
  const uint32_t min = mpnum_warp_max_u32_(~seen.min);
  if (threadIdx.x % 32 == 0) {
    mpnum_atomic_add_u64_(&shared.own.zeros, zeros);
    atomicMax(&shared.own.max, max);
    atomicMax(&shared.own.min, min);
  }
}
/* Empty sums and bins. All threads; sync after it. */
MPNUM_DEVICE_ void mpnum_grad_begin_(mpnum_grad_shared_ &shared,
                                     const mpnum_grad_list &list) {
  uint32_t *words = reinterpret_cast<uint32_t *>(&shared);
  const unsigned count = (sizeof shared - sizeof shared.carried) / 4;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
    words[i] = 0;
  if (threadIdx.x == 0) shared.carried = mpnum_grad_carried_tiles_(list.tiles);
}
/* Adds the block's sums to the workspace. The last block to do so has all sums in
 * shared.own, and leaves the workspace empty. Thread 0 has begun the meeting. All
 * threads; it begins and ends with a sync. */
MPNUM_DEVICE_ mpnum_meeting_state_ mpnum_grad_end_(mpnum_grad_shared_ &shared,
                                                   mpnum_grad_workspace *workspace,
                                                   const mpnum_meeting_ &meeting) {
  unsigned long long *own = reinterpret_cast<unsigned long long *>(&shared.own);
  unsigned long long *all = reinterpret_cast<unsigned long long *>(workspace);
  const unsigned i = threadIdx.x;
  __syncthreads();
  if (i < MPNUM_GRAD_SUMS_ && own[i]) atomicAdd(all + i, own[i]);
  if (i == MPNUM_GRAD_SUMS_ && own[i]) atomicMax(all + i, own[i]);
  if (i == MPNUM_GRAD_SUMS_ + 1) atomicMax(&workspace->max, shared.own.max);
  if (i == MPNUM_GRAD_SUMS_ + 2) atomicMax(&workspace->min, shared.own.min);
  __threadfence();
  __syncthreads();
  if (i == 0) shared.state = meeting.end();
  __syncthreads();
  if (shared.state != MPNUM_MEETING_LAST_) return shared.state;
  __threadfence();
  if (i <= MPNUM_GRAD_SUMS_) own[i] = atomicExch(all + i, 0ull);
  if (i == MPNUM_GRAD_SUMS_ + 1) shared.own.max = atomicExch(&workspace->max, 0u);
  if (i == MPNUM_GRAD_SUMS_ + 2) shared.own.min = atomicExch(&workspace->min, 0u);
  if (i == MPNUM_GRAD_SUMS_ + 3) meeting.rest();
  __syncthreads();
  return MPNUM_MEETING_LAST_;
}
/* The total of a list, in shared.own.after_carry; one thread. */
MPNUM_DEVICE_ void mpnum_grad_total_(mpnum_grad_shared_ &shared,
                                     const mpnum_grad_list &list) {
  const uint64_t carried = mpnum_grad_carried_tiles_(list.tiles);
  mpnum_exact_sum *total = &shared.own.after_carry, *before = &shared.own.before_carry;
  mpnum_exact_sum_carry_(before);
  for (int i = 0; i < 20; ++i)
    total->limbs[i] += before->limbs[i];
  total->terms = static_cast<int64_t>(list.tiles - carried + (carried != 0));
  total->positive_infs += before->positive_infs;
  total->nans += before->nans;
}
/* The findings of a list, but for their total; one thread. */
MPNUM_DEVICE_ void mpnum_grad_found_(mpnum_grad_findings *findings,
                                     const mpnum_grad_workspace &all,
                                     const mpnum_grad_list &list, float factor) {
  findings->stats.count = list.elements;
  findings->stats.zeros = all.zeros;
  findings->stats.subnormals = all.subnormals;
  findings->stats.infs = all.infs;
  findings->stats.nans = all.nans;
  findings->stats.amax = mpnum_from_bits_f32(all.max);
  findings->stats.min_nonzero =
      mpnum_from_bits_f32(~all.min >= 0x7f7fffffu ? 0x7f800000u : ~all.min + 1);
  findings->first_tensor = findings->first_element = ~static_cast<uint64_t>(0);
  findings->first_bits = 0;
  if (all.first) {
    const uint64_t number = ~all.first / MPNUM_GRAD_TILE_;
    const unsigned i = static_cast<unsigned>(~all.first % MPNUM_GRAD_TILE_);
    const uint64_t tensor = mpnum_list_tensor_at_(list, number, 0);
    mpnum::grad_tile_ tile;
    findings->first_tensor = tensor;
    findings->first_element = i + mpnum_grad_locate_(tile, list.tensors[tensor],
                                                     number - list.tiles_before[tensor]);
    findings->first_bits =
        mpnum_bits_f32(mpnum_canonical_(mpnum_grad_result_(tile, i, factor)));
  }
}

/* What tells a scaler to skip: of a workspace that is not sound; one thread. */
MPNUM_DEVICE_ void mpnum_grad_unsound_(mpnum_grad_findings *findings,
                                       const mpnum_grad_list &list) {
  *findings = mpnum_grad_findings_empty();
  findings->stats.count = list.elements;
  findings->stats.nans = list.elements + 1;
  findings->stats.amax = mpnum_from_bits_f32(0x7fffffffu);
}

#undef MPNUM_DEVICE_

MPNUM_C_END_
#endif

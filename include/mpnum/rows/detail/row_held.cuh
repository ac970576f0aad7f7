/* SPDX-License-Identifier: MIT */
/* Rows that threads hold, each its pairs, from the one read until the last step: a warp
 * for each tile of 2048 elements, 16 tiles at most, so that thread l has elements 2 l and
 * 2 l + 1 of every 64, 32 pairs. Codes of 16 bits stay in registers; floats there and,
 * for want of room, in shared memory, where no thread reads what another one wrote.
 * Pairs go in groups of four, so that only a row's last group needs tests. */
#ifndef MPNUM_ROWS_DETAIL_ROW_HELD_CUH
#define MPNUM_ROWS_DETAIL_ROW_HELD_CUH

#include "row_staged.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

enum : unsigned {
  row_pairs_ = row_tile_ / row_lanes_, /* of a thread */
  row_group_ = 4,                      /* pairs */
  row_held_columns_ = row_warps_ * row_tile_
};
template <class T> struct is_held_ {
  static constexpr bool value = type_of<T>::value == MPNUM_TYPE_F32 ||
                                type_of<T>::value == MPNUM_TYPE_F16 ||
                                type_of<T>::value == MPNUM_TYPE_BF16;
};

/* Which of a tile's elements a thread has. */
struct row_tile_place_ {
  unsigned first;         /* of the tile, in its row */
  unsigned lane;          /* of this thread's first pair, in the tile */
  unsigned left, columns; /* elements of the tile that count, and all of them */
};
/* How many of a row's elements are of the tile that begins at first. */
static __device__ __forceinline__ unsigned row_tile_part_(unsigned count,
                                                          unsigned first) {
  const unsigned left = count > first ? count - first : 0;
  return left < row_tile_ ? left : row_tile_;
}
static __device__ __forceinline__ row_tile_place_
row_tile_place_of_(const row_place_ &place, unsigned count) {
  row_tile_place_ tile;
  tile.first = place.warp * row_tile_;
  tile.lane = 2 * place.lane;
  tile.left = row_tile_part_(count, tile.first);
  tile.columns = row_tile_part_(place.columns, tile.first);
  return tile;
}
/* Whether a group of pairs, from k on, has elements among the first count; or only such.
 */
static __device__ __forceinline__ bool row_group_begins_(unsigned k, unsigned count) {
  return k * row_lanes_ < count;
}
static __device__ __forceinline__ bool row_group_is_whole_(unsigned k, unsigned count) {
  return (k + row_group_) * row_lanes_ <= count;
}
/* A pair of which elements past the first count are none. */
template <class T>
static __device__ __forceinline__ mpnum_lanes<T, 2> row_pair_or_(const T *at, unsigned i,
                                                                 unsigned count, T none) {
  mpnum_lanes<T, 2> x = {{none, none}};
  if (i < count) x.at[0] = at[0];
  if (i + 1 < count) x.at[1] = at[1];
  return x;
}

/* Floats of a thread, the first pairs of them in registers. */
template <unsigned in_registers> struct row_hand_ {
  static constexpr unsigned in_shared = row_pairs_ - in_registers;
  pair_ held[in_registers + 1]; /* one, as there are no arrays of none */
  pair_ *rest;
  __device__ __forceinline__ void begin() {
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    rest = reinterpret_cast<pair_ *>(mpnum_row_memory_()) +
           thread / 32 * (in_shared * 32) + thread % 32;
  }
  __device__ __forceinline__ void put(unsigned k, pair_ x) {
    if (k + 1 <= in_registers)
      held[k + 1 <= in_registers ? k : 0] = x;
    else
      rest[(k - in_registers) * 32] = x;
  }
  __device__ __forceinline__ pair_ get(unsigned k) const {
    return k + 1 <= in_registers ? held[k + 1 <= in_registers ? k : 0]
                                 : rest[(k - in_registers) * 32];
  }
};

/* Codes of 16 bits, two a word, the first one below. */
template <class T> struct row_words_ {
  uint32_t words[row_pairs_];
  static __device__ __forceinline__ uint32_t word_of(mpnum_lanes<T, 2> x) {
    return static_cast<uint32_t>(x.at[1].bits) << 16 | x.at[0].bits;
  }
  static __device__ __forceinline__ pair_ floats(uint32_t word) {
    T low, high;
    low.bits = static_cast<uint16_t>(word);
    high.bits = static_cast<uint16_t>(word >> 16);
    const pair_ both = {{row_any_nan_<T>::in(low), row_any_nan_<T>::in(high)}};
    return both;
  }
  /* Elements past the last one become none. */
  __device__ __forceinline__ void load(const T *row, const row_tile_place_ &tile,
                                       float none) {
    const T *const at = row + tile.first + tile.lane;
    MPNUM_UNROLL_
    for (unsigned k = 0; k < row_pairs_; k += row_group_) {
      if (!row_group_begins_(k, tile.left)) break;
      if (row_group_is_whole_(k, tile.left)) {
        MPNUM_UNROLL_
        for (unsigned j = k; j < k + row_group_; ++j)
          words[j] = *reinterpret_cast<const uint32_t *>(at + j * row_lanes_);
      } else {
        MPNUM_UNROLL_
        for (unsigned j = k; j < k + row_group_; ++j)
          words[j] = word_of(row_pair_or_(at + j * row_lanes_, tile.lane + j * row_lanes_,
                                          tile.left, row_element_<T>::out(none)));
      }
    }
  }
  __device__ __forceinline__ void hide(const row_tile_place_ &tile) {
    MPNUM_UNROLL_
    for (unsigned k = 0; k < row_pairs_; k += row_group_) {
      if (!row_group_begins_(k, tile.left)) break;
      MPNUM_UNROLL_
      for (unsigned j = k; j < k + row_group_; ++j)
        row_hide_(words[j]);
    }
  }
  __device__ __forceinline__ pair_ get(unsigned k) const { return floats(words[k]); }
};

/* The largest of elements, or NaN; of codes, two at a time, where there is an
 * instruction, else of floats. */
template <class T> struct row_most_ {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint32_t most;
  __device__ __forceinline__ void begin(uint32_t word) { most = word; }
  __device__ __forceinline__ void add(uint32_t word) {
    if (type_of<T>::value == MPNUM_TYPE_BF16)
      asm("max.NaN.bf16x2 %0, %0, %1;" : "+r"(most) : "r"(word));
    else
      asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(most) : "r"(word));
  }
  __device__ __forceinline__ float largest() const {
    const pair_ both = row_words_<T>::floats(most);
    return mpnum_larger_(mpnum_larger_(mpnum_from_bits_f32(0xff800000u), both.at[0]),
                         both.at[1]);
  }
#else
  float most;
  __device__ __forceinline__ void begin(uint32_t word) {
    most = mpnum_from_bits_f32(0xff800000u);
    add(word);
  }
  __device__ __forceinline__ void add(uint32_t word) {
    const pair_ both = row_words_<T>::floats(word);
    most = mpnum_larger_(most, mpnum_larger_(both.at[0], both.at[1]));
  }
  __device__ __forceinline__ float largest() const { return most; }
#endif
};
/* The largest element of this thread's, -Inf where there is none, and of a row what is
 * needed to come back to it: codes; or floats, in the hand. */
template <class T, unsigned in_registers> struct row_held_ {
  row_words_<T> codes;
  __device__ __forceinline__ float load(row_hand_<in_registers> &, const T *row,
                                        const row_tile_place_ &tile) {
    const float none = mpnum_from_bits_f32(0xff800000u);
    row_most_<T> most;
    codes.load(row, tile, none);
    if (!tile.left) return none;
    most.begin(codes.words[0]);
    MPNUM_UNROLL_
    for (unsigned k = 0; k < row_pairs_; k += row_group_) {
      if (!row_group_begins_(k, tile.left)) break;
      MPNUM_UNROLL_
      for (unsigned j = k; j < k + row_group_; ++j)
        if (j) most.add(codes.words[j]);
    }
    codes.hide(tile);
    return most.largest();
  }
  __device__ __forceinline__ pair_ get(const row_hand_<in_registers> &,
                                       unsigned k) const {
    return codes.get(k);
  }
};
template <unsigned in_registers> struct row_held_<float, in_registers> {
  typedef row_hand_<in_registers> hand_;
  static __device__ __forceinline__ float larger(float largest, pair_ x) {
    return mpnum_larger_(largest, mpnum_larger_(x.at[0], x.at[1]));
  }
  /* Of a whole tile what goes to shared memory comes by halves. */
  static __device__ __forceinline__ float load_whole(hand_ &hand, const float *at) {
    constexpr unsigned batch = (hand_::in_shared + 1) / 2;
    float largest = mpnum_from_bits_f32(0xff800000u);
    MPNUM_UNROLL_
    for (unsigned from = in_registers; from < row_pairs_; from += batch + !batch) {
      pair_ x[batch + !batch];
      MPNUM_UNROLL_
      for (unsigned j = 0; j + 1 <= batch; ++j)
        if (from + j < row_pairs_) x[j] = row_kept_pair_(at, (from + j) * row_lanes_);
      MPNUM_UNROLL_
      for (unsigned j = 0; j + 1 <= batch; ++j)
        if (from + j < row_pairs_) {
          largest = larger(largest, x[j]);
          hand.put(from + j, x[j]);
        }
    }
    MPNUM_UNROLL_
    for (unsigned k = 0; k + 1 <= in_registers; ++k)
      hand.put(k, row_kept_pair_(at, k * row_lanes_));
    MPNUM_UNROLL_
    for (unsigned k = 0; k + 1 <= in_registers; ++k)
      largest = larger(largest, hand.get(k));
    return largest;
  }
  __device__ __forceinline__ float load(hand_ &hand, const float *row,
                                        const row_tile_place_ &tile) {
    const float *const at = row + tile.first + tile.lane;
    const float none = mpnum_from_bits_f32(0xff800000u);
    float largest = none;
    if (tile.left == row_tile_) return load_whole(hand, at);
    MPNUM_UNROLL_
    for (unsigned k = 0; k < row_pairs_; k += row_group_) {
      pair_ x[row_group_];
      if (!row_group_begins_(k, tile.left)) break;
      if (row_group_is_whole_(k, tile.left)) {
        MPNUM_UNROLL_
        for (unsigned j = 0; j < row_group_; ++j)
          x[j] = row_kept_pair_(at, (k + j) * row_lanes_);
      } else {
        MPNUM_UNROLL_
        for (unsigned j = 0; j < row_group_; ++j)
          x[j] = row_pair_or_(at + (k + j) * row_lanes_, tile.lane + (k + j) * row_lanes_,
                              tile.left, none);
      }
      MPNUM_UNROLL_
      for (unsigned j = 0; j < row_group_; ++j) {
        largest = larger(largest, x[j]);
        hand.put(k + j, x[j]);
      }
    }
    return largest;
  }
  __device__ __forceinline__ pair_ get(const hand_ &hand, unsigned k) const {
    return hand.get(k);
  }
};

/* Four pairs of a thread. */
struct row_four_ {
  pair_ at[row_group_];
};
/* Stores what of makes of groups of pairs to a tile, and none where elements do not
 * count. */
template <class Dst, class Of>
static __device__ __forceinline__ void
row_held_store_(Dst *row, const row_tile_place_ &tile, float none, Of &of) {
  Dst *const at = row + tile.first + tile.lane;
  MPNUM_UNROLL_
  for (unsigned k = 0; k < row_pairs_; k += row_group_) {
    row_four_ y;
    if (row_group_is_whole_(k, tile.left)) {
      y = of(k, row_whole_pair_());
      MPNUM_UNROLL_
      for (unsigned j = 0; j < row_group_; ++j)
        row_store_(at, (k + j) * row_lanes_, 0, y.at[j], row_whole_pair_());
      continue;
    }
    const bool is_whole = row_group_is_whole_(k, tile.columns);
    if (!row_group_begins_(k, tile.columns)) break;
    if (row_group_begins_(k, tile.left)) y = of(k, row_any_());
    MPNUM_UNROLL_
    for (unsigned j = 0; j < row_group_; ++j) {
      const unsigned i = tile.lane + (k + j) * row_lanes_;
      if (i >= tile.left) y.at[j].at[0] = none;
      if (i + 1 >= tile.left) y.at[j].at[1] = none;
      if (is_whole)
        row_store_(at, (k + j) * row_lanes_, 0, y.at[j], row_whole_pair_());
      else if (i < tile.columns)
        row_store_(row + tile.first, i, tile.columns, y.at[j], row_any_());
    }
  }
}

/* What warps of a row tell each other, in shared memory: each array is written once. */
struct row_shared_ {
  uint32_t largest[row_warps_];
  uint64_t sums[2][row_warps_]; /* doubles */
};
/* Of all threads of a row, for each of them, as row_max_; where rows have several warps,
 * a row has all of its block. */
static __device__ __forceinline__ uint32_t row_held_max_(const row_place_ &place,
                                                         uint32_t value,
                                                         row_shared_ *shared) {
  value = mpnum_warp_max_u32_(value);
  if (place.warps == 1) return value;
  if (place.lane == 0) shared->largest[place.warp] = value;
  __syncthreads();
  return mpnum_warp_max_u32_(place.lane < place.warps ? shared->largest[place.lane] : 0);
}
/* The sum of a row's tiles, as row_sum_ has it; turn: 0, and 1 of a second one. */
struct row_held_total_ {
  float folded; /* of a row of one warp, all there is */
  double total;
  bool is_one;
  __device__ __forceinline__ float f32() const {
    return is_one ? folded : mpnum_f64_to_f32(total);
  }
  __device__ __forceinline__ double f64() const {
    return is_one ? mpnum_f32_to_f64(folded) : total;
  }
};
static __device__ __forceinline__ row_held_total_ row_held_sum_(const row_place_ &place,
                                                                pair_ sum,
                                                                row_shared_ *shared,
                                                                unsigned turn) {
  row_held_total_ all = {0, 0, place.warps == 1};
  MPNUM_UNROLL_
  for (int step = 16; step > 0; step /= 2)
    MPNUM_UNROLL_
  for (unsigned j = 0; j < 2; ++j)
    sum.at[j] =
        mpnum_add_scalar_(sum.at[j], __shfl_xor_sync(0xffffffffu, sum.at[j], step));
  all.folded = mpnum_add_scalar_(sum.at[0], sum.at[1]);
  if (all.is_one) return all;
  if (place.lane == 0)
    shared->sums[turn][place.warp] = mpnum_bits_f64(mpnum_f32_to_f64(all.folded));
  __syncthreads();
  MPNUM_UNROLL_
  for (unsigned warp = 0; warp < row_warps_; ++warp) {
    if (warp >= place.warps) break;
    all.total = mpnum_add_f64_(all.total, mpnum_from_bits_f64(shared->sums[turn][warp]));
  }
  return all;
}

} // namespace mpnum

#if !MPNUM_HAS_NVRTC_

template <class T>
static inline bool mpnum_pairs_are_aligned_(const T *data, size_t stride) {
  return reinterpret_cast<size_t>(data) % (2 * sizeof(T)) == 0 && stride % 2 == 0;
}
/* mpnum_launch_staged_ of held, which asks for the rows ahead that so many threads of a
 * multiprocessor have; of kernel where held is NULL, rows may not be held, or a block has
 * no room for what threads hold beside in_registers pairs. */
template <class Job, class From>
static inline cudaError_t mpnum_launch_held_or_(void (*held)(Job), unsigned in_registers,
                                                unsigned ahead, bool may_be_held,
                                                void (*kernel)(Job), Job &job, From &from,
                                                unsigned planes, cudaStream_t stream) {
  if (held && may_be_held && from.columns <= mpnum::row_held_columns_) {
    const mpnum::row_shape_ shape = mpnum::row_shape_of_(from.columns, 1, 0);
    const unsigned threads = shape.threads * shape.rows;
    const size_t bytes = static_cast<size_t>(threads) *
                         (mpnum::row_pairs_ - in_registers) * sizeof(mpnum::pair_);
    size_t blocks = 0;
    bool fits = false;
    cudaError_t error =
        mpnum_row_allow_(&fits, reinterpret_cast<const void *>(held), bytes);
    if (error == cudaSuccess && ahead)
      error = mpnum_launch_blocks_(&blocks, ~static_cast<size_t>(0), 0, ahead / threads);
    if (error != cudaSuccess) return error;
    from.ahead = blocks * shape.rows;
    if (fits) return mpnum_launch_shape_(held, job, from, shape, bytes, stream);
  }
  return mpnum_launch_staged_(kernel, job, from, planes, stream);
}

#endif

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* Rows of 16 bits that stay in registers between the steps of a kernel. A team of
 * 64 / size threads has a tile: thread t has elements size t to size t + size - 1 of
 * every 64, which are lanes of its sums, and loads all of them before it uses the first.
 * So 64 size bytes of each thread are in flight, and no step reads memory again.
 *
 * In a block x counts the threads of a row and y its rows, more than one where 32 threads
 * have a row. Vectors are whole: columns and strides are multiples of size, and rows are
 * aligned. */
#ifndef MPNUM_ROWS_DETAIL_HELD_ROWS_CUH
#define MPNUM_ROWS_DETAIL_HELD_ROWS_CUH

#include "row_tiles.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* Threads that a multiprocessor has registers for: 128 each, of which nvcc 13 spills some
 * from sm_100 on. */
#if MPNUM_DEVICE_ARCH_ >= 1000
static constexpr unsigned held_resident_ = 384;
#else
static constexpr unsigned held_resident_ = 512;
#endif
enum : unsigned {
  held_size_ = 4,
  held_batch_ = 2, /* vectors of weights that are loaded before the first is used */
  held_steps_ = row_tile_ / row_lanes_,
  held_threads_ = 256, /* of a row at most */
  held_teams_ = 16,    /* of a block at most */
  held_rows_ = 4       /* of a block, where rows have more than a tile */
};

template <unsigned size> struct held_words_ { uint32_t at[size / 2]; };
template <class T, unsigned size> struct held_ { mpnum_lanes<T, size> at[held_steps_]; };
/* What this thread has of a row; past the last row one without elements. */
struct held_place_ {
  size_t number;
  unsigned tiles;  /* of the row */
  unsigned column; /* of this thread's first element */
  unsigned left;   /* columns from there on */
  unsigned team;   /* of the row's first tile, in the block */
  bool is_first, exists;
  bool is_whole; /* all tiles of the block are; for all of its threads */
};
template <unsigned size>
static __device__ __forceinline__ held_place_ held_place_of_(size_t rows,
                                                             unsigned columns) {
  const unsigned threads = row_lanes_ / size;
  const size_t block = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const size_t number = block * blockDim.y + threadIdx.y;
  held_place_ place;
  place.exists = number < rows;
  place.number = place.exists ? number : 0;
  place.is_whole =
      (block + 1) * blockDim.y <= rows && columns == blockDim.x / threads * row_tile_;
  if (!place.exists) columns = 0;
  place.tiles = (columns + row_tile_ - 1) / row_tile_;
  place.column = threadIdx.x / threads * row_tile_ + threadIdx.x % threads * size;
  place.left = place.column < columns ? columns - place.column : 0;
  place.team = threadIdx.y * (blockDim.x / threads);
  place.is_first = place.exists && threadIdx.x == 0;
  return place;
}
/* Whether vector k of this thread exists. */
static __device__ __forceinline__ bool held_has_(const held_place_ &place, unsigned k) {
  return k * row_lanes_ < place.left;
}

/* Loads a tile; what does not exist is 0. src: this thread's first element. */
template <class T, unsigned size>
static __device__ __forceinline__ void held_load_(held_<T, size> &row, const T *src,
                                                  const held_place_ &place) {
  typedef mpnum_lanes<T, size> lanes;
  if (held_has_(place, held_steps_ - 1)) {
    MPNUM_UNROLL_
    for (unsigned k = 0; k < held_steps_; ++k)
      row.at[k] = *reinterpret_cast<const lanes *>(src + k * row_lanes_);
  } else {
    MPNUM_UNROLL_
    for (unsigned k = 0; k < held_steps_; ++k) {
      row.at[k] = lanes();
      if (held_has_(place, k))
        row.at[k] = *reinterpret_cast<const lanes *>(src + k * row_lanes_);
    }
  }
}
/* Between two steps, lest compilers keep the floats of one for the other, which takes
 * twice the registers. */
template <class T, unsigned size>
static __device__ __forceinline__ void held_forget_(held_<T, size> &row) {
#if MPNUM_ON_DEVICE_
  MPNUM_UNROLL_
  for (unsigned k = 0; k < held_steps_; ++k) {
    held_words_<size> words = copied_<held_words_<size>>(row.at[k]);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size / 2; ++j)
      asm volatile("" : "+r"(words.at[j]));
    row.at[k] = copied_<mpnum_lanes<T, size>>(words);
  }
#else
  (void)row;
#endif
}
/* Of which a NaN may be any, by words of two. */
template <class T, unsigned size>
static __device__ __forceinline__ mpnum_lanes<float, size>
held_floats_(const mpnum_lanes<T, size> &codes) {
  const held_words_<size> words = copied_<held_words_<size>>(codes);
  mpnum_lanes<float, size> x;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j) {
    const uint32_t word = words.at[j / 2];
    if (type_of<T>::value == MPNUM_TYPE_BF16)
      x.at[j] = mpnum_from_bits_f32(j % 2 ? word & 0xffff0000u : word << 16);
    else
      x.at[j] = row_any_nan_<T>::in(from_bits<T>(j % 2 ? word >> 16 : word & 0xffffu));
  }
  return x;
}
/* Stores a vector of floats, of which any NaN becomes the one of T. */
template <class T, unsigned size>
static __device__ __forceinline__ void held_store_(T *dst, mpnum_lanes<float, size> y) {
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j) /* all others have one NaN */
    if (type_of<T>::value == MPNUM_TYPE_F32) y.at[j] = mpnum_canonical_(y.at[j]);
  row_store_vector_(dst, 0, size, y, row_whole_pair_());
}

template <unsigned size> struct held_sums_ { double at[size]; };
/* The sum of a tile, its 64 lanes by halves. For each thread of a team. */
template <unsigned size>
static __device__ __forceinline__ double held_folded_(held_sums_<size> sums) {
  MPNUM_UNROLL_
  for (int step = row_lanes_ / size / 2; step > 0; step /= 2)
    MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j)
    sums.at[j] =
        mpnum_add_f64_(sums.at[j], __shfl_xor_sync(0xffffffffu, sums.at[j], step));
  MPNUM_UNROLL_
  for (unsigned step = size / 2; step > 0; step /= 2)
    MPNUM_UNROLL_
  for (unsigned j = 0; j < step; ++j)
    sums.at[j] = mpnum_add_f64_(sums.at[j], sums.at[j + step]);
  return sums.at[0];
}
/* Threads of a row wait for each other. All of them. */
static __device__ __forceinline__ void held_meet_() {
  if (blockDim.x > 32)
    __syncthreads();
  else
    __syncwarp();
}

} // namespace mpnum

#if !MPNUM_HAS_NVRTC_

/* Whether rows of so many columns are held: those that fit a block and of which at least
 * half a tile exists, as a thread goes through a whole one. */
template <unsigned size, class T> static inline bool mpnum_is_held_(size_t columns) {
  const size_t most = mpnum::held_threads_ / (mpnum::row_lanes_ / size);
  return sizeof(T) == 2 && columns % size == 0 && 2 * columns >= mpnum::row_tile_ &&
         columns <= most * mpnum::row_tile_;
}
/* Whether vectors of rows are aligned. */
template <unsigned size, class T>
static inline bool mpnum_has_held_vectors_(const T *rows, size_t stride) {
  return stride % size == 0 && mpnum::row_is_aligned_<size>(rows);
}
/* A launch over the rows of a job, one at least. */
template <unsigned size, class Job>
static inline cudaError_t mpnum_launch_held_(void (*kernel)(Job), Job &job, size_t rows,
                                             unsigned columns, cudaStream_t stream) {
  const unsigned team = mpnum::row_lanes_ / size;
  const unsigned needed = team * ((columns - 1) / mpnum::row_tile_ + 1);
  unsigned threads = team < 32 ? team : 32;
  while (threads < needed)
    threads += threads < 32 ? threads : 32;
  const unsigned together = threads > 32 ? 1 : 32 * mpnum::held_rows_ / threads;
  const size_t blocks = (rows - 1) / together + 1;
  void *pointers[] = {&job};
  return mpnum_launch_kernel_(kernel, mpnum_grid_of_(blocks), dim3(threads, together),
                              pointers, 0, stream);
}

#endif

MPNUM_C_END_
#endif

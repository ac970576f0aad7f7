/* SPDX-License-Identifier: MIT */
/* How kernels go through rows: which threads share one, where its elements are, and sums
 * in the lanes and tiles of rows/detail/rows_loops.h, which make the bits those of hosts.
 *
 * In a block x counts the threads of a row and y its rows. Up to 64 elements have a
 * thread for every two, a power of two of them; up to 2048, a tile, a warp; longer rows
 * have a block with a warp for each tile, 16 at most, which then go on to further tiles.
 * Thread l of a tile has elements 2 l and 2 l + 1 of every 64: two of the 64 lanes. */
#ifndef MPNUM_ROWS_DETAIL_ROW_TILES_CUH
#define MPNUM_ROWS_DETAIL_ROW_TILES_CUH

#include "../../cuda/block.cuh"
#include "../../cuda/detail/launch.cuh"
MPNUM_C_BEGIN_

/* Floats of shared memory, where a row is kept between two steps. Not of a template: a
 * declaration there would be another array for each. */
static __device__ __forceinline__ float *mpnum_row_memory_() {
  alignas(16) extern __shared__ float mpnum_rows_shared_[];
  return mpnum_rows_shared_;
}

namespace mpnum {

/* Columns are below 2^31, so that their numbers are words of 32 bits. */
static constexpr size_t row_columns_ = 0x7fffffff;
enum : unsigned {
  row_lanes_ = 64,
  row_tile_ = 2048,
  row_warps_ = 16,
  row_scratch_ = 1024, /* bytes of shared memory at most that kernels have anyway */
  row_kept_ = (49152 - row_scratch_) / 4 /* floats beside it, without asking any GPU */
};

/* A block's shape: threads of a row, rows, and floats kept of each, 0 where a row is read
 * again instead. */
struct row_shape_ {
  unsigned threads, rows, kept;
};
/* For planes floats of each element, where a block has room for so many; row_kept_ at
 * least. */
MPNUM_INLINE row_shape_ row_shape_of_(unsigned columns, unsigned planes, unsigned room) {
  const unsigned most = room / planes / 4 * 4;
  const unsigned pitch = columns <= most ? (columns + 3) / 4 * 4 * planes : 0;
  row_shape_ shape = {32, 1, pitch};
  if (columns <= row_lanes_) {
    shape.threads = 1;
    while (2 * shape.threads < columns)
      shape.threads *= 2;
    shape.rows = 256 / shape.threads;
  } else if (columns <= row_tile_) {
    shape.rows = 8;
    while (shape.rows * pitch > row_kept_)
      shape.rows /= 2;
  } else {
    const unsigned tiles = (columns - 1) / row_tile_ + 1;
    shape.threads = 32 * (tiles < row_warps_ ? tiles : row_warps_);
  }
  return shape;
}

typedef mpnum_lanes<float, 2> pair_;
/* Neighbours that one access of 16 bytes moves, 8 at most. */
template <class T> struct row_vector_ {
  static constexpr unsigned size = sizeof(T) == 1 ? 8 : 16 / sizeof(T);
};
/* Of a gradient, and of what it is that of. */
struct slope_ {
  pair_ dy, y;
};

template <class T> struct row_element_ {
  MPNUM_INLINE float in(T x) { return to_float(x); }
  MPNUM_INLINE T out(float x) { return from_float<T>(x); }
};
template <> struct row_element_<float> {
  MPNUM_INLINE float in(float x) { return x; }
  MPNUM_INLINE float out(float x) { return x; }
};

/* Floats of which a NaN may be any, as where one makes the whole row NaN. */
template <class T> struct row_any_nan_ : row_element_<T> {};
template <> struct row_any_nan_<mpnum_f16> {
  MPNUM_INLINE float in(mpnum_f16 x) {
#if MPNUM_HAS_HW_F16_
    return mpnum_cvt_f16_to_f32_any_nan_(x.bits);
#else
    return to_float(x);
#endif
  }
};
template <> struct row_any_nan_<mpnum_bf16> {
  MPNUM_INLINE float in(mpnum_bf16 x) {
    return mpnum_from_bits_f32(static_cast<uint32_t>(x.bits) << 16);
  }
};

/* Two neighbours as codes; of 16 bits by one instruction where there is one. */
template <class T> struct row_codes_ {
  MPNUM_INLINE mpnum_lanes<T, 2> of(pair_ y) {
    const mpnum_lanes<T, 2> codes = {
        {row_element_<T>::out(y.at[0]), row_element_<T>::out(y.at[1])}};
    return codes;
  }
};
template <> struct row_codes_<mpnum_f16> {
  MPNUM_INLINE uint32_t word(pair_ y) {
    return mpnum_f32_to_f16_x2(y.at[0], y.at[1]).bits;
  }
  MPNUM_INLINE mpnum_lanes<mpnum_f16, 2> of(pair_ y) {
    return copied_<mpnum_lanes<mpnum_f16, 2>>(word(y));
  }
};
template <> struct row_codes_<mpnum_bf16> {
  MPNUM_INLINE uint32_t word(pair_ y) {
    return mpnum_f32_to_bf16_x2(y.at[0], y.at[1]).bits;
  }
  MPNUM_INLINE mpnum_lanes<mpnum_bf16, 2> of(pair_ y) {
    return copied_<mpnum_lanes<mpnum_bf16, 2>>(word(y));
  }
};

/* What this thread has of a row; past the last row one without elements. */
struct row_place_ {
  size_t number;
  unsigned columns;
  unsigned lane, warp, warps; /* of the row */
  int lanes;                  /* threads of a tile */
  int exists;
  float *kept;    /* of the row, NULL where it is not kept */
  int has_stages; /* row_staged.cuh */
};
static __device__ __forceinline__ row_place_ row_place_of_(size_t number, size_t rows,
                                                           unsigned columns,
                                                           unsigned kept) {
  row_place_ place;
  place.exists = number < rows;
  place.number = number;
  place.columns = place.exists ? columns : 0;
  place.lane = threadIdx.x % 32;
  place.lanes = blockDim.x < 32 ? static_cast<int>(blockDim.x) : 32;
  place.warp = threadIdx.x / 32;
  place.warps = (blockDim.x + 31) / 32;
  place.kept = kept ? mpnum_row_memory_() + threadIdx.y * kept : 0;
  place.has_stages = 0;
  return place;
}
/* Of the row that is this thread's in a launch; from says which rows there are. */
template <class From>
static __device__ __forceinline__ row_place_ row_place_in_(const From &from) {
  const size_t block = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  return row_place_of_(block * blockDim.y + threadIdx.y, from.rows, from.columns,
                       from.kept);
}
static __device__ __forceinline__ bool row_is_first_(const row_place_ &place) {
  return place.exists && threadIdx.x == 0;
}
/* Asks for the first elements of a row at once, before loads do; rows that share warps
 * have few. */
template <class T>
static __device__ __forceinline__ void row_prefetch_(const row_place_ &place,
                                                     const T *row, unsigned count) {
  if (place.lanes == 32 && row_is_first_(place))
    mpnum_prefetch_(row, count * static_cast<size_t>(sizeof *row));
}

static __device__ __forceinline__ pair_ row_kept_pair_(const float *kept, size_t i) {
  return *reinterpret_cast<const pair_ *>(kept + i);
}
static __device__ __forceinline__ void row_keep_pair_(float *kept, size_t i, pair_ x) {
  *reinterpret_cast<pair_ *>(kept + i) = x;
}

/* What loads and visits are told of a pair: it may end a row, lie at any address and be
 * masked; or is whole and aligned, so that it takes no tests; or was kept besides; or was
 * staged, as are rows that are not kept. */
struct row_any_ {
  static constexpr bool is_whole = false, is_kept = false, is_staged = false;
};
struct row_whole_pair_ {
  static constexpr bool is_whole = true, is_kept = false, is_staged = false;
};
struct row_whole_kept_ {
  static constexpr bool is_whole = true, is_kept = true, is_staged = false;
};
struct row_whole_staged_ {
  static constexpr bool is_whole = true, is_kept = false, is_staged = true;
};
template <unsigned n = 2, class T> MPNUM_INLINE int row_is_aligned_(const T *row) {
  return reinterpret_cast<size_t>(row) % alignof(mpnum_lanes<T, n>) == 0;
}

/* Gives visit pairs of this thread from i on that are whole, batch at a time. */
template <unsigned batch, class Part, class Load, class Visit>
static __device__ __forceinline__ unsigned
row_each_whole_(unsigned from, unsigned end, const Load &load, Visit &visit) {
  size_t i = from; /* so that addresses are one and constants */
  for (; i + (batch - 1) * row_lanes_ + 2 <= end; i += batch * row_lanes_) {
    typename Load::result x[batch];
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b)
      x[b] = load(i + b * row_lanes_, Part());
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b)
      visit(i + b * row_lanes_, x[b], Part());
  }
  return static_cast<unsigned>(i);
}
/* Gives visit the pairs of this thread from i on to an end, as load makes them, batch at
 * a time; whole ones as such where both take them. */
template <unsigned batch, class Load, class Visit>
static __device__ __forceinline__ void row_each_to_(unsigned i, unsigned end,
                                                    const Load &load, Visit &visit) {
  if (visit.takes_whole()) {
    if (load.is_kept())
      i = row_each_whole_<batch, row_whole_kept_>(i, end, load, visit);
    else if (load.takes_whole())
      i = row_each_whole_<batch, row_whole_pair_>(i, end, load, visit);
  }
  for (; i < end; i += batch * row_lanes_) {
    typename Load::result x[batch];
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b)
      if (i + b * row_lanes_ < end) x[b] = load(i + b * row_lanes_, row_any_());
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b)
      if (i + b * row_lanes_ < end) visit(i + b * row_lanes_, x[b], row_any_());
  }
}
static __device__ __forceinline__ unsigned row_tile_end_(unsigned first, unsigned count) {
  return count - first < row_tile_ ? count : first + row_tile_;
}
/* The same of a tile of a row of count elements. */
template <unsigned batch, class Load, class Visit>
static __device__ __forceinline__ void row_each_(const row_place_ &place, unsigned tile,
                                                 unsigned count, const Load &load,
                                                 Visit &visit) {
  const unsigned first = tile * row_tile_;
  row_each_to_<batch>(first + 2 * place.lane, row_tile_end_(first, count), load, visit);
}
template <unsigned batch, class Load, class Visit>
static __device__ __forceinline__ void row_each_(const row_place_ &place, unsigned count,
                                                 const Load &load, Visit &visit) {
  for (unsigned tile = place.warp; tile * row_tile_ < count; tile += place.warps)
    row_each_<batch>(place, tile, count, load, visit);
}

/* Gives visit all elements of a row, vectors of size neighbours, batch at a time: of the
 * tiles of this thread's warp as above, but not of the same elements, so that sums by
 * lanes want their pairs. load.fetch moves a batch before load.floats makes floats of it
 * and visit stores any of them. Pairs end a row, and are one that is not aligned. */
template <unsigned size, unsigned batch, class Load, class Visit>
static __device__ __forceinline__ void row_each_vector_(const row_place_ &place,
                                                        const Load &load, Visit &visit) {
  const unsigned step = size * static_cast<unsigned>(place.lanes);
  const bool is_whole =
      load.template takes_vectors<size>() && visit.template takes_vectors<size>();
  for (unsigned tile = place.warp; tile * row_tile_ < place.columns;
       tile += place.warps) {
    const unsigned first = tile * row_tile_;
    const unsigned end =
        place.columns - first < row_tile_ ? place.columns : first + row_tile_;
    const unsigned rest = is_whole ? end - end % size : first; /* no vectors, but pairs */
    for (unsigned i = first + size * place.lane; i < rest; i += batch * step) {
      typename Load::template vectors<size, batch> fetched;
      unsigned at[batch]; /* of those past the end the first one again */
      MPNUM_UNROLL_
      for (unsigned b = 0; b < batch; ++b)
        at[b] = i + b * step < rest ? i + b * step : i;
      load.fetch(fetched, at, row_whole_pair_());
      MPNUM_UNROLL_
      for (unsigned b = 0; b < batch; ++b)
        if (b == 0 || at[b] != i)
          visit.vector(at[b], load.floats(fetched, b), row_whole_pair_());
    }
    for (unsigned i = rest + 2 * place.lane; i < end; i += step / size * 2) {
      typename Load::template vectors<2, 1> fetched;
      load.fetch(fetched, &i, row_any_());
      visit.vector(i, load.floats(fetched, 0), row_any_());
    }
  }
}

/* So that what is made of a word is made again, not kept: floats, or addresses. */
static __device__ __forceinline__ void row_hide_(uint32_t &word) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(word));
#else
  (void)word;
#endif
}

/* Of all threads of a row, for each of them. */
static __device__ __forceinline__ uint32_t row_max_(const row_place_ &place,
                                                    uint32_t value, uint32_t *scratch) {
  if (place.warps > 1) return mpnum_block_max_u32_(value, scratch);
  if (place.lanes == 32) return mpnum_warp_max_u32_(value);
  for (int step = place.lanes / 2; step > 0; step /= 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffffu, value, step);
    value = other > value ? other : value;
  }
  return value;
}
static __device__ __forceinline__ uint32_t row_count_(const row_place_ &place,
                                                      uint32_t value, uint32_t *scratch) {
  if (place.warps > 1) return mpnum_block_sum_u32_(value, scratch);
  for (int step = place.lanes / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}
/* The sum of a tile, its 64 lanes by halves; of few threads the other lanes are 0. */
static __device__ __forceinline__ float row_folded_(const row_place_ &place, pair_ sum) {
  for (int step = place.lanes / 2; step > 0; step /= 2) {
    sum.at[0] =
        mpnum_add_scalar_(sum.at[0], __shfl_xor_sync(0xffffffffu, sum.at[0], step));
    sum.at[1] =
        mpnum_add_scalar_(sum.at[1], __shfl_xor_sync(0xffffffffu, sum.at[1], step));
  }
  return mpnum_add_scalar_(sum.at[0], sum.at[1]);
}
/* Two neighbours to a row of T, from i on. */
template <class T, class Part>
static __device__ __forceinline__ void row_store_(T *dst, size_t i, unsigned columns,
                                                  pair_ y, Part) {
  const mpnum_lanes<T, 2> codes = row_codes_<T>::of(y);
  if (Part::is_whole)
    *reinterpret_cast<mpnum_lanes<T, 2> *>(dst + i) = codes;
  else
    mpnum_store(dst + i, codes, columns - i);
}
template <class Element, class T, class Part>
static __device__ __forceinline__ pair_ row_load_as_(const T *src, size_t i,
                                                     unsigned columns, Part) {
  const mpnum_lanes<T, 2> codes =
      Part::is_whole ? *reinterpret_cast<const mpnum_lanes<T, 2> *>(src + i)
                     : mpnum_load<2>(src + i, columns - i);
  const pair_ x = {{Element::in(codes.at[0]), Element::in(codes.at[1])}};
  return x;
}
template <class T, class Part>
static __device__ __forceinline__ pair_ row_load_(const T *src, size_t i,
                                                  unsigned columns, Part part) {
  return row_load_as_<row_element_<T>>(src, i, columns, part);
}
/* Neighbours of a row, from i on; those past the end are 0, and are not stored. */
template <unsigned size, class T, class Part>
static __device__ __forceinline__ mpnum_lanes<T, size>
row_fetch_vector_(const T *src, size_t i, unsigned columns, Part) {
  return Part::is_whole ? *reinterpret_cast<const mpnum_lanes<T, size> *>(src + i)
                        : mpnum_load<size>(src + i, columns - i);
}
template <class T, unsigned size>
static __device__ __forceinline__ mpnum_lanes<float, size>
row_floats_(const mpnum_lanes<T, size> &codes) {
  mpnum_lanes<float, size> x;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j)
    x.at[j] = row_element_<T>::in(codes.at[j]);
  return x;
}
template <class T, unsigned size>
static __device__ __forceinline__ mpnum_lanes<T, size>
row_codes_of_(const mpnum_lanes<float, size> &y) {
  mpnum_lanes<T, size> codes;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; j += 2) {
    const pair_ pair = {{y.at[j], y.at[j + 1]}};
    const mpnum_lanes<T, 2> both = row_codes_<T>::of(pair);
    codes.at[j] = both.at[0];
    codes.at[j + 1] = both.at[1];
  }
  return codes;
}
/* Codes of a whole vector; of 16 bits by words of two, which compilers take apart as
 * codes. */
template <class T, unsigned size, size_t bytes = sizeof(T)> struct row_storer_ {
  static __device__ __forceinline__ void store(T *dst,
                                               const mpnum_lanes<float, size> &y) {
    *reinterpret_cast<mpnum_lanes<T, size> *>(dst) = row_codes_of_<T>(y);
  }
};
template <class T, unsigned size> struct row_storer_<T, size, 2> {
  static __device__ __forceinline__ void store(T *dst,
                                               const mpnum_lanes<float, size> &y) {
    mpnum_lanes<uint32_t, size / 2> words;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; j += 2) {
      const pair_ pair = {{y.at[j], y.at[j + 1]}};
      words.at[j / 2] = row_codes_<T>::word(pair);
    }
    *reinterpret_cast<mpnum_lanes<uint32_t, size / 2> *>(dst) = words;
  }
};
template <class T, unsigned size, class Part>
static __device__ __forceinline__ void
row_store_vector_(T *dst, size_t i, unsigned columns, const mpnum_lanes<float, size> &y,
                  Part) {
  if (Part::is_whole)
    row_storer_<T, size>::store(dst + i, y);
  else
    mpnum_store(dst + i, row_codes_of_<T>(y), columns - i);
}
/* Of a row that is kept in shared memory, by fours, or pairs, whose last one may end in
 * what is between rows. */
struct row_kept_loader_ {
  template <unsigned size, unsigned batch> struct vectors {
    mpnum_lanes<float, size> x[batch];
  };
  const float *kept;
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return true;
  }
  template <unsigned size, unsigned batch, class Part>
  __device__ __forceinline__ void fetch(vectors<size, batch> &fetched, const unsigned *at,
                                        Part) const {
    typedef mpnum_lanes < float, size<4 ? size : 4> piece;
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b)
      MPNUM_UNROLL_
    for (unsigned j = 0; j < size; j += 4)
      *reinterpret_cast<piece *>(fetched.x[b].at + j) =
          *reinterpret_cast<const piece *>(kept + at[b] + j);
  }
  template <unsigned size, unsigned batch>
  __device__ __forceinline__ mpnum_lanes<float, size>
  floats(const vectors<size, batch> &fetched, unsigned b) const {
    return fetched.x[b];
  }
};
/* Vectors of two that are kept. */
template <unsigned size> struct slopes_ { mpnum_lanes<float, size> dy, y; };
struct row_kept_slopes_ {
  template <unsigned size, unsigned batch> struct vectors {
    row_kept_loader_::vectors<size, batch> dy, y;
  };
  row_kept_loader_ dy, y;
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return true;
  }
  template <unsigned size, unsigned batch, class Part>
  __device__ __forceinline__ void fetch(vectors<size, batch> &fetched, const unsigned *at,
                                        Part part) const {
    dy.fetch(fetched.dy, at, part);
    y.fetch(fetched.y, at, part);
  }
  template <unsigned size, unsigned batch>
  __device__ __forceinline__ slopes_<size> floats(const vectors<size, batch> &fetched,
                                                  unsigned b) const {
    const slopes_<size> both = {fetched.dy.x[b], fetched.y.x[b]};
    return both;
  }
};
template <unsigned size>
static __device__ __forceinline__ void
row_keep_vector_(float *kept, size_t i, const mpnum_lanes<float, size> &x) {
  typedef mpnum_lanes < float, size<4 ? size : 4> piece;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; j += 4)
    *reinterpret_cast<piece *>(kept + i + j) = *reinterpret_cast<const piece *>(x.at + j);
}

} // namespace mpnum

#if !MPNUM_HAS_NVRTC_

/* How blocks share rows. Longer ones have the shared memory for which the current device
 * has to be asked, if they fit; it is allowed to the kernel as a whole, so that launches
 * of other threads never find less. Neither waits, and both may be captured. most: the
 * floats that a block may have, where it was asked for. */
static inline cudaError_t mpnum_row_shape_(mpnum::row_shape_ *shape, const void *kernel,
                                           unsigned columns, unsigned planes,
                                           unsigned *most = 0) {
  const unsigned usual = mpnum::row_kept_;
  unsigned room = usual;
  int device = 0, bytes = 0;
  cudaError_t error = cudaSuccess;
  *shape = mpnum::row_shape_of_(columns, planes, room);
  if (shape->kept || columns == 0) return error;
  error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error =
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  bytes -= static_cast<int>(mpnum::row_scratch_);
  if (bytes > 0) room = static_cast<unsigned>(bytes) / 4; /* floats */
  if (room <= usual) return error;
  if (most) *most = room;
  *shape = mpnum::row_shape_of_(columns, planes, room);
  return shape->kept ? cudaFuncSetAttribute(
                           kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)
                     : error;
}
/* Allows a kernel bytes of dynamic shared memory, if a block of the current device has
 * them, beside those of kernels anyway. */
static inline cudaError_t mpnum_row_allow_(bool *fits, const void *kernel, size_t bytes) {
  int device = 0, most = 0;
  cudaError_t error = cudaSuccess;
  *fits = bytes <= mpnum::row_kept_ * sizeof(float);
  if (*fits) return error;
  error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error =
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  *fits =
      error == cudaSuccess && bytes + mpnum::row_scratch_ <= static_cast<size_t>(most);
  return *fits ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      most - static_cast<int>(mpnum::row_scratch_))
               : error;
}
/* A launch of blocks of that shape over the rows of a job, one at least. */
template <class Job, class From>
static inline cudaError_t
mpnum_launch_shape_(void (*kernel)(Job), Job &job, const From &from,
                    const mpnum::row_shape_ &shape, size_t bytes, cudaStream_t stream) {
  const size_t blocks = (from.rows - 1) / shape.rows + 1;
  void *pointers[] = {&job};
  return mpnum_launch_kernel_(kernel, mpnum_grid_of_(blocks),
                              dim3(shape.threads, shape.rows), pointers, bytes, stream);
}
/* A launch over the rows of a job, one at least, which from, its source, says; planes
 * floats of each element are kept. */
template <class Job, class From>
static inline cudaError_t mpnum_launch_rows_(void (*kernel)(Job), Job &job, From &from,
                                             unsigned planes, cudaStream_t stream) {
  mpnum::row_shape_ shape;
  const cudaError_t error = mpnum_row_shape_(
      &shape, reinterpret_cast<const void *>(kernel), from.columns, planes);
  if (error != cudaSuccess) return error;
  from.kept = shape.kept;
  return mpnum_launch_shape_(kernel, job, from, shape,
                             static_cast<size_t>(shape.rows) * shape.kept * sizeof(float),
                             stream);
}

#endif

MPNUM_C_END_
#endif

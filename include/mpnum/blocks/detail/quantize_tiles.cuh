/* SPDX-License-Identifier: MIT */
/* Kernels that make codes with a scale for each block, by row and by tiles, and find the
 * largest magnitude of a matrix: what launchers of quantize_blocks.cuh launch. */
#ifndef MPNUM_BLOCKS_DETAIL_QUANTIZE_TILES_CUH
#define MPNUM_BLOCKS_DETAIL_QUANTIZE_TILES_CUH

#include "../../cuda/block.cuh"
#include "../../array/detail/source.cuh"
MPNUM_C_BEGIN_

/* Quantises `count` vectors of a thread, which are job.step elements from each other, the
 * first one at (row, column). */
template <class Blocks, class T, unsigned count, bool is_whole, class Source>
static __device__ __forceinline__ void
mpnum_quantize_vectors_(const Source &src, const mpnum_quantize_job_ &job, size_t row,
                        size_t vector, unsigned first) {
  enum { n = mpnum_neighbours_<T, Source>::count };
  typedef mpnum_shared_blocks_<Blocks::edge / n, count> shared;
  typedef mpnum_origin_<Source> origin;
  const Source &at = origin::ahead(src, row * job.stride + vector * n + first * job.step);
  uint8_t *const codes = job.rows.codes + row * job.rows.pitch +
                         vector * (n * Blocks::bits / 8) + first * job.rows.step;
  mpnum_row_scales_<Blocks, n, count> scales;
  typename origin::template loads<n> read[count];
  typename origin::template common<n> common;
  mpnum_lanes<T, n> in[count];
  MPNUM_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    const mpnum_tile_place_ own(job, row, vector, first + v);
    mpnum_read_place_ place = {own.row, own.vector * n, 0, 0, 0};
    if (is_whole) place = mpnum_read_place_of_<n>(job, row, vector, v);
    read[v] =
        origin::template load<n>(origin::ahead(at, v * job.step), job, place, is_whole);
  }
  MPNUM_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    const mpnum_tile_place_ own(job, row, vector, first + v);
    in[v] = origin::template value<n>(at, read[v], own.vector * n, common);
  }
  scales.find(mpnum_quantize_rule_<Blocks>(job), in);
  const mpnum_random_keys_ keys =
      Blocks::is_stochastic ? mpnum_held_keys_(job.seed) : mpnum_random_keys_();
  MPNUM_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    const mpnum_tile_place_ own(job, row, vector, first + v);
    uint32_t random[n] = {0};
    if (Blocks::is_stochastic)
      mpnum_quantize_words_(random, job, keys, own.row * job.stride + own.vector * n);
    mpnum_store_codes_<Blocks, n>(
        codes + v * job.rows.step, own.row, own.vector * n, job.height, job.width,
        is_whole, mpnum_quantize_lanes_<Blocks>(in[v], scales.factor(v), random));
  }
  if (!shared::is_first()) return;
  MPNUM_UNROLL_
  for (unsigned i = 0; i < shared::kept; ++i) {
    const mpnum_tile_place_ own(job, row, vector, first + shared::first() + i);
    if (is_whole || (own.row < job.height && own.vector * n < job.width))
      mpnum_put_scale_<Blocks, false>(job.rows, own.row, own.vector / (Blocks::edge / n),
                                      scales.codes[i]);
  }
}
/* Rows alone: blocks of 256 threads, 4 vectors each; random words of eights that are
 * computed want registers. */
template <class Blocks, class T, class Source = const T *>
static __global__ void __launch_bounds__(
    MPNUM_LAUNCH_THREADS_,
    mpnum_resident_<Source, Blocks::is_stochastic &&
                                    (mpnum_neighbours_<T, Source>::count > 16 / sizeof(T))
                                ? 2
                                : +Blocks::resident>::count)
    mpnum_quantize_rows_kernel_(Source src, mpnum_quantize_job_ job) {
  mpnum_begin_kernel_();
  enum { vectors = MPNUM_TILE_VECTORS_ };
  const mpnum_tile_place_ own(job);
  if (mpnum_is_whole_tile_(job)) {
    mpnum_quantize_vectors_<Blocks, T, vectors, true>(src, job, own.row, own.vector, 0);
    return;
  }
  MPNUM_NO_UNROLL_
  for (unsigned v = 0; v < vectors; ++v)
    mpnum_quantize_vectors_<Blocks, T, 1, false>(src, job, own.row, own.vector, v);
}

/* Four rows of a tile that a thread has, and what becomes of them once the factors of
 * columns are known. */
template <class Blocks, class T, bool is_whole, class Source> struct mpnum_tile_rows_ {
  typedef mpnum_geometry_<T, Blocks::edge, Source> tile;
  static constexpr unsigned n = tile::n;
  static constexpr unsigned down = tile::rows / Blocks::edge; /* blocks in a tile */
  static constexpr unsigned across =
      Blocks::is_square ? tile::columns / Blocks::edge : tile::columns;
  typedef mpnum_turned_<Blocks::bits, tile::rows> layout;
  typedef mpnum_block_words_<Blocks, n> words;
  mpnum_lanes<T, n> in[4];
  size_t row, column; /* of the matrix, of the first element */
  unsigned y, x;      /* and of the tile */

  __device__ __forceinline__ void load(const Source &src, const mpnum_quantize_job_ &job,
                                       size_t first_row, size_t first_column,
                                       unsigned part) {
    typedef mpnum_origin_<Source> origin;
    enum { batch = n * sizeof(T) <= 16 ? 4 : MPNUM_HAS_HW_FP8_ ? 2 : 1 };
    typename origin::template common<n> common;
    const unsigned thread = threadIdx.x;
    x = thread % tile::lanes * n;
    y = thread / tile::lanes * 4 + part * tile::part;
    row = first_row + y;
    column = first_column + x;
    const Source &at = origin::ahead(src, row * job.stride + column);
    MPNUM_UNROLL_
    for (unsigned first = 0; first < 4; first += batch) {
      typename origin::template loads<n> read[batch];
      MPNUM_UNROLL_
      for (unsigned v = 0; v < batch; ++v) {
        const mpnum_read_place_ place = {row, column, first + v, 1, 0};
        read[v] = origin::template load<n>(origin::ahead(at, (first + v) * job.stride),
                                           job, place, is_whole);
      }
      MPNUM_UNROLL_
      for (unsigned v = 0; v < batch; ++v)
        in[first + v] = origin::template value<n>(at, read[v], column, common);
    }
  }
  /* Raises the largest magnitudes of the blocks, in shared memory. Threads of a warp that
   * are not in one row of threads have the same columns, and the same blocks of them. */
  __device__ __forceinline__ void raise(uint32_t *amax) const {
    const bool is_first = tile::lanes == 32 || threadIdx.x % 32 < tile::lanes;
    uint32_t *const own = amax + y / Blocks::edge * across;
    if (Blocks::is_square) {
      const unsigned sharers = Blocks::edge / n;
      uint32_t word = 0;
      MPNUM_UNROLL_
      for (unsigned v = 0; v < 4; ++v) {
        const uint32_t other = mpnum_magnitude_of_(in[v]);
        word = other > word ? other : word;
      }
      word = mpnum_lanes_max_<sharers>(word);
      if (tile::lanes != 32) {
        const uint32_t other = __shfl_xor_sync(0xffffffffu, word, tile::lanes);
        word = other > word ? other : word;
      }
      if (is_first && threadIdx.x % sharers == 0) atomicMax(own + x / Blocks::edge, word);
    } else {
      typedef mpnum::magnitudes_<T> magnitudes;
      enum { word_count = sizeof in[0] / 4, in_word = n / word_count };
      MPNUM_UNROLL_
      for (unsigned j = 0; j < word_count; ++j) {
        uint32_t most = 0;
        MPNUM_UNROLL_
        for (unsigned v = 0; v < 4; ++v) {
          uint32_t row_words[word_count];
          memcpy(row_words, &in[v], sizeof row_words);
          most = magnitudes::larger(most, row_words[j]);
        }
        if (tile::lanes != 32)
          most =
              magnitudes::larger(most, __shfl_xor_sync(0xffffffffu, most, tile::lanes));
        MPNUM_UNROLL_
        for (unsigned k = 0; k < in_word; ++k)
          if (is_first) atomicMax(own + x + j * in_word + k, magnitudes::part(most, k));
      }
    }
  }
  /* Codes, and scales by row; turned is in shared memory. */
  __device__ __forceinline__ void quantize(const mpnum_quantize_job_ &job,
                                           const mpnum_block_rule_ &rule,
                                           const uint32_t *factors,
                                           uint8_t *turned) const {
    const uint32_t *const own = factors + y / Blocks::edge * across;
    float factor[n];
    if (job.what & MPNUM_SIDE_ROWS_)
      by_row(job, rule,
             mpnum_f32_of_scalar_(Blocks::is_square ? own[x / Blocks::edge] : 0));
    if (!(job.what & MPNUM_SIDE_COLUMNS_)) return;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; ++j)
      factor[j] =
          mpnum_f32_of_scalar_(Blocks::is_square ? own[x / Blocks::edge] : own[x + j]);
    if (job.what & MPNUM_SIDE_TRANSPOSED_) {
      if (Blocks::is_stochastic)
        turn(job, factor, turned);
      else
        by_column_turned(factor, turned);
    } else {
      MPNUM_UNROLL_
      for (unsigned v = 0; v < 4; ++v)
        store(job.columns, job, v, by_column(job, v, factor));
    }
  }
  /* Of row v; made anew for either direction, so that those of four rows need no
   * registers. */
  __device__ __forceinline__ void
  words_of(uint32_t (&random)[n], const mpnum_quantize_job_ &job, unsigned v) const {
    if (!Blocks::is_stochastic) return;
    __syncwarp(); /* ptxas is not to make those of several rows at a time */
    mpnum_quantize_words_(random, job, (row + v) * job.stride + column);
  }
  __device__ __forceinline__ void store(const mpnum_quantize_side_ &side,
                                        const mpnum_quantize_job_ &job, unsigned v,
                                        const words &made) const {
    mpnum_store_codes_<Blocks, n>(side.codes + (row + v) * side.pitch +
                                      column * Blocks::bits / 8,
                                  row + v, column, job.height, job.width, is_whole, made);
  }
  /* factor: of a square. */
  __device__ __forceinline__ void by_row(const mpnum_quantize_job_ &job,
                                         const mpnum_block_rule_ &rule,
                                         float factor) const {
    typedef mpnum_shared_blocks_<Blocks::edge / n, 4> shared;
    mpnum_row_scales_<Blocks, n, 4> scales;
    if (!Blocks::is_square) scales.find(rule, in);
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v) {
      uint32_t random[n] = {0};
      words_of(random, job, v);
      /* Never, but ptxas is not to convert several rows at a time. */
      if (n * sizeof(T) > 16 && !MPNUM_HAS_HW_FP8_ && v > 0 && job.height == 0) return;
      store(job.rows, job, v,
            mpnum_quantize_lanes_<Blocks>(
                in[v], Blocks::is_square ? factor : scales.factor(v), random));
    }
    MPNUM_UNROLL_
    for (unsigned i = 0; i < shared::kept; ++i) {
      const size_t own = row + shared::first() + i, block = column / Blocks::edge;
      if (!Blocks::is_square && shared::is_first() &&
          (is_whole || (own < job.height && block * Blocks::edge < job.width)))
        mpnum_put_scale_<Blocks, false>(job.rows, own, block, scales.codes[i]);
    }
  }
  __device__ __forceinline__ void by_column_turned(const float (&factor)[n],
                                                   uint8_t *turned) const {
    const uint32_t random[4] = {0};
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; ++j) {
      const float scaled[4] = {scaled_at(0, j, factor[j]), scaled_at(1, j, factor[j]),
                               scaled_at(2, j, factor[j]), scaled_at(3, j, factor[j])};
      const uint32_t word = mpnum::block_codes_<Blocks>(scaled, random);
      mpnum_put_turned_<Blocks::bits, tile::rows>(
          turned, x + j, y, mpnum_bits_of_scalar_(factor[j]) == 0 ? 0 : word);
    }
  }
  /* The same of codes made row by row; those past the last one become 0, as on hosts. */
  __device__ __forceinline__ void turn(const mpnum_quantize_job_ &job,
                                       const float (&factor)[n], uint8_t *turned) const {
    words made[4];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v)
      made[v] = by_column(job, v, factor);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; ++j) {
      uint32_t word = 0;
      MPNUM_UNROLL_
      for (unsigned v = 0; v < 4; ++v)
        if (is_whole || row + v < job.height) word |= made[v].code(j) << v * Blocks::bits;
      mpnum_put_turned_<Blocks::bits, tile::rows>(turned, x + j, y, word);
    }
  }
  static constexpr uint32_t ones = (1u << Blocks::bits) - 1;
  __device__ __forceinline__ float scaled_at(unsigned v, unsigned j, float factor) const {
    return mpnum::block_scaled_<Blocks>(mpnum::element_at_(in[v], j), factor);
  }
  __device__ __forceinline__ words by_column(const mpnum_quantize_job_ &job, unsigned v,
                                             const float (&factor)[n]) const {
    uint32_t random[n] = {0};
    words out;
    words_of(random, job, v);
    uint32_t least = 0xffffffffu;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; ++j) {
      const uint32_t bits = mpnum_bits_of_scalar_(factor[j]);
      least = bits < least ? bits : least;
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; j += 4) {
      float scaled[4];
      const uint32_t four[4] = {random[j], random[j + 1], random[j + 2], random[j + 3]};
      MPNUM_UNROLL_
      for (unsigned k = 0; k < 4; ++k)
        scaled[k] = scaled_at(v, j + k, factor[j + k]);
      out.put(j / 4, mpnum::block_codes_<Blocks>(scaled, four));
    }
    if (least == 0) without_zeros(out, factor);
    return out;
  }
  /* The same where some factors are 0, which few are. */
  static __device__ __forceinline__ void without_zeros(words &made,
                                                       const float (&factor)[n]) {
    words keep;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; j += 4) {
      uint32_t kept = 0;
      MPNUM_UNROLL_
      for (unsigned k = 0; k < 4; ++k)
        if (mpnum_bits_of_scalar_(factor[j + k]) != 0) kept |= ones << k * Blocks::bits;
      keep.put(j / 4, kept);
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < sizeof made.all / sizeof made.all.at[0]; ++j)
      made.all.at[j] &= keep.all.at[j];
  }
};

/* A tile. amax, in shared memory, becomes the factors of blocks by column. */
template <class Blocks, class T, bool is_whole, class Source>
static __device__ __forceinline__ void
mpnum_quantize_tile_(const Source &src, const mpnum_quantize_job_ &job, size_t first_row,
                     size_t first_column, uint32_t *amax, uint8_t *turned) {
  typedef mpnum_tile_rows_<Blocks, T, is_whole, Source> own;
  typedef typename own::tile tile;
  enum { blocks = own::down * own::across, parts = tile::rows / tile::part };
  const mpnum_block_rule_ rule = mpnum_quantize_rule_<Blocks>(job);
  typedef mpnum_tile_sums_<Source> columns;
  own rows;
  columns sums;
  for (unsigned i = threadIdx.x; i < blocks; i += MPNUM_LAUNCH_THREADS_)
    amax[i] = 0;
  __syncthreads();
  for (unsigned part = 0; part < parts; ++part) {
    rows.load(src, job, first_row, first_column, part);
    if (Blocks::is_square || !columns::has_rows_alone(job.what)) rows.raise(amax);
    sums.template add<tile::lanes>(src, job, rows.in, first_row + part * tile::part,
                                   first_column, parts == 1);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < blocks; i += MPNUM_LAUNCH_THREADS_) {
    const unsigned wide = Blocks::is_square ? Blocks::edge : 1;
    const size_t row = first_row / Blocks::edge + i / own::across;
    const size_t column = first_column / wide + i % own::across;
    const mpnum_block_scale_scalar_ scale =
        mpnum::block_scale_<Blocks>(rule, mpnum_quantize_amax_<Blocks>(rule, amax[i]));
    amax[i] = mpnum_bits_of_scalar_(scale.factor);
    if (row * Blocks::edge >= job.height || column * wide >= job.width) continue;
    if (job.what & MPNUM_SIDE_COLUMNS_)
      mpnum_put_scale_<Blocks>(job.columns, row, column, scale.code);
    if (Blocks::is_square && job.what & MPNUM_SIDE_ROWS_)
      mpnum_put_scale_<Blocks>(job.rows, row, column, scale.code);
  }
  __syncthreads();
  for (unsigned part = 0; part < parts; ++part) {
    if (parts > 1) rows.load(src, job, first_row, first_column, part); /* from a cache */
    rows.quantize(job, rule, amax, turned);
  }
}

/* Columns, squares, or rows and columns: a tile for each block of 256 threads. */
template <class Blocks, class T, class Source = const T *>
static __global__ void
__launch_bounds__(MPNUM_LAUNCH_THREADS_,
                  mpnum_resident_<Source, Blocks::resident_tiles>::count)
    mpnum_quantize_tile_kernel_(Source src, mpnum_quantize_job_ job) {
  mpnum_begin_kernel_();
  typedef mpnum_tile_rows_<Blocks, T, true, Source> own;
  typedef typename own::tile tile;
  __shared__ uint32_t amax[own::down * own::across];
  __shared__ uint32_t turned_words[tile::columns * own::layout::pitch / 4];
  uint8_t *const turned = reinterpret_cast<uint8_t *>(turned_words);
  const size_t first_row = mpnum_tile_down_() * static_cast<size_t>(tile::rows);
  const size_t first_column = blockIdx.x * static_cast<size_t>(tile::columns);
  if (first_row >= job.height) return;
  if (mpnum_is_whole_tile_(job))
    mpnum_quantize_tile_<Blocks, T, true>(src, job, first_row, first_column, amax,
                                          turned);
  else
    mpnum_quantize_tile_<Blocks, T, false>(src, job, first_row, first_column, amax,
                                           turned);
  if (!(job.what & MPNUM_SIDE_TRANSPOSED_)) return;
  __syncthreads();
  mpnum_store_turned_<Blocks::bits, tile::rows>(
      job.columns.codes + first_column * job.columns.pitch + first_row * Blocks::bits / 8,
      job.columns.pitch, turned, tile::columns, job.width - first_column,
      job.height - first_row);
}

/* The largest finite magnitude of some vectors, which seldom have another one. */
template <class T, unsigned count>
static __device__ __forceinline__ uint32_t
mpnum_finite_amax_of_(const mpnum_vector_ (&in)[count]) {
  typedef mpnum::magnitudes_<T> magnitudes;
  uint32_t most = 0;
  MPNUM_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      most = magnitudes::larger(most, in[v].at[j]);
  }
  uint32_t largest = magnitudes::bits(magnitudes::folded(most));
  if (largest < 0x7f800000u) return largest;
  largest = 0;
  MPNUM_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    const mpnum_lanes<T, 16 / sizeof(T)> lanes =
        mpnum::copied_<mpnum_lanes<T, 16 / sizeof(T)>>(in[v]);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 16 / sizeof(T); ++j) {
      const float x = mpnum::element_at_(lanes, j);
      const uint32_t word = mpnum_bits_of_scalar_(x) & 0x7fffffffu;
      if (word < 0x7f800000u && word > largest) largest = word;
    }
  }
  return largest;
}
/* The largest finite magnitude of a matrix, into *amax; then S of it. Four vectors of a
 * thread are loaded before the first one is used, where src is aligned. */
template <class T, class Source = const T *>
static __global__ void
__launch_bounds__(MPNUM_LAUNCH_THREADS_,
                  mpnum_resident_<Source, MPNUM_LAUNCH_BLOCKS_>::count)
    mpnum_finite_amax_kernel_(float *amax, Source src, mpnum_quantize_job_ job) {
  mpnum_begin_kernel_();
  enum { n = 16 / sizeof(T), count = MPNUM_LAUNCH_VECTORS_ };
  typedef mpnum_origin_<Source> origin;
  typedef typename origin::template loads<n> loads;
  typename origin::template common<n> common;
  const size_t tile = MPNUM_LAUNCH_THREADS_ * n * static_cast<size_t>(count);
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  uint32_t largest = 0;
  for (size_t row = mpnum_tile_down_(); row < job.height; row += gridDim.y * gridDim.z)
    for (size_t i = blockIdx.x * tile; i < job.width; i += gridDim.x * tile) {
      const Source &at = origin::ahead(src, row * job.stride + i);
      const size_t left = job.width - i;
      uint32_t found = 0;
      mpnum_vector_ in[count];
      loads read[count];
      if (job.whole_across != 0 && left >= tile) {
        MPNUM_UNROLL_
        for (unsigned v = 0; v < count; ++v) {
          const size_t first = (v * MPNUM_LAUNCH_THREADS_ + threadIdx.x) * n;
          const mpnum_read_place_ place = {row, i + threadIdx.x * n, v, 0,
                                           MPNUM_LAUNCH_THREADS_ * n};
          read[v] = origin::template load<n>(origin::ahead(at, first), job, place, true);
        }
        MPNUM_UNROLL_
        for (unsigned v = 0; v < count; ++v) {
          const size_t first = (v * MPNUM_LAUNCH_THREADS_ + threadIdx.x) * n;
          in[v] = mpnum::copied_<mpnum_vector_>(
              origin::template value<n>(at, read[v], i + first, common));
        }
        found = mpnum_finite_amax_of_<T>(in);
      } else {
        MPNUM_NO_UNROLL_
        for (size_t first = threadIdx.x * n; first < left && first < tile;
             first += MPNUM_LAUNCH_THREADS_ * n) {
          const mpnum_read_place_ place = {row, i + first, 0, 0, 0};
          const loads some =
              origin::template load<n>(origin::ahead(at, first), job, place, false);
          const mpnum_vector_ one[1] = {mpnum::copied_<mpnum_vector_>(
              origin::template value<n>(at, some, i + first, common))};
          const uint32_t word = mpnum_finite_amax_of_<T>(one);
          found = word > found ? word : found;
        }
      }
      largest = found > largest ? found : largest;
    }
  largest = mpnum_block_max_u32_(largest, scratch);
  if (threadIdx.x == 0) mpnum_atomic_amax(amax, mpnum_f32_of_scalar_(largest));
}
template <class T> static __global__ void mpnum_nvfp4_scale_kernel_(T *scale) {
  mpnum_begin_kernel_();
  *scale = mpnum_nvfp4_scale(*scale);
}

MPNUM_C_END_
#endif

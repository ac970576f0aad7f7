/* SPDX-License-Identifier: MIT */
/* MX, NVFP4 and DeepSeek's FP8 on devices: matrices in device memory to codes with a
 * scale for each block, and back, as blockscale.h does on hosts. Rules of all launchers:
 * kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     const mpnum_blockscale_format format =
 *         mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
 *     mpnum_blockscaled by_row = {codes, columns, scales, scale_bytes, 1, 0};
 *     mpnum_launch_quantize_mx<mpnum_e4m3>(&by_row, NULL,
 *                                          mpnum::matrix_of(x, rows, columns),
 *                                          MPNUM_BLOCKSCALE_RCEIL,
 *                                          MPNUM_QUANTIZE_ROWS, stream);
 *
 * mpnum_blockscaled is blockscale.h's, its pointers to device memory; `scale` is not
 * looked at. by_row has blocks along rows of src, 1x32, by_column blocks along its
 * columns, 32x1, and `what` says which of the two are made, both from one read of src;
 * the other one may be NULL.
 *
 * By column, codes lie where their elements do, or with MPNUM_QUANTIZE_TRANSPOSED as rows
 * of the transposed matrix, `stride` being that of its rows. Scales of 32x1 blocks: a row
 * of them for each 32 rows of src, as mpnum_blockscale_transposed has it on hosts; those
 * of the transposed matrix where that is made. Swizzled: those of the operand as it is
 * multiplied, as on hosts (mpnum_blockscale_scale_bytes); padding is written as zeros.
 *
 * src, an mpnum::matrix of f32, f16 or bf16, or what is computed of some
 * (quantize_computed.cuh): row r begins at element r * stride. rows and columns may be
 * any number: a block at an end is short. Nothing past the columns is written. Inf and
 * NaN: as MPNUM_BLOCKSCALE_PROPAGATE. Bits: mpnum_quantize_blocks. Errors:
 * cudaErrorInvalidValue, nothing is launched: what blockscale.h refuses with a status,
 * arrays that overlap, no or unknown bits in `what`, scales that are floats at an odd
 * address. rows or columns 0: cudaSuccess, nothing is launched. */
#ifndef MPNUM_BLOCKS_QUANTIZE_BLOCKS_CUH
#define MPNUM_BLOCKS_QUANTIZE_BLOCKS_CUH

#include "blockscale_format.h"
#include "../array/matrix.cuh"
#include "../cuda/detail/quantize.cuh"
#include "../cuda/block.cuh"
#include "detail/dequantize_blocks.cuh"
MPNUM_C_BEGIN_

#define MPNUM_QUANTIZE_ROWS    1
#define MPNUM_QUANTIZE_COLUMNS 2
#define MPNUM_QUANTIZE_TRANSPOSED                      \
 4 /* codes by column as rows of the transposed matrix \
    */

/* Where elements come from: a matrix in memory, or what is computed of some
 * (quantize_computed.cuh). All that is read is loaded before the first value of it. */
template <class Source> struct mpnum_origin_;
template <class T> struct mpnum_origin_<const T *> {
  static constexpr int resident = 8; /* blocks of a multiprocessor, at most */
  template <unsigned N> using loads = mpnum_lanes<T, N>;
  static __device__ __forceinline__ const T *ahead(const T *at, size_t elements) {
    return at + elements;
  }
  template <unsigned N>
  static __device__ __forceinline__ loads<N>
  load(const T *at, const mpnum_quantize_job_ &job, size_t row, size_t column,
       bool is_whole) {
    return mpnum_load_of_matrix_<N>(at, job, row, column, is_whole);
  }
  template <unsigned N>
  static __device__ __forceinline__ const loads<N> &
  value(const T *, const loads<N> &loaded, size_t) {
    return loaded;
  }
};

template <class Source, int blocks> struct mpnum_resident_ {
  static constexpr int most = mpnum_origin_<Source>::resident;
  static constexpr int count = blocks < most ? blocks : most;
};

/* Quantises `count` vectors of a thread, which are job.step elements from each other, the
 * first one at (row, column). */
template <class Blocks, class T, unsigned count, bool is_whole, class Source>
static __device__ __forceinline__ void
mpnum_quantize_vectors_(const Source &src, const mpnum_quantize_job_ &job, size_t row,
                        size_t vector, unsigned first) {
  enum { n = 16 / sizeof(T) };
  typedef mpnum_shared_blocks_<Blocks::edge / n, count> shared;
  typedef mpnum_origin_<Source> origin;
  const Source &at = origin::ahead(src, row * job.stride + vector * n + first * job.step);
  uint8_t *const codes = job.rows.codes + row * job.rows.pitch +
                         vector * (n * Blocks::bits / 8) + first * job.rows.step;
  mpnum_row_scales_<Blocks, n, count> scales;
  typename origin::template loads<n> read[count];
  mpnum_lanes<T, n> in[count];
  MPNUM_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    const mpnum_tile_place_ own(job, row, vector, first + v);
    read[v] = origin::template load<n>(origin::ahead(at, v * job.step), job, own.row,
                                       own.vector * n, is_whole);
  }
  MPNUM_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    const mpnum_tile_place_ own(job, row, vector, first + v);
    in[v] = origin::template value<n>(at, read[v], own.vector * n);
  }
  scales.find(mpnum_quantize_rule_<Blocks>(job), in);
  MPNUM_UNROLL_
  for (unsigned v = 0; v < count; ++v) {
    const mpnum_tile_place_ own(job, row, vector, first + v);
    uint32_t random[n] = {0};
    if (Blocks::is_stochastic)
      mpnum_quantize_words_(random, job.seed,
                            job.offset + own.row * job.stride + own.vector * n);
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
/* Rows alone: blocks of 256 threads, 4 vectors each. */
template <class Blocks, class T, class Source = const T *>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_,
                                         mpnum_resident_<Source, Blocks::resident>::count)
    mpnum_quantize_rows_kernel_(Source src, mpnum_quantize_job_ job) {
  enum { n = 16 / sizeof(T), vectors = MPNUM_TILE_VECTORS_ };
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
template <class Blocks, class T, bool is_whole> struct mpnum_tile_rows_ {
  typedef mpnum_geometry_<T, Blocks::edge> tile;
  static constexpr unsigned n = tile::n;
  static constexpr unsigned down = tile::rows / Blocks::edge; /* blocks in a tile */
  static constexpr unsigned across =
      Blocks::is_square ? tile::columns / Blocks::edge : tile::columns;
  typedef mpnum_turned_<Blocks::bits, tile::rows> layout;
  typedef mpnum_block_words_<Blocks, n> words;
  mpnum_lanes<T, n> in[4];
  size_t row, column; /* of the matrix, of the first element */
  unsigned y, x;      /* and of the tile */

  template <class Source>
  __device__ __forceinline__ void load(const Source &src, const mpnum_quantize_job_ &job,
                                       size_t first_row, size_t first_column,
                                       unsigned part) {
    typedef mpnum_origin_<Source> origin;
    typename origin::template loads<n> read[4];
    const unsigned thread = threadIdx.x;
    x = thread % tile::lanes * n;
    y = thread / tile::lanes * 4 + part * tile::part;
    row = first_row + y;
    column = first_column + x;
    const Source &at = origin::ahead(src, row * job.stride + column);
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v)
      read[v] = origin::template load<n>(origin::ahead(at, v * job.stride), job, row + v,
                                         column, is_whole);
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v)
      in[v] = origin::template value<n>(at, read[v], column);
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
    if (job.what & MPNUM_QUANTIZE_ROWS)
      by_row(job, rule,
             mpnum_f32_of_scalar_(Blocks::is_square ? own[x / Blocks::edge] : 0));
    if (!(job.what & MPNUM_QUANTIZE_COLUMNS)) return;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; ++j)
      factor[j] =
          mpnum_f32_of_scalar_(Blocks::is_square ? own[x / Blocks::edge] : own[x + j]);
    if (job.what & MPNUM_QUANTIZE_TRANSPOSED) {
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
    mpnum_quantize_words_(random, job.seed, job.offset + (row + v) * job.stride + column);
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
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; j += 4) {
      uint32_t keep = 0;
      float scaled[4];
      const uint32_t four[4] = {random[j], random[j + 1], random[j + 2], random[j + 3]};
      MPNUM_UNROLL_
      for (unsigned k = 0; k < 4; ++k) {
        scaled[k] = scaled_at(v, j + k, factor[j + k]);
        if (mpnum_bits_of_scalar_(factor[j + k]) != 0) keep |= ones << k * Blocks::bits;
      }
      out.put(j / 4, mpnum::block_codes_<Blocks>(scaled, four) & keep);
    }
    return out;
  }
};

/* A tile. amax, in shared memory, becomes the factors of blocks by column. */
template <class Blocks, class T, bool is_whole, class Source>
static __device__ __forceinline__ void
mpnum_quantize_tile_(const Source &src, const mpnum_quantize_job_ &job, size_t first_row,
                     size_t first_column, uint32_t *amax, uint8_t *turned) {
  typedef mpnum_tile_rows_<Blocks, T, is_whole> own;
  typedef typename own::tile tile;
  enum { blocks = own::down * own::across, parts = tile::rows / tile::part };
  const mpnum_block_rule_ rule = mpnum_quantize_rule_<Blocks>(job);
  own rows;
  for (unsigned i = threadIdx.x; i < blocks; i += MPNUM_LAUNCH_THREADS_)
    amax[i] = 0;
  __syncthreads();
  for (unsigned part = 0; part < parts; ++part) {
    rows.load(src, job, first_row, first_column, part);
    rows.raise(amax);
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
    if (job.what & MPNUM_QUANTIZE_COLUMNS)
      mpnum_put_scale_<Blocks>(job.columns, row, column, scale.code);
    if (Blocks::is_square && job.what & MPNUM_QUANTIZE_ROWS)
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
  typedef mpnum_tile_rows_<Blocks, T, true> own;
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
  if (!(job.what & MPNUM_QUANTIZE_TRANSPOSED)) return;
  __syncthreads();
  mpnum_store_turned_<Blocks::bits, tile::rows>(
      job.columns.codes + first_column * job.columns.pitch + first_row * Blocks::bits / 8,
      job.columns.pitch, turned, tile::columns, job.width - first_column,
      job.height - first_row);
}

/* Vectors of a thread from number `first` on, element by element. */
template <class Blocks, class T>
static __device__ __forceinline__ void
mpnum_dequantize_vectors_(T *dst, const mpnum_quantize_job_ &job,
                          const mpnum_quantize_side_ &side, float tensor,
                          const mpnum_tile_place_ &begin, unsigned first) {
  enum { n = 16 / sizeof(T), vectors = MPNUM_TILE_VECTORS_ };
  enum { bits = Blocks::bits, by_element = 1 << bits };
  typedef typename Blocks::Code Code;
  typedef typename mpnum_codes_back_<Blocks, T>::lanes code_lanes;
  const bool is_by_column = (job.what & MPNUM_QUANTIZE_COLUMNS) && !Blocks::is_square;
  const size_t high = is_by_column || Blocks::is_square ? Blocks::edge : 1;
  const size_t wide = is_by_column ? 1 : Blocks::edge;
  const bool is_whole = mpnum_is_whole_tile_(job);
  code_lanes in[vectors];
  MPNUM_UNROLL_
  for (unsigned v = 0; v < vectors; ++v) {
    const mpnum_tile_place_ own(job, begin.row, begin.vector, first + v);
    const size_t row = own.row, column = own.vector * n;
    const uint8_t *const at = side.codes + row * side.pitch + column * bits / 8;
    if (is_whole) {
      in[v] = *reinterpret_cast<const code_lanes *>(at);
    } else if (row < job.height && column < job.width) {
      in[v] = mpnum_load<n * bits / 8>(
          at, mpnum::dense_bytes_(Blocks::bits, job.width - column));
    }
  }
  MPNUM_UNROLL_
  for (unsigned v = 0; v < vectors; ++v) {
    const mpnum_tile_place_ own(job, begin.row, begin.vector, first + v);
    const size_t row = own.row, column = own.vector * n;
    if (!is_whole && (row >= job.height || column >= job.width)) continue;
    mpnum_lanes<T, n> out;
    float factor = 1;
    uint64_t word = 0;
    memcpy(&word, &in[v], sizeof in[v]);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; ++j) {
      if ((j == 0 || is_by_column) && (is_whole || column + j < job.width)) {
        const size_t at = mpnum_scale_index_<Blocks>(side, side.is_turned != 0,
                                                     row / high, (column + j) / wide);
        factor = mpnum_scale_back_<Blocks>(side, at);
      }
      const uint32_t code = static_cast<uint32_t>(word >> j * bits) & (by_element - 1);
      float y =
          mpnum_mul_scalar_(mpnum::element_of_(mpnum::from_bits<Code>(code)), factor);
      if (Blocks::family == mpnum::TWO_LEVEL_FAMILY_) y = mpnum_div_scalar_(y, tensor);
      mpnum::set_element_(out.at + j, mpnum_canonical_(y));
    }
    if (is_whole) {
      *reinterpret_cast<mpnum_lanes<T, n> *>(dst + row * job.stride + column) = out;
    } else {
      mpnum_store(dst + row * job.stride + column, out, job.width - column);
    }
  }
}

/* Codes times their scales. One side of the job is used, by what. */
template <class Blocks, class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_LAUNCH_BLOCKS_)
    mpnum_dequantize_blocks_kernel_(T *dst, mpnum_quantize_job_ job) {
  typedef mpnum_codes_back_<Blocks, T> back;
  __shared__ typename back::unit stage[MPNUM_LAUNCH_THREADS_];
  const mpnum_quantize_side_ side =
      job.what & MPNUM_QUANTIZE_COLUMNS ? job.columns : job.rows;
  const float tensor =
      Blocks::family == mpnum::TWO_LEVEL_FAMILY_ ? mpnum::scale_or_nan_(*job.scale) : 1;
  if (mpnum_is_whole_tile_(job) &&
      (Blocks::is_square || !(job.what & MPNUM_QUANTIZE_COLUMNS))) {
    mpnum_tile_back_<Blocks, T> tile;
    if (tile.load(stage, job, side, tensor)) {
      tile.store(dst, stage, job);
      return;
    }
  }
  const mpnum_tile_place_ begin(job, threadIdx.x, back::log2_vectors);
  MPNUM_NO_UNROLL_
  for (unsigned first = 0; first < back::vectors; first += MPNUM_TILE_VECTORS_)
    mpnum_dequantize_vectors_<Blocks>(dst, job, side, tensor, begin, first);
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
  enum { n = 16 / sizeof(T), count = MPNUM_LAUNCH_VECTORS_ };
  typedef mpnum_origin_<Source> origin;
  typedef typename origin::template loads<n> loads;
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
          read[v] = origin::template load<n>(origin::ahead(at, first), job, row,
                                             i + first, true);
        }
        MPNUM_UNROLL_
        for (unsigned v = 0; v < count; ++v) {
          const size_t first = (v * MPNUM_LAUNCH_THREADS_ + threadIdx.x) * n;
          in[v] = mpnum::copied_<mpnum_vector_>(
              origin::template value<n>(at, read[v], i + first));
        }
        found = mpnum_finite_amax_of_<T>(in);
      } else {
        MPNUM_NO_UNROLL_
        for (size_t first = threadIdx.x * n; first < left && first < tile;
             first += MPNUM_LAUNCH_THREADS_ * n) {
          const loads some = origin::template load<n>(origin::ahead(at, first), job, row,
                                                      i + first, false);
          const mpnum_vector_ one[1] = {mpnum::copied_<mpnum_vector_>(
              origin::template value<n>(at, some, i + first))};
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
  *scale = mpnum_nvfp4_scale(*scale);
}

#if !MPNUM_HAS_NVRTC_

/* Makes a side of a job: codes by row, or by column. False if it is none. format: of
 * blocks along rows. bytes: those of codes and of scales. */
static inline bool mpnum_quantize_side_of_(mpnum_quantize_side_ *side, size_t bytes[2],
                                           const mpnum_blockscale_format &format,
                                           const mpnum_blockscaled *codes, int what,
                                           size_t rows, size_t columns) {
  if (!codes) return false;
  const bool is_by_column = (what & MPNUM_QUANTIZE_COLUMNS) != 0;
  const bool is_transposed = (what & MPNUM_QUANTIZE_TRANSPOSED) != 0;
  const bool is_turned = is_transposed || (is_by_column && codes->is_swizzled &&
                                           format.rows != format.columns);
  const mpnum_blockscale_format lying =
      is_by_column && !is_transposed ? mpnum_blockscale_transposed(format) : format;
  const size_t high = is_transposed ? columns : rows;
  const size_t wide = is_transposed ? rows : columns;
  mpnum_blockscaled checked = *codes; /* what a host refuses */
  checked.scale = 1;
  if (mpnum_blockscaled_check_(&lying, &checked, high, wide, bytes) != MPNUM_OK ||
      (format.scale_type == MPNUM_TYPE_F32 &&
       reinterpret_cast<size_t>(codes->scale_inv) % 4 != 0))
    return false;
  side->codes = static_cast<uint8_t *>(codes->codes);
  side->scale_inv = static_cast<uint8_t *>(codes->scale_inv);
  side->pitch =
      mpnum::dense_bytes_(static_cast<unsigned>(format.element_bits), codes->stride);
  side->is_swizzled = codes->is_swizzled;
  side->is_turned = is_turned;
  side->across = is_turned ? mpnum_blocks_along_(rows, format.columns)
                           : mpnum_blocks_along_(columns, lying.columns);
  size_t swizzled[2] = {0, 0};
  mpnum_swizzled_size_(&lying, swizzled, high, wide);
  side->down = swizzled[0];
  side->cleared =
      codes->is_swizzled && swizzled[0] * swizzled[1] != bytes[1] ? bytes[1] : 0;
  return true;
}
/* Whether neither codes nor scales of a side are in some memory. */
static inline bool mpnum_side_avoids_(const mpnum_quantize_side_ &side,
                                      const size_t bytes[2], const void *data,
                                      size_t extent) {
  return !mpnum_overlap_(side.codes, bytes[0], data, extent) &&
         !mpnum_overlap_(side.scale_inv, bytes[1], data, extent);
}
namespace mpnum {
/* A matrix in memory as launches take what they quantise, or make. */
template <class T> struct in_memory_ {
  typedef T element;
  typedef const T *source; /* of kernels */
  T *data;
  size_t rows, columns, stride;
  bool is_valid() const { return mpnum_has_floats_(type_of<T>::value); }
  size_t extent() const {
    return data && stride >= columns
               ? mpnum_extent_(rows, columns, stride, mpnum_type_bits_(type_of<T>::value))
               : 0;
  }
  bool is_readable() const { return extent() != 0; }
  bool avoids(const mpnum_quantize_side_ &side, const size_t bytes[2]) const {
    return mpnum_side_avoids_(side, bytes, data, extent());
  }
  bool is_aligned() const {
    return mpnum_launch_aligned_(data, rows == 1 ? 0 : stride * sizeof(T), 16);
  }
  /* As few rows of the same elements. */
  in_memory_ flat() const {
    const in_memory_ one = {data, 1, rows * columns, rows * columns};
    return stride == columns ? one : *this;
  }
  source on_device() const { return data; }
};
template <class T> static inline in_memory_<T> quantizable_(const matrix<T> &x) {
  const in_memory_<T> made = {x.data, x.rows, x.columns, x.stride};
  return made;
}
template <class T> static inline in_memory_<T> quantizable_(const matrix<const T> &x) {
  const in_memory_<T> made = {const_cast<T *>(x.data), x.rows, x.columns, x.stride};
  return made;
}
} // namespace mpnum
static inline cudaError_t mpnum_clear_scales_(const mpnum_quantize_side_ &side,
                                              cudaStream_t stream) {
  if (side.cleared == 0) return cudaSuccess;
  return cudaMemsetAsync(side.scale_inv, 0, side.cleared, stream);
}

/* Cuts a matrix into tiles of 1 << log2_vectors vectors, rows of 1 << shift, so that few
 * of those are past its end: not of 512 or more but for a whole tile, with which the
 * vectors of a thread have no one distance. bytes: those of the codes of a vector. False:
 * too many for a grid. */
static inline bool mpnum_quantize_tiles_(dim3 *grid, mpnum_quantize_job_ *job,
                                         mpnum_quantize_side_ *side, size_t lanes,
                                         size_t bytes, unsigned least_shift,
                                         bool is_aligned, unsigned log2_vectors) {
  const size_t vectors = job->width / lanes + (job->width % lanes != 0);
  const size_t limit = 0x7fffffff;
  unsigned shift = log2_vectors;
  while (shift > least_shift &&
         ((shift > 8 && shift < log2_vectors) ||
          ((vectors - 1) >> shift) + 1 > (vectors + vectors / 8) >> shift))
    --shift;
  const size_t across = ((vectors - 1) >> shift) + 1;
  const size_t down = ((job->height - 1) >> (log2_vectors - shift)) + 1;
  const size_t rows = MPNUM_LAUNCH_THREADS_ >> shift;
  if (across > limit / down) return false;
  job->shift = shift;
  job->whole_across = is_aligned ? static_cast<unsigned>(job->width / lanes >> shift) : 0;
  job->whole_down = static_cast<unsigned>(job->height >> (log2_vectors - shift));
  job->step = rows ? rows * job->stride : MPNUM_LAUNCH_THREADS_ * lanes;
  side->step = rows ? rows * side->pitch : MPNUM_LAUNCH_THREADS_ * bytes;
  *grid = mpnum_tile_grid_(across, down);
  return true;
}

/* Squares have no kernel for rows alone. */
template <class Blocks, class T, bool is_square> struct mpnum_launch_row_blocks_ {
  template <class Source>
  static cudaError_t launch(Source, mpnum_quantize_job_, bool, cudaStream_t) {
    return cudaErrorInvalidValue;
  }
};
template <class Blocks, class T> struct mpnum_launch_row_blocks_<Blocks, T, false> {
  template <class Source>
  static cudaError_t launch(Source src, mpnum_quantize_job_ job, bool is_aligned,
                            cudaStream_t stream) {
    const unsigned n = mpnum_geometry_<T, Blocks::edge>::n;
    dim3 grid(1);
    if (!mpnum_quantize_tiles_(
            &grid, &job, &job.rows, n, n * Blocks::bits / 8,
            mpnum::log2_<Blocks::edge / mpnum_geometry_<T, Blocks::edge>::n>::value,
            is_aligned, MPNUM_TILE_LOG2_VECTORS_))
      return cudaErrorInvalidValue;
    const cudaError_t error = mpnum_clear_scales_(job.rows, stream);
    if (error != cudaSuccess) return error;
    return mpnum_launch_grid_(mpnum_quantize_rows_kernel_<Blocks, T, Source>, grid,
                              MPNUM_LAUNCH_THREADS_, stream, src, job);
  }
};

/* The job of a launch, false where it is refused. is_aligned: vectors are. */
template <class Blocks, class Matrix>
static inline bool mpnum_quantize_job_of_(mpnum_quantize_job_ &job, bool &is_aligned,
                                          const mpnum_blockscale_format &format,
                                          const mpnum_blockscaled *by_row,
                                          const mpnum_blockscaled *by_column,
                                          const Matrix &src, const float *scale,
                                          int what) {
  typedef mpnum_geometry_<typename Matrix::element, Blocks::edge> tile;
  const size_t rows = src.rows, columns = src.columns;
  const size_t vector = alignof(mpnum_lanes<uint8_t, tile::n * Blocks::bits / 8>);
  const int turned = MPNUM_QUANTIZE_COLUMNS | MPNUM_QUANTIZE_TRANSPOSED;
  job = mpnum_quantize_job_();
  size_t bytes[2] = {0, 0}, others[2] = {0, 0};
  if (what & ~(MPNUM_QUANTIZE_ROWS | turned) ||
      !(what & (MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS)) ||
      (what & turned) == MPNUM_QUANTIZE_TRANSPOSED ||
      (Blocks::family == mpnum::TWO_LEVEL_FAMILY_ && !scale) || !src.is_valid())
    return false;
  if (rows == 0 || columns == 0) return true;
  if (!src.is_readable()) return false;
  is_aligned = src.is_aligned();
  if (what & MPNUM_QUANTIZE_ROWS) {
    if (!mpnum_quantize_side_of_(&job.rows, bytes, format, by_row, MPNUM_QUANTIZE_ROWS,
                                 rows, columns) ||
        !src.avoids(job.rows, bytes))
      return false;
    is_aligned &= mpnum_launch_aligned_(job.rows.codes, job.rows.pitch, vector);
  }
  if (what & MPNUM_QUANTIZE_COLUMNS) {
    if (!mpnum_quantize_side_of_(&job.columns, others, format, by_column, what & turned,
                                 rows, columns) ||
        !src.avoids(job.columns, others))
      return false;
    if (!(what & MPNUM_QUANTIZE_TRANSPOSED))
      is_aligned &= mpnum_launch_aligned_(job.columns.codes, job.columns.pitch, vector);
  }
  if (what & MPNUM_QUANTIZE_ROWS && what & MPNUM_QUANTIZE_COLUMNS) {
    const mpnum_quantize_side_ &a = job.rows, &b = job.columns;
    if (mpnum_overlap_(a.codes, bytes[0], b.codes, others[0]) ||
        mpnum_overlap_(a.codes, bytes[0], b.scale_inv, others[1]) ||
        mpnum_overlap_(a.scale_inv, bytes[1], b.codes, others[0]) ||
        mpnum_overlap_(a.scale_inv, bytes[1], b.scale_inv, others[1]))
      return false;
  }
  job.height = rows;
  job.width = columns;
  job.stride = src.stride;
  job.rule = mpnum::block_rule_(format, 1.0f);
  job.scale = scale;
  job.what = what;
  return true;
}
/* Squares, columns, and both; rows alone have a kernel of their own. */
template <class Blocks, class Matrix>
static inline cudaError_t mpnum_launch_job_(const Matrix &src, mpnum_quantize_job_ &job,
                                            bool is_aligned, cudaStream_t stream) {
  typedef typename Matrix::element T;
  typedef typename Matrix::source source;
  typedef mpnum_geometry_<T, Blocks::edge> tile;
  const size_t rows = src.rows, columns = src.columns;
  const size_t limit = 0x7fffffff;
  if (job.what == MPNUM_QUANTIZE_ROWS && !Blocks::is_square)
    return mpnum_launch_row_blocks_<Blocks, T, Blocks::is_square>::launch(
        src.on_device(), job, is_aligned, stream);
  const size_t across = (columns - 1) / tile::columns + 1;
  const size_t down = (rows - 1) / tile::rows + 1;
  if (across > limit / down) return cudaErrorInvalidValue;
  job.whole_across = is_aligned ? static_cast<unsigned>(columns / tile::columns) : 0;
  job.whole_down = static_cast<unsigned>(rows / tile::rows);
  cudaError_t error = mpnum_clear_scales_(job.rows, stream);
  if (error == cudaSuccess) error = mpnum_clear_scales_(job.columns, stream);
  if (error != cudaSuccess) return error;
  return mpnum_launch_grid_(mpnum_quantize_tile_kernel_<Blocks, T, source>,
                            mpnum_tile_grid_(across, down), MPNUM_LAUNCH_THREADS_, stream,
                            src.on_device(), job);
}
template <class Blocks, class Matrix>
static inline cudaError_t mpnum_launch_quantize_blocks_(
    const mpnum_blockscale_format &format, const mpnum_blockscaled *by_row,
    const mpnum_blockscaled *by_column, const Matrix &src, const float *scale, int what,
    uint64_t seed, uint64_t offset, cudaStream_t stream) {
  mpnum_quantize_job_ job;
  bool is_aligned = false;
  if (!mpnum_quantize_job_of_<Blocks>(job, is_aligned, format, by_row, by_column, src,
                                      scale, what))
    return cudaErrorInvalidValue;
  if (src.rows == 0 || src.columns == 0) return cudaSuccess;
  job.seed = seed;
  job.offset = offset;
  return mpnum_launch_job_<Blocks>(src, job, is_aligned, stream);
}
template <class Blocks, class T>
static inline cudaError_t mpnum_launch_dequantize_blocks_(
    const mpnum_blockscale_format &format, const mpnum::matrix<T> &dst,
    const mpnum_blockscaled *codes, const float *scale, int what, cudaStream_t stream) {
  const size_t n = 16 / sizeof(T);
  mpnum_quantize_job_ job = mpnum_quantize_job_();
  mpnum_quantize_side_ *const side =
      what == MPNUM_QUANTIZE_COLUMNS ? &job.columns : &job.rows;
  if ((what != MPNUM_QUANTIZE_ROWS && what != MPNUM_QUANTIZE_COLUMNS) ||
      (Blocks::family == mpnum::TWO_LEVEL_FAMILY_ && !scale))
    return cudaErrorInvalidValue;
  size_t bytes[2];
  if (dst.rows == 0 || dst.columns == 0) return cudaSuccess;
  const mpnum::in_memory_<T> to = quantizable_(dst);
  if (!to.is_valid() || !to.is_readable() ||
      !mpnum_quantize_side_of_(side, bytes, format, codes, what, dst.rows, dst.columns) ||
      !to.avoids(*side, bytes))
    return cudaErrorInvalidValue;
  job.height = dst.rows;
  job.width = dst.columns;
  job.stride = dst.stride;
  job.scale = scale;
  job.what = what;
  typedef mpnum_codes_back_<Blocks, T> back;
  const bool is_aligned =
      to.is_aligned() &&
      mpnum_launch_aligned_(side->codes, side->pitch, alignof(typename back::unit));
  dim3 grid(1);
  if (!mpnum_quantize_tiles_(&grid, &job, side, n, back::bytes, back::least_shift,
                             is_aligned, back::log2_vectors))
    return cudaErrorInvalidValue;
  return mpnum_launch_grid_(mpnum_dequantize_blocks_kernel_<Blocks, T>, grid,
                            MPNUM_LAUNCH_THREADS_, stream, dst.data, job);
}

/* MX: Code is mpnum_e4m3, e5m2, e3m2, e2m3 or e2m1, dense as mpnum_blockscale_mx has it;
 * rule is FLOOR, CEIL, EVEN or RCEIL. */
template <class Code, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_mx(const mpnum_blockscaled *by_row,
                         const mpnum_blockscaled *by_column, const Matrix &src,
                         mpnum_blockscale_rule rule, int what, cudaStream_t stream) {
  const mpnum_blockscale_format format =
      mpnum_blockscale_mx(mpnum::type_of<Code>::value, rule);
  if (mpnum_blockscale_validate(&format, 0) != MPNUM_OK) return cudaErrorInvalidValue;
  return mpnum_launch_quantize_blocks_<mpnum::blocks_<Code, mpnum::MX_FAMILY_, 32>>(
      format, by_row, by_column, quantizable_(src), 0, what, 0, 0, stream);
}
/* Back: codes with scales by row, MPNUM_QUANTIZE_ROWS, or by column, _COLUMNS, of a
 * matrix that is not transposed; one that is has codes by row. T: f32, f16 or bf16. Bits:
 * mpnum_dequantize_blocks. */
template <class Code, class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dequantize_mx(mpnum::matrix<T> dst, const mpnum_blockscaled *src, int what,
                           cudaStream_t stream) {
  const mpnum_blockscale_format format =
      mpnum_blockscale_mx(mpnum::type_of<Code>::value, MPNUM_BLOCKSCALE_RCEIL);
  return mpnum_launch_dequantize_blocks_<mpnum::blocks_<Code, mpnum::MX_FAMILY_, 32>>(
      format, dst, src, 0, what, stream);
}

template <class Matrix>
static inline cudaError_t mpnum_launch_nvfp4_scale_(float *scale, const Matrix &src,
                                                    cudaStream_t stream) {
  typedef typename Matrix::element T;
  mpnum_quantize_job_ job = mpnum_quantize_job_();
  const size_t tile = MPNUM_LAUNCH_THREADS_ * MPNUM_LAUNCH_VECTORS_ * (16 / sizeof(T));
  const bool is_empty = src.rows == 0 || src.columns == 0;
  cudaError_t error;
  if (!scale || !src.is_valid() || (!is_empty && !src.is_readable()))
    return cudaErrorInvalidValue;
  error = cudaMemsetAsync(scale, 0, sizeof *scale, stream);
  if (error == cudaSuccess && !is_empty) {
    const Matrix flat = src.flat();
    job.height = flat.rows;
    job.width = flat.columns;
    job.stride = flat.stride;
    job.whole_across = flat.is_aligned(); /* vectors of tiles are */
    const size_t tiles = (job.width - 1) / tile + 1;
    size_t limit = 0;
    error = mpnum_launch_blocks_(&limit, tiles * job.height, 0);
    if (error != cudaSuccess) return error;
    const size_t wide = tiles < limit ? tiles : limit;
    error =
        mpnum_launch_grid_(mpnum_finite_amax_kernel_<T, typename Matrix::source>,
                           mpnum_tile_grid_(wide, limit / wide), MPNUM_LAUNCH_THREADS_,
                           stream, scale, flat.on_device(), job);
  }
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_nvfp4_scale_kernel_<float>, 1, 1, stream, scale);
}
/* NVFP4's S, into *scale: that of the largest finite magnitude of a matrix, which is read
 * for it. Bits: mpnum_nvfp4_scale of mpnum_finite_amax_rows. Without rows or columns:
 * 1. */
template <class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_nvfp4_scale(float *scale, const Matrix &src, cudaStream_t stream) {
  return mpnum_launch_nvfp4_scale_(scale, quantizable_(src), stream);
}
/* NVFP4, with scales of one type. */
template <mpnum_type scale_type>
static inline mpnum_blockscale_format mpnum_nvfp4_format_(size_t high) {
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_(high);
  static_assert(scale_type == MPNUM_TYPE_E4M3 || scale_type == MPNUM_TYPE_UE5M3,
                "e4m3 or ue5m3");
  format.scale_type = scale_type;
  return format;
}
/* NVFP4 in blocks of 1x16, or of 16x16 where high is 16; scale is S, in device memory;
 * what is none (0, Inf, NaN), makes every block NaN. Blocks of 16x16 are the same by row
 * and by column. scale_type: of the blocks, MPNUM_TYPE_E4M3 or MPNUM_TYPE_UE5M3. */
template <unsigned high = 1, mpnum_type scale_type = MPNUM_TYPE_E4M3, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_nvfp4(const mpnum_blockscaled *by_row,
                            const mpnum_blockscaled *by_column, const Matrix &src,
                            const float *scale, int what, cudaStream_t stream) {
  static_assert(high == 1 || high == 16, "1x16 or 16x16");
  typedef mpnum::blocks_<mpnum_e2m1, mpnum::two_level_<scale_type>::family, 16,
                         high == 16>
      blocks;
  return mpnum_launch_quantize_blocks_<blocks>(mpnum_nvfp4_format_<scale_type>(high),
                                               by_row, by_column, quantizable_(src),
                                               scale, what, 0, 0, stream);
}
/* The same, elements rounded stochastically: element (r, c) of src takes random word
 * offset + r * stride + c of the seed. */
template <unsigned high = 1, mpnum_type scale_type = MPNUM_TYPE_E4M3, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_nvfp4_sr(const mpnum_blockscaled *by_row,
                               const mpnum_blockscaled *by_column, const Matrix &src,
                               const float *scale, int what, uint64_t seed,
                               uint64_t offset, cudaStream_t stream) {
  static_assert(high == 1 || high == 16, "1x16 or 16x16");
  typedef mpnum::blocks_<mpnum_e2m1, mpnum::two_level_<scale_type>::family, 16,
                         high == 16, true>
      blocks;
  mpnum_blockscale_format format = mpnum_nvfp4_format_<scale_type>(high);
  format.rounding = MPNUM_ROUND_STOCHASTIC;
  return mpnum_launch_quantize_blocks_<blocks>(
      format, by_row, by_column, quantizable_(src), scale, what, seed, offset, stream);
}
template <unsigned high = 1, mpnum_type scale_type = MPNUM_TYPE_E4M3, class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dequantize_nvfp4(mpnum::matrix<T> dst, const mpnum_blockscaled *src,
                              const float *scale, int what, cudaStream_t stream) {
  static_assert(high == 1 || high == 16, "1x16 or 16x16");
  typedef mpnum::blocks_<mpnum_e2m1, mpnum::two_level_<scale_type>::family, 16,
                         high == 16>
      blocks;
  return mpnum_launch_dequantize_blocks_<blocks>(mpnum_nvfp4_format_<scale_type>(high),
                                                 dst, src, scale, what, stream);
}

/* DeepSeek's: Code, mpnum_e4m3 say, in blocks of 1x128, or of 128x128 where high is 128,
 * with scales that are floats. rule: AMAX or AMAX_POW2; amax_floor: as in
 * mpnum_blockscale_format, 0 for none. */
template <class Code, unsigned high = 1, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_fp8(const mpnum_blockscaled *by_row,
                          const mpnum_blockscaled *by_column, const Matrix &src,
                          mpnum_blockscale_rule rule, float amax_floor, int what,
                          cudaStream_t stream) {
  static_assert(high == 1 || high == 128, "1x128 or 128x128");
  typedef mpnum::blocks_<Code, mpnum::AMAX_FAMILY_, 128, high == 128> blocks;
  mpnum_blockscale_format format = mpnum_blockscale_amax(MPNUM_TYPE_E4M3, high, 128);
  format.element = mpnum_format_of(mpnum::type_of<Code>::value);
  format.element_bits = blocks::bits;
  format.rule = rule;
  format.amax_floor = amax_floor;
  if (mpnum_blockscale_validate(&format, 0) != MPNUM_OK) return cudaErrorInvalidValue;
  return mpnum_launch_quantize_blocks_<blocks>(format, by_row, by_column,
                                               quantizable_(src), 0, what, 0, 0, stream);
}
template <class Code, unsigned high = 1, class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dequantize_fp8(mpnum::matrix<T> dst, const mpnum_blockscaled *src, int what,
                            cudaStream_t stream) {
  static_assert(high == 1 || high == 128, "1x128 or 128x128");
  typedef mpnum::blocks_<Code, mpnum::AMAX_FAMILY_, 128, high == 128> blocks;
  mpnum_blockscale_format format = mpnum_blockscale_amax(MPNUM_TYPE_E4M3, high, 128);
  format.element = mpnum_format_of(mpnum::type_of<Code>::value);
  format.element_bits = blocks::bits;
  return mpnum_launch_dequantize_blocks_<blocks>(format, dst, src, 0, what, stream);
}

#endif

MPNUM_C_END_
#endif

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
 * Warp functions are called by all 32 lanes of a warp together, and use no shared memory
 * and no sync of the block; block functions by all threads of a block of 1 to 3
 * dimensions whose number of threads is a multiple of 32. Every caller gets the result. A
 * block function leaves scratch free for the next: no further sync is needed. Before one,
 * sync if scratch held something of your own.
 *
 * Results do not depend on the architecture: where a reduction instruction exists (sm_80
 * on) it gives the bits of the shuffles.
 */
#ifndef MPNUM_CUDA_BLOCK_CUH
#define MPNUM_CUDA_BLOCK_CUH

#include "detail/quantize.cuh"
#include "device.cuh"
#include "../rows/detail/norm_row.h"
MPNUM_C_BEGIN_

#define MPNUM_BLOCK_SCRATCH 32 /* words of shared memory that a block function takes */

#define MPNUM_DEVICE_    static __device__ __forceinline__
#define MPNUM_ALL_LANES_ 0xffffffffu

/* The sum, modulo 2^32, and the largest of a word of each lane. */

MPNUM_DEVICE_ uint32_t mpnum_warp_sum_u32_(uint32_t value) {
#if MPNUM_DEVICE_ARCH_ >= 800
  return __reduce_add_sync(MPNUM_ALL_LANES_, value);
#else
  for (int step = 16; step > 0; step /= 2)
    value += __shfl_xor_sync(MPNUM_ALL_LANES_, value, step);
  return value;
#endif
}
MPNUM_DEVICE_ uint32_t mpnum_warp_max_u32_(uint32_t value) {
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
  return mpnum_from_ordered_f32_(mpnum_warp_max_u32_(mpnum_ordered_f32_(value)));
}
/* The largest magnitude. NaN in any lane: 0x7fffffff. */
MPNUM_DEVICE_ float mpnum_warp_amax_f32(float value) {
  return mpnum_from_bits_f32(mpnum_warp_max_u32_(mpnum_bits_f32(mpnum_amax(0, value))));
}

/* Block functions. scratch: MPNUM_BLOCK_SCRATCH words, 128 bytes, of shared memory. All
 * threads get the result, the same bits; 2 syncs where nothing else is said. */

/* Each warp's word, in the lane of its number; identity in the lanes without a warp. */
MPNUM_DEVICE_ uint32_t mpnum_share_warp_words_(uint32_t word, uint32_t identity,
                                               uint32_t *scratch) {
  const unsigned lane = mpnum_thread_index_() % 32;
  const unsigned warp = mpnum_thread_index_() / 32;
  const unsigned warps = mpnum_block_threads_() / 32;
  if (lane == 0) scratch[warp] = word;
  __syncthreads();
  word = lane < warps ? scratch[lane] : identity;
  __syncthreads();
  return word;
}

/* As mpnum_warp_sum_u32_ and mpnum_warp_max_u32_. */
MPNUM_DEVICE_ uint32_t mpnum_block_sum_u32_(uint32_t value, uint32_t *scratch) {
  value = mpnum_share_warp_words_(mpnum_warp_sum_u32_(value), 0, scratch);
  return mpnum_warp_sum_u32_(value);
}
MPNUM_DEVICE_ uint32_t mpnum_block_max_u32_(uint32_t value, uint32_t *scratch) {
  value = mpnum_share_warp_words_(mpnum_warp_max_u32_(value), 0, scratch);
  return mpnum_warp_max_u32_(value);
}
/* The sum of each warp as mpnum_warp_sum_f32, then the sum of these in the same way. */
MPNUM_DEVICE_ float mpnum_block_sum_f32(float value, uint32_t *scratch) {
  const uint32_t sum = mpnum_bits_f32(mpnum_warp_sum_f32(value));
  const uint32_t minus_zero = 0x80000000u; /* leaves every sum as it is, -0 too */
  return mpnum_warp_sum_f32(
      mpnum_from_bits_f32(mpnum_share_warp_words_(sum, minus_zero, scratch)));
}
/* As mpnum_block_sum_f32, of doubles; 4 syncs. NaN: canonical 0x7fffffffffffffff. */
MPNUM_DEVICE_ double mpnum_warp_sum_f64_(double value) {
  for (int step = 16; step > 0; step /= 2)
    value = mpnum_add_f64_(value, __shfl_xor_sync(MPNUM_ALL_LANES_, value, step));
  return mpnum_isnan_f64(value) ? mpnum_from_bits_f64(0x7fffffffffffffffu) : value;
}
MPNUM_DEVICE_ double mpnum_block_sum_f64(double value, uint32_t *scratch) {
  const uint64_t sum = mpnum_bits_f64(mpnum_warp_sum_f64_(value));
  const uint64_t upper = mpnum_share_warp_words_(static_cast<uint32_t>(sum >> 32),
                                                 0x80000000u, scratch); /* -0 */
  const uint32_t lower = mpnum_share_warp_words_(static_cast<uint32_t>(sum), 0, scratch);
  return mpnum_warp_sum_f64_(mpnum_from_bits_f64(upper << 32 | lower));
}
/* As mpnum_warp_max_f32. */
MPNUM_DEVICE_ float mpnum_block_max_f32(float value, uint32_t *scratch) {
  return mpnum_from_ordered_f32_(
      mpnum_block_max_u32_(mpnum_ordered_f32_(value), scratch));
}
/* As mpnum_warp_amax_f32. */
MPNUM_DEVICE_ float mpnum_block_amax_f32(float value, uint32_t *scratch) {
  return mpnum_from_bits_f32(
      mpnum_block_max_u32_(mpnum_bits_f32(mpnum_amax(0, value)), scratch));
}
/* 1 if no thread has Inf or NaN, else 0. No scratch, 1 sync. */
MPNUM_DEVICE_ int mpnum_block_all_finite_f32(float value) {
  return __syncthreads_and(mpnum_isfinite_f32(value)) != 0;
}

/* Quantising, as scale.h and blockscale.h do. */

/* Codes and the scale of a block of which each lane has N neighbours. */
template <class Blocks, class T, unsigned M, unsigned N>
MPNUM_DEVICE_ uint32_t mpnum_warp_quantize_(mpnum_lanes<T, M> *codes,
                                            const mpnum_lanes<float, N> &x,
                                            const mpnum_block_rule_ &rule) {
  typedef typename Blocks::Code element;
  enum { count = mpnum::packed_<T>::count };
  static_assert(M * count == N && Blocks::edge % N == 0, "a code for each element");
  element all[N];
  const uint32_t amax = mpnum_quantize_amax_<Blocks>(
      rule, mpnum_lanes_max_<Blocks::edge / N>(mpnum_magnitude_of_(x)));
  const mpnum_block_scale_scalar_ scale = mpnum::block_scale_<Blocks>(rule, amax);
  const bool is_zero = mpnum_bits_of_scalar_(scale.factor) == 0;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < N; ++j) {
    const float y = mpnum::block_scaled_<Blocks>(x.at[j], scale.factor);
    all[j] = is_zero ? element() : mpnum::from_float_sat<element>(y);
  }
  MPNUM_UNROLL_
  for (unsigned j = 0; j < M; ++j)
    codes->at[j] = mpnum::packed_<T>::pack(all + j * count);
  return scale.code;
}
/* Quantises blocks of 32 neighbours of which each lane has N, 1, 2, 4, 8 or 16 of them,
 * so that 32 / N lanes share a block. Called by all lanes of a warp. codes: mpnum_e4m3 or
 * another element of MX, one for each of x, or packed, mpnum_e2m1x2, e3m2x4 or e2m3x4.
 * scale_inv: that of the lane's block, in all lanes of it. rule: FLOOR, CEIL, EVEN or
 * RCEIL. No shared memory. Bits: those of mpnum_quantize_blocks on hosts. */
template <class T, unsigned M, unsigned N>
MPNUM_DEVICE_ void mpnum_warp_quantize_mx(mpnum_lanes<T, M> *codes, mpnum_e8m0 *scale_inv,
                                          const mpnum_lanes<float, N> &x,
                                          mpnum_blockscale_rule rule) {
  typedef typename mpnum::packed_<T>::element element;
  typedef mpnum::blocks_<element, mpnum::MX_FAMILY_, 32> blocks;
  const mpnum_blockscale_format format =
      mpnum_blockscale_mx(mpnum::type_of<element>::value, rule);
  *scale_inv = mpnum_from_bits_e8m0(
      mpnum_warp_quantize_<blocks>(codes, x, mpnum::block_rule_(format, 1.0f)));
}
/* The same in NVFP4, blocks of 16: N is 1, 2, 4 or 8. codes: mpnum_e2m1 or mpnum_e2m1x2.
 * scale: S of the tensor, of mpnum_nvfp4_scale; what is none (0, Inf, NaN) makes every
 * scale_inv NaN. */
template <class T, unsigned M, unsigned N>
MPNUM_DEVICE_ void
mpnum_warp_quantize_nvfp4(mpnum_lanes<T, M> *codes, mpnum_e4m3 *scale_inv,
                          const mpnum_lanes<float, N> &x, float scale) {
  typedef mpnum::blocks_<mpnum_e2m1, mpnum::TWO_LEVEL_FAMILY_, 16> blocks;
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  mpnum_block_rule_ rule = mpnum_block_rule_of_(&format, scale);
  rule.floor = mpnum::is_scale_(scale) ? 0 : 0x7fffffffu;
  *scale_inv = mpnum_from_bits_e4m3(mpnum_warp_quantize_<blocks>(codes, x, rule));
}

/* A tile of mpnum_quantize_tile_transpose: its columns are 256 bytes of src wide. */
#define MPNUM_TILE_ROWS    64
#define MPNUM_TILE_SCRATCH 2176 /* words of shared memory */

/* Where four rows of n neighbours of a tile lie that a thread has, in the tile and as
 * part of the matrix. */
template <class S> struct mpnum_turned_place_ {
  typedef mpnum_geometry_<S, 32> tile;
  unsigned across, down;
  size_t row, column;
  __device__ __forceinline__ mpnum_turned_place_(size_t first_row, size_t first_column)
      : across(mpnum_thread_index_() % tile::lanes * tile::n),
        down(mpnum_thread_index_() / tile::lanes * 4), row(first_row + down),
        column(first_column + across) {}
};
/* Codes of such rows of a tile, all of which a block of 256 threads has, and those of its
 * transpose, if turns; as below. job: height and width. */
template <bool is_whole, class T, class S, unsigned n>
MPNUM_DEVICE_ float mpnum_quantize_turned_(T *codes, size_t codes_stride, T *transposed,
                                           size_t transposed_stride,
                                           const mpnum_lanes<S, n> (&in)[4],
                                           const mpnum_turned_place_<S> &place,
                                           const mpnum_quantize_job_ &job, float scale,
                                           uint32_t *scratch, bool turns = true) {
  typedef mpnum::blocks_<T, mpnum::MX_FAMILY_, 32> blocks;
  typedef mpnum_geometry_<S, 32> tile;
  static_assert(tile::rows == MPNUM_TILE_ROWS && blocks::bits == 8, "as documented");
  uint8_t *const turned = reinterpret_cast<uint8_t *>(scratch);
  const float factor = mpnum::scale_or_nan_(scale);
  const size_t row = place.row - place.down, column = place.column - place.across;
  uint8_t *const own =
      reinterpret_cast<uint8_t *>(codes) + place.row * codes_stride + place.column;
  uint32_t amax = 0;
  MPNUM_UNROLL_
  for (unsigned v = 0; v < 4; ++v) {
    const uint32_t random[n] = {0};
    const uint32_t word = mpnum_magnitude_of_(in[v]);
    amax = word > amax ? word : amax;
    mpnum_store_codes_<blocks, n>(
        own + v * codes_stride, place.row + v, place.column, job.height, job.width,
        is_whole, mpnum_quantize_lanes_<blocks, false, false>(in[v], factor, random));
  }
  if (!turns) return mpnum_amax(0, mpnum_f32_of_scalar_(amax));
  MPNUM_UNROLL_
  for (unsigned j = 0; j < n; ++j) {
    const uint32_t random[4] = {0};
    float y[4];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v)
      y[v] = mpnum_mul_scalar_(mpnum::element_at_(in[v], j), factor);
    mpnum_put_turned_<8, tile::rows>(turned, place.across + j, place.down,
                                     mpnum::block_codes_<blocks>(y, random));
  }
  __syncthreads();
  mpnum_store_turned_<8, tile::rows>(
      reinterpret_cast<uint8_t *>(transposed) + column * transposed_stride + row,
      transposed_stride, turned, tile::columns, job.width - column, job.height - row);
  return mpnum_amax(0, mpnum_f32_of_scalar_(amax));
}
/* Codes of a tile of a matrix, and of its transpose, from one read: elements times scale,
 * saturating; a scale that is none makes them NaN. Called by all threads of a block of
 * 256. src, codes: row r begins at element r * stride, and transposed, which has a row
 * for each column of src, at r * transposed_stride. The tile begins at (row, column), a
 * multiple of the tile's size, and ends with the matrix, rows x columns, at the latest.
 * T: a type of 8 bits; src f32, f16 or bf16. Returns the largest magnitude that the
 * thread saw, as mpnum_amax; mpnum_block_amax_f32 makes one of all. scratch:
 * MPNUM_TILE_SCRATCH words; 1 sync, and sync before it is used again. Bits: those of
 * mpnum_quantize_array. */
template <class T, class S>
MPNUM_DEVICE_ float
mpnum_quantize_tile_transpose(T *codes, size_t codes_stride, T *transposed,
                              size_t transposed_stride, const S *src, size_t src_stride,
                              size_t row, size_t column, size_t rows, size_t columns,
                              float scale, uint32_t *scratch) {
  enum { n = mpnum_geometry_<S, 32>::n };
  typedef mpnum_geometry_<S, 32> tile;
  typedef mpnum_lanes<S, n> source_lanes;
  typedef mpnum_lanes<uint8_t, n> code_lanes;
  const mpnum_turned_place_<S> place(row, column);
  const S *const at = src + place.row * src_stride + place.column;
  mpnum_quantize_job_ job = mpnum_quantize_job_();
  job.height = rows;
  job.width = columns;
  job.stride = src_stride;
  const bool is_whole =
      rows - row >= tile::rows && columns - column >= tile::columns &&
      reinterpret_cast<size_t>(src) % alignof(source_lanes) == 0 && src_stride % n == 0 &&
      reinterpret_cast<size_t>(codes) % alignof(code_lanes) == 0 && codes_stride % n == 0;
  source_lanes in[4];
  if (is_whole) {
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v)
      in[v] = mpnum_load_of_matrix_<n>(at + v * src_stride, job, place.row + v,
                                       place.column, true);
    return mpnum_quantize_turned_<true>(codes, codes_stride, transposed,
                                        transposed_stride, in, place, job, scale,
                                        scratch);
  }
  MPNUM_UNROLL_
  for (unsigned v = 0; v < 4; ++v)
    in[v] = mpnum_load_of_matrix_<n>(at + v * src_stride, job, place.row + v,
                                     place.column, false);
  return mpnum_quantize_turned_<false>(codes, codes_stride, transposed, transposed_stride,
                                       in, place, job, scale, scratch);
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
  const uint32_t most = mpnum_block_max_u32_(own, scratch);
  mpnum_argmax result;
  result.max = mpnum_from_ordered_f32_(most);
  result.index = ~mpnum_block_max_u32_(own == most ? ~index : 0, scratch);
  return result;
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
  sums[0] = has_values ? mpnum_block_sum_f64(values, scratch) : 0;
  sums[1] = mpnum_block_sum_f64(squares, scratch);
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
/* A row that a block holds in registers, normalised in place: the first count of x of
 * each thread are elements of it, in any order, columns of all threads together. 4 syncs
 * for RMS norm, 8 for layer norm, and 8 more where a row's mean is large beside its
 * deviation. Special rows and error: normalize.h. The bits are those of
 * mpnum_normalize_rows wherever sums of doubles are the same in both orders, and do not
 * depend on the GPU. */
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

/* What gradients are found to be (grad_tensor.h). */

/* The sum, modulo 2^64. */
MPNUM_DEVICE_ uint64_t mpnum_warp_sum_u64_(uint64_t value) {
  for (int step = 16; step > 0; step /= 2)
    value +=
        __shfl_xor_sync(MPNUM_ALL_LANES_, static_cast<unsigned long long>(value), step);
  return value;
}
/* Adds words of all threads into shared memory that holds zeros: one atomic a warp and
 * word. Sync after it. */
MPNUM_DEVICE_ void mpnum_block_add_words_(uint64_t *sums, const uint64_t *words,
                                          unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t sum = mpnum_warp_sum_u64_(words[i]);
    if (mpnum_thread_index_() % 32 == 0) mpnum_atomic_add_u64_(sums + i, sum);
  }
}
/* Of the values of all threads, as mpnum_exact_sum_merge of theirs in any order; carried,
 * if they have 2^16 terms together. *total, in shared memory, becomes it, whatever it
 * held; no scratch. 4 syncs: before it is written, so that all may still be reading it,
 * and after, so that all may read it. Sync before you write to it. Bits: the host's. */
MPNUM_DEVICE_ void mpnum_block_total(mpnum_exact_sum *total, const mpnum_exact_sum &own) {
  uint64_t *sums = reinterpret_cast<uint64_t *>(total);
  enum { words = sizeof(mpnum_exact_sum) / 8 };
  __syncthreads();
  for (unsigned i = mpnum_thread_index_(); i < words; i += mpnum_block_threads_())
    sums[i] = 0;
  __syncthreads();
  mpnum_block_add_words_(sums, reinterpret_cast<const uint64_t *>(&own), words);
  __syncthreads();
  if (mpnum_thread_index_() == 0) mpnum_exact_sum_settle_(total);
  __syncthreads();
}
/* The same of findings, as mpnum_grad_findings_merge; 8 syncs. */
MPNUM_DEVICE_ void mpnum_block_findings(mpnum_grad_findings *findings,
                                        const mpnum_grad_findings &own) {
  const bool is_first = mpnum_thread_index_() == 0;
  unsigned *amax = reinterpret_cast<unsigned *>(&findings->stats.amax);
  unsigned *min_nonzero = reinterpret_cast<unsigned *>(&findings->stats.min_nonzero);
  unsigned long long *tensor =
      reinterpret_cast<unsigned long long *>(&findings->first_tensor);
  unsigned long long *element =
      reinterpret_cast<unsigned long long *>(&findings->first_element);
  unsigned long long *bits =
      reinterpret_cast<unsigned long long *>(&findings->first_bits);
  mpnum_block_total(&findings->squares, own.squares);
  if (is_first) {
    findings->stats = mpnum_stats_empty();
    *tensor = *element = ~0ull;
    *bits = 0;
  }
  __syncthreads();
  mpnum_block_add_words_(&findings->stats.count, &own.stats.count, 5);
  atomicMax(amax, mpnum_bits_f32(own.stats.amax));
  atomicMin(min_nonzero, mpnum_bits_f32(own.stats.min_nonzero));
  atomicMin(tensor, static_cast<unsigned long long>(own.first_tensor));
  __syncthreads();
  if (own.first_tensor == *tensor)
    atomicMin(element, static_cast<unsigned long long>(own.first_element));
  __syncthreads();
  if (own.first_tensor == *tensor && own.first_element == *element)
    atomicMax(bits, static_cast<unsigned long long>(own.first_bits));
  __syncthreads();
}

#undef MPNUM_DEVICE_
#undef MPNUM_ALL_LANES_

MPNUM_C_END_
#endif

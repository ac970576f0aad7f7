/* SPDX-License-Identifier: MIT */
/* Activations, their gradients and norms straight to codes with a scale for each block,
 * and activations and gradients to FP8 with one scale and its transpose, on devices: what
 * the launchers of quantize_blocks.cuh and mpnum_launch_quantize_transpose take in the
 * place of a matrix, so that no floats are stored in between. Opt-in. Rules: kernels.cuh.
 * CUDA C++11; NVRTC for the kernels alone.
 *
 *     mpnum_activation_options options = mpnum_activation_default();
 *     options.factor = mpnum_const_matrix_of(MPNUM_TYPE_BF16, up, rows, n);
 *     mpnum_launch_quantize_mx<mpnum_e4m3>(
 *         &by_row, &by_column,
 *         mpnum::activation_of<MPNUM_ACTIVATION_SILU>(mpnum::matrix_of(gate, rows, n),
 *                                                     &options),
 *         MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS, stream);
 *
 * The elements are the floats that mpnum_activation_rows, mpnum_activation_backward_rows
 * and mpnum_normalize_rows store as f32. A gradient has two halves where there is a
 * factor: columns of the gradient of src, then as many of that of the factor; by turns
 * (is_interleaved) it lies as src does. mpnum_launch_nvfp4_scale takes activations and
 * gradients, too, for the S of NVFP4. A norm, mpnum::normalized_of(MPNUM_NORM_RMS, x,
 * &options), goes to 1 x n blocks by row alone (by column: quantize_normed.cuh); sum,
 * mean and inverse of its options are written.
 * mpnum::activation_of<MPNUM_ACTIVATION_SILU, true>, or of GELU_TANH, computes by the
 * approximate instructions of GPUs (fast.h), with about half the instructions: values
 * within the bounds there, derivatives within 2^-17 of SILU and 2^-16 of GELU_TANH, -0 at
 * -Inf. Bits are then a GPU's own, and on hosts those of the light forms. Domain: src,
 * factor and dy are f32, f16, bf16, e5m2 or e4m3 in device memory, as activation_rows.cuh
 * and norm_rows.cuh take them; options NULL: the defaults. Nothing is in the place of
 * codes or scales. Random words of stochastic rounding: element (r, c) of a matrix of C
 * columns takes number offset + r * C + c. Bits: mpnum_quantize_blocks, or
 * mpnum_quantize_array, of those floats. Errors: of the launcher: cudaErrorInvalidValue,
 * and nothing is launched, where one of the two has an error, for options.adds, and for a
 * norm by column. Speed: all is read once (twice in blocks of 128 x 128, and for an S);
 * of a gradient with two halves twice; of a norm whose row has no room in shared memory
 * twice. */
#ifndef MPNUM_BLOCKS_QUANTIZE_COMPUTED_CUH
#define MPNUM_BLOCKS_QUANTIZE_COMPUTED_CUH

#include "../rows/activation_rows.cuh"
#include "quantize_blocks.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* What elements of a vector are computed of; count of them are in the matrix. */
template <unsigned N, class Dy, class Src, class Drop>
struct computed_reads_ : gate_vectors_<N, Dy, Src>, Drop::row {
  unsigned count;
  mpnum_read_place_ place;
};
/* Which results, or which of dy, are dropped (quantize_dropped.cuh): none. */
struct drops_none_ {
  struct row {
    __device__ __forceinline__ void set(size_t) {}
  };
  template <unsigned N, class Elements>
  __device__ __forceinline__ void apply(const Elements &, mpnum_lanes<float, N> &, row,
                                        size_t) const {}
};
/* What has no activation, as a matrix of which some are dropped. */
enum { gate_identity_ = 7 };
template <> struct gate_usual_<gate_identity_> {
  static constexpr bool has_twins = false;
  enum : uint32_t { most = 0xffffffffu };
  template <bool is_short>
  static __device__ __forceinline__ float value(const gate_ &, float x) {
    return x;
  }
  template <bool is_short>
  static __device__ __forceinline__ float slope(const gate_ &, float) {
    return 1;
  }
};
/* What a launch computes elements of. to of the job is not used; a factor that is absent
 * is src, so that what is loaded does not depend on it. */
template <int kind_, bool is_back_, class Dy_, class Src_, class Drop_ = drops_none_>
struct gate_elements_ {
  static constexpr int kind = kind_;
  static constexpr bool is_back = is_back_;
  typedef Dy_ Dy;
  typedef Src_ Src;
  typedef Drop_ Drop;
  gate_job_<norm_plain_<float>, Dy, Src> job;
  int has_factor, is_plain;
  Drop drop;
  __device__ __forceinline__ bool is_gated() const {
    return kind != gate_identity_ && has_factor != 0;
  }
  /* Whether an element is of the factor's gradient, and the number of its pair. */
  __device__ __forceinline__ bool is_of_factor(size_t column) const {
    if (!is_back) return false;
    return job.by_turns ? column % 2 != 0 : column >= job.columns;
  }
  __device__ __forceinline__ size_t pair(size_t column) const {
    if (!is_back) return column;
    return job.by_turns ? column / 2 : column - (is_of_factor(column) ? job.columns : 0);
  }
  template <unsigned N>
  __device__ __forceinline__ void one(computed_reads_<N, Dy, Src, Drop> &in, unsigned j,
                                      size_t row, size_t column) const {
    const size_t i = pair(column);
    const Src *const x = job.src + row * job.src_stride;
    in.x.at[j] = x[job.by_turns ? 2 * i : i];
    if (kind != gate_identity_)
      in.factor.at[j] =
          job.by_turns ? x[2 * i + 1] : job.factor[row * job.factor_stride + i];
    if (is_back) in.dy.at[j] = job.dy[row * job.dy_stride + i];
  }
  /* Vectors, all of which are aligned, of pairs one behind the other. */
  template <unsigned N>
  __device__ __forceinline__ void all(computed_reads_<N, Dy, Src, Drop> &in,
                                      const mpnum_read_place_ &place) const {
    const size_t i = pair(place.column());
    in.x = vector<N>(job.src, job.src_stride, place, i);
    if (kind != gate_identity_)
      in.factor = vector<N>(job.factor, job.factor_stride, place, i);
    if (is_back) in.dy = vector<N>(job.dy, job.dy_stride, place, i);
  }
  /* Of results by steps between addresses, of which compilers make none by themselves. */
  template <unsigned N, class T>
  __device__ __forceinline__ mpnum_lanes<T, N>
  vector(const T *data, size_t stride, const mpnum_read_place_ &place, size_t i) const {
    typedef mpnum_lanes<T, N> lanes;
    size_t step = place.down * stride + place.across;
    if (is_back) return *reinterpret_cast<const lanes *>(data + place.row() * stride + i);
#if MPNUM_ON_DEVICE_
    asm("" : "+l"(step));
#endif
    data = gate_ahead_(data, place.first_row * stride + place.first_column);
    return *reinterpret_cast<const lanes *>(data + place.count * step);
  }
  template <unsigned N>
  __device__ __forceinline__ void add_bias(mpnum_lanes<float, N> &x,
                                           mpnum_lanes<float, N> &factor, size_t column,
                                           unsigned count) const {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j) {
      const size_t i = j < count ? pair(column + j) : 0;
      const float *const bias = job.bias + (job.by_turns ? 2 * i : i);
      x.at[j] = mpnum_canonical_(mpnum_add_scalar_(x.at[j], bias[0]));
      if (job.by_turns)
        factor.at[j] = mpnum_canonical_(mpnum_add_scalar_(factor.at[j], bias[1]));
    }
  }
  __device__ __forceinline__ float any(bool of_factor, float x, float factor,
                                       float dy) const {
    const float bounded = gate_bounded_(job.gate, x);
    if (!is_back) return gate_result_<kind>(job.gate, is_gated(), bounded, factor);
    if (of_factor) return gate_to_factor_<kind>(job.gate, dy, bounded, factor);
    return gate_to_source_<kind>(job.gate, is_gated(), dy, x, bounded, factor);
  }
  /* Of the usual x, where neither bias nor bounds nor alpha change what goes in: results,
   * or gradients of the factor; and gradients of x. */
  template <unsigned N>
  __device__ __forceinline__ mpnum_lanes<float, N>
  usual(const mpnum_lanes<float, N> &x, const mpnum_lanes<float, N> &factor,
        const mpnum_lanes<float, N> &dy) const {
    mpnum_lanes<float, N> y =
        gate_usual_lanes_<gate_usual_<kind>, false, sizeof(Src) <= 2>(job.gate, x);
    if (is_back)
      gate_multiply_(y, dy);
    else if (is_gated())
      gate_multiply_(y, factor);
    return y;
  }
  template <unsigned N>
  __device__ __forceinline__ mpnum_lanes<float, N>
  usual_slopes(const mpnum_lanes<float, N> &x, const mpnum_lanes<float, N> &factor,
               const mpnum_lanes<float, N> &dy) const {
    mpnum_lanes<float, N> own = dy;
    mpnum_lanes<float, N> y =
        gate_usual_lanes_<gate_usual_<kind>, true, sizeof(Src) <= 2>(job.gate, x);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j)
      if (is_gated()) own.at[j] = mpnum_mul_scalar_(dy.at[j], factor.at[j]);
    if (kind == gate_relu_ || kind == gate_squared_) {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < N; ++j)
        y.at[j] =
            mpnum_gate_source_scalar_(&job.gate.factor, own.at[j], x.at[j], y.at[j]);
    } else {
      gate_multiply_(y, own);
    }
    return y;
  }
};

} // namespace mpnum

template <class T, int kind, bool is_back, class Dy, class Src, class Drop>
struct mpnum_neighbours_<T, mpnum::gate_elements_<kind, is_back, Dy, Src, Drop>> {
  static constexpr unsigned count = sizeof(Src) <= 2 && sizeof(Dy) <= 2 ? 8 : 4;
};
template <int kind, bool is_back, class Dy, class Src, class Drop>
struct mpnum_origin_<mpnum::gate_elements_<kind, is_back, Dy, Src, Drop>> {
  typedef mpnum::gate_elements_<kind, is_back, Dy, Src, Drop> elements;
  static constexpr int resident = is_back && MPNUM_DEVICE_ARCH_ >= 1000 ? 2 : 3;
  static constexpr bool shares_columns = false;
  template <unsigned N> using common = mpnum::no_common_;
  template <unsigned N> using loads = mpnum::computed_reads_<N, Dy, Src, Drop>;
  static __device__ __forceinline__ const elements &ahead(const elements &from, size_t) {
    return from;
  }
  template <unsigned N>
  static __device__ __forceinline__ loads<N>
  load(const elements &from, const mpnum_quantize_job_ &job,
       const mpnum_read_place_ &place, bool is_whole) {
    const size_t row = place.row(), column = place.column();
    loads<N> in = loads<N>();
    in.set(row);
    in.place = place;
    if (is_whole) {
      in.count = N;
      from.all(in, place);
    } else {
      in.count = mpnum_count_of_<N>(job, row, column);
      MPNUM_UNROLL_
      for (unsigned j = 0; j < N; ++j)
        if (j < in.count) from.one(in, j, row, column + j);
    }
    return in;
  }
  template <unsigned N>
  static __device__ __forceinline__ mpnum_lanes<float, N>
  value(const elements &from, const loads<N> &in, size_t column, mpnum::no_common_ &) {
    const bool of_factor = from.is_of_factor(column);
    /* All of them are gradients of the same: of others there are few. */
    const bool is_one = !is_back || (!from.job.by_turns &&
                                     of_factor == from.is_of_factor(column + N - 1));
    const bool is_usual =
        is_one &&
        (kind == +mpnum::gate_identity_ ||
         (from.is_plain && mpnum::gate_most_<Src>::of(in.x, mpnum::gate_floats_(in.x)) <=
                               +mpnum::gate_usual_<kind>::most));
    mpnum_lanes<float, N> dy = mpnum::gate_floats_(in.dy);
    mpnum_lanes<float, N> x = mpnum::gate_floats_(in.x);
    mpnum_lanes<float, N> factor = mpnum::gate_floats_(in.factor), y;
    if (is_back) from.drop.apply(from, dy, in, column);
    if (is_usual && (!is_back || of_factor)) {
      y = from.usual(x, factor, dy);
    } else if (is_usual) {
      y = from.usual_slopes(x, factor, dy);
    } else {
      mpnum_read_place_ place = in.place;
#if MPNUM_ON_DEVICE_
      asm("" : "+r"(place.count)); /* lest columns are found that nobody needs */
#endif
      if (from.job.bias) from.add_bias(x, factor, place.column(), in.count);
      MPNUM_UNROLL_
      for (unsigned j = 0; j < N; ++j)
        y.at[j] =
            from.any(from.is_of_factor(column + j), x.at[j], factor.at[j], dy.at[j]);
    }
    if (!is_back) from.drop.apply(from, y, in, column);
    mpnum_cut_(y, in.count);
    return y;
  }
};

namespace mpnum {

/* A row that a block of threads has found the numbers of, as rows of elements. */
template <class Src> struct norm_elements_ {
  norm_loader_<Src> load;
  const float *kept, *weight, *bias;
  mpnum_norm_map_ map;
};
template <class Src> struct norm_blocks_job_ {
  norm_source_<Src> from;
  mpnum_quantize_job_ to;
};
template <unsigned N> struct norm_reads_ {
  mpnum_lanes<float, N> x;
  unsigned count;
};

} // namespace mpnum

template <class Src> struct mpnum_origin_<mpnum::norm_elements_<Src>> {
  typedef mpnum::norm_elements_<Src> elements;
  template <unsigned N> using loads = mpnum::norm_reads_<N>;
  template <unsigned N> using common = mpnum::no_common_;
  static __device__ __forceinline__ const elements &ahead(const elements &from, size_t) {
    return from;
  }
  template <unsigned N>
  static __device__ __forceinline__ loads<N> load(const elements &from,
                                                  const mpnum_quantize_job_ &job,
                                                  const mpnum_read_place_ &place, bool) {
    const size_t row = place.row(), column = place.column();
    loads<N> in = loads<N>();
    in.count = mpnum_count_of_<N>(job, row, column);
    if (!in.count) return in;
    if (from.kept) { /* up to a multiple of N */
      in.x = *reinterpret_cast<const mpnum_lanes<float, N> *>(from.kept + column);
      return in;
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; j += 2) {
      const mpnum::pair_ pair = from.load(column + j, mpnum::row_any_());
      in.x.at[j] = pair.at[0];
      in.x.at[j + 1] = pair.at[1];
    }
    return in;
  }
  template <unsigned N>
  static __device__ __forceinline__ mpnum_lanes<float, N>
  value(const elements &from, const loads<N> &in, size_t column, mpnum::no_common_ &) {
    mpnum_lanes<float, N> y = in.x;
    if (in.count)
      mpnum::norm_weigh_(y, from.map, from.weight, from.bias, column,
                         static_cast<unsigned>(column) + in.count, mpnum::row_any_());
    mpnum_cut_(y, in.count);
    return y;
  }
};

/* A norm of rows to blocks along them; blocks as the other kernels of rows have them. */
template <class Blocks, class Src>
static __global__ void __launch_bounds__(512, 1)
    mpnum_normalize_blocks_kernel_(mpnum::norm_blocks_job_<Src> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::norm_scratch_ scratch;
  const mpnum::row_place_ place = mpnum::row_place_in_(job.from);
  mpnum::norm_row_<Src> row = mpnum::norm_row_of_(job.from, place);
  mpnum::norm_find_(row, job.from, place, &scratch);
  /* A stored sum that is read is one of this block, which has met a barrier since. */
  const mpnum::norm_elements_<Src> elements = {row.load, place.kept, job.from.weight,
                                               job.from.bias, row.found.map};
  for (unsigned first = 0; 4 * first < place.columns; first += blockDim.x)
    mpnum_quantize_vectors_<Blocks, float, 1, false>(elements, job.to, place.number,
                                                     first + threadIdx.x, 0);
}

namespace mpnum {

/* Whether the threads of held rows that share a block are neighbours. */
template <class Blocks> struct held_blocks_ {
  static constexpr bool is_possible =
      !Blocks::is_square && Blocks::edge <= row_lanes_ && held_steps_ % 4 == 0;
};
/* Blocks of a row that threads hold, four vectors of each at a time. is_plain: as of
 * held_write_. */
template <class Blocks, bool is_plain, class Src, unsigned size>
static __device__ __forceinline__ void
held_quantize_(const norm_blocks_job_<Src> &job, const held_<Src, size> &row,
               const held_place_ &place, const mpnum_norm_map_ &map) {
  typedef mpnum_shared_blocks_<Blocks::edge / size, 4> shared;
  const float *const weight = job.from.weight ? job.from.weight + place.column : 0;
  const float *const bias = job.from.bias ? job.from.bias + place.column : 0;
  const mpnum_block_rule_ rule = mpnum_quantize_rule_<Blocks>(job.to);
  uint8_t *const codes = job.to.rows.codes + place.number * job.to.rows.pitch;
  MPNUM_UNROLL_
  for (unsigned k = 0; k < held_steps_; k += 4) {
    mpnum_row_scales_<Blocks, size, 4> scales;
    mpnum_lanes<float, size> y[4];
    MPNUM_UNROLL_
    for (unsigned m = 0; m < 4; ++m) {
      const mpnum_lanes<float, size> w =
          held_factors_<is_plain, size>(weight, k + m, place, 1);
      const mpnum_lanes<float, size> b = held_factors_<false, size>(
          is_plain ? 0 : bias, k + m, place, mpnum_from_bits_f32(0x80000000u));
      y[m] = held_weighed_<is_plain>(held_floats_(row.at[k + m]), map, w, b);
      if (!is_plain && !held_has_(place, k + m)) y[m] = mpnum_lanes<float, size>();
    }
    scales.find(rule, y);
    MPNUM_UNROLL_
    for (unsigned m = 0; m < 4; ++m) {
      const unsigned column = place.column + (k + m) * row_lanes_;
      uint32_t random[size] = {0};
      if (Blocks::is_stochastic)
        mpnum_quantize_words_(random, job.to, place.number * job.to.stride + column);
      const mpnum_block_words_<Blocks, size> made =
          mpnum_quantize_lanes_<Blocks>(y[m], scales.factor(m), random);
      if (is_plain || held_has_(place, k + m))
        mpnum_store_codes_<Blocks, size>(codes + column * Blocks::bits / 8, place.number,
                                         column, job.to.height, job.to.width, true, made);
    }
    if (!shared::is_first()) continue;
    MPNUM_UNROLL_
    for (unsigned i = 0; i < shared::kept; ++i) {
      const unsigned own = k + shared::first() + i;
      const unsigned block = (place.column + own * row_lanes_) / Blocks::edge;
      if (is_plain || (place.exists && block * Blocks::edge < job.to.width))
        mpnum_put_scale_<Blocks, false>(job.to.rows, place.number, block,
                                        scales.codes[i]);
    }
  }
}

} // namespace mpnum

/* Rows in registers, as of mpnum_normalize_held_kernel_. */
template <class Blocks, bool is_layer, class Src>
static __global__ void __launch_bounds__(mpnum::held_resident_, 1)
    mpnum_normalize_held_blocks_kernel_(mpnum::norm_blocks_job_<Src> job) {
  mpnum_begin_kernel_();
  enum : unsigned { size = mpnum::held_size_ };
  __shared__ mpnum::held_scratch_ scratch;
  const mpnum::held_place_ place =
      mpnum::held_place_of_<size>(job.from.rows, job.from.columns);
  mpnum::held_<Src, size> row;
  mpnum::held_load_(row, job.from.data + place.number * job.from.stride + place.column,
                    place);
  const mpnum_norm_map_ map = mpnum::held_find_<is_layer>(row, job.from, place, &scratch);
  if (place.is_whole && job.from.weight && !job.from.bias)
    mpnum::held_quantize_<Blocks, true>(job, row, place, map);
  else
    mpnum::held_quantize_<Blocks, false>(job, row, place, map);
}

#if !MPNUM_HAS_NVRTC_

namespace mpnum {

/* A matrix of floats that a launch computes. Made by the functions below. */
template <class Elements> struct computed {
  typedef float element;
  typedef Elements source;
  Elements elements;
  size_t rows, columns, stride;
  int is_known; /* options and shapes are allowed */
  bool is_valid() const { return is_known != 0; }
  const Elements &on_device() const { return elements; }
  const computed &flat() const { return *this; }
  size_t pairs() const { return elements.job.columns; }
  size_t source_columns() const { return pairs() << elements.job.by_turns; }
  template <class T>
  size_t extent(const T *data, size_t across, size_t row_stride) const {
    return data ? mpnum_extent_(rows, across, row_stride, 8 * sizeof(T)) : 0;
  }
  bool is_readable() const {
    const auto &job = elements.job;
    return extent(job.src, source_columns(), job.src_stride) != 0 &&
           extent(job.factor, pairs(), job.factor_stride) != 0 &&
           (!Elements::is_back || extent(job.dy, pairs(), job.dy_stride) != 0);
  }
  bool is_apart(const void *at, size_t bytes) const {
    const auto &job = elements.job;
    const mpnum_memory_ all[] = {
        {job.src, extent(job.src, source_columns(), job.src_stride)},
        {job.factor, extent(job.factor, pairs(), job.factor_stride)},
        {job.dy, extent(job.dy, pairs(), job.dy_stride)},
        {job.bias, job.bias ? 4 * source_columns() : 0}};
    return mpnum_is_apart_(at, bytes, all);
  }
  static constexpr unsigned neighbours = mpnum_neighbours_<float, Elements>::count;
  template <class T> static bool has_vectors(const T *data, size_t row_stride) {
    return mpnum_launch_aligned_(data, row_stride * sizeof(T), neighbours * sizeof(T)) !=
           0;
  }
  /* A half ends where a vector does; pairs by turns go one by one. */
  bool is_aligned() const {
    const auto &job = elements.job;
    return has_vectors(job.src, job.src_stride) &&
           has_vectors(job.factor, job.factor_stride) &&
           has_vectors(job.dy, job.dy ? job.dy_stride : 0) &&
           (!Elements::is_back || pairs() % neighbours == 0) && !job.by_turns;
  }
};
template <class Elements>
static inline const computed<Elements> &quantizable_(const computed<Elements> &x) {
  return x;
}

template <int kind, bool is_back, class Dy, class Src>
static inline computed<gate_elements_<kind, is_back, Dy, Src>>
computed_gate_(const matrix<Dy> &dy, const matrix<Src> &src,
               const mpnum_activation_options *options) {
  auto made = computed<gate_elements_<kind, is_back, Dy, Src>>();
  const mpnum_activation activation =
      kind == +gate_identity_ ? MPNUM_ACTIVATION_SILU
                              : static_cast<mpnum_activation>(kind % gate_fast_);
  auto &job = made.elements.job;
  const unsigned turns = options && options->is_interleaved ? 1 : 0;
  const size_t pairs = src.columns >> turns;
  made.is_known = mpnum_gate_job_of_(job, activation, src.data, src.stride, src.rows,
                                     pairs, options, 0) &&
                  pairs << turns == src.columns &&
                  (!is_back || (dy.rows == src.rows && dy.columns == pairs));
  job.dy = dy.data;
  job.dy_stride = dy.stride;
  made.elements.has_factor = job.factor != 0 || turns;
  made.rows = src.rows;
  made.columns = is_back && made.elements.has_factor ? 2 * pairs : pairs;
  if (!job.factor) {
    job.factor = job.src;
    job.factor_stride = job.src_stride;
  }
  made.elements.is_plain = made.is_known && gate_is_plain_(job);
  made.stride = made.columns;
  return made;
}
template <class T>
static inline matrix<typename element_<T>::type> elements_(const matrix<T> &x) {
  return matrix_of(const_cast<typename element_<T>::type *>(x.data), x.rows, x.columns,
                   x.stride);
}
/* The kind of an activation. is_fast: by approximate instructions, of SILU and GELU_TANH.
 */
template <mpnum_activation activation, bool is_fast> struct gate_kind_of_ {
  static_assert(!is_fast || activation == MPNUM_ACTIVATION_SILU ||
                    activation == MPNUM_ACTIVATION_GELU_TANH,
                "fast: SILU or GELU_TANH");
  static constexpr int value = activation + (is_fast ? gate_fast_ : 0);
};
/* An activation of src, with all that its options have. */
template <mpnum_activation activation, bool is_fast = false, class Src>
static inline computed<
    gate_elements_<gate_kind_of_<activation, is_fast>::value, false,
                   typename element_<Src>::type, typename element_<Src>::type>>
activation_of(const matrix<Src> &src, const mpnum_activation_options *options) {
  return computed_gate_<gate_kind_of_<activation, is_fast>::value, false>(
      matrix<typename element_<Src>::type>(), elements_(src), options);
}
/* Its gradient, of that of its results. */
template <mpnum_activation activation, bool is_fast = false, class Dy, class Src>
static inline computed<
    gate_elements_<gate_kind_of_<activation, is_fast>::value, true,
                   typename element_<Dy>::type, typename element_<Src>::type>>
activation_backward_of(const matrix<Dy> &dy, const matrix<Src> &src,
                       const mpnum_activation_options *options) {
  return computed_gate_<gate_kind_of_<activation, is_fast>::value, true>(
      elements_(dy), elements_(src), options);
}

/* Norms of rows, of a launch that makes blocks along them alone. */
template <class Src> struct normed {
  typedef float element;
  typedef norm_elements_<Src> source;
  norm_source_<Src> from;
  size_t rows, columns, stride;
  int is_known;
  bool is_valid() const { return is_known != 0; }
  bool is_readable() const { return memory(from.data, from.stride).bytes != 0; }
  bool is_aligned() const { return false; }
  mpnum_memory_ memory(const Src *data, size_t row_stride) const {
    const mpnum_memory_ one = {
        data, data ? mpnum_extent_(rows, columns, row_stride, 8 * sizeof(Src)) : 0};
    return one;
  }
  bool is_apart(const void *at, size_t bytes) const {
    const mpnum_memory_ all[] = {memory(from.data, from.stride),
                                 memory(from.residual, from.residual_stride),
                                 memory(from.sum, from.sum_stride),
                                 {from.weight, from.weight ? 4 * columns : 0},
                                 {from.bias, from.bias ? 4 * columns : 0},
                                 {from.mean, from.mean ? 4 * rows : 0},
                                 {from.inverse, from.inverse ? 4 * rows : 0}};
    return mpnum_is_apart_(at, bytes, all);
  }
};
template <class Src> static inline const normed<Src> &quantizable_(const normed<Src> &x) {
  return x;
}
/* A norm of rows, with all that its options have: their results are written, too. kind:
 * MPNUM_NORM_LAYER or MPNUM_NORM_RMS. Of launchers those of 1 x n blocks take it, with
 * MPNUM_QUANTIZE_ROWS. */
template <class Src>
static inline normed<typename element_<Src>::type>
normalized_of(mpnum_norm_kind kind, const matrix<Src> &src,
              const mpnum_normalize_options *options) {
  normed<typename element_<Src>::type> made;
  made.is_known = mpnum_is_norm_of_devices_(kind) &&
                  mpnum_norm_source_of_(made.from, kind, src.data, src.stride, src.rows,
                                        src.columns, options);
  made.rows = src.rows;
  made.columns = made.stride = src.columns;
  return made;
}

} // namespace mpnum

/* Launches over rows that are held: none of other types and blocks. */
template <bool is_possible> struct mpnum_normalize_held_blocks_ {
  template <class Blocks, class Src>
  static bool has(const mpnum::norm_blocks_job_<Src> &job) {
    const unsigned size = mpnum::held_size_;
    return mpnum_norm_is_held_<size>(job.from) &&
           mpnum_launch_aligned_(job.to.rows.codes, job.to.rows.pitch,
                                 size * Blocks::bits / 8);
  }
  template <class Blocks, class Src>
  static cudaError_t launch(mpnum::norm_blocks_job_<Src> &job, cudaStream_t stream) {
    return mpnum_launch_held_<mpnum::held_size_>(
        job.from.kind == MPNUM_NORM_LAYER
            ? mpnum_normalize_held_blocks_kernel_<Blocks, true, Src>
            : mpnum_normalize_held_blocks_kernel_<Blocks, false, Src>,
        job, job.from.rows, job.from.columns, stream);
  }
};
template <> struct mpnum_normalize_held_blocks_<false> {
  template <class Blocks, class Job> static bool has(const Job &) { return false; }
  template <class Blocks, class Job> static cudaError_t launch(Job &, cudaStream_t) {
    return cudaErrorInvalidValue;
  }
};
/* The kernel of norms, a warp for a row at least. */
template <class Blocks, class Src>
static inline cudaError_t mpnum_launch_job_(const mpnum::normed<Src> &src,
                                            mpnum_quantize_job_ &job, bool,
                                            cudaStream_t stream) {
  static_assert(!Blocks::is_square, "norms go to blocks along rows");
  void (*const kernel)(mpnum::norm_blocks_job_<Src>) =
      mpnum_normalize_blocks_kernel_<Blocks, Src>;
  mpnum::norm_blocks_job_<Src> all = {src.from, job};
  typedef mpnum_normalize_held_blocks_<sizeof(Src) == 2 &&
                                       mpnum::held_blocks_<Blocks>::is_possible>
      held;
  mpnum::row_shape_ shape;
  if (job.what != MPNUM_QUANTIZE_ROWS) return cudaErrorInvalidValue;
  cudaError_t error = mpnum_row_shape_(&shape, reinterpret_cast<const void *>(kernel),
                                       all.from.columns, 1);
  if (error == cudaSuccess) error = mpnum_clear_scales_(job.rows, stream);
  if (error != cudaSuccess) return error;
  if (held::template has<Blocks>(all)) return held::template launch<Blocks>(all, stream);
  if (shape.threads < 32) {
    shape.threads = 32;
    shape.rows = 8;
  }
  all.from.kept = shape.kept;
  return mpnum_launch_shape_(kernel, all, all.from, shape,
                             static_cast<size_t>(shape.rows) * shape.kept * sizeof(float),
                             stream);
}

#endif

MPNUM_C_END_
#endif

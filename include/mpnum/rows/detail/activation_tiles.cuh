/* SPDX-License-Identifier: MIT */
/* How the kernels of activation_rows.cuh go through a tile of a row: activations and
 * their gradients of pairs, and of vectors of the usual numbers. CUDA C++11; NVRTC for
 * all of it. */
#ifndef MPNUM_ROWS_DETAIL_ACTIVATION_TILES_CUH
#define MPNUM_ROWS_DETAIL_ACTIVATION_TILES_CUH

#include "../norm_rows.cuh"
#include "activation_usual.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* The numbers of options, as activation_rows.h reads them. */
struct gate_ {
  mpnum_gate_map_ source, factor;
  float alpha, inverse; /* 1 / alpha */
  int has_alpha;
};
/* Value and derivative of the activation of a number at what is bounded. */
enum gate_kind_ { gate_silu_, gate_gelu_, gate_gelu_tanh_, gate_relu_, gate_squared_ };
/* Blocks of a multiprocessor for which there are registers. */
template <int kind> struct gate_blocks_ {
  static constexpr unsigned count = kind == gate_gelu_ ? 3 : 4;
};
static __device__ __forceinline__ float gate_map_(mpnum_gate_kind_ kind, float x) {
  const mpnum_gate_map_ map = {kind, 0, 0, 0};
  return mpnum_gate_of_scalar_(&map, x);
}
template <int kind>
static __device__ __forceinline__ float gate_value_(const gate_ &gate, float x) {
  switch (kind) {
  case gate_gelu_: return mpnum_gelu_scalar_(x);
  case gate_gelu_tanh_: return mpnum_gelu_tanh_scalar_(x);
  case gate_relu_: return gate_map_(MPNUM_GATE_RELU_, x);
  case gate_squared_: return gate_map_(MPNUM_GATE_RELU_SQUARED_, x);
  default: break;
  }
  if (!gate.has_alpha) return mpnum_silu_scalar_(x);
  return mpnum_mul_scalar_(mpnum_silu_scalar_(mpnum_mul_scalar_(x, gate.alpha)),
                           gate.inverse);
}
template <int kind>
static __device__ __forceinline__ float gate_slope_(const gate_ &gate, float x) {
  switch (kind) {
  case gate_gelu_: return mpnum_gelu_derivative_scalar_(x);
  case gate_gelu_tanh_: return mpnum_gelu_tanh_derivative_scalar_(x);
  case gate_relu_: return gate_map_(MPNUM_GATE_RELU_SLOPE_, x);
  case gate_squared_: return gate_map_(MPNUM_GATE_RELU_SQUARED_SLOPE_, x);
  default: break;
  }
  return mpnum_silu_derivative_scalar_(gate.has_alpha ? mpnum_mul_scalar_(x, gate.alpha)
                                                      : x);
}

/* x within its bounds; activation(x) factor of one that is; the gradients of factor and
 * x, which is given as it came, too. A factor is not bounded yet. */
static __device__ __forceinline__ float gate_bounded_(const gate_ &gate, float x) {
  return mpnum_gate_bounded_scalar_(&gate.source, x);
}
template <int kind>
static __device__ __forceinline__ float gate_result_(const gate_ &gate, bool has_factor,
                                                     float bounded, float factor) {
  float y = gate_value_<kind>(gate, bounded);
  if (has_factor)
    y = mpnum_mul_scalar_(y, mpnum_gate_bounded_scalar_(&gate.factor, factor));
  return mpnum_canonical_(y);
}
template <int kind>
static __device__ __forceinline__ float gate_to_factor_(const gate_ &gate, float dy,
                                                        float bounded, float factor) {
  return mpnum_gate_factor_scalar_(&gate.factor, dy, factor,
                                   gate_value_<kind>(gate, bounded));
}
template <int kind>
static __device__ __forceinline__ float
gate_to_source_(const gate_ &gate, bool has_factor, float dy, float x, float bounded,
                float factor) {
  if (has_factor)
    dy = mpnum_mul_scalar_(dy, mpnum_gate_bounded_scalar_(&gate.factor, factor));
  return mpnum_gate_source_scalar_(&gate.factor, dy, x, gate_slope_<kind>(gate, bounded));
}

/* Pairs of what goes in; what is absent is NULL. by_turns: x and the factor lie so in
 * src, with a bias for each. */
struct gate_pairs_ {
  pair_ x, factor, dy;
};
template <bool by_turns, class Dy, class Src> struct gate_loader_ {
  typedef gate_pairs_ result;
  enum : unsigned { size = by_turns ? 4 : 2 }; /* of src, in a pair */
  const Src *src, *factor;
  const Dy *dy;
  const float *bias;
  unsigned columns;
  __device__ __forceinline__ bool is_kept() const { return false; }
  __device__ __forceinline__ bool takes_whole() const {
    return row_is_aligned_(src) && row_is_aligned_(factor) && row_is_aligned_(dy) &&
           row_is_aligned_(bias);
  }
  template <class Part>
  __device__ __forceinline__ gate_pairs_ operator()(size_t i, Part part) const {
    const size_t at = size / 2 * i;
    const unsigned count = size / 2 * columns;
    gate_pairs_ in = {{{0, 0}}, {{0, 0}}, {{0, 0}}};
    mpnum_lanes<float, size> x =
        row_floats_(row_fetch_vector_<size>(src, at, count, part));
    if (factor) in.factor = row_load_(factor, i, columns, part);
    if (dy) in.dy = row_load_(dy, i, columns, part);
    if (bias) {
      const mpnum_lanes<float, size> added =
          row_fetch_vector_<size>(bias, at, count, part);
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; ++j)
        x.at[j] = mpnum_canonical_(mpnum_add_scalar_(x.at[j], added.at[j]));
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      in.x.at[j] = x.at[size / 2 * j];
      if (by_turns) in.factor.at[j] = x.at[size / 2 * j + 1];
    }
    return in;
  }
};

/* Rows of a launch, in units of a tile of one row; dy NULL: the activation itself. */
template <class To, class Dy, class Src> struct gate_job_ {
  To to, to_factor; /* one without dst is not wanted */
  const Src *src, *factor;
  const Dy *dy;
  const float *bias;
  size_t rows, tiles, src_stride, factor_stride, dy_stride;
  unsigned columns; /* of results of the activation, half of src's by turns */
  int adds, by_turns;
  gate_ gate;
};
template <class T, unsigned size, class Part>
static __device__ __forceinline__ void gate_add_(const norm_plain_<T> &to, size_t number,
                                                 size_t i, unsigned columns,
                                                 mpnum_lanes<float, size> &y, Part part) {
  const mpnum_lanes<float, size> old =
      row_floats_(row_fetch_vector_<size>(to.dst + number * to.stride, i, columns, part));
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j)
    y.at[j] = mpnum_canonical_(mpnum_add_scalar_(old.at[j], y.at[j]));
}
template <class Q, unsigned size, class Part>
static __device__ __forceinline__ void gate_add_(const norm_codes_<Q> &, size_t, size_t,
                                                 unsigned, mpnum_lanes<float, size> &,
                                                 Part) {}

/* y = activation(x) factor. */
template <int kind, class To> struct gate_writer_ {
  To to;
  gate_ gate;
  size_t number;
  unsigned columns;
  int has_factor;
  float amax;
  __device__ __forceinline__ bool takes_whole() const {
    return row_is_aligned_(to.dst + number * to.stride);
  }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, const gate_pairs_ &in, Part part) {
    pair_ y;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j)
      y.at[j] = gate_result_<kind>(gate, has_factor != 0, gate_bounded_(gate, in.x.at[j]),
                                   in.factor.at[j]);
    norm_put_(to, number, i, columns, y, amax, part);
  }
};
/* The gradients of x and factor, by turns, too, if they are. */
template <int kind, bool by_turns, class To> struct gate_slope_writer_ {
  To to, to_factor;
  gate_ gate;
  size_t number;
  unsigned columns;
  int has_factor, adds;
  float amax;
  __device__ __forceinline__ bool takes_whole() const {
    return (!to.dst || row_is_aligned_(to.dst + number * to.stride)) &&
           (!to_factor.dst || row_is_aligned_(to_factor.dst + number * to_factor.stride));
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void put(const To &there, size_t i, unsigned count,
                                      mpnum_lanes<float, size> &y, Part part) {
    if (adds) gate_add_(there, number, i, count, y, part);
    norm_put_(there, number, i, count, y, amax, part);
  }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, const gate_pairs_ &in, Part part) {
    pair_ of_x, of_factor;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      const float bounded = gate_bounded_(gate, in.x.at[j]);
      of_factor.at[j] = 0;
      if (to_factor.dst || by_turns)
        of_factor.at[j] =
            gate_to_factor_<kind>(gate, in.dy.at[j], bounded, in.factor.at[j]);
      of_x.at[j] = gate_to_source_<kind>(gate, has_factor != 0, in.dy.at[j], in.x.at[j],
                                         bounded, in.factor.at[j]);
    }
    if (by_turns) {
      mpnum_lanes<float, 4> both = {
          {of_x.at[0], of_factor.at[0], of_x.at[1], of_factor.at[1]}};
      put(to, 2 * i, 2 * columns, both, part);
      return;
    }
    if (to.dst) put(to, i, columns, of_x, part);
    if (to_factor.dst) put(to_factor, i, columns, of_factor, part);
  }
};

/* Activations of the usual x, whose magnitude has the bits most at most. near_value: with
 * the same nearest bf16, where x is one. is_short: x has 12 bits at most. has_twins:
 * values of two at a time. */
template <int kind> struct gate_usual_ {
  static constexpr bool has_twins = false;
  enum : uint32_t { most = 0x7f800000u };
  static __device__ __forceinline__ float near_value(const gate_ &gate, float x) {
    return gate_value_<kind>(gate, x);
  }
  template <bool is_short>
  static __device__ __forceinline__ float value(const gate_ &gate, float x) {
    return gate_value_<kind>(gate, x);
  }
  template <bool is_short>
  static __device__ __forceinline__ float slope(const gate_ &gate, float x) {
    return gate_slope_<kind>(gate, x);
  }
};
template <> struct gate_usual_<gate_silu_> {
  static constexpr bool has_twins = true;
  enum : uint32_t { most = 0x42ae0000u }; /* 87 */
  static __device__ __forceinline__ float near_value(const gate_ &, float x) {
    return usual_near_silu_(x);
  }
  template <bool is_short, class R>
  static __device__ __forceinline__ R value(const gate_ &, R x) {
    return usual_silu_(x);
  }
  template <bool is_short, class R>
  static __device__ __forceinline__ R slope(const gate_ &, R x) {
    return usual_silu_slope_(x);
  }
};
template <> struct gate_usual_<gate_gelu_tanh_> {
  static constexpr bool has_twins = true;
  enum : uint32_t { most = 0x41200000u }; /* 10 */
  static __device__ __forceinline__ float near_value(const gate_ &, float x) {
    return usual_near_gelu_tanh_(x);
  }
  template <bool is_short, class R>
  static __device__ __forceinline__ R value(const gate_ &, R x) {
    return usual_gelu_tanh_<is_short>(x);
  }
  template <bool is_short, class R>
  static __device__ __forceinline__ R slope(const gate_ &, R x) {
    return usual_gelu_tanh_slope_<is_short>(x);
  }
};

/* The same for results of To, which may leave those that are not finite to others. */
template <int kind, class To> struct gate_usual_to_ : gate_usual_<kind> {};
/* Values or slopes of Usual, one of these, of a vector, and products with another one. */
template <class Usual, bool is_slope, bool is_short> struct gate_usual_one_ {
  template <class R> static __device__ __forceinline__ R of(const gate_ &gate, R x) {
    return is_slope ? Usual::template slope<is_short>(gate, x)
                    : Usual::template value<is_short>(gate, x);
  }
};
template <bool has_twins> struct gate_usual_all_ {
  template <class One, unsigned size>
  static __device__ __forceinline__ void of(const gate_ &gate,
                                            mpnum_lanes<float, size> &x) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      x.at[j] = One::of(gate, x.at[j]);
  }
};
template <> struct gate_usual_all_<true> {
  template <class One, unsigned size>
  static __device__ __forceinline__ void of(const gate_ &gate,
                                            mpnum_lanes<float, size> &x) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; j += 2) {
      const twin_ two = {x.at[j], x.at[j + 1]};
      const twin_ y = One::of(gate, two);
      x.at[j] = y.a;
      x.at[j + 1] = y.b;
    }
  }
};
template <class Usual, bool is_slope, bool is_short, unsigned size>
static __device__ __forceinline__ mpnum_lanes<float, size>
gate_usual_lanes_(const gate_ &gate, mpnum_lanes<float, size> x) {
  gate_usual_all_<Usual::has_twins>::template of<
      gate_usual_one_<Usual, is_slope, is_short>>(gate, x);
  return x;
}
template <unsigned size>
static __device__ __forceinline__ void
gate_multiply_(mpnum_lanes<float, size> &x, const mpnum_lanes<float, size> &by) {
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; j += 2) {
    const twin_ a = {x.at[j], x.at[j + 1]}, b = {by.at[j], by.at[j + 1]};
    const twin_ product = times_(a, b);
    x.at[j] = product.a;
    x.at[j + 1] = product.b;
  }
#if !MPNUM_ON_DEVICE_ /* where a NaN is the canonical one */
  for (unsigned j = 0; j < size; ++j)
    x.at[j] = mpnum_canonical_(x.at[j]);
#endif
}
/* Whether of results the nearest bf16 is all that is wanted, and all x are bf16. */
template <class To, class Src> struct gate_is_near_ {
  static constexpr bool value = false;
};
template <> struct gate_is_near_<norm_plain_<mpnum_bf16>, mpnum_bf16> {
  static constexpr bool value = true;
};
/* Vectors of what goes in, as they lie in memory. */
template <unsigned size, class Dy, class Src> struct gate_vectors_ {
  mpnum_lanes<Src, size> x, factor;
  mpnum_lanes<Dy, size> dy;
};
template <unsigned size>
static __device__ __forceinline__ mpnum_lanes<float, size>
gate_floats_(const mpnum_lanes<mpnum_bf16, size> &codes) {
  const mpnum_lanes<uint32_t, size / 2> words =
      copied_<mpnum_lanes<uint32_t, size / 2>>(codes);
  mpnum_lanes<float, size> x;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; j += 2) {
    x.at[j] = mpnum_from_bits_f32(words.at[j / 2] << 16);
    x.at[j + 1] = mpnum_from_bits_f32(words.at[j / 2] & 0xffff0000u);
  }
  return x;
}
template <class T, unsigned size>
static __device__ __forceinline__ mpnum_lanes<float, size>
gate_floats_(const mpnum_lanes<T, size> &codes) {
  mpnum_lanes<float, size> x;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j)
    x.at[j] = row_any_nan_<T>::in(codes.at[j]);
  return x;
}
/* The largest magnitude of some x, as the bits of a float; of NaN more than Inf. */
template <class T, unsigned bytes = sizeof(T)> struct gate_most_ {
  template <unsigned size>
  static __device__ __forceinline__ uint32_t of(const mpnum_lanes<T, size> &,
                                                const mpnum_lanes<float, size> &x) {
    uint32_t most = 0;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      most = larger_magnitudes_<float>::larger(most, mpnum_bits_f32(x.at[j]));
    return most;
  }
};
template <class T> struct gate_most_<T, 2> {
  template <unsigned size>
  static __device__ __forceinline__ uint32_t of(const mpnum_lanes<T, size> &codes,
                                                const mpnum_lanes<float, size> &) {
    const mpnum_lanes<uint32_t, size / 2> words =
        copied_<mpnum_lanes<uint32_t, size / 2>>(codes);
    uint32_t both = 0;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size / 2; ++j)
      both = larger_magnitudes_<T>::larger(both, words.at[j]);
    const uint32_t low = both & 0xffffu, high = both >> 16;
    return mpnum_bits_f32(row_any_nan_<T>::in(from_bits<T>(low > high ? low : high)));
  }
};

/* Puts a whole vector of results; false where it is left to others. */
template <class T, unsigned size>
static __device__ __forceinline__ bool gate_put_(const norm_plain_<T> &to, T *dst,
                                                 mpnum_lanes<float, size> &y, float &) {
#if !MPNUM_ON_DEVICE_ /* where a NaN is the canonical one */
  for (unsigned j = 0; j < size; ++j)
    y.at[j] = mpnum_canonical_(y.at[j]);
#endif
  (void)to;
  row_store_vector_(dst, 0, size, y, row_whole_pair_());
  return true;
}
template <class Q, unsigned size>
static __device__ __forceinline__ bool
gate_put_(const norm_codes_<Q> &to, Q *dst, mpnum_lanes<float, size> &y, float &amax) {
  uint32_t most = 0;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j) {
    most = larger_magnitudes_<float>::larger(most, mpnum_bits_f32(y.at[j]));
    y.at[j] = mpnum_mul_scalar_(y.at[j], to.factor);
  }
  if (most > 0x7f7fffffu) return false;
  most = most > mpnum_bits_f32(amax) ? most : mpnum_bits_f32(amax); /* both are finite */
  amax = mpnum_from_bits_f32(most);
  held_codes_<Q>::put(dst, y);
  return true;
}

/* The unit of this thread in a launch, and its row. */
struct tile_place_ {
  row_place_ row;
  unsigned tile;
};
static __device__ __forceinline__ tile_place_ tile_place_of_(size_t rows, size_t tiles,
                                                             unsigned columns) {
  const size_t block = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const size_t unit = block * blockDim.y + threadIdx.y;
  tile_place_ place;
  place.row = row_place_of_(unit / tiles, rows, columns, 0);
  place.tile = static_cast<unsigned>(unit % tiles);
  return place;
}
/* What both kinds of writers know of a call and a row. */
template <class Writer, class Job>
static __device__ __forceinline__ void gate_begin_(Writer &writer, const Job &job,
                                                   const tile_place_ &place) {
  writer.to = job.to;
  writer.to.begin();
  writer.gate = job.gate;
  writer.number = place.row.number;
  writer.columns = job.columns;
  writer.has_factor = job.factor != 0 || job.by_turns;
  writer.amax = 0;
}
/* So many elements from data on. By bytes: else compilers add them to the index of each
 * element that is read from there. */
template <class T>
static __device__ __forceinline__ T *gate_ahead_(T *data, size_t elements) {
  const uint8_t *const bytes =
      reinterpret_cast<const uint8_t *>(data) + elements * sizeof(T);
  return const_cast<T *>(reinterpret_cast<const T *>(bytes));
}
/* A row of a matrix, NULL of none. */
template <class T>
static __device__ __forceinline__ T *gate_row_(T *data, size_t number, size_t stride) {
  return data ? gate_ahead_(data, number * stride) : 0;
}
template <bool by_turns, class To, class Dy, class Src>
static __device__ __forceinline__ gate_loader_<by_turns, Dy, Src>
gate_loader_of_(const gate_job_<To, Dy, Src> &job, size_t number) {
  gate_loader_<by_turns, Dy, Src> load;
  load.src = gate_row_(job.src, number, job.src_stride);
  load.factor = gate_row_(job.factor, number, job.factor_stride);
  load.dy = gate_row_(job.dy, number, job.dy_stride);
  load.bias = job.bias;
  load.columns = job.columns;
  return load;
}

/* This thread's part of a launch, batch pairs at a time; 0: one, at any address, which is
 * the least code. */
template <unsigned batch> struct gate_each_ {
  template <class Load, class Writer>
  static __device__ __forceinline__ void of(const tile_place_ &place, unsigned columns,
                                            const Load &load, Writer &writer) {
    row_each_<batch>(place.row, place.tile, columns, load, writer);
  }
};
template <> struct gate_each_<0> {
  template <class Load, class Writer>
  static __device__ __forceinline__ void of(const tile_place_ &place, unsigned columns,
                                            const Load &load, Writer &writer) {
    const size_t first = static_cast<size_t>(place.tile) * row_tile_;
    const size_t end = columns - first < row_tile_ ? columns : first + row_tile_;
    for (size_t i = first + 2 * place.row.lane; i < end; i += row_lanes_)
      writer(i, load(i, row_any_()), row_any_());
  }
};
/* Whether neither bias nor bounds nor alpha change what goes in. Launches ask, too. */
MPNUM_INLINE bool gate_is_open_(const mpnum_gate_map_ &map) {
  return mpnum_bits_f32(map.high) == 0x7f800000u &&
         mpnum_bits_f32(map.low) == 0xff800000u &&
         mpnum_bits_f32(map.number) == 0x80000000u;
}
template <class Job> MPNUM_INLINE bool gate_is_plain_(const Job &job) {
  return !job.bias && !job.gate.has_alpha && gate_is_open_(job.gate.source) &&
         (!job.factor || gate_is_open_(job.gate.factor));
}
template <unsigned size, class To>
static __device__ __forceinline__ bool gate_has_vectors_(const To &to, size_t number) {
  return row_is_aligned_<size>(to.dst + (to.dst ? number * to.stride : 0));
}
/* Pairs of a thread in a tile, a bit for each: they go by vectors from the first of a
 * thread on, a step apart. */
template <class T> struct gate_place_ {
  enum : unsigned { size = row_vector_<T>::size, step = 32 * size };
  unsigned first, rest, end; /* no vectors from rest on */
  __device__ __forceinline__ gate_place_(const tile_place_ &place, unsigned columns) {
    const unsigned begin = place.tile * row_tile_;
    end = columns - begin < row_tile_ ? columns : begin + row_tile_;
    rest = end - end % size;
    first = begin + size * place.row.lane;
  }
};
/* Gives vectors of a plain tile to each, batch of them loaded before the first is used.
 * Returns the pairs that each leaves to others. */
template <unsigned batch, bool has_factor, class Dy, class Src, class Load, class Each>
static __device__ __forceinline__ uint32_t
gate_each_vector_(const gate_place_<Src> &place, const Load &load, Each &each) {
  enum : unsigned { size = gate_place_<Src>::size, step = gate_place_<Src>::step };
  uint32_t left = 0;
  unsigned bit = 0;
  MPNUM_NO_UNROLL_
  for (unsigned i = place.first; i < place.rest; i += batch * step) {
    gate_vectors_<size, Dy, Src> in[batch];
    size_t at[batch]; /* of those past the end the first one again */
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b) {
      at[b] = i + b * step < place.rest ? i + b * step : i;
      in[b].x = row_fetch_vector_<size>(load.src, at[b], 0, row_whole_pair_());
      if (has_factor)
        in[b].factor = row_fetch_vector_<size>(load.factor, at[b], 0, row_whole_pair_());
      if (Each::has_dy)
        in[b].dy = row_fetch_vector_<size>(load.dy, at[b], 0, row_whole_pair_());
    }
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b) {
      if (b == 0 || at[b] != i) left |= each(at[b], in[b]) << bit;
      bit += size / 2;
    }
  }
  return left;
}
/* Pairs that are left, and those that are no part of a vector. */
template <class Src, class Load, class Writer>
static __device__ __forceinline__ void gate_each_left_(const gate_place_<Src> &place,
                                                       unsigned lane, uint32_t left,
                                                       const Load &load, Writer &writer) {
  const unsigned pairs = gate_place_<Src>::size / 2;
  unsigned behind = place.rest + 2 * lane;
  MPNUM_NO_UNROLL_
  for (unsigned k = 0; left != 0 || behind < place.end; left >>= 1, ++k) {
    unsigned i = place.first + k / pairs * gate_place_<Src>::step + k % pairs * 2;
    if (left == 0) {
      i = behind;
      behind += row_lanes_;
    } else if (left % 2 == 0) {
      continue;
    }
    writer(i, load(i, row_any_()), row_any_());
  }
}
/* Values of vectors of the usual x. */
template <int kind, bool has_factor, class To, class Src> struct gate_values_ {
  static constexpr bool has_dy = false;
  const To &to; /* of a row */
  const gate_ &gate;
  float &amax;
  template <unsigned size>
  __device__ __forceinline__ uint32_t
  operator()(size_t i, const gate_vectors_<size, Src, Src> &in) {
    mpnum_lanes<float, size> y = gate_floats_(in.x), factor = y;
    if (gate_most_<Src>::of(in.x, y) > gate_usual_<kind>::most)
      return (1u << size / 2) - 1;
    if (has_factor) factor = gate_floats_(in.factor);
    if (!has_factor && gate_is_near_<To, Src>::value) {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; ++j)
        y.at[j] = gate_usual_<kind>::near_value(gate, y.at[j]);
    } else {
      y = gate_usual_lanes_<gate_usual_to_<kind, To>, false, sizeof(Src) <= 2>(gate, y);
    }
    if (has_factor) gate_multiply_(y, factor);
    return gate_put_(to, to.dst + i, y, amax) ? 0 : (1u << size / 2) - 1;
  }
};
/* y, or canonical where hosts stand for a device. */
static __device__ __forceinline__ float gate_times_(float a, float b) {
#if MPNUM_ON_DEVICE_
  return mpnum_mul_scalar_(a, b);
#else
  return mpnum_canonical_(mpnum_mul_scalar_(a, b));
#endif
}
/* Gradients of vectors of the usual x. */
template <int kind, bool has_factor, class To, class Dy, class Src> struct gate_slopes_ {
  static constexpr bool has_dy = true;
  const To &to, &to_factor;
  const gate_ &gate;
  size_t begin, factor_begin;
  float &amax;
  template <unsigned size>
  __device__ __forceinline__ uint32_t operator()(size_t i,
                                                 const gate_vectors_<size, Dy, Src> &in) {
    mpnum_lanes<float, size> x = gate_floats_(in.x), factor = x, made = x;
    if (gate_most_<Src>::of(in.x, x) > gate_usual_<kind>::most)
      return (1u << size / 2) - 1;
    const mpnum_lanes<float, size> dy = gate_floats_(in.dy);
    mpnum_lanes<float, size> own = dy;
    if (has_factor) {
      factor = gate_floats_(in.factor);
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; ++j)
        own.at[j] = mpnum_mul_scalar_(dy.at[j], factor.at[j]);
      factor =
          gate_usual_lanes_<gate_usual_to_<kind, To>, false, sizeof(Src) <= 2>(gate, x);
      gate_multiply_(factor, dy);
    }
    made = gate_usual_lanes_<gate_usual_<kind>, true, sizeof(Src) <= 2>(gate, x);
    if (kind == gate_relu_ || kind == gate_squared_) {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; ++j)
        made.at[j] =
            mpnum_gate_source_scalar_(&gate.factor, own.at[j], x.at[j], made.at[j]);
    } else {
      gate_multiply_(made, own);
    }
    if (has_factor &&
        !gate_put_(to_factor, to_factor.dst + factor_begin + i, factor, amax))
      return (1u << size / 2) - 1;
    return gate_put_(to, to.dst + begin + i, made, amax) ? 0 : (1u << size / 2) - 1;
  }
};
/* Words of codes of products. */
template <class T, unsigned size>
static __device__ __forceinline__ mpnum_lanes<uint32_t, size / 2>
gate_products_(const mpnum_lanes<float, size> &a, const mpnum_lanes<float, size> &b) {
  mpnum_lanes<uint32_t, size / 2> words;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; j += 2) {
    const pair_ y = {{mpnum_mul_scalar_(a.at[j], b.at[j]),
                      mpnum_mul_scalar_(a.at[j + 1], b.at[j + 1])}};
    words.at[j / 2] = row_codes_<T>::word(y);
  }
  return words;
}
/* Of gelu_tanh, bf16 of a factor that is none: the codes of products with bounds of the
 * derivative, where both are the same. */
template <class Dy>
struct gate_slopes_<gate_gelu_tanh_, false, norm_plain_<mpnum_bf16>, Dy, mpnum_bf16> {
  static constexpr bool has_dy = true;
  enum : uint32_t { most = 0x41100000u }; /* 9 */
  const norm_plain_<mpnum_bf16> &to, &to_factor;
  const gate_ &gate;
  size_t begin, factor_begin;
  float &amax;
  template <unsigned size>
  __device__ __forceinline__ uint32_t
  operator()(size_t i, const gate_vectors_<size, Dy, mpnum_bf16> &in) {
    typedef mpnum_lanes<uint32_t, size / 2> vector;
    const mpnum_lanes<float, size> x = gate_floats_(in.x), dy = gate_floats_(in.dy);
    mpnum_lanes<float, size> low, high;
    uint32_t differ = 0, left = 0;
    if (gate_most_<mpnum_bf16>::of(in.x, x) > most) return (1u << size / 2) - 1;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j) {
      const usual_bounds_ bounds = usual_gelu_tanh_bounds_(x.at[j]);
      low.at[j] = bounds.low;
      high.at[j] = bounds.high;
    }
    const vector a = gate_products_<mpnum_bf16>(dy, low);
    const vector b = gate_products_<mpnum_bf16>(dy, high);
    uint32_t *const words = reinterpret_cast<uint32_t *>(to.dst + begin + i);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size / 2; ++j)
      differ |= a.at[j] ^ b.at[j];
    if (differ == 0) {
      *reinterpret_cast<vector *>(words) = a;
      return 0;
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size / 2; ++j) {
      if (a.at[j] == b.at[j])
        words[j] = a.at[j];
      else
        left |= 1u << j;
    }
    return left;
  }
};
/* A tile by vectors, if it may go so. */
template <int kind, class To, class Src>
static __device__ __forceinline__ bool
gate_run_vectors_(const gate_job_<To, Src, Src> &job, const tile_place_ &place,
                  gate_writer_<kind, To> &writer) {
  enum : unsigned { size = row_vector_<Src>::size };
  const size_t number = place.row.number;
  const gate_loader_<false, Src, Src> load = gate_loader_of_<false>(job, number);
  const gate_place_<Src> vectors(place, job.columns);
  To to = writer.to;
  uint32_t left = 0;
  to.dst = gate_row_(to.dst, number, to.stride);
  if (!gate_is_plain_(job) || place.row.lanes != 32 || !row_is_aligned_<size>(load.src) ||
      !row_is_aligned_<size>(load.factor) || !gate_has_vectors_<size>(job.to, number))
    return false;
  if (job.factor) {
    gate_values_<kind, true, To, Src> each = {to, job.gate, writer.amax};
    left = gate_each_vector_<2, true, Src>(vectors, load, each);
  } else {
    gate_values_<kind, false, To, Src> each = {to, job.gate, writer.amax};
    left = gate_each_vector_<2, false, Src>(vectors, load, each);
  }
  gate_each_left_(vectors, place.row.lane, left, load, writer);
  return true;
}
template <int kind, class To, class Dy, class Src>
static __device__ __forceinline__ bool
gate_run_back_vectors_(const gate_job_<To, Dy, Src> &job, const tile_place_ &place,
                       gate_slope_writer_<kind, false, To> &writer) {
  enum : unsigned { size = row_vector_<Src>::size };
  const size_t number = place.row.number, begin = number * job.to.stride;
  const gate_loader_<false, Dy, Src> load = gate_loader_of_<false>(job, number);
  const gate_place_<Src> vectors(place, job.columns);
  uint32_t left = 0;
  if (!gate_is_plain_(job) || place.row.lanes != 32 || job.adds || !job.to.dst ||
      !job.factor != !job.to_factor.dst || !row_is_aligned_<size>(load.src) ||
      !row_is_aligned_<size>(load.dy) || !row_is_aligned_<size>(load.factor) ||
      !gate_has_vectors_<size>(job.to, number) ||
      !gate_has_vectors_<size>(job.to_factor, number))
    return false;
  if (job.factor) {
    gate_slopes_<kind, true, To, Dy, Src> each = {
        writer.to,  writer.to_factor, job.gate, begin, number * job.to_factor.stride,
        writer.amax};
    left = gate_each_vector_<1, true, Dy>(vectors, load, each);
  } else {
    gate_slopes_<kind, false, To, Dy, Src> each = {
        writer.to, writer.to_factor, job.gate, begin, 0, writer.amax};
    left = gate_each_vector_<2, false, Dy>(vectors, load, each);
  }
  gate_each_left_(vectors, place.row.lane, left, load, writer);
  return true;
}
template <int kind, class To, class Dy, class Src>
static __device__ __forceinline__ bool
gate_run_back_vectors_(const gate_job_<To, Dy, Src> &, const tile_place_ &,
                       gate_slope_writer_<kind, true, To> &) {
  return false; /* by turns */
}
template <int kind, bool by_turns, unsigned batch, class To, class Src>
static __device__ __forceinline__ void gate_run_(const gate_job_<To, Src, Src> &job,
                                                 const tile_place_ &place) {
  gate_writer_<kind, To> writer;
  gate_begin_(writer, job, place);
  if (!by_turns && place.row.exists && gate_run_vectors_(job, place, writer)) {
    norm_amax_(job.to, writer.amax);
    return;
  }
  if (place.row.exists)
    gate_each_<batch>::of(place, job.columns,
                          gate_loader_of_<by_turns>(job, place.row.number), writer);
  norm_amax_(job.to, writer.amax);
}
template <int kind, bool by_turns, unsigned batch, class To, class Dy, class Src>
static __device__ __forceinline__ void gate_run_back_(const gate_job_<To, Dy, Src> &job,
                                                      const tile_place_ &place) {
  gate_slope_writer_<kind, by_turns, To> writer;
  gate_begin_(writer, job, place);
  writer.to_factor = job.to_factor;
  writer.to_factor.begin();
  writer.adds = job.adds;
  if (!by_turns && place.row.exists && gate_run_back_vectors_(job, place, writer)) {
    norm_amax_(job.to, writer.amax);
    return;
  }
  if (place.row.exists)
    gate_each_<batch>::of(place, job.columns,
                          gate_loader_of_<by_turns>(job, place.row.number), writer);
  norm_amax_(job.to, writer.amax);
}

} // namespace mpnum

MPNUM_C_END_
#endif

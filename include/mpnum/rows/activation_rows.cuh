/* SPDX-License-Identifier: MIT */
/* Activations of rows in device memory with bias and factor, their gradients, also to 8
 * bits with a scale, and dropout. Rules: rows.cuh, kernels.cuh. CUDA C++11; NVRTC for
 * the kernels alone.
 *
 *     mpnum_activation_options options = mpnum_activation_default();
 *     options.factor = mpnum_const_matrix_of(MPNUM_TYPE_BF16, up, rows, n);
 *     mpnum_launch_activation_backward_rows(
 *         MPNUM_ACTIVATION_SILU, mpnum::matrix_of(dgate, rows, n),
 *         mpnum::matrix_of(dup, rows, n), mpnum::matrix_of(dy, rows, n),
 *         mpnum::matrix_of(gate, rows, n), &options, stream);
 *
 * What each does is said in activation_rows.h, activation_backward.h and dropout.h, and
 * the bits are those of the host's functions.
 * Domain: as rows.cuh. The factor of the options has the type of src; bias and factor are
 *   in device memory. Both gradients have one type; one that is not wanted is an empty
 *   view of it, mpnum::matrix<T>(). A function of the caller is the host's alone.
 * Status: cudaErrorInvalidValue, and nothing is launched, where the host's function has
 *   an error.
 * Speed: elements are read and written once, by a warp for every 2048 of a row. */
#ifndef MPNUM_ROWS_ACTIVATION_ROWS_CUH
#define MPNUM_ROWS_ACTIVATION_ROWS_CUH

#include "norm_rows.cuh"
#include "detail/activation_loops.h"
#include "detail/dropout_loops.h"
#if !MPNUM_HAS_NVRTC_
# include "activation_rows.h"
#endif
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

/* Pairs of what goes in; what is absent is NULL. */
struct gate_pairs_ {
  pair_ x, factor, dy;
};
template <class Dy, class Src> struct gate_loader_ {
  typedef gate_pairs_ result;
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
    gate_pairs_ in = {{{0, 0}}, {{0, 0}}, {{0, 0}}};
    in.x = row_load_(src, i, columns, part);
    if (factor) in.factor = row_load_(factor, i, columns, part);
    if (dy) in.dy = row_load_(dy, i, columns, part);
    if (bias) {
      const pair_ added = row_load_(bias, i, columns, part);
      in.x.at[0] = mpnum_canonical_(mpnum_add_scalar_(in.x.at[0], added.at[0]));
      in.x.at[1] = mpnum_canonical_(mpnum_add_scalar_(in.x.at[1], added.at[1]));
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
  unsigned columns;
  int adds;
  gate_ gate;
};
template <class T, class Part>
static __device__ __forceinline__ void gate_add_(const norm_plain_<T> &to, size_t number,
                                                 size_t i, unsigned columns, pair_ &y,
                                                 Part part) {
  const pair_ old = row_load_(to.dst + number * to.stride, i, columns, part);
  y.at[0] = mpnum_canonical_(mpnum_add_scalar_(old.at[0], y.at[0]));
  y.at[1] = mpnum_canonical_(mpnum_add_scalar_(old.at[1], y.at[1]));
}
template <class Q, class Part>
static __device__ __forceinline__ void gate_add_(const norm_codes_<Q> &, size_t, size_t,
                                                 unsigned, pair_ &, Part) {}

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
    for (unsigned j = 0; j < 2; ++j) {
      y.at[j] =
          gate_value_<kind>(gate, mpnum_gate_bounded_scalar_(&gate.source, in.x.at[j]));
      if (has_factor)
        y.at[j] = mpnum_mul_scalar_(
            y.at[j], mpnum_gate_bounded_scalar_(&gate.factor, in.factor.at[j]));
      y.at[j] = mpnum_canonical_(y.at[j]);
    }
    norm_put_(to, number, i, columns, y, amax, part);
  }
};
/* The gradients of x and factor. */
template <int kind, class To> struct gate_slope_writer_ {
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
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, const gate_pairs_ &in, Part part) {
    pair_ of_x, of_factor;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      const float x = mpnum_gate_bounded_scalar_(&gate.source, in.x.at[j]);
      float dy = in.dy.at[j];
      of_factor.at[j] = 0;
      if (to_factor.dst)
        of_factor.at[j] = mpnum_gate_factor_scalar_(&gate.factor, dy, in.factor.at[j],
                                                    gate_value_<kind>(gate, x));
      if (has_factor)
        dy = mpnum_mul_scalar_(dy,
                               mpnum_gate_bounded_scalar_(&gate.factor, in.factor.at[j]));
      of_x.at[j] = mpnum_gate_source_scalar_(&gate.factor, dy, in.x.at[j],
                                             gate_slope_<kind>(gate, x));
    }
    if (to.dst) {
      if (adds) gate_add_(to, number, i, columns, of_x, part);
      norm_put_(to, number, i, columns, of_x, amax, part);
    }
    if (to_factor.dst) {
      if (adds) gate_add_(to_factor, number, i, columns, of_factor, part);
      norm_put_(to_factor, number, i, columns, of_factor, amax, part);
    }
  }
};

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
  writer.has_factor = job.factor != 0;
  writer.amax = 0;
}
template <class To, class Dy, class Src>
static __device__ __forceinline__ gate_loader_<Dy, Src>
gate_loader_of_(const gate_job_<To, Dy, Src> &job, size_t number) {
  gate_loader_<Dy, Src> load;
  load.src = job.src + number * job.src_stride;
  load.factor = job.factor ? job.factor + number * job.factor_stride : 0;
  load.dy = job.dy ? job.dy + number * job.dy_stride : 0;
  load.bias = job.bias;
  load.columns = job.columns;
  return load;
}

} // namespace mpnum

/* Blocks as mpnum_launch_tiles_ has them. */
template <int kind, class To, class Src>
static __global__ void __launch_bounds__(256)
    mpnum_activation_rows_kernel_(mpnum::gate_job_<To, Src, Src> job) {
  const mpnum::tile_place_ place =
      mpnum::tile_place_of_(job.rows, job.tiles, job.columns);
  mpnum::gate_writer_<kind, To> writer;
  mpnum::gate_begin_(writer, job, place);
  if (place.row.exists)
    mpnum::row_each_<4>(place.row, place.tile, job.columns,
                        mpnum::gate_loader_of_(job, place.row.number), writer);
  mpnum::norm_amax_(job.to, writer.amax);
}
template <int kind, class To, class Dy, class Src>
static __global__ void __launch_bounds__(256)
    mpnum_activation_backward_rows_kernel_(mpnum::gate_job_<To, Dy, Src> job) {
  const mpnum::tile_place_ place =
      mpnum::tile_place_of_(job.rows, job.tiles, job.columns);
  mpnum::gate_slope_writer_<kind, To> writer;
  mpnum::gate_begin_(writer, job, place);
  writer.to_factor = job.to_factor;
  writer.to_factor.begin();
  writer.adds = job.adds;
  if (place.row.exists)
    mpnum::row_each_<2>(place.row, place.tile, job.columns,
                        mpnum::gate_loader_of_(job, place.row.number), writer);
  mpnum::norm_amax_(job.to, writer.amax);
}

namespace mpnum {

template <class Dst, class Src> struct dropout_job_ {
  Dst *dst;
  const Src *src;
  size_t rows, tiles, dst_stride, src_stride;
  unsigned columns;
  mpnum_dropout_ how;
};

} // namespace mpnum

/* The same; a thread takes four elements at a time. */
template <class Dst, class Src>
static __global__ void __launch_bounds__(256)
    mpnum_dropout_rows_kernel_(mpnum::dropout_job_<Dst, Src> job) {
  const mpnum::tile_place_ place =
      mpnum::tile_place_of_(job.rows, job.tiles, job.columns);
  const size_t number = place.row.number, first = place.tile * mpnum::row_tile_;
  const size_t end = first + mpnum::row_tile_;
  if (!place.row.exists) return;
  for (size_t i = first + 4 * place.row.lane; i < end && i < job.columns;
       i += 4 * blockDim.x) {
    const size_t left = job.columns - i;
    const mpnum_lanes<Src, 4> x =
        mpnum_load<4>(job.src + number * job.src_stride + i, left);
    mpnum_lanes<Dst, 4> y;
    uint32_t words[4];
    mpnum_quantize_words_(words, job.how.seed, job.how.offset + number * job.columns + i);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      y.at[j] = mpnum::row_element_<Dst>::out(
          mpnum_dropped_(&job.how, mpnum::row_element_<Src>::in(x.at[j]), words[j]));
    mpnum_store(job.dst + number * job.dst_stride + i, y, left);
  }
}

#if !MPNUM_HAS_NVRTC_

/* A launch over the tiles of a job's rows: a warp for each, eight in a block; rows of up
 * to 64 elements share warps. */
template <class Job>
static inline cudaError_t mpnum_launch_tiles_(void (*kernel)(Job), Job &job,
                                              cudaStream_t stream) {
  const size_t limit = 0x7fffffff; /* blocks of a grid, across */
  mpnum::row_shape_ shape = {32, 8, 0};
  void *pointers[] = {&job};
  if (job.rows == 0 || job.columns == 0) return cudaSuccess;
  if (job.columns <= mpnum::row_lanes_)
    shape = mpnum::row_shape_of_(job.columns, 1, mpnum::row_kept_);
  job.tiles = (job.columns - 1) / mpnum::row_tile_ + 1;
  const size_t blocks = (job.rows * job.tiles - 1) / shape.rows + 1;
  const size_t across = blocks < limit ? blocks : limit;
  return cudaLaunchKernel(kernel,
                          dim3(static_cast<unsigned>(across),
                               static_cast<unsigned>((blocks - 1) / across + 1)),
                          dim3(shape.threads, shape.rows), pointers, 0, stream);
}

/* The source of a launch and its numbers, and whether the options are what
 * activation_rows.h allows. */
template <class To, class Dy, class Src>
static inline bool mpnum_gate_job_of_(mpnum::gate_job_<To, Dy, Src> &job,
                                      mpnum_activation activation, const Src *src,
                                      size_t stride, size_t rows, size_t columns,
                                      const mpnum_activation_options *options, int adds) {
  const mpnum_activation_options usual = mpnum_activation_default();
  const mpnum_activation_options &chosen = options ? *options : usual;
  const mpnum_const_matrix &factor = chosen.factor;
  const bool is_empty = rows == 0 || columns == 0;
  static_assert(mpnum::has_rows_<Src>::value, "float, f16, bf16, e5m2 or e4m3");
  job.to = To();
  job.to_factor = To();
  job.src = src;
  job.src_stride = stride;
  job.rows = rows;
  job.columns = static_cast<unsigned>(columns);
  job.factor = static_cast<const Src *>(factor.data);
  job.factor_stride = factor.stride;
  job.dy = 0;
  job.dy_stride = 0;
  job.bias = chosen.bias;
  job.adds = chosen.adds;
  job.gate.alpha = chosen.alpha;
  if (!mpnum_activation_is_known_(activation, chosen.limit, chosen.alpha,
                                  chosen.offset) ||
      chosen.function || (chosen.adds != 0 && chosen.adds != adds) ||
      columns > mpnum::row_columns_ || (!src && !is_empty) ||
      (factor.data &&
       (factor.type != static_cast<mpnum_type>(mpnum::type_of<Src>::value) ||
        factor.rows != rows || factor.columns != columns)))
    return false;
  job.gate.has_alpha = mpnum_activation_has_alpha_(&chosen);
  {
    const uint64_t saved = mpnum_fenv_save_();
    volatile float alpha = chosen.alpha; /* read between these */
    job.gate.inverse = job.gate.has_alpha ? mpnum_activation_inverse_(alpha) : alpha;
    mpnum_fenv_restore_(saved);
  }
  job.gate.source = mpnum_activation_bounds_(&chosen, 0);
  job.gate.factor = mpnum_activation_bounds_(&chosen, 1);
  return true;
}
/* Whether results, which may be in the place of sources, fit them; codes are apart. */
template <class T, class Src>
static inline bool mpnum_gate_fits_(const mpnum::norm_plain_<T> &to, const Src *src,
                                    size_t stride, size_t rows, size_t columns,
                                    int adds) {
  const bool is_same = static_cast<const void *>(to.dst) == src && rows && columns;
  return mpnum_rows_fit_(to.dst, to.stride, src, stride, rows, columns) &&
         !(adds && is_same);
}
template <class Q, class Src>
static inline bool mpnum_gate_fits_(const mpnum::norm_codes_<Q> &to, const Src *src,
                                    size_t stride, size_t rows, size_t columns, int) {
  return (to.dst || !rows || !columns) && to.stride >= columns && to.scale &&
         mpnum_rows_are_apart_(to.dst, to.stride, src, stride, rows, columns);
}
template <class To, class Dy, class Src>
static inline bool mpnum_gate_fits_all_(const mpnum::gate_job_<To, Dy, Src> &job,
                                        const To &to) {
  const size_t rows = job.rows, columns = job.columns;
  return (!job.bias || !rows || !columns ||
          !mpnum_overlap_(job.bias, 4 * columns, to.dst,
                          mpnum_extent_(rows, columns, to.stride, 8 * sizeof *to.dst))) &&
         mpnum_gate_fits_(to, job.src, job.src_stride, rows, columns, job.adds) &&
         (!job.factor ||
          mpnum_gate_fits_(to, job.factor, job.factor_stride, rows, columns, job.adds)) &&
         (!job.dy ||
          mpnum_gate_fits_(to, job.dy, job.dy_stride, rows, columns, job.adds));
}
# define MPNUM_EACH_GATE_(kernel, ...)                                                   \
  switch (activation) {                                                                  \
  case MPNUM_ACTIVATION_GELU:                                                            \
   return mpnum_launch_tiles_(kernel<mpnum::gate_gelu_, __VA_ARGS__>, job, stream);      \
  case MPNUM_ACTIVATION_GELU_TANH:                                                       \
   return mpnum_launch_tiles_(kernel<mpnum::gate_gelu_tanh_, __VA_ARGS__>, job, stream); \
  case MPNUM_ACTIVATION_RELU:                                                            \
   return mpnum_launch_tiles_(kernel<mpnum::gate_relu_, __VA_ARGS__>, job, stream);      \
  case MPNUM_ACTIVATION_RELU_SQUARED:                                                    \
   return mpnum_launch_tiles_(kernel<mpnum::gate_squared_, __VA_ARGS__>, job, stream);   \
  default: break;                                                                        \
  }                                                                                      \
  return mpnum_launch_tiles_(kernel<mpnum::gate_silu_, __VA_ARGS__>, job, stream)

template <class To, class Src>
static inline cudaError_t
mpnum_launch_activation_(mpnum_activation activation, const To &to, const Src *src,
                         size_t stride, size_t rows, size_t columns,
                         const mpnum_activation_options *options, cudaStream_t stream) {
  mpnum::gate_job_<To, Src, Src> job;
  if (!mpnum_gate_job_of_(job, activation, src, stride, rows, columns, options, 0) ||
      !mpnum_gate_fits_all_(job, to))
    return cudaErrorInvalidValue;
  job.to = to;
  MPNUM_EACH_GATE_(mpnum_activation_rows_kernel_, To, Src);
}
template <class To, class Dy, class Src>
static inline cudaError_t mpnum_launch_activation_backward_(
    mpnum_activation activation, const To &to, const To &to_factor, const Dy *dy,
    size_t dy_stride, const Src *src, size_t stride, size_t rows, size_t columns,
    const mpnum_activation_options *options, int adds, cudaStream_t stream) {
  const bool has_elements = rows != 0 && columns != 0;
  mpnum::gate_job_<To, Dy, Src> job;
  static_assert(mpnum::has_rows_<Dy>::value, "float, f16, bf16, e5m2 or e4m3");
  if (!mpnum_gate_job_of_(job, activation, src, stride, rows, columns, options, adds))
    return cudaErrorInvalidValue;
  job.dy = dy;
  job.dy_stride = dy_stride;
  if ((!dy && has_elements) || (!to.dst && !to_factor.dst && has_elements) ||
      (to.dst && !mpnum_gate_fits_all_(job, to)) ||
      (to_factor.dst && (!job.factor || !mpnum_gate_fits_all_(job, to_factor))) ||
      !mpnum_rows_are_apart_(to.dst, to.stride, to_factor.dst, to_factor.stride, rows,
                             columns))
    return cudaErrorInvalidValue;
  job.to = to;
  job.to_factor = to_factor;
  MPNUM_EACH_GATE_(mpnum_activation_backward_rows_kernel_, To, Dy, Src);
}
# undef MPNUM_EACH_GATE_
template <class T>
static inline mpnum::norm_plain_<T> mpnum_gate_to_(T *dst, size_t stride) {
  const mpnum::norm_plain_<T> to = {dst, stride};
  return to;
}
template <class Q>
static inline mpnum::norm_codes_<Q> mpnum_gate_to_(Q *dst, size_t stride,
                                                   const float *scale, float *amax) {
  const mpnum::norm_codes_<Q> to = {dst, stride, amax, scale, 0};
  return to;
}
/* Whether a result that is wanted has the shape of another matrix. */
template <class To, class Src>
static inline bool mpnum_gate_has_shape_(const mpnum::matrix<To> &to,
                                         const mpnum::matrix<Src> &src) {
  return !to.data || mpnum_have_one_shape_(to, src);
}

/* mpnum_activation_rows. */
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_activation_rows(
    mpnum_activation activation, mpnum::matrix<Dst> dst, mpnum::matrix<Src> src,
    const mpnum_activation_options *options, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dst, src)) return cudaErrorInvalidValue;
  return mpnum_launch_activation_(activation, mpnum_gate_to_(dst.data, dst.stride),
                                  src.data, src.stride, src.rows, src.columns, options,
                                  stream);
}
/* mpnum_activation_quantize_rows: codes of Q, a type of 8 bits or fewer, one in a byte.
 * scale and amax are in device memory and what they are in norm_rows.cuh. */
template <class Q, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_activation_quantize_rows(
    mpnum_activation activation, mpnum::matrix<Q> dst, mpnum::matrix<Src> src,
    const mpnum_activation_options *options, const float *scale, float *amax,
    cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dst, src)) return cudaErrorInvalidValue;
  return mpnum_launch_activation_(
      activation, mpnum_gate_to_(dst.data, dst.stride, scale, amax), src.data, src.stride,
      src.rows, src.columns, options, stream);
}
/* mpnum_activation_backward_rows. */
template <class D, class Dy, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_activation_backward_rows(
    mpnum_activation activation, mpnum::matrix<D> to_src, mpnum::matrix<D> to_factor,
    mpnum::matrix<Dy> dy, mpnum::matrix<Src> src, const mpnum_activation_options *options,
    cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dy, src) || !mpnum_gate_has_shape_(to_src, src) ||
      !mpnum_gate_has_shape_(to_factor, src))
    return cudaErrorInvalidValue;
  return mpnum_launch_activation_backward_(
      activation, mpnum_gate_to_(to_src.data, to_src.stride),
      mpnum_gate_to_(to_factor.data, to_factor.stride), dy.data, dy.stride, src.data,
      src.stride, src.rows, src.columns, options, 1, stream);
}
/* mpnum_activation_backward_quantize_rows: codes of Q, by *scale, with the larger amax of
 * both, as above. */
template <class Q, class Dy, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_activation_backward_quantize_rows(
    mpnum_activation activation, mpnum::matrix<Q> to_src, mpnum::matrix<Q> to_factor,
    mpnum::matrix<Dy> dy, mpnum::matrix<Src> src, const mpnum_activation_options *options,
    const float *scale, float *amax, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dy, src) || !mpnum_gate_has_shape_(to_src, src) ||
      !mpnum_gate_has_shape_(to_factor, src))
    return cudaErrorInvalidValue;
  return mpnum_launch_activation_backward_(
      activation, mpnum_gate_to_(to_src.data, to_src.stride, scale, amax),
      mpnum_gate_to_(to_factor.data, to_factor.stride, scale, amax), dy.data, dy.stride,
      src.data, src.stride, src.rows, src.columns, options, 0, stream);
}

template <class Dst, class Src>
static inline cudaError_t
mpnum_launch_dropout_(Dst *dst, size_t dst_stride, const Src *src, size_t src_stride,
                      size_t rows, size_t columns, float keep, uint64_t seed,
                      uint64_t offset, cudaStream_t stream) {
  mpnum::dropout_job_<Dst, Src> job;
  static_assert(mpnum::has_rows_<Src>::value, "float, f16, bf16, e5m2 or e4m3");
  if (!mpnum_is_keep_(keep) || columns > mpnum::row_columns_ ||
      (!src && rows && columns) ||
      !mpnum_rows_fit_(dst, dst_stride, src, src_stride, rows, columns))
    return cudaErrorInvalidValue;
  job.dst = dst;
  job.src = src;
  job.rows = rows;
  job.dst_stride = dst_stride;
  job.src_stride = src_stride;
  job.columns = static_cast<unsigned>(columns);
  {
    const uint64_t saved = mpnum_fenv_save_();
    volatile float kept = keep; /* read between these */
    job.how = mpnum_dropout_of_(kept, seed, offset);
    mpnum_fenv_restore_(saved);
  }
  return mpnum_launch_tiles_(mpnum_dropout_rows_kernel_<Dst, Src>, job, stream);
}
/* mpnum_dropout_rows. */
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dropout_rows(mpnum::matrix<Dst> dst, mpnum::matrix<Src> src, float keep,
                          uint64_t seed, uint64_t offset, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dst, src)) return cudaErrorInvalidValue;
  return mpnum_launch_dropout_(dst.data, dst.stride, src.data, src.stride, src.rows,
                               src.columns, keep, seed, offset, stream);
}

#endif

MPNUM_C_END_
#endif

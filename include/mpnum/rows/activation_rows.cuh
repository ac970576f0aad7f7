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
 * Approximate: mpnum_launch_activation_rows<true>(MPNUM_ACTIVATION_SILU, ...) and the
 *   other three, of SILU and GELU_TANH, compute by ex2 and rcp of GPUs (fast.h): values
 *   within the bounds there, derivatives within 2^-17 of SILU and 2^-16 of GELU_TANH, -0
 *   at -Inf. Bits are then a GPU's own, and on hosts those of the light forms.
 * Speed: elements are read and written once, by a warp for every 2048 of a row; by 16
 * bytes where rows are aligned for that and neither bias, bounds nor alpha is given, and
 * with fewer steps where magnitudes of x are at most 87 of silu, 10 of gelu_tanh. */
#ifndef MPNUM_ROWS_ACTIVATION_ROWS_CUH
#define MPNUM_ROWS_ACTIVATION_ROWS_CUH

#include "detail/activation_fast.cuh"
#include "detail/dropout_loops.h"
#if !MPNUM_HAS_NVRTC_
# include "activation_rows.h"
#endif
MPNUM_C_BEGIN_

/* Blocks as mpnum_launch_tiles_ has them. What lies by turns has code of its own, so that
 * loads of a batch stand together in the other. */
template <int kind, class To, class Src>
static __global__ void __launch_bounds__(256, mpnum::gate_blocks_<kind>::count)
    mpnum_activation_rows_kernel_(mpnum::gate_job_<To, Src, Src> job) {
  mpnum_begin_kernel_();
  const mpnum::tile_place_ place =
      mpnum::tile_place_of_(job.rows, job.tiles, job.columns);
  if (job.by_turns)
    mpnum::gate_run_<kind, true, 0>(job, place);
  else
    mpnum::gate_run_<kind, false, 4>(job, place);
}
template <int kind, class To, class Dy, class Src>
static __global__ void __launch_bounds__(256, mpnum::gate_blocks_<kind>::count)
    mpnum_activation_backward_rows_kernel_(mpnum::gate_job_<To, Dy, Src> job) {
  mpnum_begin_kernel_();
  const mpnum::tile_place_ place =
      mpnum::tile_place_of_(job.rows, job.tiles, job.columns);
  if (job.by_turns)
    mpnum::gate_run_back_<kind, true, 0>(job, place);
  else
    mpnum::gate_run_back_<kind, false, 2>(job, place);
}

namespace mpnum {

template <class Dst, class Src> struct dropout_job_ {
  Dst *dst;
  const Src *src;
  size_t rows, tiles, dst_stride, src_stride;
  unsigned columns;
  mpnum_dropout_ how;
  mpnum_random_keys_ keys;
};

/* Whole vectors of a tile whose first element has the first of four words, with some that
 * are kept; batch of them are loaded before the first is used. */
template <unsigned batch, class Dst, class Src>
static __device__ __forceinline__ void
dropout_vectors_(const dropout_job_<Dst, Src> &job, const Src *src, Dst *dst,
                 unsigned begin, unsigned end, uint64_t index) {
  enum : unsigned { size = row_vector_<Src>::size, step = 32 * size };
  MPNUM_NO_UNROLL_
  for (unsigned i = begin; i < end; i += batch * step) {
    mpnum_lanes<Src, size> x[batch];
    size_t at[batch]; /* of those past the end the first one again */
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b) {
      at[b] = i + b * step < end ? i + b * step : i;
      x[b] = *reinterpret_cast<const mpnum_lanes<Src, size> *>(src + at[b]);
    }
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b) {
      mpnum_lanes<float, size> y = row_floats_(x[b]);
      if (b != 0 && at[b] == i) continue;
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; j += 4) {
        const mpnum_u32x4 four = mpnum_random_by_(job.keys, (index + at[b] + j) / 4);
        const uint32_t words[4] = {four.x, four.y, four.z, four.w};
        MPNUM_UNROLL_
        for (unsigned k = 0; k < 4; ++k)
          y.at[j + k] = words[k] > job.how.last ? mpnum_from_bits_f32(0)
                                                : gate_times_(y.at[j + k], job.how.scale);
      }
      row_store_vector_(dst, at[b], 0, y, row_whole_pair_());
    }
  }
}

} // namespace mpnum

/* The same; a thread takes vectors. */
template <class Dst, class Src>
static __global__ void __launch_bounds__(256)
    mpnum_dropout_rows_kernel_(mpnum::dropout_job_<Dst, Src> job) {
  mpnum_begin_kernel_();
  const mpnum::tile_place_ place =
      mpnum::tile_place_of_(job.rows, job.tiles, job.columns);
  const size_t number = place.row.number, first = place.tile * mpnum::row_tile_;
  const size_t end = first + mpnum::row_tile_;
  enum : unsigned { size = mpnum::row_vector_<Src>::size };
  typedef mpnum_lanes<uint32_t, size * sizeof(Dst) / 4> vector;
  if (!place.row.exists) return;
  Dst *const dst = job.dst + number * job.dst_stride;
  vector *const vectors = reinterpret_cast<vector *>(dst);
  const bool is_aligned = mpnum::row_is_aligned_<size>(dst);
  const uint64_t index = job.how.offset + number * job.columns;
  size_t done = first; /* by whole vectors */
  if (is_aligned && blockDim.x == 32 && !job.how.keeps_none && index % 4 == 0 &&
      mpnum::row_is_aligned_<size>(job.src + number * job.src_stride)) {
    done = end < job.columns ? end : job.columns - job.columns % size;
    mpnum::dropout_vectors_<2>(job, job.src + number * job.src_stride, dst,
                               static_cast<unsigned>(first) + size * place.row.lane,
                               static_cast<unsigned>(done), index);
  }
  for (size_t i = done + size * place.row.lane; i < end && i < job.columns;
       i += size * blockDim.x) {
    const size_t left = job.columns - i;
    const mpnum_lanes<Src, size> x =
        mpnum_load<size>(job.src + number * job.src_stride + i, left);
    typename mpnum::four_of_<Dst>::type y[size / 4];
    uint32_t words[size];
    mpnum_quantize_words_(words, job.keys, job.how.offset + number * job.columns + i);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      words[j] = mpnum_bits_f32(
          mpnum_dropped_(&job.how, mpnum::row_element_<Src>::in(x.at[j]), words[j]));
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; j += 4) {
      const mpnum_f32x4 dropped = {
          mpnum_from_bits_f32(words[j]), mpnum_from_bits_f32(words[j + 1]),
          mpnum_from_bits_f32(words[j + 2]), mpnum_from_bits_f32(words[j + 3])};
      y[j / 4] = mpnum::four_plain_<Dst>::at(dropped);
    }
    if (left >= size && is_aligned) {
      vectors[i / size] = mpnum::copied_<vector>(y);
    } else {
      const mpnum_lanes<Dst, size> elements = mpnum::copied_<mpnum_lanes<Dst, size>>(y);
      for (unsigned j = 0; j < size; ++j)
        if (j < left) dst[i + j] = elements.at[j];
    }
  }
}

#if !MPNUM_HAS_NVRTC_

/* A launch over the tiles of a job's rows: a warp for each, eight in a block; rows of up
 * to 64 elements share warps. */
template <class Job>
static inline cudaError_t mpnum_launch_tiles_(void (*kernel)(Job), Job &job,
                                              cudaStream_t stream) {
  mpnum::row_shape_ shape = {32, 8, 0};
  void *pointers[] = {&job};
  if (job.rows == 0 || job.columns == 0) return cudaSuccess;
  if (job.columns <= mpnum::row_lanes_)
    shape = mpnum::row_shape_of_(job.columns, 1, mpnum::row_kept_);
  job.tiles = (job.columns - 1) / mpnum::row_tile_ + 1;
  const size_t blocks = (job.rows * job.tiles - 1) / shape.rows + 1;
  return mpnum_launch_kernel_(kernel, mpnum_grid_of_(blocks),
                              dim3(shape.threads, shape.rows), pointers, 0, stream);
}

/* Whether there are as many elements of a source, in a row, as results take: two for
 * each where they lie by turns. */
static inline bool mpnum_gate_sources_(size_t columns, size_t sources,
                                       const mpnum_activation_options *options) {
  return options && options->is_interleaved ? sources % 2 == 0 && sources / 2 == columns
                                            : sources == columns;
}
/* The source of a launch and its numbers, and whether the options are what
 * activation_rows.h allows. columns: of results of the activation. */
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
  job.by_turns = chosen.is_interleaved;
  job.gate.alpha = chosen.alpha;
  if (!mpnum_activation_is_known_(activation, chosen.limit, chosen.alpha,
                                  chosen.offset) ||
      chosen.function || (chosen.adds != 0 && chosen.adds != adds) ||
      (chosen.is_interleaved & ~1) != 0 ||
      columns > mpnum::row_columns_ >> chosen.is_interleaved || (!src && !is_empty) ||
      (factor.data &&
       (chosen.is_interleaved ||
        factor.type != static_cast<mpnum_type>(mpnum::type_of<Src>::value) ||
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
static inline bool mpnum_gate_avoids_bias_(const mpnum::gate_job_<To, Dy, Src> &job,
                                           const To &to, size_t columns) {
  const size_t biases = static_cast<size_t>(job.columns) << job.by_turns;
  return !job.bias || !job.rows || !columns ||
         !mpnum_overlap_(job.bias, 4 * biases, to.dst,
                         mpnum_extent_(job.rows, columns, to.stride, 8 * sizeof *to.dst));
}
/* Of a launch where x and factor lie by turns, as both gradients do. */
template <class To, class Dy, class Src>
static inline bool mpnum_gate_fits_turns_(const mpnum::gate_job_<To, Dy, Src> &job,
                                          const To &to) {
  const size_t rows = job.rows, columns = job.columns, wide = 2 * columns;
  if (job.dy)
    return mpnum_gate_avoids_bias_(job, to, wide) &&
           mpnum_gate_fits_(to, job.src, job.src_stride, rows, wide, job.adds) &&
           mpnum_rows_are_apart_(to.dst, to.stride, job.dy, job.dy_stride, rows, wide,
                                 columns);
  return mpnum_gate_avoids_bias_(job, to, columns) &&
         mpnum_gate_fits_(to, static_cast<const Src *>(0), 0, rows, columns, 0) &&
         mpnum_rows_are_apart_(to.dst, to.stride, job.src, job.src_stride, rows, columns,
                               wide);
}
template <class To, class Dy, class Src>
static inline bool mpnum_gate_fits_all_(const mpnum::gate_job_<To, Dy, Src> &job,
                                        const To &to) {
  const size_t rows = job.rows, columns = job.columns;
  if (job.by_turns) return mpnum_gate_fits_turns_(job, to);
  return mpnum_gate_avoids_bias_(job, to, columns) &&
         mpnum_gate_fits_(to, job.src, job.src_stride, rows, columns, job.adds) &&
         (!job.factor ||
          mpnum_gate_fits_(to, job.factor, job.factor_stride, rows, columns, job.adds)) &&
         (!job.dy ||
          mpnum_gate_fits_(to, job.dy, job.dy_stride, rows, columns, job.adds));
}
# define MPNUM_GATE_(kind) mpnum::gate_chosen_<is_fast, mpnum::gate_##kind##_>::value
# define MPNUM_EACH_GATE_(kernel, ...)                                                   \
  switch (activation) {                                                                  \
  case MPNUM_ACTIVATION_GELU:                                                            \
   return mpnum_launch_tiles_(kernel<MPNUM_GATE_(gelu), __VA_ARGS__>, job, stream);      \
  case MPNUM_ACTIVATION_GELU_TANH:                                                       \
   return mpnum_launch_tiles_(kernel<MPNUM_GATE_(gelu_tanh), __VA_ARGS__>, job, stream); \
  case MPNUM_ACTIVATION_RELU:                                                            \
   return mpnum_launch_tiles_(kernel<MPNUM_GATE_(relu), __VA_ARGS__>, job, stream);      \
  case MPNUM_ACTIVATION_RELU_SQUARED:                                                    \
   return mpnum_launch_tiles_(kernel<MPNUM_GATE_(squared), __VA_ARGS__>, job, stream);   \
  default: break;                                                                        \
  }                                                                                      \
  return mpnum_launch_tiles_(kernel<MPNUM_GATE_(silu), __VA_ARGS__>, job, stream)

/* Whether there are approximate instructions for an activation. */
static inline bool mpnum_gate_has_fast_(mpnum_activation activation) {
  return activation == MPNUM_ACTIVATION_SILU || activation == MPNUM_ACTIVATION_GELU_TANH;
}
template <bool is_fast, class To, class Src>
static inline cudaError_t
mpnum_launch_activation_(mpnum_activation activation, const To &to, const Src *src,
                         size_t stride, size_t rows, size_t columns,
                         const mpnum_activation_options *options, cudaStream_t stream) {
  mpnum::gate_job_<To, Src, Src> job;
  if ((is_fast && !mpnum_gate_has_fast_(activation)) ||
      !mpnum_gate_job_of_(job, activation, src, stride, rows, columns, options, 0) ||
      !mpnum_gate_fits_all_(job, to))
    return cudaErrorInvalidValue;
  job.to = to;
  MPNUM_EACH_GATE_(mpnum_activation_rows_kernel_, To, Src);
}
template <bool is_fast, class To, class Dy, class Src>
static inline cudaError_t mpnum_launch_activation_backward_(
    mpnum_activation activation, const To &to, const To &to_factor, const Dy *dy,
    size_t dy_stride, const Src *src, size_t stride, size_t rows, size_t columns,
    const mpnum_activation_options *options, int adds, cudaStream_t stream) {
  const bool has_elements = rows != 0 && columns != 0;
  mpnum::gate_job_<To, Dy, Src> job;
  static_assert(mpnum::has_rows_<Dy>::value, "float, f16, bf16, e5m2 or e4m3");
  if ((is_fast && !mpnum_gate_has_fast_(activation)) ||
      !mpnum_gate_job_of_(job, activation, src, stride, rows, columns, options, adds))
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
# undef MPNUM_GATE_
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
/* Whether results of activations have elements to be made of. */
template <class To, class Src>
static inline bool mpnum_gate_matches_(const mpnum::matrix<To> &to,
                                       const mpnum::matrix<Src> &src,
                                       const mpnum_activation_options *options) {
  return to.rows == src.rows && mpnum_gate_sources_(to.columns, src.columns, options);
}
/* Whether a result that is wanted has the shape of another matrix. */
template <class To, class Src>
static inline bool mpnum_gate_has_shape_(const mpnum::matrix<To> &to,
                                         const mpnum::matrix<Src> &src) {
  return !to.data || mpnum_have_one_shape_(to, src);
}

/* mpnum_activation_rows. */
template <bool is_fast = false, class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_activation_rows(
    mpnum_activation activation, mpnum::matrix<Dst> dst, mpnum::matrix<Src> src,
    const mpnum_activation_options *options, cudaStream_t stream) {
  if (!mpnum_gate_matches_(dst, src, options)) return cudaErrorInvalidValue;
  return mpnum_launch_activation_<is_fast>(
      activation, mpnum_gate_to_(dst.data, dst.stride), src.data, src.stride, dst.rows,
      dst.columns, options, stream);
}
/* mpnum_activation_quantize_rows: codes of Q, a type of 8 bits or fewer, one in a byte.
 * scale and amax are in device memory and what they are in norm_rows.cuh. */
template <bool is_fast = false, class Q, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_activation_quantize_rows(
    mpnum_activation activation, mpnum::matrix<Q> dst, mpnum::matrix<Src> src,
    const mpnum_activation_options *options, const float *scale, float *amax,
    cudaStream_t stream) {
  if (!mpnum_gate_matches_(dst, src, options)) return cudaErrorInvalidValue;
  return mpnum_launch_activation_<is_fast>(
      activation, mpnum_gate_to_(dst.data, dst.stride, scale, amax), src.data, src.stride,
      dst.rows, dst.columns, options, stream);
}
/* mpnum_activation_backward_rows. */
template <bool is_fast = false, class D, class Dy, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_activation_backward_rows(
    mpnum_activation activation, mpnum::matrix<D> to_src, mpnum::matrix<D> to_factor,
    mpnum::matrix<Dy> dy, mpnum::matrix<Src> src, const mpnum_activation_options *options,
    cudaStream_t stream) {
  if (!mpnum_gate_matches_(dy, src, options) || !mpnum_gate_has_shape_(to_src, src) ||
      !mpnum_gate_has_shape_(to_factor, src))
    return cudaErrorInvalidValue;
  return mpnum_launch_activation_backward_<is_fast>(
      activation, mpnum_gate_to_(to_src.data, to_src.stride),
      mpnum_gate_to_(to_factor.data, to_factor.stride), dy.data, dy.stride, src.data,
      src.stride, dy.rows, dy.columns, options, 1, stream);
}
/* mpnum_activation_backward_quantize_rows: codes of Q, by *scale, with the larger amax of
 * both, as above. */
template <bool is_fast = false, class Q, class Dy, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_activation_backward_quantize_rows(
    mpnum_activation activation, mpnum::matrix<Q> to_src, mpnum::matrix<Q> to_factor,
    mpnum::matrix<Dy> dy, mpnum::matrix<Src> src, const mpnum_activation_options *options,
    const float *scale, float *amax, cudaStream_t stream) {
  if (!mpnum_gate_matches_(dy, src, options) || !mpnum_gate_has_shape_(to_src, src) ||
      !mpnum_gate_has_shape_(to_factor, src))
    return cudaErrorInvalidValue;
  return mpnum_launch_activation_backward_<is_fast>(
      activation, mpnum_gate_to_(to_src.data, to_src.stride, scale, amax),
      mpnum_gate_to_(to_factor.data, to_factor.stride, scale, amax), dy.data, dy.stride,
      src.data, src.stride, dy.rows, dy.columns, options, 0, stream);
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
    job.keys = mpnum_random_keys_of_(seed);
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

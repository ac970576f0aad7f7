/* SPDX-License-Identifier: MIT */
/* Norms of rows to codes by column, by row and both, and transposed, on devices: what
 * the launchers of quantize_blocks.cuh and mpnum_launch_quantize_transpose take in the
 * place of a matrix, so that no floats are stored in between. By row alone
 * quantize_computed.cuh reads what is normalised once; here it is read twice. Opt-in.
 * Rules: kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     // void *workspace of 16 bytes for each row, at a multiple of 16
 *     mpnum_launch_quantize_mx<mpnum_e4m3>(
 *         &by_row, &by_column,
 *         mpnum::normalized_of(MPNUM_NORM_RMS, x, &options, workspace),
 *         MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS, stream);
 *
 * A first launch finds the numbers of rows and writes sum, mean and inverse of the
 * options, a second one quantises the sum, or src plus residual, normalised.
 * Domain: as mpnum::normalized_of without a workspace. Not in mpnum_launch_nvfp4_scale.
 * Bits: mpnum_quantize_blocks, or mpnum_quantize_array, of the floats that
 *   mpnum_normalize_rows stores as f32.
 * Errors: of the launcher: cudaErrorInvalidValue, and nothing is launched, where one of
 *   the two has an error, or the workspace is NULL, misaligned or not apart from all
 *   else. */
#ifndef MPNUM_BLOCKS_QUANTIZE_NORMED_CUH
#define MPNUM_BLOCKS_QUANTIZE_NORMED_CUH

#include "quantize_computed.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* Rows whose numbers are found. */
template <class Src> struct norm_maps_job_ {
  norm_source_<Src> from;
  mpnum_norm_map_ *maps;
};
/* What a launch normalises. A residual that is absent is data, so that what is loaded
 * does not depend on it. */
template <class Src> struct normed_elements_ {
  const Src *data, *residual;
  size_t stride, residual_stride;
  const float *weight, *bias;
  const mpnum_norm_map_ *maps;
  int has_residual;
};
/* A vector of a row, of which count elements are in the matrix, and its numbers. */
template <unsigned N, class Src> struct normed_reads_ {
  mpnum_lanes<Src, N> x, residual;
  mpnum_norm_map_ map;
  unsigned count;
  bool is_whole; /* weights are aligned, too */
};

/* Weights and biases of N columns, which are found once for the rows of a thread; 1 and
 * -0, which change nothing, where there are none. */
template <unsigned N> struct normed_columns_ {
  bool is_found;
  mpnum_lanes<float, N> weight, bias;
  __device__ __forceinline__ normed_columns_() : is_found(false) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j) {
      weight.at[j] = 1;
      bias.at[j] = mpnum_from_bits_f32(0x80000000u);
    }
  }
  __device__ __forceinline__ void find(const float *weights, const float *biases,
                                       size_t of, unsigned count, bool is_whole) {
    if (is_found) return; /* a thread has vectors of the same columns */
    is_found = true;
    if (is_whole) {
      if (weights)
        weight = *reinterpret_cast<const mpnum_lanes<float, N> *>(weights + of);
      if (biases) bias = *reinterpret_cast<const mpnum_lanes<float, N> *>(biases + of);
      return;
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j) {
      if (weights && j < count) weight.at[j] = weights[of + j];
      if (biases && j < count) bias.at[j] = biases[of + j];
    }
  }
};

} // namespace mpnum

template <class T, class Src> struct mpnum_neighbours_<T, mpnum::normed_elements_<Src>> {
  static constexpr unsigned count = sizeof(Src) <= 2 ? 8 : 4;
};
template <class Src> struct mpnum_origin_<mpnum::normed_elements_<Src>> {
  typedef mpnum::normed_elements_<Src> elements;
  static constexpr int resident = 2;
  static constexpr bool shares_columns = true;
  template <unsigned N> using common = mpnum::normed_columns_<N>;
  template <unsigned N> using loads = mpnum::normed_reads_<N, Src>;
  static __device__ __forceinline__ const elements &ahead(const elements &from, size_t) {
    return from;
  }
  template <unsigned N>
  static __device__ __forceinline__ loads<N>
  load(const elements &from, const mpnum_quantize_job_ &job,
       const mpnum_read_place_ &place, bool is_whole) {
    const size_t row = place.row(), column = place.column();
    const Src *const at = from.data + row * from.stride;
    const Src *const other = from.residual + row * from.residual_stride;
    loads<N> in = loads<N>();
    in.count = is_whole ? N : mpnum_count_of_<N>(job, row, column);
    if (in.count == 0) return in;
    const mpnum_lanes<float, 4> map =
        *reinterpret_cast<const mpnum_lanes<float, 4> *>(from.maps + row);
    in.map.power = map.at[0];
    in.map.mean = map.at[1];
    in.map.inverse = map.at[2];
    in.map.offset = map.at[3];
    in.is_whole = is_whole;
    if (is_whole) {
      in.x = *reinterpret_cast<const mpnum_lanes<Src, N> *>(at + column);
      in.residual = *reinterpret_cast<const mpnum_lanes<Src, N> *>(other + column);
    } else {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < N; ++j)
        if (j < in.count) {
          in.x.at[j] = at[column + j];
          in.residual.at[j] = other[column + j];
        }
    }
    return in;
  }
  template <unsigned N>
  static __device__ __forceinline__ mpnum_lanes<float, N>
  value(const elements &from, const loads<N> &in, size_t column, common<N> &own) {
    mpnum_lanes<float, N> x = mpnum::row_floats_(in.x);
    if (in.count) own.find(from.weight, from.bias, column, in.count, in.is_whole);
    const mpnum_lanes<float, N> other = mpnum::row_floats_(in.residual);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j)
      x.at[j] = from.has_residual ? mpnum_add_scalar_(x.at[j], other.at[j]) : x.at[j];
    mpnum_lanes<float, N> y =
        mpnum::held_weighed_<false>(x, in.map, own.weight, own.bias);
    if (!in.is_whole) mpnum_cut_(y, in.count);
    return y;
  }
};

/* The numbers of rows, as of mpnum_normalize_blocks_kernel_; and of rows in registers. */
template <class Src>
static __global__ void __launch_bounds__(512, 1)
    mpnum_norm_maps_kernel_(mpnum::norm_maps_job_<Src> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::norm_scratch_ scratch;
  const mpnum::row_place_ place = mpnum::row_place_in_(job.from);
  mpnum::norm_row_<Src> row = mpnum::norm_row_of_(job.from, place);
  mpnum::norm_find_(row, job.from, place, &scratch);
  if (mpnum::row_is_first_(place)) job.maps[place.number] = row.found.map;
}
template <bool is_layer, class Src>
static __global__ void __launch_bounds__(mpnum::held_resident_, 1)
    mpnum_norm_maps_held_kernel_(mpnum::norm_maps_job_<Src> job) {
  mpnum_begin_kernel_();
  enum : unsigned { size = mpnum::held_size_ };
  __shared__ mpnum::held_scratch_ scratch;
  const mpnum::held_place_ place =
      mpnum::held_place_of_<size>(job.from.rows, job.from.columns);
  mpnum::held_<Src, size> row;
  mpnum::held_load_(row, job.from.data + place.number * job.from.stride + place.column,
                    place);
  const mpnum_norm_map_ map = mpnum::held_find_<is_layer>(row, job.from, place, &scratch);
  if (place.is_first) job.maps[place.number] = map;
}

#if !MPNUM_HAS_NVRTC_

/* Launches over rows that are held: none of other types. */
template <bool is_possible> struct mpnum_norm_maps_held_ {
  template <class Src>
  static cudaError_t launch(mpnum::norm_maps_job_<Src> &job, cudaStream_t stream) {
    return mpnum_launch_held_<mpnum::held_size_>(
        job.from.kind == MPNUM_NORM_LAYER ? mpnum_norm_maps_held_kernel_<true, Src>
                                          : mpnum_norm_maps_held_kernel_<false, Src>,
        job, job.from.rows, job.from.columns, stream);
  }
};
template <> struct mpnum_norm_maps_held_<false> {
  template <class Job> static cudaError_t launch(Job &, cudaStream_t) {
    return cudaErrorInvalidValue;
  }
};

namespace mpnum {

/* Norms of rows whose numbers a launch of their own finds. */
template <class Src> struct normed_by_maps {
  typedef float element;
  typedef normed_elements_<Src> source;
  normed<Src> of;
  size_t rows, columns, stride;
  mpnum_norm_map_ *maps;
  mpnum_memory_ workspace() const {
    const mpnum_memory_ one = {maps, rows * sizeof *maps};
    return one;
  }
  bool is_valid() const { return of.is_valid(); }
  bool is_readable() const {
    return of.is_readable() && maps && mpnum_launch_aligned_(maps, 0, sizeof *maps) &&
           of.is_apart(maps, workspace().bytes);
  }
  bool is_apart(const void *at, size_t bytes) const {
    const mpnum_memory_ all[] = {workspace()};
    return of.is_apart(at, bytes) && mpnum_is_apart_(at, bytes, all);
  }
  bool is_aligned() const {
    const source own = on_device();
    const size_t bytes = mpnum_neighbours_<float, source>::count * sizeof(Src);
    return mpnum_launch_aligned_(own.data, own.stride * sizeof(Src), bytes) &&
           mpnum_launch_aligned_(own.residual, own.residual_stride * sizeof(Src),
                                 bytes) &&
           mpnum_launch_aligned_(own.weight, reinterpret_cast<size_t>(own.bias), 16);
  }
  source on_device() const {
    const norm_source_<Src> &from = of.from;
    const Src *const data = from.sum ? from.sum : from.data;
    const size_t row_stride = from.sum ? from.sum_stride : from.stride;
    const bool has_residual = from.residual && !from.sum;
    const source made = {data,        has_residual ? from.residual : data,
                         row_stride,  has_residual ? from.residual_stride : row_stride,
                         from.weight, from.bias,
                         maps,        has_residual};
    return made;
  }
};
template <class Src>
static inline const normed_by_maps<Src> &quantizable_(const normed_by_maps<Src> &x) {
  return x;
}
/* As without a workspace, but for launchers by column, too. */
template <class Src>
static inline normed_by_maps<typename element_<Src>::type>
normalized_of(mpnum_norm_kind kind, const matrix<Src> &src,
              const mpnum_normalize_options *options, void *workspace) {
  const normed_by_maps<typename element_<Src>::type> made = {
      normalized_of(kind, src, options), src.rows, src.columns, src.columns,
      static_cast<mpnum_norm_map_ *>(workspace)};
  return made;
}

} // namespace mpnum

template <class Src>
struct mpnum_launch_around_<mpnum::normed_by_maps<Src>> : mpnum_launch_alone_ {
  static cudaError_t begin(const mpnum::normed_by_maps<Src> &x, cudaStream_t stream) {
    mpnum::norm_maps_job_<Src> job = {x.of.from, x.maps};
    if (sizeof(Src) == 2 && mpnum_norm_is_held_<mpnum::held_size_>(job.from))
      return mpnum_norm_maps_held_<sizeof(Src) == 2>::launch(job, stream);
    return mpnum_launch_rows_(mpnum_norm_maps_kernel_<Src>, job, job.from, 1, stream);
  }
};

#endif

MPNUM_C_END_
#endif

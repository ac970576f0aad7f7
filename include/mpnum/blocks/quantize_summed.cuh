/* SPDX-License-Identifier: MIT */
/* Sums of the columns of a matrix while it is quantised, on devices: the gradient of a
 * bias from the one read of a gradient that becomes codes. What the launchers of
 * quantize_blocks.cuh and mpnum_launch_quantize_transpose take in the place of a matrix,
 * or of what is computed of some. Opt-in. Rules: kernels.cuh. CUDA C++11; NVRTC for the
 * kernels alone.
 *
 *     // void *workspace of mpnum::summed_bytes(rows, n) bytes
 *     mpnum_launch_quantize_mx<mpnum_e4m3>(
 *         &by_row, &by_column,
 *         mpnum::summed_of(mpnum::matrix_of(dy, rows, n), dbias, workspace),
 *         MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS, stream);
 *
 * Codes and scales are those without sums. dbias has a float for each column of what is
 * quantised, of an activation's gradient with a factor of both halves. Of FP8 with one
 * scale, mpnum_launch_quantize_transpose takes an empty view for the transpose here,
 * mpnum::matrix<T>(): then codes by row are made alone.
 * Domain: all but norms without a workspace. dbias and
 *   workspace are in device memory, at multiples of 4, and apart from all else. Without
 *   elements nothing is written. Not in mpnum_launch_nvfp4_scale, which
 *   takes what is summed.
 * Bits: mpnum_sum_columns (activation_backward.h) of the floats that are quantised.
 * Errors: of the launcher: cudaErrorInvalidValue, and nothing is launched, where dbias or
 *   the workspace is NULL, misaligned or not apart.
 * Speed: 1/64 of the elements is stored and read again as floats, and a second launch
 * adds them. */
#ifndef MPNUM_BLOCKS_QUANTIZE_SUMMED_CUH
#define MPNUM_BLOCKS_QUANTIZE_SUMMED_CUH

#include "quantize_blocks.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

enum : unsigned {
  summed_rows_ = 64,    /* whose sum is one of floats */
  summed_threads_ = 32, /* of a block that adds them, one for a column */
  summed_loads_ = 32    /* of each, before the first is used */
};
/* What a launch sums; sums of 64 rows go to parts. */
template <class Source> struct summed_elements_ {
  Source source;
  float *parts;
};

/* The same elements, so that floats of them are not those that become codes, which would
 * take registers until then. */
template <class Lanes>
static __device__ __forceinline__ Lanes summed_apart_(const Lanes &in) {
#if MPNUM_ON_DEVICE_
  typedef mpnum_lanes<uint32_t, sizeof(Lanes) / 4> all;
  all words = copied_<all>(in);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < sizeof words / 4; ++j)
    asm("" : "+r"(words.at[j]));
  return copied_<Lanes>(words);
#else
  return in;
#endif
}

} // namespace mpnum

template <class T, class Source>
struct mpnum_neighbours_<T, mpnum::summed_elements_<Source>>
    : mpnum_neighbours_<T, Source> {};
/* As of the source. */
template <class Source> struct mpnum_origin_<mpnum::summed_elements_<Source>> {
  typedef mpnum_origin_<Source> origin;
  typedef mpnum::summed_elements_<Source> elements;
  static constexpr int resident = origin::resident < 3 ? +origin::resident : 3;
  static constexpr bool shares_columns = origin::shares_columns;
  template <unsigned N> using common = typename origin::template common<N>;
  template <unsigned N> using loads = typename origin::template loads<N>;
  static __device__ __forceinline__ elements ahead(const elements &from, size_t count) {
    const elements made = {origin::ahead(from.source, count), from.parts};
    return made;
  }
  template <unsigned N>
  static __device__ __forceinline__ loads<N>
  load(const elements &from, const mpnum_quantize_job_ &job,
       const mpnum_read_place_ &place, bool is_whole) {
    return origin::template load<N>(from.source, job, place, is_whole);
  }
  template <unsigned N>
  static __device__ __forceinline__ auto value(const elements &from, const loads<N> &in,
                                               size_t column, common<N> &shared)
      -> decltype(origin::template value<N>(from.source, in, column, shared)) {
    return origin::template value<N>(from.source, in, column, shared);
  }
};

/* Sums of 64 rows by halves: four of a thread, those of a warp, those of eight warps, and
 * where threads are 32 across two parts of 32 rows. Rows past the end are 0. */
template <class Source> struct mpnum_tile_sums_<mpnum::summed_elements_<Source>> {
  float upper = 0; /* the sum of 32 rows, until that of the next 32 is known */
  static __device__ __forceinline__ bool has_rows_alone(int what) {
    return what == MPNUM_SIDE_ROWS_;
  }
  static __device__ __forceinline__ bool has_no_turned(const void *turned) {
    return turned == 0;
  }
  /* Of rows from first_row on, all of which a block of 256 threads has. Syncs once, and
   * again where it is not the last call. */
  template <unsigned lanes, class T, unsigned N>
  __device__ __forceinline__ void add(const mpnum::summed_elements_<Source> &src,
                                      const mpnum_quantize_job_ &job,
                                      const mpnum_lanes<T, N> (&in)[4], size_t first_row,
                                      size_t first_column, bool is_last) {
    typedef mpnum_lanes<float, 4> four;
    enum : unsigned { columns = lanes * N, warps = MPNUM_LAUNCH_THREADS_ / 32 };
    static_assert(lanes == 16 || lanes == 32, "rows of a part are 64 or 32");
    __shared__ four of_warps[warps * columns / 4];
    const unsigned thread = threadIdx.x, x = thread % lanes * N;
    four sums[N / 4];
    mpnum_lanes<T, N> read[4];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < 4; ++v)
      read[v] = mpnum::summed_apart_(in[v]);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j) {
      float sum = mpnum_add_scalar_(mpnum_add_scalar_(mpnum::element_at_(read[0], j),
                                                      mpnum::element_at_(read[1], j)),
                                    mpnum_add_scalar_(mpnum::element_at_(read[2], j),
                                                      mpnum::element_at_(read[3], j)));
      if (lanes == 16)
        sum = mpnum_add_scalar_(sum, __shfl_xor_sync(0xffffffffu, sum, 16));
      sums[j / 4].at[j % 4] = sum;
    }
    if (thread % 32 < lanes) {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < N / 4; ++j)
        of_warps[(thread / 32 * columns + x) / 4 + j] = sums[j];
    }
    __syncthreads();
    const size_t column = first_column + thread;
    if (thread < columns) {
      const float *const floats = &of_warps[0].at[0] + thread;
      float all[warps];
      MPNUM_UNROLL_
      for (unsigned i = 0; i < warps; ++i)
        all[i] = floats[i * columns];
      MPNUM_UNROLL_
      for (unsigned step = 1; step < warps; step *= 2)
        MPNUM_UNROLL_
      for (unsigned i = 0; i < warps; i += 2 * step)
        all[i] = mpnum_add_scalar_(all[i], all[i + step]);
      const bool is_upper = lanes == 32 && first_row % mpnum::summed_rows_ == 0;
      const size_t part = first_row / mpnum::summed_rows_;
      if (is_upper)
        upper = all[0];
      else if (column < job.width && part * mpnum::summed_rows_ < job.height)
        src.parts[part * job.width + column] =
            lanes == 32 ? mpnum_add_scalar_(upper, all[0]) : all[0];
    }
    if (!is_last) __syncthreads();
  }
};

/* Sums of parts, one after the other, a thread for each column. */
template <class T>
static __global__ void __launch_bounds__(mpnum::summed_threads_)
    mpnum_sum_parts_kernel_(T *dst, const T *parts, size_t count, size_t columns,
                            int adds) {
  mpnum_begin_kernel_();
  const size_t column =
      blockIdx.x * static_cast<size_t>(mpnum::summed_threads_) + threadIdx.x;
  double sum = 0;
  if (column >= columns) return;
  MPNUM_NO_UNROLL_
  for (size_t i = 0; i < count; i += mpnum::summed_loads_) {
    T some[mpnum::summed_loads_];
    MPNUM_UNROLL_
    for (unsigned k = 0; k < mpnum::summed_loads_; ++k)
      some[k] = i + k < count ? parts[(i + k) * columns + column] : 0;
    MPNUM_UNROLL_
    for (unsigned k = 0; k < mpnum::summed_loads_; ++k)
      if (i + k < count) sum = mpnum_add_f64_(sum, mpnum_widen_f32_(some[k]));
  }
  if (adds) sum = mpnum_add_f64_(sum, mpnum_widen_f32_(dst[column]));
  dst[column] = mpnum_canonical_(mpnum_narrow_f64_(sum));
}

#if !MPNUM_HAS_NVRTC_

namespace mpnum {

static inline size_t summed_parts_(size_t rows) {
  return rows / summed_rows_ + (rows % summed_rows_ != 0);
}
/* Bytes of a workspace for sums of rows x columns elements. */
static inline size_t summed_bytes(size_t rows, size_t columns) {
  return 4 * summed_parts_(rows) * columns;
}
/* A matrix, or what is computed, whose columns a launch sums. */
template <class Matrix> struct summed {
  typedef typename Matrix::element element;
  typedef summed_elements_<typename Matrix::source> source;
  Matrix of;
  size_t rows, columns, stride;
  float *dst, *parts;
  int adds;
  mpnum_memory_ sums() const {
    const mpnum_memory_ one = {dst, 4 * columns};
    return one;
  }
  mpnum_memory_ workspace() const {
    const mpnum_memory_ one = {parts, summed_bytes(rows, columns)};
    return one;
  }
  bool is_valid() const { return of.is_valid() && (adds & ~1) == 0; }
  bool is_readable() const {
    return of.is_readable() && dst && parts &&
           mpnum_launch_aligned_(dst, reinterpret_cast<size_t>(parts), 4) &&
           of.is_apart(dst, sums().bytes) && of.is_apart(parts, workspace().bytes) &&
           !mpnum_overlap_(dst, sums().bytes, parts, workspace().bytes);
  }
  bool is_apart(const void *at, size_t bytes) const {
    const mpnum_memory_ all[] = {sums(), workspace()};
    return of.is_apart(at, bytes) && mpnum_is_apart_(at, bytes, all);
  }
  bool is_aligned() const { return of.is_aligned(); }
  source on_device() const {
    const source made = {of.on_device(), parts};
    return made;
  }
};
template <class Matrix>
static inline const summed<Matrix> &quantizable_(const summed<Matrix> &x) {
  return x;
}
template <class Matrix>
static inline summed<Matrix> summed_(const Matrix &of, float *dst, void *workspace,
                                     int adds) {
  const summed<Matrix> made = {
      of, of.rows, of.columns, of.stride, dst, static_cast<float *>(workspace), adds};
  return made;
}
/* src, a matrix or what is computed of some, with the sum of each column: dst[c], which
 * adds 1 adds to what is there. workspace: summed_bytes of what is quantised. */
template <class Matrix>
static inline auto summed_of(const Matrix &src, float *dst, void *workspace, int adds = 0)
    -> decltype(summed_(quantizable_(src), dst, workspace, adds)) {
  return summed_(quantizable_(src), dst, workspace, adds);
}

} // namespace mpnum

template <class Matrix> struct mpnum_launch_around_<mpnum::summed<Matrix>> {
  static constexpr bool is_summed = true;
  static cudaError_t begin(const mpnum::summed<Matrix> &x, cudaStream_t stream) {
    return mpnum_launch_around_<Matrix>::begin(x.of, stream);
  }
  static cudaError_t finish(const mpnum::summed<Matrix> &x, cudaStream_t stream) {
    const size_t blocks =
        (x.columns + mpnum::summed_threads_ - 1) / mpnum::summed_threads_;
    return mpnum_launch_(mpnum_sum_parts_kernel_<float>, blocks, mpnum::summed_threads_,
                         stream, x.dst, static_cast<const float *>(x.parts),
                         mpnum::summed_parts_(x.rows), x.columns, x.adds);
  }
};

#endif

MPNUM_C_END_
#endif

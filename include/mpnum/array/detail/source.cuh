/* SPDX-License-Identifier: MIT */
/* What quantisers read: a matrix in memory, or what is computed of some; for kernels, and
 * for launches. */
#ifndef MPNUM_ARRAY_DETAIL_SOURCE_CUH
#define MPNUM_ARRAY_DETAIL_SOURCE_CUH

#include "../matrix.cuh"
#include "../../cuda/detail/quantize.cuh"
MPNUM_C_BEGIN_

namespace mpnum {
struct no_common_ {};
} // namespace mpnum
/* Where elements come from: a matrix in memory, or what is computed of some
 * (quantize_computed.cuh). All that is read is loaded before the first value of it. */
template <class Source> struct mpnum_origin_;
template <class T> struct mpnum_origin_<const T *> {
  static constexpr int resident = 8; /* blocks of a multiprocessor, at most */
  /* Whether a thread is to have vectors of the same columns, for which it computes
   * something once, a common. */
  static constexpr bool shares_columns = false;
  template <unsigned N> using common = mpnum::no_common_;
  template <unsigned N> using loads = mpnum_lanes<T, N>;
  static __device__ __forceinline__ const T *ahead(const T *at, size_t elements) {
    return at + elements;
  }
  template <unsigned N>
  static __device__ __forceinline__ loads<N>
  load(const T *at, const mpnum_quantize_job_ &job, const mpnum_read_place_ &place,
       bool is_whole) {
    const size_t row = place.row(), column = place.column();
    return mpnum_load_of_matrix_<N>(at, job, row, column, is_whole);
  }
  template <unsigned N>
  static __device__ __forceinline__ const loads<N> &
  value(const T *, const loads<N> &loaded, size_t, mpnum::no_common_ &) {
    return loaded;
  }
};

/* How many of N neighbours are in the matrix; and the others as 0, as they are to be in
 * no amax. */
template <unsigned N>
static __device__ __forceinline__ unsigned mpnum_count_of_(const mpnum_quantize_job_ &job,
                                                           size_t row, size_t column) {
  if (row >= job.height || column >= job.width) return 0;
  return job.width - column < N ? static_cast<unsigned>(job.width - column) : N;
}
template <unsigned N>
static __device__ __forceinline__ void mpnum_cut_(mpnum_lanes<float, N> &y,
                                                  unsigned count) {
  MPNUM_UNROLL_
  for (unsigned j = 0; j < N; ++j)
    if (j >= count) y.at[j] = 0;
}
/* What is summed by column while it is quantised (quantize_summed.cuh): of most sources
 * nothing is. */
template <class Source> struct mpnum_tile_sums_ {
  /* Whether nothing needs the largest magnitudes of columns, or codes by column. */
  static __device__ __forceinline__ bool has_rows_alone(int) { return false; }
  static __device__ __forceinline__ bool has_no_turned(const void *) { return false; }
  template <unsigned lanes, class T, unsigned N>
  __device__ __forceinline__ void add(const Source &, const mpnum_quantize_job_ &,
                                      const mpnum_lanes<T, N> (&)[4], size_t, size_t,
                                      bool) {}
};
template <class Source, int blocks> struct mpnum_resident_ {
  static constexpr int most = mpnum_origin_<Source>::resident;
  static constexpr int count = blocks < most ? blocks : most;
};

#if !MPNUM_HAS_NVRTC_

/* Whether some memory is in none of some other. */
template <unsigned count>
static inline bool mpnum_is_apart_(const void *at, size_t bytes,
                                   const mpnum_memory_ (&all)[count]) {
  for (const mpnum_memory_ &one : all)
    if (mpnum_overlap_(at, bytes, one.at, one.bytes)) return false;
  return true;
}
/* Whether a launch sums columns, and what goes before and follows it: of most sources
 * nothing. */
struct mpnum_launch_alone_ {
  static constexpr bool is_summed = false;
  template <class Matrix> static cudaError_t begin(const Matrix &, cudaStream_t) {
    return cudaSuccess;
  }
  template <class Matrix> static cudaError_t finish(const Matrix &, cudaStream_t) {
    return cudaSuccess;
  }
};
template <class Matrix> struct mpnum_launch_around_ : mpnum_launch_alone_ {};
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
  bool is_apart(const void *at, size_t bytes) const {
    return !mpnum_overlap_(at, bytes, data, extent());
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
/* The elements of a view whose type may be const. */
template <class T> struct element_ { typedef T type; };
template <class T> struct element_<const T> { typedef T type; };
template <class T>
static inline in_memory_<typename element_<T>::type> quantizable_(const matrix<T> &x) {
  typedef typename element_<T>::type type;
  const in_memory_<type> made = {const_cast<type *>(x.data), x.rows, x.columns, x.stride};
  return made;
}

} // namespace mpnum

#endif

MPNUM_C_END_
#endif

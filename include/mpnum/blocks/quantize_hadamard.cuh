/* SPDX-License-Identifier: MIT */
/* The Hadamard transform of rows straight to codes with a scale for each block, on
 * devices: what the launchers of quantize_blocks.cuh and mpnum_launch_quantize_transpose
 * take in the place of a matrix, so that no floats are stored in between. Opt-in. Rules:
 * kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     mpnum_launch_nvfp4_scale(scale, mpnum::hadamard_of<16>(x, seed), stream);
 *     mpnum_launch_quantize_nvfp4<1>(&by_row, nullptr, mpnum::hadamard_of<16>(x, seed),
 *                                    scale, MPNUM_QUANTIZE_ROWS, stream);
 *
 * The elements are the floats that mpnum_hadamard_rows stores as f32: each 16 or 64 of a
 * row, with the signs of a seed. S is that of the transformed matrix.
 * Domain: src (mpnum::matrix) is f32 or bf16 in device memory. Nothing is in the place of
 *   codes or scales.
 * Bits: mpnum_quantize_blocks of those floats.
 * Errors: of the launcher: cudaErrorInvalidValue, and nothing is launched, where
 *   mpnum_hadamard_rows has one.
 * Speed: src is read once (twice in blocks of 128 x 128, and for an S); words of signs
 *   are those of stochastic rounding, found once for the rows that a thread has. */
#ifndef MPNUM_BLOCKS_QUANTIZE_HADAMARD_CUH
#define MPNUM_BLOCKS_QUANTIZE_HADAMARD_CUH

#include "../rows/hadamard.h"
#include "quantize_blocks.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* What a launch transforms, each n elements of a row. */
template <unsigned n, class Src> struct hadamard_elements_ {
  const Src *src;
  size_t stride;
  uint64_t seed;
};
/* A vector of them, or none: of a matrix is all of each n elements, or nothing. */
template <unsigned N, class Src> struct hadamard_reads_ {
  mpnum_lanes<Src, N> x;
  int has_any;
};
/* Words whose top bits are the signs of N columns. */
template <unsigned N> struct hadamard_signs_ {
  size_t column;
  uint32_t words[N];
  __device__ __forceinline__ hadamard_signs_() : column(~static_cast<size_t>(0)) {}
  __device__ __forceinline__ void find(uint64_t seed, size_t of) {
    if (of == column) return;
    column = of;
    mpnum_quantize_words_(words, seed, of);
  }
};
/* The stages with strides that are within a thread's vector, and with those that are not,
 * for which the n elements lie in neighbouring lanes. */
template <unsigned N, unsigned n>
static __device__ __forceinline__ void hadamard_stages_(mpnum_lanes<float, N> &x) {
  const unsigned lane = threadIdx.x % 32, sharers = n / N;
  const uint32_t together = (sharers < 32 ? 1u << sharers : 0u) - 1;
  const uint32_t mask = together << (lane & ~(sharers - 1));
  MPNUM_UNROLL_
  for (unsigned stride = 1; stride < N; stride *= 2)
    mpnum_hadamard_stage_(x.at, N, static_cast<int>(stride));
  MPNUM_UNROLL_
  for (unsigned step = 1; step < sharers; step *= 2) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j) {
      const float other = __shfl_xor_sync(mask, x.at[j], static_cast<int>(step));
      x.at[j] = lane & step ? mpnum_sub_scalar_(other, x.at[j])
                            : mpnum_add_scalar_(x.at[j], other);
    }
  }
}

} // namespace mpnum

template <unsigned n, class Src> struct mpnum_origin_<mpnum::hadamard_elements_<n, Src>> {
  typedef mpnum::hadamard_elements_<n, Src> elements;
  static constexpr int resident = 4;
  static constexpr bool shares_columns = true;
  template <unsigned N> using common = mpnum::hadamard_signs_<N>;
  template <unsigned N> using loads = mpnum::hadamard_reads_<N, Src>;
  static __device__ __forceinline__ const elements &ahead(const elements &from, size_t) {
    return from;
  }
  template <unsigned N>
  static __device__ __forceinline__ loads<N>
  load(const elements &from, const mpnum_quantize_job_ &job,
       const mpnum_read_place_ &place, bool is_whole) {
    const size_t row = place.row(), column = place.column();
    const Src *const at = from.src + row * from.stride + column;
    loads<N> in = loads<N>();
    in.has_any = is_whole || mpnum_count_of_<N>(job, row, column) != 0;
    if (is_whole) {
      in.x = *reinterpret_cast<const mpnum_lanes<Src, N> *>(at);
    } else if (in.has_any) {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < N; ++j)
        in.x.at[j] = at[j];
    }
    return in;
  }
  template <unsigned N>
  static __device__ __forceinline__ mpnum_lanes<float, N>
  value(const elements &from, const loads<N> &in, size_t column, common<N> &signs) {
    mpnum_lanes<float, N> y;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j)
      y.at[j] = mpnum::element_at_(in.x, j);
    signs.find(from.seed, column);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j)
      y.at[j] = mpnum_hadamard_flipped_(y.at[j], signs.words[j]);
    mpnum::hadamard_stages_<N, n>(y);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j)
      y.at[j] = in.has_any ? mpnum_mul_scalar_(y.at[j], n == 64 ? 0.125f : 0.25f) : 0.0f;
    return y;
  }
};

#if !MPNUM_HAS_NVRTC_

namespace mpnum {

/* A matrix whose transform a launch computes. */
template <unsigned n, class Src> struct hadamard_transformed {
  typedef float element;
  typedef hadamard_elements_<n, Src> source;
  source elements;
  size_t rows, columns, stride; /* of what is computed */
  bool is_valid() const { return columns % n == 0; }
  size_t extent() const {
    return elements.src ? mpnum_extent_(rows, columns, elements.stride, 8 * sizeof(Src))
                        : 0;
  }
  bool is_readable() const { return extent() != 0; }
  bool is_apart(const void *at, size_t bytes) const {
    const mpnum_memory_ all[] = {{elements.src, extent()}};
    return mpnum_is_apart_(at, bytes, all);
  }
  bool is_aligned() const {
    return mpnum_launch_aligned_(elements.src,
                                 rows == 1 ? 0 : elements.stride * sizeof(Src),
                                 4 * sizeof(Src)) != 0;
  }
  const source &on_device() const { return elements; }
  const hadamard_transformed &flat() const { return *this; }
};
template <unsigned n, class Src>
static inline const hadamard_transformed<n, Src> &
quantizable_(const hadamard_transformed<n, Src> &x) {
  return x;
}
/* The transform of each n elements of a row, 16 or 64, with the signs of a seed. */
template <unsigned n, class Src>
static inline hadamard_transformed<n, typename element_<Src>::type>
hadamard_of(const matrix<Src> &src, uint64_t seed) {
  typedef typename element_<Src>::type type;
  static_assert(n == 16 || n == 64, "rows of 16 or 64 elements are transformed");
  static_assert(type_of<type>::value == MPNUM_TYPE_F32 ||
                    type_of<type>::value == MPNUM_TYPE_BF16,
                "mpnum_hadamard_rows takes f32 and bf16");
  const hadamard_transformed<n, type> made = {
      {src.data, src.stride, seed}, src.rows, src.columns, src.columns};
  return made;
}

} // namespace mpnum

#endif

MPNUM_C_END_
#endif

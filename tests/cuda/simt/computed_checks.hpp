/* SPDX-License-Identifier: MIT */
/* For the tests of quantize_computed.cuh: launches of the formats, of whatever is
 * computed. */
#ifndef MPNUM_TESTS_COMPUTED_CHECKS_HPP
#define MPNUM_TESTS_COMPUTED_CHECKS_HPP

#include "block_checks.hpp"

#include <mpnum/blocks/quantize_computed.cuh>

namespace {

template <class T> mpnum::matrix<T> view_of(matrix<T> &x) {
  return mpnum::matrix_of(x.values.data() + x.at, x.rows, x.columns, x.stride);
}
/* Of what is only read. */
template <class T> mpnum::matrix<const T> const_view_of(const matrix<T> &x) {
  return mpnum::matrix_of(x.values.data() + x.at, x.rows, x.columns, x.stride);
}
mpnum_matrix to_columns(matrix<float> &x, std::size_t first, std::size_t columns) {
  mpnum_matrix made =
      mpnum_matrix_of(MPNUM_TYPE_F32, x.values.data() + first, x.rows, columns);
  made.stride = x.stride;
  return made;
}

/* A launch of some format, of what is computed. */
struct mx {
  mpnum_blockscale_format format =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  void choose(const matrix<float> &, manner &) {}
  void scale_of(const manner &) {}
  template <class Computed>
  cudaError_t quantize(const mpnum_blockscaled *by_row,
                       const mpnum_blockscaled *by_column, const Computed &x,
                       const manner &how) const {
    return mpnum_launch_quantize_mx<mpnum_e4m3>(
        by_row, by_column, x, MPNUM_BLOCKSCALE_RCEIL, how.what, nullptr);
  }
};
template <unsigned high> struct deepseek {
  mpnum_blockscale_format format =
      high == 1 ? mpnum_blockscale_fp8_1x128() : mpnum_blockscale_fp8_128x128();
  void choose(const matrix<float> &, manner &how) { how.is_swizzled = 0; }
  void scale_of(const manner &) {}
  template <class Computed>
  cudaError_t quantize(const mpnum_blockscaled *by_row,
                       const mpnum_blockscaled *by_column, const Computed &x,
                       const manner &how) const {
    return mpnum_launch_quantize_fp8<mpnum_e4m3, high>(
        by_row, by_column, x, format.rule, format.amax_floor, how.what, nullptr);
  }
};
template <unsigned high, bool is_stochastic> struct nvfp4 {
  mpnum_blockscale_format format =
      high == 1 ? mpnum_blockscale_nvfp4_1x16() : mpnum_blockscale_nvfp4_16x16();
  float &scale = placed(1.0f);
  nvfp4() {
    if (is_stochastic) format.rounding = MPNUM_ROUND_STOCHASTIC;
  }
  void choose(const matrix<float> &want, manner &how) {
    how.scale = mpnum_nvfp4_scale(finite_amax(want.view()));
  }
  void scale_of(const manner &how) { scale = how.scale; }
  template <class Computed>
  cudaError_t quantize(const mpnum_blockscaled *by_row,
                       const mpnum_blockscaled *by_column, const Computed &x,
                       const manner &how) const {
    if (is_stochastic)
      return mpnum_launch_quantize_nvfp4_sr<high>(by_row, by_column, x, &scale, how.what,
                                                  how.random.seed, how.random.offset,
                                                  nullptr);
    return mpnum_launch_quantize_nvfp4<high>(by_row, by_column, x, &scale, how.what,
                                             nullptr);
  }
};

} // namespace

#endif

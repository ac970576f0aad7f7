/* SPDX-License-Identifier: MIT */
/* For the tests of what is quantised as it is computed: launches of the formats, of
 * whatever that is. */
#ifndef MPNUM_TESTS_COMPUTED_CHECKS_HPP
#define MPNUM_TESTS_COMPUTED_CHECKS_HPP

#include "block_checks.hpp"

#include <mpnum/array/quantize.cuh>
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
    if (is_stochastic)
      format.rounding = mpnum_rounding_stochastic('B', high == 1 ? 11 : 2);
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
                                                  nullptr, format.rounding);
    return mpnum_launch_quantize_nvfp4<high>(by_row, by_column, x, &scale, how.what,
                                             nullptr);
  }
};

constexpr std::size_t WIDEST = 2 * 170;

/* Sizes, options and what they name, all drawn; half of the matrices have tiles that go
 * by vectors. */
template <class Src> struct drawn {
  drawn(unsigned seed, bool is_cut) : random(seed) {
    const bool has_tiles = is_cut || next() % 2;
    rows = has_tiles ? 64 + 64 * (next() % 2) + next() % 3 : 1 + next() % 70;
    pairs = has_tiles ? 64 + 64 * (next() % 2) + 2 * is_cut /* halves end in a vector */
            : next() % 3 ? 4 * (1 + next() % 40)
                         : 1 + next() % 170;
    is_turned = next() % 4 == 0;
    has_factor = !is_turned && next() % 3 != 0;
    extra = has_tiles ? 2 * is_cut : next() % 2 ? 4 * (next() % 3) : next() % 4;
    for (float &one : bias)
      one = static_cast<float>(next() % 13) / 8 - 0.5f;
    options = mpnum_activation_default();
    options.is_interleaved = is_turned;
    if (next() % 3 == 0) options.bias = bias.data();
    if (next() % 4 == 0) options.limit = 2.5f;
    if (next() % 4 == 0) options.offset = 1;
    if (next() % 4 == 0) options.alpha = 1.702f;
    how.what = every_what[next() % 5];
    how.is_swizzled = static_cast<int>(next() % 2);
    how.codes_at = has_tiles || next() % 3 ? 0 : next() % 8;
    how.extra = has_tiles ? 0 : next() % 4;
    how.random = {next(), next() % 2 ? ~0ull - 100 : next() % 50};
    simt::use(simt::schedules[next() % 6]);
  }
  std::size_t across() const { return is_turned ? 2 * pairs : pairs; }
  void draw(mpnum_activation activation, bool is_usual) {
    if (activation != MPNUM_ACTIVATION_SILU) options.alpha = 0;
    src = matrix<Src>(rows, across(), extra, next());
    factor = matrix<Src>(rows, pairs, extra, next());
    if (is_usual)
      for (Src &one : src.values)
        one = rounded<Src>(static_cast<float>(next() % 2001) / 128 - 8);
    if (has_factor) options.factor = factor.view();
  }

  unsigned next() { return static_cast<unsigned>(random()); }

  std::mt19937 random;
  std::size_t rows = 0, pairs = 0, extra = 0;
  bool is_turned = false, has_factor = false;
  vector<float> bias = vector<float>(WIDEST);
  mpnum_activation_options options;
  manner how;
  matrix<Src> src{1, 1, 0, 0}, factor{1, 1, 0, 0};
};
/* Of activations S is found on the device, too. */
template <class Launch, class Computed>
cudaError_t find_scale(Launch &, const Computed &) {
  return cudaSuccess;
}
template <unsigned high, bool is_stochastic, class Computed>
cudaError_t find_scale(nvfp4<high, is_stochastic> &launch, const Computed &x) {
  return mpnum_launch_nvfp4_scale(&launch.scale, x, nullptr);
}
/* Of what it is not found, it is given. */
template <class Launch, class Computed>
void give_scale(Launch &, const manner &, const Computed &) {}
/* A launch of what is computed beside the floats that are wanted. */
template <class Launch, class Src, class Computed>
void check_computed(drawn<Src> &at, const matrix<float> &want, const Computed &x) {
  Launch launch;
  launch.choose(want, at.how);
  give_scale(launch, at.how, x);
  check_blocks(launch.format, want, at.how,
               [&](const mpnum_blockscaled *by_row, const mpnum_blockscaled *by_column,
                   const matrix<float> &, const manner &how) {
                 const cudaError_t error = find_scale(launch, x);
                 return error == cudaSuccess ? launch.quantize(by_row, by_column, x, how)
                                             : error;
               });
}

/* FP8 by one scale and its transpose, of what is computed, beside mpnum_quantize_array of
 * the floats that are wanted, row by row: what lies between rows stays. */
template <class Src, class Computed>
void check_turned(drawn<Src> &at, const matrix<float> &want, const Computed &x) {
  const std::size_t rows = want.rows, columns = want.columns;
  const std::size_t begin = at.how.codes_at, stride = columns + at.how.extra,
                    high = rows + at.how.extra;
  const float &scale = placed(37.5f);
  float &amax = placed(0.25f);
  vector<mpnum_e4m3> codes(begin + rows * stride + 16, mpnum_from_bits_e4m3(0xa5));
  vector<mpnum_e4m3> turned(begin + columns * high + 16, mpnum_from_bits_e4m3(0xa5));
  vector<mpnum_e4m3> wanted = codes, wanted_turned = turned;
  float largest = amax; /* Inf and NaN included */
  for (std::size_t r = 0; r < rows; ++r) {
    must(mpnum_quantize_array(MPNUM_TYPE_E4M3, &wanted[begin + r * stride],
                              MPNUM_TYPE_F32, want.values.data() + r * want.stride,
                              columns, scale, nullptr));
    const float both[] = {largest,
                          mpnum_amax_f32(want.values.data() + r * want.stride, columns)};
    largest = mpnum_amax_f32(both, 2);
    for (std::size_t c = 0; c < columns; ++c)
      wanted_turned[begin + c * high + r] = wanted[begin + r * stride + c];
  }
  CHECK_LAUNCH(mpnum_launch_quantize_transpose(
      mpnum::matrix_of(&codes[begin], rows, columns, stride),
      mpnum::matrix_of(&turned[begin], columns, rows, high), x, &scale, &amax, nullptr));
  const auto differs = [](const vector<mpnum_e4m3> &a, const vector<mpnum_e4m3> &b) {
    return std::memcmp(a.data(), b.data(), a.size()) != 0;
  };
  CHECK(!differs(codes, wanted), "codes of %zu x %zu", rows, columns);
  CHECK(!differs(turned, wanted_turned), "their transpose, of %zu x %zu", rows, columns);
  CHECK(mpnum_bits_f32(amax) == mpnum_bits_f32(largest), "amax %g, wanted %g",
        static_cast<double>(amax), static_cast<double>(largest));
}
/* In the place of a format. */
struct one_scale {};
template <class Src, class Computed>
void check_launch(one_scale, drawn<Src> &at, const matrix<float> &want,
                  const Computed &x) {
  check_turned(at, want, x);
}
template <class Launch, class Src, class Computed>
void check_launch(Launch, drawn<Src> &at, const matrix<float> &want, const Computed &x) {
  check_computed<Launch>(at, want, x);
}

} // namespace

#endif

/* SPDX-License-Identifier: MIT */
/* For the tests of norms to codes of blocks (mpnum/blocks/quantize_computed.cuh,
 * quantize_normed.cuh), beside the host's two steps, mpnum_normalize_rows to floats and
 * mpnum_quantize_blocks of those: every byte of codes and scales, and sums, means and
 * inverses. */
#ifndef MPNUM_TESTS_NORM_CHECKS_HPP
#define MPNUM_TESTS_NORM_CHECKS_HPP

#include "computed_checks.hpp"

namespace {

/* A launch of a norm by row. */
struct by_row_alone {
  static constexpr unsigned widths = 10, least = 0;
  static int draw(unsigned) { return ROWS; }
  template <class Src>
  static auto of(mpnum_norm_kind kind, const matrix<Src> &x,
                 const mpnum_normalize_options &options, void *) {
    return mpnum::normalized_of(kind, const_view_of(x), &options);
  }
  template <class Computed>
  static void check_others(const manner &, const matrix<float> &, const Computed &) {}
};
/* The norm itself and all results that its options have. is_held: of 16-bit rows as
 * threads hold them in registers: vectors, and neither a residual nor a sum. */
template <class Src, class Launch, class Way = by_row_alone>
void norms_of(unsigned seed, bool is_held = false) {
  const std::size_t widths[] = {1, 3, 31, 64, 65, 300, 2050, 4100, 9000, 70000};
  const std::size_t held_widths[] = {1024, 2048, 1028, 4096, 2052,
                                     2040, 6000, 8192, 8188, 16000};
  for (unsigned i = 0; i < 20; ++i) {
    std::mt19937 random(19 * seed + i);
    const auto next = [&random] { return static_cast<unsigned>(random()); };
    const std::size_t columns =
        is_held ? held_widths[i % Way::widths] : widths[i % Way::widths];
    /* Blocks of whole tiles, a weight and no bias take the short way. */
    const bool is_short = is_held && i % 2 && columns % 2048 == 0;
    const std::size_t most = columns > 9999 ? 1 : columns > 99 ? 3 : 19;
    const bool is_tall = Way::least && columns < 2000;
    const std::size_t rows =
        is_short ? 8 : 1 + next() % most + (is_tall ? Way::least * (i % 2) : 0);
    const mpnum_norm_kind kind = i % 2 ? MPNUM_NORM_LAYER : MPNUM_NORM_RMS;
    Launch launch;
    manner how;
    how.is_swizzled = static_cast<int>(next() % 2);
    how.codes_at = next() % 3 ? 0 : next() % 8;
    how.extra = next() % 4;
    how.random = {next(), next() % 50};
    how.what = Way::draw(next());
    if (is_held) {
      how.codes_at = i % 7 == 6 ? 2 : 0;
      how.extra = 8 * (i % 3);
    }
    matrix<Src> x(rows, columns, is_held ? 4 * (next() % 4) : next() % 4, i);
    if (i % 5 != 4 || columns > 9999) /* else most rows have an Inf or a NaN */
      for (Src &one : x.values)
        one = rounded<Src>(static_cast<float>(next() % 2001) / 128 - 8);
    matrix<Src> residual(rows, columns, x.stride - columns + 1, i);
    for (Src &one : residual.values)
      one = x.values[next() % x.values.size()];
    vector<float> weight(columns), bias(columns), mean(rows, 7.0f), inverse(rows, 7.0f);
    for (std::size_t c = 0; c < columns; ++c) {
      weight[c] = static_cast<float>(next() % 31) / 8 - 1;
      bias[c] = static_cast<float>(next() % 31) / 8 - 2;
    }
    matrix<Src> sum(rows, columns, 1, i + 2);
    mpnum_normalize_options options = mpnum_normalize_default();
    if (next() % 2 || is_short) options.weight = weight.data();
    if (next() % 2 && !is_short) options.bias = bias.data();
    if (next() % 2 && !is_held) options.residual = residual.view();
    if (next() % 2) options.mean = mean.data();
    if (next() % 2) options.inverse = inverse.data();
    const bool has_sum = next() % 2 && !is_held;
    const auto sum_of = [](matrix<Src> &to) {
      mpnum_matrix made = mpnum_matrix_of(mpnum::type_of<Src>::value, to.values.data(),
                                          to.rows, to.columns);
      made.stride = to.stride;
      return made;
    };
    matrix<Src> host_sum = sum;
    vector<float> host_mean = mean, host_inverse = inverse;
    mpnum_normalize_options on_host = options;
    if (options.mean) on_host.mean = host_mean.data();
    if (options.inverse) on_host.inverse = host_inverse.data();
    if (has_sum) on_host.sum = sum_of(host_sum);
    if (has_sum) options.sum = sum_of(sum);
    matrix<float> want(rows, columns, 0, 0);
    must(mpnum_normalize_rows(kind, to_columns(want, 0, columns), x.view(), &on_host));
    launch.choose(want, how);
    launch.scale_of(how);
    vector<float> workspace(4 * rows + 1, 7.0f);
    const auto source = Way::of(kind, x, options, workspace.data());
    simt::use(simt::schedules[i % 6]);
    check_blocks(launch.format, want, how,
                 [&](const mpnum_blockscaled *by_row, const mpnum_blockscaled *by_column,
                     const matrix<float> &, const manner &m) {
                   return launch.quantize(by_row, by_column, source, m);
                 });
    if (i % 4 == 0) Way::check_others(how, want, source);
    CHECK(workspace[4 * rows] == 7.0f, "written behind the workspace");
    const auto same = [](const auto &a, const auto &b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
    };
    CHECK(same(sum.values, host_sum.values) && same(mean, host_mean) &&
              same(inverse, host_inverse),
          "%zu x %zu: sums, means or inverses", rows, columns);
  }
}

} // namespace

#endif

/* SPDX-License-Identifier: MIT */
/* Norms to codes of blocks (mpnum/blocks/quantize_computed.cuh), beside the host's two
 * steps, mpnum_normalize_rows to floats and mpnum_quantize_blocks of those: every byte of
 * codes and scales, and sums, means and inverses. A program of its own, as the simulator
 * counts the shared memory of all kernels of one. */
#include "computed_checks.hpp"

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {

/* The norm itself and all results that its options have. is_held: of 16-bit rows as
 * threads hold them in registers: vectors, and neither a residual nor a sum. */
template <class Src, class Launch> void norms_of(unsigned seed, bool is_held = false) {
  const std::size_t widths[] = {1, 3, 31, 64, 65, 300, 2050, 4100, 9000, 70000};
  const std::size_t held_widths[] = {1024, 2048, 1028, 4096, 2052,
                                     2040, 6000, 8192, 8188, 16000};
  for (unsigned i = 0; i < 20; ++i) {
    std::mt19937 random(19 * seed + i);
    const auto next = [&random] { return static_cast<unsigned>(random()); };
    const std::size_t columns = is_held ? held_widths[i % 10] : widths[i % 10];
    /* Blocks of whole tiles, a weight and no bias take the short way. */
    const bool is_short = is_held && i % 2 && columns % 2048 == 0;
    const std::size_t most = columns > 9999 ? 1 : columns > 99 ? 3 : 19;
    const std::size_t rows = is_short ? 8 : 1 + next() % most;
    const mpnum_norm_kind kind = i % 2 ? MPNUM_NORM_LAYER : MPNUM_NORM_RMS;
    Launch launch;
    manner how;
    how.is_swizzled = static_cast<int>(next() % 2);
    how.codes_at = next() % 3 ? 0 : next() % 8;
    how.extra = next() % 4;
    how.random = {next(), next() % 50};
    if (is_held) {
      how.codes_at = i % 7 == 6 ? 2 : 0;
      how.extra = 8 * (i % 3);
    }
    matrix<Src> x(rows, columns, is_held ? 4 * (next() % 4) : next() % 4, i);
    if (i % 5 != 4 || columns > 9999) /* else most rows have an Inf or a NaN */
      for (Src &one : x.values)
        one = rounded<Src>(static_cast<float>(next() % 2001) / 128 - 8);
    matrix<Src> residual = x;
    std::shuffle(residual.values.begin(), residual.values.end(), random);
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
    simt::use(simt::schedules[i % 6]);
    check_blocks(launch.format, want, how,
                 [&](const mpnum_blockscaled *by_row, const mpnum_blockscaled *,
                     const matrix<float> &, const manner &m) {
                   return launch.quantize(
                       by_row, nullptr,
                       mpnum::normalized_of(kind, const_view_of(x), &options), m);
                 });
    const auto same = [](const auto &a, const auto &b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
    };
    CHECK(same(sum.values, host_sum.values) && same(mean, host_mean) &&
              same(inverse, host_inverse),
          "%zu x %zu: sums, means or inverses", rows, columns);
  }
}
void norms_have_the_hosts_codes(void) {
  norms_of<mpnum_bf16, mx>(1);
  norms_of<float, nvfp4<1, true>>(2);
  norms_of<mpnum_f16, deepseek<1>>(3);
}

void norms_of_held_rows_have_the_hosts_codes(void) {
  norms_of<mpnum_bf16, mx>(4, true);
  norms_of<mpnum_f16, nvfp4<1, true>>(5, true);
  norms_of<mpnum_bf16, nvfp4<1, false>>(6, true);
}

void what_does_not_fit_launches_nothing(void) {
  matrix<mpnum_bf16> x(8, 32, 0, 1);
  stored codes(mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), 8, 64, 0, 0,
               0);
  const stored before = codes;
  vector<float> bias(64);
  const mpnum::matrix<mpnum_bf16> src = view_of(x);
  const mpnum_blockscaled to = codes.view();
  mpnum_blockscaled over = to;
  mpnum_normalize_options norm = mpnum_normalize_default();
  const auto refuse_norm = [&](const char *what, mpnum_norm_kind kind, int sides,
                               const mpnum_blockscaled &by_row) {
    check_refused(mpnum_launch_quantize_mx<mpnum_e4m3>(
                      &by_row, &by_row, mpnum::normalized_of(kind, src, &norm),
                      MPNUM_BLOCKSCALE_RCEIL, sides, nullptr),
                  what);
    CHECK(codes.codes == before.codes && codes.scales == before.scales, "%s: written",
          what);
  };
  refuse_norm("a norm by column", MPNUM_NORM_RMS, COLUMNS, to);
  refuse_norm("an L2 norm", MPNUM_NORM_L2, ROWS, to);
  over = to;
  over.codes = x.values.data();
  refuse_norm("codes over what is normalised", MPNUM_NORM_RMS, ROWS, over);
  norm.weight = bias.data();
  over = to;
  over.scale_inv = bias.data();
  refuse_norm("scales over weights", MPNUM_NORM_RMS, ROWS, over);
  norm.epsilon = -1;
  refuse_norm("an epsilon below 0", MPNUM_NORM_RMS, ROWS, to);
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {TEST(norms_have_the_hosts_codes),
                    TEST(norms_of_held_rows_have_the_hosts_codes),
                    TEST(what_does_not_fit_launches_nothing)});
}

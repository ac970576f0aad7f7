/* SPDX-License-Identifier: MIT */
/* Norms to codes of blocks by row (mpnum/blocks/quantize_computed.cuh). A program of its
 * own, as the simulator counts the shared memory of all kernels of one. */
#include "norm_checks.hpp"

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {

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

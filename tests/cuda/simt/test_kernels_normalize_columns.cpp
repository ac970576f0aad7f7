/* SPDX-License-Identifier: MIT */
/* Norms to codes of blocks by row, by column and both, and to FP8 with its transpose
 * (mpnum/blocks/quantize_normed.cuh). */
#include "norm_checks.hpp"

#include <mpnum/blocks/quantize_normed.cuh>

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {

/* In any way. */
struct by_maps {
  static constexpr unsigned widths = 8, least = 60; /* rows */
  static int draw(unsigned word) { return every_what[word % 5]; }
  template <class Src>
  static auto of(mpnum_norm_kind kind, const matrix<Src> &x,
                 const mpnum_normalize_options &options, void *workspace) {
    return mpnum::normalized_of(kind, const_view_of(x), &options, workspace);
  }
  template <class Computed>
  static void check_others(const manner &how, const matrix<float> &want,
                           const Computed &x) {
    drawn<float> at(1, false);
    at.how = how;
    check_turned(at, want, x);
  }
};
void norms_by_column_have_the_hosts_codes(void) {
  norms_of<mpnum_bf16, mx, by_maps>(7);
  norms_of<float, nvfp4<1, true>, by_maps>(8);
}
void norms_by_column_of_held_rows_have_the_hosts_codes(void) {
  norms_of<mpnum_bf16, mx, by_maps>(9, true);
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
  norm.epsilon = -1;
  const auto refuse = [&](const char *what, mpnum_norm_kind kind, void *workspace,
                          const mpnum_blockscaled &by_column) {
    check_refused(mpnum_launch_quantize_mx<mpnum_e4m3>(
                      nullptr, &by_column,
                      mpnum::normalized_of(kind, src, &norm, workspace),
                      MPNUM_BLOCKSCALE_RCEIL, COLUMNS, nullptr),
                  what);
    CHECK(codes.codes == before.codes && codes.scales == before.scales, "%s: written",
          what);
  };
  vector<float> maps(4 * 8 + 4);
  refuse("an epsilon below 0 by column", MPNUM_NORM_RMS, maps.data(), to);
  norm = mpnum_normalize_default();
  norm.weight = bias.data();
  refuse("no workspace", MPNUM_NORM_RMS, nullptr, to);
  refuse("a workspace at 4 bytes", MPNUM_NORM_RMS, maps.data() + 1, to);
  refuse("an L2 norm by column", MPNUM_NORM_L2, maps.data(), to);
  refuse("a workspace over what is normalised", MPNUM_NORM_RMS, x.values.data(), to);
  refuse("a workspace over weights", MPNUM_NORM_RMS, bias.data(), to);
  over = to;
  over.scale_inv = maps.data() + 31;
  refuse("scales over the workspace", MPNUM_NORM_RMS, maps.data(), over);
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {TEST(norms_by_column_have_the_hosts_codes),
                    TEST(norms_by_column_of_held_rows_have_the_hosts_codes),
                    TEST(what_does_not_fit_launches_nothing)});
}

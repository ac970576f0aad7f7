/* SPDX-License-Identifier: MIT */
/* Launchers that quantise a matrix, or what is computed of one, and sum its columns
 * (quantize_summed.cuh), or drop elements of it (quantize_dropped.cuh), beside the host's
 * mpnum_sum_columns, mpnum_dropout_rows and quantisers: every byte of codes and scales
 * and of sums, and of what is beside them. */
#include "computed_checks.hpp"

#include <mpnum/blocks/quantize_dropped.cuh>
#include <mpnum/blocks/quantize_summed.cuh>
#include <mpnum/rows/activation_backward.h>
#include <mpnum/rows/dropout.h>

namespace {

/* S is of what is summed. */
template <class Launch, class Matrix>
cudaError_t find_scale(Launch &, const mpnum::summed<Matrix> &) {
  return cudaSuccess;
}
template <unsigned high, bool is_stochastic, class Matrix>
cudaError_t find_scale(nvfp4<high, is_stochastic> &, const mpnum::summed<Matrix> &) {
  return cudaSuccess;
}
template <class Launch, class Matrix>
void give_scale(Launch &launch, const manner &how, const mpnum::summed<Matrix> &) {
  launch.scale_of(how);
}
/* Sums among other floats, and a workspace with no room to spare. */
struct sums {
  sums(std::size_t rows, std::size_t columns, std::mt19937 &random)
      : got(columns + 8), workspace(mpnum::summed_bytes(rows, columns) / 4 + 4, 0.375f) {
    for (float &one : got)
      one = static_cast<float>(random() % 200) / 8 - 12;
    want = got;
  }
  float *dst() { return got.data() + 4; }
  void expect(const matrix<float> &of, int adds) {
    must(mpnum_sum_columns(want.data() + 4, of.view(), adds));
  }
  void check(const matrix<float> &of) const {
    for (std::size_t c = 0; c < want.size(); ++c)
      CHECK(mpnum_bits_f32(got[c]) == mpnum_bits_f32(want[c]),
            "sum %td of %zu x %zu is %a, wanted %a", static_cast<std::ptrdiff_t>(c) - 4,
            of.rows, of.columns, static_cast<double>(got[c]),
            static_cast<double>(want[c]));
    for (std::size_t i = workspace.size() - 4; i < workspace.size(); ++i)
      CHECK(workspace[i] == 0.375f, "written behind the workspace");
  }
  vector<float> got, want, workspace;
};
template <class Launch, class Src, class Source>
void check_sums(drawn<Src> &at, const matrix<float> &want, const Source &source) {
  sums made(want.rows, want.columns, at.random);
  const int adds = static_cast<int>(at.next() % 2);
  made.expect(want, adds);
  check_launch(Launch(), at, want,
               mpnum::summed_of(source, made.dst(), made.workspace.data(), adds));
  made.check(want);
}
/* Codes by row alone, of one scale. */
struct one_side {};
template <class Src, class Computed>
void check_launch(one_side, drawn<Src> &at, const matrix<float> &want,
                  const Computed &x) {
  const float &scale = placed(37.5f);
  float &amax = placed(0.25f);
  const std::size_t rows = want.rows, columns = want.columns;
  const std::size_t begin = at.how.codes_at, stride = columns + at.how.extra;
  vector<mpnum_e4m3> codes(begin + rows * stride + 16, mpnum_from_bits_e4m3(0xa5));
  vector<mpnum_e4m3> wanted = codes;
  for (std::size_t r = 0; r < rows; ++r)
    must(mpnum_quantize_array(MPNUM_TYPE_E4M3, &wanted[begin + r * stride],
                              MPNUM_TYPE_F32, want.values.data() + r * want.stride,
                              columns, scale, nullptr));
  CHECK_LAUNCH(mpnum_launch_quantize_transpose(
      mpnum::matrix_of(&codes[begin], rows, columns, stride), mpnum::matrix<mpnum_e4m3>(),
      x, &scale, &amax, nullptr));
  CHECK(std::memcmp(codes.data(), wanted.data(), codes.size()) == 0, "codes of %zu x %zu",
        rows, columns);
}

/* Tall matrices, too, and values whose sums have few roundings, most of them. */
template <class Src, class Launch> void matrices_of(unsigned seed) {
  for (unsigned i = 0; i < 12; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    if (i % 3 == 0) at.rows += 64 * (at.next() % 4);
    at.src = matrix<Src>(at.rows, at.pairs, at.extra, at.next());
    if (i % 4)
      for (Src &one : at.src.values)
        one = rounded<Src>(static_cast<float>(at.next() % 20011) / 1024 - 8);
    matrix<float> want(at.rows, at.pairs, at.extra, 0); /* words go by its stride */
    for (std::size_t r = 0; r < at.rows; ++r)
      for (std::size_t c = 0; c < at.pairs; ++c)
        want.values[r * want.stride + c] =
            mpnum::element_of_(at.src.values[r * at.src.stride + c]);
    check_sums<Launch>(at, want, const_view_of(at.src));
  }
}
template <mpnum_activation activation, class Src, class Launch>
void gradients_of(unsigned seed) {
  for (unsigned i = 0; i < 12; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    at.draw(activation, i % 4 != 0);
    const matrix<Src> dy(at.rows, at.pairs, at.extra, i);
    const std::size_t n = at.pairs;
    const bool is_twice = at.has_factor || at.is_turned;
    matrix<float> want(at.rows, is_twice ? 2 * n : n, 0, 0);
    must(mpnum_activation_backward_rows(activation, to_columns(want, 0, at.across()),
                                        at.has_factor ? to_columns(want, n, n)
                                                      : mpnum_matrix_empty(),
                                        dy.view(), at.src.view(), &at.options));
    check_sums<Launch>(at, want,
                       mpnum::activation_backward_of<activation>(
                           const_view_of(dy), const_view_of(at.src), &at.options));
  }
}

/* Dropout of some floats, from a word on that may have three before it in its four. */
template <class Src> struct drops {
  explicit drops(drawn<Src> &at)
      : keep(at.next() % 6 == 0 ? 0 : static_cast<float>(1 + at.next() % 8) / 8),
        seed(std::uint64_t{at.next()} << 32 | at.next()),
        offset(at.next() % 2 ? 4 * (at.next() % 5) : at.next()) {}
  template <class Matrix> matrix<float> of(const Matrix &x) const {
    matrix<float> made(x.rows, x.columns, 0, 0);
    must(
        mpnum_dropout_rows(to_columns(made, 0, x.columns), x.view(), keep, seed, offset));
    return made;
  }
  float keep;
  std::uint64_t seed, offset;
};
template <class Src, class Launch> void dropped_matrices_of(unsigned seed) {
  for (unsigned i = 0; i < 12; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    const drops<Src> drop(at);
    at.src = matrix<Src>(at.rows, at.pairs, at.extra, at.next());
    check_launch(
        Launch(), at, drop.of(at.src),
        mpnum::dropped_of(const_view_of(at.src), drop.keep, drop.seed, drop.offset));
  }
}
template <mpnum_activation activation, class Src, class Launch>
void dropped_activations_of(unsigned seed) {
  for (unsigned i = 0; i < 12; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    const drops<Src> drop(at);
    at.draw(activation, i % 2);
    matrix<float> full(at.rows, at.pairs, 0, 0);
    must(mpnum_activation_rows(activation, to_columns(full, 0, at.pairs), at.src.view(),
                               &at.options));
    check_launch(Launch(), at, drop.of(full),
                 mpnum::dropped_of(
                     mpnum::activation_of<activation>(const_view_of(at.src), &at.options),
                     drop.keep, drop.seed, drop.offset));
  }
}
template <mpnum_activation activation, class Src, class Launch>
void gradients_of_dropped(unsigned seed) {
  for (unsigned i = 0; i < 20; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    const drops<Src> drop(at);
    at.draw(activation, i % 2);
    const matrix<Src> dy(at.rows, at.pairs, at.extra, i);
    const matrix<float> dropped = drop.of(dy);
    const std::size_t n = at.pairs;
    const bool is_twice = at.has_factor || at.is_turned;
    matrix<float> want(at.rows, is_twice ? 2 * n : n, 0, 0);
    must(mpnum_activation_backward_rows(activation, to_columns(want, 0, at.across()),
                                        at.has_factor ? to_columns(want, n, n)
                                                      : mpnum_matrix_empty(),
                                        dropped.view(), at.src.view(), &at.options));
    const auto source = mpnum::activation_backward_of<activation>(
        mpnum::dropped_of(const_view_of(dy), drop.keep, drop.seed, drop.offset),
        const_view_of(at.src), &at.options);
    check_sums<Launch>(at, want, source);
  }
}

void dropped_elements_are_the_hosts(void) {
  dropped_matrices_of<mpnum_bf16, mx>(9);
  dropped_matrices_of<float, one_scale>(10);
  dropped_activations_of<MPNUM_ACTIVATION_GELU_TANH, mpnum_f16, nvfp4<1, true>>(11);
}
void gradients_of_dropped_are_the_hosts(void) {
  gradients_of_dropped<MPNUM_ACTIVATION_SILU, mpnum_bf16, mx>(12);
}
void shares_that_are_none_launch_nothing(void) {
  matrix<mpnum_bf16> x(8, 64, 0, 1);
  stored codes(mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), 8, 64, 0, 0,
               0);
  const stored before = codes;
  const mpnum_blockscaled to = codes.view();
  const mpnum_activation_options usual = mpnum_activation_default();
  const auto refuse = [&](const char *what, const auto &source) {
    check_refused(mpnum_launch_quantize_mx<mpnum_e4m3>(
                      &to, nullptr, source, MPNUM_BLOCKSCALE_RCEIL, ROWS, nullptr),
                  what);
    CHECK(codes.codes == before.codes && codes.scales == before.scales, "%s: written",
          what);
  };
  for (const float keep : {-0.5f, 1.5f, 0x1p-33f, mpnum_from_bits_f32(0x7fc00000u)}) {
    const auto dropped = mpnum::dropped_of(view_of(x), keep, 1, 2);
    refuse("a share of a matrix", dropped);
    refuse("a share of a gradient", mpnum::activation_backward_of<MPNUM_ACTIVATION_RELU>(
                                        dropped, view_of(x), &usual));
    refuse(
        "a share of an activation",
        mpnum::dropped_of(mpnum::activation_of<MPNUM_ACTIVATION_RELU>(view_of(x), &usual),
                          keep, 1, 2));
  }
  mpnum_activation_options adding = usual;
  adding.adds = 1;
  refuse(
      "an activation that is none",
      mpnum::dropped_of(mpnum::activation_of<MPNUM_ACTIVATION_RELU>(view_of(x), &adding),
                        0.5f, 1, 2));
}

void sums_of_matrices_are_the_hosts(void) {
  matrices_of<mpnum_bf16, mx>(1);
  matrices_of<mpnum_f16, nvfp4<1, true>>(2);
  matrices_of<float, deepseek<1>>(3);
  matrices_of<mpnum_bf16, deepseek<128>>(4);
  matrices_of<float, one_scale>(5);
  matrices_of<mpnum_bf16, one_side>(6);
}
void sums_of_gradients_are_the_hosts(void) {
  gradients_of<MPNUM_ACTIVATION_SILU, mpnum_bf16, mx>(7);
  gradients_of<MPNUM_ACTIVATION_RELU, mpnum_f16, one_scale>(8);
}

void what_does_not_fit_launches_nothing(void) {
  matrix<mpnum_bf16> x(8, 64, 0, 1);
  vector<float> dst(64 + 16, 7.0f);
  stored codes(mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), 8, 64, 0, 0,
               0);
  const stored before = codes;
  const matrix<mpnum_bf16> same = x;
  const auto refuse = [&](const char *what, float *sums_at, void *workspace, int adds,
                          const mpnum_blockscaled &to) {
    check_refused(mpnum_launch_quantize_mx<mpnum_e4m3>(
                      &to, nullptr,
                      mpnum::summed_of(view_of(x), sums_at, workspace, adds),
                      MPNUM_BLOCKSCALE_RCEIL, ROWS, nullptr),
                  what);
    CHECK(codes.codes == before.codes && codes.scales == before.scales &&
              std::memcmp(x.values.data(), same.values.data(), 8 * 64 * 2) == 0 &&
              dst == vector<float>(64 + 16, 7.0f),
          "%s: written", what);
  };
  const mpnum_blockscaled to = codes.view();
  float *const at = dst.data();
  vector<float> workspace(64);
  char *const bytes = reinterpret_cast<char *>(workspace.data());
  refuse("no sums", nullptr, workspace.data(), 0, to);
  refuse("no workspace", at, nullptr, 0, to);
  refuse("a workspace at an odd address", at, bytes + 2, 0, to);
  refuse("adds 2", at, workspace.data(), 2, to);
  refuse("a workspace over sums", at, at + 63, 0, to);
  refuse("sums over the matrix", reinterpret_cast<float *>(x.values.data()),
         workspace.data(), 0, to);
  refuse("a workspace over the matrix", at, x.values.data() + 510, 0, to);
  mpnum_blockscaled over = to;
  over.codes = at;
  refuse("codes over sums", at, workspace.data(), 0, over);
  over = to;
  over.scale_inv = workspace.data() + 63;
  refuse("scales over the workspace", at, workspace.data(), 0, over);
  /* Without sums there is a transpose. */
  const float &scale = placed(1.0f);
  vector<mpnum_e4m3> one(8 * 64, mpnum_from_bits_e4m3(0xa5));
  check_refused(mpnum_launch_quantize_transpose(
                    mpnum::matrix_of(one.data(), 8, 64), mpnum::matrix<mpnum_e4m3>(),
                    view_of(x), &scale, static_cast<float *>(nullptr), nullptr),
                "no transpose");
  CHECK(one[0].bits == 0xa5, "codes were written");
  /* Nor is anything written of nothing. */
  CHECK_LAUNCH(mpnum_launch_quantize_mx<mpnum_e4m3>(
      &to, nullptr, mpnum::summed_of(mpnum::matrix_of(x.values.data(), 0, 64), at, bytes),
      MPNUM_BLOCKSCALE_RCEIL, ROWS, nullptr));
  CHECK(dst == vector<float>(64 + 16, 7.0f), "sums of nothing were written");
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(
      count, arguments,
      {TEST(sums_of_matrices_are_the_hosts), TEST(sums_of_gradients_are_the_hosts),
       TEST(dropped_elements_are_the_hosts), TEST(gradients_of_dropped_are_the_hosts),
       TEST(shares_that_are_none_launch_nothing),
       TEST(what_does_not_fit_launches_nothing)});
}

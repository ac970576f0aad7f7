/* SPDX-License-Identifier: MIT */
/* Launchers of quantize_blocks.cuh, and that of FP8 codes with their transpose, that take
 * an activation, its gradient or a transform in the place of a matrix
 * (quantize_computed.cuh, quantize_hadamard.cuh), beside the host's two steps,
 * mpnum_activation_rows, mpnum_activation_backward_rows or mpnum_hadamard_rows to floats
 * and mpnum_quantize_blocks or _array of those: every byte of codes and scales and of
 * what is between and behind them. */
#include "computed_checks.hpp"
#include "light_reference.hpp"

#include <mpnum/blocks/quantize_hadamard.cuh>
#include <mpnum/rows/activation_backward.h>

namespace {

template <mpnum_activation activation, class Src, class Launch>
void forward_of(unsigned seed) {
  for (unsigned i = 0; i < 16; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    at.draw(activation, i % 2);
    matrix<float> want(at.rows, at.pairs, 0, 0);
    must(mpnum_activation_rows(activation, to_columns(want, 0, at.pairs), at.src.view(),
                               &at.options));
    check_launch(Launch(), at, want,
                 mpnum::activation_of<activation>(const_view_of(at.src), &at.options));
  }
}
template <mpnum_activation activation, class Dy, class Src, class Launch>
void backward_of(unsigned seed) {
  for (unsigned i = 0; i < 16; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    at.draw(activation, i % 2);
    matrix<Dy> dy(at.rows, at.pairs, at.extra, i);
    const std::size_t n = at.pairs;
    const bool is_twice = at.has_factor || at.is_turned;
    matrix<float> want(at.rows, is_twice ? 2 * n : n, 0, 0);
    must(mpnum_activation_backward_rows(activation, to_columns(want, 0, at.across()),
                                        at.has_factor ? to_columns(want, n, n)
                                                      : mpnum_matrix_empty(),
                                        dy.view(), at.src.view(), &at.options));
    check_launch(Launch(), at, want,
                 mpnum::activation_backward_of<activation>(
                     view_of(dy), const_view_of(at.src), &at.options));
  }
}

#if !TEST_ON_GPU /* a GPU has bits of its own */
/* By approximate instructions, which on hosts are the light forms. */
template <mpnum_activation activation, class Src, class Launch>
void fast_forward_of(unsigned seed) {
  for (unsigned i = 0; i < 16; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    at.draw(activation, i % 2);
    matrix<float> want(at.rows, at.pairs, 0, 0);
    const mpnum_activation_options lighter = lighter_of(activation, at.options);
    must(mpnum_activation_rows(activation, to_columns(want, 0, at.pairs), at.src.view(),
                               &lighter));
    check_launch(
        Launch(), at, want,
        mpnum::activation_of<activation, true>(const_view_of(at.src), &at.options));
  }
}
/* value and slope: of a float, with the alpha of options. */
template <mpnum_activation activation, class Dy, class Src, class Launch, class Value,
          class Slope>
void fast_backward_of(unsigned seed, Value value, Slope slope) {
  for (unsigned i = 0; i < 16; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    at.is_turned = false;
    at.options.is_interleaved = 0;
    at.options.bias = nullptr;
    at.options.limit = at.options.offset = 0;
    at.draw(activation, i % 2);
    matrix<Dy> dy(at.rows, at.pairs, at.extra, i);
    const std::size_t n = at.pairs;
    const bool has_alpha = at.options.alpha == ALPHA;
    matrix<float> want(at.rows, at.has_factor ? 2 * n : n, 0, 0);
    for (std::size_t r = 0; r < at.rows; ++r)
      for (std::size_t c = 0; c < n; ++c) {
        const std::size_t k = r * at.src.stride + c;
        const float x = mpnum::row_any_nan_<Src>::in(at.src.begin()[k]);
        const float given = mpnum::row_any_nan_<Dy>::in(dy.begin()[k]);
        float *const row = want.values.data() + r * want.stride;
        float own = given;
        if (at.has_factor) {
          own = given * mpnum::row_any_nan_<Src>::in(at.factor.begin()[k]);
          row[n + c] = mpnum_canonical_(
              given * (has_alpha ? value(x * ALPHA) * (1 / ALPHA) : value(x)));
        }
        row[c] = mpnum_canonical_(own * slope(has_alpha ? x * ALPHA : x));
      }
    check_launch(Launch(), at, want,
                 mpnum::activation_backward_of<activation, true>(
                     view_of(dy), const_view_of(at.src), &at.options));
  }
}
void fast_activations_have_the_light_codes(void) {
  fast_forward_of<MPNUM_ACTIVATION_SILU, mpnum_bf16, mx>(16);
  fast_forward_of<MPNUM_ACTIVATION_GELU_TANH, mpnum_f16, nvfp4<1, true>>(17);
  fast_forward_of<MPNUM_ACTIVATION_SILU, mpnum_bf16, one_scale>(18);
}
void fast_gradients_have_the_light_codes(void) {
  fast_backward_of<MPNUM_ACTIVATION_SILU, mpnum_bf16, mpnum_bf16, mx>(
      19, mpnum_silu_light_f32, fast_silu_slope);
  fast_backward_of<MPNUM_ACTIVATION_GELU_TANH, float, mpnum_f16, nvfp4<1, false>>(
      20, mpnum_gelu_tanh_light_f32, fast_gelu_tanh_slope);
}
#endif

/* Columns are a multiple of n; half of the matrices have tiles that go by vectors. Some
 * have Inf and NaN, and sums that overflow. */
template <unsigned n, class Src, class Launch> void transforms_of(unsigned seed) {
  for (unsigned i = 0; i < 16; ++i) {
    drawn<Src> at(101 * seed + i, i % 4 == 3);
    const std::size_t columns = n * (1 + at.next() % (256 / n));
    const std::uint64_t signs = std::uint64_t{at.next()} << 32 | at.next();
    at.src = matrix<Src>(at.rows, columns, at.extra, at.next());
    if (i % 2)
      for (Src &one : at.src.values)
        one = rounded<Src>(static_cast<float>(at.next() % 2001) / 128 - 8);
    matrix<float> want(at.rows, columns, 0, 0);
    must(mpnum_hadamard_rows(to_columns(want, 0, columns), at.src.view(), int{n}, signs));
    check_launch(Launch(), at, want, mpnum::hadamard_of<n>(view_of(at.src), signs));
  }
}

void activations_have_the_hosts_codes(void) {
  forward_of<MPNUM_ACTIVATION_SILU, mpnum_bf16, mx>(1);
  forward_of<MPNUM_ACTIVATION_GELU_TANH, mpnum_f16, nvfp4<1, true>>(2);
  forward_of<MPNUM_ACTIVATION_RELU_SQUARED, float, deepseek<128>>(3);
  forward_of<MPNUM_ACTIVATION_GELU, mpnum_e4m3, nvfp4<16, false>>(4);
  forward_of<MPNUM_ACTIVATION_GELU_TANH, mpnum_bf16, one_scale>(13);
}
void gradients_have_the_hosts_codes(void) {
  backward_of<MPNUM_ACTIVATION_SILU, mpnum_bf16, mpnum_bf16, mx>(5);
  backward_of<MPNUM_ACTIVATION_GELU_TANH, float, mpnum_f16, nvfp4<1, false>>(6);
  backward_of<MPNUM_ACTIVATION_RELU, mpnum_f16, float, mx>(7);
  backward_of<MPNUM_ACTIVATION_GELU, mpnum_bf16, mpnum_bf16, deepseek<128>>(8);
  backward_of<MPNUM_ACTIVATION_SILU, mpnum_bf16, mpnum_bf16, one_scale>(14);
}

void transforms_have_the_hosts_codes(void) {
  transforms_of<16, mpnum_bf16, nvfp4<1, false>>(9);
  transforms_of<64, float, nvfp4<1, true>>(10);
  transforms_of<64, mpnum_bf16, mx>(11);
  transforms_of<16, float, deepseek<128>>(12);
  transforms_of<16, mpnum_bf16, one_scale>(15);
}

void transforms_that_do_not_fit_launch_nothing(void) {
  matrix<mpnum_bf16> x(8, 64, 0, 1);
  stored codes(mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), 8, 64, 0, 0,
               0);
  const stored before = codes;
  const auto refuse = [&](const char *what, const mpnum::matrix<mpnum_bf16> &src,
                          const mpnum_blockscaled &to) {
    check_refused(
        mpnum_launch_quantize_mx<mpnum_e4m3>(&to, nullptr, mpnum::hadamard_of<16>(src, 7),
                                             MPNUM_BLOCKSCALE_RCEIL, ROWS, nullptr),
        what);
    CHECK(codes.codes == before.codes && codes.scales == before.scales, "%s: written",
          what);
  };
  refuse("half a transform", mpnum::matrix_of(x.values.data(), 8, 40), codes.view());
  refuse("no matrix", mpnum::matrix_of(static_cast<mpnum_bf16 *>(nullptr), 8, 64),
         codes.view());
  mpnum_blockscaled over = codes.view();
  over.codes = x.values.data() + 7 * 64 + 63;
  refuse("codes over the matrix", view_of(x), over);
  over = codes.view();
  over.scale_inv = x.values.data();
  refuse("scales over the matrix", view_of(x), over);
}

void what_does_not_fit_launches_nothing(void) {
  matrix<mpnum_bf16> x(8, 32, 0, 1), up(8, 32, 0, 2), dy(8, 32, 0, 3);
  stored codes(mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL), 8, 64, 0, 0,
               0);
  const stored before = codes;
  float &scale = placed(7.0f);
  const float &factor = placed(1.0f);
  vector<mpnum_e4m3> turned(32 * 8);
  const auto refuse = [&](const char *what, const mpnum::matrix<mpnum_bf16> &src,
                          const mpnum::matrix<mpnum_bf16> &of_y,
                          const mpnum_activation_options &options,
                          const mpnum_blockscaled &to, bool has_forward) {
    if (has_forward)
      check_refused(mpnum_launch_quantize_mx<mpnum_e4m3>(
                        &to, nullptr,
                        mpnum::activation_of<MPNUM_ACTIVATION_SILU>(src, &options),
                        MPNUM_BLOCKSCALE_RCEIL, ROWS, nullptr),
                    what);
    check_refused(
        mpnum_launch_quantize_mx<mpnum_e4m3>(
            &to, nullptr,
            mpnum::activation_backward_of<MPNUM_ACTIVATION_SILU>(of_y, src, &options),
            MPNUM_BLOCKSCALE_RCEIL, ROWS, nullptr),
        what);
    CHECK(codes.codes == before.codes && codes.scales == before.scales, "%s: written",
          what);
    mpnum_e4m3 *const first = static_cast<mpnum_e4m3 *>(to.codes);
    if (has_forward && to.scale_inv == codes.view().scale_inv)
      check_refused(mpnum_launch_quantize_transpose(
                        mpnum::matrix_of(first, 8, 32),
                        mpnum::matrix_of(turned.data(), 32, 8),
                        mpnum::activation_of<MPNUM_ACTIVATION_SILU>(src, &options),
                        &factor, static_cast<float *>(nullptr), nullptr),
                    what);
  };
  const mpnum::matrix<mpnum_bf16> src = view_of(x), grad = view_of(dy);
  const mpnum_blockscaled to = codes.view();
  mpnum_activation_options usual = mpnum_activation_default(), options = usual;
  options.adds = 1;
  refuse("gradients that are added", src, grad, options, to, true);
  options = usual;
  options.limit = -1;
  refuse("a limit below 0", src, grad, options, to, true);
  options = usual;
  options.is_interleaved = 1;
  refuse("a gradient as wide as pairs", src, grad, options, to, false);
  refuse("half a pair", mpnum::matrix_of(src.data, 8, 31), grad, options, to, true);
  options = usual;
  options.factor = up.view();
  options.factor.columns = 31;
  refuse("a factor of another shape", src, grad, options, to, true);
  refuse("a gradient of another shape", src, mpnum::matrix_of(grad.data, 7, 32), usual,
         to, false);
  refuse("no matrix", mpnum::matrix_of(static_cast<mpnum_bf16 *>(nullptr), 8, 32), grad,
         usual, to, true);
  refuse("no gradient", src, mpnum::matrix_of(static_cast<mpnum_bf16 *>(nullptr), 8, 32),
         usual, to, false);
  const auto codes_over = [&](void *memory) {
    return mpnum::matrix_of(static_cast<mpnum_e4m3 *>(memory), 32, 8);
  };
  for (void *memory : {static_cast<void *>(x.values.data()), to.codes})
    check_refused(mpnum_launch_quantize_transpose(
                      mpnum::matrix_of(static_cast<mpnum_e4m3 *>(to.codes), 8, 32),
                      codes_over(memory),
                      mpnum::activation_of<MPNUM_ACTIVATION_SILU>(src, &usual), &factor,
                      static_cast<float *>(nullptr), nullptr),
                  "transposed codes over others");
  mpnum_blockscaled over = to;
  over.codes = x.values.data();
  refuse("codes over the matrix", src, grad, usual, over, true);
  over.codes = dy.values.data();
  refuse("codes over the gradient", src, grad, usual, over, false);
  options = usual;
  options.factor = up.view();
  over.codes = up.values.data();
  refuse("codes over the factor", src, grad, options, over, true);
  vector<float> bias(64);
  options = usual;
  options.bias = bias.data();
  over = to;
  over.scale_inv = bias.data();
  refuse("scales over the bias", src, grad, options, over, true);
  options = usual;
  options.adds = 1;
  check_refused(
      mpnum_launch_nvfp4_scale(
          &scale, mpnum::activation_of<MPNUM_ACTIVATION_RELU>(src, &options), nullptr),
      "S of what is not allowed");
  CHECK(scale == 7.0f, "S was written");
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments, {
    TEST(activations_have_the_hosts_codes), TEST(gradients_have_the_hosts_codes),
#if !TEST_ON_GPU
        TEST(fast_activations_have_the_light_codes),
        TEST(fast_gradients_have_the_light_codes),
#endif
        TEST(transforms_have_the_hosts_codes),
        TEST(transforms_that_do_not_fit_launch_nothing),
        TEST(what_does_not_fit_launches_nothing)
  });
}

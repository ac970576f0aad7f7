/* SPDX-License-Identifier: MIT */
/* Activations of rows, their gradients and dropout of mpnum/rows/activation_rows.cuh:
 * every byte that the host's functions write, for rows of any length and rows that are
 * not ordinary. TEST_TYPES makes a smaller build. */
#define MPNUM_NO_SIMD 1 /* the bits are those of the vector loops */
#include "light_reference.hpp"
#include "row_kernels.hpp"
#include "../../harness/control_word.h"
#include "../../harness/must.h"

#include <mpnum/rows/activation_backward.h>
#include <mpnum/rows/activation_rows.cuh>
#include <mpnum/rows/dropout.h>

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {

/* Options and the bias that they name; the factor is the caller's. */
enum : unsigned { OPTIONS = 20 };
mpnum_activation activation_of(unsigned which) {
  return static_cast<mpnum_activation>(which % 5);
}
mpnum_activation_options choose(unsigned which, const vector<float> &bias) {
  mpnum_activation_options options = mpnum_activation_default();
  if (which % 2) options.bias = bias.data();
  if (which / 5 % 2) options.limit = 2.5f;
  if (which / 5 % 4 > 1) options.offset = 1;
  if (which % 5 == 0 && which / 5 % 4 != 2) options.alpha = 1.702f;
  return options;
}
vector<float> biases(std::size_t columns) {
  vector<float> made(columns + 1);
  for (std::size_t i = 0; i < columns; ++i)
    made[i] = static_cast<float>(i % 13) / 8 - 0.5f;
  return made;
}
template <class T>
void check_same(const vector<T> &got, const vector<T> &want, const char *what,
                const matrix &shape, unsigned which) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) == 0) continue;
    CHECK(false, "%s of %zu x %zu, options %u, %s: element %zu: %x, want %x", what,
          shape.rows, shape.columns, which, simt::active_schedule.name, i,
          code_of(got[i]), code_of(want[i]));
    return;
  }
}

template <class Dst, class Src> void check_forward(const matrix &shape, unsigned which) {
  const vector<Src> src = random_rows<Src>(shape, which + 1),
                    factor = random_rows<Src>(shape, which + 2);
  const vector<float> bias = biases(shape.columns);
  mpnum_activation_options options = choose(which, bias);
  vector<Dst> want = guarded_rows<Dst>(shape), got = want;
  if (which % 3) options.factor = of_rows(factor, shape);
  must(mpnum_activation_rows(activation_of(which), to_rows(want, shape),
                             of_rows(src, shape), &options));
  CHECK_LAUNCH(mpnum_launch_activation_rows(activation_of(which), view_to(got, shape),
                                            view_of(src, shape), &options, nullptr));
  check_same(got, want, "activation", shape, which);
}
template <class Q, class Src>
void check_codes(const matrix &shape, unsigned which, float scale) {
  const vector<Src> src = random_rows<Src>(shape, which + 1),
                    factor = random_rows<Src>(shape, which + 2);
  const vector<float> bias = biases(shape.columns);
  mpnum_activation_options options = choose(which, bias);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  vector<Q> want = guarded_rows<Q>(shape), got = want;
  float &amax = placed(0.0f);
  const float &factor_of = placed(scale);
  if (which % 3) options.factor = of_rows(factor, shape);
  must(mpnum_activation_quantize_rows(activation_of(which), to_rows(want, shape),
                                      of_rows(src, shape), &options, scale, &losses));
  CHECK_LAUNCH(mpnum_launch_activation_quantize_rows(
      activation_of(which), view_to(got, shape), view_of(src, shape), &options,
      &factor_of, &amax, nullptr));
  check_same(got, want, "codes", shape, which);
  CHECK(code_of(amax) == code_of(losses.amax), "amax %g, want %g",
        static_cast<double>(amax), static_cast<double>(losses.amax));
}

/* Gradients of src, of the factor, or of both. */
template <class D, class Dy, class Src>
void check_backward(const matrix &shape, unsigned which, int adds) {
  const vector<Src> src = random_rows<Src>(shape, which + 1),
                    factor = random_rows<Src>(shape, which + 2);
  const vector<Dy> dy = random_rows<Dy>(shape, which + 3);
  const vector<float> bias = biases(shape.columns);
  const bool has_factor = which % 4 != 3, wants_src = which % 4 != 1;
  matrix to = shape;
  vector<D> want, want_factor, got, got_factor;
  mpnum_activation_options options = choose(which, bias);
  to.from_stride = shape.to_stride;
  want = random_rows<D>(to, 9);
  want_factor = random_rows<D>(to, 9);
  got = want;
  got_factor = want_factor;
  options.adds = adds;
  if (has_factor) options.factor = of_rows(factor, shape);
  must(mpnum_activation_backward_rows(
      activation_of(which), wants_src ? to_rows(want, shape) : mpnum_matrix_empty(),
      has_factor ? to_rows(want_factor, shape) : mpnum_matrix_empty(), of_rows(dy, shape),
      of_rows(src, shape), &options));
  CHECK_LAUNCH(mpnum_launch_activation_backward_rows(
      activation_of(which), wants_src ? view_to(got, shape) : mpnum::matrix<D>(),
      has_factor ? view_to(got_factor, shape) : mpnum::matrix<D>(), view_of(dy, shape),
      view_of(src, shape), &options, nullptr));
  check_same(got, want, adds ? "sum of src" : "gradient of src", shape, which);
  check_same(got_factor, want_factor, adds ? "sum of factor" : "gradient of factor",
             shape, which);
}
template <class Q, class Src>
void check_backward_codes(const matrix &shape, unsigned which, float scale) {
  const vector<Src> src = random_rows<Src>(shape, which + 1),
                    factor = random_rows<Src>(shape, which + 2),
                    dy = random_rows<Src>(shape, which + 3);
  const vector<float> bias = biases(shape.columns);
  mpnum_activation_options options = choose(which, bias);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  vector<Q> want = guarded_rows<Q>(shape), got = want, want_factor = want,
            got_factor = want;
  float &amax = placed(0.0f);
  const float &factor_of = placed(scale);
  options.factor = of_rows(factor, shape);
  must(mpnum_activation_backward_quantize_rows(
      activation_of(which), to_rows(want, shape), to_rows(want_factor, shape),
      of_rows(dy, shape), of_rows(src, shape), &options, scale, &losses));
  CHECK_LAUNCH(mpnum_launch_activation_backward_quantize_rows(
      activation_of(which), view_to(got, shape), view_to(got_factor, shape),
      view_of(dy, shape), view_of(src, shape), &options, &factor_of, &amax, nullptr));
  check_same(got, want, "codes of src", shape, which);
  check_same(got_factor, want_factor, "codes of factor", shape, which);
  CHECK(code_of(amax) == code_of(losses.amax), "amax");
}
/* Gate and factor by turns, rows of twice as many elements. */
matrix twice(const matrix &shape) {
  return {shape.rows, 2 * shape.columns, 2 * shape.from_stride, 2 * shape.to_stride};
}
template <class Dst, class Q, class Src>
void check_turns(const matrix &shape, unsigned which, float scale) {
  const vector<Src> src = random_rows<Src>(twice(shape), which + 1);
  const vector<float> bias = biases(2 * shape.columns);
  mpnum_activation_options options = choose(which, bias);
  vector<Dst> want = guarded_rows<Dst>(shape), got = want;
  vector<Q> want_codes = guarded_rows<Q>(shape), codes = want_codes;
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  float &amax = placed(0.0f);
  const float &factor_of = placed(scale);
  options.is_interleaved = 1;
  must(mpnum_activation_rows(activation_of(which), to_rows(want, shape),
                             of_rows(src, twice(shape)), &options));
  CHECK_LAUNCH(mpnum_launch_activation_rows(activation_of(which), view_to(got, shape),
                                            view_of(src, twice(shape)), &options,
                                            nullptr));
  check_same(got, want, "activation by turns", shape, which);
  must(mpnum_activation_quantize_rows(activation_of(which), to_rows(want_codes, shape),
                                      of_rows(src, twice(shape)), &options, scale,
                                      &losses));
  CHECK_LAUNCH(mpnum_launch_activation_quantize_rows(
      activation_of(which), view_to(codes, shape), view_of(src, twice(shape)), &options,
      &factor_of, &amax, nullptr));
  check_same(codes, want_codes, "codes by turns", shape, which);
  CHECK(code_of(amax) == code_of(losses.amax), "amax");
}
template <class D, class Q, class Dy, class Src>
void check_turns_back(const matrix &shape, unsigned which, float scale, int adds) {
  const matrix wide = twice(shape);
  const vector<Src> src = random_rows<Src>(wide, which + 1);
  const vector<Dy> dy = random_rows<Dy>(shape, which + 3);
  const vector<float> bias = biases(2 * shape.columns);
  mpnum_activation_options options = choose(which, bias);
  matrix to = wide;
  to.from_stride = wide.to_stride;
  vector<D> want = random_rows<D>(to, 9), got = want;
  vector<Q> want_codes = guarded_rows<Q>(wide), codes = want_codes;
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  float &amax = placed(0.0f);
  const float &factor_of = placed(scale);
  options.is_interleaved = 1;
  options.adds = adds;
  must(mpnum_activation_backward_rows(activation_of(which), to_rows(want, wide),
                                      mpnum_matrix_empty(), of_rows(dy, shape),
                                      of_rows(src, wide), &options));
  CHECK_LAUNCH(mpnum_launch_activation_backward_rows(
      activation_of(which), view_to(got, wide), mpnum::matrix<D>(), view_of(dy, shape),
      view_of(src, wide), &options, nullptr));
  check_same(got, want, "gradients by turns", wide, which);
  options.adds = 0;
  must(mpnum_activation_backward_quantize_rows(
      activation_of(which), to_rows(want_codes, wide), mpnum_matrix_empty(),
      of_rows(dy, shape), of_rows(src, wide), &options, scale, &losses));
  CHECK_LAUNCH(mpnum_launch_activation_backward_quantize_rows(
      activation_of(which), view_to(codes, wide), mpnum::matrix<Q>(), view_of(dy, shape),
      view_of(src, wide), &options, &factor_of, &amax, nullptr));
  check_same(codes, want_codes, "codes of gradients by turns", wide, which);
  CHECK(code_of(amax) == code_of(losses.amax), "amax");
}
template <class Dst, class Src>
void check_dropout(const matrix &shape, float keep, std::uint64_t offset) {
  const vector<Src> src = random_rows<Src>(shape, 1);
  vector<Dst> want = guarded_rows<Dst>(shape), got = want;
  must(mpnum_dropout_rows(to_rows(want, shape), of_rows(src, shape), keep, 77, offset));
  CHECK_LAUNCH(mpnum_launch_dropout_rows(view_to(got, shape), view_of(src, shape), keep,
                                         77, offset, nullptr));
  check_same(got, want, "dropout", shape, static_cast<unsigned>(offset & 0xff));
}

/* An element is kept whose word is below keep 2^32: words that are one below it, and
 * equal to it, in rows by vectors and in others; and with keep 0 none is, whatever its
 * word. */
void check_limit(std::uint32_t low_bits, std::uint32_t above, bool is_kept) {
  for (const std::size_t columns : {std::size_t(72), std::size_t(7)}) {
    const matrix shape = {1, columns, columns, columns};
    const vector<float> ones(columns, 1.0f);
    vector<float> got(columns);
    std::uint64_t index = 0;
    while ((mpnum_random(77, index) & 0xff) != low_bits)
      ++index;
    const std::uint64_t word = std::uint64_t(mpnum_random(77, index)) + above;
    const float keep = static_cast<float>(word) / 4294967296.0f; /* exact */
    CHECK_LAUNCH(mpnum_launch_dropout_rows(view_to(got, shape), view_of(ones, shape),
                                           keep, 77, index & ~std::uint64_t(3), nullptr));
    CHECK((got[index % 4] != 0) == is_kept, "word %u, keep %a: %a, %u columns",
          static_cast<unsigned>(word - above), double(keep), double(got[index % 4]),
          static_cast<unsigned>(columns));
    const std::uint64_t index_of_0 = 4 * std::uint64_t(387058783) + 3; /* found */
    CHECK(mpnum_random(77, index_of_0) == 0, "by a search of all words");
    CHECK_LAUNCH(mpnum_launch_dropout_rows(view_to(got, shape), view_of(ones, shape), 0,
                                           77, index_of_0 - 3, nullptr));
    for (std::size_t i = 0; i < columns; ++i)
      CHECK(got[i] == 0, "keep 0: %a at %u", double(got[i]), static_cast<unsigned>(i));
  }
}
void dropout_keeps_words_below_its_limit(void) {
  check_limit(0xff, 1, true);
  check_limit(0, 0, false);
}

#if defined(__SSE2__) && !TEST_ON_GPU
/* What a launcher computes does not depend on the rounding of its caller, nor raise what
 * he did not. Ones times the scale of dropout round nowhere. */
void environments_change_nothing(void) {
  const matrix shape = {4, 16, 16, 16};
  const vector<float> src(64, 1.0f);
  for (float keep : {0.3f, 0.7f, 0.9f}) {
    vector<float> want(64), got(64);
    must(mpnum_dropout_rows(to_rows(want, shape), of_rows(src, shape), keep, 1, 0));
    set_control_word(0x3f80); /* toward minus infinity */
    CHECK_LAUNCH(mpnum_launch_dropout_rows(view_to(got, shape), view_of(src, shape), keep,
                                           1, 0, nullptr));
    const std::uint64_t word = control_word();
    set_control_word(0x1f80);
    CHECK(word == 0x3f80, "the control word is %x", static_cast<unsigned>(word));
    check_same(got, want, "dropout", shape, 0);
  }
}
#else
void environments_change_nothing(void) {}
#endif

const std::size_t lengths[] = {1, 2, 3, 8, 33, 63, 64, 65, 200, 2047, 2048, 2049, 4500};
void rows_of_any_length_have_the_bits_of_the_host(void) {
  unsigned which = 0;
  for (std::size_t columns : lengths)
    for (std::size_t rows : {1u, 3u, 11u}) {
      if (columns > 300 && rows > 3) continue;
      const std::size_t stride = columns + which % 3;
      const matrix shape = {rows, columns, stride, columns + which % 2};
      simt::use(simt::schedules[which % 6]);
      check_forward<float, float>(shape, which % OPTIONS);
      check_backward<float, float, float>(shape, which % OPTIONS, which % 3 == 0);
      check_backward<float, float, float>(shape, (which + 7) % OPTIONS, 0);
      check_dropout<float, float>(shape, which % 5 ? 0.7f : 0,
                                  which % 2 ? which : 0xfffffffffu - 5);
      ++which;
    }
}
void every_option_has_the_bits_of_the_host(void) {
  for (unsigned which = 0; which < OPTIONS; ++which)
    for (int adds = 0; adds < 2; ++adds) {
      simt::use(simt::schedules[which % 6]);
      check_forward<float, float>({11, 70, 71, 70}, which);
      check_backward<float, float, float>({11, 70, 71, 72}, which, adds);
    }
}
void codes_have_the_bits_of_the_host(void) {
  for (unsigned which = 0; which < OPTIONS; which += 3) {
    simt::use(simt::schedules[which % 6]);
    check_codes<mpnum_e4m3, float>({11, 70, 71, 73}, which, 30);
    check_backward_codes<mpnum_e4m3, float>({11, 70, 71, 73}, which, 30);
  }
}
void turns_have_the_bits_of_the_host(void) {
  unsigned which = 0;
  for (std::size_t columns : {1u, 2u, 3u, 33u, 64u, 65u, 200u, 2049u})
    for (std::size_t rows : {1u, 3u}) {
      const matrix shape = {rows, columns, columns + which % 3, columns + which % 2};
      simt::use(simt::schedules[which % 6]);
      check_turns<float, mpnum_e4m3, float>(shape, which % OPTIONS, 30);
      check_turns_back<float, mpnum_e4m3, float, float>(shape, which % OPTIONS, 30,
                                                        which % 3 == 0);
      ++which;
    }
}
/* Blocks of a grid may have a second dimension. */
void rows_of_blocks_have_the_bits_of_the_host(void) {
#if !TEST_ON_GPU
  simt::most_across = 2;
  check_forward<float, float>({40, 70, 70, 70}, 1);
  check_backward<float, float, float>({9, 4500, 4500, 4500}, 2, 0);
  simt::most_across = 0;
#endif
}
/* Without bias, bounds and alpha, rows go by vectors of the usual numbers. */
const matrix plain = {32, 2048, 2048, 2048};
template <class Dst, class Src>
void check_plain(const vector<Src> &src, unsigned which, float scale) {
  const vector<Src> factor = random_rows<Src>(plain, 2);
  const vector<Dst> dy = random_rows<Dst>(plain, 3);
  const mpnum_activation activation = activation_of(which);
  mpnum_activation_options options = mpnum_activation_default();
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  vector<Dst> want = guarded_rows<Dst>(plain), got = want, want_factor = want,
              got_factor = want;
  vector<mpnum_e4m3> want_codes = guarded_rows<mpnum_e4m3>(plain), codes = want_codes;
  float &amax = placed(0.0f);
  const float &factor_of = placed(scale);
  for (int has_factor = 0; has_factor < 2; ++has_factor) {
    if (has_factor) options.factor = of_rows(factor, plain);
    must(mpnum_activation_rows(activation, to_rows(want, plain), of_rows(src, plain),
                               &options));
    CHECK_LAUNCH(mpnum_launch_activation_rows(activation, view_to(got, plain),
                                              view_of(src, plain), &options, nullptr));
    check_same(got, want, "activation of vectors", plain, which);
    must(mpnum_activation_backward_rows(
        activation, to_rows(want, plain),
        has_factor ? to_rows(want_factor, plain) : mpnum_matrix_empty(),
        of_rows(dy, plain), of_rows(src, plain), &options));
    CHECK_LAUNCH(mpnum_launch_activation_backward_rows(
        activation, view_to(got, plain),
        has_factor ? view_to(got_factor, plain) : mpnum::matrix<Dst>(),
        view_of(dy, plain), view_of(src, plain), &options, nullptr));
    check_same(got, want, "gradient of vectors", plain, which);
    check_same(got_factor, want_factor, "gradient of factors of vectors", plain, which);
  }
  must(mpnum_activation_quantize_rows(activation, to_rows(want_codes, plain),
                                      of_rows(src, plain), &options, scale, &losses));
  CHECK_LAUNCH(mpnum_launch_activation_quantize_rows(activation, view_to(codes, plain),
                                                     view_of(src, plain), &options,
                                                     &factor_of, &amax, nullptr));
  check_same(codes, want_codes, "codes of vectors", plain, which);
  CHECK(code_of(amax) == code_of(losses.amax), "amax");
}
void floats_of_vectors_have_the_bits_of_the_host(void) {
  vector<float> src(plain.rows * plain.columns);
  for (std::size_t i = 0; i < src.size(); ++i) /* to 11.5, 92, and small ones */
    src[i] =
        (static_cast<float>(i * 40503 % 65536) - 32767.5f) / (i / 256 % 3 == 0   ? 2850.0f
                                                              : i / 256 % 3 == 1 ? 356.0f
                                                                                 : 1e9f);
  simt::use(simt::schedules[0]);
  for (unsigned which = 0; which < 5; ++which)
    check_plain<float>(src, which, 30);
}
#ifndef TEST_TYPES
/* Of all numbers of 16 bits, in their order. */
template <class T> void check_all_codes(void) {
  vector<T> src(plain.rows * plain.columns);
  for (std::size_t i = 0; i < src.size(); ++i)
    src[i] = mpnum::from_bits<T>(static_cast<std::uint16_t>(i));
  for (unsigned which = 0; which < 5; ++which)
    check_plain<T>(src, which, 3);
}
/* The derivative, between which a gradient of bf16 may be found: a device function, which
 * the simulator's host may call. */
void check_bounds(void) {
# if !TEST_ON_GPU
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const float x = mpnum_from_bits_f32(code << 16);
    const float y = mpnum_gelu_tanh_derivative_f32(x);
    const mpnum::usual_bounds_ bounds = mpnum::usual_gelu_tanh_bounds_(x);
    CHECK(!(x >= -9 && x <= 9) || (bounds.low <= y && y <= bounds.high), "bounds at %g",
          static_cast<double>(x));
  }
# endif
}
void all_codes_have_the_bits_of_the_host(void) {
  check_bounds();
  simt::use(simt::schedules[1]);
  check_all_codes<mpnum_bf16>();
  check_all_codes<mpnum_f16>();
}
void every_type_has_the_bits_of_the_host(void) {
  for (unsigned which = 0; which < OPTIONS; ++which) {
    const matrix shape = {11, 130 + which, 130 + 2 * which, 150};
    simt::use(simt::schedules[which % 6]);
    check_forward<mpnum_bf16, mpnum_f16>(shape, which);
    check_forward<mpnum_e5m2, mpnum_e4m3>(shape, which);
    check_backward<mpnum_bf16, mpnum_bf16, mpnum_bf16>(shape, which, which % 2);
    check_turns<mpnum_bf16, mpnum_e5m2, mpnum_bf16>(shape, which, 3);
    check_turns_back<mpnum_bf16, mpnum_e5m2, mpnum_bf16, mpnum_bf16>(shape, which, 3,
                                                                     which % 2);
    check_backward<mpnum_f16, float, mpnum_e5m2>(shape, which, which % 3 == 0);
    check_backward_codes<mpnum_e5m2, mpnum_bf16>(shape, which, 100);
    check_dropout<mpnum_bf16, mpnum_bf16>(shape, 0.9f, which);
    check_dropout<mpnum_e4m3, mpnum_f16>(shape, 0.25f, which);
  }
}
#endif

/* By approximate instructions, which on hosts are the light forms. */
template <class Dst, class Src> void check_fast(const matrix &shape, unsigned which) {
  const bool is_silu = which % 5 == 0;
  const mpnum_activation activation =
      is_silu ? MPNUM_ACTIVATION_SILU : MPNUM_ACTIVATION_GELU_TANH;
  const vector<Src> src = random_rows<Src>(shape, which + 1),
                    factor = random_rows<Src>(shape, which + 2);
  const vector<float> bias = biases(shape.columns);
  mpnum_activation_options options = choose(which, bias);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  vector<Dst> want = guarded_rows<Dst>(shape), got = want;
  vector<mpnum_e4m3> want_codes = guarded_rows<mpnum_e4m3>(shape), codes = want_codes;
  float &amax = placed(0.0f);
  const float &scale = placed(4.0f);
  if (which % 3) options.factor = of_rows(factor, shape);
  const mpnum_activation_options lighter = lighter_of(activation, options);
  must(mpnum_activation_rows(activation, to_rows(want, shape), of_rows(src, shape),
                             &lighter));
  CHECK_LAUNCH(mpnum_launch_activation_rows<true>(
      activation, view_to(got, shape), view_of(src, shape), &options, nullptr));
  check_same(got, want, "fast activation", shape, which);
  must(mpnum_activation_quantize_rows(activation, to_rows(want_codes, shape),
                                      of_rows(src, shape), &lighter, scale, &losses));
  CHECK_LAUNCH(mpnum_launch_activation_quantize_rows<true>(
      activation, view_to(codes, shape), view_of(src, shape), &options, &scale, &amax,
      nullptr));
  check_same(codes, want_codes, "fast codes", shape, which);
  CHECK(code_of(amax) == code_of(losses.amax), "amax %g, want %g",
        static_cast<double>(amax), static_cast<double>(losses.amax));
}
/* Gradients of the options that change nothing but alpha; codes, of floats times a power
 * of two. */
template <class Dst, class Src>
void check_fast_back(const matrix &shape, unsigned which) {
  const bool is_silu = which % 2 == 0;
  const mpnum_activation activation =
      is_silu ? MPNUM_ACTIVATION_SILU : MPNUM_ACTIVATION_GELU_TANH;
  const vector<Src> src = random_rows<Src>(shape, which + 1),
                    factor = random_rows<Src>(shape, which + 2),
                    dy = random_rows<Src>(shape, which + 3);
  mpnum_activation_options options = mpnum_activation_default();
  vector<Dst> want = guarded_rows<Dst>(shape), want_factor = want, got = want,
              got_factor = want;
  vector<mpnum_e4m3> want_codes = guarded_rows<mpnum_e4m3>(shape),
                     want_factor_codes = want_codes, codes = want_codes,
                     factor_codes = want_codes;
  float &amax = placed(0.0f), largest = 0;
  const float &scale = placed(4.0f);
  if (which % 4 == 2) options.alpha = ALPHA;
  const float alpha = which % 4 == 2 ? ALPHA : 1;
  options.factor = of_rows(factor, shape);
  for (std::size_t r = 0; r < shape.rows; ++r)
    for (std::size_t c = 0; c < shape.columns; ++c) {
      const std::size_t at = r * shape.from_stride + c, to = r * shape.to_stride + c;
      const float x = mpnum::row_any_nan_<Src>::in(src[at]) * alpha;
      const float given = mpnum::row_any_nan_<Src>::in(dy[at]);
      const float value =
          is_silu ? mpnum_silu_light_f32(x) : mpnum_gelu_tanh_light_f32(x);
      const float of_factor = mpnum_canonical_(given * (value * (1 / alpha)));
      const float of_x =
          mpnum_canonical_(given * mpnum::row_any_nan_<Src>::in(factor[at]) *
                           (is_silu ? fast_silu_slope(x) : fast_gelu_tanh_slope(x)));
      want[to] = mpnum::row_element_<Dst>::out(of_x);
      want_factor[to] = mpnum::row_element_<Dst>::out(of_factor);
      want_codes[to] = mpnum_f32_to_e4m3_sat(of_x * 4);
      want_factor_codes[to] = mpnum_f32_to_e4m3_sat(of_factor * 4);
      for (float y : {of_x, of_factor})
        if (std::isfinite(y)) largest = std::max(largest, std::fabs(y));
    }
  CHECK_LAUNCH(mpnum_launch_activation_backward_rows<true>(
      activation, view_to(got, shape), view_to(got_factor, shape), view_of(dy, shape),
      view_of(src, shape), &options, nullptr));
  check_same(got, want, "fast gradient", shape, which);
  check_same(got_factor, want_factor, "fast gradient of factor", shape, which);
  CHECK_LAUNCH(mpnum_launch_activation_backward_quantize_rows<true>(
      activation, view_to(codes, shape), view_to(factor_codes, shape), view_of(dy, shape),
      view_of(src, shape), &options, &scale, &amax, nullptr));
  check_same(codes, want_codes, "fast codes of gradient", shape, which);
  check_same(factor_codes, want_factor_codes, "fast codes of factor", shape, which);
  CHECK(code_of(amax) == code_of(largest), "amax %g, want %g", static_cast<double>(amax),
        static_cast<double>(largest));
}
template <class Dst, class Src> void check_fast_rows(void) {
  for (unsigned which = 0; which < OPTIONS; which += 2) {
    const matrix shape = {5, 70 + 7 * which, 72 + 7 * which, 75 + 8 * which};
    simt::use(simt::schedules[which % 6]);
    check_fast<Dst, Src>(shape, which);
    check_fast_back<Dst, Src>(shape, which / 2);
  }
  check_fast<Dst, Src>({3, 2048, 2048, 2048}, 10); /* by vectors */
  check_fast<Dst, Src>({3, 2048, 2048, 2048}, 12);
  check_fast_back<Dst, Src>({3, 2048, 2048, 2048}, 0);
  check_fast_back<Dst, Src>({3, 2048, 2048, 2048}, 1);
}
void fast_rows_have_the_light_bits(void) {
#if !TEST_ON_GPU /* which has bits of its own */
  check_fast_rows<float, float>();
# ifndef TEST_TYPES
  check_fast_rows<mpnum_bf16, mpnum_bf16>();
# endif
#endif
}
void what_has_no_fast_form_is_refused(void) {
  vector<float> x(32), y(32, 7.0f);
  const mpnum_activation_options options = mpnum_activation_default();
  for (mpnum_activation activation :
       {MPNUM_ACTIVATION_GELU, MPNUM_ACTIVATION_RELU, MPNUM_ACTIVATION_RELU_SQUARED}) {
    check_refused(mpnum_launch_activation_rows<true>(
                      activation, mpnum::matrix_of(y.data(), 4, 8),
                      mpnum::matrix_of(x.data(), 4, 8), &options, nullptr),
                  "an activation");
    check_refused(mpnum_launch_activation_backward_rows<true>(
                      activation, mpnum::matrix_of(y.data(), 4, 8),
                      mpnum::matrix<float>(), mpnum::matrix_of(x.data(), 4, 8),
                      mpnum::matrix_of(x.data(), 4, 8), &options, nullptr),
                  "a gradient");
  }
  CHECK(y == vector<float>(32, 7.0f), "written");
}

/* Of what the laws leave out: memory that overlaps, what is missing, other types. */
void what_does_not_fit_launches_nothing(void) {
  vector<float> floats(160);
  float *const data = &floats[0], *const other = &floats[32], *const third = &floats[64],
               *const fourth = &floats[96], &scale = placed(1.0f);
  float *const none = nullptr;
  mpnum_activation_options options = mpnum_activation_default();
  mpnum_activation activation = MPNUM_ACTIVATION_SILU;
  const auto view = [](float *at) { return mpnum::matrix_of(at, 4, 8); };
  const auto forward = [&](float *dst, float *src) {
    return mpnum_launch_activation_rows(activation, view(dst), view(src), &options,
                                        nullptr);
  };
  const auto backward = [&](float *to, float *to_factor, float *dy, float *src) {
    return mpnum_launch_activation_backward_rows(activation, view(to), view(to_factor),
                                                 view(dy), view(src), &options, nullptr);
  };
  const auto codes = [&](float *at, float *factor) {
    return mpnum_launch_activation_backward_quantize_rows(
        activation, mpnum::matrix_of(reinterpret_cast<mpnum_e4m3 *>(at), 4, 8),
        mpnum::matrix<mpnum_e4m3>(), view(data), view(other), &options, factor, none,
        nullptr);
  };
  const auto dropped = [&](float *dst, float keep) {
    return mpnum_launch_dropout_rows(view(dst), view(data), keep, 1, 2, nullptr);
  };
  simt::launch_error = sound; /* which a launch would return */
  CHECK(forward(data, data) == sound && backward(data, none, data, other) == sound &&
            codes(third, &scale) == sound && dropped(data, 1) == sound,
        "these are launched");
  check_refused(forward(data + 1, data), "dst in rows");
  check_refused(backward(none, none, data, other), "no result");
  check_refused(backward(third, none, none, other), "no dy");
  check_refused(backward(third, fourth, data, other), "no factor");
  check_refused(backward(third + 1, none, third, other), "gradients over dy");
  check_refused(codes(data, &scale), "codes in place");
  check_refused(codes(third, none), "no scale");
  check_refused(dropped(data + 1, 1), "dst in rows");
  check_refused(dropped(third, 1.5f), "keep above 1");
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, fourth, 4, 8);
  CHECK(backward(third, fourth, data, other) == sound, "in the place of the factor");
  check_refused(backward(third, third + 1, data, other), "gradients overlap");
  options.adds = 1;
  check_refused(backward(third, fourth, data, other), "a sum in place");
  check_refused(forward(third, data), "a sum of results");
  options.adds = 0;
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F16, fourth, 4, 8);
  check_refused(forward(third, data), "a factor of another type");
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, fourth, 4, 7);
  check_refused(forward(third, data), "a factor of other columns");
  options = mpnum_activation_default();
  options.limit = -1;
  check_refused(forward(third, data), "a negative limit");
  options.limit = 0;
  options.function = [](float *, const float *, std::size_t) {};
  check_refused(forward(third, data), "a function of the host");
  options.function = nullptr;
  activation = static_cast<mpnum_activation>(5);
  check_refused(forward(third, data), "an unknown activation");
  activation = MPNUM_ACTIVATION_SILU;
  options.is_interleaved = 1;
  const auto half = [](float *at) { return mpnum::matrix_of(at, 4, 4); };
  const auto turns = [&](mpnum::matrix<float> dst, mpnum::matrix<float> src) {
    return mpnum_launch_activation_rows(activation, dst, src, &options, nullptr);
  };
  const auto back = [&](float *to, float *to_factor, float *dy, float *src) {
    return mpnum_launch_activation_backward_rows(activation, view(to), view(to_factor),
                                                 half(dy), view(src), &options, nullptr);
  };
  CHECK(turns(half(third), view(data)) == sound &&
            back(third, none, data, other) == sound &&
            back(other, none, data, other) == sound,
        "turns are launched");
  check_refused(turns(view(third), view(data)), "as many columns as of turns");
  check_refused(turns(half(third), mpnum::matrix_of(data, 4, 9)), "half a turn");
  check_refused(turns(half(data), view(data)), "results where both are");
  check_refused(turns(mpnum::matrix_of(data, 2, 2, 9), mpnum::matrix_of(data, 2, 4, 9)),
                "results where both are, rows apart");
  check_refused(turns(half(data + 31), view(data)), "results on the end of both");
  check_refused(back(third, fourth, data, other), "the factor's gradient apart");
  check_refused(back(third, none, third + 31, other), "gradients on dy");
  check_refused(back(third + 1, none, data, third), "gradients in rows of both");
  options.bias = third + 31;
  check_refused(back(third, none, data, other), "gradients on the bias");
  options.bias = data;
  check_refused(turns(half(data + 7), view(other)), "results on the end of the bias");
  options.bias = nullptr;
  options.adds = 1;
  check_refused(back(other, none, data, other), "a sum where both are");
  options.adds = 0;
  options.is_interleaved = 2;
  check_refused(turns(half(third), view(data)), "two");
  options.is_interleaved = 1;
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, fourth, 4, 4);
  check_refused(turns(half(third), view(data)), "another factor");
  simt::launch_error = cudaSuccess;
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(rows_of_any_length_have_the_bits_of_the_host),
                       TEST(every_option_has_the_bits_of_the_host),
                       TEST(codes_have_the_bits_of_the_host),
                       TEST(turns_have_the_bits_of_the_host),
                       TEST(rows_of_blocks_have_the_bits_of_the_host),
                       TEST(floats_of_vectors_have_the_bits_of_the_host),
#ifndef TEST_TYPES
                       TEST(every_type_has_the_bits_of_the_host),
                       TEST(all_codes_have_the_bits_of_the_host),
#endif
                       TEST(fast_rows_have_the_light_bits),
                       TEST(what_has_no_fast_form_is_refused),
                       TEST(dropout_keeps_words_below_its_limit),
                       TEST(environments_change_nothing),
                       TEST(what_does_not_fit_launches_nothing),
                   });
}

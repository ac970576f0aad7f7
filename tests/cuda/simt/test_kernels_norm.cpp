/* SPDX-License-Identifier: MIT */
/* Layer norm and RMS norm of mpnum/rows/norm_rows.cuh, to floats and to codes:
 * every byte that the host's functions write, for rows of any length, weights, biases,
 * residuals, and rows of the largest and of subnormal numbers. TEST_TYPES makes a smaller
 * build. */
#define MPNUM_NO_SIMD 1 /* the bits are those of the vector loops */
#include "row_kernels.hpp"
#include "../../harness/must.h"

#include <mpnum/rows/norm_backward_rows.cuh>

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {

enum { OPTIONS = 8 };

vector<float> factors(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  vector<float> made(n + 1);
  for (float &x : made)
    x = std::ldexp(static_cast<float>(random() % 8192), -12) - 1;
  return made;
}
/* Rows whose mean is large beside their deviation, too, one of tiles whose sums cancel
 * but for the least, 2^120 below the first, and one of lanes, pairs of which cancel where
 * they are added by halves, and leave something of the others. */
template <class T> vector<T> rows_to_normalize(const matrix &shape, unsigned seed) {
  const float values[] = {0x1p60f, 1, 0x1p-60f, -0x1p60f, -1};
  vector<T> data = random_rows<T>(shape, seed);
  for (std::size_t i = 0; i < shape.columns && shape.rows > 4 && shape.columns > 8192;
       ++i)
    data[3 * shape.from_stride + i] =
        mpnum::row_element_<T>::out(i < 10240 ? values[i / 2048] : 0);
  for (std::size_t i = 0; i < shape.columns && shape.rows > 4; ++i)
    data[4 * shape.from_stride + i] =
        mpnum::row_element_<T>::out(20000 + static_cast<float>(i % 5) * 0.0625f);
  const std::size_t apart[] = {32, 16, 8, 4};
  for (std::size_t i = 0; i < shape.columns && shape.rows > 5; ++i) {
    const float x = i >= 64 ? 0.0f : i < 4 ? 0x1p60f : static_cast<float>(1 + i % 3);
    data[5 * shape.from_stride + i] = mpnum::row_element_<T>::out(x);
  }
  for (std::size_t k = 0; k < 4 && shape.rows > 5 && shape.columns >= 64; ++k)
    data[5 * shape.from_stride + k + apart[k]] = mpnum::row_element_<T>::out(-0x1p60f);
  return data;
}

struct call {
  mpnum_normalize_options options = mpnum_normalize_default();
  vector<float> mean, inverse;
};
/* The options of a call; sum has rows for where src + residual goes. */
template <class T>
void choose(call &made, unsigned which, const matrix &shape, const vector<float> &w,
            const vector<float> &b, const vector<T> &residual, vector<T> &sum) {
  mpnum_normalize_options &options = made.options;
  matrix to = shape;
  to.to_stride = shape.from_stride;
  made.mean.assign(shape.rows + 1, -7);
  made.inverse = made.mean;
  options.epsilon = which == 3 ? 0 : 1e-5f;
  if (which & 1) options.weight = w.data();
  if (which & 2) options.bias = b.data();
  if (which != 5) options.mean = made.mean.data();
  if (which != 6) options.inverse = made.inverse.data();
  if (which & 4) options.residual = of_rows(residual, shape);
  if (which == 5 || which == 7) options.sum = to_rows(sum, to);
}

template <class T> bool is_same(const vector<T> &a, const vector<T> &b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/* Both norms, by one call of the host and one launch, each with its own options. */
template <class Dst, class Src, class Host, class Launch>
void compare(const char *what, const matrix &shape, unsigned which, Host host,
             Launch launch) {
  const vector<Src> src = rows_to_normalize<Src>(shape, which + 1);
  vector<Src> residual = random_rows<Src>(shape, 9);
  vector<float> w = factors(shape.columns, 1), b = factors(shape.columns, 2);
  for (std::size_t i = 0; which == 3 && i < w.size(); i += 5)
    w[i] = 0x1.8p127f; /* some results are Inf */
  for (mpnum_norm_kind kind : {MPNUM_NORM_LAYER, MPNUM_NORM_RMS}) {
    vector<Dst> want = guarded_rows<Dst>(shape), got = want;
    vector<Src> want_sum = src, got_sum = src;
    call wanted, made;
    choose(wanted, which, shape, w, b, residual, want_sum);
    choose(made, which, shape, w, b, residual, got_sum);
    CHECK(host(kind, want, src, wanted.options) == MPNUM_OK, "host");
    CHECK(launch(kind, got, src, made.options) == cudaSuccess, "%s: %s",
          simt::active_schedule.name, simt::last_fault().text.c_str());
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (code_of(got[i]) == code_of(want[i])) continue;
      CHECK(false,
            "%s %d of %zu x %zu, options %u, %s: row %zu, element %zu: %x, want %x", what,
            static_cast<int>(kind), shape.rows, shape.columns, which,
            simt::active_schedule.name, i / shape.to_stride, i % shape.to_stride,
            code_of(got[i]), code_of(want[i]));
      break;
    }
    CHECK(is_same(made.mean, wanted.mean) && is_same(made.inverse, wanted.inverse),
          "%s %d of %zu x %zu, options %u: mean or inverse", what, static_cast<int>(kind),
          shape.rows, shape.columns, which);
    for (std::size_t i = 0; i < want_sum.size(); ++i)
      CHECK(code_of(got_sum[i]) == code_of(want_sum[i]), "%s: sum %zu", what, i);
  }
}
template <class Dst, class Src> void check_plain(const matrix &shape, unsigned which) {
  compare<Dst, Src>(
      "norm", shape, which,
      [&](mpnum_norm_kind kind, vector<Dst> &dst, const vector<Src> &src,
          const mpnum_normalize_options &options) {
        return mpnum_normalize_rows(kind, to_rows(dst, shape), of_rows(src, shape),
                                    &options);
      },
      [&](mpnum_norm_kind kind, vector<Dst> &dst, const vector<Src> &src,
          const mpnum_normalize_options &options) {
        return LAUNCHED(mpnum_launch_normalize_rows(
            kind, view_to(dst, shape), view_of(src, shape), &options, nullptr));
      });
}
template <class Q, class Src>
void check_codes(const matrix &shape, unsigned which, float scale) {
  float want_amax = 0;
  compare<Q, Src>(
      "codes", shape, which,
      [&](mpnum_norm_kind kind, vector<Q> &dst, const vector<Src> &src,
          const mpnum_normalize_options &options) {
        mpnum_quantize_losses losses = {0, 0, 0, 0};
        const mpnum_status status = mpnum_normalize_quantize_rows(
            kind, to_rows(dst, shape), of_rows(src, shape), &options, scale, &losses);
        want_amax = losses.amax;
        return status;
      },
      [&](mpnum_norm_kind kind, vector<Q> &dst, const vector<Src> &src,
          const mpnum_normalize_options &options) {
        float &amax = placed(0.0f);
        const float &factor = placed(scale);
        const cudaError_t error = LAUNCHED(mpnum_launch_normalize_quantize_rows(
            kind, view_to(dst, shape), view_of(src, shape), &options, &factor, &amax,
            nullptr));
        CHECK(mpnum_bits_f32(amax) == mpnum_bits_f32(want_amax), "amax %g, want %g",
              static_cast<double>(amax), static_cast<double>(want_amax));
        return error;
      });
}

/* Gradients of rows, weight and bias, with what was saved or without, in place of neither
 * or of one. Weights and biases of more than a chunk of rows are the host's but for how
 * doubles round. */
template <class Dx, class Dy, class Src>
void check_backward(const matrix &shape, unsigned which, bool has_columns) {
  const vector<Src> src = rows_to_normalize<Src>(shape, which + 1);
  const vector<Dy> dy = random_rows<Dy>(shape, 9);
  const vector<float> w = factors(shape.columns, 1);
  vector<std::uint64_t> workspace(
      mpnum_launch_normalize_backward_bytes(shape.rows, shape.columns) / 8 + 1);
  matrix to = shape;
  to.to_stride = shape.from_stride;
  for (mpnum_norm_kind kind : {MPNUM_NORM_LAYER, MPNUM_NORM_RMS}) {
    vector<Dx> want = random_rows<Dx>(shape, 9), got = want;
    vector<Src> y(src.size());
    vector<float> weight(shape.columns + 1, 2), bias(weight), got_weight(weight),
        got_bias(weight), mean(shape.rows + 1), inverse(shape.rows + 1);
    mpnum_normalize_options options = mpnum_normalize_default();
    mpnum_norm_gradients gradients = mpnum_norm_gradients_empty();
    const int adds = which % 2;
    if (which & 1) options.weight = w.data();
    options.mean = mean.data();
    options.inverse = inverse.data();
    must(mpnum_normalize_rows(kind, to_rows(y, to), of_rows(src, shape), &options));
    if (which & 2) options.inverse = nullptr;
    gradients.input = to_rows(want, to);
    gradients.weight = has_columns ? weight.data() : nullptr;
    gradients.bias = has_columns && which != 4 ? bias.data() : nullptr;
    gradients.adds = adds;
    CHECK(mpnum_normalize_backward_rows(kind, gradients, of_rows(dy, shape),
                                        of_rows(src, shape), &options) == MPNUM_OK,
          "host");
    CHECK_LAUNCH(mpnum_launch_normalize_backward_rows(
        kind,
        mpnum::norm_gradients_of(view_to(got, to),
                                 has_columns ? got_weight.data() : nullptr,
                                 gradients.bias ? got_bias.data() : nullptr, adds),
        view_of(dy, shape), view_of(src, shape), &options, nullptr,
        has_columns ? workspace.data() : nullptr));
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (code_of(got[i]) == code_of(want[i])) continue;
      CHECK(false, "gradient %d of %zu x %zu, options %u, %s: row %zu, element %zu",
            static_cast<int>(kind), shape.rows, shape.columns, which,
            simt::active_schedule.name, i / to.to_stride, i % to.to_stride);
      break;
    }
    const float unit = shape.rows > 64 ? 0x1p-23f : 0;
    for (std::size_t i = 0; i <= shape.columns; ++i)
      for (int k = 0; k < 2; ++k) {
        const float a = k ? got_bias[i] : got_weight[i], b = k ? bias[i] : weight[i];
        CHECK(code_of(a) == code_of(b) || std::fabs(a - b) <= unit * std::fabs(b),
              "%s %zu of %zu x %zu, options %u: %g, want %g", k ? "bias" : "weight", i,
              shape.rows, shape.columns, which, static_cast<double>(a),
              static_cast<double>(b));
      }
  }
}

void rows_of_any_length_have_the_bits_of_the_host(void) {
  in_every_schedule([] {
    unsigned k = 0;
    for (const std::size_t columns :
         {0u, 1u, 2u, 3u, 7u, 16u, 33u, 64u, 65u, 127u, 300u, 1025u, 2048u, 2049u, 4099u})
      check_plain<float, float>(
          {columns < 100 ? 11u : 6u, columns, columns + 1, columns + 2}, k++ % OPTIONS);
  });
}
void codes_have_the_bits_of_the_host(void) {
  for (unsigned which = 0; which < OPTIONS; ++which) {
    simt::use(simt::schedules[which % 6]);
    check_codes<mpnum_e4m3, mpnum_f16>({11, 6, 6, 7}, which, 37.5f);
    check_codes<mpnum_e4m3, mpnum_f16>({11, 70, 71, 70}, which, 0x1p120f);
    check_codes<mpnum_e4m3, mpnum_f16>({5, 2301, 2301, 2301}, which, 0.25f);
  }
}
void gradients_have_the_bits_of_the_host(void) {
  for (unsigned which = 0; which < OPTIONS; ++which) {
    simt::use(simt::schedules[which % 6]);
    for (bool has_columns : {false, true}) {
      check_backward<float, mpnum_f16, float>({13, 6, 7, 7}, which, has_columns);
      check_backward<float, mpnum_f16, float>({9, 200, 200, 200}, which, has_columns);
      check_backward<float, mpnum_f16, float>({5, 2301, 2301, 2301}, which, has_columns);
    }
  }
  check_backward<float, mpnum_f16, float>({200, 3, 3, 3}, 1, true);
}
void rows_of_one_value_have_the_bits_of_the_host(void) {
  for (unsigned k = 0; k < values_of_rows; ++k) {
    check_codes<mpnum_e4m3, mpnum_f16>({3, 70, 70, 70}, of_one_value + k, 3);
    check_backward<float, mpnum_f16, float>({3, 70, 70, 70}, of_one_value + k, true);
  }
}
/* Weights and biases of no rows, too, which the sum of none is written or added to. */
void rows_or_columns_may_be_none(void) {
  for (unsigned which : {0u, 1u})
    for (const matrix &shape :
         {matrix{0, 5, 5, 5}, matrix{3, 0, 0, 0}, matrix{0, 0, 0, 0}}) {
      check_codes<mpnum_e4m3, mpnum_f16>(shape, which, 3);
      check_backward<float, mpnum_f16, float>(shape, which, true);
      check_backward<float, mpnum_f16, float>(shape, which, false);
    }
}
void broken_scales_make_codes_nan(void) {
  const vector<float> src = {1, 2, 3, -4};
  for (std::uint32_t bits : {0u, 0x80000000u, 0xbf800000u, 0x7f800000u, 0x7fc00001u}) {
    vector<mpnum_e4m3> codes(4);
    const float &scale = placed(mpnum_from_bits_f32(bits));
    float &amax = placed(0.0f);
    CHECK_LAUNCH(mpnum_launch_normalize_quantize_rows(
        MPNUM_NORM_RMS, mpnum::matrix_of(codes.data(), 1, 4),
        mpnum::matrix_of(src.data(), 1, 4), nullptr, &scale, &amax, nullptr));
    for (mpnum_e4m3 code : codes)
      CHECK(code.bits == 0x7f, "code %02x of scale %08x", code.bits, bits);
    CHECK(amax > 1.4f && amax < 1.5f, "amax %a",
          static_cast<double>(amax)); /* 4 of 2.74 */
  }
}
void the_next_launch_works(void) {
  const matrix shape = {9, 20, 20, 20};
  const vector<float> src = random_rows<float>(shape, 9),
                      dy = random_rows<float>(shape, 2);
  vector<float> want(src.size()), got(src.size()), weight(20), bias(20), got_weight(20),
      got_bias(20);
  vector<std::uint64_t> workspace(mpnum_launch_normalize_backward_bytes(9, 20) / 8);
  mpnum_norm_gradients gradients = mpnum_norm_gradients_empty();
  gradients.input = to_rows(want, shape);
  gradients.weight = weight.data();
  gradients.bias = bias.data();
  must(mpnum_normalize_backward_rows(MPNUM_NORM_LAYER, gradients, of_rows(dy, shape),
                                     of_rows(src, shape), nullptr));
  for (int is_in_place = 0; is_in_place < 2; ++is_in_place) {
    got = src;
    let_launches_fail(
        "gradients", 3 + is_in_place,
        [&] {
          return mpnum_launch_normalize_backward_rows(
              MPNUM_NORM_LAYER,
              mpnum::norm_gradients_of(mpnum::matrix_of(got.data(), 9, 20),
                                       got_weight.data(), got_bias.data(), 0),
              mpnum::matrix_of(dy.data(), 9, 20),
              mpnum::matrix_of(is_in_place ? got.data() : src.data(), 9, 20), nullptr,
              nullptr, workspace.data());
        },
        [&] {
          CHECK(is_same(got, want), "gradients, in place: %d", is_in_place);
          CHECK(is_same(got_weight, weight) && is_same(got_bias, bias), "weight or bias");
          got = src;
        });
  }
}
/* A row is read again then, and its sum where there is one. */
void rows_without_room_have_the_bits_of_the_host(void) {
  const std::size_t before = simt::shared_optin;
  simt::shared_optin = 48 << 10;
  for (unsigned which : {3u, 5u, 7u}) {
    simt::use(simt::schedules[which % 6]);
    check_plain<mpnum_f16, mpnum_f16>({2, 12041, 12041, 12041}, which);
  }
  check_backward<float, mpnum_f16, mpnum_f16>({2, 12041, 12041, 12041}, 3, true);
  simt::shared_optin = before;
}
/* Of 16 bits, in registers: of one tile, several, whole ones and others. */
template <class T> void check_held(std::size_t columns, unsigned which) {
  simt::use(simt::schedules[(columns + which) % 6]);
  const matrix shape = {9, columns, columns, columns + 8};
  check_plain<T, T>(shape, which);
  check_codes<mpnum_e4m3, T>(shape, which, 0.25f);
  check_backward<T, T, T>(shape, which, which % 2 == 1);
}
void rows_in_registers_have_the_bits_of_the_host(void) {
  check_held<mpnum_bf16>(4096, 1);
  check_held<mpnum_bf16>(10240, 2);
  check_held<mpnum_f16>(1028, 3);
}
/* In shared memory, too. */
void sums_of_tiles_are_exact(void) {
  simt::use(simt::schedules[1]);
  check_plain<float, float>({5, 10241, 10241, 10241}, 0);
}
/* Blocks of a grid may have a second dimension. */
void rows_of_blocks_have_the_bits_of_the_host(void) {
#if !TEST_ON_GPU
  simt::most_across = 3;
  check_plain<mpnum_bf16, mpnum_bf16>({33, 1024, 1024, 1024}, 1);
  check_plain<float, float>({66, 70, 70, 70}, 1);
  simt::most_across = 0;
#endif
}
#ifndef TEST_TYPES
void rows_of_many_tiles_in_registers(void) {
  unsigned which = 0;
  for (std::size_t columns : {1024u, 2048u, 2052u, 6148u, 8192u, 10244u, 16384u}) {
    check_held<mpnum_bf16>(columns, which++ % 4);
    check_held<mpnum_f16>(columns, which++ % 4);
  }
  check_held<mpnum_bf16>(32768, 3);
  check_plain<float, mpnum_bf16>({7, 6144, 6144, 6144}, 2);
  check_codes<mpnum_e2m1, mpnum_bf16>({7, 2560, 2560, 2560}, 1, 3);
  check_codes<mpnum_e3m2, mpnum_f16>({7, 2560, 2560, 2560}, 3, 1);
  check_backward<float, mpnum_f16, mpnum_bf16>({7, 6144, 6144, 6144}, 0, true);
}
void long_gradients_have_the_bits_of_the_host(void) {
  if (is_fast())
    check_backward<mpnum_bf16, mpnum_bf16, mpnum_bf16>({5000, 1000, 1000, 1000}, 1, true);
  simt::use(simt::schedules[4]);
  for (std::size_t columns : {6016u, 6017u, 33000u})
    check_backward<mpnum_bf16, float, mpnum_bf16>({5, columns, columns, columns}, 3,
                                                  true);
  check_backward<float, float, float>({1000, 3, 3, 3}, 1, true);
  check_backward<float, float, mpnum_e4m3>({5000, 1, 1, 1}, 0, true);
}
template <class Dst, class Src> void check_types(void) {
  for (unsigned which = 0; which < OPTIONS; ++which) {
    simt::use(simt::schedules[which % 6]);
    check_plain<Dst, Src>({13, 1 + which, 15, 14}, which);
    check_plain<Dst, Src>({6, 131, 131, 140}, which);
    check_plain<Dst, Src>({6, 2500, 2500, 2500}, which);
  }
}
void every_type_has_the_bits_of_the_host(void) {
  check_types<mpnum_f16, float>();
  check_types<mpnum_bf16, mpnum_bf16>();
  check_types<float, mpnum_e5m2>();
  check_types<mpnum_e4m3, mpnum_f16>();
  check_codes<mpnum_e5m2, mpnum_bf16>({11, 40, 40, 41}, 3, 1000);
  check_codes<mpnum_e2m1, float>({11, 40, 40, 41}, 1, 1.5f);
}
void long_rows_are_kept_or_read_again(void) {
  if (is_fast()) check_plain<mpnum_bf16, mpnum_f16>({5000, 1000, 1000, 1000}, 7);
  for (std::size_t columns : {12032u, 12033u, 32769u, 70001u})
    for (unsigned which : {0u, 5u, 7u}) {
      simt::use(simt::schedules[columns % 6]);
      check_plain<float, float>({5, columns, columns, columns}, which);
    }
}
void a_row_of_a_million(void) {
  simt::use(simt::schedules[1]);
  check_plain<float, mpnum_bf16>({1, 1000000, 1000000, 1000000}, 1);
}
void a_million_rows_of_one(void) {
  simt::use(simt::schedules[2]);
  check_plain<float, float>({1000000, 1, 1, 1}, 1);
}
#endif

/* Of what the laws leave out: memory that overlaps, what is missing, other types. */
void what_does_not_fit_launches_nothing(void) {
  vector<float> floats(128);
  float *const data = &floats[0], *const other = &floats[64], &scale = placed(1.0f);
  float *const none = nullptr;
  mpnum_e4m3 *const over = reinterpret_cast<mpnum_e4m3 *>(data) + 127;
  mpnum_normalize_options options = mpnum_normalize_default();
  const auto norm = [&](float *dst, std::size_t to, const float *src, std::size_t from) {
    return mpnum_launch_normalize_rows(MPNUM_NORM_LAYER, mpnum::matrix_of(dst, 4, 8, to),
                                       mpnum::matrix_of(src, 4, 8, from), &options,
                                       nullptr);
  };
  const auto codes_of = [&](mpnum_e4m3 *codes, float *factor) {
    return mpnum_launch_normalize_quantize_rows(
        MPNUM_NORM_RMS, mpnum::matrix_of(codes, 4, 8), mpnum::matrix_of(data, 4, 8),
        &options, factor, none, nullptr);
  };
  const auto backward = [&](float *dx, std::size_t stride, float *weight) {
    return mpnum_launch_normalize_backward_rows(
        MPNUM_NORM_RMS,
        mpnum::norm_gradients_of(mpnum::matrix_of(dx, 4, 8, stride), weight, none, 0),
        mpnum::matrix_of(data, 4, 8), mpnum::matrix_of(other, 4, 8), nullptr, nullptr,
        nullptr);
  };
  vector<double> workspace(256);
  const auto columns =
      [&](float *weight,
          float *bias) { /* of 8 floats */
                         return mpnum_launch_normalize_backward_rows(
                             MPNUM_NORM_LAYER,
                             mpnum::norm_gradients_of(mpnum::matrix_of(data, 4, 8),
                                                      weight, bias, 0),
                             mpnum::matrix_of(data, 4, 8), mpnum::matrix_of(other, 4, 8),
                             nullptr, nullptr, workspace.data());
      };
  simt::launch_error = sound; /* which a launch would return */
  CHECK(columns(data + 32, data + 40) == sound, "gradients of columns are launched");
  check_refused(columns(data + 32, data + 32), "one place for both");
  check_refused(columns(data + 32, data + 39), "weight's gradient on bias's");
  check_refused(columns(data + 31, none), "weight's gradient on rows of dy");
  check_refused(columns(none, other + 31), "bias's gradient on rows of src");
  CHECK(norm(other, 8, data, 8) == sound && norm(other, 8, data, 0) == sound &&
            codes_of(over + 1, &scale) == sound && backward(data, 8, none) == sound,
        "these are launched");
  check_refused(norm(other, 7, data, 8), "a stride below the columns");
  check_refused(norm(data, 9, data, 8), "another stride in place");
  check_refused(norm(none, 8, data, 8), "no dst");
  check_refused(norm(other, 8, none, 8), "no src");
  check_refused(norm(data + 1, 8, data, 8), "dst in rows");
  check_refused(norm(data, 8, data + 31, 8), "rows in dst");
  check_refused(codes_of(over, &scale), "codes over rows");
  check_refused(codes_of(over + 1, none), "no scale");
  check_refused(backward(other, 8, data), "no workspace");
  check_refused(backward(data, 9, none), "another stride in place of dy");
  check_refused(backward(data, 7, none), "a stride below the columns");
  check_refused(backward(data + 1, 8, none), "gradients over dy");
  options.residual = mpnum_const_matrix_of(MPNUM_TYPE_F16, other, 4, 8);
  check_refused(norm(other, 8, data, 8), "a residual of another type");
  options.residual = mpnum_const_matrix_of(MPNUM_TYPE_F32, data, 4, 7);
  check_refused(norm(other, 8, data, 8), "a residual of other columns");
  options.residual = mpnum_const_matrix_of(MPNUM_TYPE_F32, other + 31, 4, 8);
  check_refused(norm(other, 8, data, 8), "dst over a residual");
  options.residual = mpnum_const_matrix_of(MPNUM_TYPE_F32, nullptr, 0, 0);
  for (float *at : {data + 1, other, other + 31}) {
    options.sum = mpnum_matrix_of(MPNUM_TYPE_F32, at, 4, 8);
    check_refused(norm(other, 8, data, 8), "a sum over rows");
  }
  options.sum = mpnum_matrix_of(MPNUM_TYPE_F32, data, 4, 8);
  options.sum.stride = 9;
  check_refused(norm(other, 8, data, 8), "a sum in place of another stride");
  simt::launch_error = cudaSuccess;
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(rows_of_any_length_have_the_bits_of_the_host),
                       TEST(codes_have_the_bits_of_the_host),
                       TEST(gradients_have_the_bits_of_the_host),
                       TEST(rows_of_one_value_have_the_bits_of_the_host),
                       TEST(rows_without_room_have_the_bits_of_the_host),
                       TEST(rows_in_registers_have_the_bits_of_the_host),
                       TEST(sums_of_tiles_are_exact),
                       TEST(rows_of_blocks_have_the_bits_of_the_host),
                       TEST(rows_or_columns_may_be_none),
                       TEST(broken_scales_make_codes_nan),
                       TEST(the_next_launch_works),
#ifndef TEST_TYPES
                       TEST(rows_of_many_tiles_in_registers),
                       TEST(every_type_has_the_bits_of_the_host),
                       TEST(long_gradients_have_the_bits_of_the_host),
                       TEST(long_rows_are_kept_or_read_again),
                       TEST(a_row_of_a_million),
                       TEST(a_million_rows_of_one),
#endif
                       TEST(what_does_not_fit_launches_nothing),
                   });
}

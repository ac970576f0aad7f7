/* SPDX-License-Identifier: MIT */
/* Each kernel that no other quick program runs, once, beside the host: norms and their
 * gradients, health, NVFP4, blocks of 128x128 and all of them back, and findings merged.
 * The programs of each have the rest. */
#include "quantize_checks.hpp"

#include <mpnum/training/health.cuh>

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {

constexpr std::size_t rows = 3, columns = 40, count = rows * columns;

template <class T> bool is_same(const vector<T> &a, const vector<T> &b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}
/* Numbers that doubles add up exactly. */
vector<float> numbers(unsigned seed) {
  vector<float> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<float>(mpnum_random(seed, i) % 2001) / 64 - 15;
  return made;
}
mpnum_const_matrix view(const vector<float> &x) {
  return mpnum_const_matrix_of(MPNUM_TYPE_F32, x.data(), rows, columns);
}

void norms_and_their_gradients(void) {
  const vector<float> x = numbers(1), dy = numbers(2);
  vector<float> y(count), got(count), weight(columns), bias(columns), got_weight(columns),
      got_bias(columns);
  vector<unsigned char> codes(count);
  vector<mpnum_e4m3> got_codes(count);
  vector<std::uint64_t> workspace(mpnum_launch_normalize_backward_bytes(rows, columns) /
                                  8);
  const float &scale = placed(8.0f);
  float &amax = placed(0.0f);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  mpnum_norm_gradients gradients = mpnum_norm_gradients_empty();
  mpnum_matrix to = mpnum_matrix_of(MPNUM_TYPE_F32, y.data(), rows, columns);
  CHECK(!mpnum_normalize_rows(MPNUM_NORM_LAYER, to, view(x), nullptr), "host");
  CHECK_LAUNCH(mpnum_launch_normalize_rows(
      MPNUM_NORM_LAYER, mpnum::matrix_of(got.data(), rows, columns),
      mpnum::matrix_of(x.data(), rows, columns), nullptr, nullptr));
  CHECK(is_same(got, y), "layer norm");
  CHECK(!mpnum_normalize_quantize_rows(
            MPNUM_NORM_RMS, mpnum_matrix_of(MPNUM_TYPE_E4M3, codes.data(), rows, columns),
            view(x), nullptr, scale, &losses),
        "host");
  CHECK_LAUNCH(mpnum_launch_normalize_quantize_rows(
      MPNUM_NORM_RMS, mpnum::matrix_of(got_codes.data(), rows, columns),
      mpnum::matrix_of(x.data(), rows, columns), nullptr, &scale, &amax, nullptr));
  CHECK(std::memcmp(codes.data(), got_codes.data(), count) == 0 && amax == losses.amax,
        "codes of RMS norm");
  gradients.input = to;
  gradients.weight = weight.data();
  gradients.bias = bias.data();
  CHECK(!mpnum_normalize_backward_rows(MPNUM_NORM_LAYER, gradients, view(dy), view(x),
                                       nullptr),
        "host");
  const mpnum::norm_gradients<float> grads = {mpnum::matrix_of(got.data(), rows, columns),
                                              got_weight.data(), got_bias.data(), 0};
  CHECK_LAUNCH(mpnum_launch_normalize_backward_rows(
      MPNUM_NORM_LAYER, grads, mpnum::matrix_of(dy.data(), rows, columns),
      mpnum::matrix_of(x.data(), rows, columns), nullptr, nullptr, workspace.data()));
  CHECK(is_same(got, y) && is_same(got_weight, weight) && is_same(got_bias, bias),
        "gradients");
}

void health(void) {
  const vector<float> x = numbers(3);
  const mpnum_format format = mpnum_format_of(MPNUM_TYPE_E2M1);
  mpnum_histogram expected = mpnum_histogram_empty();
  mpnum_histogram &histogram = placed(mpnum_histogram_empty());
  mpnum_lost &lost = placed(mpnum_lost{0, 0});
  for (float value : x)
    mpnum_histogram_add(&expected, value);
  mpnum_lost sum = {0, 0};
  CHECK(mpnum_count_lost(&sum, MPNUM_TYPE_F32, x.data(), count, format, 1) == MPNUM_OK,
        "host");
  CHECK_LAUNCH(mpnum_launch_histogram(&histogram, x.data(), count, nullptr));
  CHECK_LAUNCH(mpnum_launch_count_lost(&lost, x.data(), count, format, 1, nullptr));
  CHECK(std::memcmp(&histogram, &expected, sizeof expected) == 0, "histogram");
  CHECK(lost.overflows == sum.overflows && lost.underflows == sum.underflows, "losses");
}

/* Codes of a matrix, and back. launch(codes), unpack(dst, codes). */
template <class Launch, class Unpack>
void check_blocks(const char *what, const mpnum_blockscale_format &format, float scale,
                  const vector<float> &x, Launch launch, Unpack unpack) {
  const std::size_t bytes = mpnum_blockscale_scale_bytes(&format, rows, columns, 0);
  vector<unsigned char> codes(count), scales(bytes), want(count), want_scales(bytes);
  vector<float> back(count), want_back(count);
  const mpnum_blockscaled on_host = {want.data(), columns, want_scales.data(),
                                     bytes,       0,       scale};
  const mpnum_blockscaled on_device = {codes.data(), columns, scales.data(), bytes, 0, 1};
  CHECK(!mpnum_quantize_blocks(&format, on_host, view(x), nullptr, nullptr), "host");
  CHECK_LAUNCH(launch(on_device));
  CHECK(is_same(codes, want) && is_same(scales, want_scales), "%s", what);
  CHECK(!mpnum_dequantize_blocks(
            &format, mpnum_matrix_of(MPNUM_TYPE_F32, want_back.data(), rows, columns),
            on_host),
        "host");
  CHECK_LAUNCH(unpack(back.data(), on_device));
  CHECK(is_same(back, want_back), "%s, back", what);
}
void blocks(void) {
  const vector<float> x = numbers(4);
  float &scale = placed(0.0f);
  CHECK_LAUNCH(mpnum_launch_nvfp4_scale(&scale, mpnum::matrix_of(x.data(), rows, columns),
                                        nullptr));
  float amax = -1;
  must(mpnum_finite_amax_rows(&amax, view(x)));
  const float wanted = mpnum_nvfp4_scale(amax);
  CHECK(mpnum_bits_f32(scale) == mpnum_bits_f32(wanted), "S");
  check_blocks(
      "NVFP4", mpnum_blockscale_nvfp4_1x16(), wanted, x,
      [&](const mpnum_blockscaled &to) {
        return mpnum_launch_quantize_nvfp4(&to, nullptr,
                                           mpnum::matrix_of(x.data(), rows, columns),
                                           &scale, MPNUM_QUANTIZE_ROWS, nullptr);
      },
      [&](float *to, const mpnum_blockscaled &from) {
        return mpnum_launch_dequantize_nvfp4(mpnum::matrix_of(to, rows, columns), &from,
                                             &scale, MPNUM_QUANTIZE_ROWS, nullptr);
      });
  check_blocks(
      "128x128", mpnum_blockscale_fp8_128x128(), 1, x,
      [&](const mpnum_blockscaled &to) {
        return mpnum_launch_quantize_fp8<mpnum_e4m3, 128>(
            &to, nullptr, mpnum::matrix_of(x.data(), rows, columns),
            MPNUM_BLOCKSCALE_AMAX, 0, MPNUM_QUANTIZE_ROWS, nullptr);
      },
      [&](float *to, const mpnum_blockscaled &from) {
        return mpnum_launch_dequantize_fp8<mpnum_e4m3, 128>(
            mpnum::matrix_of(to, rows, columns), &from, MPNUM_QUANTIZE_ROWS, nullptr);
      });
}

void findings_of_ranks(void) {
  vector<mpnum_grad_findings> ranks(3);
  mpnum_grad_findings expected = mpnum_grad_findings_empty();
  mpnum_grad_findings &got = placed<mpnum_grad_findings>();
  for (unsigned rank = 0; rank < 3; ++rank) {
    const vector<float> x = numbers(rank);
    const mpnum_grad_tensor tensor =
        mpnum_grad_tensor_of(MPNUM_TYPE_F32, x.data(), count, MPNUM_TYPE_F32, nullptr);
    CHECK(!mpnum_grad_read(&tensor, 1, 1, &ranks[rank]), "host");
    expected = mpnum_grad_findings_merge(expected, ranks[rank]);
  }
  CHECK_LAUNCH(mpnum_launch_grad_merge(&got, ranks.data(), 3, nullptr));
  CHECK(std::memcmp(&got, &expected, sizeof got) == 0, "findings");
}

} // namespace

int main(int count_, char **arguments) {
  return run_tests(count_, arguments,
                   {TEST(norms_and_their_gradients), TEST(health), TEST(blocks),
                    TEST(findings_of_ranks)});
}

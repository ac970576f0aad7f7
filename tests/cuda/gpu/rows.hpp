/* SPDX-License-Identifier: MIT */
/* Kernels over rows of any length against the host's functions, byte for byte. */
#ifndef MPNUM_TESTS_GPU_ROWS_HPP
#define MPNUM_TESTS_GPU_ROWS_HPP

/* From -8 to 8; every 7th row has a value that is no number. */
template <class T>
static std::vector<T> some_rows(size_t rows, size_t columns, uint64_t seed) {
  std::vector<T> made(rows * columns);
  for (size_t i = 0; i < made.size(); ++i) {
    float x = static_cast<float>(mpnum_random(seed, i)) * 0x1p-28f - 8;
    if (i / columns % 7 == 3 && i % 5 == 0) x = mpnum_from_bits_f32(0xff800000);
    if (i / columns % 7 == 5 && i % 97 == 0) x = mpnum_from_bits_f32(0x7fc00000);
    made[i] = mpnum::row_element_<T>::out(x);
  }
  return made;
}
template <class T> struct device_rows : device_array<T> {
  explicit device_rows(const std::vector<T> &values)
      : device_array<T>(values.size(), 1, 32) {
    cudaMemcpy(this->at, values.data(), values.size() * sizeof(T),
               cudaMemcpyHostToDevice);
  }
};
template <class T>
static void check_rows(const char *name, cudaError_t status, const device_rows<T> &got,
                       const std::vector<T> &want, size_t columns) {
  std::vector<T> copy(want.size());
  if (!is_ok(status, name) ||
      !is_ok(cudaMemcpy(copy.data(), got.at, copy.size() * sizeof(T),
                        cudaMemcpyDeviceToHost),
             name))
    return;
  CHECK(got.is_intact(want.size()), "%s, %zu columns: wrote outside", name, columns);
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(std::memcmp(&copy[i], &want[i], sizeof(T)) == 0,
          "%s, %zu columns: element %zu of row %zu", name, columns, i % columns,
          i / columns);
}
template <class T>
static mpnum_const_rows rows_from(const std::vector<T> &data, size_t rows,
                                  size_t columns) {
  return mpnum_const_rows_of(mpnum::type_of<T>::value, data.data(), rows, columns);
}
template <class T>
static mpnum_rows rows_to(std::vector<T> &data, size_t rows, size_t columns) {
  return mpnum_rows_of(mpnum::type_of<T>::value, data.data(), rows, columns);
}

static void check_softmax_and_losses(size_t rows, size_t n) {
  const std::vector<float> x = some_rows<float>(rows, n, n);
  const std::vector<mpnum_f16> y = some_rows<mpnum_f16>(rows, n, n + 1);
  std::vector<int64_t> targets(rows);
  std::vector<float> want(rows * n), loss(rows);
  std::vector<mpnum_f16> gradient(rows * n);
  mpnum_softmax_options options = mpnum_softmax_default();
  mpnum_cross_entropy_options losses = mpnum_cross_entropy_default();
  for (size_t i = 0; i < rows; ++i)
    targets[i] = i % 4 == 3 ? -100 : static_cast<int64_t>((7 * i) % n);
  const device_rows<float> from(x);
  const device_rows<mpnum_f16> other(y);
  const device_rows<int64_t> classes(targets);
  device_rows<float> to(want), losses_to(loss);
  device_rows<mpnum_f16> gradient_to(gradient);
  options.scale = 1.1f;
  options.flags = MPNUM_SOFTMAX_MASKED;
  losses.label_smoothing = 0.1f;
  mpnum_softmax_rows(rows_to(want, rows, n), rows_from(x, rows, n), &options, NULL);
  check_rows("softmax",
             mpnum_launch_softmax_rows(to.at, n, from.at, n, rows, n, &options, NULL, 0),
             to, want, n);
  mpnum_log_softmax_rows(rows_to(want, rows, n), rows_from(y, rows, n), &options, NULL);
  check_rows(
      "log-softmax",
      mpnum_launch_log_softmax_rows(to.at, n, other.at, n, rows, n, &options, NULL, 0),
      to, want, n);
  mpnum_cross_entropy_rows(loss.data(), rows_to(gradient, rows, n), rows_from(x, rows, n),
                           targets.data(), &losses, NULL);
  check_rows("cross-entropy",
             mpnum_launch_cross_entropy_rows(losses_to.at, gradient_to.at, n, from.at, n,
                                             classes.at, rows, n, &losses, NULL, 0),
             gradient_to, gradient, n);
  check_rows("loss", cudaSuccess, losses_to, loss, n);
  options.flags = 0;
  mpnum_softmax_backward_rows(rows_to(want, rows, n), rows_from(x, rows, n),
                              rows_from(y, rows, n), &options);
  check_rows("softmax backward",
             mpnum_launch_softmax_backward_rows(to.at, n, from.at, n, other.at, n, rows,
                                                n, &options, 0),
             to, want, n);
}
static void check_norms(size_t rows, size_t n) {
  const std::vector<mpnum_bf16> x = some_rows<mpnum_bf16>(rows, n, n);
  const std::vector<float> weight = some_rows<float>(1, n, 3);
  std::vector<float> want(rows * n);
  std::vector<mpnum_e4m3> codes(rows * n);
  const std::vector<float> scale(1, 20.0f);
  mpnum_normalize_options options = mpnum_normalize_default(), there = options;
  mpnum_norm_gradients gradients = mpnum_norm_gradients_none();
  const device_rows<mpnum_bf16> from(x);
  const device_rows<float> weight_to(weight), scale_to(scale);
  device_rows<float> to(want);
  device_rows<mpnum_e4m3> codes_to(codes);
  options.weight = weight.data();
  there.weight = weight_to.at;
  mpnum_normalize_rows(MPNUM_NORM_LAYER, rows_to(want, rows, n), rows_from(x, rows, n),
                       &options);
  check_rows("layer norm",
             mpnum_launch_layer_norm_rows(to.at, n, from.at, n, rows, n, &there, 0), to,
             want, n);
  mpnum_normalize_quantize_rows(MPNUM_NORM_RMS, rows_to(codes, rows, n),
                                rows_from(x, rows, n), &options, scale[0], NULL);
  check_rows("RMS norm to codes",
             mpnum_launch_rms_norm_quantize_rows(codes_to.at, n,
                                                 static_cast<float *>(NULL), from.at, n,
                                                 rows, n, &there, scale_to.at, 0),
             codes_to, codes, n);
  gradients.input = rows_to(want, rows, n);
  mpnum_normalize_backward_rows(MPNUM_NORM_LAYER, gradients, rows_from(x, rows, n),
                                rows_from(x, rows, n), &options);
  check_rows("layer norm backward",
             mpnum_launch_layer_norm_backward_rows(
                 to.at, n, static_cast<float *>(NULL), static_cast<float *>(NULL),
                 from.at, n, from.at, n, rows, n, &there, 0, NULL, 0),
             to, want, n);
}
static void rows_are_those_of_the_host() {
  static const size_t columns[] = {1,    2,    5,    31,    64,    65,   1000,
                                   2048, 2049, 4097, 12288, 12289, 40001};
  for (size_t n : columns)
    for (size_t rows : {1u, 37u}) {
      check_softmax_and_losses(rows, n);
      check_norms(rows, n);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* The reductions against loops on the host. */
#ifndef MPNUM_TESTS_GPU_REDUCTIONS_HPP
#define MPNUM_TESTS_GPU_REDUCTIONS_HPP

static const size_t sizes[] = {0,    1,    2,    3,     7,     8,    15,
                               16,   17,   255,  256,   1023,  2047, 2048,
                               2049, 4097, 8191, 32769, 65535, 99991};

/* Random words with every kind of special value here and there. */
static std::vector<float> some_floats(size_t n, uint64_t seed, bool with_specials) {
  static const uint32_t specials[] = {0,          0x80000000, 1,          0x807fffff,
                                      0x7f7fffff, 0x7f800000, 0xff800000, 0xffc12345};
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) {
    uint32_t word = mpnum_random(seed, i);
    if ((word >> 23 & 0xff) == 0xff) word ^= 0x40000000; /* finite */
    if (with_specials && word % 97 == 0) word = specials[word / 97 % 8];
    values[i] = mpnum_from_bits_f32(word);
  }
  return values;
}

/* In device memory, offset elements past an aligned place. A destination has guard
 * elements after it; a source ends where its memory ends, so that tools see a read beyond
 * it. */
template <class T> struct device_array {
  unsigned char *memory;
  size_t bytes;
  T *at;
  device_array(size_t n, size_t offset, size_t guards)
      : memory(0), bytes((n + offset + guards) * sizeof(T)) {
    if (is_ok(cudaMalloc(&memory, bytes), "memory")) cudaMemset(memory, 0xa5, bytes);
    at = reinterpret_cast<T *>(memory) + offset;
  }
  ~device_array() { cudaFree(memory); }
  /* Everything but the n elements is as it was. */
  bool is_intact(size_t n) const {
    std::vector<unsigned char> copy(bytes);
    cudaMemcpy(copy.data(), memory, bytes, cudaMemcpyDeviceToHost);
    const size_t begin =
        static_cast<size_t>(reinterpret_cast<unsigned char *>(at) - memory);
    for (size_t i = 0; i < bytes; ++i)
      if ((i < begin || i >= begin + n * sizeof(T)) && copy[i] != 0xa5) return false;
    return true;
  }
};

template <class Result, class Launch>
static Result reduce(const std::vector<float> &values, size_t n, Launch launch) {
  device_array<float> src(n, n % 5, 0);
  device_array<Result> result(1, 0, 64);
  Result got = Result();
  cudaMemcpy(src.at, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  is_ok(launch(result.at, src.at, n), "reduction");
  is_ok(cudaMemcpy(&got, result.at, sizeof got, cudaMemcpyDeviceToHost), "reduction");
  CHECK(result.is_intact(1), "%zu elements: wrote outside", n);
  return got;
}

static void check_reductions(const std::vector<float> &values, size_t n) {
  const mpnum_format f32 = mpnum_format_of(MPNUM_TYPE_F32);
  mpnum_stats want = mpnum_stats_empty();
  for (size_t i = 0; i < n; ++i)
    want = mpnum_stats_add(want, f32, mpnum_bits_f32(values[i]));
  const uint32_t want_amax = want.nans   ? 0x7fffffff
                             : want.infs ? 0x7f800000
                                         : mpnum_bits_f32(want.amax);
  const int all_finite = reduce<int>(values, n, [](int *to, const float *from, size_t k) {
    return mpnum_launch_all_finite(to, from, k, 0);
  });
  const float amax = reduce<float>(values, n, [](float *to, const float *from, size_t k) {
    return mpnum_launch_amax(to, from, k, 0);
  });
  const mpnum_stats got =
      reduce<mpnum_stats>(values, n, [](mpnum_stats *to, const float *from, size_t k) {
        return mpnum_launch_stats(to, from, k, 0);
      });
  CHECK(all_finite == (want.infs + want.nans == 0), "%zu elements: all finite %d", n,
        all_finite);
  CHECK(mpnum_bits_f32(amax) == want_amax, "%zu elements: amax %08x, want %08x", n,
        mpnum_bits_f32(amax), want_amax);
  CHECK(std::memcmp(&got, &want, sizeof got) == 0, "%zu elements: statistics", n);
}

/* One byte an element, the only NaN after the first 2^31; skipped where memory is short.
 */
static void more_than_2_to_the_31_elements_are_counted() {
  const size_t n = (size_t{1} << 31) + 17;
  mpnum_e4m3 *src = nullptr;
  mpnum_stats got = mpnum_stats_empty();
  device_array<mpnum_stats> result(1, 0, 0);
  if (words < UINT64_C(1) << 32) {
    tap_skip_reason = "a short run";
    return;
  }
  if (cudaMalloc(&src, n) != cudaSuccess) {
    cudaGetLastError();
    tap_skip_reason = "less than 2 GiB of memory are free";
    return;
  }
  cudaMemset(src, 0x38, n); /* 1 */
  cudaMemset(src + n - 1, 0x7f, 1);
  cudaMemset(src + n - 3, 0x01, 1);
  is_ok(mpnum_launch_stats(result.at, src, n, 0), "statistics");
  is_ok(cudaMemcpy(&got, result.at, sizeof got, cudaMemcpyDeviceToHost), "statistics");
  CHECK(got.count == n && got.nans == 1 && got.subnormals == 1 && got.zeros == 0 &&
            got.infs == 0,
        "nans %d, subnormals %d, zeros %d", static_cast<int>(got.nans),
        static_cast<int>(got.subnormals), static_cast<int>(got.zeros));
  CHECK(mpnum_bits_f32(got.amax) == 0x3f800000, "amax %08x", mpnum_bits_f32(got.amax));
  CHECK(mpnum_bits_f32(got.min_nonzero) == 0x3b000000, "least %08x", /* 2^-9 */
        mpnum_bits_f32(got.min_nonzero));
  cudaFree(src);
}

static void reductions_are_those_of_a_loop() {
  const std::vector<float> finite = some_floats(99991, 2, false);
  const std::vector<float> special = some_floats(99991, 3, true);
  for (size_t n : sizes) {
    check_reductions(finite, n);
    check_reductions(special, n);
  }
  check_reductions(some_floats((size_t{1} << 22) + 5, 6, true), (size_t{1} << 22) + 5);
  for (size_t place = 0; place < 5000; place += 37) { /* one NaN, one Inf, anywhere */
    std::vector<float> values(finite.begin(), finite.begin() + 5000);
    values[place] = mpnum_from_bits_f32(place % 2 ? 0xffc00001 : 0xff800000);
    check_reductions(values, values.size());
  }
}

#endif

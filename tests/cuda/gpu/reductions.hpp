/* SPDX-License-Identifier: MIT */
/* Launchers on odd sizes and pointers, and the reductions, against loops on the host. */
#ifndef MPNUM_TESTS_GPU_REDUCTIONS_HPP
#define MPNUM_TESTS_GPU_REDUCTIONS_HPP

static const size_t sizes[] = {0,    1,    2,    3,     7,     8,    15,
                               16,   17,   255,  256,   1023,  2047, 2048,
                               2049, 4097, 8191, 32769, 65535, 99991};
static const size_t offsets[] = {0, 1, 3, 4};

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

template <class Dst, class Src, class Launch, class Want>
static void check_sizes(const char *name, const std::vector<Src> &values, Launch launch,
                        Want want) {
  for (size_t n : sizes)
    for (size_t src_offset : offsets)
      for (size_t dst_offset : offsets) {
        device_array<Src> src(n, src_offset, 0);
        device_array<Dst> dst(n, dst_offset, 64);
        std::vector<Dst> got(n);
        cudaMemcpy(src.at, values.data(), n * sizeof(Src), cudaMemcpyHostToDevice);
        if (!is_ok(launch(dst.at, src.at, n), name)) return;
        if (!is_ok(
                cudaMemcpy(got.data(), dst.at, n * sizeof(Dst), cudaMemcpyDeviceToHost),
                name))
          return;
        CHECK(dst.is_intact(n), "%s: %zu elements: wrote outside", name, n);
        for (size_t i = 0; i < n; ++i) {
          const Dst expected = want(values[i], i);
          CHECK(std::memcmp(&got[i], &expected, sizeof(Dst)) == 0,
                "%s: element %zu of %zu, offsets %zu %zu", name, i, n, src_offset,
                dst_offset);
        }
      }
}

static void launchers_take_any_size_and_pointer() {
  const std::vector<float> values = some_floats(99991, 1, true);
  std::vector<mpnum_e4m3> codes(values.size());
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = mpnum_from_bits_e4m3(static_cast<uint32_t>(i));
  check_sizes<mpnum_e4m3>(
      "f32 to e4m3", values,
      [](mpnum_e4m3 *dst, const float *src, size_t n) {
        return mpnum_launch_convert_sat(dst, src, n, 0);
      },
      [](float x, size_t) { return mpnum_f32_to_e4m3_sat(x); });
  check_sizes<mpnum_f16>(
      "f32 to f16", values,
      [](mpnum_f16 *dst, const float *src, size_t n) {
        return mpnum_launch_convert(dst, src, n, 0);
      },
      [](float x, size_t) { return mpnum_f32_to_f16(x); });
  check_sizes<mpnum_bf16>(
      "f32 to bf16, stochastic", values,
      [](mpnum_bf16 *dst, const float *src, size_t n) {
        return mpnum_launch_convert_round(dst, src, n, MPNUM_ROUND_STOCHASTIC,
                                          MPNUM_OVERFLOW_IEEE, 5, 7, 0);
      },
      [](float x, size_t i) { return mpnum_f32_to_bf16_sr(x, mpnum_random(5, 7 + i)); });
  check_sizes<float>(
      "e4m3 to f32", codes,
      [](float *dst, const mpnum_e4m3 *src, size_t n) {
        return mpnum_launch_convert(dst, src, n, 0);
      },
      [](mpnum_e4m3 x, size_t) { return mpnum_e4m3_to_f32(x); });
}

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

/* Both types of a packed pair, and a type in the place of another. */
static void packed_and_in_place_launches_are_right() {
  const size_t n = 100001;
  const std::vector<float> values = some_floats(n, 4, true);
  device_array<float> src(n, 1, 0), back(n, 3, 64);
  device_array<mpnum_e2m1x2> packed((n + 1) / 2, 1, 64);
  device_array<mpnum_e2m3x4> dense((n + 3) / 4, 0, 64);
  std::vector<float> got(n);
  cudaMemcpy(src.at, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  is_ok(mpnum_launch_convert_sat(packed.at, src.at, n, 0), "to e2m1x2");
  is_ok(mpnum_launch_convert(back.at, packed.at, n, 0), "from e2m1x2");
  is_ok(cudaMemcpy(got.data(), back.at, n * sizeof(float), cudaMemcpyDeviceToHost),
        "e2m1x2");
  for (size_t i = 0; i < n; ++i)
    CHECK(mpnum_bits_f32(got[i]) ==
              mpnum_bits_f32(mpnum_e2m1_to_f32(mpnum_f32_to_e2m1_sat(values[i]))),
          "e2m1 %zu", i);
  is_ok(mpnum_launch_convert_sat(dense.at, src.at, n, 0), "to e2m3x4");
  is_ok(mpnum_launch_convert(back.at, dense.at, n, 0), "from e2m3x4");
  is_ok(cudaMemcpy(got.data(), back.at, n * sizeof(float), cudaMemcpyDeviceToHost),
        "e2m3x4");
  for (size_t i = 0; i < n; ++i)
    CHECK(mpnum_bits_f32(got[i]) ==
              mpnum_bits_f32(mpnum_e2m3_to_f32(mpnum_f32_to_e2m3_sat(values[i]))),
          "e2m3 %zu", i);
  CHECK(packed.is_intact((n + 1) / 2) && dense.is_intact((n + 3) / 4) &&
            back.is_intact(n),
        "wrote outside");
  is_ok(mpnum_launch_convert(reinterpret_cast<mpnum_tf32 *>(src.at), src.at, n, 0),
        "in place");
  is_ok(cudaMemcpy(got.data(), src.at, n * sizeof(float), cudaMemcpyDeviceToHost),
        "in place");
  for (size_t i = 0; i < n; ++i)
    CHECK(mpnum_bits_f32(got[i]) == mpnum_f32_to_tf32(values[i]).bits, "tf32 %zu", i);
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

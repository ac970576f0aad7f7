/* SPDX-License-Identifier: MIT */
/* Arrays in device memory, and one of more than 2^31 elements. */
#ifndef MPNUM_TESTS_GPU_REDUCTIONS_HPP
#define MPNUM_TESTS_GPU_REDUCTIONS_HPP

/* In device memory, which ends where the array does, so that tools see a read beyond it.
 */
template <class T> struct device_array {
  T *at;
  device_array(size_t n) : at(0) {
    if (is_ok(cudaMalloc(&at, n * sizeof(T)), "memory"))
      cudaMemset(at, 0xa5, n * sizeof(T));
  }
  ~device_array() { cudaFree(at); }
};

/* One byte an element, the only NaN after the first 2^31; skipped where memory is short.
 */
static void more_than_2_to_the_31_elements_are_counted() {
  const size_t n = (size_t{1} << 31) + 17;
  mpnum_e4m3 *src = nullptr;
  mpnum_stats got = mpnum_stats_empty();
  device_array<mpnum_stats> result(1);
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

#endif

/* SPDX-License-Identifier: MIT */
/* Parts of an array, each with a scale (mpnum/array/quantize_groups.cuh), beside
 * mpnum_quantize_array of each part on the host. */
#include "quantize_checks.hpp"

#include <mpnum/array/quantize_groups.cuh>

#include <algorithm>
#include <random>

namespace {

const float scales_of_parts[] = {1.0f, 448.0f, 0x1p-130f, 3.0e38f, 0.1f, 7.5f};
const float no_scales[] = {0.0f, -1.0f};

template <class T, class S> struct grouped {
  grouped(std::size_t n_, std::size_t groups, unsigned seed)
      : n(n_), random(seed), src_at(random() % 9), dst_at(random() % 9),
        src(1, n_, 0, seed, src_at), codes(dst_at + n_ + guard_size, guard), want(codes),
        offsets(groups + 1), scales(groups), amax(groups), want_amax(groups) {
    for (std::uint64_t &offset : offsets)
      offset = random() % (n + 1);
    std::sort(offsets.begin(), offsets.end());
    if (random() % 2) offsets[0] = 0;
    if (random() % 2) offsets[groups] = n;
    for (std::size_t i = 0; i < groups; ++i) {
      scales[i] = random() % 9 ? scales_of_parts[random() % 6] : no_scales[random() % 2];
      amax[i] = random() % 2 ? 0.0f : 0x1p100f;
    }
  }
  T *dst() { return reinterpret_cast<T *>(codes.data() + dst_at); }
  /* A scale that the host refuses makes codes NaN; the amax is there all the same. */
  void expect() {
    want_amax = amax;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const std::size_t begin = offsets[i], count = offsets[i + 1] - begin;
      unsigned char *const to = want.data() + dst_at + begin;
      const S *const from = src.begin() + begin;
      mpnum_quantize_losses losses = {0, 0, 0, 0};
      if (mpnum_quantize_array(mpnum::type_of<T>::value, to, mpnum::type_of<S>::value,
                               from, count, scales[i], &losses) != MPNUM_OK)
        std::fill_n(to, count,
                    mpnum::from_float_sat<T>(mpnum_from_bits_f32(0x7fc00000u)).bits);
      for (std::size_t k = 0; k < count; ++k)
        want_amax[i] = mpnum_amax_merge(want_amax[i], mpnum::element_of_(from[k]));
    }
  }
  void compare(const char *what, mpnum_status status, mpnum_status want_status) const {
    const auto differs = std::mismatch(want.begin(), want.end(), codes.begin());
    CHECK(differs.first == want.end(),
          "%s: %zu in %zu parts: byte %td is %02x, want %02x", what, n, scales.size(),
          differs.first - want.begin(), *differs.second, *differs.first);
    CHECK(amax.empty() ||
              std::memcmp(amax.data(), want_amax.data(), 4 * amax.size()) == 0,
          "%s: amaxes of %zu parts", what, amax.size());
    CHECK(status == want_status, "%s: %s", what, mpnum_status_string(status));
  }

  std::size_t n;
  std::mt19937_64 random;
  std::size_t src_at, dst_at;
  matrix<S> src;
  vector<unsigned char> codes, want;
  vector<std::uint64_t> offsets;
  vector<float> scales, amax, want_amax;
};

template <class T, class S> void check(grouped<T, S> a, mpnum_status want) {
  mpnum_status &status = placed(MPNUM_ERROR_NULL);
  CHECK_LAUNCH(mpnum_launch_quantize_groups(a.dst(), a.src.begin(), a.n, a.offsets.data(),
                                            a.scales.size(), a.scales.data(),
                                            a.amax.data(), &status, nullptr));
  a.compare("parts", status, want);
  if (want != MPNUM_OK) return;
  std::fill(a.codes.begin(), a.codes.end(), guard);
  CHECK_LAUNCH(mpnum_launch_quantize_groups(
      a.dst(), a.src.begin(), a.n, a.offsets.data(), a.scales.size(), a.scales.data(),
      static_cast<float *>(nullptr), static_cast<mpnum_status *>(nullptr), nullptr));
  a.compare("without amax", status, want);
}
template <class T, class S> void check_many(unsigned turns) {
  const std::size_t tile = 4096 * 4 / sizeof(S);
  const std::size_t sizes[] = {0,    1,        15,           300,     tile - 1,
                               tile, tile + 1, 2 * tile + 7, 5 * tile};
  for (unsigned turn = 0; turn < turns; ++turn) {
    const std::size_t groups = turn % 7 == 6 ? 1100 : turn % 5;
    grouped<T, S> a(sizes[turn * 5 % 9], groups, turn);
    simt::use(simt::schedules[turn % 6]);
    a.expect();
    check(a, MPNUM_OK);
  }
}

void parts_have_the_bytes_of_arrays(void) {
  check_many<mpnum_e4m3, mpnum_bf16>(30);
  check_many<mpnum_e5m2, float>(20);
  check_many<mpnum_e4m3, mpnum_f16>(10);
}
void wrong_offsets_write_nothing(void) {
  for (unsigned turn = 0; turn < 12; ++turn) {
    grouped<mpnum_e4m3, mpnum_bf16> a(9000, turn % 2 ? 5 : 1100, turn);
    const std::size_t groups = a.scales.size();
    simt::use(simt::schedules[turn % 6]);
    if (turn < 4)
      a.offsets[groups] = a.n + 1;
    else if (turn < 8)
      a.offsets[groups / 2] = ~std::uint64_t{0};
    else
      a.offsets[0] = a.offsets[1] + 1;
    a.want_amax = a.amax;
    check(a, MPNUM_ERROR_RANGE);
  }
}
void what_does_not_fit_launches_nothing(void) {
  grouped<mpnum_e4m3, float> a(100, 3, 1);
  mpnum_e4m3 *const dst = a.dst();
  const float *const src = a.src.begin();
  const std::uint64_t *const offsets = a.offsets.data();
  const float *const scales = a.scales.data();
  float *const amax = a.amax.data();
  mpnum_status *const status = nullptr;
  const std::uint64_t *const no_offsets = nullptr;
  const float *const nothing = nullptr;
  check_refused(mpnum_launch_quantize_groups(dst, src, 100, no_offsets, 3, scales, amax,
                                             status, nullptr),
                "offsets");
  check_refused(mpnum_launch_quantize_groups(dst, src, 100, offsets, 3, nothing, amax,
                                             status, nullptr),
                "scales");
  check_refused(mpnum_launch_quantize_groups(dst, nothing, 100, offsets, 3, scales, amax,
                                             status, nullptr),
                "src");
  check_refused(mpnum_launch_quantize_groups(static_cast<mpnum_e4m3 *>(nullptr), src, 100,
                                             offsets, 3, scales, amax, status, nullptr),
                "dst");
  check_refused(mpnum_launch_quantize_groups(
                    reinterpret_cast<mpnum_e4m3 *>(const_cast<float *>(src)), src, 100,
                    offsets, 3, scales, amax, status, nullptr),
                "overlap");
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {TEST(parts_have_the_bytes_of_arrays),
                    TEST(wrong_offsets_write_nothing),
                    TEST(what_does_not_fit_launches_nothing)});
}

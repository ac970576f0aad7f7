/* SPDX-License-Identifier: MIT */
/* Parts of an array and lists of tensors, each with a scale
 * (mpnum/array/quantize_groups.cuh), beside mpnum_quantize_array of each on the host. */
#include "quantize_checks.hpp"

#include <mpnum/array/quantize_groups.cuh>

#include <algorithm>
#include <random>

namespace {

const float scales_of_parts[] = {1.0f, 448.0f, 0x1p-130f, 3.0e38f, 0.1f, 7.5f};
const float no_scales[] = {0.0f, -1.0f};

float any_scale(std::mt19937_64 &random) {
  return random() % 9 ? scales_of_parts[random() % 6] : no_scales[random() % 2];
}
/* Codes of elements and their amax on the host. A scale that is refused there makes codes
 * NaN; the amax is there all the same. */
template <class T, class S>
void expect_codes(unsigned char *to, float *amax, const S *from, std::size_t count,
                  float scale) {
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  if (mpnum_quantize_array(mpnum::type_of<T>::value, to, mpnum::type_of<S>::value, from,
                           count, scale, &losses) != MPNUM_OK)
    std::fill_n(to, count,
                mpnum::from_float_sat<T>(mpnum_from_bits_f32(0x7fc00000u)).bits);
  for (std::size_t k = 0; k < count; ++k)
    *amax = mpnum_amax_merge(*amax, mpnum::element_of_(from[k]));
}

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
      scales[i] = any_scale(random);
      amax[i] = random() % 2 ? 0.0f : 0x1p100f;
    }
  }
  T *dst() { return reinterpret_cast<T *>(codes.data() + dst_at); }
  void expect() {
    want_amax = amax;
    for (std::size_t i = 0; i < scales.size(); ++i)
      expect_codes<T>(want.data() + dst_at + offsets[i], &want_amax[i],
                      src.begin() + offsets[i], offsets[i + 1] - offsets[i], scales[i]);
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
                               tile, tile + 1, 2 * tile + 7, 9 * tile}; /* of 8 blocks */
  for (unsigned turn = 0; turn < turns; ++turn) {
    const std::size_t groups = turn % 7 == 6 ? 1100 : turn % 5;
    grouped<T, S> a(sizes[turn * 5 % 9], groups, turn);
    simt::use(simt::schedules[turn % 6]);
    a.expect();
    check(a, MPNUM_OK);
  }
}

/* Tensors apart, of which a block of threads has several, or several blocks have one. */
template <class T, class S> void check_list(unsigned seed) {
  const std::size_t tile = 4096 * 4 / sizeof(S);
  const std::size_t sizes[] = {0,    1,        15,           300,          tile - 1,
                               tile, tile + 1, 2 * tile + 7, 40 * tile + 3};
  const std::size_t counts[] = {0, 1, 3, 8, 70};
  std::mt19937_64 random(seed);
  const std::size_t count = counts[seed % 5], largest = count > 8 ? 6 : 9;
  vector<mpnum::quantize_tensor<T, S>> tensors(count);
  vector<std::uint64_t> tiles_before(count + 1);
  vector<float> scales(count + 1), amax(count + 1), want_amax;
  std::vector<matrix<S>> srcs;
  std::vector<vector<unsigned char>> codes, want;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t n = sizes[random() % largest], at = random() % 9;
    const std::size_t src_at = random() % 3 ? at * (random() % 2) : random() % 9;
    srcs.emplace_back(1, n, 0, static_cast<unsigned>(random()), src_at);
    codes.emplace_back(at + n + guard_size, guard);
    scales[i] = any_scale(random);
    amax[i] = random() % 2 ? 0.0f : 0x1p100f;
    tensors[i] = {reinterpret_cast<T *>(codes[i].data() + at), srcs[i].begin(), n,
                  &scales[i], random() % 4 ? &amax[i] : nullptr};
  }
  want = codes;
  want_amax = amax;
  for (std::size_t i = 0; i < count; ++i) {
    const mpnum::quantize_tensor<T, S> &t = tensors[i];
    float found = amax[i];
    expect_codes<T>(want[i].data() +
                        (reinterpret_cast<unsigned char *>(t.dst) - codes[i].data()),
                    &found, t.src, t.n, scales[i]);
    if (t.amax) want_amax[i] = found;
  }
  mpnum::quantize_list<T, S> list = {nullptr, nullptr, 99, 99};
  must(mpnum_quantize_plan(&list, tiles_before.data(), tensors.data(), count));
  list.tensors = tensors.data();
  list.tiles_before = tiles_before.data();
  CHECK_LAUNCH(mpnum_launch_quantize_list(list, nullptr));
  for (std::size_t i = 0; i < count; ++i)
    CHECK(codes[i] == want[i], "tensor %zu of %zu, %zu elements, seed %u", i, count,
          static_cast<std::size_t>(tensors[i].n), seed);
  CHECK(std::memcmp(amax.data(), want_amax.data(), 4 * amax.size()) == 0,
        "amaxes of %zu tensors, seed %u", count, seed);
}
void tensors_have_the_bytes_of_arrays(void) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    simt::use(simt::schedules[seed % 6]);
    if (seed % 3 == 0)
      check_list<mpnum_e5m2, float>(seed);
    else
      check_list<mpnum_e4m3, mpnum_bf16>(seed);
  }
}
void a_plan_refuses(void) {
  typedef mpnum::quantize_tensor<mpnum_e4m3, float> tensor;
  mpnum::quantize_list<mpnum_e4m3, float> list = {nullptr, nullptr, 77, 77};
  std::uint64_t before[3] = {5, 6, 7};
  mpnum_e4m3 codes[8];
  const float x[8] = {0}, one = 1;
  const tensor good = {codes, x, 8, &one, nullptr};
  const auto refuses = [&](const tensor &other, mpnum_status want, const char *what) {
    const tensor both[2] = {good, other};
    const mpnum_status status = mpnum_quantize_plan(&list, before, both, 2);
    CHECK(status == want, "%s: %s", what, mpnum_status_string(status));
    CHECK(list.count == 77 && list.tiles == 77 && before[0] == 5 && before[2] == 7,
          "%s: written", what);
  };
  refuses({nullptr, x, 8, &one, nullptr}, MPNUM_ERROR_NULL, "dst");
  refuses({codes, nullptr, 8, &one, nullptr}, MPNUM_ERROR_NULL, "src");
  refuses({codes, x, 8, nullptr, nullptr}, MPNUM_ERROR_NULL, "scale");
  refuses(
      {reinterpret_cast<mpnum_e4m3 *>(const_cast<float *>(x)) + 31, x, 8, &one, nullptr},
      MPNUM_ERROR_ARGUMENT, "overlap");
  refuses({codes, reinterpret_cast<const float *>(reinterpret_cast<const char *>(x) + 2),
           7, &one, nullptr},
          MPNUM_ERROR_ARGUMENT, "alignment");
  refuses({codes, x, (std::uint64_t{1} << 52) - 8, &one, nullptr}, MPNUM_ERROR_ARGUMENT,
          "too many");
  const tensor none = {nullptr, nullptr, 0, nullptr, nullptr};
  CHECK(mpnum_quantize_plan(&list, static_cast<std::uint64_t *>(nullptr), &none, 1) ==
            MPNUM_ERROR_NULL,
        "no words");
  CHECK(mpnum_quantize_plan(&list, before, static_cast<const tensor *>(nullptr), 1) ==
            MPNUM_ERROR_NULL,
        "no tensors");
  must(mpnum_quantize_plan(&list, before, &none, 1));
  CHECK(list.count == 1 && list.tiles == 0 && before[1] == 0, "an empty tensor");
  list.tiles = 1;
  check_refused(mpnum_launch_quantize_list(list, nullptr), "a list without pointers");
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
                    TEST(tensors_have_the_bytes_of_arrays), TEST(a_plan_refuses),
                    TEST(wrong_offsets_write_nothing),
                    TEST(what_does_not_fit_launches_nothing)});
}

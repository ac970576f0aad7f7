/* SPDX-License-Identifier: MIT */
/* FP8 with a scale for each tensor (mpnum/array/quantize.cuh) and the quantisers of a
 * warp and of a tile (mpnum/cuda/block.cuh), beside scale.h, amax_history.h and
 * blockscale.h of the host, byte for byte. TEST_TYPES, whatever it lists, makes a program
 * of some of it. */
#include "quantize_checks.hpp"

#include <type_traits>

namespace {

/* Elements at some places of an array, the codes at others, guards around these. */
template <class T, class S> struct arrays {
  arrays(std::size_t n_, std::size_t dst_at, std::size_t src_at, unsigned seed)
      : n(n_), src(1, n_, 0, seed, src_at), at(dst_at),
        codes(dst_at + n_ + guard_size, guard), want(codes) {}
  T *dst() { return reinterpret_cast<T *>(codes.data() + at); }
  void expect(float scale) {
    mpnum_quantize_losses losses = {0, 0, 0, 0};
    CHECK(mpnum_quantize_array(mpnum::type_of<T>::value, want.data() + at,
                               mpnum::type_of<S>::value, src.begin(), n, scale,
                               &losses) == MPNUM_OK,
          "host");
    amax = 0;
    for (std::size_t i = 0; i < n; ++i)
      amax = mpnum_amax_merge(amax, mpnum::element_of_(src.begin()[i]));
  }
  void compare(const char *what) const {
    const auto differs = std::mismatch(want.begin(), want.end(), codes.begin());
    CHECK(differs.first == want.end(),
          "%s, %zu of %zu bytes at %zu: byte %td is %02x, want %02x", what, n, sizeof(S),
          at, differs.first - want.begin(), *differs.second, *differs.first);
  }

  std::size_t n;
  matrix<S> src;
  std::size_t at;
  vector<unsigned char> codes, want;
  float amax = 0;
};

const float some_scales[] = {1.0f, 448.0f, 0x1p-130f, 3.0e38f, 0.1f};

template <class T, class S> void check_scaled(arrays<T, S> a, float factor) {
  const std::size_t n = a.n;
  const float before = n % 3 ? 0.0f : 0x1p100f;
  float &amax = placed(before);
  const float &scale = placed(factor);
  a.expect(scale);
  CHECK_LAUNCH(
      mpnum_launch_quantize_array(a.dst(), a.src.begin(), n, &scale, &amax, nullptr));
  a.compare("scaled");
  CHECK(mpnum_bits_f32(amax) == mpnum_bits_f32(mpnum_amax_merge(before, a.amax)),
        "amax %08x of %zu", mpnum_bits_f32(amax), n);
  CHECK_LAUNCH(mpnum_launch_quantize_array(a.dst(), a.src.begin(), n, &scale,
                                           static_cast<float *>(nullptr), nullptr));
  a.compare("without amax");
}
template <class T, class S>
void check_scaled(std::size_t n, std::size_t dst_at, std::size_t src_at, float factor) {
  check_scaled(arrays<T, S>(n, dst_at, src_at, static_cast<unsigned>(n + src_at)),
               factor);
}
/* Around vectors and tiles of 1024 of them. */
template <class T, class S> void scaled_of(void) {
  const std::size_t lanes = 16 / sizeof(S), tile = 1024 * lanes;
  unsigned turn = 0;
  for (std::size_t n : {std::size_t{1}, lanes - 1, lanes, lanes + 1, 256 * lanes - 1,
                        tile - 1, tile, tile + 1, 2 * tile + 3}) {
    simt::use(simt::schedules[turn % 6]);
    check_scaled<T, S>(n, 0, 0, some_scales[turn % 5]);
    ++turn;
  }
  for (std::size_t dst_at = 0; dst_at < 8; ++dst_at)
    for (std::size_t src_at = 0; src_at < lanes; ++src_at)
      check_scaled<T, S>(5 * lanes + 3, dst_at, src_at, 7.5f);
  /* Tiles after a head, with words of src across vectors; up to the last element, too. */
  for (std::size_t dst_at = 1; dst_at < lanes; dst_at += 2) {
    check_scaled<T, S>(2 * tile + 9, dst_at, dst_at, 2.0f);
    check_scaled<T, S>(tile + lanes - dst_at, dst_at, dst_at + 1, 2.0f);
  }
  if (is_fast()) check_scaled<T, S>(9000003, 1, 0, 0.5f);
}
void scaled_arrays_have_the_hosts_bytes(void) {
  scaled_of<mpnum_e4m3, float>();
#ifndef TEST_TYPES
  scaled_of<mpnum_e5m2, mpnum_bf16>();
  scaled_of<mpnum_e4m3, mpnum_f16>();
  scaled_of<mpnum_e5m2fnuz, float>();
  scaled_of<mpnum_e3m4, mpnum_f16>();
#endif
}

/* The blocks of a grid take several tiles each; the largest element is anywhere. */
void long_arrays_are_strided_over(void) {
  const float &scale = placed(5.0f);
  for (std::size_t peak : {0u, 1023u, 4095u, 9001u, 20000u, 32767u, 39996u}) {
    arrays<mpnum_e4m3, float> a(40000, 0, 0, 3);
    float &amax = placed(0.0f);
    for (float &x : a.src.values)
      x = mpnum_from_bits_f32(mpnum_bits_f32(x) & 0xbfffffffu); /* below 2 */
    a.src.values[peak] = -3;
    a.expect(scale);
    CHECK_LAUNCH(simt::launch(
        mpnum_quantize_kernel_<mpnum_e4m3, float, mpnum_scale_given_>, {2, 256}, a.dst(),
        &amax, a.src.begin(), mpnum_scale_given_{&scale}, a.n));
    a.compare("two blocks");
    CHECK(amax == 3, "amax %a with a peak at %zu", static_cast<double>(amax), peak);
  }
}

void broken_scales_make_codes_nan(void) {
  for (std::uint32_t bits : {0u, 0x80000000u, 0xbf800000u, 0x7f800000u, 0x7fc00001u}) {
    const vector<float> x = {1, 0, -2};
    vector<mpnum_e4m3> codes(3);
    vector<mpnum_e5m2fnuz> others(3);
    vector<float> back(3);
    const float &scale = placed(mpnum_from_bits_f32(bits));
    float &amax = placed(0.0f);
    CHECK_LAUNCH(
        mpnum_launch_quantize_array(codes.data(), x.data(), 3, &scale, &amax, nullptr));
    CHECK_LAUNCH(
        mpnum_launch_quantize_array(others.data(), x.data(), 3, &scale, &amax, nullptr));
    for (unsigned i = 0; i < 3; ++i)
      CHECK(codes[i].bits == 0x7f && others[i].bits == 0x80, "scale %08x", bits);
    CHECK(amax == 2, "amax %a", static_cast<double>(amax));
    codes[0].bits = 0x38;
    CHECK_LAUNCH(
        mpnum_launch_dequantize_array(back.data(), codes.data(), 3, &scale, nullptr));
    for (float y : back)
      CHECK(mpnum_bits_f32(y) == 0x7fffffffu, "scale_inv %08x", bits);
    vector<mpnum_e4m3> turned(3);
    codes.assign(3, mpnum_e4m3());
    CHECK_LAUNCH(mpnum_launch_quantize_transpose(
        mpnum::matrix_of(codes.data(), 1, 3), mpnum::matrix_of(turned.data(), 3, 1),
        mpnum::matrix_of(x.data(), 1, 3), &scale, &amax, nullptr));
    for (unsigned i = 0; i < 3; ++i)
      CHECK(codes[i].bits == 0x7f && turned[i].bits == 0x7f, "transpose, scale %08x",
            bits);
  }
}

template <class T, class S>
void check_current(arrays<T, S> a, const mpnum_fp8_recipe &recipe) {
  float &amax = placed(-1.0f), &scale_inv = placed(-1.0f);
  a.expect(1);
  const float scale = mpnum_scale_from_amax(
      a.amax, mpnum_format_max(mpnum_format_of(mpnum::type_of<T>::value)),
      &recipe.options);
  a.expect(scale);
  CHECK_LAUNCH(mpnum_launch_quantize_current(a.dst(), a.src.begin(), a.n, &recipe,
                                             &scale_inv, &amax, nullptr));
  a.compare("current");
  CHECK(mpnum_bits_f32(amax) == mpnum_bits_f32(a.amax), "amax");
  CHECK(mpnum_bits_f32(scale_inv) == mpnum_bits_f32(mpnum_scale_inv(scale)), "scale_inv");
}
template <class T, class S>
void check_current(std::size_t n, unsigned seed, const mpnum_fp8_recipe &recipe) {
  check_current(arrays<T, S>(n, seed % 3, seed % 5, seed), recipe);
}
void current_scaling_has_the_hosts_bytes(void) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  for (unsigned seed = 0; seed < 12; ++seed) {
    simt::use(simt::schedules[seed % 6]);
    recipe.options.power_of_two = seed % 2;
    recipe.options.margin = static_cast<int>(seed % 3);
    recipe.options.fallback = 0.25f;
    check_current<mpnum_e4m3, float>(1 + (is_fast() ? 300000 : 500) * seed, seed, recipe);
#ifndef TEST_TYPES
    check_current<mpnum_e5m2, mpnum_f16>(3 + 900 * seed, seed, recipe);
#endif
  }
}

template <class T, class Code> void back_of(void) {
  const std::size_t waves =
      3 * 4096 * 4 * static_cast<std::size_t>(simt::multiprocessors);
  for (std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{300},
                        std::size_t{8200}, std::size_t{9000}, waves + 5})
    for (std::size_t at = 0; at < (n < waves ? 4 : 1); ++at) {
      vector<Code> codes(n + at);
      vector<T> got(n + at + 8), want(got.size());
      const float &scale_inv = placed(0x1.234p-3f);
      for (std::size_t i = 0; i < codes.size(); ++i)
        codes[i] = mpnum::from_bits<Code>(static_cast<std::uint32_t>(i * 37 % 256));
      CHECK(mpnum_dequantize_array(mpnum::type_of<T>::value, want.data() + at,
                                   mpnum::type_of<Code>::value, codes.data() + at, n,
                                   scale_inv) == MPNUM_OK,
            "host");
      CHECK_LAUNCH(mpnum_launch_dequantize_array(got.data() + at, codes.data() + at, n,
                                                 &scale_inv, nullptr));
      CHECK(std::memcmp(got.data(), want.data(), got.size() * sizeof(T)) == 0,
            "%zu at %zu", n, at);
    }
}
void dequantised_arrays_have_the_hosts_bytes(void) {
  back_of<float, mpnum_e4m3>();
#ifndef TEST_TYPES
  back_of<mpnum_f16, mpnum_e5m2>();
  back_of<float, mpnum_e4m3fnuz>();
#endif
}

template <class T, class S> void check_transpose(const matrix<S> &src, unsigned seed) {
  const std::size_t rows = src.rows, columns = src.columns;
  const std::size_t stride = columns + seed % 5, turned_stride = rows + seed % 4;
  vector<unsigned char> codes(rows * stride + guard_size, guard), want = codes;
  vector<unsigned char> turned(columns * turned_stride + guard_size, guard),
      want_turned = turned;
  const float &scale = placed(3.0f);
  float &amax = placed(0.0f), want_amax = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const S *const row = src.begin() + r * src.stride;
    CHECK(mpnum_quantize_array(mpnum::type_of<T>::value, want.data() + r * stride,
                               mpnum::type_of<S>::value, row, columns, scale,
                               nullptr) == MPNUM_OK,
          "host");
    for (std::size_t c = 0; c < columns; ++c) {
      want_turned[c * turned_stride + r] = want[r * stride + c];
      want_amax = mpnum_amax_merge(want_amax, mpnum::element_of_(row[c]));
    }
  }
  CHECK_LAUNCH(mpnum_launch_quantize_transpose(
      mpnum::matrix_of(reinterpret_cast<T *>(codes.data()), rows, columns, stride),
      mpnum::matrix_of(reinterpret_cast<T *>(turned.data()), columns, rows,
                       turned_stride),
      mpnum::matrix_of(src.begin(), rows, columns, src.stride), &scale, &amax, nullptr));
  CHECK(codes == want, "codes of %zu x %zu", rows, columns);
  CHECK(turned == want_turned, "transposed codes of %zu x %zu", rows, columns);
  CHECK(mpnum_bits_f32(amax) == mpnum_bits_f32(want_amax), "amax of %zu x %zu", rows,
        columns);
}
template <class T, class S>
void check_transpose(std::size_t rows, std::size_t columns, unsigned seed) {
  check_transpose<T>(matrix<S>(rows, columns, seed % 3, seed, seed % 2), seed);
}
void codes_and_their_transpose_come_from_one_read(void) {
  const std::size_t sizes[][2] = {{1, 1},   {64, 64}, {63, 65},   {65, 63}, {64, 128},
                                  {3, 200}, {200, 3}, {127, 129}, {1, 70},  {70, 1}};
  unsigned seed = 0;
  for (const auto &size : sizes) {
    simt::use(simt::schedules[seed % 6]);
    check_transpose<mpnum_e4m3, float>(size[0], size[1], seed);
#ifndef TEST_TYPES
    check_transpose<mpnum_e5m2, mpnum_bf16>(size[0], size[1], seed);
#endif
    ++seed;
  }
  check_transpose<mpnum_e4m3, float>(128, 128, 0); /* whole tiles, aligned */
  if (is_fast()) check_transpose<mpnum_e4m3, float>(2050, 4100, 0);
#ifndef TEST_TYPES
  check_transpose<mpnum_e4m3, mpnum_f16>(64, 256, 60);
#endif
}

/* Of current scaling with the fallback, where all is Inf, NaN or 0. */
void arrays_of_one_value_have_the_hosts_bytes(void) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  recipe.options.fallback = 0.25f;
  for (std::uint32_t bits : uncommon_floats) {
    arrays<mpnum_e4m3, float> a(300, 1, 2, 0);
    arrays<mpnum_e5m2, mpnum_f16> b(300, 0, 0, 0);
    matrix<float> m(65, 70, 1, 0);
    a.src.fill(bits);
    b.src.fill(bits);
    m.fill(bits);
    check_scaled(a, 3);
    check_scaled(b, 0x1p-20f);
    check_current(a, recipe);
    check_current(b, recipe);
    check_transpose<mpnum_e4m3>(m, 0);
  }
}

/* A launch that fails leaves what is read as it was, histories, too. */
void the_next_launch_works(void) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  arrays<mpnum_e4m3, float> a(300, 0, 0, 1);
  float &amax = placed(-1.0f), &scale_inv = placed(-1.0f);
  for (float &x : a.src.values)
    x = 3;
  const float scale = mpnum_scale_from_amax(3, 448, &recipe.options);
  a.expect(scale);
  let_launches_fail(
      "current scaling", 3,
      [&] {
        return mpnum_launch_quantize_current(a.dst(), a.src.begin(), a.n, &recipe,
                                             &scale_inv, &amax, nullptr);
      },
      [&] {
        a.compare("current");
        CHECK(amax == 3 && scale_inv == mpnum_scale_inv(scale), "amax or scale_inv");
        std::fill(a.codes.begin(), a.codes.begin() + 300, guard);
        amax = scale_inv = -1;
      });
}

/* The same by a kernel of one's own: the last tile of a matrix, as of the first. */
__global__ void tile_of_four(mpnum_e4m3 *codes, mpnum_e4m3 *transposed, const float *src,
                             float *amax) {
  __shared__ uint32_t scratch[MPNUM_TILE_SCRATCH];
  const float found = mpnum_quantize_tile_transpose(
      codes, 100, transposed, 80, src, 100, MPNUM_TILE_ROWS, 64, 80, 100, 2.0f, scratch);
  mpnum_atomic_amax(amax, found);
}
void kernels_quantise_tiles(void) {
  const matrix<float> src(80, 100, 0, 8);
  vector<mpnum_e4m3> codes(8000), transposed(8000);
  float &amax = placed(0.0f), want = 0;
  CHECK_LAUNCH(simt::launch(tile_of_four, {1, 256}, codes.data(), transposed.data(),
                            src.begin(), &amax));
  for (std::size_t r = 0; r < 80; ++r)
    for (std::size_t c = 0; c < 100; ++c) {
      const bool is_inside = r >= 64 && c >= 64;
      const float x = src.begin()[r * 100 + c];
      const unsigned code =
          is_inside ? mpnum_f32_to_e4m3_sat(mpnum_mul_scalar_(x, 2)).bits : 0u;
      CHECK(codes[r * 100 + c].bits == code && transposed[c * 80 + r].bits == code,
            "row %zu, column %zu", r, c);
      if (is_inside) want = mpnum_amax_merge(want, x);
    }
  CHECK(mpnum_bits_f32(amax) == mpnum_bits_f32(want), "amax");
}

/* Histories. */

#ifdef TEST_TYPES
constexpr unsigned length = 7, tensors = 9, steps = 12;
#else
constexpr unsigned length = 37, tensors = 21, steps = 45;
#endif
struct model {
  vector<mpnum_amax_history> histories;
  vector<float> rings;
};
model started(const mpnum_fp8_recipe &recipe) {
  model made = {vector<mpnum_amax_history>(tensors),
                vector<float>(tensors * recipe.history_length)};
  std::memset(static_cast<void *>(made.histories.data()), 0,
              tensors * sizeof(mpnum_amax_history));
  for (unsigned i = 0; i < tensors; ++i)
    CHECK(mpnum_amax_history_init(
              &made.histories[i], made.rings.data() + i * recipe.history_length,
              recipe.history_length, i % 2 ? 448.0f : 57344.0f, &recipe) == MPNUM_OK,
          "init");
  return made;
}
void histories_have_the_hosts_bytes(void) {
  for (int algorithm = 0; algorithm < 2; ++algorithm)
    for (std::uint32_t ring : {1u, 3u, length}) {
      mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
      recipe.history_length = ring;
      recipe.algorithm = algorithm;
      recipe.options.power_of_two = algorithm;
      model here = started(recipe), there = here;
      for (unsigned step = 0; step < steps; ++step) {
        vector<float> amax(tensors), taken;
        simt::use(simt::schedules[step % 6]);
        for (unsigned i = 0; i < tensors; ++i) {
          const std::uint32_t word = mpnum_random(step, i);
          amax[i] = mpnum_from_bits_f32(word & 0x7fffffffu);
          if (word % 9 == 0) amax[i] = mpnum_from_bits_f32(0x7f800000u);
          if (word % 9 == 1) amax[i] = mpnum_from_bits_f32(0x7fffffffu);
          if (word % 9 == 2) amax[i] = 0;
        }
        taken = amax;
        CHECK_LAUNCH(mpnum_launch_scale_update(there.histories.data(), there.rings.data(),
                                               taken.data(), tensors, &recipe, nullptr));
        for (unsigned i = 0; i < tensors; ++i) {
          (void)mpnum_amax_history_update(&here.histories[i],
                                          here.rings.data() + i * ring, amax[i]);
          CHECK(mpnum_bits_f32(taken[i]) == 0, "amax %u stays", i);
        }
        CHECK(std::memcmp(here.histories.data(), there.histories.data(),
                          tensors * sizeof(mpnum_amax_history)) == 0,
              "histories, step %u", step);
        CHECK(std::memcmp(here.rings.data(), there.rings.data(),
                          here.rings.size() * sizeof(float)) == 0,
              "rings, step %u", step);
      }
    }
}

/* Collectives of kernels of one's own: N elements a lane, M codes. */

template <bool is_mx, class T, class Scale, unsigned M, unsigned N>
__global__ void blocks_of_warp(T *codes, Scale *blocks, const float *x, int rule,
                               float scale) {
  mpnum_lanes<T, M> made;
  const mpnum_lanes<float, N> own = mpnum_load<N>(x + threadIdx.x * N, N);
  if constexpr (is_mx)
    mpnum_warp_quantize_mx(&made, blocks + threadIdx.x, own,
                           static_cast<mpnum_blockscale_rule>(rule));
  else
    mpnum_warp_quantize_nvfp4(&made, blocks + threadIdx.x, own, scale);
  mpnum_store(codes + threadIdx.x * M, made, M);
  (void)rule, (void)scale;
}
template <bool is_mx, class T, unsigned M, unsigned N> void check_warp(void) {
  typedef typename mpnum::packed_<T>::element element;
  typedef typename std::conditional<is_mx, mpnum_e8m0, mpnum_e4m3>::type scale_type;
  constexpr unsigned edge = is_mx ? 32 : 16;
  for (unsigned seed = 0; seed < 24; ++seed) {
    const matrix<float> src(1, 64 * N, 0, seed);
    mpnum_blockscale_format format =
        is_mx ? mpnum_blockscale_mx(mpnum::type_of<element>::value,
                                    static_cast<mpnum_blockscale_rule>(seed % 4))
              : mpnum_blockscale_nvfp4_1x16();
    if (sizeof(T) == 1 && mpnum::packed_<T>::count == 1) format.element_bits = 8;
    const float scale = is_mx ? 1 : mpnum_nvfp4_scale(finite_amax(src.view()));
    vector<T> codes(64 * M), want(codes);
    vector<scale_type> scales(64), blocks(64 * N / edge);
    const mpnum_blockscaled to = {want.data(),   64 * N, blocks.data(),
                                  blocks.size(), 0,      scale};
    must(mpnum_quantize_blocks(&format, to, src.view(), nullptr, nullptr));
    simt::use(simt::schedules[seed % 6]);
    CHECK_LAUNCH(simt::launch(blocks_of_warp<is_mx, T, scale_type, M, N>, {1, 64},
                              codes.data(), scales.data(), src.begin(), seed % 4, scale));
    CHECK(std::memcmp(codes.data(), want.data(), codes.size() * sizeof(T)) == 0,
          "codes, %u of a lane, seed %u", N, seed);
    for (unsigned lane = 0; lane < 64; ++lane)
      CHECK(scales[lane].bits == blocks[lane * N / edge].bits, "scale of lane %u", lane);
  }
}
void warps_quantise_as_the_host(void) {
  check_warp<true, mpnum_e2m1x2, 4, 8>();
#ifndef TEST_TYPES
  check_warp<true, mpnum_e4m3, 4, 4>();
  check_warp<true, mpnum_e5m2, 1, 1>();
  check_warp<true, mpnum_e4m3, 16, 16>();
  check_warp<true, mpnum_e3m2x4, 1, 4>();
  check_warp<true, mpnum_e2m1, 2, 2>();
  check_warp<false, mpnum_e2m1, 1, 1>();
  check_warp<false, mpnum_e2m1x2, 2, 4>();
  check_warp<false, mpnum_e2m1x2, 4, 8>();
#endif
}

#ifndef TEST_TYPES
void a_million_in_a_row_or_a_column(void) {
  check_transpose<mpnum_e4m3, float>(1, 1000000, 0);
  check_transpose<mpnum_e4m3, float>(1000000, 1, 0);
  check_scaled<mpnum_e4m3, float>(1000000, 0, 0, 3);
}
#endif

/* Nothing is launched: a launch would give another error. */
void what_is_wrong_is_refused(void) {
  vector<float> floats = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  vector<mpnum_e4m3> bytes(16);
  float *const x = floats.data(), &scale = placed(1.0f), &amax = placed(5.0f);
  float *const none = nullptr;
  mpnum_e4m3 *const codes = &bytes[0], *const turned = &bytes[8];
  mpnum_e4m3 *const no_codes = nullptr, *const over =
                                            reinterpret_cast<mpnum_e4m3 *>(x) + 4;
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed(), wrong = recipe, one = recipe;
  vector<mpnum_amax_history> histories(1);
  wrong.history_length = 0;
  one.history_length = 1;
  const auto quantize = [&](mpnum_e4m3 *to, const float *from, const float *by) {
    return mpnum_launch_quantize_array(to, from, 8, by, &amax, nullptr);
  };
  const auto current = [&](const mpnum_fp8_recipe *how, float *found) {
    return mpnum_launch_quantize_current(codes, x, 8, how, &scale, found, nullptr);
  };
  const auto back = [&](const mpnum_e4m3 *from, const float *by) {
    return mpnum_launch_dequantize_array(x, from, 8, by, nullptr);
  };
  const auto update = [&](mpnum_amax_history *all, const mpnum_fp8_recipe *how) {
    return mpnum_launch_scale_update(all, x, &amax, 1, how, nullptr);
  };
  simt::launch_error = sound;
  CHECK(quantize(codes, x, &scale) == sound, "a sound one");
  check_refused(quantize(no_codes, x, &scale), "no dst");
  check_refused(quantize(codes, none, &scale), "no src");
  check_refused(quantize(codes, x, none), "no scale");
  check_refused(quantize(over, x, &scale), "dst over src");
  check_refused(current(&wrong, &amax), "no recipe");
  check_refused(current(&recipe, none), "no amax");
  check_refused(current(nullptr, &amax), "NULL for a recipe");
  check_refused(back(over, &scale), "src over dst");
  check_refused(back(codes, none), "no scale_inv");
  check_refused(update(histories.data(), &wrong), "histories of no recipe");
  check_refused(update(nullptr, &recipe), "no histories");
  for (int i = 0; i < 7; ++i)
    check_refused(mpnum_launch_quantize_transpose(
                      mpnum::matrix_of(i == 0 ? no_codes : codes, 2, 4, i == 1 ? 3 : 4),
                      mpnum::matrix_of(i == 2 ? codes + 1 : turned, 4, 2, i == 3 ? 1 : 2),
                      mpnum::matrix_of(i == 4 ? none : x, 2, 4, i == 5 ? 3 : 4),
                      i == 6 ? none : &scale, &amax, nullptr),
                  "transpose");
  must(mpnum_amax_history_init(histories.data(), x, 1, 448, &one));
  const mpnum_amax_history before = histories[0];
  amax = 5;
  CHECK(update(histories.data(), &one) == sound, "an update");
  CHECK(completed(cudaSuccess) == cudaSuccess, "afterwards");
  CHECK(!is_simulated || (amax == 5 && x[0] == 0 &&
                          std::memcmp(&before, histories.data(), sizeof before) == 0),
        "a history half written");
  CHECK(mpnum_launch_scale_update(static_cast<mpnum_amax_history *>(nullptr), x, &amax, 0,
                                  &recipe, nullptr) == cudaSuccess,
        "no histories to update");
  simt::launch_error = cudaSuccess;
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(scaled_arrays_have_the_hosts_bytes),
                       TEST(long_arrays_are_strided_over),
                       TEST(broken_scales_make_codes_nan),
                       TEST(current_scaling_has_the_hosts_bytes),
                       TEST(dequantised_arrays_have_the_hosts_bytes),
                       TEST(codes_and_their_transpose_come_from_one_read),
                       TEST(arrays_of_one_value_have_the_hosts_bytes),
                       TEST(the_next_launch_works),
#ifndef TEST_TYPES
                       TEST(a_million_in_a_row_or_a_column),
#endif
                       TEST(kernels_quantise_tiles),
                       TEST(histories_have_the_hosts_bytes),
                       TEST(warps_quantise_as_the_host),
                       TEST(what_is_wrong_is_refused),
                   });
}

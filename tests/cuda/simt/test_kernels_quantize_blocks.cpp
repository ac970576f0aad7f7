/* SPDX-License-Identifier: MIT */
/* The quantisers of mpnum/blocks/quantize_blocks.cuh: MX, NVFP4 and DeepSeek's
 * blocks by row, by column, of the transposed matrix and of several of these at once,
 * scales one behind the other and swizzled, beside blockscale.h of the host, every byte
 * of codes and scales and of what is between and behind them. TEST_TYPES, whatever it
 * lists, makes a program of some of it. */
#include "block_checks.hpp"

#include <mpnum/blocks/layout.cuh>
#include <mpnum/blocks/stored_matrix.cuh>

namespace {

/* The formats: a launch of each. */
template <class Code, class T>
void check_mx(const matrix<T> &src, const manner &how, mpnum_blockscale_rule rule) {
  check_blocks(mpnum_blockscale_mx(mpnum::type_of<Code>::value, rule), src, how,
               [rule](const mpnum_blockscaled *by_row, const mpnum_blockscaled *by_column,
                      const matrix<T> &x, const manner &m) {
                 return mpnum_launch_quantize_mx<Code>(
                     by_row, by_column,
                     mpnum::matrix_of(x.begin(), x.rows, x.columns, x.stride), rule,
                     m.what, nullptr);
               });
}
template <unsigned high, class T>
void check_nvfp4(const matrix<T> &src, const manner &how, bool is_stochastic) {
  mpnum_blockscale_format format =
      high == 1 ? mpnum_blockscale_nvfp4_1x16() : mpnum_blockscale_nvfp4_16x16();
  const float &scale = placed(how.scale);
  if (is_stochastic) format.rounding = how.rounding;
  check_blocks(
      format, src, how,
      [is_stochastic, &scale](const mpnum_blockscaled *by_row,
                              const mpnum_blockscaled *by_column, const matrix<T> &x,
                              const manner &m) {
        if (is_stochastic)
          return mpnum_launch_quantize_nvfp4_sr<high>(
              by_row, by_column, mpnum::matrix_of(x.begin(), x.rows, x.columns, x.stride),
              &scale, m.what, m.random.seed, m.random.offset, nullptr, m.rounding);
        return mpnum_launch_quantize_nvfp4<high>(
            by_row, by_column, mpnum::matrix_of(x.begin(), x.rows, x.columns, x.stride),
            &scale, m.what, nullptr);
      });
}
template <class Code, unsigned high, class T>
void check_deepseek(const matrix<T> &src, const manner &how, mpnum_blockscale_rule rule,
                    float amax_floor) {
  mpnum_blockscale_format format =
      high == 1 ? mpnum_blockscale_fp8_1x128() : mpnum_blockscale_fp8_128x128();
  format.element = mpnum_format_of(mpnum::type_of<Code>::value);
  format.rule = rule;
  format.amax_floor = amax_floor;
  check_blocks(format, src, how,
               [rule, amax_floor](const mpnum_blockscaled *by_row,
                                  const mpnum_blockscaled *by_column, const matrix<T> &x,
                                  const manner &m) {
                 return mpnum_launch_quantize_fp8<Code, high>(
                     by_row, by_column,
                     mpnum::matrix_of(x.begin(), x.rows, x.columns, x.stride), rule,
                     amax_floor, m.what, nullptr);
               });
}

/* Sizes around blocks, vectors and tiles (64 rows and 64 or 128 columns). */
const std::size_t sizes[][2] = {{1, 1},    {1, 31},   {3, 32},  {31, 33},
                                {2, 65},   {33, 3},   {64, 64}, {65, 64},
                                {63, 129}, {66, 127}, {128, 8}, {5, 257}};

manner turn(unsigned i, std::size_t codes_at = 0, std::size_t extra = 0) {
  manner how;
  how.what = every_what[i % 5];
  how.is_swizzled = i / 5 % 2;
  how.codes_at = codes_at;
  how.extra = extra;
  return how;
}

template <class Code, class T> void mx_of(unsigned seed) {
  unsigned i = seed;
  for (const auto &size : sizes) {
    simt::use(simt::schedules[i % 6]);
    check_mx<Code>(matrix<T>(size[0], size[1], i % 3, i), turn(i, 0, i % 4),
                   static_cast<mpnum_blockscale_rule>(i % 4));
    ++i;
  }
}
void mx_gives_the_hosts_bytes(void) {
  if (is_fast())
    check_mx<mpnum_e4m3>(matrix<mpnum_bf16>(1030, 4100, 0, 1), turn(3),
                         MPNUM_BLOCKSCALE_RCEIL);
  mx_of<mpnum_e4m3, float>(0);
  mx_of<mpnum_e2m1, mpnum_f16>(2);
#ifndef TEST_TYPES
  mx_of<mpnum_e4m3, mpnum_bf16>(1);
  mx_of<mpnum_e3m2, float>(3);
  mx_of<mpnum_e5m2, float>(4);
  mx_of<mpnum_e2m3, mpnum_f16>(5);
  mx_of<mpnum_e2m1, float>(6);
  mx_of<mpnum_e3m2, mpnum_bf16>(7);
#endif
}

/* Source and codes at each place, so that some is moved by vectors and some not. */
void arrays_may_begin_anywhere(void) {
  for (std::size_t src_at = 0; src_at < 8; ++src_at)
    for (std::size_t codes_at = 0; codes_at < 8; ++codes_at)
      for (unsigned side = 0; side < 4; ++side) {
        manner how = turn(side, codes_at);
        check_mx<mpnum_e4m3>(matrix<float>(4, 96, src_at % 4, 1, src_at % 4), how,
                             MPNUM_BLOCKSCALE_RCEIL);
        check_mx<mpnum_e2m1>(matrix<mpnum_f16>(4, 68, 8 - src_at, 2, src_at), how,
                             MPNUM_BLOCKSCALE_FLOOR);
      }
}

#ifndef TEST_TYPES
void long_rows_and_many_of_them(void) {
  for (int what : {ROWS, TRANSPOSED}) {
    manner how;
    how.what = what;
    check_mx<mpnum_e4m3>(matrix<float>(1, 1000000, 0, 3), how, MPNUM_BLOCKSCALE_RCEIL);
    check_mx<mpnum_e4m3>(matrix<float>(1000000, 1, 0, 4), how, MPNUM_BLOCKSCALE_RCEIL);
    check_mx<mpnum_e5m2>(matrix<mpnum_bf16>(300, 40, 0, 6), how, MPNUM_BLOCKSCALE_EVEN);
  }
}
#endif

template <unsigned high, class T> void nvfp4_of(unsigned seed, bool is_stochastic) {
  unsigned i = seed;
  for (const auto &size : sizes) {
    const matrix<T> src(size[0], size[1], i % 2, i);
    manner how = turn(i, 0, i % 3);
    const float amax = finite_amax(src.view());
    how.scale = i % 4 == 3 ? 1.5f : mpnum_nvfp4_scale(amax);
    how.random = {7 + i, i % 2 ? ~0ull - 100 : 4 * i};
    if (i % 4) how.rounding = mpnum_rounding_stochastic("ABC"[i % 3], 1 + i % 8);
    simt::use(simt::schedules[i % 6]);
    check_nvfp4<high>(src, how, is_stochastic);
    ++i;
  }
}
void nvfp4_gives_the_hosts_bytes(void) {
  if (is_fast()) check_nvfp4<1>(matrix<mpnum_bf16>(1030, 4100, 0, 1), turn(4), true);
  nvfp4_of<16, float>(1, false);
  nvfp4_of<1, mpnum_bf16>(2, true);
  for (int what : every_what) { /* a square's scale for each of its rows */
    manner how;
    how.what = what;
    how.is_swizzled = 1;
    check_nvfp4<16>(matrix<mpnum_bf16>(150, 70, 0, 1), how, false);
    check_nvfp4<16>(matrix<float>(17, 140, 1, 2), how, false);
    check_nvfp4<1>(matrix<float>(17, 140, 1, 3), how, false);
  }
#ifndef TEST_TYPES
  nvfp4_of<1, float>(0, false);
  nvfp4_of<1, mpnum_f16>(3, false);
  nvfp4_of<16, mpnum_bf16>(4, false);
  nvfp4_of<1, float>(5, true);
  nvfp4_of<16, float>(6, true);
  nvfp4_of<16, mpnum_f16>(7, true);
#endif
}

template <class T> void check_scale_of_tensor(const matrix<T> &src) {
  float &scale = placed(-1.0f);
  CHECK_LAUNCH(mpnum_launch_nvfp4_scale(
      &scale, mpnum::matrix_of(src.begin(), src.rows, src.columns, src.stride), nullptr));
  CHECK(mpnum_bits_f32(scale) ==
            mpnum_bits_f32(mpnum_nvfp4_scale(finite_amax(src.view()))),
        "%zu x %zu: %a", src.rows, src.columns, static_cast<double>(scale));
}
void scales_of_tensors_are_those_of_finite_elements(void) {
  for (const auto &size : sizes) {
    check_scale_of_tensor(matrix<float>(size[0], size[1], 3, 9));
    check_scale_of_tensor(matrix<mpnum_f16>(size[0], size[1], 1, 10));
  }
  matrix<float> wide(1, 8 * 4096 + 9, 0, 11); /* a tile more than there are blocks */
  std::fill(wide.values.begin(), wide.values.end(), 1.0f);
  wide.values.back() = 2;
  check_scale_of_tensor(wide);
  float &scale = placed(-1.0f);
  CHECK_LAUNCH(mpnum_launch_nvfp4_scale(
      &scale, mpnum::matrix_of(static_cast<const float *>(nullptr), 0, 5), nullptr));
  CHECK(mpnum_bits_f32(scale) == 0x3f800000u, "%a", static_cast<double>(scale));
}

void matrices_of_one_value_have_the_hosts_bytes(void) {
  unsigned i = 0;
  for (std::uint32_t bits : uncommon_floats) {
    matrix<float> src(34, 70, 0, 1);
    matrix<mpnum_f16> half(17, 130, 1, 1);
    src.fill(bits);
    half.fill(bits);
    check_mx<mpnum_e4m3>(src, turn(i), MPNUM_BLOCKSCALE_RCEIL);
    check_mx<mpnum_e2m1>(half, turn(i + 1), static_cast<mpnum_blockscale_rule>(i % 4));
    for (float scale : {1.0f, mpnum_nvfp4_scale(finite_amax(src.view()))}) {
      manner how = turn(i + 2);
      how.scale = scale;
      check_nvfp4<16>(src, how, false);
      check_nvfp4<1>(src, how, false);
    }
    manner how = turn(i % 5);
    check_deepseek<mpnum_e4m3, 1>(src, how, MPNUM_BLOCKSCALE_AMAX, 0);
    ++i;
  }
}

void the_next_scale_works(void) {
  matrix<float> src(5, 70, 3, 9);
  src.fill(0x40400000u); /* 3 */
  float &scale = placed(-1.0f);
  let_launches_fail(
      "scale", 3,
      [&] {
        return mpnum_launch_nvfp4_scale(
            &scale, mpnum::matrix_of(src.begin(), 5, 70, src.stride), nullptr);
      },
      [&] {
        CHECK(mpnum_bits_f32(scale) == mpnum_bits_f32(mpnum_nvfp4_scale(3)), "%a",
              static_cast<double>(scale));
        scale = -1;
      });
}

/* What the host refuses a device finds only while it runs. */
void broken_scales_of_tensors_make_blocks_nan(void) {
  const matrix<float> src(3, 20, 0, 1);
  for (std::uint32_t bits : {0u, 0x80000000u, 0xbf800000u, 0x7f800000u, 0x7fc00001u}) {
    vector<unsigned char> codes(30, guard), scales(6, guard);
    const float &scale = placed(mpnum_from_bits_f32(bits));
    const mpnum_blockscaled to = {codes.data(), 20, scales.data(), 6, 0, 1};
    CHECK_LAUNCH(mpnum_launch_quantize_nvfp4(
        &to, nullptr, mpnum::matrix_of(src.begin(), 3, 20), &scale, ROWS, nullptr));
    for (unsigned char byte : codes)
      CHECK(byte == 0x77, "code %02x of scale %08x", byte, bits); /* the largest */
    for (unsigned char byte : scales)
      CHECK(byte == 0x7f, "scale %02x of scale %08x", byte, bits);
  }
}

template <class Code, unsigned high, class T> void deepseek_of(unsigned seed) {
  unsigned i = seed;
  const std::size_t more[][2] = {{1, 128}, {127, 129}, {130, 5}, {129, 257}, {7, 1000}};
  for (const auto &size : more) {
    simt::use(simt::schedules[i % 6]);
    check_deepseek<Code, high>(
        matrix<T>(size[0], size[1], i % 3, i), turn(i % 5, 0, i % 4),
        i % 2 ? MPNUM_BLOCKSCALE_AMAX_POW2 : MPNUM_BLOCKSCALE_AMAX, i % 3 ? 0 : 1e-4f);
    ++i;
  }
}
void deepseek_gives_the_hosts_bytes(void) {
  if (is_fast())
    check_deepseek<mpnum_e4m3, 1>(matrix<float>(1030, 4100, 0, 1), turn(3),
                                  MPNUM_BLOCKSCALE_AMAX, 0);
  deepseek_of<mpnum_e4m3, 1, float>(0);
#ifndef TEST_TYPES
  for (unsigned i = 0; i < 5; ++i) {
    deepseek_of<mpnum_e4m3, 1, float>(i);
    deepseek_of<mpnum_e4m3, 1, mpnum_bf16>(i + 1);
    deepseek_of<mpnum_e4m3, 128, float>(i);
    deepseek_of<mpnum_e4m3, 128, mpnum_bf16>(i + 1);
  }
#endif
}

/* Back, by row and column. launch(dst, from, S of the tensor, what). */
template <class T, class Launch>
void check_size_back(const mpnum_blockscale_format &format, std::size_t rows,
                     std::size_t columns, std::size_t stride, unsigned seed,
                     Launch launch) {
  const matrix<float> src(rows, columns, 0, seed);
  const bool has_two_levels = format.rule == mpnum_blockscale_nvfp4_1x16().rule;
  const bool can_be_swizzled = format.rule != mpnum_blockscale_fp8_1x128().rule;
  manner how;
  how.scale = has_two_levels ? (seed % 2 ? 3.0f : 1e-3f) : 1;
  how.is_swizzled = can_be_swizzled ? seed % 2 : 0;
  how.extra = seed % 3;
  how.codes_at = seed % 2;
  const float &scale = placed(how.scale);
  for (int what : {ROWS, COLUMNS}) {
    const mpnum_blockscale_format lying = what == COLUMNS ? turned(format) : format;
    stored codes(lying, rows, columns, how.is_swizzled, how.codes_at, how.extra);
    quantize_on_host(lying, codes, src, how);
    stored given = codes;
    vector<T> want(rows * stride + 4), got(want.size());
    std::memset(static_cast<void *>(want.data()), guard, want.size() * sizeof(T));
    std::memset(static_cast<void *>(got.data()), guard, got.size() * sizeof(T));
    mpnum_matrix to =
        mpnum_matrix_of(mpnum::type_of<T>::value, want.data(), rows, columns);
    to.stride = stride;
    must(mpnum_dequantize_blocks(&lying, to, codes.view(how.scale)));
    const mpnum_blockscaled from = given.view();
    CHECK_LAUNCH(
        launch(mpnum::matrix_of(got.data(), rows, columns, stride), &from, &scale, what));
    CHECK(std::memcmp(want.data(), got.data(), want.size() * sizeof(T)) == 0,
          "%zu x %zu, stride %zu, what %d", rows, columns, stride, what);
  }
}
/* Of each size, and of rows wider than a tile of floats or as wide, all aligned. */
template <class T, class Launch>
void check_back(const mpnum_blockscale_format &format, unsigned seed, Launch launch) {
  const std::size_t wide[][3] = {{2, 11008, 11008}, {3, 12288, 12288}, {2, 4096, 8192}};
  for (const auto &size : sizes) {
    check_size_back<T>(format, size[0], size[1], size[1] + seed % 4, seed, launch);
    ++seed;
  }
  for (const auto &size : wide)
    check_size_back<T>(format, size[0], size[1], size[2], 12, launch);
}
template <class Code, class T> void mx_back(unsigned seed) {
  check_back<T>(mpnum_blockscale_mx(mpnum::type_of<Code>::value, MPNUM_BLOCKSCALE_EVEN),
                seed, [](auto dst, auto from, const float *, int what) {
                  return mpnum_launch_dequantize_mx<Code>(dst, from, what, nullptr);
                });
}
template <unsigned high, class T> void nvfp4_back(unsigned seed) {
  check_back<T>(
      high == 1 ? mpnum_blockscale_nvfp4_1x16() : mpnum_blockscale_nvfp4_16x16(), seed,
      [](auto dst, auto from, const float *scale, int what) {
        return mpnum_launch_dequantize_nvfp4<high>(dst, from, scale, what, nullptr);
      });
}
template <unsigned high, class T> void deepseek_back(unsigned seed) {
  check_back<T>(high == 1 ? mpnum_blockscale_fp8_1x128() : mpnum_blockscale_fp8_128x128(),
                seed, [](auto dst, auto from, const float *, int what) {
                  return mpnum_launch_dequantize_fp8<mpnum_e4m3, high>(dst, from, what,
                                                                       nullptr);
                });
}
void dequantising_gives_the_hosts_bytes(void) {
  mx_back<mpnum_e4m3, float>(0);
  nvfp4_back<1, mpnum_bf16>(1);
#ifndef TEST_TYPES
  deepseek_back<1, float>(2);
  mx_back<mpnum_e2m1, mpnum_f16>(3);
  mx_back<mpnum_e2m3, mpnum_bf16>(5);
  nvfp4_back<16, float>(7);
  deepseek_back<128, mpnum_bf16>(9);
#endif
}

/* Back in whole tiles, of any codes and any scales. */
template <class T, class Launch>
void check_any_back(const mpnum_blockscale_format &format, float scale_of_tensor,
                    unsigned seed, Launch launch) {
  const std::size_t shapes[][2] = {{33, 512}, {130, 160}, {1030, 32}, {2, 8192 + 64}};
  const auto &shape = shapes[seed % 4];
  const std::size_t rows = shape[0], columns = shape[1];
  stored codes(format, rows, columns, seed / 4 % 2, 0, seed / 8 % 2 * 32);
  std::mt19937 random(seed);
  for (unsigned char &byte : codes.codes)
    byte = static_cast<unsigned char>(random());
  for (unsigned char &byte : codes.scales)
    byte = static_cast<unsigned char>(random() % 8 ? random() : random() % 2 * 0x80);
  vector<T> want(rows * columns), got(want.size());
  const float &scale = placed(scale_of_tensor);
  simt::use(simt::schedules[seed % 6]);
  mpnum_blockscaled given = codes.view(scale_of_tensor);
  must(mpnum_dequantize_blocks(
      &format, mpnum_matrix_of(mpnum::type_of<T>::value, want.data(), rows, columns),
      given));
  CHECK_LAUNCH(launch(mpnum::matrix_of(got.data(), rows, columns), &given, &scale, ROWS));
  CHECK(std::memcmp(want.data(), got.data(), want.size() * sizeof(T)) == 0,
        "%zu x %zu, scale %08x", rows, columns, mpnum_bits_f32(scale_of_tensor));
}
template <class Code, class T> void any_mx_back(unsigned seed) {
  for (unsigned i = seed; i < seed + 4; ++i)
    check_any_back<T>(
        mpnum_blockscale_mx(mpnum::type_of<Code>::value, MPNUM_BLOCKSCALE_EVEN), 1, i,
        [](auto dst, auto from, const float *, int what) {
          return mpnum_launch_dequantize_mx<Code>(dst, from, what, nullptr);
        });
}
/* Scales of tensors whose inverse is no normal float, too, and quotients by them. */
template <unsigned high, class T> void any_nvfp4_back(unsigned seed) {
  for (unsigned bits :
       {0x3f800000u, 0x40490fdbu, 0x3fffffffu, 0x0d800000u, 0x0d7fffffu, 0x71800000u,
        0x71800001u, 0x7f7fffffu, 0x7d123456u, 0x00000001u, 0x00812345u})
    check_any_back<T>(
        high == 1 ? mpnum_blockscale_nvfp4_1x16() : mpnum_blockscale_nvfp4_16x16(),
        mpnum_from_bits_f32(bits), seed++,
        [](auto dst, auto from, const float *scale, int what) {
          return mpnum_launch_dequantize_nvfp4<high>(dst, from, scale, what, nullptr);
        });
}
void any_codes_in_whole_tiles_are_the_hosts(void) {
  any_mx_back<mpnum_e4m3, mpnum_bf16>(0);
  any_nvfp4_back<1, mpnum_bf16>(1);
#ifndef TEST_TYPES
  any_mx_back<mpnum_e4m3, float>(2);
  any_mx_back<mpnum_e5m2, mpnum_f16>(4);
  any_mx_back<mpnum_e3m2, float>(6);
  any_mx_back<mpnum_e2m3, mpnum_bf16>(8);
  any_mx_back<mpnum_e2m1, float>(10);
  any_nvfp4_back<1, float>(3);
  any_nvfp4_back<16, mpnum_f16>(5);
#endif
}

/* Of every significand of a tensor's scale, in full where all types are tested. */
void quotients_of_scales_are_those_of_division(void) {
#ifdef TEST_TYPES
  const std::uint32_t step = 257;
#else
  const std::uint32_t step = 1;
#endif
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < 1u << 23; i += step) {
    const float tensor = mpnum_from_bits_f32(0x3f800000u | i), inverse = 1 / tensor;
    for (unsigned k = 0; k < 16; ++k) {
      const float scale =
          static_cast<float>(8 + k / 2) * (k % 2 ? 1.5f : 1.0f); /* 8 to 22.5 */
      wrong += mpnum::quotient_(scale, tensor, inverse) != scale / tensor;
    }
  }
  CHECK(wrong == 0, "%u quotients differ", wrong);
}

/* 1 over a scale's quotient by the tensor's, of every scale of e4m3 and of ue5m3 and of
 * tensors' scales of many significands, from one end to the other. */
void factors_of_two_levels_are_those_of_division(void) {
#ifdef TEST_TYPES
  const std::uint32_t step = 65521;
#else
  const std::uint32_t step = 1021;
#endif
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0x0d800000u; bits <= 0x71800000u; bits += step) {
    const float tensor = mpnum_from_bits_f32(bits);
    for (unsigned k = 1; k < 16; ++k)
      for (int exponent = -17; exponent <= 13; exponent += 6) {
        const float scale = std::ldexp(static_cast<float>(k), exponent);
        const float want = 1 / (scale / tensor);
        wrong += mpnum::two_level_factor_(scale, bits) != want;
      }
  }
  CHECK(wrong == 0, "%u factors differ", wrong);
}
/* Codes of a quotient: at and beside the midpoints of codes, of zeros and what is less
 * than any code. */
template <class Code> void quotients_make_codes(float least) {
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < 20011; ++i) {
    const std::uint32_t bits = 0x17800000u + i * (0x50000000u / 20010);
    const float factor = mpnum_from_bits_f32(bits),
                inverse = mpnum_usual_inverse_(factor);
    for (unsigned k = 0; k < 5; ++k) {
      const std::uint32_t code = i * 7 % 0x77;
      const float midpoint = (mpnum::to_float(mpnum::from_bits<Code>(code)) +
                              mpnum::to_float(mpnum::from_bits<Code>(code + 1))) /
                             2;
      const float by[5] = {least, midpoint, least * 0.25f, 1e-30f, 0};
      const float x = by[k] * factor;
      for (std::uint32_t off = 0; off < 5; ++off)
        for (std::uint32_t sign = 0; sign < 2; ++sign) {
          const std::uint32_t at = mpnum_bits_f32(x) + (x > 0 ? off - 2 : off);
          const float beside = mpnum_from_bits_f32((at & 0x7fffffffu) | sign << 31);
          wrong +=
              mpnum::from_float_sat<Code>(mpnum::code_quotient_(beside, factor, inverse))
                  .bits != mpnum::from_float_sat<Code>(beside / factor).bits;
        }
    }
  }
  CHECK(wrong == 0, "%u codes differ", wrong);
}
void quotients_make_the_codes_of_division(void) {
  quotients_make_codes<mpnum_e4m3>(0x1.8p-9f);
  quotients_make_codes<mpnum_e5m2>(0x1.8p-16f);
}

/* Inf and NaN, which the host refuses: NaN in their block, the host's bytes elsewhere. */
void stored_blocks_with_nan_come_back_as_nan(void) {
  constexpr std::size_t rows = 16, columns = 128, count = rows * columns;
  for (int layout = MPNUM_STORED_MXFP4; layout <= MPNUM_STORED_GPTQ; ++layout) {
    const mpnum_stored none = mpnum_stored_of(static_cast<mpnum_stored_layout>(layout),
                                              rows, columns, layout < 4 ? 0 : 64);
    const std::size_t wide = layout == MPNUM_STORED_NVFP4 ? 16 : none.block;
    vector<float> x(count), want(count), got(count);
    vector<unsigned char> memory[3] = {
        vector<unsigned char>(none.data_bytes + guard_size, guard),
        vector<unsigned char>(none.scales_bytes + guard_size, guard),
        vector<unsigned char>(none.zeros_bytes + guard_size, guard)};
    mpnum_stored made = none;
    for (std::size_t i = 0; i < count; ++i)
      x[i] = static_cast<float>(static_cast<int>(i * 37 % 41) - 20) / 8;
    made.data = memory[0].data();
    made.scales = memory[1].data();
    made.zeros = memory[2].data();
    must(mpnum_quantize_stored(
        made, mpnum_const_matrix_of(MPNUM_TYPE_F32, x.data(), rows, columns)));
    must(mpnum_dequantize_stored(
        mpnum_matrix_of(MPNUM_TYPE_F32, want.data(), rows, columns), made));
    x[3 * columns + 70] = mpnum_from_bits_f32(0x7f800000u);
    x[9 * columns + 5] = mpnum_from_bits_f32(0xffc00000u);
    CHECK_LAUNCH(mpnum_launch_quantize_stored(
        made, mpnum::matrix_of(x.data(), rows, columns), nullptr));
    must(mpnum_dequantize_stored(
        mpnum_matrix_of(MPNUM_TYPE_F32, got.data(), rows, columns), made));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t block = i % columns / wide;
      const bool is_broken = (i / columns == 3 && block == 70 / wide) ||
                             (i / columns == 9 && block == 5 / wide);
      CHECK(mpnum_bits_f32(got[i]) == (is_broken ? 0x7fffffffu : mpnum_bits_f32(want[i])),
            "layout %d, element %zu: %08x", layout, i, mpnum_bits_f32(got[i]));
    }
    const std::size_t bytes[3] = {none.data_bytes, none.scales_bytes, none.zeros_bytes};
    for (int k = 0; k < 3; ++k)
      CHECK(memory[k][bytes[k]] == guard, "part %d of layout %d ends", k, layout);
  }
}
/* More of them than blocks of threads take at once. */
void stored_blocks_of_two_waves_have_the_bytes_of_the_host(void) {
  constexpr std::size_t rows = 40, columns = 512;
  const matrix<float> x(rows, columns, 0, 12);
  vector<float> finite(x.values.begin(), x.values.end());
  mpnum_stored made = mpnum_stored_of(MPNUM_STORED_MXFP4, rows, columns, 0);
  vector<unsigned char> want(made.data_bytes + guard_size, guard), got = want;
  for (float &one : finite)
    if (!mpnum_isfinite_f32(one)) one = 1;
  made.data = want.data();
  must(mpnum_quantize_stored(
      made, mpnum_const_matrix_of(MPNUM_TYPE_F32, finite.data(), rows, columns)));
  made.data = got.data();
  CHECK_LAUNCH(mpnum_launch_quantize_stored(
      made, mpnum::matrix_of(finite.data(), rows, columns), nullptr));
  CHECK(got == want, "bytes of blocks");
  vector<unsigned char> codes(rows * columns / 2, guard),
      scales(rows * columns / 32, guard), want_codes = codes, want_scales = scales;
  const mpnum_blockscaled apart = {codes.data(),  columns, scales.data(),
                                   scales.size(), 0,       0};
  mpnum_blockscaled on_host = apart;
  on_host.codes = want_codes.data();
  on_host.scale_inv = want_scales.data();
  must(mpnum_stored_to_blocks(on_host, made));
  CHECK_LAUNCH(mpnum_launch_stored_to_blocks(apart, made, nullptr));
  CHECK(codes == want_codes && scales == want_scales, "codes and scales apart");
}
/* Blocks of ggml by tiles, and what fills none: bytes of the host, which both signs of
 * the largest magnitude do not change; a scale of NaN and codes of 0 where one is Inf or
 * NaN; and back. */
template <class T> void check_stored_tiles(mpnum_stored_layout layout) {
  constexpr std::size_t rows = 13, columns = 672, blocks = rows * columns / 32;
  const int name = mpnum::type_of<T>::value;
  matrix<T> x(rows, columns, 0, 7);
  mpnum_stored made = mpnum_stored_of(layout, rows, columns, 0);
  const std::size_t bytes = made.data_bytes, each = bytes / blocks;
  vector<unsigned char> want(bytes + guard_size, guard), got = want;
  for (std::size_t i = 0; i < x.values.size(); ++i)
    if (!mpnum_isfinite_f32(mpnum::element_of_(x.values[i])) || i / 32 == 5)
      x.values[i] = rounded<T>(static_cast<float>(i % 7));
  for (std::size_t b = 40; b < 80; ++b) { /* 6 and -6, the first at any place */
    x.values[32 * b + b % 32] = rounded<T>(b % 3 ? 96.0f : -96.0f);
    x.values[32 * b + (7 * b + 11) % 32] = rounded<T>(b % 5 ? -96.0f : 96.0f);
  }
  made.data = want.data();
  must(mpnum_quantize_stored(made, x.view()));
  for (std::size_t b : {std::size_t{3}, std::size_t{100}, blocks - 2}) {
    x.values[32 * b + 9] = rounded<T>(mpnum_from_bits_f32(0x7f800000u));
    std::fill_n(want.begin() + static_cast<std::ptrdiff_t>(b * each), each, 0);
    want[b * each] = 0xff;
    want[b * each + 1] = 0x7f;
  }
  made.data = got.data();
  CHECK_LAUNCH(mpnum_launch_quantize_stored(
      made, mpnum::matrix_of(x.begin(), rows, columns), nullptr));
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == want[i], "type %d, layout %d, byte %zu of block %zu: %02x, not %02x",
          name, layout, i % each, i / each, got[i], want[i]);
  vector<T> back(rows * columns), expected(rows * columns);
  must(mpnum_dequantize_stored(
      mpnum_matrix_of(mpnum::type_of<T>::value, expected.data(), rows, columns), made));
  CHECK_LAUNCH(mpnum_launch_dequantize_stored(
      mpnum::matrix_of(back.data(), rows, columns), made, nullptr));
  CHECK(std::memcmp(back.data(), expected.data(), sizeof(T) * back.size()) == 0,
        "type %d, layout %d: values", name, layout);
}
/* Any codes of NF4 and FP4, with scales that are any floats. */
template <class T> void check_stored_books(mpnum_stored_layout layout) {
  constexpr std::size_t rows = 13, columns = 672;
  const int name = mpnum::type_of<T>::value;
  mpnum_stored made = mpnum_stored_of(layout, rows, columns, 32);
  matrix<float> scales(1, made.scales_bytes / 4, 0, 9);
  vector<unsigned char> codes(made.data_bytes);
  vector<T> back(rows * columns), expected(rows * columns);
  std::mt19937 random(5);
  for (unsigned char &byte : codes)
    byte = static_cast<unsigned char>(random() >> 8);
  made.data = codes.data();
  made.scales = scales.values.data();
  must(mpnum_dequantize_stored(
      mpnum_matrix_of(mpnum::type_of<T>::value, expected.data(), rows, columns), made));
  CHECK_LAUNCH(mpnum_launch_dequantize_stored(
      mpnum::matrix_of(back.data(), rows, columns), made, nullptr));
  CHECK(std::memcmp(back.data(), expected.data(), sizeof(T) * back.size()) == 0,
        "type %d, layout %d", name, layout);
}
void stored_blocks_by_tiles_have_the_bytes_of_the_host(void) {
  for (const mpnum_stored_layout layout : {MPNUM_STORED_NF4, MPNUM_STORED_FP4}) {
    check_stored_books<mpnum_bf16>(layout);
    check_stored_books<mpnum_f16>(layout);
    check_stored_books<float>(layout);
  }
  for (const mpnum_stored_layout layout : {MPNUM_STORED_Q8_0, MPNUM_STORED_Q4_0}) {
    check_stored_tiles<mpnum_bf16>(layout);
    check_stored_tiles<mpnum_f16>(layout);
    check_stored_tiles<float>(layout);
  }
}
/* Every format that has an order, from each of its orders to each, of bytes that make
 * them up; floats are powers of two. */
void scales_in_another_order_are_the_hosts(void) {
  const mpnum_blockscale_format mx =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscale_format amax = mpnum_blockscale_fp8_1x128();
  const mpnum_blockscale_format formats[] = {mx,
                                             turned(mx),
                                             mpnum_blockscale_nvfp4_1x16(),
                                             turned(mpnum_blockscale_nvfp4_1x16()),
                                             mpnum_blockscale_nvfp4_16x16(),
                                             amax};
  const std::size_t shapes[][2] = {{1, 1},     {4, 128},  {5, 70},  {130, 300},
                                   {2300, 40}, {33, 515}, {257, 1}, {1, 1024}};
  std::mt19937 random(1);
  unsigned moves = 0;
  for (const mpnum_blockscale_format &format : formats)
    for (const auto &shape : shapes)
      for (int pair = 0; pair < 9; ++pair) {
        const auto from = static_cast<mpnum_scale_order>(pair / 3);
        const auto to = static_cast<mpnum_scale_order>(pair % 3);
        const std::size_t rows = shape[0], columns = shape[1];
        const std::size_t bytes = mpnum_scale_order_bytes(&format, from, rows, columns);
        const std::size_t room = mpnum_scale_order_bytes(&format, to, rows, columns);
        vector<unsigned char> src(bytes), want(room + guard_size, guard), got = want;
        if (!bytes || !room) continue;
        simt::use(simt::schedules[++moves % 6]);
        for (unsigned char &byte : src)
          byte = static_cast<unsigned char>(random() >> 8);
        for (std::size_t i = 0; format.scale_type == MPNUM_TYPE_F32 &&
                                from == MPNUM_SCALES_IN_ROWS && i < bytes / 4;
             ++i) {
          const auto code = static_cast<std::uint32_t>(random() >> 24);
          const std::uint32_t word = code == 255 ? 0x7fffffffu
                                     : code == 0 ? 0x00400000u
                                                 : code << 23;
          std::memcpy(&src[4 * i], &word, 4);
        }
        must(mpnum_reorder_scales(&format, to, want.data(), room, from, src.data(), bytes,
                                  rows, columns));
        CHECK_LAUNCH(mpnum_launch_reorder_scales(&format, to, got.data(), room, from,
                                                 src.data(), bytes, rows, columns,
                                                 nullptr));
        CHECK(got == want, "blocks of %zu x %zu, %zu x %zu, order %d to %d", format.rows,
              format.columns, rows, columns, pair / 3, pair % 3);
      }
  CHECK(moves == 8 * (9 + 4 + 4 + 4 + 4 + 4), "%u", moves);
  for (float x : {3.0f, 0.0f, -1.0f, 0x1p-128f, HUGE_VALF}) { /* which the host refuses */
    vector<unsigned char> word(16);
    const vector<float> scale = {x};
    CHECK_LAUNCH(mpnum_launch_reorder_scales(&amax, MPNUM_SCALES_DEEPGEMM, word.data(),
                                             16, MPNUM_SCALES_IN_ROWS, scale.data(), 4, 1,
                                             8, nullptr));
    CHECK(word[0] == 0xff, "%g: %02x", static_cast<double>(x), word[0]);
  }
}
/* Nothing is launched: a launch would give another error. */
void what_is_wrong_is_refused(void) {
  const matrix<float> src(40, 70, 0, 1);
  const mpnum_blockscale_format format =
      mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL);
  stored rows(format, 40, 70, 1, 0, 0), columns(format, 70, 40, 1, 0, 0);
  const mpnum_blockscaled by_row = rows.view(), by_column = columns.view();
  const float *const none = nullptr;
  float &found = placed(1.0f);
  const auto launch = [&](const mpnum_blockscaled *row, const mpnum_blockscaled *column,
                          std::size_t stride = 70, int rule = 3,
                          int what = ROWS | TRANSPOSED) {
    return mpnum_launch_quantize_mx<mpnum_e2m1>(
        row, column, mpnum::matrix_of(stride ? src.begin() : none, 40, 70, stride),
        static_cast<mpnum_blockscale_rule>(rule), what, nullptr);
  };
  const auto of_fp8 = [&](const mpnum_blockscaled &to) {
    return mpnum_launch_quantize_fp8<mpnum_e4m3>(&to, nullptr,
                                                 mpnum::matrix_of(src.begin(), 1, 4, 70),
                                                 MPNUM_BLOCKSCALE_AMAX, 0, ROWS, nullptr);
  };
  const auto scale_of = [&](float *scale, const float *from, std::size_t stride) {
    return mpnum_launch_nvfp4_scale(scale, mpnum::matrix_of(from, 40, 70, stride),
                                    nullptr);
  };
  const auto back = [&](const mpnum_blockscaled *from, std::size_t stride, int what) {
    return mpnum_launch_dequantize_mx<mpnum_e2m1>(mpnum::matrix_of(&found, 1, 4, stride),
                                                  from, what, nullptr);
  };
  simt::launch_error = sound;
  CHECK(launch(&by_row, &by_column) == sound &&
            scale_of(&found, src.begin(), 70) == sound,
        "the sound ones");
  check_refused(launch(nullptr, &by_column), "no rows");
  check_refused(launch(&by_row, nullptr), "no columns");
  check_refused(launch(&by_row, &by_column, 0), "no source");
  check_refused(launch(&by_row, &by_column, 69), "stride below the width");
  check_refused(launch(&by_row, &by_column, 70, 4), "another rule");
  for (int what : {0, 4, 5, 8, 9, -1})
    check_refused(launch(&by_row, &by_column, 70, 3, what), "what");
  for (int i = 0; i < 8; ++i) {
    mpnum_blockscaled row = by_row, column = by_column;
    mpnum_blockscaled &wrong = i % 2 ? row : column;
    if (i / 2 == 0) wrong.codes = nullptr;
    if (i / 2 == 1) wrong.scale_inv = nullptr;
    if (i / 2 == 2) wrong.stride = i % 2 ? 69 : 39;
    if (i / 2 == 3) wrong.scale_inv_bytes -= 1;
    check_refused(launch(&row, &column), i % 2 ? "by row" : "by column");
  }
  mpnum_blockscaled over = by_row, across = by_row, odd = by_row;
  over.codes = const_cast<float *>(src.begin());
  across.scale_inv = by_column.codes;
  odd.is_swizzled = 0;
  odd.scale_inv = static_cast<unsigned char *>(odd.scale_inv) + 1;
  check_refused(launch(&over, &by_column), "codes over the source");
  check_refused(launch(&across, &by_column), "sides over each other");
  check_refused(of_fp8(odd), "floats at an odd address");
  check_refused(of_fp8(by_row), "floats swizzled");
  check_refused(scale_of(&found, src.begin(), 69), "a scale: stride below the width");
  check_refused(scale_of(&found, none, 70), "a scale of nothing");
  check_refused(scale_of(nullptr, src.begin(), 70), "no place for a scale");
  check_refused(mpnum_launch_quantize_nvfp4(&by_row, &by_column,
                                            mpnum::matrix_of(src.begin(), 4, 4, 70), none,
                                            ROWS, nullptr),
                "no scale");
  check_refused(back(&by_row, 4, ROWS | COLUMNS), "two ways back");
  check_refused(back(&by_row, 3, ROWS), "back: stride below the width");
  check_refused(back(nullptr, 4, ROWS), "no codes");
  const auto reorder = [&](mpnum_scale_order order, std::size_t room, std::size_t bytes) {
    return mpnum_launch_reorder_scales(&format, MPNUM_SCALES_SWIZZLED, rows.scales.data(),
                                       room, order, columns.scales.data(), bytes, 40, 70,
                                       nullptr);
  };
  CHECK(reorder(MPNUM_SCALES_IN_ROWS, 512, 120) == sound, "the sound ones");
  check_refused(reorder(MPNUM_SCALES_IN_ROWS, 511, 120), "no room for scales");
  check_refused(reorder(MPNUM_SCALES_DEEPGEMM, 512, 159), "too few scales");
  check_refused(reorder(static_cast<mpnum_scale_order>(3), 512, 512), "no order");
  simt::launch_error = cudaSuccess;
  for (unsigned char byte : rows.codes)
    CHECK(!is_simulated || byte == guard, "something was written");
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(mx_gives_the_hosts_bytes),
                       TEST(nvfp4_gives_the_hosts_bytes),
                       TEST(deepseek_gives_the_hosts_bytes),
                       TEST(dequantising_gives_the_hosts_bytes),
                       TEST(any_codes_in_whole_tiles_are_the_hosts),
                       TEST(quotients_of_scales_are_those_of_division),
                       TEST(factors_of_two_levels_are_those_of_division),
                       TEST(quotients_make_the_codes_of_division),
#ifndef TEST_TYPES
                       TEST(long_rows_and_many_of_them),
#endif
                       TEST(arrays_may_begin_anywhere),
                       TEST(scales_of_tensors_are_those_of_finite_elements),
                       TEST(broken_scales_of_tensors_make_blocks_nan),
                       TEST(matrices_of_one_value_have_the_hosts_bytes),
                       TEST(the_next_scale_works),
                       TEST(stored_blocks_with_nan_come_back_as_nan),
                       TEST(stored_blocks_of_two_waves_have_the_bytes_of_the_host),
                       TEST(stored_blocks_by_tiles_have_the_bytes_of_the_host),
                       TEST(scales_in_another_order_are_the_hosts),
                       TEST(what_is_wrong_is_refused),
                   });
}

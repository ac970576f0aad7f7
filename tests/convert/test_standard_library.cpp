/* SPDX-License-Identifier: MIT */
/* The storage structs in the C++ library: std::numeric_limits against constants of the
 * specifications, operator<< against strtod and texts counted by hand, and std::format,
 * where there is one, against texts and float's. */
#include <mpnum/types/formatter.hpp>
#include <mpnum/types/numeric_limits.hpp>
#include <mpnum/types/stream.hpp>

#include "../harness/tap.h"

#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string>
#include <type_traits>

namespace {

/* digits, digits10, max_digits10, the exponents of min and max in base 2 and 10, then
 * codes: largest, least normal, least above zero, epsilon, 1/2, Inf and NaN (0: none). Of
 * IEEE 754-2019 (f16), OCP OFP8 1.0, OCP MX 1.0 and the logarithms of their values. */
#define LIMITS(ROW)                                                                      \
 ROW(tf32, 11, 3, 5, -125, -37, 128, 38, 0x7f7fe000, 0x00800000, 0x2000, 0x3a800000,     \
     0x3f000000, 0x7f800000, 0x7fffe000)                                                 \
 ROW(bf16, 8, 2, 4, -125, -37, 128, 38, 0x7f7f, 0x80, 1, 0x3c00, 0x3f00, 0x7f80, 0x7fff) \
 ROW(f16, 11, 3, 5, -13, -4, 16, 4, 0x7bff, 0x400, 1, 0x1400, 0x3800, 0x7c00, 0x7fff)    \
 ROW(e5m2, 3, 0, 2, -13, -4, 16, 4, 0x7b, 4, 1, 0x34, 0x38, 0x7c, 0x7f)                  \
 ROW(e4m3, 4, 0, 3, -5, -1, 9, 2, 0x7e, 8, 1, 0x20, 0x30, 0, 0x7f)                       \
 ROW(e5m2fnuz, 3, 0, 2, -14, -4, 16, 4, 0x7f, 4, 1, 0x38, 0x3c, 0, 0x80)                 \
 ROW(e4m3fnuz, 4, 0, 3, -6, -2, 8, 2, 0x7f, 8, 1, 0x28, 0x38, 0, 0x80)                   \
 ROW(e3m4, 5, 1, 3, -1, 0, 4, 1, 0x6f, 0x10, 1, 4, 0x20, 0x70, 0x78)                     \
 ROW(e8m0, 1, 0, 2, -126, -38, 128, 38, 0xfe, 0, 0, 0x7f, 0x7e, 0, 0xff)                 \
 ROW(e3m2, 3, 0, 2, -1, 0, 5, 1, 0x1f, 4, 1, 4, 8, 0, 0)                                 \
 ROW(e2m3, 4, 0, 3, 1, 0, 3, 0, 0x1f, 8, 1, 1, 4, 0, 0)                                  \
 ROW(e2m1, 2, 0, 2, 1, 0, 3, 0, 7, 2, 1, 1, 1, 0, 0)

template <class T, uint32_t code> constexpr bool has_code(T x) { return x.bits == code; }

/* What a type has, as those say who write for any type. */
#define AGREES(name, digits_, digits10_, max_digits10_, min_exponent_, min_exponent10_, \
               max_exponent_, max_exponent10_, max_, min_, least_, epsilon_, half_,     \
               infinity_, nan_)                                                         \
 template <class Limits> struct name##_agrees {                                         \
  static_assert(Limits::is_specialized && Limits::radix == 2 && !Limits::is_integer &&  \
                    !Limits::is_exact && Limits::is_bounded && !Limits::is_modulo &&    \
                    Limits::round_style == 1 && !Limits::has_signaling_NaN &&           \
                    !Limits::traps && !Limits::tinyness_before,                         \
                "");                                                                    \
  static_assert(Limits::digits == digits_ && Limits::digits10 == digits10_ &&           \
                    Limits::max_digits10 == max_digits10_,                              \
                "");                                                                    \
  static_assert(Limits::min_exponent == min_exponent_ &&                                \
                    Limits::min_exponent10 == min_exponent10_,                          \
                "");                                                                    \
  static_assert(Limits::max_exponent == max_exponent_ &&                                \
                    Limits::max_exponent10 == max_exponent10_,                          \
                "");                                                                    \
  static_assert(Limits::has_denorm ==                                                   \
                    (std::is_same<mpnum_##name, mpnum_e8m0>() ? 0 : 1),                 \
                "");                                                                    \
  static_assert(Limits::has_infinity == (infinity_ != 0) &&                             \
                    Limits::has_quiet_NaN == (nan_ != 0),                               \
                "");                                                                    \
  static_assert(has_code<mpnum_##name, max_>((Limits::max)()), "");                     \
  static_assert(has_code<mpnum_##name, min_>((Limits::min)()), "");                     \
  static_assert(has_code<mpnum_##name, least_>(Limits::denorm_min()), "");              \
  static_assert(has_code<mpnum_##name, epsilon_>(Limits::epsilon()), "");               \
  static_assert(has_code<mpnum_##name, half_>(Limits::round_error()), "");              \
  static_assert(has_code<mpnum_##name, infinity_>(Limits::infinity()), "");             \
  static_assert(has_code<mpnum_##name, nan_>(Limits::quiet_NaN()), "");                 \
  static_assert(noexcept((Limits::max)()) &&noexcept((Limits::min)()) &&noexcept(       \
                    Limits::lowest()) &&noexcept(Limits::quiet_NaN()),                  \
                "");                                                                    \
 };                                                                                     \
 template struct name##_agrees<std::numeric_limits<mpnum_##name>>;                      \
 template struct name##_agrees<std::numeric_limits<const mpnum_##name>>;                \
 CUDA_STD(name)
#if MPNUM_HAS_CUDA_STD_
# define CUDA_STD(name) \
  template struct name##_agrees<cuda::std::numeric_limits<mpnum_##name>>;
#else
# define CUDA_STD(name)
#endif
LIMITS(AGREES)
#undef AGREES
static_assert(std::numeric_limits<mpnum_e4m3>::lowest().bits == 0xfe, "-448");
static_assert(std::numeric_limits<mpnum_e8m0>::lowest().bits == 0, "2^-127");
static_assert(std::numeric_limits<mpnum_f16>::is_iec559 &&
                  !std::numeric_limits<mpnum_bf16>::is_iec559,
              "");
static_assert(!std::numeric_limits<mpnum_e8m0>::is_signed &&
                  std::numeric_limits<mpnum_e2m1>::is_signed,
              "");

/* A static member bound to a reference needs a definition, before C++17 one of its own.
 */
template <class T> const T &same(const T &x) { return x; }
void constants_have_addresses() {
  CHECK(same(std::numeric_limits<mpnum_e4m3>::round_style) == 1, "round_style");
  CHECK(same(std::numeric_limits<mpnum_e4m3>::has_denorm) == 1, "has_denorm");
  CHECK(same(std::numeric_limits<mpnum_e4m3>::max_exponent) == 9, "max_exponent");
}

template <class T> std::string written(T x) {
  std::ostringstream stream;
  stream << x;
  return stream.str();
}

/* What strtod reads is nearer to the code's value than to any other's. */
template <class T> void reads_back(const char *name) {
  const int codes = sizeof(T) == 1 ? 256 : 0;
  for (int i = 0; i < codes; ++i) {
    const T x = mpnum::from_bits<T>(static_cast<uint32_t>(i));
    const double value = mpnum::to_double(x);
    const std::string text = written(x);
    char *end = nullptr;
    const double got = std::strtod(text.c_str(), &end);
    CHECK(*end == 0 && end != text.c_str(), "%s %02x: %s", name, i, text.c_str());
    if (std::isnan(value) || std::isinf(value)) {
      CHECK(text == (std::isnan(value) ? "nan"
                     : value < 0       ? "-inf"
                                       : "inf"),
            "%s %02x: %s", name, i, text.c_str());
      continue;
    }
    CHECK(std::signbit(got) == std::signbit(value), "%s %02x: %s", name, i, text.c_str());
    for (int j = 0; j < codes; ++j) {
      const double other =
          mpnum::to_double(mpnum::from_bits<T>(static_cast<uint32_t>(j)));
      if (!std::isfinite(other) || other == value) continue;
      CHECK(std::fabs(got - value) < std::fabs(got - other) ||
                (std::fabs(got - value) == std::fabs(got - other) && i % 2 == 0),
            "%s %02x: %s", name, i, text.c_str());
    }
  }
}
#define READS_BACK(name, ...) \
 void name##_reads_back() { reads_back<mpnum_##name>(#name); }
MPNUM_FORMATS(READS_BACK)
#undef READS_BACK

template <class T> void check_text(uint32_t code, const char *expected) {
  const std::string text = written(mpnum::from_bits<T>(code));
  CHECK(text == expected, "%x: got %s, want %s", static_cast<unsigned>(code),
        text.c_str(), expected);
}

void texts_are_the_shortest() {
  check_text<mpnum_e4m3>(0x7e, "448");
  check_text<mpnum_e4m3>(0x1d, "0.1"); /* 0.1015625, between 0.09375 and 0.109375 */
  check_text<mpnum_e4m3>(0x80, "-0");
  check_text<mpnum_e4m3>(0xff, "nan");
  check_text<mpnum_f16>(0x7bff, "65504");
  check_text<mpnum_f16>(0x0001, "6e-08"); /* 2^-24 */
  check_text<mpnum_f16>(0xfc00, "-inf");
  check_text<mpnum_f16>(0x2e66, "0.1");
  check_text<mpnum_bf16>(0x7f7f, "3.39e+38");
  check_text<mpnum_bf16>(0xbf81, "-1.01"); /* -1.0078125 */
  check_text<mpnum_tf32>(0x3eaaa000, "0.3333");
  check_text<mpnum_e8m0>(0x00, "6e-39");
  check_text<mpnum_e8m0>(0x7f, "1");
  check_text<mpnum_e2m1>(0xf5, "3"); /* the upper bits are ignored */
}

void streams_keep_their_manners() {
  const mpnum_e4m3 x = {0x1d};
  std::ostringstream stream;
  stream << std::setprecision(2) << std::scientific << std::setw(6) << x << '|'
         << std::setfill('*') << std::left << std::setw(5) << x << '|' << x;
  CHECK(stream.str() == "   0.1|0.1**|0.1", "%s", stream.str().c_str());
  CHECK(stream.width() == 0, "width");
  std::wostringstream wide;
  wide << std::setw(5) << x;
  CHECK(wide.str() == L"  0.1", "wide");
}

#if defined(__cpp_lib_format)
/* Every code of up to 8 bits, a seventh of those of 16, and as many of tf32. */
template <class T> void formats_as_it_streams(const char *name) {
  for (uint32_t i = 0; i < (sizeof(T) == 1 ? 256u : 65536u);
       i += sizeof(T) == 1 ? 1 : 7) {
    const T x = mpnum::from_bits<T>(sizeof(T) == 4 ? i << 16 | (i << 13 & 0xe000) : i);
    char text[MPNUM_TEXT_SIZE];
    mpnum_print(text, sizeof text, mpnum_format_of(mpnum::type_of<T>::value), x.bits);
    CHECK(std::format("{}", x) == text, "%s %x: %s", name, static_cast<unsigned>(i),
          text);
    const float value = mpnum::to_float(x);
    if (!std::isnan(value))
      CHECK(std::format("{:+.3e}", x) == std::format("{:+.3e}", value), "%s %x", name,
            static_cast<unsigned>(i));
  }
}
void formats_are_those_of_the_stream() {
# define FORMATS(name, ...) formats_as_it_streams<mpnum_##name>(# name);
  MPNUM_FORMATS(FORMATS)
# undef FORMATS
}

void specifications_are_those_of_float() {
  const mpnum_e4m3 x = {0x1d}; /* 0.1015625 */
  const mpnum_e2m1 three = {0xd};
  int width = 7;
  CHECK(std::format("{}|{:}|{:6}|{:.<6}|{:.>6}|{:.^5}|{:06}|{:+}", x, x, x, x, x, x, x,
                    x) == "0.1|0.1|   0.1|0.1...|...0.1|.0.1.|0000.1|+0.1",
        "without a precision");
  CHECK(std::format("{:.3f}|{:e}|{:a}|{:G}|{:.<8.2f}|{:.4}|{:e<5}", x, x, x, x, x, x,
                    x) == "0.102|1.015625e-01|1.ap-4|0.101562|0.10....|0.1016|0.1ee",
        "with one");
  CHECK(std::format("{:{}}|{:*^{}}|{:{}.{}f}", x, width, x, width, x, width, 2) ==
            "    0.1|**0.1**|   0.10",
        "from arguments");
  CHECK(std::format(L"{}|{:.3f}", x, x) == L"0.1|0.102", "wide");
  CHECK(std::format("{}|{:.1f}|{:#}", three, three, three) == "-3|-3.0|-3.", "e2m1");
  for (const char *wrong : {"{:s}", "{:d}", "{:8", "{:.}"}) {
    bool is_refused = false;
    try {
      (void)std::vformat(wrong, std::make_format_args(x));
    } catch (const std::format_error &) {
      is_refused = true;
    }
    CHECK(is_refused, "%s", wrong);
  }
}
#endif

} // namespace

int main() {
  TAP_RUN(constants_have_addresses);
#define RUN(name, ...) TAP_RUN(name##_reads_back);
  MPNUM_FORMATS(RUN)
#undef RUN
  TAP_RUN(texts_are_the_shortest);
  TAP_RUN(streams_keep_their_manners);
#if defined(__cpp_lib_format)
  TAP_RUN(formats_are_those_of_the_stream);
  TAP_RUN(specifications_are_those_of_float);
#else
  TAP_SKIP("formats_are_those_of_the_stream", "this C++ library has no std::format");
  TAP_SKIP("specifications_are_those_of_float", "this C++ library has no std::format");
#endif
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* The C++ header: its traits against the limits macros, the generic functions and
 * <float.h>'s definitions, its conversions against the C functions, and both as constant
 * expressions. */
#include <mpnum/mpnum.hpp>
#include <mpnum/types/text.h>

#include "../harness/tap.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#if __cplusplus >= 201703L && defined(__has_include)
# if __has_include(<charconv>)
#  include <charconv>
# endif
#endif

namespace {

template <class T> mpnum_format format_of() {
  return mpnum_format_of(mpnum::type_of<T>::value);
}

/* All that <limits> has and this type too. */
struct macros {
  float max, min, true_min, epsilon;
  int mant_dig, dig, min_exp, max_exp;
};

template <class T> void traits_are_the_limits(const char *name, const macros &limits) {
  typedef mpnum::numeric_limits<T> traits;
  const mpnum_format format = format_of<T>();
  const double max = mpnum::to_double((traits::max)());
  const double min = mpnum::to_double((traits::min)());
  CHECK(max == static_cast<double>(limits.max), "%s max %g", name, max);
  CHECK(min == static_cast<double>(limits.min), "%s min %g", name, min);
  CHECK(mpnum::to_float(traits::denorm_min()) == limits.true_min, "%s denorm_min", name);
  CHECK(mpnum::to_float(traits::epsilon()) == limits.epsilon, "%s epsilon", name);
  CHECK(mpnum::to_float(traits::round_error()) == 0.5f, "%s round_error", name);
  CHECK(mpnum::to_double(traits::lowest()) == (traits::is_signed ? -max : min),
        "%s lowest", name);
  CHECK(traits::digits == limits.mant_dig, "%s digits", name);
  CHECK(traits::digits10 == limits.dig, "%s digits10", name);
  CHECK(traits::min_exponent == limits.min_exp, "%s min_exponent", name);
  CHECK(traits::max_exponent == limits.max_exp, "%s max_exponent", name);
  CHECK(traits::min_exponent10 == static_cast<int>(std::ceil(std::log10(min))),
        "%s min_exponent10 %d", name, traits::min_exponent10);
  CHECK(traits::max_exponent10 == static_cast<int>(std::floor(std::log10(max))),
        "%s max_exponent10 %d", name, traits::max_exponent10);
  CHECK(traits::max_digits10 ==
            static_cast<int>(std::ceil(traits::digits * std::log10(2.0) + 1)),
        "%s max_digits10 %d", name, traits::max_digits10);
  CHECK(traits::is_signed == (format.sign_bits == 1), "%s is_signed", name);
  CHECK(traits::is_specialized && traits::radix == 2 && traits::is_bounded &&
            !traits::is_integer && !traits::is_exact && !traits::is_modulo,
        "%s", name);
  CHECK(std::strcmp(mpnum_type_name(mpnum::type_of<T>::value), name) == 0, "%s type_of",
        name);
}

/* By looking at every magnitude code, not at the descriptor. */
template <class T> void flags_are_what_the_codes_show(const char *name) {
  typedef mpnum::numeric_limits<T> traits;
  const mpnum_format format = format_of<T>();
  const uint32_t codes =
      UINT32_C(1) << (format.sign_bits + format.exponent_bits + format.mantissa_bits);
  bool has_infinity = false, has_nan = false, has_subnormal = false;
  for (uint32_t i = 0; i < codes; ++i) {
    const uint32_t code = i << format.storage_shift;
    const double value = mpnum_decode_f64(format, code);
    has_infinity |= std::isinf(value);
    has_nan |= std::isnan(value);
    has_subnormal |= mpnum_issubnormal(format, code) != 0;
    CHECK(mpnum::from_bits<T>(code).bits == code, "%s from_bits", name);
  }
  CHECK(traits::has_infinity == has_infinity, "%s has_infinity", name);
  CHECK(traits::has_quiet_NaN == has_nan, "%s has_quiet_NaN", name);
  CHECK(traits::has_denorm == has_subnormal, "%s has_denorm", name);
  CHECK(!traits::has_signaling_NaN && traits::signaling_NaN().bits == 0,
        "%s has_signaling_NaN", name);
  if (has_infinity)
    CHECK(std::isinf(mpnum::to_float(traits::infinity())), "%s infinity", name);
  else
    CHECK(traits::infinity().bits == 0, "%s infinity", name);
  CHECK(traits::quiet_NaN().bits == format.nan_code << format.storage_shift,
        "%s quiet_NaN", name);
  CHECK(std::isnan(mpnum::to_float(traits::quiet_NaN())) == has_nan, "%s quiet_NaN",
        name);
}

const double values[] = {0.0,
                         -0.0,
                         1.0,
                         -1.3,
                         0.3,
                         5.0,
                         449.0,
                         464.5,
                         -30.0,
                         65519.9,
                         1e9,
                         1e39,
                         -1e300,
                         1e-9,
                         1e-46,
                         -1e-300,
                         1.0625 + 1e-15,
                         -7.6e-6,
                         HUGE_VAL,
                         -HUGE_VAL,
                         std::numeric_limits<double>::quiet_NaN()};
const mpnum_rounding roundings[] = {MPNUM_ROUND_NEAREST_EVEN, MPNUM_ROUND_TOWARD_ZERO,
                                    MPNUM_ROUND_UP,           MPNUM_ROUND_DOWN,
                                    MPNUM_ROUND_NEAREST_AWAY, MPNUM_ROUND_TO_ODD,
                                    MPNUM_ROUND_STOCHASTIC};

/* Types that do not always saturate have the forms without _sat. */
template <class T>
void check_plain(const char *name, float x, double wide, std::true_type) {
  const mpnum_format format = format_of<T>();
  CHECK(mpnum::from_float<T>(x).bits ==
            mpnum_encode(format, x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0),
        "%s from_float(%a)", name, wide);
  CHECK(mpnum::from_double<T>(wide).bits == mpnum_encode_f64(format, wide,
                                                             MPNUM_ROUND_NEAREST_EVEN,
                                                             MPNUM_OVERFLOW_IEEE, 0),
        "%s from_double(%a)", name, wide);
}
template <class T> void check_plain(const char *, float, double, std::false_type) {}

template <class T> void conversions_are_the_functions_of_c(const char *name) {
  const mpnum_format format = format_of<T>();
  for (double wide : values) {
    const float x = mpnum_f64_to_f32(wide);
    check_plain<T>(
        name, x, wide,
        std::integral_constant<bool, mpnum::numeric_limits<T>::has_quiet_NaN>());
    CHECK(mpnum::from_float_sat<T>(x).bits == mpnum_encode(format, x,
                                                           MPNUM_ROUND_NEAREST_EVEN,
                                                           MPNUM_OVERFLOW_SATURATE, 0),
          "%s from_float_sat(%a)", name, wide);
    CHECK(mpnum::from_double_sat<T>(wide).bits ==
              mpnum_encode_f64(format, wide, MPNUM_ROUND_NEAREST_EVEN,
                               MPNUM_OVERFLOW_SATURATE, 0),
          "%s from_double_sat(%a)", name, wide);
    for (mpnum_rounding rounding : roundings) {
      for (int i = 0; i < 2; ++i) {
        const mpnum_overflow overflow = static_cast<mpnum_overflow>(i);
        const uint32_t random = UINT32_C(0x9e3779b9);
        CHECK(mpnum::round<T>(x, rounding, overflow, random).bits ==
                  mpnum_encode(format, x, rounding, overflow, random),
              "%s round(%af, %d, %d)", name, wide, static_cast<int>(rounding), i);
        CHECK(mpnum::round<T>(wide, rounding, overflow, random).bits ==
                  mpnum_encode_f64(format, wide, rounding, overflow, random),
              "%s round(%a, %d, %d)", name, wide, static_cast<int>(rounding), i);
      }
    }
    const T saturated = mpnum::from_double_sat<T>(wide);
    const float narrow = mpnum::to_float(saturated);
    const double decoded = mpnum::to_double(saturated);
    CHECK(mpnum_bits_f32(narrow) == mpnum_bits_f32(mpnum_decode(format, saturated.bits)),
          "%s to_float(%a)", name, wide);
    CHECK(mpnum_bits_f64(decoded) ==
              mpnum_bits_f64(mpnum_decode_f64(format, saturated.bits)),
          "%s to_double(%a)", name, wide);
  }
}

#define PROPERTIES(name, NAME, sign, exponent, mantissa, bias, specials, nan)       \
 void name##_traits_are_the_limits() {                                              \
  const macros limits = {MPNUM_##NAME##_MAX,                                        \
                         mpnum_format_min(mpnum_format_of(MPNUM_TYPE_##NAME)),      \
                         mpnum_format_true_min(mpnum_format_of(MPNUM_TYPE_##NAME)), \
                         mpnum_format_epsilon(mpnum_format_of(MPNUM_TYPE_##NAME)),  \
                         mpnum_format_mant_dig(mpnum_format_of(MPNUM_TYPE_##NAME)), \
                         mpnum_format_dig(mpnum_format_of(MPNUM_TYPE_##NAME)),      \
                         mpnum_format_min_exp(mpnum_format_of(MPNUM_TYPE_##NAME)),  \
                         mpnum_format_max_exp(mpnum_format_of(MPNUM_TYPE_##NAME))}; \
  traits_are_the_limits<mpnum_##name>(#name, limits);                               \
 }                                                                                  \
 void name##_flags_are_what_the_codes_show() {                                      \
  flags_are_what_the_codes_show<mpnum_##name>(#name);                               \
 }                                                                                  \
 void name##_conversions_are_the_functions_of_c() {                                 \
  conversions_are_the_functions_of_c<mpnum_##name>(#name);                          \
 }
MPNUM_FORMATS(PROPERTIES)
#undef PROPERTIES

/* The traits are constant expressions in every C++. */
#define CONSTANT(name, NAME, sign, exponent, mantissa, bias, specials, nan)        \
 static_assert((mpnum::numeric_limits<mpnum_##name>::max)().bits != 0, "");        \
 static_assert(mpnum::numeric_limits<mpnum_##name>::lowest().bits !=               \
                   (mpnum::numeric_limits<mpnum_##name>::max)().bits,              \
               "");                                                                \
 static_assert(mpnum::numeric_limits<mpnum_##name>::digits == (mantissa) + 1, ""); \
 static_assert(!mpnum::numeric_limits<mpnum_##name>::is_iec559 ||                  \
                   mpnum::type_of<mpnum_##name>::value == MPNUM_TYPE_F16,          \
               "");                                                                \
 static_assert(std::is_trivial<mpnum_##name>::value &&                             \
                   std::is_standard_layout<mpnum_##name>::value,                   \
               "");
MPNUM_FORMATS(CONSTANT)
#undef CONSTANT
static_assert(!mpnum::numeric_limits<int>::is_specialized, "");
static_assert(mpnum::numeric_limits<mpnum_f16>::is_iec559, "");
static_assert(mpnum::type_of<float>::value == MPNUM_TYPE_F32, "");
static_assert(mpnum::type_of<double>::value == MPNUM_TYPE_F64, "");
static_assert((mpnum::numeric_limits<mpnum_e4m3>::max)().bits == 0x7e, "448");
static_assert(mpnum::numeric_limits<mpnum_e8m0>::epsilon().bits == 127, "1");
static_assert(mpnum::numeric_limits<mpnum_tf32>::quiet_NaN().bits == 0x7fffe000, "");

#if MPNUM_HAS_CONSTEXPR
/* So are the conversions, of C and of this header, and text. */
static_assert(mpnum_f32_to_e4m3_sat(1e9f).bits == 0x7e, "448");
static_assert(mpnum::from_float<mpnum_e4m3>(449.0f).bits == 0x7e, "448");
static_assert(mpnum::from_float<mpnum_e4m3>(500.0f).bits == 0x7f, "NaN");
static_assert(mpnum::from_float_sat<mpnum_e2m1>(1e9f).bits == 0x7, "6");
static_assert(mpnum::from_double<mpnum_f16>(1.0 / 3).bits == 0x3555, "");
static_assert(mpnum::round<mpnum_bf16>(1.004f, MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0)
                      .bits == 0x3f81,
              "");
static_assert(
    mpnum::round<mpnum_e8m0>(3.0, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_IEEE, 0).bits ==
        128,
    "2");
static_assert(mpnum::to_float(mpnum_e4m3{0x7e}) == 448.0f, "");
static_assert(mpnum::to_double(mpnum_e3m2{0x1f}) == 28.0, "");

constexpr uint32_t parsed(const char *text, size_t length) {
  uint32_t code = 0;
  return mpnum_parse(&code, mpnum_format_of(MPNUM_TYPE_F16), text, length,
                     MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE) == MPNUM_OK
             ? code
             : ~0u;
}
constexpr char printed(uint32_t code, size_t index) {
  char text[MPNUM_TEXT_SIZE] = {};
  mpnum_print(text, sizeof text, mpnum_format_of(MPNUM_TYPE_F16), code);
  return text[index];
}
static_assert(parsed("65504", 5) == 0x7bff, "");
static_assert(parsed("0x1.8p1", 7) == 0x4200, "");
static_assert(printed(0x7bff, 4) == '4', "65504");
#endif

/* A static member bound to a reference needs a definition, before C++17 one of its own.
 */
const int &same(const int &x) { return x; }
void constants_have_addresses() {
  CHECK(same(mpnum::numeric_limits<mpnum_e4m3>::digits) == 4, "digits");
  CHECK(same(mpnum::numeric_limits<mpnum_e8m0>::max_exponent10) == 38, "max_exponent10");
}

template <class T, class = void> struct takes_double : std::false_type {};
template <class T>
struct takes_double<T, decltype(static_cast<void>(mpnum::from_float<T>(1.0)))>
    : std::true_type {};
template <class T, class = void> struct takes_float : std::false_type {};
template <class T>
struct takes_float<T, decltype(static_cast<void>(mpnum::from_float<T>(1.0f)))>
    : std::true_type {};
void a_double_is_not_taken_for_a_float() {
  CHECK(!takes_double<mpnum_e4m3>::value, "from_float took a double");
  CHECK(takes_float<mpnum_e4m3>::value, "from_float took no float");
}

#if defined(__cpp_lib_to_chars)
/* Another implementation of the shortest text. */
void f32_prints_as_to_chars() {
  const mpnum_format format = mpnum_format_of(MPNUM_TYPE_F32);
  uint32_t code = 1;
  for (int i = 0; i < 200000; ++i) {
    /* Random bits, and every tenth time an integer of chance. */
    code = code * UINT32_C(1664525) + UINT32_C(1013904223);
    const float x =
        i % 10 ? mpnum_from_bits_f32(code) : static_cast<float>(code >> (code & 31));
    char got[MPNUM_TEXT_SIZE], want[64];
    if (std::isnan(x)) continue;
    mpnum_print(got, sizeof got, format, mpnum_bits_f32(x));
    *std::to_chars(want, want + sizeof want - 1, x).ptr = 0;
    CHECK(std::strcmp(got, want) == 0, "%08x: got %s, want %s",
          static_cast<unsigned>(mpnum_bits_f32(x)), got, want);
  }
}
#endif

} // namespace

int main() {
#define RUN(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 TAP_RUN(name##_traits_are_the_limits);                                \
 TAP_RUN(name##_flags_are_what_the_codes_show);                        \
 TAP_RUN(name##_conversions_are_the_functions_of_c);
  MPNUM_FORMATS(RUN)
#undef RUN
  TAP_RUN(constants_have_addresses);
  TAP_RUN(a_double_is_not_taken_for_a_float);
#if defined(__cpp_lib_to_chars)
  TAP_RUN(f32_prints_as_to_chars);
#else
  TAP_SKIP("f32_prints_as_to_chars", "this C++ library has no std::to_chars for float");
#endif
  return tap_done();
}

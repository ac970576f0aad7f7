/* SPDX-License-Identifier: MIT */
/* C++11 and later: traits of the storage structs, and conversions whose type is a
 * template argument. Opt-in.
 *
 *     mpnum_e4m3 x = mpnum::from_float_sat<mpnum_e4m3>(1.5f);
 *     float y = mpnum::to_float(x);
 *     static_assert(mpnum::numeric_limits<mpnum_e4m3>::digits == 4, "");
 *
 * The conversions are the C functions; where MPNUM_HAS_CONSTEXPR is 1 they are constant
 * expressions, as the traits are everywhere. The structs get no operators: which order is
 * meant is said by name, mpnum_compare or mpnum_total_order.
 */
#ifndef MPNUM_MPNUM_HPP
#define MPNUM_MPNUM_HPP

#include "mpnum.h"
MPNUM_C_BEGIN_

/* A function simple enough for a constant expression of C++11. */
#if MPNUM_HAS_CONSTEXPR
# define MPNUM_CONSTANT_ MPNUM_INLINE
#else
# define MPNUM_CONSTANT_ MPNUM_INLINE constexpr
#endif

namespace mpnum {

template <mpnum_type type> struct type_constant_ {
  static constexpr mpnum_type value = type;
};
template <mpnum_type type> constexpr mpnum_type type_constant_<type>::value;

/* type_of<mpnum_e4m3>::value is MPNUM_TYPE_E4M3. */
template <class T> struct type_of;
template <> struct type_of<float> : type_constant_<MPNUM_TYPE_F32> {};
template <> struct type_of<double> : type_constant_<MPNUM_TYPE_F64> {};
#define MPNUM_TYPE_OF_(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 template <> struct type_of<mpnum_##name> : type_constant_<MPNUM_TYPE_##NAME> {};
MPNUM_FORMATS(MPNUM_TYPE_OF_)
#undef MPNUM_TYPE_OF_

/* The struct that holds a code. */
template <class T> MPNUM_CONSTANT_ T from_bits(uint32_t code) {
  return T{static_cast<decltype(T::bits)>(code)};
}

/* floor(n * log10(2)); 1233 / 4096 is log10(2) to 4 digits, enough for |n| <= 128. */
MPNUM_CONSTANT_ int digits10_(int n) {
  return n < 0 ? -((4095 - n * 1233) / 4096) : n * 1233 / 4096;
}

/* The constants of std::numeric_limits, with its meanings. Signalling NaNs are not told
 * from quiet ones; f16 alone is an interchange format of IEEE 754. */
#define MPNUM_LIMITS_(ROW)                                                        \
 ROW(bool, is_specialized, true)                                                  \
 ROW(bool, is_signed, sign_bits == 1)                                             \
 ROW(bool, is_integer, false)                                                     \
 ROW(bool, is_exact, false)                                                       \
 ROW(bool, is_bounded, true)                                                      \
 ROW(bool, is_modulo, false)                                                      \
 ROW(bool, is_iec559, is_ieee_ &&exponent_bits == 5 && mantissa_bits == 10)       \
 ROW(bool, has_infinity, is_ieee_)                                                \
 ROW(bool, has_quiet_NaN, specials != MPNUM_SPECIALS_FINITE)                      \
 ROW(bool, has_signaling_NaN, false)                                              \
 ROW(bool, has_denorm, mantissa_bits > 0)                                         \
 ROW(bool, has_denorm_loss, false)                                                \
 ROW(bool, traps, false)                                                          \
 ROW(bool, tinyness_before, false)                                                \
 ROW(int, radix, 2)                                                               \
 ROW(int, digits, mantissa_bits + 1)                                              \
 ROW(int, digits10, digits10_(mantissa_bits))                                     \
 ROW(int, max_digits10, digits10_(mantissa_bits + 1) + 2)                         \
 ROW(int, min_exponent, (has_zero_ ? 2 : 1) - bias)                               \
 ROW(int, max_exponent, static_cast<int>(max_code_ >> mantissa_bits) - bias + 1)  \
 ROW(int, min_exponent10, -digits10_(1 - min_exponent)) /* rounded toward zero */ \
 ROW(int, max_exponent10, digits10_(max_exponent))

#define MPNUM_LIMIT_PARAMETERS_                                          \
 class T, int sign_bits, int exponent_bits, int mantissa_bits, int bias, \
     mpnum_specials specials, uint32_t nan_code

template <MPNUM_LIMIT_PARAMETERS_> class limits_ {
  static constexpr int magnitude_bits_ = exponent_bits + mantissa_bits;
  static constexpr int shift_ =
      sign_bits + magnitude_bits_ > 16 ? 31 - magnitude_bits_ : 0;
  static constexpr bool is_ieee_ = specials == MPNUM_SPECIALS_IEEE;
  static constexpr bool has_zero_ = specials != MPNUM_SPECIALS_E8M0;
  static constexpr uint32_t ones_ = (static_cast<uint32_t>(1) << magnitude_bits_) - 1;
  static constexpr uint32_t inf_code_ = ones_ >> mantissa_bits << mantissa_bits;
  static constexpr uint32_t max_code_ =
      is_ieee_
          ? inf_code_ - 1
          : ones_ - (specials == MPNUM_SPECIALS_FN || specials == MPNUM_SPECIALS_E8M0);

  MPNUM_CONSTANT_ T code_(uint32_t code) { return from_bits<T>(code << shift_); }
  /* 2^exponent, at most 1; 1 << (bias + exponent) where it is no normal number. */
  MPNUM_CONSTANT_ T power_(int exponent) {
    return code_(bias + exponent > 0
                     ? static_cast<uint32_t>(bias + exponent) << mantissa_bits
                     : static_cast<uint32_t>(1) << (mantissa_bits - 1 + bias + exponent));
  }

public:
#define MPNUM_LIMIT_(type, name, value) static constexpr type name = value;
  MPNUM_LIMITS_(MPNUM_LIMIT_)
#undef MPNUM_LIMIT_

  /* The names in parentheses are out of reach of <windows.h>'s macros. */
  MPNUM_CONSTANT_ T(max)() noexcept { return code_(max_code_); }
  MPNUM_CONSTANT_ T lowest() noexcept {
    return code_(is_signed ? max_code_ | (ones_ + 1) : static_cast<uint32_t>(0));
  }
  MPNUM_CONSTANT_ T(min)() noexcept {
    return code_(has_zero_ ? static_cast<uint32_t>(1) << mantissa_bits : 0);
  }
  MPNUM_CONSTANT_ T denorm_min() noexcept { return code_(has_zero_); }
  MPNUM_CONSTANT_ T epsilon() noexcept { return power_(-mantissa_bits); }
  MPNUM_CONSTANT_ T round_error() noexcept { return power_(-1); }
  /* Code 0 where the type has none. */
  MPNUM_CONSTANT_ T infinity() noexcept { return code_(has_infinity ? inf_code_ : 0); }
  MPNUM_CONSTANT_ T quiet_NaN() noexcept { return code_(nan_code); }
  MPNUM_CONSTANT_ T signaling_NaN() noexcept { return code_(0); }
};

#if __cplusplus < 201703L
# define MPNUM_LIMIT_(type, name, value)                                             \
  template <MPNUM_LIMIT_PARAMETERS_>                                                 \
  constexpr type limits_<T, sign_bits, exponent_bits, mantissa_bits, bias, specials, \
                         nan_code>::name;
MPNUM_LIMITS_(MPNUM_LIMIT_)
# undef MPNUM_LIMIT_
#endif
#undef MPNUM_LIMITS_
#undef MPNUM_LIMIT_PARAMETERS_

/* As std::numeric_limits, for the storage structs. */
template <class T> class numeric_limits {
public:
  static constexpr bool is_specialized = false;
};
#define MPNUM_NUMERIC_LIMITS_(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 template <>                                                                             \
 class numeric_limits<mpnum_##name>                                                      \
     : public limits_<mpnum_##name, sign, exponent, mantissa, bias,                      \
                      MPNUM_SPECIALS_##specials, nan> {};
MPNUM_FORMATS(MPNUM_NUMERIC_LIMITS_)
#undef MPNUM_NUMERIC_LIMITS_

/* The named functions of a type; the types that always saturate have no plain ones. */
template <class T> struct functions_;
#define MPNUM_PLAIN_(name) \
 MPNUM_INLINE mpnum_##name from_f32(float x) { return mpnum_f32_to_##name(x); }
#define MPNUM_PLAIN_IEEE_(name) MPNUM_PLAIN_(name)
#define MPNUM_PLAIN_FN_(name)   MPNUM_PLAIN_(name)
#define MPNUM_PLAIN_FNUZ_(name) MPNUM_PLAIN_(name)
#define MPNUM_PLAIN_E8M0_(name) MPNUM_PLAIN_(name)
#define MPNUM_PLAIN_FINITE_(name)
#define MPNUM_FUNCTIONS_(name, NAME, sign, exponent, mantissa, bias, specials, nan)      \
 template <> struct functions_<mpnum_##name> {                                           \
  MPNUM_PLAIN_##specials##_(name) MPNUM_INLINE mpnum_##name from_f32_sat(float x) {      \
   return mpnum_f32_to_##name##_sat(x);                                                  \
  }                                                                                      \
  MPNUM_INLINE mpnum_##name round_f32(float x, mpnum_rounding rounding,                  \
                                      mpnum_overflow overflow, uint32_t random) {        \
   return mpnum_f32_to_##name##_round(x, rounding, overflow, random);                    \
  }                                                                                      \
  MPNUM_INLINE mpnum_##name round_f64(double x, mpnum_rounding rounding,                 \
                                      mpnum_overflow overflow, uint32_t random) {        \
   return mpnum_from_bits_##name(mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_##NAME), x, \
                                                  rounding, overflow, random));          \
  }                                                                                      \
  MPNUM_INLINE float to_f32(mpnum_##name x) { return mpnum_##name##_to_f32(x); }         \
  MPNUM_INLINE double to_f64(mpnum_##name x) {                                           \
   return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_##NAME), x.bits);                  \
  }                                                                                      \
 };
MPNUM_FORMATS(MPNUM_FUNCTIONS_)
#undef MPNUM_FUNCTIONS_
#undef MPNUM_PLAIN_FINITE_
#undef MPNUM_PLAIN_E8M0_
#undef MPNUM_PLAIN_FNUZ_
#undef MPNUM_PLAIN_FN_
#undef MPNUM_PLAIN_IEEE_
#undef MPNUM_PLAIN_

/* To float and double, exact. */
template <class T> MPNUM_INLINE float to_float(T x) { return functions_<T>::to_f32(x); }
template <class T> MPNUM_INLINE double to_double(T x) { return functions_<T>::to_f64(x); }

/* To T, rounded once: mpnum_f32_to_T, mpnum_f32_to_T_sat, which is the only one of
 * mpnum_e3m2, e2m3 and e2m1, mpnum_f32_to_T_round, and the same from doubles. A double is
 * not taken for a float, which would round twice. */
template <class T> MPNUM_INLINE T from_float(float x) {
  static_assert(numeric_limits<T>::has_quiet_NaN, "this type has from_float_sat only");
  return functions_<T>::from_f32(x);
}
template <class T> MPNUM_INLINE T from_double(double x) {
  static_assert(numeric_limits<T>::has_quiet_NaN, "this type has from_double_sat only");
  return functions_<T>::round_f64(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
}
template <class T> MPNUM_INLINE T from_float_sat(float x) {
  return functions_<T>::from_f32_sat(x);
}
template <class T> MPNUM_INLINE T from_double_sat(double x) {
  return functions_<T>::round_f64(x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE,
                                  0);
}
template <class T> T from_float(double x) = delete;
template <class T> T from_float_sat(double x) = delete;
template <class T>
MPNUM_INLINE T(round)(float x, mpnum_rounding rounding, mpnum_overflow overflow,
                      uint32_t random) {
  return functions_<T>::round_f32(x, rounding, overflow, random);
}
template <class T>
MPNUM_INLINE T(round)(double x, mpnum_rounding rounding, mpnum_overflow overflow,
                      uint32_t random) {
  return functions_<T>::round_f64(x, rounding, overflow, random);
}

} // namespace mpnum

#undef MPNUM_CONSTANT_

MPNUM_C_END_
#endif

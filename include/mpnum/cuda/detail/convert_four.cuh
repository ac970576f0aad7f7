/* SPDX-License-Identifier: MIT */
/* Conversions for kernels: of one element, and of four by the conversions that take two
 * or four, where types have them. Both give the same bits.
 */
#ifndef MPNUM_CUDA_DETAIL_CONVERT_FOUR_CUH
#define MPNUM_CUDA_DETAIL_CONVERT_FOUR_CUH

#include "e2m1.cuh"
#include "fp8_random.cuh"
MPNUM_C_BEGIN_

/* What the rounds of mpnum_random_x4 take of a seed, two words each, and that function by
 * them: a kernel that has them need not add them up for each four. */
typedef struct mpnum_random_keys_ {
  uint32_t at[20];
} mpnum_random_keys_;
MPNUM_INLINE uint32_t mpnum_random_key_(uint64_t seed, unsigned i) {
  return static_cast<uint32_t>(i % 2 ? seed >> 32 : seed) +
         i / 2 * (i % 2 ? 0xbb67ae85u : 0x9e3779b9u);
}
MPNUM_INLINE mpnum_random_keys_ mpnum_random_keys_of_(uint64_t seed) {
  mpnum_random_keys_ keys = mpnum_random_keys_();
  for (unsigned i = 0; i < 20; ++i)
    keys.at[i] = mpnum_random_key_(seed, i);
  return keys;
}
MPNUM_INLINE mpnum_u32x4 mpnum_random_by_(const mpnum_random_keys_ &keys,
                                          uint64_t counter) {
  mpnum_u32x4 c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                   0, 0};
  MPNUM_UNROLL_
  for (unsigned i = 0; i < 10; ++i)
    c = mpnum_random_round_(c, keys.at[2 * i], keys.at[2 * i + 1]);
  return c;
}

/* How an array is rounded; plain and saturating conversions have no use for it. */
typedef struct mpnum_launch_rounding_ {
  mpnum_rounding rounding;
  mpnum_overflow overflow;
  uint64_t seed, offset;
  mpnum_random_keys_ keys;
} mpnum_launch_rounding_;

namespace mpnum {

enum cast_form_ { cast_is_plain_, cast_is_sat_, cast_is_rounded_ };

/* One of the three, with one signature. */
template <class Dst, class Src> struct cast_plain_ {
  typedef cast_plain_<Dst, float> from_float;
  static constexpr cast_form_ form = cast_is_plain_;
  static constexpr bool is_of_small_type = sizeof(Src) <= 4;
  static constexpr bool is_stochastic = false;
  MPNUM_INLINE Dst at(Src x, const mpnum_launch_rounding_ &, uint32_t) {
    return cast_<Dst, Src>::plain(x);
  }
};
template <class Dst, class Src> struct cast_sat_ {
  typedef cast_sat_<Dst, float> from_float;
  static constexpr cast_form_ form = cast_is_sat_;
  static constexpr bool is_of_small_type = sizeof(Src) <= 4;
  static constexpr bool is_stochastic = false;
  MPNUM_INLINE Dst at(Src x, const mpnum_launch_rounding_ &, uint32_t) {
    return cast_<Dst, Src>::sat(x);
  }
};
/* MPNUM_ROUND_UP stands for the one in options; MPNUM_ROUND_STOCHASTIC for any that is
 * stochastic, whose words are its own but for f64, of which variant C looks at all bits.
 */
template <class Dst, class Src, mpnum_rounding rounding> struct cast_rounded_ {
  typedef cast_rounded_<Dst, float, rounding> from_float;
  static constexpr cast_form_ form = cast_is_rounded_;
  static constexpr bool is_of_small_type = sizeof(Src) <= 4;
  static constexpr bool is_stochastic = rounding == MPNUM_ROUND_STOCHASTIC;
  MPNUM_INLINE Dst at(Src x, const mpnum_launch_rounding_ &options, uint32_t random) {
    const bool is_other =
        rounding == MPNUM_ROUND_UP || (is_stochastic && !is_of_small_type);
    return cast_<Dst, Src>::rounded(x, is_other ? options.rounding : rounding,
                                    options.overflow, random);
  }
};

/* Bytes of some elements, in units as large as registers, from which compilers do not
 * take single bytes apart. */
template <unsigned size> struct raw_ { typedef uint32_t unit; };
template <> struct raw_<2> { typedef uint16_t unit; };
template <> struct raw_<3> { typedef uint8_t unit; };
template <> struct raw_<6> : raw_<2> {};
template <unsigned size>
struct alignas(size % MPNUM_ACCESS_BYTES_ == 0
                   ? MPNUM_ACCESS_BYTES_
                   : mpnum_lanes_alignment_<size, uint8_t>::value) raw_bytes_ {
  typename raw_<size>::unit at[size / sizeof(typename raw_<size>::unit)];
};

/* Four elements of an array. */
template <class T> struct four_of_ {
  typedef mpnum_lanes<T, 4 / packed_<T>::count> elements;
  typedef raw_bytes_<sizeof(elements)> type;
};

/* Codes as they lie in an array. */
template <unsigned size> struct joined_ {
  template <class T> MPNUM_INLINE raw_bytes_<4 * size> at(const T *x) {
    return copied_<raw_bytes_<4 * size>>(*reinterpret_cast<const T(*)[4]>(x));
  }
};
template <> struct joined_<1> {
  template <class T> MPNUM_INLINE raw_bytes_<4> at(const T *x) {
    const raw_bytes_<4> joined = {{static_cast<uint32_t>(x[0].bits) |
                                   static_cast<uint32_t>(x[1].bits) << 8 |
                                   static_cast<uint32_t>(x[2].bits) << 16 |
                                   static_cast<uint32_t>(x[3].bits) << 24}};
    return joined;
  }
};
template <> struct joined_<2> {
  template <class T> MPNUM_INLINE raw_bytes_<8> at(const T *x) {
    const raw_bytes_<8> joined = {
        {static_cast<uint32_t>(x[0].bits) | static_cast<uint32_t>(x[1].bits) << 16,
         static_cast<uint32_t>(x[2].bits) | static_cast<uint32_t>(x[3].bits) << 16}};
    return joined;
  }
};
/* Of elements, packed where the array is. */
template <class T> struct four_joined_ {
  MPNUM_INLINE typename four_of_<T>::type at(const T *x) {
    return joined_<sizeof(T)>::at(x);
  }
};
#define MPNUM_FOUR_JOINED_(T, name, packed)                                           \
 template <> struct four_joined_<T> {                                                 \
  MPNUM_INLINE four_of_<T>::type at(const mpnum_##name *x) {                          \
   return copied_<four_of_<T>::type>(mpnum_pack_##name##_x4(x[0], x[1], x[2], x[3])); \
  }                                                                                   \
 };
MPNUM_FOUR_JOINED_(mpnum_e3m2x4, e3m2, e3m2x4)
MPNUM_FOUR_JOINED_(mpnum_e2m3x4, e2m3, e2m3x4)
MPNUM_FOUR_JOINED_(mpnum_e2m1x2, e2m1, e2m1x4)
#undef MPNUM_FOUR_JOINED_

/* As floats. */
template <class T> struct floats_of_ {
  MPNUM_INLINE mpnum_f32x4 at(const typename four_of_<T>::type &x) {
    const mpnum_lanes<T, 4> codes = copied_<mpnum_lanes<T, 4>>(x);
    const mpnum_f32x4 values = {to_float(codes.at[0]), to_float(codes.at[1]),
                                to_float(codes.at[2]), to_float(codes.at[3])};
    return values;
  }
};
template <> struct floats_of_<float> {
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<float>::type &x) {
    return copied_<mpnum_f32x4>(x);
  }
};
#define MPNUM_FLOATS_OF_(T, name, packed)                       \
 template <> struct floats_of_<T> {                             \
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<T>::type &x) {     \
   return mpnum_##name##_to_f32_x4(copied_<mpnum_##packed>(x)); \
  }                                                             \
 };
MPNUM_FLOATS_OF_(mpnum_e5m2, e5m2, e5m2x4)
#if MPNUM_HAS_HW_FP8_
MPNUM_FLOATS_OF_(mpnum_e4m3, e4m3, e4m3x4)
#endif
MPNUM_FLOATS_OF_(mpnum_e3m2x4, e3m2, e3m2x4)
MPNUM_FLOATS_OF_(mpnum_e2m3x4, e2m3, e2m3x4)
#undef MPNUM_FLOATS_OF_
#define MPNUM_FLOATS_OF_PAIRS_(name, unit, a_pair, b_pair)             \
 template <> struct floats_of_<mpnum_##name> {                         \
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<mpnum_##name>::type &x) { \
   const mpnum_##name##x2 low = {static_cast<unit>(a_pair)};           \
   const mpnum_##name##x2 high = {static_cast<unit>(b_pair)};          \
   const mpnum_f32x2 a = mpnum_##name##_to_f32_x2(low);                \
   const mpnum_f32x2 b = mpnum_##name##_to_f32_x2(high);               \
   const mpnum_f32x4 values = {a.x, a.y, b.x, b.y};                    \
   return values;                                                      \
  }                                                                    \
 };
MPNUM_FLOATS_OF_PAIRS_(f16, uint32_t, x.at[0], x.at[1])
MPNUM_FLOATS_OF_PAIRS_(bf16, uint32_t, x.at[0], x.at[1])
MPNUM_FLOATS_OF_PAIRS_(e3m2, uint16_t, x.at[0], x.at[0] >> 16)
MPNUM_FLOATS_OF_PAIRS_(e2m3, uint16_t, x.at[0], x.at[0] >> 16)
#undef MPNUM_FLOATS_OF_PAIRS_

/* To be rounded again, which makes any NaN canonical. */
template <class T> struct floats_to_round_ : floats_of_<T> {};
#if MPNUM_HAS_HW_F16_
template <> struct floats_to_round_<mpnum_f16> {
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<mpnum_f16>::type &x) {
    const mpnum_f32x4 values = {mpnum_cvt_f16_to_f32_any_nan_(x.at[0] & 0xffffu),
                                mpnum_cvt_f16_to_f32_any_nan_(x.at[0] >> 16),
                                mpnum_cvt_f16_to_f32_any_nan_(x.at[1] & 0xffffu),
                                mpnum_cvt_f16_to_f32_any_nan_(x.at[1] >> 16)};
    return values;
  }
};
#endif

/* Bytes of eight, the one that each of the four lowest nibbles of a selector names; of
 * nibbles of 8 and more the sign of it in all bits. */
MPNUM_INLINE uint32_t bytes_at_(uint32_t low, uint32_t high, uint32_t selector) {
  uint32_t chosen = 0;
#if MPNUM_ON_DEVICE_
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(chosen) : "r"(low), "r"(high), "r"(selector));
#else
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t nibble = selector >> 4 * k & 15;
    const uint32_t byte = (nibble & 4 ? high : low) >> 8 * (nibble & 3) & 0xff;
    chosen |= (nibble < 8 ? byte : byte >> 7 ? 0xffu : 0) << 8 * k;
  }
#endif
  return chosen;
}
/* Four e2m1 as f16, of whose magnitudes the low byte is 0; they have no NaN. */
MPNUM_INLINE four_of_<mpnum_f16>::type halves_of_(const four_of_<mpnum_e2m1x2>::type &x) {
  const uint32_t codes = x.at[0];
#if MPNUM_HAS_HW_FP4_
  const uint32_t low = mpnum_cvt_e2m1x2_to_f16x2_(codes);
  const uint32_t high = mpnum_cvt_e2m1x2_to_f16x2_(codes >> 8);
#else
  const uint32_t signs = bytes_at_(0x80808080u, 0x80808080u, codes); /* 80, or ff */
  const uint32_t bytes =
      bytes_at_(0x3e3c3800u, 0x46444240u, codes & 0x7777u) | (signs << 7 & 0x80808080u);
  const uint32_t low = bytes_at_(bytes, 0, 0x1404), high = bytes_at_(bytes, 0, 0x3424);
#endif
  const four_of_<mpnum_f16>::type halves = {{low, high}};
  return halves;
}
template <> struct floats_of_<mpnum_e2m1x2> {
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<mpnum_e2m1x2>::type &x) {
    return floats_to_round_<mpnum_f16>::at(halves_of_(x));
  }
};

#if MPNUM_HAS_HW_FP8_
# define MPNUM_FLOATS_TO_ROUND_OF_(name)                                         \
  template <> struct floats_to_round_<mpnum_##name> {                            \
   MPNUM_INLINE mpnum_f32x4 at(const four_of_<mpnum_##name>::type &x) {          \
    const four_of_<mpnum_f16>::type halves = {                                   \
        {mpnum_cvt_##name##x2_to_f16x2_(static_cast<uint16_t>(x.at[0])),         \
         mpnum_cvt_##name##x2_to_f16x2_(static_cast<uint16_t>(x.at[0] >> 16))}}; \
    return floats_to_round_<mpnum_f16>::at(halves);                              \
   }                                                                             \
  };
MPNUM_FLOATS_TO_ROUND_OF_(e4m3)
MPNUM_FLOATS_TO_ROUND_OF_(e5m2)
# undef MPNUM_FLOATS_TO_ROUND_OF_
#else
template <> struct floats_to_round_<mpnum_e5m2> {
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<mpnum_e5m2>::type &x) {
    const four_of_<mpnum_f16>::type halves = {
        {bytes_at_(x.at[0], 0, 0x1404), bytes_at_(x.at[0], 0, 0x3424)}};
    return floats_to_round_<mpnum_f16>::at(halves);
  }
};
# if MPNUM_HAS_HW_BF16_ || !MPNUM_ON_DEVICE_
/* Two bf16 times 2^120. */
MPNUM_INLINE uint32_t by_2_120_(uint32_t pair) {
#  if MPNUM_ON_DEVICE_
  uint32_t product = 0;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" /* and -0, which changes no sum */
      : "=r"(product)
      : "r"(pair), "r"(0x7b807b80), "r"(0x80008000));
  return product;
#  else
  const float factor = mpnum_from_bits_f32(0x7b800000u);
  const mpnum_bf16x2 packed = {pair};
  const mpnum_f32x2 values = mpnum_bf16_to_f32_x2(packed);
  return mpnum_f32_to_bf16_x2(values.x * factor, values.y * factor).bits;
#  endif
}
/* Four e4m3 as bf16, and all bits of those that are NaN. Bytes of sign and exponent
 * beside bytes of the rest are the values times 2^-120, subnormals too; what would be 480
 * is NaN. */
typedef struct brain_of_e4m3_ {
  uint32_t at[2], is_nan[2];
  MPNUM_INLINE uint32_t number_or_nan(uint32_t number, uint32_t is_nan) {
    return (number & ~is_nan) | (0x7fff7fffu & is_nan);
  }
  MPNUM_INLINE brain_of_e4m3_ of(const four_of_<mpnum_e4m3>::type &x) {
    const uint32_t codes = x.at[0];
    const uint32_t high = (codes & 0x80808080u) | (codes >> 4 & 0x07070707u);
    const uint32_t low = codes << 4 & 0xf0f0f0f0u;
    const uint32_t past = (codes & 0x7f7f7f7fu) + 0x01010101u; /* its sign is NaN's */
    const uint32_t a_nan = bytes_at_(past, 0, 0x9988);
    const uint32_t b_nan = bytes_at_(past, 0, 0xbbaa);
    const uint32_t a = by_2_120_(bytes_at_(low, high, 0x5140));
    const uint32_t b = by_2_120_(bytes_at_(low, high, 0x7362));
    const brain_of_e4m3_ brain = {{number_or_nan(a, a_nan), number_or_nan(b, b_nan)},
                                  {a_nan, b_nan}};
    return brain;
  }
} brain_of_e4m3_;
MPNUM_INLINE four_of_<mpnum_bf16>::type
four_brain_of_(const four_of_<mpnum_e4m3>::type &x) {
  const brain_of_e4m3_ brain = brain_of_e4m3_::of(x);
  const four_of_<mpnum_bf16>::type four = {{brain.at[0], brain.at[1]}};
  return four;
}
template <> struct floats_of_<mpnum_e4m3> {
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<mpnum_e4m3>::type &x) {
    const brain_of_e4m3_ brain = brain_of_e4m3_::of(x);
    const mpnum_f32x4 values = {
        mpnum_from_bits_f32(bytes_at_(brain.at[0], brain.is_nan[0], 0x1044)),
        mpnum_from_bits_f32(bytes_at_(brain.at[0], brain.is_nan[0], 0x3266)),
        mpnum_from_bits_f32(bytes_at_(brain.at[1], brain.is_nan[1], 0x1044)),
        mpnum_from_bits_f32(bytes_at_(brain.at[1], brain.is_nan[1], 0x3266))};
    return values;
  }
};
template <> struct floats_to_round_<mpnum_e4m3> {
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<mpnum_e4m3>::type &x) {
    return floats_of_<mpnum_bf16>::at(four_brain_of_(x));
  }
};
# else
/* As f16 of a bias that is 8 less; its largest, 480, stands for NaN. */
template <> struct floats_of_<mpnum_e4m3> {
  MPNUM_INLINE uint32_t pair(uint32_t high_bytes) {
    const uint32_t moved = (high_bytes & 0x80008000u) | (high_bytes >> 1 & 0x3f803f80u);
    uint32_t halves = 0;
    asm("mul.rn.f16x2 %0, %1, %2;"
        : "=r"(halves)
        : "r"(moved), "r"(0x5c005c00)); /* 256 */
    return halves;
  }
  MPNUM_INLINE float number(float x) {
    const uint32_t bits = mpnum_bits_f32(x);
    return mpnum_from_bits_f32((bits & 0x7fffffffu) == 0x43f00000u ? 0x7fffffffu : bits);
  }
  MPNUM_INLINE mpnum_f32x4 at(const four_of_<mpnum_e4m3>::type &x) {
    const four_of_<mpnum_f16>::type halves = {
        {pair(bytes_at_(x.at[0], 0, 0x1404)), pair(bytes_at_(x.at[0], 0, 0x3424))}};
    const mpnum_f32x4 y = floats_to_round_<mpnum_f16>::at(halves);
    const uint32_t magnitudes = x.at[0] & 0x7f7f7f7fu;
    if (((magnitudes + 0x01010101u) & 0x80808080u) == 0) return y;
    const mpnum_f32x4 numbers = {number(y.x), number(y.y), number(y.z), number(y.w)};
    return numbers;
  }
};
MPNUM_INLINE four_of_<mpnum_bf16>::type
four_brain_of_(const four_of_<mpnum_e4m3>::type &x) {
  const mpnum_f32x4 y = floats_of_<mpnum_e4m3>::at(x);
  const four_of_<mpnum_bf16>::type four = {
      {bytes_at_(mpnum_bits_f32(y.x), mpnum_bits_f32(y.y), 0x7632),
       bytes_at_(mpnum_bits_f32(y.z), mpnum_bits_f32(y.w), 0x7632)}};
  return four;
}
# endif
#endif

/* From floats, plain or saturating, of types that have more than the scalar form. */
template <class T> struct four_from_floats_ { static constexpr bool exists = false; };
#define MPNUM_FOUR_BY_TWOS_(name, form, call, ...)                      \
 MPNUM_INLINE four_of_<mpnum_##name>::type form(const mpnum_f32x4 &x) { \
  const uint32_t a = call(x.x, x.y).bits, b = call(x.z, x.w).bits;      \
  const four_of_<mpnum_##name>::type four = {{__VA_ARGS__}};            \
  return four;                                                          \
 }
#define MPNUM_FOUR_AT_ONCE_(T, form, call)                     \
 MPNUM_INLINE four_of_<T>::type form(const mpnum_f32x4 &x) {   \
  return copied_<four_of_<T>::type>(call(x.x, x.y, x.z, x.w)); \
 }
#define MPNUM_FOUR_FORMS_(T, forms)        \
 template <> struct four_from_floats_<T> { \
  static constexpr bool exists = true;     \
  forms                                    \
 };
#define MPNUM_TWOS_(name)                                         \
 MPNUM_FOUR_BY_TWOS_(name, plain, mpnum_f32_to_##name##_x2, a, b) \
 MPNUM_FOUR_BY_TWOS_(name, sat, mpnum_f32_to_##name##_sat_x2, a, b)
#define MPNUM_FOURS_(name)                                          \
 MPNUM_FOUR_AT_ONCE_(mpnum_##name, plain, mpnum_f32_to_##name##_x4) \
 MPNUM_FOUR_AT_ONCE_(mpnum_##name, sat, mpnum_f32_to_##name##_sat_x4)
MPNUM_FOUR_FORMS_(mpnum_f16, MPNUM_TWOS_(f16))
MPNUM_FOUR_FORMS_(mpnum_bf16, MPNUM_TWOS_(bf16))
MPNUM_FOUR_FORMS_(mpnum_e5m2, MPNUM_FOURS_(e5m2))
MPNUM_FOUR_FORMS_(mpnum_e4m3, MPNUM_FOURS_(e4m3))
MPNUM_FOUR_FORMS_(mpnum_e3m2,
                  MPNUM_FOUR_BY_TWOS_(e3m2, sat, mpnum_f32_to_e3m2_sat_x2, a | b << 16))
MPNUM_FOUR_FORMS_(mpnum_e2m3,
                  MPNUM_FOUR_BY_TWOS_(e2m3, sat, mpnum_f32_to_e2m3_sat_x2, a | b << 16))
MPNUM_FOUR_FORMS_(mpnum_e3m2x4,
                  MPNUM_FOUR_AT_ONCE_(mpnum_e3m2x4, sat, mpnum_f32_to_e3m2_sat_x4))
MPNUM_FOUR_FORMS_(mpnum_e2m3x4,
                  MPNUM_FOUR_AT_ONCE_(mpnum_e2m3x4, sat, mpnum_f32_to_e2m3_sat_x4))
MPNUM_FOUR_FORMS_(mpnum_e2m1x2, MPNUM_FOUR_AT_ONCE_(mpnum_e2m1x2, sat, e2m1_sat_four_))
/* e4m3fnuz by e4m3 of twice the value, of which only those above 232 and NaN have other
 * codes: one more. What is 0 has no sign. */
#if MPNUM_HAS_HW_FP8_ || !MPNUM_ON_DEVICE_
MPNUM_REAL_ uint32_t with_one_more_(uint32_t codes, float x, unsigned place) {
# if MPNUM_ON_DEVICE_
  asm("{\n .reg .pred past;\n .reg .f32 y;\n abs.f32 y, %1;\n"
      " setp.gtu.f32 past, y, 0f43680000;\n @past add.u32 %0, %0, %2;\n}"
      : "+r"(codes)
      : "f"(x), "r"(1u << place));
  return codes;
# else
  return codes + (static_cast<uint32_t>((mpnum_bits_f32(x) & 0x7fffffffu) > 0x43680000u)
                  << place);
# endif
}
template <> struct four_from_floats_<mpnum_e4m3fnuz> {
  static constexpr bool exists = true;
  MPNUM_INLINE raw_bytes_<4> plain(const mpnum_f32x4 &x) {
    const mpnum_e4m3fnuz codes[4] = {
        mpnum_f32_to_e4m3fnuz(x.x), mpnum_f32_to_e4m3fnuz(x.y),
        mpnum_f32_to_e4m3fnuz(x.z), mpnum_f32_to_e4m3fnuz(x.w)};
    return joined_<1>::at(codes);
  }
  MPNUM_REAL_ raw_bytes_<4> sat(const mpnum_f32x4 &x) {
    const float two = mpnum_from_bits_f32(0x40000000u);
    uint32_t codes =
        mpnum_f32_to_e4m3_sat_x4(mpnum_mul_scalar_(x.x, two), mpnum_mul_scalar_(x.y, two),
                                 mpnum_mul_scalar_(x.z, two), mpnum_mul_scalar_(x.w, two))
            .bits;
    codes &= ((codes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | 0x7f7f7f7fu;
    codes = with_one_more_(codes, x.x, 0);
    codes = with_one_more_(codes, x.y, 8);
    codes = with_one_more_(codes, x.z, 16);
    const raw_bytes_<4> four = {{with_one_more_(codes, x.w, 24)}};
    return four;
  }
};
#endif
#undef MPNUM_FOURS_
#undef MPNUM_TWOS_
#undef MPNUM_FOUR_FORMS_
#undef MPNUM_FOUR_AT_ONCE_
#undef MPNUM_FOUR_BY_TWOS_

/* From floats, rounded to nearest even: to floats they are as they are. */
template <class T> struct four_plain_ {
  MPNUM_INLINE typename four_of_<T>::type at(const mpnum_f32x4 &x) {
    return four_from_floats_<T>::plain(x);
  }
};
template <> struct four_plain_<float> {
  MPNUM_INLINE four_of_<float>::type at(const mpnum_f32x4 &x) {
    return copied_<four_of_<float>::type>(x);
  }
};

/* Words index to index + 3 of a seed. */
MPNUM_INLINE mpnum_u32x4 random_four_(const mpnum_random_keys_ &keys, uint64_t index) {
  const mpnum_u32x4 a = mpnum_random_by_(keys, index / 4);
  if (index % 4 == 0) return a;
  const mpnum_u32x4 b = mpnum_random_by_(keys, index / 4 + 1);
  const mpnum_u32x4 by_1 = {a.y, a.z, a.w, b.x}, by_2 = {a.z, a.w, b.x, b.y},
                    by_3 = {a.w, b.x, b.y, b.z};
  return index % 4 == 1 ? by_1 : index % 4 == 2 ? by_2 : by_3;
}

/* Which way four elements go. Doubles are rounded once, so each alone. */
enum four_way_ {
  four_of_halves_,
  four_to_float_,
  four_from_floats_by_form_,
  four_each_,
  four_by_element_
};
/* Between 16 bits and fewer, two at a time, where there are instructions for it. */
template <cast_form_ form, class Dst, class Src> struct four_halves_ {
  static constexpr bool exists = false;
};
#define MPNUM_FOUR_TO_FP8_(name, form, call)                                   \
 template <> struct four_halves_<cast_is_##form##_, mpnum_##name, mpnum_f16> { \
  static constexpr bool exists = MPNUM_HAS_HW_FP8_ || !MPNUM_ON_DEVICE_;       \
  MPNUM_INLINE raw_bytes_<4> at(const raw_bytes_<8> &x) {                      \
   const mpnum_f16x2 low = {x.at[0]}, high = {x.at[1]};                        \
   const uint32_t a = call(low).bits, b = call(high).bits;                     \
   const raw_bytes_<4> codes = {{a | b << 16}};                                \
   return codes;                                                               \
  }                                                                            \
 };
#define MPNUM_FOUR_FROM_FP8_(name)                                                 \
 template <> struct four_halves_<cast_is_plain_, mpnum_f16, mpnum_##name> {        \
  static constexpr bool exists = MPNUM_HAS_HW_FP8_ || !MPNUM_ON_DEVICE_;           \
  MPNUM_INLINE raw_bytes_<8> at(const raw_bytes_<4> &x) {                          \
   const mpnum_##name##x2 low = {static_cast<uint16_t>(x.at[0])};                  \
   const mpnum_##name##x2 high = {static_cast<uint16_t>(x.at[0] >> 16)};           \
   const raw_bytes_<8> codes = {                                                   \
       {mpnum_##name##_to_f16_x2(low).bits, mpnum_##name##_to_f16_x2(high).bits}}; \
   return codes;                                                                   \
  }                                                                                \
 };
MPNUM_FOUR_TO_FP8_(e5m2, plain, mpnum_f16_to_e5m2_x2)
MPNUM_FOUR_TO_FP8_(e5m2, sat, mpnum_f16_to_e5m2_sat_x2)
MPNUM_FOUR_TO_FP8_(e4m3, plain, mpnum_f16_to_e4m3_x2)
MPNUM_FOUR_TO_FP8_(e4m3, sat, mpnum_f16_to_e4m3_sat_x2)
MPNUM_FOUR_FROM_FP8_(e5m2)
MPNUM_FOUR_FROM_FP8_(e4m3)
#undef MPNUM_FOUR_TO_FP8_
#undef MPNUM_FOUR_FROM_FP8_
/* From bf16 to fp8, and from both to fewer bits. */
#if MPNUM_HAS_HW_NARROW_
MPNUM_INLINE raw_bytes_<4> bytes_of_pairs_(uint32_t a, uint32_t b) {
  const raw_bytes_<4> codes = {{a | b << 16}};
  return codes;
}
MPNUM_INLINE raw_bytes_<3> sixes_of_pairs_(uint32_t a, uint32_t b) {
  const uint32_t two =
      (a & 0x3fu) | (a >> 2 & 0xfc0u) | (b & 0x3fu) << 12 | (b << 10 & 0xfc0000u);
  const raw_bytes_<3> codes = {{static_cast<uint8_t>(two), static_cast<uint8_t>(two >> 8),
                                static_cast<uint8_t>(two >> 16)}};
  return codes;
}
# define MPNUM_FOUR_NARROW_(form, T, pair, ...)                              \
  template <> struct four_halves_<cast_is_##form##_, T, mpnum_##pair> {      \
   static constexpr bool exists = true;                                      \
   MPNUM_INLINE four_of_<T>::type at(const raw_bytes_<8> &x) { __VA_ARGS__ } \
  };
# define MPNUM_FOUR_TO_FP8_(form, name, overflow)                                \
  MPNUM_FOUR_NARROW_(                                                            \
      form, mpnum_##name, bf16,                                                  \
      return bytes_of_pairs_(mpnum_cvt_bf16x2_to_##name##x2_(x.at[0], overflow), \
                             mpnum_cvt_bf16x2_to_##name##x2_(x.at[1], overflow));)
MPNUM_FOUR_TO_FP8_(plain, e4m3, MPNUM_OVERFLOW_IEEE)
MPNUM_FOUR_TO_FP8_(sat, e4m3, MPNUM_OVERFLOW_SATURATE)
MPNUM_FOUR_TO_FP8_(plain, e5m2, MPNUM_OVERFLOW_IEEE)
MPNUM_FOUR_TO_FP8_(sat, e5m2, MPNUM_OVERFLOW_SATURATE)
# undef MPNUM_FOUR_TO_FP8_
# define MPNUM_FOUR_TO_FP6_(name, T, pair, joined)                               \
  MPNUM_FOUR_NARROW_(sat, T, pair,                                               \
                     return joined(mpnum_cvt_##pair##x2_to_##name##x2_(x.at[0]), \
                                   mpnum_cvt_##pair##x2_to_##name##x2_(x.at[1]));)
# define MPNUM_FOUR_FROM_HALVES_(pair)                                          \
  MPNUM_FOUR_TO_FP6_(e3m2, mpnum_e3m2, pair, bytes_of_pairs_)                   \
  MPNUM_FOUR_TO_FP6_(e2m3, mpnum_e2m3, pair, bytes_of_pairs_)                   \
  MPNUM_FOUR_TO_FP6_(e3m2, mpnum_e3m2x4, pair, sixes_of_pairs_)                 \
  MPNUM_FOUR_TO_FP6_(e2m3, mpnum_e2m3x4, pair, sixes_of_pairs_)                 \
  MPNUM_FOUR_NARROW_(                                                           \
      sat, mpnum_e2m1x2, pair,                                                  \
      const uint32_t codes = mpnum_cvt_##pair##x2_to_e2m1x4_(x.at[0], x.at[1]); \
      const raw_bytes_<2> four = {{static_cast<uint16_t>(codes)}}; return four;)
MPNUM_FOUR_FROM_HALVES_(f16)
MPNUM_FOUR_FROM_HALVES_(bf16)
# undef MPNUM_FOUR_FROM_HALVES_
# undef MPNUM_FOUR_TO_FP6_
# undef MPNUM_FOUR_NARROW_
#endif
/* And to bf16, where there are none. */
#if !MPNUM_HAS_HW_FP8_
template <> struct four_halves_<cast_is_plain_, mpnum_bf16, mpnum_e4m3> {
  static constexpr bool exists = true;
  MPNUM_INLINE raw_bytes_<8> at(const raw_bytes_<4> &x) { return four_brain_of_(x); }
};
#endif

template <class Cast, class Dst, class Src> struct four_way_of_ {
  static constexpr bool is_double = sizeof(Dst) == 8 || sizeof(Src) == 8;
  static constexpr four_way_ value =
      four_halves_<Cast::form, Dst, Src>::exists ? four_of_halves_
      : is_double                                ? four_by_element_
      : type_of<typename packed_<Dst>::element>::value == MPNUM_TYPE_F32 ? four_to_float_
      : four_from_floats_<Dst>::exists && Cast::form != cast_is_rounded_
          ? four_from_floats_by_form_
          : four_each_;
};

template <class Cast, class Dst, class Src, four_way_ way> struct four_by_;
template <class Cast, class Dst, class Src>
struct four_by_<Cast, Dst, Src, four_of_halves_> {
  MPNUM_INLINE typename four_of_<Dst>::type at(const typename four_of_<Src>::type &x,
                                               const mpnum_launch_rounding_ &,
                                               const mpnum_u32x4 &) {
    return four_halves_<Cast::form, Dst, Src>::at(x);
  }
};
template <class Cast, class Dst, class Src>
struct four_by_<Cast, Dst, Src, four_to_float_> {
  MPNUM_INLINE typename four_of_<Dst>::type at(const typename four_of_<Src>::type &x,
                                               const mpnum_launch_rounding_ &,
                                               const mpnum_u32x4 &) {
    return copied_<typename four_of_<Dst>::type>(floats_of_<Src>::at(x));
  }
};
template <class Dst, bool is_sat> struct four_form_ {
  MPNUM_INLINE typename four_of_<Dst>::type at(const mpnum_f32x4 &x) {
    return four_from_floats_<Dst>::plain(x);
  }
};
template <class Dst> struct four_form_<Dst, true> {
  MPNUM_INLINE typename four_of_<Dst>::type at(const mpnum_f32x4 &x) {
    return four_from_floats_<Dst>::sat(x);
  }
};
template <class Cast, class Dst, class Src>
struct four_by_<Cast, Dst, Src, four_from_floats_by_form_> {
  MPNUM_INLINE typename four_of_<Dst>::type at(const typename four_of_<Src>::type &x,
                                               const mpnum_launch_rounding_ &,
                                               const mpnum_u32x4 &) {
    return four_form_<Dst, Cast::form == cast_is_sat_>::at(floats_to_round_<Src>::at(x));
  }
};
/* Of floats, one by one. */
template <class Cast, class Dst> struct four_floats_ {
  MPNUM_INLINE typename four_of_<Dst>::type at(const mpnum_f32x4 &x,
                                               const mpnum_launch_rounding_ &options,
                                               const mpnum_u32x4 &random) {
    const typename packed_<Dst>::element codes[4] = {
        Cast::at(x.x, options, random.x), Cast::at(x.y, options, random.y),
        Cast::at(x.z, options, random.z), Cast::at(x.w, options, random.w)};
    return four_joined_<Dst>::at(codes);
  }
};
/* Of a form for each overflow, by random words. */
template <class Forms, class Dst> struct four_by_overflow_ {
  MPNUM_INLINE typename four_of_<Dst>::type at(const mpnum_f32x4 &x,
                                               const mpnum_launch_rounding_ &options,
                                               const mpnum_u32x4 &random) {
    return options.overflow == MPNUM_OVERFLOW_SATURATE
               ? Forms::template all<true>(x, random)
               : Forms::template all<false>(x, random);
  }
};
/* bf16 at random are the upper halves of floats, of which the lower ones and those of
 * words carry: 16 bits, as a word's lower half meets zeros. */
struct four_carried_ {
  template <bool saturates> MPNUM_INLINE uint32_t carried(float x, uint32_t random) {
    const uint32_t bits = mpnum_bits_f32(x), sign = bits & 0x80000000u;
    uint32_t sum = bits + (random >> 16);
    if (saturates && sum - sign > 0x7f7fffffu) sum = sign | 0x7f7fffffu;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : sum;
  }
  template <bool saturates>
  MPNUM_INLINE four_of_<mpnum_bf16>::type all(const mpnum_f32x4 &x,
                                              const mpnum_u32x4 &random) {
    const four_of_<mpnum_bf16>::type four = {
        {bytes_at_(carried<saturates>(x.x, random.x), carried<saturates>(x.y, random.y),
                   0x7632),
         bytes_at_(carried<saturates>(x.z, random.z), carried<saturates>(x.w, random.w),
                   0x7632)}};
    return four;
  }
};
template <>
struct four_floats_<cast_rounded_<mpnum_bf16, float, MPNUM_ROUND_STOCHASTIC>, mpnum_bf16>
    : four_by_overflow_<four_carried_, mpnum_bf16> {};
#if MPNUM_HAS_HW_FP8_ || !MPNUM_ON_DEVICE_
template <class Dst> struct four_rounded_ {
  template <bool saturates>
  MPNUM_REAL_ raw_bytes_<4> all(const mpnum_f32x4 &x, const mpnum_u32x4 &random) {
    float y[4] = {x.x, x.y, x.z, x.w};
    round_four_by_<type_of<Dst>::value>(y, random);
    const mpnum_f32x4 rounded = {y[0], y[1], y[2], y[3]};
    return four_form_<Dst, saturates>::at(rounded);
  }
};
template <>
struct four_floats_<cast_rounded_<mpnum_e4m3, float, MPNUM_ROUND_STOCHASTIC>, mpnum_e4m3>
    : four_by_overflow_<four_rounded_<mpnum_e4m3>, mpnum_e4m3> {};
template <>
struct four_floats_<cast_rounded_<mpnum_e5m2, float, MPNUM_ROUND_STOCHASTIC>, mpnum_e5m2>
    : four_by_overflow_<four_rounded_<mpnum_e5m2>, mpnum_e5m2> {};
#endif
template <class Cast, class Dst, class Src> struct four_by_<Cast, Dst, Src, four_each_> {
  MPNUM_INLINE typename four_of_<Dst>::type at(const typename four_of_<Src>::type &x,
                                               const mpnum_launch_rounding_ &options,
                                               const mpnum_u32x4 &random) {
    return four_floats_<typename Cast::from_float, Dst>::at(floats_to_round_<Src>::at(x),
                                                            options, random);
  }
};
template <class Cast, class Dst, class Src>
struct four_by_<Cast, Dst, Src, four_by_element_> {
  MPNUM_INLINE typename four_of_<Dst>::type at(const typename four_of_<Src>::type &x,
                                               const mpnum_launch_rounding_ &options,
                                               const mpnum_u32x4 &random) {
    enum { src_count = packed_<Src>::count };
    const uint32_t words[4] = {random.x, random.y, random.z, random.w};
    const typename four_of_<Src>::elements in =
        copied_<typename four_of_<Src>::elements>(x);
    typename packed_<Dst>::element codes[4];
    MPNUM_UNROLL_
    for (unsigned i = 0; i < 4; ++i)
      codes[i] = Cast::at(packed_<Src>::unpack(in.at[i / src_count], i % src_count),
                          options, words[i]);
    return four_joined_<Dst>::at(codes);
  }
};

/* Whether a conversion to a type is an instruction of the target, or little more. */
template <class Cast, class Dst> struct is_short_ {
  static constexpr mpnum_type type = type_of<typename packed_<Dst>::element>::value;
  static constexpr bool value =
      !Cast::is_stochastic && Cast::is_of_small_type &&
      (type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_TF32 ||
       (type == MPNUM_TYPE_F16 && MPNUM_HAS_HW_F16_) ||
       (type == MPNUM_TYPE_BF16 && MPNUM_HAS_HW_BF16_) ||
       ((type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E4M3) && MPNUM_HAS_HW_FP8_) ||
       (type == MPNUM_TYPE_E4M3FNUZ && Cast::form == cast_is_sat_ && MPNUM_HAS_HW_FP8_) ||
       ((type == MPNUM_TYPE_E3M2 || type == MPNUM_TYPE_E2M3) && MPNUM_HAS_HW_FP6_) ||
       (type == MPNUM_TYPE_E2M1 && MPNUM_HAS_HW_FP4_));
  /* And by random words. */
  static constexpr bool by_words =
      Cast::is_stochastic && Cast::is_of_small_type &&
      (type == MPNUM_TYPE_BF16 ||
       ((type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E4M3) && MPNUM_HAS_HW_FP8_));
};

/* Four elements; the first takes random word number index. */
template <class Cast, class Dst, class Src>
MPNUM_INLINE typename four_of_<Dst>::type four_(const typename four_of_<Src>::type &x,
                                                const mpnum_launch_rounding_ &options,
                                                uint64_t index) {
  mpnum_u32x4 random = {0, 0, 0, 0};
  if (Cast::is_stochastic) {
    random = random_four_(options.keys, index);
    if (options.rounding != MPNUM_ROUND_STOCHASTIC) {
      random.x = mpnum_random_word_(options.rounding, random.x);
      random.y = mpnum_random_word_(options.rounding, random.y);
      random.z = mpnum_random_word_(options.rounding, random.z);
      random.w = mpnum_random_word_(options.rounding, random.w);
    }
  }
  return four_by_<Cast, Dst, Src, four_way_of_<Cast, Dst, Src>::value>::at(x, options,
                                                                           random);
}

} // namespace mpnum

MPNUM_C_END_
#endif

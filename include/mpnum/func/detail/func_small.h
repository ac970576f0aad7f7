/* SPDX-License-Identifier: MIT */
/* How func.h gives f16 and bf16 the code nearest to a function's value: by the float
 * function where that is far enough from the middle of two codes, else by wide.h. */
#ifndef MPNUM_FUNC_DETAIL_FUNC_SMALL_H
#define MPNUM_FUNC_DETAIL_FUNC_SMALL_H

#include "../../types/bf16.h"
#include "../../types/f16.h"
#include "angle.h"
#include "function_table.h"
#include "../../simd/detail/f32_ops.h"

#include "../../simd/detail/operations.inc"
MPNUM_C_BEGIN_
#if MPNUM_ASKS_FMA_
# define MPNUM_ISA_HERE_ 6
#else
# define MPNUM_ISA_HERE_ 0
#endif
#include "../../simd/detail/isa_begin.inc"
#include "func.inc"
#if MPNUM_ASKS_FMA_
# define MPNUM_ISA_HERE_ 7
# include "../../simd/detail/isa_begin.inc"
# include "func.inc"
#endif

#if MPNUM_ASKS_FMA_
/* Each with the instruction where the CPU has it. */
# define MPNUM_ROW_(name, ...)                                            \
  MPNUM_HOST_COLD_ float mpnum_##name##_slowly_(float x) {                \
   return mpnum_##name##_emulated_(x);                                    \
  }                                                                       \
  MPNUM_REAL_ float mpnum_##name##_scalar_(float x) {                     \
   return mpnum_cpu_isa_() >= MPNUM_ISA_AVX2 ? mpnum_##name##_fused_(x)   \
                                             : mpnum_##name##_slowly_(x); \
  }
# define MPNUM_ROW_OF_TWO_(name, ...)                                        \
  MPNUM_HOST_COLD_ float mpnum_##name##_slowly_(float a, float b) {          \
   return mpnum_##name##_emulated_(a, b);                                    \
  }                                                                          \
  MPNUM_REAL_ float mpnum_##name##_scalar_(float a, float b) {               \
   return mpnum_cpu_isa_() >= MPNUM_ISA_AVX2 ? mpnum_##name##_fused_(a, b)   \
                                             : mpnum_##name##_slowly_(a, b); \
  }
MPNUM_FUNCTION_ROWS_(MPNUM_ROW_)
MPNUM_ROW_(exp_of_negative, EXP_OF_NEGATIVE)
MPNUM_FUNCTION_ROWS_OF_TWO_(MPNUM_ROW_OF_TWO_)
# undef MPNUM_ROW_
# undef MPNUM_ROW_OF_TWO_
#endif

#if MPNUM_ASKS_FMA_
MPNUM_HOST_COLD_ void mpnum_sincos_slowly_(float x, float *sine, float *cosine) {
  const mpnum_sine_emulated_ both = mpnum_sincos_emulated_(x);
  *sine = both.sine;
  *cosine = both.cosine;
}
#endif
MPNUM_REAL_ void mpnum_sincos_of_(float x, float *sine, float *cosine) {
#if MPNUM_ASKS_FMA_
  if (mpnum_cpu_isa_() < MPNUM_ISA_AVX2) {
    mpnum_sincos_slowly_(x, sine, cosine);
  } else {
    const mpnum_sine_fused_ both = mpnum_sincos_fused_(x);
    *sine = both.sine;
    *cosine = both.cosine;
  }
#else
  const mpnum_sine_scalar_ both = mpnum_sincos_scalar_(x);
  *sine = both.sine;
  *cosine = both.cosine;
#endif
}

MPNUM_REAL_ float mpnum_float_of_(mpnum_function_ function, float x) {
#define MPNUM_ROW_(name, NAME, ...) \
case MPNUM_FUNCTION_##NAME##_: return mpnum_##name##_scalar_(x);
  switch (function) {
    MPNUM_FUNCTION_ROWS_(MPNUM_ROW_)
  default: return x;
  }
#undef MPNUM_ROW_
}
/* x is finite, not 0 and in the domain. */
MPNUM_RARE_ mpnum_wide_ mpnum_wide_of_(mpnum_function_ function, mpnum_wide_ x) {
#define MPNUM_ROW_(name, NAME, ...) \
case MPNUM_FUNCTION_##NAME##_: return mpnum_wide_##name##_(x);
  switch (function) {
    MPNUM_FUNCTION_ROWS_(MPNUM_ROW_)
  default: return x;
  }
#undef MPNUM_ROW_
}

MPNUM_REAL_ uint32_t mpnum_nearest_code_(mpnum_format format, uint32_t y,
                                         mpnum_overflow overflow) {
  return mpnum_encode(format, mpnum_from_bits_f32(y), MPNUM_ROUND_NEAREST_EVEN, overflow,
                      0);
}
/* The code nearest to a function's value. The float y is off by less than ulps,
 * whatever the environment; where all floats that near it have one code, that is it. */
MPNUM_REAL_ int mpnum_is_decided_(mpnum_format format, uint32_t y, uint32_t ulps,
                                  mpnum_overflow overflow, uint32_t *code) {
  const uint32_t sign = y & 0x80000000u, magnitude = y ^ sign;
  const uint32_t last = (uint32_t)1 << (23 - format.mantissa_bits);
  const uint32_t normal = (uint32_t)(128 - format.bias) << 23; /* smallest one */
  uint32_t low = 0, high = 0x7f800000u;
  *code = mpnum_nearest_code_(format, y, overflow);
  if (ulps > 0x007fffffu) return 0; /* the sign is open, too */
  if (magnitude >= normal && magnitude < 0x7f000000u)
    return ((magnitude - (last / 2 - ulps)) & (last - 1)) > 2 * ulps;
  if (magnitude > ulps) low = magnitude - ulps;
  if (magnitude < high - ulps) high = magnitude + ulps;
  return *code == mpnum_nearest_code_(format, sign | low, overflow) &&
         *code == mpnum_nearest_code_(format, sign | high, overflow);
}
/* Whether a float may have been flushed to zero: one is subnormal, or could be off from
 * being so, and the environment flushes. */
MPNUM_REAL_ int mpnum_may_vanish_(mpnum_format format, uint32_t x, uint32_t y) {
#if MPNUM_HAS_MSVC_ && !MPNUM_ON_DEVICE_
  volatile float least; /* not a constant, which steps do not hide there */
#else
  float least;
#endif
  float half_of_it, sum;
  if (format.bias != 127 ||
      ((x & 0x7fffffffu) >= 0x03800000u /* 2^-120 */ && (y & 0x7fffffffu) >= 0x03800000u))
    return 0;
  least = mpnum_add_scalar_(mpnum_from_bits_f32(0x00800000u), 0.0f); /* not a constant */
  half_of_it = mpnum_mul_scalar_(least, 0.5f);     /* 0 if results are flushed */
  sum = mpnum_add_scalar_(half_of_it, half_of_it); /* 0 if arguments are */
  return mpnum_bits_f32(sum) != 0x00800000u;
}
MPNUM_REAL_ uint32_t mpnum_code_of_wide_(mpnum_format format, mpnum_wide_ value,
                                         mpnum_overflow overflow) {
  return mpnum_nearest_code_(format, mpnum_wide_to_f32_(value), overflow);
}
MPNUM_RARE_ uint32_t mpnum_wide_code_(mpnum_format format, mpnum_function_ function,
                                      uint32_t x, mpnum_overflow overflow) {
  return mpnum_code_of_wide_(format, mpnum_wide_of_(function, mpnum_wide_f32_(x)),
                             overflow);
}
/* Of a derivative that changes its sign: the floats between which its error is an
 * absolute one. */
typedef struct mpnum_near_root_ {
  uint32_t from, to;
} mpnum_near_root_;
MPNUM_REAL_ mpnum_near_root_ mpnum_root_of_(mpnum_function_ function) {
  const mpnum_near_root_ silu = {0xbf900000u, 0xbfc00000u}; /* -1.125, -1.5 */
  const mpnum_near_root_ gelu = {0xbf000000u, 0xbf800000u}; /* -0.5, -1 */
  const mpnum_near_root_ none = {0xffffffffu, 0};
  if (function == MPNUM_FUNCTION_SILU_DERIVATIVE_) return silu;
  if (function == MPNUM_FUNCTION_GELU_DERIVATIVE_ ||
      function == MPNUM_FUNCTION_GELU_TANH_DERIVATIVE_)
    return gelu;
  return none;
}
/* Ulps that the float functions may be off, with room for directed rounding. Near a
 * root the absolute error is below 2^-24. */
MPNUM_REAL_ uint32_t mpnum_ulps_(mpnum_function_ function, uint32_t x, uint32_t y) {
  const mpnum_near_root_ root = mpnum_root_of_(function);
  const uint32_t field = y >> 23 & 0xff;
  if (x < root.from || x > root.to) return 16; /* all, where there is none */
  return field < 103 ? 0x00800000u : field > 122 ? 16 : (uint32_t)1 << (126 - field);
}
/* Whether y, what the float function makes of x, decides the code. */
MPNUM_REAL_ int mpnum_float_decides_(mpnum_format format, mpnum_function_ function,
                                     uint32_t x, uint32_t y, mpnum_overflow overflow,
                                     uint32_t *code) {
  const uint32_t magnitude = x & 0x7fffffffu;
  if (magnitude == 0 || magnitude >= 0x7f800000u || (y & 0x7fffffffu) > 0x7f800000u) {
    *code = mpnum_nearest_code_(format, y, overflow);
    return 1;
  }
  return !mpnum_may_vanish_(format, x, y) &&
         mpnum_is_decided_(format, y, mpnum_ulps_(function, x, y), overflow, code);
}
MPNUM_REAL_ uint32_t mpnum_function_code_(mpnum_format format, mpnum_function_ function,
                                          uint32_t x, mpnum_overflow overflow) {
  const uint32_t y = mpnum_bits_f32(mpnum_float_of_(function, mpnum_from_bits_f32(x)));
  uint32_t code = 0;
  if (mpnum_float_decides_(format, function, x, y, overflow, &code)) return code;
  return mpnum_wide_code_(format, function, x, overflow);
}
MPNUM_REAL_ mpnum_f16 mpnum_f16_function_(mpnum_function_ function, mpnum_f16 x,
                                          mpnum_overflow overflow) {
  const mpnum_f16 y = {
      (uint16_t)mpnum_function_code_(mpnum_format_of(MPNUM_TYPE_F16), function,
                                     mpnum_bits_f32(mpnum_f16_to_f32(x)), overflow)};
  return y;
}
MPNUM_REAL_ mpnum_bf16 mpnum_bf16_function_(mpnum_function_ function, mpnum_bf16 x,
                                            mpnum_overflow overflow) {
  const mpnum_bf16 y = {(uint16_t)mpnum_function_code_(
      mpnum_format_of(MPNUM_TYPE_BF16), function, (uint32_t)x.bits << 16, overflow)};
  return y;
}
/* For logarithms that saturate: the smallest positive argument instead of a zero. */
MPNUM_REAL_ float mpnum_positive_f32_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  return mpnum_from_bits_f32(mpnum_iszero_u31_(bits & 0x7fffffffu) ? 1 : bits);
}
MPNUM_REAL_ mpnum_f16 mpnum_positive_f16_(mpnum_f16 x) {
  const mpnum_f16 y = {(uint16_t)((x.bits & 0x7fff) == 0 ? 1 : x.bits)};
  return y;
}
MPNUM_REAL_ mpnum_bf16 mpnum_positive_bf16_(mpnum_bf16 x) {
  const mpnum_bf16 y = {(uint16_t)((x.bits & 0x7fff) == 0 ? 1 : x.bits)};
  return y;
}
MPNUM_REAL_ float mpnum_saturated_(float y) {
  const uint32_t bits = mpnum_bits_f32(y);
  return mpnum_from_bits_f32(bits - (uint32_t)((bits & 0x7fffffffu) == 0x7f800000u));
}

/* --- two arguments --- */

MPNUM_REAL_ float mpnum_float_of_two_(mpnum_function_ function, float a, float b) {
#define MPNUM_ROW_(name, NAME, ...) \
case MPNUM_FUNCTION_##NAME##_: return mpnum_##name##_scalar_(a, b);
  switch (function) {
    MPNUM_FUNCTION_ROWS_OF_TWO_(MPNUM_ROW_)
  default: return a;
  }
#undef MPNUM_ROW_
}
MPNUM_MATH_ mpnum_wide_ mpnum_wide_logaddexp_(mpnum_wide_ a, mpnum_wide_ b) {
  const mpnum_wide_ difference = mpnum_wide_sub_(a, b);
  return mpnum_wide_add_(difference.negative ? b : a,
                         mpnum_wide_softplus_(mpnum_wide_make_(difference.significand,
                                                               difference.exponent, 1)));
}
/* a and b are finite; not 0 where a zero is special. */
MPNUM_RARE_ mpnum_wide_ mpnum_wide_of_two_(mpnum_function_ function, mpnum_wide_ a,
                                           mpnum_wide_ b) {
  switch (function) {
  case MPNUM_FUNCTION_LOGADDEXP_: return mpnum_wide_logaddexp_(a, b);
  case MPNUM_FUNCTION_SWIGLU_:
    return mpnum_wide_mul_(mpnum_wide_of_(MPNUM_FUNCTION_SILU_, a), b);
  case MPNUM_FUNCTION_GEGLU_:
    return mpnum_wide_mul_(mpnum_wide_of_(MPNUM_FUNCTION_GELU_, a), b);
  case MPNUM_FUNCTION_POW_: return mpnum_wide_pow_(a, b);
  default: return a;
  }
}
/* Whether the float function gives the code: Inf, NaN, zeros but for a sum. */
MPNUM_REAL_ int mpnum_is_special_(mpnum_function_ function, uint32_t x) {
  const uint32_t magnitude = x & 0x7fffffffu;
  return magnitude >= 0x7f800000u ||
         (magnitude == 0 && function != MPNUM_FUNCTION_LOGADDEXP_);
}
/* Of swiglu and geglu: above these bits of a float a gate is nearly closed, so that the
 * factor may be subnormal and the product is not precise; from the others on it makes
 * zeros of all floats. */
typedef struct mpnum_closing_gate_ {
  uint32_t from, to;
} mpnum_closing_gate_;
MPNUM_REAL_ mpnum_closing_gate_ mpnum_closing_gate_of_(mpnum_function_ function) {
  const mpnum_closing_gate_ silu = {0xc2a00000u, 0xc33e0000u}; /* -80, -190 */
  const mpnum_closing_gate_ gelu = {0xc1480000u, 0xc1980000u}; /* -12.5, -19 */
  const mpnum_closing_gate_ none = {0xffffffffu, 0xffffffffu};
  return function == MPNUM_FUNCTION_SWIGLU_  ? silu
         : function == MPNUM_FUNCTION_GEGLU_ ? gelu
                                             : none;
}
MPNUM_REAL_ int mpnum_is_gated_(mpnum_function_ function) {
  return function == MPNUM_FUNCTION_SWIGLU_ || function == MPNUM_FUNCTION_GEGLU_;
}
/* Ulps that the float y may be off, with room for directed rounding; of a sum 16 and
 * 2^-20, as its parts may cancel; 2^23 where a factor may be subnormal, which makes a
 * zero of any f16. */
MPNUM_REAL_ uint32_t mpnum_ulps_of_two_(mpnum_format format, mpnum_function_ function,
                                        uint32_t a, uint32_t y) {
  const uint32_t field = y >> 23 & 0xff;
  if (mpnum_is_gated_(function) && format.bias == 127 &&
      (a > mpnum_closing_gate_of_(function).from ||
       (a & 0x7fffffffu) < 0x03800000u /* 2^-120 */))
    return 0x00800000u;
  if (function == MPNUM_FUNCTION_LOGADDEXP_)
    return field < 108 ? 0x00800000u : field > 125 ? 32 : (uint32_t)1 << (131 - field);
  return function == MPNUM_FUNCTION_POW_ ? 32 : 16;
}
/* A gate that is open or tiny is a, or half of it, but for less than 2^-24: so a product
 * of two such numbers, of which more than 22 bits are 0, is on one side of any middle of
 * two codes. 0 where it is neither. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_plain_gate_(mpnum_function_ function, uint32_t a) {
  const mpnum_wide_ x = mpnum_wide_f32_(a);
  const int is_tiny = (a & 0x7fffffffu) < 0x33800000u; /* 2^-24 */
  if (!is_tiny && !(a < 0x80000000u &&
                    a > (function == MPNUM_FUNCTION_GEGLU_ ? 0x40b00000u    /* 5.5 */
                                                           : 0x41880000u))) /* 17 */
    return mpnum_wide_int_(0);
  if (is_tiny && !x.negative)
    return mpnum_wide_make_(x.significand | 1, x.exponent - 1, 0);
  return mpnum_wide_normal_(x.significand - 1, x.exponent - is_tiny, x.negative);
}
/* A gate that is closing, to 2^-17: a e^a, or the density and its tail's series, whose
 * exponent's quarter is a float. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_closing_gate_(mpnum_function_ function, uint32_t a) {
  const float x = mpnum_from_bits_f32(a), square = mpnum_mul_scalar_(x, x);
  const int is_gelu = function == MPNUM_FUNCTION_GEGLU_;
  const float quarter =
      is_gelu ? mpnum_mul_scalar_(square, -0.125f) : mpnum_mul_scalar_(x, 0.25f);
  const mpnum_wide_ root = mpnum_wide_f32_(mpnum_bits_f32(mpnum_exp_scalar_(quarter)));
  const mpnum_wide_ square_of_it = mpnum_wide_mul_(root, root);
  float factor = x;
  if (is_gelu) {
    const float s = mpnum_div_scalar_(-1.0f, square);
    factor = mpnum_add_scalar_(3.0f, mpnum_mul_scalar_(15.0f, s));
    factor = mpnum_add_scalar_(1.0f, mpnum_mul_scalar_(factor, s));
    factor = mpnum_add_scalar_(1.0f, mpnum_mul_scalar_(factor, s));
    factor = mpnum_mul_scalar_(factor, -0.39894228f); /* 1 / sqrt(2 pi) */
  }
  return mpnum_wide_mul_(mpnum_wide_mul_(square_of_it, square_of_it),
                         mpnum_wide_f32_(mpnum_bits_f32(factor)));
}
MPNUM_RARE_ uint32_t mpnum_wide_code_of_two_(mpnum_format format,
                                             mpnum_function_ function, uint32_t a,
                                             uint32_t b, mpnum_overflow overflow) {
  const mpnum_wide_ second = mpnum_wide_f32_(b);
  if (mpnum_is_gated_(function)) {
    const mpnum_closing_gate_ closing = mpnum_closing_gate_of_(function);
    const mpnum_wide_ gate = mpnum_wide_plain_gate_(function, a);
    if (gate.significand)
      return mpnum_code_of_wide_(format, mpnum_wide_mul_(gate, second), overflow);
    if (a > closing.from && a < closing.to) {
      const mpnum_wide_ value =
          mpnum_wide_mul_(mpnum_wide_closing_gate_(function, a), second);
      const uint64_t digits = value.significand >> 1 | 1, off = digits >> 17;
      const uint32_t code = mpnum_code_of_wide_(
          format, mpnum_wide_normal_(digits - off, value.exponent + 1, value.negative),
          overflow);
      if (code == mpnum_code_of_wide_(format,
                                      mpnum_wide_normal_(digits + off, value.exponent + 1,
                                                         value.negative),
                                      overflow))
        return code;
    }
  }
  return mpnum_code_of_wide_(
      format, mpnum_wide_of_two_(function, mpnum_wide_f32_(a), second), overflow);
}
/* A subnormal factor of a zero or Inf as 1 with its sign, which a flushed one may lose.
 */
MPNUM_REAL_ uint32_t mpnum_beside_special_(uint32_t x, uint32_t other) {
  const uint32_t magnitude = other & 0x7fffffffu;
  const int is_subnormal = (x & 0x7fffffffu) - 1 < 0x007fffffu;
  return is_subnormal && (magnitude == 0 || magnitude == 0x7f800000u)
             ? (x & 0x80000000u) | 0x3f800000u
             : x;
}
MPNUM_REAL_ uint32_t mpnum_function_code_of_two_(mpnum_format format,
                                                 mpnum_function_ function, uint32_t a,
                                                 uint32_t b, mpnum_overflow overflow) {
  const int is_gated = mpnum_is_gated_(function);
  const uint32_t first = is_gated ? mpnum_beside_special_(a, b) : a;
  const uint32_t second = is_gated ? mpnum_beside_special_(b, a) : b;
  const uint32_t y = mpnum_bits_f32(mpnum_float_of_two_(
      function, mpnum_from_bits_f32(first), mpnum_from_bits_f32(second)));
  uint32_t code = 0;
  if (mpnum_is_special_(function, a) || mpnum_is_special_(function, b) ||
      (y & 0x7fffffffu) > 0x7f800000u)
    return mpnum_nearest_code_(format, y, overflow);
  if (!mpnum_may_vanish_(format, a, y) && !mpnum_may_vanish_(format, b, y) &&
      mpnum_is_decided_(format, y, mpnum_ulps_of_two_(format, function, a, y), overflow,
                        &code))
    return code;
  return mpnum_wide_code_of_two_(format, function, a, b, overflow);
}
MPNUM_REAL_ mpnum_f16 mpnum_f16_function_of_two_(mpnum_function_ function, mpnum_f16 a,
                                                 mpnum_f16 b) {
  const mpnum_f16 y = {(uint16_t)mpnum_function_code_of_two_(
      mpnum_format_of(MPNUM_TYPE_F16), function, mpnum_bits_f32(mpnum_f16_to_f32(a)),
      mpnum_bits_f32(mpnum_f16_to_f32(b)), MPNUM_OVERFLOW_IEEE)};
  return y;
}
MPNUM_REAL_ mpnum_bf16 mpnum_bf16_function_of_two_(mpnum_function_ function, mpnum_bf16 a,
                                                   mpnum_bf16 b) {
  const mpnum_bf16 y = {(uint16_t)mpnum_function_code_of_two_(
      mpnum_format_of(MPNUM_TYPE_BF16), function, (uint32_t)a.bits << 16,
      (uint32_t)b.bits << 16, MPNUM_OVERFLOW_IEEE)};
  return y;
}
MPNUM_C_END_
#endif

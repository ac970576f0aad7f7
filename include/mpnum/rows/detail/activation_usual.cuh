/* SPDX-License-Identifier: MIT */
/* Activations and their derivatives of the usual x: numbers of no large magnitude, for
 * which the functions of func.h take fewer steps and have the same bits. CUDA C++11;
 * NVRTC for all of it. */
#ifndef MPNUM_ROWS_DETAIL_ACTIVATION_USUAL_CUH
#define MPNUM_ROWS_DETAIL_ACTIVATION_USUAL_CUH

#include "activation_loops.h"
#include "../../cuda/detail/inverse.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* Two floats, of which some devices have steps that are one instruction; each rounds
 * once. The same steps of one float, so that functions are written once. */
struct twin_ {
  float a, b;
};
#if MPNUM_HAS_HW_F32X2_
# define MPNUM_TWIN_STEP_(name, instruction, scalar)                        \
  static __device__ __forceinline__ twin_ name(twin_ x, twin_ y) {          \
   twin_ z;                                                                 \
   asm("{\n .reg .b64 x, y;\n mov.b64 x, {%2, %3};\n mov.b64 y, {%4, "      \
       "%5};\n " instruction ".rn.f32x2 x, x, y;\n mov.b64 {%0, %1}, x;\n}" \
       : "=f"(z.a), "=f"(z.b)                                               \
       : "f"(x.a), "f"(x.b), "f"(y.a), "f"(y.b));                           \
   return z;                                                                \
  }                                                                         \
  static __device__ __forceinline__ float name(float x, float y) { return scalar(x, y); }
static __device__ __forceinline__ twin_ fma_(twin_ x, twin_ y, twin_ z) {
  twin_ sum;
  asm("{\n .reg .b64 x, y, z;\n mov.b64 x, {%2, %3};\n mov.b64 y, {%4, %5};\n"
      " mov.b64 z, {%6, %7};\n fma.rn.f32x2 x, x, y, z;\n mov.b64 {%0, %1}, x;\n}"
      : "=f"(sum.a), "=f"(sum.b)
      : "f"(x.a), "f"(x.b), "f"(y.a), "f"(y.b), "f"(z.a), "f"(z.b));
  return sum;
}
#else
# define MPNUM_TWIN_STEP_(name, instruction, scalar)               \
  static __device__ __forceinline__ twin_ name(twin_ x, twin_ y) { \
   const twin_ z = {scalar(x.a, y.a), scalar(x.b, y.b)};           \
   return z;                                                       \
  }                                                                \
  static __device__ __forceinline__ float name(float x, float y) { return scalar(x, y); }
static __device__ __forceinline__ twin_ fma_(twin_ x, twin_ y, twin_ z) {
  const twin_ sum = {mpnum_fma_scalar_(x.a, y.a, z.a), mpnum_fma_scalar_(x.b, y.b, z.b)};
  return sum;
}
#endif
MPNUM_TWIN_STEP_(plus_, "add", mpnum_add_scalar_)
MPNUM_TWIN_STEP_(less_, "sub", mpnum_sub_scalar_)
MPNUM_TWIN_STEP_(times_, "mul", mpnum_mul_scalar_)
#undef MPNUM_TWIN_STEP_
static __device__ __forceinline__ float fma_(float x, float y, float z) {
  return mpnum_fma_scalar_(x, y, z);
}
/* What has no such instruction, of each. */
template <class Step> struct each_ {
  static __device__ __forceinline__ float of(float x, uint32_t by) {
    return Step::of(x, by);
  }
  static __device__ __forceinline__ twin_ of(twin_ x, uint32_t by) {
    const twin_ y = {Step::of(x.a, by), Step::of(x.b, by)};
    return y;
  }
};
struct minus_step_ {
  static __device__ __forceinline__ float of(float x, uint32_t) {
    return mpnum_minus_(x);
  }
};
struct at_most_step_ {
  static __device__ __forceinline__ float of(float x, uint32_t high) {
    return mpnum_clamped_above_scalar_(x, high);
  }
};
struct masked_step_ {
  static __device__ __forceinline__ float of(float x, uint32_t mask) {
    return mpnum_f32_of_scalar_(mpnum_bits_of_scalar_(x) & mask);
  }
};
struct power_step_ {
  static __device__ __forceinline__ float of(float x, uint32_t less) {
    return mpnum_f32_of_scalar_((mpnum_bits_of_scalar_(x) << 10) - less);
  }
};
struct near_inverse_step_ {
  static __device__ __forceinline__ float of(float x, uint32_t) {
    return mpnum_near_inverse_(x);
  }
};
template <class R> static __device__ __forceinline__ R minus_(R x) {
  return each_<minus_step_>::of(x, 0);
}
/* A constant by its bits. */
template <class R> struct constant_;
template <> struct constant_<float> {
  static __device__ __forceinline__ float of(uint32_t bits) {
    return mpnum_constant_scalar_(bits);
  }
};
template <> struct constant_<twin_> {
  static __device__ __forceinline__ twin_ of(uint32_t bits) {
    const twin_ x = {mpnum_constant_scalar_(bits), mpnum_constant_scalar_(bits)};
    return x;
  }
};

struct below_zero_step_ {
  static __device__ __forceinline__ float of(float x, uint32_t) {
    return mpnum_f32_of_scalar_(mpnum_bits_of_scalar_(x) | 0x80000000u);
  }
};
/* As mpnumv_whole_near, with 2^n where that is normal, and mpnumv_rest_of. */
template <class R> struct usual_whole_ { R n, power; };
template <class R>
static __device__ __forceinline__ usual_whole_<R> usual_whole_near_(R x) {
  typedef constant_<R> constant;
  const R cut = each_<masked_step_>::of(
      fma_(x, constant::of(0x3fb8aa3bu), constant::of(0x44dfd000u)), 0xffffe000u);
  const usual_whole_<R> whole = {less_(cut, constant::of(0x44dfc000u)),
                                 each_<power_step_>::of(cut, 0x3f800000u)};
  return whole;
}
template <class R> static __device__ __forceinline__ R usual_rest_of_(R x, R n) {
  typedef constant_<R> constant;
  return fma_(n, constant::of(0x3102e308u), fma_(n, constant::of(0xbf317218u), x));
}
/* As mpnum_usual_inverse_. */
template <class R> static __device__ __forceinline__ R usual_inverse_(R x) {
  const R y = each_<near_inverse_step_>::of(x, 0);
  return fma_(y, fma_(minus_(x), y, constant_<R>::of(0x3f800000u)), y);
}
/* As mpnumv_decay_slope, and mpnumv_gated of mpnumv_logistic_by. */
template <class R> static __device__ __forceinline__ R usual_decay_slope_(R r) {
  typedef constant_<R> constant;
  R sum = fma_(constant::of(0xbab237d0u), r, constant::of(0x3c09241bu));
  sum = fma_(sum, r, constant::of(0xbd2ab0b3u));
  sum = fma_(sum, r, constant::of(0x3e2aaa3du));
  sum = fma_(sum, r, constant::of(0xbefffff8u));
  return fma_(sum, r, constant::of(0x3f800000u));
}
template <class R> static __device__ __forceinline__ R usual_gated_(R x, R r, R power) {
  const R one = constant_<R>::of(0x3f800000u), minus_one = constant_<R>::of(0xbf800000u);
  const R slope = usual_decay_slope_(r);
  const R minus_sum = fma_(slope, r, less_(minus_one, power));
  const R lost = fma_(slope, r, less_(less_(minus_one, minus_sum), power));
  const R ratio = usual_inverse_(minus_(minus_sum));
  const R rest = fma_(ratio, lost, fma_(ratio, minus_sum, one));
  const R product = fma_(x, ratio, times_(x, times_(ratio, rest)));
  return times_(product, power);
}
/* |x| at most 87. */
template <class R> static __device__ __forceinline__ R usual_silu_(R x) {
  const R t = each_<at_most_step_>::of(x, 0x41980000u); /* 19 */
  const usual_whole_<R> whole = usual_whole_near_(t);
  return usual_gated_(x, usual_rest_of_(t, whole.n), whole.power);
}
/* As mpnumv_minus_square and those that take it. is_short: x has 12 bits at most, so that
 * its square is exact. */
template <class R> struct usual_two_ { R high, low; };
template <bool is_short, class R>
static __device__ __forceinline__ usual_two_<R> usual_minus_square_(R x) {
  usual_two_<R> square;
  square.high = times_(x, minus_(x));
  square.low = is_short ? constant_<R>::of(0) : minus_(fma_(x, x, square.high));
  return square;
}
template <bool is_short, class R>
static __device__ __forceinline__ usual_two_<R>
usual_cubic_factor_(usual_two_<R> square, uint32_t factor, uint32_t rest) {
  typedef constant_<R> constant;
  const R high = constant::of(0xbfcc4000u), by = constant::of(factor);
  usual_two_<R> sum;
  sum.high = fma_(square.high, by, high);
  sum.low = fma_(square.high, by, less_(high, sum.high));
  sum.low = fma_(square.high, constant::of(rest), sum.low);
  if (!is_short) sum.low = fma_(square.low, by, sum.low);
  sum.low = plus_(sum.low, constant::of(0xb88a67a8u));
  return sum;
}
template <bool is_short, class R>
static __device__ __forceinline__ usual_two_<R> usual_cubic_(R x, usual_two_<R> square) {
  const usual_two_<R> factor =
      usual_cubic_factor_<is_short>(square, 0x3d922279u, 0x3124d8b5u);
  usual_two_<R> u;
  u.high = times_(minus_(x), factor.high);
  u.low = fma_(x, factor.low, fma_(x, factor.high, u.high));
  return u;
}
/* |x| at most 10, as below. */
template <bool is_short, class R>
static __device__ __forceinline__ R usual_gelu_tanh_(R x) {
  const R t = each_<at_most_step_>::of(x, 0x40c00000u); /* 6 */
  const usual_two_<R> u = usual_cubic_<is_short>(t, usual_minus_square_<is_short>(t));
  const usual_whole_<R> whole = usual_whole_near_(u.high);
  return usual_gated_(x, less_(usual_rest_of_(u.high, whole.n), u.low), whole.power);
}
/* Of x that are bf16: floats with the nearest bf16 of the functions above, by fewer steps
 * and not their bits. All such x have been tried, with approximations off by one either
 * way. */
static __device__ __forceinline__ float usual_near_(float x, float u) {
  const float minus_one = mpnum_constant_scalar_(0xbf800000u);
  const usual_whole_<float> whole = usual_whole_near_(u);
  const float r =
      mpnum_fma_scalar_(whole.n, mpnum_constant_scalar_(0xbf317218u), u); /* log 2 */
  const float minus_sum = mpnum_fma_scalar_(usual_decay_slope_(r), r,
                                            mpnum_sub_scalar_(minus_one, whole.power));
  return mpnum_mul_scalar_(
      mpnum_mul_scalar_(x, mpnum_usual_inverse_(mpnum_minus_(minus_sum))), whole.power);
}
static __device__ __forceinline__ float usual_near_silu_(float x) {
  return usual_near_(x, mpnum_clamped_above_scalar_(x, 0x41980000u)); /* 19 */
}
static __device__ __forceinline__ float usual_near_gelu_tanh_(float x) {
  const float t = mpnum_clamped_above_scalar_(x, 0x40c00000u); /* 6 */
  const float minus_square = mpnum_mul_scalar_(t, mpnum_minus_(t));
  const float minus_factor =
      mpnum_fma_scalar_(minus_square, mpnum_constant_scalar_(0x3d922279u),
                        mpnum_constant_scalar_(0xbfcc422au)); /* -sqrt(8 / pi) */
  return usual_near_(x, mpnum_mul_scalar_(mpnum_minus_(t), minus_factor));
}
/* As mpnumv_decay_of_sum, e^(x + low) of x at most 0, and mpnumv_decay_of. */
template <class R> struct usual_decay_ {
  R power;
  usual_two_<R> fraction;
};
template <bool has_low, class R>
static __device__ __forceinline__ usual_decay_<R> usual_decay_of_(R x, R low) {
  typedef constant_<R> constant;
  const R one = constant::of(0x3f800000u);
  const usual_whole_<R> whole = usual_whole_near_(x);
  const R high = fma_(whole.n, constant::of(0xbf317218u), x);
  const R lowest = times_(whole.n, constant::of(0x3102e308u));
  const R rest = has_low ? plus_(lowest, low) : lowest;
  const R r = plus_(high, rest), base = plus_(one, high);
  R bend = fma_(constant::of(0x3ab56bb7u), r, constant::of(0x3c091fa9u));
  bend = fma_(bend, r, constant::of(0x3d2aac26u)); /* as mpnumv_exp_bend */
  bend = fma_(bend, r, constant::of(0x3e2aaa45u));
  bend = fma_(bend, r, constant::of(0x3efffffeu));
  const R lower = plus_(plus_(less_(one, base), high), fma_(times_(r, r), bend, rest));
  usual_decay_<R> decay;
  decay.power = whole.power;
  decay.fraction.high = plus_(base, lower);
  decay.fraction.low = plus_(less_(base, decay.fraction.high), lower);
  return decay;
}
template <class R>
static __device__ __forceinline__ usual_two_<R> usual_one_more_(usual_decay_<R> decay) {
  const R one = constant_<R>::of(0x3f800000u);
  usual_two_<R> sum;
  sum.high = fma_(decay.fraction.high, decay.power, one);
  sum.low = fma_(decay.fraction.low, decay.power,
                 fma_(decay.fraction.high, decay.power, less_(one, sum.high)));
  return sum;
}
/* a where x is below 0, else b. */
static __device__ __forceinline__ float usual_below_(float x, float a, float b) {
  return x < 0 ? a : b;
}
static __device__ __forceinline__ twin_ usual_below_(twin_ x, twin_ a, twin_ b) {
  const twin_ y = {usual_below_(x.a, a.a, b.a), usual_below_(x.b, a.b, b.b)};
  return y;
}
/* The quotient of one of both by the square of sum, times a power below 0. */
template <class R>
static __device__ __forceinline__ R usual_slope_of_(R x, R below, R above,
                                                    usual_two_<R> sum, R power) {
  const R one = constant_<R>::of(0x3f800000u), part = usual_below_(x, below, above);
  const R square = fma_(sum.high, sum.high, times_(plus_(sum.high, sum.high), sum.low));
  const R inverse = usual_inverse_(square), q = times_(part, inverse);
  const R ratio = fma_(fma_(minus_(square), q, part), inverse, q);
  return times_(ratio, usual_below_(x, power, one));
}
/* |x| at most 87. */
template <class R> static __device__ __forceinline__ R usual_silu_slope_(R x) {
  const R t = each_<below_zero_step_>::of(x, 0);
  const usual_decay_<R> decay = usual_decay_of_<false>(t, t);
  const usual_two_<R> sum = usual_one_more_(decay);
  const R fraction = decay.fraction.high;
  return usual_slope_of_(x, fma_(fraction, plus_(x, sum.high), times_(fraction, sum.low)),
                         fma_(times_(x, decay.power), fraction, sum.high), sum,
                         decay.power);
}
/* As mpnumv_gated_slope. |x| at most 10, as below. */
template <bool is_short, class R>
static __device__ __forceinline__ R usual_gelu_tanh_slope_(R x) {
  const usual_two_<R> square = usual_minus_square_<is_short>(x);
  const usual_two_<R> minus_slope =
      usual_cubic_factor_<is_short>(square, 0x3e5b33b6u, 0xaf8baf10u);
  usual_two_<R> slope;
  slope.high = plus_(minus_(minus_slope.high), minus_(minus_slope.low));
  slope.low = plus_(less_(minus_(minus_slope.high), slope.high), minus_(minus_slope.low));
  const usual_two_<R> u =
      usual_cubic_<is_short>(each_<below_zero_step_>::of(x, 0), square);
  const usual_decay_<R> decay = usual_decay_of_<true>(u.high, minus_(u.low));
  const usual_two_<R> sum = usual_one_more_(decay);
  const R fraction = decay.fraction.high;
  const R above = fma_(times_(times_(x, slope.high), decay.power), fraction, sum.high);
  const R below = fma_(fraction, fma_(x, slope.high, sum.high),
                       times_(fraction, fma_(x, slope.low, sum.low)));
  return usual_slope_of_(x, below, above, sum, decay.power);
}

/* Floats between which the derivative is, close to each other: of |x| up to 9 that are
 * bf16, all of which have been tried, as above. It is the logistic function of u and a
 * part, x du/dx times a product of that with what it leaves of 1. */
struct usual_bounds_ {
  float low, high;
};
static __device__ __forceinline__ usual_bounds_ usual_gelu_tanh_bounds_(float x) {
  const float off = mpnum_constant_scalar_(0x34c00000u);  /* 1.5 2^-22 */
  const float root = mpnum_constant_scalar_(0x3fcc422au); /* sqrt(8 / pi) */
  const float minus_one = mpnum_constant_scalar_(0xbf800000u);
  const float square = mpnum_mul_scalar_(x, x);
  const float u = mpnum_mul_scalar_(
      x, mpnum_fma_scalar_(square, mpnum_constant_scalar_(0x3d922279u), root));
  const float v = mpnum_mul_scalar_(
      x, mpnum_fma_scalar_(square, mpnum_constant_scalar_(0x3e5b33b6u), root));
  const usual_whole_<float> whole = usual_whole_near_(u);
  const float r = usual_rest_of_(u, whole.n);
  const float minus_e = mpnum_fma_scalar_(usual_decay_slope_(r), r, minus_one);
  const float ratio = mpnum_usual_inverse_(mpnum_sub_scalar_(whole.power, minus_e));
  const float value = mpnum_mul_scalar_(ratio, whole.power);
  const float minus_rest = mpnum_mul_scalar_(minus_e, ratio);
  const float part =
      mpnum_mul_scalar_(mpnum_mul_scalar_(v, value), mpnum_minus_(minus_rest));
  const float slope = mpnum_add_scalar_(value, part);
  const float error = mpnum_fma_scalar_(
      part, u, mpnum_add_scalar_(value, mpnum_magnitude_(part))); /* in units of off */
  const usual_bounds_ bounds = {mpnum_fma_scalar_(error, mpnum_minus_(off), slope),
                                mpnum_fma_scalar_(error, off, slope)};
  return bounds;
}

} // namespace mpnum

MPNUM_C_END_
#endif

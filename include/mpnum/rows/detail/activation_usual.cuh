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

#if MPNUM_ASKS_FMA_ /* hosts that compile kernels for a device alone */
static __device__ __forceinline__ float usual_silu_(float x) {
  return mpnum_silu_scalar_(x);
}
template <bool> static __device__ __forceinline__ float usual_gelu_tanh_(float x) {
  return mpnum_gelu_tanh_scalar_(x);
}
static __device__ __forceinline__ float usual_near_silu_(float x) {
  return mpnum_silu_scalar_(x);
}
static __device__ __forceinline__ float usual_near_gelu_tanh_(float x) {
  return mpnum_gelu_tanh_scalar_(x);
}
static __device__ __forceinline__ float usual_silu_slope_(float x) {
  return mpnum_silu_derivative_scalar_(x);
}
template <bool> static __device__ __forceinline__ float usual_gelu_tanh_slope_(float x) {
  return mpnum_gelu_tanh_derivative_scalar_(x);
}
struct usual_bounds_ {
  float low, high;
};
static __device__ __forceinline__ usual_bounds_ usual_gelu_tanh_bounds_(float) {
  return usual_bounds_();
}
#else
/* As mpnumv_gated of mpnumv_logistic_by, where 2^n is normal. */
static __device__ __forceinline__ float usual_gated_(float x, float r,
                                                     mpnum_whole_scalar_ whole) {
  const float minus_one = mpnum_constant_scalar_(0xbf800000u);
  const float power = mpnum_f32_of_scalar_((whole.bits << 10) - 0x3f800000u);
  const float slope = mpnum_decay_slope_scalar_(r);
  const float minus_sum =
      mpnum_fma_scalar_(slope, r, mpnum_sub_scalar_(minus_one, power));
  const float lost = mpnum_fma_scalar_(
      slope, r, mpnum_sub_scalar_(mpnum_sub_scalar_(minus_one, minus_sum), power));
  const float ratio = mpnum_usual_inverse_(mpnum_minus_(minus_sum));
  const float rest = mpnum_fma_scalar_(
      ratio, lost,
      mpnum_fma_scalar_(ratio, minus_sum, mpnum_constant_scalar_(0x3f800000u)));
  const float product =
      mpnum_fma_scalar_(x, ratio, mpnum_mul_scalar_(x, mpnum_mul_scalar_(ratio, rest)));
  return mpnum_mul_scalar_(product, power);
}
/* |x| at most 87. */
static __device__ __forceinline__ float usual_silu_(float x) {
  const float t = mpnum_clamped_above_scalar_(x, 0x41980000u); /* 19 */
  const mpnum_whole_scalar_ whole = mpnum_whole_near_scalar_(t);
  return usual_gated_(x, mpnum_rest_of_scalar_(t, whole.n), whole);
}
/* As mpnumv_minus_square and those that take it. is_short: x has 12 bits at most, so that
 * its square is exact. */
template <bool is_short>
static __device__ __forceinline__ mpnum_two_scalar_ usual_minus_square_(float x) {
  if (!is_short) return mpnum_minus_square_scalar_(x);
  mpnum_two_scalar_ square;
  square.high = mpnum_mul_scalar_(x, mpnum_minus_(x));
  square.low = 0;
  return square;
}
template <bool is_short>
static __device__ __forceinline__ mpnum_two_scalar_
usual_cubic_factor_(mpnum_two_scalar_ square, uint32_t factor, uint32_t rest) {
  if (!is_short) return mpnum_cubic_factor_scalar_(square, factor, rest);
  const float high = mpnum_constant_scalar_(0xbfcc4000u);
  const float by = mpnum_constant_scalar_(factor);
  mpnum_two_scalar_ sum;
  sum.high = mpnum_fma_scalar_(square.high, by, high);
  sum.low = mpnum_fma_scalar_(square.high, by, mpnum_sub_scalar_(high, sum.high));
  sum.low = mpnum_fma_scalar_(square.high, mpnum_constant_scalar_(rest), sum.low);
  sum.low = mpnum_add_scalar_(sum.low, mpnum_constant_scalar_(0xb88a67a8u));
  return sum;
}
template <bool is_short>
static __device__ __forceinline__ mpnum_two_scalar_
usual_cubic_(float x, mpnum_two_scalar_ square) {
  const mpnum_two_scalar_ factor =
      usual_cubic_factor_<is_short>(square, 0x3d922279u, 0x3124d8b5u);
  mpnum_two_scalar_ u;
  u.high = mpnum_mul_scalar_(mpnum_minus_(x), factor.high);
  u.low = mpnum_fma_scalar_(x, factor.low, mpnum_fma_scalar_(x, factor.high, u.high));
  return u;
}
/* |x| at most 10, as below. */
template <bool is_short>
static __device__ __forceinline__ float usual_gelu_tanh_(float x) {
  const float t = mpnum_clamped_above_scalar_(x, 0x40c00000u); /* 6 */
  const mpnum_two_scalar_ u = usual_cubic_<is_short>(t, usual_minus_square_<is_short>(t));
  const mpnum_whole_scalar_ whole = mpnum_whole_near_scalar_(u.high);
  return usual_gated_(x, mpnum_sub_scalar_(mpnum_rest_of_scalar_(u.high, whole.n), u.low),
                      whole);
}
/* Of x that are bf16: floats with the nearest bf16 of the functions above, by fewer steps
 * and not their bits. All such x have been tried, with approximations off by one either
 * way. */
static __device__ __forceinline__ float usual_near_(float x, float u) {
  const float minus_one = mpnum_constant_scalar_(0xbf800000u);
  const mpnum_whole_scalar_ whole = mpnum_whole_near_scalar_(u);
  const float r =
      mpnum_fma_scalar_(whole.n, mpnum_constant_scalar_(0xbf317218u), u); /* log 2 */
  const float power = mpnum_f32_of_scalar_((whole.bits << 10) - 0x3f800000u);
  const float minus_sum = mpnum_fma_scalar_(mpnum_decay_slope_scalar_(r), r,
                                            mpnum_sub_scalar_(minus_one, power));
  return mpnum_mul_scalar_(
      mpnum_mul_scalar_(x, mpnum_usual_inverse_(mpnum_minus_(minus_sum))), power);
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
/* As mpnumv_gated_slope, where 2^n is normal. */
static __device__ __forceinline__ float
usual_gated_slope_(float x, mpnum_decay_scalar_ decay, mpnum_two_scalar_ slope) {
  const bool is_below = x < 0;
  const float one = mpnum_constant_scalar_(0x3f800000u);
  const float power = mpnum_f32_of_scalar_(decay.shift + 0x3f800000u);
  const mpnum_two_scalar_ sum = mpnum_one_more_scalar_(decay, power);
  const float fraction = decay.fraction.high;
  const float above = mpnum_fma_scalar_(
      mpnum_mul_scalar_(mpnum_mul_scalar_(x, slope.high), power), fraction, sum.high);
  const float low = mpnum_fma_scalar_(x, slope.low, sum.low);
  const float below =
      mpnum_fma_scalar_(fraction, mpnum_fma_scalar_(x, slope.high, sum.high),
                        mpnum_mul_scalar_(fraction, low));
  const float ratio =
      mpnum_usual_quotient_(is_below ? below : above, mpnum_square_of_scalar_(sum));
  return mpnum_mul_scalar_(ratio, is_below ? power : one);
}
/* |x| at most 87. */
static __device__ __forceinline__ float usual_silu_slope_(float x) {
  const bool is_below = x < 0;
  const float one = mpnum_constant_scalar_(0x3f800000u);
  const mpnum_decay_scalar_ decay = mpnum_decay_of_scalar_(x);
  const float power = mpnum_f32_of_scalar_(decay.shift + 0x3f800000u);
  const mpnum_two_scalar_ sum = mpnum_one_more_scalar_(decay, power);
  const float fraction = decay.fraction.high;
  const float above = mpnum_fma_scalar_(mpnum_mul_scalar_(x, power), fraction, sum.high);
  const float below = mpnum_fma_scalar_(fraction, mpnum_add_scalar_(x, sum.high),
                                        mpnum_mul_scalar_(fraction, sum.low));
  const float ratio =
      mpnum_usual_quotient_(is_below ? below : above, mpnum_square_of_scalar_(sum));
  return mpnum_mul_scalar_(ratio, is_below ? power : one);
}
/* |x| at most 10, as below. */
template <bool is_short>
static __device__ __forceinline__ float usual_gelu_tanh_slope_(float x) {
  const mpnum_two_scalar_ square = usual_minus_square_<is_short>(x);
  const mpnum_two_scalar_ minus_slope =
      usual_cubic_factor_<is_short>(square, 0x3e5b33b6u, 0xaf8baf10u);
  const mpnum_two_scalar_ slope =
      mpnum_joined_scalar_(mpnum_minus_(minus_slope.high), mpnum_minus_(minus_slope.low));
  const mpnum_two_scalar_ u = usual_cubic_<is_short>(mpnum_below_zero_scalar_(x), square);
  return usual_gated_slope_(x, mpnum_decay_of_sum_scalar_(u.high, mpnum_minus_(u.low)),
                            slope);
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
  const mpnum_whole_scalar_ whole = mpnum_whole_near_scalar_(u);
  const float r = mpnum_rest_of_scalar_(u, whole.n);
  const float power = mpnum_f32_of_scalar_((whole.bits << 10) - 0x3f800000u);
  const float minus_e = mpnum_fma_scalar_(mpnum_decay_slope_scalar_(r), r, minus_one);
  const float ratio = mpnum_usual_inverse_(mpnum_sub_scalar_(power, minus_e));
  const float value = mpnum_mul_scalar_(ratio, power);
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
#endif

} // namespace mpnum

MPNUM_C_END_
#endif

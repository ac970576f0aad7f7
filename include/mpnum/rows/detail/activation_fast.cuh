/* SPDX-License-Identifier: MIT */
/* Activations and their derivatives by the approximate instructions of GPUs (fast.h).
 * CUDA C++11; NVRTC for all of it. */
#ifndef MPNUM_ROWS_DETAIL_ACTIVATION_FAST_CUH
#define MPNUM_ROWS_DETAIL_ACTIVATION_FAST_CUH

#include "../../func/fast.h"
#include "activation_tiles.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

enum {
  gate_fast_ = 8, /* added to a kind */
  gate_fast_silu_ = gate_fast_ + gate_silu_,
  gate_fast_gelu_tanh_ = gate_fast_ + gate_gelu_tanh_
};
static __device__ __forceinline__ float gate_clamped_(float x, uint32_t limit) {
  return mpnum_clamped_above_scalar_(mpnum_clamped_below_scalar_(x, limit | 0x80000000u),
                                     limit);
}
/* s (1 + w (1 - s)), s the fraction of x that the activation is, w as large as x times
 * the derivative of what goes into s; -0 at -Inf. The x in w is cut off where s is 0
 * or 1. */
static __device__ __forceinline__ float gate_fast_slope_(float s, float w) {
  const float one = mpnum_constant_scalar_(0x3f800000u);
  return mpnum_mul_scalar_(s, mpnum_fma_scalar_(w, mpnum_sub_scalar_(one, s), one));
}
template <> struct gate_usual_<gate_fast_silu_> {
  static constexpr bool has_twins = false;
  enum : uint32_t { most = 0xffffffffu };
  static __device__ __forceinline__ float near_value(const gate_ &, float x) {
    return mpnum_silu_fast_f32(x);
  }
  template <bool is_short>
  static __device__ __forceinline__ float value(const gate_ &, float x) {
    return mpnum_silu_fast_f32(x);
  }
  template <bool is_short>
  static __device__ __forceinline__ float slope(const gate_ &, float x) {
    return gate_fast_slope_(mpnum_sigmoid_fast_f32(x),
                            gate_clamped_(x, 0x41a00000u)); /* 20 */
  }
};
template <> struct gate_usual_<gate_fast_gelu_tanh_> {
  static constexpr bool has_twins = false;
  enum : uint32_t { most = 0xffffffffu };
  static __device__ __forceinline__ float near_value(const gate_ &, float x) {
    return mpnum_gelu_tanh_fast_f32(x);
  }
  template <bool is_short>
  static __device__ __forceinline__ float value(const gate_ &, float x) {
    return mpnum_gelu_tanh_fast_f32(x);
  }
  template <bool is_short>
  static __device__ __forceinline__ float slope(const gate_ &, float x) {
    const float cut = gate_clamped_(x, 0x40a00000u); /* 5 */
    const float by = mpnum_fma_scalar_(mpnum_mul_scalar_(cut, cut),
                                       mpnum_constant_scalar_(0x3e5b33b6u),
                                       mpnum_constant_scalar_(0x3fcc422au));
    return gate_fast_slope_(mpnum_fast_gelu_fraction_(x), mpnum_mul_scalar_(cut, by));
  }
};
template <>
__device__ __forceinline__ float gate_value_<gate_fast_silu_>(const gate_ &gate,
                                                              float x) {
  if (!gate.has_alpha) return mpnum_silu_fast_f32(x);
  return mpnum_mul_scalar_(mpnum_silu_fast_f32(mpnum_mul_scalar_(x, gate.alpha)),
                           gate.inverse);
}
template <>
__device__ __forceinline__ float gate_value_<gate_fast_gelu_tanh_>(const gate_ &,
                                                                   float x) {
  return mpnum_gelu_tanh_fast_f32(x);
}
template <>
__device__ __forceinline__ float gate_slope_<gate_fast_silu_>(const gate_ &gate,
                                                              float x) {
  return gate_usual_<gate_fast_silu_>::slope<false>(
      gate, gate.has_alpha ? mpnum_mul_scalar_(x, gate.alpha) : x);
}
template <>
__device__ __forceinline__ float gate_slope_<gate_fast_gelu_tanh_>(const gate_ &gate,
                                                                   float x) {
  return gate_usual_<gate_fast_gelu_tanh_>::slope<false>(gate, x);
}
#if MPNUM_ON_DEVICE_
/* Codes are not made of what is not finite, as x times its fraction at -Inf. */
template <class Q>
struct gate_usual_to_<gate_fast_silu_, norm_codes_<Q>> : gate_usual_<gate_fast_silu_> {
  template <bool is_short>
  static __device__ __forceinline__ float value(const gate_ &, float x) {
    return mpnum_mul_scalar_(x, mpnum_sigmoid_fast_f32(x));
  }
};
template <class Q>
struct gate_usual_to_<gate_fast_gelu_tanh_, norm_codes_<Q>>
    : gate_usual_<gate_fast_gelu_tanh_> {
  template <bool is_short>
  static __device__ __forceinline__ float value(const gate_ &, float x) {
    return mpnum_mul_scalar_(x, mpnum_fast_gelu_fraction_(x));
  }
};
#endif
/* The kind of an activation of a launch; is_fast: SILU for those that have none. */
template <bool is_fast, int kind> struct gate_chosen_ {
  static constexpr int value = !is_fast                  ? kind
                               : kind == gate_gelu_tanh_ ? +gate_fast_gelu_tanh_
                                                         : +gate_fast_silu_;
};

} // namespace mpnum

MPNUM_C_END_
#endif

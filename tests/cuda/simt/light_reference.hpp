/* SPDX-License-Identifier: MIT */
/* What activations by approximate instructions are where hosts stand for a GPU: the light
 * forms, as a function of the options, and derivatives of floats. */
#ifndef MPNUM_TESTS_LIGHT_REFERENCE_HPP
#define MPNUM_TESTS_LIGHT_REFERENCE_HPP

#include <mpnum/func/light.h>
#include <mpnum/rows/activation_rows.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr float ALPHA = 1.702f;
inline void silu_of_alpha(float *y, const float *x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    y[i] = x[i] * ALPHA;
  mpnum_silu_light_f32_array(y, y, n);
  for (std::size_t i = 0; i < n; ++i)
    y[i] = y[i] * (1 / ALPHA);
}
inline mpnum_activation_options lighter_of(mpnum_activation activation,
                                           mpnum_activation_options options) {
  options.function = activation == MPNUM_ACTIVATION_GELU_TANH
                         ? mpnum_gelu_tanh_light_f32_array
                     : options.alpha == ALPHA ? silu_of_alpha
                                              : mpnum_silu_light_f32_array;
  options.alpha = 0;
  return options;
}
/* s (1 + x v' (1 - s)), s the logistic function of v; x is cut off at 20 and 5. */
inline float fast_slope(float s, float x, float by) {
  return s * std::fma(x * by, 1 - s, 1.0f);
}
inline float fast_silu_slope(float x) {
  return fast_slope(mpnum_sigmoid_light_f32(x), std::max(-20.0f, std::min(x, 20.0f)), 1);
}
inline float fast_gelu_tanh_slope(float x) {
  const float cut = std::max(-5.0f, std::min(x, 5.0f));
  const float v = x * std::fma(x * x, 0.071354814f, 1.59576912f);
  return fast_slope(mpnum_sigmoid_light_f32(v), cut,
                    std::fma(cut * cut, 0.21406445f, 1.59576912f));
}

} // namespace

#endif

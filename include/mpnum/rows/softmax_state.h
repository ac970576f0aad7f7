/* SPDX-License-Identifier: MIT */
/* The softmax of a row that comes in parts: a state of the largest element and the sum
 * so far.
 *
 *     mpnum_softmax_state state = mpnum_softmax_state_empty();
 *     for (i = 0; i < n; i += 64)
 *       state = mpnum_softmax_add_tile(state, scores + i, 64, scale);
 *     weight = mpnum_softmax_weight(state, scores[k], scale);
 *
 * Domain: scale finite, 0 or above, the same in all calls of a row. NaN: a NaN element
 *   makes all results NaN. Error: docs/softmax.md. Host and device. */
#ifndef MPNUM_ROWS_SOFTMAX_STATE_H
#define MPNUM_ROWS_SOFTMAX_STATE_H

#include "../func/func.h"
MPNUM_C_BEGIN_

/* The largest element so far and the sum of e^((x - max) scale); -Inf and 0 for no
 * elements. An element that is -Inf counts as masked, so results are those of rows with
 * MPNUM_SOFTMAX_MASKED. */
typedef struct mpnum_softmax_state {
  float max, sum;
} mpnum_softmax_state;

/* Returns the state of no elements. */
MPNUM_MATH_ mpnum_softmax_state mpnum_softmax_state_empty(void) {
  const mpnum_softmax_state state = {mpnum_from_bits_f32(0xff800000u), 0};
  return state;
}
/* Returns the larger one; +0 is above -0; the canonical NaN if one is NaN. */
MPNUM_REAL_ float mpnum_larger_(float a, float b) {
#if MPNUM_CLAMPS_NAN_
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  const uint32_t bits_a = mpnum_bits_f32(a), bits_b = mpnum_bits_f32(b);
  const uint32_t larger = mpnum_order_(bits_a) > mpnum_order_(bits_b) ? bits_a : bits_b;
  if (mpnum_isnan_f32(a) || mpnum_isnan_f32(b)) return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_from_bits_f32(larger);
#endif
}
/* Returns sum e^((from - to) scale), for from <= to. */
MPNUM_REAL_ float mpnum_rescaled_(float sum, float from, float to, float scale) {
  const uint32_t from_bits = mpnum_bits_f32(from);
  if (from_bits == mpnum_bits_f32(to)) return sum;
  if (from_bits == 0xff800000u || mpnum_bits_f32(to) == 0x7f800000u) return 0;
  if (mpnum_iszero_u31_(mpnum_bits_f32(scale) & 0x7fffffffu)) return sum;
  return mpnum_mul_scalar_(
      sum, mpnum_exp_scalar_(mpnum_mul_scalar_(mpnum_sub_scalar_(from, to), scale)));
}
/* Merges the states of two parts of a row. Commutative to the bit, not associative:
 * merge in a fixed order where results must be reproducible. */
MPNUM_MATH_ mpnum_softmax_state mpnum_softmax_merge(mpnum_softmax_state a,
                                                    mpnum_softmax_state b, float scale) {
  const mpnum_softmax_state empty = mpnum_softmax_state_empty();
  mpnum_softmax_state state = empty;
  state.max = mpnum_larger_(a.max, b.max);
  if (mpnum_isnan_f32(state.max)) {
    state.sum = state.max;
  } else if (mpnum_bits_f32(state.max) != mpnum_bits_f32(empty.max)) {
    state.sum = mpnum_add_scalar_(mpnum_rescaled_(a.sum, a.max, state.max, scale),
                                  mpnum_rescaled_(b.sum, b.max, state.max, scale));
  }
  return state;
}
/* Adds one element. n elements added one by one are off by n roundings: for a long row
 * merge the states of its parts. */
MPNUM_MATH_ mpnum_softmax_state mpnum_softmax_add(mpnum_softmax_state state, float x,
                                                  float scale) {
  const mpnum_softmax_state one = {x, mpnum_bits_f32(x) == 0xff800000u ? 0.0f : 1.0f};
  return mpnum_softmax_merge(state, one, scale);
}
/* Returns the number of elements that are +Inf, or, if scale is 0, of those that are not
 * -Inf. */
MPNUM_MATH_ float mpnum_softmax_count_(const float *x, int n, int is_infinite) {
  float count = 0;
  int i = 0;
  for (; i < n; ++i) {
    const uint32_t bits = mpnum_bits_f32(x[i]);
    if (is_infinite ? bits == 0x7f800000u : bits != 0xff800000u)
      count = mpnum_add_scalar_(count, mpnum_from_bits_f32(0x3f800000u));
  }
  return count;
}
/* Returns the largest of these and of n elements; +0 is above -0; NaN if one is NaN. */
MPNUM_REAL_ float mpnum_largest_(float largest, const float *x, int n) {
  int i = 0;
#if MPNUM_CLAMPS_NAN_
  for (; i < n; ++i)
    largest = mpnum_larger_(largest, x[i]);
  return largest;
#else
  uint32_t above = mpnum_order_(mpnum_bits_f32(largest)), below = above;
  for (; i < n; ++i) {
    const uint32_t key = mpnum_order_(mpnum_bits_f32(x[i]));
    above = key > above ? key : above;
    below = key < below ? key : below;
  }
  if (above > 0xff800000u || below < 0x007fffffu) return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_from_bits_f32(above ^ (above >> 31 ? 0x80000000u : 0xffffffffu));
#endif
}
/* Adds n elements with one rescaling for all of them, for a loop over a row in tiles.
 * Bits depend on how the row is cut into tiles. e^t below 2^-126 counts as 0. */
MPNUM_REAL_ mpnum_softmax_state mpnum_softmax_add_tile(mpnum_softmax_state state,
                                                       const float *x, int n,
                                                       float scale) {
  const uint32_t infinity = 0x7f800000u;
  const int is_flat = mpnum_iszero_u31_(mpnum_bits_f32(scale) & 0x7fffffffu);
  mpnum_softmax_state result = mpnum_softmax_state_empty();
  const float largest = mpnum_largest_(state.max, x, n);
  const uint32_t max = mpnum_bits_f32(largest);
  float sum = 0;
  int i = 0;
  if (max == 0xff800000u) return result;
  result.max = largest;
  if ((max & 0x7fffffffu) > infinity) {
    result.sum = largest;
    return result;
  }
  if (is_flat || max == infinity) {
    sum = mpnum_softmax_count_(x, n, max == infinity);
  } else {
    for (; i < n; ++i)
      sum = mpnum_add_scalar_(sum, mpnum_exp_of_negative_scalar_(mpnum_mul_scalar_(
                                       mpnum_sub_scalar_(x[i], result.max), scale)));
  }
  result.sum =
      mpnum_add_scalar_(mpnum_rescaled_(state.sum, state.max, result.max, scale), sum);
  return result;
}
/* Returns the log of the sum of e^(x scale): -Inf for no elements, +Inf if one is +Inf,
 * NaN if one is NaN. */
MPNUM_REAL_ float mpnum_softmax_logsumexp(mpnum_softmax_state state, float scale) {
  const uint32_t bits = mpnum_bits_f32(state.max);
  if (bits == 0x7f800000u || bits == 0xff800000u || mpnum_isnan_f32(state.max))
    return state.max;
  return mpnum_add_scalar_(mpnum_mul_scalar_(state.max, scale),
                           mpnum_log_scalar_(state.sum));
}
/* Return the weight of an element of the row, e^t / s, and its loss, log s - t. NaN if
 * an element is NaN or +Inf; 0 and +Inf for an empty state, as if all were masked. */
MPNUM_REAL_ float mpnum_softmax_weight(mpnum_softmax_state state, float x, float scale) {
  const uint32_t bits = mpnum_bits_f32(state.max);
  if (bits == 0xff800000u) return 0;
  if (bits == 0x7f800000u || mpnum_isnan_f32(state.max))
    return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_canonical_(mpnum_div_scalar_(
      mpnum_exp_scalar_(mpnum_exponent_(x, state.max, scale)), state.sum));
}
MPNUM_REAL_ float mpnum_softmax_loss(mpnum_softmax_state state, float x, float scale) {
  const uint32_t bits = mpnum_bits_f32(state.max);
  if (bits == 0xff800000u) return mpnum_from_bits_f32(0x7f800000u);
  if (bits == 0x7f800000u || mpnum_isnan_f32(state.max))
    return mpnum_from_bits_f32(0x7fffffffu);
  return mpnum_canonical_(mpnum_sub_scalar_(mpnum_log_scalar_(state.sum),
                                            mpnum_exponent_(x, state.max, scale)));
}

MPNUM_C_END_
#endif

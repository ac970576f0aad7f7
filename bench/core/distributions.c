/* SPDX-License-Identifier: MIT */
#include "distributions.h"

#include <math.h>

#include <mpnum/mpnum.h>

enum { SEED = 20240229, WORDS_PER_VALUE = 8 };

/* In (0, 1): never 0, whose logarithm the next step takes. */
static double uniform(uint64_t index) {
  return ((double)mpnum_random(SEED, index) + 0.5) * 0x1p-32;
}

/* Box and Muller (1958), one value from two words. */
static double standard_normal(uint64_t index) {
  const double two_pi = 6.283185307179586;
  return sqrt(-2 * log(uniform(index))) * cos(two_pi * uniform(index + 1));
}

static double draw_normal(uint64_t index) {
  return standard_normal(index * WORDS_PER_VALUE);
}

/* log10 of the magnitude is normal with mean -6 and deviation 2: 99.7 % of the values,
 * plus and minus three deviations, span the 12 decades from 1e-12 to 1. */
static double draw_gradient(uint64_t index) {
  uint64_t word = index * WORDS_PER_VALUE;
  double magnitude = pow(10, 2 * standard_normal(word) - 6);
  return mpnum_random(SEED, word + 2) & 1 ? -magnitude : magnitude;
}

/* Student's t with 3 degrees of freedom: a normal over the root mean square of three. */
static double draw_activation(uint64_t index) {
  uint64_t word = index * WORDS_PER_VALUE;
  double a = standard_normal(word), b = standard_normal(word + 2);
  double c = standard_normal(word + 4), d = standard_normal(word + 6);
  return a / sqrt((b * b + c * c + d * d) / 3);
}

const distribution distributions[DISTRIBUTION_COUNT] = {
    {"normal", "mean 0, deviation 1", draw_normal},
    {"gradients", "log-normal, 12 decades about 1e-6, either sign", draw_gradient},
    {"activations", "heavy-tailed, Student t with 3 degrees of freedom", draw_activation},
};

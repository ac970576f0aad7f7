/* SPDX-License-Identifier: MIT */
/* Adam in floats. Source: Kingma and Ba, Adam: a method for stochastic optimization,
 * 2015. */
#ifndef EXAMPLES_ADAM_H
#define EXAMPLES_ADAM_H

#include <mpnum/mpnum.h>

#include <stdlib.h>

typedef struct adam {
  float *first, *second;           /* running means of gradients and their squares */
  float first_decay, second_decay; /* beta^steps, by which the means are too small */
} adam;

/* For so many parameters; 0 if there is not enough memory. */
static inline int adam_init(adam *state, size_t count) {
  state->first = (float *)calloc(2 * count, sizeof(float));
  if (!state->first) return 0;
  state->second = state->first + count;
  state->first_decay = state->second_decay = 1;
  return 1;
}
static inline void adam_free(adam *state) { free(state->first); }

static inline void adam_step(adam *state, float *parameters, const float *gradients,
                             size_t count, float rate) {
  const float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  state->first_decay *= beta1;
  state->second_decay *= beta2;
  for (size_t i = 0; i < count; ++i) {
    const float g = gradients[i];
    state->first[i] = beta1 * state->first[i] + (1 - beta1) * g;
    state->second[i] = beta2 * state->second[i] + (1 - beta2) * g * g;
    const float mean = state->first[i] / (1 - state->first_decay);
    const float square = state->second[i] / (1 - state->second_decay);
    parameters[i] -= rate * mean / (mpnum_sqrt_f32(square) + epsilon);
  }
}

#endif

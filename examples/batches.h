/* SPDX-License-Identifier: MIT */
/* Digits for a network: batches to train on, and how many of the test images it tells
 * right. */
#ifndef EXAMPLES_BATCHES_H
#define EXAMPLES_BATCHES_H

#include "digits.h"
#include "mlp.h"

/* Images first to first + n - 1 of an endless row of random ones. Each is a function of
 * seed and number alone, so that a run that is resumed goes on with the same ones, and
 * ranks may each take a part. */
static inline void batches_take(float *images, int64_t *labels, const digits *data,
                                uint64_t seed, uint64_t first, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const size_t image = mpnum_random(~seed, first + i) % data->train;
    digits_image(images + i * DIGITS_PIXELS, data, image);
    labels[i] = data->labels[image];
  }
}

/* How many of n logits in rows have the largest one at the label. */
static inline size_t batches_right(const float *logits, const uint8_t *labels, size_t n) {
  size_t right = 0;
  for (size_t i = 0; i < n; ++i) {
    const float *row = logits + i * DIGITS_CLASSES;
    size_t best = 0;
    for (size_t k = 1; k < DIGITS_CLASSES; ++k)
      if (row[k] > row[best]) best = k;
    right += best == labels[i];
  }
  return right;
}
/* The share of the test images. images is scratch for net->batch of them. */
static inline float batches_accuracy(mlp *net, const digits *data, float *images) {
  size_t right = 0;
  mlp_round_weights(net);
  for (size_t first = data->train; first < data->count; first += net->batch) {
    const size_t left = data->count - first;
    const size_t n = left < net->batch ? left : net->batch;
    for (size_t i = 0; i < n; ++i)
      digits_image(images + i * DIGITS_PIXELS, data, first + i);
    mlp_load(net->c, net->value_type, mlp_forward(net, images, n), n * DIGITS_CLASSES);
    right += batches_right(net->c, data->labels + first, n);
  }
  return (float)right / (float)(data->count - data->train);
}

#endif

/* SPDX-License-Identifier: MIT */
/* ggml's kernel for a row of softmax, which its CPU backend calls between a pass for the
 * largest element and one for the scale. Those two are the reference's, or loops. */
#include "../sections/math/measure.h"
#include "reference.h"

/* No header that ggml installs has it: stores e^(x - max), returns the sum. */
double ggml_vec_soft_max_f32(const int n, float *y, const float *x, float max);

static float max_of(const float *src, size_t count) {
  float max = src[0];
  for (size_t i = 1; i < count; ++i)
    max = src[i] > max ? src[i] : max;
  return max;
}

static void scale(float *dst, size_t count, float factor) {
  for (size_t i = 0; i < count; ++i)
    dst[i] *= factor;
}

static void run(float *dst, const float *src, size_t rows, size_t columns) {
  const int wide = reference_present();
  for (size_t i = 0; i < rows; ++i, dst += columns, src += columns) {
    const float max = wide ? reference_max(src, columns) : max_of(src, columns);
    const double sum = ggml_vec_soft_max_f32((int)columns, dst, src, max);
    (wide ? reference_scale : scale)(dst, columns, (float)(1 / sum));
  }
}

const softmax_way softmax_ggml = {"ggml", NULL, run, false, NULL};

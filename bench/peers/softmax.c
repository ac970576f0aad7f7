/* SPDX-License-Identifier: MIT */
/* Softmax as a user would write it, and what it costs at least: the copy of a matrix. */
#include "../sections/math/measure.h"

#include <math.h>
#include <string.h>

static void row_loop(float *dst, const float *src, size_t columns) {
  float max = -INFINITY, sum = 0;
  for (size_t i = 0; i < columns; ++i)
    max = fmaxf(max, src[i]);
  for (size_t i = 0; i < columns; ++i)
    sum += dst[i] = expf(src[i] - max);
  for (size_t i = 0; i < columns; ++i)
    dst[i] /= sum;
}

static void run_loop(float *dst, const float *src, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i)
    row_loop(dst + i * columns, src + i * columns, columns);
}

static void run_memcpy(float *dst, const float *src, size_t rows, size_t columns) {
  memcpy(dst, src, rows * columns * sizeof *dst);
}

const softmax_way softmax_loop = {"loop", NULL, run_loop, false, NULL};
const softmax_way softmax_memcpy = {"memcpy", NULL, run_memcpy, true, NULL};

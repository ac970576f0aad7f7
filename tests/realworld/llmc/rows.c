/* SPDX-License-Identifier: MIT */
/* Rows of 64 floats through the functions of train_gpt2.c. */
#define TESTING
#include "train_gpt2.c"

enum { COLUMNS = 64, MOST = 1 << 18 };
static float mean[MOST / COLUMNS], rstd[MOST / COLUMNS], ones[MOST], zeros[MOST];
static float turned[MOST], magnitudes[MOST]; /* each row from its end; without signs */
static int zero_targets[MOST];
static const float *known;

/* What the functions are given beside x, once for each x. */
static void know(const float *x, int64_t n) {
  if (x == known) return;
  known = x;
  for (int64_t i = 0; i < n; ++i) {
    ones[i] = 1;
    magnitudes[i] = fabsf(x[i]);
    turned[i] = x[i / COLUMNS * COLUMNS + COLUMNS - 1 - i % COLUMNS];
  }
  for (int64_t row = 0; row < n / COLUMNS; ++row) {
    double sum = 0, squares = 0;
    for (int i = 0; i < COLUMNS; ++i)
      sum += x[row * COLUMNS + i];
    for (int i = 0; i < COLUMNS; ++i)
      squares += pow(x[row * COLUMNS + i] - sum / COLUMNS, 2);
    mean[row] = (float)(sum / COLUMNS);
    rstd[row] = (float)(1 / sqrt(squares / COLUMNS + 1e-5f));
  }
}

#define ROW(NAME, ...)                                  \
 void NAME##_row(const float *x, float *y, int64_t n);  \
 void NAME##_row(const float *x, float *y, int64_t n) { \
  float *in = (float *)x; /* read alone */              \
  know(x, n);                                           \
  __VA_ARGS__;                                          \
 }
ROW(layernorm_forward,
    layernorm_forward(y, mean, rstd, in, ones, zeros, (int)n / COLUMNS, 1, COLUMNS))
ROW(layernorm_backward, memset(y, 0, (size_t)n * sizeof *y);
    float weight[COLUMNS] = {0}, bias[COLUMNS] = {0};
    layernorm_backward(y, weight, bias, turned, in, ones, mean, rstd, (int)n / COLUMNS, 1,
                       COLUMNS))
ROW(softmax_forward, softmax_forward(y, in, (int)n / COLUMNS, 1, COLUMNS, COLUMNS))
ROW(gelu_forward, gelu_forward(y, in, (int)n))
ROW(gelu_backward, memset(y, 0, (size_t)n * sizeof *y);
    gelu_backward(y, in, ones, (int)n))
ROW(crossentropy_forward, crossentropy_forward(y, magnitudes, zero_targets, (int)n, 1, 1))
/* A first step of learning rate 2^-10, the parameters being the gradients, too. */
ROW(gpt2_update, static float moments[2][MOST]; GPT2 model;
    model.num_parameters = (size_t)n; memset(moments, 0, sizeof moments);
    memcpy(y, x, (size_t)n * sizeof *y); model.params_memory = y; model.grads_memory = in;
    model.m_memory = moments[0]; model.v_memory = moments[1];
    gpt2_update(&model, 0x1p-10f, 0.9f, 0.999f, 1e-8f, 0.015625f, 1))

/* SPDX-License-Identifier: MIT */
/* Steps of optimizers as one writes them in C, with the factors of mpnum's rows: step
 * 1000 with the defaults. Arrays lie one after the other: gradient, parameter, moments,
 * copy. */
#include "peers.h"

#include <math.h>
#include <string.h>

static const float rest1 = 0.1f, beta1 = 0.9f, beta2 = 0.999f, rest2 = 0.001f;
static const float rate = 1e-3f, shrink = 1e-5f, epsilon = 1e-8f;

/* The array that lies behind this one. */
static void *behind(void *array, size_t bytes) {
  return (char *)array + bytes + STEP_GAP;
}

typedef struct corrections {
  float rate, inverse;
} corrections;

static corrections corrections_of(double step) {
  corrections made;
  made.rate = (float)(1e-3 / (1 - pow(0.9, step)));
  made.inverse = (float)(1 / sqrt(1 - pow(0.999, step)));
  return made;
}

/* The change of a parameter. */
static float adamw(corrections by, float g, float p, float *m, float *v) {
  *m += (g - *m) * rest1;
  *v = beta2 * *v + rest2 * g * g;
  return shrink * p + by.rate * (*m / (sqrtf(*v) * by.inverse + epsilon));
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static void adamw_f32(void *dst, const void *src, size_t n) {
  const corrections by = corrections_of(1000);
  const float *g = src;
  float *p = behind(dst, 4 * n), *m = behind(p, 4 * n), *v = behind(m, 4 * n);
  for (size_t i = 0; i < n; ++i)
    p[i] -= adamw(by, g[i], p[i], &m[i], &v[i]);
}

static void adamw_f32_copy(void *dst, const void *src, size_t n) {
  const corrections by = corrections_of(1000);
  const float *g = src;
  float *p = behind(dst, 4 * n), *m = behind(p, 4 * n), *v = behind(m, 4 * n);
  uint16_t *copy = behind(v, 4 * n);
  for (size_t i = 0; i < n; ++i) {
    uint32_t bits;
    p[i] -= adamw(by, g[i], p[i], &m[i], &v[i]);
    bits = bits_of(p[i]); /* to nearest even; no NaN */
    copy[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
}

/* Random bits are those of a xorshift. */
static void adamw_bf16(void *dst, const void *src, size_t n) {
  const corrections by = corrections_of(1000);
  const uint16_t *g = src;
  uint16_t *p = behind(dst, 2 * n);
  float *m = behind(p, 2 * n), *v = behind(m, 4 * n);
  uint32_t word = 2463534242u;
  for (size_t i = 0; i < n; ++i) {
    const float before = float_of((uint32_t)p[i] << 16);
    const float after =
        before - adamw(by, float_of((uint32_t)g[i] << 16), before, &m[i], &v[i]);
    word ^= word << 13;
    word ^= word >> 17;
    word ^= word << 5;
    p[i] = (uint16_t)((bits_of(after) + (word & 0xffff)) >> 16);
  }
}

static void sgd_f32(void *dst, const void *src, size_t n) {
  const float *g = src;
  float *p = behind(dst, 4 * n), *m = behind(p, 4 * n);
  for (size_t i = 0; i < n; ++i) {
    m[i] = beta1 * m[i] + g[i];
    p[i] -= rate * m[i];
  }
}

static const array_peer_loop loops[] = {
    {"adamw f32", "sqrtf", adamw_f32},
    {"adamw f32 bf16 copy", "sqrtf", adamw_f32_copy},
    {"adamw bf16 sr", "sqrtf, xorshift", adamw_bf16},
    {"sgd momentum f32", "p -= rate * m", sgd_f32},
};
const array_peer peer_plain_steps = {"plain loop", NULL, loops, PEER_COUNT(loops), NULL};

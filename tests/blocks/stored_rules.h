/* SPDX-License-Identifier: MIT */
/* What ggml, bitsandbytes, AWQ and GPTQ store, by their formulas, one element after
 * another: steps of floats as doubles that are rounded once, searches instead of
 * comparisons with constants. */
#ifndef MPNUM_TESTS_STORED_RULES_H
#define MPNUM_TESTS_STORED_RULES_H

#include "../harness/float_bits.h"
#include "../reference/reference.h"

#include <math.h>
#include <stddef.h>

/* A step of floats: the double has more than twice the bits, so that rounding again does
 * no harm. */
static inline double stepped(double x) { return (double)(float)x; }

static inline void put_f16(uint8_t *to, double x) {
  const uint32_t code = ref_encode(ref_format_named("f16"), bits_of_double(x),
                                   REF_NEAREST_EVEN, REF_IEEE, 0);
  to[0] = (uint8_t)(code % 256);
  to[1] = (uint8_t)(code / 256);
}
static inline double value_of(const char *format, uint32_t code) {
  return (double)float_of(ref_decode_f32(ref_format_named(format), code));
}
static inline double largest_of(const float *x, size_t n) {
  double largest = 0;
  for (size_t i = 0; i < n; ++i)
    if (fabs((double)x[i]) > largest) largest = fabs((double)x[i]);
  return largest;
}

/* --- ggml --- */

/* The first of 16 values that lies nearest: they begin with those from 0 up. */
static inline int nearest_e2m1(double x, double scale) {
  static const double values[16] = {0, .5,  1,  1.5,  2,  3,  4,  6,
                                    0, -.5, -1, -1.5, -2, -3, -4, -6};
  int best = 0;
  for (int i = 1; i < 16; ++i)
    if (fabs(values[i] * scale - x) < fabs(values[best] * scale - x)) best = i;
  return best;
}
static inline void rule_mxfp4(uint8_t *to, const float *x) {
  const double amax = largest_of(x, 32);
  const double exponent = amax > 0 ? floor(stepped(log2(amax))) - 2 + 127 : 0;
  to[0] = (uint8_t)(exponent < 0 ? 0 : exponent);
  for (int i = 0; i < 16; ++i)
    to[1 + i] = (uint8_t)(nearest_e2m1((double)x[i], ldexp(1, to[0] - 127)) +
                          16 * nearest_e2m1((double)x[16 + i], ldexp(1, to[0] - 127)));
}
/* Half a step above a value is the next one; below 2^-6 half is added first, and 8 of
 * 2^-9 is too many. */
static inline int rule_ue4m3(double x) {
  int code = 0;
  if (x < 0x1p-6) return (int)fmin(7, floor(stepped(x * 512 + 0.5)));
  while (code < 0x7e &&
         x >= (value_of("e4m3", (uint32_t)code) + value_of("e4m3", (uint32_t)code + 1)) /
                  2)
    ++code;
  return code;
}
static inline void rule_nvfp4(uint8_t *to, const float *x) {
  for (int s = 0; s < 4; ++s, x += 16) {
    const int code = rule_ue4m3(stepped(largest_of(x, 16) / 6));
    const double scale = value_of("e4m3", (uint32_t)code);
    to[s] = (uint8_t)code;
    for (int i = 0; i < 8; ++i)
      to[4 + 8 * s + i] = (uint8_t)(nearest_e2m1((double)x[i], scale) +
                                    16 * nearest_e2m1((double)x[8 + i], scale));
  }
}
static inline double inverse_of(double scale) {
  const double inverse = scale != 0 ? stepped(1 / scale) : 0;
  return isinf(inverse) ? 0 : inverse;
}
static inline void rule_q8_0(uint8_t *to, const float *x) {
  const double scale = stepped(largest_of(x, 32) / 127);
  put_f16(to, scale);
  for (int i = 0; i < 32; ++i)
    to[2 + i] = (uint8_t)(int)round(stepped((double)x[i] * inverse_of(scale)));
}
static inline void rule_q4_0(uint8_t *to, const float *x) {
  double largest = 0;
  int code[32];
  for (int i = 0; i < 32; ++i)
    if (fabs((double)x[i]) > fabs(largest)) largest = (double)x[i];
  const double scale = stepped(largest / -8);
  put_f16(to, scale);
  for (int i = 0; i < 32; ++i) {
    code[i] = (int)stepped(stepped((double)x[i] * inverse_of(scale)) + 8.5);
    if (code[i] > 15) code[i] = 15;
  }
  for (int i = 0; i < 16; ++i)
    to[2 + i] = (uint8_t)(code[i] + 16 * code[16 + i]);
}

/* --- bitsandbytes --- */

static const double nf4_values[16] = {-1.0,
                                      -0.6961928009986877,
                                      -0.5250730514526367,
                                      -0.39491748809814453,
                                      -0.28444138169288635,
                                      -0.18477343022823334,
                                      -0.09105003625154495,
                                      0.0,
                                      0.07958029955625534,
                                      0.16093020141124725,
                                      0.24611230194568634,
                                      0.33791524171829224,
                                      0.44070982933044434,
                                      0.5626170039176941,
                                      0.7229568362236023,
                                      1.0};
static const double fp4_values[8] = {0,   0.005208333333, 0.66666667, 1, 0.33333333,
                                     0.5, 0.16666667,     0.25};
/* Between values in their order, as bitsandbytes writes them for CUDA: a mean of floats
 * may lie between two floats, and these decimals are rounded once. */
static const float nf4_middles[15] = {
    -0.8480964004993439f,   -0.6106329262256622f,  -0.4599952697753906f,
    -0.33967943489551544f,  -0.23460740596055984f, -0.13791173323988914f,
    -0.045525018125772476f, 0.03979014977812767f,  0.1202552504837513f,
    0.2035212516784668f,    0.2920137718319893f,   0.3893125355243683f,
    0.5016634166240692f,    0.6427869200706482f,   0.8614784181118011f};
static const double fp4_middles[7] = {0.00260417, 0.0859375, 0.20833333, 0.29166667,
                                      0.4166667,  0.583333,  0.8333333};
static const int fp4_order[8] = {0, 1, 6, 7, 4, 5, 2, 3};

static inline int rule_nf4(double x) {
  int code = 0;
  while (code < 15 && x > (double)nf4_middles[code])
    ++code;
  return code;
}
static inline int rule_fp4(double x) {
  int place = 0;
  while (place < 7 && fabs(x) > stepped(fp4_middles[place]))
    ++place;
  return fp4_order[place] + (x < 0 ? 8 : 0);
}
static inline double book_value(int is_nf4, int code) {
  if (is_nf4) return stepped(nf4_values[code]);
  return code < 8 ? stepped(fp4_values[code]) : -stepped(fp4_values[code - 8]);
}
/* n elements to (n + 1) / 2 bytes. Returns absmax. */
static inline double rule_book(int is_nf4, uint8_t *to, const float *x, size_t n) {
  const double absmax = largest_of(x, n), least = stepped(1e-38);
  const double by = stepped(1 / (absmax < least ? least : absmax));
  for (size_t i = 0; i < n + n % 2; ++i) {
    const double scaled = i < n ? stepped((double)x[i] * by) : 0;
    const int code = is_nf4 ? rule_nf4(scaled) : rule_fp4(scaled);
    if (i % 2 == 0) to[i / 2] = (uint8_t)(16 * code);
    if (i % 2 == 1) to[i / 2] = (uint8_t)(to[i / 2] + code);
  }
  return absmax;
}

/* --- AWQ, GPTQ --- */

static const int awq_order[8] = {0, 2, 4, 6, 1, 3, 5, 7};

static inline double clamped(double x) { return x < 0 ? 0 : x > 15 ? 15 : x; }
static inline double ratio(double x, double scale) {
  return scale != 0 ? nearbyint(stepped(x / scale)) : 0;
}
/* The scale of a group, its zero point, and the codes. */
static inline double rule_group(int is_awq, int *zero, int *code, const float *x,
                                size_t n) {
  double least = (double)x[0], most = (double)x[0], width;
  for (size_t i = 0; i < n; ++i) {
    least = fmin(least, (double)x[i]);
    most = fmax(most, (double)x[i]);
  }
  if (!is_awq) {
    least = fmin(least, 0);
    most = fmax(most, 0);
    if (least == 0 && most == 0) {
      least = -1;
      most = 1;
    }
  }
  width = stepped(most - least);
  if (is_awq) width = fmax(width, stepped(1e-5));
  const double scale = stepped(width / 15);
  *zero = (int)clamped(-ratio(least, scale));
  for (size_t i = 0; i < n; ++i)
    code[i] = (int)clamped(ratio((double)x[i], scale) + *zero);
  return scale;
}

#endif

/* SPDX-License-Identifier: MIT */
/* activation_backward.h: each gradient is that of scalar steps, by the scalar functions
 * and the arithmetic of C, and the slope of the forward formula in long double. */
#include "row_checks.h"
#include "../harness/must.h"

#include <math.h>

#include <mpnum/rows/activation_backward.h>
#include <mpnum/array/array.h>
#include <mpnum/array/scale.h>
#include <mpnum/func/func.h>
#include <mpnum/func/light.h>

enum { ROWS = 3, MOST = 2100, COUNT = ROWS * MOST, KINDS = 5 };
static const size_t lengths[] = {1, 7, 64, 130, 1023, MOST};
static const size_t turn_lengths[] = {1, 7, 64, 130, 1023, 1050};
static uint8_t turns[8 * COUNT], turned[2][8 * COUNT];
static float x[COUNT], up[COUNT], dy[COUNT], bias[MOST], to_x[COUNT], to_up[COUNT];
static uint8_t src[4 * COUNT], factor[4 * COUNT], gradient[4 * COUNT];
static uint8_t got[2][4 * COUNT + 16], want[2][4 * COUNT + 16];

static void convert(mpnum_type to, void *dst, mpnum_type from, const void *of, size_t n) {
  must(mpnum_convert_array(to, dst, from, of, n, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_IEEE, 0, 0));
}
/* Floats, some of them special, as elements of a type and as the floats they are. */
static void make(float *floats, mpnum_type type, uint8_t *bytes, size_t n, double size) {
  static const uint32_t uncommon[] = {0xff812345u, 0x7f800001u, 0x7f800000u, 0xff800000u,
                                      0x80000000u, 0,           0x40e00000u /* 7 */};
  for (size_t i = 0; i < n; ++i) {
    floats[i] = (float)uniform(-size, size);
    if (n > 20 && uniform(0, 1) < 0.05)
      floats[i] = mpnum_from_bits_f32(uncommon[(size_t)uniform(0, 6.99)]);
  }
  convert(type, bytes, MPNUM_TYPE_F32, floats, n);
  convert(MPNUM_TYPE_F32, floats, type, bytes, n);
}
static float canonical(float a) {
  return mpnum_isnan_f32(a) ? mpnum_from_bits_f32(0x7fffffffu) : a;
}

/* What is tried: of options the numbers, and whether alpha counts. */
typedef struct setting {
  float limit, alpha, offset;
} setting;
static const setting settings[] = {{0, 0, 0}, {7, 1.702f, 1}, {2.5f, 1, 0}, {0, 0, -1}};

static float least(float a, float most) { return is_above(a, most) ? most : a; }
static float relu(float of) { return is_above(of, 0) || mpnum_isnan_f32(of) ? of : 0; }
static float slope_of(int kind, float of, float alpha) {
  switch (kind) {
  case 0: return mpnum_silu_derivative_f32(alpha != 1 ? product_once(alpha, of) : of);
  case 1: return mpnum_gelu_derivative_f32(of);
  case 2: return mpnum_gelu_tanh_derivative_f32(of);
  case 3: return is_above(of, 0) ? 1 : relu(of);
  default: return sum_once(relu(of), relu(of));
  }
}
static float value_of(int kind, float of, float alpha) {
  switch (kind) {
  case 0:
    if (alpha == 1) return mpnum_silu_f32(of);
    return product_once(mpnum_silu_f32(product_once(alpha, of)), quotient_once(1, alpha));
  case 1: return mpnum_gelu_f32(of);
  case 2: return mpnum_gelu_tanh_f32(of);
  case 3: return relu(of);
  default: return product_once(relu(of), relu(of));
  }
}
/* Both gradients of one element. */
static void expect_one(int kind, const setting *how, int has_factor, float in, float f,
                       float d, float *of_x, float *of_f) {
  const float most = how->limit > 0 ? how->limit : INF, bounded = least(in, most);
  const float alpha = how->alpha > 0 ? how->alpha : 1;
  const int is_closed = is_above(in, most) || (kind > 2 && bits_of(relu(in)) == 0);
  float moved = is_above(-most, f) ? -most : least(f, most), through = d;
  *of_f = is_above(-most, f) || is_above(f, most)
              ? 0
              : product_once(d, value_of(kind, bounded, alpha));
  if (how->offset != 0) moved = sum_once(moved, how->offset);
  if (has_factor) through = product_once(d, moved);
  *of_x = is_closed ? 0 : product_once(through, slope_of(kind, bounded, alpha));
}
static void expect_all(int kind, const setting *how, const float *added, int has_factor,
                       size_t columns) {
  for (size_t i = 0; i < ROWS * columns; ++i)
    expect_one(kind, how, has_factor, added ? sum_once(x[i], added[i % columns]) : x[i],
               up[i], dy[i], &to_x[i], &to_up[i]);
}
/* Expected elements of a type, added to what the bytes hold or not. */
static void put(mpnum_type type, uint8_t *bytes, float *floats, size_t n, int adds) {
  static float old[COUNT];
  convert(MPNUM_TYPE_F32, old, type, bytes, n);
  for (size_t i = 0; i < n; ++i)
    floats[i] =
        canonical(adds ? sum_once(old[i], canonical(floats[i])) : canonical(floats[i]));
  convert(type, bytes, MPNUM_TYPE_F32, floats, n);
}

static void elements_are_those_of_scalar_steps(void) {
  for (int k = 0; k < 1200; ++k) {
    const mpnum_type type = row_types[k % 5], other = row_types[k / 5 % 5];
    const mpnum_type of_dy = row_types[k / 7 % 5], to = row_types[(k + k / 5) % 5];
    const mpnum_type to_other = row_types[k / 11 % 5];
    const int kind = k / 3 % KINDS, has_bias = k / 2 % 2, adds = k / 13 % 2;
    const int has_factor = k % 7 < 5, wants_factor = has_factor && k % 7 < 4;
    const int wants_src = k % 7 != 2;
    const size_t n = lengths[k % 6], count = ROWS * n;
    const mpnum_matrix none = mpnum_matrix_empty();
    setting how = settings[k / 4 % 4];
    mpnum_activation_options options = mpnum_activation_default();
    if (kind) how.alpha = 0;
    make(x, type, src, count, 10);
    make(up, other, factor, count, 9);
    make(dy, of_dy, gradient, count, 3);
    for (size_t i = 0; i < MOST; ++i)
      bias[i] = (float)uniform(-1, 1);
    options.limit = how.limit;
    options.alpha = how.alpha;
    options.offset = how.offset;
    options.adds = adds;
    if (has_bias) options.bias = bias;
    if (has_factor) options.factor = mpnum_const_matrix_of(other, factor, ROWS, n);
    expect_all(kind, &how, options.bias, has_factor, n);
    memset(got, 0x35, sizeof got);
    memset(want, 0x35, sizeof want);
    if (wants_src) put(to, want[0], to_x, count, adds);
    if (wants_factor) put(to_other, want[1], to_up, count, adds);
    CHECK(mpnum_activation_backward_rows(
              (mpnum_activation)kind,
              wants_src ? mpnum_matrix_of(to, got[0], ROWS, n) : none,
              wants_factor ? mpnum_matrix_of(to_other, got[1], ROWS, n) : none,
              mpnum_const_matrix_of(of_dy, gradient, ROWS, n),
              mpnum_const_matrix_of(type, src, ROWS, n), &options) == MPNUM_OK,
          "status");
    for (int g = 0; g < 2; ++g)
      CHECK(memcmp(got[g], want[g], sizeof got[g]) == 0,
            "gradient %d of %d, %s and %s, %zu columns, case %d", g, kind,
            mpnum_type_name(type), mpnum_type_name(other), n, k);
    if (adds || to != type || !wants_src || to_other != of_dy || !wants_factor) continue;
    must(mpnum_activation_backward_rows(
        (mpnum_activation)kind, mpnum_matrix_of(to, src, ROWS, n),
        mpnum_matrix_of(to_other, gradient, ROWS, n),
        mpnum_const_matrix_of(of_dy, gradient, ROWS, n),
        mpnum_const_matrix_of(type, src, ROWS, n), &options));
    CHECK(memcmp(src, want[0], count * size_of(to)) == 0 &&
              memcmp(gradient, want[1], count * size_of(to_other)) == 0,
          "in place, case %d", k);
  }
}

/* Gate and up by turns in one matrix, and their gradients so in another. */
static void turn(uint8_t *to, size_t stride, const uint8_t *a, const uint8_t *b,
                 size_t size, size_t n) {
  for (size_t i = 0; i < ROWS * n; ++i) {
    uint8_t *at = to + (i / n * stride + 2 * (i % n)) * size;
    memcpy(at, a + i * size, size);
    memcpy(at + size, b + i * size, size);
  }
}
static void expect_turns(int kind, const setting *how, const float *added, size_t n) {
  for (size_t i = 0; i < ROWS * n; ++i) {
    const size_t c = 2 * (i % n);
    expect_one(kind, how, 1, added ? sum_once(x[i], added[c]) : x[i],
               added ? sum_once(up[i], added[c + 1]) : up[i], dy[i], &to_x[i], &to_up[i]);
  }
}
static void gate_and_up_by_turns(void) {
  static float old[2][COUNT];
  for (int k = 0; k < 300; ++k) {
    const mpnum_type type = row_types[k % 5], of_dy = row_types[k / 7 % 5];
    const mpnum_type to = row_types[k / 5 % 5];
    const int kind = k / 3 % KINDS, adds = k / 13 % 2;
    const size_t n = turn_lengths[k % 6], count = ROWS * n;
    const size_t stride = 2 * n + (size_t)(k / 2 % 3), size = size_of(to);
    setting how = settings[k / 4 % 4];
    mpnum_activation_options of = mpnum_activation_default();
    mpnum_const_matrix pairs = mpnum_const_matrix_of(type, turns, ROWS, 2 * n);
    mpnum_matrix result = mpnum_matrix_of(to, turned[0], ROWS, 2 * n);
    if (kind) how.alpha = 0;
    make(x, type, src, count, 10);
    make(up, type, factor, count, 9);
    make(dy, of_dy, gradient, count, 3);
    for (size_t i = 0; i < MOST; ++i)
      bias[i] = (float)uniform(-1, 1);
    turn(turns, stride, src, factor, size_of(type), n);
    of.limit = how.limit;
    of.alpha = how.alpha;
    of.offset = how.offset;
    of.adds = adds;
    of.is_interleaved = 1;
    if (k / 2 % 2) of.bias = bias;
    pairs.stride = stride;
    result.stride = 2 * n + (size_t)(k / 3 % 2);
    expect_turns(kind, &how, of.bias, n);
    make(old[0], to, want[0], count, 2);
    make(old[1], to, want[1], count, 2);
    memset(turned, 0x35, sizeof turned);
    turn(turned[0], result.stride, want[0], want[1], size, n);
    put(to, want[0], to_x, count, adds);
    put(to, want[1], to_up, count, adds);
    turn(turned[1], result.stride, want[0], want[1], size, n);
    must(mpnum_activation_backward_rows(
        (mpnum_activation)kind, result, mpnum_matrix_empty(),
        mpnum_const_matrix_of(of_dy, gradient, ROWS, n), pairs, &of));
    CHECK(memcmp(turned[0], turned[1], sizeof turned[0]) == 0,
          "%d of %s, %zu columns, case %d", kind, mpnum_type_name(type), n, k);
    if (adds || to != type) continue;
    memset(turned[1], 0x35, sizeof turned[1]);
    turn(turned[1], stride, want[0], want[1], size, n);
    result = mpnum_matrix_of(to, turns, ROWS, 2 * n);
    result.stride = stride;
    must(mpnum_activation_backward_rows(
        (mpnum_activation)kind, result, mpnum_matrix_empty(),
        mpnum_const_matrix_of(of_dy, gradient, ROWS, n), pairs, &of));
    for (size_t i = 0; i < ROWS; ++i)
      CHECK(memcmp(turns + i * stride * size, turned[1] + i * stride * size,
                   2 * n * size) == 0,
            "in place, case %d", k);
  }
}
static void codes_by_turns(void) {
  for (int k = 0; k < 12; ++k) {
    const size_t n = turn_lengths[k % 6], count = ROWS * n;
    const setting how = settings[0];
    mpnum_activation_options of = mpnum_activation_default();
    mpnum_quantize_losses wanted = {0, 0, 0, 0}, found = {0, 0, 0, 0};
    make(x, MPNUM_TYPE_BF16, src, count, 10);
    make(up, MPNUM_TYPE_BF16, factor, count, 9);
    make(dy, MPNUM_TYPE_BF16, gradient, count, 3);
    turn(turns, 2 * n, src, factor, 2, n);
    expect_turns(k % KINDS, &how, NULL, n);
    must(mpnum_quantize_array(MPNUM_TYPE_E4M3, want[0], MPNUM_TYPE_F32, to_x, count, 30,
                              &wanted));
    must(mpnum_quantize_array(MPNUM_TYPE_E4M3, want[1], MPNUM_TYPE_F32, to_up, count, 30,
                              &wanted));
    turn(turned[1], 2 * n, want[0], want[1], 1, n);
    of.is_interleaved = 1;
    must(mpnum_activation_backward_quantize_rows(
        (mpnum_activation)(k % KINDS),
        mpnum_matrix_of(MPNUM_TYPE_E4M3, turned[0], ROWS, 2 * n), mpnum_matrix_empty(),
        mpnum_const_matrix_of(MPNUM_TYPE_BF16, gradient, ROWS, n),
        mpnum_const_matrix_of(MPNUM_TYPE_BF16, turns, ROWS, 2 * n), &of, 30, &found));
    CHECK(memcmp(turned[0], turned[1], 2 * count) == 0 &&
              found.saturated == wanted.saturated &&
              found.underflowed == wanted.underflowed &&
              bits_of(found.amax) == bits_of(wanted.amax),
          "codes of %d, %zu columns", k % KINDS, n);
  }
}

/* The forward formula. */
static long double formula(int kind, const setting *how, long double in, long double f) {
  const long double root = 0.797884560802865355879892L; /* sqrt(2 / pi) */
  const long double alpha = how->alpha > 0 ? (long double)how->alpha : 1;
  long double y = 0;
  if (how->limit > 0) {
    in = fminl(in, (long double)how->limit);
    f = fmaxl(fminl(f, (long double)how->limit), -(long double)how->limit);
  }
  switch (kind) {
  case 0: y = in / (1 + expl(-alpha * in)); break;
  case 1: y = in * erfcl(-in * 0.707106781186547524400844L) / 2; break;
  case 2: y = in / 2 * (1 + tanhl(root * (in + 0.044715L * in * in * in))); break;
  case 3: y = fmaxl(in, 0); break;
  default: y = fmaxl(in, 0) * fmaxl(in, 0); break;
  }
  return y * (f + (long double)how->offset);
}
/* Central differences, over a step that crosses no bound. Their own error is below
 * 2^-27. */
static void gradients_are_slopes_of_the_formula(void) {
  const long double step = 0x1p-14L;
  for (int k = 0; k < 40; ++k) {
    const int kind = k % KINDS;
    setting how = settings[k / KINDS % 4];
    mpnum_activation_options options = mpnum_activation_default();
    if (kind) how.alpha = 0;
    for (size_t i = 0; i < MOST; ++i) { /* in the middle of steps of 2^-10 */
      x[i] = (float)(floor(uniform(-9, 9) * 1024) + 0.5) / 1024;
      up[i] = (float)(floor(uniform(-9, 9) * 1024) + 0.5) / 1024;
      dy[i] = (float)uniform(-2, 2);
    }
    options.limit = how.limit;
    options.alpha = how.alpha;
    options.offset = how.offset;
    options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, up, 1, MOST);
    must(mpnum_activation_backward_rows(
        (mpnum_activation)kind, mpnum_matrix_of(MPNUM_TYPE_F32, to_x, 1, MOST),
        mpnum_matrix_of(MPNUM_TYPE_F32, to_up, 1, MOST),
        mpnum_const_matrix_of(MPNUM_TYPE_F32, dy, 1, MOST),
        mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, MOST), &options));
    for (size_t i = 0; i < MOST; ++i) {
      const long double a = x[i], b = up[i], d = dy[i];
      const long double of_x =
          d * (formula(kind, &how, a + step, b) - formula(kind, &how, a - step, b)) /
          (2 * step);
      const long double of_up =
          d * (formula(kind, &how, a, b + step) - formula(kind, &how, a, b - step)) /
          (2 * step);
      const long double size = fabsl(d) * 0x1p-21L;
      const long double moved = fabsl(b) + fabsl((long double)how.offset);
      CHECK(fabsl((long double)to_x[i] - of_x) <=
                size * (moved + 1) * (kind == 4 ? 20 : 1),
            "%d at %g, %g: of x %g, want %Lg", kind, (double)x[i], (double)up[i],
            (double)to_x[i], of_x);
      CHECK(fabsl((long double)to_up[i] - of_up) <=
                size * (fabsl(a) + 1) * (kind == 4 ? 10 : 1),
            "%d at %g, %g: of factor %g, want %Lg", kind, (double)x[i], (double)up[i],
            (double)to_up[i], of_up);
    }
  }
}

/* What the reference of gpt-oss computes at some places, by hand: limit 7, alpha 1.702,
 * offset 1. Where gate or factor is beyond its bound nothing comes through, at the bound
 * it does; Inf in dy shows where something does. */
static void bounds_let_nothing_through(void) {
  enum { n = 8 };
  static const uint32_t gate[n] = {0x40e00000u /* 7 */, 0x40e00001u, 0x7f800000u, 0,
                                   0xff800000u,         0x40e00001u, 0xc1200000u, 0};
  static const uint32_t other[n] = {0x40e00000u, 0xc0e00001u, 0x40e00001u, 0xc0e00000u,
                                    0,           0x7f800000u, 0,           0xff800000u};
  /* whether gradients are +0 though dy is Inf: of gate, of factor */
  static const char closed[2][n + 1] = {".11..1..", ".11..1.1"};
  mpnum_activation_options options = mpnum_activation_default();
  for (size_t i = 0; i < n; ++i) {
    x[i] = mpnum_from_bits_f32(gate[i]);
    up[i] = mpnum_from_bits_f32(other[i]);
    dy[i] = INF;
  }
  options.limit = 7;
  options.alpha = 1.702f;
  options.offset = 1;
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, up, 1, n);
  must(mpnum_activation_backward_rows(
      MPNUM_ACTIVATION_SILU, mpnum_matrix_of(MPNUM_TYPE_F32, to_x, 1, n),
      mpnum_matrix_of(MPNUM_TYPE_F32, to_up, 1, n),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, dy, 1, n),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), &options));
  for (size_t i = 0; i < n; ++i) {
    CHECK((bits_of(to_x[i]) == 0) == (closed[0][i] == '1'), "gate %zu: %08x", i,
          bits_of(to_x[i]));
    CHECK((bits_of(to_up[i]) == 0) == (closed[1][i] == '1'), "factor %zu: %08x", i,
          bits_of(to_up[i]));
  }
  CHECK(bits_of(to_x[0]) == 0x7f800000u, "Inf where it comes through");
  dy[4] = 1; /* at -Inf */
  must(mpnum_activation_backward_rows(
      MPNUM_ACTIVATION_SILU, mpnum_matrix_of(MPNUM_TYPE_F32, to_x, 1, n),
      mpnum_matrix_of(MPNUM_TYPE_F32, to_up, 1, n),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, dy, 1, n),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), &options));
  CHECK(bits_of(to_x[4]) == 0x80000000u && bits_of(to_up[4]) == 0x80000000u,
        "-0 at -Inf: %08x %08x", bits_of(to_x[4]), bits_of(to_up[4]));
}
static void relu_lets_nothing_through(void) {
  static const uint32_t in[] = {0, 0x80000000u, 0xbf800000u, 0xff800000u, 1, 0x7fc00000u};
  enum { n = sizeof in / sizeof in[0] };
  for (size_t i = 0; i < n; ++i) {
    x[i] = mpnum_from_bits_f32(in[i]);
    dy[i] = i == 2 ? A_NAN : INF;
  }
  for (int k = MPNUM_ACTIVATION_RELU; k <= MPNUM_ACTIVATION_RELU_SQUARED; ++k) {
    must(mpnum_activation_backward_rows(
        (mpnum_activation)k, mpnum_matrix_of(MPNUM_TYPE_F32, to_x, 1, n),
        mpnum_matrix_empty(), mpnum_const_matrix_of(MPNUM_TYPE_F32, dy, 1, n),
        mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), NULL));
    for (size_t i = 0; i < 4; ++i)
      CHECK(bits_of(to_x[i]) == 0, "relu %d at %zu: %08x", k, i, bits_of(to_x[i]));
    CHECK(bits_of(to_x[4]) == 0x7f800000u && bits_of(to_x[5]) == NAN_BITS, "%08x %08x",
          bits_of(to_x[4]), bits_of(to_x[5]));
  }
}

static mpnum_activation_options options;
static mpnum_status run(mpnum_type to, float *a, float *b, const float *of_dy,
                        const float *of_x, size_t n) {
  return mpnum_activation_backward_rows(
      MPNUM_ACTIVATION_SILU, mpnum_matrix_of(to, a, 1, n), mpnum_matrix_of(to, b, 1, n),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, of_dy, 1, n),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, of_x, 1, n), &options);
}
#define REFUSED(status, ...)                                                      \
 do {                                                                             \
  memset(to_x, 0x11, sizeof to_x);                                                \
  CHECK((__VA_ARGS__) == (status) && bits_of(to_x[0]) == 0x11111111u, "%s, %08x", \
        #__VA_ARGS__, bits_of(to_x[0]));                                          \
 } while (0)
static void what_is_refused(void) {
  const mpnum_type f32 = MPNUM_TYPE_F32;
  const mpnum_const_matrix of_up = mpnum_const_matrix_of(f32, up, 1, 8);
  const float limits[] = {-1, INF, A_NAN};
  options = mpnum_activation_default();
  REFUSED(MPNUM_ERROR_SHAPE, run(f32, to_x, to_up, dy, x, 8)); /* there is no factor */
  options.factor = of_up;
  REFUSED(MPNUM_ERROR_NULL, run(f32, NULL, NULL, dy, x, 8));
  REFUSED(MPNUM_ERROR_NULL, run(f32, to_x, NULL, NULL, x, 8));
  REFUSED(MPNUM_ERROR_NULL, run(f32, to_x, NULL, dy, NULL, 8));
  REFUSED(MPNUM_ERROR_SHAPE, run(f32, to_x, to_up, dy, x, 9));
  REFUSED(MPNUM_ERROR_TYPE, run(MPNUM_TYPE_E8M0, to_x, to_up, dy, x, 8));
  REFUSED(MPNUM_ERROR_OVERLAP, run(f32, to_x, to_x, dy, x, 8));
  REFUSED(MPNUM_ERROR_OVERLAP, run(f32, to_x, to_x + 7, dy, x, 8));
  REFUSED(MPNUM_ERROR_OVERLAP, run(f32, to_x, to_up, dy, to_x + 1, 8));
  REFUSED(MPNUM_ERROR_OVERLAP, run(MPNUM_TYPE_F16, to_x, to_up, to_x, x, 8));
  options.bias = to_x + 7;
  REFUSED(MPNUM_ERROR_OVERLAP, run(f32, to_x, to_up, dy, x, 8));
  options.factor.data = NULL;
  REFUSED(MPNUM_ERROR_OVERLAP,
          mpnum_activation_rows(MPNUM_ACTIVATION_RELU, mpnum_matrix_of(f32, to_x, 1, 8),
                                mpnum_const_matrix_of(f32, x, 1, 8), &options));
  options.factor = of_up;
  options.bias = NULL;
  options.adds = 1;
  REFUSED(MPNUM_ERROR_OVERLAP, run(f32, to_x, to_up, dy, to_x, 8));
  REFUSED(MPNUM_ERROR_ARGUMENT,
          mpnum_activation_rows(MPNUM_ACTIVATION_SILU, mpnum_matrix_of(f32, to_x, 1, 8),
                                mpnum_const_matrix_of(f32, x, 1, 8), &options));
  REFUSED(MPNUM_ERROR_ARGUMENT,
          mpnum_activation_backward_quantize_rows(
              MPNUM_ACTIVATION_SILU, mpnum_matrix_of(MPNUM_TYPE_E5M2, to_x, 1, 8),
              mpnum_matrix_empty(), mpnum_const_matrix_of(f32, dy, 1, 8),
              mpnum_const_matrix_of(f32, x, 1, 8), &options, 1, NULL));
  options.adds = 2;
  REFUSED(MPNUM_ERROR_ARGUMENT, run(f32, to_x, to_up, dy, x, 8));
  options.adds = 0;
  for (int k = 0; k < 3; ++k) {
    options.limit = limits[k];
    REFUSED(MPNUM_ERROR_ARGUMENT, run(f32, to_x, to_up, dy, x, 8));
    options.limit = 0;
    options.alpha = limits[k];
    REFUSED(MPNUM_ERROR_ARGUMENT, run(f32, to_x, to_up, dy, x, 8));
    options.alpha = 0;
    options.offset = limits[k];
    if (k) REFUSED(MPNUM_ERROR_ARGUMENT, run(f32, to_x, to_up, dy, x, 8));
    options.offset = 0;
  }
  options.alpha = 2; /* of SILU alone, and of no function of the caller */
  REFUSED(MPNUM_ERROR_ARGUMENT,
          mpnum_activation_rows(MPNUM_ACTIVATION_GELU, mpnum_matrix_of(f32, to_x, 1, 8),
                                mpnum_const_matrix_of(f32, x, 1, 8), &options));
  options.function = mpnum_silu_light_f32_array;
  REFUSED(MPNUM_ERROR_ARGUMENT, run(f32, to_x, to_up, dy, x, 8));
  options = mpnum_activation_default();
  CHECK(run(f32, NULL, NULL, NULL, NULL, 0) == MPNUM_OK, "no elements");
}
/* Which a compiler makes of 0 that may ignore signs of zeros. */
static void minus_zero_in_options_is_zero(void) {
  float usual[2][8];
  options = mpnum_activation_default();
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, up, 1, 8);
  must(run(MPNUM_TYPE_F32, usual[0], usual[1], dy, x, 8));
  options.limit = options.alpha = options.offset = mpnum_from_bits_f32(0x80000000u);
  must(run(MPNUM_TYPE_F32, to_x, to_up, dy, x, 8));
  CHECK(memcmp(to_x, usual[0], sizeof usual[0]) == 0 &&
            memcmp(to_up, usual[1], sizeof usual[1]) == 0,
        "gradients");
}
static mpnum_status run_turns(float *to, size_t columns, float *b, const float *of_dy,
                              const float *of_x) {
  const mpnum_type f32 = MPNUM_TYPE_F32;
  return mpnum_activation_backward_rows(
      MPNUM_ACTIVATION_SILU, mpnum_matrix_of(f32, to, 1, columns),
      mpnum_matrix_of(f32, b, 1, columns / 2), mpnum_const_matrix_of(f32, of_dy, 1, 4),
      mpnum_const_matrix_of(f32, of_x, 1, 8), &options);
}
static void turns_that_do_not_fit_are_refused(void) {
  options = mpnum_activation_default();
  options.is_interleaved = 1;
  CHECK(run_turns(to_x, 8, NULL, dy, x) == MPNUM_OK, "this is not refused");
  REFUSED(MPNUM_ERROR_NULL, run_turns(NULL, 8, NULL, dy, x));
  REFUSED(MPNUM_ERROR_SHAPE, run_turns(to_x, 4, NULL, dy, x));
  REFUSED(MPNUM_ERROR_SHAPE, run_turns(to_x, 8, to_up, dy, x)); /* no factor */
  REFUSED(MPNUM_ERROR_OVERLAP, run_turns(to_x, 8, NULL, to_x, x));
  REFUSED(MPNUM_ERROR_OVERLAP, run_turns(to_x, 8, NULL, to_x + 7, x));
  REFUSED(MPNUM_ERROR_OVERLAP, run_turns(to_x, 8, NULL, dy, to_x + 1));
  options.bias = to_x + 7;
  REFUSED(MPNUM_ERROR_OVERLAP, run_turns(to_x, 8, NULL, dy, x));
  options.bias = to_x + 1;
  REFUSED(MPNUM_ERROR_OVERLAP, run_turns(to_x + 8, 8, NULL, dy, x));
  options.bias = NULL;
  options.adds = 1;
  REFUSED(MPNUM_ERROR_OVERLAP, run_turns(to_x, 8, NULL, dy, to_x));
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, up, 1, 4);
  REFUSED(MPNUM_ERROR_ARGUMENT, run_turns(to_x, 8, NULL, dy, x));
}
/* A bias in the caller's frame is no place of a result. */
static void a_bias_lies_anywhere(void) {
  float on_stack[64];
  for (size_t i = 0; i < 64; ++i)
    on_stack[i] = 0.5f, x[i] = 1, dy[i] = 1;
  options = mpnum_activation_default();
  options.bias = on_stack;
  must(mpnum_activation_backward_rows(
      MPNUM_ACTIVATION_SILU, mpnum_matrix_of(MPNUM_TYPE_F32, to_x, 30, 64),
      mpnum_matrix_empty(), mpnum_const_matrix_of(MPNUM_TYPE_F32, dy, 30, 64),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 30, 64), &options));
  CHECK(bits_of(to_x[0]) == bits_of(mpnum_silu_derivative_f32(1.5f)), "%g",
        (double)to_x[0]);
}

/* A function of the caller gives the value, not the derivative. */
static void functions_give_the_value(void) {
  for (size_t i = 0; i < MOST; ++i)
    x[i] = (float)uniform(-6, 6), dy[i] = (float)uniform(-1, 1), up[i] = 2;
  options = mpnum_activation_default();
  options.function = mpnum_silu_light_f32_array;
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, up, 1, MOST);
  must(run(MPNUM_TYPE_F32, to_x, to_up, dy, x, MOST));
  for (size_t i = 0; i < MOST; ++i) {
    const float of_x =
        product_once(product_once(dy[i], 2), mpnum_silu_derivative_f32(x[i]));
    CHECK(bits_of(to_x[i]) == bits_of(of_x) &&
              bits_of(to_up[i]) ==
                  bits_of(product_once(dy[i], mpnum_silu_light_f32(x[i]))),
          "%zu", i);
  }
}

/* Rows of which one array alone has gaps are those without; gaps stay as they are. */
static void one_array_may_have_gaps(void) {
  enum { N = 7, WIDE = 10, ALL = ROWS * WIDE };
  float given[3][ALL], made[2][ALL];
  for (size_t i = 0; i < MOST; ++i)
    x[i] = (float)uniform(-6, 6), dy[i] = (float)uniform(-1, 1), up[i] = x[i] / 2;
  for (int side = 0; side < 5; ++side) {
    size_t strides[5] = {N, N, N, N, N};
    const float *const from[3] = {dy, x, up};
    mpnum_const_matrix in[3];
    mpnum_matrix out[2];
    strides[side] = WIDE;
    options = mpnum_activation_default();
    options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, up, ROWS, N);
    must(mpnum_activation_backward_rows(
        MPNUM_ACTIVATION_SILU, mpnum_matrix_of(MPNUM_TYPE_F32, to_x, ROWS, N),
        mpnum_matrix_of(MPNUM_TYPE_F32, to_up, ROWS, N),
        mpnum_const_matrix_of(MPNUM_TYPE_F32, dy, ROWS, N),
        mpnum_const_matrix_of(MPNUM_TYPE_F32, x, ROWS, N), &options));
    for (int k = 0; k < 3; ++k) {
      for (size_t i = 0; i < ROWS * N; ++i)
        given[k][i / N * strides[k] + i % N] = from[k][i];
      in[k] = mpnum_const_matrix_of(MPNUM_TYPE_F32, given[k], ROWS, N);
      in[k].stride = strides[k];
    }
    for (int k = 0; k < 2; ++k) {
      for (size_t i = 0; i < ALL; ++i)
        made[k][i] = 42;
      out[k] = mpnum_matrix_of(MPNUM_TYPE_F32, made[k], ROWS, N);
      out[k].stride = strides[3 + k];
    }
    options.factor = in[2];
    must(mpnum_activation_backward_rows(MPNUM_ACTIVATION_SILU, out[0], out[1], in[0],
                                        in[1], &options));
    for (int k = 0; k < 2; ++k)
      for (size_t i = 0; i < ALL; ++i) {
        const size_t row = i / out[k].stride, column = i % out[k].stride;
        const int is_gap = row >= ROWS || column >= N;
        const float *const want_at = k ? to_up : to_x;
        CHECK(bits_of(made[k][i]) ==
                  (is_gap ? 0x42280000u : bits_of(want_at[row * N + column])),
              "array %d with gaps: gradient %d, %zu", side, k, i);
      }
  }
}

/* Codes and losses are those of the gradients as floats. */
static void codes_are_those_of_floats(void) {
  for (int k = 0; k < 20; ++k) {
    const size_t n = lengths[k % 6], count = ROWS * n;
    const mpnum_type types[] = {MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3};
    mpnum_quantize_losses wanted = {0, 0, 0, 0}, found = {0, 0, 0, 0};
    make(x, MPNUM_TYPE_BF16, src, count, 10);
    make(up, MPNUM_TYPE_BF16, factor, count, 9);
    make(dy, MPNUM_TYPE_BF16, gradient, count, 3);
    options = mpnum_activation_default();
    options.factor = mpnum_const_matrix_of(MPNUM_TYPE_BF16, factor, ROWS, n);
    memset(want, 0x35, sizeof want);
    memset(got, 0x35, sizeof got);
    must(mpnum_activation_backward_rows(
        (mpnum_activation)(k % KINDS), mpnum_matrix_of(MPNUM_TYPE_F32, to_x, ROWS, n),
        mpnum_matrix_of(MPNUM_TYPE_F32, to_up, ROWS, n),
        mpnum_const_matrix_of(MPNUM_TYPE_BF16, gradient, ROWS, n),
        mpnum_const_matrix_of(MPNUM_TYPE_BF16, src, ROWS, n), &options));
    must(mpnum_quantize_array(types[k % 2], want[0], MPNUM_TYPE_F32, to_x, count, 30,
                              &wanted));
    must(mpnum_quantize_array(types[k / 2 % 2], want[1], MPNUM_TYPE_F32, to_up, count, 30,
                              &wanted));
    must(mpnum_activation_backward_quantize_rows(
        (mpnum_activation)(k % KINDS), mpnum_matrix_of(types[k % 2], got[0], ROWS, n),
        mpnum_matrix_of(types[k / 2 % 2], got[1], ROWS, n),
        mpnum_const_matrix_of(MPNUM_TYPE_BF16, gradient, ROWS, n),
        mpnum_const_matrix_of(MPNUM_TYPE_BF16, src, ROWS, n), &options, 30, &found));
    CHECK(memcmp(got, want, sizeof got) == 0 && found.saturated == wanted.saturated &&
              found.underflowed == wanted.underflowed &&
              found.nonfinite == wanted.nonfinite &&
              bits_of(found.amax) == bits_of(wanted.amax) && found.amax > 0,
          "codes of %d, %zu columns", k, n);
  }
}

/* The sum of rows of a column of floats, halves first; those past the end are 0. */
static float sum_of_halves(const float *column, size_t step, size_t rows, size_t n) {
  if (rows == 0) return 0;
  if (n == 1) return column[0];
  return sum_once(
      sum_of_halves(column, step, rows < n / 2 ? rows : n / 2, n / 2),
      sum_of_halves(column + n / 2 * step, step, rows > n / 2 ? rows - n / 2 : 0, n / 2));
}
static void columns_are_summed_by_halves(void) {
  static const size_t heights[] = {1, 2, 3, 63, 64, 65, 100, 192, 200};
  for (int k = 0; k < 90; ++k) {
    const mpnum_type type = row_types[k % 5];
    const size_t rows = heights[k % 9], most = COUNT / rows;
    const size_t n = most < 300 ? most : (size_t)uniform(1, 300), stride = n;
    const int adds = k % 3 == 0;
    make(x, type, src, rows * stride, k % 7 ? 6 : 3e38);
    make(to_x, MPNUM_TYPE_F32, want[0], n + 1, 6);
    memcpy(to_up, to_x, (n + 1) * sizeof *to_x);
    must(mpnum_sum_columns(to_x, mpnum_const_matrix_of(type, src, rows, n), adds));
    for (size_t c = 0; c < n; ++c) {
      volatile double sum = 0;
      long double total = adds ? (long double)to_up[c] : 0, size = fabsl(total);
      for (size_t r = 0; r < rows; r += 64) {
        const size_t left = rows - r;
        sum +=
            (double)sum_of_halves(x + r * stride + c, stride, left < 64 ? left : 64, 64);
      }
      if (adds) sum += (double)to_up[c];
      for (size_t r = 0; r < rows; ++r) {
        total += (long double)x[r * stride + c];
        size += fabsl((long double)x[r * stride + c]);
      }
      CHECK(bits_of(to_x[c]) == bits_of(canonical((float)sum)),
            "column %zu of %zu x %zu: %a, not %a", c, rows, n, (double)to_x[c], sum);
      CHECK(!(size < 3e38L) ||
                fabsl((long double)to_x[c] - total) <= 7 * 0x1p-24L * size + 0x1p-149L,
            "column %zu of %zu x %zu is %La off", c, rows, n,
            (long double)to_x[c] - total);
    }
    CHECK(bits_of(to_x[n]) == bits_of(to_up[n]), "written behind the sums");
  }
  REFUSED(MPNUM_ERROR_TYPE,
          mpnum_sum_columns(to_x, mpnum_const_matrix_of(MPNUM_TYPE_F64, x, 2, 8), 0));
  REFUSED(MPNUM_ERROR_NULL,
          mpnum_sum_columns(NULL, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 8), 0));
  REFUSED(MPNUM_ERROR_NULL,
          mpnum_sum_columns(to_x, mpnum_const_matrix_of(MPNUM_TYPE_F32, NULL, 2, 8), 0));
  REFUSED(MPNUM_ERROR_ARGUMENT,
          mpnum_sum_columns(to_x, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 8), 2));
  REFUSED(
      MPNUM_ERROR_OVERLAP,
      mpnum_sum_columns(to_x + 15, mpnum_const_matrix_of(MPNUM_TYPE_F32, to_x, 2, 8), 0));
}

int main(void) {
  RUN_FOR_EACH_ISA(elements_are_those_of_scalar_steps);
  TAP_RUN(gradients_are_slopes_of_the_formula);
  RUN_FOR_EACH_ISA(bounds_let_nothing_through);
  RUN_FOR_EACH_ISA(relu_lets_nothing_through);
  RUN_FOR_EACH_ISA(gate_and_up_by_turns);
  RUN_FOR_EACH_ISA(codes_by_turns);
  TAP_RUN(what_is_refused);
  TAP_RUN(minus_zero_in_options_is_zero);
  TAP_RUN(turns_that_do_not_fit_are_refused);
  TAP_RUN(a_bias_lies_anywhere);
  TAP_RUN(functions_give_the_value);
  RUN_FOR_EACH_ISA(codes_are_those_of_floats);
  TAP_RUN(one_array_may_have_gaps);
  RUN_FOR_EACH_ISA(columns_are_summed_by_halves);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* activation_rows.h: each element is the function of the sum, times the factor, by the
 * scalar functions and the arithmetic of C. */
#include "row_checks.h"
#include "../harness/must.h"

#include <math.h>

#include <mpnum/rows/activation_rows.h>
#include <mpnum/array/array.h>
#include <mpnum/array/scale.h>
#include <mpnum/func/func.h>
#include <mpnum/func/light.h>

enum { ROWS = 3, MOST = 2100, COUNT = ROWS * MOST };
static const mpnum_activation activations[] = {
    MPNUM_ACTIVATION_SILU, MPNUM_ACTIVATION_GELU, MPNUM_ACTIVATION_GELU_TANH};
static const size_t lengths[] = {1, 7, 64, 130, MOST};
static float x[COUNT], up[COUNT], y[COUNT], bias[MOST];
static const size_t turn_lengths[] = {1, 7, 64, 130, 1050, 1024};
static uint8_t turns[8 * COUNT];
static uint8_t src[4 * COUNT], factor[4 * COUNT], got[4 * COUNT + 16], want[4 * COUNT];

static void convert(mpnum_type to, void *dst, mpnum_type from, const void *of, size_t n) {
  must(mpnum_convert_array(to, dst, from, of, n, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_IEEE, 0, 0));
}
/* Elements of both types, some of them special, as bytes and as the floats they are. */
static void make(mpnum_type type, mpnum_type other, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    x[i] = (float)uniform(-6, 6);
    up[i] = (float)uniform(-3, 3);
  }
  for (size_t i = 0; i < MOST; ++i)
    bias[i] = (float)uniform(-1, 1);
  if (n > 20) {
    x[3] = up[5] = mpnum_from_bits_f32(0xff812345u); /* NaN */
    x[6] = up[8] = mpnum_from_bits_f32(0x7f800000u);
    x[9] = up[9] = mpnum_from_bits_f32(0xff800000u);
    x[10] = -0.0f;
  }
  convert(type, src, MPNUM_TYPE_F32, x, n);
  convert(other, factor, MPNUM_TYPE_F32, up, n);
  convert(MPNUM_TYPE_F32, x, type, src, n);
  convert(MPNUM_TYPE_F32, up, other, factor, n);
}
/* Functions in the place of activations, and their elements. */
static void (*const functions[])(float *, const float *, size_t) = {
    mpnum_silu_light_f32_array, mpnum_gelu_light_f32_array,
    mpnum_gelu_tanh_light_f32_array};
static int is_light;
static float activated(mpnum_activation activation, float of) {
  switch ((int)activation + 3 * is_light) {
  case 0: return mpnum_silu_f32(of);
  case 1: return mpnum_gelu_f32(of);
  case 2: return mpnum_gelu_tanh_f32(of);
  case 3: return mpnum_silu_light_f32(of);
  case 4: return mpnum_gelu_light_f32(of);
  default: return mpnum_gelu_tanh_light_f32(of);
  }
}
static float expected(mpnum_activation activation, float of, const float *times) {
  float result = activated(activation, of);
  if (times) result = product_once(result, *times);
  return mpnum_isnan_f32(result) ? mpnum_from_bits_f32(0x7fffffffu) : result;
}
static void expect_rows(mpnum_activation activation, size_t columns, const float *added,
                        int is_multiplied) {
  for (size_t i = 0; i < ROWS * columns; ++i)
    y[i] = expected(activation, added ? sum_once(x[i], added[i % columns]) : x[i],
                    is_multiplied ? &up[i] : NULL);
}

static void elements_are_those_of_scalar_steps(void) {
  for (int k = 0; k < 5 * 5 * 5 * 4 * 2; ++k) {
    const mpnum_type type = row_types[k % 5], other = row_types[k / 5 % 5];
    const mpnum_type to = row_types[(k + k / 5) % 5];
    const mpnum_activation activation = activations[k % 3];
    const size_t n = lengths[k / 25 % 5], count = ROWS * n;
    const int has_bias = k / 125 % 2, has_factor = k / 250 % 2;
    mpnum_activation_options options = mpnum_activation_default();
    make(type, other, count);
    is_light = k / 500;
    if (is_light) options.function = functions[k % 3];
    if (has_bias) options.bias = bias;
    if (has_factor) options.factor = mpnum_const_matrix_of(other, factor, ROWS, n);
    expect_rows(activation, n, options.bias, has_factor);
    convert(to, want, MPNUM_TYPE_F32, y, count);
    memset(got, 0x5c, sizeof got);
    CHECK(mpnum_activation_rows(activation, mpnum_matrix_of(to, got, ROWS, n),
                                mpnum_const_matrix_of(type, src, ROWS, n),
                                &options) == MPNUM_OK,
          "status");
    CHECK(memcmp(got, want, count * size_of(to)) == 0 && got[count * size_of(to)] == 0x5c,
          "%d of %s to %s, %zu columns, %d %d", (int)activation, mpnum_type_name(type),
          mpnum_type_name(to), n, has_bias, has_factor);
    if (to != type) continue;
    must(mpnum_activation_rows(activation, mpnum_matrix_of(to, src, ROWS, n),
                               mpnum_const_matrix_of(type, src, ROWS, n), &options));
    CHECK(memcmp(src, want, count * size_of(to)) == 0, "in place of src");
  }
}

/* Relu and its square, and the numbers of options: limit, alpha, offset. */
static float limited(float of, float most) { return is_above(of, most) ? most : of; }
static float new_value(int kind, float of, float alpha) {
  if (kind == 0 && alpha > 0)
    return product_once(mpnum_silu_f32(product_once(alpha, of)), quotient_once(1, alpha));
  if (kind < 3) return activated((mpnum_activation)kind, of);
  if (!is_above(of, 0) && !mpnum_isnan_f32(of)) return 0;
  return kind == 3 ? of : product_once(of, of);
}
static void numbers_bound_and_move(void) {
  static const float numbers[4][3] = {
      {0, 0, 0}, {5, 1.702f, 1}, {2.5f, 1, 0}, {0, 3, -0.5f}};
  is_light = 0;
  for (int k = 0; k < 500; ++k) {
    const mpnum_type type = row_types[k % 5], other = row_types[k / 5 % 5];
    const size_t n = lengths[k / 25 % 5], count = ROWS * n;
    const float *how = numbers[k % 4];
    const int kind = k / 7 % 5, has_factor = k % 3 != 0, has_bias = k / 3 % 2;
    const float most = how[0] > 0 ? how[0] : mpnum_from_bits_f32(0x7f800000u);
    const float alpha = how[1] > 0 && kind == 0 ? how[1] : 0;
    mpnum_activation_options options = mpnum_activation_default();
    options.limit = how[0];
    options.alpha = kind ? 0 : how[1];
    options.offset = how[2];
    make(type, other, count);
    if (has_bias) options.bias = bias;
    if (has_factor) options.factor = mpnum_const_matrix_of(other, factor, ROWS, n);
    for (size_t i = 0; i < count; ++i) {
      const float in = limited(has_bias ? sum_once(x[i], bias[i % n]) : x[i], most);
      float f = is_above(-most, up[i]) ? -most : limited(up[i], most);
      if (how[2] < 0 || how[2] > 0) f = sum_once(f, how[2]);
      y[i] = new_value(kind, in, alpha > 1 ? alpha : 0);
      if (has_factor) y[i] = product_once(y[i], f);
      if (mpnum_isnan_f32(y[i])) y[i] = mpnum_from_bits_f32(0x7fffffffu);
    }
    convert(type, want, MPNUM_TYPE_F32, y, count);
    must(mpnum_activation_rows((mpnum_activation)kind,
                               mpnum_matrix_of(type, got, ROWS, n),
                               mpnum_const_matrix_of(type, src, ROWS, n), &options));
    CHECK(memcmp(got, want, count * size_of(type)) == 0,
          "%d of %s, %zu columns, numbers %d, factor %d", kind, mpnum_type_name(type), n,
          k % 4, has_factor);
  }
}
/* Gate and up by turns, as gpt-oss has them; a bias is one of both. Rows are as far apart
 * as chance has it. */
static void expect_turns(int kind, const float *how, size_t n, int has_bias) {
  const float most = how[0] > 0 ? how[0] : mpnum_from_bits_f32(0x7f800000u);
  for (size_t i = 0; i < ROWS * n; ++i) {
    const float *added = bias + 2 * (i % n);
    const float in = limited(has_bias ? sum_once(x[i], added[0]) : x[i], most);
    float f = has_bias ? sum_once(up[i], added[1]) : up[i];
    f = is_above(-most, f) ? -most : limited(f, most);
    if (how[2] < 0 || how[2] > 0) f = sum_once(f, how[2]);
    y[i] = product_once(new_value(kind, in, how[1] > 1 && kind == 0 ? how[1] : 0), f);
    if (mpnum_isnan_f32(y[i])) y[i] = mpnum_from_bits_f32(0x7fffffffu);
  }
}
static mpnum_const_matrix by_turns(mpnum_type type, size_t n, size_t stride) {
  mpnum_const_matrix made = mpnum_const_matrix_of(type, turns, ROWS, 2 * n);
  const size_t size = size_of(type);
  memset(turns, 0x5c, sizeof turns);
  made.stride = stride;
  for (size_t i = 0; i < ROWS * n; ++i) {
    uint8_t *to = turns + (i / n * stride + 2 * (i % n)) * size;
    memcpy(to, src + i * size, size);
    memcpy(to + size, factor + i * size, size);
  }
  return made;
}
static void gate_and_up_by_turns(void) {
  static const float numbers[4][3] = {
      {0, 0, 0}, {5, 1.702f, 1}, {2.5f, 1, 0}, {0, 3, -0.5f}};
  is_light = 0;
  for (int k = 0; k < 300; ++k) {
    const mpnum_type type = row_types[k % 5], to = row_types[k / 5 % 5];
    const size_t n = turn_lengths[k / 25 % 6], count = ROWS * n;
    const float *how = numbers[k % 4];
    const int kind = k / 7 % 5, has_bias = k / 3 % 2;
    mpnum_activation_options options = mpnum_activation_default();
    mpnum_quantize_losses losses = {0, 0, 0, 0}, wanted = losses;
    mpnum_const_matrix pairs;
    options.limit = how[0];
    options.alpha = kind ? 0 : how[1];
    options.offset = how[2];
    options.is_interleaved = 1;
    make(type, type, count);
    pairs = by_turns(type, n, 2 * n + (size_t)(k / 2 % 3));
    if (has_bias) options.bias = bias;
    expect_turns(kind, how, n, has_bias);
    convert(to, want, MPNUM_TYPE_F32, y, count);
    memset(got, 0x5c, sizeof got);
    must(mpnum_activation_rows((mpnum_activation)kind, mpnum_matrix_of(to, got, ROWS, n),
                               pairs, &options));
    CHECK(memcmp(got, want, count * size_of(to)) == 0 && got[count * size_of(to)] == 0x5c,
          "%d of %s, %zu columns, numbers %d, bias %d", kind, mpnum_type_name(type), n,
          k % 4, has_bias);
    must(mpnum_activation_quantize_rows((mpnum_activation)kind,
                                        mpnum_matrix_of(MPNUM_TYPE_E4M3, got, ROWS, n),
                                        pairs, &options, 3, &losses));
    must(mpnum_quantize_array(MPNUM_TYPE_E4M3, want, MPNUM_TYPE_F32, y, count, 3,
                              &wanted));
    CHECK(memcmp(got, want, count) == 0 && memcmp(&losses, &wanted, sizeof losses) == 0,
          "codes of %d, %zu columns", kind, n);
  }
}
static mpnum_status turned(mpnum_matrix dst, mpnum_const_matrix of,
                           const mpnum_activation_options *options) {
  return mpnum_activation_rows(MPNUM_ACTIVATION_SILU, dst, of, options);
}
static void turns_that_do_not_fit_are_refused(void) {
  const mpnum_const_matrix of = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 8);
  const mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, y, 2, 4);
  mpnum_activation_options options = mpnum_activation_default();
  options.is_interleaved = 1;
  CHECK(turned(dst, of, &options) == MPNUM_OK, "this is not refused");
  memset(y, 0x5c, sizeof y);
  memcpy(want, y, sizeof y);
  CHECK(turned(mpnum_matrix_of(MPNUM_TYPE_F32, y, 2, 8), of, &options) ==
            MPNUM_ERROR_SHAPE,
        "as many columns");
  CHECK(turned(dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 9), &options) ==
            MPNUM_ERROR_SHAPE,
        "an odd number of columns");
  CHECK(turned(dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, y + 7, 2, 8), &options) ==
            MPNUM_ERROR_OVERLAP,
        "results on the end of them");
  CHECK(turned(dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, y, 2, 8), &options) ==
            MPNUM_ERROR_OVERLAP,
        "results in their place");
  options.bias = y + 7;
  CHECK(turned(dst, of, &options) == MPNUM_ERROR_OVERLAP, "results on the bias");
  options.bias = NULL;
  options.is_interleaved = 2;
  CHECK(turned(dst, of, &options) == MPNUM_ERROR_ARGUMENT, "two");
  options.is_interleaved = 1;
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, up, 2, 4);
  CHECK(turned(dst, of, &options) == MPNUM_ERROR_ARGUMENT, "another factor");
  CHECK(memcmp(want, y, sizeof y) == 0, "written");
}
/* gpt-oss: (up + 1) gate sigmoid(1.702 gate), gate at most 7, up from -7 to 7. */
static void the_swiglu_of_gpt_oss_is_the_formula(void) {
  mpnum_activation_options options = mpnum_activation_default();
  for (size_t i = 0; i < MOST; ++i)
    x[i] = (float)uniform(-12, 12), up[i] = (float)uniform(-12, 12);
  options.limit = 7;
  options.alpha = 1.702f;
  options.offset = 1;
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, up, 1, MOST);
  must(mpnum_activation_rows(
      MPNUM_ACTIVATION_SILU, mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, MOST),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, MOST), &options));
  for (size_t i = 0; i < MOST; ++i) {
    const long double gate = fminl(x[i], 7), f = fmaxl(fminl(up[i], 7), -7) + 1;
    const long double glu = gate / (1 + expl(-(long double)1.702f * gate));
    /* the exponent is off by half a place of up to 21 */
    CHECK(fabsl(y[i] - glu * f) <= 0x1p-19L * fabsl(glu) * (fabsl(f) + 1), "%g, %g: %g",
          (double)x[i], (double)up[i], (double)y[i]);
  }
}

/* Squares around the smallest floats, of 2^-87 to 2^-57: products of doubles are exact.
 */
static void squares_of_relu_are_rounded_once(void) {
  enum { N = 1050 };
  for (size_t i = 0; i < 2 * N; ++i)
    x[i] = (float)ldexp(uniform(i % 4 == 1 ? -2 : 1, i % 4 == 1 ? -1 : 2),
                        -87 + (int)(i % 31));
  x[3] = 0, x[N + 5] = -0.0f;
  must(mpnum_activation_rows(MPNUM_ACTIVATION_RELU_SQUARED,
                             mpnum_matrix_of(MPNUM_TYPE_F32, y, 2, N),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, N), NULL));
  for (size_t i = 0; i < 2 * N; ++i) {
    const int is_above_0 = (int32_t)bits_of(x[i]) > 0;
    const double square = is_above_0 ? (double)x[i] * (double)x[i] : 0;
    CHECK(bits_of(y[i]) == bits_of(mpnum_f64_to_f32(square)),
          "%zu: the square of %a is %a", i, (double)x[i], (double)y[i]);
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(elements_are_those_of_scalar_steps);
  RUN_FOR_EACH_ISA(numbers_bound_and_move);
  RUN_FOR_EACH_ISA(gate_and_up_by_turns);
  RUN_FOR_EACH_ISA(squares_of_relu_are_rounded_once);
  TAP_RUN(turns_that_do_not_fit_are_refused);
  TAP_RUN(the_swiglu_of_gpt_oss_is_the_formula);
  return tap_done();
}

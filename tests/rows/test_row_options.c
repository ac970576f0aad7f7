/* SPDX-License-Identifier: MIT */
/* Causal lengths, biases, reductions, classes of 32 bits, gradients that add to what is
 * there, backward passes, sums by hand and tiles of a state: against what is said of them
 * in long double, or against calls that say the same in another way. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/rows/cross_entropy.h>
#include <mpnum/rows/softmax_cap.h>

#include <math.h>

enum { ROWS = 9, MOST = 5000 };
static float x[ROWS * MOST], y[ROWS * MOST], z[ROWS * MOST], dy[ROWS * MOST],
    bias[ROWS * MOST], loss[ROWS], other_loss[ROWS];
static const size_t sizes[] = {1, 7, 64, 70, 129, 1000, 2049, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const double unit = 0x1p-24;

static void fill(float *to, size_t n, double from, double up_to) {
  for (size_t i = 0; i < n; ++i)
    to[i] = (float)uniform(from, up_to);
}
static mpnum_matrix to_rows(float *data, size_t rows, size_t columns) {
  return mpnum_matrix_of(MPNUM_TYPE_F32, data, rows, columns);
}
static mpnum_const_matrix of_rows(const float *data, size_t rows, size_t columns) {
  return mpnum_const_matrix_of(MPNUM_TYPE_F32, data, rows, columns);
}

static size_t length_of(int64_t first, int64_t step, size_t row, size_t columns) {
  const double length = (double)first + (double)step * (double)row;
  return length < 0 ? 0 : length > (double)columns ? columns : (size_t)length;
}
static void causal_lengths_are_lengths(void) {
  static const int64_t bounds[][2] = {{1, 1},
                                      {0, 1},
                                      {-3, 1},
                                      {60, 2},
                                      {4, 0},
                                      {70, -10},
                                      {-1, -1},
                                      {INT64_MAX, INT64_MAX},
                                      {INT64_MIN, INT64_MAX},
                                      {INT64_MAX, INT64_MIN},
                                      {INT64_MIN, 1}};
  for (int s = 1; s < 5; ++s)
    for (int k = 0; k < 11; ++k) {
      const size_t n = sizes[s];
      mpnum_softmax_options causal = mpnum_softmax_default(), listed = causal;
      size_t lengths[ROWS];
      mpnum_row_status want[ROWS], got[ROWS];
      fill(x, ROWS * n, -5, 5);
      for (size_t i = 0; i < ROWS; ++i)
        lengths[i] = length_of(bounds[k][0], bounds[k][1], i, n);
      causal.first_length = bounds[k][0];
      causal.length_step = bounds[k][1];
      listed.lengths = lengths;
      for (int way = 0; way < 2; ++way) {
        CHECK(mpnum_softmax_rows(to_rows(y, ROWS, n), of_rows(x, ROWS, n), &causal,
                                 got) == MPNUM_OK &&
                  mpnum_softmax_rows(to_rows(z, ROWS, n), of_rows(x, ROWS, n), &listed,
                                     want) == MPNUM_OK,
              "run");
        CHECK(memcmp(y, z, ROWS * n * sizeof *y) == 0 &&
                  memcmp(got, want, sizeof got) == 0,
              "%zu columns, first %lld, step %lld", n, (long long)bounds[k][0],
              (long long)bounds[k][1]);
        causal.lengths = lengths; /* the smaller one counts */
        for (size_t i = 0; i < ROWS; i += 2)
          lengths[i] /= 2;
      }
    }
}
/* softmax of x scale + b is that of what fma makes of it. */
static void a_bias_is_added_before_all_else(void) {
  static const float scales[] = {1, 0.3f, 17, 0x1p-149f};
  for (int s = 0; s < SIZES; ++s)
    for (int k = 0; k < 8; ++k) {
      const size_t n = sizes[s], rows = 3, stride = k < 4 ? 0 : n;
      const float scale = scales[k % 4];
      mpnum_softmax_options how = mpnum_softmax_default(), plain = how;
      plain.flags = MPNUM_SOFTMAX_MASKED;
      how.bias = bias;
      how.bias_stride = stride;
      how.scale = scale;
      fill(x, rows * n, -5, 5);
      fill(bias, rows * n, -3, 3);
      if (n > 5) bias[3] = bias[n / 2] = MINUS;
      if (n > 5) x[4] = MINUS;
      for (size_t i = 0; i < rows; ++i)
        for (size_t c = 0; c < n; ++c)
          z[i * n + c] = fmaf(x[i * n + c], scale, bias[i * stride + c]);
      for (int is_log = 0; is_log < 2; ++is_log) {
        mpnum_status (*call)(mpnum_matrix, mpnum_const_matrix,
                             const mpnum_softmax_options *, mpnum_row_status *) =
            is_log ? mpnum_log_softmax_rows : mpnum_softmax_rows;
        CHECK((*call)(to_rows(y, rows, n), of_rows(x, rows, n), &how, NULL) == MPNUM_OK &&
                  (*call)(to_rows(dy, rows, n), of_rows(z, rows, n), &plain, NULL) ==
                      MPNUM_OK,
              "run");
        CHECK(memcmp(y, dy, rows * n * sizeof *y) == 0, "%zu columns, scale %g, way %d",
              n, (double)scale, k);
      }
      CHECK(mpnum_logsumexp_rows(loss, of_rows(x, rows, n), &how, NULL) == MPNUM_OK &&
                mpnum_logsumexp_rows(other_loss, of_rows(z, rows, n), &plain, NULL) ==
                    MPNUM_OK &&
                memcmp(loss, other_loss, rows * sizeof *loss) == 0,
            "logsumexp of %zu", n);
    }
}
static void a_bias_goes_with_special_rows(void) {
  mpnum_softmax_options how = mpnum_softmax_default();
  mpnum_row_status status = MPNUM_ROW_OK;
  how.bias = bias;
  for (int k = 0; k < 5; ++k) {
    static const mpnum_row_status want[] = {MPNUM_ROW_NAN, MPNUM_ROW_INF, MPNUM_ROW_EMPTY,
                                            MPNUM_ROW_NAN, MPNUM_ROW_INF};
    fill(x, 100, -1, 1);
    fill(bias, 100, -1, 1);
    if (k == 0) bias[70] = A_NAN;
    if (k == 1) bias[70] = INF;
    for (int i = 0; k == 2 && i < 100; ++i)
      bias[i] = MINUS;
    if (k == 3) x[70] = INF, bias[70] = MINUS;
    if (k == 4) x[70] = 3e38f, bias[70] = 3e38f; /* overflows */
    CHECK(mpnum_softmax_rows(to_rows(y, 1, 100), of_rows(x, 1, 100), &how, &status) ==
                  MPNUM_OK &&
              status == want[k],
          "case %d: status %d", k, (int)status);
    CHECK(bits_of(y[3]) == (k == 2 ? 0 : NAN_BITS), "case %d: %a", k, (double)y[3]);
  }
}

static int64_t classes[ROWS];
static int32_t narrow_classes[ROWS];
static void make_classes(size_t n) {
  for (size_t i = 0; i < ROWS; ++i) {
    classes[i] = i % 4 == 3 ? -100 : (int64_t)(i * 31 % n);
    narrow_classes[i] = (int32_t)classes[i];
  }
}
static void reductions_are_sums_and_means_of_rows_that_count(void) {
  for (int s = 0; s < SIZES; ++s) {
    const size_t n = sizes[s];
    mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
    long double sum = 0;
    size_t counted = 99, others = 0;
    how.factor = 3;
    how.reduction = MPNUM_REDUCTION_NONE;
    how.counted = &counted;
    fill(x, ROWS * n, -5, 5);
    make_classes(n);
    CHECK(mpnum_cross_entropy_rows(loss, to_rows(y, ROWS, n), of_rows(x, ROWS, n),
                                   classes, &how, NULL) == MPNUM_OK &&
              counted == 7,
          "none: %zu count", counted);
    for (size_t i = 0; i < ROWS; ++i)
      sum += (long double)loss[i];
    for (int mean = 0; mean < 2; ++mean) {
      const long double want = mean ? sum / 7 : sum;
      how.reduction = mean ? MPNUM_REDUCTION_MEAN : MPNUM_REDUCTION_SUM;
      other_loss[1] = 42;
      counted = 99;
      CHECK(mpnum_cross_entropy_rows(other_loss, to_rows(z, ROWS, n), of_rows(x, ROWS, n),
                                     classes, &how, NULL) == MPNUM_OK &&
                counted == 7,
            "run");
      CHECK(fabsl((long double)other_loss[0] - want) <= fabsl(want) * 0x1p-24L &&
                other_loss[1] > 41,
            "%zu columns, mean %d: %a, want %La", n, mean, (double)other_loss[0], want);
      for (size_t i = 0; i < ROWS * n; ++i) {
        const double own = (double)y[i] / (mean ? 7 : 1);
        others += !(fabs((double)z[i] - own) <= fabs(own) * 4 * unit);
      }
      CHECK(others == 0, "%zu columns, mean %d: %zu gradients", n, mean, others);
    }
  }
}
static void a_mean_of_no_rows_is_nan(void) {
  mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
  size_t counted = 99;
  how.reduction = MPNUM_REDUCTION_MEAN;
  how.counted = &counted;
  classes[0] = classes[1] = -100;
  fill(x, 20, -1, 1);
  CHECK(mpnum_cross_entropy_rows(loss, to_rows(y, 2, 10), of_rows(x, 2, 10), classes,
                                 &how, NULL) == MPNUM_OK &&
            bits_of(loss[0]) == NAN_BITS && counted == 0 && bits_of(y[3]) == 0,
        "mean %a of %zu", (double)loss[0], counted);
  how.reduction = MPNUM_REDUCTION_SUM;
  CHECK(mpnum_cross_entropy_rows(loss, to_rows(y, 2, 10), of_rows(x, 2, 10), classes,
                                 &how, NULL) == MPNUM_OK &&
            bits_of(loss[0]) == 0,
        "sum");
  counted = 99;
  how.reduction = (mpnum_reduction)3;
  CHECK(mpnum_cross_entropy_rows(loss, to_rows(y, 2, 10), of_rows(x, 2, 10), classes,
                                 &how, NULL) == MPNUM_ERROR_ARGUMENT &&
            counted == 99,
        "another reduction");
}
/* What is there, of either type, plus the gradient; nothing of rows without one. */
static void gradients_add_to_what_is_there(void) {
  static uint16_t held[ROWS * MOST];
  for (int s = 0; s < SIZES; ++s)
    for (int is_16 = 0; is_16 < 2; ++is_16) {
      const size_t n = sizes[s];
      mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
      size_t others = 0;
      if (s % 2) how.softmax.first_length = (int64_t)(n - n / 3);
      fill(x, ROWS * n, -5, 5);
      make_classes(n);
      CHECK(mpnum_cross_entropy_rows(loss, to_rows(y, ROWS, n), of_rows(x, ROWS, n),
                                     classes, &how, NULL) == MPNUM_OK,
            "run");
      fill(z, ROWS * n, -1, 1);
      mpnum_f32_to_f16_array((mpnum_f16 *)held, z, ROWS * n);
      if (is_16) mpnum_f16_to_f32_array(z, (const mpnum_f16 *)held, ROWS * n);
      for (size_t i = 0; i < ROWS * n; ++i)
        dy[i] = (float)((double)y[i] + (double)z[i]);
      how.softmax.flags = MPNUM_SOFTMAX_ACCUMULATE;
      CHECK(mpnum_cross_entropy_rows(
                other_loss,
                is_16 ? mpnum_matrix_of(MPNUM_TYPE_F16, held, ROWS, n)
                      : to_rows(z, ROWS, n),
                of_rows(x, ROWS, n), classes, &how, NULL) == MPNUM_OK &&
                memcmp(loss, other_loss, sizeof loss) == 0,
            "run");
      if (is_16) {
        mpnum_f32_to_f16_array((mpnum_f16 *)(void *)bias, dy, ROWS * n);
        CHECK(memcmp(bias, held, ROWS * n * 2) == 0, "f16, %zu columns", n);
      } else {
        for (size_t i = 0; i < ROWS * n; ++i)
          others += bits_of(z[i]) != bits_of(dy[i]);
        CHECK(others == 0, "f32, %zu columns: %zu others", n, others);
      }
      CHECK(mpnum_cross_entropy_rows(loss, to_rows(x, ROWS, n), of_rows(x, ROWS, n),
                                     classes, &how, NULL) == MPNUM_ERROR_OVERLAP,
            "in place");
    }
}

/* NaN that is there is the canonical one afterwards. */
static void gradients_add_to_nan(void) {
  enum { N = 70 };
  for (int way = 0; way < 3; ++way) {
    mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
    const mpnum_matrix dst = to_rows(z, 1, N);
    mpnum_status status = MPNUM_OK;
    how.softmax.flags = MPNUM_SOFTMAX_ACCUMULATE;
    fill(y, N, -4, -3);
    fill(dy, N, -1, 1);
    for (size_t i = 0; i < N; ++i)
      z[i] = i % 3 ? A_NAN : 1;
    classes[0] = 7;
    if (way == 0)
      status = mpnum_cross_entropy_rows(loss, dst, of_rows(y, 1, N), classes, &how, NULL);
    if (way == 1)
      status = mpnum_softmax_backward_rows(dst, of_rows(dy, 1, N), of_rows(y, 1, N),
                                           &how.softmax);
    if (way == 2)
      status = mpnum_log_softmax_backward_rows(dst, of_rows(dy, 1, N), of_rows(y, 1, N),
                                               &how.softmax);
    CHECK(status == MPNUM_OK, "run");
    for (size_t i = 0; i < N; ++i)
      CHECK((bits_of(z[i]) == NAN_BITS) == (i % 3 != 0), "way %d: %zu is %a", way, i,
            (double)z[i]);
  }
}

/* By definition, and its bound: of each difference and product 1, of d 40 of the sum of
 * magnitudes, of e^y 2. */
static void check_backward(int is_log, size_t n, float scale, const uint8_t *used,
                           size_t row) {
  const float *own = y + row * n, *given = dy + row * n;
  long double sum = 0, size = 0;
  for (size_t i = 0; i < n; ++i)
    if (!used || used[i]) {
      const long double term = (long double)given[i] * (is_log ? 1 : (long double)own[i]);
      sum += term;
      size += fabsl(term);
    }
  for (size_t i = 0; i < n; ++i) {
    const long double p = is_log ? expl((long double)own[i]) : (long double)own[i];
    const long double one = (long double)given[i], got = (long double)z[row * n + i];
    const long double want =
        (is_log ? one - p * sum : (one - sum) * p) * (long double)scale;
    const long double parts = is_log ? fabsl(one) + p * (5 * fabsl(sum) + 40 * size)
                                     : p * (fabsl(one) + fabsl(sum) + 40 * size);
    const long double bound =
        (3 * parts * (long double)scale + fabsl(want)) * 0x1p-24L + 0x1p-140L;
    if (used && !used[i]) {
      CHECK(bits_of(z[row * n + i]) == 0, "masked %zu", i);
    } else {
      CHECK(fabsl(got - want) <= bound, "log %d, %zu columns: %zu is %La, want %La",
            is_log, n, i, got, want);
    }
  }
}
static uint8_t mask[ROWS * MOST];
static void backward_passes_are_those_defined(void) {
  for (int s = 0; s < SIZES; ++s)
    for (int way = 0; way < 6; ++way) {
      const size_t n = sizes[s], rows = 3;
      const int is_log = way % 2, is_masked = way >= 4;
      mpnum_softmax_options how = mpnum_softmax_default();
      mpnum_status (*backward)(mpnum_matrix, mpnum_const_matrix, mpnum_const_matrix,
                               const mpnum_softmax_options *) =
          is_log ? mpnum_log_softmax_backward_rows : mpnum_softmax_backward_rows;
      how.scale = way >= 2 ? 0.3f : 1;
      for (size_t i = 0; i < rows * n; ++i)
        mask[i] = i % 3 != 1;
      if (is_masked) how.mask = mask, how.mask_stride = n;
      fill(x, rows * n, -5, 5);
      fill(dy, rows * n, -1, 2);
      if (is_log)
        must(
            mpnum_log_softmax_rows(to_rows(y, rows, n), of_rows(x, rows, n), &how, NULL));
      if (!is_log)
        must(mpnum_softmax_rows(to_rows(y, rows, n), of_rows(x, rows, n), &how, NULL));
      for (size_t i = 0; is_masked && i < rows * n; ++i) /* of what is masked anything */
        if (!mask[i]) dy[i] = y[i] = i % 2 ? A_NAN : INF;
      CHECK((*backward)(to_rows(z, rows, n), of_rows(dy, rows, n), of_rows(y, rows, n),
                        &how) == MPNUM_OK,
            "run");
      for (size_t i = 0; i < rows; ++i)
        check_backward(is_log, n, how.scale, is_masked ? mask + i * n : NULL, i);
      /* what is there, and in the place of either */
      for (size_t i = 0; i < rows * n; ++i)
        x[i] = 0.5f;
      how.flags = MPNUM_SOFTMAX_ACCUMULATE;
      CHECK((*backward)(to_rows(x, rows, n), of_rows(dy, rows, n), of_rows(y, rows, n),
                        &how) == MPNUM_OK,
            "run");
      for (size_t i = 0; i < rows * n; ++i)
        CHECK(bits_of(x[i]) == bits_of((float)((double)z[i] + 0.5)), "added at %zu", i);
      CHECK((*backward)(to_rows(y, rows, n), of_rows(dy, rows, n), of_rows(y, rows, n),
                        &how) == MPNUM_ERROR_OVERLAP,
            "in place, added");
      how.flags = 0;
      memcpy(x, dy, rows * n * sizeof *x);
      CHECK((*backward)(to_rows(x, rows, n), of_rows(x, rows, n), of_rows(y, rows, n),
                        &how) == MPNUM_OK &&
                memcmp(x, z, rows * n * sizeof *x) == 0,
            "in the place of dy");
      CHECK((*backward)(to_rows(y, rows, n), of_rows(dy, rows, n), of_rows(y, rows, n),
                        &how) == MPNUM_OK &&
                memcmp(y, z, rows * n * sizeof *y) == 0,
            "in the place of y");
    }
}
static void backward_of_a_length_leaves_the_rest(void) {
  mpnum_softmax_options how = mpnum_softmax_default();
  how.first_length = 50;
  fill(y, 140, -9, -1);
  fill(dy, 140, -1, 1);
  for (int way = 0; way < 4; ++way) {
    how.flags = way % 2 ? MPNUM_SOFTMAX_ACCUMULATE : 0;
    fill(z, 140, 5, 6);
    z[50] = z[139] = 42;
    CHECK((way / 2 ? mpnum_log_softmax_backward_rows : mpnum_softmax_backward_rows)(
              to_rows(z, 2, 70), of_rows(dy, 2, 70), of_rows(y, 2, 70), &how) == MPNUM_OK,
          "run");
    CHECK(bits_of(z[50]) == (way % 2 ? bits_of(42) : 0) &&
              bits_of(z[139]) == bits_of(z[50]),
          "way %d: %a", way, (double)z[50]);
  }
}
/* Sums of products of codes are exact, so that gradients of rows of codes are those of
 * rows of their values, rounded at the end, whatever the order of the sums. */
static void codes_of(mpnum_type type, uint8_t *codes, float *values, size_t n) {
  const mpnum_format format = mpnum_format_of(type);
  for (size_t i = 0; i < n; ++i) {
    codes[i] = (uint8_t)mpnum_encode(format, values[i], MPNUM_ROUND_NEAREST_EVEN,
                                     MPNUM_OVERFLOW_IEEE, 0);
    values[i] = mpnum_decode(format, codes[i]);
  }
}
static void backward_of_codes_is_that_of_their_values(void) {
  enum { N = 2500 };
  static uint8_t dy_codes[2 * N], y_codes[2 * N], to[2 * N];
  for (int way = 0; way < 16; ++way) {
    const int is_log = way & 1, adds = way >> 1 & 1, floats = way >> 3;
    const mpnum_type type = way & 4 ? MPNUM_TYPE_E4M3 : MPNUM_TYPE_E5M2;
    const mpnum_format format = mpnum_format_of(type);
    mpnum_status (*backward)(mpnum_matrix, mpnum_const_matrix, mpnum_const_matrix,
                             const mpnum_softmax_options *) =
        is_log ? mpnum_log_softmax_backward_rows : mpnum_softmax_backward_rows;
    mpnum_softmax_options how = mpnum_softmax_default();
    fill(dy, 2 * N, -2, 2);
    fill(y, 2 * N, is_log ? -9 : 0, is_log ? -1 : 1);
    codes_of(type, dy_codes, dy, 2 * N);
    codes_of(type, y_codes, y, 2 * N);
    for (size_t i = 0; i < 2 * N; ++i)
      mask[i] = i % 5 != 3;
    how.mask = mask;
    how.mask_stride = N;
    must((*backward)(to_rows(z, 2, N), of_rows(dy, 2, N), of_rows(y, 2, N), &how));
    how.flags = adds ? MPNUM_SOFTMAX_ACCUMULATE : 0;
    for (size_t i = 0; i < 2 * N; ++i)
      x[i] = 0.5f;
    codes_of(type, to, x, 2 * N);
    must((*backward)(
        floats ? to_rows(x, 2, N) : mpnum_matrix_of(type, to, 2, N),
        mpnum_const_matrix_of(type, dy_codes, 2, N),
        floats ? of_rows(y, 2, N) : mpnum_const_matrix_of(type, y_codes, 2, N), &how));
    for (size_t i = 0; i < 2 * N; ++i) {
      const float want = adds ? sum_once(0.5f, z[i]) : z[i];
      const uint32_t code =
          mpnum_encode(format, want, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
      CHECK(floats ? bits_of(x[i]) == bits_of(want) : to[i] == code,
            "way %d, element %zu: %a or %02x, not %a", way, i, (double)x[i],
            (unsigned)to[i], (double)want);
    }
  }
}
static void backward_keeps_nan(void) {
  for (int is_log = 0; is_log < 2; ++is_log)
    for (int of_y = 0; of_y < 2; ++of_y)
      for (size_t at = 0; at < 70; at += 23) {
        for (size_t i = 0; i < 70; ++i) {
          y[i] = is_log ? -4.25f : 1 / 70.0f;
          dy[i] = 1;
        }
        if (of_y)
          for (size_t i = 0; i < 70; ++i)
            y[i] = A_NAN;
        else
          dy[at] = A_NAN;
        CHECK((is_log ? mpnum_log_softmax_backward_rows : mpnum_softmax_backward_rows)(
                  to_rows(z, 1, 70), of_rows(dy, 1, 70), of_rows(y, 1, 70), NULL) ==
                  MPNUM_OK,
              "run");
        for (size_t i = 0; i < 70; ++i)
          CHECK(bits_of(z[i]) == NAN_BITS, "log %d, at %zu: %zu is %a", is_log, at, i,
                (double)z[i]);
      }
}
/* By its bits, as -ffast-math knows no NaN. */
static int is_nan_sum(double sum) {
  return (mpnum_bits_f64(sum) & INT64_MAX) > (uint64_t)0x7ff << 52;
}
static void sums_by_hand_are_those_of_softmax(void) {
  for (int s = 0; s < SIZES; ++s) {
    const size_t n = sizes[s];
    double sum = 0;
    long double want = 0, size = 0;
    float max = MINUS;
    fill(x, n, -20, 3);
    if (n > 3) x[2] = MINUS;
    for (size_t i = 0; i < n; ++i)
      max = x[i] > max ? x[i] : max;
    max += s % 2 ? 0.5f : 0;
    sum = mpnum_exp_sum_f32(y, x, n, max);
    for (size_t i = 0; i < n; ++i) {
      const long double t = (long double)x[i] - (long double)max;
      const long double power = expl(t);
      const long double bound = power * (2 + (power > 0 ? fabsl(t) : 0)) * 0x1p-24L;
      CHECK(fabsl((long double)y[i] - power) <= bound + 0x1p-126L, "%zu is %a, want %La",
            i, (double)y[i], power);
      want += power;
      size += bound;
    }
    CHECK(fabsl((long double)sum - want) <= size + want * 38 * 0x1p-24L,
          "%zu: sum %a, want %La", n, sum, want);
    CHECK(mpnum_bits_f64(mpnum_exp_sum_f32(NULL, x, n, max)) == mpnum_bits_f64(sum),
          "the sum alone");
    memcpy(z, x, n * sizeof *z);
    CHECK(mpnum_bits_f64(mpnum_exp_sum_f32(z, z, n, max)) == mpnum_bits_f64(sum) &&
              memcmp(z, y, n * sizeof *z) == 0,
          "in place");
    z[n] = 42;
    CHECK(is_nan_sum(mpnum_exp_sum_f32(z, x, n, max - 1)) && z[n] > 41, "above max");
    CHECK(is_nan_sum(mpnum_exp_sum_f32(z, x, n, INF)) &&
              is_nan_sum(mpnum_exp_sum_f32(z, x, n, A_NAN)),
          "max is Inf, NaN");
    x[n / 2] = A_NAN;
    CHECK(is_nan_sum(mpnum_exp_sum_f32(z, x, n, max)), "NaN at %zu", n / 2);
  }
  x[0] = x[1] = MINUS;
  y[0] = y[1] = 42;
  CHECK(mpnum_bits_f64(mpnum_exp_sum_f32(y, x, 2, MINUS)) == 0 && bits_of(y[1]) == 0,
        "all -Inf");
  CHECK(mpnum_bits_f64(mpnum_exp_sum_f32(y, x, 0, 3)) == 0, "of none");
  x[0] = 0;
  CHECK(mpnum_exp_sum_f32(y, x, 1, -0.0f) > 0.5, "+0 is not above -0");
}
static mpnum_softmax_state one_by_one(const float *from, size_t n, float scale) {
  mpnum_softmax_state state = mpnum_softmax_state_empty();
  for (size_t i = 0; i < n; ++i)
    state = mpnum_softmax_add(state, from[i], scale);
  return state;
}
static void tiles_add_to_a_state(void) {
  static const float scales[] = {1, 0.25f, 0, 3};
  for (int k = 0; k < 4; ++k)
    for (int n = 0; n < 40; ++n)
      for (int kind = 0; kind < 6; ++kind) {
        mpnum_softmax_state tiled = mpnum_softmax_state_empty(), single;
        fill(x, 3 * (size_t)n, -9, 9);
        for (int i = 0; kind == 1 && i < 2 * n; ++i)
          x[i] = MINUS;
        if (kind == 2 && n > 1) x[n + 1] = A_NAN;
        if (kind == 3 && n > 1) x[1] = x[2 * n + 1] = INF;
        for (int i = 0; kind == 4 && i < 3 * n; ++i)
          x[i] = -0.0f;
        if (kind == 5 && n > 0) x[2 * n - 1] = special(0x7fc00000u);
        for (int i = 0; i < 3 * n; i += n)
          tiled = mpnum_softmax_add_tile(tiled, x + i, n, scales[k]);
        single = one_by_one(x, 3 * (size_t)n, scales[k]);
        CHECK(bits_of(tiled.max) == bits_of(single.max), "%d, kind %d: max %a, want %a",
              n, kind, (double)tiled.max, (double)single.max);
        if (isnan(single.sum)) {
          CHECK(bits_of(tiled.sum) == NAN_BITS, "NaN");
        } else {
          CHECK(fabs((double)tiled.sum - (double)single.sum) <=
                    (double)single.sum * (double)(6 * n + 40) * unit,
                "%d, kind %d: %a, want %a", n, kind, (double)tiled.sum,
                (double)single.sum);
        }
        if (n == 0) break;
      }
}

/* softmax of x under a cap is that of what tanhf makes of it, by definition; and in long
 * double. */
static const float cap_scales[][2] = {{1, 50}, {0.125f, 30}, {3, 1}, {0.7f, 0x1p-6f}};
enum { CAPS = sizeof cap_scales / sizeof *cap_scales };
static uint8_t cap_mask[MOST];
static float shares[2 * MOST];
static void capped_rows_are_those_of_the_hyperbolic_tangent(void) {
  for (int s = 0; s < SIZES; ++s)
    for (int k = 0; k < 4 * CAPS; ++k) {
      const size_t n = sizes[s], rows = 2;
      const float scale = cap_scales[k % CAPS][0], cap = cap_scales[k % CAPS][1];
      const mpnum_softmax_cap made = mpnum_softmax_cap_of(cap);
      mpnum_softmax_options how = mpnum_softmax_default(), plain;
      fill(x, rows * n, -200, 200);
      fill(bias, n, -3, 3);
      if (n > 6) x[3] = INF, x[4] = MINUS, x[5] = 0x1p-149f;
      if (n > 6) x[n + 2] = k % 5 ? 1 : A_NAN;
      for (size_t i = 0; i < n; ++i)
        cap_mask[i] = i % 3 != 1;
      if (k >= 2 * CAPS) how.mask = cap_mask;
      if (k >= CAPS && k < 3 * CAPS) how.bias = bias;
      plain = how;
      plain.scale = cap;
      how.scale = scale;
      how.cap = &made;
      for (size_t i = 0; i < rows * n; ++i)
        z[i] = mpnum_tanh_f32(product_once(x[i], quotient_once(scale, cap)));
      CHECK(mpnum_softmax_rows(to_rows(y, rows, n), of_rows(x, rows, n), &how, NULL) ==
                    MPNUM_OK &&
                mpnum_softmax_rows(to_rows(dy, rows, n), of_rows(z, rows, n), &plain,
                                   NULL) == MPNUM_OK &&
                memcmp(y, dy, rows * n * sizeof *y) == 0,
            "%zu columns, way %d", n, k);
      CHECK(mpnum_logsumexp_rows(loss, of_rows(x, rows, n), &how, NULL) == MPNUM_OK &&
                mpnum_logsumexp_rows(other_loss, of_rows(z, rows, n), &plain, NULL) ==
                    MPNUM_OK &&
                memcmp(loss, other_loss, rows * sizeof *loss) == 0,
            "logsumexp of %zu, way %d", n, k);
      long double sum = 0; /* the first row, in long double */
      for (int pass = 0; pass < 2; ++pass)
        for (size_t i = 0; i < n; ++i) {
          const long double u = (long double)x[i] * (long double)scale;
          const long double v = (long double)cap * tanhl(u / (long double)cap);
          const long double t = v + (how.bias ? (long double)bias[i] : 0);
          const long double power = how.mask && !cap_mask[i] ? 0 : expl(t - 60);
          const long double slack = isinf(x[i]) ? 0 : 6 * fabsl(u);
          if (!pass) sum += power;
          if (pass && fabsl(u / (long double)cap) < 20)
            CHECK(fabsl((long double)y[i] - power / sum) <=
                      (power / sum) * (60 + slack + 8 * (long double)cap) *
                              (long double)(unit * 2) +
                          0x1p-126L,
                  "%zu columns, way %d: %zu is %a, want %La", n, k, i, (double)y[i],
                  power / sum);
        }
    }
}
/* y (dy - d) scale (1 - tanh^2), and what is wrong. */
static void capped_gradients_are_those_defined(void) {
  for (int s = 0; s < SIZES; ++s)
    for (int k = 0; k < 2 * CAPS; ++k) {
      const size_t n = sizes[s];
      const float scale = cap_scales[k % CAPS][0], cap = cap_scales[k % CAPS][1];
      const mpnum_softmax_cap made = mpnum_softmax_cap_of(cap);
      mpnum_softmax_options how = mpnum_softmax_default();
      how.scale = scale;
      how.cap = &made;
      how.mask = k < CAPS ? NULL : cap_mask;
      fill(x, n, -3 * (double)(cap / scale), 3 * (double)(cap / scale));
      fill(dy, n, -2, 2);
      for (size_t i = 0; i < n; ++i) /* at times the first one, too */
        cap_mask[i] = i % 3 != (size_t)(k % 2);
      if (how.mask && n > 4) x[k % 2] = x[3 + k % 2] = A_NAN;
      CHECK(mpnum_softmax_rows(to_rows(y, 1, n), of_rows(x, 1, n), &how, NULL) ==
                MPNUM_OK,
            "run");
      CHECK(mpnum_softmax_capped_backward_rows(to_rows(z, 1, n), of_rows(dy, 1, n),
                                               of_rows(y, 1, n), of_rows(x, 1, n),
                                               &how) == MPNUM_OK,
            "run");
      long double sum = 0, size = 0;
      for (size_t i = 0; i < n; ++i)
        if (!how.mask || cap_mask[i]) {
          sum += (long double)dy[i] * (long double)y[i];
          size += fabsl((long double)dy[i] * (long double)y[i]);
        }
      for (size_t i = 0; i < n; ++i) {
        const long double u = (long double)x[i] * (long double)scale / (long double)cap;
        const long double slope = 1 / (coshl(u) * coshl(u));
        const long double p = (long double)y[i] * (long double)scale * slope;
        const long double want = p * ((long double)dy[i] - sum);
        const long double bound =
            (p * (40 * size + 4) + fabsl(want) * (8 + 8 * fabsl(u))) * (long double)unit *
                2 +
            0x1p-140L;
        if (how.mask && !cap_mask[i])
          CHECK(bits_of(z[i]) == 0, "masked %zu", i);
        else
          CHECK(fabsl((long double)z[i] - want) <= bound, "%zu of %zu: %a, want %La", i,
                n, (double)z[i], want);
      }
      CHECK(mpnum_softmax_capped_backward_rows(to_rows(x, 1, n), of_rows(dy, 1, n),
                                               of_rows(y, 1, n), of_rows(x, 1, n),
                                               &how) == MPNUM_OK &&
                memcmp(x, z, n * sizeof *x) == 0,
            "in the place of x, %zu", n);
    }
}
/* What is past a row's length takes no part, and its gradient is 0. */
static void capped_gradients_end_with_their_rows(void) {
  const mpnum_softmax_cap made = mpnum_softmax_cap_of(2);
  for (int s = 0; s < SIZES; ++s) {
    mpnum_softmax_options how = mpnum_softmax_default();
    const size_t n = sizes[s], length = (n + 1) / 2;
    how.cap = &made;
    fill(x, n, -6, 6);
    fill(dy, n, -2, 2);
    must(mpnum_softmax_rows(to_rows(y, 1, length), of_rows(x, 1, length), &how, NULL));
    must(mpnum_softmax_capped_backward_rows(to_rows(z, 1, length), of_rows(dy, 1, length),
                                            of_rows(y, 1, length), of_rows(x, 1, length),
                                            &how));
    memset(z + length, 0, (n - length) * sizeof *z);
    how.lengths = &length;
    must(mpnum_softmax_rows(to_rows(y, 1, n), of_rows(x, 1, n), &how, NULL));
    must(mpnum_softmax_capped_backward_rows(to_rows(x, 1, n), of_rows(dy, 1, n),
                                            of_rows(y, 1, n), of_rows(x, 1, n), &how));
    CHECK(memcmp(x, z, n * sizeof *x) == 0, "%zu of %zu", length, n);
  }
}
/* Losses of x under a cap are those of tanh by definition, and their gradients times its
 * derivative; both in long double for whole targets. Caps and scales are powers of two,
 * so that a factor of scale / cap makes the same product of both. */
static float slope_at(size_t i, float scale, float cap) {
  return mpnum_tanh_derivative_f32(product_once(x[i], quotient_once(scale, cap)));
}
static void capped_losses_are_those_of_the_hyperbolic_tangent(void) {
  static const float powers[][2] = {{1, 64}, {0.125f, 32}, {4, 1}, {0.5f, 0x1p-6f}};
  static const int64_t targets[2] = {0, -100};
  for (int s = 0; s < SIZES; ++s)
    for (int k = 0; k < 32; ++k) {
      const size_t n = sizes[s], rows = 2;
      const float scale = powers[k % 4][0], cap = powers[k % 4][1];
      const int is_soft = k / 4 % 4 == 3, adds = k / 16;
      const mpnum_softmax_cap made = mpnum_softmax_cap_of(cap);
      mpnum_cross_entropy_options how = mpnum_cross_entropy_default(), plain;
      int64_t target[2];
      mpnum_status first, second;
      target[0] = (int64_t)(n - 1);
      target[1] = k % 5 ? targets[k % 2] : (int64_t)(n / 2);
      fill(x, rows * n, -3 * (double)(cap / scale), 3 * (double)(cap / scale));
      fill(shares, rows * n, 0, 1);
      fill(y, rows * n, -1, 1);
      fill(bias, n, -3, 3);
      for (size_t i = 0; i < n; ++i)
        cap_mask[i] = i % 3 != (size_t)((k + 1) % 2) || i == n - 1;
      for (size_t i = 0; i < n && is_soft; ++i)
        if (!cap_mask[i]) shares[i] = shares[n + i] = 0;
      how.factor = 0.7f;
      if (k / 4 % 4 == 1) how.label_smoothing = 0.1f;
      if (k / 4 % 4 >= 2) how.softmax.mask = cap_mask;
      if (k % 3 == 0) how.softmax.bias = bias;
      plain = how;
      if (adds) how.softmax.flags |= MPNUM_SOFTMAX_ACCUMULATE;
      plain.softmax.scale = cap;
      plain.factor = product_once(0.7f, scale / cap);
      how.softmax.scale = scale;
      how.softmax.cap = &made;
      for (size_t i = 0; i < rows * n; ++i)
        z[i] = mpnum_tanh_f32(product_once(x[i], quotient_once(scale, cap)));
      if (how.softmax.mask && n > 4) x[(k + 1) % 2] = A_NAN; /* is masked */
      first = is_soft
                  ? mpnum_soft_cross_entropy_rows(other_loss, to_rows(dy, rows, n),
                                                  of_rows(z, rows, n),
                                                  of_rows(shares, rows, n), &plain, NULL)
                  : mpnum_cross_entropy_rows(other_loss, to_rows(dy, rows, n),
                                             of_rows(z, rows, n), target, &plain, NULL);
      for (size_t i = 0; i < rows * n; ++i) {
        const int is_out = how.softmax.mask && !cap_mask[i % n];
        float own = is_out ? 0 : product_once(dy[i], slope_at(i, scale, cap));
        dy[i] = adds ? sum_once(y[i], own) : own;
      }
      second = is_soft
                   ? mpnum_soft_cross_entropy_rows(loss, to_rows(y, rows, n),
                                                   of_rows(x, rows, n),
                                                   of_rows(shares, rows, n), &how, NULL)
                   : mpnum_cross_entropy_rows(loss, to_rows(y, rows, n),
                                              of_rows(x, rows, n), target, &how, NULL);
      CHECK(first == MPNUM_OK && second == MPNUM_OK &&
                memcmp(loss, other_loss, rows * sizeof *loss) == 0,
            "loss of %zu columns, way %d: %d %d, %g %g", n, k, (int)first, (int)second,
            (double)loss[0], (double)other_loss[0]);
      for (size_t i = 0; i < rows * n; ++i)
        CHECK(bits_of(y[i]) == bits_of(dy[i]) || (y[i] == 0 && dy[i] == 0),
              "gradient of %zu columns, way %d, %zu: %a, want %a", n, k, i, (double)y[i],
              (double)dy[i]);
      if (adds) continue;
      second = is_soft
                   ? mpnum_soft_cross_entropy_rows(loss, to_rows(x, rows, n),
                                                   of_rows(x, rows, n),
                                                   of_rows(shares, rows, n), &how, NULL)
                   : mpnum_cross_entropy_rows(loss, to_rows(x, rows, n),
                                              of_rows(x, rows, n), target, &how, NULL);
      CHECK(second == MPNUM_OK && memcmp(x, y, rows * n * sizeof *x) == 0,
            "in place, %zu columns, way %d", n, k);
    }
}
/* Of a whole target, by the formula: the loss, and (p - 1) scale (1 - tanh^2). */
static void capped_losses_are_those_of_the_formula(void) {
  const mpnum_softmax_cap made = mpnum_softmax_cap_of(30);
  mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
  for (int k = 0; k < 20; ++k) {
    const size_t n = 200;
    const int64_t target = 7 * k;
    long double sum = 0;
    fill(x, n, -60, 60);
    how.softmax.cap = &made;
    must((int)mpnum_cross_entropy_rows(loss, to_rows(y, 1, n), of_rows(x, 1, n), &target,
                                       &how, NULL));
    for (size_t i = 0; i < n; ++i)
      sum += expl(30 * tanhl((long double)x[i] / 30) - 30);
    for (size_t i = 0; i < n; ++i) {
      const long double v = tanhl((long double)x[i] / 30);
      const long double p = expl(30 * v - 30) / sum;
      const long double want = (p - ((int64_t)i == target)) * (1 - v * v);
      CHECK(fabsl((long double)y[i] - want) <= 0x1p-16L * fabsl(want) + 0x1p-22L * p,
            "%zu: %a, want %La", i, (double)y[i], want);
      if ((int64_t)i == target)
        CHECK(fabsl((long double)loss[0] - (logl(sum) + 30 - 30 * v)) <= 0x1p-17L,
              "loss %a", (double)loss[0]);
    }
  }
}
static void caps_that_are_none_are_refused(void) {
  static const float wrong[] = {0, -1, 0x1p-149f, 0x1p127f};
  mpnum_softmax_cap cap = mpnum_softmax_cap_of(1);
  mpnum_cross_entropy_options losses = mpnum_cross_entropy_default();
  const int64_t target = 0;
  for (int k = 0; k < 8; ++k) {
    mpnum_softmax_options how = mpnum_softmax_default();
    cap = mpnum_softmax_cap_of(k < 4 ? wrong[k] : k == 4 ? INF : k == 5 ? A_NAN : 1);
    if (k == 2) how.scale = 2;        /* over the cap it is Inf */
    if (k == 3) how.scale = 0x1p-30f; /* and 0 */
    if (k == 6) cap.run_ = NULL;
    if (k == 7) how.scale = 0;
    how.cap = &cap;
    fill(x, 4, -1, 1);
    memset(y, 0x55, 32);
    memset(z, 0x55, 32);
    CHECK(mpnum_softmax_rows(to_rows(y, 1, 4), of_rows(x, 1, 4), &how, NULL) ==
                  MPNUM_ERROR_ARGUMENT &&
              mpnum_log_softmax_rows(to_rows(y, 1, 4), of_rows(x, 1, 4), &how, NULL) ==
                  MPNUM_ERROR_ARGUMENT &&
              mpnum_logsumexp_rows(y, of_rows(x, 1, 4), &how, NULL) ==
                  MPNUM_ERROR_ARGUMENT &&
              mpnum_softmax_capped_backward_rows(to_rows(y, 1, 4), of_rows(x, 1, 4),
                                                 of_rows(x, 1, 4), of_rows(x, 1, 4),
                                                 &how) == MPNUM_ERROR_ARGUMENT &&
              memcmp(y, z, 16) == 0,
          "%d", k);
  }
  cap = mpnum_softmax_cap_of(-1);
  losses.softmax.cap = &cap;
  CHECK(mpnum_cross_entropy_rows(y, to_rows(y + 4, 1, 4), of_rows(x, 1, 4), &target,
                                 &losses, NULL) == MPNUM_ERROR_ARGUMENT &&
            memcmp(y, z, 32) == 0,
        "losses");
  cap = mpnum_softmax_cap_of(1);
  losses.softmax.flags = MPNUM_SOFTMAX_ACCUMULATE;
  memset(y, 0x55, 32);
  CHECK(mpnum_softmax_capped_backward_rows(to_rows(y, 1, 4), of_rows(x, 1, 4),
                                           of_rows(x, 1, 4), of_rows(y, 1, 4),
                                           &losses.softmax) == MPNUM_ERROR_OVERLAP &&
            memcmp(y, z, 32) == 0,
        "a sum in the place of x");
  losses.softmax.flags = 0;
  CHECK(mpnum_softmax_backward_rows(to_rows(y, 1, 4), of_rows(x, 1, 4), of_rows(x, 1, 4),
                                    &losses.softmax) == MPNUM_ERROR_ARGUMENT &&
            memcmp(y, z, 16) == 0,
        "gradients without x");
}

int main(void) {
  RUN_FOR_EACH_ISA(capped_rows_are_those_of_the_hyperbolic_tangent);
  RUN_FOR_EACH_ISA(capped_gradients_are_those_defined);
  RUN_FOR_EACH_ISA(capped_gradients_end_with_their_rows);
  RUN_FOR_EACH_ISA(capped_losses_are_those_of_the_hyperbolic_tangent);
  TAP_RUN(capped_losses_are_those_of_the_formula);
  TAP_RUN(caps_that_are_none_are_refused);
  RUN_FOR_EACH_ISA(causal_lengths_are_lengths);
  RUN_FOR_EACH_ISA(a_bias_is_added_before_all_else);
  RUN_FOR_EACH_ISA(a_bias_goes_with_special_rows);
  RUN_FOR_EACH_ISA(reductions_are_sums_and_means_of_rows_that_count);
  TAP_RUN(a_mean_of_no_rows_is_nan);
  RUN_FOR_EACH_ISA(gradients_add_to_what_is_there);
  RUN_FOR_EACH_ISA(gradients_add_to_nan);
  RUN_FOR_EACH_ISA(backward_passes_are_those_defined);
  RUN_FOR_EACH_ISA(backward_of_a_length_leaves_the_rest);
  RUN_FOR_EACH_ISA(backward_of_codes_is_that_of_their_values);
  RUN_FOR_EACH_ISA(backward_keeps_nan);
  RUN_FOR_EACH_ISA(sums_by_hand_are_those_of_softmax);
  TAP_RUN(tiles_add_to_a_state);
  return tap_done();
}

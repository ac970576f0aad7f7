/* SPDX-License-Identifier: MIT */
/* normalize.h against its definition in double with MPFR's range: rows of any size, zero,
 * tiny and huge ones, in every type. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/rows/normalize.h>

#include <math.h>

enum { MOST = 5000 };
static float x[3 * MOST], y[3 * MOST], weight[MOST], bias[MOST];

static void fill(float *dst, size_t n, double from, double to) {
  for (size_t i = 0; i < n; ++i)
    dst[i] = (float)uniform(from, to);
}

/* What x becomes before weight and bias: (x - mean) / sqrt(square + epsilon). In long
 * doubles, which have room for these squares on every machine that has 80 bits, and in
 * doubles elsewhere, which have it, too. */
typedef long double real;
static real mean_of(const float *row, size_t n) {
  real sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum += (real)row[i];
  return sum / (real)n;
}
static real square_of(const float *row, size_t n, real mean) {
  real sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum += ((real)row[i] - mean) * ((real)row[i] - mean);
  return sum;
}
/* ulps: of what is wanted; more: beyond them. */
static void check_near(const char *what, size_t i, float got, real want, real ulps,
                       real more) {
  int exponent;
  frexpl(want, &exponent);
  if (exponent < -125) exponent = -125;
  CHECK(fabsl((real)got - want) <= ulps * ldexpl(1, exponent - 24) + more + 0x1p-150L,
        "%s: element %zu is %a, want %La", what, i, (double)got, want);
}
/* Each kind without and with weight and bias, which are rounded once more. */
static void check_rows(size_t n, float epsilon, const char *what) {
  static const mpnum_norm_kind kinds[] = {MPNUM_NORM_LAYER, MPNUM_NORM_RMS,
                                          MPNUM_NORM_L2};
  for (int k = 0; k < 3; ++k) {
    mpnum_normalize_options options = mpnum_normalize_default();
    const real mean = k == 0 ? mean_of(x, n) : 0;
    const real square = square_of(x, n, mean);
    const real least = (real)epsilon * (real)epsilon;
    const real divisor = k < 2 ? sqrtl(square / (real)n + (real)epsilon)
                               : sqrtl(square > least ? square : least);
    const real ulps = k == 0 ? 2.51L : 1.51L;
    float saved[2] = {0, 0};
    options.epsilon = epsilon;
    options.mean = &saved[0];
    options.inverse = &saved[1];
    for (int weights = 0; weights < 4; ++weights) {
      options.weight = weights & 1 ? weight : NULL;
      options.bias = weights & 2 ? bias : NULL;
      CHECK(mpnum_normalize_rows(kinds[k], mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, n),
                                 mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n),
                                 &options) == MPNUM_OK,
            "%s", what);
      for (size_t i = 0; i < n; ++i) {
        const real w = weights & 1 ? (real)weight[i] : 1;
        const real b = weights & 2 ? (real)bias[i] : 0;
        const real plain = divisor > 0 ? ((real)x[i] - mean) / divisor : 0;
        const real cancelled = divisor > 0 ? fabsl(mean) / divisor * 0x1p-50L : 0;
        const real size = fabsl(plain) < 0x1p-126L ? 0x1p-126L : fabsl(plain);
        check_near(what, i, y[i], plain * w + b, weights ? 0.51L : ulps,
                   cancelled +
                       (weights ? (ulps * size * 0x1p-23L + 0x1p-150L) * fabsl(w) : 0));
      }
    }
    check_near(what, n, saved[0], mean, 0.51L, fabsl(mean) * 0x1p-40L);
    if (divisor > 0x1p-127L) check_near(what, n, saved[1], 1 / divisor, 0.51L, 0x1p-149L);
    if (!(divisor > 0)) CHECK(bits_of(saved[1]) == 0, "%s: %a", what, (double)saved[1]);
  }
}
static void rows_of_any_size_are_precise(void) {
  static const double sizes[] = {1, 3e38, 1e25, 1e-15, 1e-30, 1e-38, 1e-43};
  static const float epsilons[] = {0, 1e-5f, 1e-38f};
  static const size_t lengths[] = {1, 2, 100, 2048, MOST};
  fill(weight, MOST, -2, 2);
  fill(bias, MOST, -1, 1);
  for (int k = 0; k < 7 * 3 * 5; ++k) {
    const double size = sizes[k % 7];
    char what[80];
    snprintf(what, sizeof what, "elements to %g, epsilon %g", size,
             (double)epsilons[k / 7 % 3]);
    fill(x, lengths[k / 21], -size, size);
    check_rows(lengths[k / 21], epsilons[k / 7 % 3], what);
    fill(x, lengths[k / 21], size * 0.75, size); /* far from 0 */
    check_rows(lengths[k / 21], epsilons[k / 7 % 3], what);
  }
}
static void rows_of_equal_elements(void) {
  static const float values[] = {0, 3, -1e38f, 1e-45f};
  for (int k = 0; k < 4; ++k) {
    for (size_t i = 0; i < 100; ++i) {
      x[i] = values[k];
      bias[i] = 0.25f;
    }
    must(mpnum_layer_norm_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, 100),
                               mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 100), NULL,
                               bias, 0));
    for (size_t i = 0; i < 100; ++i)
      CHECK(bits_of(y[i]) == 0x3e800000u, "layer norm of %g: %a", (double)values[k],
            (double)y[i]);
    must(mpnum_l2_normalize_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, 100),
                                 mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 100), 0));
    for (size_t i = 0; i < 100; ++i)
      CHECK(fabs((double)y[i] - (k == 0   ? 0
                                 : k == 2 ? -0.1
                                          : 0.1)) < 1e-8,
            "l2 of %g: %a", (double)values[k], (double)y[i]);
  }
}
/* Where a mean is so large that sums of squares tell nothing of the deviation. */
static void rows_far_from_zero_are_precise(void) {
  static const size_t lengths[] = {2, 100, 2048, MOST};
  fill(weight, MOST, -2, 2);
  fill(bias, MOST, -1, 1);
  for (int k = 0; k < 4 * 4; ++k) {
    const double size = k % 4 == 0 ? 1 : k % 4 == 1 ? 0x1p100 : k % 4 == 2 ? 0x1p-100 : 3;
    fill(x, lengths[k / 4], size * (1 - 0x1p-12), size);
    if (k % 4 == 3) fill(x, lengths[k / 4], 16777210, 16777216); /* steps of 1 */
    check_rows(lengths[k / 4], 0, "far from zero");
  }
}
/* The bias cancels a product but for a subnormal rest, in a row that has subnormals, too.
 * A quarter are 2, the others nearly nothing: the mean square is 1. In doubles all of it
 * is exact. */
static void subnormal_rests_of_sums_are_kept(void) {
  enum { N = 512 };
  mpnum_normalize_options options = mpnum_normalize_default();
  options.weight = weight;
  options.bias = bias;
  options.epsilon = 0;
  for (size_t i = 0; i < N; ++i) {
    const float size = i % 8 == 3 ? 0x1p-90f : -0x1p-100f;
    x[i] = i % 4 == 0 ? 2 : i % 4 == 3 ? size * (1 + 0x1p-23f) : 0x1.4p-140f;
    weight[i] = i % 4 == 3 ? 1 - 0x1p-23f : 1;
    bias[i] = i % 4 == 3 ? -size : 0;
  }
  must(mpnum_normalize_rows(MPNUM_NORM_RMS, mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, N),
                            mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, N), &options));
  for (size_t i = 0; i < N; ++i) {
    const double want = (double)x[i] * (double)weight[i] + (double)bias[i];
    CHECK((double)y[i] == want, "%zu: %a, not %a", i, (double)y[i], want);
  }
}
/* Rows whose inverse is a power of two, with subnormals, by weights and with biases of
 * any size: an element is one product and one fma, libm's. A quarter of the first two are
 * 2 and 2^-23, so that the mean square is 1 and 2^-48; the third is equal throughout; of
 * the others nothing but epsilon counts. */
static float scaled(double size, unsigned k) { /* either sign, odd last bits */
  const double value = size * (1 + k % 3 * 0x1p-23);
  return (float)(uniform(0, 1) < 0.5 ? value : -value);
}
static void subnormals_count_beside_weights_and_biases(void) {
  enum { N = 512 };
  static const int inverses[] = {0, 24, 140, 0, 64};
  static const float epsilons[] = {0, 0, 0, 1, 0x1p-128f};
  for (unsigned k = 0; k < 5 * 3 * 5; ++k) {
    const unsigned row = k % 5, weights = k / 5 % 3, biases = k / 15;
    const int inverse = inverses[row];
    mpnum_normalize_options options = mpnum_normalize_default();
    options.epsilon = epsilons[row];
    options.weight = weight;
    options.bias = biases ? bias : NULL;
    for (unsigned i = 0; i < N; ++i) {
      const int low = (int)uniform(0, 24), by = (int)uniform(0, 40);
      x[i] = row == 2                ? scaled(0x1p-140, 0)
             : row < 2 && i % 4 == 0 ? scaled(ldexp(2, -inverse), 0)
                                     : scaled(ldexp(1, -126 - low), i);
      weight[i] = weights == 0   ? scaled(1 + by, i)
                  : weights == 1 ? scaled(i % 5 ? ldexp(1, 39 - by % 8) : 0, i)
                                 : scaled(ldexp(1, -3 * by / 2), i);
      bias[i] = biases == 1   ? scaled(0x1p-40, i)
                : biases == 2 ? scaled(ldexp(1, -by), i)
                : biases == 3 ? scaled(i % 3 ? 1 : 0, i)
                              : scaled(0x1p-90, i);
    }
    must(mpnum_normalize_rows(MPNUM_NORM_RMS, mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, N),
                              mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, N), &options));
    for (unsigned i = 0; i < N; ++i) {
      const float plain = ldexpf(x[i], inverse);
      const float want = biases ? fmaf(plain, weight[i], bias[i])
                                : (float)((double)plain * (double)weight[i]);
      CHECK(bits_of(y[i]) == bits_of(want),
            "row %u, weights %u, biases %u, %u: %a, not %a", row, weights, biases, i,
            (double)y[i], (double)want);
    }
  }
}
/* By weights up to 2^40, then by any, from subnormals up to Inf and NaN. */
static void products_with_weights_are_rounded_once(void) {
  enum { N = 1003 };
  for (int k = 0; k < 20; ++k) {
    for (unsigned i = 0; i < N; ++i) {
      const int low = (int)uniform(-149, i < 64 || k % 4 == 1 ? 10 : 128);
      x[i] = scaled(ldexp(i % 2 ? uniform(1, 1.9) : 1, low), i);
      weight[i] = i % 7 ? scaled(ldexp(uniform(1, 1.9), (int)uniform(-126, 39)), i) : 0;
      if (k % 5 == 4) weight[i] = scaled(ldexp(1, (int)uniform(-149, 100)), i);
    }
    if (k % 4 == 2) x[900] = k == 2 ? INF : A_NAN;
    mpnum_norm_pairs_(1, y, x, weight, N);
    for (int i = 0; i < N; ++i) {
      const double exact = (double)x[i] * (double)weight[i];
      const uint32_t want = isnan(exact) ? NAN_BITS : bits_of((float)exact);
      CHECK(bits_of(y[i]) == want, "%d, %d: %a by %a is %a, not %a", k, i, (double)x[i],
            (double)weight[i], (double)y[i], exact);
    }
  }
}
/* A zero is one where nothing is subtracted. */
static void zeros_keep_their_signs(void) {
  for (size_t i = 0; i < 40; ++i)
    x[i] = mpnum_from_bits_f32(i % 3 == 0 ? 0x80000000u : i % 3 == 1 ? 0 : 0x40000000u);
  must(mpnum_rms_norm_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, 40),
                           mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 40), NULL, 1e-5f));
  must(mpnum_l2_normalize_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y + 40, 1, 40),
                               mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 40), 0));
  for (size_t i = 0; i < 80; ++i)
    CHECK(i % 40 % 3 == 2 ? y[i] > 0 : bits_of(y[i]) == bits_of(x[i % 40]), "%zu: %a", i,
          (double)y[i]);
}
static void nan_and_inf_are_not_hidden(void) {
  for (int k = 0; k < 3; ++k) {
    fill(x, 50, -1, 1);
    x[7] = mpnum_from_bits_f32(k == 0 ? 0xffc12345u : k == 1 ? 0x7f800000u : 0xff800000u);
    must(mpnum_layer_norm_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, 50),
                               mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 50), NULL,
                               NULL, 1e-5f));
    for (int i = 0; i < 50; ++i)
      CHECK(bits_of(y[i]) == 0x7fffffffu, "layer norm, %d", i);
    must(mpnum_rms_norm_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, 50),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 50), NULL,
                             1e-5f));
    for (int i = 0; i < 50; ++i)
      CHECK(bits_of(y[i]) == 0x7fffffffu, "RMS norm, %d", i);
    must(mpnum_l2_normalize_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, 50),
                                 mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 50), 0));
    for (int i = 0; i < 50; ++i)
      CHECK((bits_of(y[i]) & (k ? 0x7fffffffu : 0xffffffffu)) ==
                (i == 7 || k == 0 ? 0x7fffffffu : 0),
            "l2, %d: %x", i, (unsigned)bits_of(y[i]));
  }
}
static void types_are_rounded_once(void) {
  static const mpnum_type *const types = row_types;
  static const size_t sizes[] = {4, 2, 2, 1, 1};
  static uint8_t src[4 * MOST], dst[4 * MOST], want[4 * MOST];
  enum { COLUMNS = 130, STRIDE = 133 };
  for (int k = 0; k < 25; ++k) {
    const int s = k % 5, d = k / 5;
    fill(x, (size_t)3 * STRIDE, -3, 5);
    must(mpnum_convert_array(types[s], src, MPNUM_TYPE_F32, x, (size_t)3 * STRIDE,
                             MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
    must(mpnum_convert_array(MPNUM_TYPE_F32, x, types[s], src, (size_t)3 * STRIDE,
                             MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
    memset(dst, 0x5c, sizeof dst);
    memset(want, 0x5c, sizeof want);
    must(mpnum_layer_norm_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 3, COLUMNS),
                               src_rows(MPNUM_TYPE_F32, x, 3, COLUMNS, STRIDE), NULL,
                               NULL, 1e-5f));
    for (size_t i = 0; i < 3; ++i)
      must(mpnum_convert_array(types[d], want + i * (COLUMNS + 1) * sizes[d],
                               MPNUM_TYPE_F32, y + i * COLUMNS, COLUMNS,
                               MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
    must(mpnum_layer_norm_rows(dst_rows(types[d], dst, 3, COLUMNS, COLUMNS + 1),
                               src_rows(types[s], src, 3, COLUMNS, STRIDE), NULL, NULL,
                               1e-5f));
    CHECK(memcmp(dst, want, sizeof dst) == 0, "%s to %s", mpnum_type_name(types[s]),
          mpnum_type_name(types[d]));
    if (s != d) continue;
    must(mpnum_layer_norm_rows(dst_rows(types[d], src, 3, COLUMNS, STRIDE),
                               src_rows(types[s], src, 3, COLUMNS, STRIDE), NULL, NULL,
                               1e-5f));
    for (size_t i = 0; i < 3; ++i)
      CHECK(memcmp(src + i * STRIDE * sizes[d], want + i * (COLUMNS + 1) * sizes[d],
                   COLUMNS * sizes[d]) == 0,
            "%s in place", mpnum_type_name(types[s]));
  }
}
/* Of ones the results are the weights: in the middle of two codes, NaN, and halfway from
 * the largest code to what follows it, which IEEE 754 makes Inf. */
static void middles_go_to_even_and_nan_is_canonical(void) {
  enum { COLUMNS = 70 };
  mpnum_bf16 brain[COLUMNS];
  mpnum_f16 half_type[COLUMNS];
  for (int is_16 = 0; is_16 < 2; ++is_16) {
    for (int i = 0; i < COLUMNS; ++i) {
      x[i] = 1;
      weight[i] = i % 9 == 4 ? mpnum_from_bits_f32(0xffc12345u)
                             : 1 + (float)i / (is_16 ? 2048 : 256);
      if (i % 9 == 2) weight[i] = (i % 2 ? -1 : 1) * (is_16 ? 65520 : 0x1.ffp127f);
    }
    must(mpnum_rms_norm_rows(
        is_16 ? mpnum_matrix_of(MPNUM_TYPE_F16, half_type, 1, COLUMNS)
              : mpnum_matrix_of(MPNUM_TYPE_BF16, brain, 1, COLUMNS),
        mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, COLUMNS), weight, 0));
    for (int i = 0; i < COLUMNS; ++i)
      CHECK(is_16 ? half_type[i].bits == mpnum_f32_to_f16(weight[i]).bits
                  : brain[i].bits == mpnum_f32_to_bf16(weight[i]).bits,
            "%d: %a of %s", i, (double)weight[i], is_16 ? "f16" : "bf16");
    for (int i = 2; i < COLUMNS; i += 9)
      CHECK((is_16 ? half_type[i].bits : brain[i].bits) ==
                ((is_16 ? 0x7c00 : 0x7f80) | (i % 2 ? 0x8000 : 0)),
            "%d: no Inf of %s", i, is_16 ? "f16" : "bf16");
  }
}

/* What sums of two tiles are: random ones, neighbours of halfway cases, those that
 * cancel, and what is no number. */
static void two_tiles_are_added_as_a_total(void) {
  static const double ends[] = {0,          -0.0,     0x1p-298,
                                0x1p320,    1,        -1,
                                0x1p-53,    -0x1p-53, 0x1.fffffffffffffp0,
                                0x1p-54,    HUGE_VAL, -HUGE_VAL,
                                (double)NAN};
  enum { ENDS = sizeof ends / sizeof *ends, PAIRS = 200000 };
  for (int i = 0; i < PAIRS + ENDS * ENDS; ++i) {
    const int k = i - PAIRS;
    double a = ldexp(floor(uniform(-0x1p53, 0x1p53)), i % 100 - 240), b = -a;
    if (i % 8 != 0) b = ldexp(floor(uniform(-0x1p53, 0x1p53)), i / 8 % 130 - 290);
    if (i % 8 == 1) b = ldexp(a > 0 ? 1 : -1, ilogb(a) - 53 - i / 8 % 3);
    if (k >= 0) {
      a = ends[k % ENDS];
      b = ends[k / ENDS];
    }
    mpnum_exact_sum total = mpnum_exact_sum_empty();
    mpnum_exact_sum_add_f64_(&total, a);
    mpnum_exact_sum_add_f64_(&total, b);
    const double want = mpnum_exact_sum_to_odd_(total),
                 got = mpnum_norm_two_to_odd_(a, b);
    CHECK(mpnum_bits_f64(got) == mpnum_bits_f64(want), "%a + %a is %a, want %a", a, b,
          got, want);
  }
}

/* Sums of 2 and -2, of src without gaps and of residuals and sums with and without. */
static void residuals_and_sums_may_have_gaps(void) {
  enum { ROWS = 3, N = 7, PITCH = 9 };
  for (int k = 0; k < 4; ++k) {
    const size_t from = k & 1 ? PITCH : N, to = k & 2 ? PITCH : N;
    float src[ROWS * N], residual[ROWS * PITCH], sum[ROWS * PITCH], got[ROWS * N];
    mpnum_normalize_options options = mpnum_normalize_default();
    for (size_t i = 0; i < ROWS * PITCH; ++i)
      residual[i] = sum[i] = 99;
    for (size_t i = 0; i < ROWS * N; ++i) {
      src[i] = (float)i;
      residual[i / N * from + i % N] = (i % 3 ? 2.0f : -2.0f) - (float)i;
    }
    options.epsilon = 0;
    options.residual = mpnum_const_matrix_of(MPNUM_TYPE_F32, residual, ROWS, N);
    options.residual.stride = from;
    options.sum = mpnum_matrix_of(MPNUM_TYPE_F32, sum, ROWS, N);
    options.sum.stride = to;
    must(mpnum_normalize_rows(
        MPNUM_NORM_RMS, mpnum_matrix_of(MPNUM_TYPE_F32, got, ROWS, N),
        mpnum_const_matrix_of(MPNUM_TYPE_F32, src, ROWS, N), &options));
    for (size_t i = 0; i < ROWS * N; ++i) {
      const float want = i % 3 ? 1.0f : -1.0f, added = sum[i / N * to + i % N];
      CHECK(mpnum_bits_f32(got[i]) == mpnum_bits_f32(want) &&
                mpnum_bits_f32(added) == mpnum_bits_f32(2 * want),
            "%zu, %d: %g of %g", i, k, (double)got[i], (double)added);
    }
    for (size_t i = N; to > N && i < ROWS * PITCH; i += i % PITCH == N ? 1 : N + 1)
      CHECK(sum[i] >= 99 && sum[i] <= 99, "element %zu was written", i);
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(rows_of_any_size_are_precise);
  RUN_FOR_EACH_ISA(rows_far_from_zero_are_precise);
  RUN_FOR_EACH_ISA(subnormal_rests_of_sums_are_kept);
  RUN_FOR_EACH_ISA(subnormals_count_beside_weights_and_biases);
  RUN_FOR_EACH_ISA(products_with_weights_are_rounded_once);
  RUN_FOR_EACH_ISA(zeros_keep_their_signs);
  TAP_RUN(rows_of_equal_elements);
  TAP_RUN(nan_and_inf_are_not_hidden);
  RUN_FOR_EACH_ISA(types_are_rounded_once);
  RUN_FOR_EACH_ISA(residuals_and_sums_may_have_gaps);
  RUN_FOR_EACH_ISA(middles_go_to_even_and_nan_is_canonical);
  TAP_RUN(two_tiles_are_added_as_a_total);
  return tap_done();
}

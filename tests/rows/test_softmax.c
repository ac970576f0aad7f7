/* SPDX-License-Identifier: MIT */
/* softmax.h: its rules one by one, and the published bound of its error against MPFR on
 * hard rows. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/rows/softmax.h>

#include <math.h>
#include <mpfr.h>

enum { MOST = 40000 };
static float x[MOST], y[MOST], z[MOST];
static uint8_t mask[MOST];

static void fill(size_t n, double from, double to) {
  for (size_t i = 0; i < n; ++i)
    x[i] = (float)uniform(from, to);
}

static const mpnum_softmax_options *options;
static mpnum_row_status softmax(float *dst, size_t n) {
  mpnum_row_status status = MPNUM_ROW_IGNORED;
  CHECK(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, dst, 1, n),
                           mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), options,
                           &status) == MPNUM_OK,
        "softmax");
  return status;
}
static mpnum_row_status log_softmax(float *dst, size_t n) {
  mpnum_row_status status = MPNUM_ROW_IGNORED;
  CHECK(mpnum_log_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, dst, 1, n),
                               mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), options,
                               &status) == MPNUM_OK,
        "log_softmax");
  return status;
}
static float logsumexp(size_t n) {
  float result = 0;
  CHECK(mpnum_logsumexp_rows(&result, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n),
                             options, NULL) == MPNUM_OK,
        "logsumexp");
  return result;
}
static void check_all(const float *got, size_t n, uint32_t want, const char *what) {
  for (size_t i = 0; i < n; ++i)
    CHECK(bits_of(got[i]) == want, "%s, element %zu: got %x, want %x", what, i,
          (unsigned)bits_of(got[i]), (unsigned)want);
}

/* Rule 1 and 11. */
static void nan_anywhere_makes_the_row_nan(void) {
  for (size_t n = 1; n < 200; n += n < 70 ? 1 : 40)
    for (size_t at = 0; at < n; at += n < 40 ? 1 : 17) {
      fill(n, -5, 5);
      x[n / 2] = INF; /* which NaN beats */
      x[at] = A_NAN;
      CHECK(softmax(y, n) == MPNUM_ROW_NAN, "status");
      check_all(y, n, NAN_BITS, "softmax");
      CHECK(log_softmax(y, n) == MPNUM_ROW_NAN, "status");
      check_all(y, n, NAN_BITS, "log_softmax");
      CHECK(bits_of(logsumexp(n)) == NAN_BITS, "logsumexp");
    }
}
/* Rule 2. */
static void nothing_but_minus_inf(void) {
  mpnum_softmax_options how = mpnum_softmax_default();
  for (size_t n = 1; n < 200; n += 33) {
    for (size_t i = 0; i < n; ++i)
      x[i] = MINUS;
    options = NULL;
    CHECK(softmax(y, n) == MPNUM_ROW_NEGATIVE_INF, "status");
    check_all(y, n, NAN_BITS, "softmax");
    CHECK(bits_of(logsumexp(n)) == bits_of(MINUS), "logsumexp");
    how.flags = MPNUM_SOFTMAX_MASKED;
    options = &how;
    CHECK(softmax(y, n) == MPNUM_ROW_EMPTY, "masked: status");
    check_all(y, n, 0, "masked softmax");
    CHECK(log_softmax(y, n) == MPNUM_ROW_EMPTY, "masked: status");
    check_all(y, n, bits_of(MINUS), "masked log_softmax");
    CHECK(bits_of(logsumexp(n)) == bits_of(MINUS), "masked logsumexp");
    options = NULL;
  }
}
/* Rule 3. */
static void plus_inf_is_not_hidden(void) {
  mpnum_softmax_options how = mpnum_softmax_default();
  for (size_t n = 3; n < 5000; n += n < 100 ? 7 : 1900) {
    fill(n, -5, 5);
    x[0] = MINUS;
    x[n / 2] = x[n - 1] = INF;
    options = NULL;
    CHECK(softmax(y, n) == MPNUM_ROW_INF, "status");
    check_all(y, n, NAN_BITS, "softmax");
    CHECK(bits_of(logsumexp(n)) == bits_of(INF), "logsumexp");
    how.flags = MPNUM_SOFTMAX_LIMIT;
    options = &how;
    CHECK(softmax(y, n) == MPNUM_ROW_INF, "limit: status");
    CHECK(log_softmax(z, n) == MPNUM_ROW_INF, "limit: status");
    for (size_t i = 0; i < n; ++i) {
      const int is_inf = i == n / 2 || i == n - 1;
      CHECK(bits_of(y[i]) == (is_inf ? 0x3f000000u : 0), "limit at %zu", i);
      CHECK(bits_of(z[i]) == (is_inf ? 0xbf317218u : 0xff800000u), "log limit at %zu", i);
    }
    const size_t length = n - 1; /* leaves one of the two */
    how.lengths = &length;
    memset(y, 0x5c, n * sizeof *y);
    CHECK(softmax(y, n) == MPNUM_ROW_INF, "limit and length: status");
    for (size_t i = 0; i < n; ++i)
      CHECK(bits_of(y[i]) == (i == n / 2 ? 0x3f800000u : 0), "limit and length at %zu",
            i);
    how.lengths = NULL;
    options = NULL;
  }
}
/* A result that is 0 has no sign, whatever the flags: -ffast-math makes -x of 0 - x. */
static void the_limit_of_one_inf_is_plus_0(void) {
  mpnum_softmax_options how = mpnum_softmax_default();
  const size_t length = 2;
  options = &how;
  how.flags = MPNUM_SOFTMAX_LIMIT;
  for (size_t n = 1; n < 5000; n = n * 3 + 1)
    for (int way = 0; way < 3; ++way) {
      fill(n, -5, 5);
      x[0] = INF;
      for (size_t i = 0; i < n; ++i)
        mask[i] = i % 3 == 0;
      if (way == 1 && n > 1) x[1] = INF;
      how.mask = way == 1 ? mask : NULL;
      how.lengths = way == 2 && n > 1 ? &length : NULL;
      CHECK(log_softmax(z, n) == MPNUM_ROW_INF, "status");
      CHECK(bits_of(z[0]) == 0, "%zu elements: %a", n, (double)z[0]);
      if (n > 1) check_all(z + 1, n - 1, 0xff800000u, "beside it");
    }
  options = NULL;
}
static void log_softmax_of_one_element_is_plus_0_at_any_scale(void) {
  static const float scales[] = {0x1p-149f, 1, 0.3f, 1e-40f, 1e30f};
  mpnum_softmax_options how = mpnum_softmax_default();
  options = &how;
  how.flags = MPNUM_SOFTMAX_MASKED;
  for (size_t n = 1; n < 80; ++n)
    for (int k = 0; k < 5; ++k) {
      for (size_t i = 0; i < n; ++i)
        x[i] = MINUS;
      x[n - 1] = -7;
      how.scale = scales[k];
      CHECK(log_softmax(z, n) == MPNUM_ROW_OK && bits_of(z[n - 1]) == 0,
            "%zu elements, scale %a: %a", n, (double)how.scale, (double)z[n - 1]);
    }
  options = NULL;
}
/* Rule 4. */
static void no_element_and_one(void) {
  y[0] = 42;
  CHECK(softmax(y, 0) == MPNUM_ROW_EMPTY && y[0] > 41, "nothing is written");
  CHECK(bits_of(logsumexp(0)) == bits_of(MINUS), "logsumexp of nothing");
  static const float values[] = {0, -0.0f, 3e38f, -3e38f, 1e-45f, 7};
  for (int i = 0; i < 6; ++i) {
    x[0] = values[i];
    CHECK(softmax(y, 1) == MPNUM_ROW_OK && bits_of(y[0]) == 0x3f800000u, "1 of one");
    CHECK(log_softmax(y, 1) == MPNUM_ROW_OK && bits_of(y[0]) == 0, "+0 of one");
  }
}
/* Rules 5 and 11: what is masked does not count, whatever it holds. */
static void masks_are_a_predicate_a_length_or_minus_inf(void) {
  for (size_t n = 1; n < 5000; n = n * 2 + 1) {
    mpnum_softmax_options how = mpnum_softmax_default();
    const size_t length = n / 2 + 1;
    options = NULL;
    fill(n, -8, 8);
    for (size_t i = length; i < n; ++i)
      x[i] = MINUS;
    softmax(z, n); /* -Inf */
    for (size_t i = 0; i < n; ++i) {
      mask[i] = i < length;
      if (i >= length) x[i] = i % 3 ? A_NAN : INF;
    }
    options = &how;
    how.mask = mask;
    CHECK(softmax(y, n) == MPNUM_ROW_OK, "mask");
    CHECK(memcmp(y, z, n * sizeof *y) == 0, "a mask is as good as -Inf, %zu", n);
    how.mask = NULL;
    how.lengths = &length;
    CHECK(softmax(y, n) == MPNUM_ROW_OK, "length");
    CHECK(memcmp(y, z, n * sizeof *y) == 0, "a length is as good as -Inf, %zu", n);
    CHECK(log_softmax(y, n) == MPNUM_ROW_OK, "length");
    for (size_t i = length; i < n; ++i)
      CHECK(bits_of(y[i]) == 0xff800000u, "log_softmax of what is masked");
    memset(mask, 0, n);
    how.lengths = NULL;
    how.mask = mask;
    CHECK(softmax(y, n) == MPNUM_ROW_EMPTY, "all masked");
    check_all(y, n, 0, "all masked");
    options = NULL;
  }
}
/* Rule 6. */
static void scale_is_applied_after_the_subtraction(void) {
  mpnum_softmax_options how = mpnum_softmax_default();
  static const float bad[] = {-1, -1e-45f, 0, -0.0f};
  options = &how;
  fill(100, 1e6, 2e6);
  x[37] = 3e6f;
  how.scale = 1.1f;
  log_softmax(y, 100);
  CHECK(bits_of(y[37]) == 0, "the largest has log-softmax 0: %a", (double)y[37]);
  how.scale = 0x1p-149f;
  x[5] = MINUS;
  softmax(y, 100);
  for (size_t i = 0; i < 100; ++i)
    CHECK(bits_of(y[i]) == (i == 5 ? 0 : bits_of(1.0f / 99)), "the least is uniform");
  log_softmax(y, 100);
  CHECK(bits_of(y[5]) == 0xff800000u && y[6] < -4.5f && y[6] > -4.7f, "the least");
  how.scale = 1e-38f;
  x[0] = 3e38f;
  x[1] = -3e38f; /* the difference overflows */
  softmax(y, 2);
  CHECK(bits_of(y[0]) == 0x3f800000u && bits_of(y[1]) == 0,
        "a difference past the range");
  for (int i = 0; i < 6; ++i) {
    how.scale = i < 4 ? bad[i] : i == 4 ? INF : A_NAN;
    y[0] = 42;
    CHECK(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, 2),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 2), options,
                             NULL) == MPNUM_ERROR_ARGUMENT &&
              y[0] > 41,
          "scale %a", (double)how.scale);
  }
  options = NULL;
}
static void a_stride_of_0_repeats_a_row(void) {
  enum { COLUMNS = 70 };
  fill(COLUMNS, -3, 3);
  softmax(z, COLUMNS);
  CHECK(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 3, COLUMNS),
                           src_rows(MPNUM_TYPE_F32, x, 3, COLUMNS, 0), NULL,
                           NULL) == MPNUM_OK,
        "softmax");
  for (size_t i = 0; i < 3; ++i)
    CHECK(memcmp(y + i * COLUMNS, z, COLUMNS * sizeof *z) == 0, "row %zu", i);
}
/* Rule 7. */
static void states_merge(void) {
  const mpnum_softmax_state empty = mpnum_softmax_state_empty();
  const mpnum_softmax_state flat =
      mpnum_softmax_add(mpnum_softmax_add(empty, 2, 0), INF, 0);
  CHECK(bits_of(flat.max) == bits_of(INF) && bits_of(flat.sum) == 0x3f800000u,
        "scale 0 beside Inf: %a", (double)flat.sum);
  CHECK(bits_of(mpnum_softmax_weight(flat, 1, 0)) == NAN_BITS &&
            bits_of(mpnum_softmax_loss(flat, 1, 0)) == NAN_BITS,
        "beside Inf");
  const mpnum_softmax_state far_apart =
      mpnum_softmax_add(mpnum_softmax_add(empty, 3e38f, 0), -3e38f, 0);
  CHECK(bits_of(far_apart.sum) == 0x40000000u, "scale 0: %a", (double)far_apart.sum);
  static const float values[] = {0, -0.0f, 1, -1, 88, -200, 3e38f, -3e38f};
  for (int i = 0; i < 11; ++i)
    for (int k = 0; k < 11; ++k) {
      const float a = i < 8 ? values[i] : i == 8 ? INF : i == 9 ? MINUS : A_NAN;
      const float b = k < 8 ? values[k] : k == 8 ? INF : k == 9 ? MINUS : A_NAN;
      const mpnum_softmax_state one = mpnum_softmax_add(empty, a, 1.5f);
      const mpnum_softmax_state other =
          mpnum_softmax_add(mpnum_softmax_add(empty, b, 1.5f), 0.5f, 1.5f);
      const mpnum_softmax_state ab = mpnum_softmax_merge(one, other, 1.5f);
      const mpnum_softmax_state ba = mpnum_softmax_merge(other, one, 1.5f);
      const mpnum_softmax_state same = mpnum_softmax_merge(one, empty, 1.5f);
      CHECK(bits_of(ab.max) == bits_of(ba.max) && bits_of(ab.sum) == bits_of(ba.sum),
            "%a and %a do not commute", (double)a, (double)b);
      CHECK(bits_of(same.max) == bits_of(one.max) &&
                bits_of(same.sum) == bits_of(one.sum),
            "%a and nothing", (double)a);
    }
  fill(1000, -30, 30);
  mpnum_softmax_state parts[4] = {empty, empty, empty, empty};
  for (size_t i = 0; i < 1000; ++i)
    parts[i / 250] = mpnum_softmax_add(parts[i / 250], x[i], 1);
  const mpnum_softmax_state all =
      mpnum_softmax_merge(mpnum_softmax_merge(parts[0], parts[1], 1),
                          mpnum_softmax_merge(parts[2], parts[3], 1), 1);
  const double whole = (double)logsumexp(1000);
  CHECK(fabs((double)mpnum_softmax_logsumexp(all, 1) - whole) < 1e-5 * fabs(whole),
        "%a, the row has %a", (double)mpnum_softmax_logsumexp(all, 1), whole);
  softmax(y, 1000);
  for (size_t i = 0; i < 1000; ++i) {
    const double weight = (double)mpnum_softmax_weight(all, x[i], 1);
    const double loss = (double)mpnum_softmax_loss(all, x[i], 1);
    CHECK(fabs(weight - (double)y[i]) <= 1e-4 * (double)y[i], "weight of %zu", i);
    CHECK(fabs(loss - (whole - (double)x[i])) <= 1e-4, "loss of %zu", i);
  }
}
static void an_empty_state_is_a_row_that_is_all_masked(void) {
  const mpnum_softmax_state empty = mpnum_softmax_state_empty();
  static const uint32_t masked[] = {0, 0x3f800000u, 0xff800000u, 0x7f800000u,
                                    0xffc12345u};
  for (int i = 0; i < 10; ++i) {
    const float scale = i / 5 ? 0 : 1.5f, element = special(masked[i % 5]);
    const mpnum_softmax_state still = mpnum_softmax_add(empty, MINUS, scale);
    CHECK(bits_of(mpnum_softmax_weight(empty, element, scale)) == 0 &&
              bits_of(mpnum_softmax_weight(still, element, scale)) == 0,
          "weight of element %d", i);
    CHECK(bits_of(mpnum_softmax_loss(empty, element, scale)) == 0x7f800000u &&
              bits_of(mpnum_softmax_loss(still, element, scale)) == 0x7f800000u,
          "loss of element %d", i);
    CHECK(bits_of(mpnum_softmax_logsumexp(still, scale)) == 0xff800000u, "of nothing");
  }
}
/* A result of a state beside that of the row: Inf, NaN and 0 alike, others nearly. */
static void check_state(const char *what, int row, uint32_t got, uint32_t want) {
  const float one = special(got), other = special(want);
  if (got == want) return;
  CHECK((got & 0x7fffffffu) < 0x7f800000u && (want & 0x7fffffffu) < 0x7f800000u &&
            want << 1 && fabs((double)one - (double)other) < 1e-5 * fabs((double)other),
        "%s of row %d: %x, the row has %x", what, row, (unsigned)got, (unsigned)want);
}
static void states_of_special_rows_are_those_of_rows(void) {
  static const uint32_t elements[] = {0x3fc00000u, 0xc0000000u, 0xff800000u,
                                      0x7f800000u, 0xffc12345u, 0,
                                      0x80000000u, 0x7f61b1e6u, 0xff61b1e6u};
  static const float scales[] = {1, 0.5f, 0.75f};
  mpnum_softmax_options how = mpnum_softmax_default();
  const mpnum_softmax_state empty = mpnum_softmax_state_empty();
  how.flags = MPNUM_SOFTMAX_MASKED;
  options = &how;
  for (int i = 0; i < 3 * 9 * 9 * 9; ++i) {
    const float scale = how.scale = scales[i / 729];
    mpnum_softmax_state state = empty, rest = empty;
    for (int k = 0, place = i; k < 3; ++k, place /= 9) {
      x[k] = special(elements[place % 9]);
      if (k < 2) state = mpnum_softmax_add(state, x[k], scale);
      if (k == 2) rest = mpnum_softmax_add(empty, x[k], scale);
    }
    state = mpnum_softmax_merge(state, rest, scale);
    softmax(y, 3);
    log_softmax(z, 3);
    check_state("logsumexp", i, bits_of(mpnum_softmax_logsumexp(state, scale)),
                bits_of(logsumexp(3)));
    for (int k = 0; k < 3; ++k) {
      const uint32_t log_bits = bits_of(z[k]);
      check_state("weight", i, bits_of(mpnum_softmax_weight(state, x[k], scale)),
                  bits_of(y[k]));
      check_state("loss", i, bits_of(mpnum_softmax_loss(state, x[k], scale)),
                  log_bits & (log_bits == NAN_BITS ? log_bits : 0x7fffffffu));
    }
  }
  options = NULL;
}

/* What docs/softmax.md says of e^t, t up to 0, as rows compute it: what is not below
 * 2^-126 within 1.29 u, the rest 0. libm's exp in double is off by 2^-28 u at most. */
#ifdef TEST_ALL_FLOATS
enum { EVERY = 1 };
#else
enum { EVERY = 1009 };
#endif
static void powers_are_off_by_1_29_u(void) {
  double worst = 0;
  uint64_t bits = 0x80000000u; /* -0; up to -Inf */
  while (bits <= 0xff800000u) {
    size_t n = 0;
    for (; n < MOST && bits <= 0xff800000u; bits += EVERY)
      x[n++] = special((uint32_t)bits);
    mpnum_exp_sum_f32(y, x, n, 0);
    for (size_t i = 0; i < n; ++i) {
      const double want = x[i] < -90 ? 0 : exp((double)x[i]);
      const double error = fabs((double)y[i] / want - 1) * 0x1p24;
      if (want < 0x1p-126) {
        CHECK(bits_of(y[i]) == 0, "e^%a is %a", (double)x[i], (double)y[i]);
        continue;
      }
      CHECK(error <= 1.29, "e^%a is %a, %.4f u off", (double)x[i], (double)y[i], error);
      if (error > worst) worst = error;
    }
  }
  printf("# e^t is off by %.4f u at most\n", worst);
  CHECK(bits_of(mpnum_exp_of_negative_scalar_(0)) == 0x3f800000u, "e^0");
  CHECK(bits_of(mpnum_exp_of_negative_scalar_(-87.4f)) == 0, "below 2^-126");
  CHECK(bits_of(mpnum_exp_of_negative_scalar_(MINUS)) == 0, "e^-Inf");
}
static void powers_below_the_least_normal_float_are_0(void) {
  x[0] = special(0xc2aeac4fu); /* the last one whose power is no subnormal */
  x[1] = special(0xc2aeac50u);
  (void)mpnum_exp_sum_f32(y, x, 2, 0);
  CHECK(bits_of(y[0]) >= 0x00800000u && bits_of(y[1]) == 0, "at the limit");
}
/* Rules 9 and 10: what docs/softmax.md says of the error. */
static void check_bound(size_t n, double scale, const char *what) {
  mpnum_softmax_options how = mpnum_softmax_default();
  mpfr_t sum, one, largest, mean;
  how.scale = (float)scale;
  options = &how;
  CHECK(softmax(y, n) == MPNUM_ROW_OK, "%s", what);
  CHECK(log_softmax(z, n) == MPNUM_ROW_OK, "%s", what);
  const float sum_log = logsumexp(n);
  options = NULL;
  mpfr_inits2(200, sum, one, largest, mean, (mpfr_ptr)0);
  float m = x[0];
  for (size_t i = 1; i < n; ++i)
    if (x[i] > m) m = x[i];
  mpfr_set_ui(sum, 0, MPFR_RNDN);
  mpfr_set_ui(mean, 0, MPFR_RNDN);
  double weighted = 0;
  static double t_of[MOST];
  static double value[MOST]; /* e^t */
  for (size_t i = 0; i < n; ++i) {
    mpfr_set_flt(one, x[i], MPFR_RNDN);
    mpfr_sub_d(one, one, (double)m, MPFR_RNDN);
    mpfr_mul_d(one, one, (double)how.scale, MPFR_RNDN);
    t_of[i] = mpfr_get_d(one, MPFR_RNDN);
    mpfr_exp(one, one, MPFR_RNDN);
    value[i] = mpfr_get_d(one, MPFR_RNDN);
    mpfr_add(sum, sum, one, MPFR_RNDN);
  }
  const double s = mpfr_get_d(sum, MPFR_RNDN);
  mpfr_log(sum, sum, MPFR_RNDN);
  const double log_s = mpfr_get_d(sum, MPFR_RNDN);
  for (size_t i = 0; i < n; ++i)
    if (value[i] > 0) weighted += value[i] / s * fabs(t_of[i]);
  const double twice = bits_of(how.scale) == 0x3f800000u ? 1 : 2;
  const double common = twice * weighted + 38 + 2 * 1.29 + 3;
  for (size_t i = 0; i < n; ++i) {
    const double want = value[i] / s;
    const double bound = want * (twice * fabs(t_of[i]) + common) * 0x1p-24 + 0x1p-126;
    CHECK(fabs((double)y[i] - want) <= bound, "%s: softmax of %zu: %a, want %a", what, i,
          (double)y[i], want);
    const double log_bound =
        (twice * fabs(t_of[i]) + common + 2 * log_s + fabs(t_of[i] - log_s)) * 0x1p-24;
    CHECK(fabs((double)z[i] - (t_of[i] - log_s)) <= log_bound,
          "%s: log_softmax of %zu: %a, want %a", what, i, (double)z[i], t_of[i] - log_s);
  }
  const double total = (double)m * (double)how.scale + log_s;
  CHECK(fabs((double)sum_log - total) <=
            (common + 2 * log_s + fabs((double)m * scale) + fabs(total)) * 0x1p-24,
        "%s: logsumexp %a, want %a", what, (double)sum_log, total);
  mpfr_clears(sum, one, largest, mean, (mpfr_ptr)0);
}
static void the_bound_holds_on_hard_rows(void) {
  static const double scales[] = {1, 1.1, 10, 0.125};
  for (int k = 0; k < 4; ++k) {
    const double scale = scales[k];
    fill(1000, -1, 1);
    x[500] = 90; /* one huge */
    check_bound(1000, scale, "one huge");
    for (size_t i = 0; i < 5000; ++i)
      x[i] = 3.25f;
    check_bound(5000, scale, "all equal");
    for (size_t i = 0; i < 1500; ++i)
      x[i] = (float)(-(double)i * 0.1 / scale); /* to where e^t is subnormal, and 0 */
    check_bound(1500, scale, "subnormal tails");
    for (size_t i = 0; i < 2000; ++i)
      x[i] = (float)((i % 2 ? 1e4 : -1e-4) * (1 + (double)i * 1e-5));
    check_bound(2000, scale, "alternating magnitudes");
    fill(3000, -20, 20);
    check_bound(3000, scale, "random");
    fill(33, 1e30, 1.00001e30);
    check_bound(33, scale, "far out");
  }
  fill(32000, -3, 3);
  check_bound(32000, 1, "32000 long");
}
/* Sums of many: all equal, and twice that. */
static void ten_million_elements_stay_accurate(void) {
  enum { MANY = 10000000 };
  float *row = (float *)malloc(MANY * sizeof *row);
  float result = 0;
  for (size_t i = 0; row && i < MANY; ++i)
    row[i] = 0.5f;
  if (!row) abort();
  CHECK(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, row, 1, MANY),
                           mpnum_const_matrix_of(MPNUM_TYPE_F32, row, 1, MANY), NULL,
                           NULL) == MPNUM_OK,
        "softmax");
  for (size_t i = 0; i < MANY; i += 999)
    CHECK(fabs((double)row[i] * MANY - 1) < 2 * 0x1p-24, "element %zu: %a", i,
          (double)row[i]);
  for (size_t i = 0; i < MANY; ++i)
    row[i] = i % 2 ? 0 : -0.6931472f;
  must(mpnum_logsumexp_rows(&result, mpnum_const_matrix_of(MPNUM_TYPE_F32, row, 1, MANY),
                            NULL, NULL));
  CHECK(fabs((double)result - log(MANY * 0.75)) < 2e-6, "logsumexp %a", (double)result);
  free(row);
}

/* Any types, strides and places: rows are what they are as floats, rounded once. */
static void types_and_strides(void) {
  static const mpnum_type *const types = row_types;
  static const size_t sizes[] = {4, 2, 2, 1, 1};
  static const size_t columns_of[] = {1, 63, 130, 2049, 5001};
  static uint8_t src[4 * MOST], dst[4 * MOST], want[4 * MOST];
  for (int k = 0; k < 5 * 5 * 5 * 2; ++k) {
    const int s = k % 5, d = k / 5 % 5, is_log = k / 125;
    const size_t columns = columns_of[k / 25 % 5], stride = columns + 3;
    fill(3 * stride, -6, 6);
    must(mpnum_convert_array(types[s], src, MPNUM_TYPE_F32, x, 3 * stride,
                             MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
    must(mpnum_convert_array(MPNUM_TYPE_F32, x, types[s], src, 3 * stride,
                             MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
    memset(dst, 0x5c, sizeof dst);
    memset(want, 0x5c, sizeof want);
    for (size_t i = 0; i < 3; ++i) {
      must((is_log ? mpnum_log_softmax_rows : mpnum_softmax_rows)(
          mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, columns),
          mpnum_const_matrix_of(MPNUM_TYPE_F32, x + i * stride, 1, columns), NULL, NULL));
      must(mpnum_convert_array(types[d], want + i * (columns + 1) * sizes[d],
                               MPNUM_TYPE_F32, y, columns, MPNUM_ROUND_NEAREST_EVEN,
                               MPNUM_OVERFLOW_IEEE, 0, 0));
    }
    must((is_log ? mpnum_log_softmax_rows : mpnum_softmax_rows)(
        dst_rows(types[d], dst, 3, columns, columns + 1),
        src_rows(types[s], src, 3, columns, stride), NULL, NULL));
    CHECK(memcmp(dst, want, sizeof dst) == 0, "%s to %s, %zu columns",
          mpnum_type_name(types[s]), mpnum_type_name(types[d]), columns);
    if (s != d) continue;
    memcpy(dst, src, 3 * stride * sizes[s]); /* in place */
    must((is_log ? mpnum_log_softmax_rows : mpnum_softmax_rows)(
        dst_rows(types[d], dst, 3, columns, stride),
        src_rows(types[s], dst, 3, columns, stride), NULL, NULL));
    for (size_t i = 0; i < 3; ++i)
      CHECK(memcmp(dst + i * stride * sizes[d], want + i * (columns + 1) * sizes[d],
                   columns * sizes[d]) == 0,
            "%s in place, %zu columns", mpnum_type_name(types[s]), columns);
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(nan_anywhere_makes_the_row_nan);
  RUN_FOR_EACH_ISA(nothing_but_minus_inf);
  RUN_FOR_EACH_ISA(plus_inf_is_not_hidden);
  RUN_FOR_EACH_ISA(the_limit_of_one_inf_is_plus_0);
  RUN_FOR_EACH_ISA(log_softmax_of_one_element_is_plus_0_at_any_scale);
  RUN_FOR_EACH_ISA(no_element_and_one);
  RUN_FOR_EACH_ISA(masks_are_a_predicate_a_length_or_minus_inf);
  RUN_FOR_EACH_ISA(scale_is_applied_after_the_subtraction);
  TAP_RUN(a_stride_of_0_repeats_a_row);
  TAP_RUN(states_merge);
  TAP_RUN(an_empty_state_is_a_row_that_is_all_masked);
  TAP_RUN(states_of_special_rows_are_those_of_rows);
  TAP_RUN(powers_are_off_by_1_29_u);
  RUN_FOR_EACH_ISA(powers_below_the_least_normal_float_are_0);
  RUN_FOR_EACH_ISA(the_bound_holds_on_hard_rows);
  RUN_FOR_EACH_ISA(ten_million_elements_stay_accurate);
  RUN_FOR_EACH_ISA(types_and_strides);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* Softmax as attention uses it: biases of 16 bits and slopes are the same as their
 * products in floats, bit for bit; sinks and their gradients by long double; what is
 * refused. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/rows/cross_entropy.h>
#include <mpnum/rows/softmax_backward.h>

#include <math.h>

enum { MOST = 40 * 2200 };
static float x[MOST], bias[MOST], products[MOST], got[MOST], want[MOST], losses[64],
    want_losses[64];
static uint8_t source[4 * MOST], small[4 * MOST], mask[MOST];
static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                   MPNUM_TYPE_E4M3};

static uint64_t state = 31;
static size_t below(size_t n) { return (size_t)(random_bits(&state) >> 11) % n; }
static float unit(void) { return (float)((double)(random_bits(&state) >> 11) * 0x1p-53); }
static void to_type(mpnum_type type, void *dst, const float *src, size_t n) {
  must(mpnum_convert_array(type, dst, MPNUM_TYPE_F32, src, n, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_IEEE, 0, 0));
}
static void to_floats(mpnum_type type, float *dst, const void *src, size_t n) {
  must(mpnum_convert_array(MPNUM_TYPE_F32, dst, type, src, n, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_IEEE, 0, 0));
}

static void check_biases(int round) {
  const size_t rows = 1 + below(12), columns = 1 + below(below(3) ? 150 : 4500);
  const size_t n = rows * columns, stride = below(4) ? columns : 0;
  const mpnum_type type = types[below(3)], from = types[below(4)];
  const size_t heads = 1 + below(4), head_rows = 1 + below(3);
  float slopes[4];
  mpnum_softmax_options options = mpnum_softmax_default();
  for (size_t i = 0; i < n; ++i) {
    x[i] = (unit() - 0.5f) * 20;
    bias[i] = below(5) ? (unit() - 0.5f) * 9 : -INFINITY;
    mask[i] = below(6) != 0;
  }
  for (int k = 0; k < 4; ++k)
    slopes[k] = unit() + 0.01f;
  to_type(from, source, x, n);
  to_type(type, small, bias, n);
  to_floats(type, bias, small, n); /* what it holds */
  options.scale = below(2) ? 1 : 0.37f;
  if (below(3) == 0) {
    options.mask = mask;
    options.mask_stride = columns;
  }
  if (below(3) == 0) options.first_length = 1 + (int64_t)below(columns);
  const mpnum_const_matrix src = mpnum_const_matrix_of(from, source, rows, columns);
  const int has_slopes = below(2) != 0;
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      volatile float product = bias[(stride ? r * stride : 0) + c];
      if (has_slopes) product *= slopes[r / head_rows % heads];
      products[r * columns + c] = product;
    }
  options.bias = products;
  options.bias_stride = columns;
  const int kind = round % 4;
  int64_t targets[12];
  mpnum_cross_entropy_options loss_options = mpnum_cross_entropy_default();
  for (size_t r = 0; r < rows; ++r)
    targets[r] = (int64_t)below(columns);
  for (int turn = 0; turn < 2; ++turn) {
    mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, turn ? got : want, rows, columns);
    memset(dst.data, 0, 4 * n);
    if (turn) {
      options.bias = small;
      options.bias_type = type;
      options.bias_stride = stride;
      options.slopes = has_slopes ? slopes : NULL;
      options.heads = heads;
      options.head_rows = head_rows;
    }
    if (kind == 0) must(mpnum_softmax_rows(dst, src, &options, NULL));
    if (kind == 1) must(mpnum_log_softmax_rows(dst, src, &options, NULL));
    if (kind == 2) must(mpnum_logsumexp_rows(turn ? got : want, src, &options, NULL));
    loss_options.softmax = options;
    if (kind == 3)
      must(mpnum_cross_entropy_rows(turn ? losses : want_losses, dst, src, targets,
                                    &loss_options, NULL));
  }
  CHECK(memcmp(got, want, 4 * n) == 0, "%d: %zu x %zu of %s with %s, kind %d", round,
        rows, columns, mpnum_type_name(from), mpnum_type_name(type), kind);
  CHECK(kind != 3 || memcmp(losses, want_losses, 4 * rows) == 0, "%d: losses", round);
}
static void biases_and_slopes_are_their_products(void) {
  for (int round = 0; round < 120; ++round)
    check_biases(round);
}

static int is_near(float y, long double exact, long double units) {
  const long double error = fabsl((long double)y - exact);
  return error <= units * 0x1p-24L * fabsl(exact) + 0x1p-126L;
}
static void check_sinks(int round) {
  const size_t rows = 1 + below(8), columns = 1 + below(below(3) ? 150 : 4500);
  const size_t heads = 1 + below(3), head_rows = 1 + below(3);
  const float scale = below(2) ? 1 : 0.25f;
  float sinks[3], all[8];
  mpnum_row_status statuses[8];
  mpnum_softmax_options options = mpnum_softmax_default();
  for (size_t i = 0; i < rows * columns; ++i) {
    x[i] = (unit() - 0.5f) * 20;
    mask[i] = below(6) != 0;
  }
  for (int k = 0; k < 3; ++k)
    sinks[k] = below(6) ? (unit() - 0.3f) * (below(3) ? 20 : 150) : -INFINITY;
  options.scale = scale;
  options.mask = mask;
  options.mask_stride = columns;
  options.sinks = sinks;
  options.heads = heads;
  options.head_rows = head_rows;
  if (below(4) == 0) memset(mask, 0, columns); /* an empty row */
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, rows, columns);
  must(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, got, rows, columns), src,
                          &options, statuses));
  must(mpnum_log_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, want, rows, columns), src,
                              &options, NULL));
  must(mpnum_logsumexp_rows(all, src, &options, NULL));
  for (size_t r = 0; r < rows; ++r) {
    const long double sink = (long double)sinks[r / head_rows % heads];
    long double sum = expl(sink), largest = -INFINITY, spread = 0;
    size_t present = 0;
    for (size_t c = 0; c < columns; ++c)
      if (mask[r * columns + c]) {
        const long double t = (long double)x[r * columns + c] * (long double)scale;
        sum += expl(t);
        if (t > largest) largest = t;
        ++present;
      }
    for (size_t c = 0; c < columns; ++c)
      if (mask[r * columns + c]) {
        const long double t = (long double)x[r * columns + c] * (long double)scale;
        spread += expl(t) / sum * (largest - t);
      }
    if (!present) largest = 0;
    /* docs/softmax.md, but for what depends on the element */
    const long double known =
        2 * spread + 43.58L +
        (isinf(sinks[r / head_rows % heads]) ? 0 : 2 * fabsl(sink - largest) + 3);
    CHECK(statuses[r] == (present ? MPNUM_ROW_OK : MPNUM_ROW_EMPTY), "status %d",
          (int)statuses[r]);
    CHECK(fabsl((long double)all[r] - logl(sum)) <= 4e-7L * (1 + fabsl(logl(sum))) ||
              (isinf(all[r]) && sum == 0),
          "%d: log-sum-exp %g, not %Lg", round, (double)all[r], logl(sum));
    for (size_t c = 0; c < columns; ++c) {
      const size_t i = r * columns + c;
      const long double t = (long double)x[i] * (long double)scale;
      const long double exact = mask[i] ? expl(t) / sum : 0;
      const long double units = 2 * (largest - t) + known;
      CHECK(is_near(got[i], exact, units), "%d, row %zu: %g, not %Lg", round, r,
            (double)got[i], exact);
      CHECK(mask[i] ? fabsl((long double)want[i] - (t - logl(sum))) <=
                          4e-7L * (4 + fabsl(t) + fabsl(logl(sum)))
                    : isinf(want[i]),
            "%d, row %zu: log %g, not %Lg", round, r, (double)want[i], t - logl(sum));
    }
  }
}
static void sinks_take_weight_and_give_none(void) {
  for (int round = 0; round < 60; ++round)
    check_sinks(round);
}

/* Sinks as far above all elements as floats go, or farther: they take all weight. */
static void sinks_far_above_take_all_weight(void) {
  static const float most = 0x1.fffffep127f, logits[3] = {0, -0x1.8p127f, -0x1p126f};
  for (int k = 0; k < 3; ++k) {
    mpnum_softmax_options options = mpnum_softmax_default();
    options.sinks = &most;
    options.heads = options.head_rows = 1;
    x[0] = logits[k];
    x[1] = logits[k] - 0x1p126f;
    const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 2);
    must(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, got, 1, 2), src, &options,
                            NULL));
    must(mpnum_log_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, want, 1, 2), src,
                                &options, NULL));
    must(mpnum_logsumexp_rows(losses, src, &options, NULL));
    CHECK(got[0] == 0 && got[1] == 0, "%d: %g, %g", k, (double)got[0], (double)got[1]);
    CHECK(losses[0] == most, "%d: log-sum-exp %g", k, (double)losses[0]);
    /* x less the sink, past all floats but of 0 */
    CHECK(k ? isinf(want[0]) && want[0] < 0 : want[0] == -most, "%d: log %g", k,
          (double)want[0]);
    CHECK(isinf(want[1]) && want[1] < 0, "%d: log %g", k, (double)want[1]);
  }
}

/* d/dx of the sum of dy y by differences, in long double. */
static long double objective(const long double *logits, const float *dy, size_t n,
                             long double sink) {
  long double sum = expl(sink), dot = 0;
  for (size_t i = 0; i < n; ++i)
    sum += expl(logits[i]);
  for (size_t i = 0; i < n; ++i)
    dot += (long double)dy[i] * expl(logits[i]) / sum;
  return dot;
}
static void gradients_beside_a_sink_are_those_of_softmax(void) {
  enum { N = 33 };
  float y[N], dy[N], dx[N];
  const float sink = 0.75f;
  mpnum_softmax_options options = mpnum_softmax_default();
  options.scale = 0.5f;
  options.sinks = &sink;
  options.heads = options.head_rows = 1;
  for (int i = 0; i < N; ++i) {
    x[i] = (unit() - 0.5f) * 6;
    dy[i] = unit() - 0.5f;
  }
  must(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, N),
                          mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, N), &options,
                          NULL));
  must(mpnum_softmax_backward_rows(mpnum_matrix_of(MPNUM_TYPE_F32, dx, 1, N),
                                   mpnum_const_matrix_of(MPNUM_TYPE_F32, dy, 1, N),
                                   mpnum_const_matrix_of(MPNUM_TYPE_F32, y, 1, N),
                                   &options));
  for (int i = 0; i < N; ++i) {
    long double logits[N], high = 0, low = 0;
    for (int k = 0; k < N; ++k)
      logits[k] = (long double)x[k] * 0.5L;
    logits[i] = ((long double)x[i] + 1e-4L) * 0.5L;
    high = objective(logits, dy, N, (long double)sink);
    logits[i] = ((long double)x[i] - 1e-4L) * 0.5L;
    low = objective(logits, dy, N, (long double)sink);
    CHECK(fabsl((long double)dx[i] - (high - low) / 2e-4L) < 2e-8L, "%d: %g, not %Lg", i,
          (double)dx[i], (high - low) / 2e-4L);
  }
}

static void misuse_is_refused(void) {
  float sinks[2] = {0, 0}, slopes[2] = {1, 1};
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 8);
  const mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, got, 2, 8);
  mpnum_softmax_options fine = mpnum_softmax_default();
  fine.heads = 2;
  fine.head_rows = 1;
  fine.bias = bias;
  fine.sinks = sinks;
  fine.slopes = slopes;
  memset(got, 0x5a, sizeof got);
#define REFUSED(want_status, change)                                                \
 do {                                                                               \
  mpnum_softmax_options options = fine;                                             \
  change;                                                                           \
  const mpnum_status status = mpnum_softmax_rows(dst, src, &options, NULL);         \
  CHECK(status == (want_status) && mpnum_bits_f32(got[3]) == 0x5a5a5a5au, "%s: %s", \
        #change, mpnum_status_string(status));                                      \
 } while (0)
  const float nan_value = mpnum_from_bits_f32(0x7fc00000u);
  REFUSED(MPNUM_ERROR_ARGUMENT, options.heads = 0);
  REFUSED(MPNUM_ERROR_ARGUMENT, options.head_rows = 0);
  REFUSED(MPNUM_ERROR_TYPE, options.bias_type = MPNUM_TYPE_E4M3);
  REFUSED(MPNUM_ERROR_ARGUMENT, sinks[1] = INFINITY);
  REFUSED(MPNUM_ERROR_ARGUMENT, sinks[1] = nan_value);
  sinks[1] = -INFINITY;
  REFUSED(MPNUM_ERROR_ARGUMENT, slopes[1] = INFINITY);
  REFUSED(MPNUM_ERROR_ARGUMENT, slopes[1] = nan_value);
  REFUSED(MPNUM_ERROR_ARGUMENT, slopes[1] = -1);
  REFUSED(MPNUM_ERROR_ARGUMENT, slopes[1] = 0);
  slopes[1] = 1;
  must(mpnum_softmax_rows(dst, src, &fine, NULL));
  /* Without elements pointers may be anything; without columns a sink is all there is. */
  mpnum_softmax_options wild = fine;
  wild.sinks = wild.slopes = (const float *)(const void *)((const uint8_t *)0 + 16);
  must(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, NULL, 0, 8),
                          mpnum_const_matrix_of(MPNUM_TYPE_F32, NULL, 0, 8), &wild,
                          NULL));
  sinks[0] = 1.5f;
  must(mpnum_logsumexp_rows(losses, mpnum_const_matrix_of(MPNUM_TYPE_F32, NULL, 2, 0),
                            &fine, NULL));
  CHECK(mpnum_bits_f32(losses[0]) == 0x3fc00000u && isinf(losses[1]), "%g %g",
        (double)losses[0], (double)losses[1]);
  /* So it is beside nothing but -Inf, masked or not. */
  mpnum_row_status row_status[2];
  x[0] = x[1] = x[2] = x[3] = -INFINITY;
  fine.bias = NULL;
  const mpnum_const_matrix none = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 2);
  must(mpnum_logsumexp_rows(losses, none, &fine, row_status));
  must(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, got, 2, 2), none, &fine, NULL));
  CHECK(mpnum_bits_f32(losses[0]) == 0x3fc00000u && row_status[0] == MPNUM_ROW_EMPTY &&
            mpnum_bits_f32(got[0]) == 0,
        "%g, %g", (double)losses[0], (double)got[0]);
  fine.bias = bias;
  const int64_t targets[2] = {0, 0};
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  options.softmax = fine;
  const mpnum_status status = mpnum_cross_entropy_rows(losses, mpnum_matrix_empty(), src,
                                                       targets, &options, NULL);
  CHECK(status == MPNUM_ERROR_ARGUMENT, "sinks of losses: %s",
        mpnum_status_string(status));
}

int main(void) {
  RUN_FOR_EACH_ISA(biases_and_slopes_are_their_products);
  RUN_FOR_EACH_ISA(sinks_take_weight_and_give_none);
  RUN_FOR_EACH_ISA(sinks_far_above_take_all_weight);
  TAP_RUN(gradients_beside_a_sink_are_those_of_softmax);
  TAP_RUN(misuse_is_refused);
  return tap_done();
}

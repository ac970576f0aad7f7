/* SPDX-License-Identifier: MIT */
/* cross_entropy.h: losses and gradients against their definition in double, the rules for
 * targets, masks and special logits, contrastive losses both ways. */
#include "array_checks.h"

#include <mpnum/array.h>
#include <mpnum/cross_entropy.h>

#include <math.h>

mpnum_status force_isa(mpnum_isa isa) { return mpnum_isa_force(isa); }
mpnum_isa isa_in_use(void) { return mpnum_isa_in_use(); }

enum { ROWS = 7, MOST = 5000 };
static float x[ROWS * MOST], gradient[ROWS * MOST], soft[ROWS * MOST], loss[MOST];
static int64_t targets[ROWS];

static uint32_t bits_of(float value) { return mpnum_bits_f32(value); }
static float special(uint32_t bits) { return mpnum_from_bits_f32(bits); }
#define INF   special(0x7f800000u)
#define MINUS special(0xff800000u)
#define A_NAN special(0xffc12345u)

static void fill(size_t n, double from, double to) {
  for (size_t i = 0; i < n; ++i)
    x[i] = (float)uniform(from, to);
}

static mpnum_cross_entropy_options how;
static mpnum_row_status row_status[ROWS];
static mpnum_status run(size_t rows, size_t columns) {
  return mpnum_cross_entropy_rows(loss, MPNUM_TYPE_F32, gradient, columns, MPNUM_TYPE_F32,
                                  x, columns, rows, columns, targets, &how, row_status);
}

/* By definition, in double: of one row, which counts where not masked. */
typedef struct expected {
  double loss, *gradient;
} expected;
static double wanted_gradient[MOST];
static expected by_definition(const float *row, size_t columns, const double *shares,
                              double scale, double factor) {
  expected want = {0, wanted_gradient};
  double m = -1e300, s = 0, all = 0;
  for (size_t i = 0; i < columns; ++i)
    m = (double)row[i] > m ? (double)row[i] : m;
  for (size_t i = 0; i < columns; ++i)
    s += exp(((double)row[i] - m) * scale);
  for (size_t i = 0; i < columns; ++i)
    all += shares[i];
  for (size_t i = 0; i < columns; ++i) {
    const double t = ((double)row[i] - m) * scale;
    if (shares[i] != 0) want.loss += shares[i] * (log(s) - t);
    want.gradient[i] = (exp(t) / s * all - shares[i]) * factor * scale;
  }
  return want;
}
static void check_row(size_t row, size_t columns, expected want, double factor,
                      const char *what) {
  CHECK(fabs((double)loss[row] - want.loss) <= 1e-5 * (1 + fabs(want.loss)),
        "%s: loss of row %zu is %a, want %a", what, row, (double)loss[row], want.loss);
  CHECK(loss[row] >= 0, "%s: a loss below 0", what);
  for (size_t i = 0; i < columns; ++i) {
    const double got = (double)gradient[row * columns + i];
    CHECK(fabs(got - want.gradient[i]) <= 1e-5 * factor,
          "%s: gradient %zu of row %zu is %a, want %a", what, i, row, got,
          want.gradient[i]);
  }
}
static double shares[MOST];
static void losses_and_gradients_are_those_defined(void) {
  static const size_t sizes[] = {1, 2, 10, 1000, 2049, MOST};
  for (int k = 0; k < 6 * 3 * 2; ++k) {
    const size_t columns = sizes[k % 6];
    how = mpnum_cross_entropy_default();
    how.softmax.scale = k / 6 % 3 == 1 ? 0.7f : 1;
    how.label_smoothing = k / 6 % 3 == 2 ? 0.1f : 0;
    how.factor = k >= 18 ? 0.25f : 1;
    fill(ROWS * columns, -10, 10);
    for (size_t i = 0; i < ROWS; ++i)
      targets[i] = (int64_t)(i * 977 % columns);
    CHECK(run(ROWS, columns) == MPNUM_OK, "run");
    for (size_t row = 0; row < ROWS; ++row) {
      for (size_t i = 0; i < columns; ++i)
        shares[i] = (double)how.label_smoothing / (double)columns;
      shares[targets[row]] += 1 - (double)how.label_smoothing;
      check_row(row, columns,
                by_definition(x + row * columns, columns, shares,
                              (double)how.softmax.scale, (double)how.factor),
                (double)how.factor, "hard");
      CHECK(row_status[row] == MPNUM_ROW_OK, "status");
    }
  }
}
static void soft_targets_are_shares(void) {
  how = mpnum_cross_entropy_default();
  how.softmax.scale = 1.5f;
  enum { COLUMNS = 2500 };
  fill(ROWS * COLUMNS, -8, 8);
  for (size_t i = 0; i < ROWS * COLUMNS; ++i)
    soft[i] = i % 3 ? (float)uniform(0, 1.0 / COLUMNS) : 0;
  x[3] = MINUS; /* its share is 0 */
  CHECK(mpnum_soft_cross_entropy_rows(loss, MPNUM_TYPE_F32, gradient, COLUMNS,
                                      MPNUM_TYPE_F32, x, COLUMNS, ROWS, COLUMNS, soft,
                                      COLUMNS, &how, NULL) == MPNUM_OK,
        "run");
  for (size_t row = 0; row < ROWS; ++row) {
    for (size_t i = 0; i < COLUMNS; ++i)
      shares[i] = (double)soft[row * COLUMNS + i];
    check_row(row, COLUMNS, by_definition(x + row * COLUMNS, COLUMNS, shares, 1.5, 1), 1,
              "soft");
  }
  soft[3] = 0.5f;
  mpnum_soft_cross_entropy_rows(loss, MPNUM_TYPE_F32, NULL, 0, MPNUM_TYPE_F32, x, COLUMNS,
                                1, COLUMNS, soft, COLUMNS, &how, NULL);
  CHECK(bits_of(loss[0]) == 0x7f800000u, "a share where the logit is -Inf");
  static const size_t lengths[] = {2000};
  how.softmax.lengths = lengths;
  x[3] = 0;
  mpnum_soft_cross_entropy_rows(loss, MPNUM_TYPE_F32, NULL, 0, MPNUM_TYPE_F32, x, COLUMNS,
                                1, COLUMNS, soft, COLUMNS, &how, NULL);
  CHECK(bits_of(loss[0]) == 0x7f800000u, "a share past the length");
  static const size_t two[] = {2};
  static const float shares_of_three[] = {0.5f, 0.25f, 0.25f};
  how.softmax.lengths = two;
  mpnum_soft_cross_entropy_rows(loss, MPNUM_TYPE_F32, NULL, 0, MPNUM_TYPE_F32, x, 3, 1, 3,
                                shares_of_three, 3, &how, NULL);
  CHECK(bits_of(loss[0]) == 0x7f800000u, "a share past a short length");
  how.label_smoothing = 0.1f;
  CHECK(mpnum_soft_cross_entropy_rows(loss, MPNUM_TYPE_F32, NULL, 0, MPNUM_TYPE_F32, x, 3,
                                      1, 3, shares_of_three, 3, &how,
                                      NULL) == MPNUM_ERROR_ARGUMENT,
        "smoothing of shares");
}
/* Logits that e^x turns into Inf or 0. */
static void huge_logits_are_safe(void) {
  how = mpnum_cross_entropy_default();
  x[0] = 1000, x[1] = -1000, x[2] = 3e38f, x[3] = -3e38f;
  targets[0] = 2;
  CHECK(run(1, 4) == MPNUM_OK && bits_of(loss[0]) == 0, "a sure hit costs nothing");
  CHECK(bits_of(gradient[2]) == 0 && bits_of(gradient[0]) == 0, "and has no gradient");
  targets[0] = 0;
  CHECK(run(1, 4) == MPNUM_OK && loss[0] > 2.9e38f && loss[0] < INF, "a sure miss");
  CHECK(bits_of(gradient[0]) == 0xbf800000u && bits_of(gradient[2]) == 0x3f800000u,
        "gradient");
}
static void ignored_rows_are_zero(void) {
  how = mpnum_cross_entropy_default();
  fill(30, -3, 3);
  x[4] = A_NAN;
  targets[0] = -100, targets[1] = 3, targets[2] = -100;
  CHECK(run(3, 10) == MPNUM_OK, "run");
  CHECK(row_status[0] == MPNUM_ROW_IGNORED && row_status[1] == MPNUM_ROW_OK, "status");
  CHECK(bits_of(loss[0]) == 0 && loss[1] > 0 && bits_of(loss[2]) == 0, "loss");
  for (int i = 0; i < 10; ++i)
    CHECK(bits_of(gradient[i]) == 0 && bits_of(gradient[20 + i]) == 0, "gradient");
  how.ignore_index = 3;
  targets[0] = targets[2] = 1;
  CHECK(run(3, 10) == MPNUM_OK && row_status[1] == MPNUM_ROW_IGNORED, "another index");
  CHECK(row_status[0] == MPNUM_ROW_NAN && bits_of(loss[0]) == 0x7fffffffu, "NaN");
}
static void targets_that_are_no_class_are_refused(void) {
  static const int64_t bad[] = {10, -1, -101, INT64_MAX, INT64_MIN};
  how = mpnum_cross_entropy_default();
  fill(30, -3, 3);
  for (int i = 0; i < 5; ++i) {
    targets[0] = 0, targets[1] = bad[i], targets[2] = 9;
    loss[0] = gradient[0] = 42;
    row_status[0] = MPNUM_ROW_INF;
    CHECK(run(3, 10) == MPNUM_ERROR_RANGE, "target %d", i);
    CHECK(loss[0] > 41 && gradient[0] > 41 && row_status[0] == MPNUM_ROW_INF,
          "something was written");
  }
}
static void other_options_are_refused(void) {
  targets[0] = 0;
  for (int i = 0; i < 7; ++i) {
    how = mpnum_cross_entropy_default();
    if (i == 6) how.factor = how.softmax.scale = 1e30f;
    if (i == 0) how.label_smoothing = 1.5f;
    if (i == 1) how.label_smoothing = -0.1f;
    if (i == 2) how.label_smoothing = A_NAN;
    if (i == 3) how.factor = INF;
    if (i == 4) how.factor = A_NAN;
    if (i == 5) how.softmax.scale = -2;
    loss[0] = 42;
    CHECK(run(1, 10) == MPNUM_ERROR_ARGUMENT && loss[0] > 41, "option %d", i);
  }
  how = mpnum_cross_entropy_default();
  CHECK(mpnum_cross_entropy_rows(loss, MPNUM_TYPE_F32, NULL, 0, MPNUM_TYPE_F32, x, 10, 1,
                                 10, NULL, &how, NULL) == MPNUM_ERROR_ARGUMENT,
        "no targets");
}
static void masks_leave_classes_out(void) {
  uint8_t mask[20];
  how = mpnum_cross_entropy_default();
  how.label_smoothing = 0.2f;
  fill(20, -4, 4);
  for (int i = 0; i < 20; ++i)
    mask[i] = i % 4 != 3;
  float all[20];
  memcpy(all, x, sizeof all);
  size_t kept = 0;
  for (int i = 0; i < 20; ++i)
    if (mask[i]) x[kept++] = all[i];
  targets[0] = 6; /* which was element 8 */
  CHECK(run(1, kept) == MPNUM_OK, "without what is masked");
  const float want = loss[0];
  float want_gradient[20];
  memcpy(want_gradient, gradient, sizeof want_gradient);
  memcpy(x, all, sizeof all);
  x[3] = A_NAN, x[7] = INF; /* masked */
  how.softmax.mask = mask;
  targets[0] = 8;
  CHECK(run(1, 20) == MPNUM_OK && row_status[0] == MPNUM_ROW_OK, "with a mask");
  CHECK(fabs((double)loss[0] - (double)want) < 1e-6, "loss %a, want %a", (double)loss[0],
        (double)want);
  kept = 0;
  for (int i = 0; i < 20; ++i) {
    const double one = mask[i] ? (double)want_gradient[kept++] : 0;
    CHECK(fabs((double)gradient[i] - one) < 1e-6, "gradient %d", i);
  }
  targets[0] = 3;
  run(1, 20);
  CHECK(bits_of(loss[0]) == 0x7f800000u, "a masked target");
  CHECK(bits_of(gradient[3]) == 0 && bits_of(gradient[0]) != 0, "its gradient");
  how.label_smoothing = 0;
  run(1, 20);
  CHECK(bits_of(loss[0]) == 0x7f800000u && bits_of(gradient[3]) == 0, "unsmoothed");
  how.label_smoothing = 1; /* the target does not count */
  run(1, 20);
  CHECK(loss[0] > 0 && loss[0] < 20, "all of it spread: %a", (double)loss[0]);
  memset(mask, 0, sizeof mask);
  run(1, 20);
  CHECK(row_status[0] == MPNUM_ROW_EMPTY && bits_of(loss[0]) == 0x7f800000u,
        "all masked: loss %a", (double)loss[0]);
  for (int i = 0; i < 20; ++i)
    CHECK(bits_of(gradient[i]) == 0, "all masked: gradient");
  for (int i = 0; i < 20; ++i)
    x[i] = MINUS;
  how.softmax.mask = NULL;
  run(1, 20);
  CHECK(row_status[0] == MPNUM_ROW_NEGATIVE_INF && bits_of(loss[0]) == 0x7fffffffu,
        "all -Inf");
}
static void special_logits(void) {
  how = mpnum_cross_entropy_default();
  fill(10, -1, 1);
  targets[0] = 2;
  x[5] = MINUS;
  CHECK(run(1, 10) == MPNUM_OK && loss[0] > 0 && loss[0] < 10, "-Inf beside the target");
  CHECK(bits_of(gradient[5]) == 0, "gradient of -Inf");
  targets[0] = 5;
  CHECK(run(1, 10) == MPNUM_OK && bits_of(loss[0]) == 0x7f800000u, "-Inf as target");
  x[6] = INF;
  CHECK(run(1, 10) == MPNUM_OK && row_status[0] == MPNUM_ROW_INF, "+Inf");
  CHECK(bits_of(loss[0]) == 0x7fffffffu && bits_of(gradient[0]) == 0x7fffffffu, "+Inf");
}
/* Half types, gradient in the place of the logits. */
static void gradients_may_replace_logits(void) {
  enum { COLUMNS = 3000 };
  static mpnum_bf16 logits[2 * COLUMNS];
  static mpnum_bf16 want[2 * COLUMNS];
  how = mpnum_cross_entropy_default();
  how.factor = 0.5f;
  fill((size_t)2 * COLUMNS, -6, 6);
  mpnum_f32_to_bf16_array(logits, x, (size_t)2 * COLUMNS);
  targets[0] = 2999, targets[1] = 0;
  CHECK(mpnum_cross_entropy_rows(loss, MPNUM_TYPE_BF16, want, COLUMNS, MPNUM_TYPE_BF16,
                                 logits, COLUMNS, 2, COLUMNS, targets, &how,
                                 NULL) == MPNUM_OK,
        "apart");
  const float first = loss[0];
  mpnum_bf16_to_f32_array(x, logits, (size_t)2 * COLUMNS);
  CHECK(run(2, COLUMNS) == MPNUM_OK && bits_of(first) == bits_of(loss[0]), "as floats");
  CHECK(mpnum_cross_entropy_rows(loss, MPNUM_TYPE_BF16, logits, COLUMNS, MPNUM_TYPE_BF16,
                                 logits, COLUMNS, 2, COLUMNS, targets, &how,
                                 NULL) == MPNUM_OK,
        "in place");
  CHECK(memcmp(want, logits, sizeof want) == 0, "in place");
  CHECK(bits_of(first) == bits_of(loss[0]), "in place");
  for (int i = 0; i < 2 * COLUMNS; ++i)
    CHECK(want[i].bits == mpnum_f32_to_bf16(gradient[i]).bits, "rounded once, %d", i);
}

static void contrastive_losses_go_both_ways(void) {
  enum { N = 300 };
  static float transposed[N * N], rows[N], columns[N], other[N];
  static float similarity[N * N];
  for (int i = 0; i < N * N; ++i)
    similarity[i] = (float)uniform(-1, 1) + (i % (N + 1) == 0 ? 0.5f : 0);
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < N; ++k)
      transposed[k * N + i] = similarity[i * N + k];
  CHECK(mpnum_contrastive_loss(rows, columns, MPNUM_TYPE_F32, similarity, N, N, 20) ==
            MPNUM_OK,
        "both");
  CHECK(mpnum_contrastive_loss(other, NULL, MPNUM_TYPE_F32, transposed, N, N, 20) ==
            MPNUM_OK,
        "rows of the transposed");
  for (int i = 0; i < N; ++i) {
    memset(shares, 0, sizeof shares);
    shares[i] = 1;
    const expected want = by_definition(similarity + i * N, N, shares, 20, 1);
    CHECK(fabs((double)rows[i] - want.loss) < 1e-5 * (1 + want.loss), "row %d", i);
    CHECK(fabs((double)columns[i] - (double)other[i]) < 1e-5 * (1 + (double)other[i]),
          "column %d: %a, want %a", i, (double)columns[i], (double)other[i]);
  }
  similarity[7 * N + 9] = A_NAN;
  mpnum_contrastive_loss(rows, columns, MPNUM_TYPE_F32, similarity, N, N, 20);
  CHECK(bits_of(rows[7]) == 0x7fffffffu && bits_of(columns[9]) == 0x7fffffffu, "NaN");
  CHECK(rows[6] < 100 && columns[8] < 100, "and no further");
  similarity[7 * N + 9] = INF;
  mpnum_contrastive_loss(rows, columns, MPNUM_TYPE_F32, similarity, N, N, 20);
  CHECK(bits_of(rows[7]) == 0x7fffffffu && bits_of(columns[9]) == 0x7fffffffu, "Inf");
  CHECK(mpnum_contrastive_loss(rows, columns, MPNUM_TYPE_F64, similarity, N, N, 20) ==
            MPNUM_ERROR_ARGUMENT,
        "of f64");
}
static void embeddings_may_have_any_length(void) {
  enum { N = 20, SIZE = 70 };
  static const double lengths[] = {1, 1e30, 1e-41};
  static float a[N * SIZE], b[N * SIZE], got[N];
  for (int kind = 0; kind < 3; ++kind) {
    static double unit_a[N * SIZE], unit_b[N * SIZE];
    for (int i = 0; i < N * SIZE; ++i) {
      unit_a[i] = (double)(float)uniform(-1, 1);
      unit_b[i] = unit_a[i] + uniform(-0.5, 0.5);
      a[i] = (float)(unit_a[i] * lengths[kind]);
      b[i] = (float)(unit_b[i] * lengths[kind]);
      unit_a[i] = (double)a[i];
      unit_b[i] = (double)b[i];
    }
    CHECK(mpnum_contrastive_loss_of_embeddings(got, MPNUM_TYPE_F32, a, SIZE, b, SIZE, N,
                                               SIZE, 14.3f) == MPNUM_OK,
          "embeddings");
    for (int i = 0; i < N; ++i) {
      float row[N];
      for (int k = 0; k < N; ++k) {
        double ab = 0, aa = 0, bb = 0;
        for (int j = 0; j < SIZE; ++j) {
          ab += unit_a[i * SIZE + j] * unit_b[k * SIZE + j];
          aa += unit_a[i * SIZE + j] * unit_a[i * SIZE + j];
          bb += unit_b[k * SIZE + j] * unit_b[k * SIZE + j];
        }
        row[k] = (float)(ab / sqrt(aa) / sqrt(bb));
      }
      memset(shares, 0, sizeof shares);
      shares[i] = 1;
      const expected want = by_definition(row, N, shares, (double)14.3f, 1);
      CHECK(fabs((double)got[i] - want.loss) < 2e-5 * (1 + want.loss),
            "lengths of %g, row %d: %a, want %a", lengths[kind], i, (double)got[i],
            want.loss);
    }
  }
  memset(a, 0, SIZE * sizeof *a);
  mpnum_contrastive_loss_of_embeddings(got, MPNUM_TYPE_F32, a, SIZE, b, SIZE, N, SIZE, 1);
  CHECK(fabs((double)got[0] - log(N)) < 1e-6, "a zero is like all others");
}

int main(void) {
  RUN_FOR_EACH_ISA(losses_and_gradients_are_those_defined);
  RUN_FOR_EACH_ISA(soft_targets_are_shares);
  RUN_FOR_EACH_ISA(huge_logits_are_safe);
  TAP_RUN(ignored_rows_are_zero);
  TAP_RUN(targets_that_are_no_class_are_refused);
  TAP_RUN(other_options_are_refused);
  RUN_FOR_EACH_ISA(masks_leave_classes_out);
  RUN_FOR_EACH_ISA(special_logits);
  RUN_FOR_EACH_ISA(gradients_may_replace_logits);
  RUN_FOR_EACH_ISA(contrastive_losses_go_both_ways);
  TAP_RUN(embeddings_may_have_any_length);
  return tap_done();
}

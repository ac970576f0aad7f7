/* SPDX-License-Identifier: MIT */
/* cross_entropy.h: losses and gradients against their definition in long double, the
 * rules for targets, masks and special logits. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/rows/cross_entropy.h>

#include <math.h>

enum { ROWS = 7, MOST = 5000 };
static float x[ROWS * MOST], gradient[ROWS * MOST], soft[ROWS * MOST], loss[MOST];
static int64_t targets[ROWS];

static void fill(size_t n, double from, double to) {
  for (size_t i = 0; i < n; ++i)
    x[i] = (float)uniform(from, to);
}

static mpnum_cross_entropy_options how;
static mpnum_row_status row_status[ROWS];
static mpnum_status run(size_t rows, size_t columns) {
  return mpnum_cross_entropy_rows(
      loss, mpnum_matrix_of(MPNUM_TYPE_F32, gradient, rows, columns),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, x, rows, columns), targets, &how, row_status);
}

/* By definition, in long double: of one row, which counts where not masked. */
typedef struct expected {
  long double loss, *gradient;
} expected;
static long double wanted_gradient[MOST];
static expected by_definition(const float *row, size_t columns, const double *shares,
                              double scale, double factor) {
  expected want = {0, wanted_gradient};
  long double m = -1e300L, s = 0, all = 0;
  for (size_t i = 0; i < columns; ++i)
    m = (long double)row[i] > m ? (long double)row[i] : m;
  for (size_t i = 0; i < columns; ++i) {
    want.gradient[i] = expl(((long double)row[i] - m) * (long double)scale);
    s += want.gradient[i];
  }
  for (size_t i = 0; i < columns; ++i)
    all += (long double)shares[i];
  for (size_t i = 0; i < columns; ++i) {
    const long double t = ((long double)row[i] - m) * (long double)scale;
    const long double share = (long double)shares[i];
    if (share != 0) want.loss += share * (logl(s) - t);
    want.gradient[i] =
        (want.gradient[i] / s * all - share) * (long double)factor * (long double)scale;
  }
  return want;
}
static void check_row(size_t row, size_t columns, expected want, double factor,
                      const char *what) {
  CHECK(fabsl((long double)loss[row] - want.loss) <= 1e-5L * (1 + fabsl(want.loss)),
        "%s: loss of row %zu is %a, want %La", what, row, (double)loss[row], want.loss);
  CHECK(loss[row] >= 0, "%s: a loss below 0", what);
  for (size_t i = 0; i < columns; ++i) {
    const long double got = (long double)gradient[row * columns + i];
    CHECK(fabsl(got - want.gradient[i]) <= 1e-5L * (long double)factor,
          "%s: gradient %zu of row %zu is %La, want %La", what, i, row, got,
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
  CHECK(mpnum_soft_cross_entropy_rows(
            loss, mpnum_matrix_of(MPNUM_TYPE_F32, gradient, ROWS, COLUMNS),
            mpnum_const_matrix_of(MPNUM_TYPE_F32, x, ROWS, COLUMNS),
            mpnum_const_matrix_of(MPNUM_TYPE_F32, soft, ROWS, COLUMNS), &how,
            NULL) == MPNUM_OK,
        "run");
  for (size_t row = 0; row < ROWS; ++row) {
    for (size_t i = 0; i < COLUMNS; ++i)
      shares[i] = (double)soft[row * COLUMNS + i];
    check_row(row, COLUMNS, by_definition(x + row * COLUMNS, COLUMNS, shares, 1.5, 1), 1,
              "soft");
  }
  soft[3] = 0.5f;
  must(mpnum_soft_cross_entropy_rows(
      loss, mpnum_matrix_empty(), mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, COLUMNS),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, soft, 1, COLUMNS), &how, NULL));
  CHECK(bits_of(loss[0]) == 0x7f800000u, "a share where the logit is -Inf");
  static const size_t lengths[] = {2000};
  how.softmax.lengths = lengths;
  x[3] = 0;
  must(mpnum_soft_cross_entropy_rows(
      loss, mpnum_matrix_empty(), mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, COLUMNS),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, soft, 1, COLUMNS), &how, NULL));
  CHECK(bits_of(loss[0]) == 0x7f800000u, "a share past the length");
  static const size_t two[] = {2};
  static const float shares_of_three[] = {0.5f, 0.25f, 0.25f};
  how.softmax.lengths = two;
  must(mpnum_soft_cross_entropy_rows(
      loss, mpnum_matrix_empty(), mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 3),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, shares_of_three, 1, 3), &how, NULL));
  CHECK(bits_of(loss[0]) == 0x7f800000u, "a share past a short length");
  how.label_smoothing = 0.1f;
  CHECK(mpnum_soft_cross_entropy_rows(
            loss, mpnum_matrix_empty(), mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 3),
            mpnum_const_matrix_of(MPNUM_TYPE_F32, shares_of_three, 1, 3), &how,
            NULL) == MPNUM_ERROR_ARGUMENT,
        "smoothing of shares");
}
/* Shares of one row each: of which sign, and at which place; nothing is written. */
static void shares_below_0_are_refused(void) {
  static const uint32_t below[] = {0x80000001u, 0xbdcccccdu, 0xff7fffffu, 0xff800000u};
  static const uint32_t others[] = {0x80000000u, 0,           0x7fc00000u,
                                    0xffc00000u, 0xff800001u, 0x7f800000u};
  enum { COLUMNS = 5 };
  const mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, gradient, 2, COLUMNS);
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, COLUMNS);
  const mpnum_const_matrix wanted =
      src_rows(MPNUM_TYPE_F32, soft, 2, COLUMNS, COLUMNS + 1);
  how = mpnum_cross_entropy_default();
  fill((size_t)2 * COLUMNS, -3, 3);
  for (int i = 0; i < 4 * 2 * COLUMNS; ++i) {
    const int row = i / 4 / COLUMNS, column = i / 4 % COLUMNS;
    const size_t length = (size_t)column, lengths[] = {length, length};
    how.softmax.lengths = i % 2 ? lengths : NULL; /* masked or not */
    for (int k = 0; k < 2 * COLUMNS + 1; ++k)
      soft[k] = 0.25f;
    soft[COLUMNS] = -1; /* between the rows */
    soft[row * (COLUMNS + 1) + column] = special(below[i % 4]);
    loss[0] = loss[1] = gradient[0] = gradient[COLUMNS] = 42;
    row_status[0] = row_status[1] = MPNUM_ROW_IGNORED;
    CHECK(mpnum_soft_cross_entropy_rows(loss, dst, src, wanted, &how, row_status) ==
              MPNUM_ERROR_ARGUMENT,
          "share %x in row %d", (unsigned)below[i % 4], row);
    CHECK(loss[0] > 41 && loss[1] > 41 && gradient[0] > 41 && gradient[COLUMNS] > 41 &&
              row_status[0] == MPNUM_ROW_IGNORED,
          "something was written");
  }
  how.softmax.lengths = NULL;
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 2 * COLUMNS + 1; ++k)
      soft[k] = special(others[i]);
    CHECK(mpnum_soft_cross_entropy_rows(loss, dst, src, wanted, &how, row_status) ==
              MPNUM_OK,
          "share %x", (unsigned)others[i]);
  }
}
/* A share at an element that is masked by a byte, by a length, as -Inf, or not at all. */
static void masks_of_all_kinds_agree_for_every_share(void) {
  static const uint32_t at_mask[] = {0,           0x80000000u, 1,           0x3e800000u,
                                     0x7f7fffffu, 0x7f800000u, 0x7fc00000u, 0xffc12345u};
  static const uint8_t bytes[] = {1, 1, 1, 0, 0, 0};
  static const size_t length[] = {3}, none[] = {0};
  enum { COLUMNS = 6, WAYS = 3 };
  const mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, gradient, 1, COLUMNS);
  for (int i = 0; i < 8 * 8 * 2 * 2; ++i) {
    const uint32_t one = at_mask[i % 8], other = at_mask[i / 8 % 8];
    const int is_empty = i / 64 % 2, place = i < 128 ? 3 : 1; /* masked or not */
    const uint32_t magnitude = (one > other ? one : other) & 0x7fffffffu;
    const int is_sane = (one & 0x7fffffffu) < 0x7f800000u &&
                        (other & 0x7fffffffu) < 0x7f800000u && magnitude < 0x7f800000u;
    const int is_asked = (one << 1 && place >= 3) || other << 1;
    uint32_t losses[WAYS], gradients[WAYS][COLUMNS];
    for (int way = 0; way < WAYS; ++way) {
      static const uint8_t all[COLUMNS] = {0};
      how = mpnum_cross_entropy_default();
      for (int k = 0; k < COLUMNS; ++k) {
        x[k] = (float)k / 4;
        soft[k] = k < 3 ? 0.25f : 0;
        if (way == 2 && (k >= 3 || is_empty)) x[k] = MINUS;
      }
      soft[place] = special(one);
      soft[5] = special(other); /* masked */
      if (way == 0) how.softmax.mask = is_empty ? all : bytes;
      if (way == 1) how.softmax.lengths = is_empty ? none : length;
      if (way == 2) how.softmax.flags = MPNUM_SOFTMAX_MASKED;
      CHECK(mpnum_soft_cross_entropy_rows(
                loss, dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, COLUMNS),
                mpnum_const_matrix_of(MPNUM_TYPE_F32, soft, 1, COLUMNS), &how,
                row_status) == MPNUM_OK,
            "run");
      CHECK(row_status[0] == (is_empty ? MPNUM_ROW_EMPTY : MPNUM_ROW_OK), "status");
      losses[way] = bits_of(loss[0]);
      memcpy(gradients[way], gradient, sizeof gradients[way]);
    }
    for (int way = 1; way < WAYS; ++way)
      CHECK(losses[way] == losses[0] &&
                memcmp(gradients[way], gradients[0], sizeof gradients[0]) == 0,
            "shares %x and %x: %x with a byte, else %x", (unsigned)one, (unsigned)other,
            (unsigned)losses[0], (unsigned)losses[way]);
    if (!is_sane) {
      CHECK(losses[0] == 0x7fffffffu, "shares %x and %x: %x, not NaN", (unsigned)one,
            (unsigned)other, (unsigned)losses[0]);
      for (int k = 0; k < COLUMNS; ++k)
        CHECK(gradients[0][k] == (k >= 3 || is_empty ? 0 : 0x7fffffffu),
              "shares %x and %x: gradient %x", (unsigned)one, (unsigned)other,
              (unsigned)gradients[0][k]);
    } else {
      CHECK((losses[0] == 0x7f800000u) ==
                (is_empty || is_asked || (place == 1 && one == 0x7f7fffffu)),
            "shares %x and %x: %x", (unsigned)one, (unsigned)other, (unsigned)losses[0]);
      for (int k = 3; k < COLUMNS; ++k)
        CHECK(gradients[0][k] == 0, "gradient of what is masked: %x",
              (unsigned)gradients[0][k]);
    }
  }
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
/* With smoothing 1 the target counts 0, so that it may be masked; below 1 it may not. */
static void smoothing_1_asks_nothing_of_the_target(void) {
  static const uint8_t mask[] = {1, 0, 1, 1};
  static const float kept[] = {1, -2, 0.5f};
  const long double all = logl(expl(1) + expl(-2) + expl(0.5L));
  how = mpnum_cross_entropy_default();
  how.softmax.mask = mask;
  for (int target = 0; target < 4; ++target) {
    const double spread = (double)(all - (1 - 2 + 0.5L) / 3);
    x[0] = kept[0], x[1] = A_NAN, x[2] = kept[1], x[3] = kept[2];
    targets[0] = target;
    how.label_smoothing = 1;
    CHECK(run(1, 4) == MPNUM_OK && fabs((double)loss[0] - spread) < 1e-6,
          "target %d: %a, want %a", target, (double)loss[0], spread);
    for (int i = 0; i < 4; ++i) {
      const long double want = mask[i] ? expl((long double)x[i] - all) - 1.0L / 3 : 0;
      CHECK(fabsl((long double)gradient[i] - want) < 1e-6L,
            "target %d: gradient %d is %a", target, i, (double)gradient[i]);
    }
    how.label_smoothing = 0.9999999f;
    CHECK(run(1, 4) == MPNUM_OK && (bits_of(loss[0]) == 0x7f800000u) == (target == 1),
          "target %d, nearly 1: %a", target, (double)loss[0]);
  }
}
/* A class that is not masked and cannot be has no end of a loss, wherever it stands. */
static void smoothing_asks_for_every_class(void) {
  for (size_t columns = 2; columns < 140; columns += 23)
    for (size_t at = 1; at < columns; at += columns - 2 ? columns - 2 : 1) {
      how = mpnum_cross_entropy_default();
      how.label_smoothing = 0.1f;
      fill(columns, -4, 4);
      x[at] = mpnum_from_bits_f32(0xff800000u);
      targets[0] = 0;
      CHECK(run(1, columns) == MPNUM_OK && bits_of(loss[0]) == 0x7f800000u,
            "element %zu of %zu: %a", at, columns, (double)loss[0]);
      how.softmax.flags = MPNUM_SOFTMAX_MASKED;
      CHECK(run(1, columns) == MPNUM_OK && bits_of(loss[0]) < 0x7f800000u,
            "masked element %zu of %zu: %a", at, columns, (double)loss[0]);
    }
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

/* Rows without elements: no memory is read for them, whatever the pointers. */
static void rows_without_columns_read_nothing(void) {
  const mpnum_const_matrix none = mpnum_const_matrix_of(MPNUM_TYPE_F32, NULL, 3, 0);
  const mpnum_matrix nowhere = mpnum_matrix_of(MPNUM_TYPE_F32, NULL, 3, 0);
  for (int k = 0; k < 2; ++k) {
    float *const losses = k ? loss : NULL;
    CHECK(mpnum_cross_entropy_rows(losses, nowhere, none, NULL, NULL, NULL) == MPNUM_OK,
          "classes of int64, %d", k);
    CHECK(mpnum_cross_entropy_rows_i32(losses, nowhere, none, NULL, NULL, NULL) ==
              MPNUM_OK,
          "classes of int32, %d", k);
    CHECK(mpnum_soft_cross_entropy_rows(losses, nowhere, none, none, NULL, NULL) ==
              MPNUM_OK,
          "shares, %d", k);
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(losses_and_gradients_are_those_defined);
  RUN_FOR_EACH_ISA(soft_targets_are_shares);
  TAP_RUN(shares_below_0_are_refused);
  RUN_FOR_EACH_ISA(masks_of_all_kinds_agree_for_every_share);
  RUN_FOR_EACH_ISA(huge_logits_are_safe);
  TAP_RUN(ignored_rows_are_zero);
  TAP_RUN(smoothing_1_asks_nothing_of_the_target);
  RUN_FOR_EACH_ISA(smoothing_asks_for_every_class);
  RUN_FOR_EACH_ISA(masks_leave_classes_out);
  RUN_FOR_EACH_ISA(special_logits);
  TAP_RUN(rows_without_columns_read_nothing);
  return tap_done();
}

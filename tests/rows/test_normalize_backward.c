/* SPDX-License-Identifier: MIT */
/* normalize_backward.h against its formulas in long double and against slopes taken
 * there: rows of any size and type, special ones, sums over rows. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/rows/normalize.h>
#include <mpnum/rows/normalize_backward.h>

#include <math.h>

enum { ROWS = 3, MOST = 5000 };
static const mpnum_norm_kind kinds[] = {MPNUM_NORM_LAYER, MPNUM_NORM_RMS, MPNUM_NORM_L2};
static float x[ROWS * MOST], dy[ROWS * MOST], dx[ROWS * MOST], other[ROWS * MOST];
static float weight[MOST], dw[MOST], db[MOST], saved_mean[ROWS], saved_inverse[ROWS];

static void fill(float *dst, size_t n, double from, double to) {
  for (size_t i = 0; i < n; ++i)
    dst[i] = (float)uniform(from, to);
}
static mpnum_norm_gradients all_gradients(size_t n) {
  mpnum_norm_gradients to = mpnum_norm_gradients_empty();
  to.input = mpnum_matrix_of(MPNUM_TYPE_F32, dx, ROWS, n);
  to.weight = dw;
  to.bias = db;
  return to;
}
static mpnum_const_matrix floats_of(const float *data, size_t n) {
  return mpnum_const_matrix_of(MPNUM_TYPE_F32, data, ROWS, n);
}

/* A row in long doubles: what it is divided by, and y. */
typedef long double real;
typedef struct exact_row {
  real mean, inverse, y[MOST];
  int is_least;
} exact_row;
static void make_exact(exact_row *row, mpnum_norm_kind kind, const real *from, size_t n,
                       float epsilon) {
  real sum = 0, square = 0;
  for (size_t i = 0; i < n; ++i)
    sum += from[i];
  row->mean = kind == MPNUM_NORM_LAYER ? sum / (real)n : 0;
  for (size_t i = 0; i < n; ++i)
    square += (from[i] - row->mean) * (from[i] - row->mean);
  row->is_least = kind == MPNUM_NORM_L2 && square < (real)epsilon * (real)epsilon;
  if (kind != MPNUM_NORM_L2) square = square / (real)n + (real)epsilon;
  if (row->is_least) square = (real)epsilon * (real)epsilon;
  row->inverse = square > 0 ? 1 / sqrtl(square) : 0;
  for (size_t i = 0; i < n; ++i)
    row->y[i] = (from[i] - row->mean) * row->inverse;
}
static real from_x[MOST];
static exact_row exact;
static void make_exact_of(mpnum_norm_kind kind, size_t number, size_t n, float epsilon) {
  for (size_t i = 0; i < n; ++i)
    from_x[i] = (real)x[number * n + i];
  make_exact(&exact, kind, from_x, n, epsilon);
}

/* Gradients of one call on f32; more: what y is off by beyond what the library does. */
static void check_gradients(mpnum_norm_kind kind, size_t n, const float *weights,
                            float epsilon, real more, const char *what) {
  static real of_weight[MOST], of_weight_size[MOST], of_bias[MOST], of_bias_size[MOST];
  const real u = 0x1p-24L;
  memset(of_weight, 0, sizeof of_weight);
  memset(of_weight_size, 0, sizeof of_weight_size);
  memset(of_bias, 0, sizeof of_bias);
  memset(of_bias_size, 0, sizeof of_bias_size);
  for (size_t k = 0; k < ROWS; ++k) {
    real mean = 0, along = 0, mean_size = 0, along_size = 0;
    make_exact_of(kind, k, n, epsilon);
    for (size_t i = 0; i < n; ++i) {
      const real given = (real)dy[k * n + i];
      const real g = given * (weights ? (real)weights[i] : 1);
      mean += g;
      mean_size += fabsl(g);
      along += g * exact.y[i];
      along_size += fabsl(g * exact.y[i]);
      of_weight[i] += given * exact.y[i];
      of_weight_size[i] +=
          fabsl(given) * (fabsl(exact.y[i]) * (4 * u + more) + more + 0x1p-149L);
      of_bias[i] += given;
      of_bias_size[i] += fabsl(given);
    }
    if (kind != MPNUM_NORM_LAYER) mean = mean_size = 0;
    if (exact.is_least) along = along_size = 0;
    if (kind != MPNUM_NORM_L2) {
      mean /= (real)n;
      mean_size /= (real)n;
      along /= (real)n;
      along_size /= (real)n;
    }
    for (size_t i = 0; i < n; ++i) {
      const real g = (real)dy[k * n + i] * (weights ? (real)weights[i] : 1);
      const real want = exact.inverse * (g - mean - exact.y[i] * along);
      const real bound = (8 * u + 4 * more) * exact.inverse *
                             (fabsl(g) + mean_size + fabsl(exact.y[i]) * along_size +
                              along_size * more) +
                         0x1p-148L;
      CHECK(fabsl(want) > 0x1.fffffep127L || fabsl((real)dx[k * n + i] - want) <= bound,
            "%s: row %zu, element %zu is %a, want %La, bound %La", what, k, i,
            (double)dx[k * n + i], want, bound);
    }
  }
  for (size_t i = 0; i < n; ++i) {
    CHECK(fabsl((real)dw[i] - of_weight[i]) <=
              of_weight_size[i] + fabsl(of_weight[i]) * u + 0x1p-148L,
          "%s: weight %zu is %a, want %La", what, i, (double)dw[i], of_weight[i]);
    CHECK(fabsl((real)db[i] - of_bias[i]) <=
              of_bias_size[i] * 0x1p-50L + fabsl(of_bias[i]) * u + 0x1p-149L,
          "%s: bias %zu is %a, want %La", what, i, (double)db[i], of_bias[i]);
  }
}
static const size_t lengths[] = {1, 2, 7, 100, 2048, MOST};
/* Where y is subnormal weight's gradient has an error of 2^-149 of the sum of |dy|, too,
 * which 4 u of that of |dy y| do not hold. */
static void weights_of_subnormal_rows_are_as_precise_as_is_said(void) {
  const size_t n = 100;
  int beyond = 0;
  for (int k = 0; k < 3 * 4; ++k) {
    mpnum_normalize_options options = mpnum_normalize_default();
    options.epsilon = 3;
    fill(x, ROWS * n, -4e-45 * (double)(1 << 4 * (k / 3)), 1e-44 * (double)(1 << 2 * k));
    fill(dy, ROWS * n, -1e30, 1e30);
    must(mpnum_normalize_backward_rows(kinds[k % 3], all_gradients(n), floats_of(dy, n),
                                       floats_of(x, n), &options));
    check_gradients(kinds[k % 3], n, NULL, options.epsilon, 0, "subnormal");
    for (size_t i = 0; i < n; ++i) {
      real sum = 0, size = 0;
      for (size_t r = 0; r < ROWS; ++r) {
        make_exact_of(kinds[k % 3], r, n, options.epsilon);
        sum += (real)dy[r * n + i] * exact.y[i];
        size += fabsl((real)dy[r * n + i] * exact.y[i]);
      }
      beyond += fabsl((real)dw[i] - sum) > 0x1p-22L * size + fabsl(sum) * 0x1p-24L;
    }
  }
  CHECK(beyond > 50, "%d are beyond the bound of what is not subnormal", beyond);
}
static void gradients_are_precise(void) {
  static const double sizes[] = {1, 1e37, 1e20, 1e-15, 1e-38, 1e-43};
  for (int k = 0; k < 3 * 6 * 6 * 2; ++k) {
    const double size = sizes[k / 3 % 6];
    const size_t n = lengths[k / 18 % 6];
    const int is_far = k / 108; /* from 0 */
    mpnum_normalize_options options = mpnum_normalize_default();
    char what[80];
    options.epsilon = k % 2 ? 0 : k % 4 ? 1e-5f : 3;
    options.weight = k % 5 ? weight : NULL;
    snprintf(what, sizeof what, "kind %d of %zu elements to %g, epsilon %g", k % 3, n,
             size, (double)options.epsilon);
    fill(weight, n, -2, 2);
    fill(dy, ROWS * n, -1, 1);
    fill(x, ROWS * n, is_far ? 0.75 * size : -size, size);
    CHECK(mpnum_normalize_backward_rows(kinds[k % 3], all_gradients(n), floats_of(dy, n),
                                        floats_of(x, n), &options) == MPNUM_OK,
          "%s", what);
    check_gradients(kinds[k % 3], n, options.weight, options.epsilon, 0, what);
  }
}
static void what_forward_saved_serves(void) {
  for (int k = 0; k < 2 * 6; ++k) {
    const size_t n = lengths[k / 2];
    mpnum_normalize_options options = mpnum_normalize_default();
    options.weight = weight;
    options.mean = saved_mean;
    options.inverse = saved_inverse;
    fill(weight, n, -2, 2);
    fill(dy, ROWS * n, -1, 1);
    fill(x, ROWS * n, -1, 3);
    must(mpnum_normalize_rows(kinds[k % 2],
                              mpnum_matrix_of(MPNUM_TYPE_F32, other, ROWS, n),
                              floats_of(x, n), &options));
    must(mpnum_normalize_backward_rows(kinds[k % 2], all_gradients(n), floats_of(dy, n),
                                       floats_of(x, n), &options));
    check_gradients(kinds[k % 2], n, weight, options.epsilon,
                    n == 1 ? 0x1p-10L : 0x1p-20L, "saved");
    if (n == 1) continue; /* where all is cancelled */
    memcpy(other, dx, sizeof other);
    for (int i = 0; i < ROWS; ++i)
      saved_inverse[i] *= 1.5f;
    must(mpnum_normalize_backward_rows(kinds[k % 2], all_gradients(n), floats_of(dy, n),
                                       floats_of(x, n), &options));
    CHECK(memcmp(other, dx, ROWS * n * sizeof *dx) != 0, "what was saved is not read");
  }
}
static void an_inverse_without_its_mean_is_not_read(void) {
  mpnum_normalize_options options = mpnum_normalize_default();
  fill(dy, ROWS * 100, -1, 1);
  fill(x, ROWS * 100, -1, 3);
  must(mpnum_normalize_backward_rows(MPNUM_NORM_LAYER, all_gradients(100),
                                     floats_of(dy, 100), floats_of(x, 100), &options));
  memcpy(other, dx, sizeof other);
  options.inverse = saved_inverse;
  saved_inverse[0] = saved_inverse[1] = saved_inverse[2] = 7;
  must(mpnum_normalize_backward_rows(MPNUM_NORM_LAYER, all_gradients(100),
                                     floats_of(dy, 100), floats_of(x, 100), &options));
  CHECK(memcmp(other, dx, ROWS * 100 * sizeof *dx) == 0, "another gradient");
}
/* A float of the inverse holds less than what a row needs, and of l2 not whether the
 * length is below epsilon. */
static void what_was_saved_of_such_rows_is_computed_anew(void) {
  static const double sizes[] = {1e-42, 3e38, 0, 1};
  for (int k = 0; k < 3 * 4; ++k) {
    mpnum_normalize_options options = mpnum_normalize_default();
    if (kinds[k % 3] != MPNUM_NORM_L2 && k / 3 == 3) continue;
    options.epsilon = kinds[k % 3] == MPNUM_NORM_L2 ? 100 : 0;
    options.mean = saved_mean;
    options.inverse = saved_inverse;
    fill(dy, ROWS * 100, -1e-8, 1e-8);
    fill(x, ROWS * 100, -sizes[k / 3], sizes[k / 3]);
    must(mpnum_normalize_rows(kinds[k % 3],
                              mpnum_matrix_of(MPNUM_TYPE_F32, other, ROWS, 100),
                              floats_of(x, 100), &options));
    must(mpnum_normalize_backward_rows(kinds[k % 3], all_gradients(100),
                                       floats_of(dy, 100), floats_of(x, 100), &options));
    memcpy(other, dx, sizeof other);
    options.mean = options.inverse = NULL;
    must(mpnum_normalize_backward_rows(kinds[k % 3], all_gradients(100),
                                       floats_of(dy, 100), floats_of(x, 100), &options));
    CHECK(memcmp(other, dx, ROWS * 100 * sizeof *dx) == 0, "kind %d, elements to %g",
          k % 3, sizes[k / 3]);
  }
}

/* The sum of dy times what normalising gives, of the first row. */
static real scalar_of(mpnum_norm_kind kind, const real *from, size_t n, float epsilon) {
  real sum = 0;
  make_exact(&exact, kind, from, n, epsilon);
  for (size_t i = 0; i < n; ++i)
    sum += (real)dy[i] * (real)weight[i] * exact.y[i];
  return sum;
}
static void gradients_are_slopes(void) {
  enum { N = 9 };
  for (int k = 0; k < 6; ++k) {
    mpnum_normalize_options options = mpnum_normalize_default();
    options.weight = weight;
    options.epsilon = k < 3 ? 0.01f : 100; /* more than the length */
    fill(x, ROWS * N, -1, 2);
    fill(dy, ROWS * N, -1, 1);
    fill(weight, N, -1, 2);
    must(mpnum_normalize_backward_rows(kinds[k % 3], all_gradients(N), floats_of(dy, N),
                                       floats_of(x, N), &options));
    for (size_t i = 0; i < N; ++i) {
      const real step = 0x1p-16L;
      real up, down;
      for (size_t j = 0; j < N; ++j)
        from_x[j] = (real)x[j];
      from_x[i] += step;
      up = scalar_of(kinds[k % 3], from_x, N, options.epsilon);
      from_x[i] -= 2 * step;
      down = scalar_of(kinds[k % 3], from_x, N, options.epsilon);
      CHECK(fabsl((up - down) / (2 * step) - (real)dx[i]) < 4e-6L,
            "kind %d, element %zu: %g, slope %Lg", k % 3, i, (double)dx[i],
            (up - down) / (2 * step));
    }
  }
}

static void gradients_add_to_what_is_there(void) {
  for (int k = 0; k < 3 * 2; ++k) {
    const size_t n = k < 3 ? 100 : MOST;
    mpnum_norm_gradients to = all_gradients(n);
    mpnum_normalize_options options = mpnum_normalize_default();
    static float first[ROWS * MOST], first_weight[MOST], first_bias[MOST];
    options.weight = weight;
    fill(x, ROWS * n, -1, 2);
    fill(dy, ROWS * n, -1, 1);
    fill(weight, n, -1, 2);
    must(mpnum_normalize_backward_rows(kinds[k % 3], to, floats_of(dy, n),
                                       floats_of(x, n), &options));
    memcpy(first, dx, sizeof first);
    memcpy(first_weight, dw, sizeof dw);
    memcpy(first_bias, db, sizeof db);
    fill(dx, ROWS * n, -1, 1);
    fill(dw, n, -1e3, 1e3);
    fill(db, n, -1e3, 1e3);
    memcpy(other, dx, sizeof other);
    for (size_t i = 0; i < n; ++i) {
      first_weight[i] += dw[i];
      first_bias[i] += db[i];
    }
    to.adds = 1;
    must(mpnum_normalize_backward_rows(kinds[k % 3], to, floats_of(dy, n),
                                       floats_of(x, n), &options));
    for (size_t i = 0; i < ROWS * n; ++i)
      CHECK(bits_of(dx[i]) == bits_of(first[i] + other[i]), "element %zu", i);
    for (size_t i = 0; i < n; ++i) /* a sum of doubles is rounded once, this one twice */
      CHECK(fabsf(dw[i] - first_weight[i]) <= fabsf(first_weight[i]) * 0x1p-22f + 1e-6f &&
                fabsf(db[i] - first_bias[i]) <= fabsf(first_bias[i]) * 0x1p-22f + 1e-6f,
            "column %zu", i);
  }
}
static void sums_over_rows_are_rounded_once(void) {
  enum { MANY = 1000 };
  static float many[2 * MANY], grads[2 * MANY];
  mpnum_norm_gradients to = mpnum_norm_gradients_empty();
  real sum = 0;
  for (int i = 0; i < MANY; ++i) {
    many[2 * i] = 3;
    many[2 * i + 1] = 4;
    grads[2 * i] = (i & 1 ? -1.0f : 1.0f) * (float)uniform(0.5, 1) * (i < 2 ? 1e9f : 1);
    sum += (real)grads[2 * i];
  }
  to.bias = db;
  db[0] = 0x1p60f;
  to.adds = 1;
  for (int k = 0; k < 2; ++k) { /* added before the one rounding */
    must(mpnum_normalize_backward_rows(
        MPNUM_NORM_L2, to, mpnum_const_matrix_of(MPNUM_TYPE_F32, grads, MANY, 2),
        mpnum_const_matrix_of(MPNUM_TYPE_F32, many, MANY, 2), NULL));
    CHECK(bits_of(db[0]) == bits_of(k ? (float)sum : 0x1p60f), "%a, want %La",
          (double)db[0], sum);
    to.adds = 0;
  }
  grads[0] = 0x1p-24f; /* half of 1's last place, and a little */
  grads[2] = 0x1p-50f;
  db[0] = 1;
  to.adds = 1;
  must(mpnum_normalize_backward_rows(
      MPNUM_NORM_L2, to, mpnum_const_matrix_of(MPNUM_TYPE_F32, grads, 2, 2),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, many, 2, 2), NULL));
  CHECK(bits_of(db[0]) == 0x3f800001u, "%a", (double)db[0]);
}

/* 70 rows are three groups: gradients are those of each row alone, sums those of all. In
 * the place of dy; to what is there if adds. */
enum { MANY = 70, WIDEST = 200 };
typedef struct many {
  mpnum_norm_kind kind;
  mpnum_type type;
  size_t columns, stride;
  int adds;
} many;
static uint8_t many_from[4 * MANY * WIDEST], many_given[4 * MANY * WIDEST],
    many_got[4 * MANY * WIDEST];
static mpnum_const_matrix rows_of(const many *set, const uint8_t *data, size_t rows) {
  mpnum_const_matrix made = mpnum_const_matrix_of(set->type, data, rows, set->columns);
  made.stride = set->stride;
  return made;
}
static void run_many(const many *set, size_t first, size_t rows, uint8_t *to) {
  const size_t at = first * set->stride * (set->type == MPNUM_TYPE_F32 ? 4 : 2);
  mpnum_normalize_options options = mpnum_normalize_default();
  mpnum_norm_gradients wanted = mpnum_norm_gradients_empty();
  wanted.input = mpnum_matrix_of(set->type, to + at, rows, set->columns);
  wanted.input.stride = set->stride;
  wanted.weight = dw;
  wanted.bias = db;
  wanted.adds = set->adds;
  options.weight = weight;
  memset(dw, 0, sizeof dw);
  memset(db, 0, sizeof db);
  must(mpnum_normalize_backward_rows(
      set->kind, wanted, rows_of(set, (set->adds ? many_given : to) + at, rows),
      rows_of(set, many_from + at, rows), &options));
}
static void check_many(const many *set) {
  static uint8_t alone[sizeof many_got];
  const size_t all = MANY * set->stride, n = set->columns;
  real of_weight[WIDEST] = {0}, of_bias[WIDEST] = {0};
  real weight_size[WIDEST] = {0}, bias_size[WIDEST] = {0};
  fill(weight, n, -1, 2);
  fill(x, all, -1, 2);
  fill(dy, all, -1, 1);
  must(mpnum_convert_array(set->type, many_from, MPNUM_TYPE_F32, x, all,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
  must(mpnum_convert_array(set->type, many_given, MPNUM_TYPE_F32, dy, all,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
  memcpy(many_got, many_given, sizeof many_got);
  memcpy(alone, many_given, sizeof alone);
  for (size_t k = 0; k < MANY; ++k) {
    run_many(set, k, 1, alone);
    for (size_t i = 0; i < n; ++i) {
      of_weight[i] += (real)dw[i];
      of_bias[i] += (real)db[i];
      weight_size[i] += fabsl((real)dw[i]);
      bias_size[i] += fabsl((real)db[i]);
    }
  }
  run_many(set, 0, MANY, many_got);
  CHECK(memcmp(many_got, alone, sizeof many_got) == 0, "kind %d, %s, %zu of %zu, adds %d",
        (int)set->kind, mpnum_type_name(set->type), n, set->stride, set->adds);
  for (size_t i = 0; i < n; ++i)
    CHECK(fabsl((real)dw[i] - of_weight[i]) <= weight_size[i] * 0x1p-23L &&
              fabsl((real)db[i] - of_bias[i]) <= bias_size[i] * 0x1p-23L,
          "column %zu of %zu: %a, %a, want %La, %La", i, n, (double)dw[i], (double)db[i],
          of_weight[i], of_bias[i]);
}
static void many_rows_are_as_each_alone(void) {
  static const size_t columns[] = {1, 5, 16, 40, 64, 100, 128, WIDEST};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i)
    for (int k = 0; k < 12; ++k) {
      many set = {kinds[k % 3], k < 6 ? MPNUM_TYPE_F32 : MPNUM_TYPE_BF16, columns[i],
                  WIDEST, k % 4 > 1};
      if (k % 2) set.stride = set.columns;
      check_many(&set);
    }
}

static void types_are_rounded_once_and_results_may_take_a_place(void) {
  static uint8_t given[4 * ROWS * MOST], from[4 * ROWS * MOST], got[4 * ROWS * MOST];
  static uint8_t want[4 * ROWS * MOST];
  enum { COLUMNS = 130 };
  for (int k = 0; k < 125; ++k) {
    const mpnum_type s = row_types[k % 5], g = row_types[k / 5 % 5],
                     d = row_types[k / 25];
    const size_t count = ROWS * COLUMNS;
    const mpnum_norm_kind kind = kinds[k % 3];
    mpnum_normalize_options options = mpnum_normalize_default();
    mpnum_norm_gradients to = all_gradients(COLUMNS);
    options.weight = weight;
    fill(x, count, -3, 5);
    fill(dy, count, -2, 2);
    fill(weight, COLUMNS, -1, 2);
    must(mpnum_convert_array(s, from, MPNUM_TYPE_F32, x, count, MPNUM_ROUND_NEAREST_EVEN,
                             MPNUM_OVERFLOW_IEEE, 0, 0));
    must(mpnum_convert_array(MPNUM_TYPE_F32, x, s, from, count, MPNUM_ROUND_NEAREST_EVEN,
                             MPNUM_OVERFLOW_IEEE, 0, 0));
    must(mpnum_convert_array(g, given, MPNUM_TYPE_F32, dy, count,
                             MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
    must(mpnum_convert_array(MPNUM_TYPE_F32, dy, g, given, count,
                             MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
    must(mpnum_normalize_backward_rows(kind, to, floats_of(dy, COLUMNS),
                                       floats_of(x, COLUMNS), &options));
    must(mpnum_convert_array(d, want, MPNUM_TYPE_F32, dx, count, MPNUM_ROUND_NEAREST_EVEN,
                             MPNUM_OVERFLOW_IEEE, 0, 0));
    memcpy(other, dw, sizeof dw);
    to.input = mpnum_matrix_of(d, got, ROWS, COLUMNS);
    must(mpnum_normalize_backward_rows(
        kind, to, mpnum_const_matrix_of(g, given, ROWS, COLUMNS),
        mpnum_const_matrix_of(s, from, ROWS, COLUMNS), &options));
    CHECK(memcmp(got, want, count * size_of(d)) == 0 &&
              memcmp(other, dw, COLUMNS * sizeof *dw) == 0,
          "%s of %s to %s", mpnum_type_name(g), mpnum_type_name(s), mpnum_type_name(d));
  }
}

static void special_rows_are_as_documented(void) {
  enum { N = 50 };
  for (int k = 0; k < 3 * 4; ++k) {
    const int way = k / 3;
    mpnum_normalize_options options = mpnum_normalize_default();
    options.epsilon = 0;
    fill(x, ROWS * N, -1, 1);
    fill(dy, ROWS * N, -1, 1);
    if (way == 0) x[N + 7] = mpnum_from_bits_f32(0xffc12345u);
    if (way == 1) dy[N + 7] = mpnum_from_bits_f32(0xffc12345u);
    if (way == 2) x[N + 7] = mpnum_from_bits_f32(0x7f800000u);
    for (size_t i = 0; way == 3 && i < N; ++i)
      x[N + i] = k % 3 == 0 ? 5 : 0;
    must(mpnum_normalize_backward_rows(kinds[k % 3], all_gradients(N), floats_of(dy, N),
                                       floats_of(x, N), &options));
    for (size_t i = 0; i < N; ++i) {
      CHECK(isfinite(dx[i]) && isfinite(dx[2 * N + i]), "another row, way %d", way);
      CHECK(way == 3 ? (bits_of(dx[N + i]) & 0x7fffffffu) == 0
                     : bits_of(dx[N + i]) == 0x7fffffffu,
            "kind %d, way %d, element %zu: %a", k % 3, way, i, (double)dx[N + i]);
      const int is_one = way == 1 || (way == 2 && kinds[k % 3] == MPNUM_NORM_L2);
      CHECK((bits_of(dw[i]) == 0x7fffffffu) == (way != 3 && (!is_one || i == 7)) &&
                (way != 3 || isfinite(dw[i])),
            "kind %d, way %d, weight %zu: %a", k % 3, way, i, (double)dw[i]);
    }
  }
}

/* Gradients of columns that share memory with others. */
static void overlaps_are_refused(void) {
  enum { N = 50 };
  static float beyond[3 * N];
  for (int k = 0; k < 6; ++k) {
    mpnum_norm_gradients to = all_gradients(N);
    fill(x, ROWS * N, -1, 1);
    fill(dy, ROWS * N, -1, 1);
    memset(beyond, 0x5c, sizeof beyond);
    to.weight = beyond + N;
    to.bias = k == 0   ? beyond + N
              : k == 1 ? beyond + 2 * N - 1
              : k == 2 ? beyond + 1
                       : dx + N;
    if (k == 4) to.bias = dy + ROWS * N - 1;
    if (k == 5) to.bias = beyond + 2 * N;
    CHECK(mpnum_normalize_backward_rows(MPNUM_NORM_LAYER, to, floats_of(dy, N),
                                        floats_of(x, N), NULL) ==
              (k == 5 ? MPNUM_OK : MPNUM_ERROR_OVERLAP),
          "%d", k);
    CHECK((bits_of(beyond[N]) == 0x5c5c5c5cu) == (k != 5), "%d: written", k);
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(gradients_are_precise);
  RUN_FOR_EACH_ISA(weights_of_subnormal_rows_are_as_precise_as_is_said);
  TAP_RUN(what_forward_saved_serves);
  TAP_RUN(an_inverse_without_its_mean_is_not_read);
  TAP_RUN(what_was_saved_of_such_rows_is_computed_anew);
  TAP_RUN(gradients_are_slopes);
  RUN_FOR_EACH_ISA(gradients_add_to_what_is_there);
  TAP_RUN(sums_over_rows_are_rounded_once);
  RUN_FOR_EACH_ISA(many_rows_are_as_each_alone);
  RUN_FOR_EACH_ISA(types_are_rounded_once_and_results_may_take_a_place);
  TAP_RUN(special_rows_are_as_documented);
  TAP_RUN(overlaps_are_refused);
  return tap_done();
}

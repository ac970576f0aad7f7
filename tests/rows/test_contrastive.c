/* SPDX-License-Identifier: MIT */
/* contrastive.h and contrastive_embeddings.h: losses and gradients within the published
 * bounds of their definition in long double, pairs left out, reductions, gradients that
 * are added, special similarities. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/rows/contrastive_embeddings.h>

#include <math.h>

enum { MOST = 2070, ROOM = 310 * 310 };
static float *x, *gradient, *other; /* MOST * MOST; ROOM of them where not said */
static float of_rows[MOST], of_columns[MOST], scratch[4 * MOST];
static uint8_t mask[MOST];
static mpnum_contrastive_options how;

static void fill(size_t n, double from, double to) {
  for (size_t i = 0; i < n; ++i)
    x[i] = (float)uniform(from, to);
}
static mpnum_const_matrix square(const float *data, size_t n) {
  return mpnum_const_matrix_of(MPNUM_TYPE_F32, data, n, n);
}
static mpnum_matrix to_square(float *data, size_t n) {
  return mpnum_matrix_of(MPNUM_TYPE_F32, data, n, n);
}
static int counts(size_t i) { return !how.mask || how.mask[i]; }

/* Of a row or a column, whose elements are step apart: the sum of e^t, and that of the
 * shares times |t|. */
typedef struct line {
  long double max, sum, spread;
} line;
static line lines[2][MOST]; /* rows, columns */
static long double exponent_in(const line *of, float element) {
  return ((long double)element - of->max) * (long double)how.scale;
}
static line line_of(const float *first, size_t n, size_t step) {
  line made = {-HUGE_VALL, 0, 0};
  for (size_t i = 0; i < n; ++i)
    if (counts(i)) made.max = fmaxl(made.max, (long double)first[i * step]);
  for (size_t i = 0; i < n; ++i) {
    if (!counts(i)) continue;
    const long double t = exponent_in(&made, first[i * step]), power = expl(t);
    made.sum += power;
    made.spread += power * fabsl(t);
  }
  made.spread /= made.sum;
  return made;
}
/* docs/softmax.md, with 38 roundings of a sum of floats, 0 of one of doubles. */
static long double bound_of_loss(const line *of, long double t, int roundings) {
  const long double log_sum = logl(of->sum);
  return (2 * fabsl(t) + 2 * of->spread + 7 + roundings + 2 * log_sum + log_sum - t) *
         0x1p-24L;
}
static long double bound_of_share(const line *of, long double share, long double t,
                                  int roundings) {
  return share * (2 * fabsl(t) + 2 * of->spread + roundings + 5.58L) * 0x1p-24L +
         0x1p-125L;
}
/* All of a call on n by n floats at x: losses unless reduced, gradients where they are
 * asked for. */
static void check_call(size_t n, int has_rows, int has_columns, double by) {
  const long double factor = (long double)by;
  for (size_t i = 0; i < n; ++i) {
    lines[0][i] = line_of(x + i * n, n, 1);
    lines[1][i] = line_of(x + i, n, n);
    for (int k = 0; k < 2; ++k) {
      const long double t = exponent_in(&lines[k][i], x[i * n + i]);
      const long double want = counts(i) ? logl(lines[k][i].sum) - t : 0;
      const long double got = (long double)(k ? of_columns : of_rows)[i];
      if (!(k ? has_columns : has_rows) || how.reduction != MPNUM_REDUCTION_NONE)
        continue;
      CHECK(fabsl(got - want) <= bound_of_loss(&lines[k][i], t, k ? 0 : 38) * counts(i),
            "%zu: loss %zu of %s is %La, want %La", n, i, k ? "columns" : "rows", got,
            want);
    }
  }
  for (size_t i = 0; i < n * n; ++i) {
    const size_t at[2] = {i / n, i % n};
    const long double hit = at[0] == at[1] ? 1 : 0;
    long double want = 0, bound = 0x1p-140L;
    for (int k = 0; k < 2; ++k) {
      const line *of = &lines[k][at[k]];
      const long double t = exponent_in(of, x[i]);
      if (!(k ? has_columns : has_rows) || !counts(at[0]) || !counts(at[1])) continue;
      const long double share = expl(t) / of->sum;
      want += (share - hit) * factor;
      bound += bound_of_share(of, share, t, k ? 0 : 38) * fabsl(factor);
      bound += 3 * (share + hit) * fabsl(factor) * 0x1p-24L;
    }
    CHECK(fabsl((long double)gradient[i] - want) <= bound,
          "%zu: gradient %zu, %zu is %a, want %La, not %La off", n, at[0], at[1],
          (double)gradient[i], want, bound);
  }
}
static mpnum_status run(size_t n, int has_rows, int has_columns) {
  return mpnum_contrastive_loss(has_rows ? of_rows : NULL,
                                has_columns ? of_columns : NULL, to_square(gradient, n),
                                square(x, n), &how);
}
static void losses_and_gradients_are_those_defined(void) {
  static const size_t sizes[] = {1, 2, 17, 33, 70, 300};
  static const float scales[] = {1, 14.25f, 0.3f};
  for (int i = 0; i < 6 * 3 * 2; ++i) {
    const size_t n = sizes[i % 6];
    const int has_rows = i / 6 % 3 != 1, has_columns = i / 6 % 3 != 0;
    size_t counted = 99;
    how = mpnum_contrastive_default();
    how.scale = scales[i % 3];
    how.factor = i % 2 ? 0.5f : -1;
    how.scratch = scratch;
    how.counted = &counted;
    fill(n * n, -2, 2);
    for (size_t k = 0; k < n; ++k)
      mask[k] = k % 5 != 3;
    if (i >= 18) {
      how.mask = mask;
      for (size_t k = 3; k < n; k += 5)
        x[k * n] = x[k] = x[k * n + k] = k % 2 ? A_NAN : INF;
    }
    memset(gradient, 0x5c, n * n * sizeof *gradient);
    CHECK(run(n, has_rows, has_columns) == MPNUM_OK, "run");
    for (size_t k = 3; how.mask && k < n; k += 5)
      x[k * n] = x[k] = x[k * n + k] = 0;
    check_call(n, has_rows, has_columns, (double)how.factor * (double)how.scale);
    CHECK(counted == n - (how.mask ? (n + 1) / 5 : 0), "%zu of %zu counted", counted, n);
    for (size_t k = 3; how.mask && k < n; k += 5)
      for (size_t j = 0; j < n; ++j)
        CHECK(bits_of(gradient[k * n + j]) == 0 && bits_of(gradient[j * n + k]) == 0,
              "gradient of a pair that is left out");
  }
}
/* Most pairs are left out, as exp takes long. */
static void matrices_may_be_larger_than_a_tile(void) {
  enum { N = 2069 };
  how = mpnum_contrastive_default();
  how.mask = mask;
  for (int i = 0; i < N; ++i)
    mask[i] = i % 8 == 3 || i > 2046;
  how.scale = 3;
  how.scratch = scratch;
  fill((size_t)N * N, -1, 1);
  CHECK(run(N, 1, 1) == MPNUM_OK, "run");
  check_call(N, 1, 1, 3);
}
/* In the place of the similarities, and added to what is there: rounded once. */
static void gradients_go_where_they_are_wanted(void) {
  enum { N = 70 };
  static mpnum_bf16 old[N * N], in_place[N * N];
  how = mpnum_contrastive_default();
  how.scale = 5;
  how.scratch = scratch;
  fill((size_t)N * N, -1, 1);
  for (int i = 0; i < N * N; ++i) {
    in_place[i] = mpnum_f32_to_bf16(x[i]);
    x[i] = mpnum_bf16_to_f32(in_place[i]);
    old[i] = mpnum_f32_to_bf16((float)uniform(-3, 3));
    other[i] = mpnum_bf16_to_f32(old[i]);
  }
  CHECK(run(N, 1, 1) == MPNUM_OK, "apart");
  CHECK(mpnum_contrastive_loss(
            of_rows, of_columns, mpnum_matrix_of(MPNUM_TYPE_BF16, in_place, N, N),
            mpnum_const_matrix_of(MPNUM_TYPE_BF16, in_place, N, N), &how) == MPNUM_OK,
        "in place");
  for (int i = 0; i < N * N; ++i)
    CHECK(in_place[i].bits == mpnum_f32_to_bf16(gradient[i]).bits, "in place, %d", i);
  how.flags = MPNUM_SOFTMAX_ACCUMULATE;
  CHECK(mpnum_contrastive_loss(of_rows, of_columns,
                               mpnum_matrix_of(MPNUM_TYPE_BF16, old, N, N), square(x, N),
                               &how) == MPNUM_OK,
        "added to bf16");
  for (int i = 0; i < N * N; ++i) {
    other[i] += gradient[i];
    CHECK(old[i].bits == mpnum_f32_to_bf16(other[i]).bits, "added to bf16, %d", i);
  }
  memcpy(other, gradient, sizeof *other * N * N);
  how.mask = mask;
  for (int i = 0; i < N; ++i)
    mask[i] = i != 4;
  CHECK(run(N, 1, 1) == MPNUM_OK, "a pair left out");
  for (int i = 0; i < N; ++i)
    CHECK(bits_of(gradient[4 * N + i]) == bits_of(other[4 * N + i]) &&
              bits_of(gradient[i * N + 4]) == bits_of(other[i * N + 4]),
          "nothing is added to it");
}
/* NaN that was there is the canonical one afterwards. */
static void gradients_are_added_to_nan(void) {
  enum { N = 70 };
  how = mpnum_contrastive_default();
  how.scratch = scratch;
  how.flags = MPNUM_SOFTMAX_ACCUMULATE;
  fill((size_t)N * N, -1, 1);
  for (int i = 0; i < N * N; ++i)
    gradient[i] = i % 3 ? A_NAN : 1;
  CHECK(run(N, 1, 1) == MPNUM_OK, "run");
  for (int i = 0; i < N * N; ++i)
    CHECK((bits_of(gradient[i]) == 0x7fffffffu) == (i % 3 != 0) &&
              (i % 3 || gradient[i] < 1.5f),
          "%d: %a", i, (double)gradient[i]);
}
static void losses_are_reduced(void) {
  enum { N = 300 };
  for (int i = 0; i < 4; ++i) {
    const int is_mean = i % 2;
    double rows = 0, columns = 0;
    size_t counted = 0;
    float sum[2] = {0, 0};
    how = mpnum_contrastive_default();
    how.scale = 2;
    how.scratch = scratch;
    how.counted = &counted;
    if (i / 2) how.mask = mask;
    for (size_t k = 0; k < N; ++k)
      mask[k] = k % 7 != 0;
    fill((size_t)N * N, -2, 2);
    CHECK(run(N, 1, 1) == MPNUM_OK, "one by one");
    for (int k = 0; k < N; ++k) {
      rows += (double)of_rows[k];
      columns += (double)of_columns[k];
    }
    CHECK(counted == (i / 2 ? 257 : 300), "counted: %zu", counted);
    how.reduction = is_mean ? MPNUM_REDUCTION_MEAN : MPNUM_REDUCTION_SUM;
    CHECK(mpnum_contrastive_loss(&sum[0], &sum[1], to_square(gradient, N), square(x, N),
                                 &how) == MPNUM_OK,
          "reduced");
    const double by = is_mean ? (double)counted : 1;
    CHECK(fabs((double)sum[0] - rows / by) <= rows / by * 0x1p-23, "rows");
    CHECK(fabs((double)sum[1] - columns / by) <= columns / by * 0x1p-23, "columns");
    check_call(N, 1, 1, 2 / by * (1 + 0x1p-24));
  }
  how.counted = NULL;
  memset(mask, 0, sizeof mask);
  memset(gradient, 0x5c, 9 * sizeof *gradient);
  CHECK(run(3, 1, 1) == MPNUM_OK && bits_of(of_rows[0]) == 0x7fffffffu &&
            bits_of(of_columns[0]) == 0x7fffffffu && bits_of(gradient[4]) == 0,
        "a mean of none");
}
static void special_similarities(void) {
  enum { N = 20 };
  for (int i = 0; i < 4; ++i) {
    how = mpnum_contrastive_default();
    how.scratch = scratch;
    how.scale = i == 3 ? 0x1p-149f : 20;
    fill((size_t)N * N, -1, 1);
    x[7 * N + 9] = i == 1 ? INF : A_NAN;
    if (i == 2) x[3 * N + 9] = special(0x7fc00001u);
    CHECK(run(N, 1, 1) == MPNUM_OK, "run");
    for (int k = 0; k < N; ++k) {
      CHECK((bits_of(of_rows[k]) == 0x7fffffffu) == (k == 7 || (i == 2 && k == 3)),
            "row %d: %a", k, (double)of_rows[k]);
      CHECK((bits_of(of_columns[k]) == 0x7fffffffu) == (k == 9), "column %d: %a", k,
            (double)of_columns[k]);
    }
    for (int k = 0; k < N * N; ++k)
      CHECK((bits_of(gradient[k]) == 0x7fffffffu) ==
                (k % N == 9 || k / N == 7 || (i == 2 && k / N == 3)),
            "%d: gradient %d is %a", i, k, (double)gradient[k]);
  }
}
/* All -Inf: NaN unless masked; then the loss has no end, and the gradient is 0. */
static void rows_and_columns_of_minus_inf(void) {
  enum { N = 5 };
  for (int is_masked = 0; is_masked < 2; ++is_masked) {
    const uint32_t want = is_masked ? 0x7f800000u : 0x7fffffffu;
    how = mpnum_contrastive_default();
    how.scratch = scratch;
    how.flags = is_masked ? MPNUM_SOFTMAX_MASKED : 0;
    fill((size_t)N * N, -1, 1);
    for (int i = 0; i < N; ++i)
      x[1 * N + i] = x[i * N + 2] = MINUS;
    CHECK(run(N, 1, 1) == MPNUM_OK, "run");
    CHECK(bits_of(of_rows[1]) == want && bits_of(of_columns[2]) == want, "%x %x",
          bits_of(of_rows[1]), bits_of(of_columns[2]));
    CHECK(bits_of(of_rows[2]) == 0x7f800000u && bits_of(of_columns[1]) == 0x7f800000u,
          "a pair of -Inf");
    CHECK(of_rows[0] < 10 && of_columns[0] < 10, "others");
    for (int i = 0; i < N * N; ++i) {
      const int is_in_line = i / N == 1 || i % N == 2;
      CHECK(bits_of(gradient[i]) == 0x7fffffffu ? is_in_line && !is_masked
                                                : !is_in_line || is_masked,
            "gradient %d is %a", i, (double)gradient[i]);
      CHECK(!is_masked || !is_in_line || bits_of(gradient[i]) == 0, "masked %d", i);
    }
  }
}

/* --- embeddings --- */

enum { PAIRS = 2060, SIZE = 2060 };
static float a[PAIRS * 8 > 24 * SIZE ? PAIRS * 8 : 24 * SIZE];
static float b[sizeof a / sizeof *a], by_a[sizeof a / sizeof *a],
    by_b[sizeof a / sizeof *a];
static long double length_of(const float *row, size_t size) {
  long double sum = 0;
  for (size_t i = 0; i < size; ++i)
    sum += (long double)row[i] * (long double)row[i];
  return sqrtl(sum);
}
static long double cosine_of(size_t i, size_t k, size_t size) {
  const long double lengths =
      length_of(a + i * size, size) * length_of(b + k * size, size);
  long double sum = 0;
  for (size_t j = 0; j < size; ++j)
    sum += (long double)a[i * size + j] * (long double)b[k * size + j];
  return lengths > 0 ? sum / lengths : 0;
}
/* by_cosine: of losses, by the cosine of each pair, of those that count. */
static long double by_cosine[64][64], cosines[64][64], lengths_of[2][64];
static void check_embeddings(const size_t *pairs, size_t n, size_t size, double by_pair,
                             int gradients) {
  const long double factor = (long double)by_pair;
  for (size_t i = 0; i < n; ++i) {
    long double sum = 0;
    lengths_of[0][i] = length_of(a + pairs[i] * size, size);
    lengths_of[1][i] = length_of(b + pairs[i] * size, size);
    for (size_t k = 0; k < n; ++k) {
      cosines[i][k] = cosine_of(pairs[i], pairs[k], size);
      sum += expl(cosines[i][k] * (long double)how.scale);
    }
    const long double want = logl(sum) - cosines[i][i] * (long double)how.scale;
    CHECK(fabsl((long double)of_rows[pairs[i]] - want) < 2e-5L * (1 + want),
          "loss %zu is %a, want %La", pairs[i], (double)of_rows[pairs[i]], want);
    for (size_t k = 0; k < n; ++k)
      by_cosine[i][k] =
          (expl(cosines[i][k] * (long double)how.scale) / sum - (i == k)) * factor;
  }
  for (int which = 0; which < gradients; ++which)
    for (size_t i = 0; i < n; ++i) {
      const float *own = (which ? b : a) + pairs[i] * size;
      const long double length = lengths_of[which][i];
      for (size_t j = 0; j < size; ++j) {
        const long double got = (long double)(which ? by_b : by_a)[pairs[i] * size + j];
        long double want = 0, terms = 0;
        for (size_t k = 0; length > 0 && k < n; ++k) {
          const float *other_row = (which ? a : b) + pairs[k] * size;
          const long double by = which ? by_cosine[k][i] : by_cosine[i][k];
          const long double cosine = which ? cosines[k][i] : cosines[i][k];
          const long double other_length = lengths_of[!which][k];
          const long double unit =
              other_length > 0 ? (long double)other_row[j] / other_length : 0;
          want += by * (unit - cosine * (long double)own[j] / length) / length;
          terms += factor * (fabsl(unit) + fabsl((long double)own[j] / length)) / length;
        }
        CHECK(fabsl(got - want) <= 1e-5L * terms + 0x1p-140L,
              "gradient of %c %zu, %zu is %La, want %La", which ? 'b' : 'a', pairs[i], j,
              got, want);
      }
    }
}
static void make_embeddings(size_t count, double length) {
  for (size_t i = 0; i < count; ++i) {
    a[i] = (float)uniform(-1, 1);
    b[i] = (float)((double)a[i] + uniform(-0.5, 0.5)) * (float)length;
    a[i] *= (float)length;
  }
}
static mpnum_status run_embeddings(size_t n, size_t size) {
  return mpnum_contrastive_loss_of_embeddings(
      of_rows, mpnum_matrix_of(MPNUM_TYPE_F32, by_a, n, size),
      mpnum_matrix_of(MPNUM_TYPE_F32, by_b, n, size),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, a, n, size),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, b, n, size), &how);
}
static void embeddings_may_have_any_length(void) {
  enum { N = 20, D = 70 };
  static const double lengths[] = {1, 1e30, 1e-35};
  size_t pairs[N];
  for (size_t i = 0; i < N; ++i)
    pairs[i] = i;
  for (int i = 0; i < 6; ++i) {
    how = mpnum_contrastive_default();
    how.scale = 14.25f;
    how.scratch = scratch;
    how.factor = 0.5f;
    make_embeddings((size_t)N * D, lengths[i % 3]);
    if (i >= 3) memset(a + D, 0, D * sizeof *a);
    if (i >= 3) memset(b + (size_t)3 * D, 0, D * sizeof *b);
    CHECK(run_embeddings(N, D) == MPNUM_OK, "run");
    check_embeddings(pairs, N, D, 0.5 * 14.25, 2);
  }
  CHECK(fabs((double)of_rows[1] - log(N)) < 1e-6, "a zero is like all others");
  make_embeddings((size_t)N * D, 1);
  for (int i = 0; i < N * D; ++i)
    b[i] *= 1e-41f;
  how.scale = 1;
  CHECK(run_embeddings(N, D) == MPNUM_OK, "run");
  check_embeddings(pairs, N, D, 0.5, 1);
}
static void embeddings_may_be_long(void) {
  const size_t pairs[] = {0, 1, 2};
  how = mpnum_contrastive_default();
  how.scratch = scratch;
  how.scale = 2;
  make_embeddings((size_t)3 * SIZE, 1);
  CHECK(run_embeddings(3, SIZE) == MPNUM_OK, "run");
  check_embeddings(pairs, 3, SIZE, 2, 2);
}
/* Of many most are left out; those that count are in both tiles. */
static void embeddings_may_be_many(void) {
  enum { D = 5, KEPT = 42 };
  size_t pairs[KEPT], counted = 0;
  double sum = 0;
  float mean = 0;
  memset(mask, 0, sizeof mask);
  for (size_t i = 0; i < KEPT; ++i) {
    pairs[i] = i * 50 + 3;
    mask[pairs[i]] = 1;
  }
  how = mpnum_contrastive_default();
  how.scratch = scratch;
  how.mask = mask;
  how.counted = &counted;
  how.scale = 4;
  make_embeddings((size_t)PAIRS * D, 1);
  a[0] = b[7 * D] = A_NAN; /* left out */
  memset(by_a, 0x5c, sizeof by_a);
  CHECK(run_embeddings(PAIRS, D) == MPNUM_OK && counted == KEPT, "run");
  check_embeddings(pairs, KEPT, D, 4, 2);
  CHECK(bits_of(by_a[1]) == 0 && bits_of(by_b[7 * D]) == 0 && bits_of(of_rows[0]) == 0,
        "a pair that is left out");
  for (int i = 0; i < PAIRS; ++i)
    sum += (double)of_rows[i];
  memcpy(other, by_a, sizeof by_a);
  how.reduction = MPNUM_REDUCTION_MEAN;
  how.flags = MPNUM_SOFTMAX_ACCUMULATE;
  CHECK(mpnum_contrastive_loss_of_embeddings(
            &mean, mpnum_matrix_of(MPNUM_TYPE_F32, by_a, PAIRS, D), mpnum_matrix_empty(),
            mpnum_const_matrix_of(MPNUM_TYPE_F32, a, PAIRS, D),
            mpnum_const_matrix_of(MPNUM_TYPE_F32, b, PAIRS, D), &how) == MPNUM_OK,
        "a mean");
  CHECK(fabs((double)mean - sum / KEPT) <= (double)mean * 0x1p-23, "a mean: %a",
        (double)mean);
  for (int i = 0; i < PAIRS * D; ++i)
    CHECK(fabs((double)by_a[i] - (double)other[i] * (1 + 1.0 / KEPT)) < 1e-6, "added: %d",
          i);
}
static void embeddings_with_nan_are_nan(void) {
  enum { N = 4, D = 9 };
  how = mpnum_contrastive_default();
  how.scratch = scratch;
  for (int i = 0; i < 2; ++i) {
    make_embeddings((size_t)N * D, 1);
    a[2 * D + 1] = i ? INF : A_NAN;
    CHECK(run_embeddings(N, D) == MPNUM_OK, "run");
    for (int k = 0; k < N * D; ++k)
      CHECK((bits_of(by_a[k]) == 0x7fffffffu) == (k / D == 2) &&
                bits_of(by_b[k]) == 0x7fffffffu &&
                (bits_of(of_rows[k / D]) == 0x7fffffffu) == (k / D == 2),
            "%d: gradient %d", i, k);
  }
}

int main(void) {
  x = (float *)malloc(sizeof *x * MOST * MOST);
  gradient = (float *)malloc(sizeof *gradient * MOST * MOST);
  other = (float *)malloc(sizeof *other * ROOM);
  if (!x || !gradient || !other) return 1;
  RUN_FOR_EACH_ISA(losses_and_gradients_are_those_defined);
  TAP_RUN(matrices_may_be_larger_than_a_tile);
  TAP_RUN(gradients_go_where_they_are_wanted);
  RUN_FOR_EACH_ISA(gradients_are_added_to_nan);
  TAP_RUN(losses_are_reduced);
  RUN_FOR_EACH_ISA(special_similarities);
  RUN_FOR_EACH_ISA(rows_and_columns_of_minus_inf);
  RUN_FOR_EACH_ISA(embeddings_may_have_any_length);
  TAP_RUN(embeddings_may_be_long);
  TAP_RUN(embeddings_may_be_many);
  TAP_RUN(embeddings_with_nan_are_nan);
  free(x);
  free(gradient);
  free(other);
  return tap_done();
}

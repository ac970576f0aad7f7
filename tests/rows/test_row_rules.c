/* SPDX-License-Identifier: MIT */
/* Rules that all functions of rows share: NaN that is stored is the canonical one, what
 * is masked has gradient 0 whatever the row, NULL and all zeros and memory that overlaps
 * are refused before anything is written, nothing is read where there are no elements. */
#define _GNU_SOURCE /* mmap */ /* NOLINT(bugprone-reserved-identifier) */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/mpnum.h>

mpnum_status force_isa(mpnum_isa isa) { return mpnum_isa_force(isa); }
mpnum_isa isa_in_use(void) { return mpnum_isa_in_use(); }

enum { ROWS = 3, MOST = 2100, N = 70 };
static float x[ROWS * MOST], y[ROWS * MOST], z[ROWS * MOST], w[ROWS * MOST], loss[N],
    other_loss[N], scratch[4 * N];
static uint8_t bytes[ROWS * MOST * 4], sums[ROWS * MOST * 4];

static uint32_t bits_of(float value) { return mpnum_bits_f32(value); }
static float special(uint32_t bits) { return mpnum_from_bits_f32(bits); }
static const uint32_t canonical = 0x7fffffffu;
/* Signalling and quiet, of both signs, and what makes one of numbers. */
static const uint32_t nans[] = {0x7f800001u, 0xffc00002u, 0x7fc00003u, 0xff800004u,
                                0x7fffffffu, 0xffffffffu, 0x7f812345u, 0xffc54321u};
enum { NANS = sizeof nans / sizeof *nans };

static void fill(float *to, size_t n) {
  for (size_t i = 0; i < n; ++i)
    to[i] = (float)uniform(-2, 2);
}
static mpnum_matrix to_rows(float *data, size_t rows, size_t columns) {
  return mpnum_matrix_of(MPNUM_TYPE_F32, data, rows, columns);
}
static mpnum_const_matrix of_rows(const float *data, size_t rows, size_t columns) {
  return mpnum_const_matrix_of(MPNUM_TYPE_F32, data, rows, columns);
}
/* docs/conventions.md. */
static uint32_t canonical_of(mpnum_type type) {
  return type == MPNUM_TYPE_F32                              ? canonical
         : type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16 ? 0x7fff
                                                             : 0x7f;
}
static uint32_t code_at(mpnum_type type, const uint8_t *codes, size_t i) {
  uint32_t word = 0;
  uint16_t half = 0;
  if (size_of(type) == 1) return codes[i];
  if (size_of(type) == 4) memcpy(&word, codes + 4 * i, 4);
  if (size_of(type) == 2) memcpy(&half, codes + 2 * i, 2);
  return size_of(type) == 2 ? half : word;
}

/* Element i is NaN where it is one of src or of the residual, or Inf less Inf. */
static int is_nan_place(size_t i) { return i % 5 < 4; }
static void make_terms(size_t n) {
  fill(x, n);
  fill(y, n);
  for (size_t i = 0; i < n; ++i) {
    const float a = special(nans[i / 5 % NANS]),
                b = special(nans[(i / 5 + i / 40) % NANS]);
    if (i % 5 == 0) x[i] = a, y[i] = b;
    if (i % 5 == 1) x[i] = a;
    if (i % 5 == 2) y[i] = b;
    if (i % 5 == 3) x[i] = special(0x7f800000u), y[i] = special(0xff800000u);
  }
}
static void stored_sums_have_one_nan(void) {
  static const size_t sizes[] = {1, 5, 17, 33, 70, MOST};
  for (int t = 0; t < 5; ++t)
    for (int s = 0; s < 6; ++s)
      for (int way = 0; way < 4; ++way) {
        const size_t n = sizes[s];
        const int has_residual = way < 2, is_quantized = way % 2;
        const mpnum_type type = row_types[t];
        mpnum_normalize_options options = mpnum_normalize_default();
        make_terms(ROWS * n);
        if (has_residual) options.residual = of_rows(y, ROWS, n);
        options.sum = mpnum_matrix_of(type, sums, ROWS, n);
        if (is_quantized) {
          must(mpnum_normalize_quantize_rows(
              MPNUM_NORM_RMS, mpnum_matrix_of(MPNUM_TYPE_E4M3, bytes, ROWS, n),
              of_rows(x, ROWS, n), &options, 1, NULL));
        } else {
          must(mpnum_normalize_rows(MPNUM_NORM_LAYER, to_rows(z, ROWS, n),
                                    of_rows(x, ROWS, n), &options));
        }
        for (size_t i = 0; i < ROWS * n; ++i) {
          const int is_inf = i % 5 == 3 && type == MPNUM_TYPE_E4M3; /* which has none */
          const int is_nan = has_residual ? is_nan_place(i) : i % 5 < 2 || is_inf;
          const uint32_t got = code_at(type, sums, i);
          CHECK((got == canonical_of(type)) == is_nan &&
                    (!is_nan || got == canonical_of(type)),
                "type %d, %zu columns, way %d, element %zu: %x", type, n, way, i,
                (unsigned)got);
        }
      }
}
static void activations_have_one_nan(void) {
  for (int way = 0; way < 3; ++way)
    for (size_t n = 1; n < 80; n += 13) {
      mpnum_activation_options options = mpnum_activation_default();
      make_terms(n);
      if (way == 0) options.factor = of_rows(y, 1, n);
      if (way == 1) options.bias = y;
      must(mpnum_activation_rows(MPNUM_ACTIVATION_GELU, to_rows(z, 1, n),
                                 of_rows(x, 1, n), &options));
      for (size_t i = 0; i < n; ++i) {
        const int is_nan = way == 2 ? i % 5 < 2 : is_nan_place(i);
        if (i % 5 == 3) continue; /* Inf times -Inf is none */
        CHECK(is_nan ? bits_of(z[i]) == canonical : !mpnum_isnan_f32(z[i]),
              "way %d, element %zu of %zu: %x", way, i, n, (unsigned)bits_of(z[i]));
      }
    }
}
static void all_are_canonical(const float *got, size_t n, const char *what) {
  size_t nan = 0;
  for (size_t i = 0; i < n; ++i) {
    nan += mpnum_isnan_f32(got[i]) != 0;
    CHECK(!mpnum_isnan_f32(got[i]) || bits_of(got[i]) == canonical, "%s, %zu: %x", what,
          i, (unsigned)bits_of(got[i]));
  }
  CHECK(nan > n / 4, "%s: %zu NaN of %zu", what, nan, n);
}
/* Gradients, also those that are added, as what is there may be any NaN. */
static float *nan_there(size_t n) {
  for (size_t i = 0; i < n; ++i)
    z[i] = special(nans[i % NANS]);
  return z;
}
static void gradients_have_one_nan(void) {
  static const int64_t classes[] = {2, 5, 9};
  const size_t all = (size_t)ROWS * N;
  const mpnum_const_matrix dy = of_rows(x, ROWS, N), src = of_rows(y, ROWS, N);
  for (int adds = 0; adds < 2; ++adds) {
    mpnum_softmax_options how = mpnum_softmax_default();
    mpnum_cross_entropy_options losses = mpnum_cross_entropy_default();
    mpnum_contrastive_options pairs = mpnum_contrastive_default();
    mpnum_norm_gradients to = mpnum_norm_gradients_empty();
    how.flags = losses.softmax.flags = pairs.flags = adds ? MPNUM_SOFTMAX_ACCUMULATE : 0;
    pairs.scratch = scratch;
    make_terms(all);
    must(mpnum_softmax_backward_rows(to_rows(nan_there(all), ROWS, N), dy, src, &how));
    all_are_canonical(z, all, "softmax");
    must(
        mpnum_log_softmax_backward_rows(to_rows(nan_there(all), ROWS, N), dy, src, &how));
    all_are_canonical(z, all, "log-softmax");
    must(mpnum_cross_entropy_rows(loss, to_rows(nan_there(all), ROWS, N), dy, classes,
                                  &losses, NULL));
    all_are_canonical(z, all, "cross-entropy");
    all_are_canonical(loss, ROWS, "losses");
    to.input = to_rows(nan_there(all), ROWS, N);
    to.adds = adds;
    must(mpnum_normalize_backward_rows(MPNUM_NORM_LAYER, to, dy, src, NULL));
    all_are_canonical(z, all, "layer norm");
    to.input = mpnum_matrix_empty();
    to.weight = nan_there(all);
    to.bias = z + N;
    must(mpnum_normalize_backward_rows(MPNUM_NORM_RMS, to, dy, src, NULL));
    all_are_canonical(z, (size_t)2 * N, "weight and bias");
    must(mpnum_contrastive_loss_of_embeddings(loss, to_rows(nan_there(all), ROWS, N),
                                              mpnum_matrix_empty(), dy, src, &pairs));
    all_are_canonical(z, all, "embeddings");
    all_are_canonical(loss, ROWS, "losses of embeddings");
    must(mpnum_contrastive_loss(loss, other_loss, to_rows(nan_there(all), 14, 14),
                                of_rows(x, 14, 14), &pairs));
    all_are_canonical(z, (size_t)14 * 14, "contrastive");
    all_are_canonical(loss, 14, "losses of rows");
    all_are_canonical(other_loss, 14, "losses of columns");
    if (!adds) continue; /* ordinary rows: only what is there is NaN */
    fill(x, all);
    must(mpnum_cross_entropy_rows(loss, to_rows(nan_there(all), ROWS, N), dy, classes,
                                  &losses, NULL));
    all_are_canonical(z, all, "cross-entropy, added");
    fill(y, all);
    must(mpnum_softmax_backward_rows(to_rows(nan_there(all), ROWS, N), dy, src, &how));
    all_are_canonical(z, all, "softmax, added");
    must(mpnum_contrastive_loss(loss, other_loss, to_rows(nan_there(all), 14, 14),
                                of_rows(x, 14, 14), &pairs));
    all_are_canonical(z, (size_t)14 * 14, "contrastive, added");
  }
}

/* One rule for all: the gradient of what is masked is 0, whatever the row; where it is
 * added what is there stays. */
enum { MASKED = 4, WAYS = 5 };
static int is_masked_place(size_t i) { return i % 3 == 1; }
static mpnum_status gradients_by(int function, int way, int flags, mpnum_matrix dst,
                                 size_t n, const uint8_t *mask, const size_t *lengths) {
  static float shares[ROWS * MOST];
  static const int64_t classes[] = {0, 0, 0};
  mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
  how.softmax.flags = flags | (way == 2 ? MPNUM_SOFTMAX_MASKED : 0);
  if (way == 0) how.softmax.mask = mask;
  if (way == 1) how.softmax.lengths = lengths;
  if (way == 3) how.softmax.bias = y;
  if (way == 4) how.softmax.first_length = (int64_t)lengths[0];
  for (size_t i = 0; i < ROWS * n; ++i)
    shares[i] = i % n < 2 ? 0.5f : 0;
  if (function == 0)
    return mpnum_softmax_backward_rows(dst, of_rows(x, ROWS, n), of_rows(z, ROWS, n),
                                       &how.softmax);
  if (function == 1)
    return mpnum_log_softmax_backward_rows(dst, of_rows(x, ROWS, n), of_rows(z, ROWS, n),
                                           &how.softmax);
  if (function == 2)
    return mpnum_cross_entropy_rows(loss, dst, of_rows(x, ROWS, n), classes, &how, NULL);
  if (function == 3) how.label_smoothing = 0.25f;
  if (function == 3)
    return mpnum_cross_entropy_rows(loss, dst, of_rows(x, ROWS, n), classes, &how, NULL);
  return mpnum_soft_cross_entropy_rows(loss, dst, of_rows(x, ROWS, n),
                                       of_rows(shares, ROWS, n), &how, NULL);
}
/* Rows with NaN, with +Inf, all masked; masked by a byte, a length, -Inf, a bias of -Inf,
 * a length that grows. */
static void what_is_masked_has_gradient_0_in_rows_of_nan(void) {
  static const size_t sizes[] = {3, 17, 70, MOST};
  static uint8_t mask[MOST];
  static const uint32_t places[] = {0x7f800001u, 0xffc00002u, 0x7f800000u};
  for (int i = 0; i < 4 * WAYS * 5 * 2 * 2; ++i) {
    const size_t n = sizes[i % 4];
    const int way = i / 4 % WAYS, function = i / 4 / WAYS % 5;
    const int adds = i / 4 / WAYS / 5 % 2, is_16 = i / 4 / WAYS / 10;
    const int is_length = way == 1 || way == 4;
    const size_t lengths[] = {n - n / 3, n - n / 3, n - n / 3};
    const mpnum_type type = is_16 ? MPNUM_TYPE_BF16 : MPNUM_TYPE_F32;
    if (function < 2 && way != 0 && !is_length) continue; /* y has no -Inf to tell */
    fill(x, ROWS * n);
    fill(z, ROWS * n);
    for (size_t k = 0; k < n; ++k) {
      mask[k] = !is_masked_place(k);
      y[k] = is_masked_place(k) ? special(0xff800000u) : 0;
    }
    for (size_t k = 0; k < ROWS * n; ++k) {
      if (way == 2 && is_masked_place(k % n)) x[k] = special(0xff800000u);
      if (k % n == 0) x[k] = special(places[k / n]);
      if (k % n == 0 && function < 2) z[k] = special(places[k / n]);
    }
    for (size_t k = 0; k < ROWS * n; ++k)
      if (is_16)
        ((uint16_t *)(void *)bytes)[k] = 0x3f00; /* 0.5 */
      else
        w[k] = 0.5f;
    must(gradients_by(function, way, adds ? MPNUM_SOFTMAX_ACCUMULATE : 0,
                      mpnum_matrix_of(type, is_16 ? (void *)bytes : w, ROWS, n), n, mask,
                      lengths));
    for (size_t k = 0; k < ROWS * n; ++k) {
      const int is_out = is_length ? k % n >= lengths[0] : is_masked_place(k % n);
      const uint32_t kept = !adds ? 0 : is_16 ? 0x3f00u : 0x3f000000u;
      const uint32_t got = code_at(type, is_16 ? bytes : (const uint8_t *)w, k);
      if (!is_out && function < 2) continue; /* said of y and dy elsewhere */
      CHECK(got == (is_out ? kept : canonical_of(type)),
            "function %d, way %d, %zu columns, adds %d, element %zu: %x", function, way,
            n, adds, k, (unsigned)got);
    }
  }
}
/* docs/softmax.md: the gradient of a loss of rows is that of mpnum_cross_entropy_rows. */
static void contrastive_rows_are_cross_entropy_in_rows_of_nan(void) {
  static const int64_t classes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  enum { SIZE = 14 };
  for (int i = 0; i < 8; ++i) {
    mpnum_contrastive_options how = mpnum_contrastive_default();
    mpnum_cross_entropy_options same = mpnum_cross_entropy_default();
    how.flags =
        (i % 2 ? MPNUM_SOFTMAX_MASKED : 0) | (i / 2 % 2 ? MPNUM_SOFTMAX_ACCUMULATE : 0);
    same.softmax.flags = how.flags;
    fill(x, (size_t)SIZE * SIZE);
    for (int k = 0; k < SIZE; ++k) {
      x[3 * SIZE + k] = special(0xff800000u); /* none is left */
      if (k % 3) x[7 * SIZE + k] = x[9 * SIZE + k] = special(0xff800000u);
    }
    x[5 * SIZE + 1] = x[7 * SIZE] = special(0xffc12345u);
    x[9 * SIZE] = special(0x7f800000u);
    x[11 * SIZE + 2] = special(0xff800000u);
    for (int k = 0; k < SIZE * SIZE; ++k)
      y[k] = z[k] = i / 4 ? -0.0f : 0.25f * (float)(k % 7);
    must(mpnum_contrastive_loss(loss, NULL, to_rows(y, SIZE, SIZE),
                                of_rows(x, SIZE, SIZE), &how));
    must(mpnum_cross_entropy_rows(other_loss, to_rows(z, SIZE, SIZE),
                                  of_rows(x, SIZE, SIZE), classes, &same, NULL));
    CHECK(memcmp(loss, other_loss, SIZE * sizeof *loss) == 0, "losses %d", i);
    for (int k = 0; k < SIZE * SIZE; ++k)
      CHECK(bits_of(y[k]) == bits_of(z[k]), "way %d, element %d: %x, of rows %x", i, k,
            (unsigned)bits_of(y[k]), (unsigned)bits_of(z[k]));
  }
}
/* What softmax_backward.h says of NaN and Inf, by hand: dx of log-softmax is
 * dy - e^y sum(dy). */
static void backward_of_nan_and_inf_is_what_is_said(void) {
  const float no_number = special(0xffc00002u);
  for (int i = 0; i < 4; ++i) {
    const int is_log = i % 2;
    for (int k = 0; k < 3; ++k) {
      x[k] = 0.25f;
      y[k] = is_log ? -1 : 0.25f;
    }
    if (i < 2) y[0] = no_number;
    if (i >= 2) x[0] = special(0x7f800000u);
    must((is_log ? mpnum_log_softmax_backward_rows : mpnum_softmax_backward_rows)(
        to_rows(z, 1, 3), of_rows(x, 1, 3), of_rows(y, 1, 3), NULL));
    if (i >= 2) {
      CHECK(bits_of(z[0]) == canonical && bits_of(z[1]) == 0xff800000u &&
                bits_of(z[2]) == 0xff800000u,
            "Inf in dy, %d: %x %x %x", i, (unsigned)bits_of(z[0]),
            (unsigned)bits_of(z[1]), (unsigned)bits_of(z[2]));
    } else if (is_log) { /* 1/4 - e^-1 3/4 = -0.025910 */
      CHECK(bits_of(z[0]) == canonical && z[1] > -0.0259100f && z[1] < -0.0259090f &&
                bits_of(z[1]) == bits_of(z[2]),
            "NaN in y of log-softmax: %x %.9g", (unsigned)bits_of(z[0]), (double)z[1]);
    } else {
      for (int k = 0; k < 3; ++k)
        CHECK(bits_of(z[k]) == canonical, "NaN in y: %x", (unsigned)bits_of(z[k]));
    }
    x[0] = no_number;
    y[0] = y[1];
    must((is_log ? mpnum_log_softmax_backward_rows : mpnum_softmax_backward_rows)(
        to_rows(z, 1, 3), of_rows(x, 1, 3), of_rows(y, 1, 3), NULL));
    for (int k = 0; k < 3; ++k)
      CHECK(bits_of(z[k]) == canonical, "NaN in dy: %x", (unsigned)bits_of(z[k]));
  }
}

/* Every function, with the pointers of arrays as bits of which: 1 there, 0 NULL. */
enum { FUNCTIONS = 20 };
static int64_t classes_of_rows[N];
static int32_t narrow_classes[N];
static mpnum_status call_with(int function, unsigned which, size_t rows, size_t columns) {
  void *const a = which & 1 ? x : NULL, *const b = which & 2 ? y : NULL,
              *const c = which & 4 ? z : NULL;
  const mpnum_matrix first = to_rows((float *)a, rows, columns);
  const mpnum_matrix codes = mpnum_matrix_of(MPNUM_TYPE_E4M3, a, rows, columns);
  const mpnum_const_matrix second = of_rows((const float *)b, rows, columns);
  const mpnum_const_matrix third = of_rows((const float *)c, rows, columns);
  mpnum_cross_entropy_options reduced = mpnum_cross_entropy_default();
  mpnum_contrastive_options pairs = mpnum_contrastive_default();
  mpnum_norm_gradients to = mpnum_norm_gradients_empty();
  mpnum_exact_sum total = mpnum_exact_sum_empty();
  reduced.reduction = MPNUM_REDUCTION_SUM;
  pairs.scratch = scratch;
  to.input = first;
  if (!a) to.weight = other_loss;
  switch (function) {
  case 0: return mpnum_softmax_rows(first, second, NULL, NULL);
  case 1: return mpnum_log_softmax_rows(first, second, NULL, NULL);
  case 2: return mpnum_logsumexp_rows((float *)a, second, NULL, NULL);
  case 3: return mpnum_softmax_backward_rows(first, second, third, NULL);
  case 4: return mpnum_log_softmax_backward_rows(first, second, third, NULL);
  case 5:
    return mpnum_cross_entropy_rows((float *)a, mpnum_matrix_empty(), second,
                                    c ? classes_of_rows : NULL, NULL, NULL);
  case 6:
    return mpnum_cross_entropy_rows_i32((float *)a, mpnum_matrix_empty(), second,
                                        c ? narrow_classes : NULL, &reduced, NULL);
  case 7:
    return mpnum_soft_cross_entropy_rows((float *)a, mpnum_matrix_empty(), second, third,
                                         NULL, NULL);
  case 8:
    return mpnum_contrastive_loss(loss, other_loss, mpnum_matrix_empty(), second, &pairs);
  case 9:
    return mpnum_contrastive_loss_of_embeddings(
        (float *)a, mpnum_matrix_empty(), mpnum_matrix_empty(), second, third, &pairs);
  case 10: return mpnum_layer_norm_rows(first, second, NULL, NULL, 1);
  case 11: return mpnum_rms_norm_rows(first, second, NULL, 1);
  case 12: return mpnum_l2_normalize_rows(first, second, 1);
  case 13: return mpnum_normalize_rows(MPNUM_NORM_RMS, first, second, NULL);
  case 14: return mpnum_normalize_backward_rows(MPNUM_NORM_RMS, to, second, third, NULL);
  case 15:
    return mpnum_normalize_quantize_rows(MPNUM_NORM_RMS, codes, second, NULL, 1, NULL);
  case 16: return mpnum_activation_rows(MPNUM_ACTIVATION_SILU, first, second, NULL);
  case 17:
    return mpnum_activation_quantize_rows(MPNUM_ACTIVATION_SILU, codes, second, NULL, 1,
                                          NULL);
  case 18: return mpnum_hadamard_rows(first, second, 16, 0);
  default: return mpnum_exact_sum_add(&total, MPNUM_TYPE_F32, b, rows * columns);
  }
}
static unsigned pointers_of(int function) { /* that have to be there */
  if (function == 3 || function == 4 || function == 5 || function == 6 || function == 7 ||
      function == 9)
    return 7;
  if (function == 8 || function == 19) return 2;
  return function == 14 ? 6 : 3;
}
static void null_is_refused_where_there_are_elements(void) {
  for (int function = 0; function < FUNCTIONS; ++function)
    for (unsigned which = 0; which < 8; ++which) {
      const unsigned needed = pointers_of(function);
      const size_t rows = function == 8 ? 16 : 2;
      const int is_there = (which & needed) == needed;
      fill(x, 64), fill(y, 256), fill(z, 64);
      for (int i = 0; i < 64; ++i) /* shares */
        z[i] = z[i] < 0 ? -z[i] : z[i];
      CHECK(call_with(function, which, rows, 16) ==
                (is_there ? MPNUM_OK : MPNUM_ERROR_NULL),
            "function %d, pointers %u: %d", function, which,
            (int)call_with(function, which, rows, 16));
    }
}
static void nothing_is_read_where_there_are_no_elements(void) {
  for (int function = 0; function < FUNCTIONS; ++function)
    for (unsigned which = 0; which < 8; ++which)
      for (int shape = 0; shape < 3; ++shape) {
        const size_t rows = shape == 1 && function != 8 ? 3 : 0;
        const size_t columns = shape == 2 && function != 8 ? 16 : 0;
        mpnum_status status = MPNUM_OK;
        memset(classes_of_rows, 0xff, sizeof classes_of_rows); /* with columns of none */
        if ((function == 5 || function == 6) && rows && (which & 4)) continue;
        x[0] = 42;
        status = call_with(function, which, rows, columns);
        CHECK(status == MPNUM_OK, "function %d, pointers %u, %zu x %zu: %d", function,
              which, rows, columns, (int)status);
      }
  memset(classes_of_rows, 0, sizeof classes_of_rows);
}
static void null_arrays_of_conversions_are_refused(void) {
  const mpnum_format e4m3 = mpnum_format_of(MPNUM_TYPE_E4M3);
  mpnum_exact_sum total = mpnum_exact_sum_empty();
  x[0] = y[0] = 1;
  for (int i = 0; i < 3; ++i) { /* which is NULL; all, of none */
    void *const to = i == 0 || i == 2 ? NULL : x;
    const void *const from = i == 1 || i == 2 ? NULL : y;
    const size_t n = i == 2 ? 0 : 1;
    const mpnum_status want = i == 2 ? MPNUM_OK : MPNUM_ERROR_NULL;
    for (int type = MPNUM_TYPE_F64; type <= MPNUM_TYPE_E2M1; ++type)
      CHECK(mpnum_convert_array((mpnum_type)type, to, MPNUM_TYPE_F32, from, n,
                                MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0, 0) == want,
            "type %d", type);
    CHECK(
        mpnum_convert_array_formats(e4m3, to, e4m3, from, n, MPNUM_ROUND_UP,
                                    MPNUM_OVERFLOW_IEEE, 0, 0) == want &&
            mpnum_convert_array_2d(MPNUM_TYPE_E4M3, to, 1, MPNUM_TYPE_F32, from, 1, n, 1,
                                   MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0, 0) == want &&
            mpnum_convert_array_2d(MPNUM_TYPE_E4M3, to, 1, MPNUM_TYPE_F32, from, 1, 1, n,
                                   MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0, 0) == want &&
            mpnum_round_array((float *)to, (const float *)from, n, e4m3, MPNUM_ROUND_UP,
                              MPNUM_OVERFLOW_IEEE, 0, 0) == want,
        "way %d", i);
    CHECK(mpnum_exact_sum_add_products(&total, MPNUM_TYPE_F32, to, from, n) == want,
          "products %d", i);
  }
}

/* `= {0}` is C's habit. */
static void all_zeros_are_refused_or_the_defaults(void) {
  mpnum_softmax_options softmax;
  mpnum_cross_entropy_options losses;
  mpnum_contrastive_options pairs;
  mpnum_activation_options activation;
  mpnum_normalize_options norm, plain = mpnum_normalize_default();
  mpnum_norm_gradients gradients;
  memset(&softmax, 0, sizeof softmax);
  memset(&losses, 0, sizeof losses);
  memset(&pairs, 0, sizeof pairs);
  memset(&activation, 0, sizeof activation);
  memset(&norm, 0, sizeof norm);
  memset(&gradients, 0, sizeof gradients);
  fill(x, 64), fill(z, 64);
  for (int i = 0; i < 64; ++i)
    y[i] = loss[i] = 42;
  CHECK(mpnum_softmax_rows(to_rows(y, 4, 16), of_rows(x, 4, 16), &softmax, NULL) ==
                MPNUM_ERROR_ARGUMENT &&
            mpnum_log_softmax_rows(to_rows(y, 4, 16), of_rows(x, 4, 16), &softmax,
                                   NULL) == MPNUM_ERROR_ARGUMENT &&
            mpnum_logsumexp_rows(y, of_rows(x, 4, 16), &softmax, NULL) ==
                MPNUM_ERROR_ARGUMENT &&
            mpnum_softmax_backward_rows(to_rows(y, 4, 16), of_rows(x, 4, 16),
                                        of_rows(z, 4, 16),
                                        &softmax) == MPNUM_ERROR_ARGUMENT &&
            mpnum_log_softmax_backward_rows(to_rows(y, 4, 16), of_rows(x, 4, 16),
                                            of_rows(z, 4, 16),
                                            &softmax) == MPNUM_ERROR_ARGUMENT,
        "softmax");
  CHECK(mpnum_cross_entropy_rows(loss, to_rows(y, 4, 16), of_rows(x, 4, 16),
                                 classes_of_rows, &losses,
                                 NULL) == MPNUM_ERROR_ARGUMENT &&
            mpnum_soft_cross_entropy_rows(loss, to_rows(y, 4, 16), of_rows(x, 4, 16),
                                          of_rows(w, 4, 16), &losses,
                                          NULL) == MPNUM_ERROR_ARGUMENT &&
            mpnum_contrastive_loss(loss, NULL, to_rows(y, 8, 8), of_rows(x, 8, 8),
                                   &pairs) == MPNUM_ERROR_ARGUMENT &&
            mpnum_contrastive_loss_of_embeddings(
                loss, mpnum_matrix_empty(), mpnum_matrix_empty(), of_rows(x, 4, 16),
                of_rows(z, 4, 16), &pairs) == MPNUM_ERROR_ARGUMENT,
        "losses");
  for (int i = 0; i < 64; ++i)
    CHECK(y[i] > 41 && loss[i] > 41, "%d was written", i);
  must(mpnum_activation_rows(MPNUM_ACTIVATION_SILU, to_rows(y, 4, 16), of_rows(x, 4, 16),
                             &activation));
  must(mpnum_activation_rows(MPNUM_ACTIVATION_SILU, to_rows(z, 4, 16), of_rows(x, 4, 16),
                             NULL));
  CHECK(memcmp(y, z, 64 * sizeof *y) == 0, "activation: the default");
  plain.epsilon = 0;
  must(mpnum_normalize_rows(MPNUM_NORM_RMS, to_rows(y, 4, 16), of_rows(x, 4, 16), &norm));
  must(
      mpnum_normalize_rows(MPNUM_NORM_RMS, to_rows(z, 4, 16), of_rows(x, 4, 16), &plain));
  CHECK(memcmp(y, z, 64 * sizeof *y) == 0, "norm: an epsilon of 0, no weight");
  CHECK(mpnum_normalize_backward_rows(MPNUM_NORM_RMS, gradients, of_rows(x, 4, 16),
                                      of_rows(x, 4, 16), &norm) == MPNUM_OK,
        "gradients: none is wanted");
}

/* Rows of 16 from one float on, or from one byte before and behind where it may be. */
static void memory_that_overlaps_is_refused(void) {
  static float room[256];
  const mpnum_status bad = MPNUM_ERROR_OVERLAP;
  mpnum_cross_entropy_options adding = mpnum_cross_entropy_default();
  mpnum_contrastive_options pairs = mpnum_contrastive_default();
  mpnum_activation_options activation = mpnum_activation_default();
  mpnum_normalize_options norm = mpnum_normalize_default();
  mpnum_norm_gradients to = mpnum_norm_gradients_empty();
  adding.softmax.flags = MPNUM_SOFTMAX_ACCUMULATE;
  pairs.scratch = scratch;
  for (int i = 0; i < 256; ++i)
    room[i] = 0.25f;
#define A             of_rows(room + 64, 4, 16)
#define B             of_rows(room + 160, 4, 16)
#define REFUSES(call) CHECK((call) == bad, "%d: " #call, at)
  for (int k = 0; k < 4; ++k) {
    static const int steps[] = {1, -1, 63, -63};
    const int at = steps[k];
    float *const near = room + 64 + at;
    const mpnum_matrix over = to_rows(near, 4, 16);
    const mpnum_matrix codes = mpnum_matrix_of(
        MPNUM_TYPE_E4M3, k < 2 ? (uint8_t *)(room + 64) + 4 * k : (uint8_t *)(room + 127),
        4, 16);
    REFUSES(mpnum_softmax_rows(over, A, NULL, NULL));
    REFUSES(mpnum_log_softmax_rows(over, A, NULL, NULL));
    REFUSES(mpnum_softmax_backward_rows(over, A, B, NULL));
    REFUSES(mpnum_softmax_backward_rows(over, B, A, NULL));
    REFUSES(mpnum_log_softmax_backward_rows(over, B, A, NULL));
    REFUSES(mpnum_cross_entropy_rows(loss, over, A, classes_of_rows, NULL, NULL));
    REFUSES(mpnum_soft_cross_entropy_rows(loss, over, B, A, NULL, NULL));
    REFUSES(mpnum_layer_norm_rows(over, A, NULL, NULL, 1));
    REFUSES(mpnum_rms_norm_rows(over, A, NULL, 1));
    REFUSES(mpnum_l2_normalize_rows(over, A, 1));
    norm = mpnum_normalize_default();
    norm.residual = A;
    REFUSES(mpnum_normalize_rows(MPNUM_NORM_RMS, over, B, &norm));
    norm.sum = over;
    REFUSES(mpnum_normalize_rows(MPNUM_NORM_RMS, to_rows(y, 4, 16), B, &norm));
    norm.residual = of_rows(x, 4, 16);
    REFUSES(mpnum_normalize_rows(MPNUM_NORM_RMS, to_rows(y, 4, 16), A, &norm));
    norm.sum = to_rows(room + 64, 4, 16);
    REFUSES(mpnum_normalize_rows(MPNUM_NORM_RMS, over, B, &norm));
    REFUSES(mpnum_normalize_quantize_rows(MPNUM_NORM_RMS, codes, B, &norm, 1, NULL));
    REFUSES(mpnum_normalize_quantize_rows(MPNUM_NORM_RMS, codes, A, NULL, 1, NULL));
    to.input = over;
    REFUSES(mpnum_normalize_backward_rows(MPNUM_NORM_RMS, to, A, B, NULL));
    REFUSES(mpnum_normalize_backward_rows(MPNUM_NORM_RMS, to, B, A, NULL));
    to.input = to_rows(room + 64, 4, 16);
    to.weight = k % 2 ? room + 64 - 15 : room + 127;
    REFUSES(mpnum_normalize_backward_rows(MPNUM_NORM_RMS, to, B, B, NULL));
    to.input = mpnum_matrix_empty();
    REFUSES(mpnum_normalize_backward_rows(MPNUM_NORM_RMS, to, A, B, NULL));
    to.weight = NULL;
    REFUSES(mpnum_activation_rows(MPNUM_ACTIVATION_SILU, over, A, NULL));
    activation.factor = A;
    REFUSES(mpnum_activation_rows(MPNUM_ACTIVATION_SILU, over, B, &activation));
    REFUSES(mpnum_activation_quantize_rows(MPNUM_ACTIVATION_SILU, codes, B, &activation,
                                           1, NULL));
    REFUSES(
        mpnum_activation_quantize_rows(MPNUM_ACTIVATION_SILU, codes, A, NULL, 1, NULL));
    REFUSES(mpnum_hadamard_rows(over, A, 16, 0));
    REFUSES(mpnum_contrastive_loss(loss, NULL, to_rows(near, 8, 8),
                                   of_rows(room + 64, 8, 8), NULL));
    REFUSES(mpnum_contrastive_loss_of_embeddings(loss, over, mpnum_matrix_empty(), A, B,
                                                 &pairs));
    REFUSES(mpnum_contrastive_loss_of_embeddings(loss, over, to_rows(room + 64, 4, 16), B,
                                                 B, &pairs));
  }
  for (int k = 0; k < 2; ++k) { /* 4 results a call, 8 of pairs */
    const int at = k;
    float *const over = k ? room + 61 : room + 127;
    REFUSES(mpnum_logsumexp_rows(over, A, NULL, NULL));
    REFUSES(mpnum_cross_entropy_rows(over, mpnum_matrix_empty(), A, classes_of_rows, NULL,
                                     NULL));
    REFUSES(mpnum_cross_entropy_rows(over, to_rows(room + 64, 4, 16), B, classes_of_rows,
                                     NULL, NULL));
    REFUSES(mpnum_soft_cross_entropy_rows(over, mpnum_matrix_empty(), B, A, NULL, NULL));
    REFUSES(mpnum_contrastive_loss(over, NULL, mpnum_matrix_empty(),
                                   of_rows(room + 64, 8, 8), NULL));
    REFUSES(mpnum_contrastive_loss(NULL, over, mpnum_matrix_empty(),
                                   of_rows(room + 64, 8, 8), NULL));
    REFUSES(mpnum_contrastive_loss(over, NULL, to_rows(room + 64, 8, 8),
                                   of_rows(room + 160, 8, 8), NULL));
    REFUSES(mpnum_contrastive_loss(loss, loss + 7 * k, mpnum_matrix_empty(),
                                   of_rows(room + 160, 8, 8), NULL));
    REFUSES(mpnum_contrastive_loss_of_embeddings(over, mpnum_matrix_empty(),
                                                 mpnum_matrix_empty(), B, A, NULL));
    REFUSES(mpnum_cross_entropy_rows(loss, to_rows(room + 64, 4, 16), A, classes_of_rows,
                                     &adding, NULL));
  }
  for (int i = 0; i < 256; ++i)
    CHECK(bits_of(room[i]) == 0x3e800000u, "%d was written", i);
  /* One behind the other, and rows between rows. */
  must(mpnum_softmax_rows(to_rows(room + 128, 2, 16), of_rows(room + 96, 2, 16), NULL,
                          NULL));
  must(mpnum_softmax_rows(dst_rows(MPNUM_TYPE_F32, room + 16, 4, 16, 32),
                          src_rows(MPNUM_TYPE_F32, room, 4, 16, 32), NULL, NULL));
#undef A
#undef B
#undef REFUSES
}

/* x - max is below all floats, which an exponent of what is masked is, too. */
static void a_target_far_below_the_others_is_not_masked(void) {
  const float logits[2] = {-3e38f, 3e38f};
  const int64_t target = 0;
  const float want[2] = {-1, 1};
  for (int flags = 0; flags < 2; ++flags) {
    mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
    float of_row = 0, gradient[2] = {7, 7};
    options.softmax.flags = flags; /* 1: MPNUM_SOFTMAX_MASKED */
    must(mpnum_cross_entropy_rows(&of_row, to_rows(gradient, 1, 2), of_rows(logits, 1, 2),
                                  &target, &options, NULL));
    CHECK(gradient[0] == want[0] && gradient[1] == want[1], "%d: %a %a", flags,
          (double)gradient[0], (double)gradient[1]);
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(stored_sums_have_one_nan);
  RUN_FOR_EACH_ISA(activations_have_one_nan);
  RUN_FOR_EACH_ISA(gradients_have_one_nan);
  RUN_FOR_EACH_ISA(what_is_masked_has_gradient_0_in_rows_of_nan);
  RUN_FOR_EACH_ISA(contrastive_rows_are_cross_entropy_in_rows_of_nan);
  RUN_FOR_EACH_ISA(backward_of_nan_and_inf_is_what_is_said);
  RUN_FOR_EACH_ISA(a_target_far_below_the_others_is_not_masked);
  TAP_RUN(null_is_refused_where_there_are_elements);
  TAP_RUN(nothing_is_read_where_there_are_no_elements);
  TAP_RUN(null_arrays_of_conversions_are_refused);
  TAP_RUN(all_zeros_are_refused_or_the_defaults);
  TAP_RUN(memory_that_overlaps_is_refused);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* Rules that all functions of rows share: NaN that is stored is the canonical one, what
 * is masked has gradient 0 whatever the row, options that mean nothing are refused. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/mpnum.h>

enum { ROWS = 3, MOST = 2100, N = 70 };
static float x[ROWS * MOST], y[ROWS * MOST], z[ROWS * MOST], w[ROWS * MOST], loss[N],
    other_loss[N], scratch[4 * N];
static uint8_t bytes[ROWS * MOST * 4], sums[ROWS * MOST * 4];

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

static int64_t classes_of_rows[N];

/* What no draw of the laws has: kinds beyond the last, products that overflow, numbers of
 * options that are NaN. */
static void numbers_and_kinds_that_are_none_are_refused(void) {
  const mpnum_norm_kind no_norm = (mpnum_norm_kind)3;
  const mpnum_matrix dst = to_rows(y, 4, 4);
  const mpnum_matrix codes = mpnum_matrix_of(MPNUM_TYPE_E4M3, y, 4, 4);
  const mpnum_const_matrix src = of_rows(x, 4, 4);
  mpnum_norm_gradients gradients = mpnum_norm_gradients_empty();
  gradients.input = dst;
  fill(x, 16);
  for (int i = 0; i < 64; ++i)
    y[i] = loss[i] = 42;
#define REFUSES(call) CHECK((call) == MPNUM_ERROR_ARGUMENT, #call)
  REFUSES(mpnum_normalize_rows(no_norm, dst, src, NULL));
  REFUSES(mpnum_normalize_quantize_rows(no_norm, codes, src, NULL, 1, NULL));
  REFUSES(mpnum_normalize_backward_rows(no_norm, gradients, src, src, NULL));
  REFUSES(mpnum_activation_rows((mpnum_activation)5, dst, src, NULL));
  for (int i = 0; i < 3; ++i) {
    mpnum_cross_entropy_options losses = mpnum_cross_entropy_default();
    mpnum_contrastive_options pairs = mpnum_contrastive_default();
    if (i == 0) losses.factor = losses.softmax.scale = pairs.factor = pairs.scale = 1e30f;
    if (i == 1) losses.label_smoothing = pairs.factor = special(0x7fc00000u);
    if (i == 2) losses.softmax.flags = 8, pairs.flags = MPNUM_SOFTMAX_LIMIT;
    REFUSES(mpnum_cross_entropy_rows(loss, dst, src, classes_of_rows, &losses, NULL));
    REFUSES(mpnum_contrastive_loss(loss, NULL, dst, src, &pairs));
  }
#undef REFUSES
  for (int i = 0; i < 64; ++i)
    CHECK(y[i] > 41 && loss[i] > 41, "%d was written", i);
}

/* `= {0}` is C's habit. */
static void all_zeros_of_activations_and_norms_are_the_defaults(void) {
  mpnum_activation_options activation;
  mpnum_normalize_options norm, plain = mpnum_normalize_default();
  mpnum_norm_gradients gradients;
  memset(&activation, 0, sizeof activation);
  memset(&norm, 0, sizeof norm);
  memset(&gradients, 0, sizeof gradients);
  fill(x, 64);
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
  RUN_FOR_EACH_ISA(backward_of_nan_and_inf_is_what_is_said);
  RUN_FOR_EACH_ISA(a_target_far_below_the_others_is_not_masked);
  TAP_RUN(numbers_and_kinds_that_are_none_are_refused);
  TAP_RUN(all_zeros_of_activations_and_norms_are_the_defaults);
  return tap_done();
}

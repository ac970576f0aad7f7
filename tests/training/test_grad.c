/* SPDX-License-Identifier: MIT */
/* The pass over gradients: each result against products rounded by the slow reference,
 * what it finds against plain loops over the results, and the loss scaler's calls. */
#include "../array/array_checks.h"
#include "../harness/must.h"
#include "../harness/control_word.h"
#include "../harness/linked.h"

#include <mpnum/array/array.h>
#include <mpnum/training/grad.h>

#include <float.h>
#include <math.h>

mpnum_status force_isa(mpnum_isa isa) { return force_all_isa(isa); }
mpnum_isa isa_in_use(void) { return mpnum_isa_in_use(); }

enum { MOST = 9000, TYPES = 6 };
static const mpnum_type types[TYPES] = {MPNUM_TYPE_F32,  MPNUM_TYPE_BF16, MPNUM_TYPE_F16,
                                        MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3, MPNUM_TYPE_F64};
static uint8_t source[8 * MOST], result[8 * MOST], other[8 * MOST];

static int bits_of(mpnum_type type) {
  return type == MPNUM_TYPE_F64                              ? 64
         : type == MPNUM_TYPE_F32                            ? 32
         : type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16 ? 16
                                                             : 8;
}
/* The value of an element, and an element of a value, as bits of a double. */
static uint64_t value_of(mpnum_type type, uint64_t element) {
  if (type == MPNUM_TYPE_F64) return element;
  if (type == MPNUM_TYPE_F32) return ref_widen((uint32_t)element);
  return ref_decode(ref_format_named(mpnum_type_name(type)), (uint32_t)element);
}
static uint64_t rounded(mpnum_type type, uint64_t value) {
  if (type == MPNUM_TYPE_F64) return value;
  if (type == MPNUM_TYPE_F32) return mpnum_bits_f32((float)mpnum_from_bits_f64(value));
  return ref_encode(ref_format_named(mpnum_type_name(type)), value, REF_NEAREST_EVEN,
                    REF_IEEE, 0);
}
static uint64_t wanted(mpnum_type src, uint64_t element, float factor, mpnum_type dst) {
  const double x = mpnum_from_bits_f64(value_of(src, element));
  const uint64_t product = mpnum_bits_f64(x * (double)factor);
  const int is_wide = src == MPNUM_TYPE_F64;
  return rounded(dst, is_wide
                          ? product
                          : value_of(MPNUM_TYPE_F32, rounded(MPNUM_TYPE_F32, product)));
}
static int is_nan_of(mpnum_type type, uint64_t element) {
  return (value_of(type, element) & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff) << 52;
}

/* Any elements, most of ordinary size; some without Inf and NaN. */
static void fill(mpnum_type type, size_t n, int is_finite) {
  static uint64_t state = 7;
  const int bits = bits_of(type);
  for (size_t i = 0; i < n; ++i) {
    uint64_t element = random_bits(&state) >> (64 - bits);
    if (bits >= 32 && random_bits(&state) % 8 != 0)
      element =
          rounded(type, mpnum_bits_f64(ldexp((double)(int64_t)random_bits(&state),
                                             -70 + (int)(random_bits(&state) % 16))));
    if (is_finite && (value_of(type, element) >> 52 & 0x7ff) == 0x7ff) element = 0;
    set_element(bits, source, i, element);
  }
}

/* Plain loops over results. */
static void check_findings(const mpnum_grad_findings *got, mpnum_type type,
                           const void *array, size_t n, const char *what) {
  mpnum_stats want = mpnum_stats_empty();
  uint64_t first = UINT64_MAX;
  long double squares = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t value = value_of(type, get_element(bits_of(type), array, i));
    const uint64_t bits = rounded(MPNUM_TYPE_F32, value);
    const long double x = (long double)mpnum_from_bits_f32((uint32_t)bits);
    want = mpnum_stats_add(want, mpnum_format_of(MPNUM_TYPE_F32), (uint32_t)bits);
    squares += x * x;
    if ((bits & 0x7fffffffu) >= 0x7f800000u && first == UINT64_MAX) first = i;
  }
  CHECK(memcmp(&got->stats, &want, sizeof want) == 0, "%s: statistics", what);
  CHECK(got->first_element == first &&
            got->first_tensor == (first == UINT64_MAX ? first : 0),
        "%s: first Inf or NaN at %" PRIu64 ", want %" PRIu64, what, got->first_element,
        first);
  CHECK(mpnum_grad_found_inf(got) == (first != UINT64_MAX), "%s: found", what);
  const double norm = (double)mpnum_grad_norm(got), root = (double)sqrtl(squares);
  if (first == UINT64_MAX)
    CHECK((root > (double)FLT_MAX && norm > (double)FLT_MAX) ||
              fabs(norm - root) <= 0x1p-23 * root + 0x1p-149,
          "%s: norm %a, want %a", what, norm, root);
}

static const float factors[] = {1, 0x1p-16f, 0x1p16f, 0.3f, -3.0f, 0x1p-126f, 0x1.8p127f};
enum { FACTORS = sizeof factors / sizeof factors[0] };

/* TEST_EVERY=N takes each N-th combination, for emulators. */
#ifndef TEST_EVERY
# define TEST_EVERY 1
#endif
static void results_are_products_rounded(void) {
  for (int from = 0; from < TYPES; ++from)
    for (int to = 0; to < TYPES; ++to)
      for (int k = (from + to) % TEST_EVERY; k < FACTORS; k += TEST_EVERY) {
        const mpnum_type src = types[from], dst = types[to];
        const size_t n = k % 2 ? 3001 : 64 + (size_t)k;
        const mpnum_grad_tensor tensor =
            mpnum_grad_tensor_of(src, source + k, n, dst, result + 2 * k + 1);
        mpnum_grad_findings findings;
        char what[80];
        snprintf(what, sizeof what, "%s to %s by %a", mpnum_type_name(src),
                 mpnum_type_name(dst), (double)factors[k]);
        fill(src, MOST, k % 3 == 0);
        memmove(source + k, source, 8 * (MOST - 1)); /* unaligned */
        memset(result, 0x55, sizeof result);
        CHECK(mpnum_grad_multiply(&tensor, 1, factors[k], MPNUM_GRAD_NARROW, &findings) ==
                  MPNUM_OK,
              "%s", what);
        for (size_t i = 0; i < n; ++i) {
          const uint64_t x = get_element(bits_of(src), source + k, i);
          const uint64_t got = get_element(bits_of(dst), result + 2 * k + 1, i);
          const uint64_t want = wanted(src, x, factors[k], dst);
          CHECK(got == want || (is_nan_of(dst, got) && is_nan_of(dst, want)),
                "%s: %" PRIx64 ": got %" PRIx64 ", want %" PRIx64, what, x, got, want);
        }
        CHECK(result[2 * k] == 0x55 &&
                  result[(size_t)(2 * k + 1) + (size_t)bits_of(dst) / 8 * n] == 0x55,
              "%s: outside", what);
        check_findings(&findings, dst, result + 2 * k + 1, n, what);
        mpnum_grad_findings read;
        CHECK(mpnum_grad_read(&tensor, 1, factors[k], &read) == MPNUM_OK, "%s", what);
        if (dst == MPNUM_TYPE_F32)
          CHECK(memcmp(&read, &findings, sizeof read) == 0, "%s: only read", what);
      }
}

static mpnum_grad_findings findings_of(const mpnum_grad_tensor *tensors, size_t count,
                                       float factor) {
  mpnum_grad_findings findings = mpnum_grad_findings_empty();
  CHECK(mpnum_grad_multiply(tensors, count, factor, MPNUM_GRAD_NARROW, &findings) ==
            MPNUM_OK,
        "multiply");
  return findings;
}
/* Not so the sum's limbs, which carries move about; what it is is the same. */
static int are_same(mpnum_grad_findings a, mpnum_grad_findings b) {
  return mpnum_bits_f32(mpnum_grad_norm(&a)) == mpnum_bits_f32(mpnum_grad_norm(&b)) &&
         memcmp(&a.stats, &b.stats, sizeof a.stats) == 0 &&
         (a.first_tensor == UINT64_MAX) == (b.first_tensor == UINT64_MAX);
}

static void tensors_of_any_number_and_size(void) {
  enum { COUNT = 1000000 };
  mpnum_grad_tensor *tensors = (mpnum_grad_tensor *)calloc(COUNT, sizeof *tensors);
  float *x = (float *)calloc(COUNT, sizeof *x);
  if (!tensors || !x) abort();
  for (size_t i = 0; i < COUNT; ++i) {
    x[i] = 3;
    tensors[i] =
        mpnum_grad_tensor_of(MPNUM_TYPE_F32, x + i, i % 10 != 0, MPNUM_TYPE_F32, x + i);
  }
  const mpnum_grad_findings findings = findings_of(tensors, COUNT, 2);
  CHECK(findings.stats.count == COUNT / 10 * 9, "%" PRIu64, findings.stats.count);
  CHECK(mpnum_grad_norm(&findings) == (float)(6 * sqrt(900000.0)), "norm");
  CHECK(x[COUNT - 1] == 6 && x[10] == 3, "each once");
  const mpnum_grad_findings none = findings_of(NULL, 0, 2);
  CHECK(none.stats.count == 0 && mpnum_grad_norm(&none) == 0 &&
            !mpnum_grad_found_inf(&none),
        "an empty list");
  free(tensors);
  free(x);
}

/* Past the last cache lines are written without being read, where dst is aligned. */
static void large_results_are_those_of_small_ones(void) {
  const size_t n = 5000001;
  mpnum_f16 *x = (mpnum_f16 *)malloc(n * sizeof *x);
  uint8_t *memory = (uint8_t *)malloc(8 * n + 192);
  if (!x || !memory) abort();
  uint8_t *aligned = memory + (64 - (size_t)memory % 64) % 64;
  uint8_t *unaligned = aligned + 4 * n / 64 * 64 + 68;
  for (size_t i = 0; i < n; ++i)
    x[i].bits = (uint16_t)(i * 40503 % 0x7c00);
  const mpnum_grad_tensor streamed =
      mpnum_grad_tensor_of(MPNUM_TYPE_F16, x, n, MPNUM_TYPE_F32, aligned);
  const mpnum_grad_tensor stored =
      mpnum_grad_tensor_of(MPNUM_TYPE_F16, x, n, MPNUM_TYPE_F32, unaligned);
  CHECK(are_same(findings_of(&streamed, 1, 0.37f), findings_of(&stored, 1, 0.37f)),
        "findings");
  CHECK(memcmp(aligned, unaligned, 4 * n) == 0, "results");
  for (size_t i = 0; i < n; i += 997)
    CHECK(get_element(32, aligned, i) ==
              wanted(MPNUM_TYPE_F16, x[i].bits, 0.37f, MPNUM_TYPE_F32),
          "element %zu", i);
  free(x);
  free(memory);
}

/* Norms neither overflow nor vanish on the way. */
static void norms_reach_the_ends(void) {
  float x[3000];
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 3000, MPNUM_TYPE_F32, NULL);
  for (int i = 0; i < 3000; ++i)
    x[i] = 1e36f;
  mpnum_grad_findings findings = findings_of(&tensor, 1, 1);
  CHECK(fabs((double)mpnum_grad_norm(&findings) / (1e36 * sqrt(3000)) - 1) < 1e-6, "%a",
        (double)mpnum_grad_norm(&findings));
  for (int i = 0; i < 3000; ++i)
    x[i] = 0x1p-149f;
  findings = findings_of(&tensor, 1, 1);
  CHECK(mpnum_grad_norm(&findings) == (float)ldexp(55, -149), "%a",
        (double)mpnum_grad_norm(&findings));
  for (int i = 0; i < 3000; ++i)
    x[i] = FLT_MAX;
  findings = findings_of(&tensor, 1, 1);
  CHECK(!mpnum_grad_found_inf(&findings) && mpnum_grad_norm(&findings) > FLT_MAX,
        "finite gradients with an infinite norm");
}

static void refused(mpnum_grad_tensor tensor, float factor, uint32_t flags,
                    mpnum_status want, const char *what) {
  mpnum_grad_findings findings = mpnum_grad_findings_empty();
  mpnum_grad_tensor list[2];
  findings.stats.count = 77;
  list[0] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, source, 16, MPNUM_TYPE_F32, result);
  list[1] = tensor;
  memset(result, 0x55, 256);
  const mpnum_status status = mpnum_grad_multiply(list, 2, factor, flags, &findings);
  CHECK(status == want, "%s: %s", what, mpnum_status_string(status));
  for (int i = 0; i < 256; ++i)
    CHECK(result[i] == 0x55, "%s: something is written", what);
  CHECK(findings.stats.count == 77, "%s: findings", what);
}
static void other_arguments_are_refused(void) {
  mpnum_grad_tensor usual =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, source, 16, MPNUM_TYPE_F32, result + 64);
  mpnum_grad_tensor t = usual;
  refused(usual, INFINITY, 0, MPNUM_ERROR_ARGUMENT, "factor Inf");
  refused(usual, -NAN, 0, MPNUM_ERROR_ARGUMENT, "factor NaN");
  refused(usual, 1, 2, MPNUM_ERROR_ARGUMENT, "a flag");
  t.src_type = MPNUM_TYPE_E2M1;
  refused(t, 1, 0, MPNUM_ERROR_TYPE, "from e2m1");
  t = usual;
  t.dst_type = MPNUM_TYPE_TF32;
  refused(t, 1, 0, MPNUM_ERROR_TYPE, "to tf32");
  t = usual;
  t.dst_type = MPNUM_TYPE_F16;
  refused(t, 1, 0, MPNUM_ERROR_NARROW, "to f16 without the flag");
  t = usual;
  t.rows = 2;
  t.dst_stride = 15;
  refused(t, 1, 0, MPNUM_ERROR_STRIDE, "rows over each other");
  t.rows = 1;
  refused(t, 1, 0, MPNUM_ERROR_STRIDE, "a row longer than its stride");
  t = usual;
  t.src = t.dst;
  t.dst_type = MPNUM_TYPE_BF16;
  refused(t, 1, 0, MPNUM_ERROR_OVERLAP, "in place of two sizes");
  t = usual;
  t.src = t.dst;
  t.rows = 2;
  t.src_stride = 20;
  refused(t, 1, 0, MPNUM_ERROR_OVERLAP, "in place with two strides");
  t = usual;
  t.src = NULL;
  refused(t, 1, 0, MPNUM_ERROR_NULL, "no src");
  t.dst = NULL;
  refused(t, 1, 0, MPNUM_ERROR_NULL, "neither src nor dst");
  t = usual;
  mpnum_histogram histogram = mpnum_histogram_empty();
  t.histogram = &histogram;
  t.histogram_step = 0;
  refused(t, 1, 0, MPNUM_ERROR_ARGUMENT, "histogram_step 0");
  CHECK(mpnum_grad_multiply(NULL, 1, 1, 0, NULL) == MPNUM_ERROR_NULL &&
            mpnum_grad_read(NULL, 1, 1, NULL) == MPNUM_ERROR_NULL,
        "no tensors where there is one");
}

static mpnum_grad_scaler scaler_of(float scale) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  mpnum_grad_scaler scaler;
  config.init_scale = scale;
  CHECK(mpnum_grad_scaler_init(&scaler, config) == MPNUM_OK, "init");
  return scaler;
}
/* Checked before it is divided, this gradient would be applied as Inf. */
static void what_overflows_when_unscaled_is_found(void) {
  const mpnum_grad_scaler scaler = scaler_of(0.25f);
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  float x[4] = {1, FLT_MAX / 2, 3, 4};
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 4, MPNUM_TYPE_F32, x);
  mpnum_grad_findings findings;
  CHECK(mpnum_grad_scaler_check(&scaler, &optimizer, &tensor, 1, &findings) == MPNUM_OK &&
            optimizer.found_inf == 1 && x[0] == 1,
        "check");
  optimizer = mpnum_grad_optimizer_of(&scaler);
  CHECK(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, 0, &findings) ==
                MPNUM_OK &&
            optimizer.found_inf == 1 && findings.first_element == 1 && x[0] == 4,
        "unscale");
}
static void narrow_results_lose_what_is_small(void) {
  const mpnum_grad_scaler scaler = scaler_of(65536);
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_f16 x[1] = {mpnum_f32_to_f16(0x1p-10f)};
  float y[1] = {0};
  mpnum_grad_findings findings;
  mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F16, x, 1, MPNUM_TYPE_F32, y);
  must(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, 0, &findings));
  CHECK(y[0] == 0x1p-26f, "f16 to f32: %a", (double)y[0]);
  optimizer = mpnum_grad_optimizer_of(&scaler);
  tensor = mpnum_grad_tensor_of(MPNUM_TYPE_F16, x, 1, MPNUM_TYPE_F16, x);
  CHECK(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, 0, &findings) ==
                MPNUM_ERROR_NARROW &&
            optimizer.stage == MPNUM_GRAD_READY,
        "f16 in place unasked");
  CHECK(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, MPNUM_GRAD_NARROW,
                                  &findings) == MPNUM_OK &&
            x[0].bits == 0 && findings.stats.zeros == 1,
        "f16 in place");
}
static void clipping_follows_unscaling(void) {
  const mpnum_grad_scaler scaler = scaler_of(1024);
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  float x[3] = {3 * 1024, 0, 4 * 1024};
  mpnum_bf16 y[1] = {mpnum_f32_to_bf16(12 * 1024)};
  const mpnum_grad_tensor tensors[2] = {
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 3, MPNUM_TYPE_F32, x),
      mpnum_grad_tensor_of(MPNUM_TYPE_BF16, y, 1, MPNUM_TYPE_BF16, y)};
  mpnum_grad_tensor unwritten = tensors[0];
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, tensors, 2, 1) ==
                MPNUM_ERROR_STILL_SCALED &&
            x[0] == 3072,
        "before unscaling");
  unwritten.dst = NULL;
  CHECK(mpnum_grad_scaler_unscale(&scaler, &optimizer, &unwritten, 1, 0, NULL) ==
                MPNUM_ERROR_NULL &&
            optimizer.stage == MPNUM_GRAD_READY,
        "unscaled to nowhere");
  CHECK(mpnum_grad_scaler_unscale(&scaler, &optimizer, tensors, 2, 0, NULL) == MPNUM_OK &&
            optimizer.norm == 13 && x[0] == 3 && mpnum_bf16_to_f32(y[0]) == 12,
        "norm %a", (double)optimizer.norm);
  CHECK(mpnum_grad_scaler_unscale(&scaler, &optimizer, tensors, 2, 0, NULL) ==
                MPNUM_ERROR_ALREADY_UNSCALED &&
            x[0] == 3,
        "twice");
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, tensors, 2, 26) == MPNUM_OK &&
            x[0] == 3,
        "below max_norm");
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, tensors, 2, 0) ==
                MPNUM_ERROR_ARGUMENT &&
            x[0] == 3,
        "max_norm 0");
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, tensors, 2, NAN) ==
                MPNUM_ERROR_ARGUMENT &&
            x[0] == 3,
        "max_norm NaN");
  mpnum_grad_optimizer twin = optimizer;
  float rows[8] = {3, 0, 7, 7, 4, 0, 7, 7};
  mpnum_grad_tensor strided =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, NULL, 2, MPNUM_TYPE_F32, rows);
  strided.rows = 2;
  strided.src_stride = 77;
  strided.dst_stride = 4;
  CHECK(mpnum_grad_scaler_clip(&scaler, &twin, &strided, 1, 6.5f) == MPNUM_OK &&
            rows[0] < 1.51f && rows[2] == 7 && fabs((double)rows[4] - 2) < 0.01 &&
            rows[6] == 7,
        "strided");
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, tensors, 2, 6.5f) == MPNUM_OK &&
            x[0] == (float)(3 * (6.5 / 13.000001)) && x[1] == 0 &&
            mpnum_bf16_to_f32(y[0]) == 6,
        "%a", (double)x[0]);
}

/* The norm of values, in long doubles. */
static double norm_of(mpnum_type type, const void *array, size_t n) {
  long double squares = 0;
  for (size_t i = 0; i < n; ++i) {
    const double x =
        mpnum_from_bits_f64(value_of(type, get_element(bits_of(type), array, i)));
    squares += (long double)x * (long double)x;
  }
  return (double)sqrtl(squares);
}
static void clipping_twice_with_one_bound_changes_nothing(void) {
  enum { N = 5000 };
  static const mpnum_type clipped[] = {MPNUM_TYPE_F32, MPNUM_TYPE_BF16, MPNUM_TYPE_F64,
                                       MPNUM_TYPE_F16};
  for (int k = 0; k < 4; ++k) {
    const mpnum_type type = clipped[k];
    const size_t bytes = (size_t)bits_of(type) / 8 * N;
    const mpnum_grad_scaler scaler = scaler_of(1);
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    const mpnum_grad_tensor tensor = mpnum_grad_tensor_of(type, result, N, type, result);
    double norm = 0;
    for (size_t i = 0; i < N; ++i)
      set_element(bits_of(type), result, i,
                  rounded(type, mpnum_bits_f64(0.01 * (double)(i % 97) - 0.3)));
    CHECK(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, MPNUM_GRAD_NARROW,
                                    NULL) == MPNUM_OK,
          "unscale");
    for (int step = 0; step < 3; ++step) {
      static const float bounds[] = {7.3f, 1.1f, 0.037f};
      CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, bounds[step]) ==
                MPNUM_OK,
            "clip");
      norm = norm_of(type, result, N);
      CHECK(fabs(norm / (double)bounds[step] - 1) < 0.005, "%s: to %a, not %a",
            mpnum_type_name(type), norm, (double)bounds[step]);
      CHECK(fabs((double)optimizer.norm / norm - 1) < 1e-7,
            "%s: the handle has %a, the gradients %a", mpnum_type_name(type),
            (double)optimizer.norm, norm);
      memcpy(other, result, bytes);
      for (int again = 0; again < 3; ++again) {
        CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1,
                                     bounds[step] * (again == 2 ? 2 : 1)) == MPNUM_OK,
              "clip once more");
        CHECK(memcmp(other, result, bytes) == 0, "%s: clipped twice to %a",
              mpnum_type_name(type), (double)bounds[step]);
      }
    }
  }
}
/* What they hold is no error, and no work: the verdict tells. */
static void gradients_with_inf_are_not_clipped_and_are_skipped(void) {
  mpnum_grad_scaler scaler = scaler_of(1024);
  for (int k = 0; k < 3; ++k) {
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
    float x[4] = {3 * 1024, FLT_MAX, FLT_MAX, FLT_MAX}, y[4];
    const mpnum_grad_tensor tensor =
        mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 4, MPNUM_TYPE_F32, x);
    x[1] = k == 0 ? INFINITY : k == 1 ? -NAN : FLT_MAX; /* the norm alone overflows */
    if (k == 2) must(mpnum_grad_scaler_set_scale(&scaler, 1));
    mpnum_grad_scaler_discard(&scaler, &optimizer);
    CHECK(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, 0, NULL) == MPNUM_OK,
          "unscale");
    CHECK(optimizer.found_inf == (k < 2), "%d: found", k);
    memcpy(y, x, sizeof x);
    CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, 1) == MPNUM_OK &&
              memcmp(x, y, sizeof x) == 0,
          "%d: clip", k);
    CHECK(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict) == MPNUM_OK &&
              verdict == MPNUM_GRAD_SKIP,
          "%d: verdict", k);
    CHECK(mpnum_grad_scaler_update(&scaler, &optimizer) == MPNUM_OK, "%d: update", k);
  }
}
static void one_call_unscales_clips_and_steps(void) {
  static const float bounds[] = {1, 100, INFINITY};
  for (int k = 0; k < 4; ++k) {
    mpnum_grad_scaler scaler = scaler_of(1024);
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
    mpnum_grad_findings findings;
    float x[2] = {3 * 1024, 4 * 1024};
    const double shrink = k == 0 ? 1 / 5.000001 : 1;
    const mpnum_grad_tensor tensor =
        mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 2, MPNUM_TYPE_F32, x);
    if (k == 3) x[1] = NAN;
    CHECK(mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, &tensor, 1,
                                              bounds[k % 3], 0, k % 2 ? &findings : NULL,
                                              &verdict) == MPNUM_OK,
          "%d: status", k);
    CHECK(verdict == (k == 3 ? MPNUM_GRAD_SKIP : MPNUM_GRAD_APPLY), "%d: verdict", k);
    CHECK(x[0] == (float)(3 * (double)(float)shrink), "%d: %a", k, (double)x[0]);
    if (k % 2) CHECK(findings.stats.count == 2, "%d: findings", k);
    CHECK(mpnum_grad_scaler_update(&scaler, &optimizer) == MPNUM_OK &&
              scaler.overflows == (k == 3) && scaler.applied == (k != 3),
          "%d: update", k);
  }
  mpnum_grad_scaler scaler = scaler_of(1024), scaler_before = scaler;
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  const mpnum_grad_optimizer before = optimizer;
  mpnum_grad_verdict verdict = (mpnum_grad_verdict)7;
  float x[2] = {3, 4};
  mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 2, MPNUM_TYPE_F32, x);
  for (int k = 0; k < 5; ++k) {
    const float bound = k == 0   ? -1.0f
                        : k == 1 ? NAN
                        : k == 2 ? -INFINITY
                        : k == 3 ? 0
                                 : 1;
    if (k == 4) tensor.dst = NULL;
    CHECK(mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, &tensor, 1, bound, 0,
                                              NULL, &verdict) ==
                  (k == 4 ? MPNUM_ERROR_NULL : MPNUM_ERROR_ARGUMENT) &&
              x[0] == 3 && verdict == MPNUM_GRAD_SKIP &&
              memcmp(&optimizer, &before, sizeof before) == 0 &&
              memcmp(&scaler, &scaler_before, sizeof scaler) == 0,
          "refused %d", k);
  }
}

static mpnum_grad_scaler scaler_that_is_off(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  mpnum_grad_scaler scaler;
  config.enabled = 0;
  memset(&scaler, 0, sizeof scaler);
  CHECK(mpnum_grad_scaler_init(&scaler, config) == MPNUM_OK, "init");
  return scaler;
}
static void a_disabled_scaler_clips_too(void) {
  mpnum_grad_scaler scaler = scaler_that_is_off();
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  float x[2] = {3, 4}, before = 0;
  mpnum_grad_tensor tensors[2];
  tensors[0] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 2, MPNUM_TYPE_F32, x);
  tensors[1] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, NULL, 0, MPNUM_TYPE_F32, NULL);
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, tensors, 2, 1) == MPNUM_OK &&
            fabs((double)x[0] - 0.6) < 1e-6 && fabs((double)x[1] - 0.8) < 1e-6,
        "%a %a", (double)x[0], (double)x[1]);
  before = x[0];
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, tensors, 2, 1) == MPNUM_OK &&
            x[0] == before,
        "twice: %a", (double)x[0]);
  x[1] = mpnum_from_bits_f32(0x7f800000u);
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, tensors, 2, 0.1f) == MPNUM_OK &&
            x[0] == before,
        "with Inf");
}
/* With update left out, with and without unscale. */
static void a_disabled_scaler_clips_in_every_step(void) {
  for (int how = 0; how < 4; ++how) {
    mpnum_grad_scaler scaler = scaler_that_is_off();
    mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
    mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
    float x[1];
    const mpnum_grad_tensor tensor =
        mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 1, MPNUM_TYPE_F32, x);
    for (int i = 0; i < 4; ++i) {
      x[0] = 100.0f * (float)(i + 1);
      if (how & 1)
        must(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, 0, NULL));
      CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, 1) == MPNUM_OK &&
                fabs((double)x[0] - 1) < 1e-6,
            "%d, step %d: %a", how, i, (double)x[0]);
      if (how & 2) must(mpnum_grad_scaler_step(&scaler, &optimizer, &verdict));
    }
  }
}
/* What was found in gradients of a step before is not found in those of now. */
static void a_disabled_scaler_clips_after_an_inf(void) {
  mpnum_grad_scaler scaler = scaler_that_is_off();
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  float x[1] = {INFINITY};
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 1, MPNUM_TYPE_F32, x);
  CHECK(mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, &tensor, 1, 1, 0, NULL,
                                            &verdict) == MPNUM_OK &&
            verdict == MPNUM_GRAD_APPLY && mpnum_bits_f32(x[0]) == 0x7f800000u,
        "Inf is applied as it is");
  x[0] = 100;
  CHECK(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, 1) == MPNUM_OK &&
            fabs((double)x[0] - 1) < 1e-6,
        "%a", (double)x[0]);
}
static void findings_merge_in_any_order(void) {
  static const uint32_t found[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc12345u};
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k) {
      mpnum_grad_findings each[2], merged[2];
      for (int rank = 0; rank < 2; ++rank) {
        const float x[3] = {1, 2, mpnum_from_bits_f32(found[rank ? k : i])};
        const mpnum_grad_tensor tensor =
            mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 3, MPNUM_TYPE_F32, NULL);
        CHECK(mpnum_grad_read(&tensor, 1, 1, &each[rank]) == MPNUM_OK, "read");
      }
      merged[0] = mpnum_grad_findings_merge(each[0], each[1]);
      merged[1] = mpnum_grad_findings_merge(each[1], each[0]);
      CHECK(merged[0].first_bits == merged[1].first_bits && merged[0].first_bits != 0 &&
                merged[0].first_element == 2 && merged[1].first_element == 2,
            "%08x and %08x: %" PRIx64 ", %" PRIx64, (unsigned)found[i],
            (unsigned)found[k], merged[0].first_bits, merged[1].first_bits);
    }
}
/* Of f16, bf16 and floats, of either sign, with a payload: one NaN, stored and found. */
static void nans_are_one(void) {
  static const mpnum_type narrow[] = {MPNUM_TYPE_F16, MPNUM_TYPE_BF16, MPNUM_TYPE_F32};
  static const uint32_t nans[3][2] = {
      {0x7c01, 0xfe02}, {0x7f81, 0xffc2}, {0x7f800001, 0xffc00002}};
  for (int k = 0; k < 6; ++k)
    for (size_t n = 1; n < 40; n += 19) {
      uint32_t words[40] = {0};
      float results[40];
      mpnum_grad_findings findings = mpnum_grad_findings_empty();
      const int size = k / 2 == 2 ? 4 : 2;
      for (size_t i = 0; i < n; ++i) {
        const uint16_t half = (uint16_t)nans[k / 2][k % 2];
        if (size == 2) memcpy((uint8_t *)words + 2 * i, &half, 2);
        if (size == 4) words[i] = nans[2][k % 2];
      }
      const mpnum_grad_tensor tensor =
          mpnum_grad_tensor_of(narrow[k / 2], words, n, MPNUM_TYPE_F32, results);
      CHECK(mpnum_grad_multiply(&tensor, 1, 0.5f, 0, &findings) == MPNUM_OK &&
                findings.first_bits == 0x7fffffff,
            "found %" PRIx64, findings.first_bits);
      for (size_t i = 0; i < n; ++i)
        CHECK(mpnum_bits_f32(results[i]) == 0x7fffffff, "%zu of %zu: %08x", i, n,
              mpnum_bits_f32(results[i]));
    }
}
static void findings_need_not_be_asked_for(void) {
  float x[2] = {3, INFINITY};
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 2, MPNUM_TYPE_F32, x);
  const mpnum_grad_scaler scaler = scaler_of(1024);
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  CHECK(mpnum_grad_read(&tensor, 1, 2, NULL) == MPNUM_OK && x[0] == 3, "read");
  CHECK(mpnum_grad_multiply(&tensor, 1, 2, 0, NULL) == MPNUM_OK && x[0] == 6, "multiply");
  CHECK(mpnum_grad_scaler_check(&scaler, &optimizer, &tensor, 1, NULL) == MPNUM_OK &&
            optimizer.found_inf == 1,
        "check");
}
static void reading_does_not_ask_for_dst(void) {
  const float x[2] = {3, 4};
  mpnum_grad_findings findings;
  mpnum_grad_tensor odd = mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 2, (mpnum_type)0, NULL);
  CHECK(mpnum_grad_read(&odd, 1, 1.0f, &findings) == MPNUM_OK &&
            mpnum_bits_f32(mpnum_grad_norm(&findings)) == 0x40a00000u,
        "norm 5");
  odd.rows = SIZE_MAX;
  odd.columns = 0;
  CHECK(mpnum_grad_read(&odd, 1, 1.0f, &findings) == MPNUM_OK &&
            findings.stats.count == 0,
        "rows of nothing");
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  RUN_FOR_EACH_ISA(results_are_products_rounded);
  TAP_RUN(tensors_of_any_number_and_size);
  RUN_FOR_EACH_ISA(large_results_are_those_of_small_ones);
  TAP_RUN(norms_reach_the_ends);
  TAP_RUN(other_arguments_are_refused);
  TAP_RUN(what_overflows_when_unscaled_is_found);
  TAP_RUN(narrow_results_lose_what_is_small);
  TAP_RUN(clipping_follows_unscaling);
  TAP_RUN(clipping_twice_with_one_bound_changes_nothing);
  TAP_RUN(gradients_with_inf_are_not_clipped_and_are_skipped);
  TAP_RUN(one_call_unscales_clips_and_steps);
  TAP_RUN(findings_merge_in_any_order);
  TAP_RUN(a_disabled_scaler_clips_too);
  TAP_RUN(a_disabled_scaler_clips_in_every_step);
  TAP_RUN(a_disabled_scaler_clips_after_an_inf);
  RUN_FOR_EACH_ISA(nans_are_one);
  TAP_RUN(findings_need_not_be_asked_for);
  TAP_RUN(reading_does_not_ask_for_dst);
  return tap_done();
}

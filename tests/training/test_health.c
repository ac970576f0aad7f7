/* SPDX-License-Identifier: MIT */
/* Histograms of a pass, what formats lose, trends and alarms, against plain loops in
 * doubles. */
#include "../array/array_checks.h"
#include "../harness/control_word.h"
#include "../harness/linked.h"
#include "stored_checks.h"

#include <mpnum/array/array.h>
#include <mpnum/training/health.h>
#include <mpnum/types/preset.h>

#include <float.h>
#include <math.h>

mpnum_status force_isa(mpnum_isa isa) { return force_all_isa(isa); }
mpnum_isa isa_in_use(void) { return mpnum_isa_in_use(); }

enum { MOST = 20000 };
static float values[MOST], products[MOST];
static uint64_t state = 3;

/* Of any exponent; every fourth one of a few, and some 0, Inf and NaN. */
static float random_float(void) {
  const uint64_t bits = random_bits(&state);
  if (bits % 64 == 1) return 0.0f;
  if (bits % 4 == 0)
    return ldexpf((float)(int32_t)(bits >> 32), -40 - (int)(bits >> 8 & 7));
  return mpnum_from_bits_f32((uint32_t)(bits >> 32));
}
static void fill(size_t n) {
  for (size_t i = 0; i < n; ++i)
    values[i] = random_float();
}

/* Counts by frexp. */
static void count_plainly(mpnum_histogram *histogram, const float *x, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    int exponent = 0;
    if (!mpnum_isfinite_f32(x[i])) {
      histogram->counts[255] += 1;
    } else if (mpnum_iszero_f32(x[i])) {
      histogram->zeros += 1;
    } else {
      frexp((double)x[i], &exponent); /* x from 2^(exponent - 1) on */
      histogram->counts[exponent - 1 < -126 ? 0 : exponent - 1 + 127] += 1;
    }
  }
}
static void check_histogram(const mpnum_histogram *got, const mpnum_histogram *want,
                            const char *what) {
  CHECK(got->zeros == want->zeros, "%s: zeros %" PRIu64 ", want %" PRIu64, what,
        got->zeros, want->zeros);
  for (int k = 0; k < 256; ++k)
    CHECK(got->counts[k] == want->counts[k], "%s: [%d] %" PRIu64 ", want %" PRIu64, what,
          k, got->counts[k], want->counts[k]);
}

static void a_pass_counts_exponents(void) {
  static const size_t sizes[] = {0, 1, 3, 63, 64, 2047, 2048, 2049, 9001, MOST};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
    mpnum_histogram got = mpnum_histogram_empty(), want = got;
    mpnum_grad_findings findings;
    mpnum_grad_tensor tensor =
        mpnum_grad_tensor_of(MPNUM_TYPE_F32, values, sizes[s], MPNUM_TYPE_F32, products);
    char what[40];
    snprintf(what, sizeof what, "%zu elements", sizes[s]);
    fill(sizes[s]);
    tensor.histogram = &got;
    CHECK(mpnum_grad_multiply(&tensor, 1, 0.37f, 0, &findings) == MPNUM_OK, "%s", what);
    count_plainly(&want, products, sizes[s]);
    check_histogram(&got, &want, what);
    CHECK(mpnum_histogram_total_(&got) == sizes[s], "%s: total", what);
  }
}

/* Two tensors of other types share a histogram, a third has its own; added to what is
 * there; rows apart; what is only read. */
static void tensors_share_histograms(void) {
  enum { ROWS = 5, COLUMNS = 700, STRIDE = 1000 };
  static mpnum_f16 halves[MOST];
  static double wide[300];
  mpnum_histogram got = mpnum_histogram_empty(), own = got, want = got, want_own = got;
  mpnum_grad_tensor tensors[3];
  mpnum_grad_findings findings;
  float row[COLUMNS];
  fill(ROWS * STRIDE);
  for (int i = 0; i < 300; ++i)
    wide[i] = (double)values[i + 9] * 0x1p-20;
  mpnum_f32_to_f16_array(halves, values, MOST);
  tensors[0] =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, values, COLUMNS, MPNUM_TYPE_F32, NULL);
  tensors[0].rows = ROWS;
  tensors[0].src_stride = STRIDE;
  tensors[1] = mpnum_grad_tensor_of(MPNUM_TYPE_F64, wide, 300, MPNUM_TYPE_F64, NULL);
  tensors[2] =
      mpnum_grad_tensor_of(MPNUM_TYPE_F16, halves, MOST, MPNUM_TYPE_F32, products);
  tensors[0].histogram = tensors[2].histogram = &got;
  tensors[1].histogram = &own;
  got.zeros = want.zeros = 11;
  CHECK(mpnum_grad_read(tensors, 3, 1.0f, &findings) == MPNUM_OK, "read");
  for (int r = 0; r < ROWS; ++r)
    count_plainly(&want, values + r * STRIDE, COLUMNS);
  for (int i = 0; i < MOST; i += COLUMNS) {
    const int n = MOST - i < COLUMNS ? MOST - i : COLUMNS;
    for (int k = 0; k < n; ++k)
      row[k] = mpnum_f16_to_f32(halves[i + k]);
    count_plainly(&want, row, (size_t)n);
  }
  for (int i = 0; i < 300; ++i)
    row[i] = mpnum_f64_to_f32(wide[i]);
  count_plainly(&want_own, row, 300);
  check_histogram(&got, &want, "shared");
  check_histogram(&own, &want_own, "own");
  mpnum_histogram_merge(&own, &got);
  mpnum_histogram_merge(&want_own, &want);
  check_histogram(&own, &want_own, "merged");
}

static void single_values_are_added(void) {
  mpnum_histogram got = mpnum_histogram_empty(), want = got;
  fill(3000);
  for (int i = 0; i < 3000; ++i)
    mpnum_histogram_add(&got, values[i]);
  count_plainly(&want, values, 3000);
  check_histogram(&got, &want, "one by one");
}

static void a_step_counts_every_kth_tile(void) {
  mpnum_histogram got = mpnum_histogram_empty(), want = got;
  mpnum_grad_findings findings;
  mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, values, MOST, MPNUM_TYPE_F32, values);
  fill(MOST);
  tensor.histogram = &got;
  tensor.histogram_step = 3;
  CHECK(mpnum_grad_multiply(&tensor, 1, 1.5f, 0, &findings) == MPNUM_OK, "multiply");
  for (size_t i = 0; i < MOST; i += 3 * 2048)
    count_plainly(&want, values + i, MOST - i < 2048 ? MOST - i : 2048);
  check_histogram(&got, &want, "every third");
  for (int i = 0; i < 2; ++i) { /* far apart: the first alone */
    tensor.histogram_step = i ? SIZE_MAX : SIZE_MAX / 2048 + 1;
    got = want = mpnum_histogram_empty();
    CHECK(mpnum_grad_multiply(&tensor, 1, 1.0f, 0, &findings) == MPNUM_OK, "multiply");
    count_plainly(&want, values, 2048);
    check_histogram(&got, &want, "the first");
  }
  tensor.histogram_step = 0;
  values[0] = 1;
  CHECK(mpnum_grad_multiply(&tensor, 1, 1.5f, 0, &findings) == MPNUM_ERROR_ARGUMENT &&
            mpnum_bits_f32(values[0]) == 0x3f800000u,
        "step 0");
}

static void the_first_inf_or_nan_has_its_bits(void) {
  mpnum_grad_findings findings, none;
  mpnum_grad_tensor tensors[2];
  for (int i = 0; i < 5000; ++i)
    values[i] = 1;
  tensors[0] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, values, 5000, MPNUM_TYPE_F32, NULL);
  tensors[1] = tensors[0];
  CHECK(mpnum_grad_read(tensors, 2, 1.0f, &none) == MPNUM_OK && none.first_bits == 0,
        "none");
  values[4000] = mpnum_from_bits_f32(0xff800000u);
  values[4500] = mpnum_from_bits_f32(0x7fffffffu);
  CHECK(mpnum_grad_read(tensors, 2, 1.0f, &findings) == MPNUM_OK &&
            findings.first_tensor == 0 && findings.first_element == 4000 &&
            findings.first_bits == 0xff800000u,
        "%" PRIu64 " %" PRIx64, findings.first_element, findings.first_bits);
  findings = mpnum_grad_findings_merge(none, findings);
  CHECK(findings.first_bits == 0xff800000u, "merged");
}

/* What a format loses, from its largest and smallest value in doubles. */
typedef struct range {
  double last_zero, end; /* up to the one all is 0, past the other all overflows */
  int end_overflows;
} range;

static range range_of(mpnum_format format) {
  range made = {0, 0x1p128, 1};
  int exponent = 0;
  if (format.mantissa_bits == 23) return made;
  const double max = (double)mpnum_format_max(format);
  frexp(max, &exponent);
  made.end = max + ldexp(1, exponent - 1 - format.mantissa_bits - 1);
  made.end_overflows = (int)(format.max_code & 1); /* a tie goes to the even code */
  made.last_zero = ldexp(1, mpnum_format_min_exp(format) - 2 - format.mantissa_bits);
  if (!format.has_zero) made.last_zero = -1;
  return made;
}
static void lose_plainly(mpnum_lost *lost, range kept, float x, float scale) {
  const double magnitude = fabs((double)x);
  if (!mpnum_isfinite_f32(x) || mpnum_iszero_f32(x)) return;
  if (mpnum_isnan_f32(scale) || mpnum_isinf_f32(scale)) {
    lost->overflows += 1;
    return;
  }
  /* The product is exact; its place among floats is not asked from the library. */
  const double product = (double)(float)(magnitude * fabs((double)scale));
  lost->overflows += product > kept.end || (product == kept.end && kept.end_overflows);
  lost->underflows += product <= kept.last_zero;
}

static const float scales[] = {1, 65536, 0.3f, -2, 0x1p-126f, 0x1p-149f, 1e30f, 0};
enum { SCALES = sizeof scales / sizeof scales[0], TYPES = 14 };

static mpnum_format format_number(int k) {
  mpnum_format made = mpnum_format_of((mpnum_type)(k + 2));
  if (k == 13) /* one of the user's: 1.5.3, without specials */
    CHECK(mpnum_format_init(&made, 1, 5, 3, 15, MPNUM_SPECIALS_FINITE) == MPNUM_OK,
          "make");
  return made;
}
static float scale_number(int k) {
  return k < SCALES ? scales[k]
                    : mpnum_from_bits_f32(k == SCALES ? 0x7f800000u : 0x7fffffffu);
}
static void check_lost(mpnum_lost got, mpnum_lost want, const char *type, int format,
                       float scale) {
  CHECK(got.underflows == want.underflows && got.overflows == want.overflows,
        "%s, format %d by %a: %" PRIu64 " %" PRIu64 ", want %" PRIu64 " %" PRIu64, type,
        format, (double)scale, got.underflows, got.overflows, want.underflows,
        want.overflows);
}

/* Random floats, and those next to where results become 0 and overflow. */
static void fill_near(range kept, float scale) {
  fill(MOST);
  for (int i = 0; i < 400; ++i) {
    const double at = i % 2 ? kept.last_zero : kept.end;
    const float x = (float)(at / fabs((double)scale));
    if (mpnum_isfinite_f32(x))
      values[i * 7] = mpnum_from_bits_f32(mpnum_bits_f32(x) + (uint32_t)(i / 2 % 9) - 4u);
  }
}

static mpnum_lost lost_of(mpnum_type type, const void *src, size_t n, mpnum_format format,
                          float scale) {
  mpnum_lost lost = {3, 5}; /* what is there is added to */
  CHECK(mpnum_count_lost(&lost, type, src, n, format, scale) == MPNUM_OK, "status");
  CHECK(lost.underflows >= 3 && lost.overflows >= 5, "added");
  lost.underflows -= 3;
  lost.overflows -= 5;
  return lost;
}

static void losses_of_floats_are_counted(void) {
  for (int k = 0; k < TYPES; ++k)
    for (int s = 0; s < SCALES + 2; ++s) {
      const mpnum_format format = format_number(k);
      const range kept = range_of(format);
      const float scale = scale_number(s);
      mpnum_lost want = {0, 0};
      fill_near(kept, scale);
      for (size_t i = 0; i < MOST - 1; ++i)
        lose_plainly(&want, kept, values[i], scale);
      check_lost(lost_of(MPNUM_TYPE_F32, values, MOST - 1, format, scale), want, "f32", k,
                 scale);
    }
  const mpnum_lost none =
      lost_of(MPNUM_TYPE_F32, values, MOST, mpnum_format_of(MPNUM_TYPE_F64), 1);
  CHECK(none.underflows == 0 && none.overflows == 0, "f64");
}

#define COUNT_ALL_CODES(type, TYPE, codes)                                         \
 do {                                                                              \
  static mpnum_##type all[codes];                                                  \
  for (uint32_t code = 0; code < codes; ++code)                                    \
   all[code] = mpnum_from_bits_##type(code);                                       \
  for (int k = 0; k < TYPES; ++k)                                                  \
   for (int s = 0; s < SCALES + 2; ++s) {                                          \
    const range kept = range_of(format_number(k));                                 \
    mpnum_lost want = {0, 0};                                                      \
    for (uint32_t code = 0; code < codes; ++code)                                  \
     lose_plainly(&want, kept, mpnum_##type##_to_f32(all[code]), scale_number(s)); \
    check_lost(lost_of(TYPE, all, codes, format_number(k), scale_number(s)), want, \
               #type, k, scale_number(s));                                         \
   }                                                                               \
 } while (0)

static void losses_of_all_codes_are_counted(void) {
  COUNT_ALL_CODES(bf16, MPNUM_TYPE_BF16, 65536);
  COUNT_ALL_CODES(f16, MPNUM_TYPE_F16, 65536);
  COUNT_ALL_CODES(e5m2, MPNUM_TYPE_E5M2, 256);
  COUNT_ALL_CODES(e4m3, MPNUM_TYPE_E4M3, 256);
}

static void other_types_and_null_are_refused(void) {
  const mpnum_format format = mpnum_format_of(MPNUM_TYPE_F16);
  mpnum_lost lost = {3, 5};
  fill(9);
  for (int type = -1; type <= 16; ++type) {
    const int is_taken = type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_BF16 ||
                         type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_E5M2 ||
                         type == MPNUM_TYPE_E4M3;
    const mpnum_status want = is_taken ? MPNUM_OK : MPNUM_ERROR_TYPE;
    CHECK(mpnum_count_lost(&lost, (mpnum_type)type, NULL, 0, format, 1) == want,
          "type %d", type);
    if (!is_taken)
      CHECK(mpnum_count_lost(&lost, (mpnum_type)type, values, 9, format, 1) == want,
            "type %d", type);
  }
  CHECK(mpnum_count_lost(&lost, MPNUM_TYPE_F32, NULL, 1, format, 1) == MPNUM_ERROR_NULL,
        "no source");
  CHECK(mpnum_count_lost(NULL, MPNUM_TYPE_F32, values, 1, format, 1) == MPNUM_ERROR_NULL,
        "no result");
  CHECK(mpnum_count_lost(NULL, MPNUM_TYPE_F32, NULL, 0, format, 1) == MPNUM_OK, "none");
  CHECK(lost.underflows == 3 && lost.overflows == 5, "nothing is added");
}

/* Bounds hold the count; they differ only where a limit is within an exponent. */
static void bounds_hold_the_loss(void) {
  int equal = 0;
  for (int k = 0; k < TYPES; ++k)
    for (int s = 0; s < SCALES + 2; ++s) {
      const mpnum_format format = format_number(k);
      const range kept = range_of(format);
      const float scale = scale_number(s);
      mpnum_histogram histogram = mpnum_histogram_empty();
      mpnum_lost least, most;
      uint64_t largest = 0;
      fill_near(kept, scale);
      count_plainly(&histogram, values, MOST);
      const mpnum_lost exact = lost_of(MPNUM_TYPE_F32, values, MOST, format, scale);
      mpnum_histogram_lost(&histogram, format, scale, &least, &most);
      for (int e = 0; e < 255; ++e)
        if (histogram.counts[e] > largest) largest = histogram.counts[e];
      CHECK(least.underflows <= exact.underflows && exact.underflows <= most.underflows &&
                least.overflows <= exact.overflows && exact.overflows <= most.overflows,
            "format %d by %a: %" PRIu64 " %" PRIu64, k, (double)scale, exact.underflows,
            exact.overflows);
      CHECK(most.underflows - least.underflows <= largest &&
                most.overflows - least.overflows <= largest,
            "format %d by %a: wide", k, (double)scale);
      equal += most.overflows == least.overflows;
    }
  CHECK(equal > TYPES, "%d bounds are the count", equal);
}

static void shares_are_rounded(void) {
  CHECK(mpnum_bits_f32(mpnum_share_(0, 0)) == 0 &&
            mpnum_bits_f32(mpnum_share_(0, 9)) == 0 &&
            mpnum_share_(UINT64_MAX, UINT64_MAX) == 1,
        "ends");
  for (int i = 0; i < 20000; ++i) { /* of 24 bits: a double between does no harm */
    const uint32_t whole = 1 + (uint32_t)(random_bits(&state) >> 40);
    const uint32_t part = (uint32_t)(random_bits(&state) % (whole + 1));
    const float want = (float)((double)part / (double)whole);
    CHECK(mpnum_bits_f32(mpnum_share_(part, whole)) == mpnum_bits_f32(want), "%u / %u",
          part, whole);
  }
}

static void trends_follow_lines(void) {
  for (int memory = 1; memory <= 9; ++memory) {
    mpnum_trend line = mpnum_trend_start_(memory), level = line, small = line;
    for (uint64_t i = 0; i < 20000; ++i) {
      mpnum_trend_add_(&line, 1000 + 3 * i, 100000); /* slope 3e-5 */
      mpnum_trend_add_(&level, UINT64_MAX / 4, UINT64_MAX / 2);
      mpnum_trend_add_(&small, 90000 - 4 * i, 100000);
      mpnum_trend_add_(&small, 0, 0); /* left out */
    }
    CHECK(fabs((double)mpnum_trend_slope(&line) - 3e-5) < 1e-8 &&
              fabs((double)mpnum_trend_level(&line) - (1000 + 3 * 19999) * 1e-5) < 1e-5,
          "2^%d: slope %g level %g", memory, (double)mpnum_trend_slope(&line),
          (double)mpnum_trend_level(&line));
    CHECK(fabs((double)mpnum_trend_slope(&small) + 4e-5) < 1e-8, "2^%d: down %g", memory,
          (double)mpnum_trend_slope(&small));
    CHECK(mpnum_trend_slope(&level) == 0 &&
              fabs((double)mpnum_trend_level(&level) - .5) < 1e-9,
          "2^%d: level", memory);
  }
}
/* On any sequence: Brown's recurrence in doubles. */
static void trends_are_smoothed_twice(void) {
  mpnum_trend trend = mpnum_trend_start_(4);
  double once = 0, twice = 0;
  for (int i = 0; i < 3000; ++i) {
    const uint64_t part = random_bits(&state) % 1001;
    const double share = (double)part / 1000;
    if (i == 0) once = twice = share;
    once += (share - once) / 16;
    twice += (once - twice) / 16;
    mpnum_trend_add_(&trend, part, 1000);
    const double level = fmin(1, fmax(0, 2 * once - twice));
    CHECK(fabs((double)mpnum_trend_level(&trend) - level) < 1e-6 &&
              fabs((double)mpnum_trend_slope(&trend) - (once - twice) / 15) < 1e-7,
          "%d", i);
  }
  trend = mpnum_trend_start_(20);
  for (int i = 0; i < 5000000; ++i)
    mpnum_trend_add_(&trend, i > 0, 1000000); /* near 0 for long */
  CHECK(mpnum_trend_level(&trend) > 0.9e-6f, "%g", (double)mpnum_trend_level(&trend));
  CHECK(mpnum_trend_start_(-7).memory == 1 && mpnum_trend_start_(99).memory == 20,
        "memory");
}

static mpnum_grad_findings findings_of(uint64_t count, uint64_t zeros, float norm) {
  mpnum_grad_findings findings;
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, &norm, 1, MPNUM_TYPE_F32, NULL);
  CHECK(mpnum_grad_read(&tensor, 1, 1.0f, &findings) == MPNUM_OK, "read");
  findings.stats.count = count;
  findings.stats.zeros = zeros;
  return findings;
}
static void alarms_are_raised(void) {
  const mpnum_format f16 = mpnum_format_of(MPNUM_TYPE_F16);
  mpnum_health_limits limits = mpnum_health_default();
  limits.min_norm = 0.5f;
  limits.max_norm = 8;
  mpnum_health health = mpnum_health_of(limits);
  mpnum_grad_findings findings = findings_of(1000, 50, 2);
  CHECK(mpnum_health_watch(&health, &findings, NULL, f16, 1) == 0, "healthy");
  findings = findings_of(1000, 51, 2);
  CHECK(mpnum_health_watch(&health, &findings, NULL, f16, 1) == MPNUM_HEALTH_ZEROS,
        "zeros");
  findings = findings_of(1000, 0, 0.25f);
  CHECK(mpnum_health_watch(&health, &findings, NULL, f16, 1) == MPNUM_HEALTH_SMALL_NORM,
        "small norm");
  findings = findings_of(1000, 0, 16);
  CHECK(mpnum_health_watch(&health, &findings, NULL, f16, 1) == MPNUM_HEALTH_LARGE_NORM,
        "large norm");
  const mpnum_trend before = health.zeros;
  findings = findings_of(1000, 0, 2);
  findings.stats.infs = findings.stats.nans = 1;
  CHECK(mpnum_health_watch(&health, &findings, NULL, f16, 1) ==
                (MPNUM_HEALTH_INF | MPNUM_HEALTH_NAN) &&
            memcmp(&before, &health.zeros, sizeof before) == 0,
        "Inf and NaN, not in the trend");
  findings = findings_of(1000, 0, 2);
  findings.squares =
      mpnum_exact_sum_merge(findings.squares, findings_of(1, 0, 3e38f).squares);
  findings.squares =
      mpnum_exact_sum_merge(findings.squares, findings_of(1, 0, 3e38f).squares);
  limits.max_norm = mpnum_from_bits_f32(0x7f800000u);
  health.limits = limits;
  CHECK(mpnum_health_watch(&health, &findings, NULL, f16, 1) == MPNUM_HEALTH_LARGE_NORM,
        "a norm past the floats");
  findings = mpnum_grad_findings_empty();
  CHECK(mpnum_health_watch(&health, &findings, NULL, f16, 1) == 0, "nothing");
  mpnum_histogram histogram = mpnum_histogram_empty();
  histogram.counts[127] = 94;
  histogram.counts[127 - 30] = 6; /* below 2^-25 */
  findings = findings_of(100, 0, 2);
  CHECK(mpnum_health_watch(&health, &findings, &histogram, f16, 1) ==
            MPNUM_HEALTH_UNDERFLOWS,
        "underflows");
  CHECK(mpnum_health_watch(&health, &findings, &histogram, f16, 0x1p10f) == 0, "scaled");
  CHECK(mpnum_health_watch(&health, &findings, &histogram, f16, 0x1p30f) ==
            MPNUM_HEALTH_OVERFLOWS,
        "overflows");
}
/* From step 100 on the share of zeros, 1 %, grows by a number of steps of 0.01 % a step.
 * When each alarm is first raised: */
static int first_alarm(uint32_t alarm, uint64_t growth) {
  const mpnum_format f16 = mpnum_format_of(MPNUM_TYPE_F16);
  mpnum_health health = mpnum_health_of(mpnum_health_default());
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t zeros = i < 100 ? 100 : 100 + (i - 100) * growth;
    const mpnum_grad_findings findings = findings_of(10000, zeros, 1);
    if (mpnum_health_watch(&health, &findings, NULL, f16, 1) & alarm) return (int)i;
  }
  return -1;
}
static void rising_zeros_are_told_of(void) {
  const int rise = first_alarm(MPNUM_HEALTH_RISING_ZEROS, 12);
  CHECK(rise > 100 && rise < first_alarm(MPNUM_HEALTH_ZEROS, 2), "0.12 %% a step: %d",
        rise);
  CHECK(first_alarm(MPNUM_HEALTH_RISING_ZEROS, 9) == -1, "0.09 %% a step");
  CHECK(first_alarm(MPNUM_HEALTH_ZEROS, 12) == 134, "5 %% after 34 steps");
}
static mpnum_status save_health(uint8_t *bytes, const void *from) {
  return mpnum_health_save(bytes, (const mpnum_health *)from);
}
static mpnum_status load_health(void *to, const uint8_t *bytes, uint64_t size) {
  return mpnum_health_load((mpnum_health *)to, bytes, size);
}
static void write_health(uint8_t *bytes, const void *from) {
  mpnum_health copy = *(const mpnum_health *)from;
  mpnum_stored_ out = mpnum_stored_begin_(bytes, 0x4548706du, MPNUM_HEALTH_VERSION_);
  mpnum_stored_health_(&out, &copy);
  mpnum_stored_seal_(bytes, MPNUM_HEALTH_BYTES);
}
static void monitors_are_saved(void) {
  const stored_kind kind = {"monitor",   MPNUM_HEALTH_BYTES, sizeof(mpnum_health),
                            save_health, load_health,        write_health};
  /* By hand from the members below; the CRC is zlib's of these bytes. */
  static const uint8_t want[MPNUM_HEALTH_BYTES] = {
      0x6d, 0x70, 0x48, 0x45, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x3e,
      0x00, 0x00, 0x00, 0x3f, 0x00, 0x00, 0x00, 0x3e, 0x00, 0x00, 0x00, 0x40,
      0x00, 0x00, 0x80, 0x42, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0x0f, 0x00, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12, 0x00, 0x00,
      0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xd7, 0xf5, 0x9a, 0xa0};
  const int64_t one = (int64_t)1 << 52;
  mpnum_health monitor, other;
  memset(&monitor, 0, sizeof monitor);
  monitor.limits.zero_share = 0.25f;
  monitor.limits.zero_slope = 0.5f;
  monitor.limits.lost_share = 0.125f;
  monitor.limits.min_norm = 2;
  monitor.limits.max_norm = 64;
  monitor.limits.memory = -3; /* taken for 1 */
  monitor.zeros.once = one - 1;
  monitor.zeros.twice = 0x0123456789abc;
  monitor.zeros.memory = 1;
  monitor.zeros.is_started = 1;
  check_stored(&kind, &monitor, want);
  check_changed_members(&kind, &monitor);
#define UNSOUND(change)                  \
 do {                                    \
  other = monitor;                       \
  other.change;                          \
  check_unsound(&kind, &other, #change); \
 } while (0)
  UNSOUND(zeros.once = one + 1);
  UNSOUND(zeros.once = -1);
  UNSOUND(zeros.twice = one + 1);
  UNSOUND(zeros.twice = -1);
  UNSOUND(zeros.memory = 0);
  UNSOUND(zeros.memory = 5);
  UNSOUND(zeros.is_started = 2);
  UNSOUND(zeros.is_started = 0);
  UNSOUND(zeros.once = other.zeros.is_started = 0);
  UNSOUND(zeros.twice = other.zeros.is_started = 0);
  UNSOUND(limits.memory = 6);
#undef UNSOUND
}
/* A run that is saved and loaded before every step has the alarms of one that is not. */
static void resumed_monitors_raise_the_same_alarms(void) {
  const mpnum_format f16 = mpnum_format_of(MPNUM_TYPE_F16);
  mpnum_health health = mpnum_health_of(mpnum_health_default()), resumed = health;
  uint32_t seen = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    const uint64_t zeros = i < 100 ? 100 : 100 + (i - 100) * 12;
    const mpnum_grad_findings findings = findings_of(10000, zeros, 1);
    uint8_t bytes[MPNUM_HEALTH_BYTES];
    CHECK(mpnum_health_save(bytes, &resumed) == MPNUM_OK, "save");
    memset(&resumed, 0x33, sizeof resumed);
    CHECK(mpnum_health_load(&resumed, bytes, sizeof bytes) == MPNUM_OK, "load");
    const uint32_t alarms = mpnum_health_watch(&health, &findings, NULL, f16, 1);
    CHECK(mpnum_health_watch(&resumed, &findings, NULL, f16, 1) == alarms, "step %d",
          (int)i);
    seen |= alarms;
  }
  CHECK(seen == (MPNUM_HEALTH_ZEROS | MPNUM_HEALTH_RISING_ZEROS), "%x", (unsigned)seen);
}
static void every_alarm_has_a_sentence(void) {
  const mpnum_health_alarm last = MPNUM_HEALTH_LARGE_NORM;
  CHECK(strcmp(mpnum_health_string((uint32_t)last),
               mpnum_health_string(2 * (uint32_t)last)) != 0,
        "the last");
  for (int i = 0; i <= 8; ++i)
    for (int k = 0; k < i; ++k)
      CHECK(strcmp(mpnum_health_string(1u << i), mpnum_health_string(1u << k)) != 0,
            "%d %d", i, k);
  CHECK(strcmp(mpnum_health_string(0), "no alarm") == 0, "none");
  CHECK(strcmp(mpnum_health_string(6), mpnum_health_string(2)) == 0, "the lowest");
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  RUN_FOR_EACH_ISA(a_pass_counts_exponents);
  TAP_RUN(tensors_share_histograms);
  TAP_RUN(single_values_are_added);
  TAP_RUN(a_step_counts_every_kth_tile);
  TAP_RUN(the_first_inf_or_nan_has_its_bits);
  RUN_FOR_EACH_ISA(losses_of_floats_are_counted);
  RUN_FOR_EACH_ISA(losses_of_all_codes_are_counted);
  TAP_RUN(other_types_and_null_are_refused);
  TAP_RUN(bounds_hold_the_loss);
  TAP_RUN(shares_are_rounded);
  TAP_RUN(trends_follow_lines);
  TAP_RUN(trends_are_smoothed_twice);
  TAP_RUN(alarms_are_raised);
  TAP_RUN(rising_zeros_are_told_of);
  TAP_RUN(monitors_are_saved);
  TAP_RUN(resumed_monitors_raise_the_same_alarms);
  TAP_RUN(every_alarm_has_a_sentence);
  return tap_done();
}

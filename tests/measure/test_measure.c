/* SPDX-License-Identifier: MIT */
/* Measures: against sums of 1300 bits in MPFR, in which values come from the slow
 * reference; counts against exact comparisons; parts against the whole, bit by bit. */
#include "block_values.h"
#include "../harness/control_word.h"
#include "../harness/linked.h"
#include "../harness/must.h"
#include "../harness/tap.h"

#include <mpfr.h>

enum { PRECISION = 1300, PAIRS = 3000 };
static uint64_t state = 17;
static const uint64_t infinity = UINT64_C(0x7ff) << 52;

/* Equal within 2^-50 of the value, or of 1 where is_decibels. */
static int close_to(double got, const mpfr_t want, int is_decibels) {
  mpfr_t difference, most;
  int good = 0;
  mpfr_inits2(PRECISION, difference, most, (mpfr_ptr)0);
  mpfr_set_d(difference, got, MPFR_RNDN);
  mpfr_sub(difference, difference, want, MPFR_RNDN);
  mpfr_abs(difference, difference, MPFR_RNDN);
  mpfr_abs(most, want, MPFR_RNDN);
  if (is_decibels && mpfr_cmp_ui(most, 1) < 0) mpfr_set_ui(most, 1, MPFR_RNDN);
  mpfr_mul_2si(most, most, -50, MPFR_RNDN);
  good = mpfr_lessequal_p(difference, most);
  mpfr_clears(difference, most, (mpfr_ptr)0);
  return good;
}

typedef struct sums {
  mpfr_t xx, yy, xy, d, dd;
  uint64_t count, unequal, flushed, clipped, source_nonfinite, result_nonfinite;
  double max_error;
} sums;

static int is_finite_bits(double x) {
  return (mpnum_bits_f64(x) & ~(UINT64_C(1) << 63)) < infinity;
}
static int is_zero_bits(double x) { return mpnum_bits_f64(x) << 1 == 0; }

static void begin(sums *all) {
  memset(all, 0, sizeof *all);
  mpfr_inits2(PRECISION, all->xx, all->yy, all->xy, all->d, all->dd, (mpfr_ptr)0);
  mpfr_set_ui(all->xx, 0, MPFR_RNDN);
  mpfr_set_ui(all->yy, 0, MPFR_RNDN);
  mpfr_set_ui(all->xy, 0, MPFR_RNDN);
  mpfr_set_ui(all->d, 0, MPFR_RNDN);
  mpfr_set_ui(all->dd, 0, MPFR_RNDN);
}
static void add(sums *all, double x, double y) {
  mpfr_t a, b, d, square;
  if (!is_finite_bits(x)) {
    ++all->source_nonfinite;
    return;
  }
  if (!is_finite_bits(y)) {
    ++all->result_nonfinite;
    return;
  }
  mpfr_inits2(PRECISION, a, b, square, (mpfr_ptr)0);
  mpfr_init2(d, 53);
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_set_d(b, y, MPFR_RNDN);
  mpfr_sub(d, b, a, MPFR_RNDN);
  ++all->count;
  all->unequal += !mpfr_zero_p(d);
  all->flushed += !is_zero_bits(x) && is_zero_bits(y);
  mpfr_add(all->d, all->d, d, MPFR_RNDN);
  mpfr_sqr(square, d, MPFR_RNDN);
  mpfr_add(all->dd, all->dd, square, MPFR_RNDN);
  mpfr_sqr(square, a, MPFR_RNDN);
  mpfr_add(all->xx, all->xx, square, MPFR_RNDN);
  mpfr_sqr(square, b, MPFR_RNDN);
  mpfr_add(all->yy, all->yy, square, MPFR_RNDN);
  mpfr_mul(square, a, b, MPFR_RNDN);
  mpfr_add(all->xy, all->xy, square, MPFR_RNDN);
  mpfr_abs(d, d, MPFR_RNDN);
  if (mpfr_cmp_d(d, all->max_error) > 0) all->max_error = mpfr_get_d(d, MPFR_RNDN);
  mpfr_clears(a, b, d, square, (mpfr_ptr)0);
}

/* The figures, from the sums. */
static void compare(const char *name, sums *all, const mpnum_measure *got) {
  const mpnum_measure_figures figures = mpnum_measure_summary(got);
  mpfr_t want, other;
  mpfr_inits2(PRECISION, want, other, (mpfr_ptr)0);
  CHECK(got->count == all->count && got->unequal == all->unequal &&
            got->flushed == all->flushed && got->clipped == all->clipped &&
            got->source_nonfinite == all->source_nonfinite &&
            got->result_nonfinite == all->result_nonfinite,
        "%s: %d pairs, %d unequal, %d flushed, %d clipped not %d, %d and %d not finite",
        name, (int)got->count, (int)got->unequal, (int)got->flushed, (int)got->clipped,
        (int)all->clipped, (int)got->source_nonfinite, (int)got->result_nonfinite);
  CHECK(got->max_error == all->max_error && figures.max_error == all->max_error,
        "%s: largest error", name);
  if (!mpfr_zero_p(all->dd) && !mpfr_zero_p(all->xx)) {
    mpfr_div(want, all->xx, all->dd, MPFR_RNDN);
    mpfr_log10(want, want, MPFR_RNDN);
    mpfr_mul_ui(want, want, 10, MPFR_RNDN);
    CHECK(close_to(figures.sqnr, want, 1), "%s: sqnr %.17g, not %.17g", name,
          figures.sqnr, mpfr_get_d(want, MPFR_RNDN));
  }
  mpfr_div_ui(want, all->dd, (unsigned long)all->count, MPFR_RNDN);
  mpfr_sqrt(want, want, MPFR_RNDN);
  CHECK(close_to(figures.rms_error, want, 0), "%s: rms %.17g", name, figures.rms_error);
  mpfr_div_ui(want, all->d, (unsigned long)all->count, MPFR_RNDN);
  CHECK(close_to(figures.bias, want, 0), "%s: bias %.17g", name, figures.bias);
  if (!mpfr_zero_p(all->yy) && !mpfr_zero_p(all->xx)) {
    mpfr_mul(want, all->xx, all->yy, MPFR_RNDN);
    mpfr_sqrt(want, want, MPFR_RNDN);
    mpfr_div(want, all->xy, want, MPFR_RNDN);
    CHECK(close_to(figures.cosine, want, 0), "%s: cosine %.17g", name, figures.cosine);
  }
  mpfr_set_ui(want, (unsigned long)all->clipped, MPFR_RNDN);
  mpfr_div_ui(want, want, (unsigned long)all->count, MPFR_RNDN);
  CHECK(close_to(figures.clipped_share, want, 0), "%s: clipped share", name);
  mpfr_set_ui(want, (unsigned long)all->flushed, MPFR_RNDN);
  mpfr_div_ui(want, want, (unsigned long)all->count, MPFR_RNDN);
  CHECK(close_to(figures.flushed_share, want, 0), "%s: flushed share", name);
  mpfr_clears(want, other, all->xx, all->yy, all->xy, all->d, all->dd, (mpfr_ptr)0);
}

/* Codes of a type, all bits random, or numbers near 1; bits of the doubles they are. */
static double draw(mpnum_type type, void *at, size_t i, int is_wide) {
  const uint64_t word = random_bits(&state);
  double value = 0;
  if (type == MPNUM_TYPE_F32) {
    const uint32_t bits =
        is_wide ? (uint32_t)word : ((uint32_t)word & 0x83ffffffu) | 0x3c000000u;
    memcpy((uint8_t *)at + 4 * i, &bits, 4);
    return double_of(bits);
  }
  if (type == MPNUM_TYPE_F64) { /* no product has bits below 2^-298 */
    const uint64_t field =
        is_wide ? 1023 - 90 + (word >> 52 & 0x7ff) % 200 : 1023 - (word >> 52 & 3);
    const uint64_t bits = (word & UINT64_C(0x800fffffffffffff)) | field << 52;
    memcpy((uint8_t *)at + 8 * i, &bits, 8);
    return mpnum_from_bits_f64(bits);
  }
  {
    const uint16_t code = (uint16_t)(is_wide ? word : (word & 0x83ff) | 0x3c00);
    memcpy((uint8_t *)at + 2 * i, &code, 2);
    value = mpnum_from_bits_f64(
        ref_decode(ref_format_named(type == MPNUM_TYPE_F16 ? "f16" : "bf16"), code));
  }
  return value;
}

static void any_two_arrays(void) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                     MPNUM_TYPE_F64};
  static uint8_t x[8 * PAIRS + 1], y[8 * PAIRS + 1]; /* at any address */
  int a = 0, b = 0, is_wide = 0;
  size_t i = 0;
  for (a = 0; a < 4; ++a)
    for (b = 0; b < 4; ++b)
      for (is_wide = 0; is_wide < 2; ++is_wide) {
        mpnum_measure got = mpnum_measure_empty();
        char name[64];
        sums all;
        begin(&all);
        snprintf(name, sizeof name, "%s to %s%s", mpnum_type_name(types[a]),
                 mpnum_type_name(types[b]), is_wide ? ", wide" : "");
        for (i = 0; i < PAIRS; ++i) {
          const double from = draw(types[a], x + 1, i, is_wide);
          const double to = draw(types[b], y + 1, i, is_wide);
          add(&all, from, to);
          all.clipped += is_finite_bits(from) && is_finite_bits(to) &&
                         !is_zero_bits(to) &&
                         (mpnum_bits_f64(from) << 1) > mpnum_bits_f64(3.0) << 1 &&
                         (mpnum_bits_f64(from) << 1) > (mpnum_bits_f64(to) << 1);
        }
        CHECK(mpnum_measure_rows(
                  &got, mpnum_const_matrix_of(types[a], x + 1, 5, PAIRS / 5),
                  mpnum_const_matrix_of(types[b], y + 1, 5, PAIRS / 5), 3) == MPNUM_OK,
              "%s", name);
        compare(name, &all, &got);
      }
}

/* Exactly: no product of magnitude and scale here has more than 48 bits, no quotient of
 * them lies nearer to a tie than 2^-52 of it. */
static int is_clipped(const block_case *about, double x, double result, double scale,
                      float tensor_scale) {
  const int is_mx_int8 = about->format.scale_type == MPNUM_TYPE_E8M0;
  double tie = is_mx_int8 ? 127.5 / 64 : 127.5, left = x < 0 ? -x : x, right = 0;
  int is_odd = 1;
  if (about->element) {
    const ref_format *reference = ref_format_named(about->element);
    tie = mpnum_from_bits_f64(ref_midpoint(reference, reference->max_code));
    is_odd = reference->max_code & 1;
  }
  if (about->format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL) left *= (double)tensor_scale;
  right = tie * scale;
  return !is_zero_bits(result) && (is_odd ? left >= right : left > right);
}
static void measure_case(int k, size_t rows, size_t columns) {
  static block_matrix matrix;
  static float src[PLACES], back[PLACES];
  const block_case about = block_case_of(k);
  mpnum_measure got = mpnum_measure_empty();
  const mpnum_const_matrix view =
      mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns);
  float amax = 0;
  size_t r = 0, c = 0;
  sums all;
  begin(&all);
  for (r = 0; r < rows * columns; ++r) {
    src[r] = random_float(&state) * (r % 7 == 3 ? 0x1p-18f : 1);
    amax = amax > src[r] ? amax : src[r];
    amax = amax > -src[r] ? amax : -src[r];
  }
  CHECK(quantise(&matrix, about, src, rows, columns, mpnum_nvfp4_scale(amax)) == MPNUM_OK,
        "%s", about.name);
  CHECK(mpnum_dequantize_blocks(&about.format,
                                mpnum_matrix_of(MPNUM_TYPE_F32, back, rows, columns),
                                matrix.view) == MPNUM_OK,
        "%s", about.name);
  CHECK(mpnum_measure_blocks(&got, view, &about.format, matrix.view) == MPNUM_OK, "%s",
        about.name);
  for (r = 0; r < rows; ++r)
    for (c = 0; c < columns; ++c) {
      const double x = (double)src[r * columns + c], y = (double)back[r * columns + c];
      add(&all, x, y);
      all.clipped += (uint64_t)is_clipped(&about, x, y, scale_value(&matrix, r, c),
                                          matrix.view.scale);
    }
  compare(about.name, &all, &got);
}
static void quantised_matrices(void) {
  int k = 0;
  for (; k < BLOCK_CASES; ++k) {
    measure_case(k, 3, 700);
    measure_case(k, 131, 36);
  }
}

/* The floor rule clips what exceeds 6 or 7 times the scale, and 6.5 is a tie's neighbour.
 */
static void clips_by_hand(void) {
  const float src[32] = {7.9f, -7, 6.9999995f, 6, 0.1f, -0.0f, 0, 1e-30f};
  block_case about = block_case_of(5);
  static block_matrix matrix;
  mpnum_measure got = mpnum_measure_empty();
  CHECK(quantise(&matrix, about, src, 1, 32, 1) == MPNUM_OK, "quantise");
  CHECK(mpnum_measure_blocks(&got, mpnum_const_matrix_of(MPNUM_TYPE_F32, src, 1, 32),
                             &about.format, matrix.view) == MPNUM_OK,
        "measure");
  CHECK(got.clipped == 2 && got.flushed == 2 && got.count == 32 && got.unequal == 5,
        "%d clipped, %d flushed, %d unequal", (int)got.clipped, (int)got.flushed,
        (int)got.unequal);
}

static void parts_give_the_whole(void) {
  static float src[PLACES];
  static block_matrix matrix;
  const block_case about = block_case_of(0);
  const size_t rows = 8, columns = 640;
  const mpnum_const_matrix view =
      mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns);
  mpnum_measure whole = mpnum_measure_empty(), parts = mpnum_measure_empty();
  mpnum_measure_figures a, b;
  size_t i = 0;
  for (i = 0; i < rows * columns; ++i)
    src[i] = random_float(&state) * (i % 3 ? 1e-9f : 1e9f);
  src[77] = mpnum_from_bits_f32(0x7fc00000u);
  CHECK(quantise(&matrix, about, src, rows, columns, 1) == MPNUM_OK, "quantise");
  CHECK(mpnum_measure_blocks(&whole, view, &about.format, matrix.view) == MPNUM_OK,
        "all");
  for (i = rows * columns / 32; i-- > 0;) { /* block by block, from the last on */
    mpnum_measure part = mpnum_measure_empty();
    mpnum_blockscaled block = matrix.view;
    block.codes = matrix.codes + 32 * i;
    block.scale_inv = matrix.scales + i;
    CHECK(mpnum_measure_blocks(&part,
                               mpnum_const_matrix_of(MPNUM_TYPE_F32, src + 32 * i, 1, 32),
                               &about.format, (block.stride = 32, block)) == MPNUM_OK,
          "a block");
    mpnum_measure_merge(&parts, &part);
  }
  a = mpnum_measure_summary(&whole);
  b = mpnum_measure_summary(&parts);
  CHECK(memcmp(&a, &b, sizeof a) == 0 && whole.count == parts.count &&
            whole.unequal == parts.unequal && whole.clipped == parts.clipped &&
            whole.flushed == parts.flushed && whole.source_nonfinite == 1 &&
            parts.source_nonfinite == 1 && whole.result_nonfinite == 31 &&
            parts.result_nonfinite == 31 && whole.max_error == parts.max_error,
        "%.17g dB, %.17g dB", a.sqnr, b.sqnr);
}

static void special_cases(void) {
  const float zeros[4] = {0}, some[4] = {1, -2, 3, 0};
  const float tiny[1] = {1e-45f};
  const double large[3] = {0x1p128, -0x1p1000, 1};
  mpnum_measure got = mpnum_measure_empty();
  mpnum_measure_figures figures = mpnum_measure_summary(&got);
  const mpnum_const_matrix some_rows = mpnum_const_matrix_of(MPNUM_TYPE_F32, some, 1, 4);
  const mpnum_const_matrix zero_rows = mpnum_const_matrix_of(MPNUM_TYPE_F32, zeros, 1, 4);
  CHECK(mpnum_bits_f64(figures.sqnr) == UINT64_C(0x7fffffffffffffff), "nothing");
  CHECK(mpnum_measure_rows(&got, some_rows, some_rows, 0) == MPNUM_OK, "equal");
  figures = mpnum_measure_summary(&got);
  CHECK(mpnum_bits_f64(figures.sqnr) == infinity && figures.cosine == 1 &&
            figures.bias == 0 && figures.rms_error == 0,
        "no error");
  got = mpnum_measure_empty();
  must(mpnum_measure_rows(&got, zero_rows, some_rows, 0));
  figures = mpnum_measure_summary(&got);
  CHECK(mpnum_bits_f64(figures.sqnr) == (infinity | UINT64_C(1) << 63) &&
            figures.cosine == 0 && got.flushed == 0 && figures.max_relative_error == 0,
        "from zeros");
  got = mpnum_measure_empty();
  must(mpnum_measure_rows(&got, some_rows, zero_rows, 0));
  figures = mpnum_measure_summary(&got);
  CHECK(figures.sqnr == 0 && figures.cosine == 0 && got.flushed == 3 &&
            figures.max_relative_error == 1 && figures.flushed_share == 0.75,
        "to zeros");
  got = mpnum_measure_empty();
  must(mpnum_measure_rows(&got, mpnum_const_matrix_of(MPNUM_TYPE_F32, tiny, 1, 1),
                          mpnum_const_matrix_of(MPNUM_TYPE_F32, zeros, 1, 1), 0));
  figures = mpnum_measure_summary(&got);
  CHECK(figures.sqnr == 0 && figures.max_error == 0x1p-149 && got.unequal == 1, "tiny");
  got = mpnum_measure_empty();
  must(mpnum_measure_rows(&got, mpnum_const_matrix_of(MPNUM_TYPE_F64, large, 1, 3),
                          mpnum_const_matrix_of(MPNUM_TYPE_F64, large, 1, 3), 0));
  CHECK(got.source_nonfinite == 2 && got.count == 1, "beyond the floats");
}

static void cosines_are_at_most_1(void) {
  int i = 0;
  for (; i < 3000; ++i) { /* of one pair: 1 or -1, but for the last bit */
    const float x = random_float(&state), y = random_float(&state);
    mpnum_measure got = mpnum_measure_empty();
    double cosine = 0;
    must(mpnum_measure_rows(&got, mpnum_const_matrix_of(MPNUM_TYPE_F32, &x, 1, 1),
                            mpnum_const_matrix_of(MPNUM_TYPE_F32, &y, 1, 1), 0));
    cosine = mpnum_measure_summary(&got).cosine * ((x < 0) == (y < 0) ? 1 : -1);
    CHECK(cosine <= 1 && cosine >= 1 - 0x1p-50, "%.17g", cosine);
  }
}

static void bad_input_changes_nothing(void) {
  float x[4] = {1, 2, 3, 4};
  static block_matrix matrix;
  const block_case about = block_case_of(0);
  mpnum_const_matrix good = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 2), bad = good;
  mpnum_blockscale_format wrong = about.format;
  mpnum_blockscaled view;
  mpnum_measure got = mpnum_measure_empty();
  const mpnum_measure before = got;
  CHECK(quantise(&matrix, about, x, 2, 2, 1) == MPNUM_OK, "quantise");
  view = matrix.view;
  bad.data = NULL;
  CHECK(mpnum_measure_rows(&got, good, bad, 0) == MPNUM_ERROR_NULL, "NULL");
  CHECK(mpnum_measure_blocks(&got, bad, &about.format, view) == MPNUM_ERROR_NULL, "NULL");
  bad = good;
  bad.rows = 1;
  CHECK(mpnum_measure_rows(&got, good, bad, 0) == MPNUM_ERROR_SHAPE, "rows");
  bad = good;
  bad.type = MPNUM_TYPE_E4M3;
  CHECK(mpnum_measure_rows(&got, bad, good, 0) == MPNUM_ERROR_TYPE, "type");
  CHECK(mpnum_measure_rows(&got, good, good, -1) == MPNUM_ERROR_ARGUMENT, "limit");
  CHECK(mpnum_measure_rows(&got, good, good, mpnum_from_bits_f64(infinity + 1)) ==
            MPNUM_ERROR_ARGUMENT,
        "NaN");
  wrong.columns = 0;
  wrong.rule = (mpnum_blockscale_rule)9;
  CHECK(mpnum_measure_blocks(&got, good, &wrong, view) == MPNUM_ERROR_ARGUMENT, "rule");
  view.scale_inv_bytes = 1;
  CHECK(mpnum_measure_blocks(&got, good, &about.format, view) == MPNUM_ERROR_RANGE,
        "scales");
  view = matrix.view;
  view.stride = 1;
  CHECK(mpnum_measure_blocks(&got, good, &about.format, view) == MPNUM_ERROR_STRIDE,
        "stride");
  view = matrix.view;
  view.codes = NULL;
  CHECK(mpnum_measure_blocks(&got, good, &about.format, view) == MPNUM_ERROR_NULL,
        "no codes");
  CHECK(mpnum_measure_blocks(&got, good, NULL, matrix.view) == MPNUM_ERROR_NULL,
        "no format");
  bad = good;
  bad.rows = 0;
  CHECK(mpnum_measure_blocks(&got, bad, &about.format, matrix.view) == MPNUM_OK,
        "no rows");
  CHECK(mpnum_measure_rows(&got, bad, bad, 0) == MPNUM_OK, "no pairs");
  CHECK(memcmp(&got, &before, sizeof got) == 0, "something was written");
}

int main(void) {
  TAP_RUN(any_two_arrays);
  TAP_RUN(quantised_matrices);
  TAP_RUN(clips_by_hand);
  TAP_RUN(parts_give_the_whole);
  TAP_RUN(special_cases);
  TAP_RUN(cosines_are_at_most_1);
  TAP_RUN(bad_input_changes_nothing);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* docs/it-went-nan.md: each symptom made on purpose, and the answers of the calls that
 * the page names. */
#include "../harness/linked.h"
#include "../harness/must.h"
#include "../harness/tap.h"

#include <mpnum/training/advice.h>
#include <mpnum/mpnum.h>

#include <inttypes.h>
#include <math.h>

enum { COUNT = 64 };
static float values[COUNT];
static mpnum_f16 halves[COUNT];

static void fill(float value) {
  for (int i = 0; i < COUNT; ++i)
    values[i] = value;
}

/* At step 0. */
static void a_weight_past_the_format_is_found(void) {
  fill(1.0f);
  values[40] = 70000.0f; /* f16 ends at 65504 */
  values[7] = -12.0f;
  mpnum_f32_to_f16_array(halves, values, COUNT);
  CHECK(mpnum_first_nonfinite_f32(values, COUNT) == COUNT, "the weights are finite");
  CHECK(mpnum_amax_f32(values, COUNT) == 70000.0f, "amax");
  CHECK(mpnum_first_nonfinite_f16(halves, COUNT) == 40, "place");
  CHECK(halves[40].bits == 0x7c00 && !mpnum_isnan_f16(halves[40]), "Inf, not NaN");
  CHECK(mpnum_amax_f16(halves, 40) == 12.0f, "amax before it");
  mpnum_f32_to_f16_sat_array(halves, values, COUNT);
  CHECK(mpnum_all_finite_f16(halves, COUNT), "saturated");
  CHECK(mpnum_f32_to_e4m3(465.0f).bits == 0x7f, "e4m3 has no Inf");
  CHECK(mpnum_f32_to_e4m3_sat(465.0f).bits == 0x7e, "448");
}

static mpnum_row_status status_of(const float *row, int flags, float *weight) {
  mpnum_softmax_options how = mpnum_softmax_default();
  mpnum_row_status status = MPNUM_ROW_IGNORED;
  float weights[2] = {5, 5};
  how.flags = flags;
  const mpnum_status done =
      mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, weights, 1, 2),
                         mpnum_const_matrix_of(MPNUM_TYPE_F32, row, 1, 2), &how, &status);
  CHECK(done == MPNUM_OK, "%d", (int)done);
  *weight = weights[0];
  return status;
}
static void softmax_says_what_a_row_was(void) {
  const float masked[2] = {-INFINITY, -INFINITY}, large[2] = {1.0f, INFINITY};
  const float wrong[2] = {NAN, 1.0f};
  float weight;
  CHECK(status_of(masked, 0, &weight) == MPNUM_ROW_NEGATIVE_INF, "not declared");
  CHECK(mpnum_isnan_f32(weight), "NaN");
  CHECK(status_of(masked, MPNUM_SOFTMAX_MASKED, &weight) == MPNUM_ROW_EMPTY, "masked");
  CHECK(mpnum_bits_f32(weight) == 0, "0");
  CHECK(status_of(large, 0, &weight) == MPNUM_ROW_INF, "Inf");
  CHECK(status_of(wrong, 0, &weight) == MPNUM_ROW_NAN, "NaN");
}

static void a_label_that_is_no_class_is_refused(void) {
  const int64_t label = 2; /* of two classes, 0 and 1 */
  const float logits[2] = {0.0f, 1.0f};
  float loss = 5.0f;
  const mpnum_status status = mpnum_cross_entropy_rows(
      &loss, mpnum_matrix_empty(), mpnum_const_matrix_of(MPNUM_TYPE_F32, logits, 1, 2),
      &label, NULL, NULL);
  CHECK(status == MPNUM_ERROR_RANGE && loss == 5.0f, "%d, loss %g", (int)status,
        (double)loss);
}

/* Only in f16. */
static void activations_past_f16_are_counted(void) {
  mpnum_bf16 activations[3];
  const mpnum_format f16 = mpnum_format_of(MPNUM_TYPE_F16);
  activations[0] = mpnum_f32_to_bf16(70000.0f);
  activations[1] = mpnum_f32_to_bf16(1e-9f); /* f16 has nothing below 2^-24 */
  activations[2] = mpnum_f32_to_bf16(1.0f);
  mpnum_lost lost = {0, 0};
  CHECK(mpnum_count_lost(&lost, MPNUM_TYPE_BF16, activations, 3, f16, 1.0f) == MPNUM_OK,
        "counted");
  CHECK(lost.overflows == 1 && lost.underflows == 1, "%" PRIu64 ", %" PRIu64,
        lost.overflows, lost.underflows);
  /* 256 * 256 is 65536; 255 * 256 is 65280. */
  CHECK(mpnum_dot_may_overflow(f16, 1, 256.0f, 256.0f) == 1, "256 * 256");
  CHECK(mpnum_dot_may_overflow(f16, 1, 255.0f, 256.0f) == 0, "255 * 256");
  fill(60000.0f);
  mpnum_f32_to_f16_array(halves, values, 3);
  CHECK(mpnum_sum_f16(halves, 3) == 180000.0f, "a sum past f16");
}

/* The scale falls. Steps with this gradient and these rules; the findings of the last. */
static mpnum_grad_findings steps(mpnum_grad_scaler *scaler,
                                 mpnum_grad_scaler_config config, float gradient,
                                 int count) {
  mpnum_grad_findings findings = mpnum_grad_findings_empty();
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  CHECK(mpnum_grad_scaler_init(scaler, config) == MPNUM_OK, "rules");
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(scaler);
  for (int i = 0; i < count; ++i) {
    float gradients[4] = {1.0f, 2.0f, gradient, 3.0f};
    const mpnum_grad_tensor tensor =
        mpnum_grad_tensor_of(MPNUM_TYPE_F32, gradients, 4, MPNUM_TYPE_F32, gradients);
    must(mpnum_grad_scaler_unscale_clip_step(scaler, &optimizer, &tensor, 1, INFINITY, 0,
                                             &findings, &verdict));
    must(mpnum_grad_scaler_update(scaler, &optimizer));
  }
  CHECK(verdict == MPNUM_GRAD_SKIP, "a skip");
  return findings;
}
static void a_nan_of_the_model_takes_the_scale_to_its_floor(void) {
  mpnum_grad_scaler scaler;
  mpnum_grad_findings findings = steps(&scaler, mpnum_grad_scaler_default(), NAN, 40);
  CHECK(scaler.scale == 1.0f, "from 65536 to %g", (double)scaler.scale);
  CHECK(scaler.consecutive_overflows == 40 && scaler.skipped == 40, "skips");
  CHECK(findings.first_tensor == 0 && findings.first_element == 2, "the place");
  CHECK((findings.first_bits & 0x7fffffff) > 0x7f800000, "a NaN");
  findings = steps(&scaler, mpnum_grad_scaler_default(), INFINITY, 1);
  CHECK(findings.first_bits == 0x7f800000, "an Inf");
  steps(&scaler, mpnum_grad_scaler_torch(), NAN, 150);
  CHECK(scaler.scale == ldexpf(1.0f, -126), "no floor but 2^-126: %g",
        (double)scaler.scale);
}

/* Gradients are 0. */
static void a_scale_brings_small_gradients_back(void) {
  mpnum_histogram histogram = mpnum_histogram_empty();
  mpnum_lost least, most;
  fill(ldexpf(1.0f, -26)); /* to f16: 0; times 2^16: 2^-10 */
  mpnum_f32_to_f16_array(halves, values, COUNT);
  CHECK(mpnum_stats_f16(halves, COUNT).zeros == COUNT, "all vanish");
  for (int i = 0; i < COUNT; ++i)
    mpnum_histogram_add(&histogram, values[i]);
  mpnum_histogram_lost(&histogram, mpnum_format_of(MPNUM_TYPE_F16), 1, &least, &most);
  CHECK(least.underflows == COUNT, "%" PRIu64, least.underflows);
  mpnum_histogram_lost(&histogram, mpnum_format_of(MPNUM_TYPE_F16), 65536, &least, &most);
  CHECK(most.underflows == 0 && most.overflows == 0, "a scale of 65536");
}

static void an_update_below_half_a_gap_needs_luck_or_a_copy(void) {
  const float update = ldexpf(1.0f, -10); /* the gap below 1 is 2^-8 */
  const mpnum_bf16 one = mpnum_f32_to_bf16(1.0f);
  int moved = 0;
  CHECK(mpnum_ulp_bf16(one) > 2 * update, "the gap");
  CHECK(mpnum_f32_to_bf16(1.0f - update).bits == one.bits, "rounds back");
  for (uint64_t i = 0; i < 1024; ++i)
    moved += mpnum_f32_to_bf16_sr(1.0f - update, mpnum_random(1, i)).bits != one.bits;
  CHECK(moved > 200 && moved < 312, "a quarter of 1024: %d", moved); /* 4 deviations */
}

/* Only in 8 bits. */
static void scales_of_nothing_and_of_too_much(void) {
  const mpnum_format e4m3 = mpnum_format_of(MPNUM_TYPE_E4M3);
  CHECK(mpnum_best_scale(e4m3, 0.0f, 0) == 1.0f, "0");
  CHECK(mpnum_best_scale(e4m3, INFINITY, 0) == 1.0f, "Inf");
  CHECK(mpnum_best_scale(e4m3, NAN, 0) == 1.0f, "NaN");
  CHECK(mpnum_f32_to_e8m0(ldexpf(1.5f, 127)).bits == 0xfe, "1.5 * 2^127");
  CHECK(mpnum_f32_to_e8m0(ldexpf(1.625f, 127)).bits == 0xff, "above it");
  CHECK(mpnum_f32_to_e8m0_sat(INFINITY).bits == 0xfe, "saturated");
  CHECK(mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(0x38)) == 1.0f, "fn");
  CHECK(mpnum_e4m3fnuz_to_f32(mpnum_from_bits_e4m3fnuz(0x38)) == 0.5f, "fnuz");
}

int main(void) {
  TAP_RUN(a_weight_past_the_format_is_found);
  TAP_RUN(softmax_says_what_a_row_was);
  TAP_RUN(a_label_that_is_no_class_is_refused);
  TAP_RUN(activations_past_f16_are_counted);
  TAP_RUN(a_nan_of_the_model_takes_the_scale_to_its_floor);
  TAP_RUN(a_scale_brings_small_gradients_back);
  TAP_RUN(an_update_below_half_a_gap_needs_luck_or_a_copy);
  TAP_RUN(scales_of_nothing_and_of_too_much);
  return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* A contrastive loss (InfoNCE) in f16, twice: as in textbooks, every step rounded to f16,
 * and by mpnum_contrastive_loss on the same similarities. The colder the temperature, the
 * sooner the first one is Inf or NaN.
 *
 *     textbook: log(sum over k of e^(s[k] / temperature)) - s[i] / temperature
 *     stable:   the same with the largest s taken off before anything is exponentiated */
#include <mpnum/mpnum.h>

#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 64, SIZE = 32 };

static mpnum_f16 images[PAIRS * SIZE], texts[PAIRS * SIZE];
static mpnum_f16 similarity[PAIRS * PAIRS];

static mpnum_f16 rounded(float x) { return mpnum_f32_to_f16(x); }
static float value(mpnum_f16 x) { return mpnum_f16_to_f32(x); }

static void check(mpnum_status status) {
  if (status == MPNUM_OK) return;
  fprintf(stderr, "contrastive_loss: %s\n", mpnum_status_string(status));
  exit(1);
}
static void make_units(mpnum_f16 *x) {
  check(mpnum_l2_normalize_rows(mpnum_matrix_of(MPNUM_TYPE_F16, x, PAIRS, SIZE),
                                mpnum_const_matrix_of(MPNUM_TYPE_F16, x, PAIRS, SIZE),
                                0));
}
/* Unit vectors: of a pair the second one is the first and some noise. */
static void make_embeddings(void) {
  uint64_t i = 0;
  for (; i < (uint64_t)PAIRS * SIZE; ++i) {
    const float x = (float)mpnum_random(1, i) * 0x1p-31f - 1;
    const float noise = (float)mpnum_random(2, i) * 0x1p-31f - 1;
    images[i] = rounded(x);
    texts[i] = rounded(x + noise / 2);
  }
  make_units(images);
  make_units(texts);
}
static void make_similarities(void) {
  int i = 0, k = 0;
  for (; i < PAIRS; ++i)
    for (k = 0; k < PAIRS; ++k)
      similarity[i * PAIRS + k] =
          rounded(mpnum_dot_f16(images + i * SIZE, texts + k * SIZE, SIZE));
}

/* The mean over all rows, every intermediate result an f16. */
static float textbook(float temperature) {
  float total = 0;
  int i = 0, k = 0;
  for (; i < PAIRS; ++i) {
    mpnum_f16 sum = rounded(0), loss;
    for (k = 0; k < PAIRS; ++k) {
      const mpnum_f16 logit = rounded(value(similarity[i * PAIRS + k]) / temperature);
      sum = rounded(value(sum) + value(mpnum_exp_f16(logit)));
    }
    loss = rounded(value(mpnum_log_f16(sum)) -
                   value(similarity[i * PAIRS + i]) / temperature);
    total += value(loss);
  }
  return total / PAIRS;
}
static float stable(float temperature) {
  mpnum_contrastive_options how = mpnum_contrastive_default();
  float loss = 0;
  how.scale = 1 / temperature;
  how.reduction = MPNUM_REDUCTION_MEAN;
  check(mpnum_contrastive_loss(
      &loss, NULL, mpnum_matrix_empty(),
      mpnum_const_matrix_of(MPNUM_TYPE_F16, similarity, PAIRS, PAIRS), &how));
  return loss;
}

int main(void) {
  static const float temperatures[] = {1, 0.5f, 0.2f, 0.1f, 0.07f, 0.05f, 0.02f, 0.01f};
  int i = 0;
  make_embeddings();
  make_similarities();
  printf("temperature   textbook f16   stable\n");
  for (; i < 8; ++i)
    printf("%11.2f   %12.5f   %.5f\n", (double)temperatures[i],
           (double)textbook(temperatures[i]), (double)stable(temperatures[i]));
  return 0;
}

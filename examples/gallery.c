/* SPDX-License-Identifier: MIT */
/* Prints what docs/gallery.md shows, but for the loss curves, which train_f16.c has: a
 * line for each point, the picture, its curve, x and y.
 *
 *     cc -O2 -ffp-contract=off -I include examples/gallery.c -o gallery
 *     ./gallery examples/digits.bin
 *
 * The same on every CPU. tools/gallery draws it. */
#include "adam.h"
#include "batches.h"
#include "mlp.h"

#include <mpnum/blocks/measure.h>

static void must(mpnum_status status) {
  if (status == MPNUM_OK) return;
  fprintf(stderr, "gallery: %s\n", mpnum_status_string(status));
  exit(1);
}
static float *floats(size_t n) {
  float *made = (float *)calloc(n, sizeof *made);
  if (made) return made;
  fprintf(stderr, "gallery: there is not enough memory\n");
  exit(1);
}

/* A point; one that is Inf or NaN has no y. */
static void point(const char *picture, const char *curve, int x, double y) {
  if (mpnum_isfinite_f64(y))
    printf("%s,\"%s\",%d,%.5g\n", picture, curve, x, y);
  else
    printf("%s,\"%s\",%d,\n", picture, curve, x);
}

/* How many gradients of a network have a magnitude from 2^x on, below 2^(x + 1): that of
 * train_f16.c after 20 steps in floats, as they are and with a loss 2^16 times as large.
 */
enum { STEPS = 20, BATCH = 64, WIDTH = 32, HIDDEN = 3, LOWEST = -48, HIGHEST = 4 };
static void gradients(const char *path) {
  const float per_example = 0x1p-22f; /* the loss is the mean of 4 Mi */
  size_t widths[HIDDEN + 2] = {DIGITS_PIXELS, WIDTH, WIDTH, WIDTH, DIGITS_CLASSES};
  uint64_t counts[HIGHEST - LOWEST] = {0}, count = 0;
  float losses[BATCH], *images = floats((size_t)BATCH * DIGITS_PIXELS);
  const float *found; /* the gradients */
  int64_t labels[BATCH];
  digits data;
  mlp net;
  adam optimizer;
  const char *const wrong = digits_load(&data, path);
  if (wrong) {
    fprintf(stderr, "gallery: %s: %s\n", path, wrong);
    exit(1);
  }
  if (!mlp_init(&net, HIDDEN + 1, widths, BATCH) ||
      !adam_init(&optimizer, mlp_count(&net)))
    exit(1);
  count = mlp_count(&net);
  found = (const float *)net.gradients;
  mlp_start(&net, 1, 0);
  for (uint64_t step = 1; step <= STEPS; ++step) {
    batches_take(images, labels, &data, 1, step * BATCH, BATCH);
    mlp_round_weights(&net);
    mlp_forward(&net, images, BATCH);
    must(mlp_losses(&net, losses, labels, BATCH, per_example));
    mlp_backward(&net, BATCH);
    adam_step(&optimizer, net.master, found, count, 0.002f);
  }
  for (size_t i = 0; i < count; ++i) {
    const int power = (int)(mpnum_bits_f32(found[i]) >> 23 & 0xff) - 127;
    if (found[i] != 0 && power >= LOWEST && power < HIGHEST) ++counts[power - LOWEST];
  }
  for (int power = LOWEST; power < HIGHEST; ++power) {
    const double share = 100 * (double)counts[power - LOWEST] / (double)count;
    point("gradients", "as they are", power, share);
    point("gradients", "loss times 65536", power + 16, share);
  }
  free(images);
  free(data.bytes);
  adam_free(&optimizer);
  mlp_free(&net);
}

/* The share of the largest of 64 logits, from 0 to the largest in even steps: as in
 * textbooks, exp(x) over the sum of all, stored in f16 or f32, and by
 * mpnum_softmax_rows. */
static float textbook_f32(const float *x, size_t n) {
  float sum = 0, last = 0;
  for (size_t i = 0; i < n; ++i)
    sum += last = mpnum_exp_f32(x[i]);
  return last / sum;
}
static float textbook_f16(const float *x, size_t n) {
  mpnum_f16 sum = mpnum_f32_to_f16(0), last = sum;
  for (size_t i = 0; i < n; ++i) {
    last = mpnum_f32_to_f16(mpnum_exp_f32(x[i]));
    sum = mpnum_f32_to_f16(mpnum_f16_to_f32(sum) + mpnum_f16_to_f32(last));
  }
  return mpnum_f16_to_f32(last) / mpnum_f16_to_f32(sum);
}
static void softmax(void) {
  enum { LOGITS = 64 };
  float x[LOGITS], y[LOGITS];
  for (int largest = 1; largest <= 120; ++largest) {
    for (int i = 0; i < LOGITS; ++i)
      x[i] = (float)(largest * i) / (LOGITS - 1);
    must(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, LOGITS),
                            mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, LOGITS), NULL,
                            NULL));
    point("softmax", "textbook, f16", largest, (double)textbook_f16(x, LOGITS));
    point("softmax", "textbook, f32", largest, (double)textbook_f32(x, LOGITS));
    point("softmax", "mpnum_softmax_rows", largest, (double)y[LOGITS - 1]);
  }
}

/* SQNR of normal values, one in 1000 of them 30 times as large, by elements, kind of
 * scale and block. */
enum { VALUES = 1 << 17 };
static float normal(uint64_t i) {
  const float u = (float)(mpnum_random(7, 2 * i) >> 8) + 0.5f;
  const float v = (float)(mpnum_random(7, 2 * i + 1) >> 8) * 0x1p-24f;
  const float radius = mpnum_sqrt_f32(-2 * mpnum_log_f32(u * 0x1p-24f));
  const float x = radius * mpnum_cos_f32(6.2831855f * v);
  return i % 1000 == 999 ? 30 * x : x;
}
static void blocks(void) {
  const struct {
    const char *name;
    mpnum_blockscale_format format;
  } all[] = {{"e4m3 (MX)", mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL)},
             {"e2m3 (MX)", mpnum_blockscale_mx(MPNUM_TYPE_E2M3, MPNUM_BLOCKSCALE_RCEIL)},
             {"e2m1 (MX)", mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL)},
             {"e2m1 (NVFP4)", mpnum_blockscale_nvfp4_1x16()}};
  float *const x = floats(VALUES), *const scales = floats(VALUES);
  float *const codes = floats(VALUES);
  const mpnum_const_matrix source =
      mpnum_const_matrix_of(MPNUM_TYPE_F32, x, VALUES / 4096, 4096);
  for (uint64_t i = 0; i < VALUES; ++i)
    x[i] = normal(i);
  for (size_t f = 0; f < sizeof all / sizeof *all; ++f)
    for (size_t columns = 8; columns <= 1024; columns *= 2) {
      mpnum_blockscale_format format = all[f].format;
      mpnum_blockscaled made = {codes, 4096, scales, VALUES * sizeof *scales, 0, 1};
      mpnum_measure measure = mpnum_measure_empty();
      format.columns = columns;
      made.scale = mpnum_nvfp4_scale(mpnum_amax_f32(x, VALUES));
      if (format.rule != MPNUM_BLOCKSCALE_TWO_LEVEL) made.scale = 1;
      must(mpnum_quantize_blocks(&format, made, source, NULL, NULL));
      must(mpnum_measure_blocks(&measure, source, &format, made));
      point("blocks", all[f].name, (int)columns, mpnum_measure_summary(&measure).sqnr);
    }
  free(x);
  free(scales);
  free(codes);
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: gallery DIGITS     DIGITS is examples/digits.bin\n");
    return 2;
  }
  printf("picture,curve,x,y\n");
  gradients(arguments[1]);
  softmax();
  blocks();
  return 0;
}

/* SPDX-License-Identifier: MIT */
/* Trains a small network on digits in mixed precision: floats as master weights, Adam in
 * floats, everything that a forward and a backward pass store in f16, bf16 or 8 bits.
 *
 *     cc -O2 -I include examples/train_f16.c -o train_f16
 *     ./train_f16 examples/digits.bin
 *     ./train_f16 --scaling off examples/digits.bin
 *
 * Why f16 needs a loss scaler here: the loss is the mean over a global batch of 4 Mi
 * examples, as language models are trained, of which this machine computes 64. So
 * gradients by the logits are at most 2^-22, and softmax shares below 1/8 become 0 in
 * f16, whose smallest value is 2^-24: what is right is pushed up, what is wrong is not
 * pushed down. Adam divides by the size of gradients, so in f32 and bf16 the factor of
 * 2^-22 is of no account. docs/training.md has what each option shows. */
#include "adam.h"
#include "batches.h"
#include "digits.h"
#include "mlp.h"
#include "train/options.h"
#include "train/plot.h"
#include "train/report.h"
#include "train/state.h"

static void stop(const char *what, const char *why) {
  fflush(stdout);
  fprintf(stderr, "train_f16: %s: %s\n", what, why);
  exit(1);
}
static void stop_if(const char *what, const char *wrong) {
  if (wrong) stop(what, wrong);
}
/* Calls of the scaler that come in a wrong order say so. */
static void must(const char *what, mpnum_status status) {
  if (status != MPNUM_OK) stop(what, mpnum_status_string(status));
}

/* 8 bits: weights and activations in the type that was asked for, gradients in e5m2,
 * which has the range they need. */
static void use_type(mlp *net, mpnum_type type) {
  net->value_type = type;
  net->gradient_type = type == MPNUM_TYPE_E4M3 ? MPNUM_TYPE_E5M2 : type;
}
/* The network, the optimizer, and room for batches and a snapshot. */
static void allocate(training *t) {
  size_t widths[MLP_LAYERS + 1] = {DIGITS_PIXELS};
  const size_t hidden = t->run.hidden, batch = t->run.batch;
  for (size_t i = 0; i < hidden; ++i)
    widths[i + 1] = t->run.width;
  widths[hidden + 1] = DIGITS_CLASSES;
  if (!mlp_init(&t->net, hidden + 1, widths, batch) ||
      !adam_init(&t->optimizer_state, mlp_count(&t->net)))
    stop("memory", "there is not enough");
  t->images = (float *)malloc(batch * DIGITS_PIXELS * sizeof(float));
  t->labels = (int64_t *)malloc(batch * sizeof(int64_t));
  t->losses = (float *)malloc(batch * sizeof(float));
  t->gradients = (float *)malloc(mlp_count(&t->net) * sizeof(float));
  t->snapshot = (uint8_t *)calloc(1, state_model_size(t));
  if (!t->images || !t->labels || !t->losses || !t->gradients || !t->snapshot)
    stop("memory", "there is not enough");
}
static void start(training *t, const options *chosen) {
  mpnum_grad_scaler_config scaling = mpnum_grad_scaler_default();
  mpnum_fallback_config fallback = mpnum_fallback_default();
  memset(t, 0, sizeof *t);
  t->run = chosen->run;
  stop_if(chosen->data, digits_load(&t->data, chosen->data));
  allocate(t);
  mlp_start(&t->net, t->run.seed, t->run.deviation);
  use_type(&t->net, (mpnum_type)t->run.format);
  scaling.enabled = (int16_t)t->run.scaling;
  scaling.growth_interval = (int32_t)t->run.growth_interval;
  must("scaler", mpnum_grad_scaler_init(&t->scaler, scaling));
  t->optimizer = mpnum_grad_optimizer_of(&t->scaler);
  t->health = mpnum_health_of(mpnum_health_default());
  fallback.narrow = (mpnum_type)t->run.format;
  if (t->run.automatic) must("--auto", mpnum_fallback_init(&t->fallback, fallback));
  if (chosen->resume) stop_if(chosen->resume, state_resume(t, chosen->resume));
}
static void end(training *t) {
  free(t->data.bytes);
  mlp_free(&t->net);
  adam_free(&t->optimizer_state);
  free(t->images);
  free(t->labels);
  free(t->losses);
  free(t->gradients);
  free(t->snapshot);
}

/* Scaled gradients by all parameters, and the mean loss. */
static float take_gradients(training *t, const options *chosen) {
  float scaled = 0, sum = 0;
  must("scale",
       mpnum_grad_scaler_scale_f32(&t->scaler, 1 / (float)t->run.global_batch, &scaled));
  mlp_round_weights(&t->net);
  mlp_forward(&t->net, t->images, t->run.batch);
  must("loss", mlp_losses(&t->net, t->losses, t->labels, t->run.batch, scaled));
  mlp_backward(&t->net, t->run.batch);
  if (t->step == chosen->inject) {
    const float inf = mpnum_from_bits_f32(0x7f800000u);
    mlp_store(t->net.gradient_type, t->net.gradients, &inf, 1, MPNUM_OVERFLOW_IEEE);
  }
  for (size_t i = 0; i < t->run.batch; ++i)
    sum += t->losses[i];
  return sum / (float)t->run.batch;
}

/* Unscales, clips, and lets the optimizer take its step or not; the next scale. */
static void take_verdict(training *t, const options *chosen,
                         const mpnum_grad_tensor *tensors,
                         mpnum_grad_findings *findings) {
  const size_t count = t->net.layers;
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  if (chosen->clip_first) /* refused: they would be clipped to 1 / scale */
    must("clip", mpnum_grad_scaler_clip(&t->scaler, &t->optimizer, tensors, count, 1));
  must("step",
       mpnum_grad_scaler_unscale_clip_step(&t->scaler, &t->optimizer, tensors, count,
                                           t->run.clip, 0, findings, &verdict));
  if (verdict == MPNUM_GRAD_APPLY)
    adam_step(&t->optimizer_state, t->net.master, t->gradients, mlp_count(&t->net),
              t->run.rate);
  must("update", mpnum_grad_scaler_update(&t->scaler, &t->optimizer));
}
static progress take_step(training *t, const options *chosen) {
  mpnum_grad_tensor tensors[MLP_LAYERS];
  mpnum_histogram histogram = mpnum_histogram_empty();
  mpnum_grad_findings findings;
  progress now;
  t->step += 1;
  if (t->step == chosen->corrupt) t->net.master[0] = mpnum_from_bits_f32(0x7fc00000u);
  now.step = t->step;
  now.type = t->net.value_type;
  now.scale = t->scaler.scale;
  batches_take(t->images, t->labels, &t->data, t->run.seed, t->step * t->run.batch,
               t->run.batch);
  now.loss = take_gradients(t, chosen);
  mlp_tensors(&t->net, tensors, t->gradients);
  for (size_t l = 0; l < t->net.layers; ++l)
    tensors[l].histogram = &histogram;
  take_verdict(t, chosen, tensors, &findings);
  now.alarms = mpnum_health_watch(&t->health, &findings, &histogram,
                                  mpnum_format_of(t->net.gradient_type), now.scale);
  now.norm = mpnum_grad_norm(&findings);
  now.zero_share =
      findings.stats.count
          ? (float)((double)findings.stats.zeros / (double)findings.stats.count)
          : 0;
  now.layer = findings.first_tensor;
  now.next_scale = t->scaler.scale;
  now.skips = t->optimizer.consecutive_skips;
  now.skipped = t->skipped += now.skips > 0;
  return now;
}

/* Does what the fallback advises after a step. Here a step is bad, too, when the narrow
 * format makes many gradients 0. */
static void take_advice(training *t, const progress *now, const report *to) {
  const int is_narrow = !t->fallback.is_wide;
  const int is_bad = now->skips > 0 || !mpnum_isfinite_f32(now->loss) ||
                     (is_narrow && (now->alarms & MPNUM_HEALTH_ZEROS));
  const mpnum_fallback_advice advice = mpnum_fallback_step(&t->fallback, is_bad);
  if (advice.snapshot) state_keep(t);
  if (advice.roll_back) {
    state_return(t);
    report_event(to, "step %llu: back to the last stable state",
                 (unsigned long long)t->step);
  }
  if (advice.type != t->net.value_type) {
    use_type(&t->net, advice.type);
    report_event(to, "step %llu: %s from here on", (unsigned long long)t->step,
                 mpnum_type_name(advice.type));
  }
}

int main(int count, char **arguments) {
  const options chosen = options_parse(count, arguments);
  training t;
  report to;
  plot_point *points = NULL;
  size_t done = 0;
  float loss = 0;
  start(&t, &chosen);
  if (t.step >= chosen.steps) stop(chosen.resume, "it has all these steps behind it");
  points = (plot_point *)malloc((size_t)(chosen.steps - t.step) * sizeof *points);
  if (!points) stop("memory", "there is not enough");
  stop_if(chosen.log, report_open(&to, &chosen));
  while (t.step < chosen.steps) {
    const progress now = take_step(&t, &chosen);
    const plot_point point = {now.step, now.loss, now.scale, now.zero_share,
                              now.skips > 0};
    report_step(&to, &now);
    if (t.run.automatic) take_advice(&t, &now, &to);
    points[done++] = point;
    loss = now.loss;
  }
  stop_if(chosen.log, report_close(&to));
  if (chosen.svg) stop_if(chosen.svg, plot_write(chosen.svg, points, done));
  if (chosen.save) stop_if(chosen.save, state_save(&t, chosen.save));
  printf("%.1f %% of %llu test images right, in %s; steps skipped: %llu, scale 2^%d\n",
         100 * (double)batches_accuracy(&t.net, &t.data, t.images),
         (unsigned long long)(t.data.count - t.data.train),
         mpnum_type_name(t.net.value_type), (unsigned long long)t.skipped,
         report_power(t.scaler.scale));
  free(points);
  end(&t);
  if (!mpnum_isfinite_f32(loss)) stop("training failed", "the loss is not finite");
  return 0;
}

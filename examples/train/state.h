/* SPDX-License-Identifier: MIT */
/* The state of a training run as bytes: in memory, to return to, and in a file, to resume
 * from. Numbers are as this machine stores them, but for scaler, handle, monitor and
 * fallback, whose bytes are the same on every machine. */
#ifndef EXAMPLES_TRAIN_STATE_H
#define EXAMPLES_TRAIN_STATE_H

#include <mpnum/training/advice.h>
#include <mpnum/training/scaler_io.h>

#include "../adam.h"
#include "../digits.h"
#include "../mlp.h"
#include "options.h"
#include "state_file.h"

typedef struct training {
  settings run;
  digits data;
  mlp net;
  adam optimizer_state;
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer;
  mpnum_health health;
  mpnum_fallback fallback;
  uint64_t step, skipped;
  uint8_t *snapshot; /* state_model's bytes */
  float *images, *losses, *gradients;
  int64_t *labels;
} training;

/* A state of the library's passes as its bytes: state_scaler and so on. */
static inline void state_check(state_place *place, mpnum_status status) {
  if (status != MPNUM_OK) place->is_wrong = 1;
}
#define STATE_OF_BYTES(name, type, size)                                               \
 static inline void name(state_place *place, type *passed) {                           \
  uint8_t bytes[size] = {0};                                                           \
  if (!place->is_loading) state_check(place, type##_save(bytes, passed));              \
  state_pass(place, bytes, sizeof bytes);                                              \
  if (place->is_loading) state_check(place, type##_load(passed, bytes, sizeof bytes)); \
 }
STATE_OF_BYTES(state_scaler, mpnum_grad_scaler, MPNUM_GRAD_SCALER_BYTES)
STATE_OF_BYTES(state_optimizer, mpnum_grad_optimizer, MPNUM_GRAD_OPTIMIZER_BYTES)
STATE_OF_BYTES(state_health, mpnum_health, MPNUM_HEALTH_BYTES)
STATE_OF_BYTES(state_fallback, mpnum_fallback, MPNUM_FALLBACK_BYTES)

/* What learning changes: weights, Adam's means, the scaler. */
static inline void state_model(state_place *place, training *t) {
  const size_t count = mlp_count(&t->net);
  state_pass(place, t->net.master, count * sizeof(float));
  state_pass(place, t->optimizer_state.first, count * sizeof(float));
  state_pass(place, t->optimizer_state.second, count * sizeof(float));
  state_pass(place, &t->optimizer_state.first_decay, sizeof(float));
  state_pass(place, &t->optimizer_state.second_decay, sizeof(float));
  state_scaler(place, &t->scaler);
}
/* All that the next steps depend on, behind a name and the settings. */
static inline void state_run(state_place *place, training *t) {
  char name[8] = {'m', 'p', 't', 'r', 'a', 'i', 'n', '3'};
  settings run = t->run;
  state_place model = {NULL, 0, 0, 0};
  state_pass(place, name, sizeof name);
  state_pass(place, &run, sizeof run);
  state_pass(place, &t->step, sizeof t->step);
  state_pass(place, &t->skipped, sizeof t->skipped);
  state_pass(place, &t->net.value_type, sizeof t->net.value_type);
  state_pass(place, &t->net.gradient_type, sizeof t->net.gradient_type);
  state_optimizer(place, &t->optimizer);
  state_health(place, &t->health);
  if (t->run.automatic) state_fallback(place, &t->fallback); /* else there is none */
  state_model(place, t);
  state_model(&model, t);
  state_pass(place, t->snapshot, model.size);
}

static inline size_t state_model_size(training *t) {
  state_place place = {NULL, 0, 0, 0};
  state_model(&place, t);
  return place.size;
}
static inline void state_keep(training *t) {
  state_place place = {t->snapshot, 0, 0, 0};
  state_model(&place, t);
}
static inline void state_return(training *t) {
  state_place place = {t->snapshot, 0, 1, 0};
  state_model(&place, t);
  mpnum_grad_scaler_discard(&t->scaler, &t->optimizer); /* it was the later scaler's */
}

static inline void state_walk_run(state_place *place, void *run) {
  state_run(place, (training *)run);
}
/* NULL, or what is wrong. */
static inline const char *state_save(training *t, const char *path) {
  return state_file_save(path, state_walk_run, t);
}
/* NULL, or what is wrong; the run is then not to be used. */
static inline const char *state_resume(training *t, const char *path) {
  return state_file_load(path, state_walk_run, t, "mptrain3",
                         "this is no state of train_f16", &t->run, sizeof t->run);
}

#endif

/* SPDX-License-Identifier: MIT */
/* The state of a training run as bytes: in memory, to return to, and in a file, to resume
 * from. Numbers are as this machine stores them, but for scaler, handle, monitor and
 * fallback, whose bytes are the same on every machine. */
#ifndef EXAMPLES_TRAIN_STATE_H
#define EXAMPLES_TRAIN_STATE_H

#include <mpnum/advice.h>
#include <mpnum/scaler_io.h>

#include "../adam.h"
#include "../digits.h"
#include "../mlp.h"
#include "options.h"

#include <sys/stat.h>

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

/* A place in bytes, to which or from which values go; NULL: they are only counted. */
typedef struct state_place {
  uint8_t *at;
  size_t size;
  int is_loading, is_wrong;
} state_place;

static inline void state_pass(state_place *place, void *value, size_t size) {
  if (place->at && place->is_loading) memcpy(value, place->at + place->size, size);
  if (place->at && !place->is_loading) memcpy(place->at + place->size, value, size);
  place->size += size;
}
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
  char name[8] = {'m', 'p', 't', 'r', 'a', 'i', 'n', '2'};
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

/* The bytes of a file, which ends with a checksum; NULL: what is wrong. */
static inline uint8_t *state_bytes(training *t, size_t *size, const char **wrong) {
  state_place place = {NULL, 0, 0, 0};
  uint32_t sum = 0;
  state_run(&place, t);
  *size = place.size + sizeof sum;
  place.at = (uint8_t *)malloc(*size);
  place.size = 0;
  *wrong = "there is not enough memory";
  if (!place.at) return NULL;
  state_run(&place, t);
  *wrong = place.is_wrong ? "a state of the scaler's cannot be saved" : NULL;
  sum = checksum(0, place.at, place.size);
  memcpy(place.at + place.size, &sum, sizeof sum);
  return place.at;
}
/* Into a new file, which then takes the name of the old one: who is stopped in between
 * still has that. NULL, or what is wrong. */
static inline const char *state_save(training *t, const char *path) {
  const size_t length = strlen(path);
  char *fresh = (char *)malloc(length + 5);
  size_t size = 0;
  const char *wrong = NULL;
  uint8_t *bytes = state_bytes(t, &size, &wrong);
  struct stat old;
  if (!fresh) wrong = "there is not enough memory";
  if (wrong) {
    /* and nothing is written */
  } else if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
    wrong = "this is no ordinary file";
  } else {
    FILE *file;
    memcpy(fresh, path, length);
    memcpy(fresh + length, ".new", 5);
    file = fopen(fresh, "wb");
    if (!file) {
      wrong = strerror(errno);
    } else {
      const int is_short = fwrite(bytes, 1, size, file) != size;
      if ((fclose(file) != 0) | is_short || rename(fresh, path) != 0)
        wrong = strerror(errno);
      if (wrong) remove(fresh);
    }
  }
  free(bytes);
  free(fresh);
  return wrong;
}
/* NULL, or what is wrong; the run is then not to be used. */
static inline const char *state_resume(training *t, const char *path) {
  state_place size = {NULL, 0, 0, 0}, place = {NULL, 0, 1, 0};
  size_t bytes = 0;
  const char *wrong = NULL;
  uint32_t sum = 0;
  state_run(&size, t);
  place.at = digits_read_file(path, &bytes);
  if (!place.at) return strerror(errno);
  if (bytes >= 8 + sizeof sum) memcpy(&sum, place.at + bytes - sizeof sum, sizeof sum);
  if (bytes < 8 + sizeof t->run + sizeof sum || memcmp(place.at, "mptrain2", 8) != 0) {
    wrong = "this is no state of train_f16";
  } else if (sum != checksum(0, place.at, bytes - sizeof sum)) {
    wrong = "the file is damaged: its checksum is wrong";
  } else if (memcmp(place.at + 8, &t->run, sizeof t->run) != 0 ||
             bytes != size.size + sizeof sum) {
    wrong = "it was saved with other options";
  } else {
    state_run(&place, t);
    if (place.is_wrong) wrong = "it holds a state of another version";
  }
  free(place.at);
  return wrong;
}

#endif

/* SPDX-License-Identifier: MIT */
/* A run that is trained as a file: what a walk over its values passes, behind a name and
 * settings, and a checksum. */
#ifndef EXAMPLES_TRAIN_STATE_FILE_H
#define EXAMPLES_TRAIN_STATE_FILE_H

#include <mpnum/types/preset.h>

#include "../digits.h"

#include <sys/stat.h>

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
/* Goes over all values of a run: a name of 8 bytes and the settings first. */
typedef void state_walk(state_place *place, void *run);

/* The bytes of a file, which ends with a checksum; NULL: what is wrong. */
static inline uint8_t *state_bytes(state_walk *walk, void *run, size_t *size,
                                   const char **wrong) {
  state_place place = {NULL, 0, 0, 0};
  uint32_t sum = 0;
  walk(&place, run);
  *size = place.size + sizeof sum;
  place.at = (uint8_t *)malloc(*size);
  place.size = 0;
  *wrong = "there is not enough memory";
  if (!place.at) return NULL;
  walk(&place, run);
  *wrong = place.is_wrong ? "a state of the library's cannot be saved" : NULL;
  sum = checksum(0, place.at, place.size);
  memcpy(place.at + place.size, &sum, sizeof sum);
  return place.at;
}
/* Into a new file, which then takes the name of the old one: who is stopped in between
 * still has that. NULL, or what is wrong. */
static inline const char *state_file_save(const char *path, state_walk *walk, void *run) {
  const size_t length = strlen(path);
  char *fresh = (char *)malloc(length + 5);
  size_t size = 0;
  const char *wrong = NULL;
  uint8_t *bytes = state_bytes(walk, run, &size, &wrong);
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
/* NULL, or what is wrong; the run is then not to be used. foreign: what to say of a file
 * without that name; chosen: the settings. */
static inline const char *state_file_load(const char *path, state_walk *walk, void *run,
                                          const char *name, const char *foreign,
                                          const void *chosen, size_t chosen_size) {
  state_place size = {NULL, 0, 0, 0}, place = {NULL, 0, 1, 0};
  size_t bytes = 0;
  const char *wrong = NULL;
  uint32_t sum = 0;
  walk(&size, run);
  place.at = digits_read_file(path, &bytes);
  if (!place.at) return strerror(errno);
  if (bytes >= 8 + sizeof sum) memcpy(&sum, place.at + bytes - sizeof sum, sizeof sum);
  if (bytes < 8 + chosen_size + sizeof sum || memcmp(place.at, name, 8) != 0) {
    wrong = foreign;
  } else if (sum != checksum(0, place.at, bytes - sizeof sum)) {
    wrong = "the file is damaged: its checksum is wrong";
  } else if (memcmp(place.at + 8, chosen, chosen_size) != 0 ||
             bytes != size.size + sizeof sum) {
    wrong = "it was saved with other options";
  } else {
    walk(&place, run);
    if (place.is_wrong) wrong = "it holds a state of another version";
  }
  free(place.at);
  return wrong;
}

#endif

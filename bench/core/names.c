/* SPDX-License-Identifier: MIT */
/* Names of tensors, short and yet apart: those of layers differ in a number somewhere in
 * their middle, which is what a cut in the middle takes out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

typedef struct name {
  const char *whole;
  char *shown;
  size_t place;
} name;

static int by_shown(const void *a, const void *b) {
  const name *left = a, *right = b;
  const int order = strcmp(left->shown, right->shown);
  return order != 0 ? order : strcmp(left->whole, right->whole);
}

/* From `first` on, those that are shown alike: their number; 1 where they are one name.
 */
static size_t alike_from(const name *list, size_t count, size_t first) {
  size_t end = first + 1;
  while (end < count && strcmp(list[end].shown, list[first].shown) == 0)
    ++end;
  return strcmp(list[end - 1].whole, list[first].whole) == 0 ? 1 : end - first;
}

static bool has_alike(name *list, size_t count) {
  qsort(list, count, sizeof *list, by_shown);
  for (size_t i = 0; i < count; ++i) {
    if (alike_from(list, count, i) > 1) return true;
  }
  return false;
}

/* Some names that are shown alike, with another cut. False where there is none that tells
 * them apart. */
static bool cut_apart(name *list, size_t count, size_t size, size_t width) {
  for (size_t head = 0; head + 3 <= width; ++head) {
    for (size_t i = 0; i < count; ++i)
      shorten_at(list[i].shown, size, width, head, list[i].whole);
    if (!has_alike(list, count)) return true;
  }
  return false;
}

/* "model.layer~17" */
static void number(name *of, size_t size, size_t width) {
  char ending[24];
  int length = snprintf(ending, sizeof ending, "~%zu", of->place + 1);
  const size_t rest = width > (size_t)length + 3 ? width - (size_t)length : 3;
  shorten_at(of->shown, size, rest, rest - 3, of->whole);
  snprintf(of->shown + strlen(of->shown), size - strlen(of->shown), "%s", ending);
}

/* In rounds: a new cut may be like another name. The last ones number. */
static void set_apart(name *list, size_t count, size_t size, size_t width) {
  size_t alike;
  for (int round = 0; round < 4 && has_alike(list, count); ++round) {
    for (size_t i = 0; i < count; i += alike) {
      alike = alike_from(list, count, i);
      if (alike == 1 || (round < 2 && cut_apart(list + i, alike, size, width))) continue;
      for (size_t k = i; k < i + alike; ++k)
        number(&list[k], size, width);
    }
  }
}

char **shorten_apart(const char *const *texts, size_t count, size_t width) {
  const size_t size = 4 * width + 32;
  char **made = calloc(count + 1, sizeof *made), *room = malloc(count * size + 1);
  name *list = calloc(count + 1, sizeof *list);
  if (!made || !room || !list) {
    free(made);
    free(room);
    free(list);
    return NULL;
  }
  made[count] = room; /* one piece, freed by it */
  for (size_t i = 0; i < count; ++i) {
    list[i].whole = texts[i];
    list[i].place = i;
    list[i].shown = made[i] = room + i * size;
    shorten(made[i], size, width, texts[i]);
  }
  set_apart(list, count, size, width);
  free(list);
  return made;
}

void shorten_free(char **names, size_t count) {
  if (names) free(names[count]);
  free(names);
}

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

/* --- where to cut */

/* Names that a cut is compared with, spread over the list; of more names than the limit
 * each is cut in its middle, as this takes 0.1 ms a name. */
enum { COMPARED = 24, LIST_LIMIT = 4096 };

static bool is_ascii(const char *text) {
  for (; *text; ++text) {
    if ((unsigned char)*text > 0x7f) return false;
  }
  return true;
}

/* In how many others the text between is, too. */
static size_t common_in(const name *list, size_t count, const name *of, size_t from,
                        size_t length, char *room) {
  const size_t step = count < COMPARED ? 1 : count / COMPARED;
  size_t found = 0;
  memcpy(room, of->whole + from, length);
  room[length] = 0;
  for (size_t i = 0; i < count; i += step)
    found += &list[i] != of && strstr(list[i].whole, room) != NULL;
  return found;
}

/* Cuts out what the most other names have, too, and so tells none apart: one part, or
 * where that says more the beginning and the end; of several such cuts the one next to
 * the middle, and where no other name has any, that in the middle. */
static void cut_common(const name *list, size_t count, const name *of, size_t size,
                       size_t width) {
  const size_t total = strlen(of->whole), middle = width - 3 - (width - 3) / 2;
  const size_t kept = width > 6 ? width - 6 : 0; /* of two cuts */
  size_t head, best = middle, most = 0, begin = 0;
  if (total <= width || !is_ascii(of->whole)) return;
  char *room = malloc(total + 1);
  if (!room) return; /* it is cut in the middle */
  for (size_t i = 0; i <= 2 * middle; ++i) {
    head = i % 2 ? middle - (i + 1) / 2 : middle + i / 2; /* 0, -1, 1, -2, 2, ... */
    if (head + 3 > width) continue;
    const size_t found = common_in(list, count, of, head, total - (width - 3), room);
    if (found <= most) continue;
    most = found;
    best = head;
  }
  for (head = 4; kept > 8 && head + kept + 4 <= total; ++head) {
    const size_t before = common_in(list, count, of, 0, head, room);
    const size_t after =
        before > most ? common_in(list, count, of, head + kept, total - head - kept, room)
                      : 0;
    if (after <= most) continue;
    most = before < after ? before : after;
    begin = head;
  }
  free(room);
  if (begin > 0) {
    snprintf(of->shown, size, "...%.*s...", (int)kept, of->whole + begin);
    clean_text(of->shown);
  } else {
    shorten_at(of->shown, size, width, best, of->whole);
  }
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
  for (size_t i = 0; i < count && count <= LIST_LIMIT; ++i)
    cut_common(list, count, &list[i], size, width);
  set_apart(list, count, size, width);
  free(list);
  return made;
}

void shorten_free(char **names, size_t count) {
  if (names) free(names[count]);
  free(names);
}

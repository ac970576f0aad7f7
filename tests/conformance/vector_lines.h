/* SPDX-License-Identifier: MIT */
/* Lines of the files in conformance/, which tools/conformance writes one way: a key, a
 * colon and a blank, then a string of words with a blank between them. */
#ifndef MPNUM_TESTS_VECTOR_LINES_H
#define MPNUM_TESTS_VECTOR_LINES_H

#include "../harness/tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static long long cases;

/* What follows `"key": `, and the quote that begins a string; NULL without it. */
static inline const char *values_of(const char *line, const char *key) {
  char quoted[40];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(line, quoted);
  if (!at) return NULL;
  at += strlen(quoted);
  return *at == '"' ? at + 1 : at;
}
/* The next word of a string; 0 at its end. */
static inline int next_text(const char **at, char *text, size_t room) {
  if (!*at) return 0;
  while (**at == ' ')
    ++*at;
  const size_t length = strcspn(*at, " \",}");
  if (length == 0 || length >= room) return 0;
  memcpy(text, *at, length);
  text[length] = 0;
  *at += length;
  return 1;
}
static inline int next_word(const char **at, uint64_t *word) {
  char text[20], *end = NULL;
  if (!next_text(at, text, sizeof text)) return 0;
  *word = strtoull(text, &end, 16);
  return *end == 0;
}
static inline void text_of(const char *line, const char *key, char *text, size_t room) {
  const char *at = values_of(line, key);
  CHECK(next_text(&at, text, room), "%.60s: no %s", line, key);
}
static inline size_t words_of(const char *line, const char *key, uint64_t *words,
                              size_t most) {
  const char *at = values_of(line, key);
  size_t n = 0;
  while (n < most && next_word(&at, &words[n]))
    ++n;
  return n;
}

/* Calls a function with each line but the first, which describes the others; returns how
 * many there are. */
static inline int each_line_of(FILE *file, const char *path,
                               void (*function)(const char *line)) {
  static char line[1 << 17];
  int count = 0;
  CHECK(file, "%s cannot be read", path);
  if (!file) return 0;
  CHECK(fgets(line, sizeof line, file) && strstr(line, "\"version\": 1,"), "%s: version",
        path);
  for (; fgets(line, sizeof line, file); ++count) {
    CHECK(strchr(line, '\n'), "%s: line %d is cut off", path, count + 2);
    function(line);
  }
  return count;
}
/* MPNUM_SOURCE is the folder above conformance/. */
static inline int each_line(const char *name, void (*function)(const char *line)) {
  char path[1024];
  const char *root = getenv("MPNUM_SOURCE");
  snprintf(path, sizeof path, "%s/conformance/%s.jsonl", root ? root : ".", name);
  FILE *file = fopen(path, "r");
  const int count = each_line_of(file, path, function);
  if (file) fclose(file);
  return count;
}

#endif

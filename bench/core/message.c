/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUBJECT_WIDTH = 160 };

const char *program_title = "mpnum bench";

bool refuse(refusal *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, sizeof why->text, format, arguments);
  why->advice = NULL;
  va_end(arguments);
  return false;
}

/* Bytes of the character that begins here, 0 if it is no UTF-8 (Unicode 15.0, table 3-7).
 */
static size_t character_bytes(const unsigned char *at) {
  unsigned char least = 0x80, most = 0xbf;
  size_t count = 2;
  if (at[0] < 0x80) return 1;
  if (at[0] < 0xc2 || at[0] > 0xf4) return 0;
  if (at[0] >= 0xe0) count = at[0] >= 0xf0 ? 4 : 3;
  if (at[0] == 0xe0) least = 0xa0;
  if (at[0] == 0xed) most = 0x9f;
  if (at[0] == 0xf0) least = 0x90;
  if (at[0] == 0xf4) most = 0x8f;
  if (at[1] < least || at[1] > most) return 0;
  for (size_t i = 2; i < count; ++i)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return count;
}

/* C1 controls are U+0080..U+009F, in UTF-8 the byte c2 and one of 80..9f. */
static bool is_control(const unsigned char *at) {
  return at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] <= 0x9f);
}

void clean_text(char *text) {
  unsigned char *at = (unsigned char *)text;
  while (*at != 0) {
    const size_t count = character_bytes(at);
    const bool is_clean = count > 0 && !is_control(at);
    for (size_t left = count > 0 ? count : 1; left > 0; --left, ++at)
      if (!is_clean) *at = '?';
  }
}

void complain(const char *subject, const char *text) {
  char shown[4 * SUBJECT_WIDTH + 4], line[sizeof(refusal)];
  shorten(shown, sizeof shown, SUBJECT_WIDTH, subject ? subject : "");
  snprintf(line, sizeof line, "%s", text);
  clean_text(line);
  fprintf(stderr, "%s: %s%s%s\n", program_title, shown, subject ? ": " : "", line);
}

void complain_why(const char *subject, const refusal *why) {
  complain(subject, why->text);
  if (why->advice) fputs(why->advice, stderr);
}

void must_(int status) {
  if (status == 0) return;
  fprintf(stderr, "%s: a call was refused, status %d\n", program_title, status);
  abort();
}

static bool continues_character(char byte) {
  return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t columns(const char *text) {
  size_t count = 0;
  for (; *text; ++text)
    count += !continues_character(*text);
  return count;
}

/* The byte at which character number `index` starts. */
static const char *character_at(const char *text, size_t index) {
  while (*text && (index > 0 || continues_character(*text))) {
    if (!continues_character(*text)) --index;
    ++text;
  }
  return text;
}

void shorten_at(char *dst, size_t size, size_t width, size_t head, const char *text) {
  const size_t total = columns(text);
  if (total <= width) {
    snprintf(dst, size, "%s", text);
  } else {
    const int head_bytes = (int)(character_at(text, head) - text);
    snprintf(dst, size, "%.*s...%s", head_bytes, text,
             character_at(text, total - (width - 3 - head)));
  }
  clean_text(dst);
}

void shorten(char *dst, size_t size, size_t width, const char *text) {
  shorten_at(dst, size, width, width - 3 - (width - 3) / 2, text);
}

char *copy_text(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

bool wants_colour(int descriptor) {
  const char *off = getenv("NO_COLOR"), *kind = getenv("TERM");
  return isatty(descriptor) == 1 && !(off && off[0]) && kind && strcmp(kind, "dumb") != 0;
}

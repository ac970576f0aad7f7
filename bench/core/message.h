/* SPDX-License-Identifier: MIT */
/* One clear line for a person: reasons for refusing an input, and text that is safe to
 * print. */
#ifndef MPNUM_BENCH_MESSAGE_H
#define MPNUM_BENCH_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
# define BENCH_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
# define BENCH_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct refusal {
  char text[320];
  const char *advice; /* whole lines that follow it; NULL: none */
} refusal;

/* Writes why; always false, so that a check reads `return refuse(why, ...)`. */
bool refuse(refusal *why, const char *format, ...) BENCH_PRINTF(2, 3);

/* "mpnum bench", or what the program is called instead. */
extern const char *program_title;

/* Prints `mpnum bench: [subject: ]text` as one line on stderr. subject may be NULL. */
void complain(const char *subject, const char *text);
/* The same with its advice. */
void complain_why(const char *subject, const refusal *why);

/* Ends the program, which has a fault, if a call of the library did not succeed. */
#define must(status) must_((int)(status))
void must_(int status);

/* Replaces each byte that could start a new line or drive the terminal by '?'. Names come
 * out of files and file names out of directories: neither may forge a line of the report.
 */
void clean_text(char *text);

/* A cleaned copy of at most width columns, the middle cut out of a longer one.
 * dst has room for size bytes; cuts fall between UTF-8 characters. */
void shorten(char *dst, size_t size, size_t width, const char *text);
/* The same, cut after `head` columns, which are at most width - 3. */
void shorten_at(char *dst, size_t size, size_t width, size_t head, const char *text);

/* Each of count texts in at most width columns, 8 or more, and no two of them alike that
 * are not one text: where the middle is what differs, the cut is elsewhere, or a number
 * ends the text. NULL when out of memory; shorten_free. */
char **shorten_apart(const char *const *texts, size_t count, size_t width);
void shorten_free(char **names, size_t count);

/* Columns that UTF-8 text takes, one for each character. */
size_t columns(const char *text);

/* Whether a descriptor is that of a terminal that takes colours, unless
 * https://no-color.org says no. */
bool wants_colour(int descriptor);

/* malloc'd copy, NULL when out of memory. */
char *copy_text(const char *text);

#ifdef __cplusplus
}
#endif

#endif

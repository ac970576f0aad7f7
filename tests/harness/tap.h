/* SPDX-License-Identifier: MIT */
/* The test harness: one named property per line, printed as TAP, which Meson counts.
 *
 *   static void e4m3_ties_go_to_even(void) { CHECK(code == 0x7e, "%02x", code); }
 *
 *   int main(void) {
 *     TAP_RUN(e4m3_ties_go_to_even);
 *     return tap_done();
 *   }
 */
#ifndef MPNUM_TESTS_TAP_H
#define MPNUM_TESTS_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed, tap_errors;
static const char *tap_skip_reason;

/* A failing property prints its first ten failures and counts the rest. */
static inline void tap_error(const char *file, int line, const char *message, ...) {
  if (tap_errors++ >= 10) return;
  va_list arguments;
  printf("# %s:%d: ", file, line);
  va_start(arguments, message);
  vprintf(message, arguments);
  va_end(arguments);
  printf("\n");
}

#define CHECK(condition, ...) \
 ((condition) ? (void)0 : tap_error(__FILE__, __LINE__, __VA_ARGS__))

/* MPNUM_PROPERTY, a part of a name, leaves out all others and says which they are. */
static inline int tap_is_wanted(const char *name) {
  const char *wanted = getenv("MPNUM_PROPERTY");
  if (!wanted || strstr(name, wanted)) return 1;
  printf("# has %s\n", name);
  return 0;
}

static inline void tap_result(const char *name) {
  if (!tap_is_wanted(name)) return;
  ++tap_count;
  if (tap_errors > 0) {
    ++tap_failed;
    printf("# %d failures\n", tap_errors);
    printf("not ok %d - %s\n", tap_count, name);
  } else if (tap_skip_reason) {
    printf("ok %d - %s # SKIP %s\n", tap_count, name, tap_skip_reason);
  } else {
    printf("ok %d - %s\n", tap_count, name);
  }
  fflush(stdout);
}

static inline void tap_run(const char *name, void (*property)(void)) {
  if (!tap_is_wanted(name)) return;
  tap_errors = 0;
  tap_skip_reason = NULL;
  property();
  tap_result(name);
}

static inline void tap_skip(const char *name, const char *reason) {
  tap_errors = 0;
  tap_skip_reason = reason;
  tap_result(name);
}

static inline int tap_done(void) {
  printf("1..%d\n", tap_count);
  return tap_failed ? 1 : 0;
}

#define TAP_RUN(property)      tap_run(#property, property)
#define TAP_SKIP(name, reason) tap_skip(name, reason)

#endif

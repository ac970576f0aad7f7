/* SPDX-License-Identifier: MIT */
/* A call that has to succeed before a test means anything: must(mpnum_softmax_rows(...)).
 */
#ifndef MPNUM_TESTS_MUST_H
#define MPNUM_TESTS_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define must(status) must_((int)(status), __FILE__, __LINE__)

static inline void must_(int status, const char *file, int line) {
  if (status == 0) return;
  printf("Bail out! %s:%d: status %d\n", file, line, status);
  fflush(stdout);
  abort();
}

#define may(status) may_((int)(status))

static inline void may_(int status) { (void)status; }

#endif

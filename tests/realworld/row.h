/* SPDX-License-Identifier: MIT */
/* A row of a conversion that is an inline function, for tests/realworld/run to call. */
#ifndef REALWORLD_ROW_H
#define REALWORLD_ROW_H
#include <stdint.h>

#define ROW(NAME, FROM, TO)                         \
 void NAME##_row(const FROM *x, TO *y, int64_t n);  \
 void NAME##_row(const FROM *x, TO *y, int64_t n) { \
  int64_t i = 0;                                    \
  for (; i < n; ++i)                                \
   y[i] = NAME(x[i]);                               \
 }

#endif

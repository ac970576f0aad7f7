/* SPDX-License-Identifier: MIT */
#include "long.h"

bool long_force_isa(int isa) { return isa >= 0; }

bool long_measure(figures *to, const bench_options *chosen, progress *bar) {
  (void)to;
  (void)bar;
  if (!chosen->arrays && !chosen->grad && !chosen->math) return true;
  return complain(NULL, "--arrays, --grad and --math are not in this build"), false;
}

bool long_print(const figures *from, FILE *to) {
  (void)from;
  return !ferror(to);
}

/* SPDX-License-Identifier: MIT */
#include "sections.h"

bool long_force_isa(int isa) { return isa >= 0; }

bool long_measure(figures *to, const bench_options *chosen, const input *files,
                  size_t file_count, progress *bar) {
  (void)to;
  (void)files;
  (void)file_count;
  (void)bar;
  if (!chosen->arrays && !chosen->blocks && !chosen->grad && !chosen->math) return true;
  return complain(NULL, "--arrays, --blocks, --grad and --math are not in this build"),
         false;
}

bool long_print(const figures *from, FILE *to) {
  (void)from;
  return !ferror(to);
}

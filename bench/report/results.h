/* SPDX-License-Identifier: MIT */
/* Everything a run measured, and the ways to write it. */
#ifndef MPNUM_BENCH_RESULTS_H
#define MPNUM_BENCH_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

#include "../sections/accuracy.h"
#include "../sections/arrays/arrays.h"
#include "../gpu/gpu.h"
#include "../sections/grad/grad.h"
#include "../sections/headers.h"
#include "../input/input.h"
#include "../sections/math/measure.h"
#include "../core/options.h"
#include "../sections/scalar.h"
#include "../sections/speed.h"

typedef struct results {
  const options *chosen; /* which sections hold results */
  char cpu[96];
  input *files;
  size_t file_count;
  subject *subjects;
  size_t subject_count;
  unsigned scalar_rounds;
  speed_results speed;
  scalar_result scalar[SCALAR_COUNT];
  array_results arrays, grad;
  math_results math;
  header_costs headers;
  gpu_results gpu;
} results;

const char *compiler_name(void); /* "gcc 12.2.0 -O2" */

/* False when out of memory or when the stream refused. */
bool report_text(const results *found, FILE *to);
bool report_json(const results *found, FILE *to);
bool report_csv(const results *found, FILE *to);
bool report_svg(const results *found, FILE *to);

/* Whether the parts of a format's name stand for something in it. */
bool format_has_inf(mpnum_format format);
bool format_has_nan(mpnum_format format);

#endif

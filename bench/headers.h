/* SPDX-License-Identifier: MIT */
/* Compile time of each header, from tools/include-cost. */
#ifndef MPNUM_BENCH_HEADERS_H
#define MPNUM_BENCH_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "message.h"

typedef struct header_cost {
  char header[64], compiler[16];
  double seconds; /* over an empty file */
} header_cost;

typedef struct header_costs {
  header_cost *rows;
  size_t count;
  unsigned rounds;
} header_costs;

/* Runs the tool, which takes a minute. headers_free in either case. */
bool headers_measure(header_costs *costs, unsigned rounds, refusal *why);
void headers_free(header_costs *costs);

#endif

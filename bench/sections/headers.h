/* SPDX-License-Identifier: MIT */
/* What a header and a call cost a compile, from tools/include-cost. */
#ifndef MPNUM_BENCH_HEADERS_H
#define MPNUM_BENCH_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "../core/message.h"

typedef struct header_cost {
  char header[64], compiler[16];
  double seconds; /* over an empty file */
} header_cost;

/* One file with one call, by one compiler at one level. */
typedef struct call_cost {
  char library[16], call[48], compiler[16], optimization[8];
  double seconds, ratio, peak_bytes; /* CPU time; over immintrin.h alone. NAN: none */
  char missing[96];                  /* why there are none, or empty */
} call_cost;

enum { CALL_COLUMNS = 4 };

typedef struct header_costs {
  header_cost *rows;
  size_t count;
  call_cost *calls; /* those of a call side by side: call_columns of them */
  size_t call_count, call_columns;
  unsigned rounds, call_rounds;
} header_costs;

/* Runs the tool, which takes minutes. headers_free in either case. */
bool headers_measure(header_costs *costs, unsigned rounds, unsigned call_rounds,
                     refusal *why);
void headers_free(header_costs *costs);

#endif

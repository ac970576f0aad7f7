/* SPDX-License-Identifier: MIT */
/* What mpnum inspect finds of each tensor, and what it makes of that. */
#ifndef MPNUM_BENCH_INSPECT_H
#define MPNUM_BENCH_INSPECT_H

#include "../input/shards.h"
#include "../report/report.h"
#include "../verdict/verdict.h"
#include "options.h"

typedef struct inspection {
  report about; /* first: output_write hands it to the writers below */
  const inspect_options *chosen;
  input_set from;
  verdict_run all; /* rows as in the files */
  verdict kinds[KINDS];
  row **order;  /* the rows, sorted; small ones, which are told in one line, last */
  size_t large; /* the first of order, without those */
  size_t shown; /* the first of order */
} inspection;

const fit *best_of(const row *about); /* NULL: none */
const fit *fit_of_f16(const inspection *run, const row *about);
const fit *fit_of_bf16(const inspection *run, const row *about);
/* Whether a format of 8 bits was chosen. */
bool is_narrow(const row *about);
/* Nothing clipped, and at most LOST_SHARE flushed. */
bool survives(const row *about, const fit *what);
/* The worst first; or by another key. False when out of memory. */
bool sort_rows(inspection *run);

/* The index in each dimension of element number `index` as stored: "[3, 17]". */
void show_place(char *dst, size_t size, const tensor *values, uint64_t index);
/* "4096x1024", "scalar" */
void show_shape(char *dst, size_t size, const tensor *values);

bool print_text(const inspection *run, FILE *to);
void print_details(const inspection *run, const row *about, FILE *to);
bool write_json(const report *about, FILE *to);
bool write_csv(const report *about, FILE *to);
bool write_svg(const report *about, FILE *to);

#endif

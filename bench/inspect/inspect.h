/* SPDX-License-Identifier: MIT */
/* What mpnum inspect finds of each tensor, and what it makes of that. */
#ifndef MPNUM_BENCH_INSPECT_H
#define MPNUM_BENCH_INSPECT_H

#include "../input/shards.h"
#include "../report/report.h"
#include "../verdict/verdict.h"
#include "options.h"
#include "plan.h"

#include <jansson.h>

typedef struct inspection {
  report about; /* first: output_write hands it to the writers below */
  const inspect_options *chosen;
  input_set from;
  verdict_run all; /* rows as in the files */
  verdict kinds[KINDS];
  row **order;  /* the rows, sorted; small ones, which are told in one line, last */
  size_t large; /* the first of order, without those */
  size_t shown; /* the first of order */
  /* Of all tensors; asked: the one that --to or --emit names. */
  plan plain, blocks, asked;
} inspection;

const fit *best_of(const row *about); /* NULL: none */
const fit *fit_of_f16(const inspection *run, const row *about);
const fit *fit_of_bf16(const inspection *run, const row *about);
/* Of the block format; NULL: none, or none was asked for. */
const char *shown_block(const inspection *run, const choice *of);
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
void print_notes(const input *file, FILE *to); /* what was left out */
void print_details(const inspection *run, const row *about, FILE *to);
bool write_json(const report *about, FILE *to);
bool write_csv(const report *about, FILE *to);
bool write_svg(const report *about, FILE *to);

/* Parts of all tables. */
enum { CELL = 40, NAME_LEAST = 16, USUAL_WIDTH = 80, REMARKS_SHOWN = 20 };
size_t screen_width(void); /* of stdout; USUAL_WIDTH at least */
/* In percent, 4 characters at most; 0 and 100 only for none at all and for all. */
void show_share(char cell[CELL], double part, double whole);
void show_magnitude(char cell[CELL], double amax); /* "0.0312", "3.1e-05" */

/* Begins the object: version and options. */
bool json_head(const report *about, FILE *to);
/* In CSV, without characters that drive a terminal or start a line. */
void put_text(FILE *to, const char *text);
/* "2" with a raised exponent, as two texts: not every program places parts of one well.
 */
void power_label(FILE *to, double x, double y, int exponent);

/* "1.5 KiB" */
enum { SIZE_CELL = 32 };
void show_size(char cell[SIZE_CELL], uint64_t bytes);

/* False with the reason, and the name of what it is about, which may be NULL. */
bool make_plans(inspection *run, const char **subject, refusal *why);
void print_whole(const inspection *run, FILE *to);
json_t *plan_json(const inspection *run, const plan *of);
bool write_emitted(const report *about, FILE *to);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MPNUM_BENCH_INSPECT_OPTIONS_H
#define MPNUM_BENCH_INSPECT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <mpnum/core/format.h>

#include "../core/message.h"
#include "../verdict/verdict.h"
#include "plan.h"

typedef enum sort_key {
  SORT_TROUBLE,
  SORT_NAME,
  SORT_FILE,
  SORT_SIZE,
  SORT_AMAX,
  SORT_SQNR,
  SORT_LOST
} sort_key;

typedef struct inspect_options {
  bool help, version, details, exact, wide;
  bool diff;          /* two files beside each other */
  bool trend;         /* a file for each step */
  bool blocks;        /* formats with a scale for each block, too; with details */
  const char **paths; /* path_count of them, in argv */
  size_t path_count;
  const char **globs; /* glob_count of them, in argv; none: all tensors */
  size_t glob_count;
  size_t top; /* rows to show; 0: all */
  sort_key sort;
  mpnum_type codes; /* of plain bytes; 0: left out */
  mpnum_type candidates[CANDIDATE_LIMIT];
  unsigned candidate_count;
  const char *json, *csv, *svg; /* NULL: not written */
  double keep_below;            /* dB; NO_FLOOR: as the rule has it */
  const char *to, *emit;        /* a format, a file; NULL: none */
  bool force;                   /* emit over a file that is there */
} inspect_options;

/* False with the reason when the command line is wrong. options_free in either case. */
bool inspect_options_read(inspect_options *chosen, int argc, char **argv, refusal *why);
void inspect_options_free(inspect_options *chosen);
void inspect_options_help(void);
bool is_wanted(const inspect_options *chosen,
               const char *name); /* a tensor, by --tensor */

#endif

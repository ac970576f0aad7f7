/* SPDX-License-Identifier: MIT */
/* What a run found, and the files that are written of it. They know no section but for
 * the charts, which pick their figures. */
#ifndef MPNUM_BENCH_REPORT_H
#define MPNUM_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "../core/figures.h"
#include "../input/input.h"

typedef struct report {
  char cpu[96];
  char *const *options;     /* of the command line, ended by NULL */
  bool answer, why, tables; /* parts that are printed; none: the tables */
  figures found;
  refusal *refused; /* a writer's reason, where that is not its stream; NULL: none has */
} report;

/* False where the stream refused, or memory. */
bool report_csv(const report *about, FILE *to);
bool report_json(const report *about, FILE *to);
bool report_svg(const report *about, FILE *to);

/* Result files appear whole or not at all. */
typedef bool report_writer(const report *about, FILE *to);
enum { OUTPUTS = 4 };
typedef struct output {
  const char *kind, *path; /* path: NULL: not written */
  report_writer *write;
  bool is_kept; /* what is there is not overwritten */
} output;

/* Whether result files could be made, at paths that are neither one nor an input. These:
 * false where that is not so, which is told. */
bool outputs_check(const output list[OUTPUTS], const input *files, size_t count);
/* Writes each beside its path and renames; a path that is there and is no regular file
 * (/dev/null, a pipe) is written to directly. */
bool outputs_write(const output list[OUTPUTS], const report *about);
/* Brings out what was printed on stdout, all of it if good. */
bool finish_output(bool good);

#endif

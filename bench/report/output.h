/* SPDX-License-Identifier: MIT */
/* Result files that appear whole or not at all. */
#ifndef MPNUM_BENCH_OUTPUT_H
#define MPNUM_BENCH_OUTPUT_H

#include <stdbool.h>

#include "../input/input.h"
#include "report.h"

typedef bool report_writer(const report *about, FILE *to);

/* Whether a result file could be made at path and is none of the inputs. */
bool output_check(const char *path, const input *files, size_t count, refusal *why);

/* Writes beside path and renames; a path that is there and is no regular file (/dev/null,
 * a pipe) is written to directly. */
bool output_write(const char *path, report_writer *write, const report *about,
                  refusal *why);

#endif

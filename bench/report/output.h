/* SPDX-License-Identifier: MIT */
/* Result files that appear whole or not at all. */
#ifndef MPNUM_BENCH_OUTPUT_H
#define MPNUM_BENCH_OUTPUT_H

#include <stdbool.h>

#include "results.h"

/* Whether a result file could be made at path and is none of the inputs. */
bool output_check(const char *path, const results *found, refusal *why);

/* Writes beside path and renames; a path that is there and is no regular file (/dev/null,
 * a pipe) is written to directly. */
bool output_write(const char *path, bool (*report)(const results *, FILE *),
                  const results *found, refusal *why);

#endif

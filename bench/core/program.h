/* SPDX-License-Identifier: MIT */
/* Measurements that another program makes. */
#ifndef MPNUM_BENCH_PROGRAM_H
#define MPNUM_BENCH_PROGRAM_H

#include <jansson.h>

#include "message.h"

/* Runs a program, whose arguments end with NULL, and reads the JSON that it prints. NULL
 * with the reason when there is none; `needs` says what cannot be run without. */
json_t *program_json(char *const *arguments, const char *needs, refusal *why);

#endif

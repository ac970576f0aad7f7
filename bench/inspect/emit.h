/* SPDX-License-Identifier: MIT */
/* The tensors of the files, quantised as planned, in one safetensors file. */
#ifndef MPNUM_BENCH_INSPECT_EMIT_H
#define MPNUM_BENCH_INSPECT_EMIT_H

#include <stdio.h>

#include "plan.h"

/* Whether a file of safetensors can have the format: "e4m3", "e5m2", "mx_e4m3", ... */
bool emits(const char *format);
/* Of a plan for such a format; others of the files are copied. False where the stream
 * refused, or with the reason in why. */
bool emit(const plan *from, const input *files, size_t count, FILE *to, refusal *why);
/* Whether no two tensors would have one name, and all orders are those of safetensors. */
bool emit_check(const plan *from, const input *files, size_t count, refusal *why);

#endif

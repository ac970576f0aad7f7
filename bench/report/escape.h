/* SPDX-License-Identifier: MIT */
/* Text of others, such as names of tensors and files, in JSON and SVG. */
#ifndef MPNUM_BENCH_ESCAPE_H
#define MPNUM_BENCH_ESCAPE_H

#include <stdio.h>

#include <jansson.h>

/* What is no UTF-8, as a path may be: then '?' for each byte above 0x7f. */
json_t *json_text(const char *text);

/* '?' for control characters and bytes past ASCII, which may be no UTF-8. */
void svg_text(FILE *to, const char *text);
/* The same as an element; anchor: "start", "middle" or "end". */
void svg_label(FILE *to, double x, double y, const char *anchor, const char *text);

#endif

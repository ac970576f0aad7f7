/* SPDX-License-Identifier: MIT */
/* Text of others, such as names of tensors and files, in JSON, CSV and SVG. */
#ifndef MPNUM_BENCH_ESCAPE_H
#define MPNUM_BENCH_ESCAPE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/* What is no UTF-8, as a path may be: then '?' for each byte above 0x7f. */
json_t *json_text(const char *text);
/* Writes a value, which it takes, on one line behind a text. */
bool json_put(FILE *to, const char *before, json_t *value);

/* RFC 4180: quoted where a comma, a quote or a line end is in it, quotes doubled. */
void csv_text(FILE *to, const char *text);

/* '?' for control characters and bytes past ASCII, which may be no UTF-8. */
void svg_text(FILE *to, const char *text);
/* The same as an element; anchor: "start", "middle" or "end". */
void svg_label(FILE *to, double x, double y, const char *anchor, const char *text);
/* The same, bold. */
void svg_title(FILE *to, double x, double y, const char *text);
void svg_line(FILE *to, double x1, double y1, double x2, double y2, const char *colour);
/* Begins a white page, which "</svg>" ends. */
void svg_page(FILE *to, unsigned width, double height);
/* 1, 2 or 5 times a power of ten: at most five steps to the largest. */
double svg_step(double largest);

#endif

/* SPDX-License-Identifier: MIT */
/* The first screen: which format to use for the data at hand, and what it costs. Made of
 * the figures of other sections. */
#ifndef MPNUM_BENCH_ANSWER_H
#define MPNUM_BENCH_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

#include "../core/figures.h"
#include "../input/input.h"

/* Appends what was chosen, from the figures of accuracy: a row for each kind of tensor.
 */
void answer_choose(figures *to);

/* Then of block formats, of all where they are asked for, else of those whose scales the
 * GPU found applies, if there is one. False where a file could not be read, which is
 * told. */
bool answer_blocks(figures *to, const input *files, size_t file_count, bool are_asked);
void answer_why_blocks(const figures *from, const char *kind, FILE *to);

/* What a tensor is by its name: "weights"; NULL: left out. */
const char *answer_kind(const char *title);

/* At most 24 lines of 80 columns; bold where colour is wanted. */
void answer_print(const figures *from, bool colour, FILE *to);

/* The rules of the choice, and what each candidate would have lost. */
void answer_why(const figures *from, FILE *to);

#endif

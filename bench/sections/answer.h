/* SPDX-License-Identifier: MIT */
/* The first screen: which format to use for the data at hand, and what it costs. Made of
 * the figures of other sections, and of the verdict that inspect gives, too. */
#ifndef MPNUM_BENCH_ANSWER_H
#define MPNUM_BENCH_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

#include "../core/figures.h"
#include "../input/input.h"

/* Appends what was chosen, a row for each kind of tensor; of block formats, too, where
 * they are asked for, or the GPU among the figures applies their scales. False where a
 * file could not be read, which is told. */
bool answer_choose(figures *to, const input *files, size_t file_count, bool are_asked);

/* At most 24 lines of 80 columns; bold where colour is wanted. */
void answer_print(const figures *from, bool colour, FILE *to);

/* The rules of the choice, and what each candidate would have lost. */
void answer_why(const figures *from, FILE *to);

#endif

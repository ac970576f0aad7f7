/* SPDX-License-Identifier: MIT */
/* The first screen: which format to use for the data at hand, and what it costs. Made of
 * the figures of other sections. */
#ifndef MPNUM_BENCH_ANSWER_H
#define MPNUM_BENCH_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

#include "../core/figures.h"

/* Appends what was chosen, from the figures of accuracy: a row for each kind of tensor.
 */
void answer_choose(figures *to);

/* At most 24 lines of 80 columns; bold where colour is wanted. */
void answer_print(const figures *from, bool colour, FILE *to);

/* The rules of the choice, and what each candidate would have lost. */
void answer_why(const figures *from, FILE *to);

#endif

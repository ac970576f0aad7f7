/* SPDX-License-Identifier: MIT */
/* All sections, in the order of the report: each measures, appends figures, and prints
 * its tables of them. Where one returns false, memory ran out, or what is told failed. */
#ifndef MPNUM_BENCH_SECTIONS_H
#define MPNUM_BENCH_SECTIONS_H

#include "../core/options.h"
#include "../core/progress.h"
#include "../report/report.h"

/* The tables of the sections that have figures; false where memory or the stream failed.
 */
bool sections_print(const report *about, FILE *to);

/* What each format can hold. */
void formats_list(figures *to);
bool formats_print(const figures *from, FILE *to);

/* Time of array conversions against the copy limit. */
bool speed_measure(figures *to, size_t size, unsigned rounds, progress *bar);
uint64_t speed_work(unsigned rounds);
bool speed_print(const figures *from, FILE *to);
/* Timed values: f32 of the normal distribution. NULL when out of memory. */
float *speed_values(size_t count);

/* One out-of-line call of a conversion, beside other libraries that the build found. */
enum { SCALAR_VALUES = 65536 };
bool scalar_measure(figures *to, size_t count, unsigned rounds, progress *bar);
uint64_t scalar_work(unsigned rounds);
bool scalar_print(const figures *from, FILE *to);

/* What each format does to the values of a tensor: of each distribution, as many values
 * as are drawn, if any, and of each tensor of the files, which is read twice. False where
 * one could not be read, which is then told. */
bool accuracy_measure(figures *to, const input *files, size_t file_count, uint64_t drawn,
                      const bool scaling[SCALING_COUNT], progress *bar);
bool accuracy_print(const figures *from, FILE *to);

/* What formats and sums of hardware make of products of each tensor of the files with
 * vectors. False where one could not be read, which is then told. */
bool product_measure(figures *to, const input *files, size_t file_count, progress *bar);
bool product_print(const figures *from, FILE *to);

/* What a header and a call cost a compile: runs tools/include-cost, which takes minutes.
 */
bool headers_measure(figures *to, unsigned rounds, unsigned call_rounds, refusal *why);
bool headers_print(const figures *from, FILE *to);

/* The sections that take minutes and a long build: --arrays, --blocks, --grad and --math.
 * A program without them has no_long.c instead. */
bool long_force_isa(int isa); /* false where this CPU has no such instructions */
/* Those that were chosen; false where one failed, which is then told. */
bool long_measure(figures *to, const bench_options *chosen, const input *files,
                  size_t file_count, progress *bar);
bool long_print(const figures *from, FILE *to);

/* The first screen: which format to use for the data at hand, and what it costs. Made of
 * the figures of other sections, and of the verdict that inspect gives, too. */
/* Appends what was chosen, a row for each kind of tensor; of block formats, too, where
 * they are asked for, or the GPU among the figures applies their scales. False where a
 * file could not be read, which is told. */
bool answer_choose(figures *to, const input *files, size_t file_count, bool are_asked);
/* At most 24 lines of 80 columns; bold where colour is wanted. */
void answer_print(const figures *from, bool colour, FILE *to);
/* The rules of the choice, and what each candidate would have lost. */
void answer_why(const figures *from, FILE *to);

/* --- what sections about the errors of tensors share */

enum { LINE_WIDTH = 100 };
#define SYNTHETIC "synthetic" /* instead of a file */

/* The place of a tensor's own figures, which begin with `file` and `tensor`. Returns its
 * source. */
const char *tensor_begin(figures *to, const char *section, const char *file,
                         const char *name);

/* In dB, from sums of squares. +Inf when every value is exact, and where the noise is
 * below what sums of doubles tell from none: a value of 1e-30 that is rounded beside one
 * of 1. */
double sqnr_of(double signal, double noise);

/* "TITLE: FILE", then print(part, name) for each of its tensors: the name in at most
 * `width` columns, unlike any other's. False when one is false. */
bool tensors_print(const figures *from, const char *section, const char *title,
                   size_t width,
                   bool (*print)(const figures *part, const char *name, FILE *to),
                   FILE *to);

#endif

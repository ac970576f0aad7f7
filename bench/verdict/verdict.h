/* SPDX-License-Identifier: MIT */
/* The one verdict of mpnum bench and mpnum inspect: what formats make of tensors,
 * measured, and by which rule one of them is chosen (docs/choosing-a-format.md). scan.c
 * reads all values, measure.c quantises and compares, rule.c chooses. */
#ifndef MPNUM_BENCH_VERDICT_H
#define MPNUM_BENCH_VERDICT_H

#include <mpnum/array/histogram.h>

#include "../core/block_formats.h"
#include "../input/input.h"

/* Of what power an error is, and how many values are lost, at most: 20 dB. */
#define LOST_SHARE 0.01
/* Of the values of weights and activations, whose losses SQNR weighs. */
#define VANISHED_SHARE 0.5
/* As many dB below the format chosen a block format is as good as it. */
#define BLOCK_SLACK 1
/* A tensor with fewer values decides nothing: it is kept as it is. */
enum { LEAST_VALUES = 1024 };
/* Of a tensor with more values so many are measured, unless all are asked for. */
enum { SAMPLE = 1 << 17 };

/* What a tensor is, by its name. */
typedef enum kind { WEIGHTS, ACTIVATIONS, GRADIENTS, VALUES, LEFT_OUT } kind;
enum { KINDS = LEFT_OUT };

/* Of all values, in any order and grouping the same. */
typedef struct findings {
  uint64_t zeros, subnormals, infs, nans; /* subnormals of their own type */
  uint64_t first_nonfinite;               /* index as stored; UINT64_MAX: none */
  uint64_t too_large, too_small;          /* values of f64 that f32 makes Inf or 0 */
  double amax;                            /* of finite values; 0: none */
  mpnum_histogram histogram;              /* of the values as f32 */
} findings;

/* What one format makes of the values times 2^scale_exponent. */
typedef struct fit {
  mpnum_type type;
  int scale_exponent;
  double clipped, flushed; /* values that round past the largest one, that become 0 */
  double sqnr;             /* dB; Inf: exact; NaN: f32 has not got the values */
  double product; /* the same of a product with activations; NaN: there is none */
} fit;

/* Of one format of blocks, in rows and in columns. */
typedef struct block_fit {
  double bytes;                           /* codes and scales of the tensor */
  double clipped[2], flushed[2], sqnr[2]; /* NaN: not measured */
} block_fit;

/* The rule that a candidate broke. */
typedef enum broken {
  KEPT,
  BROKE_RANGE,   /* f32 has not got all values */
  BROKE_SQNR,    /* the error has more than LOST_SHARE of the power */
  BROKE_PRODUCT, /* the same of a product */
  BROKE_MOST,    /* more than VANISHED_SHARE of the values are lost */
  BROKE_LOST,    /* of a gradient more than LOST_SHARE */
  BROKE_SLACK,   /* blocks: BLOCK_SLACK below the format chosen */
  MORE_BITS,     /* than the one chosen, which keeps the rules */
  LESS_SQNR,     /* at as many bits, of the values or of their product */
  LESS_RANGE
} broken;

struct row;

/* A format for some tensors together. */
typedef struct outcome {
  double bits;             /* of a value, all tensors' together */
  double sqnr, product;    /* of all values alike: the mean of the errors' shares */
  double clipped, flushed; /* the most of a tensor's values that are not 0 */
  double lost;             /* the same of both together */
  int least_scale, most_scale;
  const struct row *worst; /* the tensor that broke the rule, or loses most */
  broken why;              /* not this one; KEPT: it is the one */
  double figure;           /* what broke the rule: dB or a share */
  bool is_blocks;
} outcome;

enum { CANDIDATE_LIMIT = 8, FIT_LIMIT = 16 };
enum { F32_ALONE = -1, NOT_KNOWN = -2 };

/* What is chosen for some tensors. */
typedef struct choice {
  int best;  /* of fits; F32_ALONE: no candidate; NOT_KNOWN: nothing to judge by */
  int block; /* of blocks; negative: none */
  outcome of[FIT_LIMIT], blocks[BLOCK_FORMATS];
} choice;

typedef struct row {
  const input *file;
  const tensor *values;
  kind is;
  const struct row *partner; /* what it is multiplied by, if that is there */
  findings found;
  bool sampled; /* fits come from part of the values */
  fit fits[FIT_LIMIT];
  bool has_blocks;
  block_fit blocks[BLOCK_FORMATS];
  choice chosen; /* for it alone */
} row;

/* All tensors of a kind. */
typedef struct verdict {
  kind is;
  size_t tensors;      /* that decide */
  size_t small, empty; /* that do not: under LEAST_VALUES; without a finite value */
  choice made;
} verdict;

/* What to measure, and of what. */
typedef struct verdict_run {
  mpnum_type types[FIT_LIMIT]; /* candidates first, then others to show */
  unsigned candidate_count, type_count;
  bool exact;                      /* all values, not a sample of a large tensor */
  bool blocks;                     /* formats of blocks, too */
  bool is_left_out[BLOCK_FORMATS]; /* of these */
  row *rows;                       /* count of them */
  size_t count;
  char **names; /* theirs, short and apart; made by verdict_measure */
} verdict_run;

/* 8-bit candidates, then f16 and bf16, which end each list. */
void verdict_candidates(verdict_run *run, const mpnum_type *types, unsigned count);
/* Of rows that name file and values: reads all values once for findings, some of them
 * again for fits, and chooses for each row. False with the path that why is about. */
bool verdict_measure(verdict_run *run, const char **subject, refusal *why);
void verdict_free(verdict_run *run);
/* For the rows of a kind. False when out of memory. */
bool verdict_of(const verdict_run *run, kind is, verdict *found, refusal *why);

kind kind_of(const char *name);
kind kind_of_operand(const char *name); /* of what a gradient is by, the kind of that */
const char *kind_name(kind is);         /* "weights" */
const char *kind_mark(unsigned index);  /* parts of names that tell kinds; NULL ends */
const char *broken_name(broken why);    /* "less_sqnr"; "" for KEPT */
const char *choice_name(const verdict_run *run, const choice *of); /* "f32"; "none" */
const char *block_name(const choice *of); /* of the block format; NULL: none */
/* "weights     e5m2 x 2^9: SQNR 31.5 dB, product 31.6, lost 0; e4m3 33.0: why not"; what
 * is too long for 80 columns in fewer words. */
void verdict_line(char *line, size_t size, const verdict_run *run, const verdict *about);
/* "3 with fewer than 1024 values decide nothing"; empty where there is none. */
void small_line(char *line, size_t size, const verdict *kinds);
/* "e4m3     x 2^9: SQNR 31.5 dB, product 31.6, lost 0: chosen", or what it broke. */
void candidate_line(char *line, size_t size, const verdict_run *run, const char *name,
                    const outcome *of);
/* "less SQNR", "SQNR 14.1 < 20", ...; "chosen" */
void show_broken(char *text, size_t size, const outcome *of);
/* Of the row's values, those that are finite and not 0. */
double nonzero_of(const row *about);

/* --- between its files */

/* Judged by what is lost, not by an error: gradients, and states of an optimizer. */
bool is_by_losses(kind is);
/* As a matrix, what its products sum along in rows: kernels have all axes but the first
 * in one. */
void matrix_of(const row *about, uint64_t *rows, uint64_t *columns);
void pair_rows(verdict_run *run);
/* Elements [first, first + count) as f32; raw has room for their bytes. */
bool read_floats(const input *file, const tensor *values, uint64_t first, void *raw,
                 float *dst, size_t count, refusal *why);
/* Rounded to nearest even, saturating. */
void from_floats(mpnum_type type, void *dst, const float *src, size_t count);
/* Fits of a row whose findings are whole. */
bool measure_row(const verdict_run *run, row *about, refusal *why);
uint64_t measure_work(const verdict_run *run, const row *about); /* values it reads */
void choose_for(const verdict_run *run, const row *const *rows, size_t count, kind is,
                choice *made);

#endif

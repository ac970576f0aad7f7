/* SPDX-License-Identifier: MIT */
/* What mpnum inspect finds of each tensor, and what it makes of that. */
#ifndef MPNUM_BENCH_INSPECT_H
#define MPNUM_BENCH_INSPECT_H

#include <mpnum/histogram.h>

#include "../core/progress.h"
#include "../input/block_fits.h"
#include "../input/shards.h"
#include "../report/report.h"
#include "options.h"

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
  double sqnr;             /* dB; Inf: exact; NaN: not measured */
} fit;

enum { FIT_LIMIT = CANDIDATE_LIMIT + 2 };

typedef struct row {
  const input *file;
  const tensor *values;
  findings found;
  bool sampled;        /* fits come from part of the values, between bounds from all */
  int best;            /* of fits; negative: none of the candidates fits */
  fit fits[FIT_LIMIT]; /* candidates, then f16 and bf16 as they are */
  int block;           /* of blocks; negative: not measured */
  block_fit blocks[BLOCK_FORMATS];
} row;

typedef struct inspection {
  report about; /* first: output_write hands it to the writers below */
  const inspect_options *chosen;
  input_set from;
  row *rows;   /* count of them, as in the files */
  row **order; /* the same, sorted */
  size_t count;
  size_t shown; /* the first of order */
  unsigned fit_count;
} inspection;

/* At most this share of the values may be lost for a format to be good enough. */
#define LOST_SHARE 0.01

/* Of a tensor with more values fits come from so many. */
enum { SAMPLE = 1 << 17 };

/* Reads all values once for findings, and some of them again for fits. False with the
 * path that why is about. */
bool scan_all(inspection *run, const char **subject, refusal *why);

/* Elements [first, first + count) as f32; raw has room for their bytes. */
bool read_floats(const input *file, const tensor *values, uint64_t first, void *raw,
                 float *dst, size_t count, refusal *why);

/* Scales, the best candidate, and what is lost: once found is whole. */
bool judge(const inspection *run, row *about, refusal *why);
/* The same of block formats, where they are asked for, once judge was here. */
bool judge_blocks(const inspection *run, row *about, refusal *why);
/* Values that judge reads. */
uint64_t judge_work(const inspection *run, const tensor *values);

const fit *best_of(const row *about); /* NULL: none */
const fit *fit_of_f16(const inspection *run, const row *about);
const fit *fit_of_bf16(const inspection *run, const row *about);
/* Nothing clipped, and at most LOST_SHARE flushed. */
bool survives(const row *about, const fit *what);
/* The worst first; or by another key. False when out of memory. */
bool sort_rows(inspection *run);

/* The index in each dimension of element number `index` as stored: "[3, 17]". */
void show_place(char *dst, size_t size, const tensor *values, uint64_t index);
/* "4096x1024", "scalar" */
void show_shape(char *dst, size_t size, const tensor *values);

bool print_text(const inspection *run, FILE *to);
void print_details(const inspection *run, const row *about, FILE *to);
bool write_json(const report *about, FILE *to);
bool write_csv(const report *about, FILE *to);
bool write_svg(const report *about, FILE *to);

#endif

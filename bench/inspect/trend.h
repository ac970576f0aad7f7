/* SPDX-License-Identifier: MIT */
/* Files of steps, one after the other: what becomes of gradients over time. */
#ifndef MPNUM_BENCH_TREND_H
#define MPNUM_BENCH_TREND_H

#include "../input/shards.h"
#include "../report/report.h"
#include "diff.h"
#include "options.h"

#include <sys/types.h>

/* Shares of a moment, as they are drawn and stand in columns. */
typedef enum series { ZEROS, F16_SUBNORMALS, E4M3_LOST, E5M2_LOST, SERIES } series;
extern const char *const series_names[SERIES]; /* "zeros", ... */

/* A tensor, or all of them, in a step. */
typedef struct moment {
  bool is_there;
  bool sampled; /* what is lost is estimated */
  uint64_t values, infs, nans;
  uint64_t first_nonfinite; /* index as stored; UINT64_MAX: none, or of several tensors */
  double amax;              /* of finite values; 0: none */
  double counts[SERIES];
} moment;

typedef struct track {
  const tensor *of; /* in the first file; NULL: all together */
  moment *at;       /* of each step */
  double trouble;   /* the largest share that is 0 or lost in e4m3; 2: Inf or NaN */
} track;

typedef struct step {
  const char *path;
  size_t place;    /* on the command line */
  uint64_t number; /* in its name */
  char digits[24]; /* of it */
  dev_t device;    /* of its first file */
  ino_t inode;
} step;

/* What is said of a tensor of a step: "has 1 Inf, 2 NaN, the first at [3, 17]". */
typedef struct trend_remark {
  size_t in; /* step */
  char *name;
  char text[REMARK];
} trend_remark;

typedef struct trend {
  report about; /* first, for the writers */
  const inspect_options *chosen;
  step *steps;
  size_t step_count;
  bool is_numbered;
  input_set first, now; /* open files: of the first step, of another */
  track *tracks;        /* all together, then tensors, the worst first, if several */
  size_t track_count;
  trend_remark *nonfinite, *remarks; /* Inf and NaN; what differs from the first */
  size_t nonfinite_count, remark_count;
} trend;

/* Reads all steps, each after a check that no output is one of its files. False with the
 * path that why is about; an empty why was told already. trend_free in either case. */
bool trend_follow(trend *made, const output outputs[OUTPUTS], const char **subject,
                  refusal *why);
void trend_free(trend *made);

const char *step_name(const trend *made, size_t index); /* "100", or its path */
double trend_share(const moment *at, series which);     /* NaN: of nothing */
/* The power of two by which all values may be multiplied, that half of f16's range is
 * left: false where there is none, as of Inf or NaN. */
bool trend_scale(const moment *at, int *exponent);
/* Tracks that are shown and drawn: all together, and of several tensors the first. */
size_t trend_shown(const trend *made);

bool print_trend(const trend *made, FILE *to);
bool write_trend_json(const report *about, FILE *to);
bool write_trend_csv(const report *about, FILE *to);
bool write_trend_svg(const report *about, FILE *to);

#endif

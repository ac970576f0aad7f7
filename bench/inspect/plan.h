/* SPDX-License-Identifier: MIT */
/* A format for all tensors of the files: which of them it takes, and what stays in 16
 * bits or as it is. */
#ifndef MPNUM_BENCH_INSPECT_PLAN_H
#define MPNUM_BENCH_INSPECT_PLAN_H

#include "../verdict/verdict.h"

/* Why a tensor is not quantised. */
typedef enum stay {
  QUANTISED,
  STAYS_SMALL,     /* fewer than LEAST_VALUES values; as it is */
  STAYS_NONFINITE, /* as it is, with its Inf and NaN */
  STAYS_STATE,     /* of an optimizer; as it is */
  STAYS_UNSIGNED,  /* scales; as it is */
  STAYS_ONE_AXIS,  /* weights that no product sums along: of norms, biases */
  STAYS_AXIS,      /* its last axis is no number of whole blocks */
  STAYS_ZERO,      /* blocks have no scale for zeros alone */
  STAYS_BY_RULE,   /* broke says which */
  STAYS_SQNR,      /* below the least, of values */
  STAYS_PRODUCT    /* or of their product */
} stay;

typedef struct planned {
  const row *about;
  stay why;
  broken broke;
  double figure;
  double sqnr;     /* of what is quantised */
  mpnum_type type; /* of what is not: f16, bf16, or its own */
  uint64_t bytes;  /* then */
} planned;

typedef struct plan {
  const char *format;
  bool is_blocks;
  unsigned number; /* of a candidate, or of a block format */
  planned *parts;  /* of all rows, in their order */
  size_t count, quantised;
  uint64_t bytes;       /* of all, then */
  double sqnr;          /* of all values quantised */
  const planned *worst; /* NULL: nothing is quantised */
} plan;

enum { NO_FLOOR = -1 };

/* For one format. least: the lowest SQNR that is quantised; NO_FLOOR: that of the rule.
 * False when out of memory; plan_free. */
bool plan_for(const verdict_run *run, bool is_blocks, unsigned number, double least,
              plan *made);
/* Of formats with one scale a tensor, or with blocks, the one to take. plain: that of
 * those, for blocks; else NULL. False when out of memory. */
bool plan_best(const verdict_run *run, bool is_blocks, const plan *plain, double least,
               plan *made);
void plan_free(plan *made);

const char *stay_name(const planned *of); /* "small", "sqnr", ... */
/* "SQNR 18.2 < 20", "one axis", ... */
void show_stay(char *text, size_t size, const planned *of, double least);

#endif

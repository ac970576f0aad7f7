/* SPDX-License-Identifier: MIT */
/* Two files, or models of several, beside each other: what of the first the second has
 * lost, tensor by tensor. */
#ifndef MPNUM_BENCH_INSPECT_DIFF_H
#define MPNUM_BENCH_INSPECT_DIFF_H

#include "../report/report.h"
#include "../input/shards.h"
#include "options.h"
#include "sides.h"

/* A tensor in both. Sums are over values that are finite in both. */
typedef struct compared {
  side sides[2];
  uint64_t new_nans, new_infs; /* where the first is finite */
  uint64_t gone;               /* Inf and NaN of the first, finite in the second */
  uint64_t first_new;          /* index as stored; UINT64_MAX: none */
  uint64_t equal;              /* in bits; of two types, in value */
  double signal, other, product, noise; /* x * x, y * y, x * y, (x - y) ^ 2 */
  double largest;                       /* |x - y| */
  uint64_t largest_at;
} compared;

/* A name with what is said of it: "only in a.npy", "[3, 4] and [4, 3]". */
enum { REMARK = 112 };
typedef struct remark {
  const char *name;
  char text[REMARK];
} remark;

typedef struct difference {
  report about; /* first, for the writer */
  const inspect_options *chosen;
  input_set sets[2];
  side_list sides[2];
  compared *rows; /* sorted: new Inf and NaN, then the lowest SQNR */
  size_t count;
  remark *remarks; /* what could not be compared */
  size_t remark_count;
  size_t unread; /* tensors of a type that is not read, in both files */
} difference;

/* Reads both; false with the path that why is about. differ_free in either case. */
bool differ(difference *made, const char **subject, refusal *why);
void differ_free(difference *made);

bool is_unchanged(const compared *of);     /* in all bits; such rows come last */
double sqnr_of_pair(const compared *of);   /* dB; Inf: exact; NaN: nothing to compare */
double cosine_of_pair(const compared *of); /* NaN: of zeros */
bool have_one_shape(unsigned rank, const uint64_t *shape, unsigned other_rank,
                    const uint64_t *other_shape);
/* "has shapes [3, 4] and [4, 3]" */
void show_shapes(char dst[REMARK], unsigned rank, const uint64_t *shape,
                 unsigned other_rank, const uint64_t *other_shape);
bool print_difference(const difference *made, FILE *to);
bool write_difference(const report *about, FILE *to);

#endif

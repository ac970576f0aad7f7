/* SPDX-License-Identifier: MIT */
/* What grad.h works on and what it finds: tensors of gradients, findings of a pass. */
#ifndef MPNUM_TRAINING_GRAD_TENSOR_H
#define MPNUM_TRAINING_GRAD_TENSOR_H

#include "../array/histogram.h"
#include "../array/stats.h"
#include "../array/total.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS || MPNUM_HAS_NVRTC

# if MPNUM_HAS_ARRAYS
#  include <stddef.h>
# endif

/* A matrix of rows x columns, row strides in elements. */
typedef struct mpnum_grad_tensor {
  const void *src;
  void *dst; /* NULL: nothing is written */
  size_t rows, columns, src_stride, dst_stride;
  mpnum_type src_type;        /* f32, bf16, f16, e5m2, e4m3, f64 */
  mpnum_type dst_type;        /* the same */
  mpnum_histogram *histogram; /* NULL, or what counts results, too: one for many tensors,
                                 one for each */
  size_t histogram_step;      /* 1: all; k: of every k-th 2048 elements of a row, or of
                                 the tensor, where there is nothing between rows */
} mpnum_grad_tensor;

# if MPNUM_HAS_ARRAYS

/* One row of n elements. */
MPNUM_HOST mpnum_grad_tensor mpnum_grad_tensor_of(mpnum_type src_type, const void *src,
                                                  size_t n, mpnum_type dst_type,
                                                  void *dst) {
  mpnum_grad_tensor made;
  made.src = src;
  made.dst = dst;
  made.rows = 1;
  made.columns = made.src_stride = made.dst_stride = n;
  made.src_type = src_type;
  made.dst_type = dst_type;
  made.histogram = 0;
  made.histogram_step = 1;
  return made;
}

# endif
#endif

/* What a pass found. Of results as they are stored, as floats: f64 is rounded to f32, and
 * only subnormal floats count as subnormal. */
typedef struct mpnum_grad_findings {
  mpnum_total squares;    /* the square of the norm, see total.h */
  mpnum_stats stats;      /* count, zeros, Infs, NaNs, amax, ... */
  uint64_t first_tensor;  /* the first one with an Inf or NaN; its place in the list */
  uint64_t first_element; /* and its place in that tensor, without what strides skip */
  uint64_t first_bits;    /* and the bits of its result as a float, 7fffffff of a NaN; 0
                             if there is none */
} mpnum_grad_findings;

/* Of no tensors; first_tensor is then UINT64_MAX, as where nothing is Inf or NaN. */
MPNUM_MATH_ mpnum_grad_findings mpnum_grad_findings_empty(void) {
  mpnum_grad_findings findings;
  findings.squares = mpnum_total_empty();
  findings.stats = mpnum_stats_empty();
  findings.first_tensor = findings.first_element = ~(uint64_t)0;
  findings.first_bits = 0;
  return findings;
}
/* The first Inf or NaN of both. */
MPNUM_MATH_ void mpnum_grad_findings_first_(mpnum_grad_findings *a,
                                            const mpnum_grad_findings *b) {
  if (a->first_tensor == b->first_tensor && a->first_element == b->first_element) {
    if (b->first_bits > a->first_bits) a->first_bits = b->first_bits;
  } else if (b->first_tensor < a->first_tensor || (b->first_tensor == a->first_tensor &&
                                                   b->first_element < a->first_element)) {
    a->first_tensor = b->first_tensor;
    a->first_element = b->first_element;
    a->first_bits = b->first_bits;
  }
}
/* Of the tensors of both, whose numbers are those of one list. Where both have the same
 * first Inf or NaN, as ranks with the same gradients, the larger bits stay. */
MPNUM_MATH_ mpnum_grad_findings mpnum_grad_findings_merge(mpnum_grad_findings a,
                                                          mpnum_grad_findings b) {
  a.squares = mpnum_total_merge(a.squares, b.squares);
  a.stats = mpnum_stats_merge(a.stats, b.stats);
  mpnum_grad_findings_first_(&a, &b);
  return a;
}
/* 1 if a result is Inf or NaN. */
MPNUM_MATH_ int mpnum_grad_found_inf(const mpnum_grad_findings *findings) {
  return findings->stats.infs != 0 || findings->stats.nans != 0;
}
/* The L2 norm of all results; it neither overflows nor vanishes on the way. */
MPNUM_MATH_ float mpnum_grad_norm(const mpnum_grad_findings *findings) {
  return mpnum_total_root(findings->squares);
}

/* A flag of a pass: dst may be f16, e5m2, e4m3, where small results are 0. */
#define MPNUM_GRAD_NARROW 1u

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT */
/* The tensors of gradients that grad.h works on, and the findings of its pass. */
#ifndef MPNUM_TRAINING_GRAD_TENSOR_H
#define MPNUM_TRAINING_GRAD_TENSOR_H

#include "../array/histogram.h"
#include "../array/stats.h"
#include "../array/exact_sum.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_ || MPNUM_HAS_NVRTC_

# if MPNUM_HAS_ARRAYS_
#  include <stddef.h>
# endif

/* A matrix of rows x columns; the row strides are in elements. */
typedef struct mpnum_grad_tensor {
  const void *src;
  void *dst; /* NULL: nothing is written */
  size_t rows, columns, src_stride, dst_stride;
  mpnum_type src_type;        /* f32, bf16, f16, e5m2, e4m3, f64 */
  mpnum_type dst_type;        /* the same */
  mpnum_histogram *histogram; /* NULL, or also counts results: one for many tensors, or
                                 one for each */
  size_t histogram_step;      /* 1: counts all; k: every k-th 2048 elements of a row, or
                                 of the tensor if its rows are contiguous */
} mpnum_grad_tensor;

# if MPNUM_HAS_ARRAYS_

/* A tensor of one row of n elements, without a histogram. */
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

/* What a pass found in the results as they are stored, taken as floats: f64 is rounded to
 * f32, and only subnormal floats count as subnormal. */
typedef struct mpnum_grad_findings {
  mpnum_exact_sum squares; /* the square of the norm, see exact_sum.h */
  mpnum_stats stats;       /* count, zeros, Infs, NaNs, amax, ... */
  uint64_t first_tensor;   /* place in the list of the first one with an Inf or NaN */
  uint64_t first_element;  /* place of the Inf or NaN in it, without what strides skip */
  uint64_t first_bits; /* bits of that result as a float, 7fffffff for NaN; 0 if there is
                          none */
} mpnum_grad_findings;

/* The findings of no tensors; first_tensor is UINT64_MAX, as wherever nothing is Inf or
 * NaN. */
MPNUM_MATH_ mpnum_grad_findings mpnum_grad_findings_empty(void) {
  mpnum_grad_findings findings;
  findings.squares = mpnum_exact_sum_empty();
  findings.stats = mpnum_stats_empty();
  findings.first_tensor = findings.first_element = ~(uint64_t)0;
  findings.first_bits = 0;
  return findings;
}
/* Keeps in a the first Inf or NaN of a and b. */
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
/* Merges the findings of tensors whose places are those in one list. Where both have the
 * same first Inf or NaN, as ranks with the same gradients do, the larger bits stay. */
MPNUM_MATH_ mpnum_grad_findings mpnum_grad_findings_merge(mpnum_grad_findings a,
                                                          mpnum_grad_findings b) {
  a.squares = mpnum_exact_sum_merge(a.squares, b.squares);
  a.stats = mpnum_stats_merge(a.stats, b.stats);
  mpnum_grad_findings_first_(&a, &b);
  return a;
}
/* 1 if a result is Inf or NaN. */
MPNUM_MATH_ int mpnum_grad_found_inf(const mpnum_grad_findings *findings) {
  return findings->stats.infs != 0 || findings->stats.nans != 0;
}
/* The L2 norm of all results; its computation neither overflows nor underflows. */
MPNUM_MATH_ float mpnum_grad_norm(const mpnum_grad_findings *findings) {
  return mpnum_exact_sum_root(findings->squares);
}

/* A flag of a pass: dst may be f16, e5m2 or e4m3, where small results become 0. */
#define MPNUM_GRAD_NARROW 1u

MPNUM_C_END_
#endif

/* SPDX-License-Identifier: MIT OR CC0-1.0 */
/* Whether a kernel over rows gives a row the same bits whatever is around it: twice,
 * alone, in batches of other sizes, cut, in another order, padded, beside rows of NaN.
 * For norms, softmax, log-probabilities, activations, quantisers: whatever makes a row of
 * a row. C99 or C++11, no dependency.
 *
 *     static int softmax(void *context, const rows_call *call) {
 *       return my_softmax(call->dst, call->src, call->rows, ...);
 *     }
 *     ...
 *     const rows_batch batch = {src, rows, 4 * columns, 4 * columns, 4};
 *     const rows_findings found = rows_check(softmax, NULL, &batch);
 *     rows_print(stdout, "softmax", &found);
 */
#ifndef CONFORMANCE_ROWS_H
#define CONFORMANCE_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a kernel is to do. Strides are bytes from a row to the next. */
typedef struct rows_call {
  void *dst;
  const void *src;
  size_t rows, dst_stride, src_stride;
} rows_call;
/* Returns 0, or a number that says what is wrong. */
typedef int rows_kernel(void *context, const rows_call *call);

/* Rows to try, one behind the other. */
typedef struct rows_batch {
  const void *src;
  size_t rows, src_size, dst_size; /* bytes of a row that are read, and written */
  size_t alignment;                /* of addresses and strides */
} rows_batch;

/* The ways, each beside one call with the whole batch. */
enum {
  ROWS_AGAIN,
  ROWS_ALONE,
  ROWS_BATCHES, /* of 2, 3, 4, 5, 7, 8, 15, 16, 17, ... rows */
  ROWS_ORDER,   /* the last row first */
  ROWS_PADDED,  /* ones in all bits between rows, and from another address */
  ROWS_NAN,     /* every other row all ones */
  ROWS_OUTSIDE, /* what is between rows of dst is left alone, in all of these */
  ROWS_WAYS
};
static const char *const rows_way_names[ROWS_WAYS] = {
    "again",  "alone",      "in batches",   "in reverse",
    "padded", "beside NaN", "bytes outside"};

/* Rows that were tried, and those with other bits; of the first the number, the first
 * byte that differs, and both values. */
typedef struct rows_way {
  size_t rows, differing, row, byte;
  unsigned expected, found;
} rows_way;
typedef struct rows_findings {
  int error; /* what the kernel returned, or -1 without memory: the rest was not tried */
  rows_way ways[ROWS_WAYS];
} rows_findings;

static inline void rows_compare_(rows_way *way, size_t row, const unsigned char *expected,
                                 const unsigned char *found, size_t size) {
  size_t i = 0;
  ++way->rows;
  while (i < size && expected[i] == found[i])
    ++i;
  if (i == size || way->differing++ > 0) return;
  way->row = row;
  way->byte = i;
  way->expected = expected[i];
  way->found = found[i];
}
/* What all calls share: rows of the batch, of which row i is first + i * step, or all
 * ones where i is odd and every other one is to be, with so many bytes between them. */
typedef struct rows_try_ {
  size_t first, step, count, gap;
  int every_other;
} rows_try_;
/* Calls the kernel; the results are stored in results, or compared with them. */
static inline void rows_run_(rows_findings *findings, int way, rows_kernel *kernel,
                             void *context, const rows_batch *batch,
                             unsigned char *results, rows_try_ that) {
  enum { AROUND = 4096, UNTOUCHED = 0xa5 };
  const size_t unit = batch->alignment ? batch->alignment : 1, gap = that.gap * unit;
  const size_t src_stride = (batch->src_size + unit - 1) / unit * unit + gap;
  const size_t dst_stride = (batch->dst_size + unit - 1) / unit * unit + gap;
  const size_t around = AROUND + unit;
  const size_t src_bytes = that.count * src_stride + gap + 2 * around;
  const size_t dst_bytes = that.count * dst_stride + gap + 2 * around;
  unsigned char *const memory = (unsigned char *)malloc(src_bytes + dst_bytes), *src,
                       *dst;
  unsigned char padding[AROUND];
  rows_call call;
  size_t i, k;
  if (findings->error || !memory) {
    if (!memory) findings->error = -1;
    free(memory);
    return;
  }
  memset(memory, 0xff, src_bytes);
  memset(memory + src_bytes, UNTOUCHED, dst_bytes);
  memset(padding, UNTOUCHED, AROUND);
  src = memory + around - (uintptr_t)memory % unit + gap;
  dst = memory + src_bytes + around - (uintptr_t)(memory + src_bytes) % unit + gap;
  for (i = 0; i < that.count; ++i)
    if (!that.every_other || i % 2 == 0)
      memcpy(src + i * src_stride,
             (const unsigned char *)batch->src +
                 (that.first + i * that.step) * batch->src_size,
             batch->src_size);
  call.dst = dst;
  call.src = src;
  call.rows = that.count;
  call.dst_stride = dst_stride;
  call.src_stride = src_stride;
  findings->error = (*kernel)(context, &call);
  for (i = 0; i < that.count && !findings->error; ++i) {
    const size_t row = that.first + i * that.step;
    unsigned char *const here = dst + i * dst_stride, *const expected =
                                                          results + row * batch->dst_size;
    if (way == ROWS_WAYS)
      memcpy(expected, here, batch->dst_size);
    else if (!that.every_other || i % 2 == 0)
      rows_compare_(&findings->ways[way], row, expected, here, batch->dst_size);
    for (k = batch->dst_size; k < dst_stride; k += AROUND)
      rows_compare_(&findings->ways[ROWS_OUTSIDE], row, padding, here + k,
                    dst_stride - k < AROUND ? dst_stride - k : (size_t)AROUND);
  }
  free(memory);
}
/* Tries all ways. */
static inline rows_findings rows_check(rows_kernel *kernel, void *context,
                                       const rows_batch *batch) {
  static const size_t sizes[] = {2,  3,  4,  5,  7,  8,  15,  16,  17,
                                 31, 32, 33, 63, 64, 65, 127, 128, 129};
  const size_t rows = batch->rows;
  rows_findings findings;
  unsigned char *const results = (unsigned char *)malloc(rows * batch->dst_size + 1);
  const rows_try_ whole = {0, 1, rows, 0, 0};
  rows_try_ that = whole;
  size_t i, k;
  memset(&findings, 0, sizeof findings);
  if (!results) {
    findings.error = -1;
    return findings;
  }
  rows_run_(&findings, ROWS_WAYS, kernel, context, batch, results, whole);
  rows_run_(&findings, ROWS_AGAIN, kernel, context, batch, results, whole);
  for (i = 0; i < rows; ++i) {
    that.first = i;
    that.count = 1;
    rows_run_(&findings, ROWS_ALONE, kernel, context, batch, results, that);
  }
  for (k = 0; k < sizeof sizes / sizeof *sizes; ++k)
    for (i = 0; i < rows && sizes[k] < rows; i += sizes[k]) {
      that.first = i;
      that.count = rows - i < sizes[k] ? rows - i : sizes[k];
      rows_run_(&findings, ROWS_BATCHES, kernel, context, batch, results, that);
    }
  that.first = rows - 1;
  that.step = (size_t)-1;
  that.count = rows;
  rows_run_(&findings, ROWS_ORDER, kernel, context, batch, results, that);
  that = whole;
  for (that.gap = 1; that.gap <= 16; that.gap += 3)
    rows_run_(&findings, ROWS_PADDED, kernel, context, batch, results, that);
  that = whole;
  that.every_other = 1;
  rows_run_(&findings, ROWS_NAN, kernel, context, batch, results, that);
  that.first = 1;
  that.count = rows - 1;
  rows_run_(&findings, ROWS_NAN, kernel, context, batch, results, that);
  free(results);
  return findings;
}
/* A line for each way with a difference, or one that says that there is none; returns how
 * many differ. */
static inline size_t rows_print(FILE *file, const char *name,
                                const rows_findings *findings) {
  size_t differing = 0, tried = 0;
  int way;
  for (way = 0; way < ROWS_WAYS; ++way) {
    const rows_way *const that = &findings->ways[way];
    tried += that->rows;
    differing += that->differing;
    if (that->differing)
      fprintf(file,
              "%s, %s: %zu of %zu differ, first row %zu at byte %zu: %02x, not %02x\n",
              name, rows_way_names[way], that->differing, that->rows, that->row,
              that->byte, that->found, that->expected);
  }
  if (findings->error) fprintf(file, "%s: error %d\n", name, findings->error);
  if (!differing && !findings->error) fprintf(file, "%s: 0 of %zu differ\n", name, tried);
  return differing;
}

#endif
